//! Embeddings.

use crate::error::{Error, Result};
use crate::ops::take;
use crate::tensor::Tensor;

/// The rows of `weight`, `[entries, width]`, at `indices` of any shape: `[.., width]`. Negative
/// indices count from the end.
///
/// Errors where an index is out of range or no integer, or `weight` is no matrix.
///
/// ```
/// use flex::{Tensor, nn};
/// let weight = Tensor::from_slice(&[1.0f32, 2.0, 3.0, 4.0], [2, 2])?;
/// let rows = nn::embedding(&Tensor::from_slice(&[1i64, 0, 1], [3])?, &weight)?;
/// assert_eq!(rows.to_vec::<f32>()?, [3.0, 4.0, 1.0, 2.0, 3.0, 4.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn embedding(indices: &Tensor, weight: &Tensor) -> Result<Tensor> {
    const OP: &str = "embedding";
    if weight.rank() != 2 {
        return Err(Error::shape_of(
            OP,
            "weight must have the shape [entries, width]",
            &[("weight", weight.shape(), weight.dtype())],
        ));
    }
    taken(OP, weight, indices, 0)
}

/// [`take`] for another operation, whose errors are that one's.
pub(super) fn taken(op: &'static str, x: &Tensor, indices: &Tensor, axis: isize) -> Result<Tensor> {
    take(x, indices, axis).map_err(|e| named(op, e))
}

/// An error of what an operation is made of, as one of its own.
pub(super) fn named(op: &'static str, e: Error) -> Error {
    match e {
        Error::Index {
            index, axis, size, ..
        } => Error::Index {
            op,
            index,
            axis,
            size,
        },
        Error::DType { message, .. } => Error::DType { op, message },
        e => e,
    }
}
