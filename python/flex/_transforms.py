"""Sine transforms, by cosine and Fourier transforms, and both along several axes."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any, Literal

from flex import _flex as fx
from flex._functions._common import along, axes_of, axis_of, index, several, tensor

if TYPE_CHECKING:
    from flex._flex import Tensor, _Nested, _Shape

    _Norm = Literal["backward", "ortho", "forward"]
    _Type = Literal[1, 2, 3, 4]

_fft: Any = fx._fft


def _zeros(x: Tensor, axis: int, n: int) -> Tensor:
    """What stands beside `x` along an axis."""
    return fx.zeros((*x.shape[:axis], n, *x.shape[axis + 1 :]), dtype=x.dtype)


def _sized(op: str, x: Tensor, n: Any, axis: int) -> Tensor:
    """`x` cut or padded with zeros along an axis."""
    own = x.shape[axis]
    n = own if n is None else index(op, "n", n)
    if n < 1:
        raise ValueError(f"{op}: a transform needs at least one value, not {n}")
    if n <= own:
        return along(x, axis, slice(n))
    return fx.concat([x, _zeros(x, axis, n - own)], axis=axis)


def _scale(op: str, norm: Any, period: int, inverse: bool) -> float:
    if norm is None:
        norm = "backward"
    if norm not in ("backward", "ortho", "forward"):
        raise ValueError(f'{op}: norm is {norm!r}; it is "backward", "ortho" or "forward"')
    if norm == "ortho":
        return 1 / sqrt(period)
    return 1 / period if inverse == (norm == "backward") else 1.0


def _odd(x: Tensor, axis: int, scale: float) -> Tensor:
    """The sine transform of type 1: the Fourier transform of an odd line."""
    zero = _zeros(x, axis, 1)
    whole = _fft.rfft(fx.concat([zero, x, zero, -fx.flip(x, axis=axis)], axis=axis), axis=axis)
    return along(fx.imag(whole), axis, slice(1, x.shape[axis] + 1)) * -scale


def _alternating(n: int, axis: int, x: Tensor) -> Tensor:
    """1, -1, .. along an axis."""
    signs = 1 - 2 * (fx.arange(n) % 2)
    return fx.reshape(signs, tuple(n if k == axis else 1 for k in range(x.ndim))).astype(x.dtype)


def _sine(
    op: str, x: Any, type: Any, n: Any, axis: Any, norm: Any, orthogonalize: Any, inverse: bool
) -> Tensor:
    x = tensor(x)
    axis = axis_of(op, axis, x.ndim)
    if type not in (1, 2, 3, 4):
        raise ValueError(f"{op}: type is {type}; it is 1, 2, 3 or 4")
    if fx.isdtype(x.dtype, "complex floating"):
        raise fx.DTypeError(f"{op}: not defined for {x.dtype}")
    x = _sized(op, x, n, axis)
    n = x.shape[axis]
    x = x if x.dtype == fx.float64 else x.astype(fx.float32)
    scale = _scale(op, norm, 2 * (n + (type == 1)), inverse)
    if type == 1:
        return _odd(x, axis, scale)
    signs = _alternating(n, axis, x)
    # the cosine transform that is computed: the inverse of type 2 is type 3
    of_three = type == 4 or (type == 3) != inverse
    operand = fx.flip(x, axis=axis) if of_three else x * signs
    found: Tensor = (_fft.idct if inverse else _fft.dct)(
        operand, type, axis=axis, norm=norm or "backward", orthogonalize=orthogonalize
    )
    return found * signs if of_three else fx.flip(found, axis=axis)


def dst(
    x: _Nested,
    type: _Type = 2,
    n: int | None = None,
    axis: int = -1,
    norm: _Norm | None = None,
    *,
    orthogonalize: bool | None = None,
) -> Tensor:
    """The discrete sine transform of real numbers along an axis.

    type: 2, for 2 sum x[j] sin(pi (k + 1) (2 j + 1) / (2 n)); 3, its inverse up to a factor; 4, for
    2 sum x[j] sin(pi (2 k + 1) (2 j + 1) / (4 n)); or 1, for 2 sum x[j] sin(pi (k + 1) (j + 1) / (n + 1)). n: the length that the axis is
    cut or padded with zeros to. norm: which transform is divided by 2 n (2 n + 2 for type 1): the inverse ("backward", as without one),
    this one ("forward"), or both by its square root ("ortho"), which also scales the last element of types 2 and 3 so that the transform
    is orthogonal. orthogonalize: whether that element is scaled with any norm, or with none.

    Defined like scipy.fft.dst. The result is float64 for float64, else float32. ValueError for another type or norm, and for a length of
    0; AxisError; DTypeError for complex numbers.

    >>> flex.fft.dst(flex.asarray([1.0, -1.0, 1.0, -1.0])).tolist()
    [0.0, 0.0, 0.0, 8.0]
    """
    return _sine("dst", x, type, n, axis, norm, orthogonalize, False)


def idst(
    x: _Nested,
    type: _Type = 2,
    n: int | None = None,
    axis: int = -1,
    norm: _Norm | None = None,
    *,
    orthogonalize: bool | None = None,
) -> Tensor:
    """The inverse of `dst` of the same type, with its arguments, dtypes and errors.

    >>> flex.fft.idst(flex.asarray([0.0, 0.0, 0.0, 8.0])).tolist()
    [1.0, -1.0, 1.0, -1.0]
    """
    return _sine("idst", x, type, n, axis, norm, orthogonalize, True)


# The transform of one axis
_OF_ONE = {"dctn": _fft.dct, "idctn": _fft.idct, "dstn": dst, "idstn": idst}


def _several(op: str, x: Any, type: Any, s: Any, axes: Any, **how: Any) -> Tensor:
    """A transform along several axes, one after another."""
    x = tensor(x)
    sizes = None if s is None else several(op, "s", s) if hasattr(s, "__len__") else [s]
    if axes is None and sizes is not None:
        if len(sizes) > x.ndim:
            raise fx.ShapeError(f"{op}: s has {len(sizes)} sizes, x has {x.ndim} dimensions")
        axes = tuple(range(x.ndim - len(sizes), x.ndim))
    axes = axes_of(op, axes, x.ndim)
    if sizes is not None and len(sizes) != len(axes):
        raise ValueError(f"{op}: s has {len(sizes)} sizes for {len(axes)} axes")
    try:
        for k, axis in enumerate(axes):
            x = _OF_ONE[op](x, type, n=None if sizes is None else sizes[k], axis=axis, **how)
    except (TypeError, ValueError) as error:
        _, colon, text = str(error).partition(": ")
        raise error.__class__(f"{op}{colon}{text}" if colon else str(error)) from None
    return x


def dctn(
    x: _Nested,
    type: _Type = 2,
    s: _Shape | None = None,
    axes: _Shape | None = None,
    norm: _Norm | None = None,
    *,
    orthogonalize: bool | None = None,
) -> Tensor:
    """`dct` along several axes.

    s: the lengths that they are cut or padded with zeros to. axes: all of them, or the last as many as s has. ShapeError or ValueError if
    there are more lengths than axes; other arguments, dtypes and errors are those of `dct`.

    >>> flex.fft.dctn(flex.ones((2, 2))).tolist()
    [[16.0, 0.0], [0.0, 0.0]]
    """
    norm = norm or "backward"
    return _several("dctn", x, type, s, axes, norm=norm, orthogonalize=orthogonalize)


def idctn(
    x: _Nested,
    type: _Type = 2,
    s: _Shape | None = None,
    axes: _Shape | None = None,
    norm: _Norm | None = None,
    *,
    orthogonalize: bool | None = None,
) -> Tensor:
    """The inverse of `dctn` of the same type, with its arguments, dtypes and errors.

    >>> flex.fft.idctn(flex.asarray([[16.0, 0.0], [0.0, 0.0]])).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    norm = norm or "backward"
    return _several("idctn", x, type, s, axes, norm=norm, orthogonalize=orthogonalize)


def dstn(
    x: _Nested,
    type: _Type = 2,
    s: _Shape | None = None,
    axes: _Shape | None = None,
    norm: _Norm | None = None,
    *,
    orthogonalize: bool | None = None,
) -> Tensor:
    """`dst` along several axes, with the arguments of `dctn`, and the dtypes and errors of `dst`.

    >>> flex.fft.dstn(flex.asarray([[1.0, -1.0], [-1.0, 1.0]])).tolist()
    [[0.0, 0.0], [0.0, 16.0]]
    """
    return _several("dstn", x, type, s, axes, norm=norm, orthogonalize=orthogonalize)


def idstn(
    x: _Nested,
    type: _Type = 2,
    s: _Shape | None = None,
    axes: _Shape | None = None,
    norm: _Norm | None = None,
    *,
    orthogonalize: bool | None = None,
) -> Tensor:
    """The inverse of `dstn` of the same type, with its arguments, dtypes and errors.

    >>> flex.fft.idstn(flex.asarray([[0.0, 0.0], [0.0, 16.0]])).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    return _several("idstn", x, type, s, axes, norm=norm, orthogonalize=orthogonalize)
