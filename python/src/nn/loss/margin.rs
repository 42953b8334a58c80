//! Margin losses.

use crate::cell::PyTensor;
use crate::convert::{TensorArg, compute};
use flex::nn::{self, CosineEmbeddingLoss, MarginRankingLoss, TripletMarginLoss};
use pyo3::prelude::*;

/// `1 - cos` for pairs of rows with target 1, `max(0, cos - margin)` for those with -1, reduced,
/// where cos is the cosine of their angle.
///
/// x1, x2: `[batch, width]`, or without the batch. target: `[batch]` (ShapeError), 1 or -1. margin:
/// from -1 to 1 (ValueError). reduction and dtypes: as for `mse_loss`.
///
/// >>> a, b = flex.asarray([[1.0, 0.0], [1.0, 0.0]]), flex.asarray([[0.0, 1.0], [2.0, 0.0]])
/// >>> flex.nn.cosine_embedding_loss(a, b, flex.asarray([1, -1])).item()
/// 1.0
#[function(x1, x2, target, margin = 0.0, *, reduction: "_Reduction" = "mean")]
fn cosine_embedding_loss(
    py: Python<'_>,
    x1: TensorArg,
    x2: TensorArg,
    target: TensorArg,
    margin: f64,
    reduction: &str,
) -> PyResult<PyTensor> {
    let options = CosineEmbeddingLoss {
        margin,
        reduction: super::reduction("cosine_embedding_loss", reduction)?,
    };
    compute(py, x1.0.len(), || {
        nn::cosine_embedding_loss(&x1.0, &x2.0, &target.0, options)
    })
}

/// `max(0, margin - target * (x1 - x2))`, reduced: target is 1 where x1 should be larger, and -1
/// where x2 should.
///
/// x1, x2, target: tensors of numbers, which broadcast (ShapeError). margin: finite (ValueError).
/// reduction and dtypes: as for `mse_loss`.
///
/// >>> a, b = flex.asarray([1.0, 1.0]), flex.asarray([3.0, 3.0])
/// >>> flex.nn.margin_ranking_loss(a, b, flex.asarray([1.0, -1.0])).item()
/// 1.0
#[function(x1, x2, target, margin = 0.0, *, reduction: "_Reduction" = "mean")]
fn margin_ranking_loss(
    py: Python<'_>,
    x1: TensorArg,
    x2: TensorArg,
    target: TensorArg,
    margin: f64,
    reduction: &str,
) -> PyResult<PyTensor> {
    let options = MarginRankingLoss {
        margin,
        reduction: super::reduction("margin_ranking_loss", reduction)?,
    };
    compute(py, x1.0.len(), || {
        nn::margin_ranking_loss(&x1.0, &x2.0, &target.0, options)
    })
}

/// `max(0, margin + d(anchor, positive) - d(anchor, negative))`, reduced, with d =
/// `pairwise_distance` (Schroff et al., 2015).
///
/// anchor, positive, negative: tensors of numbers whose rows, along the last axis, are compared;
/// they broadcast (ShapeError). margin: 0 or more. p, eps: those of the distance; p above 0
/// (ValueError). swap: whether the negative's distance is measured from the nearer of anchor and
/// positive (Balntas et al., 2016). reduction and dtypes: as for `mse_loss`.
///
/// >>> a, p, n = flex.asarray([[0.0]]), flex.asarray([[3.0]]), flex.asarray([[1.0]])
/// >>> flex.nn.triplet_margin_loss(a, p, n, eps=0.0).item()
/// 3.0
#[function(anchor, positive, negative, margin = 1.0, p = 2.0, eps = 1e-6, swap = false, *, reduction: "_Reduction" = "mean")]
#[allow(clippy::too_many_arguments, reason = "torch's")]
fn triplet_margin_loss(
    py: Python<'_>,
    anchor: TensorArg,
    positive: TensorArg,
    negative: TensorArg,
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
        reduction: super::reduction("triplet_margin_loss", reduction)?,
    };
    compute(py, anchor.0.len(), || {
        nn::triplet_margin_loss(&anchor.0, &positive.0, &negative.0, options)
    })
}
