# mypy: allow-redefinition
"""Windows: weights of samples, highest in the middle, by name and as functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flex import _flex as fx
from flex._functions._common import index
from flex._signals.slepian import sequences
from flex._signals.window_shapes import PARAMETERS, SHAPES, sampled

if TYPE_CHECKING:
    from flex._flex import Tensor, _DType, _Nested

# SciPy's other names of each
_ALIASES = {
    "barthann": "brthan bth",
    "bartlett": "bart brt",
    "blackman": "black blk",
    "blackmanharris": "blackharr bkh",
    "bohman": "bman bmn",
    "boxcar": "box ones rect rectangular",
    "chebwin": "cheb",
    "cosine": "halfcosine",
    "exponential": "poisson",
    "flattop": "flat flt",
    "gaussian": "gauss gss",
    "general_gaussian": "general_gauss ggs",
    "hamming": "hamm ham",
    "hann": "han",
    "kaiser": "ksr",
    "kaiser_bessel_derived": "kbd",
    "lanczos": "sinc",
    "nuttall": "nutl nut",
    "parzen": "parz par",
    "taylor": "taylorwin",
    "triang": "triangle tri",
    "tukey": "tuk",
}
_NAMES = {alias: name for name, several in _ALIASES.items() for alias in several.split()}


def get_window(window: Any, Nx: int, fftbins: bool = True) -> Tensor:
    """The window of Nx samples of this name, float64.

    window: "barthann", "bartlett", "blackman", "blackmanharris", "bohman", "boxcar", "cosine", "exponential", "flattop", "hamming", "hann",
    "lanczos", "nuttall", "parzen", "taylor", "triang" or "tukey", or another name that SciPy has for one; a tuple of a name and its
    parameters: ("chebwin", at), ("dpss", NW), ("exponential", center, tau), ("gaussian", std), ("general_cosine", weights),
    ("general_gaussian", p, sig), ("general_hamming", alpha), ("kaiser", beta), ("kaiser_bessel_derived", beta),
    ("taylor", nbar, sll, norm), ("tukey", alpha); or a number, the beta of "kaiser".
    fftbins: one period of a periodic window, as for spectral analysis; otherwise symmetric. A name that ends with "_periodic" or
    "_symmetric" says which itself. ValueError for another name or another number of parameters, and if Nx is not positive.

    >>> flex.signal.get_window("hann", 4).tolist()
    [0.0, 0.5, 1.0, 0.5]
    """
    n = index("get_window", "Nx", Nx)
    if n < 1:
        raise ValueError(f"get_window: Nx is {n}; it must be positive")
    if isinstance(window, str):
        name, parameters = window, ()
    elif isinstance(window, tuple) and window:
        name, parameters = window[0], window[1:]
    else:
        name, parameters = "kaiser", (float(window),)
    sym = not fftbins
    if isinstance(name, str):
        plain = name.removesuffix("_symmetric").removesuffix("_periodic")
        sym = name.endswith("_symmetric") if plain != name else sym
        plain = plain.replace(" ", "_")
        name = _NAMES.get(plain, plain)
    if name not in SHAPES:
        names = ", ".join(map(repr, SHAPES))
        raise ValueError(f"get_window: window is {name!r}; it is one of {names}")
    least, most = PARAMETERS.get(name, (0, 0))
    if not least <= len(parameters) <= most:
        has = least if least == most else f"{least} to {most}"
        raise ValueError(f"get_window: {name!r} with {len(parameters)} parameters; it has {has}")
    return sampled(name, n, sym, *parameters)


def _samples(op: str, M: Any) -> int:
    n = index(op, "M", M)
    if n < 0:
        raise ValueError(f"{op}: M is {n}; it must not be negative")
    return n


def _converted(op: str, w: Tensor, dtype: Any) -> Tensor:
    dtype = fx.get_default_dtype() if dtype is None else fx.empty(0, dtype=dtype).dtype
    if dtype not in (fx.float32, fx.float64):
        raise fx.DTypeError(f"{op}: not defined for {dtype}; write dtype=float32 or float64")
    return w.astype(dtype)


def _window(op: str, M: Any, sym: bool, dtype: Any, *parameters: Any) -> Tensor:
    return _converted(op, sampled(op, _samples(op, M), sym, *parameters), dtype)


def chebwin(M: int, at: float, sym: bool = True, *, dtype: _DType | None = None) -> Tensor:
    """The Dolph-Chebyshev window of M samples: of those whose side lobes are at dB below the main lobe, the one whose main lobe is
    narrowest.

    at: positive or negative, to the same effect. sym: symmetric, as for filter design; False for one period of a periodic window, as for
    spectral analysis. dtype: float32 by default, or float64 (DTypeError for others). ValueError if M is negative.

    >>> flex.signal.chebwin(5, 100.0)[2].item()
    1.0
    """
    return _window("chebwin", M, sym, dtype, at)


def dpss(
    M: int,
    NW: float,
    Kmax: int | None = None,
    sym: bool = True,
    norm: int | str | None = None,
    return_ratios: bool = False,
    *,
    dtype: _DType | None = None,
) -> Any:
    """Slepian's sequences of M samples, whose energy lies as far as possible within NW / M of frequency 0, in cycles per sample.

    NW: positive and below M / 2. Kmax: how many sequences, `[Kmax, M]`, the best first; with None the best alone, `[M]`. norm: 2 for
    length 1, the default if there is Kmax; "approximate" or "subsample" for a maximum of 1, between samples if M is even.
    return_ratios: also the part of each sequence's energy that lies there. Other arguments and errors are those of `chebwin`;
    ValueError for NW and Kmax out of range, and another norm.

    >>> windows, ratios = flex.signal.dpss(64, 4, 3, return_ratios=True)
    >>> windows.shape, (ratios > 0.999).all().item()
    ((3, 64), True)
    """
    n = _samples("dpss", M)
    norm = ("approximate" if Kmax is None else 2) if norm is None else norm
    if norm not in (2, "approximate", "subsample"):
        raise ValueError(f"dpss: norm is {norm!r}; it is 2, 'approximate' or 'subsample'")
    many = 1 if Kmax is None else index("dpss", "Kmax", Kmax)
    w, ratios = fx.ones((1, n), dtype=fx.float64), fx.ones(1, dtype=fx.float64)
    if n > 1:
        if not 0 < many <= n:
            raise ValueError(f"dpss: Kmax is {many}; it must be from 1 to {n}")
        w, ratios = sequences(n + (not sym), float(NW), many, norm)
        w = w[:, :n]
    w, ratios = (_converted("dpss", x, dtype) for x in (w, ratios))
    w, ratios = (w[0], ratios[0]) if Kmax is None else (w, ratios)
    return (w.copy(), ratios.copy()) if return_ratios else w.copy()


def barthann(M: int, sym: bool = True, *, dtype: _DType | None = None) -> Tensor:
    """The Bartlett-Hann window of M samples, a triangle and a cosine added. Other arguments and errors are those of `chebwin`.

    >>> flex.signal.barthann(5)[2].item()
    1.0
    """
    return _window("barthann", M, sym, dtype)


def bartlett(M: int, sym: bool = True, *, dtype: _DType | None = None) -> Tensor:
    """The Bartlett window of M samples, a triangle whose ends are 0. Other arguments and errors are those of `chebwin`.

    >>> flex.signal.bartlett(5).tolist()
    [0.0, 0.5, 1.0, 0.5, 0.0]
    """
    return _window("bartlett", M, sym, dtype)


def blackmanharris(M: int, sym: bool = True, *, dtype: _DType | None = None) -> Tensor:
    """The Blackman-Harris window of M samples, a sum of four cosines. Other arguments and errors are those of `chebwin`.

    >>> flex.signal.blackmanharris(5)[2].item()
    1.0
    """
    return _window("blackmanharris", M, sym, dtype)


def bohman(M: int, sym: bool = True, *, dtype: _DType | None = None) -> Tensor:
    """The Bohman window of M samples, the convolution of two half periods of a cosine. Other arguments and errors are those of `chebwin`.

    >>> flex.signal.bohman(5)[2].item()
    1.0
    """
    return _window("bohman", M, sym, dtype)


def boxcar(M: int, sym: bool = True, *, dtype: _DType | None = None) -> Tensor:
    """The rectangular window of M samples, all ones. Other arguments and errors are those of `chebwin`.

    >>> flex.signal.boxcar(3).tolist()
    [1.0, 1.0, 1.0]
    """
    return _window("boxcar", M, sym, dtype)


def cosine(M: int, sym: bool = True, *, dtype: _DType | None = None) -> Tensor:
    """The cosine window of M samples, half a period of a sine. Other arguments and errors are those of `chebwin`.

    >>> flex.signal.cosine(5)[2].item()
    1.0
    """
    return _window("cosine", M, sym, dtype)


def exponential(
    M: int,
    center: float | None = None,
    tau: float = 1.0,
    sym: bool = True,
    *,
    dtype: _DType | None = None,
) -> Tensor:
    """The exponential window of M samples: `exp(-abs(n - center) / tau)`.

    center: the middle by default. Other arguments and errors are those of `chebwin`.

    >>> flex.signal.exponential(3)[1].item()
    1.0
    """
    return _window("exponential", M, sym, dtype, center, tau)


def flattop(M: int, sym: bool = True, *, dtype: _DType | None = None) -> Tensor:
    """The flat-top window of M samples, a sum of five cosines, for measuring amplitudes. Other arguments and errors are those of `chebwin`.

    >>> flex.signal.flattop(5).argmax().item()
    2
    """
    return _window("flattop", M, sym, dtype)


def general_cosine(M: int, a: _Nested, sym: bool = True, *, dtype: _DType | None = None) -> Tensor:
    """The window of M samples that is a sum of cosines: of `a[k] cos(k x)` for x from -pi to pi.

    a: the weights, one dimension (ShapeError). Other arguments and errors are those of `chebwin`.

    >>> flex.signal.general_cosine(5, [0.5, 0.5])[2].item()
    1.0
    """
    return _window("general_cosine", M, sym, dtype, a)


def general_gaussian(
    M: int, p: float, sig: float, sym: bool = True, *, dtype: _DType | None = None
) -> Tensor:
    """The generalised Gaussian window of M samples: `exp(-abs(n / sig) ** (2 p) / 2)`, n samples from the middle.

    Other arguments and errors are those of `chebwin`.

    >>> flex.signal.general_gaussian(5, 1.5, 3.0)[2].item()
    1.0
    """
    return _window("general_gaussian", M, sym, dtype, p, sig)


def general_hamming(
    M: int, alpha: float, sym: bool = True, *, dtype: _DType | None = None
) -> Tensor:
    """The generalised Hamming window of M samples: `alpha + (1 - alpha) cos(x)` for x from -pi to pi.

    Other arguments and errors are those of `chebwin`.

    >>> flex.signal.general_hamming(5, 0.5).tolist()
    [0.0, 0.5, 1.0, 0.5, 0.0]
    """
    return _window("general_hamming", M, sym, dtype, alpha)


def kaiser_bessel_derived(
    M: int, beta: float, *, sym: bool = True, dtype: _DType | None = None
) -> Tensor:
    """The Kaiser-Bessel derived window of M samples, whose squares and those of its other half sum to 1, as the modified discrete
    cosine transform needs.

    beta: of the Kaiser window that it sums. Other arguments and errors are those of `chebwin`; ValueError for an odd M, and unless sym.

    >>> flex.signal.kaiser_bessel_derived(4, 2.0).square()[:2].sum().round().item()
    1.0
    """
    if not sym:
        raise ValueError("kaiser_bessel_derived: sym is False; the window is symmetric")
    return _window("kaiser_bessel_derived", M, sym, dtype, beta)


def lanczos(M: int, sym: bool = True, *, dtype: _DType | None = None) -> Tensor:
    """The Lanczos window of M samples, the main lobe of a sinc. Other arguments and errors are those of `chebwin`.

    >>> flex.signal.lanczos(5)[2].item()
    1.0
    """
    return _window("lanczos", M, sym, dtype)


def nuttall(M: int, sym: bool = True, *, dtype: _DType | None = None) -> Tensor:
    """The Nuttall window of M samples, a sum of four cosines. Other arguments and errors are those of `chebwin`.

    >>> flex.signal.nuttall(5)[2].item()
    1.0
    """
    return _window("nuttall", M, sym, dtype)


def parzen(M: int, sym: bool = True, *, dtype: _DType | None = None) -> Tensor:
    """The Parzen window of M samples, a cubic spline. Other arguments and errors are those of `chebwin`.

    >>> flex.signal.parzen(5)[2].item()
    1.0
    """
    return _window("parzen", M, sym, dtype)


def taylor(
    M: int,
    nbar: int = 4,
    sll: float = 30.0,
    norm: bool = True,
    sym: bool = True,
    *,
    dtype: _DType | None = None,
) -> Tensor:
    """The Taylor window of M samples, whose first side lobes, nbar - 1 of them, are about sll dB below the main lobe.

    nbar: from 1 to 1000 (ValueError). norm: divide by the value in the middle, between two samples if M is even. Other arguments and
    errors are those of `chebwin`.

    >>> flex.signal.taylor(5)[2].item()
    1.0
    """
    return _window("taylor", M, sym, dtype, nbar, sll, norm)


def triang(M: int, sym: bool = True, *, dtype: _DType | None = None) -> Tensor:
    """The triangular window of M samples, whose ends are not 0. Other arguments and errors are those of `chebwin`.

    >>> flex.signal.triang(3).tolist()
    [0.5, 1.0, 0.5]
    """
    return _window("triang", M, sym, dtype)


def tukey(M: int, alpha: float = 0.5, sym: bool = True, *, dtype: _DType | None = None) -> Tensor:
    """The Tukey window of M samples: ones, of which the part alpha falls off like a cosine at the ends.

    alpha: 0 for ones, 1 for the Hann window. Other arguments and errors are those of `chebwin`.

    >>> flex.signal.tukey(5, 1.0).tolist()
    [0.0, 0.5, 1.0, 0.5, 0.0]
    """
    return _window("tukey", M, sym, dtype, alpha)
