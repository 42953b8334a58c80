"""Quantiles against NumPy's."""

import warnings

import numpy as np
import pytest
from arrays import EPS, FLOATS, INTEGERS, check, operands, shapes
from hypothesis import given
from hypothesis import strategies as st
from support import examples

import flex

METHODS = [
    "linear",
    "lower",
    "higher",
    "nearest",
    "midpoint",
    "inverted_cdf",
    "averaged_inverted_cdf",
    "closest_observation",
    "interpolated_inverted_cdf",
    "hazen",
    "weibull",
    "median_unbiased",
    "normal_unbiased",
]


@examples(120)
@given(st.sampled_from([*FLOATS, *INTEGERS]), st.data())
def test_quantiles(dtype, data):
    shape = data.draw(shapes(min_side=1, min_dims=1))
    x, a = data.draw(operands([dtype], shape, special=False))
    axis = data.draw(st.sampled_from([None, *range(-len(shape), len(shape)), (0, -1)]))
    if axis == (0, -1) and len(shape) == 1:
        axis = (0,)
    keywords = {"axis": axis, "keepdims": data.draw(st.booleans())}
    exact = a.astype(np.float64)
    q = data.draw(st.sampled_from([0.5, 0, 1, [0.25, 0.1], [], np.array([0.75, 1]), [[0.3, 0.6]]]))
    method = data.draw(st.sampled_from(METHODS))
    out = dtype if dtype in FLOATS else "float32"
    bound = {"ulps": 2, "absolute": 64 * EPS["float32"]}
    y = flex.quantile(x, q, method=method, **keywords)
    assert y.dtype == out
    expected = np.quantile(exact, q, method=method, **keywords)
    check(y, expected, **bound)
    check(flex.percentile(x, np.multiply(q, 100), method=method, **keywords), expected, **bound)
    check(flex.median(x, **keywords), np.median(exact, **keywords), **bound)
    check(
        flex.ptp(x, **keywords),
        np.ptp(a, **keywords) if dtype in INTEGERS else np.ptp(exact, **keywords),
        ulps=2,
    )


@examples(80)
@given(st.sampled_from(FLOATS), st.sampled_from(METHODS), st.data())
def test_quantiles_without_nan(dtype, method, data):
    shape = data.draw(shapes(min_side=1, min_dims=1))
    x, a = data.draw(operands([dtype], shape, special=False))
    a = a.astype(np.float64)
    drawn = data.draw(st.lists(st.booleans(), min_size=a.size, max_size=a.size))
    holes = np.array(drawn, bool).reshape(shape)
    x, a = flex.where(flex.asarray(holes), flex.nan, x), np.where(holes, np.nan, a)
    keywords = {
        "axis": data.draw(st.sampled_from([None, 0, -1])),
        "keepdims": data.draw(st.booleans()),
    }
    q = data.draw(st.sampled_from([0.5, 0.1, [0.25, 1], [[0.3], [0.8]]]))
    bound = {"ulps": 2, "absolute": 64 * EPS["float32"]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of lines of NaN
        expected = np.nanquantile(a, q, method=method, **keywords)
        median = np.nanmedian(a, **keywords)
    check(flex.nanquantile(x, q, method=method, **keywords), expected, **bound)
    check(flex.nanpercentile(x, np.multiply(q, 100), method=method, **keywords), expected, **bound)
    check(flex.nanmedian(x, **keywords), median, **bound)


def test_infinities():
    x = flex.asarray([[-flex.inf, 1.0, flex.inf, flex.nan], [flex.inf, flex.inf, flex.inf, 2.0]])
    assert flex.nanmedian(x, axis=1).tolist() == [1.0, flex.inf]
    assert flex.nanquantile(x, [0, 1], axis=1).tolist() == [[-flex.inf, 2.0], [flex.inf, flex.inf]]


def test_errors():
    x = flex.ones((2, 3))
    for q in (-0.5, 1.5, [0.5, 2], flex.nan):
        with pytest.raises(ValueError, match="quantile: q is"):
            flex.quantile(x, q)
    with pytest.raises(ValueError, match="percentile: q is 101"):
        flex.percentile(x, 101)
    with pytest.raises(ValueError, match="method"):
        flex.quantile(x, 0.5, method="best")
    with pytest.raises(ValueError, match="nanpercentile: q is -1"):
        flex.nanpercentile(x, [[3, -1]])
    with pytest.raises(TypeError, match="quantile"):
        flex.quantile(x, "0.5")
    with pytest.raises(flex.AxisError, match="median"):
        flex.median(x, axis=2)
    with pytest.raises(flex.DTypeError, match="median"):
        flex.median(flex.zeros(2, dtype=flex.complex64))
    assert flex.isnan(flex.median(flex.zeros((2, 0)), axis=1)).tolist() == [True, True]
    assert flex.isnan(flex.median(flex.asarray([1.0, flex.nan]))).item()


def test_in_fuse():
    x = flex.asarray([[4.0, 1.0], [2.0, 3.0]])
    fused = flex.fuse(lambda x: flex.median(x * 2, axis=0) + flex.quantile(x, 0.25))
    assert fused(x).tolist() == [7.75, 5.75]
    assert fused(x + 1).tolist() == [10.75, 8.75]
