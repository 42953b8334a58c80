//! `flex.nn`'s normalisations.

use crate::nn;
use crate::python::cell::PyTensor;
use crate::python::convert::{Arg, Ints, compute};
use pyo3::prelude::*;

/// `exp(x) / sum(exp(x))` along an axis, without overflow.
///
/// x: a tensor of floats; integers are converted to float32. The result has its shape and dtype; if
/// all elements are `-inf`, the result is NaN. DTypeError for complex numbers; AxisError if the
/// axis is out of range.
///
/// >>> flex.nn.softmax(flex.asarray([0.0, 0.0, -flex.inf])).tolist()
/// [0.5, 0.5, 0.0]
#[pyfunction]
#[pyo3(signature = (x, axis = -1), text_signature = "(x, axis=-1)")]
fn softmax(py: Python<'_>, x: Arg, axis: isize) -> PyResult<PyTensor> {
    compute(py, x.0.len(), || nn::softmax(&x.0, axis))
}

/// The logarithm of `softmax`, without overflow or cancellation.
///
/// x: a tensor of floats; integers are converted to float32. The result has its shape and dtype.
/// DTypeError for complex numbers; AxisError if the axis is out of range.
///
/// >>> flex.nn.log_softmax(flex.asarray([0.0, -1000.0])).tolist()
/// [0.0, -1000.0]
#[pyfunction]
#[pyo3(signature = (x, axis = -1), text_signature = "(x, axis=-1)")]
fn log_softmax(py: Python<'_>, x: Arg, axis: isize) -> PyResult<PyTensor> {
    compute(py, x.0.len(), || nn::log_softmax(&x.0, axis))
}

/// `(x - mean) / sqrt(var + eps) * weight + bias`, with mean and variance over the last dimensions,
/// `normalized_shape`.
///
/// x: a tensor of floats whose last dimensions are normalized_shape (an integer or a tuple), which
/// is the shape of weight and bias (ShapeError). The result has the shape and dtype of x.
/// DTypeError if x is not a float.
///
/// >>> flex.nn.layer_norm(flex.asarray([-1.0, 1.0]), 2, eps=0.0).tolist()
/// [-1.0, 1.0]
#[pyfunction]
#[pyo3(signature = (x, normalized_shape, weight = None, bias = None, eps = 1e-5))]
fn layer_norm(
    py: Python<'_>,
    x: Arg,
    normalized_shape: Ints,
    weight: Option<Arg>,
    bias: Option<Arg>,
    eps: f64,
) -> PyResult<PyTensor> {
    let shape = normalized_shape.shape()?;
    compute(py, x.0.len(), || {
        nn::layer_norm(
            &x.0,
            &shape,
            weight.as_ref().map(|w| &w.0),
            bias.as_ref().map(|b| &b.0),
            eps,
        )
    })
}

/// `x / sqrt(mean(x * x) + eps) * weight`, with the mean over the last dimensions,
/// `normalized_shape`.
///
/// x: a tensor of floats whose last dimensions are normalized_shape (an integer or a tuple), which
/// is the shape of weight (ShapeError). eps: by default the dtype's machine epsilon. The result has
/// the shape and dtype of x. DTypeError if x is not a float.
///
/// >>> flex.nn.rms_norm(flex.asarray([2.0, -2.0]), 2, eps=0.0).tolist()
/// [1.0, -1.0]
#[pyfunction]
#[pyo3(signature = (x, normalized_shape, weight = None, eps = None))]
fn rms_norm(
    py: Python<'_>,
    x: Arg,
    normalized_shape: Ints,
    weight: Option<Arg>,
    eps: Option<f64>,
) -> PyResult<PyTensor> {
    let shape = normalized_shape.shape()?;
    compute(py, x.0.len(), || {
        nn::rms_norm(&x.0, &shape, weight.as_ref().map(|w| &w.0), eps)
    })
}

/// Adds them to `flex.nn`.
pub(super) fn register(nn: &Bound<PyModule>) -> PyResult<()> {
    nn.add_function(wrap_pyfunction!(softmax, nn)?)?;
    nn.add_function(wrap_pyfunction!(log_softmax, nn)?)?;
    nn.add_function(wrap_pyfunction!(layer_norm, nn)?)?;
    nn.add_function(wrap_pyfunction!(rms_norm, nn)?)
}
