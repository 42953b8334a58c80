//! Attention of `flex.nn`.

use crate::cell::PyTensor;
use crate::convert::error::Raise;
use crate::convert::{Ints, TensorArg, compute};
use crate::products::work;
use flex::nn::{self, Align, Attention, VarlenAttention};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// How many keys before and after; -1 for all.
pub(super) fn window(op: &str, window: Option<Ints>) -> PyResult<(Option<usize>, Option<usize>)> {
    let Some(Ints(window)) = window else {
        return Ok((None, None));
    };
    let number = |n: isize| usize::try_from(n).ok();
    match window[..] {
        [before, after] if before >= -1 && after >= -1 => Ok((number(before), number(after))),
        _ => Err(PyValueError::new_err(format!(
            "{op}: window is {:?}; it is two integers, how many keys before and after, -1 for all",
            window.as_slice()
        ))),
    }
}

/// The alignment of the diagonal, by its name.
pub(super) fn align(op: &str, align: Option<&str>) -> PyResult<Option<Align>> {
    match align {
        None => Ok(None),
        Some("upper_left") => Ok(Some(Align::UpperLeft)),
        Some("lower_right") => Ok(Some(Align::LowerRight)),
        Some(other) => Err(PyValueError::new_err(format!(
            "{op}: align is {other:?}; it is \"upper_left\" or \"lower_right\""
        ))),
    }
}

/// The number of keys.
pub(super) fn keys(key: &TensorArg) -> usize {
    match key.0.shape() {
        [.., keys, _] => *keys,
        _ => 1,
    }
}

/// `softmax(query @ key.mT * scale + mask) @ value`, without materialising the matrix of scores.
///
/// query: `[.., queries, depth]`. key: `[.., keys, depth]`. value: `[.., keys, width]`. The result
/// is `[.., queries, width]`, of the common dtype; leading dimensions broadcast. 16-bit floats are
/// computed in float32 and rounded once, except that CPUs that multiply bfloat16 in pairs round the
/// softmax's weights to it, as FlashAttention does. A query whose keys are all masked gives zeros.
/// attn_mask: broadcasts to `[.., queries, keys]`, and is read by its strides, so a view costs
/// nothing; a bool mask is True for the keys to attend to; a float mask is added to the scores.
/// dropout_p: for torch's calls; nothing is dropped out, so it must be 0. is_causal: a query
/// attends to keys up to its own position. scale: by default `1 / sqrt(depth)`. enable_gqa: key and
/// value may have fewer heads (dimension -3) than query, each shared by a group of adjacent query
/// heads. softcap: scores become `softcap * tanh(score / softcap)`, before the mask (Gemma 2,
/// 2024). window: how many keys before its own position and after it a query attends to, -1 for
/// all, as flash-attn's window_size. align: a query's position for is_causal and window: with
/// "lower_right" the last query's is the last key, as tokens appended to a cache need
/// (torch.nn.attention.bias.causal_lower_right); with "upper_left" query i's is key i, which torch
/// takes without being told. Without it, fewer queries than keys are an error for is_causal and
/// window, so that decoding never attends to the first key alone. Keys that no query may see cost
/// nothing. ShapeError if shapes don't fit; DTypeError if operands are not floats; ValueError for
/// an option's value, or one that is missing.
///
/// >>> q, k = flex.asarray([[1.0, 0.0]]), flex.asarray([[1.0, 0.0], [1.0, 0.0]])
/// >>> flex.nn.scaled_dot_product_attention(q, k, flex.asarray([[2.0], [4.0]])).tolist()
/// [[3.0]]
/// >>> v = flex.asarray([[2.0], [4.0]])
/// >>> flex.nn.scaled_dot_product_attention(q, k, v, window=(0, 0), align="lower_right").tolist()
/// [[4.0]]
/// >>> flex.nn.scaled_dot_product_attention(q, k, v, is_causal=True, align="lower_right").tolist()
/// [[3.0]]
#[function(query, key, value, attn_mask = None, dropout_p = 0.0, is_causal = false, *, scale = None, enable_gqa = false, softcap = None, window = None, align: "Literal['upper_left', 'lower_right'] | None" = None)]
fn scaled_dot_product_attention(
    py: Python<'_>,
    query: TensorArg,
    key: TensorArg,
    value: TensorArg,
    attn_mask: Option<TensorArg>,
    dropout_p: f64,
    is_causal: bool,
    scale: Option<f64>,
    enable_gqa: bool,
    softcap: Option<f64>,
    window: Option<Ints>,
    align: Option<&str>,
) -> PyResult<PyTensor> {
    const OP: &str = "scaled_dot_product_attention";
    if dropout_p != 0.0 {
        return Err(PyValueError::new_err(format!(
            "{OP}: dropout_p is {dropout_p}; nothing is dropped out here: leave it at 0"
        )));
    }
    let options = Attention {
        mask: attn_mask.as_ref().map(|m| &m.0),
        causal: is_causal,
        window: self::window(OP, window)?,
        align: self::align(OP, align)?,
        softcap,
        scale,
        grouped: enable_gqa,
    };
    compute(py, work(&query.0, keys(&key)), || {
        nn::scaled_dot_product_attention(&query.0, &key.0, &value.0, options)
    })
}

/// Self-attention of several sequences, whose tokens are concatenated without padding.
///
/// query, key: `[tokens, heads, depth]`. value: `[tokens, heads, width]`. The tokens of sequence i
/// are `offsets[i]:offsets[i + 1]`. The result is `[tokens, heads, width]`, of the common dtype:
/// what `scaled_dot_product_attention` gives for each sequence. key and value may have fewer heads
/// than query, each shared by a group of adjacent query heads. is_causal: a token attends to those
/// up to itself. scale: by default `1 / sqrt(depth)`. softcap: scores become `softcap *
/// tanh(score / softcap)`. window: how many tokens before and after itself a token attends to, -1
/// for all. The same as torch.nn.attention.varlen.varlen_attn, after FlashAttention (Dao et al.,
/// 2022), which call the offsets cu_seqlens. ShapeError if shapes don't fit, or the offsets don't
/// increase from 0 to the number of tokens; DTypeError if operands are not floats; ValueError for
/// an option's value.
///
/// >>> x, v = flex.asarray([[[1.0]], [[0.0]], [[5.0]]]), flex.asarray([[[1.0]], [[2.0]], [[7.0]]])
/// >>> flex.nn.varlen_attention(x, x, v, [0, 2, 3], is_causal=True).tolist()
/// [[[1.0]], [[1.5]], [[7.0]]]
#[function(query, key, value, offsets, *, is_causal = false, scale = None, softcap = None, window = None)]
fn varlen_attention(
    py: Python<'_>,
    query: TensorArg,
    key: TensorArg,
    value: TensorArg,
    offsets: Ints,
    is_causal: bool,
    scale: Option<f64>,
    softcap: Option<f64>,
    window: Option<Ints>,
) -> PyResult<PyTensor> {
    const OP: &str = "varlen_attention";
    let Ints(given) = offsets;
    let all = given.iter().map(|x| usize::try_from(*x).ok());
    let offsets = all
        .collect::<Option<Vec<usize>>>()
        .ok_or_else(|| {
            let message = format!("offsets are {given:?}; they must ascend from 0");
            flex::Error::shape(OP, message)
        })
        .raise()?;
    let options = VarlenAttention {
        causal: is_causal,
        window: self::window(OP, window)?,
        softcap,
        scale,
    };
    compute(py, query.0.len(), || {
        nn::varlen_attention(&query.0, &key.0, &value.0, &offsets, options)
    })
}
