"""Linear systems, determinants, norms, ranks: residuals in LAPACK's ratios, values against NumPy."""

import numpy as np
import pytest
from arrays import HALVES, to_numpy
from ratios import EPS, FIELDS, SIZES, adjoint, norm, random, wide

import flex
from flex import linalg


@pytest.mark.parametrize("dtype", FIELDS)
@pytest.mark.parametrize("n", SIZES)
def test_solve_and_inverse(dtype, n):
    a = random(dtype, (n, n))
    eps = EPS[dtype]
    for b in (
        random(dtype, (n,), 2),
        random(dtype, (n, 1), 3),
        random(dtype, (n, 5), 4),
        random(dtype, (n, 70), 5),
    ):
        x = to_numpy(linalg.solve(flex.asarray(a), flex.asarray(b)))
        assert x.shape == b.shape
        assert x.dtype == dtype
        columns, right = (wide(y if y.ndim == 2 else y[:, None]) for y in (x, b))
        for k in range(columns.shape[1]):
            residual = np.abs(right[:, k] - wide(a) @ columns[:, k]).sum()
            assert residual <= 30 * eps * norm(wide(a)) * np.abs(columns[:, k]).sum()
    x = to_numpy(linalg.inv(flex.asarray(a)))
    assert norm(np.eye(n) - wide(a) @ wide(x)) <= 30 * max(n, 1) * eps * norm(a) * norm(x)


def test_solve_broadcasts():
    rng = np.random.default_rng(3)
    for lead_a, lead_b in [
        ((), (4,)),
        ((4,), ()),
        ((2, 1), (3,)),
        ((2, 3), (2, 3)),
        ((0,), (1,)),
        ((1,), (5,)),
    ]:
        a, b = rng.standard_normal((*lead_a, 4, 4)), rng.standard_normal((*lead_b, 4, 2))
        x = to_numpy(linalg.solve(flex.asarray(a), flex.asarray(b)))
        np.testing.assert_allclose(x, np.linalg.solve(a, b), rtol=1e-9, atol=1e-9)
    # one dimension is a vector, for all matrices
    a, b = rng.standard_normal((5, 4, 4)), rng.standard_normal(4)
    x = to_numpy(linalg.solve(flex.asarray(a), flex.asarray(b)))
    assert x.shape == (5, 4)
    np.testing.assert_allclose(
        np.einsum("bij,bj->bi", a, x), np.tile(b, (5, 1)), rtol=0, atol=1e-10
    )
    assert (
        linalg.solve(flex.ones((2, 2)) + flex.eye(2), flex.ones((2,), dtype="complex64")).dtype
        == flex.complex64
    )
    assert (
        linalg.solve(flex.eye(2), flex.asarray([1.0, 2.0], dtype="float64")).dtype == flex.float64
    )


@pytest.mark.parametrize(
    "name",
    ["solve", "inv", "det", "slogdet", "cholesky", "qr", "eigh", "svd", "svdvals", "pinv", "eig"],
)
def test_layouts_and_batches(name):
    """Each matrix of a batch, in any layout, has the bits that it has alone."""
    rng = np.random.default_rng(4)
    a = rng.standard_normal((3, 2, 5, 5))
    a = a @ np.swapaxes(a, -1, -2) + np.eye(5)
    function = getattr(linalg, name)
    call = (lambda t: function(t, flex.ones((5, 2)))) if name == "solve" else function

    def results(t):
        y = call(t)
        return [to_numpy(x) for x in (y if isinstance(y, tuple) else (y,))]

    whole = results(flex.asarray(a))
    for layout in ("transposed", "flipped", "stepped"):
        if layout == "transposed":
            t = flex.matrix_transpose(flex.asarray(np.ascontiguousarray(np.swapaxes(a, -1, -2))))
        elif layout == "flipped":
            t = flex.flip(flex.asarray(np.ascontiguousarray(a[..., ::-1])), axis=-1)
        else:
            t = flex.asarray(np.repeat(a, 2, axis=-1))[..., ::2]
        for x, y in zip(whole, results(t), strict=True):
            np.testing.assert_array_equal(x, y)
    for i in range(3):
        for j in range(2):
            for x, y in zip(whole, results(flex.asarray(a[i, j].copy())), strict=True):
                np.testing.assert_array_equal(x[i, j], y)


def test_determinants():
    assert linalg.det(flex.asarray([[1.0, 2.0], [3.0, 4.0]], dtype="float64")).item() == -2.0
    assert linalg.det(flex.zeros((0, 0))).item() == 1.0
    assert linalg.det(flex.zeros((2, 0, 0))).tolist() == [1.0, 1.0]
    assert linalg.det(flex.zeros((3, 3))).item() == 0.0
    assert linalg.det(flex.asarray([[1, 2], [3, 4]])).dtype == flex.float32
    # intermediate products overflow, the result does not
    n = 400
    scale = np.where(np.arange(n) < n // 2, 1e100, 1e-100)
    assert linalg.det(flex.asarray(np.diag(scale))).item() == pytest.approx(1.0, rel=1e-12)
    assert linalg.det(flex.asarray(np.diag(np.full(4, 1e100)))).item() == float("inf")
    for dtype in FIELDS:
        a = random(dtype, (3, 6, 6))
        np.testing.assert_allclose(
            to_numpy(linalg.det(flex.asarray(a))), np.linalg.det(a), rtol=2000 * EPS[dtype]
        )
        sign, log = linalg.slogdet(flex.asarray(a))
        expected = np.linalg.slogdet(a)
        assert log.dtype.name == a.real.dtype.name
        np.testing.assert_allclose(to_numpy(sign), expected.sign, rtol=0, atol=100 * EPS[dtype])
        np.testing.assert_allclose(
            to_numpy(log), expected.logabsdet, rtol=0, atol=1000 * EPS[dtype]
        )
    result = linalg.slogdet(flex.zeros((2, 2)))
    assert (result.sign.item(), result.logabsdet.item()) == (0.0, float("-inf"))
    result = linalg.slogdet(flex.zeros((0, 0)))
    assert (result.sign.item(), result.logabsdet.item()) == (1.0, 0.0)
    assert np.isnan(linalg.det(flex.asarray([[float("nan"), 1.0], [1.0, 1.0]])).item())
    assert np.isnan(linalg.det(flex.asarray([[0.0, 1.0], [float("nan"), 1.0]])).item())


def test_singular_matrices_are_errors():
    assert issubclass(linalg.LinAlgError, ValueError)
    one = flex.asarray([[1.0, 2.0], [2.0, 4.0]])
    with pytest.raises(linalg.LinAlgError, match=r"^inv: the matrix is singular: pivot 1 is zero$"):
        linalg.inv(one)
    with pytest.raises(
        linalg.LinAlgError, match=r"^solve: the matrix is singular: pivot 0 is zero$"
    ):
        linalg.solve(flex.zeros((2, 2)), flex.ones(2))
    many = flex.stack([flex.eye(2), flex.eye(2), one, one])
    with pytest.raises(
        linalg.LinAlgError, match=r"^inv: matrix \[1, 0\] of the batch is singular: pivot 1"
    ):
        linalg.inv(flex.reshape(many, (2, 2, 2, 2)))
    with pytest.raises(linalg.LinAlgError, match=r"^matrix_power: the matrix is singular"):
        linalg.matrix_power(one, -2)
    with pytest.raises(
        linalg.LinAlgError,
        match=r"^cholesky: the matrix is not positive definite: its leading minor of order 2 is",
    ):
        linalg.cholesky(flex.asarray([[1.0, 2.0], [2.0, 1.0]]))
    with pytest.raises(
        linalg.LinAlgError, match=r"^cholesky: matrix \[1\] of the batch is not positive definite"
    ):
        linalg.cholesky(flex.stack([flex.eye(2), -flex.eye(2)]))
    for upper in (False, True):
        with pytest.raises(linalg.LinAlgError, match="order 3"):
            linalg.cholesky(flex.asarray(np.diag([1.0, 1.0, float("nan"), 1.0])), upper=upper)


SQUARE = ["inv", "det", "slogdet", "cholesky", "eigh", "eigvalsh", "eig", "eigvals"]
GENERAL = ["qr", "svd", "svdvals", "matrix_rank", "pinv", "matrix_norm", "trace", "diagonal"]


@pytest.mark.parametrize("name", [*SQUARE, *GENERAL])
def test_wrong_arguments(name):
    function = getattr(linalg, name)
    with pytest.raises(flex.ShapeError, match=f"^{name}: a matrix has two dimensions"):
        function(flex.ones(3))
    if name in SQUARE:
        with pytest.raises(flex.ShapeError, match=f"^{name}: the matrices are not square"):
            function(flex.ones((2, 3)))
    if name != "diagonal":
        with pytest.raises(flex.DTypeError, match=f"^{name}: "):
            function(flex.ones((2, 2)).astype("float8_e5m2"))


def test_wrong_arguments_of_others():
    x = flex.eye(2)
    with pytest.raises(flex.ShapeError, match="solve: the matrices of a have 2 rows, but b has 3"):
        linalg.solve(x, flex.ones(3))
    with pytest.raises(flex.ShapeError, match="solve: the dimensions before the last two do not"):
        linalg.solve(flex.ones((2, 2, 2)), flex.ones((3, 2, 1)))
    with pytest.raises(flex.ShapeError, match="solve: b has no dimensions"):
        linalg.solve(x, flex.asarray(1.0))
    with pytest.raises(ValueError, match='qr: mode is "raw"; it is'):
        linalg.qr(x, mode="raw")
    with pytest.raises(ValueError, match="matrix_norm: ord is 3; it is 'fro'"):
        linalg.matrix_norm(x, ord=3)
    with pytest.raises(ValueError, match="vector_norm: ord is NaN"):
        linalg.vector_norm(x, ord=float("nan"))
    with pytest.raises(flex.ShapeError, match="vector_norm: "):
        linalg.vector_norm(flex.zeros(0), ord=float("-inf"))
    with pytest.raises(flex.DTypeError, match="matrix_power: not defined for bool"):
        linalg.matrix_power(flex.ones((2, 2), dtype=flex.bool), 2)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("n", [1, 2, 5, 40, 120])
def test_what_is_not_finite_ends(bad, n):
    a = random("float64", (n, n))
    a[-1, 0] = bad
    t = flex.asarray(a)
    for f in (linalg.eigh, linalg.svd, linalg.eig):
        for result in f(t):
            assert np.isnan(to_numpy(result)).all()
    for f in (linalg.eigvalsh, linalg.svdvals, linalg.eigvals, linalg.pinv):
        assert np.isnan(to_numpy(f(t))).all()
    for f in (
        linalg.inv,
        linalg.qr,
        linalg.cholesky,
        linalg.det,
        lambda t: linalg.solve(t, flex.ones(n)),
    ):
        try:
            y = f(t)
        except linalg.LinAlgError:
            continue
        y = y[1] if isinstance(y, tuple) else y
        assert not np.isfinite(to_numpy(y)).all() or np.isinf(bad)


@pytest.mark.parametrize("dtype", HALVES)
def test_halves_are_computed_in_float32(dtype):
    a = flex.asarray(random("float32", (6, 6))).astype(dtype)
    a = (a + flex.matrix_transpose(a) + 12 * flex.eye(6)).astype(dtype)
    w = a.astype("float32")
    for f in (
        linalg.inv,
        linalg.det,
        linalg.cholesky,
        linalg.eigvalsh,
        linalg.svdvals,
        linalg.vector_norm,
        linalg.matrix_norm,
    ):
        y = f(a)
        assert y.dtype == dtype
        assert y.tolist() == f(w).astype(dtype).tolist()
    assert linalg.matrix_power(a, 3).tolist() == linalg.matrix_power(w, 3).astype(dtype).tolist()
    assert linalg.solve(a, flex.ones(6, dtype=dtype)).dtype == dtype
    assert linalg.eig(a).eigenvalues.dtype == flex.complex64


@pytest.mark.parametrize("dtype", [*FIELDS, "int64"])
def test_powers(dtype):
    a = flex.asarray([[2, 1], [1, 1]], dtype=dtype)
    expected = np.array([[2, 1], [1, 1]], dtype=dtype)
    for n in (0, 1, 2, 3, 7, 10):
        power = linalg.matrix_power(a, n)
        assert power.dtype == dtype
        np.testing.assert_array_equal(to_numpy(power), np.linalg.matrix_power(expected, n))
    inverse = linalg.matrix_power(a, -3)
    np.testing.assert_allclose(
        to_numpy(inverse), np.linalg.matrix_power(expected.astype(complex), -3), rtol=1e-4
    )
    many = flex.stack([a, flex.eye(2, dtype=dtype)])
    assert linalg.matrix_power(many, 2).tolist()[1] == flex.eye(2, dtype=dtype).tolist()
    assert linalg.matrix_power(flex.zeros((2, 0, 0)), 3).shape == (2, 0, 0)


def test_diagonals_and_traces():
    a = np.arange(24).reshape(2, 3, 4)
    t = flex.asarray(a)
    for offset in (-4, -3, -2, -1, 0, 1, 3, 4, 100, -(2**63)):
        near = max(offset, -9)
        np.testing.assert_array_equal(
            to_numpy(linalg.diagonal(t, offset=offset)), np.diagonal(a, near, -2, -1)
        )
        np.testing.assert_array_equal(
            to_numpy(linalg.trace(t, offset=offset)), np.trace(a, near, -2, -1)
        )
    assert linalg.trace(t, dtype=flex.float64).dtype == flex.float64
    assert linalg.trace(flex.ones((2, 2), dtype="int8")).dtype == flex.int64
    assert linalg.trace(flex.zeros((3, 0))).item() == 0.0
    flipped = flex.flip(t, axis=-1)
    np.testing.assert_array_equal(
        to_numpy(linalg.diagonal(flipped)), np.diagonal(a[..., ::-1], 0, -2, -1)
    )
    # a view
    x = flex.zeros((2, 2))
    d = linalg.diagonal(x)
    assert d.numpy().base is not None or d.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("dtype", FIELDS)
def test_vector_norms(dtype):
    a = random(dtype, (3, 4, 5))
    t = flex.asarray(a)
    for p in (0, 1, 2, 3, 0.5, -1, -2.5, np.inf, -np.inf):
        for axis in (None, 0, 1, -1, (0, 2), (2, 1)):
            for keepdims in (False, True):
                y = linalg.vector_norm(t, axis=axis, keepdims=keepdims, ord=p)
                expected = np.linalg.vector_norm(
                    a.astype(complex), axis=axis, keepdims=keepdims, ord=p
                )
                assert y.dtype == a.real.dtype.name
                assert y.shape == np.shape(expected)
                np.testing.assert_allclose(to_numpy(y), expected, rtol=40 * EPS[dtype])


def test_vector_norms_do_not_overflow():
    for scale in (1e300, 1e-300, 5e-324):
        x = flex.asarray(np.array([3.0, 4.0, 0.0]) * scale)
        expected = 5 * scale
        assert linalg.vector_norm(x).item() == pytest.approx(expected, rel=1e-14)
        assert linalg.vector_norm(x, ord=3).item() == pytest.approx(
            91 ** (1 / 3) * scale, rel=1e-13, abs=1e-323
        )
    mixed = flex.asarray([[1e300, 1e300], [3.0, 4.0], [0.0, 0.0], [np.inf, 1.0]], dtype="float64")
    assert linalg.vector_norm(mixed, axis=1).tolist() == [
        pytest.approx(2**0.5 * 1e300),
        5.0,
        0.0,
        np.inf,
    ]
    assert np.isnan(linalg.vector_norm(flex.asarray([np.nan, 1e300])).item())
    assert linalg.vector_norm(flex.zeros(0)).item() == 0.0
    assert linalg.vector_norm(flex.zeros((0, 3)), axis=0).tolist() == [0.0, 0.0, 0.0]
    assert linalg.vector_norm(flex.zeros(0), ord=np.inf).item() == 0.0
    assert linalg.vector_norm(flex.asarray([3, 4])).dtype == flex.float32


@pytest.mark.parametrize("dtype", FIELDS)
@pytest.mark.parametrize("ord", ["fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf])
def test_matrix_norms(dtype, ord):
    for shape in ((4, 4), (2, 3, 5), (2, 1, 5, 3)):
        a = random(dtype, shape)
        for keepdims in (False, True):
            y = linalg.matrix_norm(flex.asarray(a), ord=ord, keepdims=keepdims)
            expected = np.linalg.matrix_norm(a.astype(complex), ord=ord, keepdims=keepdims)
            assert y.shape == np.shape(expected)
            assert y.dtype == a.real.dtype.name
            np.testing.assert_allclose(to_numpy(y), expected, rtol=100 * EPS[dtype])
    if ord not in (-1, -2, -np.inf):
        assert linalg.matrix_norm(flex.zeros((0, 0)), ord=ord).item() == 0.0


@pytest.mark.parametrize("dtype", FIELDS)
def test_ranks_and_pseudoinverses(dtype):
    for shape in [(5, 3), (3, 5), (6, 6), (2, 4, 7)]:
        a = random(dtype, shape)
        t = flex.asarray(a)
        assert linalg.matrix_rank(t).tolist() == np.linalg.matrix_rank(a).tolist()
        np.testing.assert_allclose(
            to_numpy(linalg.pinv(t)), np.linalg.pinv(a), rtol=0, atol=500 * EPS[dtype]
        )
    a = (random(dtype, (7, 2)) @ random(dtype, (2, 5), 2)).astype(dtype)
    t = flex.asarray(a)
    assert linalg.matrix_rank(t).item() == 2
    x = to_numpy(linalg.pinv(t))
    np.testing.assert_allclose(a @ x @ a, a, rtol=0, atol=200 * EPS[dtype] * norm(a))
    np.testing.assert_allclose(x @ a @ x, x, rtol=0, atol=200 * EPS[dtype] * (1 + norm(x)) ** 3)
    d = flex.asarray(np.stack([np.diag([1.0, 0.1, 0.01])] * 2).astype(dtype))
    assert linalg.matrix_rank(d, rtol=0.05).tolist() == [2, 2]
    assert linalg.matrix_rank(d, rtol=flex.asarray([0.5, 0.001])).tolist() == [1, 3]
    assert linalg.pinv(d, rtol=flex.asarray([0.5, 0.05]))[0].tolist()[1] == [0.0, 0.0, 0.0]
    assert linalg.matrix_rank(flex.zeros((2, 3, 3))).tolist() == [0, 0]
    assert linalg.matrix_rank(flex.zeros((2, 0, 3))).tolist() == [0, 0]
    assert linalg.pinv(flex.zeros((2, 0, 3))).shape == (2, 3, 0)
    with pytest.raises(flex.ShapeError, match="matrix_rank: "):
        linalg.matrix_rank(d, rtol=flex.asarray([0.1, 0.2, 0.3]))


@pytest.mark.parametrize("name", ["inv", "cholesky", "qr", "eigh", "svd", "eig"])
def test_results_are_the_same_for_any_number_of_threads(name):
    a = random("float64", (2, 180, 180))
    a = a @ adjoint(a) + np.eye(180)
    t = flex.asarray(a)
    results = []
    for threads in (1, 2, 3):
        with flex.threads(threads):
            y = getattr(linalg, name)(t)
            results.append([to_numpy(x) for x in (y if isinstance(y, tuple) else (y,))])
    for other in results[1:]:
        for x, y in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(x, y)


def test_named_tuples():
    x = flex.eye(2)
    assert linalg.slogdet(x)._fields == ("sign", "logabsdet")
    assert linalg.qr(x)._fields == ("Q", "R")
    assert linalg.eig(x)._fields == ("eigenvalues", "eigenvectors")
    assert linalg.eigh(x)._fields == ("eigenvalues", "eigenvectors")
    assert linalg.svd(x)._fields == ("U", "S", "Vh")
