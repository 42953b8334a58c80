"""Quantised tensors, small integers with scales, and matrix products with them.

>>> weight = flex.quant.quantize(flex.asarray([[1.0, 0.5], [-1.0, 0.0]]), axis=0)
>>> flex.quant.linear(flex.asarray([3.0, 2.0]), weight, inputs="dynamic").shape
(2,)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flex import _flex, _missing, io

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from flex.io import Tensors, _File

_own = {name: getattr(_flex._quant, name) for name in dir(_flex._quant) if not name.startswith("_")}
globals().update(_own)  # quant.pyi lists the names
_restore = _flex._quant._restore  # pickles refer to it


def save(
    file: _File, tensors: Mapping[str, Any], metadata: Mapping[str, str] | None = None
) -> None:
    """Writes tensors, quantised or not, by name to a safetensors file, as `flex.io.save` does.

    A quantised tensor is stored as its values under its name, `name.scales`, `name.zero_points` if it has any, `name.shape` for int4 and
    int2, and `name.bits` for int2. ValueError if two tensors would have the same name or be read as one; errors as for `flex.io.save`.

    >>> import io
    >>> file, q = io.BytesIO(), flex.quant.quantize(flex.asarray([1.0, -2.0]))
    >>> flex.quant.save(file, {"w": q, "bias": flex.zeros(2)})
    >>> _ = file.seek(0)
    >>> flex.quant.load(file)["w"].equal(q)
    True
    """
    if not hasattr(tensors, "items"):
        kind = type(tensors).__name__
        raise TypeError(f"quant.save: tensors: expected a mapping of names to tensors, got {kind}")
    if metadata is not None and not hasattr(metadata, "items"):
        kind = type(metadata).__name__
        raise TypeError(f"quant.save: metadata: expected a mapping of strings, got {kind}")
    parts: dict[str, Any] = {}
    for name, tensor in tensors.items():
        for part, value in _parts(name, tensor):
            if part in parts:
                raise ValueError(f"quant.save: two tensors are named {part!r}")
            parts[part] = value
    for name, tensor in tensors.items():
        if isinstance(tensor, _flex._quant.QTensor):
            for part in ("zero_points", "shape", "bits"):
                if f"{name}.{part}" in tensors:
                    raise ValueError(
                        f"quant.save: '{name}.{part}' would be read as a part of the quantised {name!r}"
                    )
            continue
        if f"{name}.scales" not in parts:
            continue
        if _flex.asarray(tensor).dtype in (_flex.int8, _flex.uint8):
            raise ValueError(
                f"quant.save: {name!r} and '{name}.scales' would be read as one quantised tensor"
            )
    io.save(file, parts, metadata, format="safetensors")


def load(file: _File, mmap: bool = True) -> dict[str, Any]:
    """The tensors of a safetensors file by name; quantised tensors that `save` wrote are QTensors again.

    A tensor of 8-bit integers is quantised if the file has `name.scales`. mmap: as for `flex.io.load`, and so are errors; ShapeError or
    DTypeError if the parts do not match.

    >>> import io
    >>> file = io.BytesIO()
    >>> flex.quant.save(file, {"w": flex.quant.quantize(flex.asarray([[1.0, -2.0]]), "int4")})
    >>> _ = file.seek(0)
    >>> flex.quant.load(file)["w"].dtype
    'int4'
    """
    try:
        tensors = dict(io.load(file, mmap, format="safetensors"))
    except ValueError as error:
        path = isinstance(file, (str, bytes)) or hasattr(file, "__fspath__")
        if path and (reader := io.other_reader(file)):
            raise ValueError(f"quant.load: {error}: {reader}") from None
        raise
    for name in list(tensors):
        values = tensors.get(name)
        if f"{name}.scales" not in tensors or values is None:
            continue
        if values.dtype not in (_flex.int8, _flex.uint8):
            continue
        scales, zero_points, shape = (
            tensors.pop(f"{name}.{part}", None) for part in ("scales", "zero_points", "shape")
        )
        dtype, sizes = None, None
        if shape is not None:
            if shape.ndim != 1 or shape.dtype != _flex.int64:
                found = f"{list(shape.shape)} {shape.dtype}"
                raise _flex.ShapeError(
                    f"quant.load: '{name}.shape' is no shape: one axis of int64, got {found}"
                )
            dtype = "int4"
            bits = tensors.pop(f"{name}.bits", None)
            if bits is not None:
                if bits.shape != (1,) or bits.dtype != _flex.uint8 or bits.tolist() != [2]:
                    found = f"{list(bits.shape)} {bits.dtype}"
                    raise ValueError(f"quant.load: '{name}.bits' must be [2] of uint8, got {found}")
                dtype = "int2"
            sizes = tuple(shape.tolist())
        try:
            tensors[name] = _flex._quant.QTensor(
                values, scales, zero_points, dtype=dtype, shape=sizes
            )
        except (ValueError, TypeError) as error:
            raise type(error)(f"quant.load: tensor {name!r}: {error}") from None
    return tensors


def load_gguf(
    file: str | bytes | PathLike[str], mmap: bool = True
) -> tuple[Tensors, dict[str, Any]]:
    """The tensors of a GGUF file (version 2 or 3), or of its bytes, by name, and its metadata.

    Q4_0, Q8_0 and Q6_K are QTensors with the file's own numbers: int4 and int8 in blocks of 32 with float16 scales, and int8 in blocks of
    16 with float32 scales. Q4_K, whose blocks have minima, becomes float32; float and integer tensors keep their dtype. Other kinds are in
    `others`, as `flex.io.Opaque` of their blocks. mmap: plain tensors are views of the mapped file, which nobody may change meanwhile, as
    for `flex.io.load`; blocks are always unpacked. ValueError if the file does not conform to the format; OSError if it cannot be read.

    >>> tensors, metadata = flex.quant.load_gguf(b"GGUF" + bytes([3]) + bytes(19))
    >>> len(tensors), metadata
    (0, {})
    """
    if not isinstance(file, (str, bytes)) and not hasattr(file, "__fspath__"):
        kind = type(file).__name__
        raise TypeError(f"quant.load_gguf: file: expected a path or bytes, got {kind}")
    found, others, metadata = _flex._quant._load_gguf(file, mmap)
    opaque = {
        name: io.Opaque(f"GGML_{kind}", shape, data) for name, (kind, shape, data) in others.items()
    }
    return io.Tensors(found, opaque), metadata


def _parts(name: str, tensor: Any) -> list[tuple[str, Any]]:
    """The tensors that a tensor is stored as."""
    if not isinstance(tensor, _flex._quant.QTensor):
        return [(name, tensor)]
    parts = [(name, tensor.values), (f"{name}.scales", tensor.scales)]
    if tensor.zero_points is not None:
        parts.append((f"{name}.zero_points", tensor.zero_points))
    if tensor.dtype in ("int4", "int2"):
        parts.append((f"{name}.shape", _flex.asarray(tensor.shape, dtype=_flex.int64)))
    if tensor.dtype == "int2":
        parts.append((f"{name}.bits", _flex.asarray([2], dtype=_flex.uint8)))
    return parts


__getattr__ = _missing.of_module(__name__)
__all__ = sorted([*_own, "load", "load_gguf", "save"])
