//! Factorisations, eigenvalues and singular values.

use super::{Function, cubic, factored, several};
use crate::cell::PyTensor;
use crate::convert::error::Raise;
use crate::convert::{Operand, OperandRef, TensorArg, compute};
use flex::Tensor;
use flex::linalg::{self, QrMode};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The Cholesky factor of each matrix: the lower triangular L of `x = L L^H`, with a positive
/// diagonal; with `upper` its adjoint U, of `x = U^H U`.
///
/// x: `[.., n, n]`, symmetric or Hermitian, and positive definite; only the triangle of the result is
/// read. Integers become float32, float16 and bfloat16 are computed in float32. LinAlgError if a
/// matrix is not positive definite; ShapeError if the matrices are not square; DTypeError for float8.
///
/// >>> flex.linalg.cholesky(flex.asarray([[4.0, 2.0], [2.0, 10.0]])).tolist()
/// [[2.0, 0.0], [1.0, 3.0]]
#[function(x, /, *, upper = false)]
fn cholesky(py: Python<'_>, x: OperandRef, upper: bool) -> PyResult<PyTensor> {
    factored(py, x, move |x| linalg::cholesky(x, upper))
}

/// The QR factorisation of each matrix: `x = Q R`, with orthonormal columns in Q, and R upper
/// triangular.
///
/// x: `[.., m, n]`. mode: "reduced", or "economic" as SciPy says, for Q of `[.., m, k]` and R of
/// `[.., k, n]`, with `k = min(m, n)`; "complete" or "full" for `[.., m, m]` and `[.., m, n]`; "r" for
/// R of `[.., k, n]` alone, a tensor, as in NumPy. Otherwise the result is the named tuple `Q`,
/// `R`. By Householder reflections, with LAPACK's signs: the diagonal of R is real, and may be
/// negative. Integers become float32, float16 and bfloat16 are computed in float32. ValueError for
/// another mode; ShapeError for fewer than two dimensions; DTypeError for float8.
///
/// >>> q, r = flex.linalg.qr(flex.asarray([[3.0, 1.0], [4.0, 2.0]]))
/// >>> flex.round(q @ r).tolist()
/// [[3.0, 1.0], [4.0, 2.0]]
#[function(x, /, mode: "Literal['reduced', 'economic', 'complete', 'full', 'r']" = "reduced" -> "QRResult")]
fn qr<'py>(py: Python<'py>, x: TensorArg, mode: &str) -> PyResult<Bound<'py, PyAny>> {
    let mode = match mode {
        "reduced" | "economic" => QrMode::Reduced,
        "complete" | "full" => QrMode::Complete,
        "r" => {
            let work = cubic(x.0.shape());
            let r = compute(py, work, || Ok(linalg::qr(&x.0, QrMode::R)?.1))?;
            return r.into_bound_py_any(py);
        }
        _ => {
            return Err(PyValueError::new_err(format!(
                "qr: mode is {mode:?}; it is \"reduced\" (or \"economic\"), \"complete\" (\"full\") or \"r\""
            )));
        }
    };
    several(py, "QRResult", x, |x| {
        let (q, r) = linalg::qr(x, mode)?;
        Ok(vec![q, r])
    })
}

/// The eigenvalues of each matrix, in no particular order, and its eigenvectors.
///
/// x: `[.., n, n]`. The result is the named tuple `eigenvalues`, `[.., n]`, and `eigenvectors`,
/// `[.., n, n]`, whose columns have length 1. Both are complex: complex128 for float64 and
/// complex128, else complex64. Of a real matrix, complex values are exact pairs of conjugates, the
/// one with the positive imaginary part first. By balancing, reduction to Hessenberg form and
/// implicit QR iterations, in float64 also for float32. A matrix with NaN or infinities has NaN in
/// all results. LinAlgError if an iteration does not converge; ShapeError if the matrices are not
/// square; DTypeError for float8.
///
/// >>> flex.linalg.eig(flex.asarray([[0.0, -1.0], [1.0, 0.0]])).eigenvalues.tolist()
/// [1j, -1j]
#[function(x, / -> "EigResult")]
fn eig<'py>(py: Python<'py>, x: TensorArg) -> PyResult<Bound<'py, PyAny>> {
    several(py, "EigResult", x, |x| {
        let (values, vectors) = linalg::eig(x)?;
        Ok(vec![values, vectors])
    })
}

/// The eigenvalues of each matrix: those of `eig`, with its dtypes and errors.
///
/// >>> flex.linalg.eigvals(flex.asarray([[2.0, 1.0], [0.0, 3.0]])).tolist()
/// [(2+0j), (3+0j)]
#[function(x, /)]
fn eigvals(py: Python<'_>, x: OperandRef) -> PyResult<PyTensor> {
    factored(py, x, linalg::eigvals as Function)
}

/// The eigenvalues of each symmetric or Hermitian matrix, ascending, and its eigenvectors.
///
/// x: `[.., n, n]`, of which only the lower triangle is read. The result is the named tuple
/// `eigenvalues`, `[.., n]`, real, and `eigenvectors`, `[.., n, n]`, with orthonormal columns. Integers
/// become float32. By reduction to a tridiagonal matrix, and divide and conquer, this in float64 also
/// for float32. A matrix with NaN or infinities has NaN in all results. LinAlgError if an iteration
/// does not converge; ShapeError if the matrices are not square; DTypeError for float8.
///
/// >>> values, vectors = flex.linalg.eigh(flex.asarray([[5.0, 0.0], [0.0, -2.0]]))
/// >>> values.tolist(), flex.abs(vectors).tolist()
/// ([-2.0, 5.0], [[0.0, 1.0], [1.0, 0.0]])
#[function(x, / -> "EighResult")]
fn eigh<'py>(py: Python<'py>, x: TensorArg) -> PyResult<Bound<'py, PyAny>> {
    several(py, "EighResult", x, |x| {
        let (values, vectors) = linalg::eigh(x)?;
        Ok(vec![values, vectors])
    })
}

/// The eigenvalues of each symmetric or Hermitian matrix, ascending: those of `eigh`, with its
/// dtypes and errors.
///
/// >>> flex.linalg.eigvalsh(flex.asarray([[5.0, 0.0], [0.0, -2.0]])).tolist()
/// [-2.0, 5.0]
#[function(x, /)]
fn eigvalsh(py: Python<'_>, x: OperandRef) -> PyResult<PyTensor> {
    factored(py, x, linalg::eigvalsh as Function)
}

/// The singular value decomposition of each matrix: `x = U diag(S) Vh`, with orthonormal columns in
/// U and rows in Vh, and S descending.
///
/// x: `[.., m, n]`. The result is the named tuple `U`, `S`, `Vh`. S is `[.., k]`, real, with
/// `k = min(m, n)`; U is `[.., m, m]` and Vh `[.., n, n]`, or without full_matrices `[.., m, k]` and
/// `[.., k, n]`. Integers become float32. By QR factorisation (if the matrix is not square),
/// reduction to a bidiagonal matrix, and divide and conquer, this in float64 also for float32. A
/// matrix with NaN or infinities has NaN in all results. LinAlgError if an iteration does not converge;
/// ShapeError for fewer than two dimensions; DTypeError for float8.
///
/// >>> u, s, vh = flex.linalg.svd(flex.asarray([[0.0, -2.0], [5.0, 0.0]]))
/// >>> s.tolist(), flex.round((u * s) @ vh).tolist()
/// ([5.0, 2.0], [[0.0, -2.0], [5.0, 0.0]])
#[function(x, /, *, full_matrices = true -> "SVDResult")]
fn svd<'py>(py: Python<'py>, x: TensorArg, full_matrices: bool) -> PyResult<Bound<'py, PyAny>> {
    several(py, "SVDResult", x, |x| {
        let (u, s, vh) = linalg::svd(x, full_matrices)?;
        Ok(vec![u, s, vh])
    })
}

/// The singular values of each matrix, descending: those of `svd`, with its dtypes and errors.
///
/// >>> flex.linalg.svdvals(flex.asarray([[0.0, -2.0], [5.0, 0.0]])).tolist()
/// [5.0, 2.0]
#[function(x, /)]
fn svdvals(py: Python<'_>, x: OperandRef) -> PyResult<PyTensor> {
    factored(py, x, linalg::svdvals as Function)
}

/// The tolerance of [`matrix_rank`] and [`pinv`] as a tensor.
fn tolerance(rtol: Option<Operand>) -> PyResult<Option<Tensor>> {
    rtol.map(|r| r.tensor_like(flex::DType::F64).raise())
        .transpose()
}

/// The rank of each matrix: the number of its singular values that are larger than the largest times
/// rtol.
///
/// x: `[.., m, n]`; the result is `[..]`, int64. rtol: a number, or a tensor with one for each matrix;
/// by default `max(m, n)` times the distance from 1 to the next number of the dtype. Errors are those
/// of `svd`, and ShapeError if rtol does not broadcast.
///
/// >>> flex.linalg.matrix_rank(flex.asarray([[1.0, 2.0], [2.0, 4.0]])).item()
/// 1
#[function(x, /, *, rtol = None)]
fn matrix_rank(py: Python<'_>, x: OperandRef, rtol: Option<Operand>) -> PyResult<PyTensor> {
    let rtol = tolerance(rtol)?;
    factored(py, x, move |x| linalg::matrix_rank_within(x, rtol.as_ref()))
}

/// The pseudoinverse of each matrix (Moore, Penrose), without the singular values that are not larger
/// than the largest times rtol.
///
/// x: `[.., m, n]`; the result is `[.., n, m]`. rtol: a number, or a tensor with one for each matrix;
/// by default `max(m, n)` times the distance from 1 to the next number of the dtype. Dtypes and errors
/// are those of `svd`, and ShapeError if rtol does not broadcast.
///
/// >>> flex.linalg.pinv(flex.asarray([[2.0, 0.0], [0.0, 0.0], [0.0, 4.0]])).tolist()
/// [[0.5, 0.0, 0.0], [0.0, 0.0, 0.25]]
#[function(x, /, *, rtol = None)]
fn pinv(py: Python<'_>, x: OperandRef, rtol: Option<Operand>) -> PyResult<PyTensor> {
    let rtol = tolerance(rtol)?;
    factored(py, x, move |x| linalg::pinv_within(x, rtol.as_ref()))
}
