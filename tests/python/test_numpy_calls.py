"""NumPy's functions called on Tensors: ufuncs and their methods, reductions, `out`."""

import ml_dtypes
import numpy as np
import pytest
import scipy.special
from support import address

import flex

A = np.arange(1.0, 13.0).reshape(3, 4)


def is_tensor(x, expected, dtype=None):
    assert type(x) is flex.Tensor
    assert x.shape == np.shape(expected)
    assert x.dtype == (np.asarray(expected).dtype if dtype is None else dtype)
    np.testing.assert_allclose(np.asarray(x), expected, rtol=1e-14)


# ---- reductions, which NumPy calls as methods

REDUCTIONS = ["sum", "mean", "max", "min", "prod", "std", "var", "amax", "amin", "argmax", "argmin"]


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize(
    "arguments", [{}, {"axis": 0}, {"axis": 1, "keepdims": True}, {"axis": -1}]
)
def test_reductions(name, arguments):
    function = getattr(np, name)
    is_tensor(function(flex.asarray(A), **arguments), function(A, **arguments))


@pytest.mark.parametrize("name", ["any", "all"])
def test_any_and_all(name):
    function, a = getattr(np, name), A > 5
    is_tensor(function(flex.asarray(a)), function(a))
    is_tensor(function(flex.asarray(a), axis=0, keepdims=True), function(a, axis=0, keepdims=True))
    is_tensor(function(flex.asarray(A), axis=(0, 1)), function(A, axis=(0, 1)))


def test_reductions_in_another_dtype():
    a = A.astype(np.float32)
    t = flex.asarray(a)
    for name in ("sum", "prod", "mean", "std", "var"):
        function = getattr(np, name)
        for dtype in (np.float64, float, "f8", np.dtype("f8")):
            is_tensor(function(t, dtype=dtype), function(a, dtype=dtype))
            is_tensor(getattr(t, name)(dtype=dtype), function(a, dtype=dtype))
    is_tensor(np.sum(t, dtype=np.int64), np.sum(a, dtype=np.int64))
    is_tensor(flex.mean(flex.asarray([1, 2, 4]), dtype=float), np.mean([1, 2, 4]))
    for name in ("mean", "std", "var"):
        with pytest.raises(
            flex.DTypeError, match=f"{name}: dtype is int64, but must be float or complex"
        ):
            getattr(np, name)(t, dtype=np.int64)


def test_ddof_is_an_alias_of_correction():
    t = flex.asarray(A)
    is_tensor(np.std(t, ddof=1), np.std(A, ddof=1))
    is_tensor(np.var(t, axis=0, correction=1), np.var(A, axis=0, correction=1))
    is_tensor(t.var(ddof=2), np.var(A, ddof=2))
    with pytest.raises(ValueError, match="std: correction and ddof are synonyms"):
        t.std(correction=1, ddof=1)


@pytest.mark.parametrize("name", [*REDUCTIONS, "any", "all"])
def test_reductions_into_an_array(name):
    function = getattr(np, name)
    expected = function(A, axis=0)
    out = np.zeros_like(expected)
    assert function(flex.asarray(A), axis=0, out=out) is out
    np.testing.assert_allclose(out, expected, rtol=1e-14)


def test_invalid_out_arrays():
    t = flex.asarray(A)
    with pytest.raises(flex.ShapeError, match=r"out has shape \[3\], the result \[4\]"):
        np.sum(t, axis=0, out=np.zeros(3))
    with pytest.raises(TypeError, match="same_kind"):
        np.sum(t, axis=0, out=np.zeros(4, np.int64))
    with pytest.raises(TypeError, match="out is a Tensor, which is a value"):
        np.sum(t, axis=0, out=flex.zeros(4))
    with pytest.raises(TypeError, match="out must be a writable NumPy array, not list"):
        np.sum(t, axis=0, out=[0.0] * 4)
    with pytest.raises(ValueError, match="read-only"):
        np.sum(t, axis=0, out=flex.zeros(4, dtype=float).numpy())


def test_result_type(dtype):
    t = flex.zeros(2, dtype=dtype)
    assert np.result_type(t) == np.dtype(dtype)
    assert np.result_type(t, t.dtype) == np.dtype(dtype)
    assert np.result_type(flex.zeros(2), np.float64) == np.float64


# ---- ufuncs


def test_numpy_computes_dtypes_that_flex_refuses():
    a = np.array([True, False])
    t = flex.asarray(a)
    for ufunc in (np.square, np.floor, np.absolute):
        is_tensor(ufunc(t), ufunc(a))
    for ufunc in (np.add, np.multiply, np.power):
        is_tensor(ufunc(t, t), ufunc(a, a))
        is_tensor(ufunc(a, t), ufunc(a, a))
    with pytest.raises(flex.DTypeError, match="subtract: not defined for bool"):
        np.subtract(t, t)


def test_plain_calls_use_flex():
    t = flex.asarray([3.0, 4.0])  # float32: the results are flex's
    for x in (
        np.sin(t),
        np.add(t, 1),
        np.add(np.ones(2, np.float32), t),
        np.float32(2) * t,
        np.hypot(t, 3.0),
    ):
        assert type(x) is flex.Tensor
        assert x.dtype == flex.float32
    assert np.sin(t).tolist() == flex.sin(t).tolist()
    assert np.isfinite(flex.asarray([1.0], dtype="bfloat16")).tolist() == [True]


@pytest.mark.parametrize("name", ["cbrt", "deg2rad", "rad2deg", "spacing", "fabs", "degrees"])
def test_functions_flex_lacks(name):
    is_tensor(getattr(np, name)(flex.asarray(A)), getattr(np, name)(A))


def test_binary_functions_flex_lacks():
    t = flex.asarray(A)
    is_tensor(np.heaviside(t, 0.5), np.heaviside(A, 0.5))
    is_tensor(np.float_power(2, t), np.float_power(2, A))
    i = np.array([12, 18, 7])
    is_tensor(np.gcd(flex.asarray(i), 6), np.gcd(i, 6))
    is_tensor(np.lcm(i, flex.asarray(i[::-1])), np.lcm(i, i[::-1]))
    is_tensor(scipy.special.gamma(t), scipy.special.gamma(A))
    is_tensor(scipy.special.xlogy(A, t), scipy.special.xlogy(A, A))
    for ours, theirs in zip(np.modf(t / 4), np.modf(A / 4), strict=True):
        is_tensor(ours, theirs)
    mantissa, exponent = np.frexp(t)
    is_tensor(np.ldexp(mantissa, exponent), A)
    half = flex.asarray([1.0, 8.0], dtype=flex.bfloat16)
    assert np.cbrt(half).dtype == np.cbrt(np.asarray([1.0, 8.0], ml_dtypes.bfloat16)).dtype
    # flex has no dtype for it, so NumPy's result is returned
    assert np.frompyfunc(str, 1, 1)(t[0]).tolist() == ["1.0", "2.0", "3.0", "4.0"]


def test_memory_is_borrowed_and_unchanged():
    t = flex.asarray(A, copy=True)
    seen = []
    spy = np.frompyfunc(seen.append, 1, 1)
    spy(t)
    assert seen == A.ravel().tolist()
    result = np.cbrt(t)
    start = address(t)
    result += 1
    assert address(t) == start
    assert t.tolist() == A.tolist()
    with pytest.raises(ValueError, match="read-only"):
        np.nditer(np.asarray(t), op_flags=["readwrite"])


def test_arrays_in_place():
    a, t = A.copy(), flex.asarray(A)
    original = a
    a += t
    a *= t
    assert a is original
    assert a.tolist() == ((A + A) * A).tolist()
    a -= flex.asarray([1.0, 2.0, 3.0, 4.0])  # float32, broadcast
    assert a.tolist() == ((A + A) * A - [1, 2, 3, 4]).tolist()
    i = np.arange(3)
    with pytest.raises(TypeError, match="same_kind"):
        i += flex.asarray([0.5, 0.5, 0.5])
    assert i.tolist() == [0, 1, 2]


def test_out_is_filled_and_returned():
    t, out = flex.asarray(A), np.zeros_like(A)
    assert np.add(A, t, out=out) is out
    assert out.tolist() == (A + A).tolist()
    assert np.exp(t, out=out) is out
    np.testing.assert_allclose(out, np.exp(A))
    fraction, whole = np.modf(t, out=(out, None))
    assert fraction is out
    is_tensor(whole, A)
    for call in (
        lambda: np.add(t, t, out=flex.zeros((3, 4))),
        lambda: np.add(A, A, out=t),
        lambda: np.modf(A, out=(None, t)),
    ):
        with pytest.raises(
            TypeError, match="out is a Tensor, which is a value and can't be written to"
        ):
            call()
    assert t.tolist() == A.tolist()


def test_where_and_dtype():
    t, mask, out = flex.asarray(A), A > 6, np.zeros_like(A)
    np.add(A, t, out=out, where=mask)
    assert out.tolist() == np.where(mask, A + A, 0).tolist()
    np.multiply(t, 3, out=out, where=flex.asarray(~mask))
    assert out.tolist() == np.where(mask, A + A, A * 3).tolist()
    is_tensor(np.add(t, t, dtype=np.float32), np.add(A, A, dtype=np.float32))


def test_methods_of_ufuncs():
    t = flex.asarray(A)
    is_tensor(np.add.reduce(t), np.add.reduce(A))
    is_tensor(np.maximum.reduce(t, axis=None), np.maximum.reduce(A, axis=None))
    is_tensor(np.multiply.accumulate(t, axis=1), np.multiply.accumulate(A, axis=1))
    is_tensor(np.subtract.outer(t[0], A[1]), np.subtract.outer(A[0], A[1]))
    is_tensor(np.add.reduceat(t[0], [0, 2]), np.add.reduceat(A[0], [0, 2]))
    is_tensor(np.add.reduce(t, where=flex.asarray(A > 6)), np.add.reduce(A, where=A > 6))
    total = np.zeros(3)
    np.add.at(total, [0, 0, 2], flex.asarray([1.0, 2.0, 3.0]))
    assert total.tolist() == [3, 0, 3]
    with pytest.raises(TypeError, match=r"at\(\) writes to its first argument"):
        np.add.at(t, 0, 1)


def test_other_array_types_take_precedence():
    masked = np.ma.masked_array([1.0, 2.0], [True, False])
    assert isinstance(np.add(flex.asarray([1.0, 1.0]), masked), np.ma.MaskedArray)
    assert np.add(flex.asarray([1.0, 1.0]), [1, 2]).tolist() == [2, 3]

    class Own:
        def __array_ufunc__(self, ufunc, method, *inputs, **arguments):
            return ufunc.__name__, [type(x) for x in inputs]

    assert np.multiply(flex.asarray([1.0]), Own())[0] == "multiply"
    with pytest.raises(TypeError):
        np.add(flex.asarray([1.0]), object())


def test_errors_name_the_function():
    with pytest.raises(flex.ShapeError, match="add"):
        np.add(flex.zeros(2), np.zeros(3, np.float32))
    with pytest.raises(ValueError, match="broadcast"):
        np.heaviside(flex.zeros(2), np.zeros(3))
