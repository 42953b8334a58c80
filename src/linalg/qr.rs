//! QR factorisation by Householder reflections, by panels (LAPACK's geqrf).

use super::batch::{Batch, dtypes, each, none, prepared};
use super::blocks::panel;
use super::field::{Field, field};
use super::reflect::Reflections;
use crate::error::Result;
use crate::kernel::gemm::Scratch;
use crate::par::Cost;
use crate::tensor::Tensor;

/// Factors the matrix whose columns are the `cols` rows of `w`, of `rows` elements each: R remains
/// in them, zeros below its diagonal.
pub(super) fn factor<T: Field>(w: &mut [T], rows: usize, cols: usize) -> Result<Reflections<T>> {
    let steps = rows.min(cols);
    let mut q = Reflections::new(steps, rows, 0)?;
    let size = panel(steps);
    for start in (0..steps).step_by(size) {
        let end = steps.min(start + size);
        for k in start..end {
            let column = &mut w[k * rows..(k + 1) * rows];
            let beta = q.set(k, column[k..].iter().copied());
            column[k..].fill(T::ZERO);
            column[k] = T::real(beta);
            for i in k + 1..end {
                q.reflect(k, &mut w[i * rows..(i + 1) * rows], true);
            }
        }
        q.apply_block(start..end, &mut w[end * rows..cols * rows], true)?;
    }
    Ok(q)
}

/// The transposed copy of a contiguous matrix.
pub(super) fn transposed<T: Field>(
    a: &[T],
    rows: usize,
    cols: usize,
    f: impl Fn(T) -> T,
) -> Result<Scratch<T>> {
    let mut w = Scratch::new(rows.saturating_mul(cols))?;
    transpose_into(a, rows, cols, &mut w, f);
    Ok(w)
}
/// Writes `f` of the elements of a matrix of `rows x cols`, transposed.
pub(super) fn transpose_into<T: Copy>(
    a: &[T],
    rows: usize,
    cols: usize,
    to: &mut [T],
    f: impl Fn(T) -> T,
) {
    /// Both matrices are walked in squares, whose lines a cache holds.
    const SQUARE: usize = 16;
    for i in (0..rows).step_by(SQUARE) {
        for j in (0..cols).step_by(SQUARE) {
            for i in i..rows.min(i + SQUARE) {
                for j in j..cols.min(j + SQUARE) {
                    to[j * rows + i] = f(a[i * cols + j]);
                }
            }
        }
    }
}

/// Which part of Q and R [`qr`] computes.
///
/// Example: [`qr`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QrMode {
    /// Q is `[.., m, k]` and R `[.., k, n]`, with `k = min(m, n)`.
    #[default]
    Reduced,
    /// Q is `[.., m, m]` and R `[.., m, n]`.
    Complete,
    /// R alone is computed, `[.., k, n]`; Q is `[.., m, 0]`.
    R,
}

/// The QR factorisation of each matrix: `x = Q R`, with orthonormal columns in Q, and R upper
/// triangular.
///
/// `x` is `[.., m, n]`; integers become float32, float16 and bfloat16 are computed in float32. By
/// Householder reflections, with LAPACK's signs: the diagonal of R is real, and may be negative.
///
/// Errors if there are fewer than two dimensions, and for float8.
///
/// ```
/// use flex::{Tensor, linalg::{self, QrMode}, ops};
/// let x = Tensor::from([[3.0f64, 1.0], [4.0, 2.0]]);
/// let (q, r) = linalg::qr(&x, QrMode::Reduced)?;
/// assert!(ops::allclose(&q.matmul(&r)?, &x, ())?);
/// assert_eq!(r.at::<f64>((1, 0))?, 0.0);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn qr(x: &Tensor, mode: QrMode) -> Result<(Tensor, Tensor)> {
    const OP: &str = "qr";
    let batch = Batch::of(OP, x)?;
    let (dtype, wide) = dtypes(OP, x.dtype())?;
    let (m, n) = (batch.rows, batch.cols);
    let (k, columns) = match mode {
        QrMode::Reduced => (m.min(n), m.min(n)),
        QrMode::Complete => (m, m),
        QrMode::R => (m.min(n), 0),
    };
    let x = prepared(x, wide)?;
    let mut q = Tensor::empty(batch.shape(&[m, columns]), wide)?;
    let mut r = Tensor::empty(batch.shape(&[k, n]), wide)?;
    field!(OP, wide, |T| {
        let a = x.as_slice::<T>()?;
        let results = (
            (q.as_mut_slice::<T>()?, m * columns),
            (r.as_mut_slice::<T>()?, k * n),
            none(),
        );
        let cost = Cost {
            bytes: 4 * size_of::<T>() * m * (n + k),
            flops: (m * (n + columns)).saturating_mul(2 * m.min(n)),
        };
        each(batch.len, cost, results, |i, q, r, _| {
            let mut w = transposed(&a[i * m * n..][..m * n], m, n, |x| x)?;
            let reflections = factor(&mut w, m, n)?;
            for (i, row) in r.chunks_exact_mut(n.max(1)).enumerate() {
                for (j, r) in row.iter_mut().enumerate() {
                    *r = w[j * m + i];
                }
            }
            let mut rows = unit_rows::<T>(columns, m)?;
            reflections.apply(&mut rows)?;
            transpose_into(&rows, columns, m, q, |x| x);
            Ok(0)
        })?
    });
    Ok((q.into_dtype(dtype)?, r.into_dtype(dtype)?))
}

/// The first `count` rows of the identity of `len`.
pub(super) fn unit_rows<T: Field>(count: usize, len: usize) -> Result<Scratch<T>> {
    let mut rows = Scratch::new(count.saturating_mul(len))?;
    rows.fill(T::ZERO);
    for k in 0..count.min(len) {
        rows[k * len + k] = T::ONE;
    }
    Ok(rows)
}
