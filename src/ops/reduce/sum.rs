//! Sums, products, means, and reductions to truth values.

use super::{ElementFold, Reduced, ReductionAxes, elements};
use crate::dtype::{Class, DType};
use crate::error::{Error, Result};
use crate::exec::fold::End;
use crate::exec::program::TileProgram;
use crate::exec::view::ViewMut;
use crate::kernel::reduce::{All, Any, Count, Mean, Prod, Sum};
use crate::ops::methods::method;
use crate::ops::program::conversion;
use crate::tensor::Tensor;
use alloc::borrow::Cow;
use core::marker::PhantomData;

/// The dtype of the accumulator of sums, products and their scans, and by default of their results:
/// int64 for bool and signed integers, uint64 for unsigned ones (int64 in a build without uint64),
/// else the dtype itself.
pub(crate) fn accumulator(dtype: DType) -> DType {
    match dtype.class() {
        Class::Unsigned if DType::U64.is_available() => DType::U64,
        Class::Boolean | Class::Signed | Class::Unsigned => DType::I64,
        _ => dtype,
    }
}

/// Converts `x` for an accumulation in the requested dtype, and returns that dtype. Integers wrap,
/// so they may be narrowed to it afterwards; all others are converted first.
pub(crate) fn accumulated<'a>(
    op: &'static str,
    x: &'a Tensor,
    dtype: Option<DType>,
) -> Result<(Cow<'a, Tensor>, DType)> {
    let before = converted_before(op, x.dtype(), dtype)?;
    let x = match before {
        Some(dtype) => Cow::Owned(x.astype(dtype)?),
        None => Cow::Borrowed(x),
    };
    let result = dtype.unwrap_or(accumulator(x.dtype()));
    Ok((x, result))
}

/// The dtype that elements are converted to before they are accumulated, if any, for a result of
/// the requested dtype.
pub fn converted_before(
    op: &'static str,
    from: DType,
    dtype: Option<DType>,
) -> Result<Option<DType>> {
    let dtype = dtype.unwrap_or(accumulator(from));
    if dtype.is_bool() {
        return Err(Error::dtype(
            op,
            message!("a result of {dtype} is not defined: pass a numeric dtype"),
        ));
    }
    let later = dtype.is_integer() && (from.is_integer() || from.is_bool());
    Ok((!later && dtype != from).then_some(dtype))
}

method!(
    /// The sum of elements over axes (all for `()`): int64 for bool and signed integers, uint64 for
    /// unsigned ones, else in the dtype of `x`. Integers wrap. Over no elements it is 0.
    ///
    /// Reduced axes are dropped, or kept with size 1: see [`ReductionAxes`]. Errors if an axis is out
    /// of range or repeated.
    ///
    /// ```
    /// use flex::{Axes, Tensor, ops};
    /// let x = Tensor::from([[1i8, 2, 3], [100, 100, 100]]);
    /// assert_eq!(x.sum(1)?.to_vec::<i64>()?, [6, 300]);
    /// assert_eq!(x.sum(())?.item::<i64>()?, 306);
    /// assert_eq!(ops::sum(&x, Axes::from(0).keepdims())?.shape(), [1, 3]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[doc(alias("sum_axis", "sum_dim", "sum_all"))]
    pub fn sum(x: &Tensor, over: impl Into<ReductionAxes>) -> Result<Tensor> {
        total("sum", x, over.into(), None, sums)
    }
);

method!(
    /// [`sum`] in a given dtype: floats are added in it, integers wrap to it. Errors also for bool.
    ///
    /// ```
    /// use flex::{DType, Tensor, ops};
    /// let x = Tensor::from([100u8, 100, 100]);
    /// assert_eq!(x.sum_as((), DType::F32)?.item::<f32>()?, 300.0);
    /// assert_eq!(ops::sum_as(&x, (), DType::U8)?.item::<u8>()?, 44);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn sum_as(x: &Tensor, over: impl Into<ReductionAxes>, dtype: DType) -> Result<Tensor> {
        total("sum", x, over.into(), Some(dtype), sums)
    }
);

method!(
    /// The product of elements over axes; dtypes, axes and errors as for [`sum`]. Over no elements
    /// it is 1.
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// let x = Tensor::from([[1.0f32, 2.0], [3.0, 4.0]]);
    /// assert_eq!(x.prod(-1)?.to_vec::<f32>()?, [2.0, 12.0]);
    /// assert_eq!(ops::prod(&x, ())?.item::<f32>()?, 24.0);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[doc(alias("product", "prod_dim"))]
    pub fn prod(x: &Tensor, over: impl Into<ReductionAxes>) -> Result<Tensor> {
        total("prod", x, over.into(), None, products)
    }
);

method!(
    /// [`prod`] in a given dtype, as for [`sum_as`].
    ///
    /// ```
    /// use flex::{DType, Tensor, ops};
    /// let x = Tensor::from([100u8, 3]);
    /// assert_eq!(x.prod_as((), DType::F32)?.item::<f32>()?, 300.0);
    /// assert_eq!(ops::prod_as(&x, (), DType::U8)?.item::<u8>()?, 44);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn prod_as(x: &Tensor, over: impl Into<ReductionAxes>, dtype: DType) -> Result<Tensor> {
        total("prod", x, over.into(), Some(dtype), products)
    }
);

/// The [`End`] that sums values of `dtype` into `out`, whose dtype is the [`accumulator`].
pub(crate) fn sum_end<'a>(op: &'static str, dtype: DType, out: ViewMut<'a>) -> Result<End<'a>> {
    dispatch!(computed dtype, |T| Ok(End::new(&ElementFold::<T, Sum>(PhantomData), out)),
        else Err(Error::unsupported(op, dtype)))
}

/// A family of reductions, from values of one dtype, those of `x` or computed from it by a program,
/// to another dtype.
type ReduceFn = fn(&Reduced, Option<&TileProgram>, DType, &Tensor, DType) -> Result<Tensor>;

fn sums(
    a: &Reduced,
    p: Option<&TileProgram>,
    from: DType,
    x: &Tensor,
    to: DType,
) -> Result<Tensor> {
    elements!(computed, Sum, a, p => from, x, to)
}
fn products(
    a: &Reduced,
    p: Option<&TileProgram>,
    from: DType,
    x: &Tensor,
    to: DType,
) -> Result<Tensor> {
    elements!(computed, Prod, a, p => from, x, to)
}

/// The sum or product in the requested dtype.
fn total(
    op: &'static str,
    x: &Tensor,
    over: ReductionAxes,
    dtype: Option<DType>,
    reduce: ReduceFn,
) -> Result<Tensor> {
    let axes = Reduced::new(op, x, over)?;
    if let Some(dtype) = dtype.filter(|d| *d != x.dtype() && d.is_float()) {
        let converted = conversion(op, x.dtype(), dtype)?;
        return reduce(&axes, Some(&converted), dtype, x, dtype);
    }
    let (x, dtype) = accumulated(op, x, dtype)?;
    reduce(&axes, None, x.dtype(), &x, accumulator(x.dtype()))?.into_dtype(dtype)
}

method!(
    /// The arithmetic mean over axes (all for `()`): float32 for bool and integers, which are added
    /// in float64, else in the dtype of `x`. Over no elements it is NaN. Axes and errors as for
    /// [`sum`].
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// let x = Tensor::from([[1i64, 2], [4, 5]]);
    /// assert_eq!(x.mean(0)?.to_vec::<f32>()?, [2.5, 3.5]);
    /// assert_eq!(ops::mean(&x, ())?.item::<f32>()?, 3.0);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[doc(alias("mean_axis", "mean_dim", "mean_all"))]
    pub fn mean(x: &Tensor, over: impl Into<ReductionAxes>) -> Result<Tensor> {
        mean_of(x, over.into())
    }
);

fn mean_of(x: &Tensor, over: ReductionAxes) -> Result<Tensor> {
    let axes = Reduced::new("mean", x, over)?;
    elements!(computed, Mean, axes, x, x.dtype().inexact())
}

/// The dtype as which elements are reduced to truth values. Errors for dtypes without arithmetic.
pub(crate) fn truth(op: &'static str, dtype: DType) -> Result<DType> {
    match dtype.is_storage() {
        true => Err(Error::unsupported(op, dtype)),
        false => Ok(DType::Bool),
    }
}

/// A reduction of truth values, to values of dtype `to`.
fn of_truth(
    op: &'static str,
    x: &Tensor,
    over: ReductionAxes,
    to: DType,
    reduce: ReduceFn,
) -> Result<Tensor> {
    let axes = Reduced::new(op, x, over)?;
    let bool = truth(op, x.dtype())?;
    if x.dtype().size() == 1 {
        // any byte but 0 is true
        return reduce(&axes, None, bool, &x.bitcast(bool)?, to);
    }
    let converted = conversion(op, x.dtype(), bool)?;
    reduce(&axes, Some(&converted), bool, x, to)
}

method!(
    /// Whether any element over axes (all for `()`) is nonzero; NaN is nonzero. False over no
    /// elements. Axes and errors as for [`sum`].
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// let x = Tensor::from([[0, 0], [0, 7]]);
    /// assert_eq!(x.any(1)?.to_vec::<bool>()?, [false, true]);
    /// assert!(ops::any(&x, ())?.item::<bool>()?);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[doc(alias("any_dim"))]
    pub fn any(x: &Tensor, over: impl Into<ReductionAxes>) -> Result<Tensor> {
        of_truth(
            "any",
            x,
            over.into(),
            DType::Bool,
            |a, p, from, x, to| elements!(boolean, Any, a, p => from, x, to),
        )
    }
);

method!(
    /// Whether all elements over axes (all for `()`) are nonzero. True over no elements. Axes and
    /// errors as for [`sum`].
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// let x = Tensor::from([[1.0f32, 0.0], [f32::NAN, 7.0]]);
    /// assert_eq!(x.all(1)?.to_vec::<bool>()?, [false, true]);
    /// assert!(!ops::all(&x, ())?.item::<bool>()?);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[doc(alias("all_dim"))]
    pub fn all(x: &Tensor, over: impl Into<ReductionAxes>) -> Result<Tensor> {
        of_truth(
            "all",
            x,
            over.into(),
            DType::Bool,
            |a, p, from, x, to| elements!(boolean, All, a, p => from, x, to),
        )
    }
);

method!(
    /// The number of nonzero elements over axes (all for `()`), as int64. Axes and errors as for
    /// [`sum`].
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// let x = Tensor::from([[0, 3], [0, 7]]);
    /// assert_eq!(x.count_nonzero(0)?.to_vec::<i64>()?, [0, 2]);
    /// assert_eq!(ops::count_nonzero(&x, ())?.item::<i64>()?, 2);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[doc(alias("count_nonzero_dim"))]
    pub fn count_nonzero(x: &Tensor, over: impl Into<ReductionAxes>) -> Result<Tensor> {
        of_truth(
            "count_nonzero",
            x,
            over.into(),
            DType::I64,
            |a, p, from, x, to| elements!(boolean, Count, a, p => from, x, to),
        )
    }
);
