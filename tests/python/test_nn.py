"""flex.nn against the formulas, written with NumPy in float64."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.special as special
from arrays import COMPLEX, EPS, FLOATS, HALVES, INTEGERS, check, operands, random_array, to_numpy
from hypothesis import given
from hypothesis import strategies as st
from support import examples

import flex
from flex import nn


def double(a):
    return a.astype(np.float64)


def softmax(a, axis):
    with np.errstate(all="ignore"):
        e = np.exp(a - np.max(a, axis=axis, keepdims=True, initial=-np.inf))
        return e / np.sum(e, axis=axis, keepdims=True)


@st.composite
def floats(draw, min_dims=1, dtypes=FLOATS, special=False):
    shape = tuple(draw(st.lists(st.integers(1, 9), min_size=min_dims, max_size=3)))
    if draw(st.integers(0, 4)) == 0:
        shape = (*shape[:-1], draw(st.sampled_from([64, 129, 384])))
    return draw(operands(dtypes, shape, special))


@examples(80)
@given(floats(), st.data())
def test_softmax(case, data):
    x, a = case
    axis = data.draw(st.integers(-a.ndim, a.ndim - 1))
    y = nn.softmax(x, axis=axis)
    assert y.dtype == a.dtype.name
    wide = double(a)
    top = wide.max(axis=axis, keepdims=True)
    # x - max is rounded, and exp turns that absolute error into a relative one
    check(y, softmax(wide, axis), ulps=4 + float(np.max(top - wide)))
    z = nn.log_softmax(x, axis)
    expected = wide - top - np.log(np.sum(np.exp(wide - top), axis=axis, keepdims=True))
    check(z, expected, ulps=4, absolute=32 * min(EPS[a.dtype.name], 2**-23))


def test_softmax_of_extremes():
    assert nn.softmax(flex.asarray([1000.0, 1000.0, -flex.inf])).tolist() == [0.5, 0.5, 0.0]
    assert np.isnan(nn.softmax(flex.full(3, -flex.inf)).numpy()).all()
    assert nn.log_softmax(flex.asarray([-1e30, 0.0])).tolist() == pytest.approx([-1e30, 0.0])
    assert nn.softmax(flex.asarray([1, 1])).dtype == flex.float32
    assert nn.softmax(flex.zeros((2, 0)), axis=0).shape == (2, 0)


@examples(60)
@given(floats(), st.booleans(), st.booleans(), st.data())
def test_layer_norm(case, with_weight, with_bias, data):
    x, a = case
    dtype = a.dtype.name
    count = data.draw(st.integers(1, a.ndim))
    shape = a.shape[-count:]
    w, weight = (
        data.draw(operands([dtype], shape, special=False))
        if with_weight
        else (None, np.ones(shape))
    )
    b, bias = (
        data.draw(operands([dtype], shape, special=False)) if with_bias else (None, np.zeros(shape))
    )
    axes = tuple(range(-count, 0))
    wide = double(a)
    mean = wide.mean(axis=axes, keepdims=True)
    deviation = np.sqrt(((wide - mean) ** 2).mean(axis=axes, keepdims=True) + 1e-3)
    expected = (wide - mean) / deviation * double(weight) + double(bias)
    y = nn.layer_norm(x, shape, w, b, eps=1e-3)
    assert y.dtype == dtype
    # the mean is rounded: an error relative to the largest value, scaled like the values
    scale = float(
        np.max(np.abs(wide) / deviation) * np.max(np.abs(weight.astype(np.float64)), initial=0)
        + np.max(np.abs(expected))
    )
    check(y, expected, ulps=2, absolute=scale * 8 * min(EPS[dtype], 2**-23))


@examples(60)
@given(floats(), st.booleans(), st.sampled_from([None, 1e-3]), st.data())
def test_rms_norm(case, with_weight, eps, data):
    x, a = case
    dtype = a.dtype.name
    w, weight = (
        data.draw(operands([dtype], a.shape[-1:], special=False))
        if with_weight
        else (None, np.ones(a.shape[-1:]))
    )
    wide = double(a)
    used = EPS[dtype] if eps is None else eps
    expected = wide / np.sqrt((wide**2).mean(axis=-1, keepdims=True) + used) * double(weight)
    y = nn.rms_norm(x, a.shape[-1], w, eps)
    assert y.dtype == dtype
    check(y, expected, ulps=8)


@examples(60)
@given(st.sampled_from([*FLOATS, "int32"]), st.booleans(), st.data())
def test_linear(dtype, with_bias, data):
    inputs, outputs = data.draw(st.integers(0, 40)), data.draw(st.integers(0, 40))
    lead = tuple(data.draw(st.lists(st.integers(0, 4), max_size=2)))
    x, a = data.draw(operands([dtype], (*lead, inputs), special=False))
    w, weight = data.draw(operands([dtype], (outputs, inputs), special=False))
    b, bias = (
        data.draw(operands([dtype], (outputs,), special=False))
        if with_bias
        else (None, np.zeros(outputs))
    )
    y = nn.linear(x, w, b)
    assert y.dtype == dtype
    expected = double(a) @ double(weight).T + double(bias)
    if dtype in INTEGERS:
        check(y, expected.astype(dtype))
    else:
        check(y, expected, ulps=2, absolute=(inputs + 1) * 100 * 4 * min(EPS[dtype], 2**-23))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    "activation", [None, "relu", "gelu", "gelu_tanh", "silu", "sigmoid", "tanh"]
)
def test_linear_with_activation_and_residual(activation, dtype):
    rng = np.random.default_rng(0)
    x, w, b, r = (
        flex.asarray(rng.standard_normal(s)).astype(dtype)
        for s in [(3, 7, 20), (70, 20), (70,), (7, 70)]
    )
    f = {
        "relu": nn.relu,
        "gelu": nn.gelu,
        "gelu_tanh": lambda y: nn.gelu(y, approximate="tanh"),
        "silu": nn.silu,
        "sigmoid": nn.sigmoid,
        "tanh": flex.tanh,
        None: lambda y: y,
    }[activation]
    y = nn.linear(x, w, b, activation=activation, residual=r)
    wide = "float64" if dtype == "float64" else "float32"
    x, w, b, r = (t.astype(wide) for t in (x, w, b, r))
    expected = double(np.asarray(f(nn.linear(x, w, b)) + r))
    assert y.dtype == dtype
    np.testing.assert_allclose(
        double(np.asarray(y.astype("float64"))), expected, rtol=EPS[dtype], atol=EPS[dtype]
    )


@pytest.mark.parametrize("left", ["int8", "uint8"])
@pytest.mark.parametrize("right", ["int8", "uint8"])
def test_linear_of_bytes_in_int32(left, right):
    rng = np.random.default_rng(0)
    x, a = (
        flex.asarray(rng.integers(0, 256, (5, 301)).astype(left)),
        flex.asarray(rng.integers(0, 256, (40, 301)).astype(right)),
    )
    b = flex.asarray(rng.integers(-1000, 1000, 40).astype("int32"))
    expected = to_numpy(x).astype("int32") @ to_numpy(a).astype("int32").T
    for _ in range(3):
        np.testing.assert_array_equal(to_numpy(nn.linear(x, a, dtype=flex.int32)), expected)
        np.testing.assert_array_equal(
            to_numpy(nn.linear(x, a, b, residual=b, dtype="int32")), expected + 2 * to_numpy(b)
        )
        a[0, 0] = 7
        expected[:, 0] = to_numpy(x).astype("int32") @ to_numpy(a)[0].astype("int32")


def test_linear_errors():
    with pytest.raises(ValueError, match="linear: activation is"):
        nn.linear(flex.zeros((2, 3)), flex.zeros((4, 3)), activation="sin")
    with pytest.raises(flex.ShapeError, match="linear"):
        nn.linear(flex.zeros((2, 3)), flex.zeros((4, 5)))
    with pytest.raises(flex.ShapeError, match="linear: bias must have the shape"):
        nn.linear(flex.zeros((2, 3)), flex.zeros((4, 3)), flex.zeros(3))
    with pytest.raises(
        flex.DTypeError, match="linear: products of float32 cannot be summed in int32"
    ):
        nn.linear(flex.zeros((2, 3)), flex.zeros((4, 3)), dtype=flex.int32)
    with pytest.raises(flex.DTypeError, match="linear"):
        nn.linear(flex.ones((2, 2), dtype="bool"), flex.ones((2, 2), dtype="bool"))


@pytest.mark.parametrize("dtype", ["int64", "int32", "uint8"])
def test_embedding(dtype):
    weight = np.random.default_rng(0).standard_normal((7, 5)).astype(np.float32)
    indices = np.array([[0, 6], [3, 3]], dtype=dtype)
    y = nn.embedding(flex.asarray(indices), flex.asarray(weight))
    np.testing.assert_array_equal(y.numpy(), weight[indices])
    with pytest.raises(IndexError, match="embedding: index 7 is out of range"):
        nn.embedding(flex.asarray([7]), flex.asarray(weight))
    with pytest.raises(flex.DTypeError, match="embedding"):
        nn.embedding(flex.asarray([1.0]), flex.asarray(weight))
    with pytest.raises(flex.ShapeError, match="embedding"):
        nn.embedding(flex.asarray([1]), flex.zeros(3))


@examples(60)
@given(floats())
def test_gelu(case):
    x, a = case
    wide = double(a)
    # 1 + erf is rounded: an error relative to x
    near = 2 * min(EPS[a.dtype.name], 2**-23) * float(np.max(np.abs(wide)))
    check(nn.gelu(x), 0.5 * wide * special.erfc(-wide / np.sqrt(2)), ulps=4, absolute=near)
    inner = np.sqrt(2 / np.pi) * (wide + 0.044715 * wide**3)
    check(nn.gelu(x, approximate="tanh"), wide / (1 + np.exp(-2 * inner)), ulps=4, absolute=near)
    with pytest.raises(ValueError, match='approximate is "sigmoid"'):
        nn.gelu(x, approximate="sigmoid")


def test_activations_are_the_elementwise_functions():
    assert nn.relu is flex.relu
    assert nn.sigmoid is flex.sigmoid
    assert nn.silu is flex.silu
    assert nn.tanh is flex.tanh


def attention(q, k, v, mask=None, causal=False, scale=None):
    """The formula; queries without keys give zeros."""
    scores = q @ np.swapaxes(k, -1, -2) * (1 / np.sqrt(q.shape[-1]) if scale is None else scale)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf) if mask.dtype == bool else scores + mask
    if causal:
        scores = np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)
    weights = softmax(scores, -1)
    return np.where(
        np.isneginf(scores).all(-1)[..., None], 0.0, np.where(np.isnan(weights), 0.0, weights) @ v
    )


@examples(80)
@given(st.sampled_from(FLOATS), st.data())
def test_scaled_dot_product_attention(dtype, data):
    queries, keys = (
        data.draw(st.sampled_from([1, 2, 5, 17, 70])),
        data.draw(st.sampled_from([1, 3, 8, 65])),
    )
    depth, width = data.draw(st.sampled_from([1, 4, 32])), data.draw(st.sampled_from([1, 4, 9]))
    lead = data.draw(st.sampled_from([(), (2,), (2, 3)]))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))

    def make(*shape):
        a = random_array(dtype, shape, rng, special=False, low=-2, high=3)
        return flex.asarray(a, copy=True), double(a)

    (x, q), (y, k), (z, v) = (
        make(*lead, queries, depth),
        make(*lead, keys, depth),
        make(*lead, keys, width),
    )
    kind = data.draw(st.sampled_from(["none", "bool", "float"]))
    mask = None
    if kind == "bool":
        mask = rng.random((queries, keys)) < 0.6
    elif kind == "float":
        mask = np.where(
            rng.random((queries, keys)) < 0.2, -np.inf, rng.integers(-3, 3, (queries, keys))
        ).astype(np.float32)
    causal = data.draw(st.booleans())
    scale = data.draw(st.sampled_from([None, 0.25]))
    given_mask = None if mask is None else flex.asarray(mask)
    result = nn.scaled_dot_product_attention(
        x, y, z, given_mask, is_causal=causal, scale=scale, align="upper_left"
    )
    assert result.dtype == dtype
    expected = attention(
        q, k, v, mask if mask is None or mask.dtype == bool else double(mask), causal, scale
    )
    # weights of bfloat16 may be rounded to it, relative to the largest value
    rounded = EPS[dtype] / 2 * np.abs(v).max() if dtype == "bfloat16" else 0.0
    check(result, expected, ulps=2, absolute=3 * 64 * min(EPS[dtype], 2**-23) + rounded)


def test_attention_with_grouped_heads():
    rng = np.random.default_rng(2)
    q, k, v = (
        rng.standard_normal((2, 6, 5, 8)),
        rng.standard_normal((2, 3, 7, 8)),
        rng.standard_normal((2, 3, 7, 4)),
    )
    y = nn.scaled_dot_product_attention(*map(flex.asarray, (q, k, v)), enable_gqa=True)
    check(y, attention(q, np.repeat(k, 2, 1), np.repeat(v, 2, 1)), absolute=1e-14)
    with pytest.raises(flex.ShapeError, match="scaled_dot_product_attention"):
        nn.scaled_dot_product_attention(
            *map(flex.asarray, (q, k[:, :1].repeat(4, 1), v)), enable_gqa=True
        )


@pytest.mark.parametrize("causal", [False, True])
def test_varlen_attention_matches_each_sequence(causal):
    rng = np.random.default_rng(3)
    q, k, v = (
        rng.standard_normal((90, 4, 8)),
        rng.standard_normal((90, 2, 8)),
        rng.standard_normal((90, 2, 5)),
    )
    offsets = [0, 3, 3, 70, 90]
    y = nn.varlen_attention(
        *map(flex.asarray, (q, k, v)), flex.asarray(offsets), is_causal=causal, scale=0.5
    )
    assert y.shape == (90, 4, 5)
    for start, end in pairwise(offsets):
        parts = [np.repeat(x[start:end], 4 // x.shape[1], 1).transpose(1, 0, 2) for x in (q, k, v)]
        check(
            y[start:end].permute_dims((1, 0, 2)),
            attention(*parts, causal=causal, scale=0.5),
            absolute=1e-14,
        )
    for wrong in ([0, 91], [0, -1, 90], [], [0, 50, 40, 90]):
        with pytest.raises(flex.ShapeError, match=r"they must ascend from 0"):
            nn.varlen_attention(*map(flex.asarray, (q, k, v)), wrong)


def test_a_query_without_keys_gives_zeros():
    x = flex.ones((2, 4))
    mask = flex.asarray([[False, False], [True, False]])
    assert nn.scaled_dot_product_attention(x, x, x, mask).tolist() == [[0.0] * 4, [1.0] * 4]


def test_attention_errors():
    x = flex.zeros((3, 4))
    sdpa = nn.scaled_dot_product_attention
    for operands_ in (
        (x, flex.zeros((3, 5)), x),
        (x, x, flex.zeros((2, 4))),
        (flex.zeros(4), x, x),
    ):
        with pytest.raises(flex.ShapeError, match="scaled_dot_product_attention"):
            sdpa(*operands_)
    with pytest.raises(flex.ShapeError, match="mask"):
        sdpa(x, x, x, flex.zeros((5, 5)))
    with pytest.raises(flex.DTypeError, match="mask is int64"):
        sdpa(x, x, x, flex.zeros((3, 3), dtype="int64"))
    with pytest.raises(flex.DTypeError):
        sdpa(*[flex.zeros((3, 4), dtype="int32")] * 3)


@pytest.mark.parametrize("dtype", COMPLEX)
def test_complex_numbers(dtype):
    x = flex.ones((2, 2), dtype=dtype)
    for call in (
        nn.softmax,
        nn.log_softmax,
        nn.gelu,
        lambda t: nn.layer_norm(t, 2),
        lambda t: nn.rms_norm(t, 2),
    ):
        with pytest.raises(flex.DTypeError):
            call(x)


def test_norm_errors():
    x = flex.zeros((2, 3))
    with pytest.raises(flex.ShapeError, match="layer_norm"):
        nn.layer_norm(x, 4)
    with pytest.raises(flex.ShapeError, match="layer_norm"):
        nn.layer_norm(x, (2, 3), flex.zeros(3))
    with pytest.raises(flex.ShapeError, match="rms_norm"):
        nn.rms_norm(x, (1, 2, 3))
    with pytest.raises(flex.AxisError, match="softmax"):
        nn.softmax(x, axis=2)


@pytest.mark.parametrize("dtype", HALVES)
def test_halves_are_rounded_once(dtype):
    rng = np.random.default_rng(4)
    a = random_array(dtype, (40, 64), rng, special=False)
    y = to_numpy(nn.softmax(flex.asarray(a, copy=True)))
    wide = to_numpy(
        flex.astype(nn.softmax(flex.astype(flex.asarray(a, copy=True), "float32")), dtype)
    )
    np.testing.assert_array_equal(y, wide)
