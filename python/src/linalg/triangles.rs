//! Factorisations as values, the systems that they solve, least squares, and exponentials.

use super::{Function, cubic, factored, named, several};
use crate::cell::PyTensor;
use crate::convert::{OperandRef, TensorArg, TensorList, compute, detached};
use flex::Tensor;
use flex::linalg::{self, Lu, Triangular, Turn};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The LU factorisation with partial pivoting of each matrix: `x = P L U`, with a permutation P, L
/// lower triangular with a diagonal of ones, and U upper triangular.
///
/// x: `[.., m, n]`. The result is the named tuple `P`, `[.., m, m]`, `L`, `[.., m, k]`, `U`, `[.., k, n]`,
/// with `k = min(m, n)`. Integers become float32, float16 and bfloat16 are computed in float32.
/// ShapeError for fewer than two dimensions; DTypeError for float8.
///
/// >>> p, l, u = flex.linalg.lu(flex.asarray([[1.0, 4.0], [2.0, 4.0]]))
/// >>> l.tolist(), u.tolist()
/// ([[1.0, 0.0], [0.5, 1.0]], [[2.0, 4.0], [0.0, 2.0]])
#[function(x, / -> "LUResult")]
fn lu<'py>(py: Python<'py>, x: TensorArg) -> PyResult<Bound<'py, PyAny>> {
    several(py, "LUResult", x, |x| {
        let (p, l, u) = linalg::lu(x)?;
        Ok(vec![p, l, u])
    })
}

/// The LU factorisation of each matrix as `lu_solve` takes it.
///
/// x: `[.., m, n]`. The result is the named tuple `LU`, of the shape of x, with U, and L below its
/// diagonal; and `pivots`, `[.., min(m, n)]`, int32: the row that each row was exchanged with, in order
/// and counted from 0, as in SciPy. Dtypes and errors are those of `lu`.
///
/// >>> factors = flex.linalg.lu_factor(flex.asarray([[1.0, 4.0], [2.0, 4.0]]))
/// >>> factors.LU.tolist(), factors.pivots.tolist()
/// ([[2.0, 4.0], [0.5, 2.0]], [1, 1])
#[function(x, / -> "LUFactorResult")]
fn lu_factor<'py>(py: Python<'py>, x: TensorArg) -> PyResult<Bound<'py, PyAny>> {
    several(py, "LUFactorResult", x, |x| {
        let (factors, pivots) = linalg::lu_factor(x)?;
        Ok(vec![factors, pivots])
    })
}

/// The solutions X of `A X = b` for matrices that were factored by `lu_factor`.
///
/// lu_and_piv: its result. b: as in `solve`, with its dtypes and errors; ShapeError if the two do not
/// fit; ValueError for an exchange with an earlier row.
///
/// >>> factors = flex.linalg.lu_factor(flex.asarray([[1.0, 4.0], [2.0, 4.0]]))
/// >>> flex.linalg.lu_solve(factors, flex.asarray([9.0, 10.0])).tolist()
/// [1.0, 2.0]
#[function(lu_and_piv, b, /)]
fn lu_solve(
    py: Python<'_>,
    lu_and_piv: (TensorArg, TensorArg),
    b: TensorArg,
) -> PyResult<PyTensor> {
    let (lu, pivots) = (lu_and_piv.0.0, lu_and_piv.1.0);
    let work =
        b.0.len()
            .saturating_mul(lu.shape().last().copied().unwrap_or(1));
    compute(py, work, || Lu::from_factors(&lu, &pivots)?.solve(&b.0))
}

/// The solutions X of `a X = b` for the upper triangle of each matrix, or with lower for the lower
/// one; only that is read.
///
/// a: `[.., n, n]`. b: a vector `[n]`, or `[.., n, k]`, whose leading dimensions broadcast with those of
/// a. trans: 0 or "N" for the matrix itself, 1 or "T" for its transpose, 2 or "C" for the conjugate of
/// its transpose. unit_diagonal: take the diagonal as ones. Dtypes and errors are those of `solve`, and
/// ValueError for another trans.
///
/// >>> a = flex.asarray([[2.0, 1.0], [0.0, 4.0]])
/// >>> flex.linalg.solve_triangular(a, flex.asarray([4.0, 8.0])).tolist()
/// [1.0, 2.0]
#[function(a, b, /, trans: "Literal[0, 1, 2, 'N', 'T', 'C']" = 0, lower = false, unit_diagonal = false)]
fn solve_triangular(
    py: Python<'_>,
    a: TensorArg,
    b: TensorArg,
    trans: Option<&Bound<PyAny>>,
    lower: bool,
    unit_diagonal: bool,
) -> PyResult<PyTensor> {
    let number = trans.map(|t| t.extract::<usize>().ok());
    let letter = trans.and_then(|t| t.extract::<String>().ok());
    let turn = match (number, letter.as_deref()) {
        (None | Some(Some(0)), _) | (_, Some("N")) => Turn::None,
        (Some(Some(1)), _) | (_, Some("T")) => Turn::Transpose,
        (Some(Some(2)), _) | (_, Some("C")) => Turn::Adjoint,
        _ => {
            let message = "solve_triangular: trans is 0, 1 or 2, or \"N\", \"T\" or \"C\"";
            return Err(PyValueError::new_err(message));
        }
    };
    let how = Triangular {
        lower,
        unit_diagonal,
        turn,
    };
    let work = cubic(a.0.shape()).saturating_add(b.0.len());
    compute(py, work, || linalg::solve_triangular(&a.0, &b.0, how))
}

/// The solutions X of `A X = b` for the Cholesky factors of matrices: `cholesky(A)`, or with upper
/// `cholesky(A, upper=True)`.
///
/// b: as in `solve`, with its dtypes and errors. The order of the arguments is torch's.
///
/// >>> a = flex.asarray([[4.0, 2.0], [2.0, 10.0]])
/// >>> flex.linalg.cholesky_solve(flex.asarray([8.0, 22.0]), flex.linalg.cholesky(a)).tolist()
/// [1.0, 2.0]
#[function(b, factor, /, upper = false)]
fn cholesky_solve(
    py: Python<'_>,
    b: TensorArg,
    factor: TensorArg,
    upper: bool,
) -> PyResult<PyTensor> {
    let work = cubic(factor.0.shape()).saturating_add(b.0.len());
    compute(py, work, || linalg::cholesky_solve(&b.0, &factor.0, upper))
}

/// The solutions of least squares: the x of least length for which the length of `a x - b` is least,
/// for each column of b.
///
/// a: `[.., m, n]`. b: a vector `[m]`, or `[.., m, k]`. rcond: singular values that are not larger than
/// the largest times this count as zero; by default `max(m, n)` times the distance from 1 to the next
/// number of the dtype. The result is the named tuple `x`, `residuals`, `rank`, `singular_values`: the
/// residuals are the sums of squares of `b - a x`, one for each column (NumPy gives none where the rank
/// is less than n, or `m <= n`); of matrices of a batch there is a rank for each. Integers become
/// float32. By singular values. Errors are those of `svd`; ShapeError if b does not fit.
///
/// >>> a = flex.asarray([[1.0, 0.0], [0.0, 2.0], [0.0, 0.0]])
/// >>> fit = flex.linalg.lstsq(a, flex.asarray([3.0, 4.0, 5.0]))
/// >>> fit.x.tolist(), fit.residuals.item(), fit.rank.item()
/// ([3.0, 2.0], 25.0, 2)
#[function(a, b, /, rcond = None -> "LstsqResult")]
fn lstsq<'py>(
    py: Python<'py>,
    a: TensorArg,
    b: TensorArg,
    rcond: Option<f64>,
) -> PyResult<Bound<'py, PyAny>> {
    let work = cubic(a.0.shape()).saturating_add(b.0.len());
    let fit = detached(py, work, || linalg::lstsq(&a.0, &b.0, rcond))?;
    let parts = vec![fit.x, fit.residuals, fit.rank, fit.singular_values];
    named(py, "LstsqResult", parts)
}

/// The exponential of each matrix: the sum of `x^k / k!`.
///
/// x: `[.., n, n]`. By scaling and squaring (Higham 2005); integers become float32, float16 and
/// bfloat16 are computed in float32. ShapeError if the matrices are not square; DTypeError for
/// float8.
///
/// >>> flex.linalg.expm(flex.zeros((2, 2))).tolist()
/// [[1.0, 0.0], [0.0, 1.0]]
#[function(x, /)]
fn expm(py: Python<'_>, x: OperandRef) -> PyResult<PyTensor> {
    factored(py, x, linalg::expm as Function)
}

/// The product of two or more matrices, in the order that takes the fewest multiplications.
///
/// arrays: matrices; the first may be a row vector and the last a column vector, whose dimension is
/// removed from the result. The result has the common dtype. ValueError for fewer than two;
/// ShapeError if shapes don't fit; DTypeError without a common dtype.
///
/// >>> a = flex.asarray([[1.0, 2.0], [3.0, 4.0]])
/// >>> flex.linalg.multi_dot([a, a, flex.asarray([1.0, 0.0])]).tolist()
/// [7.0, 15.0]
#[function(arrays, /)]
fn multi_dot(py: Python<'_>, arrays: TensorList) -> PyResult<PyTensor> {
    let list: Vec<&Tensor> = arrays.0.iter().collect();
    let work = list.iter().map(|x| x.len()).fold(0, usize::saturating_add);
    compute(py, work.saturating_mul(8), || linalg::multi_dot(&list))
}
