//! Row-major matrices in slices, and products of their blocks.

use super::field::Field;
use crate::error::Result;
use crate::exec::failure::try_split;
use crate::kernel::gemm::{Algorithm, Epilogue, Mat, MatMut, Scratch, parts};
use crate::par::Cost;
use core::ops::Range;

/// Columns of a panel, which is factored by itself before a product updates what follows it.
pub(super) const PANEL: usize = 48;
/// The largest matrix that is factored as one panel.
pub(super) const UNBLOCKED: usize = 96;

/// Rows of several panels, to which one product adds what is known of the solutions: for each panel it
/// would be packed again. (In factorisations, where a product updates what follows, blocks of panels
/// gained nothing.)
const BLOCK: usize = 4 * PANEL;

/// The columns of panels of a matrix of `n`.
pub(super) fn panel(n: usize) -> usize {
    if n <= UNBLOCKED { n.max(1) } else { PANEL }
}
/// The blocks of a triangular matrix of `n`.
pub(super) fn blocks(n: usize) -> impl DoubleEndedIterator<Item = Range<usize>> {
    parts(0..n, if n <= UNBLOCKED { n.max(1) } else { BLOCK })
}

/// Row `i` to write and row `k` to read, of rows of `stride` elements. They differ.
pub(super) fn pair<T>(a: &mut [T], stride: usize, i: usize, k: usize) -> (&mut [T], &[T]) {
    if i < k {
        let (low, high) = a.split_at_mut(k * stride);
        (&mut low[i * stride..(i + 1) * stride], &high[..stride])
    } else {
        let (low, high) = a.split_at_mut(i * stride);
        (&mut high[..stride], &low[k * stride..(k + 1) * stride])
    }
}
/// Two different rows to write.
pub(super) fn pair_mut<T>(a: &mut [T], stride: usize, i: usize, k: usize) -> (&mut [T], &mut [T]) {
    let (low, high) = a.split_at_mut(i.max(k) * stride);
    let (first, second) = (&mut low[i.min(k) * stride..][..stride], &mut high[..stride]);
    if i < k {
        (first, second)
    } else {
        (second, first)
    }
}

/// The block of a matrix, row by row, through a function.
pub(super) fn copied<T: Field>(
    a: &[T],
    stride: usize,
    rows: Range<usize>,
    cols: Range<usize>,
    f: impl Fn(T) -> T,
) -> Result<Scratch<T>> {
    let mut copy = Scratch::new(rows.len().saturating_mul(cols.len()))?;
    for (to, i) in copy.chunks_exact_mut(cols.len().max(1)).zip(rows) {
        for (to, x) in to.iter_mut().zip(&a[i * stride..][cols.clone()]) {
            *to = f(*x);
        }
    }
    Ok(copy)
}

/// `c += a b` for the columns `cols` of rows of `stride` elements, on all threads. The same bits
/// however rows are shared, since the macrokernel's don't depend on blocks of C.
pub(super) fn add_product<T: Field>(
    c: &mut [T],
    stride: usize,
    cols: Range<usize>,
    a: Mat<T>,
    b: Mat<T>,
) -> Result<()> {
    /// Rows that are worth packing B again for.
    const ROWS: usize = 96;
    if cols.is_empty() || a.cols() == 0 {
        return Ok(());
    }
    let cost = Cost {
        bytes: size_of::<T>() * (a.cols() + cols.len()),
        flops: a.cols().saturating_mul(cols.len()),
    };
    try_split(c, stride, ROWS, cost, |rows, part| {
        let count = rows.len();
        let part = MatMut::from_slice(part, count, stride);
        let mut part = part.into_part(0..count, cols.clone());
        let a = a.block(rows, 0..a.cols());
        Algorithm::Blocked.product(a, b, None, &mut part, true, Epilogue::NONE)
    })
}

/// `a b` into a fresh contiguous matrix.
pub(super) fn product<T: Field>(a: Mat<T>, b: Mat<T>) -> Result<Scratch<T>> {
    let (rows, cols) = (a.rows(), b.cols());
    let mut c = Scratch::new(rows.saturating_mul(cols))?;
    c.fill(T::ZERO);
    add_product(&mut c, cols.max(1), 0..cols, a, b)?;
    Ok(c)
}
