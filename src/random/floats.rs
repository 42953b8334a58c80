//! Floats of the uniform and the normal distribution.

use super::Generator;
use super::parameter::{self, Values};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::kernel::elementwise::rows;
use crate::kernel::random::Transform;
use crate::layout::IntoShape;
use crate::ops::draw;
use crate::ops::elementwise::Arg;
use crate::ops::formula::Formula;
use crate::scalar::Shown;
use crate::tensor::Tensor;

/// Errors if the dtype is not a float of this build that is computed with.
pub(super) fn check_float(op: &'static str, dtype: DType) -> Result<()> {
    match dtype.is_float() && !dtype.is_storage() && dtype.is_available() {
        true => Ok(()),
        false => Err(Error::unsupported(op, dtype)),
    }
}

impl Generator {
    /// Floats evenly distributed from 0 to 1, which is left out: multiples of 2^-24 for float32, of
    /// 2^-53 for float64, 2^-11 for float16 and 2^-8 for bfloat16.
    ///
    /// Errors if the dtype is not a float.
    ///
    /// ```
    /// use flex::{DType, random::default_rng};
    /// let x = default_rng(7).random(1000, DType::F32)?;
    /// assert!(x.iter::<f32>()?.all(|x| (0.0..1.0).contains(&x)));
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn random(&mut self, shape: impl IntoShape, dtype: DType) -> Result<Tensor> {
        self.unit("random", shape.into_shape().as_ref(), dtype)
    }
    fn unit(&mut self, op: &'static str, shape: &[usize], dtype: DType) -> Result<Tensor> {
        check_float(op, dtype)?;
        let mut y = Tensor::empty(shape, dtype)?;
        let source = self.take(y.len(), draw::uniform_per_group(dtype));
        draw::uniform(op, source, &mut y)?;
        Ok(y)
    }
    /// Floats evenly distributed from `low` to `high`, which is left out unless they are equal:
    /// `low + (high - low) * random()`, computed in the dtype.
    ///
    /// Errors if the dtype is not a float, `high` is less than `low`, or their difference is not
    /// finite.
    ///
    /// ```
    /// use flex::{DType, random::default_rng};
    /// let x = default_rng(7).uniform(-1.0, 1.0, 1000, DType::F32)?;
    /// assert!(x.iter::<f32>()?.all(|x| (-1.0..1.0).contains(&x)));
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn uniform<'a, 'b>(
        &mut self,
        low: impl Into<Arg<'a>>,
        high: impl Into<Arg<'b>>,
        shape: impl IntoShape,
        dtype: DType,
    ) -> Result<Tensor> {
        self.uniform_of(low.into(), high.into(), shape.into_shape().as_ref(), dtype)
    }
    fn uniform_of(
        &mut self,
        low: Arg<'_>,
        high: Arg<'_>,
        shape: &[usize],
        dtype: DType,
    ) -> Result<Tensor> {
        const OP: &str = "uniform";
        check_float(OP, dtype)?;
        let bound = |name, x| Values::new(OP, name, x, shape, f64::is_finite, "be finite");
        let (lows, highs) = (bound("low", &low)?, bound("high", &high)?);
        for i in 0..Values::count(&[&lows, &highs]) {
            let (low, high) = (lows.at(i), highs.at(i));
            if !((high - low).is_finite() && low <= high) {
                let what = if low <= high {
                    "infinitely far from"
                } else {
                    "above"
                };
                return Err(Error::value(
                    OP,
                    message!(
                        "low is {}, {what} high, which is {}",
                        Shown(low),
                        Shown(high)
                    ),
                ));
            }
        }
        let low = parameter::tensor(OP, &low, dtype)?;
        let high = parameter::tensor(OP, &high, dtype)?;
        // the largest result: products that round up to `high` are cut off
        let top = crate::ops::nextafter(high.astype(dtype)?, low.astype(dtype)?)?;
        self.attempt(|rng| {
            let u = rng.unit(OP, shape, dtype)?;
            let mut f = Formula::new(OP, &[shape], dtype)?;
            let (u, low, high) = (f.input(&u)?, f.input(&low)?, f.input(&high)?);
            let span = f.binary(&rows::Subtract::ROW, high, low)?;
            let y = f.binary(&rows::Multiply::ROW, u, span)?;
            let y = f.binary(&rows::Add::ROW, y, low)?;
            let top = f.input(&top)?;
            let y = f.binary(&rows::Minimum::ROW, y, top)?;
            f.write(y, dtype)
        })
    }
    /// Normally distributed floats of mean 0 and variance 1 (Box and Muller, 1958), computed in
    /// float64 and rounded once. Those of float32 and narrower dtypes reach 6.7 standard deviations,
    /// those of float64 9.4.
    ///
    /// Errors if the dtype is not a float.
    ///
    /// ```
    /// use flex::{DType, random::default_rng};
    /// let x = default_rng(7).standard_normal(10_000, DType::F32)?;
    /// assert!(x.mean(())?.item::<f32>()?.abs() < 0.05);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn standard_normal(&mut self, shape: impl IntoShape, dtype: DType) -> Result<Tensor> {
        self.bell("standard_normal", shape.into_shape().as_ref(), dtype)
    }
    pub(super) fn bell(
        &mut self,
        op: &'static str,
        shape: &[usize],
        dtype: DType,
    ) -> Result<Tensor> {
        let transform = match dtype {
            DType::F64 => Transform::Normal,
            _ => Transform::ShortNormal,
        };
        self.floats(op, transform, shape, dtype)
    }
    /// Floats of a distribution without parameters.
    pub(super) fn floats(
        &mut self,
        op: &'static str,
        transform: Transform,
        shape: &[usize],
        dtype: DType,
    ) -> Result<Tensor> {
        check_float(op, dtype)?;
        let mut y = Tensor::empty(shape, dtype)?;
        let source = self.take(y.len(), transform.per_group());
        draw::floats(op, transform, source, &mut y)?;
        Ok(y)
    }
    /// Normally distributed floats: `loc + scale * standard_normal()`, computed in the dtype.
    ///
    /// Errors if the dtype is not a float, or `scale` is negative or NaN.
    ///
    /// ```
    /// use flex::{DType, Tensor, random::default_rng};
    /// let means = Tensor::from([0.0f32, 100.0]);
    /// let x = default_rng(7).normal(&means, 0.1, (1000, 2), DType::F32)?;
    /// assert!((x.mean(())?.item::<f32>()? - 50.0).abs() < 0.1);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn normal<'a, 'b>(
        &mut self,
        loc: impl Into<Arg<'a>>,
        scale: impl Into<Arg<'b>>,
        shape: impl IntoShape,
        dtype: DType,
    ) -> Result<Tensor> {
        let (loc, scale) = (loc.into(), scale.into());
        self.located(
            "normal",
            loc,
            scale,
            shape.into_shape().as_ref(),
            dtype,
            Self::bell,
        )
    }
    /// `loc + scale * x`, with x drawn from a standard distribution.
    pub(super) fn located(
        &mut self,
        op: &'static str,
        loc: Arg<'_>,
        scale: Arg<'_>,
        shape: &[usize],
        dtype: DType,
        draw: fn(&mut Self, &'static str, &[usize], DType) -> Result<Tensor>,
    ) -> Result<Tensor> {
        check_float(op, dtype)?;
        Values::new(op, "loc", &loc, shape, |_| true, "be a number")?;
        Values::new(op, "scale", &scale, shape, |x| x >= 0.0, "not be negative")?;
        if let (Arg::Scalar(loc), Arg::Scalar(scale)) = (&loc, &scale)
            && (loc.to_f64(), scale.to_f64()) == (0.0, 1.0)
        {
            return draw(self, op, shape, dtype);
        }
        let loc = parameter::tensor(op, &loc, dtype)?;
        let scale = parameter::tensor(op, &scale, dtype)?;
        self.attempt(|rng| {
            let x = draw(rng, op, shape, dtype)?;
            let mut f = Formula::new(op, &[shape], dtype)?;
            let (x, loc, scale) = (f.input(&x)?, f.input(&loc)?, f.input(&scale)?);
            let y = f.binary(&rows::Multiply::ROW, x, scale)?;
            let y = f.binary(&rows::Add::ROW, y, loc)?;
            f.write(y, dtype)
        })
    }
}
