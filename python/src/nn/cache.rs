//! `flex.nn.KVCache`.

use crate::cell::PyTensor;
use crate::convert::error::Raise;
use crate::convert::{Given, TensorArg, count, detached_write};
use crate::default;
use crate::dtype::{DTypeArg, object};
use flex::nn::{KvCache, KvCacheOptions};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The key-value cache of models that generate one token at a time.
///
/// Keys and values are `[batch, heads, tokens, head_dim]` each. capacity: how many tokens fit at
/// first; a full cache doubles. dtype: float32 by default. window: how many tokens a token sees,
/// including itself; tokens that no later one sees are dropped. Tensors returned by the cache keep
/// their values whatever is appended later, at no cost: appended tokens follow them in memory, and
/// nothing is overwritten while a tensor may see it. ValueError for a window that is not positive
/// or a negative size; DTypeError if dtype is not a float.
///
/// >>> cache = flex.nn.KVCache(1, 1, 2)
/// >>> keys, values = cache.append(flex.ones((1, 1, 3, 2)), flex.zeros((1, 1, 3, 2)))
/// >>> keys, values = cache.append(flex.zeros((1, 1, 1, 2)), flex.ones((1, 1, 1, 2)))
/// >>> keys.shape, values.tolist()
/// ((1, 1, 4, 2), [[[[0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [1.0, 1.0]]]])
#[pyclass(frozen, name = "KVCache", module = "flex.nn")]
pub struct PyKvCache(Mutex<KvCache>);

impl PyKvCache {
    /// Locks the cache; a panic on another thread left it intact.
    fn lock(&self) -> MutexGuard<'_, KvCache> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl PyKvCache {
    #[new]
    #[pyo3(signature = (batch, heads, head_dim, *, capacity = 0, dtype = None, window = None))]
    fn new(
        batch: isize,
        heads: isize,
        head_dim: isize,
        capacity: isize,
        dtype: Option<Given<DTypeArg>>,
        window: Option<isize>,
    ) -> PyResult<PyKvCache> {
        let size = |name, n| count("KVCache", name, n);
        let options = KvCacheOptions {
            capacity: size("capacity", capacity)?,
            dtype: match dtype {
                Some(dtype) => dtype.of("KVCache", "dtype")?.0,
                None => default::float(),
            },
            window: window.map(|n| size("window", n)).transpose()?,
        };
        let (batch, heads) = (size("batch", batch)?, size("heads", heads)?);
        let cache = KvCache::new(batch, heads, size("head_dim", head_dim)?, options).raise()?;
        Ok(PyKvCache(Mutex::new(cache)))
    }
    /// Appends the keys and values of some tokens, `[batch, heads, tokens, head_dim]`, and returns
    /// those of all tokens kept, which share the cache's memory. Earlier tokens are not copied.
    /// ShapeError or DTypeError if they don't fit the cache, and nothing is appended.
    #[pyo3(signature = (k, v, /))]
    fn append(&self, py: Python<'_>, k: TensorArg, v: TensorArg) -> PyResult<(PyTensor, PyTensor)> {
        let size = k.0.len().saturating_add(v.0.len());
        let (keys, values) = detached_write(py, size, || self.lock().append(&k.0, &v.0))?;
        Ok((keys.into(), values.into()))
    }
    /// Keys and values of the tokens kept, `[batch, heads, tokens, head_dim]`.
    fn views(&self) -> PyResult<(PyTensor, PyTensor)> {
        let (keys, values) = self.lock().views().raise()?;
        Ok((keys.into(), values.into()))
    }
    /// Keeps the first `length` of the tokens, such as the accepted ones of a draft. ValueError if
    /// it is negative.
    #[pyo3(signature = (length, /))]
    fn truncate(&self, length: isize) -> PyResult<()> {
        let length = count("KVCache.truncate", "length", length)?;
        self.lock().truncate(length);
        Ok(())
    }
    /// Drops all tokens and keeps the capacity.
    fn reset(&self) {
        self.lock().reset();
    }
    /// Keeps the sequences `indices` of the batch, in that order and with repetitions, as a beam
    /// search does after each step. Copies what is kept. IndexError if one is out of range;
    /// ShapeError if `indices` is not one-dimensional; DTypeError if it is not an integer tensor.
    #[pyo3(signature = (indices, /))]
    fn gather(&self, py: Python<'_>, indices: TensorArg) -> PyResult<()> {
        let work = usize::MAX; // long enough to release the interpreter
        detached_write(py, work, || self.lock().gather(&indices.0))
    }
    /// How many tokens fit before storage grows.
    #[getter]
    fn capacity(&self) -> usize {
        self.lock().capacity()
    }
    /// The position of the next token: the number of tokens before it, including those that a
    /// window dropped.
    #[getter]
    fn position(&self) -> usize {
        self.lock().position()
    }
    /// What pickling makes a cache of, to which `__setstate__` appends the tokens.
    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let cache = self.lock();
        let options = cache.options();
        let keywords = PyDict::new(py);
        keywords.set_item("capacity", options.capacity)?;
        keywords.set_item("dtype", object(py, options.dtype)?)?;
        keywords.set_item("window", options.window)?;
        (cache.sizes(), keywords).into_pyobject(py)
    }
    fn __getstate__(&self) -> PyResult<(usize, PyTensor, PyTensor)> {
        let (keys, values) = self.views()?;
        Ok((self.position(), keys, values))
    }
    fn __setstate__(&self, py: Python<'_>, state: (usize, TensorArg, TensorArg)) -> PyResult<()> {
        let (position, keys, values) = state;
        self.reset();
        self.append(py, keys, values)?;
        self.lock().set_position(position).raise()
    }
    fn __len__(&self) -> usize {
        self.lock().len()
    }
    fn __repr__(&self) -> String {
        let cache = self.lock();
        let (batch, heads, head_dim) = cache.sizes();
        format!(
            "KVCache({batch}, {heads}, {head_dim}, dtype={}): {} tokens",
            cache.options().dtype,
            cache.len()
        )
    }
}
