//! Gradients of linear layers and embeddings.

use super::compute_all;
use crate::cell::PyTensor;
use crate::convert::{TensorArg, compute, count};
use crate::products::work;
use flex::nn::grad;
use pyo3::prelude::*;

/// The gradients of x, weight and bias of `linear` without activation and residual: `grad @
/// weight`, `grad.mT @ x`, and the sum of grad over all dimensions but the last.
///
/// grad: `[.., out]`. x: `[.., in]`. weight: `[out, in]` (ShapeError). The results have the common
/// dtype, a float (DTypeError).
///
/// >>> grad, x, weight = flex.asarray([[10.0]]), flex.asarray([[1.0, 2.0]]), flex.asarray([[3.0, 4.0]])
/// >>> [d.tolist() for d in flex.nn.grad.linear(grad, x, weight)]
/// [[[30.0, 40.0]], [[10.0, 20.0]], [10.0]]
#[function(grad, x, weight)]
fn linear(
    py: Python<'_>,
    grad: TensorArg,
    x: TensorArg,
    weight: TensorArg,
) -> PyResult<(PyTensor, PyTensor, PyTensor)> {
    let width = weight.0.shape().first().copied().unwrap_or(1);
    let [x, weight, bias] = compute_all(py, work(&x.0, width), || {
        grad::linear(&grad.0, &x.0, &weight.0)
    })?;
    Ok((x, weight, bias))
}

/// The gradient of the weight of `embedding`: each row is the sum of the rows of grad that have its
/// index.
///
/// grad: `[.., width]`. indices: of the shape of grad without its last dimension (ShapeError).
/// num_embeddings: the rows of the weight; an index beyond them is an IndexError. The result is
/// `[num_embeddings, width]`, of grad's dtype, a float (DTypeError).
///
/// >>> grad = flex.asarray([[1.0], [2.0], [4.0]])
/// >>> flex.nn.grad.embedding(grad, flex.asarray([1, 0, 1]), 3).tolist()
/// [[2.0], [5.0], [0.0]]
#[function(grad, indices, num_embeddings)]
fn embedding(
    py: Python<'_>,
    grad: TensorArg,
    indices: TensorArg,
    num_embeddings: isize,
) -> PyResult<PyTensor> {
    let entries = count("grad.embedding", "num_embeddings", num_embeddings)?;
    compute(py, grad.0.len(), || {
        grad::embedding(&grad.0, &indices.0, entries)
    })
}
