"""NumPy's functions on tensors (`__array_function__`, NEP 18). Imported at the first such call.

A function that flex has too is flex's, for the arguments that both know. Any other call is NumPy's, on arrays that share the tensors'
memory. Either way arrays among the results are tensors, where flex has their dtype. Ufuncs have a protocol of their own (`ufunc.rs`).
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import flex
from flex import _functions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

# NumPy's functions that flex has: the parameters that flex's function serves in NumPy's order, those that are served as keywords only after
# a star, `theirs=ours` and `-> ours` where the names differ. A call with any other argument that is not None is NumPy's.
_SERVED = """
    allclose: a b rtol atol equal_nan
    argsort: a axis
    argwhere: a
    array_equal: a1 a2 equal_nan
    array_split: ary indices_or_sections axis
    bincount: x weights minlength
    broadcast_to: array shape
    clip: a a_min=min a_max=max * min max
    column_stack: tup
    concatenate: arrays axis -> concat
    count_nonzero: a axis * keepdims
    cross: a b * axis
    cumprod: a axis * dtype -> cumulative_prod
    cumsum: a axis * dtype -> cumulative_sum
    cumulative_prod: x * axis dtype include_initial
    cumulative_sum: x * axis dtype include_initial
    diag: v k
    diff: a n axis * prepend append
    dot: a b
    dstack: tup
    expand_dims: a axis
    flip: m axis
    fliplr: m
    flipud: m
    hsplit: ary indices_or_sections
    hstack: tup
    i0: x
    imag: val
    inner: a b
    isclose: a b rtol atol equal_nan
    isin: element test_elements * invert
    kron: a b
    matrix_transpose: x
    median: a axis * keepdims
    moveaxis: a source destination
    nan_to_num: x * nan posinf neginf
    nanmax: a axis * keepdims
    nanmean: a axis * dtype keepdims
    nanmedian: a axis * keepdims
    nanmin: a axis * keepdims
    nanpercentile: a q axis * keepdims method
    nanquantile: a q axis * keepdims method
    nanstd: a axis * dtype ddof correction keepdims
    nansum: a axis * dtype keepdims
    nanvar: a axis * dtype ddof correction keepdims
    nonzero: a
    ones_like: a dtype
    partition: a kth axis
    percentile: a q axis * keepdims method
    ptp: a axis * keepdims
    quantile: a q axis * keepdims method
    ravel: a
    real: val
    repeat: a repeats axis
    reshape: a shape * copy
    roll: a shift axis
    rot90: m k axes
    round: a decimals
    searchsorted: a v side sorter
    sort: a axis
    squeeze: a axis
    stack: arrays axis
    swapaxes: a axis1 axis2
    take: a indices axis
    take_along_axis: arr indices axis
    tensordot: a b axes
    tile: A reps
    transpose: a axes
    tril: m k
    triu: m k
    unique_all: x
    unique_counts: x
    unique_inverse: x
    unique_values: x
    unstack: x * axis
    vdot: a b
    vecdot: x1 x2 * axis
    vsplit: ary indices_or_sections
    vstack: tup
    zeros_like: a dtype
    fft.fft: a n axis norm
    fft.fftn: a s axes norm
    fft.fftshift: x axes
    fft.hfft: a n axis norm
    fft.ifft: a n axis norm
    fft.ifftn: a s axes norm
    fft.ifftshift: x axes
    fft.ihfft: a n axis norm
    fft.irfft: a n axis norm
    fft.irfftn: a s axes norm
    fft.rfft: a n axis norm
    fft.rfftn: a s axes norm
    linalg.cholesky: a * upper
    linalg.cond: x p
    linalg.det: a
    linalg.eigh: a
    linalg.eigvalsh: a
    linalg.inv: a
    linalg.matrix_norm: x * keepdims ord
    linalg.matrix_power: a n
    linalg.matrix_rank: A * rtol
    linalg.multi_dot: arrays
    linalg.norm: x ord axis keepdims
    linalg.qr: a mode
    linalg.slogdet: a
    linalg.solve: a b
    linalg.svd: a * full_matrices
    linalg.svdvals: x
    linalg.vector_norm: x * axis keepdims ord
"""
# Reductions, which NumPy calls as methods, with the keywords of all, and some with these.
_METHODS = {
    **dict.fromkeys(["sum", "prod", "max", "min", "amax", "amin"], frozenset(["initial", "where"])),
    **dict.fromkeys(["any", "all", "mean", "std", "var"], frozenset(["where"])),
    **dict.fromkeys(["argmax", "argmin"], frozenset[str]()),
}
_KEYWORDS = frozenset(["axis", "dtype", "out", "keepdims", "ddof", "correction"])
# Functions that write to their first argument; those that flex has change the tensor, and no other.
_WRITERS = frozenset(["copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask"])


class _Row(NamedTuple):
    function: Callable[..., Any]
    positional: list[str]  # NumPy's names
    keywords: dict[str, str]  # NumPy's names, and flex's


def _row(line: str) -> tuple[str, _Row]:
    name, rest = line.split(": ")
    parameters, _, ours = rest.partition(" -> ")
    before, _, after = parameters.partition(" * ")
    pairs = [p.partition("=") for p in [*before.split(), *after.split()]]
    keywords = {theirs: other or theirs for theirs, _, other in pairs}
    positional = [p.partition("=")[0] for p in before.split()]
    return name, _Row(attrgetter(ours or name)(flex), positional, keywords)


_ROWS = dict(_row(line.strip()) for line in _SERVED.strip().splitlines())


def dispatch(
    function: Any,
    types: Sequence[type],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
) -> object:
    """`Tensor.__array_function__`."""
    if not all(issubclass(t, (flex.Tensor, np.ndarray)) for t in types):
        return NotImplemented  # a library that wraps arrays of any kind: its own protocol answers
    name = f"{function.__module__}.{function.__name__}".removeprefix("numpy.")
    if name in _METHODS and kwargs.keys() <= _KEYWORDS | _METHODS[name]:
        return function._implementation(*args, **kwargs)
    first = args[0] if args else next(iter(kwargs.values()), None)
    if name in _WRITERS and isinstance(first, flex.Tensor):
        if name in _functions.FUNCTIONS:
            return _functions.FUNCTIONS[name](*args, **kwargs)
        message = f"{name} writes to its first argument, but a Tensor is a value: write t[indices] = values"
        raise TypeError(message)
    served = _served(name, args, kwargs)
    if served is not NotImplemented:
        return served
    if any(isinstance(out, flex.Tensor) for out in _several(kwargs.get("out"))):
        message = "out is a Tensor, which is a value and can't be written to: assign the result, as in t = f(x) or t[...] = f(x)"
        raise TypeError(message)
    result = function(*_arrays(args), **_arrays(dict(kwargs)))
    given = [id(out) for out in _several(kwargs.get("out"))]
    return result if id(result) in given else _tensors(result)


def _served(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> object:
    """flex's result; NotImplemented if flex lacks the function or an argument of it, or refuses the call: that may be one that NumPy
    computes, and if it is not, the error is NumPy's.
    """
    try:
        kwargs = {k: v for k, v in kwargs.items() if v is not None or k == "axis"}
        if name in _VARIADIC:
            return _VARIADIC[name](*args, **kwargs)
        row = _ROWS.get(name)
        if (
            row is None
            or len(args) > len(row.positional)
            or not row.keywords.keys() >= kwargs.keys()
        ):
            return NotImplemented
        first = () if args else (kwargs.pop(row.positional[0]),)
        return row.function(*args, *first, **{row.keywords[k]: v for k, v in kwargs.items()})
    except (TypeError, ValueError, IndexError, KeyError):
        return NotImplemented


def _where(condition: Any, *choices: Any) -> object:
    chosen = flex.asarray(condition)
    chosen = chosen if chosen.dtype == flex.bool else chosen != 0
    return flex.where(chosen, *choices)


# Functions of any number of operands, and those that have NumPy's parameters.
_VARIADIC: dict[str, Callable[..., Any]] = {
    **{
        name: _functions.FUNCTIONS[name]
        for name in _functions.FUNCTIONS
        if callable(getattr(np, name, None)) and name not in (*_WRITERS, "printoptions")
    },
    "lib.stride_tricks.sliding_window_view": _functions.FUNCTIONS["sliding_window_view"],
    "atleast_1d": flex.atleast_1d,
    "atleast_2d": flex.atleast_2d,
    "atleast_3d": flex.atleast_3d,
    "einsum": flex.einsum,
    "where": _where,
}


def _several(out: object) -> tuple[Any, ...]:
    return out if isinstance(out, tuple) else (out,)


def _arrays(x: Any) -> Any:
    """`x` with arrays in place of the tensors in it."""
    if isinstance(x, flex.Tensor):
        return x.numpy()
    if type(x) in (list, tuple):
        return type(x)(map(_arrays, x))
    return {k: _arrays(v) for k, v in x.items()} if type(x) is dict else x


def _tensors(x: Any) -> Any:
    """`x` with tensors in place of the arrays in it, and of NumPy's scalars."""
    if type(x) is np.ndarray or isinstance(x, np.generic):
        try:
            return flex.asarray(x)
        except (TypeError, ValueError):
            return x  # of a dtype that flex lacks
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return type(x)(*map(_tensors, x))
    return type(x)(map(_tensors, x)) if type(x) in (list, tuple) else x
