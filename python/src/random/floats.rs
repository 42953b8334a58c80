//! The generator's floats.

use super::{Parameter, PyGenerator, float, operand, shape};
use crate::cell::PyTensor;
use crate::convert::{Given, Ints};
use crate::dtype::DTypeArg;
use pyo3::prelude::*;

#[pymethods]
impl PyGenerator {
    /// Floats evenly distributed from 0 to 1, which is left out: multiples of 2^-24 for float32, of
    /// 2^-53 for float64, of 2^-11 for float16 and of 2^-8 for bfloat16.
    ///
    /// >>> x = flex.random.default_rng(7).random(1000)
    /// >>> ((x >= 0) & (x < 1)).all().item()
    /// True
    #[pyo3(signature = (size = None, dtype = None))]
    fn random(
        &self,
        py: Python<'_>,
        size: Option<Given<Ints>>,
        dtype: Option<Given<DTypeArg>>,
    ) -> PyResult<PyTensor> {
        const OP: &str = "random";
        let (shape, dtype) = (shape(OP, size, &[])?, float(OP, dtype)?);
        self.draw(py, &shape, |rng| rng.random(&shape, dtype))
    }
    /// Floats evenly distributed from low to high, which is left out unless they are equal.
    ///
    /// ValueError if high is less than low, or their difference is not finite.
    ///
    /// >>> x = flex.random.default_rng(7).uniform(-1, 1, size=1000)
    /// >>> ((x >= -1) & (x < 1)).all().item()
    /// True
    #[pyo3(signature = (low = None, high = None, size = None, *, dtype = None), text_signature = "($self, low=0.0, high=1.0, size=None, *, dtype=None)")]
    fn uniform(
        &self,
        py: Python<'_>,
        low: Option<Given<Parameter>>,
        high: Option<Given<Parameter>>,
        size: Option<Given<Ints>>,
        dtype: Option<Given<DTypeArg>>,
    ) -> PyResult<PyTensor> {
        const OP: &str = "uniform";
        let (low, high) = (
            operand(OP, "low", low, 0.0)?,
            operand(OP, "high", high, 1.0)?,
        );
        let (shape, dtype) = (shape(OP, size, &[&low, &high])?, float(OP, dtype)?);
        self.draw(py, &shape, |rng| rng.uniform(low, high, &shape, dtype))
    }
    /// Normally distributed floats of mean 0 and variance 1: by the method of Box and Muller (1958)
    /// in float64, rounded once.
    ///
    /// >>> flex.random.default_rng(7).standard_normal((2, 3), dtype=flex.float64).dtype
    /// flex.float64
    #[pyo3(signature = (size = None, dtype = None))]
    fn standard_normal(
        &self,
        py: Python<'_>,
        size: Option<Given<Ints>>,
        dtype: Option<Given<DTypeArg>>,
    ) -> PyResult<PyTensor> {
        const OP: &str = "standard_normal";
        let (shape, dtype) = (shape(OP, size, &[])?, float(OP, dtype)?);
        self.draw(py, &shape, |rng| rng.standard_normal(&shape, dtype))
    }
    /// Normally distributed floats of mean loc and standard deviation scale, which must not be
    /// negative (ValueError).
    ///
    /// >>> means = flex.asarray([0.0, 100.0])
    /// >>> flex.random.default_rng(7).normal(means, 0.5).shape
    /// (2,)
    #[pyo3(signature = (loc = None, scale = None, size = None, *, dtype = None), text_signature = "($self, loc=0.0, scale=1.0, size=None, *, dtype=None)")]
    fn normal(
        &self,
        py: Python<'_>,
        loc: Option<Given<Parameter>>,
        scale: Option<Given<Parameter>>,
        size: Option<Given<Ints>>,
        dtype: Option<Given<DTypeArg>>,
    ) -> PyResult<PyTensor> {
        const OP: &str = "normal";
        let (loc, scale) = (
            operand(OP, "loc", loc, 0.0)?,
            operand(OP, "scale", scale, 1.0)?,
        );
        let (shape, dtype) = (shape(OP, size, &[&loc, &scale])?, float(OP, dtype)?);
        self.draw(py, &shape, |rng| rng.normal(loc, scale, &shape, dtype))
    }
}
