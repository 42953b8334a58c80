"""Operations along an axis whose neighbours are many: columns side by side, lines packed together."""

import ml_dtypes
import numpy as np
import pytest

import flex

SHAPES = [(2, 21, 5, 33), (3, 2, 64), (1, 40, 130), (2, 3, 16, 17), (0, 3, 70)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    "dtype",
    ["float32", "float64", "float16", "bfloat16", "int8", "int32", "int64", "uint8", "bool"],
)
def test_the_first_extreme_of_columns(shape, dtype):
    rng = np.random.default_rng(1)
    a = rng.integers(0, 5, shape).astype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)
    floats = dtype in ("float32", "float64", "float16", "bfloat16")
    for nan in (False, True) if floats and a.size else (False,):
        if nan:
            a.reshape(-1)[rng.integers(0, a.size, 20)] = np.nan
        if floats and a.size:
            a[:, :, :3] = -np.inf
        x = flex.asarray(a)
        wide = a.astype("float64")
        for name in ("argmax", "argmin"):
            expected = getattr(np, name)(wide, axis=1)
            assert np.array_equal(np.asarray(getattr(flex, name)(x, axis=1)), expected), name


@pytest.mark.parametrize("shape", [*SHAPES, (2, 0, 70)])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_softmax_has_the_bits_of_contiguous_lines(shape, dtype):
    x = flex.asarray(np.random.default_rng(2).standard_normal(shape) * 4).astype(
        getattr(flex, dtype)
    )
    last = flex.moveaxis(x, 1, -1).copy()
    for f in (flex.nn.softmax, flex.nn.log_softmax):
        y, expected = f(x, axis=1), flex.moveaxis(f(last, axis=-1), -1, 1)
        assert y.copy().tobytes() == expected.copy().tobytes()
        grad = flex.nn.grad.softmax if f is flex.nn.softmax else flex.nn.grad.log_softmax
        g = grad(x, y, axis=1)
        expected = flex.moveaxis(grad(last, flex.moveaxis(y, 1, -1).copy(), axis=-1), -1, 1)
        assert g.copy().tobytes() == expected.copy().tobytes()


@pytest.mark.parametrize("width", [1, 7, 16, 63, 64, 100, 384])
@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
def test_bags_of_any_width(width, mode, dtype):
    rng = np.random.default_rng(3)
    table = flex.asarray(rng.standard_normal((50, width))).astype(getattr(flex, dtype))
    indices = rng.integers(0, 50, (6, 40))
    y = flex.nn.embedding_bag(flex.asarray(indices), table, mode=mode, padding_idx=4)
    rows = np.asarray(table.astype(flex.float64))
    for bag, got in zip(indices, np.asarray(y.astype(flex.float64)), strict=True):
        expected = getattr(rows[bag[bag != 4]], mode)(0)
        assert np.allclose(got, expected, rtol=0, atol=0.1 if dtype == "bfloat16" else 1e-5)


@pytest.mark.parametrize("n", [2, 3, 4, 5])
@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "float64", "complex128"])
def test_few_columns_interleave(n, dtype):
    for rows in (1, 7, 8, 100, 1000):
        a = np.arange(n * rows * 3).reshape(3, n, rows).astype(dtype)
        assert np.array_equal(
            np.asarray(flex.permute_dims(flex.asarray(a), (0, 2, 1)).copy()), a.transpose(0, 2, 1)
        )
