//! How the tiles of images are cut into blocks.

use super::lanes::{IN, L, OUT, PRODUCTS};
use crate::kernel::conv::Geometry;
use core::ops::Range;

/// Tiles of a block: the columns of a panel of the widest tile of the matrix engine.
const TILES: usize = 64;
/// Channels of the result whose products are transformed back together.
pub const TOGETHER: usize = 48;

/// How the tiles of some images are cut into blocks; it follows from the sizes alone.
#[derive(Clone, Copy, Debug)]
pub struct Blocks {
    pub(super) geometry: Geometry,
    pub(super) channels: usize,
    /// Rows of tiles of an image, and tiles of a row.
    pub(super) grid: [usize; 2],
    /// Rows of tiles of all images.
    rows: usize,
    /// Rows of a block, and tiles of each.
    block: [usize; 2],
}
impl Blocks {
    /// The blocks of `batch` images; none where the geometry is another, or they would need more than
    /// `most` bytes of scratch, of numbers of `bytes`.
    pub fn new(
        geometry: Geometry,
        channels: usize,
        batch: usize,
        bytes: usize,
        most: usize,
    ) -> Option<Blocks> {
        let (g, n) = (&geometry, geometry.places);
        let fits = g.kernel == [1, 3, 3]
            && g.stride == [1; 3]
            && g.dilation == [1; 3]
            && n[0] == 1
            && g.padding[0] == 0
            && !geometry.is_empty()
            && channels > 0;
        if !fits {
            return None;
        }
        let tiles = [n[1].div_ceil(OUT), n[2].div_ceil(OUT)];
        let rows = batch.checked_mul(tiles[0])?;
        // as equal as they can be, of half as many tiles where scratch has no room for more
        let of = |most: usize| {
            let down = (most / tiles[1]).clamp(1, rows.max(1));
            let across = tiles[1].min(most);
            let block = [
                rows.div_ceil(rows.div_ceil(down).max(1)).max(1),
                tiles[1].div_ceil(tiles[1].div_ceil(across)),
            ];
            Blocks {
                geometry,
                channels,
                grid: tiles,
                rows,
                block,
            }
        };
        [TILES, TILES / 2, TILES / 4]
            .map(of)
            .into_iter()
            .find(|blocks| blocks.scratch(bytes) <= most)
    }
    /// How many blocks.
    pub fn count(&self) -> usize {
        self.rows.div_ceil(self.block[0]) * self.grid[1].div_ceil(self.block[1])
    }
    /// Tiles of all images.
    pub fn tiles(&self) -> usize {
        self.rows.saturating_mul(self.grid[1])
    }
    /// Tiles of a row.
    pub fn columns(&self) -> usize {
        self.grid[1]
    }
    /// Numbers of a channel of a block: tiles, whole vectors.
    pub fn wide(&self) -> usize {
        (self.block[0] * self.block[1]).next_multiple_of(L)
    }
    /// Numbers of a phase of a row of elements: one of each four, and one beyond.
    pub fn phase(&self) -> usize {
        self.block[1].next_multiple_of(L) + L
    }
    /// Numbers of scratch: elements and products, transformed, rows of the image before and after, and results.
    pub fn numbers(&self) -> [usize; 4] {
        let sums = OUT * OUT * self.block[1].next_multiple_of(L);
        [
            (PRODUCTS * self.wide()).saturating_mul(self.channels) + L,
            PRODUCTS * self.wide() * TOGETHER + L,
            2 * IN * OUT * self.phase(),
            sums * TOGETHER,
        ]
    }
    /// Bytes of scratch of a block, of numbers of `bytes`.
    pub fn scratch(&self, bytes: usize) -> usize {
        let all = self
            .numbers()
            .iter()
            .fold(0, |a: usize, b| a.saturating_add(*b));
        all.saturating_mul(bytes)
    }
    /// Rows and columns of tiles of block `i`.
    pub fn block(&self, i: usize) -> [Range<usize>; 2] {
        let across = self.grid[1].div_ceil(self.block[1]);
        let (y, x) = (i / across * self.block[0], i % across * self.block[1]);
        [
            y..self.rows.min(y + self.block[0]),
            x..self.grid[1].min(x + self.block[1]),
        ]
    }
}
