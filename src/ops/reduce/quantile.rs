//! Quantiles, by sorting.

use super::ReductionAxes;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::fallible;
use crate::layout::Shape;
use crate::ops::methods::method;
use crate::ops::{self, Sort};
use crate::tensor::Tensor;
use smallvec::SmallVec;

/// The quantile at a position between two elements.
///
/// Example: [`quantile`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Interpolation {
    /// Between both, in proportion to the distances.
    #[default]
    Linear,
    /// The lower element.
    Lower,
    /// The higher element.
    Higher,
    /// The nearer element; halfway, that at an even position.
    Nearest,
    /// The mean of both.
    Midpoint,
}

method!(
    /// Quantiles over axes (all for `()`): the values at `q` times the way through the sorted
    /// elements, along a new first dimension, one for each of `q`. In the dtype of `x`, float32 for
    /// bool and integers. NaN if an element is NaN, or there is none.
    ///
    /// Errors for complex numbers, if one of `q` is not from 0 to 1, and if an axis is out of range
    /// or repeated.
    ///
    /// ```
    /// use flex::{Tensor, ops::{self, Interpolation}};
    /// let x = Tensor::from([3.0f32, 1.0, 2.0, 10.0]);
    /// let q = x.quantile(&[0.0, 0.5, 1.0], (), Interpolation::Linear)?;
    /// assert_eq!(q.to_vec::<f32>()?, [1.0, 2.5, 10.0]);
    /// assert_eq!(ops::quantile(&x, &[0.4], 0, Interpolation::Lower)?.to_vec::<f32>()?, [2.0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[doc(alias("percentile"))]
    pub fn quantile(
        x: &Tensor,
        q: &[f64],
        over: impl Into<ReductionAxes>,
        by: Interpolation,
    ) -> Result<Tensor> {
        quantiles("quantile", x, q, over.into(), by)
    }
);

method!(
    /// The median over axes (all for `()`): the middle of the sorted elements, or the mean of both
    /// in the middle. Dtypes and errors as for [`quantile`].
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// let x = Tensor::from([[3.0f32, 1.0, 2.0], [9.0, 7.0, 8.0]]);
    /// assert_eq!(x.median(1)?.to_vec::<f32>()?, [2.0, 8.0]);
    /// assert_eq!(ops::median(&x, ())?.item::<f32>()?, 5.0);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn median(x: &Tensor, over: impl Into<ReductionAxes>) -> Result<Tensor> {
        quantiles("median", x, &[0.5], over.into(), Interpolation::Linear)?.select(0, 0)
    }
);

fn quantiles(
    op: &'static str,
    x: &Tensor,
    q: &[f64],
    over: ReductionAxes,
    by: Interpolation,
) -> Result<Tensor> {
    let dtype = x.dtype();
    if dtype.is_complex() || dtype.is_storage() {
        return Err(Error::unsupported(op, dtype));
    }
    if let Some(q) = q.iter().find(|q| !(0.0..=1.0).contains(*q)) {
        return Err(Error::value(
            op,
            message!("q is {q}; it must be from 0 to 1"),
        ));
    }
    let axes = over.axes.resolve(op, x.rank())?;
    let kept: SmallVec<[usize; 6]> = (0..x.rank()).filter(|k| !axes.contains(k)).collect();
    let order: SmallVec<[usize; 6]> = kept.iter().chain(&axes).copied().collect();
    let n: usize = axes.iter().map(|k| x.shape()[*k]).product();
    let of_kept: Shape = kept.iter().map(|k| x.shape()[*k]).collect();
    let mut lines = of_kept.clone();
    lines.push(n);
    let result = dtype.inexact();
    // the differences of integers are exact
    let wide = match dtype.is_float() {
        true => dtype.wide(),
        false if DType::F64.is_available() => DType::F64,
        false => DType::F32,
    };
    let mut shape = of_kept.clone();
    if over.keepdims {
        shape = Shape::from_slice(x.shape());
        axes.iter().for_each(|k| shape[*k] = 1);
    }
    let sorted = x.permute(order)?.reshape(&lines)?;
    let sorted = match n {
        0 => sorted,
        _ => ops::sort(&sorted, Sort::from(-1))?.into_dtype(wide)?,
    };
    let at = |k: usize| sorted.select(-1, k as i64);
    let between = |low: usize, high: usize, part: f64| {
        let (a, b, last) = (at(low)?, at(high)?, at(n - 1)?);
        let apart = ops::subtract(&b, &a)?;
        let y = match part < 0.5 {
            true => ops::add(&a, ops::multiply(apart, part)?)?,
            false => ops::subtract(&b, ops::multiply(apart, 1.0 - part)?)?,
        };
        // also where both are infinite
        let end = if part < 0.5 { &a } else { &b };
        let exact = part == 0.0 || part == 1.0;
        let y = match exact {
            true => end.clone(),
            false => ops::where_(&ops::equal(&a, &b)?, &a, y)?,
        };
        let y = ops::where_(&ops::isnan(&last)?, f64::NAN, y)?;
        y.into_dtype(result)?.reshape(&shape)
    };
    let each = |q: &f64| {
        if n == 0 {
            return ops::full(&shape, f64::NAN, result);
        }
        let position = q * (n - 1) as f64;
        // truncated: not negative, and less than n
        let low = position as usize;
        let (part, high) = (position - low as f64, (low + 1).min(n - 1));
        let part = match by {
            Interpolation::Linear => part,
            Interpolation::Lower => 0.0,
            Interpolation::Higher => f64::from(u8::from(part > 0.0)),
            Interpolation::Nearest if part == 0.5 => f64::from(u8::from(low % 2 == 1)),
            Interpolation::Nearest => f64::from(u8::from(part > 0.5)),
            Interpolation::Midpoint if part > 0.0 => 0.5,
            Interpolation::Midpoint => 0.0,
        };
        between(low, high, part)
    };
    let all = fallible::collect(q.iter().map(each))?;
    match all.is_empty() {
        true => {
            let mut none = shape.clone();
            none.insert(0, 0);
            Tensor::zeros(&none, result)
        }
        false => ops::stack(&all, 0),
    }
}

method!(
    /// The difference of the largest and the smallest element over axes (all for `()`), in the dtype
    /// of `x`; integers wrap. Axes and errors as for [`max`](ops::max).
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// let x = Tensor::from([[1, 5], [3, 2]]);
    /// assert_eq!(x.ptp(1)?.to_vec::<i32>()?, [4, 1]);
    /// assert_eq!(ops::ptp(&x, ())?.item::<i32>()?, 4);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn ptp(x: &Tensor, over: impl Into<ReductionAxes>) -> Result<Tensor> {
        let over = over.into();
        let ends = || ops::subtract(ops::max(x, over.clone())?, ops::min(x, over.clone())?);
        ends().map_err(|e: Error| e.named("ptp"))
    }
);
