"""How the stubs begin: imports and aliases, one text a file."""

HEADER = """\
# Written by scripts/make_stubs.py.
import builtins
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import EllipsisType, ModuleType, TracebackType
from typing import (
    Any,
    Concatenate,
    Final,
    Literal,
    ParamSpec,
    Protocol,
    Self,
    SupportsIndex,
    TypeAlias,
    TypedDict,
    TypeVar,
    final,
    overload,
)

from flex._results import UniqueAllResult, UniqueCountsResult, UniqueInverseResult

class _Buffer(Protocol):
    def __buffer__(self, flags: int, /) -> memoryview: ...

class _Array(Protocol):
    def __array__(self) -> Any: ...

class _DLPack(Protocol):
    def __dlpack__(self) -> Any: ...

class _ForeignDType(Protocol):
    @property
    def itemsize(self) -> int: ...

_P = ParamSpec("_P")
_Q = ParamSpec("_Q")
_R = TypeVar("_R", covariant=True)
_S = TypeVar("_S")

class _Fused(Protocol[_P, _R]):
    @overload
    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R: ...
    @overload
    def __call__(self, *args: Any, out: Tensor | tuple[Tensor, ...], **kwargs: Any) -> _R: ...
    @overload
    def __get__(self, object: None, owner: type[Any] | None = None, /) -> Self: ...
    @overload
    def __get__(self: _Fused[Concatenate[_S, _Q], _R], object: _S, owner: type[Any] | None = None, /) -> _Fused[_Q, _R]: ...

_Number: TypeAlias = complex | Tensor
_Operand: TypeAlias = Tensor | _Number | _Buffer | _Array | _DLPack
_Nested: TypeAlias = _Operand | Sequence[_Nested]
_Shape: TypeAlias = SupportsIndex | Sequence[SupportsIndex]
_Padding: TypeAlias = Literal["same", "valid"] | SupportsIndex | Sequence[SupportsIndex | Sequence[SupportsIndex]]
_DType: TypeAlias = DType | str | type[Any] | _ForeignDType
_Device: TypeAlias = Literal["cpu"]
_Item: TypeAlias = SupportsIndex | slice[Any, Any, Any] | EllipsisType | _Buffer | _Array | _DLPack | Sequence[Any] | None
_Index: TypeAlias = _Item | tuple[_Item, ...]

"""

NN = """\
# Written by scripts/make_stubs.py.
import builtins
from collections.abc import Sequence
from typing import Any, Literal, Self, SupportsIndex, final

from flex._flex import Tensor, _DType, _Number, _Operand, _Padding, _Shape
from flex._flex import relu as relu
from flex._flex import sigmoid as sigmoid
from flex._flex import silu as silu
from flex._flex import tanh as tanh
from flex._results import ConvPlan
from flex.nn import grad as grad

"""

GRAD = """\
# Written by scripts/make_stubs.py.
import builtins
from collections.abc import Sequence
from typing import Literal, SupportsIndex

from flex._flex import Tensor, _Operand, _Padding, _Shape

"""

FFT = """\
# Written by scripts/make_stubs.py.
from typing import Literal, SupportsIndex

from flex._flex import Tensor, _Device, _DType, _Operand, _Shape

"""

LINALG = """\
# Written by scripts/make_stubs.py.
import builtins
from collections.abc import Iterable
from typing import Literal, SupportsIndex

from flex._flex import Tensor, _DType, _Operand, _Shape
from flex._flex import cross as cross
from flex._flex import matmul as matmul
from flex._flex import matrix_transpose as matrix_transpose
from flex._flex import outer as outer
from flex._flex import tensordot as tensordot
from flex._flex import vecdot as vecdot
from flex._results import (
    EighResult,
    EigResult,
    LstsqResult,
    LUFactorResult,
    LUResult,
    QRResult,
    SlogdetResult,
    SVDResult,
)

class LinAlgError(ValueError): ...

"""

SIGNAL = """\
# Written by scripts/make_stubs.py.
import builtins
from typing import Any, Literal, SupportsIndex

from flex._flex import Tensor, _Device, _DType, _Operand
"""

RANDOM = """\
# Written by scripts/make_stubs.py.
import builtins
from collections.abc import Sequence
from typing import Any, SupportsIndex, final

from flex._flex import Tensor, _DType, _Operand, _Shape

"""

QUANT = """\
# Written by scripts/make_stubs.py.
import builtins
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from types import EllipsisType
from typing import Any, Final, Literal, Self, SupportsIndex, final, overload

from flex._flex import Tensor, _DType, _Operand, _Padding, _Shape
from flex.io import Tensors, _File

"""

INIT = """\
# Written by scripts/make_stubs.py.
from flex import fft as fft
from flex import io as io
from flex import linalg as linalg
from flex import models as models
from flex import nn as nn
from flex import onnx as onnx
from flex import quant as quant
from flex import random as random
from flex import signal as signal
from flex._flex import *
from flex._reduce import reduce as reduce
"""
