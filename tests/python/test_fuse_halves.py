"""16-bit floats in fused programs: functions that run as a whole get computed values in their own dtype."""

import ml_dtypes  # noqa: F401 (NumPy's bfloat16)
import numpy as np
import pytest

import flex
from flex import nn

ULPS = 2


def ordered(x):
    """Integers in the order of 16-bit floats, one apart for neighbours; zeros of both signs are one."""
    bits = x.numpy().view("int16").astype("int64")
    return np.where(bits < 0, -(bits & 0x7FFF), bits)


def near(got, expected):
    assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
    if got.dtype not in (flex.float16, flex.bfloat16):
        np.testing.assert_array_equal(got.numpy(), expected.numpy())
        return
    apart = np.abs(ordered(got) - ordered(expected))
    assert apart.max(initial=0) <= ULPS, (got.tolist(), expected.tolist())


def softmax(v, axis):
    e = np.exp(v - v.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def normed(v):
    return (v - v.mean(-1, keepdims=True)) / np.sqrt(v.var(-1, keepdims=True) + 1e-5)


# name, function of a computed value, the same in NumPy
FUNCTIONS = [
    ("sort", lambda v: flex.sort(v), lambda v: np.sort(v)),
    ("argsort", lambda v: flex.argsort(v, axis=0), lambda v: np.argsort(v, axis=0, kind="stable")),
    ("cumulative_sum", lambda v: flex.cumulative_sum(v, axis=1), lambda v: np.cumsum(v, axis=1)),
    ("cumulative_prod", lambda v: flex.cumulative_prod(v, axis=0), lambda v: np.cumprod(v, axis=0)),
    ("layer_norm", lambda v: nn.layer_norm(v, (4,)), normed),
    ("softmax", lambda v: nn.softmax(v, axis=-1), lambda v: softmax(v, -1)),
    ("std", lambda v: flex.std(v, axis=0), lambda v: np.std(v, axis=0)),
    (
        "var",
        lambda v: flex.var(v, axis=1, keepdims=True),
        lambda v: np.var(v, axis=1, keepdims=True),
    ),
    ("mean", lambda v: flex.mean(v, axis=1), lambda v: np.mean(v, axis=1)),
    ("sum", lambda v: flex.sum(v), lambda v: np.sum(v)),
    ("max", lambda v: flex.max(v, axis=0), lambda v: np.max(v, axis=0)),
    ("argmax", lambda v: flex.argmax(v, axis=1), lambda v: np.argmax(v, axis=1)),
    ("matmul", lambda v: v @ v.T, lambda v: v @ v.T),
    ("linear", lambda v: nn.linear(v, v), lambda v: v @ v.T),
]
# exact in 16 bits, so that results round alike however many operations are fused
COMPUTED = [lambda x: x + x, lambda x: -x, lambda x: flex.abs(x) * 0.5]
MATRIX = [[3, -1, 2.5, 0.25], [-4, 0.5, 6, -2], [1.5, 7, -0.75, 5]]


@pytest.fixture(params=["float16", "bfloat16"])
def x(request):
    return flex.asarray(MATRIX, dtype=request.param)


def queued(f, *args):
    with flex.stream():
        return f(*args)


@pytest.mark.parametrize("g", COMPUTED, ids=["double", "negative", "half"])
@pytest.mark.parametrize(
    ("f", "reference"), [c[1:] for c in FUNCTIONS], ids=[c[0] for c in FUNCTIONS]
)
def test_functions_of_computed_values(x, f, reference, g):
    alone = f(g(x))
    expected = reference(g(x.astype("float64")).numpy())
    eps = 2.0 ** (-9 if x.dtype == flex.float16 else -6) if alone.dtype == x.dtype else 0
    for y in (alone, flex.fuse(lambda x: f(g(x)))(x), queued(lambda x: f(g(x)), x)):
        near(y, alone)
        np.testing.assert_allclose(y.astype("float64").numpy(), expected, rtol=eps, atol=eps / 4)


@pytest.mark.parametrize("g", COMPUTED, ids=["double", "negative", "half"])
@pytest.mark.parametrize("f", [c[1] for c in FUNCTIONS], ids=[c[0] for c in FUNCTIONS])
def test_results_are_read_by_other_programs(x, f, g):
    def then(x):
        return f(g(x)) * 2

    near(flex.fuse(then)(x), then(x))
    near(queued(then, x), then(x))


CHAINS = {
    "of a reduction": lambda x: flex.sort(flex.sum(x + x, axis=0)),
    "of a reduction that keeps axes": lambda x: flex.cumulative_sum(
        flex.max(x + x, axis=1, keepdims=True), axis=0
    ),
    "of a whole mean": lambda x: flex.sort(flex.reshape(flex.mean(x * 4), (1,))),
    "of a view": lambda x: flex.sort((x + x).T),
    "of a view of a reduction": lambda x: flex.cumulative_sum(
        flex.expand_dims(flex.max(-x, axis=0), axis=0), axis=1
    ),
    "of a reshape": lambda x: flex.cumulative_sum(flex.reshape(-x, (-1,))),
    "of a slice": lambda x: flex.sort((x * 2)[1:, ::2]),
    "of another": lambda x: flex.sort(flex.cumulative_sum(-x, axis=0) * 2),
    "beside the value": lambda x: flex.sort(x + x) + (x + x),
    "beside its mean": lambda x: flex.sort(x + x) - flex.mean(x + x, axis=1, keepdims=True),
    "broadcast": lambda x: nn.softmax(x + x[:1], axis=-1),
    "of a converted value": lambda x: flex.sort((x + x).astype("float32").astype(x.dtype)),
    "converted": lambda x: flex.sort(-x).astype("float32").astype(x.dtype) + 1,
    "std after a function": lambda x: flex.std(flex.sort(-x) * 2, axis=0) * 1,
    "of a choice": lambda x: flex.sort(flex.where(x > 1, x, -x)),
    "a product of a reduction": lambda x: flex.sum(x + x, axis=1, keepdims=True).T @ (x * 2),
    "a product, followed": lambda x: flex.sort(nn.relu((x + x) @ x.T + 1) * 0.5),
    "neighbours": lambda x: flex.sort(flex.nextafter(x + x, x)),
}


@pytest.mark.parametrize("f", CHAINS.values(), ids=CHAINS)
def test_chains(x, f):
    near(flex.fuse(f)(x), f(x))
    near(queued(f, x), f(x))
    strict = flex.fuse(f, strict=True)(x)
    np.testing.assert_array_equal(strict.numpy(), f(x).numpy())


def test_several_results(x):
    def f(x):
        v = x + x
        m = flex.max(v, axis=1)
        return v, flex.sort(v), m, flex.cumulative_sum(m), v - flex.expand_dims(m, axis=1)

    for got, expected in zip(flex.fuse(f)(x), f(x), strict=True):
        near(got, expected)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_blocks(dtype):
    x = flex.reshape(flex.linspace(-3, 5, 301 * 1100, dtype="float32"), (301, 1100)).astype(dtype)

    def f(x):
        v = x + x
        top = flex.max(v, axis=1, keepdims=True)
        return (
            flex.sort(v - top),
            nn.softmax(v, axis=-1),
            flex.cumulative_sum(top, axis=0),
            flex.minimum(v, top) * 0.5,
        )

    for got, expected in zip(flex.fuse(f)(x), f(x), strict=True):
        near(got, expected)


def test_other_dtypes_of_results():
    """Comparisons, counts and positions of computed values are those of the values in 16 bits."""
    x = flex.asarray([[0.1, 0.2, 0.3]], dtype="float16")
    f = flex.fuse(
        lambda x: (flex.argsort(1 - x, axis=1), flex.argmin(1 - x), flex.count_nonzero(x - x))
    )
    assert [y.tolist() for y in f(x)] == [[[2, 1, 0]], 2, 0]


def test_operations_round_once():
    """Values are float32 until they are stored, or read by a function that runs as a whole."""
    x = flex.asarray(np.random.default_rng(4).standard_normal((64, 33)), dtype=flex.bfloat16)

    def bits(f, x):
        return f(x).astype(flex.bfloat16).tolist()

    def long(x):
        y = x
        for k in range(100):
            y = flex.sin(y * 1.125 + x) + flex.cos(x * k)
        return y

    for f in (
        long,
        lambda x: flex.exp(x) - flex.mean(flex.exp(x), axis=1, keepdims=True),
        lambda x: (flex.exp(x) * 1.125).T[1:] * 3.25 + 1,
        lambda x: flex.exp(flex.sum(flex.exp(x) * x, axis=0) * 0.0078125) + 1,
    ):
        assert bits(flex.fuse(f), x) == bits(f, x.astype(flex.float32))
    # what sort reads is rounded, and what follows begins with that
    first = (flex.exp(x.astype(flex.float32)) * x.astype(flex.float32)).astype(flex.bfloat16)
    once = flex.sort(first).astype(flex.float32) * 1.125 + x.astype(flex.float32)
    got = flex.fuse(lambda x: flex.sort(flex.exp(x) * x) * 1.125 + x)(x)
    assert got.tolist() == once.astype(flex.bfloat16).tolist()
