# Written by scripts/make_stubs.py.
from typing import SupportsIndex

from flex._flex import Tensor, _Operand, _Shape

def embedding(grad: _Operand, indices: _Operand, num_embeddings: SupportsIndex) -> Tensor:
    """The gradient of the weight of `embedding`: each of its rows is the sum of the rows of grad whose
    index it was.

    grad: `[.., width]`. indices: of the shape of grad without its last dimension (ShapeError).
    num_embeddings: the rows of the weight; an index beyond them is an IndexError. The result is
    `[num_embeddings, width]`, of grad's dtype, a float (DTypeError).

    >>> grad = flex.asarray([[1.0], [2.0], [4.0]])
    >>> flex.nn.grad.embedding(grad, flex.asarray([1, 0, 1]), 3).tolist()
    [[2.0], [5.0], [0.0]]
    """
def layer_norm(grad: _Operand, x: _Operand, normalized_shape: _Shape, weight: _Operand | None = None, eps: float = 1e-05) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients of x, weight and bias of `layer_norm`, the last two as if there had been a weight
    and a bias; a weight that is not given is all ones.

    grad: of the shape of x. x: its last dimensions are normalized_shape (an integer or a tuple),
    which is the shape of weight (ShapeError). The results have the common dtype, a float
    (DTypeError).

    >>> x, grad = flex.asarray([[1.0, 3.0]]), flex.asarray([[1.0, 0.0]])
    >>> x, weight, bias = flex.nn.grad.layer_norm(grad, x, 2, eps=0.0)
    >>> weight.tolist(), bias.tolist()
    ([-1.0, 0.0], [1.0, 0.0])
    """
def linear(grad: _Operand, x: _Operand, weight: _Operand) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients of x, weight and bias of `linear` without activation and residual: `grad @ weight`,
    `grad.mT @ x`, and the sum of grad over all but the last dimension.

    grad: `[.., out]`. x: `[.., in]`. weight: `[out, in]` (ShapeError). The results have the common
    dtype, a float (DTypeError).

    >>> grad, x, weight = flex.asarray([[10.0]]), flex.asarray([[1.0, 2.0]]), flex.asarray([[3.0, 4.0]])
    >>> [d.tolist() for d in flex.nn.grad.linear(grad, x, weight)]
    [[[30.0, 40.0]], [[10.0, 20.0]], [10.0]]
    """
def log_softmax(grad: _Operand, y: _Operand, axis: SupportsIndex = -1) -> Tensor:
    """The gradient of the operand of `log_softmax`, whose result is `y`: `grad - exp(y) * sum(grad)`
    along the axis.

    grad: of the shape of y (ShapeError). The result has that shape, and the common dtype, a float
    (DTypeError). AxisError if the axis is out of range.

    >>> y = flex.nn.log_softmax(flex.asarray([0.0, 0.0]))
    >>> flex.nn.grad.log_softmax(flex.asarray([1.0, 0.0]), y).tolist()
    [0.5, -0.5]
    """
def rms_norm(grad: _Operand, x: _Operand, normalized_shape: _Shape, weight: _Operand | None = None, eps: float | None = None) -> tuple[Tensor, Tensor]:
    """The gradients of x and weight of `rms_norm`, the second as if there had been a weight; a weight
    that is not given is all ones.

    grad: of the shape of x. x: its last dimensions are normalized_shape (an integer or a tuple),
    which is the shape of weight (ShapeError). eps: by default the machine epsilon of x's dtype. The
    results have the common dtype, a float (DTypeError).

    >>> x, grad = flex.asarray([[2.0, -2.0]]), flex.asarray([[1.0, 2.0]])
    >>> x, weight = flex.nn.grad.rms_norm(grad, x, 2, eps=0.0)
    >>> x.tolist(), weight.tolist()
    ([[0.75, 0.75]], [1.0, -2.0])
    """
def softmax(grad: _Operand, y: _Operand, axis: SupportsIndex = -1) -> Tensor:
    """The gradient of the operand of `softmax`, whose result is `y`: `y * (grad - sum(grad * y))` along
    the axis.

    grad: of the shape of y (ShapeError). The result has that shape, and the common dtype, a float
    (DTypeError). AxisError if the axis is out of range.

    >>> y = flex.nn.softmax(flex.asarray([0.0, 0.0]))
    >>> flex.nn.grad.softmax(flex.asarray([1.0, 0.0]), y).tolist()
    [0.25, -0.25]
    """

__all__ = [
    "embedding",
    "layer_norm",
    "linear",
    "log_softmax",
    "rms_norm",
    "softmax",
]
