//! NumPy's array interface, import and export: a dictionary of dtype, shape and memory,
//! `__array_interface__`. See <https://numpy.org/doc/stable/reference/arrays.interface.html>,
//! version 3.
//!
//! flex exports a buffer as the memory, not a bare pointer: the buffer is a loan that copy-on-write
//! sees (INTEROP1), while nothing would keep the memory behind a pointer when the tensor is written
//! to.

use super::buffer::{BufferRequest, MAX_RANK, PyBuffer};
use super::bytes::as_bytes;
use super::foreign::{Foreign, Lease};
use crate::cell::PyTensor;
use crate::convert::error::DTypeError;
use crate::convert::error::Raise;
use crate::convert::kind;
use crate::dtype::{code, from_code};
use crate::tensor::byte_strides;
use flex::Tensor;
use pyo3::exceptions::{PyAttributeError, PyBufferError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// The version implemented here.
const VERSION: u32 = 3;

#[pymethods]
impl PyTensor {
    /// NumPy's array interface, whose `data` is a read-only buffer of the elements in row-major
    /// order. AttributeError for bfloat16 and float8, which have no code in it.
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let t = self.tensor(py)?;
        let Some(code) = code(t.dtype()).filter(|_| t.rank() <= MAX_RANK) else {
            let message = format!(
                "the array interface has no code for {} of {} dimensions: use t.numpy()",
                t.dtype(),
                t.rank()
            );
            return Err(PyAttributeError::new_err(message));
        };
        let interface = PyDict::new(py);
        interface.set_item("version", VERSION)?;
        interface.set_item("shape", PyTuple::new(py, t.shape())?)?;
        interface.set_item("typestr", code)?;
        // the strides tell Pillow that the tensor's own buffer is not these elements in row-major
        // order
        let elements = t.contiguous().raise()?;
        let strides = (!t.is_contiguous())
            .then(|| PyTuple::new(py, byte_strides(elements.layout(), elements.dtype())))
            .transpose()?;
        interface.set_item("strides", strides)?;
        interface.set_item(
            "data",
            Bound::new(py, PyTensor::new(as_bytes(&elements).raise()?))?,
        )?;
        Ok(interface)
    }
}

/// A tensor of the elements that `x` describes by `interface`; `copy` as in [`super::import`].
pub fn import(x: &Bound<PyAny>, interface: &Bound<PyAny>, copy: Option<bool>) -> PyResult<Tensor> {
    let py = x.py();
    let wrong =
        |what: String| PyBufferError::new_err(format!("{}.__array_interface__: {what}", kind(x)));
    let interface = interface.cast::<PyDict>().map_err(|_| {
        PyTypeError::new_err(format!("{}.__array_interface__ is not a dict", kind(x)))
    })?;
    let item = |name: &str| interface.get_item(name).map(|v| v.filter(|v| !v.is_none()));
    let needed = |name: &str| item(name)?.ok_or_else(|| wrong(format!("{name:?} is missing")));
    let tuple = |name: &str, v: Bound<PyAny>| -> PyResult<Vec<isize>> {
        let numbers = v.cast::<PyTuple>().ok().and_then(|t| t.extract().ok());
        numbers.ok_or_else(|| wrong(format!("{name:?} is not a tuple of integers")))
    };
    if !needed("version")?
        .extract::<u32>()
        .is_ok_and(|v| v >= VERSION)
    {
        return Err(wrong(format!(
            "versions before {VERSION} are not supported"
        )));
    }
    if item("mask")?.is_some() {
        return Err(wrong(
            "a mask marks missing elements, which a Tensor can't represent: fill them first".into(),
        ));
    }
    let typestr = needed("typestr")?
        .extract::<String>()
        .map_err(|_| wrong("\"typestr\" is not a str".into()))?;
    let unknown = || {
        DTypeError::new_err(format!(
            "{} has elements of {typestr:?}, for which flex has no dtype",
            kind(x)
        ))
    };
    let (dtype, swapped) = from_code(&typestr).ok_or_else(unknown)?;
    let shape = tuple("shape", needed("shape")?)?;
    let strides = item("strides")?.map(|v| tuple("strides", v)).transpose()?;
    if strides.as_ref().is_some_and(|s| s.len() != shape.len()) || shape.len() > MAX_RANK {
        return Err(wrong(format!(
            "malformed shape {shape:?} or strides {:?}",
            strides.as_deref().unwrap_or_default()
        )));
    }
    let data = item("data")?;
    if let Some(data) = data.as_ref().and_then(|d| d.cast::<PyTuple>().ok()) {
        let (address, _read_only) = data
            .extract::<(usize, bool)>()
            .map_err(|_| wrong("\"data\" is not (address, read_only)".into()))?;
        let first = std::ptr::with_exposed_provenance(address);
        let foreign = Foreign::new(first, &shape, strides.as_deref(), dtype, swapped)?;
        let lease = Lease::new(py, (x.clone().unbind(), interface.clone().unbind()))?;
        // SAFETY: the protocol promises that the elements are there while the object lives, which
        // the lease holds.
        return unsafe { foreign.tensor(lease, copy) };
    }
    // the memory of a buffer: that in "data", or the object's own
    let view = PyBuffer::take(data.as_ref().unwrap_or(x), BufferRequest::Bytes)?;
    let (start, len) = view.bytes();
    let offset = item("offset")?.map_or(Ok(0), |v| {
        v.extract::<usize>()
            .map_err(|_| wrong("\"offset\" is not a valid offset".into()))
    })?;
    let foreign = Foreign::new(
        start.wrapping_add(offset),
        &shape,
        strides.as_deref(),
        dtype,
        swapped,
    )?;
    let (before, span) = foreign.extent().raise()?;
    let fits = offset
        .checked_sub(before)
        .and_then(|first| first.checked_add(span))
        .is_some_and(|end| end <= len);
    if !fits && !shape.contains(&0) {
        return Err(wrong(format!(
            "shape {shape:?} of {dtype} from byte {offset} on reaches beyond the {len} bytes of \
                its memory"
        )));
    }
    // SAFETY: all elements lie in the buffer, as was checked; the exporter keeps it until the lease
    // releases the view.
    unsafe { foreign.tensor(Lease::new(py, view)?, copy) }
}
