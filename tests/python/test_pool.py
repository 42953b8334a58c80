"""Pools against NumPy: windows of the padded image."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import flex
from flex import nn

MAX = {1: nn.max_pool1d, 2: nn.max_pool2d, 3: nn.max_pool3d}
AVG = {1: nn.avg_pool1d, 2: nn.avg_pool2d, 3: nn.avg_pool3d}
ADAPTIVE = {1: nn.adaptive_avg_pool1d, 2: nn.adaptive_avg_pool2d, 3: nn.adaptive_avg_pool3d}


def windows(x, kernel, stride, padding, dilation, fill):
    """The windows of a batched array, as last dimensions."""
    rank = x.ndim - 2
    x = np.pad(x, [(0, 0), (0, 0), *((p, p) for p in padding)], constant_values=fill)
    spans = [d * (k - 1) + 1 for d, k in zip(dilation, kernel, strict=True)]
    all_ = np.lib.stride_tricks.sliding_window_view(x, spans, axis=tuple(range(2, 2 + rank)))
    places = tuple(slice(None, None, s) for s in stride)
    taps = tuple(slice(None, None, d) for d in dilation)
    return all_[(slice(None), slice(None), *places, *taps)]


@st.composite
def pools(draw):
    rank = draw(st.integers(1, 3))

    def axes(low, high):
        return tuple(draw(st.integers(low, high)) for _ in range(rank))

    kernel, dilation, stride = axes(1, 4), axes(1, 3), axes(1, 5)
    spans = [d * (k - 1) + 1 for d, k in zip(dilation, kernel, strict=True)]
    padding = tuple(draw(st.integers(0, span // 2)) for span in spans)
    image = [
        draw(st.integers(max(1, span - 2 * p), span + 12))
        for span, p in zip(spans, padding, strict=True)
    ]
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shape = (draw(st.integers(0, 2)), draw(st.integers(0, 5)), *image)
    return rank, rng.integers(-9, 9, shape), kernel, stride, padding, dilation


def channels_last(x):
    return flex.moveaxis(flex.asarray(flex.moveaxis(x, 1, -1), copy=True), -1, 1)


@given(pools(), st.sampled_from(["float32", "float64", "int32"]), st.booleans())
def test_max_pools_match_numpy(case, dtype, last):
    rank, x, kernel, stride, padding, dilation = case
    expected = windows(x.astype(float), kernel, stride, padding, dilation, -np.inf)
    expected = expected.max(axis=tuple(range(-rank, 0)))
    image = flex.asarray(x.astype(dtype))
    image = channels_last(image) if last else image
    y, at = MAX[rank](image, kernel, stride, padding, dilation, return_indices=True)
    assert y.dtype == dtype
    assert at.dtype == flex.int64
    seen = np.isfinite(expected)  # a window may cover only padding
    np.testing.assert_array_equal(np.asarray(y)[seen], expected[seen])
    assert flex.all(MAX[rank](image, kernel, stride, padding, dilation) == y)
    planes = x.reshape(*x.shape[:2], np.prod(x.shape[2:]))
    positions = np.asarray(at).reshape(*x.shape[:2], np.prod(expected.shape[2:]))
    taken = np.take_along_axis(planes, positions, axis=-1).reshape(expected.shape)
    np.testing.assert_array_equal(taken[seen], expected[seen])


@given(pools(), st.booleans(), st.booleans())
def test_average_pools_match_numpy(case, include, last):
    rank, x, kernel, stride, padding, _ = case
    padding = tuple(min(p, k // 2) for p, k in zip(padding, kernel, strict=True))
    if any(k > n + 2 * p for k, n, p in zip(kernel, x.shape[2:], padding, strict=True)):
        return
    axes = tuple(range(-rank, 0))
    sums = windows(x, kernel, stride, padding, (1,) * rank, 0).sum(axis=axes)
    ones = windows(np.ones_like(x), kernel, stride, padding, (1,) * rank, int(include))
    image = flex.asarray(x.astype("float64"))
    image = channels_last(image) if last else image
    y = AVG[rank](image, kernel, stride, padding, count_include_pad=include)
    np.testing.assert_allclose(np.asarray(y), sums / ones.sum(axis=axes), rtol=1e-14)


@given(st.data())
def test_adaptive_windows_match_the_definition(data):
    rank = data.draw(st.integers(1, 3))
    image = [data.draw(st.integers(1, 7)) for _ in range(rank)]
    places = [data.draw(st.integers(0, 8)) for _ in range(rank)]
    x = np.random.default_rng(0).integers(-9, 9, (2, 3, *image)).astype("float64")
    y = np.asarray(ADAPTIVE[rank](flex.asarray(x), places))
    assert y.shape == (2, 3, *places)
    for at in itertools.product(*map(range, places)):
        bounds = [
            slice(i * n // m, -(-(i + 1) * n // m))
            for i, n, m in zip(at, image, places, strict=True)
        ]
        mean = x[(..., *bounds)].mean(axis=tuple(range(-rank, 0)))
        np.testing.assert_allclose(y[(..., *at)], mean, rtol=1e-13, atol=1e-13)


def test_defaults():
    x = flex.reshape(flex.arange(36.0), (1, 6, 6))
    assert nn.max_pool2d(x, 3).tolist() == [[[14.0, 17.0], [32.0, 35.0]]]
    assert nn.max_pool2d(x, 4, ceil_mode=True).tolist() == [[[21.0, 23.0], [33.0, 35.0]]]
    assert nn.avg_pool2d(x, 2, 2, divisor_override=1).shape == (1, 3, 3)
    assert nn.adaptive_avg_pool2d(x, (None, 1)).shape == (1, 6, 1)
    assert nn.adaptive_max_pool2d(x, 1).tolist() == [[[35.0]]]
    assert nn.max_pool2d(flex.ones((0, 3, 6, 6)), 2).shape == (0, 3, 3, 3)
    assert nn.max_pool2d(flex.ones((2, 0, 6, 6)), 2).shape == (2, 0, 3, 3)


@pytest.mark.parametrize(
    ("error", "match", "call"),
    [
        (ValueError, "kernel_size is \\[0\\]", lambda x: nn.max_pool2d(x, 0)),
        (ValueError, "kernel_size is -2", lambda x: nn.avg_pool2d(x, -2)),
        (ValueError, "stride is \\[0\\]", lambda x: nn.max_pool2d(x, 2, 0)),
        (ValueError, "stride has 3 values", lambda x: nn.max_pool2d(x, 2, (1, 2, 3))),
        (ValueError, "padding is 2, more than half", lambda x: nn.avg_pool2d(x, 3, 1, 2)),
        (ValueError, "dilation is \\[0\\]", lambda x: nn.max_pool2d(x, 2, dilation=0)),
        (ValueError, "divisor_override is 0", lambda x: nn.avg_pool2d(x, 2, divisor_override=0)),
        (flex.ShapeError, "spans 9 elements of 6", lambda x: nn.max_pool2d(x, (1, 5), dilation=2)),
        (flex.ShapeError, "x has 4 dimensions", lambda x: nn.max_pool1d(x, 2)),
        (flex.ShapeError, "size 0", lambda x: nn.avg_pool2d(x[:, :, :0], 2)),
        (ValueError, "output_size has 3", lambda x: nn.adaptive_avg_pool2d(x, (1, 2, None))),
        (ValueError, "output_size is -1", lambda x: nn.adaptive_max_pool2d(x, -1)),
        (ValueError, "norm_type is 0", lambda x: nn.lp_pool2d(x, 0, 2)),
        (flex.DTypeError, "int64", lambda x: nn.avg_pool2d(x.astype("int64"), 2)),
        (flex.DTypeError, "bool", lambda x: nn.max_pool2d(x.astype(bool), 2)),
        (flex.DTypeError, "not integers", lambda x: nn.max_unpool2d(x, x, 2)),
        (ValueError, "indices has -1", lambda x: nn.max_unpool2d(x, flex.full(x.shape, -1), 2)),
        (ValueError, "indices has 999", lambda x: nn.max_unpool2d(x, flex.full(x.shape, 999), 2)),
        (
            ValueError,
            "output_size is 3 along axis 2",
            lambda x: nn.max_unpool2d(x, flex.zeros(x.shape, dtype="int64"), 2, output_size=(3, 9)),
        ),
    ],
)
def test_errors_name_the_parameter(error, match, call):
    with pytest.raises(error, match=match):
        call(flex.ones((1, 3, 5, 6)))
