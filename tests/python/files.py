"""Damaged files: safetensors, npy and npz with changed bytes are read as by NumPy, or refused, within limits of memory and time."""

import io
import struct
import sys
import tempfile
import time
import zipfile
from pathlib import Path

import numpy as np
from arrays import ALL, random_array, to_numpy

import flex

FOLDER = tempfile.TemporaryDirectory(prefix="flex-fuzz-")
ROOM = 2 << 30  # bytes of address space beyond that of an idle process
SECONDS = 10
# the errors allowed for a file that is damaged, needs too much memory or has an unsupported dtype
REFUSALS = (ValueError, OSError, MemoryError, flex.DTypeError)
EXTREMES = [0, 1, 0x7F, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF, 2**63 - 1, 2**64 - 1, 2**40]


def arrays(rng):
    names = [d for d in ALL if d != "bfloat16"]
    made = {}
    for k in range(int(rng.integers(0, 4))):
        shape = tuple(int(n) for n in rng.integers(0, 5, int(rng.integers(0, 4))))
        array = random_array(str(rng.choice(names)), shape, rng)
        made[str(rng.choice(["w", "bias", "weights/äö", "x.npy", ""])) + str(k)] = (
            np.asfortranarray(array) if rng.random() < 0.3 else array
        )
    return made


def packed(rng, made):
    """An npz by NumPy, or with any members and compression methods; members may be damaged before their checksums are computed."""
    out = io.BytesIO()
    if rng.random() < 0.4:
        (np.savez if rng.random() < 0.5 else np.savez_compressed)(
            out, **{name.replace("/", "_"): a for name, a in made.items()}
        )
        return out.getvalue()
    with zipfile.ZipFile(out, "w") as file:
        for name, array in made.items():
            member = io.BytesIO()
            np.save(member, array)
            content = damaged(rng, member.getvalue()) if rng.random() < 0.3 else member.getvalue()
            method = int(
                rng.choice(
                    [
                        zipfile.ZIP_STORED,
                        zipfile.ZIP_DEFLATED,
                        zipfile.ZIP_DEFLATED,
                        zipfile.ZIP_BZIP2,
                        zipfile.ZIP_LZMA,
                    ]
                )
            )
            file.writestr(
                zipfile.ZipInfo(str(rng.choice([name + ".npy", name, "../" + name + ".npy"]))),
                content,
                method,
            )
    return out.getvalue()


def written(rng, suffix):
    made = arrays(rng)
    if suffix == ".npz":
        return packed(rng, made)
    path = Path(FOLDER.name) / ("made" + suffix)
    if suffix == ".npy":
        np.save(path, next(iter(made.values()), np.zeros(3)))
    else:
        allowed = {
            name: flex.asarray(a.astype("complex64") if a.dtype.name == "complex128" else a)
            for name, a in made.items()
        }
        flex.io.save(path, allowed, {"format": "pt"} if rng.random() < 0.5 else None)
    return path.read_bytes()


def damaged(rng, content):
    """The content with a few bytes changed, removed, repeated, or replaced by an extreme number."""
    content = bytearray(content)
    for _ in range(int(rng.choice([1, 1, 1, 2, 4]))):
        at = (
            int(rng.integers(len(content) + 1))
            if rng.random() < 0.5
            else int(rng.integers(min(len(content), 100) + 1))
        )
        width = int(rng.integers(1, 9))
        match int(rng.integers(6)):
            case 0:
                content[at : at + 1] = bytes([int(rng.integers(256))])
            case 1:
                del content[at : at + width]
            case 2:
                content[at:at] = content[at : at + 4 * width]
            case 3:
                size = int(rng.choice([1, 2, 4, 8]))
                content[at : at + size] = struct.pack(
                    "<Q", EXTREMES[int(rng.integers(len(EXTREMES)))]
                )[:size]
            case 4:
                del content[at:]
            case 5:
                digits = [k for k, c in enumerate(content[:400]) if chr(c).isdigit()]
                if digits:
                    k = digits[int(rng.integers(len(digits)))]
                    content[k : k + 1] = str(EXTREMES[int(rng.integers(len(EXTREMES)))]).encode()
    return bytes(content)


def by_numpy(path):
    """What NumPy reads from the file, or None if it refuses it too."""
    try:
        loaded = np.load(path)
        if isinstance(loaded, np.ndarray):
            return loaded
        with loaded:
            return {name: loaded[name] for name in loaded.files}
    except Exception:
        return None


def limited():
    """Limits the address space of this process from here on, on Linux."""
    if sys.platform != "linux":
        return
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    if soft == resource.RLIM_INFINITY:
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + ROOM, used + ROOM))


def equal(tensor, array):
    got = to_numpy(tensor)
    if array.dtype.kind == "V":
        return
    assert (got.shape, got.dtype) == (array.shape, array.dtype.newbyteorder("="))
    if got.dtype.kind == "b":  # any nonzero byte is True
        got, array = got.view(np.uint8) != 0, array.view(np.uint8) != 0
    assert got.tobytes() == array.astype(got.dtype).tobytes()


def run(seed):
    """Writes, damages and reads one file."""
    limited()
    rng = np.random.default_rng(seed)
    suffix = str(rng.choice([".npy", ".npz", ".npz", ".safetensors"]))
    content = written(rng, suffix)
    if rng.random() < (0.4 if suffix == ".npz" else 0.9):
        content = damaged(rng, content)
    path = Path(FOLDER.name) / ("read" + suffix)
    path.write_bytes(content)
    started, results, longest = time.monotonic(), [], 0
    for mapped in (False, True):
        try:
            results.append(flex.io.load(path, mmap=mapped))
        except REFUSALS as error:
            results.append(None)
            longest = max(longest, len(str(error)))
    assert time.monotonic() - started < SECONDS
    assert longest < 2000, "an error as long as the file"
    first, second = results
    assert type(first) is type(second)
    expected = by_numpy(path) if suffix != ".safetensors" else None
    if isinstance(first, dict):
        assert first.keys() == second.keys()
        for name, tensor in first.items():
            assert to_numpy(tensor).tobytes() == to_numpy(second[name]).tobytes()
            if expected is not None and name in expected:
                equal(tensor, expected[name])
    elif first is not None:
        assert to_numpy(first).tobytes() == to_numpy(second).tobytes()
        if expected is not None:
            equal(first, expected)
