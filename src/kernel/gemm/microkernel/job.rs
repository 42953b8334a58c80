//! What a microkernel is given: a block of A, a panel of B, where the sums go.

use crate::simd;
use core::ops::Range;

/// Rows of the highest tile (MR). Virtual machines keep some of 16 registers to themselves.
pub const HEIGHT: usize = if simd::MICROCONTROLLER || cfg!(target_family = "wasm") {
    4
} else {
    6
};
/// The K-loop's unroll factor. What a step does beside its multiply-adds is a tenth of the time on
/// a core whose other thread is busy, and on narrow ones.
pub const UNROLL: usize = 4;
/// Bytes of a cache line.
const LINE: isize = 64;

/// The rows of micropanel `i` of so many rows: as high as the highest tile, and the last two as
/// equal as can be, so that none starves the multipliers: 14 are 6 + 4 + 4. Those of a part that
/// begins with a micropanel and goes to the end are the same, where it has two.
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

/// A block of A: rows by their strides, or else packed in micropanels, `[micropanel][step][row]`.
#[derive(Clone, Copy)]
pub struct BlockA<T> {
    pub at: *const T,
    /// Strides of a row and of a step of the sum.
    pub strides: Option<(isize, isize)>,
}
impl<T> BlockA<T> {
    /// From row `i` on, where a micropanel begins, of `k` steps.
    #[inline(always)]
    pub fn from(self, i: usize, k: usize) -> Self {
        let rs = self.strides.map_or(k as isize, |(rs, _)| rs);
        BlockA {
            at: self.at.wrapping_offset(i as isize * rs),
            ..self
        }
    }
}

/// Memory that is prefetched into L2 meanwhile: from an address on, which may be any, so many bytes
/// further with each step of the sum, two lines a pass of the K-loop at most. Slowly: the loads of
/// the tile itself wait for the same buffers.
#[derive(Clone, Copy)]
pub struct Prefetch {
    at: *const u8,
    step: isize,
}
impl Prefetch {
    /// `step` bytes further with each step of the sum.
    pub fn new<T>(at: *const T, step: isize) -> Self {
        const MOST: isize = 2 * LINE / UNROLL as isize;
        Prefetch {
            at: at as *const u8,
            step: step.clamp(-MOST, MOST),
        }
    }
    /// A panel `width` wide, which all micropanels of so many rows fetch together.
    pub fn panel<T>(at: *const T, width: usize, rows: usize) -> Self {
        let bytes = width * size_of::<T>();
        Prefetch::new(at, bytes.div_ceil(rows.div_ceil(HEIGHT)) as isize)
    }
    /// The same so many steps later.
    #[inline(always)]
    pub fn after(self, steps: usize) -> Self {
        Prefetch {
            at: self.at.wrapping_offset(steps as isize * self.step),
            ..self
        }
    }
    /// Fetches what belongs to a pass of the K-loop.
    #[inline(always)]
    pub fn pass(&mut self) {
        simd::prefetch::<{ simd::L2 }, _>(self.at);
        simd::prefetch::<{ simd::L2 }, _>(self.at.wrapping_offset(LINE));
        *self = self.after(UNROLL);
    }
}

/// One panel of B times a block of A: `o (+)= a b`.
///
/// Contract TILE1: `a` holds `rows` rows of `k` steps; `b` holds `k` rows of `vectors` vectors,
/// `ldb` apart; `o` holds `rows` rows of as many, `ldo` apart, writable and apart from both;
/// `vectors` is 1, 2 or the widest tile's. Where `tall`, A has strides, B's rows follow each other,
/// and `rows` is [`TALL_ROWS`] at most.
#[derive(Clone, Copy)]
pub struct PanelJob<T> {
    pub k: usize,
    pub rows: usize,
    pub a: BlockA<T>,
    pub b: *const T,
    pub ldb: isize,
    pub vectors: usize,
    /// What the sums of each row begin with, `rows` numbers; null for zero. Not with `accumulate`.
    pub starts: *const T,
    pub o: *mut T,
    pub ldo: isize,
    /// Adds to what `o` holds.
    pub accumulate: bool,
    /// What will be read next.
    pub next: Option<Prefetch>,
    /// Whether each micropanel fetches the next one of A, which nobody has read before.
    pub fetch_a: bool,
    /// Whether all rows are one tile.
    pub tall: bool,
}
/// Rows of a tall tile at most: as many as registers hold sums of, at half the width of a panel.
pub const TALL_ROWS: usize = 2 * HEIGHT;
