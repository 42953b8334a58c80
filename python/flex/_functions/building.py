# mypy: allow-redefinition
"""Tensors made of shapes, ranges and diagonals, and numbers of positions."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from flex import _flex as fx
from flex._functions._common import (
    axis_of,
    exact,
    index,
    inexact,
    is_whole,
    several,
    shape_of,
    tensor,
    vector,
)

if TYPE_CHECKING:
    from flex._flex import Tensor, _DType, _Nested, _Shape


def flatten(x: _Nested, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """`x` with the dimensions from start_dim to end_dim merged into one, in row-major order.

    A number becomes a vector of one element. A view where the memory allows it. AxisError if a dimension is out of range; ValueError if
    they are in the wrong order.

    >>> flex.flatten(flex.zeros((2, 3, 4)), 1).shape
    (2, 12)
    """
    x = tensor(x)
    if x.ndim == 0:
        return fx.reshape(x, 1)
    first, last = (axis_of("flatten", k, x.ndim) for k in (start_dim, end_dim))
    if first > last:
        raise ValueError(f"flatten: start_dim {start_dim} comes after end_dim {end_dim}")
    merged = prod(x.shape[first : last + 1])
    return fx.reshape(x, (*x.shape[:first], merged, *x.shape[last + 1 :]))


def diagflat(v: _Nested, k: int = 0) -> Tensor:
    """A matrix with the elements of v, in row-major order, on diagonal k, and 0 elsewhere.

    >>> flex.diagflat(flex.asarray([[1, 2]]), 1).tolist()
    [[0, 1, 0], [0, 0, 2], [0, 0, 0]]
    """
    return fx.diag(fx.ravel(tensor(v)), k)


def diagonal(a: _Nested, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    """The diagonal of the planes of two axes, as a view; its elements are the last dimension of the result.

    offset: how many columns it lies above the main one; negative below. ShapeError for fewer than two dimensions; AxisError if an axis is
    out of range; ValueError if they are the same.

    >>> flex.diagonal(flex.asarray([[1, 2], [3, 4]])).tolist()
    [1, 4]
    """
    a = tensor(a)
    if a.ndim < 2:
        raise fx.ShapeError(f"diagonal: a has at least two dimensions, got shape {list(a.shape)}")
    first, second = (axis_of("diagonal", k, a.ndim) for k in (axis1, axis2))
    if first == second:
        raise ValueError("diagonal: axis1 and axis2 are the same")
    return fx._linalg.diagonal(fx.moveaxis(a, (first, second), (-2, -1)), offset=offset)


def trace(
    a: _Nested, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: _DType | None = None
) -> Tensor:
    """The sum of the diagonal of the planes of two axes, with the arguments and errors of `diagonal`. `linalg.trace` is that of the last
    two axes.

    dtype: of the sums, by default as for `sum`.

    >>> flex.trace(flex.asarray([[1, 2], [3, 4]])).item()
    5
    """
    return fx.sum(diagonal(a, offset, axis1, axis2), -1, dtype=dtype)


def block_diag(*arrs: _Nested) -> Tensor:
    """The matrices one after another along the diagonal, and 0 elsewhere.

    arrs: matrices; a vector counts as a row. The result has their common dtype. ShapeError for more than two dimensions.

    >>> flex.block_diag(flex.asarray([[1, 2]]), flex.asarray([[3], [4]])).tolist()
    [[1, 2, 0], [0, 0, 3], [0, 0, 4]]
    """
    blocks = [fx.atleast_2d(tensor(a)) for a in arrs] or [fx.zeros((1, 0))]
    for k, b in enumerate(blocks):
        if b.ndim > 2:
            raise fx.ShapeError(
                f"block_diag: operand {k} has shape {list(b.shape)}; a matrix has two dimensions"
            )
    dtype = fx.result_type(*blocks)
    width = sum(b.shape[1] for b in blocks)
    rows, before = [], 0
    for b in blocks:
        after = width - before - b.shape[1]
        rows.append(fx.pad(b.astype(dtype), ((0, 0), (before, after))))
        before += b.shape[1]
    return fx.concat(rows, axis=0)


def _size(op: str, name: str, n: Any) -> int:
    size = index(op, name, n)
    if size < 0:
        raise ValueError(f"{op}: {name} is {size}; sizes are not negative")
    return size


def tri(N: int, M: int | None = None, k: int = 0, dtype: _DType | None = None) -> Tensor:
    """A matrix `[N, M]` with 1 on and below diagonal k, and 0 above. M: N by default. dtype: float32 by default.

    >>> flex.tri(2, 3, dtype=int).tolist()
    [[1, 0, 0], [1, 1, 0]]
    """
    shape = (_size("tri", "N", N), _size("tri", "M", N if M is None else M))
    return fx.tril(fx.ones(shape, dtype=fx.float32 if dtype is None else dtype), k)


def tril_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Tensor, ...]:
    """The rows and the columns of the elements on and below diagonal k of a matrix `[n, m]`; m: n by default.

    >>> [t.tolist() for t in flex.tril_indices(2)]
    [[0, 1, 1], [0, 0, 1]]
    """
    return fx.nonzero(tri(n, m, k, fx.bool))


def triu_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Tensor, ...]:
    """The rows and the columns of the elements on and above diagonal k of a matrix `[n, m]`; m: n by default.

    >>> [t.tolist() for t in flex.triu_indices(2)]
    [[0, 0, 1], [0, 1, 1]]
    """
    return fx.nonzero(~tri(n, m, k - 1, fx.bool))


def _places(op: str, x: Any) -> Tensor:
    x = tensor(x)
    if x.size == 0:
        return x.astype(fx.int64)
    if not is_whole(x.dtype):
        raise fx.DTypeError(f"{op}: positions are integers, not {x.dtype}")
    return x.astype(fx.int64)


def _order(op: str, order: Any) -> int:
    """The step through the dimensions from the slowest to the fastest: 1 for "C", -1 for "F"."""
    if order not in ("C", "F"):
        raise ValueError(f"{op}: order is {order!r}; it is 'C' or 'F'")
    return 1 if order == "C" else -1


def unravel_index(indices: _Nested, shape: _Shape, order: str = "C") -> tuple[Tensor, ...]:
    """The indices along each dimension of the elements at these positions of a tensor of this shape; int64.

    order: positions count row by row, "C", or column by column, "F" (ValueError for another). IndexError if a position is out of range;
    DTypeError if positions are not integers.

    >>> [t.tolist() for t in flex.unravel_index(flex.asarray([5, 0]), (2, 3))]
    [[1, 0], [2, 0]]
    """
    at = _places("unravel_index", indices)
    step = _order("unravel_index", order)
    sizes = shape_of("unravel_index", "shape", shape)[::step]
    count = prod(sizes)
    if at.size and not fx.all((at >= 0) & (at < count)).item():
        raise IndexError(f"unravel_index: a position is out of range for {count} elements")
    result = []
    for n in reversed(sizes):
        result.append(fx.remainder(at, max(n, 1)))
        at = fx.floor_divide(at, max(n, 1))
    return tuple(reversed(result))[::step]


def _mode(op: str, mode: Any, at: Tensor, size: int, what: str) -> Tensor:
    """Positions in 0 to size by NumPy's modes."""
    if mode == "wrap":
        return fx.remainder(at, max(size, 1))
    if mode == "clip":
        return fx.clip(at, 0, max(size - 1, 0))
    if mode != "raise":
        raise ValueError(f"{op}: mode is {mode!r}; it is 'raise', 'wrap' or 'clip'")
    if at.size and not fx.all((at >= 0) & (at < size)).item():
        raise ValueError(f"{op}: {what} is out of range for {size}")
    return at


def _from_start(op: str, at: Tensor, size: int, of: str) -> Tensor:
    """Positions counted from the start; IndexError if one is out of range."""
    at = fx.where(at < 0, at + size, at)
    if at.size and not fx.all((at >= 0) & (at < size)).item():
        raise IndexError(f"{op}: a position is out of range for {of}")
    return at


def ravel_multi_index(
    multi_index: Any, dims: _Shape, mode: Any = "raise", order: str = "C"
) -> Tensor:
    """The positions of elements of a tensor of shape dims, given by their indices along each dimension; int64.

    order: positions count row by row, "C", or column by column, "F". mode: what happens to an index out of range: "raise" (ValueError),
    "wrap" or "clip"; or one of these for each dimension. ShapeError if there is not one tensor of indices for each dimension.

    >>> flex.ravel_multi_index((flex.asarray([1, 0]), flex.asarray([2, 0])), (2, 3)).tolist()
    [5, 0]
    """
    sizes = shape_of("ravel_multi_index", "dims", dims)
    given = several("ravel_multi_index", "multi_index", multi_index)
    each = [_places("ravel_multi_index", x) for x in given]
    modes = [mode] * len(sizes)
    if not isinstance(mode, str):
        modes = several("ravel_multi_index", "mode", mode)
    if len(each) != len(sizes) or len(modes) != len(sizes):
        message = f"ravel_multi_index: {len(sizes)} dimensions, {len(each)} indices and {len(modes)} modes"
        raise fx.ShapeError(message)
    at = fx.zeros((), dtype=fx.int64)
    parts = list(enumerate(zip(each, sizes, modes, strict=True)))
    for k, (x, n, m) in parts[:: _order("ravel_multi_index", order)]:
        at = at * n + _mode("ravel_multi_index", m, x, n, f"an index of dimension {k}")
    return at


def indices(dimensions: _Shape, dtype: _DType = fx.int64, sparse: bool = False) -> Any:
    """The indices of the elements of a tensor of shape dimensions: for each dimension a tensor of that shape with the index along it,
    stacked in front. sparse: a tuple of tensors that broadcast to them instead.

    >>> flex.indices((2, 2)).tolist()
    [[[0, 0], [1, 1]], [[0, 1], [0, 1]]]
    """
    sizes = shape_of("indices", "dimensions", dimensions)
    rank = len(sizes)
    each = [
        fx.reshape(fx.arange(n, dtype=dtype), tuple(n if j == k else 1 for j in range(rank)))
        for k, n in enumerate(sizes)
    ]
    if sparse:
        return tuple(each)
    if not each:
        return fx.empty((0,), dtype=dtype)
    return fx.stack([fx.broadcast_to(x, sizes) for x in each])


def vander(x: _Nested, N: int | None = None, increasing: bool = False) -> Tensor:
    """The Vandermonde matrix of a vector: column k has the powers N - 1 - k, or k with increasing.

    N: the number of columns, by default that of elements. Integers become int64. ShapeError if x is not a vector.

    >>> flex.vander(flex.asarray([1, 2, 3]), 3).tolist()
    [[1, 1, 1], [4, 2, 1], [9, 3, 1]]
    """
    x = vector("vander", "x", x)
    count = _size("vander", "N", x.size if N is None else N)
    x = x.astype(fx.int64) if is_whole(x.dtype) and x.dtype != fx.uint64 else x
    ones = fx.ones((x.size, min(count, 1)), dtype=x.dtype)
    powers = fx.broadcast_to(x[:, None], (x.size, max(count - 1, 0)))
    rising = fx.cumulative_prod(fx.concat([ones, powers], axis=1), axis=1, dtype=x.dtype)
    return rising if increasing else fx.flip(rising, axis=1)


def _spaced(
    op: str, start: Any, stop: Any, num: Any, endpoint: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """The ends, broadcast, in float64 or complex128, and the shares of the second, as a first dimension."""
    count = _size(op, "num", num)
    first, last = (inexact(exact(x), fx.float64) for x in (start, stop))
    is_complex = any(fx.isdtype(t.dtype, "complex floating") for t in (first, last))
    wide = fx.complex128 if is_complex else fx.float64
    first, last = fx.broadcast_arrays(first.astype(wide), last.astype(wide))
    shares = fx.linspace(0.0, 1.0, count, dtype=fx.float64, endpoint=endpoint)
    return first, last, fx.reshape(shares, (count,) + (1,) * first.ndim)


def _between(first: Tensor, last: Tensor, shares: Tensor) -> Tensor:
    points = first + (last - first) * shares
    return fx.where(shares == 1, last, points)


def _spaced_dtype(*ends: Any) -> Any:
    tensors = [x for x in ends if type(x) is fx.Tensor]
    if not tensors:
        is_complex = any(isinstance(x, complex) for x in ends)
        return fx.complex64 if is_complex else fx.float32
    return inexact(fx.empty((), dtype=fx.result_type(*tensors))).dtype


def logspace(
    start: _Nested,
    stop: _Nested,
    num: int = 50,
    endpoint: bool = True,
    base: _Nested = 10.0,
    dtype: _DType | None = None,
    axis: int = 0,
) -> Tensor:
    """Numbers from `base**start` to `base**stop` with evenly spaced logarithms.

    start, stop: numbers or tensors that broadcast, for a new dimension at axis. endpoint: whether the last is among the num numbers. dtype:
    by default that of start and stop, float32 for numbers and integers. ValueError if num is negative.

    >>> flex.logspace(0, 2, 3).tolist()
    [1.0, 10.0, 100.0]
    """
    dtype = _spaced_dtype(start, stop) if dtype is None else dtype
    first, last, shares = _spaced("logspace", start, stop, num, endpoint)
    exponents = _between(first, last, shares)
    base = exact(base).astype(exponents.dtype)
    return fx.moveaxis(fx.pow(base, exponents).astype(dtype), 0, axis)


def geomspace(
    start: _Nested,
    stop: _Nested,
    num: int = 50,
    endpoint: bool = True,
    dtype: _DType | None = None,
    axis: int = 0,
) -> Tensor:
    """Numbers from start to stop, each the same multiple of the one before.

    start, stop: numbers or tensors that broadcast, for a new dimension at axis, not 0, and of the same sign (ValueError). endpoint: whether
    the last is among the num numbers. dtype: by default that of start and stop, float32 for numbers and integers.

    >>> flex.geomspace(1, 8, 4).tolist()
    [1.0, 2.0, 4.0, 8.0]
    """
    dtype = _spaced_dtype(start, stop) if dtype is None else dtype
    first, last, shares = _spaced("geomspace", start, stop, num, endpoint)
    if fx.any((first == 0) | (last == 0)).item():
        raise ValueError("geomspace: start and stop must not be 0")
    if first.dtype == fx.complex128:
        points = first * fx.exp(fx.log(last / first) * shares)
    else:
        if fx.any(first * fx.sign(last) < 0).item():
            raise ValueError("geomspace: start and stop must have the same sign")
        points = fx.sign(first) * fx.exp(
            _between(fx.log(fx.abs(first)), fx.log(fx.abs(last)), shares)
        )
    # the ends are exact
    points = fx.where(shares == 0, first, fx.where(shares == 1, last, points))
    return fx.moveaxis(points.astype(dtype), 0, axis)


def sliding_window_view(x: _Nested, window_shape: _Shape, axis: _Shape | None = None) -> Tensor:
    """All windows of a shape, as a view whose elements overlap: the dimensions of x count the windows, those of a window follow.

    window_shape: one size for each axis; axis: by default all, in order. ShapeError if a window is larger than its axis, or there is not
    one size for each; ValueError for a size of 0 or less; AxisError.

    >>> flex.sliding_window_view(flex.arange(4), 3).tolist()
    [[0, 1, 2], [1, 2, 3]]
    """
    x = tensor(x)
    sizes = tuple(window_shape) if isinstance(window_shape, (tuple, list)) else (window_shape,)
    if axis is None:
        axes: tuple[Any, ...] = tuple(range(x.ndim))
    else:
        axes = tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)
    if len(axes) != len(sizes):
        message = f"sliding_window_view: {len(sizes)} sizes for {len(axes)} axes"
        raise fx.ShapeError(message)
    axes = tuple(axis_of("sliding_window_view", k, x.ndim) for k in axes)
    for n, k in zip(sizes, axes, strict=True):
        x = fx.unfold(x, index("sliding_window_view", "window_shape", n), axis=k)
    return x
