//! Gradients of activations.

use crate::cell::PyTensor;
use crate::convert::{TensorArg, compute};
use flex::nn::grad;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The gradient of `relu`: grad where x is above 0, and 0 elsewhere. The result of `relu` may be
/// passed for x.
///
/// grad: of the shape of x (ShapeError). The result has that shape, and the common dtype, a float
/// (DTypeError).
///
/// >>> flex.nn.grad.relu(flex.asarray([2.0, 3.0]), flex.asarray([-1.0, 1.0])).tolist()
/// [0.0, 3.0]
#[function(grad, x)]
fn relu(py: Python<'_>, grad: TensorArg, x: TensorArg) -> PyResult<PyTensor> {
    compute(py, x.0.len(), || grad::relu(&grad.0, &x.0))
}

/// The gradient of `sigmoid`, from its result `y`: `grad * y * (1 - y)`.
///
/// grad: of the shape of y. Errors and dtypes as for `relu`.
///
/// >>> flex.nn.grad.sigmoid(flex.asarray([2.0]), flex.nn.sigmoid(flex.asarray([0.0]))).tolist()
/// [0.5]
#[function(grad, y)]
fn sigmoid(py: Python<'_>, grad: TensorArg, y: TensorArg) -> PyResult<PyTensor> {
    compute(py, y.0.len(), || grad::sigmoid(&grad.0, &y.0))
}

/// The gradient of `flex.tanh`, from its result `y`: `grad * (1 - y * y)`.
///
/// grad: of the shape of y. Errors and dtypes as for `relu`.
///
/// >>> flex.nn.grad.tanh(flex.asarray([2.0]), flex.asarray([0.5])).tolist()
/// [1.5]
#[function(grad, y)]
fn tanh(py: Python<'_>, grad: TensorArg, y: TensorArg) -> PyResult<PyTensor> {
    compute(py, y.0.len(), || grad::tanh(&grad.0, &y.0))
}

/// The gradient of `silu`: `grad * s * (1 + x * (1 - s))` with `s = sigmoid(x)`.
///
/// grad: of the shape of x. Errors and dtypes as for `relu`.
///
/// >>> flex.nn.grad.silu(flex.asarray([2.0]), flex.asarray([0.0])).tolist()
/// [1.0]
#[function(grad, x)]
fn silu(py: Python<'_>, grad: TensorArg, x: TensorArg) -> PyResult<PyTensor> {
    compute(py, x.0.len(), || grad::silu(&grad.0, &x.0))
}

/// The gradient of `gelu`: `grad * (P(x) + x * p(x))`, with the distribution function and density
/// of the normal distribution, or that of the tanh approximation.
///
/// grad: of the shape of x. approximate: "none" or "tanh" (ValueError). Errors and dtypes as for
/// `relu`.
///
/// >>> flex.nn.grad.gelu(flex.asarray([2.0]), flex.asarray([0.0]), approximate="tanh").tolist()
/// [1.0]
#[function(grad, x, *, approximate: "Literal['none', 'tanh']" = "none")]
fn gelu(py: Python<'_>, grad: TensorArg, x: TensorArg, approximate: &str) -> PyResult<PyTensor> {
    let gradient = match approximate {
        "none" => grad::gelu,
        "tanh" => grad::gelu_tanh,
        other => {
            return Err(PyValueError::new_err(format!(
                "grad.gelu: approximate is {other:?}; it is \"none\" or \"tanh\""
            )));
        }
    };
    compute(py, x.0.len(), || gradient(&grad.0, &x.0))
}
