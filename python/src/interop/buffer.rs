//! The buffer protocol (PEP 3118), export and import.

use super::foreign::{Foreign, Lease};
use crate::cell::PyTensor;
use crate::convert::error::DTypeError;
use crate::convert::kind;
use crate::tensor::byte_strides;
use flex::dtype::Class;
use flex::layout::Layout;
use flex::storage::Loan;
use flex::{DType, Tensor};
use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use smallvec::SmallVec;
use std::ffi::{CStr, c_char, c_int};

/// The most dimensions that the protocol allows.
pub const MAX_RANK: usize = 64;

/// What an exported buffer points to; freed on release.
struct Export {
    /// Keeps the memory alive, and makes copy-on-write see the loan (INTEROP1).
    tensor: Tensor,
    _loan: Loan,
    shape: SmallVec<[isize; 6]>,
    strides: SmallVec<[isize; 6]>,
    /// NUL-terminated.
    format: [u8; 4],
}

#[pymethods]
impl PyTensor {
    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        let tensor = slf.get().tensor(slf.py())?;
        let loan = super::lend(slf.py(), &tensor)?;
        let export = Export::new(tensor, loan, flags).map_err(PyBufferError::new_err);
        if view.is_null() {
            return Err(PyBufferError::new_err("no view to fill"));
        }
        let asked = |flag: c_int| flags & flag == flag;
        let mut filled = ffi::Py_buffer::new();
        let result = export.map(|mut export| {
            let size = export.tensor.dtype().size();
            filled.buf = export.tensor.as_ptr().cast_mut().cast();
            filled.len = (export.tensor.len() * size) as isize;
            filled.itemsize = size as isize;
            filled.readonly = 1;
            // without a shape, the buffer is one row of bytes
            filled.ndim = if asked(ffi::PyBUF_ND) {
                export.shape.len() as c_int
            } else {
                1
            };
            // pointers into the boxed Export, whose arrays don't move until the release
            if asked(ffi::PyBUF_FORMAT) {
                filled.format = export.format.as_mut_ptr().cast();
            }
            if asked(ffi::PyBUF_ND) {
                filled.shape = export.shape.as_mut_ptr();
            }
            if asked(ffi::PyBUF_STRIDES) {
                filled.strides = export.strides.as_mut_ptr();
            }
            filled.internal = Box::into_raw(export).cast();
            filled.obj = slf.into_any().into_ptr();
        });
        // SAFETY: the caller's view, for writing; on an error its `obj` must be null.
        unsafe { view.write(filled) };
        result
    }
    unsafe fn __releasebuffer__(&self, view: *mut ffi::Py_buffer) {
        // SAFETY: `internal` is the Export of `__getbuffer__`, released once.
        drop(unsafe { Box::from_raw((*view).internal.cast::<Export>()) });
    }
}

impl Export {
    /// An export of the kind that `flags` request, or the reason there is none.
    fn new(tensor: Tensor, loan: Loan, flags: c_int) -> Result<Box<Export>, String> {
        let asked = |flag: c_int| flags & flag == flag;
        let dtype = tensor.dtype();
        if asked(ffi::PyBUF_WRITABLE) {
            return Err(
                "the buffers of a Tensor are read-only: take a copy, such as numpy.array(t)".into(),
            );
        }
        // consumers that request no format read bytes
        if dtype.format().is_empty() && asked(ffi::PyBUF_FORMAT) {
            return Err(format!(
                "the buffer protocol has no format for {dtype}: use t.numpy(), t.view(\"uint8\") \
                    or t.astype(flex.float32)"
            ));
        }
        if tensor.rank() > MAX_RANK {
            return Err(format!(
                "{} dimensions exceed the buffer protocol's limit of {MAX_RANK}",
                tensor.rank()
            ));
        }
        let c = tensor.is_contiguous();
        let f = || columns_first(&tensor);
        let wanted = if asked(ffi::PyBUF_ANY_CONTIGUOUS) {
            c || f()
        } else if asked(ffi::PyBUF_F_CONTIGUOUS) {
            f()
        } else if asked(ffi::PyBUF_C_CONTIGUOUS) || !asked(ffi::PyBUF_STRIDES) {
            c
        } else {
            true
        };
        if !wanted {
            return Err(
                "the elements are not contiguous in the requested order: take t.contiguous() first"
                    .into(),
            );
        }
        let mut format = [0; 4];
        format[..dtype.format().len()].copy_from_slice(dtype.format().as_bytes());
        let shape = tensor.shape().iter().map(|d| *d as isize).collect();
        // consumers take no other strides for contiguous, and any are right where there are no elements
        let plain = tensor
            .is_empty()
            .then(|| Layout::contiguous(tensor.shape()).ok())
            .flatten();
        let strides = byte_strides(plain.as_ref().unwrap_or(tensor.layout()), dtype).collect();
        Ok(Box::new(Export {
            shape,
            strides,
            format,
            _loan: loan,
            tensor,
        }))
    }
}

/// Whether the elements are adjacent in column-major order.
fn columns_first(t: &Tensor) -> bool {
    let axes: SmallVec<[isize; 6]> = (0..t.rank() as isize).rev().collect();
    t.permute(&axes).is_ok_and(|t| t.is_contiguous())
}

/// Whether an object supports the buffer protocol.
pub fn has_one(x: &Bound<PyAny>) -> bool {
    // SAFETY: a live object, with the GIL held.
    unsafe { ffi::PyObject_CheckBuffer(x.as_ptr()) != 0 }
}

/// A buffer acquired from an object. Boxed, since exporters may point into the view itself.
pub struct PyBuffer(Box<ffi::Py_buffer>);

/// The kind of buffer requested of an exporter.
pub enum BufferRequest {
    /// Elements, with their format, shape and strides.
    Elements,
    /// Contiguous bytes.
    Bytes,
}

// SAFETY: the view is read when it is taken, and released in `drop`, which runs with the GIL held
// (it lies in a Lease, INTEROP2).
unsafe impl Send for PyBuffer {}
// SAFETY: a shared view gives out nothing but numbers that were read when it was taken.
unsafe impl Sync for PyBuffer {}

impl PyBuffer {
    /// Acquires the buffer of an object, whose memory does not move until it is dropped.
    pub fn take(x: &Bound<PyAny>, order: BufferRequest) -> PyResult<PyBuffer> {
        let flags = match order {
            BufferRequest::Elements => ffi::PyBUF_RECORDS_RO,
            BufferRequest::Bytes => ffi::PyBUF_SIMPLE,
        };
        let mut view = Box::new(ffi::Py_buffer::new());
        // SAFETY: a live object and a view to fill, with the GIL held.
        if unsafe { ffi::PyObject_GetBuffer(x.as_ptr(), &mut *view, flags) } != 0 {
            let why = PyErr::fetch(x.py());
            let message = format!(
                "the buffer of {} can't be read as numbers: {}",
                kind(x),
                why.value(x.py())
            );
            let error = match order {
                BufferRequest::Elements => DTypeError::new_err(message),
                BufferRequest::Bytes if why.is_instance_of::<PyTypeError>(x.py()) => {
                    PyTypeError::new_err(message)
                }
                BufferRequest::Bytes => PyBufferError::new_err(message),
            };
            error.set_cause(x.py(), Some(why));
            return Err(error);
        }
        Ok(PyBuffer(view))
    }
    /// The pointer and length of the bytes of [`BufferRequest::Bytes`].
    pub fn bytes(&self) -> (*const u8, usize) {
        (self.0.buf.cast_const().cast(), self.0.len.max(0) as usize)
    }
}

impl Drop for PyBuffer {
    fn drop(&mut self) {
        // SAFETY: filled by PyObject_GetBuffer, released once, with the GIL held (INTEROP2).
        unsafe { ffi::PyBuffer_Release(&mut *self.0) }
    }
}

/// A tensor of the elements of an object's buffer; `copy` as in [`super::import`].
pub fn import(x: &Bound<PyAny>, copy: Option<bool>) -> PyResult<Tensor> {
    let view = PyBuffer::take(x, BufferRequest::Elements)?;
    let v = &*view.0;
    let format = match v.format {
        p if p.is_null() => c"B",
        // SAFETY: the exporter's NUL-terminated string, alive as long as the view.
        p => unsafe { CStr::from_ptr(p as *const c_char) },
    };
    let unknown = || {
        DTypeError::new_err(format!(
            "the buffer of {} has format {format:?}, for which flex has no dtype",
            kind(x)
        ))
    };
    let (dtype, swapped) = parse(format.to_bytes(), v.itemsize).ok_or_else(unknown)?;
    let rank = usize::try_from(v.ndim)
        .ok()
        .filter(|n| *n <= MAX_RANK && (*n == 0 || !v.shape.is_null()));
    let rank = rank.ok_or_else(|| {
        PyBufferError::new_err(format!("a buffer of {} dimensions without a shape", v.ndim))
    })?;
    if !v.suboffsets.is_null() {
        return Err(PyBufferError::new_err(
            "buffers of pointers (suboffsets) are not supported",
        ));
    }
    // SAFETY: arrays of `rank` entries of the exporter's, alive as long as the view.
    let (shape, strides) = unsafe {
        let shape = if rank == 0 {
            &[]
        } else {
            std::slice::from_raw_parts(v.shape, rank)
        };
        (
            shape,
            if rank == 0 || v.strides.is_null() {
                None
            } else {
                Some(std::slice::from_raw_parts(v.strides, rank))
            },
        )
    };
    let foreign = Foreign::new(v.buf.cast_const().cast(), shape, strides, dtype, swapped)?;
    let lease = Lease::new(x.py(), view)?;
    // SAFETY: the exporter keeps the buffer as it described it until the view is released, which
    // the lease does.
    unsafe { foreign.tensor(lease, copy) }
}

/// The dtype of a format of one number, and whether its byte order differs from this machine's.
fn parse(format: &[u8], size: isize) -> Option<(DType, bool)> {
    let (order, code) = match format {
        [order @ (b'@' | b'=' | b'<' | b'>' | b'!'), code @ ..] => (*order, code),
        code => (b'@', code),
    };
    let is = |class: Class| match code {
        b"?" => class == Class::Boolean,
        b"b" | b"h" | b"i" | b"l" | b"q" | b"n" => class == Class::Signed,
        b"B" | b"H" | b"I" | b"L" | b"Q" | b"N" => class == Class::Unsigned,
        b"e" | b"f" | b"d" => matches!(class, Class::Half | Class::Float),
        b"Zf" | b"Zd" | b"F" | b"D" => class == Class::Complex,
        _ => false,
    };
    // the size decides: a C long has 4 or 8 bytes
    let dtype = DType::ALL
        .into_iter()
        .find(|d| is(d.class()) && d.size() as isize == size && !d.format().is_empty())?;
    let swapped = match order {
        b'<' => cfg!(target_endian = "big"),
        b'>' | b'!' => cfg!(target_endian = "little"),
        _ => false,
    };
    Some((dtype, swapped && dtype.size() > 1))
}
