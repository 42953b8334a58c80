"""Special functions against SciPy's, and against values computed with 40 digits where those are not exact enough."""

import numpy as np
import pytest
import scipy.special

import flex

LINE = np.linspace(-30, 30, 601)
EDGES = [0.0, -0.0, np.inf, -np.inf, np.nan, -1.0, -2.0, 1.0, 2.0, 720.0, -720.0, 5e-324, 1e300]
PLAIN = [0.0, np.nan, -1.0, -2.0, 1.0, 2.0, 5e-324]
# SciPy's function, arguments, and the largest error in units of eps of the result
FUNCTIONS = {
    "lgamma": (
        scipy.special.gammaln,
        [*np.linspace(0.05, 40, 500), *np.logspace(-300, 300, 100), *PLAIN[:-1], np.inf],
        8,
    ),
    "digamma": (
        scipy.special.digamma,
        [*np.linspace(0.05, 40, 500), *np.logspace(-100, 300, 100), *EDGES[:5]],
        32,
    ),
    "erfinv": (
        scipy.special.erfinv,
        [
            *np.linspace(-1, 1, 401),
            *(1 - np.logspace(-15, -1, 30)),
            *np.logspace(-300, -1, 30),
            2.0,
            np.nan,
        ],
        16,
    ),
    "i0": (scipy.special.i0, [*LINE, *PLAIN], 16),
    "i0e": (scipy.special.i0e, [*LINE, *PLAIN, np.inf, -np.inf], 16),
    "i1": (scipy.special.i1, [*LINE, *PLAIN], 16),
    "i1e": (scipy.special.i1e, [*LINE, *PLAIN, np.inf, -np.inf], 16),
}


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_values(name, dtype):
    reference, arguments, units = FUNCTIONS[name]
    x = flex.asarray(arguments, dtype=flex.float64).astype(dtype)
    with np.errstate(all="ignore"):
        exact = reference(np.asarray(x.astype(flex.float64)))
    y = getattr(flex, name)(x)
    assert y.dtype == x.dtype
    expected = np.asarray(flex.asarray(exact).astype(dtype).astype(flex.float64))
    found = np.asarray(y.astype(flex.float64))
    eps = float(flex.finfo(dtype).eps)
    allowed = units * eps if dtype == "float64" else eps
    tiny = float(flex.finfo(dtype).smallest_normal) * eps
    # near zeros of the function SciPy itself is off by this
    np.testing.assert_allclose(found, expected, rtol=allowed, atol=max(tiny, 3e-16))
    zero = found == 0
    assert (np.signbit(found) == np.signbit(expected))[zero].all()


# computed with 40 digits
EXACT = {
    "lgamma": [
        (-0.5, 1.2655121234846454),
        (-10.3, -14.457515440024208),
        (1e-300, 690.7755278982137),
        (1.0000001, -5.772155829918507e-08),
    ],
    "i1": [(1e-200, 5e-201), (0.5, 0.2578943053908963)],
}


def test_infinities():
    x = flex.asarray([np.inf, -np.inf, 1000.0, -1000.0])
    assert flex.lgamma(x)[:2].tolist() == [np.inf, np.inf]
    assert flex.i0(x).tolist() == [np.inf] * 4
    assert flex.i1(x).tolist() == [np.inf, -np.inf] * 2


def test_values_that_are_not_scipys():
    import math

    for name, pairs in EXACT.items():
        for x, y in pairs:
            assert getattr(flex, name)(flex.asarray(x, dtype=flex.float64)).item() == pytest.approx(
                y, rel=4e-15
            )
    # recurrences
    x = np.linspace(-9.97, 9.97, 400)
    t = flex.asarray(x)
    np.testing.assert_allclose(
        flex.digamma(t + 1.0).numpy(), (flex.digamma(t) + 1.0 / t).numpy(), rtol=1e-11, atol=1e-12
    )
    np.testing.assert_allclose(
        flex.lgamma(t + 1.0).numpy(),
        (flex.lgamma(t) + flex.log(flex.abs(t))).numpy(),
        rtol=1e-11,
        atol=1e-12,
    )
    for n in range(1, 20):
        assert flex.lgamma(flex.asarray(float(n), dtype=flex.float64)).item() == pytest.approx(
            math.lgamma(n), rel=1e-15
        )
    # the root of digamma
    assert abs(flex.digamma(flex.asarray(1.4616321449683623, dtype=flex.float64)).item()) < 1e-16
    u = np.linspace(-0.999, 0.999, 401)
    np.testing.assert_allclose(
        flex.erf(flex.erfinv(flex.asarray(u))).numpy(), u, rtol=1e-14, atol=1e-16
    )


@pytest.mark.parametrize("name", FUNCTIONS)
def test_dtypes_and_layouts(name):
    function = getattr(flex, name)
    assert function(flex.asarray([1, 2])).dtype == flex.float32
    for dtype in (flex.complex64, flex.float8_e4m3fn):
        with pytest.raises(flex.DTypeError, match=name):
            function(flex.zeros(2).astype(dtype))
    assert function(flex.zeros((0, 3))).shape == (0, 3)
    x = flex.linspace(0.1, 0.9, 600000, dtype=flex.float64)
    assert function(x[::-3]).tolist() == function(x)[::-3].tolist()
    y = flex.reshape(x, (600, 1000))
    assert function(y.T).tolist() == function(y).T.tolist()
    assert x[0].item() == 0.1  # the operand is as it was
