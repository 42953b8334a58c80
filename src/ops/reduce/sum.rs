//! Sums, products, means; what is true.

use super::converted::converted;
use super::{Axes, elements};
use crate::dtype::{Class, DType};
use crate::error::{Error, Result};
use crate::kernel::reduce::{All, Any, Count, Mean, Prod, Sum};
use crate::tensor::Tensor;
use alloc::borrow::Cow;

/// What sums, products and their scans of a dtype are added up in, and their dtype by default: int64 for bool and signed
/// integers, uint64 for unsigned ones (int64 in a build without it), else the dtype itself.
pub(in crate::ops) fn accumulator(dtype: DType) -> DType {
    match dtype.class() {
        Class::Uint if DType::U64.is_available() => DType::U64,
        Class::Boolean | Class::Sint | Class::Uint => DType::I64,
        _ => dtype,
    }
}

/// `x` such that it accumulates to the dtype asked for, and that dtype: integers wrap, so they may be cut to it afterwards;
/// everything else is converted before.
pub(in crate::ops) fn accumulated<'a>(op: &'static str, x: &'a Tensor, dtype: Option<DType>) -> Result<(Cow<'a, Tensor>, DType)> {
    let dtype = dtype.unwrap_or(accumulator(x.dtype()));
    if dtype.is_bool() {
        return Err(Error::dtype(op, message!("a result of {dtype} is not defined: give a dtype of numbers")));
    }
    let later = dtype.is_integer() && (x.dtype().is_integer() || x.dtype().is_bool());
    Ok((if later || dtype == x.dtype() { Cow::Borrowed(x) } else { Cow::Owned(x.astype(dtype)?) }, dtype))
}

/// The sum of elements over `axes` (all where `None`), in `dtype`: by default int64 for bool and signed integers, uint64 for
/// unsigned ones, else the dtype of `x`. Integers wrap. Of no elements it is 0.
///
/// Reduced axes go, or stay with size 1 with `keepdims`. Errors where an axis is outside `x` or named twice, and for a `dtype`
/// of bool.
///
/// ```
/// use flex::{DType, Tensor, ops};
/// let x = Tensor::from_slice(&[1i8, 2, 3, 100, 100, 100], [2, 3])?;
/// assert_eq!(ops::sum(&x, Some(&[1]), false, None)?.to_vec::<i64>()?, [6, 300]);
/// assert_eq!(ops::sum(&x, Some(&[0]), true, Some(DType::I8))?.shape(), [1, 3]);
/// assert_eq!(ops::sum(&x, None, false, Some(DType::F32))?.item::<f32>()?, 306.0);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn sum(x: &Tensor, axes: Option<&[isize]>, keepdims: bool, dtype: Option<DType>) -> Result<Tensor> {
    let axes = Axes::new("sum", x, axes, keepdims)?;
    if let Some(dtype) = dtype.filter(|d| *d != x.dtype() && d.is_float()) {
        return dispatch!(floating dtype, |T| converted::<T, Sum>(&axes, x), else Err(Error::unsupported("sum", dtype)));
    }
    let (x, dtype) = accumulated("sum", x, dtype)?;
    elements!(computed, Sum, axes, &x, accumulator(x.dtype()))?.into_dtype(dtype)
}

/// The product of elements over `axes`; dtypes, axes and errors as for [`sum`]. Of no elements it is 1.
///
/// ```
/// use flex::{Tensor, ops};
/// let x = Tensor::from_slice(&[1.0f32, 2.0, 3.0, 4.0], [2, 2])?;
/// assert_eq!(ops::prod(&x, Some(&[-1]), false, None)?.to_vec::<f32>()?, [2.0, 12.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn prod(x: &Tensor, axes: Option<&[isize]>, keepdims: bool, dtype: Option<DType>) -> Result<Tensor> {
    let axes = Axes::new("prod", x, axes, keepdims)?;
    if let Some(dtype) = dtype.filter(|d| *d != x.dtype() && d.is_float()) {
        return dispatch!(floating dtype, |T| converted::<T, Prod>(&axes, x), else Err(Error::unsupported("prod", dtype)));
    }
    let (x, dtype) = accumulated("prod", x, dtype)?;
    elements!(computed, Prod, axes, &x, accumulator(x.dtype()))?.into_dtype(dtype)
}

/// The arithmetic mean over `axes` (all where `None`): float32 of bool and integers, which are added in float64, else of the
/// dtype of `x`. Of no elements it is NaN. Axes and errors as for [`sum`].
///
/// ```
/// use flex::{Tensor, ops};
/// let x = Tensor::from_slice(&[1i64, 2, 4, 5], [2, 2])?;
/// assert_eq!(ops::mean(&x, Some(&[0]), false)?.to_vec::<f32>()?, [2.5, 3.5]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn mean(x: &Tensor, axes: Option<&[isize]>, keepdims: bool) -> Result<Tensor> {
    let axes = Axes::new("mean", x, axes, keepdims)?;
    elements!(computed, Mean, axes, x, x.dtype().inexact())
}

/// Whether an element over `axes` (all where `None`) is not zero; NaN is not. Of no elements: false. Axes and errors as for
/// [`sum`].
///
/// ```
/// use flex::{Tensor, ops};
/// let x = Tensor::from_slice(&[0i32, 0, 0, 7], [2, 2])?;
/// assert_eq!(ops::any(&x, Some(&[1]), false)?.to_vec::<bool>()?, [false, true]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn any(x: &Tensor, axes: Option<&[isize]>, keepdims: bool) -> Result<Tensor> {
    let axes = Axes::new("any", x, axes, keepdims)?;
    elements!(computed, Any, axes, x, DType::Bool)
}

/// Whether no element over `axes` (all where `None`) is zero. Of no elements: true. Axes and errors as for [`sum`].
///
/// ```
/// use flex::{Tensor, ops};
/// let x = Tensor::from_slice(&[1.0f32, 0.0, f32::NAN, 7.0], [2, 2])?;
/// assert_eq!(ops::all(&x, Some(&[1]), false)?.to_vec::<bool>()?, [false, true]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn all(x: &Tensor, axes: Option<&[isize]>, keepdims: bool) -> Result<Tensor> {
    let axes = Axes::new("all", x, axes, keepdims)?;
    elements!(computed, All, axes, x, DType::Bool)
}

/// How many elements over `axes` (all where `None`) are not zero, as int64. Axes and errors as for [`sum`].
///
/// ```
/// use flex::{Tensor, ops};
/// let x = Tensor::from_slice(&[0i32, 3, 0, 7], [2, 2])?;
/// assert_eq!(ops::count_nonzero(&x, None, false)?.item::<i64>()?, 2);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn count_nonzero(x: &Tensor, axes: Option<&[isize]>, keepdims: bool) -> Result<Tensor> {
    let axes = Axes::new("count_nonzero", x, axes, keepdims)?;
    elements!(computed, Count, axes, x, DType::I64)
}
