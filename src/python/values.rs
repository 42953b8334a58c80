//! Single elements and nested lists of them, as Python's numbers.

use crate::dtype::{Bool, Complex64, Complex128, Element, bf16, f16};
use crate::scalar::Value;
use crate::{DType, Error, Tensor};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyComplex, PyList};

/// Lists nested deeper than this are not made: the reader's recursion is limited.
const DEEPEST: usize = 512;

/// Element types as Python's numbers.
trait ToPython: Element {
    fn number(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>>;
}
macro_rules! to_python {
    ($($($T:ty)+ => |$x:ident, $py:ident| $e:expr;)*) => { $($(impl ToPython for $T {
        fn number(self, $py: Python<'_>) -> PyResult<Bound<'_, PyAny>> { let $x = self; $e.into_bound_py_any($py) }
    })+)* };
}
to_python! {
    Bool => |x, py| x.get();
    i8 i16 i32 i64 u8 u16 u32 u64 f64 => |x, py| x;
    f32 => |x, py| f64::from(x);
    f16 bf16 => |x, py| x.to_f64();
    Complex64 => |x, py| PyComplex::from_doubles(py, x.re.into(), x.im.into());
    Complex128 => |x, py| PyComplex::from_doubles(py, x.re, x.im);
}

/// The elements of one axis, `n` of them `stride` elements apart, from `p` on.
///
/// # Safety
/// They are readable and of `dtype`, which their addresses are aligned for.
unsafe fn row(py: Python<'_>, p: *const u8, n: usize, stride: isize, dtype: DType) -> PyResult<Vec<Bound<'_, PyAny>>> {
    dispatch!(all dtype, |T| {
        let at = |k: usize| (p as *const T).wrapping_offset(k as isize * stride);
        // SAFETY: `n` elements, `stride` of them apart, by the caller's promise.
        (0..n).map(|k| unsafe { at(k).read() }.number(py)).collect()
    }, else Err(Error::unsupported("tolist", dtype).into()))
}

/// An element of this dtype.
pub fn number<'py>(py: Python<'py>, x: &Value, dtype: DType, op: &'static str) -> PyResult<Bound<'py, PyAny>> {
    dispatch!(all dtype, |T| {
        // SAFETY: the value is an element of the dtype by the caller's word; any bytes are values of `T`, and aligned.
        unsafe { (x.as_ptr() as *const T).read() }.number(py)
    }, else Err(Error::unsupported(op, dtype).into()))
}

/// The one element of a tensor of one.
pub fn item<'py>(py: Python<'py>, t: &Tensor, op: &'static str) -> PyResult<Bound<'py, PyAny>> {
    number(py, &t.value(op)?, t.dtype(), op)
}

/// The elements as nested lists; a number where the rank is 0.
pub fn tolist<'py>(py: Python<'py>, t: &Tensor) -> PyResult<Bound<'py, PyAny>> {
    if t.rank() > DEEPEST {
        return Err(PyValueError::new_err(format!("tolist: {} dimensions are more than {DEEPEST}", t.rank())));
    }
    if t.rank() == 0 { item(py, t, "tolist") } else { nested(py, t, 0, t.as_ptr()) }
}

fn nested<'py>(py: Python<'py>, t: &Tensor, axis: usize, p: *const u8) -> PyResult<Bound<'py, PyAny>> {
    let (n, stride) = (t.shape()[axis], t.strides()[axis]);
    let items = if axis + 1 == t.rank() {
        // SAFETY: the elements of the last axis, from `p` on, are the tensor's (T1, T2); of an empty tensor, none is reached.
        unsafe { row(py, p, if t.is_empty() { 0 } else { n }, stride, t.dtype()) }?
    } else {
        let step = stride.wrapping_mul(t.dtype().size() as isize); // L3 where there is an element
        (0..n).map(|k| nested(py, t, axis + 1, p.wrapping_offset(step.wrapping_mul(k as isize)))).collect::<PyResult<_>>()?
    };
    Ok(PyList::new(py, items)?.into_any())
}
