# mypy: allow-redefinition
"""Choices among tensors, and of elements by a condition or by positions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flex import _flex as fx
from flex._functions._common import axis_of, beside, is_whole, several, tensor, together
from flex._functions.building import _from_start, _mode, _places

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flex._flex import Tensor, _Nested


def _condition(op: str, c: Any) -> Tensor:
    c = tensor(c)
    return c if c.dtype == fx.bool else c != 0


def select(
    condlist: Sequence[_Nested], choicelist: Sequence[_Nested], default: _Nested = 0
) -> Tensor:
    """From each choice the elements whose condition is the first that is true; default where none is.

    condlist, choicelist: equally many bool tensors and choices, at least one (ValueError), which broadcast together (ShapeError). The
    result has the choices' common dtype. DTypeError if a condition is not bool.

    >>> x = flex.arange(4)
    >>> flex.select([x < 1, x < 3], [x, x * 10], 7).tolist()
    [0, 10, 20, 7]
    """
    condlist = several("select", "condlist", condlist)
    choicelist = several("select", "choicelist", choicelist)
    if len(condlist) != len(choicelist) or not condlist:
        counts = f"{len(condlist)} conditions and {len(choicelist)} choices"
        raise ValueError(f"select: {counts}; there must be equally many, and one at least")
    *choices, result = together("select", *choicelist, default)
    dtype = fx.result_type(*choices, result)
    result = result.astype(dtype)
    for c, choice in reversed(list(zip(condlist, choices, strict=True))):
        c = tensor(c)
        if c.dtype != fx.bool:
            raise fx.DTypeError(f"select: conditions are bool, got {c.dtype}")
        result = fx.where(c, choice.astype(dtype), result)
    shape = fx.broadcast_shapes(*(tensor(c).shape for c in condlist), result.shape)
    return fx.broadcast_to(result, shape)


def piecewise(
    x: _Nested,
    condlist: Any,
    funclist: Sequence[Any],
    *args: Any,
    **kw: Any,
) -> Tensor:
    """For each condition the value of its function of the elements for which it is true; of conditions, the last counts.

    condlist: bool tensors of the shape of x. funclist: for each a number, or a function of a vector of elements, which gets args and kw
    too; one more is for the elements without a condition, which are 0 otherwise. The result has the dtype of x. ValueError for another
    number of functions; ShapeError for conditions of another shape.

    >>> x = flex.asarray([-2.0, 3.0])
    >>> flex.piecewise(x, [x < 0, x >= 0], [lambda t: -t, 7.0]).tolist()
    [2.0, 7.0]
    """
    x = tensor(x)
    if isinstance(condlist, (list, tuple)) and condlist and not isinstance(condlist[0], bool):
        conditions = [_condition("piecewise", c) for c in condlist]
        conditions = (
            [fx.stack(conditions)]
            if x.ndim and all(c.ndim == 0 for c in conditions)
            else conditions
        )
    else:
        conditions = [_condition("piecewise", condlist)]
        conditions = list(fx.unstack(conditions[0])) if conditions[0].ndim > x.ndim else conditions
    for c in conditions:
        if c.shape != x.shape:
            shapes = f"a condition has shape {list(c.shape)}, x has {list(x.shape)}"
            raise fx.ShapeError(f"piecewise: {shapes}")
    functions = several("piecewise", "funclist", funclist)
    if len(functions) == len(conditions) + 1:
        covered = conditions[0]
        for c in conditions[1:]:
            covered = covered | c
        conditions.append(~covered)
    if len(functions) != len(conditions):
        counts = f"{len(functions)} functions for {len(conditions)} conditions"
        raise ValueError(f"piecewise: {counts}; there is one for each, or one more")
    result = fx.zeros_like(x)
    for c, f in zip(conditions, functions, strict=True):
        if callable(f):
            values = f(fx.masked_select(x, c), *args, **kw)
            values = beside("piecewise", values, x.dtype).astype(x.dtype)
            values = fx.broadcast_to(values, (fx.count_nonzero(c).item(),))
            result = masked_scatter(result, c, values)
        else:
            result = fx.where(c, beside("piecewise", f, x.dtype).astype(x.dtype), result)
    return result


def choose(a: _Nested, choices: Any, mode: str = "raise") -> Tensor:
    """At each position the element of the choice whose number a has there.

    a: integers (DTypeError) that broadcast with the choices (ShapeError), a sequence or a tensor of them. mode: what happens to a number
    out of range: "raise" (ValueError), "wrap" or "clip". The result has the choices' common dtype.

    >>> flex.choose(flex.asarray([0, 1, 1]), [flex.asarray([1, 2, 3]), 10]).tolist()
    [1, 10, 10]
    """
    at = _places("choose", a)
    each = together("choose", *several("choose", "choices", choices))
    if not each:
        raise ValueError("choose: there are no choices")
    at = _mode("choose", mode, at, len(each), "a number of a choice")
    dtype = fx.result_type(*each)
    whole = fx.broadcast_arrays(at, *(c.astype(dtype) for c in each))
    stacked = fx.stack(whole[1:], axis=0)
    return fx.take_along_axis(stacked, whole[0][None], 0)[0]


def compress(condition: _Nested, a: _Nested, axis: int | None = None) -> Tensor:
    """The slices along an axis, or of all elements in row-major order, for which a condition of one dimension is true.

    A condition that is shorter than the axis is false for the rest. IndexError if it is true beyond; ShapeError if it has other than one
    dimension; AxisError.

    >>> flex.compress(flex.asarray([False, True]), flex.asarray([[1, 2], [3, 4]]), axis=0).tolist()
    [[3, 4]]
    """
    a, c = tensor(a), _condition("compress", condition)
    if c.ndim != 1:
        raise fx.ShapeError(f"compress: condition has one dimension, got shape {list(c.shape)}")
    if axis is None:
        a, axis = fx.ravel(a), 0
    axis = axis_of("compress", axis, a.ndim)
    return fx.take(a, fx.nonzero(c)[0], axis)


def extract(condition: _Nested, arr: _Nested) -> Tensor:
    """The elements for which the condition, of the same size, is true, in row-major order.

    IndexError if the condition is true beyond the elements.

    >>> flex.extract(flex.asarray([True, False, True]), flex.asarray([1, 2, 3])).tolist()
    [1, 3]
    """
    return fx.take(fx.ravel(tensor(arr)), fx.nonzero(fx.ravel(_condition("extract", condition)))[0])


def masked_scatter(x: _Nested, mask: _Nested, source: _Nested) -> Tensor:
    """`x` with the elements of source, in row-major order, in the places where the mask is true.

    mask: bool (DTypeError); it and x broadcast (ShapeError). ValueError if source has fewer elements than the mask has true ones. The
    result has the dtype of x.

    >>> flex.masked_scatter(flex.zeros(3), flex.asarray([True, False, True]), flex.asarray([5.0, 6.0])).tolist()
    [5.0, 0.0, 6.0]
    """
    x, mask = tensor(x), tensor(mask)
    source = fx.ravel(beside("masked_scatter", source, x.dtype))
    if mask.dtype != fx.bool:
        raise fx.DTypeError(f"masked_scatter: the mask is bool, got {mask.dtype}")
    x, mask = fx.broadcast_arrays(x, mask)
    flat = fx.ravel(mask)
    order = fx.cumulative_sum(flat, axis=0, dtype=fx.int64)
    needed = order[-1].item() if order.size else 0
    if needed > source.size:
        counts = f"source has {source.size} elements, and the mask {needed} true ones"
        raise ValueError(f"masked_scatter: {counts}")
    if not needed:
        return x.copy()
    values = fx.take(source.astype(x.dtype), fx.maximum(order - 1, 0))
    return fx.where(mask, fx.reshape(values, x.shape), x)


def index_fill(x: _Nested, axis: int, indices: _Nested, value: Any) -> Tensor:
    """`x` with a number in the slices along an axis at these positions.

    indices: integers, one dimension, negative ones from the end. value: a number, or a tensor of one. The result has the dtype of x.
    IndexError if a position is out of range; AxisError.

    >>> flex.index_fill(flex.zeros((2, 3)), 1, flex.asarray([0, 2]), 5.0).tolist()
    [[5.0, 0.0, 5.0], [5.0, 0.0, 5.0]]
    """
    x = tensor(x)
    axis = axis_of("index_fill", axis, x.ndim)
    at = fx.ravel(_places("index_fill", indices))
    n = x.shape[axis]
    at = _from_start("index_fill", at, n, str(n))
    hit = fx.index_add(fx.zeros(n, dtype=fx.int64), at, 1) > 0
    mask = fx.reshape(hit, tuple(n if k == axis else 1 for k in range(x.ndim)))
    number = value.item() if type(value) is fx.Tensor else value
    return fx.masked_fill(x, fx.broadcast_to(mask, x.shape), number)


_MODES: dict[str, str] = {"sum": "add", "prod": "multiply", "amax": "max", "amin": "min"}


def _identity(dtype: Any, reduce: str) -> Any:
    """The number that a reduction begins with."""
    if reduce in ("sum", "mean", "prod"):
        return int(reduce == "prod")
    if dtype == fx.bool:
        return reduce == "amin"
    if is_whole(dtype):
        info = fx.iinfo(dtype)
        return info.min if reduce == "amax" else info.max
    return -fx.inf if reduce == "amax" else fx.inf


def scatter_reduce(
    x: _Nested,
    axis: int,
    indices: _Nested,
    values: _Nested,
    reduce: str,
    *,
    include_self: bool = True,
) -> Tensor:
    """`x` with values combined, in each line along an axis, at the positions in the same line of indices, which may repeat.

    reduce: "sum", "prod", "mean", "amax" or "amin" (ValueError). include_self: whether the elements of x are combined too. Shapes, dtypes
    and other errors are those of `scatter`; means of integers are rounded down.

    >>> flex.scatter_reduce(flex.asarray([1.0, 2.0]), 0, flex.asarray([0, 0]), flex.asarray([5.0, 7.0]), "amax").tolist()
    [7.0, 2.0]
    """
    if reduce not in (*_MODES, "mean"):
        raise ValueError(
            f"scatter_reduce: reduce is {reduce!r}; it is 'sum', 'prod', 'mean', 'amax' or 'amin'"
        )
    x, indices = tensor(x), tensor(indices)
    values = beside("scatter_reduce", values, x.dtype)
    axis = axis_of("scatter_reduce", axis, x.ndim)
    start = x
    counts = fx.scatter(fx.zeros(x.shape, dtype=fx.int64), indices, 1, axis, mode="add")
    if not include_self:
        start = fx.where(counts > 0, fx.full((), _identity(x.dtype, reduce), dtype=x.dtype), x)
    mode: Any = _MODES.get(reduce, "add")
    result = fx.scatter(start, indices, values, axis, mode=mode)
    if reduce != "mean":
        return result
    counts = counts + 1 if include_self else fx.maximum(counts, 1)
    counts = counts.astype(x.dtype)
    return fx.floor_divide(result, counts) if is_whole(x.dtype) else result / counts
