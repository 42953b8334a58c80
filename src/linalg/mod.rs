//! Linear algebra, with the names and semantics of the `linalg` extension of the [array API
//! standard](https://data-apis.org/array-api/): factorisations, linear systems, determinants,
//! norms.
//!
//! ```
//! use flex::{Tensor, linalg};
//! let a = Tensor::from([[2.0f64, 1.0], [1.0, 3.0]]);
//! let x = linalg::solve(&a, &Tensor::from([4.0f64, 7.0]))?;
//! assert_eq!(x.to_vec::<f64>()?, [1.0, 2.0]);
//! # Ok::<(), flex::Error>(())
//! ```
//!
//! Functions take matrices in the last two dimensions, of any strides, and batches of them in those
//! before. They compute in float32, float64, complex64 and complex128; integers become float32,
//! and float16 and bfloat16 are computed in float32 and rounded once. Algorithms are LAPACK's:
//! matrices are factored by panels, and the rest is updated by products. Results have the same bits
//! for any number of threads.
//!
//! NaN and infinities give NaN or an error.

mod batch;
mod bidiagonal;
mod blocks;
mod cholesky;
mod diagonal;
mod divide;
mod divide_bidiagonal;
#[cfg(feature = "complex")]
mod double_shift;
mod dqds;
#[cfg(feature = "complex")]
mod eig;
mod eigh;
mod expm;
mod factors;
mod field;
mod golub_kahan;
#[cfg(feature = "complex")]
mod hessenberg;
mod least_squares;
mod lu;
mod merge;
mod multi_dot;
mod norm;
mod power;
mod precise;
mod qr;
mod rank;
mod reflect;
mod rotations;
mod scaled;
mod secular;
mod sides;
#[cfg(feature = "complex")]
mod single_shift;
mod small;
mod solve;
mod substitution;
mod svd;
mod triangular;
mod tridiagonal;

pub use crate::ops::{cross, matmul, matrix_transpose, outer, tensordot, vecdot};
pub use cholesky::cholesky;
pub use diagonal::{diagonal, diagonal_layout, trace};
#[cfg(feature = "complex")]
pub use eig::{eig, eigvals};
pub use eigh::{eigh, eigvalsh};
pub use expm::expm;
pub use factors::{lu, lu_factor};
pub use least_squares::{LeastSquares, cond, lstsq};
pub use multi_dot::multi_dot;
pub use norm::{MatrixNorm, matrix_norm, vector_norm};
pub use power::matrix_power;
pub use qr::{QrMode, qr};
pub use rank::{matrix_rank, matrix_rank_within, pinv, pinv_within};
pub use solve::{Lu, det, inv, slogdet, solve};
pub use svd::{svd, svdvals};
pub use triangular::{Triangular, Turn, cholesky_solve, solve_triangular};
