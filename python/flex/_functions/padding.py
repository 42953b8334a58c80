# mypy: allow-redefinition
"""Padding by the modes of NumPy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flex import _flex as fx
from flex._functions._common import along, axis_of, index, is_whole, tensor

if TYPE_CHECKING:
    from collections.abc import Callable

    from flex._flex import Tensor, _Nested


def _pairs(name: str, x: Any, rank: int) -> list[tuple[Any, Any]]:
    """One pair for each dimension, given as a number, a pair, or pairs."""
    x = x.tolist() if hasattr(x, "tolist") else x
    if isinstance(x, dict):
        pairs: list[tuple[Any, Any]] = [(0, 0)] * rank
        for axis, pair in x.items():
            (pairs[axis_of("pad", axis, rank)],) = _pairs(f"{name}[{axis}]", pair, 1)
        return pairs
    if not isinstance(x, (tuple, list)):
        return [(x, x)] * rank
    nested = [isinstance(y, (tuple, list)) for y in x]
    if x and not any(nested):
        if len(x) in (1, 2):
            return [(x[0], x[-1])] * rank
    elif x and all(len(y) in (1, 2) for y in x) and len(x) in (1, rank):
        return [(y[0], y[-1]) for y in x] * (rank if len(x) == 1 else 1)
    elif not x and rank == 0:
        return []
    raise fx.ShapeError(
        f"pad: {name} is a number, a pair, or a pair for each of {rank} dimensions, got {x}"
    )


def _indexed(n: int, before: int, after: int, mode: str) -> tuple[Tensor, Tensor, Tensor]:
    """For positions from -before to n + after: where the element comes from, whether it is mirrored, and how many periods away."""
    at = fx.arange(-before, n + after, dtype=fx.int64)
    if mode == "wrap":
        return fx.remainder(at, n), at < -before, at
    edge = int(mode == "reflect")
    period = max(2 * n - 2 * edge, 1)
    turns, at = fx.floor_divide(at, period), fx.remainder(at, period)
    mirrored = at >= n
    return fx.where(mirrored, 2 * n - 1 - edge - at, at), mirrored, turns


def _by_index(x: Tensor, axis: int, pads: tuple[int, int], mode: str, odd: bool) -> Tensor:
    n = x.shape[axis]
    at, mirrored, turns = _indexed(n, *pads, mode)
    values = fx.take(x, at, axis)
    if not odd:
        return values
    shape = tuple(-1 if k == axis else 1 for k in range(x.ndim))
    first, last = along(x, axis, slice(0, 1)), along(x, axis, slice(n - 1, n))
    drift = (last - first) * fx.reshape(2 * turns, shape).astype(x.dtype)
    return fx.where(fx.reshape(mirrored, shape), 2 * last - values, values) + drift


def _joined(x: Tensor, axis: int, parts: tuple[Tensor, Tensor], pads: tuple[int, int]) -> Tensor:
    """Parts of size 1 along an axis, repeated before and behind."""
    sizes = [tuple(p if k == axis else n for k, n in enumerate(x.shape)) for p in pads]
    before, after = (
        fx.broadcast_to(t.astype(x.dtype), s) for t, s in zip(parts, sizes, strict=True)
    )
    return fx.concat([before, x, after], axis=axis)


def _edge(x: Tensor, axis: int) -> tuple[Tensor, Tensor]:
    n = x.shape[axis]
    return along(x, axis, slice(0, 1)), along(x, axis, slice(n - 1, n))


_STATISTICS: dict[str, Callable[..., Tensor]] = {
    "maximum": fx.max,
    "minimum": fx.min,
    "mean": fx.mean,
    "median": fx.median,
}


def _statistic(x: Tensor, axis: int, mode: str, lengths: tuple[Any, Any]) -> tuple[Tensor, Tensor]:
    n, found = x.shape[axis], []
    for k, length in enumerate(lengths):
        count = n if length is None else min(index("pad", "stat_length", length), n)
        if count <= 0:
            raise ValueError(f"pad: stat_length is {length}; it must be positive")
        part = along(x, axis, slice(0, count) if k == 0 else slice(n - count, n))
        whole = is_whole(x.dtype)
        part = part.astype(fx.float64) if whole and mode in ("mean", "median") else part
        value = _STATISTICS[mode](part, axis, keepdims=True)
        found.append(fx.round(value) if whole else value)
    return found[0], found[1]


def _ramp(x: Tensor, axis: int, pads: tuple[int, int], ends: tuple[Any, Any]) -> Tensor:
    parts = []
    for k, (edge, width, end) in enumerate(zip(_edge(x, axis), pads, ends, strict=True)):
        wide = fx.float64 if is_whole(x.dtype) else x.dtype
        shares = fx.arange(width, dtype=wide) / max(width, 1)
        shares = fx.flip(shares) if k else shares
        shares = fx.reshape(shares, tuple(-1 if j == axis else 1 for j in range(x.ndim)))
        ramp = end + (edge.astype(wide) - end) * shares
        parts.append((fx.floor(ramp) if is_whole(x.dtype) else ramp).astype(x.dtype))
    return fx.concat([parts[0], x, parts[1]], axis=axis)


# the keywords of each mode, with their defaults
_KEYWORDS: dict[str, dict[str, Any]] = {
    "constant": {"constant_values": None},
    "edge": {},
    "empty": {},
    "linear_ramp": {"end_values": 0},
    "maximum": {"stat_length": None},
    "mean": {"stat_length": None},
    "median": {"stat_length": None},
    "minimum": {"stat_length": None},
    "reflect": {"reflect_type": "even"},
    "symmetric": {"reflect_type": "even"},
    "wrap": {},
}


def _constant(x: Tensor, pads: Any, number: Any) -> Tensor:
    """With a number around; of any dtype without one."""
    return fx.pad(x, pads) if number is None else fx.pad(x, pads, value=number)


def pad(
    array: _Nested, pad_width: Any, mode: Any = "constant", *, value: Any = None, **kwargs: Any
) -> Tensor:
    """Pads a tensor by the modes of numpy.pad.

    pad_width: the number of elements before and after: an integer for both ends of all dimensions, one pair for all, a pair for each, or
    a dict from axes to these. mode: "constant" for constant_values (or value, one number), 0 by default; "edge" for the elements at the
    edges; "linear_ramp" from the edges to end_values; "maximum", "mean", "median" or "minimum" of the stat_length elements next to the
    edge, all by default; "reflect" without and "symmetric" with the edge mirrored, for reflect_type "odd" as a point and not as a line;
    "wrap" for the elements of the other end; "empty" for 0. Numbers of a keyword are given as those of pad_width.

    The result has the dtype of array; means of integers are rounded. ValueError for another mode, a negative width, and a mode that has
    nothing to repeat along an axis without elements; ShapeError if there is not one pair for each dimension; TypeError for a keyword that
    the mode lacks; DTypeError if the number is of a higher kind than the dtype.

    >>> flex.pad(flex.asarray([1, 2]), (1, 2), value=9).tolist()
    [9, 1, 2, 9, 9]
    >>> flex.pad(flex.asarray([1, 2, 3]), 2, "reflect").tolist()
    [3, 2, 1, 2, 3, 2, 1]
    """
    x = tensor(array)
    if isinstance(pad_width, dict):
        pad_width = _pairs("pad_width", pad_width, x.ndim)
    if mode == "constant" and not kwargs:
        return _constant(x, pad_width, value)
    if not isinstance(mode, str) or mode not in _KEYWORDS:
        names = ", ".join(map(repr, _KEYWORDS))
        raise ValueError(f"pad: mode is {mode!r}; it is one of {names}")
    known = _KEYWORDS[mode]
    unknown = [*(kwargs.keys() - known.keys()), *(["value"] if value is not None else [])]
    if unknown:
        has = f"has {', '.join(known)}" if known else "has none"
        raise TypeError(f"pad: mode {mode!r} has no keyword {unknown[0]!r}; it {has}")
    options = {**known, **kwargs}
    pads = [
        tuple(index("pad", "pad_width", n) for n in p)
        for p in _pairs("pad_width", pad_width, x.ndim)
    ]
    if any(n < 0 for p in pads for n in p):
        raise ValueError("pad: pad_width must not be negative")
    each = {name: _pairs(name, v, x.ndim) for name, v in options.items() if name != "reflect_type"}
    if mode in ("reflect", "symmetric") and options["reflect_type"] not in ("even", "odd"):
        raise ValueError(f"pad: reflect_type is {options['reflect_type']!r}; it is 'even' or 'odd'")
    for axis, widths in enumerate(pads):
        before, after = widths
        if before == after == 0:
            continue
        if x.shape[axis] == 0 and mode not in ("constant", "empty"):
            raise ValueError(
                f"pad: mode {mode!r} has nothing to repeat along axis {axis}, which has no elements"
            )
        both = (before, after)
        if mode == "empty":
            x = _joined(x, axis, (fx.zeros((1,) * x.ndim, dtype=x.dtype),) * 2, both)
        elif mode == "constant":
            numbers = each["constant_values"][axis]
            for k, number in enumerate(numbers):
                one = [(0, 0)] * x.ndim
                one[axis] = (before, 0) if k == 0 else (0, after)
                x = _constant(x, one, number)
        elif mode == "edge":
            x = _joined(x, axis, _edge(x, axis), both)
        elif mode in _STATISTICS:
            x = _joined(x, axis, _statistic(x, axis, mode, each["stat_length"][axis]), both)
        elif mode == "linear_ramp":
            x = _ramp(x, axis, both, each["end_values"][axis])
        elif mode == "reflect" and x.shape[axis] == 1:
            x = _joined(x, axis, _edge(x, axis), both)
        else:
            x = _by_index(x, axis, both, mode, options.get("reflect_type") == "odd")
    return x
