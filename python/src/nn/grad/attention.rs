//! Gradients of attention.

use super::compute_all;
use crate::cell::PyTensor;
use crate::convert::{Ints, TensorArg, compute};
use crate::nn::attention::{align, keys, window};
use crate::products::work;
use flex::nn::{Attention, grad};
use pyo3::prelude::*;

/// The gradients of query, key and value of `scaled_dot_product_attention`, in their shapes.
/// Gradients of operands that were repeated, by broadcasting or enable_gqa, are summed.
///
/// grad: of the shape of the result (ShapeError). Otherwise, and for the errors, as for
/// `flex.nn.scaled_dot_product_attention`. Scores are recomputed by blocks of queries; the matrix
/// of scores is never materialised. The results have the common dtype of query, key and value;
/// 16-bit floats are computed in float32. A query whose keys are all masked contributes nothing.
///
/// >>> q, k = flex.asarray([[0.0]]), flex.asarray([[1.0], [2.0]])
/// >>> v, grad = flex.asarray([[4.0], [8.0]]), flex.asarray([[1.0]])
/// >>> [d.tolist() for d in flex.nn.grad.scaled_dot_product_attention(grad, q, k, v)]
/// [[[1.0]], [[0.0], [0.0]], [[0.5], [0.5]]]
#[function(grad, query, key, value, attn_mask = None, *, is_causal = false, scale = None, enable_gqa = false, softcap = None, window = None, align: "Literal['upper_left', 'lower_right'] | None" = None)]
#[allow(clippy::too_many_arguments, reason = "torch's")]
fn scaled_dot_product_attention(
    py: Python<'_>,
    grad: TensorArg,
    query: TensorArg,
    key: TensorArg,
    value: TensorArg,
    attn_mask: Option<TensorArg>,
    is_causal: bool,
    scale: Option<f64>,
    enable_gqa: bool,
    softcap: Option<f64>,
    window: Option<Ints>,
    align: Option<&str>,
) -> PyResult<(PyTensor, PyTensor, PyTensor)> {
    const OP: &str = "grad.scaled_dot_product_attention";
    let options = Attention {
        mask: attn_mask.as_ref().map(|m| &m.0),
        causal: is_causal,
        window: self::window(OP, window)?,
        align: self::align(OP, align)?,
        softcap,
        scale,
        grouped: enable_gqa,
    };
    let [query, key, value] = compute_all(py, work(&query.0, keys(&key)), || {
        grad::scaled_dot_product_attention(&grad.0, &query.0, &key.0, &value.0, options)
    })?;
    Ok((query, key, value))
}

/// The gradient of attn_mask of `scaled_dot_product_attention`, if that is a float added to the
/// scores: the gradient of the scores, summed where the mask was broadcast.
///
/// attn_mask: of floats (ValueError). Otherwise as for `scaled_dot_product_attention`. The result
/// has the shape and dtype of attn_mask. Materialises the matrix of scores.
///
/// >>> q, k, bias = flex.asarray([[0.0]]), flex.asarray([[1.0], [2.0]]), flex.asarray([[0.0, 0.0]])
/// >>> v, grad = flex.asarray([[4.0], [8.0]]), flex.asarray([[1.0]])
/// >>> flex.nn.grad.scaled_dot_product_attention_mask(grad, q, k, v, bias).tolist()
/// [[-1.0, 1.0]]
#[function(grad, query, key, value, attn_mask, *, is_causal = false, scale = None, enable_gqa = false, softcap = None, window = None, align: "Literal['upper_left', 'lower_right'] | None" = None)]
#[allow(clippy::too_many_arguments, reason = "torch's")]
fn scaled_dot_product_attention_mask(
    py: Python<'_>,
    grad: TensorArg,
    query: TensorArg,
    key: TensorArg,
    value: TensorArg,
    attn_mask: TensorArg,
    is_causal: bool,
    scale: Option<f64>,
    enable_gqa: bool,
    softcap: Option<f64>,
    window: Option<Ints>,
    align: Option<&str>,
) -> PyResult<PyTensor> {
    const OP: &str = "grad.scaled_dot_product_attention_mask";
    let options = Attention {
        mask: Some(&attn_mask.0),
        causal: is_causal,
        window: self::window(OP, window)?,
        align: self::align(OP, align)?,
        softcap,
        scale,
        grouped: enable_gqa,
    };
    compute(py, work(&query.0, keys(&key)), || {
        grad::scaled_dot_product_attention_mask(&grad.0, &query.0, &key.0, &value.0, options)
    })
}
