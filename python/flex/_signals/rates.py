# mypy: allow-redefinition
"""Signals at other sample rates."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any

from flex import _flex as fx
from flex._functions._common import along, axis_of, exact, inexact, tensor, vector
from flex._signals.design import cheby1, firwin
from flex._signals.filtering import sosfiltfilt
from flex._signals.windows import get_window

if TYPE_CHECKING:
    from flex._flex import Tensor, _Nested


def resample(
    x: _Nested, num: int, t: _Nested | None = None, axis: int = 0, window: Any = None
) -> Any:
    """Lines along an axis at num samples instead, by the Fourier transform: as one period of a periodic signal.

    t: the times of the samples, at equal distances; then the result is the pair of the new samples and their times. window: by which the
    spectrum is multiplied: as of `get_window`, or a function of frequencies in cycles per sample, or a tensor with its values by
    frequency, in the order of `fftfreq`. Integers become float32. ValueError if num is not positive, or there are no samples, and for fewer
    than two times; ShapeError for another number of values of a window; AxisError.

    >>> flex.signal.resample(flex.asarray([1.0, 1.0, 1.0]), 6).tolist()
    [1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    """
    x = inexact(x)
    axis = axis_of("resample", axis, x.ndim)
    num, n = operator.index(num), x.shape[axis]
    if num <= 0 or n == 0:
        raise ValueError(f"resample: {n} samples to {num}; both must be positive")
    if t is not None:
        t = vector("resample", "t", t)
        if t.shape[0] < 2:
            raise ValueError(f"resample: t has {t.shape[0]} times; two are needed")
        times = t[0] + fx.arange(num) * ((t[1] - t[0]) * (n / num))
        return resample(x, num, None, axis, window), times
    least = min(num, n)
    is_complex = fx.isdtype(x.dtype, "complex floating")
    spectrum = fx.moveaxis((fx._fft.fft if is_complex else fx._fft.rfft)(x, axis=axis), axis, -1)
    if window is not None:
        spectrum = spectrum * _weights(window, n, spectrum)
    half = least // 2 + 1
    factor = fx.ones(half, dtype=fx.real(spectrum).dtype)
    if is_complex:
        low, high = spectrum[..., :half], spectrum[..., spectrum.shape[-1] - (least - half) :]
        if least % 2 == 0 and num != n:
            # half of the sample rate stands for both signs
            both = spectrum[..., half - 1 : half]
            other = spectrum[..., n - half + 1 : n - half + 2] if num < n else both
            middle = both + other if num < n else both * 0.5
            low = fx.concat([low[..., :-1], middle], axis=-1)
            high = high if num < n else fx.concat([middle, high], axis=-1)
        gap = num - low.shape[-1] - high.shape[-1]
        zeros = fx.zeros((*low.shape[:-1], gap), dtype=spectrum.dtype)
        y = fx._fft.ifft(fx.concat([low, zeros, high], axis=-1), n=num, axis=-1)
    else:
        if least % 2 == 0 and num != n:
            factor = fx.concat([factor[:-1], factor[-1:] * (2.0 if num < n else 0.5)])
        y = fx._fft.irfft(spectrum[..., :half] * factor, n=num, axis=-1)
    return fx.moveaxis(y * (num / n), -1, axis).astype(x.dtype)


def _weights(window: Any, n: int, spectrum: Tensor) -> Tensor:
    """What a window of `resample` multiplies each frequency of a spectrum of n samples by, or of its half for real samples."""
    if callable(window):
        weights = tensor(window(fx._fft.fftfreq(n, dtype=fx.float64)))
    elif isinstance(window, (str, tuple, float)):
        weights = fx._fft.ifftshift(get_window(window, n))
    else:
        weights = tensor(window)
    if weights.shape != (n,):
        raise fx.ShapeError(
            f"resample: window has shape {list(weights.shape)}; it has {n} values, one for each frequency"
        )
    count = spectrum.shape[-1]
    if count < n:  # of real samples: by both signs of a frequency
        both = weights + fx.roll(fx.flip(weights), 1)
        weights = both[:count] * 0.5
    return weights.astype(fx.real(spectrum).dtype)


_LEVELS: dict[str, Any] = {
    "maximum": fx.max,
    "mean": fx.mean,
    "median": fx.median,
    "minimum": fx.min,
}


def resample_poly(
    x: _Nested,
    up: int,
    down: int,
    axis: int = 0,
    window: Any = ("kaiser", 5.0),
    padtype: str = "constant",
) -> Tensor:
    """Lines along an axis at up / down times the sample rate: zeros are put between samples, a filter of linear phase smooths them, and
    each down-th sample is kept.

    window: of the filter, as of `firwin`, or the filter's coefficients, a list or a tensor of one dimension (ShapeError). padtype: what is
    beyond the ends: zeros for "constant", or the "mean", "median", "minimum" or "maximum" of a line. Integers become float32. ValueError
    if up or down is not positive, and for another padtype; AxisError.

    >>> flex.signal.resample_poly(flex.asarray([1.0, 2.0, 3.0]), 2, 1).shape
    (6,)
    """
    x = inexact(x)
    axis = axis_of("resample_poly", axis, x.ndim)
    up, down = operator.index(up), operator.index(down)
    if up < 1 or down < 1:
        raise ValueError(f"resample_poly: up is {up} and down {down}; both must be positive")
    if padtype not in ("constant", *_LEVELS):
        names = ", ".join(map(repr, ("constant", *_LEVELS)))
        raise ValueError(f"resample_poly: padtype is {padtype!r}; it is one of {names}")
    common = math.gcd(up, down)
    up, down = up // common, down // common
    if up == down == 1:
        return x.copy()
    n = x.shape[axis]
    count = -(-n * up // down)
    if isinstance(window, list) or hasattr(window, "__array__"):
        h = vector("resample_poly", "window", exact(window)).astype(fx.float64) * up
    else:
        h = firwin(20 * max(up, down) + 1, 1.0 / max(up, down), window=window) * up
    half = (h.size - 1) // 2
    wide = fx.complex128 if fx.isdtype(x.dtype, "complex floating") else fx.float64
    values, level = x.astype(wide), None
    if padtype != "constant" and n:
        level = _LEVELS[padtype](values, axis=axis, keepdims=True)
        values = values - level
    lines = fx.moveaxis(values, axis, -1)
    spread = fx.pad(fx.expand_dims(lines, -1), [(0, 0)] * lines.ndim + [(0, up - 1)])
    spread = fx.reshape(spread, (*lines.shape[:-1], n * up))
    behind = max((count - 1) * down + half + 1 - n * up, 0)
    padded = fx.pad(spread, [(0, 0)] * (lines.ndim - 1) + [(h.size - 1 - half, behind)])
    y = fx.matmul(fx.unfold(padded, h.size, step=down)[..., :count, :], fx.flip(h).astype(wide))
    y = fx.moveaxis(y, -1, axis)
    return (y if level is None else y + level).astype(x.dtype)


def decimate(
    x: _Nested,
    q: int,
    n: int | None = None,
    ftype: str = "iir",
    axis: int = -1,
    zero_phase: bool = True,
) -> Tensor:
    """Each q-th sample of lines along an axis, after a low-pass filter: of order n, 8 by default, or 20 q for "fir".

    ftype: "iir" for a Chebyshev filter, "fir" for one of linear phase. zero_phase: without delay. Integers become float32. ValueError if
    q is not positive, and for another ftype; ShapeError if a line is too short for a filter without delay; AxisError.

    >>> flex.signal.decimate(flex.ones(90), 3).shape
    (30,)
    """
    x = inexact(x)
    axis = axis_of("decimate", axis, x.ndim)
    q = operator.index(q)
    if q < 1:
        raise ValueError(f"decimate: q is {q}; it must be positive")
    if ftype == "iir":
        sos = cheby1(8 if n is None else n, 0.05, 0.8 / q, output="sos")
        y = sosfiltfilt(sos, x, axis) if zero_phase else fx._signal.sosfilt(sos, x, axis)
        return along(y, axis, slice(None, None, q)).copy()
    if ftype != "fir":
        raise ValueError(f"decimate: ftype is {ftype!r}; it is 'iir' or 'fir'")
    order = 20 * q if n is None else operator.index(n)
    h = firwin(order + 1, 1.0 / q, window="hamming")
    count = -(-x.shape[axis] // q)
    if zero_phase:
        half = order // 2
        lead = fx._signal.lfilter(h, fx.ones(1), _padded(x, axis, half), axis)
        return along(lead, axis, slice(half, half + (count - 1) * q + 1, q)).copy()
    return along(fx._signal.lfilter(h, fx.ones(1), x, axis), axis, slice(None, None, q)).copy()


def _padded(x: Tensor, axis: int, after: int) -> Tensor:
    return fx.pad(x, [(0, after) if k == axis else (0, 0) for k in range(x.ndim)])
