//! How the positions of a channel are split into tiles, and the layout of a tile in scratch.

use crate::kernel::conv::geometry::Geometry;
use crate::kernel::conv::rows::BLOCK;
use crate::simd;
use core::ops::Range;

/// Bytes of scratch of a tile, unless it can't be smaller: half of most L1 caches.
const MAX_BYTES: usize = if simd::CACHE_BLOCKING {
    24 << 10
} else {
    2 << 10
};
/// Bytes of scratch above which other algorithms are better: what an L2 cache holds.
const TOO_MUCH: usize = if simd::CACHE_BLOCKING {
    256 << 10
} else {
    8 << 10
};
/// The most positions of a row.
const WIDE: usize = 512;
/// Rows of a block of positions, whose sums are in registers together, and its vectors.
pub const ROWS: usize = if simd::MICROCONTROLLER { 1 } else { 4 };
pub const VECTORS: usize = if simd::MICROCONTROLLER { 1 } else { 2 };
/// Vectors of a block of one row, and rows of a block of one vector: as many sums as in other
/// blocks, to hide the latency of multiply-adds.
pub const LONG: usize = ROWS * VECTORS;
/// Bytes of the longest vector.
const VECTOR: usize = 64;

/// Positions computed together: some rows, of all columns or of some.
#[derive(Clone, Debug)]
pub struct Tile {
    pub z: usize,
    pub y: Range<usize>,
    pub x: Range<usize>,
}

/// How positions are split into tiles; it depends on the geometry, the channels that a position
/// reads and the type alone.
#[derive(Clone, Copy, Debug)]
pub struct Tiling {
    pub(super) geometry: Geometry,
    /// Planes that a position reads: channels times depths of the kernel.
    pub(super) planes: usize,
    pub(super) rows: usize,
    pub(super) cols: usize,
    /// Columns of a phase that taps read beyond those of the first tap.
    pub(super) beyond: usize,
    /// Elements of a phase of a row: those before the first column, every `stride`th column that
    /// taps read, and what vectors read beyond. A multiple of [`BLOCK`].
    pub(super) phase: usize,
    /// Numbers before the first column, so that the image's columns begin on a block: stores that
    /// cross cache lines take several times as long.
    pub(super) lead: usize,
    /// Rows of a plane that a tile reads.
    pub(super) seen: usize,
}
impl Tiling {
    /// The tiles of these positions, for sums of `bytes` bytes; none if they are too large for
    /// caches.
    pub fn new(geometry: Geometry, channels: usize, bytes: usize) -> Option<Tiling> {
        let (g, n) = (geometry, geometry.output_size);
        let lanes = (VECTOR / bytes).max(1);
        let planes = channels.checked_mul(g.kernel[0])?;
        // blocks that the columns left of the image don't fill
        let outside = ((-g.element(2, 0, 0)).max(0) as usize).div_ceil(g.stride[2]);
        let lead = match g.stride[2] {
            1 | 2 if simd::CACHE_BLOCKING => outside.next_multiple_of(BLOCK) - outside,
            _ => 0,
        };
        let of = |rows: usize| {
            let cols = n[2].min(WIDE);
            let beyond = (g.kernel[2] - 1).checked_mul(g.dilation[2])? / g.stride[2];
            let span = (g.kernel[1] - 1).checked_mul(g.dilation[1])?;
            let tiling = Tiling {
                geometry,
                planes,
                rows,
                cols,
                beyond,
                phase: (cols.next_multiple_of(lanes))
                    .checked_add(beyond)?
                    .checked_add(lead)?
                    .checked_next_multiple_of(BLOCK)?,
                lead,
                seen: span.checked_add((rows.max(1) - 1).checked_mul(g.stride[1])? + 1)?,
            };
            Some(tiling).filter(|t| t.scratch_len().is_some())
        };
        let takes = |t: &Tiling| t.scratch(bytes);
        let mut best = of(n[1].min(ROWS)).filter(|t| takes(t) <= TOO_MUCH)?;
        let mut rows = best.rows;
        while rows < n[1] {
            rows = (rows + ROWS).min(n[1]);
            match of(rows).filter(|t| takes(t) <= MAX_BYTES) {
                Some(t) => best = t,
                None => break,
            }
        }
        Some(best)
    }
    /// Elements of a row of the image.
    #[inline(always)]
    pub(super) fn line(&self) -> usize {
        self.geometry.stride[2] * self.phase
    }
    /// Elements of the part of the image that a tile has in scratch.
    pub(super) fn image(&self) -> Option<usize> {
        (self.planes.checked_mul(self.seen)?)
            .checked_mul(self.geometry.stride[2])?
            .checked_mul(self.phase)
    }
    /// Elements of sums, with whole blocks in the last row.
    pub(super) fn sums(&self) -> usize {
        self.rows * self.cols + LONG.max(VECTORS) * VECTOR
    }
    /// Elements of the taps of one output.
    pub(super) fn taps(&self) -> usize {
        self.planes * self.geometry.kernel[1] * self.geometry.kernel[2]
    }
    /// Elements of scratch.
    pub(super) fn scratch_len(&self) -> Option<usize> {
        let taps = self.planes.checked_mul(self.geometry.kernel_len())?;
        self.image()?.checked_add(self.sums())?.checked_add(taps)
    }
    /// The index in a row at which the columns that a tap reads begin.
    #[inline(always)]
    pub(super) fn column(&self, tap: usize) -> usize {
        let (at, stride) = (tap * self.geometry.dilation[2], self.geometry.stride[2]);
        let at = match stride {
            1 => at,
            2 => at % 2 * self.phase + at / 2,
            _ => at % stride * self.phase + at / stride,
        };
        self.lead + at
    }
    /// The height of the kernel and the vertical stride, for kernels of adjacent rows.
    pub(super) fn adjacent_rows(&self) -> (usize, usize) {
        let g = &self.geometry;
        if g.dilation[1] == 1 && !simd::MICROCONTROLLER {
            (g.kernel[1], g.stride[1])
        } else {
            (0, 0)
        }
    }
    /// Bytes of scratch of a tile, for sums of `bytes` bytes.
    pub fn scratch(&self, bytes: usize) -> usize {
        self.scratch_len()
            .unwrap_or(usize::MAX)
            .saturating_mul(bytes)
    }
    /// The number of tiles.
    pub fn count(&self) -> usize {
        let n = self.geometry.output_size;
        n[0] * n[1].div_ceil(self.rows.max(1)) * n[2].div_ceil(self.cols.max(1))
    }
    /// Tile `i`.
    pub(super) fn tile(&self, i: usize) -> Tile {
        let n = self.geometry.output_size;
        let (down, across) = (n[1].div_ceil(self.rows), n[2].div_ceil(self.cols));
        let (y, x) = (i / across % down * self.rows, i % across * self.cols);
        Tile {
            z: i / across / down,
            y: y..n[1].min(y + self.rows),
            x: x..n[2].min(x + self.cols),
        }
    }
}
