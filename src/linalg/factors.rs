//! The LU factorisation as matrices: of any shape, or as its packed factors and row exchanges.

use super::batch::{Batch, dtypes, each, none, prepared};
use super::field::field;
use super::lu::factor;
use super::solve::{Lu, cost};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::fallible;
use crate::ops;
use crate::tensor::Tensor;

/// The LU factorisation with partial pivoting of each matrix, packed: U, and below its diagonal L,
/// whose own diagonal is ones; and the row exchanges, which [`Lu::from_factors`] takes.
///
/// `x` is `[.., m, n]`. The factors have its shape, the exchanges are `[.., min(m, n)]`, int32: row
/// k was exchanged with the row that stands there, in order. Integers become float32. A singular
/// matrix has a factorisation too.
///
/// Errors if there are fewer than two dimensions, and for float8.
///
/// ```
/// use flex::{Tensor, linalg};
/// let (lu, pivots) = linalg::lu_factor(&Tensor::from([[1.0f64, 4.0], [2.0, 4.0]]))?;
/// assert_eq!(lu.to_vec::<f64>()?, [2.0, 4.0, 0.5, 2.0]);
/// assert_eq!(pivots.to_vec::<i32>()?, [1, 1]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn lu_factor(x: &Tensor) -> Result<(Tensor, Tensor)> {
    let (factors, pivots, batch) = packed("lu_factor", x)?;
    let steps = batch.rows.min(batch.cols);
    let mut rows = Tensor::empty(batch.shape(&[steps]), DType::I32)?;
    for (to, row) in rows.as_mut_slice::<i32>()?.iter_mut().zip(&pivots) {
        *to = *row as i32;
    }
    Ok((factors, rows))
}

/// The factors, the exchanges of all matrices, and the batch.
fn packed(op: &'static str, x: &Tensor) -> Result<(Tensor, alloc::vec::Vec<usize>, Batch)> {
    let batch = Batch::of(op, x)?;
    let (dtype, wide) = dtypes(op, x.dtype())?;
    let (m, n) = (batch.rows, batch.cols);
    let steps = m.min(n);
    let mut factors = prepared(x, wide)?;
    let mut pivots = fallible::filled(0usize, batch.len.saturating_mul(steps))?;
    field!(op, wide, |T| {
        let results = (
            (factors.as_mut_slice::<T>()?, m * n),
            (&mut pivots[..], steps),
            none(),
        );
        let cost = cost(steps, m.max(n), size_of::<T>());
        each(batch.len, cost, results, |_, a, pivots, _| {
            factor(a, m, n, pivots)?;
            Ok(0)
        })?
    });
    Ok((factors.into_dtype(dtype)?, pivots, batch))
}

/// The LU factorisation with partial pivoting of each matrix, `x = P L U`: the tuple `(P, L, U)` of
/// a permutation, a lower triangular matrix with a diagonal of ones, and an upper triangular one.
///
/// `x` is `[.., m, n]`; P is `[.., m, m]`, L `[.., m, k]` and U `[.., k, n]`, with `k = min(m, n)`, of
/// the dtype of `x`; integers become float32.
///
/// Errors if there are fewer than two dimensions, and for float8.
///
/// ```
/// use flex::{Tensor, linalg};
/// let (p, l, u) = linalg::lu(&Tensor::from([[1.0f64, 4.0], [2.0, 4.0]]))?;
/// assert_eq!(p.to_vec::<f64>()?, [0.0, 1.0, 1.0, 0.0]);
/// assert_eq!(l.to_vec::<f64>()?, [1.0, 0.0, 0.5, 1.0]);
/// assert_eq!(u.to_vec::<f64>()?, [2.0, 4.0, 0.0, 2.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn lu(x: &Tensor) -> Result<(Tensor, Tensor, Tensor)> {
    const OP: &str = "lu";
    let (factors, pivots, batch) = packed(OP, x)?;
    let (m, n, dtype) = (batch.rows, batch.cols, factors.dtype());
    let k = m.min(n);
    let mut order = Tensor::empty(batch.shape(&[m]), DType::I64)?;
    let rows = order.as_mut_slice::<i64>()?;
    for (rows, pivots) in rows.chunks_exact_mut(m.max(1)).zip(pivots.chunks(k.max(1))) {
        for (i, row) in rows.iter_mut().enumerate() {
            *row = i as i64;
        }
        for (i, with) in pivots.iter().enumerate() {
            rows.swap(i, *with);
        }
    }
    if k == 0 {
        let numbers = ops::arange(0, m as i64, 1, DType::I64)?;
        order = numbers.broadcast_to(batch.shape(&[m]))?;
    }
    let named = |e: Error| e.named(OP);
    let matrices = || {
        // row order[i] of P has its 1 in column i
        let places = ops::arange(0, m as i64, 1, DType::I64)?.expand_dims(1)?;
        let p = ops::equal(&places, &order.expand_dims(-2)?)?.astype(dtype)?;
        let left = factors.narrow(-1, 0, k)?;
        let l = ops::add(&ops::tril(&left, -1)?, &ops::eye(m, k, 0, dtype)?)?;
        let u = ops::triu(&factors.narrow(-2, 0, k)?, 0)?;
        Ok((p, l, u))
    };
    matrices().map_err(named)
}

impl Lu {
    /// The factorisation of square matrices that [`lu_factor`] gave.
    ///
    /// Errors if the matrices are not square, there is not one exchange for each row, or one is not
    /// with that row or a later one.
    ///
    /// ```
    /// use flex::{Tensor, linalg::{self, Lu}};
    /// let (lu, pivots) = linalg::lu_factor(&Tensor::from([[1.0f64, 4.0], [2.0, 4.0]]))?;
    /// let x = Lu::from_factors(&lu, &pivots)?.solve(&Tensor::from([9.0f64, 10.0]))?;
    /// assert_eq!(x.to_vec::<f64>()?, [1.0, 2.0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn from_factors(factors: &Tensor, pivots: &Tensor) -> Result<Lu> {
        const OP: &str = "lu_solve";
        let batch = Batch::square(OP, factors)?;
        let (dtype, wide) = dtypes(OP, factors.dtype())?;
        let n = batch.rows;
        if *pivots.shape() != batch.shape(&[n])[..] || !pivots.dtype().is_integer() {
            let operands = [
                ("lu", factors.shape(), factors.dtype()),
                ("pivots", pivots.shape(), pivots.dtype()),
            ];
            let message = "pivots has an integer for each row of each matrix";
            return Err(Error::shape_of(OP, message, &operands));
        }
        let given = pivots.astype(DType::I64)?.contiguous()?;
        let given = given.as_slice::<i64>()?;
        let mut rows = fallible::filled(0usize, given.len())?;
        for (k, (to, row)) in rows.iter_mut().zip(given).enumerate() {
            let i = (k % n) as i64;
            if *row < i || *row >= n as i64 {
                let message = message!(
                    "row {i} is exchanged with row {row}; it must be from {i} to {}",
                    n - 1
                );
                return Err(Error::value(OP, message));
            }
            *to = *row as usize;
        }
        let factors = prepared(factors, wide)?;
        let zero = ops::equal(&super::diagonal(&factors, 0)?, 0.0)?;
        let zero = zero.to_vec::<bool>()?.iter().position(|zero| *zero);
        Ok(Lu {
            factors,
            pivots: rows,
            singular: zero.map(|k| (k / n, k % n + 1)),
            dtype,
            batch,
        })
    }
}
