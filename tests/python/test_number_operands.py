"""Numbers beside tensors: a number is what a tensor filled with it is, comparisons of integers with numbers are exact, and comparisons
with numbers beyond the dtype have an answer. Eager, fused (as a constant and as an argument that changes) and queued."""

import bisect
import math
import operator

import ml_dtypes
import numpy as np
import pytest
from arrays import FLOATS, HALVES, INTEGERS, ORDERED, numpy_dtype
from hypothesis import given
from hypothesis import strategies as st
from support import examples

import flex
from flex import nn

BINARY = [
    *(flex.add, flex.subtract, flex.multiply, flex.divide, flex.floor_divide, flex.remainder),
    *(flex.fmod, flex.pow, flex.maximum, flex.minimum, flex.hypot, flex.copysign, flex.nextafter),
    *(flex.logaddexp, flex.atan2, flex.logical_and, flex.logical_or, flex.logical_xor),
    *(flex.equal, flex.not_equal, flex.less, flex.less_equal, flex.greater, flex.greater_equal),
]
COMPARISONS = {
    "equal": operator.eq,
    "not_equal": operator.ne,
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
}
# no multiples of a power of two that 16-bit floats hold; 257 is one more than bfloat16 does
NUMBERS = [0.1, 1 / 3, 257, 2.7182818284590452, -0.7, 1e-3, 6.02e23, math.inf, math.nan]


def bits(t):
    """The elements, where every NaN is the same."""
    a = t.numpy()
    a = a.astype(np.float64) if a.dtype.kind not in "bc" else a
    return t.dtype.name, a.shape, np.where(np.isnan(a), np.nan, a).tobytes()


def around(dtype, number):
    """Elements on both sides of a number: its rounded value, the next ones, and others."""
    with np.errstate(all="ignore"):
        near = np.asarray([float(number)], dtype=numpy_dtype(dtype))
        beside = [np.nextafter(near, near.dtype.type(end)) for end in (-math.inf, math.inf)]
    others = np.asarray([0.0, -0.0, 1.0, -2.5, 0.1, 256.0, math.inf, math.nan])
    return np.concatenate([near, *beside, others.astype(near.dtype)])


def queued(f):
    def call(*operands):
        with flex.stream():
            return f(*operands)

    return call


def ways(f):
    """Functions of a tensor and a number that compute `f`, and how they compute it of two tensors."""
    return {
        "eager": (f, f),
        "queued": (queued(f), queued(f)),
        "argument": (flex.fuse(f), flex.fuse(f)),
        "strict": (flex.fuse(f, strict=True), flex.fuse(f, strict=True)),
        "constant": (lambda x, c: flex.fuse(lambda x: f(x, c))(x), flex.fuse(f)),
    }


class TestANumberIsATensorFilledWithIt:
    @pytest.mark.parametrize("dtype", FLOATS)
    @pytest.mark.parametrize("f", BINARY, ids=lambda f: f.__name__)
    def test_binary(self, f, dtype):
        """Also another number after the first, for which nothing is traced or planned again."""
        for swapped in (False, True):

            def g(x, c, swapped=swapped):
                return f(c, x) if swapped else f(x, c)

            for name, (of_number, of_tensors) in ways(g).items():
                for c in NUMBERS:
                    x = flex.asarray(around(dtype, c))
                    whole = flex.full(x.shape, c, dtype=dtype)
                    got, expected = of_number(x, c), of_tensors(x, whole)
                    assert bits(got) == bits(expected), (name, swapped, c)

    @pytest.mark.parametrize("dtype", FLOATS)
    def test_ternary(self, dtype):
        functions = [
            lambda x, c: flex.clip(x, -c, c),
            lambda x, c: flex.clip(c, x, c),
            lambda x, c: flex.where(x > 0, c, x),
            lambda x, c: flex.where(x > c, x * c + c, x - c),
        ]
        for f in functions:
            for name, (of_number, of_tensors) in ways(f).items():
                for c in NUMBERS:
                    x = flex.asarray(around(dtype, c))
                    whole = flex.full(x.shape, c, dtype=dtype)
                    assert bits(of_number(x, c)) == bits(of_tensors(x, whole)), (name, c)

    @pytest.mark.parametrize("dtype", FLOATS)
    @pytest.mark.parametrize(
        "f",
        [nn.leaky_relu, nn.elu, nn.celu, nn.softplus, nn.hardshrink, nn.softshrink],
        ids=lambda f: f.__name__,
    )
    def test_parameters_of_activations(self, f, dtype):
        for c in (0.1, 1 / 3, 0.7):
            x = flex.asarray(around(dtype, c))
            x = flex.concat([x, -x])
            assert bits(f(x, c)) == bits(f(x, flex.full(x.shape, c, dtype=dtype)))

    @pytest.mark.parametrize("dtype", FLOATS)
    @pytest.mark.parametrize(
        "wrap", [lambda f: f, queued, flex.fuse], ids=["eager", "queued", "fused"]
    )
    def test_in_place(self, wrap, dtype):
        def run(f):
            def copied(x, c):
                y = x.copy()
                return f(y, c)

            return wrap(copied)

        operations = [
            *(operator.iadd, operator.isub, operator.imul, operator.itruediv),
            *(operator.ifloordiv, operator.imod, operator.ipow),
        ]
        for f in operations:
            for c in NUMBERS:
                x = flex.asarray(around(dtype, c))
                whole = flex.full(x.shape, c, dtype=dtype)
                assert bits(run(f)(x, c)) == bits(run(f)(x, whole)), (f, c)

    @examples(60)
    @given(
        st.sampled_from(HALVES),
        st.floats(width=64) | st.integers(-(2**100), 2**100),
        st.sampled_from(sorted(COMPARISONS)),
    )
    def test_any_number(self, dtype, c, name):
        x = flex.asarray(around(dtype, c))
        whole = flex.full(x.shape, c, dtype=dtype)
        f = getattr(flex, name)
        assert f(x, c).tolist() == f(x, whole).tolist()
        assert bits(x - c) == bits(x - whole)

    def test_what_users_see(self):
        """Figures by hand: 0.1 and 257 are no 16-bit floats."""
        for dtype in HALVES:
            t = flex.full((3,), 0.1, dtype=dtype)
            assert (t == 0.1).tolist() == [True] * 3
            assert (t - 0.1).tolist() == [0.0] * 3
            assert (t / 0.1).tolist() == [1.0] * 3
            assert (t % 0.1).tolist() == [0.0] * 3
            assert (0.1 <= t).tolist() == [True] * 3  # noqa: SIM300
            t[0] = 0.3
            assert t[0] == 0.3
            assert 0.3 in t
            t -= 0.1
            assert t[1:].tolist() == [0.0] * 2
        assert (flex.asarray([256.0], dtype="bfloat16") == 257).tolist() == [True]
        assert (flex.asarray([256.0], dtype="bfloat16") - 257).tolist() == [0.0]

    @pytest.mark.parametrize("dtype", HALVES)
    def test_complex_numbers(self, dtype):
        """Beside 16-bit floats they are complex64."""
        x = flex.asarray([0.1, 2.0], dtype=dtype)
        y = x * (0.1 + 0.3j)
        expected = x.numpy().astype(np.complex64) * np.complex64(0.1 + 0.3j)
        assert y.dtype == flex.complex64
        assert y.tolist() == expected.tolist()
        assert (x == complex(x[0])).tolist() == [True, False]

    def test_a_sum_divided_by_a_count(self):
        """A function's own numbers are not rounded to its operands' dtype: 257 examples are not 256."""
        n = 257
        x, t = np.full((n, 2), -3.0, np.float32), np.full((n, 2), 0.5, np.float32)
        y = nn.kl_div(*(flex.asarray(a).astype("bfloat16") for a in (x, t)), reduction="batchmean")
        total = ml_dtypes.bfloat16((t * (np.log(t) - x)).astype(np.float64).sum())
        assert y.dtype == flex.bfloat16
        assert float(y) == float(ml_dtypes.bfloat16(np.float32(float(total)) / np.float32(n)))


def limits(dtype):
    """The lowest and the highest value."""
    if dtype == "bool":
        return 0, 1
    info = np.iinfo(dtype)
    return int(info.min), int(info.max)


def elements(dtype):
    low, high = limits(dtype)
    middle = [-1, 0, 1, 5, 6, 100, 1700000000, 2**24 + 1, 2**53 + 1]
    return [low, min(low + 1, high), *(n for n in middle if low <= n <= high), high - 1, high]


def numbers(dtype):
    """Numbers in, between and beyond the values of a dtype: floats, integers, infinities and NaN."""
    low, high = limits(dtype)
    ends = [n + d for n in (low, high, 0, 5, 2**24, 2**53) for d in (-1, 0, 1)]
    halves = [n + d for n in (low, high, 0, 5, 1700000000) for d in (-0.5, 0.5, -1e-9)]
    beyond = [300, -300, 2**63, -(2**63) - 1, 2**64, 2**100, -(2**100), 2**127, 2**200, -(2**2000)]
    floats = [float(n) for n in (low, high, high + 1, 2**64, -(2**64))]
    return [
        *(*ends, *halves, *beyond, *floats, 1e300, -1e300, 5e-324, -0.0),
        *(math.inf, -math.inf, math.nan),
    ]


class TestIntegersAndNumbersCompareExactly:
    """Python compares integers with floats exactly, which is the reference."""

    @pytest.mark.parametrize("name", COMPARISONS)
    @pytest.mark.parametrize("dtype", ["bool", *INTEGERS])
    def test_eager(self, dtype, name):
        holds, f, values = COMPARISONS[name], getattr(flex, name), elements(dtype)
        x = flex.asarray(values, dtype=dtype)
        for c in numbers(dtype):
            assert f(x, c).tolist() == [holds(v, c) for v in values], c
            assert f(c, x).tolist() == [holds(c, v) for v in values], c
            assert holds(x, c).tolist() == [holds(v, c) for v in values], c
            assert holds(c, x).tolist() == [holds(c, v) for v in values], c

    @pytest.mark.parametrize("name", COMPARISONS)
    @pytest.mark.parametrize("dtype", ["bool", *INTEGERS])
    def test_deferred(self, dtype, name):
        holds, f, values = COMPARISONS[name], getattr(flex, name), elements(dtype)
        x = flex.asarray(values, dtype=dtype)
        right, left = (flex.fuse(g) for g in (f, lambda x, c: f(c, x)))
        for c in numbers(dtype):
            expected = [holds(v, c) for v in values]
            mirrored = [holds(c, v) for v in values]
            assert queued(f)(x, c).tolist() == expected, c
            assert queued(f)(c, x).tolist() == mirrored, c
            assert flex.fuse(lambda x, c=c: f(x, c))(x).tolist() == expected, c
            if isinstance(c, float):
                assert right(x, c).tolist() == expected, c
                assert left(x, c).tolist() == mirrored, c

    def test_one_trace_and_one_plan_for_all_floats(self):
        calls = []

        def f(x, c):
            calls.append(c)
            return (x < c) & (x != c)

        fused, x = flex.fuse(f), flex.asarray([1, 2, 3])
        for c in (0.5, 1.5, 2.0, 1e300, -math.inf, math.nan):
            assert fused(x, c).tolist() == [v < c for v in (1, 2, 3)]
        assert len(calls) == 1

    @examples(200)
    @given(
        st.sampled_from(INTEGERS),
        st.integers(-(2**65), 2**65),
        st.floats(allow_nan=False) | st.integers(-(2**66), 2**66).map(float),
    )
    def test_any(self, dtype, n, c):
        low, high = limits(dtype)
        n = min(max(n, low), high)
        x = flex.asarray([n], dtype=dtype)
        for name, holds in COMPARISONS.items():
            assert getattr(flex, name)(x, c).tolist() == [holds(n, c)]

    def test_layouts_and_long_tensors(self):
        for shape in [(3, 5), (40000,), (0,), ()]:
            a = (np.arange(math.prod(shape)) % 200).astype("uint8").reshape(shape)
            for b in (a, a.T, a[..., ::2] if shape else a):
                x = flex.asarray(b)
                assert (x == 300).tolist() == np.zeros(b.shape, bool).tolist()
                assert (x < 300.5).tolist() == np.ones(b.shape, bool).tolist()
                assert (x >= 99.5).tolist() == (b >= 99.5).tolist()
                assert flex.greater(x, 300).strides == flex.greater(x, 5).strides

    @pytest.mark.parametrize("dtype", ["bool", *INTEGERS])
    def test_complex_numbers_are_equal_or_not(self, dtype):
        values = elements(dtype)
        x = flex.asarray(values, dtype=dtype)
        for c in (1 + 0j, 5.5 + 0j, 1 + 1j, complex(2.0**70), complex(math.nan, 0), 0j):
            for f in (lambda x: x == c, queued(lambda x: x == c), flex.fuse(lambda x: x == c)):  # noqa: B023
                assert f(x).tolist() == [v == c for v in values]
            assert (x != c).tolist() == [v != c for v in values]
            with pytest.raises(flex.DTypeError):
                x < c  # noqa: B015

    def test_numpys_numbers(self):
        x = flex.asarray([1700000000, 5])
        assert (x == np.float64(1700000000.5)).tolist() == [False, False]
        assert (np.float32(5.5) > x).tolist() == [False, True]
        assert (flex.asarray([5], dtype="uint8") == np.int64(261)).tolist() == [False]

    def test_two_numbers(self):
        for a, b in [(16777217, 16777216.5), (2**64, 1), (True, 0.5), (2**63, -1), (3, 3.0)]:
            for name, holds in COMPARISONS.items():
                assert getattr(flex, name)(a, b).tolist() is holds(a, b)
                assert getattr(flex, name)(b, a).tolist() is holds(b, a)

    def test_lists(self):
        x = flex.asarray([1, 200], dtype="uint8")
        assert (x == [300, 200]).tolist() == [False, True]
        assert (x < [300, -1]).tolist() == [True, False]
        assert (x == [1.5, 200.0]).tolist() == [False, True]
        y = flex.asarray([1700000000, 2**62])
        assert (y == [1700000000.5, 2.0**62]).tolist() == [False, True]
        assert (y < [2**63, 2**64 - 1]).tolist() == [True, True]
        with pytest.raises(flex.RangeError):
            x + [300, 1]  # noqa: RUF005

    def test_arithmetic_with_numbers_out_of_range_is_an_error(self):
        x = flex.asarray([1, 2], dtype="uint8")
        for f in (flex.add, flex.maximum, flex.where, flex.clip, flex.bitwise_and):
            for wrap in (lambda f: f, queued, flex.fuse):
                with pytest.raises(flex.RangeError, match="300 is out of range for uint8"):
                    wrap(lambda x, f=f: f(*[x > 0][: f is flex.where], x, 300))(x)
        for f in (operator.add, flex.add, operator.iadd, flex.pow, operator.mul):
            with pytest.raises(OverflowError):
                f(x, 2**200)
        with pytest.raises(OverflowError):
            flex.zeros(2, dtype="float64") + 2**200

    @pytest.mark.parametrize("dtype", FLOATS)
    def test_floats_and_integers_of_any_size(self, dtype):
        """The integer takes the float's dtype, and may become infinite."""
        x = flex.asarray([-math.inf, -1.0, 1.0, math.nan], dtype=dtype)
        assert (x < 2**2000).tolist() == [True, True, True, False]
        assert (x > -(2**200)).tolist() == [dtype == "float64" and False, True, True, False]
        assert (x == 2**2000).tolist() == [False] * 4
        assert 2**200 not in x


class TestSearches:
    @pytest.mark.parametrize("dtype", INTEGERS)
    @pytest.mark.parametrize("side", ["left", "right"])
    def test_searchsorted(self, dtype, side):
        ordered = sorted(elements(dtype))
        x = flex.asarray(ordered, dtype=dtype)
        place = bisect.bisect_left if side == "left" else bisect.bisect_right
        for c in numbers(dtype):
            expected = len(ordered) if c != c else place(ordered, c)
            assert flex.searchsorted(x, c, side=side).tolist() == expected, c
        for kind in FLOATS:
            values = np.asarray([c for c in numbers(dtype) if isinstance(c, float)])
            with np.errstate(over="ignore"):
                values = values.astype(numpy_dtype(kind))
            expected = [
                len(ordered) if c != c else place(ordered, c) for c in values.astype(float).tolist()
            ]
            assert flex.searchsorted(x, flex.asarray(values), side=side).tolist() == expected

    def test_searchsorted_by_a_sorter(self):
        x = flex.asarray([1700000001, 1700000000])
        order = flex.argsort(x)
        assert flex.searchsorted(x, 1700000000.5, sorter=order).tolist() == 1

    @pytest.mark.parametrize("dtype", ["bool", *INTEGERS])
    def test_isin(self, dtype):
        values = elements(dtype)
        x = flex.asarray(values, dtype=dtype)
        for c in numbers(dtype):
            assert flex.isin(x, c).tolist() == [v == c for v in values], c
            assert flex.isin(c, x).tolist() == (c in values), c
            assert (c in x) == (c in values)
        several = np.asarray([c for c in numbers(dtype) if isinstance(c, float)])
        found = [v in several.tolist() for v in values]
        assert flex.isin(x, flex.asarray(several)).tolist() == found
        assert flex.isin(x, flex.asarray(several), invert=True).tolist() == [not y for y in found]
        found = [c in values for c in several.tolist()]
        assert flex.isin(flex.asarray(several), x).tolist() == found

    @pytest.mark.parametrize("dtype", HALVES)
    def test_sixteen_bits(self, dtype):
        x = flex.asarray([0.1, 0.2, 0.3], dtype=dtype)
        assert flex.isin(x, 0.1).tolist() == [True, False, False]
        assert flex.searchsorted(x, 0.2, side="right").tolist() == 2
        assert flex.searchsorted(x, 0.2).tolist() == 1


def test_every_dtype_compares_with_every_number():
    """No comparison of ordered dtypes with a real number is an error."""
    for dtype in ORDERED:
        x = flex.asarray([0, 1], dtype=dtype)
        for c in (True, -1, 300, 2**64, 2**200, 0.1, -math.inf, math.nan):
            for name in COMPARISONS:
                assert getattr(flex, name)(x, c).dtype == flex.bool
                assert queued(getattr(flex, name))(c, x).dtype == flex.bool


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16"])
@pytest.mark.parametrize(
    "call",
    [
        flex.kron,
        flex.dot,
        flex.inner,
        lambda x, y: flex.tensordot(x, y, axes=0),
        lambda x, y: flex.stack([x[0], y, 2]),
        lambda x, y: flex.nn.prelu(-x, y),
        flex.nn.mse_loss,
        flex.nn.l1_loss,
        flex.nn.smooth_l1_loss,
        flex.nn.huber_loss,
        flex.nn.kl_div,
        flex.nn.poisson_nll_loss,
        lambda x, y: flex.nn.gaussian_nll_loss(x, y, y),
    ],
)
def test_numbers_take_the_dtype_of_the_tensor(dtype, call):
    x = flex.asarray([1.0, 2.5], dtype=getattr(flex, dtype))
    found, expected = call(x, 0.1), call(x, flex.asarray(0.1, dtype=x.dtype))
    assert found.dtype == expected.dtype == x.dtype
    assert found.tolist() == expected.tolist()
