"""Linear algebra beyond the standard against scipy.linalg and NumPy, and batches of small matrices against single ones."""

import numpy as np
import pytest
import scipy.linalg
from arrays import HALVES, to_numpy
from ratios import EPS, FIELDS, adjoint, norm, random, wide

import flex
from flex import linalg

SHAPES = [(4, 6), (6, 4), (5, 5), (0, 3), (3, 0), (1, 1), (120, 100), (100, 130)]


def double(a):
    """The array in the widest dtype that LAPACK takes."""
    return a.astype(np.complex128 if a.dtype.kind == "c" else np.float64)


def close(found, expected, dtype, factor=1e3):
    found = to_numpy(found)
    assert found.shape == np.shape(expected)
    size = np.max(np.abs(expected), initial=1)
    np.testing.assert_allclose(found, expected, rtol=0, atol=factor * EPS[dtype] * size)


@pytest.mark.parametrize("dtype", FIELDS)
@pytest.mark.parametrize("n", [0, 1, 5, 70, 130])
def test_triangles(dtype, n):
    a = random(dtype, (2, n, n)) + 3 * np.sqrt(max(n, 1)) * np.eye(n).astype(dtype)
    b = random(dtype, (n, 3), 2)
    for trans in (0, 1, 2):
        for lower in (False, True):
            for unit in (False, True):
                t = np.tril(wide(a)) if lower else np.triu(wide(a))
                if unit:
                    t = t / np.sqrt(max(n, 1)) / 9  # or the solutions grow
                    t = t - t * np.eye(n) + np.eye(n)
                given = (wide(a) / np.sqrt(max(n, 1)) / 9 if unit else a).astype(dtype)
                x = to_numpy(
                    linalg.solve_triangular(
                        flex.asarray(given), flex.asarray(b), trans, lower, unit
                    )
                )
                assert x.shape == (2, n, 3)
                assert x.dtype == dtype
                t = {0: t, 1: t.swapaxes(-1, -2), 2: adjoint(t)}[trans]
                residual = np.abs(t @ wide(x) - wide(b))
                assert np.all(
                    residual
                    <= 30 * max(n, 1) * EPS[dtype] * (np.abs(t) @ np.abs(wide(x)) + np.abs(wide(b)))
                )


def test_letters_of_transposes():
    a, b = flex.asarray([[2.0, 1.0], [0.0, 4.0]]), flex.asarray([4.0, 8.0])
    for number, letter in enumerate("NTC"):
        assert (
            linalg.solve_triangular(a, b, letter).tolist()
            == linalg.solve_triangular(a, b, number).tolist()
        )
    # the other triangle is not read
    bad = flex.asarray([[2.0, 1.0], [flex.nan, 4.0]])
    assert linalg.solve_triangular(bad, b).tolist() == linalg.solve_triangular(a, b).tolist()


@pytest.mark.parametrize("dtype", FIELDS)
@pytest.mark.parametrize("shape", SHAPES)
def test_lu(dtype, shape):
    a = random(dtype, (2, *shape))
    p, left, u = map(to_numpy, linalg.lu(flex.asarray(a)))
    m, n = shape
    k = min(m, n)
    assert (p.shape, left.shape, u.shape) == ((2, m, m), (2, m, k), (2, k, n))
    assert p.dtype == left.dtype == u.dtype == dtype
    assert np.all(np.tril(left) == left)
    assert np.all(np.triu(u) == u)
    assert np.all(
        np.abs(left) <= 1 + EPS[dtype] if np.dtype(dtype).kind == "f" else np.abs(left) <= 1.5
    )
    assert np.all((p == 0) | (p == 1))
    assert np.all(p.sum(-1) == 1)
    assert np.all(p.sum(-2) == 1)
    assert norm(wide(p) @ wide(left) @ wide(u) - wide(a)) <= 30 * max(m, n, 1) * EPS[dtype] * norm(
        a
    )
    packed, pivots = linalg.lu_factor(flex.asarray(a))
    assert pivots.dtype == flex.int32
    strict = np.tril(to_numpy(packed)[..., :k], -1)
    assert np.all(strict == np.tril(left, -1))
    if 0 not in shape:
        assert (
            np.all(to_numpy(pivots)[0] == scipy.linalg.lu_factor(a[0])[1])
            or np.dtype(dtype).kind == "c"
        )
    if m == n:
        b = random(dtype, (n, 2), 7)
        again = linalg.lu_solve((packed, pivots), flex.asarray(b))
        assert (
            again.tolist()
            == linalg.lu_solve((packed, pivots.astype(flex.int64)), flex.asarray(b)).tolist()
        )
        close(again, np.linalg.solve(double(a), double(b)), dtype, 1e5)


@pytest.mark.parametrize("dtype", FIELDS)
@pytest.mark.parametrize("upper", [False, True])
def test_cholesky_solve(dtype, upper):
    a = random(dtype, (3, 6, 6))
    h = a @ adjoint(a) + np.eye(6).astype(dtype)
    c = linalg.cholesky(flex.asarray(h), upper=upper)
    b = random(dtype, (6, 2), 3)
    close(
        linalg.cholesky_solve(flex.asarray(b), c, upper),
        np.linalg.solve(double(h), double(b)),
        dtype,
        1e4,
    )


@pytest.mark.parametrize("dtype", FIELDS)
def test_least_squares(dtype):
    for m, n in ((6, 4), (4, 6), (5, 5), (1, 3)):
        a, b = random(dtype, (m, n)), random(dtype, (m, 2), 2)
        fit = linalg.lstsq(flex.asarray(a), flex.asarray(b))
        x, residuals, rank, s = np.linalg.lstsq(double(a), double(b))
        close(fit.x, x, dtype, 1e5)
        assert fit.rank.item() == rank
        close(fit.singular_values, s, dtype)
        if residuals.size:
            close(fit.residuals, residuals, dtype, 1e4)
        close(linalg.lstsq(flex.asarray(a), flex.asarray(b[:, 0])).x, x[:, 0], dtype, 1e5)
    # of deficient rank: the shortest solution
    a = random(dtype, (6, 2)) @ random(dtype, (2, 4), 3)
    b = random(dtype, (6,), 4)
    fit = linalg.lstsq(flex.asarray(a), flex.asarray(b), rcond=1e-4)
    assert fit.rank.item() == 2
    close(fit.x, np.linalg.lstsq(double(a), double(b), rcond=1e-4)[0], dtype, 1e5)
    batch = random(dtype, (3, 5, 2))
    fit = linalg.lstsq(flex.asarray(batch), flex.asarray(random(dtype, (5, 4), 5)))
    assert (fit.x.shape, fit.residuals.shape, fit.rank.shape) == ((3, 2, 4), (3, 4), (3,))
    assert (
        linalg.lstsq(flex.zeros((0, 3)), flex.zeros((0, 2))).x.tolist() == np.zeros((3, 2)).tolist()
    )


@pytest.mark.parametrize("dtype", FIELDS)
def test_condition_numbers(dtype):
    a = random(dtype, (2, 5, 5))
    for p in (None, 2, -2, 1, -1, np.inf, -np.inf, "fro"):
        expected = np.linalg.cond(double(a), p)
        found = to_numpy(linalg.cond(flex.asarray(a), p))
        np.testing.assert_allclose(found, expected, rtol=1e3 * EPS[dtype])
    np.testing.assert_allclose(
        to_numpy(linalg.cond(flex.asarray(a[:, :3]))),
        np.linalg.cond(double(a[:, :3])),
        rtol=1e3 * EPS[dtype],
    )


def test_condition_of_singular_matrices():
    zero = flex.zeros((2, 2))
    for p in (None, 1, "fro"):
        assert linalg.cond(zero, p).item() == flex.inf
        assert linalg.cond(flex.asarray([[1.0, flex.nan], [0.0, 1.0]]), p).isnan().item()
    mixed = flex.stack([flex.eye(2), zero])
    assert linalg.cond(mixed, 1).tolist() == [1.0, flex.inf]
    with pytest.raises(flex.ShapeError, match="cond: the matrices have no elements"):
        linalg.cond(flex.zeros((0, 0)))


@pytest.mark.parametrize("dtype", FIELDS)
def test_exponentials(dtype):
    a = random(dtype, (5, 5))
    for factor in (0, 1e-5, 0.1, 1, 10):
        expected = scipy.linalg.expm(double(a) * factor)
        close(linalg.expm(flex.asarray(a * np.dtype(dtype).type(factor))), expected, dtype, 1e4)
    # each matrix of a batch by its own power of two
    batch = np.stack([a * np.dtype(dtype).type(f) for f in (1e-6, 1, 20)])
    found = to_numpy(linalg.expm(flex.asarray(batch)))
    for x, y in zip(batch, found, strict=True):
        assert np.all(y == to_numpy(linalg.expm(flex.asarray(x))))
    nilpotent = np.triu(np.ones((4, 4)), 1).astype(dtype)
    close(linalg.expm(flex.asarray(nilpotent)), scipy.linalg.expm(double(nilpotent)), dtype, 10)
    assert linalg.expm(flex.zeros((0, 2, 2))).shape == (0, 2, 2)
    assert linalg.expm(flex.asarray([[flex.inf]])).shape == (1, 1)


@pytest.mark.parametrize("dtype", [*FIELDS, *HALVES, "int32"])
def test_products_of_several(dtype):
    rng = np.random.default_rng(4)
    sizes = [(3, 40), (40, 5), (5, 30), (30, 2), (2, 7)]
    arrays = [rng.integers(-3, 4, s) for s in sizes]
    tensors = [flex.asarray(a).astype(dtype) for a in arrays]
    exact = np.linalg.multi_dot(arrays)
    found = linalg.multi_dot(tensors)
    assert found.dtype == getattr(flex, dtype)
    if dtype not in HALVES:
        assert np.all(to_numpy(found) == exact)
    row, column = tensors[0][0], tensors[-1][:, 0]
    assert linalg.multi_dot([row, *tensors[1:]]).shape == (7,)
    assert linalg.multi_dot([*tensors[:-1], column]).shape == (3,)
    assert linalg.multi_dot([row, *tensors[1:-1], column]).shape == ()


def test_norms_of_numpy():
    rng = np.random.default_rng(5)
    for shape in ((2, 3), (4,), (2, 3, 4)):
        a = rng.standard_normal(shape)
        for ord in (None, 1, 2, -1, -2, np.inf, -np.inf, 0, 3, "fro", "nuc"):
            for axis in (None, 0, -1, (0, 1), (1, 0), (-1, 0)):
                for keepdims in (False, True):
                    try:
                        expected = np.linalg.norm(a, ord, axis, keepdims)
                    except (ValueError, IndexError):
                        with pytest.raises((ValueError, IndexError)):
                            linalg.norm(flex.asarray(a), ord, axis, keepdims)
                        continue
                    found = to_numpy(linalg.norm(flex.asarray(a), ord, axis, keepdims))
                    assert found.shape == np.shape(expected)
                    np.testing.assert_allclose(found, expected, rtol=1e-13)


def test_eigenvalues_of_graded_rows():
    rng = np.random.default_rng(0)
    for _ in range(4000):
        n = rng.integers(2, 9)
        a = rng.standard_normal((n, n)) * 10.0 ** rng.uniform(-150, 150, (n, 1))
        values = linalg.eigvals(flex.asarray(a)).numpy()
        assert np.isfinite(values).all()
        # the largest is that of the largest row
        assert np.abs(values).max() == pytest.approx(np.abs(np.linalg.eigvals(a)).max(), rel=1e-9)


# ---- batches of small matrices, which are computed one in a lane


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", range(1, 10))
def test_small_matrices(dtype, n):
    eps = EPS[dtype]
    for count in (16, 17, 50):
        a, b = random(dtype, (count, n, n)), random(dtype, (count, n, 3), 2)
        x = to_numpy(linalg.solve(flex.asarray(a), flex.asarray(b)))
        assert norm(wide(a) @ wide(x) - wide(b)) <= 30 * n * eps * norm(a) * norm(x)
        y = to_numpy(linalg.inv(flex.asarray(a)))
        assert norm(wide(a) @ wide(y) - np.eye(n)) <= 30 * n * eps * norm(a) * norm(y)
        d = to_numpy(linalg.det(flex.asarray(a)))
        bound = 30 * n * eps * np.prod(np.linalg.norm(wide(a), axis=-1), axis=-1)
        assert np.all(np.abs(d - np.linalg.det(double(a))) <= bound)
        h = a @ adjoint(a) + np.eye(n).astype(dtype)
        c = to_numpy(linalg.cholesky(flex.asarray(h)))
        assert np.all(np.tril(c) == c)
        assert norm(wide(c) @ wide(adjoint(c)) - wide(h)) <= 30 * n * eps * norm(h)
        # whatever the layout and the broadcast
        turned = flex.asarray(np.ascontiguousarray(a.swapaxes(0, 1))).moveaxis(0, 1)
        assert np.all(to_numpy(linalg.inv(turned)) == y)
        one = to_numpy(linalg.solve(flex.asarray(a[0]), flex.asarray(b)))
        assert norm(wide(a[0]) @ wide(one) - wide(b)) <= 30 * n * eps * norm(a[0]) * norm(one)
    assert linalg.inv(flex.asarray(a).astype(flex.float16)).dtype == flex.float16


def test_small_matrices_that_need_care():
    a = np.random.default_rng(8).standard_normal((40, 4, 4))
    a[23, 2] = a[23, 1]
    a[23, :, 2] = 0
    with pytest.raises(linalg.LinAlgError, match=r"inv: matrix \[23\] of the batch is singular"):
        linalg.inv(flex.asarray(a))
    with pytest.raises(linalg.LinAlgError, match=r"solve: matrix \[23\] of the batch is singular"):
        linalg.solve(flex.asarray(a), flex.ones((4, 2), dtype=flex.float64))
    with pytest.raises(
        linalg.LinAlgError, match=r"cholesky: matrix \[\d+\] of the batch is not positive definite"
    ):
        linalg.cholesky(flex.asarray(a))
    assert linalg.det(flex.asarray(a))[23].item() == 0
    for scale in (1e-100, 1e100, 1e-60, 1e60):
        found = linalg.det(flex.asarray(a * scale)).numpy()
        with np.errstate(over="ignore"):
            expected = np.linalg.det(a) * scale**4 if scale in (1e-60, 1e60) else None
        if expected is not None:
            np.testing.assert_allclose(found, expected, rtol=1e-9)
        else:
            assert np.all((found == 0) | ~np.isfinite(found))
    # factors that overflow, of a determinant that does not
    d = np.zeros((20, 4, 4))
    d[:, range(4), range(4)] = [1e200, 1e200, 1e-200, 1e-200]
    np.testing.assert_allclose(linalg.det(flex.asarray(d)).numpy(), 1.0, rtol=1e-14)
    a[23] = np.eye(4)
    a[5, 1, 1] = np.nan
    assert np.isnan(linalg.det(flex.asarray(a)).numpy()[5])
    assert np.isfinite(linalg.det(flex.asarray(a)).numpy()[6:]).all()


def test_the_same_bits_for_any_number_of_threads():
    a = flex.asarray(np.random.default_rng(9).standard_normal((3000, 5, 5)))
    before = flex.get_num_threads()
    results = []
    try:
        for threads in (1, 2):
            flex.set_num_threads(threads)
            results.append((linalg.inv(a).tolist(), linalg.det(a).tolist()))
    finally:
        flex.set_num_threads(before)
    assert results[0] == results[1]


# ---- bad input

A = flex.asarray([[1.0, 2.0], [3.0, 4.0]])
V = flex.asarray([1.0, 2.0])
ERRORS = [
    (
        linalg.LinAlgError,
        "solve_triangular: .*singular.*pivot 1",
        lambda: linalg.solve_triangular(A * flex.asarray([[1, 1], [1, 0]]), V),
    ),
    (
        flex.ShapeError,
        "solve_triangular: the matrices are not square",
        lambda: linalg.solve_triangular(A[:1], V),
    ),
    (
        flex.ShapeError,
        "solve_triangular: the matrices of a have 2 rows, but b has 3",
        lambda: linalg.solve_triangular(A, flex.ones(3)),
    ),
    (
        ValueError,
        "solve_triangular: trans is 0, 1 or 2",
        lambda: linalg.solve_triangular(A, V, "X"),
    ),
    (flex.ShapeError, "lu_solve: pivots has an integer", lambda: linalg.lu_solve((A, V), V)),
    (
        ValueError,
        "lu_solve: row 1 is exchanged with row 0",
        lambda: linalg.lu_solve((A, flex.asarray([0, 0])), V),
    ),
    (
        linalg.LinAlgError,
        "solve: the matrix is singular",
        lambda: linalg.lu_solve(linalg.lu_factor(A * 0), V),
    ),
    (flex.ShapeError, "lu: a matrix has two dimensions", lambda: linalg.lu(V)),
    (flex.ShapeError, "lstsq: b has as many rows", lambda: linalg.lstsq(A, flex.ones(3))),
    (flex.ShapeError, "lstsq: a matrix has two dimensions", lambda: linalg.lstsq(V, V)),
    (flex.DTypeError, "lstsq", lambda: linalg.lstsq(A.astype(flex.float8_e4m3fn), V)),
    (flex.ShapeError, "cond: the matrices are not square", lambda: linalg.cond(A[:1], 1)),
    (ValueError, "ord is 3", lambda: linalg.cond(A, 3)),
    (flex.ShapeError, "expm: the matrices are not square", lambda: linalg.expm(A[:1])),
    (ValueError, "multi_dot: 1 operands", lambda: linalg.multi_dot([A])),
    (flex.ShapeError, "multi_dot: the matrices do not fit", lambda: linalg.multi_dot([A, A[:1]])),
    (flex.ShapeError, "multi_dot: operand 1 is not a matrix", lambda: linalg.multi_dot([A, V, A])),
    (ValueError, "norm: ord is 'fro'; of vectors", lambda: linalg.norm(V, "fro")),
    (ValueError, "norm: 3 dimensions", lambda: linalg.norm(A[None], 2)),
    (flex.AxisError, "norm: axis", lambda: linalg.norm(A, None, (0, -2))),
]


@pytest.mark.parametrize(("kind", "text", "call"), ERRORS)
def test_errors(kind, text, call):
    with pytest.raises(kind, match=text):
        call()


def test_offsets_of_any_size():
    for k in (2**70, -(2**70)):
        assert flex.diag(A, k).shape == (0,)
        assert linalg.diagonal(A, offset=k).shape == (0,)
        assert linalg.trace(A, offset=k).item() == 0
        with pytest.raises(MemoryError):
            flex.diag(V, k)
