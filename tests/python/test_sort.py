"""Sorting and searching against NumPy."""

import numpy as np
import pytest
from arrays import COMPLEX, FLOATS, ORDERED, check, operands, shapes, to_numpy
from hypothesis import given
from hypothesis import strategies as st
from support import examples

import flex


def comparable(a):
    return a.astype(np.float64) if a.dtype.name in FLOATS else a


def ordered_positions(a, axis, descending):
    """The stable order, NaN last in both directions."""
    a = comparable(a)
    if not descending:
        return np.argsort(a, axis=axis, kind="stable")
    # descending and stable: ascending in the reversed line, with NaN as the lowest
    key = np.where(np.isnan(a), -np.inf, a) if a.dtype.kind == "f" else a
    if a.dtype.kind == "f":
        # NaN below -inf: sort by (is not NaN, value)
        order = np.lexsort((np.flip(key, axis), ~np.isnan(np.flip(a, axis))), axis=axis)
    else:
        order = np.argsort(np.flip(key, axis), axis=axis, kind="stable")
    return a.shape[axis] - 1 - np.flip(order, axis)


@st.composite
def lines(draw, dtypes=ORDERED):
    x, a = draw(operands(dtypes, draw(shapes(min_dims=1))))
    return x, a, draw(st.integers(-a.ndim, a.ndim - 1)), draw(st.booleans())


@examples(120)
@given(lines())
def test_sort(case):
    x, a, axis, descending = case
    order = ordered_positions(a, axis, descending)
    y = flex.sort(x, axis=axis, descending=descending)
    assert y.dtype == a.dtype.name
    check(y, np.take_along_axis(comparable(a), order, axis))


@examples(120)
@given(lines(), st.booleans())
def test_argsort(case, stable):
    x, a, axis, descending = case
    order = ordered_positions(a, axis, descending)
    y = flex.argsort(x, axis=axis, descending=descending, stable=stable)
    assert y.dtype == flex.int64
    check(y, order)
    values, indices = flex.sort_with_indices(x, axis=axis, descending=descending)
    check(indices, order)
    check(values, np.take_along_axis(comparable(a), order, axis))


@examples(80)
@given(lines(), st.data())
def test_topk(case, data):
    x, a, axis, largest = case
    k = data.draw(st.integers(0, a.shape[axis]))
    order = ordered_positions(a, axis, largest).take(range(k), axis)
    values, indices = flex.topk(x, k, axis=axis, largest=largest)
    check(indices, order)
    check(values, np.take_along_axis(comparable(a), order, axis))
    values, indices = flex.topk(x, k, axis=axis, largest=largest, sorted=False)
    np.testing.assert_array_equal(np.sort(to_numpy(indices), axis), np.sort(order, axis))
    check(values, np.take_along_axis(comparable(a), to_numpy(indices), axis))


@examples(80)
@given(st.data(), st.sampled_from(["left", "right"]))
def test_searchsorted(data, side):
    dtype = data.draw(st.sampled_from(ORDERED))
    _, a = data.draw(operands([dtype], data.draw(shapes(min_dims=1, max_dims=1))))
    values, b = data.draw(operands([dtype]))
    order = np.argsort(comparable(a), kind="stable")
    line = flex.take(flex.asarray(a, copy=True), flex.asarray(order), axis=0)
    expected = np.searchsorted(comparable(a)[order], comparable(b), side=side)
    y = flex.searchsorted(line, values, side=side)
    assert y.dtype == flex.int64
    check(y, expected)
    check(
        flex.searchsorted(
            flex.asarray(a, copy=True), values, side=side, sorter=flex.asarray(order)
        ),
        expected,
    )


@examples(120)
@given(lines(), st.data())
def test_partition(case, data):
    x, a, axis, _ = case
    n = a.shape[axis]
    kth = data.draw(st.lists(st.integers(-n, n - 1), max_size=3) if n else st.just([]))
    ordered = np.sort(comparable(a), axis)
    positions = to_numpy(flex.argpartition(x, kth, axis))
    gathered = np.take_along_axis(a, positions, axis) if a.size else a
    for y in (to_numpy(flex.partition(x, kth, axis)), gathered):
        assert y.dtype == a.dtype
        y = comparable(y)
        np.testing.assert_array_equal(np.sort(y, axis), ordered)
        for k in kth:
            np.testing.assert_array_equal(y.take(k, axis), ordered.take(k, axis))
            # so are the elements before, in any order
            before = np.moveaxis(y, axis, -1)[..., : k % n]
            expected = np.moveaxis(ordered, axis, -1)[..., : k % n]
            np.testing.assert_array_equal(np.sort(before), expected)


@pytest.mark.parametrize("dtype", ["int8", "float16", "int32", "float32", "int64", "float64"])
def test_partition_of_long_lines(dtype):
    rng = np.random.default_rng(5)
    n = 20_000
    for a in (
        rng.standard_normal((2, n)) * 100,
        rng.integers(0, 3, (2, n)),
        np.zeros((2, n)),
        np.arange(2 * n).reshape(2, n) % 30_000,
    ):
        a = a.astype(dtype)
        if a.dtype.kind == "f":
            a[:, 5:9] = np.nan
        for kth in (0, n - 1, 7, [n // 2, 3], [1, 5, 10, 100, 1000, 10_000, 15_000, 19_999, 2]):
            y = to_numpy(flex.partition(flex.asarray(a), kth))
            ordered = np.sort(a)
            np.testing.assert_array_equal(np.sort(y), ordered)
            np.testing.assert_array_equal(y[:, kth], ordered[:, kth])
            at = to_numpy(flex.argpartition(flex.asarray(a), kth))
            np.testing.assert_array_equal(np.sort(at), np.tile(np.arange(n), (2, 1)))
            np.testing.assert_array_equal(np.take_along_axis(a, at, 1)[:, kth], ordered[:, kth])


def test_searchsorted_takes_numbers():
    line = flex.asarray([0.1, 0.2, 0.3], dtype="float64")
    assert flex.searchsorted(line, 0.2, side="right").item() == 2
    assert flex.searchsorted(flex.asarray([1, 2], dtype="uint64"), 2).item() == 1


def test_zeros_of_both_signs_are_equal():
    x = flex.asarray([0.0, -0.0, 0.0, -1.0])
    assert flex.argsort(x).tolist() == [3, 0, 1, 2]
    assert flex.argsort(x, descending=True).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("dtype", COMPLEX)
@pytest.mark.parametrize("name", ["sort", "argsort", "sort_with_indices"])
def test_complex_numbers_have_no_order(name, dtype):
    with pytest.raises(flex.DTypeError, match="sort: not defined for complex"):
        getattr(flex, name)(flex.ones(3, dtype=dtype))


def test_errors():
    x = flex.asarray([[3, 1, 2]])
    with pytest.raises(flex.AxisError, match="sort: axis 2 is out of range"):
        flex.sort(x, axis=2)
    with pytest.raises(ValueError, match="topk: k is 4, but axis 1 has 3 elements"):
        flex.topk(x, 4)
    with pytest.raises(ValueError, match="topk: k is -1"):
        flex.topk(x, -1)
    with pytest.raises(ValueError, match='side is "middle"'):
        flex.searchsorted(x[0], x[0], side="middle")
    with pytest.raises(flex.ShapeError, match="searchsorted"):
        flex.searchsorted(x, x)
    with pytest.raises(IndexError):
        flex.searchsorted(x[0], x[0], sorter=flex.asarray([0, 1, 9]))
    with pytest.raises(flex.DTypeError):
        flex.topk(flex.ones(3, dtype="complex64"), 1)
    for f in (flex.partition, flex.argpartition):
        with pytest.raises(
            ValueError, match=f"{f.__name__}: kth is 3, out of range for 3 elements"
        ):
            f(x, [0, 3])
        with pytest.raises(ValueError, match=f"{f.__name__}: kth is -4"):
            f(x, -4)
        with pytest.raises(flex.AxisError, match=f"{f.__name__}: axis 2"):
            f(x, 0, 2)
        with pytest.raises(TypeError):
            f(x, 1.5)
        with pytest.raises(flex.DTypeError):
            f(flex.ones(3, dtype="complex64"), 1)


def test_long_lines():
    a = np.random.default_rng(3).standard_normal(100_000).astype(np.float32)
    x = flex.asarray(a)
    np.testing.assert_array_equal(to_numpy(flex.sort(x)), np.sort(a))
    np.testing.assert_array_equal(to_numpy(flex.argsort(x)), np.argsort(a, kind="stable"))
