//! Linear algebra: products of matrices and vectors. Operands are read in place, with any strides.

mod cross;
mod follow;
mod matmul;
mod operands;
mod tensordot;
mod weight;

pub use cross::cross;

pub(crate) use follow::{Follow, begin};
#[cfg(feature = "python")]
pub(crate) use matmul::matrix_transposed;
pub(crate) use matmul::{bytes_in_i32, is_dense, sums_in, widens};
pub use matmul::{matmul, matmul_as, matrix_transpose, vecdot};
#[cfg(feature = "std")]
pub(crate) use matmul::{matmul_then, product_of};
pub(crate) use operands::{Matrices, ResultMatrices};
pub use tensordot::{TensordotAxes, outer, tensordot};
pub(crate) use weight::{kept_panels, product_of_weight};
