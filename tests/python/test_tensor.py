"""The Tensor class: construction, attributes, conversions, text, copies, threads."""

import copy
import math
import operator
import pickle
import threading
import weakref

import numpy as np
import pytest
from support import arange

import flex

# ---- asarray


@pytest.mark.parametrize(
    ("given", "dtype", "shape"),
    [
        (1, "int64", ()),
        (True, "bool", ()),
        (2.5, "float32", ()),
        (1j, "complex64", ()),
        ([], "float32", (0,)),
        ([[], []], "float32", (2, 0)),
        ([1, 2], "int64", (2,)),
        ((1, [2][0]), "int64", (2,)),
        ([True, 2], "int64", (2,)),
        ([True, 2, 2.5], "float32", (3,)),
        ([True, 2, 2.5, 1j], "complex64", (4,)),
        ([False, True], "bool", (2,)),
        ([[1, 2, 3], (4, 5, 6)], "int64", (2, 3)),
        ([2**63], "uint64", (1,)),
        (2**64 - 1, "uint64", ()),
        ([-(2**63)], "int64", (1,)),
        ([np.float64(1), np.int8(2)], "float64", (2,)),
        ([[[[[[1]]]]]], "int64", (1,) * 6),
    ],
)
def test_asarray_of_numbers(given, dtype, shape):
    t = flex.asarray(given)
    assert (t.dtype, t.shape) == (dtype, shape)
    assert t.tolist() == np.asarray(given).tolist()


def test_asarray_of_tensors_in_lists():
    t = flex.asarray([flex.asarray(1.5, dtype="float64"), 2])
    assert (t.dtype, t.tolist()) == ("float64", [1.5, 2.0])
    t = flex.asarray([np.ones(2, np.int8), [3, 4]])
    assert (t.dtype, t.tolist()) == ("int8", [[1, 1], [3, 4]])
    t = flex.asarray([np.ones(0, np.int8), []])
    assert (t.dtype, t.shape) == ("int8", (2, 0))


def test_asarray_dtype(dtype):
    t = flex.asarray([[0, 1], [1, 0]], dtype=dtype)
    assert (t.dtype, t.tolist()) == (dtype, [[0, 1], [1, 0]])
    assert flex.asarray(True, dtype=dtype).item() == 1
    assert flex.asarray(t, dtype=dtype) is t
    assert t.itemsize == dtype.itemsize
    assert t.nbytes == 4 * dtype.itemsize


@pytest.mark.parametrize(
    ("given", "arguments", "error", "message"),
    [
        ([[1, 2], [3]], {}, ValueError, "ragged list: a list of 1 where others have 2 at depth 1"),
        ([[1], 2], {}, ValueError, "ragged list: a number where others have a list of 1"),
        ([1, [2]], {}, ValueError, "ragged list: a list where others have a number"),
        ([[], [1]], {}, ValueError, "ragged"),
        ([[[1]], [[2], [3]]], {}, ValueError, "a list of 2 where others have 1 at depth 1"),
        ("12", {}, TypeError, "got str"),
        (["1"], {}, TypeError, "got str"),
        ([None], {}, TypeError, "got NoneType"),
        (object(), {}, TypeError, "got object"),
        ({1, 2}, {}, TypeError, "set is not a sequence"),
        ([1, {}], {}, TypeError, "dict is not a sequence"),
        ([300], {"dtype": "uint8"}, OverflowError, "300 is out of range for uint8"),
        ([-1], {"dtype": "uint64"}, OverflowError, "-1 is out of range"),
        ([2**64], {}, OverflowError, "out of range"),
        ([-1, 2**63], {}, OverflowError, "out of range"),
        ([10**60], {}, OverflowError, "out of range for every dtype"),
        ([1], {"dtype": "float33"}, TypeError, "not a dtype of flex"),
        ([1], {"device": "cuda"}, ValueError, "device 'cuda' does not exist"),
        ([1], {"copy": False}, ValueError, "copy is False"),
        (1, {"copy": False}, ValueError, "copy is False"),
        (np.array(["a"]), {}, TypeError, "no dtype"),
        (np.array([None]), {}, TypeError, "no dtype"),
        (np.array(["2020-01-01"], "M8[D]"), {}, TypeError, "can't be read as numbers"),
        (np.zeros(2, [("a", "i4")]), {}, TypeError, "no dtype"),
        (np.longdouble([1]), {}, TypeError, "no dtype"),
    ],
)
def test_asarray_errors(given, arguments, error, message):
    with pytest.raises(error, match=message):
        flex.asarray(given, **arguments)


def test_asarray_of_recursive_lists():
    endless = []
    endless.append(endless)
    with pytest.raises(ValueError, match="nested deeper than 64"):
        flex.asarray(endless)
    endless.append(endless)
    with pytest.raises(ValueError, match=r"nested deeper|ragged"):
        flex.asarray(endless)


def test_asarray_of_a_list_that_changes_while_it_is_read():
    values = [1, 2, 3]

    class Shrinks:
        def __array__(self):
            values.clear()
            return np.asarray(5)

    values[1] = Shrinks()
    with pytest.raises((RuntimeError, ValueError)):
        flex.asarray(values)


def test_asarray_returns_tensors_unchanged():
    t = arange(3)
    assert flex.asarray(t) is t
    assert flex.asarray(t, copy=False, device="cpu") is t
    copied = flex.asarray(t, copy=True)
    assert copied is not t
    with pytest.raises(ValueError, match="copy is False"):
        flex.asarray(t, dtype="int8", copy=False)


# ---- attributes and conversions


def test_attributes():
    t = arange(2, 3, 4, dtype="float32")
    assert t.shape == (2, 3, 4)
    assert (t.ndim, t.size, t.itemsize, t.nbytes, t.device) == (3, 24, 4, 96, "cpu")
    assert t.dtype is flex.float32
    assert t.strides == np.asarray(t).strides == (48, 16, 4)
    assert t.mT.shape == (2, 4, 3)
    assert t[0].T.tolist() == np.asarray(t)[0].T.tolist()
    assert t[0].T.strides == (4, 16)
    assert t.is_contiguous()
    assert not t.mT.is_contiguous()
    assert t.contiguous() is t
    assert t.mT.contiguous().is_contiguous()
    assert t.mT.contiguous().tolist() == t.mT.tolist()
    with pytest.raises(flex.ShapeError, match="use mT for the last two, or permute_dims"):
        _ = t.T
    with pytest.raises(flex.ShapeError, match="at least 2"):
        _ = arange(3).mT
    with pytest.raises(AttributeError):
        t.shape = (24,)


def test_to_device():
    t = arange(3)
    assert t.to_device("cpu") is t
    assert t.to_device("cpu", copy=True) is not t
    with pytest.raises(ValueError, match="does not exist"):
        t.to_device("cuda:0")
    with pytest.raises(ValueError, match="stream"):
        t.to_device("cpu", stream=1)


def test_item_and_tolist(dtype):
    t = flex.asarray([[0, 1]], dtype=dtype)
    kind = {"b": bool, "i": int, "u": int, "f": float, "c": complex}[dtype.kind]
    assert t.tolist() == [[0, 1]]
    assert all(type(x) is kind for x in t.tolist()[0])
    assert t[0, 1].item() == 1
    assert type(t[0, 1].item()) is kind
    assert flex.asarray(1, dtype=dtype).tolist() == 1
    with pytest.raises(ValueError, match="2 elements"):
        t.item()


def test_number_conversions():
    one = flex.asarray([[2.75]])
    assert (int(one), float(one), complex(one), bool(one)) == (2, 2.75, 2.75 + 0j, True)
    assert f"{one:.1f}" == "2.8"
    assert f"{one}" == str(one)
    assert [10, 20, 30][flex.asarray(1)] == 20
    assert math.sqrt(flex.asarray(4)) == 2.0
    assert not flex.asarray(0)
    assert bool(flex.asarray(math.nan))


def test_conversions_that_fail():
    many, none = arange(2), arange(0)
    for t in (many, none):
        with pytest.raises(ValueError, match="ambiguous"):
            bool(t)
        for convert in (int, float, complex):
            with pytest.raises(TypeError, match="one element"):
                convert(t)
    for t in (flex.asarray(1.0), flex.asarray([1]), flex.asarray(True)):
        with pytest.raises(TypeError, match="can be an index"):
            operator.index(t)
    with pytest.raises(TypeError, match="0-dimensional"):
        len(flex.asarray(1))
    with pytest.raises(TypeError, match="0-dimensional"):
        iter(flex.asarray(1))
    with pytest.raises(TypeError, match="format"):
        f"{many:.2f}"
    with pytest.raises(TypeError):
        int(flex.asarray(1j))
    with pytest.raises(TypeError, match="unhashable"):
        hash(many)
    with pytest.raises(ValueError, match="NaN"):
        int(flex.asarray(math.nan))


def test_sequence_protocol():
    t = arange(3, 2)
    assert len(t) == 3
    assert [row.tolist() for row in t] == [[0, 1], [2, 3], [4, 5]]
    assert operator.length_hint(iter(t)) == 3
    assert list(arange(0, 2)) == []
    assert 3 in t
    assert 9 not in t
    assert flex.asarray([2, 3]) in t
    assert next(reversed(arange(3))).item() == 2
    a, b = arange(2)
    assert (a.item(), b.item()) == (0, 1)
    with pytest.raises(TypeError):
        "a" in t  # noqa: B015


def test_astype(dtype):
    t = arange(2, 2)
    made = t.astype(dtype)
    assert made.dtype == dtype
    assert made is not t
    assert t.astype(dtype, copy=False).dtype == dtype
    assert t.astype("int64", copy=False) is t
    assert t.astype("int64") is not t
    assert flex.astype(t, dtype).dtype == dtype
    assert t.astype(flex.bool).tolist() == [[False, True], [True, True]]


def test_reshape():
    t = arange(2, 6)
    for made in (
        t.reshape(3, 4),
        t.reshape((3, 4)),
        t.reshape([3, -1]),
        t.reshape(np.array([3, 4])),
        flex.reshape(t, (3, 4)),
    ):
        assert made.shape == (3, 4)
        assert made.tolist() == np.arange(12).reshape(3, 4).tolist()
    assert t.reshape(-1).shape == t.reshape(np.int64(12)).shape == (12,)
    assert arange(1).reshape(()).shape == ()
    assert t.T.reshape(12).tolist() == np.arange(12).reshape(2, 6).T.reshape(12).tolist()
    with pytest.raises(ValueError, match="copy is False"):
        t.T.reshape(12, copy=False)
    for shape, error in [
        (5, flex.ShapeError),
        ((-1, -1), flex.ShapeError),
        ((-2, 6), flex.ShapeError),
        ((2**70,), OverflowError),
        (1.5, TypeError),
        ("12", TypeError),
    ]:
        with pytest.raises(error):
            t.reshape(shape)


# ---- text


def test_repr():
    assert (
        repr(flex.asarray([[1, 2], [3, 4.5]]))
        == "Tensor([[1. , 2. ],\n        [3. , 4.5]], shape=(2, 2), dtype=float32)"
    )
    assert repr(flex.asarray([True])) == "Tensor([ True], shape=(1,), dtype=bool)".replace(
        "[ True", "[True"
    )
    assert repr(flex.asarray(3)) == "Tensor(3, shape=(), dtype=int64)"
    assert repr(arange(0, 3)) == "Tensor([], shape=(0, 3), dtype=int64)"
    assert str(flex.asarray([1, -10])) == "[  1, -10]"
    assert str(flex.asarray([1 + 2j])) == "[1.+2.j]"
    assert str(arange(2000)) == "[   0,    1,    2, ..., 1997, 1998, 1999]"
    assert len(repr(arange(100, 100, 10))) < 3000


# ---- copies, pickling, identity


def test_copies():
    t = arange(3)
    for twin in (t.copy(), copy.copy(t), copy.deepcopy(t)):
        assert twin is not t
        assert twin.tolist() == t.tolist()
        twin += 1
        assert t.tolist() == [0, 1, 2]
    assert copy.deepcopy([t, t])[0].tolist() == [0, 1, 2]


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickle(dtype, protocol):
    for t in (
        arange(2, 3).astype(dtype),
        arange(2, 3).astype(dtype).T[1:],
        arange(0, 3).astype(dtype),
        flex.asarray(1, dtype=dtype),
    ):
        made = pickle.loads(pickle.dumps(t, protocol))
        assert (made.dtype, made.shape, made.tolist()) == (t.dtype, t.shape, t.tolist())


def test_pickle_out_of_band():
    t = arange(1000, dtype="float32")[1:]
    buffers = []
    data = pickle.dumps(t, 5, buffer_callback=buffers.append)
    assert len(data) < 300
    assert len(buffers) == 1
    made = pickle.loads(data, buffers=buffers)
    assert made.tolist() == t.tolist()
    assert np.asarray(made).ctypes.data == np.asarray(t).ctypes.data
    made += 1
    assert t[0].item() == 1.0
    misaligned = bytearray(b"x" + bytes(buffers[0]))
    assert pickle.loads(data, buffers=[memoryview(misaligned)[1:]]).tolist() == t.tolist()
    with pytest.raises(ValueError, match="not a tensor of shape"):
        pickle.loads(data, buffers=[b"123"])


def test_weak_references():
    t = arange(3)
    reference = weakref.ref(t)
    assert reference() is t
    del t
    assert reference() is None


def test_no_constructor():
    for arguments in ([1],), (2, 3), ():
        with pytest.raises(TypeError, match=r"write flex\.asarray\(obj\)"):
            flex.Tensor(*arguments)


def test_axis_error_is_an_index_error_and_a_value_error():
    assert issubclass(flex.AxisError, IndexError)
    assert issubclass(flex.AxisError, flex.ShapeError)
    assert issubclass(flex.ShapeError, ValueError)
    assert issubclass(flex.DTypeError, TypeError)


def test_threads_share_a_tensor():
    t = flex.asarray([0] * 1000)
    failures = []

    def add():
        for _ in range(200):
            nonlocal_t = t
            nonlocal_t += 1

    def read():
        for _ in range(400):
            values = set(t.tolist())
            if len(values) != 1:
                failures.append(values)
            _ = t + t, t[::2], np.asarray(t).sum()

    threads = [threading.Thread(target=f) for f in (add, add, add, read, read)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert t.tolist() == [600] * 1000


def test_threads_share_a_large_tensor():
    t = flex.asarray(bytearray(1 << 17)).astype("int64")  # large enough to run without the GIL

    def add():
        for _ in range(10):
            alias = t
            alias += 1

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(t.tolist()) == {40}


def test_nothing_leaks(in_use):
    t = arange(10, dtype="float32")

    def work():
        u = copy.copy(t)
        u += 1
        u[0] = 5
        _ = (
            u + t,
            u[1:],
            u[[1, 2]],
            u.tolist(),
            repr(u),
            pickle.loads(pickle.dumps(u)),
            flex.asarray([1, 2]),
            list(u),
        )
        for wrong in (
            lambda: u + "a",
            lambda: u[99],
            lambda: flex.asarray([[1], 2]),
            lambda: u + arange(3),
        ):
            with pytest.raises((TypeError, IndexError, ValueError)):
                wrong()

    work()
    before = in_use()
    for _ in range(300):
        work()
    assert in_use() == before
