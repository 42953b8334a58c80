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


def kind(dtype: DType) -> int:
    """0 for bool, 1 for integers, 2 for floats, 3 for complex numbers."""
    kinds = ("bool", "integral", "real floating", "complex floating")
    return next(k for k, name in enumerate(kinds) if fx.isdtype(dtype, name))


def _is_plain(x: Any) -> bool:
    """Whether `x`, which `asarray` took, is a number, or lists of numbers, whose dtype gives way to a tensor's. NumPy's scalars are
    numbers by themselves, but have their dtype in lists, as in `asarray`.
    """
    if type(x) in (list, tuple):
        return all(type(y) in (float, int, bool, complex) or _is_listed(y) for y in x)
    if isinstance(x, (bool, int, float, complex, range)):  # NumPy's float64 and complex128 too
        return True
    return type(x).__module__ == "numpy" and not hasattr(x, "__len__")


def _is_listed(x: Any) -> bool:
    return type(x) in (list, tuple, range) and _is_plain(x)


def exact(x: Any) -> Tensor:
    """`x` as a tensor, with Python's own floats as they are, in float64 or complex128."""
    t = tensor(x)
    if hasattr(x, "dtype") or is_whole(t.dtype) or not _is_plain(x):
        return t
    return fx.asarray(x, dtype=double(t.dtype))


def beside(op: str, x: Any, dtype: DType) -> Tensor:
    """`x` as an operand beside elements of a dtype: numbers, and lists of them, have the dtype that a number has there, and its digits."""
    t = tensor(x)
    if not _is_plain(x):
        return t
    x = x.item() if hasattr(x, "item") else x
    plain = tensor(x).dtype
    try:
        return fx.asarray(
            x, dtype=dtype if kind(plain) <= kind(dtype) else fx.result_type(plain, dtype)
        )
    except (ValueError, OverflowError) as error:
        raise type(error)(str(error).replace("asarray", op, 1)) from None


def together(op: str, *xs: Any) -> list[Tensor]:
    """The operands as tensors, numbers and lists as they are beside the tensors among them."""
    tensors = list(map(tensor, xs))
    dtypes = [t.dtype for x, t in zip(xs, tensors, strict=True) if not _is_plain(x)]
    if not dtypes or len(dtypes) == len(xs):
        return tensors
    dtype = fx.result_type(*dtypes)
    return [beside(op, x, dtype) for x in xs]


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
    """A shape in any form that flex's own functions take."""
    try:
        return fx.broadcast_shapes(shape)
    except (TypeError, ValueError, OverflowError) as error:
        text = str(error).removeprefix("broadcast_shapes: ")
        text = text.replace("shapes", name, 1).replace("a shape", name, 1)
        raise type(error)(f"{op}: {text}") from None


def along(x: Tensor, axis: int, part: slice) -> Tensor:
    """The part of `x` along one axis, as a view."""
    return x[(slice(None),) * axis + (part,)]


def vector(op: str, name: str, x: Any) -> Tensor:
    """`x` as a tensor that must have one dimension."""
    x = tensor(x)
    if x.ndim != 1:
        raise fx.ShapeError(f"{op}: {name} has one dimension, got shape {list(x.shape)}")
    return x
