# mypy: allow-redefinition
"""Convolutions along some of the axes, and the lags of correlations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flex import _flex as fx
from flex._functions._common import axes_of, index, is_whole, together

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal, SupportsIndex

    from flex._flex import Tensor, _Operand


def check_mode(op: str, mode: str) -> None:
    if mode not in ("full", "same", "valid"):
        raise ValueError(f"{op}: mode is {mode!r}; it is 'full', 'same' or 'valid'")


def correlation_lags(
    in1_len: int, in2_len: int, mode: Literal["full", "same", "valid"] = "full"
) -> Tensor:
    """By how many samples the second of two signals of these lengths is moved, for each element of their `correlate`; int64.

    mode: as of `correlate` (ValueError). ValueError for a length below 1.

    >>> flex.signal.correlation_lags(3, 2).tolist()
    [-1, 0, 1, 2]
    """
    n, m = (
        index("correlation_lags", "in1_len", in1_len),
        index("correlation_lags", "in2_len", in2_len),
    )
    if n < 1 or m < 1:
        raise ValueError(f"correlation_lags: lengths are {n} and {m}; they must be positive")
    check_mode("correlation_lags", mode)
    if mode == "valid":
        return fx.arange(min(n - m, 0), max(n - m, 0) + 1, dtype=fx.int64)
    lags = fx.arange(1 - m, n, dtype=fx.int64)
    start = (m - 1) // 2 if mode == "same" else 0
    return lags[start : start + n].copy() if mode == "same" else lags


def fftconvolve(
    in1: _Operand,
    in2: _Operand,
    mode: Literal["full", "same", "valid"] = "full",
    axes: SupportsIndex | Sequence[SupportsIndex] | None = None,
) -> Tensor:
    """`convolve` by Fourier transforms, of float or complex tensors, with its arguments and errors; DTypeError for integers, whose direct
    sums are exact.

    axes: along which it convolves, by default all; along the others the operands broadcast (ShapeError). AxisError if one is out of
    range or there twice; ValueError if there are none.

    >>> flex.signal.fftconvolve(flex.asarray([1.0, 2.0, 3.0]), flex.asarray([1.0, 1.0])).round().tolist()
    [1.0, 3.0, 5.0, 3.0]
    >>> flex.signal.fftconvolve(flex.ones((2, 3)), flex.ones((1, 2)), axes=1).round().tolist()
    [[1.0, 2.0, 2.0, 1.0], [1.0, 2.0, 2.0, 1.0]]
    """
    if axes is None:
        found: Tensor = fx._signal.fftconvolve(in1, in2, mode)
        return found
    op = "fftconvolve"
    a, b = together(op, in1, in2)
    dtype = fx.result_type(a, b)
    if is_whole(dtype):
        raise fx.DTypeError(f"{op}: not defined for {dtype}; convolve is exact for integers")
    if a.ndim != b.ndim:
        raise fx.ShapeError(f"{op}: operands have {a.ndim} and {b.ndim} dimensions")
    along = axes_of(op, axes, a.ndim)
    if not along:
        raise ValueError(f"{op}: axes is empty")
    check_mode(op, mode)
    shapes = f"{list(a.shape)} and {list(b.shape)}"
    if not all(a.shape[k] and b.shape[k] for k in along):
        raise fx.ShapeError(f"{op}: operands of shapes {shapes} have no elements along an axis")
    if any(
        a.shape[k] != b.shape[k] and 1 not in (a.shape[k], b.shape[k])
        for k in range(a.ndim)
        if k not in along
    ):
        raise fx.ShapeError(f"{op}: shapes {shapes} don't broadcast beside axes {list(along)}")
    pairs = [(a.shape[k], b.shape[k]) for k in along]
    if mode == "valid" and not (all(n >= m for n, m in pairs) or all(n <= m for n, m in pairs)):
        raise fx.ShapeError(f"{op}: of shapes {shapes} neither lies inside the other")
    sizes = [fx._fft.next_fast_len(n + m - 1) for n, m in pairs]
    is_complex = fx.isdtype(dtype, "complex floating")
    there: Any = fx._fft.fftn if is_complex else fx._fft.rfftn
    back: Any = fx._fft.ifftn if is_complex else fx._fft.irfftn
    y = back(there(a, sizes, along) * there(b, sizes, along), sizes, along)
    part = [slice(None)] * a.ndim
    for k, (n, m) in zip(along, pairs, strict=True):
        full = n + m - 1
        count = {"full": full, "same": n, "valid": abs(n - m) + 1}[mode]
        start = (full - count) // 2
        part[k] = slice(start, start + count)
    return y[tuple(part)].astype(dtype).contiguous()
