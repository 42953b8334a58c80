"""Functions that are compositions of others, where SciPy or torch define them; dtypes, edges and errors of all. Calls in the form of NumPy
are in composed.py.
"""

import numpy as np
import pytest
import scipy.integrate
import scipy.linalg
import scipy.special
from composed import CALLS, EMPTY, A, B, N, V

import flex
from flex import _functions

FLOATS = ["float16", "bfloat16", "float32", "float64"]
WIDE = [0.0, -0.0, 1.0, -1.5, 0.1, 1e-30, -3e30, np.inf, -np.inf, np.nan]
UNIT = [0.0, 1e-12, 0.1, 0.31, 0.499999, 0.5, 0.50001, 0.8, 1 - 1e-7, 1.0, np.nan]


def same(found, expected, rtol=1e-13):
    assert type(found) is flex.Tensor
    assert found.shape == np.shape(expected)
    np.testing.assert_allclose(np.asarray(found.astype(flex.float64)), expected, rtol=rtol, atol=0)


def test_each_function_of_numpy_is_called():
    names = {n for n in _functions.FUNCTIONS if callable(getattr(np, n, None))}
    names = names - {"printoptions"} | {"sliding_window_view"}
    assert {n for n in names if not isinstance(getattr(np, n, None), np.ufunc)} == set(CALLS)


def test_real_roots():
    for p in ([1.0, -6.0, 11.0, -6.0], [0.0, 2.0, -1.0, 0.0], [3.0], [0.0, 0.0], []):
        found, expected = flex.roots(p), np.roots(p)
        assert found.dtype == flex.complex128
        np.testing.assert_allclose(np.sort(np.asarray(found)), np.sort(expected), rtol=1e-12)


# ---- SciPy's

ELEMENTWISE = {
    "logit": (scipy.special.logit, [UNIT]),
    "expit": (scipy.special.expit, [WIDE]),
    "xlogy": (
        scipy.special.xlogy,
        [[0.0, 0.0, 0.0, 2.0, -1.0, np.nan], [0.0, np.nan, -1.0, 0.0, 3.0, 0.0]],
    ),
    "xlog1py": (
        scipy.special.xlog1py,
        [[0.0, 0.0, 0.0, 2.0, -1.0], [-1.0, np.nan, -2.0, 1e-18, 3.0]],
    ),
    "cbrt": (np.cbrt, [[*WIDE, 8.0, -27.0, 5e-324, 1e300, 2.0**-1030]]),
    "sinc": (np.sinc, [[0.0, 1e-8, 0.5, -2.5, 2.25, np.nan]]),
    "heaviside": (np.heaviside, [WIDE, WIDE[::-1]]),
    "fmax": (np.fmax, [WIDE, WIDE[::-1]]),
    "fmin": (np.fmin, [WIDE, WIDE[::-1]]),
}


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", ELEMENTWISE)
def test_elementwise(name, dtype):
    reference, operands = ELEMENTWISE[name]
    xs = [flex.asarray(x, dtype=flex.float64).astype(dtype) for x in operands]
    exact = [np.asarray(x.astype(flex.float64)) for x in xs]
    with np.errstate(all="ignore"):
        expected = flex.asarray(reference(*exact)).astype(dtype).astype(flex.float64)
    found = getattr(flex, name)(*xs)
    assert found.dtype == getattr(flex, dtype)
    units = 16 if dtype == "float64" else 4
    same(found, np.asarray(expected), rtol=units * float(flex.finfo(dtype).eps))


@pytest.mark.parametrize("dtype", FLOATS)
def test_mantissas_and_exponents(dtype):
    tiny = float(flex.finfo(dtype).smallest_normal)
    eps = float(flex.finfo(dtype).eps)
    x = flex.asarray([*WIDE, tiny, tiny * eps, -3 * tiny * eps, 1 - eps / 2], dtype=dtype)
    mantissa, exponent = flex.frexp(x)
    m, e = np.frexp(np.asarray(x.astype(flex.float64)))
    assert exponent.dtype == flex.int32
    same(mantissa, m)
    finite = np.isfinite(m)
    assert (np.asarray(exponent)[finite] == e[finite]).all()
    again = flex.ldexp(mantissa, exponent)
    assert again.dtype == x.dtype
    same(again, np.asarray(x.astype(flex.float64)))
    assert np.signbit(again.astype(flex.float64).numpy())[1]


def test_powers_of_two_round_once():
    x = np.array([1.0 + 2.0**-52, 0.75, 1.5, 1e308, 1e-308, 2.0**-1000, 5e-324])
    n = np.array([-1074, -1074, -1074, 5000, -5000, -74, 2000])
    with np.errstate(over="ignore"):
        expected = np.ldexp(x, n)
    same(flex.ldexp(flex.asarray(x), flex.asarray(n)), expected)


def test_weights_of_ends():
    low, high = flex.asarray([1.0, 2.0, -3.0]), flex.asarray([3.0, 6.0, 1e30])
    for w, expected in ((0.0, low), (1.0, high)):
        assert flex.lerp(low, high, w).tolist() == expected.tolist()
    weights = flex.asarray([0.25, 0.5, 0.75])
    same(flex.lerp(low[:2], high[:2], weights[:2]), [1.5, 4.0])


@pytest.mark.parametrize(
    "dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
)
def test_integers(dtype):
    info = np.iinfo(dtype)
    rng = np.random.default_rng(3)
    a = rng.integers(info.min, info.max, 300, dtype=dtype, endpoint=True)
    b = rng.integers(info.min, info.max, 300, dtype=dtype, endpoint=True)
    a[:4], b[:4] = [0, 0, 12, info.max], [0, 6, 18, info.max]
    x, y = flex.asarray(a), flex.asarray(b)
    assert (flex.gcd(x, y).numpy() == np.gcd(a, b)).all()
    assert (flex.lcm(x, y).numpy() == np.lcm(a, b)).all()
    counts = flex.bitwise_count(x)
    assert counts.dtype == flex.uint8
    assert (counts.numpy() == np.bitwise_count(a)).all()


def test_integrals():
    x = np.array([0.0, 1.0, 4.0, 4.5])
    for kwargs in (
        {},
        {"x": x},
        {"dx": 0.5},
        {"initial": 0},
        {"axis": 0},
        {"x": A},
        {"x": x[:3], "axis": 0},
    ):
        tensors = {k: flex.asarray(v) if k == "x" else v for k, v in kwargs.items()}
        same(
            flex.cumulative_trapezoid(flex.asarray(A), **tensors),
            scipy.integrate.cumulative_trapezoid(A, **kwargs),
        )


def test_blocks():
    blocks = [A, V, EMPTY, B.astype(float), np.float64(3)]
    same(flex.block_diag(*map(flex.asarray, blocks)), scipy.linalg.block_diag(*blocks))
    assert flex.block_diag().shape == scipy.linalg.block_diag().shape


# ---- torch's, by their definitions


def test_pairs_of_statistics():
    x = flex.asarray(A)
    for correction in (0, 1):
        for axis in (None, 0, (0, 1)):
            std, mean = flex.std_mean(x, axis, correction=correction, keepdims=True)
            same(std, A.std(axis, ddof=correction, keepdims=True))
            same(mean, A.mean(axis, keepdims=True))
            same(flex.var_mean(x, axis, correction=correction)[0], A.var(axis, ddof=correction))
    low, high = flex.aminmax(x, axis=1)
    same(low, A.min(1))
    same(high, A.max(1))
    assert [t.item() for t in flex.aminmax(x)] == [A.min(), A.max()]


def test_kth_values():
    for axis in (0, 1, -1):
        for k in range(1, A.shape[axis] + 1):
            values, indices = flex.kthvalue(flex.asarray(A), k, axis)
            same(values, np.sort(A, axis).take(k - 1, axis))
            assert (indices.numpy() == np.argsort(A, axis, kind="stable").take(k - 1, axis)).all()
    assert flex.kthvalue(flex.asarray(A), 2, 0, keepdims=True).values.shape == (1, 4)


def test_flatten():
    x = flex.asarray(np.arange(24).reshape(2, 3, 4))
    assert flex.flatten(x).shape == (24,)
    assert flex.flatten(x, 1).shape == (2, 12)
    assert flex.flatten(x, 0, 1).tolist() == np.arange(24).reshape(6, 4).tolist()
    assert flex.flatten(flex.asarray(5)).shape == (1,)
    assert flex.flatten(x, -2, 1).shape == (2, 3, 4)
    assert flex.flatten(flex.zeros((2, 0, 3)), 1).shape == (2, 0)


def test_buckets():
    bounds = np.array([1.0, 3.0, 3.0, 8.0])
    for right in (False, True):
        expected = np.searchsorted(bounds, A, "right" if right else "left")
        found = flex.bucketize(flex.asarray(A), flex.asarray(bounds), right=right)
        assert (found.numpy() == expected).all()


REDUCTIONS = {"sum": np.sum, "prod": np.prod, "mean": np.mean, "amax": np.max, "amin": np.min}


@pytest.mark.parametrize("reduce", REDUCTIONS)
@pytest.mark.parametrize("include", [True, False])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int32", "uint8"])
def test_scatter_reduce(reduce, include, dtype):
    rng = np.random.default_rng(5)
    x = rng.integers(1, 5, (3, 4)).astype(dtype)
    at = rng.integers(0, 3, (5, 4))
    values = rng.integers(1, 5, (5, 4)).astype(dtype)
    expected = x.copy()
    for i in range(3):
        for j in range(4):
            group = [*values[at[:, j] == i, j]]
            if group:
                group += [x[i, j]] * include
                result = REDUCTIONS[reduce](np.array(group, dtype))
                expected[i, j] = np.floor(result) if dtype in ("int32", "uint8") else result
    found = flex.scatter_reduce(
        flex.asarray(x), 0, flex.asarray(at), flex.asarray(values), reduce, include_self=include
    )
    assert found.dtype == getattr(flex, dtype)
    same(found, expected.astype(np.float64), rtol=1e-6)


def test_writes_by_masks_and_positions():
    x = flex.asarray(A)
    mask = A > 1
    expected = A.copy()
    expected[mask] = np.arange(mask.sum())
    same(
        flex.masked_scatter(x, flex.asarray(mask), flex.arange(20.0, dtype=flex.float64)), expected
    )
    same(flex.masked_scatter(x, flex.asarray(False), flex.asarray([])), A)
    same(
        flex.masked_scatter(
            flex.zeros((2, 2)), flex.asarray([True, False]), flex.asarray([1.0, 2.0])
        ),
        [[1, 0], [2, 0]],
    )
    expected = A.copy()
    expected[:, [0, 3]] = 7
    same(flex.index_fill(x, 1, flex.asarray([0, -1]), 7.0), expected)
    same(flex.index_fill(x, 0, flex.asarray([], dtype=flex.int64), 7.0), A)


def test_triangles_and_spaces():
    for args in ((4,), (3, 5), (3, 5, 1), (3, 2, -2), (0, 3)):
        assert flex.tri(*args).tolist() == np.tri(*args).tolist()
    assert flex.tri(2, dtype=flex.int8).dtype == flex.int8
    assert flex.logspace(0, 2, 3).dtype == flex.float32
    same(flex.logspace(0.0, 3.0, 7, dtype=flex.float64), np.logspace(0, 3, 7))
    same(flex.geomspace(1, 1000, 4, dtype=flex.float64), np.geomspace(1, 1000, 4))
    same(flex.geomspace(-1000, -1, 4, dtype=flex.float64), np.geomspace(-1000, -1, 4))
    assert flex.geomspace(1, 256, 9).tolist() == [2.0**k for k in range(9)]
    found = flex.geomspace(1j, 16j, 5, dtype=flex.complex128).numpy()
    np.testing.assert_allclose(found, np.geomspace(1j, 16j, 5), rtol=1e-14)
    assert flex.logspace(0, 1, 0).shape == (0,)


def test_narrow_floats_and_integers():
    half = flex.asarray(V, dtype=flex.bfloat16)
    assert flex.average(half).dtype == flex.bfloat16
    assert flex.average(flex.asarray(B)).dtype == flex.float32
    assert flex.cov(flex.asarray(B)).dtype == flex.float32
    np.testing.assert_allclose(flex.cov(flex.asarray(B)).numpy(), np.cov(B), rtol=1e-6)
    assert flex.nanmedian(flex.asarray(N, dtype=flex.float16)).dtype == flex.float16
    assert flex.histogram(half, 2)[1].dtype == flex.bfloat16
    assert flex.interp(half, flex.asarray([0, 9]), flex.asarray([0, 9])).dtype == flex.float32
    assert flex.unwrap(flex.asarray([0, 4, 1]), period=3).dtype == flex.int64
    # Python's own numbers are taken as they are
    assert flex.digitize(flex.asarray(0.1, dtype=flex.float64), [0.1]).item() == 1
    assert flex.nanquantile(flex.asarray([0.0, 1.0], dtype=flex.float64), 0.1).item() == 0.1


def test_no_elements():
    none = flex.zeros((0, 3), dtype=flex.float64)
    assert flex.nanmedian(none, axis=0).tolist() == pytest.approx([np.nan] * 3, nan_ok=True)
    assert flex.nanquantile(none, [0.5], axis=1).shape == (1, 0)
    assert flex.unique(none, axis=0).shape == (0, 3)
    assert flex.lexsort((flex.zeros(0),)).shape == (0,)
    assert flex.gcd(flex.zeros(0, dtype=flex.int32), 4).shape == (0,)
    assert flex.trapezoid(none).shape == (0,)
    assert flex.pad(none, 1, "empty").shape == (2, 5)
    assert flex.setxor1d(flex.zeros(0), flex.zeros(0)).shape == (0,)
    assert flex.partition(flex.zeros((0, 3)), 1).shape == (0, 3)
    assert flex.sliding_window_view(flex.zeros((0, 3)), 2, 1).shape == (0, 2, 2)


X = flex.asarray([1.0, 2.0, 3.0])
I = flex.asarray([0, 1, 2])  # noqa: E741
ERRORS = [
    (flex.ShapeError, "average: weights have shape \\[2\\]", lambda: flex.average(X, 0, I[:2])),
    (TypeError, "average: .*needs an axis", lambda: flex.average(X, weights=I[:2])),
    (ZeroDivisionError, "average: the weights sum to zero", lambda: flex.average(X, weights=X * 0)),
    (flex.AxisError, "average: axis 3 is out of range", lambda: flex.average(X, 3)),
    (flex.ShapeError, "cov: m has at most two", lambda: flex.cov(flex.zeros((2, 2, 2)))),
    (ValueError, "cov: aweights must not be negative", lambda: flex.cov(X, aweights=-X)),
    (TypeError, "cov: fweights are integers", lambda: flex.cov(X, fweights=X / 2)),
    (flex.ShapeError, "cov: m has 3 observations, y has 2", lambda: flex.cov(X, X[:2])),
    (ValueError, "nanargmax: all elements of a line", lambda: flex.nanargmax(X * flex.nan)),
    (ValueError, "nanquantile: q is 2; it must be from 0 to 1", lambda: flex.nanquantile(X, 2)),
    (
        ValueError,
        "nanpercentile: q is NaN; it must be from 0 to 100",
        lambda: flex.nanpercentile(X, flex.nan),
    ),
    (ValueError, 'nanquantile: method is "best"', lambda: flex.nanquantile(X, 0.5, method="best")),
    (flex.DTypeError, "nanmedian: .*complex64", lambda: flex.nanmedian(X * 1j)),
    (ValueError, "bincount: x has -1", lambda: flex.bincount(I - 1)),
    (flex.DTypeError, "bincount: x has integers, not float32", lambda: flex.bincount(X)),
    (flex.ShapeError, "bincount: x has one dimension", lambda: flex.bincount(I[None])),
    (flex.ShapeError, "bincount: weights have shape", lambda: flex.bincount(I, X[:1])),
    (ValueError, "bincount: minlength is -1", lambda: flex.bincount(I, minlength=-1)),
    (MemoryError, "bytes|memory", lambda: flex.histogram2d(X, X, 2**30)),
    (MemoryError, "bytes|memory", lambda: flex.bincount(flex.asarray([2**50]))),
    (ValueError, "digitize: bins must be ascending", lambda: flex.digitize(X, [1, 3, 2])),
    (ValueError, "histogram: bins is 'many'", lambda: flex.histogram(X, "many")),
    (ValueError, "histogram: bins is 0", lambda: flex.histogram(X, 0)),
    (ValueError, "histogram: the edges of bins must ascend", lambda: flex.histogram(X, [2, 1])),
    (ValueError, "histogram: autodetected range", lambda: flex.histogram(X * flex.nan)),
    (ValueError, "histogram: range is 2.0 to 1.0", lambda: flex.histogram(X, range=(2, 1))),
    (flex.ShapeError, "histogram: weights", lambda: flex.histogram(X, weights=X[:2])),
    (flex.DTypeError, "histogram: complex", lambda: flex.histogram(X * 1j)),
    (
        flex.ShapeError,
        "histogramdd: there are 2 dimensions",
        lambda: flex.histogramdd([X, X], (1, 2, 3)),
    ),
    (flex.ShapeError, "histogram2d: x has shape", lambda: flex.histogram2d(X, X[:2])),
    (flex.DTypeError, "gcd: defined for integers, not float32", lambda: flex.gcd(X, X)),
    (flex.DTypeError, "bitwise_count: defined for integers", lambda: flex.bitwise_count(X)),
    (flex.DTypeError, "ldexp: x2 has integers", lambda: flex.ldexp(X, X)),
    (flex.DTypeError, "cbrt: not defined for complex", lambda: flex.cbrt(X * 1j)),
    (flex.ShapeError, "broadcast", lambda: flex.heaviside(X, X[:2])),
    (flex.ShapeError, "diagonal: a has at least two", lambda: flex.diagonal(X)),
    (
        ValueError,
        "diagonal: axis1 and axis2 are the same",
        lambda: flex.diagonal(X[None], 0, 1, -1),
    ),
    (ValueError, "flatten: start_dim 1 comes after", lambda: flex.flatten(X[None], 1, 0)),
    (flex.ShapeError, "block_diag: operand 0 has shape", lambda: flex.block_diag(X[None, None])),
    (
        IndexError,
        "unravel_index: a position is out of range for 2",
        lambda: flex.unravel_index(I, 2),
    ),
    (flex.DTypeError, "unravel_index: positions are integers", lambda: flex.unravel_index(X, 9)),
    (
        ValueError,
        "an index of dimension 0 is out of range for 2",
        lambda: flex.ravel_multi_index((I,), 2),
    ),
    (
        flex.ShapeError,
        "ravel_multi_index: 2 dimensions",
        lambda: flex.ravel_multi_index((I,), (2, 2)),
    ),
    (ValueError, "mode is 'loop'", lambda: flex.ravel_multi_index((I,), 2, "loop")),
    (flex.ShapeError, "vander: x has one dimension", lambda: flex.vander(X[None])),
    (ValueError, "vander: N is -1", lambda: flex.vander(X, -1)),
    (ValueError, "logspace: num is -1", lambda: flex.logspace(0, 1, -1)),
    (ValueError, "geomspace: start and stop must not be 0", lambda: flex.geomspace(0, 1)),
    (ValueError, "geomspace: .* same sign", lambda: flex.geomspace(-1, 1)),
    (flex.ShapeError, "larger|size 4|exceeds", lambda: flex.sliding_window_view(X, 4)),
    (
        flex.ShapeError,
        "sliding_window_view: 1 sizes for 2",
        lambda: flex.sliding_window_view(X[None], 1),
    ),
    (ValueError, "select: 0 conditions", lambda: flex.select([], [])),
    (flex.DTypeError, "select: conditions are bool", lambda: flex.select([X], [X])),
    (ValueError, "piecewise: 3 functions for 1", lambda: flex.piecewise(X, [X > 1], [1, 2, 3])),
    (
        ValueError,
        "choose: a number of a choice is out of range for 2",
        lambda: flex.choose(I, [X, X]),
    ),
    (flex.ShapeError, "compress: condition has one", lambda: flex.compress(X[None] > 0, X)),
    (IndexError, "out of range", lambda: flex.compress(X > 0, X[:2])),
    (
        ValueError,
        "masked_scatter: source has 1 elements",
        lambda: flex.masked_scatter(X, X > 1, X[:1]),
    ),
    (flex.DTypeError, "masked_scatter: the mask is bool", lambda: flex.masked_scatter(X, X, X)),
    (
        IndexError,
        "index_fill: a position is out of range for 3",
        lambda: flex.index_fill(X, 0, I + 1, 0),
    ),
    (ValueError, "scatter_reduce: reduce is 'max'", lambda: flex.scatter_reduce(X, 0, I, X, "max")),
    (ValueError, "partition: kth is 3", lambda: flex.partition(X, 3)),
    (ValueError, "kthvalue: k is 0", lambda: flex.kthvalue(X, 0)),
    (ValueError, "lexsort: there are no keys", lambda: flex.lexsort(())),
    (flex.AxisError, "unique: axis 1", lambda: flex.unique(X, axis=1)),
    (flex.ShapeError, "interp: xp has shape", lambda: flex.interp(X, X, X[:2])),
    (ValueError, "interp: there are no points", lambda: flex.interp(X, X[:0], X[:0])),
    (ValueError, "interp: period is 0", lambda: flex.interp(X, X, X, period=0)),
    (flex.ShapeError, "trapezoid: x has 2 points", lambda: flex.trapezoid(X, X[:2])),
    (ValueError, "initial is 1", lambda: flex.cumulative_trapezoid(X, initial=1)),
    (flex.ShapeError, "gradient: axis 0 has 1 samples", lambda: flex.gradient(X[:1])),
    (ValueError, "gradient: edge_order is 3", lambda: flex.gradient(X, edge_order=3)),
    (TypeError, "gradient: 2 distances for 1 axes", lambda: flex.gradient(X, 1.0, 2.0)),
    (ValueError, "convolve: an operand has no", lambda: flex.convolve(X, X[:0])),
    (ValueError, "correlate: mode is 'half'", lambda: flex.correlate(X, X, "half")),
    (ValueError, "pad: mode is 'mirror'", lambda: flex.pad(X, 1, "mirror")),
    (TypeError, "pad: mode 'edge' has no keyword 'value'", lambda: flex.pad(X, 1, "edge", value=1)),
    (ValueError, "pad: pad_width must not be negative", lambda: flex.pad(X, -1, "edge")),
    (ValueError, "pad: mode 'wrap' has nothing to repeat", lambda: flex.pad(X[:0], 1, "wrap")),
    (
        ValueError,
        "pad: reflect_type is 'none'",
        lambda: flex.pad(X, 1, "reflect", reflect_type="none"),
    ),
    (
        flex.ShapeError,
        "pad: pad_width is a number, a pair",
        lambda: flex.pad(X, ((1, 1), (2, 2)), "edge"),
    ),
]


@pytest.mark.parametrize(("kind", "text", "call"), ERRORS)
def test_errors(kind, text, call):
    with pytest.raises(kind, match=text):
        call()


def test_errors_of_polynomials():
    for kind, text, call in (
        (ValueError, "polyfit: degree -1", lambda: flex.polyfit([1.0], [1.0], -1)),
        (
            ValueError,
            "polyfit: 2 points for 2",
            lambda: flex.polyfit([1.0, 2.0], [1, 2], 1, cov=True),
        ),
        (ValueError, "polyfit: .* 0 points", lambda: flex.polyfit([], [], 1)),
        (flex.ShapeError, "y has shape .2.", lambda: flex.polyfit([1.0], [1.0, 2.0], 1)),
        (flex.ShapeError, "w has 2", lambda: flex.polyfit([1.0], [1.0], 0, w=[1.0, 2.0])),
        (flex.ShapeError, "polyval: p", lambda: flex.polyval([[1.0]], 1.0)),
        (flex.ShapeError, "roots: p", lambda: flex.roots([[1.0]])),
    ):
        with pytest.raises(kind, match=text):
            call()


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int32", "uint8", "int64"])
def test_histograms_of_many_elements(dtype):
    """Bins are told by their width, and corrected by their edges: as if the edges were searched."""
    rng = np.random.default_rng(8)
    for bins in (1, 7, 64, np.linspace(0, 40, 33), np.asarray([0.0, 1.0, 30.0])):
        a = (rng.random(1000) * 80).astype(dtype)
        if dtype.startswith("float"):
            a[:3] = np.nan, np.inf, -np.inf
            a[3:300] = np.round(a[3:300])
        given = bins if isinstance(bins, int) else flex.asarray(bins)
        limits = (2, 77.5) if isinstance(bins, int) else None
        counts, edges = flex.histogram(flex.asarray(a), given, limits)
        edges = np.asarray(edges)
        inside = a[(a >= edges[0]) & (a <= edges[-1])]
        places = np.minimum(np.searchsorted(edges, inside, "right") - 1, len(edges) - 2)
        expected = np.bincount(places, minlength=len(edges) - 1)
        assert counts.tolist() == expected.tolist()
