//! `flex.DType`: one object per row of the dtype table.

use flex::DType;
use flex::dtype::Class;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyComplex, PyFloat, PyInt, PyString, PyType};

/// The type of a tensor's elements. There is one object for each, such as `flex.float32`. Arguments
/// and comparisons with `==` also accept: its name (`"float32"`) and code (`"f4"`), dtypes and
/// scalar types of NumPy, ml_dtypes, JAX and torch, and Python's `bool`, `int` (int64), `float`
/// (float64) and `complex` (complex128).
#[pyclass(frozen, name = "DType", module = "flex")]
pub struct PyDType(DType);

impl PyDType {
    /// The dtype that the object stands for.
    pub fn get(&self) -> DType {
        self.0
    }
}

/// NumPy's letter for the kind of a dtype's values.
fn kind(dtype: DType) -> &'static str {
    match dtype.class() {
        Class::Boolean => "b",
        Class::Signed => "i",
        Class::Unsigned => "u",
        Class::Float8 | Class::Half | Class::Float => "f",
        Class::Complex => "c",
    }
}

/// The objects, in the order of the table.
static OBJECTS: PyOnceLock<Vec<Py<PyDType>>> = PyOnceLock::new();

/// The object of `dtype`.
pub fn object(py: Python<'_>, dtype: DType) -> PyResult<Bound<'_, PyDType>> {
    let make = || {
        DType::ALL
            .into_iter()
            .map(|d| Py::new(py, PyDType(d)))
            .collect::<PyResult<Vec<_>>>()
    };
    Ok(OBJECTS.get_or_try_init(py, make)?[dtype as usize]
        .bind(py)
        .clone())
}

#[pymethods]
impl PyDType {
    /// The object of this name, or for this NumPy dtype or Python type. TypeError if flex has none.
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
    /// The size of an element in bytes.
    #[getter]
    fn itemsize(&self) -> usize {
        self.0.size()
    }
    /// NumPy's letter for the kind: `b` bool, `i` signed, `u` unsigned integers, `f` floats
    /// (bfloat16 and float8 too), `c` complex.
    #[getter]
    fn kind(&self) -> &'static str {
        kind(self.0)
    }
    /// NumPy's scalar type, such as `numpy.float32`; ml_dtypes' for bfloat16 and float8.
    #[getter]
    fn r#type<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.dtype(py)?.getattr("type")
    }
    /// NumPy's one-letter code, such as `f` for float32.
    #[getter]
    fn char<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.dtype(py)?.getattr("char")
    }
    /// NumPy's byte order: `=` this machine's, `|` none, for a single byte.
    #[getter]
    fn byteorder<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.dtype(py)?.getattr("byteorder")
    }
    /// The names of fields, which no dtype of flex has: None.
    #[getter]
    fn names(&self) -> Option<Vec<String>> {
        None
    }
    /// NumPy's dtype for it, which makes `np.zeros(3, dtype=flex.float32)` work: NumPy 2.4 and
    /// newer ask for `__numpy_dtype__`, older ones for `dtype`.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        super::interop::numpy::dtype(py, self.0)
    }
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
        PyString::intern(py, self.0.name()).hash() // equal to the string, hence of equal hash
    }
    fn __eq__(&self, other: &Bound<PyAny>) -> bool {
        lookup(other).is_ok_and(|d| d == Some(self.0))
    }
    /// Pickled by name, so that unpickling gives the same object.
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

/// A dtype argument: anything that [`lookup`] accepts.
#[derive(Clone, Copy)]
pub struct DTypeArg(pub DType);

impl<'py> FromPyObject<'_, 'py> for DTypeArg {
    stub_type!("_DType");
    type Error = PyErr;
    fn extract(x: Borrowed<'_, 'py, PyAny>) -> PyResult<DTypeArg> {
        if let Some(d) = lookup(&x)? {
            return Ok(DTypeArg(d));
        }
        let names = DType::ALL.map(DType::name).join(", ");
        let message = format!(
            "{} is not a dtype of flex; they are {names}. Also accepted: Python's bool, int (int64), float (float64) and complex \
             (complex128), dtypes of NumPy, ml_dtypes, JAX and torch, and codes such as \"f4\"",
            x.repr()?
        );
        Err(PyTypeError::new_err(message))
    }
}

/// The dtype that an object names. Python's own types mean their representation in memory, as in
/// NumPy: `float` is float64, `int` int64, `complex` complex128.
pub fn lookup(x: &Bound<PyAny>) -> PyResult<Option<DType>> {
    if let Ok(d) = x.cast_exact::<PyDType>() {
        return Ok(Some(d.get().0));
    }
    if let Ok(name) = x.cast::<PyString>() {
        let name = name.to_str()?;
        return Ok(DType::from_name(name).or_else(|| {
            from_code(name)
                .filter(|(_, swapped)| !swapped)
                .map(|(d, _)| d)
        }));
    }
    if let Ok(class) = x.cast::<PyType>() {
        return from_class(class);
    }
    // numpy.dtype: anything with a name of the table and the matching size
    let named = |name: &str| -> PyResult<Option<DType>> {
        let size = x.getattr("itemsize").and_then(|n| n.extract::<usize>());
        Ok(size
            .ok()
            .and_then(|size| DType::from_name(name).filter(|d| d.size() == size)))
    };
    match x.getattr("name").and_then(|n| n.extract::<String>()) {
        Ok(name) => named(&name),
        // torch's only name is "torch.float32"
        Err(_) if x.get_type().module().is_ok_and(|m| m == "torch") => {
            named(x.str()?.to_str()?.trim_start_matches("torch."))
        }
        Err(_) => Ok(None),
    }
}

/// The dtype of a class of numbers.
fn from_class(class: &Bound<PyType>) -> PyResult<Option<DType>> {
    let py = class.py();
    let python = [
        (py.get_type::<PyFloat>(), DType::F64),
        (py.get_type::<PyInt>(), DType::I64),
        (py.get_type::<PyBool>(), DType::Bool),
        (py.get_type::<PyComplex>(), DType::Complex128),
    ];
    if let Some((_, d)) = python.iter().find(|(c, _)| class.is(c)) {
        return Ok(Some(*d));
    }
    // numpy.float32, ml_dtypes.bfloat16, jax.numpy.float32
    let known = class
        .module()
        .is_ok_and(|m| ["numpy", "ml_dtypes", "jax.numpy"].iter().any(|k| m == *k));
    let name = class.name()?;
    Ok(match name.to_str()?.trim_end_matches('_') {
        _ if !known => None,
        "longlong" => Some(DType::I64),
        "ulonglong" => Some(DType::U64),
        name => DType::from_name(name),
    })
}

/// Whether NumPy has the dtype natively. The others, which have no format in the buffer protocol
/// either, are in ml_dtypes under the same names.
pub fn is_numpys(dtype: DType) -> bool {
    !dtype.format().is_empty()
}

/// The code of a dtype in NumPy's array interface, such as `"<f4"`; `None` for those that NumPy
/// doesn't have natively.
pub fn code(dtype: DType) -> Option<String> {
    let order = match dtype.size() {
        1 => '|',
        _ if cfg!(target_endian = "little") => '<',
        _ => '>',
    };
    is_numpys(dtype).then(|| format!("{order}{}{}", kind(dtype), dtype.size()))
}

/// The dtype of a code of NumPy's array interface, such as `"<f4"`, and whether its byte order
/// differs from this machine's. Without an order, it is the machine's.
pub fn from_code(code: &str) -> Option<(DType, bool)> {
    let (order, code) = match code.as_bytes() {
        [order @ (b'<' | b'>' | b'=' | b'|'), code @ ..] => (*order, code),
        code => (b'=', code),
    };
    let [letter, size @ ..] = code else {
        return None;
    };
    let size = std::str::from_utf8(size).ok()?;
    // bfloat16 and float8 have the floats' kind, but no code
    let mut coded = DType::ALL.into_iter().filter(|d| is_numpys(*d));
    let dtype = coded.find(|d| kind(*d).as_bytes() == [*letter] && d.size().to_string() == size)?;
    let swapped = order
        == if cfg!(target_endian = "little") {
            b'>'
        } else {
            b'<'
        };
    Some((dtype, swapped && dtype.size() > 1))
}

pub(super) fn register(m: &Bound<PyModule>) -> PyResult<()> {
    m.add_class::<PyDType>()?;
    for d in DType::ALL {
        m.add(d.name(), object(m.py(), d)?)?;
    }
    Ok(())
}
