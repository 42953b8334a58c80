"""What the losses share: operands, reductions and torch's keyword."""

from __future__ import annotations

from functools import wraps
from math import isfinite
from typing import TYPE_CHECKING, Any, TypeVar

from flex import _flex as fx
from flex._functions._common import inexact, tensor

if TYPE_CHECKING:
    from collections.abc import Callable

    from flex._flex import DType, Tensor

    _F = TypeVar("_F", bound=Callable[..., Any])

REDUCTIONS = {"none": lambda x: x, "mean": fx.mean, "sum": fx.sum}


def takes_input(f: _F) -> _F:
    """Has the first parameter accept torch's keyword too, as the other functions of `flex.nn` do."""

    @wraps(f)
    def call(*args: Any, **kwargs: Any) -> Any:
        if "input" in kwargs and "x" not in kwargs and not args:
            kwargs["x"] = kwargs.pop("input")
        return f(*args, **kwargs)

    return call  # type: ignore[return-value]


def operands(op: str, *, weight: Any = None, **xs: Any) -> dict[str, Tensor]:
    """The operands as tensors, weights if there are any. DTypeError for complex numbers."""
    given = xs if weight is None else {**xs, "weight": weight}
    tensors = {name: tensor(x) for name, x in given.items()}
    if any(fx.isdtype(x.dtype, "complex floating") for x in tensors.values()):
        raise fx.DTypeError(f"{op}: not defined for complex numbers ({shown(tensors)})")
    return tensors


def common(*xs: Tensor) -> DType:
    """The dtype of a result: the operands' common one, float32 for integers."""
    return inexact(fx.empty((), dtype=fx.result_type(*xs))).dtype


def wide(x: Tensor, dtype: DType) -> Tensor:
    """`x` in the dtype that a result of `dtype` is computed in: 16-bit floats are rounded once, at the end."""
    return x.astype(fx.float32 if dtype.itemsize < 4 else dtype)


def shown(tensors: dict[str, Tensor]) -> str:
    """The operands as errors show them."""
    return ", ".join(f"{name}: {list(x.shape)} {x.dtype}" for name, x in tensors.items())


def broadcast(op: str, tensors: dict[str, Tensor]) -> tuple[int, ...]:
    """The shape that the operands broadcast to. ShapeError."""
    try:
        return fx.broadcast_shapes(*(x.shape for x in tensors.values()))
    except fx.ShapeError:
        text = f"{op}: the operands do not broadcast to one shape ({shown(tensors)})"
        raise fx.ShapeError(text) from None


def check_reduction(op: str, reduction: str) -> None:
    """ValueError for a reduction that there is not. Comes before any arithmetic."""
    if reduction not in REDUCTIONS:
        raise ValueError(f'{op}: reduction is "{reduction}"; it is "none", "mean" or "sum"')


def check_margin(op: str, margin: float, *, negative: bool = True) -> None:
    """ValueError for a margin that is no number, or below 0 where it may not be."""
    if not isfinite(margin) or (margin < 0 and not negative):
        must = "finite" if negative else "finite and not negative"
        raise ValueError(f"{op}: margin is {margin}; it must be {must}")


def reduced(losses: Tensor, reduction: str, dtype: DType) -> Tensor:
    """The losses by their reduction, rounded to the result's dtype."""
    result: Tensor = REDUCTIONS[reduction](losses)
    return result.astype(dtype)
