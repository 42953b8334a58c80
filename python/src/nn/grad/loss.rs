//! Gradients of losses.

use crate::cell::PyTensor;
use crate::convert::{TensorArg, compute};
use crate::nn::loss::reduction;
use flex::nn::{CrossEntropy, grad};
use pyo3::prelude::*;

/// The gradient of x of `cross_entropy`: for each term `softmax(x)` less its target, times the
/// term's weight.
///
/// grad: of the shape of the loss, a number unless reduction is "none" (ShapeError), a float
/// (DTypeError). Otherwise, and for the errors, as for `flex.nn.cross_entropy`. The result has the
/// shape and dtype of x.
///
/// >>> x = flex.asarray([[0.0, 0.0], [0.0, 1000.0]])
/// >>> flex.nn.grad.cross_entropy(flex.asarray(1.0), x, flex.asarray([0, 1])).tolist()
/// [[-0.25, 0.25], [0.0, 0.0]]
#[function(grad, x, target, weight = None, *, ignore_index = -100, reduction: "_Reduction" = "mean", label_smoothing = 0.0)]
#[allow(clippy::too_many_arguments, reason = "torch's")]
fn cross_entropy(
    py: Python<'_>,
    grad: TensorArg,
    x: TensorArg,
    target: TensorArg,
    weight: Option<TensorArg>,
    ignore_index: i64,
    reduction: &str,
    label_smoothing: f64,
) -> PyResult<PyTensor> {
    let options = CrossEntropy {
        weight: weight.as_ref().map(|w| &w.0),
        ignore_index,
        label_smoothing,
        reduction: self::reduction("grad.cross_entropy", reduction)?,
    };
    compute(py, x.0.len(), || {
        grad::cross_entropy(&grad.0, &x.0, &target.0, options)
    })
}
