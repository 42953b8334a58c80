//! Distances and similarities of `flex.nn`.

use crate::cell::PyTensor;
use crate::convert::{TensorArg, axis_or_dim, compute};
use flex::nn::{self, Cdist, CosineSimilarity, PairwiseDistance};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The cosine of the angle between vectors along an axis: `sum(x1 * x2) / (max(|x1|, eps) *
/// max(|x2|, eps))`.
///
/// x1, x2: tensors of numbers, which broadcast (ShapeError); integers are computed in float32. eps:
/// the lower bound of the norms, finite and 0 or more (ValueError). dim: an alias of axis. The result lacks the axis, and has the
/// common dtype. DTypeError for complex numbers; AxisError if the axis is out of range.
///
/// >>> flex.nn.cosine_similarity(flex.asarray([[3.0, 4.0]]), flex.asarray([[3.0, 4.0], [-4.0, 3.0]])).tolist()
/// [1.0, 0.0]
#[function(x1, x2, axis = 1, eps = 1e-8, *, dim = None)]
fn cosine_similarity(
    py: Python<'_>,
    x1: TensorArg,
    x2: TensorArg,
    axis: Option<isize>,
    eps: f64,
    dim: Option<isize>,
) -> PyResult<PyTensor> {
    let axis = axis_or_dim("cosine_similarity", axis, dim, 1)?;
    compute(py, x1.0.len().max(x2.0.len()), || {
        nn::cosine_similarity(&x1.0, &x2.0, CosineSimilarity { axis, eps })
    })
}

/// `sum(|x1 - x2 + eps|**p)**(1 / p)` along the last axis.
///
/// x1, x2: tensors of numbers, which broadcast (ShapeError); integers are computed in float32. p:
/// the order of the norm, 0 or more. eps: finite, 0 or more (ValueError). keepdim: whether the last axis is kept, with
/// size 1. The result has the common dtype. DTypeError for complex numbers.
///
/// >>> flex.nn.pairwise_distance(flex.asarray([[3.0, 0.0]]), flex.asarray([[0.0, 4.0]]), eps=0.0).tolist()
/// [5.0]
#[function(x1, x2, p = 2.0, eps = 1e-6, keepdim = false)]
fn pairwise_distance(
    py: Python<'_>,
    x1: TensorArg,
    x2: TensorArg,
    p: f64,
    eps: f64,
    keepdim: bool,
) -> PyResult<PyTensor> {
    let options = PairwiseDistance {
        p,
        eps,
        keepdims: keepdim,
    };
    compute(py, x1.0.len().max(x2.0.len()), || {
        nn::pairwise_distance(&x1.0, &x2.0, options)
    })
}

/// The distances between all rows of x1 and all rows of x2, like torch.cdist.
///
/// x1: `[.., m, width]`. x2: `[.., n, width]`; leading dimensions broadcast (ShapeError). p: the
/// order of the norm, 0 or more (ValueError). compute_mode: whether Euclidean distances are
/// computed by a matrix product, which is faster but less precise for points close to each other:
/// "use_mm_for_euclid_dist_if_necessary" (from 26 points on), "use_mm_for_euclid_dist" or
/// "donot_use_mm_for_euclid_dist" (ValueError). The result is `[.., m, n]`, of the common dtype.
/// DTypeError for complex numbers.
///
/// >>> flex.nn.cdist(flex.asarray([[0.0, 0.0]]), flex.asarray([[3.0, 4.0], [0.0, 1.0]])).tolist()
/// [[5.0, 1.0]]
#[function(x1, x2, p = 2.0, compute_mode: "Literal['use_mm_for_euclid_dist_if_necessary', 'use_mm_for_euclid_dist', 'donot_use_mm_for_euclid_dist']" = "use_mm_for_euclid_dist_if_necessary")]
fn cdist(
    py: Python<'_>,
    x1: TensorArg,
    x2: TensorArg,
    p: f64,
    compute_mode: &str,
) -> PyResult<PyTensor> {
    let product = match compute_mode {
        "use_mm_for_euclid_dist_if_necessary" => None,
        "use_mm_for_euclid_dist" => Some(true),
        "donot_use_mm_for_euclid_dist" => Some(false),
        other => {
            return Err(PyValueError::new_err(format!(
                "cdist: compute_mode is {other:?}; it is \"use_mm_for_euclid_dist_if_necessary\", \
                    \"use_mm_for_euclid_dist\" or \"donot_use_mm_for_euclid_dist\""
            )));
        }
    };
    let work = x1.0.len().saturating_mul(x2.0.len());
    compute(py, work, || nn::cdist(&x1.0, &x2.0, Cdist { p, product }))
}

/// The distances between all pairs of rows of x: the part of `cdist(x, x)` above the diagonal, row
/// by row.
///
/// x: `[n, width]` of numbers (ShapeError). p: the order of the norm, 0 or more (ValueError). The
/// result has `n * (n - 1) / 2` elements, of the dtype of x; integers are computed in float32.
/// DTypeError for complex numbers.
///
/// >>> flex.nn.pdist(flex.asarray([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]]), 1.0).tolist()
/// [7.0, 1.0, 6.0]
#[function(x, p = 2.0)]
fn pdist(py: Python<'_>, x: TensorArg, p: f64) -> PyResult<PyTensor> {
    let work = x.0.len().saturating_mul(x.0.len());
    compute(py, work, || nn::pdist(&x.0, p))
}
