"""Forms of filters, and extremes, against scipy.signal."""

import numpy as np
import pytest
import scipy.signal

import flex
from flex import signal


def close(found, expected, rtol=1e-9, atol=1e-12):
    assert np.shape(found) == np.shape(expected)
    np.testing.assert_allclose(np.asarray(found), expected, rtol=rtol, atol=atol)


def ordered(x):
    return np.sort_complex(np.round(np.asarray(x), 6))


@pytest.mark.parametrize("order", [1, 2, 3, 6])
@pytest.mark.parametrize("band", [("low", 0.2), ("high", 0.3), ("band", [0.2, 0.4])])
def test_forms(order, band):
    z, p, k = scipy.signal.butter(order, band[1], band[0], output="zpk")
    b, a = signal.zpk2tf(z, p, k)
    for found, expected in zip((b, a), scipy.signal.zpk2tf(z, p, k), strict=True):
        assert found.dtype == flex.float64
        close(found, expected)
    sos = signal.zpk2sos(flex.asarray(z), flex.asarray(p), k)
    close(sos, scipy.signal.zpk2sos(z, p, k), 1e-7)
    for found, expected in zip(signal.sos2tf(sos), scipy.signal.sos2tf(sos.numpy()), strict=True):
        close(found, expected)
    found, expected = signal.sos2zpk(sos), scipy.signal.sos2zpk(sos.numpy())
    assert found[2] == pytest.approx(expected[2])
    # of multiple roots half the digits are right, or fewer
    for f, e in zip(found[:2], expected[:2], strict=True):
        close(ordered(f), ordered(e), atol=1e-4)
    if order < 3:
        found = signal.tf2zpk(b, a)
        assert found[2] == pytest.approx(k)
        close(ordered(found[1]), ordered(p), atol=1e-4)


def test_sections_of_coefficients():
    b, a = scipy.signal.ellip(3, 1, 40, 0.3)
    close(signal.tf2sos(flex.asarray(b), flex.asarray(a)), scipy.signal.tf2sos(b, a), 1e-7)
    close(signal.tf2zpk([0.0, 2.0, 1.0], [0.0, 4.0])[0], [-0.5])
    b, a = signal.zpk2tf([1j], [0.5], 2.0)
    assert (b.tolist(), a.tolist()) == ([2, -2j], [1, -0.5])
    close(signal.sos2tf(np.zeros((0, 6)))[0], [1.0])


def test_refused_forms():
    for error, match, call in [
        (ValueError, "tf2zpk: a has no", lambda: signal.tf2zpk([1.0], [0.0])),
        (ValueError, "tf2zpk: b has no", lambda: signal.tf2sos([0.0], [1.0])),
        (flex.ShapeError, "tf2zpk: b has one dimension", lambda: signal.tf2zpk([[1.0]], [1.0])),
        (flex.ShapeError, "zpk2sos: p has one dimension", lambda: signal.zpk2sos([], 0.5, 1)),
        (ValueError, "zpk2sos: z has 1j without", lambda: signal.zpk2sos([1j], [0.5], 1)),
        (ValueError, "zpk2sos: p has .* without", lambda: signal.zpk2sos([], [1j, -1j, -1j], 1)),
        (flex.ShapeError, "sos2tf: sos has six", lambda: signal.sos2tf([1.0])),
        (ValueError, "sos2zpk: b.0. and a.0.", lambda: signal.sos2zpk([[0, 1, 0, 1, 0, 0]])),
    ]:
        with pytest.raises(error, match=f"^{match}"):
            call()


@pytest.mark.parametrize("name", ["argrelmax", "argrelmin"])
@pytest.mark.parametrize("mode", ["clip", "wrap"])
@pytest.mark.parametrize("order", [1, 3, 100])
def test_extremes(name, mode, order):
    rng = np.random.default_rng(3)
    for x in (rng.standard_normal(60), rng.integers(0, 5, (7, 9))):
        for axis in range(x.ndim):
            found = getattr(signal, name)(flex.asarray(x), axis, order, mode)
            expected = getattr(scipy.signal, name)(x, axis, order, mode)
            for f, e in zip(found, expected, strict=True):
                close(f, e)


def test_extremes_of_a_comparison():
    x = np.random.default_rng(4).integers(0, 4, 50)
    for compare in (np.greater_equal, np.less):
        found = signal.argrelextrema(flex.asarray(x), compare, order=2)[0]
        close(found, scipy.signal.argrelextrema(x, compare, order=2)[0])
    assert signal.argrelmax(flex.zeros(0))[0].shape == (0,)
    for options, match in [({"order": 0}, "order is 0"), ({"mode": "near"}, "mode is 'near'")]:
        with pytest.raises(ValueError, match=f"argrelextrema: {match}"):
            signal.argrelmax(flex.ones(3), **options)
