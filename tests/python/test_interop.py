"""Memory shared with other libraries: buffers and NumPy."""

import array
import ctypes
import gc
import hashlib
import sys
import threading
import weakref

import ml_dtypes
import numpy as np
import pytest
from einops import array_api as einops  # plain einops: test_einops.py
from support import Producer, address, numpy_dtype, sample

import flex

# ---- import: buffers


def test_arrays_are_borrowed(dtype, layout):
    a = sample(dtype)
    view = layout(a)[...]
    t = flex.asarray(view)
    assert (t.dtype, t.shape) == (dtype, view.shape)
    assert t.tolist() == view.tolist()
    if view.size:
        assert address(t.astype(dtype)) != address(t)
        a.flat[...] = 1
        assert t.tolist() == view.tolist()  # writes to the array are visible in the tensor
        apart = flex.asarray(view, copy=True)
        a.flat[...] = 0
        assert set(np.asarray(apart.astype("complex128")).flat) == {1}


def test_borrowing_keeps_the_array_alive():
    a = np.arange(5.0)
    before = sys.getrefcount(a)
    t = flex.asarray(a)
    u = t[1:]
    assert sys.getrefcount(a) == before + 1
    del t
    assert u.tolist() == [1, 2, 3, 4]
    del u
    gc.collect()
    assert sys.getrefcount(a) == before


def test_the_array_may_be_deleted_first():
    t = flex.asarray(np.arange(1000))
    gc.collect()
    _ = [np.zeros(1000) for _ in range(10)]
    assert t.tolist() == list(range(1000))


@pytest.mark.parametrize(
    ("given", "dtype", "expected"),
    [
        (array.array("l", [1, -2]), f"int{8 * ctypes.sizeof(ctypes.c_long)}", [1, -2]),
        (array.array("L", [1, 2]), f"uint{8 * ctypes.sizeof(ctypes.c_long)}", [1, 2]),
        (array.array("f", [1.5]), "float32", [1.5]),
        (array.array("d", []), "float64", []),
        (b"\x01\xff", "uint8", [1, 255]),
        (bytearray(b"\x01"), "uint8", [1]),
        (memoryview(b"abcd")[::-2], "uint8", [100, 98]),
        (memoryview(b"abcd").cast("B", (2, 2)), "uint8", [[97, 98], [99, 100]]),
        ((ctypes.c_int16 * 3)(1, 2, -3), "int16", [1, 2, -3]),
        (np.array([1, 2], ">i4"), "int32", [1, 2]),
        (np.array([1.5, -2], ">f8")[::-1], "float64", [-2, 1.5]),
        (np.array([1 + 2j], ">c8"), "complex64", [1 + 2j]),
        (np.array([1, 2], "<u2"), "uint16", [1, 2]),
        (np.array([1, 2], "l"), "int64", [1, 2]),
        (np.array([True, False]), "bool", [True, False]),
    ],
)
def test_buffers_of_any_format(given, dtype, expected):
    t = flex.asarray(given)
    assert (t.dtype, t.tolist()) == (dtype, expected)


NEEDS_A_COPY = {
    "other byte order": np.array([1, 2], ">i4"),
    "misaligned": np.frombuffer(b"x" + np.arange(4, dtype="i4").tobytes(), "i4", 4, 1),
    # aligned as NumPy aligns complex64, but not to its width, by which kernels move elements
    "complex on half its width": np.arange(10, dtype="f4")[1:9].view("c8"),
    "odd strides": np.zeros(4, [("a", "i1"), ("b", "i4")])["b"],
}


@pytest.mark.parametrize("case", NEEDS_A_COPY)
def test_memory_that_must_be_copied(case):
    a = NEEDS_A_COPY[case]
    t = flex.asarray(a)
    assert t.tolist() == a.tolist()
    assert address(t) != a.ctypes.data
    assert (t + a).tolist() == (a + a).tolist()
    with pytest.raises((ValueError, BufferError), match="copy is False"):
        flex.asarray(a, copy=False)


def test_copy_false_borrows():
    a = np.arange(3.0)
    assert address(flex.asarray(a, copy=False)) == a.ctypes.data
    assert address(flex.asarray(a, copy=True)) != a.ctypes.data
    with pytest.raises(ValueError, match="float64 to float32 needs a copy"):
        flex.asarray(a, dtype="float32", copy=False)


def test_objects_with_array():
    class Has:
        def __init__(self, value):
            self.value = value

        def __array__(self, dtype=None, copy=None):
            return self.value

    assert flex.asarray(Has(np.arange(3))).tolist() == [0, 1, 2]
    assert (flex.asarray([1, 2, 3]) + Has(np.arange(3))).tolist() == [1, 3, 5]
    for name in ("bfloat16", "float8_e4m3fn", "float8_e5m2"):
        assert flex.asarray(Has(np.array([1.5], getattr(ml_dtypes, name)))).dtype == name
    with pytest.raises(TypeError, match="no buffer"):
        flex.asarray(Has(3))
    with pytest.raises(TypeError):
        flex.asarray(Has(np.array(["a"])))


def test_released_memoryviews_and_failing_producers():
    m = memoryview(b"abc")
    m.release()
    with pytest.raises(TypeError, match="released"):
        flex.asarray(m)

    class Fails:
        def __array__(self):
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        flex.asarray(Fails())


def test_a_borrowed_bytearray_is_locked():
    b = bytearray(b"abc")
    t = flex.asarray(b)
    with pytest.raises(BufferError):
        b.append(1)
    del t
    b.append(1)


# ---- export: buffers and NumPy


def test_numpy_shares_memory(dtype, layout):
    t = flex.asarray(layout(sample(dtype)), copy=True)
    n = t.numpy()
    assert (n.dtype, n.shape) == (numpy_dtype(dtype), t.shape)
    assert n.tolist() == t.tolist()
    assert not n.flags.writeable
    assert np.array(t).flags.writeable
    assert np.asarray(t).dtype == numpy_dtype(dtype)
    if t.size:
        assert np.shares_memory(n, np.asarray(t))


def test_lent_memory_outlives_the_tensor_and_does_not_change():
    t = flex.asarray([1, 2, 3])
    lent = [t.numpy(), memoryview(t), np.from_dlpack(t)]
    t += 1
    t[0] = 9
    del t
    gc.collect()
    _ = [flex.asarray([7, 7, 7]) for _ in range(100)]
    for x in lent:
        assert list(x) == [1, 2, 3]
    with pytest.raises(ValueError, match="read-only"):
        lent[0][0] = 1
    with pytest.raises(TypeError, match="read-only"):
        lent[1][0] = 1


def test_views_are_lent_with_their_strides():
    t = flex.asarray(np.arange(24.0).reshape(2, 3, 4))
    for view in (t.mT, t[:, ::-1], t[..., ::2], t[1, 2], t[:, None], t[0, 0, 0]):
        m = memoryview(view)
        assert (m.shape, m.format, m.itemsize, m.readonly) == (view.shape, "d", 8, True)
        assert m.tolist() == view.tolist()
        assert bytes(m) == np.asarray(view).tobytes()


def test_array_protocol():
    t = flex.asarray([1, 2])
    assert t.__array__().dtype == np.int64
    assert t.__array__(np.dtype("float32")).tolist() == [1.0, 2.0]
    assert t.__array__(copy=True).flags.writeable
    assert not t.__array__(copy=False).flags.writeable
    with pytest.raises(ValueError, match="copy is False"):
        t.__array__(np.dtype("float32"), copy=False)
    assert np.asarray(t, dtype=np.float32).tolist() == [1.0, 2.0]
    for name in ("bfloat16", "float8_e4m3fn", "float8_e5m2"):
        assert np.asarray(flex.asarray([1.5], dtype=name)).dtype == getattr(ml_dtypes, name)
    assert np.concatenate([t, t]).tolist() == [1, 2, 1, 2]


class PyBuffer(ctypes.Structure):
    _fields_ = (
        ("buf", ctypes.c_void_p),
        ("obj", ctypes.py_object),
        ("len", ctypes.c_ssize_t),
        ("itemsize", ctypes.c_ssize_t),
        ("readonly", ctypes.c_int),
        ("ndim", ctypes.c_int),
        ("format", ctypes.c_char_p),
        ("shape", ctypes.POINTER(ctypes.c_ssize_t)),
        ("strides", ctypes.POINTER(ctypes.c_ssize_t)),
        ("suboffsets", ctypes.POINTER(ctypes.c_ssize_t)),
        ("internal", ctypes.c_void_p),
    )


def take_buffer(x, flags):
    """Which fields the exporter fills in for these flags, with length and rank."""
    view = PyBuffer()
    ctypes.pythonapi.PyObject_GetBuffer(ctypes.py_object(x), ctypes.byref(view), flags)
    try:
        return bool(view.format), bool(view.shape), bool(view.strides), view.len, view.ndim
    finally:
        ctypes.pythonapi.PyBuffer_Release(ctypes.byref(view))


FLAGS = {
    "SIMPLE": 0,
    "WRITABLE": 0x1,
    "FORMAT": 0x4,
    "ND": 0x8,
    "STRIDES": 0x18,
    "C_CONTIGUOUS": 0x38,
    "F_CONTIGUOUS": 0x58,
    "ANY_CONTIGUOUS": 0x98,
    "FULL_RO": 0x11C,
    "FULL": 0x11D,
}


@pytest.mark.parametrize("name", FLAGS)
@pytest.mark.parametrize("layout", ["C", "F", "neither"])
def test_buffer_flags(name, layout):
    flags = FLAGS[name]
    t = flex.asarray(np.arange(6, dtype="i4").reshape(2, 3))
    t = {
        "C": t,
        "F": t.T,
        "neither": flex.asarray(np.arange(12, dtype="i4").reshape(3, 4))[:, ::2],
    }[layout]
    allowed = {
        "C_CONTIGUOUS": "C",
        "F_CONTIGUOUS": "F",
        "ANY_CONTIGUOUS": "CF",
        "SIMPLE": "C",
        "FORMAT": "C",
        "ND": "C",
    }
    if flags & 1 or layout not in allowed.get(name, ["C", "F", "neither"]):
        with pytest.raises(BufferError):
            take_buffer(t, flags)
        return
    # without PyBUF_ND the buffer is one-dimensional
    dimensions = 2 if flags & 0x8 else 1
    assert take_buffer(t, flags) == (
        bool(flags & 0x4),
        bool(flags & 0x8),
        flags & 0x18 == 0x18,
        24,
        dimensions,
    )


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_dtypes_numpy_lacks_have_no_buffer(name):
    with pytest.raises(BufferError, match="numpy"):
        memoryview(flex.asarray([1.5], dtype=name))


# ---- NumPy's operators


def test_numpy_on_the_left_gives_a_tensor():
    a, t = np.array([1.0, 2.0], np.float32), flex.asarray([3.0, 4.0])
    for result, expected in [
        (a + t, [4, 6]),
        (a - t, [-2, -2]),
        (np.float32(2) * t, [6, 8]),
        (np.float64(2) ** t, [8, 16]),
    ]:
        assert isinstance(result, flex.Tensor)
        assert (result.dtype, result.tolist()) == ("float32", expected)
    assert isinstance(a < t, flex.Tensor)
    assert np.exp(t).tolist() == flex.exp(t).tolist()
    assert np.arctan2(a, t).tolist() == flex.atan2(a, t).tolist()
    assert np.absolute(-t).tolist() == [3, 4]
    assert isinstance(a @ t, flex.Tensor)


def test_einops():
    t = flex.asarray(np.arange(24.0).reshape(2, 3, 4))
    assert einops.rearrange(t, "a b c -> (a b) c").tolist() == t.reshape(6, 4).tolist()
    assert einops.reduce(t, "a b c -> a c", "mean").tolist() == flex.mean(t, axis=1).tolist()
    assert einops.repeat(t, "a b c -> a b c d", d=2).shape == (2, 3, 4, 2)


# ---- leaks, threads


def test_nothing_leaks(in_use):
    a = np.arange(100.0)
    t = flex.asarray([1.0] * 100)

    def work():
        _ = (
            flex.asarray(a),
            flex.asarray(a, copy=True),
            flex.from_dlpack(a),
            np.from_dlpack(t),
            np.asarray(t),
            memoryview(t),
        )
        _ = (
            t.__dlpack__(),
            t.__dlpack__(max_version=(1, 0)),
            flex.asarray(a[::-1]) + t,
            flex.asarray(a.astype(">f8")),
        )
        with pytest.raises(BufferError):
            flex.from_dlpack(Producer(t.__dlpack__(), (2, 0)))
        with pytest.raises(BufferError):
            take_buffer(t, FLAGS["WRITABLE"])

    work()
    gc.collect()
    memory, array_count, tensor_count = in_use(), sys.getrefcount(a), sys.getrefcount(t)
    for _ in range(2000):
        work()
    assert (in_use(), sys.getrefcount(a), sys.getrefcount(t)) == (memory, array_count, tensor_count)


def test_owners_die_with_the_last_tensor_on_any_thread():
    class Array(np.ndarray):
        pass

    a = np.arange(1 << 18).view(Array)
    watch = weakref.ref(a)
    t = flex.asarray(a)
    del a
    held = [t]
    del t

    def use_and_drop():
        x = held.pop()
        x += 1  # runs without the GIL, so a later call releases the borrowed array
        del x

    thread = threading.Thread(target=use_and_drop)
    thread.start()
    thread.join()
    flex.get_num_threads()
    gc.collect()
    assert watch() is None


def test_owners_may_use_the_tensor_while_it_is_written():
    class Array(np.ndarray):
        def __del__(self):
            seen.append(t.tolist())

    seen = []
    t = flex.asarray(np.zeros(3).view(Array))
    t += 1
    gc.collect()
    assert seen == [[1, 1, 1]]


def test_threads_export_and_import():
    t = flex.asarray([1.0] * 1000)
    errors = []

    def work():
        try:
            for _ in range(200):
                assert np.asarray(t).sum() == 1000
                assert flex.from_dlpack(np.from_dlpack(t)).shape == (1000,)
        except AssertionError as e:
            errors.append(e)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors


def test_numpy_scalars_keep_their_dtype_in_asarray():
    assert flex.asarray(np.float64(1e300)).item() == 1e300
    assert flex.asarray(np.int8(2)).dtype == flex.int8
    assert flex.asarray([np.float64(0.1), 1]).dtype == flex.float64
    for time in (np.timedelta64(3), np.datetime64("2020")):
        with pytest.raises(flex.DTypeError, match="no dtype for"):
            flex.asarray(time)


def test_copy_false_of_memory_that_needs_a_copy_is_a_value_error():
    with pytest.raises(ValueError, match="needs a copy"):
        flex.asarray(np.arange(3, dtype=">i4"), copy=False)


def test_bytes_of_a_tensor_of_any_rank():
    assert (
        hashlib.md5(flex.zeros((2, 3))).digest()
        == hashlib.md5(np.zeros((2, 3), np.float32)).digest()
    )


def test_classes_are_not_arrays():
    assert (flex.zeros(2) == np.float32) is False
