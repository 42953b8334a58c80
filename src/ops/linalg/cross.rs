//! The cross product.

use crate::error::{Error, Result};
use crate::layout::{self, Int};
use crate::ops::methods::method;
use crate::ops::{multiply, roll, subtract};
use crate::tensor::Tensor;
use alloc::vec::Vec;

method!(
    /// The cross product of vectors with three elements along an axis; the other dimensions
    /// broadcast. `axis` counts in each operand separately, and in the result. Dtypes are promoted.
    ///
    /// Errors if the size along the axis is not 3, the other dimensions don't broadcast, or the
    /// dtypes have no common one or are bool.
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// let (x, y) = (Tensor::from([1, 0, 0]), Tensor::from([0, 1, 0]));
    /// assert_eq!(x.cross(&y, -1)?.to_vec::<i32>()?, [0, 0, 1]);
    /// assert_eq!(ops::cross(&y, &x, -1)?.to_vec::<i32>()?, [0, 0, -1]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn cross(a: &Tensor, b: &Tensor, axis: impl Int) -> Result<Tensor> {
        cross_of(a, b, axis.wide())
    }
);

fn cross_of(a: &Tensor, b: &Tensor, axis: isize) -> Result<Tensor> {
    const OP: &str = "cross";
    let (of_a, of_b) = (
        layout::axis(OP, axis, a.rank())?,
        layout::axis(OP, axis, b.rank())?,
    );
    if a.shape()[of_a] != 3 || b.shape()[of_b] != 3 {
        let message = message!("vectors along axis {axis} must have 3 elements");
        return Err(Error::shape_of(
            OP,
            message,
            &[("a", a.shape(), a.dtype()), ("b", b.shape(), b.dtype())],
        ));
    }
    let dtype = a.dtype().promote(b.dtype(), OP)?;
    if dtype.is_bool() {
        return Err(Error::unsupported(OP, dtype));
    }
    // In operands of different ranks the vectors may be at different distances from the last axis,
    // but must be aligned to broadcast.
    let rank = a.rank().max(b.rank());
    let align = |t: &Tensor| -> Result<Tensor> {
        let missing: Vec<isize> = (1..=(rank - t.rank()) as isize).collect();
        t.moveaxis(axis, 0)?
            .expand_dims(&missing)?
            .moveaxis(0, axis)
    };
    let (a, b) = (align(a)?, align(b)?);
    // Elements 1, 2, 0 and 2, 0, 1: each component of the result is the product of one with the
    // other, minus the reverse.
    let product = |i: i64, j: i64| multiply(roll(&a, i, axis)?, roll(&b, j, axis)?);
    subtract(product(-1, 1)?, product(1, -1)?)
}
