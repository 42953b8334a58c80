# mypy: allow-redefinition
"""Filters without delay, and others of lines along an axis."""

from __future__ import annotations

import operator
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING, Any

from flex import _flex as fx
from flex._functions._common import along, axis_of, inexact, tensor, vector
from flex._functions.building import sliding_window_view
from flex._functions.padding import pad

if TYPE_CHECKING:
    from flex._flex import Tensor, _Nested, _Shape


def lfilter_zi(b: _Nested, a: _Nested) -> Tensor:
    """The states of `lfilter` in which a constant signal of 1 has been filtered for ever; float64.

    b, a: coefficients as of `lfilter`. ValueError if a has only zeros; ShapeError if one is no vector.

    >>> flex.signal.lfilter_zi([1.0, 1.0], [1.0, -0.5]).tolist()
    [3.0]
    """
    b, a = (
        vector("lfilter_zi", name, fx.asarray(x, dtype=fx.float64)).tolist()
        for name, x in (("b", b), ("a", a))
    )
    while len(a) > 1 and a[0] == 0:
        a = a[1:]
    if not a or a[0] == 0:
        raise ValueError("lfilter_zi: a has no coefficient but 0")
    n = max(len(a), len(b))
    a, b = ([x / a[0] for x in c] + [0.0] * (n - len(c)) for c in (a, b))
    steps = [y - x * b[0] for x, y in zip(a[1:], b[1:], strict=True)]
    total, z = sum(a), []
    first = sum(steps) / total if total else fx.inf
    sum_a, sum_step = 1.0, 0.0
    for k in range(n - 1):
        z.append(sum_a * first - sum_step)
        sum_a += a[k + 1]
        sum_step += steps[k]
    return fx.asarray(z, dtype=fx.float64)


def _sos(op: str, sos: Any) -> Tensor:
    sos = fx.asarray(sos, dtype=fx.float64)
    if sos.ndim != 2 or sos.shape[1] != 6:
        raise fx.ShapeError(
            f"{op}: sos has six numbers for each section, got shape {list(sos.shape)}"
        )
    return sos


def sosfilt_zi(sos: _Nested) -> Tensor:
    """The states of `sosfilt` in which a constant signal of 1 has been filtered for ever; float64, `[sections, 2]`.

    >>> flex.signal.sosfilt_zi([[1.0, 1.0, 0.0, 1.0, -0.5, 0.0]]).tolist()
    [[3.0, 0.0]]
    """
    states, scale = [], 1.0
    for row in _sos("sosfilt_zi", sos).tolist():
        b, a = row[:3], row[3:]
        states.append(lfilter_zi(b, a) * scale)
        scale *= sum(b) / sum(a)
    return fx.stack(states) if states else fx.zeros((0, 2), dtype=fx.float64)


def _extended(
    op: str, x: Tensor, axis: int, padtype: str | None, padlen: int | None, least: int
) -> tuple[Tensor, int]:
    """The signal extended at both ends, and by how much."""
    if padtype not in ("odd", "even", "constant", None):
        raise ValueError(f"{op}: padtype is {padtype!r}; it is 'odd', 'even', 'constant' or None")
    edge = 0 if padtype is None else least if padlen is None else operator.index(padlen)
    if x.shape[axis] <= edge or edge < 0:
        raise fx.ShapeError(
            f"{op}: {x.shape[axis]} samples; there must be more than padlen, {edge}, which is not negative"
        )
    if edge == 0:
        return x, 0
    widths = [(edge, edge) if k == axis else (0, 0) for k in range(x.ndim)]
    if padtype == "constant":
        return pad(x, widths, "edge"), edge
    return pad(x, widths, "reflect", reflect_type=padtype), edge


def _both_ways(x: Tensor, axis: int, edge: int, once: Any) -> Tensor:
    y = once(x, along(x, axis, slice(0, 1)))
    n = y.shape[axis]
    y = fx.flip(once(fx.flip(y, axis), along(y, axis, slice(n - 1, n))), axis)
    return along(y, axis, slice(edge, n - edge)).copy() if edge else y


def filtfilt(
    b: _Nested,
    a: _Nested,
    x: _Nested,
    axis: int = -1,
    padtype: str | None = "odd",
    padlen: int | None = None,
) -> Tensor:
    """Filters lines forwards and backwards: without delay, with the square of the gain.

    b, a: coefficients as of `lfilter`. padtype: how lines are extended first, by padlen samples at both ends, three times as many as there
    are coefficients by default: "odd" as at a point, "even" as at a mirror, "constant", or None. Dtypes are those of `lfilter`.
    ShapeError if a line is not longer than padlen; ValueError for another padtype; AxisError.

    >>> x = flex.asarray([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    >>> flex.signal.filtfilt([0.5], [1.0, -0.5], x).tolist()
    [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    """
    x, b, a = inexact(x), fx.asarray(b, dtype=fx.float64), fx.asarray(a, dtype=fx.float64)
    axis = axis_of("filtfilt", axis, x.ndim)
    x, edge = _extended("filtfilt", x, axis, padtype, padlen, 3 * max(a.size, b.size))
    z = lfilter_zi(b, a)
    z = fx.reshape(z, tuple(-1 if k == axis else 1 for k in range(x.ndim)))
    wide = x.astype(fx.complex128 if fx.isdtype(x.dtype, "complex floating") else fx.float64)
    y = _both_ways(
        wide, axis, edge, lambda x, first: fx._signal.lfilter(b, a, x, axis, z * first)[0]
    )
    return y.astype(x.dtype)


def sosfiltfilt(
    sos: _Nested,
    x: _Nested,
    axis: int = -1,
    padtype: str | None = "odd",
    padlen: int | None = None,
) -> Tensor:
    """`filtfilt` by sections of order two, which is more accurate: sos as of `sosfilt`, other arguments and errors as of `filtfilt`.

    >>> x = flex.asarray([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    >>> flex.signal.sosfiltfilt([[0.5, 0.0, 0.0, 1.0, -0.5, 0.0]], x)[3].item()
    1.0
    """
    x, sos = inexact(x), _sos("sosfiltfilt", sos)
    axis = axis_of("sosfiltfilt", axis, x.ndim)
    taps = 2 * sos.shape[0] + 1
    taps -= min(fx.count_nonzero(sos[:, k] == 0).item() for k in (2, 5))
    x, edge = _extended("sosfiltfilt", x, axis, padtype, padlen, 3 * taps)
    z = fx.reshape(sosfilt_zi(sos), (-1, *(2 if k == axis else 1 for k in range(x.ndim))))
    wide = x.astype(fx.complex128 if fx.isdtype(x.dtype, "complex floating") else fx.float64)
    y = _both_ways(
        wide, axis, edge, lambda x, first: fx._signal.sosfilt(sos, x, axis, z * first)[0]
    )
    return y.astype(x.dtype)


_ELEMENTS = 1 << 20  # of windows that are sorted at once
_LONG = 64  # windows from here on are not sorted


def _sorted_medians(x: Tensor, sizes: tuple[int, ...]) -> Tensor:
    """The medians of windows, of as many at a time as a cache holds."""
    windows = sliding_window_view(x, sizes)
    shape, count = windows.shape[: x.ndim], prod(sizes)
    rows = max(_ELEMENTS // (prod(shape[1:]) * count), 1)
    parts = []
    for first in range(0, shape[0], rows):
        part = windows[first : first + rows]
        flat = fx.reshape(part, (*part.shape[: x.ndim], count))
        parts.append(fx.sort(flat, -1)[..., count // 2].copy())
    return parts[0] if len(parts) == 1 else fx.concat(parts)


def _ranked_medians(x: Tensor, size: int) -> Tensor:
    """The medians of long windows along the last axis. Bit by bit of the ranks, from the highest, elements are parted into those that lack
    it and those that have it, in both of which a window stays a range (the wavelet matrix of Claude, Navarro and Ordonez, 2015).
    """
    n, lines = x.size, x.shape[:-1]
    counts = (*lines, x.shape[-1] - size + 1)
    order = fx.argsort(fx.ravel(x))
    ranks = fx.scatter(fx.zeros_like(order), order, fx.arange(n, dtype=order.dtype))
    places = fx.reshape(fx.arange(n, dtype=order.dtype), x.shape)
    first = fx.ravel(places[..., : counts[-1]])
    end, rest, found = first + size, fx.full_like(first, size // 2), fx.zeros_like(first)
    for k in range((n - 1).bit_length())[::-1]:
        lacks = (ranks >> k) & 1 == 0
        before = fx.cumulative_sum(lacks, dtype=order.dtype, include_initial=True)
        lacking = before[-1]
        low, high = fx.take(before, first), fx.take(before, end)
        first, end, rest, found = _parted(first, end, rest, found, low, high, lacking, 1 << k)
        ranks = fx.concat([fx.masked_select(ranks, part) for part in (lacks, ~lacks)])
    return fx.reshape(fx.take(fx.ravel(x), fx.take(order, found)), counts)


@fx.fuse
def _parted(
    first: Any, end: Any, rest: Any, found: Any, low: Any, high: Any, lacking: Any, bit: int
) -> Any:
    without = rest < high - low
    return (
        fx.where(without, low, lacking + first - low),
        fx.where(without, high, lacking + end - high),
        fx.where(without, rest, rest - (high - low)),
        fx.where(without, found, found + bit),
    )


def medfilt(volume: _Nested, kernel_size: _Shape | None = None) -> Tensor:
    """The median of each window around an element, with zeros beyond the edges.

    kernel_size: odd (ValueError), one number for all dimensions or one for each (ShapeError), 3 by default. The result has the dtype of
    volume. DTypeError for complex numbers.

    >>> flex.signal.medfilt(flex.asarray([1.0, 9.0, 2.0, 3.0])).tolist()
    [1.0, 2.0, 3.0, 2.0]
    """
    x = fx.atleast_1d(tensor(volume))
    sizes = 3 if kernel_size is None else kernel_size
    each = tuple(sizes) if isinstance(sizes, (tuple, list)) else (sizes,) * x.ndim
    each = tuple(operator.index(n) for n in each)
    if len(each) != x.ndim:
        raise fx.ShapeError(f"medfilt: {len(each)} sizes for {x.ndim} dimensions")
    if any(n < 1 or n % 2 == 0 for n in each):
        raise ValueError(f"medfilt: kernel_size is {sizes}; sizes are odd")
    if not x.size:
        return x.copy()
    padded = pad(x, [(n // 2, n // 2) for n in each])
    long = [k for k, size in enumerate(each) if size > 1]
    if len(long) == 1 and each[long[0]] >= _LONG:
        lines = _ranked_medians(fx.moveaxis(padded, long[0], -1), each[long[0]])
        return fx.moveaxis(lines, -1, long[0]).contiguous()
    return _sorted_medians(padded, each)


def medfilt2d(input: _Nested, kernel_size: _Shape = 3) -> Tensor:
    """`medfilt` of a matrix (ShapeError), with its arguments and errors.

    >>> flex.signal.medfilt2d(flex.ones((2, 3))).tolist()
    [[0.0, 1.0, 0.0], [0.0, 1.0, 0.0]]
    """
    x = tensor(input)
    if x.ndim != 2:
        raise fx.ShapeError(f"medfilt2d: input has two dimensions, got shape {list(x.shape)}")
    return medfilt(x, kernel_size)


def detrend(data: _Nested, axis: int = -1, type: str = "linear", bp: Any = 0) -> Tensor:
    """Lines along an axis less the straight line that fits them best, or with type "constant" less their mean.

    bp: positions at which a new straight line begins. Integers become float32. ValueError for another type, and for positions beyond
    the line; AxisError.

    >>> flex.signal.detrend(flex.asarray([1.0, 3.0, 5.0])).tolist()
    [0.0, 0.0, 0.0]
    """
    x = inexact(data)
    axis = axis_of("detrend", axis, x.ndim)
    if type in ("constant", "c"):
        return x - fx.mean(x, axis, keepdims=True)
    if type not in ("linear", "l"):
        raise ValueError(f"detrend: type is {type!r}; it is 'linear' or 'constant'")
    n = x.shape[axis]
    starts = fx.ravel(tensor(bp)).tolist()
    bounds = sorted({0, n, *starts})
    if bounds[0] < 0 or bounds[-1] > n:
        raise ValueError(f"detrend: bp must be from 0 to {n}")
    wide = fx.complex128 if fx.isdtype(x.dtype, "complex floating") else fx.float64
    parts = []
    for first, last in pairwise(bounds):
        part = along(x, axis, slice(first, last)).astype(wide)
        t = fx.arange(last - first, dtype=fx.float64) - (last - first - 1) / 2
        t = fx.reshape(t, tuple(-1 if k == axis else 1 for k in range(x.ndim)))
        part = part - fx.mean(part, axis, keepdims=True)
        square = fx.sum(t * t).item() or 1.0
        slope = fx.sum(part * t, axis, keepdims=True) / square
        parts.append(part - slope * t)
    return fx.concat(parts, axis=axis).astype(x.dtype) if parts else x.copy()


def _powers(t: Tensor, order: int) -> Tensor:
    """The powers 0 to order of a vector, as columns."""
    return fx.stack(
        [t**k if k else fx.ones(t.shape, dtype=t.dtype) for k in range(order + 1)], axis=1
    )


def _falling(k: int, deriv: int) -> float:
    return float(prod(range(k - deriv + 1, k + 1))) if k >= deriv else 0.0


def savgol_coeffs(
    window_length: int,
    polyorder: int,
    deriv: int = 0,
    delta: float = 1.0,
    pos: int | None = None,
    use: str = "conv",
) -> Tensor:
    """The coefficients of a Savitzky-Golay filter: of the polynomial that fits a window best, or its derivative, at position pos; float64.

    polyorder: of the polynomial, below window_length. delta: the distance of samples, for derivatives. pos: the middle by default. use:
    "conv" for the order of a convolution, "dot" for that of a product. ValueError for an order or a position out of range, and another use.

    >>> flex.round(flex.signal.savgol_coeffs(5, 2) * 35).tolist()
    [-3.0, 12.0, 17.0, 12.0, -3.0]
    """
    n, order = operator.index(window_length), operator.index(polyorder)
    if not 0 <= order < n:
        raise ValueError(f"savgol_coeffs: polyorder is {order}; it must be from 0 to {n - 1}")
    half, rest = divmod(n, 2)
    at = (half - 0.5 if rest == 0 else half) if pos is None else pos
    if not 0 <= at < n:
        raise ValueError(f"savgol_coeffs: pos is {pos}; it must be from 0 to {n - 1}")
    if use not in ("conv", "dot"):
        raise ValueError(f"savgol_coeffs: use is {use!r}; it is 'conv' or 'dot'")
    if deriv > order:
        return fx.zeros(n, dtype=fx.float64)
    fx.empty((n, order + 1), dtype=fx.float64)  # a MemoryError before work
    t = fx.arange(n, dtype=fx.float64) - at
    row = fx._linalg.pinv(_powers(t, order))[deriv] * (_falling(deriv, deriv) / delta**deriv)
    return fx.flip(row).copy() if use == "conv" else row.copy()


_EXTENSIONS = {"mirror": "reflect", "nearest": "edge", "wrap": "wrap", "constant": "constant"}


def savgol_filter(
    x: _Nested,
    window_length: int,
    polyorder: int,
    deriv: int = 0,
    delta: float = 1.0,
    axis: int = -1,
    mode: str = "interp",
    cval: float = 0.0,
) -> Tensor:
    """Smooths lines by the polynomial that fits each window best (Savitzky and Golay), or takes derivatives of it.

    mode: what lies beyond the ends: "mirror", "nearest", "wrap", "constant" for cval; with "interp" the polynomial of the last whole
    window is used there. Other arguments are those of `savgol_coeffs`. Float64 stays, other numbers become float32. ValueError for other
    modes, and for a window that is longer than the line with "interp"; AxisError.

    >>> flex.signal.savgol_filter(flex.asarray([2.0, 2.0, 5.0, 2.0, 2.0]), 3, 1).tolist()
    [1.5, 3.0, 3.0, 3.0, 1.5]
    """
    if mode not in ("interp", *_EXTENSIONS):
        raise ValueError(
            f"savgol_filter: mode is {mode!r}; it is 'interp', 'mirror', 'nearest', 'wrap' or 'constant'"
        )
    x = tensor(x)
    x = x if x.dtype == fx.float64 else x.astype(fx.float32)
    axis = axis_of("savgol_filter", axis, x.ndim)
    n, size = x.shape[axis], operator.index(window_length)
    row = savgol_coeffs(size, polyorder, deriv, delta, use="dot")
    lines = fx.moveaxis(x.astype(fx.float64), axis, -1)
    if mode == "interp" and size > n:
        raise ValueError(
            f"savgol_filter: a window of {size} in a line of {n}; mode 'interp' has none beyond it"
        )
    before = (size - 1) // 2 if size % 2 else size // 2 - 1
    widths = [(0, 0)] * (lines.ndim - 1) + [(before, size - 1 - before)]
    known = "constant" if mode == "interp" else _EXTENSIONS[mode]
    keywords = {"constant_values": cval} if mode == "constant" else {}
    padded = pad(lines, widths, known, **keywords)
    y = fx.matmul(fx.unfold(padded, size), row)
    if mode == "interp":
        half = size // 2
        t = fx.arange(size, dtype=fx.float64)
        fit = fx._linalg.pinv(_powers(t, polyorder))
        slopes = fx.asarray([_falling(k, deriv) for k in range(polyorder + 1)], dtype=fx.float64)
        # derivatives of the fitted polynomial at each place of a window
        lower = fx.concat(
            [fx.zeros((size, min(deriv, polyorder + 1)), dtype=fx.float64), _powers(t, polyorder)],
            axis=1,
        )
        at = fx.matmul(lower[:, : polyorder + 1] * slopes, fit) / delta**deriv
        first = fx.matmul(lines[..., :size], at[:half].T)
        last = fx.matmul(lines[..., n - size :], at[size - half :].T)
        y = fx.concat([first, y[..., half : n - half], last], axis=-1)
    return fx.moveaxis(y, -1, axis).astype(x.dtype)
