"""DLPack, both ways, with producers of every kind."""

import ctypes

import numpy as np
import pytest
from support import Producer, address, sample

import flex

try:
    import torch
except ImportError:  # tested where installed; otherwise NumPy is the only consumer and producer
    torch = None


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
    with pytest.raises(BufferError, match="consumed already"):
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
    with pytest.raises(TypeError, match="did not return a capsule"):
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
    """A producer whose fields can be anything; counts calls of its deleter."""

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
        t.data, t.device_type, t.ndim, t.code, t.bits, t.lanes = (
            self.memory.ctypes.data,
            1,
            len(sizes),
            2,
            32,
            1,
        )
        t.shape = self.keep[1]
        if strides is not None:
            t.strides = self.keep[2]
        for name, value in fields.items():
            setattr(managed if name in ("major", "flags") else t, name, value)
        self.managed = managed
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = (
            ctypes.py_object,
            [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p],
        )
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
    assert (t == x).tolist() == [[True] * 3] * 2


@pytest.mark.skipif(torch is None, reason="torch is not installed")
@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e5m2"])
def test_float8_of_torch(name):
    x = torch.arange(256, dtype=torch.uint8).view(getattr(torch, name)).reshape(16, 16)
    t = flex.from_dlpack(x)
    assert (t.dtype, t.view("uint8").tolist()) == (name, x.view(torch.uint8).tolist())
    assert torch.from_dlpack(t).view(torch.uint8).tolist() == x.view(torch.uint8).tolist()
    np.testing.assert_array_equal(t.astype("float32").numpy(), x.float().numpy())
