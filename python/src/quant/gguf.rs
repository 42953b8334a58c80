//! Reads files for `flex.quant.load_gguf`.

use super::tensor::PyQTensor;
use crate::cell::PyTensor;
use crate::convert::detached;
use flex::io::gguf::{self, Entry, Value};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};
use std::path::PathBuf;

/// A metadata value of a GGUF file.
fn object<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    match value {
        Value::Unsigned(x) => x.into_bound_py_any(py),
        Value::Signed(x) => x.into_bound_py_any(py),
        Value::Float(x) => x.into_bound_py_any(py),
        Value::Bool(x) => x.into_bound_py_any(py),
        Value::Text(x) => x.into_bound_py_any(py),
        Value::List(list) => {
            let all = PyList::empty(py);
            for x in list {
                all.append(object(py, x)?)?;
            }
            Ok(all.into_any())
        }
    }
}

/// A file's path, or its bytes.
#[derive(FromPyObject)]
enum PathOrBytes<'py> {
    Bytes(Bound<'py, PyBytes>),
    Path(PathBuf),
}

/// The tensors by name, those with other block formats (the number of the format, the shape and the
/// bytes), and the metadata.
#[function(file, mmap)]
fn _load_gguf<'py>(
    py: Python<'py>,
    file: PathOrBytes<'py>,
    mmap: bool,
) -> PyResult<(Bound<'py, PyDict>, Bound<'py, PyDict>, Bound<'py, PyDict>)> {
    let file = match file {
        PathOrBytes::Bytes(bytes) => {
            let bytes = bytes.as_bytes();
            detached(py, bytes.len(), || gguf::parse(bytes))?
        }
        PathOrBytes::Path(path) => detached(py, usize::MAX, || match mmap {
            // SAFETY: `load_gguf` documents MAP1 as its caller's promise.
            true => unsafe { gguf::map(path) },
            false => gguf::load(path),
        })?,
    };
    let (tensors, others, metadata) = (PyDict::new(py), PyDict::new(py), PyDict::new(py));
    for (name, entry) in file.entries {
        match entry {
            Entry::Tensor(t) => tensors.set_item(name, PyTensor::new(t))?,
            Entry::Quantized(q) => tensors.set_item(name, PyQTensor(q).into_pyobject(py)?)?,
            Entry::Other { kind, shape, bytes } => {
                others.set_item(name, (kind, PyTuple::new(py, shape)?, PyTensor::new(bytes)))?
            }
        }
    }
    for (name, value) in &file.metadata {
        metadata.set_item(name, object(py, value)?)?;
    }
    Ok((tensors, others, metadata))
}
