"""Numbers and lists of them beside tensors, in functions that are compositions: they have the digits of the tensors' dtype, and its dtype
gives way to no number, Python's or NumPy's. Expected values are those of NumPy and SciPy in float64."""

import numpy as np
import pytest
import scipy.signal
import scipy.special

import flex

X = np.linspace(0.5, 2.0, 5)
WEIGHTS = [0.1, 0.2, 0.3, 0.4, 0.5]


def written(f):
    """The array after a call that writes into it."""

    def call(x):
        x = x.copy()
        f(x)
        return x

    return call


# flex's function of a tensor, and NumPy's or SciPy's of the array
CALLS = {
    "lerp": (lambda x: flex.lerp(x, 2 * x, 0.1), lambda x: x + 0.1 * x),
    "lerp of numbers": (lambda x: flex.lerp(0.1, x, 0.3), lambda x: 0.1 + 0.3 * (x - 0.1)),
    "xlogy": (lambda x: flex.xlogy(x, 0.1), lambda x: scipy.special.xlogy(x, 0.1)),
    "xlog1py": (lambda x: flex.xlog1py(x, 0.1), lambda x: scipy.special.xlog1py(x, 0.1)),
    "heaviside": (lambda x: flex.heaviside(x - 0.5, 0.1), lambda x: np.heaviside(x - 0.5, 0.1)),
    "divmod": (lambda x: flex.divmod(x, [0.1] * 5)[1], lambda x: np.divmod(x, 0.1)[1]),
    "fmax": (lambda x: flex.fmax(x, [0.7] * 5), lambda x: np.fmax(x, 0.7)),
    "fmin": (lambda x: flex.fmin(0.7, x), lambda x: np.fmin(0.7, x)),
    "float_power": (lambda x: flex.float_power(x, 0.1), lambda x: x**0.1),
    "float_power of a number": (lambda x: flex.float_power(0.1, x), lambda x: 0.1**x),
    "betaln": (lambda x: flex.betaln(x, 0.1), lambda x: scipy.special.betaln(x, 0.1)),
    "zeta": (lambda x: flex.zeta(x + 1, 0.1), lambda x: scipy.special.zeta(x + 1, 0.1)),
    "trapezoid": (lambda x: flex.trapezoid(x, WEIGHTS), lambda x: np.trapezoid(x, WEIGHTS)),
    "interp": (
        lambda x: flex.interp(x, [0.7, 0.8], [0.1, 0.2], left=0.1, right=0.3),
        lambda x: np.interp(x, [0.7, 0.8], [0.1, 0.2], left=0.1, right=0.3),
    ),
    "polyval": (lambda x: flex.polyval([0.1, 0.2], x), lambda x: np.polyval([0.1, 0.2], x)),
    "polyfit": (
        lambda x: flex.polyfit(x, x**3, 1, w=WEIGHTS),
        lambda x: np.polyfit(x, x**3, 1, w=WEIGHTS),
    ),
    "average": (
        lambda x: flex.average(x, weights=WEIGHTS),
        lambda x: np.average(x, weights=WEIGHTS),
    ),
    "cov": (lambda x: flex.cov(x, aweights=WEIGHTS), lambda x: np.cov(x, aweights=WEIGHTS)),
    "bincount": (
        lambda x: flex.bincount(flex.arange(5), WEIGHTS) * x,
        lambda x: np.bincount(np.arange(5), WEIGHTS) * x,
    ),
    "convolve": (lambda x: flex.convolve(x, [0.1, 0.3]), lambda x: np.convolve(x, [0.1, 0.3])),
    "correlate": (lambda x: flex.correlate(x, [0.1, 0.3]), lambda x: np.correlate(x, [0.1, 0.3])),
    "ediff1d": (
        lambda x: flex.ediff1d(x, 0.1, [0.2, 0.3]),
        lambda x: np.ediff1d(x, 0.1, [0.2, 0.3]),
    ),
    "select": (
        lambda x: flex.select([x > 1, x > 0.8], [x, 0.3], 0.1),
        lambda x: np.select([x > 1, x > 0.8], [x, 0.3], 0.1),
    ),
    "piecewise": (
        lambda x: flex.piecewise(x, [x > 1], [lambda y: 0.1, 0.3]),
        lambda x: np.piecewise(x, [x > 1], [lambda y: 0.1, 0.3]),
    ),
    "choose": (
        lambda x: flex.choose([0, 1, 0, 1, 1], [x, 0.1]),
        lambda x: np.choose([0, 1, 0, 1, 1], [x, 0.1]),
    ),
    "put": (
        written(lambda x: flex.put(x, [0, 3], [0.1, 0.3])),
        written(lambda x: np.put(x, [0, 3], [0.1, 0.3])),
    ),
    "place": (
        written(lambda x: flex.place(x, x > 1, [0.1])),
        written(lambda x: np.place(x, x > 1, [0.1])),
    ),
    "put_along_axis": (
        written(lambda x: flex.put_along_axis(x, [1, 2], 0.1, 0)),
        written(lambda x: np.put_along_axis(x, np.array([1, 2]), 0.1, 0)),
    ),
    "geomspace": (
        lambda x: flex.geomspace(0.1, 0.7, 5, dtype="float64"),
        lambda x: np.geomspace(0.1, 0.7, 5),
    ),
    "logspace": (
        lambda x: flex.logspace(0.1, 0.7, 5, base=1.7, dtype="float64"),
        lambda x: np.logspace(0.1, 0.7, 5, base=1.7),
    ),
    "union1d": (lambda x: flex.union1d(x, [0.1]), lambda x: np.union1d(x, [0.1])),
    "setdiff1d": (lambda x: flex.setdiff1d(x, [0.875]), lambda x: np.setdiff1d(x, [0.875])),
    "setdiff1d of tenths": (
        lambda x: flex.setdiff1d(x / 5, [0.1, 0.175]),
        lambda x: np.setdiff1d(x / 5, [0.1, 0.175]),
    ),
    "intersect1d": (
        lambda x: flex.intersect1d([0.1, 3.0], x / 5),
        lambda x: np.intersect1d([0.1, 3.0], x / 5),
    ),
    "digitize": (
        lambda x: flex.digitize([0.7, 0.1], [0.1, 0.7]) * flex.ones_like(x[:2]),
        lambda x: np.digitize([0.7, 0.1], [0.1, 0.7]) * np.ones(2),
    ),
    "savgol_filter": (
        lambda x: flex.signal.savgol_filter(x, 3, 1, mode="constant", cval=0.1),
        lambda x: scipy.signal.savgol_filter(x, 3, 1, mode="constant", cval=0.1),
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_numbers_have_the_digits_of_tensors(name):
    ours, theirs = CALLS[name]
    found, expected = ours(flex.asarray(X)), theirs(X)
    assert found.dtype == flex.float64
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-13, atol=1e-15)


BINARY = ["fmax", "fmin", "heaviside", "divmod", "xlogy", "xlog1py", "betaln", "zeta"]


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("number", [np.float64(2.5), np.float32(2.5), np.int64(2), np.int32(2)])
def test_scalars_of_numpy_are_numbers(name, number):
    f = getattr(flex, name)
    for dtype in ("float16", "float32", "float64", "int16"):
        x = flex.asarray([1, 2, 4], dtype=dtype)
        for call in (lambda y, x=x: f(x, y), lambda y, x=x: f(y, x)):
            found, expected = call(number), call(number.item())
            parts = zip(found, expected, strict=True) if name == "divmod" else [(found, expected)]
            for a, b in parts:
                assert a.dtype == b.dtype
                assert a.tolist() == b.tolist()


@pytest.mark.parametrize("f", [flex.gcd, flex.lcm])
def test_divisors_of_numbers(f):
    x = flex.asarray([4, 6], dtype="uint8")
    assert f(x, 10).dtype == flex.uint8
    assert f(x, [10, 9]).tolist() == getattr(np, f.__name__)([4, 6], [10, 9]).tolist()
    with pytest.raises(flex.DTypeError, match=f"^{f.__name__}: defined for integers, not float32"):
        f(x, 0.5)
    with pytest.raises(ValueError, match=f"^{f.__name__}: 300 is out of range for uint8"):
        f(x, 300)


def test_ends_of_differences():
    x = flex.asarray([1, 4, 9], dtype="int16")
    assert flex.ediff1d(x, [7, 8]).dtype == flex.int16
    for end in (0.5, [0.5], np.array([0.5])):
        with pytest.raises(flex.DTypeError, match=r"^ediff1d: to_end has float\d\d, ary int16"):
            flex.ediff1d(x, end)
        with pytest.raises(TypeError):
            np.ediff1d(np.array([1, 4, 9]), end)


def test_orders_of_positions():
    for order in ("C", "F"):
        for at in (0, 5, [7, 23], [[1], [22]]):
            ours, theirs = (
                flex.unravel_index(at, (2, 3, 4), order),
                np.unravel_index(at, (2, 3, 4), order),
            )
            assert [t.tolist() for t in ours] == [t.tolist() for t in theirs]
            assert flex.ravel_multi_index(ours, (2, 3, 4), order=order).tolist() == at
        sides = ([1, 5], [4, -1], [2, 9])
        modes = ("clip", "wrap", "clip")
        ours = flex.ravel_multi_index(sides, (2, 3, 4), modes, order)
        assert ours.tolist() == np.ravel_multi_index(sides, (2, 3, 4), modes, order).tolist()
    with pytest.raises(ValueError, match=r"^unravel_index: order is 'A'; it is 'C' or 'F'"):
        flex.unravel_index(1, (2, 3), "A")


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect"])
def test_widths_of_some_axes(mode):
    x = np.arange(12.0).reshape(3, 4)
    for widths in ({0: (1, 2)}, {-1: 2}, {1: (0, 1), 0: 1}, {}):
        found = flex.pad(flex.asarray(x), widths, mode)
        np.testing.assert_array_equal(np.asarray(found), np.pad(x, widths, mode))
    with pytest.raises(flex.AxisError, match=r"^pad: axis 2 is out of range for 2 dimensions"):
        flex.pad(flex.asarray(x), {2: 1}, mode)
