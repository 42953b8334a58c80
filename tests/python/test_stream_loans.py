"""Memory that others may write to is read when an operation on it is called, also in a stream: a borrower's write afterwards changes no
result, whenever the memory was lent and through whichever door."""

import ctypes
import pickle
import threading

import numpy as np
import pytest

import flex


class DLTensor(ctypes.Structure):
    """The fields before the tensor in a versioned capsule, and its pointer."""

    _fields_ = [
        *(("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p)),
        *(("deleter", ctypes.c_void_p), ("flags", ctypes.c_uint64), ("data", ctypes.c_void_p)),
    ]


class ArrowArray(ctypes.Structure):
    """The fields of an Arrow array up to its buffers."""

    _fields_ = [
        *(
            (name, ctypes.c_int64)
            for name in ("length", "nulls", "offset", "buffers_n", "children")
        ),
        ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ]


def pointer(capsule, name):
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return get(capsule, name)


def by_dlpack(t):
    capsule = t.__dlpack__(max_version=(1, 0))
    return capsule, DLTensor.from_address(pointer(capsule, b"dltensor_versioned")).data


def by_arrow(t):
    capsules = t.__arrow_c_array__()
    array = ArrowArray.from_address(pointer(capsules[1], b"arrow_array"))
    return capsules, array.buffers[1]


def by_interface(t):
    data = t.__array_interface__["data"]
    view = memoryview(data)
    return view, np.frombuffer(view, np.uint8).ctypes.data


def by_pickle(t):
    kept = []
    pickle.dumps(t, protocol=5, buffer_callback=kept.append)
    view = kept[0].raw()
    return (view, kept), np.frombuffer(view, np.uint8).ctypes.data


def by_array(of):
    def lend(t):
        array = of(t)
        return array, array.ctypes.data

    return lend


DOORS = {
    "dlpack": by_dlpack,
    "arrow": by_arrow,
    "array interface": by_interface,
    "pickle": by_pickle,
    "buffer": by_array(lambda t: np.frombuffer(memoryview(t), np.float32)),
    "numpy": by_array(lambda t: t.numpy()),
    "asarray": by_array(np.asarray),
    "array": by_array(lambda t: t.__array__()),
    "numpy from dlpack": by_array(np.from_dlpack),
}
OPERATIONS = {
    "number": lambda x: x * 2,
    "tensors": lambda x: x + x,
    "conversion": lambda x: x.astype("float64"),
    "reduction": flex.sum,
    "product": lambda x: x @ x,
    "layer": lambda x: flex.nn.linear(x[None], x[None]),
    "view of a result": lambda x: (x + 1)[::-1],
    "in place": lambda x: operator_in_place(x),
}


def operator_in_place(x):
    y = flex.zeros(x.shape)
    y += x
    return y


def write(at):
    """What torch does with memory that it was told is read-only."""
    ctypes.memset(at, 0, 4)


@pytest.mark.parametrize("door", DOORS.values(), ids=DOORS)
@pytest.mark.parametrize("f", OPERATIONS.values(), ids=OPERATIONS)
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_borrowers_write_after_an_operation(door, f, when):
    x = flex.asarray([3.0, 4.0])
    expected, late = f(x).tolist(), f(flex.asarray([0.0, 4.0])).tolist()
    assert expected != late
    with flex.stream():
        if when == "before":
            loan, at = door(x)
        y = f(x)
        if when == "after":
            loan, at = door(x)
        write(at)
        z = f(x)
    assert (y.tolist(), z.tolist()) == (expected, late)
    del loan


@pytest.mark.parametrize("door", DOORS.values(), ids=DOORS)
def test_a_view_of_lent_memory(door):
    x = flex.asarray([1.0, 3.0, 4.0, 5.0])
    row = x[1:3]
    with flex.stream():
        y = row * 2
        loan, at = door(x)
        ctypes.memset(at, 0, 16)
        z = row * 2
    assert (y.tolist(), z.tolist()) == ([6.0, 8.0], [0.0, 0.0])
    del loan


def test_memory_that_comes_back():
    """A tensor borrowed from a borrower has the same memory."""
    x = flex.asarray([3.0, 4.0])
    back = flex.from_dlpack(np.from_dlpack(x))
    loan, at = by_dlpack(x)
    with flex.stream():
        y = back * 2
        write(at)
    assert y.tolist() == [6.0, 8.0]
    del loan


def test_a_loan_in_another_stream_or_thread():
    x = flex.asarray([3.0, 4.0])
    with flex.stream():
        y = x * 2
        with flex.stream():
            z = x * 3
            loan, at = by_dlpack(x)
            write(at)
    assert (y.tolist(), z.tolist()) == ([6.0, 8.0], [9.0, 12.0])
    del loan

    x = flex.asarray([3.0, 4.0])

    def lend():
        loan, at = by_dlpack(x)
        write(at)
        del loan

    with flex.stream():
        y = x * 2
        thread = threading.Thread(target=lend)
        thread.start()
        thread.join()
    assert y.tolist() == [6.0, 8.0]


def test_a_stream_left_by_an_error():
    """Its values still wait."""
    x = flex.asarray([3.0, 4.0])
    waiting = []

    def fails():
        with flex.stream():
            waiting.append(x * 2)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()
    loan, at = by_dlpack(x)
    write(at)
    assert waiting[0].tolist() == [6.0, 8.0]
    del loan


def test_operations_are_queued_again_after_a_loan():
    x = flex.ones((64, 64))
    stream = flex.Stream()

    def work():
        before = stream.stats()["operations"]
        with stream:
            y = x * 2 + 1
        assert y[0, 0] == 3
        return stream.stats()["operations"] - before

    assert work() == 2
    loan = np.asarray(x)
    assert work() == 1  # the sum, whose operand is the stream's own
    del loan
    assert work() == 2


def test_a_loan_runs_only_what_reads_the_memory():
    x, other = flex.ones(64), flex.ones(64)
    stream = flex.Stream()
    with stream:
        y = x * 2
        loan = np.asarray(other)
        assert stream.stats()["kernels"] == 0
        del loan
        loan = np.asarray(x)
        assert stream.stats()["kernels"] == 1
    assert y[0] == 2
    del loan
