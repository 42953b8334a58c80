#!/usr/bin/env python3
"""Writes the stubs of python/flex from the module: names and parameters are the module's own, types come from the tables below.

Run it after a function was added or changed; `python -m mypy.stubtest flex` checks the result against the module.
"""

import inspect
import re
from pathlib import Path

from flex import _flex

TARGET = Path(__file__).resolve().parent.parent / "python" / "flex"

HEADER = """\
# Written by scripts/make_stubs.py.
import builtins
import sys
from collections.abc import Iterable, Iterator, Sequence
from types import EllipsisType, ModuleType, TracebackType
from typing import Any, Final, Literal, Protocol, Self, SupportsIndex, TypeAlias, final

from flex._results import UniqueAllResult, UniqueCountsResult, UniqueInverseResult

class _Buffer(Protocol):
    def __buffer__(self, flags: int, /) -> memoryview: ...

class _Array(Protocol):
    def __array__(self) -> Any: ...

class _DLPack(Protocol):
    def __dlpack__(self) -> Any: ...

_Number: TypeAlias = complex
_Operand: TypeAlias = Tensor | _Number | _Buffer | _Array | _DLPack
_Nested: TypeAlias = _Operand | Sequence[_Nested]
_Shape: TypeAlias = SupportsIndex | Sequence[SupportsIndex]
_DType: TypeAlias = DType | str | type[Any] | Any
_Device: TypeAlias = Literal["cpu"]
_Item: TypeAlias = SupportsIndex | slice[Any, Any, Any] | EllipsisType | _Buffer | _Array | _DLPack | Sequence[Any] | None
_Index: TypeAlias = _Item | tuple[_Item, ...]

"""

# what parameters take, by name; by function and name where functions differ
PARAMETERS = {
    "activation": 'Literal["relu", "gelu", "gelu_tanh", "silu"] | None',
    "append": "_Operand | None",
    "approximate": 'Literal["none", "tanh"]',
    "arrays": "Iterable[_Operand]",
    "arrays_and_dtypes": "_Operand | _DType",
    "attn_mask": "_Operand | None",
    "axes": "_Shape",
    "axis": "SupportsIndex",
    "axis1": "SupportsIndex",
    "axis2": "SupportsIndex",
    "bias": "_Operand | None",
    "bytes": "bytes",
    "chunks": "SupportsIndex",
    "copy": "bool | None",
    "correction": "float",
    "descending": "bool",
    "destination": "_Shape",
    "device": "_Device | None",
    "dtype": "_DType | None",
    "enable_gqa": "bool",
    "endpoint": "bool",
    "eps": "float",
    "fill_value": "_Number",
    "from_": "_Operand | _DType",
    "include_initial": "bool",
    "indexing": 'Literal["xy", "ij"]',
    "invert": "bool",
    "is_causal": "bool",
    "k": "SupportsIndex",
    "keepdims": "bool",
    "kind": "str | _DType | tuple[str | _DType, ...]",
    "largest": "bool",
    "max": "_Operand | None",
    "metadata": "Mapping[str, str]",
    "min": "_Operand | None",
    "mmap": "bool",
    "mode": 'Literal["set", "add", "multiply", "max", "min"]',
    "n": "SupportsIndex",
    "n_cols": "SupportsIndex | None",
    "n_rows": "SupportsIndex",
    "normalized_shape": "_Shape",
    "num": "SupportsIndex",
    "obj": "_Nested",
    "offsets": "_Shape",
    "on": "bool",
    "pad_width": "SupportsIndex | Sequence[SupportsIndex | Sequence[SupportsIndex]]",
    "path": "str",
    "prepend": "_Operand | None",
    "repeats": "SupportsIndex | Sequence[int] | _Operand",
    "repetitions": "_Shape",
    "residual": "_Operand | None",
    "scale": "float | None",
    "shape": "_Shape",
    "shapes": "_Shape",
    "shift": "_Shape",
    "side": 'Literal["left", "right"]',
    "size": "SupportsIndex",
    "sizes": "_Shape",
    "sorted": "bool",
    "sorter": "_Operand | None",
    "source": "_Shape",
    "stable": "bool",
    "start": "_Number",
    "state": "Any",
    "step": "_Number",
    "stop": "_Number",
    "tensors": "Mapping[str, Any]",
    "to": "_DType",
    "type": "_Operand | _DType",
    "value": "_Number",
    "weight": "_Operand",
}
AXES = [
    "all",
    "any",
    "count_nonzero",
    "expand_dims",
    "flip",
    "logsumexp",
    "max",
    "mean",
    "min",
    "prod",
    "roll",
    "squeeze",
    "std",
    "sum",
    "var",
]
OPTIONAL_AXIS = [
    "argmax",
    "argmin",
    "concat",
    "cumulative_max",
    "cumulative_min",
    "cumulative_prod",
    "cumulative_sum",
    "max_with_indices",
    "min_with_indices",
    "repeat",
    "take",
]
SPECIAL = {
    ("arange", "stop"): "_Number | None",
    ("astype", "copy"): "bool",
    ("astype", "dtype"): "_DType",
    ("broadcast_arrays", "arrays"): "_Operand",
    ("from_dlpack", "x"): "_DLPack",
    ("isdtype", "dtype"): "_DType",
    ("layer_norm", "weight"): "_Operand | None",
    ("meshgrid", "arrays"): "_Operand",
    ("rms_norm", "eps"): "float | None",
    ("rms_norm", "weight"): "_Operand | None",
    ("scaled_dot_product_attention", "value"): "_Operand",
    ("tensordot", "axes"): "SupportsIndex | tuple[_Shape, _Shape]",
    ("transpose", "axes"): "_Shape | None",
    ("unfold", "step"): "SupportsIndex",
    ("varlen_attention", "value"): "_Operand",
    **{(name, "axis"): "_Shape | None" for name in AXES},
    ("expand_dims", "axis"): "_Shape",
    **{(name, "axis"): "SupportsIndex | None" for name in OPTIONAL_AXIS},
}
PAIR = "tuple[Tensor, Tensor]"
RETURNS = {
    "__array_namespace_info__": "_Info",
    "_rebuild": "Tensor",
    "broadcast_arrays": "tuple[Tensor, ...]",
    "broadcast_shapes": "tuple[int, ...]",
    "can_cast": "bool",
    "chunk": "tuple[Tensor, ...]",
    "empty_cache": "None",
    "finfo": "_FloatInfo",
    "get_num_threads": "int",
    "iinfo": "_IntInfo",
    "isdtype": "bool",
    "load_safetensors": "dict[str, Tensor]",
    "max_with_indices": PAIR,
    "memory_stats": "dict[str, int | None]",
    "meshgrid": "tuple[Tensor, ...]",
    "min_with_indices": PAIR,
    "nonzero": "tuple[Tensor, ...]",
    "npy_bytes": "bytes",
    "result_type": "DType",
    "safetensors_metadata": "dict[str, str]",
    "save_npy": "None",
    "save_safetensors": "None",
    "set_num_threads": "None",
    "set_weight_packing": "None",
    "show_config": "Any",
    "sort_with_indices": PAIR,
    "split": "tuple[Tensor, ...]",
    "topk": PAIR,
    "unique_all": "UniqueAllResult",
    "unique_counts": "UniqueCountsResult",
    "unique_inverse": "UniqueInverseResult",
    "unstack": "tuple[Tensor, ...]",
}


def parameters(name: str, signature: inspect.Signature, method: bool = False) -> str:
    """The parameters with their types; as a method, the first is self."""
    found = list(signature.parameters.values())
    parts, kinds = [], [p.kind for p in found]
    for i, p in enumerate(found):
        if p.kind is p.KEYWORD_ONLY and p.VAR_POSITIONAL not in kinds[:i] and p.KEYWORD_ONLY not in kinds[:i]:
            parts.append("*")
        if method and i == 0:
            parts.append("self" if len(p.name) == 1 else p.name)  # stubtest knows the names of others
        else:
            type_ = SPECIAL.get((name, p.name), PARAMETERS.get(p.name, "_Operand"))
            star = "*" if p.kind is p.VAR_POSITIONAL else ""
            parts.append(f"{star}{p.name}: {type_}" + ("" if p.default is p.empty else f" = {p.default!r}"))
        if p.kind is p.POSITIONAL_ONLY and p.POSITIONAL_ONLY not in kinds[i + 1 :] and not (method and i == 0):
            parts.append("/")
    return ", ".join(parts)


def function(name: str, value: object, indent: str = "", method: bool = False) -> str:
    returns = RETURNS.get(name, "Tensor")
    return f"{indent}def {name}({parameters(name, inspect.signature(value), method)}) -> {returns}: ...\n"


def binary(names: str, returns: str, other: str = "_Operand") -> str:
    return "".join(f"    def __{name}__(self, other: {other}, /) -> {returns}: ...\n" for name in names.split())


def tensor() -> str:
    """The class: its own members written out, the functions that are methods from the module."""
    own = """\
@final
class Tensor:
    @property
    def T(self) -> Tensor: ...
    @property
    def mT(self) -> Tensor: ...
    @property
    def device(self) -> Literal["cpu"]: ...
    @property
    def dtype(self) -> DType: ...
    @property
    def itemsize(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def ndim(self) -> int: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def size(self) -> int: ...
    @property
    def strides(self) -> tuple[int, ...]: ...
    def astype(self, dtype: _DType, /, *, copy: bool = True, device: _Device | None = None) -> Tensor: ...
    def contiguous(self) -> Tensor: ...
    def copy(self) -> Tensor: ...
    def is_contiguous(self) -> bool: ...
    def item(self) -> Any: ...
    def numpy(self) -> Any: ...
    def reshape(self, *shape: _Shape, copy: bool | None = None) -> Tensor: ...
    def to_device(self, device: _Device, /, *, stream: None = None, copy: bool | None = None) -> Tensor: ...
    def tolist(self) -> Any: ...
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any: ...
    def __array_namespace__(self, *, api_version: str | None = None) -> ModuleType: ...
    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **arguments: Any) -> Any: ...
    def __bool__(self) -> bool: ...
    if sys.version_info >= (3, 12):
        def __buffer__(self, flags: int, /) -> memoryview: ...

    def __complex__(self) -> complex: ...
    def __contains__(self, value: _Operand, /) -> bool: ...
    def __copy__(self) -> Tensor: ...
    def __deepcopy__(self, _memo: Any, /) -> Tensor: ...
    def __delitem__(self, key: Any, /) -> None: ...
    def __dlpack__(
        self,
        *,
        stream: None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def __float__(self) -> float: ...
    def __format__(self, spec: str, /) -> str: ...
    def __getitem__(self, key: _Index, /) -> Tensor: ...
    def __index__(self) -> int: ...
    def __int__(self) -> int: ...
    def __iter__(self) -> Iterator[Tensor]: ...
    def __len__(self) -> int: ...
    def __reduce_ex__(self, protocol: SupportsIndex, /) -> Any: ...
    def __reversed__(self) -> Iterator[Tensor]: ...
    def __setitem__(self, key: _Index, value: _Nested, /) -> None: ...
    __hash__: Final[None]  # type: ignore[assignment]
"""
    arithmetic = "add sub mul truediv floordiv mod and or xor lshift rshift"
    if hasattr(_flex.Tensor, "__matmul__"):
        arithmetic += " matmul"
    names = arithmetic.split()
    own += binary(arithmetic, "Tensor") + binary(" ".join(f"r{n}" for n in names), "Tensor")
    own += binary(" ".join(f"i{n}" for n in names if hasattr(_flex.Tensor, f"__i{n}__")), "Self")
    own += "".join(f"    def __{n}__(self, other: _Operand, mod: None = None, /) -> Tensor: ...\n" for n in ("pow", "rpow"))
    own += "    def __ipow__(self, other: _Operand, /) -> Self: ...  # type: ignore[misc]\n"
    own += binary("divmod rdivmod", PAIR) + binary("lt le gt ge", "Tensor")
    own += "    def __eq__(self, other: object, /) -> Tensor: ...  # type: ignore[override]\n"
    own += "    def __ne__(self, other: object, /) -> Tensor: ...  # type: ignore[override]\n"
    own += "".join(f"    def __{n}__(self) -> Tensor: ...\n" for n in ("abs", "invert", "neg", "pos"))
    shared = [n for n in dir(_flex.Tensor) if getattr(_flex.Tensor, n) is getattr(_flex, n, None)]
    return own + "".join(function(n, getattr(_flex, n), "    ", method=True) for n in shared)


CLASSES = """\
class ShapeError(ValueError): ...
class DTypeError(TypeError): ...
class AxisError(ShapeError, IndexError): ...
class SubscriptError(ShapeError, IndexError): ...

@final
class DType:
    def __new__(cls, dtype: _DType, /) -> Self: ...
    @property
    def name(self) -> str: ...
    @property
    def itemsize(self) -> int: ...
    @property
    def kind(self) -> str: ...
    @property
    def dtype(self) -> Any: ...
    @property
    def __numpy_dtype__(self) -> Any: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __copy__(self) -> Self: ...
    def __deepcopy__(self, _memo: Any, /) -> Self: ...

class _FloatInfo(Protocol):
    @property
    def bits(self) -> int: ...
    @property
    def eps(self) -> float: ...
    @property
    def max(self) -> float: ...
    @property
    def min(self) -> float: ...
    @property
    def smallest_normal(self) -> float: ...
    @property
    def dtype(self) -> DType: ...

class _IntInfo(Protocol):
    @property
    def bits(self) -> int: ...
    @property
    def max(self) -> int: ...
    @property
    def min(self) -> int: ...
    @property
    def dtype(self) -> DType: ...

class _Info(Protocol):
    def capabilities(self) -> dict[str, Any]: ...
    def default_device(self) -> str: ...
    def default_dtypes(self, *, device: _Device | None = None) -> dict[str, DType]: ...
    def devices(self) -> list[str]: ...
    def dtypes(self, *, device: _Device | None = None, kind: Any = None) -> dict[str, DType]: ...

@final
class threads:
    def __new__(cls, n: int, /) -> Self: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self, _type: type[BaseException] | None, _value: BaseException | None, _traceback: TracebackType | None, /
    ) -> None: ...

"""


NN = """\
# Written by scripts/make_stubs.py.
from typing import Literal, SupportsIndex

from flex._flex import Tensor, _DType, _Operand, _Shape
from flex._flex import relu as relu
from flex._flex import sigmoid as sigmoid
from flex._flex import silu as silu

"""


INIT = """\
# Written by scripts/make_stubs.py.
from flex import io as io
from flex import linalg as linalg
from flex import models as models
from flex import nn as nn
from flex._flex import *
"""


def write(file: str, text: str, names: list[str]) -> None:
    exported = "".join(f'    "{name}",\n' for name in names)
    (TARGET / file).write_text(f"{text}\n__all__ = [\n{exported}]\n", encoding="utf-8")


def main() -> None:
    text = HEADER + CLASSES + tensor() + "\n"
    text += "_io: ModuleType\n_nn: ModuleType\n\n"
    for name in _flex.__all__:
        value = getattr(_flex, name)
        if isinstance(value, _flex.DType):
            text += f"{name}: Final[DType]\n"
        elif inspect.isclass(value):
            continue
        elif callable(value):
            text += function(name, value)
        else:
            text += f"{name}: Final[{type(value).__name__ if value is not None else 'None'}]\n"
    # the module has a dtype of that name
    text = re.sub(r"(?<![\w.])bool\b(?!: Final)", "builtins.bool", text)
    write("_flex.pyi", text, _flex.__all__)

    from flex import nn

    write("__init__.pyi", INIT, [*_flex.__all__, "io", "linalg", "models", "nn"])
    own = [name for name in nn.__all__ if hasattr(_flex._nn, name)]
    write("nn.pyi", NN + "".join(function(name, getattr(nn, name)) for name in own), nn.__all__)


if __name__ == "__main__":
    main()
