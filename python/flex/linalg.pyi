# Written by scripts/make_stubs.py.
import builtins
from typing import Literal, SupportsIndex

from flex._flex import Tensor, _DType, _Operand, _Shape
from flex._flex import cross as cross
from flex._flex import matmul as matmul
from flex._flex import matrix_transpose as matrix_transpose
from flex._flex import outer as outer
from flex._flex import tensordot as tensordot
from flex._flex import vecdot as vecdot
from flex._results import EighResult, EigResult, QRResult, SlogdetResult, SVDResult

class LinAlgError(ValueError): ...

def cholesky(x: _Operand, /, *, upper: builtins.bool = False) -> Tensor:
    """The Cholesky factor of each matrix: the lower triangular L of `x = L L^H`, with a positive
    diagonal; with `upper` its adjoint U, of `x = U^H U`.

    x: `[.., n, n]`, symmetric or Hermitian, and positive definite; only the triangle of the result is
    read. Integers become float32, float16 and bfloat16 are computed in float32. LinAlgError if a
    matrix is not positive definite; ShapeError if the matrices are not square; DTypeError for float8.

    >>> flex.linalg.cholesky(flex.asarray([[4.0, 2.0], [2.0, 10.0]])).tolist()
    [[2.0, 0.0], [1.0, 3.0]]
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
    become float32. By reduction to a tridiagonal matrix and implicit QL iterations, in float64 also
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
def inv(x: _Operand, /) -> Tensor:
    """The inverse of each matrix.

    x: `[.., n, n]`; integers become float32, float16 and bfloat16 are computed in float32. Instead
    of a product with the inverse, `solve` is faster and more accurate. LinAlgError if a matrix is
    singular; ShapeError if the matrices are not square; DTypeError for float8.

    >>> flex.linalg.inv(flex.asarray([[4.0, 0.0], [0.0, 0.5]])).tolist()
    [[0.25, 0.0], [0.0, 2.0]]
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
def pinv(x: _Operand, /, *, rtol: _Operand | None = None) -> Tensor:
    """The pseudoinverse of each matrix (Moore, Penrose), without the singular values that are not larger
    than the largest times rtol.

    x: `[.., m, n]`; the result is `[.., n, m]`. rtol: a number, or a tensor with one for each matrix;
    by default `max(m, n)` times the distance from 1 to the next number of the dtype. Dtypes and errors
    are those of `svd`, and ShapeError if rtol does not broadcast.

    >>> flex.linalg.pinv(flex.asarray([[2.0, 0.0], [0.0, 0.0], [0.0, 4.0]])).tolist()
    [[0.5, 0.0, 0.0], [0.0, 0.0, 0.25]]
    """
def qr(x: _Operand, /, *, mode: Literal["reduced", "complete"] = 'reduced') -> QRResult:
    """The QR factorisation of each matrix: `x = Q R`, with orthonormal columns in Q, and R upper
    triangular.

    x: `[.., m, n]`. mode: "reduced" for Q of `[.., m, k]` and R of `[.., k, n]`, with
    `k = min(m, n)`; "complete" for `[.., m, m]` and `[.., m, n]`. The result is the named tuple `Q`,
    `R`. By Householder reflections, with LAPACK's signs: the diagonal of R is real, and may be
    negative. Integers become float32, float16 and bfloat16 are computed in float32. ValueError for
    another mode; ShapeError for fewer than two dimensions; DTypeError for float8.

    >>> q, r = flex.linalg.qr(flex.asarray([[3.0, 1.0], [4.0, 2.0]]))
    >>> flex.round(q @ r).tolist()
    [[3.0, 1.0], [4.0, 2.0]]
    """
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
def svd(x: _Operand, /, *, full_matrices: builtins.bool = True) -> SVDResult:
    """The singular value decomposition of each matrix: `x = U diag(S) Vh`, with orthonormal columns in
    U and rows in Vh, and S descending.

    x: `[.., m, n]`. The result is the named tuple `U`, `S`, `Vh`. S is `[.., k]`, real, with
    `k = min(m, n)`; U is `[.., m, m]` and Vh `[.., n, n]`, or without full_matrices `[.., m, k]` and
    `[.., k, n]`. Integers become float32. By QR factorisation (if the matrix is not square),
    reduction to a bidiagonal matrix and implicit QR iterations, in float64 also for float32. A matrix
    with NaN or infinities has NaN in all results. LinAlgError if an iteration does not converge;
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
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "trace",
    "vecdot",
    "vector_norm",
]
