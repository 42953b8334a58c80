//! The dtype of floats that nothing else determines: numbers without a tensor, `zeros(3)`.

use super::config::Blocks;
use super::dtype::{self, DTypeArg, PyDType};
use crate::convert::error::Raise;
use flex::{DType, Error, Scalar};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::cell::Cell;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// The dtypes that it may be, the initial one first.
const FLOATS: [DType; 4] = [DType::DEFAULT_FLOAT, DType::F64, DType::F16, DType::BF16];

/// The process's, by its place among [`FLOATS`].
static PROCESS: AtomicU8 = AtomicU8::new(0);
thread_local! {
    /// That of the block which this thread is in.
    static LOCAL: Cell<Option<DType>> = const { Cell::new(None) };
}

/// The default dtype of floats.
pub fn float() -> DType {
    LOCAL
        .get()
        .unwrap_or_else(|| FLOATS[PROCESS.load(Relaxed) as usize])
}

/// The requested dtype, or the default one of floats.
pub fn or_float(dtype: Option<DTypeArg>) -> DType {
    dtype.map_or_else(float, |d| d.0)
}

/// The dtype of a tensor made from the number alone.
pub fn of(number: Scalar) -> DType {
    match number {
        Scalar::Float(_) => float(),
        Scalar::Complex(..) => float().complex(),
        whole => whole.default_dtype(),
    }
}

/// Whether a float dtype may be the default; DTypeError if it may not.
fn place(op: &'static str, dtype: DType) -> PyResult<u8> {
    let found = FLOATS.iter().position(|d| *d == dtype);
    let place = found.ok_or_else(|| {
        let message = format!("{dtype}: the default is float32, float64, float16 or bfloat16");
        Error::dtype(op, message)
    });
    Ok(place.raise()? as u8)
}

/// Sets the dtype of floats that nothing else determines, in the whole process: of tensors made from
/// Python's floats, of `zeros`, `ones`, `empty`, `eye`, `linspace`, random numbers, windows and
/// frequencies without a dtype. Complex numbers get the dtype of such parts.
///
/// dtype: float32, which it is initially, float64, float16 or bfloat16 (DTypeError). Operations on
/// tensors don't depend on it: beside a tensor a number takes its dtype, and integers are computed
/// in float32 where floats are needed. `default_dtype` sets it in a block.
///
/// >>> flex.set_default_dtype(flex.float64)
/// >>> flex.asarray([1.5]).dtype, flex.zeros(2).dtype
/// (flex.float64, flex.float64)
/// >>> flex.set_default_dtype(flex.float32)
#[function(dtype, /)]
fn set_default_dtype(dtype: DTypeArg) -> PyResult<()> {
    PROCESS.store(place("set_default_dtype", dtype.0)?, Relaxed);
    Ok(())
}

/// The dtype of floats that nothing else determines here: see `set_default_dtype`.
///
/// >>> flex.get_default_dtype()
/// flex.float32
#[function(-> "DType")]
fn get_default_dtype(py: Python<'_>) -> PyResult<Bound<'_, PyDType>> {
    dtype::object(py, float())
}

/// A context manager: what `set_default_dtype` sets, for this thread inside its block.
///
/// >>> with flex.default_dtype(flex.float64):
/// ...     flex.asarray([1.5]).dtype
/// flex.float64
#[pyclass(frozen, name = "default_dtype", module = "flex")]
pub struct Block {
    dtype: DType,
    before: Blocks<Option<DType>>,
}

#[pymethods]
impl Block {
    #[new]
    #[pyo3(signature = (dtype, /))]
    fn new(dtype: DTypeArg) -> PyResult<Block> {
        place("default_dtype", dtype.0)?;
        Ok(Block {
            dtype: dtype.0,
            before: Blocks::new(),
        })
    }
    fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        let block = slf.get();
        block.before.enter(LOCAL.replace(Some(block.dtype)));
        slf
    }
    #[pyo3(signature = (*_error))]
    fn __exit__(&self, _error: &Bound<PyTuple>) -> PyResult<()> {
        LOCAL.set(self.before.leave("default_dtype")?);
        Ok(())
    }
    fn __repr__(&self) -> String {
        format!("flex.default_dtype({})", self.dtype)
    }
}
