"""Elementwise functions against NumPy (SciPy for those that it lacks): every function, every dtype, layouts, broadcasting, scalars."""

import decimal
import math

import numpy as np
import pytest
import scipy.special as special
from arrays import (
    ALL,
    BOOL,
    COMPLEX,
    EPS,
    FLOAT8,
    FLOATS,
    HALVES,
    INTEGERS,
    KEPT,
    NUMBERS,
    ORDERED,
    REAL,
    SIGNED,
    broadcastable,
    check,
    numpy_dtype,
    operands,
    random_array,
    to_numpy,
)
from hypothesis import given
from hypothesis import strategies as st
from support import examples

import flex

INEXACT = [*FLOATS, *COMPLEX]


def erfc(x):
    """The C library's, which is accurate to one ulp; SciPy's is not."""
    return np.vectorize(math.erfc, otypes=[np.float64])(x.astype(np.float64))


def gated(gate):
    """`x * gate(x)` for a gate that goes to 0 faster than x to minus infinity."""
    return lambda x: np.where(x == -np.inf, -0.0, x * gate(x))


def gelu(x):
    return gated(lambda x: 0.5 * erfc(-x / np.sqrt(2)))(x)


def gelu_tanh(x):
    inner = np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)
    return gated(lambda _: 1 / (1 + np.exp(-2 * inner)))(x)


def power(a, b):
    """IEEE 754's pow; NumPy takes the square root for an exponent of 0.5, which is NaN for -inf."""
    result = np.power(a, b)
    return (
        np.where((a == -np.inf) & (b == 0.5), np.inf, result)
        if result.dtype.kind == "f"
        else result
    )


def sign(x):
    return np.where(x == 0, 0 * x, x / np.abs(x)) if x.dtype.kind == "c" else np.sign(x)


def rounded(x):
    return np.rint(x) if x.dtype.kind in "fc" else x


def whole(f):
    """`f` on floats, the identity on integers."""
    return lambda x: f(x) if x.dtype.kind == "f" else x


# name: reference, dtypes that it is defined for, rule of the result's dtype, error bound in ulp
UNARY = {
    "abs": (np.abs, NUMBERS, "real", 2),
    "acos": (np.arccos, ALL, "float", 4),
    "acosh": (np.arccosh, ALL, "float", 4),
    "asin": (np.arcsin, ALL, "float", 4),
    "asinh": (np.arcsinh, ALL, "float", 4),
    "atan": (np.arctan, ALL, "float", 4),
    "atanh": (np.arctanh, ALL, "float", 4),
    "bitwise_invert": (np.invert, [*BOOL, *INTEGERS], "same", 0),
    "ceil": (whole(np.ceil), REAL, "same", 0),
    "conj": (np.conj, NUMBERS, "same", 0),
    "cos": (np.cos, ALL, "float", 4),
    "cosh": (np.cosh, ALL, "float", 4),
    "erf": (special.erf, ORDERED, "float", 4),
    "erfc": (erfc, ORDERED, "float", 4),
    "exp": (np.exp, ALL, "float", 4),
    "exp2": (np.exp2, ALL, "float", 4),
    "expm1": (np.expm1, ALL, "float", 4),
    "floor": (whole(np.floor), REAL, "same", 0),
    "gelu": (gelu, ORDERED, "float", 6),
    "gelu_tanh": (gelu_tanh, ORDERED, "float", 6),
    "imag": (np.imag, NUMBERS, "real", 0),
    "isfinite": (np.isfinite, ALL, "bool", 0),
    "isinf": (np.isinf, ALL, "bool", 0),
    "isnan": (np.isnan, ALL, "bool", 0),
    "log": (np.log, ALL, "float", 4),
    "log10": (np.log10, ALL, "float", 4),
    "log1p": (np.log1p, ALL, "float", 4),
    "log2": (np.log2, ALL, "float", 4),
    "logical_not": (np.logical_not, ALL, "bool", 0),
    "negative": (np.negative, NUMBERS, "same", 0),
    "positive": (np.positive, NUMBERS, "same", 0),
    "real": (np.real, NUMBERS, "real", 0),
    "reciprocal": (lambda x: 1 / x, ALL, "float", 2),
    "relu": (
        lambda x: (
            np.maximum(x, 0 * x)
            if x.dtype.kind != "f"
            else np.where(np.isnan(x), x, np.maximum(x, 0))
        ),
        REAL,
        "same",
        0,
    ),
    "round": (rounded, NUMBERS, "same", 0),
    "rsqrt": (lambda x: 1 / np.sqrt(x), ORDERED, "float", 2),
    "sigmoid": (lambda x: 1 / (1 + np.exp(-x)), ORDERED, "float", 4),
    "sign": (sign, NUMBERS, "same", 2),
    "signbit": (lambda x: np.signbit(x) if x.dtype.kind == "f" else x < 0, REAL, "bool", 0),
    "silu": (gated(lambda x: 1 / (1 + np.exp(-x))), ORDERED, "float", 4),
    "sin": (np.sin, ALL, "float", 4),
    "sinh": (np.sinh, ALL, "float", 4),
    "sqrt": (np.sqrt, ALL, "float", 2),
    "square": (np.square, NUMBERS, "same", 2),
    "tan": (np.tan, ALL, "float", 4),
    "tanh": (np.tanh, ALL, "float", 4),
    "trunc": (whole(np.trunc), REAL, "same", 0),
}


def floor_divide(x, y):
    """NumPy's, but quotients where one operand is infinite, as the array API has it."""
    with np.errstate(all="ignore"):
        infinite = np.isinf(x) | np.isinf(y)
        return np.where(infinite, np.true_divide(x, y), np.floor_divide(x, y)).astype(
            np.result_type(x, y)
        )


BINARY = {
    "add": (np.add, NUMBERS, "same", 0),
    "atan2": (np.arctan2, ORDERED, "float", 4),
    "bitwise_and": (np.bitwise_and, [*BOOL, *INTEGERS], "same", 0),
    "bitwise_left_shift": (np.left_shift, INTEGERS, "same", 0),
    "bitwise_or": (np.bitwise_or, [*BOOL, *INTEGERS], "same", 0),
    "bitwise_right_shift": (np.right_shift, INTEGERS, "same", 0),
    "bitwise_xor": (np.bitwise_xor, [*BOOL, *INTEGERS], "same", 0),
    "copysign": (np.copysign, ORDERED, "float", 0),
    "divide": (np.divide, ALL, "float", 4),
    "equal": (np.equal, ALL, "bool", 0),
    "floor_divide": (floor_divide, REAL, "same", 0),
    "fmod": (np.fmod, REAL, "same", 0),
    "greater": (np.greater, ORDERED, "bool", 0),
    "greater_equal": (np.greater_equal, ORDERED, "bool", 0),
    "hypot": (np.hypot, ORDERED, "float", 2),
    "less": (np.less, ORDERED, "bool", 0),
    "less_equal": (np.less_equal, ORDERED, "bool", 0),
    "logaddexp": (np.logaddexp, ORDERED, "float", 4),
    "logical_and": (np.logical_and, ALL, "bool", 0),
    "logical_or": (np.logical_or, ALL, "bool", 0),
    "logical_xor": (np.logical_xor, ALL, "bool", 0),
    "maximum": (np.maximum, ORDERED, "same", 0),
    "minimum": (np.minimum, ORDERED, "same", 0),
    "multiply": (np.multiply, NUMBERS, "same", 4),
    "nextafter": (np.nextafter, ORDERED, "float", 0),
    "not_equal": (np.not_equal, ALL, "bool", 0),
    "pow": (power, NUMBERS, "same", 4),
    "remainder": (np.remainder, REAL, "same", 0),
    "subtract": (np.subtract, NUMBERS, "same", 0),
}
# integers: no zero divisor, no negative exponent or shift
LIMITS = {
    "floor_divide": (1, 10),
    "remainder": (1, 10),
    "fmod": (1, 10),
    "pow": (0, 6),
    "bitwise_left_shift": (0, 70),
    "bitwise_right_shift": (0, 70),
}
# references computed in the dtype itself, since results are discontinuous or depend on the dtype
NATIVE = {"floor_divide", "remainder", "nextafter", "sign"}


def widened(a, name):
    """The operand of the reference, in higher precision than flex uses, if there is any."""
    if a.dtype.name in HALVES:
        return a.astype(np.float32 if name in NATIVE else np.float64)
    if name in NATIVE or a.dtype.kind not in "fc":
        return a
    more = {"float32": np.float64, "complex64": np.complex128}
    if name not in ("erf", "erfc", "gelu"):  # SciPy has them in double precision only
        more |= {"float64": np.longdouble, "complex128": np.clongdouble}
    if (
        name in ("add", "subtract", "multiply", "divide", "sqrt", "square")
        and a.dtype.name == "float64"
    ):
        return a  # correctly rounded results must not be rounded twice
    return a.astype(more.get(a.dtype.name, a.dtype))


def result_dtype(rule, dtype):
    if rule == "bool":
        return "bool"
    if rule == "float" and dtype in [*BOOL, *INTEGERS]:
        return "float32"
    if rule == "real" and dtype in COMPLEX:
        return {"complex64": "float32", "complex128": "float64"}[dtype]
    return dtype


def reference(function, rule, name, *arrays, dtype):
    computed = result_dtype("float", dtype) if rule == "float" else dtype
    arrays = [widened(a.astype(numpy_dtype(computed)), name) for a in arrays]
    with np.errstate(all="ignore"):
        return function(*arrays)


def near(name, dtype, *arrays):
    """The absolute error allowed where terms cancel: 1 + erf and 1 + tanh are rounded, relative to x; in logaddexp the larger operand and
    the logarithm added to it."""
    if name not in ("gelu", "gelu_tanh", "logaddexp"):
        return 0.0
    magnitudes = np.abs(np.concatenate([a.astype(np.float64).ravel() for a in arrays]))
    return (
        2
        * min(EPS[result_dtype("float", dtype)], EPS["float32"])
        * float(np.max(magnitudes, where=np.isfinite(magnitudes), initial=0))
    )


def exact(name, dtype, ulps):
    """The error allowed, in ulp: none for correctly rounded operations."""
    if name == "pow" and dtype in COMPLEX:
        return 64  # exp(b log a): an error relative to the exponent
    if name in ("multiply", "divide", "sqrt", "square", "abs", "sign") and dtype not in COMPLEX:
        return 0
    return ulps


@pytest.mark.parametrize("name", UNARY)
@examples(40)
@given(data=st.data())
def test_unary(name, data):
    function, dtypes, rule, ulps = UNARY[name]
    x, array = data.draw(operands(dtypes))
    dtype = array.dtype.name
    y = getattr(flex, name)(x)
    assert y.dtype == result_dtype(rule, dtype)
    check(
        y,
        reference(function, rule, name, array, dtype=dtype),
        exact(name, dtype, ulps),
        near(name, dtype, array),
    )


@pytest.mark.parametrize("name", BINARY)
@examples(50)
@given(data=st.data())
def test_binary(name, data):
    function, dtypes, rule, ulps = BINARY[name]
    dtype = data.draw(st.sampled_from(dtypes))
    low, high = LIMITS.get(name, (-9, 10)) if dtype in INTEGERS else (-9, 10)
    left, right = data.draw(broadcastable())
    x, a = data.draw(operands([dtype], left))
    y, b = data.draw(operands([dtype], right, low=low, high=high))
    z = getattr(flex, name)(x, y)
    assert z.dtype == result_dtype(rule, dtype)
    if name == "nextafter" and dtype in HALVES:
        # the reference is NumPy's and ml_dtypes' in the dtype itself
        check(z, np.nextafter(a, b))
        return
    check(
        z,
        reference(function, rule, name, a, b, dtype=dtype),
        exact(name, dtype, ulps),
        near(name, dtype, a, b),
    )


@pytest.mark.parametrize("name", [*UNARY, *BINARY])
@pytest.mark.parametrize("dtype", KEPT)
def test_each_dtype_computes_or_is_refused(name, dtype):
    dtypes = (UNARY.get(name) or BINARY.get(name))[1]
    operand = [flex.ones(3, dtype=dtype)] * (1 if name in UNARY else 2)
    if dtype in dtypes:
        assert getattr(flex, name)(*operand).shape == (3,)
    else:
        with pytest.raises(flex.DTypeError, match=f"{name}.*{dtype}"):
            getattr(flex, name)(*operand)


def promoted(a, b):
    """The common dtype by the documented rules, or None."""
    if a == b:
        return a
    kinds = sorted(
        [a, b],
        key=lambda d: next(
            k for k, group in enumerate([BOOL, INTEGERS, FLOATS, COMPLEX]) if d in group
        ),
    )
    low, high = kinds
    if low in BOOL or (low in INTEGERS and high not in INTEGERS):
        return high
    if low in HALVES and high in HALVES:
        return "float32"
    if low in FLOATS and high in COMPLEX:
        return "complex128" if "float64" in (low, high) or high == "complex128" else "complex64"
    if "bfloat16" in kinds:
        return high if low == "bfloat16" else low
    name = np.promote_types(a, b).name
    return None if low in INTEGERS and name not in INTEGERS else name


@pytest.mark.parametrize("a", KEPT)
@pytest.mark.parametrize("b", KEPT)
def test_promotion(a, b):
    x, y = flex.asarray([0, 1], dtype=a), flex.asarray([1, 1], dtype=b)
    common = None if a in FLOAT8 or b in FLOAT8 else promoted(a, b)
    if a in FLOAT8 or b in FLOAT8:
        with pytest.raises(flex.DTypeError, match=r"add: .*float8_e.*convert (it|one) with astype"):
            flex.add(x, y)
    elif common is None:
        with pytest.raises(flex.DTypeError, match="uint64"):
            flex.add(x, y)
        assert flex.less(x, y).tolist() == [True, False]
    elif common in BOOL:
        assert flex.bitwise_xor(x, y).tolist() == [True, False]
    else:
        z = flex.add(x, y)
        assert (z.dtype, z.tolist()) == (common, [1, 2])
        assert flex.result_type(x, y) == common


@given(st.integers(-(2**63), 2**63 - 1), st.integers(0, 2**64 - 1))
def test_comparisons_of_uint64_with_int64_are_exact(a, b):
    x, y = flex.asarray([a]), flex.asarray([b], dtype="uint64")
    assert flex.less(x, y).tolist() == [a < b]
    assert flex.greater_equal(y, x).tolist() == [b >= a]
    assert flex.equal(x, y).tolist() == [a == b]


@pytest.mark.parametrize("name", [name for name in BINARY if name != "nextafter"])
@examples(30)
@given(data=st.data())
def test_scalar_on_either_side(name, data):
    function, dtypes, rule, ulps = BINARY[name]
    x, a = data.draw(operands(dtypes, low=1))
    dtype = a.dtype.name
    # most are none of a 16-bit float's values
    whole = st.sampled_from([True]) if dtype in BOOL else st.integers(1, 5)
    floats = st.sampled_from([True, 3, 0.5, 0.1, 1 / 3, 257, 8.7]) | st.floats(1e-3, 9)
    if (name, a.dtype.kind) == ("pow", "c"):  # its error grows with the exponent, NumPy's too
        floats = floats.filter(lambda number: number <= 9)
    number = data.draw(whole if dtype in [*BOOL, *INTEGERS] else floats)
    b = np.asarray(number, dtype=numpy_dtype(dtype))
    allowed = exact(name, dtype, ulps)
    check(
        getattr(flex, name)(x, number), reference(function, rule, name, a, b, dtype=dtype), allowed
    )
    check(
        getattr(flex, name)(number, x), reference(function, rule, name, b, a, dtype=dtype), allowed
    )


def test_numbers_take_the_dtype_of_the_tensor_or_raise_its_kind():
    x = flex.asarray([1, 2], dtype="int8")
    assert (x + 1).dtype == flex.int8
    assert (x + 0.5).dtype == flex.float32
    assert (x + 1j).dtype == flex.complex64
    assert (flex.asarray([1.0], dtype="bfloat16") * 2.5).dtype == flex.bfloat16
    assert (flex.asarray([1.0], dtype="float64") * 1j).dtype == flex.complex128
    assert (flex.asarray([True]) + 2).dtype == flex.int64
    assert flex.add(1, 2).tolist() == 3
    assert flex.add(np.float64(0.5), flex.asarray([1.0])).dtype == flex.float32
    with pytest.raises(ValueError, match="300 is out of range for int8"):
        x + 300
    with pytest.raises(ValueError, match="-1 is out of range for uint8"):
        flex.maximum(flex.asarray([1], dtype="uint8"), -1)


def test_integers_wrap():
    x = flex.asarray([127, -128], dtype="int8")
    assert (x + 1).tolist() == [-128, -127]
    assert flex.negative(x).tolist() == [-127, -128]
    assert flex.abs(x).tolist() == [127, -128]
    assert flex.square(flex.asarray([200], dtype="uint8")).tolist() == [64]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_floor_divide_of_infinities(dtype):
    x = [3.0, -3.0, np.inf, -np.inf, 0.0, -0.0]
    expected = [  # the array API's special cases; the columns are the divisors 2, -2, inf, -inf
        [1.0, -2.0, 0.0, -0.0],
        [-2.0, 1.0, -0.0, 0.0],
        [np.inf, -np.inf, np.nan, np.nan],
        [-np.inf, np.inf, np.nan, np.nan],
        [0.0, -0.0, 0.0, -0.0],
        [-0.0, 0.0, -0.0, 0.0],
    ]
    a = flex.asarray(x, dtype=dtype)[:, None]
    b = flex.asarray([2.0, -2.0, np.inf, -np.inf], dtype=dtype)
    long = flex.broadcast_to(a, (6, 40)), flex.concat([b] * 10)
    for result in (a // b, flex.fuse(flex.floor_divide)(a, b), (long[0] // long[1])[:, 36:]):
        np.testing.assert_array_equal(np.asarray(result.astype("float64")), expected)
        np.testing.assert_array_equal(
            np.signbit(np.asarray(result.astype("float64")))[~np.isnan(expected)],
            np.signbit(expected)[~np.isnan(expected)],
        )


@pytest.mark.parametrize("name", ["atan", "atanh"])
def test_nan_beside_a_huge_part_is_nan(name):
    huge = [1e160, -1e300, 1.7e308]
    z = [complex(x, np.nan) for x in huge] + [complex(np.nan, y) for y in huge]
    y = getattr(flex, name)(flex.asarray(z, dtype="complex128")).numpy()
    assert np.isnan(y.real).all()
    assert np.isnan(y.imag).all()


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_tanh_far_out_is_a_sign(dtype):
    z = [complex(np.inf, y) for y in (0.0, 1.0, 2.0, -1.0, -2.0)]
    y = np.asarray(flex.tanh(flex.asarray(z, dtype=dtype)))
    assert y.real.tolist() == [1.0] * 5
    assert np.signbit(y.imag).tolist() == [False, False, False, True, True]
    assert not y.imag.any()


@pytest.mark.parametrize("name", ["floor_divide", "remainder", "fmod"])
def test_integer_division_by_zero(name):
    x = flex.asarray([1, 2])
    for zero in (0, flex.asarray([1, 0])):
        with pytest.raises(ValueError, match=f"{name}: integer division by zero"):
            getattr(flex, name)(x, zero)
    assert flex.divide(x, 0).tolist() == [np.inf, np.inf]


def test_negative_exponents_of_integers():
    with pytest.raises(ValueError, match="pow: integers cannot be raised to a negative power"):
        flex.pow(flex.asarray([1, 2]), flex.asarray([1, -1]))
    assert flex.pow(flex.asarray([1.0, 2.0]), -1).tolist() == [1.0, 0.5]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("k", range(-4, 7))
def test_powers_by_halves_are_correctly_rounded(k, dtype):
    """Products, quotients and roots against arithmetic with 60 digits, by a number and by a tensor; with special values."""
    rng = np.random.default_rng(k + 9)
    with np.errstate(over="ignore"):
        x = np.concatenate(
            [
                rng.uniform(-9, 9, 300),
                np.exp(rng.uniform(-700, 700, 60)),
                [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0],
            ]
        ).astype(dtype)
    got = to_numpy(flex.asarray(x) ** (k / 2))
    for exponent in (flex.full(x.shape, k / 2, dtype=dtype), flex.asarray(k / 2, dtype=dtype)):
        np.testing.assert_array_equal(to_numpy(flex.pow(flex.asarray(x), exponent)), got)
    with np.errstate(all="ignore"):
        want = np.power(x.astype(np.float64), np.full(x.shape, k / 2))
        special = (x == 0) | ~np.isfinite(x) | ((x < 0) & (k % 2 == 1))
        np.testing.assert_array_equal(got[special], want[special].astype(dtype))
        np.testing.assert_array_equal(np.signbit(got[x == 0]), np.signbit(want[x == 0]))
    with decimal.localcontext() as context:
        context.prec = 60
        for value, power in zip(x[~special], got[~special], strict=True):
            exact = decimal.Decimal(float(value)) ** abs(k // 2 if k % 2 == 0 else k)
            exact = exact if k % 2 == 0 else exact.sqrt()
            exact = exact if k >= 0 else 1 / exact
            ulp = decimal.Decimal(float(np.spacing(np.abs(power))))
            if np.isfinite(power):
                # below the normal numbers there may be a second rounding
                bound = "0.501" if abs(power) > np.finfo(dtype).tiny else "0.75"
                assert abs(decimal.Decimal(float(power)) - exact) <= ulp * decimal.Decimal(bound)
            else:
                assert abs(exact) > decimal.Decimal(float(np.finfo(dtype).max))


@examples(60)
@given(data=st.data())
def test_clip(data):
    x, a = data.draw(operands(REAL))
    dtype = a.dtype.name
    low = data.draw(st.sampled_from([None, 0, 2]))
    high = data.draw(st.sampled_from([None, 3, 5]))
    expected = a if low is None else np.maximum(a, np.asarray(low, a.dtype))
    expected = expected if high is None else np.minimum(expected, np.asarray(high, a.dtype))
    y = flex.clip(x, low, high)
    assert y.dtype == dtype
    check(y, expected)
    check(x.clip(min=low, max=high), expected)


def test_clip_by_tensors():
    x = flex.asarray([[1.0, 5.0, 9.0], [flex.nan, 5.0, 9.0]])
    low, high = flex.asarray([2.0, 2.0, flex.nan]), flex.asarray([[4.0], [8.0]])
    np.testing.assert_array_equal(
        flex.clip(x, low, high).numpy(), [[2, 4, np.nan], [np.nan, 5, np.nan]]
    )
    assert flex.clip(flex.asarray([2**64 - 1], dtype="uint64"), min=1).tolist() == [2**64 - 1]
    assert flex.clip(flex.asarray([-(2**63)]), max=1).tolist() == [-(2**63)]
    for dtype in ("bool", "complex64"):
        with pytest.raises(flex.DTypeError, match="clip"):
            flex.clip(flex.zeros(2, dtype=dtype), 0)


@examples(60)
@given(data=st.data())
def test_where(data):
    shapes = data.draw(broadcastable(3))
    c, condition = data.draw(operands(BOOL, shapes[0]))
    dtype = data.draw(st.sampled_from(KEPT))
    x, a = data.draw(operands([dtype], shapes[1]))
    y, b = data.draw(operands([dtype], shapes[2]))
    z = flex.where(c, x, y)
    assert z.dtype == dtype
    check(z, np.where(condition, a, b))
    check(
        flex.where(c, x, 1 if dtype not in BOOL else True),
        np.where(condition, a, np.ones((), a.dtype)),
    )


def test_where_requires_bool():
    x = flex.ones(2)
    with pytest.raises(flex.DTypeError, match="condition is float32, not bool"):
        flex.where(x, x, x)
    assert flex.where(True, x, 0).tolist() == [1, 1]
    assert flex.where(flex.asarray([True, False]), 1, 2).tolist() == [1, 2]


def test_shapes_that_do_not_broadcast():
    with pytest.raises(flex.ShapeError, match=r"add: .*\[2, 3\].*\[4\]"):
        flex.add(flex.zeros((2, 3)), flex.zeros(4))


@pytest.mark.parametrize("bad", [None, "1", [1, 2], {}, object(), b"12", 1 << 200])
@pytest.mark.parametrize("name", ["add", "exp", "where", "clip"])
def test_non_operands(name, bad):
    count = {"add": 2, "exp": 1, "where": 3, "clip": 1}[name]
    x = flex.asarray([True])
    for position in range(count):
        given = [x] * count
        given[position] = bad
        with pytest.raises((TypeError, OverflowError, ValueError)):
            getattr(flex, name)(*given)


def test_where_of_a_condition_alone():
    x = np.array([[0, 5, 0], [6, 0, 7]])
    for condition in (x, x > 0, x[0] > 0):
        found, expected = flex.where(flex.asarray(condition)), np.where(condition)
        assert [i.tolist() for i in found] == [i.tolist() for i in expected]
    for call in (lambda c: flex.where(c, 1), lambda c: flex.where(c, None, 1)):
        with pytest.raises(TypeError, match="a condition with both x1 and x2, or alone"):
            call(flex.asarray([True]))
    with pytest.raises(TypeError, match="where"):
        flex.where()


def test_operands_are_unchanged():
    x = flex.asarray([1.0, 4.0])
    y = flex.sqrt(x)
    y += 1
    assert x.tolist() == [1.0, 4.0]
    assert y.tolist() == [2.0, 3.0]


@pytest.mark.parametrize("dtype", [*SIGNED, *FLOATS])
def test_empty_and_zero_dimensional(dtype):
    rng = np.random.default_rng(0)
    for shape in [(), (0,), (3, 0, 2)]:
        x = flex.asarray(random_array(dtype, shape, rng))
        assert flex.abs(x).shape == shape
        assert to_numpy(flex.add(x, x)).shape == shape


def test_numpy_ufuncs_give_tensors():
    x = flex.asarray([1.0, 4.0])
    assert isinstance(np.sqrt(x), flex.Tensor)
    assert np.add(np.ones(2, np.float32), x).tolist() == [2.0, 5.0]
    assert np.arctan2(x, x).shape == (2,)
