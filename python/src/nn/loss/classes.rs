//! Losses of classes, and of sequences of labels.

use super::tensor;
use crate::cell::PyTensor;
use crate::convert::{Ints, TensorArg, compute, count};
use flex::nn::{self, CrossEntropy, CtcLoss, NllLoss};
use pyo3::prelude::*;

/// `-log(softmax(x))` at each target, reduced.
///
/// x: scores, floats of shape `[batch, classes, ..]` or `[classes]`. target: class indices,
/// integers of that shape without the axis of classes; or probabilities, floats of the shape of x
/// (ShapeError). weight: `[classes]`, a factor per class; "mean" divides by the sum of those used.
/// ignore_index: targets with this class are ignored. label_smoothing: the share of each target
/// that is spread over all classes (Szegedy et al., 2016). reduction: as for `mse_loss`. The result
/// has the dtype of x. ValueError if a target is out of range, or the smoothing not from 0 to 1;
/// DTypeError if x is not a float.
///
/// >>> x = flex.asarray([[0.0, 0.0], [1000.0, 0.0]])
/// >>> flex.nn.cross_entropy(x, flex.asarray([0, 1]), reduction="none").tolist()
/// [0.6931471824645996, 1000.0]
#[function(x, target, weight = None, *, ignore_index = -100, reduction: "_Reduction" = "mean", label_smoothing = 0.0)]
fn cross_entropy(
    py: Python<'_>,
    x: TensorArg,
    target: TensorArg,
    weight: Option<TensorArg>,
    ignore_index: i64,
    reduction: &str,
    label_smoothing: f64,
) -> PyResult<PyTensor> {
    let options = CrossEntropy {
        weight: tensor(&weight),
        ignore_index,
        label_smoothing,
        reduction: super::reduction("cross_entropy", reduction)?,
    };
    compute(py, x.0.len(), || {
        nn::cross_entropy(&x.0, &target.0, options)
    })
}

/// `-x` at each target, reduced, for log-probabilities x, as `log_softmax` returns them.
///
/// x: floats of shape `[batch, classes, ..]` or `[classes]`. target: class indices, integers of
/// that shape without the axis of classes. weight, ignore_index, reduction and errors: as for
/// `cross_entropy`.
///
/// >>> x = flex.asarray([[-1.0, -2.0], [-3.0, -4.0]])
/// >>> flex.nn.nll_loss(x, flex.asarray([0, -100])).item()
/// 1.0
#[function(x, target, weight = None, *, ignore_index = -100, reduction: "_Reduction" = "mean")]
fn nll_loss(
    py: Python<'_>,
    x: TensorArg,
    target: TensorArg,
    weight: Option<TensorArg>,
    ignore_index: i64,
    reduction: &str,
) -> PyResult<PyTensor> {
    let options = NllLoss {
        weight: tensor(&weight),
        ignore_index,
        reduction: super::reduction("nll_loss", reduction)?,
    };
    compute(py, x.0.len(), || nn::nll_loss(&x.0, &target.0, options))
}

/// The negative log-probability of a sequence of labels, summed over all alignments with blanks
/// between labels (Graves et al., 2006).
///
/// log_probs: `[time, batch, classes]` or `[time, classes]` of floats, as `log_softmax` returns
/// them. targets: labels, integers of shape `[batch, length]`, or concatenated. input_lengths,
/// target_lengths: how much of each is used, an integer for each of the batch (ShapeError,
/// ValueError). blank: the class of the blank label, which is no target (ValueError). reduction:
/// "mean" first divides each loss by the length of its target. zero_infinity: whether infinite
/// losses, of targets that are too long, count as 0. The result has the dtype of log_probs.
///
/// >>> x = flex.log(flex.full((2, 1, 2), 0.5))
/// >>> round(flex.exp(-flex.nn.ctc_loss(x, flex.asarray([[1]]), 2, 1)).item(), 3)
/// 0.75
#[function(log_probs, targets, input_lengths, target_lengths, blank = 0, reduction: "_Reduction" = "mean", zero_infinity = false)]
#[allow(clippy::too_many_arguments, reason = "torch's")]
fn ctc_loss(
    py: Python<'_>,
    log_probs: TensorArg,
    targets: TensorArg,
    input_lengths: Ints,
    target_lengths: Ints,
    blank: isize,
    reduction: &str,
    zero_infinity: bool,
) -> PyResult<PyTensor> {
    const OP: &str = "ctc_loss";
    let lengths = |name: &str, n: &Ints| {
        let n = n.0.iter().map(|n| count(OP, name, *n));
        n.collect::<PyResult<Vec<usize>>>()
    };
    let inputs = lengths("input_lengths", &input_lengths)?;
    let labels = lengths("target_lengths", &target_lengths)?;
    let options = CtcLoss {
        blank: count(OP, "blank", blank)?,
        reduction: super::reduction(OP, reduction)?,
        zero_infinity,
    };
    let work = log_probs.0.len();
    compute(py, work, || {
        nn::ctc_loss(&log_probs.0, &targets.0, &inputs, &labels, options)
    })
}
