//! Quantiles, by sorting.

use super::ReductionAxes;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::fallible;
use crate::layout::Shape;
use crate::ops::methods::method;
use crate::ops::{self, Sort};
use crate::scalar::Shown;
use crate::tensor::Tensor;
use alloc::vec::Vec;
use smallvec::SmallVec;

/// Where a quantile lies among the sorted elements, and what it is between two of them. The nine
/// that follow `Midpoint` or are `Linear` are those of Hyndman and Fan, "Sample quantiles in
/// statistical packages", The American Statistician 50, 1996, in their order from 1 to 9.
///
/// Example: [`quantile`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Interpolation {
    /// `q` of the way from the first element to the last, between two of them in proportion to the
    /// distances (7 of Hyndman and Fan).
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
    /// The first element that at least `q` of all do not exceed.
    InvertedCdf,
    /// The same, or the mean with the next where exactly `q` of all do not exceed it.
    AveragedInvertedCdf,
    /// The element that `q * n` is nearest to, counted from 1; halfway, that with an even number.
    ClosestObservation,
    /// The inverted distribution function, drawn as a line through its steps.
    InterpolatedInvertedCdf,
    /// Between the middles of these steps.
    Hazen,
    /// Elements are at their expected shares of a uniform distribution.
    Weibull,
    /// Nearly unbiased for the median, whatever the distribution.
    MedianUnbiased,
    /// Nearly unbiased for normal distributions.
    NormalUnbiased,
}

impl Interpolation {
    /// The position of quantile `q` among `n` sorted elements, counted from 0.
    fn position(self, q: f64, n: f64) -> f64 {
        // the element of number k, from 1, is the quantile (k - a) / (n + 1 - a - b)
        let plotted = |a: f64, b: f64| n * q + (a + q * (1.0 - a - b)) - 1.0;
        match self {
            Self::Linear | Self::Lower | Self::Higher | Self::Nearest | Self::Midpoint => {
                q * (n - 1.0)
            }
            Self::InvertedCdf | Self::AveragedInvertedCdf => n * q - 1.0,
            Self::ClosestObservation => n * q - 1.5,
            Self::InterpolatedInvertedCdf => plotted(0.0, 1.0),
            Self::Hazen => plotted(0.5, 0.5),
            Self::Weibull => plotted(0.0, 0.0),
            Self::MedianUnbiased => plotted(1.0 / 3.0, 1.0 / 3.0),
            Self::NormalUnbiased => plotted(3.0 / 8.0, 3.0 / 8.0),
        }
    }

    /// How far from element `low` to the next a position is that lies `part` of the way between them.
    fn weight(self, low: f64, part: f64) -> f64 {
        let odd = low as i64 & 1 == 1;
        let next = |condition: bool| f64::from(u8::from(condition));
        match self {
            Self::Lower => 0.0,
            Self::Higher | Self::InvertedCdf => next(part > 0.0),
            Self::Nearest if part == 0.5 => next(odd),
            Self::Nearest => next(part > 0.5),
            Self::Midpoint if part > 0.0 => 0.5,
            Self::Midpoint => 0.0,
            Self::AveragedInvertedCdf if part > 0.0 => 1.0,
            Self::AveragedInvertedCdf => 0.5,
            Self::ClosestObservation => next(part > 0.0 || !odd),
            _ => part,
        }
    }
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
        const OP: &str = "quantile";
        let sorted = Sorted::new(OP, x, over.into())?;
        stacked(OP, q, &sorted, |q| sorted.quantile(q, by))
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
        Sorted::new("median", x, over.into())?.quantile(0.5, Interpolation::Linear)
    }
);

method!(
    /// Quantiles over axes (all for `()`) of the elements that are not NaN; NaN if there are none.
    /// Arguments, dtypes and errors are those of [`quantile`].
    ///
    /// ```
    /// use flex::{Tensor, ops::{self, Interpolation}};
    /// let x = Tensor::from([[3.0f32, f32::NAN, 1.0], [5.0, 4.0, 9.0]]);
    /// assert_eq!(x.nanquantile(&[0.5], 1, Interpolation::Linear)?.to_vec::<f32>()?, [2.0, 5.0]);
    /// let all = ops::nanquantile(&x, &[0.0, 1.0], (), Interpolation::Linear)?;
    /// assert_eq!(all.to_vec::<f32>()?, [1.0, 9.0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[doc(alias("nanpercentile"))]
    pub fn nanquantile(
        x: &Tensor,
        q: &[f64],
        over: impl Into<ReductionAxes>,
        by: Interpolation,
    ) -> Result<Tensor> {
        const OP: &str = "nanquantile";
        let sorted = Sorted::new(OP, x, over.into())?;
        let counts = sorted.counts()?;
        stacked(OP, q, &sorted, |q| sorted.nanquantile(&counts, q, by))
    }
);

method!(
    /// The median over axes (all for `()`) of the elements that are not NaN; NaN if there are none.
    /// Dtypes and errors as for [`quantile`].
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// let x = Tensor::from([[3.0f32, f32::NAN, 1.0], [5.0, 4.0, 9.0]]);
    /// assert_eq!(x.nanmedian(1)?.to_vec::<f32>()?, [2.0, 5.0]);
    /// assert_eq!(ops::nanmedian(&x, ())?.item::<f32>()?, 4.0);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn nanmedian(x: &Tensor, over: impl Into<ReductionAxes>) -> Result<Tensor> {
        let sorted = Sorted::new("nanmedian", x, over.into())?;
        sorted.nanquantile(&sorted.counts()?, 0.5, Interpolation::Linear)
    }
);

/// Results of `each` for all of `q`, along a new first dimension.
fn stacked(
    op: &'static str,
    q: &[f64],
    sorted: &Sorted,
    each: impl Fn(f64) -> Result<Tensor>,
) -> Result<Tensor> {
    if let Some(q) = q.iter().find(|q| !(0.0..=1.0).contains(*q)) {
        return Err(Error::value(
            op,
            message!("q is {}; it must be from 0 to 1", Shown(*q)),
        ));
    }
    let all = fallible::collect(q.iter().map(|q| each(*q)))?;
    if all.is_empty() {
        let mut none = sorted.shape.clone();
        none.insert(0, 0);
        return Tensor::zeros(&none, sorted.dtype);
    }
    ops::stack(&all, 0)
}

/// Elements sorted along the last axis, NaN last, in a dtype in which the differences of integers
/// are exact.
struct Sorted {
    lines: Tensor,
    n: usize,
    /// Of a result.
    shape: Shape,
    dtype: DType,
}

impl Sorted {
    fn new(op: &'static str, x: &Tensor, over: ReductionAxes) -> Result<Sorted> {
        let dtype = x.dtype();
        if dtype.is_complex() || dtype.is_storage() {
            return Err(Error::unsupported(op, dtype));
        }
        let axes = over.axes.resolve(op, x.rank())?;
        let kept: SmallVec<[usize; 6]> = (0..x.rank()).filter(|k| !axes.contains(k)).collect();
        let order: SmallVec<[usize; 6]> = kept.iter().chain(&axes).copied().collect();
        let n: usize = axes.iter().map(|k| x.shape()[*k]).product();
        let mut shape: Shape = kept.iter().map(|k| x.shape()[*k]).collect();
        let mut lines = shape.clone();
        lines.push(n);
        if over.keepdims {
            shape = Shape::from_slice(x.shape());
            axes.iter().for_each(|k| shape[*k] = 1);
        }
        let wide = match dtype.is_float() {
            true => dtype.wide(),
            false if DType::F64.is_available() => DType::F64,
            false => DType::F32,
        };
        let lines = x.permute(order)?.reshape(&lines)?;
        let lines = match n {
            0 => lines,
            _ => ops::sort(&lines, Sort::from(-1))?.into_dtype(wide)?,
        };
        let dtype = dtype.inexact();
        Ok(Sorted {
            lines,
            n,
            shape,
            dtype,
        })
    }

    fn at(&self, k: usize) -> Result<Tensor> {
        self.lines.select(-1, k as i64)
    }

    fn result(&self, y: Tensor) -> Result<Tensor> {
        y.into_dtype(self.dtype)?.reshape(&self.shape)
    }

    fn quantile(&self, q: f64, by: Interpolation) -> Result<Tensor> {
        if self.n == 0 {
            return ops::full(&self.shape, f64::NAN, self.dtype);
        }
        let place = Place::new(q, self.n, by);
        let (a, b) = (self.at(place.low)?, self.at(place.high)?);
        let y = between(&a, &b, place.part)?;
        let last = self.at(self.n - 1)?;
        self.result(ops::where_(&ops::isnan(&last)?, f64::NAN, y)?)
    }

    /// The number of elements of each line that are not NaN.
    fn counts(&self) -> Result<Vec<i64>> {
        let numbers = ops::logical_not(&ops::isnan(&self.lines)?)?;
        ops::count_nonzero(&numbers, -1)?.to_vec()
    }

    fn nanquantile(&self, counts: &[i64], q: f64, by: Interpolation) -> Result<Tensor> {
        if counts.iter().all(|n| *n == self.n as i64) {
            return self.quantile(q, by);
        }
        // of a line of NaN the first, which is one
        let place = |n: &i64| Place::new(q, (*n as usize).max(1), by);
        let mut shape = Shape::from_slice(self.lines.shape());
        shape[self.lines.rank() - 1] = 1;
        let at = |k: fn(Place) -> usize| {
            let all = fallible::collect(counts.iter().map(|n| Ok(k(place(n)) as i64)))?;
            ops::take_along_axis(&self.lines, &Tensor::from_vec(all, &shape)?, -1)
        };
        let wide = self.lines.dtype();
        let share = |of: fn(f64) -> f64| {
            dispatch!(float wide, |F| {
                let all = fallible::collect(counts.iter().map(|n| Ok(of(place(n).part) as F)))?;
                Tensor::from_vec(all, &shape)
            }, else Err(Error::unsupported("nanquantile", wide)))
        };
        let shares = [share(|part| part)?, share(|part| 1.0 - part)?];
        self.result(between_each(&at(|p| p.low)?, &at(|p| p.high)?, &shares)?)
    }
}

/// The elements beside a quantile, and how far from the first to the second it is.
struct Place {
    low: usize,
    high: usize,
    part: f64,
}

impl Place {
    /// Of `n` elements, at least one.
    fn new(q: f64, n: usize, by: Interpolation) -> Place {
        let position = by.position(q, n as f64);
        let low = libm::floor(position);
        // the cast of a negative number is 0
        let element = |k: f64| (k as usize).min(n - 1);
        Place {
            low: element(low),
            high: element(low + 1.0),
            part: by.weight(low, position - low),
        }
    }
}

/// `part` of the way from `a` to `b`, from the nearer end, so that both ends are exact.
fn between(a: &Tensor, b: &Tensor, part: f64) -> Result<Tensor> {
    if part == 0.0 || part == 1.0 {
        return Ok(if part == 0.0 { a } else { b }.clone());
    }
    let apart = ops::subtract(b, a)?;
    let y = match part < 0.5 {
        true => ops::add(a, ops::multiply(apart, part)?)?,
        false => ops::subtract(b, ops::multiply(apart, 1.0 - part)?)?,
    };
    // also where both are infinite
    ops::where_(&ops::equal(a, b)?, a, y)
}

/// The same, where each element has a `part` of its own, and `rest`, what is left to 1.
fn between_each(a: &Tensor, b: &Tensor, [part, rest]: &[Tensor; 2]) -> Result<Tensor> {
    let apart = ops::subtract(b, a)?;
    let after_a = ops::add(a, ops::multiply(&apart, part)?)?;
    let before_b = ops::subtract(b, ops::multiply(apart, rest)?)?;
    let y = ops::where_(&ops::less(part, 0.5)?, after_a, before_b)?;
    let y = ops::where_(&ops::equal(part, 1.0)?, b, y)?;
    let is_a = ops::logical_or(ops::equal(part, 0.0)?, ops::equal(a, b)?)?;
    ops::where_(&is_a, a, y)
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
