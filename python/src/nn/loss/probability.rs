//! Losses of probabilities.

use super::tensor;
use crate::cell::PyTensor;
use crate::convert::error::Raise;
use crate::convert::{Operand, TensorArg, compute};
use flex::nn::{self, BinaryCrossEntropy, GaussianNllLoss, KlDiv, PoissonNllLoss, WithLogits};
use pyo3::prelude::*;

/// `-(target * log(x) + (1 - target) * log(1 - x))`, reduced, with logarithms clamped to at least
/// -100.
///
/// x, target: probabilities, from 0 to 1 (ValueError), of one shape (ShapeError). weight: a factor
/// for each term; broadcasts. reduction and dtypes: as for `mse_loss`.
///
/// >>> flex.nn.binary_cross_entropy(flex.asarray([1.0, 0.0]), flex.asarray([1.0, 1.0]), reduction="none").tolist()
/// [0.0, 100.0]
#[function(x, target, weight = None, *, reduction: "_Reduction" = "mean")]
fn binary_cross_entropy(
    py: Python<'_>,
    x: Operand,
    target: Operand,
    weight: Option<TensorArg>,
    reduction: &str,
) -> PyResult<PyTensor> {
    let (x, target) = Operand::tensors(x, target).raise()?;
    let options = BinaryCrossEntropy {
        weight: tensor(&weight),
        reduction: super::reduction("binary_cross_entropy", reduction)?,
    };
    compute(py, x.len(), || {
        nn::binary_cross_entropy(&x, &target, options)
    })
}

/// `binary_cross_entropy` of `sigmoid(x)`, without overflow or cancellation.
///
/// x: a tensor of numbers. target: of its shape (ShapeError); values outside 0 to 1 are accepted, as
/// in torch. weight: a factor for each term.
/// pos_weight: a factor for positive targets. Both broadcast. reduction and dtypes: as for
/// `mse_loss`.
///
/// >>> flex.nn.binary_cross_entropy_with_logits(flex.asarray([1000.0]), flex.asarray([0.0])).item()
/// 1000.0
#[function(x, target, weight = None, *, reduction: "_Reduction" = "mean", pos_weight = None)]
fn binary_cross_entropy_with_logits(
    py: Python<'_>,
    x: Operand,
    target: Operand,
    weight: Option<TensorArg>,
    reduction: &str,
    pos_weight: Option<TensorArg>,
) -> PyResult<PyTensor> {
    let (x, target) = Operand::tensors(x, target).raise()?;
    let options = WithLogits {
        weight: tensor(&weight),
        pos_weight: tensor(&pos_weight),
        reduction: super::reduction("binary_cross_entropy_with_logits", reduction)?,
    };
    compute(py, x.len(), || {
        nn::binary_cross_entropy_with_logits(&x, &target, options)
    })
}

/// `target * (log(target) - x)`, or 0 where target is 0, reduced: the Kullback-Leibler divergence
/// (1951) of log-probabilities x.
///
/// x, target: tensors of numbers, which broadcast (ShapeError). reduction: "mean", "sum", "none",
/// or "batchmean", the sum divided by the size of the first axis (ValueError). log_target: whether
/// target are log-probabilities too. The result has the common dtype; a negative target gives NaN, as
/// in torch. DTypeError for complex numbers.
///
/// >>> flex.nn.kl_div(flex.asarray([0.0, -1.0]), flex.asarray([0.0, 1.0]), reduction="sum").item()
/// 1.0
#[function(x, target, *, reduction: "Literal['none', 'mean', 'sum', 'batchmean']" = "mean", log_target = false)]
fn kl_div(
    py: Python<'_>,
    x: Operand,
    target: Operand,
    reduction: &str,
    log_target: bool,
) -> PyResult<PyTensor> {
    let (x, target) = Operand::tensors(x, target).raise()?;
    let batchmean = reduction == "batchmean";
    let how = if batchmean { "sum" } else { reduction };
    let options = KlDiv {
        log_target,
        batchmean,
        reduction: super::reduction("kl_div", how)?,
    };
    compute(py, x.len(), || nn::kl_div(&x, &target, options))
}

/// The negative log-likelihood of a Poisson distribution: `exp(x) - target * x`, or for rates `x -
/// target * log(x + eps)`, reduced.
///
/// x, target: tensors of numbers, which broadcast (ShapeError). log_input: whether x are logarithms
/// of rates. full: whether to add Stirling's approximation of the terms that depend on target
/// alone. eps: finite, 0 or more (ValueError). reduction and dtypes: as for `mse_loss`.
///
/// >>> flex.nn.poisson_nll_loss(flex.asarray([0.0, 0.0]), flex.asarray([0.0, 3.0])).item()
/// 1.0
#[function(x, target, log_input = true, full = false, *, eps = 1e-8, reduction: "_Reduction" = "mean")]
fn poisson_nll_loss(
    py: Python<'_>,
    x: Operand,
    target: Operand,
    log_input: bool,
    full: bool,
    eps: f64,
    reduction: &str,
) -> PyResult<PyTensor> {
    let (x, target) = Operand::tensors(x, target).raise()?;
    let options = PoissonNllLoss {
        log_input,
        full,
        eps,
        reduction: super::reduction("poisson_nll_loss", reduction)?,
    };
    compute(py, x.len(), || nn::poisson_nll_loss(&x, &target, options))
}

/// The negative log-likelihood of a Gaussian distribution: `(log(var) + (x - target)**2 / var) /
/// 2`, reduced (Nix and Weigend, 1994).
///
/// x, target: tensors of numbers, which broadcast (ShapeError). var: variances, of the shape of x,
/// or that without its last axis, or broadcasting; none negative (ValueError). full: whether to add
/// `log(2 * pi) / 2`. eps: the lower bound of variances, finite and 0 or more (ValueError). reduction
/// and dtypes: as for `mse_loss`.
///
/// >>> flex.nn.gaussian_nll_loss(flex.asarray([1.0, 3.0]), flex.asarray([0.0, 0.0]), flex.asarray([1.0])).item()
/// 2.5
#[function(x, target, var, full = false, eps = 1e-6, reduction: "_Reduction" = "mean")]
fn gaussian_nll_loss(
    py: Python<'_>,
    x: Operand,
    target: Operand,
    var: Operand,
    full: bool,
    eps: f64,
    reduction: &str,
) -> PyResult<PyTensor> {
    let (x, target) = Operand::tensors(x, target).raise()?;
    let var = var.tensor_like(x.dtype()).raise()?;
    let options = GaussianNllLoss {
        full,
        eps,
        reduction: super::reduction("gaussian_nll_loss", reduction)?,
    };
    compute(py, x.len(), || {
        nn::gaussian_nll_loss(&x, &target, &var, options)
    })
}
