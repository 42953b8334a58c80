"""flex.reduce: reductions with user-defined functions."""

import functools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import LAYOUTS, examples

import flex


def square(a, x):
    return a + x * x


def moments(a, x):
    n, mean, m2 = a
    n = n + 1
    d = x - mean
    mean = mean + d / n
    return n, mean, m2 + d * (x - mean)


def join_moments(a, b):
    n = a[0] + b[0]
    d = b[1] - a[1]
    share = flex.where(n > 0, b[0].astype(d.dtype) / flex.maximum(n, 1), 0)
    return n, a[1] + d * share, a[2] + b[2] + d * d * a[0] * share


def variance(a):
    return a[2] / a[0]


def smooth(a, x):
    return 0.75 * a + 0.25 * x


SHAPES = [(7,), (1,), (300,), (5, 3), (1000, 33), (3, 5, 7), (2, 3, 4, 5), (1, 257, 1)]


def axes_of(rank):
    return [None, *range(-rank, rank), *[(0, rank - 1)] * (rank > 1), tuple(range(rank))]


class TestValues:
    @pytest.mark.parametrize("shape", SHAPES)
    @pytest.mark.parametrize("keepdims", [False, True])
    def test_sums_of_squares(self, shape, keepdims):
        x = np.random.default_rng(1).integers(-9, 9, shape).astype(np.float64)
        for axis in axes_of(len(shape)):
            got = flex.reduce(square, 0.0, x, axis=axis, keepdims=keepdims, join=flex.add)
            np.testing.assert_array_equal(got.numpy(), np.sum(x * x, axis=axis, keepdims=keepdims))

    @pytest.mark.parametrize("shape", SHAPES)
    def test_in_order_without_join(self, shape):
        x = np.random.default_rng(2).normal(size=shape)
        for axis in range(len(shape)):
            expected = functools.reduce(
                lambda a, k: 0.75 * a + 0.25 * k, np.moveaxis(x, axis, 0), np.float64(1)
            )
            got = flex.reduce(smooth, 1.0, x, axis=axis)
            np.testing.assert_array_equal(got.numpy(), expected)

    def test_large(self):
        x = np.random.default_rng(3).normal(size=(1 << 20) + 13)
        got = flex.reduce(square, 0.0, x, join=flex.add)
        np.testing.assert_allclose(got.item(), np.sum(x * x), rtol=1e-13)

    @pytest.mark.parametrize("axis", [None, 0, 1])
    def test_several_accumulators(self, axis):
        x = np.random.default_rng(4).normal(size=(123, 77))
        got = flex.reduce(moments, (0, 0.0, 0.0), x, axis=axis, join=join_moments, post=variance)
        np.testing.assert_allclose(got.numpy(), np.var(x, axis=axis), rtol=1e-12)
        n, mean, _ = flex.reduce(moments, (0, 0.0, 0.0), x, axis=axis, join=join_moments)
        np.testing.assert_array_equal(n.numpy(), np.sum(np.ones_like(x), axis=axis))
        np.testing.assert_allclose(mean.numpy(), np.mean(x, axis=axis), rtol=1e-11, atol=1e-16)

    def test_several_tensors(self):
        generator = np.random.default_rng(5)
        x, y = generator.integers(-9, 9, (6, 50)).astype("f"), generator.integers(-9, 9, 50)
        got = flex.reduce(lambda a, x, y: a + x * y, 0.0, x, y.astype("f"), axis=-1, join=flex.add)
        np.testing.assert_array_equal(got.numpy(), x @ y)
        assert got.dtype == flex.float32

    @pytest.mark.parametrize("layout", LAYOUTS)
    def test_layouts(self, layout):
        x = LAYOUTS[layout](np.arange(20.0).reshape(5, 4))
        for axis in axes_of(x.ndim):
            got = flex.reduce(square, 0.0, x, axis=axis, join=flex.add)
            np.testing.assert_array_equal(got.numpy(), np.sum(x**2, axis=axis))

    @pytest.mark.parametrize(
        ("dtype", "init", "expected"),
        [
            (flex.int8, 0, flex.int8),
            (flex.uint8, 0, flex.uint8),
            (flex.bfloat16, 0.0, flex.bfloat16),
            (flex.float32, 0.0, flex.float32),
            (flex.int32, 0.0, flex.float32),
            (flex.complex64, 0.0, flex.complex64),
            (flex.float32, 0, flex.float32),
        ],
    )
    def test_dtypes(self, dtype, init, expected):
        x = flex.asarray([1, 2, 3], dtype=dtype)
        got = flex.reduce(lambda a, x: a + x, init, x, join=flex.add)
        assert got.dtype == expected
        assert got.item() == 6

    def test_equal_numbers_of_different_types(self):
        def step(a, x):
            return a + x

        def sign(a, x):
            return flex.copysign(x, a)

        x = flex.asarray([1, 2, 3], dtype=flex.int64)
        for init, dtype in ((0, flex.int64), (0.0, flex.float32), (0, flex.int64)):
            assert flex.reduce(step, init, x, join=flex.add).dtype == dtype
        assert [flex.reduce(sign, a, flex.ones(1)).item() for a in (0.0, -0.0)] == [1, -1]

    def test_a_wider_accumulator(self):
        x = flex.full(1000, 100, dtype=flex.int8)
        got = flex.reduce(lambda a, x: a + x.astype(flex.int64), 0, x, join=flex.add)
        assert (got.dtype, got.item()) == (flex.int64, 100_000)

    @pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (0, 0)])
    def test_no_elements(self, shape):
        x = np.zeros(shape)
        for axis in axes_of(len(shape)):
            got = flex.reduce(square, 2.0, x, axis=axis, join=lambda a, b: a + b - 2)
            expected = np.full(np.sum(x, axis=axis).shape, 2.0)
            np.testing.assert_array_equal(got.numpy(), expected)

    def test_no_axes(self):
        got = flex.reduce(square, 1.0, flex.asarray([2.0, 3.0]), axis=(), join=flex.add)
        assert got.tolist() == [5, 10]

    def test_nan(self):
        x = flex.asarray([1.0, float("nan"), 2.0])
        assert np.isnan(flex.reduce(flex.maximum, -flex.inf, x, join=flex.maximum).item())

    @examples(40)
    @given(st.integers(0, 3000), st.integers(1, 40), st.booleans())
    def test_any_sizes(self, n, m, inner):
        x = (np.arange(n * m) % 23).astype("f").reshape((m, n) if inner else (n, m))
        got = flex.reduce(square, 0.0, x, axis=int(inner), join=flex.add)
        np.testing.assert_array_equal(got.numpy(), np.sum(x * x, axis=int(inner)))

    def test_bits_do_not_depend_on_threads(self):
        x = np.random.default_rng(6).normal(size=(300, 3001)).astype("f")
        before = flex.get_num_threads()
        results = []
        try:
            for n in (1, 2, 7):
                flex.set_num_threads(n)
                results.append(
                    [
                        flex.reduce(square, 0.0, x, axis=axis, join=flex.add).tolist()
                        for axis in (None, 0, 1)
                    ]
                )
        finally:
            flex.set_num_threads(before)
        assert results[0] == results[1] == results[2]


class TestErrors:
    def test_no_tensor(self):
        with pytest.raises(TypeError, match="no tensor"):
            flex.reduce(square, 0.0)

    def test_what_is_no_function(self):
        x = flex.ones(3)
        with pytest.raises(TypeError, match="reduce: step must be a function, got NoneType"):
            flex.reduce(None, 0.0, x)
        for name in ("join", "post"):
            with pytest.raises(TypeError, match=f"reduce: {name} must be a function, got int"):
                flex.reduce(square, 0.0, x, **{name: 1})

    @pytest.mark.parametrize(
        ("axis", "error", "message"),
        [
            (2, flex.AxisError, "reduce: axis 2 is out of range for 2 dimensions"),
            ((0, 0), flex.AxisError, "reduce: axis 0 is repeated"),
            ("x", TypeError, "reduce: axis: expected an integer"),
            (1.0, TypeError, "reduce: axis: expected an integer"),
        ],
    )
    def test_axes(self, axis, error, message):
        with pytest.raises(error, match=message):
            flex.reduce(square, 0.0, flex.ones((2, 3)), axis=axis)

    @pytest.mark.parametrize("init", [[0.0], "0", None, flex.zeros(()), ([0.0], 1.0)])
    def test_init(self, init):
        with pytest.raises(TypeError, match="init must be a number or a tuple of numbers"):
            flex.reduce(square, init, flex.ones(2))

    def test_shapes(self):
        with pytest.raises(ValueError, match="do not broadcast"):
            flex.reduce(lambda a, x, y: a, 0.0, flex.ones(2), flex.ones(3))

    def test_a_step_that_returns_no_tensor(self):
        with pytest.raises(TypeError, match="step must return tensors, got float"):
            flex.reduce(lambda a, x: 1.0, 0.0, flex.ones(2))

    def test_a_step_with_another_number_of_accumulators(self):
        with pytest.raises(TypeError, match="step must return a tuple of 2"):
            flex.reduce(lambda a, x: a[0] + x, (0.0, 0.0), flex.ones(2))
        with pytest.raises(TypeError, match=r"step must return a tuple of 2, .* got 1"):
            flex.reduce(lambda a, x: (a[0] + x,), (0.0, 0.0), flex.ones(2))

    def test_a_step_that_is_not_elementwise(self):
        with pytest.raises(ValueError, match="step is not elementwise"):
            flex.reduce(lambda a, x: a + x * flex.ones((2, 1)), 0.0, flex.ones(5))

    def test_a_dtype_that_changes(self):
        def step(a, x):
            other = {flex.float32: flex.int32, flex.int32: flex.float32}
            dtype = a.dtype if isinstance(a, flex.Tensor) else flex.int32
            return (a + x).astype(other[dtype])

        with pytest.raises(flex.DTypeError, match="reduce: step gives"):
            flex.reduce(step, 0.0, flex.ones(5))

    def test_a_join_that_returns_no_tensor(self):
        with pytest.raises(TypeError, match="join must return tensors"):
            flex.reduce(square, 0.0, flex.ones(500), join=lambda a, b: 1)

    def test_a_branch(self):
        with pytest.raises(TypeError, match=r"flex\.where"):
            flex.reduce(lambda a, x: a if x > a else x, 0.0, flex.ones(5), join=flex.add)
