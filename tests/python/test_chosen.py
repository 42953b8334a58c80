"""NumPy's `where` and `initial` of reductions, SciPy's `b` and `return_sign` of logsumexp, against them."""

import warnings

import numpy as np
import pytest
from arrays import ALL, COMPLEX, EPS, FLOATS, ORDERED, check, random_array
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp
from support import examples

import flex

X = np.array([[3.0, -1.0, 4.0], [1.0, 5.0, -9.0]])
M = np.array([[True, False, True], [False, False, False]])


@st.composite
def cases(draw, dtypes):
    """An array, a mask that broadcasts to it, an axis, and whether it is kept."""
    shape = draw(st.tuples(*[st.integers(0, 5)] * draw(st.integers(0, 3))))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    a = random_array(draw(st.sampled_from(dtypes)), shape, rng, special=False)
    start = draw(st.integers(0, len(shape)))
    kept = tuple(n if draw(st.booleans()) else 1 for n in shape[start:])
    mask = rng.random(kept) < 0.6
    axis = draw(st.sampled_from([None, *range(len(shape))]))
    return a, mask, axis, draw(st.booleans())


def wide(a):
    return a.astype(
        {"c": np.complex128, "f": np.float64, "V": np.float64}.get(a.dtype.kind, a.dtype)
    )


@examples(80)
@given(cases(ALL), st.sampled_from(["sum", "prod"]), st.sampled_from([None, 2]))
def test_sums_and_products(case, name, initial):
    a, mask, axis, keepdims = case
    x = flex.asarray(a)
    found = getattr(flex, name)(x, axis, keepdims=keepdims, where=mask, initial=initial)
    theirs = {"keepdims": keepdims, "where": mask}
    if initial is not None:
        theirs["initial"] = initial
    expected = getattr(np, name)(wide(a), axis, **theirs)
    assert found.dtype == getattr(flex, name)(x).dtype
    exact = name == "sum" and a.dtype.name in EPS
    scale = np.abs(wide(a)).sum() + 2 if exact else np.abs(wide(a)).max(initial=1) ** a.size
    if a.dtype.name == "float16" and scale > 6e4:
        return
    units = EPS.get(a.dtype.name, 0)
    check(found, expected, ulps=4 * (1 + a.size) if units else 0, absolute=4 * float(scale) * units)


@examples(80)
@given(cases(ORDERED), st.sampled_from(["max", "min"]))
def test_extremes(case, name):
    a, mask, axis, keepdims = case
    initial = bool(a.size % 2) if a.dtype == bool else 3
    found = getattr(flex.asarray(a), name)(axis, keepdims=keepdims, where=mask, initial=initial)
    expected = getattr(np, name)(wide(a), axis, keepdims=keepdims, where=mask, initial=initial)
    assert found.dtype == a.dtype.name
    check(found, expected)
    found = getattr(flex, name)(a, axis, initial=initial)
    check(found, getattr(np, name)(wide(a), axis, initial=initial))


@examples(60)
@given(cases(ALL))
def test_means_and_truths(case):
    a, mask, axis, keepdims = case
    how = {"keepdims": keepdims, "where": mask}
    found = flex.mean(flex.asarray(a), axis, **how)
    dtype = a.dtype.name if a.dtype.name in EPS else "float32"
    assert found.dtype == dtype
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # means of nothing
        expected = np.mean(wide(a), axis, **how)
    check(found, expected, ulps=4, absolute=40 * EPS[dtype])
    for name in ("any", "all"):
        found = getattr(flex, name)(a, axis, **how)
        assert found.dtype == flex.bool
        check(found, getattr(np, name)(wide(a), axis, **how))


@examples(60)
@given(cases(ALL), st.sampled_from([0, 1]))
def test_spreads(case, ddof):
    a, mask, axis, keepdims = case
    how = {"keepdims": keepdims, "where": mask, "ddof": ddof}
    real = {"complex64": "float32", "complex128": "float64"}.get(a.dtype.name, a.dtype.name)
    dtype = real if real in EPS else "float32"
    count = np.sum(np.broadcast_to(mask, a.shape), axis, keepdims=keepdims)
    for name in ("var", "std"):
        found = getattr(flex, name)(flex.asarray(a), axis, **how)
        assert found.dtype == dtype
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # spreads of nothing
            expected = np.where(count > ddof, getattr(np, name)(wide(a), axis, **how), np.nan)
        check(found, expected, ulps=8, absolute=40 * EPS[dtype])


def test_forms():
    x, mask = flex.asarray(X), flex.asarray(M)
    assert x.sum(where=M.tolist()).item() == 7
    assert x.sum(1, where=mask, initial=0.5).tolist() == [7.5, 0.5]
    assert x.mean(0, where=[[True], [False]]).tolist() == X[0].tolist()
    assert x.mean(where=mask, dtype="float32").dtype == flex.float32
    assert flex.sum(x > 0, where=mask, initial=5).item() == 7
    assert flex.sum(flex.asarray([200, 100], dtype="uint8"), dtype="uint8", initial=1).item() == 45
    out = np.zeros(2)
    assert x.sum(1, where=mask, out=out) is out
    assert out.tolist() == [7, 0]
    # elements that don't count may be anything
    bad = flex.asarray([1.0, np.nan, np.inf])
    first = [True, False, False]
    assert bad.sum(where=first).item() == bad.mean(where=first).item() == 1
    assert bad.max(where=first, initial=0).item() == 1
    assert np.isnan(bad.max(where=[True, True, False], initial=0).item())
    # that overflow its dtype as a sum
    half = flex.asarray([6e4, 6e4, 1.0], dtype="float16")
    assert half.mean(where=[True, True, False]).item() == half[0].item()
    huge = flex.asarray([2**62, 2**62, 2**62])
    assert huge.mean(where=[True, True, True]).item() == 2.0**62
    assert flex.max(flex.zeros((0, 2)), 0, initial=7.0).tolist() == [7, 7]
    assert np.isnan(x.mean(where=False).item())
    assert x.var(where=mask).item() == 0.25
    assert x.std(1, ddof=1, where=mask).tolist()[0] == np.sqrt(0.5)
    assert bad.std(where=first).item() == 0


def test_numpy_hands_them_over():
    x = flex.asarray(X)
    for name in ("sum", "prod", "max", "min", "amax", "amin"):
        found = getattr(np, name)(x, axis=1, where=M, initial=2)
        assert type(found) is flex.Tensor
        assert found.tolist() == getattr(np, name)(X, axis=1, where=M, initial=2).tolist()
    assert np.mean(x, where=M).item() == 3.5
    assert np.any(x, axis=1, where=M).tolist() == [True, False]
    assert np.std(x, where=M) == np.std(X, where=M)


def test_in_fused_functions():
    x, mask = flex.asarray(X), flex.asarray(M)
    f = flex.fuse(lambda x, m: (x * 2).sum(1, where=m, initial=1) + x.max(where=x > 0, initial=0))
    for _ in range(2):
        assert f(x, mask).tolist() == [20, 6]


ERRORS = [
    (flex.DTypeError, "sum: where is bool, not int64", lambda x: x.sum(where=[1, 0, 1])),
    (flex.ShapeError, "prod: where does not broadcast", lambda x: x.prod(where=[True, False])),
    (flex.ShapeError, "mean: where does not", lambda x: x[0].mean(where=M)),
    (flex.ShapeError, "std: where does not", lambda x: x[0].std(where=M)),
    (flex.DTypeError, "var: where is bool", lambda x: x.var(where=[1, 0, 1])),
    (ValueError, "max: where needs initial", lambda x: x.max(where=M)),
    (flex.DTypeError, "sum: 1j is not|sum: .*not a value of", lambda x: x.sum(initial=1j)),
    (
        flex.DTypeError,
        "max: 2.5 is not a value of int8",
        lambda x: x.astype("int8").max(initial=2.5),
    ),
    (flex.RangeError, "min: 300 is out of range", lambda x: x.astype("int8").min(initial=300)),
    (flex.DTypeError, "complex", lambda x: flex.max(x.astype("complex64"), initial=0)),
    (flex.AxisError, "sum: axis 3", lambda x: x.sum(3, where=M)),
    (flex.AxisError, "max: axis 3", lambda x: x.max(3, initial=1)),
    (TypeError, "initial", lambda x: x.mean(initial=1)),
]


@pytest.mark.parametrize(("error", "message", "call"), ERRORS)
def test_errors(error, message, call):
    with pytest.raises(error, match=message):
        call(flex.asarray(X))


@pytest.mark.parametrize("dtype", FLOATS)
def test_weighted_logarithms_of_sums(dtype):
    rng = np.random.default_rng(3)
    a = flex.asarray(rng.normal(0, 3, (3, 4, 5))).astype(dtype)
    b = flex.asarray(rng.normal(0, 1, (4, 1))).astype(dtype)
    for weights in (b, [[1.0], [0.0], [-2.0], [0.5]], 3):
        for axis in (None, 1, (0, 2)):
            for keepdims in (False, True):
                y, sign = flex.logsumexp(a, axis, b=weights, return_sign=True, keepdims=keepdims)
                double = np.asarray(a.astype("float64"))
                exactly = np.asarray(flex.asarray(weights).astype("float64"))
                how = {"b": exactly, "keepdims": keepdims}
                expected, signs = logsumexp(double, axis, return_sign=True, **how)
                assert y.dtype == sign.dtype == getattr(flex, dtype)
                check(y, expected, ulps=4, absolute=8 * EPS[dtype])
                check(sign, signs)
                found = flex.logsumexp(a, axis, **{**how, "b": weights})
                plain = np.where(signs < 0, np.nan, np.asarray(y.astype("float64")))
                np.testing.assert_array_equal(np.asarray(found.astype("float64")), plain)


def test_edges_of_logarithms_of_sums():
    inf = np.inf
    found = flex.logsumexp(flex.asarray([1000.0, inf]), b=[2, 0]).item()
    assert found == pytest.approx(1000 + np.log(2))
    y, sign = flex.logsumexp(flex.asarray([inf, -inf]), b=[-1, 1], return_sign=True)
    assert (y.item(), sign.item()) == (inf, -1)
    y, sign = flex.logsumexp(flex.zeros(2), b=[1, -1], return_sign=True)
    assert (y.item(), sign.item()) == (-inf, 0)
    assert np.isnan(flex.logsumexp(flex.asarray([inf, inf]), b=[1, -1]).item())
    assert flex.logsumexp(flex.zeros((0, 2)), 0, b=1).tolist() == [-inf, -inf]
    y, sign = flex.asarray([1, 2]).logsumexp(return_sign=True)
    assert (y.dtype, sign.item()) == (flex.float32, 1)
    assert flex.logsumexp(
        flex.zeros(2, dtype="float32"), b=flex.ones(2, dtype="float64")
    ).dtype == (flex.float64)
    with pytest.raises(flex.ShapeError, match="logsumexp"):
        flex.logsumexp(flex.zeros(2), b=[1, 2, 3])
    for dtype in COMPLEX:
        with pytest.raises(flex.DTypeError, match="logsumexp"):
            flex.logsumexp(flex.zeros(2), b=flex.ones(2, dtype=dtype))
    with pytest.raises(flex.AxisError, match="logsumexp: axis 1"):
        flex.logsumexp(flex.zeros(2), 1, b=2)
