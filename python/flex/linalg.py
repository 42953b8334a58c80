"""Linear algebra, with the names of the array API's extension, and of numpy.linalg and scipy.linalg beyond it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flex import _flex, _missing

if TYPE_CHECKING:
    from flex._flex import Tensor, _Operand

_products = ("cross", "matmul", "matrix_transpose", "outer", "tensordot", "vecdot")
_own = {
    **{name: getattr(_flex, name) for name in _products},
    **{name: getattr(_flex._linalg, name) for name in dir(_flex._linalg) if name[0] != "_"},
}
globals().update(_own)  # linalg.pyi lists the names


def norm(
    x: _Operand,
    ord: float | str | None = None,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
) -> Tensor:
    """The norm of vectors or matrices, with the arguments of numpy.linalg.norm.

    axis: an integer for norms of vectors, a pair for those of matrices; None for the vector or the matrix x, or without ord for the
    length of all elements. ord: as in `vector_norm` and `matrix_norm`; by default 2 and "fro". keepdims: keep these axes with size 1.
    Dtypes and errors are those of these functions, and ValueError for a name with vectors, and for other numbers of axes.

    >>> flex.linalg.norm(flex.asarray([3.0, 4.0])).item()
    5.0
    >>> flex.linalg.norm(flex.asarray([[3.0, 0.0], [4.0, -1.0]]), 1).item()
    7.0
    """
    own = _flex._linalg
    x = _flex.asarray(x)
    axes: tuple[Any, ...]
    if axis is None:
        if ord is None:
            whole: Tensor = own.vector_norm(x, keepdims=keepdims)
            return whole
        axes = tuple(range(x.ndim))
    else:
        axes = axis if isinstance(axis, tuple) else (axis,)
    if len(axes) == 1:
        if isinstance(ord, str):
            raise ValueError(f"norm: ord is {ord!r}; of vectors it is a number")
        length = 2.0 if ord is None else float(ord)
        norms: Tensor = own.vector_norm(x, axis=axes, keepdims=keepdims, ord=length)
        return norms
    if len(axes) != 2:
        counted = f"{len(axes)} axes" if axis is not None else f"{x.ndim} dimensions"
        raise ValueError(f"norm: {counted}; a vector has one and a matrix two")
    rows, columns = (k + x.ndim if -x.ndim <= k < 0 else k for k in axes)
    if rows == columns:
        raise _flex.AxisError(f"norm: axis {axis} has an axis twice")
    moved = _flex.moveaxis(x, (rows, columns), (-2, -1))
    found: Tensor = own.matrix_norm(moved, ord=ord)
    if keepdims:
        found = _flex.expand_dims(found, tuple(sorted((rows, columns))))
    return found


__getattr__ = _missing.of_module(__name__)
__all__ = sorted([*_own, "norm"])
