"""Factorisations, eigenvalues and singular values: residuals in LAPACK's ratios, values against NumPy."""

import numpy as np
import pytest
from arrays import to_numpy
from ratios import EPS, FIELDS, SHAPES, SIZES, adjoint, norm, random, wide

import flex
from flex import linalg


def graded(dtype, n):
    """Rows and columns from 1 down to 1e-8 or less."""
    steps = np.logspace(0, -4, n)
    return (random(dtype, (n, n)) * steps[:, None] * steps).astype(dtype)


def hermitian(a):
    return ((a + adjoint(a)) / 2).astype(a.dtype)


def special(dtype):
    """Square matrices that algorithms fail for."""
    n = 12
    tiny, huge = (1e-300, 1e300) if EPS[dtype] < 1e-10 else (1e-37, 1e37)
    a = random(dtype, (n, n))
    rank = (random(dtype, (n, 3)) @ random(dtype, (3, n), 2)).astype(dtype)
    jordan = (np.eye(n) * 2 + np.eye(n, k=1)).astype(dtype)
    return {
        "zero": np.zeros((n, n), dtype),
        "identity": np.eye(n, dtype=dtype),
        "ones": np.ones((n, n), dtype),
        "rank 3": rank,
        "graded": graded(dtype, n),
        "huge": (a * huge / 20).astype(dtype),
        "tiny": (a * tiny).astype(dtype),
        "upper": np.triu(a),
        "lower": np.tril(a),
        "jordan": jordan,
        "shift": np.roll(np.eye(n), 1, axis=0).astype(dtype),
        "repeated": np.diag([1.0] * 5 + [2.0] * 7).astype(dtype),
        "wilkinson": (
            np.diag(np.abs(np.arange(n) - 6.0)) + np.eye(n, k=1) + np.eye(n, k=-1)
        ).astype(dtype),
        "hilbert": (1 / (np.arange(n)[:, None] + np.arange(n) + 1)).astype(dtype),
        "near": (np.eye(n) + EPS[dtype] * random("float64", (n, n))).astype(dtype),
    }


def orthonormal(q, dtype, limit=30):
    """Asserts that columns are orthonormal."""
    q = wide(q)
    assert norm(adjoint(q) @ q - np.eye(q.shape[-1])) <= limit * max(q.shape) * EPS[dtype]


@pytest.mark.parametrize("dtype", FIELDS)
@pytest.mark.parametrize("n", SIZES)
def test_cholesky(dtype, n):
    a = wide(random(dtype, (n, n)))
    a = (a @ adjoint(a) + np.eye(n)).astype(dtype)
    t = flex.asarray(a)
    lower, upper = to_numpy(linalg.cholesky(t)), to_numpy(linalg.cholesky(t, upper=True))
    for factor, product in (
        (lower, wide(lower) @ adjoint(wide(lower))),
        (upper, adjoint(wide(upper)) @ wide(upper)),
    ):
        assert factor.dtype == dtype
        assert norm(wide(a) - product) <= 30 * max(n, 1) * EPS[dtype] * norm(a)
    np.testing.assert_array_equal(lower, np.tril(lower))
    np.testing.assert_array_equal(upper, np.triu(upper))
    assert (np.diagonal(lower).real > 0).all()
    # the other triangle is not read
    nan = np.triu(np.full((n, n), np.nan), 1).astype(dtype)
    np.testing.assert_array_equal(to_numpy(linalg.cholesky(flex.asarray(np.tril(a) + nan))), lower)
    np.testing.assert_array_equal(
        to_numpy(linalg.cholesky(flex.asarray(np.triu(a) + nan.T), upper=True)), upper
    )


@pytest.mark.parametrize("dtype", FIELDS)
@pytest.mark.parametrize("mode", ["reduced", "complete"])
@pytest.mark.parametrize("shape", SHAPES)
def test_qr(dtype, mode, shape):
    m, n = shape
    a = random(dtype, shape)
    result = linalg.qr(flex.asarray(a), mode=mode)
    q, r = to_numpy(result.Q), to_numpy(result.R)
    k = m if mode == "complete" else min(m, n)
    assert (q.shape, r.shape) == ((m, k), (k, n))
    assert norm(wide(a) - wide(q) @ wide(r)) <= 30 * max(m, 1) * EPS[dtype] * norm(a)
    orthonormal(q, dtype)
    np.testing.assert_array_equal(r, np.triu(r))
    assert (np.diagonal(r).imag == 0).all()
    # LAPACK's signs
    expected = np.linalg.qr(a, mode=mode).R
    np.testing.assert_allclose(r, expected, rtol=0, atol=300 * EPS[dtype] * (1 + norm(a)))


@pytest.mark.parametrize("dtype", FIELDS)
@pytest.mark.parametrize("shape", SHAPES)
def test_qr_modes_of_numpy_and_scipy(dtype, shape):
    x = flex.asarray(random(dtype, shape))
    for ours, other in (("reduced", "economic"), ("complete", "full")):
        for a, b in zip(linalg.qr(x, mode=ours), linalg.qr(x, other), strict=True):
            np.testing.assert_array_equal(to_numpy(a), to_numpy(b))
    r = linalg.qr(x, "r")
    np.testing.assert_array_equal(to_numpy(r), to_numpy(linalg.qr(x).R))
    with pytest.raises(ValueError, match="qr: mode is "):
        linalg.qr(x, "raw")


@pytest.mark.parametrize("dtype", ["float64", "complex128", "float32"])
def test_qr_of_special_matrices(dtype):
    for name, a in special(dtype).items():
        q, r = map(to_numpy, linalg.qr(flex.asarray(a)))
        scale = float(np.abs(a).max()) or 1.0
        residual = norm((wide(a) - wide(q) @ wide(r)) / scale)
        assert residual <= 30 * 12 * EPS[dtype] * norm(a / scale), name
        orthonormal(q, dtype)


def check_eigh(a, dtype):
    result = linalg.eigh(flex.asarray(a))
    values, v = to_numpy(result.eigenvalues), to_numpy(result.eigenvectors)
    n = a.shape[0]
    assert values.dtype == a.real.dtype
    assert (np.diff(values) >= 0).all()
    orthonormal(v, dtype)
    scale = float(np.abs(a).max(initial=0)) or 1.0
    a, values = wide(a) / scale, wide(values) / scale
    assert norm(a @ wide(v) - wide(v) * values) <= 60 * max(n, 1) * EPS[dtype] * norm(a)
    only = to_numpy(linalg.eigvalsh(flex.asarray((a * scale).astype(v.dtype)))) / scale
    np.testing.assert_allclose(
        only, values.astype(only.dtype), rtol=0, atol=30 * max(n, 1) * EPS[dtype] * (1 + norm(a))
    )
    return values


@pytest.mark.parametrize("dtype", FIELDS)
@pytest.mark.parametrize("n", SIZES)
def test_eigh(dtype, n):
    a = hermitian(random(dtype, (n, n)))
    values = check_eigh(a, dtype)
    scale = float(np.abs(a).max(initial=0)) or 1.0
    np.testing.assert_allclose(
        values.astype(float) * scale,
        np.linalg.eigvalsh(a),
        rtol=0,
        atol=30 * max(n, 1) * EPS[dtype] * (1 + norm(a)),
    )


@pytest.mark.parametrize("dtype", FIELDS)
def test_eigh_of_special_matrices(dtype):
    for a in special(dtype).values():
        check_eigh(hermitian(a), dtype)
    # only the lower triangle is read
    a = hermitian(random(dtype, (6, 6)))
    nan = np.triu(np.full((6, 6), np.nan), 1).astype(dtype)
    for x, y in zip(
        linalg.eigh(flex.asarray(a)), linalg.eigh(flex.asarray(np.tril(a) + nan)), strict=True
    ):
        np.testing.assert_array_equal(to_numpy(x), to_numpy(y))


def check_svd(a, dtype, full):
    result = linalg.svd(flex.asarray(a), full_matrices=full)
    u, s, vh = map(to_numpy, result)
    m, n = a.shape
    k = min(m, n)
    assert u.shape == ((m, m) if full else (m, k))
    assert vh.shape == ((n, n) if full else (k, n))
    assert s.dtype == a.real.dtype
    assert (np.diff(s) <= 0).all()
    assert (s >= 0).all()
    orthonormal(u, dtype)
    orthonormal(adjoint(vh), dtype)
    scale = float(np.abs(a).max(initial=0)) or 1.0
    a, s = wide(a) / scale, wide(s) / scale
    product = (wide(u)[:, :k] * s) @ wide(vh)[:k]
    assert norm(a - product) <= 35 * max(m, n, 1) * EPS[dtype] * norm(a)
    return s * scale


@pytest.mark.parametrize("dtype", FIELDS)
@pytest.mark.parametrize("shape", SHAPES)
def test_svd(dtype, shape):
    a = random(dtype, shape)
    for full in (False, True):
        s = check_svd(a, dtype, full)
    np.testing.assert_allclose(
        s.astype(float),
        np.linalg.svd(a, compute_uv=False),
        rtol=0,
        atol=30 * max(shape) * EPS[dtype] * (1 + norm(a)),
    )
    only = to_numpy(linalg.svdvals(flex.asarray(a)))
    # two algorithms, one accurate to some roundings of every value, the other to those of the largest
    rtol = (10 + max(shape)) * EPS[dtype]
    np.testing.assert_allclose(
        only, s.astype(only.dtype), rtol=rtol, atol=rtol * float(only.max(initial=0))
    )


@pytest.mark.parametrize("dtype", FIELDS)
def test_svd_of_special_matrices(dtype):
    for a in special(dtype).values():
        check_svd(a, dtype, False)
        check_svd(a[:, :7].copy(), dtype, True)


def test_small_singular_values_are_accurate():
    """Of a bidiagonal matrix, every value has a small relative error (Demmel and Kahan 1990): here exact ones are known."""
    values = np.logspace(0, -200, 9)
    np.testing.assert_allclose(
        to_numpy(linalg.svdvals(flex.asarray(np.diag(values)))), values, rtol=1e-13
    )
    # Kahan's example: the smallest value of n = 6 with 1 on and 1e8 above the diagonal is about 1e-40
    a = np.eye(6) + 1e8 * np.eye(6, k=1)
    s = to_numpy(linalg.svdvals(flex.asarray(a)))
    assert np.prod(s.astype(np.longdouble)) == pytest.approx(1.0, rel=1e-12)


def check_eig(a, dtype):
    result = linalg.eig(flex.asarray(a))
    values, v = to_numpy(result.eigenvalues), to_numpy(result.eigenvectors)
    n = a.shape[0]
    assert values.dtype == v.dtype == np.result_type(a.dtype, np.complex64)
    scale = float(np.abs(a).max(initial=0)) or 1.0
    a, values = wide(a) / scale, wide(values) / scale
    v = wide(v)
    assert norm(a @ v - v * values) <= 60 * max(n, 1) * EPS[dtype] * max(norm(a), EPS[dtype])
    np.testing.assert_allclose(
        np.sqrt((np.abs(v) ** 2).sum(axis=0)).astype(float), np.ones(n), rtol=20 * EPS[dtype]
    )
    if a.dtype.kind == "f":
        pairs = values[values.imag != 0]
        np.testing.assert_array_equal(pairs[::2], np.conj(pairs[1::2]))
        assert (pairs[::2].imag > 0).all()
        assert (v[:, values.imag == 0].imag == 0).all()
    return values * scale


@pytest.mark.parametrize("dtype", FIELDS)
@pytest.mark.parametrize("n", SIZES)
def test_eig(dtype, n):
    a = random(dtype, (n, n))
    values = check_eig(a, dtype)
    only = to_numpy(linalg.eigvals(flex.asarray(a)))
    assert only.dtype == np.result_type(a.dtype, np.complex64)
    for expected in (np.linalg.eigvals(a), only):
        far = np.abs(values[:, None].astype(complex) - expected).min(axis=0) if n else np.zeros(0)
        assert (far <= 1e4 * max(n, 1) * EPS[dtype]).all()


@pytest.mark.parametrize("dtype", FIELDS)
def test_eig_of_special_matrices(dtype):
    for a in special(dtype).values():
        check_eig(a, dtype)
    companion = np.eye(10, k=-1)
    companion[0] = -np.poly(np.arange(1, 11))[1:]
    check_eig(companion.astype(dtype), dtype)
    turn = np.kron(np.eye(4), [[0.0, -1.0], [1.0, 0.0]])  # repeated complex pairs
    check_eig(turn.astype(dtype), dtype)
