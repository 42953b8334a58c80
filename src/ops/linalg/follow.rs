//! Work that follows a product, block by block of its result.

use crate::error::Result;
use crate::kernel::gemm::After;
use crate::tensor::Tensor;

/// Receives the blocks of a product's result while they are in a cache.
pub trait Follow {
    /// Called before the result is computed, as a batch of contiguous matrices: `matrices` has
    /// their number, rows and columns. `None` if the blocks are not wanted.
    fn begin(&self, result: &mut Tensor, matrices: [usize; 3]) -> Result<Option<&dyn After>>;
}

/// The receiver of the blocks of this result, if any.
pub fn begin<'a>(
    then: Option<&'a dyn Follow>,
    result: &mut Tensor,
    matrices: [usize; 3],
) -> Result<Option<&'a dyn After>> {
    then.map_or(Ok(None), |then| then.begin(result, matrices))
}
