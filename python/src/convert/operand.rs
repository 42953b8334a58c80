//! Tensors and numbers as arguments.

use super::args::kind;
use super::{compute, is_short, sequence};
use crate::cell::{PyTensor, viewed};
use crate::convert::error::Raise;
use crate::default;
use crate::deferred::{self, trace, traced};
use crate::interop;
use crate::number::TracedNumber;
use flex::kernel::elementwise::exact;
use flex::layout::Shape;
use flex::op::Op;
use flex::{DType, Layout, Scalar, Tensor};
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyComplex, PyFloat, PyInt, PyList, PyTuple};
use std::sync::Arc;

/// The layout of a view, from the layout and dtype of its tensor.
type LayoutFn = dyn Fn(&Layout, DType) -> flex::Result<Layout> + Send + Sync;

/// An operand: a tensor, or a number that takes the others' dtype.
#[derive(Clone)]
pub enum Operand {
    /// A tensor, or a foreign array borrowed as one.
    Tensor(Tensor),
    /// Python's or NumPy's `bool`, `int`, `float`, `complex`.
    Scalar(Scalar),
}

impl Operand {
    /// As a tensor: a number becomes a 0-dimensional tensor in the default dtype of its kind.
    pub fn tensor(self) -> flex::Result<Tensor> {
        match self {
            Operand::Tensor(t) => Ok(t),
            Operand::Scalar(s) => Tensor::scalar(s, default::of(s)),
        }
    }
    /// As a tensor beside `other`: a number takes the dtype that it has in an operation with it.
    pub fn tensor_like(self, other: DType) -> flex::Result<Tensor> {
        match self {
            Operand::Tensor(t) => Ok(t),
            Operand::Scalar(s) => Tensor::scalar(s, s.promote(other)),
        }
    }
    /// Two operands as tensors: a number beside a tensor takes the dtype that it has in an operation
    /// with it.
    #[inline(never)]
    pub fn tensors(x1: Operand, x2: Operand) -> flex::Result<(Tensor, Tensor)> {
        match (x1, x2) {
            (x1 @ Operand::Scalar(_), x2 @ Operand::Scalar(_)) => Ok((x1.tensor()?, x2.tensor()?)),
            (x1, x2) => {
                let (d1, d2) = (x1.dtype(), x2.dtype());
                Ok((x1.tensor_like(d2)?, x2.tensor_like(d1)?))
            }
        }
    }
    /// As a tensor that is compared with elements of another dtype: exactly, if these are integers
    /// or bool, so a number that is none of them becomes a float64, infinite if it is out of range.
    pub fn tensor_to_compare(self, other: DType) -> flex::Result<Tensor> {
        let [lowest, highest] = other.integers();
        let number = match self {
            Operand::Scalar(s) if exact::applies(Op::Less, other, s) => s,
            operand => return operand.tensor_like(other),
        };
        let float = match number {
            Scalar::Int(x) if x < lowest => f64::NEG_INFINITY,
            Scalar::Int(x) if x > highest => f64::INFINITY,
            x => x.to_f64(),
        };
        Tensor::scalar(float, DType::F64)
    }
    /// The dtype, of a number the default one of its kind.
    pub fn dtype(&self) -> DType {
        match self {
            Operand::Tensor(t) => t.dtype(),
            Operand::Scalar(s) => default::of(*s),
        }
    }
    /// The number of elements.
    pub fn len(&self) -> usize {
        match self {
            Operand::Tensor(t) => t.len(),
            Operand::Scalar(_) => 1,
        }
    }
    /// `x` as an operand; `None` if it isn't one. Lists are not operands: `asarray` converts them.
    #[inline]
    pub fn of(x: &Bound<PyAny>) -> PyResult<Option<Operand>> {
        match x.cast_exact::<PyTensor>() {
            Ok(t) => Ok(Some(Operand::Tensor(t.get().tensor(x.py())?))),
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
    stub_type!("_Operand");
    type Error = PyErr;
    #[inline]
    fn extract(x: Borrowed<'_, 'py, PyAny>) -> PyResult<Operand> {
        Operand::of(&x)?.ok_or_else(|| not_a_tensor(&x))
    }
}

/// An operand that is still in its object. Small tensors are used while their objects are locked: a
/// clone of each would cost as much as the arithmetic.
pub enum OperandRef<'py> {
    /// A tensor's object.
    Object(Bound<'py, PyTensor>),
    /// A float argument of a function that is being traced.
    Number(TracedNumber<'py>),
    /// Anything else.
    Operand(Operand),
}

impl OperandRef<'_> {
    /// Computes a value of a stream, so that its error can be reported.
    #[inline(always)]
    pub fn compute_queued(&self, py: Python<'_>) -> PyResult<()> {
        match self {
            OperandRef::Object(t) => t.get().compute_queued(py),
            OperandRef::Number(_) | OperandRef::Operand(_) => Ok(()),
        }
    }
    /// Its shape, which is known before it is computed.
    pub fn shape(&self) -> Shape {
        match self {
            OperandRef::Object(t) => t.get().about(|x, _| Shape::from_slice(x.shape())),
            OperandRef::Operand(Operand::Tensor(t)) => Shape::from_slice(t.shape()),
            OperandRef::Number(_) | OperandRef::Operand(Operand::Scalar(_)) => Shape::new(),
        }
    }
    /// Calls `f` with the tensor; a number becomes a 0-dimensional one. `f` must not use Python.
    #[inline]
    fn read<R>(&self, f: impl FnOnce(&Tensor) -> flex::Result<R>) -> PyResult<R> {
        Ok(match self {
            OperandRef::Object(t) => {
                t.get().compute_queued(t.py())?;
                t.get().read(f).raise()?
            }
            OperandRef::Number(x) => {
                f(&Operand::Scalar(x.specialize()).tensor().raise()?).raise()?
            }
            OperandRef::Operand(o) => f(&o.clone().tensor().raise()?).raise()?,
        })
    }
    /// Calls `f` with the tensor: in its object if that is short work, else without the GIL.
    #[inline]
    pub fn compute(
        self,
        py: Python<'_>,
        f: impl Fn(&Tensor) -> flex::Result<Tensor> + Send + Sync + 'static,
    ) -> PyResult<PyTensor> {
        self.compute_to(py, 0, f)
    }
    /// [`compute`](OperandRef::compute) for a result that may have more elements than the tensor.
    #[inline]
    pub fn compute_to(
        self,
        py: Python<'_>,
        elements: usize,
        f: impl Fn(&Tensor) -> flex::Result<Tensor> + Send + Sync + 'static,
    ) -> PyResult<PyTensor> {
        if traced::is_active() {
            return self.compute_traced(py, elements, Arc::new(f));
        }
        self.compute_untraced(py, elements, &f)
    }
    #[cold]
    fn compute_traced(
        self,
        py: Python<'_>,
        elements: usize,
        f: Arc<dyn Fn(&Tensor) -> flex::Result<Tensor> + Send + Sync>,
    ) -> PyResult<PyTensor> {
        let recorded = f.clone();
        let call = Arc::new(move |x: &[Tensor]| recorded(&x[0]));
        match trace::call("function", &[&self], call) {
            Some(y) => y,
            None => {
                let t = self.tensor()?;
                compute(py, t.len().max(elements), || f(&t))
            }
        }
    }
    fn compute_untraced(
        &self,
        py: Python<'_>,
        elements: usize,
        f: &(dyn Fn(&Tensor) -> flex::Result<Tensor> + Send + Sync),
    ) -> PyResult<PyTensor> {
        self.compute_queued(py)?;
        if let OperandRef::Object(t) = self
            && let Some(result) = t
                .get()
                .read(|t| is_short(t.len().max(elements)).then(|| f(t)))
        {
            return Ok(PyTensor::new(result.raise()?));
        }
        let t = self.read(|t| Ok(t.clone()))?;
        compute(py, t.len().max(elements), || f(&t))
    }
    /// The view of the tensor, which stays in its object, with the layout that `f` derives from its
    /// own.
    #[inline]
    pub fn view(
        &self,
        f: impl Fn(&Layout, DType) -> flex::Result<Layout> + Send + Sync + 'static,
    ) -> PyResult<PyTensor> {
        if let Some(y) = deferred::view(self, &f) {
            return y;
        }
        if traced::is_active() {
            return self.view_traced(Arc::new(f));
        }
        self.view_untraced(&f)
    }
    #[cold]
    fn view_traced(&self, f: Arc<LayoutFn>) -> PyResult<PyTensor> {
        let recorded = f.clone();
        let call = Arc::new(move |x: &[Tensor]| viewed(&x[0], &*recorded));
        match trace::call("view", &[self], call) {
            Some(y) => y,
            None => self.view_untraced(&*f),
        }
    }
    fn view_untraced(&self, f: &LayoutFn) -> PyResult<PyTensor> {
        Ok(PyTensor::new(self.read(|x| viewed(x, f))?))
    }
    /// The tensor; a number becomes a 0-dimensional one.
    pub fn tensor(self) -> PyResult<Tensor> {
        if let OperandRef::Object(t) = &self {
            return t.get().tensor(t.py());
        }
        self.take().tensor().raise()
    }
    /// Takes the operand out. A value of a stream was computed before, so that its error could be
    /// reported.
    pub fn take(self) -> Operand {
        match self {
            OperandRef::Object(t) => Operand::Tensor(t.get().get()),
            OperandRef::Number(x) => Operand::Scalar(x.specialize()),
            OperandRef::Operand(o) => o,
        }
    }
    /// `x` as an operand; `None` if it isn't one.
    #[inline]
    pub fn of<'py>(x: &Bound<'py, PyAny>) -> PyResult<Option<OperandRef<'py>>> {
        match x.cast_exact::<PyTensor>() {
            Ok(t) => Ok(Some(OperandRef::Object(t.clone()))),
            Err(_) => match TracedNumber::of(x)? {
                Some(number) => Ok(Some(OperandRef::Number(number))),
                None => Ok(Operand::other(x)?.map(OperandRef::Operand)),
            },
        }
    }
}

impl<'py> FromPyObject<'_, 'py> for OperandRef<'py> {
    stub_type!("_Operand");
    type Error = PyErr;
    #[inline]
    fn extract(x: Borrowed<'_, 'py, PyAny>) -> PyResult<OperandRef<'py>> {
        OperandRef::of(&x)?.ok_or_else(|| not_a_tensor(&x))
    }
}

/// An operand of a comparison. An integer beyond those of every dtype is the nearest float.
pub struct Compared<'py>(OperandRef<'py>);

impl<'py> Compared<'py> {
    /// The operand, computed.
    pub fn take(self, py: Python<'py>) -> PyResult<Operand> {
        self.0.compute_queued(py)?;
        Ok(self.0.take())
    }
}
impl<'py> From<Compared<'py>> for OperandRef<'py> {
    fn from(x: Compared<'py>) -> OperandRef<'py> {
        x.0
    }
}
impl<'py> FromPyObject<'_, 'py> for Compared<'py> {
    stub_type!("_Operand");
    type Error = PyErr;
    #[inline]
    fn extract(x: Borrowed<'_, 'py, PyAny>) -> PyResult<Compared<'py>> {
        OperandRef::extract(x)
            .or_else(|e| Ok(OperandRef::Operand(beyond_integers(&x).ok_or(e)?)))
            .map(Compared)
    }
}
/// An integer beyond those of every dtype, as the nearest float; `None` for other objects.
#[cold]
pub fn beyond_integers(x: &Bound<PyAny>) -> Option<Operand> {
    if !x.is_instance_of::<PyInt>() {
        return None;
    }
    let infinite = || match x.lt(0) {
        Ok(true) => f64::NEG_INFINITY,
        _ => f64::INFINITY,
    };
    let nearest = x.extract().unwrap_or_else(|_| infinite());
    Some(Operand::Scalar(Scalar::Float(nearest)))
}

#[cold]
fn not_a_tensor(x: &Bound<PyAny>) -> PyErr {
    let way_out = if x.is_instance_of::<PyList>() || x.is_instance_of::<PyTuple>() {
        ": convert it with flex.asarray"
    } else {
        ""
    };
    PyTypeError::new_err(format!(
        "expected a Tensor, an array or a number, got {}{way_out}",
        kind(x)
    ))
}

/// A tensor argument: any [`Operand`], a number as a 0-dimensional tensor.
#[derive(Clone)]
pub struct TensorArg(pub Tensor);

impl<'py> FromPyObject<'_, 'py> for TensorArg {
    stub_type!("_Operand");
    type Error = PyErr;
    #[inline]
    fn extract(x: Borrowed<'_, 'py, PyAny>) -> PyResult<TensorArg> {
        match x.cast_exact::<PyTensor>() {
            Ok(t) => Ok(TensorArg(t.get().tensor(x.py())?)),
            Err(_) => Ok(TensorArg(x.extract::<Operand>()?.tensor().raise()?)),
        }
    }
}

/// A list, a tuple or another iterable of tensors.
pub struct TensorList(pub Vec<Tensor>);

impl<'py> FromPyObject<'_, 'py> for TensorList {
    stub_type!("Iterable[_Operand]");
    type Error = PyErr;
    fn extract(x: Borrowed<'_, 'py, PyAny>) -> PyResult<TensorList> {
        match sequence::items(&x, |t| t.extract::<Operand>())? {
            Some(operands) => {
                // numbers take the dtype that they have beside the tensors
                let tensors = operands.iter().filter(|x| matches!(x, Operand::Tensor(_)));
                let common = tensors.map(Operand::dtype).map(Some).reduce(|a, b| {
                    let (a, b) = (a?, b?);
                    a.promote(b, "concat").ok()
                });
                let tensor = |x: Operand| match common.flatten() {
                    Some(dtype) => x.tensor_like(dtype),
                    None => x.tensor(),
                };
                let tensors = operands
                    .into_iter()
                    .map(tensor)
                    .collect::<flex::Result<_>>();
                Ok(TensorList(tensors.raise()?))
            }
            None => Err(PyTypeError::new_err(format!(
                "expected a list or tuple of tensors, got {}",
                kind(&x)
            ))),
        }
    }
}

impl TensorList {
    /// The number of elements of all.
    pub fn elements(&self) -> usize {
        self.0
            .iter()
            .map(Tensor::len)
            .fold(0, usize::saturating_add)
    }
}

/// `x` as a Python or NumPy number; `None` if it isn't one.
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
    if let Some(number) = TracedNumber::of(x)? {
        return Ok(Some(number.specialize()));
    }
    interop::numpy::scalar(x)
}

/// A number of Python's own classes, of at most 64 bits.
#[inline]
pub fn python_number(x: &Bound<PyAny>) -> Option<Scalar> {
    if let Ok(f) = x.cast_exact::<PyFloat>() {
        return Some(Scalar::Float(f.value()));
    }
    let i = x.cast_exact::<PyInt>().ok()?.extract::<i64>().ok()?;
    Some(Scalar::Int(i.into()))
}

/// A number argument, such as a bound of `linspace` or a fill value; and its dtype if it is a
/// 0-dimensional array, such as `t.min()`.
#[derive(Clone, Copy)]
pub struct NumberArg(pub Scalar, pub Option<DType>);

impl NumberArg {
    pub fn integer(x: i128) -> NumberArg {
        NumberArg(Scalar::Int(x), None)
    }
    /// 0 or 1, which every dtype has.
    pub fn of_any_dtype(x: u8) -> NumberArg {
        NumberArg(Scalar::Bool(x != 0), None)
    }
}

impl<'py> FromPyObject<'_, 'py> for NumberArg {
    stub_type!("_Number");
    type Error = PyErr;
    fn extract(x: Borrowed<'_, 'py, PyAny>) -> PyResult<NumberArg> {
        let wrong = |what: String| PyTypeError::new_err(format!("expected a number, got {what}"));
        match Operand::of(&x)? {
            Some(Operand::Scalar(s)) => Ok(NumberArg(s, None)),
            Some(Operand::Tensor(t)) if t.rank() == 0 => {
                let number = crate::values::item(x.py(), &t, "item")?;
                Ok(NumberArg(
                    scalar(&number)?.ok_or_else(|| wrong(kind(&number)))?,
                    Some(t.dtype()),
                ))
            }
            Some(Operand::Tensor(t)) => Err(wrong(format!("a tensor of shape {:?}", t.shape()))),
            None => Err(wrong(kind(&x))),
        }
    }
}
