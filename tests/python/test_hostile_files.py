"""Files crafted to exhaust memory or time or to flood the terminal: short errors, before anything is unpacked or allocated."""

import io
import os
import struct
import zipfile

import numpy as np
import pytest

import flex

POSIX = pytest.mark.skipif(os.name != "posix", reason="needs sparse files")


def test_messages_quote_only_a_part(tmp_path):
    long = b"x" * (20 << 20)
    path = tmp_path / "x.npy"
    for content in [
        b"\x93NUMPY\x02\x00" + struct.pack("<I", len(long)) + long,
        b"\x93NUMPY\x02\x00" + struct.pack("<I", 60_000) + long,
        b"\x93NUMPY\x02\x00" + struct.pack("<I", 60_000) + b"{'" + long,
        b"\x93NUMPY\x02\x00"
        + struct.pack("<I", 60_000)
        + b"{'descr': '"
        + b"\\" * 59_000
        + b"', 'fortran_order': False, 'shape': ()}"
        + b" " * 2000,
    ]:
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"x\.npy") as caught:
            flex.io.load(path)
        assert len(str(caught.value)) < 500 + len(str(path))
    path = tmp_path / "x.safetensors"
    for content in [
        b'{"%b":3}' % long,
        b'{"__metadata__":{"%b":[1]}}' % long,
        b'{"a":{"dtype":"%b","shape":[],"data_offsets":[0,0]}}' % long,
        b'{"a":{"dtype":"F32","shape":[%b1],"data_offsets":[0,0]}}' % (b"1," * 1000),
        b'"%b"' % long,
    ]:
        path.write_bytes(struct.pack("<Q", len(content)) + content)
        with pytest.raises(ValueError, match=r"x\.safetensors") as caught:
            flex.io.load(path)
        assert len(str(caught.value)) < 500 + len(str(path))


@POSIX
@pytest.mark.parametrize("mmap", [True, False])
def test_a_header_of_gigabytes_in_a_sparse_file(tmp_path, mmap):
    path = tmp_path / "x.npy"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x02\x00" + struct.pack("<I", 1 << 31))
        file.truncate((1 << 31) + 100)
    with pytest.raises(ValueError, match="header of 2147483648 bytes"):
        flex.io.load(path, mmap=mmap)


def test_npz_unpacking_is_limited(tmp_path):
    path = tmp_path / "x.npz"
    np.savez_compressed(path, a=np.zeros(1 << 20), b=np.zeros(1 << 20))
    assert path.stat().st_size < 1 << 16
    assert set(flex.io.load(path, max_bytes=17 << 20)) == {"a", "b"}
    with pytest.raises(ValueError, match=r"x\.npz.*max_bytes=16777216"):
        flex.io.load(path, max_bytes=16 << 20)


def member(name, content, claimed=None, method=zipfile.ZIP_DEFLATED):
    """An archive with one member, whose header may claim another unpacked size."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        archive.writestr(name, content)
        if claimed is not None:
            archive.infolist()[0].file_size = claimed
    file.seek(0)
    return file


def test_npz_members_match_their_headers():
    content = io.BytesIO()
    np.save(content, np.arange(1000.0))
    content = content.getvalue()
    assert flex.io.load(member("a.npy", content))["a"].tolist() == list(range(1000))
    with pytest.raises(ValueError, match=r"npz: a\.npy: .* take"):
        flex.io.load(member("a.npy", content + b"more"))
    with pytest.raises(ValueError, match=r"a\.npy: truncated"):
        flex.io.load(member("a.npy", content[:-1]))
    with pytest.raises(ValueError, match=r"a\.npy"):
        flex.io.load(
            member("a.npy", content, claimed=500)
        )  # the header is complete, but the checksum does not match
    with pytest.raises(MemoryError, match="unpacks to"):
        flex.io.load(member("a.npy", content, claimed=1 << 62))
    twice = io.BytesIO()
    with zipfile.ZipFile(twice, "w") as archive:
        archive.writestr("a.npy", content)
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("a.npy", content)
    twice.seek(0)
    with pytest.raises(ValueError, match="one name"):
        flex.io.load(twice)


def test_npz_with_optional_compression():
    content = io.BytesIO()
    np.save(content, np.arange(10))
    whole = member("a.npy", content.getvalue(), method=zipfile.ZIP_STORED).getvalue()
    for method in (93, 95):  # zstandard and xz, which this data is not
        directory = whole.index(b"PK\x01\x02")
        archive = bytearray(whole)
        archive[8:10] = archive[directory + 10 : directory + 12] = struct.pack("<H", method)
        with pytest.raises(ValueError, match="npz"):
            flex.io.load(io.BytesIO(archive))
