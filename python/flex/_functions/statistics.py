# mypy: allow-redefinition
"""Means, covariances, and statistics that skip NaN."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from flex import _flex as fx
from flex._functions._common import axes_of, axis_of, exact, inexact, is_whole, tensor, together

if TYPE_CHECKING:
    from flex._flex import Tensor, _DType, _Nested, _Shape
    from flex._results import AMinMaxResult


def average(
    a: _Nested,
    axis: _Shape | None = None,
    weights: _Nested | None = None,
    returned: bool = False,
    *,
    keepdims: bool = False,
) -> Any:
    """The weighted mean of elements.

    axis: an integer, a tuple of them, or None for all. weights: of the shape of a, or of its sizes along the axes; without them,
    the mean. returned: the pair of the mean and the sum of the weights. keepdims: keep these axes with size 1. The result has the
    common dtype; integers become float32. ShapeError if the weights don't fit; TypeError if their shape needs an axis; ZeroDivisionError
    if they sum to zero; AxisError.

    >>> flex.average(flex.asarray([1.0, 2.0, 5.0]), weights=flex.asarray([1.0, 1.0, 2.0])).item()
    3.25
    """
    a, w = together("average", a, 1.0 if weights is None else weights)
    axes = axes_of("average", axis, a.ndim)
    if weights is None:
        mean = fx.mean(a, axes, keepdims=keepdims)
        total = fx.full_like(mean, float(prod(a.shape[k] for k in axes)))
        return (mean, total) if returned else mean
    if w.shape != a.shape:
        if axis is None:
            raise TypeError("average: the shapes of a and weights differ, which needs an axis")
        if w.shape != tuple(a.shape[k] for k in axes):
            shapes = f"weights have shape {list(w.shape)}, a has {list(a.shape)}"
            raise fx.ShapeError(f"average: {shapes}: they have its shape, or its sizes along axis")
        w = fx.permute_dims(w, sorted(range(w.ndim), key=lambda k: axes[k]))
        w = fx.reshape(w, tuple(n if k in axes else 1 for k, n in enumerate(a.shape)))
    dtype = inexact(fx.empty((), dtype=fx.result_type(a, w))).dtype
    a, w = a.astype(dtype), fx.broadcast_to(w.astype(dtype), a.shape)
    total = fx.sum(w, axes, keepdims=keepdims)
    if fx.any(total == 0).item():
        raise ZeroDivisionError("average: the weights sum to zero")
    mean = fx.sum(a * w, axes, keepdims=keepdims) / total
    return (mean, total) if returned else mean


def _observations(op: str, m: Any, rowvar: bool, dtype: Any) -> Tensor:
    x = tensor(m)
    if x.ndim > 2:
        raise fx.ShapeError(f"{op}: m has at most two dimensions, got shape {list(x.shape)}")
    x = inexact(x) if dtype is None else x.astype(dtype)
    vector = x.ndim < 2
    x = fx.atleast_2d(x)
    return x if rowvar or vector else x.T


def _weights(name: str, weights: Any, count: int) -> Tensor:
    w = exact(weights)
    if w.ndim != 1 or w.shape[0] != count:
        raise fx.ShapeError(
            f"cov: {name} has shape {list(w.shape)}; there are {count} observations"
        )
    if fx.any(w < 0).item():
        raise ValueError(f"cov: {name} must not be negative")
    return w


def cov(
    m: _Nested,
    y: _Nested | None = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: _Nested | None = None,
    aweights: _Nested | None = None,
    *,
    dtype: _DType | None = None,
) -> Tensor:
    """The covariance matrix of variables.

    m: a variable `[n]`, or one a row, `[k, n]`; one a column without rowvar. y: more variables. bias: divide by n instead of
    n - 1; ddof: by n - ddof. fweights: how often each observation counts, integers; aweights: its relative weight. dtype: of the
    computation. The result is `[k, k]`, or a number for one variable; integers become float32. ShapeError if shapes don't fit; ValueError
    for negative weights; TypeError for fweights that are not integers.

    >>> flex.cov(flex.asarray([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]])).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    x = _observations("cov", m, rowvar, dtype)
    if x.shape[0] == 0:
        return fx.empty((0, 0), dtype=x.dtype)
    if y is not None:
        more = _observations("cov", y, rowvar, dtype)
        if more.shape[1] != x.shape[1]:
            shapes = f"m has {x.shape[1]} observations, y has {more.shape[1]}"
            raise fx.ShapeError(f"cov: {shapes}")
        x = fx.concat([x, more], axis=0)
    real = fx.real(fx.empty((), dtype=x.dtype)).dtype
    ddof = (0 if bias else 1) if ddof is None else ddof
    w = None
    if fweights is not None:
        f = _weights("fweights", fweights, x.shape[1])
        if not is_whole(f.dtype) and fx.any(f != fx.round(f)).item():
            raise TypeError("cov: fweights are integers")
        w = f.astype(real)
    if aweights is not None:
        relative = _weights("aweights", aweights, x.shape[1]).astype(real)
        w = relative if w is None else w * relative
    if w is None:
        mean, total, fact = fx.mean(x, 1, keepdims=True), None, float(x.shape[1] - ddof)
    else:
        total = fx.sum(w).item()
        if total == 0:
            raise ZeroDivisionError("cov: the weights sum to zero")
        mean = fx.sum(x * w, 1, keepdims=True) / total
        fact = total - ddof
        if aweights is not None and ddof != 0:
            fact = total - ddof * fx.sum(w * relative).item() / total
    x = x - mean
    weighted = fx.conj(x if w is None else x * w)
    return fx.squeeze(fx.matmul(x, weighted.T) / max(fact, 0.0), _ones((x.shape[0],) * 2))


def _ones(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(k for k, n in enumerate(shape) if n == 1)


def corrcoef(
    x: _Nested,
    y: _Nested | None = None,
    rowvar: bool = True,
    *,
    dtype: _DType | None = None,
) -> Tensor:
    """The correlation coefficients of variables (Pearson): their covariances divided by the product of their standard deviations.

    Arguments, dtypes and errors are those of `cov`. The parts of the result are from -1 to 1; NaN for a variable that is constant.

    >>> flex.corrcoef(flex.asarray([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]])).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    c = cov(x, y, rowvar, dtype=dtype)
    if c.ndim == 0:
        return c / c
    size = fx.sqrt(fx.real(fx.diag(c)))
    c = c / size[:, None] / size[None, :]
    if not fx.isdtype(c.dtype, "complex floating"):
        return fx.clip(c, -1, 1)
    parts = (fx.clip(part(c), -1, 1) for part in (fx.real, fx.imag))
    re, im = parts
    return re + im * 1j


def nanprod(
    a: _Nested,
    axis: _Shape | None = None,
    *,
    dtype: _DType | None = None,
    keepdims: bool = False,
) -> Tensor:
    """The product of elements that are not NaN; of none it is 1. Arguments, dtypes and errors are those of `prod`.

    >>> flex.nanprod(flex.asarray([2.0, flex.nan, 3.0])).item()
    6.0
    """
    a = tensor(a)
    if not is_whole(a.dtype):
        a = fx.where(fx.isnan(a), 1.0, a)
    return fx.prod(a, axis, dtype=dtype, keepdims=keepdims)


def _nanarg(op: str, a: Any, axis: Any, keepdims: bool, find: Any, worst: float) -> Tensor:
    a = tensor(a)
    if not is_whole(a.dtype):
        missing = fx.isnan(a)
        if fx.any(fx.all(missing, axis)).item():
            raise ValueError(f"{op}: all elements of a line are NaN")
        a = fx.where(missing, worst, a)
    found: Tensor = find(a, axis=axis, keepdims=keepdims)
    return found


def nanargmax(a: _Nested, axis: int | None = None, *, keepdims: bool = False) -> Tensor:
    """The position of the largest element that is not NaN. Arguments, dtypes and errors are those of `argmax`; ValueError if all elements
    of a line are NaN.

    >>> flex.nanargmax(flex.asarray([1.0, flex.nan, 3.0])).item()
    2
    """
    return _nanarg("nanargmax", a, axis, keepdims, fx.argmax, -fx.inf)


def nanargmin(a: _Nested, axis: int | None = None, *, keepdims: bool = False) -> Tensor:
    """The position of the smallest element that is not NaN. Arguments, dtypes and errors are those of `argmin`; ValueError if all elements
    of a line are NaN.

    >>> flex.nanargmin(flex.asarray([1.0, flex.nan, 3.0])).item()
    0
    """
    return _nanarg("nanargmin", a, axis, keepdims, fx.argmin, fx.inf)


def var_mean(
    x: _Nested,
    axis: _Shape | None = None,
    *,
    correction: float = 1.0,
    keepdims: bool = False,
) -> tuple[Tensor, Tensor]:
    """The variances and the means of elements. The correction is by default torch's, 1; other arguments, dtypes and errors are
    those of `var`.

    >>> [t.item() for t in flex.var_mean(flex.asarray([1.0, 2.0, 3.0]))]
    [1.0, 2.0]
    """
    x = tensor(x)
    variance = fx.var(x, axis, correction=correction, keepdims=keepdims)
    return variance, fx.mean(x, axis, keepdims=keepdims)


def std_mean(
    x: _Nested,
    axis: _Shape | None = None,
    *,
    correction: float = 1.0,
    keepdims: bool = False,
) -> tuple[Tensor, Tensor]:
    """The standard deviations and the means of elements. The correction is by default torch's, 1; other arguments, dtypes and errors
    are those of `std`.

    >>> [t.item() for t in flex.std_mean(flex.asarray([1.0, 2.0, 3.0]))]
    [1.0, 2.0]
    """
    variance, mean = var_mean(x, axis, correction=correction, keepdims=keepdims)
    return fx.sqrt(variance), mean


def aminmax(x: _Nested, *, axis: int | None = None, keepdims: bool = False) -> AMinMaxResult:
    """The smallest and the largest element, as the named tuple `min`, `max`. Arguments and errors are those of `max`.

    >>> low, high = flex.aminmax(flex.asarray([2, 9, 4]))
    >>> low.item(), high.item()
    (2, 9)
    """
    from flex._results import AMinMaxResult

    x = tensor(x)
    if axis is not None:
        axis = axis_of("aminmax", axis, x.ndim)
    return AMinMaxResult(fx.min(x, axis, keepdims=keepdims), fx.max(x, axis, keepdims=keepdims))


def renorm(x: _Nested, p: float, axis: int, maxnorm: float) -> Tensor:
    """`x` with the slices along an axis whose p-norm exceeds maxnorm scaled down to it; the others as they are.

    p: above 0 (ValueError). maxnorm: not negative (ValueError). The result has the dtype of x; integers become float32. AxisError.

    >>> flex.renorm(flex.asarray([[3.0, 4.0], [0.0, 1.0]]), 2, 0, 2.5).tolist()
    [[1.5, 2.0], [0.0, 1.0]]
    """
    x = inexact(x)
    axis = axis_of("renorm", axis, x.ndim)
    if not p > 0:
        raise ValueError(f"renorm: p is {p}; it must be above 0")
    if not maxnorm >= 0:
        raise ValueError(f"renorm: maxnorm is {maxnorm}; it must not be negative")
    others = tuple(k for k in range(x.ndim) if k != axis)
    wide = x.astype(fx.float32) if x.dtype.itemsize == 2 else x
    norms = fx.abs(wide)
    if others:
        norms = fx._linalg.vector_norm(wide, axis=others, keepdims=True, ord=p)
    factor = fx.where(norms > maxnorm, maxnorm / norms, 1.0)
    return (wide * factor).astype(x.dtype)
