//! `Tensor.__dlpack__`.

use super::{
    CPU, DataType, DlDevice, DlTensor, IS_COPIED, Legacy, Managed, READ_ONLY, VERSION, Versioned,
};
use crate::cell::PyTensor;
use crate::convert::error::Raise;
use flex::Tensor;
use flex::storage::Loan;
use pyo3::exceptions::{PyBufferError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::c_void;
use std::ptr;

/// An exported tensor: the struct that the consumer sees, and what keeps its pointers valid.
#[repr(C)]
struct Export<M> {
    /// The first field, so that a pointer to it is a pointer to the loan.
    managed: M,
    /// Keeps the memory alive, and makes copy-on-write see the loan (INTEROP1).
    _tensor: Tensor,
    _loan: Loan,
    _shape: Box<[i64]>,
    _strides: Box<[i64]>,
}

/// Frees a loan. Consumers call it once, from any thread, with or without the GIL (INTEROP2).
unsafe extern "C" fn give_back<M>(managed: *mut M) {
    if !managed.is_null() {
        // SAFETY: the first field of the Export that `lend` made.
        drop(unsafe { Box::from_raw(managed.cast::<Export<M>>()) });
    }
}

/// Frees the loan of a capsule that no consumer has taken; a taken one was renamed.
unsafe extern "C" fn drop_capsule<M: Managed>(capsule: *mut ffi::PyObject) {
    // SAFETY: called with the GIL by the interpreter, with a capsule of this module's; the name
    // tells whether the pointer is still its own. Neither call raises for a capsule of that name.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, M::NAMES.fresh.as_ptr()) != 0 {
            give_back::<M>(ffi::PyCapsule_GetPointer(capsule, M::NAMES.fresh.as_ptr()).cast());
        }
    }
}

/// A capsule of a tensor, whose struct `make` fills in.
fn lend<M: Managed>(
    py: Python<'_>,
    t: Tensor,
    make: impl FnOnce(DlTensor) -> M,
) -> PyResult<Bound<'_, PyAny>> {
    let mut shape: Box<[i64]> = t.shape().iter().map(|d| *d as i64).collect();
    let mut strides: Box<[i64]> = t.strides().iter().map(|s| *s as i64).collect();
    let described = DlTensor {
        data: if t.is_empty() {
            ptr::null_mut()
        } else {
            t.as_ptr().cast_mut().cast()
        },
        device: DlDevice { kind: CPU, id: 0 },
        ndim: t.rank() as i32,
        dtype: DataType::of(t.dtype()),
        shape: shape.as_mut_ptr(),
        strides: strides.as_mut_ptr(),
        byte_offset: 0,
    };
    let loan = Box::into_raw(Box::new(Export {
        managed: make(described),
        _loan: crate::interop::lend(py, &t)?,
        _tensor: t,
        _shape: shape,
        _strides: strides,
    }));
    // SAFETY: a pointer that is not null, a static name, the GIL held; on failure the loan is freed
    // here.
    unsafe {
        let capsule = ffi::PyCapsule_New(
            loan.cast::<c_void>(),
            M::NAMES.fresh.as_ptr(),
            Some(drop_capsule::<M>),
        );
        if capsule.is_null() {
            give_back::<M>(loan.cast());
        }
        Bound::from_owned_ptr_or_err(py, capsule)
    }
}

#[pymethods]
impl PyTensor {
    /// A DLPack capsule. Consumers of version 1 get the tensor's memory, marked read-only; older
    /// ones, which don't know the mark, get a copy, or with `copy=False` the memory itself, which
    /// they must not write to. BufferError for another device, and for memory that the system or its
    /// owner keeps read-only where an older consumer asks for no copy; ValueError for a stream.
    #[pyo3(signature = (*, stream = None, max_version = None, dl_device = None, copy = None))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        stream: Option<&Bound<'py, PyAny>>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(i32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if stream.is_some() {
            return Err(PyValueError::new_err(
                "__dlpack__: the CPU has no streams; stream must be None",
            ));
        }
        if let Some((kind, id)) = dl_device.filter(|d| *d != (CPU, 0)) {
            return Err(PyBufferError::new_err(format!(
                "__dlpack__: the tensor is on the CPU, not on device ({kind}, {id})"
            )));
        }
        let t = self.tensor(py)?;
        let versioned = max_version.is_some_and(|(major, _)| major >= 1);
        // a write to a page that is mapped read-only, or to a constant, would end the process
        if !versioned && copy == Some(false) && !t.storage().is_owned() {
            let message = "__dlpack__: a consumer of DLPack before 1.0 can't be told that memory is \
                read-only, and this tensor's memory, which another object owns, may be: it needs a copy";
            return Err(PyBufferError::new_err(message));
        }
        let copied = copy.unwrap_or(!versioned);
        let t = if copied { t.copy().raise()? } else { t };
        if versioned {
            let flags = if copied { IS_COPIED } else { READ_ONLY };
            let make = |tensor| Versioned {
                version: VERSION,
                context: ptr::null_mut(),
                deleter: Some(give_back),
                flags,
                tensor,
            };
            lend(py, t, make)
        } else {
            lend(py, t, |tensor| Legacy {
                tensor,
                context: ptr::null_mut(),
                deleter: Some(give_back),
            })
        }
    }
    fn __dlpack_device__(&self) -> (i32, i32) {
        (CPU, 0)
    }
}
