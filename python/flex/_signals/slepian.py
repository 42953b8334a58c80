# mypy: allow-redefinition
"""Slepian's sequences, whose energy lies as far as possible in a band: eigenvectors of a tridiagonal matrix, of which few are wanted."""

from __future__ import annotations

import math
from math import pi
from typing import TYPE_CHECKING

from flex import _flex as fx
from flex._functions.elementwise import sinc

if TYPE_CHECKING:
    from flex._flex import Tensor


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


def sequences(n: int, nw: float, many: int, norm: int | str) -> tuple[Tensor, Tensor]:
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
