"""flex.quant against the formulas, written out in NumPy."""

import itertools
import os
import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import flex
from flex import nn, quant

ENDS = {"int8": (-127, 127), "uint8": (0, 255), "int4": (-7, 7)}
F32 = np.float32


def steps(x, dtype, symmetric, scale_dtype="float32"):
    """Scale and zero point of a group, in float32 as the docstring has them."""
    finite = x[np.isfinite(x)]
    low, high = F32(min(finite.min(initial=0), 0)), F32(max(finite.max(initial=0), 0))
    least, most = ENDS[dtype] if symmetric else {"int8": (-128, 127), "uint8": (0, 255)}[dtype]
    scale = max(high, -low) / F32(most) if symmetric else (high - low) / F32(255)
    scale = F32(np.dtype(getattr(ml_dtypes, scale_dtype, scale_dtype)).type(scale))
    if not scale > 0:
        scale = F32(1)
    zero = 0 if symmetric else int(np.clip(np.rint(F32(least) - low / scale), least, most))
    return scale, zero, (least, most)


def levels(x, scale, zero, ends):
    """The integers of a group."""
    with np.errstate(all="ignore"):
        q = np.rint(np.where(np.isnan(x), 0, x) / scale)
    return np.clip(q, ends[0] - zero, ends[1] - zero) + zero


def blocks_of(shape, axis, block):
    """The slices of groups that share a scale, and the shape of the scales."""
    sizes = [1 if axis is None else n for n in shape]
    if axis is not None:
        sizes = [n if a == axis else 1 for a, n in enumerate(shape)]
    if block is not None:
        sizes = [n // block if a == axis else n for a, n in enumerate(shape)]
    widths = [n // s if s else 1 for n, s in zip(shape, sizes, strict=True)]
    for place in itertools.product(*map(range, sizes)):
        yield place, tuple(slice(p * w, (p + 1) * w) for p, w in zip(place, widths, strict=True))


def naive(x, dtype, axis=None, block=None, symmetric=True, scale_dtype="float32"):
    """Integers, and what they stand for."""
    q, y = np.empty(x.shape), np.empty(x.shape, F32)
    for _, part in blocks_of(x.shape, axis, block):
        scale, zero, ends = steps(x[part], dtype, symmetric, scale_dtype)
        q[part] = levels(x[part], scale, zero, ends)
        y[part] = (q[part] - zero).astype(F32) * scale
    return q, y


def unpacked(q):
    """The integers of a quantised tensor, as int64."""
    values = np.asarray(q.values)
    if q.dtype != "int4":
        return values.astype(np.int64)
    axis = next((a for a in reversed(range(q.ndim)) if values.shape[a] != q.shape[a]), q.ndim - 1)
    halves = np.stack([values & 15, values >> 4], axis=axis + 1).astype(np.int64)
    shape = [2 * n if a == axis else n for a, n in enumerate(values.shape)]
    whole = np.take(halves.reshape(shape), range(q.shape[axis]), axis=axis)
    return (whole ^ 8) - 8


@st.composite
def cases(draw):
    """A tensor, a dtype of integers, and what shares a scale."""
    rank = draw(st.integers(1, 3))
    shape = [draw(st.integers(1, 9)) for _ in range(rank)]
    axis = draw(st.none() | st.integers(0, rank - 1))
    block = None
    if axis is not None and draw(st.booleans()):
        block = draw(st.sampled_from([1, 2, 3, 16, 32]))
        shape[axis] = block * draw(st.integers(1, 4))
    dtype = draw(st.sampled_from(["int8", "uint8", "int4"]))
    symmetric = {"int8": draw(st.booleans()), "uint8": False, "int4": True}[dtype]
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    x = (rng.standard_normal(shape) * draw(st.sampled_from([1e-30, 1, 1e30]))).astype(F32)
    x[rng.random(shape) < 0.2] = 0
    if draw(st.booleans()):
        x[rng.random(shape) < 0.1] = rng.choice([np.nan, np.inf, -np.inf])
    scales = draw(st.sampled_from(["float32", "bfloat16"]))
    return x, dtype, axis, block, symmetric, scales


@given(cases())
@settings(max_examples=150)
def test_integers_are_those_of_the_formula(case):
    x, dtype, axis, block, symmetric, scales = case
    q = quant.quantize(
        flex.asarray(x), dtype, axis=axis, block=block, symmetric=symmetric, scale_dtype=scales
    )
    expected, numbers = naive(x, dtype, axis, block, symmetric, scales)
    assert unpacked(q).tolist() == expected.tolist()
    assert np.asarray(q.dequantize()).tolist() == numbers.tolist()
    assert q.scales.dtype == getattr(flex, scales)
    assert (q.zero_points is None) == symmetric
    # views of it: the same elements
    assert np.asarray(q.permute_dims(range(x.ndim)[::-1]).dequantize()).tolist() == numbers.T.tolist()


@pytest.mark.parametrize("n", [70_000, 1 << 17])
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int4"])
def test_long_groups(n, dtype):
    x = np.random.default_rng(n).standard_normal((2, n)).astype(F32)
    for axis in (None, 0):
        q = quant.quantize(flex.asarray(x), dtype, axis=axis)
        expected, numbers = naive(x, dtype, axis, symmetric=dtype != "uint8")
        assert np.array_equal(unpacked(q), expected)
        assert np.array_equal(np.asarray(q.dequantize()), numbers)


def test_channels_that_are_last_and_in_between():
    x = np.random.default_rng(1).standard_normal((5, 6, 7)).astype(F32)
    for axis in (0, 1, 2, -1):
        q = quant.quantize(flex.asarray(x), axis=axis)
        assert np.array_equal(np.asarray(q.dequantize()), naive(x, "int8", axis % 3)[1])


def test_ties_ends_and_what_is_no_number():
    x = flex.asarray([0.5, 1.5, -0.5, -1.5, 126.5, 127.0, float("nan"), float("inf"), -float("inf")])
    q = quant.quantize(flex.astype(x, flex.float32))
    assert q.values.tolist() == [0, 2, 0, -2, 126, 127, 0, 127, -127]
    given = quant.quantize(flex.astype(x, flex.float32), "uint8", scale=1.0, zero_point=128)
    assert given.values.tolist() == [128, 130, 128, 126, 254, 255, 128, 255, 0]
    assert quant.quantize(flex.zeros((2, 3)), axis=0).scales.tolist() == [[1.0], [1.0]]
    assert quant.quantize(flex.zeros((2, 3)), axis=0).dequantize().tolist() == [[0.0] * 3] * 2
    tiny = quant.quantize(flex.full(3, 1e-45, dtype=flex.float32))
    assert tiny.dequantize().tolist() == [0.0] * 3
    huge = quant.quantize(flex.asarray([3e38, -3e38], dtype=flex.float32), "uint8")
    assert np.isfinite(np.asarray(huge.dequantize())).all()
    half = quant.quantize(flex.asarray([1e9], dtype=flex.float32), scale_dtype=flex.float16)
    assert half.scales.item() == 65504.0 and half.values.item() == 127


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int4"])
@pytest.mark.parametrize("shape", [(0,), (0, 4), (3, 0)])
def test_empty(shape, dtype):
    for axis in (None, 0):
        q = quant.quantize(flex.zeros(shape), dtype, axis=axis)
        assert q.shape == shape and q.dequantize().shape == shape


def test_calibrations():
    x = np.random.default_rng(2).standard_normal(10_001).astype(F32)
    x[17] = 1000.0
    q = quant.quantize(flex.asarray(x), calibration="percentile", percentile=99.0)
    assert q.scales.item() == F32(np.percentile(np.abs(x), 99)) / F32(127)
    q = quant.quantize(flex.asarray(x), "uint8", calibration="percentile", percentile=99.0)
    low, high = np.percentile(x, [0.5, 99.5])
    assert abs(q.scales.item() - (high - low) / 255) < 1e-8
    x = x[:1000].copy()
    x[17] = 5.0
    best = min(
        np.square(np.clip(np.rint(x / s), -7, 7) * s - x).sum()
        for s in (F32(np.abs(x).max() * k / 64) / F32(7) for k in range(32, 65))
    )
    mse = quant.quantize(flex.asarray(x), "int4", calibration="mse").dequantize()
    assert np.square(np.asarray(mse) - x).sum() <= best * 1.001


def test_given_scales_have_the_shape_of_blocks():
    x = np.random.default_rng(3).standard_normal((4, 6)).astype(F32)
    scale = np.array([[0.1, 0.2], [0.3, 0.4]], F32)
    zero = np.array([[1, 2], [3, 4]], np.int8)
    q = quant.quantize(flex.asarray(x), scale=flex.asarray(scale), zero_point=flex.asarray(zero))
    s, z = (np.repeat(np.repeat(a, 2, 0), 3, 1) for a in (scale, zero))
    expected = np.clip(np.rint(x / s) + z, -128, 127)
    assert np.array_equal(np.asarray(q.values), expected)
    assert np.array_equal(np.asarray(q.dequantize()), (expected - z).astype(F32) * s)


@given(cases(), st.data())
@settings(max_examples=100)
def test_views(case, data):
    x, dtype, axis, block, symmetric, scales = case
    q = quant.quantize(
        flex.asarray(x), dtype, axis=axis, block=block, symmetric=symmetric, scale_dtype=scales
    )
    y = np.asarray(q.dequantize())
    for a in range(x.ndim):
        try:
            flipped = q.flip(axis=a)
        except ValueError as error:
            assert "share a byte" in str(error) and dtype == "int4"
        else:
            assert np.array_equal(np.asarray(flipped.dequantize()), np.flip(y, a))
        start, stop = sorted(data.draw(st.tuples(*[st.integers(0, x.shape[a])] * 2)))
        step = data.draw(st.sampled_from([1, 2, -1]))
        bounds = (start, stop) if step > 0 else (stop - 1 if stop else None, start - 1 if start else None)
        key = (slice(None),) * a + (slice(*bounds, step),)
        try:
            part = q[key]
        except ValueError as error:
            assert "blocks" in str(error) or "share a byte" in str(error)
        else:
            assert np.array_equal(np.asarray(part.dequantize()), y[key])
    wide = q.reshape((1, *x.shape)).broadcast_to((3, *x.shape))
    assert np.array_equal(np.asarray(wide.dequantize()), np.broadcast_to(y, (3, *x.shape)))
    try:
        flat = q.reshape((x.size,))
    except ValueError as error:
        assert "dequantize" in str(error)
    else:
        assert np.array_equal(np.asarray(flat.dequantize()), y.ravel())


def test_views_of_rows():
    x = np.random.default_rng(4).standard_normal((4, 64)).astype(F32)
    for dtype in ("int8", "int4"):
        q = quant.quantize(flex.asarray(x), dtype, block=32)
        y = np.asarray(q.dequantize())
        assert np.array_equal(np.asarray(q[1].dequantize()), y[1])
        assert np.array_equal(np.asarray(q[..., 32:].dequantize()), y[..., 32:])
        assert np.array_equal(np.asarray(q[::-2, 4:8].dequantize()), y[::-2, 4:8])
        assert np.array_equal(np.asarray(q.T[:32].dequantize()), y.T[:32])
        assert np.array_equal(np.asarray(q.reshape((4, 2, 32)).dequantize()), y.reshape(4, 2, 32))
        assert np.array_equal(np.asarray(q.reshape((2, 2, 64)).dequantize()), y.reshape(2, 2, 64))
        assert np.array_equal(np.asarray(q.take(flex.asarray([3, 0, 3])).dequantize()), y[[3, 0, 3]])
        joined = quant.concat([q, q[:1]])
        assert np.array_equal(np.asarray(joined.dequantize()), np.concatenate([y, y[:1]]))
        assert np.array_equal(np.asarray(quant.concat([q, q], axis=1).dequantize()), np.concatenate([y, y], 1))
        assert q.equal(q[:]) and not q.equal(q.flip(axis=0)) and len(q) == 4


def test_order():
    x = np.random.default_rng(5).permutation(24).reshape(4, 6).astype(F32) - 9
    for dtype in ("int8", "uint8"):
        q = quant.quantize(flex.asarray(x), dtype)
        y = np.asarray(q.dequantize())
        assert q.argmax().item() == y.argmax() and q.argmin(axis=1).tolist() == y.argmin(1).tolist()
        assert np.array_equal(np.asarray(q.max(axis=0).dequantize()), y.max(0))
        assert np.array_equal(np.asarray(q.min(axis=1, keepdims=True).dequantize()), y.min(1, keepdims=True))
        assert np.array_equal(np.asarray(q.sort(axis=0).dequantize()), np.sort(y, 0))
        values, places = q.topk(2)
        assert np.array_equal(np.asarray(values.dequantize()), np.sort(y)[:, :-3:-1])
        assert places.tolist() == np.argsort(-y)[:, :2].tolist()
    rows = quant.quantize(flex.asarray(x), axis=0)
    assert rows.argmax(axis=0).tolist() == np.asarray(rows.dequantize()).argmax(0).tolist()
    for refused in (rows.max, rows.sort, lambda: rows.topk(1)):
        with pytest.raises(ValueError, match="4 scales"):
            refused()


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


@given(st.integers(0, 20), st.integers(1, 90), st.integers(1, 40), st.integers(0, 2**32 - 1))
@settings(max_examples=60)
def test_linear_by_integers_is_exact(m, k, n, seed):
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
    st.sampled_from([(1, None), (7, None), (32, 32), (64, 16), (96, 32), (70, 10), (66, 3), (128, 64), (256, 16), (384, 128), (128, 8), (256, None)]),
    st.integers(1, 70),
    st.sampled_from(["int8", "uint8", "int4"]),
    st.sampled_from(["float32", "float16", "bfloat16"]),
    st.integers(0, 2**32 - 1),
)
@settings(max_examples=80, deadline=None)
def test_linear_by_decoded_weights(m, size, n, dtype, scales, seed):
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


def test_linear_takes_weights_of_any_layout():
    rng = np.random.default_rng(6)
    x = rng.standard_normal((3, 8, 64)).astype(F32)
    w = rng.standard_normal((64, 24)).astype(F32)
    for dtype in ("int8", "int4"):
        weight = quant.quantize(flex.asarray(w), dtype, axis=0, block=32).T
        exact = x @ np.asarray(weight.dequantize()).T
        assert np.abs(np.asarray(quant.linear(x, weight)) - exact).max() < 1e-4
    weight = quant.quantize(flex.asarray(w)).T
    close = np.asarray(quant.linear(x, weight, inputs="dynamic"))
    assert np.abs(close - x @ w).max() < 0.5
    half = quant.linear(flex.asarray(x, dtype=flex.float16), weight)
    assert half.dtype == flex.float16 and half.shape == (3, 8, 24)


def test_dynamic_is_close_to_float32():
    rng = np.random.default_rng(7)
    x, w = (rng.standard_normal(s).astype(F32) for s in ((64, 384), (512, 384)))
    weight = quant.quantize(flex.asarray(w), axis=0)
    y, exact = np.asarray(quant.linear(x, weight, inputs="dynamic")), x @ w.T
    assert np.sqrt(np.square(y - exact).mean()) < 0.02 * np.sqrt(np.square(exact).mean())


SAME = """
import sys, numpy as np, flex
from flex import quant
rng = np.random.default_rng(8)
x, w = (rng.standard_normal(s).astype("f4") for s in ((130, 200), (260, 200)))
for threads in (1, 2, 3):
    flex.set_num_threads(threads)
    parts = []
    for rows in (1, 3, 130):
        for how in ({"axis": 0}, {"dtype": "int4", "block": 40}):
            q = quant.quantize(flex.asarray(w), **how)
            parts += [q.values, quant.linear(x[:rows], q)]
        q = quant.quantize(flex.asarray(w), axis=0)
        parts += [quant.linear(x[:rows], q, inputs=i) for i in ("dynamic", "dynamic_symmetric")]
    big = quant.quantize(flex.asarray(rng.standard_normal(1) * 0 + np.arange(300_000, dtype="f4")))
    bits = b"".join(np.asarray(p).tobytes() for p in [*parts, big.values, big.dequantize()])
    if threads == 1:
        first = bits
    assert bits == first, threads
exact = [quant.linear(x, q, inputs=i) for i in ("dynamic", "dynamic_symmetric")]
sys.stdout.buffer.write(b"".join(np.asarray(p).tobytes() for p in [q.values, *exact, q.dequantize()]))
"""


def test_same_bits_on_any_number_of_threads_and_instruction_set():
    outputs = set()
    for isa in ("scalar", "avx2", "avx512"):
        done = subprocess.run(
            [sys.executable, "-c", SAME], env={**os.environ, "FLEX_ISA": isa}, capture_output=True
        )
        assert done.returncode == 0, done.stderr.decode()
        outputs.add(done.stdout)
    assert len(outputs) == 1


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: quant.quantize(x, "int3"), ValueError, "int3"),
        (lambda x: quant.quantize(x, "uint8", symmetric=True), ValueError, "uint8 without zero points"),
        (lambda x: quant.quantize(x, "int4", symmetric=False), ValueError, "int4"),
        (lambda x: quant.quantize(x, axis=2), flex.AxisError, "axis 2"),
        (lambda x: quant.quantize(x, block=3), flex.ShapeError, "blocks of 3 do not divide axis -?1"),
        (lambda x: quant.quantize(x, block=0), flex.ShapeError, "blocks of 0"),
        (lambda x: quant.quantize(x, block=-1), ValueError, "block"),
        (lambda x: quant.quantize(flex.astype(x, flex.int32)), flex.DTypeError, "int32"),
        (lambda x: quant.quantize(x, scale_dtype=flex.float64), flex.DTypeError, "float64"),
        (lambda x: quant.quantize(x, calibration="best"), ValueError, "best"),
        (lambda x: quant.quantize(x, calibration="percentile", percentile=10.0), ValueError, "10"),
        (lambda x: quant.quantize(x, zero_point=1), TypeError, "zero_point"),
        (lambda x: quant.quantize(x, scale=-1.0), ValueError, "-1"),
        (lambda x: quant.quantize(x, scale=float("nan")), ValueError, "NaN"),
        (lambda x: quant.quantize(x, scale=flex.ones((3, 1))), flex.ShapeError, "scales"),
        (lambda x: quant.quantize(flex.asarray(1.0), "int4"), flex.ShapeError, "axis"),
        (lambda x: quant.quantize(x)[0, 0, 0], IndexError, "3 indices"),
        (lambda x: quant.quantize(x)[5], IndexError, "5"),
        (lambda x: quant.quantize(x)["a"], TypeError, "str"),
        (lambda x: quant.quantize(x).dequantize(flex.int8), flex.DTypeError, "int8"),
        (lambda x: quant.quantize(x).reshape((3, 3)), flex.ShapeError, "elements"),
        (lambda x: quant.QTensor(x, flex.ones((1, 1))), flex.ShapeError, "int8"),
        (lambda x: quant.QTensor(flex.zeros((2, 2), dtype="int8"), flex.ones(1)), flex.ShapeError, "rank"),
        (lambda x: quant.QTensor(flex.zeros(2, dtype="uint8"), flex.ones(1), dtype="int4"), TypeError, "shape"),
        (lambda x: quant.linear(x, quant.quantize(x[:, :3])), flex.ShapeError, "weight"),
        (lambda x: quant.linear(x, x), TypeError, "weight"),
        (lambda x: quant.linear(x, quant.quantize(x), inputs="int8"), ValueError, "inputs"),
        (lambda x: quant.linear(x, quant.quantize(x), flex.ones(3)), flex.ShapeError, "bias"),
        (lambda x: quant.linear(x, quant.quantize(x, "int4"), inputs="dynamic"), ValueError, "int4"),
        (lambda x: quant.linear(x, quant.quantize(x, axis=1), inputs="dynamic"), ValueError, "blocks"),
        (lambda x: quant.linear(x, quant.quantize(x), inputs="static"), TypeError, "scale"),
        (lambda x: quant.linear(x, quant.quantize(x), inputs="static", scale=0.0), ValueError, "scale"),
        (lambda x: quant.linear(x, quant.quantize(x), scale=1.0), TypeError, "static"),
        (lambda x: quant.linear(x, quant.quantize(x), activation="relu7"), ValueError, "relu7"),
        (lambda x: quant.matmul_integer(x, x), flex.DTypeError, "a must be"),
        (lambda x: quant.concat([]), ValueError, "no tensors"),
        (lambda x: quant.concat([quant.quantize(x), quant.quantize(x, "uint8")]), flex.ShapeError, "uint8"),
        (lambda x: quant.concat([quant.quantize(x), quant.quantize(2 * x)]), ValueError, "differ"),
    ],
)
def test_errors_name_what_is_wrong(call, error, message):
    with pytest.raises(error, match=message):
        call(flex.asarray(np.arange(16.0, dtype=F32).reshape(4, 4)))


def test_weights_that_are_used_again_stay_packed():
    rng = np.random.default_rng(9)
    w = quant.quantize(flex.asarray(rng.standard_normal((64, 64)).astype(F32)), axis=0)
    x = rng.standard_normal((40, 64)).astype(F32)
    first = [quant.linear(x, w, inputs="dynamic").tolist() for _ in range(3)]
    assert first[0] == first[1] == first[2]
    # a part of the same storage has sums of its own
    part = quant.linear(x, w[32:], inputs="dynamic")
    assert part.tolist() == [row[32:] for row in first[0]]


def test_weights_of_models_are_linear_layers_of_theirs():
    rng = np.random.default_rng(10)
    x, w = (rng.standard_normal(s).astype(F32) for s in ((5, 32), (8, 32)))
    q = quant.quantize(flex.asarray(w), axis=0)
    expected = nn.linear(x, q.dequantize(), activation="gelu")
    assert np.allclose(quant.linear(x, q, activation="gelu"), expected, atol=1e-5)
