//! The generator's integers.

use super::{Parameter, PyGenerator, operand, shape};
use crate::cell::PyTensor;
use crate::convert::{Given, Ints};
use crate::dtype::DTypeArg;
use flex::DType;
use flex::ops::Arg;
use pyo3::prelude::*;

#[pymethods]
impl PyGenerator {
    /// Integers evenly distributed from low to high, which is left out unless endpoint is set; from
    /// 0 to low if it is the only one. Without bias, by Lemire's method (2019).
    ///
    /// dtype: an integer dtype or bool, int64 by default. ValueError if low is not below high, or
    /// the dtype doesn't hold the integers (RangeError).
    ///
    /// >>> dice = flex.random.default_rng(7).integers(1, 6, size=1000, endpoint=True)
    /// >>> dice.min().item(), dice.max().item()
    /// (1, 6)
    #[pyo3(signature = (low, high = None, size = None, dtype = None, endpoint = false), text_signature = "($self, low, high=None, size=None, dtype=None, endpoint=False)")]
    fn integers(
        &self,
        py: Python<'_>,
        low: Given<Parameter>,
        high: Option<Given<Parameter>>,
        size: Option<Given<Ints>>,
        dtype: Option<Given<DTypeArg>>,
        endpoint: bool,
    ) -> PyResult<PyTensor> {
        const OP: &str = "integers";
        let first = operand(OP, "low", Some(low), 0.0)?;
        let (low, high) = match high {
            None => (Arg::from(0), first),
            high => (first, operand(OP, "high", high, 0.0)?),
        };
        let shape = shape(OP, size, &[&low, &high])?;
        let dtype = dtype.map(|d| d.of(OP, "dtype")).transpose()?;
        let dtype = dtype.map_or(DType::DEFAULT_INT, |d| d.0);
        self.draw(py, &shape, |rng| match endpoint {
            true => rng.integers_inclusive(low, high, &shape, dtype),
            false => rng.integers(low, high, &shape, dtype),
        })
    }
}
