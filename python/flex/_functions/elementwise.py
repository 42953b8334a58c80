# mypy: allow-redefinition
"""Elementwise functions that are compositions of others. Those of several steps are fused: one pass over memory."""

from __future__ import annotations

from math import pi
from typing import TYPE_CHECKING, Any

from flex import _flex as fx
from flex._functions._common import exact, inexact, is_whole, tensor, together

if TYPE_CHECKING:
    from flex._flex import DType, Tensor, _Nested


def _floats(op: str, *xs: Any) -> list[Tensor]:
    """The operands as floats of their common dtype; no complex numbers."""
    tensors = together(op, *xs)
    dtype = inexact(fx.empty((), dtype=fx.result_type(*tensors))).dtype
    if fx.isdtype(dtype, "complex floating"):
        raise fx.DTypeError(f"{op}: not defined for complex numbers, got {dtype}")
    return [x.astype(dtype) for x in tensors]


def _computed(f: Any, *tensors: Tensor) -> Tensor:
    """`f` of floats; 16-bit ones are computed in float32 and rounded once."""
    dtype = tensors[0].dtype
    if dtype.itemsize > 2:
        result: Tensor = f(*tensors)
        return result
    wide: Tensor = f(*(x.astype(fx.float32) for x in tensors))
    return wide if wide.dtype == fx.bool else wide.astype(dtype)


@fx.fuse
def _isposinf(x: Any) -> Any:
    return fx.isinf(x) & (x > 0)


@fx.fuse
def _isneginf(x: Any) -> Any:
    return fx.isinf(x) & (x < 0)


def isposinf(x: _Nested) -> Tensor:
    """Whether each element is positive infinity; bool. DTypeError for complex numbers.

    >>> flex.isposinf(flex.asarray([flex.inf, -flex.inf, 0.0])).tolist()
    [True, False, False]
    """
    return _computed(_isposinf, *_floats("isposinf", x))


def isneginf(x: _Nested) -> Tensor:
    """Whether each element is negative infinity; bool. DTypeError for complex numbers.

    >>> flex.isneginf(flex.asarray([flex.inf, -flex.inf, 0.0])).tolist()
    [False, True, False]
    """
    return _computed(_isneginf, *_floats("isneginf", x))


@fx.fuse
def _heaviside(x: Any, y: Any) -> Any:
    step = fx.where(x > 0, 1.0, fx.where(x < 0, 0.0, x))
    return fx.where(x == 0, y, step)


def heaviside(x1: _Nested, x2: _Nested) -> Tensor:
    """0 where x1 is negative, x2 where it is 0, 1 where it is positive, NaN where it is NaN.

    x1, x2: broadcast (ShapeError). The result has the common dtype; integers become float32. DTypeError for complex numbers.

    >>> flex.heaviside(flex.asarray([-1.5, 0.0, 2.0]), 0.5).tolist()
    [0.0, 0.5, 1.0]
    """
    return _computed(_heaviside, *_floats("heaviside", x1, x2))


@fx.fuse
def _sinc(x: Any) -> Any:
    # the sine of the distance from the nearest integer, which is exact
    n = fx.round(x)
    y = fx.sin((x - n) * pi) / (x * pi)
    odd = n - 2 * fx.floor(n / 2)
    return fx.where(x == 0, 1.0, fx.where(fx.isinf(x), 0.0, fx.where(odd == 0, y, -y)))


@fx.fuse
def _complex_sinc(x: Any) -> Any:
    y = x * pi
    return fx.where(x == 0, 1.0, fx.sin(y) / y)


def sinc(x: _Nested) -> Tensor:
    """`sin(pi x) / (pi x)`, which is 1 at 0, and exactly 0 at other integers. Integers become float32.

    >>> flex.sinc(flex.asarray([0.0, 0.5])).tolist() == [1.0, flex.asarray(2 / flex.pi).item()]
    True
    """
    x = inexact(x)
    is_complex = fx.isdtype(x.dtype, "complex floating")
    return _computed(_complex_sinc if is_complex else _sinc, x)


@fx.fuse
def _cbrt(x: Any) -> Any:
    size = fx.abs(x)
    y = fx.pow(size, 1 / 3)
    # a step of Newton's method makes up for the exponent, which is rounded
    y = y - (y - size / (y * y)) / 3
    return fx.copysign(fx.where((size == 0) | fx.isinf(size), size, y), x)


def cbrt(x: _Nested) -> Tensor:
    """The cube root, negative for negative numbers. Integers become float32; DTypeError for complex numbers.

    >>> flex.cbrt(flex.asarray([8.0, -27.0])).tolist()
    [2.0, -3.0]
    """
    return _computed(_cbrt, *_floats("cbrt", x))


@fx.fuse
def _lerp(a: Any, b: Any, w: Any) -> Any:
    # from the nearer end, so that both ends are exact
    return fx.where(fx.abs(w) < 0.5, a + (b - a) * w, b - (b - a) * (1 - w))


def lerp(x1: _Nested, x2: _Nested, weight: _Nested) -> Tensor:
    """`x1 + weight * (x2 - x1)`: x1 for weight 0, x2 for weight 1.

    The operands broadcast (ShapeError). The result has the common dtype; integers become float32. DTypeError for complex numbers.

    >>> flex.lerp(flex.asarray([1.0, 2.0]), flex.asarray([3.0, 6.0]), 0.5).tolist()
    [2.0, 4.0]
    """
    return _computed(_lerp, *_floats("lerp", x1, x2, weight))


def deg2rad(x: _Nested) -> Tensor:
    """Degrees as radians. Integers become float32; DTypeError for complex numbers.

    >>> flex.deg2rad(flex.asarray(180.0)).item() == flex.asarray(flex.pi).item()
    True
    """
    return _floats("deg2rad", x)[0] * (pi / 180)


def rad2deg(x: _Nested) -> Tensor:
    """Radians as degrees. Integers become float32; DTypeError for complex numbers.

    >>> flex.rad2deg(flex.asarray(flex.pi)).item()
    180.0
    """
    return _floats("rad2deg", x)[0] * (180 / pi)


def _magnitudes(op: str, *xs: Any) -> tuple[DType, list[Tensor]]:
    """The common dtype, and the magnitudes as unsigned integers, which that of the smallest integer fits too."""
    found = together(op, *xs)
    dtype = fx.result_type(*found)
    if not fx.isdtype(dtype, "integral"):
        raise fx.DTypeError(f"{op}: defined for integers, not {dtype}")
    unsigned = _unsigned(dtype)
    return dtype, [fx.abs(t.astype(dtype)).astype(unsigned) for t in fx.broadcast_arrays(*found)]


def _unsigned(dtype: DType) -> DType:
    same: DType = getattr(fx, f"uint{8 * dtype.itemsize}")
    return same


def _gcd(a: Tensor, b: Tensor) -> Tensor:
    while True:  # Euclid: each second turn halves the larger
        rest = b == 0
        if fx.all(rest).item():
            return a
        divisor = fx.where(rest, 1, b)
        a, b = fx.where(rest, a, b), fx.where(rest, 0, fx.remainder(a, divisor))


def gcd(x1: _Nested, x2: _Nested) -> Tensor:
    """The greatest common divisor of magnitudes; that of 0 and x is |x|.

    x1, x2: integers that broadcast (ShapeError). The result has the common dtype (DTypeError if it is not one of integers).

    >>> flex.gcd(flex.asarray([12, 20]), 8).tolist()
    [4, 4]
    """
    dtype, (a, b) = _magnitudes("gcd", x1, x2)
    return _gcd(a, b).astype(dtype)


def lcm(x1: _Nested, x2: _Nested) -> Tensor:
    """The least common multiple of magnitudes; 0 if one is 0. What exceeds the dtype wraps. Arguments and errors are those of `gcd`.

    >>> flex.lcm(flex.asarray([4, 6]), 6).tolist()
    [12, 6]
    """
    dtype, (a, b) = _magnitudes("lcm", x1, x2)
    return (fx.floor_divide(a, fx.maximum(_gcd(a, b), 1)) * b).astype(dtype)


def bitwise_count(x: _Nested) -> Tensor:
    """The number of bits that are set in the magnitude of each integer; uint8. DTypeError for floats and complex numbers.

    >>> flex.bitwise_count(flex.asarray([0, 7, -8])).tolist()
    [0, 3, 1]
    """
    x = tensor(x)
    if not is_whole(x.dtype):
        raise fx.DTypeError(f"bitwise_count: defined for integers, not {x.dtype}")
    x = x.astype(fx.uint8) if x.dtype == fx.bool else x
    unsigned = _unsigned(x.dtype)
    bits = 8 * x.dtype.itemsize
    ones = (1 << bits) - 1
    x = fx.abs(x).astype(unsigned)
    # sums of pairs, of fours, of bytes, then of all bytes at the top
    x = x - ((x >> 1) & (ones // 3))
    x = (x & (ones // 5)) + ((x >> 2) & (ones // 5))
    x = (x + (x >> 4)) & (ones // 17)
    return ((x * (ones // 255)) >> (bits - 8)).astype(fx.uint8)


def float_power(x1: _Nested, x2: _Nested) -> Tensor:
    """x1 to the power of x2 in float64, or complex128 if one is complex. They broadcast (ShapeError).

    >>> flex.float_power(flex.asarray([2, 4]), -2).tolist()
    [0.25, 0.0625]
    """
    a, b = exact(x1), exact(x2)
    is_complex = any(fx.isdtype(t.dtype, "complex floating") for t in (a, b))
    wide = fx.complex128 if is_complex else fx.float64
    return fx.pow(a.astype(wide), b.astype(wide))


def divmod(x1: _Nested, x2: _Nested) -> tuple[Tensor, Tensor]:
    """The pair of `floor_divide` and `remainder`, with their dtypes and errors.

    >>> [t.tolist() for t in flex.divmod(flex.asarray([7, -7]), 2)]
    [[3, -4], [1, 1]]
    """
    a, b = together("divmod", x1, x2)
    return fx.floor_divide(a, b), fx.remainder(a, b)


def _present(op: str, choose: Any, x1: Any, x2: Any) -> Tensor:
    a, b = together(op, x1, x2)
    chosen: Tensor = choose(a, b)
    if is_whole(chosen.dtype):
        return chosen
    a, b = a.astype(chosen.dtype), b.astype(chosen.dtype)
    return fx.where(fx.isnan(a), b, fx.where(fx.isnan(b), a, chosen))


def fmax(x1: _Nested, x2: _Nested) -> Tensor:
    """The larger of two numbers; the other if one is NaN. They broadcast; dtypes and errors are those of `maximum`.

    >>> flex.fmax(flex.asarray([1.0, flex.nan]), 0.5).tolist()
    [1.0, 0.5]
    """
    return _present("fmax", fx.maximum, x1, x2)


def fmin(x1: _Nested, x2: _Nested) -> Tensor:
    """The smaller of two numbers; the other if one is NaN. They broadcast; dtypes and errors are those of `minimum`.

    >>> flex.fmin(flex.asarray([1.0, flex.nan]), 0.5).tolist()
    [0.5, 0.5]
    """
    return _present("fmin", fx.minimum, x1, x2)


# for each width: the integers, the bits of the fraction, the bias of the exponent, and a power of two that makes subnormals normal
_FORMAT = {4: (fx.int32, 23, 127, 64), 8: (fx.int64, 52, 1023, 128)}


@fx.fuse
def _parts(x: Any) -> Any:
    wide = x.astype(fx.float32) if x.dtype.itemsize < 4 else x
    integer, fraction, bias, power = _FORMAT[wide.dtype.itemsize]
    small = fx.abs(wide) < 2.0 ** (1 - bias)
    bits = fx.where(small, wide * 2.0**power, wide).view(integer)
    most = 2 * bias + 1
    exponent = (bits >> fraction) & most
    plain = ~fx.isfinite(wide) | (wide == 0)
    own = (bits & ~(most << fraction)) | ((bias - 1) << fraction)
    mantissa = fx.where(plain, wide, own.view(wide.dtype))
    exponent = fx.where(plain, 0, exponent - (bias - 1) - fx.where(small, power, 0))
    return mantissa.astype(x.dtype), exponent.astype(fx.int32)


def frexp(x: _Nested) -> tuple[Tensor, Tensor]:
    """Each number as `mantissa * 2**exponent`, with a magnitude of the mantissa from 1/2 to 1, which is left out. Zeros, infinities and NaN
    are their own mantissa, with exponent 0.

    The mantissas have the dtype of x, integers become float32; exponents are int32. DTypeError for complex numbers.

    >>> mantissa, exponent = flex.frexp(flex.asarray([5.0, -0.25]))
    >>> mantissa.tolist(), exponent.tolist()
    ([0.625, -0.5], [3, -1])
    """
    (x,) = _floats("frexp", x)
    parts: tuple[Tensor, Tensor] = _parts(x)
    return parts


def _power_of_two(n: Tensor, dtype: DType) -> Tensor:
    """2**n for the exponents of normal numbers."""
    integer, fraction, bias, _ = _FORMAT[dtype.itemsize]
    return ((n.astype(integer) + bias) << fraction).view(dtype)


@fx.fuse
def _scaled(x: Any, n: Any) -> Any:
    mantissa, exponent = _parts(x)
    wide = mantissa.astype(fx.float32) if mantissa.dtype.itemsize < 4 else mantissa
    bias = _FORMAT[wide.dtype.itemsize][2]
    total = fx.clip(n.astype(fx.int64), -8 * bias, 8 * bias) + exponent.astype(fx.int64)
    total = fx.clip(total, -2 * bias + 2, 2 * bias)
    half = total >> 1
    result = wide * _power_of_two(half, wide.dtype) * _power_of_two(total - half, wide.dtype)
    return result.astype(mantissa.dtype)


def ldexp(x1: _Nested, x2: _Nested) -> Tensor:
    """`x1 * 2**x2`, rounded once.

    x2: integers (DTypeError). They broadcast (ShapeError). The result has the dtype of x1; integers become float32.

    >>> flex.ldexp(flex.asarray([0.625, -0.5]), flex.asarray([3, -1])).tolist()
    [5.0, -0.25]
    """
    n = tensor(x2)
    if not is_whole(n.dtype):
        raise fx.DTypeError(f"ldexp: x2 has integers, not {n.dtype}")
    (x,) = _floats("ldexp", x1)
    result: Tensor = _scaled(x, n)
    return result


def modf(x: _Nested) -> tuple[Tensor, Tensor]:
    """The fractional and the whole part of each number, both with its sign. Integers become float32; DTypeError for complex numbers.

    >>> [t.tolist() for t in flex.modf(flex.asarray([3.5, -0.25]))]
    [[0.5, -0.25], [3.0, -0.0]]
    """
    (x,) = _floats("modf", x)
    whole = fx.trunc(x)
    return fx.copysign(fx.where(fx.isinf(x), 0.0, x - whole), x), whole


@fx.fuse
def _xlogy(x: Any, y: Any) -> Any:
    return fx.where((x == 0) & ~fx.isnan(y), 0.0, x * fx.log(y))


@fx.fuse
def _xlog1py(x: Any, y: Any) -> Any:
    return fx.where((x == 0) & ~fx.isnan(y), 0.0, x * fx.log1p(y))


@fx.fuse
def _logit(x: Any) -> Any:
    # near 1/2 the quotient's distance from 1 is exact, elsewhere the logarithms do not cancel
    near = fx.log1p((2 * x - 1) / (1 - x))
    return fx.where(fx.abs(x - 0.5) < 0.2, near, fx.log(x) - fx.log1p(-x))


def xlogy(x1: _Nested, x2: _Nested) -> Tensor:
    """`x1 * log(x2)`, which is 0 where x1 is 0 and x2 is not NaN.

    They broadcast (ShapeError). The result has the common dtype; integers become float32. DTypeError for complex numbers.

    >>> flex.xlogy(flex.asarray([0.0, 2.0]), flex.asarray([0.0, 1.0])).tolist()
    [0.0, 0.0]
    """
    return _computed(_xlogy, *_floats("xlogy", x1, x2))


def xlog1py(x1: _Nested, x2: _Nested) -> Tensor:
    """`x1 * log(1 + x2)` without cancellation, which is 0 where x1 is 0 and x2 is not NaN. Arguments and errors are those of `xlogy`.

    >>> flex.xlog1py(flex.asarray([0.0, 2.0]), flex.asarray([-1.0, 0.0])).tolist()
    [0.0, 0.0]
    """
    return _computed(_xlog1py, *_floats("xlog1py", x1, x2))


def logit(x: _Nested) -> Tensor:
    """`log(x / (1 - x))`, the inverse of `expit`; infinite at 0 and 1, NaN outside. Integers become float32; DTypeError for complex
    numbers.

    >>> flex.logit(flex.asarray([0.0, 0.5, 1.0])).tolist()
    [-inf, 0.0, inf]
    """
    return _computed(_logit, *_floats("logit", x))


def expit(x: _Nested) -> Tensor:
    """`1 / (1 + exp(-x))`: `sigmoid` by the name of SciPy, with its dtypes and errors.

    >>> flex.expit(flex.asarray(0.0)).item()
    0.5
    """
    return fx.sigmoid(tensor(x))
