"""Products with quantised tensors: exact in integers, and close to float64 with decoded weights."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from quantised import F32, naive, unpacked
from support import examples

import flex
from flex import nn, quant


@given(st.integers(0, 5), st.integers(0, 70), st.integers(0, 9), st.integers(0, 2**32 - 1))
def test_matmul_integer(m, k, n, seed):
    rng = np.random.default_rng(seed)
    for left, right in itertools.product([np.int8, np.uint8], repeat=2):
        a, b = (
            rng.integers(np.iinfo(t).min, np.iinfo(t).max + 1, s, dtype=t)
            for t, s in ((left, (m, k)), (right, (k, n)))
        )
        za, zb = rng.integers(0, 100, m).astype(left), rng.integers(0, 100, n).astype(right)
        wide = a.astype(np.int64), b.astype(np.int64)
        assert np.asarray(quant.matmul_integer(a, b)).tolist() == (wide[0] @ wide[1]).tolist()
        expected = (wide[0] - za[:, None]) @ (wide[1] - zb)
        assert np.asarray(quant.matmul_integer(a, b, za, zb)).tolist() == expected.tolist()
        expected = (wide[0] - 3) @ wide[1]
        assert np.asarray(quant.matmul_integer(a, b, 3)).tolist() == expected.tolist()


def test_products_do_not_saturate():
    a, b = np.full((3, 512), 255, np.uint8), np.full((512, 5), -128, np.int8)
    assert (np.asarray(quant.matmul_integer(a, b)) == -128 * 255 * 512).all()


@given(st.integers(0, 20), st.integers(1, 90), st.integers(0, 40), st.integers(0, 2**32 - 1))
@examples(60)
def test_integer_linear_is_exact(m, k, n, seed):
    rng = np.random.default_rng(seed)
    x, w = rng.standard_normal((m, k)).astype(F32), rng.standard_normal((n, k)).astype(F32)
    bias, residual = rng.standard_normal(n).astype(F32), rng.standard_normal((m, n)).astype(F32)
    for axis in (None, 0):
        weight = quant.quantize(flex.asarray(w), axis=axis)
        sw = np.broadcast_to(np.asarray(weight.scales)[:, 0], n)
        for inputs, dtype in (("dynamic", "uint8"), ("dynamic_symmetric", "int8")):
            q = quant.quantize(flex.asarray(x), dtype, axis=0)
            zero = np.zeros((m, 1)) if q.zero_points is None else np.asarray(q.zero_points)
            sums = (unpacked(q) - zero.astype(np.int64)) @ unpacked(weight).T
            expected = sums.astype(F32) * np.asarray(q.scales) * sw + bias
            expected = np.maximum(expected, 0) + residual
            for _ in range(3):
                y = quant.linear(
                    x, weight, bias, activation="relu", residual=residual, inputs=inputs
                )
                assert np.asarray(y).tolist() == expected.tolist()
        q = np.clip(np.rint(x / F32(0.03)) + 100, 0, 255).astype(np.int64) - 100
        expected = (q @ unpacked(weight).T).astype(F32) * F32(0.03) * sw
        y = quant.linear(x, weight, inputs="static", scale=0.03, zero_point=100)
        assert np.asarray(y).tolist() == expected.tolist()


@given(
    st.sampled_from([0, 1, 2, 4, 5, 13, 40]),
    st.sampled_from(
        [
            (1, None),
            (7, None),
            (32, 32),
            (64, 16),
            (96, 32),
            (70, 10),
            (66, 3),
            (128, 64),
            (256, 16),
            (384, 128),
            (128, 8),
            (256, None),
        ]
    ),
    st.integers(1, 70),
    st.sampled_from(["int8", "uint8", "int4", "int2"]),
    st.sampled_from(["float32", "float16", "bfloat16"]),
    st.integers(0, 2**32 - 1),
)
@examples(80)
def test_linear_with_decoded_weights(m, size, n, dtype, scales, seed):
    k, block = size
    rng = np.random.default_rng(seed)
    x, w = rng.standard_normal((m, k)).astype(F32), rng.standard_normal((n, k)).astype(F32)
    how = {"axis": 0} if block is None else {"block": block}
    weight = quant.quantize(flex.asarray(w), dtype, **how, scale_dtype=scales)
    bias = rng.standard_normal(n).astype(F32)
    exact = x.astype(np.float64) @ np.asarray(weight.dequantize()).astype(np.float64).T + bias
    y = np.asarray(quant.linear(x, weight, bias))
    size = np.abs(x) @ np.abs(np.asarray(weight.dequantize())).T + 1
    assert (np.abs(y - exact) <= 2e-6 * size * max(1, k / 64)).all()


@pytest.mark.parametrize("dtype", ["int8", "int4", "int2"])
def test_huge_inputs_with_any_number_of_rows(dtype):
    rng = np.random.default_rng(13)
    weight = quant.quantize(flex.asarray(rng.uniform(-0.01, 0.01, (5, 256)).astype(F32)), dtype)
    w = np.asarray(weight.dequantize()).astype(np.float64)
    for rows in (1, 3, 8):
        x = (rng.uniform(-1, 1, (rows, 256)) * 3e35).astype(F32)
        x[:, ::7] *= F32(1e-36)
        y = np.asarray(quant.linear(x, weight))
        assert np.abs(y - x.astype(np.float64) @ w.T).max() < 1e-5 * 3e35
        x[0, 0] = np.inf
        assert not np.isfinite(np.asarray(quant.linear(x, weight))[0]).all()


def test_linear_takes_weights_of_any_layout():
    rng = np.random.default_rng(6)
    x = rng.standard_normal((3, 8, 64)).astype(F32)
    w = rng.standard_normal((64, 24)).astype(F32)
    for dtype in ("int8", "int4", "int2"):
        weight = quant.quantize(flex.asarray(w), dtype, axis=0, block=32).T
        exact = x @ np.asarray(weight.dequantize()).T
        assert np.abs(np.asarray(quant.linear(x, weight)) - exact).max() < 1e-4
    weight = quant.quantize(flex.asarray(w)).T
    close = np.asarray(quant.linear(x, weight, inputs="dynamic"))
    assert np.abs(close - x @ w).max() < 0.5
    half = quant.linear(flex.asarray(x, dtype=flex.float16), weight)
    assert half.dtype == flex.float16
    assert half.shape == (3, 8, 24)


def test_dynamic_is_close_to_float32():
    rng = np.random.default_rng(7)
    x, w = (rng.standard_normal(s).astype(F32) for s in ((64, 384), (512, 384)))
    weight = quant.quantize(flex.asarray(w), axis=0)
    y, exact = np.asarray(quant.linear(x, weight, inputs="dynamic")), x @ w.T
    assert np.sqrt(np.square(y - exact).mean()) < 0.02 * np.sqrt(np.square(exact).mean())


def test_reused_weights_stay_packed():
    rng = np.random.default_rng(9)
    w = quant.quantize(flex.asarray(rng.standard_normal((64, 64)).astype(F32)), axis=0)
    x = rng.standard_normal((40, 64)).astype(F32)
    first = [quant.linear(x, w, inputs="dynamic").tolist() for _ in range(3)]
    assert first[0] == first[1] == first[2]
    # a part of the same storage has its own row sums
    part = quant.linear(x, w[32:], inputs="dynamic")
    assert part.tolist() == [row[32:] for row in first[0]]


def test_linear_with_an_activation():
    rng = np.random.default_rng(10)
    x, w = (rng.standard_normal(s).astype(F32) for s in ((5, 32), (8, 32)))
    q = quant.quantize(flex.asarray(w), axis=0)
    expected = nn.linear(x, q.dequantize(), activation="gelu")
    assert np.allclose(quant.linear(x, q, activation="gelu"), expected, atol=1e-5)


def test_in_a_fused_function_and_a_stream():
    rng = np.random.default_rng(12)
    x, w = (rng.standard_normal(s).astype(F32) for s in ((5, 32), (8, 32)))
    q = quant.quantize(flex.asarray(w), axis=0)

    def layer(x):
        return flex.exp(quant.linear(x + 1, q, inputs="dynamic")) * 2

    assert flex.fuse(layer)(flex.asarray(x)).tolist() == layer(flex.asarray(x)).tolist()
    with flex.stream():
        y = layer(flex.asarray(x))
    assert y.tolist() == layer(flex.asarray(x)).tolist()


@pytest.mark.parametrize("inputs", ["float", "dynamic", "static"])
@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_quantised_output(inputs, dtype):
    rng = np.random.default_rng(21)
    x, w = rng.standard_normal((2, 5, 12)).astype(F32), rng.standard_normal((7, 12)).astype(F32)
    weight = quant.quantize(flex.asarray(w), axis=0)
    residual = rng.standard_normal((2, 5, 7)).astype(F32)
    how = {"inputs": inputs, "activation": "relu", "residual": residual}
    how |= {"scale": 0.05, "zero_point": 128} if inputs == "static" else {}
    floats = np.asarray(quant.linear(x, weight, **how))
    ends = np.iinfo(dtype)
    for zero in (None, 3):
        y = quant.linear(x, weight, **how, output=dtype, out_scale=0.03125, out_zero_point=zero)
        expected = np.clip(np.rint(floats / F32(0.03125)) + (zero or 0), ends.min, ends.max)
        assert (y.dtype, y.shape) == (dtype, (2, 5, 7))
        assert (y.zero_points is None) == (zero is None)
        assert np.array_equal(np.asarray(y.values), expected)
    found = quant.linear(x, weight, **how, output=dtype)
    _, numbers = naive(floats, dtype, symmetric=dtype == "int8")
    assert np.array_equal(np.asarray(found.dequantize()), numbers)
    # rounded once, whatever the dtype of x
    half = flex.asarray(x).astype("float16")
    wide = np.asarray(quant.linear(half.astype("float32"), weight, **how))
    y = quant.linear(half, weight, **how, output=dtype, out_scale=0.03125)
    assert np.array_equal(
        np.asarray(y.values), np.clip(np.rint(wide / F32(0.03125)), ends.min, ends.max)
    )


def test_quantised_output_of_convolutions():
    rng = np.random.default_rng(22)
    x = rng.standard_normal((2, 4, 6, 5)).astype(F32)
    weight = quant.quantize(flex.asarray(rng.standard_normal((3, 4, 3, 3)).astype(F32)), axis=0)
    for inputs in ("float", "dynamic"):
        floats = np.asarray(quant.conv2d(x, weight, padding=1, inputs=inputs))
        y = quant.conv2d(
            x, weight, padding=1, inputs=inputs, output="uint8", out_scale=0.125, out_zero_point=100
        )
        expected = np.clip(np.rint(floats / F32(0.125)) + 100, 0, 255)
        assert np.array_equal(np.asarray(y.values), expected)
        assert y.zero_points.tolist() == [[[[100]]]]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"output": "int4"}, ValueError, 'output is "int4"'),
        ({"out_scale": 1.0}, TypeError, "out_scale and out_zero_point are those of output"),
        ({"out_zero_point": 1}, TypeError, "out_scale and out_zero_point are those of output"),
        ({"output": "int8", "out_zero_point": 1}, TypeError, "no out_scale"),
        (
            {"output": "int8", "out_scale": 1.0, "out_zero_point": 128},
            ValueError,
            "from -128 to 127",
        ),
        ({"output": "uint8", "out_scale": 1.0, "out_zero_point": -1}, ValueError, "from 0 to 255"),
        ({"output": "int8", "out_scale": float("nan")}, ValueError, "out_scale is NaN"),
        ({"output": "int8", "out_scale": 0.0}, ValueError, "out_scale is 0"),
    ],
)
def test_errors_of_outputs(arguments, error, message):
    weight = quant.quantize(flex.ones((3, 3)))
    with pytest.raises(error, match=f"^quant.linear: .*{message}"):
        quant.linear(flex.ones((2, 3)), weight, **arguments)
    with pytest.raises(error, match=f"^quant.conv2d: .*{message}"):
        quant.conv2d(flex.ones((1, 3, 3)), weight.reshape(1, 1, 3, 3), **arguments)
