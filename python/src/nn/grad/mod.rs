//! `flex.nn.grad`: gradients, named after their functions.

mod activation;
mod attention;
mod conv;
mod deform;
mod linear;
mod loss;
mod norm;
mod pool;
mod resample;
mod rows;

use crate::cell::PyTensor;
use crate::convert::detached;
use flex::Result;
use flex::Tensor;
use pyo3::prelude::*;

/// The gradients of an operand, its weight and its bias, say.
type ThreeGradients = (PyTensor, PyTensor, PyTensor);

/// Computes several results at once.
fn compute_all<const N: usize>(
    py: Python<'_>,
    elements: usize,
    f: impl FnOnce() -> Result<[Tensor; N]> + Send,
) -> PyResult<[PyTensor; N]> {
    detached(py, elements, f).map(|results| results.map(PyTensor::new))
}
