"""DLPack, both ways, with producers of every kind."""

import ctypes

import numpy as np
import pytest
from support import Producer, address, sample

import flex


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


def test_legacy_consumers_that_refuse_a_copy():
    t = flex.asarray([1, 2, 3])
    for keywords in ({}, {"max_version": (0, 8)}):
        shared = flex.from_dlpack(Producer(t.__dlpack__(copy=False, **keywords)))
        assert shared.tolist() == [1, 2, 3]
        assert address(shared) == address(t)
    t[0] = 7  # to memory of its own: it is lent
    assert shared.tolist() == [1, 2, 3]
    borrowed = flex.asarray(np.arange(3.0))
    with pytest.raises(BufferError, match=r"before 1\.0"):
        borrowed.__dlpack__(copy=False)
    assert (
        capsule_name(borrowed.__dlpack__(copy=False, max_version=(1, 0))) == b"dltensor_versioned"
    )


def test_a_capsule_is_used_once():
    producer = Producer(flex.asarray([1]).__dlpack__(max_version=(1, 1)))
    flex.from_dlpack(producer)
    with pytest.raises(BufferError, match="consumed already"):
        flex.from_dlpack(producer)


class Bits:
    """A view as torch has them: its elements are those in memory negated or conjugated, as bits say, which DLPack doesn't hand out."""

    def __init__(self, array, negative=False, conjugate=False):
        self.array, self.negative, self.conjugate = array, negative, conjugate

    def is_neg(self):
        return self.negative

    def is_conj(self):
        return self.conjugate

    def resolve_neg(self):
        return Bits(-self.array if self.negative else self.array, False, self.conjugate)

    def resolve_conj(self):
        array = self.array.conj() if self.conjugate else self.array
        return Bits(array, self.negative, False)

    def __dlpack__(self, **arguments):
        return self.array.__dlpack__(**arguments)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


@pytest.mark.parametrize("negative", [False, True])
@pytest.mark.parametrize("conjugate", [False, True])
def test_bits_of_views_are_applied(negative, conjugate):
    a = np.array([1 + 2j, -3 - 0.5j])
    x = Bits(a, negative, conjugate)
    expected = (a.conj() if conjugate else a) * (-1 if negative else 1)
    assert flex.from_dlpack(x).tolist() == expected.tolist()
    assert flex.asarray(x).tolist() == expected.tolist()
    assert (flex.zeros(2) + x).tolist() == expected.tolist()
    assert flex.from_dlpack(x, copy=True).tolist() == expected.tolist()
    if negative or conjugate:
        with pytest.raises(BufferError, match="needs a copy"):
            flex.from_dlpack(x, copy=False)
        with pytest.raises(ValueError, match="needs a copy"):
            flex.asarray(x, copy=False)
    else:
        assert address(flex.from_dlpack(x, copy=False)) == a.ctypes.data


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


class DLManagedTensor(ctypes.Structure):
    _fields_ = (("tensor", DLTensor), ("context", ctypes.c_void_p), ("deleter", DELETER))


# The codes and bits of dlpack.h.
CODES = {
    "bool": (6, 8),
    "int8": (0, 8),
    "int16": (0, 16),
    "int32": (0, 32),
    "int64": (0, 64),
    "uint8": (1, 8),
    "uint16": (1, 16),
    "uint32": (1, 32),
    "uint64": (1, 64),
    "float8_e4m3fn": (10, 8),
    "float8_e5m2": (12, 8),
    "float16": (2, 16),
    "bfloat16": (4, 16),
    "float32": (2, 32),
    "float64": (2, 64),
    "complex64": (5, 64),
    "complex128": (5, 128),
}
VERSIONED = pytest.mark.parametrize("versioned", [True, False])


class Library:
    """Another library's tensor, such as torch's: it makes capsules as dlpack.h says, each with strides in elements, and counts the calls
    of their deleters."""

    def __init__(self, array, versioned):
        self.array, self.versioned, self.alive, self.deleted = array, versioned, [], 0

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **_):
        array, name = self.array, self.array.dtype.name

        def delete(_):
            self.deleted += 1

        managed = DLManagedTensorVersioned(major=1) if self.versioned else DLManagedTensor()
        sizes = ctypes.c_int64 * max(array.ndim, 1)
        shape = sizes(*array.shape)
        strides = sizes(*(n // array.itemsize for n in array.strides))
        managed.deleter = DELETER(delete)
        managed.tensor = DLTensor(
            array.ctypes.data, 1, 0, array.ndim, *CODES[name], 1, shape, strides, 0
        )
        self.alive.append((managed, shape, strides))
        new = ctypes.pythonapi.PyCapsule_New
        new.restype = ctypes.py_object
        new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        label = b"dltensor_versioned" if self.versioned else b"dltensor"
        return new(ctypes.addressof(managed), label, None)


def bits(array):
    """The elements' bytes in row-major order."""
    return np.ascontiguousarray(array).tobytes()


@VERSIONED
def test_tensors_of_another_library(dtype, layout, versioned):
    array = layout(sample(dtype))
    library = Library(array, versioned)
    for read in (flex.from_dlpack, flex.asarray):
        t = read(library)
        assert (t.dtype, t.shape) == (dtype, array.shape)
        assert t.tobytes() == bits(array)
        if array.size:
            assert address(t) == array.ctypes.data
        del t
    flex.get_num_threads()
    assert library.deleted == len(library.alive) == 2


@VERSIONED
def test_operands_of_another_library(versioned):
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    library = Library(array.T, versioned)
    assert (flex.asarray(array.T) == library).tolist() == [[True] * 2] * 3
    assert flex.add(library, library).tolist() == (2 * array.T).tolist()
    flex.get_num_threads()
    assert library.deleted == len(library.alive) == 3


@VERSIONED
def test_tensors_in_another_library(dtype, layout, versioned, in_use):
    """What a consumer finds in the capsule, read as dlpack.h says."""
    before = in_use()
    array = layout(sample(dtype))
    t = flex.asarray(array, copy=True)
    capsule = t.__dlpack__(max_version=(1, 0) if versioned else None)
    label = b"dltensor_versioned" if versioned else b"dltensor"
    pointer, rename = ctypes.pythonapi.PyCapsule_GetPointer, ctypes.pythonapi.PyCapsule_SetName
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    rename.argtypes = [ctypes.py_object, ctypes.c_char_p]
    at = pointer(capsule, label)
    managed = (DLManagedTensorVersioned if versioned else DLManagedTensor).from_address(at)
    x, rank, size = managed.tensor, array.ndim, array.itemsize
    assert (x.device_type, x.device_id, x.code, x.bits) == (1, 0, *CODES[dtype.name])
    assert (x.lanes, x.ndim, tuple(x.shape[:rank])) == (1, rank, array.shape)
    if versioned:
        assert managed.major == 1
        assert managed.flags & 1, "it is lent to be read"
    start, strides = (x.data or 0) + x.byte_offset, x.strides[:rank]
    for index in np.ndindex(array.shape):
        place = start + size * sum(i * n for i, n in zip(index, strides, strict=True))
        assert ctypes.string_at(place, size) == array[index].tobytes()
    del t
    used = b"used_" + label  # the capsule keeps the address
    assert rename(capsule, used) == 0
    managed.deleter(at)
    del capsule
    assert in_use() == before
