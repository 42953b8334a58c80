//! `flex.DType`: one object for each row of the dtype table.

use crate::DType;
use crate::dtype::Class;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyComplex, PyFloat, PyInt, PyString, PyType};

/// The type of a tensor's elements. There is one object for each, such as `flex.float32`; names (`"float32"`), NumPy's dtypes
/// and Python's `bool`, `int`, `float` and `complex` are accepted wherever one is.
#[pyclass(frozen, name = "DType", module = "flex")]
pub struct PyDType(DType);

impl PyDType {
    /// The dtype that the object stands for.
    pub fn get(&self) -> DType {
        self.0
    }
}

/// The objects, in the order of the table.
static OBJECTS: PyOnceLock<Vec<Py<PyDType>>> = PyOnceLock::new();

/// The object that stands for `dtype`.
pub fn object(py: Python<'_>, dtype: DType) -> PyResult<Bound<'_, PyDType>> {
    let make = || DType::ALL.into_iter().map(|d| Py::new(py, PyDType(d))).collect::<PyResult<Vec<_>>>();
    Ok(OBJECTS.get_or_try_init(py, make)?[dtype as usize].bind(py).clone())
}

#[pymethods]
impl PyDType {
    /// The object of this name, or for this NumPy dtype or Python type.
    #[new]
    #[pyo3(signature = (dtype, /))]
    fn new(py: Python<'_>, dtype: DTypeArg) -> PyResult<Py<PyDType>> {
        object(py, dtype.0).map(Bound::unbind)
    }
    /// The array API standard's name, such as `"float32"`.
    #[getter]
    fn name(&self) -> &'static str {
        self.0.name()
    }
    /// Bytes of one element.
    #[getter]
    fn itemsize(&self) -> usize {
        self.0.size()
    }
    /// NumPy's letter for the kind: `b` bool, `i` signed, `u` unsigned integers, `f` floats (bfloat16 too), `c` complex.
    #[getter]
    fn kind(&self) -> &'static str {
        match self.0.class() {
            Class::Boolean => "b",
            Class::Sint => "i",
            Class::Uint => "u",
            Class::Half | Class::Float => "f",
            Class::Complex => "c",
        }
    }
    /// NumPy's dtype for it, which makes `np.zeros(3, dtype=flex.float32)` work (NumPy 2.4 and newer ask for it).
    #[getter]
    fn __numpy_dtype__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        super::interop::numpy::dtype(py, self.0)
    }
    fn __repr__(&self) -> String {
        format!("flex.{}", self.0)
    }
    fn __str__(&self) -> &'static str {
        self.0.name()
    }
    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        PyString::intern(py, self.0.name()).hash() // equal to the string, so of its hash
    }
    fn __eq__(&self, other: &Bound<PyAny>) -> bool {
        !other.is_instance_of::<PyType>() && lookup(other).is_ok_and(|d| d == Some(self.0))
    }
    /// Pickled by name, so that what is loaded is the one object again.
    fn __reduce__(&self) -> &'static str {
        self.0.name()
    }
    fn __copy__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }
    fn __deepcopy__<'py>(slf: Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> Bound<'py, Self> {
        slf
    }
}

/// A dtype argument: a `DType`, a name, a NumPy dtype or scalar type, or Python's `bool`, `int`, `float`, `complex`.
#[derive(Clone, Copy)]
pub struct DTypeArg(pub DType);

impl<'py> FromPyObject<'_, 'py> for DTypeArg {
    type Error = PyErr;
    fn extract(x: Borrowed<'_, 'py, PyAny>) -> PyResult<DTypeArg> {
        if let Some(d) = lookup(&x)? {
            return Ok(DTypeArg(d));
        }
        let names = DType::ALL.map(DType::name).join(", ");
        let message = format!("{} is no dtype of flex; they are {names}", x.repr()?);
        Err(if x.is_instance_of::<PyString>() { PyValueError::new_err(message) } else { PyTypeError::new_err(message) })
    }
}

/// The dtype that an object stands for.
pub fn lookup(x: &Bound<PyAny>) -> PyResult<Option<DType>> {
    let py = x.py();
    if let Ok(d) = x.cast_exact::<PyDType>() {
        return Ok(Some(d.get().0));
    }
    if let Ok(name) = x.cast::<PyString>() {
        return Ok(DType::from_name(name.to_str()?));
    }
    if let Ok(class) = x.cast::<PyType>() {
        return Ok(if class.is(py.get_type::<PyFloat>()) {
            Some(DType::DEFAULT_FLOAT)
        } else if class.is(py.get_type::<PyInt>()) {
            Some(DType::DEFAULT_INT)
        } else if class.is(py.get_type::<PyBool>()) {
            Some(DType::Bool)
        } else if class.is(py.get_type::<PyComplex>()) {
            Some(DType::DEFAULT_COMPLEX)
        } else {
            // numpy.float32, ml_dtypes.bfloat16
            let known = class.module().is_ok_and(|m| m == "numpy" || m == "ml_dtypes");
            if known { DType::from_name(class.name()?.to_str()?.trim_end_matches('_')) } else { None }
        });
    }
    // numpy.dtype: anything with a name of the table and the size that goes with it
    let (Ok(name), Ok(size)) = (x.getattr("name"), x.getattr("itemsize")) else { return Ok(None) };
    let (Ok(name), Ok(size)) = (name.extract::<String>(), size.extract::<usize>()) else { return Ok(None) };
    Ok(DType::from_name(&name).filter(|d| d.size() == size))
}

pub(super) fn register(m: &Bound<PyModule>) -> PyResult<()> {
    m.add_class::<PyDType>()?;
    for d in DType::ALL {
        m.add(d.name(), object(m.py(), d)?)?;
    }
    Ok(())
}
