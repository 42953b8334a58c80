"""Calls of functions that `flex.fuse` traces."""

import itertools
import linecache
import operator
from collections.abc import Callable, Sequence
from typing import Any


def call(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> Any:
    """Calls `f`. TypeError, which names the line, if it reads elements: there are none while tracing."""
    try:
        return f(*args, **kwargs or {})
    except BaseException as e:
        if type(e).__name__ != "PanicException" or "flex.fuse" not in str(e):
            raise
        message = f"{e}{_place(e)}. Keep it out of the function; to choose by value use flex.where"
    raise TypeError(message)


def assigned(x: Any, key: Any, value: Any, alone: bool) -> Any:
    """Returns `x` after `x[key] = value`. `alone`: nothing else sees its memory, so it keeps its strides."""
    y = x.astype(x.dtype) if alone else x.copy()
    y[key] = value
    return y


def _place(e: BaseException) -> str:
    """The expression that raised, and the file, number and text of its line."""
    at = e.__traceback__
    assert at is not None
    while at.tb_next is not None:
        at = at.tb_next
    code = at.tb_frame.f_code
    line = linecache.getline(code.co_filename, at.tb_lineno or 0)
    what = ""
    # code may have no positions
    first, last, start, end = next(
        itertools.islice(code.co_positions(), at.tb_lasti // 2, None), (None,) * 4
    )
    if first == last == at.tb_lineno and start is not None and end is not None:
        what = " for " + line.encode()[start:end].decode(errors="replace")
    return f"{what} ({code.co_filename}:{at.tb_lineno}: {line.strip()})"


def _looked_at(x: Any) -> Any:
    return x.look() if type(x) is Number else x


def _binary(f: Callable[[Any, Any], Any], *, swapped: bool = False) -> Any:
    def method(x: "Number", other: Any) -> Any:
        if type(other) is not Number and not isinstance(other, (int, float, complex)):
            return NotImplemented
        a, b = (other, x) if swapped else (x, other)
        try:
            value = f(a.value if type(a) is Number else a, b.value if type(b) is Number else b)
        except Exception:  # raised again below, where the function may catch it
            value = None
        same_trace = type(other) is not Number or other._seen is x._seen
        if type(value) is not float or not same_trace:
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
    def method(x: "Number") -> "Number":
        compute = x.compute
        return Number(f(x.value), lambda xs: f(compute(xs)), x._leaves, x._seen)

    return method


def _looking(of_float: Callable[..., Any]) -> Any:
    def method(x: "Number", *args: Any) -> Any:
        return of_float(x.look(), *map(_looked_at, args))

    return method


class Number:
    """A float argument of a function that is being traced, or the result of arithmetic on such arguments.

    Operations on tensors treat it as a number that may differ at the next call, and arithmetic with numbers is
    then repeated. Any other use reads the value, and makes the trace valid for that value only.
    """

    __slots__ = ("_leaves", "_seen", "compute", "value")

    def __init__(
        self,
        value: float,
        compute: Callable[[Sequence[float]], Any],
        leaves: frozenset[int],
        seen: set[int],
    ) -> None:
        self.value, self._leaves = value, leaves
        self._seen = seen  # the arguments whose values were read; shared by all floats of a trace
        self.compute = compute  # the value for the float arguments of a call

    def look(self) -> float:
        """The value, on which the trace then depends."""
        self._seen |= self._leaves
        return self.value

    @property  # type: ignore[misc]
    def __class__(self) -> Any:  # for `isinstance`
        return float

    def __getattr__(self, name: str) -> Any:
        return getattr(self.look(), name)

    def __copy__(self) -> "Number":
        return self

    def __deepcopy__(self, memo: object) -> "Number":
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return float, (self.look(),)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        import numpy as np

        return np.asarray(self.look(), dtype)

    __add__, __radd__ = _binary(operator.add), _binary(operator.add, swapped=True)
    __sub__, __rsub__ = _binary(operator.sub), _binary(operator.sub, swapped=True)
    __mul__, __rmul__ = _binary(operator.mul), _binary(operator.mul, swapped=True)
    __truediv__, __rtruediv__ = _binary(operator.truediv), _binary(operator.truediv, swapped=True)
    __floordiv__, __rfloordiv__ = (
        _binary(operator.floordiv),
        _binary(operator.floordiv, swapped=True),
    )
    __mod__, __rmod__ = _binary(operator.mod), _binary(operator.mod, swapped=True)
    __pow__, __rpow__ = _binary(operator.pow), _binary(operator.pow, swapped=True)
    __neg__, __pos__, __abs__ = _unary(operator.neg), _unary(operator.pos), _unary(abs)
    __bool__ = _looking(float.__bool__)
    __float__ = _looking(float.__float__)
    __int__ = _looking(float.__int__)
    __trunc__ = _looking(float.__trunc__)
    __floor__ = _looking(float.__floor__)
    __ceil__ = _looking(float.__ceil__)
    __round__ = _looking(float.__round__)
    __hash__ = _looking(float.__hash__)
    __repr__ = _looking(float.__repr__)
    __str__ = _looking(float.__str__)
    __format__ = _looking(float.__format__)
    __eq__ = _looking(float.__eq__)
    __ne__ = _looking(float.__ne__)
    __lt__ = _looking(float.__lt__)
    __le__ = _looking(float.__le__)
    __gt__ = _looking(float.__gt__)
    __ge__ = _looking(float.__ge__)
    __divmod__ = _looking(float.__divmod__)
    __rdivmod__ = _looking(float.__rdivmod__)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return getattr(ufunc, method)(*map(_looked_at, inputs), **kwargs)


class Numbers:
    """The float arguments of a call that is being traced."""

    def __init__(self) -> None:
        self.count, self.seen = 0, set[int]()

    def look(self) -> None:
        """Reads the values of all arguments."""
        self.seen |= set(range(self.count))

    def add(self, value: float) -> Number:
        """Adds the next argument."""
        k = self.count
        self.count += 1
        return Number(value, operator.itemgetter(k), frozenset((k,)), self.seen)
