//! The generator's other distributions.

use super::{Parameter, PyGenerator, float, operand, shape, vector};
use crate::cell::PyTensor;
use crate::convert::{Given, Ints, count};
use crate::dtype::DTypeArg;
use flex::ops::Arg;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A parameter without a default.
fn required(op: &str, name: &str, x: Given<Parameter>) -> PyResult<Arg<'static>> {
    operand(op, name, Some(x), 0.0)
}

/// Defines methods of floats with a location and a scale.
macro_rules! located {
    ($($(#[$doc:meta])* $name:ident($loc:ident, $scale:ident), $text:literal;)*) => {
        #[pymethods]
        impl PyGenerator { $(
            $(#[$doc])*
            #[pyo3(signature = ($loc = None, $scale = None, size = None, *, dtype = None), text_signature = $text)]
            fn $name(
                &self,
                py: Python<'_>,
                $loc: Option<Given<Parameter>>,
                $scale: Option<Given<Parameter>>,
                size: Option<Given<Ints>>,
                dtype: Option<Given<DTypeArg>>,
            ) -> PyResult<PyTensor> {
                const OP: &str = stringify!($name);
                let loc = operand(OP, stringify!($loc), $loc, 0.0)?;
                let scale = operand(OP, stringify!($scale), $scale, 1.0)?;
                let (shape, dtype) = (shape(OP, size, &[&loc, &scale])?, float(OP, dtype)?);
                self.draw(py, &shape, |rng| rng.$name(loc, scale, &shape, dtype))
            }
        )* }
    };
}
located! {
    /// Floats of the Gumbel distribution: loc - scale log(-log(u)), u uniform from 0 to 1. scale must
    /// not be negative (ValueError).
    ///
    /// >>> flex.random.default_rng(7).gumbel(5, 0, size=2).tolist()
    /// [5.0, 5.0]
    gumbel(loc, scale), "($self, loc=0.0, scale=1.0, size=None, *, dtype=None)";
    /// Floats of the Laplace distribution: exponentially distributed on both sides of loc. scale must
    /// not be negative (ValueError).
    ///
    /// >>> flex.random.default_rng(7).laplace(5, 0, size=2).tolist()
    /// [5.0, 5.0]
    laplace(loc, scale), "($self, loc=0.0, scale=1.0, size=None, *, dtype=None)";
    /// Floats of the logistic distribution: loc + scale log(u / (1 - u)), u uniform from 0 to 1.
    /// scale must not be negative (ValueError).
    ///
    /// >>> flex.random.default_rng(7).logistic(5, 0, size=2).tolist()
    /// [5.0, 5.0]
    logistic(loc, scale), "($self, loc=0.0, scale=1.0, size=None, *, dtype=None)";
    /// Floats whose logarithm is normally distributed, with this mean and standard deviation. sigma
    /// must not be negative (ValueError).
    ///
    /// >>> flex.random.default_rng(7).lognormal(0, 0, size=2).tolist()
    /// [1.0, 1.0]
    lognormal(mean, sigma), "($self, mean=0.0, sigma=1.0, size=None, *, dtype=None)";
}

#[pymethods]
impl PyGenerator {
    /// Exponentially distributed floats of mean 1.
    ///
    /// >>> (flex.random.default_rng(7).standard_exponential(1000) > 0).all().item()
    /// True
    #[pyo3(signature = (size = None, dtype = None))]
    fn standard_exponential(
        &self,
        py: Python<'_>,
        size: Option<Given<Ints>>,
        dtype: Option<Given<DTypeArg>>,
    ) -> PyResult<PyTensor> {
        const OP: &str = "standard_exponential";
        let (shape, dtype) = (shape(OP, size, &[])?, float(OP, dtype)?);
        self.draw(py, &shape, |rng| rng.standard_exponential(&shape, dtype))
    }
    /// Exponentially distributed floats of mean scale, which must not be negative (ValueError).
    ///
    /// >>> flex.random.default_rng(7).exponential(flex.asarray([0.5, 100.0])).shape
    /// (2,)
    #[pyo3(signature = (scale = None, size = None, *, dtype = None), text_signature = "($self, scale=1.0, size=None, *, dtype=None)")]
    fn exponential(
        &self,
        py: Python<'_>,
        scale: Option<Given<Parameter>>,
        size: Option<Given<Ints>>,
        dtype: Option<Given<DTypeArg>>,
    ) -> PyResult<PyTensor> {
        const OP: &str = "exponential";
        let scale = operand(OP, "scale", scale, 1.0)?;
        let (shape, dtype) = (shape(OP, size, &[&scale])?, float(OP, dtype)?);
        self.draw(py, &shape, |rng| rng.exponential(scale, &shape, dtype))
    }
    /// Gamma-distributed floats of this shape parameter and scale 1 (Marsaglia and Tsang 2000). The
    /// shape must be finite and not negative (ValueError).
    ///
    /// >>> flex.random.default_rng(7).standard_gamma(2.0, size=(2, 3)).shape
    /// (2, 3)
    #[pyo3(signature = (shape, size = None, dtype = None))]
    fn standard_gamma(
        &self,
        py: Python<'_>,
        shape: Given<Parameter>,
        size: Option<Given<Ints>>,
        dtype: Option<Given<DTypeArg>>,
    ) -> PyResult<PyTensor> {
        const OP: &str = "standard_gamma";
        let a = required(OP, "shape", shape)?;
        let (shape, dtype) = (self::shape(OP, size, &[&a])?, float(OP, dtype)?);
        self.draw(py, &shape, |rng| rng.standard_gamma(a, &shape, dtype))
    }
    /// Gamma-distributed floats of this shape parameter and scale. The shape must be finite, and
    /// neither may be negative (ValueError).
    ///
    /// >>> flex.random.default_rng(7).gamma(2.0, 0.0, size=2).tolist()
    /// [0.0, 0.0]
    #[pyo3(signature = (shape, scale = None, size = None, *, dtype = None), text_signature = "($self, shape, scale=1.0, size=None, *, dtype=None)")]
    fn gamma(
        &self,
        py: Python<'_>,
        shape: Given<Parameter>,
        scale: Option<Given<Parameter>>,
        size: Option<Given<Ints>>,
        dtype: Option<Given<DTypeArg>>,
    ) -> PyResult<PyTensor> {
        const OP: &str = "gamma";
        let (a, scale) = (
            required(OP, "shape", shape)?,
            operand(OP, "scale", scale, 1.0)?,
        );
        let (shape, dtype) = (self::shape(OP, size, &[&a, &scale])?, float(OP, dtype)?);
        self.draw(py, &shape, |rng| rng.gamma(a, scale, &shape, dtype))
    }
    /// Floats of the chi-square distribution with df degrees of freedom, which must be positive
    /// (ValueError).
    ///
    /// >>> flex.random.default_rng(7).chisquare(3, size=2).shape
    /// (2,)
    #[pyo3(signature = (df, size = None, *, dtype = None))]
    fn chisquare(
        &self,
        py: Python<'_>,
        df: Given<Parameter>,
        size: Option<Given<Ints>>,
        dtype: Option<Given<DTypeArg>>,
    ) -> PyResult<PyTensor> {
        const OP: &str = "chisquare";
        let df = required(OP, "df", df)?;
        let (shape, dtype) = (shape(OP, size, &[&df])?, float(OP, dtype)?);
        self.draw(py, &shape, |rng| rng.chisquare(df, &shape, dtype))
    }
    /// Floats of the beta distribution, from 0 to 1. a and b must be positive (ValueError).
    ///
    /// >>> flex.random.default_rng(7).beta(2, 3, size=2).shape
    /// (2,)
    #[pyo3(signature = (a, b, size = None, *, dtype = None))]
    fn beta(
        &self,
        py: Python<'_>,
        a: Given<Parameter>,
        b: Given<Parameter>,
        size: Option<Given<Ints>>,
        dtype: Option<Given<DTypeArg>>,
    ) -> PyResult<PyTensor> {
        const OP: &str = "beta";
        let (a, b) = (required(OP, "a", a)?, required(OP, "b", b)?);
        let (shape, dtype) = (shape(OP, size, &[&a, &b])?, float(OP, dtype)?);
        self.draw(py, &shape, |rng| rng.beta(a, b, &shape, dtype))
    }
    /// Poisson-distributed integers of mean lam, as int64 (Hormann 1993). lam must not be negative,
    /// nor so large that int64 can't hold the integers (ValueError).
    ///
    /// >>> flex.random.default_rng(7).poisson(0, size=2).tolist()
    /// [0, 0]
    #[pyo3(signature = (lam = None, size = None), text_signature = "($self, lam=1.0, size=None)")]
    fn poisson(
        &self,
        py: Python<'_>,
        lam: Option<Given<Parameter>>,
        size: Option<Given<Ints>>,
    ) -> PyResult<PyTensor> {
        const OP: &str = "poisson";
        let lam = operand(OP, "lam", lam, 1.0)?;
        let shape = shape(OP, size, &[&lam])?;
        self.draw(py, &shape, |rng| rng.poisson(lam, &shape))
    }
    /// How many of n trials of probability p succeed, as int64 (Hormann 1993). n must be an integer
    /// that is not negative, and p from 0 to 1 (ValueError).
    ///
    /// >>> flex.random.default_rng(7).binomial(5, 1.0, size=2).tolist()
    /// [5, 5]
    #[pyo3(signature = (n, p, size = None))]
    fn binomial(
        &self,
        py: Python<'_>,
        n: Given<Parameter>,
        p: Given<Parameter>,
        size: Option<Given<Ints>>,
    ) -> PyResult<PyTensor> {
        const OP: &str = "binomial";
        let (n, p) = (required(OP, "n", n)?, required(OP, "p", p)?);
        let shape = shape(OP, size, &[&n, &p])?;
        self.draw(py, &shape, |rng| rng.binomial(n, p, &shape))
    }
    /// The number of trials of probability p up to the first that succeeds, as int64. p must be
    /// above 0 and at most 1 (ValueError).
    ///
    /// >>> flex.random.default_rng(7).geometric(1.0, size=2).tolist()
    /// [1, 1]
    #[pyo3(signature = (p, size = None))]
    fn geometric(
        &self,
        py: Python<'_>,
        p: Given<Parameter>,
        size: Option<Given<Ints>>,
    ) -> PyResult<PyTensor> {
        const OP: &str = "geometric";
        let p = required(OP, "p", p)?;
        let shape = shape(OP, size, &[&p])?;
        self.draw(py, &shape, |rng| rng.geometric(p, &shape))
    }
    /// How often each outcome occurs in n trials, as int64 of shape `[*size, outcomes]`. pvals: the
    /// outcomes' probabilities, along the last axis, which sum to 1 (ValueError). n and the other
    /// dimensions of pvals broadcast, to `size` if it is given.
    ///
    /// >>> flex.random.default_rng(7).multinomial(9, flex.asarray([0.5, 0.5]), size=4).sum(axis=1).tolist()
    /// [9, 9, 9, 9]
    #[pyo3(signature = (n, pvals, size = None))]
    fn multinomial(
        &self,
        py: Python<'_>,
        n: Given<Parameter>,
        pvals: Given<Parameter>,
        size: Option<Given<Ints>>,
    ) -> PyResult<PyTensor> {
        const OP: &str = "multinomial";
        let (n, pvals) = (required(OP, "n", n)?, vector(OP, "pvals", pvals)?);
        // without an outcome, the core says so
        let each = pvals.select(-1, 0).ok().map(Arg::Own);
        let parameters: Vec<&Arg> = [&n].into_iter().chain(&each).collect();
        let shape = shape(OP, size, &parameters)?;
        self.draw(py, &shape, |rng| rng.multinomial(n, &pvals, &shape))
    }
    /// Floats of the noncentral chi-square distribution with df degrees of freedom, which must be
    /// positive: the sum of squares of normal variables, the squares of whose means add to nonc, which
    /// must not be negative (ValueError).
    ///
    /// >>> flex.random.default_rng(7).noncentral_chisquare(3, 2, size=2).shape
    /// (2,)
    #[pyo3(signature = (df, nonc, size = None, *, dtype = None))]
    fn noncentral_chisquare(
        &self,
        py: Python<'_>,
        df: Given<Parameter>,
        nonc: Given<Parameter>,
        size: Option<Given<Ints>>,
        dtype: Option<Given<DTypeArg>>,
    ) -> PyResult<PyTensor> {
        const OP: &str = "noncentral_chisquare";
        let (df, nonc) = (required(OP, "df", df)?, required(OP, "nonc", nonc)?);
        let (shape, dtype) = (shape(OP, size, &[&df, &nonc])?, float(OP, dtype)?);
        self.draw(py, &shape, |rng| {
            rng.noncentral_chisquare(df, nonc, &shape, dtype)
        })
    }
    /// Floats of the noncentral F distribution: the ratio of a noncentral chi-square variable and a
    /// chi-square variable, each divided by its degrees of freedom, which must be positive. nonc must
    /// not be negative (ValueError).
    ///
    /// >>> flex.random.default_rng(7).noncentral_f(3, 8, 2, size=2).shape
    /// (2,)
    #[pyo3(signature = (dfnum, dfden, nonc, size = None, *, dtype = None))]
    fn noncentral_f(
        &self,
        py: Python<'_>,
        dfnum: Given<Parameter>,
        dfden: Given<Parameter>,
        nonc: Given<Parameter>,
        size: Option<Given<Ints>>,
        dtype: Option<Given<DTypeArg>>,
    ) -> PyResult<PyTensor> {
        const OP: &str = "noncentral_f";
        let (dfnum, dfden) = (required(OP, "dfnum", dfnum)?, required(OP, "dfden", dfden)?);
        let nonc = required(OP, "nonc", nonc)?;
        let shape = shape(OP, size, &[&dfnum, &dfden, &nonc])?;
        let dtype = float(OP, dtype)?;
        self.draw(py, &shape, |rng| {
            rng.noncentral_f(dfnum, dfden, nonc, &shape, dtype)
        })
    }
    /// Angles of the von Mises distribution around mu, from -pi to pi: evenly distributed for a kappa
    /// of 0, the narrower the larger it is (Best and Fisher 1979). mu must be finite, and kappa not
    /// negative (ValueError).
    ///
    /// >>> flex.random.default_rng(7).vonmises(0.0, 4.0, size=2).shape
    /// (2,)
    #[pyo3(signature = (mu, kappa, size = None, *, dtype = None))]
    fn vonmises(
        &self,
        py: Python<'_>,
        mu: Given<Parameter>,
        kappa: Given<Parameter>,
        size: Option<Given<Ints>>,
        dtype: Option<Given<DTypeArg>>,
    ) -> PyResult<PyTensor> {
        const OP: &str = "vonmises";
        let (mu, kappa) = (required(OP, "mu", mu)?, required(OP, "kappa", kappa)?);
        let (shape, dtype) = (shape(OP, size, &[&mu, &kappa])?, float(OP, dtype)?);
        self.draw(py, &shape, |rng| rng.vonmises(mu, kappa, &shape, dtype))
    }
    /// The failures before n successes of probability p, as int64. n must be positive, p above 0 and
    /// at most 1, and int64 hold the integers (ValueError).
    ///
    /// >>> flex.random.default_rng(7).negative_binomial(5, 1.0, size=2).tolist()
    /// [0, 0]
    #[pyo3(signature = (n, p, size = None))]
    fn negative_binomial(
        &self,
        py: Python<'_>,
        n: Given<Parameter>,
        p: Given<Parameter>,
        size: Option<Given<Ints>>,
    ) -> PyResult<PyTensor> {
        const OP: &str = "negative_binomial";
        let (n, p) = (required(OP, "n", n)?, required(OP, "p", p)?);
        let shape = shape(OP, size, &[&n, &p])?;
        self.draw(py, &shape, |rng| rng.negative_binomial(n, p, &shape))
    }
    /// Integers of the Zipf or zeta distribution, as int64: k from 1 on with a probability in
    /// proportion to `k**-a`. a must be above 1 (ValueError).
    ///
    /// >>> flex.random.default_rng(7).zipf(3, size=2).shape
    /// (2,)
    #[pyo3(signature = (a, size = None))]
    fn zipf(
        &self,
        py: Python<'_>,
        a: Given<Parameter>,
        size: Option<Given<Ints>>,
    ) -> PyResult<PyTensor> {
        const OP: &str = "zipf";
        let a = required(OP, "a", a)?;
        let shape = shape(OP, size, &[&a])?;
        self.draw(py, &shape, |rng| rng.zipf(a, &shape))
    }
    /// How many of nsample elements, drawn from ngood good and nbad bad ones without putting any back,
    /// are good, as int64. They must be integers from 0 to 10**9, and nsample not exceed the elements
    /// (ValueError).
    ///
    /// >>> flex.random.default_rng(7).hypergeometric(5, 0, 3, size=2).tolist()
    /// [3, 3]
    #[pyo3(signature = (ngood, nbad, nsample, size = None))]
    fn hypergeometric(
        &self,
        py: Python<'_>,
        ngood: Given<Parameter>,
        nbad: Given<Parameter>,
        nsample: Given<Parameter>,
        size: Option<Given<Ints>>,
    ) -> PyResult<PyTensor> {
        const OP: &str = "hypergeometric";
        let (ngood, nbad) = (required(OP, "ngood", ngood)?, required(OP, "nbad", nbad)?);
        let nsample = required(OP, "nsample", nsample)?;
        let shape = shape(OP, size, &[&ngood, &nbad, &nsample])?;
        self.draw(py, &shape, |rng| {
            rng.hypergeometric(ngood, nbad, nsample, &shape)
        })
    }
    /// How many elements of each color are among nsample ones, drawn from colors of each without
    /// putting any back, as int64 of shape `[*size, n]`, for colors of shape `[n]` (ShapeError).
    /// They must be integers from 0 to 10**9 as must be their sum, which nsample must not exceed.
    /// method: "marginals" or "count", which make no difference (ValueError for both).
    ///
    /// >>> rng = flex.random.default_rng(7)
    /// >>> rng.multivariate_hypergeometric([8, 4, 1], 6, size=3).sum(axis=1).tolist()
    /// [6, 6, 6]
    #[pyo3(signature = (colors, nsample, size = None, method = "marginals"))]
    fn multivariate_hypergeometric(
        &self,
        py: Python<'_>,
        colors: Given<Parameter>,
        nsample: isize,
        size: Option<Given<Ints>>,
        method: &str,
    ) -> PyResult<PyTensor> {
        const OP: &str = "multivariate_hypergeometric";
        if !["marginals", "count"].contains(&method) {
            return Err(PyValueError::new_err(format!(
                "{OP}: method is {method:?}; it is \"marginals\" or \"count\""
            )));
        }
        let colors = vector(OP, "colors", colors)?;
        let (shape, nsample) = (shape(OP, size, &[])?, count(OP, "nsample", nsample)?);
        self.draw(py, &shape, |rng| {
            rng.multivariate_hypergeometric(&colors, nsample, &shape)
        })
    }
    /// Vectors of the Dirichlet distribution, of positive numbers that sum to 1: `[*size, n]`, for
    /// alpha of shape `[n]` (ShapeError), which must be positive (ValueError).
    ///
    /// >>> flex.random.default_rng(7).dirichlet(flex.ones(3), size=(4, 2)).shape
    /// (4, 2, 3)
    #[pyo3(signature = (alpha, size = None, *, dtype = None))]
    fn dirichlet(
        &self,
        py: Python<'_>,
        alpha: Given<Parameter>,
        size: Option<Given<Ints>>,
        dtype: Option<Given<DTypeArg>>,
    ) -> PyResult<PyTensor> {
        const OP: &str = "dirichlet";
        let alpha = vector(OP, "alpha", alpha)?;
        let (shape, dtype) = (shape(OP, size, &[])?, float(OP, dtype)?);
        self.draw(py, &shape, |rng| rng.dirichlet(&alpha, &shape, dtype))
    }
    /// What `multivariate_normal` draws by Cholesky's factor.
    #[pyo3(name = "_multivariate_normal", signature = (mean, cov, size = None, *, dtype = None))]
    fn multivariate_normal(
        &self,
        py: Python<'_>,
        mean: Given<Parameter>,
        cov: Given<Parameter>,
        size: Option<Given<Ints>>,
        dtype: Option<Given<DTypeArg>>,
    ) -> PyResult<PyTensor> {
        const OP: &str = "multivariate_normal";
        let (mean, cov) = (vector(OP, "mean", mean)?, vector(OP, "cov", cov)?);
        let (shape, dtype) = (shape(OP, size, &[])?, float(OP, dtype)?);
        self.draw(py, &shape, |rng| {
            rng.multivariate_normal(&mean, &cov, &shape, dtype)
        })
    }
}
