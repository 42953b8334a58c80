"""Quantised tensors: small integers and the scales that say what they stand for, and products by them.

>>> weight = flex.quant.quantize(flex.asarray([[1.0, 0.5], [-1.0, 0.0]]), axis=0)
>>> flex.quant.linear(flex.asarray([3.0, 2.0]), weight, inputs="dynamic").shape
(2,)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flex import _flex, io

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flex.io import _File

_own = {name: getattr(_flex._quant, name) for name in dir(_flex._quant) if not name.startswith("_")}
globals().update(_own)  # quant.pyi names them one by one


def save(file: _File, tensors: Mapping[str, Any], metadata: Mapping[str, str] | None = None) -> None:
    """Writes tensors, quantised or not, by name to a safetensors file, as `flex.io.save` does.

    A quantised one has its values by its name, and beside them `name.scales`, `name.zero_points` where there are some, and of int4
    `name.shape`. ValueError where two tensors would have one name; errors of `flex.io.save`.

    >>> import io
    >>> file, q = io.BytesIO(), flex.quant.quantize(flex.asarray([1.0, -2.0]))
    >>> flex.quant.save(file, {"w": q, "bias": flex.zeros(2)})
    >>> _ = file.seek(0)
    >>> flex.quant.load(file)["w"].equal(q)
    True
    """
    parts: dict[str, Any] = {}
    for name, tensor in tensors.items():
        for part, value in _parts(name, tensor):
            if part in parts:
                raise ValueError(f"quant.save: two tensors are named {part!r}")
            parts[part] = value
    io.save(file, parts, metadata, format="safetensors")


def load(file: _File, mmap: bool = True) -> dict[str, Any]:
    """The tensors of a safetensors file by name; what `save` wrote of quantised ones are QTensors again.

    Those are integers of 8 bits beside which there are `name.scales`. mmap: as in `flex.io.load`, whose errors it has; ShapeError or DTypeError
    where parts don't fit.

    >>> import io
    >>> file = io.BytesIO()
    >>> flex.quant.save(file, {"w": flex.quant.quantize(flex.asarray([[1.0, -2.0]]), "int4")})
    >>> _ = file.seek(0)
    >>> flex.quant.load(file)["w"].dtype
    'int4'
    """
    tensors = dict(io.load(file, mmap, format="safetensors"))
    for name in list(tensors):
        values = tensors.get(name)
        if f"{name}.scales" not in tensors or values is None:
            continue
        if values.dtype not in (_flex.int8, _flex.uint8):
            continue
        scales, zero_points, shape = (
            tensors.pop(f"{name}.{part}", None) for part in ("scales", "zero_points", "shape")
        )
        packed = None if shape is None else ("int4", tuple(shape.tolist()))
        dtype, sizes = packed or (None, None)
        tensors[name] = _flex._quant.QTensor(values, scales, zero_points, dtype=dtype, shape=sizes)
    return tensors


def _parts(name: str, tensor: Any) -> list[tuple[str, Any]]:
    """The tensors that one is kept as."""
    if not isinstance(tensor, _flex._quant.QTensor):
        return [(name, tensor)]
    parts = [(name, tensor.values), (f"{name}.scales", tensor.scales)]
    if tensor.zero_points is not None:
        parts.append((f"{name}.zero_points", tensor.zero_points))
    if tensor.dtype == "int4":
        parts.append((f"{name}.shape", _flex.asarray(tensor.shape, dtype=_flex.int64)))
    return parts


__all__ = sorted([*_own, "load", "save"])
