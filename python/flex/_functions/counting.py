# mypy: allow-redefinition
"""Counts: of integers, of elements in bins."""

from __future__ import annotations

import math
import operator
from math import prod
from typing import TYPE_CHECKING, Any, Literal

from flex import _flex as fx
from flex._functions._common import exact, inexact, is_whole, several, tensor, vector

if TYPE_CHECKING:
    from collections.abc import Callable

    from flex._flex import Tensor, _Nested


def _ascends(x: Tensor) -> bool:
    return bool(fx.all(x[1:] >= x[:-1]).item())


def digitize(x: _Nested, bins: _Nested, right: bool = False) -> Tensor:
    """The number of the bin of each element: the i of `bins[i - 1] <= x < bins[i]`, or with right of `bins[i - 1] < x <= bins[i]`.

    bins: one dimension, ascending or descending (ValueError), for which the inequalities turn around. The result has the shape of x, int64.

    >>> flex.digitize(flex.asarray([0.2, 6.4, 3.0]), flex.asarray([0.0, 1.0, 2.5, 4.0, 10.0])).tolist()
    [1, 4, 3]
    """
    x, bins = exact(x), vector("digitize", "bins", exact(bins))
    side: Literal["left", "right"] = "left" if right else "right"
    if _ascends(bins):
        return fx.searchsorted(bins, x, side)
    bins = fx.flip(bins)
    if not _ascends(bins):
        raise ValueError("digitize: bins must be ascending or descending")
    return bins.size - fx.searchsorted(bins, x, side)


def bucketize(x: _Nested, boundaries: _Nested, *, right: bool = False) -> Tensor:
    """The number of boundaries below each element, as torch counts: the i of `boundaries[i - 1] < x <= boundaries[i]`, or with right of
    `boundaries[i - 1] <= x < boundaries[i]`.

    boundaries: one dimension, ascending. The result has the shape of x, int64. ShapeError for other boundaries.

    >>> flex.bucketize(flex.asarray([1, 3, 9]), flex.asarray([1, 3, 5])).tolist()
    [0, 1, 3]
    """
    boundaries = vector("bucketize", "boundaries", exact(boundaries))
    return fx.searchsorted(boundaries, exact(x), "right" if right else "left")


def _range(op: str, a: Tensor, range: Any) -> tuple[float, float]:
    """The outer edges."""
    if range is not None:
        first, last = map(float, several(op, "range", range))
        if first > last:
            raise ValueError(f"{op}: range is {first} to {last}, which descends")
        what = "supplied"
    elif a.size == 0:
        return 0.0, 1.0
    else:
        first, last = float(fx.min(a).item()), float(fx.max(a).item())
        what = "autodetected"
    if not (math.isfinite(first) and math.isfinite(last)):
        raise ValueError(f"{op}: {what} range of [{first}, {last}] is not finite")
    return (first - 0.5, last + 0.5) if first == last else (first, last)


def _std(x: Tensor) -> float:
    return float(fx.std(x).item())


def _spread(x: Tensor) -> float:
    return float(fx.ptp(x).item())


def _fd(x: Tensor) -> float:
    high, low = fx.percentile(x, [75, 25]).tolist()
    return float(2.0 * (high - low) * x.size ** (-1.0 / 3.0))


def _sturges(x: Tensor) -> float:
    return _spread(x) / (math.log2(x.size) + 1.0)


def _doane(x: Tensor) -> float:
    sigma = _std(x)
    if x.size <= 2 or sigma <= 0.0:
        return 0.0
    unlikely = math.sqrt(6.0 * (x.size - 2) / ((x.size + 1.0) * (x.size + 3)))
    skew = fx.mean(((x - fx.mean(x)) / sigma) ** 3).item()
    bins = 1.0 + math.log2(x.size) + math.log2(1.0 + abs(skew) / unlikely)
    return _spread(x) / bins


def _auto(x: Tensor) -> float:
    narrow = _fd(x)
    return min(narrow, _sturges(x)) if narrow else _sturges(x)


# the widths of bins, as NumPy names and defines them
_WIDTHS: dict[str, Callable[[Tensor], float]] = {
    "auto": _auto,
    "doane": _doane,
    "fd": _fd,
    "rice": lambda x: _spread(x) / (2.0 * x.size ** (1.0 / 3)),
    "scott": lambda x: (24.0 * math.pi**0.5 / x.size) ** (1.0 / 3.0) * _std(x),
    "sqrt": lambda x: _spread(x) / math.sqrt(x.size),
    "sturges": _sturges,
}


def _count(op: str, a: Tensor, bins: str, range: Any, weighted: bool) -> int:
    if bins not in _WIDTHS:
        names = ", ".join(map(repr, _WIDTHS))
        raise ValueError(f"{op}: bins is {bins!r}; it is one of {names}, a number or edges")
    if weighted:
        raise TypeError(f"{op}: the number of bins can't be estimated for weighted elements")
    first, last = _range(op, a, range)
    if range is not None:
        a = fx.masked_select(a, (a >= first) & (a <= last))
    if a.size == 0:
        return 1
    width = _WIDTHS[bins](a.astype(fx.float64))
    if is_whole(a.dtype) and width < 1:
        width = 1.0
    return math.ceil((last - first) / width) if width else 1


def _edges(op: str, a: Tensor, bins: Any, range: Any, weighted: bool) -> Tensor:
    """The edges of the bins of flat elements, in the dtype of the elements, float64 for integers."""
    if isinstance(bins, str):
        bins = _count(op, a, bins, range, weighted)
    try:
        count = operator.index(bins)
    except TypeError:
        edges = exact(bins)
        if edges.ndim != 1:
            message = (
                f"{op}: bins is a number or edges of one dimension, got shape {list(edges.shape)}"
            )
            raise fx.ShapeError(message) from None
        if not _ascends(edges):
            raise ValueError(f"{op}: the edges of bins must ascend") from None
        return edges
    if count < 1:
        raise ValueError(f"{op}: bins is {count}; there must be at least one")
    first, last = _range(op, a, range)
    edges = fx.linspace(first, last, count + 1, dtype=fx.float64)
    return edges.astype(inexact(a, fx.float64).dtype)


@fx.fuse
def _estimate(x: Any, first: float, width: float, last: int) -> Any:
    return fx.clip((x - first) / width, 0, last).astype(fx.int32)


@fx.fuse
def _corrected(x: Any, at: Any, low: Any, high: Any, last: int) -> Any:
    return at - (x < low).astype(fx.int32) + ((x >= high) & (at < last)).astype(fx.int32)


def _even(x: Tensor, edges: Tensor) -> tuple[float, float] | None:
    """The first edge and the width of bins, if these tell the bin of an element up to one and that is faster than to search."""
    count = edges.size - 1
    exact = x.dtype.itemsize <= 4 or x.dtype == fx.float64
    if not (exact and 0 < 4 * count < x.size):
        return None
    first, last = float(edges[0].item()), float(edges[-1].item())
    width = (last - first) / count
    if not 0 < width < math.inf:
        return None
    off = (edges.astype(fx.float64) - first) / width - fx.arange(count + 1, dtype=fx.float64)
    return (first, width) if fx.max(fx.abs(off)).item() < 0.25 else None


def _places(x: Tensor, edges: Tensor) -> tuple[Tensor, Tensor]:
    """The number of the bin of each element, and whether it is in one."""
    last = edges.size - 2
    inside = (x >= edges[0]) & (x <= edges[-1])
    even = _even(x, edges)
    if even is not None:
        wide = x.astype(fx.float64)
        at = _estimate(wide, *even, last)
        edges = edges.astype(fx.float64)
        return _corrected(wide, at, fx.take(edges, at), fx.take(edges[1:], at), last), inside
    at = fx.searchsorted(edges, x, "right") - 1
    return fx.where(x == edges[-1], last, at), inside


def histogram_bin_edges(
    a: _Nested, bins: Any = 10, range: Any = None, weights: _Nested | None = None
) -> Tensor:
    """The edges of the bins that `histogram` counts in, with its arguments and errors.

    >>> flex.histogram_bin_edges(flex.asarray([0.0, 1.0, 4.0]), bins=2).tolist()
    [0.0, 2.0, 4.0]
    """
    a = fx.ravel(_real("histogram_bin_edges", a))
    return _edges("histogram_bin_edges", a, bins, range, weights is not None)


def _real(op: str, a: Any) -> Tensor:
    a = tensor(a)
    if fx.isdtype(a.dtype, "complex floating"):
        raise fx.DTypeError(f"{op}: complex numbers have no order, got {a.dtype}")
    return a.astype(fx.uint8) if a.dtype == fx.bool else a


def histogram(
    a: _Nested,
    bins: Any = 10,
    range: Any = None,
    density: bool | None = None,
    weights: _Nested | None = None,
) -> tuple[Tensor, Tensor]:
    """The number of elements in each bin, and the edges of the bins, which include the lower edge; the last includes both.

    bins: how many of the same width; the edges, ascending; or how to choose their number: "auto", "doane", "fd", "rice", "scott", "sqrt",
    "sturges". range: the outer edges, by default the smallest and the largest element; elements outside and NaN don't count. weights:
    of the shape of a, which are summed instead of counted. density: divide by the sum and the widths, so that the integral is 1. Counts
    are int64, weighted ones of the dtype of the weights, densities float64; edges have the dtype of a, float64 for integers. ValueError for
    a range that is not finite, or bins that are none of these; ShapeError if the weights don't fit; DTypeError for complex numbers.

    >>> counts, edges = flex.histogram(flex.asarray([1.0, 2.0, 1.0]), bins=flex.asarray([0.0, 1.0, 2.0, 3.0]))
    >>> counts.tolist(), edges.tolist()
    ([0, 2, 1], [0.0, 1.0, 2.0, 3.0])
    """
    a = _real("histogram", a)
    w = None if weights is None else tensor(weights)
    if w is not None and w.shape != a.shape:
        raise fx.ShapeError(f"histogram: weights have shape {list(w.shape)}, a has {list(a.shape)}")
    a = fx.ravel(a)
    edges = _edges("histogram", a, bins, range, w is not None)
    at, inside = _places(a, edges)
    chosen = None if w is None else fx.masked_select(fx.ravel(w), inside)
    counts = fx.bincount(fx.masked_select(at, inside), chosen, edges.size - 1)
    if density:
        widths = fx.diff(edges).astype(fx.float64)
        return counts.astype(fx.float64) / widths / fx.sum(counts).astype(fx.float64), edges
    return (counts if w is None else counts.astype(w.dtype)), edges


def histogramdd(
    sample: Any,
    bins: Any = 10,
    range: Any = None,
    density: bool | None = None,
    weights: _Nested | None = None,
) -> tuple[Tensor, tuple[Tensor, ...]]:
    """The number of points in each bin of several dimensions, float64, and the edges along each.

    sample: points `[n, d]`, or a sequence of d coordinates of `[n]`. bins: a number for all dimensions, or a number or edges for each.
    range: a pair of outer edges for each, or None. Other arguments and errors are those of `histogram`.

    >>> counts, edges = flex.histogramdd(flex.asarray([[0.0, 1.0], [1.0, 1.0]]), bins=(2, 1))
    >>> counts.tolist(), len(edges)
    ([[1.0], [1.0]], 2)
    """
    if isinstance(sample, (list, tuple)):
        axes = [fx.ravel(_real("histogramdd", x)) for x in sample]
    else:
        points = _real("histogramdd", sample)
        points = points if points.ndim == 2 else fx.atleast_2d(points).T
        axes = [points[:, k] for k in _numbers(points.shape[1])]
    try:
        each = [operator.index(bins)] * len(axes)
    except TypeError:
        each = several("histogramdd", "bins", bins)
    ranges = [None] * len(axes) if range is None else several("histogramdd", "range", range)
    if len(each) != len(axes) or len(ranges) != len(axes):
        message = f"histogramdd: there are {len(axes)} dimensions, {len(each)} bins and {len(ranges)} ranges"
        raise fx.ShapeError(message)
    fx.empty(prod(b for b in each if isinstance(b, int)))  # errors at once if there is no memory
    edges = tuple(
        _edges("histogramdd", x, b, r, False) for x, b, r in zip(axes, each, ranges, strict=True)
    )
    counts = tuple(e.size - 1 for e in edges)
    place: Any = None
    inside: Any = None
    for x, e in zip(axes, edges, strict=True):
        at, valid = _places(x, e)
        place = at if place is None else place * (e.size - 1) + at
        inside = valid if inside is None else inside & valid
    w = None
    if weights is not None:
        w = fx.masked_select(vector("histogramdd", "weights", weights), inside)
    found = fx.bincount(fx.masked_select(place, inside), w, prod(counts)).astype(fx.float64)
    found = fx.reshape(found, counts)
    if density:
        found = found / _volumes(edges) / fx.sum(found)
    return found, edges


def _numbers(n: int) -> range:
    """The numbers below n, where `range` is an argument."""
    return range(n)


def _volumes(edges: tuple[Tensor, ...]) -> Tensor:
    widths = [fx.diff(e).astype(fx.float64) for e in edges]
    return prod(fx.meshgrid(*widths, indexing="ij"), start=fx.ones((), dtype=fx.float64))


def histogram2d(
    x: _Nested,
    y: _Nested,
    bins: Any = 10,
    range: Any = None,
    density: bool | None = None,
    weights: _Nested | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """The number of points in each bin of the plane, float64, and the edges along x and along y.

    x, y: coordinates `[n]`. bins: a number for both, edges for both, or a pair with one of these for each. Other arguments and errors are
    those of `histogramdd`.

    >>> counts, xedges, yedges = flex.histogram2d(flex.asarray([0.0, 1.0]), flex.asarray([0.0, 4.0]), bins=2)
    >>> counts.tolist(), yedges.tolist()
    ([[1.0, 0.0], [0.0, 1.0]], [0.0, 2.0, 4.0])
    """
    x, y = vector("histogram2d", "x", x), vector("histogram2d", "y", y)
    if x.shape != y.shape:
        raise fx.ShapeError(f"histogram2d: x has shape {list(x.shape)}, y has {list(y.shape)}")
    try:
        count = len(bins)
    except TypeError:
        count = 1
    if count not in (1, 2):
        bins = (bins, bins)
    found, (xedges, yedges) = histogramdd([x, y], bins, range, density, weights)
    return found, xedges, yedges
