//! `flex.nn.grad`: gradients, by the names of the functions that they are of.

use crate::error::Result;
use crate::nn::grad;
use crate::python::cell::PyTensor;
use crate::python::convert::{Arg, Ints, compute, count, detached};
use crate::python::linalg::work;
use crate::tensor::Tensor;
use pyo3::prelude::*;

/// Several results at once.
fn compute_all<const N: usize>(
    py: Python<'_>,
    elements: usize,
    f: impl FnOnce() -> Result<[Tensor; N]> + Send,
) -> PyResult<[PyTensor; N]> {
    detached(py, elements, f).map(|results| results.map(PyTensor::new))
}

/// The gradient of the operand of `softmax`, whose result is `y`: `y * (grad - sum(grad * y))` along
/// the axis.
///
/// grad: of the shape of y (ShapeError). The result has that shape, and the common dtype, a float
/// (DTypeError). AxisError if the axis is out of range.
///
/// >>> y = flex.nn.softmax(flex.asarray([0.0, 0.0]))
/// >>> flex.nn.grad.softmax(flex.asarray([1.0, 0.0]), y).tolist()
/// [0.25, -0.25]
#[pyfunction]
#[pyo3(signature = (grad, y, axis = -1), text_signature = "(grad, y, axis=-1)")]
fn softmax(py: Python<'_>, grad: Arg, y: Arg, axis: isize) -> PyResult<PyTensor> {
    compute(py, y.0.len(), || grad::softmax(&grad.0, &y.0, axis))
}

/// The gradient of the operand of `log_softmax`, whose result is `y`: `grad - exp(y) * sum(grad)`
/// along the axis.
///
/// grad: of the shape of y (ShapeError). The result has that shape, and the common dtype, a float
/// (DTypeError). AxisError if the axis is out of range.
///
/// >>> y = flex.nn.log_softmax(flex.asarray([0.0, 0.0]))
/// >>> flex.nn.grad.log_softmax(flex.asarray([1.0, 0.0]), y).tolist()
/// [0.5, -0.5]
#[pyfunction]
#[pyo3(signature = (grad, y, axis = -1), text_signature = "(grad, y, axis=-1)")]
fn log_softmax(py: Python<'_>, grad: Arg, y: Arg, axis: isize) -> PyResult<PyTensor> {
    compute(py, y.0.len(), || grad::log_softmax(&grad.0, &y.0, axis))
}

/// The gradients of x, weight and bias of `layer_norm`, the last two as if there had been a weight
/// and a bias; a weight that is not given is all ones.
///
/// grad: of the shape of x. x: its last dimensions are normalized_shape (an integer or a tuple),
/// which is the shape of weight (ShapeError). The results have the common dtype, a float
/// (DTypeError).
///
/// >>> x, grad = flex.asarray([[1.0, 3.0]]), flex.asarray([[1.0, 0.0]])
/// >>> x, weight, bias = flex.nn.grad.layer_norm(grad, x, 2, eps=0.0)
/// >>> weight.tolist(), bias.tolist()
/// ([-1.0, 0.0], [1.0, 0.0])
#[pyfunction]
#[pyo3(signature = (grad, x, normalized_shape, weight = None, eps = 1e-5))]
fn layer_norm(
    py: Python<'_>,
    grad: Arg,
    x: Arg,
    normalized_shape: Ints,
    weight: Option<Arg>,
    eps: f64,
) -> PyResult<(PyTensor, PyTensor, PyTensor)> {
    let shape = normalized_shape.shape()?;
    let weight = weight.as_ref().map(|w| &w.0);
    let [x, weight, bias] = compute_all(py, x.0.len(), || {
        grad::layer_norm(&grad.0, &x.0, &shape, weight, eps)
    })?;
    Ok((x, weight, bias))
}

/// The gradients of x and weight of `rms_norm`, the second as if there had been a weight; a weight
/// that is not given is all ones.
///
/// grad: of the shape of x. x: its last dimensions are normalized_shape (an integer or a tuple),
/// which is the shape of weight (ShapeError). eps: by default the machine epsilon of x's dtype. The
/// results have the common dtype, a float (DTypeError).
///
/// >>> x, grad = flex.asarray([[2.0, -2.0]]), flex.asarray([[1.0, 2.0]])
/// >>> x, weight = flex.nn.grad.rms_norm(grad, x, 2, eps=0.0)
/// >>> x.tolist(), weight.tolist()
/// ([[0.75, 0.75]], [1.0, -2.0])
#[pyfunction]
#[pyo3(signature = (grad, x, normalized_shape, weight = None, eps = None))]
fn rms_norm(
    py: Python<'_>,
    grad: Arg,
    x: Arg,
    normalized_shape: Ints,
    weight: Option<Arg>,
    eps: Option<f64>,
) -> PyResult<(PyTensor, PyTensor)> {
    let shape = normalized_shape.shape()?;
    let weight = weight.as_ref().map(|w| &w.0);
    let [x, weight] = compute_all(py, x.0.len(), || {
        grad::rms_norm(&grad.0, &x.0, &shape, weight, eps)
    })?;
    Ok((x, weight))
}

/// The gradients of x, weight and bias of `linear` without activation and residual: `grad @ weight`,
/// `grad.mT @ x`, and the sum of grad over all but the last dimension.
///
/// grad: `[.., out]`. x: `[.., in]`. weight: `[out, in]` (ShapeError). The results have the common
/// dtype, a float (DTypeError).
///
/// >>> grad, x, weight = flex.asarray([[10.0]]), flex.asarray([[1.0, 2.0]]), flex.asarray([[3.0, 4.0]])
/// >>> [d.tolist() for d in flex.nn.grad.linear(grad, x, weight)]
/// [[[30.0, 40.0]], [[10.0, 20.0]], [10.0]]
#[pyfunction]
#[pyo3(signature = (grad, x, weight))]
fn linear(
    py: Python<'_>,
    grad: Arg,
    x: Arg,
    weight: Arg,
) -> PyResult<(PyTensor, PyTensor, PyTensor)> {
    let width = weight.0.shape().first().copied().unwrap_or(1);
    let [x, weight, bias] = compute_all(py, work(&x.0, width), || {
        grad::linear(&grad.0, &x.0, &weight.0)
    })?;
    Ok((x, weight, bias))
}

/// The gradient of the weight of `embedding`: each of its rows is the sum of the rows of grad whose
/// index it was.
///
/// grad: `[.., width]`. indices: of the shape of grad without its last dimension (ShapeError).
/// num_embeddings: the rows of the weight; an index beyond them is an IndexError. The result is
/// `[num_embeddings, width]`, of grad's dtype, a float (DTypeError).
///
/// >>> grad = flex.asarray([[1.0], [2.0], [4.0]])
/// >>> flex.nn.grad.embedding(grad, flex.asarray([1, 0, 1]), 3).tolist()
/// [[2.0], [5.0], [0.0]]
#[pyfunction]
#[pyo3(signature = (grad, indices, num_embeddings))]
fn embedding(py: Python<'_>, grad: Arg, indices: Arg, num_embeddings: isize) -> PyResult<PyTensor> {
    let entries = count("grad.embedding", "num_embeddings", num_embeddings)?;
    compute(py, grad.0.len(), || {
        grad::embedding(&grad.0, &indices.0, entries)
    })
}

/// The module `grad`, from which `flex/nn/grad.py` takes its functions; their `__module__` is
/// `flex.nn.grad`.
pub(super) fn register(nn: &Bound<PyModule>) -> PyResult<()> {
    let grad = PyModule::new(nn.py(), "flex.nn.grad")?;
    grad.add_function(wrap_pyfunction!(embedding, &grad)?)?;
    grad.add_function(wrap_pyfunction!(layer_norm, &grad)?)?;
    grad.add_function(wrap_pyfunction!(linear, &grad)?)?;
    grad.add_function(wrap_pyfunction!(log_softmax, &grad)?)?;
    grad.add_function(wrap_pyfunction!(rms_norm, &grad)?)?;
    grad.add_function(wrap_pyfunction!(softmax, &grad)?)?;
    nn.setattr("_grad", grad)
}
