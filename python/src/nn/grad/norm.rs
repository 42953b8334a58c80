//! Gradients of normalisations by channels.

use super::{ThreeGradients, compute_all};
use crate::convert::{TensorArg, count};
use crate::nn::norm::statistics;
use flex::nn::{ChannelNorm, grad};
use pyo3::prelude::*;

fn options(weight: &Option<TensorArg>, eps: f64) -> ChannelNorm<'_> {
    ChannelNorm {
        weight: weight.as_ref().map(|w| &w.0),
        bias: None,
        eps,
    }
}

/// The gradients of x, weight and bias of `batch_norm`, the last two even if there was no weight or
/// bias; without a weight, it counts as ones.
///
/// grad: of the shape of x. x: `[batch, channels, ..]` of floats; any strides. running_mean,
/// running_var: `[channels]`, the statistics, which are constants. training: whether the statistics
/// are those of x instead, which are differentiated too. weight: `[channels]` (ShapeError). The
/// results have the common dtype of grad and x, a float (DTypeError). ValueError if there are no
/// statistics.
///
/// >>> x, grad = flex.asarray([[1.0], [3.0]]), flex.asarray([[1.0], [0.0]])
/// >>> x, weight, bias = flex.nn.grad.batch_norm(grad, x, training=True, eps=0.0)
/// >>> weight.tolist(), bias.tolist()
/// ([-1.0], [1.0])
#[function(grad, x, running_mean = None, running_var = None, weight = None, training = false, eps = 1e-5)]
#[allow(clippy::too_many_arguments, reason = "torch's")]
fn batch_norm(
    py: Python<'_>,
    grad: TensorArg,
    x: TensorArg,
    running_mean: Option<TensorArg>,
    running_var: Option<TensorArg>,
    weight: Option<TensorArg>,
    training: bool,
    eps: f64,
) -> PyResult<ThreeGradients> {
    let op = "grad.batch_norm";
    let given = statistics(op, "training", !training, &running_mean, &running_var)?;
    let options = options(&weight, eps);
    let [x, weight, bias] = compute_all(py, x.0.len(), || {
        grad::batch_norm(&grad.0, &x.0, given, options)
    })?;
    Ok((x, weight, bias))
}

/// The gradients of x, weight and bias of `group_norm`, the last two even if there was no weight or
/// bias; without a weight, it counts as ones.
///
/// grad: of the shape of x. x: `[batch, channels, ..]` of floats; any strides. num_groups: divides
/// the channels. weight: `[channels]` (ShapeError). The results have the common dtype of grad and
/// x, a float (DTypeError).
///
/// >>> x, grad = flex.asarray([[1.0, 3.0]]), flex.asarray([[1.0, 0.0]])
/// >>> x, weight, bias = flex.nn.grad.group_norm(grad, x, 1, eps=0.0)
/// >>> weight.tolist(), bias.tolist()
/// ([-1.0, 0.0], [1.0, 0.0])
#[function(grad, x, num_groups, weight = None, eps = 1e-5)]
fn group_norm(
    py: Python<'_>,
    grad: TensorArg,
    x: TensorArg,
    num_groups: isize,
    weight: Option<TensorArg>,
    eps: f64,
) -> PyResult<ThreeGradients> {
    let groups = count("grad.group_norm", "num_groups", num_groups)?;
    let options = options(&weight, eps);
    let [x, weight, bias] = compute_all(py, x.0.len(), || {
        grad::group_norm(&grad.0, &x.0, groups, options)
    })?;
    Ok((x, weight, bias))
}

/// The gradients of x, weight and bias of `instance_norm`, the last two even if there was no weight
/// or bias; without a weight, it counts as ones.
///
/// use_input_stats: if False, mean and variance are running_mean and running_var, which are
/// constants (ValueError if there are none). Otherwise as for `batch_norm`.
///
/// >>> x, grad = flex.asarray([[[1.0, 3.0]]]), flex.asarray([[[1.0, 0.0]]])
/// >>> x, weight, bias = flex.nn.grad.instance_norm(grad, x, eps=0.0)
/// >>> weight.tolist(), bias.tolist()
/// ([-1.0], [1.0])
#[function(grad, x, running_mean = None, running_var = None, weight = None, use_input_stats = true, eps = 1e-5)]
#[allow(clippy::too_many_arguments, reason = "torch's")]
fn instance_norm(
    py: Python<'_>,
    grad: TensorArg,
    x: TensorArg,
    running_mean: Option<TensorArg>,
    running_var: Option<TensorArg>,
    weight: Option<TensorArg>,
    use_input_stats: bool,
    eps: f64,
) -> PyResult<ThreeGradients> {
    let given = statistics(
        "grad.instance_norm",
        "use_input_stats",
        !use_input_stats,
        &running_mean,
        &running_var,
    )?;
    let options = options(&weight, eps);
    let [x, weight, bias] = compute_all(py, x.0.len(), || {
        grad::instance_norm(&grad.0, &x.0, given, options)
    })?;
    Ok((x, weight, bias))
}
