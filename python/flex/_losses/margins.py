"""Losses of pairs and triplets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flex import _flex as fx
from flex._losses._common import (
    broadcast,
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
    from collections.abc import Callable

    from flex._flex import Tensor, _Nested, _Reduction

__all__ = ["hinge_embedding_loss", "soft_margin_loss", "triplet_margin_with_distance_loss"]


@takes_input
def hinge_embedding_loss(
    x: _Nested, target: _Nested, margin: float = 1.0, *, reduction: _Reduction = "mean"
) -> Tensor:
    """`x` where the target is 1, and `max(0, margin - x)` where it is -1, reduced: x is a distance, which is to be small for pairs of
    target 1 and margin or more for those of -1.

    x, target: numbers, which broadcast (ShapeError). margin: finite (ValueError). reduction: "mean", "sum" or "none" (ValueError). The
    result has the dtype of x; integers are computed in float32. DTypeError for complex numbers.

    >>> x, target = flex.asarray([0.5, 0.25]), flex.asarray([1, -1])
    >>> flex.nn.hinge_embedding_loss(x, target, reduction="none").tolist()
    [0.5, 0.75]
    """
    op = "hinge_embedding_loss"
    check_reduction(op, reduction)
    check_margin(op, margin)
    given = operands(op, x=x, target=target)
    broadcast(op, given)
    dtype, signs = common(given["x"]), given["target"]
    distances = wide(given["x"], dtype)
    near = fx.where(signs != -1, distances, 0.0)
    far = fx.where(signs != 1, fx.maximum(margin - distances, 0.0), 0.0)
    return reduced(near + far, reduction, dtype)


@takes_input
def soft_margin_loss(x: _Nested, target: _Nested, *, reduction: _Reduction = "mean") -> Tensor:
    """`log(1 + exp(-target * x))`, reduced, for targets 1 and -1; finite wherever x is.

    x, target: numbers, which broadcast (ShapeError). reduction: "mean", "sum" or "none" (ValueError). The result has their common
    dtype; integers are computed in float32. DTypeError for complex numbers.

    >>> flex.nn.soft_margin_loss(flex.asarray([0.0, 1000.0]), flex.asarray([1, -1]), reduction="none").tolist()
    [0.6931471824645996, 1000.0]
    """
    op = "soft_margin_loss"
    check_reduction(op, reduction)
    given = operands(op, x=x, target=target)
    broadcast(op, given)
    dtype = common(*given.values())
    products = wide(given["x"], dtype) * wide(given["target"], dtype)
    return reduced(fx.logaddexp(-products, 0.0), reduction, dtype)


def triplet_margin_with_distance_loss(
    anchor: _Nested,
    positive: _Nested,
    negative: _Nested,
    *,
    distance_function: Callable[[Tensor, Tensor], Any] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: _Reduction = "mean",
) -> Tensor:
    """`max(0, margin + d(anchor, positive) - d(anchor, negative))`, reduced, with a distance d of one's own.

    anchor, positive, negative: tensors of numbers, which broadcast (ShapeError). distance_function: of two tensors, a tensor of
    distances, one shape for all pairs; `pairwise_distance` by default. margin: finite and not negative (ValueError). swap: whether the
    negative's distance is measured from the nearer of anchor and positive. reduction: "mean", "sum" or "none" (ValueError). The result
    has the distances' dtype; integers are computed in float32. DTypeError for complex numbers.

    >>> a, p, n = flex.asarray([[0.0]]), flex.asarray([[3.0]]), flex.asarray([[1.0]])
    >>> def d(x, y):
    ...     return flex.sum(flex.abs(x - y), axis=-1)
    >>> flex.nn.triplet_margin_with_distance_loss(a, p, n, distance_function=d).item()
    3.0
    """
    op = "triplet_margin_with_distance_loss"
    check_reduction(op, reduction)
    check_margin(op, margin, negative=False)
    given = operands(op, anchor=anchor, positive=positive, negative=negative)
    broadcast(op, given)
    if distance_function is None:
        dtype = common(*given.values())
        a, p, n = (wide(x, dtype) for x in given.values())
        measure: Callable[[Tensor, Tensor], Any] = fx._nn.pairwise_distance
    else:
        (a, p, n), measure = given.values(), distance_function
    distances = {"positive": measure(a, p), "negative": measure(a, n)}
    if swap:
        distances["between them"] = measure(p, n)
    found = operands(op, **distances)
    if len({x.shape for x in found.values()}) > 1:
        raise fx.ShapeError(f"{op}: the distances must have one shape ({shown(found)})")
    if distance_function is not None:
        dtype = common(*found.values())
    near, far, *between = (wide(x, dtype) for x in found.values())
    for other in between:
        far = fx.minimum(far, other)
    return reduced(fx.maximum(margin + near - far, 0.0), reduction, dtype)
