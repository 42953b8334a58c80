//! Threads, memory, and the configuration of this build.

use flex::DType;
use flex::par::this_thread;
use flex::simd;
use pyo3::exceptions::{PyRuntimeError, PyRuntimeWarning, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::sync::{Mutex, PoisonError};

/// A context manager: operations of this thread use at most `n` threads inside its block. Results
/// never depend on it.
///
/// >>> with flex.threads(1):
/// ...     flex.get_num_threads()
/// 1
#[pyclass(frozen, name = "threads", module = "flex")]
pub struct Threads {
    n: usize,
    before: Blocks<Option<usize>>,
}

/// What each thread restores at the end of each block that it has entered; blocks nest.
pub(super) struct Blocks<T>(Mutex<Vec<(usize, T)>>);

impl<T> Blocks<T> {
    pub fn new() -> Blocks<T> {
        Blocks(Mutex::new(Vec::new()))
    }
    /// This thread enters a block, and was in a state before.
    pub fn enter(&self, before: T) {
        self.stack().push((this_thread(), before));
    }
    /// The state before the last block that this thread has entered; RuntimeError if there is none.
    pub fn leave(&self, name: &str) -> PyResult<T> {
        let mut stack = self.stack();
        let mine = stack.iter().rposition(|(id, _)| *id == this_thread());
        let k = mine.ok_or_else(|| {
            PyRuntimeError::new_err(format!("{name}: left a block that was not entered"))
        })?;
        Ok(stack.remove(k).1)
    }
    fn stack(&self) -> std::sync::MutexGuard<'_, Vec<(usize, T)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Threads {
    #[new]
    #[pyo3(signature = (n, /))]
    fn new(n: isize) -> PyResult<Threads> {
        match usize::try_from(n) {
            Ok(n) if n > 0 => Ok(Threads {
                n,
                before: Blocks::new(),
            }),
            _ => Err(PyValueError::new_err(format!(
                "threads({n}): the number of threads must be at least 1"
            ))),
        }
    }
    fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        let threads = slf.get();
        threads
            .before
            .enter(flex::set_local_threads(Some(threads.n)));
        slf
    }
    #[pyo3(signature = (*_error))]
    fn __exit__(&self, _error: &Bound<PyTuple>) -> PyResult<()> {
        flex::set_local_threads(self.before.leave("threads")?);
        Ok(())
    }
    fn __repr__(&self) -> String {
        format!("flex.threads({})", self.n)
    }
}

/// Sets how many threads operations of the whole process may use; 0 restores the initial number.
/// ValueError if it is negative.
#[function(n, /)]
fn set_num_threads(n: isize) -> PyResult<()> {
    let n = usize::try_from(n).map_err(|_| {
        PyValueError::new_err(format!(
            "set_num_threads({n}): the number of threads must not be negative"
        ))
    })?;
    flex::set_num_threads(n);
    Ok(())
}

/// Sets whether weights that are used repeatedly stay packed for matrix products (by default,
/// True): float32, float64, int8 and uint8 weights of `nn.linear`, bfloat16 ones of it and of
/// convolutions where the CPU has instructions for their products, those of recurrent layers, int8
/// and uint8 matrices on the right of `matmul`, and weights of convolutions by Winograd's
/// algorithm. Products with few rows take less time then. Each such weight takes its memory a
/// second time, that of Winograd's algorithm four times more. Results of floats may differ in their
/// last bits. Panels that were packed before are freed with their weight.
#[function(on, /)]
fn set_weight_packing(on: bool) {
    flex::set_weight_packing(on)
}

/// The number of threads that an operation started here may use.
#[function()]
fn get_num_threads() -> usize {
    flex::num_threads()
}

/// Memory of tensors, in bytes: `in_use` by live ones, its `peak`, the bytes `cached` for reuse,
/// their `cap`, the machine's `limit` (None if unknown); and how many blocks came from the cache
/// (`hits`) or from the system (`misses`).
#[function(-> "_MemoryStats")]
fn memory_stats(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let m = flex::memory_stats();
    let stats = PyDict::new(py);
    for (name, value) in [
        ("in_use", m.in_use),
        ("peak", m.peak),
        ("cached", m.cached),
        ("hits", m.hits),
        ("misses", m.misses),
        ("cap", m.cap),
    ] {
        stats.set_item(name, value)?;
    }
    stats.set_item("limit", (m.limit != u64::MAX).then_some(m.limit))?;
    Ok(stats)
}

/// Returns the memory cached for reuse to the system.
#[function()]
fn empty_cache(py: Python<'_>) {
    py.detach(flex::empty_cache);
}

/// The result of `show_config`: a read-only mapping that prints one entry per line.
#[pyclass(frozen, mapping, module = "flex")]
struct Config(Py<PyDict>);

#[pymethods]
impl Config {
    fn __getitem__<'py>(&self, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.0.bind(key.py()).as_any().get_item(key)
    }
    fn __len__(&self, py: Python<'_>) -> usize {
        self.0.bind(py).len()
    }
    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(self.0.bind(py).as_any().try_iter()?.into_any())
    }
    /// The names of the entries.
    fn keys<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.0.bind(py).keys().into_any()
    }
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let lines = self
            .0
            .bind(py)
            .iter()
            .map(|(k, v)| Ok(format!("{:<17}{}", format!("{k}:"), v.str()?)));
        Ok(lines.collect::<PyResult<Vec<_>>>()?.join("\n"))
    }
}

/// The configuration of this build: `version`, `instruction_set` (the one in use), `threads`,
/// `features` of the build, `dtypes`.
#[function(-> "_Config")]
fn show_config(py: Python<'_>) -> PyResult<Config> {
    let config = PyDict::new(py);
    config.set_item("version", env!("CARGO_PKG_VERSION"))?;
    config.set_item("instruction_set", simd::name())?;
    config.set_item("threads", flex::num_threads())?;
    config.set_item(
        "features",
        flex::bindings::FEATURES
            .iter()
            .filter(|f| f.1)
            .map(|f| f.0)
            .collect::<Vec<_>>()
            .join(" "),
    )?;
    config.set_item(
        "dtypes",
        DType::ALL
            .into_iter()
            .filter(|d| d.is_available())
            .map(DType::name)
            .collect::<Vec<_>>()
            .join(" "),
    )?;
    Ok(Config(config.unbind()))
}

/// Called at import: warns about settings that have no effect.
pub(super) fn warn_of_ignored_settings(py: Python<'_>) -> PyResult<()> {
    flex::ignored_settings().into_iter().try_for_each(|line| {
        let line = std::ffi::CString::new(line)?;
        PyErr::warn(py, &py.get_type::<PyRuntimeWarning>(), &line, 1)
    })
}
