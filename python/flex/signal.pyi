# Written by scripts/make_stubs.py.
import builtins
from typing import Any, Literal, SupportsIndex

from flex._flex import Tensor, _Device, _DType, _Nested, _Operand, _PadMode
from flex._signals.analytic import envelope as envelope
from flex._signals.analytic import hilbert as hilbert
from flex._signals.design import butter as butter
from flex._signals.design import cheby1 as cheby1
from flex._signals.design import cheby2 as cheby2
from flex._signals.design import firwin as firwin
from flex._signals.design import freqz as freqz
from flex._signals.design import freqz_sos as freqz_sos
from flex._signals.design import iirnotch as iirnotch
from flex._signals.design import iirpeak as iirpeak
from flex._signals.filtering import detrend as detrend
from flex._signals.filtering import filtfilt as filtfilt
from flex._signals.filtering import lfilter_zi as lfilter_zi
from flex._signals.filtering import medfilt as medfilt
from flex._signals.filtering import medfilt2d as medfilt2d
from flex._signals.filtering import savgol_coeffs as savgol_coeffs
from flex._signals.filtering import savgol_filter as savgol_filter
from flex._signals.filtering import sosfilt_zi as sosfilt_zi
from flex._signals.filtering import sosfiltfilt as sosfiltfilt
from flex._signals.forms import sos2tf as sos2tf
from flex._signals.forms import sos2zpk as sos2zpk
from flex._signals.forms import tf2sos as tf2sos
from flex._signals.forms import tf2zpk as tf2zpk
from flex._signals.forms import zpk2sos as zpk2sos
from flex._signals.forms import zpk2tf as zpk2tf
from flex._signals.images import convolve2d as convolve2d
from flex._signals.images import correlate2d as correlate2d
from flex._signals.peaks import argrelextrema as argrelextrema
from flex._signals.peaks import argrelmax as argrelmax
from flex._signals.peaks import argrelmin as argrelmin
from flex._signals.peaks import find_peaks as find_peaks
from flex._signals.peaks import peak_prominences as peak_prominences
from flex._signals.peaks import peak_widths as peak_widths
from flex._signals.products import correlation_lags as correlation_lags
from flex._signals.products import fftconvolve as fftconvolve
from flex._signals.rates import decimate as decimate
from flex._signals.rates import resample as resample
from flex._signals.rates import resample_poly as resample_poly
from flex._signals.spectra import coherence as coherence
from flex._signals.spectra import csd as csd
from flex._signals.spectra import periodogram as periodogram
from flex._signals.spectra import spectrogram as spectrogram
from flex._signals.spectra import welch as welch
from flex._signals.waves import chirp as chirp
from flex._signals.waves import sawtooth as sawtooth
from flex._signals.waves import square as square
from flex._signals.windows import barthann as barthann
from flex._signals.windows import bartlett as bartlett
from flex._signals.windows import blackmanharris as blackmanharris
from flex._signals.windows import bohman as bohman
from flex._signals.windows import boxcar as boxcar
from flex._signals.windows import chebwin as chebwin
from flex._signals.windows import cosine as cosine
from flex._signals.windows import dpss as dpss
from flex._signals.windows import exponential as exponential
from flex._signals.windows import flattop as flattop
from flex._signals.windows import general_cosine as general_cosine
from flex._signals.windows import general_gaussian as general_gaussian
from flex._signals.windows import general_hamming as general_hamming
from flex._signals.windows import get_window as get_window
from flex._signals.windows import kaiser_bessel_derived as kaiser_bessel_derived
from flex._signals.windows import lanczos as lanczos
from flex._signals.windows import nuttall as nuttall
from flex._signals.windows import parzen as parzen
from flex._signals.windows import taylor as taylor
from flex._signals.windows import triang as triang
from flex._signals.windows import tukey as tukey

def blackman(n: SupportsIndex, /, *, sym: builtins.bool = True, dtype: _DType | None = None, device: _Device | None = None) -> Tensor:
    """The Blackman window of n samples: 0.42 + 0.5 cos(pi x) + 0.08 cos(2 pi x) for x from -1 to
    1.

    Other arguments and errors are those of `hann`.

    >>> flex.signal.blackman(5)[2].item()
    1.0
    """
def convolve(x1: _Operand, x2: _Operand, /, mode: Literal["full", "same", "valid"] = 'full', method: Literal["auto", "direct", "fft"] = 'auto') -> Tensor:
    """The convolution of two signals or images: along each axis, the sums of x1[j] x2[k - j].

    x1, x2: with the same number of dimensions (ShapeError). mode: "full" for all positions where
    they overlap; "same" for the middle part, as large as x1; "valid" for the positions where one
    lies inside the other. method: "direct" for sums of products, along up to three axes; "fft" for
    Fourier transforms; "auto" for whichever is likely to be faster, and direct, which is exact, for
    integers. The result has the common dtype (DTypeError for bool). Defined like
    scipy.signal.convolve.

    >>> flex.signal.convolve(flex.asarray([1.0, 2.0, 3.0]), flex.asarray([1.0, 1.0])).tolist()
    [1.0, 3.0, 5.0, 3.0]
    """
def correlate(x1: _Operand, x2: _Operand, /, mode: Literal["full", "same", "valid"] = 'full', method: Literal["auto", "direct", "fft"] = 'auto') -> Tensor:
    """The correlation of two signals or images: along each axis, the sums of x1[j + k] conj(x2[j]).

    Arguments, dtypes and errors are those of `convolve`. Defined like scipy.signal.correlate.

    >>> flex.signal.correlate(flex.asarray([1.0, 2.0, 3.0]), flex.asarray([1.0, 2.0]), mode="valid").tolist()
    [5.0, 8.0]
    """
def gaussian(n: SupportsIndex, /, std: float, *, sym: builtins.bool = True, dtype: _DType | None = None, device: _Device | None = None) -> Tensor:
    """The Gaussian window of n samples: exp(-(k / std)^2 / 2), k samples from the middle.

    std: positive (ValueError). Other arguments and errors are those of `hann`.

    >>> flex.signal.gaussian(3, 1.0, dtype=flex.float64).tolist()
    [0.6065306597126334, 1.0, 0.6065306597126334]
    """
def hamming(n: SupportsIndex, /, *, sym: builtins.bool = True, dtype: _DType | None = None, device: _Device | None = None) -> Tensor:
    """The Hamming window of n samples: 0.54 + 0.46 cos(pi x) for x from -1 to 1.

    Other arguments and errors are those of `hann`.

    >>> flex.signal.hamming(3)[1].item()
    1.0
    """
def hann(n: SupportsIndex, /, *, sym: builtins.bool = True, dtype: _DType | None = None, device: _Device | None = None) -> Tensor:
    """The Hann window of n samples, a raised cosine: 0.5 + 0.5 cos(pi x) for x from -1 to 1.

    sym: symmetric, as for filter design; False for one period of a periodic window, as for
    spectral analysis. dtype: float32 by default, or float64 (DTypeError for others). ValueError
    if n is negative.

    >>> flex.signal.hann(4, sym=False).tolist()
    [0.0, 0.5, 1.0, 0.5]
    """
def istft(x: _Operand, /, n_fft: SupportsIndex, hop_length: SupportsIndex | None = None, win_length: SupportsIndex | None = None, window: _Operand | None = None, center: builtins.bool = True, normalized: builtins.bool = False, onesided: builtins.bool | None = None, length: SupportsIndex | None = None) -> Tensor:
    """The inverse of `stft`: signals from the spectra of overlapping frames.

    Overlap-add of the frames' inverse transforms times the window, divided by the sum of the
    squared windows. x: `[.., frequencies, frames]`. length: the number of samples, by default as
    many as the frames cover. onesided: whether x has only frequencies up to n_fft / 2, by default
    True; the result is then real. Other arguments are those that `stft` was called with. Defined
    like torch.istft.

    ShapeError for another number of frequencies; ValueError if n_fft, hop_length and win_length
    don't fit each other, and if no window covers a sample.

    >>> x = flex.asarray([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])
    >>> flex.signal.istft(flex.signal.stft(x, 4), 4, length=8).round().tolist()
    [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
    """
def kaiser(n: SupportsIndex, /, beta: float, *, sym: builtins.bool = True, dtype: _DType | None = None, device: _Device | None = None) -> Tensor:
    """The Kaiser window of n samples: I0(beta sqrt(1 - x^2)) / I0(beta) for x from -1 to 1.

    I0: the modified Bessel function of order 0. beta: a larger one is narrower; up to 700
    (ValueError). Other arguments and errors are those of `hann`.

    >>> flex.signal.kaiser(3, 0.0).tolist()
    [1.0, 1.0, 1.0]
    """
def lfilter(b: _Nested, a: _Nested, x: _Operand, /, axis: SupportsIndex = -1, zi: _Nested | None = None) -> Any:
    """Filters lines along an axis by a rational transfer function: `a[0] y[n] = b[0] x[n] + b[1] x[n-1] +
    .. - a[1] y[n-1] - ..`

    b, a: real vectors of coefficients, or lists or single numbers; `a[0]` is not 0 (ValueError). zi:
    the states of the delays before the first sample, of the shape of x, but `max(len(a), len(b)) - 1` at
    the axis, or one that broadcasts to it; then the result is the pair of the filtered tensor and the
    last states. Computed in float64; integers become float32. ShapeError if shapes don't fit; DTypeError
    for complex coefficients and float8; AxisError.

    >>> b, a = flex.asarray([1.0]), flex.asarray([1.0, -0.5])
    >>> flex.signal.lfilter(b, a, flex.asarray([1.0, 0.0, 4.0])).tolist()
    [1.0, 0.5, 4.25]
    """
def mel_filters(sample_rate: float, n_fft: SupportsIndex, *, n_mels: SupportsIndex = 128, fmin: float = 0.0, fmax: float | None = None, htk: builtins.bool = False, norm: Literal["slaney"] | None = 'slaney', dtype: _DType | None = None, device: _Device | None = None) -> Tensor:
    """Triangular mel filters, `[n_mels, n_fft // 2 + 1]`, which sum spectra in bands of equal
    perceived width.

    Band m rises from the centre of the band below to its own and falls to that of the band above;
    centres are evenly spaced in mels from fmin to fmax, by default half the sample rate. htk: mels
    by HTK's formula, 2595 log10(1 + f / 700), instead of Slaney's, which is linear below 1 kHz.
    norm: "slaney" to divide bands by their width in hertz, or None. Defined like librosa. dtype:
    float32 by default, or float64 (DTypeError for others). ValueError if frequencies are not
    ascending, or there are no bands or samples.

    >>> flex.signal.mel_filters(16000, 512, n_mels=40).shape
    (40, 257)
    """
def sosfilt(sos: _Nested, x: _Operand, /, axis: SupportsIndex = -1, zi: _Nested | None = None) -> Any:
    """Filters lines along an axis by sections of order two, one after another.

    sos: `[sections, 6]`, of each section `b[0:3]` and `a[0:3]`, whose `a[0]` is 1 (ValueError). zi: the
    states before the first sample, `[sections, ..]` with the shape of x behind, but 2 at the axis, or
    one that broadcasts to it; then the result is the pair of the filtered tensor and the last states.
    Dtypes and other errors are those of `lfilter`.

    >>> sos = flex.asarray([[1.0, 0.0, 0.0, 1.0, -0.5, 0.0]])
    >>> flex.signal.sosfilt(sos, flex.asarray([1.0, 0.0, 4.0])).tolist()
    [1.0, 0.5, 4.25]
    """
def stft(x: _Operand, /, n_fft: SupportsIndex, hop_length: SupportsIndex | None = None, win_length: SupportsIndex | None = None, window: _Operand | None = None, center: builtins.bool = True, pad_mode: _PadMode = 'reflect', normalized: builtins.bool = False, onesided: builtins.bool | None = None) -> Tensor:
    """The short-time Fourier transform: spectra of overlapping frames of signals along the last axis.

    Element [.., k, t] of the result is the sum over j of window[j] x[.., t hop_length + j] exp(-2
    pi i j k / n_fft). x: `[.., samples]`, real or complex. hop_length: by default n_fft // 4, at
    least 1. window: `[win_length]`, by default ones, zero-padded to n_fft. center: whether to pad
    the signal by half a frame at both ends, by pad_mode, so that frame t is centred at sample t
    hop_length. normalized: whether to divide by sqrt(n_fft). onesided: whether to keep only
    frequencies up to n_fft / 2, by default for real signals. The result is `[.., frequencies,
    frames]`, with the dtypes of `flex.fft.fft`. Defined like torch.stft.

    ValueError if n_fft, hop_length and win_length don't fit each other; ShapeError if the window or
    the signal doesn't fit them.

    >>> flex.signal.stft(flex.zeros((2, 100)), 16, window=flex.signal.hann(16, sym=False)).shape
    (2, 9, 26)
    """

__all__ = [
    "argrelextrema",
    "argrelmax",
    "argrelmin",
    "barthann",
    "bartlett",
    "blackman",
    "blackmanharris",
    "bohman",
    "boxcar",
    "butter",
    "chebwin",
    "cheby1",
    "cheby2",
    "chirp",
    "coherence",
    "convolve",
    "convolve2d",
    "correlate",
    "correlate2d",
    "correlation_lags",
    "cosine",
    "csd",
    "decimate",
    "detrend",
    "dpss",
    "envelope",
    "exponential",
    "fftconvolve",
    "filtfilt",
    "find_peaks",
    "firwin",
    "flattop",
    "freqz",
    "freqz_sos",
    "gaussian",
    "general_cosine",
    "general_gaussian",
    "general_hamming",
    "get_window",
    "hamming",
    "hann",
    "hilbert",
    "iirnotch",
    "iirpeak",
    "istft",
    "kaiser",
    "kaiser_bessel_derived",
    "lanczos",
    "lfilter",
    "lfilter_zi",
    "medfilt",
    "medfilt2d",
    "mel_filters",
    "nuttall",
    "parzen",
    "peak_prominences",
    "peak_widths",
    "periodogram",
    "resample",
    "resample_poly",
    "savgol_coeffs",
    "savgol_filter",
    "sawtooth",
    "sos2tf",
    "sos2zpk",
    "sosfilt",
    "sosfilt_zi",
    "sosfiltfilt",
    "spectrogram",
    "square",
    "stft",
    "taylor",
    "tf2sos",
    "tf2zpk",
    "triang",
    "tukey",
    "welch",
    "zpk2sos",
    "zpk2tf",
]
