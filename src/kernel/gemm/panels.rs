//! B in panels, packed before the product: as wide as a tile, the sum in blocks.

use super::{
    element::{Lane, Product},
    mat::Mat,
    pack::{self, Packing},
};
use crate::simd::{self, Level};
use core::{marker::PhantomData, ops::Range};

/// Steps of the sum in a block at most: what a strip of A and a panel of B take of L1, and the rows
/// of A of L2. CPUs without AVX-512 have 32 KiB, and 256 or 512, where those with it have 48 and
/// 1024. Without the standard library all scratch has to fit a microcontroller's memory.
fn longest() -> usize {
    match simd::level() {
        _ if !simd::CACHE_BLOCKING => 128,
        Level::Avx512 => 1024,
        _ => 512,
    }
}

/// How a sum of `k` products is cut into equal blocks. The bits of a product follow from this
/// alone, whatever else is cut.
#[derive(Clone, Copy)]
pub struct Blocks {
    k: usize,
    size: usize,
}
impl Blocks {
    pub fn new(k: usize) -> Blocks {
        Blocks::of(k, longest())
    }
    /// In blocks of `most` steps at most.
    pub fn of(k: usize, most: usize) -> Blocks {
        Blocks {
            k,
            size: k.div_ceil(k.div_ceil(most).max(1)),
        }
    }
    /// How many; one for an empty sum.
    pub fn count(self) -> usize {
        self.k.div_ceil(self.size.max(1)).max(1)
    }
    /// Steps of the longest.
    pub fn longest(self) -> usize {
        self.size
    }
    pub fn get(self, i: usize) -> Range<usize> {
        i * self.size..self.k.min((i + 1) * self.size)
    }
}

/// The width of the panel that begins where `left` columns are left: of 1, 2 or the widest tile's
/// vectors. Returns the vectors.
pub fn vectors(left: usize, lanes: usize, widest: usize) -> usize {
    if left > (widest - 1) * lanes {
        widest
    } else if left > lanes {
        2
    } else {
        1
    }
}

/// The width of the panel that begins where `left` columns are left.
pub fn panel_width<L: Lane>(left: usize) -> usize {
    let (lanes, widest) = L::tile(simd::level());
    vectors(left, lanes, widest) * lanes
}
/// The width of all panels of so many columns.
pub fn padded<L: Lane>(cols: usize) -> usize {
    cols.next_multiple_of(L::tile(simd::level()).0)
}

/// Packed columns: block of the sum after block, in each panel after panel, `[steps][width]`, zero
/// beyond the last column.
#[derive(Clone, Copy)]
pub struct Panels<'a, L> {
    lanes: &'a [L],
    /// The first column, a multiple of the widest panel, and the columns of all panels, those of
    /// zeros counted.
    first: usize,
    padded: usize,
    cols: usize,
    blocks: Blocks,
}
impl<'a, L: Lane> Panels<'a, L> {
    /// Lanes that `cols` columns take.
    pub fn len(blocks: Blocks, cols: usize) -> usize {
        blocks.k.saturating_mul(padded::<L>(cols))
    }
    /// Packs all of `b` into `d`, of [`Panels::len`].
    pub fn pack<B: Product<Lane = L>>(b: Mat<B>, d: &'a mut [L]) -> Self {
        let blocks = Blocks::new(b.rows());
        pack(pack::Single::<B>::ELEMENTS, b, blocks, d);
        Panels::of(blocks, b.cols(), d)
    }
    /// The panels of so many columns that were packed into `lanes`. Panics where those are too few.
    pub fn of(blocks: Blocks, cols: usize, lanes: &'a [L]) -> Self {
        let lanes = &lanes[..Self::len(blocks, cols)];
        Panels {
            lanes,
            first: 0,
            padded: padded::<L>(cols),
            cols,
            blocks,
        }
    }
    /// Some columns, from a multiple of the widest panel on.
    pub fn columns(self, cols: Range<usize>) -> Self {
        let (lanes, widest) = L::tile(simd::level());
        assert!(cols.start.is_multiple_of(lanes * widest) && cols.end <= self.cols);
        Panels {
            first: self.first + cols.start,
            cols: cols.len(),
            ..self
        }
    }
    /// The panel at column `j`, of block `block`: its lanes begin there.
    #[inline]
    pub fn panel(&self, block: usize, j: usize) -> &'a [L] {
        let ks = self.blocks.get(block);
        &self.lanes[ks.start * self.padded + (self.first + j) * ks.len()..]
    }
}
/// Packs all of `b` into `d`, of [`Panels::len`].
pub fn pack<P: Packing<To: Lane>>(p: P, b: Mat<P::From>, blocks: Blocks, d: &mut [P::To]) {
    let pieces = Pieces::<P::To>::new(blocks, b.cols());
    for piece in (0..pieces.count()).map(|i| pieces.get(i)) {
        piece.pack_by(p, b, &mut d[piece.lanes.clone()]);
    }
}
/// Packs columns into panels, one after the other.
pub fn pack_block<P: Packing<To: Lane>>(p: P, b: Mat<P::From>, d: &mut [P::To]) {
    let (lanes, widest) = P::To::tile(simd::level());
    let (k, cols, groups) = (b.rows(), b.cols(), b.rows().div_ceil(P::GROUP));
    let whole = lanes * widest;
    let wide = cols / whole * whole;
    pack::panels_by(p, b.block(0..k, 0..wide), whole, whole, d);
    let mut j = wide;
    while j < cols {
        let width = vectors(cols - j, lanes, widest) * lanes;
        pack::panels_by(
            p,
            b.block(0..k, j..cols.min(j + width)),
            width,
            width,
            &mut d[j * groups..],
        );
        j += width;
    }
}
/// A part of the packing, with its place among the lanes: work for a thread.
pub struct Piece {
    steps: Range<usize>,
    cols: Range<usize>,
    pub lanes: Range<usize>,
}
impl Piece {
    /// Packs it into its lanes.
    pub fn pack<B: Product>(&self, b: Mat<B>, d: &mut [B::Lane]) {
        self.pack_by(pack::Single::<B>::ELEMENTS, b, d)
    }
    fn pack_by<P: Packing<To: Lane>>(&self, p: P, b: Mat<P::From>, d: &mut [P::To]) {
        let rows = self.steps.start * P::GROUP..b.rows().min(self.steps.end * P::GROUP);
        pack_block(p, b.block(rows, self.cols.clone()), d)
    }
}
/// All pieces of so many columns.
pub struct Pieces<L> {
    cols: usize,
    /// Columns of a piece: some panels, so that rows of B are read in long runs.
    size: usize,
    blocks: Blocks,
    _lanes: PhantomData<L>,
}
impl<L: Lane> Pieces<L> {
    pub fn new(blocks: Blocks, cols: usize) -> Self {
        let (lanes, widest) = L::tile(simd::level());
        Pieces {
            cols,
            size: 4 * lanes * widest,
            blocks,
            _lanes: PhantomData,
        }
    }
    /// How many.
    pub fn count(&self) -> usize {
        self.blocks.count() * self.cols.div_ceil(self.size)
    }
    pub fn get(&self, i: usize) -> Piece {
        let across = self.cols.div_ceil(self.size);
        let start = i % across * self.size;
        let (steps, cols) = (
            self.blocks.get(i / across),
            start..self.cols.min(start + self.size),
        );
        let at = steps.start * padded::<L>(self.cols) + start * steps.len();
        Piece {
            lanes: at..at + padded::<L>(cols.len()) * steps.len(),
            steps,
            cols,
        }
    }
}
/// Columns that are packed at once for so many threads: their caches hold them.
pub fn at_once<L: Lane>(k: usize, threads: usize) -> usize {
    const LANES: usize = 1 << 20;
    let (lanes, widest) = L::tile(simd::level());
    (LANES.saturating_mul(threads) / k.max(1))
        .max(1)
        .next_multiple_of(lanes * widest)
}
