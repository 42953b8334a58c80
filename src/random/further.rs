//! Noncentral distributions, angles, and integers beyond the most usual distributions.

use super::Generator;
use super::floats::check_float;
use super::parameter::Values;
use super::shaped::{LARGEST_MEAN, NOT_NEGATIVE, POSITIVE, not_negative, positive};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::layout::IntoShape;
use crate::ops::elementwise::Arg;
use crate::scalar::Shown;
use crate::tensor::Tensor;

/// Up to this, counts have logarithms of factorials with enough digits.
const MOST: f64 = 1e9;
/// What [`is_few`] says.
pub(super) const FEW: &str = "be an integer from 0 to 10^9";
/// Whether a number counts elements of a population.
pub(super) fn is_few(x: f64) -> bool {
    (0.0..=MOST).contains(&x) && libm::floor(x) == x
}

impl Generator {
    /// Floats of the noncentral chi-square distribution with `df` degrees of freedom: the sum of
    /// squares of normal variables, the squares of whose means add to `nonc`.
    ///
    /// Errors if the dtype is not a float, `df` is not positive and finite, or `nonc` is negative or
    /// not finite.
    ///
    /// ```
    /// use flex::{DType, random::default_rng};
    /// let x = default_rng(7).noncentral_chisquare(3, 2, 10_000, DType::F32)?;
    /// assert!((x.mean(())?.item::<f32>()? - 5.0).abs() < 0.2);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn noncentral_chisquare<'a, 'b>(
        &mut self,
        df: impl Into<Arg<'a>>,
        nonc: impl Into<Arg<'b>>,
        shape: impl IntoShape,
        dtype: DType,
    ) -> Result<Tensor> {
        const OP: &str = "noncentral_chisquare";
        let shape = shape.into_shape();
        let shape = shape.as_ref();
        check_float(OP, dtype)?;
        let df = Values::new(OP, "df", &df.into(), shape, positive, POSITIVE)?;
        let nonc = Values::new(OP, "nonc", &nonc.into(), shape, not_negative, NOT_NEGATIVE)?;
        self.elements(OP, &[&df, &nonc], shape, dtype, |draws, [df, nonc, _]| {
            draws.noncentral_chisquare(df, nonc)
        })
    }
    /// Floats of the noncentral F distribution: a noncentral chi-square variable and a chi-square
    /// variable, each over its degrees of freedom, and their ratio.
    ///
    /// Errors if the dtype is not a float, `dfnum` or `dfden` is not positive and finite, or `nonc`
    /// is negative or not finite.
    ///
    /// ```
    /// use flex::{DType, random::default_rng};
    /// let x = default_rng(7).noncentral_f(3, 20, 2, 5, DType::F32)?;
    /// assert!(x.iter::<f32>()?.all(|x| x > 0.0));
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn noncentral_f<'a, 'b, 'c>(
        &mut self,
        dfnum: impl Into<Arg<'a>>,
        dfden: impl Into<Arg<'b>>,
        nonc: impl Into<Arg<'c>>,
        shape: impl IntoShape,
        dtype: DType,
    ) -> Result<Tensor> {
        const OP: &str = "noncentral_f";
        let shape = shape.into_shape();
        let shape = shape.as_ref();
        check_float(OP, dtype)?;
        let dfnum = Values::new(OP, "dfnum", &dfnum.into(), shape, positive, POSITIVE)?;
        let dfden = Values::new(OP, "dfden", &dfden.into(), shape, positive, POSITIVE)?;
        let nonc = Values::new(OP, "nonc", &nonc.into(), shape, not_negative, NOT_NEGATIVE)?;
        self.elements(
            OP,
            &[&dfnum, &dfden, &nonc],
            shape,
            dtype,
            |draws, [n, d, nonc]| {
                let above = draws.noncentral_chisquare(n, nonc) / n;
                above / (2.0 * draws.gamma(d / 2.0) / d)
            },
        )
    }
    /// Angles of the von Mises distribution, from -pi to pi, around `mu`: evenly distributed for a
    /// `kappa` of 0, the narrower the larger it is (Best and Fisher, 1979).
    ///
    /// Errors if the dtype is not a float, `mu` is not finite, or `kappa` negative or not finite.
    ///
    /// ```
    /// use flex::{DType, random::default_rng};
    /// let x = default_rng(7).vonmises(1.0, 4.0, 10_000, DType::F32)?;
    /// assert!((x.mean(())?.item::<f32>()? - 1.0).abs() < 0.05);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn vonmises<'a, 'b>(
        &mut self,
        mu: impl Into<Arg<'a>>,
        kappa: impl Into<Arg<'b>>,
        shape: impl IntoShape,
        dtype: DType,
    ) -> Result<Tensor> {
        const OP: &str = "vonmises";
        let shape = shape.into_shape();
        let shape = shape.as_ref();
        check_float(OP, dtype)?;
        let mu = Values::new(OP, "mu", &mu.into(), shape, f64::is_finite, "be finite")?;
        let kappa = Values::new(
            OP,
            "kappa",
            &kappa.into(),
            shape,
            not_negative,
            NOT_NEGATIVE,
        )?;
        self.elements(OP, &[&mu, &kappa], shape, dtype, |draws, [mu, kappa, _]| {
            draws.vonmises(mu, kappa)
        })
    }
    /// Integers of the negative binomial distribution, as int64: the failures before `n` successes
    /// of probability `p`. A Poisson variable whose mean is a gamma variable.
    ///
    /// Errors if `n` is not positive and finite, `p` is not above 0 and at most 1, or the integers
    /// would exceed int64.
    ///
    /// ```
    /// use flex::{DType, random::default_rng};
    /// let x = default_rng(7).negative_binomial(3, 0.25, 10_000)?;
    /// assert!((x.astype(DType::F32)?.mean(())?.item::<f32>()? - 9.0).abs() < 0.3);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn negative_binomial<'a, 'b>(
        &mut self,
        n: impl Into<Arg<'a>>,
        p: impl Into<Arg<'b>>,
        shape: impl IntoShape,
    ) -> Result<Tensor> {
        const OP: &str = "negative_binomial";
        let shape = shape.into_shape();
        let shape = shape.as_ref();
        let n = Values::new(OP, "n", &n.into(), shape, positive, POSITIVE)?;
        let accepted = |x| x > 0.0 && x <= 1.0;
        let must = "be above 0, and at most 1";
        let p = Values::new(OP, "p", &p.into(), shape, accepted, must)?;
        for i in 0..Values::count(&[&n, &p]) {
            let (n, p) = (n.at(i), p.at(i));
            let (mean, spread) = ((1.0 - p) / p * n, (1.0 - p) / p * libm::sqrt(n));
            if mean + 10.0 * spread > LARGEST_MEAN {
                let (n, p) = (Shown(n), Shown(p));
                let message = message!("n is {n} and p {p}; int64 must hold the integers");
                return Err(Error::value(OP, message));
            }
        }
        self.elements(OP, &[&n, &p], shape, DType::I64, |draws, [n, p, _]| {
            let mean = draws.gamma(n) * ((1.0 - p) / p);
            draws.poisson(mean.min(LARGEST_MEAN))
        })
    }
    /// Integers of the Zipf or zeta distribution, as int64: `k` from 1 on with a probability in
    /// proportion to `k^-a`, up to the largest that int64 holds (Devroye, 1986).
    ///
    /// Errors if `a` is not above 1 and finite.
    ///
    /// ```
    /// use flex::random::default_rng;
    /// let x = default_rng(7).zipf(3.0, 1000)?;
    /// assert!(x.iter::<i64>()?.all(|x| x >= 1));
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn zipf<'a>(&mut self, a: impl Into<Arg<'a>>, shape: impl IntoShape) -> Result<Tensor> {
        const OP: &str = "zipf";
        let shape = shape.into_shape();
        let shape = shape.as_ref();
        let accepted = |x: f64| x > 1.0 && x.is_finite();
        let a = Values::new(
            OP,
            "a",
            &a.into(),
            shape,
            accepted,
            "be above 1, and finite",
        )?;
        self.elements(OP, &[&a], shape, DType::I64, |draws, [a, ..]| draws.zipf(a))
    }
    /// Integers of the hypergeometric distribution, as int64: how many of `nsample` elements, drawn
    /// from `ngood` good and `nbad` bad ones without putting any back, are good (Stadlober, 1990).
    ///
    /// Errors if a number is not an integer from 0 to 10^9, or `nsample` exceeds the elements.
    ///
    /// ```
    /// use flex::{DType, random::default_rng};
    /// let x = default_rng(7).hypergeometric(30, 70, 20, 10_000)?;
    /// assert!((x.astype(DType::F32)?.mean(())?.item::<f32>()? - 6.0).abs() < 0.1);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn hypergeometric<'a, 'b, 'c>(
        &mut self,
        ngood: impl Into<Arg<'a>>,
        nbad: impl Into<Arg<'b>>,
        nsample: impl Into<Arg<'c>>,
        shape: impl IntoShape,
    ) -> Result<Tensor> {
        const OP: &str = "hypergeometric";
        let shape = shape.into_shape();
        let shape = shape.as_ref();
        let good = Values::new(OP, "ngood", &ngood.into(), shape, is_few, FEW)?;
        let bad = Values::new(OP, "nbad", &nbad.into(), shape, is_few, FEW)?;
        let sample = Values::new(OP, "nsample", &nsample.into(), shape, is_few, FEW)?;
        for i in 0..Values::count(&[&good, &bad, &sample]) {
            let (all, sample) = (good.at(i) + bad.at(i), sample.at(i));
            if sample > all {
                let message = message!("nsample is {sample}, of {all} elements");
                return Err(Error::value(OP, message));
            }
        }
        let parameters = [&good, &bad, &sample];
        self.elements(
            OP,
            &parameters,
            shape,
            DType::I64,
            |draws, [good, bad, sample]| draws.hypergeometric(good, bad, sample),
        )
    }
}
