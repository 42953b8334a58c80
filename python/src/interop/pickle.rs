//! Pickle: with protocol 5 the elements may be stored out of band, without a copy.

use super::buffer::{BufferRequest, PyBuffer};
use super::bytes::as_bytes;
use super::foreign::Lease;
use crate::cell::PyTensor;
use crate::convert::Ints;
use crate::convert::error::Raise;
use crate::dtype::{self, DTypeArg};
use flex::layout::Layout;
use flex::{Bytes, DType, Error, Tensor};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

/// The pickled form: a function of this module, and the bytes, shape and dtype as its arguments.
pub fn reduce<'py>(object: &Bound<'py, PyTensor>, protocol: i32) -> PyResult<Bound<'py, PyAny>> {
    let py = object.py();
    let t = object.get().tensor(object.py())?.contiguous().raise()?;
    // bytes have a format in the buffer protocol, which the dtype (bfloat16, float8) may not have
    let shape = PyTuple::new(py, t.shape())?;
    let bytes = Bound::new(py, PyTensor::new(as_bytes(&t).raise()?))?;
    let data = if protocol >= 5 {
        py.import("pickle")?
            .call_method1("PickleBuffer", (bytes,))?
    } else {
        py.get_type::<PyBytes>().call1((bytes,))?
    };
    let rebuild = py.import("flex._flex")?.getattr("_rebuild")?;
    (rebuild, (data, shape, dtype::object(py, t.dtype())?)).into_bound_py_any(py)
}

/// The bytes of an object that a pickle held. `bytes`, as of a pickle with the elements inside, are
/// immutable: weights in them are packed once. Who owns other buffers may write to them.
fn pickled(data: &Bound<PyAny>) -> PyResult<Tensor> {
    if !data.is_exact_instance_of::<PyBytes>() {
        return super::buffer::import(data, None)?.contiguous().raise();
    }
    let view = PyBuffer::take(data, BufferRequest::Bytes)?;
    let (first, len) = view.bytes();
    let lease = Box::new(Lease::new(data.py(), view)?);
    // SAFETY: STORAGE5: the `len` bytes of an immutable object, which the lease keeps alive.
    let bytes = unsafe { Bytes::constant(first, len, lease) };
    Tensor::from_parts(bytes, Layout::contiguous(&[len]).raise()?, DType::U8).raise()
}

/// A tensor from pickled bytes, which it borrows.
#[function(data: "_Operand", shape, dtype)]
pub fn _rebuild(data: &Bound<PyAny>, shape: Ints, dtype: DTypeArg) -> PyResult<PyTensor> {
    let (bytes, dtype, shape) = (pickled(data)?, dtype.0, shape.shape("pickle", "shape")?);
    let layout = Layout::contiguous(&shape).raise()?;
    if bytes.dtype().size() != 1 || layout.len().checked_mul(dtype.size()) != Some(bytes.len()) {
        return Err(Error::value(
            "pickle",
            format!(
                "{} bytes are not a tensor of shape {shape:?} and {dtype}",
                bytes.len()
            ),
        )
        .raise());
    }
    // misaligned foreign bytes are copied to owned storage, which is aligned
    let first = Some(bytes.layout().offset()).filter(|offset| offset % dtype.size() == 0);
    let placed =
        first.and_then(|offset| Layout::new(&shape, layout.strides(), offset / dtype.size()).ok());
    let borrowed =
        placed.and_then(|placed| Tensor::from_parts(bytes.storage().clone(), placed, dtype).ok());
    Ok(PyTensor::new(match borrowed {
        Some(t) => t,
        None => {
            Tensor::from_parts(bytes.copy().raise()?.storage().clone(), layout, dtype).raise()?
        }
    }))
}
