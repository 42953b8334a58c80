# Written by scripts/make_stubs.py.
import builtins
from collections.abc import Iterable
from typing import Literal, SupportsIndex, overload

from flex._flex import Tensor, _DType, _Operand, _Shape
from flex._flex import cross as cross
from flex._flex import matmul as matmul
from flex._flex import matrix_transpose as matrix_transpose
from flex._flex import outer as outer
from flex._flex import tensordot as tensordot
from flex._flex import vecdot as vecdot
from flex._results import (
    EighResult,
    EigResult,
    LstsqResult,
    LUFactorResult,
    LUResult,
    QRResult,
    SlogdetResult,
    SVDResult,
)

class LinAlgError(ValueError):
    """A matrix that is singular or not positive definite, or for which an iteration did not converge."""

def cholesky(x: _Operand, /, *, upper: builtins.bool = False) -> Tensor:
    """The Cholesky factor of each matrix: the lower triangular L of `x = L L^H`, with a positive
    diagonal; with `upper` its adjoint U, of `x = U^H U`.

    x: `[.., n, n]`, symmetric or Hermitian, and positive definite; only the triangle of the result is
    read. Integers become float32, float16 and bfloat16 are computed in float32. LinAlgError if a
    matrix is not positive definite; ShapeError if the matrices are not square; DTypeError for float8.

    >>> flex.linalg.cholesky(flex.asarray([[4.0, 2.0], [2.0, 10.0]])).tolist()
    [[2.0, 0.0], [1.0, 3.0]]
    """
def cholesky_solve(b: _Operand, factor: _Operand, /, upper: builtins.bool = False) -> Tensor:
    """The solutions X of `A X = b` for the Cholesky factors of matrices: `cholesky(A)`, or with upper
    `cholesky(A, upper=True)`.

    b: as in `solve`, with its dtypes and errors. The order of the arguments is torch's.

    >>> a = flex.asarray([[4.0, 2.0], [2.0, 10.0]])
    >>> flex.linalg.cholesky_solve(flex.asarray([8.0, 22.0]), flex.linalg.cholesky(a)).tolist()
    [1.0, 2.0]
    """
def cond(x: _Operand, /, p: float | Literal["fro", "nuc"] | None = None) -> Tensor:
    """The condition number of each matrix: its norm times that of its inverse.

    p: None or 2 for the ratio of the largest and the smallest singular value, -2 for its reciprocal,
    both also of matrices that are not square; or another `ord` of `matrix_norm`. x: `[.., m, n]`; the
    result is `[..]`, real, infinite for a singular matrix. ValueError for another p; ShapeError if the
    matrices are not square or have no elements; DTypeError for float8.

    >>> flex.linalg.cond(flex.asarray([[4.0, 0.0], [0.0, 0.5]])).item()
    8.0
    """
def det(x: _Operand, /) -> Tensor:
    """The determinant of each matrix.

    x: `[.., n, n]`; the result is `[..]`. Integers become float32, float16 and bfloat16 are computed
    in float32. The product of the pivots of the LU factorisation, which overflows only if the result
    does; 1 for matrices without elements. ShapeError if the matrices are not square; DTypeError for
    float8.

    >>> flex.linalg.det(flex.asarray([[1.0, 2.0], [3.0, 4.0]], dtype=flex.float64)).item()
    -2.0
    """
def diagonal(x: _Operand, /, *, offset: SupportsIndex = 0) -> Tensor:
    """The diagonal of each matrix, as a view.

    x: `[.., m, n]`, of any dtype. offset: how many columns the diagonal lies above the main one;
    negative below. The result is `[.., k]`, with the k elements of that diagonal. ShapeError for
    fewer than two dimensions.

    >>> x = flex.asarray([[1, 2], [3, 4]])
    >>> flex.linalg.diagonal(x).tolist(), flex.linalg.diagonal(x, offset=1).tolist()
    ([1, 4], [2])
    """
def eig(x: _Operand, /) -> EigResult:
    """The eigenvalues of each matrix, in no particular order, and its eigenvectors.

    x: `[.., n, n]`. The result is the named tuple `eigenvalues`, `[.., n]`, and `eigenvectors`,
    `[.., n, n]`, whose columns have length 1. Both are complex: complex128 for float64 and
    complex128, else complex64. Of a real matrix, complex values are exact pairs of conjugates, the
    one with the positive imaginary part first. By balancing, reduction to Hessenberg form and
    implicit QR iterations, in float64 also for float32. A matrix with NaN or infinities has NaN in
    all results. LinAlgError if an iteration does not converge; ShapeError if the matrices are not
    square; DTypeError for float8.

    >>> flex.linalg.eig(flex.asarray([[0.0, -1.0], [1.0, 0.0]])).eigenvalues.tolist()
    [1j, -1j]
    """
def eigh(x: _Operand, /) -> EighResult:
    """The eigenvalues of each symmetric or Hermitian matrix, ascending, and its eigenvectors.

    x: `[.., n, n]`, of which only the lower triangle is read. The result is the named tuple
    `eigenvalues`, `[.., n]`, real, and `eigenvectors`, `[.., n, n]`, with orthonormal columns. Integers
    become float32. By reduction to a tridiagonal matrix, and divide and conquer, this in float64 also
    for float32. A matrix with NaN or infinities has NaN in all results. LinAlgError if an iteration
    does not converge; ShapeError if the matrices are not square; DTypeError for float8.

    >>> values, vectors = flex.linalg.eigh(flex.asarray([[5.0, 0.0], [0.0, -2.0]]))
    >>> values.tolist(), flex.abs(vectors).tolist()
    ([-2.0, 5.0], [[0.0, 1.0], [1.0, 0.0]])
    """
def eigvals(x: _Operand, /) -> Tensor:
    """The eigenvalues of each matrix: those of `eig`, with its dtypes and errors.

    >>> flex.linalg.eigvals(flex.asarray([[2.0, 1.0], [0.0, 3.0]])).tolist()
    [(2+0j), (3+0j)]
    """
def eigvalsh(x: _Operand, /) -> Tensor:
    """The eigenvalues of each symmetric or Hermitian matrix, ascending: those of `eigh`, with its
    dtypes and errors.

    >>> flex.linalg.eigvalsh(flex.asarray([[5.0, 0.0], [0.0, -2.0]])).tolist()
    [-2.0, 5.0]
    """
def expm(x: _Operand, /) -> Tensor:
    """The exponential of each matrix: the sum of `x^k / k!`.

    x: `[.., n, n]`. By scaling and squaring (Higham 2005); integers become float32, float16 and
    bfloat16 are computed in float32. ShapeError if the matrices are not square; DTypeError for
    float8.

    >>> flex.linalg.expm(flex.zeros((2, 2))).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
def inv(x: _Operand, /) -> Tensor:
    """The inverse of each matrix.

    x: `[.., n, n]`; integers become float32, float16 and bfloat16 are computed in float32. Instead
    of a product with the inverse, `solve` is faster and more accurate. LinAlgError if a matrix is
    singular; ShapeError if the matrices are not square; DTypeError for float8.

    >>> flex.linalg.inv(flex.asarray([[4.0, 0.0], [0.0, 0.5]])).tolist()
    [[0.25, 0.0], [0.0, 2.0]]
    """
def lstsq(a: _Operand, b: _Operand, /, rcond: float | None = None) -> LstsqResult:
    """The solutions of least squares: the x of least length for which the length of `a x - b` is least,
    for each column of b.

    a: `[.., m, n]`. b: a vector `[m]`, or `[.., m, k]`. rcond: singular values that are not larger than
    the largest times this count as zero; by default `max(m, n)` times the distance from 1 to the next
    number of the dtype. The result is the named tuple `x`, `residuals`, `rank`, `singular_values`: the
    residuals are the sums of squares of `b - a x`, one for each column (NumPy gives none where the rank
    is less than n, or `m <= n`); of matrices of a batch there is a rank for each. Integers become
    float32. By singular values. Errors are those of `svd`; ShapeError if b does not fit.

    >>> a = flex.asarray([[1.0, 0.0], [0.0, 2.0], [0.0, 0.0]])
    >>> fit = flex.linalg.lstsq(a, flex.asarray([3.0, 4.0, 5.0]))
    >>> fit.x.tolist(), fit.residuals.item(), fit.rank.item()
    ([3.0, 2.0], 25.0, 2)
    """
def lu(x: _Operand, /) -> LUResult:
    """The LU factorisation with partial pivoting of each matrix: `x = P L U`, with a permutation P, L
    lower triangular with a diagonal of ones, and U upper triangular.

    x: `[.., m, n]`. The result is the named tuple `P`, `[.., m, m]`, `L`, `[.., m, k]`, `U`, `[.., k, n]`,
    with `k = min(m, n)`. Integers become float32, float16 and bfloat16 are computed in float32.
    ShapeError for fewer than two dimensions; DTypeError for float8.

    >>> p, l, u = flex.linalg.lu(flex.asarray([[1.0, 4.0], [2.0, 4.0]]))
    >>> l.tolist(), u.tolist()
    ([[1.0, 0.0], [0.5, 1.0]], [[2.0, 4.0], [0.0, 2.0]])
    """
def lu_factor(x: _Operand, /) -> LUFactorResult:
    """The LU factorisation of each matrix as `lu_solve` takes it.

    x: `[.., m, n]`. The result is the named tuple `LU`, of the shape of x, with U, and L below its
    diagonal; and `pivots`, `[.., min(m, n)]`, int32: the row that each row was exchanged with, in order
    and counted from 0, as in SciPy. Dtypes and errors are those of `lu`.

    >>> factors = flex.linalg.lu_factor(flex.asarray([[1.0, 4.0], [2.0, 4.0]]))
    >>> factors.LU.tolist(), factors.pivots.tolist()
    ([[2.0, 4.0], [0.5, 2.0]], [1, 1])
    """
def lu_solve(lu_and_piv: tuple[_Operand, _Operand], b: _Operand, /) -> Tensor:
    """The solutions X of `A X = b` for matrices that were factored by `lu_factor`.

    lu_and_piv: its result. b: as in `solve`, with its dtypes and errors; ShapeError if the two do not
    fit; ValueError for an exchange with an earlier row.

    >>> factors = flex.linalg.lu_factor(flex.asarray([[1.0, 4.0], [2.0, 4.0]]))
    >>> flex.linalg.lu_solve(factors, flex.asarray([9.0, 10.0])).tolist()
    [1.0, 2.0]
    """
def matrix_norm(x: _Operand, /, *, keepdims: builtins.bool = False, ord: float | Literal["fro", "nuc"] = 'fro') -> Tensor:
    """The norm of each matrix.

    x: `[.., m, n]`; the result is `[..]`, or `[.., 1, 1]` with keepdims. ord: "fro" for the square
    root of the sum of squares; 1 or -1 for the largest or smallest sum of magnitudes of a column; inf
    or -inf for that of a row; 2 or -2 for the largest or smallest singular value, "nuc" for their sum.
    The result is real; integers become float32, float16 and bfloat16 are
    computed in float32. ValueError for another ord; ShapeError for fewer than two dimensions, and for
    the smallest of no sums; DTypeError for float8.

    >>> x = flex.asarray([[3.0, 0.0], [4.0, -1.0]])
    >>> flex.linalg.matrix_norm(x, ord=1).item(), flex.linalg.matrix_norm(x, ord=flex.inf).item()
    (7.0, 5.0)
    """
def matrix_power(x: _Operand, n: SupportsIndex, /) -> Tensor:
    """Each matrix to an integer power.

    x: `[.., n, n]`, of any dtype that has products. n: a negative power is that of the inverse, for
    which integers become float32; power 0 is the identity. By repeated squaring; float16 and
    bfloat16 are computed in float32. LinAlgError for a negative power of a singular matrix;
    ShapeError if the matrices are not square; DTypeError for bool and float8.

    >>> flex.linalg.matrix_power(flex.asarray([[1, 1], [0, 1]]), 5).tolist()
    [[1, 5], [0, 1]]
    """
def matrix_rank(x: _Operand, /, *, rtol: _Operand | None = None) -> Tensor:
    """The rank of each matrix: the number of its singular values that are larger than the largest times
    rtol.

    x: `[.., m, n]`; the result is `[..]`, int64. rtol: a number, or a tensor with one for each matrix;
    by default `max(m, n)` times the distance from 1 to the next number of the dtype. Errors are those
    of `svd`, and ShapeError if rtol does not broadcast.

    >>> flex.linalg.matrix_rank(flex.asarray([[1.0, 2.0], [2.0, 4.0]])).item()
    1
    """
def multi_dot(arrays: Iterable[_Operand], /) -> Tensor:
    """The product of two or more matrices, in the order that takes the fewest multiplications.

    arrays: matrices; the first may be a row vector and the last a column vector, whose dimension is
    removed from the result. The result has the common dtype. ValueError for fewer than two;
    ShapeError if shapes don't fit; DTypeError without a common dtype.

    >>> a = flex.asarray([[1.0, 2.0], [3.0, 4.0]])
    >>> flex.linalg.multi_dot([a, a, flex.asarray([1.0, 0.0])]).tolist()
    [7.0, 15.0]
    """
def norm(x: _Operand, ord: float | str | None = None, axis: int | tuple[int, ...] | None = None, keepdims: builtins.bool = False) -> Tensor:
    """The norm of vectors or matrices, with the arguments of numpy.linalg.norm.

    axis: an integer for norms of vectors, a pair for those of matrices; None for the vector or the matrix x, or without ord for the
    length of all elements. ord: as in `vector_norm` and `matrix_norm`; by default 2 and "fro". keepdims: keep these axes with size 1.
    Dtypes and errors are those of these functions, and ValueError for a name with vectors, and for other numbers of axes.

    >>> flex.linalg.norm(flex.asarray([3.0, 4.0])).item()
    5.0
    >>> flex.linalg.norm(flex.asarray([[3.0, 0.0], [4.0, -1.0]]), 1).item()
    7.0
    """
def pinv(x: _Operand, /, *, rtol: _Operand | None = None) -> Tensor:
    """The pseudoinverse of each matrix (Moore, Penrose), without the singular values that are not larger
    than the largest times rtol.

    x: `[.., m, n]`; the result is `[.., n, m]`. rtol: a number, or a tensor with one for each matrix;
    by default `max(m, n)` times the distance from 1 to the next number of the dtype. Dtypes and errors
    are those of `svd`, and ShapeError if rtol does not broadcast.

    >>> flex.linalg.pinv(flex.asarray([[2.0, 0.0], [0.0, 0.0], [0.0, 4.0]])).tolist()
    [[0.5, 0.0, 0.0], [0.0, 0.0, 0.25]]
    """
@overload
def qr(x: _Operand, /, mode: Literal["reduced", "economic", "complete", "full"] = 'reduced') -> QRResult:
    """The QR factorisation of each matrix: `x = Q R`, with orthonormal columns in Q, and R upper
    triangular.

    x: `[.., m, n]`. mode: "reduced", or "economic" as SciPy says, for Q of `[.., m, k]` and R of
    `[.., k, n]`, with `k = min(m, n)`; "complete" or "full" for `[.., m, m]` and `[.., m, n]`; "r" for
    R of `[.., k, n]` alone, a tensor, as in NumPy. Otherwise the result is the named tuple `Q`,
    `R`. By Householder reflections, with LAPACK's signs: the diagonal of R is real, and may be
    negative. Integers become float32, float16 and bfloat16 are computed in float32. ValueError for
    another mode; ShapeError for fewer than two dimensions; DTypeError for float8.

    >>> q, r = flex.linalg.qr(flex.asarray([[3.0, 1.0], [4.0, 2.0]]))
    >>> flex.round(q @ r).tolist()
    [[3.0, 1.0], [4.0, 2.0]]
    """
@overload
def qr(x: _Operand, /, mode: Literal["r"]) -> Tensor: ...
def slogdet(x: _Operand, /) -> SlogdetResult:
    """The sign of the determinant of each matrix, and the natural logarithm of its magnitude.

    x: `[.., n, n]`. The result is the named tuple `sign`, `logabsdet`, both `[..]`. The sign of
    complex numbers is `det / |det|`; the logarithm is real. A singular matrix has sign 0 and
    logarithm -inf. Dtypes and errors are those of `det`.

    >>> sign, logabsdet = flex.linalg.slogdet(flex.asarray([[0.0, 1.0], [1.0, 0.0]]))
    >>> sign.item(), logabsdet.item()
    (-1.0, 0.0)
    """
def solve(x1: _Operand, x2: _Operand, /) -> Tensor:
    """The solutions X of `x1 X = x2`.

    x1: `[.., n, n]`. x2: a vector `[n]`, or `[.., n, k]`, whose leading dimensions broadcast with
    those of x1. The result has the shape of x2, broadcast, and the common dtype; integers become
    float32, flex's default, and float16 and bfloat16 are computed in float32. By LU factorisation
    with partial pivoting. LinAlgError if a matrix is singular; ShapeError if the matrices are not
    square or the shapes don't fit; DTypeError without a common dtype, and for float8.

    >>> a = flex.asarray([[2.0, 1.0], [1.0, 3.0]])
    >>> flex.linalg.solve(a, flex.asarray([4.0, 7.0])).tolist()
    [1.0, 2.0]
    """
def solve_triangular(a: _Operand, b: _Operand, /, trans: Literal[0, 1, 2, "N", "T", "C"] = 0, lower: builtins.bool = False, unit_diagonal: builtins.bool = False) -> Tensor:
    """The solutions X of `a X = b` for the upper triangle of each matrix, or with lower for the lower
    one; only that is read.

    a: `[.., n, n]`. b: a vector `[n]`, or `[.., n, k]`, whose leading dimensions broadcast with those of
    a. trans: 0 or "N" for the matrix itself, 1 or "T" for its transpose, 2 or "C" for the conjugate of
    its transpose. unit_diagonal: take the diagonal as ones. Dtypes and errors are those of `solve`, and
    ValueError for another trans.

    >>> a = flex.asarray([[2.0, 1.0], [0.0, 4.0]])
    >>> flex.linalg.solve_triangular(a, flex.asarray([4.0, 8.0])).tolist()
    [1.0, 2.0]
    """
def svd(x: _Operand, /, *, full_matrices: builtins.bool = True) -> SVDResult:
    """The singular value decomposition of each matrix: `x = U diag(S) Vh`, with orthonormal columns in
    U and rows in Vh, and S descending.

    x: `[.., m, n]`. The result is the named tuple `U`, `S`, `Vh`. S is `[.., k]`, real, with
    `k = min(m, n)`; U is `[.., m, m]` and Vh `[.., n, n]`, or without full_matrices `[.., m, k]` and
    `[.., k, n]`. Integers become float32. By QR factorisation (if the matrix is not square),
    reduction to a bidiagonal matrix, and divide and conquer, this in float64 also for float32. A
    matrix with NaN or infinities has NaN in all results. LinAlgError if an iteration does not converge;
    ShapeError for fewer than two dimensions; DTypeError for float8.

    >>> u, s, vh = flex.linalg.svd(flex.asarray([[0.0, -2.0], [5.0, 0.0]]))
    >>> s.tolist(), flex.round((u * s) @ vh).tolist()
    ([5.0, 2.0], [[0.0, -2.0], [5.0, 0.0]])
    """
def svdvals(x: _Operand, /) -> Tensor:
    """The singular values of each matrix, descending: those of `svd`, with its dtypes and errors.

    >>> flex.linalg.svdvals(flex.asarray([[0.0, -2.0], [5.0, 0.0]])).tolist()
    [5.0, 2.0]
    """
def trace(x: _Operand, /, *, offset: SupportsIndex = 0, dtype: _DType | None = None) -> Tensor:
    """The sum of the diagonal of each matrix.

    x: `[.., m, n]`; the result is `[..]`. offset: that of `diagonal`. dtype: that of the sums and of
    the result, by default as in `sum`. ShapeError for fewer than two dimensions; DTypeError if the
    dtype can't be summed.

    >>> flex.linalg.trace(flex.asarray([[1.0, 2.0], [3.0, 4.0]])).item()
    5.0
    """
def vector_norm(x: _Operand, /, *, axis: _Shape | None = None, keepdims: builtins.bool = False, ord: float = 2) -> Tensor:
    """The norm of vectors: the elements along axes, or of the whole tensor.

    axis: an integer, a tuple of them, or None for all elements. keepdims: keep these axes with size
    1. ord: the power p of `sum(|x|**p)**(1/p)`; inf for the largest magnitude, -inf for the smallest,
    0 for the number of elements that are not zero. The result is real; integers become float32,
    float16 and bfloat16 are computed in float32. Sums don't overflow. ValueError if ord is NaN;
    AxisError if an axis is out of range or repeated; ShapeError for the smallest of no elements;
    DTypeError for float8.

    >>> flex.linalg.vector_norm(flex.asarray([[3.0, -4.0], [0.0, 1.0]]), axis=1).tolist()
    [5.0, 1.0]
    """

__all__ = [
    "LinAlgError",
    "cholesky",
    "cholesky_solve",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "expm",
    "inv",
    "lstsq",
    "lu",
    "lu_factor",
    "lu_solve",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "multi_dot",
    "norm",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "solve_triangular",
    "svd",
    "svdvals",
    "tensordot",
    "trace",
    "vecdot",
    "vector_norm",
]
