//! `flex.nn`: the functions of models, with the names and argument order of torch.nn.functional,
//! except for `axis`.

use super::cell::PyTensor;
use super::convert::{Arg, Ints, compute};
use super::dtype::DTypeArg;
use super::elementwise;
use super::linalg::work;
use crate::kernel::elementwise::rows;
use crate::nn::{self, Activation, Attention, Linear, VarlenAttention};
use crate::python::convert::Operand;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// `activation(x @ weight.T + bias) + residual`, fused into the product.
///
/// x: `[.., in]`. weight: `[out, in]`. bias: `[out]`. activation: "relu", "gelu", "gelu_tanh",
/// "silu", "sigmoid" or "tanh" (ValueError). residual: broadcasts to the result, which is `[.., out]`, of the common
/// dtype. dtype: the dtype of the sums and of the result instead, as if all operands were converted
/// to it first; int8 and uint8 in int32 need no such copies. ShapeError if sizes don't fit;
/// DTypeError for bool, if there is no common dtype or `dtype` can't hold its values, or for an
/// activation of integers.
///
/// >>> flex.nn.linear(flex.asarray([1.0, 2.0]), flex.asarray([[1.0, 0.0], [1.0, 1.0]]), flex.asarray([0.5, 0.0])).tolist()
/// [1.5, 3.0]
#[pyfunction]
#[pyo3(signature = (x, weight, bias = None, *, activation = None, residual = None, dtype = None))]
fn linear(
    py: Python<'_>,
    x: Arg,
    weight: Arg,
    bias: Option<Arg>,
    activation: Option<&str>,
    residual: Option<Arg>,
    dtype: Option<DTypeArg>,
) -> PyResult<PyTensor> {
    let activation = match activation {
        None => None,
        Some(name) => Some(Activation::from_name(name).ok_or_else(|| {
            PyValueError::new_err(format!(
                "linear: activation is {name:?}; it is \"relu\", \"gelu\", \"gelu_tanh\", \
                    \"silu\", \"sigmoid\", \"tanh\" or None"
            ))
        })?),
    };
    let width = weight.0.shape().first().copied().unwrap_or(1);
    compute(py, work(&x.0, width), || {
        let options = Linear {
            bias: bias.as_ref().map(|b| &b.0),
            activation,
            residual: residual.as_ref().map(|r| &r.0),
            dtype: dtype.map(|d| d.0),
        };
        nn::linear(&x.0, &weight.0, options)
    })
}

/// The rows of `weight` at `indices`.
///
/// indices: integers of any shape, negative ones from the end. weight: `[entries, width]`
/// (ShapeError). The result is `[.., width]`, of the dtype of the weight. IndexError if an index is
/// out of range; DTypeError if it is not an integer.
///
/// >>> flex.nn.embedding(flex.asarray([1, 0]), flex.asarray([[1.0, 2.0], [3.0, 4.0]])).tolist()
/// [[3.0, 4.0], [1.0, 2.0]]
#[pyfunction]
#[pyo3(signature = (indices, weight))]
fn embedding(py: Python<'_>, indices: Arg, weight: Arg) -> PyResult<PyTensor> {
    let width = weight.0.shape().last().copied().unwrap_or(1);
    compute(py, indices.0.len().saturating_mul(width), || {
        nn::embedding(&indices.0, &weight.0)
    })
}

/// `exp(x) / sum(exp(x))` along an axis, without overflow.
///
/// x: a tensor of floats; integers are converted to float32. The result has its shape and dtype; if
/// all elements are `-inf`, the result is NaN. DTypeError for complex numbers; AxisError if the
/// axis is out of range.
///
/// >>> flex.nn.softmax(flex.asarray([0.0, 0.0, -flex.inf])).tolist()
/// [0.5, 0.5, 0.0]
#[pyfunction]
#[pyo3(signature = (x, axis = -1), text_signature = "(x, axis=-1)")]
fn softmax(py: Python<'_>, x: Arg, axis: isize) -> PyResult<PyTensor> {
    compute(py, x.0.len(), || nn::softmax(&x.0, axis))
}

/// The logarithm of `softmax`, without overflow or cancellation.
///
/// x: a tensor of floats; integers are converted to float32. The result has its shape and dtype.
/// DTypeError for complex numbers; AxisError if the axis is out of range.
///
/// >>> flex.nn.log_softmax(flex.asarray([0.0, -1000.0])).tolist()
/// [0.0, -1000.0]
#[pyfunction]
#[pyo3(signature = (x, axis = -1), text_signature = "(x, axis=-1)")]
fn log_softmax(py: Python<'_>, x: Arg, axis: isize) -> PyResult<PyTensor> {
    compute(py, x.0.len(), || nn::log_softmax(&x.0, axis))
}

/// `(x - mean) / sqrt(var + eps) * weight + bias`, with mean and variance over the last dimensions,
/// `normalized_shape`.
///
/// x: a tensor of floats whose last dimensions are normalized_shape (an integer or a tuple), which
/// is the shape of weight and bias (ShapeError). The result has the shape and dtype of x.
/// DTypeError if x is not a float.
///
/// >>> flex.nn.layer_norm(flex.asarray([-1.0, 1.0]), 2, eps=0.0).tolist()
/// [-1.0, 1.0]
#[pyfunction]
#[pyo3(signature = (x, normalized_shape, weight = None, bias = None, eps = 1e-5))]
fn layer_norm(
    py: Python<'_>,
    x: Arg,
    normalized_shape: Ints,
    weight: Option<Arg>,
    bias: Option<Arg>,
    eps: f64,
) -> PyResult<PyTensor> {
    let shape = normalized_shape.shape()?;
    compute(py, x.0.len(), || {
        nn::layer_norm(
            &x.0,
            &shape,
            weight.as_ref().map(|w| &w.0),
            bias.as_ref().map(|b| &b.0),
            eps,
        )
    })
}

/// `x / sqrt(mean(x * x) + eps) * weight`, with the mean over the last dimensions,
/// `normalized_shape`.
///
/// x: a tensor of floats whose last dimensions are normalized_shape (an integer or a tuple), which
/// is the shape of weight (ShapeError). eps: by default the dtype's machine epsilon. The result has
/// the shape and dtype of x. DTypeError if x is not a float.
///
/// >>> flex.nn.rms_norm(flex.asarray([2.0, -2.0]), 2, eps=0.0).tolist()
/// [1.0, -1.0]
#[pyfunction]
#[pyo3(signature = (x, normalized_shape, weight = None, eps = None))]
fn rms_norm(
    py: Python<'_>,
    x: Arg,
    normalized_shape: Ints,
    weight: Option<Arg>,
    eps: Option<f64>,
) -> PyResult<PyTensor> {
    let shape = normalized_shape.shape()?;
    compute(py, x.0.len(), || {
        nn::rms_norm(&x.0, &shape, weight.as_ref().map(|w| &w.0), eps)
    })
}

/// `x / 2 * (1 + erf(x / sqrt(2)))`, or its approximation by tanh.
///
/// x: a tensor of floats; integers are computed in float32. approximate: "none" or "tanh"
/// (ValueError). The result has the shape and dtype of x. DTypeError for complex numbers.
///
/// >>> flex.nn.gelu(flex.asarray([0.0, flex.inf]), approximate="tanh").tolist()
/// [0.0, inf]
#[pyfunction]
#[pyo3(signature = (x, *, approximate = "none"))]
fn gelu(py: Python<'_>, x: Operand, approximate: &str) -> PyResult<PyTensor> {
    let row = match approximate {
        "none" => &rows::Gelu::ROW,
        "tanh" => &rows::GeluTanh::ROW,
        other => {
            return Err(PyValueError::new_err(format!(
                "gelu: approximate is {other:?}; it is \"none\" or \"tanh\""
            )));
        }
    };
    elementwise::apply(py, row, &[x])
}

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

/// A module of its own, from which `flex/nn.py` takes its functions; their `__module__` is
/// `flex.nn`.
pub(super) fn register(m: &Bound<PyModule>) -> PyResult<()> {
    let nn = PyModule::new(m.py(), "flex.nn")?;
    super::conv::register(&nn)?;
    nn.add_function(wrap_pyfunction!(linear, &nn)?)?;
    nn.add_function(wrap_pyfunction!(embedding, &nn)?)?;
    nn.add_function(wrap_pyfunction!(softmax, &nn)?)?;
    nn.add_function(wrap_pyfunction!(log_softmax, &nn)?)?;
    nn.add_function(wrap_pyfunction!(layer_norm, &nn)?)?;
    nn.add_function(wrap_pyfunction!(rms_norm, &nn)?)?;
    nn.add_function(wrap_pyfunction!(gelu, &nn)?)?;
    nn.add_function(wrap_pyfunction!(scaled_dot_product_attention, &nn)?)?;
    nn.add_function(wrap_pyfunction!(varlen_attention, &nn)?)?;
    m.setattr("_nn", nn)
}
