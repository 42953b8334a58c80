"""Calls of functions that `flex.fuse` traces."""

import linecache
import operator
from collections.abc import Callable, Sequence
from typing import Any


def call(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> Any:
    """The result of `f`; a TypeError that names the line where it asks for elements that aren't there."""
    try:
        return f(*args, **kwargs or {})
    except BaseException as e:
        if type(e).__name__ != "PanicException" or "flex.fuse" not in str(e):
            raise
        message = (
            f"{e} ({_place(e)}). Keep it out of the function; to choose by value use flex.where"
        )
    raise TypeError(message)


def _place(e: BaseException) -> str:
    """File, number and text of the line that raised."""
    at = e.__traceback__
    assert at is not None
    while at.tb_next is not None:
        at = at.tb_next
    file = at.tb_frame.f_code.co_filename
    return f"{file}:{at.tb_lineno}: {linecache.getline(file, at.tb_lineno).strip()}"


class Number:
    """A float argument of a function that is being traced, or what arithmetic made of some.

    Operations on tensors take it as a number that may be another one at the next call, and arithmetic with
    numbers is done again then. Whatever else looks at the value has it, and the trace holds for it alone.
    """

    __slots__ = ("_leaves", "_seen", "compute", "value")

    def __init__(
        self,
        value: float,
        compute: Callable[[Sequence[float]], Any],
        leaves: frozenset[int],
        seen: set[int],
    ) -> None:
        self.value, self._leaves, self._seen = value, leaves, seen
        self.compute = compute  # the value for the float arguments of a call

    def look(self) -> float:
        """The value, on which the trace depends from now on."""
        self._seen |= self._leaves
        return self.value

    @property
    def __class__(self) -> Any:  # type: ignore[misc]
        return float

    def __getattr__(self, name: str) -> Any:
        return getattr(self.look(), name)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return getattr(ufunc, method)(*map(_looked_at, inputs), **kwargs)


class Numbers:
    """The float arguments of a call that is being traced."""

    def __init__(self) -> None:
        self.count, self.seen = 0, set[int]()

    def add(self, value: float) -> Number:
        """The next argument."""
        k = self.count
        self.count += 1
        return Number(value, operator.itemgetter(k), frozenset((k,)), self.seen)


def _looked_at(x: Any) -> Any:
    return x.look() if type(x) is Number else x


def _binary(f: Callable[[Any, Any], Any], *, swapped: bool) -> Any:
    def method(x: Number, other: Any) -> Any:
        if type(other) is not Number and not isinstance(other, (int, float, complex)):
            return NotImplemented
        a, b = (other, x) if swapped else (x, other)
        value = f(a.value if type(a) is Number else a, b.value if type(b) is Number else b)
        if type(value) is not float:
            return f(_looked_at(a), _looked_at(b))
        if type(a) is Number and type(b) is Number:
            left, right = a.compute, b.compute
            both = a._leaves | b._leaves
            return Number(value, lambda xs: f(left(xs), right(xs)), both, x._seen)
        compute = x.compute
        if swapped:
            return Number(value, lambda xs: f(other, compute(xs)), x._leaves, x._seen)
        return Number(value, lambda xs: f(compute(xs), other), x._leaves, x._seen)

    return method


def _unary(f: Callable[[Any], Any]) -> Any:
    def method(x: Number) -> Number:
        compute = x.compute
        return Number(f(x.value), lambda xs: f(compute(xs)), x._leaves, x._seen)

    return method


def _looking(name: str) -> Any:
    of_float = getattr(float, name)

    def method(x: Number, *args: Any) -> Any:
        return of_float(x.look(), *map(_looked_at, args))

    return method


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"):
    _f = getattr(operator, _name)
    setattr(Number, f"__{_name}__", _binary(_f, swapped=False))
    setattr(Number, f"__r{_name}__", _binary(_f, swapped=True))
for _name in ("neg", "pos", "abs"):
    setattr(Number, f"__{_name}__", _unary(getattr(operator, _name)))
for _name in (
    *("bool", "float", "int", "trunc", "floor", "ceil", "round", "hash", "repr", "str", "format"),
    *("eq", "ne", "lt", "le", "gt", "ge", "divmod", "rdivmod"),
):
    setattr(Number, f"__{_name}__", _looking(f"__{_name}__"))
