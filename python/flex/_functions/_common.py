"""What the functions here share: operands, axes and dtypes."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from flex import _flex as fx

if TYPE_CHECKING:
    from flex._flex import DType, Tensor


def tensor(x: Any) -> Tensor:
    """`x` as a tensor."""
    return x if type(x) is fx.Tensor else fx.asarray(x)


def exact(x: Any) -> Tensor:
    """`x` as a tensor, with Python's own floats as they are, in float64."""
    t = tensor(x)
    return (
        fx.asarray(x, dtype=fx.float64)
        if fx.isdtype(t.dtype, "real floating") and not hasattr(x, "dtype")
        else t
    )


def is_whole(dtype: DType) -> bool:
    """Whether the dtype is bool or of integers."""
    return fx.isdtype(dtype, ("bool", "integral"))


def inexact(x: Any, whole: DType = fx.float32) -> Tensor:
    """`x` as floats or complex numbers; integers and bool become `whole`."""
    x = tensor(x)
    return x.astype(whole) if is_whole(x.dtype) else x


def double(dtype: DType) -> DType:
    """float64, or complex128 for complex numbers: what sums and positions are computed in."""
    return fx.complex128 if fx.isdtype(dtype, "complex floating") else fx.float64


def several(op: str, name: str, x: Any) -> list[Any]:
    """The items of a tuple, a list, or an array along its first dimension: nothing that may go on for ever."""
    if isinstance(x, (tuple, list)):
        return list(x)
    if hasattr(x, "__array__"):
        return list(fx.unstack(tensor(x)))
    raise TypeError(f"{op}: {name} is a tuple or a list, not {type(x).__name__}")


def index(op: str, name: str, x: Any) -> int:
    """The argument as an integer."""
    try:
        return operator.index(x)
    except TypeError:
        raise TypeError(f"{op}: {name} is an integer, not {type(x).__name__}") from None


def axis_of(op: str, axis: Any, rank: int) -> int:
    """The axis counted from the first."""
    k = index(op, "axis", axis)
    if not -rank <= k < rank:
        valid = f" (valid: {-rank} to {rank - 1})" if rank else ""
        raise fx.AxisError(f"{op}: axis {k} is out of range for {rank} dimensions{valid}")
    return k % rank


def axes_of(op: str, axis: Any, rank: int) -> tuple[int, ...]:
    """The axes counted from the first; all for None."""
    if axis is None:
        return tuple(range(rank))
    axes = tuple(
        axis_of(op, k, rank) for k in (axis if isinstance(axis, (tuple, list)) else (axis,))
    )
    if len(set(axes)) < len(axes):
        raise fx.AxisError(f"{op}: axis {axis} has an axis twice")
    return axes


def shape_of(op: str, name: str, shape: Any) -> tuple[int, ...]:
    """A shape given as an integer or a sequence of them."""
    each = shape if isinstance(shape, (tuple, list)) else (shape,)
    sizes = tuple(index(op, name, n) for n in each)
    if any(n < 0 for n in sizes):
        raise ValueError(f"{op}: {name} is {shape}; sizes are not negative")
    return sizes


def along(x: Tensor, axis: int, part: slice) -> Tensor:
    """The part of `x` along one axis, as a view."""
    return x[(slice(None),) * axis + (part,)]


def vector(op: str, name: str, x: Any) -> Tensor:
    """`x` as a tensor that must have one dimension."""
    x = tensor(x)
    if x.ndim != 1:
        raise fx.ShapeError(f"{op}: {name} has one dimension, got shape {list(x.shape)}")
    return x
