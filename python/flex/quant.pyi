# Written by scripts/make_stubs.py.
import builtins
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from types import EllipsisType
from typing import Any, Final, Literal, Self, SupportsIndex, final, overload

from flex._flex import Tensor, _Activation, _DType, _Operand, _Padding, _Shape
from flex.io import Tensors, _File

@final
class QTensor:
    """A quantised tensor: integers, with scales and zero points that say what they stand for, `scale *
    (q - zero_point)`.

    Made by `quantize`, or from its parts. values: int8 or uint8; for dtype "int4" and "int2", uint8
    with two and four values per byte along one axis, the first in the lowest bits (the last byte
    need not be full). scales: float32, float16 or bfloat16, with the tensor's rank; each size
    divides the tensor's, so that blocks of equal size share a scale. zero_points: none, or of the
    values' dtype and the scales' shape. shape: for int4 and int2, where `values` don't tell. Views
    (`q[..]`, `permute_dims`, `transpose`, `flip`, `reshape`, `expand_dims`, `squeeze`,
    `broadcast_to`) move scales with values and copy
    nothing; ValueError if one would split a block or a byte. ShapeError or DTypeError if parts
    don't fit together.

    Arithmetic (`+ - * / // % **`, `abs`, `map`) is that of the dequantised values, and its result
    is quantised like the tensor, of two the first: to the same dtype, with scales from the minimum
    and maximum of what shares one. The other operand is a QTensor, a tensor, an array, a list or a
    number. Comparisons of the dequantised values are bool tensors.

    >>> q = flex.quant.QTensor(flex.asarray([2, -1], dtype="int8"), flex.asarray([0.5]))
    >>> q.dequantize().tolist()
    [1.0, -0.5]
    >>> (q * 127).dequantize().tolist(), (q > 0).tolist()
    ([127.0, -64.0], [True, False])
    """
    def __new__(
        cls,
        values: _Operand,
        scales: _Operand,
        zero_points: _Operand | None = None,
        *,
        dtype: Literal["int8", "uint8", "int4", "int2"] | None = None,
        shape: _Shape | None = None,
    ) -> Self: ...
    @property
    def block(self) -> tuple[int, ...]:
        """How many neighbours along each axis share a scale."""
    @property
    def dtype(self) -> Literal["int8", "uint8", "int4", "int2"]:
        """"int8", "uint8", "int4" or "int2"."""
    @property
    def shape(self) -> tuple[int, ...]: ...
    def __array__(self, dtype: Any = None, copy: builtins.bool | None = None) -> Any: ...
    def __getitem__(self, key: int | slice | EllipsisType | tuple[int | slice | EllipsisType | None, ...] | None, /) -> QTensor: ...
    def __len__(self) -> int: ...
    __hash__: Final[None]  # type: ignore[assignment]
    __array_ufunc__: Final[None]
    def __add__(self, other: QTensor | _Operand, /) -> QTensor: ...
    def __sub__(self, other: QTensor | _Operand, /) -> QTensor: ...
    def __mul__(self, other: QTensor | _Operand, /) -> QTensor: ...
    def __truediv__(self, other: QTensor | _Operand, /) -> QTensor: ...
    def __floordiv__(self, other: QTensor | _Operand, /) -> QTensor: ...
    def __mod__(self, other: QTensor | _Operand, /) -> QTensor: ...
    def __matmul__(self, other: QTensor | _Operand, /) -> QTensor: ...
    def __radd__(self, other: _Operand, /) -> QTensor: ...
    def __rsub__(self, other: _Operand, /) -> QTensor: ...
    def __rmul__(self, other: _Operand, /) -> QTensor: ...
    def __rtruediv__(self, other: _Operand, /) -> QTensor: ...
    def __rfloordiv__(self, other: _Operand, /) -> QTensor: ...
    def __rmod__(self, other: _Operand, /) -> QTensor: ...
    def __rmatmul__(self, other: _Operand, /) -> QTensor: ...
    def __pow__(self, other: QTensor | _Operand, mod: None = None, /) -> QTensor: ...
    def __rpow__(self, other: QTensor | _Operand, mod: None = None, /) -> QTensor: ...
    def __lt__(self, other: QTensor | _Operand, /) -> Tensor: ...
    def __le__(self, other: QTensor | _Operand, /) -> Tensor: ...
    def __gt__(self, other: QTensor | _Operand, /) -> Tensor: ...
    def __ge__(self, other: QTensor | _Operand, /) -> Tensor: ...
    def __eq__(self, other: object, /) -> Tensor: ...  # type: ignore[override]
    def __ne__(self, other: object, /) -> Tensor: ...  # type: ignore[override]
    def __abs__(self) -> QTensor: ...
    def __neg__(self) -> QTensor: ...
    def __pos__(self) -> QTensor: ...
    @property
    def T(self) -> QTensor:
        """The transposed matrix; a view. ShapeError unless there are two dimensions."""
    def argmax(self, *, axis: SupportsIndex | None = None, keepdims: builtins.bool = False) -> Tensor:
        """The index (int64) of the first largest element, of all or along an axis. ShapeError for no
        elements; AxisError for an axis out of range.
        """
    def argmin(self, *, axis: SupportsIndex | None = None, keepdims: builtins.bool = False) -> Tensor:
        """The index (int64) of the first smallest element, of all or along an axis. ShapeError for no
        elements; AxisError for an axis out of range.
        """
    def argsort(self, *, axis: SupportsIndex = -1, descending: builtins.bool = False) -> Tensor:
        """The indices (int64) that sort along an axis; AxisError if it is out of range."""
    def broadcast_to(self, shape: _Shape) -> QTensor:
        """Broadcasts dimensions of size 1, and adds new ones in front; a view. ShapeError if sizes
        don't match.
        """
    def copy(self) -> QTensor:
        """A copy with memory of its own."""
    def dequantize(self, dtype: _DType | None = None) -> Tensor:
        """The numbers `scale * (q - zero_point)`, as float32 or another float dtype. DTypeError for
        other dtypes.

        >>> flex.quant.quantize(flex.asarray([127.0, -1.0, 0.25])).dequantize().tolist()
        [127.0, -1.0, 0.0]
        """
    def equal(self, other: QTensor, /) -> builtins.bool:
        """Whether another quantised tensor has the same shape and represents the same numbers.
        TypeError if `other` is no QTensor.
        """
    def expand_dims(self, *, axis: _Shape) -> QTensor:
        """Inserts dimensions of size 1, at these positions of the result; a view. AxisError if one is
        out of range or repeated.
        """
    def flip(self, *, axis: _Shape | None = None) -> QTensor:
        """Reverses axes, all by default; a view. ValueError for an axis that is packed several values
        to a byte.
        """
    def map(self, f: Callable[[Tensor], _Operand], /) -> QTensor:
        """`f` of the dequantised tensor, quantised like this one.

        f: takes a float32 tensor and returns a tensor of floats (TypeError, DTypeError). The result
        has the same dtype, zero points if there are any here, and scales that are shared along the
        same axes, counted from the last: one that spans an axis still does, and blocks keep their
        size. ShapeError if they don't divide the new one, or dimensions of several scales are gone.

        >>> q = flex.quant.quantize(flex.asarray([0.0, 1.0, 2.0]))
        >>> [round(y, 1) for y in q.map(flex.sqrt).dequantize().tolist()]
        [0.0, 1.0, 1.4]
        """
    def max(self, *, axis: SupportsIndex | None = None, keepdims: builtins.bool = False) -> QTensor:
        """The largest elements, of all or along an axis, quantised like this tensor; a single int4 or
        int2 value becomes int8. ValueError if elements have several scales.
        """
    def min(self, *, axis: SupportsIndex | None = None, keepdims: builtins.bool = False) -> QTensor:
        """The smallest elements; otherwise like `max`."""
    @property
    def nbytes(self) -> int:
        """The size of values, scales and zero points in bytes."""
    @property
    def ndim(self) -> int: ...
    def permute_dims(self, axes: _Shape) -> QTensor:
        """Permutes the dimensions: dimension `k` of the result is dimension `axes[k]`; a view.
        ShapeError unless there are as many axes as dimensions, AxisError if one is out of range or
        repeated.
        """
    def reshape(self, *shape: _Shape) -> QTensor:
        """The elements in row-major order in another shape; one size may be -1, and is then inferred. A
        view if strides allow it. ShapeError if the number of elements differs, or a block would be
        split.
        """
    @property
    def scales(self) -> Tensor:
        """The scales, one per block, with the tensor's rank."""
    @property
    def size(self) -> int: ...
    def sort(self, *, axis: SupportsIndex = -1, descending: builtins.bool = False) -> QTensor:
        """The elements sorted along an axis. ValueError if elements have several scales."""
    def squeeze(self, *, axis: _Shape | None = None) -> QTensor:
        """Removes dimensions of size 1, all by default; a view. ShapeError if one has another size;
        ValueError for an axis that is packed several values to a byte.
        """
    def take(self, indices: _Operand, *, axis: SupportsIndex = 0) -> QTensor:
        """The elements at some indices of an axis; `indices` has one dimension. ValueError if there
        are blocks along the axis.
        """
    def take_along_axis(self, indices: _Operand, axis: SupportsIndex = -1) -> QTensor:
        """The elements at positions along an axis: for each line of it, those of the same line of
        `indices`. ValueError if elements of a line have several scales.
        """
    def topk(self, k: SupportsIndex, *, axis: SupportsIndex = -1, largest: builtins.bool = True) -> tuple[QTensor, Tensor]:
        """The `k` largest (or smallest) elements along an axis, and their indices. ValueError if
        elements have several scales.
        """
    def transpose(self, *axes: _Shape | None) -> QTensor:
        """Permutes the dimensions, by default in reverse order; a view. Errors like `permute_dims`."""
    @property
    def values(self) -> Tensor:
        """The stored integers, int8 or uint8; each byte holds two int4 or four int2 values."""
    @property
    def zero_points(self) -> Tensor | None:
        """The zero points, as many as scales, or None."""

def concat(tensors: Sequence[QTensor], *, axis: SupportsIndex = 0) -> QTensor:
    """Concatenates quantised tensors along an axis, with their scales if these vary along it.

    They must have the same dtype and, apart from the axis, the same shape and block size; if one
    scale spans the axis, it must be the same in all of them (ValueError, ShapeError).

    >>> q = flex.quant.quantize(flex.asarray([[1.0, 2.0]]), axis=0)
    >>> flex.quant.concat([q, q]).shape
    (2, 2)
    """
@overload
def conv2d(x: _Operand, weight: QTensor, bias: _Operand | None = None, *, stride: _Shape = 1, padding: _Padding = 0, dilation: _Shape = 1, groups: SupportsIndex = 1, activation: _Activation | None = None, residual: _Operand | None = None, inputs: Literal["float", "dynamic", "dynamic_symmetric", "static"] = 'float', scale: float | None = None, zero_point: SupportsIndex | None = None, output: None = None, out_scale: float | None = None, out_zero_point: SupportsIndex | None = None) -> Tensor:
    """The convolution of an image with a quantised weight; the kernel is not flipped, as in torch.

    x: `[batch, channels, height, width]`, or without the batch, floats. weight: a QTensor `[out,
    channels / groups, height, width]`. bias, stride, padding, dilation, groups, activation and
    residual: as in `flex.nn.conv2d`. The result is float32, or the dtype of x if that is narrower.
    inputs: "float" dequantises the weight, of any kind, at each call for a convolution of floats,
    of which nothing is kept; "dynamic"
    quantises each image to uint8 with a zero point, "dynamic_symmetric" to int8, and "static" all
    of x to uint8 by `scale` and `zero_point`. Padding is then the zero point, products are summed
    exactly in int32, and the weight must be int8 per tensor or `axis=0`, without zero points
    (ValueError). Groups of fewer than four channels are summed in float32. NaN in x counts as 0
    unless inputs is "float". output: "int8" or "uint8" for a QTensor, as in `linear`. Errors as for
    `flex.nn.conv2d`; DTypeError if x, bias or residual is not a float.

    >>> weight = flex.quant.quantize(flex.ones((1, 1, 2, 2)), axis=0)
    >>> x = flex.reshape(flex.arange(9.0), (1, 3, 3))
    >>> flex.quant.conv2d(x, weight, inputs="static", scale=1.0).tolist()
    [[[8.0, 12.0], [20.0, 24.0]]]
    """
@overload
def conv2d(x: _Operand, weight: QTensor, bias: _Operand | None = None, *, stride: _Shape = 1, padding: _Padding = 0, dilation: _Shape = 1, groups: SupportsIndex = 1, activation: _Activation | None = None, residual: _Operand | None = None, inputs: Literal["float", "dynamic", "dynamic_symmetric", "static"] = 'float', scale: float | None = None, zero_point: SupportsIndex | None = None, output: Literal["int8", "uint8"], out_scale: float | None = None, out_zero_point: SupportsIndex | None = None) -> QTensor: ...
@overload
def linear(x: _Operand, weight: QTensor, bias: _Operand | None = None, *, activation: _Activation | None = None, residual: _Operand | None = None, inputs: Literal["float", "dynamic", "dynamic_symmetric", "static"] = 'float', scale: float | None = None, zero_point: SupportsIndex | None = None, output: None = None, out_scale: float | None = None, out_zero_point: SupportsIndex | None = None) -> Tensor:
    """`activation(x @ weight.T + bias) + residual` with a quantised weight.

    x: `[.., in]`, floats. weight: a QTensor `[out, in]`. bias: `[out]`. activation: as in
    `flex.nn.linear`. residual: broadcasts to the result, which is `[.., out]`, float32, or the
    dtype of x if that is narrower. inputs: "float" dequantises the weight, of any kind, while it is
    packed for the product; "dynamic" quantises each row of x to uint8 with a zero point,
    "dynamic_symmetric" to int8, and "static" all of x to uint8 by `scale` and `zero_point`.
    Products are then summed exactly in int32, and the weight must be int8 per tensor or `axis=0`,
    without zero points (ValueError). NaN in x counts as 0 unless inputs is "float". output: "int8"
    or "uint8" for a QTensor: after activation and residual the result is quantised, by `out_scale`
    and `out_zero_point` (0), or by its minimum and maximum. ShapeError if sizes don't match;
    DTypeError if x, bias or residual is not a float.

    >>> weight = flex.quant.quantize(flex.asarray([[1.0, 0.5], [-1.0, 0.0]]), axis=0)
    >>> y = flex.quant.linear(flex.asarray([3.0, 2.0]), weight, inputs="dynamic")
    >>> [round(v, 1) for v in y.tolist()]
    [4.0, -3.0]
    >>> x = flex.asarray([3.0, 2.0])
    >>> flex.quant.linear(x, weight, output="int8", out_scale=0.5).values.tolist()
    [8, -6]
    """
@overload
def linear(x: _Operand, weight: QTensor, bias: _Operand | None = None, *, activation: _Activation | None = None, residual: _Operand | None = None, inputs: Literal["float", "dynamic", "dynamic_symmetric", "static"] = 'float', scale: float | None = None, zero_point: SupportsIndex | None = None, output: Literal["int8", "uint8"], out_scale: float | None = None, out_zero_point: SupportsIndex | None = None) -> QTensor: ...
def load(file: _File, mmap: builtins.bool = True) -> dict[str, Any]:
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
def load_gguf(file: str | bytes | PathLike[str], mmap: builtins.bool = True) -> tuple[Tensors, dict[str, Any]]:
    """The tensors of a GGUF file (version 2 or 3), or of its bytes, by name, and its metadata.

    Q4_0, Q8_0 and Q6_K are QTensors with the file's own numbers: int4 and int8 in blocks of 32 with float16 scales, and int8 in blocks of
    16 with float32 scales. Q4_K, whose blocks have minima, becomes float32; float and integer tensors keep their dtype. Other kinds are in
    `others`, as `flex.io.Opaque` of their blocks. mmap: plain tensors are views of the mapped file, which nobody may change meanwhile, as
    for `flex.io.load`; blocks are always unpacked. ValueError if the file does not conform to the format; OSError if it cannot be read.

    >>> tensors, metadata = flex.quant.load_gguf(b"GGUF" + bytes([3]) + bytes(19))
    >>> len(tensors), metadata
    (0, {})
    """
def matmul_integer(a: _Operand, b: _Operand, a_zero_point: _Operand | None = None, b_zero_point: _Operand | None = None) -> Tensor:
    """`(a - a_zero_point) @ (b - b_zero_point)` in int32, exact for up to 2^15 terms (ONNX,
    MatMulInteger).

    a and b: int8 or uint8, independently (DTypeError), with shapes as in `flex.matmul`. Zero
    points: numbers or tensors of the operand's dtype: a single one, or one per row of a, per column
    of b (ShapeError).

    >>> a, b = flex.asarray([[10, 255]], dtype="uint8"), flex.asarray([[1], [-128]], dtype="int8")
    >>> flex.quant.matmul_integer(a, b, 10).tolist()
    [[-31360]]
    """
def quantize(x: _Operand, dtype: Literal["int8", "uint8", "int4", "int2"] = 'int8', *, axis: SupportsIndex | None = None, block: SupportsIndex | None = None, symmetric: builtins.bool | None = None, scale_dtype: _DType | None = None, calibration: Literal["minmax", "percentile", "mse"] = 'minmax', percentile: float = 99.9, scale: _Operand | None = None, zero_point: _Operand | None = None) -> QTensor:
    """Quantises x: `q = clamp(round(x / scale) + zero_point)`, ties to even.

    x: floats; computed in float32. dtype: "int8", "uint8", "int4" (two per byte) or "int2" (four).
    axis: gives each index of an axis its own scale, by default one for all; with block, one for
    each block of that many neighbours along the axis, whose size it divides (ShapeError).
    symmetric: without zero points, `scale = max(|x|) / 127` (7 for int4, 1 for int2), else `scale =
    (max(x, 0) - min(x, 0)) / 255` and `zero_point = round(least - min(x, 0) / scale)`, where least
    is the smallest integer (ONNX, DynamicQuantizeLinear); True by default except for uint8, which
    needs zero points, while int4 and int2 can't have them (ValueError). scale_dtype: float32,
    float16 or bfloat16. calibration: "minmax", "percentile" (the range of that many percent of the
    numbers, 50 to 100; others saturate), or "mse" (the range with the least squared error). scale
    and zero_point: given instead (ONNX, QuantizeLinear), numbers or of the rank of x, with sizes
    that divide its own; the options that say how they are found are then a TypeError. A group of
    zeros has scale 1; NaN becomes the integer for 0, infinities saturate, and neither counts
    towards a range.

    >>> q = flex.quant.quantize(flex.asarray([[1.0, -2.0], [0.0, 0.0]]), axis=0)
    >>> q.values.tolist(), q.scales.shape
    ([[64, -127], [0, 0]], (2, 1))
    """
def save(file: _File, tensors: Mapping[str, Any], metadata: Mapping[str, str] | None = None) -> None:
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

__all__ = [
    "QTensor",
    "concat",
    "conv2d",
    "linear",
    "load",
    "load_gguf",
    "matmul_integer",
    "quantize",
    "save",
]
