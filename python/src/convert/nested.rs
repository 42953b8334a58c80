//! Tensors from nested lists and tuples, and `asarray`.

use super::args::kind;
use super::operand::{Operand, scalar};
use super::{PyTensor, detached};
use crate::convert::error::Raise;
use crate::default;
use crate::interop;
use flex::bindings::{collect, push};
use flex::{DType, Error, Scalar, Tensor};
use flex::{dispatch, dispatch_class};
use pyo3::exceptions::{PyBufferError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{
    PyByteArray, PyBytes, PyDict, PyFloat, PyInt, PyList, PySequence, PyString, PyTuple,
};

/// Deeper nesting is refused: a list may contain itself.
const DEEPEST: usize = 64;

/// A tensor from anything that holds numbers: the same object if it is already a Tensor of that
/// dtype and `copy` is not true. Foreign arrays are borrowed if their memory can be read as it is.
/// With `copy=False`, an error if a copy is needed.
pub fn asarray<'py>(
    x: &Bound<'py, PyAny>,
    dtype: Option<DType>,
    copy: Option<bool>,
) -> PyResult<Bound<'py, PyTensor>> {
    let py = x.py();
    let refused = |why: &str| {
        PyValueError::new_err(format!("asarray: {why} needs a copy, and copy is False"))
    };
    if let Ok(object) = x.cast_exact::<PyTensor>() {
        let own = object.get().dtype_of();
        let change = dtype.filter(|d| *d != own);
        if change.is_none() && copy != Some(true) {
            return Ok(object.clone());
        }
        if let (Some(d), Some(false)) = (change, copy) {
            return Err(refused(&format!("{own} to {d}")));
        }
        let t = object.get().tensor(py)?;
        let copied = detached(py, t.len(), || match change {
            Some(d) => t.astype(d),
            None => t.copy(),
        });
        return Bound::new(py, PyTensor::new(copied?));
    }
    let t = if let Some(s) = scalar(x)? {
        if copy == Some(false) {
            return Err(refused("a number"));
        }
        // a number takes the default dtype of its kind, a NumPy scalar its own dtype
        from_scalar(
            s,
            dtype.map_or_else(|| interop::numpy::scalar_dtype(x), |d| Ok(Some(d)))?,
        )?
    } else if is_nested(x) {
        if copy == Some(false) {
            return Err(refused("a list"));
        }
        from_nested(x, dtype)?
    } else {
        let imported = interop::import(x, copy);
        let Some(t) = imported.map_err(|e| copy_needed(py, e, copy))? else {
            if !is_list(x) {
                return Err(no_numbers(x));
            }
            if copy == Some(false) {
                return Err(refused("a sequence"));
            }
            return Bound::new(py, PyTensor::new(from_nested(x, dtype)?));
        };
        match dtype.filter(|d| *d != t.dtype()) {
            Some(d) if copy == Some(false) => {
                return Err(refused(&format!("{} to {d}", t.dtype())));
            }
            Some(d) => detached(py, t.len(), || t.astype(d))?,
            None => t,
        }
    };
    Bound::new(py, PyTensor::new(t))
}

/// The error of `asarray` for foreign memory that needs a copy: a ValueError, as the standard
/// requires.
#[cold]
fn copy_needed(py: Python<'_>, e: PyErr, copy: Option<bool>) -> PyErr {
    if copy == Some(false) && e.is_instance_of::<PyBufferError>(py) {
        return PyValueError::new_err(format!("asarray: {}", e.value(py)));
    }
    e
}

#[cold]
fn no_numbers(x: &Bound<PyAny>) -> PyErr {
    if x.hasattr("__iter__").unwrap_or(false) && !x.is_instance_of::<PyString>() {
        let made = if x.is_instance_of::<PyDict>() {
            "list(x.values())"
        } else {
            "list(x)"
        };
        return PyTypeError::new_err(format!(
            "asarray: {} is not a sequence: convert it to a list, as in flex.asarray({made})",
            kind(x)
        ));
    }
    PyTypeError::new_err(format!(
        "asarray: expected numbers, nested lists of numbers, or an object with a buffer, \
            __dlpack__ or __array__, got {}",
        kind(x)
    ))
}

fn is_nested(x: &Bound<PyAny>) -> bool {
    x.is_instance_of::<PyList>() || x.is_instance_of::<PyTuple>()
}

/// Whether `x` is a list, or another sequence that is read as one: a tuple, a `range`, a `deque`,
/// but not a string or bytes.
pub fn is_list(x: &Bound<PyAny>) -> bool {
    is_nested(x)
        || !x.is_instance_of::<PyString>()
            && !x.is_instance_of::<PyBytes>()
            && !x.is_instance_of::<PyByteArray>()
            && x.cast::<PySequence>().is_ok()
}

/// Errors if the machine can't hold `n` numbers and a tensor of them: a sequence may compute its
/// items, or say that it has any number of them.
fn room(n: usize) -> flex::Result<()> {
    let each = size_of::<i128>() + size_of::<i64>();
    let (bytes, limit) = (n as u128 * each as u128, flex::storage::limit::limit());
    match bytes <= u128::from(limit) {
        true => Ok(()),
        false => Err(Error::Memory { bytes, limit }),
    }
}

fn from_scalar(s: Scalar, dtype: Option<DType>) -> PyResult<Tensor> {
    let mut values = NestedValues::default();
    values.push(s).raise()?;
    values.tensor(&[], dtype)
}

fn from_nested(x: &Bound<PyAny>, dtype: Option<DType>) -> PyResult<Tensor> {
    let (values, shape) = NestedValues::read(x)?;
    values.tensor(&shape, dtype)
}

/// Nested lists as values to write to elements of `dtype`: converted to it if their kind is not
/// higher. `None` if `x` is not a list.
pub fn values_for(x: &Bound<PyAny>, dtype: DType) -> PyResult<Option<Tensor>> {
    let Some((values, shape)) = NestedValues::of(x)? else {
        return Ok(None);
    };
    match values.strong {
        // tensors among the numbers keep their dtype, which the write checks
        Some(_) => values.tensor(&shape, None),
        None => {
            values.kind().value(dtype, "set").raise()?;
            values.tensor(&shape, Some(dtype))
        }
    }
    .map(Some)
}

/// Nested lists as an operand beside elements of `dtype`: their numbers take the dtype that a
/// number of their kind takes there; in a comparison, integers may be beside numbers that they
/// can't be. `None` if `x` is not a list.
pub fn operand_beside(
    x: &Bound<PyAny>,
    dtype: DType,
    comparison: bool,
) -> PyResult<Option<Tensor>> {
    let Some((values, shape)) = NestedValues::of(x)? else {
        return Ok(None);
    };
    let [lowest, highest] = dtype.integers();
    let among_integers = comparison && dtype.is_integer();
    let dtype = match &values.numbers {
        _ if values.strong.is_some() => values.natural(),
        Numbers::Floats(_) if among_integers => DType::F64,
        Numbers::Ints(v) if among_integers && v.iter().any(|x| *x < lowest || *x > highest) => {
            values.natural()
        }
        _ => values.kind().promote(dtype),
    };
    values.tensor(&shape, Some(dtype)).map(Some)
}

/// Nested lists as a tensor, of float64 for floats, which keeps their digits. `None` if `x` is not a
/// list.
pub fn exact_list(x: &Bound<PyAny>) -> PyResult<Option<Tensor>> {
    let Some((values, shape)) = NestedValues::of(x)? else {
        return Ok(None);
    };
    let floats = values.strong.is_none() && matches!(values.numbers, Numbers::Floats(_));
    values
        .tensor(&shape, floats.then_some(DType::F64))
        .map(Some)
}

/// An operand, or nested lists as [`asarray`] reads them, of which a function takes parts.
pub struct Population(pub Operand);

impl<'py> FromPyObject<'_, 'py> for Population {
    stub_type!("_Nested");
    type Error = PyErr;
    fn extract(x: Borrowed<'_, 'py, PyAny>) -> PyResult<Population> {
        let operand = match is_list(&x) {
            true => Operand::Tensor(from_nested(&x, None)?),
            false => x.extract()?,
        };
        Ok(Population(operand))
    }
}

/// A tensor argument that is read by its values, whatever its dtype, such as positions or the
/// coefficients of a filter: an operand, or nested lists. Floats of Python's are float64, which keeps
/// their digits.
pub struct ValuesArg(pub Tensor);

impl<'py> FromPyObject<'_, 'py> for ValuesArg {
    stub_type!("_Nested");
    type Error = PyErr;
    fn extract(x: Borrowed<'_, 'py, PyAny>) -> PyResult<ValuesArg> {
        if let Some(list) = exact_list(&x)? {
            return Ok(ValuesArg(list));
        }
        match x.extract::<Operand>()? {
            Operand::Scalar(s @ Scalar::Float(_)) => Tensor::scalar(s, DType::F64),
            operand => operand.tensor(),
        }
        .map(ValuesArg)
        .raise()
    }
}

/// Reads `x`, nested in `depth` lists. `open` until the first number: until then, lists add
/// dimensions to the shape; afterwards they must match it.
fn walk(
    x: &Bound<PyAny>,
    depth: usize,
    shape: &mut Vec<usize>,
    open: &mut bool,
    values: &mut NestedValues,
) -> PyResult<()> {
    let ragged = |what: String| {
        PyValueError::new_err(format!("asarray: ragged list: {what} at depth {depth}"))
    };
    if let Some(s) = scalar(x)? {
        if depth != shape.len() {
            return Err(ragged(format!(
                "a number where others have a list of {}",
                shape.get(depth).copied().unwrap_or_default()
            )));
        }
        *open = false;
        let own = x.is_exact_instance_of::<PyFloat>() || x.is_exact_instance_of::<PyInt>();
        if let Some(d) = if own {
            None
        } else {
            interop::numpy::scalar_dtype(x)?
        } {
            values.met(d)?;
        }
        values.push(s).raise()?;
        return Ok(());
    }
    if !is_nested(x) {
        // a tensor or an array among the lists: its dtype is kept, and its values are read as lists
        if let Some(t) = Operand::of(x)? {
            let t = t.tensor().raise()?;
            values.met(t.dtype())?;
            let list = crate::values::tolist(x.py(), &t)?;
            return walk(&list, depth, shape, open, values);
        }
        if !is_list(x) {
            return Err(no_numbers(x));
        }
    }
    if depth == DEEPEST {
        return Err(PyValueError::new_err(format!(
            "asarray: lists nested deeper than {DEEPEST}"
        )));
    }
    let n = x.len()?;
    room(values.len().saturating_add(n)).raise()?;
    if *open && depth == shape.len() {
        shape.push(n);
    } else if depth >= shape.len() {
        return Err(ragged("a list where others have a number".into()));
    }
    if shape[depth] != n {
        return Err(ragged(format!(
            "a list of {n} where others have {}",
            shape[depth]
        )));
    }
    let changed = || {
        PyRuntimeError::new_err(
            "asarray: a list changed its length while it was read, or has another",
        )
    };
    let mut read = 0;
    let mut item = |i: Bound<PyAny>| {
        if read == n {
            return Err(changed());
        }
        read += 1;
        walk(&i, depth + 1, shape, open, values)
    };
    if let Ok(list) = x.cast::<PyList>() {
        list.iter().try_for_each(&mut item)?
    } else if let Ok(tuple) = x.cast::<PyTuple>() {
        tuple.iter().try_for_each(&mut item)?
    } else {
        x.try_iter()?.try_for_each(|i| item(i?))?
    }
    // an empty list closes the shape too: nothing can be deeper
    *open &= n > 0;
    match read == n {
        true => Ok(()),
        false => Err(changed()),
    }
}

/// The numbers read so far, in the narrowest kind that holds them all.
enum Numbers {
    Bools(Vec<bool>),
    Ints(Vec<i128>),
    Floats(Vec<f64>),
    Complex(Vec<(f64, f64)>),
}

impl Default for Numbers {
    fn default() -> Numbers {
        Numbers::Bools(Vec::new())
    }
}

/// The numbers of nested lists in row-major order, and the dtype of the tensors among them.
#[derive(Default)]
struct NestedValues {
    numbers: Numbers,
    strong: Option<DType>,
}

impl NestedValues {
    /// Reads nested lists: the numbers, and the shape of the lists.
    fn read(x: &Bound<PyAny>) -> PyResult<(NestedValues, Vec<usize>)> {
        let (mut values, mut shape) = (NestedValues::default(), Vec::new());
        walk(x, 0, &mut shape, &mut true, &mut values)?;
        Ok((values, shape))
    }
    /// [`read`](NestedValues::read); `None` if `x` is neither a list nor another sequence.
    fn of(x: &Bound<PyAny>) -> PyResult<Option<(NestedValues, Vec<usize>)>> {
        is_list(x).then(|| NestedValues::read(x)).transpose()
    }
    /// The number of numbers.
    fn len(&self) -> usize {
        match &self.numbers {
            Numbers::Bools(v) => v.len(),
            Numbers::Ints(v) => v.len(),
            Numbers::Floats(v) => v.len(),
            Numbers::Complex(v) => v.len(),
        }
    }
    /// Notes a tensor of `dtype` among the numbers.
    fn met(&mut self, dtype: DType) -> PyResult<()> {
        self.strong = Some(
            self.strong
                .map_or(Ok(dtype), |s| s.promote(dtype, "asarray"))
                .raise()?,
        );
        Ok(())
    }
    fn push(&mut self, s: Scalar) -> flex::Result<()> {
        use Numbers::*;
        // the numbers so far are converted to the new number's kind first
        let held = std::mem::take(&mut self.numbers);
        self.numbers = match (held, s) {
            (Bools(v), Scalar::Int(_)) => Ints(each(&v, i128::from)?),
            (Bools(v), Scalar::Float(_)) => Floats(each(&v, f64::from)?),
            (Ints(v), Scalar::Float(_)) => Floats(each(&v, |x| x as f64)?),
            (Bools(v), Scalar::Complex(..)) => Complex(each(&v, |x| (f64::from(x), 0.0))?),
            (Ints(v), Scalar::Complex(..)) => Complex(each(&v, |x| (x as f64, 0.0))?),
            (Floats(v), Scalar::Complex(..)) => Complex(each(&v, |x| (x, 0.0))?),
            (held, _) => held,
        };
        match (&mut self.numbers, s) {
            (Bools(v), s) => push(v, s.to_bool()),
            (Ints(v), Scalar::Int(x)) => push(v, x),
            (Ints(v), s) => push(v, s.to_bool() as i128),
            (Floats(v), s) => push(v, s.to_f64()),
            (Complex(v), s) => push(v, (s.to_f64(), s.imag())),
        }
    }
    /// A number of their kind: for integers one that fits every dtype, for other kinds the first,
    /// for messages.
    fn kind(&self) -> Scalar {
        match &self.numbers {
            Numbers::Bools(_) => Scalar::Bool(false),
            Numbers::Ints(_) => Scalar::Int(0),
            Numbers::Floats(v) => Scalar::Float(v[0]),
            Numbers::Complex(v) => Scalar::Complex(v[0].0, v[0].1),
        }
    }
    /// The default dtype of the numbers.
    fn natural(&self) -> DType {
        let kind = match &self.numbers {
            // as in NumPy, an empty list holds floats
            Numbers::Bools(v) if v.is_empty() && self.strong.is_none() => Scalar::Float(0.0),
            Numbers::Ints(v) => Scalar::Int(v.iter().copied().max().unwrap_or(0)),
            _ => self.kind(),
        };
        match self.strong {
            // numbers of a higher kind than the tensors among them promote their dtype
            Some(d) => kind.promote(d),
            None => default::of(kind),
        }
    }
    fn tensor(self, shape: &[usize], dtype: Option<DType>) -> PyResult<Tensor> {
        let dtype = dtype.unwrap_or_else(|| self.natural());
        let t = match self.numbers {
            Numbers::Bools(v) => Tensor::from_slice(&v, shape),
            Numbers::Ints(v) if dtype.is_integer() => return integers(&v, shape, dtype),
            Numbers::Ints(v) if v.iter().all(|x| i64::try_from(*x).is_ok()) => {
                Tensor::from_slice(&each(&v, |x| x as i64).raise()?, shape)
            }
            Numbers::Ints(v) => Tensor::from_slice(&each(&v, |x| x as f64).raise()?, shape),
            // an i128 holds the values of every integer dtype; beyond them the cast saturates
            Numbers::Floats(v) if dtype.is_integer() => match v.iter().find(|x| !x.is_finite()) {
                Some(x) => return Err(outside(x, dtype).raise()),
                None => return integers(&each(&v, |x| x as i128).raise()?, shape, dtype),
            },
            Numbers::Floats(v) => Tensor::from_slice(&v, shape),
            Numbers::Complex(v) => Tensor::from_slice(
                &each(&v, |(re, im)| flex::dtype::Complex128::new(re, im)).raise()?,
                shape,
            ),
        }
        .raise()?;
        t.astype(dtype).raise()
    }
}

fn integers(v: &[i128], shape: &[usize], dtype: DType) -> PyResult<Tensor> {
    dispatch!(integer dtype, |T| {
        let fit = collect(v.iter().map(|x| T::try_from(*x).map_err(|_| outside(x, dtype))));
        fit.and_then(|fit| Tensor::from_slice(&fit, shape)).raise()
    }, else Err(Error::unsupported("asarray", dtype).raise()))
}

/// All numbers, converted.
fn each<A: Copy, B>(v: &[A], f: impl Fn(A) -> B) -> flex::Result<Vec<B>> {
    collect(v.iter().map(|x| Ok(f(*x))))
}

#[cold]
fn outside(x: impl std::fmt::Display, dtype: DType) -> Error {
    Error::Range {
        op: "asarray",
        message: format!("{x} is out of range for {dtype}").into(),
    }
}
