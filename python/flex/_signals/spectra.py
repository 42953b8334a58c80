# mypy: allow-redefinition
"""Spectral densities: products of Fourier transforms of windows of signals."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from flex import _flex as fx
from flex._functions._common import axis_of, inexact, together
from flex._functions.calculus import unwrap
from flex._signals.filtering import detrend as straightened
from flex._signals.windows import get_window

if TYPE_CHECKING:
    from flex._flex import Tensor, _Nested


class _Frames:
    """The transforms of the windows of a signal along an axis, which becomes the second last, before the frequencies."""

    def __init__(
        self, op: str, x: Any, fs: float, window: Any, nperseg: int | None, noverlap: int | None,
        nfft: int | None, detrend: Any, return_onesided: bool, axis: int, fraction: int,
    ) -> None:  # fmt: skip
        self.x = x = inexact(x)
        x = x if x.dtype.itemsize >= 4 else x.astype(fx.float32)
        self.axis = axis_of(op, axis, x.ndim)
        n = x.shape[self.axis]
        if isinstance(window, (str, tuple)):
            size = min(256 if nperseg is None else operator.index(nperseg), n)
            self.window = get_window(window, max(size, 0))
        else:
            self.window = fx.asarray(window, dtype=fx.float64)
            size = self.window.shape[0] if self.window.ndim == 1 else 0
            if self.window.ndim != 1 or not 1 <= size <= n or nperseg not in (None, size):
                raise fx.ShapeError(
                    f"{op}: a window of shape {list(self.window.shape)} for {n} samples and nperseg {nperseg}"
                )
        if size < 1 and n > 0:
            raise ValueError(f"{op}: nperseg is {nperseg}; it must be positive")
        overlap = size // fraction if noverlap is None else operator.index(noverlap)
        self.length = size if nfft is None else operator.index(nfft)
        if self.length < size:
            raise ValueError(f"{op}: nfft is {nfft}; it must be at least nperseg, {size}")
        if not overlap < max(size, 1):
            raise ValueError(f"{op}: noverlap is {overlap}; it must be below nperseg, {size}")
        self.size, self.fs, step = size, float(fs), max(size - overlap, 1)
        self.onesided = return_onesided and not fx.isdtype(x.dtype, "complex floating")
        lines = fx.moveaxis(x, self.axis, -1)
        frames = fx.unfold(lines, max(size, 1), step=step)
        if callable(detrend):
            frames = detrend(frames)
        elif detrend:
            frames = straightened(frames, type=detrend)
        frames = frames * self.window.astype(fx.real(x).dtype)
        transform = fx._fft.rfft if self.onesided else fx._fft.fft
        self.spectra: Tensor = transform(frames, n=self.length, axis=-1)
        frequencies = fx._fft.rfftfreq if self.onesided else fx._fft.fftfreq
        self.frequencies: Tensor = frequencies(self.length, d=1 / self.fs, dtype=fx.float64)
        count = self.spectra.shape[-2]
        self.times = (fx.arange(count, dtype=fx.float64) * step + size / 2) / self.fs

    def scale(self, op: str, scaling: str) -> float:
        if scaling == "density":
            return 1.0 / (self.fs * float(fx.sum(self.window * self.window).item()))
        if scaling == "spectrum":
            return 1.0 / float(fx.sum(self.window).item()) ** 2
        raise ValueError(f"{op}: scaling is {scaling!r}; it is 'density' or 'spectrum'")

    def powers(self, op: str, scaling: str) -> Tensor:
        """The squares of the spectra, of both sides together if one is left out."""
        y = fx.square(fx.real(self.spectra)) + fx.square(fx.imag(self.spectra))
        return self.scaled(op, scaling, y)

    def scaled(self, op: str, scaling: str, y: Tensor) -> Tensor:
        """Products of spectra, as densities or powers."""
        y = y * self.scale(op, scaling)
        if not self.onesided:
            return y
        at = fx.arange(y.shape[-1], dtype=fx.int64)
        single = (at == 0) | ((at == y.shape[-1] - 1) if self.length % 2 == 0 else (at < 0))
        return y * fx.where(single, 1.0, 2.0).astype(y.dtype)


def _median_bias(n: int) -> float:
    return 1.0 + sum(1.0 / (2 * k + 1) - 1.0 / (2 * k) for k in range(1, (n - 1) // 2 + 1))


def _check_average(op: str, average: str) -> None:
    if average not in ("mean", "median"):
        raise ValueError(f"{op}: average is {average!r}; it is 'mean' or 'median'")


def _averaged(y: Tensor, average: str) -> Tensor:
    """Over windows, the second last axis."""
    if average == "mean":
        return fx.mean(y, -2)
    bias = _median_bias(y.shape[-2])
    if fx.isdtype(y.dtype, "complex floating"):
        return (fx.median(fx.real(y), -2) + 1j * fx.median(fx.imag(y), -2)) / bias
    return fx.median(y, -2) / bias


def welch(
    x: _Nested,
    fs: float = 1.0,
    window: Any = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    average: str = "mean",
) -> tuple[Tensor, Tensor]:
    """The frequencies, and the power spectral density along an axis by Welch's method: the mean over windows that overlap.

    fs: the sample rate. window: a name as of `get_window`, or samples. nperseg: samples of a window, 256 by default, at most all. noverlap:
    samples that neighbours share, half by default. nfft: samples of a transform, the window and zeros. detrend: "constant", "linear", a
    function of windows `[.., n]`, or False. return_onesided: for real x the frequencies from 0 up, with the density of both sides.
    scaling: "density", or "spectrum" for the power. average: "mean" or "median". Frequencies are float64; the density has the real dtype
    of x, integers become float32. ValueError for other names and sizes that do not fit; AxisError.

    >>> f, p = flex.signal.welch(flex.ones(8), nperseg=4, detrend=False, window="boxcar", scaling="spectrum")
    >>> f.tolist(), p.tolist()
    ([0.0, 0.25, 0.5], [1.0, 0.0, 0.0])
    """
    _check_average("welch", average)
    if 0 in inexact(x).shape:
        shape = inexact(x).shape
        return fx.empty(shape, dtype=fx.float64), fx.empty(shape, dtype=fx.real(inexact(x)).dtype)
    frames = _Frames(
        "welch", x, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, axis, 2
    )
    y = _averaged(frames.powers("welch", scaling), average)
    y = fx.moveaxis(y, -1, frames.axis)
    return frames.frequencies, y.astype(fx.real(frames.x).dtype)


def csd(
    x: _Nested,
    y: _Nested,
    fs: float = 1.0,
    window: Any = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    average: str = "mean",
) -> tuple[Tensor, Tensor]:
    """The frequencies, and the cross spectral density of two signals along an axis by Welch's method: the mean over windows of the products
    of the conjugate transform of x and that of y; complex.

    x, y: as long along the axis, along the others they broadcast (ShapeError). Other arguments and errors are those of `welch`.

    >>> f, p = flex.signal.csd(flex.ones(8), 2 * flex.ones(8), nperseg=4, detrend=False, window="boxcar", scaling="spectrum")
    >>> f.tolist(), flex.real(p).tolist()
    ([0.0, 0.25, 0.5], [2.0, 0.0, 0.0])
    """
    _check_average("csd", average)
    x, y = (inexact(t) for t in together("csd", x, y))
    if x.ndim != y.ndim or x.shape[axis_of("csd", axis, x.ndim)] != y.shape[axis]:
        shapes = f"{list(x.shape)} and {list(y.shape)}"
        raise fx.ShapeError(f"csd: shapes {shapes} differ in rank, or along axis {axis}")
    if 0 in x.shape or 0 in y.shape:
        shape = fx.broadcast_shapes(x.shape, y.shape)
        return fx.empty(shape, dtype=fx.float64), fx.empty(shape, dtype=fx.complex64)
    onesided = return_onesided and not any(fx.isdtype(t.dtype, "complex floating") for t in (x, y))
    first, second = (
        _Frames("csd", t, fs, window, nperseg, noverlap, nfft, detrend, onesided, axis, 2)
        for t in (x, y)
    )
    found = first.scaled("csd", scaling, fx.conj(first.spectra) * second.spectra)
    return first.frequencies, fx.moveaxis(_averaged(found, average), -1, first.axis)


def coherence(
    x: _Nested,
    y: _Nested,
    fs: float = 1.0,
    window: Any = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Any = "constant",
    axis: int = -1,
) -> tuple[Tensor, Tensor]:
    """The frequencies, and how far two signals depend on each other at each, from 0 to 1: the square of their `csd` over the product of
    their densities. Arguments and errors are those of `csd`.

    >>> x = flex.asarray([1.0, 2.0, -1.0, 0.5, 3.0, -2.0, 1.0, 0.0])
    >>> flex.signal.coherence(x, 2 * x, nperseg=4)[1].round().tolist()
    [1.0, 1.0, 1.0]
    """
    options = (fs, window, nperseg, noverlap, nfft, detrend)
    f, both = csd(x, y, *options, axis=axis)
    px, py = (welch(t, *options, axis=axis)[1] for t in (x, y))
    return f, fx.square(fx.abs(both)) / px / py


def periodogram(
    x: _Nested,
    fs: float = 1.0,
    window: Any = "boxcar",
    nfft: int | None = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
) -> tuple[Tensor, Tensor]:
    """The frequencies, and the power spectral density of whole lines along an axis.

    nfft: the number of samples, cut or padded with zeros; all by default. Other arguments and errors are those of `welch`.

    >>> f, p = flex.signal.periodogram(flex.asarray([1.0, -1.0, 1.0, -1.0]))
    >>> f.tolist(), p.tolist()
    ([0.0, 0.25, 0.5], [0.0, 0.0, 4.0])
    """
    x = inexact(x)
    k = axis_of("periodogram", axis, x.ndim)
    n = x.shape[k]
    size = n if nfft is None else operator.index(nfft)
    if 0 < size < n:
        x = x[(slice(None),) * k + (slice(0, size),)]
        n, nfft = size, None
    window = "boxcar" if window is None else window
    return welch(
        x,
        fs,
        window,
        n if isinstance(window, (str, tuple)) else None,
        0,
        nfft,
        detrend,
        return_onesided,
        scaling,
        axis,
    )


def spectrogram(
    x: _Nested,
    fs: float = 1.0,
    window: Any = ("tukey", 0.25),
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    mode: str = "psd",
) -> tuple[Tensor, Tensor, Tensor]:
    """The frequencies, the times of the middles of windows, and the spectrum of each window: the frequencies at the axis, the times last.

    noverlap: an eighth of nperseg by default. mode: "psd" for densities, "complex" for spectra, "magnitude", "angle", or "phase" for
    angles without jumps from frequency to frequency. Other arguments and errors are those of `welch`.

    >>> f, t, s = flex.signal.spectrogram(flex.ones(16), nperseg=4, noverlap=0)
    >>> f.shape, t.tolist(), s.shape
    ((3,), [2.0, 6.0, 10.0, 14.0], (3, 4))
    """
    modes = ("psd", "complex", "magnitude", "angle", "phase")
    if mode not in modes:
        raise ValueError(
            f"spectrogram: mode is {mode!r}; it is one of {', '.join(map(repr, modes))}"
        )
    frames = _Frames(
        "spectrogram", x, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, axis, 8
    )
    if mode == "psd":
        y = frames.powers("spectrogram", scaling).astype(fx.real(frames.x).dtype)
    else:
        y = frames.spectra * frames.scale("spectrogram", scaling) ** 0.5
        if mode == "magnitude":
            y = fx.abs(y)
        elif mode != "complex":
            y = fx.atan2(fx.imag(y), fx.real(y))
            y = unwrap(y, axis=-1) if mode == "phase" else y
    return frames.frequencies, frames.times, fx.moveaxis(y, -1, frames.axis)
