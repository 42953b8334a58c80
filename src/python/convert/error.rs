//! The crate's errors as Python exceptions.

use crate::Error;
use pyo3::create_exception;
use pyo3::exceptions::{PyIndexError, PyMemoryError, PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};

create_exception!(flex, ShapeError, PyValueError, "Shapes that don't fit each other or the operation.");
create_exception!(flex, DTypeError, PyTypeError, "A dtype without a meaning for the operation, or two without a common one.");

/// `flex.AxisError`, a `ShapeError` and an `IndexError`, as NumPy's is a `ValueError` and an `IndexError`.
fn axis_error(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    static TYPE: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let make = || {
        let namespace = PyDict::new(py);
        namespace.set_item("__module__", "flex")?;
        namespace.set_item("__doc__", "An axis out of range, or given twice.")?;
        let bases = (py.get_type::<ShapeError>(), py.get_type::<PyIndexError>());
        Ok(py.get_type::<PyType>().call1(("AxisError", bases, namespace))?.cast_into::<PyType>()?.unbind())
    };
    TYPE.get_or_try_init(py, make).map(|t| t.bind(py))
}

impl From<Error> for PyErr {
    #[cold]
    fn from(e: Error) -> PyErr {
        let message = e.to_string();
        match e {
            Error::Shape { .. } => ShapeError::new_err(message),
            Error::DType { .. } => DTypeError::new_err(message),
            Error::Axis { .. } => Python::attach(|py| match axis_error(py) {
                Ok(class) => PyErr::from_type(class.clone(), message),
                Err(e) => e,
            }),
            Error::Index { .. } => PyIndexError::new_err(message),
            Error::Value { .. } => PyValueError::new_err(message),
            Error::Memory { .. } => PyMemoryError::new_err(message),
            Error::File { system: true, .. } => PyOSError::new_err(message),
            Error::File { .. } => PyValueError::new_err(message),
        }
    }
}

pub fn register(m: &Bound<PyModule>) -> PyResult<()> {
    let py = m.py();
    m.add("ShapeError", py.get_type::<ShapeError>())?;
    m.add("DTypeError", py.get_type::<DTypeError>())?;
    m.add("AxisError", axis_error(py)?)
}
