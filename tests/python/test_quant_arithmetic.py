"""Arithmetic of quantised tensors: NumPy's of the dequantised numbers, quantised again by the formula."""

import operator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from quantised import F32, cases, naive
from support import examples

import flex
from flex import quant

ARITHMETIC = [operator.add, operator.sub, operator.mul]
COMPARISONS = [operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge]


def same(q, numbers, like, how):
    """Whether `q` has the numbers of `numbers` quantised by the formula, and the parameters of `like`."""
    _, expected = naive(np.asarray(numbers, F32), *how)
    assert (q.dtype, q.shape, q.scales.dtype) == (like.dtype, expected.shape, like.scales.dtype)
    assert (q.zero_points is None) == (like.zero_points is None)
    return np.array_equal(np.asarray(q.dequantize()), expected)


@given(cases(), st.integers(0, 2**32 - 1))
@examples(100)
def test_operators(case, seed):
    x, *how = case
    dtype, axis, block, symmetric, scales = how
    q = quant.quantize(
        flex.asarray(x), dtype, axis=axis, block=block, symmetric=symmetric, scale_dtype=scales
    )
    rng = np.random.default_rng(seed)
    y = np.asarray(q.dequantize())
    array = (rng.standard_normal(x.shape) * np.abs(y).max()).astype(F32)
    other = quant.quantize(flex.asarray(array), axis=0)
    operands = [
        (flex.asarray(array), array),
        (array, array),
        (other, np.asarray(other.dequantize())),
        (3, F32(3)),
        (0.5, F32(0.5)),
        (F32(0.25), F32(0.25)),
    ]
    with np.errstate(all="ignore"):
        for operand, numbers in operands:
            for f in ARITHMETIC:
                assert same(f(q, operand), f(y, numbers), q, how)
                if operand is not other:
                    assert same(f(operand, q), f(numbers, y), q, how)
            for f in COMPARISONS:
                for found, expected in (
                    (f(q, operand), f(y, numbers)),
                    (f(operand, q), f(numbers, y)),
                ):
                    assert found.dtype == flex.bool
                    assert found.tolist() == expected.tolist()
        assert same(q / 4, y / F32(4), q, how)
        assert same(-q, -y, q, how)
        assert same(abs(q), np.abs(y), q, how)
        assert same(q.map(lambda t: flex.clip(t, 0, 1)), np.clip(y, 0, 1), q, how)
    assert (+q).equal(q)


def test_division_and_powers():
    x = np.array([[1.0, -2.0, 3.5], [0.25, 4.0, -8.0]], F32)
    q = quant.quantize(flex.asarray(x), "uint8")
    y, how = np.asarray(q.dequantize()), ("uint8", None, None, False)
    assert same(q // 2, y // 2, q, how)
    assert same(q % 2, y % 2, q, how)
    assert same(q**2, y**2, q, how)
    assert same(8 / (q + 10), 8 / np.asarray((q + 10).dequantize()), q, how)
    assert same(2 // (q + 10), 2 // np.asarray((q + 10).dequantize()), q, how)
    assert same(2 % (q + 10), 2 % np.asarray((q + 10).dequantize()), q, how)
    assert same(2 ** (q * 0.5), 2 ** np.asarray((q * 0.5).dequantize()), q, how)
    numbers = [1.0, 2.0, 3.0]
    assert same(q + numbers, y + np.array([1, 2, 3], F32), q, how)
    before = q
    q += 1
    assert same(q, y + 1, before, how)


def test_shapes_of_results():
    rng = np.random.default_rng(1)
    x = rng.standard_normal((4, 1)).astype(F32)
    q = quant.quantize(flex.asarray(x), axis=0)
    y, row = np.asarray(q.dequantize()), rng.standard_normal((2, 1, 6)).astype(F32)
    assert same(q + row, y + row, q, ("int8", 1))
    assert (q + row).scales.shape == (1, 4, 1)
    blocks = quant.quantize(flex.asarray(rng.standard_normal((3, 8)).astype(F32)), "int4", block=4)
    y = np.asarray(blocks.dequantize())
    doubled = blocks.map(lambda t: flex.concat([t, t], axis=1))
    assert same(doubled, np.concatenate([y, y], 1), blocks, ("int4", 1, 4))
    assert same(blocks.map(lambda t: t[:2]), y[:2], blocks, ("int4", 1, 4))
    for f in (lambda t: t[:, :6], lambda t: t[0]):
        with pytest.raises(flex.ShapeError, match="blocks of"):
            blocks.map(f)
    # values stay packed along their axis
    turned = blocks.T + 1
    assert same(turned, y.T + 1, blocks, ("int4", 0, 4))
    assert turned.values.shape == (4, 3)
    one = quant.quantize(flex.asarray(x))
    y = np.asarray(one.dequantize())
    assert same(one.map(flex.sum), y.sum(), one, ("int8",))
    for dtype in ("int8", "uint8", "int4", "int2"):
        none = quant.quantize(flex.zeros((0, 3)), dtype, axis=0)
        assert (none + 1).shape == (0, 3)
        assert (none == none).shape == (0, 3)


def test_what_is_refused():
    q = quant.quantize(flex.ones((2, 3)))
    with pytest.raises(flex.DTypeError, match="map: a result of complex64"):
        q + 1j
    with pytest.raises(flex.DTypeError, match="map: a result of bool"):
        q.map(lambda t: t > 0)
    with pytest.raises(TypeError, match="map: f returned NoneType"):
        q.map(lambda t: None)
    with pytest.raises(ZeroDivisionError):
        q.map(lambda t: 1 // 0)
    with pytest.raises(flex.ShapeError):
        q + flex.ones(4)
    with pytest.raises(TypeError, match="unsupported operand"):
        q + "a"
    for product in (lambda: q @ q, lambda: flex.ones((3, 2)) @ q, lambda: np.ones((3, 2)) @ q):
        with pytest.raises(TypeError, match=r"quant\.linear"):
            product()
    assert (q == None) is False  # noqa: E711
    assert (q != "a") is True
    with pytest.raises(TypeError, match="unhashable"):
        hash(q)
