"""Packs wheels again, in place, by libdeflate's slowest level: 3 % smaller than zlib's best. Names, order, times and modes stay.

pack_wheel.py WHEEL..

In the list of what is compiled in, which maturin writes, this repository's folder becomes /flex: the same source gives the same bytes
wherever it is built.
"""

import base64
import hashlib
import struct
import sys
import zipfile
import zlib
from pathlib import Path

import deflate

# as in cargo's identifiers of packages
FOLDER = f"path+{Path(__file__).resolve().parents[1].as_uri()}".encode()
DEFLATED_UTF8 = (20, 0x800, zipfile.ZIP_DEFLATED)  # version of the format, flags, method


def contents(archive: zipfile.ZipFile) -> dict[str, bytes]:
    """The members by their names, without the path of this repository."""
    members = {name: archive.read(name) for name in archive.namelist()}
    [record] = (name for name in members if name.endswith(".dist-info/RECORD"))
    rows = members[record].decode().splitlines(keepends=True)
    for name in members:
        if ".dist-info/sboms/" in name:
            data = members[name] = members[name].replace(FOLDER, b"path+file:///flex")
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            [k] = (k for k, row in enumerate(rows) if row.startswith(f"{name},"))
            rows[k] = f"{name},sha256={digest},{len(data)}\n"
    members[record] = "".join(rows).encode()
    return members


def pack(wheel: Path) -> None:
    """The format is that of PKWARE's APPNOTE.TXT, sections 4.3.7, 4.3.12 and 4.3.16."""
    files, directory = bytearray(), bytearray()
    with zipfile.ZipFile(wheel) as archive:
        members, data_of = archive.infolist(), contents(archive)
        for member in members:
            data, name = data_of[member.filename], member.filename.encode()
            packed = bytes(deflate.deflate_compress(data, 12))
            year, month, day, hour, minute, second = member.date_time
            times = (hour << 11 | minute << 5 | second // 2, (year - 1980) << 9 | month << 5 | day)
            sizes = (zlib.crc32(data), len(packed), len(data), len(name), 0)
            about = struct.pack("<5H3I2H", *DEFLATED_UTF8, *times, *sizes)
            made_by = member.create_system << 8 | member.create_version
            directory += struct.pack("<4sH", b"PK\1\2", made_by) + about
            directory += struct.pack("<3H2I", 0, 0, 0, member.external_attr, len(files)) + name
            files += b"PK\3\4" + about + name + packed
    count = len(members)
    end = struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, count, count, len(directory), len(files), 0)
    wheel.write_bytes(files + directory + end)
    with zipfile.ZipFile(wheel) as archive:
        assert archive.testzip() is None, f"{wheel}: damaged"


for path in sys.argv[1:]:
    pack(Path(path))
