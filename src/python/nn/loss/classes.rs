//! Losses of classes, and of sequences of them.

use super::tensor;
use crate::nn::{self, CrossEntropy, CtcLoss, NllLoss};
use crate::python::cell::PyTensor;
use crate::python::convert::{Arg, Ints, compute, count};
use pyo3::prelude::*;

/// `-log(softmax(x))` of each target class, reduced.
///
/// x: scores, floats of shape `[batch, classes, ..]` or `[classes]`. target: classes, integers of that
/// shape without the classes; or their probabilities, floats of the shape of x (ShapeError). weight:
/// `[classes]`, a factor of each class; "mean" divides by the sum of those used. ignore_index: a target
/// that counts for nothing. label_smoothing: the share of each target that is spread over all classes
/// (Szegedy et al., 2016). reduction: as for `mse_loss`. The result has the dtype of x. ValueError if a
/// target is no class, or the smoothing not from 0 to 1; DTypeError if x is not a float.
///
/// >>> x = flex.asarray([[0.0, 0.0], [1000.0, 0.0]])
/// >>> flex.nn.cross_entropy(x, flex.asarray([0, 1]), reduction="none").tolist()
/// [0.6931471824645996, 1000.0]
#[pyfunction]
#[pyo3(signature = (x, target, weight = None, *, ignore_index = -100, reduction = "mean", label_smoothing = 0.0), text_signature = "(x, target, weight=None, *, ignore_index=-100, reduction='mean', label_smoothing=0.0)")]
fn cross_entropy(
    py: Python<'_>,
    x: Arg,
    target: Arg,
    weight: Option<Arg>,
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

/// `-x` of each target class, reduced; x are logarithms of probabilities, as `log_softmax` gives them.
///
/// x: floats of shape `[batch, classes, ..]` or `[classes]`. target: classes, integers of that shape
/// without the classes. weight, ignore_index, reduction and errors: as for `cross_entropy`.
///
/// >>> x = flex.asarray([[-1.0, -2.0], [-3.0, -4.0]])
/// >>> flex.nn.nll_loss(x, flex.asarray([0, -100])).item()
/// 1.0
#[pyfunction]
#[pyo3(signature = (x, target, weight = None, *, ignore_index = -100, reduction = "mean"), text_signature = "(x, target, weight=None, *, ignore_index=-100, reduction='mean')")]
fn nll_loss(
    py: Python<'_>,
    x: Arg,
    target: Arg,
    weight: Option<Arg>,
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

/// The negative logarithm of the probability of a sequence of labels over all ways to spread them over
/// time, with blanks between (Graves et al., 2006).
///
/// log_probs: `[time, batch, classes]` or `[time, classes]` of floats, as `log_softmax` gives them.
/// targets: labels, integers of shape `[batch, length]`, or all of them one after the other. input_lengths,
/// target_lengths: how much of each is used, an integer for each of the batch (ShapeError, ValueError).
/// blank: the class of no label; no target is that (ValueError). reduction: "mean" divides each loss by
/// the length of its target first. zero_infinity: infinite losses, of targets that are too long, are 0.
/// The result has the dtype of log_probs.
///
/// >>> x = flex.log(flex.full((2, 1, 2), 0.5))
/// >>> round(flex.exp(-flex.nn.ctc_loss(x, flex.asarray([[1]]), 2, 1)).item(), 3)
/// 0.75
#[pyfunction]
#[pyo3(signature = (log_probs, targets, input_lengths, target_lengths, blank = 0, reduction = "mean", zero_infinity = false))]
#[allow(clippy::too_many_arguments, reason = "torch's")]
fn ctc_loss(
    py: Python<'_>,
    log_probs: Arg,
    targets: Arg,
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

pub(super) fn register(nn: &Bound<PyModule>) -> PyResult<()> {
    nn.add_function(wrap_pyfunction!(cross_entropy, nn)?)?;
    nn.add_function(wrap_pyfunction!(nll_loss, nn)?)?;
    nn.add_function(wrap_pyfunction!(ctc_loss, nn)?)
}
