//! Row-major matrices in slices, and products of their blocks.

use super::field::Field;
use crate::error::Result;
use crate::exec::products;
use crate::kernel::gemm::{self, Algorithm, Epilogue, Mat, MatMut, Panels, Scratch};
use crate::par::{self, Cost};
use core::ops::Range;

/// Columns of a panel, which is factored by itself before a product updates what follows it.
pub(super) const PANEL: usize = 32;
/// The largest matrix that is factored as one panel.
pub(super) const UNBLOCKED: usize = 96;

/// The columns of panels of a matrix of `n`.
pub(super) fn panel(n: usize) -> usize {
    panel_of(n, PANEL)
}
/// The same for panels of `size` columns.
pub(super) fn panel_of(n: usize, size: usize) -> usize {
    if n <= UNBLOCKED { n.max(1) } else { size }
}
/// How many of `n` columns, or rows, come into the first half: whole panels.
pub(super) fn half(n: usize) -> usize {
    n.div_ceil(PANEL).div_ceil(2) * PANEL
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
    f: impl Fn(T) -> T + Sync,
) -> Result<Scratch<T>> {
    let mut copy = Scratch::new(rows.len().saturating_mul(cols.len()))?;
    let width = cols.len().max(1);
    let cost = Cost {
        bytes: 2 * size_of::<T>() * width,
        flops: width,
    };
    par::split(&mut copy, width, 1, cost, |part, copy| {
        for (to, i) in copy.chunks_exact_mut(width).zip(part) {
            let row = &a[(rows.start + i) * stride..][cols.clone()];
            for (to, x) in to.iter_mut().zip(row) {
                *to = f(*x);
            }
        }
    });
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
    if c.is_empty() || cols.is_empty() || a.cols() == 0 {
        return Ok(());
    }
    let rows = c.len() / stride;
    let c = MatMut::from_slice(c, rows, stride);
    products::add_product(a, b, &mut c.into_part(0..rows, cols))
}

/// `a b` into a fresh contiguous matrix.
pub(super) fn product<T: Field>(a: Mat<T>, b: Mat<T>) -> Result<Scratch<T>> {
    let (rows, cols) = (a.rows(), b.cols());
    let mut c = Scratch::new(rows.saturating_mul(cols))?;
    c.fill(T::ZERO);
    add_product(&mut c, cols.max(1), 0..cols, a, b)?;
    Ok(c)
}

/// A matrix that is packed once, to multiply many from the right.
pub(super) struct Right<'a, T> {
    matrix: Mat<'a, T>,
    packed: Scratch<T>,
}
impl<'a, T: Field> Right<'a, T> {
    pub fn new(matrix: Mat<'a, T>) -> Result<Self> {
        let blocks = gemm::blocks::<T, T>(matrix.rows());
        let mut packed = Scratch::new(Panels::<T>::len(blocks, matrix.cols()))?;
        gemm::pack::<T, T>(matrix, &mut packed);
        Ok(Right { matrix, packed })
    }
    /// `c = a b`, or `c += a b`, on the calling thread.
    pub fn product(&self, a: Mat<T>, mut c: MatMut<T>, accumulate: bool) -> Result<()> {
        let blocks = gemm::blocks::<T, T>(self.matrix.rows());
        let panels = Some(Panels::of(blocks, self.matrix.cols(), &self.packed));
        let by = Algorithm::Blocked;
        by.product(a, self.matrix, panels, &mut c, accumulate, Epilogue::NONE)
    }
}
