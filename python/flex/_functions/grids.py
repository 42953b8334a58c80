"""Grids of coordinates, written as slices."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, Any

from flex import _flex as fx

if TYPE_CHECKING:
    from flex._flex import Tensor


class Grid:
    """Coordinates by an index of slices: `start:stop:step`, or with an imaginary step `start:stop:nj`, n numbers with both ends.

    One slice gives a vector; several give a coordinate for each dimension, float64 if a part of one of them is a float, or a step
    imaginary, else int64. `mgrid` stacks them in full; `ogrid` gives a tuple of tensors that broadcast. TypeError for an index that is no
    slice; ValueError for one without a stop, or a step of 0.

    >>> flex.mgrid[0:2, 1:4].tolist()
    [[[0, 0, 0], [1, 1, 1]], [[1, 2, 3], [1, 2, 3]]]
    >>> [x.tolist() for x in flex.ogrid[0:2, 0:1:3j]]
    [[[0.0], [1.0]], [[0.0, 0.5, 1.0]]]
    """

    def __init__(self, name: str, sparse: bool) -> None:
        self._name, self._sparse = name, sparse

    def __repr__(self) -> str:
        return f"flex.{self._name}"

    def __getitem__(self, key: Any) -> Any:
        slices = key if isinstance(key, tuple) else (key,)
        if not all(isinstance(s, slice) for s in slices):
            raise TypeError(f"{self._name}: the index is slices, as in {self}[0:3, 0:1:5j]")
        if any(s.stop is None for s in slices):
            raise ValueError(f"{self._name}: a slice needs a stop")
        parts = [p for s in slices for p in (s.start, s.stop, s.step) if p is not None]
        whole = all(isinstance(p, int) or hasattr(p, "__index__") for p in parts)
        dtype = fx.int64 if whole else fx.float64
        lines = [self._line(s, dtype) for s in slices]
        if not isinstance(key, tuple):
            return lines[0]
        rank = len(lines)
        each = [
            fx.reshape(x, tuple(x.size if j == k else 1 for j in range(rank)))
            for k, x in enumerate(lines)
        ]
        if self._sparse:
            return tuple(each)
        return fx.stack(fx.broadcast_arrays(*each)) if each else fx.empty((0,))

    def _line(self, s: slice, dtype: Any) -> Tensor:
        start, stop, step = s.start or 0, s.stop, 1 if s.step is None else s.step
        if isinstance(step, complex):
            return fx.linspace(start, stop, int(abs(step)), dtype=fx.float64)
        if step == 0:
            raise ValueError(f"{self._name}: the step is 0")
        # products and not sums: no error accumulates
        count = max(ceil((stop - start) / step), 0)
        return (fx.arange(count, dtype=dtype) * step + start).astype(dtype)


mgrid = Grid("mgrid", False)
"""Coordinates of each point of a grid, by an index of slices: `flex.mgrid[0:3, 0:1:5j]`, with an imaginary step for a count."""
ogrid = Grid("ogrid", True)
"""Coordinates along each dimension of a grid, which broadcast, by an index of slices: `flex.ogrid[0:3, 0:1:5j]`."""
