//! The operators of Tensor, reflected and in place.

// the only unsafe code here is what #[pymethods] generates
#![allow(unsafe_op_in_unsafe_fn)]

use super::cell::PyTensor;
use super::convert::{
    Compared, Operand, OperandRef, beyond_integers, compute, is_list, is_short, operand_beside,
};
use super::elementwise::{self, apply_ref};
use super::quant::PyQTensor;
use super::{deferred, whole};
use crate::convert::error::Raise;
use flex::kernel::elementwise::{Row, rows};
use flex::ops;
use flex::ops::elementwise::{Arg, apply_in_place};
use flex::{Bool, DType, Error, Tensor};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

/// The other operand. If an object is not an operand, extraction fails, PyO3 returns
/// NotImplemented, and Python asks that object; an operand that can't be converted is an error of
/// its own.
enum Other<'py> {
    Operand(PyResult<OperandRef<'py>>),
    /// A list, whose numbers take the dtype of a number beside the tensor.
    List(Bound<'py, PyAny>),
    /// What an integer beyond those of every dtype is compared as, and the error that it is
    /// otherwise.
    Beyond(Operand, PyErr),
}

impl<'py> Other<'py> {
    #[inline]
    fn beside(self, t: &PyTensor) -> PyResult<OperandRef<'py>> {
        match self {
            Other::Operand(o) => o,
            Other::Beyond(_, e) => Err(e),
            Other::List(list) => list_beside(&list, t.dtype_of(), false),
        }
    }
}

fn list_beside<'py>(
    list: &Bound<'py, PyAny>,
    dtype: DType,
    comparison: bool,
) -> PyResult<OperandRef<'py>> {
    operand_beside(list, dtype, comparison)?
        .map(|v| OperandRef::Operand(Operand::Tensor(v)))
        .ok_or_else(|| PyTypeError::new_err("not an operand"))
}

impl<'py> FromPyObject<'_, 'py> for Other<'py> {
    stub_type!("_Operand");
    type Error = PyErr;
    #[inline]
    fn extract(x: Borrowed<'_, 'py, PyAny>) -> PyResult<Other<'py>> {
        match OperandRef::of(&x) {
            Ok(Some(o)) => Ok(Other::Operand(Ok(o))),
            Ok(None) if is_list(&x) => Ok(Other::List(x.to_owned())),
            Ok(None) => Err(PyTypeError::new_err("not an operand")),
            // its operators take tensors
            Err(_) if x.is_instance_of::<PyQTensor>() => {
                Err(PyTypeError::new_err("not an operand"))
            }
            Err(e) => Ok(match beyond_integers(&x) {
                Some(nearest) => Other::Beyond(nearest, e),
                None => Other::Operand(Err(e)),
            }),
        }
    }
}

impl Operand {
    /// The operand as an argument of an elementwise function.
    #[inline(always)]
    pub fn arg(&self) -> Arg<'_> {
        match self {
            Operand::Tensor(t) => Arg::Ref(t),
            Operand::Scalar(s) => Arg::Scalar(*s),
        }
    }
}

#[inline(never)]
fn forward(t: Bound<'_, PyTensor>, row: &'static Row, other: Other<'_>) -> PyResult<PyTensor> {
    let other = other.beside(t.get())?;
    apply_ref(t.py(), row, [OperandRef::Object(t), other])
}
#[inline(never)]
fn compare(t: Bound<'_, PyTensor>, row: &'static Row, other: Other<'_>) -> PyResult<PyTensor> {
    let other = match other {
        Other::Beyond(nearest, _) => OperandRef::Operand(nearest),
        Other::List(list) => list_beside(&list, t.get().dtype_of(), true)?,
        other => other.beside(t.get())?,
    };
    apply_ref(t.py(), row, [OperandRef::Object(t), other])
}
#[inline(never)]
fn reflected(t: Bound<'_, PyTensor>, row: &'static Row, other: Other<'_>) -> PyResult<PyTensor> {
    let other = other.beside(t.get())?;
    apply_ref(t.py(), row, [other, OperandRef::Object(t)])
}
/// An in-place operation. Shape and dtype are kept; after an error the tensor is unchanged.
/// `t += t` takes its operand before the tensor is locked.
fn in_place(slf: &Bound<'_, PyTensor>, row: &'static Row, other: Other) -> PyResult<()> {
    let (py, t) = (slf.py(), slf.get());
    let other = other.beside(t)?;
    if let Some(done) = deferred::apply_in_place(row, slf, &other) {
        return done;
    }
    deferred::stream::before_write(py, t)?;
    other.compute_queued(py)?;
    if let OperandRef::Object(o) = &other {
        let small = t.update_with(o.get(), |t, o| {
            is_short(t.len().max(o.len())).then(|| apply_in_place(row, t, Some(Arg::Ref(o))))
        });
        if let Some(result) = small {
            return result.raise();
        }
    }
    let other = other.take();
    t.update(
        py,
        |t| t.len().max(other.len()),
        |t| apply_in_place(row, t, Some(other.arg())),
    )
}

macro_rules! operators {
    (arithmetic { $($method:ident $reflected:ident $in_place:ident $Row:ident;)* } compare { $($compare:ident $Compare:ident;)* } unary { $($unary:ident $Unary:ident;)* }) => {
        #[pymethods]
        impl PyTensor {
            $(
                fn $method(slf: Bound<'_, Self>, other: Other<'_>) -> PyResult<PyTensor> { forward(slf, &rows::$Row::ROW, other) }
                fn $reflected(slf: Bound<'_, Self>, other: Other<'_>) -> PyResult<PyTensor> { reflected(slf, &rows::$Row::ROW, other) }
                fn $in_place(slf: &Bound<'_, Self>, other: Other) -> PyResult<()> { in_place(slf, &rows::$Row::ROW, other) }
            )*
            $(fn $compare(slf: Bound<'_, Self>, other: Other<'_>) -> PyResult<PyTensor> { compare(slf, &rows::$Compare::ROW, other) })*
            $(fn $unary(slf: Bound<'_, Self>) -> PyResult<PyTensor> { apply_ref(slf.py(), &rows::$Unary::ROW, [OperandRef::Object(slf)]) })*
            fn __pow__(slf: Bound<'_, Self>, other: Other<'_>, modulo: Option<&Bound<PyAny>>) -> PyResult<PyTensor> {
                no_modulo(modulo)?;
                forward(slf, &rows::Pow::ROW, other)
            }
            fn __rpow__(slf: Bound<'_, Self>, other: Other<'_>, modulo: Option<&Bound<PyAny>>) -> PyResult<PyTensor> {
                no_modulo(modulo)?;
                reflected(slf, &rows::Pow::ROW, other)
            }
            fn __ipow__(slf: &Bound<'_, Self>, other: Other, modulo: Option<&Bound<PyAny>>) -> PyResult<()> {
                no_modulo(modulo)?;
                in_place(slf, &rows::Pow::ROW, other)
            }
            fn __matmul__(slf: Bound<'_, Self>, other: Other) -> PyResult<PyTensor> { let b = other.beside(slf.get())?; product(OperandRef::Object(slf), b) }
            fn __rmatmul__(slf: Bound<'_, Self>, other: Other) -> PyResult<PyTensor> { let a = other.beside(slf.get())?; product(a, OperandRef::Object(slf)) }
            fn __imatmul__(slf: &Bound<'_, Self>, other: Other) -> PyResult<()> {
                let (py, t) = (slf.py(), slf.get());
                let b = other.beside(t)?;
                if let Some(y) = deferred::matmul_in_place(slf, &b) {
                    let y = y?;
                    y.about(|y, dtype| t.about(|t, own| fits(t.shape(), own, y.shape(), dtype))).raise()?;
                    t.become_other(y);
                    return Ok(());
                }
                let b = b.tensor()?;
                deferred::stream::before_write(py, t)?;
                t.update(py, |t| flops(t, &b), |t| {
                    let product = ops::matmul(t, &b)?;
                    fits(t.shape(), t.dtype(), product.shape(), product.dtype())?;
                    *t = product;
                    Ok(())
                })
            }
            fn __divmod__(&self, py: Python<'_>, other: Other) -> PyResult<(PyTensor, PyTensor)> {
                let other = other.beside(self)?;
                other.compute_queued(py)?;
                let operands = [Operand::Tensor(self.tensor(py)?), other.take()];
                Ok((elementwise::apply(py, &rows::FloorDivide::ROW, &operands)?, elementwise::apply(py, &rows::Remainder::ROW, &operands)?))
            }
            fn __rdivmod__(&self, py: Python<'_>, other: Other) -> PyResult<(PyTensor, PyTensor)> {
                let other = other.beside(self)?;
                other.compute_queued(py)?;
                let operands = [other.take(), Operand::Tensor(self.tensor(py)?)];
                Ok((elementwise::apply(py, &rows::FloorDivide::ROW, &operands)?, elementwise::apply(py, &rows::Remainder::ROW, &operands)?))
            }
            /// Rounds to `ndigits` decimals, ties to even; if negative, to tens, hundreds and so
            /// on. DTypeError for bool and float8.
            #[pyo3(signature = (ndigits = None))]
            fn __round__(slf: &Bound<'_, Self>, ndigits: Option<i32>) -> PyResult<PyTensor> {
                let py = slf.py();
                if let Some(y) = whole::method(slf, "__round__", &[ndigits.into_pyobject(py)?]) {
                    return y;
                }
                let t = slf.get().tensor(py)?;
                compute(py, t.len(), || ops::round_to(&t, ndigits.unwrap_or(0)))
            }
            /// Whether an element equals `value`.
            fn __contains__(&self, py: Python<'_>, value: Compared<'_>) -> PyResult<bool> {
                let value = value.take(py)?;
                let equal = elementwise::apply(py, &rows::Equal::ROW, &[Operand::Tensor(self.tensor(py)?), value])?.get();
                Ok(equal.as_slice::<Bool>().raise()?.iter().any(|b| b.get()))
            }
        }
    };
}
operators! {
    arithmetic {
        __add__ __radd__ __iadd__ Add;
        __sub__ __rsub__ __isub__ Subtract;
        __mul__ __rmul__ __imul__ Multiply;
        __truediv__ __rtruediv__ __itruediv__ Divide;
        __floordiv__ __rfloordiv__ __ifloordiv__ FloorDivide;
        __mod__ __rmod__ __imod__ Remainder;
        __and__ __rand__ __iand__ BitwiseAnd;
        __or__ __ror__ __ior__ BitwiseOr;
        __xor__ __rxor__ __ixor__ BitwiseXor;
        __lshift__ __rlshift__ __ilshift__ BitwiseLeftShift;
        __rshift__ __rrshift__ __irshift__ BitwiseRightShift;
    }
    compare { __lt__ Less; __le__ LessEqual; __eq__ Equal; __ne__ NotEqual; __gt__ Greater; __ge__ GreaterEqual; }
    unary { __trunc__ Trunc; __floor__ Floor; __ceil__ Ceil; __neg__ Negative; __pos__ Positive; __abs__ Abs; __invert__ BitwiseInvert; }
}

fn product(a: OperandRef, b: OperandRef) -> PyResult<PyTensor> {
    if let Some(y) = deferred::matmul(&a, &b, None) {
        return y;
    }
    let (a, b) = (a.tensor()?, b.tensor()?);
    Python::attach(|py| compute(py, flops(&a, &b), || ops::matmul(&a, &b)))
}

/// Errors if a product is not of its target's shape and dtype.
fn fits(target: &[usize], own: DType, product: &[usize], dtype: DType) -> flex::Result<()> {
    if (target, own) == (product, dtype) {
        return Ok(());
    }
    let operands = [("target", target, own), ("product", product, dtype)];
    let what = "the product does not have the target's shape and dtype";
    Err(Error::shape_of("matmul", what, &operands))
}

/// The approximate number of multiplications of a matrix product.
fn flops(a: &Tensor, b: &Tensor) -> usize {
    a.len()
        .saturating_mul(b.shape().last().copied().unwrap_or(1))
}

pub fn no_modulo(modulo: Option<&Bound<PyAny>>) -> PyResult<()> {
    match modulo {
        None => Ok(()),
        Some(_) => Err(PyTypeError::new_err("pow of tensors takes no modulus")),
    }
}
