//! `flex.nn`'s losses.

use crate::Tensor;
use crate::nn::{
    self, BinaryCrossEntropy, CosineEmbeddingLoss, CrossEntropy, CtcLoss, GaussianNllLoss, KlDiv,
    MarginRankingLoss, NllLoss, PoissonNllLoss, Reduction, TripletMarginLoss, WithLogits,
};
use crate::python::cell::PyTensor;
use crate::python::convert::{Arg, Ints, compute, count};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// torch's name of a reduction.
pub(super) fn reduction(op: &str, name: &str) -> PyResult<Reduction> {
    Reduction::from_name(name).ok_or_else(|| {
        PyValueError::new_err(format!(
            "{op}: reduction is {name:?}; it is \"none\", \"mean\" or \"sum\""
        ))
    })
}
fn tensor(t: &Option<Arg>) -> Option<&Tensor> {
    t.as_ref().map(|t| &t.0)
}

/// `(x - target)**2`, reduced.
///
/// x, target: tensors of numbers, which broadcast (ShapeError); integers are computed in float32.
/// reduction: "mean", "sum" or "none" (ValueError). The result has their common dtype. DTypeError for
/// complex numbers.
///
/// >>> flex.nn.mse_loss(flex.asarray([1.0, 2.0]), flex.asarray([0.0, 4.0])).item()
/// 2.5
#[pyfunction]
#[pyo3(signature = (x, target, *, reduction = "mean"))]
fn mse_loss(py: Python<'_>, x: Arg, target: Arg, reduction: &str) -> PyResult<PyTensor> {
    let how = self::reduction("mse_loss", reduction)?;
    compute(py, x.0.len(), || nn::mse_loss(&x.0, &target.0, how))
}

/// `|x - target|`, reduced.
///
/// x, target, reduction and errors: as for `mse_loss`.
///
/// >>> flex.nn.l1_loss(flex.asarray([1.0, 2.0]), flex.asarray([0.0, 4.0])).item()
/// 1.5
#[pyfunction]
#[pyo3(signature = (x, target, *, reduction = "mean"))]
fn l1_loss(py: Python<'_>, x: Arg, target: Arg, reduction: &str) -> PyResult<PyTensor> {
    let how = self::reduction("l1_loss", reduction)?;
    compute(py, x.0.len(), || nn::l1_loss(&x.0, &target.0, how))
}

/// `d**2 / (2 * beta)` where `d = |x - target|` is below `beta`, else `d - beta / 2` (Girshick, 2015),
/// reduced.
///
/// beta: 0 or more (ValueError). x, target, reduction and errors: as for `mse_loss`.
///
/// >>> flex.nn.smooth_l1_loss(flex.asarray([1.0, 3.0]), flex.asarray([0.0, 0.0]), beta=2.0, reduction="none").tolist()
/// [0.25, 2.0]
#[pyfunction]
#[pyo3(signature = (x, target, *, reduction = "mean", beta = 1.0))]
fn smooth_l1_loss(
    py: Python<'_>,
    x: Arg,
    target: Arg,
    reduction: &str,
    beta: f64,
) -> PyResult<PyTensor> {
    let how = self::reduction("smooth_l1_loss", reduction)?;
    compute(py, x.0.len(), || {
        nn::smooth_l1_loss(&x.0, &target.0, beta, how)
    })
}

/// `d**2 / 2` where `d = |x - target|` is below `delta`, else `delta * (d - delta / 2)` (Huber, 1964),
/// reduced.
///
/// delta: above 0 (ValueError). x, target, reduction and errors: as for `mse_loss`.
///
/// >>> flex.nn.huber_loss(flex.asarray([1.0, 3.0]), flex.asarray([0.0, 0.0]), delta=2.0, reduction="none").tolist()
/// [0.5, 4.0]
#[pyfunction]
#[pyo3(signature = (x, target, *, reduction = "mean", delta = 1.0))]
fn huber_loss(
    py: Python<'_>,
    x: Arg,
    target: Arg,
    reduction: &str,
    delta: f64,
) -> PyResult<PyTensor> {
    let how = self::reduction("huber_loss", reduction)?;
    compute(py, x.0.len(), || {
        nn::huber_loss(&x.0, &target.0, delta, how)
    })
}

/// `-(target * log(x) + (1 - target) * log(1 - x))`, reduced; logarithms are no less than -100.
///
/// x: probabilities, from 0 to 1 (ValueError). target: of the shape of x (ShapeError). weight: a factor
/// of each term; broadcasts. reduction and dtypes: as for `mse_loss`.
///
/// >>> flex.nn.binary_cross_entropy(flex.asarray([1.0, 0.0]), flex.asarray([1.0, 1.0]), reduction="none").tolist()
/// [0.0, 100.0]
#[pyfunction]
#[pyo3(signature = (x, target, weight = None, *, reduction = "mean"))]
fn binary_cross_entropy(
    py: Python<'_>,
    x: Arg,
    target: Arg,
    weight: Option<Arg>,
    reduction: &str,
) -> PyResult<PyTensor> {
    let options = BinaryCrossEntropy {
        weight: tensor(&weight),
        reduction: self::reduction("binary_cross_entropy", reduction)?,
    };
    compute(py, x.0.len(), || {
        nn::binary_cross_entropy(&x.0, &target.0, options)
    })
}

/// `binary_cross_entropy` of `sigmoid(x)`, without overflow or cancellation.
///
/// x: a tensor of numbers. target: of its shape (ShapeError). weight: a factor of each term. pos_weight:
/// a factor of what a target of 1 costs. Both broadcast. reduction and dtypes: as for `mse_loss`.
///
/// >>> flex.nn.binary_cross_entropy_with_logits(flex.asarray([1000.0]), flex.asarray([0.0])).item()
/// 1000.0
#[pyfunction]
#[pyo3(signature = (x, target, weight = None, *, reduction = "mean", pos_weight = None))]
fn binary_cross_entropy_with_logits(
    py: Python<'_>,
    x: Arg,
    target: Arg,
    weight: Option<Arg>,
    reduction: &str,
    pos_weight: Option<Arg>,
) -> PyResult<PyTensor> {
    let options = WithLogits {
        weight: tensor(&weight),
        pos_weight: tensor(&pos_weight),
        reduction: self::reduction("binary_cross_entropy_with_logits", reduction)?,
    };
    compute(py, x.0.len(), || {
        nn::binary_cross_entropy_with_logits(&x.0, &target.0, options)
    })
}

/// `target * (log(target) - x)`, reduced, 0 where target is: x are logarithms of probabilities (Kullback
/// and Leibler, 1951).
///
/// x, target: tensors of numbers, which broadcast (ShapeError). reduction: "mean", "sum", "none", or
/// "batchmean", the sum divided by the size of the first axis (ValueError). log_target: whether target
/// are logarithms too. The result has the common dtype. DTypeError for complex numbers.
///
/// >>> flex.nn.kl_div(flex.asarray([0.0, -1.0]), flex.asarray([0.0, 1.0]), reduction="sum").item()
/// 1.0
#[pyfunction]
#[pyo3(signature = (x, target, *, reduction = "mean", log_target = false))]
fn kl_div(
    py: Python<'_>,
    x: Arg,
    target: Arg,
    reduction: &str,
    log_target: bool,
) -> PyResult<PyTensor> {
    let batchmean = reduction == "batchmean";
    let how = if batchmean { "sum" } else { reduction };
    let options = KlDiv {
        log_target,
        batchmean,
        reduction: self::reduction("kl_div", how)?,
    };
    compute(py, x.0.len(), || nn::kl_div(&x.0, &target.0, options))
}

/// `exp(x) - target * x`, or `x - target * log(x + eps)` of rates, reduced.
///
/// x, target: tensors of numbers, which broadcast (ShapeError). log_input: whether x are logarithms of
/// rates. full: adds Stirling's approximation of what depends on target alone. reduction and dtypes: as
/// for `mse_loss`.
///
/// >>> flex.nn.poisson_nll_loss(flex.asarray([0.0, 0.0]), flex.asarray([0.0, 3.0])).item()
/// 1.0
#[pyfunction]
#[pyo3(signature = (x, target, log_input = true, full = false, *, eps = 1e-8, reduction = "mean"))]
fn poisson_nll_loss(
    py: Python<'_>,
    x: Arg,
    target: Arg,
    log_input: bool,
    full: bool,
    eps: f64,
    reduction: &str,
) -> PyResult<PyTensor> {
    let options = PoissonNllLoss {
        log_input,
        full,
        eps,
        reduction: self::reduction("poisson_nll_loss", reduction)?,
    };
    compute(py, x.0.len(), || {
        nn::poisson_nll_loss(&x.0, &target.0, options)
    })
}

/// `(log(var) + (x - target)**2 / var) / 2`, reduced (Nix and Weigend, 1994).
///
/// x, target: tensors of numbers, which broadcast (ShapeError). var: variances, of the shape of x, or that
/// without its last axis, or broadcasting; none negative (ValueError). full: adds `log(2 * pi) / 2`. eps:
/// the least variance. reduction and dtypes: as for `mse_loss`.
///
/// >>> flex.nn.gaussian_nll_loss(flex.asarray([1.0, 3.0]), flex.asarray([0.0, 0.0]), flex.asarray([1.0])).item()
/// 2.5
#[pyfunction]
#[pyo3(signature = (x, target, var, full = false, eps = 1e-6, reduction = "mean"), text_signature = "(x, target, var, full=False, eps=1e-06, reduction='mean')")]
fn gaussian_nll_loss(
    py: Python<'_>,
    x: Arg,
    target: Arg,
    var: Arg,
    full: bool,
    eps: f64,
    reduction: &str,
) -> PyResult<PyTensor> {
    let options = GaussianNllLoss {
        full,
        eps,
        reduction: self::reduction("gaussian_nll_loss", reduction)?,
    };
    compute(py, x.0.len(), || {
        nn::gaussian_nll_loss(&x.0, &target.0, &var.0, options)
    })
}

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
        reduction: self::reduction("cross_entropy", reduction)?,
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
        reduction: self::reduction("nll_loss", reduction)?,
    };
    compute(py, x.0.len(), || nn::nll_loss(&x.0, &target.0, options))
}

/// `1 - cos` of pairs of rows whose target is 1, `max(0, cos - margin)` of those whose is -1, reduced; cos
/// is the cosine of their angle.
///
/// x1, x2: `[batch, width]`, or without the batch. target: `[batch]` (ShapeError), 1 or -1 (ValueError).
/// reduction and dtypes: as for `mse_loss`.
///
/// >>> a, b = flex.asarray([[1.0, 0.0], [1.0, 0.0]]), flex.asarray([[0.0, 1.0], [2.0, 0.0]])
/// >>> flex.nn.cosine_embedding_loss(a, b, flex.asarray([1, -1])).item()
/// 1.0
#[pyfunction]
#[pyo3(signature = (x1, x2, target, margin = 0.0, *, reduction = "mean"))]
fn cosine_embedding_loss(
    py: Python<'_>,
    x1: Arg,
    x2: Arg,
    target: Arg,
    margin: f64,
    reduction: &str,
) -> PyResult<PyTensor> {
    let options = CosineEmbeddingLoss {
        margin,
        reduction: self::reduction("cosine_embedding_loss", reduction)?,
    };
    compute(py, x1.0.len(), || {
        nn::cosine_embedding_loss(&x1.0, &x2.0, &target.0, options)
    })
}

/// `max(0, margin - target * (x1 - x2))`, reduced: target is 1 where x1 should be the larger, and -1 where
/// x2 should.
///
/// x1, x2, target: tensors of numbers, which broadcast (ShapeError). reduction and dtypes: as for
/// `mse_loss`.
///
/// >>> a, b = flex.asarray([1.0, 1.0]), flex.asarray([3.0, 3.0])
/// >>> flex.nn.margin_ranking_loss(a, b, flex.asarray([1.0, -1.0])).item()
/// 1.0
#[pyfunction]
#[pyo3(signature = (x1, x2, target, margin = 0.0, *, reduction = "mean"))]
fn margin_ranking_loss(
    py: Python<'_>,
    x1: Arg,
    x2: Arg,
    target: Arg,
    margin: f64,
    reduction: &str,
) -> PyResult<PyTensor> {
    let options = MarginRankingLoss {
        margin,
        reduction: self::reduction("margin_ranking_loss", reduction)?,
    };
    compute(py, x1.0.len(), || {
        nn::margin_ranking_loss(&x1.0, &x2.0, &target.0, options)
    })
}

/// `max(0, margin + d(anchor, positive) - d(anchor, negative))`, reduced, d being `pairwise_distance`
/// (Schroff et al., 2015).
///
/// anchor, positive, negative: tensors of numbers whose rows, along the last axis, are compared; they
/// broadcast (ShapeError). p, eps: those of the distance. swap: the negative's distance is that to the
/// nearer of anchor and positive (Balntas et al., 2016). reduction and dtypes: as for `mse_loss`.
///
/// >>> a, p, n = flex.asarray([[0.0]]), flex.asarray([[3.0]]), flex.asarray([[1.0]])
/// >>> flex.nn.triplet_margin_loss(a, p, n, eps=0.0).item()
/// 3.0
#[pyfunction]
#[pyo3(signature = (anchor, positive, negative, margin = 1.0, p = 2.0, eps = 1e-6, swap = false, *, reduction = "mean"), text_signature = "(anchor, positive, negative, margin=1.0, p=2.0, eps=1e-06, swap=False, *, reduction='mean')")]
#[allow(clippy::too_many_arguments, reason = "torch's")]
fn triplet_margin_loss(
    py: Python<'_>,
    anchor: Arg,
    positive: Arg,
    negative: Arg,
    margin: f64,
    p: f64,
    eps: f64,
    swap: bool,
    reduction: &str,
) -> PyResult<PyTensor> {
    let options = TripletMarginLoss {
        margin,
        p,
        eps,
        swap,
        reduction: self::reduction("triplet_margin_loss", reduction)?,
    };
    compute(py, anchor.0.len(), || {
        nn::triplet_margin_loss(&anchor.0, &positive.0, &negative.0, options)
    })
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
        reduction: self::reduction(OP, reduction)?,
        zero_infinity,
    };
    let work = log_probs.0.len();
    compute(py, work, || {
        nn::ctc_loss(&log_probs.0, &targets.0, &inputs, &labels, options)
    })
}

/// Adds them to `flex.nn`.
pub(super) fn register(nn: &Bound<PyModule>) -> PyResult<()> {
    nn.add_function(wrap_pyfunction!(binary_cross_entropy, nn)?)?;
    nn.add_function(wrap_pyfunction!(binary_cross_entropy_with_logits, nn)?)?;
    nn.add_function(wrap_pyfunction!(cosine_embedding_loss, nn)?)?;
    nn.add_function(wrap_pyfunction!(cross_entropy, nn)?)?;
    nn.add_function(wrap_pyfunction!(ctc_loss, nn)?)?;
    nn.add_function(wrap_pyfunction!(gaussian_nll_loss, nn)?)?;
    nn.add_function(wrap_pyfunction!(huber_loss, nn)?)?;
    nn.add_function(wrap_pyfunction!(kl_div, nn)?)?;
    nn.add_function(wrap_pyfunction!(l1_loss, nn)?)?;
    nn.add_function(wrap_pyfunction!(margin_ranking_loss, nn)?)?;
    nn.add_function(wrap_pyfunction!(mse_loss, nn)?)?;
    nn.add_function(wrap_pyfunction!(nll_loss, nn)?)?;
    nn.add_function(wrap_pyfunction!(poisson_nll_loss, nn)?)?;
    nn.add_function(wrap_pyfunction!(smooth_l1_loss, nn)?)?;
    nn.add_function(wrap_pyfunction!(triplet_margin_loss, nn)?)
}
