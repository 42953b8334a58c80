//! How the tiles of images are split into blocks.

use super::TAPS_READ;
use super::filtering::results_in;
use super::kernels::PhaseKernels;
use crate::kernel::conv::geometry::{Geometry, Three};
use crate::kernel::conv::planes::LANES;
use core::ops::Range;

/// Tiles of a block: enough to make reading the transformed weights cheap beside the products. With
/// a kernel depth, twice as many for each position along it, since neighbouring blocks transform
/// the same planes.
const TILES: usize = 64;
/// Elements of padding between one product and the next: a cache line, so that the elements of a
/// tile don't all fall into the same set of the cache.
const APART: usize = LANES;

/// How the tiles of a batch of images are split into blocks; it depends on the sizes alone.
///
/// Positions are those of each phase of the result, which [`PhaseKernels`] has the kernels of. Planes
/// are those of all images in turn. A kernel with a depth reads several planes of one image, so
/// that a block stays within an image.
#[derive(Clone, Copy, Debug)]
pub struct Blocks {
    /// Of the convolution with the kernels of all phases.
    pub(super) geometry: Geometry,
    pub(super) kernels: PhaseKernels,
    /// The sizes of the result.
    pub(super) output_size: Three,
    pub(super) channels: usize,
    pub(super) outputs: usize,
    /// The number of runs of planes, within which blocks stay, and planes of each.
    runs: [usize; 2],
    /// Rows of tiles of a plane, and tiles of a row.
    pub(super) grid: [usize; 2],
    /// Planes, rows and columns of tiles of a block.
    pub(super) block: Three,
}
impl Blocks {
    /// The blocks of a convolution of `batch` images by these kernels, to a result of
    /// `output_size`; none if they would need more than `most` bytes of scratch, with elements of
    /// `bytes` bytes.
    pub fn new(
        (kernels, geometry): (PhaseKernels, Geometry),
        output_size: Three,
        [channels, outputs]: [usize; 2],
        batch: usize,
        bytes: usize,
        most: usize,
    ) -> Option<Blocks> {
        let taps = (kernels.weight.iter()).fold(1, |taps: usize, n| taps.saturating_mul(*n));
        if output_size.contains(&0) || channels == 0 || outputs == 0 || taps > TAPS_READ {
            return None;
        }
        let (n, deep) = (geometry.output_size, geometry.kernel[0] > 1);
        let [down, across] = kernels.tile.map(results_in);
        let grid = [n[1].div_ceil(down), n[2].div_ceil(across)];
        let runs = match deep {
            true => [batch, n[0]],
            false => [1, batch.checked_mul(n[0])?],
        };
        let tiles = match deep {
            true => (2 * TILES).saturating_mul(kernels.depth),
            false => TILES,
        };
        // as equal as possible, with fewer tiles if scratch has no room for more
        let equal = |len: usize, most: usize| len.div_ceil(len.div_ceil(most.max(1)).max(1)).max(1);
        let of = |most: usize| {
            let cols = equal(grid[1], most);
            let rows = equal(grid[0], most / cols);
            let planes = equal(runs[1], most / (rows * cols));
            Blocks {
                geometry,
                kernels,
                output_size,
                channels,
                outputs,
                runs,
                grid,
                block: [planes, rows, cols],
            }
        };
        core::iter::successors(Some(tiles), |tiles| Some(tiles / 2))
            .take_while(|tiles| *tiles >= TILES / 4)
            .map(of)
            .find(|blocks| blocks.scratch(bytes) <= most)
    }
    /// The number of blocks.
    pub fn count(&self) -> usize {
        let across = self.across();
        self.runs[0] * across.iter().product::<usize>()
    }
    /// Blocks along the planes of a run, the rows and the columns.
    fn across(&self) -> Three {
        let ([_, planes], [rows, cols]) = (self.runs, self.grid);
        [
            planes.div_ceil(self.block[0]),
            rows.div_ceil(self.block[1]),
            cols.div_ceil(self.block[2]),
        ]
    }
    /// Tiles of all images.
    pub fn tiles(&self) -> usize {
        let planes = self.runs[0].saturating_mul(self.runs[1]);
        planes.saturating_mul(self.grid[0].saturating_mul(self.grid[1]))
    }
    /// Planes that are read beyond those of a block.
    pub(super) fn beyond(&self) -> usize {
        self.geometry.kernel[0] - 1
    }
    /// Channels of elements and of results, rounded up to whole vectors.
    pub(super) fn widths(&self) -> [usize; 2] {
        [self.channels, self.outputs].map(|n| n.next_multiple_of(LANES))
    }
    /// Elements of scratch that the tasks of a block share: transformed elements, products, the
    /// largest pixels, and what follows from them.
    pub(super) fn shared_lens(&self) -> [usize; 4] {
        let [elements, products] = self.steps();
        let [largest, far] = self.range_scratch_lens();
        [
            elements.saturating_mul(self.kernels.elements()),
            products.saturating_mul(self.kernels.products()),
            largest,
            far,
        ]
    }
    /// The sum of all.
    pub fn shared(&self) -> usize {
        self.shared_lens()
            .into_iter()
            .fold(0, usize::saturating_add)
    }
    /// The distance between the numbers of one element, or product, of tiles and of the next.
    pub(super) fn steps(&self) -> [usize; 2] {
        let [planes, rows, cols] = self.block;
        let [channels, outputs] = self.widths();
        let read = planes.saturating_add(self.beyond());
        [(read, channels), (planes, outputs)].map(|(planes, width)| {
            let each = planes.saturating_mul(rows * cols).saturating_mul(width);
            each.saturating_add(APART)
        })
    }
    /// The kernels.
    pub fn kernels(&self) -> &PhaseKernels {
        &self.kernels
    }
    /// Positions of the result for each tile.
    pub fn area(&self) -> usize {
        self.spans().iter().product::<usize>() * self.kernels.phases[0]
    }
    /// Positions along rows and columns of the result for each tile.
    pub(super) fn spans(&self) -> [usize; 2] {
        let ([down, across], [_, rows, cols]) =
            (self.kernels.tile.map(results_in), self.kernels.phases);
        [down * rows, across * cols]
    }
    /// Elements of scratch of a task: the window of a row of tiles twice, or its sums twice.
    pub fn task(&self) -> usize {
        let ([rows, cols], [down, across]) = (self.kernels.tile, self.spans());
        let window = rows * (results_in(cols) * self.block[2] + cols - results_in(cols));
        let sums = down.saturating_mul(across).saturating_mul(self.block[2]);
        window.max(sums).saturating_mul(2 * LANES)
    }
    /// The multiplications of all tiles for a channel and an output.
    pub fn multiplications(&self) -> usize {
        let [_, products] = self.kernels.multiplications();
        products.saturating_mul(self.tiles())
    }
    /// Bytes of scratch of a block, with elements of `bytes` bytes.
    pub fn scratch(&self, bytes: usize) -> usize {
        self.shared()
            .saturating_add(self.task())
            .saturating_mul(bytes)
    }
    /// Block `i`: its run, and its planes, rows and columns of tiles.
    pub(super) fn block(&self, i: usize) -> (usize, [Range<usize>; 3]) {
        let [planes, rows, cols] = self.across();
        let at = [i / cols / rows % planes, i / cols % rows, i % cols];
        let sizes = [self.runs[1], self.grid[0], self.grid[1]];
        let parts = core::array::from_fn(|k| {
            let start = at[k] * self.block[k];
            start..sizes[k].min(start + self.block[k])
        });
        (i / cols / rows / planes, parts)
    }
    /// The image of a plane of a run, and the number of the plane in it.
    pub(super) fn plane(&self, run: usize, plane: usize) -> [usize; 2] {
        let (depth, all) = (self.geometry.output_size[0], run * self.runs[1] + plane);
        [all / depth, all % depth]
    }
}
