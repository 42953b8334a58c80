//! `from_dlpack`.

use super::{CPU, DlTensor, IS_COPIED, Legacy, Managed, VERSION, Versioned};
use crate::convert::{self, kind};
use crate::interop::foreign::{Foreign, Lease};
use flex::Tensor;
use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};
use std::ptr::NonNull;

/// A tensor taken out of a capsule, for the producer to delete.
struct TakenManaged<M: Managed>(NonNull<M>);

// SAFETY: a producer's struct is read when it is taken, and deleted in `drop`; DLPack allows that
// from any thread.
unsafe impl<M: Managed> Send for TakenManaged<M> {}
// SAFETY: a shared struct gives out nothing but values that were read when it was taken.
unsafe impl<M: Managed> Sync for TakenManaged<M> {}

impl<M: Managed> TakenManaged<M> {
    /// Takes the tensor out of a fresh capsule, which is then used. `None` if it is of another
    /// kind.
    fn from_capsule(capsule: &Bound<PyCapsule>) -> PyResult<Option<TakenManaged<M>>> {
        let (raw, names) = (capsule.as_ptr(), M::NAMES);
        // SAFETY: a live capsule, with the GIL held; the name is checked before the pointer is
        // taken, and changed before anybody else can take it.
        unsafe {
            if ffi::PyCapsule_IsValid(raw, names.fresh.as_ptr()) == 0 {
                return Ok(None);
            }
            let pointer =
                NonNull::new(ffi::PyCapsule_GetPointer(raw, names.fresh.as_ptr()).cast::<M>());
            let Some(pointer) = pointer else {
                return Err(PyErr::fetch(capsule.py()));
            };
            if ffi::PyCapsule_SetName(raw, names.used.as_ptr()) != 0 {
                return Err(PyErr::fetch(capsule.py()));
            }
            Ok(Some(TakenManaged(pointer)))
        }
    }
    fn managed(&self) -> &M {
        // SAFETY: the producer keeps the struct until its deleter is called, in `drop`.
        unsafe { self.0.as_ref() }
    }
}

impl<M: Managed> Drop for TakenManaged<M> {
    fn drop(&mut self) {
        if let Some(delete) = self.managed().deleter() {
            // SAFETY: the producer's deleter with its own struct, once.
            unsafe { delete(self.0.as_ptr()) }
        }
    }
}

/// `x`, or its elements written out if it is a view of torch's that negates or conjugates what is in
/// memory as it is read: DLPack can't say so, and torch hands out the bare memory.
fn written_out<'py>(x: &Bound<'py, PyAny>, copy: Option<bool>) -> PyResult<Bound<'py, PyAny>> {
    let mut x = x.clone();
    for (asked, resolve) in [("is_neg", "resolve_neg"), ("is_conj", "resolve_conj")] {
        let Some(is_set) = x.getattr_opt(asked)? else {
            continue;
        };
        if !is_set.call0().and_then(|b| b.extract()).unwrap_or(false) {
            continue;
        }
        if copy == Some(false) {
            return Err(PyBufferError::new_err(format!(
                "from_dlpack: {asked}() is true: that needs a copy, and copy is False"
            )));
        }
        x = x.call_method0(resolve)?;
    }
    Ok(x)
}

/// A tensor of the elements of an object with `__dlpack__`; `copy` as in [`super::super::import`].
/// With `device`, the producer copies from any device.
pub fn import(
    x: &Bound<PyAny>,
    device: Option<convert::Device>,
    copy: Option<bool>,
) -> PyResult<Tensor> {
    let py = x.py();
    let missing = || {
        PyTypeError::new_err(format!(
            "from_dlpack: expected an object with __dlpack__, got {}",
            kind(x)
        ))
    };
    if !x.hasattr("__dlpack__")? {
        return Err(missing());
    }
    let x = &written_out(x, copy)?;
    let export = x.getattr("__dlpack__")?;
    let (device_kind, id) = x
        .call_method0("__dlpack_device__")?
        .extract::<(i32, i32)>()?;
    if device_kind != CPU && (device.is_none() || copy == Some(false)) {
        let message = format!(
            "from_dlpack: the tensor is on DLPack device ({device_kind}, {id}), flex on the CPU \
                (1, 0): bring it there first"
        );
        return Err(PyBufferError::new_err(message));
    }
    let arguments = PyDict::new(py);
    arguments.set_item("max_version", (VERSION.major, VERSION.minor))?;
    if device_kind != CPU {
        arguments.set_item("dl_device", (CPU, 0))?;
    }
    if copy == Some(false) {
        arguments.set_item("copy", false)?;
    }
    let capsule = match export.call((), Some(&arguments)) {
        // producers from before version 1 don't have these arguments
        Err(e) if e.is_instance_of::<PyTypeError>(py) && device_kind == CPU => export.call0()?,
        result => result?,
    };
    let capsule = capsule.cast::<PyCapsule>().map_err(|_| {
        PyTypeError::new_err(format!("{}.__dlpack__() did not return a capsule", kind(x)))
    })?;
    if let Some(taken) = TakenManaged::<Versioned>::from_capsule(capsule)? {
        let managed = taken.managed();
        if managed.version.major != VERSION.major {
            let message = format!(
                "from_dlpack: version {}.{} is not supported",
                managed.version.major, managed.version.minor
            );
            return Err(PyBufferError::new_err(message));
        }
        if copy == Some(false) && managed.flags & IS_COPIED != 0 {
            return Err(PyBufferError::new_err(
                "from_dlpack: the producer made a copy, and copy is False",
            ));
        }
        let foreign = describe(&managed.tensor)?;
        // SAFETY: the producer keeps the elements as described until its deleter is called, by the
        // lease.
        return unsafe { foreign.tensor(Lease::new(py, taken)?, copy) };
    }
    if let Some(taken) = TakenManaged::<Legacy>::from_capsule(capsule)? {
        let foreign = describe(&taken.managed().tensor)?;
        // SAFETY: this producer, too, keeps the elements as described until its deleter is called,
        // by the lease.
        return unsafe { foreign.tensor(Lease::new(py, taken)?, copy) };
    }
    Err(PyBufferError::new_err(
        "from_dlpack: the capsule was consumed already, or holds something else",
    ))
}

/// The elements of a producer's tensor, validated.
fn describe(t: &DlTensor) -> PyResult<Foreign> {
    let refuse = |message: String| PyBufferError::new_err(format!("from_dlpack: {message}"));
    if t.device.kind != CPU {
        return Err(refuse(format!(
            "the tensor is on DLPack device ({}, {}), flex on the CPU (1, 0)",
            t.device.kind, t.device.id
        )));
    }
    let d = t.dtype;
    let unknown = || {
        refuse(format!(
            "flex has no dtype of DLPack code {}, {} bits, {} lanes",
            d.code, d.bits, d.lanes
        ))
    };
    let dtype = d.dtype().ok_or_else(unknown)?;
    let rank = usize::try_from(t.ndim)
        .ok()
        .filter(|n| *n == 0 || !t.shape.is_null());
    let rank = rank.ok_or_else(|| refuse(format!("{} dimensions without a shape", t.ndim)))?;
    let list = |p: *mut i64| -> PyResult<Vec<isize>> {
        let values = match rank {
            0 => &[],
            // SAFETY: an array of the producer's, of `ndim` entries.
            _ => unsafe { std::slice::from_raw_parts(p, rank) },
        };
        values
            .iter()
            .map(|v| {
                isize::try_from(*v).map_err(|_| refuse(format!("size or stride {v} is too large")))
            })
            .collect()
    };
    let shape = list(t.shape)?;
    let strides = if t.strides.is_null() {
        None
    } else {
        Some(list(t.strides)?)
    };
    // in bytes; the stride of a dimension of size 1 is arbitrary
    let bytes = |(d, s): (&isize, isize)| match *d {
        0 | 1 => Ok(0),
        _ => s
            .checked_mul(dtype.size() as isize)
            .ok_or_else(|| refuse(format!("stride {s} is too large"))),
    };
    let strides = strides
        .map(|s| shape.iter().zip(s).map(bytes).collect::<PyResult<Vec<_>>>())
        .transpose()?;
    let offset = usize::try_from(t.byte_offset)
        .map_err(|_| refuse(format!("byte offset {} is too large", t.byte_offset)))?;
    let first = if t.data.is_null() {
        std::ptr::null()
    } else {
        t.data.cast_const().cast::<u8>().wrapping_add(offset)
    };
    Foreign::new(first, &shape, strides.as_deref(), dtype, false)
}
