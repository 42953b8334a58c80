//! Embeddings of `flex.nn`.

use crate::cell::PyTensor;
use crate::convert::{TensorArg, compute, count};
use flex::nn::{self, BagMode, EmbeddingBag};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The rows of `weight` at `indices`.
///
/// indices: integers of any shape; negative ones count from the end. weight: `[entries, width]`
/// (ShapeError). The result is `[.., width]`, of the dtype of the weight. IndexError if an index is
/// out of range; DTypeError if `indices` is not an integer tensor.
///
/// >>> flex.nn.embedding(flex.asarray([1, 0]), flex.asarray([[1.0, 2.0], [3.0, 4.0]])).tolist()
/// [[3.0, 4.0], [1.0, 2.0]]
#[function(indices, weight)]
fn embedding(py: Python<'_>, indices: TensorArg, weight: TensorArg) -> PyResult<PyTensor> {
    let width = weight.0.shape().last().copied().unwrap_or(1);
    compute(py, indices.0.len().saturating_mul(width), || {
        nn::embedding(&indices.0, &weight.0)
    })
}

/// The sum, mean or maximum of the rows of `weight` at the indices of each bag, without
/// materialising these rows.
///
/// indices: integers of shape `[bags, length]`, or a vector with offsets. weight: `[entries,
/// width]` (ShapeError). offsets: where each bag starts, ascending from 0. mode: "mean", "sum" or
/// "max" (ValueError). per_sample_weights: a factor per row, with the shape of the indices, for
/// sums. include_last_offset: whether the last offset is the end of the last bag. padding_idx: rows
/// with this index are skipped. The result is `[bags, width]`, zeros for an empty bag, of the dtype
/// of weight. ValueError if an index is out of range; DTypeError if weight is not a float.
///
/// >>> weight = flex.asarray([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
/// >>> flex.nn.embedding_bag(flex.asarray([0, 2, 1]), weight, flex.asarray([0, 2]), mode="sum").tolist()
/// [[6.0, 8.0], [3.0, 4.0]]
#[function(indices, weight, offsets = None, *, mode: "Literal['mean', 'sum', 'max']" = "mean", per_sample_weights = None, include_last_offset = false, padding_idx = None)]
fn embedding_bag(
    py: Python<'_>,
    indices: TensorArg,
    weight: TensorArg,
    offsets: Option<TensorArg>,
    mode: &str,
    per_sample_weights: Option<TensorArg>,
    include_last_offset: bool,
    padding_idx: Option<isize>,
) -> PyResult<PyTensor> {
    const OP: &str = "embedding_bag";
    let mode = match mode {
        "mean" => BagMode::Mean,
        "sum" => BagMode::Sum,
        "max" => BagMode::Max,
        other => {
            return Err(PyValueError::new_err(format!(
                "{OP}: mode is {other:?}; it is \"mean\", \"sum\" or \"max\""
            )));
        }
    };
    let padding_idx = padding_idx
        .map(|p| count(OP, "padding_idx", p))
        .transpose()?;
    let width = weight.0.shape().last().copied().unwrap_or(1);
    compute(py, indices.0.len().saturating_mul(width), || {
        let options = EmbeddingBag {
            offsets: offsets.as_ref().map(|o| &o.0),
            mode,
            per_sample_weights: per_sample_weights.as_ref().map(|w| &w.0),
            include_last_offset,
            padding_idx,
        };
        nn::embedding_bag(&indices.0, &weight.0, options)
    })
}

/// One-hot vectors: 1 at the position of each integer and 0 elsewhere.
///
/// x: integers of any shape (DTypeError). num_classes: the length of the vectors; -1 for one more
/// than the largest integer. The result is `[.., classes]` of int64. ValueError if an integer is
/// negative or too large.
///
/// >>> flex.nn.one_hot(flex.asarray([1, 0]), 3).tolist()
/// [[0, 1, 0], [1, 0, 0]]
#[function(x, num_classes = -1)]
fn one_hot(py: Python<'_>, x: TensorArg, num_classes: isize) -> PyResult<PyTensor> {
    let classes = match num_classes {
        -1 => None,
        n => Some(count("one_hot", "num_classes", n)?),
    };
    let work = x.0.len().saturating_mul(classes.unwrap_or(64));
    compute(py, work, || nn::one_hot(&x.0, classes))
}
