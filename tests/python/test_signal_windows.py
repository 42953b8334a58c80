"""Windows against SciPy's."""

import numpy as np
import pytest
import scipy.signal

import flex
from flex import signal


def compare(found, expected):
    assert np.shape(found) == np.shape(expected)
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-9, atol=1e-11)


WINDOWS = [
    "barthann", "bartlett", "blackman", "blackmanharris", "boxcar", "cosine", "flattop", "hamming", "hann", "nuttall", "triang",
    "tukey", ("gaussian", 3.0), ("kaiser", 8.0), ("tukey", 0.25), 6.5, "bohman", "parzen", "lanczos", ("exponential", None, 2.0),
    ("general_cosine", [0.5, 0.3, 0.2]), ("general_gaussian", 1.5, 3.0), ("general_hamming", 0.6), "taylor", ("taylor", 6, 40, False),
    ("chebwin", 60), ("chebwin", -100.0), "rectangular", "triangle", ("gauss", 2.0), "hann_symmetric", "hann_periodic",
    ("general hamming", 0.7), ("dpss", 0.4),
]  # fmt: skip


@pytest.mark.parametrize("window", WINDOWS, ids=str)
def test_windows(window):
    for n in (1, 2, 7, 16):
        for fftbins in (True, False):
            found = signal.get_window(window, n, fftbins)
            assert found.dtype == flex.float64
            compare(found, scipy.signal.get_window(window, n, fftbins))


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        *((name, ()) for name in ("barthann", "bartlett", "blackmanharris", "bohman", "boxcar")),
        *((name, ()) for name in ("cosine", "flattop", "lanczos", "nuttall", "parzen", "triang")),
        ("taylor", ()),
        ("tukey", ()),
        ("chebwin", (70,)),
        ("exponential", (None, 2.0)),
        ("general_cosine", ([0.5, 0.3, 0.2],)),
        ("general_gaussian", (1.5, 3.0)),
        ("general_hamming", (0.6,)),
        ("taylor", (6, 40.0, False)),
        ("tukey", (0.25,)),
    ],
)
@pytest.mark.parametrize("sym", [True, False])
def test_windows_by_functions(name, parameters, sym):
    theirs, ours = getattr(scipy.signal.windows, name), getattr(signal, name)
    for n in (0, 1, 2, 9, 64):
        expected = theirs(n, *parameters, sym=sym)
        compare(ours(n, *parameters, sym=sym, dtype=flex.float64), expected)
        assert ours(n, *parameters, sym=sym).dtype == flex.float32
    with pytest.raises(ValueError, match=f"{name}: M is -1"):
        ours(-1, *parameters)
    with pytest.raises(flex.DTypeError, match=f"{name}: not defined for int32"):
        ours(4, *parameters, dtype="int32")


def test_windows_of_transforms():
    for n in (0, 2, 8):
        expected = scipy.signal.windows.kaiser_bessel_derived(n, 5.0)
        compare(signal.kaiser_bessel_derived(n, 5.0, dtype=flex.float64), expected)
    for n, sym, match in [(5, True, "M is 5"), (4, False, "symmetric")]:
        with pytest.raises(ValueError, match=f"kaiser_bessel_derived: .*{match}"):
            signal.kaiser_bessel_derived(n, 5.0, sym=sym)


@pytest.mark.parametrize("n", [2, 9, 64, 257])
@pytest.mark.parametrize("kmax", [None, 1, 2, 7])
def test_sequences_of_slepian(n, kmax):
    for nw in (0.7, 2.5, 4):
        if nw >= n / 2 or (kmax or 1) >= n:
            continue
        for sym in (True, False):
            for norm in (None, 2, "approximate", "subsample"):
                options = {"sym": sym, "norm": norm, "return_ratios": True}
                expected = scipy.signal.windows.dpss(n, nw, kmax, **options)
                found = signal.dpss(n, nw, kmax, **options, dtype=flex.float64)
                compare(found[0], expected[0])
                compare(found[1], np.asarray(expected[1]))
    assert signal.dpss(n, 0.5).dtype == flex.float32


def test_refused_sequences_of_slepian():
    assert signal.dpss(0, 2).shape == (0,)
    assert signal.dpss(2, 0.5, 2)[1, 0].item() > 0
    assert signal.dpss(1, 2, return_ratios=True)[1].item() == 1
    with pytest.raises(ValueError, match="taylor: nbar is 0"):
        signal.taylor(8, 0)
    for options, match in [
        ({"NW": 5}, "NW is 5"),
        ({"NW": 0}, "NW is 0"),
        ({"NW": 2, "Kmax": 0}, "Kmax is 0"),
        ({"NW": 2, "Kmax": 11}, "Kmax is 11"),
        ({"NW": 2, "norm": 3}, "norm is 3"),
    ]:
        with pytest.raises(ValueError, match=f"dpss: {match}"):
            signal.dpss(10, **options)
