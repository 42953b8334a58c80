"""Arrow's C data interface: exports read by ctypes, and imports from valid and malformed producers."""

import ctypes
import gc

import numpy as np
import pytest
from support import address, sample

import flex


class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


RELEASE_SCHEMA = ctypes.CFUNCTYPE(None, ctypes.POINTER(Schema))
RELEASE_ARRAY = ctypes.CFUNCTYPE(None, ctypes.POINTER(Array))
Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_char_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.c_void_p),
    ("dictionary", ctypes.c_void_p),
    ("release", RELEASE_SCHEMA),
    ("private_data", ctypes.c_void_p),
]
Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.c_void_p),
    ("dictionary", ctypes.c_void_p),
    ("release", RELEASE_ARRAY),
    ("private_data", ctypes.c_void_p),
]
new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = (
    ctypes.py_object,
    [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p],
)
pointer = ctypes.pythonapi.PyCapsule_GetPointer
pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]

FORMATS = dict(
    zip(
        [
            "int8",
            "int16",
            "int32",
            "int64",
            "uint8",
            "uint16",
            "uint32",
            "uint64",
            "float16",
            "float32",
            "float64",
        ],
        [b"c", b"s", b"i", b"l", b"C", b"S", b"I", b"L", b"e", b"f", b"g"],
        strict=True,
    )
)


def structs(capsules):
    schema, array = capsules
    return Schema.from_address(pointer(schema, b"arrow_schema")), Array.from_address(
        pointer(array, b"arrow_array")
    )


class Producer:
    """Exports an array through ctypes structs, and records their releases."""

    def __init__(
        self, data, format=b"i", length=None, offset=0, validity=None, null_count=0, **other
    ):
        self.released = []
        self.data, self.validity = data, validity
        self.buffers = (ctypes.c_void_p * 2)(
            None if validity is None else validity.ctypes.data, data.ctypes.data
        )
        self.callbacks = (
            RELEASE_SCHEMA(lambda s: self.release(s, "schema")),
            RELEASE_ARRAY(lambda a: self.release(a, "array")),
        )
        self.schema = Schema(format=format, name=b"", release=self.callbacks[0])
        self.array = Array(
            length=len(data) - offset if length is None else length,
            null_count=null_count,
            offset=offset,
            n_buffers=2,
            buffers=ctypes.cast(self.buffers, ctypes.POINTER(ctypes.c_void_p)),
            release=self.callbacks[1],
        )
        for name, value in other.items():
            setattr(
                self.schema if hasattr(Schema, name) and not hasattr(Array, name) else self.array,
                name,
                value,
            )

    def release(self, struct, what):
        self.released.append(what)
        ctypes.cast(
            ctypes.byref(struct.contents, type(struct.contents).release.offset),
            ctypes.POINTER(ctypes.c_void_p),
        )[0] = None

    def __arrow_c_array__(self, requested_schema=None):
        return new_capsule(ctypes.addressof(self.schema), b"arrow_schema", None), new_capsule(
            ctypes.addressof(self.array), b"arrow_array", None
        )


# ---- export


@pytest.mark.parametrize("name", FORMATS)
def test_elements_are_shared(name):
    t = flex.asarray(sample(flex.DType(name)).ravel())
    capsules = t.__arrow_c_array__()
    schema, array = structs(capsules)
    assert (schema.format, schema.flags, schema.n_children, schema.dictionary) == (
        FORMATS[name],
        0,
        0,
        None,
    )
    assert (array.length, array.null_count, array.offset, array.n_buffers, array.n_children) == (
        t.size,
        0,
        0,
        2,
        0,
    )
    assert array.buffers[0] is None
    assert array.buffers[1] == address(t)
    n = np.frombuffer((ctypes.c_char * t.nbytes).from_address(array.buffers[1]), t.dtype)
    assert n.tolist() == t.tolist()


def test_bools_are_bits():
    values = (np.arange(19) % 3 == 0).tolist()
    capsules = flex.asarray(values).__arrow_c_array__()
    schema, array = structs(capsules)
    assert (schema.format, array.length) == (b"b", 19)
    bits = np.frombuffer((ctypes.c_char * 3).from_address(array.buffers[1]), np.uint8)
    assert np.unpackbits(bits, bitorder="little")[:19].tolist() == values


def test_a_consumer_moves_the_structs_out(in_use):
    before = in_use()
    t = flex.asarray(np.arange(1000.0), copy=True)
    capsules = t.__arrow_c_array__()
    schema, array = structs(capsules)
    moved = [type(s).from_buffer_copy(s) for s in (schema, array)]
    for s in (schema, array):
        ctypes.cast(ctypes.byref(s, type(s).release.offset), ctypes.POINTER(ctypes.c_void_p))[0] = (
            None
        )
    del capsules, schema, array
    t += 1  # not visible to the consumer
    n = np.frombuffer((ctypes.c_double * 1000).from_address(moved[1].buffers[1]))
    assert n.tolist() == list(range(1000))
    del t
    assert in_use() > before
    for s in moved:
        s.release(ctypes.byref(s))
        assert not s.release
    assert in_use() == before


def test_unconsumed_capsules_free_their_memory(in_use):
    before = in_use()
    for _ in range(10):
        flex.zeros(1000).__arrow_c_array__(None)
    gc.collect()
    assert in_use() == before


def test_strided_elements_are_copied():
    t = flex.arange(10)[::-3]
    capsules = t.__arrow_c_array__()
    _, array = structs(capsules)
    assert np.frombuffer(
        (ctypes.c_int64 * 4).from_address(array.buffers[1]), np.int64
    ).tolist() == [9, 6, 3, 0]


def test_dtypes_arrow_lacks():
    for dtype in ("bfloat16", "complex64", "complex128"):
        with pytest.raises(flex.DTypeError, match=f"Arrow has no type for {dtype}"):
            flex.zeros(2, dtype=dtype).__arrow_c_array__()
    for shape in ((), (2, 3)):
        with pytest.raises(flex.ShapeError, match="reshape it"):
            flex.zeros(shape).__arrow_c_array__()


# ---- import


@pytest.mark.parametrize("name", FORMATS)
def test_elements_are_borrowed(name):
    a = sample(flex.DType(name)).ravel()
    x = Producer(a, FORMATS[name])
    t = flex.asarray(x)
    assert (t.dtype, t.tolist(), address(t)) == (name, a.tolist(), a.ctypes.data)
    assert x.released == ["schema"]
    part = t[1:]
    del t
    assert x.released == ["schema"]
    del part
    gc.collect()
    assert sorted(x.released) == ["array", "schema"]


def test_offsets_validity_and_copies():
    a = np.arange(10, dtype=np.int32)
    assert flex.asarray(Producer(a, offset=3)).tolist() == list(range(3, 10))
    assert flex.asarray(Producer(a, offset=3, length=2)).tolist() == [3, 4]
    assert flex.asarray(Producer(a, length=0)).shape == (0,)
    x = Producer(a)
    assert address(flex.asarray(x, copy=True)) != a.ctypes.data
    assert sorted(x.released) == ["array", "schema"]
    valid = np.array([0b11111100, 0b11], np.uint8)
    assert flex.asarray(Producer(a, offset=2, validity=valid, null_count=-1)).tolist() == list(
        range(2, 10)
    )
    for count in (-1, 2):
        with pytest.raises(BufferError, match=r"2 of 10 elements are null.*fill or drop"):
            flex.asarray(Producer(a, validity=valid, null_count=count))
    assert (flex.ones(10, dtype="int32") + Producer(a)).tolist() == list(range(1, 11))


def test_bits_become_bools():
    bits = np.array([0b10110101, 0b01], np.uint8)
    expected = np.unpackbits(bits, bitorder="little").astype(bool)
    assert flex.asarray(Producer(bits, b"b", length=9)).tolist() == expected[:9].tolist()
    assert flex.asarray(Producer(bits, b"b", length=5, offset=3)).tolist() == expected[3:8].tolist()
    with pytest.raises(ValueError, match="bits: that needs a copy"):
        flex.asarray(Producer(bits, b"b", length=9), copy=False)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"format": b"u"}, flex.DTypeError, 'Arrow\'s type "u"'),
        ({"format": b"tdD"}, flex.DTypeError, "no dtype"),
        ({"length": -1}, BufferError, "length -1"),
        ({"offset": -1, "length": 1}, BufferError, "offset -1"),
        ({"length": 2**62, "offset": 2**62}, BufferError, "exceeds the address space"),
        ({"n_buffers": 3}, BufferError, "3 buffers"),
    ],
)
def test_malformed_arrays(arguments, error, message):
    x = Producer(np.arange(4, dtype=np.int32), **arguments)
    with pytest.raises(error, match=message):
        flex.asarray(x)
    assert sorted(x.released) == ["array", "schema"]


def test_invalid_capsules():
    class Wrong:
        def __init__(self, value):
            self.value = value

        def __arrow_c_array__(self, requested_schema=None):
            return self.value

    for value, error in [
        (3, TypeError),
        ((1, 2), BufferError),
        (Producer(np.arange(2, dtype=np.int32)).__arrow_c_array__()[::-1], BufferError),
    ]:
        with pytest.raises(error, match="capsule"):
            flex.asarray(Wrong(value))
    x = Producer(np.arange(2, dtype=np.int32))
    capsules = x.__arrow_c_array__()
    flex.asarray(Wrong(capsules))
    with pytest.raises(BufferError, match="did not return a live capsule"):
        flex.asarray(Wrong(capsules))


def test_round_trip():
    class Only:
        """Supports only this protocol."""

        def __init__(self, t):
            self.t = t

        def __arrow_c_array__(self, requested_schema=None):
            return self.t.__arrow_c_array__(requested_schema)

    t = flex.asarray(np.arange(5.0), copy=True)
    u = flex.asarray(Only(t))
    assert address(u) == address(t)
    t[0] = 9
    assert u.tolist() == [0, 1, 2, 3, 4]
    assert flex.asarray(Only(flex.asarray([True, False, True]))).tolist() == [True, False, True]
