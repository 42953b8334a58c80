//! Cholesky factorisation, right-looking, by panels (LAPACK's potrf).

use super::batch::{Batch, dtypes, each, none, prepared};
use super::blocks::{add_product, copied, panel_of};
use super::field::{Field, field, sqrt};
use super::qr::{transpose_into, transposed};
use super::small;
use super::substitution::{Panel, Triangle};
use crate::error::{Error, Result};
use crate::kernel::gemm::Mat;
use crate::kernel::linalg::dot_conj;
use crate::kernel::math::{Number, Real};
use crate::par::Cost;
use crate::tensor::Tensor;

/// Replaces the lower triangle of a matrix of `n` by L of `A = L L^H`, and the rest by zeros. Only
/// the lower triangle is read. Returns 0, or the order of the first leading minor that is not
/// positive.
fn factor<T: Field>(a: &mut [T], n: usize) -> Result<usize> {
    /// Rows of a block of the update, which ends at its diagonal.
    const ROWS: usize = 192;
    /// Columns of a panel: more than of other factorisations, since their rows are in place.
    const PANEL: usize = 48;
    let size = panel_of(n, PANEL);
    for start in (0..n).step_by(size) {
        let end = n.min(start + size);
        for i in start..end {
            let (above, row) = a.split_at_mut(i * n);
            for j in start..i {
                let left = &above[j * n..(j + 1) * n];
                let sum = row[j] - dot_conj(&left[start..j], &row[start..j]);
                row[j] = T::new(sum.re() / left[j].re(), sum.im() / left[j].re());
            }
            let square = row[i].re() - dot_conj(&row[start..i], &row[start..i]).re();
            if square.isnan() || square <= T::Real::ZERO {
                return Ok(i + 1);
            }
            row[i] = T::real(sqrt(square));
            row[i + 1..n].fill(T::ZERO);
        }
        if end == n {
            break;
        }
        // X L^H = A below the panel; no inverse overflows, since the diagonal has square roots
        let block = Panel::new(a, n, start..end, Triangle::ConjLower)?;
        block.solve_rows(&mut a[end * n..], n, start..end)?;
        let left = copied(a, n, end..n, start..end, |x| -x)?;
        let right = copied(a, n, end..n, start..end, |x| x.conj())?;
        let left = Mat::from_slice(&left, n - end, end - start);
        let right = Mat::from_slice(&right, n - end, end - start).t();
        for first in (end..n).step_by(ROWS) {
            let last = n.min(first + ROWS);
            let rows = &mut a[first * n..last * n];
            let left = left.block(first - end..last - end, 0..end - start);
            let right = right.block(0..end - start, 0..last - end);
            add_product(rows, n, end..last, left, right)?;
        }
    }
    Ok(0)
}

/// The Cholesky factor of each matrix: the lower triangular L of `x = L L^H`, with a positive
/// diagonal; with `upper` its adjoint U, of `x = U^H U`.
///
/// `x` is `[.., n, n]`, symmetric or Hermitian, and positive definite; only the triangle of the
/// result is read. Integers become float32, float16 and bfloat16 are computed in float32.
///
/// Errors if a matrix is not positive definite ([`Error::NotPositiveDefinite`]) or not square, and
/// for float8.
///
/// ```
/// use flex::{Tensor, linalg};
/// let x = Tensor::from([[4.0f64, 2.0], [2.0, 10.0]]);
/// assert_eq!(linalg::cholesky(&x, false)?.to_vec::<f64>()?, [2.0, 0.0, 1.0, 3.0]);
/// let e = linalg::cholesky(&Tensor::from([[1.0f64, 2.0], [2.0, 1.0]]), false).unwrap_err();
/// assert_eq!(
///     e.to_string(),
///     "cholesky: the matrix is not positive definite: its leading minor of order 2 is not positive"
/// );
/// # Ok::<(), flex::Error>(())
/// ```
pub fn cholesky(x: &Tensor, upper: bool) -> Result<Tensor> {
    const OP: &str = "cholesky";
    let batch = Batch::square(OP, x)?;
    let (dtype, wide) = dtypes(OP, x.dtype())?;
    let n = batch.rows;
    let mut l = prepared(x, wide)?;
    if !upper && wide.is_float() && small::serves(n, 0, batch.len) {
        let mut small = l.clone();
        let done = dispatch!(float wide, |T| {
            small::factor(small.as_mut_slice::<T>()?, n)?
        }, else false);
        if done {
            return small.into_dtype(dtype);
        }
    }
    let failed = field!(OP, wide, |T| {
        let results = ((l.as_mut_slice::<T>()?, n * n), none(), none());
        let cost = Cost {
            bytes: 2 * size_of::<T>() * n * n,
            flops: (n * n).saturating_mul(n) / 3,
        };
        each(batch.len, cost, results, |_, a, _, _| {
            if !upper {
                return factor(a, n);
            }
            let mut w = transposed(a, n, n, |x| x.conj())?;
            let failed = factor(&mut w, n)?;
            transpose_into(&w, n, [n, n], (a, n, 0), |x| x.conj());
            Ok(failed)
        })?
    });
    match failed {
        None => l.into_dtype(dtype),
        Some((k, minor)) => Err(Error::NotPositiveDefinite {
            op: OP,
            matrix: batch.index(k),
            minor,
        }),
    }
}
