# mypy: allow-redefinition
"""Windows: weights of samples, highest in the middle. Computed in float64, as scipy.signal.windows defines them."""

from __future__ import annotations

import math
from math import pi, prod
from typing import TYPE_CHECKING, Any

from flex import _flex as fx
from flex._functions._common import exact, index, vector
from flex._functions.elementwise import sinc

if TYPE_CHECKING:
    from flex._flex import Tensor, _DType, _Nested


def _phase(n: int) -> Tensor:
    """From 0 to 1 over a symmetric window."""
    return fx.arange(n, dtype=fx.float64) / max(n - 1, 1)


def _cosines(n: int, *a: float) -> Tensor:
    x = _phase(n) * (2 * pi) - pi
    terms = (fx.cos(x * k) * c for k, c in enumerate(a))
    return sum(terms, start=fx.zeros(n, dtype=fx.float64))


def _of_cosines(*a: float) -> Any:
    return lambda n: _cosines(n, *a)


def _weighted(n: int, a: Any) -> Tensor:
    return _cosines(n, *vector("general_cosine", "a", exact(a)).tolist())


def _triangle(n: int) -> Tensor:
    k = fx.arange(1, n + 1, dtype=fx.float64)
    k = fx.minimum(k, n + 1 - k)
    return k * 2 / (n + 1) if n % 2 else (k * 2 - 1) / n


def _bohman(n: int) -> Tensor:
    x = fx.abs(2 * _phase(n) - 1)
    inner = (1 - x) * fx.cos(x * pi) + fx.sin(x * pi) / pi
    return fx.where(x == 1, 0.0, inner)


def _away(n: int, center: float | None = None) -> Tensor:
    """The distances of samples from one, the middle by default."""
    return fx.abs(fx.arange(n, dtype=fx.float64) - ((n - 1) / 2 if center is None else center))


def _parzen(n: int) -> Tensor:
    x = _away(n) / (n / 2)
    return fx.where(x <= 0.5, 1 - 6 * x * x + 6 * x**3, 2 * (1 - x) ** 3)


def _exponential(n: int, center: float | None = None, tau: float = 1.0) -> Tensor:
    return fx.exp(-_away(n, center) / tau)


def _tukey(n: int, alpha: float = 0.5) -> Tensor:
    if alpha <= 0:
        return fx.ones(n, dtype=fx.float64)
    x = fx.minimum(_phase(n), 1 - _phase(n)) / (min(alpha, 1.0) / 2)
    return fx.where(x < 1, (1 - fx.cos(fx.minimum(x, 1.0) * pi)) / 2, 1.0)


def _chebyshev(n: int, at: float) -> Tensor:
    order = n - 1
    edge = math.cosh(math.acosh(10 ** (abs(at) / 20)) / order)
    x = edge * fx.cos(fx.arange(n, dtype=fx.float64) * (pi / n))
    # the polynomial of Chebyshev beyond 1 and within
    far = fx.cosh(order * fx.acosh(fx.maximum(fx.abs(x), 1.0)))
    far = fx.where((x < 0) & (order % 2 == 1), -far, far)
    near = fx.cos(order * fx.acos(fx.clip(x, -1.0, 1.0)))
    spectrum = fx.where(fx.abs(x) > 1, far, near).astype(fx.complex128)
    if n % 2 == 0:
        spectrum = spectrum * fx.exp(fx.arange(n, dtype=fx.float64) * (1j * pi / n))
    half = fx.real(fx._fft.fft(spectrum))[1 - n % 2 : n // 2 + 1]
    w = fx.concat([fx.flip(half), half[n % 2 :]])
    return w / fx.max(w)


def _taylor(n: int, nbar: int = 4, sll: float = 30.0, norm: bool = True) -> Tensor:
    nbar = index("taylor", "nbar", nbar)
    if not 0 < nbar <= 1000:
        raise ValueError(f"taylor: nbar is {nbar}; it must be from 1 to 1000")
    a = math.acosh(10 ** (sll / 20)) / pi
    scale = nbar**2 / (a * a + (nbar - 0.5) ** 2)
    terms = range(1, nbar)
    x = (fx.arange(n, dtype=fx.float64) - (n - 1) / 2) * (2 * pi / n)
    w: Any = fx.ones(n, dtype=fx.float64)
    peak = 1.0
    for m in terms:
        above = prod(1 - m * m / scale / (a * a + (k - 0.5) ** 2) for k in terms)
        below = prod(1 - m * m / (k * k) for k in terms if k != m)
        factor = (1 if m % 2 else -1) * above / below
        w, peak = w + fx.cos(x * m) * factor, peak + factor
    return w / peak if norm else w


def _derived(n: int, beta: float) -> Tensor:
    if n % 2:
        raise ValueError(f"kaiser_bessel_derived: M is {n}; it must be even")
    sums = fx.cumulative_sum(fx._signal.kaiser(n // 2 + 1, beta, dtype=fx.float64))
    half = fx.sqrt(sums[:-1] / sums[-1])
    return fx.concat([half, fx.flip(half)])


# ---- Slepian's sequences


def _eigenvalue(d: list[float], e: list[float], k: int, low: float, high: float) -> float:
    """The k-th largest eigenvalue, from 0 on, of a symmetric tridiagonal matrix, by bisection: Sturm's sequence counts those below x."""
    squares, rank = [0.0, *(x * x for x in e)], len(d) - 1 - k
    while low < (x := (low + high) / 2) < high:
        below, q = 0, 1.0
        for a, square in zip(d, squares, strict=True):
            q = a - x - square / (q or 1e-300)
            below += q < 0
        low, high = (low, x) if below > rank else (x, high)
    return low


def _eigenvector(d: list[float], e: list[float], value: float) -> list[float]:
    """The eigenvector of an eigenvalue, of length 1: by factors from both ends, which meet where the residual is least."""

    def pivots(d: list[float], e: list[float]) -> list[float]:
        found = [d[0] - value]
        for a, b in zip(d[1:], e, strict=True):
            found.append(a - value - b * b / (found[-1] or tiny))
        return found

    tiny = 2.0**-52 * max(map(abs, d))
    n = len(d)
    down, up = pivots(d, e), pivots(d[::-1], e[::-1])[::-1]
    meet = min(range(n), key=lambda k: abs(down[k] + up[k] - (d[k] - value)))
    z = [1.0] * n
    for k in range(meet - 1, -1, -1):
        z[k] = -e[k] / (down[k] or tiny) * z[k + 1]
    for k in range(meet, n - 1):
        z[k + 1] = -e[k] / (up[k + 1] or tiny) * z[k]
    length = math.sqrt(math.fsum(x * x for x in z))
    return [x / length for x in z]


def _slepian(n: int, nw: float, many: int, norm: int | str) -> tuple[Tensor, Tensor]:
    """Sequences, and the parts of their energy in the band: those of a tridiagonal matrix (Percival and Walden, 1993)."""
    if not 0 < nw < n / 2:
        raise ValueError(f"dpss: NW is {nw}; it must be above 0 and below {n / 2}")
    t = fx.arange(n, dtype=fx.float64)
    d = (((n - 1) / 2 - t) ** 2 * math.cos(2 * pi * nw / n)).tolist()
    e = (t[1:] * (n - t[1:]) / 2).tolist()
    low = min(d) - n * n / 4
    high = max(d) + n * n / 4
    rows = []
    for k in range(many):
        high = _eigenvalue(d, e, k, low, high)
        row = _eigenvector(d, e, high)
        # even ones have a positive sum, odd ones begin with a positive lobe
        lobe = (x for x in row if x * x > max(1e-7, 1 / n))
        first = next(lobe, row[0]) if k % 2 else math.fsum(row)
        rows.append([-x for x in row] if first < 0 else row)
    w = fx.asarray(rows, dtype=fx.float64)
    # sums of squares over the band, as those of the autocorrelation
    band = 2 * nw / n * sinc(2 * nw / n * t)
    length = fx._fft.next_fast_len(2 * n - 1)
    squares = fx.abs(fx._fft.rfft(w, length)) ** 2
    sums = fx._fft.irfft(squares.astype(fx.complex128), length)[:, :n]
    ratios = 2 * fx.matmul(sums, band) - sums[:, 0] * band[0]
    if norm == 2:
        return w, ratios
    w = w / fx.max(w)
    if n % 2 == 0 and norm == "approximate":
        w = w * (n * n / (n * n + nw))
    elif n % 2 == 0:
        # the value between the two middle samples, by the transform
        k = fx.arange(1, n // 2 + 1, dtype=fx.float64)
        turned = fx._fft.rfft(w[0])[1:] * fx.exp(k * (1j * pi * (1 - 1 / n)))
        w = w * (n / (fx.sum(w[0]) + 2 * fx.sum(fx.real(turned))))
    return w, ratios


# ---- windows by name


_WINDOWS: dict[str, Any] = {
    "barthann": lambda n: (
        0.62 - 0.48 * fx.abs(_phase(n) - 0.5) + 0.38 * fx.cos((_phase(n) - 0.5) * (2 * pi))
    ),
    "bartlett": lambda n: 1 - fx.abs(2 * _phase(n) - 1),
    "blackman": _of_cosines(0.42, 0.5, 0.08),
    "blackmanharris": _of_cosines(0.35875, 0.48829, 0.14128, 0.01168),
    "bohman": _bohman,
    "boxcar": lambda n: fx.ones(n, dtype=fx.float64),
    "chebwin": _chebyshev,
    "cosine": lambda n: fx.sin((fx.arange(n, dtype=fx.float64) + 0.5) * (pi / n)),
    "dpss": lambda n, NW: _slepian(n, NW, 1, "approximate")[0][0],
    "exponential": _exponential,
    "flattop": _of_cosines(0.21557895, 0.41663158, 0.277263158, 0.083578947, 0.006947368),
    "gaussian": lambda n, std: fx._signal.gaussian(n, std, dtype=fx.float64),
    "general_cosine": _weighted,
    "general_gaussian": lambda n, p, sig: fx.exp(-0.5 * fx.abs(_away(n) / sig) ** (2 * p)),
    "general_hamming": lambda n, alpha: _cosines(n, alpha, 1 - alpha),
    "hamming": _of_cosines(0.54, 0.46),
    "hann": _of_cosines(0.5, 0.5),
    "kaiser": lambda n, beta: fx._signal.kaiser(n, beta, dtype=fx.float64),
    "kaiser_bessel_derived": _derived,
    "lanczos": lambda n: sinc(2 * _phase(n) - 1),
    "nuttall": _of_cosines(0.3635819, 0.4891775, 0.1365995, 0.0106411),
    "parzen": _parzen,
    "taylor": _taylor,
    "triang": _triangle,
    "tukey": _tukey,
}
# the least and the most parameters of those that have some
_PARAMETERS = {
    "chebwin": (1, 1),
    "dpss": (1, 1),
    "exponential": (0, 2),
    "gaussian": (1, 1),
    "general_cosine": (1, 1),
    "general_gaussian": (2, 2),
    "general_hamming": (1, 1),
    "kaiser": (1, 1),
    "kaiser_bessel_derived": (1, 1),
    "taylor": (0, 3),
    "tukey": (0, 1),
}
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


def _sampled(name: str, n: int, sym: bool, *parameters: Any) -> Tensor:
    """The symmetric window, or one period of a periodic one."""
    if n <= 1:
        return fx.ones(n, dtype=fx.float64)
    if sym or name == "boxcar":
        whole: Tensor = _WINDOWS[name](n, *parameters)
        return whole
    period: Tensor = _WINDOWS[name](n + 1, *parameters)
    return period[:-1].copy()


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
    if name not in _WINDOWS:
        names = ", ".join(map(repr, _WINDOWS))
        raise ValueError(f"get_window: window is {name!r}; it is one of {names}")
    least, most = _PARAMETERS.get(name, (0, 0))
    if not least <= len(parameters) <= most:
        has = least if least == most else f"{least} to {most}"
        raise ValueError(f"get_window: {name!r} with {len(parameters)} parameters; it has {has}")
    return _sampled(name, n, sym, *parameters)


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
    return _converted(op, _sampled(op, _samples(op, M), sym, *parameters), dtype)


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
        w, ratios = _slepian(n + (not sym), float(NW), many, norm)
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
