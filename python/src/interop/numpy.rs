//! NumPy, if installed: flex doesn't need it, and imports it only to make one of its arrays.

use super::buffer::MAX_RANK;
use crate::cell::PyTensor;
use crate::convert::error::Raise;
use crate::dtype::{is_numpys, lookup};
use flex::{DType, Error, Scalar, Tensor};
use pyo3::exceptions::{PyImportError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyComplex, PyDict, PyMemoryView};

/// `numpy.<name>`, if NumPy has been imported; before that, no objects of its types exist.
fn loaded<'py>(
    py: Python<'py>,
    cell: &'static PyOnceLock<Py<PyAny>>,
    name: &str,
) -> Option<&'py Bound<'py, PyAny>> {
    if let Some(x) = cell.get(py) {
        return Some(x.bind(py));
    }
    let modules = py
        .import("sys")
        .and_then(|sys| sys.getattr("modules"))
        .ok()?;
    let numpy = modules
        .cast::<PyDict>()
        .ok()?
        .get_item("numpy")
        .ok()
        .flatten()?;
    let found = numpy.getattr(name).ok()?.unbind(); // missing while NumPy is being imported
    Some(cell.get_or_init(py, || found).bind(py))
}

/// Whether `x` is a NumPy scalar.
pub fn is_scalar(x: &Bound<PyAny>) -> PyResult<bool> {
    static GENERIC: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    loaded(x.py(), &GENERIC, "generic").map_or(Ok(false), |generic| x.is_instance(generic))
}

/// Whether `x` is a NumPy array, and not of a derived class.
pub fn is_plain_array(x: &Bound<PyAny>) -> PyResult<bool> {
    static ARRAY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    Ok(loaded(x.py(), &ARRAY, "ndarray").is_some_and(|array| x.get_type().is(array)))
}

/// The dtype of a NumPy scalar; `None` for anything else.
pub fn scalar_dtype(x: &Bound<PyAny>) -> PyResult<Option<DType>> {
    if is_scalar(x)? {
        lookup(&x.getattr("dtype")?)
    } else {
        Ok(None)
    }
}

/// The value of a NumPy scalar; `None` for anything else.
pub fn scalar(x: &Bound<PyAny>) -> PyResult<Option<Scalar>> {
    if !is_scalar(x)? {
        return Ok(None);
    }
    let dtype = x.getattr("dtype")?;
    let kind: char = dtype.getattr("kind")?.extract()?;
    Ok(match kind {
        'b' => Some(Scalar::Bool(x.is_truthy()?)),
        'i' | 'u' => Some(Scalar::Int(x.extract::<i128>()?)),
        'c' => x
            .call_method0("__complex__")?
            .cast::<PyComplex>()
            .ok()
            .map(|c| Scalar::Complex(c.real(), c.imag())),
        'f' => Some(Scalar::Float(x.extract::<f64>()?)),
        _ if lookup(&dtype)?.is_some() => Some(Scalar::Float(x.extract::<f64>()?)), // ml_dtypes
        _ => {
            return Err(
                Error::dtype("asarray", format!("flex has no dtype for NumPy's {dtype}")).raise(),
            );
        }
    })
}

/// The unsigned integers of a dtype's width, which NumPy has natively.
fn bits_of(dtype: DType) -> DType {
    if dtype.size() == 1 {
        DType::U8
    } else {
        DType::U16
    }
}

/// An array of an ml_dtypes dtype reinterpreted as integers, which have a buffer, and that dtype;
/// `None` for anything else.
pub fn bits<'py>(x: &Bound<'py, PyAny>) -> PyResult<Option<(Bound<'py, PyAny>, DType)>> {
    let Ok(dtype) = x.getattr("dtype") else {
        return Ok(None);
    };
    match lookup(&dtype)? {
        Some(d) if !is_numpys(d) => Ok(Some((x.call_method1("view", (bits_of(d).name(),))?, d))),
        _ => Ok(None),
    }
}

fn import<'py>(
    py: Python<'py>,
    module: &'static str,
    what: &str,
) -> PyResult<Bound<'py, PyModule>> {
    py.import(module).map_err(|cause| {
        let error = PyImportError::new_err(format!("{what} needs {module}: pip install {module}"));
        error.set_cause(py, Some(cause));
        error
    })
}

/// NumPy's dtype for a dtype of flex.
pub fn dtype<'py>(py: Python<'py>, dtype: DType) -> PyResult<Bound<'py, PyAny>> {
    let make = import(py, "numpy", "NumPy's dtype")?.getattr("dtype")?;
    if !is_numpys(dtype) {
        let what = format!("{dtype} in NumPy");
        return make.call1((import(py, "ml_dtypes", &what)?.getattr(dtype.name())?,));
    }
    make.call1((dtype.name(),))
}

/// A read-only array of the tensor's memory.
pub fn array<'py>(py: Python<'py>, t: Tensor) -> PyResult<Bound<'py, PyAny>> {
    static ASARRAY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let asarray = ASARRAY.get_or_try_init(py, || {
        import(py, "numpy", "numpy()")?
            .getattr("asarray")
            .map(Bound::unbind)
    })?;
    let (dt, rank) = (t.dtype(), t.rank());
    let lent = if is_numpys(dt) {
        t
    } else {
        t.bitcast(bits_of(dt)).raise()?
    };
    let lent = Bound::new(py, PyTensor::new(lent))?.into_any();
    // NumPy would ask an object without a buffer for its array
    let lent = if rank <= MAX_RANK {
        lent
    } else {
        PyMemoryView::from(&lent)?.into_any()
    };
    let array = asarray.bind(py).call1((lent,))?;
    if is_numpys(dt) {
        Ok(array)
    } else {
        array.call_method1("view", (dtype(py, dt)?,))
    }
}

#[pymethods]
impl PyTensor {
    /// The elements as a NumPy array, which shares the tensor's memory and is read-only;
    /// `numpy.array(t)` is a writable copy.
    fn numpy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        array(py, self.tensor(py)?)
    }
    /// Above NumPy's arrays, whose functions take both, and below those of arrays of chunks.
    #[classattr]
    fn __array_priority__() -> f64 {
        1.0
    }
    /// NumPy's dtype of the elements, which NumPy 2.4 and newer ask for in `numpy.result_type(t)`.
    #[getter]
    fn __numpy_dtype__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        dtype(py, self.dtype_of())
    }
    #[pyo3(signature = (dtype = None, copy = None))]
    fn __array__<'py>(
        &self,
        py: Python<'py>,
        dtype: Option<Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let array = array(py, self.tensor(py)?)?;
        let dtype = match dtype {
            Some(d) if !array.getattr("dtype")?.eq(&d)? => d,
            _ if copy == Some(true) => return array.call_method0("copy"),
            _ => return Ok(array),
        };
        if copy == Some(false) {
            return Err(PyValueError::new_err(format!(
                "{dtype} needs a copy, and copy is False"
            )));
        }
        array.call_method1("astype", (dtype,))
    }
}
