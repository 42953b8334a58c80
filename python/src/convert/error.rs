//! The crate's errors as Python exceptions.

use flex::Error;
use pyo3::create_exception;
use pyo3::exceptions::{
    PyIndexError, PyMemoryError, PyOSError, PyOverflowError, PyTypeError, PyUserWarning,
    PyValueError, PyZeroDivisionError,
};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple, PyType};
use std::ffi::OsString;

create_exception!(
    flex,
    ShapeError,
    PyValueError,
    "Shapes that are incompatible with each other or with the operation."
);
create_exception!(
    flex,
    ChainedAssignmentWarning,
    PyUserWarning,
    "A write to a temporary, such as `t[0][1] = 5`: tensors are values, so nothing sees it. Write \
        `t[0, 1] = 5`."
);
create_exception!(
    flex,
    DTypeError,
    PyTypeError,
    "A dtype that the operation doesn't support, or two without a common dtype."
);

create_exception!(
    flex.linalg,
    LinAlgError,
    PyValueError,
    "A matrix that is singular or not positive definite, or for which an iteration did not converge."
);

/// An exception class with two bases, as NumPy's `AxisError` is a `ValueError` and an `IndexError`.
struct Both {
    name: &'static str,
    doc: &'static str,
    bases: for<'py> fn(Python<'py>) -> [Bound<'py, PyType>; 2],
    class: PyOnceLock<Py<PyType>>,
}

static AXIS_ERROR: Both = Both::new("AxisError", "An axis out of range or repeated.", indexing);
static SUBSCRIPT_ERROR: Both = Both::new(
    "SubscriptError",
    "A subscript that doesn't fit the shape.",
    indexing,
);
static DIVISION_BY_ZERO_ERROR: Both =
    Both::new("DivisionByZeroError", "An integer divided by zero.", |py| {
        [
            py.get_type::<PyValueError>(),
            py.get_type::<PyZeroDivisionError>(),
        ]
    });

static RANGE_ERROR: Both = Both::new(
    "RangeError",
    "A number that is out of range for the dtype it is converted to.",
    |py| {
        [
            py.get_type::<PyValueError>(),
            py.get_type::<PyOverflowError>(),
        ]
    },
);

fn indexing(py: Python<'_>) -> [Bound<'_, PyType>; 2] {
    [py.get_type::<ShapeError>(), py.get_type::<PyIndexError>()]
}

impl Both {
    const fn new(
        name: &'static str,
        doc: &'static str,
        bases: for<'py> fn(Python<'py>) -> [Bound<'py, PyType>; 2],
    ) -> Both {
        Both {
            name,
            doc,
            bases,
            class: PyOnceLock::new(),
        }
    }
    fn class<'py>(&self, py: Python<'py>) -> PyResult<&Bound<'py, PyType>> {
        let make = || {
            let namespace = PyDict::new(py);
            namespace.set_item("__module__", "flex")?;
            namespace.set_item("__doc__", self.doc)?;
            let bases = PyTuple::new(py, (self.bases)(py))?;
            Ok(py
                .get_type::<PyType>()
                .call1((self.name, bases, namespace))?
                .cast_into::<PyType>()?
                .unbind())
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

/// The class of errors of matrices, for `flex.linalg`.
pub fn linalg_error(py: Python<'_>) -> Bound<'_, PyType> {
    py.get_type::<LinAlgError>()
}

/// An error of the core as the Python exception, and a result with it.
pub trait Raise {
    type Raised;
    fn raise(self) -> Self::Raised;
}
impl<T> Raise for flex::Result<T> {
    type Raised = PyResult<T>;
    #[inline]
    fn raise(self) -> PyResult<T> {
        self.map_err(Error::raise)
    }
}
impl Raise for Error {
    type Raised = PyErr;
    #[cold]
    fn raise(self) -> PyErr {
        let message = self.to_string();
        let kind = match self {
            Error::Node { error, .. } => *error,
            e => e,
        };
        match kind {
            Error::Shape { .. } => ShapeError::new_err(message),
            Error::DType { .. } => DTypeError::new_err(message),
            Error::Axis { .. } => AXIS_ERROR.new_err(message),
            Error::Subscript { .. } => SUBSCRIPT_ERROR.new_err(message),
            Error::Index { .. } => PyIndexError::new_err(message),
            Error::Range { .. } => RANGE_ERROR.new_err(message),
            Error::DivisionByZero { .. } => DIVISION_BY_ZERO_ERROR.new_err(message),
            Error::Singular { .. }
            | Error::NotPositiveDefinite { .. }
            | Error::NoConvergence { .. } => LinAlgError::new_err(message),
            Error::Memory { .. } => PyMemoryError::new_err(message),
            Error::Io {
                path,
                code,
                message,
                ..
            } => os_error(path.as_os_str().into(), code, message.into()),
            _ => PyValueError::new_err(message), // `Value`, `File`, and kinds that have no class yet
        }
    }
}

/// The exception that `open` would raise: errno decides its class, and `filename` is as the user
/// gave it.
fn os_error(name: OsString, code: Option<i32>, message: String) -> PyErr {
    let Some(code) = code else {
        return PyOSError::new_err((libc::EIO, message, name));
    };
    if cfg!(windows) {
        return PyOSError::new_err((0, message, name, code)); // Python translates the Windows error code
    }
    let text = |py: Python<'_>| {
        py.import("os")?
            .call_method1("strerror", (code,))?
            .extract()
    };
    PyOSError::new_err((code, Python::attach(text).unwrap_or(message), name))
}

pub fn register(m: &Bound<PyModule>) -> PyResult<()> {
    let py = m.py();
    m.add("ShapeError", py.get_type::<ShapeError>())?;
    m.add(
        "ChainedAssignmentWarning",
        py.get_type::<ChainedAssignmentWarning>(),
    )?;
    m.add("DTypeError", py.get_type::<DTypeError>())?;
    AXIS_ERROR.register(m)?;
    SUBSCRIPT_ERROR.register(m)?;
    RANGE_ERROR.register(m)?;
    DIVISION_BY_ZERO_ERROR.register(m)
}
