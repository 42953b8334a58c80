# mypy: allow-redefinition
"""Peaks of a signal."""

from __future__ import annotations

import math
from bisect import bisect_right
from typing import TYPE_CHECKING, Any

from flex import _flex as fx
from flex._functions._common import vector

if TYPE_CHECKING:
    from flex._flex import Tensor, _Nested


def _maxima(x: Tensor) -> tuple[list[int], list[int], list[int]]:
    """Middles, first and last positions of the plateaus that are higher than their neighbours."""
    n = x.size
    if n < 3:
        return [], [], []
    # where a run of equal elements begins; NaN begins one each
    starts = fx.nonzero(fx.concat([fx.ones(1, dtype=fx.bool), x[1:] != x[:-1]]))[0]
    values = fx.take(x, starts)
    if starts.size < 3:
        return [], [], []
    high = (values[1:-1] > values[:-2]) & (values[1:-1] > values[2:])
    left = fx.masked_select(starts[1:-1], high)
    right = fx.masked_select(starts[2:], high) - 1
    return fx.floor_divide(left + right, 2).tolist(), left.tolist(), right.tolist()


def _bounds(name: str, interval: Any, x: Tensor, peaks: list[int]) -> tuple[Any, Any]:
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
            numbers = each.tolist()
            found.append([numbers[p] for p in peaks])
    return found[0], found[1]


class _Chosen:
    """The peaks that are left, and their properties."""

    def __init__(self, x: Tensor) -> None:
        self.x = x
        self.peaks, left, right = _maxima(x)
        self.properties: dict[str, list[Any]] = {}
        self.edges = left, right

    def keep(self, chosen: list[bool]) -> None:
        self.peaks = [p for p, c in zip(self.peaks, chosen, strict=True) if c]
        for name, values in self.properties.items():
            self.properties[name] = [v for v, c in zip(values, chosen, strict=True) if c]

    def within(self, name: str, interval: Any, *values: list[Any]) -> None:
        """Keeps the peaks of which the first of `values` is not too small and the last not too large."""
        low, high = _bounds(name, interval, self.x, self.peaks)

        chosen = [True] * len(self.peaks)
        if low is not None:
            limits = low if isinstance(low, list) else [low] * len(chosen)
            chosen = [v >= least for v, least in zip(values[0], limits, strict=True)]
        if high is not None:
            limits = high if isinstance(high, list) else [high] * len(chosen)
            fits = zip(chosen, values[-1], limits, strict=True)
            chosen = [c and v <= most for c, v, most in fits]
        self.keep(chosen)

    def apart(self, heights: list[float], distance: float) -> None:
        """Keeps the higher of peaks that are too close, the highest first."""
        step = math.ceil(distance)
        chosen = [True] * len(self.peaks)
        for k in sorted(range(len(self.peaks)), key=lambda k: heights[k])[::-1]:
            if not chosen[k]:
                continue
            for direction in (-1, 1):
                j = k + direction
                while 0 <= j < len(chosen) and abs(self.peaks[j] - self.peaks[k]) < step:
                    chosen[j] = False
                    j += direction
        self.keep(chosen)


def _prominence(x: list[float], peak: int, wlen: int | None) -> tuple[float, int, int]:
    """How far a peak rises above the higher of the lowest points on either side before a higher one, and these points."""
    least, most = 0, len(x) - 1
    if wlen is not None:
        least, most = max(peak - wlen // 2, 0), min(peak + wlen // 2, most)
    bases, lows = [], []
    for step, end in ((-1, least), (1, most)):
        k, base, low = peak, peak, x[peak]
        while (k - end) * step <= 0 and x[k] <= x[peak]:
            if x[k] < low:
                low, base = x[k], k
            k += step
        bases.append(base)
        lows.append(low)
    return x[peak] - max(lows), bases[0], bases[1]


def _lows(x: list[float]) -> tuple[list[float], list[int]]:
    """For each sample the lowest value, and its nearest position, on the way left to a higher sample or NaN.

    The stack holds samples that nothing after them reaches, each with the lowest value since the one below it, so that every sample
    is pushed and popped once. NaN is pushed and never popped, since it compares with nothing.
    """
    lows: list[float] = []
    bases: list[int] = []
    stack: list[int] = []
    for k, value in enumerate(x):
        low, base = value, k
        while stack and x[stack[-1]] <= value:
            top = stack.pop()
            if lows[top] < low:
                low, base = lows[top], bases[top]
        stack.append(k)
        lows.append(low)
        bases.append(base)
    return lows, bases


def _prominences(
    x: list[float], peaks: list[int], wlen: int | None
) -> tuple[list[float], list[int], list[int]]:
    """Of each peak, what `_prominence` says."""
    if wlen is not None or not peaks:
        found = [_prominence(x, p, wlen) for p in peaks]
        return [f[0] for f in found], [f[1] for f in found], [f[2] for f in found]
    last = len(x) - 1
    left, left_bases = _lows(x)
    right, right_bases = _lows(x[::-1])
    sizes = [x[p] - max(left[p], right[last - p]) for p in peaks]
    return sizes, [left_bases[p] for p in peaks], [last - right_bases[last - p] for p in peaks]


def _crossing(x: list[float], at: int, peak: int, height: float) -> float:
    """Where the signal crosses a height on the right of a sample, which is the last on the left of the peak not above it."""
    if x[at] < height and at < peak:
        return at + (height - x[at]) / (x[at + 1] - x[at])
    return float(at)


def _crossings(
    x: list[float], peaks: list[int], heights: list[float], bases: list[int]
) -> list[float]:
    """Where the signal falls to a height on the left of each peak, interpolated, at most as far as a base.

    Most crossings are a few samples away, which a walk finds soonest; farther ones are found by a stack, so that no walk is long.
    The stack holds the samples that are lower than all after them, so that its values rise, and the last that is not above a height
    is the nearest. NaN ends a walk as the lowest sample would.
    """
    found = [0.0] * len(peaks)
    far = []
    for j, (peak, height, base) in enumerate(zip(peaks, heights, bases, strict=True)):
        at, stop = peak, max(base, peak - 16)
        while at > stop and height < x[at]:
            at -= 1
        if at > base and height < x[at]:
            far.append(j)
        found[j] = _crossing(x, at, peak, height)
    if not far:
        return found
    order = sorted(far, key=peaks.__getitem__)
    places: list[int] = []
    values: list[float] = []
    seen = 0
    for j in order:
        peak, height = peaks[j], heights[j]
        for k in range(seen, peak + 1):
            value = x[k]
            if value != value:
                value = -math.inf
            while values and values[-1] >= value:
                values.pop()
                places.pop()
            values.append(value)
            places.append(k)
        seen = max(seen, peak + 1)
        at = peak
        if height == height:
            nearest = bisect_right(values, height) - 1
            at = max(bases[j], places[nearest] if nearest >= 0 else 0)
        found[j] = _crossing(x, at, peak, height)
    return found


def _widths(
    x: list[float], peaks: list[int], heights: list[float], left: list[int], right: list[int]
) -> tuple[list[float], list[float]]:
    """Where the signal crosses a height on either side of each peak."""
    last = len(x) - 1
    ends = _crossings(x[::-1], [last - p for p in peaks], heights, [last - b for b in right])
    return _crossings(x, peaks, heights, left), [last - e for e in ends]


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


def _at(op: str, peaks: Any, size: int) -> list[int]:
    at = vector(op, "peaks", peaks)
    if at.size and not fx.isdtype(at.dtype, "integral"):
        raise fx.DTypeError(f"{op}: peaks are positions, not {at.dtype}")
    if at.size and not fx.all((at >= 0) & (at < size)).item():
        raise ValueError(f"{op}: a peak is out of range for {size} samples")
    found: list[int] = at.astype(fx.int64).tolist()
    return found


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
    sizes, *bases = _prominences(x.tolist(), _at(op, peaks, x.size), window)
    left, right = (fx.asarray(base, dtype=fx.int64) for base in bases)
    return fx.asarray(sizes, dtype=fx.float64), left, right


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
    values, at = x.tolist(), _at(op, peaks, x.size)
    data: Any = peak_prominences(x, peaks, wlen) if prominence_data is None else prominence_data
    if not isinstance(data, (tuple, list)) or len(data) != 3:
        raise TypeError(f"{op}: prominence_data is three tensors, as peak_prominences gives them")
    sizes = vector(op, "prominence_data[0]", data[0]).tolist()
    left, right = (_at(op, b, x.size) for b in data[1:])
    if any(len(d) != len(at) for d in (sizes, left, right)):
        raise ValueError(f"{op}: prominence_data is not that of {len(at)} peaks")
    for p, a, b in zip(at, left, right, strict=True):
        if not a <= p <= b:
            raise ValueError(f"{op}: prominence_data has bases {a} and {b} for the peak at {p}")
    levels = [values[p] - size * rel_height for p, size in zip(at, sizes, strict=True)]
    heights = fx.asarray(levels, dtype=fx.float64)
    first, last = _widths(values, at, levels, left, right)
    starts, ends = (fx.asarray(side, dtype=fx.float64) for side in (first, last))
    widths = ends - starts
    return widths, heights, starts, ends


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
    values = x.tolist()
    chosen = _Chosen(x)
    properties = chosen.properties
    if plateau_size is not None:
        left, right = chosen.edges
        sizes = [b - a + 1 for a, b in zip(left, right, strict=True)]
        properties.update(plateau_sizes=sizes, left_edges=left, right_edges=right)
        chosen.within("plateau_size", plateau_size, sizes)
    if height is not None:
        properties["peak_heights"] = [values[p] for p in chosen.peaks]
        chosen.within("height", height, properties["peak_heights"])
    if threshold is not None:
        left = [values[p] - values[p - 1] for p in chosen.peaks]
        right = [values[p] - values[p + 1] for p in chosen.peaks]
        properties.update(left_thresholds=left, right_thresholds=right)
        low = [min(a, b) for a, b in zip(left, right, strict=True)]
        high = [max(a, b) for a, b in zip(left, right, strict=True)]
        chosen.within("threshold", threshold, low, high)
    if distance is not None:
        chosen.apart([values[p] for p in chosen.peaks], distance)
    if prominence is not None or width is not None:
        found = _prominences(values, chosen.peaks, _window("find_peaks", wlen))
        names = ("prominences", "left_bases", "right_bases")
        properties.update(zip(names, found, strict=True))
    if prominence is not None:
        chosen.within("prominence", prominence, properties["prominences"])
    if width is not None:
        _part("find_peaks", rel_height)
        data = zip(chosen.peaks, properties["prominences"], strict=True)
        heights = [values[p] - size * rel_height for p, size in data]
        bases = properties["left_bases"], properties["right_bases"]
        lefts, rights = _widths(values, chosen.peaks, heights, *bases)
        widths = [b - a for a, b in zip(lefts, rights, strict=True)]
        properties.update(widths=widths, width_heights=heights, left_ips=lefts, right_ips=rights)
        chosen.within("width", width, widths)
    whole = ("plateau_sizes", "left_edges", "right_edges", "left_bases", "right_bases")
    tensors = {
        name: fx.asarray(v, dtype=fx.int64 if name in whole else fx.float64)
        for name, v in properties.items()
    }
    return fx.asarray(chosen.peaks, dtype=fx.int64), tensors
