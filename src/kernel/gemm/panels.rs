//! B packed before the product: panels as wide as a tile, the sum in blocks.

use super::blocking::{KBlocks, N_BLOCK_BYTES};
use super::matrix::Mat;
use super::microkernel::{Packed, padded_width, vectors, widest_panel};
use super::source::Source;
use crate::simd;
use core::{marker::PhantomData, ops::Range};

/// Packed columns: for each block of the sum its panels one after the other, each `[steps][width]`,
/// zero past the last column.
#[derive(Clone, Copy)]
pub struct Panels<'a, T> {
    packed: &'a [T],
    /// The first column, a multiple of the widest panel, and the columns of all panels, including
    /// padding.
    first: usize,
    padded: usize,
    cols: usize,
    blocks: KBlocks,
}
impl<'a, T: Packed> Panels<'a, T> {
    /// The number of packed elements for `cols` columns.
    pub fn len(blocks: KBlocks, cols: usize) -> usize {
        blocks.steps().saturating_mul(padded_width::<T>(cols))
    }
    /// Packs some columns of `b` into `d`, which has [`Panels::len`] elements.
    pub fn pack(b: &dyn Source<Packed = T>, cols: Range<usize>, d: &'a mut [T]) -> Self {
        let pieces = Pieces::new(b, cols.clone());
        for piece in (0..pieces.count()).map(|i| pieces.get(i)) {
            piece.pack(b, &mut d[piece.range.clone()]);
        }
        Panels::of(b.blocks(), cols.len(), d)
    }
    /// The panels of `cols` columns that were packed into `packed`. Panics if it is too short.
    pub fn of(blocks: KBlocks, cols: usize, packed: &'a [T]) -> Self {
        Panels {
            packed: &packed[..Self::len(blocks, cols)],
            first: 0,
            padded: padded_width::<T>(cols),
            cols,
            blocks,
        }
    }
    /// A matrix of the shape that was packed, to pass as B along with its panels. Its elements are
    /// meaningless.
    pub fn placeholder(&self) -> Mat<'a, T> {
        let (k, n) = (self.blocks.steps(), self.cols);
        Mat::from_slice(&self.packed[..k * n], k, n)
    }
    /// The index of step `k` of column `j` among the packed elements of `cols` columns. Elements
    /// past the last column are zero.
    pub fn offset(blocks: KBlocks, cols: usize, k: usize, j: usize) -> usize {
        let (lanes, widest) = T::shape(simd::level());
        let block = k / blocks.longest().max(1);
        let (ks, mut start) = (blocks.get(block), j / (lanes * widest) * lanes * widest);
        let width = loop {
            let width = vectors(cols - start, lanes, widest) * lanes;
            if j < start + width {
                break width;
            }
            start += width;
        };
        let panel = ks.start * padded_width::<T>(cols) + start * ks.len();
        panel + (k - ks.start) * width + j - start
    }
    /// A range of columns that begins at a multiple of the widest panel.
    pub fn columns(self, cols: Range<usize>) -> Self {
        assert!(cols.start.is_multiple_of(widest_panel::<T>()) && cols.end <= self.cols);
        Panels {
            first: self.first + cols.start,
            cols: cols.len(),
            ..self
        }
    }
    /// The panel at column `j` in block `block` of the sum, and all that follows it.
    #[inline]
    pub fn panel(&self, block: usize, j: usize) -> &'a [T] {
        let ks = self.blocks.get(block);
        &self.packed[ks.start * self.padded + (self.first + j) * ks.len()..]
    }
    /// The same bits as another packed type of the same size and shape (asserted): groups of bytes
    /// are stored as accumulators.
    pub fn cast<U: Packed>(self) -> Panels<'a, U> {
        Panels {
            packed: cast(self.packed),
            first: self.first,
            padded: self.padded,
            cols: self.cols,
            blocks: self.blocks,
        }
    }
}

/// The same bits as another packed type of the same size and shape (asserted).
pub fn cast<T: Packed, U: Packed>(packed: &[T]) -> &[U] {
    assert_castable::<T, U>();
    // SAFETY: LANE1: any bits are a value; the same size, and no stricter alignment.
    unsafe { core::slice::from_raw_parts(packed.as_ptr() as *const U, packed.len()) }
}
/// [`cast`], for writing.
pub fn cast_mut<T: Packed, U: Packed>(packed: &mut [T]) -> &mut [U] {
    assert_castable::<T, U>();
    // SAFETY: LANE1, as for `cast`.
    unsafe { core::slice::from_raw_parts_mut(packed.as_mut_ptr() as *mut U, packed.len()) }
}
/// Panics unless elements of the first type may be read as the second, with the same panels.
fn assert_castable<T: Packed, U: Packed>() {
    assert!(size_of::<T>() == size_of::<U>() && align_of::<U>() <= align_of::<T>());
    assert!(T::shape(simd::level()) == U::shape(simd::level()));
}

/// A part of the packing and its range of the packed elements: a task for a thread.
pub struct PackingTask {
    steps: Range<usize>,
    cols: Range<usize>,
    pub range: Range<usize>,
}
impl PackingTask {
    /// Packs it into `d`, the elements at `range`.
    pub fn pack<T: Packed>(&self, b: &dyn Source<Packed = T>, d: &mut [T]) {
        b.pack_panels(self.steps.clone(), self.cols.clone(), d)
    }
}
/// All pieces of some columns of B.
pub struct Pieces<T> {
    cols: Range<usize>,
    /// Columns of a piece: several panels, so that rows of B are read in long runs.
    size: usize,
    blocks: KBlocks,
    _packed: PhantomData<T>,
}
impl<T: Packed> Pieces<T> {
    pub fn new(b: &dyn Source<Packed = T>, cols: Range<usize>) -> Self {
        Pieces {
            cols,
            size: 4 * widest_panel::<T>(),
            blocks: b.blocks(),
            _packed: PhantomData,
        }
    }
    /// The number of pieces.
    pub fn count(&self) -> usize {
        self.blocks.count() * self.cols.len().div_ceil(self.size)
    }
    pub fn get(&self, i: usize) -> PackingTask {
        let across = self.cols.len().div_ceil(self.size);
        let before = i % across * self.size;
        let (steps, start) = (self.blocks.get(i / across), self.cols.start + before);
        let cols = start..self.cols.end.min(start + self.size);
        let at = steps.start * padded_width::<T>(self.cols.len()) + before * steps.len();
        PackingTask {
            range: at..at + padded_width::<T>(cols.len()) * steps.len(),
            steps,
            cols,
        }
    }
}
/// Columns packed at a time for this many threads.
pub fn at_once<T: Packed>(k: usize, threads: usize) -> usize {
    (N_BLOCK_BYTES.saturating_mul(threads) / k.max(1).saturating_mul(size_of::<T>()))
        .max(1)
        .next_multiple_of(widest_panel::<T>())
}
