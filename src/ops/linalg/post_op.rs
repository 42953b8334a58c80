//! Post-ops: work on a product, block by block of its result.

use crate::error::Result;
use crate::kernel::gemm::PostOp;
use crate::tensor::Tensor;

/// Makes the post-op of a product, which receives the blocks of its result while they are in a
/// cache.
pub trait BindPostOp {
    /// Called before the result is computed, as a batch of contiguous matrices: `matrices` has
    /// their number, rows and columns. `None` if the blocks are not wanted.
    fn bind(&self, result: &mut Tensor, matrices: [usize; 3]) -> Result<Option<&dyn PostOp>>;
}

/// The post-op of this result, if any.
pub fn bind_post_op<'a>(
    post_op: Option<&'a dyn BindPostOp>,
    result: &mut Tensor,
    matrices: [usize; 3],
) -> Result<Option<&'a dyn PostOp>> {
    post_op.map_or(Ok(None), |post_op| post_op.bind(result, matrices))
}
