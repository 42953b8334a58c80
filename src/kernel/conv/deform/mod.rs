//! Patches whose elements are displaced from the kernel's positions, by an offset for each tap of
//! each position: rows of [`Patches`](super::Patches) (Dai et al., "Deformable Convolutional Networks", 2017; with a mask, Zhu et al., 2019).
//!
//! Between elements an image is interpolated bilinearly from the four around, and outside it is
//! zero. Channels of one offset group read the same positions, which are computed once for all of
//! them, for a run of positions at a time. Contiguous channels are lanes.

mod gradient;
mod rows;

pub use gradient::DeformedGradient;
pub use rows::DeformedRows;

use super::geometry::{Geometry, Image};
use super::planes::{LANES, Store};
use crate::kernel::gemm::{Mat, MatElement, Packed};
use crate::kernel::math::Real;
use crate::simd::{Isa, Kernel};
use core::ops::Range;

/// Positions whose elements are found at a time.
const RUN: usize = 32;
/// Marks an element outside the image.
const NOWHERE: isize = isize::MIN;

/// The types of images, offsets and masks that are computed in.
pub trait DeformFloat: MatElement<Acc = Self> + Packed + Real {}
impl<T: MatElement<Acc = T> + Packed + Real> DeformFloat for T {}

/// Channels of an image, and the positions at which taps read them.
#[derive(Clone, Copy)]
pub struct Deformed<'a, T> {
    pub image: Image<'a, T>,
    /// With a single depth.
    pub geometry: Geometry,
    /// `[offset groups, kernel_len, down and across]` by positions.
    pub offset: Mat<'a, T>,
    /// `[offset groups, kernel_len]` by positions: factors, all one if absent.
    pub mask: Option<Mat<'a, T>>,
    /// The number of the first channel among those of all offset groups, and channels per group.
    pub first: usize,
    pub per_group: usize,
}

/// The elements around the points that a tap reads for some positions: top left, top right, bottom
/// left, bottom right.
struct Corners<T> {
    /// Offsets from the channel's first element, in elements, or `NOWHERE`.
    at: [[isize; RUN]; 4],
    weights: [[T; RUN]; 4],
    mask: [T; RUN],
    /// The distances of what is read below and right of the top left element.
    below: [T; RUN],
    right: [T; RUN],
    /// Whether all elements exist.
    whole: bool,
}
impl<T: DeformFloat> Corners<T> {
    fn new() -> Self {
        Corners {
            at: [[NOWHERE; RUN]; 4],
            weights: [[T::ZERO; RUN]; 4],
            mask: [T::ONE; RUN],
            below: [T::ZERO; RUN],
            right: [T::ZERO; RUN],
            whole: false,
        }
    }
}

impl<T: DeformFloat> Deformed<'_, T> {
    /// Taps: channels times positions.
    fn taps(&self) -> usize {
        self.image.channels() * self.geometry.kernel_len()
    }
    /// Asserts that there are offsets and masks for all taps.
    fn check(&self) {
        let (g, per) = (&self.geometry, self.per_group.max(1));
        let groups = (self.first + self.image.channels()).div_ceil(per);
        let rows = groups * g.kernel_len();
        assert!(g.kernel[0] == 1 && g.output_size[0] == 1 && g.padding[0] == 0);
        assert!(self.image.sizes()[0] == 1 && (self.per_group > 0 || self.image.channels() == 0));
        assert!(self.offset.rows() >= 2 * rows && self.offset.cols() == g.len());
        assert!((self.mask).is_none_or(|m| m.rows() >= rows && m.cols() == g.len()));
    }
    /// Finds what the tap at `kernel_index` of an offset group reads for up to `RUN` positions.
    #[inline(always)]
    fn find<I: Isa>(
        &self,
        group: usize,
        kernel_index: usize,
        positions: Range<usize>,
        around: &mut Corners<T>,
    ) {
        let (g, [_, height, width]) = (&self.geometry, self.image.sizes());
        let row = group * g.kernel_len() + kernel_index;
        let tap = [kernel_index / g.kernel[2], kernel_index % g.kernel[2]];
        around.whole = true;
        for (j, position) in positions.enumerate() {
            let at = [position / g.output_size[2], position % g.output_size[2]];
            let [y, x] = [0, 1].map(|k| {
                // SAFETY: MAT1: a row that `check` asserts, and a position.
                let offset = unsafe { self.offset.get(2 * row + k, position) };
                T::from_f64(g.element(k + 1, at[k], tap[k]) as f64) + offset
            });
            // SAFETY: MAT1, as above.
            let mask = (self.mask).map_or(T::ONE, |m| unsafe { m.get(row, position) });
            let inside = |x: T, size: usize| x >= -T::ONE && x < T::from_f64(size as f64);
            let (top, left) = (y.floor::<I>(), x.floor::<I>());
            let seen = inside(y, height) && inside(x, width);
            // outside the image is zero, but an offset that is NaN gives NaN
            let (below, right) = match seen || y.isnan() || x.isnan() {
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
    /// The elements of a channel around position `j` of a run; zero outside the image.
    ///
    /// # Safety
    /// AROUND1: `around` is what [`find`](Deformed::find) made for this image, `j` one of its
    /// positions and `channel` one of the image's.
    #[inline(always)]
    unsafe fn elements(&self, channel: usize, around: &Corners<T>, j: usize) -> [T; 4] {
        let from = self.image.row(channel, 0, 0);
        let mut all = [T::ZERO; 4];
        for (all, at) in all.iter_mut().zip(&around.at) {
            if around.whole || at[j] != NOWHERE {
                // SAFETY: IMAGE1: an element whose row and column `find` checked, by AROUND1.
                *all = unsafe { *from.offset(at[j]) };
            }
        }
        all
    }
    /// Writes what some positions of a run read of [`LANES`] contiguous channels:
    /// `d[channel][position]`, rows `ld` apart.
    ///
    /// # Safety
    /// AROUND1 for each of the channels, and STORE1.
    #[inline(always)]
    unsafe fn lanes<I: Isa>(
        &self,
        channel: usize,
        around: &Corners<T>,
        len: usize,
        d: *mut T,
        ld: usize,
    ) {
        let from = self.image.row(channel, 0, 0);
        let mut pixels = [[T::ZERO; LANES]; RUN];
        for (j, pixel) in pixels[..len].iter_mut().enumerate() {
            let mut seen = [[T::ZERO; LANES]; 4];
            for (seen, at) in seen.iter_mut().zip(&around.at) {
                if around.whole || at[j] != NOWHERE {
                    // SAFETY: IMAGE1: elements of contiguous channels, whose row and column `find`
                    // checked, by AROUND1.
                    *seen = unsafe { *(from.offset(at[j]) as *const [T; LANES]) };
                }
            }
            for l in 0..LANES {
                let seen = [seen[0][l], seen[1][l], seen[2][l], seen[3][l]];
                pixel[l] = mean::<I, T>(around, j, seen) * around.mask[j];
            }
        }
        Store {
            pixels: pixels[..len].as_flattened(),
            d,
            ld: ld as isize,
        }
        .run::<I>()
    }
    /// Writes what taps read for positions, `d[tap][position]`, rows `stride` apart.
    #[inline(always)]
    fn write<I: Isa>(
        &self,
        taps: Range<usize>,
        positions: Range<usize>,
        d: &mut [T],
        stride: usize,
    ) {
        let kernel_len = self.geometry.kernel_len();
        let mut around = Corners::new();
        for start in positions.clone().step_by(RUN) {
            let run = start..positions.end.min(start + RUN);
            for kernel_index in 0..kernel_len {
                // the channels with a tap at this position of the kernel
                let from = taps.start.saturating_sub(kernel_index).div_ceil(kernel_len);
                let end = taps.end.saturating_sub(kernel_index).div_ceil(kernel_len);
                let (mut found, mut channel) = (usize::MAX, from);
                while channel < end {
                    let group = (self.first + channel) / self.per_group;
                    if group != found {
                        self.find::<I>(group, kernel_index, run.clone(), &mut around);
                        found = group;
                    }
                    let of_group = (group + 1) * self.per_group - self.first;
                    let row = channel * kernel_len + kernel_index - taps.start;
                    let d = &mut d[row * stride + start - positions.start..];
                    if channel + LANES <= end.min(of_group) && self.image.channels_are_near() {
                        let ld = kernel_len * stride;
                        assert!((LANES - 1) * ld + run.len() <= d.len());
                        // SAFETY: AROUND1: found above; STORE1 by the assertion.
                        unsafe { self.lanes::<I>(channel, &around, run.len(), d.as_mut_ptr(), ld) };
                        channel += LANES;
                        continue;
                    }
                    for (j, d) in d[..run.len()].iter_mut().enumerate() {
                        // SAFETY: AROUND1: found above.
                        let seen = unsafe { self.elements(channel, &around, j) };
                        *d = mean::<I, T>(&around, j, seen) * around.mask[j];
                    }
                    channel += 1;
                }
            }
        }
    }
}

/// Bilinear interpolation between the elements.
#[inline(always)]
fn mean<I: Isa, T: DeformFloat>(around: &Corners<T>, j: usize, seen: [T; 4]) -> T {
    let w = |k: usize| around.weights[k][j];
    let above = T::mul_add::<I>(w(1), seen[1], w(0) * seen[0]);
    T::mul_add::<I>(w(3), seen[3], T::mul_add::<I>(w(2), seen[2], above))
}
