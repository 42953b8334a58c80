//! Least squares and condition numbers, by singular values.

use super::batch::{Batch, dtypes};
use super::norm::{MatrixNorm, matrix_norm};
use super::rank::{counted, tolerance};
use super::solve::inv;
use super::svd::{reduced, values};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::layout::Axes;
use crate::ops;
use crate::tensor::Tensor;

/// The result of [`lstsq`].
///
/// Example: [`lstsq`].
#[derive(Clone, Debug)]
pub struct LeastSquares {
    /// The solutions, `[.., n, k]`, or `[n]` for a vector.
    pub x: Tensor,
    /// The sums of squares of `B - A X` for each column, `[.., k]`, or `[]` for a vector.
    pub residuals: Tensor,
    /// The number of singular values that counted, `[..]`, int64.
    pub rank: Tensor,
    /// The singular values of A, descending, `[.., min(m, n)]`.
    pub singular_values: Tensor,
}

/// The X of least length for which `A X - B` has the least length, for each column of B.
///
/// `a` is `[.., m, n]`; `b` is a vector `[m]`, or `[.., m, k]`, whose leading dimensions broadcast
/// with those of `a`. Singular values that are not larger than the largest times `rtol` count as
/// zero; by default `max(m, n)` times the distance from 1 to the next number of the dtype. The
/// result has the common dtype; integers become float32.
///
/// Errors like [`svd`](super::svd()), if shapes don't fit, and without a common dtype.
///
/// ```
/// use flex::{Tensor, linalg, ops};
/// let a = Tensor::from([[1.0f64, 0.0], [1.0, 1.0], [1.0, 2.0]]); // a line through three points
/// let fit = linalg::lstsq(&a, &Tensor::from([1.0f64, 3.0, 5.0]), None)?;
/// assert!(ops::allclose(&fit.x, &Tensor::from([1.0f64, 2.0]), ())?);
/// assert_eq!(fit.rank.item::<i64>()?, 2);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn lstsq(a: &Tensor, b: &Tensor, rtol: Option<f64>) -> Result<LeastSquares> {
    const OP: &str = "lstsq";
    let batch = Batch::of(OP, a)?;
    let (dtype, _) = dtypes(OP, a.dtype().promote(b.dtype(), OP)?)?;
    let operands = [("a", a.shape(), a.dtype()), ("b", b.shape(), b.dtype())];
    let vector = b.rank() == 1;
    let sides = if vector { b.expand_dims(1)? } else { b.clone() };
    if sides.rank() < 2 || Batch::of(OP, &sides)?.rows != batch.rows {
        let message = "b has as many rows as the matrices of a";
        return Err(Error::shape_of(OP, message, &operands));
    }
    let solve = || {
        let (u, s, vh) = reduced(OP, &a.astype(dtype)?)?;
        let wide = u.dtype();
        let (a, b) = (a.astype(wide)?, sides.astype(wide)?);
        let adjoint = |x: &Tensor| ops::conj(&ops::matrix_transpose(x)?);
        let (inverse, rank) = match batch.rows.min(batch.cols) {
            0 => (s.clone(), Tensor::zeros(&batch.lead[..], DType::I64)?),
            _ => {
                let counted = counted(&a.astype(dtype)?, &s, tolerance(rtol)?.as_ref())?;
                let inverse = ops::where_(&counted, &ops::reciprocal(&s)?, 0.0)?;
                (inverse, ops::count_nonzero(&counted, -1)?)
            }
        };
        let along = ops::matmul(&adjoint(&u)?, &b)?;
        let scaled = ops::multiply(&along, &inverse.astype(wide.real())?.expand_dims(-1)?)?;
        let x = ops::matmul(&adjoint(&vh)?, &scaled)?;
        let miss = ops::abs(&ops::subtract(&b, &ops::matmul(&a, &x)?)?)?;
        let residuals = ops::sum(&ops::square(&miss)?, -2)?;
        let squeezed = |x: Tensor| if vector { x.squeeze(-1) } else { Ok(x) };
        Ok(LeastSquares {
            x: squeezed(x)?.into_dtype(dtype)?,
            residuals: squeezed(residuals)?.into_dtype(dtype.real())?,
            rank,
            singular_values: s.into_dtype(dtype.real())?,
        })
    };
    solve().map_err(|e: Error| e.named(OP))
}

/// The condition number of each matrix: its norm times that of its inverse.
///
/// `x` is `[.., m, n]` for `Two` (the ratio of the largest and the smallest singular value), `MinTwo`
/// and no other norm; else `[.., n, n]`. The result is `[..]`, real. Infinite for a singular matrix,
/// NaN for one with NaN.
///
/// Errors if the matrices are not square (except for these two), have no elements, and for float8.
///
/// ```
/// use flex::{Tensor, linalg::{self, MatrixNorm}};
/// let x = Tensor::from([[4.0f64, 0.0], [0.0, 0.5]]);
/// assert_eq!(linalg::cond(&x, MatrixNorm::Two)?.item::<f64>()?, 8.0);
/// assert_eq!(linalg::cond(&x, MatrixNorm::One)?.item::<f64>()?, 8.0);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn cond(x: &Tensor, norm: MatrixNorm) -> Result<Tensor> {
    const OP: &str = "cond";
    let batch = Batch::of(OP, x)?;
    let (dtype, _) = dtypes(OP, x.dtype())?;
    if batch.rows.min(batch.cols) == 0 {
        let operands = [("x", x.shape(), x.dtype())];
        return Err(Error::shape_of(
            OP,
            "the matrices have no elements",
            &operands,
        ));
    }
    let ratio = || {
        if matches!(norm, MatrixNorm::Two | MatrixNorm::MinTwo) {
            let s = values(OP, x)?;
            let (largest, smallest) = (s.select(-1, 0)?, s.select(-1, -1)?);
            let (above, below) = match norm {
                MatrixNorm::Two => (largest, smallest),
                _ => (smallest, largest),
            };
            return ops::divide(&above, &below);
        }
        // matrix by matrix, as one that is singular has no inverse
        Batch::square(OP, x)?;
        let flat = x.reshape([batch.len, batch.rows, batch.cols])?;
        let mut each = crate::fallible::with_capacity(batch.len)?;
        for k in 0..batch.len {
            let x = flat.select(0, k as i64)?;
            each.push(match inv(&x) {
                Ok(inverse) => ops::multiply(
                    &matrix_norm(&x, norm, false)?,
                    &matrix_norm(&inverse, norm, false)?,
                )?,
                Err(Error::Singular { .. }) => Tensor::scalar(f64::INFINITY, dtype.real())?,
                Err(e) => return Err(e),
            });
        }
        match each.is_empty() {
            true => Tensor::zeros(&batch.lead[..], dtype.real()),
            false => ops::stack(&each, 0)?.reshape(&batch.lead[..]),
        }
    };
    let found = ratio().map_err(|e: Error| e.named(OP))?;
    // 0 / 0 of the zero matrix
    let missing = ops::any(&ops::isnan(x)?, Axes::from([-2, -1]))?;
    let undefined = ops::logical_and(ops::isnan(&found)?, ops::logical_not(&missing)?)?;
    ops::where_(&undefined, f64::INFINITY, &found)?.into_dtype(dtype.real())
}
