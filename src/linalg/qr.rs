//! QR factorisation by Householder reflections, by panels (LAPACK's geqrf).

use super::batch::{Batch, dtypes, each, none, prepared};
use super::blocks::panel;
use super::field::{Field, field};
use super::reflect::Reflections;
use crate::error::Result;
use crate::kernel::gemm::Scratch;
use crate::par::{self, Cost};
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
    f: impl Fn(T) -> T + Sync,
) -> Result<Scratch<T>> {
    let mut w = Scratch::new(rows.saturating_mul(cols))?;
    transpose_into(a, cols, [rows, cols], (&mut w, rows, 0), f);
    Ok(w)
}
/// Writes `f` of the elements of a matrix of `rows x cols`, transposed. Its rows are `from_stride`
/// elements apart, those of the result `to_stride`, of which columns from `at` on are written.
pub(super) fn transpose_into<T: Copy + Send + Sync>(
    from: &[T],
    from_stride: usize,
    [rows, cols]: [usize; 2],
    (to, to_stride, at): (&mut [T], usize, usize),
    f: impl Fn(T) -> T + Sync,
) {
    /// Both matrices are walked in squares, whose lines a cache holds.
    const SQUARE: usize = 16;
    let cost = Cost {
        bytes: 4 * size_of::<T>() * rows,
        flops: 0,
    };
    let to = &mut to[..cols * to_stride];
    par::split(to, to_stride.max(1), SQUARE, cost, |part, to| {
        let corners = (0..rows).step_by(SQUARE);
        let corners = corners.flat_map(|i| part.clone().step_by(SQUARE).map(move |j| (i, j)));
        for (i, j) in corners {
            let (height, width) = (SQUARE.min(rows - i), SQUARE.min(part.end - j));
            let to = &mut to[(j - part.start) * to_stride + at + i..];
            let from = &from[i * from_stride + j..];
            if height == SQUARE && width == SQUARE {
                // lines of both compete for few sets of L1, so each is touched once
                let line = |r: usize| *from[r * from_stride..].first_chunk::<SQUARE>().unwrap();
                let lines: [[T; SQUARE]; SQUARE] = core::array::from_fn(line);
                for (c, to) in to.chunks_mut(to_stride).take(SQUARE).enumerate() {
                    for (to, line) in to[..SQUARE].iter_mut().zip(&lines) {
                        *to = f(line[c]);
                    }
                }
                continue;
            }
            for (c, to) in to.chunks_mut(to_stride).take(width).enumerate() {
                for (r, to) in to[..height].iter_mut().enumerate() {
                    *to = f(from[r * from_stride + c]);
                }
            }
        }
    });
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
            transpose_into(&w, m, [n, k], (r, n, 0), |x| x);
            let rows = reflections.units(columns)?;
            transpose_into(&rows, m, [columns, m], (q, columns, 0), |x| x);
            Ok(0)
        })?
    });
    Ok((q.into_dtype(dtype)?, r.into_dtype(dtype)?))
}
