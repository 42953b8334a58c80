//! Memory shared with other libraries, in both directions, without a copy if the layouts allow it:
//! the buffer protocol, DLPack, NumPy's `__array_interface__` and `__array__`, Arrow's arrays,
//! pickle's out-of-band buffers.
//!
//! - INTEROP1. flex lends read-only, and each loan holds a clone of the tensor: copy-on-write sees
//!   it, so no borrower's view changes when the tensor is written to, and the memory lives as long
//!   as the last loan. It holds a [`Loan`](flex::storage::Loan) too: a borrower that writes all
//!   the same, as torch does, still gets right results, and memory that comes back is recognised.
//! - INTEROP2. What flex borrows is held by a Python object (a [`Lease`](foreign::Lease)) that
//!   releases it when it is dropped. Tensors may be dropped on any thread; Python objects dropped
//!   there wait in PyO3's queue for the next thread that holds the GIL, so no thread of flex waits
//!   for the interpreter.

mod arrow;
mod buffer;
pub mod bytes;
mod dlpack;
mod foreign;
mod interface;
pub mod numpy;
pub mod pickle;
pub mod ufunc;

use super::cell::PyTensor;
use super::convert::{Device, kind};
use super::deferred;
use crate::convert::error::Raise;
use flex::Tensor;
use flex::storage::Loan;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyString, PyType};

/// Lends the memory of a tensor (INTEROP1). Queued operations that read it run before, since the
/// borrower may write to it.
fn lend(py: Python<'_>, t: &Tensor) -> PyResult<Loan> {
    deferred::stream::before_loan(py, t)?;
    Ok(t.storage().lend())
}

/// `x` as an array operand; `None` if it isn't an array. Bytes are data, but not operands.
pub fn borrow(x: &Bound<PyAny>) -> PyResult<Option<Tensor>> {
    if x.is_instance_of::<PyBytes>() || x.is_instance_of::<PyByteArray>() {
        return Ok(None);
    }
    import(x, None)
}

/// A tensor of the elements of `x`, which has a buffer, `__dlpack__`, `__array_interface__`,
/// `__arrow_c_array__` or `__array__`: borrowed if they can be read in place, unless `copy` is
/// true; otherwise a copy, unless `copy` is false. `None` if `x` has none of these.
pub fn import(x: &Bound<PyAny>, copy: Option<bool>) -> PyResult<Option<Tensor>> {
    // a class has the methods of its instances, but isn't an array
    if x.is_instance_of::<PyString>() || x.is_instance_of::<PyType>() || x.is_none() {
        return Ok(None);
    }
    if buffer::has_one(x) {
        return match buffer::import(x, copy) {
            Ok(t) => Ok(Some(t)),
            Err(e) => match numpy::bits(x)? {
                Some((bits, dtype)) => {
                    Ok(Some(buffer::import(&bits, copy)?.bitcast(dtype).raise()?))
                }
                None => Err(e),
            },
        };
    }
    if let Some(interface) = x.getattr_opt("__array_interface__")? {
        return interface::import(x, &interface, copy).map(Some);
    }
    // before DLPack, in which pyarrow has no bools and drops nulls silently
    if let Some(export) = x.getattr_opt("__arrow_c_array__")? {
        return arrow::import(x, &export, copy).map(Some);
    }
    if x.hasattr("__dlpack__")? && x.hasattr("__dlpack_device__")? {
        return dlpack::import(x, None, copy).map(Some);
    }
    if let Ok(convert) = x.getattr("__array__") {
        let array = convert.call0()?;
        if !buffer::has_one(&array) {
            return Err(PyTypeError::new_err(format!(
                "{}.__array__() gave {}, which has no buffer",
                kind(x),
                kind(&array)
            )));
        }
        return import(&array, copy);
    }
    Ok(None)
}

/// A tensor that shares the memory of an object with `__dlpack__`: writes to that object are seen
/// in the tensor. `copy=True` always copies. TypeError without `__dlpack__`; BufferError if
/// `copy=False` and a copy is needed, and for objects on another device, unless `device="cpu"`
/// requests a copy.
///
/// >>> flex.from_dlpack(flex.asarray([1, 2])).tolist()
/// [1, 2]
#[function(x: "_DLPack", /, *, device = None, copy = None)]
fn from_dlpack(x: &Bound<PyAny>, device: Option<Device>, copy: Option<bool>) -> PyResult<PyTensor> {
    dlpack::import(x, device, copy).map(PyTensor::new)
}
