//! Linear algebra: products of matrices and vectors. Operands are read where they lie, whatever their strides.

mod cross;
mod driver;
mod matmul;
mod tensordot;

pub use cross::cross;
pub(crate) use driver::{Failure, Matrices, Results, Sizes, products};
pub use matmul::{matmul, matmul_as, matrix_transpose, vecdot};
pub use tensordot::{TensordotAxes, outer, tensordot};
