# mypy: allow-redefinition
"""Orders of elements, and sets of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flex import _flex as fx
from flex._functions._common import along, axis_of, index, is_whole, several, tensor, together

if TYPE_CHECKING:
    from flex._flex import Tensor, _Nested
    from flex._results import KthValueResult, ModeResult


def _flat(a: Any, axis: int | None) -> tuple[Tensor, int]:
    a = tensor(a)
    return (fx.ravel(a), -1) if axis is None else (a, axis)


# Lines are long from here on, and positions many.
_LONG, _MANY = 1 << 12, 8


def _kth(kth: Any, n: int) -> list[int]:
    """The positions from the first, ascending."""
    found = set()
    for k in tensor(kth).tolist() if type(kth) not in (int, bool) and tensor(kth).ndim else [kth]:
        at = index("argpartition", "kth", k)
        if not -n <= at < n:
            raise ValueError(f"argpartition: kth is {k}, out of range for {n} elements")
        found.add(at % n)
    return sorted(found)


@fx.fuse
def _beside(x: Any, value: Any) -> Any:
    """0 for the elements before a value in the sorted line, 1 for equal ones, 2 for those behind."""
    behind, before = x > value, x < value
    if fx.isdtype(x.dtype, "real floating"):
        behind = behind | fx.isnan(x) & ~fx.isnan(value)
        before = before | fx.isnan(value) & ~fx.isnan(x)
    return behind.astype(fx.uint8) + (~before).astype(fx.uint8)


def _argpartition(line: Tensor, kth: list[int]) -> Tensor:
    sorted_there = fx.partition(line, kth)
    groups = _beside(line, sorted_there[kth[0]])
    for k in kth[1:]:
        groups = groups + _beside(line, sorted_there[k])
    return fx.concat([fx.nonzero(groups == k)[0] for k in range(2 * len(kth) + 1)])


def argpartition(a: _Nested, kth: Any, axis: int | None = -1) -> Tensor:
    """The positions along an axis of the elements in an order that `partition` may give them, with its arguments and errors.

    >>> flex.argpartition(flex.asarray([3, 1, 2]), 0)[0].item()
    1
    """
    a, axis = _flat(a, axis)
    axis = axis_of("argpartition", axis, a.ndim)
    n = a.shape[axis]
    positions = _kth(kth, n)
    if n < _LONG or not 0 < len(positions) <= _MANY or fx.isdtype(a.dtype, "complex floating"):
        return fx.argsort(a, axis)
    moved = fx.moveaxis(a, axis, -1)
    lines = [_argpartition(line, positions) for line in fx.reshape(moved, (-1, n))]
    return fx.moveaxis(fx.reshape(fx.stack(lines), moved.shape), -1, axis)


def kthvalue(x: _Nested, k: int, axis: int = -1, *, keepdims: bool = False) -> KthValueResult:
    """The k-th smallest element along an axis, counted from 1, and its position: the named tuple `values`, `indices`. The first of equal
    ones.

    ValueError if k is not from 1 to the size; AxisError; DTypeError for complex numbers.

    >>> value, at = flex.kthvalue(flex.asarray([30, 10, 20]), 2)
    >>> value.item(), at.item()
    (20, 2)
    """
    from flex._results import KthValueResult

    x = tensor(x)
    axis = axis_of("kthvalue", axis, x.ndim)
    k, n = index("kthvalue", "k", k), x.shape[axis]
    if not 1 <= k <= n:
        raise ValueError(f"kthvalue: k is {k}; it must be from 1 to {n}")
    values, positions = fx.sort_with_indices(x, axis)
    found = [along(t, axis, slice(k - 1, k)).copy() for t in (values, positions)]
    return KthValueResult(*(found if keepdims else (fx.squeeze(t, axis) for t in found)))


def mode(x: _Nested, axis: int = -1, *, keepdims: bool = False) -> ModeResult:
    """The element that is most frequent along an axis, the smallest of several, and its last position: the named tuple `values`,
    `indices`. Each NaN differs from the others.

    x: at least one element along the axis (ValueError). AxisError; DTypeError for complex numbers.

    >>> value, at = flex.mode(flex.asarray([3, 1, 3, 2, 1, 3]))
    >>> value.item(), at.item()
    (3, 5)
    """
    from flex._results import ModeResult

    x = fx.atleast_1d(tensor(x))
    axis = axis_of("mode", axis, x.ndim)
    n = x.shape[axis]
    if n == 0:
        raise ValueError(f"mode: axis {axis} has no elements")
    values, positions = fx.sort_with_indices(x, axis)
    at = fx.reshape(fx.arange(n), tuple(n if k == axis else 1 for k in range(x.ndim)))
    begins = along(values, axis, slice(1, None)) != along(values, axis, slice(None, -1))
    first = fx.ones_like(along(values, axis, slice(0, 1)), dtype=fx.bool)
    starts = fx.cumulative_max(fx.where(fx.concat([first, begins], axis=axis), at, 0), axis=axis)
    # the element furthest from the start of its run of equal ones ends the longest
    end = fx.argmax(at - starts, axis=axis, keepdims=True)
    found = [fx.take_along_axis(t, end, axis) for t in (values, positions)]
    return ModeResult(*(found if keepdims else (fx.squeeze(t, axis) for t in found)))


def lexsort(keys: Any, axis: int = -1) -> Tensor:
    """The order that sorts by several keys, of which the last counts most; equal elements keep their order.

    keys: tensors of one shape, or one whose first dimension counts them. The result has their shape, int64. ValueError without a key;
    AxisError.

    >>> flex.lexsort((flex.asarray([2, 1, 3]), flex.asarray([5, 5, 4]))).tolist()
    [2, 1, 0]
    """
    each = [tensor(k) for k in several("lexsort", "keys", keys)]
    if not each:
        raise ValueError("lexsort: there are no keys")
    each = list(fx.broadcast_arrays(*each))
    order: Any = None
    for key in each:
        if key.ndim == 0:
            return fx.zeros((), dtype=fx.int64)
        if order is None:
            order = fx.argsort(key, axis)
        else:
            order = fx.take_along_axis(
                order, fx.argsort(fx.take_along_axis(key, order, axis), axis), axis
            )
    result: Tensor = order
    return result


def _merged_nan(values: Tensor) -> int:
    """How many distinct values there are if NaN, which are last, are the same."""
    if is_whole(values.dtype):
        return values.size
    missing = fx.count_nonzero(fx.isnan(values)).item()
    return values.size - max(missing - 1, 0)


def unique(
    ar: _Nested,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> Any:
    """The distinct elements in ascending order, or the distinct slices along an axis in the order of their elements.

    return_index, return_inverse, return_counts: then also the positions of the first occurrences, the number of the distinct element for
    each, and how often each occurs, int64, in a tuple. equal_nan: whether NaN equals NaN. sorted: it is sorted in any case. The inverse
    has the shape of ar, or one dimension with an axis. AxisError; DTypeError for float8.

    >>> flex.unique(flex.asarray([3, 1, 3])).tolist()
    [1, 3]
    >>> flex.unique(flex.asarray([[1, 2], [0, 5], [1, 2]]), axis=0).tolist()
    [[0, 5], [1, 2]]
    """
    ar = tensor(ar)
    if axis is None:
        if not (return_index or return_inverse or return_counts):
            values = fx.unique_values(ar)
            return values[: _merged_nan(values)].copy() if equal_nan else values
        values, first, inverse, counts = fx.unique_all(ar)
        n = _merged_nan(values) if equal_nan else values.size
        if n < values.size:
            first = first[: n - 1]
            # the first NaN by its position
            lost = fx.argmax(fx.ravel(fx.isnan(ar)).astype(fx.uint8), axis=0)
            first = fx.concat([first, fx.reshape(lost, 1)])
            counts = fx.concat([counts[: n - 1], fx.sum(counts[n - 1 :], keepdims=True)])
            inverse = fx.minimum(inverse, n - 1)
            values = values[:n].copy()
    else:
        values, first, inverse, counts = _unique_slices(ar, axis)
    chosen = [values]
    chosen += [first] * return_index + [inverse] * return_inverse + [counts] * return_counts
    return tuple(chosen) if len(chosen) > 1 else values


def _unique_slices(ar: Tensor, axis: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    axis = axis_of("unique", axis, ar.ndim)
    n = ar.shape[axis]
    rows = (
        fx.reshape(fx.moveaxis(ar, axis, 0), (n, -1 if n else 0)) if ar.size else fx.zeros((n, 0))
    )
    columns = fx.unstack(fx.flip(rows, axis=1), axis=1) if rows.shape[1] else ()
    order = lexsort(columns) if columns else fx.arange(n, dtype=fx.int64)
    ranked = fx.take(rows, order, 0)
    new = fx.any(ranked[1:] != ranked[:-1], axis=1)
    new = fx.concat([fx.ones(min(n, 1), dtype=fx.bool), new])
    starts = fx.nonzero(new)[0]
    first = fx.take(order, starts)
    number = fx.cumulative_sum(new, axis=0, dtype=fx.int64) - 1
    inverse = fx.scatter(fx.zeros(n, dtype=fx.int64), order, number)
    ends = fx.concat([starts[1:], fx.full((min(n, 1),), n, dtype=fx.int64)])
    return fx.take(ar, first, axis), first, inverse, ends - starts


def _members(op: str, *ars: Any) -> list[Tensor]:
    """The elements; integers of a list, which any dtype may lack, as they are."""
    found = zip(ars, map(tensor, ars), strict=True)
    given = [t if is_whole(t.dtype) else x for x, t in found]
    return [fx.ravel(t) for t in together(op, *given)]


def _pair(op: str, ar1: Any, ar2: Any) -> tuple[Tensor, Tensor]:
    a, b = _members(op, ar1, ar2)
    dtype = fx.result_type(a, b)
    return a.astype(dtype), b.astype(dtype)


def union1d(ar1: _Nested, ar2: _Nested) -> Tensor:
    """The elements that occur in either, once each, in ascending order and the common dtype.

    >>> flex.union1d(flex.asarray([3, 1]), flex.asarray([2, 3])).tolist()
    [1, 2, 3]
    """
    result: Tensor = unique(fx.concat(_pair("union1d", ar1, ar2)))
    return result


def intersect1d(
    ar1: _Nested, ar2: _Nested, assume_unique: bool = False, return_indices: bool = False
) -> Any:
    """The elements that occur in both, once each, in ascending order and the common dtype. NaN equals nothing.

    assume_unique: whether no element occurs twice in one operand. return_indices: then also the positions of their first occurrences in
    both.

    >>> flex.intersect1d(flex.asarray([3, 1, 3]), flex.asarray([2, 3])).tolist()
    [3]
    """
    a, b = _pair("intersect1d", ar1, ar2)
    u, first, _, _ = fx.unique_all(a)
    both = fx.isin(u, b)
    values = fx.masked_select(u, both)
    if not return_indices:
        return values
    v, second, _, _ = fx.unique_all(b)
    there = fx.masked_select(second, fx.isin(v, a))
    return values, fx.masked_select(first, both), there


def setdiff1d(ar1: _Nested, ar2: _Nested, assume_unique: bool = False) -> Tensor:
    """The elements of ar1 that ar2 lacks, once each, in ascending order; with assume_unique as they are in ar1.

    >>> flex.setdiff1d(flex.asarray([3, 1, 2]), flex.asarray([2])).tolist()
    [1, 3]
    """
    a, b = _members("setdiff1d", ar1, ar2)
    a = a if assume_unique else unique(a)
    return fx.masked_select(a, fx.isin(a, b, invert=True))


def setxor1d(ar1: _Nested, ar2: _Nested, assume_unique: bool = False) -> Tensor:
    """The elements that occur in one operand but not in the other, once each, in ascending order and the common dtype.

    >>> flex.setxor1d(flex.asarray([3, 1]), flex.asarray([2, 3])).tolist()
    [1, 2]
    """
    a, b = _pair("setxor1d", ar1, ar2)
    if not assume_unique:
        a, b = unique(a), unique(b)
    values, counts = fx.unique_counts(fx.concat([a, b]))
    return fx.masked_select(values, counts == 1)
