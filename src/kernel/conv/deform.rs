//! Patches whose elements lie beside where the kernel has them, by an offset for each tap of each place:
//! a source of the matrix engine, as [`Patches`](super::Patches) are (Dai et al., "Deformable
//! Convolutional Networks", 2017; with a mask, Zhu et al., 2019).
//!
//! Between elements an image is interpolated from the four around, and zero beyond its sides. Channels of
//! one offset group see the same elements, so where those are is found once for all of them, for a
//! run of places at a time.

use super::geometry::{Geometry, Image};
use crate::kernel::gemm::{BlockA, InPlace, Mat, MatElement, Packed, Source, panel_width};
use crate::kernel::math::Real;
use crate::simd::{self, Isa, Kernel};
use core::ops::Range;

/// Places whose elements are found at once.
const RUN: usize = 32;
/// What is beyond a side of the image.
const NOWHERE: isize = isize::MIN;

/// What offsets and masks are to be of: numbers that are computed in.
pub trait Float: MatElement<Acc = Self> + Packed + Real {}
impl<T: MatElement<Acc = T> + Packed + Real> Float for T {}

/// Channels of an image, and where taps see them.
#[derive(Clone, Copy)]
pub struct Deformed<'a, T> {
    pub image: Image<'a, T>,
    /// Of one depth.
    pub geometry: Geometry,
    /// `[offset groups, positions, down and across]` by places.
    pub offset: Mat<'a, T>,
    /// `[offset groups, positions]` by places: factors; ones where there is none.
    pub mask: Option<Mat<'a, T>>,
    /// The number that the first channel has among those of all offset groups, and how many channels a
    /// group has.
    pub first: usize,
    pub per_group: usize,
}

/// The elements around what a tap of some places sees: above left, above right, below left, below
/// right.
struct Around<T> {
    /// From the channel's first element, in elements, or `NOWHERE`.
    at: [[isize; RUN]; 4],
    weights: [[T; RUN]; 4],
    mask: [T; RUN],
    /// How far below and right of the first.
    below: [T; RUN],
    right: [T; RUN],
    /// Whether all elements are there.
    whole: bool,
}
impl<T: Float> Around<T> {
    fn new() -> Self {
        Around {
            at: [[NOWHERE; RUN]; 4],
            weights: [[T::ZERO; RUN]; 4],
            mask: [T::ONE; RUN],
            below: [T::ZERO; RUN],
            right: [T::ZERO; RUN],
            whole: false,
        }
    }
}

impl<T: Float> Deformed<'_, T> {
    /// Taps: channels times positions.
    fn taps(&self) -> usize {
        self.image.channels() * self.geometry.positions()
    }
    /// Asserts that offsets and masks are there for all taps.
    fn check(&self) {
        let (g, per) = (&self.geometry, self.per_group.max(1));
        let groups = (self.first + self.image.channels()).div_ceil(per);
        let rows = groups * g.positions();
        assert!(g.kernel[0] == 1 && g.places[0] == 1 && g.padding[0] == 0);
        assert!(self.image.sizes()[0] == 1);
        assert!(self.offset.rows() >= 2 * rows && self.offset.cols() == g.len());
        assert!((self.mask).is_none_or(|m| m.rows() >= rows && m.cols() == g.len()));
    }
    /// Finds what the tap at `position` of an offset group sees from up to `RUN` places.
    #[inline(always)]
    fn find<I: Isa>(
        &self,
        group: usize,
        position: usize,
        places: Range<usize>,
        around: &mut Around<T>,
    ) {
        let (g, [_, height, width]) = (&self.geometry, self.image.sizes());
        let row = group * g.positions() + position;
        let tap = [position / g.kernel[2], position % g.kernel[2]];
        around.whole = true;
        for (j, place) in places.enumerate() {
            let at = [place / g.places[2], place % g.places[2]];
            // SAFETY: MAT1: a row that `check` asserts, and a place.
            let [y, x] = [0, 1].map(|k| {
                let from = g.element(k + 1, at[k], tap[k]);
                T::from_f64(from as f64) + unsafe { self.offset.get(2 * row + k, place) }
            });
            // SAFETY: MAT1, as above.
            let mask = (self.mask).map_or(T::ONE, |m| unsafe { m.get(row, place) });
            let inside = |x: T, size: usize| x >= -T::ONE && x < T::from_f64(size as f64);
            let (top, left) = (y.floor::<I>(), x.floor::<I>());
            let seen = inside(y, height) && inside(x, width);
            // differences of what is not finite are no weights, not even of zeros
            let (below, right) = match seen {
                true => (y - top, x - left),
                false => (T::ZERO, T::ZERO),
            };
            around.mask[j] = mask;
            (around.below[j], around.right[j]) = (below, right);
            let (top, left) = (top.to_f64() as isize, left.to_f64() as isize);
            for k in 0..4 {
                let (y, x) = (top.wrapping_add(k / 2), left.wrapping_add(k % 2));
                let there = seen && (y as usize) < height && (x as usize) < width;
                around.whole &= there;
                around.at[k as usize][j] = match there {
                    true => y * self.image.stride(1) + x * self.image.stride(2),
                    false => NOWHERE,
                };
                let (v, h) = (k / 2 == 1, k % 2 == 1);
                let v = if v { below } else { T::ONE - below };
                let h = if h { right } else { T::ONE - right };
                around.weights[k as usize][j] = v * h;
            }
        }
    }
    /// The elements of a channel around place `j` of a run; zero beyond the image.
    ///
    /// # Safety
    /// AROUND1: `around` is what [`find`](Deformed::find) made for this image, `j` one of its places
    /// and `channel` one of the image's.
    #[inline(always)]
    unsafe fn elements(&self, channel: usize, around: &Around<T>, j: usize) -> [T; 4] {
        let from = self.image.row(channel, 0, 0);
        let mut all = [T::ZERO; 4];
        for k in 0..4 {
            let at = around.at[k][j];
            if around.whole || at != NOWHERE {
                // SAFETY: IMAGE1: an element whose row and column `find` checked, by AROUND1.
                all[k] = unsafe { *from.offset(at) };
            }
        }
        all
    }
    /// Writes what taps see from places, `d[tap][place]`, rows `stride` apart.
    #[inline(always)]
    fn write<I: Isa>(&self, taps: Range<usize>, places: Range<usize>, d: &mut [T], stride: usize) {
        let positions = self.geometry.positions();
        let mut around = Around::new();
        for start in places.clone().step_by(RUN) {
            let run = start..places.end.min(start + RUN);
            for position in 0..positions {
                // the channels whose tap it is
                let from = taps.start.saturating_sub(position).div_ceil(positions);
                let end = taps.end.saturating_sub(position).div_ceil(positions);
                let mut found = usize::MAX;
                for channel in from..end {
                    let group = (self.first + channel) / self.per_group;
                    if group != found {
                        self.find::<I>(group, position, run.clone(), &mut around);
                        found = group;
                    }
                    let row = channel * positions + position - taps.start;
                    let d = &mut d[row * stride + start - places.start..][..run.len()];
                    for (j, d) in d.iter_mut().enumerate() {
                        // SAFETY: AROUND1: just found.
                        let seen = unsafe { self.elements(channel, &around, j) };
                        *d = mean::<I, T>(&around, j, seen) * around.mask[j];
                    }
                }
            }
        }
    }
}

/// The interpolation of elements.
#[inline(always)]
fn mean<I: Isa, T: Float>(around: &Around<T>, j: usize, seen: [T; 4]) -> T {
    let w = |k: usize| around.weights[k][j];
    let above = T::mul_add::<I>(w(1), seen[1], w(0) * seen[0]);
    T::mul_add::<I>(w(3), seen[3], T::mul_add::<I>(w(2), seen[2], above))
}

/// [`Deformed::write`] on the chosen instruction set.
struct Write<'a, 'b, T> {
    from: &'a Deformed<'b, T>,
    taps: Range<usize>,
    places: Range<usize>,
    d: &'a mut [T],
    stride: usize,
}
impl<T: Float> Kernel for Write<'_, '_, T> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        (self.from).write::<I>(self.taps, self.places, self.d, self.stride)
    }
}

/// Deformed patches of an image as the right side of a product: a line a place, a step a tap.
#[derive(Clone, Copy)]
pub struct DeformedPatches<'a, T> {
    from: Deformed<'a, T>,
    /// The places.
    lines: (usize, usize),
}
impl<'a, T: Float> DeformedPatches<'a, T> {
    /// All patches. Panics where there are not as many offsets as taps and places.
    pub fn new(from: Deformed<'a, T>) -> Self {
        from.check();
        let lines = (0, from.geometry.len());
        DeformedPatches { from, lines }
    }
}
// SAFETY: SOURCE1: nothing is read in place, and blocks lie in `d`.
unsafe impl<T: Float> Source for DeformedPatches<'_, T> {
    type Packed = T;
    fn lines(&self) -> usize {
        self.lines.1 - self.lines.0
    }
    fn steps(&self) -> usize {
        self.from.taps()
    }
    fn slice(self, lines: Range<usize>) -> Self {
        assert!(lines.start <= lines.end && lines.end <= self.lines());
        let lines = (self.lines.0 + lines.start, self.lines.0 + lines.end);
        DeformedPatches { lines, ..self }
    }
    fn in_place(&self) -> Option<InPlace<T>> {
        None
    }
    fn pack_panels(&self, steps: Range<usize>, lines: Range<usize>, d: &mut [T]) {
        let (mut d, mut line) = (d, lines.start);
        while line < lines.end {
            let width = panel_width::<T>(lines.end - line);
            let len = width.min(lines.end - line);
            let (panel, rest) = d.split_at_mut(width * steps.len());
            d = rest;
            if len < width {
                panel.fill(T::ZERO);
            }
            let first = self.lines.0 + line;
            simd::call(Write {
                from: &self.from,
                taps: steps.clone(),
                places: first..first + len,
                d: panel,
                stride: width,
            });
            line += len;
        }
    }
    fn pack_block(&self, steps: Range<usize>, lines: Range<usize>, d: &mut [T]) -> BlockA<T> {
        let depth = steps.len();
        for (line, d) in lines.zip(d.chunks_exact_mut(depth.max(1))) {
            let place = self.lines.0 + line;
            simd::call(Write {
                from: &self.from,
                taps: steps.clone(),
                places: place..place + 1,
                d,
                stride: 1,
            });
        }
        BlockA {
            at: d.as_ptr(),
            strides: Some((depth as isize, 1)),
        }
    }
}

/// Deformed patches of images as the left side of a product: a line a tap, a step a place of an image,
/// one image after the other.
#[derive(Clone, Copy)]
pub struct DeformedTaps<'a, T> {
    images: &'a [Deformed<'a, T>],
    /// Places of each.
    places: usize,
    /// The taps.
    lines: (usize, usize),
}
impl<'a, T: Float> DeformedTaps<'a, T> {
    /// All patches of images of `taps` taps and `places` places. Panics where one has others, or not as
    /// many offsets.
    pub fn new(images: &'a [Deformed<'a, T>], taps: usize, places: usize) -> Self {
        for image in images {
            image.check();
            assert!(image.taps() == taps && image.geometry.len() == places);
        }
        DeformedTaps {
            images,
            places,
            lines: (0, taps),
        }
    }
}
// SAFETY: SOURCE1: nothing is read in place, and blocks lie in `d`.
unsafe impl<T: Float> Source for DeformedTaps<'_, T> {
    type Packed = T;
    fn lines(&self) -> usize {
        self.lines.1 - self.lines.0
    }
    fn steps(&self) -> usize {
        self.images.len() * self.places
    }
    fn slice(self, lines: Range<usize>) -> Self {
        assert!(lines.start <= lines.end && lines.end <= self.lines());
        let lines = (self.lines.0 + lines.start, self.lines.0 + lines.end);
        DeformedTaps { lines, ..self }
    }
    fn in_place(&self) -> Option<InPlace<T>> {
        None
    }
    fn pack_panels(&self, steps: Range<usize>, lines: Range<usize>, d: &mut [T]) {
        super::gradient::panels(steps, lines, d, |step, line| {
            let mut one = [T::ZERO];
            self.pack_block(step..step + 1, line..line + 1, &mut one);
            one[0]
        })
    }
    fn pack_block(&self, steps: Range<usize>, lines: Range<usize>, d: &mut [T]) -> BlockA<T> {
        let (depth, places) = (steps.len(), self.places);
        let mut step = steps.start;
        while step < steps.end {
            let (image, place) = (step / places, step % places);
            let len = (places - place).min(steps.end - step);
            simd::call(Write {
                from: &self.images[image],
                taps: self.lines.0 + lines.start..self.lines.0 + lines.end,
                places: place..place + len,
                d: &mut d[step - steps.start..],
                stride: depth,
            });
            step += len;
        }
        BlockA {
            at: d.as_ptr(),
            strides: Some((depth as isize, 1)),
        }
    }
}

/// Adds what some places give to the gradients of an image, its offsets and its mask.
pub struct DeformedGradient<'a, 'b, T> {
    /// Channels that lie one after the other, `[channels, height, width]`, of one offset group.
    pub from: Deformed<'b, T>,
    pub places: Range<usize>,
    /// What each tap gets, `[taps][places]`.
    pub columns: &'a [T],
    /// Of the channels.
    pub image: &'a mut [T],
    /// Of all taps of the offset group: `[positions, down and across, all places]`.
    pub offset: &'a mut [T],
    /// The same, `[positions, all places]`.
    pub mask: &'a mut [T],
}
impl<T: Float> DeformedGradient<'_, '_, T> {
    /// Panics where sizes don't fit.
    pub fn add(self) {
        let (from, n) = (&self.from, self.places.len());
        from.check();
        let taps = from.geometry.positions() * from.geometry.len();
        assert!(from.image.is_contiguous() && self.columns.len() == from.taps() * n);
        assert!(self.offset.len() == 2 * taps && self.mask.len() == taps);
        simd::call(self)
    }
}
impl<T: Float> Kernel for DeformedGradient<'_, '_, T> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        let (from, all) = (&self.from, self.from.geometry.len());
        let (positions, sizes) = (from.geometry.positions(), from.image.sizes());
        let (group, area) = (from.first / from.per_group, sizes[1] * sizes[2]);
        let mut around = Around::new();
        for start in self.places.clone().step_by(RUN) {
            let run = start..self.places.end.min(start + RUN);
            for position in 0..positions {
                from.find::<I>(group, position, run.clone(), &mut around);
                let mut sums = [[T::ZERO; RUN]; 3];
                for channel in 0..from.image.channels() {
                    let row = (channel * positions + position) * self.places.len();
                    let grad = &self.columns[row + start - self.places.start..][..run.len()];
                    let d = &mut self.image[channel * area..][..area];
                    for (j, grad) in grad.iter().enumerate() {
                        // SAFETY: AROUND1: just found.
                        let seen = unsafe { from.elements(channel, &around, j) };
                        let (below, right) = (around.below[j], around.right[j]);
                        let down =
                            right * (seen[3] - seen[1]) + (T::ONE - right) * (seen[2] - seen[0]);
                        let across =
                            below * (seen[3] - seen[2]) + (T::ONE - below) * (seen[1] - seen[0]);
                        let masked = *grad * around.mask[j];
                        sums[0][j] = T::mul_add::<I>(masked, down, sums[0][j]);
                        sums[1][j] = T::mul_add::<I>(masked, across, sums[1][j]);
                        let mean = mean::<I, T>(&around, j, seen);
                        sums[2][j] = T::mul_add::<I>(*grad, mean, sums[2][j]);
                        for k in 0..4 {
                            if around.at[k][j] != NOWHERE {
                                let d = &mut d[around.at[k][j] as usize];
                                *d = T::mul_add::<I>(masked, around.weights[k][j], *d);
                            }
                        }
                    }
                }
                for (j, place) in run.clone().enumerate() {
                    for (k, sums) in sums[..2].iter().enumerate() {
                        let d = &mut self.offset[(2 * position + k) * all + place];
                        *d = *d + sums[j];
                    }
                    let d = &mut self.mask[position * all + place];
                    *d = *d + sums[2][j];
                }
            }
        }
    }
}
