"""New tensors against NumPy."""

import math

import numpy as np
import pytest
from arrays import (
    BOOL,
    COMPLEX,
    FLOATS,
    INTEGERS,
    KEPT,
    check,
    numpy_dtype,
    operands,
    shapes,
    to_numpy,
)
from hypothesis import given
from hypothesis import strategies as st
from support import examples

import flex


@examples(60)
@given(shapes(), st.sampled_from(KEPT))
def test_constants(shape, dtype):
    for name in ("zeros", "ones"):
        y = getattr(flex, name)(shape, dtype=dtype)
        assert (y.dtype, y.shape) == (dtype, shape)
        check(y, getattr(np, name)(shape, numpy_dtype(dtype)))
        check(getattr(flex, name + "_like")(y), getattr(np, name)(shape, numpy_dtype(dtype)))
    value = True if dtype in BOOL else 3
    check(flex.full(shape, value, dtype=dtype), np.full(shape, value, numpy_dtype(dtype)))
    check(
        flex.full_like(flex.zeros(shape, dtype=dtype), value),
        np.full(shape, value, numpy_dtype(dtype)),
    )
    assert flex.empty(shape, dtype=dtype).shape == shape
    y = flex.empty_like(flex.zeros(shape, dtype=dtype))
    assert (y.dtype, y.shape) == (dtype, shape)


def test_default_dtypes():
    assert (
        flex.zeros(2).dtype
        == flex.ones(2).dtype
        == flex.empty(2).dtype
        == flex.eye(2).dtype
        == flex.float32
    )
    assert flex.full(2, 1).dtype == flex.int64
    assert flex.full(2, 1.0).dtype == flex.float32
    assert flex.full(2, True).dtype == flex.bool
    assert flex.full(2, 1j).dtype == flex.complex64
    assert flex.arange(3).dtype == flex.int64
    assert flex.arange(3.0).dtype == flex.float32
    assert flex.linspace(0, 1, 3).dtype == flex.float32
    assert flex.zeros_like(flex.ones(2), dtype="int8").dtype == flex.int8


@examples(100)
@given(
    st.integers(-50, 50),
    st.integers(-50, 50),
    st.integers(-7, 7).filter(bool),
    st.sampled_from([None, "int32", "float64", "bfloat16"]),
)
def test_arange_of_integers(start, stop, step, dtype):
    y = flex.arange(start, stop, step, dtype=dtype)
    assert y.dtype == (dtype or "int64")
    check(y, np.arange(start, stop, step))
    if step == 1 and start == 0:
        check(flex.arange(stop), np.arange(stop))


@examples(60)
@given(st.integers(-40, 40), st.integers(-40, 40), st.integers(-12, 12).filter(bool))
def test_arange_of_floats(start, stop, step):
    y = flex.arange(start / 8, stop / 8, step / 8, dtype="float64")
    check(y, np.arange(start, stop, step) / 8)


@examples(60)
@given(
    st.integers(-40, 40),
    st.integers(-40, 40),
    st.integers(0, 40),
    st.booleans(),
    st.sampled_from([*FLOATS, *COMPLEX]),
)
def test_linspace(start, stop, num, endpoint, dtype):
    y = flex.linspace(start, stop, num, endpoint=endpoint, dtype=dtype)
    assert (y.dtype, y.shape) == (dtype, (num,))
    check(y, np.linspace(start, stop, num, endpoint=endpoint), ulps=1, absolute=1e-14)
    if num and endpoint and num > 1:
        assert y[-1].item() == stop


@examples(60)
@given(st.integers(0, 6), st.none() | st.integers(0, 6), st.integers(-8, 8), st.sampled_from(KEPT))
def test_eye(rows, columns, k, dtype):
    check(flex.eye(rows, columns, k=k, dtype=dtype), np.eye(rows, columns, k, numpy_dtype(dtype)))


@examples(60)
@given(st.data(), st.integers(-8, 8))
def test_triangles(data, k):
    x, a = data.draw(operands(KEPT, data.draw(shapes(min_dims=2)), special=False))
    check(flex.tril(x, k=k), np.tril(a, k))
    check(flex.triu(x, k=k), np.triu(a, k))
    with pytest.raises(flex.ShapeError, match="tril"):
        flex.tril(flex.zeros(3))


@pytest.mark.parametrize("indexing", ["xy", "ij"])
@pytest.mark.parametrize("sizes", [(), (3,), (3, 2), (2, 3, 4), (0, 2)])
def test_meshgrid(indexing, sizes):
    lines = [np.arange(n) for n in sizes]
    result = flex.meshgrid(*map(flex.asarray, lines), indexing=indexing)
    assert isinstance(result, tuple)
    for y, expected in zip(result, np.meshgrid(*lines, indexing=indexing), strict=True):
        check(y, expected)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: flex.zeros(-1), flex.ShapeError, "negative"),
        (
            lambda: flex.zeros((2, -3)),
            flex.ShapeError,
            r"zeros: shape is \[2, -3\], with a negative",
        ),
        (lambda: flex.zeros("3"), TypeError, ""),
        (lambda: flex.zeros(2.0), TypeError, ""),
        (lambda: flex.zeros(None), TypeError, ""),
        (lambda: flex.zeros(2, 3), TypeError, "the shape is one argument"),
        (lambda: flex.zeros(2, dtype="float8"), TypeError, "float8"),
        (lambda: flex.zeros(2, dtype=object()), TypeError, "dtype"),
        (lambda: flex.zeros(2, device="gpu"), ValueError, "cpu"),
        (lambda: flex.zeros(2**70), OverflowError, "64-bit"),
        (lambda: flex.zeros((2**40,)), MemoryError, "cannot allocate"),
        (lambda: flex.zeros((2**40, 2**40)), MemoryError, "cannot allocate"),
        (lambda: flex.ones((2**62, 2**62)), MemoryError, "cannot allocate"),
        (lambda: flex.empty((2**63 - 1,)), MemoryError, "cannot allocate"),
        (lambda: flex.full(2, 300, dtype="int8"), ValueError, "full: 300 is out of range for int8"),
        (lambda: flex.full(2, 1.5j, dtype="float32"), flex.DTypeError, "full"),
        (lambda: flex.full(2, "1"), TypeError, "number"),
        (lambda: flex.full_like(flex.ones(2), 1j), flex.DTypeError, "full"),
        (lambda: flex.arange(0, 1, 0), ValueError, "arange: step is 0"),
        (lambda: flex.arange(0, math.inf), ValueError, "arange"),
        (lambda: flex.arange(math.nan), ValueError, "arange"),
        (lambda: flex.arange(0.5, dtype="int8"), flex.DTypeError, "arange"),
        (lambda: flex.arange(300, dtype="int8"), ValueError, "arange"),
        (lambda: flex.arange(2**62), MemoryError, ""),
        (lambda: flex.arange(1e300), (MemoryError, ValueError), ""),
        (lambda: flex.arange("a"), TypeError, "number"),
        (lambda: flex.linspace(0, 1, -1), ValueError, "linspace: num is -1"),
        (lambda: flex.linspace(0, 1, 3, dtype="int64"), flex.DTypeError, "linspace"),
        (lambda: flex.linspace(0, 1, 2**62), MemoryError, ""),
        (lambda: flex.eye(-1), ValueError, "eye: n_rows is -1"),
        (lambda: flex.eye(2**40), MemoryError, ""),
        (lambda: flex.meshgrid(flex.zeros((2, 2))), flex.ShapeError, "meshgrid"),
        (lambda: flex.meshgrid(flex.zeros(2), indexing="yx"), ValueError, "meshgrid: indexing"),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match=message or None):
        call()


@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS])
def test_numpy_scalars_are_numbers(dtype):
    number = numpy_dtype(dtype).type(2)
    assert flex.full(2, number).tolist() == [2, 2]
    assert to_numpy(flex.arange(number)).tolist() == [0, 1]


@pytest.mark.parametrize("k", [1 << 70, -(1 << 70), 1 << 63, -(1 << 63), (1 << 63) - 1])
def test_diagonals_outside_the_matrix(k):
    x = flex.ones((2, 3))
    assert flex.eye(2, 3, k=k).tolist() == np.zeros((2, 3)).tolist()
    assert flex.tril(x, k=k).tolist() == (x if k > 0 else 0 * x).tolist()
    assert flex.triu(x, k=k).tolist() == (0 * x if k > 0 else x).tolist()
    with pytest.raises(TypeError, match="eye"):
        flex.eye(2, k=1.5)
