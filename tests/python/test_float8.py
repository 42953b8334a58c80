"""8-bit floats: the bits of ml_dtypes; they are stored and converted, never computed with."""

import copy
import operator
import pickle

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import examples, numpy_dtype

import flex

FORMATS = [flex.float8_e4m3fn, flex.float8_e5m2]
each = pytest.mark.parametrize("float8", FORMATS, ids=str)


def every(float8):
    """Each of the 256 values."""
    return np.arange(256, dtype=np.uint8).view(numpy_dtype(float8))


def bits(t):
    return t.view("uint8").numpy()


def rounded(x, float8):
    """The bits of ml_dtypes. It rounds float64 twice, via float32, so float64 is rounded to odd first, which makes double rounding safe."""
    with np.errstate(all="ignore"):
        if x.dtype == np.float64:
            y = x.astype(np.float32)
            y = np.where(abs(y.astype(np.float64)) > abs(x), np.nextafter(y, np.float32(0)), y)
            x = (y.view(np.uint32) | (y.astype(np.float64) != x)).view(np.float32)
        return x.astype(numpy_dtype(float8))


def same(t, theirs):
    np.testing.assert_array_equal(bits(t), theirs.view(np.uint8))


@each
@pytest.mark.parametrize(
    "wide",
    [
        "float16",
        "bfloat16",
        "float32",
        "float64",
        "int8",
        "int64",
        "uint8",
        "uint64",
        "bool",
        "complex64",
    ],
)
def test_every_value_converts(float8, wide):
    a = every(float8)
    if wide in ("int8", "int64", "uint8", "uint64"):  # flex saturates and converts NaN to 0
        a = a[
            np.isfinite(a.astype(np.float32))
            & (abs(a.astype(np.float32)) < 100)
            & (a.astype(np.float32) >= 0)
        ]
    t = flex.asarray(a)
    with np.errstate(all="ignore"):
        got, expected = t.astype(wide).numpy(), a.astype(numpy_dtype(getattr(flex, wide)))
    assert got.dtype == expected.dtype
    if wide == "bfloat16":  # NumPy doesn't recognise its NaN
        got, expected = got.astype(np.float32), expected.astype(np.float32)
    np.testing.assert_array_equal(got, expected)
    np.testing.assert_array_equal(t.tolist(), a.astype(np.float64))


@each
@pytest.mark.parametrize("wide", ["float16", "bfloat16", "float32", "float64"])
def test_rounding_boundaries(float8, wide):
    a = every(float8).astype(np.float64)
    a = np.unique(a[np.isfinite(a)])
    top = 2 * a[-1] - a[-2]
    middles = np.concatenate(
        [
            (a[1:] + a[:-1]) / 2,
            [(a[-1] + top) / 2, -(a[-1] + top) / 2, top, -top, 449.0, 464.0, 1e9, -1e9],
        ]
    )
    with np.errstate(all="ignore"):
        points = np.concatenate([a, middles]).astype(numpy_dtype(getattr(flex, wide)))
    step = (
        np.nextafter
        if wide != "bfloat16"
        else lambda x, to: (x.astype(np.float32) * np.float32(1 + np.sign(to) / 128)).astype(
            x.dtype
        )
    )
    up, down = (step(points, np.asarray(to, points.dtype)) for to in (np.inf, -np.inf))
    special = np.array([np.inf, -np.inf, np.nan, -np.nan, 0.0, -0.0], points.dtype)
    x = np.concatenate([points, up, down, special])
    same(flex.asarray(x).astype(float8), rounded(x, float8))


@examples(100)
@given(
    st.sampled_from(FORMATS),
    st.sampled_from(["float32", "float64", "int64", "int32", "uint8"]),
    st.integers(0, 2**32 - 1),
)
def test_random_numbers(float8, wide, seed):
    rng = np.random.default_rng(seed)
    if wide.startswith("float"):
        x = (rng.standard_normal(300) * 2.0 ** rng.integers(-20, 20, 300)).astype(wide)
    else:
        info = np.iinfo(wide)
        x = (
            rng.integers(info.min, info.max, 300, dtype=wide)
            >> rng.integers(0, info.bits - 1, 300).astype(wide)
        ).astype(wide)
    same(flex.asarray(x).astype(float8), rounded(x, float8))
    for k in range(10):
        same(flex.asarray([x[k].item()], dtype=float8), rounded(x[k : k + 1], float8))
        same(flex.full((1,), x[k].item(), dtype=float8), rounded(x[k : k + 1], float8))


@each
def test_float64_is_rounded_once(float8):
    half = flex.finfo(float8).eps / 2
    x = flex.asarray(
        [1 + half, 1 + half + 2.0**-40, 1 + half - 2.0**-40, -(1 + half + 2.0**-40)],
        dtype="float64",
    )
    assert x.astype(float8).tolist() == [1, 1 + 2 * half, 1, -(1 + 2 * half)]
    assert flex.full((), 1 + half + 2.0**-40, dtype=float8).item() == 1 + 2 * half


@each
def test_between_the_formats(float8):
    other = FORMATS[float8 == FORMATS[0]]
    with np.errstate(all="ignore"):
        same(
            flex.asarray(every(float8)).astype(other),
            every(float8).astype(np.float32).astype(numpy_dtype(other)),
        )
    same(flex.asarray(every(float8)).astype(float8), every(float8))


def test_overflow():
    large = [448.0, 464.0, 465.0, float("inf"), -1e9]
    assert (
        str(flex.asarray(large, dtype="float8_e4m3fn").tolist()) == "[448.0, 448.0, nan, nan, nan]"
    )
    large = [57344.0, 61439.0, 61440.0, float("inf"), -1e9]
    assert flex.asarray(large, dtype="float8_e5m2").tolist() == [
        57344.0,
        57344.0,
        np.inf,
        np.inf,
        -np.inf,
    ]
    assert str(flex.full((2,), 1000, dtype="float8_e4m3fn").tolist()) == "[nan, nan]"


def test_complex_numbers_do_not_lose_their_imaginary_part():
    with pytest.raises(flex.DTypeError, match="imaginary"):
        flex.asarray([1j]).astype("float8_e5m2")
    with pytest.raises(flex.DTypeError, match="imaginary"):
        flex.asarray([1j], dtype="float8_e5m2")


# ---- Python objects


def test_text():
    t = flex.asarray([0.1, 3.25, 448, float("nan")], dtype="float8_e4m3fn")
    assert str(t) == "[  0.1,   3.2, 448. ,   nan]"
    assert repr(t[:2]) == "Tensor([0.1, 3.2], shape=(2,), dtype=float8_e4m3fn)"
    assert repr(flex.float8_e5m2) == "flex.float8_e5m2"


@each
def test_numbers_of_python_and_numpy(float8):
    t = flex.asarray([[1.5, -2.0], [0.0, 448.0]], dtype=float8)
    assert t.tolist() == [[1.5, -2.0], [0.0, 448.0]]
    assert (t[0, 1].item(), float(t[0, 0]), int(t[0, 1]), bool(t[1, 0]), bool(t[0, 0])) == (
        -2.0,
        1.5,
        -2,
        False,
        True,
    )
    assert [x.item() for x in t[0]] == [1.5, -2.0]
    t[0] = 7
    t[1, 0] = flex.asarray(2.25)
    t[1, 1] = numpy_dtype(float8).type(3)
    assert t.tolist() == [[7, 7], [2.25 if float8 == "float8_e4m3fn" else 2.0, 3]]
    assert flex.asarray(numpy_dtype(float8).type(1.5)).dtype == float8
    n = flex.zeros(2, dtype="int8")
    with pytest.raises(flex.DTypeError, match=r"float8_e.*convert"):
        n[:] = t[0]


@each
def test_copies_and_pickles(float8):
    t = flex.asarray(every(float8), copy=True)
    for twin in (
        copy.copy(t),
        copy.deepcopy(t),
        t.copy(),
        pickle.loads(pickle.dumps(t)),
        pickle.loads(pickle.dumps(t, 2)),
    ):
        assert twin.dtype is float8
        same(twin, every(float8))
    assert hash(float8) == hash(float8.name)
    assert pickle.loads(pickle.dumps(float8)) is float8


@each
def test_numpy_shares_memory(float8):
    a = every(float8).reshape(16, 16)[::-1, ::3]
    t = flex.asarray(a)
    assert (t.dtype, t.shape) == (float8, a.shape)
    same(t.contiguous(), np.ascontiguousarray(a))
    for b in (t.numpy(), np.asarray(t), np.asarray(t.contiguous())):
        assert b.dtype == a.dtype
        np.testing.assert_array_equal(
            np.ascontiguousarray(b).view(np.uint8), np.ascontiguousarray(a).view(np.uint8)
        )
    assert np.shares_memory(t.numpy(), a)
    assert np.asarray(t, dtype=np.float32).dtype == np.float32
    assert flex.asarray(a.astype(np.float32), dtype=a.dtype).dtype == float8


# ---- files


@each
@pytest.mark.parametrize("mmap", [True, False])
def test_safetensors(tmp_path, float8, mmap):
    path = tmp_path / "x.safetensors"
    flex.io.save(
        path,
        {
            "weight": every(float8).reshape(2, 128),
            "scale": flex.ones(3),
            "none": flex.zeros((0, 2), dtype=float8),
        },
    )
    assert {"float8_e4m3fn": b'"F8_E4M3"', "float8_e5m2": b'"F8_E5M2"'}[
        float8.name
    ] in path.read_bytes()
    loaded = flex.io.load(path, mmap=mmap)
    assert (
        loaded["weight"].dtype,
        loaded["weight"].shape,
        loaded["none"].shape,
        loaded.others,
    ) == (float8, (2, 128), (0, 2), {})
    same(loaded["weight"].reshape(-1), every(float8))


@each
def test_npy_lacks_float8(tmp_path, float8):
    path = tmp_path / "x.npy"
    with pytest.raises(
        flex.DTypeError, match=rf"no {float8}: save it as safetensors, or its bytes as uint8"
    ):
        flex.io.save(path, flex.zeros(2, dtype=float8))
    assert not path.exists()
    np.save(path, np.zeros(2, numpy_dtype(float8)))
    with pytest.raises(ValueError, match="no dtype"):
        flex.io.load(path)


# ---- refused operations


@each
@pytest.mark.parametrize(
    "call",
    [
        *(operator.add, operator.mul, operator.truediv, operator.matmul, operator.eq, operator.lt),
        *(
            lambda x, y, f=f: f(x, 2)
            for f in (operator.add, operator.mul, operator.pow, operator.eq)
        ),
        *(
            lambda x, y, f=f: f(x)
            for f in (
                operator.neg,
                abs,
                flex.exp,
                flex.isnan,
                flex.sum,
                flex.mean,
                flex.max,
                flex.argmax,
                flex.any,
            )
        ),
        *(
            lambda x, y, f=f: f(x)
            for f in (flex.sort, flex.argsort, flex.unique_values, flex.var, round, flex.clip)
        ),
        lambda x, y: flex.cumulative_sum(x, axis=0),
        lambda x, y: 1j * x,
        lambda x, y: flex.nn.softmax(x),
        lambda x, y: flex.nn.linear(x, y),
        lambda x, y: flex.nn.rms_norm(x, 2),
        lambda x, y: flex.nn.scaled_dot_product_attention(x, y, y),
        lambda x, y: flex.nn.grad.relu(x, y),
        lambda x, y: flex.nn.grad.softmax(x, y),
        lambda x, y: flex.nn.grad.linear(x, x, x),
        lambda x, y: flex.nn.grad.layer_norm(x, y, 2),
        lambda x, y: flex.nn.grad.pad(x, (2, 2), (0, 0)),
        lambda x, y: flex.nn.grad.interpolate(x[None], (1, 2, 4), 2),
        lambda x, y: flex.nn.grad.cross_entropy(x[0, 0], flex.ones((1, 2)), flex.asarray([1])),
        lambda x, y: flex.linspace(0, 1, 3, dtype=x.dtype),
        lambda x, y: flex.sum(flex.ones(3), dtype=x.dtype),
    ],
)
def test_arithmetic_is_refused(float8, call):
    x = flex.asarray([[1, 2], [3, 4]], dtype=float8)
    with pytest.raises(
        flex.DTypeError,
        match=rf"{float8}, a storage dtype without arithmetic: convert it with astype",
    ):
        call(x, x)


@each
def test_no_promotion(dtype, float8):
    if dtype == float8:
        assert flex.result_type(dtype, float8) is float8
        return
    x, y = flex.zeros(2, dtype=float8), flex.zeros(2, dtype=dtype)
    for call in (
        flex.result_type,
        flex.add,
        flex.equal,
        flex.matmul,
        lambda x, y: flex.concat([x, y]),
    ):
        for pair in ((x, y), (y, x)):
            with pytest.raises(
                flex.DTypeError, match=r"float8_e.* has no common dtype: convert one with astype"
            ):
                call(*pair)
    assert not flex.can_cast(float8, dtype)


@each
def test_scalars_are_weak(float8):
    assert flex.result_type(float8, 1, 2.5) is float8
    x = flex.asarray([1.0, 2.0], dtype=float8)
    assert flex.where(flex.asarray([True, False]), x, 0.5).tolist() == [1, 0.5]
    assert flex.pad(x, 1, value=3).tolist() == [3, 1, 2, 3]
    assert not flex.isdtype(float8, "real floating")
    assert not flex.isdtype(float8, "numeric")
    assert flex.isdtype(float8, (float8, "bool"))


@each
def test_conversions_and_moves_are_supported(float8):
    x = flex.asarray([[1, 2], [3, 4]], dtype=float8)
    with pytest.raises(flex.DTypeError, match="convert the operands"):
        flex.matmul(x, x, dtype="float32")
    assert flex.sum(x, dtype="float32").item() == 10
    assert flex.nn.embedding(flex.asarray([1, 0]), x).tolist() == [[3, 4], [1, 2]]


def test_dtype_names():
    assert {d.name for d in FORMATS} < set(flex.show_config()["dtypes"].split())
    assert ml_dtypes.float8_e4m3fn == flex.float8_e4m3fn
    with pytest.raises(TypeError, match="is not a dtype of flex"):
        flex.DType(ml_dtypes.float8_e4m3b11fnuz)
