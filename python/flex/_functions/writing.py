# mypy: allow-redefinition
"""Functions that write into their first argument, as NumPy's do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flex import _flex as fx
from flex._functions._common import axis_of, beside, tensor
from flex._functions.building import _from_start, _mode, _places

if TYPE_CHECKING:
    from flex._flex import Tensor, _Nested


def _written(op: str, x: Any) -> Tensor:
    """What is written into must be a tensor: writes into a converted one would be lost."""
    if type(x) is not fx.Tensor:
        raise TypeError(f"{op}: writes into a tensor, not {type(x).__name__}")
    return x


def _repeated(values: Tensor, count: int) -> Tensor:
    """The first `count` of the elements, which repeat."""
    flat = fx.ravel(values)
    return flat[:count] if flat.size >= count else fx.take(flat, fx.arange(count) % flat.size)


def put(a: Tensor, ind: _Nested, v: _Nested, mode: str = "raise") -> None:
    """Writes numbers into `a`, at these positions in row-major order.

    ind: integers, negative ones from the end. v: numbers that are cast to the dtype of a, and repeat if there are fewer. mode: what
    happens to a position out of range: "raise" (IndexError, before anything is written), "wrap" or "clip". Of positions that repeat, the
    last counts. TypeError if a is no tensor; ValueError for another mode, or if v is empty and ind is not.

    >>> x = flex.zeros((2, 2))
    >>> flex.put(x, [0, -1], [5.0, 7.0])
    >>> x.tolist()
    [[5.0, 0.0], [0.0, 7.0]]
    """
    a = _written("put", a)
    at, values, n = fx.ravel(_places("put", ind)), beside("put", v, a.dtype), a.size
    if mode == "raise":
        at = _from_start("put", at, n, f"{n} elements")
    elif at.size and not n:
        raise IndexError("put: there are no elements")
    else:
        at = _mode("put", mode, at, n, "a position")
    if not at.size:
        return
    if not values.size:
        raise ValueError("put: v is empty")
    flat = fx.ravel(a).copy()
    flat[at] = _repeated(values, at.size).astype(a.dtype)
    a[...] = fx.reshape(flat, a.shape)


def place(arr: Tensor, mask: _Nested, vals: _Nested) -> None:
    """Writes the first numbers of vals, which repeat, into the elements of `arr` whose mask is true, in row-major order.

    mask: as many elements as arr has (ShapeError). vals are cast to the dtype of arr. TypeError if arr is no tensor; ValueError if vals is
    empty and the mask is true somewhere.

    >>> x = flex.asarray([1, 2, 3, 4])
    >>> flex.place(x, x > 1, [7, 8])
    >>> x.tolist()
    [1, 7, 8, 7]
    """
    arr = _written("place", arr)
    mask, values = tensor(mask), beside("place", vals, arr.dtype)
    if mask.size != arr.size:
        shapes = f"the mask has shape {list(mask.shape)}, arr has {list(arr.shape)}"
        raise fx.ShapeError(f"place: {shapes}")
    mask = fx.reshape(mask if mask.dtype == fx.bool else mask != 0, arr.shape)
    count = fx.count_nonzero(mask).item()
    if not count:
        return
    if not values.size:
        raise ValueError("place: vals is empty")
    arr[mask] = _repeated(values, count).astype(arr.dtype)


def put_along_axis(arr: Tensor, indices: _Nested, values: _Nested, axis: int | None = -1) -> None:
    """Writes numbers into `arr`, in each line along an axis at the positions in the same line of indices; `scatter` gives a new tensor.

    indices: integers, of as many dimensions as arr, which broadcasts with them but for the axis (ShapeError); negative ones count from
    the end. values: numbers that broadcast to their shape, cast to the dtype of arr. axis: None for positions in row-major order.
    TypeError if arr is no tensor; IndexError if a position is out of range, before anything is written; AxisError.

    >>> x = flex.asarray([[10, 30, 20], [60, 40, 50]])
    >>> flex.put_along_axis(x, flex.argmax(x, axis=1, keepdims=True), 99, axis=1)
    >>> x.tolist()
    [[10, 99, 20], [99, 40, 50]]
    """
    arr = _written("put_along_axis", arr)
    at = _places("put_along_axis", indices)
    values = beside("put_along_axis", values, arr.dtype)
    if axis is None:
        if at.ndim != 1:
            shape = list(at.shape)
            raise fx.ShapeError(
                f"put_along_axis: without axis, indices has one dimension, got shape {shape}"
            )
        put(arr, at, fx.broadcast_to(values, at.shape))
        return
    axis = axis_of("put_along_axis", axis, arr.ndim)
    if at.ndim != arr.ndim:
        shapes = f"indices has shape {list(at.shape)}, arr has {list(arr.shape)}"
        raise fx.ShapeError(f"put_along_axis: {shapes}; they have as many dimensions")
    n = arr.shape[axis]
    others = tuple(1 if k == axis else size for k, size in enumerate(arr.shape))
    shape = fx.broadcast_shapes(others, at.shape)
    at = _from_start("put_along_axis", at, n, f"axis {axis}, of size {n}")
    grid = [
        at
        if k == axis
        else fx.reshape(fx.arange(size), tuple(size if j == k else 1 for j in range(arr.ndim)))
        for k, size in enumerate(shape)
    ]
    arr[tuple(fx.broadcast_arrays(*grid))] = fx.broadcast_to(values, shape).astype(arr.dtype)


def fill_diagonal(a: Tensor, val: _Nested, wrap: bool = False) -> None:
    """Writes numbers into the elements of `a` whose indices are all equal.

    a: two dimensions, or more of one size (ShapeError). val: numbers that are cast to the dtype of a, and repeat if there are fewer.
    wrap: in a matrix with more rows than columns, begin another diagonal in the row after the one where the last ended. TypeError if a is
    no tensor; ValueError if val is empty and the diagonal is not.

    >>> x = flex.zeros((2, 3))
    >>> flex.fill_diagonal(x, 7)
    >>> x.tolist()
    [[7.0, 0.0, 0.0], [0.0, 7.0, 0.0]]
    """
    a = _written("fill_diagonal", a)
    values = beside("fill_diagonal", val, a.dtype)
    shape = a.shape
    if len(shape) < 2 or (len(shape) > 2 and len(set(shape)) > 1):
        wanted = "two dimensions, or more of one size"
        raise fx.ShapeError(f"fill_diagonal: a has shape {list(shape)}; it has {wanted}")
    columns = shape[1]
    step = columns + 1 if len(shape) == 2 else sum(columns**k for k in range(len(shape)))
    end = a.size if len(shape) > 2 or wrap else min(a.size, columns * columns)
    at = fx.arange(0, end, step)
    if at.size and not values.size:
        raise ValueError("fill_diagonal: val is empty")
    put(a, at, values)
