"""Functions under NumPy's names that compose others, against NumPy's."""

import warnings

import numpy as np
import pytest
from arrays import COMPLEX, FLOATS, INTEGERS, NUMBERS, check, operands, shapes, wide
from hypothesis import given
from hypothesis import strategies as st
from support import examples

import flex

PRODUCTS = {
    "inner": [((3,), (3,)), ((2, 3), (3,)), ((2, 3), (4, 3)), ((2, 1, 3), (4, 3)), ((), (2, 3))],
    "dot": [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)), ((2, 2, 3), (4, 3, 2)),
            ((2, 2, 3), (3,)), ((3,), (4, 3, 2)), ((), (3,)), ((2, 0), (0, 3))],
    "vdot": [((3,), (3,)), ((2, 3), (3, 2)), ((2, 3), (6,)), ((), ()), ((0,), (0,))],
    "kron": [((2,), (3,)), ((2, 3), (3, 2)), ((2,), (3, 2)), ((2, 1, 2), (2, 3)), ((), (3,)), ((0,), (2,))],
}  # fmt: skip
CASES = [(name, a, b) for name, pairs in PRODUCTS.items() for a, b in pairs]


@pytest.mark.parametrize("case", CASES, ids=str)
@examples(8)
@given(st.sampled_from(NUMBERS), st.data())
def test_products(case, dtype, data):
    name, of_a, of_b = case
    x, a = data.draw(operands([dtype], of_a, special=False))
    y, b = data.draw(operands([dtype], of_b, special=False))
    if dtype in INTEGERS:
        expected = getattr(np, name)(a, b)
    else:
        wider = np.complex128 if dtype in COMPLEX else np.float64
        expected = getattr(np, name)(a.astype(wider), b.astype(wider))
    for z in (getattr(flex, name)(x, y), getattr(x, name)(y)):
        assert z.dtype == dtype
        check(z, expected, *(() if dtype in INTEGERS else (2, 6 * 45**2 * 2.0**-22)))


@pytest.mark.parametrize("name", PRODUCTS)
def test_errors_of_products(name):
    f = getattr(flex, name)
    bools = flex.ones(2, dtype=flex.bool)
    with pytest.raises(flex.DTypeError, match=f"{name}: not defined for bool"):
        f(bools, bools)
    with pytest.raises(flex.DTypeError, match=name):
        f(flex.ones(2, dtype=flex.uint64), flex.ones(2, dtype=flex.int64))
    if name != "kron":
        with pytest.raises(flex.ShapeError, match=name):
            f(flex.ones((2, 3)), flex.ones((2, 5)))


NAN = ["nansum", "nanmean", "nanmax", "nanmin", "nanvar", "nanstd"]


@pytest.mark.parametrize("name", NAN)
@examples(40)
@given(st.sampled_from(["int32", "uint8", *FLOATS]), st.data())
def test_reductions_that_skip_nan(name, dtype, data):
    shape = data.draw(shapes(min_side=1, min_dims=1))
    x, a = data.draw(operands([dtype], shape, low=-3, high=4))
    if dtype not in INTEGERS:
        mask = np.random.default_rng(data.draw(st.integers(0, 99))).random(shape) < 0.4
        a = np.where(mask, np.nan, np.where(np.isinf(wide(a)), 1, a)).astype(a.dtype)
        x = flex.asarray(a)
    axis = data.draw(st.sampled_from([None, *range(-len(shape), len(shape))]))
    keepdims = data.draw(st.booleans())
    exact = a if dtype in INTEGERS else a.astype(np.float64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of means over no numbers
        expected = getattr(np, name)(exact, axis=axis, keepdims=keepdims)
    y = getattr(flex, name)(x, axis=axis, keepdims=keepdims)
    plain = getattr(flex, name.removeprefix("nan"))(x, axis=axis, keepdims=keepdims)
    assert y.dtype == plain.dtype
    n = a.size * 32
    check(y, expected, ulps=4, absolute=0 if y.dtype in INTEGERS else n * 2.0**-23 * 16)


def test_reductions_that_skip_nan_by_hand():
    x = flex.asarray([[1.0, flex.nan, 4.0], [flex.nan, flex.nan, flex.nan]])
    for name, expected in (
        ("nansum", [5, 0]),
        ("nanmean", [2.5, None]),
        ("nanmax", [4, None]),
        ("nanmin", [1, None]),
        ("nanvar", [2.25, None]),
        ("nanstd", [1.5, None]),
    ):
        got = getattr(flex, name)(x, axis=1).tolist()
        assert [None if v != v else v for v in got] == expected
    assert flex.nanvar(x[0], ddof=1).item() == flex.nanvar(x[0], correction=1).item() == 4.5
    assert flex.isnan(flex.nanvar(x[0], ddof=2)).item()
    some = flex.asarray([[1.0, flex.nan, 4.0], [2.0, 3.0, flex.nan]])
    for name in ("nansum", "nanmean", "nanvar", "nanstd"):
        y = getattr(flex, name)(some, axis=0, dtype=flex.float64)
        expected = getattr(np, name)(some.numpy(), axis=0, dtype=np.float64)
        assert y.dtype == flex.float64
        np.testing.assert_allclose(y.numpy(), expected)
    assert flex.nansum(flex.asarray([100, 100], dtype="int8"), dtype="int16").dtype == flex.int16
    with pytest.raises(flex.DTypeError, match="nanmean: dtype is int64"):
        flex.nanmean(x, dtype=flex.int64)
    assert flex.nansum(x, axis=(0, 1)).item() == 5
    with pytest.raises(ValueError, match="nanmax"):
        flex.nanmax(flex.zeros((0,)))
    with pytest.raises(flex.AxisError, match="nanmean"):
        flex.nanmean(x, axis=2)
    with pytest.raises(flex.DTypeError, match="nanvar"):
        flex.nanvar(flex.zeros(2, dtype=flex.complex64))


@pytest.mark.parametrize("dtype", [*FLOATS, *COMPLEX])
def test_nan_to_num(dtype):
    values = [0.5, -flex.inf, flex.inf, flex.nan, -0.0, -2]
    x = flex.asarray(values, dtype=dtype)
    finfo = flex.finfo(dtype)
    assert flex.nan_to_num(x).real.tolist() == [0.5, finfo.min, finfo.max, 0, 0, -2]
    y = flex.nan_to_num(x, nan=1, posinf=2, neginf=3)
    assert (y.dtype, y.real.tolist()) == (dtype, [0.5, 3, 2, 1, 0, -2])


def test_nan_to_num_of_other_dtypes():
    z = flex.asarray([complex("nan+infj"), 1 - 2j])
    assert flex.nan_to_num(z, posinf=7).tolist() == [7j, 1 - 2j]
    assert flex.nan_to_num(flex.asarray([1, 2])).dtype == flex.int64
    assert flex.nan_to_num(flex.asarray([True])).tolist() == [True]


@examples(60)
@given(
    st.sampled_from(["int64", "float32", "float64", "complex64", "bool"]), st.booleans(), st.data()
)
def test_isclose(dtype, equal_nan, data):
    shape = data.draw(shapes())
    x, a = data.draw(operands([dtype], shape, low=-2, high=3))
    y, b = data.draw(operands([dtype], shape, low=-2, high=3))
    keywords = {
        "rtol": data.draw(st.sampled_from([0, 0.3])),
        "atol": data.draw(st.sampled_from([0, 1.1])),
    }
    with np.errstate(invalid="ignore"):
        left, right = (v.astype(np.float64) if dtype == "bool" else v for v in (a, b))
        expected = np.isclose(left, right, **keywords, equal_nan=equal_nan)
    check(flex.isclose(x, y, **keywords, equal_nan=equal_nan), expected)
    assert flex.allclose(x, y, **keywords, equal_nan=equal_nan) is bool(expected.all())
    assert flex.array_equal(x, x, equal_nan=True) is True
    assert flex.array_equal(x, y) is np.array_equal(a, b)


def test_comparisons_by_hand():
    x = flex.asarray([1.0, flex.nan])
    assert flex.array_equal(x, x) is False
    assert flex.array_equal(x, x[:1]) is False
    assert flex.array_equal(flex.asarray([1, 2]), np.array([1.0, 2.0])) is True
    assert flex.isclose(x, 1.0).tolist() == [True, False]
    assert x.allclose(x, equal_nan=True) is True
    with pytest.raises(flex.ShapeError, match="isclose"):
        flex.isclose(flex.ones(2), flex.ones(3))
    with pytest.raises(flex.ShapeError, match="allclose"):
        flex.allclose(flex.ones(2), flex.ones(3))


def test_in_fuse():
    x = flex.asarray([[1.0, flex.nan], [3.0, 4.0]])
    for f in (
        lambda x: flex.nanmean(x * 2, axis=0) + 1,
        lambda x: flex.nan_to_num(x + 1).dot(flex.ones(2)) * 2,
        lambda x: flex.kron(flex.nan_to_num(x), x[1]) + 1,
        lambda x: flex.isclose(x, 3).astype("float32") + 1,
    ):
        fused = flex.fuse(f)
        assert flex.array_equal(fused(x), f(x), equal_nan=True)
        assert flex.array_equal(fused(x + 1), f(x + 1), equal_nan=True)
