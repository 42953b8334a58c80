//! What follows a product, block by block of its result.

use crate::error::Result;
use crate::kernel::gemm::After;
use crate::tensor::Tensor;

/// Takes blocks of a product's result over, while a cache has them.
pub(crate) trait Follow {
    /// The result is about to be computed, as a batch of matrices: so many, their rows and their
    /// columns, which follow each other in its memory. None where it is not taken block by block.
    fn begin(&self, result: &mut Tensor, matrices: [usize; 3]) -> Result<Option<&dyn After>>;
}

/// Who takes blocks of this result, if somebody does.
pub(crate) fn begin<'a>(
    then: Option<&'a dyn Follow>,
    result: &mut Tensor,
    matrices: [usize; 3],
) -> Result<Option<&'a dyn After>> {
    then.map_or(Ok(None), |then| then.begin(result, matrices))
}
