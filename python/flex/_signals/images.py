# mypy: allow-redefinition
"""Sums of products of matrices, with a choice of what lies beyond their edges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flex import _flex as fx
from flex._functions._common import tensor
from flex._functions.padding import pad
from flex._signals.products import check_mode

if TYPE_CHECKING:
    from flex._flex import Tensor, _Nested

_BEYOND = {"fill": "constant", "wrap": "wrap", "symm": "symmetric"}


def _matrices(op: str, in1: Any, in2: Any, mode: str, boundary: str) -> tuple[Tensor, Tensor, bool]:
    """The operands, the larger one first if the other must lie inside it; and whether they changed places."""
    in1, in2 = tensor(in1), tensor(in2)
    for name, x in (("in1", in1), ("in2", in2)):
        if x.ndim != 2:
            raise fx.ShapeError(f"{op}: {name} has two dimensions, got shape {list(x.shape)}")
        if not x.size:
            raise ValueError(f"{op}: {name} has no elements (shape {list(x.shape)})")
    check_mode(op, mode)
    if boundary not in _BEYOND:
        raise ValueError(f"{op}: boundary is {boundary!r}; it is 'fill', 'wrap' or 'symm'")
    sizes = list(zip(in1.shape, in2.shape, strict=True))
    if mode != "valid" or all(n >= m for n, m in sizes):
        return in1, in2, False
    if all(m >= n for n, m in sizes):
        return in2, in1, True
    shapes = f"{list(in1.shape)} and {list(in2.shape)}"
    raise fx.ShapeError(f"{op}: of shapes {shapes} neither lies inside the other; use mode='full'")


def _convolved(
    x: Tensor, kernel: Tensor, mode: str, boundary: str, fillvalue: Any, odd: int
) -> Tensor:
    """The part that is "same" begins at half of the size of the kernel less `odd`."""
    if mode == "valid":
        found: Tensor = fx._signal.convolve(x, kernel, mode)
        return found
    if boundary == "fill" and fillvalue == 0:
        full: Tensor = fx._signal.convolve(x, kernel)
    else:
        widths = [(m - 1, m - 1) for m in kernel.shape]
        values = {"constant_values": fillvalue} if boundary == "fill" else {}
        # in the dtype of the result, which must hold what lies beyond
        wide = pad(x.astype(fx.result_type(x, kernel)), widths, _BEYOND[boundary], **values)
        full = fx._signal.convolve(wide, kernel, "valid")
    if mode == "full":
        return full
    starts = [(m - odd) // 2 for m in kernel.shape]
    part = tuple(slice(k, k + n) for k, n in zip(starts, x.shape, strict=True))
    return full[part].copy()


def convolve2d(
    in1: _Nested, in2: _Nested, mode: str = "full", boundary: str = "fill", fillvalue: Any = 0
) -> Tensor:
    """The sums of products `in1[i, j] in2[m - i, n - j]` of two matrices.

    mode: "full" for all, one fewer than both sizes together; "same" for the middle ones, as many as in1 has elements; "valid" for those
    where one lies entirely inside the other. boundary: what lies beyond the edges of in1: fillvalue ("fill"), in1 again ("wrap") or its
    mirror image ("symm"). The result has the common dtype. ShapeError if an operand is no matrix, or neither fits into the other for
    "valid"; ValueError without elements, and for another mode or boundary.

    >>> flex.signal.convolve2d([[1, 2], [3, 4]], [[1, 1]], boundary="symm").tolist()
    [[2, 3, 4], [6, 7, 8]]
    """
    in1, in2, _ = _matrices("convolve2d", in1, in2, mode, boundary)
    return _convolved(in1, in2, mode, boundary, fillvalue, 1)


def correlate2d(
    in1: _Nested, in2: _Nested, mode: str = "full", boundary: str = "fill", fillvalue: Any = 0
) -> Tensor:
    """The sums of products `in1[m + i, n + j] conj(in2[i, j])` of two matrices. Arguments, dtypes and errors are those of `convolve2d`.

    >>> flex.signal.correlate2d([[1, 2, 3], [4, 5, 6]], [[-1, 1]], mode="valid").tolist()
    [[1, 1], [1, 1]]
    """
    in1, in2, swapped = _matrices("correlate2d", in1, in2, mode, boundary)
    found = _convolved(in1, fx.flip(fx.conj(in2)), mode, boundary, fillvalue, 0)
    return fx.flip(found) if swapped else found
