# mypy: allow-redefinition
"""Polynomials as vectors of coefficients, that of the highest power first."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, Literal

from flex import _flex as fx
from flex._functions._common import double, exact, inexact, together, vector
from flex._functions.building import vander

if TYPE_CHECKING:
    from flex._flex import Tensor, _Nested


def polyval(p: _Nested, x: _Nested) -> Tensor:
    """The polynomial of coefficients p, that of the highest power first, at x.

    The result has the shape of x and the common dtype. ShapeError if p has other than one dimension.

    >>> flex.polyval([1, 0, -1], flex.asarray([2, 3])).tolist()
    [3, 8]
    """
    p, x = together("polyval", p, x)
    p = vector("polyval", "p", p)
    dtype = fx.result_type(p, x)
    x = x.astype(dtype)
    y = fx.zeros_like(x)
    for coefficient in fx.unstack(p.astype(dtype)):
        y = y * x + coefficient
    return y


def polyfit(
    x: _Nested,
    y: _Nested,
    deg: int,
    rcond: float | None = None,
    full: bool = False,
    w: _Nested | None = None,
    cov: bool | Literal["unscaled"] = False,
) -> Any:
    """The coefficients of the polynomial of degree deg, that of the highest power first, that is closest to points: the squares of its
    distances from y at x have the least sum.

    y: one dimension, or two for several sets of points with the same x; then the coefficients are columns. rcond: below which part of the
    largest a singular value counts as zero, by default the number of points times the distance from 1 to the next float64. w: by which
    distances are multiplied before they are squared. full: then also the sums of squares, one for each set, the rank, the singular
    values, and rcond. cov: then also the covariance of the coefficients, `[deg + 1, deg + 1]`, with a last dimension for several sets:
    scaled by the variance of the distances, or "unscaled", one for all. Computed in float64; the results have the common dtype of x and
    y, integers becoming float32. ShapeError if the operands don't fit; ValueError for a negative degree, without points,
    and to scale the covariance if there are no more points than coefficients.

    >>> x = flex.asarray([0.0, 1.0, 2.0, 3.0])
    >>> flex.allclose(flex.polyfit(x, 2 * x + 1, 1), flex.asarray([2.0, 1.0]), atol=1e-6)
    True
    """
    deg = operator.index(deg)
    x, y = vector("polyfit", "x", exact(x)), exact(y)
    if deg < 0 or x.size == 0:
        raise ValueError(
            f"polyfit: degree {deg} for {x.size} points; the degree is not negative, and there are points"
        )
    if y.ndim not in (1, 2) or y.shape[0] != x.size:
        raise fx.ShapeError(f"polyfit: y has shape {list(y.shape)}, x has {x.size} points")
    dtype = fx.result_type(inexact(x), inexact(y))
    powers = vander(x.astype(double(x.dtype)), deg + 1)
    sides = y.astype(double(y.dtype))
    if w is not None:
        w = vector("polyfit", "w", exact(w)).astype(fx.float64)
        if w.shape != x.shape:
            raise fx.ShapeError(f"polyfit: w has {w.size} weights for {x.size} points")
        powers = powers * w[:, None]
        sides = sides * (w if y.ndim == 1 else w[:, None])
    # columns of length 1, which are conditioned better
    size = fx.sqrt(fx.sum(fx.abs(powers) ** 2, axis=0))
    size = fx.where(size == 0, 1.0, size)
    cut = x.size * fx.finfo(fx.float64).eps if rcond is None else rcond
    scaled = powers / size
    found, residuals, rank, values = fx._linalg.lstsq(scaled, sides, rcond=cut)
    residuals = fx.atleast_1d(residuals)
    found = (found / (size if y.ndim == 1 else size[:, None])).astype(dtype)
    real = fx.real(found).dtype
    if full:
        return found, residuals.astype(real), rank, values.astype(real), cut
    if not cov:
        return found
    inverse = fx._linalg.inv(fx.matmul(fx.conj(scaled).T, scaled)) / fx.outer(size, size)
    factor: Any = 1.0
    if cov != "unscaled":
        free = x.size - deg - 1
        if free <= 0:
            raise ValueError(
                f"polyfit: {x.size} points for {deg + 1} coefficients; to scale the covariance there must be more"
            )
        factor = residuals / free
    inverse = (inverse if y.ndim == 1 else inverse[:, :, None]) * factor
    return found, inverse.astype(dtype if fx.isdtype(inverse.dtype, "complex floating") else real)


def roots(p: _Nested) -> Tensor:
    """The roots of the polynomial of coefficients p, that of the highest power first: the eigenvalues of its companion matrix; complex128.

    ShapeError if p has other than one dimension.

    >>> flex.sort(flex.real(flex.roots([1.0, -3.0, 2.0]))).tolist()
    [1.0, 2.0]
    """
    p = vector("roots", "p", exact(p))
    p = p.astype(double(p.dtype))
    at = fx.nonzero(p)[0].tolist()
    if not at:
        return fx.zeros(0, dtype=fx.complex128)
    zeros = fx.zeros(p.size - 1 - at[-1], dtype=fx.complex128)
    p = p[at[0] : at[-1] + 1]
    n = p.size - 1
    if n == 0:
        return zeros
    below = fx.eye(n - 1, n, dtype=p.dtype)
    companion = fx.concat([fx.expand_dims(-p[1:] / p[0], axis=0), below])
    return fx.concat([fx._linalg.eigvals(companion), zeros])


def angle(z: _Nested, deg: bool = False) -> Tensor:
    """The angle of complex numbers, in radians from -pi to pi, or with `deg` in degrees; 0 or pi for real ones. Integers become float32.

    >>> flex.angle(flex.asarray([1.0, 1j, -1.0]), deg=True).tolist()
    [0.0, 90.0, 180.0]
    """
    z = inexact(z)
    is_complex = fx.isdtype(z.dtype, "complex floating")
    found = fx.atan2(fx.imag(z), fx.real(z)) if is_complex else fx.atan2(fx.zeros_like(z), z)
    factor: Any = 180 / fx.pi
    return found * factor if deg else found
