//! `flex.random`: random numbers, with NumPy's names.

mod distributions;
mod floats;
mod integers;
mod order;

use super::cell::PyTensor;
use super::convert::{
    Given, Ints, Operand, exact_list, interruptible, is_main, is_short, kind, shown,
};
use super::default;
use super::dtype::DTypeArg;
use crate::convert::error::Raise;
use flex::layout::{self, Shape};
use flex::ops::Arg;
use flex::random::Generator;
use flex::{DType, Tensor};
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyInt, PyTuple};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};

/// Draws random numbers, by the methods of NumPy's `Generator`. Made by `default_rng`.
///
/// Bits are those of Philox 4x32-10 (Salmon et al. 2011), a bijection of a counter: a seed gives
/// the same numbers on every machine, instruction set and number of threads. Numbers are not
/// NumPy's. Element i of a result depends on the state and on i alone, so `random(10)` begins with
/// the numbers of `random(4)`.
///
/// size: the shape of the result, an integer or a tuple of them; by default that to which the
/// parameters broadcast, `()` for numbers. dtype: of floats, float32 by default. Parameters are
/// numbers or tensors. DTypeError for a dtype that the numbers don't have; ValueError for
/// parameters out of their domain; ShapeError for those that don't broadcast to the size;
/// MemoryError if there is not enough memory. The state is then unchanged, also if the handler of a
/// signal raises an exception, which ends a long draw. Threads may share a generator. It can be copied and pickled.
///
/// >>> rng = flex.random.default_rng(7)
/// >>> rng.random((2, 3)).shape, rng.integers(0, 10, size=4).dtype
/// ((2, 3), flex.int64)
#[pyclass(frozen, name = "Generator", module = "flex.random")]
pub struct PyGenerator {
    rng: Mutex<Generator>,
    /// Whether the main thread draws: the handler of a signal may run meanwhile, in the same thread,
    /// for which the lock would never be free.
    drawing: AtomicBool,
}

/// Says that the main thread draws, until it is dropped.
struct Drawing<'a>(&'a AtomicBool);
impl Drop for Drawing<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

impl PyGenerator {
    /// RuntimeError in the handler of a signal that interrupted a draw.
    fn check_free(&self, py: Python<'_>) -> PyResult<()> {
        match self.drawing.load(Ordering::Relaxed) && is_main(py) {
            true => Err(PyRuntimeError::new_err(
                "Generator: a signal's handler uses the generator whose draw it interrupted: \
                 give it a generator of its own",
            )),
            false => Ok(()),
        }
    }
    /// The generator, as it was before a draw that was given up.
    fn locked(&self) -> MutexGuard<'_, Generator> {
        self.rng.lock().unwrap_or_else(|e| {
            self.rng.clear_poison();
            e.into_inner()
        })
    }
    /// [`locked`](PyGenerator::locked), unless a draw of the main thread is interrupted.
    fn lock(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, Generator>> {
        self.check_free(py)?;
        Ok(self.locked())
    }
    /// Calls `f`, which draws about `elements` numbers: without the GIL if that is long work, or if
    /// another thread draws.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        elements: usize,
        f: impl FnOnce(&mut Generator) -> flex::Result<T> + Send,
    ) -> PyResult<T> {
        if is_short(elements)
            && let Ok(mut rng) = self.rng.try_lock()
        {
            return f(&mut rng).raise();
        }
        self.check_free(py)?;
        let main = is_main(py);
        interruptible(py, || {
            let mut rng = self.locked();
            if main {
                self.drawing.store(true, Ordering::Relaxed);
            }
            let _drawing = main.then(|| Drawing(&self.drawing));
            // a draw that is given up changes nothing
            let mut next = rng.clone();
            let result = f(&mut next);
            *rng = next;
            result
        })?
        .raise()
    }
    /// [`with`](PyGenerator::with) for a tensor of this shape.
    fn draw(
        &self,
        py: Python<'_>,
        shape: &[usize],
        f: impl FnOnce(&mut Generator) -> flex::Result<Tensor> + Send,
    ) -> PyResult<PyTensor> {
        let elements = shape.iter().fold(1, |n: usize, d| n.saturating_mul(*d));
        self.with(py, elements, f).map(PyTensor::new)
    }
}

/// The requested dtype of floats.
fn float(op: &str, dtype: Option<Given<DTypeArg>>) -> PyResult<DType> {
    let dtype = dtype.map(|d| d.of(op, "dtype")).transpose()?;
    Ok(default::or_float(dtype))
}
/// A parameter of a distribution: a tensor, a number, or nested lists.
struct Parameter(Operand);

impl<'py> FromPyObject<'_, 'py> for Parameter {
    type Error = PyErr;
    stub_type!("_Operand");
    fn extract(x: Borrowed<'_, 'py, PyAny>) -> PyResult<Parameter> {
        let list = match x.is_exact_instance_of::<PyTensor>() {
            true => None,
            false => exact_list(&x)?,
        };
        list.map_or_else(|| x.extract(), |t| Ok(Operand::Tensor(t)))
            .map(Parameter)
    }
}

/// A parameter, or its default.
fn operand(
    op: &str,
    name: &str,
    x: Option<Given<Parameter>>,
    default: f64,
) -> PyResult<Arg<'static>> {
    Ok(match x.map(|x| x.of(op, name)).transpose()? {
        None => default.into(),
        Some(Parameter(Operand::Tensor(t))) => Arg::Own(t),
        Some(Parameter(Operand::Scalar(s))) => Arg::Scalar(s),
    })
}
/// A parameter that is a vector or a matrix.
fn vector(op: &str, name: &str, x: Given<Parameter>) -> PyResult<Tensor> {
    x.of(op, name)?.0.tensor().raise()
}
/// The requested shape, or that to which the parameters broadcast.
fn shape(op: &'static str, size: Option<Given<Ints>>, parameters: &[&Arg]) -> PyResult<Shape> {
    match size.map(|s| s.of(op, "size")).transpose()? {
        Some(size) => size.shape(op, "size"),
        None => {
            let shapes: Vec<&[usize]> = parameters
                .iter()
                .map(|x| match x {
                    Arg::Ref(t) => t.shape(),
                    Arg::Own(t) => t.shape(),
                    Arg::Scalar(_) => &[],
                })
                .collect();
            layout::broadcast(op, &shapes).raise()
        }
    }
}

/// The words of a seed: those of an integer, of any size, or random ones.
fn words(seed: &Bound<PyAny>) -> PyResult<Vec<u64>> {
    let py = seed.py();
    let bytes: Bound<PyBytes> = if seed.is_none() {
        py.import("os")?
            .call_method1("urandom", (16,))?
            .cast_into()?
    } else {
        let wrong = |_| {
            PyTypeError::new_err(format!(
                "default_rng: seed: expected an integer, a Generator or None, got {}",
                kind(seed)
            ))
        };
        let index = py.import("operator")?.call_method1("index", (seed,));
        let index = index.map_err(wrong)?.cast_into::<PyInt>()?;
        if index.lt(0)? {
            let shown = shown(&index);
            return Err(PyValueError::new_err(format!(
                "default_rng: seed is {shown}; it must not be negative"
            )));
        }
        let bits: usize = index.call_method0("bit_length")?.extract()?;
        let size = bits.div_ceil(64).max(1) * 8;
        index
            .call_method1("to_bytes", (size, "little"))?
            .cast_into()?
    };
    let (words, _) = bytes.as_bytes().as_chunks::<8>();
    Ok(words.iter().map(|w| u64::from_le_bytes(*w)).collect())
}

/// A generator of random numbers.
///
/// seed: an integer that is not negative (ValueError), of any size; by default one from the
/// operating system. A Generator is returned as it is. TypeError for anything else.
///
/// >>> a, b = flex.random.default_rng(7), flex.random.default_rng(7)
/// >>> flex.all(a.random(5) == b.random(5)).item()
/// True
#[function(seed: "SupportsIndex | Generator | None" = None)]
fn default_rng(py: Python<'_>, seed: Option<Bound<PyAny>>) -> PyResult<Py<PyGenerator>> {
    if let Some(seed) = &seed
        && let Ok(rng) = seed.cast::<PyGenerator>()
    {
        return Ok(rng.clone().unbind());
    }
    let words = words(&seed.unwrap_or_else(|| py.None().into_bound(py)))?;
    Py::new(py, PyGenerator::of(Generator::from_words(&words)))
}

impl PyGenerator {
    fn of(rng: Generator) -> PyGenerator {
        PyGenerator {
            rng: Mutex::new(rng),
            drawing: AtomicBool::new(false),
        }
    }
}

#[pymethods]
impl PyGenerator {
    /// The state, as a tuple of integers: the key, the counter's highest word and its lowest 64
    /// bits, and how many generators were spawned. It can be assigned: TypeError or OverflowError
    /// for what is no state.
    #[getter]
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let ([low, high], id, block, children) = self.lock(py)?.state();
        (low as u64 | ((high as u64) << 32), id, block, children).into_pyobject(py)
    }
    #[setter]
    fn set_state(&self, py: Python<'_>, state: (u64, u32, u64, u64)) -> PyResult<()> {
        let (key, id, block, children) = state;
        let key = [key as u32, (key >> 32) as u32];
        *self.lock(py)? = Generator::from_state((key, id, block, children));
        Ok(())
    }
    fn __copy__(&self, py: Python<'_>) -> PyResult<PyGenerator> {
        Ok(PyGenerator::of(self.lock(py)?.clone()))
    }
    fn __deepcopy__(&self, memo: &Bound<'_, PyAny>) -> PyResult<PyGenerator> {
        self.__copy__(memo.py())
    }
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let restore = py.import("flex.random")?.getattr("_restore")?;
        (restore, self.state(py)?).into_pyobject(py)
    }
    fn __repr__(&self) -> &'static str {
        "Generator(Philox4x32)"
    }
}

/// Unpickles a generator.
#[function(key, id, block, children, /)]
fn _restore(key: u64, id: u32, block: u64, children: u64) -> PyGenerator {
    let key = [key as u32, (key >> 32) as u32];
    PyGenerator::of(Generator::from_state((key, id, block, children)))
}
