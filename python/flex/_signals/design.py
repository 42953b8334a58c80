# mypy: allow-redefinition
"""The design of filters. Coefficients are float64, which recursive filters need."""

from __future__ import annotations

import cmath
import math
from itertools import pairwise
from math import pi, prod
from typing import TYPE_CHECKING, Any

from flex import _flex as fx
from flex._functions._common import exact, index, vector
from flex._functions.elementwise import sinc
from flex._signals.filtering import _sos
from flex._signals.windows import get_window

if TYPE_CHECKING:
    from flex._flex import Tensor, _Nested

Zpk = tuple[list[complex], list[complex], float]


def _doubles(x: Any) -> Tensor:
    return fx.asarray(x, dtype=fx.float64)


# ---- recursive filters, from zeros and poles of an analogue prototype


def _butterworth(n: int) -> Zpk:
    return [], [-cmath.exp(1j * pi * m / (2 * n)) for m in range(-n + 1, n, 2)], 1.0


def _chebyshev(n: int, ripple: float) -> Zpk:
    if n == 0:
        return [], [], 10 ** (-ripple / 20)
    eps = math.sqrt(10 ** (0.1 * ripple) - 1)
    mu = math.asinh(1 / eps) / n
    poles = [-cmath.sinh(mu + 1j * pi * m / (2 * n)) for m in range(-n + 1, n, 2)]
    gain = prod((-p for p in poles), start=1 + 0j).real
    return [], poles, gain if n % 2 else gain / math.sqrt(1 + eps * eps)


def _chebyshev2(n: int, stop: float) -> Zpk:
    eps = 1 / math.sqrt(10 ** (0.1 * stop) - 1)
    mu = math.asinh(1 / eps) / max(n, 1)
    steps = range(-n + 1, n, 2)
    zeros = [1j / math.sin(pi * m / (2 * n)) for m in steps if m]
    poles = [-1 / cmath.sinh(mu + 1j * pi * m / (2 * n)) for m in steps]
    return zeros, poles, (_product(-p for p in poles) / _product(-z for z in zeros)).real


def _product(factors: Any) -> complex:
    return prod(factors, start=1 + 0j)


def _moved(zpk: Zpk, kind: str, edges: list[float]) -> Zpk:
    """The prototype of frequency 1 as a filter with these edges."""
    z, p, k = zpk
    degree = len(p) - len(z)
    if kind == "lowpass":
        return [x * edges[0] for x in z], [x * edges[0] for x in p], k * edges[0] ** degree
    gain = (_product(-x for x in z) / _product(-x for x in p)).real
    if kind == "highpass":
        return [edges[0] / x for x in z] + [0j] * degree, [edges[0] / x for x in p], k * gain
    width, centre = edges[1] - edges[0], math.sqrt(edges[0] * edges[1])

    def split(roots: list[complex]) -> list[complex]:
        turns = [cmath.sqrt(x * x - centre * centre) for x in roots]
        return [x + t for x, t in zip(roots, turns, strict=True)] + [
            x - t for x, t in zip(roots, turns, strict=True)
        ]

    if kind == "bandpass":
        z, p = ([x * width / 2 for x in roots] for roots in (z, p))
        return split(z) + [0j] * degree, split(p), k * width**degree
    z, p = ([width / 2 / x for x in roots] for roots in (z, p))
    return split(z) + [1j * centre] * degree + [-1j * centre] * degree, split(p), k * gain


def _bilinear(zpk: Zpk, rate: float) -> Zpk:
    z, p, k = zpk
    twice = 2 * rate
    gain = (_product(twice - x for x in z) / _product(twice - x for x in p)).real
    zeros = [(twice + x) / (twice - x) for x in z] + [-1 + 0j] * (len(p) - len(z))
    return zeros, [(twice + x) / (twice - x) for x in p], k * gain


def _polynomial(roots: list[complex]) -> list[complex]:
    c = [1 + 0j]
    for r in roots:
        c = [a - r * b for a, b in zip([*c, 0j], [0j, *c], strict=True)]
    return c


def _real_first_of_pairs(roots: list[complex]) -> list[complex]:
    """One of each pair of conjugates, then the real roots."""
    ordered = sorted(roots, key=lambda x: (x.real, abs(x.imag)))
    close = 100 * 2.0**-52
    real = [complex(x.real) for x in ordered if abs(x.imag) <= close * abs(x)]
    upper = [x for x in ordered if abs(x.imag) > close * abs(x) and x.imag > 0]
    return upper + real


def _sections(zpk: Zpk) -> list[list[float]]:
    """Sections of order two: poles nearest the unit circle last, with the zeros nearest to them."""
    z, p, k = list(zpk[0]), list(zpk[1]), zpk[2]
    if not z and not p:
        return [[k, 0.0, 0.0, 1.0, 0.0, 0.0]]
    size = max(len(z), len(p))
    size += size % 2
    z, p = (roots + [0j] * (size - len(roots)) for roots in (z, p))
    z, p = _real_first_of_pairs(z), _real_first_of_pairs(p)

    def is_real(x: complex) -> bool:
        return x.imag == 0

    def worst(poles: list[complex]) -> int:
        return min(range(len(poles)), key=lambda i: abs(1 - abs(poles[i])))

    def nearest(to: complex, real: bool | None = None) -> complex:
        fitting = [i for i, x in enumerate(z) if real is None or is_real(x) == real]
        return z.pop(min(fitting, key=lambda i: abs(z[i] - to)))

    sections: list[list[float]] = []
    for _ in range(size // 2):
        first = p.pop(worst(p))
        if is_real(first) and not any(map(is_real, p)):
            zeros, poles = [nearest(first, True), 0j], [first, 0j]
        elif (
            len(p) + 1 == len(z)
            and not is_real(first)
            and sum(map(is_real, p)) == 1
            and sum(map(is_real, z)) == 1
        ):
            zero = nearest(first, False)
            zeros, poles = [zero, zero.conjugate()], [first, first.conjugate()]
        else:
            second = first.conjugate()
            if is_real(first):
                real = [i for i, x in enumerate(p) if is_real(x)]
                second = p.pop(real[worst([p[i] for i in real])])
            zero = nearest(first)
            other = nearest(first, True) if is_real(zero) else zero.conjugate()
            zeros, poles = [zero, other], [first, second]
        b, a = ([c.real for c in _polynomial(roots)] for roots in (zeros, poles))
        sections.insert(0, [*b, *a])
    sections[0][:3] = [c * k for c in sections[0][:3]]
    return sections


_KINDS = {
    "low": "lowpass", "lp": "lowpass", "high": "highpass", "hp": "highpass", "band": "bandpass", "pass": "bandpass",
    "bp": "bandpass", "stop": "bandstop", "bs": "bandstop",
}  # fmt: skip


def _designed(
    op: str, prototype: Zpk, Wn: Any, btype: str, analog: bool, output: str, fs: float | None
) -> Any:
    kind = _KINDS.get(btype, btype)
    if kind not in _KINDS.values():
        raise ValueError(
            f"{op}: btype is {btype!r}; it is 'lowpass', 'highpass', 'bandpass' or 'bandstop'"
        )
    edges = fx.ravel(_doubles(Wn)).tolist()
    if len(edges) != (2 if kind.startswith("band") else 1):
        raise ValueError(
            f"{op}: Wn has {len(edges)} frequencies; {kind} has {'two' if 'band' in kind else 'one'}"
        )
    if fs is not None:
        if analog:
            raise ValueError(f"{op}: fs is of digital filters")
        edges = [2 * w / fs for w in edges]
    if not all(w > 0 for w in edges) or (not analog and not all(w < 1 for w in edges)):
        limit = "0" if analog else f"0 and {1 if fs is None else fs / 2}"
        raise ValueError(f"{op}: Wn must be {'above' if analog else 'between'} {limit}")
    if len(edges) == 2 and edges[0] >= edges[1]:
        raise ValueError(f"{op}: the frequencies of Wn must ascend")
    if not analog:
        edges = [4 * math.tan(pi * w / 2) for w in edges]
    zpk = _moved(prototype, kind, edges)
    zpk = zpk if analog else _bilinear(zpk, 2.0)
    if output == "zpk":
        z, p = (fx.asarray(x, dtype=fx.complex128) for x in zpk[:2])
        return z, p, zpk[2]
    if output == "sos":
        if analog:
            raise ValueError(f"{op}: sections are of digital filters")
        return _doubles(_sections(zpk))
    if output != "ba":
        raise ValueError(f"{op}: output is {output!r}; it is 'ba', 'zpk' or 'sos'")
    b, a = ([c.real for c in _polynomial(roots)] for roots in zpk[:2])
    return _doubles([c * zpk[2] for c in b]), _doubles(a)


def _order(op: str, N: Any) -> int:
    n = index(op, "N", N)
    if n < 0:
        raise ValueError(f"{op}: N is {n}; it must not be negative")
    if n > 500:
        raise ValueError(f"{op}: N is {n}; orders above 500 are beyond float64")
    return n


def butter(
    N: int,
    Wn: _Nested,
    btype: str = "low",
    analog: bool = False,
    output: str = "ba",
    fs: float | None = None,
) -> Any:
    """A Butterworth filter of order N.

    Wn: the frequency at which the gain is 1 / sqrt(2), or a pair of them for "bandpass" and "bandstop": as a part of half the sample
    rate, from 0 to 1; in units of fs if that is given; in radians a second if analog. output: "ba" for the coefficients of `lfilter`,
    "sos" for those of `sosfilt`, which are more accurate, "zpk" for zeros, poles and gain. Tensors are float64 and complex128. ValueError
    for other names, frequencies out of range, and a negative order.

    >>> b, a = flex.signal.butter(1, 0.5)
    >>> flex.round(b * 1000).tolist(), flex.round(a[0]).item()
    ([500.0, 500.0], 1.0)
    """
    return _designed("butter", _butterworth(_order("butter", N)), Wn, btype, analog, output, fs)


def cheby1(
    N: int,
    rp: float,
    Wn: _Nested,
    btype: str = "low",
    analog: bool = False,
    output: str = "ba",
    fs: float | None = None,
) -> Any:
    """A Chebyshev filter of type I of order N, with a ripple of rp decibels in the pass band, whose edges Wn are where the gain leaves it.

    Other arguments and errors are those of `butter`.

    >>> flex.signal.cheby1(4, 5, 0.2, output="sos").shape
    (2, 6)
    """
    prototype = _chebyshev(_order("cheby1", N), float(rp))
    return _designed("cheby1", prototype, Wn, btype, analog, output, fs)


def cheby2(
    N: int,
    rs: float,
    Wn: _Nested,
    btype: str = "low",
    analog: bool = False,
    output: str = "ba",
    fs: float | None = None,
) -> Any:
    """A Chebyshev filter of type II of order N, with rs decibels of attenuation in the stop band, positive (ValueError), whose edges Wn are
    where the gain reaches it.

    Other arguments and errors are those of `butter`.

    >>> flex.signal.cheby2(4, 40, 0.2, output="sos").shape
    (2, 6)
    """
    if not rs > 0:
        raise ValueError(f"cheby2: rs is {rs}; it must be positive")
    prototype = _chebyshev2(_order("cheby2", N), float(rs))
    return _designed("cheby2", prototype, Wn, btype, analog, output, fs)


def _notch(op: str, w0: float, Q: float, fs: float) -> tuple[float, float]:
    """The cosine of the frequency, and the gain of the part that remains."""
    w, q = 2 * pi * float(w0) / float(fs), float(Q)
    if not 0 < w < pi:
        raise ValueError(f"{op}: w0 is {w0}; it must be between 0 and {fs / 2}")
    if not q > 0:
        raise ValueError(f"{op}: Q is {Q}; it must be positive")
    return math.cos(w), 1 / (1 + math.tan(w / q / 2))


def iirnotch(w0: float, Q: float, fs: float = 2.0) -> tuple[Tensor, Tensor]:
    """The coefficients b and a of a filter of order two that stops the frequency w0 and a band around it of width `w0 / Q`, where the gain
    is 1 / sqrt(2); float64.

    fs: the sample rate, 2 by default. ValueError for w0 beyond half of it, and unless Q is positive.

    >>> b, a = flex.signal.iirnotch(0.5, 30)
    >>> flex.sum(b * flex.asarray([1.0, 0.0, -1.0])).item()
    0.0
    """
    cosine, gain = _notch("iirnotch", w0, Q, fs)
    middle = -2 * gain * cosine
    return _doubles([gain, middle, gain]), _doubles([1.0, middle, 2 * gain - 1])


def iirpeak(w0: float, Q: float, fs: float = 2.0) -> tuple[Tensor, Tensor]:
    """The coefficients b and a of a filter of order two that passes the frequency w0 and a band around it, as `iirnotch` stops them, with
    its arguments and errors.

    >>> b, a = flex.signal.iirpeak(0.5, 30)
    >>> flex.sum(b).item()
    0.0
    """
    cosine, gain = _notch("iirpeak", w0, Q, fs)
    return _doubles([1 - gain, 0.0, gain - 1]), _doubles([1.0, -2 * gain * cosine, 2 * gain - 1])


# ---- filters without recursion


def firwin(
    numtaps: int,
    cutoff: _Nested,
    *,
    width: float | None = None,
    window: Any = "hamming",
    pass_zero: bool | str = True,
    scale: bool = True,
    fs: float | None = None,
) -> Tensor:
    """The numtaps coefficients of a filter of linear phase, by windows; float64.

    cutoff: the edges of bands, ascending, from 0 to half of fs, which is 2 by default. pass_zero: whether the first band passes; "lowpass",
    "highpass", "bandpass" or "bandstop" says so too. width: of the transition, for a Kaiser window. scale: to a gain of 1 at the
    middle of a band that passes. ValueError for edges out of range, for an even number of coefficients if half the sample rate passes,
    and for other names.

    >>> flex.signal.firwin(3, 0.5, window="boxcar", scale=False)[1].item()
    0.5
    """
    half = (2.0 if fs is None else float(fs)) / 2
    edges = [w / half for w in fx.ravel(_doubles(cutoff)).tolist()]
    n = index("firwin", "numtaps", numtaps)
    if n < 1:
        raise ValueError(f"firwin: numtaps is {n}; it must be positive")
    if not edges or not all(0 < w < 1 for w in edges):
        raise ValueError(f"firwin: cutoff must be between 0 and {half}")
    if any(a >= b for a, b in pairwise(edges)):
        raise ValueError("firwin: the frequencies of cutoff must ascend")
    if width is not None:
        attenuation = 2.285 * (n - 1) * pi * (width / half) + 7.95
        window = ("kaiser", _kaiser_beta(attenuation))
    names = {"lowpass": True, "bandstop": True, "highpass": False, "bandpass": False}
    if isinstance(pass_zero, str):
        if pass_zero not in names:
            raise ValueError(f"firwin: pass_zero is {pass_zero!r}; it is one of {', '.join(names)}")
        if len(edges) < 2 and pass_zero.startswith("band"):
            raise ValueError(f"firwin: cutoff has one frequency; {pass_zero} has two or more")
        if len(edges) != 1 and not pass_zero.startswith("band"):
            raise ValueError(f"firwin: cutoff has {len(edges)} frequencies; {pass_zero} has one")
        pass_zero = names[pass_zero]
    passes_last = bool(len(edges) % 2) != bool(pass_zero)
    if passes_last and n % 2 == 0:
        raise ValueError("firwin: a filter that passes half the sample rate has an odd numtaps")
    bounds = [0.0] * bool(pass_zero) + edges + [1.0] * passes_last
    bands = list(zip(bounds[::2], bounds[1::2], strict=True))
    m = fx.arange(n, dtype=fx.float64) - (n - 1) / 2
    h = fx.zeros(n, dtype=fx.float64)
    for left, right in bands:
        h = h + sinc(m * right) * right - sinc(m * left) * left
    h = h * get_window(window, n, fftbins=False)
    if scale:
        left, right = bands[0]
        middle = 0.0 if left == 0 else 1.0 if right == 1 else (left + right) / 2
        h = h / fx.sum(h * fx.cos(m * (pi * middle)))
    return h


def _kaiser_beta(a: float) -> float:
    if a > 50:
        return 0.1102 * (a - 8.7)
    return 0.5842 * (a - 21) ** 0.4 + 0.07886 * (a - 21) if a > 21 else 0.0


def freqz(
    b: _Nested,
    a: _Nested = 1,
    worN: Any = 512,
    whole: bool = False,
    fs: float = 2 * pi,
    include_nyquist: bool = False,
) -> tuple[Tensor, Tensor]:
    """The frequency response of a digital filter: the frequencies, float64, and the response, complex128.

    b, a: coefficients as of `lfilter`. worN: a number of frequencies from 0 to half of fs, or to fs with whole, or the frequencies.
    include_nyquist: whether half of fs is the last. ShapeError for coefficients of more than one dimension; ValueError for a negative
    number.

    >>> w, h = flex.signal.freqz(flex.asarray([1.0, 1.0]), worN=2)
    >>> flex.abs(h)[0].item()
    2.0
    """
    b, a = (vector("freqz", name, fx.atleast_1d(exact(x))) for name, x in (("b", b), ("a", a)))
    try:
        n = index("freqz", "worN", 512 if worN is None else worN)
    except TypeError:
        w = fx.ravel(_doubles(worN))
    else:
        last = fs if whole else fs / 2
        w = fx.linspace(0.0, last, n, dtype=fx.float64, endpoint=include_nyquist and not whole)
    turn = fx.exp(w.astype(fx.complex128) * (-2j * pi / fs))

    def response(c: Tensor) -> Tensor:
        y = fx.zeros(w.shape, dtype=fx.complex128)
        for x in reversed(c.tolist()):
            y = y * turn + x
        return y

    return w, response(b) / response(a)


def freqz_sos(
    sos: _Nested, worN: Any = 512, whole: bool = False, fs: float = 2 * pi
) -> tuple[Tensor, Tensor]:
    """The frequency response of sections of order two, `[sections, 6]` (ShapeError), one after another: `freqz`, with its other arguments
    and errors. ValueError without sections.

    >>> w, h = flex.signal.freqz_sos([[1.0, 1.0, 0.0, 1.0, 0.0, 0.0]], worN=2)
    >>> flex.abs(h)[0].item()
    2.0
    """
    sos = _sos("freqz_sos", sos)
    if not sos.shape[0]:
        raise ValueError("freqz_sos: sos has no sections")
    found = [freqz(row[:3], row[3:], worN, whole, fs) for row in fx.unstack(sos)]
    return found[0][0], prod((h for _, h in found[1:]), start=found[0][1])
