//! Linear systems, inverses, determinants and powers.

use super::{Function, cubic, factored, several};
use crate::cell::PyTensor;
use crate::convert::{OperandRef, TensorArg, compute, integer};
use flex::linalg;
use pyo3::prelude::*;

/// The solutions X of `x1 X = x2`.
///
/// x1: `[.., n, n]`. x2: a vector `[n]`, or `[.., n, k]`, whose leading dimensions broadcast with
/// those of x1. The result has the shape of x2, broadcast, and the common dtype; integers become
/// float32, flex's default, and float16 and bfloat16 are computed in float32. By LU factorisation
/// with partial pivoting. LinAlgError if a matrix is singular; ShapeError if the matrices are not
/// square or the shapes don't fit; DTypeError without a common dtype, and for float8.
///
/// >>> a = flex.asarray([[2.0, 1.0], [1.0, 3.0]])
/// >>> flex.linalg.solve(a, flex.asarray([4.0, 7.0])).tolist()
/// [1.0, 2.0]
#[function(x1, x2, /)]
fn solve(py: Python<'_>, x1: TensorArg, x2: TensorArg) -> PyResult<PyTensor> {
    let work = cubic(x1.0.shape()).saturating_add(x2.0.len());
    compute(py, work, || linalg::solve(&x1.0, &x2.0))
}

/// The inverse of each matrix.
///
/// x: `[.., n, n]`; integers become float32, float16 and bfloat16 are computed in float32. Instead
/// of a product with the inverse, `solve` is faster and more accurate. LinAlgError if a matrix is
/// singular; ShapeError if the matrices are not square; DTypeError for float8.
///
/// >>> flex.linalg.inv(flex.asarray([[4.0, 0.0], [0.0, 0.5]])).tolist()
/// [[0.25, 0.0], [0.0, 2.0]]
#[function(x, /)]
fn inv(py: Python<'_>, x: OperandRef) -> PyResult<PyTensor> {
    factored(py, x, linalg::inv as Function)
}

/// The determinant of each matrix.
///
/// x: `[.., n, n]`; the result is `[..]`. Integers become float32, float16 and bfloat16 are computed
/// in float32. The product of the pivots of the LU factorisation, which overflows only if the result
/// does; 1 for matrices without elements. ShapeError if the matrices are not square; DTypeError for
/// float8.
///
/// >>> flex.linalg.det(flex.asarray([[1.0, 2.0], [3.0, 4.0]], dtype=flex.float64)).item()
/// -2.0
#[function(x, /)]
fn det(py: Python<'_>, x: OperandRef) -> PyResult<PyTensor> {
    factored(py, x, linalg::det as Function)
}

/// The sign of the determinant of each matrix, and the natural logarithm of its magnitude.
///
/// x: `[.., n, n]`. The result is the named tuple `sign`, `logabsdet`, both `[..]`. The sign of
/// complex numbers is `det / |det|`; the logarithm is real. A singular matrix has sign 0 and
/// logarithm -inf. Dtypes and errors are those of `det`.
///
/// >>> sign, logabsdet = flex.linalg.slogdet(flex.asarray([[0.0, 1.0], [1.0, 0.0]]))
/// >>> sign.item(), logabsdet.item()
/// (-1.0, 0.0)
#[function(x, / -> "SlogdetResult")]
fn slogdet<'py>(py: Python<'py>, x: TensorArg) -> PyResult<Bound<'py, PyAny>> {
    several(py, "SlogdetResult", x, |x| {
        let (sign, log) = linalg::slogdet(x)?;
        Ok(vec![sign, log])
    })
}

/// Each matrix to an integer power.
///
/// x: `[.., n, n]`, of any dtype that has products. n: a negative power is that of the inverse, for
/// which integers become float32; power 0 is the identity. By repeated squaring; float16 and
/// bfloat16 are computed in float32. LinAlgError for a negative power of a singular matrix;
/// ShapeError if the matrices are not square; DTypeError for bool and float8.
///
/// >>> flex.linalg.matrix_power(flex.asarray([[1, 1], [0, 1]]), 5).tolist()
/// [[1, 5], [0, 1]]
#[function(x, n: "SupportsIndex", /)]
fn matrix_power(py: Python<'_>, x: OperandRef, n: &Bound<PyAny>) -> PyResult<PyTensor> {
    let n = integer(n)? as i64;
    factored(py, x, move |x| linalg::matrix_power(x, n))
}
