//! Reductions that skip NaN, and NaN replaced by numbers.

use super::ReductionAxes;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::layout::defaults;
use crate::ops::methods::method;
use crate::ops::{self, Arg};
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// Whether elements may be NaN.
fn has_nan(dtype: DType) -> bool {
    dtype.is_float() || dtype.is_complex()
}

/// `x` with another number in place of NaN.
fn filled(x: &Tensor, number: f64) -> Result<Tensor> {
    ops::where_(&ops::isnan(x)?, number, x)
}

/// Errors for dtypes without an order.
fn ordered(op: &'static str, dtype: DType) -> Result<()> {
    match dtype.is_complex() {
        true => Err(Error::unsupported(op, dtype)),
        false => Ok(()),
    }
}

/// The number of elements that are not NaN, in a dtype.
fn count(x: &Tensor, over: ReductionAxes, dtype: DType) -> Result<Tensor> {
    let numbers = ops::logical_not(&ops::isnan(x)?)?;
    ops::count_nonzero(&numbers, over)?.astype(dtype)
}

method!(
    /// The sum over axes (all for `()`) of elements that are not NaN; over none it is 0. Dtypes,
    /// axes and errors are those of [`sum`](ops::sum).
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// let x = Tensor::from([[1.0f32, f32::NAN], [3.0, 4.0]]);
    /// assert_eq!(x.nansum(0)?.to_vec::<f32>()?, [4.0, 4.0]);
    /// assert_eq!(ops::nansum(&x, ())?.item::<f32>()?, 8.0);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn nansum(x: &Tensor, over: impl Into<ReductionAxes>) -> Result<Tensor> {
        match has_nan(x.dtype()) {
            true => ops::sum(&filled(x, 0.0)?, over),
            false => ops::sum(x, over),
        }
        .map_err(|e| e.named("nansum"))
    }
);

method!(
    /// The mean over axes (all for `()`) of elements that are not NaN; over none it is NaN. Dtypes,
    /// axes and errors are those of [`mean`](ops::mean).
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// let x = Tensor::from([[1.0f32, f32::NAN], [3.0, 4.0]]);
    /// assert_eq!(x.nanmean(0)?.to_vec::<f32>()?, [2.0, 4.0]);
    /// assert_eq!(ops::nanmean(&x, 1)?.to_vec::<f32>()?, [1.0, 3.5]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn nanmean(x: &Tensor, over: impl Into<ReductionAxes>) -> Result<Tensor> {
        nanmean_of(x, over.into()).map_err(|e| e.named("nanmean"))
    }
);

fn nanmean_of(x: &Tensor, over: ReductionAxes) -> Result<Tensor> {
    if !has_nan(x.dtype()) {
        return ops::mean(x, over);
    }
    let wide = x.dtype().wide();
    let sum = ops::sum_as(&filled(x, 0.0)?, over.clone(), wide)?;
    ops::divide(sum, count(x, over, wide.real())?)?.into_dtype(x.dtype())
}

method!(
    /// The largest element over axes (all for `()`) that is not NaN; NaN if all are. Axes and
    /// errors are those of [`max`](ops::max).
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// let x = Tensor::from([[1.0f32, f32::NAN], [3.0, 4.0]]);
    /// assert_eq!(x.nanmax(1)?.to_vec::<f32>()?, [1.0, 4.0]);
    /// assert_eq!(ops::nanmax(&x, ())?.item::<f32>()?, 4.0);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn nanmax(x: &Tensor, over: impl Into<ReductionAxes>) -> Result<Tensor> {
        extreme("nanmax", x, over.into(), f64::NEG_INFINITY, |x, over| {
            ops::max(x, over)
        })
    }
);

method!(
    /// The smallest element over axes (all for `()`) that is not NaN; NaN if all are. Axes and
    /// errors are those of [`min`](ops::min).
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// let x = Tensor::from([[1.0f32, f32::NAN], [3.0, 4.0]]);
    /// assert_eq!(x.nanmin(1)?.to_vec::<f32>()?, [1.0, 3.0]);
    /// assert_eq!(ops::nanmin(&x, ())?.item::<f32>()?, 1.0);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn nanmin(x: &Tensor, over: impl Into<ReductionAxes>) -> Result<Tensor> {
        extreme("nanmin", x, over.into(), f64::INFINITY, |x, over| {
            ops::min(x, over)
        })
    }
);

fn extreme(
    op: &'static str,
    x: &Tensor,
    over: ReductionAxes,
    identity: f64,
    of: fn(&Tensor, ReductionAxes) -> Result<Tensor>,
) -> Result<Tensor> {
    let found = || {
        if !has_nan(x.dtype()) || x.dtype().is_complex() {
            return of(x, over.clone());
        }
        let found = of(&filled(x, identity)?, over.clone())?;
        let none = ops::all(&ops::isnan(x)?, over.clone())?;
        ops::where_(none, f64::NAN, found)
    };
    found().map_err(|e| e.named(op))
}

method!(
    /// The variance over axes (all for `()`) of elements that are not NaN: the sum of squared
    /// deviations from their mean, divided by their number minus `correction`; NaN if that is not
    /// positive. Dtypes, axes and errors are those of [`var`](ops::var).
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// let x = Tensor::from([1.0f32, f32::NAN, 3.0]);
    /// assert_eq!(x.nanvar((), 0.0)?.item::<f32>()?, 1.0);
    /// assert_eq!(ops::nanvar(&x, 0, 1.0)?.item::<f32>()?, 2.0);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn nanvar(x: &Tensor, over: impl Into<ReductionAxes>, correction: f64) -> Result<Tensor> {
        spread("nanvar", x, over.into(), correction, false)
    }
);

method!(
    /// The square root of [`nanvar`], with its dtypes and errors.
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// let x = Tensor::from([1.0f32, f32::NAN, 3.0]);
    /// assert_eq!(x.nanstd((), 0.0)?.item::<f32>()?, 1.0);
    /// assert_eq!(ops::nanstd(&x, 0, 1.0)?.item::<f32>()?, 2f32.sqrt());
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn nanstd(x: &Tensor, over: impl Into<ReductionAxes>, correction: f64) -> Result<Tensor> {
        spread("nanstd", x, over.into(), correction, true)
    }
);

fn spread(
    op: &'static str,
    x: &Tensor,
    over: ReductionAxes,
    correction: f64,
    root: bool,
) -> Result<Tensor> {
    let of = || {
        let dtype = x.dtype();
        ordered(op, dtype)?;
        if !has_nan(dtype) {
            return match root {
                true => ops::std(x, over.clone(), correction),
                false => ops::var(x, over.clone(), correction),
            };
        }
        let x = &x.astype(dtype.wide())?;
        let kept = ReductionAxes {
            keepdims: true,
            ..over.clone()
        };
        let away = ops::subtract(x, nanmean_of(x, kept)?)?;
        let squares = ops::sum(&filled(&ops::square(away)?, 0.0)?, over.clone())?;
        let freedom = ops::subtract(count(x, over.clone(), x.dtype())?, correction)?;
        let freedom = ops::where_(&ops::greater(&freedom, 0)?, &freedom, f64::NAN)?;
        let variance = ops::divide(squares, freedom)?;
        let result = if root { ops::sqrt(variance)? } else { variance };
        result.into_dtype(dtype)
    };
    of().map_err(|e: Error| e.named(op))
}

/// What replaces infinities and NaN in [`nan_to_num`].
///
/// Example: [`nan_to_num`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NanToNum {
    /// In place of NaN. Default: 0.
    pub nan: f64,
    /// In place of infinity. Default: the largest finite number of the dtype.
    pub posinf: Option<f64>,
    /// In place of negative infinity. Default: the smallest finite number of the dtype.
    pub neginf: Option<f64>,
}
impl Default for NanToNum {
    fn default() -> NanToNum {
        NanToNum {
            nan: 0.0,
            posinf: None,
            neginf: None,
        }
    }
}
defaults! { NanToNum }

method!(
    /// `x` with finite numbers in place of NaN and infinities; of complex numbers, in both parts.
    /// Bool and integers are left as they are.
    ///
    /// Errors for float8.
    ///
    /// ```
    /// use flex::{Tensor, ops::{self, NanToNum}};
    /// let x = Tensor::from([f32::NAN, f32::INFINITY, 1.0]);
    /// assert_eq!(x.nan_to_num(())?.to_vec::<f32>()?, [0.0, f32::MAX, 1.0]);
    /// let ends = NanToNum { nan: -1.0, posinf: Some(9.0), neginf: None };
    /// assert_eq!(ops::nan_to_num(&x, ends)?.to_vec::<f32>()?, [-1.0, 9.0, 1.0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn nan_to_num(x: &Tensor, by: impl Into<NanToNum>) -> Result<Tensor> {
        nan_to_num_of(x, by.into()).map_err(|e| e.named("nan_to_num"))
    }
);

fn nan_to_num_of(x: &Tensor, by: NanToNum) -> Result<Tensor> {
    let dtype = x.dtype();
    if !has_nan(dtype) {
        return Ok(x.clone());
    }
    if dtype.is_complex() {
        let parts = [ops::real(x)?, ops::imag(x)?];
        let [real, imag] = [nan_to_num_of(&parts[0], by)?, nan_to_num_of(&parts[1], by)?];
        return ops::add(real, ops::multiply(imag, Scalar::Complex(0.0, 1.0))?);
    }
    let largest = match dtype {
        DType::F16 => 65504.0,
        DType::BF16 => f64::from(f32::from_bits(0x7f7f_0000)),
        DType::F32 => f64::from(f32::MAX),
        _ => f64::MAX,
    };
    let (above, below) = (by.posinf.unwrap_or(largest), by.neginf.unwrap_or(-largest));
    let y = filled(x, by.nan)?;
    let y = ops::where_(&ops::equal(x, f64::INFINITY)?, Arg::from(above), y)?;
    ops::where_(&ops::equal(x, f64::NEG_INFINITY)?, Arg::from(below), y)
}
