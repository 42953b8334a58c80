# Written by scripts/make_stubs.py.
import builtins
from typing import Literal, SupportsIndex

from flex._flex import Tensor, _Device, _DType, _Operand, _Shape
from flex._transforms import dctn as dctn
from flex._transforms import dst as dst
from flex._transforms import dstn as dstn
from flex._transforms import idctn as idctn
from flex._transforms import idst as idst
from flex._transforms import idstn as idstn

def dct(x: _Operand, /, type: Literal[1, 2, 3, 4] = 2, n: SupportsIndex | None = None, axis: SupportsIndex = -1, norm: Literal["backward", "ortho", "forward"] = 'backward', *, orthogonalize: builtins.bool | None = None) -> Tensor:
    """The discrete cosine transform of real numbers along an axis.

    type: 2, for 2 sum x[j] cos(pi k (2 j + 1) / (2 n));
    3, for x[0] + 2 sum x[j] cos(pi (2 k + 1) j / (2 n)) with j from 1, the inverse of 2 up to
    a factor; 4, for 2 sum x[j] cos(pi (2 k + 1) (2 j + 1) / (4 n));
    or 1, for x[0] + (-1)^k x[n - 1] + 2 sum x[j] cos(pi j k / (n - 1)) over the other j, where
    n is at least 2. norm: which transform is divided by 2 n (2 n - 2 for type 1): the inverse
    ("backward"), this one ("forward"), or both by its square root ("ortho"), which also scales
    the first element (and the last, for type 1) so that the transform is orthogonal.
    orthogonalize: whether these elements are scaled with any norm, or with none. Defined
    like scipy.fft.dct. The result is float32 or float64; other arguments and errors are those
    of `rfft`, and ValueError for another type.

    >>> flex.fft.dct(flex.asarray([1.0, 1.0, 1.0, 1.0])).tolist()
    [8.0, 0.0, 0.0, 0.0]
    """
def fft(x: _Operand, /, n: SupportsIndex | None = None, axis: SupportsIndex = -1, norm: Literal["backward", "ortho", "forward"] = 'backward') -> Tensor:
    """The discrete Fourier transform along an axis.

    Element k of the result is the sum over j of x[j] exp(-2 pi i j k / n). n: the length that
    the axis is truncated or zero-padded to, by default its own. Any length is fast, products of
    2, 3, 5, 7, 11 and 13 the most (Stockham's algorithm, in batches with primes up to 31;
    Bluestein's for others). norm: which transform is divided by n: the inverse ("backward"),
    this one ("forward"), or both by sqrt(n) ("ortho").

    The result is complex64 for float32 and complex64, complex128 for float64 and complex128.
    float16 and bfloat16 are computed in float32; integers and bool become float32, flex's
    default, where NumPy uses float64. ValueError for a length of 0; AxisError if the axis is
    out of range; DTypeError for float8.

    >>> flex.fft.fft(flex.asarray([1.0, 2.0, 3.0, 4.0])).tolist()
    [(10+0j), (-2+2j), (-2+0j), (-2-2j)]
    """
def fft2(x: _Operand, /, s: _Shape | None = None, axes: _Shape | None = (-2, -1), norm: Literal["backward", "ortho", "forward"] = 'backward') -> Tensor:
    """`fftn` along the last two axes by default.

    >>> flex.fft.fft2(flex.ones((2, 2))).tolist()
    [[(4+0j), 0j], [0j, 0j]]
    """
def fftfreq(n: SupportsIndex, /, d: float = 1.0, *, dtype: _DType | None = None, device: _Device | None = None) -> Tensor:
    """The frequencies of the elements of `fft`.

    0, 1, .. and then -(n // 2), .., -1, each divided by n d. d: the sample spacing. dtype:
    float32 by default, or float64. ValueError if n is less than 1, or d is 0 or not
    finite; DTypeError for other dtypes.

    >>> flex.fft.fftfreq(4, d=0.25).tolist()
    [0.0, 1.0, -2.0, -1.0]
    """
def fftn(x: _Operand, /, s: _Shape | None = None, axes: _Shape | None = None, norm: Literal["backward", "ortho", "forward"] = 'backward') -> Tensor:
    """The discrete Fourier transform along several axes, one after the other.

    s: the lengths along the axes, by default their own. axes: by default all, or the last
    len(s). norm, dtypes and other errors are those of `fft`; ValueError if s and axes differ in
    length, AxisError if an axis is repeated.

    >>> flex.fft.fftn(flex.asarray([[1.0, 2.0], [3.0, 4.0]])).tolist()
    [[(10+0j), (-2+0j)], [(-4+0j), 0j]]
    """
def fftshift(x: _Operand, /, axes: _Shape | None = None) -> Tensor:
    """Shifts frequency 0 to the middle of the axes.

    x: any dtype. axes: by default all. AxisError if one is out of range or repeated.

    >>> flex.fft.fftshift(flex.fft.fftfreq(5, d=0.2)).tolist()
    [-2.0, -1.0, 0.0, 1.0, 2.0]
    """
def hfft(x: _Operand, /, n: SupportsIndex | None = None, axis: SupportsIndex = -1, norm: Literal["backward", "ortho", "forward"] = 'backward') -> Tensor:
    """The transform of a Hermitian-symmetric signal, whose spectrum is real.

    x: the first half of the signal; the rest is its conjugate, reversed. n: the length of the
    result, by default 2 (m - 1). The result is float32 or float64. Other arguments and errors
    are those of `fft`.

    >>> flex.fft.hfft(flex.asarray([1.0, 2.0, 3.0])).tolist()
    [8.0, -2.0, 0.0, -2.0]
    """
def idct(x: _Operand, /, type: Literal[1, 2, 3, 4] = 2, n: SupportsIndex | None = None, axis: SupportsIndex = -1, norm: Literal["backward", "ortho", "forward"] = 'backward', *, orthogonalize: builtins.bool | None = None) -> Tensor:
    """The inverse of `dct` of the same type, with its arguments, dtypes and errors.

    >>> flex.fft.idct(flex.asarray([8.0, 0.0, 0.0, 0.0])).tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
def ifft(x: _Operand, /, n: SupportsIndex | None = None, axis: SupportsIndex = -1, norm: Literal["backward", "ortho", "forward"] = 'backward') -> Tensor:
    """The inverse discrete Fourier transform along an axis.

    Element j of the result is the sum over k of x[k] exp(2 pi i j k / n), by default divided by
    n. Arguments, dtypes and errors are those of `fft`.

    >>> flex.fft.ifft(flex.asarray([10, -2+2j, -2, -2-2j])).tolist()
    [(1+0j), (2+0j), (3+0j), (4+0j)]
    """
def ifft2(x: _Operand, /, s: _Shape | None = None, axes: _Shape | None = (-2, -1), norm: Literal["backward", "ortho", "forward"] = 'backward') -> Tensor:
    """`ifftn` along the last two axes by default.

    >>> flex.fft.ifft2(flex.ones((2, 2))).real.tolist()
    [[1.0, 0.0], [0.0, 0.0]]
    """
def ifftn(x: _Operand, /, s: _Shape | None = None, axes: _Shape | None = None, norm: Literal["backward", "ortho", "forward"] = 'backward') -> Tensor:
    """The inverse of `fftn`, with its arguments, dtypes and errors.

    >>> flex.fft.ifftn(flex.asarray([[10.0, -2.0], [-4.0, 0.0]])).real.tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    """
def ifftshift(x: _Operand, /, axes: _Shape | None = None) -> Tensor:
    """The inverse of `fftshift`, with its arguments and errors.

    >>> flex.fft.ifftshift(flex.asarray([-2, -1, 0, 1, 2])).tolist()
    [0, 1, 2, -2, -1]
    """
def ihfft(x: _Operand, /, n: SupportsIndex | None = None, axis: SupportsIndex = -1, norm: Literal["backward", "ortho", "forward"] = 'backward') -> Tensor:
    """The inverse of `hfft`: the first half of a Hermitian-symmetric signal, from its real
    spectrum.

    Arguments, dtypes and errors are those of `rfft`.

    >>> flex.fft.ihfft(flex.asarray([8.0, -2.0, 0.0, -2.0])).real.tolist()
    [1.0, 2.0, 3.0]
    """
def irfft(x: _Operand, /, n: SupportsIndex | None = None, axis: SupportsIndex = -1, norm: Literal["backward", "ortho", "forward"] = 'backward') -> Tensor:
    """The inverse of `rfft`: real numbers from the first half of their spectrum.

    n: the number of real values, by default 2 (m - 1) for m elements along the axis, of which n
    // 2 + 1 are used. The imaginary part of the first, and for even n of the last, is ignored.
    The result is float32 or float64. Other arguments and errors are those of `fft`.

    >>> flex.fft.irfft(flex.asarray([0, -2j, 0])).tolist()
    [0.0, 1.0, 0.0, -1.0]
    """
def irfft2(x: _Operand, /, s: _Shape | None = None, axes: _Shape | None = (-2, -1), norm: Literal["backward", "ortho", "forward"] = 'backward') -> Tensor:
    """`irfftn` along the last two axes by default.

    >>> flex.fft.irfft2(flex.ones((2, 3, 5))).shape
    (2, 3, 8)
    """
def irfftn(x: _Operand, /, s: _Shape | None = None, axes: _Shape | None = None, norm: Literal["backward", "ortho", "forward"] = 'backward') -> Tensor:
    """The inverse of `rfftn`: real numbers from half of their spectrum.

    s: the lengths of the result, the last one by default 2 (m - 1) for m elements along the
    last axis. The result is float32 or float64. Other arguments and errors are those of `fftn`;
    ValueError for no axes.

    >>> x = flex.asarray([[1.0, 2.0], [3.0, 4.0]])
    >>> flex.fft.irfftn(flex.fft.rfftn(x)).tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    """
def next_fast_len(n: SupportsIndex, /) -> int:
    """The smallest length from n on with a fast transform: a power of two, or one times a small odd
    number.

    ValueError if n is negative.

    >>> flex.fft.next_fast_len(1025)
    1120
    """
def rfft(x: _Operand, /, n: SupportsIndex | None = None, axis: SupportsIndex = -1, norm: Literal["backward", "ortho", "forward"] = 'backward') -> Tensor:
    """The first half of the discrete Fourier transform of real numbers.

    Elements 0 to n // 2 of `fft`; the others are their conjugates in reverse. Arguments, dtypes
    and errors are those of `fft`; DTypeError for complex numbers.

    >>> flex.fft.rfft(flex.asarray([0.0, 1.0, 0.0, -1.0])).tolist()
    [0j, -2j, 0j]
    """
def rfft2(x: _Operand, /, s: _Shape | None = None, axes: _Shape | None = (-2, -1), norm: Literal["backward", "ortho", "forward"] = 'backward') -> Tensor:
    """`rfftn` along the last two axes by default.

    >>> flex.fft.rfft2(flex.ones((2, 3, 8))).shape
    (2, 3, 5)
    """
def rfftfreq(n: SupportsIndex, /, d: float = 1.0, *, dtype: _DType | None = None, device: _Device | None = None) -> Tensor:
    """The frequencies of the elements of `rfft`: 0 to n // 2, each divided by n d.

    Arguments and errors are those of `fftfreq`.

    >>> flex.fft.rfftfreq(4, d=0.25).tolist()
    [0.0, 1.0, 2.0]
    """
def rfftn(x: _Operand, /, s: _Shape | None = None, axes: _Shape | None = None, norm: Literal["backward", "ortho", "forward"] = 'backward') -> Tensor:
    """The discrete Fourier transform of real numbers along several axes, halved along the last of
    them.

    Arguments, dtypes and errors are those of `fftn`; DTypeError for complex numbers, ValueError
    for no axes.

    >>> flex.fft.rfftn(flex.ones((3, 8))).shape
    (3, 5)
    """

__all__ = [
    "dct",
    "dctn",
    "dst",
    "dstn",
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "idct",
    "idctn",
    "idst",
    "idstn",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfft2",
    "irfftn",
    "next_fast_len",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]
