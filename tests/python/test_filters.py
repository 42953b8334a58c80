"""flex.signal's filters, spectra and peaks against scipy.signal."""

import numpy as np
import pytest
import scipy.signal
from arrays import to_numpy

import flex
from flex import signal

RNG = np.random.default_rng(1)
X = RNG.standard_normal((3, 50))
Z = X + 1j * X[::-1]
WALK = np.round(RNG.standard_normal(200).cumsum(), 1)
COEFFICIENTS = [
    ([1.0, 2.0, 3.0], [2.0, 0.5]),
    ([0.5], [1.0, -0.5, 0.2]),
    ([1.0, 2.0, 1.0], [1.0]),
    ([2.0], [4.0]),
]
BANDS = [("low", 0.3), ("high", 0.3), ("bandpass", (0.2, 0.5)), ("bandstop", (0.2, 0.5))]


def compare(found, expected, rtol=1e-9, atol=1e-11):
    if isinstance(expected, tuple):
        assert len(found) == len(expected)
        for f, e in zip(found, expected, strict=True):
            compare(f, e, rtol, atol)
        return
    assert np.shape(found) == np.shape(expected)
    if isinstance(expected, np.ndarray):
        assert found.dtype == expected.dtype
    np.testing.assert_allclose(np.asarray(found), expected, rtol=rtol, atol=atol)


def both(name, *args, rtol=1e-9, atol=1e-11, **kwargs):
    """Calls flex's function with tensors and SciPy's with arrays."""

    def tensors(x):
        return flex.asarray(x) if isinstance(x, np.ndarray) else x

    found = getattr(signal, name)(*map(tensors, args), **{k: tensors(v) for k, v in kwargs.items()})
    compare(found, getattr(scipy.signal, name)(*args, **kwargs), rtol, atol)


# ---- matrices

IMAGE = RNG.integers(-9, 9, (5, 6))


@pytest.mark.parametrize("kernel", [(3, 3), (2, 4), (1, 2), (7, 8), (5, 1)])
@pytest.mark.parametrize("dtype", ["int8", "int32", "float32", "float64", "complex128"])
def test_sums_of_products_of_matrices(dtype, kernel):
    a, v = IMAGE.astype(dtype), RNG.integers(-4, 4, kernel).astype(dtype)
    if dtype == "complex128":
        a, v = a + 1j * a[::-1], v - 2j
    for name in ("convolve2d", "correlate2d"):
        for mode in ("full", "same", "valid"):
            if mode == "valid" and kernel == (7, 8):
                both(name, v, a, mode)
            both(name, a, v, mode)
            both(name, a, v, mode, "fill", 3)
            both(name, a, v, mode, boundary="wrap")
            both(name, a, v, mode, boundary="symm")


def test_edges_of_sums_of_products_of_matrices():
    both("convolve2d", np.array([[1.0, np.nan, 3.0]]), np.array([[1.0, 1.0]]))
    both("convolve2d", IMAGE.astype("uint8"), np.array([[0.5]]))
    for f in (signal.convolve2d, signal.correlate2d):
        for wrong, error, match in [
            ((X[0], X), flex.ShapeError, "in1 has two dimensions"),
            ((X, Z[None]), flex.ShapeError, "in2 has two dimensions"),
            ((X[:0], X), ValueError, "in1 has no elements"),
            ((X, X, "near"), ValueError, "mode is 'near'"),
            ((X, X, "full", "reflect"), ValueError, "boundary is 'reflect'"),
            ((X, X[:2].T, "valid"), flex.ShapeError, ".* neither lies inside the other"),
        ]:
            with pytest.raises(error, match=f"^{f.__name__}: {match}"):
                f(*wrong)


# ---- filters


@pytest.mark.parametrize(("b", "a"), COEFFICIENTS)
@pytest.mark.parametrize("x", [X, Z], ids=["real", "complex"])
def test_rational_filters(b, a, x):
    b, a = np.array(b), np.array(a)
    for axis in (-1, 0, 1):
        both("lfilter", b, a, x, axis)
    n = max(len(a), len(b)) - 1
    both("lfilter", b, a, x, zi=RNG.standard_normal((3, n)))
    both("lfilter", b, a, x, 0, zi=RNG.standard_normal((n, 50)))
    both("lfilter", b, a, x, zi=RNG.standard_normal((1, n)) + 1j)
    if n:
        both("lfilter_zi", b, a)
        for padtype in ("odd", "even", "constant", None):
            both("filtfilt", b, a, x, padtype=padtype)


def test_filters_of_other_dtypes_and_layouts():
    b, a = flex.asarray([1.0, 2.0]), flex.asarray([1.0, -0.5])
    for dtype in (flex.float16, flex.bfloat16, flex.float32):
        x = flex.asarray(X).astype(dtype)
        y = signal.lfilter(b, a, x)
        assert y.dtype == dtype
        exact = scipy.signal.lfilter([1.0, 2.0], [1.0, -0.5], to_numpy(x.astype(flex.float64)))
        assert y.tolist() == flex.asarray(exact).astype(dtype).tolist()
    assert signal.lfilter(b, a, flex.asarray([1, 2, 3])).dtype == flex.float32
    t = flex.asarray(X)
    assert (
        signal.lfilter(b, a, t.T[::-1], 0).tolist()
        == signal.lfilter(b, a, t.T[::-1].copy(), 0).tolist()
    )
    assert signal.lfilter(b, a, flex.zeros((0, 4))).shape == (0, 4)
    assert signal.lfilter(b, a, flex.zeros((4, 0))).shape == (4, 0)
    for k in range(2):
        halves = signal.lfilter(b, a, t[:, :20], zi=flex.zeros((3, 1)))
        rest = signal.lfilter(b, a, t[:, 20:], zi=halves[1])
        joined = flex.concat([halves[0], rest[0]], axis=1)
        assert joined.tolist() == signal.lfilter(b, a, t).tolist(), k


@pytest.mark.parametrize("order", [1, 2, 3, 4, 5, 8])
@pytest.mark.parametrize(("kind", "edges"), BANDS)
def test_design(order, kind, edges):
    loose = {"rtol": 1e-6, "atol": 1e-8}
    for analog in (False, True):
        both("butter", order, edges, kind, analog, **loose)
        z, p, k = signal.butter(order, edges, kind, analog, "zpk")
        zs, ps, ks = scipy.signal.butter(order, edges, kind, analog, "zpk")
        for found, expected in ((z, zs), (p, ps)):
            distances = np.abs(found.numpy()[:, None] - expected)
            assert distances.shape == (len(expected),) * 2
            assert np.all(distances.min(0, initial=np.inf) < 1e-6)
        assert k == pytest.approx(ks)
    both("butter", order, edges, kind, output="sos", **loose)
    both("cheby1", order, 1.5, edges, kind, output="sos", **loose)
    sos = scipy.signal.butter(order, edges, kind, output="sos")
    both("sosfilt", sos, X)
    both("sosfilt", sos, Z, 0)
    both("sosfilt", sos, X, -1, zi=RNG.standard_normal((len(sos), 3, 2)))
    both("sosfilt", sos, Z, 0, zi=RNG.standard_normal((len(sos), 2, 50)))
    both("sosfilt_zi", sos, **loose)
    if order < 5:
        both("sosfiltfilt", sos, X, **loose)


def test_frequencies_in_units():
    both("butter", 3, 100, fs=1000.0)
    for kwargs in (
        {},
        {"worN": 7},
        {"worN": 8, "whole": True},
        {"worN": [0.1, 0.2]},
        {"worN": 5, "fs": 100.0},
        {"worN": 5, "include_nyquist": True},
    ):
        both("freqz", np.array([1.0, 2.0, 0.5]), np.array([1.0, -0.3]), **kwargs)
    both("freqz", [0.1, 0.2], 1, worN=4)


@pytest.mark.parametrize(
    "kwargs",
    [
        {"numtaps": 11, "cutoff": 0.3},
        {"numtaps": 11, "cutoff": [0.2, 0.5], "pass_zero": False},
        {"numtaps": 10, "cutoff": 0.3, "window": "hann"},
        {"numtaps": 21, "cutoff": [0.1, 0.3, 0.6]},
        {"numtaps": 21, "cutoff": 0.3, "pass_zero": "highpass"},
        {"numtaps": 21, "cutoff": 100, "fs": 1000.0, "width": 80},
        {"numtaps": 9, "cutoff": 0.4, "scale": False},
        {"numtaps": 21, "cutoff": [0.2, 0.4], "pass_zero": "bandstop"},
    ],
)
def test_windowed_filters(kwargs):
    both("firwin", **kwargs)


def test_smoothing():
    both("medfilt", X)
    both("medfilt", X, (1, 5))
    both("medfilt", X[0], 7)
    both("medfilt", np.arange(12, dtype=np.int32).reshape(3, 4) % 5)
    for kwargs in (
        {"window_length": 5, "polyorder": 2},
        {"window_length": 7, "polyorder": 3, "deriv": 1, "delta": 0.5},
        {"window_length": 6, "polyorder": 2},
        {"window_length": 5, "polyorder": 2, "deriv": 3},
        {"window_length": 5, "polyorder": 0},
        {"window_length": 9, "polyorder": 4, "deriv": 2},
    ):
        both("savgol_coeffs", **kwargs, rtol=1e-8, atol=1e-10)
        for mode in ("interp", "mirror", "nearest", "wrap", "constant"):
            both("savgol_filter", X, **kwargs, mode=mode, rtol=1e-7, atol=1e-9)
    both("savgol_coeffs", 5, 2, pos=1, use="dot")
    both("savgol_filter", X, 3, 1, axis=0)


@pytest.mark.filterwarnings("ignore:kernel_size exceeds")
@pytest.mark.parametrize("long", [2, 64, 10**9])
@pytest.mark.parametrize("block", [1, 1 << 20])
def test_running_medians(monkeypatch, long, block):
    monkeypatch.setattr("flex._signals.filtering._LONG", long)
    monkeypatch.setattr("flex._signals.filtering._ELEMENTS", block)
    for dtype in ("float64", "float32", "int32", "uint8"):
        x = RNG.integers(-40, 40, (5, 70)).astype(dtype)
        for kernel in ((1, 65), (3, 1), (1, 1), (3, 5), (1, 201)):
            found = signal.medfilt(flex.asarray(x), kernel)
            expected = scipy.signal.medfilt(x.astype(float), kernel)
            np.testing.assert_array_equal(np.asarray(found), expected.astype(dtype))
            assert found.dtype == dtype
            assert found.tolist() == signal.medfilt2d(flex.asarray(x), kernel).tolist()
        line = signal.medfilt(flex.asarray(x[0]), 101)
        expected = scipy.signal.medfilt(x[0].astype(float), 101)
        np.testing.assert_array_equal(np.asarray(line), expected.astype(dtype))
    assert signal.medfilt(flex.zeros((0, 3)), 5).shape == (0, 3)
    with pytest.raises(flex.ShapeError, match="medfilt2d: input has two"):
        signal.medfilt2d(flex.zeros(3))


def test_trends_and_analytic_signals():
    both("detrend", X)
    both("detrend", X, type="constant")
    both("detrend", Z, 0)
    both("detrend", X, bp=[10, 30])
    for n in (None, 40, 64, 7):
        both("hilbert", X, n)
    both("hilbert", X, axis=0)


# SciPy has no envelope of a band that ends at 0, and no residual for one that begins there
@pytest.mark.parametrize("band", [(1, None), (None, None), (2, 4), (-3, 2), (-4, -1), (-4, 4)])
@pytest.mark.parametrize("n", [8, 9])
def test_envelopes(n, band):
    for x in (X[:, :n], Z[:, :n]):
        for residual in ("lowpass", "all", None):
            both("envelope", x, band, residual=residual)
            for count in (5, 6, 8, 20):
                both("envelope", x, band, n_out=count, residual=residual, squared=True)
    both("envelope", X, band, axis=0) if band == (1, None) else None
    assert signal.envelope(flex.asarray(X[0, :n]).astype(flex.float16)).dtype == flex.float32


def test_envelopes_of_bands_at_zero():
    spectrum = np.fft.fft(Z)
    kept = np.fft.ifft(np.where(np.fft.fftfreq(50, 1 / 50) >= 0, spectrum, 0))
    found = signal.envelope(flex.asarray(Z), (0, None), residual="all")
    np.testing.assert_allclose(np.asarray(found[0]), abs(kept), atol=1e-12)
    np.testing.assert_allclose(np.asarray(found[1]), Z - kept, atol=1e-12)
    found = signal.envelope(flex.asarray(Z), (None, 0), residual="all")
    np.testing.assert_allclose(np.asarray(found[0]), abs(Z - kept), atol=1e-12)
    np.testing.assert_allclose(np.asarray(found[1]), kept, atol=1e-12)


def test_waves():
    t = np.linspace(-9, 20, 331)
    both("square", t)
    both("square", t, 0.3)
    both("square", t, np.linspace(-0.2, 1.1, 331))
    for width in (0.0, 0.3, 0.5, 1.0, np.linspace(-0.2, 1.1, 331)):
        both("sawtooth", t, width)
    both("sawtooth", t)
    t = np.linspace(0, 3, 100)
    for method in ("linear", "quadratic", "logarithmic", "hyperbolic", "li", "q", "hyp"):
        both("chirp", t, 1.5, 4.0, 6.0, method, 30)
        both("chirp", t, 6.0, 4.0, 1.5, method)
        both("chirp", t, f0=2.0, t1=3.0, f1=2.0, method=method, rtol=1e-8, atol=1e-9)
    both("chirp", t, 1.5, 4.0, 6.0, "quadratic", vertex_zero=False)


@pytest.mark.parametrize("x", [X, Z], ids=["real", "complex"])
def test_other_rates(x):
    for num in (1, 2, 7, 30, 31, 49, 50, 51, 64, 100, 121):
        both("resample", x, num, axis=1)
        both("resample", x, num, np.arange(50) * 0.25 + 3, 1)
        both("resample", x, num, axis=1, window=("kaiser", 4.0))
        both("resample", x, num, axis=1, window="hamming")
        both("resample", x, num, axis=1, window=lambda f: 1 / (1 + f + f * f))
        both("resample", x, num, axis=1, window=np.arange(50) * 0.5)
    for up, down in ((2, 1), (1, 2), (3, 2), (2, 3), (5, 4), (1, 7), (7, 1), (4, 4)):
        both("resample_poly", x, up, down, axis=1)
        for taps in ([0.1, 0.5, 0.3], np.array([0.2, 0.4, 0.1, 0.7]), np.array([2.0])):
            both("resample_poly", x, up, down, axis=1, window=taps)
        for padtype in ("mean", "median", "minimum", "maximum") if x is X else ("mean",):
            both("resample_poly", x, up, down, axis=1, padtype=padtype)
    for kwargs in (
        {"q": 2},
        {"q": 3, "n": 4},
        {"q": 2, "ftype": "fir"},
        {"q": 3, "zero_phase": False},
        {"q": 3, "ftype": "fir", "zero_phase": False},
        {"q": 2, "ftype": "fir", "n": 11},
    ):
        both("decimate", x, **kwargs)


# ---- spectra


@pytest.mark.parametrize(
    "kwargs",
    [
        {"nperseg": 16},
        {"nperseg": 15, "noverlap": 3, "fs": 10.0},
        {"nperseg": 16, "nfft": 20, "window": "hamming"},
        {"nperseg": 16, "detrend": "linear"},
        {"nperseg": 16, "detrend": False, "scaling": "spectrum"},
        {"nperseg": 10, "average": "median"},
        {"nperseg": 16, "return_onesided": False},
        {"axis": 0, "nperseg": 2},
        {"window": np.arange(1.0, 9.0)},
    ],
)
def test_welch(kwargs):
    both("welch", X, **kwargs)


def test_periodograms():
    for kwargs in (
        {},
        {"fs": 3.0},
        {"nfft": 64},
        {"nfft": 20},
        {"window": "hann"},
        {"axis": 0},
        {"scaling": "spectrum"},
    ):
        both("periodogram", X, **kwargs)
    both("welch", Z, nperseg=16, return_onesided=False)
    assert signal.welch(flex.zeros((2, 0)))[1].shape == (2, 0)
    assert signal.periodogram(flex.asarray(X, dtype=flex.float16))[1].dtype == flex.float16


@pytest.mark.parametrize("mode", ["psd", "complex", "magnitude", "angle", "phase"])
def test_spectrograms(mode):
    both("spectrogram", X, nperseg=16, mode=mode, rtol=1e-6, atol=1e-9)
    both("spectrogram", X[0], fs=10.0, nperseg=16, noverlap=8, window="hann", rtol=1e-8)


# ---- peaks


@pytest.mark.parametrize(
    "kwargs",
    [
        {},
        {"height": 1.0},
        {"height": (None, 2.0)},
        {"threshold": 0.2},
        {"threshold": (None, 0.5)},
        {"distance": 5},
        {"distance": 4.5},
        {"prominence": 1.0},
        {"prominence": (1.0, 3.0), "wlen": 21},
        {"width": 2},
        {"width": (1, 5), "rel_height": 0.8},
        {"plateau_size": 2},
        {"plateau_size": (1, 2), "height": 0, "distance": 3, "prominence": 0.5, "width": 1},
        {"height": np.linspace(-2, 2, 200)},
    ],
    ids=str,
)
def test_peaks(kwargs):
    peaks, properties = signal.find_peaks(flex.asarray(WALK), **kwargs)
    expected, theirs = scipy.signal.find_peaks(WALK, **kwargs)
    compare(peaks, expected)
    assert list(properties) == list(theirs)
    for name, values in theirs.items():
        compare(properties[name], values, rtol=1e-12)


@pytest.mark.parametrize("kwargs", [{}, {"wlen": 9}, {"wlen": 20.5}], ids=str)
def test_prominences_and_widths(kwargs):
    at = scipy.signal.find_peaks(WALK)[0]
    x, peaks = flex.asarray(WALK), flex.asarray(at)
    found = signal.peak_prominences(x, peaks, **kwargs)
    expected = scipy.signal.peak_prominences(WALK, at, **kwargs)
    for f, e in zip(found, expected, strict=True):
        compare(f, e, rtol=1e-12)
    for height in (0.25, 0.5, 1.0):
        each = scipy.signal.peak_widths(WALK, at, height, expected)
        for widths in (
            signal.peak_widths(x, peaks, height, **kwargs),
            signal.peak_widths(x, peaks, height, found),
        ):
            for f, e in zip(widths, each, strict=True):
                compare(f, e, rtol=1e-12)
    assert [t.shape for t in signal.peak_widths(x, flex.asarray([], dtype="int64"))] == [(0,)] * 4


def test_no_peaks():
    for x in ([], [1.0], [1.0, 2.0], [1.0, 1.0, 1.0], [3.0, 2.0, 1.0], [1.0, 2.0, 2.0]):
        peaks, properties = signal.find_peaks(flex.asarray(x), prominence=0)
        assert peaks.shape == (0,)
        assert properties["prominences"].shape == (0,)
    with_nan = [0.0, 2.0, np.nan, 3.0, 0.0, 1.0, 0.0]
    assert (
        signal.find_peaks(flex.asarray(with_nan))[0].tolist()
        == scipy.signal.find_peaks(with_nan)[0].tolist()
    )


T = flex.asarray([1.0, 2.0, 3.0])
ERRORS = [
    (ValueError, "lfilter: a\\[0\\] is zero", lambda: signal.lfilter(T, T * 0, T)),
    (flex.ShapeError, "lfilter: b is a vector", lambda: signal.lfilter(T[None], T, T)),
    (flex.ShapeError, "lfilter: a is a vector", lambda: signal.lfilter(T, T[:0], T)),
    (flex.DTypeError, "lfilter", lambda: signal.lfilter(T * 1j, T, T)),
    (flex.AxisError, "lfilter", lambda: signal.lfilter(T, T, T, 1)),
    (flex.ShapeError, "lfilter: zi must have shape \\[2\\]", lambda: signal.lfilter(T, T, T, zi=T)),
    (flex.ShapeError, "sosfilt: sos has six numbers", lambda: signal.sosfilt(T, T)),
    (ValueError, "sosfilt: sos\\[:, 3\\] must be 1", lambda: signal.sosfilt(flex.zeros((1, 6)), T)),
    (ValueError, "lfilter_zi: a has no coefficient", lambda: signal.lfilter_zi(T, T * 0)),
    (flex.ShapeError, "filtfilt: 3 samples", lambda: signal.filtfilt(T, T, T)),
    (ValueError, "filtfilt: padtype is 'even2'", lambda: signal.filtfilt(T, T, T, padtype="even2")),
    (ValueError, "butter: btype is 'wide'", lambda: signal.butter(2, 0.5, "wide")),
    (ValueError, "butter: Wn must be between 0 and 1", lambda: signal.butter(2, 1.5)),
    (ValueError, "butter: Wn must be between 0 and 50", lambda: signal.butter(2, 60, fs=100)),
    (
        ValueError,
        "butter: Wn has 1 frequencies; bandpass has two",
        lambda: signal.butter(2, 0.5, "band"),
    ),
    (
        ValueError,
        "butter: the frequencies of Wn must ascend",
        lambda: signal.butter(2, (0.5, 0.2), "bp"),
    ),
    (ValueError, "butter: output is 'xyz'", lambda: signal.butter(2, 0.5, output="xyz")),
    (ValueError, "butter: N is -1", lambda: signal.butter(-1, 0.5)),
    (ValueError, "butter: N is 10000000", lambda: signal.butter(10**7, 0.5)),
    (ValueError, "firwin: cutoff must be between", lambda: signal.firwin(3, 1.5)),
    (ValueError, "firwin: .* odd numtaps", lambda: signal.firwin(4, 0.5, pass_zero=False)),
    (ValueError, "get_window: window is 'round'", lambda: signal.get_window("round", 4)),
    (
        ValueError,
        "get_window: 'kaiser' with 0 parameters",
        lambda: signal.get_window(("kaiser",), 4),
    ),
    (ValueError, "get_window: Nx is 0", lambda: signal.get_window("hann", 0)),
    (ValueError, "medfilt: kernel_size is 2", lambda: signal.medfilt(T, 2)),
    (flex.ShapeError, "medfilt: 2 sizes for 1", lambda: signal.medfilt(T, (3, 3))),
    (ValueError, "detrend: type is 'square'", lambda: signal.detrend(T, type="square")),
    (ValueError, "detrend: bp must be from 0 to 3", lambda: signal.detrend(T, bp=4)),
    (flex.DTypeError, "hilbert: x is real", lambda: signal.hilbert(T * 1j)),
    (ValueError, "hilbert: N is 0", lambda: signal.hilbert(T, 0)),
    (ValueError, "envelope: 3 samples to 0", lambda: signal.envelope(T, n_out=0)),
    (ValueError, "envelope: 0 samples to 0", lambda: signal.envelope(T[:0])),
    (ValueError, "envelope: residual is 'high'", lambda: signal.envelope(T, residual="high")),
    (ValueError, r"bp_in is \(1, 3\); .* from -1 to 2", lambda: signal.envelope(T, (1, 3))),
    (TypeError, "integer", lambda: signal.envelope(T, (0.5, None))),
    (ValueError, "polyorder is 3; it must be from 0 to 2", lambda: signal.savgol_coeffs(3, 3)),
    (
        ValueError,
        "savgol_filter: a window of 5 in a line of 3",
        lambda: signal.savgol_filter(T, 5, 2),
    ),
    (ValueError, "welch: average is 'mode'", lambda: signal.welch(T, average="mode")),
    (ValueError, "welch: nfft is 2", lambda: signal.welch(T, nperseg=3, nfft=2)),
    (ValueError, "welch: noverlap is 3", lambda: signal.welch(T, nperseg=3, noverlap=3)),
    (ValueError, "welch: scaling is 'log'", lambda: signal.welch(T, scaling="log")),
    (ValueError, "spectrogram: mode is 'power'", lambda: signal.spectrogram(T, mode="power")),
    (ValueError, "chirp: method is 'l'", lambda: signal.chirp(T, 1, 1, 2, "l")),
    (ValueError, "chirp: f0 is 0.0", lambda: signal.chirp(T, 0, 1, 2, "log")),
    (ValueError, "chirp: .* neither is 0", lambda: signal.chirp(T, 0, 1, 2, "hyp")),
    (ValueError, "resample: 3 samples to 0", lambda: signal.resample(T, 0)),
    (ValueError, "resample: t has 1 times", lambda: signal.resample(T, 2, t=[1.0])),
    (flex.ShapeError, "window has shape .2.", lambda: signal.resample(T, 2, window=T[:2])),
    (ValueError, "resample_poly: up is 0", lambda: signal.resample_poly(T, 0, 1)),
    (
        ValueError,
        "resample_poly: padtype is 'a'; it is one of 'constant', 'maximum'",
        lambda: signal.resample_poly(T, 2, 1, padtype="a"),
    ),
    (ValueError, "decimate: q is 0", lambda: signal.decimate(T, 0)),
    (ValueError, "decimate: ftype is 'any'", lambda: signal.decimate(T, 2, ftype="any")),
    (ValueError, "find_peaks: distance is 0", lambda: signal.find_peaks(T, distance=0)),
    (
        flex.ShapeError,
        "find_peaks: height has 1 numbers",
        lambda: signal.find_peaks(T, height=T[:1]),
    ),
    (flex.ShapeError, "find_peaks: x has one dimension", lambda: signal.find_peaks(T[None])),
    (ValueError, "a peak is out of range for 3", lambda: signal.peak_prominences(T, [3])),
    (flex.DTypeError, "peaks are positions", lambda: signal.peak_prominences(T, [0.5])),
    (ValueError, "wlen is 1", lambda: signal.peak_prominences(T, [1], wlen=1)),
    (ValueError, "rel_height is -1", lambda: signal.peak_widths(T, [1], rel_height=-1)),
    (
        ValueError,
        "prominence_data is not that of 1 peaks",
        lambda: signal.peak_widths(T, [1], prominence_data=([1.0, 2.0], [0, 0], [2, 2])),
    ),
    (
        ValueError,
        "bases 2 and 0 for the peak at 1",
        lambda: signal.peak_widths(T, [1], prominence_data=([1.0], [2], [0])),
    ),
]


@pytest.mark.parametrize(("kind", "text", "call"), ERRORS)
def test_errors(kind, text, call):
    with pytest.raises(kind, match=text):
        call()


def test_coefficients_as_lists_and_numbers():
    x = np.random.default_rng(2).standard_normal(40)
    t = flex.asarray(x)
    for b, a in (
        ([0.1, 0.2], 1.0),
        (0.3, [1.0, -0.5]),
        ((1, 2, 3), [2]),
        (flex.asarray([0.1, 0.2]), 2),
    ):
        want = scipy.signal.lfilter(to_numpy(b) if isinstance(b, flex.Tensor) else b, a, x)
        np.testing.assert_allclose(signal.lfilter(b, a, t).numpy(), want, rtol=1e-14, atol=1e-15)
    y, z = signal.lfilter([0.1], [1.0, -0.9], t, zi=[0.5])
    want = scipy.signal.lfilter([0.1], [1.0, -0.9], x, zi=[0.5])
    np.testing.assert_allclose(y.numpy(), want[0], rtol=1e-14)
    np.testing.assert_allclose(z.numpy(), want[1], rtol=1e-14)
    sos = [[0.1, 0.2, 0.3, 1.0, -0.5, 0.25]]
    np.testing.assert_allclose(
        signal.sosfilt(sos, t).numpy(), scipy.signal.sosfilt(sos, x), rtol=1e-13, atol=1e-15
    )
