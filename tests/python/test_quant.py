"""flex.quant against the formulas, written out in NumPy: integers, views, order, errors."""

import copy
import io
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from quantised import F32, cases, naive, unpacked
from support import examples

import flex
from flex import quant


@given(cases())
@examples(150)
def test_quantize_matches_the_formula(case):
    x, dtype, axis, block, symmetric, scales = case
    q = quant.quantize(
        flex.asarray(x), dtype, axis=axis, block=block, symmetric=symmetric, scale_dtype=scales
    )
    expected, numbers = naive(x, dtype, axis, block, symmetric, scales)
    assert unpacked(q).tolist() == expected.tolist()
    assert np.asarray(q.dequantize()).tolist() == numbers.tolist()
    assert q.scales.dtype == getattr(flex, scales)
    assert (q.zero_points is None) == symmetric
    # a view has the same elements
    assert (
        np.asarray(q.permute_dims(range(x.ndim)[::-1]).dequantize()).tolist() == numbers.T.tolist()
    )


@pytest.mark.parametrize("n", [70_000, 1 << 17])
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int4", "int2"])
def test_long_groups(n, dtype):
    x = np.random.default_rng(n).standard_normal((2, n)).astype(F32)
    for axis in (None, 0):
        q = quant.quantize(flex.asarray(x), dtype, axis=axis)
        expected, numbers = naive(x, dtype, axis, symmetric=dtype != "uint8")
        assert np.array_equal(unpacked(q), expected)
        assert np.array_equal(np.asarray(q.dequantize()), numbers)


def test_channels_along_any_axis():
    x = np.random.default_rng(1).standard_normal((5, 6, 7)).astype(F32)
    for axis in (0, 1, 2, -1):
        q = quant.quantize(flex.asarray(x), axis=axis)
        assert np.array_equal(np.asarray(q.dequantize()), naive(x, "int8", axis % 3)[1])


def test_ties_saturation_and_non_finite_values():
    x = flex.asarray(
        [0.5, 1.5, -0.5, -1.5, 126.5, 127.0, float("nan"), float("inf"), -float("inf")]
    )
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
    assert half.scales.item() == 65504.0
    assert half.values.item() == 127


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int4", "int2"])
@pytest.mark.parametrize("shape", [(0,), (0, 4), (3, 0)])
def test_empty(shape, dtype):
    for axis in (None, 0):
        q = quant.quantize(flex.zeros(shape), dtype, axis=axis)
        assert q.shape == shape
        assert q.dequantize().shape == shape


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


def test_scales_in_two_dimensional_blocks():
    x = np.random.default_rng(3).standard_normal((4, 6)).astype(F32)
    scale = np.array([[0.1, 0.2], [0.3, 0.4]], F32)
    zero = np.array([[1, 2], [3, 4]], np.int8)
    q = quant.quantize(flex.asarray(x), scale=flex.asarray(scale), zero_point=flex.asarray(zero))
    s, z = (np.repeat(np.repeat(a, 2, 0), 3, 1) for a in (scale, zero))
    expected = np.clip(np.rint(x / s) + z, -128, 127)
    assert np.array_equal(np.asarray(q.values), expected)
    assert np.array_equal(np.asarray(q.dequantize()), (expected - z).astype(F32) * s)


def shows(view, wanted, refusal):
    """Whether a view has these values, or is refused because it would split blocks or bytes."""
    try:
        found = view()
    except ValueError as error:
        return any(reason in str(error) for reason in refusal)
    return np.array_equal(np.asarray(found.dequantize()), wanted)


@given(cases(), st.data())
@examples(100)
def test_views(case, data):
    x, dtype, axis, block, symmetric, scales = case
    q = quant.quantize(
        flex.asarray(x), dtype, axis=axis, block=block, symmetric=symmetric, scale_dtype=scales
    )
    y = np.asarray(q.dequantize())
    pairs = ["share a byte"] if dtype in ("int4", "int2") else []
    for a in range(x.ndim):
        assert shows(lambda a=a: q.flip(axis=a), np.flip(y, a), pairs)
        start, stop = sorted(data.draw(st.tuples(*[st.integers(0, x.shape[a])] * 2)))
        step = data.draw(st.sampled_from([1, 2, -1]))
        bounds = (start, stop)
        if step < 0:
            bounds = (stop - 1 if stop else None, start - 1 if start else None)
        key = (slice(None),) * a + (slice(*bounds, step),)
        blocks = [] if block in (None, 1) else ["blocks"]
        assert shows(lambda key=key: q[key], y[key], pairs + blocks)
    ones = [0, -1]
    wider = q.expand_dims(axis=ones)
    assert np.array_equal(np.asarray(wider.dequantize()), np.expand_dims(y, ones))
    assert np.array_equal(np.asarray(wider.squeeze(axis=ones).dequantize()), y)
    assert np.array_equal(np.asarray(q[None, ..., None].dequantize()), y[None, ..., None])
    assert np.array_equal(np.asarray(q.transpose().dequantize()), y.T)
    assert shows(q.squeeze, y.squeeze(), pairs)
    assert shows(lambda: q.reshape(-1), y.ravel(), ["dequantize"])
    assert shows(lambda: q.reshape(x.shape[0], -1), y.reshape(x.shape[0], -1), ["dequantize"])
    assert np.array_equal(np.asarray(q.copy().dequantize()), y)
    wide = q.reshape((1, *x.shape)).broadcast_to((3, *x.shape))
    assert np.array_equal(np.asarray(wide.dequantize()), np.broadcast_to(y, (3, *x.shape)))
    assert shows(lambda: q.reshape((x.size,)), y.ravel(), ["dequantize"])


def test_views_of_rows():
    x = np.random.default_rng(4).standard_normal((4, 64)).astype(F32)
    for dtype in ("int8", "int4", "int2"):
        q = quant.quantize(flex.asarray(x), dtype, block=32)
        y = np.asarray(q.dequantize())
        assert np.array_equal(np.asarray(q[1].dequantize()), y[1])
        assert np.array_equal(np.asarray(q[..., 32:].dequantize()), y[..., 32:])
        assert np.array_equal(np.asarray(q[::-2, 4:8].dequantize()), y[::-2, 4:8])
        assert np.array_equal(np.asarray(q.T[:32].dequantize()), y.T[:32])
        assert np.array_equal(np.asarray(q.reshape((4, 2, 32)).dequantize()), y.reshape(4, 2, 32))
        assert np.array_equal(np.asarray(q.reshape((2, 2, 64)).dequantize()), y.reshape(2, 2, 64))
        assert np.array_equal(np.asarray(q.reshape(2, -1, 32).dequantize()), y.reshape(2, -1, 32))
        assert np.array_equal(np.asarray(q[1:, None, :32].dequantize()), y[1:, None, :32])
        assert np.array_equal(np.asarray(q.transpose(1, 0).dequantize()), y.T)
        assert np.array_equal(np.asarray(q.transpose((1, 0)).dequantize()), y.T)
        assert np.array_equal(
            np.asarray(q.take(flex.asarray([3, 0, 3])).dequantize()), y[[3, 0, 3]]
        )
        joined = quant.concat([q, q[:1]])
        assert np.array_equal(np.asarray(joined.dequantize()), np.concatenate([y, y[:1]]))
        assert np.array_equal(
            np.asarray(quant.concat([q, q], axis=1).dequantize()), np.concatenate([y, y], 1)
        )
        assert q.equal(q[:])
        assert not q.equal(q.flip(axis=0))
        assert len(q) == 4


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int4", "int2"])
def test_pickles_and_copies(dtype):
    x = np.random.default_rng(11).standard_normal((3, 5)).astype(F32)
    q = quant.quantize(flex.asarray(x), dtype, axis=0)
    for other in (pickle.loads(pickle.dumps(q)), copy.copy(q), copy.deepcopy(q)):
        assert other.equal(q)
        assert (other.dtype, other.shape, other.block) == (q.dtype, q.shape, q.block)


def test_order():
    x = np.random.default_rng(5).permutation(24).reshape(4, 6).astype(F32) - 9
    for dtype in ("int8", "uint8"):
        q = quant.quantize(flex.asarray(x), dtype)
        y = np.asarray(q.dequantize())
        assert q.argmax().item() == y.argmax()
        assert q.argmin(axis=1).tolist() == y.argmin(1).tolist()
        assert np.array_equal(np.asarray(q.max(axis=0).dequantize()), y.max(0))
        assert np.array_equal(
            np.asarray(q.min(axis=1, keepdims=True).dequantize()), y.min(1, keepdims=True)
        )
        assert np.array_equal(np.asarray(q.sort(axis=0).dequantize()), np.sort(y, 0))
        assert q.argsort(axis=0).tolist() == np.argsort(y, 0, kind="stable").tolist()
        assert q.argsort(axis=0, descending=True).tolist() == np.argsort(-y, 0).tolist()
        values, places = q.topk(2)
        assert np.array_equal(np.asarray(values.dequantize()), np.sort(y)[:, :-3:-1])
        assert places.tolist() == np.argsort(-y)[:, :2].tolist()
    for dtype, ends in (("int4", 7), ("int2", 1)):
        q = quant.quantize(flex.asarray(np.clip(x, -ends, ends)), dtype)
        y = np.asarray(q.dequantize())
        for ordered, exact in (
            (q.sort(axis=0), np.sort(y, 0)),
            (q.max(axis=0), y.max(0)),
            (q.topk(3)[0], np.sort(y)[:, :-4:-1]),
        ):
            assert ordered.dtype == dtype
            assert np.array_equal(np.asarray(ordered.dequantize()), exact)
        assert q.max().dtype == "int8"
        assert float(np.asarray(q.max().dequantize())) == ends
    rows = quant.quantize(flex.asarray(x), axis=0)
    assert rows.argmax(axis=0).tolist() == np.asarray(rows.dequantize()).argmax(0).tolist()
    for refused in (rows.max, rows.sort, lambda: rows.topk(1)):
        with pytest.raises(ValueError, match="4 scales"):
            refused()


@given(cases(), st.integers(0, 5), st.data())
@examples(100)
def test_take_along_axis(case, count, data):
    x, dtype, axis, block, symmetric, scales = case
    q = quant.quantize(
        flex.asarray(x), dtype, axis=axis, block=block, symmetric=symmetric, scale_dtype=scales
    )
    y = np.asarray(q.dequantize())
    along = data.draw(st.integers(-x.ndim, x.ndim - 1))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    shape = [count if a == along % x.ndim else n for a, n in enumerate(x.shape)]
    indices = rng.integers(0, x.shape[along], shape)
    if q.scales.shape[along] > 1:
        with pytest.raises(ValueError, match="scales: dequantize first"):
            q.take_along_axis(indices, along)
        return
    taken = q.take_along_axis(flex.asarray(indices), axis=along)
    expected = np.take_along_axis(y, indices, along)
    assert taken.dtype == dtype
    assert np.array_equal(np.asarray(taken.dequantize()), expected)
    # positions that sort, with several scales too
    order = q.argsort(axis=along)
    assert order.tolist() == np.argsort(y, along, kind="stable").tolist()
    sorted_ = q.take_along_axis(order, along)
    assert np.array_equal(np.asarray(sorted_.dequantize()), np.sort(y, along))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int4", "int2"])
def test_order_and_concat_of_empty_tensors(dtype):
    q = quant.quantize(flex.zeros((0, 3)), dtype)
    assert q.sort(axis=1).shape == (0, 3)
    assert q.max(axis=1).shape == (0,)
    with pytest.raises(ValueError, match="max"):
        q.max()
    x = flex.asarray([[1.0, -1.0, 0.0]])
    for axis in (None, 0):
        some = quant.quantize(x, dtype, axis=axis)
        none = quant.quantize(flex.zeros((0, 3)), dtype, axis=axis)
        for parts in ([none, some], [some, none], [none, some, none]):
            assert quant.concat(parts).equal(some)
        assert quant.concat([none, none]).shape == (0, 3)
    wider = quant.quantize(flex.zeros((0, 4)), dtype)
    for parts, place in (([some, wider], 1), ([wider, none, some], 0), ([none, some, wider], 2)):
        with pytest.raises(flex.ShapeError, match=rf"tensor {place} is u?int\d of shape \[0, 4\]"):
            quant.concat(parts)


def test_is_not_an_array():
    x = flex.asarray([[1.0, -2.0], [0.5, 4.0]])
    q = quant.quantize(x, axis=0)
    calls = [
        lambda: np.asarray(q),
        lambda: np.asarray(q, dtype=np.float64),
        lambda: flex.asarray(q),
        lambda: flex.exp(q),
        lambda: x @ q,
        lambda: flex.add(x, q),
        lambda: flex.nn.linear(x, q),
        lambda: quant.quantize(q),
        lambda: flex.io.save(io.BytesIO(), {"w": q}, format="safetensors"),
    ]
    for call in calls:
        with pytest.raises(TypeError):
            call()
    for call in (calls[0], calls[2], calls[3], calls[6]):
        with pytest.raises(TypeError, match="QTensor"):
            call()
    for name in ("max", "sort", "argmax", "reshape"):
        arguments = [(4,)] if name == "reshape" else []
        with pytest.raises(TypeError, match=rf"^{name}: x: .*methods .*q\.{name}"):
            getattr(flex, name)(q, *arguments)
    with pytest.raises(TypeError, match=r"^concat: .*quant\.concat"):
        flex.concat([q, q])


def test_bytes_of_fields():
    x = flex.asarray([1.0, -1.0, 0.0, 1.0, -1.0])
    assert quant.quantize(x, "int2").values.tolist() == [0b01_00_11_01, 0b11]
    q = quant.QTensor(
        flex.asarray([0b10_01_00_11, 0b10], dtype="uint8"),
        flex.asarray([0.5]),
        dtype="int2",
        shape=(5,),
    )
    assert q.dequantize().tolist() == [-0.5, 0.0, 0.5, -1.0, -1.0]


def test_given_scales_are_copied():
    scale = np.array([0.5], dtype=F32)
    q = quant.quantize(flex.asarray([0.5, 1.0, 1.5]), scale=scale, zero_point=2)
    scale *= 2
    assert q.dequantize().tolist() == [0.5, 1, 1.5]
    by_row = quant.quantize(flex.ones((2, 3)), "uint8", scale=flex.full((2, 1), 0.5), zero_point=3)
    assert by_row.values.tolist() == [[5] * 3] * 2
    assert by_row.zero_points.shape == (2, 1)


def test_mse_calibration_does_not_depend_on_magnitude():
    x = np.random.default_rng(2).standard_t(2, 1000).astype(F32)
    values = [
        quant.quantize(flex.asarray(x * F32(2.0**e)), "int4", calibration="mse").values.tolist()
        for e in (0, -90, 90)
    ]
    assert values[0] == values[1] == values[2]
    assert values[0] != quant.quantize(flex.asarray(x), "int4").values.tolist()


def test_argmax_where_values_overflow():
    q = quant.QTensor(flex.asarray([1, 5, 100], dtype="int8"), flex.asarray([1e38]))
    assert q.argmax().item() == flex.argmax(q.dequantize()).item()


@pytest.mark.parametrize("dtype", ["int8", "int4", "int2"])
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_values_on_the_grid_are_exact(dtype, axis):
    """Multiples of a power of two up to the largest integer are their own quantised values."""
    most = {"int8": 127, "int4": 7, "int2": 1}[dtype]
    rng = np.random.default_rng(1)
    for exponent in (-100, -3, 0, 5, 100):
        x = rng.integers(-most, most + 1, (12, 8)).astype(np.float32)
        x[:, 0] = x[0] = most  # each group reaches the end of the range
        x *= np.float32(2.0**exponent)
        q = quant.quantize(flex.asarray(x), dtype, axis=axis)
        np.testing.assert_array_equal(q.dequantize().numpy(), x)
