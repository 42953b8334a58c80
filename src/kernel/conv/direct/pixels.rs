//! Depthwise convolution, one kernel per channel, for images whose channels are contiguous: lanes
//! are channels, so the image is read in place, and each vector of weights serves several pixels
//! (the scheme of XNNPACK's and oneDNN's kernels for that layout). Sums have the order of
//! [`direct`](super::direct), so both layouts give the same bits.
//!
//! Copied to planes first, images take 1.2 (144 channels of 56x56) to 1.6 times (384 of 14x14) as
//! long on AVX2, 1.8 to 3.8 times on SSE2.

use crate::error::Result;
use crate::fallible;
use crate::kernel::conv::geometry::{Geometry, Image};
use crate::kernel::gemm::{Epilogue, Mat, MatElement, Packed, Scratch, finish_in_place};
use crate::simd::{self, Isa, Kernel};
use alloc::vec::Vec;

/// Pixels whose sums are in registers together: in the interior of the image, and at its sides.
const PIXELS: usize = 8;
const SIDE: usize = 2;
/// Elements of interior pixels per block: the first that divides their count, or else the first
/// that is not larger.
const FEWER: [usize; 4] = [PIXELS, 6, 5, 4];
/// Pixels computed for one vector of channels before the next: what they read of those channels
/// stays in L1.
const SEGMENT: usize = 16;

/// What a tap reads: its element for pixel 0, and the step to the next pixel; 0 for zeros, which
/// serve all pixels.
#[derive(Clone, Copy)]
struct TapRead<T> {
    at: *const T,
    step: isize,
}

/// Pixels of a segment that are computed together.
#[derive(Clone, Copy)]
enum PixelBlock {
    /// `pixels` pixels from `first` on, whose taps all read columns of the image.
    Inside { first: usize, pixels: usize },
    /// Any pixels, and their first entry in the table of what they read.
    Side { pixels: [usize; SIDE], entry: usize },
}

/// The weights of a convolution, and scratch for a row of pixels.
pub struct Pixels<T: Packed> {
    geometry: Geometry,
    channels: usize,
    /// `[tap][channel]`, in the order of sums.
    weights: Scratch<T>,
    /// What pixels read outside the image, `step` apart like its pixels.
    zeros: Scratch<T>,
    step: isize,
    blocks: Vec<PixelBlock>,
    /// The rows of the image that the kernel's rows read.
    lines: Vec<Option<*const T>>,
    /// For each tap, in the interior.
    inside: Vec<TapRead<T>>,
    /// For each tap of the pixels of each block at the sides.
    sides: Vec<[*const T; SIDE]>,
}
impl<T: MatElement<Acc = T> + Packed> Pixels<T> {
    /// The fewest channels: a vector of any instruction set.
    pub const CHANNELS: usize = 16;

    /// Elements of scratch.
    pub fn scratch_len(geometry: &Geometry, step: isize, channels: usize) -> usize {
        let beyond = (PIXELS - 1).saturating_mul(step.unsigned_abs().max(1));
        (geometry.kernel_len().saturating_add(1))
            .saturating_mul(channels)
            .saturating_add(beyond.saturating_mul(geometry.stride[2]))
    }
    /// For `weight`, with a row of the kernel's positions for each channel, and images whose pixels
    /// are `step` elements apart. Panics if there are fewer channels than [`Pixels::CHANNELS`].
    ///
    /// Errors if there is no memory for scratch.
    pub fn new(geometry: Geometry, step: isize, weight: Mat<T>) -> Result<Self> {
        let (channels, taps) = (weight.rows(), geometry.kernel_len());
        assert!(channels >= Self::CHANNELS && weight.cols() == taps);
        let step = step * geometry.stride[2] as isize;
        let mut weights = Scratch::<T>::new(channels.saturating_mul(taps))?;
        let beyond = (PIXELS - 1).saturating_mul(step.unsigned_abs());
        let mut zeros = Scratch::<T>::new(channels.saturating_add(beyond))?;
        zeros.fill(T::default());
        for (tap, d) in taps_of(&geometry).zip(weights.chunks_exact_mut(channels)) {
            let [kz, ky, kx] = tap;
            let k = (kz * geometry.kernel[1] + ky) * geometry.kernel[2] + kx;
            for (o, d) in d.iter_mut().enumerate() {
                // SAFETY: MAT1: a row and a column of the weight.
                *d = unsafe { weight.get(o, k) };
            }
        }
        let segment = geometry.output_size[2].min(SEGMENT);
        Ok(Pixels {
            geometry,
            channels,
            weights,
            zeros,
            step,
            blocks: fallible::with_capacity(segment)?,
            lines: fallible::with_capacity(geometry.kernel[0] * geometry.kernel[1])?,
            inside: fallible::with_capacity(taps)?,
            sides: fallible::with_capacity((segment.div_ceil(SIDE) + 1).saturating_mul(taps))?,
        })
    }
    /// Computes row `row` of the positions of an image, `d[position][channel]`; the epilogue has a
    /// row for each position of the image. Panics if the image has other channels or strides than
    /// promised, its channels are not contiguous, or `d` has another length.
    pub fn row(&mut self, row: usize, image: Image<T>, d: &mut [T], epilogue: Epilogue<T>) {
        let (g, channels) = (self.geometry, self.channels);
        assert!(image.channels() == channels && image.channels_are_near());
        assert!(image.stride(2) * g.stride[2] as isize == self.step);
        let (z, y, n) = (
            row / g.output_size[1],
            row % g.output_size[1],
            g.output_size[2],
        );
        assert!(d.len() == n * channels);
        let width = image.sizes()[2] as isize;
        let zeros = self.zeros.as_ptr();
        let zeros = zeros.wrapping_offset((-self.step).max(0) * (PIXELS - 1) as isize);
        self.lines.clear();
        for (kz, ky) in (0..g.kernel[0]).flat_map(|z| (0..g.kernel[1]).map(move |y| (z, y))) {
            let at = image.row_inside(0, g.element(0, z, kz), g.element(1, y, ky));
            self.lines.push(at);
        }
        self.inside.clear();
        for lines in self.lines.chunks_exact(g.kernel[1]) {
            for kx in 0..g.kernel[2] {
                let first = g.element(2, 0, kx) * image.stride(2);
                self.inside.extend(lines.iter().map(|line| match line {
                    Some(at) => TapRead {
                        at: at.wrapping_offset(first),
                        step: self.step,
                    },
                    None => TapRead { at: zeros, step: 0 },
                }));
            }
        }
        // the pixels whose taps all read columns of the image
        let stride = g.stride[2] as isize;
        let last = (width - 1 - g.element(2, 0, g.kernel[2] - 1)).div_euclid(stride) + 1;
        let end = last.clamp(0, n as isize) as usize;
        let start = ((g.padding[2].max(0) + stride - 1) / stride).min(end as isize) as usize;
        for origin in (0..n).step_by(SEGMENT) {
            let segment = origin..n.min(origin + SEGMENT);
            let inside = start.clamp(origin, segment.end)..end.clamp(origin, segment.end);
            self.blocks.clear();
            self.sides.clear();
            let len = inside.len().max(1);
            let pixels = (FEWER.iter().find(|n| len.is_multiple_of(**n)))
                .or_else(|| FEWER.iter().find(|n| **n <= len))
                .map_or(1, |n| *n);
            for first in inside.clone().step_by(pixels) {
                // the last block overlaps
                let first = first.min(inside.end - pixels);
                self.blocks.push(PixelBlock::Inside { first, pixels });
            }
            let mut outside = segment.clone().filter(|x| !inside.contains(x));
            while let Some(x) = outside.next() {
                // the same pixel twice if only one is left
                let pixels = [x, outside.next().unwrap_or(x)];
                let entry = self.sides.len();
                for lines in self.lines.chunks_exact(g.kernel[1]) {
                    for kx in 0..g.kernel[2] {
                        let columns = pixels.map(|x| g.element(2, x, kx));
                        let inside = columns.map(|column| (0..width).contains(&column));
                        self.sides.extend(lines.iter().map(|line| {
                            let mut seen = [zeros; SIDE];
                            let Some(at) = line else { return seen };
                            for p in 0..SIDE {
                                if inside[p] {
                                    seen[p] = at.wrapping_offset(columns[p] * image.stride(2));
                                }
                            }
                            seen
                        }));
                    }
                }
                self.blocks.push(PixelBlock::Side { pixels, entry });
            }
            simd::call(PixelSums {
                origin,
                step: self.step,
                blocks: &self.blocks,
                inside: &self.inside,
                sides: &self.sides,
                weights: &self.weights,
                channels,
                d: &mut d[origin * channels..segment.end * channels],
            });
        }
        finish_in_place(epilogue.at(row * n, 0), d, channels);
    }
}

/// The taps of a kernel in the order of sums.
fn taps_of(g: &Geometry) -> impl Iterator<Item = [usize; 3]> + use<> {
    let [depth, high, wide] = g.kernel;
    (0..depth).flat_map(move |z| (0..wide).flat_map(move |x| (0..high).map(move |y| [z, y, x])))
}

/// The sums of a segment, `d[pixel][channel]`.
///
/// Invariant TAP1: what each tap reads for each pixel is `channels` readable elements.
struct PixelSums<'a, F> {
    /// The first pixel, and the step between what a tap reads for one interior pixel and for the
    /// next.
    origin: usize,
    step: isize,
    blocks: &'a [PixelBlock],
    inside: &'a [TapRead<F>],
    sides: &'a [[*const F; SIDE]],
    weights: &'a [F],
    channels: usize,
    d: &'a mut [F],
}
impl<F: Packed> Kernel for PixelSums<'_, F> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        by_lanes!(self.channels, I, F)
    }
}
impl<F: Packed> PixelSums<'_, F> {
    #[inline(always)]
    fn channels<I: Isa, const L: usize>(mut self) {
        let n = self.channels;
        assert!(n >= L && self.weights.len() == self.inside.len() * n);
        let mut channel = 0;
        loop {
            for block in self.blocks {
                match *block {
                    PixelBlock::Inside { first, pixels } => match pixels {
                        PIXELS => self.inside::<I, L, PIXELS>(channel, first),
                        6 => self.inside::<I, L, 6>(channel, first),
                        5 => self.inside::<I, L, 5>(channel, first),
                        4 => self.inside::<I, L, 4>(channel, first),
                        _ => self.inside::<I, L, 1>(channel, first),
                    },
                    PixelBlock::Side { pixels, entry } => self.side::<I, L>(channel, pixels, entry),
                }
            }
            channel += L;
            if channel == n {
                return;
            }
            // the last vector overlaps
            channel = channel.min(n - L);
        }
    }
    /// Pixels in the interior of the image.
    #[inline(always)]
    #[expect(
        clippy::needless_range_loop,
        reason = "indices that are constants after unrolling keep the sums in registers"
    )]
    fn inside<I: Isa, const L: usize, const P: usize>(&mut self, channel: usize, first: usize) {
        let (n, step) = (self.channels, self.step);
        let mut c = [F::begin([F::default(); L]); P];
        for (seen, weights) in self.inside.iter().zip(self.weights.chunks_exact(n)) {
            let mut weight = [F::default(); L];
            weight.copy_from_slice(&weights[channel..channel + L]);
            let at = seen.at.wrapping_offset(first as isize * seen.step);
            for p in 0..P {
                let at = at.wrapping_offset(p as isize * step).wrapping_add(channel);
                // SAFETY: TAP1: `L` of the channels that the tap reads for the pixel.
                let seen = unsafe { *(at as *const [F; L]) };
                c[p] = F::mul_add_lanes::<I, L>(weight, seen, c[p]);
            }
        }
        for p in 0..P {
            self.store(channel, first + p, c[p]);
        }
    }
    /// Pixels at its sides.
    #[inline(always)]
    fn side<I: Isa, const L: usize>(
        &mut self,
        channel: usize,
        pixels: [usize; SIDE],
        entry: usize,
    ) {
        let n = self.channels;
        let mut c = [F::begin([F::default(); L]); SIDE];
        for (seen, weights) in self.sides[entry..].iter().zip(self.weights.chunks_exact(n)) {
            let mut weight = [F::default(); L];
            weight.copy_from_slice(&weights[channel..channel + L]);
            for p in 0..SIDE {
                // SAFETY: TAP1: `L` of the channels that the tap reads for the pixel.
                let seen = unsafe { *(seen[p].wrapping_add(channel) as *const [F; L]) };
                c[p] = F::mul_add_lanes::<I, L>(weight, seen, c[p]);
            }
        }
        for p in 0..SIDE {
            self.store(channel, pixels[p], c[p]);
        }
    }
    /// Writes the sums of a pixel.
    #[inline(always)]
    fn store<const L: usize>(&mut self, channel: usize, pixel: usize, c: F::Sums<L>) {
        let at = (pixel - self.origin) * self.channels + channel;
        self.d[at..at + L].copy_from_slice(&F::end(c));
    }
}
