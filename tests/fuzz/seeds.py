"""seeds.py FOLDER: writes the initial corpus and the dictionary for fuzzing the readers: small files of each kind, words of headers."""

import io
import json
import struct
import sys
from pathlib import Path

import numpy as np


def npy(array, version=None):
    out = io.BytesIO()
    np.lib.format.write_array(out, array, version=version)
    return b"\0" + out.getvalue()


def safetensors(header, data):
    text = json.dumps(header).encode()
    return b"\1" + struct.pack("<Q", len(text)) + text + data


folder = Path(sys.argv[1])
(folder / "corpus").mkdir(parents=True, exist_ok=True)
grid = np.arange(6).reshape(2, 3)
seeds = [
    npy(grid.astype(d))
    for d in ("?", "<i2", ">i4", "<f2", ">f8", "<c8", ">c16", "|u1", "|V2", "M8[D]")
]
seeds += [
    npy(np.asfortranarray(grid)),
    npy(np.array(1.5)),
    npy(np.zeros((0, 3))),
    npy(grid, (2, 0)),
    npy(np.zeros(2, [("a", "<i4")]), (3, 0)),
]
entry = {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}
seeds += [
    safetensors({"a": entry, "__metadata__": {"format": "pt"}}, bytes(24)),
    safetensors(
        {"a": entry, "b": {"dtype": "BF16", "shape": [], "data_offsets": [24, 26]}}, bytes(26)
    ),
    safetensors({"e": {"dtype": "BOOL", "shape": [0, 4], "data_offsets": [0, 0]}}, b""),
    safetensors({"x": {"dtype": "F8_E4M3", "shape": [3], "data_offsets": [0, 3]}}, bytes(3)),
    safetensors({"x": {"dtype": "F8_E8M0", "shape": [3], "data_offsets": [0, 3]}}, bytes(3)),
    safetensors({}, b""),
]
for k, seed in enumerate(seeds):
    (folder / "corpus" / f"seed{k}").write_bytes(seed)
dtypes = [
    "BOOL",
    "U8",
    "I8",
    "I16",
    "U16",
    "F16",
    "BF16",
    "I32",
    "U32",
    "F32",
    "F64",
    "I64",
    "U64",
    "C64",
    "F8_E4M3",
    "F8_E5M2",
    "F8_E8M0",
]
words = [f'"{w}"' for w in [*dtypes, "dtype", "shape", "data_offsets", "__metadata__"]]
words += [
    "'descr'",
    "'fortran_order'",
    "'shape'",
    "True",
    "False",
    "'<f4'",
    "'>i8'",
    "'|b1'",
    "18446744073709551615",
    "9223372036854775808",
]
escaped = [w.replace("\\", "\\\\").replace('"', '\\"') for w in words]
(folder / "words").write_text("".join(f'"{w}"\n' for w in escaped) + '"\\x93NUMPY\\x01\\x00"\n')
