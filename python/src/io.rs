//! Reads and writes files for `flex/io.py`, which chooses the format.

use super::cell::PyTensor;
use super::convert::{TensorArg, asarray, detached, detached_write, kind};
use crate::convert::error::Raise;
use flex::Tensor;
use flex::bindings::Replacement;
use flex::io::safetensors::Metadata;
use flex::io::{npy, safetensors};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyMapping, PyTuple};
use std::io::{Error, Read, Result as IoResult, SeekFrom, Write};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// The work of file access: enough to release the interpreter.
const LONG: usize = usize::MAX;
/// The most bytes that pass through a Python object at once: few enough that a copy of them always has room.
const PIECE: usize = 1 << 16;

/// A file argument.
#[derive(FromPyObject)]
enum File {
    Path(PathBuf),
    Stream(FileObject),
}

/// An object with the methods of a binary file, and the exception that one raised.
struct FileObject {
    object: Py<PyAny>,
    raised: Option<PyErr>,
}

impl<'py> FromPyObject<'_, 'py> for FileObject {
    type Error = PyErr;
    fn extract(x: Borrowed<'_, 'py, PyAny>) -> PyResult<FileObject> {
        Ok(FileObject {
            object: x.to_owned().unbind(),
            raised: None,
        })
    }
}

impl FileObject {
    /// Runs `f`; an exception that a method raised replaces its error.
    fn run<T>(mut self, f: impl FnOnce(&mut FileObject) -> flex::Result<T>) -> PyResult<T> {
        let result = f(&mut self);
        match self.raised {
            Some(e) => Err(e),
            None => Ok(result.raise()?),
        }
    }
    /// Calls a method and converts its result.
    fn call<T>(&mut self, method: impl FnOnce(&Bound<PyAny>) -> PyResult<T>) -> IoResult<T> {
        Python::attach(|py| method(self.object.bind(py))).map_err(|e| {
            self.raised = Some(e);
            Error::other("raised")
        })
    }
}

impl Read for FileObject {
    fn read(&mut self, out: &mut [u8]) -> IoResult<usize> {
        let most = out.len().min(PIECE);
        self.call(|file| {
            let read = file.call_method1("read", (most,))?;
            let bytes = read.cast::<PyBytes>().map_err(|_| {
                PyTypeError::new_err(format!(
                    "expected a binary file: read() of {} returned {}, not bytes",
                    kind(file),
                    kind(&read)
                ))
            })?;
            let bytes = bytes.as_bytes();
            let Some(out) = out.get_mut(..bytes.len()).filter(|_| bytes.len() <= most) else {
                return Err(PyValueError::new_err(format!(
                    "read({most}) of {} gave {} bytes",
                    kind(file),
                    bytes.len()
                )));
            };
            out.copy_from_slice(bytes);
            Ok(bytes.len())
        })
    }
}

impl Write for FileObject {
    fn write(&mut self, bytes: &[u8]) -> IoResult<usize> {
        let piece = &bytes[..bytes.len().min(PIECE)];
        self.call(|file| {
            let object = PyBytes::new_with(file.py(), piece.len(), |new| {
                new.copy_from_slice(piece);
                Ok(())
            })?;
            // an unbuffered file returns how much it wrote; others write all
            let taken: Option<usize> = file
                .call_method1("write", (object,))?
                .extract()
                .unwrap_or_default();
            Ok(taken.unwrap_or(piece.len()).min(piece.len()))
        })
    }
    fn flush(&mut self) -> IoResult<()> {
        Ok(())
    }
}

/// The tensors by name, and for those of unknown dtypes the dtype's name, the shape and the bytes.
#[function(file, mmap)]
fn load_safetensors<'py>(
    py: Python<'py>,
    file: File,
    mmap: bool,
) -> PyResult<(Bound<'py, PyDict>, Bound<'py, PyDict>)> {
    let mut loaded = match file {
        File::Path(path) => detached(py, LONG, || {
            if mmap {
                // SAFETY: `flex.load` documents MAP1 as its caller's promise.
                unsafe { safetensors::map(path) }
            } else {
                safetensors::load(path)
            }
        })?,
        File::Stream(stream) => stream.run(|stream| safetensors::read_from(stream))?,
    };
    let (tensors, others) = (PyDict::new(py), PyDict::new(py));
    for (name, t) in std::mem::take(&mut loaded.others) {
        others.set_item(
            name,
            (t.dtype, PyTuple::new(py, t.shape)?, PyTensor::new(t.bytes)),
        )?;
    }
    for (name, t) in loaded {
        tensors.set_item(name, PyTensor::new(t))?;
    }
    Ok((tensors, others))
}

#[function(file, tensors, metadata)]
fn save_safetensors(
    py: Python<'_>,
    file: File,
    tensors: &Bound<PyMapping>,
    metadata: Metadata,
) -> PyResult<()> {
    let mut named: Vec<(String, Tensor)> = Vec::new();
    for item in tensors.items()?.iter() {
        let (name, t) = item.extract::<(Bound<PyAny>, Bound<PyAny>)>()?;
        let name = name.extract().map_err(|_| {
            PyTypeError::new_err(format!("save: the name {name:?} is not a string"))
        })?;
        flex::bindings::push(
            &mut named,
            (name, asarray(&t, None, None)?.get().tensor(t.py())?),
        )
        .raise()?;
    }
    let named = named.iter().map(|(name, t)| (name, t));
    match file {
        File::Path(path) => detached_write(py, LONG, || safetensors::save(path, named, &metadata)),
        File::Stream(stream) => {
            stream.run(|stream| safetensors::write_to(stream, named, &metadata))
        }
    }
}

#[function(file)]
fn safetensors_metadata(py: Python<'_>, file: File) -> PyResult<Metadata> {
    match file {
        File::Path(path) => detached(py, LONG, || safetensors::metadata(path)),
        File::Stream(stream) => stream.run(|stream| safetensors::read_metadata(stream)),
    }
}

#[function(file, mmap)]
fn load_npy(py: Python<'_>, file: File, mmap: bool) -> PyResult<PyTensor> {
    match file {
        File::Path(path) => detached(py, LONG, || {
            if mmap {
                // SAFETY: as above.
                unsafe { npy::map(path) }
            } else {
                npy::load(path)
            }
        }),
        File::Stream(stream) => stream.run(|stream| npy::read_from(stream)),
    }
    .map(PyTensor::new)
}

#[function(file, x)]
fn save_npy(py: Python<'_>, file: File, x: TensorArg) -> PyResult<()> {
    match file {
        File::Path(path) => detached_write(py, LONG, || npy::save(path, &x.0)),
        File::Stream(stream) => stream.run(|stream| npy::write_to(stream, &x.0)),
    }
}

/// The tensor of a member of an archive, of a given size after decompression.
#[function(member, name, bytes)]
fn read_npy_member(member: FileObject, name: &str, bytes: u64) -> PyResult<PyTensor> {
    member
        .run(|member| npy::read_member(name, member, bytes))
        .map(PyTensor::new)
}

/// A file that replaces another when it is complete, for `zipfile` to write to.
#[pyclass(frozen, name = "Replacement", module = "flex._flex._io")]
pub struct PyReplacement(Mutex<Option<Replacement>>);

impl PyReplacement {
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        f: impl FnOnce(&mut Replacement) -> flex::Result<T> + Send,
    ) -> PyResult<T> {
        let closed = || PyValueError::new_err("the file is closed");
        let f = || {
            self.0
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .as_mut()
                .map(f)
                .transpose()
        };
        detached_write(py, LONG, f)?.ok_or_else(closed)
    }
    fn take(&self) -> Option<Replacement> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

#[pymethods]
impl PyReplacement {
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<PyReplacement> {
        let file = detached_write(py, LONG, || Replacement::create(&path))?;
        Ok(PyReplacement(Mutex::new(Some(file))))
    }
    fn write(&self, py: Python<'_>, bytes: &[u8]) -> PyResult<usize> {
        self.with(py, |file| file.put(bytes))?;
        Ok(bytes.len())
    }
    fn flush(&self) {}
    fn tell(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |file| file.go(SeekFrom::Current(0)))
    }
    fn seek(&self, py: Python<'_>, to: u64) -> PyResult<u64> {
        self.with(py, |file| file.go(SeekFrom::Start(to)))
    }
    fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }
    /// Commits the file, or discards it if something was raised.
    fn __exit__(
        &self,
        py: Python<'_>,
        class: &Bound<PyAny>,
        _value: &Bound<PyAny>,
        _trace: &Bound<PyAny>,
    ) -> PyResult<()> {
        match self.take() {
            Some(file) if class.is_none() => detached_write(py, LONG, || file.commit()),
            _ => Ok(()),
        }
    }
}
