//! Dot products along an axis.

use super::matmul::{batched, dispatch_product, product_dtype, stack};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::layout::{self, Int};
use crate::ops::methods::method;
use crate::ops::{conj, einsum};
use crate::tensor::Tensor;

const OP: &str = "vecdot";

method!(
    /// The dot product along an axis of two tensors whose other dimensions broadcast; the first is
    /// conjugated if it is complex.
    ///
    /// A negative `axis` counts from the end of both shapes, others from the front of the broadcast
    /// shape. Dtypes are promoted.
    ///
    /// Errors if the sizes along the axis differ, the other dimensions don't broadcast, or the
    /// dtypes have no common one or are bool.
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// let a = Tensor::from([[1, 2], [3, 4]]);
    /// let b = Tensor::from([10, 1]);
    /// assert_eq!(a.vecdot(&b, -1)?.to_vec::<i32>()?, [12, 34]);
    /// assert_eq!(ops::vecdot(&a, &a, 0)?.to_vec::<i32>()?, [10, 20]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn vecdot(a: &Tensor, b: &Tensor, axis: impl Int) -> Result<Tensor> {
        vecdot_of(a, b, axis.wide())
    }
);

fn vecdot_of(a: &Tensor, b: &Tensor, axis: isize) -> Result<Tensor> {
    let (least, most) = (a.rank().min(b.rank()), a.rank().max(b.rank()));
    // a nonnegative axis is one of the longer shape; from the end, it must be one of both
    let from_end = if axis < 0 {
        axis
    } else {
        layout::axis(OP, axis, most)? as isize - most as isize
    };
    let k = layout::axis(OP, from_end, least).map_err(|_| Error::Axis {
        op: OP,
        axis,
        rank: least,
        repeated: false,
    })?;
    let behind = least - k;
    let (left, right) = (a.shape()[a.rank() - behind], b.shape()[b.rank() - behind]);
    if left != right {
        let message = message!("axis {axis} of a is {left} but that of b is {right}");
        return Err(Error::shape_of(
            OP,
            message,
            &[("a", a.shape(), a.dtype()), ("b", b.shape(), b.dtype())],
        ));
    }
    let dtype = a.dtype().promote(b.dtype(), OP)?;
    let sums = product_dtype(dtype);
    let many = a.len().max(b.len()) / MANY_DOTS >= left;
    if many && left < LONG_DOTS && !dtype.is_bool() && most <= MOST_AXES {
        return in_one_pass(a, b, from_end, dtype);
    }
    let a = a.astype(sums)?.moveaxis(from_end, -1)?;
    let b = b.astype(sums)?.moveaxis(from_end, -1)?.expand_dims(-1)?;
    let a = if dtype.is_complex() { conj(&a)? } else { a }.expand_dims(-2)?;
    let c = dispatch_product!(sums, |T| batched(OP, (&a, &b), sums, stack::<T, T, T>, None), else Err(Error::unsupported(OP, dtype)))?;
    c.squeeze([-2, -1])?.into_dtype(dtype)
}

/// The most axes that subscripts name.
const MOST_AXES: usize = 16;
/// The fewest dot products that are computed in one pass, which takes longer to plan.
const MANY_DOTS: usize = 16;
/// The fewest terms of each for which it takes longer than beginning so many sums one by one.
const LONG_DOTS: usize = 1 << 13;

/// [`vecdot`] of many vectors: their products are summed in one pass over all of them.
fn in_one_pass(a: &Tensor, b: &Tensor, axis: isize, dtype: DType) -> Result<Tensor> {
    let (a, b) = (a.moveaxis(axis, -1)?, b.moveaxis(axis, -1)?);
    let a = if dtype.is_complex() {
        conj(&a.astype(dtype)?)?
    } else {
        a
    };
    einsum("...i,...i->...", &[&a, &b]).map_err(|e| e.named(OP))
}
