"""Reductions and scans against NumPy: every function, dtypes, layouts, sets of axes."""

import numpy as np
import pytest
from arrays import (
    ALL,
    BOOL,
    COMPLEX,
    EPS,
    FLOATS,
    HALVES,
    INTEGERS,
    NUMBERS,
    ORDERED,
    REAL,
    UNSIGNED,
    check,
    operands,
    shapes,
    to_numpy,
    wide,
)
from hypothesis import given
from hypothesis import strategies as st
from support import examples

import flex


@st.composite
def reductions(draw, dtypes, min_side=0, special=True):
    """A tensor, its array, and axes to reduce."""
    shape = draw(shapes(min_side=min_side))
    x, a = draw(operands(dtypes, shape, special))
    axes = draw(
        st.one_of(
            st.none(),
            st.sets(st.integers(0, max(a.ndim - 1, 0)), max_size=a.ndim).map(tuple)
            if a.ndim
            else st.just(()),
        )
    )
    if axes and draw(st.booleans()):
        axes = tuple(k - a.ndim for k in axes)
    return x, a, axes, draw(st.booleans())


def exact(a):
    """The array in a dtype wide enough for all sums."""
    return a.astype(
        {"b": np.int64, "i": np.int64, "u": np.uint64, "c": np.clongdouble}.get(
            a.dtype.kind, np.longdouble
        )
    )


def same(x, y):
    """Asserts equal values; NaN equals NaN."""
    np.testing.assert_array_equal(wide(to_numpy(x)), wide(to_numpy(y)))


def sum_dtype(name):
    if name in UNSIGNED:
        return "uint64"
    return "int64" if name in [*BOOL, *INTEGERS] else name


def bound(a, axes):
    """The largest sum of magnitudes, which the error bound of a sum is relative to."""
    magnitudes = np.abs(exact(a))
    return float(
        np.max(np.sum(np.where(np.isfinite(magnitudes), magnitudes, 0), axis=axes), initial=0)
    )


@examples(80)
@given(reductions(ALL))
def test_sum(case):
    x, a, axes, keepdims = case
    y = flex.sum(x, axis=axes, keepdims=keepdims)
    dtype = sum_dtype(a.dtype.name)
    assert y.dtype == dtype
    with np.errstate(all="ignore"):
        expected = np.sum(exact(a), axis=axes, keepdims=keepdims)
    check(
        y,
        expected,
        ulps=2 if dtype in EPS else 0,
        absolute=4 * bound(a, axes) * min(EPS.get(dtype, 0), 2**-23),
    )
    if axes is None and not keepdims:
        same(x.sum(), y)


@examples(60)
@given(reductions(NUMBERS, special=False))
def test_prod(case):
    x, a, axes, keepdims = case
    y = flex.prod(x, axis=axes, keepdims=keepdims)
    dtype = sum_dtype(a.dtype.name)
    assert y.dtype == dtype
    with np.errstate(all="ignore"):
        expected = np.prod(exact(a), axis=axes, keepdims=keepdims)
    if dtype in EPS:
        # only if no partial product overflows or underflows, in any order of multiplication
        magnitudes = np.abs(exact(a))
        largest = {"float16": 6e4, "float64": 1e300, "complex128": 1e150}.get(
            dtype, 1e38 if dtype in FLOATS else 1e18
        )
        grown, shrunk = (
            np.prod(np.maximum(magnitudes, 1)),
            np.prod(np.where(magnitudes == 0, 1, np.minimum(magnitudes, 1))),
        )
        if grown < largest and shrunk > 10 / largest:
            check(y, expected, ulps=2 * max(a.size, 1))
    else:
        check(y, expected)


@examples(60)
@given(reductions(ALL, min_side=1))
def test_mean(case):
    x, a, axes, keepdims = case
    y = flex.mean(x, axis=axes, keepdims=keepdims)
    dtype = a.dtype.name if a.dtype.name in EPS else "float32"
    assert y.dtype == dtype
    with np.errstate(all="ignore"):
        total = np.sum(
            a.astype(np.clongdouble if a.dtype.kind == "c" else np.longdouble),
            axis=axes,
            keepdims=keepdims,
        )
        count = a.size / max(np.asarray(total).size, 1)
        expected = total / count
    check(y, expected, ulps=4, absolute=4 * bound(a, axes) / count * min(EPS[dtype], 2**-23))


@pytest.mark.parametrize("name", ["var", "std"])
@examples(60)
@given(reductions([*FLOATS, *INTEGERS], min_side=1, special=False), st.sampled_from([0, 1, 0.5]))
def test_var_and_std(name, case, correction):
    x, a, axes, keepdims = case
    y = getattr(flex, name)(x, axis=axes, keepdims=keepdims, correction=correction)
    dtype = a.dtype.name if a.dtype.name in EPS else "float32"
    assert y.dtype == dtype
    wide = a.astype(np.longdouble)
    mean = np.mean(wide, axis=axes, keepdims=True)
    squares = np.sum((wide - mean) ** 2, axis=axes, keepdims=keepdims)
    count = a.size / max(np.asarray(squares).size, 1)
    if count <= correction:
        assert np.isnan(to_numpy(y).astype(np.float64)).all()
        return
    expected = squares / (count - correction)
    if name == "std":
        expected = np.sqrt(expected)
    # the mean is rounded to the dtype of the computation: an error relative to the values
    scale = float(np.max(np.abs(wide), initial=0)) * min(EPS[dtype], 2**-23)
    check(y, expected, ulps=8, absolute=scale if name == "std" else scale**2 * 4)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_var_and_std_of_complex_numbers(dtype):
    rng = np.random.default_rng(3)
    a = (rng.normal(size=(4, 5, 6)) + 1j * rng.normal(size=(4, 5, 6)) + 100).astype(dtype)
    for axis in (None, 0, (1, 2), -1):
        for name in ("var", "std"):
            y = getattr(flex, name)(flex.asarray(a), axis=axis, correction=1)
            expected = getattr(np, name)(a.astype(complex), axis=axis, ddof=1)
            assert y.dtype == {"complex64": "float32", "complex128": "float64"}[dtype]
            np.testing.assert_allclose(
                y.numpy(), expected, rtol=1e-4 if dtype == "complex64" else 1e-12
            )


@pytest.mark.parametrize("name", ["max", "min"])
@examples(60)
@given(reductions(ORDERED, min_side=1))
def test_max_and_min(name, case):
    x, a, axes, keepdims = case
    y = getattr(flex, name)(x, axis=axes, keepdims=keepdims)
    assert y.dtype == a.dtype.name
    wide = a.astype(np.float64) if a.dtype.name in FLOATS else a
    check(y, getattr(np, name)(wide, axis=axes, keepdims=keepdims))


@pytest.mark.parametrize("name", ["argmax", "argmin"])
@examples(60)
@given(st.data())
def test_argmax_and_argmin(name, data):
    x, a = data.draw(operands(ORDERED, data.draw(shapes(min_side=1))))
    axis = data.draw(st.sampled_from([None, *range(-a.ndim, a.ndim)]))
    keepdims = data.draw(st.booleans())
    wide = a.astype(np.float64) if a.dtype.name in FLOATS else a
    expected = getattr(np, name)(wide, axis=axis, keepdims=keepdims)
    y = getattr(flex, name)(x, axis=axis, keepdims=keepdims)
    assert y.dtype == flex.int64
    check(y, expected)
    values, indices = getattr(flex, name.replace("arg", "") + "_with_indices")(
        x, axis=axis, keepdims=keepdims
    )
    check(indices, expected)
    check(values, getattr(np, name.replace("arg", ""))(wide, axis=axis, keepdims=keepdims))


@pytest.mark.parametrize("name", ["any", "all", "count_nonzero"])
@examples(60)
@given(reductions(ALL))
def test_any_all_and_count_nonzero(name, case):
    x, a, axes, keepdims = case
    y = getattr(flex, name)(x, axis=axes, keepdims=keepdims)
    true = a.astype(np.float64) != 0 if a.dtype.name in HALVES else a != 0
    reduce = np.sum if name == "count_nonzero" else getattr(np, name)
    assert y.dtype == (flex.int64 if name == "count_nonzero" else flex.bool)
    check(y, reduce(true, axis=axes, keepdims=keepdims))


@pytest.mark.parametrize("name", ["sum", "prod"])
def test_accumulation_in_a_given_dtype(name):
    x = flex.asarray([100, 100, 2], dtype="int8")
    reduce = getattr(flex, name)
    assert reduce(x).dtype == flex.int64
    assert reduce(x, dtype="int8").tolist() == int(
        getattr(np, name)(np.array([100, 100, 2], np.int8), dtype=np.int8)
    )
    assert reduce(x, dtype="float64").dtype == flex.float64
    with pytest.raises(flex.DTypeError, match=name):
        reduce(x, dtype="bool")


@pytest.mark.parametrize(
    ("name", "value"),
    [("sum", 0), ("prod", 1), ("any", False), ("all", True), ("count_nonzero", 0)],
)
def test_empty_reductions(name, value):
    assert getattr(flex, name)(flex.zeros((0, 2))).item() == value
    assert getattr(flex, name)(flex.zeros((0, 2)), axis=0).tolist() == [value, value]


@pytest.mark.parametrize(
    "name", ["max", "min", "argmax", "argmin", "max_with_indices", "min_with_indices"]
)
def test_empty_reductions_without_an_identity(name):
    with pytest.raises(ValueError, match=name):
        getattr(flex, name)(flex.zeros((0, 2)))
    assert flex.max(flex.zeros((0, 2)), axis=1).shape == (0,)


def test_mean_of_empty_is_nan():
    assert np.isnan(flex.mean(flex.zeros(0)).item())


@pytest.mark.parametrize(
    "name", ["sum", "prod", "mean", "var", "std", "max", "min", "any", "all", "count_nonzero"]
)
def test_wrong_axes(name):
    reduce, x = getattr(flex, name), flex.zeros((2, 3))
    for axis in (2, -3, (0, 5)):
        with pytest.raises(
            flex.AxisError, match=f"{name}: axis .* is out of range for 2 dimensions"
        ):
            reduce(x, axis=axis)
    with pytest.raises(flex.AxisError, match=f"{name}: axis (0|-2) is repeated"):
        reduce(x, axis=(0, -2))
    for axis in ("0", 1.5, object()):
        with pytest.raises(TypeError):
            reduce(x, axis=axis)
    with pytest.raises(TypeError):
        reduce(x, 0, None)  # the parameters after the axis are keyword-only


@pytest.mark.parametrize("name", ["nanvar", "nanstd", "max", "min", "argmax", "argmin"])
@pytest.mark.parametrize("dtype", COMPLEX)
def test_complex_numbers_have_no_order(name, dtype):
    with pytest.raises(flex.DTypeError, match=f"{name}.*{dtype}"):
        getattr(flex, name)(flex.ones(3, dtype=dtype))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float64", "complex64"])
def test_sums_are_the_same_for_any_number_of_threads(dtype):
    rng = np.random.default_rng(1)
    x = flex.astype(flex.asarray(rng.standard_normal((517, 1031))), dtype)
    for axis in (None, 0, 1):
        with flex.threads(1):
            one = flex.sum(x, axis=axis)
        for threads in (2, 5):
            with flex.threads(threads):
                np.testing.assert_array_equal(to_numpy(flex.sum(x, axis=axis)), to_numpy(one))


# ---- scans


@st.composite
def lines(draw, dtypes, special=True, low=-9, high=10):
    x, a = draw(operands(dtypes, draw(shapes(min_dims=1)), special, low, high))
    return x, a, draw(st.integers(-a.ndim, a.ndim - 1))


@examples(60)
@given(lines(ALL, special=False), st.booleans())
def test_cumulative_sum(case, initial):
    x, a, axis = case
    y = flex.cumulative_sum(x, axis=axis, include_initial=initial)
    dtype = sum_dtype(a.dtype.name)
    assert y.dtype == dtype
    expected = np.cumsum(exact(a), axis=axis)
    if initial:
        expected = np.concatenate(
            [
                np.zeros_like(
                    expected,
                    shape=tuple(1 if k == axis % a.ndim else n for k, n in enumerate(a.shape)),
                ),
                expected,
            ],
            axis,
        )
    check(
        y,
        expected,
        ulps=2 if dtype in EPS else 0,
        absolute=float(np.sum(np.abs(exact(a)))) * min(EPS.get(dtype, 0), 2**-23) * 4,
    )


@examples(40)
@given(lines(INTEGERS), st.booleans())
def test_cumulative_prod(case, initial):
    x, a, axis = case
    y = flex.cumulative_prod(x, axis=axis, include_initial=initial)
    expected = np.cumprod(exact(a), axis=axis)
    if initial:
        expected = np.concatenate(
            [
                np.ones_like(
                    expected,
                    shape=tuple(1 if k == axis % a.ndim else n for k, n in enumerate(a.shape)),
                ),
                expected,
            ],
            axis,
        )
    check(y, expected)


@pytest.mark.parametrize(
    ("name", "ufunc"), [("cumulative_max", np.maximum), ("cumulative_min", np.minimum)]
)
@examples(40)
@given(case=lines(ORDERED))
def test_cumulative_max_and_min(name, ufunc, case):
    x, a, axis = case
    y = getattr(flex, name)(x, axis=axis)
    assert y.dtype == a.dtype.name
    check(y, ufunc.accumulate(a.astype(np.float64) if a.dtype.name in FLOATS else a, axis=axis))


@examples(40)
@given(
    lines(["int8", "int64", "uint8", "float32", "float64", "complex64"], special=False),
    st.integers(0, 3),
)
def test_diff(case, n):
    x, a, axis = case
    y = flex.diff(x, axis=axis, n=n)
    assert y.dtype == a.dtype.name
    size = max(a.shape[axis] - n, 0)
    if size == 0:
        assert y.shape[axis] == 0
    else:
        check(y, np.diff(a, n=n, axis=axis))


def test_diff_with_prepend_and_append():
    x = flex.asarray([1, 4, 9])
    assert flex.diff(x, prepend=flex.asarray([0]), append=flex.asarray([16])).tolist() == [
        1,
        3,
        5,
        7,
    ]
    with pytest.raises(ValueError, match="diff: n is -1"):
        flex.diff(x, n=-1)
    with pytest.raises(flex.DTypeError, match="diff"):
        flex.diff(flex.asarray([True, False]))


@pytest.mark.parametrize(
    "name", ["cumulative_sum", "cumulative_prod", "cumulative_max", "cumulative_min"]
)
def test_axis_of_cumulative_functions(name):
    total = getattr(flex, name)
    assert total(flex.ones(3)).shape == (3,)
    with pytest.raises(ValueError, match=name):
        total(flex.ones((2, 3)))
    with pytest.raises(flex.AxisError, match=name):
        total(flex.ones((2, 3)), axis=2)


@examples(40)
@given(reductions(REAL, min_side=1))
def test_methods_are_the_functions(case):
    x, _, axes, keepdims = case
    for name in ("sum", "mean", "max", "min", "any", "all"):
        method, function = getattr(x, name), getattr(flex, name)
        same(method(axis=axes, keepdims=keepdims), function(x, axis=axes, keepdims=keepdims))
