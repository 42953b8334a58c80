"""Methods of `flex.random.Generator` that are compositions of its others: each result is computed in float64 from a single draw, so that
element i depends on the state and on i alone, and rounded once."""

from __future__ import annotations

import warnings
from math import pi
from typing import TYPE_CHECKING, Any, Literal

from flex import _flex as fx
from flex._functions._common import exact, shape_of

if TYPE_CHECKING:
    from flex._flex import Tensor, _DType, _Operand, _Shape
    from flex.random import Generator


def _parameter(op: str, name: str, x: Any) -> Tensor:
    try:
        x = exact(x)
    except TypeError as error:
        raise TypeError(f"{op}: {name}: {error}") from None
    if fx.isdtype(x.dtype, "complex floating"):
        raise fx.DTypeError(f"{op}: {name} is complex; it must be real")
    return x.astype(fx.float64)


def _require(op: str, name: str, x: Tensor, valid: Tensor, what: str) -> None:
    if not fx.all(valid):
        wrong = x[~valid][0].item()
        shown = "NaN" if wrong != wrong else f"{wrong:g}"
        raise ValueError(f"{op}: {name} is {shown}; it must {what}")


def _positive(op: str, **parameters: Any) -> list[Tensor]:
    found = []
    for name, x in parameters.items():
        x = _parameter(op, name, x)
        _require(op, name, x, (x > 0) & fx.isfinite(x), "be positive and finite")
        found.append(x)
    return found


def _result(op: str, size: Any, dtype: Any, *parameters: Tensor) -> tuple[tuple[int, ...], Any]:
    """The shape and the dtype of the result."""
    shapes = [x.shape for x in parameters]
    wanted = None if size is None else shape_of(op, "size", size)
    try:
        shape = fx.broadcast_shapes(*shapes) if wanted is None else wanted
        if fx.broadcast_shapes(shape, *shapes) != shape:
            raise fx.ShapeError
    except fx.ShapeError:
        given = " and ".join(str(list(s)) for s in shapes)
        target = "together" if wanted is None else f"to the shape {list(wanted)}"
        message = f"{op}: parameters of shape {given} do not broadcast {target}"
        raise fx.ShapeError(message) from None
    try:
        dtype = fx.get_default_dtype() if dtype is None else fx.empty(0, dtype=dtype).dtype
    except TypeError as error:
        raise TypeError(f"{op}: {str(error).removeprefix('empty: ')}") from None
    if dtype not in (fx.float16, fx.bfloat16, fx.float32, fx.float64):
        raise fx.DTypeError(f"{op}: not defined for {dtype}")
    return shape, dtype


def f(
    self: Generator,
    dfnum: _Operand,
    dfden: _Operand,
    size: _Shape | None = None,
    *,
    dtype: _DType | None = None,
) -> Tensor:
    """Floats of the F distribution: the ratio of two chi-square variables, each divided by its degrees of freedom, which must be positive
    (ValueError).

    >>> flex.random.default_rng(7).f(3, 8, size=2).shape
    (2,)
    """
    above, below = _positive("f", dfnum=dfnum, dfden=dfden)
    shape, dtype = _result("f", size, dtype, above, below)
    halves = fx.stack(fx.broadcast_arrays(above, below), axis=-1) / 2
    pair = self.standard_gamma(halves, (*shape, 2), fx.float64)
    return (pair[..., 0] * below / (pair[..., 1] * above)).astype(dtype)


def logseries(self: Generator, p: _Operand, size: _Shape | None = None) -> Tensor:
    """Integers of the logarithmic series distribution, int64: k from 1 on with a probability in proportion to `p**k / k`. p must be from 0
    to 1, which is left out (ValueError). Kemp's algorithm LS (1981).

    >>> flex.random.default_rng(7).logseries(0.0, size=3).tolist()
    [1, 1, 1]
    """
    p = _parameter("logseries", "p", p)
    _require("logseries", "p", p, (p >= 0) & (p < 1), "be from 0 to 1, which is left out")
    shape, _ = _result("logseries", size, None, p)
    pair = self.standard_exponential((*shape, 2), fx.float64)
    power = fx.log1p(-p) * fx.exp(-pair[..., 1])
    # the logarithm of 1 - exp(power)
    rate = fx.where(power > -0.7, fx.log(-fx.expm1(power)), fx.log1p(-fx.exp(power)))
    return fx.floor(1 - pair[..., 0] / rate).astype(fx.int64)


def multivariate_normal(
    self: Generator,
    mean: _Operand,
    cov: _Operand,
    size: _Shape | None = None,
    check_valid: Literal["raise", "warn", "ignore"] = "raise",
    tol: float = 1e-8,
    *,
    method: Literal["cholesky", "eigh", "svd"] = "cholesky",
    dtype: _DType | None = None,
) -> Tensor:
    """Normally distributed vectors, `[*size, n]`, of a mean `[n]` and a covariance `[n, n]` (ShapeError), which must be symmetric without
    negative eigenvalues.

    check_valid: whether a covariance that is not raises a ValueError, the default, a RuntimeWarning, or nothing. tol: how far elements and
    eigenvalues may be off; Cholesky's factor has its own, the rounding of the dtype, unless the check is left out. method: how the
    covariance is factored; "cholesky" then needs positive eigenvalues (LinAlgError). ValueError for another method or check.

    >>> rng = flex.random.default_rng(7)
    >>> rng.multivariate_normal(flex.ones(2), flex.eye(2), size=5).shape
    (5, 2)
    >>> rng.multivariate_normal([0.0, 0.0], [[1.0, 1.0], [1.0, 1.0]], 3, method="eigh").shape
    (3, 2)
    """
    op = "multivariate_normal"
    if check_valid not in ("raise", "warn", "ignore"):
        raise ValueError(f"{op}: check_valid is {check_valid!r}; it is 'raise', 'warn' or 'ignore'")
    if method not in ("cholesky", "eigh", "svd"):
        raise ValueError(f"{op}: method is {method!r}; it is 'cholesky', 'eigh' or 'svd'")
    if method == "cholesky" and check_valid == "raise":
        drawn: Tensor = self._multivariate_normal(mean, cov, size, dtype=dtype)  # type: ignore[attr-defined]
        return drawn
    shape, dtype = _result(op, () if size is None else size, dtype)
    mean, cov = _parameter(op, "mean", mean), _parameter(op, "cov", cov)
    if mean.ndim != 1 or cov.shape != 2 * mean.shape:
        shapes = f"{list(mean.shape)} and {list(cov.shape)}"
        raise fx.ShapeError(f"{op}: mean is [n] and cov [n, n], got shapes {shapes}")
    _require(op, "cov", cov, fx.isfinite(cov), "be finite")
    if check_valid != "ignore":
        own: Any = fx._linalg
        symmetric = fx.allclose(cov, cov.T, rtol=tol, atol=tol)
        if not symmetric or fx.any(own.eigvalsh(cov) < -tol):
            message = f"{op}: cov must be symmetric, with eigenvalues that are not negative"
            if check_valid == "raise":
                raise ValueError(message)
            warnings.warn(message, RuntimeWarning, stacklevel=3)
    normal = self.standard_normal((*shape, *mean.shape), fx.float64)
    return (mean + normal @ _factor(cov, method).T).astype(dtype)


def _factor(cov: Tensor, method: str) -> Tensor:
    """A matrix whose product with its transpose is the covariance."""
    own: Any = fx._linalg
    if method == "cholesky":
        factor: Tensor = own.cholesky(cov)
        return factor
    values, vectors = own.eigh(cov) if method == "eigh" else own.svd(cov)[1::-1]
    scaled: Tensor = vectors * fx.sqrt(fx.abs(values))
    return scaled


def pareto(
    self: Generator, a: _Operand, size: _Shape | None = None, *, dtype: _DType | None = None
) -> Tensor:
    """Floats of the Pareto II or Lomax distribution of shape a, from 0 on, which must be positive (ValueError). One more is Pareto's own
    distribution, with its mode at 1.

    >>> flex.random.default_rng(7).pareto(3, size=2).shape
    (2,)
    """
    (a,) = _positive("pareto", a=a)
    shape, dtype = _result("pareto", size, dtype, a)
    return fx.expm1(self.standard_exponential(shape, fx.float64) / a).astype(dtype)


def power(
    self: Generator, a: _Operand, size: _Shape | None = None, *, dtype: _DType | None = None
) -> Tensor:
    """Floats from 0 to 1 of density `a x**(a - 1)`. a must be positive (ValueError).

    >>> flex.random.default_rng(7).power(3, size=2).shape
    (2,)
    """
    (a,) = _positive("power", a=a)
    shape, dtype = _result("power", size, dtype, a)
    uniform = -fx.expm1(-self.standard_exponential(shape, fx.float64))
    return fx.pow(uniform, 1 / a).astype(dtype)


def rayleigh(
    self: Generator,
    scale: _Operand = 1.0,
    size: _Shape | None = None,
    *,
    dtype: _DType | None = None,
) -> Tensor:
    """Floats of the Rayleigh distribution, the length of two normal variables of this standard deviation, which must not be negative
    (ValueError).

    >>> flex.random.default_rng(7).rayleigh(0.0, size=2).tolist()
    [0.0, 0.0]
    """
    scale = _parameter("rayleigh", "scale", scale)
    _require("rayleigh", "scale", scale, scale >= 0, "not be negative")
    shape, dtype = _result("rayleigh", size, dtype, scale)
    return (scale * fx.sqrt(2 * self.standard_exponential(shape, fx.float64))).astype(dtype)


def standard_cauchy(
    self: Generator, size: _Shape | None = None, dtype: _DType | None = None
) -> Tensor:
    """Floats of the Cauchy distribution of mode 0: the ratio of two normal variables.

    >>> flex.random.default_rng(7).standard_cauchy((2, 3)).shape
    (2, 3)
    """
    shape, dtype = _result("standard_cauchy", size, dtype)
    pair = self.standard_normal((*shape, 2), fx.float64)
    return (pair[..., 0] / pair[..., 1]).astype(dtype)


def standard_t(
    self: Generator, df: _Operand, size: _Shape | None = None, *, dtype: _DType | None = None
) -> Tensor:
    """Floats of Student's t distribution with df degrees of freedom, which must be positive (ValueError). By Bailey's polar method (1994),
    with an angle in place of the rejection.

    >>> flex.random.default_rng(7).standard_t(3, size=2).shape
    (2,)
    """
    (df,) = _positive("standard_t", df=df)
    shape, dtype = _result("standard_t", size, dtype, df)
    pair = self.standard_exponential((*shape, 2), fx.float64)
    radius = fx.sqrt(df * fx.expm1(2 / df * pair[..., 0]))
    return (radius * fx.cos(2 * pi * fx.exp(-pair[..., 1]))).astype(dtype)


def triangular(
    self: Generator,
    left: _Operand,
    mode: _Operand,
    right: _Operand,
    size: _Shape | None = None,
    *,
    dtype: _DType | None = None,
) -> Tensor:
    """Floats from left to right, whose density rises to that at the mode and falls from there. ValueError unless left <= mode <= right and
    left < right.

    >>> x = flex.random.default_rng(7).triangular(-1, 0, 3, size=1000)
    >>> ((x >= -1) & (x <= 3)).all().item()
    True
    """
    names = {"left": left, "mode": mode, "right": right}
    left, mode, right = (_parameter("triangular", name, x) for name, x in names.items())
    shape, dtype = _result("triangular", size, dtype, left, mode, right)
    if not fx.all((left <= mode) & (mode <= right) & (left < right) & fx.isfinite(right - left)):
        raise ValueError(
            "triangular: left <= mode <= right and left < right must hold, and all be finite"
        )
    u, width = self.random(shape, fx.float64), right - left
    rising = left + fx.sqrt(u * ((mode - left) * width))
    falling = right - fx.sqrt((1 - u) * ((right - mode) * width))
    return fx.where(u * width <= mode - left, rising, falling).astype(dtype)


def wald(
    self: Generator,
    mean: _Operand,
    scale: _Operand,
    size: _Shape | None = None,
    *,
    dtype: _DType | None = None,
) -> Tensor:
    """Floats of the Wald or inverse Gaussian distribution of this mean and scale, which must be positive (ValueError). By the method of
    Michael, Schucany and Haas (1976), with the square of a normal variable from two others.

    >>> flex.random.default_rng(7).wald(3, 2, size=2).shape
    (2,)
    """
    mean, scale = _positive("wald", mean=mean, scale=scale)
    shape, dtype = _result("wald", size, dtype, mean, scale)
    drawn = self.standard_exponential((*shape, 3), fx.float64)
    square = 2 * drawn[..., 0] * fx.square(fx.cos(2 * pi * fx.exp(-drawn[..., 1])))
    w = square * mean / (2 * scale)
    # the smaller of two numbers whose product is 1, or the other
    ratio = 1 / (1 + w + fx.sqrt(w * (w + 2)))
    smaller = fx.exp(-drawn[..., 2]) * (1 + ratio) <= 1
    return (mean * fx.where(smaller, ratio, 1 / ratio)).astype(dtype)


def weibull(
    self: Generator, a: _Operand, size: _Shape | None = None, *, dtype: _DType | None = None
) -> Tensor:
    """Floats of the Weibull distribution of shape a and scale 1. a must not be negative (ValueError).

    >>> flex.random.default_rng(7).weibull(0.0, size=2).tolist()
    [0.0, 0.0]
    """
    a = _parameter("weibull", "a", a)
    _require("weibull", "a", a, a >= 0, "not be negative")
    shape, dtype = _result("weibull", size, dtype, a)
    drawn = fx.pow(self.standard_exponential(shape, fx.float64), 1 / a)
    return fx.where(a == 0, 0.0, drawn).astype(dtype)
