# mypy: allow-redefinition
"""Special functions that are compositions of others, computed in float64 and rounded once."""

from __future__ import annotations

from math import e, factorial, lgamma, log, pi, sqrt
from typing import TYPE_CHECKING, Any

from flex import _flex as fx
from flex._functions._common import index
from flex._functions.elementwise import _floats

if TYPE_CHECKING:
    from flex._flex import Tensor, _Nested

# B(2k) / (2k (2k - 1)): the terms of Stirling's series of the logarithm of the gamma function, from x^-1 on
_STIRLING = (
    1 / 12,
    -1 / 360,
    1 / 1260,
    -1 / 1680,
    1 / 1188,
    -691 / 360360,
    1 / 156,
    -3617 / 122400,
)
# B(2k) / (2k)!: the terms of the formula of Euler and Maclaurin
_EULER = (
    1 / 12,
    -1 / 720,
    1 / 30240,
    -1 / 1209600,
    1 / 47900160,
    -691 / 1307674368000,
    1 / 74724249600,
    -3617 / 10670622842880000,
    43867 / 5109094217170944000,
    -174611 / 802857662698291200000,
)
# Where the asymptotic series of erfc has all digits, and its terms (-1)^k (2k - 1)!! / 2^k
_FAR = 1e-30
_ERFC: list[float] = [1.0]
for _k in range(1, 16):
    _ERFC.append(-_ERFC[-1] * (2 * _k - 1) / 2)


def _of_doubles(op: str, f: Any, *xs: Any) -> Tensor:
    """`f` of the operands as float64, rounded to their common dtype."""
    operands = _floats(op, *xs)
    result: Tensor = f(*(x.astype(fx.float64) for x in operands))
    return result.astype(operands[0].dtype)


def _series(terms: Any, x: Any) -> Any:
    total = terms[-1]
    for term in terms[-2::-1]:
        total = total * x + term
    return total


def _rest(x: Any) -> Any:
    """The logarithm of the gamma function of x, 10 or more, less Stirling's formula."""
    return _series(_STIRLING, 1 / (x * x)) / x


@fx.fuse
def _betaln(a: Any, b: Any) -> Any:
    # Didonato and Morris, Algorithm 708 (1992): the large parts of Stirling's formula cancel on paper
    low, high = fx.minimum(a, b), fx.maximum(a, b)
    big, small = fx.maximum(high, 10.0), fx.clip(low, 0.0, 10.0)
    ratio = small / big
    one = fx.lgamma(small) + _rest(big) - _rest(big + small)
    one = one - (big + small - 0.5) * fx.log1p(ratio) - small * (fx.log(big) - 1)
    least = fx.maximum(low, 10.0)
    ratio = least / big
    both = _rest(least) + _rest(big) - _rest(least + big) + (log(2 * pi) / 2 - fx.log(big) / 2)
    both = both - (least - 0.5) * fx.log1p(1 / ratio) - big * fx.log1p(ratio)
    plain = fx.lgamma(low) + (fx.lgamma(high) - fx.lgamma(low + high))
    near = fx.where(low < 10, fx.where((high < 10) | (low < 0), plain, one), both)
    # beside infinity the function is -inf, beside 0 it is inf
    edge = fx.where(low == 0, fx.inf, -fx.inf)
    return fx.where((low >= 0) & (high == fx.inf) | (low == 0) & (high > 0), edge, near)


def betaln(a: _Nested, b: _Nested) -> Tensor:
    """The logarithm of the magnitude of the beta function, `lgamma(a) + lgamma(b) - lgamma(a + b)` without cancellation of large terms.

    a, b: broadcast (ShapeError). Computed in float64 and rounded to the common dtype; integers become float32. DTypeError for complex
    numbers.

    >>> round(flex.betaln(flex.asarray(2.0), 3.0).item(), 5)
    -2.48491
    """
    return _of_doubles("betaln", _betaln, a, b)


def _guessed(x: Any) -> Any:
    """The inverse for small x, to 3e-4 (Abramowitz and Stegun, 26.2.23)."""
    t = fx.sqrt(-2 * fx.log(x / 2))
    return sqrt(0.5) * (t - (2.30753 + t * 0.27061) / (1 + t * (0.99229 + t * 0.04481)))


@fx.fuse
def _near(x: Any) -> Any:
    small = fx.clip(x, _FAR, 0.5)
    y = _guessed(small)
    for _ in range(2):
        # Halley's method for erfc(y) = x
        error = (fx.erfc(y) - small) / (2 / sqrt(pi) * fx.exp(-y * y))
        y = y + error / (1 - y * error)
    result = fx.where(x < 0.5, y, fx.erfinv(1 - x))
    return fx.where(x == 0, fx.inf, fx.where(x < 0, fx.nan, result))


@fx.fuse
def _far(x: Any) -> Any:
    tiny = fx.clip(x, 5e-324, _FAR)
    logarithm = fx.log(tiny)
    y = sqrt(0.5) * fx.sqrt(-2 * logarithm)
    for _ in range(4):
        # Newton's method for the logarithm of the asymptotic series
        slope = 2 * y + 1 / y
        y = y - (y * y + fx.log(y * sqrt(pi) / _series(_ERFC, 1 / (y * y))) + logarithm) / slope
    return y


def _erfcinv(x: Tensor) -> Tensor:
    result: Tensor = _near(x)
    far = (x > 0) & (x < _FAR)
    return fx.where(far, _far(x), result) if fx.any(far) else result


def erfcinv(x: _Nested) -> Tensor:
    """The inverse of the complementary error function: inf at 0, -inf at 2, NaN beyond. Near 0 it has the digits that
    `erfinv(1 - x)` lacks.

    Computed in float64 and rounded to the dtype of x; integers become float32. DTypeError for complex numbers.

    >>> round(flex.erfcinv(flex.asarray(1e-20)).item(), 4)
    6.6016
    """
    return _of_doubles("erfcinv", _erfcinv, x)


# The terms from 2**-x to 13**-x: primes, and products of those before
_PRIMES = (2, 3, 5, 7, 11, 13)
_PRODUCTS = {4: (2, 2), 6: (2, 3), 8: (2, 4), 9: (3, 3), 10: (2, 5), 12: (3, 4)}


def _riemann_sums(x: Any) -> Any:
    """`_sums(x, 1)`. Beside 1, the first term, errors of the exponents' last places are small."""
    powers = {k: fx.exp2(-x) if k == 2 else fx.exp(x * -log(k)) for k in _PRIMES}
    for k in range(4, 13):
        if k in _PRODUCTS:
            a, b = _PRODUCTS[k]
            powers[k] = powers[a] * powers[b]
    total = powers[12]
    for k in range(11, 1, -1):
        total = total + powers[k]
    return _with_rest(x, 1.0 + total, 13.0, powers[13])


def _sums(x: Any, q: Any) -> Any:
    """By Euler and Maclaurin: twelve terms, and the sum of the rest, which continues the function to x below 1."""
    total = fx.pow(q, -x)
    for k in range(1, 12):
        total = total + fx.pow(q + k, -x)
    far = q + 12
    return _with_rest(x, total, far, fx.pow(far, -x))


def _with_rest(x: Any, total: Any, far: Any, last: Any) -> Any:
    """The sum of the first terms and that of the rest, of which `last`, of the number `far`, is the first."""
    factor = x / far
    rest = _EULER[0] * factor
    for k, term in enumerate(_EULER[1:]):
        factor = factor * ((x + (2 * k + 1)) * (x + (2 * k + 2)) / (far * far))
        rest = rest + term * factor
    # beyond, `rest` may be a product of 0 and infinity, and only the first term counts
    tail = fx.where(last == 0, 0.0, last * (far / (x - 1) + 0.5 + rest))
    return fx.where(fx.isinf(total), total, total + tail)


@fx.fuse
def _ndtr(x: Any) -> Any:
    return fx.erfc(x * -sqrt(0.5)) / 2


def ndtr(x: _Nested) -> Tensor:
    """The distribution function of the standard normal distribution: the probability of values up to x.

    Computed in float64 and rounded to the dtype of x; integers become float32. DTypeError for complex numbers.

    >>> flex.ndtr(flex.asarray([0.0, flex.inf])).tolist()
    [0.5, 1.0]
    """
    return _of_doubles("ndtr", _ndtr, x)


def ndtri(y: _Nested) -> Tensor:
    """The quantiles of the standard normal distribution, the inverse of `ndtr`: -inf at 0, inf at 1, NaN beyond. Dtypes and errors are
    those of `ndtr`.

    >>> flex.ndtri(flex.asarray(0.5)).item()
    0.0
    """
    return _of_doubles("ndtri", lambda y: 0.0 - _erfcinv(2 * y) * sqrt(2), y)  # 0, not -0


@fx.fuse
def _zeta(x: Any, q: Any) -> Any:
    nowhere = fx.isnan(x) | (x < 1) | (q < 0) & (q != fx.floor(q))
    defined = fx.where(nowhere, fx.nan, _sums(x, q))
    return fx.where((x == 1) | (x > 1) & (q <= 0) & (q == fx.floor(q)), fx.inf, defined)


@fx.fuse
def _direct(x: Any) -> Any:
    return fx.where(x == 1, fx.inf, _riemann_sums(x))


@fx.fuse
def _reflected(x: Any) -> Any:
    # Riemann's equation of x and 1 - x, except where zeta(1 - x) is nearly infinite
    mirrored = x < -0.125
    y = fx.where(mirrored, 1 - x, x)
    value = _riemann_sums(y)
    big, small = fx.maximum(y, 10.0), fx.clip(y, 1.0, 10.0)
    # gamma(y) / (2 pi)**y, by Stirling's formula for large y, where gamma(y) may be infinite
    stirling = fx.sqrt(2 * pi / big) * fx.pow(big / (2 * pi * e), big) * fx.exp(_rest(big))
    gamma = fx.where(y < 10, fx.exp(fx.lgamma(small) - small * log(2 * pi)), stirling)
    # sin(pi x / 2), which is 0 at even x
    even = fx.round(x / 2)
    sine = fx.sin((x - 2 * even) * (pi / 2)) * (1 - 2 * fx.remainder(even, 2.0))
    reflected = fx.where(sine == 0, 0.0, 2 * sine * gamma * value)
    return fx.where(y == 1, fx.inf, fx.where(mirrored, reflected, value))


def _riemann(x: Tensor) -> Tensor:
    result: Tensor = (_reflected if fx.any(x < -0.125) else _direct)(x)
    return result


def zeta(x: _Nested, q: _Nested | None = None) -> Tensor:
    """Riemann's zeta function, or with q Hurwitz's: the sum of `(q + k) ** -x` over the integers k from 0 on.

    x, q: broadcast (ShapeError). inf for x = 1, and where q is 0 or a negative integer; NaN for other negative q, and with q for x below
    1, where Riemann's function is that of all real numbers. Computed in float64 and rounded to the common dtype; integers become
    float32. DTypeError for complex numbers.

    >>> flex.zeta(flex.asarray(2.0)).item() == flex.asarray(flex.pi**2 / 6).item()
    True
    >>> flex.zeta(flex.asarray([0.0, -2.0])).tolist()
    [-0.5, 0.0]
    """
    return _of_doubles("zeta", _riemann, x) if q is None else _of_doubles("zeta", _zeta, x, q)


def polygamma(n: int, x: _Nested) -> Tensor:
    """The n-th derivative of `digamma`: for n above 0, `(-1)**(n + 1) * n! * zeta(n + 1, x)`.

    n: an integer, 0 or more (ValueError). x: inf at 0 and at negative integers, with the sign of the formula; NaN at other negative
    numbers for n above 0. Computed in float64 and rounded to the dtype of x; integers become float32. DTypeError for complex numbers.

    >>> flex.polygamma(1, flex.asarray(1.0)).item() == flex.asarray(flex.pi**2 / 6).item()
    True
    """
    n = index("polygamma", "n", n)
    if n < 0:
        raise ValueError(f"polygamma: n is {n}; it must not be negative")
    if n >> 53:
        raise ValueError("polygamma: n is 2**53 or more, beyond the integers of float64")
    if n == 0:
        return fx.digamma(_floats("polygamma", x)[0])
    sign = 1.0 if n % 2 else -1.0

    def derivative(x: Tensor) -> Tensor:
        value: Tensor = _zeta(fx.asarray(n + 1.0, dtype=fx.float64), x)
        if n <= 170:
            return sign * float(factorial(n)) * value
        return sign * fx.exp(lgamma(n + 1) + fx.log(value))  # no float is the factorial

    return _of_doubles("polygamma", derivative, x)
