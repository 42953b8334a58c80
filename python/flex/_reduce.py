"""Reductions with user-defined functions."""

from __future__ import annotations

import numbers
import operator
from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, Any

from flex import _flex

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flex._flex import DType, Tensor

# Elements of an accumulator that lanes are added up to: enough to amortise a run of a program, and within the L2 cache.
LANES = 1 << 15
# Operands of one pass over memory, which takes elements of as many rows as fit.
OPERANDS = 12
MOST_ROWS = 8
# The least number of lanes if the elements of a line are adjacent: a few cache lines.
RUN = 256


def reduce(
    step: Callable[..., Any],
    init: Any,
    /,
    *xs: Any,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
    join: Callable[..., Any] | None = None,
    post: Callable[..., Any] | None = None,
) -> Any:
    """Reduces tensors with user-defined functions, in a few passes over memory.

    step: `step(a, x)` returns the accumulator `a` updated with an element, by elementwise functions only; with several tensors
    `step(a, x, y)`. init: the initial accumulator, a number, or a tuple of them, in which case `step` takes and returns
    a tuple. xs: tensors that broadcast. axis: as for `sum`; keepdims: keep reduced axes with size 1.

    join: `join(a, b)`, which combines two accumulators, in any order. Without it the elements are taken one after another, in the
    order of the axes, which is slow if there are few results. post: `post(a)`, the result.

    An accumulator has the dtype that `step` returns, such as that of `init` promoted with the elements. The functions are traced as by
    `fuse` and cached, so they should not be created again for each call. With `join` the order of elements depends only on the shape:
    results do not depend on the number of threads. Reduced axes that are not adjacent in memory are first made contiguous by a copy.

    Returns a tensor, or the result of `post`; for several accumulators a tuple. Errors: TypeError if a function does not return
    tensors, or not as many as `init` has; DTypeError if the accumulator's dtype changes with each step;
    ShapeError if `step` changes shapes; AxisError.

    >>> x = flex.asarray([[3.0, 4.0], [6.0, 8.0]])
    >>> flex.reduce(lambda a, x: a + x * x, 0.0, x, axis=1, join=flex.add, post=flex.sqrt).tolist()
    [5.0, 10.0]
    >>> flex.reduce(lambda a, x: 0.5 * a + x, 0.0, x, axis=0).tolist()  # in order
    [7.5, 10.0]
    """
    if not xs:
        raise TypeError("reduce: there is no tensor")
    for name, f in (("step", step), ("join", join), ("post", post)):
        if not callable(f) and (f is not None or name == "step"):
            raise TypeError(f"reduce: {name} must be a function, got {type(f).__name__}")
    tensors = _flex.broadcast_arrays(*map(_flex.asarray, xs))
    shape = tensors[0].shape
    reduced = _axes(axis, len(shape))
    kept = [k for k in range(len(shape)) if k not in reduced]
    sizes = prod(shape[k] for k in kept), prod(shape[k] for k in reduced)
    lines = [_flex.reshape(_flex.permute_dims(x, (*kept, *reduced)), sizes) for x in tensors]

    several = isinstance(init, tuple)
    inits = init if several else (init,)
    for number in inits:
        if not isinstance(number, numbers.Number):
            kind = type(number).__name__
            raise TypeError(f"reduce: init must be a number or a tuple of numbers, got {kind}")
    # equal numbers may differ in kind: 0, 0.0, -0.0, False
    kinds = tuple((type(number), repr(number)) for number in inits)
    functions = _functions(step, join, several, inits, tuple(x.dtype for x in lines), kinds)
    along = bool(reduced) and reduced[-1] == len(shape) - 1
    after = tuple(n for k, n in enumerate(shape) if k not in reduced)
    if keepdims:
        after = tuple(1 if k in reduced else n for k, n in enumerate(shape))
    a = tuple(_flex.reshape(y, after) for y in functions.of_lines(lines, sizes, along=along))
    if post is None:
        return a if several else a[0]
    return _fused(post)(*([a] if several else a))


def _axes(axis: Any, rank: int) -> list[int]:
    if axis is None:
        return list(range(rank))
    axes = []
    for k in axis if isinstance(axis, tuple) else (axis,):
        try:
            k = operator.index(k)
        except TypeError:
            kind = type(k).__name__
            message = f"reduce: axis: expected an integer or a tuple of integers, got {kind}"
            raise TypeError(message) from None
        if not -rank <= k < rank:
            valid = f" (valid: {-rank} to {rank - 1})" if rank else ""
            raise _flex.AxisError(f"reduce: axis {k} is out of range for {rank} dimensions{valid}")
        if k % rank in axes:
            raise _flex.AxisError(f"reduce: axis {k} is repeated")
        axes.append(k % rank)
    return sorted(axes)


class _Steps:
    """`step` and `join` on tuples of accumulators."""

    def __init__(
        self,
        step: Callable[..., Any],
        join: Callable[..., Any] | None,
        several: bool,
        count: int,
    ) -> None:
        self.step, self.join, self.several, self.count = step, join, several, count

    def _call(self, name: str, f: Callable[..., Any], *arguments: Any) -> tuple[Any, ...]:
        results = f(*arguments)
        results = results if self.several else (results,)
        if not isinstance(results, tuple) or len(results) != self.count:
            got = f"{len(results)}" if isinstance(results, tuple) else type(results).__name__
            message = (
                f"reduce: {name} must return a tuple of {self.count}, as init is one, got {got}"
            )
            raise TypeError(message)
        return results

    def _tensors(self, name: str, f: Callable[..., Any], *arguments: Any) -> tuple[Tensor, ...]:
        results = self._call(name, f, *arguments)
        for x in results:
            if not isinstance(x, _flex.Tensor):
                raise TypeError(f"reduce: {name} must return tensors, got {type(x).__name__}")
        return results

    def accumulators(self, inits: tuple[Any, ...], dtypes: tuple[DType, ...]) -> list[Tensor]:
        """The initial accumulators, in the dtypes that they have after each step."""
        x = [_flex.ones(1, dtype=dtype) for dtype in dtypes]

        def step(a: Sequence[Any]) -> list[Tensor]:
            arguments = [tuple(a)] if self.several else a
            results = _flex.fuse(lambda a, x: self._call("step", self.step, *a, *x))(arguments, x)
            # a count remains a number until it is combined with a tensor
            return [_flex.asarray(y) for y in results]

        after = step(inits)
        for _ in range(3):
            a = [_flex.asarray(init, dtype=y.dtype) for init, y in zip(inits, after, strict=True)]
            after = step(a)
            for init, y in zip(a, after, strict=True):
                if init.shape != () or y.shape not in ((), (1,)):
                    message = f"reduce: step is not elementwise: it gives {y.shape} for elements of shape (1,)"
                    raise _flex.ShapeError(message)
            if all(p.dtype == q.dtype for p, q in zip(a, after, strict=True)):
                return a
        before, now = (", ".join(str(y.dtype) for y in all_) for all_ in (a, after))
        raise _flex.DTypeError(f"reduce: step gives {now} for accumulators of {before}")

    def take(self, a: tuple[Tensor, ...], rows: Sequence[Sequence[Tensor]]) -> tuple[Tensor, ...]:
        for x in rows:
            shapes = [y.shape for y in a]
            a = self._tensors("step", self.step, *([a] if self.several else a), *x)
            if [y.shape for y in a] != shapes:
                message = f"reduce: step is not elementwise: it gives {a[0].shape} for an accumulator of shape {shapes[0]}"
                raise _flex.ShapeError(message)
        return a

    def both(self, a: tuple[Tensor, ...], b: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        assert self.join is not None
        pair = (a, b) if self.several else (*a, *b)
        return self._tensors("join", self.join, *pair)


class _Functions:
    """The same, fused."""

    def __init__(
        self,
        step: Callable[..., Any],
        join: Callable[..., Any] | None,
        several: bool,
        inits: tuple[Any, ...],
        dtypes: tuple[DType, ...],
        _kinds: object,
    ) -> None:
        self.joins = join is not None
        steps = _Steps(step, join, several, len(inits))
        self.inits = steps.accumulators(inits, dtypes)
        self.rows = max(1, min(MOST_ROWS, (OPERANDS - 2 * len(inits)) // len(dtypes)))
        into = tuple(range(len(inits)))
        # methods of another object: this one is released as soon as nobody needs it
        self.take = _flex.fuse(steps.take, donate=into, strict=True)
        self.both = _flex.fuse(steps.both, strict=True)

    def of_lines(self, x: list[Tensor], sizes: tuple[int, int], *, along: bool) -> list[Tensor]:
        """The accumulators of `sizes[0]` lines of `sizes[1]` elements; adjacent in memory are elements of a line if `along`, else lines."""
        lines, n = sizes
        # the elements of a line that are taken at a time, each into its own lane
        most = max(LANES // max(lines, 1), RUN if along else 1)
        most = min(most, n // self.rows) if self.joins else 1
        lanes = 1 << max(most.bit_length() - 1, 0)
        block = LANES // lanes if self.joins or not along else LANES // 16
        cuts = range(0, lines, block)
        parts = [self._of_block([y[k : k + block] for y in x], n, lanes, along) for k in cuts]
        if not parts:
            return [_flex.empty(0, dtype=y.dtype) for y in self.inits]
        return [_flex.concat(column) for column in zip(*parts, strict=True)]

    def _of_block(self, x: list[Tensor], n: int, lanes: int, along: bool) -> list[Tensor]:
        whole = n // lanes
        lines = x[0].shape[0]
        shape = (lines, lanes)
        if not along:  # in memory order
            x, shape = [y.T for y in x], (lanes, lines)

        def lane(y: Tensor, start: int, end: int) -> Tensor:
            return y[:, start:end] if along else y[start:end]

        a = tuple(_flex.full(shape, y, dtype=y.dtype) for y in self.inits)
        for row in range(0, whole, self.rows):
            taken = range(row * lanes, min(row + self.rows, whole) * lanes, lanes)
            a = self.take(a, [[lane(y, k, k + lanes) for y in x] for k in taken])
        if left := n - whole * lanes:
            rest = [lane(y, whole * lanes, n) for y in x]
            head = self.take(tuple(lane(y, 0, left) for y in a), [rest])
            tail = [lane(y, left, lanes) for y in a]
            a = tuple(_flex.concat(pair, axis=int(along)) for pair in zip(head, tail, strict=True))
        while lanes > 1:
            lanes //= 2
            a = self.both(*(tuple(lane(y, k, k + lanes) for y in a) for k in (0, lanes)))
        return [_flex.reshape(y, (lines,)) for y in a]


_fused = lru_cache(maxsize=64)(_flex.fuse)
_functions = lru_cache(maxsize=64)(_Functions)
