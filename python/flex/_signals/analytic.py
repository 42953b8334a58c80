# mypy: allow-redefinition
"""Analytic signals and envelopes."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

from flex import _flex as fx
from flex._functions._common import axis_of, inexact
from flex._signals.rates import resample

if TYPE_CHECKING:
    from flex._flex import Tensor, _Nested


def hilbert(x: _Nested, N: int | None = None, axis: int = -1) -> Tensor:
    """The analytic signal: x, and its Hilbert transform as the imaginary part.

    N: the number of samples, cut or padded with zeros; by default those of x. The result is complex128 for float64, else complex64.
    ValueError if N is not positive; DTypeError for complex numbers; AxisError.

    >>> y = flex.signal.hilbert(flex.asarray([1.0, 0.0, -1.0, 0.0]))
    >>> y.imag.tolist()
    [0.0, 1.0, 0.0, -1.0]
    """
    x = inexact(x)
    if fx.isdtype(x.dtype, "complex floating"):
        raise fx.DTypeError(f"hilbert: x is real, not {x.dtype}")
    axis = axis_of("hilbert", axis, x.ndim)
    n = x.shape[axis] if N is None else operator.index(N)
    if n <= 0:
        raise ValueError(f"hilbert: N is {n}; it must be positive")
    spectrum = fx._fft.fft(x, n=n, axis=axis)
    at = fx.arange(n, dtype=fx.int64)
    both = (at == 0) | ((at == n // 2) if n % 2 == 0 else (at < 0))
    factor = fx.where(both, 1.0, fx.where(at < (n + 1) // 2, 2.0, 0.0)).astype(
        x.dtype if x.dtype.itemsize >= 4 else fx.float32
    )
    factor = fx.reshape(factor, tuple(-1 if k == axis else 1 for k in range(x.ndim)))
    return fx._fft.ifft(spectrum * factor, axis=axis)


def envelope(
    z: _Nested,
    bp_in: tuple[int | None, int | None] = (1, None),
    *,
    n_out: int | None = None,
    squared: bool = False,
    residual: str | None = "lowpass",
    axis: int = -1,
) -> Tensor:
    """The envelope of lines along an axis: the absolute value of the part of a signal in a band of frequencies, of real signals of the
    analytic signal's part.

    bp_in: the band, from its first frequency up to but without its second, as multiples of 1 / (n * T) for n samples at distances of T;
    None stands for -(n // 2) and (n + 1) // 2. By default without the mean and without negative frequencies. n_out: samples of the
    result, by default n. squared: the envelope's square. residual: "all" for what lies outside of the band as well, "lowpass" for what
    lies below it; then the result is both, stacked along a first axis, and None for the envelope alone. Integers become float32.
    ValueError for a band out of range, n_out that is not positive, no samples, and another residual; AxisError.

    >>> t = flex.linspace(0, 1, 100, endpoint=False)
    >>> wave = 3 + 2 * flex.cos(2 * flex.pi * 10 * t)
    >>> envelope, residual = flex.signal.envelope(wave)
    >>> flex.allclose(envelope, 2, rtol=1e-4), flex.allclose(residual, 3, rtol=1e-4)
    (True, True)
    """
    x = inexact(z)
    axis = axis_of("envelope", axis, x.ndim)
    n = x.shape[axis]
    count = n if n_out is None else operator.index(n_out)
    if n == 0 or count <= 0:
        raise ValueError(f"envelope: {n} samples to {count}; both must be positive")
    if residual not in ("lowpass", "all", None):
        raise ValueError(f"envelope: residual is {residual!r}; it is 'lowpass', 'all' or None")
    first, last = bp_in
    start = -(n // 2) if first is None else operator.index(first)
    stop = (n + 1) // 2 if last is None else operator.index(last)
    if not -(n // 2) <= start < stop <= (n + 1) // 2:
        raise ValueError(
            f"envelope: bp_in is {bp_in}; for {n} samples its numbers ascend, from {-(n // 2)} to {(n + 1) // 2}"
        )
    x = fx.moveaxis(x, axis, -1)
    is_complex = fx.isdtype(x.dtype, "complex floating")
    # by frequency, from -(n // 2) on; of a real signal those below zero would repeat the others
    spectrum = fx._fft.fftshift(fx._fft.fft(x), axes=-1)
    low, high = start + n // 2, stop + n // 2
    band = spectrum[..., low:high]
    if not is_complex:
        k = fx.arange(start, stop)
        factor = fx.where(k > 0, 2.0, fx.where((k == 0) | (2 * k == -n), 1.0, 0.0))
        band = band * factor.astype(fx.real(band).dtype)
    y = fx._fft.ifft(band, n=count) * (count / n)
    found = fx.real(y) ** 2 + fx.imag(y) ** 2 if squared else fx.abs(y)
    if residual is None:
        return fx.moveaxis(found, -1, axis)
    above = spectrum[..., high:]
    if residual == "lowpass":
        above = fx.zeros_like(above)
    rest = fx.concat([spectrum[..., :low], fx.zeros_like(band), above], axis=-1)
    rest = fx._fft.ifftshift(rest, axes=-1)
    line = fx._fft.ifft(rest) if is_complex else fx._fft.irfft(rest[..., : n // 2 + 1], n=n)
    if count != n:
        line = resample(line, count, axis=-1)
    both = (fx.moveaxis(found, -1, axis), fx.moveaxis(line, -1, axis))
    return fx.stack([part.astype(line.dtype) for part in both])
