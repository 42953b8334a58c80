"""Methods of `Tensor` that are compositions: functions of `flex` and `flex.linalg` under their names, as NumPy or torch have them."""

from __future__ import annotations

from functools import partial
from types import MethodType
from typing import TYPE_CHECKING, Any

from flex import _flex, _functions

if TYPE_CHECKING:
    from collections.abc import Callable

    from flex._flex import Tensor, _Nested, _Operand

_FUNCTIONS = """aminmax angle argpartition choose corrcoef cov deg2rad diagonal flatten float_power fmax fmin frexp gcd heaviside
    index_fill isneginf isposinf kthvalue lcm ldexp lerp logit masked_scatter mode put rad2deg renorm scatter_reduce sinc trace unique
    xlogy"""
_LINALG = ("det", "matrix_power", "norm", "slogdet")


def compress(self: Tensor, condition: _Nested, axis: int | None = None) -> Tensor:
    """`flex.compress(condition, self, axis)`.

    >>> flex.asarray([1, 2, 3]).compress([True, False, True]).tolist()
    [1, 3]
    """
    result: Tensor = _functions.FUNCTIONS["compress"](condition, self, axis)
    return result


def where(self: Tensor, condition: _Operand, other: _Operand, /) -> Tensor:
    """`flex.where(condition, self, other)`, as torch has it.

    >>> x = flex.asarray([1, -2])
    >>> x.where(x > 0, 0).tolist()
    [1, 0]
    """
    return _flex.where(condition, self, other)


OWN = (compress, where)


class _Method:
    """A method that is a function, whose module is imported when the method is first looked up."""

    def __init__(self, find: Callable[[], Callable[..., Any]]) -> None:
        self.find = find
        self.function: Callable[..., Any] | None = None

    def __get__(self, instance: Any, owner: type) -> Callable[..., Any]:
        self.function = function = self.function or self.find()
        return function if instance is None else MethodType(function, instance)


def _of(name: str) -> Callable[..., Any]:
    from flex import linalg

    return getattr(linalg, name) if name in _LINALG else _functions.FUNCTIONS[name]


METHODS = {name: _Method(partial(_of, name)) for name in (*_FUNCTIONS.split(), *_LINALG)}


def register() -> None:
    """Called once, when flex is imported."""
    for name, method in METHODS.items():
        setattr(_flex.Tensor, name, method)
    for function in OWN:
        setattr(_flex.Tensor, function.__name__, function)
