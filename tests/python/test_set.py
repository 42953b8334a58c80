"""Sets against NumPy's."""

import pickle

import numpy as np
import pytest
from arrays import ALL, COMPLEX, ORDERED, check, operands, to_numpy, wide
from hypothesis import given
from hypothesis import strategies as st
from support import examples

import flex


def unique(a):
    """Values, first indices, inverse and counts; every NaN is distinct."""
    values, indices, inverse, counts = np.unique(
        wide(a), return_index=True, return_inverse=True, return_counts=True, equal_nan=False
    )
    return values, indices, inverse.reshape(a.shape), counts


@examples(150)
@given(operands(ALL, low=-4, high=5))
def test_unique(case):
    x, a = case
    values, indices, inverse, counts = unique(a)
    u = flex.unique_all(x)
    assert u._fields == ("values", "indices", "inverse_indices", "counts")
    assert u.values.dtype == a.dtype.name
    for found, expected in zip(u, (values, indices, inverse, counts), strict=True):
        check(found, expected)
    assert {t.dtype for t in u[1:]} == {flex.int64}

    by_counts = flex.unique_counts(x)
    assert by_counts._fields == ("values", "counts")
    check(by_counts.values, values)
    check(by_counts.counts, counts)

    by_inverse = flex.unique_inverse(x)
    assert by_inverse._fields == ("values", "inverse_indices")
    check(by_inverse.values, values)
    check(by_inverse.inverse_indices, inverse)
    check(by_inverse.values[by_inverse.inverse_indices], wide(a))

    check(flex.unique_values(x), values)


def test_zeros_and_nans():
    x = flex.asarray([np.nan, 0.0, -0.0, np.nan, np.inf])
    u = flex.unique_all(x)
    np.testing.assert_array_equal(
        to_numpy(u.values), np.array([0, np.inf, np.nan, np.nan], np.float32)
    )
    assert u.indices.tolist() == [1, 4, 0, 3]
    assert u.inverse_indices.tolist() == [2, 0, 0, 3, 1]
    assert u.counts.tolist() == [2, 1, 1, 1]
    assert flex.isin(x, x).tolist() == [False, True, True, False, True]


def test_empty_and_single_elements():
    u = flex.unique_all(flex.zeros((2, 0, 3)))
    assert [t.shape for t in u] == [(0,), (0,), (2, 0, 3), (0,)]
    u = flex.unique_all(7)
    assert [t.tolist() for t in u] == [[7], [0], 0, [1]]


def test_results_are_pickled():
    x = flex.asarray([2, 1, 2])
    for u in (flex.unique_all(x), flex.unique_counts(x), flex.unique_inverse(x)):
        copy = pickle.loads(pickle.dumps(u))
        assert type(copy) is type(u)
        assert [t.tolist() for t in copy] == [t.tolist() for t in u]


@examples(150)
@given(st.data(), st.sampled_from(ORDERED), st.booleans())
def test_isin(data, dtype, invert):
    x, a = data.draw(operands([dtype], low=-4, high=5))
    elements, b = data.draw(operands([dtype], low=-4, high=5))
    check(flex.isin(x, elements, invert=invert), np.isin(wide(a), wide(b), invert=invert))


def test_isin_with_numbers_and_other_dtypes():
    x = flex.asarray([1, 2, 3], dtype=flex.int8)
    assert flex.isin(x, 2).tolist() == [False, True, False]
    assert flex.isin(2, x).tolist() is True
    assert flex.isin(2, 3).tolist() is False
    assert flex.isin(x, 2.5).tolist() == [False, False, False]
    assert flex.isin(x, flex.asarray([2.0, 2.5])).tolist() == [False, True, False]
    assert flex.isin(x, flex.zeros(0, dtype=flex.int8), invert=True).tolist() == [True, True, True]
    assert flex.isin(x, 300).tolist() == [False, False, False]
    with pytest.raises(TypeError):
        flex.isin([1, 2], x)
    for dtype in COMPLEX:
        with pytest.raises(flex.DTypeError):
            flex.isin(flex.ones(2, dtype=dtype), flex.ones(2, dtype=dtype))


def test_isin_with_lists():
    x = flex.asarray([0.1, 2.0, 300.0], dtype="float64")
    assert flex.isin(x, [0.1, 300]).tolist() == [True, False, True]
    assert flex.isin(
        flex.asarray([1, 2, 3], dtype="int8"), [2, 2.5, 1000], invert=True
    ).tolist() == [True, False, True]
    assert flex.isin(3, [1, 3]).item()
    assert not flex.isin(x, []).any()
    with pytest.raises(TypeError, match="isin"):
        flex.isin(x, ["a"])
