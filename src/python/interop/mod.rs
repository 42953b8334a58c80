//! Memory shared with other libraries, both ways and without a copy where the two sides' layouts
//! allow it: the buffer protocol, DLPack, NumPy's `__array_interface__` and `__array__`, Arrow's
//! arrays, pickle's out-of-band buffers.
//!
//! - INTEROP1. What flex lends is read-only, and each loan holds a clone of the tensor:
//!   copy-on-write sees it, so nobody's view changes when the tensor is written to, and the memory
//!   lives as long as the last loan. It holds a [`Lent`](crate::storage::Lent) too: a borrower who
//!   writes all the same, as torch does, gets right results, and memory that comes back is known
//!   again.
//! - INTEROP2. What flex borrows is held by a Python object (a [`Lease`](foreign::Lease)) that
//!   gives it back when it dies. Tensors may die on any thread; Python objects dropped there wait
//!   in PyO3's queue for the next thread that holds the GIL, so no thread of flex's waits for the
//!   interpreter.

mod arrow;
mod buffer;
mod bytes;
mod dlpack;
mod foreign;
mod interface;
pub mod numpy;
pub mod pickle;
pub mod ufunc;

use super::cell::PyTensor;
use super::convert::{Device, kind};
use crate::Tensor;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyString, PyType};

/// The array that `x` is, as an operand; none where it is none. Bytes are data, but no operands.
pub fn borrow(x: &Bound<PyAny>) -> PyResult<Option<Tensor>> {
    if x.is_instance_of::<PyBytes>() || x.is_instance_of::<PyByteArray>() {
        return Ok(None);
    }
    import(x, None)
}

/// A tensor of the elements of `x`, which has a buffer, `__dlpack__`, `__array_interface__`,
/// `__arrow_c_array__` or `__array__`: borrowed where they can be read where they lie, unless
/// `copy` is true. Where they can't, a copy, unless `copy` is false. None where `x` has none of
/// them.
pub fn import(x: &Bound<PyAny>, copy: Option<bool>) -> PyResult<Option<Tensor>> {
    // a class has the methods of its instances, and is no array
    if x.is_instance_of::<PyString>() || x.is_instance_of::<PyType>() || x.is_none() {
        return Ok(None);
    }
    if buffer::has_one(x) {
        return match buffer::import(x, copy) {
            Ok(t) => Ok(Some(t)),
            Err(e) => match numpy::bits(x)? {
                Some((bits, dtype)) => Ok(Some(buffer::import(&bits, copy)?.bitcast(dtype)?)),
                None => Err(e),
            },
        };
    }
    if let Some(interface) = x.getattr_opt("__array_interface__")? {
        return interface::import(x, &interface, copy).map(Some);
    }
    // before DLPack, where pyarrow has no bools and says nothing of nulls
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

/// A tensor that shares the memory of an object with `__dlpack__`: who writes to one sees it in the
/// other. `copy=True` makes one apart, `copy=False` errors where a copy is needed; so do objects on
/// another device, unless `device="cpu"` asks for a copy here.
///
/// >>> flex.from_dlpack(flex.asarray([1, 2])).tolist()
/// [1, 2]
#[pyfunction]
#[pyo3(signature = (x, /, *, device = None, copy = None))]
fn from_dlpack(x: &Bound<PyAny>, device: Option<Device>, copy: Option<bool>) -> PyResult<PyTensor> {
    dlpack::import(x, device, copy).map(PyTensor::new)
}

pub(super) fn register(m: &Bound<PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(from_dlpack, m)?)?;
    bytes::register(m)?;
    m.add_function(wrap_pyfunction!(pickle::_rebuild, m)?)
}
