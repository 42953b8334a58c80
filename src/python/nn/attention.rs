//! `flex.nn`'s attention.

use crate::nn::{self, Attention, VarlenAttention};
use crate::python::cell::PyTensor;
use crate::python::convert::{Arg, Ints, compute};
use crate::python::linalg::work;
use pyo3::prelude::*;

/// `softmax(query @ key.mT * scale + mask) @ value`, without materialising the matrix of scores.
///
/// query: `[.., queries, depth]`. key: `[.., keys, depth]`. value: `[.., keys, width]`. The result
/// is `[.., queries, width]`, of the common dtype; leading dimensions broadcast. A query whose keys
/// are all masked gives zeros. attn_mask: broadcasts to `[.., queries, keys]`; a bool mask is True
/// for the keys to attend to; a float mask is added to the scores. is_causal: query i attends to
/// keys up to i. scale: by default `1 / sqrt(depth)`. enable_gqa: key and value may have fewer
/// heads (dimension -3) than query, each shared by a group of adjacent query heads. ShapeError if
/// shapes don't fit; DTypeError if operands are not floats.
///
/// >>> q, k = flex.asarray([[1.0, 0.0]]), flex.asarray([[1.0, 0.0], [1.0, 0.0]])
/// >>> flex.nn.scaled_dot_product_attention(q, k, flex.asarray([[2.0], [4.0]])).tolist()
/// [[3.0]]
#[pyfunction]
#[pyo3(signature = (query, key, value, attn_mask = None, *, is_causal = false, scale = None, enable_gqa = false))]
fn scaled_dot_product_attention(
    py: Python<'_>,
    query: Arg,
    key: Arg,
    value: Arg,
    attn_mask: Option<Arg>,
    is_causal: bool,
    scale: Option<f64>,
    enable_gqa: bool,
) -> PyResult<PyTensor> {
    let keys = if key.0.rank() < 2 {
        1
    } else {
        key.0.shape()[key.0.rank() - 2]
    };
    let options = Attention {
        mask: attn_mask.as_ref().map(|m| &m.0),
        causal: is_causal,
        scale,
        grouped: enable_gqa,
    };
    compute(py, work(&query.0, keys), || {
        nn::scaled_dot_product_attention(&query.0, &key.0, &value.0, options)
    })
}

/// Self-attention of several sequences, whose tokens are concatenated without padding.
///
/// query, key: `[tokens, heads, depth]`. value: `[tokens, heads, width]`. The tokens of sequence i
/// are `offsets[i]:offsets[i + 1]`. The result is `[tokens, heads, width]`, of the common dtype:
/// what `scaled_dot_product_attention` gives for each sequence. key and value may have fewer heads
/// than query, each shared by a group of adjacent query heads. is_causal: a token attends to those
/// up to itself. scale: by default `1 / sqrt(depth)`. The same as
/// torch.nn.attention.varlen.varlen_attn, after FlashAttention (Dao et al., 2022), which call the
/// offsets cu_seqlens. ShapeError if shapes don't fit, or the offsets don't increase from 0 to the
/// number of tokens; DTypeError if operands are not floats.
///
/// >>> x, v = flex.asarray([[[1.0]], [[0.0]], [[5.0]]]), flex.asarray([[[1.0]], [[2.0]], [[7.0]]])
/// >>> flex.nn.varlen_attention(x, x, v, [0, 2, 3], is_causal=True).tolist()
/// [[[1.0]], [[1.5]], [[7.0]]]
#[pyfunction]
#[pyo3(signature = (query, key, value, offsets, *, is_causal = false, scale = None))]
fn varlen_attention(
    py: Python<'_>,
    query: Arg,
    key: Arg,
    value: Arg,
    offsets: Ints,
    is_causal: bool,
    scale: Option<f64>,
) -> PyResult<PyTensor> {
    // a negative offset becomes one beyond all tokens
    let offsets: Vec<usize> = offsets.0.iter().map(|x| *x as usize).collect();
    compute(py, query.0.len(), || {
        nn::varlen_attention(
            &query.0,
            &key.0,
            &value.0,
            &offsets,
            VarlenAttention {
                causal: is_causal,
                scale,
            },
        )
    })
}

/// Adds them to `flex.nn`.
pub(super) fn register(nn: &Bound<PyModule>) -> PyResult<()> {
    nn.add_function(wrap_pyfunction!(scaled_dot_product_attention, nn)?)?;
    nn.add_function(wrap_pyfunction!(varlen_attention, nn)?)
}
