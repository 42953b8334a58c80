//! What `flex/io.py` reads and writes files with; it chooses the format by the suffix.

use super::convert::{Arg, asarray, detached};
use super::tensor::PyTensor;
use crate::Tensor;
use crate::io::safetensors::Metadata;
use crate::io::{npy, safetensors};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyMapping};
use std::path::PathBuf;

/// Files are slow enough for other threads to run meanwhile.
const LONG: usize = usize::MAX;

#[pyfunction]
fn load_safetensors<'py>(py: Python<'py>, path: PathBuf, mmap: bool) -> PyResult<Bound<'py, PyDict>> {
    let tensors = PyDict::new(py);
    for (name, t) in detached(py, LONG, || safetensors::load(path, mmap))? {
        tensors.set_item(name, PyTensor::new(t))?;
    }
    Ok(tensors)
}

#[pyfunction]
fn save_safetensors(py: Python<'_>, path: PathBuf, tensors: &Bound<PyMapping>, metadata: Metadata) -> PyResult<()> {
    let mut named: Vec<(String, Tensor)> = Vec::new();
    for item in tensors.items()?.iter() {
        let (name, t) = item.extract::<(Bound<PyAny>, Bound<PyAny>)>()?;
        let name = name.extract().map_err(|_| PyTypeError::new_err(format!("save: the name {name:?} is no string")))?;
        named.push((name, asarray(&t, None, None)?.get().get()));
    }
    detached(py, LONG, || safetensors::save(path, named.iter().map(|(name, t)| (name, t)), &metadata))
}

#[pyfunction]
fn safetensors_metadata(py: Python<'_>, path: PathBuf) -> PyResult<Metadata> {
    detached(py, LONG, || safetensors::metadata(path))
}

#[pyfunction]
fn load_npy(py: Python<'_>, path: PathBuf, mmap: bool) -> PyResult<PyTensor> {
    detached(py, LONG, || npy::load(path, mmap)).map(PyTensor::new)
}

#[pyfunction]
fn save_npy(py: Python<'_>, path: PathBuf, x: Arg) -> PyResult<()> {
    detached(py, LONG, || npy::save(path, &x.0))
}

#[pyfunction]
fn npy_from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<PyTensor> {
    detached(py, bytes.len(), || npy::parse(bytes)).map(PyTensor::new)
}

#[pyfunction]
fn npy_bytes<'py>(py: Python<'py>, x: Arg) -> PyResult<Bound<'py, PyBytes>> {
    Ok(PyBytes::new(py, &detached(py, x.0.len(), || npy::write(&x.0))?))
}

pub(super) fn register(m: &Bound<PyModule>) -> PyResult<()> {
    let io = PyModule::new(m.py(), "flex._flex._io")?;
    io.add_function(wrap_pyfunction!(load_safetensors, &io)?)?;
    io.add_function(wrap_pyfunction!(save_safetensors, &io)?)?;
    io.add_function(wrap_pyfunction!(safetensors_metadata, &io)?)?;
    io.add_function(wrap_pyfunction!(load_npy, &io)?)?;
    io.add_function(wrap_pyfunction!(save_npy, &io)?)?;
    io.add_function(wrap_pyfunction!(npy_from_bytes, &io)?)?;
    io.add_function(wrap_pyfunction!(npy_bytes, &io)?)?;
    m.setattr("_io", io)
}
