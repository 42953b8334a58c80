//! The weight gradient of a channel that is convolved by itself: for each tap, the sum of products
//! of elements of the gradient and of the image. Rows of the image are read into L1, with zeros
//! around them; there each tap reads blocks of positions at constant distances, and the lanes of
//! its sums stay in registers down the rows.
//!
//! As a product, 8 and 12 channels that are convolved by themselves take 3 to 8 times as long on
//! AVX2 and 5 times on SSE2; of a single channel with six outputs the product takes 0.8 times as
//! long on AVX2 and 1.4 times on SSE2.

use super::geometry::{Geometry, Image};
use super::rows::{self, StridedColumns};
use crate::error::Result;
use crate::kernel::gemm::{MatElement, Packed, Scratch};
use crate::simd::{self, Isa, Kernel};
use core::ops::Range;

/// Lanes of the sums of a tap: those of the longest vector.
const LANES: usize = 16;
/// Taps whose sums are in registers together: as many as most kernels have in a row.
const TAPS: usize = if simd::MICROCONTROLLER { 1 } else { 3 };
/// The most bytes of rows read at a time, unless a single row of positions needs more.
const MAX_BYTES: usize = if simd::CACHE_BLOCKING {
    16 << 10
} else {
    2 << 10
};

/// Writes the gradient of each position of the kernel: the sum, over the positions of all images,
/// of the elements of `grad`, `[positions]` for each image, times those that the tap reads of the
/// image's only channel.
///
/// Errors if there is no memory for scratch.
pub fn channel_gradient<'a, T>(
    images: impl Iterator<Item = (Image<'a, T>, &'a [T])>,
    geometry: &Geometry,
    d: &mut [T],
) -> Result<()>
where
    T: MatElement<Acc = T> + Packed,
{
    let g = geometry;
    let plan = ChannelPlan::of(g, size_of::<T>());
    let sums = g.kernel_len().saturating_mul(LANES);
    let plane = plan.line.saturating_mul(plan.seen);
    let mut scratch = Scratch::<T>::new(sums.saturating_add(plane))?;
    let (sums, plane) = scratch.split_at_mut(sums);
    sums.fill(T::default());
    for (image, grad) in images {
        assert!(image.channels() == 1 && grad.len() == g.len());
        simd::call(AddImage {
            image,
            grad,
            plan: &plan,
            plane,
            sums,
        });
    }
    for (d, sums) in d.iter_mut().zip(sums.as_chunks_mut::<LANES>().0) {
        let mut n = LANES;
        while n > 1 {
            n /= 2;
            (0..n).for_each(|l| sums[l] = T::add(sums[l], sums[l + n]));
        }
        *d = sums[0];
    }
    Ok(())
}

/// How rows are read.
struct ChannelPlan<'a> {
    geometry: &'a Geometry,
    /// Columns of a phase: those that the first tap reads, in whole blocks, and those that other
    /// taps read beyond them.
    phase: usize,
    /// Elements of a row: `[phase of the columns][column]`.
    line: usize,
    /// Rows of positions added at a time, and the rows of the image that they read.
    rows: usize,
    seen: usize,
}
/// Whether the scratch for a channel's sums, with elements of `bytes` bytes, is no more than a
/// thread may have.
pub fn channel_fits(g: &Geometry, bytes: usize) -> bool {
    const SCRATCH: usize = 8 << 20;
    let plan = ChannelPlan::of(g, bytes);
    let sums = g.kernel_len().saturating_mul(LANES);
    let elements = plan.line.saturating_mul(plan.seen).saturating_add(sums);
    elements.saturating_mul(bytes) <= SCRATCH
}
impl<'a> ChannelPlan<'a> {
    /// The plan for elements of `bytes` bytes.
    fn of(g: &'a Geometry, bytes: usize) -> Self {
        let beyond = (g.kernel[2] - 1).saturating_mul(g.dilation[2]) / g.stride[2];
        let phase = beyond.saturating_add(g.output_size[2].next_multiple_of(LANES));
        let line = phase.saturating_mul(g.stride[2]);
        let span = (g.kernel[1] - 1).saturating_mul(g.dilation[1]);
        let fit = MAX_BYTES / bytes / line.max(1);
        let rows = (fit.saturating_sub(span) / g.stride[1]).clamp(1, g.output_size[1].max(1));
        ChannelPlan {
            geometry: g,
            phase,
            line,
            rows,
            seen: span.saturating_add((rows - 1).saturating_mul(g.stride[1]) + 1),
        }
    }
    /// The index in a plane at which a tap reads the first position.
    fn at(&self, tap: usize) -> usize {
        let g = self.geometry;
        let (y, x) = (tap / g.kernel[2], tap % g.kernel[2] * g.dilation[2]);
        y * g.dilation[1] * self.line + x % g.stride[2] * self.phase + x / g.stride[2]
    }
}

/// Adds the contributions of an image to `sums[position][lane]`.
struct AddImage<'a, 'b, T> {
    image: Image<'b, T>,
    grad: &'a [T],
    plan: &'a ChannelPlan<'a>,
    /// Rows of the image at one depth.
    plane: &'a mut [T],
    sums: &'a mut [T],
}
impl<T: MatElement<Acc = T> + Packed> Kernel for AddImage<'_, '_, T> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        by_lanes!(self.add, I, T)
    }
}
impl<T: MatElement<Acc = T> + Packed> AddImage<'_, '_, T> {
    #[inline(always)]
    fn add<I: Isa, const L: usize>(mut self) {
        let (plan, g) = (self.plan, self.plan.geometry);
        let [depth, height, width] = g.output_size;
        let area = g.kernel[1] * g.kernel[2];
        for (z, kz) in (0..depth).flat_map(|z| (0..g.kernel[0]).map(move |kz| (z, kz))) {
            let from = g.element(0, z, kz);
            if from as usize >= self.image.sizes()[0] {
                continue;
            }
            for first in (0..height).step_by(plan.rows) {
                let rows = first..height.min(first + plan.rows);
                self.load::<I>(from, rows.start);
                let grad = &self.grad[(z * height + rows.start) * width..];
                let grad = &grad[..rows.len() * width];
                let sums = self.sums.as_chunks_mut::<LANES>().0;
                let sums = &mut sums[kz * area..(kz + 1) * area];
                let (plane, mut tap) = (&*self.plane, 0..0);
                while tap.end < area {
                    let step = if area - tap.end >= TAPS { TAPS } else { 1 };
                    tap = tap.end..tap.end + step;
                    let sums = &mut sums[tap.clone()];
                    if step == TAPS {
                        dots::<I, T, L, TAPS>(plan, plane, grad, tap.clone(), sums)
                    } else {
                        dots::<I, T, L, 1>(plan, plane, grad, tap.clone(), sums)
                    }
                }
            }
        }
    }
    /// Reads the rows that positions from row `first` on read, at one depth of the image.
    #[inline(always)]
    fn load<I: Isa>(&mut self, z: isize, first: usize) {
        let (plan, g, image) = (self.plan, self.plan.geometry, &self.image);
        for (y, line) in self.plane.chunks_exact_mut(plan.line).enumerate() {
            let Some(from) = image.row_inside(0, z, g.element(1, first, 0) + y as isize) else {
                rows::clear(line);
                continue;
            };
            for (p, d) in line.chunks_exact_mut(plan.phase).enumerate() {
                let positions = StridedColumns {
                    first: g.element(2, 0, 0) + p as isize,
                    stride: g.stride[2],
                    len: plan.phase,
                };
                // SAFETY: IMAGE1: a row of the image.
                unsafe { rows::load::<I, T>(from, image.stride(2), image.sizes()[2], positions, d) }
            }
        }
    }
}

/// Adds products of rows of the gradient and what `N` taps of a plane read.
///
/// PLANE2: a tap reads whole blocks of columns of each row, all of which lie in the plane
/// (asserted).
#[inline(always)]
#[expect(
    clippy::needless_range_loop,
    reason = "indices that are constants after unrolling keep the sums in registers"
)]
fn dots<I: Isa, T: Packed, const L: usize, const N: usize>(
    plan: &ChannelPlan,
    plane: &[T],
    grad: &[T],
    taps: Range<usize>,
    sums: &mut [[T; LANES]],
) {
    let (stride, width) = (plan.geometry.stride[1], plan.geometry.output_size[2]);
    let at: [usize; N] = core::array::from_fn(|k| plan.at(taps.start + k));
    let Some(sums) = sums.as_mut_array::<N>() else {
        return;
    };
    let (rows, last) = (grad.len() / width, width.next_multiple_of(L));
    let end = at.iter().max().map_or(0, |at| at + last);
    assert!(rows > 0 && (rows - 1) * stride * plan.line + end <= plane.len());
    let mut c = [T::begin([T::default(); L]); N];
    for k in 0..N {
        let mut first = [T::default(); L];
        first.copy_from_slice(&sums[k][..L]);
        c[k] = T::begin(first);
    }
    for x in (0..width).step_by(L) {
        let lanes = width - x;
        for (y, row) in grad.chunks_exact(width).enumerate() {
            let from = plane.as_ptr().wrapping_add(y * stride * plan.line + x);
            // SAFETY: PLANE2: a block of columns of a row, all of which lie in the plane by the
            // assertion.
            let seen = |k: usize| unsafe { *(from.wrapping_add(at[k]) as *const [T; L]) };
            if let Some(grad) = row[x..].first_chunk::<L>() {
                for k in 0..N {
                    c[k] = T::mul_add_lanes::<I, L>(*grad, seen(k), c[k]);
                }
                continue;
            }
            // elements past the last position may be NaN or infinite, so that zero times them is
            // not zero
            let mut grad = [T::default(); L];
            for (d, s) in grad.iter_mut().zip(&row[x..]) {
                *d = *s;
            }
            for k in 0..N {
                let mut some = seen(k);
                for (l, some) in some.iter_mut().enumerate() {
                    *some = if l < lanes { *some } else { T::default() };
                }
                c[k] = T::mul_add_lanes::<I, L>(grad, some, c[k]);
            }
        }
    }
    for k in 0..N {
        sums[k][..L].copy_from_slice(&T::end(c[k]));
    }
}
