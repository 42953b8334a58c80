"""Peaks, their prominences and widths, against SciPy's."""

import numpy as np
import pytest

import flex as fx

scipy_signal = pytest.importorskip("scipy.signal")


def signals():
    rng = np.random.default_rng(5)
    for n in (3, 7, 60, 500):
        yield rng.standard_normal(n)
        yield rng.integers(0, 4, n).astype(float)
        yield np.repeat(rng.integers(0, 9, n), rng.integers(1, 4, n)).astype(float)
        yield np.cumsum(rng.standard_normal(n))
        yield np.where(rng.random(n) < 0.1, np.nan, rng.integers(0, 6, n))
        yield np.arange(n, dtype=float)
        yield np.arange(n, dtype=float) % 2 + np.arange(n)[::-1] * 2.0**-10
        yield np.ones(n)


@pytest.mark.filterwarnings("ignore::scipy.signal._peak_finding_utils.PeakPropertyWarning")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("wlen", [None, 2, 9, 10000])
@pytest.mark.parametrize("rel_height", [0, 0.5, 1, 1.5])
def test_properties(wlen, rel_height):
    for x in signals():
        for distance in (None, 2, 40):
            options = {
                "prominence": (None, None),
                "width": 0,
                "wlen": wlen,
                "rel_height": rel_height,
                "distance": distance,
            }
            peaks, properties = fx.signal.find_peaks(fx.asarray(x), **options)
            expected, theirs = scipy_signal.find_peaks(x, **options)
            if distance is None or len(np.unique(x[expected])) == len(expected):
                np.testing.assert_array_equal(np.asarray(peaks), expected)
                for name, values in theirs.items():
                    np.testing.assert_allclose(
                        np.asarray(properties[name]), values, rtol=1e-13, atol=1e-12, err_msg=name
                    )


@pytest.mark.filterwarnings("ignore::scipy.signal._peak_finding_utils.PeakPropertyWarning")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_any_sample():
    rng = np.random.default_rng(6)
    for x in signals():
        at = rng.integers(0, len(x), 20)  # in no order, some twice, most no peaks
        for wlen in (None, 5):
            ours = fx.signal.peak_prominences(fx.asarray(x), fx.asarray(at), wlen)
            for got, want in zip(ours, scipy_signal.peak_prominences(x, at, wlen), strict=True):
                np.testing.assert_array_equal(np.asarray(got), want)
            ours = fx.signal.peak_widths(fx.asarray(x), fx.asarray(at), 0.7, wlen=wlen)
            for got, want in zip(
                ours, scipy_signal.peak_widths(x, at, 0.7, wlen=wlen), strict=True
            ):
                np.testing.assert_allclose(np.asarray(got), want, rtol=1e-13, atol=1e-12)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 3000])
@pytest.mark.filterwarnings("ignore::scipy.signal._peak_finding_utils.PeakPropertyWarning")
def test_all_options(n):
    rng = np.random.default_rng(n)
    options = {
        "height": -5,
        "threshold": 0,
        "prominence": (0.1, None),
        "width": (0, 50),
        "plateau_size": (1, 9),
        "rel_height": 0.3,
    }
    for x in (np.arange(n) % 2.0, np.round(np.cumsum(rng.standard_normal(n)), 1)):
        for wlen in (None, 31):
            peaks, properties = fx.signal.find_peaks(fx.asarray(x), wlen=wlen, **options)
            expected, theirs = scipy_signal.find_peaks(x, wlen=wlen, **options)
            np.testing.assert_array_equal(np.asarray(peaks), expected)
            assert properties.keys() == theirs.keys()
            for name, values in theirs.items():
                np.testing.assert_allclose(np.asarray(properties[name]), values, rtol=1e-12)
                assert properties[name].dtype == (
                    "int64" if values.dtype.kind == "i" else "float64"
                )


@pytest.mark.parametrize("options", [{"wlen": 1}, {"wlen": 0}, {"rel_height": -0.5}])
def test_refused(options):
    x = [0.0, 2.0, 1.0, 3.0, 0.0]
    with pytest.raises(ValueError, match=f"find_peaks: {next(iter(options))}"):
        fx.signal.find_peaks(fx.asarray(x), width=0, **options)


@pytest.mark.parametrize("bounds", [[1, 2.5], (None, 2.5), np.array([1, 2.5]), np.float64(2), 2])
def test_bounds(bounds):
    x = np.array([0.0, 2.0, 1.0, 3.0, 0.0, 0.5, 0.0])
    ours = bounds
    if isinstance(bounds, np.ndarray):
        ours = fx.asarray(bounds)
    expected = scipy_signal.find_peaks(x, height=bounds)[0]
    for pair in (ours, bounds):
        assert fx.signal.find_peaks(fx.asarray(x), height=pair)[0].tolist() == expected.tolist()
