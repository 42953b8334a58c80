"""Files of quantised tensors: safetensors, and GGUF files written here by the format's specification and decoded value by value."""

import contextlib
import io
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import flex
from flex import quant

F32, F16 = np.float32, np.float16
# kind: its code, the bytes and the values of a block
KINDS = {"Q4_0": (2, 18, 32), "Q8_0": (8, 34, 32), "Q4_K": (12, 144, 256), "Q6_K": (14, 210, 256)}


def text(s):
    return struct.pack("<Q", len(s.encode())) + s.encode()


def value(v):
    """A metadata value with its type."""
    if isinstance(v, bool):
        return struct.pack("<IB", 7, v)
    if isinstance(v, int):
        return struct.pack("<Iq", 11, v) if v < 0 else struct.pack("<IQ", 10, v)
    if isinstance(v, float):
        return struct.pack("<Id", 12, v)
    if isinstance(v, str):
        return struct.pack("<I", 8) + text(v)
    parts = [value(x) for x in v]
    return (
        struct.pack("<I", 9)
        + parts[0][:4]
        + struct.pack("<Q", len(v))
        + b"".join(p[4:] for p in parts)
    )


def gguf(tensors, metadata=(), version=3, align=32):
    """A GGUF file with tensors {name: (kind, shape, bytes)}."""
    metadata = dict(metadata)
    head = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(metadata))
    head += b"".join(text(k) + value(v) for k, v in metadata.items())
    data = b""
    for name, (kind, shape, content) in tensors.items():
        data += bytes(-len(data) % align)
        head += text(name) + struct.pack("<I", len(shape))
        head += b"".join(struct.pack("<Q", n) for n in reversed(shape))
        head += struct.pack("<IQ", kind, len(data))
        data += content
    return head + bytes(-len(head) % align) + data


def half(b):
    return F32(np.frombuffer(b, F16)[0])


def decode(kind, block):
    """The values of a block, one by one."""
    if kind == "Q4_0":
        d, q = half(block[:2]), block[2:]
        return [d * F32((q[i % 16] >> (i // 16 * 4) & 15) - 8) for i in range(32)]
    if kind == "Q8_0":
        return [
            half(block[:2]) * F32(struct.unpack("b", block[2 + i : 3 + i])[0]) for i in range(32)
        ]
    if kind == "Q4_K":
        d, least, s, q = half(block[:2]), half(block[2:4]), block[4:16], block[16:]
        out = []
        for i in range(256):
            j = i // 32
            if j < 4:
                scale, minimum = s[j] & 63, s[j + 4] & 63
            else:
                scale = s[j + 4] & 15 | (s[j - 4] >> 6) << 4
                minimum = s[j + 4] >> 4 | (s[j] >> 6) << 4
            number = q[i // 64 * 32 + i % 32] >> (j % 2 * 4) & 15
            out.append(d * F32(scale) * F32(number) - least * F32(minimum))
        return out
    low, high, scales, d = block[:128], block[128:192], block[192:208], half(block[208:])
    out = []
    for i in range(256):
        part, within = divmod(i, 128)
        run, lane = divmod(within, 32)
        four = low[64 * part + 32 * (run % 2) + lane] >> (run // 2 * 4) & 15
        two = high[32 * part + lane] >> (2 * run) & 3
        scale = struct.unpack("b", scales[i // 16 : i // 16 + 1])[0]
        out.append(d * F32(scale) * F32((four | two << 4) - 32))
    return out


@pytest.mark.parametrize("kind", KINDS)
def test_blocks_are_decoded(kind, tmp_path):
    number, size, numbers = KINDS[kind]
    rng = np.random.default_rng(number)
    shape = (3, 2 * numbers)
    blocks = [bytearray(rng.integers(0, 256, size, dtype=np.uint8)) for _ in range(6)]
    for block in blocks:  # finite scales
        for at in {"Q4_K": (0, 2), "Q6_K": (208,)}.get(kind, (0,)):
            block[at : at + 2] = F16(rng.standard_normal()).tobytes()
    expected = np.array([decode(kind, bytes(b)) for b in blocks], F32).reshape(shape)
    content = gguf(
        {"first": (0, (3,), F32([1, 2, 3]).tobytes()), "w": (number, shape, b"".join(blocks))}
    )
    path = tmp_path / "model.gguf"
    path.write_bytes(content)
    for tensors, _ in (
        quant.load_gguf(content),
        quant.load_gguf(path),
        quant.load_gguf(str(path), mmap=False),
    ):
        w = tensors["w"]
        assert isinstance(w, flex.Tensor) == (kind == "Q4_K")
        got = w if kind == "Q4_K" else w.dequantize()
        assert got.shape == shape
        assert np.array_equal(np.asarray(got), expected)
        assert tensors["first"].tolist() == [1, 2, 3]
    if kind != "Q4_K":
        x = rng.standard_normal((2, shape[1])).astype(F32)
        assert np.allclose(quant.linear(x, w), x @ expected.T, atol=1e-2 * np.abs(expected).max())


def test_numbers_metadata_and_other_blocks():
    metadata = {
        "general.architecture": "bert",
        "bert.count": 12,
        "below": -3,
        "eps": 1e-12,
        "flag": True,
        "tokens": ["a", "ß"],
        "nested": [[1, 2], [3]],
        "general.alignment": 64,
    }
    content = gguf(
        {
            "f16": (1, (2, 2), F16([1, 2, 3, 4]).tobytes()),
            "i32": (26, (2,), np.int32([5, -6]).tobytes()),
            "q5": (6, (32,), bytes(range(22))),
        },
        metadata,
        version=2,
        align=64,
    )
    tensors, found = quant.load_gguf(content)
    assert found == metadata
    assert tensors["f16"].tolist() == [[1, 2], [3, 4]]
    assert tensors["f16"].dtype == flex.float16
    assert tensors["i32"].tolist() == [5, -6]
    assert tensors.others["q5"].dtype == "GGML_6"
    assert tensors.others["q5"].shape == (32,)
    assert tensors.others["q5"].bytes.tolist() == list(range(22))
    with pytest.raises(flex.DTypeError, match="GGML_6"):
        tensors["q5"]


# The number of each other kind, and the bytes and the numbers of a block, from GGML_QUANT_SIZES of the package gguf 0.19.
OTHERS = {
    3: (20, 32), 6: (22, 32), 7: (24, 32), 10: (84, 256), 11: (110, 256), 13: (176, 256), 15: (292, 256),
    16: (66, 256), 17: (74, 256), 18: (98, 256), 19: (50, 256), 20: (18, 32), 21: (110, 256), 22: (82, 256),
    23: (136, 256), 29: (56, 256), 34: (54, 256), 35: (66, 256), 39: (17, 32), 40: (36, 64), 41: (18, 128),
}  # fmt: skip


@pytest.mark.parametrize("kind", OTHERS)
def test_other_blocks_end_at_the_tensor(kind, tmp_path):
    size, numbers = OTHERS[kind]
    data = bytes(k % 251 for k in range(6 * size))
    content = gguf({"w": (kind, (3, 2 * numbers), data), "b": (0, (1,), bytes(4))}) + bytes(24)
    (tmp_path / "x.gguf").write_bytes(content)
    for file in (content, tmp_path / "x.gguf"):
        other = quant.load_gguf(file)[0].others["w"]
        assert (other.dtype, other.shape) == (f"GGML_{kind}", (3, 2 * numbers))
        assert other.bytes.tobytes() == data
    with pytest.raises(ValueError, match="no whole blocks"):
        quant.load_gguf(gguf({"w": (kind, (3, numbers - 1), data)}))
    with pytest.raises(ValueError, match="truncated"):
        quant.load_gguf(gguf({"w": (kind, (3, 2 * numbers), data[:-1])}))


def test_blocks_of_unknown_size_reach_to_the_next_tensor():
    content = gguf({"w": (77, (3, 5), b"\1" * 40), "b": (0, (1,), bytes(4))})
    assert quant.load_gguf(content)[0].others["w"].bytes.tobytes() == b"\1" * 40 + bytes(24)


@given(st.integers(0, 400), st.integers(0, 255))
def test_damaged_files_are_errors(at, byte):
    content = bytearray(gguf({"w": (8, (2, 32), bytes(68))}, {"tokens": ["a", "b"], "n": 1}))
    at %= len(content)
    for damaged in (bytes(content[:at]), bytes(content[:at] + bytes([byte]) + content[at + 1 :])):
        with contextlib.suppress(ValueError, MemoryError):
            quant.load_gguf(damaged)


def test_files_that_are_not_gguf(tmp_path):
    with pytest.raises(ValueError, match="no GGUF"):
        quant.load_gguf(b"GGML" + bytes(20))
    with pytest.raises(ValueError, match="version 1"):
        quant.load_gguf(b"GGUF" + struct.pack("<IQQ", 1, 0, 0))
    with pytest.raises(ValueError, match="no whole blocks"):
        quant.load_gguf(gguf({"w": (8, (2, 31), bytes(68))}))
    with pytest.raises(ValueError, match="fit in the file"):
        quant.load_gguf(b"GGUF" + struct.pack("<IQQ", 3, 1 << 60, 0))
    with pytest.raises(FileNotFoundError):
        quant.load_gguf(tmp_path / "missing.gguf")
    for mmap in (True, False):
        with pytest.raises(IsADirectoryError) as caught:
            quant.load_gguf(tmp_path, mmap)
        assert caught.value.filename == str(tmp_path)
    other = tmp_path / "x.gguf"
    other.write_bytes(gguf({}))
    with pytest.raises(ValueError, match=r"quant\.load: .*flex\.quant\.load_gguf reads"):
        quant.load(other)
    for file in (None, 3, bytearray(b"GGUF")):
        with pytest.raises(TypeError, match="expected a path or bytes"):
            quant.load_gguf(file)


def test_overlapping_tensors():
    content = bytearray(gguf({"a": (8, (2, 32), bytes(68)), "b": (8, (2, 32), bytes(68))}))
    assert len(quant.load_gguf(bytes(content))[0]) == 2
    at = content.index(b"b", content.index(b"a") + 1) + 1 + 4 + 16 + 4
    content[at : at + 8] = bytes(8)  # the offset
    with pytest.raises(ValueError, match="overlaps another"):
        quant.load_gguf(bytes(content[: len(content) - 68]))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int4", "int2"])
def test_safetensors(dtype, tmp_path):
    x = np.random.default_rng(1).standard_normal((6, 10)).astype(F32)
    q = quant.quantize(flex.asarray(x), dtype, axis=0, scale_dtype=flex.float16)
    odd = quant.quantize(flex.asarray(x[:, :7].copy()), dtype)
    path = tmp_path / "model.safetensors"
    quant.save(
        path, {"w": q, "odd": odd.permute_dims((1, 0)), "bias": flex.ones(3)}, {"made": "here"}
    )
    for file in (path, io.BytesIO(path.read_bytes())):
        loaded = quant.load(file)
        assert sorted(loaded) == ["bias", "odd", "w"]
        assert loaded["w"].equal(q)
        assert loaded["w"].scales.dtype == flex.float16
        assert loaded["odd"].equal(odd.T)
        assert loaded["bias"].tolist() == [1, 1, 1]
        assert loaded["w"].dtype == dtype
        assert (loaded["w"].zero_points is None) == (dtype != "uint8")
    assert flex.io.metadata(path) == {"made": "here"}
    with pytest.raises(ValueError, match="two tensors"):
        quant.save(path, {"w": q, "w.scales": flex.ones(3)})
    with pytest.raises(ValueError, match="one quantised tensor"):
        quant.save(path, {"w": flex.ones(3, dtype="uint8"), "w.scales": flex.ones(3)})
    flex.io.save(path, {"w": q.values, "w.scales": flex.ones(4)})
    with pytest.raises(ValueError, match=r"tensor 'w'.*rank"):
        quant.load(path)
    for shape in (flex.asarray(3), flex.asarray([2.0])):
        flex.io.save(path, {"w": q.values, "w.scales": q.scales, "w.shape": shape})
        with pytest.raises(ValueError, match=r"'w\.shape' is no shape"):
            quant.load(path)


def test_names_of_parts():
    q = quant.quantize(flex.ones((2, 4)), "int4")
    for part in ("shape", "bits", "zero_points"):
        with pytest.raises(ValueError, match=f"w.{part}"):
            quant.save(io.BytesIO(), {"w": q, f"w.{part}": flex.ones(3)})
    # next to unpacked values, `bits` is a tensor like any other
    file, bytes8 = io.BytesIO(), quant.quantize(flex.ones((2, 4)))
    flex.io.save(
        file,
        {"w": bytes8.values, "w.scales": bytes8.scales, "w.bits": flex.ones(3)},
        format="safetensors",
    )
    file.seek(0)
    loaded = quant.load(file)
    assert loaded["w"].equal(bytes8)
    assert loaded["w.bits"].tolist() == [1.0] * 3
    for bits in (flex.ones(1), flex.asarray([3], dtype="uint8"), flex.zeros(1 << 16)):
        file = io.BytesIO()
        parts = {"w": q.values, "w.scales": q.scales, "w.bits": bits}
        flex.io.save(file, {**parts, "w.shape": flex.asarray([2, 4])}, format="safetensors")
        file.seek(0)
        with pytest.raises(ValueError, match=r"w.bits.*uint8") as error:
            quant.load(file)
        assert len(str(error.value)) < 200
