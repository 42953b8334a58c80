"""Random numbers, with the methods of NumPy's `Generator`: the same for a seed on every machine and number of threads.

The functions `rand`, `randn`, `randint` and `randperm` draw from a generator of the module, which `seed` starts anew.
"""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, SupportsIndex

from flex import _flex, _missing
from flex._lazy import Functions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flex._flex import Tensor, _DType, _Operand, _Shape

_own = {
    name: getattr(_flex._random, name) for name in dir(_flex._random) if not name.startswith("_")
}
globals().update(_own)  # random.pyi lists the names
_restore = _flex._random._restore  # pickles refer to it
_module_rng: Any = None
_composed = Functions(
    "flex",
    {
        "_distributions": "f logseries multivariate_normal pareto power rayleigh standard_cauchy standard_t triangular wald weibull",
    },
)


def _whole(method: Any) -> Any:
    """`method`, so that a draw that fails or is interrupted leaves the state as it was, as in the methods that are not composed."""

    @wraps(method)
    def draw(self: Any, *args: Any, **kwargs: Any) -> Any:
        state = self.state
        try:
            return method(self, *args, **kwargs)
        except BaseException:
            self.state = state
            raise

    return draw


class _Composed:
    """A method of `Generator` whose module is imported when it is first looked up."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type) -> Any:
        method = _whole(_composed[self.name])
        setattr(owner, self.name, method)
        return method.__get__(instance, owner)


for _name in _composed:
    setattr(_flex._random.Generator, _name, _Composed(_name))


def _rng() -> Any:
    """The module's generator; without a seed its numbers are others in each process."""
    global _module_rng
    if _module_rng is None:
        _module_rng = _flex._random.default_rng()
    return _module_rng


def seed(seed: SupportsIndex | None = None) -> None:
    """Starts the module's generator anew, which `rand`, `randn`, `randint` and `randperm` draw from.

    seed: as for `default_rng`, with its errors.

    >>> flex.random.seed(7)
    >>> x = flex.random.randn(3)
    >>> flex.random.seed(7)
    >>> (flex.random.randn(3) == x).all().item()
    True
    """
    global _module_rng
    _module_rng = _flex._random.default_rng(seed)


def _size(size: tuple[Any, ...]) -> Any:
    """The shape given as `f(2, 3)` or `f((2, 3))`."""
    return size[0] if len(size) == 1 else size


def rand(*size: SupportsIndex | Sequence[SupportsIndex], dtype: _DType | None = None) -> Tensor:
    """Floats evenly distributed from 0 to 1, which is left out: those of `Generator.random`, with its dtypes and errors.

    >>> flex.random.rand(2, 3).shape
    (2, 3)
    """
    result: Tensor = _rng().random(_size(size), dtype)
    return result


def randn(*size: SupportsIndex | Sequence[SupportsIndex], dtype: _DType | None = None) -> Tensor:
    """Normally distributed floats of mean 0 and variance 1: those of `Generator.standard_normal`, with its dtypes and errors.

    >>> flex.random.randn(2, 3).shape
    (2, 3)
    """
    result: Tensor = _rng().standard_normal(_size(size), dtype)
    return result


def randint(
    low: _Operand,
    high: _Operand | None = None,
    size: _Shape | None = None,
    *,
    dtype: _DType | None = None,
) -> Tensor:
    """Integers from low to high, which is left out: those of `Generator.integers`, with its dtypes and errors.

    >>> flex.random.randint(1, 7, (2, 3)).shape
    (2, 3)
    """
    result: Tensor = _rng().integers(low, high, size, dtype)
    return result


def randperm(n: SupportsIndex, *, dtype: _DType | None = None) -> Tensor:
    """The integers from 0 to n, which is left out, in random order. dtype: int64 by default. Errors are those of `Generator.permutation`.

    >>> flex.random.randperm(4).sort().tolist()
    [0, 1, 2, 3]
    """
    order: Tensor = _rng().permutation(n)
    return order if dtype is None else order.astype(dtype)


__getattr__ = _missing.of_module(__name__)
__all__ = sorted([*_own, "rand", "randint", "randn", "randperm", "seed"])
