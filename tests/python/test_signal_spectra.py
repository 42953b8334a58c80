"""Cross spectra, responses and filters of two bands against scipy.signal."""

import numpy as np
import pytest
import scipy.signal

import flex
from flex import signal

RNG = np.random.default_rng(4)
X = RNG.standard_normal((3, 200))
Y = np.roll(X, 3, 1) + 0.3 * RNG.standard_normal((3, 200))


def both(name, *args, rtol=1e-9, atol=1e-11, **kwargs):
    found = getattr(signal, name)(
        *(flex.asarray(x) if isinstance(x, np.ndarray) else x for x in args), **kwargs
    )
    expected = getattr(scipy.signal, name)(*args, **kwargs)
    pairs = (
        zip(found, expected, strict=True) if isinstance(expected, tuple) else [(found, expected)]
    )
    for f, e in pairs:
        assert f.shape == e.shape
        assert f.dtype == e.dtype
        np.testing.assert_allclose(np.asarray(f), e, rtol=rtol, atol=atol)


@pytest.mark.parametrize("average", ["mean", "median"])
@pytest.mark.parametrize("scaling", ["density", "spectrum"])
@pytest.mark.parametrize("nperseg", [32, 45])
def test_cross_spectra(average, scaling, nperseg):
    for options in (
        {"fs": 50.0},
        {"detrend": "linear", "noverlap": 8, "nfft": 64},
        {"return_onesided": False, "window": "hamming"},
    ):
        options |= {"average": average, "scaling": scaling, "nperseg": nperseg}
        both("csd", X, Y, **options)
        both("csd", X[0], Y[0] + 1j * X[1], **options | {"return_onesided": False})
        both("csd", X.T.copy(), Y.T.copy(), axis=0, **options)


def test_coherence():
    both("coherence", X, Y, 10.0, nperseg=40)
    both("coherence", X.T.copy(), Y.T.copy(), nperseg=40, axis=0, detrend="linear")
    found = signal.coherence(flex.asarray(X[0], dtype=flex.float32), X[0].tolist(), nperseg=40)[1]
    assert found.dtype == flex.float32
    np.testing.assert_allclose(np.asarray(found), 1, rtol=1e-5)


def test_refused_spectra():
    for error, match, call in [
        (ValueError, "csd: average is 'most'", lambda: signal.csd(X, Y, average="most")),
        (ValueError, "csd: scaling is 'db'", lambda: signal.csd(X, Y, scaling="db")),
        (flex.ShapeError, "csd: .*differ", lambda: signal.csd(X, Y[:, 1:])),
        (flex.ShapeError, "csd: .*differ", lambda: signal.csd(X, Y[0])),
        (flex.AxisError, "csd: axis 2", lambda: signal.csd(X, Y, axis=2)),
    ]:
        with pytest.raises(error, match=f"^{match}"):
            call()
    assert signal.csd(flex.zeros((0, 9)), flex.zeros((0, 9)))[1].shape == (0, 9)


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_lags(mode):
    for n, m in [(1, 1), (5, 3), (3, 5), (6, 4), (4, 7), (9, 9)]:
        both("correlation_lags", n, m, mode)
    with pytest.raises(ValueError, match="correlation_lags: lengths are 0 and 3"):
        signal.correlation_lags(0, 3, mode)


@pytest.mark.parametrize("order", [1, 2, 5, 8])
@pytest.mark.parametrize(
    "band", [("low", 0.3), ("high", 0.3), ("band", [0.2, 0.5]), ("stop", [0.2, 0.5])]
)
def test_chebyshev_filters_of_type_two(order, band):
    btype, edges = band
    both("cheby2", order, 35, edges, btype, rtol=1e-7, atol=1e-9)
    sos = signal.cheby2(order, 35, edges, btype, output="sos", fs=2)
    expected = scipy.signal.cheby2(order, 35, edges, btype, output="sos")
    for f, e in zip(signal.freqz_sos(sos), scipy.signal.freqz_sos(expected), strict=True):
        np.testing.assert_allclose(np.asarray(f), e, rtol=1e-7, atol=1e-9)
    with pytest.raises(ValueError, match="cheby2: rs is 0"):
        signal.cheby2(order, 0, edges, btype)


@pytest.mark.parametrize("name", ["iirnotch", "iirpeak"])
def test_filters_of_one_frequency(name):
    both(name, 0.3, 30)
    both(name, 50, 25, 1000)
    both(name, w0=0.01, Q=2.0, fs=2.0)
    for wrong, match in [((1.0, 30), "w0 is 1.0"), ((0.0, 30), "w0 is 0.0"), ((0.5, 0), "Q is 0")]:
        with pytest.raises(ValueError, match=f"{name}: {match}"):
            getattr(signal, name)(*wrong)


def test_responses_of_sections():
    sos = scipy.signal.butter(5, [0.2, 0.4], "band", output="sos")
    both("freqz_sos", sos)
    both("freqz_sos", sos, 100, True, 8000)
    both("freqz_sos", sos, np.array([0.1, 0.5, 1.0]))
    with pytest.raises(flex.ShapeError, match="freqz_sos: sos has six"):
        signal.freqz_sos(sos[0])
    with pytest.raises(ValueError, match="freqz_sos: sos has no sections"):
        signal.freqz_sos(sos[:0])
