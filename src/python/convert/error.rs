//! The crate's errors as Python exceptions.

use crate::Error;
use pyo3::create_exception;
use pyo3::exceptions::{PyIndexError, PyMemoryError, PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};

create_exception!(flex, ShapeError, PyValueError, "Shapes that don't fit each other or the operation.");
create_exception!(flex, DTypeError, PyTypeError, "A dtype without a meaning for the operation, or two without a common one.");

/// A class of exceptions that are a `ShapeError` and an `IndexError`, as NumPy's `AxisError` is a `ValueError` and an `IndexError`.
struct IndexingError {
    name: &'static str,
    doc: &'static str,
    class: PyOnceLock<Py<PyType>>,
}

static AXIS_ERROR: IndexingError = IndexingError::new("AxisError", "An axis out of range, or given twice.");
static SUBSCRIPT_ERROR: IndexingError = IndexingError::new("SubscriptError", "What stands between the brackets doesn't fit the shape.");

impl IndexingError {
    const fn new(name: &'static str, doc: &'static str) -> IndexingError {
        IndexingError { name, doc, class: PyOnceLock::new() }
    }
    fn class<'py>(&self, py: Python<'py>) -> PyResult<&Bound<'py, PyType>> {
        let make = || {
            let namespace = PyDict::new(py);
            namespace.set_item("__module__", "flex")?;
            namespace.set_item("__doc__", self.doc)?;
            let bases = (py.get_type::<ShapeError>(), py.get_type::<PyIndexError>());
            Ok(py.get_type::<PyType>().call1((self.name, bases, namespace))?.cast_into::<PyType>()?.unbind())
        };
        self.class.get_or_try_init(py, make).map(|t| t.bind(py))
    }
    fn new_err(&self, message: String) -> PyErr {
        Python::attach(|py| match self.class(py) {
            Ok(class) => PyErr::from_type(class.clone(), message),
            Err(e) => e,
        })
    }
    fn register(&self, m: &Bound<PyModule>) -> PyResult<()> {
        m.add(self.name, self.class(m.py())?)
    }
}

impl From<Error> for PyErr {
    #[cold]
    fn from(e: Error) -> PyErr {
        let message = e.to_string();
        match e {
            Error::Shape { .. } => ShapeError::new_err(message),
            Error::DType { .. } => DTypeError::new_err(message),
            Error::Axis { .. } => AXIS_ERROR.new_err(message),
            Error::Subscript { .. } => SUBSCRIPT_ERROR.new_err(message),
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
    AXIS_ERROR.register(m)?;
    SUBSCRIPT_ERROR.register(m)
}
