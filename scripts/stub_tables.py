"""Type information that scripts/make_stubs.py can't read from the module: types of parameters and results by name, and classes."""

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

# types of parameters by name, and by function and name where functions differ
PARAMETERS = {
    "activation": 'Literal["relu", "gelu", "gelu_tanh", "silu", "sigmoid", "tanh", "relu6", '
    '"selu", "logsigmoid", "mish", "hardsigmoid", "hardswish", "softsign", "tanhshrink"] | None',
    "align": 'Literal["upper_left", "lower_right"] | None',
    "align_corners": "bool | None",
    "antialias": "bool",
    "alpha": "_Operand",
    "append": "_Operand | None",
    "approximate": 'Literal["none", "tanh"]',
    "arrays": "Iterable[_Operand]",
    "arrays_and_dtypes": "_Operand | _DType",
    "attn_mask": "_Operand | None",
    "axes": "_Shape",
    "axis": "SupportsIndex",
    "axis1": "SupportsIndex",
    "axis2": "SupportsIndex",
    "base": "float",
    "b_hh": "_Operand | None",
    "b_ih": "_Operand | None",
    "batch_first": "bool",
    "beta": "_Operand",
    "bias": "_Operand | None",
    "bidirectional": "bool",
    "blank": "SupportsIndex",
    "buffer": "_Buffer",
    "bytes": "bytes",
    "ceil_mode": "bool",
    "chunks": "SupportsIndex",
    "compute_mode": 'Literal["use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist"]',
    "copy": "bool | None",
    "correction": "float",
    "count": "SupportsIndex",
    "count_include_pad": "bool",
    "ddof": "float | None",
    "delta": "float",
    "descending": "bool",
    "destination": "_Shape",
    "device": "_Device | None",
    "dilation": "_Shape",
    "dropout_p": "float",
    "divisor_override": "SupportsIndex | None",
    "downscale_factor": "SupportsIndex",
    "dim": "SupportsIndex | None",
    "dtype": "_DType | None",
    "enable_gqa": "bool",
    "equal_nan": "bool",
    "rtol": "float",
    "atol": "float",
    "endpoint": "bool",
    "eps": "float",
    "fill_value": "_Number",
    "from_": "_Operand | _DType",
    "grid": "_Operand",
    "full": "bool",
    "groups": "SupportsIndex",
    "hard": "bool",
    "hx": "_Operand | None",
    "ignore_index": "SupportsIndex",
    "include_initial": "bool",
    "include_last_offset": "bool",
    "indexing": 'Literal["xy", "ij"]',
    "interleaved": "bool",
    "input_lengths": "_Shape",
    "invert": "bool",
    "is_causal": "bool",
    "k": "SupportsIndex",
    "keepdim": "bool",
    "keepdims": "bool",
    "kernel_size": "_Shape",
    "kind": "str | _DType | tuple[str | _DType, ...]",
    "label_smoothing": "float",
    "lambd": "_Operand",
    "largest": "bool",
    "length": "SupportsIndex",
    "lengths": "_Shape | None",
    "log_input": "bool",
    "log_target": "bool",
    "lower": "float",
    "margin": "float",
    "max": "_Operand | None",
    "max_val": "float",
    "metadata": "Mapping[str, str]",
    "min": "_Operand | None",
    "min_val": "float",
    "mmap": "bool",
    "mode": 'Literal["set", "add", "multiply", "max", "min"]',
    "momentum": "float",
    "n": "SupportsIndex",
    "n_cols": "SupportsIndex | None",
    "n_rows": "SupportsIndex",
    "norm_type": "float",
    "negative_slope": "_Operand",
    "normalized_shape": "_Shape",
    "num_embeddings": "SupportsIndex",
    "num": "SupportsIndex",
    "num_classes": "SupportsIndex",
    "num_groups": "SupportsIndex",
    "num_layers": "SupportsIndex",
    "obj": "_Nested",
    "offset": "SupportsIndex",
    "offsets": "_Shape",
    "on": "bool",
    "out": "Any",
    "output_size": "_Shape | None",
    "pad": "_Shape",
    "output_padding": "_Shape",
    "padding_mode": 'Literal["zeros", "border", "reflection"]',
    "positions": "_Operand | None",
    "precise": "bool",
    "recompute_scale_factor": "bool | None",
    "return_indices": "bool",
    "scaling": "float",
    "scale_factor": "float | Sequence[float] | None",
    "p": "float",
    "pad_width": "SupportsIndex | Sequence[SupportsIndex | Sequence[SupportsIndex]]",
    "padding": "_Padding",
    "padding_idx": "SupportsIndex | None",
    "path": "str",
    "per_sample_weights": "_Operand | None",
    "pos_weight": "_Operand | None",
    "prepend": "_Operand | None",
    "reduction": 'Literal["none", "mean", "sum"]',
    "repeats": "SupportsIndex | Sequence[int] | _Operand",
    "repetitions": "_Shape",
    "residual": "_Operand | None",
    "running_mean": "_Operand | None",
    "running_var": "_Operand | None",
    "scale": "float | None",
    "seed": "SupportsIndex | None",
    "shape": "_Shape",
    "shapes": "_Shape",
    "shift": "_Shape",
    "side": 'Literal["left", "right"]',
    "size": "SupportsIndex",
    "sizes": "_Shape",
    "softcap": "float | None",
    "sorted": "bool",
    "sorter": "_Operand | None",
    "source": "_Shape",
    "stable": "bool",
    "start": "_Number",
    "state": "Any",
    "step": "_Number",
    "stop": "_Number",
    "stride": "_Shape",
    "swap": "bool",
    "target_lengths": "_Shape",
    "tau": "float",
    "tensors": "Mapping[str, Any]",
    "theta": "_Operand",
    "threshold": "_Operand",
    "to": "_DType",
    "training": "bool",
    "type": "_Operand | _DType",
    "upscale_factor": "SupportsIndex",
    "window": "_Shape | None",
    "weight_shape": "_Shape",
    "x_shape": "_Shape",
    "upper": "float",
    "use_input_stats": "bool",
    "value": "_Number",
    "weight": "_Operand",
    "weights": "Sequence[_Operand]",
    "zero_infinity": "bool",
    # transforms and signals
    "center": "bool",
    "d": "float",
    "fmax": "float | None",
    "fmin": "float",
    "hop_length": "SupportsIndex | None",
    "htk": "bool",
    "method": 'Literal["auto", "direct", "fft"]',
    "n_fft": "SupportsIndex",
    "n_mels": "SupportsIndex",
    "norm": 'Literal["backward", "ortho", "forward"]',
    "normalized": "bool",
    "onesided": "bool | None",
    "pad_mode": 'Literal["reflect", "constant", "replicate", "circular"]',
    "s": "_Shape | None",
    "sample_rate": "float",
    "sym": "bool",
    "win_length": "SupportsIndex | None",
}
AXES = [
    "all",
    "any",
    "count_nonzero",
    "median",
    "percentile",
    "ptp",
    "quantile",
    "nanmax",
    "nanmean",
    "nanmin",
    "nanstd",
    "nansum",
    "nanvar",
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
MAX_POOLS = [f"{kind}max_pool{rank}d" for kind in ("", "adaptive_") for rank in (1, 2, 3)]
POOLS = [f"{kind}pool{rank}d" for kind in ("max_", "avg_", "lp_", "max_un") for rank in (1, 2, 3)]
LINES = ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft", "dct", "idct"]
FIELDS = [f"{kind}fft{rank}" for kind in ("", "i", "r", "ir") for rank in ("2", "n")]
SPECIAL = {
    **{(name, "n"): "SupportsIndex | None" for name in LINES},
    **{(name, "axes"): "_Shape | None" for name in [*FIELDS, "fftshift", "ifftshift"]},
    **{(name, "type"): "Literal[1, 2, 3, 4]" for name in ("dct", "idct")},
    **{(name, "window"): "_Operand | None" for name in ("stft", "istft")},
    **{
        (name, "mode"): 'Literal["full", "same", "valid"]'
        for name in ("convolve", "correlate", "fftconvolve")
    },
    **{(name, "rtol"): "_Operand | None" for name in ("linalg.matrix_rank", "linalg.pinv")},
    ("linalg.qr", "mode"): 'Literal["reduced", "complete"]',
    ("linalg.cholesky", "upper"): "bool",
    ("linalg.svd", "full_matrices"): "bool",
    ("linalg.vector_norm", "ord"): "float",
    ("linalg.vector_norm", "axis"): "_Shape | None",
    ("linalg.matrix_norm", "ord"): 'float | Literal["fro", "nuc"]',
    ("linalg.matrix_power", "n"): "SupportsIndex",
    ("linalg.diagonal", "offset"): "SupportsIndex",
    ("linalg.trace", "offset"): "SupportsIndex",
    ("linalg.trace", "dtype"): "_DType | None",
    ("gaussian", "std"): "float",
    ("istft", "length"): "SupportsIndex | None",
    ("kaiser", "beta"): "float",
    ("mel_filters", "norm"): 'Literal["slaney"] | None',
    ("affine_grid", "size"): "_Shape",
    ("random.default_rng", "seed"): "SupportsIndex | Generator | None",
    ("random.rand", "size"): "SupportsIndex | Sequence[SupportsIndex]",
    ("random.randint", "high"): "_Operand | None",
    ("random.randint", "size"): "_Shape | None",
    ("random.randn", "size"): "SupportsIndex | Sequence[SupportsIndex]",
    ("quant.quantize", "dtype"): 'Literal["int8", "uint8", "int4", "int2"]',
    ("quant.quantize", "axis"): "SupportsIndex | None",
    ("quant.quantize", "block"): "SupportsIndex | None",
    ("quant.quantize", "symmetric"): "bool | None",
    ("quant.quantize", "scale_dtype"): "_DType | None",
    ("quant.quantize", "calibration"): 'Literal["minmax", "percentile", "mse"]',
    ("quant.quantize", "percentile"): "float",
    ("quant.quantize", "scale"): "_Operand | None",
    ("quant.quantize", "zero_point"): "_Operand | None",
    ("quant.linear", "weight"): "QTensor",
    ("quant.linear", "bias"): "_Operand | None",
    ("quant.linear", "inputs"): 'Literal["float", "dynamic", "dynamic_symmetric", "static"]',
    ("quant.linear", "scale"): "float | None",
    ("quant.linear", "zero_point"): "SupportsIndex | None",
    ("quant.linear", "output"): 'Literal["int8", "uint8"] | None',
    ("quant.linear", "out_scale"): "float | None",
    ("quant.linear", "out_zero_point"): "SupportsIndex | None",
    ("quant.conv2d", "weight"): "QTensor",
    ("quant.conv2d", "bias"): "_Operand | None",
    ("quant.conv2d", "inputs"): 'Literal["float", "dynamic", "dynamic_symmetric", "static"]',
    ("quant.conv2d", "scale"): "float | None",
    ("quant.conv2d", "zero_point"): "SupportsIndex | None",
    ("quant.conv2d", "output"): 'Literal["int8", "uint8"] | None',
    ("quant.conv2d", "out_scale"): "float | None",
    ("quant.conv2d", "out_zero_point"): "SupportsIndex | None",
    ("quant.matmul_integer", "a_zero_point"): "_Operand | None",
    ("quant.matmul_integer", "b_zero_point"): "_Operand | None",
    ("quant.load", "file"): "_File",
    ("quant.load", "mmap"): "bool",
    ("quant.load_gguf", "file"): "str | bytes | PathLike[str]",
    ("quant.load_gguf", "mmap"): "bool",
    ("quant.save", "file"): "_File",
    ("quant.save", "tensors"): "Mapping[str, Any]",
    ("quant.save", "metadata"): "Mapping[str, str] | None",
    ("quant.concat", "tensors"): "Sequence[QTensor]",
    ("quant.concat", "axis"): "SupportsIndex",
    ("batch_norm", "weight"): "_Operand | None",
    ("binary_cross_entropy", "weight"): "_Operand | None",
    ("binary_cross_entropy_with_logits", "weight"): "_Operand | None",
    ("cross_entropy", "weight"): "_Operand | None",
    ("group_norm", "weight"): "_Operand | None",
    ("instance_norm", "weight"): "_Operand | None",
    ("nll_loss", "weight"): "_Operand | None",
    **{
        (name, parameter): type_
        for name in ("einsum", "einsum_path")
        for parameter, type_ in (
            ("subscripts", "str | _Operand"),
            ("operands", "_Operand | Sequence[SupportsIndex | EllipsisType]"),
            ("optimize", "bool | str | Sequence[Any]"),
        )
    },
    **{(f"atleast_{n}d", "arrays"): "_Operand" for n in (1, 2, 3)},
    **{(name, "indices_or_sections"): "_Shape" for name in ("array_split", "hsplit", "vsplit")},
    ("rot90", "axes"): "tuple[SupportsIndex, SupportsIndex]",
    **{
        (name, parameter): type_
        for name in ("percentile", "quantile")
        for parameter, type_ in (
            ("q", "float | Tensor | _Array | Sequence[float]"),
            ("method", 'Literal["linear", "lower", "higher", "nearest", "midpoint"]'),
        )
    },
    ("nan_to_num", "nan"): "float",
    **{("nan_to_num", name): "float | None" for name in ("posinf", "neginf")},
    ("embedding_bag", "mode"): 'Literal["mean", "sum", "max"]',
    ("embedding_bag", "offsets"): "_Operand | None",
    ("gumbel_softmax", "seed"): "SupportsIndex",
    ("kl_div", "reduction"): 'Literal["none", "mean", "sum", "batchmean"]',
    ("local_response_norm", "alpha"): "float",
    ("local_response_norm", "beta"): "float",
    ("local_response_norm", "k"): "float",
    ("lstm", "hx"): "tuple[_Operand, _Operand] | None",
    ("lstm_cell", "hx"): "tuple[_Operand, _Operand] | None",
    ("smooth_l1_loss", "beta"): "float",
    ("threshold", "value"): "_Operand",
    ("arange", "stop"): "_Number | None",
    ("astype", "copy"): "bool",
    ("astype", "dtype"): "_DType",
    ("broadcast_arrays", "arrays"): "_Operand",
    ("from_dlpack", "x"): "_DLPack",
    ("frombuffer", "dtype"): "_DType",
    ("grid_sample", "mode"): 'Literal["bilinear", "nearest", "bicubic"]',
    (
        "interpolate",
        "mode",
    ): 'Literal["nearest", "nearest-exact", "linear", "bilinear", "bicubic", "trilinear", "area", "lanczos3"]',
    ("interpolate", "size"): "_Shape | None",
    ("isdtype", "dtype"): "_DType",
    ("layer_norm", "weight"): "_Operand | None",
    ("meshgrid", "arrays"): "_Operand",
    ("fold", "padding"): "_Shape",
    ("pad", "value"): "_Number | None",
    ("pad", "mode"): 'Literal["constant", "reflect", "replicate", "circular"]',
    ("rms_norm", "eps"): "float | None",
    ("rms_norm", "weight"): "_Operand | None",
    ("scaled_dot_product_attention", "value"): "_Operand",
    ("scaled_dot_product_attention_mask", "attn_mask"): "_Operand",
    ("scaled_dot_product_attention_mask", "value"): "_Operand",
    ("tensordot", "axes"): "SupportsIndex | tuple[_Shape, _Shape]",
    ("transpose", "axes"): "_Shape | None",
    ("unfold", "step"): "SupportsIndex",
    ("unfold", "padding"): "_Shape",
    ("varlen_attention", "value"): "_Operand",
    **{(name, "stride"): "_Shape | None" for name in POOLS},
    **{(name, "padding"): "_Shape" for name in POOLS},
    **{
        (
            f"adaptive_{kind}_pool{rank}d",
            "output_size",
        ): "SupportsIndex | Sequence[SupportsIndex | None]"
        for kind in ("avg", "max")
        for rank in (1, 2, 3)
    },
    ("fold", "output_size"): "_Shape",
    **{(name, "axis"): "_Shape | None" for name in AXES},
    ("deform_conv2d", "mask"): "_Operand | None",
    ("deform_conv2d", "offset"): "_Operand",
    ("expand_dims", "axis"): "_Shape",
    ("explain", "f"): "Callable[..., Any]",
    **{("explain", name): "Any" for name in ("args", "kwargs")},
    ("fuse", "donate"): "Sequence[SupportsIndex] | None",
    ("fuse", "f"): "Callable[..., Any] | None",  # see `decorator`
    ("fuse", "strict"): "bool",
    **{(name, "axis"): "SupportsIndex | None" for name in OPTIONAL_AXIS},
    **{(f"conv_transpose{rank}d", "padding"): "_Shape" for rank in (1, 2, 3)},
}
PAIR = "tuple[Tensor, Tensor]"
RETURNS = {
    "random.default_rng": "Generator",
    "random.seed": "None",
    "quant.quantize": "QTensor",
    "quant.concat": "QTensor",
    "quant.load": "dict[str, Any]",
    "quant.load_gguf": "tuple[Tensors, dict[str, Any]]",
    "quant.save": "None",
    "einsum_path": "tuple[list[Any], str]",
    "explain": "str",
    "stream": "Stream",
    "fuse": "Callable[..., _R]",  # see `decorator`
    "grad.deform_conv2d": "tuple[Tensor, Tensor, Tensor, Tensor, Tensor]",
    **{
        f"grad.conv{kind}{rank}d": "tuple[Tensor, Tensor, Tensor]"
        for kind in ("", "_transpose")
        for rank in (1, 2, 3)
    },
    "grad.batch_norm": "tuple[Tensor, Tensor, Tensor]",
    "grad.grid_sample": "tuple[Tensor, Tensor]",
    "grad.group_norm": "tuple[Tensor, Tensor, Tensor]",
    "grad.instance_norm": "tuple[Tensor, Tensor, Tensor]",
    "grad.layer_norm": "tuple[Tensor, Tensor, Tensor]",
    "grad.linear": "tuple[Tensor, Tensor, Tensor]",
    "grad.rms_norm": "tuple[Tensor, Tensor]",
    "grad.scaled_dot_product_attention": "tuple[Tensor, Tensor, Tensor]",
    "__array_namespace_info__": "_Info",
    "_rebuild": "Tensor",
    "batch_norm_stats": PAIR,
    "broadcast_arrays": "tuple[Tensor, ...]",
    "broadcast_shapes": "tuple[int, ...]",
    "allclose": "bool",
    "array_equal": "bool",
    **dict.fromkeys(("array_split", "hsplit", "vsplit"), "tuple[Tensor, ...]"),
    **{f"atleast_{n}d": "Any" for n in (1, 2, 3)},
    "can_cast": "bool",
    "chunk": "tuple[Tensor, ...]",
    "conv_plan": "ConvPlan",
    "empty_cache": "None",
    "fft.next_fast_len": "int",
    "linalg.eig": "EigResult",
    "linalg.eigh": "EighResult",
    "linalg.qr": "QRResult",
    "linalg.slogdet": "SlogdetResult",
    "linalg.svd": "SVDResult",
    "finfo": "_FloatInfo",
    "get_num_threads": "int",
    "gru": PAIR,
    "iinfo": "_IntInfo",
    "isdtype": "bool",
    "layer_norm": "Any",
    "load_safetensors": "dict[str, Tensor]",
    "lstm": "tuple[Tensor, Tensor, Tensor]",
    "lstm_cell": PAIR,
    "max_with_indices": PAIR,
    "memory_stats": "_MemoryStats",
    "meshgrid": "tuple[Tensor, ...]",
    "min_with_indices": PAIR,
    "nonzero": "tuple[Tensor, ...]",
    "npy_bytes": "bytes",
    "result_type": "DType",
    "rotary_tables": PAIR,
    "rms_norm": "Any",
    "rnn_relu": PAIR,
    "rnn_tanh": PAIR,
    "safetensors_metadata": "dict[str, str]",
    "save_npy": "None",
    "save_safetensors": "None",
    "set_num_threads": "None",
    "set_weight_packing": "None",
    "show_config": "_Config",
    "sort_with_indices": PAIR,
    "split": "tuple[Tensor, ...]",
    "topk": PAIR,
    "unique_all": "UniqueAllResult",
    "unique_counts": "UniqueCountsResult",
    "unique_inverse": "UniqueInverseResult",
    "unstack": "tuple[Tensor, ...]",
    # with return_indices also the indices
    **dict.fromkeys(MAX_POOLS, "Any"),
}

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
from typing import Literal, SupportsIndex

from flex._flex import Tensor, _DType, _Operand, _Shape
from flex._flex import cross as cross
from flex._flex import matmul as matmul
from flex._flex import matrix_transpose as matrix_transpose
from flex._flex import outer as outer
from flex._flex import tensordot as tensordot
from flex._flex import vecdot as vecdot
from flex._results import EighResult, EigResult, QRResult, SlogdetResult, SVDResult

class LinAlgError(ValueError): ...

"""

SIGNAL = """\
# Written by scripts/make_stubs.py.
import builtins
from typing import Literal, SupportsIndex

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
from flex import quant as quant
from flex import random as random
from flex import signal as signal
from flex._flex import *
from flex._reduce import reduce as reduce
"""
