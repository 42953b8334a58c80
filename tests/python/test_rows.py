"""Rows that are reduced and normalised by hand, eager, fused and queued: whether they stay in L1, in L2 or in neither; and
operands with a single value in each row, which are read as they are or copied."""

import numpy as np
import pytest
from arrays import LAYOUTS, laid_out, to_numpy

import flex

SHAPES = [
    (6000, 33),
    (3001, 64),
    (1501, 256),
    (1201, 257),
    (401, 1024),
    (61, 5000),
    (9, 40_000),
    (70, 5, 300),
    (3, 260, 130),
]
OVER = {"axis": -1, "keepdims": True}


def normalised(x, w):
    d = x - flex.mean(x, **OVER)
    return d / flex.sqrt(flex.mean(d * d, **OVER) + 1e-3) * w + w


def softmax(x, w):
    e = flex.exp(x - flex.max(x, **OVER))
    total = flex.sum(e, **OVER)
    return e / total, total * flex.sum(w)


def raw(result):
    results = result if isinstance(result, tuple) else (result,)
    return [(x.shape, x.dtype, to_numpy(x).tobytes()) for x in results]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("f", [normalised, softmax])
def test_rows_have_the_bits_of_eager_operations(f, shape, dtype):
    rng = np.random.default_rng(0)
    x, w = (flex.asarray(rng.standard_normal(s).astype(dtype)) for s in (shape, shape[-1:]))
    expected = raw(f(x, w))
    assert raw(flex.fuse(f)(x, w)) == expected
    with flex.stream():
        queued = f(x, w)
    assert raw(queued) == expected


def test_rows_agree_with_numpy():
    rng = np.random.default_rng(1)
    for n in (64, 200, 1024, 3000):
        a, b = rng.standard_normal((800, n)), rng.standard_normal(n)
        x, w = flex.asarray(a), flex.asarray(b)
        d = a - a.mean(-1, keepdims=True)
        expected = d / np.sqrt((d * d).mean(-1, keepdims=True) + 1e-3) * b + b
        np.testing.assert_allclose(
            to_numpy(flex.fuse(normalised)(x, w)), expected, rtol=1e-12, atol=1e-12
        )
        e = np.exp(a - a.max(-1, keepdims=True))
        expected = e / e.sum(-1, keepdims=True)
        np.testing.assert_allclose(to_numpy(flex.fuse(softmax)(x, w)[0]), expected, rtol=1e-12)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int16", "complex64"])
@pytest.mark.parametrize(
    "shape", [(1, 64), (3, 63), (40, 64), (41, 100), (9, 256), (7, 257), (5, 700), (2, 30, 90)]
)
def test_values_of_rows_agree_with_numpy(shape, dtype):
    rng = np.random.default_rng(2)
    a = rng.integers(-50, 50, shape).astype(dtype)
    b = rng.integers(-50, 50, (*shape[:-1], 1)).astype(dtype)
    m = flex.asarray(b)
    for layout in LAYOUTS:
        x, c = laid_out(a, layout)
        np.testing.assert_array_equal(to_numpy(x - m), c - b)
        np.testing.assert_array_equal(to_numpy(m - x), b - c)
        np.testing.assert_array_equal(to_numpy(x == m), c == b)
        np.testing.assert_array_equal(
            to_numpy(flex.where(x == m, m, x + m)), np.where(c == b, b, c + b)
        )
        np.testing.assert_array_equal(
            to_numpy(flex.fuse(lambda x, m: (x - m) * x + m)(x, m)), (c - b) * c + b
        )
        x -= m
        np.testing.assert_array_equal(to_numpy(x), c - b)
    full = np.broadcast_to(b, shape)
    np.testing.assert_array_equal(to_numpy(flex.broadcast_to(m, shape) + 0), full)
