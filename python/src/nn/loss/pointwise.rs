//! Losses of differences.

use crate::cell::PyTensor;
use crate::convert::error::Raise;
use crate::convert::{Operand, compute};
use flex::nn;
use pyo3::prelude::*;

/// `(x - target)**2`, reduced.
///
/// x, target: tensors of numbers, which broadcast (ShapeError); integers are computed in float32.
/// reduction: "mean", "sum" or "none" (ValueError). The result has their common dtype. DTypeError for
/// complex numbers.
///
/// >>> flex.nn.mse_loss(flex.asarray([1.0, 2.0]), flex.asarray([0.0, 4.0])).item()
/// 2.5
#[function(x, target, *, reduction: "_Reduction" = "mean")]
fn mse_loss(py: Python<'_>, x: Operand, target: Operand, reduction: &str) -> PyResult<PyTensor> {
    let (x, target) = Operand::tensors(x, target).raise()?;
    let how = super::reduction("mse_loss", reduction)?;
    compute(py, x.len(), || nn::mse_loss(&x, &target, how))
}

/// `|x - target|`, reduced.
///
/// x, target, reduction and errors: as for `mse_loss`.
///
/// >>> flex.nn.l1_loss(flex.asarray([1.0, 2.0]), flex.asarray([0.0, 4.0])).item()
/// 1.5
#[function(x, target, *, reduction: "_Reduction" = "mean")]
fn l1_loss(py: Python<'_>, x: Operand, target: Operand, reduction: &str) -> PyResult<PyTensor> {
    let (x, target) = Operand::tensors(x, target).raise()?;
    let how = super::reduction("l1_loss", reduction)?;
    compute(py, x.len(), || nn::l1_loss(&x, &target, how))
}

/// `d**2 / (2 * beta)` where `d = |x - target|` is below `beta`, else `d - beta / 2` (Girshick, 2015),
/// reduced.
///
/// beta: 0 or more (ValueError). x, target, reduction and errors: as for `mse_loss`.
///
/// >>> flex.nn.smooth_l1_loss(flex.asarray([1.0, 3.0]), flex.asarray([0.0, 0.0]), beta=2.0, reduction="none").tolist()
/// [0.25, 2.0]
#[function(x, target, *, reduction: "_Reduction" = "mean", beta = 1.0)]
fn smooth_l1_loss(
    py: Python<'_>,
    x: Operand,
    target: Operand,
    reduction: &str,
    beta: f64,
) -> PyResult<PyTensor> {
    let (x, target) = Operand::tensors(x, target).raise()?;
    let how = super::reduction("smooth_l1_loss", reduction)?;
    compute(py, x.len(), || nn::smooth_l1_loss(&x, &target, beta, how))
}

/// `d**2 / 2` where `d = |x - target|` is below `delta`, else `delta * (d - delta / 2)` (Huber, 1964),
/// reduced.
///
/// delta: positive and finite (ValueError). x, target, reduction and errors: as for `mse_loss`.
///
/// >>> flex.nn.huber_loss(flex.asarray([1.0, 3.0]), flex.asarray([0.0, 0.0]), delta=2.0, reduction="none").tolist()
/// [0.5, 4.0]
#[function(x, target, reduction: "_Reduction" = "mean", delta = 1.0)]
fn huber_loss(
    py: Python<'_>,
    x: Operand,
    target: Operand,
    reduction: &str,
    delta: f64,
) -> PyResult<PyTensor> {
    let (x, target) = Operand::tensors(x, target).raise()?;
    let how = super::reduction("huber_loss", reduction)?;
    compute(py, x.len(), || nn::huber_loss(&x, &target, delta, how))
}
