//! Distributions whose elements take an unknown number of bits, each from a counter of its own.

use super::Generator;
use super::floats::check_float;
use super::parameter::Values;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::kernel::random::Draws;
use crate::layout::IntoShape;
use crate::ops::draw::{self, Sampler};
use crate::ops::elementwise::Arg;
use crate::scalar::Shown;
use crate::tensor::Tensor;

/// The largest mean of Poisson numbers, all of which int64 holds.
pub(super) const LARGEST_MEAN: f64 = 9.223_372_006_484_771e18;

pub(super) fn positive(x: f64) -> bool {
    x > 0.0 && x.is_finite()
}
pub(super) fn not_negative(x: f64) -> bool {
    x >= 0.0 && x.is_finite()
}
fn probability(x: f64) -> bool {
    (0.0..=1.0).contains(&x)
}

pub(super) const POSITIVE: &str = "be positive and finite";
pub(super) const NOT_NEGATIVE: &str = "not be negative, and be finite";

impl Generator {
    /// Elements drawn one by one, of up to three parameters.
    pub(super) fn elements(
        &mut self,
        op: &'static str,
        parameters: &[&Values],
        shape: &[usize],
        dtype: DType,
        sampler: Sampler,
    ) -> Result<Tensor> {
        if dtype != DType::I64 {
            check_float(op, dtype)?;
        }
        let mut y = Tensor::empty(shape, dtype)?;
        let source = self.take_blocks(y.len() as u64);
        let of_element = |i: usize| {
            let mut values = [0.0; 3];
            for (x, all) in values.iter_mut().zip(parameters) {
                *x = all.at(i);
            }
            values
        };
        draw::elements(op, source, &of_element, sampler, &mut y)?;
        Ok(y)
    }
    /// Gamma-distributed floats of a shape parameter and scale 1 (Marsaglia and Tsang, 2000).
    ///
    /// Errors if the dtype is not a float, or `a` is negative or not finite.
    ///
    /// ```
    /// use flex::{DType, random::default_rng};
    /// let x = default_rng(7).standard_gamma(2.0, 10_000, DType::F32)?;
    /// assert!((x.mean(())?.item::<f32>()? - 2.0).abs() < 0.1);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn standard_gamma<'a>(
        &mut self,
        a: impl Into<Arg<'a>>,
        shape: impl IntoShape,
        dtype: DType,
    ) -> Result<Tensor> {
        self.gammas(
            "standard_gamma",
            "shape",
            a.into(),
            shape.into_shape().as_ref(),
            dtype,
        )
    }
    fn gammas(
        &mut self,
        op: &'static str,
        name: &'static str,
        a: Arg<'_>,
        shape: &[usize],
        dtype: DType,
    ) -> Result<Tensor> {
        check_float(op, dtype)?;
        let a = Values::new(op, name, &a, shape, not_negative, NOT_NEGATIVE)?;
        let sampler = |draws: &mut Draws, [a, ..]: [f64; 3]| draws.gamma(a);
        self.elements(op, &[&a], shape, dtype, sampler)
    }
    /// Gamma-distributed floats: `scale` times [`standard_gamma`](Generator::standard_gamma).
    ///
    /// Errors if the dtype is not a float, `a` is negative or not finite, or `scale` negative or
    /// NaN.
    ///
    /// ```
    /// use flex::{DType, random::default_rng};
    /// let x = default_rng(7).gamma(2.0, 3.0, 10_000, DType::F32)?;
    /// assert!((x.mean(())?.item::<f32>()? - 6.0).abs() < 0.3);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn gamma<'a, 'b>(
        &mut self,
        a: impl Into<Arg<'a>>,
        scale: impl Into<Arg<'b>>,
        shape: impl IntoShape,
        dtype: DType,
    ) -> Result<Tensor> {
        let (a, shape) = (a.into(), shape.into_shape());
        self.scaled(
            "gamma",
            scale.into(),
            shape.as_ref(),
            dtype,
            |rng, op, shape, dtype| rng.gammas(op, "shape", a, shape, dtype),
        )
    }
    /// Floats of the chi-square distribution with `df` degrees of freedom: twice a gamma variable
    /// of shape `df / 2`.
    ///
    /// Errors if the dtype is not a float, or `df` is not positive and finite.
    ///
    /// ```
    /// use flex::{DType, random::default_rng};
    /// let x = default_rng(7).chisquare(4, 10_000, DType::F32)?;
    /// assert!((x.mean(())?.item::<f32>()? - 4.0).abs() < 0.2);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn chisquare<'a>(
        &mut self,
        df: impl Into<Arg<'a>>,
        shape: impl IntoShape,
        dtype: DType,
    ) -> Result<Tensor> {
        const OP: &str = "chisquare";
        let shape = shape.into_shape();
        let shape = shape.as_ref();
        check_float(OP, dtype)?;
        let df = Values::new(OP, "df", &df.into(), shape, positive, POSITIVE)?;
        let sampler = |draws: &mut Draws, [df, ..]: [f64; 3]| 2.0 * draws.gamma(df / 2.0);
        self.elements(OP, &[&df], shape, dtype, sampler)
    }
    /// Floats of the beta distribution, from 0 to 1.
    ///
    /// Errors if the dtype is not a float, or `a` or `b` is not positive and finite.
    ///
    /// ```
    /// use flex::{DType, random::default_rng};
    /// let x = default_rng(7).beta(1.0, 3.0, 10_000, DType::F32)?;
    /// assert!((x.mean(())?.item::<f32>()? - 0.25).abs() < 0.02);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn beta<'a, 'b>(
        &mut self,
        a: impl Into<Arg<'a>>,
        b: impl Into<Arg<'b>>,
        shape: impl IntoShape,
        dtype: DType,
    ) -> Result<Tensor> {
        const OP: &str = "beta";
        let shape = shape.into_shape();
        let shape = shape.as_ref();
        check_float(OP, dtype)?;
        let a = Values::new(OP, "a", &a.into(), shape, positive, POSITIVE)?;
        let b = Values::new(OP, "b", &b.into(), shape, positive, POSITIVE)?;
        self.elements(OP, &[&a, &b], shape, dtype, |draws, [a, b, _]| {
            draws.beta(a, b)
        })
    }
    /// Poisson-distributed integers of mean `lam`, as int64 (Hormann, 1993).
    ///
    /// Errors if `lam` is negative or NaN, or so large that int64 can't hold the integers.
    ///
    /// ```
    /// use flex::{DType, random::default_rng};
    /// let x = default_rng(7).poisson(20.0, 10_000)?;
    /// assert!((x.astype(DType::F32)?.mean(())?.item::<f32>()? - 20.0).abs() < 0.3);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn poisson<'a>(
        &mut self,
        lam: impl Into<Arg<'a>>,
        shape: impl IntoShape,
    ) -> Result<Tensor> {
        const OP: &str = "poisson";
        let shape = shape.into_shape();
        let shape = shape.as_ref();
        let accepted = |x| (0.0..=LARGEST_MEAN).contains(&x);
        let must = "be from 0 to 9.22e18, so that int64 holds the integers";
        let lam = Values::new(OP, "lam", &lam.into(), shape, accepted, must)?;
        let sampler = |draws: &mut Draws, [lam, ..]: [f64; 3]| draws.poisson(lam);
        self.elements(OP, &[&lam], shape, DType::I64, sampler)
    }
    /// Binomially distributed integers, as int64: how many of `n` trials of probability `p` succeed
    /// (Hormann, 1993).
    ///
    /// Errors if `n` is negative or not an integer, or `p` is not from 0 to 1.
    ///
    /// ```
    /// use flex::{DType, random::default_rng};
    /// let x = default_rng(7).binomial(100, 0.3, 10_000)?;
    /// assert!((x.astype(DType::F32)?.mean(())?.item::<f32>()? - 30.0).abs() < 0.3);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn binomial<'a, 'b>(
        &mut self,
        n: impl Into<Arg<'a>>,
        p: impl Into<Arg<'b>>,
        shape: impl IntoShape,
    ) -> Result<Tensor> {
        const OP: &str = "binomial";
        let shape = shape.into_shape();
        let shape = shape.as_ref();
        let n = Values::new(OP, "n", &n.into(), shape, is_count, COUNT)?;
        let p = Values::new(OP, "p", &p.into(), shape, probability, "be from 0 to 1")?;
        self.elements(OP, &[&n, &p], shape, DType::I64, |draws, [n, p, _]| {
            draws.binomial(n, p)
        })
    }
    /// Geometrically distributed integers, as int64: the number of trials of probability `p` up to
    /// the first that succeeds.
    ///
    /// Errors if `p` is not from 0 to 1, or 0.
    ///
    /// ```
    /// use flex::{DType, random::default_rng};
    /// let x = default_rng(7).geometric(0.25, 10_000)?;
    /// assert!((x.astype(DType::F32)?.mean(())?.item::<f32>()? - 4.0).abs() < 0.2);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn geometric<'a>(
        &mut self,
        p: impl Into<Arg<'a>>,
        shape: impl IntoShape,
    ) -> Result<Tensor> {
        const OP: &str = "geometric";
        let shape = shape.into_shape();
        let shape = shape.as_ref();
        let accepted = |x| x > 0.0 && x <= 1.0;
        let p = Values::new(
            OP,
            "p",
            &p.into(),
            shape,
            accepted,
            "be above 0, and at most 1",
        )?;
        let sampler = |draws: &mut Draws, [p, ..]: [f64; 3]| draws.geometric(p);
        self.elements(OP, &[&p], shape, DType::I64, sampler)
    }
}

/// What [`is_count`] says.
pub(super) const COUNT: &str = "be an integer from 0 to 2^63 - 1";
/// Whether a number of trials is one.
pub(super) fn is_count(n: f64) -> bool {
    (0.0..=9_223_372_036_854_774_784.0).contains(&n) && libm::floor(n) == n
}

/// An error of weights that are no probabilities.
pub(super) fn check_probabilities(op: &'static str, name: &str, p: &[f64]) -> Result<()> {
    if let Some(x) = p.iter().find(|x| !probability(**x)) {
        return Err(Error::value(
            op,
            message!("{name} has {}; probabilities are from 0 to 1", Shown(*x)),
        ));
    }
    let sum: f64 = p.iter().sum();
    if (sum - 1.0).abs() > 1e-6 {
        return Err(Error::value(
            op,
            message!("{name} sums to {sum}; it must sum to 1"),
        ));
    }
    Ok(())
}
