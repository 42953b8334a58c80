//! Linear algebra: products of matrices and vectors. Operands are read in place, with any strides.

mod cross;
mod dot;
mod matmul;
mod operands;
mod post_op;
mod tensordot;
mod vecdot;
mod weight;

pub use cross::cross;
pub use dot::{dot, inner, kron, vdot};

#[doc(hidden)]
pub use matmul::matmul_with_post_op;
#[cfg(feature = "bindings")]
#[doc(hidden)]
pub use matmul::matrix_transposed;
#[cfg(feature = "stream")]
pub(crate) use matmul::product_of;
pub(crate) use matmul::{bytes_in_i32, dispatch_product, is_dense, product_dtype, sums_in, widens};
pub use matmul::{matmul, matmul_as, matrix_transpose};
pub(crate) use operands::{Matrices, ResultMatrices, bias_in};
#[doc(hidden)]
pub use post_op::{BindPostOp, bind_post_op};
pub use tensordot::{TensordotAxes, outer, tensordot};
pub use vecdot::vecdot;
#[cfg(all(feature = "std", feature = "quant"))]
pub(crate) use weight::kept_as;
pub(crate) use weight::{kept_panels, product_of_weight};
