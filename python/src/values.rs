//! Elements as Python numbers, single or in nested lists.

use crate::cell::PyTensor;
use crate::convert::error::Raise;
use flex::ElementBytes;
use flex::dtype::{Bool, Complex64, Complex128, Element, F8E4M3, F8E5M2, bf16, f16};
use flex::{DType, Error, Tensor};
use flex::{dispatch, dispatch_class};
use pyo3::exceptions::PyValueError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// Deeper nesting is refused, since recursion is limited.
const DEEPEST: usize = 512;

/// An element type that converts to a Python number.
trait ToPython: Element {
    fn number(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>>;
}
macro_rules! to_python {
    ($($($T:ty)+ => |$x:ident| $new:ident $arguments:tt;)*) => { $($(impl ToPython for $T {
        fn number(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
            let $x = self;
            // SAFETY: attached; a new object, or none and an exception.
            unsafe { Bound::from_owned_ptr_or_err(py, ffi::$new $arguments) }
        }
    })+)* };
}
// pyo3's own conversions panic without memory
to_python! {
    Bool => |x| PyBool_FromLong(x.get().into());
    i8 i16 i32 u8 u16 u32 => |x| PyLong_FromLongLong(x.into());
    i64 => |x| PyLong_FromLongLong(x);
    u64 => |x| PyLong_FromUnsignedLongLong(x);
    f32 => |x| PyFloat_FromDouble(x.into());
    f64 => |x| PyFloat_FromDouble(x);
    f16 bf16 => |x| PyFloat_FromDouble(x.to_f64());
    F8E4M3 F8E5M2 => |x| PyFloat_FromDouble(x.into());
    Complex64 => |x| PyComplex_FromDoubles(x.re.into(), x.im.into());
    Complex128 => |x| PyComplex_FromDoubles(x.re, x.im);
}

/// A list of `n` items, which `item` makes.
fn list<'py>(
    py: Python<'py>,
    n: usize,
    mut item: impl FnMut(usize) -> PyResult<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let len = isize::try_from(n)
        .map_err(|_| Error::memory::<usize>(n))
        .raise()?;
    // SAFETY: attached; a new object, or none and an exception.
    let list = unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyList_New(len)) }?;
    for k in 0..len {
        let item = item(k as usize)?;
        // SAFETY: a slot of the list that is still empty; it takes ownership of the item.
        if unsafe { ffi::PyList_SetItem(list.as_ptr(), k, item.into_ptr()) } != 0 {
            return Err(PyErr::fetch(py));
        }
    }
    Ok(list)
}

/// A tuple of tensors.
pub fn tuple(py: Python<'_>, tensors: Vec<Tensor>) -> PyResult<Bound<'_, PyTuple>> {
    let len = isize::try_from(tensors.len())
        .map_err(|_| Error::memory::<usize>(tensors.len()))
        .raise()?;
    // SAFETY: attached; a new object, or none and an exception.
    let tuple = unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyTuple_New(len)) }?
        .cast_into::<PyTuple>()?;
    for (k, t) in tensors.into_iter().enumerate() {
        let item = Bound::new(py, PyTensor::new(t))?;
        // SAFETY: a slot of the new tuple, which nobody else has seen; it takes ownership of the
        // item.
        if unsafe { ffi::PyTuple_SetItem(tuple.as_ptr(), k as isize, item.into_ptr()) } != 0 {
            return Err(PyErr::fetch(py));
        }
    }
    Ok(tuple)
}

/// The elements of an axis: `n` from `p` on, `stride` elements apart.
///
/// # Safety
/// They are readable, of `dtype`, and aligned for it.
unsafe fn row(
    py: Python<'_>,
    p: *const u8,
    n: usize,
    stride: isize,
    dtype: DType,
) -> PyResult<Bound<'_, PyAny>> {
    dispatch!(all dtype, |T| {
        let at = |k: usize| (p as *const T).wrapping_offset(k as isize * stride);
        // SAFETY: `n` elements, `stride` elements apart, by the caller's promise.
        list(py, n, |k| unsafe { at(k).read() }.number(py))
    }, else Err(Error::unsupported("tolist", dtype).raise()))
}

/// An element of this dtype.
pub fn number<'py>(
    py: Python<'py>,
    x: &ElementBytes,
    dtype: DType,
    op: &'static str,
) -> PyResult<Bound<'py, PyAny>> {
    dispatch!(all dtype, |T| {
        // SAFETY: the value is an element of the dtype, by the caller's promise; any bytes are
        // values of `T`, and aligned.
        unsafe { (x.as_ptr() as *const T).read() }.number(py)
    }, else Err(Error::unsupported(op, dtype).raise()))
}

/// The element of a tensor with exactly one.
pub fn item<'py>(py: Python<'py>, t: &Tensor, op: &'static str) -> PyResult<Bound<'py, PyAny>> {
    number(py, &t.value(op).raise()?, t.dtype(), op)
}

/// The elements as nested lists; a number if the tensor is 0-dimensional.
pub fn tolist<'py>(py: Python<'py>, t: &Tensor) -> PyResult<Bound<'py, PyAny>> {
    if t.rank() > DEEPEST {
        return Err(PyValueError::new_err(format!(
            "tolist: {} dimensions exceed the limit of {DEEPEST}",
            t.rank()
        )));
    }
    if t.rank() == 0 {
        item(py, t, "tolist")
    } else {
        nested(py, t, 0, t.as_ptr())
    }
}

fn nested<'py>(
    py: Python<'py>,
    t: &Tensor,
    axis: usize,
    p: *const u8,
) -> PyResult<Bound<'py, PyAny>> {
    let (n, stride) = (t.shape()[axis], t.strides()[axis]);
    if axis + 1 == t.rank() {
        // SAFETY: the elements of the last axis, from `p` on, are the tensor's (TENSOR1, TENSOR2);
        // in an empty tensor none is read.
        return unsafe { row(py, p, if t.is_empty() { 0 } else { n }, stride, t.dtype()) };
    }
    let step = stride.wrapping_mul(t.dtype().size() as isize); // LAYOUT3 if there is an element
    list(py, n, |k| {
        nested(
            py,
            t,
            axis + 1,
            p.wrapping_offset(step.wrapping_mul(k as isize)),
        )
    })
}
