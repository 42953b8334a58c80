"""Convolutions with quantised weights: integer sums are exact, and padding stands for exactly 0."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from quantised import F32, unpacked
from support import examples

import flex
from flex import nn, quant


def sums(q, w, stride, padding, dilation, groups):
    """The zero-padded convolution of integers, as int64."""
    q = np.pad(q, ((0, 0), (0, 0), *((p, p) for p in padding)))
    spans = [(k - 1) * d + 1 for k, d in zip(w.shape[2:], dilation, strict=True)]
    windows = np.lib.stride_tricks.sliding_window_view(q, spans, axis=(2, 3))
    windows = windows[:, :, :: stride[0], :: stride[1], :: dilation[0], :: dilation[1]]
    parts = [
        np.einsum("nchwij,ocij->nohw", x, part)
        for x, part in zip(
            np.split(windows, groups, axis=1), np.split(w, groups, axis=0), strict=True
        )
    ]
    return np.concatenate(parts, axis=1)


pairs = st.tuples(st.integers(1, 3), st.integers(1, 3))


@given(
    st.integers(1, 3),
    st.integers(1, 3),
    st.integers(4, 13),
    st.integers(1, 9),
    st.tuples(st.integers(5, 20), st.integers(5, 40)),
    pairs,
    pairs,
    st.tuples(st.integers(0, 3), st.integers(0, 3)),
    st.tuples(st.integers(1, 2), st.integers(1, 2)),
    st.integers(0, 2**32 - 1),
)
@examples(60)
def test_sums_are_exact(batch, groups, seen, made, size, kernel, stride, padding, dilation, seed):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((batch, groups * seen, *size)).astype(F32) + F32(0.7)
    w = rng.standard_normal((groups * made, seen, *kernel)).astype(F32)
    bias = rng.standard_normal(groups * made).astype(F32)
    how = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    for axis in (None, 0):
        weight = quant.quantize(flex.asarray(w), axis=axis)
        sw = np.broadcast_to(np.asarray(weight.scales)[:, 0, 0, 0], groups * made)
        for inputs, dtype in (("dynamic", "uint8"), ("dynamic_symmetric", "int8"), ("static", "")):
            given = {"scale": 0.03, "zero_point": 100} if inputs == "static" else {}
            if given:
                integers = np.clip(np.rint(x / F32(0.03)) + 100, 0, 255).astype(np.int64) - 100
                scale = np.full(batch, F32(0.03))
            else:
                q = quant.quantize(flex.asarray(x), dtype, axis=0)
                integers, scale = unpacked(q), np.asarray(q.scales)[:, 0, 0, 0]
                if q.zero_points is not None:
                    integers = integers - np.asarray(q.zero_points).astype(np.int64)
            exact = sums(integers, unpacked(weight), stride, padding, dilation, groups)
            scales = (scale[:, None] * sw)[:, :, None, None]
            expected = np.maximum(exact.astype(F32) * scales + bias[:, None, None], 0)
            residual = rng.standard_normal(expected.shape[1:]).astype(F32)
            for _ in range(2):
                y = quant.conv2d(
                    x,
                    weight,
                    bias,
                    **how,
                    activation="relu",
                    residual=residual,
                    inputs=inputs,
                    **given,
                )
                assert np.asarray(y).tolist() == (expected + residual).tolist()


@pytest.mark.parametrize("seen", [1, 2, 3])
def test_groups_of_few_channels(seen):
    rng = np.random.default_rng(3)
    x = rng.standard_normal((2, 6 * seen, 17, 19)).astype(F32)
    w = quant.quantize(flex.asarray(rng.standard_normal((6, seen, 3, 3)).astype(F32)), axis=0)
    y = quant.conv2d(x, w, padding="same", groups=6, inputs="dynamic")
    q = quant.quantize(flex.asarray(x), "uint8", axis=0).dequantize()
    exact = nn.conv2d(q, w.dequantize(), padding="same", groups=6)
    assert np.abs(np.asarray(y) - np.asarray(exact)).max() < 1e-5


@pytest.mark.parametrize("dtype", ["int8", "int4"])
def test_float_inputs_with_decoded_weights(dtype):
    rng = np.random.default_rng(4)
    x = rng.standard_normal((8, 9, 10)).astype(F32)
    w = quant.quantize(
        flex.asarray(rng.standard_normal((6, 8, 3, 3)).astype(F32)), dtype, axis=1, block=4
    )
    y = quant.conv2d(x, w, padding=1, activation="gelu")
    exact = nn.conv2d(x, w.dequantize(), padding=1, activation="gelu")
    assert y.shape == (6, 9, 10)
    assert np.abs(np.asarray(y) - np.asarray(exact)).max() < 1e-5


def test_images_of_any_layout_and_dtype():
    rng = np.random.default_rng(5)
    x = rng.standard_normal((2, 9, 10, 8)).astype(F32)
    w = quant.quantize(flex.asarray(rng.standard_normal((5, 8, 3, 3)).astype(F32)), axis=0)
    last = flex.permute_dims(flex.asarray(x), (0, 3, 1, 2))
    y = quant.conv2d(last, w, inputs="dynamic")
    one = quant.conv2d(np.ascontiguousarray(x[1].transpose(2, 0, 1)), w, inputs="dynamic")
    assert y[1].tolist() == one.tolist()
    half = quant.conv2d(flex.astype(last, flex.float16), w, inputs="dynamic")
    assert half.dtype == flex.float16
    assert np.abs(np.asarray(half).astype(F32) - np.asarray(y)).max() < 0.3
    turned = quant.quantize(flex.asarray(rng.standard_normal((3, 5, 8, 3)).astype(F32)))
    turned = turned.permute_dims((1, 2, 3, 0))
    exact = nn.conv2d(last, turned.dequantize())
    y = quant.conv2d(last, turned, inputs="dynamic")
    assert np.abs(np.asarray(y) - np.asarray(exact)).max() < 0.5


def test_padding_stands_for_zero():
    x = np.full((1, 4, 1, 1), 5.0, F32)
    w = quant.quantize(flex.ones((1, 4, 3, 3)), axis=0)
    for inputs in ("dynamic", "dynamic_symmetric"):
        assert abs(quant.conv2d(x, w, padding=1, inputs=inputs).item() - 20) < 0.2
    y = quant.conv2d(x, w, padding=1, inputs="static", scale=0.1, zero_point=30)
    assert abs(y.item() - 20) < 1e-4
    x[0, 0] = np.nan
    assert abs(quant.conv2d(x, w, padding=1, inputs="dynamic").item() - 15) < 0.2


def test_empty_images():
    w = quant.quantize(flex.ones((6, 8, 3, 3)), axis=0)
    for inputs in ("float", "dynamic"):
        assert quant.conv2d(flex.zeros((0, 8, 5, 5)), w, inputs=inputs).shape == (0, 6, 3, 3)
        y = quant.conv2d(flex.zeros((2, 8, 0, 5)), w, flex.ones(6), padding=2, inputs=inputs)
        assert y.tolist() == flex.ones((2, 6, 2, 7)).tolist()
        none = quant.quantize(flex.ones((0, 8, 3, 3)))
        assert quant.conv2d(flex.zeros((2, 8, 5, 5)), none, inputs=inputs).shape == (2, 0, 3, 3)


def test_errors_name_the_argument():
    x, w = flex.zeros((1, 8, 4, 4)), quant.quantize(flex.zeros((2, 8, 3, 3)), axis=0)
    for wrong, error, text in [
        (lambda: quant.conv2d(x, w, inputs="int8"), ValueError, "quant.conv2d: inputs is"),
        (lambda: quant.conv2d(x, w, scale=1.0), TypeError, "quant.conv2d: scale and zero_point"),
        (lambda: quant.conv2d(x, w, inputs="static", scale=0.0), ValueError, "quant.conv2d: scale"),
        (lambda: quant.conv2d(x, w, groups=3), flex.ShapeError, "quant.conv2d: groups is 3"),
        (lambda: quant.conv2d(x, w, padding=-1), ValueError, "quant.conv2d: padding"),
        (lambda: quant.conv2d(x, w, stride=0), ValueError, "stride"),
        (lambda: quant.conv2d(x[0, 0], w), flex.ShapeError, "quant.conv2d"),
        (lambda: quant.conv2d(x, w, flex.zeros(3)), flex.ShapeError, "quant.conv2d: bias"),
        (
            lambda: quant.conv2d(
                x, quant.quantize(flex.zeros((2, 8, 3, 3)), axis=1), inputs="dynamic"
            ),
            ValueError,
            "quant.conv2d: quantised inputs need int8 weights",
        ),
        (
            lambda: quant.conv2d(flex.astype(x, flex.int32), w),
            flex.DTypeError,
            "x must be a float tensor",
        ),
    ]:
        with pytest.raises(error, match=text):
            wrong()


def test_in_a_fused_function_and_a_stream():
    rng = np.random.default_rng(12)
    x = rng.standard_normal((2, 8, 9, 9)).astype(F32)
    q = quant.quantize(flex.asarray(rng.standard_normal((5, 8, 3, 3)).astype(F32)), axis=0)

    def layer(x):
        return flex.exp(quant.conv2d(x + 1, q, padding=1, inputs="dynamic")) * 2

    expected = layer(flex.asarray(x)).tolist()
    assert flex.fuse(layer)(flex.asarray(x)).tolist() == expected
    with flex.stream():
        y = layer(flex.asarray(x))
    assert y.tolist() == expected


def test_reused_weights_stay_packed():
    rng = np.random.default_rng(14)
    x = rng.standard_normal((1, 8, 9, 9)).astype(F32)
    w = quant.quantize(flex.asarray(rng.standard_normal((6, 8, 3, 3)).astype(F32)), axis=0)
    first = [quant.conv2d(x, w, inputs="dynamic").tolist() for _ in range(3)]
    assert first[0] == first[1] == first[2]
    # parts of the storage, and other kernel shapes of it, are packed separately
    assert quant.conv2d(x, w[2:], inputs="dynamic").tolist() == [first[0][0][2:]]
    flat = w.reshape((6, 24, 1, 3))
    wide = rng.standard_normal((1, 24, 4, 9)).astype(F32)
    for _ in range(3):
        y = np.asarray(quant.conv2d(wide, flat, inputs="dynamic"))
        assert np.abs(y - np.asarray(nn.conv2d(wide, flat.dequantize()))).max() < 0.3
