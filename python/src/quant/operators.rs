//! The operators of `flex.quant.QTensor`, reflected too.

// the only unsafe code here is what #[pymethods] generates
#![allow(unsafe_op_in_unsafe_fn)]

use super::tensor::PyQTensor;
use crate::cell::PyTensor;
use crate::convert::error::Raise;
use crate::convert::{Operand, compute, detached, is_list, kind, operand_beside};
use crate::operators::no_modulo;
use flex::kernel::elementwise::{Row, rows};
use flex::ops::{self, Arg};
use flex::{DType, Tensor};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

/// The other operand, dequantised. If an object is not an operand, extraction fails, PyO3 returns
/// NotImplemented, and Python asks that object; an operand that can't be converted is an error of
/// its own.
struct DequantizedOther(PyResult<Operand>);

impl<'py> FromPyObject<'_, 'py> for DequantizedOther {
    stub_type!("QTensor | _Operand");
    type Error = PyErr;
    fn extract(x: Borrowed<'_, 'py, PyAny>) -> PyResult<DequantizedOther> {
        if let Ok(q) = x.cast::<PyQTensor>() {
            let q = &q.get().0;
            let numbers = detached(x.py(), q.len(), || q.dequantize());
            return Ok(DequantizedOther(numbers.map(Operand::Tensor)));
        }
        let found = match Operand::of(&x) {
            Ok(None) if is_list(&x) => {
                operand_beside(&x, DType::F32, false).map(|t| t.map(Operand::Tensor))
            }
            found => found,
        };
        match found.transpose() {
            Some(operand) => Ok(DequantizedOther(operand)),
            None => Err(PyTypeError::new_err("not an operand")),
        }
    }
}

/// An upper bound of the number of elements of an operation's result.
fn elements(q: &PyQTensor, other: &Operand) -> usize {
    match other {
        Operand::Tensor(t) if t.shape() != q.0.shape() => q.0.len().saturating_mul(t.len()),
        _ => q.0.len(),
    }
}
#[inline(never)]
fn forward(
    py: Python<'_>,
    q: &PyQTensor,
    row: &'static Row,
    other: DequantizedOther,
) -> PyResult<PyQTensor> {
    let other = other.0?;
    let f = |x: &Tensor| ops::apply(row, [Arg::Ref(x), other.arg()]);
    Ok(PyQTensor(detached(py, elements(q, &other), || q.0.map(f))?))
}
#[inline(never)]
fn reflected(
    py: Python<'_>,
    q: &PyQTensor,
    row: &'static Row,
    other: DequantizedOther,
) -> PyResult<PyQTensor> {
    let other = other.0?;
    let f = |x: &Tensor| ops::apply(row, [other.arg(), Arg::Ref(x)]);
    Ok(PyQTensor(detached(py, elements(q, &other), || q.0.map(f))?))
}
#[inline(never)]
fn compare(
    py: Python<'_>,
    q: &PyQTensor,
    row: &'static Row,
    other: DequantizedOther,
) -> PyResult<PyTensor> {
    let other = other.0?;
    compute(py, elements(q, &other), || {
        ops::apply(row, [Arg::Own(q.0.dequantize()?), other.arg()])
    })
}
fn unary(py: Python<'_>, q: &PyQTensor, row: &'static Row) -> PyResult<PyQTensor> {
    let f = |x: &Tensor| ops::apply(row, [Arg::Ref(x)]);
    Ok(PyQTensor(detached(py, q.0.len(), || q.0.map(f))?))
}

macro_rules! operators {
    (arithmetic { $($method:ident $reflected:ident $Row:ident;)* } compare { $($compare:ident $Compare:ident;)* } unary { $($unary:ident $Unary:ident;)* }) => {
        #[pymethods]
        impl PyQTensor {
            $(
                fn $method(&self, py: Python<'_>, other: DequantizedOther) -> PyResult<PyQTensor> { forward(py, self, &rows::$Row::ROW, other) }
                fn $reflected(&self, py: Python<'_>, other: DequantizedOther) -> PyResult<PyQTensor> { reflected(py, self, &rows::$Row::ROW, other) }
            )*
            $(fn $compare(&self, py: Python<'_>, other: DequantizedOther) -> PyResult<PyTensor> { compare(py, self, &rows::$Compare::ROW, other) })*
            $(fn $unary(&self, py: Python<'_>) -> PyResult<PyQTensor> { unary(py, self, &rows::$Unary::ROW) })*
        }
    };
}
operators! {
    arithmetic {
        __add__ __radd__ Add;
        __sub__ __rsub__ Subtract;
        __mul__ __rmul__ Multiply;
        __truediv__ __rtruediv__ Divide;
        __floordiv__ __rfloordiv__ FloorDivide;
        __mod__ __rmod__ Remainder;
    }
    compare { __lt__ Less; __le__ LessEqual; __eq__ Equal; __ne__ NotEqual; __gt__ Greater; __ge__ GreaterEqual; }
    unary { __neg__ Negative; __abs__ Abs; }
}

#[pymethods]
impl PyQTensor {
    /// None: NumPy's arrays leave their operators to those of QTensor.
    #[classattr]
    fn __array_ufunc__() -> Option<bool> {
        None
    }

    fn __pos__(&self) -> PyQTensor {
        self.clone()
    }
    fn __pow__(
        &self,
        py: Python<'_>,
        other: DequantizedOther,
        modulo: Option<&Bound<PyAny>>,
    ) -> PyResult<PyQTensor> {
        no_modulo(modulo)?;
        forward(py, self, &rows::Pow::ROW, other)
    }
    fn __rpow__(
        &self,
        py: Python<'_>,
        other: DequantizedOther,
        modulo: Option<&Bound<PyAny>>,
    ) -> PyResult<PyQTensor> {
        no_modulo(modulo)?;
        reflected(py, self, &rows::Pow::ROW, other)
    }
    /// Refuses the product: `quant.linear` is the one that needs no floats of the weight.
    fn __matmul__(&self, other: &Bound<PyAny>) -> PyResult<PyQTensor> {
        let _ = other;
        Err(no_matmul())
    }
    fn __rmatmul__(&self, other: &Bound<PyAny>) -> PyResult<PyQTensor> {
        let _ = other;
        Err(no_matmul())
    }
    /// `f` of the dequantised tensor, quantised like this one.
    ///
    /// f: takes a float32 tensor and returns a tensor of floats (TypeError, DTypeError). The result
    /// has the same dtype, zero points if there are any here, and scales that are shared along the
    /// same axes, counted from the last: one that spans an axis still does, and blocks keep their
    /// size. ShapeError if they don't divide the new one, or dimensions of several scales are gone.
    ///
    /// >>> q = flex.quant.quantize(flex.asarray([0.0, 1.0, 2.0]))
    /// >>> [round(y, 1) for y in q.map(flex.sqrt).dequantize().tolist()]
    /// [0.0, 1.0, 1.4]
    #[pyo3(signature = (f: "Callable[[Tensor], _Operand]", /))]
    fn map(&self, py: Python<'_>, f: &Bound<PyAny>) -> PyResult<PyQTensor> {
        let x = compute(py, self.0.len(), || self.0.dequantize())?;
        let y = f.call1((x,))?;
        let y = Operand::of(&y)?.ok_or_else(|| {
            PyTypeError::new_err(format!("map: f returned {}, not a tensor", kind(&y)))
        })?;
        let y = y.tensor().raise()?;
        Ok(PyQTensor(detached(py, y.len(), || self.0.requantize(&y))?))
    }
}

#[cold]
fn no_matmul() -> PyErr {
    PyTypeError::new_err(
        "matmul of a QTensor: quant.linear(x, q) is x @ q.T, and dequantize() gives a matrix",
    )
}
