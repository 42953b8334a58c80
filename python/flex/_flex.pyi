# Written by scripts/make_stubs.py.
import builtins
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from os import PathLike
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

from flex._results import (
    AMinMaxResult,
    KthValueResult,
    ModeResult,
    SlogdetResult,
    UniqueAllResult,
    UniqueCountsResult,
    UniqueInverseResult,
)

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
_Activation: TypeAlias = Literal[
    "relu", "gelu", "gelu_tanh", "silu", "sigmoid", "tanh",
    "relu6", "selu", "logsigmoid", "mish", "hardsigmoid", "hardswish", "softsign", "tanhshrink"
]
_Interpolation: TypeAlias = Literal["nearest", "nearest-exact", "linear", "bilinear", "bicubic", "trilinear", "area", "lanczos3"]
_PadMode: TypeAlias = Literal["constant", "reflect", "replicate", "circular"]
_QuantileMethod: TypeAlias = Literal[
    "linear", "lower", "higher", "nearest", "midpoint", "inverted_cdf", "averaged_inverted_cdf", "closest_observation",
    "interpolated_inverted_cdf", "hazen", "weibull", "median_unbiased", "normal_unbiased"
]
_Reduction: TypeAlias = Literal["none", "mean", "sum"]
_Item: TypeAlias = SupportsIndex | slice[Any, Any, Any] | EllipsisType | _Buffer | _Array | _DLPack | Sequence[Any] | None
_Index: TypeAlias = _Item | tuple[_Item, ...]

class ChainedAssignmentWarning(UserWarning):
    """A write to a temporary, such as `t[0][1] = 5`: tensors are values, so nothing sees it. Write `t[0, 1] = 5`."""
class ShapeError(ValueError):
    """Shapes that are incompatible with each other or with the operation."""
class DTypeError(TypeError):
    """A dtype that the operation doesn't support, or two without a common dtype."""
class AxisError(ShapeError, IndexError):
    """An axis out of range or repeated."""
class SubscriptError(ShapeError, IndexError):
    """A subscript that doesn't fit the shape."""
class RangeError(ValueError, OverflowError):
    """A number that is out of range for the dtype it is converted to."""
class DivisionByZeroError(ValueError, ZeroDivisionError):
    """An integer divided by zero."""

@final
class DType:
    """The type of a tensor's elements. There is one object for each, such as `flex.float32`. Arguments
    and comparisons with `==` also accept: its name (`"float32"`) and code (`"f4"`), dtypes and
    scalar types of NumPy, ml_dtypes, JAX and torch, and Python's `bool`, `int` (int64), `float`
    (float64) and `complex` (complex128).
    """
    def __new__(cls, dtype: _DType, /) -> Self: ...
    @property
    def char(self) -> str:
        """NumPy's one-letter code, such as `f` for float32."""
    @property
    def byteorder(self) -> str:
        """NumPy's byte order: `=` this machine's, `|` none, for a single byte."""
    @property
    def names(self) -> None:
        """The names of fields, which no dtype of flex has: None."""
    @property
    def __numpy_dtype__(self) -> Any: ...
    def __eq__(self, other: object, /) -> builtins.bool: ...
    def __ne__(self, other: object, /) -> builtins.bool: ...
    def __hash__(self) -> int: ...
    def __copy__(self) -> Self: ...
    def __deepcopy__(self, _memo: Any, /) -> Self: ...
    @property
    def dtype(self) -> Any:
        """NumPy's dtype for it, which makes `np.zeros(3, dtype=flex.float32)` work: NumPy 2.4 and
        newer ask for `__numpy_dtype__`, older ones for `dtype`.
        """
    @property
    def itemsize(self) -> int:
        """The size of an element in bytes."""
    @property
    def kind(self) -> str:
        """NumPy's letter for the kind: `b` bool, `i` signed, `u` unsigned integers, `f` floats
        (bfloat16 and float8 too), `c` complex.
        """
    @property
    def name(self) -> str:
        """The array API standard's name, such as `"float32"`."""
    @property
    def type(self) -> Any:
        """NumPy's scalar type, such as `numpy.float32`; ml_dtypes' for bfloat16 and float8."""

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
    def devices(self) -> tuple[str]: ...
    def dtypes(self, *, device: _Device | None = None, kind: Any = None) -> dict[str, DType]: ...

class _MemoryStats(TypedDict):
    in_use: int
    peak: int
    cached: int
    hits: int
    misses: int
    cap: int
    limit: int | None

class _Config(Protocol):
    @overload
    def __getitem__(self, key: Literal["version", "instruction_set", "features", "dtypes"], /) -> str: ...
    @overload
    def __getitem__(self, key: Literal["threads"], /) -> int: ...
    def __iter__(self) -> Iterator[str]: ...
    def __len__(self) -> int: ...
    def keys(self) -> Any: ...

@final
class Stream:
    """Queued operations that run together: see `flex.stream`."""
    def __new__(cls) -> Self: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> builtins.bool: ...
    @staticmethod
    def _save_at_exit() -> None: ...
    def load(self, path: str | PathLike[str]) -> int:
        """Adds the plans of a file written by `save`, for all streams of this process. Returns their
        number. A file that is damaged, of another format, or of another version of flex is ignored
        with a warning, and 0 is returned.

        path: a path. OSError if it can't be read.

        >>> import os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     flex.Stream().save(os.path.join(folder, "plans"))
        ...     flex.Stream().load(os.path.join(folder, "plans")) >= 0
        True
        """
    def run(self) -> None:
        """Runs the queued operations whose results are needed.

        MemoryError if there is no memory for the results.

        >>> with flex.stream() as s:
        ...     y = flex.exp(flex.zeros(2)) + 1
        ...     s.run()
        >>> y.tolist()
        [2.0, 2.0]
        """
    def save(self, path: str | PathLike[str]) -> None:
        """Saves the plans that streams of this process have found to a file, which another process can
        `load`.

        path: a path, whose file is replaced. OSError if it can't be written.

        >>> import os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     flex.Stream().save(os.path.join(folder, "plans"))
        """
    def stats(self) -> dict[str, int]:
        """Statistics of the stream since it was made, as a dict of numbers. operations: the number
        queued; kernels: the number of passes over memory. bytes_allocated, bytes_read,
        bytes_written: their memory traffic; eager_bytes_allocated, eager_bytes_read,
        eager_bytes_written: that of the operations one by one. bytes_saved: the bytes not read and
        written, compared with that. Operations still queued are counted, but have no traffic yet.

        >>> x = flex.ones((32, 32))
        >>> with flex.stream() as s:
        ...     y = (x + 1) * x
        >>> s.stats()["kernels"], s.stats()["bytes_written"], s.stats()["eager_bytes_written"]
        (1, 4096, 8192)
        """

@final
class threads:
    """A context manager: operations of this thread use at most `n` threads inside its block. Results
    never depend on it.

    >>> with flex.threads(1):
    ...     flex.get_num_threads()
    1
    """
    def __new__(cls, n: int, /) -> Self: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self, _type: type[BaseException] | None, _value: BaseException | None, _traceback: TracebackType | None, /
    ) -> None: ...

@final
class default_dtype:
    """A context manager: what `set_default_dtype` sets, for this thread inside its block.

    >>> with flex.default_dtype(flex.float64):
    ...     flex.asarray([1.5]).dtype
    flex.float64
    """
    def __new__(cls, dtype: _DType, /) -> Self: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self, _type: type[BaseException] | None, _value: BaseException | None, _traceback: TracebackType | None, /
    ) -> None: ...

class _PrintOptions(TypedDict):
    precision: int
    threshold: int
    edgeitems: int
    linewidth: int
    suppress: builtins.bool

@final
class Tensor:
    """An n-dimensional array of numbers of one dtype.

    A tensor is a value: in-place syntax (`t += 1`, `t[0] = 2`) changes this tensor and no other,
    even if they share memory. It may be used from any number of threads.
    """
    @property
    def device(self) -> Literal["cpu"]:
        """The device: always `"cpu"`."""
    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the dimensions."""
    @property
    def strides(self) -> tuple[int, ...]:
        """The strides of the dimensions in bytes, as in NumPy and the buffer protocol."""
    def view(self, dtype: _DType, /) -> Tensor:
        """The same bytes as another dtype, without a copy. If its size differs, the last dimension
        becomes longer or shorter by the ratio: ValueError if it is not contiguous, ShapeError if
        there is none or its bytes are no whole number of elements. To change the shape, use
        `reshape`.
        """
    def __array__(self, dtype: Any = None, copy: builtins.bool | None = None) -> Any: ...
    @property
    def __array_interface__(self) -> dict[str, Any]: ...
    def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[Any, Any]: ...
    def __array_namespace__(self, *, api_version: str | None = None) -> ModuleType: ...
    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **arguments: Any) -> Any: ...
    def __array_function__(self, func: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any: ...
    def __bool__(self) -> builtins.bool: ...
    if sys.version_info >= (3, 12):
        def __buffer__(self, flags: int, /) -> memoryview: ...

    def __complex__(self) -> complex: ...
    def __contains__(self, value: _Operand, /) -> builtins.bool: ...
    def __copy__(self) -> Tensor: ...
    def __deepcopy__(self, _memo: Any, /) -> Tensor: ...
    def __delitem__(self, key: Any, /) -> None: ...
    def __dlpack__(
        self,
        *,
        stream: None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: builtins.bool | None = None,
    ) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def __float__(self) -> float: ...
    def __format__(self, spec: str, /) -> str: ...
    def __getitem__(self, key: _Index, /) -> Tensor: ...
    def __index__(self) -> int: ...
    def __int__(self) -> int: ...
    def __iter__(self) -> Iterator[Tensor]: ...
    def __len__(self) -> int: ...
    __array_priority__: float
    @property
    def __numpy_dtype__(self) -> Any: ...
    def __reduce_ex__(self, protocol: SupportsIndex, /) -> Any: ...
    def __round__(self, ndigits: SupportsIndex | None = None, /) -> Tensor: ...
    def __reversed__(self) -> Iterator[Tensor]: ...
    def __setitem__(self, key: _Index, value: _Nested, /) -> None: ...
    __hash__: Final[None]  # type: ignore[assignment]
    @property
    def T(self) -> Tensor:
        """The transpose of a matrix; ShapeError unless there are two dimensions: `mT` transposes the
        last two, and `permute_dims` permutes all.
        """
    def aminmax(x, *, axis: int | None = None, keepdims: builtins.bool = False) -> AMinMaxResult:
        """The smallest and the largest element, as the named tuple `min`, `max`. Arguments and errors are those of `max`.

        >>> low, high = flex.aminmax(flex.asarray([2, 9, 4]))
        >>> low.item(), high.item()
        (2, 9)
        """
    def angle(z, deg: builtins.bool = False) -> Tensor:
        """The angle of complex numbers, in radians from -pi to pi, or with `deg` in degrees; 0 or pi for real ones. Integers become float32.

        >>> flex.angle(flex.asarray([1.0, 1j, -1.0]), deg=True).tolist()
        [0.0, 90.0, 180.0]
        """
    def argpartition(a, kth: Any, axis: int | None = -1) -> Tensor:
        """The positions along an axis of the elements in an order that `partition` may give them, with its arguments and errors.

        >>> flex.argpartition(flex.asarray([3, 1, 2]), 0)[0].item()
        1
        """
    def astype(self, dtype: _DType, *, copy: builtins.bool = True, device: _Device | None = None) -> Tensor:
        """Converts to another dtype: floats are truncated and saturate for integers, integers wrap in
        narrower ones; complex numbers to a real dtype are a DTypeError, use `flex.real(x)` for
        these. With `copy=False`, the tensor itself if it has the dtype.
        """
    def choose(a, choices: Any, mode: str = 'raise') -> Tensor:
        """At each position the element of the choice whose number a has there.

        a: integers (DTypeError) that broadcast with the choices (ShapeError), a sequence or a tensor of them. mode: what happens to a number
        out of range: "raise" (ValueError), "wrap" or "clip". The result has the choices' common dtype.

        >>> flex.choose(flex.asarray([0, 1, 1]), [flex.asarray([1, 2, 3]), 10]).tolist()
        [1, 10, 10]
        """
    def compress(self, condition: _Nested, axis: int | None = None) -> Tensor:
        """`flex.compress(condition, self, axis)`.

        >>> flex.asarray([1, 2, 3]).compress([True, False, True]).tolist()
        [1, 3]
        """
    def contiguous(self) -> Tensor:
        """A tensor whose elements are adjacent in row-major order: the tensor itself if they are."""
    def copy(self) -> Tensor:
        """A row-major copy with memory of its own."""
    def corrcoef(x, y: _Nested | None = None, rowvar: builtins.bool = True, *, dtype: _DType | None = None) -> Tensor:
        """The correlation coefficients of variables (Pearson): their covariances divided by the product of their standard deviations.

        Arguments, dtypes and errors are those of `cov`. The parts of the result are from -1 to 1; NaN for a variable that is constant.

        >>> flex.corrcoef(flex.asarray([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]])).tolist()
        [[1.0, -1.0], [-1.0, 1.0]]
        """
    def cov(m, y: _Nested | None = None, rowvar: builtins.bool = True, bias: builtins.bool = False, ddof: int | None = None, fweights: _Nested | None = None, aweights: _Nested | None = None, *, dtype: _DType | None = None) -> Tensor:
        """The covariance matrix of variables.

        m: a variable `[n]`, or one a row, `[k, n]`; one a column without rowvar. y: more variables. bias: divide by n instead of
        n - 1; ddof: by n - ddof. fweights: how often each observation counts, integers; aweights: its relative weight. dtype: of the
        computation. The result is `[k, k]`, or a number for one variable; integers become float32. ShapeError if shapes don't fit; ValueError
        for negative weights; TypeError for fweights that are not integers.

        >>> flex.cov(flex.asarray([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]])).tolist()
        [[1.0, -1.0], [-1.0, 1.0]]
        """
    def deg2rad(x) -> Tensor:
        """Degrees as radians. Integers become float32; DTypeError for complex numbers.

        >>> flex.deg2rad(flex.asarray(180.0)).item() == flex.asarray(flex.pi).item()
        True
        """
    def diagonal(a, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
        """The diagonal of the planes of two axes, as a view; its elements are the last dimension of the result.

        offset: how many columns it lies above the main one; negative below. ShapeError for fewer than two dimensions; AxisError if an axis is
        out of range; ValueError if they are the same.

        >>> flex.diagonal(flex.asarray([[1, 2], [3, 4]])).tolist()
        [1, 4]
        """
    @property
    def dtype(self) -> DType:
        """The type of the elements."""
    def flatten(x, start_dim: int = 0, end_dim: int = -1) -> Tensor:
        """`x` with the dimensions from start_dim to end_dim merged into one, in row-major order.

        A number becomes a vector of one element. A view where the memory allows it. AxisError if a dimension is out of range; ValueError if
        they are in the wrong order.

        >>> flex.flatten(flex.zeros((2, 3, 4)), 1).shape
        (2, 12)
        """
    def float_power(x1, x2: _Nested) -> Tensor:
        """x1 to the power of x2 in float64, or complex128 if one is complex. They broadcast (ShapeError).

        >>> flex.float_power(flex.asarray([2, 4]), -2).tolist()
        [0.25, 0.0625]
        """
    def fmax(x1, x2: _Nested) -> Tensor:
        """The larger of two numbers; the other if one is NaN. They broadcast; dtypes and errors are those of `maximum`.

        >>> flex.fmax(flex.asarray([1.0, flex.nan]), 0.5).tolist()
        [1.0, 0.5]
        """
    def fmin(x1, x2: _Nested) -> Tensor:
        """The smaller of two numbers; the other if one is NaN. They broadcast; dtypes and errors are those of `minimum`.

        >>> flex.fmin(flex.asarray([1.0, flex.nan]), 0.5).tolist()
        [0.5, 0.5]
        """
    def frexp(x) -> tuple[Tensor, Tensor]:
        """Each number as `mantissa * 2**exponent`, with a magnitude of the mantissa from 1/2 to 1, which is left out. Zeros, infinities and NaN
        are their own mantissa, with exponent 0.

        The mantissas have the dtype of x, integers become float32; exponents are int32. DTypeError for complex numbers.

        >>> mantissa, exponent = flex.frexp(flex.asarray([5.0, -0.25]))
        >>> mantissa.tolist(), exponent.tolist()
        ([0.625, -0.5], [3, -1])
        """
    def gcd(x1, x2: _Nested) -> Tensor:
        """The greatest common divisor of magnitudes; that of 0 and x is |x|.

        x1, x2: integers that broadcast (ShapeError). The result has the common dtype (DTypeError if it is not one of integers).

        >>> flex.gcd(flex.asarray([12, 20]), 8).tolist()
        [4, 4]
        """
    def heaviside(x1, x2: _Nested) -> Tensor:
        """0 where x1 is negative, x2 where it is 0, 1 where it is positive, NaN where it is NaN.

        x1, x2: broadcast (ShapeError). The result has the common dtype; integers become float32. DTypeError for complex numbers.

        >>> flex.heaviside(flex.asarray([-1.5, 0.0, 2.0]), 0.5).tolist()
        [0.0, 0.5, 1.0]
        """
    @property
    def imag(self) -> Tensor:
        """The imaginary parts of complex numbers, as with `flex.imag`."""
    def index_fill(x, axis: int, indices: _Nested, value: Any) -> Tensor:
        """`x` with a number in the slices along an axis at these positions.

        indices: integers, one dimension, negative ones from the end. value: a number, or a tensor of one. The result has the dtype of x.
        IndexError if a position is out of range; AxisError.

        >>> flex.index_fill(flex.zeros((2, 3)), 1, flex.asarray([0, 2]), 5.0).tolist()
        [[5.0, 0.0, 5.0], [5.0, 0.0, 5.0]]
        """
    def is_contiguous(self) -> builtins.bool:
        """Whether the elements are adjacent in row-major order."""
    def isneginf(x) -> Tensor:
        """Whether each element is negative infinity; bool. DTypeError for complex numbers.

        >>> flex.isneginf(flex.asarray([flex.inf, -flex.inf, 0.0])).tolist()
        [False, True, False]
        """
    def isposinf(x) -> Tensor:
        """Whether each element is positive infinity; bool. DTypeError for complex numbers.

        >>> flex.isposinf(flex.asarray([flex.inf, -flex.inf, 0.0])).tolist()
        [True, False, False]
        """
    def item(self) -> Any:
        """The element of a tensor with exactly one, as a Python number; ShapeError for any other."""
    @property
    def itemsize(self) -> int:
        """The size of an element in bytes."""
    def kthvalue(x, k: int, axis: int = -1, *, keepdims: builtins.bool = False) -> KthValueResult:
        """The k-th smallest element along an axis, counted from 1, and its position: the named tuple `values`, `indices`. The first of equal
        ones.

        ValueError if k is not from 1 to the size; AxisError; DTypeError for complex numbers.

        >>> value, at = flex.kthvalue(flex.asarray([30, 10, 20]), 2)
        >>> value.item(), at.item()
        (20, 2)
        """
    def lcm(x1, x2: _Nested) -> Tensor:
        """The least common multiple of magnitudes; 0 if one is 0. What exceeds the dtype wraps. Arguments and errors are those of `gcd`.

        >>> flex.lcm(flex.asarray([4, 6]), 6).tolist()
        [12, 6]
        """
    def ldexp(x1, x2: _Nested) -> Tensor:
        """`x1 * 2**x2`, rounded once.

        x2: integers (DTypeError). They broadcast (ShapeError). The result has the dtype of x1; integers become float32.

        >>> flex.ldexp(flex.asarray([0.625, -0.5]), flex.asarray([3, -1])).tolist()
        [5.0, -0.25]
        """
    def lerp(x1, x2: _Nested, weight: _Nested) -> Tensor:
        """`x1 + weight * (x2 - x1)`: x1 for weight 0, x2 for weight 1.

        The operands broadcast (ShapeError). The result has the common dtype; integers become float32. DTypeError for complex numbers.

        >>> flex.lerp(flex.asarray([1.0, 2.0]), flex.asarray([3.0, 6.0]), 0.5).tolist()
        [2.0, 4.0]
        """
    def logit(x) -> Tensor:
        """`log(x / (1 - x))`, the inverse of `expit`; infinite at 0 and 1, NaN outside. Integers become float32; DTypeError for complex
        numbers.

        >>> flex.logit(flex.asarray([0.0, 0.5, 1.0])).tolist()
        [-inf, 0.0, inf]
        """
    @property
    def mT(self) -> Tensor:
        """Swaps the last two dimensions; ShapeError if there are fewer."""
    def masked_scatter(x, mask: _Nested, source: _Nested) -> Tensor:
        """`x` with the elements of source, in row-major order, in the places where the mask is true.

        mask: bool (DTypeError); it and x broadcast (ShapeError). ValueError if source has fewer elements than the mask has true ones. The
        result has the dtype of x.

        >>> flex.masked_scatter(flex.zeros(3), flex.asarray([True, False, True]), flex.asarray([5.0, 6.0])).tolist()
        [5.0, 0.0, 6.0]
        """
    def mode(x, axis: int = -1, *, keepdims: builtins.bool = False) -> ModeResult:
        """The element that is most frequent along an axis, the smallest of several, and its last position: the named tuple `values`,
        `indices`. Each NaN differs from the others.

        x: at least one element along the axis (ValueError). AxisError; DTypeError for complex numbers.

        >>> value, at = flex.mode(flex.asarray([3, 1, 3, 2, 1, 3]))
        >>> value.item(), at.item()
        (3, 5)
        """
    @property
    def nbytes(self) -> int:
        """The size of all elements in bytes."""
    @property
    def ndim(self) -> int:
        """The number of dimensions."""
    def norm(x, ord: float | str | None = None, axis: int | tuple[int, ...] | None = None, keepdims: builtins.bool = False) -> Tensor:
        """The norm of vectors or matrices, with the arguments of numpy.linalg.norm.

        axis: an integer for norms of vectors, a pair for those of matrices; None for the vector or the matrix x, or without ord for the
        length of all elements. ord: as in `vector_norm` and `matrix_norm`; by default 2 and "fro". keepdims: keep these axes with size 1.
        Dtypes and errors are those of these functions, and ValueError for a name with vectors, and for other numbers of axes.

        >>> flex.linalg.norm(flex.asarray([3.0, 4.0])).item()
        5.0
        >>> flex.linalg.norm(flex.asarray([[3.0, 0.0], [4.0, -1.0]]), 1).item()
        7.0
        """
    def numpy(self) -> Any:
        """The elements as a NumPy array, which shares the tensor's memory and is read-only;
        `numpy.array(t)` is a writable copy.
        """
    def put(a, ind: _Nested, v: _Nested, mode: str = 'raise') -> None:
        """Writes numbers into `a`, at these positions in row-major order.

        ind: integers, negative ones from the end. v: numbers that are cast to the dtype of a, and repeat if there are fewer. mode: what
        happens to a position out of range: "raise" (IndexError, before anything is written), "wrap" or "clip". Of positions that repeat, the
        last counts. TypeError if a is no tensor; ValueError for another mode, or if v is empty and ind is not.

        >>> x = flex.zeros((2, 2))
        >>> flex.put(x, [0, -1], [5.0, 7.0])
        >>> x.tolist()
        [[5.0, 0.0], [0.0, 7.0]]
        """
    def rad2deg(x) -> Tensor:
        """Radians as degrees. Integers become float32; DTypeError for complex numbers.

        >>> flex.rad2deg(flex.asarray(flex.pi)).item()
        180.0
        """
    @property
    def real(self) -> Tensor:
        """The real parts of complex numbers, as with `flex.real`; for real numbers, the tensor itself."""
    def renorm(x, p: float, axis: int, maxnorm: float) -> Tensor:
        """`x` with the slices along an axis whose p-norm exceeds maxnorm scaled down to it; the others as they are.

        p: above 0 (ValueError). maxnorm: not negative (ValueError). The result has the dtype of x; integers become float32. AxisError.

        >>> flex.renorm(flex.asarray([[3.0, 4.0], [0.0, 1.0]]), 2, 0, 2.5).tolist()
        [[1.5, 2.0], [0.0, 1.0]]
        """
    def reshape(self, *shape: _Shape, copy: builtins.bool | None = None) -> Tensor:
        """The elements in row-major order in another shape; one size may be -1, and is then inferred.
        A view if strides allow it, else a copy; with `copy=False` an error instead of a copy.
        """
    def scatter_reduce(x, axis: int, indices: _Nested, values: _Nested, reduce: str, *, include_self: builtins.bool = True) -> Tensor:
        """`x` with values combined, in each line along an axis, at the positions in the same line of indices, which may repeat.

        reduce: "sum", "prod", "mean", "amax" or "amin" (ValueError). include_self: whether the elements of x are combined too. Shapes, dtypes
        and other errors are those of `scatter`; means of integers are rounded down.

        >>> flex.scatter_reduce(flex.asarray([1.0, 2.0]), 0, flex.asarray([0, 0]), flex.asarray([5.0, 7.0]), "amax").tolist()
        [7.0, 2.0]
        """
    def sinc(x) -> Tensor:
        """`sin(pi x) / (pi x)`, which is 1 at 0, and exactly 0 at other integers. Integers become float32.

        >>> flex.sinc(flex.asarray([0.0, 0.5])).tolist() == [1.0, flex.asarray(2 / flex.pi).item()]
        True
        """
    @property
    def size(self) -> int:
        """The number of elements."""
    def to_device(self, device: _Device, /, *, stream: None = None, copy: builtins.bool | None = None) -> Tensor:
        """The tensor itself, since there is one device; with `copy=True`, a copy. ValueError for
        another device, or a stream.
        """
    def tobytes(self) -> bytes:
        """The elements in row-major order, as Python bytes."""
    def tolist(self) -> Any:
        """The elements as nested lists of Python numbers; a number if the tensor is 0-dimensional."""
    def trace(a, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: _DType | None = None) -> Tensor:
        """The sum of the diagonal of the planes of two axes, with the arguments and errors of `diagonal`. `linalg.trace` is that of the last
        two axes.

        dtype: of the sums, by default as for `sum`.

        >>> flex.trace(flex.asarray([[1, 2], [3, 4]])).item()
        5
        """
    def unique(ar, return_index: builtins.bool = False, return_inverse: builtins.bool = False, return_counts: builtins.bool = False, axis: int | None = None, *, equal_nan: builtins.bool = True, sorted: builtins.bool = True) -> Any:
        """The distinct elements in ascending order, or the distinct slices along an axis in the order of their elements.

        return_index, return_inverse, return_counts: then also the positions of the first occurrences, the number of the distinct element for
        each, and how often each occurs, int64, in a tuple. equal_nan: whether NaN equals NaN. sorted: it is sorted in any case. The inverse
        has the shape of ar, or one dimension with an axis. AxisError; DTypeError for float8.

        >>> flex.unique(flex.asarray([3, 1, 3])).tolist()
        [1, 3]
        >>> flex.unique(flex.asarray([[1, 2], [0, 5], [1, 2]]), axis=0).tolist()
        [[0, 5], [1, 2]]
        """
    def where(self, condition: _Operand, other: _Operand, /) -> Tensor:
        """`flex.where(condition, self, other)`, as torch has it.

        >>> x = flex.asarray([1, -2])
        >>> x.where(x > 0, 0).tolist()
        [1, 0]
        """
    def xlogy(x1, x2: _Nested) -> Tensor:
        """`x1 * log(x2)`, which is 0 where x1 is 0 and x2 is not NaN.

        They broadcast (ShapeError). The result has the common dtype; integers become float32. DTypeError for complex numbers.

        >>> flex.xlogy(flex.asarray([0.0, 2.0]), flex.asarray([0.0, 1.0])).tolist()
        [0.0, 0.0]
        """
    def __add__(self, other: _Operand, /) -> Tensor: ...
    def __sub__(self, other: _Operand, /) -> Tensor: ...
    def __mul__(self, other: _Operand, /) -> Tensor: ...
    def __truediv__(self, other: _Operand, /) -> Tensor: ...
    def __floordiv__(self, other: _Operand, /) -> Tensor: ...
    def __mod__(self, other: _Operand, /) -> Tensor: ...
    def __and__(self, other: _Operand, /) -> Tensor: ...
    def __or__(self, other: _Operand, /) -> Tensor: ...
    def __xor__(self, other: _Operand, /) -> Tensor: ...
    def __lshift__(self, other: _Operand, /) -> Tensor: ...
    def __rshift__(self, other: _Operand, /) -> Tensor: ...
    def __matmul__(self, other: _Operand, /) -> Tensor: ...
    def __radd__(self, other: _Operand, /) -> Tensor: ...
    def __rsub__(self, other: _Operand, /) -> Tensor: ...
    def __rmul__(self, other: _Operand, /) -> Tensor: ...
    def __rtruediv__(self, other: _Operand, /) -> Tensor: ...
    def __rfloordiv__(self, other: _Operand, /) -> Tensor: ...
    def __rmod__(self, other: _Operand, /) -> Tensor: ...
    def __rand__(self, other: _Operand, /) -> Tensor: ...
    def __ror__(self, other: _Operand, /) -> Tensor: ...
    def __rxor__(self, other: _Operand, /) -> Tensor: ...
    def __rlshift__(self, other: _Operand, /) -> Tensor: ...
    def __rrshift__(self, other: _Operand, /) -> Tensor: ...
    def __rmatmul__(self, other: _Operand, /) -> Tensor: ...
    def __iadd__(self, other: _Operand, /) -> Self: ...
    def __isub__(self, other: _Operand, /) -> Self: ...
    def __imul__(self, other: _Operand, /) -> Self: ...
    def __itruediv__(self, other: _Operand, /) -> Self: ...
    def __ifloordiv__(self, other: _Operand, /) -> Self: ...
    def __imod__(self, other: _Operand, /) -> Self: ...
    def __iand__(self, other: _Operand, /) -> Self: ...
    def __ior__(self, other: _Operand, /) -> Self: ...
    def __ixor__(self, other: _Operand, /) -> Self: ...
    def __ilshift__(self, other: _Operand, /) -> Self: ...
    def __irshift__(self, other: _Operand, /) -> Self: ...
    def __imatmul__(self, other: _Operand, /) -> Self: ...
    def __pow__(self, other: _Operand, mod: None = None, /) -> Tensor: ...
    def __rpow__(self, other: _Operand, mod: None = None, /) -> Tensor: ...
    def __ipow__(self, other: _Operand, /) -> Self: ...  # type: ignore[misc]
    def __divmod__(self, other: _Operand, /) -> tuple[Tensor, Tensor]: ...
    def __rdivmod__(self, other: _Operand, /) -> tuple[Tensor, Tensor]: ...
    def __lt__(self, other: _Operand, /) -> Tensor: ...
    def __le__(self, other: _Operand, /) -> Tensor: ...
    def __gt__(self, other: _Operand, /) -> Tensor: ...
    def __ge__(self, other: _Operand, /) -> Tensor: ...
    def __eq__(self, other: object, /) -> Tensor: ...  # type: ignore[override]
    def __ne__(self, other: object, /) -> Tensor: ...  # type: ignore[override]
    def __abs__(self) -> Tensor: ...
    def __ceil__(self) -> Tensor: ...
    def __floor__(self) -> Tensor: ...
    def __invert__(self) -> Tensor: ...
    def __neg__(self) -> Tensor: ...
    def __pos__(self) -> Tensor: ...
    def __trunc__(self) -> Tensor: ...
    def abs(self) -> Tensor:
        """Magnitude, real for complex numbers; the smallest integer wraps to itself.

        x: a tensor, an array or a number. The result has its shape.
        The result has the operand's dtype; that of its parts if it is complex.
        DTypeError if the operation doesn't support the dtype.

        >>> flex.abs(flex.asarray([1, -2])).tolist()
        [1, 2]
        """
    def acos(self) -> Tensor:
        """Inverse cosine.

        x: a tensor, an array or a number. The result has its shape.
        The result has the operands' common dtype; integers and bool are computed in float32.
        DTypeError if the operation doesn't support the dtype.

        >>> flex.acos(flex.asarray([1.0, 0.0])).tolist()
        [0.0, 1.5707963705062866]
        """
    def acosh(self) -> Tensor:
        """Inverse hyperbolic cosine.

        x: a tensor, an array or a number. The result has its shape.
        The result has the operands' common dtype; integers and bool are computed in float32.
        DTypeError if the operation doesn't support the dtype.

        >>> flex.acosh(flex.asarray([1.0, flex.inf])).tolist()
        [0.0, inf]
        """
    def add(x1, x2: _Operand, /) -> Tensor:
        """Sum.

        x1, x2: tensors, arrays or numbers, whose shapes broadcast; a number takes the other's
        dtype.
        The result has the operands' common dtype.
        DTypeError if the operation doesn't support the dtype, or there is no common dtype;
        ShapeError if shapes don't broadcast.

        >>> flex.add(flex.asarray([1, 2]), flex.asarray([10, 20])).tolist()
        [11, 22]
        """
    def all(self, axis: _Shape | None = None, *, keepdims: builtins.bool = False, out: Any | None = None, where: _Nested | None = None) -> Tensor:
        """Whether all elements are true (not zero). Arguments and errors are those of `any`; the
        result is True if there are no elements.

        >>> flex.all(flex.asarray([[2, 1], [0, 1]]), axis=1).tolist()
        [True, False]
        """
    def allclose(x1, x2: _Operand, /, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: builtins.bool = False) -> builtins.bool:
        """Whether all elements are close, as with `isclose`: a Python bool. Arguments and errors are those
        of `isclose`.

        >>> flex.allclose(flex.asarray([1.0, 2.0]), flex.asarray([1.0, 2.0 + 1e-7]))
        True
        """
    def any(self, axis: _Shape | None = None, *, keepdims: builtins.bool = False, out: Any | None = None, where: _Nested | None = None) -> Tensor:
        """Whether any element is true (not zero).

        x: a tensor of any dtype; NaN is true. axis: an integer, a tuple of them, or None for all.
        keepdims: keep reduced axes with size 1. out, where: as for `sum`. The result is bool, False
        if there are no elements. AxisError if an axis is out of range or repeated.

        >>> flex.any(flex.asarray([[0, 1], [0, 0]]), axis=1).tolist()
        [True, False]
        """
    def argmax(self, axis: SupportsIndex | None = None, *, keepdims: builtins.bool = False, out: Any | None = None) -> Tensor:
        """The index of the first occurrence of the largest element; of the first NaN, if there is one.

        axis: an integer, or None for the index in the flattened x. keepdims: keep reduced axes with
        size 1. The result is int64. ValueError if there are no elements; DTypeError for complex
        numbers; AxisError if the axis is out of range.

        >>> flex.argmax(flex.asarray([[1, 5], [3, 2]]), axis=1).tolist()
        [1, 0]
        """
    def argmin(self, axis: SupportsIndex | None = None, *, keepdims: builtins.bool = False, out: Any | None = None) -> Tensor:
        """The index of the first occurrence of the smallest element. Arguments and errors are those of
        `argmax`.

        >>> flex.argmin(flex.asarray([[1, 5], [3, 2]]), axis=1).tolist()
        [0, 1]
        """
    def argsort(self, axis: SupportsIndex | None = -1, *, descending: builtins.bool = False, stable: builtins.bool = True) -> Tensor:
        """The indices that sort along `axis`.

        x: a tensor of an ordered dtype; the result has its shape, and is int64. axis: None for the
        positions among all elements in row-major order. Equal values keep their
        order, even with `descending`; NaN comes last. DTypeError for complex numbers; AxisError if the
        axis is out of range.

        >>> flex.argsort(flex.asarray([3, 1, 2])).tolist()
        [1, 2, 0]
        """
    def argwhere(self) -> Tensor:
        """The indices of the nonzero elements of `x`, one per row, in row-major order.

        x: a tensor of any dtype. The result is int64, of shape `(count, x.ndim)`.

        >>> flex.argwhere(flex.asarray([[0, 5], [6, 0]])).tolist()
        [[0, 1], [1, 0]]
        """
    def array_equal(x1, x2: _Operand, /, equal_nan: builtins.bool = False) -> builtins.bool:
        """Whether the shapes and all elements are equal, as numbers of any dtypes: a Python bool.

        equal_nan: whether NaN equals NaN. DTypeError for float8.

        >>> flex.array_equal(flex.asarray([1, 2]), flex.asarray([1.0, 2.0]))
        True
        """
    def array_split(self, indices_or_sections: _Shape, axis: SupportsIndex = 0) -> tuple[Tensor, ...]:
        """Pieces along an axis, as in numpy.array_split; views, as a tuple.

        indices_or_sections: the number of pieces, of nearly equal size (ValueError if it isn't positive),
        or the indices before which the axis is divided; negative ones count from the end. AxisError if
        the axis is out of range.

        >>> [t.tolist() for t in flex.array_split(flex.asarray([1, 2, 3, 4, 5]), 3)]
        [[1, 2], [3, 4], [5]]
        """
    def asin(self) -> Tensor:
        """Inverse sine.

        x: a tensor, an array or a number. The result has its shape.
        The result has the operands' common dtype; integers and bool are computed in float32.
        DTypeError if the operation doesn't support the dtype.

        >>> flex.asin(flex.asarray([0.0, 1.0])).tolist()
        [0.0, 1.5707963705062866]
        """
    def asinh(self) -> Tensor:
        """Inverse hyperbolic sine.

        x: a tensor, an array or a number. The result has its shape.
        The result has the operands' common dtype; integers and bool are computed in float32.
        DTypeError if the operation doesn't support the dtype.

        >>> flex.asinh(flex.asarray([0.0, flex.inf])).tolist()
        [0.0, inf]
        """
    def atan(self) -> Tensor:
        """Inverse tangent.

        x: a tensor, an array or a number. The result has its shape.
        The result has the operands' common dtype; integers and bool are computed in float32.
        DTypeError if the operation doesn't support the dtype.

        >>> flex.atan(flex.asarray([0.0, flex.inf])).tolist()
        [0.0, 1.5707963705062866]
        """
    def atan2(x1, x2: _Operand, /) -> Tensor:
        """The angle of the point (second, first).

        x1, x2: tensors, arrays or numbers, whose shapes broadcast; a number takes the other's
        dtype.
        The result has the operands' common dtype; integers and bool are computed in float32.
        DTypeError if the operation doesn't support the dtype, or there is no common dtype;
        ShapeError if shapes don't broadcast.

        >>> flex.atan2(flex.asarray([0.0, 1.0]), flex.asarray([-1.0, 0.0])).tolist()
        [3.1415927410125732, 1.5707963705062866]
        """
    def atanh(self) -> Tensor:
        """Inverse hyperbolic tangent.

        x: a tensor, an array or a number. The result has its shape.
        The result has the operands' common dtype; integers and bool are computed in float32.
        DTypeError if the operation doesn't support the dtype.

        >>> flex.atanh(flex.asarray([0.0, 1.0])).tolist()
        [0.0, inf]
        """
    def bincount(self, weights: _Nested | None = None, minlength: SupportsIndex = 0) -> Tensor:
        """How often each integer from 0 occurs.

        x: integers, one dimension, none negative (ValueError). weights: one for each, which are summed
        instead of counted, in float64. minlength: the least number of counts. The result is int64, or
        float64 with weights, and has `max(x) + 1` elements or minlength. ShapeError if shapes don't fit;
        DTypeError if x has no integers, and for complex weights.

        >>> flex.bincount(flex.asarray([0, 1, 1, 3])).tolist()
        [1, 2, 0, 1]
        """
    def bitwise_and(x1, x2: _Operand, /) -> Tensor:
        """Bits set in both.

        x1, x2: tensors, arrays or numbers, whose shapes broadcast; a number takes the other's
        dtype.
        The result has the operands' common dtype.
        DTypeError if the operation doesn't support the dtype, or there is no common dtype;
        ShapeError if shapes don't broadcast.

        >>> flex.bitwise_and(flex.asarray([5, 6]), flex.asarray([3, 3])).tolist()
        [1, 2]
        """
    def bitwise_invert(self) -> Tensor:
        """Bits inverted.

        x: a tensor, an array or a number. The result has its shape.
        The result has the operands' common dtype.
        DTypeError if the operation doesn't support the dtype.

        >>> flex.bitwise_invert(flex.asarray([0, 5])).tolist()
        [-1, -6]
        """
    def bitwise_left_shift(x1, x2: _Operand, /) -> Tensor:
        """Bits shifted left; 0 for shifts by the width or more.

        x1, x2: tensors, arrays or numbers, whose shapes broadcast; a number takes the other's
        dtype.
        The result has the operands' common dtype.
        DTypeError if the operation doesn't support the dtype, or there is no common dtype;
        ShapeError if shapes don't broadcast.

        >>> flex.bitwise_left_shift(flex.asarray([1, 3]), flex.asarray([4, 2])).tolist()
        [16, 12]
        """
    def bitwise_or(x1, x2: _Operand, /) -> Tensor:
        """Bits set in either.

        x1, x2: tensors, arrays or numbers, whose shapes broadcast; a number takes the other's
        dtype.
        The result has the operands' common dtype.
        DTypeError if the operation doesn't support the dtype, or there is no common dtype;
        ShapeError if shapes don't broadcast.

        >>> flex.bitwise_or(flex.asarray([5, 6]), flex.asarray([3, 3])).tolist()
        [7, 7]
        """
    def bitwise_right_shift(x1, x2: _Operand, /) -> Tensor:
        """Bits shifted right, keeping the sign; 0 or -1 for shifts by the width or more.

        x1, x2: tensors, arrays or numbers, whose shapes broadcast; a number takes the other's
        dtype.
        The result has the operands' common dtype.
        DTypeError if the operation doesn't support the dtype, or there is no common dtype;
        ShapeError if shapes don't broadcast.

        >>> flex.bitwise_right_shift(flex.asarray([4, -4]), flex.asarray([1, 1])).tolist()
        [2, -2]
        """
    def bitwise_xor(x1, x2: _Operand, /) -> Tensor:
        """Bits set in exactly one.

        x1, x2: tensors, arrays or numbers, whose shapes broadcast; a number takes the other's
        dtype.
        The result has the operands' common dtype.
        DTypeError if the operation doesn't support the dtype, or there is no common dtype;
        ShapeError if shapes don't broadcast.

        >>> flex.bitwise_xor(flex.asarray([5, 6]), flex.asarray([3, 3])).tolist()
        [6, 5]
        """
    def broadcast_to(self, shape: _Shape) -> Tensor:
        """Broadcasts dimensions of size 1, and adds new ones in front; a view.

        shape: an integer or a tuple of them. ShapeError if x doesn't broadcast to it.

        >>> flex.broadcast_to(flex.asarray([[1], [2]]), (2, 3)).tolist()
        [[1, 1, 1], [2, 2, 2]]
        """
    def ceil(self) -> Tensor:
        """The smallest integer not below x.

        x: a tensor, an array or a number. The result has its shape.
        The result has the operands' common dtype.
        DTypeError if the operation doesn't support the dtype.

        >>> flex.ceil(flex.asarray([1.5, -1.5])).tolist()
        [2.0, -1.0]
        """
    def chunk(self, chunks: SupportsIndex, axis: SupportsIndex = 0) -> tuple[Tensor, ...]:
        """`chunks` pieces of equal size along an axis, as in torch.chunk. If the size of the axis isn't
        divisible, the last piece is smaller, or there are fewer pieces. Views, as a tuple.

        ValueError if chunks is not positive; AxisError if the axis is out of range.

        >>> [t.tolist() for t in flex.chunk(flex.asarray([1, 2, 3, 4, 5]), 2)]
        [[1, 2, 3], [4, 5]]
        """
    def clip(self, min: _Operand | None = None, max: _Operand | None = None) -> Tensor:
        """Clamps values to the range from `min` to `max`; None means no bound.

        x: a tensor, an array or a number. min, max: numbers, or tensors that broadcast with it. NaN in
        x or a bound gives NaN; if `min` is above `max` the result is `max`. The result has the common
        dtype. DTypeError for bool and complex numbers; ShapeError if shapes don't broadcast.

        >>> flex.clip(flex.asarray([1, 5, 9]), 2, 6).tolist()
        [2, 5, 6]
        >>> flex.clip(flex.asarray([1, 5, 9]), max=6).tolist()
        [1, 5, 6]
        """
    def conj(self) -> Tensor:
        """Complex conjugate.

        x: a tensor, an array or a number. The result has its shape.
        The result has the operands' common dtype.
        DTypeError if the operation doesn't support the dtype.

        >>> flex.conj(flex.asarray([1 + 2j])).tolist()
        [(1-2j)]
        """
    def copysign(x1, x2: _Operand, /) -> Tensor:
        """The first's magnitude with the second's sign.

        x1, x2: tensors, arrays or numbers, whose shapes broadcast; a number takes the other's
        dtype.
        The result has the operands' common dtype; integers and bool are computed in float32.
        DTypeError if the operation doesn't support the dtype, or there is no common dtype;
        ShapeError if shapes don't broadcast.

        >>> flex.copysign(flex.asarray([1.0, 2.0]), flex.asarray([-0.0, 3.0])).tolist()
        [-1.0, 2.0]
        """
    def cos(self) -> Tensor:
        """Cosine.

        x: a tensor, an array or a number. The result has its shape.
        The result has the operands' common dtype; integers and bool are computed in float32.
        DTypeError if the operation doesn't support the dtype.

        >>> flex.cos(flex.asarray([0.0])).tolist()
        [1.0]
        """
    def cosh(self) -> Tensor:
        """Hyperbolic cosine.

        x: a tensor, an array or a number. The result has its shape.
        The result has the operands' common dtype; integers and bool are computed in float32.
        DTypeError if the operation doesn't support the dtype.

        >>> flex.cosh(flex.asarray([0.0, flex.inf])).tolist()
        [1.0, inf]
        """
    def count_nonzero(self, axis: _Shape | None = None, *, keepdims: builtins.bool = False) -> Tensor:
        """The number of nonzero elements. Arguments and errors are those of `any`; the result is int64.

        >>> flex.count_nonzero(flex.asarray([[0, 1], [2, 3]]), axis=0).tolist()
        [1, 2]
        """
    def cross(x1, x2: _Operand, /, *, axis: SupportsIndex = -1) -> Tensor:
        """The cross product of vectors with three elements along an axis.

        x1, x2: of size 3 along the axis, otherwise they broadcast (ShapeError). The result has the
        common dtype; DTypeError for bool, or if there is none; AxisError if the axis is out of range.

        >>> flex.cross(flex.asarray([1, 0, 0]), flex.asarray([0, 1, 0])).tolist()
        [0, 0, 1]
        """
    def cumulative_max(self, axis: SupportsIndex | None = None) -> Tensor:
        """The cumulative maximum along an axis; NaN propagates.

        axis: may be None if x has one dimension (ValueError). The result has the shape and dtype of x.
        DTypeError for complex numbers; AxisError if the axis is out of range.

        >>> flex.cumulative_max(flex.asarray([1, 3, 2])).tolist()
        [1, 3, 3]
        """
    def cumulative_min(self, axis: SupportsIndex | None = None) -> Tensor:
        """The cumulative minimum along an axis. Arguments and errors are those of `cumulative_max`.

        >>> flex.cumulative_min(flex.asarray([3, 1, 2])).tolist()
        [3, 1, 1]
        """
    def cumulative_prod(self, axis: SupportsIndex | None = None, *, dtype: _DType | None = None, include_initial: builtins.bool = False) -> Tensor:
        """The cumulative product along an axis. Arguments and errors are those of `cumulative_sum`; the
        initial value is 1.

        >>> flex.cumulative_prod(flex.asarray([2, 3, 4])).tolist()
        [2, 6, 24]
        """
    def cumulative_sum(self, axis: SupportsIndex | None = None, *, dtype: _DType | None = None, include_initial: builtins.bool = False) -> Tensor:
        """The cumulative sum along an axis.

        axis: may be None if x has one dimension (ValueError). dtype: the dtype of the sums, by default
        int64 for bool and signed integers, uint64 for unsigned ones, else that of x. include_initial:
        prepend a 0, so that the axis is longer by one. Sums of floats are those of adding in order, up
        to rounding: of numbers that are not negative they never decrease, and those of a part of a line
        are a part of the line's. AxisError if the axis is out of range.

        >>> flex.cumulative_sum(flex.asarray([1, 2, 3]), include_initial=True).tolist()
        [0, 1, 3, 6]
        """
    def det(self) -> Tensor:
        """The determinant of each matrix.

        x: `[.., n, n]`; the result is `[..]`. Integers become float32, float16 and bfloat16 are computed
        in float32. The product of the pivots of the LU factorisation, which overflows only if the result
        does; 1 for matrices without elements. ShapeError if the matrices are not square; DTypeError for
        float8.

        >>> flex.linalg.det(flex.asarray([[1.0, 2.0], [3.0, 4.0]], dtype=flex.float64)).item()
        -2.0
        """
    def diag(self, k: SupportsIndex = 0) -> Tensor:
        """Diagonal `k` of a matrix, as a view; of a vector, the square matrix with its elements on that
        diagonal, and zeros elsewhere.

        k: positive above the main diagonal. ShapeError for other numbers of dimensions.

        >>> flex.diag(flex.asarray([[1, 2], [3, 4]])).tolist(), flex.diag(flex.asarray([5]), k=1).tolist()
        ([1, 4], [[0, 5], [0, 0]])
        """
    def diff(self, n: SupportsIndex = 1, axis: SupportsIndex = -1, *, prepend: _Operand | None = None, append: _Operand | None = None) -> Tensor:
        """Differences of adjacent elements along an axis, taken `n` times.

        prepend, append: values to join to x first, before and after it: a number, or a tensor of the
        shape of x except along the axis (ShapeError). The result has the common dtype, and an axis
        shorter by n. ValueError if n is negative; DTypeError for bool; AxisError if the axis is out of
        range.

        >>> flex.diff(flex.asarray([1, 4, 9, 16])).tolist()
        [3, 5, 7]
        """
    def digamma(self) -> Tensor:
        """The digamma function, the derivative of `lgamma`: minus infinity at 0, NaN at negative integers.
        Dtypes and errors are those of `lgamma`.

        >>> round(flex.digamma(flex.asarray(1.0)).item(), 5)
        -0.57722
        """
    def divide(x1, x2: _Operand, /) -> Tensor:
        """Quotient; the default float for integers.

        x1, x2: tensors, arrays or numbers, whose shapes broadcast; a number takes the other's
        dtype.
        The result has the operands' common dtype; integers and bool are computed in float32.
        DTypeError if the operation doesn't support the dtype, or there is no common dtype;
        ShapeError if shapes don't broadcast.

        >>> flex.divide(flex.asarray([1, 2]), flex.asarray([4, 4])).tolist()
        [0.25, 0.5]
        """
    def dot(x1, x2: _Operand, /) -> Tensor:
        """The product of numpy.dot: of vectors or matrices as `matmul`, with a number the product, and
        otherwise the sum of products over the last axis of x1 and the second-last of x2; the result has
        the other axes of x1, followed by those of x2.

        x1, x2: of the same size along these axes (ShapeError). The result has the common dtype;
        DTypeError for bool, or if there is none.

        >>> flex.dot(flex.asarray([1, 2]), flex.asarray([[1, 2], [3, 4]])).tolist()
        [7, 10]
        """
    def empty_like(self, dtype: _DType | None = None, *, device: _Device | None = None) -> Tensor:
        """A tensor with unspecified values, of the shape of `x` and its dtype, or another. MemoryError if
        there is not enough memory.

        >>> flex.empty_like(flex.asarray([1, 2])).dtype
        flex.int64
        """
    def equal(x1, x2: _Operand, /) -> Tensor:
        """Whether equal.

        x1, x2: tensors, arrays or numbers, whose shapes broadcast; a number takes the other's
        dtype, and integers are compared with it exactly, in range or not.
        The result is bool.
        DTypeError if the operation doesn't support the dtype, or there is no common dtype;
        ShapeError if shapes don't broadcast.

        >>> flex.equal(flex.asarray([1, 2]), flex.asarray([2, 2])).tolist()
        [False, True]
        """
    def erf(self) -> Tensor:
        """Error function.

        x: a tensor, an array or a number. The result has its shape.
        The result has the operands' common dtype; integers and bool are computed in float32.
        DTypeError if the operation doesn't support the dtype.

        >>> flex.erf(flex.asarray([0.0, 5.0])).tolist()
        [0.0, 1.0]
        """
    def erfc(self) -> Tensor:
        """`1 - erf(x)` without cancellation.

        x: a tensor, an array or a number. The result has its shape.
        The result has the operands' common dtype; integers and bool are computed in float32.
        DTypeError if the operation doesn't support the dtype.

        >>> flex.erfc(flex.asarray([0.0, flex.inf])).tolist()
        [1.0, 0.0]
        """
    def erfinv(self) -> Tensor:
        """The inverse of the error function: infinite at 1 and -1, NaN beyond. Dtypes and errors are those
        of `lgamma`.

        >>> flex.erfinv(flex.asarray([0.0, 1.0])).tolist()
        [0.0, inf]
        """
    def exp(self) -> Tensor:
        """e to the power of x.

        x: a tensor, an array or a number. The result has its shape.
        The result has the operands' common dtype; integers and bool are computed in float32.
        DTypeError if the operation doesn't support the dtype.

        >>> flex.exp(flex.asarray([0.0, 1.0, -flex.inf])).tolist()
        [1.0, 2.7182817459106445, 0.0]
        """
    def exp2(self) -> Tensor:
        """2 to the power of x.

        x: a tensor, an array or a number. The result has its shape.
        The result has the operands' common dtype; integers and bool are computed in float32.
        DTypeError if the operation doesn't support the dtype.

        >>> flex.exp2(flex.asarray([0.0, 3.0, -1.0])).tolist()
        [1.0, 8.0, 0.5]
        """
    def expand_dims(self, axis: _Shape = 0) -> Tensor:
        """Inserts dimensions of size 1 at these positions of the result; a view.

        axis: an integer or a tuple of them. AxisError if one is out of range or repeated.

        >>> flex.expand_dims(flex.zeros((2, 3)), axis=(0, -1)).shape
        (1, 2, 3, 1)
        """
    def expm1(self) -> Tensor:
        """`exp(x) - 1` without cancellation.

        x: a tensor, an array or a number. The result has its shape.
        The result has the operands' common dtype; integers and bool are computed in float32.
        DTypeError if the operation doesn't support the dtype.

        >>> flex.expm1(flex.asarray([0.0, 1e-20, -flex.inf])).tolist()
        [0.0, 9.999999682655225e-21, -1.0]
        """
    def flip(self, axis: _Shape | None = None) -> Tensor:
        """Reverses the elements along one axis, several, or all; a view.

        axis: an integer or a tuple of them. AxisError if one is out of range or repeated.

        >>> flex.flip(flex.asarray([1, 2, 3])).tolist()
        [3, 2, 1]
        """
    def fliplr(self) -> Tensor:
        """Reverses the second axis: columns from left to right; a view. ShapeError if there are fewer than
        two dimensions.

        >>> flex.fliplr(flex.asarray([[1, 2], [3, 4]])).tolist()
        [[2, 1], [4, 3]]
        """
    def flipud(self) -> Tensor:
        """Reverses the first axis: rows from top to bottom; a view. ShapeError for a number.

        >>> flex.flipud(flex.asarray([[1, 2], [3, 4]])).tolist()
        [[3, 4], [1, 2]]
        """
    def floor(self) -> Tensor:
        """The largest integer not above x.

        x: a tensor, an array or a number. The result has its shape.
        The result has the operands' common dtype.
        DTypeError if the operation doesn't support the dtype.

        >>> flex.floor(flex.asarray([1.5, -1.5])).tolist()
        [1.0, -2.0]
        """
    def floor_divide(x1, x2: _Operand, /) -> Tensor:
        """Floor of the quotient; with an infinity the quotient itself, so `1 // -inf` is -0, as the
        array API standard says. Integer division by zero is an error.

        x1, x2: tensors, arrays or numbers, whose shapes broadcast; a number takes the other's
        dtype.
        The result has the operands' common dtype.
        DTypeError if the operation doesn't support the dtype, or there is no common dtype;
        ShapeError if shapes don't broadcast.

        >>> flex.floor_divide(flex.asarray([7, -7]), flex.asarray([2, 2])).tolist()
        [3, -4]
        """
    def fmod(x1, x2: _Operand, /) -> Tensor:
        """Remainder with the sign of the dividend. Integer division by zero is an error.

        x1, x2: tensors, arrays or numbers, whose shapes broadcast; a number takes the other's
        dtype.
        The result has the operands' common dtype.
        DTypeError if the operation doesn't support the dtype, or there is no common dtype;
        ShapeError if shapes don't broadcast.

        >>> flex.fmod(flex.asarray([7, -7]), flex.asarray([4, 4])).tolist()
        [3, -3]
        """
    def full_like(self, fill_value: _Number, dtype: _DType | None = None, *, device: _Device | None = None) -> Tensor:
        """A tensor filled with one number, of the shape of `x` and its dtype, or another.

        The number is converted as by `full`, with the errors of `full`.

        >>> flex.full_like(flex.asarray([1, 2]), 7).tolist()
        [7, 7]
        """
    def gelu(self) -> Tensor:
        """`x / 2 * (1 + erf(x / sqrt(2)))` (Hendrycks and Gimpel 2016).

        x: a tensor, an array or a number. The result has its shape.
        The result has the operands' common dtype; integers and bool are computed in float32.
        DTypeError if the operation doesn't support the dtype.

        >>> flex.gelu(flex.asarray([0.0, 20.0])).tolist()
        [0.0, 20.0]
        """
    def gelu_tanh(self) -> Tensor:
        """The approximation of gelu by tanh.

        x: a tensor, an array or a number. The result has its shape.
        The result has the operands' common dtype; integers and bool are computed in float32.
        DTypeError if the operation doesn't support the dtype.

        >>> flex.gelu_tanh(flex.asarray([0.0, 20.0])).tolist()
        [0.0, 20.0]
        """
    def greater(x1, x2: _Operand, /) -> Tensor:
        """Whether the first is greater.

        x1, x2: tensors, arrays or numbers, whose shapes broadcast; a number takes the other's
        dtype, and integers are compared with it exactly, in range or not.
        The result is bool.
        DTypeError if the operation doesn't support the dtype, or there is no common dtype;
        ShapeError if shapes don't broadcast.

        >>> flex.greater(flex.asarray([1, 2, 3]), flex.asarray([2, 2, 2])).tolist()
        [False, False, True]
        """
    def greater_equal(x1, x2: _Operand, /) -> Tensor:
        """Whether the first is greater or equal.

        x1, x2: tensors, arrays or numbers, whose shapes broadcast; a number takes the other's
        dtype, and integers are compared with it exactly, in range or not.
        The result is bool.
        DTypeError if the operation doesn't support the dtype, or there is no common dtype;
        ShapeError if shapes don't broadcast.

        >>> flex.greater_equal(flex.asarray([1, 2]), flex.asarray([2, 2])).tolist()
        [False, True]
        """
    def hsplit(self, indices_or_sections: _Shape) -> tuple[Tensor, ...]:
        """Pieces along the second axis, of vectors along the first; views, as a tuple.

        indices_or_sections: the number of pieces, of equal size (ShapeError if that doesn't divide
        the axis), or the indices before which the axis is divided. ShapeError for a number.

        >>> [t.tolist() for t in flex.hsplit(flex.asarray([[1, 2], [3, 4]]), 2)]
        [[[1], [3]], [[2], [4]]]
        """
    def hypot(x1, x2: _Operand, /) -> Tensor:
        """Length of the hypotenuse.

        x1, x2: tensors, arrays or numbers, whose shapes broadcast; a number takes the other's
        dtype.
        The result has the operands' common dtype; integers and bool are computed in float32.
        DTypeError if the operation doesn't support the dtype, or there is no common dtype;
        ShapeError if shapes don't broadcast.

        >>> flex.hypot(flex.asarray([3.0, 5.0]), flex.asarray([4.0, 12.0])).tolist()
        [5.0, 13.0]
        """
    def i0(self) -> Tensor:
        """The modified Bessel function of the first kind of order 0. Dtypes and errors are those of
        `lgamma`.

        >>> round(flex.i0(flex.asarray(1.0)).item(), 5)
        1.26607
        """
    def i0e(self) -> Tensor:
        """`i0` times `exp(-abs(x))`, which does not overflow. Dtypes and errors are those of `lgamma`.

        >>> round(flex.i0e(flex.asarray(1.0)).item(), 5)
        0.46576
        """
    def i1(self) -> Tensor:
        """The modified Bessel function of the first kind of order 1. Dtypes and errors are those of
        `lgamma`.

        >>> round(flex.i1(flex.asarray(-1.0)).item(), 5)
        -0.56516
        """
    def i1e(self) -> Tensor:
        """`i1` times `exp(-abs(x))`, which does not overflow. Dtypes and errors are those of `lgamma`.

        >>> round(flex.i1e(flex.asarray(1.0)).item(), 5)
        0.20791
        """
    def index_add(self, indices: _Nested, values: _Operand, axis: SupportsIndex = 0) -> Tensor:
        """A copy of `x` with `values` added to its slices at the positions `indices` along `axis`, which
        may repeat. The inverse of `take`.

        indices: integers. values: a number, or a tensor that broadcasts to the shape that `take` gives
        for these indices. The result has the shape and the dtype of x, and is the same for any number
        of threads. IndexError if a position is out of range; ShapeError if shapes don't fit; DTypeError
        if values are of a higher kind than the dtype of x, or if that is bool.

        >>> flex.index_add(flex.zeros((2, 2)), flex.asarray([1, 1]), flex.ones((2, 2))).tolist()
        [[0.0, 0.0], [2.0, 2.0]]
        """
    def inner(x1, x2: _Operand, /) -> Tensor:
        """The sum of products over the last axes of both; the result has the other axes of x1, followed by
        those of x2. With a number, the product.

        x1, x2: of the same size along the last axis (ShapeError). The result has the common dtype;
        DTypeError for bool, or if there is none.

        >>> flex.inner(flex.asarray([[1, 2], [3, 4]]), flex.asarray([10, 1])).tolist()
        [12, 34]
        """
    def isclose(x1, x2: _Operand, /, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: builtins.bool = False) -> Tensor:
        """Whether each element of x1 is within `atol + rtol * abs(x2)` of that of x2, in float64.

        x1, x2: of any dtypes with a common one (DTypeError), which broadcast (ShapeError). equal_nan:
        whether NaN is close to NaN. Infinities are close to themselves alone.

        >>> flex.isclose(flex.asarray([1.0, 2.0]), flex.asarray([1.0 + 1e-7, 2.1])).tolist()
        [True, False]
        """
    def isfinite(self) -> Tensor:
        """Whether finite.

        x: a tensor, an array or a number. The result has its shape.
        The result is bool.
        DTypeError if the operation doesn't support the dtype.

        >>> flex.isfinite(flex.asarray([1.0, flex.inf, flex.nan])).tolist()
        [True, False, False]
        """
    def isin(x1, x2: _Nested, /, *, invert: builtins.bool = False) -> Tensor:
        """Whether each element of `x1` is in `x2`; with `invert`, whether it is not.

        x1, x2: tensors of any shapes, or numbers; x2 may be a list. The result is bool, of the shape of
        x1. NaN equals no element; integers are compared with floats exactly. DTypeError for complex
        numbers, or if there is no common dtype.

        >>> flex.isin(flex.asarray([1, 2, 3]), flex.asarray([3, 1])).tolist()
        [True, False, True]
        """
    def isinf(self) -> Tensor:
        """Whether infinite.

        x: a tensor, an array or a number. The result has its shape.
        The result is bool.
        DTypeError if the operation doesn't support the dtype.

        >>> flex.isinf(flex.asarray([1.0, flex.inf, flex.nan])).tolist()
        [False, True, False]
        """
    def isnan(self) -> Tensor:
        """Whether not a number.

        x: a tensor, an array or a number. The result has its shape.
        The result is bool.
        DTypeError if the operation doesn't support the dtype.

        >>> flex.isnan(flex.asarray([1.0, flex.inf, flex.nan])).tolist()
        [False, False, True]
        """
    def kron(x1, x2: _Operand, /) -> Tensor:
        """The Kronecker product: each element of x1 times the whole of x2, as blocks. The shape with fewer
        dimensions is padded with ones in front; sizes are multiplied.

        The result has the common dtype; DTypeError for bool, or if there is none.

        >>> flex.kron(flex.asarray([1, 10]), flex.asarray([1, 2, 3])).tolist()
        [1, 2, 3, 10, 20, 30]
        """
    def less(x1, x2: _Operand, /) -> Tensor:
        """Whether the first is less.

        x1, x2: tensors, arrays or numbers, whose shapes broadcast; a number takes the other's
        dtype, and integers are compared with it exactly, in range or not.
        The result is bool.
        DTypeError if the operation doesn't support the dtype, or there is no common dtype;
        ShapeError if shapes don't broadcast.

        >>> flex.less(flex.asarray([1, 2]), flex.asarray([2, 2])).tolist()
        [True, False]
        """
    def less_equal(x1, x2: _Operand, /) -> Tensor:
        """Whether the first is less or equal.

        x1, x2: tensors, arrays or numbers, whose shapes broadcast; a number takes the other's
        dtype, and integers are compared with it exactly, in range or not.
        The result is bool.
        DTypeError if the operation doesn't support the dtype, or there is no common dtype;
        ShapeError if shapes don't broadcast.

        >>> flex.less_equal(flex.asarray([1, 2, 3]), flex.asarray([2, 2, 2])).tolist()
        [True, True, False]
        """
    def lgamma(self) -> Tensor:
        """The logarithm of the magnitude of the gamma function; infinite at 0 and at negative integers.

        Computed in float64 and rounded to the dtype of x; integers become float32. DTypeError for
        complex numbers and float8.

        >>> flex.lgamma(flex.asarray([1.0, 2.0, 0.0])).tolist()
        [0.0, 0.0, inf]
        """
    def log(self) -> Tensor:
        """Natural logarithm.

        x: a tensor, an array or a number. The result has its shape.
        The result has the operands' common dtype; integers and bool are computed in float32.
        DTypeError if the operation doesn't support the dtype.

        >>> flex.log(flex.asarray([1.0, 0.0])).tolist()
        [0.0, -inf]
        """
    def log10(self) -> Tensor:
        """Logarithm to base 10.

        x: a tensor, an array or a number. The result has its shape.
        The result has the operands' common dtype; integers and bool are computed in float32.
        DTypeError if the operation doesn't support the dtype.

        >>> flex.log10(flex.asarray([1.0, 100.0])).tolist()
        [0.0, 2.0]
        """
    def log1p(self) -> Tensor:
        """`log(1 + x)` without cancellation.

        x: a tensor, an array or a number. The result has its shape.
        The result has the operands' common dtype; integers and bool are computed in float32.
        DTypeError if the operation doesn't support the dtype.

        >>> flex.log1p(flex.asarray([0.0, 1e-20, -1.0])).tolist()
        [0.0, 9.999999682655225e-21, -inf]
        """
    def log2(self) -> Tensor:
        """Logarithm to base 2.

        x: a tensor, an array or a number. The result has its shape.
        The result has the operands' common dtype; integers and bool are computed in float32.
        DTypeError if the operation doesn't support the dtype.

        >>> flex.log2(flex.asarray([1.0, 8.0, 0.5])).tolist()
        [0.0, 3.0, -1.0]
        """
    def logaddexp(x1, x2: _Operand, /) -> Tensor:
        """`log(exp(a) + exp(b))` without overflow.

        x1, x2: tensors, arrays or numbers, whose shapes broadcast; a number takes the other's
        dtype.
        The result has the operands' common dtype; integers and bool are computed in float32.
        DTypeError if the operation doesn't support the dtype, or there is no common dtype;
        ShapeError if shapes don't broadcast.

        >>> flex.logaddexp(flex.asarray([1000.0, 1.0]), flex.asarray([0.0, -flex.inf])).tolist()
        [1000.0, 1.0]
        """
    def logical_and(x1, x2: _Operand, /) -> Tensor:
        """Whether both are true (not zero).

        x1, x2: tensors, arrays or numbers, whose shapes broadcast; a number takes the other's
        dtype, and integers are compared with it exactly, in range or not.
        The result is bool.
        DTypeError if the operation doesn't support the dtype, or there is no common dtype;
        ShapeError if shapes don't broadcast.

        >>> flex.logical_and(flex.asarray([True, True]), flex.asarray([True, False])).tolist()
        [True, False]
        """
    def logical_not(self) -> Tensor:
        """Whether not true (zero).

        x: a tensor, an array or a number. The result has its shape.
        The result is bool.
        DTypeError if the operation doesn't support the dtype.

        >>> flex.logical_not(flex.asarray([True, False])).tolist()
        [False, True]
        """
    def logical_or(x1, x2: _Operand, /) -> Tensor:
        """Whether either is true (not zero).

        x1, x2: tensors, arrays or numbers, whose shapes broadcast; a number takes the other's
        dtype, and integers are compared with it exactly, in range or not.
        The result is bool.
        DTypeError if the operation doesn't support the dtype, or there is no common dtype;
        ShapeError if shapes don't broadcast.

        >>> flex.logical_or(flex.asarray([True, False]), flex.asarray([False, False])).tolist()
        [True, False]
        """
    def logical_xor(x1, x2: _Operand, /) -> Tensor:
        """Whether exactly one is true (not zero).

        x1, x2: tensors, arrays or numbers, whose shapes broadcast; a number takes the other's
        dtype, and integers are compared with it exactly, in range or not.
        The result is bool.
        DTypeError if the operation doesn't support the dtype, or there is no common dtype;
        ShapeError if shapes don't broadcast.

        >>> flex.logical_xor(flex.asarray([True, True]), flex.asarray([True, False])).tolist()
        [False, True]
        """
    @overload
    def logsumexp(self, axis: _Shape | None = None, *, keepdims: builtins.bool = False, b: _Nested | None = None, return_sign: Literal[False] = False) -> Tensor:
        """`log(sum(exp(x)))`, or with weights `log(sum(b * exp(x)))`, without overflow.

        axis: an integer, a tuple of them, or None for all. keepdims: keep reduced axes with size 1. b:
        weights, which broadcast with x (ShapeError); where b is 0, x is of no account. return_sign:
        whether to return `(result, sign)` for the magnitude and the sign of the sum, 0 if that is 0;
        without it, the result of a negative sum is NaN. The result has the dtype of x, or the common one
        of x and b, float32 for integers and bool; it is `-inf` if there are no elements. DTypeError for
        complex numbers; AxisError if an axis is out of range or repeated.

        >>> flex.logsumexp(flex.asarray([-flex.inf, 1000.0])).item()
        1000.0
        >>> y, sign = flex.logsumexp(flex.zeros(2), b=[1, -3], return_sign=True)
        >>> flex.exp(y).item(), sign.item()
        (2.0, -1.0)
        """
    @overload
    def logsumexp(self, axis: _Shape | None = None, *, keepdims: builtins.bool = False, b: _Nested | None = None, return_sign: Literal[True]) -> tuple[Tensor, Tensor]: ...
    def masked_fill(self, mask: _Operand, value: _Number) -> Tensor:
        """`x` with `value` where the mask is true.

        mask: a bool tensor; it and x broadcast together. value: a number. The result has the dtype of
        x. DTypeError if the mask is not bool, or the value is of a higher kind than the dtype;
        ValueError if it is out of range; ShapeError if shapes don't broadcast.

        >>> flex.masked_fill(flex.asarray([1, 2, 3]), flex.asarray([True, False, True]), 0).tolist()
        [0, 2, 0]
        """
    def masked_select(self, mask: _Operand) -> Tensor:
        """The elements of `x` where the mask is true, in row-major order.

        mask: a bool tensor; it and x broadcast together. The result has one dimension and the dtype of
        x. DTypeError if the mask is not bool; ShapeError if shapes don't broadcast.

        >>> flex.masked_select(flex.asarray([1, 2, 3]), flex.asarray([True, False, True])).tolist()
        [1, 3]
        """
    def matmul(x1, x2: _Operand, /, *, dtype: _DType | None = None) -> Tensor:
        """The matrix product. A vector on the left is a row, on the right a column, whose dimension is
        removed from the result; dimensions before the last two are batches and broadcast.

        x1: `[.., n, k]` or `[k]`. x2: `[.., k, m]` or `[k]`. The result is `[.., n, m]`, of the common
        dtype; integers wrap, float16 and bfloat16 are summed in float32. dtype: the dtype of the sums
        and of the result, as if both operands were converted to it first; int8 and uint8 in int32, and
        float16 and bfloat16 in float32, need no such copies. If the CPU multiplies pairs of bfloat16
        (AVX-512 BF16), their numbers below 1.2e-38 may count as zero. ShapeError if k or the batches
        don't fit, or an operand is a number; DTypeError for bool, without a common dtype, or if `dtype`
        can't hold the common dtype's values.

        >>> flex.matmul(flex.asarray([[1, 2], [3, 4]]), flex.asarray([1, -1])).tolist()
        [-1, -1]
        >>> x = flex.full((1, 300), 100, dtype=flex.int8)
        >>> flex.matmul(x, x.T, dtype=flex.int32).tolist()
        [[3000000]]
        """
    def matrix_power(self, n: SupportsIndex, /) -> Tensor:
        """Each matrix to an integer power.

        x: `[.., n, n]`, of any dtype that has products. n: a negative power is that of the inverse, for
        which integers become float32; power 0 is the identity. By repeated squaring; float16 and
        bfloat16 are computed in float32. LinAlgError for a negative power of a singular matrix;
        ShapeError if the matrices are not square; DTypeError for bool and float8.

        >>> flex.linalg.matrix_power(flex.asarray([[1, 1], [0, 1]]), 5).tolist()
        [[1, 5], [0, 1]]
        """
    def matrix_transpose(self) -> Tensor:
        """Swaps the last two dimensions; a view. ShapeError if there are fewer.

        >>> flex.matrix_transpose(flex.asarray([[1, 2], [3, 4]])).tolist()
        [[1, 3], [2, 4]]
        """
    def max(self, axis: _Shape | None = None, *, keepdims: builtins.bool = False, out: Any | None = None, initial: _Number | None = None, where: _Nested | None = None) -> Tensor:
        """The largest element; NaN propagates.

        axis: an integer, a tuple of them, or None for all. keepdims: keep reduced axes with size 1.
        The result has the dtype of x. initial: a number that is one of the elements everywhere.
        where: as for `sum`, with initial. ValueError if there are no elements and no initial, or for
        where without it; DTypeError for complex numbers; AxisError if an axis is out of range or
        repeated.

        >>> flex.max(flex.asarray([[1, 5], [3, 2]]), axis=1).tolist()
        [5, 3]
        """
    def max_with_indices(self, axis: SupportsIndex | None = None, *, keepdims: builtins.bool = False) -> tuple[Tensor, Tensor]:
        """`max` and `argmax` in one: the largest element and its index (int64). Arguments and errors are
        those of `argmax`.

        >>> [t.tolist() for t in flex.max_with_indices(flex.asarray([[1, 5], [3, 2]]), axis=1)]
        [[5, 3], [1, 0]]
        """
    def maximum(x1, x2: _Operand, /) -> Tensor:
        """The larger; NaN if either is.

        x1, x2: tensors, arrays or numbers, whose shapes broadcast; a number takes the other's
        dtype.
        The result has the operands' common dtype.
        DTypeError if the operation doesn't support the dtype, or there is no common dtype;
        ShapeError if shapes don't broadcast.

        >>> flex.maximum(flex.asarray([1.0, -flex.inf]), flex.asarray([3.0, 2.0])).tolist()
        [3.0, 2.0]
        """
    def mean(self, axis: _Shape | None = None, *, dtype: _DType | None = None, keepdims: builtins.bool = False, out: Any | None = None, where: _Nested | None = None) -> Tensor:
        """The arithmetic mean of elements.

        axis: an integer, a tuple of them, or None for all. keepdims: keep reduced axes with size 1. The
        result has the dtype of x, float32 for integers and bool. dtype: a float or complex dtype to
        compute in. out, where: as for `sum`. The mean of no elements is NaN. AxisError if an axis is out
        of range or repeated.

        >>> flex.mean(flex.asarray([1, 2, 6])).item()
        3.0
        """
    def median(self, axis: _Shape | None = None, *, keepdims: builtins.bool = False) -> Tensor:
        """The median of elements: the middle of the sorted ones, or the mean of both in the middle.

        axis: an integer, a tuple of them, or None for all. keepdims: keep reduced axes with size 1. The
        result has the dtype of x, float32 for integers and bool. NaN if an element is NaN, or there is
        none. DTypeError for complex numbers; AxisError if an axis is out of range or repeated.

        >>> flex.median(flex.asarray([[3.0, 1.0, 2.0], [9.0, 7.0, 8.0]]), axis=1).tolist()
        [2.0, 8.0]
        """
    def min(self, axis: _Shape | None = None, *, keepdims: builtins.bool = False, out: Any | None = None, initial: _Number | None = None, where: _Nested | None = None) -> Tensor:
        """The smallest element; NaN propagates. Arguments and errors are those of `max`.

        >>> flex.min(flex.asarray([[1, 5], [3, 2]]), axis=1).tolist()
        [1, 2]
        """
    def min_with_indices(self, axis: SupportsIndex | None = None, *, keepdims: builtins.bool = False) -> tuple[Tensor, Tensor]:
        """`min` and `argmin` in one: the smallest element and its index (int64). Arguments and errors are
        those of `argmin`.

        >>> [t.tolist() for t in flex.min_with_indices(flex.asarray([[1, 5], [3, 2]]), axis=1)]
        [[1, 2], [0, 1]]
        """
    def minimum(x1, x2: _Operand, /) -> Tensor:
        """The smaller; NaN if either is.

        x1, x2: tensors, arrays or numbers, whose shapes broadcast; a number takes the other's
        dtype.
        The result has the operands' common dtype.
        DTypeError if the operation doesn't support the dtype, or there is no common dtype;
        ShapeError if shapes don't broadcast.

        >>> flex.minimum(flex.asarray([1.0, flex.inf]), flex.asarray([3.0, 2.0])).tolist()
        [1.0, 2.0]
        """
    def moveaxis(self, source: _Shape, destination: _Shape) -> Tensor:
        """Moves dimensions to other positions, keeping the order of the others; a view.

        source, destination: equally many axes of x and of the result (ShapeError). AxisError if one is
        out of range or repeated.

        >>> flex.moveaxis(flex.zeros((2, 3, 4)), 0, -1).shape
        (3, 4, 2)
        """
    def multiply(x1, x2: _Operand, /) -> Tensor:
        """Product.

        x1, x2: tensors, arrays or numbers, whose shapes broadcast; a number takes the other's
        dtype.
        The result has the operands' common dtype.
        DTypeError if the operation doesn't support the dtype, or there is no common dtype;
        ShapeError if shapes don't broadcast.

        >>> flex.multiply(flex.asarray([1, 2]), flex.asarray([10, 20])).tolist()
        [10, 40]
        """
    def nan_to_num(self, *, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None) -> Tensor:
        """x with finite numbers in place of NaN and infinities; of complex numbers, in both parts.

        nan: in place of NaN. posinf, neginf: in place of infinities; by default the largest and the
        smallest finite number of the dtype. Bool and integers are left as they are. DTypeError for
        float8.

        >>> flex.nan_to_num(flex.asarray([flex.nan, -flex.inf, 1.0]), neginf=-9).tolist()
        [0.0, -9.0, 1.0]
        """
    def nanmax(self, axis: _Shape | None = None, *, keepdims: builtins.bool = False) -> Tensor:
        """The largest element that is not NaN; NaN if all are. Arguments and errors are those of `max`.

        >>> flex.nanmax(flex.asarray([1.0, flex.nan, 3.0])).item()
        3.0
        """
    def nanmean(self, axis: _Shape | None = None, *, dtype: _DType | None = None, keepdims: builtins.bool = False) -> Tensor:
        """The mean of elements that are not NaN; of none it is NaN.

        dtype: a float or complex dtype to compute in. Other arguments, dtypes and errors are those of
        `mean`.

        >>> flex.nanmean(flex.asarray([1.0, flex.nan, 3.0])).item()
        2.0
        """
    def nanmedian(self, axis: _Shape | None = None, *, keepdims: builtins.bool = False) -> Tensor:
        """The median of the elements that are not NaN; NaN if there are none. Arguments, dtypes and errors
        are those of `median`.

        >>> flex.nanmedian(flex.asarray([3.0, flex.nan, 1.0, 2.0])).item()
        2.0
        """
    def nanmin(self, axis: _Shape | None = None, *, keepdims: builtins.bool = False) -> Tensor:
        """The smallest element that is not NaN; NaN if all are. Arguments and errors are those of
        `min`.

        >>> flex.nanmin(flex.asarray([1.0, flex.nan, 3.0])).item()
        1.0
        """
    def nanpercentile(self, q: _Nested, axis: _Shape | None = None, *, method: _QuantileMethod = 'linear', keepdims: builtins.bool = False) -> Tensor:
        """`nanquantile` for `q` from 0 to 100, with the same arguments and errors.

        >>> flex.nanpercentile(flex.asarray([3.0, flex.nan, 1.0, 2.0]), 50).item()
        2.0
        """
    def nanquantile(self, q: _Nested, axis: _Shape | None = None, *, method: _QuantileMethod = 'linear', keepdims: builtins.bool = False) -> Tensor:
        """The quantiles of the elements that are not NaN; NaN if there are none. Arguments, dtypes and
        errors are those of `quantile`.

        >>> flex.nanquantile(flex.asarray([3.0, flex.nan, 1.0, 2.0]), 0.5).item()
        2.0
        """
    def nanstd(self, axis: _Shape | None = None, *, dtype: _DType | None = None, correction: float = 0.0, keepdims: builtins.bool = False, ddof: float | None = None) -> Tensor:
        """The standard deviation of the elements that are not NaN: the square root of `nanvar`, with
        the same arguments and errors.

        >>> flex.nanstd(flex.asarray([1.0, flex.nan, 3.0])).item()
        1.0
        """
    def nansum(self, axis: _Shape | None = None, *, dtype: _DType | None = None, keepdims: builtins.bool = False) -> Tensor:
        """The sum of elements that are not NaN; of none it is 0.

        dtype: the dtype of the sum. Other arguments, dtypes and errors are those of `sum`.

        >>> flex.nansum(flex.asarray([1.0, flex.nan, 3.0])).item()
        4.0
        """
    def nanvar(self, axis: _Shape | None = None, *, dtype: _DType | None = None, correction: float = 0.0, keepdims: builtins.bool = False, ddof: float | None = None) -> Tensor:
        """The variance of the elements that are not NaN; NaN if there are no more than `correction`.
        Arguments, dtypes and errors are those of `var`; DTypeError for complex numbers.

        >>> flex.nanvar(flex.asarray([1.0, flex.nan, 3.0])).item()
        1.0
        """
    def negative(self) -> Tensor:
        """`-x`; the smallest integer wraps to itself.

        x: a tensor, an array or a number. The result has its shape.
        The result has the operands' common dtype.
        DTypeError if the operation doesn't support the dtype.

        >>> flex.negative(flex.asarray([1, -2])).tolist()
        [-1, 2]
        """
    def nextafter(x1, x2: _Operand, /) -> Tensor:
        """The next value from the first towards the second.

        x1, x2: tensors, arrays or numbers, whose shapes broadcast; a number takes the other's
        dtype.
        The result has the operands' common dtype; integers and bool are computed in float32.
        DTypeError if the operation doesn't support the dtype, or there is no common dtype;
        ShapeError if shapes don't broadcast.

        >>> flex.nextafter(flex.asarray([1.0, 0.0]), flex.asarray([2.0, 0.0])).tolist()
        [1.0000001192092896, 0.0]
        """
    def nonzero(self) -> tuple[Tensor, ...]:
        """The indices of the nonzero elements of `x`: one 1-dimensional int64 tensor per dimension, as a
        tuple, in row-major order.

        x: a tensor of any dtype, of one dimension or more (ShapeError).

        >>> [i.tolist() for i in flex.nonzero(flex.asarray([[0, 5], [6, 0]]))]
        [[0, 1], [1, 0]]
        """
    def not_equal(x1, x2: _Operand, /) -> Tensor:
        """Whether not equal.

        x1, x2: tensors, arrays or numbers, whose shapes broadcast; a number takes the other's
        dtype, and integers are compared with it exactly, in range or not.
        The result is bool.
        DTypeError if the operation doesn't support the dtype, or there is no common dtype;
        ShapeError if shapes don't broadcast.

        >>> flex.not_equal(flex.asarray([1, 2]), flex.asarray([2, 2])).tolist()
        [True, False]
        """
    def ones_like(self, dtype: _DType | None = None, *, device: _Device | None = None) -> Tensor:
        """A tensor of ones (or True), of the shape of `x` and its dtype, or another. MemoryError if there
        is not enough memory.

        >>> flex.ones_like(flex.asarray([5, 6])).tolist()
        [1, 1]
        """
    def outer(x1, x2: _Operand, /) -> Tensor:
        """The outer product of two vectors: the product of each element of one with each of the other.

        x1: `[n]`. x2: `[m]` (ShapeError for other ranks). The result is `[n, m]`, of the common dtype
        (DTypeError if there is none).

        >>> flex.outer(flex.asarray([1, 2]), flex.asarray([3, 4])).tolist()
        [[3, 4], [6, 8]]
        """
    def pad(self, pad_width: SupportsIndex | Sequence[SupportsIndex | Sequence[SupportsIndex]], *, value: _Number = 0) -> Tensor:
        """Pads `x` with elements of `value`.

        pad_width: the number of elements before and after, as in numpy.pad: an integer for both ends of
        all dimensions, one pair for all dimensions, or a pair for each. The result has the dtype of x.
        ValueError if one is negative; ShapeError if there is not one pair for each dimension;
        DTypeError if the value is of a higher kind than the dtype.

        >>> flex.pad(flex.asarray([1, 2]), (1, 2), value=9).tolist()
        [9, 1, 2, 9, 9]
        """
    def partition(self, kth: _Shape, axis: SupportsIndex | None = -1) -> Tensor:
        """The values along an axis such that those at the positions kth are where the sorted line has them,
        with none larger before and none smaller behind.

        x: a tensor of an ordered dtype; the result has its shape and dtype. kth: a position, or several,
        negative ones from the end. axis: None for all elements in row-major order. The other values are
        in any order. NaN comes last. ValueError if kth is out of range; AxisError if the axis is;
        DTypeError for complex numbers.

        >>> flex.partition(flex.asarray([3, 1, 2]), 1)[1].item()
        2
        """
    def percentile(self, q: _Nested, axis: _Shape | None = None, *, method: _QuantileMethod = 'linear', keepdims: builtins.bool = False) -> Tensor:
        """`quantile` for `q` from 0 to 100, with the same arguments and errors.

        >>> flex.percentile(flex.asarray([3.0, 1.0, 2.0, 10.0]), 50).item()
        2.5
        """
    def permute_dims(self, axes: _Shape) -> Tensor:
        """Permutes the dimensions: dimension `i` of the result is dimension `axes[i]`; a view.

        axes: each axis once (ShapeError, AxisError).

        >>> flex.permute_dims(flex.zeros((2, 3, 4)), (2, 0, 1)).shape
        (4, 2, 3)
        """
    def positive(self) -> Tensor:
        """x itself.

        x: a tensor, an array or a number. The result has its shape.
        The result has the operands' common dtype.
        DTypeError if the operation doesn't support the dtype.

        >>> flex.positive(flex.asarray([1, -2])).tolist()
        [1, -2]
        """
    def pow(x1, x2: _Operand, /) -> Tensor:
        """The first to the power of the second. Negative exponents of integers are an error. Of
        floats, squares, inverses and roots (exponents 2, -1 and 0.5) are correctly rounded.

        x1, x2: tensors, arrays or numbers, whose shapes broadcast; a number takes the other's
        dtype.
        The result has the operands' common dtype.
        DTypeError if the operation doesn't support the dtype, or there is no common dtype;
        ShapeError if shapes don't broadcast.

        >>> flex.pow(flex.asarray([2, 3]), flex.asarray([10, 2])).tolist()
        [1024, 9]
        """
    def prod(self, axis: _Shape | None = None, *, dtype: _DType | None = None, keepdims: builtins.bool = False, out: Any | None = None, initial: _Number | None = None, where: _Nested | None = None) -> Tensor:
        """The product of elements.

        axis: an integer, a tuple of them, or None for all. keepdims: keep reduced axes with size 1.
        dtype: the dtype of the products, by default int64 for bool and signed integers, uint64 for
        unsigned ones, else that of x. Integers wrap; the product of no elements is 1. out, initial,
        where and errors: as for `sum`.

        >>> flex.prod(flex.asarray([[1, 2], [3, 4]]), axis=1).tolist()
        [2, 12]
        """
    def ptp(self, axis: _Shape | None = None, *, keepdims: builtins.bool = False) -> Tensor:
        """The largest element less the smallest, in the dtype of x; integers wrap. Arguments and errors are
        those of `max`.

        >>> flex.ptp(flex.asarray([[1, 5], [3, 2]]), axis=1).tolist()
        [4, 1]
        """
    def quantile(self, q: _Nested, axis: _Shape | None = None, *, method: _QuantileMethod = 'linear', keepdims: builtins.bool = False) -> Tensor:
        """The quantiles of elements: the values at `q` times the way through the sorted elements.

        q: a number from 0 to 1 (ValueError), or numbers of any shape, whose dimensions come first in the
        result. axis: an integer, a tuple of them, or None for all. keepdims: keep reduced axes with size
        1. Dtypes and other errors are those of `median`.

        method: between two elements, by the position between them ("linear"), or the "lower", the
        "higher", the "nearest", or their mean ("midpoint"); or one of the other eight of Hyndman and Fan,
        "Sample quantiles in statistical packages", 1996: "inverted_cdf", "averaged_inverted_cdf",
        "closest_observation", "interpolated_inverted_cdf", "hazen", "weibull", "median_unbiased",
        "normal_unbiased".

        >>> flex.quantile(flex.asarray([3.0, 1.0, 2.0, 10.0]), [0.0, 0.5]).tolist()
        [1.0, 2.5]
        """
    def ravel(self) -> Tensor:
        """The elements in row-major order, as a vector; a view if strides allow it, else a copy.

        >>> flex.ravel(flex.asarray([[1, 2], [3, 4]])).tolist()
        [1, 2, 3, 4]
        """
    def reciprocal(self) -> Tensor:
        """`1 / x`.

        x: a tensor, an array or a number. The result has its shape.
        The result has the operands' common dtype; integers and bool are computed in float32.
        DTypeError if the operation doesn't support the dtype.

        >>> flex.reciprocal(flex.asarray([4.0, 0.5])).tolist()
        [0.25, 2.0]
        """
    def relu(self) -> Tensor:
        """`max(x, 0)`.

        x: a tensor, an array or a number. The result has its shape.
        The result has the operands' common dtype.
        DTypeError if the operation doesn't support the dtype.

        >>> flex.relu(flex.asarray([1.5, -2.0])).tolist()
        [1.5, 0.0]
        """
    def remainder(x1, x2: _Operand, /) -> Tensor:
        """Remainder with the sign of the divisor. Integer division by zero is an error.

        x1, x2: tensors, arrays or numbers, whose shapes broadcast; a number takes the other's
        dtype.
        The result has the operands' common dtype.
        DTypeError if the operation doesn't support the dtype, or there is no common dtype;
        ShapeError if shapes don't broadcast.

        >>> flex.remainder(flex.asarray([7, -7]), flex.asarray([4, 4])).tolist()
        [3, 1]
        """
    def repeat(self, repeats: SupportsIndex | Sequence[int] | _Operand, axis: SupportsIndex | None = None) -> Tensor:
        """Repeats each element several times along an axis; with `axis=None`, elements of the flattened x.

        repeats: an integer for all elements, or one for each. ValueError if one is negative; ShapeError
        if there are not as many as elements; DTypeError if they are not integers.

        >>> flex.repeat(flex.asarray([1, 2, 3]), flex.asarray([2, 0, 1])).tolist()
        [1, 1, 3]
        """
    def roll(self, shift: _Shape, axis: _Shape | None = None) -> Tensor:
        """Rolls elements by `shift` positions along an axis; those shifted beyond the end re-enter at the
        beginning. With `axis=None`, rolls the flattened x.

        shift, axis: integers, or tuples of equal length (ValueError); a single shift applies to all
        axes. AxisError if an axis is out of range.

        >>> flex.roll(flex.asarray([1, 2, 3, 4]), 1).tolist()
        [4, 1, 2, 3]
        """
    def rot90(self, k: SupportsIndex = 1, axes: tuple[SupportsIndex, SupportsIndex] = (0, 1)) -> Tensor:
        """Rotates by 90 degrees, `k` times, in the plane of two axes, from the first towards the second; a
        view.

        axes: two different axes (AxisError).

        >>> flex.rot90(flex.asarray([[1, 2], [3, 4]])).tolist()
        [[2, 4], [1, 3]]
        """
    def round(self, decimals: SupportsIndex = 0) -> Tensor:
        """The nearest integer, or the nearest multiple of `10 ** -decimals`; ties to even.

        x: a tensor, an array or a number. decimals: negative for tens, hundreds and so on. The result has
        the shape of x and its dtype. DTypeError for bool and float8.

        >>> flex.round(flex.asarray([0.5, 1.5, 2.6])).tolist()
        [0.0, 2.0, 3.0]
        >>> flex.round(flex.asarray([1250, 1350]), -2).tolist()
        [1200, 1400]
        """
    def rsqrt(self) -> Tensor:
        """`1 / sqrt(x)`.

        x: a tensor, an array or a number. The result has its shape.
        The result has the operands' common dtype; integers and bool are computed in float32.
        DTypeError if the operation doesn't support the dtype.

        >>> flex.rsqrt(flex.asarray([4.0, 1.0])).tolist()
        [0.5, 1.0]
        """
    def scatter(self, indices: _Nested, values: _Operand, axis: SupportsIndex = -1, *, mode: Literal["set", "add", "multiply", "max", "min"] = 'set') -> Tensor:
        """A copy of `x` with `values` put, in each line along `axis`, at the positions in the same line of
        `indices`.

        indices: integers, of the shape of x except along the axis. values: a number, or a tensor that
        broadcasts to the shape of indices. mode: "set" (of several values for one position the last
        wins), or "add", "multiply", "max" or "min", which combine them with the elements. IndexError if
        a position is out of range; ShapeError if shapes don't fit; DTypeError if values are of a higher
        kind than the dtype of x; ValueError for another mode.

        >>> flex.scatter(flex.asarray([[1, 2], [3, 4]]), flex.asarray([[1], [0]]), 9, axis=1).tolist()
        [[1, 9], [9, 4]]
        """
    def scatter_add(self, indices: _Nested, values: _Operand, axis: SupportsIndex = -1) -> Tensor:
        """A copy of `x` with `values` added, in each line along `axis`, at the positions in the same line
        of `indices`, which may repeat.

        Shapes, dtypes and errors are those of `scatter` with mode "add". The result is the same
        for any number of threads.

        >>> flex.scatter_add(flex.zeros(3), flex.asarray([2, 0, 2]), flex.asarray([1.0, 2.0, 4.0])).tolist()
        [2.0, 0.0, 5.0]
        """
    def searchsorted(x1, x2: _Operand, /, side: Literal["left", "right"] = 'left', sorter: _Operand | None = None) -> Tensor:
        """The index at which each of `x2` would be inserted into `x1` to keep it sorted: before equal
        values with `side="left"`, after them with `"right"`.

        x1: a sorted 1-dimensional tensor, NaN last; if it is not sorted, `sorter` has the indices that
        sort it. x2: a tensor or a number, of any shape; the result has that shape and is int64. Floats
        are compared with integers in x1 exactly.
        ShapeError if x1 has another rank, or the sorter another size; DTypeError for complex numbers;
        ValueError for another side; IndexError if an index of the sorter is out of range.

        >>> flex.searchsorted(flex.asarray([1, 2, 2, 4]), flex.asarray([2, 5]), side="right").tolist()
        [3, 4]
        """
    def sigmoid(self) -> Tensor:
        """`1 / (1 + exp(-x))`.

        x: a tensor, an array or a number. The result has its shape.
        The result has the operands' common dtype; integers and bool are computed in float32.
        DTypeError if the operation doesn't support the dtype.

        >>> flex.sigmoid(flex.asarray([0.0, 20.0])).tolist()
        [0.5, 1.0]
        """
    def sign(self) -> Tensor:
        """-1, 0 or 1; `z / |z|` for complex numbers.

        x: a tensor, an array or a number. The result has its shape.
        The result has the operands' common dtype.
        DTypeError if the operation doesn't support the dtype.

        >>> flex.sign(flex.asarray([5, 0, -2])).tolist()
        [1, 0, -1]
        """
    def signbit(self) -> Tensor:
        """Whether the sign bit is set.

        x: a tensor, an array or a number. The result has its shape.
        The result is bool.
        DTypeError if the operation doesn't support the dtype.

        >>> flex.signbit(flex.asarray([1.0, -0.0])).tolist()
        [False, True]
        """
    def silu(self) -> Tensor:
        """`x * sigmoid(x)`.

        x: a tensor, an array or a number. The result has its shape.
        The result has the operands' common dtype; integers and bool are computed in float32.
        DTypeError if the operation doesn't support the dtype.

        >>> flex.silu(flex.asarray([0.0, 20.0])).tolist()
        [0.0, 20.0]
        """
    def sin(self) -> Tensor:
        """Sine.

        x: a tensor, an array or a number. The result has its shape.
        The result has the operands' common dtype; integers and bool are computed in float32.
        DTypeError if the operation doesn't support the dtype.

        >>> flex.sin(flex.asarray([0.0, flex.pi / 2])).tolist()
        [0.0, 1.0]
        """
    def sinh(self) -> Tensor:
        """Hyperbolic sine.

        x: a tensor, an array or a number. The result has its shape.
        The result has the operands' common dtype; integers and bool are computed in float32.
        DTypeError if the operation doesn't support the dtype.

        >>> flex.sinh(flex.asarray([0.0, flex.inf])).tolist()
        [0.0, inf]
        """
    def slogdet(self) -> SlogdetResult:
        """The sign of the determinant of each matrix, and the natural logarithm of its magnitude.

        x: `[.., n, n]`. The result is the named tuple `sign`, `logabsdet`, both `[..]`. The sign of
        complex numbers is `det / |det|`; the logarithm is real. A singular matrix has sign 0 and
        logarithm -inf. Dtypes and errors are those of `det`.

        >>> sign, logabsdet = flex.linalg.slogdet(flex.asarray([[0.0, 1.0], [1.0, 0.0]]))
        >>> sign.item(), logabsdet.item()
        (-1.0, 0.0)
        """
    def sort(self, axis: SupportsIndex | None = -1, *, descending: builtins.bool = False, stable: builtins.bool = True) -> Tensor:
        """Sorts the values along `axis`.

        x: a tensor of an ordered dtype; the result has its shape and dtype. axis: None for all elements
        in row-major order. NaN comes last, even with
        `descending`. `stable` has no effect: every sort is stable, zeros of both signs keep their order.
        DTypeError for complex numbers; AxisError if the axis is out of range.

        >>> flex.sort(flex.asarray([3, 1, 2]), descending=True).tolist()
        [3, 2, 1]
        """
    def sort_with_indices(self, axis: SupportsIndex = -1, *, descending: builtins.bool = False, stable: builtins.bool = True) -> tuple[Tensor, Tensor]:
        """`sort` and `argsort` in one: the sorted values and their indices.

        x: a tensor of an ordered dtype; both results have its shape, the indices are int64. DTypeError
        for complex numbers; AxisError if the axis is out of range.

        >>> values, indices = flex.sort_with_indices(flex.asarray([3, 1, 2]))
        >>> values.tolist(), indices.tolist()
        ([1, 2, 3], [1, 2, 0])
        """
    def split(self, sizes: _Shape, axis: SupportsIndex = 0) -> tuple[Tensor, ...]:
        """Pieces along an axis, as in torch.split: all of one size, except a smaller last one, or of the
        given sizes, which must add up to that of the axis; views, as a tuple.

        ValueError if a size is negative, or a single size is 0; ShapeError if sizes don't add up;
        AxisError if the axis is out of range.

        >>> [t.tolist() for t in flex.split(flex.asarray([1, 2, 3, 4, 5]), 2)]
        [[1, 2], [3, 4], [5]]
        >>> [t.tolist() for t in flex.split(flex.asarray([1, 2, 3]), (1, 2))]
        [[1], [2, 3]]
        """
    def sqrt(self) -> Tensor:
        """Square root.

        x: a tensor, an array or a number. The result has its shape.
        The result has the operands' common dtype; integers and bool are computed in float32.
        DTypeError if the operation doesn't support the dtype.

        >>> flex.sqrt(flex.asarray([4.0, 9.0])).tolist()
        [2.0, 3.0]
        """
    def square(self) -> Tensor:
        """`x * x`.

        x: a tensor, an array or a number. The result has its shape.
        The result has the operands' common dtype.
        DTypeError if the operation doesn't support the dtype.

        >>> flex.square(flex.asarray([3, -2])).tolist()
        [9, 4]
        """
    def squeeze(self, axis: _Shape | None = None) -> Tensor:
        """Removes dimensions of size 1: those given, or all; a view.

        axis: an integer or a tuple of them. ShapeError if one has another size; AxisError if it is out
        of range or repeated.

        >>> flex.squeeze(flex.zeros((1, 3, 1)), axis=0).shape
        (3, 1)
        """
    def std(self, axis: _Shape | None = None, *, dtype: _DType | None = None, correction: float = 0.0, keepdims: builtins.bool = False, ddof: float | None = None, out: Any | None = None, where: _Nested | None = None) -> Tensor:
        """The standard deviation of elements: the square root of `var`, with the same arguments and
        errors.

        >>> flex.std(flex.asarray([1.0, 3.0])).item()
        1.0
        """
    def subtract(x1, x2: _Operand, /) -> Tensor:
        """Difference.

        x1, x2: tensors, arrays or numbers, whose shapes broadcast; a number takes the other's
        dtype.
        The result has the operands' common dtype.
        DTypeError if the operation doesn't support the dtype, or there is no common dtype;
        ShapeError if shapes don't broadcast.

        >>> flex.subtract(flex.asarray([1, 2]), flex.asarray([10, 20])).tolist()
        [-9, -18]
        """
    def sum(self, axis: _Shape | None = None, *, dtype: _DType | None = None, keepdims: builtins.bool = False, out: Any | None = None, initial: _Number | None = None, where: _Nested | None = None) -> Tensor:
        """The sum of elements.

        axis: an integer, a tuple of them, or None for all. keepdims: keep reduced axes with size 1.
        dtype: the dtype of the sums, by default int64 for bool and signed integers, uint64 for
        unsigned ones, else that of x. Integers wrap; the sum of no elements is 0; the result is the
        same for any number of threads. out: a NumPy array of the result's shape, which is filled
        and returned. initial: a number that each sum begins with, converted to the result's dtype.
        where: bool, broadcast to the shape of x: the elements that count. AxisError if an axis is
        out of range or repeated; DTypeError if where is not bool, or initial is of a higher kind than
        the result; ShapeError if where does not broadcast.

        >>> x = flex.asarray([[1, 2], [3, 4]])
        >>> flex.sum(x).item(), flex.sum(x, axis=0).tolist()
        (10, [4, 6])
        """
    def swapaxes(self, axis1: SupportsIndex, axis2: SupportsIndex) -> Tensor:
        """Swaps two dimensions; a view. AxisError if one is out of range.

        >>> flex.swapaxes(flex.zeros((2, 3, 4)), 0, -1).shape
        (4, 3, 2)
        """
    def take(self, indices: _Nested, axis: SupportsIndex | None = None) -> Tensor:
        """Takes the slices of `x` at the positions `indices` along `axis`.

        indices: integers, from `-size` to `size - 1`; their shape replaces the axis in the shape of the
        result. axis: None takes from the flattened x. The result has the dtype of x. IndexError if a
        position is out of range; DTypeError if they are not integers; AxisError for a wrong axis.

        >>> flex.take(flex.asarray([10, 20, 30]), flex.asarray([2, 0, -1])).tolist()
        [30, 10, 30]
        """
    def take_along_axis(self, indices: _Nested, axis: SupportsIndex = -1) -> Tensor:
        """Takes, from each line of `x` along `axis`, the values at the positions in the same line of
        `indices`.

        indices: integers, of the shape of x except along the axis (sizes of 1 broadcast); the result
        has their shape, and the dtype of x. IndexError if a position is out of range; ShapeError if
        shapes don't fit; DTypeError if positions are not integers.

        >>> x = flex.asarray([[3, 1], [4, 2]])
        >>> flex.take_along_axis(x, flex.argsort(x, axis=1), axis=1).tolist()
        [[1, 3], [2, 4]]
        """
    def tan(self) -> Tensor:
        """Tangent.

        x: a tensor, an array or a number. The result has its shape.
        The result has the operands' common dtype; integers and bool are computed in float32.
        DTypeError if the operation doesn't support the dtype.

        >>> flex.tan(flex.asarray([0.0, flex.pi / 4])).tolist()
        [0.0, 1.0]
        """
    def tanh(self) -> Tensor:
        """Hyperbolic tangent.

        x: a tensor, an array or a number. The result has its shape.
        The result has the operands' common dtype; integers and bool are computed in float32.
        DTypeError if the operation doesn't support the dtype.

        >>> flex.tanh(flex.asarray([0.0, 20.0])).tolist()
        [0.0, 1.0]
        """
    def tensordot(x1, x2: _Operand, /, axes: SupportsIndex | tuple[_Shape, _Shape] = 2) -> Tensor:
        """The sum of products over several axes. The result has the axes of x1 that are not summed over,
        followed by those of x2.

        axes: the number of axes, the last of x1 and the first of x2; or a pair of axes, or of tuples of
        axes, of x1 and x2. Sizes of paired axes must be equal (ShapeError). The result has the common
        dtype; DTypeError for bool, or if there is none; AxisError if an axis is out of range or
        repeated.

        >>> a = flex.asarray([[1, 2], [3, 4]])
        >>> flex.tensordot(a, a, axes=2).tolist(), flex.tensordot(a, a, axes=((0,), (0,))).tolist()
        (30, [[10, 14], [14, 20]])
        """
    def tile(self, repetitions: _Shape) -> Tensor:
        """Repeats the whole of `x`, `repetitions[k]` times along dimension `k`.

        repetitions: an integer or a tuple of them, aligned with the last dimension. If it and the shape
        of x differ in length, the shorter is padded with ones in front. ValueError if one is negative.

        >>> flex.tile(flex.asarray([1, 2]), (2, 2)).tolist()
        [[1, 2, 1, 2], [1, 2, 1, 2]]
        """
    def topk(self, k: SupportsIndex, axis: SupportsIndex = -1, *, largest: builtins.bool = True, sorted: builtins.bool = True) -> tuple[Tensor, Tensor]:
        """The `k` largest values along `axis`, or the smallest, and their indices; in order if `sorted`.

        x: a tensor of an ordered dtype; both results have its shape with size `k` along the axis, the
        indices are int64. Of equal values the first is preferred; NaN is taken last. ValueError if k is
        negative or exceeds the size of the axis; DTypeError for complex numbers; AxisError if the axis
        is out of range.

        >>> values, indices = flex.topk(flex.asarray([1, 5, 3]), 2)
        >>> values.tolist(), indices.tolist()
        ([5, 3], [1, 2])
        """
    def transpose(self, *dims: _Shape | None, axes: _Shape | None = None) -> Tensor:
        """Permutes the dimensions, by default in reverse order; a view.

        axes: each axis once, as one tuple, by position or by name, or as several arguments, dims
        (ShapeError, AxisError). TypeError for both.

        >>> flex.transpose(flex.zeros((2, 3, 4))).shape
        (4, 3, 2)
        >>> flex.transpose(flex.zeros((2, 3, 4)), axes=(1, 0, 2)).shape
        (3, 2, 4)
        """
    def tril(self, k: SupportsIndex = 0) -> Tensor:
        """The lower triangles of matrices (the last two dimensions): zero above diagonal `k`.

        x: a tensor of two dimensions or more (ShapeError); the result has its shape and dtype.

        >>> flex.tril(flex.ones((2, 2))).tolist()
        [[1.0, 0.0], [1.0, 1.0]]
        """
    def triu(self, k: SupportsIndex = 0) -> Tensor:
        """The upper triangles of matrices (the last two dimensions): zero below diagonal `k`.

        x: a tensor of two dimensions or more (ShapeError); the result has its shape and dtype.

        >>> flex.triu(flex.ones((2, 2))).tolist()
        [[1.0, 1.0], [0.0, 1.0]]
        """
    def trunc(self) -> Tensor:
        """x rounded towards zero.

        x: a tensor, an array or a number. The result has its shape.
        The result has the operands' common dtype.
        DTypeError if the operation doesn't support the dtype.

        >>> flex.trunc(flex.asarray([1.5, -1.5])).tolist()
        [1.0, -1.0]
        """
    def unfold(self, size: SupportsIndex, *, step: SupportsIndex = 1, axis: SupportsIndex = -1) -> Tensor:
        """Sliding windows of `size` elements along an axis, `step` apart. The axis counts the windows, and
        their elements are a new last dimension. A view whose elements overlap.

        ValueError if size or step is not positive; ShapeError if a window is larger than the axis;
        AxisError if the axis is out of range.

        >>> flex.unfold(flex.arange(5), 3).tolist()
        [[0, 1, 2], [1, 2, 3], [2, 3, 4]]
        """
    def unique_all(self) -> UniqueAllResult:
        """The distinct elements, their indices, the inverse, and their counts.

        x: a tensor of any shape, which is flattened (DTypeError for float8). The result is a named
        tuple: `values`, in ascending order, of the dtype of x; `indices` of the first occurrences;
        `inverse_indices`, of the shape of x, which reconstruct x from the values; `counts`. All but the
        values are int64. Each NaN is distinct, and zeros of both signs are equal; complex numbers are
        ordered by real part, then imaginary part.

        >>> u = flex.unique_all(flex.asarray([3, 1, 3]))
        >>> u.values.tolist(), u.indices.tolist(), u.inverse_indices.tolist(), u.counts.tolist()
        ([1, 3], [1, 0], [1, 0, 1], [1, 2])
        """
    def unique_counts(self) -> UniqueCountsResult:
        """The distinct elements in ascending order, and their counts (int64): the named tuple `values`,
        `counts`, as in `unique_all`.

        >>> values, counts = flex.unique_counts(flex.asarray([3, 1, 3]))
        >>> values.tolist(), counts.tolist()
        ([1, 3], [1, 2])
        """
    def unique_inverse(self) -> UniqueInverseResult:
        """The distinct elements in ascending order, and for each element of x the index of its value
        (int64, in the shape of x): the named tuple `values`, `inverse_indices`, as in `unique_all`.

        >>> values, inverse = flex.unique_inverse(flex.asarray([3, 1, 3]))
        >>> values[inverse].tolist()
        [3, 1, 3]
        """
    def unique_values(self) -> Tensor:
        """The distinct elements in ascending order, as a 1-dimensional tensor: the values of `unique_all`.

        >>> flex.unique_values(flex.asarray([[3, 1], [3, 2]])).tolist()
        [1, 2, 3]
        """
    def unstack(self, axis: SupportsIndex = 0) -> tuple[Tensor, ...]:
        """One tensor for each index of an axis, without that axis; views, as a tuple. AxisError if the
        axis is out of range.

        >>> [t.tolist() for t in flex.unstack(flex.asarray([[1, 2], [3, 4]]), axis=1)]
        [[1, 3], [2, 4]]
        """
    def var(self, axis: _Shape | None = None, *, dtype: _DType | None = None, correction: float = 0.0, keepdims: builtins.bool = False, ddof: float | None = None, out: Any | None = None, where: _Nested | None = None) -> Tensor:
        """The variance of elements: the sum of squared deviations from the mean, divided by `n -
        correction`.

        axis: an integer, a tuple of them, or None for all. keepdims: keep reduced axes with size 1.
        The result has the dtype of x, float32 for integers and bool, that of the parts for complex
        numbers, whose deviations are absolute values. dtype: a float dtype to compute in. out, where: as
        for `sum`. ddof: NumPy's name for the correction. NaN if `n <= correction`. AxisError if an axis
        is out of range or repeated.

        >>> flex.var(flex.asarray([1.0, 3.0])).item(), flex.var(flex.asarray([1.0, 3.0]), correction=1).item()
        (1.0, 2.0)
        """
    def vdot(x1, x2: _Operand, /) -> Tensor:
        """The dot product of all elements in row-major order; complex numbers of x1 are conjugated.

        x1, x2: with equally many elements (ShapeError). The result is 0-dimensional, of the common
        dtype; DTypeError for bool, or if there is none.

        >>> flex.vdot(flex.asarray([[1, 2], [3, 4]]), flex.asarray([[10, 1], [0, 1]])).item()
        16
        """
    def vecdot(x1, x2: _Operand, /, *, axis: SupportsIndex = -1) -> Tensor:
        """The dot product along an axis; complex numbers of x1 are conjugated.

        x1, x2: of the same size along the axis; the other dimensions broadcast (ShapeError). axis: a
        negative one counts from the end of both, others from the front of the broadcast shape
        (AxisError). The result has the common dtype; DTypeError for bool, or if there is none.

        >>> flex.vecdot(flex.asarray([[1, 2], [3, 4]]), flex.asarray([10, 1])).tolist()
        [12, 34]
        """
    def vsplit(self, indices_or_sections: _Shape) -> tuple[Tensor, ...]:
        """Pieces along the first axis of two or more; views, as a tuple. Arguments and errors are those
        of `hsplit`; ShapeError for vectors, too.

        >>> [t.tolist() for t in flex.vsplit(flex.asarray([[1, 2], [3, 4]]), 2)]
        [[[1, 2]], [[3, 4]]]
        """
    def zeros_like(self, dtype: _DType | None = None, *, device: _Device | None = None) -> Tensor:
        """A tensor of zeros (or False), of the shape of `x` and its dtype, or another. MemoryError if
        there is not enough memory.

        >>> flex.zeros_like(flex.asarray([1, 2])).tolist()
        [0, 0]
        """

_fft: ModuleType
_grad: ModuleType
_io: ModuleType
_linalg: ModuleType
_nn: ModuleType
_onnx: ModuleType
_quant: ModuleType
_random: ModuleType
_signal: ModuleType

bool: Final[DType]
int8: Final[DType]
int16: Final[DType]
int32: Final[DType]
int64: Final[DType]
uint8: Final[DType]
uint16: Final[DType]
uint32: Final[DType]
uint64: Final[DType]
float8_e4m3fn: Final[DType]
float8_e5m2: Final[DType]
float16: Final[DType]
bfloat16: Final[DType]
float32: Final[DType]
float64: Final[DType]
complex64: Final[DType]
complex128: Final[DType]
e: Final[float]
inf: Final[float]
nan: Final[float]
newaxis: Final[None]
pi: Final[float]
__array_api_version__: Final[str]
__version__: Final[str]
def __array_namespace_info__() -> _Info:
    """Inspects this namespace: dtypes, devices, defaults."""
def _rebuild(data: _Operand, shape: _Shape, dtype: _DType) -> Tensor:
    """A tensor from pickled bytes, which it borrows."""
def abs(x: _Operand, /) -> Tensor:
    """Magnitude, real for complex numbers; the smallest integer wraps to itself.

    x: a tensor, an array or a number. The result has its shape.
    The result has the operand's dtype; that of its parts if it is complex.
    DTypeError if the operation doesn't support the dtype.

    >>> flex.abs(flex.asarray([1, -2])).tolist()
    [1, 2]
    """
def acos(x: _Operand, /) -> Tensor:
    """Inverse cosine.

    x: a tensor, an array or a number. The result has its shape.
    The result has the operands' common dtype; integers and bool are computed in float32.
    DTypeError if the operation doesn't support the dtype.

    >>> flex.acos(flex.asarray([1.0, 0.0])).tolist()
    [0.0, 1.5707963705062866]
    """
def acosh(x: _Operand, /) -> Tensor:
    """Inverse hyperbolic cosine.

    x: a tensor, an array or a number. The result has its shape.
    The result has the operands' common dtype; integers and bool are computed in float32.
    DTypeError if the operation doesn't support the dtype.

    >>> flex.acosh(flex.asarray([1.0, flex.inf])).tolist()
    [0.0, inf]
    """
def add(x1: _Operand, x2: _Operand, /) -> Tensor:
    """Sum.

    x1, x2: tensors, arrays or numbers, whose shapes broadcast; a number takes the other's
    dtype.
    The result has the operands' common dtype.
    DTypeError if the operation doesn't support the dtype, or there is no common dtype;
    ShapeError if shapes don't broadcast.

    >>> flex.add(flex.asarray([1, 2]), flex.asarray([10, 20])).tolist()
    [11, 22]
    """
def all(x: _Operand, /, axis: _Shape | None = None, *, keepdims: builtins.bool = False, out: Any | None = None, where: _Nested | None = None) -> Tensor:
    """Whether all elements are true (not zero). Arguments and errors are those of `any`; the
    result is True if there are no elements.

    >>> flex.all(flex.asarray([[2, 1], [0, 1]]), axis=1).tolist()
    [True, False]
    """
def allclose(x1: _Operand, x2: _Operand, /, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: builtins.bool = False) -> builtins.bool:
    """Whether all elements are close, as with `isclose`: a Python bool. Arguments and errors are those
    of `isclose`.

    >>> flex.allclose(flex.asarray([1.0, 2.0]), flex.asarray([1.0, 2.0 + 1e-7]))
    True
    """
def any(x: _Operand, /, axis: _Shape | None = None, *, keepdims: builtins.bool = False, out: Any | None = None, where: _Nested | None = None) -> Tensor:
    """Whether any element is true (not zero).

    x: a tensor of any dtype; NaN is true. axis: an integer, a tuple of them, or None for all.
    keepdims: keep reduced axes with size 1. out, where: as for `sum`. The result is bool, False
    if there are no elements. AxisError if an axis is out of range or repeated.

    >>> flex.any(flex.asarray([[0, 1], [0, 0]]), axis=1).tolist()
    [True, False]
    """
def arange(start: _Number, stop: _Number | None = None, step: _Number = 1, dtype: _DType | None = None, *, device: _Device | None = None) -> Tensor:
    """`start, start + step, ..` before `stop`; with one argument, from 0 to before that.

    dtype: by default int64 if all are integers, else float32. Each value is computed from its index
    and rounded once. ValueError if the step is 0 or the number of values is not finite; DTypeError
    for floats with an integer dtype; RangeError for values that don't fit it.

    >>> flex.arange(3).tolist(), flex.arange(1, 2, 0.25).tolist()
    ([0, 1, 2], [1.0, 1.25, 1.5, 1.75])
    """
def argmax(x: _Operand, /, axis: SupportsIndex | None = None, *, keepdims: builtins.bool = False, out: Any | None = None) -> Tensor:
    """The index of the first occurrence of the largest element; of the first NaN, if there is one.

    axis: an integer, or None for the index in the flattened x. keepdims: keep reduced axes with
    size 1. The result is int64. ValueError if there are no elements; DTypeError for complex
    numbers; AxisError if the axis is out of range.

    >>> flex.argmax(flex.asarray([[1, 5], [3, 2]]), axis=1).tolist()
    [1, 0]
    """
def argmin(x: _Operand, /, axis: SupportsIndex | None = None, *, keepdims: builtins.bool = False, out: Any | None = None) -> Tensor:
    """The index of the first occurrence of the smallest element. Arguments and errors are those of
    `argmax`.

    >>> flex.argmin(flex.asarray([[1, 5], [3, 2]]), axis=1).tolist()
    [0, 1]
    """
def argsort(x: _Operand, /, axis: SupportsIndex | None = -1, *, descending: builtins.bool = False, stable: builtins.bool = True) -> Tensor:
    """The indices that sort along `axis`.

    x: a tensor of an ordered dtype; the result has its shape, and is int64. axis: None for the
    positions among all elements in row-major order. Equal values keep their
    order, even with `descending`; NaN comes last. DTypeError for complex numbers; AxisError if the
    axis is out of range.

    >>> flex.argsort(flex.asarray([3, 1, 2])).tolist()
    [1, 2, 0]
    """
def argwhere(x: _Operand, /) -> Tensor:
    """The indices of the nonzero elements of `x`, one per row, in row-major order.

    x: a tensor of any dtype. The result is int64, of shape `(count, x.ndim)`.

    >>> flex.argwhere(flex.asarray([[0, 5], [6, 0]])).tolist()
    [[0, 1], [1, 0]]
    """
def array_equal(x1: _Operand, x2: _Operand, /, equal_nan: builtins.bool = False) -> builtins.bool:
    """Whether the shapes and all elements are equal, as numbers of any dtypes: a Python bool.

    equal_nan: whether NaN equals NaN. DTypeError for float8.

    >>> flex.array_equal(flex.asarray([1, 2]), flex.asarray([1.0, 2.0]))
    True
    """
def array_split(x: _Operand, /, indices_or_sections: _Shape, axis: SupportsIndex = 0) -> tuple[Tensor, ...]:
    """Pieces along an axis, as in numpy.array_split; views, as a tuple.

    indices_or_sections: the number of pieces, of nearly equal size (ValueError if it isn't positive),
    or the indices before which the axis is divided; negative ones count from the end. AxisError if
    the axis is out of range.

    >>> [t.tolist() for t in flex.array_split(flex.asarray([1, 2, 3, 4, 5]), 3)]
    [[1, 2], [3, 4], [5]]
    """
def asarray(obj: _Nested, /, dtype: _DType | None = None, *, device: _Device | None = None, copy: builtins.bool | None = None) -> Tensor:
    """A tensor from numbers, nested lists of them, an array, or another tensor.

    Arrays of NumPy and others are borrowed, not copied, if their memory can be read as it is: a
    write to the array is then seen in the tensor. `copy=True` always copies, `copy=False` is a
    ValueError if a copy is needed. A tensor that already has the dtype is returned itself. dtype:
    by default that of the array, or bool, int64, float32 or complex64, by the kind of the numbers.
    TypeError for objects that hold no numbers; ValueError for ragged lists; OverflowError if an
    integer is out of the dtype's range.

    >>> flex.asarray([[1, 2], [3, 4]]).shape, flex.asarray([1.5]).dtype
    ((2, 2), flex.float32)
    """
def asin(x: _Operand, /) -> Tensor:
    """Inverse sine.

    x: a tensor, an array or a number. The result has its shape.
    The result has the operands' common dtype; integers and bool are computed in float32.
    DTypeError if the operation doesn't support the dtype.

    >>> flex.asin(flex.asarray([0.0, 1.0])).tolist()
    [0.0, 1.5707963705062866]
    """
def asinh(x: _Operand, /) -> Tensor:
    """Inverse hyperbolic sine.

    x: a tensor, an array or a number. The result has its shape.
    The result has the operands' common dtype; integers and bool are computed in float32.
    DTypeError if the operation doesn't support the dtype.

    >>> flex.asinh(flex.asarray([0.0, flex.inf])).tolist()
    [0.0, inf]
    """
def astype(x: _Operand, /, dtype: _DType, *, copy: builtins.bool = True, device: _Device | None = None) -> Tensor:
    """Converts to another dtype: floats are truncated and saturate for integers (NaN gives 0),
    integers wrap in narrower ones; complex numbers to a real dtype are a DTypeError, use
    `flex.real(x)` for these. With `copy=False`, the tensor itself if it has the dtype.

    >>> flex.astype(flex.asarray([1.9, -2.9, 300.0]), flex.int8).tolist()
    [1, -2, 127]
    """
def atan(x: _Operand, /) -> Tensor:
    """Inverse tangent.

    x: a tensor, an array or a number. The result has its shape.
    The result has the operands' common dtype; integers and bool are computed in float32.
    DTypeError if the operation doesn't support the dtype.

    >>> flex.atan(flex.asarray([0.0, flex.inf])).tolist()
    [0.0, 1.5707963705062866]
    """
def atan2(x1: _Operand, x2: _Operand, /) -> Tensor:
    """The angle of the point (second, first).

    x1, x2: tensors, arrays or numbers, whose shapes broadcast; a number takes the other's
    dtype.
    The result has the operands' common dtype; integers and bool are computed in float32.
    DTypeError if the operation doesn't support the dtype, or there is no common dtype;
    ShapeError if shapes don't broadcast.

    >>> flex.atan2(flex.asarray([0.0, 1.0]), flex.asarray([-1.0, 0.0])).tolist()
    [3.1415927410125732, 1.5707963705062866]
    """
def atanh(x: _Operand, /) -> Tensor:
    """Inverse hyperbolic tangent.

    x: a tensor, an array or a number. The result has its shape.
    The result has the operands' common dtype; integers and bool are computed in float32.
    DTypeError if the operation doesn't support the dtype.

    >>> flex.atanh(flex.asarray([0.0, 1.0])).tolist()
    [0.0, inf]
    """
def atleast_1d(*arrays: _Operand) -> Any:
    """A view of the tensor with at least one dimension; of several tensors, a tuple of views.

    >>> flex.atleast_1d(flex.asarray(5)).shape
    (1,)
    """
def atleast_2d(*arrays: _Operand) -> Any:
    """A view of the tensor with at least two dimensions, in which a vector is a row; of several
    tensors, a tuple of views.

    >>> flex.atleast_2d(flex.asarray([1, 2])).shape
    (1, 2)
    """
def atleast_3d(*arrays: _Operand) -> Any:
    """A view of the tensor with at least three dimensions: a vector of n has the shape (1, n, 1),
    a matrix (m, n, 1); of several tensors, a tuple of views.

    >>> flex.atleast_3d(flex.asarray([1, 2])).shape
    (1, 2, 1)
    """
def bincount(x: _Nested, /, weights: _Nested | None = None, minlength: SupportsIndex = 0) -> Tensor:
    """How often each integer from 0 occurs.

    x: integers, one dimension, none negative (ValueError). weights: one for each, which are summed
    instead of counted, in float64. minlength: the least number of counts. The result is int64, or
    float64 with weights, and has `max(x) + 1` elements or minlength. ShapeError if shapes don't fit;
    DTypeError if x has no integers, and for complex weights.

    >>> flex.bincount(flex.asarray([0, 1, 1, 3])).tolist()
    [1, 2, 0, 1]
    """
def bitwise_and(x1: _Operand, x2: _Operand, /) -> Tensor:
    """Bits set in both.

    x1, x2: tensors, arrays or numbers, whose shapes broadcast; a number takes the other's
    dtype.
    The result has the operands' common dtype.
    DTypeError if the operation doesn't support the dtype, or there is no common dtype;
    ShapeError if shapes don't broadcast.

    >>> flex.bitwise_and(flex.asarray([5, 6]), flex.asarray([3, 3])).tolist()
    [1, 2]
    """
def bitwise_invert(x: _Operand, /) -> Tensor:
    """Bits inverted.

    x: a tensor, an array or a number. The result has its shape.
    The result has the operands' common dtype.
    DTypeError if the operation doesn't support the dtype.

    >>> flex.bitwise_invert(flex.asarray([0, 5])).tolist()
    [-1, -6]
    """
def bitwise_left_shift(x1: _Operand, x2: _Operand, /) -> Tensor:
    """Bits shifted left; 0 for shifts by the width or more.

    x1, x2: tensors, arrays or numbers, whose shapes broadcast; a number takes the other's
    dtype.
    The result has the operands' common dtype.
    DTypeError if the operation doesn't support the dtype, or there is no common dtype;
    ShapeError if shapes don't broadcast.

    >>> flex.bitwise_left_shift(flex.asarray([1, 3]), flex.asarray([4, 2])).tolist()
    [16, 12]
    """
def bitwise_or(x1: _Operand, x2: _Operand, /) -> Tensor:
    """Bits set in either.

    x1, x2: tensors, arrays or numbers, whose shapes broadcast; a number takes the other's
    dtype.
    The result has the operands' common dtype.
    DTypeError if the operation doesn't support the dtype, or there is no common dtype;
    ShapeError if shapes don't broadcast.

    >>> flex.bitwise_or(flex.asarray([5, 6]), flex.asarray([3, 3])).tolist()
    [7, 7]
    """
def bitwise_right_shift(x1: _Operand, x2: _Operand, /) -> Tensor:
    """Bits shifted right, keeping the sign; 0 or -1 for shifts by the width or more.

    x1, x2: tensors, arrays or numbers, whose shapes broadcast; a number takes the other's
    dtype.
    The result has the operands' common dtype.
    DTypeError if the operation doesn't support the dtype, or there is no common dtype;
    ShapeError if shapes don't broadcast.

    >>> flex.bitwise_right_shift(flex.asarray([4, -4]), flex.asarray([1, 1])).tolist()
    [2, -2]
    """
def bitwise_xor(x1: _Operand, x2: _Operand, /) -> Tensor:
    """Bits set in exactly one.

    x1, x2: tensors, arrays or numbers, whose shapes broadcast; a number takes the other's
    dtype.
    The result has the operands' common dtype.
    DTypeError if the operation doesn't support the dtype, or there is no common dtype;
    ShapeError if shapes don't broadcast.

    >>> flex.bitwise_xor(flex.asarray([5, 6]), flex.asarray([3, 3])).tolist()
    [6, 5]
    """
def broadcast_arrays(*arrays: _Operand) -> tuple[Tensor, ...]:
    """Broadcasts tensors to their common shape: views, as a tuple.

    arrays: tensors of any dtypes, which they keep. ShapeError if the shapes don't broadcast.

    >>> [t.shape for t in flex.broadcast_arrays(flex.zeros((3, 1)), flex.zeros(4))]
    [(3, 4), (3, 4)]
    """
def broadcast_shapes(*shapes: _Shape) -> tuple[int, ...]:
    """The shape to which these shapes broadcast. ShapeError if they don't.

    >>> flex.broadcast_shapes((3, 1), (4,))
    (3, 4)
    """
def broadcast_to(x: _Operand, /, shape: _Shape) -> Tensor:
    """Broadcasts dimensions of size 1, and adds new ones in front; a view.

    shape: an integer or a tuple of them. ShapeError if x doesn't broadcast to it.

    >>> flex.broadcast_to(flex.asarray([[1], [2]]), (2, 3)).tolist()
    [[1, 1, 1], [2, 2, 2]]
    """
def can_cast(from_: _Operand | _DType, to: _DType, /) -> builtins.bool:
    """Whether a tensor or dtype can be converted to another dtype by the rules of promotion, without
    losing kind or range. TypeError for anything else.

    >>> flex.can_cast(flex.int8, flex.int16), flex.can_cast(flex.float32, flex.int64)
    (True, False)
    """
def ceil(x: _Operand, /) -> Tensor:
    """The smallest integer not below x.

    x: a tensor, an array or a number. The result has its shape.
    The result has the operands' common dtype.
    DTypeError if the operation doesn't support the dtype.

    >>> flex.ceil(flex.asarray([1.5, -1.5])).tolist()
    [2.0, -1.0]
    """
def chunk(x: _Operand, /, chunks: SupportsIndex, axis: SupportsIndex = 0) -> tuple[Tensor, ...]:
    """`chunks` pieces of equal size along an axis, as in torch.chunk. If the size of the axis isn't
    divisible, the last piece is smaller, or there are fewer pieces. Views, as a tuple.

    ValueError if chunks is not positive; AxisError if the axis is out of range.

    >>> [t.tolist() for t in flex.chunk(flex.asarray([1, 2, 3, 4, 5]), 2)]
    [[1, 2, 3], [4, 5]]
    """
def clip(x: _Operand, /, min: _Operand | None = None, max: _Operand | None = None) -> Tensor:
    """Clamps values to the range from `min` to `max`; None means no bound.

    x: a tensor, an array or a number. min, max: numbers, or tensors that broadcast with it. NaN in
    x or a bound gives NaN; if `min` is above `max` the result is `max`. The result has the common
    dtype. DTypeError for bool and complex numbers; ShapeError if shapes don't broadcast.

    >>> flex.clip(flex.asarray([1, 5, 9]), 2, 6).tolist()
    [2, 5, 6]
    >>> flex.clip(flex.asarray([1, 5, 9]), max=6).tolist()
    [1, 5, 6]
    """
def column_stack(arrays: Iterable[_Operand], /) -> Tensor:
    """Joins tensors along the second axis; vectors are columns. Arguments and errors are those of
    `hstack`.

    >>> flex.column_stack([flex.asarray([1, 2]), flex.asarray([3, 4])]).tolist()
    [[1, 3], [2, 4]]
    """
def concat(arrays: Iterable[_Operand], /, axis: SupportsIndex | None = 0) -> Tensor:
    """Joins tensors along an axis; with `axis=None`, the flattened tensors.

    arrays: a sequence of at least one tensor (ValueError), of equal shapes except along the axis
    (ShapeError). The result has their common dtype (DTypeError if there is none).

    >>> flex.concat([flex.asarray([1, 2]), flex.asarray([3])]).tolist()
    [1, 2, 3]
    """
def conj(x: _Operand, /) -> Tensor:
    """Complex conjugate.

    x: a tensor, an array or a number. The result has its shape.
    The result has the operands' common dtype.
    DTypeError if the operation doesn't support the dtype.

    >>> flex.conj(flex.asarray([1 + 2j])).tolist()
    [(1-2j)]
    """
def copysign(x1: _Operand, x2: _Operand, /) -> Tensor:
    """The first's magnitude with the second's sign.

    x1, x2: tensors, arrays or numbers, whose shapes broadcast; a number takes the other's
    dtype.
    The result has the operands' common dtype; integers and bool are computed in float32.
    DTypeError if the operation doesn't support the dtype, or there is no common dtype;
    ShapeError if shapes don't broadcast.

    >>> flex.copysign(flex.asarray([1.0, 2.0]), flex.asarray([-0.0, 3.0])).tolist()
    [-1.0, 2.0]
    """
def cos(x: _Operand, /) -> Tensor:
    """Cosine.

    x: a tensor, an array or a number. The result has its shape.
    The result has the operands' common dtype; integers and bool are computed in float32.
    DTypeError if the operation doesn't support the dtype.

    >>> flex.cos(flex.asarray([0.0])).tolist()
    [1.0]
    """
def cosh(x: _Operand, /) -> Tensor:
    """Hyperbolic cosine.

    x: a tensor, an array or a number. The result has its shape.
    The result has the operands' common dtype; integers and bool are computed in float32.
    DTypeError if the operation doesn't support the dtype.

    >>> flex.cosh(flex.asarray([0.0, flex.inf])).tolist()
    [1.0, inf]
    """
def count_nonzero(x: _Operand, /, axis: _Shape | None = None, *, keepdims: builtins.bool = False) -> Tensor:
    """The number of nonzero elements. Arguments and errors are those of `any`; the result is int64.

    >>> flex.count_nonzero(flex.asarray([[0, 1], [2, 3]]), axis=0).tolist()
    [1, 2]
    """
def cross(x1: _Operand, x2: _Operand, /, *, axis: SupportsIndex = -1) -> Tensor:
    """The cross product of vectors with three elements along an axis.

    x1, x2: of size 3 along the axis, otherwise they broadcast (ShapeError). The result has the
    common dtype; DTypeError for bool, or if there is none; AxisError if the axis is out of range.

    >>> flex.cross(flex.asarray([1, 0, 0]), flex.asarray([0, 1, 0])).tolist()
    [0, 0, 1]
    """
def cumulative_max(x: _Operand, /, axis: SupportsIndex | None = None) -> Tensor:
    """The cumulative maximum along an axis; NaN propagates.

    axis: may be None if x has one dimension (ValueError). The result has the shape and dtype of x.
    DTypeError for complex numbers; AxisError if the axis is out of range.

    >>> flex.cumulative_max(flex.asarray([1, 3, 2])).tolist()
    [1, 3, 3]
    """
def cumulative_min(x: _Operand, /, axis: SupportsIndex | None = None) -> Tensor:
    """The cumulative minimum along an axis. Arguments and errors are those of `cumulative_max`.

    >>> flex.cumulative_min(flex.asarray([3, 1, 2])).tolist()
    [3, 1, 1]
    """
def cumulative_prod(x: _Operand, /, axis: SupportsIndex | None = None, *, dtype: _DType | None = None, include_initial: builtins.bool = False) -> Tensor:
    """The cumulative product along an axis. Arguments and errors are those of `cumulative_sum`; the
    initial value is 1.

    >>> flex.cumulative_prod(flex.asarray([2, 3, 4])).tolist()
    [2, 6, 24]
    """
def cumulative_sum(x: _Operand, /, axis: SupportsIndex | None = None, *, dtype: _DType | None = None, include_initial: builtins.bool = False) -> Tensor:
    """The cumulative sum along an axis.

    axis: may be None if x has one dimension (ValueError). dtype: the dtype of the sums, by default
    int64 for bool and signed integers, uint64 for unsigned ones, else that of x. include_initial:
    prepend a 0, so that the axis is longer by one. Sums of floats are those of adding in order, up
    to rounding: of numbers that are not negative they never decrease, and those of a part of a line
    are a part of the line's. AxisError if the axis is out of range.

    >>> flex.cumulative_sum(flex.asarray([1, 2, 3]), include_initial=True).tolist()
    [0, 1, 3, 6]
    """
def diag(x: _Operand, /, k: SupportsIndex = 0) -> Tensor:
    """Diagonal `k` of a matrix, as a view; of a vector, the square matrix with its elements on that
    diagonal, and zeros elsewhere.

    k: positive above the main diagonal. ShapeError for other numbers of dimensions.

    >>> flex.diag(flex.asarray([[1, 2], [3, 4]])).tolist(), flex.diag(flex.asarray([5]), k=1).tolist()
    ([1, 4], [[0, 5], [0, 0]])
    """
def diff(x: _Operand, /, n: SupportsIndex = 1, axis: SupportsIndex = -1, *, prepend: _Operand | None = None, append: _Operand | None = None) -> Tensor:
    """Differences of adjacent elements along an axis, taken `n` times.

    prepend, append: values to join to x first, before and after it: a number, or a tensor of the
    shape of x except along the axis (ShapeError). The result has the common dtype, and an axis
    shorter by n. ValueError if n is negative; DTypeError for bool; AxisError if the axis is out of
    range.

    >>> flex.diff(flex.asarray([1, 4, 9, 16])).tolist()
    [3, 5, 7]
    """
def digamma(x: _Operand, /) -> Tensor:
    """The digamma function, the derivative of `lgamma`: minus infinity at 0, NaN at negative integers.
    Dtypes and errors are those of `lgamma`.

    >>> round(flex.digamma(flex.asarray(1.0)).item(), 5)
    -0.57722
    """
def divide(x1: _Operand, x2: _Operand, /) -> Tensor:
    """Quotient; the default float for integers.

    x1, x2: tensors, arrays or numbers, whose shapes broadcast; a number takes the other's
    dtype.
    The result has the operands' common dtype; integers and bool are computed in float32.
    DTypeError if the operation doesn't support the dtype, or there is no common dtype;
    ShapeError if shapes don't broadcast.

    >>> flex.divide(flex.asarray([1, 2]), flex.asarray([4, 4])).tolist()
    [0.25, 0.5]
    """
def dot(x1: _Operand, x2: _Operand, /) -> Tensor:
    """The product of numpy.dot: of vectors or matrices as `matmul`, with a number the product, and
    otherwise the sum of products over the last axis of x1 and the second-last of x2; the result has
    the other axes of x1, followed by those of x2.

    x1, x2: of the same size along these axes (ShapeError). The result has the common dtype;
    DTypeError for bool, or if there is none.

    >>> flex.dot(flex.asarray([1, 2]), flex.asarray([[1, 2], [3, 4]])).tolist()
    [7, 10]
    """
def dstack(arrays: Iterable[_Operand], /) -> Tensor:
    """Joins tensors along the third axis, after `atleast_3d`. Arguments and errors are those of
    `hstack`.

    >>> flex.dstack([flex.asarray([1, 2]), flex.asarray([3, 4])]).tolist()
    [[[1, 3], [2, 4]]]
    """
def einsum(subscripts: str | _Operand, /, *operands: _Operand | Sequence[SupportsIndex | EllipsisType], dtype: _DType | None = None, optimize: builtins.bool | str | Sequence[Any] = True) -> Tensor:
    """The sum of products of operands whose dimensions are named by letters (Einstein's summation), as
    in numpy.einsum.

    subscripts: the letters of each operand's dimensions, separated by commas, and after `->` those
    of the result; other letters are summed over. A letter that one operand has twice takes its
    diagonal. `...` stands for dimensions without letters, which broadcast. Without `->` the result
    has the dimensions under `...` and the letters that occur once, in alphabetical order. Instead, a
    list of integers from 0 to 51, and `...`, may follow each operand, and one for the result. dtype:
    the dtype that operands are converted to; by default their common one. Integers wrap, 16-bit
    floats are summed in float32 and rounded once. optimize: the order in which operands are
    contracted, which only affects speed and rounding: True for a good one, False for that in which
    they are given, or `'greedy'`, `'optimal'`, or a path of einsum_path. What only permutes
    dimensions or takes diagonals is a view. ValueError if subscripts or a path are malformed;
    ShapeError if they don't fit the shapes; DTypeError for bool, unless nothing is computed, or
    without a common dtype.

    >>> a, x = flex.asarray([[1, 2], [3, 4]]), flex.asarray([10, 1])
    >>> flex.einsum("ij,j->i", a, x).tolist(), flex.einsum("ii", a).item()
    ([12, 34], 5)
    >>> flex.einsum(a, [0, 1], x, [1], [0]).tolist()
    [12, 34]
    """
def einsum_path(subscripts: str | _Operand, /, *operands: _Operand | Sequence[SupportsIndex | EllipsisType], optimize: builtins.bool | str | Sequence[Any] = 'greedy') -> tuple[list[Any], str]:
    """The order in which einsum contracts operands, and its costs: a path for its `optimize`, and a
    text.

    subscripts, operands, optimize: as for einsum; only the operands' shapes matter. The path has the
    positions of the operands that each step contracts; these are removed from the list of operands,
    and the result is appended. Errors as for einsum.

    >>> a, x = flex.ones((3, 3)), flex.ones(3)
    >>> path, text = flex.einsum_path("ij,jk,k->i", a, a, x)
    >>> path
    ['einsum_path', (1, 2), (0, 1)]
    """
def empty(shape: _Shape, dtype: _DType | None = None, *, device: _Device | None = None) -> Tensor:
    """A tensor with unspecified values.

    shape: an integer or a tuple of them. dtype: float32 by default. ShapeError if a size is
    negative; MemoryError if there is not enough memory.

    >>> flex.empty((2, 3)).shape
    (2, 3)
    """
def empty_cache() -> None:
    """Returns the memory cached for reuse to the system."""
def empty_like(x: _Operand, /, dtype: _DType | None = None, *, device: _Device | None = None) -> Tensor:
    """A tensor with unspecified values, of the shape of `x` and its dtype, or another. MemoryError if
    there is not enough memory.

    >>> flex.empty_like(flex.asarray([1, 2])).dtype
    flex.int64
    """
def equal(x1: _Operand, x2: _Operand, /) -> Tensor:
    """Whether equal.

    x1, x2: tensors, arrays or numbers, whose shapes broadcast; a number takes the other's
    dtype, and integers are compared with it exactly, in range or not.
    The result is bool.
    DTypeError if the operation doesn't support the dtype, or there is no common dtype;
    ShapeError if shapes don't broadcast.

    >>> flex.equal(flex.asarray([1, 2]), flex.asarray([2, 2])).tolist()
    [False, True]
    """
def erf(x: _Operand, /) -> Tensor:
    """Error function.

    x: a tensor, an array or a number. The result has its shape.
    The result has the operands' common dtype; integers and bool are computed in float32.
    DTypeError if the operation doesn't support the dtype.

    >>> flex.erf(flex.asarray([0.0, 5.0])).tolist()
    [0.0, 1.0]
    """
def erfc(x: _Operand, /) -> Tensor:
    """`1 - erf(x)` without cancellation.

    x: a tensor, an array or a number. The result has its shape.
    The result has the operands' common dtype; integers and bool are computed in float32.
    DTypeError if the operation doesn't support the dtype.

    >>> flex.erfc(flex.asarray([0.0, flex.inf])).tolist()
    [1.0, 0.0]
    """
def erfinv(x: _Operand, /) -> Tensor:
    """The inverse of the error function: infinite at 1 and -1, NaN beyond. Dtypes and errors are those
    of `lgamma`.

    >>> flex.erfinv(flex.asarray([0.0, 1.0])).tolist()
    [0.0, inf]
    """
def exp(x: _Operand, /) -> Tensor:
    """e to the power of x.

    x: a tensor, an array or a number. The result has its shape.
    The result has the operands' common dtype; integers and bool are computed in float32.
    DTypeError if the operation doesn't support the dtype.

    >>> flex.exp(flex.asarray([0.0, 1.0, -flex.inf])).tolist()
    [1.0, 2.7182817459106445, 0.0]
    """
def exp2(x: _Operand, /) -> Tensor:
    """2 to the power of x.

    x: a tensor, an array or a number. The result has its shape.
    The result has the operands' common dtype; integers and bool are computed in float32.
    DTypeError if the operation doesn't support the dtype.

    >>> flex.exp2(flex.asarray([0.0, 3.0, -1.0])).tolist()
    [1.0, 8.0, 0.5]
    """
def expand_dims(x: _Operand, /, axis: _Shape = 0) -> Tensor:
    """Inserts dimensions of size 1 at these positions of the result; a view.

    axis: an integer or a tuple of them. AxisError if one is out of range or repeated.

    >>> flex.expand_dims(flex.zeros((2, 3)), axis=(0, -1)).shape
    (1, 2, 3, 1)
    """
def explain(f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> str:
    """The programs that a fused function runs for these arguments, as text: what each pass over memory
    reads, computes and stores.

    f: a function, or one that `flex.fuse` made. args, kwargs: as for a call; nothing is computed.

    >>> print(flex.explain(lambda x: flex.sum(x * x + 1), flex.ones(4)))
    reduce v0 of x0: square, add; sum over [0]
    returns v0
    """
def expm1(x: _Operand, /) -> Tensor:
    """`exp(x) - 1` without cancellation.

    x: a tensor, an array or a number. The result has its shape.
    The result has the operands' common dtype; integers and bool are computed in float32.
    DTypeError if the operation doesn't support the dtype.

    >>> flex.expm1(flex.asarray([0.0, 1e-20, -flex.inf])).tolist()
    [0.0, 9.999999682655225e-21, -1.0]
    """
def eye(n_rows: SupportsIndex, n_cols: SupportsIndex | None = None, k: SupportsIndex = 0, dtype: _DType | None = None, *, device: _Device | None = None) -> Tensor:
    """A matrix of zeros with ones on diagonal `k`; above the main diagonal if positive, below if
    negative.

    n_cols: n_rows by default. dtype: float32 by default. ValueError if a size is negative.

    >>> flex.eye(2).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
def finfo(type: _Operand | _DType, /) -> _FloatInfo:
    """The limits of a float or complex dtype, or of a tensor's; DTypeError for others.

    >>> flex.finfo(flex.bfloat16).eps
    0.0078125
    """
def flip(x: _Operand, /, axis: _Shape | None = None) -> Tensor:
    """Reverses the elements along one axis, several, or all; a view.

    axis: an integer or a tuple of them. AxisError if one is out of range or repeated.

    >>> flex.flip(flex.asarray([1, 2, 3])).tolist()
    [3, 2, 1]
    """
def fliplr(x: _Operand, /) -> Tensor:
    """Reverses the second axis: columns from left to right; a view. ShapeError if there are fewer than
    two dimensions.

    >>> flex.fliplr(flex.asarray([[1, 2], [3, 4]])).tolist()
    [[2, 1], [4, 3]]
    """
def flipud(x: _Operand, /) -> Tensor:
    """Reverses the first axis: rows from top to bottom; a view. ShapeError for a number.

    >>> flex.flipud(flex.asarray([[1, 2], [3, 4]])).tolist()
    [[3, 4], [1, 2]]
    """
def floor(x: _Operand, /) -> Tensor:
    """The largest integer not above x.

    x: a tensor, an array or a number. The result has its shape.
    The result has the operands' common dtype.
    DTypeError if the operation doesn't support the dtype.

    >>> flex.floor(flex.asarray([1.5, -1.5])).tolist()
    [1.0, -2.0]
    """
def floor_divide(x1: _Operand, x2: _Operand, /) -> Tensor:
    """Floor of the quotient; with an infinity the quotient itself, so `1 // -inf` is -0, as the
    array API standard says. Integer division by zero is an error.

    x1, x2: tensors, arrays or numbers, whose shapes broadcast; a number takes the other's
    dtype.
    The result has the operands' common dtype.
    DTypeError if the operation doesn't support the dtype, or there is no common dtype;
    ShapeError if shapes don't broadcast.

    >>> flex.floor_divide(flex.asarray([7, -7]), flex.asarray([2, 2])).tolist()
    [3, -4]
    """
def fmod(x1: _Operand, x2: _Operand, /) -> Tensor:
    """Remainder with the sign of the dividend. Integer division by zero is an error.

    x1, x2: tensors, arrays or numbers, whose shapes broadcast; a number takes the other's
    dtype.
    The result has the operands' common dtype.
    DTypeError if the operation doesn't support the dtype, or there is no common dtype;
    ShapeError if shapes don't broadcast.

    >>> flex.fmod(flex.asarray([7, -7]), flex.asarray([4, 4])).tolist()
    [3, -3]
    """
def from_dlpack(x: _DLPack, /, *, device: _Device | None = None, copy: builtins.bool | None = None) -> Tensor:
    """A tensor that shares the memory of an object with `__dlpack__`: writes to that object are seen
    in the tensor. `copy=True` always copies. TypeError without `__dlpack__`; BufferError if
    `copy=False` and a copy is needed, and for objects on another device, unless `device="cpu"`
    requests a copy.

    >>> flex.from_dlpack(flex.asarray([1, 2])).tolist()
    [1, 2]
    """
def frombuffer(buffer: _Buffer, dtype: _DType, count: SupportsIndex = -1, offset: SupportsIndex = 0) -> Tensor:
    r"""A 1-dimensional tensor of the elements in a buffer (`bytes`, `mmap`, a `memoryview`), which it
    borrows.

    dtype: the dtype of the elements. count: their number, by default all to the end. offset: that of
    the first element, in bytes. Misaligned elements are copied. ValueError if the buffer is too
    short, or the rest is not a whole number of elements; BufferError if it is not contiguous.

    >>> flex.frombuffer(b"\x01\x00\x02\x00", "int16").tolist()
    [1, 2]
    """
def full(shape: _Shape, fill_value: _Number, dtype: _DType | None = None, *, device: _Device | None = None) -> Tensor:
    """A tensor filled with one number.

    shape: an integer or a tuple of them. dtype: by default bool, int64, float32 or complex64, by
    the kind of the number; a float is truncated for an integer dtype. ShapeError if a size is
    negative; ValueError if the number is out of the dtype's range, as NaN is for integers,
    DTypeError if it is complex and the dtype is not; MemoryError if there is not enough memory.

    >>> flex.full((2, 2), 7).tolist()
    [[7, 7], [7, 7]]
    """
def full_like(x: _Operand, /, fill_value: _Number, dtype: _DType | None = None, *, device: _Device | None = None) -> Tensor:
    """A tensor filled with one number, of the shape of `x` and its dtype, or another.

    The number is converted as by `full`, with the errors of `full`.

    >>> flex.full_like(flex.asarray([1, 2]), 7).tolist()
    [7, 7]
    """
@overload
def fuse(f: Callable[_P, _R], /, *, donate: _Shape | None = None, strict: builtins.bool = False) -> _Fused[_P, _R]:
    """Makes a function of tensors run as one pass over memory.

    f: a Python function. Its first call for given dtypes, ranks and pattern of equal sizes traces
    it: it runs once with tensors that have no elements yet, and the operations it performs become
    programs that run tile by tile in cache. Later calls run these. Arguments and results are
    tensors, arrays and floats, or tuples, lists and dicts of them, up to 200 deep. Any other argument is
    a constant of the program. Tensors that the function uses from outside, by variables, attributes
    and entries that its code names, are read anew at each call; if a number or another object there
    changes, it is traced again, and what can't be followed is a TypeError. Floats among arguments may
    change from call to call; one whose value the function looks at (`if a > 0`, `math.sqrt(a)`, an exponent of `**`)
    is a constant too. Elementwise functions, conversions, reductions and views are traced.
    `matmul`, sorts, `flex.nn` and other functions whose result is one tensor run unchanged between
    the programs; operations that follow `matmul`, `nn.linear` or a convolution are computed on blocks
    of its result. Whatever needs elements (`if t:`, `float(t)`, `print(t.item())`) is a TypeError
    that names the line.

    donate: positions, among all tensors of a call, of those whose memory results may reuse; they
    are left with shape (0,), unless the call fails. strict: whether to round 16-bit floats after each operation, as
    without fusion; otherwise they are computed in float32 and rounded where a result is stored, and where a function that
    runs unchanged reads or returns them. float32, float64 and integers have the same bits as without fusion either way. Calls take an additional keyword
    `out`: a tensor, or a tuple of different ones, with the results' shapes and dtypes, to store the
    results in.

    Without f, returns a decorator. Changes of an argument in place (`t += 1`) stay within the
    function; changes of a tensor from outside are a TypeError. Methods are traced for each instance,
    which is held weakly.

    >>> @flex.fuse
    ... def gelu(x):
    ...     return 0.5 * x * (1 + flex.erf(x / 2**0.5))
    >>> gelu(flex.asarray([0.0, 8.0])).tolist()
    [0.0, 8.0]
    """
@overload
def fuse(f: None = None, /, *, donate: _Shape | None = None, strict: builtins.bool = False) -> Callable[[Callable[_P, _R]], _Fused[_P, _R]]: ...
def gelu(x: _Operand, /) -> Tensor:
    """`x / 2 * (1 + erf(x / sqrt(2)))` (Hendrycks and Gimpel 2016).

    x: a tensor, an array or a number. The result has its shape.
    The result has the operands' common dtype; integers and bool are computed in float32.
    DTypeError if the operation doesn't support the dtype.

    >>> flex.gelu(flex.asarray([0.0, 20.0])).tolist()
    [0.0, 20.0]
    """
def gelu_tanh(x: _Operand, /) -> Tensor:
    """The approximation of gelu by tanh.

    x: a tensor, an array or a number. The result has its shape.
    The result has the operands' common dtype; integers and bool are computed in float32.
    DTypeError if the operation doesn't support the dtype.

    >>> flex.gelu_tanh(flex.asarray([0.0, 20.0])).tolist()
    [0.0, 20.0]
    """
def get_default_dtype() -> DType:
    """The dtype of floats that nothing else determines here: see `set_default_dtype`.

    >>> flex.get_default_dtype()
    flex.float32
    """
def get_num_threads() -> int:
    """The number of threads that an operation started here may use."""
def get_printoptions() -> _PrintOptions:
    """What `set_printoptions` has set, by name.

    >>> flex.get_printoptions()["edgeitems"]
    3
    """
def greater(x1: _Operand, x2: _Operand, /) -> Tensor:
    """Whether the first is greater.

    x1, x2: tensors, arrays or numbers, whose shapes broadcast; a number takes the other's
    dtype, and integers are compared with it exactly, in range or not.
    The result is bool.
    DTypeError if the operation doesn't support the dtype, or there is no common dtype;
    ShapeError if shapes don't broadcast.

    >>> flex.greater(flex.asarray([1, 2, 3]), flex.asarray([2, 2, 2])).tolist()
    [False, False, True]
    """
def greater_equal(x1: _Operand, x2: _Operand, /) -> Tensor:
    """Whether the first is greater or equal.

    x1, x2: tensors, arrays or numbers, whose shapes broadcast; a number takes the other's
    dtype, and integers are compared with it exactly, in range or not.
    The result is bool.
    DTypeError if the operation doesn't support the dtype, or there is no common dtype;
    ShapeError if shapes don't broadcast.

    >>> flex.greater_equal(flex.asarray([1, 2]), flex.asarray([2, 2])).tolist()
    [False, True]
    """
def hsplit(x: _Operand, /, indices_or_sections: _Shape) -> tuple[Tensor, ...]:
    """Pieces along the second axis, of vectors along the first; views, as a tuple.

    indices_or_sections: the number of pieces, of equal size (ShapeError if that doesn't divide
    the axis), or the indices before which the axis is divided. ShapeError for a number.

    >>> [t.tolist() for t in flex.hsplit(flex.asarray([[1, 2], [3, 4]]), 2)]
    [[[1], [3]], [[2], [4]]]
    """
def hstack(arrays: Iterable[_Operand], /) -> Tensor:
    """Joins tensors along the second axis, vectors and numbers along the first.

    arrays: a sequence of at least one tensor (ValueError), of equal shapes except along that axis
    (ShapeError). The result has their common dtype (DTypeError if there is none).

    >>> flex.hstack([flex.asarray([[1], [2]]), flex.asarray([[3], [4]])]).tolist()
    [[1, 3], [2, 4]]
    """
def hypot(x1: _Operand, x2: _Operand, /) -> Tensor:
    """Length of the hypotenuse.

    x1, x2: tensors, arrays or numbers, whose shapes broadcast; a number takes the other's
    dtype.
    The result has the operands' common dtype; integers and bool are computed in float32.
    DTypeError if the operation doesn't support the dtype, or there is no common dtype;
    ShapeError if shapes don't broadcast.

    >>> flex.hypot(flex.asarray([3.0, 5.0]), flex.asarray([4.0, 12.0])).tolist()
    [5.0, 13.0]
    """
def i0(x: _Operand, /) -> Tensor:
    """The modified Bessel function of the first kind of order 0. Dtypes and errors are those of
    `lgamma`.

    >>> round(flex.i0(flex.asarray(1.0)).item(), 5)
    1.26607
    """
def i0e(x: _Operand, /) -> Tensor:
    """`i0` times `exp(-abs(x))`, which does not overflow. Dtypes and errors are those of `lgamma`.

    >>> round(flex.i0e(flex.asarray(1.0)).item(), 5)
    0.46576
    """
def i1(x: _Operand, /) -> Tensor:
    """The modified Bessel function of the first kind of order 1. Dtypes and errors are those of
    `lgamma`.

    >>> round(flex.i1(flex.asarray(-1.0)).item(), 5)
    -0.56516
    """
def i1e(x: _Operand, /) -> Tensor:
    """`i1` times `exp(-abs(x))`, which does not overflow. Dtypes and errors are those of `lgamma`.

    >>> round(flex.i1e(flex.asarray(1.0)).item(), 5)
    0.20791
    """
def iinfo(type: _Operand | _DType, /) -> _IntInfo:
    """The limits of an integer dtype, or of a tensor's; DTypeError for others.

    >>> flex.iinfo(flex.int8).max
    127
    """
def imag(x: _Operand, /) -> Tensor:
    """Imaginary part; zero for real numbers.

    x: a tensor, an array or a number. The result has its shape.
    The result has the operand's dtype; that of its parts if it is complex.
    DTypeError if the operation doesn't support the dtype.

    >>> flex.imag(flex.asarray([1 + 2j])).tolist()
    [2.0]
    """
def index_add(x: _Operand, /, indices: _Nested, values: _Operand, axis: SupportsIndex = 0) -> Tensor:
    """A copy of `x` with `values` added to its slices at the positions `indices` along `axis`, which
    may repeat. The inverse of `take`.

    indices: integers. values: a number, or a tensor that broadcasts to the shape that `take` gives
    for these indices. The result has the shape and the dtype of x, and is the same for any number
    of threads. IndexError if a position is out of range; ShapeError if shapes don't fit; DTypeError
    if values are of a higher kind than the dtype of x, or if that is bool.

    >>> flex.index_add(flex.zeros((2, 2)), flex.asarray([1, 1]), flex.ones((2, 2))).tolist()
    [[0.0, 0.0], [2.0, 2.0]]
    """
def inner(x1: _Operand, x2: _Operand, /) -> Tensor:
    """The sum of products over the last axes of both; the result has the other axes of x1, followed by
    those of x2. With a number, the product.

    x1, x2: of the same size along the last axis (ShapeError). The result has the common dtype;
    DTypeError for bool, or if there is none.

    >>> flex.inner(flex.asarray([[1, 2], [3, 4]]), flex.asarray([10, 1])).tolist()
    [12, 34]
    """
def isclose(x1: _Operand, x2: _Operand, /, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: builtins.bool = False) -> Tensor:
    """Whether each element of x1 is within `atol + rtol * abs(x2)` of that of x2, in float64.

    x1, x2: of any dtypes with a common one (DTypeError), which broadcast (ShapeError). equal_nan:
    whether NaN is close to NaN. Infinities are close to themselves alone.

    >>> flex.isclose(flex.asarray([1.0, 2.0]), flex.asarray([1.0 + 1e-7, 2.1])).tolist()
    [True, False]
    """
def isdtype(dtype: _DType, kind: str | _DType | tuple[str | _DType, ...]) -> builtins.bool:
    """Whether a dtype is of a kind: `"bool"`, `"signed integer"`, `"unsigned integer"`, `"integral"`,
    `"real floating"`, `"complex floating"`, `"numeric"`, a dtype, or one of a tuple of these.
    ValueError for other kinds. A kind implies arithmetic: the 8-bit floats, which have none, are of
    no kind.

    >>> flex.isdtype(flex.uint8, "integral"), flex.isdtype(flex.uint8, (flex.int8, "real floating"))
    (True, False)
    """
def isfinite(x: _Operand, /) -> Tensor:
    """Whether finite.

    x: a tensor, an array or a number. The result has its shape.
    The result is bool.
    DTypeError if the operation doesn't support the dtype.

    >>> flex.isfinite(flex.asarray([1.0, flex.inf, flex.nan])).tolist()
    [True, False, False]
    """
def isin(x1: _Operand, x2: _Nested, /, *, invert: builtins.bool = False) -> Tensor:
    """Whether each element of `x1` is in `x2`; with `invert`, whether it is not.

    x1, x2: tensors of any shapes, or numbers; x2 may be a list. The result is bool, of the shape of
    x1. NaN equals no element; integers are compared with floats exactly. DTypeError for complex
    numbers, or if there is no common dtype.

    >>> flex.isin(flex.asarray([1, 2, 3]), flex.asarray([3, 1])).tolist()
    [True, False, True]
    """
def isinf(x: _Operand, /) -> Tensor:
    """Whether infinite.

    x: a tensor, an array or a number. The result has its shape.
    The result is bool.
    DTypeError if the operation doesn't support the dtype.

    >>> flex.isinf(flex.asarray([1.0, flex.inf, flex.nan])).tolist()
    [False, True, False]
    """
def isnan(x: _Operand, /) -> Tensor:
    """Whether not a number.

    x: a tensor, an array or a number. The result has its shape.
    The result is bool.
    DTypeError if the operation doesn't support the dtype.

    >>> flex.isnan(flex.asarray([1.0, flex.inf, flex.nan])).tolist()
    [False, False, True]
    """
def kron(x1: _Operand, x2: _Operand, /) -> Tensor:
    """The Kronecker product: each element of x1 times the whole of x2, as blocks. The shape with fewer
    dimensions is padded with ones in front; sizes are multiplied.

    The result has the common dtype; DTypeError for bool, or if there is none.

    >>> flex.kron(flex.asarray([1, 10]), flex.asarray([1, 2, 3])).tolist()
    [1, 2, 3, 10, 20, 30]
    """
def less(x1: _Operand, x2: _Operand, /) -> Tensor:
    """Whether the first is less.

    x1, x2: tensors, arrays or numbers, whose shapes broadcast; a number takes the other's
    dtype, and integers are compared with it exactly, in range or not.
    The result is bool.
    DTypeError if the operation doesn't support the dtype, or there is no common dtype;
    ShapeError if shapes don't broadcast.

    >>> flex.less(flex.asarray([1, 2]), flex.asarray([2, 2])).tolist()
    [True, False]
    """
def less_equal(x1: _Operand, x2: _Operand, /) -> Tensor:
    """Whether the first is less or equal.

    x1, x2: tensors, arrays or numbers, whose shapes broadcast; a number takes the other's
    dtype, and integers are compared with it exactly, in range or not.
    The result is bool.
    DTypeError if the operation doesn't support the dtype, or there is no common dtype;
    ShapeError if shapes don't broadcast.

    >>> flex.less_equal(flex.asarray([1, 2, 3]), flex.asarray([2, 2, 2])).tolist()
    [True, True, False]
    """
def lgamma(x: _Operand, /) -> Tensor:
    """The logarithm of the magnitude of the gamma function; infinite at 0 and at negative integers.

    Computed in float64 and rounded to the dtype of x; integers become float32. DTypeError for
    complex numbers and float8.

    >>> flex.lgamma(flex.asarray([1.0, 2.0, 0.0])).tolist()
    [0.0, 0.0, inf]
    """
@overload
def linspace(start: _Number, stop: _Number, num: SupportsIndex, *, dtype: _DType | None = None, device: _Device | None = None, endpoint: builtins.bool = True, retstep: Literal[False] = False) -> Tensor:
    """`num` evenly spaced values from `start` to `stop`, which is the last value if `endpoint` is
    true.

    dtype: a float or complex dtype, by default float32, complex64 for complex bounds. Each value is
    computed from its index and rounded once. retstep: whether to return `(values, step)`, where step
    is the distance between two values, of no dimensions, NaN if there is none. ValueError if num is
    negative; DTypeError for other dtypes.

    >>> flex.linspace(0, 1, 5).tolist()
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """
@overload
def linspace(start: _Number, stop: _Number, num: SupportsIndex, *, dtype: _DType | None = None, device: _Device | None = None, endpoint: builtins.bool = True, retstep: Literal[True]) -> tuple[Tensor, Tensor]: ...
def log(x: _Operand, /) -> Tensor:
    """Natural logarithm.

    x: a tensor, an array or a number. The result has its shape.
    The result has the operands' common dtype; integers and bool are computed in float32.
    DTypeError if the operation doesn't support the dtype.

    >>> flex.log(flex.asarray([1.0, 0.0])).tolist()
    [0.0, -inf]
    """
def log10(x: _Operand, /) -> Tensor:
    """Logarithm to base 10.

    x: a tensor, an array or a number. The result has its shape.
    The result has the operands' common dtype; integers and bool are computed in float32.
    DTypeError if the operation doesn't support the dtype.

    >>> flex.log10(flex.asarray([1.0, 100.0])).tolist()
    [0.0, 2.0]
    """
def log1p(x: _Operand, /) -> Tensor:
    """`log(1 + x)` without cancellation.

    x: a tensor, an array or a number. The result has its shape.
    The result has the operands' common dtype; integers and bool are computed in float32.
    DTypeError if the operation doesn't support the dtype.

    >>> flex.log1p(flex.asarray([0.0, 1e-20, -1.0])).tolist()
    [0.0, 9.999999682655225e-21, -inf]
    """
def log2(x: _Operand, /) -> Tensor:
    """Logarithm to base 2.

    x: a tensor, an array or a number. The result has its shape.
    The result has the operands' common dtype; integers and bool are computed in float32.
    DTypeError if the operation doesn't support the dtype.

    >>> flex.log2(flex.asarray([1.0, 8.0, 0.5])).tolist()
    [0.0, 3.0, -1.0]
    """
def logaddexp(x1: _Operand, x2: _Operand, /) -> Tensor:
    """`log(exp(a) + exp(b))` without overflow.

    x1, x2: tensors, arrays or numbers, whose shapes broadcast; a number takes the other's
    dtype.
    The result has the operands' common dtype; integers and bool are computed in float32.
    DTypeError if the operation doesn't support the dtype, or there is no common dtype;
    ShapeError if shapes don't broadcast.

    >>> flex.logaddexp(flex.asarray([1000.0, 1.0]), flex.asarray([0.0, -flex.inf])).tolist()
    [1000.0, 1.0]
    """
def logical_and(x1: _Operand, x2: _Operand, /) -> Tensor:
    """Whether both are true (not zero).

    x1, x2: tensors, arrays or numbers, whose shapes broadcast; a number takes the other's
    dtype, and integers are compared with it exactly, in range or not.
    The result is bool.
    DTypeError if the operation doesn't support the dtype, or there is no common dtype;
    ShapeError if shapes don't broadcast.

    >>> flex.logical_and(flex.asarray([True, True]), flex.asarray([True, False])).tolist()
    [True, False]
    """
def logical_not(x: _Operand, /) -> Tensor:
    """Whether not true (zero).

    x: a tensor, an array or a number. The result has its shape.
    The result is bool.
    DTypeError if the operation doesn't support the dtype.

    >>> flex.logical_not(flex.asarray([True, False])).tolist()
    [False, True]
    """
def logical_or(x1: _Operand, x2: _Operand, /) -> Tensor:
    """Whether either is true (not zero).

    x1, x2: tensors, arrays or numbers, whose shapes broadcast; a number takes the other's
    dtype, and integers are compared with it exactly, in range or not.
    The result is bool.
    DTypeError if the operation doesn't support the dtype, or there is no common dtype;
    ShapeError if shapes don't broadcast.

    >>> flex.logical_or(flex.asarray([True, False]), flex.asarray([False, False])).tolist()
    [True, False]
    """
def logical_xor(x1: _Operand, x2: _Operand, /) -> Tensor:
    """Whether exactly one is true (not zero).

    x1, x2: tensors, arrays or numbers, whose shapes broadcast; a number takes the other's
    dtype, and integers are compared with it exactly, in range or not.
    The result is bool.
    DTypeError if the operation doesn't support the dtype, or there is no common dtype;
    ShapeError if shapes don't broadcast.

    >>> flex.logical_xor(flex.asarray([True, True]), flex.asarray([True, False])).tolist()
    [False, True]
    """
@overload
def logsumexp(x: _Operand, /, axis: _Shape | None = None, *, keepdims: builtins.bool = False, b: _Nested | None = None, return_sign: Literal[False] = False) -> Tensor:
    """`log(sum(exp(x)))`, or with weights `log(sum(b * exp(x)))`, without overflow.

    axis: an integer, a tuple of them, or None for all. keepdims: keep reduced axes with size 1. b:
    weights, which broadcast with x (ShapeError); where b is 0, x is of no account. return_sign:
    whether to return `(result, sign)` for the magnitude and the sign of the sum, 0 if that is 0;
    without it, the result of a negative sum is NaN. The result has the dtype of x, or the common one
    of x and b, float32 for integers and bool; it is `-inf` if there are no elements. DTypeError for
    complex numbers; AxisError if an axis is out of range or repeated.

    >>> flex.logsumexp(flex.asarray([-flex.inf, 1000.0])).item()
    1000.0
    >>> y, sign = flex.logsumexp(flex.zeros(2), b=[1, -3], return_sign=True)
    >>> flex.exp(y).item(), sign.item()
    (2.0, -1.0)
    """
@overload
def logsumexp(x: _Operand, /, axis: _Shape | None = None, *, keepdims: builtins.bool = False, b: _Nested | None = None, return_sign: Literal[True]) -> tuple[Tensor, Tensor]: ...
def masked_fill(x: _Operand, /, mask: _Operand, value: _Number) -> Tensor:
    """`x` with `value` where the mask is true.

    mask: a bool tensor; it and x broadcast together. value: a number. The result has the dtype of
    x. DTypeError if the mask is not bool, or the value is of a higher kind than the dtype;
    ValueError if it is out of range; ShapeError if shapes don't broadcast.

    >>> flex.masked_fill(flex.asarray([1, 2, 3]), flex.asarray([True, False, True]), 0).tolist()
    [0, 2, 0]
    """
def masked_select(x: _Operand, /, mask: _Operand) -> Tensor:
    """The elements of `x` where the mask is true, in row-major order.

    mask: a bool tensor; it and x broadcast together. The result has one dimension and the dtype of
    x. DTypeError if the mask is not bool; ShapeError if shapes don't broadcast.

    >>> flex.masked_select(flex.asarray([1, 2, 3]), flex.asarray([True, False, True])).tolist()
    [1, 3]
    """
def matmul(x1: _Operand, x2: _Operand, /, *, dtype: _DType | None = None) -> Tensor:
    """The matrix product. A vector on the left is a row, on the right a column, whose dimension is
    removed from the result; dimensions before the last two are batches and broadcast.

    x1: `[.., n, k]` or `[k]`. x2: `[.., k, m]` or `[k]`. The result is `[.., n, m]`, of the common
    dtype; integers wrap, float16 and bfloat16 are summed in float32. dtype: the dtype of the sums
    and of the result, as if both operands were converted to it first; int8 and uint8 in int32, and
    float16 and bfloat16 in float32, need no such copies. If the CPU multiplies pairs of bfloat16
    (AVX-512 BF16), their numbers below 1.2e-38 may count as zero. ShapeError if k or the batches
    don't fit, or an operand is a number; DTypeError for bool, without a common dtype, or if `dtype`
    can't hold the common dtype's values.

    >>> flex.matmul(flex.asarray([[1, 2], [3, 4]]), flex.asarray([1, -1])).tolist()
    [-1, -1]
    >>> x = flex.full((1, 300), 100, dtype=flex.int8)
    >>> flex.matmul(x, x.T, dtype=flex.int32).tolist()
    [[3000000]]
    """
def matrix_transpose(x: _Operand, /) -> Tensor:
    """Swaps the last two dimensions; a view. ShapeError if there are fewer.

    >>> flex.matrix_transpose(flex.asarray([[1, 2], [3, 4]])).tolist()
    [[1, 3], [2, 4]]
    """
def max(x: _Operand, /, axis: _Shape | None = None, *, keepdims: builtins.bool = False, out: Any | None = None, initial: _Number | None = None, where: _Nested | None = None) -> Tensor:
    """The largest element; NaN propagates.

    axis: an integer, a tuple of them, or None for all. keepdims: keep reduced axes with size 1.
    The result has the dtype of x. initial: a number that is one of the elements everywhere.
    where: as for `sum`, with initial. ValueError if there are no elements and no initial, or for
    where without it; DTypeError for complex numbers; AxisError if an axis is out of range or
    repeated.

    >>> flex.max(flex.asarray([[1, 5], [3, 2]]), axis=1).tolist()
    [5, 3]
    """
def max_with_indices(x: _Operand, /, axis: SupportsIndex | None = None, *, keepdims: builtins.bool = False) -> tuple[Tensor, Tensor]:
    """`max` and `argmax` in one: the largest element and its index (int64). Arguments and errors are
    those of `argmax`.

    >>> [t.tolist() for t in flex.max_with_indices(flex.asarray([[1, 5], [3, 2]]), axis=1)]
    [[5, 3], [1, 0]]
    """
def maximum(x1: _Operand, x2: _Operand, /) -> Tensor:
    """The larger; NaN if either is.

    x1, x2: tensors, arrays or numbers, whose shapes broadcast; a number takes the other's
    dtype.
    The result has the operands' common dtype.
    DTypeError if the operation doesn't support the dtype, or there is no common dtype;
    ShapeError if shapes don't broadcast.

    >>> flex.maximum(flex.asarray([1.0, -flex.inf]), flex.asarray([3.0, 2.0])).tolist()
    [3.0, 2.0]
    """
def mean(x: _Operand, /, axis: _Shape | None = None, *, dtype: _DType | None = None, keepdims: builtins.bool = False, out: Any | None = None, where: _Nested | None = None) -> Tensor:
    """The arithmetic mean of elements.

    axis: an integer, a tuple of them, or None for all. keepdims: keep reduced axes with size 1. The
    result has the dtype of x, float32 for integers and bool. dtype: a float or complex dtype to
    compute in. out, where: as for `sum`. The mean of no elements is NaN. AxisError if an axis is out
    of range or repeated.

    >>> flex.mean(flex.asarray([1, 2, 6])).item()
    3.0
    """
def median(x: _Operand, /, axis: _Shape | None = None, *, keepdims: builtins.bool = False) -> Tensor:
    """The median of elements: the middle of the sorted ones, or the mean of both in the middle.

    axis: an integer, a tuple of them, or None for all. keepdims: keep reduced axes with size 1. The
    result has the dtype of x, float32 for integers and bool. NaN if an element is NaN, or there is
    none. DTypeError for complex numbers; AxisError if an axis is out of range or repeated.

    >>> flex.median(flex.asarray([[3.0, 1.0, 2.0], [9.0, 7.0, 8.0]]), axis=1).tolist()
    [2.0, 8.0]
    """
def memory_stats() -> _MemoryStats:
    """Memory of tensors, in bytes: `in_use` by live ones, its `peak`, the bytes `cached` for reuse,
    their `cap`, the machine's `limit` (None if unknown); and how many blocks came from the cache
    (`hits`) or from the system (`misses`).
    """
def meshgrid(*arrays: _Operand, indexing: Literal["xy", "ij"] = 'xy', sparse: builtins.bool = False) -> tuple[Tensor, ...]:
    """Coordinates of a grid: each tensor's values along a dimension of its own, broadcast to the grid;
    views, as a tuple.

    arrays: tensors of rank 1 or 0 (ShapeError). indexing: with "xy" the first tensor varies along
    the second dimension and the second one along the first, with "ij" they are in order (ValueError
    for anything else). sparse: not broadcast: of size 1 in the other dimensions.

    >>> x, y = flex.meshgrid(flex.asarray([1, 2, 3]), flex.asarray([4, 5]))
    >>> x.tolist(), y.tolist()
    ([[1, 2, 3], [1, 2, 3]], [[4, 4, 4], [5, 5, 5]])
    """
def min(x: _Operand, /, axis: _Shape | None = None, *, keepdims: builtins.bool = False, out: Any | None = None, initial: _Number | None = None, where: _Nested | None = None) -> Tensor:
    """The smallest element; NaN propagates. Arguments and errors are those of `max`.

    >>> flex.min(flex.asarray([[1, 5], [3, 2]]), axis=1).tolist()
    [1, 2]
    """
def min_with_indices(x: _Operand, /, axis: SupportsIndex | None = None, *, keepdims: builtins.bool = False) -> tuple[Tensor, Tensor]:
    """`min` and `argmin` in one: the smallest element and its index (int64). Arguments and errors are
    those of `argmin`.

    >>> [t.tolist() for t in flex.min_with_indices(flex.asarray([[1, 5], [3, 2]]), axis=1)]
    [[1, 2], [0, 1]]
    """
def minimum(x1: _Operand, x2: _Operand, /) -> Tensor:
    """The smaller; NaN if either is.

    x1, x2: tensors, arrays or numbers, whose shapes broadcast; a number takes the other's
    dtype.
    The result has the operands' common dtype.
    DTypeError if the operation doesn't support the dtype, or there is no common dtype;
    ShapeError if shapes don't broadcast.

    >>> flex.minimum(flex.asarray([1.0, flex.inf]), flex.asarray([3.0, 2.0])).tolist()
    [1.0, 2.0]
    """
def moveaxis(x: _Operand, /, source: _Shape, destination: _Shape) -> Tensor:
    """Moves dimensions to other positions, keeping the order of the others; a view.

    source, destination: equally many axes of x and of the result (ShapeError). AxisError if one is
    out of range or repeated.

    >>> flex.moveaxis(flex.zeros((2, 3, 4)), 0, -1).shape
    (3, 4, 2)
    """
def multiply(x1: _Operand, x2: _Operand, /) -> Tensor:
    """Product.

    x1, x2: tensors, arrays or numbers, whose shapes broadcast; a number takes the other's
    dtype.
    The result has the operands' common dtype.
    DTypeError if the operation doesn't support the dtype, or there is no common dtype;
    ShapeError if shapes don't broadcast.

    >>> flex.multiply(flex.asarray([1, 2]), flex.asarray([10, 20])).tolist()
    [10, 40]
    """
def nan_to_num(x: _Operand, /, *, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None) -> Tensor:
    """x with finite numbers in place of NaN and infinities; of complex numbers, in both parts.

    nan: in place of NaN. posinf, neginf: in place of infinities; by default the largest and the
    smallest finite number of the dtype. Bool and integers are left as they are. DTypeError for
    float8.

    >>> flex.nan_to_num(flex.asarray([flex.nan, -flex.inf, 1.0]), neginf=-9).tolist()
    [0.0, -9.0, 1.0]
    """
def nanmax(x: _Operand, /, axis: _Shape | None = None, *, keepdims: builtins.bool = False) -> Tensor:
    """The largest element that is not NaN; NaN if all are. Arguments and errors are those of `max`.

    >>> flex.nanmax(flex.asarray([1.0, flex.nan, 3.0])).item()
    3.0
    """
def nanmean(x: _Operand, /, axis: _Shape | None = None, *, dtype: _DType | None = None, keepdims: builtins.bool = False) -> Tensor:
    """The mean of elements that are not NaN; of none it is NaN.

    dtype: a float or complex dtype to compute in. Other arguments, dtypes and errors are those of
    `mean`.

    >>> flex.nanmean(flex.asarray([1.0, flex.nan, 3.0])).item()
    2.0
    """
def nanmedian(x: _Operand, /, axis: _Shape | None = None, *, keepdims: builtins.bool = False) -> Tensor:
    """The median of the elements that are not NaN; NaN if there are none. Arguments, dtypes and errors
    are those of `median`.

    >>> flex.nanmedian(flex.asarray([3.0, flex.nan, 1.0, 2.0])).item()
    2.0
    """
def nanmin(x: _Operand, /, axis: _Shape | None = None, *, keepdims: builtins.bool = False) -> Tensor:
    """The smallest element that is not NaN; NaN if all are. Arguments and errors are those of
    `min`.

    >>> flex.nanmin(flex.asarray([1.0, flex.nan, 3.0])).item()
    1.0
    """
def nanpercentile(x: _Operand, /, q: _Nested, axis: _Shape | None = None, *, method: _QuantileMethod = 'linear', keepdims: builtins.bool = False) -> Tensor:
    """`nanquantile` for `q` from 0 to 100, with the same arguments and errors.

    >>> flex.nanpercentile(flex.asarray([3.0, flex.nan, 1.0, 2.0]), 50).item()
    2.0
    """
def nanquantile(x: _Operand, /, q: _Nested, axis: _Shape | None = None, *, method: _QuantileMethod = 'linear', keepdims: builtins.bool = False) -> Tensor:
    """The quantiles of the elements that are not NaN; NaN if there are none. Arguments, dtypes and
    errors are those of `quantile`.

    >>> flex.nanquantile(flex.asarray([3.0, flex.nan, 1.0, 2.0]), 0.5).item()
    2.0
    """
def nanstd(x: _Operand, /, axis: _Shape | None = None, *, dtype: _DType | None = None, correction: float = 0.0, keepdims: builtins.bool = False, ddof: float | None = None) -> Tensor:
    """The standard deviation of the elements that are not NaN: the square root of `nanvar`, with
    the same arguments and errors.

    >>> flex.nanstd(flex.asarray([1.0, flex.nan, 3.0])).item()
    1.0
    """
def nansum(x: _Operand, /, axis: _Shape | None = None, *, dtype: _DType | None = None, keepdims: builtins.bool = False) -> Tensor:
    """The sum of elements that are not NaN; of none it is 0.

    dtype: the dtype of the sum. Other arguments, dtypes and errors are those of `sum`.

    >>> flex.nansum(flex.asarray([1.0, flex.nan, 3.0])).item()
    4.0
    """
def nanvar(x: _Operand, /, axis: _Shape | None = None, *, dtype: _DType | None = None, correction: float = 0.0, keepdims: builtins.bool = False, ddof: float | None = None) -> Tensor:
    """The variance of the elements that are not NaN; NaN if there are no more than `correction`.
    Arguments, dtypes and errors are those of `var`; DTypeError for complex numbers.

    >>> flex.nanvar(flex.asarray([1.0, flex.nan, 3.0])).item()
    1.0
    """
def negative(x: _Operand, /) -> Tensor:
    """`-x`; the smallest integer wraps to itself.

    x: a tensor, an array or a number. The result has its shape.
    The result has the operands' common dtype.
    DTypeError if the operation doesn't support the dtype.

    >>> flex.negative(flex.asarray([1, -2])).tolist()
    [-1, 2]
    """
def nextafter(x1: _Operand, x2: _Operand, /) -> Tensor:
    """The next value from the first towards the second.

    x1, x2: tensors, arrays or numbers, whose shapes broadcast; a number takes the other's
    dtype.
    The result has the operands' common dtype; integers and bool are computed in float32.
    DTypeError if the operation doesn't support the dtype, or there is no common dtype;
    ShapeError if shapes don't broadcast.

    >>> flex.nextafter(flex.asarray([1.0, 0.0]), flex.asarray([2.0, 0.0])).tolist()
    [1.0000001192092896, 0.0]
    """
def nonzero(x: _Operand, /) -> tuple[Tensor, ...]:
    """The indices of the nonzero elements of `x`: one 1-dimensional int64 tensor per dimension, as a
    tuple, in row-major order.

    x: a tensor of any dtype, of one dimension or more (ShapeError).

    >>> [i.tolist() for i in flex.nonzero(flex.asarray([[0, 5], [6, 0]]))]
    [[0, 1], [1, 0]]
    """
def not_equal(x1: _Operand, x2: _Operand, /) -> Tensor:
    """Whether not equal.

    x1, x2: tensors, arrays or numbers, whose shapes broadcast; a number takes the other's
    dtype, and integers are compared with it exactly, in range or not.
    The result is bool.
    DTypeError if the operation doesn't support the dtype, or there is no common dtype;
    ShapeError if shapes don't broadcast.

    >>> flex.not_equal(flex.asarray([1, 2]), flex.asarray([2, 2])).tolist()
    [True, False]
    """
def ones(shape: _Shape, dtype: _DType | None = None, *, device: _Device | None = None) -> Tensor:
    """A tensor of ones (or True).

    shape: an integer or a tuple of them. dtype: float32 by default. ShapeError if a size is
    negative; MemoryError if there is not enough memory.

    >>> flex.ones(3, dtype=flex.int8).tolist()
    [1, 1, 1]
    """
def ones_like(x: _Operand, /, dtype: _DType | None = None, *, device: _Device | None = None) -> Tensor:
    """A tensor of ones (or True), of the shape of `x` and its dtype, or another. MemoryError if there
    is not enough memory.

    >>> flex.ones_like(flex.asarray([5, 6])).tolist()
    [1, 1]
    """
def outer(x1: _Operand, x2: _Operand, /) -> Tensor:
    """The outer product of two vectors: the product of each element of one with each of the other.

    x1: `[n]`. x2: `[m]` (ShapeError for other ranks). The result is `[n, m]`, of the common dtype
    (DTypeError if there is none).

    >>> flex.outer(flex.asarray([1, 2]), flex.asarray([3, 4])).tolist()
    [[3, 4], [6, 8]]
    """
def pad(x: _Operand, /, pad_width: SupportsIndex | Sequence[SupportsIndex | Sequence[SupportsIndex]], *, value: _Number = 0) -> Tensor:
    """Pads `x` with elements of `value`.

    pad_width: the number of elements before and after, as in numpy.pad: an integer for both ends of
    all dimensions, one pair for all dimensions, or a pair for each. The result has the dtype of x.
    ValueError if one is negative; ShapeError if there is not one pair for each dimension;
    DTypeError if the value is of a higher kind than the dtype.

    >>> flex.pad(flex.asarray([1, 2]), (1, 2), value=9).tolist()
    [9, 1, 2, 9, 9]
    """
def partition(x: _Operand, /, kth: _Shape, axis: SupportsIndex | None = -1) -> Tensor:
    """The values along an axis such that those at the positions kth are where the sorted line has them,
    with none larger before and none smaller behind.

    x: a tensor of an ordered dtype; the result has its shape and dtype. kth: a position, or several,
    negative ones from the end. axis: None for all elements in row-major order. The other values are
    in any order. NaN comes last. ValueError if kth is out of range; AxisError if the axis is;
    DTypeError for complex numbers.

    >>> flex.partition(flex.asarray([3, 1, 2]), 1)[1].item()
    2
    """
def percentile(x: _Operand, /, q: _Nested, axis: _Shape | None = None, *, method: _QuantileMethod = 'linear', keepdims: builtins.bool = False) -> Tensor:
    """`quantile` for `q` from 0 to 100, with the same arguments and errors.

    >>> flex.percentile(flex.asarray([3.0, 1.0, 2.0, 10.0]), 50).item()
    2.5
    """
def permute_dims(x: _Operand, /, axes: _Shape) -> Tensor:
    """Permutes the dimensions: dimension `i` of the result is dimension `axes[i]`; a view.

    axes: each axis once (ShapeError, AxisError).

    >>> flex.permute_dims(flex.zeros((2, 3, 4)), (2, 0, 1)).shape
    (4, 2, 3)
    """
def positive(x: _Operand, /) -> Tensor:
    """x itself.

    x: a tensor, an array or a number. The result has its shape.
    The result has the operands' common dtype.
    DTypeError if the operation doesn't support the dtype.

    >>> flex.positive(flex.asarray([1, -2])).tolist()
    [1, -2]
    """
def pow(x1: _Operand, x2: _Operand, /) -> Tensor:
    """The first to the power of the second. Negative exponents of integers are an error. Of
    floats, squares, inverses and roots (exponents 2, -1 and 0.5) are correctly rounded.

    x1, x2: tensors, arrays or numbers, whose shapes broadcast; a number takes the other's
    dtype.
    The result has the operands' common dtype.
    DTypeError if the operation doesn't support the dtype, or there is no common dtype;
    ShapeError if shapes don't broadcast.

    >>> flex.pow(flex.asarray([2, 3]), flex.asarray([10, 2])).tolist()
    [1024, 9]
    """
def prod(x: _Operand, /, axis: _Shape | None = None, *, dtype: _DType | None = None, keepdims: builtins.bool = False, out: Any | None = None, initial: _Number | None = None, where: _Nested | None = None) -> Tensor:
    """The product of elements.

    axis: an integer, a tuple of them, or None for all. keepdims: keep reduced axes with size 1.
    dtype: the dtype of the products, by default int64 for bool and signed integers, uint64 for
    unsigned ones, else that of x. Integers wrap; the product of no elements is 1. out, initial,
    where and errors: as for `sum`.

    >>> flex.prod(flex.asarray([[1, 2], [3, 4]]), axis=1).tolist()
    [2, 12]
    """
def ptp(x: _Operand, /, axis: _Shape | None = None, *, keepdims: builtins.bool = False) -> Tensor:
    """The largest element less the smallest, in the dtype of x; integers wrap. Arguments and errors are
    those of `max`.

    >>> flex.ptp(flex.asarray([[1, 5], [3, 2]]), axis=1).tolist()
    [4, 1]
    """
def quantile(x: _Operand, /, q: _Nested, axis: _Shape | None = None, *, method: _QuantileMethod = 'linear', keepdims: builtins.bool = False) -> Tensor:
    """The quantiles of elements: the values at `q` times the way through the sorted elements.

    q: a number from 0 to 1 (ValueError), or numbers of any shape, whose dimensions come first in the
    result. axis: an integer, a tuple of them, or None for all. keepdims: keep reduced axes with size
    1. Dtypes and other errors are those of `median`.

    method: between two elements, by the position between them ("linear"), or the "lower", the
    "higher", the "nearest", or their mean ("midpoint"); or one of the other eight of Hyndman and Fan,
    "Sample quantiles in statistical packages", 1996: "inverted_cdf", "averaged_inverted_cdf",
    "closest_observation", "interpolated_inverted_cdf", "hazen", "weibull", "median_unbiased",
    "normal_unbiased".

    >>> flex.quantile(flex.asarray([3.0, 1.0, 2.0, 10.0]), [0.0, 0.5]).tolist()
    [1.0, 2.5]
    """
def ravel(x: _Operand, /) -> Tensor:
    """The elements in row-major order, as a vector; a view if strides allow it, else a copy.

    >>> flex.ravel(flex.asarray([[1, 2], [3, 4]])).tolist()
    [1, 2, 3, 4]
    """
def real(x: _Operand, /) -> Tensor:
    """Real part.

    x: a tensor, an array or a number. The result has its shape.
    The result has the operand's dtype; that of its parts if it is complex.
    DTypeError if the operation doesn't support the dtype.

    >>> flex.real(flex.asarray([1 + 2j])).tolist()
    [1.0]
    """
def reciprocal(x: _Operand, /) -> Tensor:
    """`1 / x`.

    x: a tensor, an array or a number. The result has its shape.
    The result has the operands' common dtype; integers and bool are computed in float32.
    DTypeError if the operation doesn't support the dtype.

    >>> flex.reciprocal(flex.asarray([4.0, 0.5])).tolist()
    [0.25, 2.0]
    """
def relu(x: _Operand, /) -> Tensor:
    """`max(x, 0)`.

    x: a tensor, an array or a number. The result has its shape.
    The result has the operands' common dtype.
    DTypeError if the operation doesn't support the dtype.

    >>> flex.relu(flex.asarray([1.5, -2.0])).tolist()
    [1.5, 0.0]
    """
def remainder(x1: _Operand, x2: _Operand, /) -> Tensor:
    """Remainder with the sign of the divisor. Integer division by zero is an error.

    x1, x2: tensors, arrays or numbers, whose shapes broadcast; a number takes the other's
    dtype.
    The result has the operands' common dtype.
    DTypeError if the operation doesn't support the dtype, or there is no common dtype;
    ShapeError if shapes don't broadcast.

    >>> flex.remainder(flex.asarray([7, -7]), flex.asarray([4, 4])).tolist()
    [3, 1]
    """
def repeat(x: _Operand, /, repeats: SupportsIndex | Sequence[int] | _Operand, axis: SupportsIndex | None = None) -> Tensor:
    """Repeats each element several times along an axis; with `axis=None`, elements of the flattened x.

    repeats: an integer for all elements, or one for each. ValueError if one is negative; ShapeError
    if there are not as many as elements; DTypeError if they are not integers.

    >>> flex.repeat(flex.asarray([1, 2, 3]), flex.asarray([2, 0, 1])).tolist()
    [1, 1, 3]
    """
def reshape(x: _Operand, /, shape: _Shape, *, copy: builtins.bool | None = None) -> Tensor:
    """The elements in row-major order in another shape; one size may be -1, and is then inferred. A
    view if strides allow it, else a copy; `copy=True` always copies, `copy=False` raises ValueError
    if a copy is needed. ShapeError if the number of elements differs.

    >>> flex.reshape(flex.arange(6), (2, -1)).tolist()
    [[0, 1, 2], [3, 4, 5]]
    """
def result_type(*arrays_and_dtypes: _Operand | _DType) -> DType:
    """The dtype of an operation on these tensors, dtypes and Python numbers; numbers take the others'
    dtype. DTypeError if there is none.

    >>> flex.result_type(flex.int8, flex.uint8), flex.result_type(flex.float16, 1)
    (flex.int16, flex.float16)
    """
def roll(x: _Operand, /, shift: _Shape, axis: _Shape | None = None) -> Tensor:
    """Rolls elements by `shift` positions along an axis; those shifted beyond the end re-enter at the
    beginning. With `axis=None`, rolls the flattened x.

    shift, axis: integers, or tuples of equal length (ValueError); a single shift applies to all
    axes. AxisError if an axis is out of range.

    >>> flex.roll(flex.asarray([1, 2, 3, 4]), 1).tolist()
    [4, 1, 2, 3]
    """
def rot90(x: _Operand, /, k: SupportsIndex = 1, axes: tuple[SupportsIndex, SupportsIndex] = (0, 1)) -> Tensor:
    """Rotates by 90 degrees, `k` times, in the plane of two axes, from the first towards the second; a
    view.

    axes: two different axes (AxisError).

    >>> flex.rot90(flex.asarray([[1, 2], [3, 4]])).tolist()
    [[2, 4], [1, 3]]
    """
def round(x: _Operand, /, decimals: SupportsIndex = 0) -> Tensor:
    """The nearest integer, or the nearest multiple of `10 ** -decimals`; ties to even.

    x: a tensor, an array or a number. decimals: negative for tens, hundreds and so on. The result has
    the shape of x and its dtype. DTypeError for bool and float8.

    >>> flex.round(flex.asarray([0.5, 1.5, 2.6])).tolist()
    [0.0, 2.0, 3.0]
    >>> flex.round(flex.asarray([1250, 1350]), -2).tolist()
    [1200, 1400]
    """
def rsqrt(x: _Operand, /) -> Tensor:
    """`1 / sqrt(x)`.

    x: a tensor, an array or a number. The result has its shape.
    The result has the operands' common dtype; integers and bool are computed in float32.
    DTypeError if the operation doesn't support the dtype.

    >>> flex.rsqrt(flex.asarray([4.0, 1.0])).tolist()
    [0.5, 1.0]
    """
def scatter(x: _Operand, /, indices: _Nested, values: _Operand, axis: SupportsIndex = -1, *, mode: Literal["set", "add", "multiply", "max", "min"] = 'set') -> Tensor:
    """A copy of `x` with `values` put, in each line along `axis`, at the positions in the same line of
    `indices`.

    indices: integers, of the shape of x except along the axis. values: a number, or a tensor that
    broadcasts to the shape of indices. mode: "set" (of several values for one position the last
    wins), or "add", "multiply", "max" or "min", which combine them with the elements. IndexError if
    a position is out of range; ShapeError if shapes don't fit; DTypeError if values are of a higher
    kind than the dtype of x; ValueError for another mode.

    >>> flex.scatter(flex.asarray([[1, 2], [3, 4]]), flex.asarray([[1], [0]]), 9, axis=1).tolist()
    [[1, 9], [9, 4]]
    """
def scatter_add(x: _Operand, /, indices: _Nested, values: _Operand, axis: SupportsIndex = -1) -> Tensor:
    """A copy of `x` with `values` added, in each line along `axis`, at the positions in the same line
    of `indices`, which may repeat.

    Shapes, dtypes and errors are those of `scatter` with mode "add". The result is the same
    for any number of threads.

    >>> flex.scatter_add(flex.zeros(3), flex.asarray([2, 0, 2]), flex.asarray([1.0, 2.0, 4.0])).tolist()
    [2.0, 0.0, 5.0]
    """
def searchsorted(x1: _Operand, x2: _Operand, /, side: Literal["left", "right"] = 'left', sorter: _Operand | None = None) -> Tensor:
    """The index at which each of `x2` would be inserted into `x1` to keep it sorted: before equal
    values with `side="left"`, after them with `"right"`.

    x1: a sorted 1-dimensional tensor, NaN last; if it is not sorted, `sorter` has the indices that
    sort it. x2: a tensor or a number, of any shape; the result has that shape and is int64. Floats
    are compared with integers in x1 exactly.
    ShapeError if x1 has another rank, or the sorter another size; DTypeError for complex numbers;
    ValueError for another side; IndexError if an index of the sorter is out of range.

    >>> flex.searchsorted(flex.asarray([1, 2, 2, 4]), flex.asarray([2, 5]), side="right").tolist()
    [3, 4]
    """
def set_default_dtype(dtype: _DType, /) -> None:
    """Sets the dtype of floats that nothing else determines, in the whole process: of tensors made from
    Python's floats, of `zeros`, `ones`, `empty`, `eye`, `linspace`, random numbers, windows and
    frequencies without a dtype. Complex numbers get the dtype of such parts.

    dtype: float32, which it is initially, float64, float16 or bfloat16 (DTypeError). Operations on
    tensors don't depend on it: beside a tensor a number takes its dtype, and integers are computed
    in float32 where floats are needed. `default_dtype` sets it in a block.

    >>> flex.set_default_dtype(flex.float64)
    >>> flex.asarray([1.5]).dtype, flex.zeros(2).dtype
    (flex.float64, flex.float64)
    >>> flex.set_default_dtype(flex.float32)
    """
def set_num_threads(n: SupportsIndex, /) -> None:
    """Sets how many threads operations of the whole process may use; 0 restores the initial number.
    ValueError if it is negative.
    """
def set_printoptions(precision: SupportsIndex | None = None, threshold: SupportsIndex | None = None, edgeitems: SupportsIndex | None = None, linewidth: SupportsIndex | None = None, suppress: builtins.bool | None = None) -> None:
    """Sets how tensors are written as text, in the whole process; what is None stays as it is.

    precision: the most digits after the point of a float (8); fewer are written where they
    round-trip. threshold: tensors of more elements are summarised (1000). edgeitems: the elements at
    each end of an axis in a summary (3). linewidth: the columns of a line (75). suppress: whether
    floats have no exponent (False). `printoptions` sets them in a block. ValueError for negative
    numbers, and for a precision above 65535.

    >>> flex.set_printoptions(precision=3)
    >>> print(flex.asarray([1 / 3, 0.5]))
    [0.333, 0.5  ]
    >>> flex.set_printoptions(precision=8)
    """
def set_weight_packing(on: builtins.bool, /) -> None:
    """Sets whether weights that are used repeatedly stay packed for matrix products (by default,
    True): float32, float64, int8 and uint8 weights of `nn.linear`, bfloat16 ones of it and of
    convolutions where the CPU has instructions for their products, those of recurrent layers, int8
    and uint8 matrices on the right of `matmul`, and weights of convolutions by Winograd's
    algorithm. Products with few rows take less time then. Each such weight takes its memory a
    second time, that of Winograd's algorithm four times more. Results of floats may differ in their
    last bits. Panels that were packed before are freed with their weight.
    """
def show_config() -> _Config:
    """The configuration of this build: `version`, `instruction_set` (the one in use), `threads`,
    `features` of the build, `dtypes`.
    """
def sigmoid(x: _Operand, /) -> Tensor:
    """`1 / (1 + exp(-x))`.

    x: a tensor, an array or a number. The result has its shape.
    The result has the operands' common dtype; integers and bool are computed in float32.
    DTypeError if the operation doesn't support the dtype.

    >>> flex.sigmoid(flex.asarray([0.0, 20.0])).tolist()
    [0.5, 1.0]
    """
def sign(x: _Operand, /) -> Tensor:
    """-1, 0 or 1; `z / |z|` for complex numbers.

    x: a tensor, an array or a number. The result has its shape.
    The result has the operands' common dtype.
    DTypeError if the operation doesn't support the dtype.

    >>> flex.sign(flex.asarray([5, 0, -2])).tolist()
    [1, 0, -1]
    """
def signbit(x: _Operand, /) -> Tensor:
    """Whether the sign bit is set.

    x: a tensor, an array or a number. The result has its shape.
    The result is bool.
    DTypeError if the operation doesn't support the dtype.

    >>> flex.signbit(flex.asarray([1.0, -0.0])).tolist()
    [False, True]
    """
def silu(x: _Operand, /) -> Tensor:
    """`x * sigmoid(x)`.

    x: a tensor, an array or a number. The result has its shape.
    The result has the operands' common dtype; integers and bool are computed in float32.
    DTypeError if the operation doesn't support the dtype.

    >>> flex.silu(flex.asarray([0.0, 20.0])).tolist()
    [0.0, 20.0]
    """
def sin(x: _Operand, /) -> Tensor:
    """Sine.

    x: a tensor, an array or a number. The result has its shape.
    The result has the operands' common dtype; integers and bool are computed in float32.
    DTypeError if the operation doesn't support the dtype.

    >>> flex.sin(flex.asarray([0.0, flex.pi / 2])).tolist()
    [0.0, 1.0]
    """
def sinh(x: _Operand, /) -> Tensor:
    """Hyperbolic sine.

    x: a tensor, an array or a number. The result has its shape.
    The result has the operands' common dtype; integers and bool are computed in float32.
    DTypeError if the operation doesn't support the dtype.

    >>> flex.sinh(flex.asarray([0.0, flex.inf])).tolist()
    [0.0, inf]
    """
def sort(x: _Operand, /, axis: SupportsIndex | None = -1, *, descending: builtins.bool = False, stable: builtins.bool = True) -> Tensor:
    """Sorts the values along `axis`.

    x: a tensor of an ordered dtype; the result has its shape and dtype. axis: None for all elements
    in row-major order. NaN comes last, even with
    `descending`. `stable` has no effect: every sort is stable, zeros of both signs keep their order.
    DTypeError for complex numbers; AxisError if the axis is out of range.

    >>> flex.sort(flex.asarray([3, 1, 2]), descending=True).tolist()
    [3, 2, 1]
    """
def sort_with_indices(x: _Operand, /, axis: SupportsIndex = -1, *, descending: builtins.bool = False, stable: builtins.bool = True) -> tuple[Tensor, Tensor]:
    """`sort` and `argsort` in one: the sorted values and their indices.

    x: a tensor of an ordered dtype; both results have its shape, the indices are int64. DTypeError
    for complex numbers; AxisError if the axis is out of range.

    >>> values, indices = flex.sort_with_indices(flex.asarray([3, 1, 2]))
    >>> values.tolist(), indices.tolist()
    ([1, 2, 3], [1, 2, 0])
    """
def split(x: _Operand, /, sizes: _Shape, axis: SupportsIndex = 0) -> tuple[Tensor, ...]:
    """Pieces along an axis, as in torch.split: all of one size, except a smaller last one, or of the
    given sizes, which must add up to that of the axis; views, as a tuple.

    ValueError if a size is negative, or a single size is 0; ShapeError if sizes don't add up;
    AxisError if the axis is out of range.

    >>> [t.tolist() for t in flex.split(flex.asarray([1, 2, 3, 4, 5]), 2)]
    [[1, 2], [3, 4], [5]]
    >>> [t.tolist() for t in flex.split(flex.asarray([1, 2, 3]), (1, 2))]
    [[1], [2, 3]]
    """
def sqrt(x: _Operand, /) -> Tensor:
    """Square root.

    x: a tensor, an array or a number. The result has its shape.
    The result has the operands' common dtype; integers and bool are computed in float32.
    DTypeError if the operation doesn't support the dtype.

    >>> flex.sqrt(flex.asarray([4.0, 9.0])).tolist()
    [2.0, 3.0]
    """
def square(x: _Operand, /) -> Tensor:
    """`x * x`.

    x: a tensor, an array or a number. The result has its shape.
    The result has the operands' common dtype.
    DTypeError if the operation doesn't support the dtype.

    >>> flex.square(flex.asarray([3, -2])).tolist()
    [9, 4]
    """
def squeeze(x: _Operand, /, axis: _Shape | None = None) -> Tensor:
    """Removes dimensions of size 1: those given, or all; a view.

    axis: an integer or a tuple of them. ShapeError if one has another size; AxisError if it is out
    of range or repeated.

    >>> flex.squeeze(flex.zeros((1, 3, 1)), axis=0).shape
    (3, 1)
    """
def stack(arrays: Iterable[_Operand], /, axis: SupportsIndex = 0) -> Tensor:
    """Joins tensors of the same shape along a new axis, at that position of the result.

    arrays: a sequence of at least one tensor (ValueError), all of the same shape (ShapeError). The
    result has their common dtype.

    >>> flex.stack([flex.asarray([1, 2]), flex.asarray([3, 4])], axis=1).tolist()
    [[1, 3], [2, 4]]
    """
def std(x: _Operand, /, axis: _Shape | None = None, *, dtype: _DType | None = None, correction: float = 0.0, keepdims: builtins.bool = False, ddof: float | None = None, out: Any | None = None, where: _Nested | None = None) -> Tensor:
    """The standard deviation of elements: the square root of `var`, with the same arguments and
    errors.

    >>> flex.std(flex.asarray([1.0, 3.0])).item()
    1.0
    """
def stream() -> Stream:
    """Runs the operations of a block together: `with flex.stream():`.

    Within the block, elementwise functions, operators, `astype`, reductions, products (`matmul`,
    `nn.linear`, convolutions) and views of queued values of this thread are queued instead of run.
    Whatever needs elements (`tolist`, `item`, printing, NumPy, any other function), the end of the
    block, and a full queue run the queued operations in as few passes over memory as possible, and
    only those whose results are still referenced. Shapes and dtypes are checked at once, so errors
    name the right line. Results have the same bits as without a stream.

    Operations on memory that other code may change run at once: that of NumPy arrays, and of tensors
    while they are lent (`numpy()`, `from_dlpack` of another library). Lending a tensor runs the
    operations that read it. Plans are found once
    and reused by all streams; the environment variable FLEX_PLAN_CACHE names a file that keeps them
    between processes.

    >>> x = flex.asarray([1.0, 2.0, 3.0])
    >>> with flex.stream():
    ...     y = x * 2 + 1
    ...     z = flex.sum(y)
    >>> z.item()
    15.0
    """
def subtract(x1: _Operand, x2: _Operand, /) -> Tensor:
    """Difference.

    x1, x2: tensors, arrays or numbers, whose shapes broadcast; a number takes the other's
    dtype.
    The result has the operands' common dtype.
    DTypeError if the operation doesn't support the dtype, or there is no common dtype;
    ShapeError if shapes don't broadcast.

    >>> flex.subtract(flex.asarray([1, 2]), flex.asarray([10, 20])).tolist()
    [-9, -18]
    """
def sum(x: _Operand, /, axis: _Shape | None = None, *, dtype: _DType | None = None, keepdims: builtins.bool = False, out: Any | None = None, initial: _Number | None = None, where: _Nested | None = None) -> Tensor:
    """The sum of elements.

    axis: an integer, a tuple of them, or None for all. keepdims: keep reduced axes with size 1.
    dtype: the dtype of the sums, by default int64 for bool and signed integers, uint64 for
    unsigned ones, else that of x. Integers wrap; the sum of no elements is 0; the result is the
    same for any number of threads. out: a NumPy array of the result's shape, which is filled
    and returned. initial: a number that each sum begins with, converted to the result's dtype.
    where: bool, broadcast to the shape of x: the elements that count. AxisError if an axis is
    out of range or repeated; DTypeError if where is not bool, or initial is of a higher kind than
    the result; ShapeError if where does not broadcast.

    >>> x = flex.asarray([[1, 2], [3, 4]])
    >>> flex.sum(x).item(), flex.sum(x, axis=0).tolist()
    (10, [4, 6])
    """
def swapaxes(x: _Operand, /, axis1: SupportsIndex, axis2: SupportsIndex) -> Tensor:
    """Swaps two dimensions; a view. AxisError if one is out of range.

    >>> flex.swapaxes(flex.zeros((2, 3, 4)), 0, -1).shape
    (4, 3, 2)
    """
def take(x: _Operand, /, indices: _Nested, axis: SupportsIndex | None = None) -> Tensor:
    """Takes the slices of `x` at the positions `indices` along `axis`.

    indices: integers, from `-size` to `size - 1`; their shape replaces the axis in the shape of the
    result. axis: None takes from the flattened x. The result has the dtype of x. IndexError if a
    position is out of range; DTypeError if they are not integers; AxisError for a wrong axis.

    >>> flex.take(flex.asarray([10, 20, 30]), flex.asarray([2, 0, -1])).tolist()
    [30, 10, 30]
    """
def take_along_axis(x: _Operand, /, indices: _Nested, axis: SupportsIndex = -1) -> Tensor:
    """Takes, from each line of `x` along `axis`, the values at the positions in the same line of
    `indices`.

    indices: integers, of the shape of x except along the axis (sizes of 1 broadcast); the result
    has their shape, and the dtype of x. IndexError if a position is out of range; ShapeError if
    shapes don't fit; DTypeError if positions are not integers.

    >>> x = flex.asarray([[3, 1], [4, 2]])
    >>> flex.take_along_axis(x, flex.argsort(x, axis=1), axis=1).tolist()
    [[1, 3], [2, 4]]
    """
def tan(x: _Operand, /) -> Tensor:
    """Tangent.

    x: a tensor, an array or a number. The result has its shape.
    The result has the operands' common dtype; integers and bool are computed in float32.
    DTypeError if the operation doesn't support the dtype.

    >>> flex.tan(flex.asarray([0.0, flex.pi / 4])).tolist()
    [0.0, 1.0]
    """
def tanh(x: _Operand, /) -> Tensor:
    """Hyperbolic tangent.

    x: a tensor, an array or a number. The result has its shape.
    The result has the operands' common dtype; integers and bool are computed in float32.
    DTypeError if the operation doesn't support the dtype.

    >>> flex.tanh(flex.asarray([0.0, 20.0])).tolist()
    [0.0, 1.0]
    """
def tensordot(x1: _Operand, x2: _Operand, /, axes: SupportsIndex | tuple[_Shape, _Shape] = 2) -> Tensor:
    """The sum of products over several axes. The result has the axes of x1 that are not summed over,
    followed by those of x2.

    axes: the number of axes, the last of x1 and the first of x2; or a pair of axes, or of tuples of
    axes, of x1 and x2. Sizes of paired axes must be equal (ShapeError). The result has the common
    dtype; DTypeError for bool, or if there is none; AxisError if an axis is out of range or
    repeated.

    >>> a = flex.asarray([[1, 2], [3, 4]])
    >>> flex.tensordot(a, a, axes=2).tolist(), flex.tensordot(a, a, axes=((0,), (0,))).tolist()
    (30, [[10, 14], [14, 20]])
    """
def tile(x: _Operand, /, repetitions: _Shape) -> Tensor:
    """Repeats the whole of `x`, `repetitions[k]` times along dimension `k`.

    repetitions: an integer or a tuple of them, aligned with the last dimension. If it and the shape
    of x differ in length, the shorter is padded with ones in front. ValueError if one is negative.

    >>> flex.tile(flex.asarray([1, 2]), (2, 2)).tolist()
    [[1, 2, 1, 2], [1, 2, 1, 2]]
    """
def topk(x: _Operand, /, k: SupportsIndex, axis: SupportsIndex = -1, *, largest: builtins.bool = True, sorted: builtins.bool = True) -> tuple[Tensor, Tensor]:
    """The `k` largest values along `axis`, or the smallest, and their indices; in order if `sorted`.

    x: a tensor of an ordered dtype; both results have its shape with size `k` along the axis, the
    indices are int64. Of equal values the first is preferred; NaN is taken last. ValueError if k is
    negative or exceeds the size of the axis; DTypeError for complex numbers; AxisError if the axis
    is out of range.

    >>> values, indices = flex.topk(flex.asarray([1, 5, 3]), 2)
    >>> values.tolist(), indices.tolist()
    ([5, 3], [1, 2])
    """
def transpose(x: _Operand, /, *dims: _Shape | None, axes: _Shape | None = None) -> Tensor:
    """Permutes the dimensions, by default in reverse order; a view.

    axes: each axis once, as one tuple, by position or by name, or as several arguments, dims
    (ShapeError, AxisError). TypeError for both.

    >>> flex.transpose(flex.zeros((2, 3, 4))).shape
    (4, 3, 2)
    >>> flex.transpose(flex.zeros((2, 3, 4)), axes=(1, 0, 2)).shape
    (3, 2, 4)
    """
def tril(x: _Operand, /, k: SupportsIndex = 0) -> Tensor:
    """The lower triangles of matrices (the last two dimensions): zero above diagonal `k`.

    x: a tensor of two dimensions or more (ShapeError); the result has its shape and dtype.

    >>> flex.tril(flex.ones((2, 2))).tolist()
    [[1.0, 0.0], [1.0, 1.0]]
    """
def triu(x: _Operand, /, k: SupportsIndex = 0) -> Tensor:
    """The upper triangles of matrices (the last two dimensions): zero below diagonal `k`.

    x: a tensor of two dimensions or more (ShapeError); the result has its shape and dtype.

    >>> flex.triu(flex.ones((2, 2))).tolist()
    [[1.0, 1.0], [0.0, 1.0]]
    """
def trunc(x: _Operand, /) -> Tensor:
    """x rounded towards zero.

    x: a tensor, an array or a number. The result has its shape.
    The result has the operands' common dtype.
    DTypeError if the operation doesn't support the dtype.

    >>> flex.trunc(flex.asarray([1.5, -1.5])).tolist()
    [1.0, -1.0]
    """
def unfold(x: _Operand, /, size: SupportsIndex, *, step: SupportsIndex = 1, axis: SupportsIndex = -1) -> Tensor:
    """Sliding windows of `size` elements along an axis, `step` apart. The axis counts the windows, and
    their elements are a new last dimension. A view whose elements overlap.

    ValueError if size or step is not positive; ShapeError if a window is larger than the axis;
    AxisError if the axis is out of range.

    >>> flex.unfold(flex.arange(5), 3).tolist()
    [[0, 1, 2], [1, 2, 3], [2, 3, 4]]
    """
def unique_all(x: _Operand, /) -> UniqueAllResult:
    """The distinct elements, their indices, the inverse, and their counts.

    x: a tensor of any shape, which is flattened (DTypeError for float8). The result is a named
    tuple: `values`, in ascending order, of the dtype of x; `indices` of the first occurrences;
    `inverse_indices`, of the shape of x, which reconstruct x from the values; `counts`. All but the
    values are int64. Each NaN is distinct, and zeros of both signs are equal; complex numbers are
    ordered by real part, then imaginary part.

    >>> u = flex.unique_all(flex.asarray([3, 1, 3]))
    >>> u.values.tolist(), u.indices.tolist(), u.inverse_indices.tolist(), u.counts.tolist()
    ([1, 3], [1, 0], [1, 0, 1], [1, 2])
    """
def unique_counts(x: _Operand, /) -> UniqueCountsResult:
    """The distinct elements in ascending order, and their counts (int64): the named tuple `values`,
    `counts`, as in `unique_all`.

    >>> values, counts = flex.unique_counts(flex.asarray([3, 1, 3]))
    >>> values.tolist(), counts.tolist()
    ([1, 3], [1, 2])
    """
def unique_inverse(x: _Operand, /) -> UniqueInverseResult:
    """The distinct elements in ascending order, and for each element of x the index of its value
    (int64, in the shape of x): the named tuple `values`, `inverse_indices`, as in `unique_all`.

    >>> values, inverse = flex.unique_inverse(flex.asarray([3, 1, 3]))
    >>> values[inverse].tolist()
    [3, 1, 3]
    """
def unique_values(x: _Operand, /) -> Tensor:
    """The distinct elements in ascending order, as a 1-dimensional tensor: the values of `unique_all`.

    >>> flex.unique_values(flex.asarray([[3, 1], [3, 2]])).tolist()
    [1, 2, 3]
    """
def unstack(x: _Operand, /, axis: SupportsIndex = 0) -> tuple[Tensor, ...]:
    """One tensor for each index of an axis, without that axis; views, as a tuple. AxisError if the
    axis is out of range.

    >>> [t.tolist() for t in flex.unstack(flex.asarray([[1, 2], [3, 4]]), axis=1)]
    [[1, 3], [2, 4]]
    """
def var(x: _Operand, /, axis: _Shape | None = None, *, dtype: _DType | None = None, correction: float = 0.0, keepdims: builtins.bool = False, ddof: float | None = None, out: Any | None = None, where: _Nested | None = None) -> Tensor:
    """The variance of elements: the sum of squared deviations from the mean, divided by `n -
    correction`.

    axis: an integer, a tuple of them, or None for all. keepdims: keep reduced axes with size 1.
    The result has the dtype of x, float32 for integers and bool, that of the parts for complex
    numbers, whose deviations are absolute values. dtype: a float dtype to compute in. out, where: as
    for `sum`. ddof: NumPy's name for the correction. NaN if `n <= correction`. AxisError if an axis
    is out of range or repeated.

    >>> flex.var(flex.asarray([1.0, 3.0])).item(), flex.var(flex.asarray([1.0, 3.0]), correction=1).item()
    (1.0, 2.0)
    """
def vdot(x1: _Operand, x2: _Operand, /) -> Tensor:
    """The dot product of all elements in row-major order; complex numbers of x1 are conjugated.

    x1, x2: with equally many elements (ShapeError). The result is 0-dimensional, of the common
    dtype; DTypeError for bool, or if there is none.

    >>> flex.vdot(flex.asarray([[1, 2], [3, 4]]), flex.asarray([[10, 1], [0, 1]])).item()
    16
    """
def vecdot(x1: _Operand, x2: _Operand, /, *, axis: SupportsIndex = -1) -> Tensor:
    """The dot product along an axis; complex numbers of x1 are conjugated.

    x1, x2: of the same size along the axis; the other dimensions broadcast (ShapeError). axis: a
    negative one counts from the end of both, others from the front of the broadcast shape
    (AxisError). The result has the common dtype; DTypeError for bool, or if there is none.

    >>> flex.vecdot(flex.asarray([[1, 2], [3, 4]]), flex.asarray([10, 1])).tolist()
    [12, 34]
    """
def vsplit(x: _Operand, /, indices_or_sections: _Shape) -> tuple[Tensor, ...]:
    """Pieces along the first axis of two or more; views, as a tuple. Arguments and errors are those
    of `hsplit`; ShapeError for vectors, too.

    >>> [t.tolist() for t in flex.vsplit(flex.asarray([[1, 2], [3, 4]]), 2)]
    [[[1, 2]], [[3, 4]]]
    """
def vstack(arrays: Iterable[_Operand], /) -> Tensor:
    """Joins tensors along the first axis, after `atleast_2d`: vectors are rows. Arguments and errors
    are those of `hstack`.

    >>> flex.vstack([flex.asarray([1, 2]), flex.asarray([3, 4])]).tolist()
    [[1, 2], [3, 4]]
    """
def where(condition: _Operand, x1: _Operand, x2: _Operand, /) -> Tensor:
    """`x1` where the condition is true, else `x2`. Without both, as in NumPy and torch, the indices where
    the condition is true: `nonzero(condition)`.

    condition: a bool tensor. x1, x2: tensors, arrays or numbers; the three broadcast. The result
    has the common dtype of x1 and x2. DTypeError if the condition is not bool; ShapeError if shapes
    don't broadcast; TypeError for one of x1 and x2 alone.

    >>> flex.where(flex.asarray([True, False]), flex.asarray([1, 2]), 0).tolist()
    [1, 0]
    """
def zeros(shape: _Shape, dtype: _DType | None = None, *, device: _Device | None = None) -> Tensor:
    """A tensor of zeros (or False).

    shape: an integer or a tuple of them. dtype: float32 by default. ShapeError if a size is
    negative; MemoryError if there is not enough memory.

    >>> flex.zeros(3).tolist()
    [0.0, 0.0, 0.0]
    """
def zeros_like(x: _Operand, /, dtype: _DType | None = None, *, device: _Device | None = None) -> Tensor:
    """A tensor of zeros (or False), of the shape of `x` and its dtype, or another. MemoryError if
    there is not enough memory.

    >>> flex.zeros_like(flex.asarray([1, 2])).tolist()
    [0, 0]
    """

__all__ = [
    "ShapeError",
    "ChainedAssignmentWarning",
    "DTypeError",
    "AxisError",
    "SubscriptError",
    "RangeError",
    "DivisionByZeroError",
    "DType",
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float8_e4m3fn",
    "float8_e5m2",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "complex64",
    "complex128",
    "e",
    "inf",
    "nan",
    "newaxis",
    "pi",
    "__array_api_version__",
    "__version__",
    "threads",
    "default_dtype",
    "Stream",
    "Tensor",
    "__array_namespace_info__",
    "_rebuild",
    "abs",
    "acos",
    "acosh",
    "add",
    "all",
    "allclose",
    "any",
    "arange",
    "argmax",
    "argmin",
    "argsort",
    "argwhere",
    "array_equal",
    "array_split",
    "asarray",
    "asin",
    "asinh",
    "astype",
    "atan",
    "atan2",
    "atanh",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "bincount",
    "bitwise_and",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "broadcast_arrays",
    "broadcast_shapes",
    "broadcast_to",
    "can_cast",
    "ceil",
    "chunk",
    "clip",
    "column_stack",
    "concat",
    "conj",
    "copysign",
    "cos",
    "cosh",
    "count_nonzero",
    "cross",
    "cumulative_max",
    "cumulative_min",
    "cumulative_prod",
    "cumulative_sum",
    "diag",
    "diff",
    "digamma",
    "divide",
    "dot",
    "dstack",
    "einsum",
    "einsum_path",
    "empty",
    "empty_cache",
    "empty_like",
    "equal",
    "erf",
    "erfc",
    "erfinv",
    "exp",
    "exp2",
    "expand_dims",
    "explain",
    "expm1",
    "eye",
    "finfo",
    "flip",
    "fliplr",
    "flipud",
    "floor",
    "floor_divide",
    "fmod",
    "from_dlpack",
    "frombuffer",
    "full",
    "full_like",
    "fuse",
    "gelu",
    "gelu_tanh",
    "get_default_dtype",
    "get_num_threads",
    "get_printoptions",
    "greater",
    "greater_equal",
    "hsplit",
    "hstack",
    "hypot",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "iinfo",
    "imag",
    "index_add",
    "inner",
    "isclose",
    "isdtype",
    "isfinite",
    "isin",
    "isinf",
    "isnan",
    "kron",
    "less",
    "less_equal",
    "lgamma",
    "linspace",
    "log",
    "log10",
    "log1p",
    "log2",
    "logaddexp",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "logsumexp",
    "masked_fill",
    "masked_select",
    "matmul",
    "matrix_transpose",
    "max",
    "max_with_indices",
    "maximum",
    "mean",
    "median",
    "memory_stats",
    "meshgrid",
    "min",
    "min_with_indices",
    "minimum",
    "moveaxis",
    "multiply",
    "nan_to_num",
    "nanmax",
    "nanmean",
    "nanmedian",
    "nanmin",
    "nanpercentile",
    "nanquantile",
    "nanstd",
    "nansum",
    "nanvar",
    "negative",
    "nextafter",
    "nonzero",
    "not_equal",
    "ones",
    "ones_like",
    "outer",
    "pad",
    "partition",
    "percentile",
    "permute_dims",
    "positive",
    "pow",
    "prod",
    "ptp",
    "quantile",
    "ravel",
    "real",
    "reciprocal",
    "relu",
    "remainder",
    "repeat",
    "reshape",
    "result_type",
    "roll",
    "rot90",
    "round",
    "rsqrt",
    "scatter",
    "scatter_add",
    "searchsorted",
    "set_default_dtype",
    "set_num_threads",
    "set_printoptions",
    "set_weight_packing",
    "show_config",
    "sigmoid",
    "sign",
    "signbit",
    "silu",
    "sin",
    "sinh",
    "sort",
    "sort_with_indices",
    "split",
    "sqrt",
    "square",
    "squeeze",
    "stack",
    "std",
    "stream",
    "subtract",
    "sum",
    "swapaxes",
    "take",
    "take_along_axis",
    "tan",
    "tanh",
    "tensordot",
    "tile",
    "topk",
    "transpose",
    "tril",
    "triu",
    "trunc",
    "unfold",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
    "unstack",
    "var",
    "vdot",
    "vecdot",
    "vsplit",
    "vstack",
    "where",
    "zeros",
    "zeros_like",
]
