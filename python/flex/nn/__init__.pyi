# Written by scripts/make_stubs.py.
import builtins
from typing import Literal, SupportsIndex

from flex._flex import Tensor, _DType, _Operand, _Padding, _Shape
from flex._flex import relu as relu
from flex._flex import sigmoid as sigmoid
from flex._flex import silu as silu

def conv1d(x: _Operand, weight: _Operand, bias: _Operand | None = None, *, stride: _Shape = 1, padding: _Padding = 0, dilation: _Shape = 1, groups: SupportsIndex = 1) -> Tensor:
    """The convolution of a signal with `weight`; the kernel is not flipped, as in torch.

    x: `[batch, channels, length]`, or without the batch. weight: `[out, channels / groups, kernel]`.
    bias: `[out]`. stride, dilation: an integer of 1 or more. padding: zeros on both sides; or
    `((before, after),)`, "same" (a result of the same length, for a stride of 1) or "valid" (none).
    groups: groups of channels, each convolved by itself. The result has the operands' common dtype
    and `(length + padding - dilation * (kernel - 1) - 1) // stride + 1` places. ShapeError if
    shapes, groups or the kernel don't fit; ValueError for numbers that are too small; DTypeError
    for bool, or if there is no common dtype.

    >>> x, w = flex.asarray([[1.0, 2.0, 3.0, 4.0]]), flex.asarray([[[1.0, 0.0, -1.0]]])
    >>> flex.nn.conv1d(x, w, padding=1).tolist()
    [[-2.0, -2.0, -2.0, 3.0]]
    """
def conv2d(x: _Operand, weight: _Operand, bias: _Operand | None = None, *, stride: _Shape = 1, padding: _Padding = 0, dilation: _Shape = 1, groups: SupportsIndex = 1) -> Tensor:
    """The convolution of an image with `weight`; the kernel is not flipped, as in torch.

    x: `[batch, channels, height, width]`, or without the batch; any strides, so channels may be last
    in memory. weight: `[out, channels / groups, height, width]`. bias: `[out]`. stride, dilation:
    an integer of 1 or more, or one for each axis. padding: zeros on both sides, for all axes or for each; or
    `(before, after)` for each, "same" (a result of the image's size, for a stride of 1) or "valid"
    (none). groups: groups of channels, each convolved by itself. Dtype, sizes and errors as for
    `conv1d`.

    >>> x, w = flex.reshape(flex.arange(9.0), (1, 3, 3)), flex.ones((1, 1, 2, 2))
    >>> flex.nn.conv2d(x, w).tolist()
    [[[8.0, 12.0], [20.0, 24.0]]]
    """
def conv3d(x: _Operand, weight: _Operand, bias: _Operand | None = None, *, stride: _Shape = 1, padding: _Padding = 0, dilation: _Shape = 1, groups: SupportsIndex = 1) -> Tensor:
    """The convolution of a volume with `weight`; the kernel is not flipped, as in torch.

    x: `[batch, channels, depth, height, width]`, or without the batch. weight:
    `[out, channels / groups, depth, height, width]`. All else as for `conv2d`.

    >>> flex.nn.conv3d(flex.ones((1, 2, 2, 2)), flex.ones((1, 1, 2, 2, 2))).tolist()
    [[[[8.0]]]]
    """
def embedding(indices: _Operand, weight: _Operand) -> Tensor:
    """The rows of `weight` at `indices`.

    indices: integers of any shape, negative ones from the end. weight: `[entries, width]`
    (ShapeError). The result is `[.., width]`, of the dtype of the weight. IndexError if an index is
    out of range; DTypeError if it is not an integer.

    >>> flex.nn.embedding(flex.asarray([1, 0]), flex.asarray([[1.0, 2.0], [3.0, 4.0]])).tolist()
    [[3.0, 4.0], [1.0, 2.0]]
    """
def gelu(x: _Operand, *, approximate: Literal["none", "tanh"] = 'none') -> Tensor:
    """`x / 2 * (1 + erf(x / sqrt(2)))`, or its approximation by tanh.

    x: a tensor of floats; integers are computed in float32. approximate: "none" or "tanh"
    (ValueError). The result has the shape and dtype of x. DTypeError for complex numbers.

    >>> flex.nn.gelu(flex.asarray([0.0, flex.inf]), approximate="tanh").tolist()
    [0.0, inf]
    """
def layer_norm(x: _Operand, normalized_shape: _Shape, weight: _Operand | None = None, bias: _Operand | None = None, eps: float = 1e-05) -> Tensor:
    """`(x - mean) / sqrt(var + eps) * weight + bias`, with mean and variance over the last dimensions,
    `normalized_shape`.

    x: a tensor of floats whose last dimensions are normalized_shape (an integer or a tuple), which
    is the shape of weight and bias (ShapeError). The result has the shape and dtype of x.
    DTypeError if x is not a float.

    >>> flex.nn.layer_norm(flex.asarray([-1.0, 1.0]), 2, eps=0.0).tolist()
    [-1.0, 1.0]
    """
def linear(x: _Operand, weight: _Operand, bias: _Operand | None = None, *, activation: Literal["relu", "gelu", "gelu_tanh", "silu", "sigmoid", "tanh"] | None = None, residual: _Operand | None = None, dtype: _DType | None = None) -> Tensor:
    """`activation(x @ weight.T + bias) + residual`, fused into the product.

    x: `[.., in]`. weight: `[out, in]`. bias: `[out]`. activation: "relu", "gelu", "gelu_tanh",
    "silu", "sigmoid" or "tanh" (ValueError). residual: broadcasts to the result, which is `[.., out]`, of the common
    dtype. dtype: the dtype of the sums and of the result instead, as if all operands were converted
    to it first; int8 and uint8 in int32 need no such copies. ShapeError if sizes don't fit;
    DTypeError for bool, if there is no common dtype or `dtype` can't hold its values, or for an
    activation of integers.

    >>> flex.nn.linear(flex.asarray([1.0, 2.0]), flex.asarray([[1.0, 0.0], [1.0, 1.0]]), flex.asarray([0.5, 0.0])).tolist()
    [1.5, 3.0]
    """
def log_softmax(x: _Operand, axis: SupportsIndex = -1) -> Tensor:
    """The logarithm of `softmax`, without overflow or cancellation.

    x: a tensor of floats; integers are converted to float32. The result has its shape and dtype.
    DTypeError for complex numbers; AxisError if the axis is out of range.

    >>> flex.nn.log_softmax(flex.asarray([0.0, -1000.0])).tolist()
    [0.0, -1000.0]
    """
def rms_norm(x: _Operand, normalized_shape: _Shape, weight: _Operand | None = None, eps: float | None = None) -> Tensor:
    """`x / sqrt(mean(x * x) + eps) * weight`, with the mean over the last dimensions,
    `normalized_shape`.

    x: a tensor of floats whose last dimensions are normalized_shape (an integer or a tuple), which
    is the shape of weight (ShapeError). eps: by default the dtype's machine epsilon. The result has
    the shape and dtype of x. DTypeError if x is not a float.

    >>> flex.nn.rms_norm(flex.asarray([2.0, -2.0]), 2, eps=0.0).tolist()
    [1.0, -1.0]
    """
def scaled_dot_product_attention(query: _Operand, key: _Operand, value: _Operand, attn_mask: _Operand | None = None, *, is_causal: builtins.bool = False, scale: float | None = None, enable_gqa: builtins.bool = False) -> Tensor:
    """`softmax(query @ key.mT * scale + mask) @ value`, without materialising the matrix of scores.

    query: `[.., queries, depth]`. key: `[.., keys, depth]`. value: `[.., keys, width]`. The result
    is `[.., queries, width]`, of the common dtype; leading dimensions broadcast. A query whose keys
    are all masked gives zeros. attn_mask: broadcasts to `[.., queries, keys]`; a bool mask is True
    for the keys to attend to; a float mask is added to the scores. is_causal: query i attends to
    keys up to i. scale: by default `1 / sqrt(depth)`. enable_gqa: key and value may have fewer
    heads (dimension -3) than query, each shared by a group of adjacent query heads. ShapeError if
    shapes don't fit; DTypeError if operands are not floats.

    >>> q, k = flex.asarray([[1.0, 0.0]]), flex.asarray([[1.0, 0.0], [1.0, 0.0]])
    >>> flex.nn.scaled_dot_product_attention(q, k, flex.asarray([[2.0], [4.0]])).tolist()
    [[3.0]]
    """
def softmax(x: _Operand, axis: SupportsIndex = -1) -> Tensor:
    """`exp(x) / sum(exp(x))` along an axis, without overflow.

    x: a tensor of floats; integers are converted to float32. The result has its shape and dtype; if
    all elements are `-inf`, the result is NaN. DTypeError for complex numbers; AxisError if the
    axis is out of range.

    >>> flex.nn.softmax(flex.asarray([0.0, 0.0, -flex.inf])).tolist()
    [0.5, 0.5, 0.0]
    """
def varlen_attention(query: _Operand, key: _Operand, value: _Operand, offsets: _Shape, *, is_causal: builtins.bool = False, scale: float | None = None) -> Tensor:
    """Self-attention of several sequences, whose tokens are concatenated without padding.

    query, key: `[tokens, heads, depth]`. value: `[tokens, heads, width]`. The tokens of sequence i
    are `offsets[i]:offsets[i + 1]`. The result is `[tokens, heads, width]`, of the common dtype:
    what `scaled_dot_product_attention` gives for each sequence. key and value may have fewer heads
    than query, each shared by a group of adjacent query heads. is_causal: a token attends to those
    up to itself. scale: by default `1 / sqrt(depth)`. The same as
    torch.nn.attention.varlen.varlen_attn, after FlashAttention (Dao et al., 2022), which call the
    offsets cu_seqlens. ShapeError if shapes don't fit, or the offsets don't increase from 0 to the
    number of tokens; DTypeError if operands are not floats.

    >>> x, v = flex.asarray([[[1.0]], [[0.0]], [[5.0]]]), flex.asarray([[[1.0]], [[2.0]], [[7.0]]])
    >>> flex.nn.varlen_attention(x, x, v, [0, 2, 3], is_causal=True).tolist()
    [[[1.0]], [[1.5]], [[7.0]]]
    """

__all__ = [
    "conv1d",
    "conv2d",
    "conv3d",
    "embedding",
    "gelu",
    "layer_norm",
    "linear",
    "log_softmax",
    "relu",
    "rms_norm",
    "scaled_dot_product_attention",
    "sigmoid",
    "silu",
    "softmax",
    "varlen_attention",
]
