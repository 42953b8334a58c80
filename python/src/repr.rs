//! Tensors as text.

use super::cell::PyTensor;
use super::values;
use crate::convert::error::Raise;
use flex::bindings::{Style, elements};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

const BOOLS: [&str; 2] = ["False", "True"];

#[pymethods]
impl PyTensor {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        if self.traced_value(|_| ()).is_some() {
            let shape = self.about(|layout, _| PyTuple::new(py, layout.shape()))?;
            return Ok(format!(
                "Tensor(traced, shape={shape}, dtype={})",
                self.dtype_of()
            ));
        }
        let t = self.tensor(py)?;
        let data = elements(
            &t,
            Style {
                indent: "Tensor(".len(),
                bools: BOOLS,
                precision: None,
            },
        )
        .raise()?;
        Ok(format!(
            "Tensor({data}, shape={}, dtype={})",
            PyTuple::new(py, t.shape())?,
            t.dtype()
        ))
    }
    fn __str__(&self, py: Python<'_>) -> PyResult<String> {
        elements(
            &self.tensor(py)?,
            Style {
                indent: 0,
                bools: BOOLS,
                precision: None,
            },
        )
        .raise()
    }
    /// Without a format specification, `str`; with one, the number so formatted, for tensors with
    /// one element.
    fn __format__<'py>(
        &self,
        py: Python<'py>,
        spec: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let t = self.tensor(py)?;
        if spec.len()? == 0 {
            return Ok(self.__str__(py)?.into_pyobject(py)?.into_any());
        }
        if t.len() != 1 {
            let message = format!(
                "a tensor of shape {:?} takes no format: format its elements, such as those of t.tolist()",
                t.shape()
            );
            return Err(PyTypeError::new_err(message));
        }
        values::item(py, &t, "format")?.call_method1("__format__", (spec,))
    }
}
