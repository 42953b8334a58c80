"""Compositions of functions that torch or SciPy have and NumPy lacks, functions that write, and grids: results, edges, errors."""

import numpy as np
import pytest
import scipy.special
import scipy.stats

import flex

FLOATS = ["float16", "bfloat16", "float32", "float64"]


def doubles(*xs):
    return [flex.asarray(x, dtype=flex.float64) for x in xs]


def numbers(t):
    return np.asarray(t.astype(flex.float64))


# ---- special functions: rows of operands and results, the latter by mpmath with 80 digits

EXACT = {
    "erfcinv": [
        (5e-324, "0x1.b369a6244e684p+4"),
        (1e-310, "0x1.aa5120aecb7cbp+4"),
        (1e-200, "0x1.55ff1c82aa9b7p+4"),
        (1e-30, "0x1.04c176cf456d7p+3"),
        (1e-05, "0x1.8fcc019497d9dp+1"),
        (0.4999, "0x1.e87f2685e6e27p-2"),
        (0.75, "0x1.cd70681d5ff70p-3"),
        (1.9999, "-0x1.6022dcb01ea50p+1"),
    ],
    "betaln": [
        (0.5, 1e10, "-0x1.5e191261414c2p+3"),
        (1e8, 1e8, "-0x1.086a2881d1729p+27"),
        (1e-8, 3.0, "0x1.26bb1bb74e869p+4"),
        (12.0, 1e5, "-0x1.e29d24047ccbep+6"),
        (9.5, 11.25, "-0x1.c650f1ecf1967p+3"),
        (3.0, 2.0, "-0x1.3e116bcd39e7dp+1"),
        (1e-5, 1e6, "0x1.7068b4d3da576p+3"),
    ],
    "zeta": [
        (1.25, 0.5, "0x1.955fb957f8028p+2"),
        (2.0, 1.0, "0x1.a51a6625307d3p+0"),
        (3.5, 20.0, "0x1.f31998d36e08dp-13"),
        (30.0, 0.75, "0x1.5dfaa697fa2a8p+12"),
        (1.0000001, 3.0, "0x1.312cfe248b87ep+23"),
    ],
}


@pytest.mark.parametrize("name", EXACT)
def test_special_functions_are_exact(name):
    """To 4 units of the last place."""
    *operands, exact = zip(*EXACT[name], strict=True)
    exact = np.array([float.fromhex(x) for x in exact])
    found = getattr(flex, name)(*doubles(*operands)).numpy()
    np.testing.assert_allclose(found, exact, rtol=4 * np.finfo(float).eps, atol=0)


POSITIVE = 10 ** np.random.default_rng(7).uniform(-3, 3, (2, 500))
SPECIAL = {
    # SciPy's own errors are larger: it subtracts logarithms of gamma functions
    "betaln": (POSITIVE, 1e-9),
    "erfcinv": ([np.random.default_rng(8).uniform(0, 2, 500)], 1e-14),
    "ndtr": ([np.random.default_rng(9).uniform(-6, 6, 500)], 1e-14),
    "ndtri": ([np.random.default_rng(9).uniform(0, 1, 500)], 1e-14),
    "zeta": ([1 + POSITIVE[0] / 20, POSITIVE[1]], 2e-15),
}


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", SPECIAL)
def test_special_functions(name, dtype):
    operands, rtol = SPECIAL[name]
    xs = [x.astype(dtype) for x in doubles(*operands)]
    expected = getattr(scipy.special, name)(*map(numbers, xs))
    found = getattr(flex, name)(*xs)
    assert found.dtype == getattr(flex, dtype)
    info = flex.finfo(dtype)
    expected = np.where(abs(expected) > float(info.max), np.copysign(np.inf, expected), expected)
    tiny = float(info.smallest_normal) * float(info.eps)
    rtol = max(rtol, float(info.eps))
    np.testing.assert_allclose(numbers(found), expected, rtol=rtol, atol=max(tiny, rtol / 10))


@pytest.mark.parametrize("n", [0, 1, 2, 3, 8, 40])
def test_polygamma(n):
    x = POSITIVE[0]
    found = flex.polygamma(n, flex.asarray(x, dtype=flex.float64)).numpy()
    np.testing.assert_allclose(found, scipy.special.polygamma(n, x), rtol=1e-13, atol=1e-15)
    single = flex.polygamma(n, flex.asarray([4.0, 2.5]))
    expected = scipy.special.polygamma(n, [4.0, 2.5])
    np.testing.assert_allclose(numbers(single), expected, rtol=2e-7)
    assert single.dtype == flex.float32


def test_the_zeta_function_of_riemann():
    x = np.concatenate([np.linspace(-30, 30, 241), -np.linspace(31, 250, 60)])
    found = flex.zeta(flex.asarray(x, dtype=flex.float64)).numpy()
    np.testing.assert_allclose(found, scipy.special.zeta(x), rtol=3e-13)
    small = flex.zeta(flex.asarray([-1e-20, -0.1, 0.9999]))
    np.testing.assert_allclose(numbers(small), scipy.special.zeta([0, -0.1, 0.9999]), rtol=2e-3)


def test_edges_of_special_functions():
    inf, nan = np.inf, np.nan
    rows = [
        (flex.erfcinv, [0.0, 2.0, -0.5, 2.5, nan, 1.0], [inf, -inf, nan, nan, nan, 0.0]),
        (flex.ndtr, [-inf, inf, nan, 0.0], [0.0, 1.0, nan, 0.5]),
        (flex.ndtri, [0.0, 1.0, nan, -1.0, 0.5], [-inf, inf, nan, nan, 0.0]),
        (lambda x: flex.betaln(x, 1.0), [0.0, inf, nan, 1.0], [inf, -inf, nan, 0.0]),
        (flex.zeta, [1.0, 0.0, -4.0, inf, nan], [inf, -0.5, 0.0, 1.0, nan]),
        (lambda x: flex.zeta(x, 1.0), [1.0, 0.5, inf, nan], [inf, nan, 1.0, nan]),
        (lambda q: flex.zeta(2.0, q), [0.0, -3.0, -0.5, inf], [inf, inf, nan, 0.0]),
        (lambda x: flex.polygamma(1, x), [0.0, -1.0, inf, nan], [inf, inf, 0.0, nan]),
        (lambda x: flex.polygamma(2, x), [0.0, -1.0, nan], [-inf, -inf, nan]),
    ]
    for f, x, expected in rows:
        np.testing.assert_array_equal(f(flex.asarray(x, dtype=flex.float64)).numpy(), expected)
    assert flex.betaln(flex.asarray([2, 3]), 4).dtype == flex.float32
    assert flex.erfcinv(0.5).shape == ()
    with pytest.raises(ValueError, match="polygamma: n is -1"):
        flex.polygamma(-1, 1.0)
    for f in (flex.erfcinv, flex.zeta, lambda x: flex.polygamma(0, x)):
        with pytest.raises(flex.DTypeError, match="complex"):
            f(flex.asarray([1j]))


# ---- modes and norms


def most_frequent(line):
    """torch's definition, by counting: the value, and the last of its positions."""
    values, counts = np.unique(line, return_counts=True)
    value = values[np.argmax(counts)]
    return value, np.flatnonzero(line == value)[-1]


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("dtype", ["int8", "float32", "bool", "bfloat16"])
def test_mode(axis, dtype):
    rng = np.random.default_rng(3)
    for size in (1, 2, 7, 40):
        a = rng.integers(0, 2 if dtype == "bool" else 5, (size, 6))
        x = flex.asarray(a).astype(dtype)
        found = flex.mode(x, axis)
        lines = np.moveaxis(a, axis, -1)
        expected = [most_frequent(line) for line in lines]
        assert found.values.dtype == x.dtype
        np.testing.assert_array_equal(numbers(found.values), [e[0] for e in expected])
        assert found.indices.tolist() == [e[1] for e in expected]
        kept = flex.mode(x, axis, keepdims=True)
        theirs = scipy.stats.mode(a, axis=axis, keepdims=True).mode
        np.testing.assert_array_equal(numbers(kept.values), theirs)


def test_edges_of_mode():
    assert [t.item() for t in flex.mode(flex.asarray(7))] == [7, 0]
    value, at = flex.mode(flex.asarray([np.nan, 2.0, np.nan]))
    assert (value.item(), at.item()) == (2.0, 1)
    assert flex.mode(flex.zeros((0, 3)), 1).values.shape == (0,)
    with pytest.raises(ValueError, match="mode: axis 0 has no elements"):
        flex.mode(flex.zeros((0, 3)), 0)
    with pytest.raises(flex.AxisError, match="mode: axis 2"):
        flex.mode(flex.zeros((1, 3)), 2)


@pytest.mark.parametrize("p", [0.5, 1, 2, 3.5, np.inf])
@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_renorm(p, axis):
    a = np.random.default_rng(2).normal(size=(3, 4, 5))
    found = flex.renorm(flex.asarray(a), p, axis, 2.0).numpy()
    for k in range(a.shape[axis]):
        part = np.take(a, k, axis)
        norm = np.linalg.norm(part.ravel(), p)
        expected = part * (2.0 / norm) if norm > 2 else part
        np.testing.assert_allclose(np.take(found, k, axis), expected, rtol=1e-13)


def test_edges_of_renorm():
    assert flex.renorm(flex.asarray([3, -4]), 2, 0, 3).tolist() == [3.0, -3.0]
    assert flex.renorm(flex.zeros((2, 0)), 2, 0, 1).shape == (2, 0)
    half = flex.renorm(flex.full((2, 100), 200.0, dtype=flex.float16), 2, 0, 10.0)
    assert half.dtype == flex.float16
    assert half[0, 0].item() == 1.0
    for p, most in ((0, 1), (np.nan, 1), (2, -1), (2, np.nan)):
        with pytest.raises(ValueError, match="renorm: "):
            flex.renorm(flex.zeros(3), p, 0, most)


# ---- functions that write


def test_what_is_written_to():
    x = flex.zeros((2, 3))
    view = x[0]
    flex.put(view, 0, 5.0)
    assert view.tolist() == [5.0, 0.0, 0.0]
    assert x.tolist() == [[0.0] * 3] * 2
    flex.fill_diagonal(x[:, :2], 1)  # of a temporary: tensors are values
    assert x.tolist() == [[0.0] * 3] * 2
    for f in (flex.put, flex.place, flex.put_along_axis, flex.fill_diagonal):
        with pytest.raises(TypeError, match="writes into a tensor, not list"):
            f([1.0, 2.0], [0, 1], [1.0])


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda x: flex.put(x, [6], 1), IndexError, "put: a position is out of range for 6"),
        (lambda x: flex.put(x, [0, -7], 1), IndexError, "out of range"),
        (lambda x: flex.put(x, [0.5], 1), flex.DTypeError, "put: positions are integers"),
        (lambda x: flex.put(x, [0], []), ValueError, "put: v is empty"),
        (lambda x: flex.put(x, [0], 1, mode="near"), ValueError, "mode is 'near'"),
        (lambda x: flex.place(x, [True], 1), flex.ShapeError, "place: the mask has shape"),
        (lambda x: flex.place(x, x == 0, []), ValueError, "place: vals is empty"),
        (lambda x: flex.fill_diagonal(x, []), ValueError, "fill_diagonal: val is empty"),
        (lambda x: flex.fill_diagonal(x[0], 1), flex.ShapeError, "fill_diagonal: a has shape"),
        (lambda x: flex.fill_diagonal(x[None], 1), flex.ShapeError, "or more of one size"),
        (lambda x: flex.put_along_axis(x, [[3]], 1, 1), IndexError, "for axis 1, of size 3"),
        (lambda x: flex.put_along_axis(x, [0], 1, 1), flex.ShapeError, "as many dimensions"),
        (lambda x: flex.put_along_axis(x, [[0]], 1, None), flex.ShapeError, "one dimension"),
        (lambda x: flex.put_along_axis(x, [[0]], 1, 2), flex.AxisError, "axis 2"),
        (lambda x: flex.put_along_axis(x, [[0]], [1, 2], 1), ValueError, "broadcast"),
    ],
)
def test_errors_before_writes(call, error, match):
    x = flex.zeros((2, 3))
    with pytest.raises(error, match=match):
        call(x)
    assert x.tolist() == [[0.0] * 3] * 2


# ---- grids


@pytest.mark.parametrize(
    "key",
    [
        np.s_[0:5],
        np.s_[3:-4:-2],
        np.s_[0:1:7j],
        np.s_[:4],
        np.s_[2:2],
        np.s_[0:3, 1:5:2],
        np.s_[-1:1:5j, 0:2, 4:0:-1.5],
        np.s_[0:3,],
    ],
)
def test_grids(key):
    for ours, theirs in ((flex.mgrid, np.mgrid), (flex.ogrid, np.ogrid)):
        found, expected = ours[key], theirs[key]
        if isinstance(expected, tuple):
            assert isinstance(found, tuple)
        else:
            found, expected = [found], [expected]
        for f, e in zip(found, expected, strict=True):
            assert f.dtype == (flex.int64 if e.dtype.kind == "i" else flex.float64)
            np.testing.assert_allclose(f.numpy(), e, rtol=1e-15)


def test_errors_of_grids():
    assert repr(flex.mgrid) == "flex.mgrid"
    with pytest.raises(TypeError, match="mgrid: the index is slices"):
        flex.mgrid[3]
    with pytest.raises(ValueError, match="ogrid: a slice needs a stop"):
        flex.ogrid[0:, 1:2]
    with pytest.raises(ValueError, match="mgrid: the step is 0"):
        flex.mgrid[0:3:0]
