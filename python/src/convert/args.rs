//! Arguments other than tensors: integers, shapes, axes, the device.

use flex::layout::Shape;
use pyo3::exceptions::{PyMemoryError, PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFrozenSet, PyList, PySet, PyString, PyTuple};
use smallvec::SmallVec;

use super::error::ShapeError;
use super::sequence;

/// Several integers: a shape, axes, repeats. A single integer, or a tuple, list or other sequence
/// of integers (NumPy's too).
#[derive(Clone, Debug, Default)]
pub struct Ints(pub SmallVec<[isize; 6]>);

impl From<isize> for Ints {
    fn from(x: isize) -> Ints {
        Ints(SmallVec::from_slice(&[x]))
    }
}

impl Ints {
    /// A shape, given as the parameter `name` of `op`. Errors if a size is negative.
    pub fn shape(&self, op: &str, name: &str) -> PyResult<Shape> {
        let size = |d: &isize| {
            usize::try_from(*d).map_err(|_| {
                let all = &self.0[..];
                ShapeError::new_err(format!("{op}: {name} is {all:?}, with a negative size"))
            })
        };
        self.0.iter().map(size).collect()
    }
    /// From the arguments of `f(2, 3)` or `f((2, 3))`.
    pub fn from_args(args: &Bound<PyTuple>) -> PyResult<Ints> {
        if args.len() == 1 {
            args.get_item(0)?.extract()
        } else {
            args.extract()
        }
    }
}

impl<'py> FromPyObject<'_, 'py> for Ints {
    stub_type!("_Shape");
    type Error = PyErr;
    fn extract(x: Borrowed<'_, 'py, PyAny>) -> PyResult<Ints> {
        if x.cast::<PyTuple>().is_err() && x.cast::<PyList>().is_err() {
            match integer(&x) {
                Ok(i) => return Ok(Ints::from(i)),
                Err(e) if e.is_instance_of::<PyTypeError>(x.py()) => {}
                Err(e) => return Err(e),
            }
        }
        let mut ints = Ints::default();
        let mut push = |i: &Bound<PyAny>| {
            let i = integer(i)?;
            let no_memory = |_| PyMemoryError::new_err("no memory for so many integers");
            ints.0.try_reserve(1).map_err(no_memory)?;
            ints.0.push(i);
            Ok(())
        };
        // a set and a dict have no order
        let unordered = x.is_instance_of::<PySet>()
            || x.is_instance_of::<PyFrozenSet>()
            || x.is_instance_of::<PyDict>();
        match !unordered && sequence::each(&x, &mut push)? {
            true => Ok(ints),
            false => Err(PyTypeError::new_err(format!(
                "expected an integer or a tuple of integers, got {}",
                kind(&x)
            ))),
        }
    }
}

/// An integer, or anything with `__index__`.
pub fn integer(x: &Bound<PyAny>) -> PyResult<isize> {
    x.extract::<isize>().map_err(|e| {
        if e.is_instance_of::<PyOverflowError>(x.py()) {
            PyOverflowError::new_err(format!("{} is out of range for 64-bit integers", shown(x)))
        } else if x.hasattr("__index__").unwrap_or(false) {
            e
        } else {
            PyTypeError::new_err(format!("expected an integer, got {}", kind(x)))
        }
    })
}

/// An integer for messages. Python writes none of more than 4300 digits.
pub fn shown(x: &Bound<PyAny>) -> String {
    match x.str() {
        Ok(digits) => digits.to_string(),
        Err(_) => "an integer of thousands of digits".into(),
    }
}

/// An argument whose conversion may have failed. Methods of classes are not wrapped by `hints`, so
/// they name their arguments themselves.
pub struct Given<T>(pub PyResult<T>);

impl<'a, 'py, T: FromPyObject<'a, 'py>> FromPyObject<'a, 'py> for Given<T> {
    #[cfg(feature = "stubs")]
    const INPUT_TYPE: pyo3::inspect::PyStaticExpr = T::INPUT_TYPE;
    type Error = PyErr;
    fn extract(x: Borrowed<'a, 'py, PyAny>) -> PyResult<Given<T>> {
        Ok(Given(x.extract().map_err(Into::into)))
    }
}

impl<T> Given<T> {
    /// The argument; a TypeError names the operation and the parameter.
    pub fn of(self, op: &str, name: &str) -> PyResult<T> {
        self.0.map_err(|e| {
            Python::attach(|py| match e.is_instance_of::<PyTypeError>(py) {
                true => PyTypeError::new_err(format!("{op}: {name}: {}", e.value(py))),
                false => e,
            })
        })
    }
}

/// A count. Errors if it is negative.
pub fn count(op: &str, name: &str, x: isize) -> PyResult<usize> {
    usize::try_from(x)
        .map_err(|_| PyValueError::new_err(format!("{op}: {name} is {x}; it must not be negative")))
}

/// The axis of a function of `flex.nn`, given as `axis` or as torch's `dim`. Errors if both are
/// given.
pub fn axis_or_dim(
    op: &str,
    axis: Option<isize>,
    dim: Option<isize>,
    default: isize,
) -> PyResult<isize> {
    match (axis, dim) {
        (Some(axis), Some(dim)) => Err(PyTypeError::new_err(format!(
            "{op}: axis is {axis} and dim, another name of it, is {dim}; pass one of them"
        ))),
        (given, other) => Ok(given.or(other).unwrap_or(default)),
    }
}

/// The number of a diagonal. One of more than 64 bits lies outside every matrix, as the last one of
/// 64 bits does.
#[derive(Clone, Copy)]
pub struct Diagonal(pub i64);

impl<'py> FromPyObject<'_, 'py> for Diagonal {
    stub_type!("SupportsIndex");
    type Error = PyErr;
    fn extract(x: Borrowed<'_, 'py, PyAny>) -> PyResult<Diagonal> {
        match x.extract::<i64>() {
            Ok(k) => Ok(Diagonal(k)),
            Err(e) if e.is_instance_of::<PyOverflowError>(x.py()) => {
                Ok(Diagonal(if x.lt(0)? { i64::MIN } else { i64::MAX }))
            }
            Err(e) => Err(e),
        }
    }
}

/// The `device` argument: `"cpu"` is the only one.
#[derive(Clone, Copy)]
pub struct Device;

/// The name of the only device.
pub const CPU: &str = "cpu";

impl<'py> FromPyObject<'_, 'py> for Device {
    stub_type!("_Device");
    type Error = PyErr;
    fn extract(x: Borrowed<'_, 'py, PyAny>) -> PyResult<Device> {
        if x.cast::<PyString>().is_ok_and(|s| s == CPU) {
            return Ok(Device);
        }
        Err(PyValueError::new_err(format!(
            "device {} does not exist: the only one is \"{CPU}\"",
            x.repr()?
        )))
    }
}

/// The name of an object's type, for messages.
pub fn kind(x: &Bound<PyAny>) -> String {
    x.get_type()
        .fully_qualified_name()
        .map_or_else(|_| "an object".into(), |n| n.to_string())
}
