//! The job of a microkernel: a block of A, a panel of B, and where the sums go.

use crate::simd;
use core::ops::Range;

/// Rows of the highest tile (MR). WebAssembly engines keep some of the 16 registers to themselves.
pub const HEIGHT: usize = if simd::MICROCONTROLLER || cfg!(target_family = "wasm") {
    4
} else {
    6
};
/// The K-loop's unroll factor. The loop's overhead beside its multiply-adds is a tenth of the time
/// on a core whose sibling thread is busy, and on narrow cores.
pub const UNROLL: usize = 4;
/// Bytes of a cache line.
const LINE: isize = 64;

/// The rows of micropanel `i` of `rows` rows: as high as the highest tile, except that the last two
/// are as equal as possible, so that neither starves the multipliers: 14 rows are 6 + 4 + 4. A part
/// that begins at a micropanel and goes to the end has the same micropanels, if it has at least
/// two.
#[inline]
pub fn micropanel(rows: usize, i: usize) -> Range<usize> {
    let count = rows.div_ceil(HEIGHT);
    if i + 2 < count || count < 2 {
        return i * HEIGHT..rows.min((i + 1) * HEIGHT);
    }
    let start = (count - 2) * HEIGHT;
    let half = start + (rows - start).div_ceil(2);
    if i + 2 == count {
        start..half
    } else {
        half..rows
    }
}

/// A block of A: strided rows, or packed in micropanels, `[micropanel][step][row]`.
#[derive(Clone, Copy)]
pub struct BlockA<T> {
    pub at: *const T,
    /// Strides of a row and of a step of the sum.
    pub strides: Option<(isize, isize)>,
}
impl<T> BlockA<T> {
    /// The block from row `i` on, where a micropanel begins; it has `k` steps.
    #[inline(always)]
    pub fn from(self, i: usize, k: usize) -> Self {
        let rs = self.strides.map_or(k as isize, |(rs, _)| rs);
        BlockA {
            at: self.at.wrapping_offset(i as isize * rs),
            ..self
        }
    }
}

/// Memory to prefetch into L2 during the K-loop: from any address on, `step` bytes further with
/// each step of the sum, at most two lines per pass of the loop. Slowly, since the tile's own loads
/// need the same fill buffers.
#[derive(Clone, Copy)]
pub struct Prefetch {
    at: *const u8,
    step: isize,
}
impl Prefetch {
    /// Advances by `step` bytes with each step of the sum, within the limit.
    pub fn new<T>(at: *const T, step: isize) -> Self {
        const MAX_STEP: isize = 2 * LINE / UNROLL as isize;
        Prefetch {
            at: at as *const u8,
            step: step.clamp(-MAX_STEP, MAX_STEP),
        }
    }
    /// A panel `width` wide, which all micropanels of `rows` rows prefetch together.
    pub fn panel<T>(at: *const T, width: usize, rows: usize) -> Self {
        let bytes = width * size_of::<T>();
        Prefetch::new(at, bytes.div_ceil(rows.div_ceil(HEIGHT)) as isize)
    }
    /// The same, this many steps later.
    #[inline(always)]
    pub fn after(self, steps: usize) -> Self {
        Prefetch {
            at: self.at.wrapping_offset(steps as isize * self.step),
            ..self
        }
    }
    /// Prefetches the share of one pass of the K-loop.
    #[inline(always)]
    pub fn pass(&mut self) {
        simd::prefetch::<{ simd::L2 }, _>(self.at);
        simd::prefetch::<{ simd::L2 }, _>(self.at.wrapping_offset(LINE));
        *self = self.after(UNROLL);
    }
}

/// What a tile does with complete sums while registers hold them: it adds numbers of its rows, or of
/// its columns, each null if there are none; then negative sums become zero, where asked for.
#[derive(Clone, Copy)]
pub struct TileEnd<T> {
    pub rows: *const T,
    pub columns: *const T,
    pub relu: bool,
}
impl<T> TileEnd<T> {
    /// Nothing.
    pub const NONE: TileEnd<T> = TileEnd {
        rows: core::ptr::null(),
        columns: core::ptr::null(),
        relu: false,
    };
    /// The same for sums of another type, whose numbers have the same bits.
    pub fn cast<U>(self) -> TileEnd<U> {
        TileEnd {
            rows: self.rows.cast(),
            columns: self.columns.cast(),
            relu: self.relu,
        }
    }
    /// That of the sums from row `i` and column `j` on.
    #[inline(always)]
    pub fn at(self, i: usize, j: usize) -> Self {
        let from = |p: *const T, k: usize| if p.is_null() { p } else { p.wrapping_add(k) };
        TileEnd {
            rows: from(self.rows, i),
            columns: from(self.columns, j),
            ..self
        }
    }
}

/// One panel of B times a block of A: `o (+)= a b`.
///
/// Contract TILE1: `a` holds `rows` rows of `k` steps; `b` holds `k` rows of `vectors` vectors,
/// `ldb` apart; `o` holds `rows` rows of as many vectors, `ldo` apart, writable and disjoint from
/// both; `vectors` is 1, 2 or that of the widest tile. If the type is tiled
/// ([`is_tiled`](super::packed::Packed::is_tiled)), A has strides. If `tall`, A has strides, B's
/// rows are contiguous and adjacent, `rows` is at most [`TALL_ROWS`], and `end` is none. Where `end`
/// has numbers, they are as many as the job has rows, or columns; it has some only if the type
/// [`ENDS`](super::packed::Packed::ENDS).
#[derive(Clone, Copy)]
pub struct PanelJob<T> {
    pub k: usize,
    pub rows: usize,
    pub a: BlockA<T>,
    pub b: *const T,
    pub ldb: isize,
    pub vectors: usize,
    /// The initial values of each row's sums, `rows` elements; null for zero. Not with
    /// `accumulate`.
    pub starts: *const T,
    pub o: *mut T,
    pub ldo: isize,
    /// Whether to add to what `o` holds.
    pub accumulate: bool,
    /// What becomes of the sums.
    pub end: TileEnd<T>,
    /// What is read next, to prefetch.
    pub next: Option<Prefetch>,
    /// Whether each micropanel prefetches the next one of A, which has not been read yet.
    pub fetch_a: bool,
    /// Whether all rows are one tall tile.
    pub tall: bool,
}
/// The most rows of a tall tile: as many as registers hold sums for, at half the width of a panel.
pub const TALL_ROWS: usize = 2 * HEIGHT;
