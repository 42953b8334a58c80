"""Files: round trips, exchange with other libraries, hostile files, replacement of mapped files."""

import io
import json
import os
import pickle
import stat
import struct
import sys
import zipfile

import numpy as np
import pytest
from arrays import ALL, KEPT, LAYOUTS, laid_out, numpy_dtype, operands, random_array, to_numpy
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from support import examples

import flex

IN_SAFETENSORS = [d for d in KEPT if d != "complex128"]


def bits(a):
    return np.ascontiguousarray(a).tobytes(), a.dtype, a.shape


def same(x, a):
    assert bits(to_numpy(x)) == bits(np.asarray(a, numpy_dtype(a.dtype.name)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("io")


# ---- safetensors


@examples(60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.dictionaries(
        st.text(max_size=8).filter(lambda s: s != "__metadata__"),
        operands(IN_SAFETENSORS),
        max_size=4,
    ),
    st.booleans(),
)
def test_safetensors_round_trip(folder, named, mmap):
    path = folder / "x.safetensors"
    flex.io.save(
        path, {name: x for name, (x, _) in named.items()}, metadata={"format": "pt", "ß": "\n"}
    )
    loaded = flex.io.load(path, mmap=mmap)
    assert set(loaded) == set(named)
    for name, (_, a) in named.items():
        same(loaded[name], a)
    assert flex.io.metadata(path) == {"format": "pt", "ß": "\n"}


def safetensors(header, data=b"", length=None):
    raw = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(raw) if length is None else length) + raw + data


def entry(dtype="F32", shape=(2,), offsets=(0, 8)):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


def test_safetensors_by_hand(tmp_path):
    path = tmp_path / "x.safetensors"
    path.write_bytes(
        safetensors({"w": entry(), "__metadata__": {"a": "b"}}, np.array([1, 2], "<f4").tobytes())
    )
    assert flex.io.load(str(path))["w"].tolist() == [1.0, 2.0]
    assert flex.io.load(os.fsencode(path))["w"].dtype == flex.float32
    path.write_bytes(safetensors({"__metadata__": None, "w": entry()}, bytes(8)))
    assert flex.io.load(path)["w"].tolist() == [0.0, 0.0]
    assert flex.io.metadata(path) == {}


@pytest.mark.parametrize("mmap", [True, False])
@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x00" * 7,
        struct.pack("<Q", 2**63),
        struct.pack("<Q", 100) + b"{}",
        safetensors(b"{"),
        safetensors(b"[]"),
        safetensors(b"\xff\xfe"),
        safetensors({"w": 3}),
        safetensors({"w": {}}),
        safetensors({"w": entry()}),
        safetensors({"w": entry()}, b"\x00" * 4),
        safetensors({"w": entry(dtype="")}, b"\x00" * 8),
        safetensors({"w": entry(dtype="no dtype")}, b"\x00" * 8),
        safetensors({"w": entry(dtype=3)}, b"\x00" * 8),
        safetensors({"w": entry(shape=(3,))}, b"\x00" * 8),
        safetensors({"w": entry(shape=(-2,))}, b"\x00" * 8),
        safetensors({"w": entry(shape=(2**62, 8))}, b"\x00" * 8),
        safetensors({"w": entry(shape=(2**64, 0), offsets=(0, 0))}),
        safetensors({"w": entry(shape=(1.5,))}, b"\x00" * 8),
        safetensors({"w": entry(offsets=(8, 0))}, b"\x00" * 8),
        safetensors({"w": entry(offsets=(0, 2**63))}, b"\x00" * 8),
        safetensors({"w": entry(offsets=(-8, 0))}, b"\x00" * 8),
        safetensors({"w": entry(offsets=(0,))}, b"\x00" * 8),
        safetensors({"a": entry(), "b": entry()}, b"\x00" * 8),
        safetensors({"a": entry(), "b": entry(offsets=(4, 12))}, b"\x00" * 12),
        safetensors(b'{"w":%b,"w":%b}' % ((json.dumps(entry()).encode(),) * 2), b"\x00" * 8),
        safetensors(b'{"__metadata__":{},"__metadata__":{}}'),
        safetensors(b'{"__metadata__":null,"__metadata__":null}'),
        safetensors(b'{"__metadata__":nul}'),
        safetensors(b'{"__metadata__":{"a":"b","a":"c"}}'),
        safetensors(
            b'{"w":{"dtype":"F32","shape":[2],"shape":[2],"data_offsets":[0,8]}}', b"\x00" * 8
        ),
        safetensors(
            b'{"w":{"dtype":"F64","dtype":"F32","shape":[2],"data_offsets":[0,8]}}', b"\x00" * 8
        ),
        safetensors({"__metadata__": {"a": 1}}),
        safetensors({"__metadata__": {"a": None}}),
        safetensors({"__metadata__": "a"}),
        safetensors(b"[" * 100_000),
        safetensors(b'{"w":' * 100_000),
    ],
)
def test_hostile_safetensors(tmp_path, content, mmap):
    path = tmp_path / "x.safetensors"
    path.write_bytes(content)
    with pytest.raises((ValueError, MemoryError), match=r"x\.safetensors"):
        flex.io.load(path, mmap=mmap)


def test_complex128_is_not_in_safetensors(tmp_path):
    path = tmp_path / "x.safetensors"
    with pytest.raises(flex.DTypeError, match="complex128"):
        flex.io.save(path, {"x": flex.zeros(2, dtype="complex128")})
    assert not path.exists()


def test_arguments_of_save(tmp_path):
    path = tmp_path / "x.safetensors"
    flex.io.save(path, {"list": [1, 2], "array": np.ones(2, np.int8), "number": 2.5})
    loaded = flex.io.load(path)
    assert (loaded["list"].tolist(), loaded["array"].dtype, loaded["number"].item()) == (
        [1, 2],
        flex.int8,
        2.5,
    )
    for wrong in (flex.zeros(2), [1, 2], None, 3):
        with pytest.raises(TypeError, match="expected a dict"):
            flex.io.save(path, wrong)
    with pytest.raises(TypeError, match="not a string"):
        flex.io.save(path, {1: flex.zeros(2)})
    with pytest.raises(TypeError):
        flex.io.save(path, {"x": object()})
    with pytest.raises(TypeError):
        flex.io.save(path, {"x": flex.zeros(2)}, metadata={"a": 1})
    assert set(flex.io.load(path)) == {"list", "array", "number"}  # failed saves change nothing


# ---- npy


@examples(60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(operands([d for d in ALL if d != "bfloat16"]), st.booleans())
def test_npy_round_trip(folder, case, mmap):
    x, a = case
    path = folder / "x.npy"
    flex.io.save(path, x)
    same(flex.io.load(path, mmap=mmap), a)
    assert bits(np.load(path)) == bits(a)


@pytest.mark.parametrize("mmap", [True, False])
@pytest.mark.parametrize("dtype", ["<f4", ">f8", ">i2", "|b1", "<c8", ">c16", "|u1"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_npy_of_numpy(tmp_path, dtype, order, mmap):
    a = np.asarray(np.arange(24).reshape(2, 3, 4) % 7, dtype=dtype, order=order)
    path = tmp_path / "x.npy"
    np.save(path, a)
    same(flex.io.load(path, mmap=mmap), a.astype(a.dtype.newbyteorder("=")))


def npy(header, data=b"", version=(1, 0), length=None):
    raw = header.encode("latin1")
    count = struct.pack("<H" if version[0] == 1 else "<I", len(raw) if length is None else length)
    return b"\x93NUMPY" + bytes(version) + count + raw + data


GOOD = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n"


@pytest.mark.parametrize("mmap", [True, False])
@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x93NUMPY",
        b"\x93NUMPX" + npy(GOOD, b"\x00" * 8)[6:],
        npy(GOOD),
        npy(GOOD, b"\x00" * 7),
        npy(GOOD, b"\x00" * 8, version=(9, 0)),
        npy(GOOD, b"\x00" * 8, length=60_000),
        npy(GOOD, b"\x00" * 8, version=(2, 0), length=2**32 - 1),
        npy("{}", b"\x00" * 8),
        npy("", b"\x00" * 8),
        npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }", b"\x00" * 8),
        npy(
            "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 8), }",
            b"\x00" * 8,
        ),
        npy(
            "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999999,), }",
            b"\x00" * 8,
        ),
        npy("{'descr': '|O', 'fortran_order': False, 'shape': (2,), }", pickle.dumps([1, 2])),
        npy("{'descr': '<U4', 'fortran_order': False, 'shape': (2,), }", b"\x00" * 32),
        npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }", b"\x00" * 8),
        npy("{'descr': '<f4', 'fortran_order': 3, 'shape': (2,), }", b"\x00" * 8),
        npy("{'descr': '<f4', 'fortran_order': False, 'shape': 2, }", b"\x00" * 8),
        npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2), }", b"\x00" * 8),
        npy("{'descr': '<f4', 'fortran_order': False, 'shape': (02,), }", b"\x00" * 8),
        npy(
            "{'descr': '<f4', 'fortran_order': False, 'shape': (__import__('os').system('true'),), }",
            b"\x00" * 8,
        ),
        npy("(" * 60_000, b"\x00" * 8),
    ],
)
def test_hostile_npy(tmp_path, content, mmap):
    path = tmp_path / "x.npy"
    path.write_bytes(content)
    with pytest.raises((ValueError, MemoryError), match=r"x\.npy"):
        flex.io.load(path, mmap=mmap)


@examples(200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(["npy", "safetensors", "npz"]), st.data())
def test_damaged_files_are_errors_or_tensors(folder, suffix, data):
    path = folder / f"damaged.{suffix}"
    x = flex.asarray(np.arange(6.0).reshape(2, 3))
    flex.io.save(path, x if suffix == "npy" else {"x": x})
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(content[: data.draw(st.integers(0, len(content)))])
    try:
        loaded = flex.io.load(path, mmap=False)
    except (ValueError, MemoryError):
        return
    assert isinstance(loaded, flex.Tensor if suffix == "npy" else dict)


# ---- npz


def test_npz(tmp_path):
    path = tmp_path / "x.npz"
    arrays = {d: random_array(d, (2, 3), np.random.default_rng(0)) for d in ALL if d != "bfloat16"}
    flex.io.save(path, arrays)
    loaded = flex.io.load(path)
    with np.load(path) as theirs:
        assert set(loaded) == set(theirs) == set(arrays)
        for name, a in arrays.items():
            same(loaded[name], a)
            assert bits(theirs[name]) == bits(a)
    np.savez_compressed(path, a=np.arange(5), b=np.zeros((0, 2)))
    assert {k: v.tolist() for k, v in flex.io.load(path).items()} == {"a": [0, 1, 2, 3, 4], "b": []}
    assert os.listdir(tmp_path) == ["x.npz"]


def test_hostile_npz(tmp_path):
    path = tmp_path / "x.npz"
    for content in (b"", b"PK\x03\x04", b"no zip at all"):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"x\.npz"):
            flex.io.load(path)
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("a.npy", b"\x93NUMPY")
    with pytest.raises(ValueError, match="npy"):
        flex.io.load(path)
    with pytest.raises(TypeError, match="expected a dict"):
        flex.io.save(path, flex.zeros(2))
    with pytest.raises(TypeError, match="not a string"):
        flex.io.save(path, {1: flex.zeros(2)})
    assert os.listdir(tmp_path) == ["x.npz"]


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_damaged_compressed_npz(tmp_path, method):
    path = tmp_path / "x.npz"
    content = io.BytesIO()
    np.save(content, np.arange(1000.0))
    with zipfile.ZipFile(path, "w", method) as file:
        file.writestr("a.npy", content.getvalue())
    assert flex.io.load(path)["a"].tolist() == list(range(1000))
    whole = path.read_bytes()
    data = struct.calcsize("<4s5H3I2H") + len("a.npy")
    for place in range(
        data + 16, data + 76
    ):  # past the LZMA header, some of whose bytes have no effect
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        with pytest.raises((ValueError, MemoryError)) as caught:
            flex.io.load(path)
        assert isinstance(caught.value, MemoryError) or "x.npz" in str(caught.value)


def test_npz_where_python_has_no_lzma(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "lzma", None)
    path = tmp_path / "x.npz"
    flex.io.save(path, {"a": flex.asarray([1, 2])})
    assert flex.io.load(path)["a"].tolist() == [1, 2]
    path.write_bytes(b"no zip at all")
    with pytest.raises(ValueError, match=r"x\.npz"):
        flex.io.load(path)


# ---- all formats


def example(suffix):
    """A tensor or a dict of tensors, as the format holds it."""
    return flex.zeros(1) if suffix == "npy" else {"x": flex.zeros(1)}


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
@pytest.mark.parametrize("suffix", ["npy", "npz", "safetensors"])
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666, 0o400])
def test_save_keeps_permissions(tmp_path, suffix, mode):
    path = tmp_path / f"x.{suffix}"
    path.touch()
    path.chmod(mode)
    flex.io.save(path, example(suffix))
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
@pytest.mark.parametrize("suffix", ["npy", "npz", "safetensors"])
def test_new_files_have_the_permissions_of_open(tmp_path, suffix, monkeypatch):
    (tmp_path / "other").touch()
    monkeypatch.setattr(os, "umask", None)  # process-wide: must not be used
    flex.io.save(tmp_path / f"x.{suffix}", example(suffix))
    assert (tmp_path / f"x.{suffix}").stat().st_mode == (tmp_path / "other").stat().st_mode


@pytest.mark.skipif(os.name != "posix", reason="elsewhere links need privileges")
@pytest.mark.parametrize("suffix", ["npy", "npz", "safetensors"])
def test_save_through_a_link(tmp_path, suffix):
    (tmp_path / "there").mkdir()
    target, link = tmp_path / "there" / "target", tmp_path / f"x.{suffix}"
    target.write_bytes(b"old")
    link.symlink_to(target)
    flex.io.save(link, example(suffix))
    assert link.is_symlink()
    assert not target.is_symlink()
    loaded = flex.io.load(link)
    assert (loaded if suffix == "npy" else loaded["x"]).tolist() == [0.0]
    assert os.listdir(tmp_path / "there") == ["target"]


@pytest.mark.skipif(os.name != "posix", reason="pipes in the file system")
def test_save_npz_into_a_pipe(tmp_path):
    path = tmp_path / "x.npz"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDWR | os.O_NONBLOCK)
    try:
        flex.io.save(path, {"x": flex.asarray([1, 2])})
        content = os.read(reader, 1 << 16)
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(path.stat().st_mode)
    with np.load(io.BytesIO(content)) as theirs:
        assert theirs["x"].tolist() == [1, 2]


@pytest.mark.parametrize("suffix", ["npy", "npz", "safetensors"])
def test_missing_files_and_folders(tmp_path, suffix):
    path = tmp_path / f"x.{suffix}"
    with pytest.raises(FileNotFoundError):
        flex.io.load(path)
    path.mkdir()
    with pytest.raises((OSError, ValueError)):
        flex.io.load(path)
    with pytest.raises(OSError, match="none"):
        flex.io.save(
            tmp_path / "none" / f"x.{suffix}",
            flex.zeros(1) if suffix == "npy" else {"x": flex.zeros(1)},
        )


@pytest.mark.parametrize("path", ["x", "x.txt", "x.npy.gz", ""])
def test_other_suffixes(path):
    for call in (
        lambda: flex.io.load(path),
        lambda: flex.io.save(path, flex.zeros(1)),
        lambda: flex.io.metadata(path),
    ):
        with pytest.raises(ValueError, match=r"ends in none of \.safetensors, \.npy, \.npz"):
            call()
    for wrong in (None, 3, object()):
        with pytest.raises(TypeError):
            flex.io.load(wrong)
    with pytest.raises(ValueError, match="metadata"):
        flex.io.save("x.npy", flex.zeros(1), metadata={})


@pytest.mark.parametrize("suffix", ["npy", "safetensors"])
def test_a_mapped_file_can_be_replaced_by_what_it_holds(tmp_path, suffix):
    path = tmp_path / f"x.{suffix}"
    a = np.arange(100_000.0)

    def load():
        loaded = flex.io.load(path)
        return loaded if suffix == "npy" else loaded["x"]

    def save(x):
        flex.io.save(path, x if suffix == "npy" else {"x": x})

    save(flex.asarray(a))
    mapped = load()
    save(mapped)
    save(flex.flip(mapped))
    np.testing.assert_array_equal(mapped.numpy(), a)
    np.testing.assert_array_equal(load().numpy(), a[::-1])
    mapped += 1  # copies; the file is unchanged
    np.testing.assert_array_equal(load().numpy(), a[::-1])
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(tmp_path, layout):
    x, a = laid_out(np.arange(12.0).reshape(3, 4), layout)
    flex.io.save(tmp_path / "x.safetensors", {"x": x})
    same(flex.io.load(tmp_path / "x.safetensors")["x"], np.ascontiguousarray(a))
