# mypy: allow-redefinition
"""Peaks and other extremes of signals."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from flex import _flex as fx
from flex._functions._common import axis_of, index, tensor, vector

if TYPE_CHECKING:
    from flex._flex import Tensor, _Nested


def _maxima(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Middles, first and last positions of the plateaus that are higher than their neighbours."""
    # where a run of equal elements begins; NaN begins one each
    starts = fx.nonzero(fx.concat([fx.ones(min(x.size, 1), dtype=fx.bool), x[1:] != x[:-1]]))[0]
    values = fx.take(x, starts)
    if starts.size < 3:
        none = fx.zeros(0, dtype=fx.int64)
        return none, none, none
    high = (values[1:-1] > values[:-2]) & (values[1:-1] > values[2:])
    left = fx.masked_select(starts[1:-1], high)
    right = fx.masked_select(starts[2:], high) - 1
    return fx.floor_divide(left + right, 2), left, right


def _bounds(name: str, interval: Any, x: Tensor, peaks: Tensor) -> list[Any]:
    """The least and the most, a number or one for each peak."""
    try:
        least, most = interval
    except (TypeError, ValueError, fx.ShapeError):  # a number, or one for each sample
        least, most = interval, None
    found: list[Any] = []
    for bound in (least, most):
        if bound is None or isinstance(bound, (int, float)):
            found.append(bound)
        elif getattr(bound, "ndim", None) == 0:
            found.append(float(bound))
        else:
            each = vector("find_peaks", name, bound)
            if each.size != x.size:
                raise fx.ShapeError(f"find_peaks: {name} has {each.size} numbers, x has {x.size}")
            found.append(fx.take(each, peaks))
    return found


class _Chosen:
    """The peaks that are left, and their properties."""

    def __init__(self, x: Tensor) -> None:
        self.x = x
        self.peaks, *self.edges = _maxima(x)
        self.properties: dict[str, Tensor] = {}

    def keep(self, chosen: Tensor) -> None:
        self.peaks = fx.masked_select(self.peaks, chosen)
        for name, values in self.properties.items():
            self.properties[name] = fx.masked_select(values, chosen)

    def within(self, name: str, interval: Any, *values: Tensor) -> None:
        """Keeps the peaks of which the first of `values` is not too small and the last not too large."""
        low, high = _bounds(name, interval, self.x, self.peaks)
        chosen = fx.ones(self.peaks.shape, dtype=fx.bool)
        if low is not None:
            chosen = chosen & (values[0] >= low)
        if high is not None:
            chosen = chosen & (values[-1] <= high)
        self.keep(chosen)

    def apart(self, distance: float) -> None:
        """Keeps the higher of peaks that are too close, the highest first."""
        step = math.ceil(distance)
        peaks = self.peaks.tolist()
        chosen = [True] * len(peaks)
        for k in fx.flip(fx.argsort(fx.take(self.x, self.peaks))).tolist():
            if not chosen[k]:
                continue
            for direction in (-1, 1):
                j = k + direction
                while 0 <= j < len(chosen) and abs(peaks[j] - peaks[k]) < step:
                    chosen[j] = False
                    j += direction
        self.keep(fx.asarray(chosen, dtype=fx.bool))


# ---- walks to the left
#
# A walk from a sample goes on while samples fit. All walks are made at once, over blocks of 1, 2, 4, .. samples that lie at multiples of
# their size: up, over ever larger blocks, as long as the position is no multiple of the next size, then down, over ever smaller ones.


def _halves(x: Tensor) -> tuple[Tensor, Tensor]:
    """The even and the odd elements, as many of both."""
    n = x.size // 2 * 2
    return x[0:n:2], x[1:n:2]


def _steps(count: int) -> list[tuple[int, int, int, int]]:
    """Of each step, the level of its blocks, their size, and the bits of a position by which it ends such a block."""
    up = [(k, 1 << k, (2 << k) - 1, 1 << k) for k in range(count)]
    down = [(k, 1 << k, (1 << k) - 1, 0) for k in range(count)]
    return up + down[::-1]


def _before(end: Tensor, level: int) -> Tensor:
    """The number of the block before a position; any where there is none."""
    return fx.maximum((end >> level) - 1, 0)


@fx.fuse
def _lower(end: Any, first: Any, top: Any, low: Any, base: Any, *step: Any) -> Any:
    high, lowest, place, size, mask, bits = step
    fits = ((end & mask) == bits) & (end - size >= first) & (high <= top)
    less = fits & (lowest < low)
    return end - fx.where(fits, size, 0), fx.where(less, lowest, low), fx.where(less, place, base)


def _lows(x: Tensor, peaks: Tensor, first: Tensor) -> tuple[Tensor, Tensor]:
    """The lowest value, and its nearest position, on the way from each peak to a higher sample or NaN, at most to `first`."""
    levels = [(x, x, fx.arange(x.size, dtype=fx.int64))]
    while levels[-1][0].size > 1:
        (high, high2), (low, low2), (place, place2) = map(_halves, levels[-1])
        nearer = low2 <= low
        levels.append(
            (fx.maximum(high, high2), fx.where(nearer, low2, low), fx.where(nearer, place2, place))
        )
    end, low, base = peaks + 1, fx.take(x, peaks), peaks
    top = low
    for level, *step in _steps(len(levels)):
        at = _before(end, level)
        blocks = (fx.take(values, at) for values in levels[level])
        end, low, base = _lower(end, first, top, low, base, *blocks, *step)
    return low, base


def _prominences(x: Tensor, peaks: Tensor, wlen: int | None) -> tuple[Tensor, Tensor, Tensor]:
    """How far each peak rises above the higher of the lowest points on either side before a higher one, and these points."""
    last = x.size - 1
    half = last if wlen is None else min(wlen // 2, last)
    left, before = _lows(x, peaks, fx.maximum(peaks - half, 0))
    mirrored = last - peaks
    right, after = _lows(fx.flip(x), mirrored, fx.maximum(mirrored - half, 0))
    return fx.take(x, peaks) - fx.maximum(left, right), before, last - after


@fx.fuse
def _higher(end: Any, first: Any, height: Any, low: Any, *step: Any) -> Any:
    size, mask, bits = step
    fits = ((end & mask) == bits) & (end - size >= first) & (low > height)
    return end - fx.where(fits, size, 0)


def _crossings(x: Tensor, peaks: Tensor, heights: Tensor, bases: Tensor) -> Tensor:
    """Where the signal falls to a height on the left of each peak, interpolated, at most as far as a base."""
    levels = [x]
    while levels[-1].size > 1:
        levels.append(fx.minimum(*_halves(levels[-1])))
    end = peaks + 1
    for level, *step in _steps(len(levels)):
        low = fx.take(levels[level], _before(end, level))
        end = _higher(end, bases + 1, heights, low, *step)
    at = end - 1
    low, next_ = fx.take(x, at), fx.take(x, fx.minimum(end, peaks))
    between = (low < heights) & (at < peaks)
    part = (heights - low) / fx.where(between, next_ - low, 1.0)
    return at.astype(fx.float64) + fx.where(between, part, 0.0)


def _widths(
    x: Tensor, peaks: Tensor, heights: Tensor, left: Tensor, right: Tensor
) -> tuple[Tensor, Tensor]:
    """Where the signal crosses a height on either side of each peak."""
    last = x.size - 1
    ends = _crossings(fx.flip(x), last - peaks, heights, last - right)
    return _crossings(x, peaks, heights, left), last - ends


def _signal(op: str, x: Any) -> Tensor:
    x = vector(op, "x", x)
    if fx.isdtype(x.dtype, "complex floating"):
        raise fx.DTypeError(f"{op}: complex numbers have no order, got {x.dtype}")
    return x.astype(fx.float64)


def _window(op: str, wlen: float | None) -> int | None:
    """The samples around a peak, an odd number."""
    if wlen is not None and not wlen > 1:
        raise ValueError(f"{op}: wlen is {wlen}; it must be above 1")
    return None if wlen is None else math.ceil(wlen) | 1


def _part(op: str, rel_height: float) -> None:
    if not rel_height >= 0:
        raise ValueError(f"{op}: rel_height is {rel_height}; it must not be negative")


def _at(op: str, peaks: Any, size: int) -> Tensor:
    at = vector(op, "peaks", peaks)
    if at.size and not fx.isdtype(at.dtype, "integral"):
        raise fx.DTypeError(f"{op}: peaks are positions, not {at.dtype}")
    if at.size and not fx.all((at >= 0) & (at < size)).item():
        raise ValueError(f"{op}: a peak is out of range for {size} samples")
    return at.astype(fx.int64)


def peak_prominences(
    x: _Nested, peaks: _Nested, wlen: float | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """How far peaks rise above the higher of the lowest points on either side before a higher peak, float64, and the positions of the
    lowest points to the left and to the right, int64.

    x: real, one dimension. peaks: positions in it, as `find_peaks` gives them. wlen: the samples around a peak that are looked at; all by
    default. ShapeError for other shapes; DTypeError for complex numbers, and peaks that are no integers; ValueError for a position out
    of range, and wlen below 2.

    >>> x = flex.asarray([0.0, 2.0, 1.0, 3.0, 0.0])
    >>> [t.tolist() for t in flex.signal.peak_prominences(x, flex.asarray([1, 3]))]
    [[1.0, 3.0], [0, 0], [2, 4]]
    """
    op = "peak_prominences"
    x = _signal(op, x)
    window = _window(op, wlen)
    return _prominences(x, _at(op, peaks, x.size), window)


def peak_widths(
    x: _Nested,
    peaks: _Nested,
    rel_height: float = 0.5,
    prominence_data: tuple[_Nested, _Nested, _Nested] | None = None,
    wlen: float | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The widths of peaks, the heights that they are measured at, and where the signal crosses these to the left and to the right,
    interpolated; float64.

    rel_height: at which part of the prominence below the peak, not negative (ValueError). prominence_data: the result of
    `peak_prominences`; computed by default, with wlen. Other arguments and errors are those of `peak_prominences`; ValueError for
    prominence_data of another length.

    >>> x = flex.asarray([0.0, 2.0, 0.0])
    >>> [t.tolist() for t in flex.signal.peak_widths(x, flex.asarray([1]))]
    [[1.0], [1.0], [0.5], [1.5]]
    """
    op = "peak_widths"
    _part(op, rel_height)
    x = _signal(op, x)
    at = _at(op, peaks, x.size)
    data: Any = peak_prominences(x, peaks, wlen) if prominence_data is None else prominence_data
    if not isinstance(data, (tuple, list)) or len(data) != 3:
        raise TypeError(f"{op}: prominence_data is three tensors, as peak_prominences gives them")
    sizes = vector(op, "prominence_data[0]", data[0])
    left, right = (_at(op, b, x.size) for b in data[1:])
    if any(d.size != at.size for d in (sizes, left, right)):
        raise ValueError(f"{op}: prominence_data is not that of {at.size} peaks")
    wrong = (left > at) | (at > right)
    if fx.any(wrong):
        a, p, b = (fx.masked_select(t, wrong)[0].item() for t in (left, at, right))
        raise ValueError(f"{op}: prominence_data has bases {a} and {b} for the peak at {p}")
    heights = fx.take(x, at) - sizes * rel_height
    starts, ends = _widths(x, at, heights, left, right)
    return ends - starts, heights, starts, ends


def find_peaks(
    x: _Nested,
    height: Any = None,
    threshold: Any = None,
    distance: float | None = None,
    prominence: Any = None,
    width: Any = None,
    wlen: int | None = None,
    rel_height: float = 0.5,
    plateau_size: Any = None,
) -> tuple[Tensor, dict[str, Tensor]]:
    """The positions of the peaks of a signal that have the properties asked for, int64, and a dict of these properties.

    x: real, one dimension. A peak is higher than its neighbours; of a plateau, its middle. height, threshold (the height above
    the neighbours), prominence, width, plateau_size: the least, or a pair of the least and the most, each None, a number, or one for
    each element of x. distance: the least distance of peaks, of which the higher stays. wlen: the samples around a peak that its
    prominence is measured in. rel_height: at which part of the prominence the width is measured. ShapeError for other shapes; DTypeError
    for complex numbers; ValueError for a distance below 1, wlen below 2,
    and a negative rel_height.

    >>> peaks, properties = flex.signal.find_peaks(flex.asarray([0.0, 2.0, 1.0, 3.0, 0.0]), height=2.5)
    >>> peaks.tolist(), properties["peak_heights"].tolist()
    ([3], [3.0])
    """
    x = _signal("find_peaks", x)
    if distance is not None and distance < 1:
        raise ValueError(f"find_peaks: distance is {distance}; it must be at least 1")
    chosen = _Chosen(x)
    properties = chosen.properties
    if plateau_size is not None:
        left, right = chosen.edges
        sizes = right - left + 1
        properties.update(plateau_sizes=sizes, left_edges=left, right_edges=right)
        chosen.within("plateau_size", plateau_size, sizes)
    if height is not None:
        properties["peak_heights"] = fx.take(x, chosen.peaks)
        chosen.within("height", height, properties["peak_heights"])
    if threshold is not None:
        peaks = chosen.peaks
        left, right = (fx.take(x, peaks) - fx.take(x, peaks + k) for k in (-1, 1))
        properties.update(left_thresholds=left, right_thresholds=right)
        chosen.within("threshold", threshold, fx.minimum(left, right), fx.maximum(left, right))
    if distance is not None:
        chosen.apart(distance)
    if prominence is not None or width is not None:
        found = _prominences(x, chosen.peaks, _window("find_peaks", wlen))
        names = ("prominences", "left_bases", "right_bases")
        properties.update(zip(names, found, strict=True))
    if prominence is not None:
        chosen.within("prominence", prominence, properties["prominences"])
    if width is not None:
        _part("find_peaks", rel_height)
        heights = fx.take(x, chosen.peaks) - properties["prominences"] * rel_height
        bases = properties["left_bases"], properties["right_bases"]
        lefts, rights = _widths(x, chosen.peaks, heights, *bases)
        widths = rights - lefts
        properties.update(widths=widths, width_heights=heights, left_ips=lefts, right_ips=rights)
        chosen.within("width", width, widths)
    return chosen.peaks, properties


def argrelextrema(
    data: _Nested, comparator: Any, axis: int = 0, order: int = 1, mode: str = "clip"
) -> tuple[Tensor, ...]:
    """The positions of elements that compare with all neighbours along an axis, as of `nonzero`.

    comparator: a function of two tensors, such as `flex.greater`. order: how many neighbours on either side, positive (ValueError). mode:
    beyond the ends lie the last elements ("clip") or those of the other end ("wrap"); ValueError for others. AxisError.

    >>> flex.signal.argrelextrema([2.0, 1.0, 2.0, 3.0, 0.0], flex.greater)[0].tolist()
    [3]
    """
    op = "argrelextrema"
    x, order = tensor(data), index(op, "order", order)
    if order < 1:
        raise ValueError(f"{op}: order is {order}; it must be positive")
    if mode not in ("clip", "wrap"):
        raise ValueError(f"{op}: mode is {mode!r}; it is 'clip' or 'wrap'")
    axis = axis_of(op, axis, x.ndim)
    n = x.shape[axis]
    at = fx.arange(n, dtype=fx.int64)
    found = fx.ones(x.shape, dtype=fx.bool)
    # with n - 1 neighbours on either side are all elements
    for k in range(1, min(order, n) + 1):
        for there in (at + k, at - k):
            there = fx.remainder(there, n) if mode == "wrap" else fx.clip(there, 0, n - 1)
            found = found & comparator(x, fx.take(x, there, axis))
    return fx.nonzero(found)


def argrelmax(
    data: _Nested, axis: int = 0, order: int = 1, mode: str = "clip"
) -> tuple[Tensor, ...]:
    """The positions of elements that are greater than their neighbours along an axis: `argrelextrema`, with its arguments and errors.

    >>> flex.signal.argrelmax([2.0, 1.0, 2.0, 3.0, 0.0])[0].tolist()
    [3]
    """
    return argrelextrema(data, fx.greater, axis, order, mode)


def argrelmin(
    data: _Nested, axis: int = 0, order: int = 1, mode: str = "clip"
) -> tuple[Tensor, ...]:
    """The positions of elements that are less than their neighbours along an axis: `argrelextrema`, with its arguments and errors.

    >>> flex.signal.argrelmin([2.0, 1.0, 2.0, 3.0, 0.0])[0].tolist()
    [1]
    """
    return argrelextrema(data, fx.less, axis, order, mode)
