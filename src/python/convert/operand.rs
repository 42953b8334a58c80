//! Tensors and numbers as arguments.

use super::args::kind;
use super::{compute, is_short};
use crate::python::cell::PyTensor;
use crate::python::interop;
use crate::{DType, Scalar, Tensor};
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyComplex, PyFloat, PyInt, PyList, PyTuple};

/// An operand of an operation of several: a tensor, or a number that takes the others' dtype.
#[derive(Clone)]
pub enum Operand {
    /// A tensor, or an array of somebody else's seen as one.
    Tensor(Tensor),
    /// Python's or NumPy's `bool`, `int`, `float`, `complex`.
    Scalar(Scalar),
}

impl Operand {
    /// As a tensor: a number becomes one of rank 0, of the default dtype of its kind.
    pub fn tensor(self) -> crate::Result<Tensor> {
        match self {
            Operand::Tensor(t) => Ok(t),
            Operand::Scalar(s) => Tensor::scalar(s, s.default_dtype()),
        }
    }
    /// As a tensor that meets `other`: a number takes the dtype that it has in an operation with
    /// that.
    pub fn tensor_like(self, other: DType) -> crate::Result<Tensor> {
        match self {
            Operand::Tensor(t) => Ok(t),
            Operand::Scalar(s) => Tensor::scalar(s, s.promote(other)),
        }
    }
    /// Number of elements.
    pub fn len(&self) -> usize {
        match self {
            Operand::Tensor(t) => t.len(),
            Operand::Scalar(_) => 1,
        }
    }
    /// What `x` is as an operand; none where it is nothing of the kind. Lists are not: `asarray`
    /// makes tensors of them.
    #[inline]
    pub fn of(x: &Bound<PyAny>) -> PyResult<Option<Operand>> {
        match x.cast_exact::<PyTensor>() {
            Ok(t) => Ok(Some(Operand::Tensor(t.get().get()))),
            Err(_) => Operand::other(x),
        }
    }
    #[inline(never)]
    fn other(x: &Bound<PyAny>) -> PyResult<Option<Operand>> {
        if let Some(s) = scalar(x)? {
            return Ok(Some(Operand::Scalar(s)));
        }
        Ok(interop::borrow(x)?.map(Operand::Tensor))
    }
}

impl<'py> FromPyObject<'_, 'py> for Operand {
    type Error = PyErr;
    #[inline]
    fn extract(x: Borrowed<'_, 'py, PyAny>) -> PyResult<Operand> {
        Operand::of(&x)?.ok_or_else(|| not_a_tensor(&x))
    }
}

/// An operand that is still in its object. Small tensors are computed with while their objects are
/// locked: taking them out, a clone each, would cost as much as the arithmetic.
pub enum Lent<'py> {
    /// A tensor's object.
    Object(Bound<'py, PyTensor>),
    /// Anything else.
    Operand(Operand),
}

impl Lent<'_> {
    /// What `f` finds in the tensor, a number as one of rank 0. It must not look at Python.
    #[inline]
    pub fn read<R>(&self, f: impl FnOnce(&Tensor) -> crate::Result<R>) -> crate::Result<R> {
        match self {
            Lent::Object(t) => t.get().read(f),
            Lent::Operand(o) => f(&o.clone().tensor()?),
        }
    }
    /// What `f` computes of the tensor: in its object where that is short work, else without the
    /// GIL.
    #[inline]
    pub fn compute(
        self,
        py: Python<'_>,
        f: impl Fn(&Tensor) -> crate::Result<Tensor> + Send + Sync,
    ) -> PyResult<PyTensor> {
        if let Lent::Object(t) = &self
            && let Some(result) = t.get().read(|t| is_short(t.len()).then(|| f(t)))
        {
            return Ok(PyTensor::new(result?));
        }
        let t = self.take().tensor()?;
        compute(py, t.len(), || f(&t))
    }
    /// The operand, taken out.
    pub fn take(self) -> Operand {
        match self {
            Lent::Object(t) => Operand::Tensor(t.get().get()),
            Lent::Operand(o) => o,
        }
    }
    /// What `x` is as an operand; none where it is nothing of the kind.
    #[inline]
    pub fn of<'py>(x: &Bound<'py, PyAny>) -> PyResult<Option<Lent<'py>>> {
        match x.cast_exact::<PyTensor>() {
            Ok(t) => Ok(Some(Lent::Object(t.clone()))),
            Err(_) => Ok(Operand::other(x)?.map(Lent::Operand)),
        }
    }
}

impl<'py> FromPyObject<'_, 'py> for Lent<'py> {
    type Error = PyErr;
    #[inline]
    fn extract(x: Borrowed<'_, 'py, PyAny>) -> PyResult<Lent<'py>> {
        Lent::of(&x)?.ok_or_else(|| not_a_tensor(&x))
    }
}

#[cold]
fn not_a_tensor(x: &Bound<PyAny>) -> PyErr {
    let way_out = if x.is_instance_of::<PyList>() || x.is_instance_of::<PyTuple>() {
        ": make a tensor of it with flex.asarray"
    } else {
        ""
    };
    PyTypeError::new_err(format!(
        "expected a Tensor, an array or a number, got {}{way_out}",
        kind(x)
    ))
}

/// A tensor argument: what [`Operand`] takes, a number as a tensor of rank 0.
#[derive(Clone)]
pub struct Arg(pub Tensor);

impl<'py> FromPyObject<'_, 'py> for Arg {
    type Error = PyErr;
    #[inline]
    fn extract(x: Borrowed<'_, 'py, PyAny>) -> PyResult<Arg> {
        match x.cast_exact::<PyTensor>() {
            Ok(t) => Ok(Arg(t.get().get())),
            Err(_) => Ok(Arg(x.extract::<Operand>()?.tensor()?)),
        }
    }
}

/// The number that `x` is, Python's or NumPy's; none where it is no number.
pub fn scalar(x: &Bound<PyAny>) -> PyResult<Option<Scalar>> {
    if let Ok(f) = x.cast::<PyFloat>() {
        return Ok(Some(Scalar::Float(f.value())));
    }
    if let Ok(b) = x.cast::<PyBool>() {
        return Ok(Some(Scalar::Bool(b.is_true())));
    }
    if x.is_instance_of::<PyInt>() {
        let beyond = |_| {
            PyOverflowError::new_err(
                "an integer of more than 127 bits is out of range for every dtype",
            )
        };
        return x
            .extract::<i64>()
            .map(i128::from)
            .or_else(|_| x.extract::<i128>().map_err(beyond))
            .map(|i| Some(Scalar::Int(i)));
    }
    if let Ok(c) = x.cast::<PyComplex>() {
        return Ok(Some(Scalar::Complex(c.real(), c.imag())));
    }
    interop::numpy::scalar(x)
}

/// A number as an argument, such as a bound of `linspace` or a fill value; and the dtype that it
/// has where it is an array of no dimension, such as `t.min()`.
#[derive(Clone, Copy)]
pub struct Number(pub Scalar, pub Option<DType>);

impl<'py> FromPyObject<'_, 'py> for Number {
    type Error = PyErr;
    fn extract(x: Borrowed<'_, 'py, PyAny>) -> PyResult<Number> {
        let wrong = |what: String| PyTypeError::new_err(format!("expected a number, got {what}"));
        match Operand::of(&x)? {
            Some(Operand::Scalar(s)) => Ok(Number(s, None)),
            Some(Operand::Tensor(t)) if t.rank() == 0 => {
                let number = crate::python::values::item(x.py(), &t, "item")?;
                Ok(Number(
                    scalar(&number)?.ok_or_else(|| wrong(kind(&number)))?,
                    Some(t.dtype()),
                ))
            }
            Some(Operand::Tensor(t)) => Err(wrong(format!("a tensor of shape {:?}", t.shape()))),
            None => Err(wrong(kind(&x))),
        }
    }
}
