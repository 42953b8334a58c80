"""Bytes: `frombuffer`, `tobytes`, `view`, and NumPy's array interface."""

import array
import hashlib
import mmap
import pickle
import sys

import numpy as np
import pytest
from PIL import Image
from support import address, is_numpys, numpy_dtype, sample

import flex

# ---- frombuffer


def test_frombuffer_borrows():
    a = bytearray(np.arange(6, dtype=np.int32).tobytes())
    t = flex.frombuffer(a, flex.int32)
    assert (t.dtype, t.tolist()) == (flex.int32, [0, 1, 2, 3, 4, 5])
    a[0] = 7
    assert t.tolist() == [7, 1, 2, 3, 4, 5]
    with pytest.raises(BufferError):
        a.append(1)
    del t
    a.append(1)


def test_frombuffer_with_count_and_offset(dtype):
    a = sample(dtype).ravel()
    data = b"head" * 4 + a.tobytes() + b"tail"
    assert flex.frombuffer(data, dtype, a.size, 16).tolist() == a.tolist()
    assert flex.frombuffer(data, dtype=dtype, count=2, offset=16).tolist() == a.tolist()[:2]
    assert flex.frombuffer(data, dtype=dtype, count=0).shape == (0,)
    misaligned = b"x" + a.tobytes()
    assert flex.frombuffer(misaligned, dtype, offset=1).tolist() == a.tolist()


def test_frombuffer_of_any_object():
    for buffer in (
        array.array("d", [1.5, 2.5]),
        np.array([[1.5], [2.5]]),
        memoryview(np.array([1.5, 2.5])),
        flex.asarray([1.5, 2.5], dtype=float),
    ):
        assert flex.frombuffer(buffer, float).tolist() == [1.5, 2.5]
    with mmap.mmap(-1, 16) as m:
        m.write(np.array([3, 4]).tobytes())
        assert flex.frombuffer(m, "int64").tolist() == [3, 4]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((b"abc", "int16"), ValueError, "3 bytes are not a whole number of int16"),
        ((b"abcd", "int16", 3), ValueError, "3 elements of int16 exceed the 4 bytes"),
        ((b"abcd", "int16", -2), ValueError, "-2 elements"),
        ((b"abcd", "int16", 2**62), ValueError, "exceed the 4 bytes"),
        ((b"abcd", "int16", 1, 3), ValueError, "1 elements of int16 exceed the 1 bytes"),
        ((b"abcd", "int16", -1, 5), ValueError, "offset must lie in the 4 bytes of the bytes"),
        ((b"abcd", "int16", -1, -1), ValueError, "offset must lie"),
        (("abcd", "int16"), TypeError, "buffer of str"),
        ((b"abcd", "int3"), TypeError, "not a dtype"),
        ((np.zeros((4, 4))[:, 0], "int16"), BufferError, "contiguous"),
    ],
)
def test_frombuffer_errors(arguments, error, message):
    with pytest.raises(error, match=message):
        flex.frombuffer(*arguments)


# ---- tobytes, and bytes of dtypes without a format


def test_tobytes(dtype, layout):
    a = layout(sample(dtype))
    t = flex.asarray(a)
    assert t.tobytes() == a.tobytes()
    assert type(t.tobytes()) is bytes
    assert flex.frombuffer(t.tobytes(), dtype).tolist() == a.ravel().tolist()


def test_bfloat16_exports_as_bytes(tmp_path):
    t = flex.asarray([1.0, -2.5, 3.0], dtype=flex.bfloat16)
    expected = np.asarray(t).tobytes()
    assert hashlib.sha256(t).digest() == hashlib.sha256(expected).digest()
    with (tmp_path / "data").open("wb") as file:
        file.write(t)
    assert (tmp_path / "data").read_bytes() == expected
    m = memoryview(t.view("uint8"))
    assert (m.format, m.shape, bytes(m)) == ("B", (6,), expected)
    with pytest.raises(BufferError, match=r'bfloat16: use t.numpy\(\), t.view\("uint8"\)'):
        memoryview(t)


# ---- view


@pytest.mark.parametrize(
    "new",
    [
        "uint8",
        "float8_e4m3fn",
        "int16",
        "uint16",
        "float16",
        "bfloat16",
        "int32",
        "float32",
        "float64",
        "complex64",
        "complex128",
    ],
)
def test_view(dtype, new):
    a = np.frombuffer(np.random.default_rng(0).bytes(2 * 3 * 32), numpy_dtype(dtype)).reshape(
        2, 3, -1
    )
    if dtype == flex.bool:
        a = (np.arange(2 * 3 * 32) % 3 == 0).reshape(2, 3, -1)
    t = flex.asarray(a)
    v = t.view(new)
    expected = a.view(numpy_dtype(getattr(flex, new)))
    assert (v.shape, v.dtype, address(v)) == (expected.shape, new, address(t))
    assert v.tobytes() == expected.tobytes()
    assert v.view(dtype).tobytes() == t.tobytes()
    part = t[1:, ::2]
    assert (
        part.view(new).tobytes()
        == np.ascontiguousarray(a[1:, ::2]).view(numpy_dtype(getattr(flex, new))).tobytes()
    )


def test_views_are_values():
    t = flex.asarray([1.0, 2.0])
    v = t.view("int32")
    v[:] = 0
    assert t.tolist() == [1, 2]
    assert flex.asarray(1.0).view("int32").item() == 0x3F800000


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (
            lambda: flex.zeros(3, dtype="int8").view("int16"),
            flex.ShapeError,
            "view: 3 elements of int8 along the last dimension",
        ),
        (lambda: flex.zeros(()).view("int8"), flex.ShapeError, r"reshape it to \(1,\)"),
        (lambda: flex.zeros((4, 4)).T.view("int8"), ValueError, "not contiguous"),
        (
            lambda: flex.zeros((4, 6), dtype="int8")[:, 1:5].view("int32"),
            ValueError,
            "rows begin within",
        ),
        (lambda: flex.zeros(8, dtype="int8")[1:5].view("int32"), ValueError, "rows begin within"),
        (lambda: flex.zeros(4).view("two"), TypeError, "not a dtype"),
        (lambda: flex.zeros(4).view(2), TypeError, r"write x\.reshape\(2\)"),
        (lambda: flex.zeros(4).view(2, -1), TypeError, r"write x\.reshape\(2, -1\)"),
        (lambda: flex.zeros(4).view((2, 2)), TypeError, r"write x\.reshape\(2, 2\)"),
        (lambda: flex.zeros(4).view(), TypeError, "takes 1 argument, a dtype, but 0"),
    ],
)
def test_invalid_views(make, error, message):
    with pytest.raises(error, match=message):
        make()


# ---- the array interface


class Has:
    def __init__(self, **interface):
        self.__array_interface__ = {"version": 3, **interface}


def test_interface_of_tensors(dtype, layout):
    a = layout(sample(dtype))
    t = flex.asarray(a)
    if not is_numpys(dtype):
        assert not hasattr(t, "__array_interface__")
        return
    interface = t.__array_interface__
    assert (interface["version"], interface["shape"], interface["typestr"]) == (
        3,
        t.shape,
        a.dtype.str,
    )
    n = np.asarray(Has(**interface))
    assert (n.dtype, n.tolist(), n.flags.writeable) == (a.dtype, a.tolist(), False)


def test_memory_of_an_interface_does_not_change():
    t = flex.asarray([1.0, 2.0])
    n = np.asarray(Has(**t.__array_interface__))
    t += 1
    t @= flex.eye(2)
    assert n.tolist() == [1, 2]


def test_interfaces_are_borrowed(dtype, layout):
    if not is_numpys(dtype):
        return
    a = layout(sample(dtype))
    x = Has(**{k: v for k, v in a.__array_interface__.items() if k != "descr"})
    x.owner = a
    t = flex.asarray(x)
    assert (t.dtype, t.shape, t.tolist()) == (dtype, a.shape, a.tolist())
    if a.size:
        assert address(t) == a.__array_interface__["data"][0]
        assert address(flex.asarray(x, copy=True)) != address(t)
    held = sys.getrefcount(x)
    del t
    assert sys.getrefcount(x) == held - (1 if a.size else 0)


def test_interfaces_over_buffers():
    data = np.arange(6, dtype=">i2").tobytes()
    assert flex.asarray(Has(shape=(2, 3), typestr=">i2", data=data)).tolist() == [
        [0, 1, 2],
        [3, 4, 5],
    ]
    assert flex.asarray(Has(shape=(2,), typestr=">i2", data=data, offset=4)).tolist() == [2, 3]
    assert flex.asarray(
        Has(shape=(3,), typestr=">i2", data=data, offset=10, strides=(-4,))
    ).tolist() == [5, 3, 1]
    assert (
        flex.asarray([1, 1]) + Has(shape=(2,), typestr="|u1", data=b"\1\2", strides=None)
    ).tolist() == [2, 3]


@pytest.mark.parametrize(
    ("interface", "error", "message"),
    [
        (
            {"shape": (9,), "typestr": "|u1", "data": b"12345678"},
            BufferError,
            "reaches beyond the 8 bytes",
        ),
        (
            {"shape": (2,), "typestr": "<i8", "data": b"12345678", "strides": (-8,)},
            BufferError,
            "reaches beyond",
        ),
        (
            {"shape": (2,), "typestr": "|u1", "data": b"12345678", "offset": 7},
            BufferError,
            "reaches beyond",
        ),
        (
            {"shape": (2**62, 2**62), "typestr": "|u1", "data": b"1", "strides": (2**62, 2**62)},
            MemoryError,
            "bytes",
        ),
        ({"shape": (-1,), "typestr": "|u1", "data": b"1"}, BufferError, "negative size"),
        ({"shape": (1,), "typestr": "|u1", "data": (0, True)}, BufferError, "null pointer"),
        ({"shape": (1,), "typestr": "|u1", "data": (1, 2, 3)}, BufferError, '"data" is no'),
        ({"shape": (1,), "typestr": "|u1", "data": ("a", True)}, BufferError, '"data" is no'),
        ({"shape": [1], "typestr": "|u1", "data": b"1"}, BufferError, '"shape" is not a tuple'),
        ({"shape": (1.5,), "typestr": "|u1", "data": b"1"}, BufferError, '"shape" is not a tuple'),
        (
            {"shape": (1,), "typestr": "|u1", "data": b"1", "strides": (1, 1)},
            BufferError,
            "malformed shape",
        ),
        (
            {"shape": (1,), "typestr": "|u1", "data": b"1", "offset": -1},
            BufferError,
            '"offset" is not a valid offset',
        ),
        (
            {"shape": (1,), "typestr": "|u1", "data": b"1", "mask": b"1"},
            BufferError,
            "fill them first",
        ),
        (
            {"shape": (1,), "typestr": "|u1", "data": b"1", "version": 2},
            BufferError,
            "versions before 3",
        ),
        ({"shape": (1,), "typestr": "|V4", "data": b"1234"}, flex.DTypeError, "no dtype"),
        ({"shape": (1,), "typestr": 3, "data": b"1234"}, BufferError, '"typestr" is not a str'),
        ({"shape": (1,), "typestr": "|u1"}, TypeError, "buffer of"),
        ({"shape": (1,), "data": b"1"}, BufferError, "'typestr' is missing|\"typestr\" is missing"),
        ({"typestr": "|u1", "data": b"1"}, BufferError, "missing"),
    ],
)
def test_malformed_interfaces(interface, error, message):
    with pytest.raises(error, match=message):
        flex.asarray(Has(**interface))


def test_interface_must_be_a_dict():
    class Wrong:
        __array_interface__ = 3

    with pytest.raises(TypeError, match="not a dict"):
        flex.asarray(Wrong())


def test_images():
    pixels = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    picture = Image.fromarray(pixels)
    t = flex.asarray(picture)
    assert (t.dtype, t.tolist()) == (flex.uint8, pixels.tolist())
    back = Image.fromarray(t)
    assert (back.mode, back.size, back.tobytes()) == ("RGB", (4, 2), pixels.tobytes())
    assert Image.fromarray(t[:, ::2, 0]).tobytes() == pixels[:, ::2, 0].tobytes()


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0)])
def test_no_elements_of_a_broadcast_are_contiguous(shape):
    """Python's consumers judge by strides, where any would do."""
    x = flex.broadcast_to(flex.zeros(()), shape)
    for exported in (memoryview(x), pickle.PickleBuffer(x)):
        assert b"".join([exported]) == b""
    assert memoryview(x).c_contiguous
