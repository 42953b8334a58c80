//! The range of the elements that the positions of a tile read.
//!
//! Rounding errors of Winograd's algorithm follow the largest element of the tile, those of a plain
//! sum the elements that the position reads. So a row of tiles in which one element is far larger
//! than all that some position reads is not computed by it.

use super::filtering::results_in;
use super::{Block, Blocks};
use crate::kernel::conv::geometry::Image;
use crate::kernel::conv::planes::LANES;
use crate::kernel::gemm::{Mat, MatElement};
use crate::kernel::math::Real;
use crate::simd::{self, Isa, Kernel};
use core::ops::Range;

/// How many times as large as the largest element that a position reads the largest of its tile may
/// be.
const RANGE: f64 = 16.0;

/// The largest magnitude of all channels at each pixel of a window of a plane, `[row][column]`, and
/// zeros outside the plane.
struct LargestOfPixels<'a, T: MatElement> {
    channels: Mat<'a, T>,
    size: [usize; 2],
    rows: Range<isize>,
    cols: Range<isize>,
    d: &'a mut [T::Acc],
}
impl<T: MatElement<Acc: Real>> Kernel for LargestOfPixels<'_, T> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        let ([height, width], x) = (self.size, self.channels);
        let line = (self.cols.end - self.cols.start) as usize;
        let end = self.cols.end.clamp(0, width as isize) as usize;
        let start = (self.cols.start.max(0) as usize).min(end);
        let left = (start as isize - self.cols.start) as usize;
        self.d.fill(T::Acc::ZERO);
        for (row, d) in self.rows.zip(self.d.chunks_exact_mut(line)) {
            if row < 0 || row as usize >= height || start == end {
                continue;
            }
            let first = row as usize * width + start;
            let d = &mut d[left..left + end - start];
            for (at, d) in (first..).step_by(LANES).zip(d.chunks_mut(LANES)) {
                largest::<I, T>(x, at, d);
            }
        }
    }
}

/// The largest magnitudes of up to [`LANES`] pixels from pixel `at` on.
#[inline(always)]
fn largest<I: Isa, T: MatElement<Acc: Real>>(x: Mat<T>, at: usize, d: &mut [T::Acc]) {
    assert!(at + d.len() <= x.cols() && d.len() <= LANES);
    if x.cs() == 1 && x.cols() >= LANES {
        // a vector of pixels, which may begin before these or end behind them
        let first = at.min(x.cols() - LANES);
        let mut all = [T::Acc::ZERO; LANES];
        for channel in 0..x.rows() {
            // SAFETY: MAT1: pixels of a channel, by the choice of the first.
            unsafe { raise::<I, T>(element(x, channel, first), &mut all) };
        }
        d.copy_from_slice(&all[at - first..][..d.len()]);
    } else if x.rs() == 1 && x.rows() >= LANES {
        for (p, d) in d.iter_mut().enumerate() {
            let mut all = [T::Acc::ZERO; LANES];
            for channel in (0..x.rows()).step_by(LANES) {
                // the last vector may overlap the one before
                let channel = channel.min(x.rows() - LANES);
                // SAFETY: MAT1: channels of a pixel, by the assertion.
                unsafe { raise::<I, T>(element(x, channel, at + p), &mut all) };
            }
            *d = all[0];
            for x in all {
                *d = if x > *d { x } else { *d };
            }
        }
    } else {
        for (p, d) in d.iter_mut().enumerate() {
            *d = T::Acc::ZERO;
            for channel in 0..x.rows() {
                // SAFETY: MAT1, by the assertion.
                let x = unsafe { *element(x, channel, at + p) }.widen().abs::<I>();
                *d = if x > *d { x } else { *d };
            }
        }
    }
}
/// The address of a channel's pixel.
#[inline(always)]
fn element<T>(x: Mat<T>, channel: usize, pixel: usize) -> *const T {
    let at = channel as isize * x.rs() + pixel as isize * x.cs();
    x.as_ptr().wrapping_offset(at)
}
/// Raises `all` to the magnitudes of as many elements.
///
/// # Safety
/// The elements can be read.
#[inline(always)]
unsafe fn raise<I: Isa, T: MatElement<Acc: Real>>(from: *const T, all: &mut [T::Acc; LANES]) {
    let mut wide = [T::Acc::ZERO; LANES];
    if const { T::SAME } {
        // SAFETY: the caller's promise; elements have the bits of their accumulators (ELEMENT1).
        wide = unsafe { *(from as *const [T::Acc; LANES]) };
    } else {
        // SAFETY: the caller's promise.
        T::widen_all::<I>(unsafe { &*(from as *const [T; LANES]) }, &mut wide);
    }
    for l in 0..LANES {
        let x = wide[l].abs::<I>();
        all[l] = if x > all[l] { x } else { all[l] };
    }
}

/// Raises `d`, `[row][column]`, to the largest of the pixels that each position reads.
struct LargestOfPositions<'a, F> {
    /// Rows of `line` pixels.
    window: &'a [F],
    line: usize,
    /// The rows and columns of the window that the first position reads.
    taps: [Range<usize>; 2],
    /// Columns of positions.
    width: usize,
    d: &'a mut [F],
}
impl<F: Real> Kernel for LargestOfPositions<'_, F> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        let [rows, cols] = self.taps;
        for (y, d) in self.d.chunks_exact_mut(self.width).enumerate() {
            for row in rows.clone() {
                let pixels = &self.window[(y + row) * self.line..][..self.line];
                for col in cols.clone() {
                    for (d, x) in d.iter_mut().zip(&pixels[col..]) {
                        *d = if *x > *d { *x } else { *d };
                    }
                }
            }
        }
    }
}

impl Blocks {
    /// Rows and columns of the window that a row of tiles reads.
    fn window(&self) -> [usize; 2] {
        let [rows, cols] = self.kernels.tile;
        let across = results_in(cols);
        [rows, across * self.block[2] + cols - across]
    }
    /// Elements of scratch of a block for the largest pixels of all windows, and for what follows
    /// from them for each row of tiles and phase.
    pub(super) fn range_scratch_lens(&self) -> [usize; 2] {
        let ([planes, rows, _], [high, wide]) = (self.block, self.window());
        let read = planes.saturating_add(self.beyond()).saturating_mul(rows);
        let each = high.saturating_mul(wide);
        [
            read.saturating_mul(each),
            (planes * rows).saturating_mul(self.kernels.count()),
        ]
    }
}

impl<T> Block<'_, T>
where
    T: MatElement,
    T::Acc: Real + MatElement<Acc = T::Acc>,
{
    /// Finds the largest pixels of the window of a row of tiles from `[top, left]` on, in all
    /// channels of plane `z`; `slot` numbers those of all planes that are read.
    ///
    /// # Safety
    /// WINOGRAD2.
    pub(super) unsafe fn find_largest(
        &self,
        slot: usize,
        image: Image<T>,
        z: isize,
        [top, left]: [isize; 2],
    ) {
        let [rows, line] = self.blocks.window();
        let at = self.largest.wrapping_add(slot * rows * line);
        // SAFETY: WINOGRAD1, WINOGRAD2: the numbers of this window, of which any bits are one
        // (LANE1).
        let d = unsafe { core::slice::from_raw_parts_mut(at, rows * line) };
        let [_, height, width] = image.sizes();
        let Some(channels) = image.plane(z) else {
            return d.fill(T::Acc::ZERO);
        };
        simd::call(LargestOfPixels {
            channels,
            size: [height, width],
            rows: top..top + rows as isize,
            cols: left..left + line as isize,
            d,
        });
    }
    /// Tasks of the second phase that compare what the positions of a row of tiles read.
    pub(super) fn comparisons(&self) -> usize {
        self.planes.len() * self.rows.len()
    }
    /// Compares them for a row of tiles of a plane, and notes the phases whose errors would be too
    /// large. `sizes` are those of an image; `scratch` is that of a task.
    ///
    /// # Safety
    /// WINOGRAD2.
    pub(super) unsafe fn compare(&self, slot: usize, sizes: [usize; 2], scratch: &mut [T::Acc]) {
        let (blocks, kernels) = (self.blocks, &self.blocks.kernels);
        let [rows, line] = blocks.window();
        let (row, len) = (slot % self.rows.len(), rows * line);
        let across = results_in(kernels.tile[1]);
        let first = self.first(row);
        let [_, _, height, width] = self.extent(row);
        let [_, down, along] = kernels.phases;
        for i in 0..kernels.count() {
            let phase = kernels.phase(i);
            let n = [(height, down, phase[1]), (width, along, phase[2])];
            let n = n.map(|(n, step, first)| n.saturating_sub(first).div_ceil(step));
            let taps = [1, 2].map(|axis| kernels.taps(axis, phase[axis]));
            let positions = &mut scratch[..n[0] * n[1]];
            positions.fill(T::Acc::ZERO);
            for z in (0..kernels.depth).filter(|z| kernels.tap(0, phase[0], *z).is_some()) {
                let at = (slot + z * self.rows.len()) * len;
                // SAFETY: WINOGRAD1, WINOGRAD2: a window that the first phase wrote.
                let window =
                    unsafe { core::slice::from_raw_parts(self.largest.wrapping_add(at), len) };
                if !positions.is_empty() {
                    simd::call(LargestOfPositions {
                        window,
                        line,
                        taps: taps.clone(),
                        width: n[1],
                        d: &mut *positions,
                    });
                }
            }
            // positions that read nothing of the image have nothing to lose
            let sees = |axis: usize, position: usize| {
                let at = first[axis] + position as isize;
                at + (taps[axis].end as isize) > 0
                    && at + (taps[axis].start as isize) < sizes[axis] as isize
            };
            let mut far = false;
            for tile in (0..n[1]).step_by(across) {
                let (mut most, mut least) = (T::Acc::ZERO, None);
                for (y, positions) in positions.chunks_exact(n[1].max(1)).enumerate() {
                    let tile = tile..n[1].min(tile + across);
                    for (x, largest) in tile.clone().zip(&positions[tile]) {
                        most = if *largest > most { *largest } else { most };
                        if sees(0, y) && sees(1, x) && least.is_none_or(|least| *largest < least) {
                            least = Some(*largest);
                        }
                    }
                }
                far |= least.is_some_and(|least| most > T::Acc::from_f64(RANGE) * least);
            }
            let far = if far { T::Acc::ONE } else { T::Acc::ZERO };
            // SAFETY: WINOGRAD1, WINOGRAD2: the number of this row of tiles and phase.
            unsafe { *self.far.wrapping_add(slot * kernels.count() + i) = far };
        }
    }
    /// Whether the errors of a row of tiles of a plane would be too large, in a phase.
    ///
    /// # Safety
    /// WINOGRAD2, in the third phase.
    pub(super) unsafe fn is_far(&self, slot: usize, phase: usize) -> bool {
        let at = self
            .far
            .wrapping_add(slot * self.blocks.kernels.count() + phase);
        // SAFETY: WINOGRAD1, WINOGRAD2: a number that the second phase wrote.
        unsafe { *at != T::Acc::ZERO }
    }
}
