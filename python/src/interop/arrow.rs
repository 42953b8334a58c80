//! Arrow's C data interface for arrays of one dimension, import and export, in the capsules of
//! `__arrow_c_array__`. See <https://arrow.apache.org/docs/format/CDataInterface.html> and
//! <https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html>.
//!
//! Numbers are shared in place. Arrow's bools are bits, so they are copied; nulls, which a Tensor
//! can't have, are refused.

use super::foreign::{Foreign, Lease};
use crate::cell::PyTensor;
use crate::convert::error::DTypeError;
use crate::convert::error::Raise;
use crate::convert::kind;
use flex::dtype::Bool;
use flex::storage::Loan;
use flex::{DType, Error, Tensor};
use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};
use std::ffi::{CStr, c_char, c_void};
use std::ptr;

/// `struct ArrowSchema`.
#[repr(C)]
pub struct Schema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut Schema,
    dictionary: *mut Schema,
    release: Option<unsafe extern "C" fn(*mut Schema)>,
    private_data: *mut c_void,
}

/// `struct ArrowArray`.
#[repr(C)]
pub struct Array {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const c_void,
    children: *mut *mut Array,
    dictionary: *mut Array,
    release: Option<unsafe extern "C" fn(*mut Array)>,
    private_data: *mut c_void,
}

/// Common to both structs: the name of their capsules, and a release callback that is called once
/// with the struct itself.
trait Released: Sized {
    const NAME: &'static CStr;
    fn release(&mut self) -> &mut Option<unsafe extern "C" fn(*mut Self)>;
}
impl Released for Schema {
    const NAME: &'static CStr = c"arrow_schema";
    fn release(&mut self) -> &mut Option<unsafe extern "C" fn(*mut Schema)> {
        &mut self.release
    }
}
impl Released for Array {
    const NAME: &'static CStr = c"arrow_array";
    fn release(&mut self) -> &mut Option<unsafe extern "C" fn(*mut Array)> {
        &mut self.release
    }
}

/// The formats of the dtypes that Arrow has.
const FORMATS: [(DType, &CStr); 12] = [
    (DType::Bool, c"b"),
    (DType::I8, c"c"),
    (DType::I16, c"s"),
    (DType::I32, c"i"),
    (DType::I64, c"l"),
    (DType::U8, c"C"),
    (DType::U16, c"S"),
    (DType::U32, c"I"),
    (DType::U64, c"L"),
    (DType::F16, c"e"),
    (DType::F32, c"f"),
    (DType::F64, c"g"),
];

// ---- export

/// What an exported array points to.
struct Export {
    /// Keeps the memory alive, and makes copy-on-write see the loan (INTEROP1).
    _tensor: Tensor,
    _loan: Loan,
    /// No validity: there are no nulls; and the elements.
    buffers: [*const c_void; 2],
}

unsafe extern "C" fn release_schema(schema: *mut Schema) {
    // SAFETY: a live struct of the caller's, which owns nothing and is marked as released.
    unsafe { (*schema).release = None }
}

unsafe extern "C" fn release_array(array: *mut Array) {
    // SAFETY: the struct that `__arrow_c_array__` filled, wherever it has been moved to, released
    // once: `private_data` is its Export.
    unsafe {
        drop(Box::from_raw((*array).private_data.cast::<Export>()));
        (*array).release = None;
    }
}

/// Frees a capsule's struct, which is released first unless a consumer has moved it out.
unsafe extern "C" fn drop_capsule<S: Released>(capsule: *mut ffi::PyObject) {
    // SAFETY: called once, by the interpreter, with a capsule that `lend` made of a box.
    unsafe {
        let mut content =
            Box::from_raw(ffi::PyCapsule_GetPointer(capsule, S::NAME.as_ptr()).cast::<S>());
        if let Some(release) = *content.release() {
            release(&mut *content);
        }
    }
}

fn lend<S: Released>(py: Python<'_>, content: S) -> PyResult<Bound<'_, PyAny>> {
    let raw = Box::into_raw(Box::new(content));
    // SAFETY: a pointer that is not null, a static name, the interpreter held; on failure the
    // struct is freed here.
    unsafe {
        let capsule = ffi::PyCapsule_New(raw.cast(), S::NAME.as_ptr(), Some(drop_capsule::<S>));
        if capsule.is_null() {
            let mut content = Box::from_raw(raw);
            if let Some(release) = *content.release() {
                release(&mut *content);
            }
        }
        Bound::from_owned_ptr_or_err(py, capsule)
    }
}

/// Reserves `n` more bytes.
fn reserve<T>(bytes: &mut Vec<T>, n: usize) -> flex::Result<()> {
    bytes.try_reserve_exact(n).map_err(|_| Error::Memory {
        bytes: n as u128,
        limit: 0,
    })
}

/// The elements in Arrow's layout: contiguous, bools as bits.
fn laid_out(t: &Tensor) -> flex::Result<Tensor> {
    if !t.dtype().is_bool() {
        return t.contiguous();
    }
    let bools = t.contiguous()?;
    let mut bits = Vec::new();
    reserve(&mut bits, t.len().div_ceil(8))?;
    bits.extend(bools.as_slice::<Bool>()?.chunks(8).map(|c| {
        c.iter()
            .rev()
            .fold(0u8, |byte, b| byte << 1 | b.get() as u8)
    }));
    Tensor::from_slice(&bits, [bits.len()])
}

#[pymethods]
impl PyTensor {
    /// Capsules of Arrow's C data interface, for tensors of one dimension: polars and pyarrow share
    /// their memory. bool is copied to bits. ShapeError for other ranks; DTypeError for bfloat16,
    /// float8 and complex numbers, which Arrow doesn't have.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let _ = requested_schema; // the protocol allows ignoring the requested schema
        let t = self.tensor(py)?;
        let Some((_, format)) = FORMATS.iter().find(|(d, _)| *d == t.dtype()) else {
            return Err(DTypeError::new_err(format!(
                "Arrow has no type for {}: convert the tensor with astype",
                t.dtype()
            )));
        };
        if t.rank() != 1 {
            let message = format!(
                "an Arrow array has one dimension, the tensor {:?}: reshape it to (-1,) first",
                t.shape()
            );
            return Err(Error::shape("__arrow_c_array__", message).raise());
        }
        let elements = laid_out(&t).raise()?;
        let start = elements.as_ptr().cast::<c_void>();
        let loan = Box::new(Export {
            _loan: super::lend(py, &elements)?,
            _tensor: elements,
            buffers: [ptr::null(), start],
        });
        let loan = Box::into_raw(loan);
        let array = Array {
            length: t.len() as i64,
            null_count: 0,
            offset: 0,
            n_buffers: 2,
            n_children: 0,
            // SAFETY: the Export lives on the heap until the release.
            buffers: unsafe { (*loan).buffers.as_mut_ptr() },
            children: ptr::null_mut(),
            dictionary: ptr::null_mut(),
            release: Some(release_array),
            private_data: loan.cast(),
        };
        let schema = Schema {
            format: format.as_ptr(),
            name: c"".as_ptr(),
            metadata: ptr::null(),
            flags: 0,
            n_children: 0,
            children: ptr::null_mut(),
            dictionary: ptr::null_mut(),
            release: Some(release_schema),
            private_data: ptr::null_mut(),
        };
        let array = lend(py, array)?;
        PyTuple::new(py, [lend(py, schema)?, array])
    }
}

// ---- import

/// A struct moved out of its capsule, released on drop.
struct TakenStruct<S: Released>(Box<S>);

// SAFETY: a producer's struct is read when it is taken and released in `drop`, which the interface
// allows from any thread.
unsafe impl<S: Released> Send for TakenStruct<S> {}
// SAFETY: a shared struct gives out nothing but numbers and pointers that were read when it was
// taken.
unsafe impl<S: Released> Sync for TakenStruct<S> {}

impl<S: Released> TakenStruct<S> {
    fn from_capsule(capsule: &Bound<PyAny>) -> PyResult<TakenStruct<S>> {
        let wrong = || {
            PyBufferError::new_err(format!(
                "__arrow_c_array__ did not return a live capsule {:?}",
                S::NAME
            ))
        };
        let capsule = capsule.cast::<PyCapsule>().map_err(|_| wrong())?;
        // SAFETY: a live capsule, with the interpreter held; the name says what it points to, and a
        // struct that is not released yet is moved by copying it and marking the original as
        // released, as the interface has it.
        unsafe {
            if ffi::PyCapsule_IsValid(capsule.as_ptr(), S::NAME.as_ptr()) == 0 {
                return Err(wrong());
            }
            let content = ffi::PyCapsule_GetPointer(capsule.as_ptr(), S::NAME.as_ptr()).cast::<S>();
            if (*content).release().is_none() {
                return Err(wrong());
            }
            let moved = Box::new(ptr::read(content));
            *(*content).release() = None;
            Ok(TakenStruct(moved))
        }
    }
}

impl<S: Released> Drop for TakenStruct<S> {
    fn drop(&mut self) {
        if let Some(release) = *self.0.release() {
            // SAFETY: the producer's own, with its struct, which was not released before.
            unsafe { release(&mut *self.0) }
        }
    }
}

/// A tensor of the elements of an object with `__arrow_c_array__`, which `export` calls; `copy` as
/// in [`super::import`].
pub fn import(x: &Bound<PyAny>, export: &Bound<PyAny>, copy: Option<bool>) -> PyResult<Tensor> {
    let refuse =
        |what: String| PyBufferError::new_err(format!("{}.__arrow_c_array__: {what}", kind(x)));
    let capsules = export.call0()?;
    let (schema, array) = capsules
        .extract::<(Bound<PyAny>, Bound<PyAny>)>()
        .map_err(|_| {
            PyTypeError::new_err(format!(
                "{}.__arrow_c_array__() did not return a pair of capsules",
                kind(x)
            ))
        })?;
    let schema = TakenStruct::<Schema>::from_capsule(&schema)?;
    let taken = TakenStruct::<Array>::from_capsule(&array)?;
    let format = match schema.0.format.is_null() {
        true => c"",
        // SAFETY: the producer's string, which lives until the release.
        false => unsafe { CStr::from_ptr(schema.0.format) },
    };
    let primitive = schema.0.dictionary.is_null() && schema.0.n_children == 0;
    let Some((dtype, _)) = FORMATS.iter().find(|(_, f)| primitive && *f == format) else {
        return Err(DTypeError::new_err(format!(
            "{} holds Arrow's type {format:?}, for which flex has no dtype",
            kind(x)
        )));
    };
    let a = &*taken.0;
    let (Ok(length), Ok(offset)) = (usize::try_from(a.length), usize::try_from(a.offset)) else {
        return Err(refuse(format!(
            "length {} and offset {} are invalid",
            a.length, a.offset
        )));
    };
    if a.n_buffers != 2 || a.buffers.is_null() {
        return Err(refuse(format!("{} buffers instead of two", a.n_buffers)));
    }
    // SAFETY: `n_buffers` pointers of the producer's, which live until the release.
    let (validity, values) = unsafe { (*a.buffers, *a.buffers.add(1)) };
    let end = offset
        .checked_add(length)
        .filter(|n| isize::try_from(*n).is_ok());
    let end = end.ok_or_else(|| {
        refuse(format!(
            "length {length} from offset {offset} exceeds the address space"
        ))
    })?;
    let bit = |bits: *const c_void, i: usize| -> bool {
        // SAFETY: a bit for each of the `offset + length` elements of the producer's, whose buffers
        // live until the release.
        unsafe { *bits.cast::<u8>().add(i / 8) >> (i % 8) & 1 != 0 }
    };
    let nulls = if a.null_count == 0 || validity.is_null() {
        0
    } else {
        (offset..end).filter(|i| !bit(validity, *i)).count()
    };
    if nulls > 0 {
        return Err(refuse(format!(
            "{nulls} of {length} elements are null, which a Tensor can't represent: fill or drop them \
                first"
        )));
    }
    if values.is_null() && length > 0 {
        return Err(refuse("a null pointer to elements".into()));
    }
    if dtype.is_bool() {
        if copy == Some(false) {
            return Err(refuse(
                "Arrow's bools are bits: that needs a copy, and copy is False".into(),
            ));
        }
        let mut bools = Vec::new();
        reserve(&mut bools, length).raise()?;
        bools.extend((offset..end).map(|i| bit(values, i)));
        return Tensor::from_slice(&bools, [length]).raise();
    }
    let first = values
        .cast::<u8>()
        .wrapping_add(offset.saturating_mul(dtype.size()));
    let foreign = Foreign::new(first, &[length as isize], None, *dtype, false)?;
    let lease = Lease::new(x.py(), taken)?;
    // SAFETY: `offset + length` elements of the producer's lie there until the release, which the
    // lease's end is.
    unsafe { foreign.tensor(lease, copy) }
}
