# mypy: allow-redefinition
"""The shapes of windows, as scipy.signal.windows defines them, in float64."""

from __future__ import annotations

import math
from math import pi, prod
from typing import TYPE_CHECKING, Any

from flex import _flex as fx
from flex._functions._common import exact, index, vector
from flex._functions.elementwise import sinc
from flex._signals import slepian

if TYPE_CHECKING:
    from flex._flex import Tensor


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


# Functions of the number of samples, and of parameters.
SHAPES: dict[str, Any] = {
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
    "dpss": lambda n, NW: slepian.sequences(n, NW, 1, "approximate")[0][0],
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
PARAMETERS = {
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


def sampled(name: str, n: int, sym: bool, *parameters: Any) -> Tensor:
    """The symmetric window, or one period of a periodic one."""
    if n <= 1:
        return fx.ones(n, dtype=fx.float64)
    if sym or name == "boxcar":
        whole: Tensor = SHAPES[name](n, *parameters)
        return whole
    period: Tensor = SHAPES[name](n + 1, *parameters)
    return period[:-1].copy()
