"""Operators of tensors: results like NumPy's, reflected, in place."""

import copy
import operator

import numpy as np
import pytest
from support import arange

import flex

BINARY = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow"]
BITS = ["and_", "or_", "xor", "lshift", "rshift"]
COMPARE = ["lt", "le", "eq", "ne", "gt", "ge"]


def check(ours, theirs):
    assert isinstance(ours, flex.Tensor)
    assert ours.shape == theirs.shape
    assert ours.dtype == theirs.dtype
    np.testing.assert_allclose(ours.numpy(), theirs, rtol=1e-6)


@pytest.mark.parametrize("name", BINARY + COMPARE)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "uint8"])
def test_operators_match_numpy(name, dtype):
    op = getattr(operator, name)
    a, b = np.array([[7, 2, 9]], dtype), np.array([[2], [3]], dtype)
    expected = op(a, b)
    if name == "truediv" and expected.dtype == np.float64 and dtype != "float64":
        expected = expected.astype("float32")  # the default float of flex
    ours, theirs = flex.asarray(a), flex.asarray(b)
    check(op(ours, theirs), expected)
    check(op(ours, b), expected)
    check(op(a, theirs), expected)
    for number in (2, np.int64(2), np.float32(2) if "f" in dtype else 2):
        single = op(a, a.dtype.type(2))
        reflected = op(a.dtype.type(2), a)
        if name == "truediv" and dtype != "float64":
            single, reflected = single.astype("float32"), reflected.astype("float32")
        check(op(ours, number), single)
        check(op(number, ours), reflected)


@pytest.mark.parametrize("name", BITS)
@pytest.mark.parametrize("dtype", ["int32", "uint8", "int64"])
def test_bit_operators_match_numpy(name, dtype):
    op = getattr(operator, name)
    a, b = np.array([[7, 2, 9]], dtype), np.array([[2], [3]], dtype)
    check(op(flex.asarray(a), flex.asarray(b)), op(a, b))
    check(op(flex.asarray(a), 1), op(a, a.dtype.type(1)))
    check(op(1, flex.asarray(a)), op(a.dtype.type(1), a))


def test_unary_operators():
    t = flex.asarray([-1.5, 2.0])
    assert (-t).tolist() == [1.5, -2.0]
    assert (+t).tolist() == [-1.5, 2.0]
    assert abs(t).tolist() == [1.5, 2.0]
    assert (~flex.asarray([1, 0])).tolist() == [-2, -1]
    assert (~flex.asarray([True, False])).tolist() == [False, True]
    assert [x.tolist() for x in divmod(flex.asarray([7, -7]), 2)] == [[3, -4], [1, 1]]


def test_matmul():
    a, b = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)
    check(flex.asarray(a) @ flex.asarray(b), a @ b)
    check(flex.asarray(a) @ b, a @ b)
    t = flex.asarray(a, copy=True)
    t @= np.eye(3)
    check(t, a)
    with pytest.raises(flex.ShapeError, match="target"):
        t @= b
    check(t, a)
    with pytest.raises(flex.ShapeError):
        t @ t
    with pytest.raises(TypeError):
        t @ "a"


def test_unknown_operands():
    class Asked:
        def __radd__(self, other):
            return "asked"

        def __eq__(self, other):
            return "equal"

        __hash__ = None

    t = arange(2)
    assert t + Asked() == "asked"
    assert (t == Asked()) == "equal"
    assert (t == None) is False  # noqa: E711
    assert (t != None) is True  # noqa: E711
    for other in ("a", {1, 2}, None, b"ab", {}):
        with pytest.raises(TypeError, match="unsupported operand"):
            t + other
        with pytest.raises(TypeError, match="unsupported operand"):
            other - t
        with pytest.raises(TypeError, match="unsupported operand"):
            t += other
    assert t.tolist() == [0, 1]
    with pytest.raises(TypeError, match="modulus"):
        pow(t, 2, 3)
    with pytest.raises(flex.DTypeError):
        t + np.array(["a", "b"])


def test_errors_of_operators():
    t = arange(2)
    with pytest.raises(flex.ShapeError, match=r"\[2\] and \[3\]"):
        t + arange(3)
    with pytest.raises(ValueError, match="zero"):
        t // 0
    with pytest.raises(ValueError, match="out of range for uint8"):
        arange(2, dtype="uint8") + 300
    with pytest.raises(flex.DTypeError):
        flex.asarray(1j) < 2  # noqa: B015
    with pytest.raises(flex.DTypeError, match="uint64"):
        arange(2) + arange(2, dtype="uint64")
    with pytest.raises(flex.DTypeError):
        ~flex.asarray(1.5)


# ---- in place


def test_in_place_operators_change_one_tensor():
    t = arange(2, 2)
    same, twin, row, lent = t, copy.copy(t), t[0], np.asarray(t)
    t += 1
    assert t is same
    assert t.tolist() == [[1, 2], [3, 4]]
    for other in (twin, lent):
        assert other.tolist() == [[0, 1], [2, 3]]
    assert row.tolist() == [0, 1]
    t += t
    assert t.tolist() == [[2, 4], [6, 8]]
    t *= t.T
    assert t.tolist() == [[4, 24], [24, 64]]
    t -= t[0]
    assert t.tolist() == [[0, 0], [20, 40]]


def test_in_place_keeps_unshared_memory():
    t = arange(1000)
    before = t.__dlpack__(max_version=(1, 0)) and np.asarray(t).ctypes.data
    t += 1
    assert np.asarray(t).ctypes.data == before


@pytest.mark.parametrize("name", [*BINARY, *BITS])
def test_in_place_matches_the_operator(name):
    op, in_place = getattr(operator, name), getattr(operator, "i" + name.removesuffix("_"))
    dtype = "float32" if name == "truediv" else "int64"
    t, u = flex.asarray([7, 5, 9], dtype=dtype), flex.asarray([2, 3, 1], dtype=dtype)
    expected = op(t, u).tolist()
    assert in_place(t, u).tolist() == expected
    assert t.tolist() == expected


def test_in_place_errors_leave_the_target():
    t = arange(3)
    for other, error in [
        (1.5, flex.DTypeError),
        (flex.asarray([[1], [2]]), flex.ShapeError),
        (arange(4), flex.ShapeError),
        (2**70, ValueError),
    ]:
        with pytest.raises(error):
            t += other
        assert t.tolist() == [0, 1, 2]
        assert t.dtype == "int64"
    with pytest.raises(flex.DTypeError):
        t /= 2
    with pytest.raises(ValueError, match="zero"):
        t //= 0
    assert t.tolist() == [0, 1, 2]


def test_in_place_does_not_write_to_borrowed_memory():
    a = np.zeros(3, np.float32)
    t = flex.asarray(a)
    t += 1
    t[0] = 9
    assert a.tolist() == [0, 0, 0]
    assert t.tolist() == [9, 1, 1]
