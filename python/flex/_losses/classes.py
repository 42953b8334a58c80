"""Margin losses of classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flex import _flex as fx
from flex._functions._common import along
from flex._losses._common import (
    check_margin,
    check_reduction,
    common,
    operands,
    reduced,
    shown,
    takes_input,
    wide,
)

if TYPE_CHECKING:
    from flex._flex import Tensor, _Nested, _Reduction

__all__ = ["multi_margin_loss", "multilabel_margin_loss", "multilabel_soft_margin_loss"]


@takes_input
def multi_margin_loss(
    x: _Nested,
    target: _Nested,
    p: int = 1,
    margin: float = 1.0,
    weight: _Nested | None = None,
    *,
    reduction: _Reduction = "mean",
) -> Tensor:
    """`weight[y] * max(0, margin - x[y] + x[k])**p` for a class y and each other class k, their sum divided by the number of classes,
    reduced over the batch.

    x: scores, `[batch, classes]` or `[classes]`. target: the classes, integers of shape `[batch]` or `[]` (ShapeError, DTypeError;
    ValueError for one that is no class). p: 1 or 2; margin: finite (ValueError). weight: a number for each class. reduction: "mean",
    "sum" or "none" (ValueError). The result has the dtype of x; integers are computed in float32. DTypeError for complex numbers.

    >>> x = flex.asarray([[0.1, 0.2, 0.4, 0.8]], dtype=flex.float64)
    >>> round(flex.nn.multi_margin_loss(x, flex.asarray([3])).item(), 6)
    0.325
    """
    op = "multi_margin_loss"
    check_reduction(op, reduction)
    check_margin(op, margin)
    if p not in (1, 2):
        raise ValueError(f"{op}: p is {p}; it is 1 or 2")
    given = operands(op, x=x, target=target, weight=weight)
    scores, classes = given["x"], _classes(op, given)
    count = scores.shape[-1]
    _check_shape(op, given, "target", scores.shape[:-1])
    if weight is not None:
        _check_shape(op, given, "weight", (count,))
    _check_range(op, classes, 0, count)
    dtype = common(scores)
    scores, at = wide(scores, dtype), fx.expand_dims(classes, axis=-1)
    over = fx.maximum(margin - fx.take_along_axis(scores, at, axis=-1) + scores, 0.0)
    if p == 2:
        over = over * over
    if weight is not None:
        over = over * fx.expand_dims(fx.take(wide(given["weight"], dtype), classes), axis=-1)
    over = fx.where(fx.arange(count) == at, 0.0, over)
    return reduced(fx.mean(over, axis=-1), reduction, dtype)


@takes_input
def multilabel_margin_loss(
    x: _Nested, target: _Nested, *, reduction: _Reduction = "mean"
) -> Tensor:
    """`max(0, 1 - (x[y] - x[k]))` for each class y of the target and each class k that is not among them, their sum divided by the
    number of classes, reduced over the batch.

    x: scores, `[batch, classes]` or `[classes]`. target: integers of that shape, in each row some classes, then -1; what follows the
    first -1 counts for nothing (ShapeError, DTypeError; ValueError for one that is no class). reduction: "mean", "sum" or "none"
    (ValueError). The result has the dtype of x; integers are computed in float32. DTypeError for complex numbers.

    >>> x = flex.asarray([[0.1, 0.2, 0.4, 0.8]], dtype=flex.float64)
    >>> round(flex.nn.multilabel_margin_loss(x, flex.asarray([[3, 0, -1, 1]])).item(), 6)
    0.85
    """
    op = "multilabel_margin_loss"
    check_reduction(op, reduction)
    given = operands(op, x=x, target=target)
    scores, classes = given["x"], _classes(op, given)
    count = scores.shape[-1]
    _check_shape(op, given, "target", scores.shape)
    _check_range(op, classes, -1, count)
    dtype = common(scores)
    scores = wide(scores, dtype)
    listed = fx.cumulative_sum((classes == -1).astype(fx.int64), axis=-1) == 0
    most = int(fx.max(fx.sum(listed.astype(fx.int64), axis=-1)).item()) if classes.size else 0
    columns = []
    others = fx.ones(scores.shape, dtype=fx.bool)
    for place in range(most):  # a step for each class of the longest list takes no memory for pairs
        column = along(classes, classes.ndim - 1, slice(place, place + 1))
        column = fx.where(along(listed, listed.ndim - 1, slice(place, place + 1)), column, -1)
        others = others & (fx.arange(count) != column)
        columns.append(column)
    losses = fx.zeros(scores.shape[:-1], dtype=scores.dtype)
    for column in columns:
        own = fx.take_along_axis(scores, fx.maximum(column, 0), axis=-1)
        over = fx.where(others & (column >= 0), fx.maximum(1.0 - own + scores, 0.0), 0.0)
        losses = losses + fx.sum(over, axis=-1)
    return reduced(losses / count, reduction, dtype)


@takes_input
def multilabel_soft_margin_loss(
    x: _Nested, target: _Nested, weight: _Nested | None = None, *, reduction: _Reduction = "mean"
) -> Tensor:
    """The mean over the last axis, that of classes, of `-(target * logsigmoid(x) + (1 - target) * logsigmoid(-x))`, times their
    weights, reduced.

    x: scores, `[.., classes]`. target: numbers of that shape, 1 for the classes that are there and 0 for others. weight: a number for
    each class, or what else broadcasts to the shape of x (ShapeError). reduction: "mean", "sum" or "none" (ValueError). The result has
    the common dtype of x and floating-point targets; integers are computed in float32. DTypeError for complex numbers.

    >>> x, target = flex.asarray([[2.0, -1.0], [0.0, 1.0]]), flex.asarray([[1, 0], [0, 1]])
    >>> round(flex.nn.multilabel_soft_margin_loss(x, target).item(), 4)
    0.3616
    """
    op = "multilabel_soft_margin_loss"
    check_reduction(op, reduction)
    given = operands(op, x=x, target=target, weight=weight)
    shape = given["x"].shape
    if not shape:
        raise fx.ShapeError(f"{op}: x must have an axis of classes ({shown(given)})")
    _check_shape(op, given, "target", shape)
    dtype = common(given["x"], given["target"])
    scores, targets = wide(given["x"], dtype), wide(given["target"], dtype)
    losses = targets * fx.logaddexp(-scores, 0.0) + (1 - targets) * fx.logaddexp(scores, 0.0)
    if weight is not None:
        factors = given["weight"]
        try:
            factors = fx.broadcast_to(factors, shape)
        except fx.ShapeError:
            text = f"{op}: weight does not broadcast to the shape of x ({shown(given)})"
            raise fx.ShapeError(text) from None
        losses = losses * wide(factors, dtype)
    return reduced(fx.mean(losses, axis=-1), reduction, dtype)


def _classes(op: str, given: dict[str, Tensor]) -> Tensor:
    """The targets as int64; the scores have one or two dimensions, the last with a class at least."""
    scores, classes = given["x"], given["target"]
    if scores.ndim not in (1, 2) or scores.shape[-1] == 0:
        raise fx.ShapeError(
            f"{op}: x must have the shape [batch, classes] or [classes] ({shown(given)})"
        )
    if not fx.isdtype(classes.dtype, "integral"):
        raise fx.DTypeError(f"{op}: target must be integers ({shown(given)})")
    return classes.astype(fx.int64)


def _check_shape(op: str, given: dict[str, Tensor], name: str, shape: tuple[int, ...]) -> None:
    if given[name].shape != shape:
        text = f"{op}: {name} must have the shape {list(shape)} ({shown(given)})"
        raise fx.ShapeError(text)


def _check_range(op: str, classes: Tensor, least: int, count: int) -> None:
    """ValueError for a class that is not from `least` to `count - 1`."""
    if not classes.size:
        return
    for end in (fx.min(classes).item(), fx.max(classes).item()):
        if not least <= end < count:
            raise ValueError(f"{op}: class {end} out of range for {count} classes (target)")
