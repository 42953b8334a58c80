# Written by scripts/make_stubs.py.
import builtins
from collections.abc import Sequence
from typing import Literal, SupportsIndex

from flex._flex import Tensor, _Interpolation, _Operand, _Padding, _PadMode, _Reduction, _Shape

def adaptive_avg_pool1d(grad: _Operand, input_size: _Shape) -> Tensor:
    """The gradient of x of `adaptive_avg_pool1d`: each element of grad, divided by the size of its
    window, is added to all elements of the window.

    grad: of the shape of the pool's result, `[batch, channels, length]`, or without the batch.
    input_size: the shape of x, and of the result (ShapeError). The result has grad's dtype, a
    float (DTypeError); 16-bit floats are summed in float32.

    >>> flex.nn.grad.adaptive_avg_pool1d(flex.asarray([[2.0, 4.0]]), (1, 3)).tolist()
    [[1.0, 3.0, 2.0]]
    """
def adaptive_avg_pool2d(grad: _Operand, input_size: _Shape) -> Tensor:
    """The gradient of x of `adaptive_avg_pool2d`. As for `adaptive_avg_pool1d`.

    >>> flex.nn.grad.adaptive_avg_pool2d(flex.asarray([[[8.0]]]), (1, 2, 2)).tolist()
    [[[2.0, 2.0], [2.0, 2.0]]]
    """
def adaptive_avg_pool3d(grad: _Operand, input_size: _Shape) -> Tensor:
    """The gradient of x of `adaptive_avg_pool3d`. As for `adaptive_avg_pool1d`.

    >>> flex.nn.grad.adaptive_avg_pool3d(flex.asarray([[[[8.0]]]]), (1, 1, 1, 2)).tolist()
    [[[[4.0, 4.0]]]]
    """
def adaptive_max_pool1d(grad: _Operand, indices: _Operand, input_size: _Shape) -> Tensor:
    """The gradient of x of `adaptive_max_pool1d`. As for `max_pool1d`.

    >>> x = flex.asarray([[1.0, 5.0, 2.0]])
    >>> y, indices = flex.nn.adaptive_max_pool1d(x, 2, return_indices=True)
    >>> flex.nn.grad.adaptive_max_pool1d(flex.asarray([[1.0, 2.0]]), indices, x.shape).tolist()
    [[0.0, 3.0, 0.0]]
    """
def adaptive_max_pool2d(grad: _Operand, indices: _Operand, input_size: _Shape) -> Tensor:
    """The gradient of x of `adaptive_max_pool2d`. As for `max_pool2d`.

    >>> indices = flex.asarray([[[1]]])
    >>> flex.nn.grad.adaptive_max_pool2d(flex.asarray([[[3.0]]]), indices, (1, 1, 2)).tolist()
    [[[0.0, 3.0]]]
    """
def adaptive_max_pool3d(grad: _Operand, indices: _Operand, input_size: _Shape) -> Tensor:
    """The gradient of x of `adaptive_max_pool3d`. As for `max_pool3d`.

    >>> indices = flex.asarray([[[[1]]]])
    >>> flex.nn.grad.adaptive_max_pool3d(flex.asarray([[[[3.0]]]]), indices, (1, 1, 1, 2)).tolist()
    [[[[0.0, 3.0]]]]
    """
def avg_pool1d(grad: _Operand, input_size: _Shape, kernel_size: _Shape, stride: _Shape | None = None, padding: _Shape = 0, ceil_mode: builtins.bool = False, count_include_pad: builtins.bool = True, divisor_override: SupportsIndex | None = None) -> Tensor:
    """The gradient of x of `avg_pool1d`: each element of grad, divided like its window's sum, is
    added to all elements of the window.

    grad: of the shape of the pool's result. input_size: the shape of x, and of the result
    (ShapeError). Otherwise, and for the errors, as for `flex.nn.avg_pool1d`. The result has
    grad's dtype; 16-bit floats are summed in float32.

    >>> flex.nn.grad.avg_pool1d(flex.asarray([[2.0, 4.0]]), (1, 3), 2, stride=1).tolist()
    [[1.0, 3.0, 2.0]]
    """
def avg_pool2d(grad: _Operand, input_size: _Shape, kernel_size: _Shape, stride: _Shape | None = None, padding: _Shape = 0, ceil_mode: builtins.bool = False, count_include_pad: builtins.bool = True, divisor_override: SupportsIndex | None = None) -> Tensor:
    """The gradient of x of `avg_pool2d`. As for `avg_pool1d`.

    >>> flex.nn.grad.avg_pool2d(flex.asarray([[[8.0]]]), (1, 2, 2), 2).tolist()
    [[[2.0, 2.0], [2.0, 2.0]]]
    """
def avg_pool3d(grad: _Operand, input_size: _Shape, kernel_size: _Shape, stride: _Shape | None = None, padding: _Shape = 0, ceil_mode: builtins.bool = False, count_include_pad: builtins.bool = True, divisor_override: SupportsIndex | None = None) -> Tensor:
    """The gradient of x of `avg_pool3d`. As for `avg_pool1d`.

    >>> flex.nn.grad.avg_pool3d(flex.asarray([[[[8.0]]]]), (1, 1, 1, 2), (1, 1, 2)).tolist()
    [[[[4.0, 4.0]]]]
    """
def batch_norm(grad: _Operand, x: _Operand, running_mean: _Operand | None = None, running_var: _Operand | None = None, weight: _Operand | None = None, training: builtins.bool = False, eps: float = 1e-05) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients of x, weight and bias of `batch_norm`, the last two even if there was no weight or
    bias; without a weight, it counts as ones.

    grad: of the shape of x. x: `[batch, channels, ..]` of floats; any strides. running_mean,
    running_var: `[channels]`, the statistics, which are constants. training: whether the statistics
    are those of x instead, which are differentiated too. weight: `[channels]` (ShapeError). The
    results have the common dtype of grad and x, a float (DTypeError). ValueError if there are no
    statistics.

    >>> x, grad = flex.asarray([[1.0], [3.0]]), flex.asarray([[1.0], [0.0]])
    >>> x, weight, bias = flex.nn.grad.batch_norm(grad, x, training=True, eps=0.0)
    >>> weight.tolist(), bias.tolist()
    ([-1.0], [1.0])
    """
def conv1d(grad: _Operand, x: _Operand, weight: _Operand, *, stride: _Shape = 1, padding: _Padding = 0, dilation: _Shape = 1, groups: SupportsIndex = 1, precise: builtins.bool = False) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients of x, weight and bias of `conv1d` without activation and residual: the
    transposed convolution of grad, the sums over all positions of grad times the element of x
    that the weight's element saw, and the sum of grad over all axes but the channels.

    grad: of the shape of the convolution's result. x: `[batch, channels, length]`, or without
    the batch. weight: `[out, channels / groups, kernel]` (ShapeError). stride, padding,
    dilation, groups, precise: those of the convolution. The results have the common dtype, a
    float (DTypeError). A weight that is not finite may turn the gradients of elements within a
    kernel of the border into NaN, where it is multiplied by zeros beyond grad.

    >>> grad, x, w = flex.asarray([[1.0, 10.0]]), flex.asarray([[1.0, 2.0, 3.0]]), flex.asarray([[[4.0, 5.0]]])
    >>> [d.tolist() for d in flex.nn.grad.conv1d(grad, x, w)]
    [[[4.0, 45.0, 50.0]], [[[21.0, 32.0]]], [11.0]]
    """
def conv2d(grad: _Operand, x: _Operand, weight: _Operand, *, stride: _Shape = 1, padding: _Padding = 0, dilation: _Shape = 1, groups: SupportsIndex = 1, precise: builtins.bool = False) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients of x, weight and bias of `conv2d` without activation and residual: the
    transposed convolution of grad, the sums over all positions of grad times the element of x
    that the weight's element saw, and the sum of grad over all axes but the channels.

    grad: of the shape of the convolution's result. x: `[batch, channels, height, width]`, or
    without the batch. weight: `[out, channels / groups, height, width]` (ShapeError). Otherwise
    as for `grad.conv1d`.

    >>> grad, x, w = flex.ones((1, 2, 2)), flex.ones((1, 3, 3)), flex.ones((1, 1, 2, 2))
    >>> x, w, bias = flex.nn.grad.conv2d(grad, x, w)
    >>> x.tolist(), w.tolist(), bias.tolist()
    ([[[1.0, 2.0, 1.0], [2.0, 4.0, 2.0], [1.0, 2.0, 1.0]]], [[[[4.0, 4.0], [4.0, 4.0]]]], [4.0])
    """
def conv3d(grad: _Operand, x: _Operand, weight: _Operand, *, stride: _Shape = 1, padding: _Padding = 0, dilation: _Shape = 1, groups: SupportsIndex = 1, precise: builtins.bool = False) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients of x, weight and bias of `conv3d` without activation and residual: the
    transposed convolution of grad, the sums over all positions of grad times the element of x
    that the weight's element saw, and the sum of grad over all axes but the channels.

    grad: of the shape of the convolution's result. x: `[batch, channels, depth, height,
    width]`, or without the batch. weight: `[out, channels / groups, depth, height, width]`
    (ShapeError). Otherwise as for `grad.conv1d`.

    >>> grad, x, w = flex.ones((1, 1, 1, 1)), flex.ones((1, 1, 1, 2)), flex.ones((1, 1, 1, 1, 2))
    >>> [d.tolist() for d in flex.nn.grad.conv3d(grad, x, w)]
    [[[[[1.0, 1.0]]]], [[[[[1.0, 1.0]]]]], [1.0]]
    """
def conv_transpose1d(grad: _Operand, x: _Operand, weight: _Operand, *, stride: _Shape = 1, padding: _Shape = 0, output_padding: _Shape = 0, groups: SupportsIndex = 1, dilation: _Shape = 1) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients of x, weight and bias of `conv_transpose1d`: the convolution of grad, the sums
    over all elements of x of their product with the element of grad that they contributed to,
    and the sum of grad over all axes but the channels.

    grad: of the shape of the transposed convolution's result. x: `[batch, channels, length]`,
    or without the batch. weight: `[channels, out / groups, kernel]` (ShapeError). stride,
    padding, output_padding, groups, dilation: those of the transposed convolution. The results
    have the common dtype, a float (DTypeError). Places that padding crops count as zeros, which
    give NaN where the weight or x is not finite.

    >>> grad, x, w = flex.asarray([[1.0, 10.0, 100.0]]), flex.asarray([[1.0, 2.0]]), flex.asarray([[[3.0, 4.0]]])
    >>> [d.tolist() for d in flex.nn.grad.conv_transpose1d(grad, x, w)]
    [[[43.0, 430.0]], [[[21.0, 210.0]]], [111.0]]
    """
def conv_transpose2d(grad: _Operand, x: _Operand, weight: _Operand, *, stride: _Shape = 1, padding: _Shape = 0, output_padding: _Shape = 0, groups: SupportsIndex = 1, dilation: _Shape = 1) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients of x, weight and bias of `conv_transpose2d`: the convolution of grad, the sums
    over all elements of x of their product with the element of grad that they contributed to,
    and the sum of grad over all axes but the channels.

    grad: of the shape of the transposed convolution's result. x: `[batch, channels, height,
    width]`, or without the batch. weight: `[channels, out / groups, height, width]`
    (ShapeError). Otherwise as for `grad.conv_transpose1d`.

    >>> grad, x, w = flex.ones((1, 2, 2)), flex.full((1, 1, 1), 2.0), flex.asarray([[[[1.0, 2.0], [3.0, 4.0]]]])
    >>> [d.tolist() for d in flex.nn.grad.conv_transpose2d(grad, x, w)]
    [[[[10.0]]], [[[[2.0, 2.0], [2.0, 2.0]]]], [4.0]]
    """
def conv_transpose3d(grad: _Operand, x: _Operand, weight: _Operand, *, stride: _Shape = 1, padding: _Shape = 0, output_padding: _Shape = 0, groups: SupportsIndex = 1, dilation: _Shape = 1) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients of x, weight and bias of `conv_transpose3d`: the convolution of grad, the sums
    over all elements of x of their product with the element of grad that they contributed to,
    and the sum of grad over all axes but the channels.

    grad: of the shape of the transposed convolution's result. x: `[batch, channels, depth,
    height, width]`, or without the batch. weight: `[channels, out / groups, depth, height,
    width]` (ShapeError). Otherwise as for `grad.conv_transpose1d`.

    >>> grad, x, w = flex.ones((1, 1, 1, 2)), flex.ones((1, 1, 1, 1)), flex.ones((1, 1, 1, 1, 2))
    >>> [d.tolist() for d in flex.nn.grad.conv_transpose3d(grad, x, w)]
    [[[[[2.0]]]], [[[[[1.0, 1.0]]]]], [2.0]]
    """
def cross_entropy(grad: _Operand, x: _Operand, target: _Operand, weight: _Operand | None = None, *, ignore_index: SupportsIndex = -100, reduction: _Reduction = 'mean', label_smoothing: float = 0.0) -> Tensor:
    """The gradient of x of `cross_entropy`: for each term `softmax(x)` less its target, times the
    term's weight.

    grad: of the shape of the loss, a number unless reduction is "none" (ShapeError), a float
    (DTypeError). Otherwise, and for the errors, as for `flex.nn.cross_entropy`. The result has the
    shape and dtype of x.

    >>> x = flex.asarray([[0.0, 0.0], [0.0, 1000.0]])
    >>> flex.nn.grad.cross_entropy(flex.asarray(1.0), x, flex.asarray([0, 1])).tolist()
    [[-0.25, 0.25], [0.0, 0.0]]
    """
def deform_conv2d(grad: _Operand, x: _Operand, offset: _Operand, weight: _Operand, mask: _Operand | None = None, *, stride: _Shape = 1, padding: _Padding = 0, dilation: _Shape = 1) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """The gradients of x, offset, weight, bias and mask of `deform_conv2d`. The gradient of a tap is
    passed on to the four elements around its position, by their interpolation weights, and to its
    offset, times the slope of the interpolated value down and across.

    grad: of the shape of the convolution's result. x, offset, weight, mask, stride, padding,
    dilation: those of the convolution (ShapeError). Without a mask, its gradient is that of a mask
    of ones. The results have the common dtype, a float (DTypeError).

    >>> x, w, grad = flex.asarray([[[1.0, 5.0]]]), flex.full((1, 1, 1, 1), 10.0), flex.asarray([[[1.0, 0.0]]])
    >>> offset = flex.asarray([[[0.0, 0.0]], [[0.25, 0.0]]])
    >>> x, offset, w, bias, mask = flex.nn.grad.deform_conv2d(grad, x, offset, w)
    >>> x.tolist(), offset[1].tolist(), mask.tolist()
    ([[[7.5, 2.5]]], [[40.0, 0.0]], [[[20.0, 0.0]]])
    """
def embedding(grad: _Operand, indices: _Operand, num_embeddings: SupportsIndex) -> Tensor:
    """The gradient of the weight of `embedding`: each row is the sum of the rows of grad that have its
    index.

    grad: `[.., width]`. indices: of the shape of grad without its last dimension (ShapeError).
    num_embeddings: the rows of the weight; an index beyond them is an IndexError. The result is
    `[num_embeddings, width]`, of grad's dtype, a float (DTypeError).

    >>> grad = flex.asarray([[1.0], [2.0], [4.0]])
    >>> flex.nn.grad.embedding(grad, flex.asarray([1, 0, 1]), 3).tolist()
    [[2.0], [5.0], [0.0]]
    """
def gelu(grad: _Operand, x: _Operand, *, approximate: Literal["none", "tanh"] = 'none') -> Tensor:
    """The gradient of `gelu`: `grad * (P(x) + x * p(x))`, with the distribution function and density
    of the normal distribution, or that of the tanh approximation.

    grad: of the shape of x. approximate: "none" or "tanh" (ValueError). Errors and dtypes as for
    `relu`.

    >>> flex.nn.grad.gelu(flex.asarray([2.0]), flex.asarray([0.0]), approximate="tanh").tolist()
    [1.0]
    """
def grid_sample(grad: _Operand, x: _Operand, grid: _Operand, mode: Literal["bilinear", "nearest", "bicubic"] = 'bilinear', padding_mode: Literal["zeros", "border", "reflection"] = 'zeros', align_corners: builtins.bool | None = None) -> tuple[Tensor, Tensor]:
    """The gradients of x and grid of `grid_sample`. The gradient of a point is passed on to the
    elements around it, by their weights, and to its coordinates, by the derivatives of these
    weights, which are 0 in mode "nearest" and where the border is repeated.

    grad: of the shape of the result. x, grid, mode, padding_mode, align_corners and errors: as for
    `flex.nn.grid_sample`. The results have the common dtype, a float (DTypeError); 16-bit floats
    are computed in float32.

    >>> x, grid = flex.asarray([[[[1.0, 5.0]]]]), flex.asarray([[[[0.25, 0.0]]]])
    >>> dx, dgrid = flex.nn.grad.grid_sample(flex.ones((1, 1, 1, 1)), x, grid, padding_mode="border")
    >>> dx.tolist(), dgrid.tolist()
    ([[[[0.25, 0.75]]]], [[[[4.0, 0.0]]]])
    """
def group_norm(grad: _Operand, x: _Operand, num_groups: SupportsIndex, weight: _Operand | None = None, eps: float = 1e-05) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients of x, weight and bias of `group_norm`, the last two even if there was no weight or
    bias; without a weight, it counts as ones.

    grad: of the shape of x. x: `[batch, channels, ..]` of floats; any strides. num_groups: divides
    the channels. weight: `[channels]` (ShapeError). The results have the common dtype of grad and
    x, a float (DTypeError).

    >>> x, grad = flex.asarray([[1.0, 3.0]]), flex.asarray([[1.0, 0.0]])
    >>> x, weight, bias = flex.nn.grad.group_norm(grad, x, 1, eps=0.0)
    >>> weight.tolist(), bias.tolist()
    ([-1.0, 0.0], [1.0, 0.0])
    """
def instance_norm(grad: _Operand, x: _Operand, running_mean: _Operand | None = None, running_var: _Operand | None = None, weight: _Operand | None = None, use_input_stats: builtins.bool = True, eps: float = 1e-05) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients of x, weight and bias of `instance_norm`, the last two even if there was no weight
    or bias; without a weight, it counts as ones.

    use_input_stats: if False, mean and variance are running_mean and running_var, which are
    constants (ValueError if there are none). Otherwise as for `batch_norm`.

    >>> x, grad = flex.asarray([[[1.0, 3.0]]]), flex.asarray([[[1.0, 0.0]]])
    >>> x, weight, bias = flex.nn.grad.instance_norm(grad, x, eps=0.0)
    >>> weight.tolist(), bias.tolist()
    ([-1.0], [1.0])
    """
def interpolate(grad: _Operand, input_size: _Shape, size: _Shape | None = None, scale_factor: float | Sequence[float] | None = None, mode: _Interpolation = 'nearest', align_corners: builtins.bool | None = None, recompute_scale_factor: builtins.bool | None = None, antialias: builtins.bool = False) -> Tensor:
    """The gradient of x of `interpolate`: its weights, transposed.

    grad: of the shape of the result. input_size: the shape of x, and of this function's result
    (ShapeError). Otherwise, and for the errors, as for `flex.nn.interpolate`. The result has grad's
    dtype, a float (DTypeError); 16-bit floats are computed in float32.

    >>> grad = flex.asarray([[[1.0, 2.0, 3.0, 4.0]]])
    >>> flex.nn.grad.interpolate(grad, (1, 1, 2), 4).tolist()
    [[[3.0, 7.0]]]
    >>> flex.nn.grad.interpolate(grad, (1, 1, 2), scale_factor=2, mode="linear").tolist()
    [[[3.25, 6.75]]]
    """
def layer_norm(grad: _Operand, x: _Operand, normalized_shape: _Shape, weight: _Operand | None = None, eps: float = 1e-05) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients of x, weight and bias of `layer_norm`, the last two even if there was no weight or
    bias; without a weight, it counts as ones.

    grad: of the shape of x. x: its last dimensions are normalized_shape (an integer or a tuple),
    which is the shape of weight (ShapeError). The results have the common dtype, a float
    (DTypeError).

    >>> x, grad = flex.asarray([[1.0, 3.0]]), flex.asarray([[1.0, 0.0]])
    >>> x, weight, bias = flex.nn.grad.layer_norm(grad, x, 2, eps=0.0)
    >>> weight.tolist(), bias.tolist()
    ([-1.0, 0.0], [1.0, 0.0])
    """
def linear(grad: _Operand, x: _Operand, weight: _Operand) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients of x, weight and bias of `linear` without activation and residual: `grad @
    weight`, `grad.mT @ x`, and the sum of grad over all dimensions but the last.

    grad: `[.., out]`. x: `[.., in]`. weight: `[out, in]` (ShapeError). The results have the common
    dtype, a float (DTypeError).

    >>> grad, x, weight = flex.asarray([[10.0]]), flex.asarray([[1.0, 2.0]]), flex.asarray([[3.0, 4.0]])
    >>> [d.tolist() for d in flex.nn.grad.linear(grad, x, weight)]
    [[[30.0, 40.0]], [[10.0, 20.0]], [10.0]]
    """
def log_softmax(grad: _Operand, y: _Operand, axis: SupportsIndex = -1) -> Tensor:
    """The gradient of `log_softmax`, from its result `y`: `grad - exp(y) * sum(grad)` along the axis.

    grad: of the shape of y (ShapeError). The result has that shape, and the common dtype, a float
    (DTypeError). AxisError if the axis is out of range.

    >>> y = flex.nn.log_softmax(flex.asarray([0.0, 0.0]))
    >>> flex.nn.grad.log_softmax(flex.asarray([1.0, 0.0]), y).tolist()
    [0.5, -0.5]
    """
def lp_pool1d(grad: _Operand, x: _Operand, norm_type: float, kernel_size: _Shape, stride: _Shape | None = None, ceil_mode: builtins.bool = False) -> Tensor:
    """The gradient of x of `lp_pool1d`: `x ** (norm_type - 1)` times the sum, over the windows
    that contain it, of `grad * y ** (1 - norm_type)`, with the pool's result `y`; 0 for windows whose
    norm is 0, unless norm_type is 1.

    grad: of the shape of y (ShapeError). Otherwise, and for the errors, as for
    `flex.nn.lp_pool1d`. The result has the shape of x and the common dtype.

    >>> flex.nn.grad.lp_pool1d(flex.asarray([[5.0]]), flex.asarray([[3.0, 4.0]]), 2.0, 2).tolist()
    [[3.0, 4.0]]
    """
def lp_pool2d(grad: _Operand, x: _Operand, norm_type: float, kernel_size: _Shape, stride: _Shape | None = None, ceil_mode: builtins.bool = False) -> Tensor:
    """The gradient of x of `lp_pool2d`. As for `lp_pool1d`.

    >>> x = flex.asarray([[[3.0, 0.0], [0.0, 4.0]]])
    >>> flex.nn.grad.lp_pool2d(flex.asarray([[[5.0]]]), x, 2.0, 2).tolist()
    [[[3.0, 0.0], [0.0, 4.0]]]
    """
def lp_pool3d(grad: _Operand, x: _Operand, norm_type: float, kernel_size: _Shape, stride: _Shape | None = None, ceil_mode: builtins.bool = False) -> Tensor:
    """The gradient of x of `lp_pool3d`. As for `lp_pool1d`.

    >>> x = flex.ones((1, 1, 1, 2))
    >>> flex.nn.grad.lp_pool3d(flex.asarray([[[[3.0]]]]), x, 1.0, (1, 1, 2)).tolist()
    [[[[3.0, 3.0]]]]
    """
def max_pool1d(grad: _Operand, indices: _Operand, input_size: _Shape) -> Tensor:
    """The gradient of x of `max_pool1d`: each element of grad is added to the position of its
    maximum.

    grad: `[batch, channels, length]`, or without the batch. indices: integers of the same
    shape, as `max_pool1d` returns them with `return_indices`; ValueError if one is negative or
    out of range. input_size: the shape of x, and of the result (ShapeError). The options of the
    pool don't matter. The result has grad's dtype, a float (DTypeError); 16-bit floats are
    summed in float32.

    >>> x = flex.asarray([[1.0, 5.0, 2.0]])
    >>> y, indices = flex.nn.max_pool1d(x, 2, stride=1, return_indices=True)
    >>> flex.nn.grad.max_pool1d(flex.asarray([[1.0, 2.0]]), indices, x.shape).tolist()
    [[0.0, 3.0, 0.0]]
    """
def max_pool2d(grad: _Operand, indices: _Operand, input_size: _Shape) -> Tensor:
    """The gradient of x of `max_pool2d`: each element of grad is added to the position of its
    maximum.

    grad: `[batch, channels, height, width]`, or without the batch. Otherwise as for
    `max_pool1d`.

    >>> x = flex.asarray([[[1.0, 5.0], [2.0, 4.0]]])
    >>> y, indices = flex.nn.max_pool2d(x, 2, return_indices=True)
    >>> flex.nn.grad.max_pool2d(flex.asarray([[[3.0]]]), indices, x.shape).tolist()
    [[[0.0, 3.0], [0.0, 0.0]]]
    """
def max_pool3d(grad: _Operand, indices: _Operand, input_size: _Shape) -> Tensor:
    """The gradient of x of `max_pool3d`: each element of grad is added to the position of its
    maximum.

    grad: `[batch, channels, depth, height, width]`, or without the batch. Otherwise as for
    `max_pool1d`.

    >>> indices = flex.asarray([[[[1]]]])
    >>> flex.nn.grad.max_pool3d(flex.asarray([[[[3.0]]]]), indices, (1, 1, 1, 2)).tolist()
    [[[[0.0, 3.0]]]]
    """
def max_unpool1d(grad: _Operand, indices: _Operand) -> Tensor:
    """The gradient of x of `max_unpool1d`: the element of grad at each element's position.

    grad: `[batch, channels, length]`, or without the batch, like the function's result.
    indices: integers with the shape of x, and of the result (ShapeError); ValueError if one is
    negative or out of range of grad. Other options don't matter. If several elements were put
    at one position, each gets the gradient there, as in torch. The result has grad's dtype, a
    float (DTypeError).

    >>> grad = flex.asarray([[1.0, 2.0, 3.0, 4.0]])
    >>> flex.nn.grad.max_unpool1d(grad, flex.asarray([[1, 3]])).tolist()
    [[2.0, 4.0]]
    """
def max_unpool2d(grad: _Operand, indices: _Operand) -> Tensor:
    """The gradient of x of `max_unpool2d`: the element of grad at each element's position.

    grad: `[batch, channels, height, width]`, or without the batch. Otherwise as for
    `max_unpool1d`.

    >>> grad = flex.asarray([[[1.0, 2.0], [3.0, 4.0]]])
    >>> flex.nn.grad.max_unpool2d(grad, flex.asarray([[[2]]])).tolist()
    [[[3.0]]]
    """
def max_unpool3d(grad: _Operand, indices: _Operand) -> Tensor:
    """The gradient of x of `max_unpool3d`: the element of grad at each element's position.

    grad: `[batch, channels, depth, height, width]`, or without the batch. Otherwise as for
    `max_unpool1d`.

    >>> grad = flex.asarray([[[[1.0, 2.0]]]])
    >>> flex.nn.grad.max_unpool3d(grad, flex.asarray([[[[1]]]])).tolist()
    [[[[2.0]]]]
    """
def pad(grad: _Operand, input_size: _Shape, pad: _Shape, mode: _PadMode = 'constant') -> Tensor:
    """The gradient of x of `pad`: each element of grad is added to the element it was copied from;
    constants contribute nothing.

    grad: of the shape of the result. input_size: the shape of x, and of this function's result
    (ShapeError). pad, mode: as for `flex.nn.pad`. The result has grad's dtype, a float
    (DTypeError).

    >>> grad = flex.asarray([[1.0, 2.0, 4.0, 8.0]])
    >>> flex.nn.grad.pad(grad, (1, 2), (2, 0)).tolist()
    [[4.0, 8.0]]
    >>> flex.nn.grad.pad(grad, (1, 2), (2, 0), mode="replicate").tolist()
    [[7.0, 8.0]]
    """
def relu(grad: _Operand, x: _Operand) -> Tensor:
    """The gradient of `relu`: grad where x is above 0, and 0 elsewhere. The result of `relu` may be
    passed for x.

    grad: of the shape of x (ShapeError). The result has that shape, and the common dtype, a float
    (DTypeError).

    >>> flex.nn.grad.relu(flex.asarray([2.0, 3.0]), flex.asarray([-1.0, 1.0])).tolist()
    [0.0, 3.0]
    """
def rms_norm(grad: _Operand, x: _Operand, normalized_shape: _Shape, weight: _Operand | None = None, eps: float | None = None) -> tuple[Tensor, Tensor]:
    """The gradients of x and weight of `rms_norm`, the latter even if there was no weight; without
    one, it counts as ones.

    grad: of the shape of x. x: its last dimensions are normalized_shape (an integer or a tuple),
    which is the shape of weight (ShapeError). eps: by default the machine epsilon of x's dtype. The
    results have the common dtype, a float (DTypeError).

    >>> x, grad = flex.asarray([[2.0, -2.0]]), flex.asarray([[1.0, 2.0]])
    >>> x, weight = flex.nn.grad.rms_norm(grad, x, 2, eps=0.0)
    >>> x.tolist(), weight.tolist()
    ([[0.75, 0.75]], [1.0, -2.0])
    """
def scaled_dot_product_attention(grad: _Operand, query: _Operand, key: _Operand, value: _Operand, attn_mask: _Operand | None = None, *, is_causal: builtins.bool = False, scale: float | None = None, enable_gqa: builtins.bool = False, softcap: float | None = None, window: _Shape | None = None, align: Literal["upper_left", "lower_right"] | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients of query, key and value of `scaled_dot_product_attention`, in their shapes.
    Gradients of operands that were repeated, by broadcasting or enable_gqa, are summed.

    grad: of the shape of the result (ShapeError). Otherwise, and for the errors, as for
    `flex.nn.scaled_dot_product_attention`. Scores are recomputed by blocks of queries; the matrix
    of scores is never materialised. The results have the common dtype of query, key and value;
    16-bit floats are computed in float32. A query whose keys are all masked contributes nothing.

    >>> q, k = flex.asarray([[0.0]]), flex.asarray([[1.0], [2.0]])
    >>> v, grad = flex.asarray([[4.0], [8.0]]), flex.asarray([[1.0]])
    >>> [d.tolist() for d in flex.nn.grad.scaled_dot_product_attention(grad, q, k, v)]
    [[[1.0]], [[0.0], [0.0]], [[0.5], [0.5]]]
    """
def scaled_dot_product_attention_mask(grad: _Operand, query: _Operand, key: _Operand, value: _Operand, attn_mask: _Operand, *, is_causal: builtins.bool = False, scale: float | None = None, enable_gqa: builtins.bool = False, softcap: float | None = None, window: _Shape | None = None, align: Literal["upper_left", "lower_right"] | None = None) -> Tensor:
    """The gradient of attn_mask of `scaled_dot_product_attention`, if that is a float added to the
    scores: the gradient of the scores, summed where the mask was broadcast.

    attn_mask: of floats (ValueError). Otherwise as for `scaled_dot_product_attention`. The result
    has the shape and dtype of attn_mask. Materialises the matrix of scores.

    >>> q, k, bias = flex.asarray([[0.0]]), flex.asarray([[1.0], [2.0]]), flex.asarray([[0.0, 0.0]])
    >>> v, grad = flex.asarray([[4.0], [8.0]]), flex.asarray([[1.0]])
    >>> flex.nn.grad.scaled_dot_product_attention_mask(grad, q, k, v, bias).tolist()
    [[-1.0, 1.0]]
    """
def sigmoid(grad: _Operand, y: _Operand) -> Tensor:
    """The gradient of `sigmoid`, from its result `y`: `grad * y * (1 - y)`.

    grad: of the shape of y. Errors and dtypes as for `relu`.

    >>> flex.nn.grad.sigmoid(flex.asarray([2.0]), flex.nn.sigmoid(flex.asarray([0.0]))).tolist()
    [0.5]
    """
def silu(grad: _Operand, x: _Operand) -> Tensor:
    """The gradient of `silu`: `grad * s * (1 + x * (1 - s))` with `s = sigmoid(x)`.

    grad: of the shape of x. Errors and dtypes as for `relu`.

    >>> flex.nn.grad.silu(flex.asarray([2.0]), flex.asarray([0.0])).tolist()
    [1.0]
    """
def softmax(grad: _Operand, y: _Operand, axis: SupportsIndex = -1) -> Tensor:
    """The gradient of `softmax`, from its result `y`: `y * (grad - sum(grad * y))` along the axis.

    grad: of the shape of y (ShapeError). The result has that shape, and the common dtype, a float
    (DTypeError). AxisError if the axis is out of range.

    >>> y = flex.nn.softmax(flex.asarray([0.0, 0.0]))
    >>> flex.nn.grad.softmax(flex.asarray([1.0, 0.0]), y).tolist()
    [0.25, -0.25]
    """
def tanh(grad: _Operand, y: _Operand) -> Tensor:
    """The gradient of `flex.tanh`, from its result `y`: `grad * (1 - y * y)`.

    grad: of the shape of y. Errors and dtypes as for `relu`.

    >>> flex.nn.grad.tanh(flex.asarray([2.0]), flex.asarray([0.5])).tolist()
    [1.5]
    """

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool2d",
    "adaptive_max_pool3d",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "batch_norm",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "cross_entropy",
    "deform_conv2d",
    "embedding",
    "gelu",
    "grid_sample",
    "group_norm",
    "instance_norm",
    "interpolate",
    "layer_norm",
    "linear",
    "log_softmax",
    "lp_pool1d",
    "lp_pool2d",
    "lp_pool3d",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
    "max_unpool1d",
    "max_unpool2d",
    "max_unpool3d",
    "pad",
    "relu",
    "rms_norm",
    "scaled_dot_product_attention",
    "scaled_dot_product_attention_mask",
    "sigmoid",
    "silu",
    "softmax",
    "tanh",
]
