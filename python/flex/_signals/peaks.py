# mypy: allow-redefinition
"""Peaks of a signal."""

from __future__ import annotations

import math
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
    pair = (
        interval if isinstance(interval, (tuple, list)) and len(interval) == 2 else (interval, None)
    )
    found: list[Any] = []
    for bound in pair:
        if bound is None or isinstance(bound, (int, float)):
            found.append(bound)
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

        def bound(limit: Any, k: int) -> Any:
            return limit[k] if isinstance(limit, list) else limit

        chosen = []
        for k in range(len(self.peaks)):
            least, most = bound(low, k), bound(high, k)
            fits = (least is None or values[0][k] >= least) and (
                most is None or values[-1][k] <= most
            )
            chosen.append(bool(fits))
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


def _width(x: list[float], peak: int, height: float, bases: tuple[int, int]) -> tuple[float, float]:
    """Where the signal crosses a height on either side of a peak, interpolated."""
    ends = []
    for step, base in ((-1, bases[0]), (1, bases[1])):
        k = peak
        while (base - k) * step > 0 and height < x[k]:
            k += step
        at = float(k)
        if x[k] < height:
            at -= step * (height - x[k]) / (x[k - step] - x[k])
        ends.append(at)
    return ends[0], ends[1]


def _signal(op: str, x: Any) -> Tensor:
    x = vector(op, "x", x)
    if fx.isdtype(x.dtype, "complex floating"):
        raise fx.DTypeError(f"{op}: complex numbers have no order, got {x.dtype}")
    return x.astype(fx.float64)


def _window(wlen: float | None) -> int | None:
    """The samples around a peak, an odd number."""
    return None if wlen is None else math.ceil(wlen) | 1


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
    if wlen is not None and not wlen > 1:
        raise ValueError(f"{op}: wlen is {wlen}; it must be above 1")
    values = x.tolist()
    found = [_prominence(values, p, _window(wlen)) for p in _at(op, peaks, x.size)]
    dtypes = (fx.float64, fx.int64, fx.int64)
    sizes, left, right = (
        fx.asarray([f[k] for f in found], dtype=dtype) for k, dtype in enumerate(dtypes)
    )
    return sizes, left, right


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
    if not rel_height >= 0:
        raise ValueError(f"{op}: rel_height is {rel_height}; it must not be negative")
    x = _signal(op, x)
    values, at = x.tolist(), _at(op, peaks, x.size)
    data: Any = peak_prominences(x, peaks, wlen) if prominence_data is None else prominence_data
    if not isinstance(data, (tuple, list)) or len(data) != 3:
        raise TypeError(f"{op}: prominence_data is three tensors, as peak_prominences gives them")
    sizes = vector(op, "prominence_data[0]", data[0]).tolist()
    left, right = (_at(op, b, x.size) for b in data[1:])
    if any(len(d) != len(at) for d in (sizes, left, right)):
        raise ValueError(f"{op}: prominence_data is not that of {len(at)} peaks")
    rows = []
    for p, size, a, b in zip(at, sizes, left, right, strict=True):
        if not a <= p <= b:
            raise ValueError(f"{op}: prominence_data has bases {a} and {b} for the peak at {p}")
        height = values[p] - size * rel_height
        first, last = _width(values, p, height, (a, b))
        rows.append((last - first, height, first, last))
    widths, heights, starts, ends = (
        fx.asarray([row[k] for row in rows], dtype=fx.float64) for k in range(4)
    )
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
    for complex numbers; ValueError for a distance below 1.

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
        found = [_prominence(values, p, _window(wlen)) for p in chosen.peaks]
        for k, name in enumerate(("prominences", "left_bases", "right_bases")):
            properties[name] = [f[k] for f in found]
    if prominence is not None:
        chosen.within("prominence", prominence, properties["prominences"])
    if width is not None:
        each = zip(
            chosen.peaks,
            *(properties[n] for n in ("prominences", "left_bases", "right_bases")),
            strict=True,
        )
        heights, lefts, rights = [], [], []
        for p, size, a, b in each:
            heights.append(values[p] - size * rel_height)
            first, last = _width(values, p, heights[-1], (a, b))
            lefts.append(first)
            rights.append(last)
        widths = [b - a for a, b in zip(lefts, rights, strict=True)]
        properties.update(widths=widths, width_heights=heights, left_ips=lefts, right_ips=rights)
        chosen.within("width", width, widths)
    whole = ("plateau_sizes", "left_edges", "right_edges", "left_bases", "right_bases")
    tensors = {
        name: fx.asarray(v, dtype=fx.int64 if name in whole else fx.float64)
        for name, v in properties.items()
    }
    return fx.asarray(chosen.peaks, dtype=fx.int64), tensors
