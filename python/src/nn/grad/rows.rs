//! Gradients of functions of rows: softmax and normalisations.

use super::compute_all;
use crate::cell::PyTensor;
use crate::convert::{Ints, TensorArg, compute};
use flex::nn::{self, grad};
use pyo3::prelude::*;

/// The gradient of `softmax`, from its result `y`: `y * (grad - sum(grad * y))` along the axis.
///
/// grad: of the shape of y (ShapeError). The result has that shape, and the common dtype, a float
/// (DTypeError). AxisError if the axis is out of range.
///
/// >>> y = flex.nn.softmax(flex.asarray([0.0, 0.0]))
/// >>> flex.nn.grad.softmax(flex.asarray([1.0, 0.0]), y).tolist()
/// [0.25, -0.25]
#[function(grad, y, axis = -1)]
fn softmax(py: Python<'_>, grad: TensorArg, y: TensorArg, axis: isize) -> PyResult<PyTensor> {
    compute(py, y.0.len(), || grad::softmax(&grad.0, &y.0, axis))
}

/// The gradient of `log_softmax`, from its result `y`: `grad - exp(y) * sum(grad)` along the axis.
///
/// grad: of the shape of y (ShapeError). The result has that shape, and the common dtype, a float
/// (DTypeError). AxisError if the axis is out of range.
///
/// >>> y = flex.nn.log_softmax(flex.asarray([0.0, 0.0]))
/// >>> flex.nn.grad.log_softmax(flex.asarray([1.0, 0.0]), y).tolist()
/// [0.5, -0.5]
#[function(grad, y, axis = -1)]
fn log_softmax(py: Python<'_>, grad: TensorArg, y: TensorArg, axis: isize) -> PyResult<PyTensor> {
    compute(py, y.0.len(), || grad::log_softmax(&grad.0, &y.0, axis))
}

/// The gradients of x, weight and bias of `layer_norm`, the last two even if there was no weight or
/// bias; without a weight, it counts as ones.
///
/// grad: of the shape of x. x: its last dimensions are normalized_shape (an integer or a tuple),
/// which is the shape of weight (ShapeError). The results have the common dtype, a float
/// (DTypeError).
///
/// >>> x, grad = flex.asarray([[1.0, 3.0]]), flex.asarray([[1.0, 0.0]])
/// >>> x, weight, bias = flex.nn.grad.layer_norm(grad, x, 2, eps=0.0)
/// >>> weight.tolist(), bias.tolist()
/// ([-1.0, 0.0], [1.0, 0.0])
#[function(grad, x, normalized_shape, weight = None, eps = 1e-5)]
fn layer_norm(
    py: Python<'_>,
    grad: TensorArg,
    x: TensorArg,
    normalized_shape: Ints,
    weight: Option<TensorArg>,
    eps: f64,
) -> PyResult<(PyTensor, PyTensor, PyTensor)> {
    let shape = normalized_shape.shape("grad.layer_norm", "normalized_shape")?;
    let options = nn::LayerNorm {
        weight: weight.as_ref().map(|w| &w.0),
        eps,
        ..Default::default()
    };
    let [x, weight, bias] = compute_all(py, x.0.len(), || {
        grad::layer_norm(&grad.0, &x.0, &shape, options)
    })?;
    Ok((x, weight, bias))
}

/// The gradients of x and weight of `rms_norm`, the latter even if there was no weight; without
/// one, it counts as ones.
///
/// grad: of the shape of x. x: its last dimensions are normalized_shape (an integer or a tuple),
/// which is the shape of weight (ShapeError). eps: by default the machine epsilon of x's dtype. The
/// results have the common dtype, a float (DTypeError).
///
/// >>> x, grad = flex.asarray([[2.0, -2.0]]), flex.asarray([[1.0, 2.0]])
/// >>> x, weight = flex.nn.grad.rms_norm(grad, x, 2, eps=0.0)
/// >>> x.tolist(), weight.tolist()
/// ([[0.75, 0.75]], [1.0, -2.0])
#[function(grad, x, normalized_shape, weight = None, eps = None)]
fn rms_norm(
    py: Python<'_>,
    grad: TensorArg,
    x: TensorArg,
    normalized_shape: Ints,
    weight: Option<TensorArg>,
    eps: Option<f64>,
) -> PyResult<(PyTensor, PyTensor)> {
    let shape = normalized_shape.shape("grad.rms_norm", "normalized_shape")?;
    let options = nn::RmsNorm {
        weight: weight.as_ref().map(|w| &w.0),
        eps,
    };
    let [x, weight] = compute_all(py, x.0.len(), || {
        grad::rms_norm(&grad.0, &x.0, &shape, options)
    })?;
    Ok((x, weight))
}
