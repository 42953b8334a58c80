"""dtype objects, promotion and limits."""

import copy
import pickle
import sys

import ml_dtypes
import numpy as np
import pytest
from support import is_numpys, is_storage, numpy_dtype

import flex


def test_each_dtype_is_a_singleton(dtype):
    assert getattr(flex, dtype.name) is dtype
    assert flex.DType(dtype.name) is dtype
    assert flex.DType(dtype) is dtype
    assert copy.copy(dtype) is dtype
    assert copy.deepcopy([dtype])[0] is dtype
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(dtype, protocol)) is dtype


def test_equal_to_names_and_numpy_dtypes(dtype):
    theirs = numpy_dtype(dtype)
    assert dtype == dtype.name
    assert dtype == theirs
    assert hash(dtype) == hash(dtype.name)
    assert {dtype: 1}[dtype.name] == 1
    assert flex.DType(theirs) is dtype
    assert flex.DType(theirs.type) is dtype
    assert dtype.itemsize == theirs.itemsize
    other = flex.int8 if dtype != flex.int8 else flex.int16
    assert dtype != other
    assert dtype != other.name
    assert dtype != 3
    assert dtype != "no dtype"
    assert repr(dtype) == f"flex.{dtype.name}"
    assert str(dtype) == dtype.name


def test_numpy_accepts_dtypes(dtype):
    assert np.zeros(3, dtype).dtype == numpy_dtype(dtype)


def test_kind(dtype):
    expected = numpy_dtype(dtype).kind if is_numpys(dtype) else "f"
    assert dtype.kind == expected


def test_numpys_attributes(dtype):
    """What pandas, xarray and dask ask of a dtype."""
    theirs = numpy_dtype(dtype)
    assert dtype.type is theirs.type
    assert dtype.char == theirs.char
    assert dtype.byteorder == theirs.byteorder
    assert dtype.names is None


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (bool, "bool"),
        (int, "int64"),
        (float, "float64"),
        (complex, "complex128"),
        (np.bool_, "bool"),
        (np.longlong, "int64"),
        (np.ulonglong, "uint64"),
        (np.float32, "float32"),
        (np.complex64, "complex64"),
        (ml_dtypes.bfloat16, "bfloat16"),
        (np.dtype(ml_dtypes.bfloat16), "bfloat16"),
        (ml_dtypes.float8_e4m3fn, "float8_e4m3fn"),
        (np.dtype(ml_dtypes.float8_e5m2), "float8_e5m2"),
        ("f4", "float32"),
        ("<f8", "float64") if sys.byteorder == "little" else (">f8", "float64"),
        ("=f2", "float16"),
        ("i8", "int64"),
        ("|u1", "uint8"),
        ("b1", "bool"),
        ("c16", "complex128"),
    ],
)
def test_names_of_dtypes(given, expected):
    assert flex.DType(given) is getattr(flex, expected)
    assert flex.DType(given) == given
    assert given == flex.DType(given)
    assert (flex.DType(given) != given) is False
    assert flex.zeros(2, dtype=given).dtype == given
    assert flex.asarray([1], dtype=given).dtype is flex.DType(given)
    assert flex.asarray([1]).astype(given).dtype is flex.DType(given)


def test_python_types_lose_no_precision():
    x = flex.asarray([1 / 3], dtype="float64")
    assert x.astype(float).item() == 1 / 3
    assert flex.asarray([1 / 3], dtype=float).item() == 1 / 3
    assert flex.asarray([1 / 3 + 1j / 7], dtype=complex).item() == 1 / 3 + 1j / 7
    assert (
        flex.asarray([1 / 3]).dtype == flex.zeros(1).dtype == flex.float32
    )  # without a dtype, the default


class TorchDtype:
    """Looks like torch's dtypes: no name, but an item size and a repr."""

    def __init__(self, name, itemsize):
        self.name_, self.itemsize = name, itemsize

    def __repr__(self):
        return f"torch.{self.name_}"


TorchDtype.__module__ = "torch"


def test_dtypes_of_torch(dtype):
    theirs = TorchDtype(dtype.name, dtype.itemsize)
    assert flex.DType(theirs) is dtype
    assert dtype == theirs
    with pytest.raises(TypeError, match=r"torch.float8_e4m3fnuz is not a dtype of flex"):
        flex.DType(TorchDtype("float8_e4m3fnuz", 1))


@pytest.mark.parametrize(
    "given",
    [
        *(
            "float31",
            "float8",
            "float8_e4m3",
            "float",
            "f1",
            "f3",
            "f",
            "V1",
            "O8",
            "",
            ">f4" if sys.byteorder == "little" else "<f4",
        ),
        *(3, None, [], str, object, np.str_, np.floating, np.longdouble, np.dtype("M8[s]")),
    ],
)
def test_non_dtypes(given):
    with pytest.raises(
        TypeError, match=r"not a dtype of flex; they are bool, int8.*float64.*NumPy"
    ):
        flex.DType(given)
    assert flex.float32 != given


def test_numpy_converts_dtypes(dtype):
    theirs = numpy_dtype(dtype)
    assert np.dtype(dtype) == theirs
    assert np.result_type(dtype, dtype) == theirs
    assert dtype.dtype == theirs  # read by NumPy before 2.4
    assert np.asarray([1], dtype=dtype).dtype == theirs


@pytest.mark.parametrize(
    "name",
    [
        "float8_e4m3fn",
        "float8_e5m2",
        "float16",
        "bfloat16",
        "float32",
        "float64",
        "complex64",
        "complex128",
    ],
)
def test_finfo(name):
    ours = flex.finfo(name)
    theirs = ml_dtypes.finfo(name) if hasattr(ml_dtypes, name) else np.finfo(name)
    assert ours.bits == theirs.bits
    for limit in ("eps", "max", "min", "smallest_normal"):
        assert getattr(ours, limit) == float(getattr(theirs, limit)), limit
    assert ours.dtype == {"complex64": "float32", "complex128": "float64"}.get(name, name)
    assert flex.finfo(flex.asarray([1], dtype=name)).max == ours.max
    assert name.replace("complex64", "float32").replace("complex128", "float64") in repr(ours)


@pytest.mark.parametrize(
    "name", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
)
def test_iinfo(name):
    ours, theirs = flex.iinfo(name), np.iinfo(name)
    assert (ours.bits, ours.min, ours.max, ours.dtype) == (
        theirs.bits,
        theirs.min,
        theirs.max,
        name,
    )
    assert str(theirs.max) in repr(ours)


def test_info_of_the_wrong_kind():
    with pytest.raises(flex.DTypeError, match="iinfo"):
        flex.finfo("int8")
    with pytest.raises(flex.DTypeError, match="float32"):
        flex.iinfo("float32")


KINDS = {
    "bool": "b",
    "signed integer": "i",
    "unsigned integer": "u",
    "integral": "iu",
    "real floating": "f",
    "complex floating": "c",
    "numeric": "iufc",
}


@pytest.mark.parametrize("kind", KINDS)
def test_isdtype(dtype, kind):
    assert flex.isdtype(dtype, kind) == (dtype.kind in KINDS[kind] and not is_storage(dtype))
    assert flex.isdtype(dtype, ("no kind" if dtype.kind in KINDS[kind] else kind, dtype)[::-1])


def test_isdtype_errors():
    with pytest.raises(ValueError, match="is not a kind"):
        flex.isdtype(flex.int8, "integer")


STANDARD = {  # the array API standard's tables
    ("int8", "int64"): "int64",
    ("uint8", "uint32"): "uint32",
    ("uint8", "int8"): "int16",
    ("uint16", "int8"): "int32",
    ("uint32", "int8"): "int64",
    ("uint8", "int64"): "int64",
    ("float32", "float64"): "float64",
    ("float32", "complex64"): "complex64",
    ("float64", "complex64"): "complex128",
    ("complex64", "complex128"): "complex128",
    ("bool", "bool"): "bool",
    # flex's own
    ("bool", "int8"): "int8",
    ("int64", "float32"): "float32",
    ("int64", "bfloat16"): "bfloat16",
    ("float16", "bfloat16"): "float32",
}


@pytest.mark.parametrize(("pair", "expected"), STANDARD.items(), ids=str)
def test_result_type(pair, expected):
    a, b = pair
    assert flex.result_type(a, b) is getattr(flex, expected)
    assert flex.result_type(b, a) == expected
    assert flex.result_type(flex.asarray([1], dtype=a), flex.asarray([1], dtype=b)) == expected
    assert (flex.asarray([1], dtype=a) == flex.asarray([1], dtype=b)).tolist() == [True]
    assert flex.can_cast(a, expected)
    assert flex.can_cast(b, expected)


def test_result_type_with_numbers():
    assert flex.result_type(flex.int8, 2) == "int8"
    assert flex.result_type(flex.int8, 2.5) == "float32"
    assert flex.result_type(flex.bfloat16, 2.5, 1) == "bfloat16"
    assert flex.result_type(flex.float64, 1j) == "complex128"
    assert flex.result_type(flex.bool, True) == "bool"
    assert flex.result_type(flex.bool, 1) == "int64"
    assert flex.result_type(1.5) == "float32"
    assert flex.result_type(flex.float16, np.float64(1)) == "float16"
    with pytest.raises(TypeError, match="at least one"):
        flex.result_type()
    with pytest.raises(TypeError, match="object"):
        flex.result_type(flex.int8, object())
    with pytest.raises(flex.DTypeError, match="uint64"):
        flex.result_type(flex.int64, flex.uint64)


def test_can_cast():
    assert flex.can_cast("int8", "float32")
    assert not flex.can_cast("float64", "float32")
    assert not flex.can_cast(flex.asarray(1.5), "int64")
    assert not flex.can_cast("int64", "uint64")


@pytest.mark.parametrize(
    "info", [flex.finfo("bfloat16"), flex.finfo("complex128"), flex.iinfo("uint8")]
)
@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]
)
def test_limits_are_copied_and_pickled(info, copied):
    found = copied(info)
    assert type(found) is type(info)
    fields = [name for name in dir(info) if not name.startswith("_")]
    assert {"bits", "dtype", "max", "min"} <= set(fields)
    for name in fields:
        assert getattr(found, name) == getattr(info, name)
