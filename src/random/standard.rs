//! Floats that are a function of the bits of a counter each: the exponential, Gumbel, logistic,
//! Laplace and lognormal distributions.

use super::parameter::{self, Values};
use super::{Generator, floats::check_float};
use crate::dtype::DType;
use crate::error::Result;
use crate::kernel::elementwise::rows;
use crate::kernel::random::{Transform, Unary, transformed};
use crate::layout::IntoShape;
use crate::ops::draw;
use crate::ops::elementwise::Arg;
use crate::ops::formula::Formula;
use crate::tensor::Tensor;

/// Defines methods of a location and a scale.
macro_rules! located {
    ($($(#[$doc:meta])* $name:ident => $Transform:ident;)*) => { $(
        $(#[$doc])*
        ///
        /// Errors if the dtype is not a float, or `scale` is negative or NaN.
        ///
        /// ```
        /// use flex::{DType, random::default_rng};
        #[doc = concat!("let x = default_rng(7).", stringify!($name), "(5.0, 0.0, 3, DType::F32)?;")]
        /// assert_eq!(x.to_vec::<f32>()?, [5.0; 3]);
        /// # Ok::<(), flex::Error>(())
        /// ```
        pub fn $name<'a, 'b>(
            &mut self,
            loc: impl Into<Arg<'a>>,
            scale: impl Into<Arg<'b>>,
            shape: impl IntoShape,
            dtype: DType,
        ) -> Result<Tensor> {
            let (loc, scale) = (loc.into(), scale.into());
            let draw = |rng: &mut Self, op, shape: &[usize], dtype| {
                rng.floats(op, Transform::$Transform, shape, dtype)
            };
            self.located(stringify!($name), loc, scale, shape.into_shape().as_ref(), dtype, draw)
        }
    )* };
}

impl Generator {
    /// Exponentially distributed floats of mean 1.
    ///
    /// Errors if the dtype is not a float.
    ///
    /// ```
    /// use flex::{DType, random::default_rng};
    /// let x = default_rng(7).standard_exponential(1000, DType::F32)?;
    /// assert!(x.iter::<f32>()?.all(|x| x > 0.0));
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn standard_exponential(&mut self, shape: impl IntoShape, dtype: DType) -> Result<Tensor> {
        let shape = shape.into_shape();
        self.decay("standard_exponential", shape.as_ref(), dtype)
    }
    fn decay(&mut self, op: &'static str, shape: &[usize], dtype: DType) -> Result<Tensor> {
        self.floats(op, Transform::Exponential, shape, dtype)
    }
    /// Exponentially distributed floats of mean `scale`.
    ///
    /// Errors if the dtype is not a float, or `scale` is negative or NaN.
    ///
    /// ```
    /// use flex::{DType, random::default_rng};
    /// let x = default_rng(7).exponential(3.0, 10_000, DType::F32)?;
    /// assert!((x.mean(())?.item::<f32>()? - 3.0).abs() < 0.2);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn exponential<'a>(
        &mut self,
        scale: impl Into<Arg<'a>>,
        shape: impl IntoShape,
        dtype: DType,
    ) -> Result<Tensor> {
        let (shape, scale) = (shape.into_shape(), scale.into());
        self.scaled("exponential", scale, shape.as_ref(), dtype, Self::decay)
    }
    /// `scale * x`, with x drawn from a standard distribution.
    pub(super) fn scaled(
        &mut self,
        op: &'static str,
        scale: Arg<'_>,
        shape: &[usize],
        dtype: DType,
        draw: impl FnOnce(&mut Self, &'static str, &[usize], DType) -> Result<Tensor>,
    ) -> Result<Tensor> {
        check_float(op, dtype)?;
        Values::new(op, "scale", &scale, shape, |x| x >= 0.0, "not be negative")?;
        let scale = parameter::tensor(op, &scale, dtype)?;
        self.attempt(|rng| {
            let x = draw(rng, op, shape, dtype)?;
            let mut f = Formula::new(op, &[shape], dtype)?;
            let (x, scale) = (f.input(&x)?, f.input(&scale)?);
            let y = f.binary(&rows::Multiply::ROW, x, scale)?;
            f.write(y, dtype)
        })
    }
    located! {
        /// Floats of the Gumbel distribution: `loc - scale * log(-log(u))`, u uniform from 0 to 1.
        gumbel => Gumbel;
        /// Floats of the logistic distribution: `loc + scale * log(u / (1 - u))`, u uniform from 0
        /// to 1.
        logistic => Logistic;
        /// Floats of the Laplace distribution: exponentially distributed on both sides of `loc`.
        laplace => Laplace;
    }
    /// Floats whose logarithm is normally distributed, with this mean and standard deviation.
    ///
    /// Errors if the dtype is not a float, or `sigma` is negative or NaN.
    ///
    /// ```
    /// use flex::{DType, random::default_rng};
    /// let x = default_rng(7).lognormal(0.0, 1.0, 1000, DType::F32)?;
    /// assert!(x.iter::<f32>()?.all(|x| x > 0.0));
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn lognormal<'a, 'b>(
        &mut self,
        mean: impl Into<Arg<'a>>,
        sigma: impl Into<Arg<'b>>,
        shape: impl IntoShape,
        dtype: DType,
    ) -> Result<Tensor> {
        const OP: &str = "lognormal";
        let (shape, mean, sigma) = (shape.into_shape(), mean.into(), sigma.into());
        let shape = shape.as_ref();
        let mean = Values::new(OP, "mean", &mean, shape, |x| !x.is_nan(), "be a number")?;
        let sigma = Values::new(OP, "sigma", &sigma, shape, |x| x >= 0.0, "not be negative")?;
        check_float(OP, dtype)?;
        let mut y = Tensor::empty(shape, dtype)?;
        let transform = Transform::Normal;
        let source = self.take(y.len(), transform.per_group());
        let change = |start: usize, all: &mut [f64]| {
            for (i, x) in all.iter_mut().enumerate() {
                *x = mean.at(start + i) + sigma.at(start + i) * *x;
            }
            transformed(Unary::Exp, all);
        };
        draw::functions_of_floats(OP, transform, source, &change, &mut y)?;
        Ok(y)
    }
}
