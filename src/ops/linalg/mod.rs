//! Linear algebra: products of matrices and vectors. Operands are read where they lie, whatever their strides.

mod cross;
mod driver;
mod matmul;
mod operands;
mod tensordot;

pub use cross::cross;
#[cfg(feature = "std")]
pub(crate) use driver::tiles;
pub(crate) use driver::{Failure, Sizes, products};
pub use matmul::{matmul, matmul_as, matrix_transpose, vecdot};
pub(crate) use operands::{Matrices, Results};
pub use tensordot::{TensordotAxes, outer, tensordot};
