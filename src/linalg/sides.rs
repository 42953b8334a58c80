//! The right-hand sides of linear systems.

use super::batch::{Batch, dtypes, prepared};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::layout::{self, Shape};
use crate::tensor::Tensor;

/// The right-hand sides B of `A X = B` for square matrices A, which X replaces.
pub(super) struct RightSides {
    /// B, broadcast to the batches of both: contiguous, in the dtype of the computation.
    pub x: Tensor,
    /// The leading dimensions.
    pub lead: Shape,
    /// The number of matrices.
    pub count: usize,
    /// Columns of each.
    pub width: usize,
    /// The dtype of the computation.
    pub wide: DType,
    dtype: DType,
    vector: bool,
}

impl RightSides {
    /// Those of `b`, a vector `[n]` or matrices `[.., n, k]`, for the matrices of `a`, whose dtype
    /// is `dtype`. Errors if shapes don't fit, or there is no common dtype.
    pub fn new(op: &'static str, a: &Batch, dtype: DType, b: &Tensor) -> Result<RightSides> {
        let n = a.rows;
        let shape = a.shape(&[n, n]);
        let operands = [("a", &shape[..], dtype), ("b", b.shape(), b.dtype())];
        if b.rank() == 0 {
            return Err(Error::shape_of(op, "b has no dimensions", &operands));
        }
        let vector = b.rank() == 1;
        let (dtype, wide) = dtypes(op, dtype.promote(b.dtype(), op)?)?;
        let b = if vector { b.expand_dims(1)? } else { b.clone() };
        let given = Batch::of(op, &b)?;
        if given.rows != n {
            let message = message!("the matrices of a have {n} rows, but b has {}", given.rows);
            return Err(Error::shape_of(op, message, &operands));
        }
        let lead = layout::broadcast(op, &[&a.lead, &given.lead]).map_err(|_| {
            let message = "the dimensions before the last two do not broadcast";
            Error::shape_of(op, message, &operands)
        })?;
        let whole: Shape = lead.iter().copied().chain([n, given.cols]).collect();
        Ok(RightSides {
            x: prepared(&b.broadcast_to(&whole[..])?, wide)?,
            count: lead.iter().product(),
            width: given.cols,
            lead,
            wide,
            dtype,
            vector,
        })
    }
    /// X, of the shape and dtype of the result.
    pub fn solution(self) -> Result<Tensor> {
        let x = self.x.into_dtype(self.dtype)?;
        if self.vector { x.squeeze(-1) } else { Ok(x) }
    }
}
