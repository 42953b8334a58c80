"""Memory shared with other libraries: buffers, DLPack, NumPy."""

import array
import ctypes
import gc
import sys
import threading
import weakref

import ml_dtypes
import numpy as np
import pytest

import flex

try:
    import torch
except ImportError:  # a partner where it is installed; NumPy stands for every consumer and producer otherwise
    torch = None

RECORDS_RO = 0x1C  # PyBUF_RECORDS_RO


def address(t):
    return np.asarray(t).ctypes.data


def numpy_dtype(dtype):
    return np.dtype(ml_dtypes.bfloat16 if dtype == flex.bfloat16 else dtype.name)


def sample(dtype):
    """A NumPy array of the dtype, 3 by 4."""
    return (np.arange(12).reshape(3, 4) % 7).astype(numpy_dtype(dtype))


LAYOUTS = {
    "contiguous": lambda a: a,
    "transposed": lambda a: a.T,
    "flipped": lambda a: a[::-1, ::-1],
    "strided": lambda a: a[::2, 1::2],
    "column": lambda a: a[:, 1],
    "one": lambda a: a[1:2, 2].reshape(()),
    "broadcast": lambda a: np.broadcast_to(a[0], (5, 4)),
    "empty": lambda a: a[:0],
    "new axis": lambda a: a[:, None],
}


@pytest.fixture(params=LAYOUTS)
def layout(request):
    return LAYOUTS[request.param]


# ---- in: buffers


def test_arrays_are_borrowed(dtype, layout):
    a = sample(dtype)
    view = layout(a)[...]
    t = flex.asarray(view)
    assert (t.dtype, t.shape) == (dtype, view.shape)
    assert t.tolist() == view.tolist()
    if view.size:
        assert address(t.astype(dtype)) != address(t)
        a.flat[...] = 1
        assert t.tolist() == view.tolist()  # who writes to the array sees it in the tensor
        apart = flex.asarray(view, copy=True)
        a.flat[...] = 0
        assert set(np.asarray(apart.astype("complex128")).flat) == {1}


def test_borrowing_keeps_the_array_alive_and_lets_it_go():
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


def test_the_array_may_go_first():
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
def test_buffers_of_all_kinds(given, dtype, expected):
    t = flex.asarray(given)
    assert (t.dtype, t.tolist()) == (dtype, expected)


NEEDS_A_COPY = {
    "other byte order": np.array([1, 2], ">i4"),
    "misaligned": np.frombuffer(b"x" + np.arange(4, dtype="i4").tobytes(), "i4", 4, 1),
    "odd strides": np.zeros(4, [("a", "i1"), ("b", "i4")])["b"],
}


@pytest.mark.parametrize("case", NEEDS_A_COPY)
def test_what_can_only_be_copied(case):
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
    assert flex.asarray(Has(np.array([1.5], ml_dtypes.bfloat16))).dtype == "bfloat16"
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


def test_a_bytearray_is_locked_while_borrowed():
    b = bytearray(b"abc")
    t = flex.asarray(b)
    with pytest.raises(BufferError):
        b.append(1)
    del t
    b.append(1)


# ---- out: buffers and NumPy


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
    assert np.asarray(flex.asarray([1.5], dtype="bfloat16")).dtype == ml_dtypes.bfloat16
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
    """What an exporter answers to these flags."""
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
    t = {"C": t, "F": t.T, "neither": flex.asarray(np.arange(12, dtype="i4").reshape(3, 4))[:, ::2]}[layout]
    allowed = {"C_CONTIGUOUS": "C", "F_CONTIGUOUS": "F", "ANY_CONTIGUOUS": "CF", "SIMPLE": "C", "FORMAT": "C", "ND": "C"}
    if flags & 1 or layout not in allowed.get(name, ["C", "F", "neither"]):
        with pytest.raises(BufferError):
            take_buffer(t, flags)
        return
    assert take_buffer(t, flags) == (bool(flags & 0x4), bool(flags & 0x8), flags & 0x18 == 0x18, 24, 2)


def test_bfloat16_has_no_buffer():
    with pytest.raises(BufferError, match="numpy"):
        memoryview(flex.asarray([1.5], dtype="bfloat16"))


# ---- NumPy's operators


def test_numpy_on_the_left_gives_a_tensor():
    a, t = np.array([1.0, 2.0], np.float32), flex.asarray([3.0, 4.0])
    for result, expected in [(a + t, [4, 6]), (a - t, [-2, -2]), (np.float32(2) * t, [6, 8]), (np.float64(2) ** t, [8, 16])]:
        assert isinstance(result, flex.Tensor)
        assert (result.dtype, result.tolist()) == ("float32", expected)
    assert isinstance(a < t, flex.Tensor)
    assert np.exp(t).tolist() == flex.exp(t).tolist()
    assert np.arctan2(a, t).tolist() == flex.atan2(a, t).tolist()
    assert np.absolute(-t).tolist() == [3, 4]
    assert isinstance(a @ t, flex.Tensor)


def test_ufuncs_that_flex_has_not():
    t = flex.asarray([3.0, 4.0])
    for call in (lambda: np.add.reduce(t), lambda: np.add(t, t, out=np.zeros(2)), lambda: np.frexp(t), lambda: np.add(t, t, where=True)):
        with pytest.raises(TypeError, match="__array_ufunc__"):
            call()


# ---- DLPack


def test_dlpack_to_numpy(layout):
    t = flex.asarray(layout(np.arange(12.0).reshape(3, 4))[...], copy=True)
    n = np.from_dlpack(t)
    assert n.tolist() == t.tolist()
    if t.size:
        assert not n.flags.writeable
        assert np.shares_memory(n, np.asarray(t))


def test_dlpack_from_numpy(layout):
    a = np.arange(12.0).reshape(3, 4)
    view = layout(a)[...]
    t = flex.from_dlpack(view)
    assert (t.shape, t.tolist()) == (view.shape, view.tolist())
    if view.size:
        assert address(t) == view.ctypes.data
        assert flex.from_dlpack(view, copy=False).tolist() == view.tolist()
        assert address(flex.from_dlpack(view, copy=True)) != view.ctypes.data


def test_dlpack_round_trip(dtype, layout):
    t = flex.asarray(layout(sample(dtype)), copy=True)
    made = flex.from_dlpack(t)
    assert (made.dtype, made.shape, made.tolist()) == (dtype, t.shape, t.tolist())
    before = t.tolist()
    made[...] = made[...] ^ made[...] if dtype == flex.bool else 0
    assert t.tolist() == before
    assert t.__dlpack_device__() == (1, 0)


def capsule_name(capsule):
    name = ctypes.pythonapi.PyCapsule_GetName
    name.restype, name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    return name(capsule)


class Producer:
    """Hands out a capsule that was made before, as older libraries do."""

    def __init__(self, capsule, device=(1, 0)):
        self.capsule, self.device = capsule, device

    def __dlpack__(self, stream=None):
        return self.capsule

    def __dlpack_device__(self):
        return self.device


def test_legacy_consumers_get_a_copy():
    t = flex.asarray([1, 2, 3])
    capsule = t.__dlpack__()
    assert capsule_name(capsule) == b"dltensor"
    made = flex.from_dlpack(Producer(capsule))
    assert capsule_name(capsule) == b"used_dltensor"
    assert made.tolist() == [1, 2, 3]
    assert address(made) != address(t)
    assert capsule_name(t.__dlpack__(max_version=(0, 8))) == b"dltensor"
    assert capsule_name(t.__dlpack__(max_version=(1, 0))) == b"dltensor_versioned"
    with pytest.raises(BufferError, match=r"before 1\.0"):
        t.__dlpack__(copy=False)


def test_a_capsule_is_used_once():
    producer = Producer(flex.asarray([1]).__dlpack__(max_version=(1, 1)))
    flex.from_dlpack(producer)
    with pytest.raises(BufferError, match="used already"):
        flex.from_dlpack(producer)


def test_dlpack_arguments():
    t = flex.asarray([1])
    assert address(np.from_dlpack(t, copy=True)) != address(t)
    with pytest.raises(ValueError, match="stream"):
        t.__dlpack__(stream=1)
    with pytest.raises(BufferError, match="on the CPU"):
        t.__dlpack__(dl_device=(2, 0))
    with pytest.raises(ValueError, match="does not exist"):
        flex.from_dlpack(t, device="cuda")
    assert flex.from_dlpack(t, device="cpu").tolist() == [1]
    with pytest.raises(TypeError, match="__dlpack__"):
        flex.from_dlpack([1])
    with pytest.raises(TypeError, match="no capsule"):
        flex.from_dlpack(Producer(3))


def test_dlpack_on_another_device():
    producer = Producer(None, (2, 1))
    with pytest.raises(BufferError, match=r"device \(2, 1\)"):
        flex.from_dlpack(producer)
    with pytest.raises(BufferError, match=r"device \(2, 1\)"):
        flex.asarray(producer)
    with pytest.raises(BufferError, match=r"device \(2, 1\)"):
        flex.asarray([1]) + producer


class DLTensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class DLManagedTensorVersioned(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", DELETER),
        ("flags", ctypes.c_uint64),
        ("tensor", DLTensor),
    )


class Hostile(Producer):
    """A producer of our own making, whose fields can be anything; counts calls of its deleter."""

    def __init__(self, sizes=(4,), strides=None, **fields):
        self.memory = np.arange(16, dtype="f4")
        self.deleted = 0

        def delete(_):
            self.deleted += 1

        self.keep = [
            DELETER(delete),
            (ctypes.c_int64 * max(len(sizes), 1))(*sizes),
            (ctypes.c_int64 * max(len(sizes), 1))(*strides) if strides is not None else None,
        ]
        managed = DLManagedTensorVersioned(major=1, minor=0, deleter=self.keep[0])
        t = managed.tensor
        t.data, t.device_type, t.ndim, t.code, t.bits, t.lanes = self.memory.ctypes.data, 1, len(sizes), 2, 32, 1
        t.shape = self.keep[1]
        if strides is not None:
            t.strides = self.keep[2]
        for name, value in fields.items():
            setattr(managed if name in ("major", "flags") else t, name, value)
        self.managed = managed
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        super().__init__(new(ctypes.addressof(managed), b"dltensor_versioned", None))


def test_dlpack_deleter_runs_once():
    producer = Hostile((2, 2), (1, 2), byte_offset=4)
    t = flex.from_dlpack(producer)
    assert t.tolist() == [[1, 3], [2, 4]]
    u = t[0]
    del t
    assert producer.deleted == 0
    del u
    flex.get_num_threads()
    assert producer.deleted == 1


def test_dlpack_negative_strides_and_empty():
    assert flex.from_dlpack(Hostile((3,), (-1,), byte_offset=8)).tolist() == [2, 1, 0]
    empty = Hostile((0, 3), data=None)
    assert flex.from_dlpack(empty).shape == (0, 3)
    assert empty.deleted == 1
    assert flex.from_dlpack(Hostile((), ())).item() == 0
    assert flex.from_dlpack(Hostile((2,), byte_offset=2)).dtype == "float32"  # misaligned: copied


@pytest.mark.parametrize(
    ("shape", "strides", "fields", "message"),
    [
        ((4,), None, {"device_type": 2, "device_id": 3}, r"device \(2, 3\)"),
        ((4,), None, {"lanes": 4}, "4 lanes"),
        ((4,), None, {"code": 99}, "code 99"),
        ((4,), None, {"bits": 4}, "4 bits"),
        ((4,), None, {"ndim": -1}, "dimensions"),
        ((4,), None, {"shape": None}, "without a shape"),
        ((-4,), None, {}, "negative"),
        ((4,), None, {"data": None}, "null"),
        ((4,), None, {"major": 2}, "version 2"),
    ],
)
def test_hostile_dlpack(shape, strides, fields, message):
    producer = Hostile(shape, strides, **fields)
    with pytest.raises(BufferError, match=message):
        flex.from_dlpack(producer)
    flex.get_num_threads()
    assert producer.deleted == 1


@pytest.mark.parametrize("shape", [(2**62, 2**62), (2**40, 2**40, 2**40)])
def test_dlpack_shapes_that_overflow(shape):
    producer = Hostile(shape)
    with pytest.raises((BufferError, MemoryError, ValueError)):
        flex.from_dlpack(producer)
    assert producer.deleted == 1


def test_dlpack_strides_that_overflow():
    producer = Hostile((2, 2), (2**62, 2**62))
    with pytest.raises((BufferError, MemoryError, ValueError)):
        flex.from_dlpack(producer)
    assert producer.deleted == 1


def test_copy_false_and_a_producer_that_copied():
    with pytest.raises(BufferError, match="made a copy"):
        flex.from_dlpack(Hostile(flags=2), copy=False)


@pytest.mark.skipif(torch is None, reason="torch is not installed")
@pytest.mark.parametrize("name", ["float32", "bfloat16", "int64", "bool", "complex64"])
def test_torch(name):
    x = torch.arange(6).reshape(2, 3).to(getattr(torch, name))
    t = flex.asarray(x)
    assert (t.dtype, t.tolist()) == (name, x.tolist())
    assert flex.from_dlpack(x.T).tolist() == x.T.tolist()
    assert torch.from_dlpack(t).tolist() == x.tolist()
    assert (t + x).tolist() == (x + x).tolist()


# ---- leaks, threads


def test_nothing_leaks(in_use):
    a = np.arange(100.0)
    t = flex.asarray([1.0] * 100)

    def work():
        _ = flex.asarray(a), flex.asarray(a, copy=True), flex.from_dlpack(a), np.from_dlpack(t), np.asarray(t), memoryview(t)
        _ = t.__dlpack__(), t.__dlpack__(max_version=(1, 0)), flex.asarray(a[::-1]) + t, flex.asarray(a.astype(">f8"))
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
        x += 1  # without the interpreter's lock: what was borrowed is given back by a later call
        del x

    thread = threading.Thread(target=use_and_drop)
    thread.start()
    thread.join()
    flex.get_num_threads()
    gc.collect()
    assert watch() is None


def test_code_of_owners_may_look_at_the_tensor_when_it_is_written():
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
