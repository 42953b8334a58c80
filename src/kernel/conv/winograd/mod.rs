//! Winograd's algorithm (Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks",
//! 2016). F(4x4, 3x3) computes four by four results of a 3x3 kernel from a tile of six by six
//! elements, by 36 products in place of 144. Elements and weights are transformed by matrices B and
//! G and multiplied, and the products are transformed back by A: `Y = A^T [(G g G^T) * (B^T d B)]
//! A`, where products are summed over the channels: 36 products of matrices, `[tiles, channels] x
//! [channels, outputs]`. F(4, 3) and F(4, 5) do so along columns alone. A kernel with a depth is
//! the sum of such kernels, over planes that are transformed once. A transposed convolution is one
//! convolution for each phase of its stride, all of which read the same transformed elements
//! ([`kernels`]); it uses F(2x2, 3x3) or F(4, 3).
//!
//! Channels are contiguous in vectors, so no size of an image leaves lanes empty. NaN and infinity
//! would spread to all of a tile's positions, and large elements to positions that don't depend on
//! them, as rounding errors or overflow. So a row of tiles with a result that is not finite, or
//! with elements of too large a [`range`], is a product of patches; of a transposed convolution,
//! all is.
//!
//! As products of patches, kernels of 3x3 take 2.8 to 3.9 times as long on AVX2, with a depth 4.5
//! to 5.3 times, along columns alone 1.8 to 2.2 times; on SSE2 3.6, 4.4 and 1.9 times. Transposed
//! convolutions by `col2im` take 1.2 to 2.1 times as long (SSE2: 1.4 to 1.8).

/// `by_tile!(tile, Kernel { .. })` calls a kernel for tiles of as many rows and columns.
macro_rules! by_tile {
    ($tile:expr, $name:ident { $($fields:tt)* }) => {
        match $tile {
            [4, 4] if ALL_TILES => crate::simd::call($name::<_, 4, 4> { $($fields)* }),
            [6, 6] => crate::simd::call($name::<_, 6, 6> { $($fields)* }),
            [1, 6] if ALL_TILES => crate::simd::call($name::<_, 1, 6> { $($fields)* }),
            [1, 8] if ALL_TILES => crate::simd::call($name::<_, 1, 8> { $($fields)* }),
            _ => unreachable!("tiles of this size"),
        }
    };
}

mod blocks;
mod elements;
mod filtering;
mod kernels;
mod panels;
mod range;
mod results;
mod weights;

pub use blocks::Blocks;
pub use kernels::PhaseKernels;
pub use panels::WeightPanels;

use super::geometry::Image;
use super::image_rows::ImageRows;
use super::patches::Patches;
use super::planes::{ChannelLanes, LANES, LoadPlanes, store};
use crate::error::Result;
use crate::kernel::gemm::{Epilogue, Mat, MatElement, MatMut, Source, Strided, macrokernel};
use crate::kernel::math::Real;
use crate::simd;
use core::marker::PhantomData;
use core::ops::Range;
use elements::TransformElements;
use filtering::results_in;
use results::TransformResults;

/// Whether there are tiles for other kernels than 3x3. WebAssembly modules leave out their code.
const ALL_TILES: bool = !cfg!(target_family = "wasm");

/// The most products of a tile.
const PRODUCTS: usize = 36;
/// The most taps of a kernel: those that are read at a time, which are whole blocks of a transpose
/// for 16 kernels of 3x3.
const TAPS_READ: usize = 16 * 9;

/// The weights of a group, plain and transformed.
#[derive(Clone, Copy)]
pub struct GroupWeights<'a, T: MatElement> {
    /// `[outputs, channels * taps]`, for rows of tiles that are not computed by the algorithm; none
    /// for a transposed convolution.
    pub plain: Option<Mat<'a, T>>,
    /// In the layout of `panels`.
    pub transformed: &'a [T::Acc],
    pub panels: WeightPanels,
}

/// A block, in three phases of tasks: elements are transformed, multiplied, and results transformed
/// back. On the way the largest elements are found and compared.
///
/// Invariant WINOGRAD1: `elements`, `products`, `largest` and `far` point to as many elements as
/// `blocks` says, which nobody else uses for `'a`.
///
/// Contract WINOGRAD2: tasks of one phase write different elements, so that they may run
/// concurrently; a phase begins when the one before has ended.
pub struct Block<'a, T: MatElement> {
    blocks: &'a Blocks,
    run: usize,
    planes: Range<usize>,
    rows: Range<usize>,
    cols: Range<usize>,
    elements: *mut T::Acc,
    products: *mut T::Acc,
    largest: *mut T::Acc,
    far: *mut T::Acc,
    _numbers: PhantomData<&'a mut [T::Acc]>,
}
// SAFETY: only this block uses its elements (WINOGRAD1), each in one task of a phase (WINOGRAD2).
unsafe impl<T: MatElement> Sync for Block<'_, T> {}

impl<'a, T> Block<'a, T>
where
    T: MatElement,
    T::Acc: Real + MatElement<Acc = T::Acc>,
{
    /// Block `i`, with [`Blocks::shared`] elements of scratch. Panics if there are fewer.
    pub fn new(blocks: &'a Blocks, i: usize, shared: &'a mut [T::Acc]) -> Self {
        let lens = blocks.shared_lens();
        assert!(shared.len() >= lens.iter().sum());
        let first = shared.as_mut_ptr();
        let [elements, products, largest, _] = lens;
        let at = |before: usize| first.wrapping_add(before);
        let (run, [planes, rows, cols]) = blocks.block(i);
        Block {
            blocks,
            run,
            planes,
            rows,
            cols,
            elements: first,
            products: at(elements),
            largest: at(elements + products),
            far: at(elements + products + largest),
            _numbers: PhantomData,
        }
    }
    /// Tiles of a plane.
    fn tiles(&self) -> usize {
        self.rows.len() * self.cols.len()
    }
    /// The first element along each axis of the window of a row of tiles, without the depth.
    fn first(&self, row: usize) -> [isize; 2] {
        let g = &self.blocks.geometry;
        let [down, across] = self.blocks.kernels.tile.map(results_in);
        [
            g.element(1, (self.rows.start + row) * down, 0),
            g.element(2, self.cols.start * across, 0),
        ]
    }
    /// The first row and column of the positions of a row of tiles, and their rows and columns.
    fn extent(&self, row: usize) -> [usize; 4] {
        let [down, across] = self.blocks.spans();
        let (y, x) = ((self.rows.start + row) * down, self.cols.start * across);
        let [_, rows, cols] = self.blocks.output_size;
        let (height, width) = (down.min(rows - y), (across * self.cols.len()).min(cols - x));
        [y, x, height, width]
    }
    /// Tasks of the first phase: rows of tiles of all planes that are read, by groups of channels.
    pub fn elements(&self) -> usize {
        self.slots() * self.blocks.channels.div_ceil(LANES)
    }
    /// Transforms the elements of `task`. `image(n)` is image `n`, whose planes are matrices;
    /// `scratch` is that of a task.
    ///
    /// # Safety
    /// WINOGRAD2.
    pub unsafe fn transform<'b>(
        &self,
        task: usize,
        image: impl Fn(usize) -> Image<'b, T>,
        scratch: &mut [T::Acc],
    ) where
        T: 'b,
    {
        let (blocks, g) = (self.blocks, &self.blocks.geometry);
        let (slot, channel) = (task % self.slots(), task / self.slots() * LANES);
        let (plane, row) = (slot / self.rows.len(), slot % self.rows.len());
        // planes beyond those of the block follow its last one
        let inner = plane.min(self.planes.len() - 1);
        let [n, z] = blocks.plane(self.run, self.planes.start + inner);
        let z = g.element(0, z, 0) + (plane - inner) as isize;
        let [top, left] = self.first(row);
        let image = image(n);
        if channel == 0 {
            // SAFETY: WINOGRAD2.
            unsafe { self.find_largest(slot, image, z, [top, left]) };
        }
        let channels = channel..blocks.channels.min(channel + LANES);
        let [step, _] = blocks.steps();
        let [line, _] = blocks.widths();
        let at = slot * self.cols.len() * line + channel;
        // SAFETY: WINOGRAD1, WINOGRAD2: lanes of these tiles, of each product.
        let d = self.elements.wrapping_add(at);
        let Some(plane) = image.plane(z) else {
            for p in 0..blocks.kernels.elements() {
                for t in 0..self.cols.len() {
                    let d = d.wrapping_add(p * step + t * line) as *mut [T::Acc; LANES];
                    // SAFETY: WINOGRAD1, WINOGRAD2, as above.
                    unsafe { *d = [T::Acc::ZERO; LANES] };
                }
            }
            return;
        };
        let tile = blocks.kernels.tile;
        let across = results_in(tile[1]);
        let columns = across * self.cols.len() + tile[1] - across;
        let sizes = image.sizes();
        let (window, other) = scratch.split_at_mut(tile[0] * columns * LANES);
        simd::call(LoadPlanes {
            lanes: ChannelLanes::new(plane, channels, 1),
            size: [sizes[1], sizes[2]],
            rows: top..top + tile[0] as isize,
            cols: left..left + columns as isize,
            d: &mut *window,
        });
        // ELEMENTS1 by WINOGRAD1 and WINOGRAD2
        by_tile!(
            tile,
            TransformElements {
                window,
                down: other,
                tiles: self.cols.len(),
                d,
                step,
                line,
            }
        );
    }
    /// Rows of tiles of all planes that are read.
    fn slots(&self) -> usize {
        (self.planes.len() + self.blocks.beyond()) * self.rows.len()
    }
    /// Tasks of the second phase: comparisons, and products, each of a range of tiles.
    pub fn products(&self) -> usize {
        self.comparisons() + self.blocks.kernels.products() * self.parts()
    }
    fn parts(&self) -> usize {
        const TILES: usize = 96;
        (self.planes.len() * self.tiles()).div_ceil(TILES)
    }
    /// Computes the comparison or the product of `task`. `sizes` are those of an image; `scratch`
    /// is that of a task.
    ///
    /// Errors if there is no memory for packing.
    ///
    /// # Safety
    /// WINOGRAD2.
    pub unsafe fn multiply(
        &self,
        task: usize,
        weights: &GroupWeights<T>,
        sizes: [usize; 2],
        scratch: &mut [T::Acc],
    ) -> Result<()> {
        let Some(task) = task.checked_sub(self.comparisons()) else {
            // SAFETY: WINOGRAD2.
            unsafe { self.compare(task, sizes, scratch) };
            return Ok(());
        };
        let (blocks, kernels) = (self.blocks, &self.blocks.kernels);
        let (p, part) = (task / self.parts(), task % self.parts());
        let (phase, element) = kernels.of_product(p);
        let tiles = self.planes.len() * self.tiles();
        let size = tiles.div_ceil(self.parts());
        let tiles = part * size..tiles.min((part + 1) * size);
        let ([from_step, to_step], [from_line, to_line]) = (blocks.steps(), blocks.widths());
        let d = (self.products).wrapping_add(p * to_step + tiles.start * to_line);
        // SAFETY: MAT2: rows of a product, used by this task alone (WINOGRAD1, WINOGRAD2); any bits
        // are a number (LANE1).
        let mut d = unsafe { MatMut::new(d, tiles.len(), blocks.outputs, to_line as isize) };
        let positions = (0..kernels.depth).filter(|z| kernels.tap(0, phase[0], *z).is_some());
        for (i, z) in positions.enumerate() {
            let panels = weights.panels.get(weights.transformed, p, z);
            let from = element * from_step + (z * self.tiles() + tiles.start) * from_line;
            // SAFETY: MAT1: rows that the first phase wrote (WINOGRAD1, WINOGRAD2).
            let a = unsafe {
                let at = self.elements.wrapping_add(from);
                Mat::new(at, tiles.len(), blocks.channels, from_line as isize, 1)
            };
            let b = Strided::columns(panels.placeholder());
            let (a, more) = (Strided::rows(a), i > 0);
            macrokernel(&a, &b, Some(panels), &mut d, more, Epilogue::NONE)?;
        }
        // lanes past the last channel are zero, which is finite
        for i in 0..tiles.len() {
            let rest = to_line - blocks.outputs;
            let at = (self.products)
                .wrapping_add(p * to_step + (tiles.start + i) * to_line + blocks.outputs);
            // SAFETY: WINOGRAD1, WINOGRAD2: the end of a row.
            unsafe { core::slice::from_raw_parts_mut(at, rest) }.fill(T::Acc::ZERO);
        }
        Ok(())
    }
    /// Tasks of the third phase: rows of tiles, by groups of channels.
    pub fn results(&self) -> usize {
        self.planes.len() * self.rows.len() * self.blocks.outputs.div_ceil(LANES)
    }
    /// Transforms the results of `task` back. `image(n)`, `c(n)` and `epilogue(n)` are those of
    /// image `n`; `c` has a row for each channel, of all positions. Returns whether they are right:
    /// false if some are not finite or of too large a range, and there are no plain weights to
    /// compute them by.
    ///
    /// Errors if there is no memory for packing.
    ///
    /// # Safety
    /// WINOGRAD2; nobody else uses the positions of this block meanwhile.
    pub unsafe fn finish<'b>(
        &self,
        task: usize,
        weights: &GroupWeights<T>,
        image: impl Fn(usize) -> Image<'b, T>,
        c: impl Fn(usize) -> MatMut<'b, T>,
        epilogue: impl Fn(usize) -> Epilogue<'b, T>,
        scratch: &mut [T::Acc],
    ) -> Result<bool>
    where
        T: 'b,
    {
        let (blocks, kernels) = (self.blocks, &self.blocks.kernels);
        let rows = self.planes.len() * self.rows.len();
        let (slot, channel) = (task % rows, task / rows * LANES);
        let (plane, row) = (slot / self.rows.len(), slot % self.rows.len());
        let [n, z] = blocks.plane(self.run, self.planes.start + plane);
        let channels = channel..blocks.outputs.min(channel + LANES);
        let [y, x, height, width] = self.extent(row);
        let [depth, rows, cols] = blocks.output_size;
        let [_, step] = blocks.steps();
        let [_, line] = blocks.widths();
        let (sums, planar) = scratch.split_at_mut(scratch.len() / 2);
        let sums = &mut sums[..height * width * LANES];
        let (c, epilogue) = (c(n), epilogue(n));
        let [deep, phases_down, phases_across] = kernels.phases;
        for z in (z * deep..depth).take(deep) {
            // finite, and of no too large a range
            let mut right = true;
            for phase in 0..phases_down * phases_across {
                let i = z % deep * phases_down * phases_across + phase;
                let [_, py, px] = kernels.phase(i);
                // SAFETY: WINOGRAD2.
                right &= !unsafe { self.is_far(slot, i) };
                if py >= height || px >= width || !right {
                    continue;
                }
                let first = kernels.products_before(i) * step;
                let tiles = slot * self.cols.len() * line + channel;
                // written by the second phase of tasks: RESULTS1 by WINOGRAD1 and WINOGRAD2
                right &= by_tile!(
                    kernels.tile,
                    TransformResults {
                        needed: kernels.needed(kernels.phase(i)),
                        products: self.products.wrapping_add(first + tiles),
                        step,
                        line,
                        height: (height - py).div_ceil(phases_down),
                        width: (width - px).div_ceil(phases_across),
                        d: &mut sums[(py * width + px) * LANES..],
                        apart: [phases_down * width, phases_across],
                    }
                );
            }
            // rows of positions are contiguous if tiles span the width
            let (count, len) = if width == cols {
                (1, height * width)
            } else {
                (height, width)
            };
            for (q, sums) in (0..count).zip(sums.chunks_exact(len * LANES)) {
                let first = (z * rows + y + q) * cols + x;
                let positions = first..first + len;
                if right {
                    // SAFETY: positions of this block, by the caller's promise, and channels of
                    // this task.
                    unsafe {
                        store(
                            sums,
                            planar,
                            channels.clone(),
                            positions.clone(),
                            &c,
                            epilogue,
                        )
                    };
                    // SAFETY: POSTOP1: positions of this block and channels of this task alone, all
                    // written.
                    unsafe { epilogue.run_post_op(channels.clone(), positions) };
                    continue;
                }
                let Some(plain) = weights.plain else {
                    return Ok(false);
                };
                // SAFETY: as above.
                let mut d = unsafe { c.part(channels.clone(), positions.clone()) };
                let a = plain.block(channels.clone(), 0..plain.cols());
                let epilogue = epilogue.at(channels.start, positions.start);
                let rows = ImageRows::new(image(n), blocks.geometry);
                let b = Patches::right(rows).slice(positions);
                macrokernel(&Strided::rows(a), &b, None, &mut d, false, epilogue)?;
            }
        }
        Ok(true)
    }
}
