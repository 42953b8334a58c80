# Written by scripts/make_stubs.py.
import builtins
from collections.abc import Sequence
from typing import Any, Literal, Self, SupportsIndex, final

from flex._flex import Tensor, _DType, _Number, _Operand, _Padding, _Shape
from flex._flex import relu as relu
from flex._flex import sigmoid as sigmoid
from flex._flex import silu as silu
from flex._results import ConvPlan
from flex.nn import grad as grad

@final
class KVCache:
    """Keys and values of all tokens so far, for models that generate one token after the other.

    Each is `[batch, heads, tokens, head_dim]`; heads are those of keys and values. capacity: tokens
    that there is room for at first; room that is full is doubled. dtype: float32 by default. window:
    how many tokens a token sees, itself among them; what none to come will see is let go. Tensors
    that the cache gave keep their values whatever is appended later, and keep it from no room:
    appended tokens lie behind them in memory, and none is written twice while a tensor may show it.
    ValueError for a window that is not positive or a negative size; DTypeError if dtype is no float.

    >>> cache = flex.nn.KVCache(1, 1, 2)
    >>> keys, values = cache.append(flex.ones((1, 1, 3, 2)), flex.zeros((1, 1, 3, 2)))
    >>> keys, values = cache.append(flex.zeros((1, 1, 1, 2)), flex.ones((1, 1, 1, 2)))
    >>> keys.shape, values.tolist()
    ((1, 1, 4, 2), [[[[0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [1.0, 1.0]]]])
    """
    def __new__(
        cls,
        batch: SupportsIndex,
        heads: SupportsIndex,
        head_dim: SupportsIndex,
        *,
        capacity: SupportsIndex = 0,
        dtype: _DType | None = None,
        window: SupportsIndex | None = None,
    ) -> Self: ...
    @property
    def capacity(self) -> int:
        """How many tokens there is room for before storage grows."""
    @property
    def position(self) -> int:
        """The position of the next token: how many came before, those that a window let go too."""
    def append(self, k: _Operand, v: _Operand, /) -> tuple[Tensor, Tensor]:
        """Adds the keys and values of some tokens, `[batch, heads, tokens, head_dim]`, and returns those
        of all tokens that are kept, which share the cache's memory. What is there is not copied.
        ShapeError or DTypeError, and nothing is appended, if they don't fit the cache.
        """
    def gather(self, indices: _Operand, /) -> None:
        """Keeps the sequences `indices` of the batch, in that order and as often, as a beam search does
        after each step. Copies what is kept. IndexError if one is out of range; ShapeError if
        `indices` are not of one dimension; DTypeError if they are not integers.
        """
    def reset(self) -> None:
        """Lets go of all tokens; the room stays."""
    def truncate(self, length: SupportsIndex, /) -> None:
        """Keeps the first `length` of the tokens that are kept, such as those of a draft that were
        accepted. ValueError if it is negative.
        """
    def views(self) -> tuple[Tensor, Tensor]:
        """Keys and values of the tokens that are kept, `[batch, heads, tokens, head_dim]`."""
    def __len__(self) -> int: ...

def adaptive_avg_pool1d(x: _Operand, output_size: SupportsIndex | Sequence[SupportsIndex | None]) -> Tensor:
    """The mean of each window of a signal, of as many windows as `output_size` says.

    x: `[batch, channels, length]`, or without the batch; floats. output_size: places of the result.
    Place i sees the elements from `i * length / output_size` to `(i + 1) * length / output_size`,
    rounded outwards. The result has the dtype of x; 16-bit floats are added up in float32. ShapeError
    if the dimensions don't fit; ValueError if output_size is negative; DTypeError if x is no float.

    >>> flex.nn.adaptive_avg_pool1d(flex.asarray([[1.0, 3.0, 2.0]]), 2).tolist()
    [[2.0, 2.5]]
    """
def adaptive_avg_pool2d(x: _Operand, output_size: SupportsIndex | Sequence[SupportsIndex | None]) -> Tensor:
    """The mean of each window of an image, of as many windows as `output_size` says.

    x: `[batch, channels, height, width]`, or without the batch; any strides. output_size: one number, or
    one for each axis; None is the image's own size. All else as for `adaptive_avg_pool1d`.

    >>> flex.nn.adaptive_avg_pool2d(flex.asarray([[[1.0, 2.0], [3.0, 6.0]]]), (1, None)).tolist()
    [[[2.0, 4.0]]]
    """
def adaptive_avg_pool3d(x: _Operand, output_size: SupportsIndex | Sequence[SupportsIndex | None]) -> Tensor:
    """The mean of each window of a volume, of as many windows as `output_size` says.

    x: `[batch, channels, depth, height, width]`, or without the batch. All else as for
    `adaptive_avg_pool2d`.

    >>> flex.nn.adaptive_avg_pool3d(flex.ones((1, 2, 3, 4)), 1).tolist()
    [[[[1.0]]]]
    """
def adaptive_max_pool1d(x: _Operand, output_size: SupportsIndex | Sequence[SupportsIndex | None], return_indices: builtins.bool = False) -> Any:
    """The largest element of each window of a signal, of as many windows as `output_size` says.

    x, output_size: as for `adaptive_avg_pool1d`; integers too. return_indices and NaN: as for
    `max_pool1d`. Errors as for `adaptive_avg_pool1d`, DTypeError for bool and complex.

    >>> flex.nn.adaptive_max_pool1d(flex.asarray([[1.0, 3.0, 2.0]]), 2).tolist()
    [[3.0, 3.0]]
    """
def adaptive_max_pool2d(x: _Operand, output_size: SupportsIndex | Sequence[SupportsIndex | None], return_indices: builtins.bool = False) -> Any:
    """The largest element of each window of an image, of as many windows as `output_size` says.

    x, output_size: as for `adaptive_avg_pool2d`; integers too. All else as for `adaptive_max_pool1d`.

    >>> flex.nn.adaptive_max_pool2d(flex.asarray([[[1.0, 2.0], [3.0, 6.0]]]), 1).tolist()
    [[[6.0]]]
    """
def adaptive_max_pool3d(x: _Operand, output_size: SupportsIndex | Sequence[SupportsIndex | None], return_indices: builtins.bool = False) -> Any:
    """The largest element of each window of a volume, of as many windows as `output_size` says.

    x: `[batch, channels, depth, height, width]`, or without the batch. All else as for
    `adaptive_max_pool2d`.

    >>> flex.nn.adaptive_max_pool3d(flex.ones((1, 2, 3, 4)), 1).tolist()
    [[[[1.0]]]]
    """
def affine_grid(theta: _Operand, size: _Shape, align_corners: builtins.bool | None = None) -> Tensor:
    """The grid of affine maps, for `grid_sample`.

    theta: `[batch, 2, 3]`, and size: `[batch, channels, height, width]`, of what is to be sampled; the
    result is `[batch, height, width, 2]`. Or `[batch, 3, 4]`, with a depth and three coordinates. align_corners:
    as for `grid_sample`. The result has the dtype of theta, a float. ShapeError if shapes don't fit;
    DTypeError for other dtypes.

    >>> theta = flex.asarray([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
    >>> flex.nn.affine_grid(theta, (1, 1, 1, 2)).tolist()
    [[[[-0.5, 0.0], [0.5, 0.0]]]]
    """
def alpha_dropout(x: _Operand, p: float = 0.5, training: builtins.bool = False, *, seed: SupportsIndex | None = None) -> Tensor:
    """Dropout that keeps mean 0 and variance 1, for layers of `selu` (Klambauer et al., 2017).

    x, p, training, seed and errors: as for `dropout`.

    >>> flex.nn.alpha_dropout(flex.asarray([1.0]), 0.0, training=True, seed=7).tolist()
    [1.0]
    """
def avg_pool1d(x: _Operand, kernel_size: _Shape, stride: _Shape | None = None, padding: _Shape = 0, ceil_mode: builtins.bool = False, count_include_pad: builtins.bool = True, divisor_override: SupportsIndex | None = None) -> Tensor:
    """The mean of each window of a signal.

    x: `[batch, channels, length]`, or without the batch; floats. kernel_size: elements of a window.
    stride: from a window to the next; by default kernel_size. padding: zeros on both sides, at most half
    a window. ceil_mode: whether the number of windows is rounded up; each begins in the image or the
    padding before it. count_include_pad: whether the zeros count as elements. divisor_override: what
    sums are divided by instead of the number of elements. The result has the dtype of x and
    `(length + 2 * padding - kernel_size) // stride + 1` places; 16-bit floats are added up in float32.
    ShapeError if the dimensions don't fit or a window is larger than the padded image; ValueError for
    numbers that are too small, or too much padding; DTypeError if x is no float.

    >>> flex.nn.avg_pool1d(flex.asarray([[1.0, 3.0, 2.0, 0.0]]), 2).tolist()
    [[2.0, 1.0]]
    """
def avg_pool2d(x: _Operand, kernel_size: _Shape, stride: _Shape | None = None, padding: _Shape = 0, ceil_mode: builtins.bool = False, count_include_pad: builtins.bool = True, divisor_override: SupportsIndex | None = None) -> Tensor:
    """The mean of each window of an image.

    x: `[batch, channels, height, width]`, or without the batch; any strides, so channels may be last in
    memory, and are then in the result. kernel_size, stride, padding: one number, or one for each axis.
    All else as for `avg_pool1d`.

    >>> flex.nn.avg_pool2d(flex.asarray([[[1.0, 2.0], [3.0, 6.0]]]), 2).tolist()
    [[[3.0]]]
    """
def avg_pool3d(x: _Operand, kernel_size: _Shape, stride: _Shape | None = None, padding: _Shape = 0, ceil_mode: builtins.bool = False, count_include_pad: builtins.bool = True, divisor_override: SupportsIndex | None = None) -> Tensor:
    """The mean of each window of a volume.

    x: `[batch, channels, depth, height, width]`, or without the batch. All else as for `avg_pool2d`.

    >>> flex.nn.avg_pool3d(flex.ones((1, 2, 2, 4)), 2).tolist()
    [[[[1.0, 1.0]]]]
    """
def batch_norm(x: _Operand, running_mean: _Operand | None, running_var: _Operand | None, weight: _Operand | None = None, bias: _Operand | None = None, training: builtins.bool = False, momentum: float = 0.1, eps: float = 1e-05) -> Tensor:
    """`(x - mean) / sqrt(var + eps) * weight + bias` by channels, axis 1 (Ioffe and Szegedy, 2015).

    x: `[batch, channels, ..]` of floats; any strides. running_mean, running_var: `[channels]`, as
    training found them. weight, bias: `[channels]` (ShapeError). training: mean and variance are those
    of x instead, the variance being divided by the number of elements; running statistics, which may
    be None then, are not changed, since tensors are values, so momentum plays no role:
    `batch_norm_stats` gives what they are updated by. The result has the shape and dtype of x.
    DTypeError if x is not a float; ValueError if there are no statistics.

    >>> x = flex.asarray([[1.0, 10.0], [3.0, 10.0]])
    >>> flex.nn.batch_norm(x, flex.asarray([0.0, 8.0]), flex.asarray([1.0, 4.0]), eps=0.0).tolist()
    [[1.0, 1.0], [3.0, 1.0]]
    >>> flex.nn.batch_norm(x, None, None, training=True, eps=1e-30).tolist()
    [[-1.0, 0.0], [1.0, 0.0]]
    """
def batch_norm_stats(x: _Operand, *, correction: float = 0.0) -> tuple[Tensor, Tensor]:
    """Mean and variance of each channel of `x`: what `batch_norm` normalises by in training.

    x: `[batch, channels, ..]` of floats (ShapeError, DTypeError). correction: what is taken from the
    number of elements that the sum of squares is divided by; for running statistics torch takes 1. A
    pair of `[channels]`, float32 of 16-bit floats, else of the dtype of x. Running statistics are
    updated as `running + momentum * (new - running)`.

    >>> mean, var = flex.nn.batch_norm_stats(flex.asarray([[1.0, 10.0], [3.0, 10.0]]))
    >>> mean.tolist(), var.tolist()
    ([2.0, 10.0], [1.0, 0.0])
    """
def binary_cross_entropy(x: _Operand, target: _Operand, weight: _Operand | None = None, *, reduction: Literal["none", "mean", "sum"] = 'mean') -> Tensor:
    """`-(target * log(x) + (1 - target) * log(1 - x))`, reduced; logarithms are no less than -100.

    x: probabilities, from 0 to 1 (ValueError). target: of the shape of x (ShapeError). weight: a factor
    of each term; broadcasts. reduction and dtypes: as for `mse_loss`.

    >>> flex.nn.binary_cross_entropy(flex.asarray([1.0, 0.0]), flex.asarray([1.0, 1.0]), reduction="none").tolist()
    [0.0, 100.0]
    """
def binary_cross_entropy_with_logits(x: _Operand, target: _Operand, weight: _Operand | None = None, *, reduction: Literal["none", "mean", "sum"] = 'mean', pos_weight: _Operand | None = None) -> Tensor:
    """`binary_cross_entropy` of `sigmoid(x)`, without overflow or cancellation.

    x: a tensor of numbers. target: of its shape (ShapeError). weight: a factor of each term. pos_weight:
    a factor of what a target of 1 costs. Both broadcast. reduction and dtypes: as for `mse_loss`.

    >>> flex.nn.binary_cross_entropy_with_logits(flex.asarray([1000.0]), flex.asarray([0.0])).item()
    1000.0
    """
def cdist(x1: _Operand, x2: _Operand, p: float = 2.0, compute_mode: Literal["use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist"] = 'use_mm_for_euclid_dist_if_necessary') -> Tensor:
    """The distance of every row of x1 to every row of x2, as torch.cdist.

    x1: `[.., m, width]`. x2: `[.., n, width]`; batches broadcast (ShapeError). p: the power, 0 or more
    (ValueError). compute_mode: whether Euclidean distances come from a product, which is faster and less
    precise between points near each other: "use_mm_for_euclid_dist_if_necessary" (from 26 points on),
    "use_mm_for_euclid_dist" or "donot_use_mm_for_euclid_dist" (ValueError). The result is `[.., m, n]`, of
    the common dtype. DTypeError for complex numbers.

    >>> flex.nn.cdist(flex.asarray([[0.0, 0.0]]), flex.asarray([[3.0, 4.0], [0.0, 1.0]])).tolist()
    [[5.0, 1.0]]
    """
def celu(x: _Operand, alpha: _Operand = 1.0) -> Tensor:
    """x, of negative x `alpha * (exp(x / alpha) - 1)` (Barron, 2017).

    x: a tensor, an array or a number; integers are computed in float32. alpha: a number, or a tensor
    that broadcasts with x. The result has their common dtype. DTypeError for complex numbers;
    ShapeError if shapes don't broadcast.

    >>> flex.nn.celu(flex.asarray([1.0, -flex.inf]), 2.0).tolist()
    [1.0, -2.0]
    """
def channel_shuffle(x: _Operand, groups: SupportsIndex) -> Tensor:
    """Channels dealt out among groups: channel `g * n + c` of groups of n becomes channel `c * groups + g`.

    x: `[batch, channels, ..]`, of any dtype. ShapeError if there are fewer than three dimensions, or groups
    does not divide the channels.

    >>> flex.nn.channel_shuffle(flex.asarray([[[1], [2], [3], [4]]]), 2).tolist()
    [[[1], [3], [2], [4]]]
    """
def conv1d(x: _Operand, weight: _Operand, bias: _Operand | None = None, *, stride: _Shape = 1, padding: _Padding = 0, dilation: _Shape = 1, groups: SupportsIndex = 1, activation: Literal["relu", "gelu", "gelu_tanh", "silu", "sigmoid", "tanh", "relu6", "selu", "logsigmoid", "mish", "hardsigmoid", "hardswish", "softsign", "tanhshrink"] | None = None, residual: _Operand | None = None, precise: builtins.bool = False) -> Tensor:
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
def conv2d(x: _Operand, weight: _Operand, bias: _Operand | None = None, *, stride: _Shape = 1, padding: _Padding = 0, dilation: _Shape = 1, groups: SupportsIndex = 1, activation: Literal["relu", "gelu", "gelu_tanh", "silu", "sigmoid", "tanh", "relu6", "selu", "logsigmoid", "mish", "hardsigmoid", "hardswish", "softsign", "tanhshrink"] | None = None, residual: _Operand | None = None, precise: builtins.bool = False) -> Tensor:
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
def conv3d(x: _Operand, weight: _Operand, bias: _Operand | None = None, *, stride: _Shape = 1, padding: _Padding = 0, dilation: _Shape = 1, groups: SupportsIndex = 1, activation: Literal["relu", "gelu", "gelu_tanh", "silu", "sigmoid", "tanh", "relu6", "selu", "logsigmoid", "mish", "hardsigmoid", "hardswish", "softsign", "tanhshrink"] | None = None, residual: _Operand | None = None, precise: builtins.bool = False) -> Tensor:
    """The convolution of a volume with `weight`; the kernel is not flipped, as in torch.

    x: `[batch, channels, depth, height, width]`, or without the batch. weight:
    `[out, channels / groups, depth, height, width]`. All else as for `conv2d`.

    >>> flex.nn.conv3d(flex.ones((1, 2, 2, 2)), flex.ones((1, 1, 2, 2, 2))).tolist()
    [[[[8.0]]]]
    """
def conv_plan(x_shape: _Shape, weight_shape: _Shape, *, stride: _Shape = 1, padding: _Padding = 0, dilation: _Shape = 1, groups: SupportsIndex = 1, precise: builtins.bool = False, dtype: _DType | None = None) -> ConvPlan:
    """How a convolution of these shapes is computed: what is picked follows from them, the options and the
    dtype, and, where small planes are convolved channel by channel, from the CPU's vectors. A tuple with
    names.

    x_shape, weight_shape: of the operands; the weight's rank says which convolution. stride, padding,
    dilation, groups, precise: as for `conv2d`. dtype: the operands' common one, by default
    float32. The result has
    `algorithm` ("pointwise", "depthwise", "direct", "winograd" or "implicit_gemm"), `scratch` (bytes of a
    thread at most) and `flops` (of the sums as they stand: a multiplication and an addition for
    each tap of each place). Errors as those of the convolution.

    >>> flex.nn.conv_plan((1, 64, 56, 56), (64, 64, 3, 3), padding=1).algorithm
    'winograd'
    >>> flex.nn.conv_plan((1, 64, 56, 56), (256, 64, 1, 1)).flops
    102760448
    """
def conv_transpose1d(x: _Operand, weight: _Operand, bias: _Operand | None = None, *, stride: _Shape = 1, padding: _Shape = 0, output_padding: _Shape = 0, groups: SupportsIndex = 1, dilation: _Shape = 1) -> Tensor:
    """The transposed convolution of a signal with `weight`: each element adds the kernel, times itself, to
    the result.

    x: `[batch, channels, length]`, or without the batch. weight: `[channels, out / groups, kernel]`.
    bias: `[out]`. stride, dilation: an integer of 1 or more. padding: places that are left out on
    both sides of the result. output_padding: places that are added after it, fewer than stride or
    dilation. groups: groups of channels, each convolved by itself. The result has the operands'
    common dtype and `(length - 1) * stride - 2 * padding + dilation * (kernel - 1) +
    output_padding + 1` places. ShapeError if shapes or groups don't fit, or there would be no
    places; ValueError for numbers that are too small or too large; DTypeError for bool, or if
    there is no common dtype. A weight that is not finite may make NaN of places within a kernel of the
    border, where zeros beyond x are multiplied.

    >>> x, w = flex.asarray([[1.0, 2.0]]), flex.asarray([[[1.0, 10.0, 100.0]]])
    >>> flex.nn.conv_transpose1d(x, w, stride=2).tolist()
    [[1.0, 10.0, 102.0, 20.0, 200.0]]
    """
def conv_transpose2d(x: _Operand, weight: _Operand, bias: _Operand | None = None, *, stride: _Shape = 1, padding: _Shape = 0, output_padding: _Shape = 0, groups: SupportsIndex = 1, dilation: _Shape = 1) -> Tensor:
    """The transposed convolution of an image with `weight`: each element adds the kernel, times itself, to
    the result.

    x: `[batch, channels, height, width]`, or without the batch. weight:
    `[channels, out / groups, height, width]`. stride, padding, output_padding, dilation: one
    number for both axes, or one for each. All else as for `conv_transpose1d`.

    >>> x, w = flex.asarray([[[1.0, 2.0]]]), flex.ones((1, 1, 2, 2))
    >>> flex.nn.conv_transpose2d(x, w).tolist()
    [[[1.0, 3.0, 2.0], [1.0, 3.0, 2.0]]]
    """
def conv_transpose3d(x: _Operand, weight: _Operand, bias: _Operand | None = None, *, stride: _Shape = 1, padding: _Shape = 0, output_padding: _Shape = 0, groups: SupportsIndex = 1, dilation: _Shape = 1) -> Tensor:
    """The transposed convolution of a volume with `weight`: each element adds the kernel, times itself, to
    the result.

    x: `[batch, channels, depth, height, width]`, or without the batch. weight:
    `[channels, out / groups, depth, height, width]`. All else as for `conv_transpose2d`.

    >>> flex.nn.conv_transpose3d(flex.ones((1, 1, 1, 1)), flex.ones((1, 1, 1, 1, 2))).tolist()
    [[[[1.0, 1.0]]]]
    """
def cosine_embedding_loss(x1: _Operand, x2: _Operand, target: _Operand, margin: float = 0.0, *, reduction: Literal["none", "mean", "sum"] = 'mean') -> Tensor:
    """`1 - cos` of pairs of rows whose target is 1, `max(0, cos - margin)` of those whose is -1, reduced; cos
    is the cosine of their angle.

    x1, x2: `[batch, width]`, or without the batch. target: `[batch]` (ShapeError), 1 or -1 (ValueError).
    reduction and dtypes: as for `mse_loss`.

    >>> a, b = flex.asarray([[1.0, 0.0], [1.0, 0.0]]), flex.asarray([[0.0, 1.0], [2.0, 0.0]])
    >>> flex.nn.cosine_embedding_loss(a, b, flex.asarray([1, -1])).item()
    1.0
    """
def cosine_similarity(x1: _Operand, x2: _Operand, axis: SupportsIndex = 1, eps: float = 1e-08, *, dim: SupportsIndex | None = None) -> Tensor:
    """The cosine of the angle between lines along an axis: `sum(x1 * x2) / (max(|x1|, eps) * max(|x2|, eps))`.

    x1, x2: tensors of numbers, which broadcast (ShapeError); integers are computed in float32. eps: the
    least length. dim: another name of axis. The result lacks the axis, and has the common dtype. DTypeError
    for complex numbers; AxisError if the axis is out of range.

    >>> flex.nn.cosine_similarity(flex.asarray([[3.0, 4.0]]), flex.asarray([[3.0, 4.0], [-4.0, 3.0]])).tolist()
    [1.0, 0.0]
    """
def cross_entropy(x: _Operand, target: _Operand, weight: _Operand | None = None, *, ignore_index: SupportsIndex = -100, reduction: Literal["none", "mean", "sum"] = 'mean', label_smoothing: float = 0.0) -> Tensor:
    """`-log(softmax(x))` of each target class, reduced.

    x: scores, floats of shape `[batch, classes, ..]` or `[classes]`. target: classes, integers of that
    shape without the classes; or their probabilities, floats of the shape of x (ShapeError). weight:
    `[classes]`, a factor of each class; "mean" divides by the sum of those used. ignore_index: a target
    that counts for nothing. label_smoothing: the share of each target that is spread over all classes
    (Szegedy et al., 2016). reduction: as for `mse_loss`. The result has the dtype of x. ValueError if a
    target is no class, or the smoothing not from 0 to 1; DTypeError if x is not a float.

    >>> x = flex.asarray([[0.0, 0.0], [1000.0, 0.0]])
    >>> flex.nn.cross_entropy(x, flex.asarray([0, 1]), reduction="none").tolist()
    [0.6931471824645996, 1000.0]
    """
def ctc_loss(log_probs: _Operand, targets: _Operand, input_lengths: _Shape, target_lengths: _Shape, blank: SupportsIndex = 0, reduction: Literal["none", "mean", "sum"] = 'mean', zero_infinity: builtins.bool = False) -> Tensor:
    """The negative logarithm of the probability of a sequence of labels over all ways to spread them over
    time, with blanks between (Graves et al., 2006).

    log_probs: `[time, batch, classes]` or `[time, classes]` of floats, as `log_softmax` gives them.
    targets: labels, integers of shape `[batch, length]`, or all of them one after the other. input_lengths,
    target_lengths: how much of each is used, an integer for each of the batch (ShapeError, ValueError).
    blank: the class of no label; no target is that (ValueError). reduction: "mean" divides each loss by
    the length of its target first. zero_infinity: infinite losses, of targets that are too long, are 0.
    The result has the dtype of log_probs.

    >>> x = flex.log(flex.full((2, 1, 2), 0.5))
    >>> round(flex.exp(-flex.nn.ctc_loss(x, flex.asarray([[1]]), 2, 1)).item(), 3)
    0.75
    """
def deform_conv2d(x: _Operand, offset: _Operand, weight: _Operand, bias: _Operand | None = None, *, stride: _Shape = 1, padding: _Padding = 0, dilation: _Shape = 1, mask: _Operand | None = None) -> Tensor:
    """The convolution of an image whose elements each place sees at offsets of its own (Dai et al., 2017;
    with a mask, Zhu et al., 2019), as torchvision's: between elements the image is interpolated from
    the four around, and zero beyond its sides.

    x: `[batch, channels, height, width]`, or without the batch. offset: `[batch, offset groups * 2 *
    kernel height * kernel width, out height, out width]`, for each tap a number down and one across.
    weight: `[out, channels / groups, height, width]`. bias: `[out]`. stride, padding, dilation: as for
    `conv2d`. mask: `[batch, offset groups * kernel height * kernel width, out height, out width]`,
    factors for what taps see. Both numbers of groups follow from the shapes; channels of a group are
    neighbours. The result has the operands' common dtype, a float, and the sizes of `conv2d`.
    ShapeError if shapes don't fit; ValueError for numbers that are too small; DTypeError if there is no
    common float.

    >>> x, w = flex.asarray([[[1.0, 2.0], [3.0, 4.0]]]), flex.full((1, 1, 1, 1), 10.0)
    >>> offset = flex.asarray([[[0.5, 0.5], [0.5, 0.5]], [[0.0, 0.0], [0.0, 0.0]]])
    >>> flex.nn.deform_conv2d(x, offset, w).tolist()
    [[[20.0, 30.0], [15.0, 20.0]]]
    """
def dropout(x: _Operand, p: float = 0.5, training: builtins.bool = True, *, seed: SupportsIndex | None = None) -> Tensor:
    """x with a share `p` of its elements 0, and the others divided by `1 - p` (Srivastava et al., 2014).

    x: a tensor of floats. p: from 0 to 1 (ValueError). training: if False, the result is x. seed: an
    integer; what an element becomes follows from it and the element's row-major position alone
    (ValueError if it is missing). The result has the shape and dtype of x. DTypeError if x is not a float.

    >>> y = flex.nn.dropout(flex.ones(1000), 0.5, seed=7)
    >>> sorted(set(y.tolist()))
    [0.0, 2.0]
    """
def dropout1d(x: _Operand, p: float = 0.5, training: builtins.bool = True, *, seed: SupportsIndex | None = None) -> Tensor:
    """`dropout` of whole channels (Tompson et al., 2015).

    x: `[batch, channels, length]`, or without the batch (ShapeError). p, training, seed and errors: as
    for `dropout`.

    >>> flex.nn.dropout1d(flex.ones((1, 1, 2)), 0.0, seed=7).tolist()
    [[[1.0, 1.0]]]
    """
def dropout2d(x: _Operand, p: float = 0.5, training: builtins.bool = True, *, seed: SupportsIndex | None = None) -> Tensor:
    """`dropout` of whole channels (Tompson et al., 2015).

    x: `[batch, channels, height, width]`, or without the batch (ShapeError). p, training, seed and
    errors: as for `dropout`.

    >>> flex.nn.dropout2d(flex.ones((1, 1, 1, 2)), 0.0, seed=7).tolist()
    [[[[1.0, 1.0]]]]
    """
def dropout3d(x: _Operand, p: float = 0.5, training: builtins.bool = True, *, seed: SupportsIndex | None = None) -> Tensor:
    """`dropout` of whole channels (Tompson et al., 2015).

    x: `[batch, channels, depth, height, width]`, or without the batch (ShapeError). p, training, seed
    and errors: as for `dropout`.

    >>> flex.nn.dropout3d(flex.ones((1, 1, 1, 2)), 0.0, seed=7).tolist()
    [[[[1.0, 1.0]]]]
    """
def elu(x: _Operand, alpha: _Operand = 1.0) -> Tensor:
    """x, of negative x `alpha * (exp(x) - 1)` (Clevert et al., 2016).

    x: a tensor, an array or a number; integers are computed in float32. alpha: a number, or a tensor
    that broadcasts with x. The result has their common dtype. DTypeError for complex numbers;
    ShapeError if shapes don't broadcast.

    >>> flex.nn.elu(flex.asarray([1.0, -flex.inf])).tolist()
    [1.0, -1.0]
    """
def embedding(indices: _Operand, weight: _Operand) -> Tensor:
    """The rows of `weight` at `indices`.

    indices: integers of any shape, negative ones from the end. weight: `[entries, width]`
    (ShapeError). The result is `[.., width]`, of the dtype of the weight. IndexError if an index is
    out of range; DTypeError if it is not an integer.

    >>> flex.nn.embedding(flex.asarray([1, 0]), flex.asarray([[1.0, 2.0], [3.0, 4.0]])).tolist()
    [[3.0, 4.0], [1.0, 2.0]]
    """
def embedding_bag(indices: _Operand, weight: _Operand, offsets: _Operand | None = None, *, mode: Literal["mean", "sum", "max"] = 'mean', per_sample_weights: _Operand | None = None, include_last_offset: builtins.bool = False, padding_idx: SupportsIndex | None = None) -> Tensor:
    """The sum, mean or largest of the rows of `weight` at the indices of each bag, without a tensor of all rows.

    indices: integers of shape `[bags, length]`, or a vector with offsets. weight: `[entries, width]`
    (ShapeError). offsets: where each bag begins, ascending from 0. mode: "mean", "sum" or "max" (ValueError).
    per_sample_weights: a factor of each row, of the shape of the indices, for sums. include_last_offset:
    whether the last offset is the end of the last bag. padding_idx: rows of this index count for nothing. The
    result is `[bags, width]`, zeros for an empty bag, of the dtype of weight. ValueError if an index is out of
    range; DTypeError if weight is not a float.

    >>> weight = flex.asarray([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    >>> flex.nn.embedding_bag(flex.asarray([0, 2, 1]), weight, flex.asarray([0, 2]), mode="sum").tolist()
    [[6.0, 8.0], [3.0, 4.0]]
    """
def feature_alpha_dropout(x: _Operand, p: float = 0.5, training: builtins.bool = False, *, seed: SupportsIndex | None = None) -> Tensor:
    """`alpha_dropout` of whole channels.

    x: `[batch, channels, ..]` (ShapeError). p, training, seed and errors: as for `dropout`.

    >>> flex.nn.feature_alpha_dropout(flex.ones((1, 1, 2)), 0.0, training=True, seed=7).tolist()
    [[[1.0, 1.0]]]
    """
def fold(x: _Operand, output_size: _Shape, kernel_size: _Shape, dilation: _Shape = 1, padding: _Shape = 0, stride: _Shape = 1) -> Tensor:
    """Columns added up to images (col2im): the transpose of `unfold`.

    x: `[batch, channels * elements of a window, windows]`, or without the batch; floats. output_size: height
    and width of the images. kernel_size, dilation, padding, stride: as for `unfold`. The result is
    `[batch, channels, height, width]`; 16-bit floats are added up in float32. ShapeError if the windows are not
    those of such images; ValueError for numbers that are too small; DTypeError for other dtypes.

    >>> flex.nn.fold(flex.asarray([[1.0, 2.0], [3.0, 4.0]]), (1, 3), (1, 2)).tolist()
    [[[1.0, 5.0, 4.0]]]
    """
def gaussian_nll_loss(x: _Operand, target: _Operand, var: _Operand, full: builtins.bool = False, eps: float = 1e-06, reduction: Literal["none", "mean", "sum"] = 'mean') -> Tensor:
    """`(log(var) + (x - target)**2 / var) / 2`, reduced (Nix and Weigend, 1994).

    x, target: tensors of numbers, which broadcast (ShapeError). var: variances, of the shape of x, or that
    without its last axis, or broadcasting; none negative (ValueError). full: adds `log(2 * pi) / 2`. eps:
    the least variance. reduction and dtypes: as for `mse_loss`.

    >>> flex.nn.gaussian_nll_loss(flex.asarray([1.0, 3.0]), flex.asarray([0.0, 0.0]), flex.asarray([1.0])).item()
    2.5
    """
def gelu(x: _Operand, *, approximate: Literal["none", "tanh"] = 'none') -> Tensor:
    """`x / 2 * (1 + erf(x / sqrt(2)))`, or its approximation by tanh.

    x: a tensor of floats; integers are computed in float32. approximate: "none" or "tanh"
    (ValueError). The result has the shape and dtype of x. DTypeError for complex numbers.

    >>> flex.nn.gelu(flex.asarray([0.0, flex.inf]), approximate="tanh").tolist()
    [0.0, inf]
    """
def glu(x: _Operand, axis: SupportsIndex = -1, *, dim: SupportsIndex | None = None) -> Tensor:
    """The first half of x along an axis times the sigmoid of the second (Dauphin et al., 2017).

    x: a tensor whose size along the axis is even (ShapeError); integers are computed in float32. dim:
    another name of axis. The result has half that size. DTypeError for complex numbers; AxisError if
    the axis is out of range.

    >>> flex.nn.glu(flex.asarray([1.0, 2.0, flex.inf, 0.0])).tolist()
    [1.0, 1.0]
    """
def grid_sample(x: _Operand, grid: _Operand, mode: Literal["bilinear", "nearest", "bicubic"] = 'bilinear', padding_mode: Literal["zeros", "border", "reflection"] = 'zeros', align_corners: builtins.bool | None = None) -> Tensor:
    """Images sampled at the points of a grid.

    x: `[batch, channels, height, width]`, and grid: `[batch, rows, columns, 2]`, coordinates across and down,
    from -1 to 1; the result is `[batch, channels, rows, columns]`. Or volumes, with a depth, and grid
    `[batch, slices, rows, columns, 3]`. mode: "bilinear" (volumes: trilinear), "nearest" or "bicubic" (images).
    padding_mode: what lies beyond, "zeros", "border" (its elements) or "reflection". align_corners: whether
    -1 and 1 are the centres of the outermost elements, rather than their borders. The result has the
    operands' common dtype, a float; 16-bit ones are computed in float32. ShapeError if shapes don't fit;
    ValueError for modes that don't; DTypeError for other dtypes.

    >>> x = flex.asarray([[[[1.0, 3.0]]]])
    >>> flex.nn.grid_sample(x, flex.asarray([[[[0.0, 0.0], [0.5, 0.0]]]])).tolist()
    [[[[2.0, 3.0]]]]
    """
def group_norm(x: _Operand, num_groups: SupportsIndex, weight: _Operand | None = None, bias: _Operand | None = None, eps: float = 1e-05) -> Tensor:
    """`batch_norm` of each example by itself, over groups of adjacent channels (Wu and He, 2018).

    x: `[batch, channels, ..]` of floats; any strides. num_groups: divides the channels (ShapeError).
    weight, bias: `[channels]` (ShapeError). The result has the shape and dtype of x. DTypeError if x is
    not a float.

    >>> flex.nn.group_norm(flex.asarray([[1.0, 3.0, -5.0, 5.0]]), 2, eps=0.0).tolist()
    [[-1.0, 1.0, -1.0, 1.0]]
    """
def gru(x: _Operand, hx: _Operand | None, weights: Sequence[_Operand], *, num_layers: SupportsIndex = 1, bidirectional: builtins.bool = False, batch_first: builtins.bool = False, lengths: _Shape | None = None) -> tuple[Tensor, Tensor]:
    """`rnn_tanh` with gated recurrent units (Cho et al., 2014; as torch has them). Weights and biases have
    `3 * hidden` rows: those of the gates reset, update and new. Parameters, results and errors are the same.

    >>> x, w = flex.asarray([[1.0], [2.0]]), flex.ones((3, 1))
    >>> flex.nn.gru(x, None, [w, w])[0].shape
    (2, 1)
    """
def gru_cell(x: _Operand, hx: _Operand | None, w_ih: _Operand, w_hh: _Operand, b_ih: _Operand | None = None, b_hh: _Operand | None = None) -> Tensor:
    """One step of `gru`; parameters, result and errors are those of `rnn_tanh_cell`.

    >>> flex.nn.gru_cell(flex.asarray([2.0]), None, flex.zeros((3, 1)), flex.zeros((3, 1))).tolist()
    [0.0]
    """
def gumbel_softmax(logits: _Operand, tau: float = 1.0, hard: builtins.bool = False, axis: SupportsIndex = -1, *, seed: SupportsIndex, dim: SupportsIndex | None = None) -> Tensor:
    """Samples of categorical distributions, made soft: `softmax((logits + noise) / tau)`, with noise of
    Gumbel's distribution (Jang et al., 2017; Maddison et al., 2017).

    logits: a tensor of floats. tau: the temperature, above 0 (ValueError). hard: whether the result is
    1 at the largest element of each line, and 0 elsewhere. dim: another name of axis. seed: what the
    noise follows from, with an element's row-major position. The result has the shape and dtype of
    logits. DTypeError if they are not floats; AxisError if the axis is out of range.

    >>> flex.nn.gumbel_softmax(flex.asarray([[0.0, 1000.0], [1000.0, 0.0]]), hard=True, seed=7).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
def hardshrink(x: _Operand, lambd: _Operand = 0.5) -> Tensor:
    """x, 0 from `-lambd` to `lambd`.

    x: a tensor, an array or a number; integers are computed in float32. lambd: a number, or a tensor
    that broadcasts with x. The result has their common dtype. DTypeError for complex numbers;
    ShapeError if shapes don't broadcast.

    >>> flex.nn.hardshrink(flex.asarray([1.0, -0.25])).tolist()
    [1.0, 0.0]
    """
def hardsigmoid(x: _Operand) -> Tensor:
    """`min(max(x + 3, 0), 6) / 6`.

    x: a tensor, an array or a number. The result has its shape.
    The result has the operands' common dtype; integers and bool are computed in float32.
    DTypeError for complex numbers.

    >>> flex.nn.hardsigmoid(flex.asarray([0.0, 9.0])).tolist()
    [0.5, 1.0]
    """
def hardswish(x: _Operand) -> Tensor:
    """`x * min(max(x + 3, 0), 6) / 6` (Howard et al. 2019).

    x: a tensor, an array or a number. The result has its shape.
    The result has the operands' common dtype; integers and bool are computed in float32.
    DTypeError for complex numbers.

    >>> flex.nn.hardswish(flex.asarray([0.0])).tolist()
    [0.0]
    """
def hardtanh(x: _Operand, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """The nearest value from `min_val` to `max_val`.

    x: a tensor, an array or a number; integers are computed in float32. min_val, max_val: numbers, the
    first not above the second (ValueError). The result has the shape and dtype of x. DTypeError for bool
    and complex numbers.

    >>> flex.nn.hardtanh(flex.asarray([1.5, 0.5, -3.0])).tolist()
    [1.0, 0.5, -1.0]
    """
def huber_loss(x: _Operand, target: _Operand, *, reduction: Literal["none", "mean", "sum"] = 'mean', delta: float = 1.0) -> Tensor:
    """`d**2 / 2` where `d = |x - target|` is below `delta`, else `delta * (d - delta / 2)` (Huber, 1964),
    reduced.

    delta: above 0 (ValueError). x, target, reduction and errors: as for `mse_loss`.

    >>> flex.nn.huber_loss(flex.asarray([1.0, 3.0]), flex.asarray([0.0, 0.0]), delta=2.0, reduction="none").tolist()
    [0.5, 4.0]
    """
def instance_norm(x: _Operand, running_mean: _Operand | None = None, running_var: _Operand | None = None, weight: _Operand | None = None, bias: _Operand | None = None, use_input_stats: builtins.bool = True, momentum: float = 0.1, eps: float = 1e-05) -> Tensor:
    """`batch_norm` of each channel of each example by itself (Ulyanov et al., 2016).

    x: `[batch, channels, ..]` of floats; any strides. use_input_stats: if False, mean and variance are
    running_mean and running_var (ValueError if there are none). All else as for `batch_norm`.

    >>> flex.nn.instance_norm(flex.asarray([[[1.0, 3.0], [-5.0, 5.0]]]), eps=0.0).tolist()
    [[[-1.0, 1.0], [-1.0, 1.0]]]
    """
def interpolate(x: _Operand, size: _Shape | None = None, scale_factor: float | Sequence[float] | None = None, mode: Literal["nearest", "nearest-exact", "linear", "bilinear", "bicubic", "trilinear", "area", "lanczos3"] = 'nearest', align_corners: builtins.bool | None = None, recompute_scale_factor: builtins.bool | None = None, antialias: builtins.bool = False) -> Tensor:
    """Images, signals or volumes resampled to other sizes.

    x: `[batch, channels, ..]` with one to three spatial dimensions; any strides. size: of those, one number
    or one for each; or scale_factor: what they are multiplied by. mode: "nearest", "nearest-exact" (whatever
    the dtype), "linear" (one spatial dimension), "bilinear", "bicubic", "lanczos3" (two), "trilinear" (three)
    or "area", for floats; uint8 too for those of two dimensions, rounded to the nearest, ties to even.
    align_corners: whether the outermost elements lie at the same places, rather than their borders.
    recompute_scale_factor: whether scale_factor says sizes alone. antialias: whether filters are as wide as
    what becomes one element, for "bilinear", "bicubic" and "lanczos3". The result has the dtype of x; 16-bit
    floats are computed in float32. "lanczos3" is torchvision's and Pillow's, all else torch's. ShapeError if
    the dimensions don't fit the mode; ValueError for other options that don't fit; DTypeError for other dtypes.

    >>> x = flex.asarray([[[1.0, 3.0]]])
    >>> flex.nn.interpolate(x, 4, mode="linear").tolist()
    [[[1.0, 1.5, 2.5, 3.0]]]
    >>> flex.nn.interpolate(x, scale_factor=2).tolist()
    [[[1.0, 1.0, 3.0, 3.0]]]
    """
def kl_div(x: _Operand, target: _Operand, *, reduction: Literal["none", "mean", "sum", "batchmean"] = 'mean', log_target: builtins.bool = False) -> Tensor:
    """`target * (log(target) - x)`, reduced, 0 where target is: x are logarithms of probabilities (Kullback
    and Leibler, 1951).

    x, target: tensors of numbers, which broadcast (ShapeError). reduction: "mean", "sum", "none", or
    "batchmean", the sum divided by the size of the first axis (ValueError). log_target: whether target
    are logarithms too. The result has the common dtype. DTypeError for complex numbers.

    >>> flex.nn.kl_div(flex.asarray([0.0, -1.0]), flex.asarray([0.0, 1.0]), reduction="sum").item()
    1.0
    """
def l1_loss(x: _Operand, target: _Operand, *, reduction: Literal["none", "mean", "sum"] = 'mean') -> Tensor:
    """`|x - target|`, reduced.

    x, target, reduction and errors: as for `mse_loss`.

    >>> flex.nn.l1_loss(flex.asarray([1.0, 2.0]), flex.asarray([0.0, 4.0])).item()
    1.5
    """
def layer_norm(x: _Operand, normalized_shape: _Shape, weight: _Operand | None = None, bias: _Operand | None = None, eps: float = 1e-05, *, residual: _Operand | None = None) -> Any:
    """`(x - mean) / sqrt(var + eps) * weight + bias`, with mean and variance over the last dimensions,
    `normalized_shape`.

    x: a tensor of floats whose last dimensions are normalized_shape (an integer or a tuple), which
    is the shape of weight and bias (ShapeError). residual: a tensor of the shape and dtype of x; with
    it, the result is a pair: the norm of `x + residual`, and that sum. The result has the shape and
    dtype of x. DTypeError if x is not a float.

    >>> flex.nn.layer_norm(flex.asarray([-1.0, 1.0]), 2, eps=0.0).tolist()
    [-1.0, 1.0]
    >>> y, x = flex.nn.layer_norm(flex.asarray([1.0, 1.0]), 2, eps=0.0, residual=flex.asarray([0.0, 2.0]))
    >>> y.tolist(), x.tolist()
    ([-1.0, 1.0], [1.0, 3.0])
    """
def leaky_relu(x: _Operand, negative_slope: _Operand = 0.01) -> Tensor:
    """x, of negative x `negative_slope * x` (Maas et al., 2013).

    x: a tensor, an array or a number; integers are computed in float32. negative_slope: a number, or
    a tensor that broadcasts with x. The result has their common dtype. DTypeError for complex numbers;
    ShapeError if shapes don't broadcast.

    >>> flex.nn.leaky_relu(flex.asarray([1.0, -2.0]), 0.5).tolist()
    [1.0, -1.0]
    """
def linear(x: _Operand, weight: _Operand, bias: _Operand | None = None, *, activation: Literal["relu", "gelu", "gelu_tanh", "silu", "sigmoid", "tanh", "relu6", "selu", "logsigmoid", "mish", "hardsigmoid", "hardswish", "softsign", "tanhshrink"] | None = None, residual: _Operand | None = None, dtype: _DType | None = None) -> Tensor:
    """`activation(x @ weight.T + bias) + residual`, fused into the product.

    x: `[.., in]`. weight: `[out, in]`. bias: `[out]`. activation: the name of one
    without parameters, such as "relu", "gelu", "gelu_tanh", "silu" or "hardswish" (ValueError). residual: broadcasts to
    the result, which is `[.., out]`, of the common dtype. dtype: the dtype of the sums and of the result instead, as if all operands were converted
    to it first; int8 and uint8 in int32 need no such copies. ShapeError if sizes don't fit;
    DTypeError for bool, if there is no common dtype or `dtype` can't hold its values, or for an
    activation of integers.

    >>> flex.nn.linear(flex.asarray([1.0, 2.0]), flex.asarray([[1.0, 0.0], [1.0, 1.0]]), flex.asarray([0.5, 0.0])).tolist()
    [1.5, 3.0]
    """
def local_response_norm(x: _Operand, size: SupportsIndex, alpha: float = 0.0001, beta: float = 0.75, k: float = 1.0) -> Tensor:
    """`x / (k + alpha * mean(square of size neighbouring channels))**beta`, zeros standing beside the
    first and the last of them (Krizhevsky et al., 2012, as torch computes it).

    x: `[batch, channels, ..]` of floats (ShapeError, DTypeError). size: how many channels, 1 or more
    (ValueError). The result has the shape and dtype of x.

    >>> flex.nn.local_response_norm(flex.asarray([[1.0, 3.0]]), 2, alpha=1.0, beta=1.0, k=0.0).tolist()
    [[2.0, 0.6000000238418579]]
    """
def log_softmax(x: _Operand, axis: SupportsIndex = -1, *, dim: SupportsIndex | None = None) -> Tensor:
    """The logarithm of `softmax`, without overflow or cancellation.

    x: a tensor of floats; integers are converted to float32. dim: another name of axis. The result has
    its shape and dtype. DTypeError for complex numbers; AxisError if the axis is out of range.

    >>> flex.nn.log_softmax(flex.asarray([0.0, -1000.0])).tolist()
    [0.0, -1000.0]
    """
def logsigmoid(x: _Operand) -> Tensor:
    """`log(sigmoid(x))` without overflow or cancellation.

    x: a tensor, an array or a number. The result has its shape.
    The result has the operands' common dtype; integers and bool are computed in float32.
    DTypeError for complex numbers.

    >>> flex.nn.logsigmoid(flex.asarray([-1000.0, -flex.inf])).tolist()
    [-1000.0, -inf]
    """
def lp_pool1d(x: _Operand, norm_type: float, kernel_size: _Shape, stride: _Shape | None = None, ceil_mode: builtins.bool = False) -> Tensor:
    """The norm of each window of a signal: `sum(x ** norm_type) ** (1 / norm_type)`.

    x: `[batch, channels, length]`, or without the batch; floats. norm_type: any number but 0.
    kernel_size, stride, ceil_mode: as for `avg_pool1d`. The powers are those of x, not of its
    magnitude, and a window that reaches beyond the signal counts as the mean of its elements for each
    that it lacks, both as in torch. The result has the dtype of x; 16-bit floats are computed in
    float32. Errors as for `avg_pool1d`, ValueError if norm_type is 0 or NaN.

    >>> flex.nn.lp_pool1d(flex.asarray([[3.0, 4.0, 6.0, 8.0]]), 2.0, 2).tolist()
    [[5.0, 10.0]]
    """
def lp_pool2d(x: _Operand, norm_type: float, kernel_size: _Shape, stride: _Shape | None = None, ceil_mode: builtins.bool = False) -> Tensor:
    """The norm of each window of an image: `sum(x ** norm_type) ** (1 / norm_type)`.

    x: `[batch, channels, height, width]`, or without the batch. All else as for `lp_pool1d`.

    >>> flex.nn.lp_pool2d(flex.asarray([[[3.0, 0.0], [0.0, 4.0]]]), 2.0, 2).tolist()
    [[[5.0]]]
    """
def lp_pool3d(x: _Operand, norm_type: float, kernel_size: _Shape, stride: _Shape | None = None, ceil_mode: builtins.bool = False) -> Tensor:
    """The norm of each window of a volume: `sum(x ** norm_type) ** (1 / norm_type)`.

    x: `[batch, channels, depth, height, width]`, or without the batch. All else as for `lp_pool1d`.

    >>> flex.nn.lp_pool3d(flex.ones((1, 1, 2, 2)), 1.0, (1, 2, 2)).tolist()
    [[[[4.0]]]]
    """
def lstm(x: _Operand, hx: tuple[_Operand, _Operand] | None, weights: Sequence[_Operand], *, num_layers: SupportsIndex = 1, bidirectional: builtins.bool = False, batch_first: builtins.bool = False, lengths: _Shape | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """`rnn_tanh` with long short-term memory (Hochreiter and Schmidhuber, 1997).

    hx: the first states, a pair `(h, c)` as for `rnn_tanh`, or None for zeros. weights and biases have
    `4 * hidden` rows: those of the gates input, forget, cell and output. The result is the output, the last h
    and the last c. Other parameters and errors as for `rnn_tanh`.

    >>> x, w = flex.asarray([[1.0], [2.0]]), flex.ones((4, 1))
    >>> y, h, c = flex.nn.lstm(x, None, [w, w])
    >>> y.shape, h.shape, c.shape
    ((2, 1), (1, 1), (1, 1))
    """
def lstm_cell(x: _Operand, hx: tuple[_Operand, _Operand] | None, w_ih: _Operand, w_hh: _Operand, b_ih: _Operand | None = None, b_hh: _Operand | None = None) -> tuple[Tensor, Tensor]:
    """One step of `lstm`.

    x: `[batch, in]` of floats, or without the batch. hx: a pair `(h, c)` of `[batch, hidden]`, or None for
    zeros. w_ih, w_hh, b_ih, b_hh: as for that. The result is the next h and c. Errors as for that.

    >>> w = flex.zeros((4, 1))
    >>> h, c = flex.nn.lstm_cell(flex.asarray([2.0]), (flex.zeros(1), flex.ones(1)), w, w)
    >>> c.tolist()
    [0.5]
    """
def margin_ranking_loss(x1: _Operand, x2: _Operand, target: _Operand, margin: float = 0.0, *, reduction: Literal["none", "mean", "sum"] = 'mean') -> Tensor:
    """`max(0, margin - target * (x1 - x2))`, reduced: target is 1 where x1 should be the larger, and -1 where
    x2 should.

    x1, x2, target: tensors of numbers, which broadcast (ShapeError). reduction and dtypes: as for
    `mse_loss`.

    >>> a, b = flex.asarray([1.0, 1.0]), flex.asarray([3.0, 3.0])
    >>> flex.nn.margin_ranking_loss(a, b, flex.asarray([1.0, -1.0])).item()
    1.0
    """
def max_pool1d(x: _Operand, kernel_size: _Shape, stride: _Shape | None = None, padding: _Shape = 0, dilation: _Shape = 1, ceil_mode: builtins.bool = False, return_indices: builtins.bool = False) -> Any:
    """The largest element of each window of a signal.

    x: `[batch, channels, length]`, or without the batch; not bool or complex. kernel_size: elements of
    a window. stride: from a window to the next; by default kernel_size. padding: places on both sides
    that have no element, at most half a window. dilation: from an element of a window to the next.
    ceil_mode: whether the number of windows is rounded up; each begins in the image or the padding
    before it. return_indices: whether to return `(result, indices)`, indices being int64 positions in the
    spatial axes, row-major; of equal elements the first, of NaN the last. NaN is larger than all else.
    The result has the dtype of x and `(length + 2 * padding - dilation * (kernel_size - 1) - 1) // stride + 1`
    places. ShapeError if the dimensions don't fit or a window is larger than the padded image;
    ValueError for numbers that are too small, or too much padding; DTypeError for bool and complex.

    >>> flex.nn.max_pool1d(flex.asarray([[1.0, 3.0, 2.0, 0.0]]), 2).tolist()
    [[3.0, 2.0]]
    """
def max_pool2d(x: _Operand, kernel_size: _Shape, stride: _Shape | None = None, padding: _Shape = 0, dilation: _Shape = 1, ceil_mode: builtins.bool = False, return_indices: builtins.bool = False) -> Any:
    """The largest element of each window of an image.

    x: `[batch, channels, height, width]`, or without the batch; any strides, so channels may be last in
    memory, and are then in the result. kernel_size, stride, padding, dilation: one number, or one for
    each axis. All else as for `max_pool1d`.

    >>> x = flex.asarray([[[1.0, 2.0, 0.0], [4.0, 3.0, 9.0]]])
    >>> y, indices = flex.nn.max_pool2d(x, 2, stride=1, return_indices=True)
    >>> y.tolist(), indices.tolist()
    ([[[4.0, 9.0]]], [[[3, 5]]])
    """
def max_pool3d(x: _Operand, kernel_size: _Shape, stride: _Shape | None = None, padding: _Shape = 0, dilation: _Shape = 1, ceil_mode: builtins.bool = False, return_indices: builtins.bool = False) -> Any:
    """The largest element of each window of a volume.

    x: `[batch, channels, depth, height, width]`, or without the batch. All else as for `max_pool2d`.

    >>> flex.nn.max_pool3d(flex.ones((1, 2, 2, 4)), 2).tolist()
    [[[[1.0, 1.0]]]]
    """
def max_unpool1d(x: _Operand, indices: _Operand, kernel_size: _Shape, stride: _Shape | None = None, padding: _Shape = 0, output_size: _Shape | None = None) -> Tensor:
    """Elements put where `max_pool1d` took them, between zeros.

    x: `[batch, channels, length]`, or without the batch. indices: integers of its shape, positions in
    the result, as `max_pool1d` returns them. kernel_size, stride, padding: the pool's. output_size: the
    result's length, within a stride of the default, `(length - 1) * stride - 2 * padding + kernel_size`;
    or its shape. Of elements with one position the last stays. ShapeError if shapes don't fit;
    ValueError if output_size does not, or a position is negative; IndexError if it is out of range.

    >>> y, indices = flex.nn.max_pool1d(flex.asarray([[1.0, 5.0, 2.0, 4.0]]), 2, return_indices=True)
    >>> flex.nn.max_unpool1d(y, indices, 2).tolist()
    [[0.0, 5.0, 0.0, 4.0]]
    """
def max_unpool2d(x: _Operand, indices: _Operand, kernel_size: _Shape, stride: _Shape | None = None, padding: _Shape = 0, output_size: _Shape | None = None) -> Tensor:
    """Elements put where `max_pool2d` took them, between zeros.

    x: `[batch, channels, height, width]`, or without the batch. indices: integers of its shape,
    row-major positions in a plane of the result. All else as for `max_unpool1d`.

    >>> flex.nn.max_unpool2d(flex.asarray([[[7.0]]]), flex.asarray([[[2]]]), 2).tolist()
    [[[0.0, 0.0], [7.0, 0.0]]]
    """
def max_unpool3d(x: _Operand, indices: _Operand, kernel_size: _Shape, stride: _Shape | None = None, padding: _Shape = 0, output_size: _Shape | None = None) -> Tensor:
    """Elements put where `max_pool3d` took them, between zeros.

    x: `[batch, channels, depth, height, width]`, or without the batch. All else as for `max_unpool2d`.

    >>> flex.nn.max_unpool3d(flex.ones((1, 1, 1, 1)), flex.asarray([[[[1]]]]), (1, 1, 2)).tolist()
    [[[[0.0, 1.0]]]]
    """
def mish(x: _Operand) -> Tensor:
    """`x * tanh(log(1 + exp(x)))` (Misra 2019).

    x: a tensor, an array or a number. The result has its shape.
    The result has the operands' common dtype; integers and bool are computed in float32.
    DTypeError for complex numbers.

    >>> flex.nn.mish(flex.asarray([0.0])).tolist()
    [0.0]
    """
def mse_loss(x: _Operand, target: _Operand, *, reduction: Literal["none", "mean", "sum"] = 'mean') -> Tensor:
    """`(x - target)**2`, reduced.

    x, target: tensors of numbers, which broadcast (ShapeError); integers are computed in float32.
    reduction: "mean", "sum" or "none" (ValueError). The result has their common dtype. DTypeError for
    complex numbers.

    >>> flex.nn.mse_loss(flex.asarray([1.0, 2.0]), flex.asarray([0.0, 4.0])).item()
    2.5
    """
def nll_loss(x: _Operand, target: _Operand, weight: _Operand | None = None, *, ignore_index: SupportsIndex = -100, reduction: Literal["none", "mean", "sum"] = 'mean') -> Tensor:
    """`-x` of each target class, reduced; x are logarithms of probabilities, as `log_softmax` gives them.

    x: floats of shape `[batch, classes, ..]` or `[classes]`. target: classes, integers of that shape
    without the classes. weight, ignore_index, reduction and errors: as for `cross_entropy`.

    >>> x = flex.asarray([[-1.0, -2.0], [-3.0, -4.0]])
    >>> flex.nn.nll_loss(x, flex.asarray([0, -100])).item()
    1.0
    """
def normalize(x: _Operand, p: float = 2.0, axis: SupportsIndex = 1, eps: float = 1e-12, *, dim: SupportsIndex | None = None) -> Tensor:
    """`x / max(length, eps)`, the length of each line along an axis being `sum(|x|^p)^(1/p)`.

    x: a tensor of floats. p: the power, 0 or more; infinity for the largest magnitude (ValueError).
    eps: the least that is divided by. dim: another name of axis. The result has the shape and dtype of
    x. DTypeError if x is not a float; AxisError if the axis is out of range.

    >>> flex.nn.normalize(flex.asarray([[3.0, 4.0], [0.0, 0.0]])).tolist()
    [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
def one_hot(x: _Operand, num_classes: SupportsIndex = -1) -> Tensor:
    """Integers as vectors that are 1 at their place and 0 elsewhere.

    x: integers of any shape (DTypeError). num_classes: the length of the vectors; -1 is one more than the
    largest integer. The result is `[.., classes]` of int64. ValueError if an integer is negative or no class.

    >>> flex.nn.one_hot(flex.asarray([1, 0]), 3).tolist()
    [[0, 1, 0], [1, 0, 0]]
    """
def pad(x: _Operand, pad: _Shape, mode: Literal["constant", "reflect", "replicate", "circular"] = 'constant', value: _Number | None = None) -> Tensor:
    """`x` with elements before and after it, along the last axes.

    pad: a pair for each of them, the last axis first; what is negative takes elements away. mode:
    "constant", of any dimensions and dtype, with value (0); or "reflect", "replicate" or "circular", for one to
    three axes behind channels, behind a batch or none. The result has the dtype of x. ShapeError if pad does
    not fit the dimensions; ValueError for another mode, or a value beside one that takes none; DTypeError if
    the value is of a higher kind than the dtype.

    >>> x = flex.asarray([[1, 2, 3]])
    >>> flex.nn.pad(x, (1, 2), value=9).tolist()
    [[9, 1, 2, 3, 9, 9]]
    >>> flex.nn.pad(x, (2, 0), mode="reflect").tolist()
    [[3, 2, 1, 2, 3]]
    """
def pairwise_distance(x1: _Operand, x2: _Operand, p: float = 2.0, eps: float = 1e-06, keepdim: builtins.bool = False) -> Tensor:
    """`sum(|x1 - x2 + eps|**p)**(1 / p)` along the last axis.

    x1, x2: tensors of numbers, which broadcast (ShapeError); integers are computed in float32. p: the power,
    0 or more (ValueError). keepdim: the last axis stays, with size 1. The result has the common dtype.
    DTypeError for complex numbers.

    >>> flex.nn.pairwise_distance(flex.asarray([[3.0, 0.0]]), flex.asarray([[0.0, 4.0]]), eps=0.0).tolist()
    [5.0]
    """
def pdist(x: _Operand, p: float = 2.0) -> Tensor:
    """The distances of all pairs of rows of x: those above the diagonal of `cdist(x, x)`, row by row.

    x: `[n, width]` of numbers (ShapeError). p: the power, 0 or more (ValueError). The result has
    `n * (n - 1) / 2` elements, of the dtype of x; integers are computed in float32. DTypeError for complex
    numbers.

    >>> flex.nn.pdist(flex.asarray([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]]), 1.0).tolist()
    [7.0, 1.0, 6.0]
    """
def pixel_shuffle(x: _Operand, upscale_factor: SupportsIndex) -> Tensor:
    """Channels spread over places: `[.., channels * r * r, height, width]` to
    `[.., channels, height * r, width * r]`, r being upscale_factor.

    x: any dtype. ShapeError if there are fewer than three dimensions, or r * r does not divide the channels.

    >>> flex.nn.pixel_shuffle(flex.reshape(flex.arange(4), (4, 1, 1)), 2).tolist()
    [[[0, 1], [2, 3]]]
    """
def pixel_unshuffle(x: _Operand, downscale_factor: SupportsIndex) -> Tensor:
    """The reverse of `pixel_shuffle`: `[.., channels, height * r, width * r]` to
    `[.., channels * r * r, height, width]`, r being downscale_factor.

    x: any dtype. ShapeError if there are fewer than three dimensions, or r does not divide height and width.

    >>> flex.nn.pixel_unshuffle(flex.asarray([[[0, 1], [2, 3]]]), 2).tolist()
    [[[0]], [[1]], [[2]], [[3]]]
    """
def poisson_nll_loss(x: _Operand, target: _Operand, log_input: builtins.bool = True, full: builtins.bool = False, *, eps: float = 1e-08, reduction: Literal["none", "mean", "sum"] = 'mean') -> Tensor:
    """`exp(x) - target * x`, or `x - target * log(x + eps)` of rates, reduced.

    x, target: tensors of numbers, which broadcast (ShapeError). log_input: whether x are logarithms of
    rates. full: adds Stirling's approximation of what depends on target alone. reduction and dtypes: as
    for `mse_loss`.

    >>> flex.nn.poisson_nll_loss(flex.asarray([0.0, 0.0]), flex.asarray([0.0, 3.0])).item()
    1.0
    """
def prelu(x: _Operand, weight: _Operand) -> Tensor:
    """x, of negative x `weight * x`, with a weight for each channel (He et al., 2015).

    x: `[batch, channels, ..]`. weight: `[channels]`, or one element (ShapeError). The result has the
    shape of x and the common dtype. DTypeError for complex numbers.

    >>> flex.nn.prelu(flex.asarray([[-1.0, -1.0]]), flex.asarray([0.5, 0.25])).tolist()
    [[-0.5, -0.25]]
    """
def relu6(x: _Operand) -> Tensor:
    """`min(max(x, 0), 6)`.

    x: a tensor, an array or a number. The result has its shape.
    The result has the operands' common dtype; integers and bool are computed in float32.
    DTypeError for complex numbers.

    >>> flex.nn.relu6(flex.asarray([0.0])).tolist()
    [0.0]
    """
def rms_norm(x: _Operand, normalized_shape: _Shape, weight: _Operand | None = None, eps: float | None = None, *, residual: _Operand | None = None) -> Any:
    """`x / sqrt(mean(x * x) + eps) * weight`, with the mean over the last dimensions,
    `normalized_shape`.

    x: a tensor of floats whose last dimensions are normalized_shape (an integer or a tuple), which
    is the shape of weight (ShapeError). eps: by default the dtype's machine epsilon. residual: as for
    `layer_norm`. The result has the shape and dtype of x. DTypeError if x is not a float.

    >>> flex.nn.rms_norm(flex.asarray([2.0, -2.0]), 2, eps=0.0).tolist()
    [1.0, -1.0]
    """
def rnn_relu(x: _Operand, hx: _Operand | None, weights: Sequence[_Operand], *, num_layers: SupportsIndex = 1, bidirectional: builtins.bool = False, batch_first: builtins.bool = False, lengths: _Shape | None = None) -> tuple[Tensor, Tensor]:
    """`rnn_tanh` with relu in the place of tanh; parameters, results and errors are the same.

    >>> x, w = flex.asarray([[1.0], [2.0]]), flex.asarray([[1.0]])
    >>> flex.nn.rnn_relu(x, None, [w, w])[0].tolist()
    [[1.0], [3.0]]
    """
def rnn_relu_cell(x: _Operand, hx: _Operand | None, w_ih: _Operand, w_hh: _Operand, b_ih: _Operand | None = None, b_hh: _Operand | None = None) -> Tensor:
    """One step of `rnn_relu`; parameters, result and errors are those of `rnn_tanh_cell`.

    >>> flex.nn.rnn_relu_cell(flex.asarray([2.0]), None, flex.asarray([[1.0]]), flex.asarray([[1.0]])).tolist()
    [2.0]
    """
def rnn_tanh(x: _Operand, hx: _Operand | None, weights: Sequence[_Operand], *, num_layers: SupportsIndex = 1, bidirectional: builtins.bool = False, batch_first: builtins.bool = False, lengths: _Shape | None = None) -> tuple[Tensor, Tensor]:
    """A recurrent network of `h = tanh(w_ih @ x + b_ih + w_hh @ h + b_hh)` (Elman, 1990).

    x: `[steps, batch, in]` of floats, or without the batch. hx: the first state,
    `[num_layers * directions, batch, hidden]`, or None for zeros. weights: for each layer, and in it for
    each direction, w_ih `[hidden, in]`, w_hh `[hidden, hidden]` and, in all or in none, b_ih and b_hh
    `[hidden]`: the flat weights of torch's modules, of the dtype of x. bidirectional: layers have a second
    direction, backwards. batch_first: x and the output are `[batch, steps, ..]`. lengths: how many steps
    each sequence has, in any order; the output is 0 behind, and the last state that of the sequence's last
    step, as of torch's packed sequences. The result is the output, `[steps, batch, directions * hidden]`,
    and the last states, of the dtype of x. ShapeError if shapes don't fit; DTypeError if dtypes differ or
    are not floats; ValueError for lengths and numbers of weights.

    >>> x, w = flex.asarray([[0.0], [1.0]]), flex.asarray([[1.0]])
    >>> y, h = flex.nn.rnn_tanh(x, None, [w, w])
    >>> y[-1].tolist() == h[0].tolist()
    True
    """
def rnn_tanh_cell(x: _Operand, hx: _Operand | None, w_ih: _Operand, w_hh: _Operand, b_ih: _Operand | None = None, b_hh: _Operand | None = None) -> Tensor:
    """One step of `rnn_tanh`.

    x: `[batch, in]` of floats, or without the batch. hx: `[batch, hidden]`, or None for zeros. w_ih, w_hh,
    b_ih, b_hh: as for that. The result is the next state. Errors as for that.

    >>> flex.nn.rnn_tanh_cell(flex.asarray([0.0]), None, flex.asarray([[1.0]]), flex.asarray([[1.0]])).tolist()
    [0.0]
    """
def rotary_embedding(x: _Operand, cos: _Operand, sin: _Operand, *, interleaved: builtins.bool = False, positions: _Operand | None = None, offset: SupportsIndex = 0) -> Tensor:
    """`x` with pairs of its elements turned by the angles of their token's position.

    x: `[.., tokens, dim]`, floats. cos, sin: tables `[positions, pairs]`, of which tokens take the
    rows from `offset` on, or those at `positions`, integers of `[tokens]` or `[batch, tokens]`; or
    rows for these tokens already, `[.., tokens, pairs]`, which broadcast (`[batch, tokens, pairs]`
    are for all heads of an x of four dimensions). Only the first `2 * pairs` elements are turned,
    the rest stay. interleaved: pairs are neighbours, as in GPT-J, and not elements of two halves,
    as in Llama. The result has the shape and dtype of x; 16-bit floats are computed in float32 and
    rounded once. RoFormer's (Su et al., 2021), and ONNX's RotaryEmbedding. ShapeError if shapes
    don't fit or the tables have no row for a position (IndexError for one of `positions`);
    DTypeError if x is not of floats.

    >>> cos, sin = flex.nn.rotary_tables(4, 2)
    >>> flex.nn.rotary_embedding(flex.asarray([[1.0, 0.0], [1.0, 0.0]]), cos, sin).tolist()
    [[1.0, 0.0], [0.5403022766113281, 0.8414709568023682]]
    """
def rotary_tables(length: SupportsIndex, dim: SupportsIndex | None, *, base: float = 10000.0, scaling: float = 1.0) -> tuple[Tensor, Tensor]:
    """The cosines and sines that `rotary_embedding` takes, of positions from 0 to `length`.

    Returns two tensors `[length, dim / 2]` of float32. The angle of pair i at position p is
    `p / scaling * base ** (-2 * i / dim)`, computed in float64. dim: how many elements are turned,
    an even number. scaling: more than 1 stretches a model to longer texts (position interpolation,
    Chen et al., 2023). ValueError for another dim, or if base or scaling is not positive.

    >>> cos, sin = flex.nn.rotary_tables(2, 4, base=100.0)
    >>> cos.tolist()
    [[1.0, 1.0], [0.5403022766113281, 0.9950041770935059]]
    """
def rrelu(x: _Operand, lower: float = 0.125, upper: float = 0.3333333333333333) -> Tensor:
    """`leaky_relu` with the mean of the slopes that training draws from `lower` to `upper` (Xu et al.,
    2015).

    x: a tensor, an array or a number; integers are computed in float32. lower, upper: numbers, the
    first not above the second (ValueError). The result has the shape and dtype of x. DTypeError for
    complex numbers.

    >>> flex.nn.rrelu(flex.asarray([1.0, -2.0]), 0.25, 0.75).tolist()
    [1.0, -1.0]
    """
def scaled_dot_product_attention(query: _Operand, key: _Operand, value: _Operand, attn_mask: _Operand | None = None, dropout_p: float = 0.0, is_causal: builtins.bool = False, *, scale: float | None = None, enable_gqa: builtins.bool = False, softcap: float | None = None, window: _Shape | None = None, align: Literal["upper_left", "lower_right"] = 'upper_left') -> Tensor:
    """`softmax(query @ key.mT * scale + mask) @ value`, without materialising the matrix of scores.

    query: `[.., queries, depth]`. key: `[.., keys, depth]`. value: `[.., keys, width]`. The result
    is `[.., queries, width]`, of the common dtype; leading dimensions broadcast. 16-bit floats are
    computed in float32 and rounded once. A query whose keys are all masked gives zeros. attn_mask:
    broadcasts to `[.., queries, keys]`, and is read by its strides, so a view costs nothing; a bool
    mask is True for the keys to attend to; a float mask is added to the scores. dropout_p: for
    torch's calls; nothing is dropped out, so it must be 0. is_causal: query i attends to keys up to
    i. scale: by default `1 / sqrt(depth)`. enable_gqa: key and value may have fewer heads
    (dimension -3) than query, each shared by a group of adjacent query heads. softcap: scores
    become `softcap * tanh(score / softcap)`, before the mask (Gemma 2, 2024). window: how many keys
    before its own place and after it a query attends to, -1 for all, as flash-attn's window_size.
    align: a query's place for is_causal and window: with "upper_left", as in torch, query i's is
    key i; with "lower_right" the last query's is the last key, as tokens appended to a cache need
    (torch.nn.attention.bias.causal_lower_right). Keys that no query may see cost nothing. ShapeError
    if shapes don't fit; DTypeError if operands are not floats; ValueError for an option's value.

    >>> q, k = flex.asarray([[1.0, 0.0]]), flex.asarray([[1.0, 0.0], [1.0, 0.0]])
    >>> flex.nn.scaled_dot_product_attention(q, k, flex.asarray([[2.0], [4.0]])).tolist()
    [[3.0]]
    >>> v = flex.asarray([[2.0], [4.0]])
    >>> flex.nn.scaled_dot_product_attention(q, k, v, window=(0, 0), align="lower_right").tolist()
    [[4.0]]
    """
def selu(x: _Operand) -> Tensor:
    """`elu` times a factor that keeps mean 0 and variance 1 through layers (Klambauer et al. 2017).

    x: a tensor, an array or a number. The result has its shape.
    The result has the operands' common dtype; integers and bool are computed in float32.
    DTypeError for complex numbers.

    >>> flex.nn.selu(flex.asarray([0.0])).tolist()
    [0.0]
    """
def smooth_l1_loss(x: _Operand, target: _Operand, *, reduction: Literal["none", "mean", "sum"] = 'mean', beta: float = 1.0) -> Tensor:
    """`d**2 / (2 * beta)` where `d = |x - target|` is below `beta`, else `d - beta / 2` (Girshick, 2015),
    reduced.

    beta: 0 or more (ValueError). x, target, reduction and errors: as for `mse_loss`.

    >>> flex.nn.smooth_l1_loss(flex.asarray([1.0, 3.0]), flex.asarray([0.0, 0.0]), beta=2.0, reduction="none").tolist()
    [0.25, 2.0]
    """
def softmax(x: _Operand, axis: SupportsIndex = -1, *, dim: SupportsIndex | None = None) -> Tensor:
    """`exp(x) / sum(exp(x))` along an axis, without overflow.

    x: a tensor of floats; integers are converted to float32. dim: another name of axis. The result has
    its shape and dtype; if all elements are `-inf`, the result is NaN. DTypeError for complex numbers; AxisError if the
    axis is out of range.

    >>> flex.nn.softmax(flex.asarray([0.0, 0.0, -flex.inf])).tolist()
    [0.5, 0.5, 0.0]
    """
def softmin(x: _Operand, axis: SupportsIndex = -1, *, dim: SupportsIndex | None = None) -> Tensor:
    """`softmax` of `-x`.

    x: a tensor of floats; integers are converted to float32. dim: another name of axis. The result has
    its shape and dtype. DTypeError for complex numbers; AxisError if the axis is out of range.

    >>> flex.nn.softmin(flex.asarray([0.0, 1000.0])).tolist()
    [1.0, 0.0]
    """
def softplus(x: _Operand, beta: _Operand = 1, threshold: _Operand = 20) -> Tensor:
    """`log(1 + exp(beta * x)) / beta`; x itself where `beta * x` is above `threshold`.

    x: a tensor, an array or a number; integers are computed in float32. beta, threshold: numbers, or
    tensors that broadcast with x. The result has their common dtype. DTypeError for complex numbers;
    ShapeError if shapes don't broadcast.

    >>> flex.nn.softplus(flex.asarray([30.0, -flex.inf])).tolist()
    [30.0, 0.0]
    """
def softshrink(x: _Operand, lambd: _Operand = 0.5) -> Tensor:
    """x moved towards 0 by `lambd`, 0 where it would pass it.

    x: a tensor, an array or a number; integers are computed in float32. lambd: a number, or a tensor
    that broadcasts with x. The result has their common dtype. DTypeError for complex numbers;
    ShapeError if shapes don't broadcast.

    >>> flex.nn.softshrink(flex.asarray([1.0, -0.25, -2.0])).tolist()
    [0.5, 0.0, -1.5]
    """
def softsign(x: _Operand) -> Tensor:
    """`x / (1 + |x|)`.

    x: a tensor, an array or a number. The result has its shape.
    The result has the operands' common dtype; integers and bool are computed in float32.
    DTypeError for complex numbers.

    >>> flex.nn.softsign(flex.asarray([0.0])).tolist()
    [0.0]
    """
def tanhshrink(x: _Operand) -> Tensor:
    """`x - tanh(x)`.

    x: a tensor, an array or a number. The result has its shape.
    The result has the operands' common dtype; integers and bool are computed in float32.
    DTypeError for complex numbers.

    >>> flex.nn.tanhshrink(flex.asarray([0.0])).tolist()
    [0.0]
    """
def threshold(x: _Operand, threshold: _Operand, value: _Operand) -> Tensor:
    """x where it is above `threshold`, else `value`.

    x: a tensor, an array or a number. threshold, value: numbers, or tensors that broadcast with x. The
    result has their common dtype. DTypeError for bool and complex numbers; ShapeError if shapes don't
    broadcast.

    >>> flex.nn.threshold(flex.asarray([1.0, 0.5]), 0.5, -1.0).tolist()
    [1.0, -1.0]
    """
def triplet_margin_loss(anchor: _Operand, positive: _Operand, negative: _Operand, margin: float = 1.0, p: float = 2.0, eps: float = 1e-06, swap: builtins.bool = False, *, reduction: Literal["none", "mean", "sum"] = 'mean') -> Tensor:
    """`max(0, margin + d(anchor, positive) - d(anchor, negative))`, reduced, d being `pairwise_distance`
    (Schroff et al., 2015).

    anchor, positive, negative: tensors of numbers whose rows, along the last axis, are compared; they
    broadcast (ShapeError). p, eps: those of the distance. swap: the negative's distance is that to the
    nearer of anchor and positive (Balntas et al., 2016). reduction and dtypes: as for `mse_loss`.

    >>> a, p, n = flex.asarray([[0.0]]), flex.asarray([[3.0]]), flex.asarray([[1.0]])
    >>> flex.nn.triplet_margin_loss(a, p, n, eps=0.0).item()
    3.0
    """
def unfold(x: _Operand, kernel_size: _Shape, dilation: _Shape = 1, padding: _Shape = 0, stride: _Shape = 1) -> Tensor:
    """The windows of images as columns (im2col).

    x: `[batch, channels, height, width]`, or without the batch; any dtype and strides. kernel_size, dilation,
    padding, stride: one number, or one for height and one for width. The result is
    `[batch, channels * elements of a window, windows]`. ShapeError if the dimensions don't fit or there is no
    window; ValueError for numbers that are too small.

    >>> flex.nn.unfold(flex.asarray([[[1.0, 2.0, 3.0]]]), (1, 2)).tolist()
    [[1.0, 2.0], [2.0, 3.0]]
    """
def varlen_attention(query: _Operand, key: _Operand, value: _Operand, offsets: _Shape, *, is_causal: builtins.bool = False, scale: float | None = None, softcap: float | None = None, window: _Shape | None = None) -> Tensor:
    """Self-attention of several sequences, whose tokens are concatenated without padding.

    query, key: `[tokens, heads, depth]`. value: `[tokens, heads, width]`. The tokens of sequence i
    are `offsets[i]:offsets[i + 1]`. The result is `[tokens, heads, width]`, of the common dtype:
    what `scaled_dot_product_attention` gives for each sequence. key and value may have fewer heads
    than query, each shared by a group of adjacent query heads. is_causal: a token attends to those
    up to itself. scale: by default `1 / sqrt(depth)`. softcap: scores become `softcap *
    tanh(score / softcap)`. window: how many tokens before and after itself a token attends to, -1
    for all. The same as torch.nn.attention.varlen.varlen_attn, after FlashAttention (Dao et al.,
    2022), which call the offsets cu_seqlens. ShapeError if shapes don't fit, or the offsets don't
    increase from 0 to the number of tokens; DTypeError if operands are not floats; ValueError for
    an option's value.

    >>> x, v = flex.asarray([[[1.0]], [[0.0]], [[5.0]]]), flex.asarray([[[1.0]], [[2.0]], [[7.0]]])
    >>> flex.nn.varlen_attention(x, x, v, [0, 2, 3], is_causal=True).tolist()
    [[[1.0]], [[1.5]], [[7.0]]]
    """

__all__ = [
    "KVCache",
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool2d",
    "adaptive_max_pool3d",
    "affine_grid",
    "alpha_dropout",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "batch_norm",
    "batch_norm_stats",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "cdist",
    "celu",
    "channel_shuffle",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_plan",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "cosine_embedding_loss",
    "cosine_similarity",
    "cross_entropy",
    "ctc_loss",
    "deform_conv2d",
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "elu",
    "embedding",
    "embedding_bag",
    "feature_alpha_dropout",
    "fold",
    "gaussian_nll_loss",
    "gelu",
    "glu",
    "grad",
    "grid_sample",
    "group_norm",
    "gru",
    "gru_cell",
    "gumbel_softmax",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "huber_loss",
    "instance_norm",
    "interpolate",
    "kl_div",
    "l1_loss",
    "layer_norm",
    "leaky_relu",
    "linear",
    "local_response_norm",
    "log_softmax",
    "logsigmoid",
    "lp_pool1d",
    "lp_pool2d",
    "lp_pool3d",
    "lstm",
    "lstm_cell",
    "margin_ranking_loss",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
    "max_unpool1d",
    "max_unpool2d",
    "max_unpool3d",
    "mish",
    "mse_loss",
    "nll_loss",
    "normalize",
    "one_hot",
    "pad",
    "pairwise_distance",
    "pdist",
    "pixel_shuffle",
    "pixel_unshuffle",
    "poisson_nll_loss",
    "prelu",
    "relu",
    "relu6",
    "rms_norm",
    "rnn_relu",
    "rnn_relu_cell",
    "rnn_tanh",
    "rnn_tanh_cell",
    "rotary_embedding",
    "rotary_tables",
    "rrelu",
    "scaled_dot_product_attention",
    "selu",
    "sigmoid",
    "silu",
    "smooth_l1_loss",
    "softmax",
    "softmin",
    "softplus",
    "softshrink",
    "softsign",
    "tanhshrink",
    "threshold",
    "triplet_margin_loss",
    "unfold",
    "varlen_attention",
]
