# Written by scripts/make_stubs.py.
import builtins
from collections.abc import Iterable, Sequence
from typing import Any, Literal, Self, SupportsIndex, final

from flex._flex import (
    Tensor,
    _Activation,
    _DType,
    _Interpolation,
    _Number,
    _Operand,
    _Padding,
    _PadMode,
    _Reduction,
    _Shape,
)
from flex._flex import relu as relu
from flex._flex import sigmoid as sigmoid
from flex._flex import silu as silu
from flex._flex import tanh as tanh
from flex._losses.classes import multi_margin_loss as multi_margin_loss
from flex._losses.classes import multilabel_margin_loss as multilabel_margin_loss
from flex._losses.classes import multilabel_soft_margin_loss as multilabel_soft_margin_loss
from flex._losses.margins import hinge_embedding_loss as hinge_embedding_loss
from flex._losses.margins import soft_margin_loss as soft_margin_loss
from flex._losses.margins import (
    triplet_margin_with_distance_loss as triplet_margin_with_distance_loss,
)
from flex._results import ConvPlan
from flex.nn import grad as grad

@final
class KVCache:
    """The key-value cache of models that generate one token at a time.

    Keys and values are `[batch, heads, tokens, head_dim]` each. capacity: how many tokens fit at
    first; a full cache doubles. dtype: float32 by default. window: how many tokens a token sees,
    including itself; tokens that no later one sees are dropped. Tensors returned by the cache keep
    their values whatever is appended later, at no cost: appended tokens follow them in memory, and
    nothing is overwritten while a tensor may see it. ValueError for a window that is not positive
    or a negative size; DTypeError if dtype is not a float.

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
    def __getnewargs_ex__(self) -> tuple[tuple[int, int, int], dict[str, Any]]: ...
    def __len__(self) -> int: ...
    def append(self, k: _Operand, v: _Operand, /) -> tuple[Tensor, Tensor]:
        """Appends the keys and values of some tokens, `[batch, heads, tokens, head_dim]`, and returns
        those of all tokens kept, which share the cache's memory. Earlier tokens are not copied.
        ShapeError or DTypeError if they don't fit the cache, and nothing is appended.
        """
    @property
    def capacity(self) -> int:
        """How many tokens fit before storage grows."""
    def gather(self, indices: _Operand, /) -> None:
        """Keeps the sequences `indices` of the batch, in that order and with repetitions, as a beam
        search does after each step. Copies what is kept. IndexError if one is out of range;
        ShapeError if `indices` is not one-dimensional; DTypeError if it is not an integer tensor.
        """
    @property
    def position(self) -> int:
        """The position of the next token: the number of tokens before it, including those that a
        window dropped.
        """
    def reset(self) -> None:
        """Drops all tokens and keeps the capacity."""
    def truncate(self, length: SupportsIndex, /) -> None:
        """Keeps the first `length` of the tokens, such as the accepted ones of a draft. ValueError if
        it is negative.
        """
    def views(self) -> tuple[Tensor, Tensor]:
        """Keys and values of the tokens kept, `[batch, heads, tokens, head_dim]`."""

def adaptive_avg_pool1d(x: _Operand, output_size: SupportsIndex | Sequence[SupportsIndex | None]) -> Tensor:
    """The mean of each window of a signal, with as many windows as `output_size` says.

    x: `[batch, channels, length]`, or without the batch; floats. output_size: the number of
    positions of the result. Element i covers the elements from `i * length / output_size` to
    `(i + 1) * length / output_size`, rounded outwards. The result has the dtype of x; 16-bit
    floats are summed in float32. ShapeError if the dimensions don't fit; ValueError if
    output_size is negative; DTypeError if x is not a float.

    >>> flex.nn.adaptive_avg_pool1d(flex.asarray([[1.0, 3.0, 2.0]]), 2).tolist()
    [[2.0, 2.5]]
    """
def adaptive_avg_pool2d(x: _Operand, output_size: SupportsIndex | Sequence[SupportsIndex | None]) -> Tensor:
    """The mean of each window of an image, with as many windows as `output_size` says.

    x: `[batch, channels, height, width]`, or without the batch; any strides. output_size: one
    number, or one for each axis; None is the image's own size. Otherwise as for
    `adaptive_avg_pool1d`.

    >>> flex.nn.adaptive_avg_pool2d(flex.asarray([[[1.0, 2.0], [3.0, 6.0]]]), (1, None)).tolist()
    [[[2.0, 4.0]]]
    """
def adaptive_avg_pool3d(x: _Operand, output_size: SupportsIndex | Sequence[SupportsIndex | None]) -> Tensor:
    """The mean of each window of a volume, with as many windows as `output_size` says.

    x: `[batch, channels, depth, height, width]`, or without the batch. Otherwise as for
    `adaptive_avg_pool2d`.

    >>> flex.nn.adaptive_avg_pool3d(flex.ones((1, 2, 3, 4)), 1).tolist()
    [[[[1.0]]]]
    """
def adaptive_max_pool1d(x: _Operand, output_size: SupportsIndex | Sequence[SupportsIndex | None], return_indices: builtins.bool = False) -> Any:
    """The maximum of each window of a signal, with as many windows as `output_size` says.

    x, output_size: as for `adaptive_avg_pool1d`; integers too. return_indices and NaN: as for
    `max_pool1d`. Errors as for `adaptive_avg_pool1d`; DTypeError for bool and complex.

    >>> flex.nn.adaptive_max_pool1d(flex.asarray([[1.0, 3.0, 2.0]]), 2).tolist()
    [[3.0, 3.0]]
    """
def adaptive_max_pool2d(x: _Operand, output_size: SupportsIndex | Sequence[SupportsIndex | None], return_indices: builtins.bool = False) -> Any:
    """The maximum of each window of an image, with as many windows as `output_size` says.

    x, output_size: as for `adaptive_avg_pool2d`; integers too. Otherwise as for
    `adaptive_max_pool1d`.

    >>> flex.nn.adaptive_max_pool2d(flex.asarray([[[1.0, 2.0], [3.0, 6.0]]]), 1).tolist()
    [[[6.0]]]
    """
def adaptive_max_pool3d(x: _Operand, output_size: SupportsIndex | Sequence[SupportsIndex | None], return_indices: builtins.bool = False) -> Any:
    """The maximum of each window of a volume, with as many windows as `output_size` says.

    x: `[batch, channels, depth, height, width]`, or without the batch. Otherwise as for
    `adaptive_max_pool2d`.

    >>> flex.nn.adaptive_max_pool3d(flex.ones((1, 2, 3, 4)), 1).tolist()
    [[[[1.0]]]]
    """
def affine_grid(theta: _Operand, size: _Shape, align_corners: builtins.bool | None = None) -> Tensor:
    """The grids of affine maps, for `grid_sample`.

    theta: `[batch, 2, 3]`, and size: `[batch, channels, height, width]`, of the result of sampling;
    the grid is `[batch, height, width, 2]`. For volumes, theta is `[batch, 3, 4]`, size has a
    depth, and there are three coordinates. align_corners: as for `grid_sample`. The result has the
    dtype of theta, a float. ShapeError if shapes don't fit; DTypeError for other dtypes.

    >>> theta = flex.asarray([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
    >>> flex.nn.affine_grid(theta, (1, 1, 1, 2)).tolist()
    [[[[-0.5, 0.0], [0.5, 0.0]]]]
    """
def alpha_dropout(x: _Operand, p: float = 0.5, training: builtins.bool = False, *, seed: SupportsIndex | None = None) -> Tensor:
    """Dropout that preserves mean 0 and variance 1, for layers of `selu` (Klambauer et al., 2017).

    x, p, training, seed and errors: as for `dropout`.

    >>> flex.nn.alpha_dropout(flex.asarray([1.0]), 0.0, training=True, seed=7).tolist()
    [1.0]
    """
def avg_pool1d(x: _Operand, kernel_size: _Shape, stride: _Shape | None = None, padding: _Shape = 0, ceil_mode: builtins.bool = False, count_include_pad: builtins.bool = True, divisor_override: SupportsIndex | None = None) -> Tensor:
    """The mean of each window of a signal.

    x: `[batch, channels, length]`, or without the batch; floats. kernel_size: elements of a
    window. stride: from one window to the next; by default kernel_size. padding: zeros on both
    sides, at most half a window. ceil_mode: whether the number of windows is rounded up, of
    which the last may reach beyond the padded image, where there are no elements to count; each
    begins in the image or the padding before it. count_include_pad: whether the zeros count as
    elements. divisor_override: the divisor of sums instead of the number of elements. The
    result has the dtype of x and `(length + 2 * padding - kernel_size) // stride + 1`
    positions; 16-bit floats are summed in float32. ShapeError if the dimensions don't fit or
    there is no position; ValueError for options that are too small, or too much padding;
    DTypeError if x is not a float.

    >>> flex.nn.avg_pool1d(flex.asarray([[1.0, 3.0, 2.0, 0.0]]), 2).tolist()
    [[2.0, 1.0]]
    """
def avg_pool2d(x: _Operand, kernel_size: _Shape, stride: _Shape | None = None, padding: _Shape = 0, ceil_mode: builtins.bool = False, count_include_pad: builtins.bool = True, divisor_override: SupportsIndex | None = None) -> Tensor:
    """The mean of each window of an image.

    x: `[batch, channels, height, width]`, or without the batch; any strides. If channels are
    last in memory, they are so in the result. kernel_size, stride, padding: one number, or one
    for each axis. Otherwise as for `avg_pool1d`.

    >>> flex.nn.avg_pool2d(flex.asarray([[[1.0, 2.0], [3.0, 6.0]]]), 2).tolist()
    [[[3.0]]]
    """
def avg_pool3d(x: _Operand, kernel_size: _Shape, stride: _Shape | None = None, padding: _Shape = 0, ceil_mode: builtins.bool = False, count_include_pad: builtins.bool = True, divisor_override: SupportsIndex | None = None) -> Tensor:
    """The mean of each window of a volume.

    x: `[batch, channels, depth, height, width]`, or without the batch. Otherwise as for
    `avg_pool2d`.

    >>> flex.nn.avg_pool3d(flex.ones((1, 2, 2, 4)), 2).tolist()
    [[[[1.0, 1.0]]]]
    """
def batch_norm(x: _Operand, running_mean: _Operand | None, running_var: _Operand | None, weight: _Operand | None = None, bias: _Operand | None = None, training: builtins.bool = False, momentum: float = 0.1, eps: float = 1e-05) -> Tensor:
    """`(x - mean) / sqrt(var + eps) * weight + bias` by channels, axis 1 (Ioffe and Szegedy, 2015).

    x: `[batch, channels, ..]` of floats; any strides. running_mean, running_var: `[channels]`,
    found in training. weight, bias: `[channels]` (ShapeError). training: whether mean and variance
    are those of x instead, with the variance divided by the number of elements, which must be more
    than one a channel (ShapeError). Running statistics may then be None and are not updated, since
    tensors are values, so momentum has no effect: compute updates with `batch_norm_stats`. eps:
    finite, 0 or more (ValueError). The result has the shape and dtype of x. DTypeError if x is not a
    float; ValueError if there are no statistics.

    >>> x = flex.asarray([[1.0, 10.0], [3.0, 10.0]])
    >>> flex.nn.batch_norm(x, flex.asarray([0.0, 8.0]), flex.asarray([1.0, 4.0]), eps=0.0).tolist()
    [[1.0, 1.0], [3.0, 1.0]]
    >>> flex.nn.batch_norm(x, None, None, training=True, eps=1e-30).tolist()
    [[-1.0, 0.0], [1.0, 0.0]]
    """
def batch_norm_stats(x: _Operand, *, correction: float = 0.0) -> tuple[Tensor, Tensor]:
    """The mean and variance of each channel of `x`: what `batch_norm` normalises by in training.

    x: `[batch, channels, ..]` of floats (ShapeError, DTypeError). correction: subtracted from the
    number of elements that the sum of squares is divided by; torch's running statistics use 1
    (ValueError if it is not finite); the variance is NaN if that leaves nothing. The result is a
    pair of `[channels]`, float32 for 16-bit floats, else of the dtype of x. Running statistics are
    updated as `running + momentum * (new - running)`.

    >>> mean, var = flex.nn.batch_norm_stats(flex.asarray([[1.0, 10.0], [3.0, 10.0]]))
    >>> mean.tolist(), var.tolist()
    ([2.0, 10.0], [1.0, 0.0])
    """
def binary_cross_entropy(x: _Operand, target: _Operand, weight: _Operand | None = None, *, reduction: _Reduction = 'mean') -> Tensor:
    """`-(target * log(x) + (1 - target) * log(1 - x))`, reduced, with logarithms clamped to at least
    -100.

    x, target: probabilities, from 0 to 1 (ValueError), of one shape (ShapeError). weight: a factor
    for each term; broadcasts. reduction and dtypes: as for `mse_loss`.

    >>> flex.nn.binary_cross_entropy(flex.asarray([1.0, 0.0]), flex.asarray([1.0, 1.0]), reduction="none").tolist()
    [0.0, 100.0]
    """
def binary_cross_entropy_with_logits(x: _Operand, target: _Operand, weight: _Operand | None = None, *, reduction: _Reduction = 'mean', pos_weight: _Operand | None = None) -> Tensor:
    """`binary_cross_entropy` of `sigmoid(x)`, without overflow or cancellation.

    x: a tensor of numbers. target: of its shape (ShapeError); values outside 0 to 1 are accepted, as
    in torch. weight: a factor for each term.
    pos_weight: a factor for positive targets. Both broadcast. reduction and dtypes: as for
    `mse_loss`.

    >>> flex.nn.binary_cross_entropy_with_logits(flex.asarray([1000.0]), flex.asarray([0.0])).item()
    1000.0
    """
def cdist(x1: _Operand, x2: _Operand, p: float = 2.0, compute_mode: Literal["use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist"] = 'use_mm_for_euclid_dist_if_necessary') -> Tensor:
    """The distances between all rows of x1 and all rows of x2, like torch.cdist.

    x1: `[.., m, width]`. x2: `[.., n, width]`; leading dimensions broadcast (ShapeError). p: the
    order of the norm, 0 or more (ValueError). compute_mode: whether Euclidean distances are
    computed by a matrix product, which is faster but less precise for points close to each other:
    "use_mm_for_euclid_dist_if_necessary" (from 26 points on), "use_mm_for_euclid_dist" or
    "donot_use_mm_for_euclid_dist" (ValueError). The result is `[.., m, n]`, of the common dtype.
    DTypeError for complex numbers.

    >>> flex.nn.cdist(flex.asarray([[0.0, 0.0]]), flex.asarray([[3.0, 4.0], [0.0, 1.0]])).tolist()
    [[5.0, 1.0]]
    """
def celu(x: _Operand, alpha: _Operand = 1.0) -> Tensor:
    """x, or `alpha * (exp(x / alpha) - 1)` for negative x (Barron, 2017).

    x: a tensor, an array or a number; integers are computed in float32. alpha: a number, or a
    tensor that broadcasts with x. The result has their common dtype. ValueError if an alpha is 0;
    DTypeError for complex numbers; ShapeError if shapes don't broadcast.

    >>> flex.nn.celu(flex.asarray([1.0, -flex.inf]), 2.0).tolist()
    [1.0, -2.0]
    """
def channel_shuffle(x: _Operand, groups: SupportsIndex) -> Tensor:
    """Interleaves groups of channels: channel `g * n + c` of groups of n becomes channel `c * groups +
    g`.

    x: `[batch, channels, ..]`, of any dtype. ShapeError if there are fewer than three dimensions,
    or groups does not divide the channels.

    >>> flex.nn.channel_shuffle(flex.asarray([[[1], [2], [3], [4]]]), 2).tolist()
    [[[1], [3], [2], [4]]]
    """
def conv1d(x: _Operand, weight: _Operand, bias: _Operand | None = None, stride: _Shape = 1, padding: _Padding = 0, dilation: _Shape = 1, groups: SupportsIndex = 1, *, activation: _Activation | None = None, residual: _Operand | None = None, precise: builtins.bool = False) -> Tensor:
    """The convolution of a signal with `weight`; the kernel is not flipped, as in torch.

    x: `[batch, channels, length]`, or without the batch. weight: `[out, channels / groups,
    kernel]`. bias: `[out]`. stride, dilation: an integer of 1 or more. padding: zeros on both
    sides; or `((before, after),)`, "same" (a result of the same length, for a stride of 1) or
    "valid" (none). groups: groups of channels, each convolved by itself. activation: as for
    `linear`, applied after the bias. residual: broadcasts to the result, and is added last.
    precise: as for `conv2d`, for kernels of 3 and 5. The result has the operands' common dtype
    and `(length + padding - dilation * (kernel - 1) - 1) // stride + 1` positions. ShapeError
    if shapes, groups or the kernel don't fit; ValueError for options that are too small, or
    another activation; DTypeError for bool, if there is no common dtype, or for an activation
    of integers.

    >>> x, w = flex.asarray([[1.0, 2.0, 3.0, 4.0]]), flex.asarray([[[1.0, 0.0, -1.0]]])
    >>> flex.nn.conv1d(x, w, padding=1).tolist()
    [[-2.0, -2.0, -2.0, 3.0]]
    >>> flex.nn.conv1d(x, w, activation="relu", residual=flex.asarray([[8.0, 9.0]])).tolist()
    [[8.0, 9.0]]
    """
def conv2d(x: _Operand, weight: _Operand, bias: _Operand | None = None, stride: _Shape = 1, padding: _Padding = 0, dilation: _Shape = 1, groups: SupportsIndex = 1, *, activation: _Activation | None = None, residual: _Operand | None = None, precise: builtins.bool = False) -> Tensor:
    """The convolution of an image with `weight`; the kernel is not flipped, as in torch.

    x: `[batch, channels, height, width]`, or without the batch; any strides, so channels may be
    last in memory. weight: `[out, channels / groups, height, width]`. bias: `[out]`. stride,
    dilation: an integer of 1 or more, or one for each axis. padding: zeros on both sides, for
    all axes or for each; or `(before, after)` for each, "same" (a result of the image's size,
    for a stride of 1) or "valid" (none). groups: groups of channels, each convolved by itself.
    activation, residual: as for `conv1d`. precise: whether each position is a plain sum of
    products; otherwise 3x3, 1x3 and 1x5 kernels over enough channels use Winograd's algorithm,
    whose rounding errors are up to 4 times larger (`conv_plan` tells), and relative to the
    largest of up to 6x6 neighbouring elements; where that is more than 16 times as large as all
    that a position reads, positions are plain sums. Dtype, sizes and errors as for `conv1d`.

    >>> x, w = flex.reshape(flex.arange(9.0), (1, 3, 3)), flex.ones((1, 1, 2, 2))
    >>> flex.nn.conv2d(x, w).tolist()
    [[[8.0, 12.0], [20.0, 24.0]]]
    """
def conv3d(x: _Operand, weight: _Operand, bias: _Operand | None = None, stride: _Shape = 1, padding: _Padding = 0, dilation: _Shape = 1, groups: SupportsIndex = 1, *, activation: _Activation | None = None, residual: _Operand | None = None, precise: builtins.bool = False) -> Tensor:
    """The convolution of a volume with `weight`; the kernel is not flipped, as in torch.

    x: `[batch, channels, depth, height, width]`, or without the batch. weight: `[out, channels
    / groups, depth, height, width]`. Otherwise as for `conv2d`.

    >>> flex.nn.conv3d(flex.ones((1, 2, 2, 2)), flex.ones((1, 1, 2, 2, 2))).tolist()
    [[[[8.0]]]]
    """
def conv_plan(x_shape: _Shape, weight_shape: _Shape, *, stride: _Shape = 1, padding: _Padding = 0, dilation: _Shape = 1, groups: SupportsIndex = 1, precise: builtins.bool = False, dtype: _DType | None = None) -> ConvPlan:
    """How a convolution of these shapes is computed, as a named tuple. The choice follows from the
    shapes, the options and the dtype, and, for small planes convolved channel by channel, from the
    CPU's vector width.

    x_shape, weight_shape: of the operands; the weight's rank says which convolution. stride,
    padding, dilation, groups, precise: as for `conv2d`. dtype: the operands' common one, by default
    float32. The result has `algorithm` ("pointwise", "depthwise", "direct", "winograd" or
    "implicit_gemm"), `scratch` (the most bytes of a thread) and `flops` (of the direct sums: a
    multiplication and an addition for each tap of each position). Errors as for the convolution.

    >>> flex.nn.conv_plan((1, 64, 56, 56), (64, 64, 3, 3), padding=1).algorithm
    'winograd'
    >>> flex.nn.conv_plan((1, 64, 56, 56), (256, 64, 1, 1)).flops
    102760448
    """
def conv_transpose1d(x: _Operand, weight: _Operand, bias: _Operand | None = None, stride: _Shape = 1, padding: _Shape = 0, output_padding: _Shape = 0, groups: SupportsIndex = 1, dilation: _Shape = 1, *, precise: builtins.bool = False) -> Tensor:
    """The transposed convolution of a signal with `weight`: each element adds the kernel, times
    itself, to the result.

    x: `[batch, channels, length]`, or without the batch. weight: `[channels, out / groups,
    kernel]`. bias: `[out]`. stride, dilation: an integer of 1 or more. padding: how many
    positions are cropped on both sides of the result. output_padding: how many positions are
    added at its end, fewer than stride or dilation. groups: groups of channels, each convolved
    by itself. precise: as for `conv2d`; otherwise kernels of a few taps for each phase of the
    stride may use Winograd's algorithm. The result has the operands' common dtype and `(length
    - 1) * stride - 2 * padding + dilation * (kernel - 1) + output_padding + 1` positions.
    ShapeError if shapes or groups don't fit, or there would be fewer than 0 positions;
    ValueError for options that are too small or too large; DTypeError for bool, or if there is
    no common dtype. A weight that is not finite may give NaN within a kernel of the border,
    where it is multiplied by zeros beyond x.

    >>> x, w = flex.asarray([[1.0, 2.0]]), flex.asarray([[[1.0, 10.0, 100.0]]])
    >>> flex.nn.conv_transpose1d(x, w, stride=2).tolist()
    [[1.0, 10.0, 102.0, 20.0, 200.0]]
    """
def conv_transpose2d(x: _Operand, weight: _Operand, bias: _Operand | None = None, stride: _Shape = 1, padding: _Shape = 0, output_padding: _Shape = 0, groups: SupportsIndex = 1, dilation: _Shape = 1, *, precise: builtins.bool = False) -> Tensor:
    """The transposed convolution of an image with `weight`: each element adds the kernel, times
    itself, to the result.

    x: `[batch, channels, height, width]`, or without the batch. weight: `[channels, out /
    groups, height, width]`. stride, padding, output_padding, dilation: one number for both
    axes, or one for each. Otherwise as for `conv_transpose1d`.

    >>> x, w = flex.asarray([[[1.0, 2.0]]]), flex.ones((1, 1, 2, 2))
    >>> flex.nn.conv_transpose2d(x, w).tolist()
    [[[1.0, 3.0, 2.0], [1.0, 3.0, 2.0]]]
    """
def conv_transpose3d(x: _Operand, weight: _Operand, bias: _Operand | None = None, stride: _Shape = 1, padding: _Shape = 0, output_padding: _Shape = 0, groups: SupportsIndex = 1, dilation: _Shape = 1, *, precise: builtins.bool = False) -> Tensor:
    """The transposed convolution of a volume with `weight`: each element adds the kernel, times
    itself, to the result.

    x: `[batch, channels, depth, height, width]`, or without the batch. weight: `[channels, out
    / groups, depth, height, width]`. Otherwise as for `conv_transpose2d`.

    >>> flex.nn.conv_transpose3d(flex.ones((1, 1, 1, 1)), flex.ones((1, 1, 1, 1, 2))).tolist()
    [[[[1.0, 1.0]]]]
    """
def cosine_embedding_loss(x1: _Operand, x2: _Operand, target: _Operand, margin: float = 0.0, *, reduction: _Reduction = 'mean') -> Tensor:
    """`1 - cos` for pairs of rows with target 1, `max(0, cos - margin)` for those with -1, reduced,
    where cos is the cosine of their angle.

    x1, x2: `[batch, width]`, or without the batch. target: `[batch]` (ShapeError), 1 or -1. margin:
    from -1 to 1 (ValueError). reduction and dtypes: as for `mse_loss`.

    >>> a, b = flex.asarray([[1.0, 0.0], [1.0, 0.0]]), flex.asarray([[0.0, 1.0], [2.0, 0.0]])
    >>> flex.nn.cosine_embedding_loss(a, b, flex.asarray([1, -1])).item()
    1.0
    """
def cosine_similarity(x1: _Operand, x2: _Operand, axis: SupportsIndex = 1, eps: float = 1e-08, *, dim: SupportsIndex | None = None) -> Tensor:
    """The cosine of the angle between vectors along an axis: `sum(x1 * x2) / (max(|x1|, eps) *
    max(|x2|, eps))`.

    x1, x2: tensors of numbers, which broadcast (ShapeError); integers are computed in float32. eps:
    the lower bound of the norms, finite and 0 or more (ValueError). dim: an alias of axis. The result lacks the axis, and has the
    common dtype. DTypeError for complex numbers; AxisError if the axis is out of range.

    >>> flex.nn.cosine_similarity(flex.asarray([[3.0, 4.0]]), flex.asarray([[3.0, 4.0], [-4.0, 3.0]])).tolist()
    [1.0, 0.0]
    """
def cross_entropy(x: _Operand, target: _Operand, weight: _Operand | None = None, *, ignore_index: SupportsIndex = -100, reduction: _Reduction = 'mean', label_smoothing: float = 0.0) -> Tensor:
    """`-log(softmax(x))` at each target, reduced.

    x: scores, floats of shape `[batch, classes, ..]` or `[classes]`. target: class indices,
    integers of that shape without the axis of classes; or probabilities, floats of the shape of x
    (ShapeError). weight: `[classes]`, a factor per class; "mean" divides by the sum of those used.
    ignore_index: targets with this class are ignored. label_smoothing: the share of each target
    that is spread over all classes (Szegedy et al., 2016). reduction: as for `mse_loss`. The result
    has the dtype of x. ValueError if a target is out of range, or the smoothing not from 0 to 1;
    DTypeError if x is not a float.

    >>> x = flex.asarray([[0.0, 0.0], [1000.0, 0.0]])
    >>> flex.nn.cross_entropy(x, flex.asarray([0, 1]), reduction="none").tolist()
    [0.6931471824645996, 1000.0]
    """
def ctc_loss(log_probs: _Operand, targets: _Operand, input_lengths: _Shape, target_lengths: _Shape, blank: SupportsIndex = 0, reduction: _Reduction = 'mean', zero_infinity: builtins.bool = False) -> Tensor:
    """The negative log-probability of a sequence of labels, summed over all alignments with blanks
    between labels (Graves et al., 2006).

    log_probs: `[time, batch, classes]` or `[time, classes]` of floats, as `log_softmax` returns
    them. targets: labels, integers of shape `[batch, length]`, or concatenated. input_lengths,
    target_lengths: how much of each is used, an integer for each of the batch (ShapeError,
    ValueError). blank: the class of the blank label, which is no target (ValueError). reduction:
    "mean" first divides each loss by the length of its target. zero_infinity: whether infinite
    losses, of targets that are too long, count as 0. The result has the dtype of log_probs.

    >>> x = flex.log(flex.full((2, 1, 2), 0.5))
    >>> round(flex.exp(-flex.nn.ctc_loss(x, flex.asarray([[1]]), 2, 1)).item(), 3)
    0.75
    """
def deform_conv2d(x: _Operand, offset: _Operand, weight: _Operand, bias: _Operand | None = None, stride: _Shape = 1, padding: _Padding = 0, dilation: _Shape = 1, mask: _Operand | None = None) -> Tensor:
    """The convolution of an image with learned offsets for each tap of each position (Dai et al.,
    2017; with a mask, Zhu et al., 2019), like torchvision's. Between elements, the image is
    interpolated bilinearly; outside it is zero.

    x: `[batch, channels, height, width]`, or without the batch. offset: `[batch, offset groups *
    2 * kernel height * kernel width, out height, out width]`, for each tap the offset down and the
    one across. weight: `[out, channels / groups, height, width]`. bias: `[out]`. stride, padding,
    dilation: as for `conv2d`. mask:
    `[batch, offset groups * kernel height * kernel width, out height, out width]`, a factor for
    each tap. Both numbers of groups follow from the shapes; the channels of a group are adjacent.
    The result has the operands' common dtype, a float, and the sizes of `conv2d`. ShapeError if
    shapes don't fit; ValueError for options that are too small; DTypeError if there is no common
    float dtype.

    >>> x, w = flex.asarray([[[1.0, 2.0], [3.0, 4.0]]]), flex.full((1, 1, 1, 1), 10.0)
    >>> offset = flex.asarray([[[0.5, 0.5], [0.5, 0.5]], [[0.0, 0.0], [0.0, 0.0]]])
    >>> flex.nn.deform_conv2d(x, offset, w).tolist()
    [[[20.0, 30.0], [15.0, 20.0]]]
    """
def dropout(x: _Operand, p: float = 0.5, training: builtins.bool = True, *, seed: SupportsIndex | None = None) -> Tensor:
    """x with each element dropped (set to 0, whatever it was) with probability `p`, and the others
    divided by `1 - p` (Srivastava et al., 2014).

    x: a tensor of floats. p: from 0 to 1 (ValueError). training: if False, the result is x. seed:
    an integer, which with an element's row-major position determines whether it is dropped
    (ValueError if it is missing). The result has the shape and dtype of x. DTypeError if x is not a
    float.

    >>> y = flex.nn.dropout(flex.ones(1000), 0.5, seed=7)
    >>> sorted(set(y.tolist()))
    [0.0, 2.0]
    """
def dropout1d(x: _Operand, p: float = 0.5, training: builtins.bool = True, *, seed: SupportsIndex | None = None) -> Tensor:
    """`dropout` of whole channels (Tompson et al., 2015).

    x: `[batch, channels, length]`, or without the batch (ShapeError). p, training, seed and
    errors: as for `dropout`.

    >>> flex.nn.dropout1d(flex.ones((1, 1, 2)), 0.0, seed=7).tolist()
    [[[1.0, 1.0]]]
    """
def dropout2d(x: _Operand, p: float = 0.5, training: builtins.bool = True, *, seed: SupportsIndex | None = None) -> Tensor:
    """`dropout` of whole channels (Tompson et al., 2015).

    x: `[batch, channels, height, width]`, or without the batch (ShapeError). p, training, seed
    and errors: as for `dropout`.

    >>> flex.nn.dropout2d(flex.ones((1, 1, 1, 2)), 0.0, seed=7).tolist()
    [[[[1.0, 1.0]]]]
    """
def dropout3d(x: _Operand, p: float = 0.5, training: builtins.bool = True, *, seed: SupportsIndex | None = None) -> Tensor:
    """`dropout` of whole channels (Tompson et al., 2015).

    x: `[batch, channels, depth, height, width]`, or without the batch (ShapeError). p,
    training, seed and errors: as for `dropout`.

    >>> flex.nn.dropout3d(flex.ones((1, 1, 1, 2)), 0.0, seed=7).tolist()
    [[[[1.0, 1.0]]]]
    """
def elu(x: _Operand, alpha: _Operand = 1.0) -> Tensor:
    """x, or `alpha * (exp(x) - 1)` for negative x (Clevert et al., 2016).

    x: a tensor, an array or a number; integers are computed in float32. alpha: a number, or a
    tensor that broadcasts with x. The result has their common dtype. DTypeError for complex
    numbers; ShapeError if shapes don't broadcast.

    >>> flex.nn.elu(flex.asarray([1.0, -flex.inf])).tolist()
    [1.0, -1.0]
    """
def embedding(indices: _Operand, weight: _Operand) -> Tensor:
    """The rows of `weight` at `indices`.

    indices: integers of any shape; negative ones count from the end. weight: `[entries, width]`
    (ShapeError). The result is `[.., width]`, of the dtype of the weight. IndexError if an index is
    out of range; DTypeError if `indices` is not an integer tensor.

    >>> flex.nn.embedding(flex.asarray([1, 0]), flex.asarray([[1.0, 2.0], [3.0, 4.0]])).tolist()
    [[3.0, 4.0], [1.0, 2.0]]
    """
def embedding_bag(indices: _Operand, weight: _Operand, offsets: _Operand | None = None, *, mode: Literal["mean", "sum", "max"] = 'mean', per_sample_weights: _Operand | None = None, include_last_offset: builtins.bool = False, padding_idx: SupportsIndex | None = None) -> Tensor:
    """The sum, mean or maximum of the rows of `weight` at the indices of each bag, without
    materialising these rows.

    indices: integers of shape `[bags, length]`, or a vector with offsets. weight: `[entries,
    width]` (ShapeError). offsets: where each bag starts, ascending from 0. mode: "mean", "sum" or
    "max" (ValueError). per_sample_weights: a factor per row, with the shape of the indices, for
    sums. include_last_offset: whether the last offset is the end of the last bag. padding_idx: rows
    with this index are skipped. The result is `[bags, width]`, zeros for an empty bag, of the dtype
    of weight. ValueError if an index is out of range; DTypeError if weight is not a float.

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
    """Columns summed to images (col2im): the transpose of `unfold`.

    x: `[batch, channels * elements of a window, windows]`, or without the batch; floats.
    output_size: height and width of the images. kernel_size, dilation, padding, stride: as for
    `unfold`. The result is `[batch, channels, height, width]`; 16-bit floats are summed in float32.
    ShapeError if the windows are not those of such images; ValueError for options that are too
    small; DTypeError for other dtypes.

    >>> flex.nn.fold(flex.asarray([[1.0, 2.0], [3.0, 4.0]]), (1, 3), (1, 2)).tolist()
    [[[1.0, 5.0, 4.0]]]
    """
def gaussian_nll_loss(x: _Operand, target: _Operand, var: _Operand, full: builtins.bool = False, eps: float = 1e-06, reduction: _Reduction = 'mean') -> Tensor:
    """The negative log-likelihood of a Gaussian distribution: `(log(var) + (x - target)**2 / var) /
    2`, reduced (Nix and Weigend, 1994).

    x, target: tensors of numbers, which broadcast (ShapeError). var: variances, of the shape of x,
    or that without its last axis, or broadcasting; none negative (ValueError). full: whether to add
    `log(2 * pi) / 2`. eps: the lower bound of variances, finite and 0 or more (ValueError). reduction
    and dtypes: as for `mse_loss`.

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

    x: a tensor whose size along the axis is even (ShapeError); integers are computed in float32.
    dim: an alias of axis. The result has half that size. DTypeError for complex numbers; AxisError
    if the axis is out of range.

    >>> flex.nn.glu(flex.asarray([1.0, 2.0, flex.inf, 0.0])).tolist()
    [1.0, 1.0]
    """
def grid_sample(x: _Operand, grid: _Operand, mode: Literal["bilinear", "nearest", "bicubic"] = 'bilinear', padding_mode: Literal["zeros", "border", "reflection"] = 'zeros', align_corners: builtins.bool | None = None) -> Tensor:
    """Images sampled at the points of a grid.

    x: `[batch, channels, height, width]`, and grid: `[batch, rows, columns, 2]`, coordinates across
    and down, from -1 to 1; the result is `[batch, channels, rows, columns]`. For volumes x also has
    a depth, and grid is `[batch, slices, rows, columns, 3]`. mode: "bilinear" (volumes: trilinear),
    "nearest" or "bicubic" (images). padding_mode: what lies outside: "zeros", "border" (its
    elements) or "reflection". align_corners: whether -1 and 1 are the centres of the outermost
    elements, rather than their borders. The result has the operands' common dtype, a float; 16-bit
    floats are computed in float32. ShapeError if shapes don't fit; ValueError for modes that don't;
    DTypeError for other dtypes.

    >>> x = flex.asarray([[[[1.0, 3.0]]]])
    >>> flex.nn.grid_sample(x, flex.asarray([[[[0.0, 0.0], [0.5, 0.0]]]])).tolist()
    [[[[2.0, 3.0]]]]
    """
def group_norm(x: _Operand, num_groups: SupportsIndex, weight: _Operand | None = None, bias: _Operand | None = None, eps: float = 1e-05) -> Tensor:
    """`batch_norm` of each example by itself, over groups of adjacent channels (Wu and He, 2018).

    x: `[batch, channels, ..]` of floats; any strides. num_groups: divides the channels
    (ShapeError). weight, bias: `[channels]` (ShapeError). eps: as for `batch_norm`. The result has
    the shape and dtype of x. DTypeError if x is not a float.

    >>> flex.nn.group_norm(flex.asarray([[1.0, 3.0, -5.0, 5.0]]), 2, eps=0.0).tolist()
    [[-1.0, 1.0, -1.0, 1.0]]
    """
def gru(x: _Operand, hx: _Operand | None, weights: Iterable[_Operand], *, num_layers: SupportsIndex = 1, bidirectional: builtins.bool = False, batch_first: builtins.bool = False, lengths: _Shape | None = None) -> tuple[Tensor, Tensor]:
    """`rnn_tanh` with gated recurrent units (Cho et al., 2014; as in torch). Weights and biases
    have `3 * hidden` rows: the gates reset, update and new. Parameters, results and errors are
    the same.

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
    """Relaxed samples of categorical distributions: `softmax((logits + noise) / tau)`, with
    Gumbel-distributed noise (Jang et al., 2017; Maddison et al., 2017).

    logits: a tensor of floats. tau: the temperature, positive and finite (ValueError). hard: whether the result
    is one-hot, 1 at the largest element of each line and 0 elsewhere. dim: an alias of axis. seed:
    determines the noise, together with an element's row-major position. The result has the shape
    and dtype of logits. DTypeError if they are not floats; AxisError if the axis is out of range.

    >>> flex.nn.gumbel_softmax(flex.asarray([[0.0, 1000.0], [1000.0, 0.0]]), hard=True, seed=7).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
def hardshrink(x: _Operand, lambd: _Operand = 0.5) -> Tensor:
    """x, or 0 where it is from `-lambd` to `lambd`.

    x: a tensor, an array or a number; integers are computed in float32. lambd: a number, or a
    tensor that broadcasts with x. The result has their common dtype. DTypeError for complex
    numbers; ShapeError if shapes don't broadcast.

    >>> flex.nn.hardshrink(flex.asarray([1.0, -0.25])).tolist()
    [1.0, 0.0]
    """
def hardsigmoid(x: _Operand) -> Tensor:
    """`min(max(x + 3, 0), 6) / 6`.

    x: a tensor, an array or a number. The result has its shape.
    The result has the operands' common dtype; integers and bool are computed in float32.
    DTypeError for complex numbers.

    >>> flex.nn.hardsigmoid(flex.asarray([-3.0, 0.0, 9.0])).tolist()
    [0.0, 0.5, 1.0]
    """
def hardswish(x: _Operand) -> Tensor:
    """`x * min(max(x + 3, 0), 6) / 6` (Howard et al. 2019).

    x: a tensor, an array or a number. The result has its shape.
    The result has the operands' common dtype; integers and bool are computed in float32.
    DTypeError for complex numbers.

    >>> flex.nn.hardswish(flex.asarray([0.0, 9.0])).tolist()
    [0.0, 9.0]
    """
def hardtanh(x: _Operand, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """x clamped to `min_val` to `max_val`.

    x: a tensor, an array or a number; integers are computed in float32. min_val, max_val: numbers,
    the first not above the second (ValueError). The result has the shape and dtype of x. DTypeError
    for bool and complex numbers.

    >>> flex.nn.hardtanh(flex.asarray([1.5, 0.5, -3.0])).tolist()
    [1.0, 0.5, -1.0]
    """
def huber_loss(x: _Operand, target: _Operand, reduction: _Reduction = 'mean', delta: float = 1.0) -> Tensor:
    """`d**2 / 2` where `d = |x - target|` is below `delta`, else `delta * (d - delta / 2)` (Huber, 1964),
    reduced.

    delta: positive and finite (ValueError). x, target, reduction and errors: as for `mse_loss`.

    >>> flex.nn.huber_loss(flex.asarray([1.0, 3.0]), flex.asarray([0.0, 0.0]), delta=2.0, reduction="none").tolist()
    [0.5, 4.0]
    """
def instance_norm(x: _Operand, running_mean: _Operand | None = None, running_var: _Operand | None = None, weight: _Operand | None = None, bias: _Operand | None = None, use_input_stats: builtins.bool = True, momentum: float = 0.1, eps: float = 1e-05) -> Tensor:
    """`batch_norm` of each channel of each example by itself (Ulyanov et al., 2016).

    x: `[batch, channels, ..]` of floats; any strides. use_input_stats: if False, mean and variance
    are running_mean and running_var (ValueError if there are none). Without them there must be more
    than one value for each channel of an example (ShapeError). Otherwise as for `batch_norm`.

    >>> flex.nn.instance_norm(flex.asarray([[[1.0, 3.0], [-5.0, 5.0]]]), eps=0.0).tolist()
    [[[-1.0, 1.0], [-1.0, 1.0]]]
    """
def interpolate(x: _Operand, size: _Shape | None = None, scale_factor: float | Sequence[float] | None = None, mode: _Interpolation = 'nearest', align_corners: builtins.bool | None = None, recompute_scale_factor: builtins.bool | None = None, antialias: builtins.bool = False) -> Tensor:
    """Resamples images, signals or volumes to other sizes.

    x: `[batch, channels, ..]` with one to three spatial dimensions; any strides. size: their sizes,
    one number or one for each; or scale_factor: the factors of their sizes. mode: "nearest",
    "nearest-exact" (any dtype), "linear" (one spatial dimension), "bilinear", "bicubic", "lanczos3"
    (two), "trilinear" (three) or "area", for floats; the two-dimensional ones also for uint8,
    rounded to the nearest, ties to even. align_corners: whether the centres of the outermost
    elements coincide, rather than their borders. recompute_scale_factor: whether scale_factor only
    determines sizes. antialias: whether filters widen to cover all elements when downsampling, for
    "bilinear", "bicubic" and "lanczos3". The result has the dtype of x; 16-bit floats are computed
    in float32. "lanczos3" is that of torchvision and Pillow, all else torch's. ShapeError if the
    dimensions don't fit the mode; ValueError for other options that don't fit; DTypeError for other
    dtypes.

    >>> x = flex.asarray([[[1.0, 3.0]]])
    >>> flex.nn.interpolate(x, 4, mode="linear").tolist()
    [[[1.0, 1.5, 2.5, 3.0]]]
    >>> flex.nn.interpolate(x, scale_factor=2).tolist()
    [[[1.0, 1.0, 3.0, 3.0]]]
    """
def kl_div(x: _Operand, target: _Operand, *, reduction: Literal["none", "mean", "sum", "batchmean"] = 'mean', log_target: builtins.bool = False) -> Tensor:
    """`target * (log(target) - x)`, or 0 where target is 0, reduced: the Kullback-Leibler divergence
    (1951) of log-probabilities x.

    x, target: tensors of numbers, which broadcast (ShapeError). reduction: "mean", "sum", "none",
    or "batchmean", the sum divided by the size of the first axis (ValueError). log_target: whether
    target are log-probabilities too. The result has the common dtype; a negative target gives NaN, as
    in torch. DTypeError for complex numbers.

    >>> flex.nn.kl_div(flex.asarray([0.0, -1.0]), flex.asarray([0.0, 1.0]), reduction="sum").item()
    1.0
    """
def l1_loss(x: _Operand, target: _Operand, *, reduction: _Reduction = 'mean') -> Tensor:
    """`|x - target|`, reduced.

    x, target, reduction and errors: as for `mse_loss`.

    >>> flex.nn.l1_loss(flex.asarray([1.0, 2.0]), flex.asarray([0.0, 4.0])).item()
    1.5
    """
def layer_norm(x: _Operand, normalized_shape: _Shape, weight: _Operand | None = None, bias: _Operand | None = None, eps: float = 1e-05, *, residual: _Operand | None = None) -> Any:
    """`(x - mean) / sqrt(var + eps) * weight + bias`, with mean and variance over the last dimensions,
    `normalized_shape`.

    x: a tensor of floats whose last dimensions are normalized_shape (an integer or a tuple), which
    is the shape of weight and bias (ShapeError). eps: finite, 0 or more (ValueError). residual: a
    tensor of the shape and dtype of x; with it, the result is a pair: the norm of `x + residual`,
    and that sum. The result has the shape and dtype of x. DTypeError if x is not a float.

    >>> flex.nn.layer_norm(flex.asarray([-1.0, 1.0]), 2, eps=0.0).tolist()
    [-1.0, 1.0]
    >>> y, x = flex.nn.layer_norm(flex.asarray([1.0, 1.0]), 2, eps=0.0, residual=flex.asarray([0.0, 2.0]))
    >>> y.tolist(), x.tolist()
    ([-1.0, 1.0], [1.0, 3.0])
    """
def leaky_relu(x: _Operand, negative_slope: _Operand = 0.01) -> Tensor:
    """x, or `negative_slope * x` for negative x (Maas et al., 2013).

    x: a tensor, an array or a number; integers are computed in float32. negative_slope: a number,
    or a tensor that broadcasts with x. The result has their common dtype. DTypeError for complex
    numbers; ShapeError if shapes don't broadcast.

    >>> flex.nn.leaky_relu(flex.asarray([1.0, -2.0]), 0.5).tolist()
    [1.0, -1.0]
    """
def linear(x: _Operand, weight: _Operand, bias: _Operand | None = None, *, activation: _Activation | None = None, residual: _Operand | None = None, dtype: _DType | None = None) -> Tensor:
    """`activation(x @ weight.T + bias) + residual`, fused into the product.

    x: `[.., in]`. weight: `[out, in]`. bias: `[out]`. activation: the name of one without
    parameters, such as "relu", "gelu", "gelu_tanh", "silu" or "hardswish" (ValueError). residual:
    broadcasts to the result, which is `[.., out]`, of the common dtype. dtype: the dtype of the
    sums and of the result instead, as if all operands were converted to it first; int8 and uint8
    need no such copies for int32. bfloat16 is multiplied as by `matmul`, where subnormal numbers may
    count as zero. ShapeError if sizes don't match; DTypeError for bool, if there is no common dtype
    or `dtype` can't hold its values, or for an activation of integers.

    >>> flex.nn.linear(flex.asarray([1.0, 2.0]), flex.asarray([[1.0, 0.0], [1.0, 1.0]]), flex.asarray([0.5, 0.0])).tolist()
    [1.5, 3.0]
    """
def local_response_norm(x: _Operand, size: SupportsIndex, alpha: float = 0.0001, beta: float = 0.75, k: float = 1.0) -> Tensor:
    """`x / (k + alpha * mean(squares of size neighbouring channels))**beta`, with zeros beyond the
    first and last channel (Krizhevsky et al., 2012, as torch computes it).

    x: `[batch, channels, ..]` of floats (ShapeError, DTypeError). size: the number of channels, 1
    or more. alpha, beta, k: finite (ValueError). The result has the shape and dtype of x.

    >>> flex.nn.local_response_norm(flex.asarray([[1.0, 3.0]]), 2, alpha=1.0, beta=1.0, k=0.0).tolist()
    [[2.0, 0.6000000238418579]]
    """
def log_softmax(x: _Operand, axis: SupportsIndex = -1, *, dim: SupportsIndex | None = None, dtype: _DType | None = None) -> Tensor:
    """The logarithm of `softmax`, without overflow or cancellation.

    x: a tensor of floats; integers are converted to float32. dim: an alias of axis. dtype: as for
    `softmax`. The result has its shape and dtype. DTypeError for complex numbers and for another
    dtype; AxisError if the axis is out of range.

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

    x: `[batch, channels, length]`, or without the batch; floats. norm_type: finite, but not 0.
    kernel_size, stride, ceil_mode: as for `avg_pool1d`. As in torch, the powers are those of x,
    not of its magnitude, and for a window that reaches beyond the signal each missing element
    counts as the mean of the others. The result has the dtype of x; 16-bit floats are computed
    in float32. Errors as for `avg_pool1d`; ValueError if norm_type is 0 or not finite.

    >>> flex.nn.lp_pool1d(flex.asarray([[3.0, 4.0, 6.0, 8.0]]), 2.0, 2).tolist()
    [[5.0, 10.0]]
    """
def lp_pool2d(x: _Operand, norm_type: float, kernel_size: _Shape, stride: _Shape | None = None, ceil_mode: builtins.bool = False) -> Tensor:
    """The norm of each window of an image: `sum(x ** norm_type) ** (1 / norm_type)`.

    x: `[batch, channels, height, width]`, or without the batch. Otherwise as for `lp_pool1d`.

    >>> flex.nn.lp_pool2d(flex.asarray([[[3.0, 0.0], [0.0, 4.0]]]), 2.0, 2).tolist()
    [[[5.0]]]
    """
def lp_pool3d(x: _Operand, norm_type: float, kernel_size: _Shape, stride: _Shape | None = None, ceil_mode: builtins.bool = False) -> Tensor:
    """The norm of each window of a volume: `sum(x ** norm_type) ** (1 / norm_type)`.

    x: `[batch, channels, depth, height, width]`, or without the batch. Otherwise as for
    `lp_pool1d`.

    >>> flex.nn.lp_pool3d(flex.ones((1, 1, 2, 2)), 1.0, (1, 2, 2)).tolist()
    [[[[4.0]]]]
    """
def lstm(x: _Operand, hx: tuple[_Operand, _Operand] | None, weights: Iterable[_Operand], *, num_layers: SupportsIndex = 1, bidirectional: builtins.bool = False, batch_first: builtins.bool = False, lengths: _Shape | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """`rnn_tanh` with long short-term memory (Hochreiter and Schmidhuber, 1997).

    hx: the initial states, a pair `(h, c)` as for `rnn_tanh`, or None for zeros. weights and biases
    have `4 * hidden` rows: the gates input, forget, cell and output. The result is the output, the
    last h and the last c. Other parameters and errors as for `rnn_tanh`.

    >>> x, w = flex.asarray([[1.0], [2.0]]), flex.ones((4, 1))
    >>> y, h, c = flex.nn.lstm(x, None, [w, w])
    >>> y.shape, h.shape, c.shape
    ((2, 1), (1, 1), (1, 1))
    """
def lstm_cell(x: _Operand, hx: tuple[_Operand, _Operand] | None, w_ih: _Operand, w_hh: _Operand, b_ih: _Operand | None = None, b_hh: _Operand | None = None) -> tuple[Tensor, Tensor]:
    """One step of `lstm`.

    x: `[batch, in]` of floats, or without the batch. hx: a pair `(h, c)` of `[batch, hidden]`, or
    None for zeros. w_ih, w_hh, b_ih, b_hh and errors: as for `lstm`. The result is the next h and
    c.

    >>> w = flex.zeros((4, 1))
    >>> h, c = flex.nn.lstm_cell(flex.asarray([2.0]), (flex.zeros(1), flex.ones(1)), w, w)
    >>> c.tolist()
    [0.5]
    """
def margin_ranking_loss(x1: _Operand, x2: _Operand, target: _Operand, margin: float = 0.0, *, reduction: _Reduction = 'mean') -> Tensor:
    """`max(0, margin - target * (x1 - x2))`, reduced: target is 1 where x1 should be larger, and -1
    where x2 should.

    x1, x2, target: tensors of numbers, which broadcast (ShapeError). margin: finite (ValueError).
    reduction and dtypes: as for `mse_loss`.

    >>> a, b = flex.asarray([1.0, 1.0]), flex.asarray([3.0, 3.0])
    >>> flex.nn.margin_ranking_loss(a, b, flex.asarray([1.0, -1.0])).item()
    1.0
    """
def max_pool1d(x: _Operand, kernel_size: _Shape, stride: _Shape | None = None, padding: _Shape = 0, dilation: _Shape = 1, ceil_mode: builtins.bool = False, return_indices: builtins.bool = False) -> Any:
    """The maximum of each window of a signal.

    x: `[batch, channels, length]`, or without the batch; not bool or complex. kernel_size:
    elements of a window. stride: from one window to the next; by default kernel_size. padding:
    positions on both sides without elements, at most half a window. dilation: from one element
    of a window to the next. ceil_mode: whether the number of windows is rounded up, of which
    the last may reach beyond the padded image; each begins in the image or the padding before
    it. return_indices: whether to return `(result, indices)`, where indices are int64,
    row-major positions in the spatial axes: of the first of equal elements, or of the last NaN.
    The maximum is NaN if there is one. The result has the dtype of x and `(length + 2 * padding
    - dilation * (kernel_size - 1) - 1) // stride + 1` positions. ShapeError if the dimensions
    don't fit or there is no position; ValueError for options that are too small, or too much
    padding; DTypeError for bool and complex.

    >>> flex.nn.max_pool1d(flex.asarray([[1.0, 3.0, 2.0, 0.0]]), 2).tolist()
    [[3.0, 2.0]]
    """
def max_pool2d(x: _Operand, kernel_size: _Shape, stride: _Shape | None = None, padding: _Shape = 0, dilation: _Shape = 1, ceil_mode: builtins.bool = False, return_indices: builtins.bool = False) -> Any:
    """The maximum of each window of an image.

    x: `[batch, channels, height, width]`, or without the batch; any strides. If channels are
    last in memory, they are so in the result. kernel_size, stride, padding, dilation: one
    number, or one for each axis. Otherwise as for `max_pool1d`.

    >>> x = flex.asarray([[[1.0, 2.0, 0.0], [4.0, 3.0, 9.0]]])
    >>> y, indices = flex.nn.max_pool2d(x, 2, stride=1, return_indices=True)
    >>> y.tolist(), indices.tolist()
    ([[[4.0, 9.0]]], [[[3, 5]]])
    """
def max_pool3d(x: _Operand, kernel_size: _Shape, stride: _Shape | None = None, padding: _Shape = 0, dilation: _Shape = 1, ceil_mode: builtins.bool = False, return_indices: builtins.bool = False) -> Any:
    """The maximum of each window of a volume.

    x: `[batch, channels, depth, height, width]`, or without the batch. Otherwise as for
    `max_pool2d`.

    >>> flex.nn.max_pool3d(flex.ones((1, 2, 2, 4)), 2).tolist()
    [[[[1.0, 1.0]]]]
    """
def max_unpool1d(x: _Operand, indices: _Operand, kernel_size: _Shape, stride: _Shape | None = None, padding: _Shape = 0, output_size: _Shape | None = None) -> Tensor:
    """Elements put back where `max_pool1d` took them, with zeros elsewhere.

    x: `[batch, channels, length]`, or without the batch. indices: integers of the same shape,
    positions in the result, as `max_pool1d` returns them. kernel_size, stride, padding: the
    pool's. output_size: the result's length, within a stride of the default, `(length - 1) *
    stride - 2 * padding + kernel_size`; or its shape. If several elements have the same
    position, the last one is kept. ShapeError if shapes don't fit; ValueError if output_size
    doesn't, or a position is negative; IndexError if it is out of range.

    >>> y, indices = flex.nn.max_pool1d(flex.asarray([[1.0, 5.0, 2.0, 4.0]]), 2, return_indices=True)
    >>> flex.nn.max_unpool1d(y, indices, 2).tolist()
    [[0.0, 5.0, 0.0, 4.0]]
    """
def max_unpool2d(x: _Operand, indices: _Operand, kernel_size: _Shape, stride: _Shape | None = None, padding: _Shape = 0, output_size: _Shape | None = None) -> Tensor:
    """Elements put back where `max_pool2d` took them, with zeros elsewhere.

    x: `[batch, channels, height, width]`, or without the batch. indices: integers of the same
    shape, row-major positions in a plane of the result. Otherwise as for `max_unpool1d`.

    >>> flex.nn.max_unpool2d(flex.asarray([[[7.0]]]), flex.asarray([[[2]]]), 2).tolist()
    [[[0.0, 0.0], [7.0, 0.0]]]
    """
def max_unpool3d(x: _Operand, indices: _Operand, kernel_size: _Shape, stride: _Shape | None = None, padding: _Shape = 0, output_size: _Shape | None = None) -> Tensor:
    """Elements put back where `max_pool3d` took them, with zeros elsewhere.

    x: `[batch, channels, depth, height, width]`, or without the batch. Otherwise as for
    `max_unpool2d`.

    >>> flex.nn.max_unpool3d(flex.ones((1, 1, 1, 1)), flex.asarray([[[[1]]]]), (1, 1, 2)).tolist()
    [[[[0.0, 1.0]]]]
    """
def mish(x: _Operand) -> Tensor:
    """`x * tanh(log(1 + exp(x)))` (Misra 2019).

    x: a tensor, an array or a number. The result has its shape.
    The result has the operands' common dtype; integers and bool are computed in float32.
    DTypeError for complex numbers.

    >>> flex.nn.mish(flex.asarray([0.0, 20.0])).tolist()
    [0.0, 20.0]
    """
def mse_loss(x: _Operand, target: _Operand, *, reduction: _Reduction = 'mean') -> Tensor:
    """`(x - target)**2`, reduced.

    x, target: tensors of numbers, which broadcast (ShapeError); integers are computed in float32.
    reduction: "mean", "sum" or "none" (ValueError). The result has their common dtype. DTypeError for
    complex numbers.

    >>> flex.nn.mse_loss(flex.asarray([1.0, 2.0]), flex.asarray([0.0, 4.0])).item()
    2.5
    """
def nll_loss(x: _Operand, target: _Operand, weight: _Operand | None = None, *, ignore_index: SupportsIndex = -100, reduction: _Reduction = 'mean') -> Tensor:
    """`-x` at each target, reduced, for log-probabilities x, as `log_softmax` returns them.

    x: floats of shape `[batch, classes, ..]` or `[classes]`. target: class indices, integers of
    that shape without the axis of classes. weight, ignore_index, reduction and errors: as for
    `cross_entropy`.

    >>> x = flex.asarray([[-1.0, -2.0], [-3.0, -4.0]])
    >>> flex.nn.nll_loss(x, flex.asarray([0, -100])).item()
    1.0
    """
def normalize(x: _Operand, p: float = 2.0, axis: SupportsIndex = 1, eps: float = 1e-12, *, dim: SupportsIndex | None = None) -> Tensor:
    """`x / max(norm, eps)`, with the norm `sum(|x|^p)^(1/p)` of each vector along an axis.

    x: a tensor of floats. p: the order of the norm, 0 or more; infinity for the largest magnitude
    (ValueError). eps: the lower bound of the divisor, finite and 0 or more (ValueError). dim: an alias of axis. The result has the
    shape and dtype of x. DTypeError if x is not a float; AxisError if the axis is out of range.

    >>> flex.nn.normalize(flex.asarray([[3.0, 4.0], [0.0, 0.0]])).tolist()
    [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
def one_hot(x: _Operand, num_classes: SupportsIndex = -1) -> Tensor:
    """One-hot vectors: 1 at the position of each integer and 0 elsewhere.

    x: integers of any shape (DTypeError). num_classes: the length of the vectors; -1 for one more
    than the largest integer. The result is `[.., classes]` of int64. ValueError if an integer is
    negative or too large.

    >>> flex.nn.one_hot(flex.asarray([1, 0]), 3).tolist()
    [[0, 1, 0], [1, 0, 0]]
    """
def pad(x: _Operand, pad: _Shape, mode: _PadMode = 'constant', value: _Number | None = None) -> Tensor:
    """Pads `x` along its last axes.

    pad: a pair (before, after) for each padded axis, the last axis first; negative numbers crop.
    mode: "constant", for any axes and dtype, with value (0); or "reflect", "replicate" or
    "circular", for one to three spatial axes behind channels and possibly a batch. The result has
    the dtype of x. ShapeError if pad doesn't fit the dimensions; ValueError for another mode, or a
    value for a mode that takes none; DTypeError if the value is of a higher kind than the dtype.

    >>> x = flex.asarray([[1, 2, 3]])
    >>> flex.nn.pad(x, (1, 2), value=9).tolist()
    [[9, 1, 2, 3, 9, 9]]
    >>> flex.nn.pad(x, (2, 0), mode="reflect").tolist()
    [[3, 2, 1, 2, 3]]
    """
def pairwise_distance(x1: _Operand, x2: _Operand, p: float = 2.0, eps: float = 1e-06, keepdim: builtins.bool = False) -> Tensor:
    """`sum(|x1 - x2 + eps|**p)**(1 / p)` along the last axis.

    x1, x2: tensors of numbers, which broadcast (ShapeError); integers are computed in float32. p:
    the order of the norm, 0 or more. eps: finite, 0 or more (ValueError). keepdim: whether the last axis is kept, with
    size 1. The result has the common dtype. DTypeError for complex numbers.

    >>> flex.nn.pairwise_distance(flex.asarray([[3.0, 0.0]]), flex.asarray([[0.0, 4.0]]), eps=0.0).tolist()
    [5.0]
    """
def pdist(x: _Operand, p: float = 2.0) -> Tensor:
    """The distances between all pairs of rows of x: the part of `cdist(x, x)` above the diagonal, row
    by row.

    x: `[n, width]` of numbers (ShapeError). p: the order of the norm, 0 or more (ValueError). The
    result has `n * (n - 1) / 2` elements, of the dtype of x; integers are computed in float32.
    DTypeError for complex numbers.

    >>> flex.nn.pdist(flex.asarray([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]]), 1.0).tolist()
    [7.0, 1.0, 6.0]
    """
def pixel_shuffle(x: _Operand, upscale_factor: SupportsIndex) -> Tensor:
    """Moves channels to positions: `[.., channels * r * r, height, width]` becomes
    `[.., channels, height * r, width * r]`, with r = upscale_factor.

    x: any dtype. ShapeError if there are fewer than three dimensions, or r * r does not divide the
    channels.

    >>> flex.nn.pixel_shuffle(flex.reshape(flex.arange(4), (4, 1, 1)), 2).tolist()
    [[[0, 1], [2, 3]]]
    """
def pixel_unshuffle(x: _Operand, downscale_factor: SupportsIndex) -> Tensor:
    """The inverse of `pixel_shuffle`: `[.., channels, height * r, width * r]` becomes `[.., channels *
    r * r, height, width]`, with r = downscale_factor.

    x: any dtype. ShapeError if there are fewer than three dimensions, or r does not divide height
    and width.

    >>> flex.nn.pixel_unshuffle(flex.asarray([[[0, 1], [2, 3]]]), 2).tolist()
    [[[0]], [[1]], [[2]], [[3]]]
    """
def poisson_nll_loss(x: _Operand, target: _Operand, log_input: builtins.bool = True, full: builtins.bool = False, *, eps: float = 1e-08, reduction: _Reduction = 'mean') -> Tensor:
    """The negative log-likelihood of a Poisson distribution: `exp(x) - target * x`, or for rates `x -
    target * log(x + eps)`, reduced.

    x, target: tensors of numbers, which broadcast (ShapeError). log_input: whether x are logarithms
    of rates. full: whether to add Stirling's approximation of the terms that depend on target
    alone. eps: finite, 0 or more (ValueError). reduction and dtypes: as for `mse_loss`.

    >>> flex.nn.poisson_nll_loss(flex.asarray([0.0, 0.0]), flex.asarray([0.0, 3.0])).item()
    1.0
    """
def prelu(x: _Operand, weight: _Operand) -> Tensor:
    """x, or `weight * x` for negative x, with a weight per channel (He et al., 2015).

    x: `[batch, channels, ..]`. weight: `[channels]`, or one element (ShapeError). The result has
    the shape of x and the common dtype. DTypeError for complex numbers.

    >>> flex.nn.prelu(flex.asarray([[-1.0, -1.0]]), flex.asarray([0.5, 0.25])).tolist()
    [[-0.5, -0.25]]
    """
def relu6(x: _Operand) -> Tensor:
    """`min(max(x, 0), 6)`.

    x: a tensor, an array or a number. The result has its shape.
    The result has the operands' common dtype; integers and bool are computed in float32.
    DTypeError for complex numbers.

    >>> flex.nn.relu6(flex.asarray([-2.0, 1.5, 9.0])).tolist()
    [0.0, 1.5, 6.0]
    """
def rms_norm(x: _Operand, normalized_shape: _Shape, weight: _Operand | None = None, eps: float | None = None, *, residual: _Operand | None = None) -> Any:
    """`x / sqrt(mean(x * x) + eps) * weight`, with the mean over the last dimensions,
    `normalized_shape`.

    x: a tensor of floats whose last dimensions are normalized_shape (an integer or a tuple), which
    is the shape of weight (ShapeError). eps: finite, 0 or more (ValueError); by default the dtype's
    machine epsilon. residual: as for `layer_norm`. The result has the shape and dtype of x.
    DTypeError if x is not a float.

    >>> flex.nn.rms_norm(flex.asarray([2.0, -2.0]), 2, eps=0.0).tolist()
    [1.0, -1.0]
    """
def rnn_relu(x: _Operand, hx: _Operand | None, weights: Iterable[_Operand], *, num_layers: SupportsIndex = 1, bidirectional: builtins.bool = False, batch_first: builtins.bool = False, lengths: _Shape | None = None) -> tuple[Tensor, Tensor]:
    """`rnn_tanh` with relu in place of tanh; parameters, results and errors are the same.

    >>> x, w = flex.asarray([[1.0], [2.0]]), flex.asarray([[1.0]])
    >>> flex.nn.rnn_relu(x, None, [w, w])[0].tolist()
    [[1.0], [3.0]]
    """
def rnn_relu_cell(x: _Operand, hx: _Operand | None, w_ih: _Operand, w_hh: _Operand, b_ih: _Operand | None = None, b_hh: _Operand | None = None) -> Tensor:
    """One step of `rnn_relu`; parameters, result and errors are those of `rnn_tanh_cell`.

    >>> flex.nn.rnn_relu_cell(flex.asarray([2.0]), None, flex.asarray([[1.0]]), flex.asarray([[1.0]])).tolist()
    [2.0]
    """
def rnn_tanh(x: _Operand, hx: _Operand | None, weights: Iterable[_Operand], *, num_layers: SupportsIndex = 1, bidirectional: builtins.bool = False, batch_first: builtins.bool = False, lengths: _Shape | None = None) -> tuple[Tensor, Tensor]:
    """A recurrent network of `h = tanh(w_ih @ x + b_ih + w_hh @ h + b_hh)` (Elman, 1990).

    x: `[steps, batch, in]` of floats, or without the batch. hx: the initial state,
    `[num_layers * directions, batch, hidden]`, or None for zeros. weights: for each layer, and
    in it for each direction, w_ih `[hidden, in]`, w_hh `[hidden, hidden]` and, for all or none,
    b_ih and b_hh `[hidden]`: the flat weights of torch's modules, of the dtype of x.
    bidirectional: whether layers have a second direction, backwards. batch_first: whether x and
    the output are `[batch, steps, ..]`. lengths: the number of steps of each sequence, in any
    order; beyond it the output is 0, and the last state is that of the sequence's last step, as
    with torch's packed sequences. The result is the output,
    `[steps, batch, directions * hidden]`, and the last states, of the dtype of x. ShapeError if
    shapes don't fit; DTypeError if dtypes differ or are not floats; ValueError for wrong
    lengths or numbers of weights.

    >>> x, w = flex.asarray([[0.0], [1.0]]), flex.asarray([[1.0]])
    >>> y, h = flex.nn.rnn_tanh(x, None, [w, w])
    >>> y[-1].tolist() == h[0].tolist()
    True
    """
def rnn_tanh_cell(x: _Operand, hx: _Operand | None, w_ih: _Operand, w_hh: _Operand, b_ih: _Operand | None = None, b_hh: _Operand | None = None) -> Tensor:
    """One step of `rnn_tanh`.

    x: `[batch, in]` of floats, or without the batch. hx: `[batch, hidden]`, or None for zeros.
    w_ih, w_hh, b_ih, b_hh and errors: as for `rnn_tanh`. The result is the next state.

    >>> flex.nn.rnn_tanh_cell(flex.asarray([0.0]), None, flex.asarray([[1.0]]), flex.asarray([[1.0]])).tolist()
    [0.0]
    """
def rotary_embedding(x: _Operand, cos: _Operand, sin: _Operand, *, interleaved: builtins.bool = False, positions: _Operand | None = None, offset: SupportsIndex = 0) -> Tensor:
    """Rotates pairs of elements of `x` by the angles of each token's position.

    x: `[.., tokens, dim]`, floats. cos, sin: tables `[positions, pairs]`, of which tokens use the
    rows from `offset` on, or those at `positions`, integers of `[tokens]` or `[batch, tokens]`; or
    already the rows for these tokens, `[.., tokens, pairs]`, which broadcast (`[batch, tokens,
    pairs]` apply to all heads of a four-dimensional x). Only the first `2 * pairs` elements are
    rotated. interleaved: whether pairs are neighbours, as in GPT-J, rather than elements of the two
    halves, as in Llama. The result has the shape and dtype of x; 16-bit floats are computed in
    float32 and rounded once. From RoFormer (Su et al., 2021); ONNX's RotaryEmbedding. ShapeError if
    shapes don't fit or the tables have no row for a position (IndexError for one of `positions`);
    ValueError for an `offset` beside positions; DTypeError if x is not a float.

    >>> cos, sin = flex.nn.rotary_tables(4, 2)
    >>> flex.nn.rotary_embedding(flex.asarray([[1.0, 0.0], [1.0, 0.0]]), cos, sin).tolist()
    [[1.0, 0.0], [0.5403022766113281, 0.8414709568023682]]
    """
def rotary_tables(length: SupportsIndex, dim: SupportsIndex, *, base: float = 10000.0, scaling: float = 1.0) -> tuple[Tensor, Tensor]:
    """The cosines and sines that `rotary_embedding` takes, for positions 0 to `length - 1`.

    Returns two tensors `[length, dim / 2]` of float32. The angle of pair i at position p is `p /
    scaling * base ** (-2 * i / dim)`, computed in float64. dim: the number of elements that are
    rotated, even. scaling: values above 1 stretch a model to longer contexts (position
    interpolation, Chen et al., 2023). ValueError for another dim, or if base or scaling is not
    positive.

    >>> cos, sin = flex.nn.rotary_tables(2, 4, base=100.0)
    >>> cos.tolist()
    [[1.0, 1.0], [0.5403022766113281, 0.9950041770935059]]
    """
def rrelu(x: _Operand, lower: float = 0.125, upper: float = 0.3333333333333333) -> Tensor:
    """`leaky_relu` with the mean of the slopes that training draws from `lower` to `upper` (Xu et al.,
    2015).

    x: a tensor, an array or a number; integers are computed in float32. lower, upper: finite,
    the first not above the second (ValueError). The result has the shape and dtype of x. DTypeError for
    complex numbers.

    >>> flex.nn.rrelu(flex.asarray([1.0, -2.0]), 0.25, 0.75).tolist()
    [1.0, -1.0]
    """
def scaled_dot_product_attention(query: _Operand, key: _Operand, value: _Operand, attn_mask: _Operand | None = None, dropout_p: float = 0.0, is_causal: builtins.bool = False, *, scale: float | None = None, enable_gqa: builtins.bool = False, softcap: float | None = None, window: _Shape | None = None, align: Literal["upper_left", "lower_right"] | None = None) -> Tensor:
    """`softmax(query @ key.mT * scale + mask) @ value`, without materialising the matrix of scores.

    query: `[.., queries, depth]`. key: `[.., keys, depth]`. value: `[.., keys, width]`. The result
    is `[.., queries, width]`, of the common dtype; leading dimensions broadcast. 16-bit floats are
    computed in float32 and rounded once, except that CPUs that multiply bfloat16 in pairs round the
    softmax's weights to it, as FlashAttention does. A query whose keys are all masked gives zeros.
    attn_mask: broadcasts to `[.., queries, keys]`, and is read by its strides, so a view costs
    nothing; a bool mask is True for the keys to attend to; a float mask is added to the scores.
    dropout_p: for torch's calls; nothing is dropped out, so it must be 0. is_causal: a query
    attends to keys up to its own position. scale: by default `1 / sqrt(depth)`. enable_gqa: key and
    value may have fewer heads (dimension -3) than query, each shared by a group of adjacent query
    heads. softcap: scores become `softcap * tanh(score / softcap)`, before the mask (Gemma 2,
    2024). window: how many keys before its own position and after it a query attends to, -1 for
    all, as flash-attn's window_size. align: a query's position for is_causal and window: with
    "lower_right" the last query's is the last key, as tokens appended to a cache need
    (torch.nn.attention.bias.causal_lower_right); with "upper_left" query i's is key i, which torch
    takes without being told. Without it, fewer queries than keys are an error for is_causal and
    window, so that decoding never attends to the first key alone. Keys that no query may see cost
    nothing. ShapeError if shapes don't fit; DTypeError if operands are not floats; ValueError for
    an option's value, or one that is missing.

    >>> q, k = flex.asarray([[1.0, 0.0]]), flex.asarray([[1.0, 0.0], [1.0, 0.0]])
    >>> flex.nn.scaled_dot_product_attention(q, k, flex.asarray([[2.0], [4.0]])).tolist()
    [[3.0]]
    >>> v = flex.asarray([[2.0], [4.0]])
    >>> flex.nn.scaled_dot_product_attention(q, k, v, window=(0, 0), align="lower_right").tolist()
    [[4.0]]
    >>> flex.nn.scaled_dot_product_attention(q, k, v, is_causal=True, align="lower_right").tolist()
    [[3.0]]
    """
def selu(x: _Operand) -> Tensor:
    """`elu` times a factor that keeps mean 0 and variance 1 through layers (Klambauer et al.
    2017).

    x: a tensor, an array or a number. The result has its shape.
    The result has the operands' common dtype; integers and bool are computed in float32.
    DTypeError for complex numbers.

    >>> flex.nn.selu(flex.asarray([0.0, flex.inf])).tolist()
    [0.0, inf]
    """
def smooth_l1_loss(x: _Operand, target: _Operand, *, reduction: _Reduction = 'mean', beta: float = 1.0) -> Tensor:
    """`d**2 / (2 * beta)` where `d = |x - target|` is below `beta`, else `d - beta / 2` (Girshick, 2015),
    reduced.

    beta: 0 or more (ValueError). x, target, reduction and errors: as for `mse_loss`.

    >>> flex.nn.smooth_l1_loss(flex.asarray([1.0, 3.0]), flex.asarray([0.0, 0.0]), beta=2.0, reduction="none").tolist()
    [0.25, 2.0]
    """
def softmax(x: _Operand, axis: SupportsIndex = -1, *, dim: SupportsIndex | None = None, dtype: _DType | None = None) -> Tensor:
    """`exp(x) / sum(exp(x))` along an axis, without overflow.

    x: a tensor of floats; integers are converted to float32. dim: an alias of axis. dtype: a float
    that x is converted to first. The result has its shape and dtype; it is NaN if all elements are
    `-inf`. DTypeError for complex numbers and for another dtype; AxisError if the axis is out of
    range.

    >>> flex.nn.softmax(flex.asarray([0.0, 0.0, -flex.inf])).tolist()
    [0.5, 0.5, 0.0]
    """
def softmin(x: _Operand, axis: SupportsIndex = -1, *, dim: SupportsIndex | None = None, dtype: _DType | None = None) -> Tensor:
    """`softmax` of `-x`.

    x: a tensor of floats; integers are converted to float32. dim: an alias of axis. dtype: as for
    `softmax`. The result has its shape and dtype. DTypeError for complex numbers and for another
    dtype; AxisError if the axis is out of range.

    >>> flex.nn.softmin(flex.asarray([0.0, 1000.0])).tolist()
    [1.0, 0.0]
    """
def softplus(x: _Operand, beta: _Operand = 1, threshold: _Operand = 20) -> Tensor:
    """`log(1 + exp(beta * x)) / beta`, or x itself where `beta * x` is above `threshold`.

    x: a tensor, an array or a number; integers are computed in float32. beta, threshold: numbers,
    or tensors that broadcast with x. The result has their common dtype. DTypeError for complex
    numbers; ShapeError if shapes don't broadcast.

    >>> flex.nn.softplus(flex.asarray([30.0, -flex.inf])).tolist()
    [30.0, 0.0]
    """
def softshrink(x: _Operand, lambd: _Operand = 0.5) -> Tensor:
    """x moved towards 0 by `lambd`, or 0 where it would pass 0.

    x: a tensor, an array or a number; integers are computed in float32. lambd: a number, or a
    tensor that broadcasts with x. The result has their common dtype. ValueError if a lambd is
    negative or NaN; DTypeError for complex numbers; ShapeError if shapes don't broadcast.

    >>> flex.nn.softshrink(flex.asarray([1.0, -0.25, -2.0])).tolist()
    [0.5, 0.0, -1.5]
    """
def softsign(x: _Operand) -> Tensor:
    """`x / (1 + |x|)`.

    x: a tensor, an array or a number. The result has its shape.
    The result has the operands' common dtype; integers and bool are computed in float32.
    DTypeError for complex numbers.

    >>> flex.nn.softsign(flex.asarray([1.0, -3.0])).tolist()
    [0.5, -0.75]
    """
def tanhshrink(x: _Operand) -> Tensor:
    """`x - tanh(x)`.

    x: a tensor, an array or a number. The result has its shape.
    The result has the operands' common dtype; integers and bool are computed in float32.
    DTypeError for complex numbers.

    >>> flex.nn.tanhshrink(flex.asarray([0.0, 20.0])).tolist()
    [0.0, 19.0]
    """
def threshold(x: _Operand, threshold: _Operand, value: _Operand) -> Tensor:
    """x where it is above `threshold`, else `value`.

    x: a tensor, an array or a number. threshold, value: numbers, or tensors that broadcast with x.
    The result has their common dtype. DTypeError for bool and complex numbers; ShapeError if shapes
    don't broadcast.

    >>> flex.nn.threshold(flex.asarray([1.0, 0.5]), 0.5, -1.0).tolist()
    [1.0, -1.0]
    """
def triplet_margin_loss(anchor: _Operand, positive: _Operand, negative: _Operand, margin: float = 1.0, p: float = 2.0, eps: float = 1e-06, swap: builtins.bool = False, *, reduction: _Reduction = 'mean') -> Tensor:
    """`max(0, margin + d(anchor, positive) - d(anchor, negative))`, reduced, with d =
    `pairwise_distance` (Schroff et al., 2015).

    anchor, positive, negative: tensors of numbers whose rows, along the last axis, are compared;
    they broadcast (ShapeError). margin: 0 or more. p, eps: those of the distance; p above 0
    (ValueError). swap: whether the negative's distance is measured from the nearer of anchor and
    positive (Balntas et al., 2016). reduction and dtypes: as for `mse_loss`.

    >>> a, p, n = flex.asarray([[0.0]]), flex.asarray([[3.0]]), flex.asarray([[1.0]])
    >>> flex.nn.triplet_margin_loss(a, p, n, eps=0.0).item()
    3.0
    """
def unfold(x: _Operand, kernel_size: _Shape, dilation: _Shape = 1, padding: _Shape = 0, stride: _Shape = 1) -> Tensor:
    """The windows of images as columns (im2col).

    x: `[batch, channels, height, width]`, or without the batch; any dtype and strides. kernel_size,
    dilation, padding, stride: one number, or one for height and one for width. The result is
    `[batch, channels * elements of a window, windows]`. ShapeError if the dimensions don't fit or
    there is no window; ValueError for options that are too small.

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
    "hinge_embedding_loss",
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
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
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
    "soft_margin_loss",
    "softmax",
    "softmin",
    "softplus",
    "softshrink",
    "softsign",
    "tanh",
    "tanhshrink",
    "threshold",
    "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
    "unfold",
    "varlen_attention",
]
