//! `flex.linalg`: the functions of the array API standard's extension, but for those of `products`,
//! which are functions of `flex` too.

mod factors;
mod norms;
mod systems;
mod triangles;

use crate::cell::PyTensor;
use crate::convert::{OperandRef, TensorArg};
use crate::values::tuple;
use flex::Tensor;
use pyo3::prelude::*;

/// The tensors as the named tuple `class` of `flex/_results.py`.
fn named<'py>(py: Python<'py>, class: &str, tensors: Vec<Tensor>) -> PyResult<Bound<'py, PyAny>> {
    py.import("flex._results")?
        .getattr(class)?
        .call1(tuple(py, tensors)?)
}

/// The work of a factorisation, measured in elements of a simple operation.
fn cubic(shape: &[usize]) -> usize {
    let size = |k| shape.iter().rev().nth(k).copied().unwrap_or(1);
    let elements = shape.iter().fold(1, |all: usize, n| all.saturating_mul(*n));
    elements.saturating_mul(size(0).min(size(1))) / 16
}

/// A function without options: one type, so that the calls of all are one.
type Function = fn(&Tensor) -> flex::Result<Tensor>;

/// A function of matrices with one result.
fn factored(
    py: Python<'_>,
    x: OperandRef,
    f: impl Fn(&Tensor) -> flex::Result<Tensor> + Send + Sync + 'static,
) -> PyResult<PyTensor> {
    let work = cubic(&x.shape());
    x.compute_to(py, work, f)
}

/// A function of matrices with several results: their named tuple.
fn several<'py>(
    py: Python<'py>,
    class: &str,
    x: TensorArg,
    f: impl FnOnce(&Tensor) -> flex::Result<Vec<Tensor>> + Send,
) -> PyResult<Bound<'py, PyAny>> {
    let tensors = crate::convert::detached(py, cubic(x.0.shape()), || f(&x.0))?;
    named(py, class, tensors)
}
