# mypy: allow-redefinition
"""Differences, integrals, interpolation, and sums of products of sequences."""

from __future__ import annotations

from math import pi
from typing import TYPE_CHECKING, Any

from flex import _flex as fx
from flex._functions._common import (
    along,
    axes_of,
    axis_of,
    beside,
    exact,
    inexact,
    is_whole,
    kind,
    tensor,
    together,
    vector,
)

if TYPE_CHECKING:
    from flex._flex import DType, Tensor, _Nested, _Shape


def _more(name: str, values: Any, dtype: DType) -> Tensor:
    """What `ediff1d` puts before or behind differences of a dtype, which is of no lower kind."""
    t = fx.ravel(beside("ediff1d", values, dtype))
    if kind(t.dtype) > kind(dtype):
        raise fx.DTypeError(f"ediff1d: {name} has {t.dtype}, ary {dtype}: convert one with astype")
    return t.astype(dtype)


def ediff1d(ary: _Nested, to_end: _Nested | None = None, to_begin: _Nested | None = None) -> Tensor:
    """The differences of adjacent elements in row-major order.

    to_begin, to_end: elements to put before and behind. The result has one dimension, and the dtype of ary; DTypeError if
    theirs is of a higher kind.

    >>> flex.ediff1d(flex.asarray([1, 4, 9]), to_begin=0).tolist()
    [0, 3, 5]
    """
    x = fx.ravel(tensor(ary))
    parts = [x[1:] - x[:-1]]
    if to_begin is not None:
        parts.insert(0, _more("to_begin", to_begin, x.dtype))
    if to_end is not None:
        parts.append(_more("to_end", to_end, x.dtype))
    return parts[0] if len(parts) == 1 else fx.concat(parts)


def interp(
    x: _Nested,
    xp: _Nested,
    fp: _Nested,
    left: Any = None,
    right: Any = None,
    period: float | None = None,
) -> Tensor:
    """The piecewise linear function through points, at x.

    xp, fp: the points, one dimension; xp ascends, which is not checked. left, right: the value before and behind them, by default that of
    the first and the last point. period: of the coordinates, for which xp need not ascend. The result has the shape of x, and the common
    dtype of x and fp; integers become float32. ShapeError if xp and fp don't fit; ValueError without a point, and for a period of 0.

    >>> flex.interp(flex.asarray([0.0, 1.5, 9.0]), flex.asarray([1.0, 2.0]), flex.asarray([10.0, 20.0])).tolist()
    [10.0, 15.0, 20.0]
    """
    result = inexact(fx.empty((), dtype=fx.result_type(inexact(x), inexact(fp)))).dtype
    x, xp, fp = exact(x), vector("interp", "xp", exact(xp)), vector("interp", "fp", exact(fp))
    if xp.shape != fp.shape:
        raise fx.ShapeError(f"interp: xp has shape {list(xp.shape)}, fp has {list(fp.shape)}")
    if xp.size == 0:
        raise ValueError("interp: there are no points")
    x, xp = x.astype(fx.float64), xp.astype(fx.float64)
    fp = fp.astype(fx.complex128 if fx.isdtype(fp.dtype, "complex floating") else fx.float64)
    if period is not None:
        if period == 0:
            raise ValueError("interp: period is 0")
        size = abs(float(period))
        x, xp = fx.remainder(x, size), fx.remainder(xp, size)
        order = fx.argsort(xp)
        xp, fp = fx.take(xp, order), fx.take(fp, order)
        xp = fx.concat([xp[-1:] - size, xp, xp[:1] + size])
        fp = fx.concat([fp[-1:], fp, fp[:1]])
        left = right = None
    at = fx.clip(fx.searchsorted(xp, fx.ravel(x), "right") - 1, 0, max(xp.size - 2, 0))
    at = fx.reshape(at, x.shape)
    then = fx.minimum(at + 1, xp.size - 1)
    x0, x1, f0, f1 = fx.take(xp, at), fx.take(xp, then), fx.take(fp, at), fx.take(fp, then)
    width = x1 - x0
    slope = (f1 - f0) / fx.where(width == 0, 1.0, width)
    y = fx.where(x == x1, f1, slope * (x - x0) + f0)
    first = fp[0] if left is None else beside("interp", left, fp.dtype).astype(fp.dtype)
    last = fp[-1] if right is None else beside("interp", right, fp.dtype).astype(fp.dtype)
    y = fx.where(x < xp[0], first, fx.where(x > xp[-1], last, y))
    return fx.where(fx.isnan(x), fx.nan, y).astype(result)


def _spacing(op: str, x: Any, dx: Any, y: Tensor, axis: int) -> Any:
    """The distances of samples along an axis."""
    if x is None:
        return dx
    x = inexact(beside(op, x, y.dtype))
    if x.ndim == 1:
        if x.size != y.shape[axis]:
            raise fx.ShapeError(
                f"{op}: x has {x.size} points, and y {y.shape[axis]} along axis {axis}"
            )
        d = fx.diff(x)
        return fx.reshape(d, tuple(-1 if k == axis else 1 for k in range(y.ndim)))
    return fx.diff(x, axis=axis)


def _trapezia(op: str, y: Any, x: Any, dx: Any, axis: int) -> tuple[Tensor, Tensor, int]:
    y = inexact(y)
    axis = axis_of(op, axis, y.ndim)
    d = _spacing(op, x, dx, y, axis)
    means = (along(y, axis, slice(1, None)) + along(y, axis, slice(None, -1))) / 2
    return means * d, y, axis


def trapezoid(y: _Nested, x: _Nested | None = None, dx: Any = 1.0, axis: int = -1) -> Tensor:
    """The integral along an axis by the trapezoidal rule.

    x: the points, of one dimension or of the shape of y; by default they are dx apart. Integers become float32. ShapeError if x does not
    fit; AxisError.

    >>> flex.trapezoid(flex.asarray([1.0, 2.0, 3.0])).item()
    4.0
    """
    parts, _, axis = _trapezia("trapezoid", y, x, dx, axis)
    return fx.sum(parts, axis)


def cumulative_trapezoid(
    y: _Nested,
    x: _Nested | None = None,
    dx: Any = 1.0,
    axis: int = -1,
    initial: float | None = None,
) -> Tensor:
    """The integrals from the first sample to each later one by the trapezoidal rule.

    initial: 0 or None; 0 puts that of the first sample in front. Other arguments and errors are those of `trapezoid`; ValueError for
    another initial, and for no samples.

    >>> flex.cumulative_trapezoid(flex.asarray([1.0, 2.0, 3.0]), initial=0).tolist()
    [0.0, 1.5, 4.0]
    """
    parts, y, axis = _trapezia("cumulative_trapezoid", y, x, dx, axis)
    if y.shape[axis] == 0:
        raise ValueError("cumulative_trapezoid: there are no samples")
    if initial is not None and initial != 0:
        raise ValueError(f"cumulative_trapezoid: initial is {initial}; it is 0 or None")
    return fx.cumulative_sum(parts, axis=axis, include_initial=initial is not None)


def _gradient(f: Tensor, axis: int, h: Any, edge_order: int) -> Tensor:
    """Along one axis, for distances `h`: a number, or one for each interval."""

    def part(first: int | None, last: int | None) -> Tensor:
        return along(f, axis, slice(first, last))

    n = f.shape[axis]
    if type(h) is fx.Tensor:
        shape = tuple(-1 if k == axis else 1 for k in range(f.ndim))
        before, after = fx.reshape(h[:-1], shape), fx.reshape(h[1:], shape)
        a = -after / (before * (before + after))
        b = (after - before) / (before * after)
        c = before / (after * (before + after))
        inner = a * part(None, -2) + b * part(1, -1) + c * part(2, None)
        ends = [h[k].item() for k in (0, -1)]
        # the second distance from either end
        seconds = [h[k].item() for k in ((1, -2) if h.size > 1 else (0, -1))]
    else:
        inner = (part(2, None) - part(None, -2)) / (2.0 * h)
        ends = seconds = [h, h]
    if edge_order == 1:
        first = (part(1, 2) - part(0, 1)) / ends[0]
        last = (part(n - 1, n) - part(n - 2, n - 1)) / ends[1]
    else:
        p, q = ends[0], seconds[0]
        first = (
            part(0, 1) * (-(2.0 * p + q) / (p * (p + q)))
            + part(1, 2) * ((p + q) / (p * q))
            + part(2, 3) * (-p / (q * (p + q)))
        )
        p, q = seconds[1], ends[1]
        last = (
            part(n - 3, n - 2) * (q / (p * (p + q)))
            + part(n - 2, n - 1) * (-(q + p) / (p * q))
            + part(n - 1, n) * ((2.0 * q + p) / (q * (p + q)))
        )
    return fx.concat([first, inner, last], axis=axis)


def gradient(f: _Nested, *varargs: Any, axis: _Shape | None = None, edge_order: int = 1) -> Any:
    """The derivatives along axes by central differences, and at the ends by differences of order edge_order, 1 or 2.

    varargs: the distance of samples: one number for all axes, or for each axis a number or the coordinates. axis: by default all. The
    result is a tensor for one axis, a tuple for several; integers become float32. ValueError for another order; ShapeError if the axis
    has no more samples than the order, or coordinates don't fit; TypeError for another number of distances; AxisError.

    >>> flex.gradient(flex.asarray([1.0, 2.0, 4.0])).tolist()
    [1.0, 1.5, 2.0]
    """
    f = inexact(f)
    axes = axes_of("gradient", axis, f.ndim)
    distances = list(varargs) or [1.0]
    if len(distances) == 1 and (len(axes) == 1 or tensor(distances[0]).ndim == 0):
        distances *= len(axes)
    if len(distances) != len(axes):
        raise TypeError(f"gradient: {len(varargs)} distances for {len(axes)} axes")
    if edge_order not in (1, 2):
        raise ValueError(f"gradient: edge_order is {edge_order}; it is 1 or 2")
    result = []
    for k, h in zip(axes, distances, strict=True):
        n = f.shape[k]
        if n <= edge_order:
            raise fx.ShapeError(
                f"gradient: axis {k} has {n} samples; order {edge_order} needs {edge_order + 1}"
            )
        points = exact(h)
        if points.ndim > 1 or (points.ndim == 1 and points.size != n):
            raise fx.ShapeError(
                f"gradient: {n} samples along axis {k}, coordinates of shape {list(points.shape)}"
            )
        if points.ndim == 1:
            steps = fx.diff(points.astype(fx.float64 if is_whole(points.dtype) else points.dtype))
            steps = steps.astype(fx.real(f).dtype)
            even = fx.all(steps == steps[0]).item()
            result.append(_gradient(f, k, steps[0].item() if even else steps, edge_order))
        else:
            result.append(_gradient(f, k, points.item(), edge_order))
    return result[0] if len(result) == 1 else tuple(result)


def unwrap(
    p: _Nested, discont: float | None = None, axis: int = -1, *, period: float = 2 * pi
) -> Tensor:
    """`p` with multiples of the period added, so that neighbours along an axis differ by no more than half a period.

    discont: jumps up to this are left, at least half a period. Integers stay integers for a period that is one, else they become float32.
    AxisError if the axis is out of range.

    >>> flex.unwrap(flex.asarray([0.0, 3.0, 6.0]), period=4).tolist()
    [0.0, -1.0, -2.0]
    """
    p = tensor(p)
    axis = axis_of("unwrap", axis, p.ndim)
    whole = is_whole(p.dtype) and isinstance(period, int)
    p = p if whole else inexact(p)
    d = fx.diff(p, axis=axis)
    half: Any = period // 2 if whole else period / 2
    low = -half
    mod = fx.remainder(d - low, period) + low
    if not (whole and period % 2):
        mod = fx.where((mod == low) & (d > 0), half, mod)
    correct = mod - d
    limit = half if discont is None else discont
    correct = fx.where(fx.abs(d) < limit, 0, correct) if limit else correct
    rest = along(p, axis, slice(1, None)) + fx.cumulative_sum(
        correct, axis=axis, dtype=correct.dtype
    )
    return fx.concat([along(p, axis, slice(None, 1)), rest.astype(p.dtype)], axis=axis)


def _full(op: str, a: Any, v: Any, mode: str) -> tuple[Tensor, int, int]:
    both = zip(("a", "v"), together(op, a, v), strict=True)
    a, v = (fx.reshape(x, -1) if x.ndim == 0 else vector(op, name, x) for name, x in both)
    if mode not in ("full", "same", "valid"):
        raise ValueError(f"{op}: mode is {mode!r}; it is 'full', 'same' or 'valid'")
    if not a.size or not v.size:
        raise ValueError(f"{op}: an operand has no elements")
    return fx._signal.convolve(a, v), a.size, v.size


def _part(full: Tensor, n: int, m: int, mode: str, start: int) -> Tensor:
    small, large = min(n, m), max(n, m)
    if mode == "full":
        return full
    if mode == "valid":
        return full[small - 1 : large].copy()
    return full[start : start + large].copy()


def convolve(a: _Nested, v: _Nested, mode: str = "full") -> Tensor:
    """The sums of products `a[k] v[n - k]` of two vectors.

    mode: "full" for all n + m - 1; "same" for the middle ones, as many as the longer operand has elements; "valid" for those where
    the shorter lies entirely inside the longer. The result has the common dtype. ValueError for another mode, and without elements;
    ShapeError if an operand is no vector. `flex.signal.convolve` takes any dimensions, and is SciPy's: its "same" has the size of the
    first.

    >>> flex.convolve(flex.asarray([1.0, 2.0, 3.0]), flex.asarray([0.0, 1.0, 0.5])).tolist()
    [0.0, 1.0, 2.5, 4.0, 1.5]
    """
    full, n, m = _full("convolve", a, v, mode)
    return _part(full, n, m, mode, (min(n, m) - 1) // 2)


def correlate(a: _Nested, v: _Nested, mode: str = "valid") -> Tensor:
    """The sums of products `a[n + k] conj(v[k])` of two vectors. Arguments, dtypes and errors are those of `convolve`.

    >>> flex.correlate(flex.asarray([1.0, 2.0, 3.0]), flex.asarray([0.0, 1.0, 0.5])).tolist()
    [3.5]
    """
    a, v = together("correlate", a, v)
    full, n, m = _full("correlate", a, fx.flip(fx.conj(fx.atleast_1d(v))), mode)
    start = (m - 1) // 2 if n >= m else n // 2
    return _part(full, n, m, mode, start)
