//! Sampling of images at the points of a grid.

mod along;
#[cfg(feature = "grad")]
mod gradient;

pub use along::cubic;
#[cfg(feature = "grad")]
pub use gradient::{GridGradient, LANES};

use self::along::{line_of, taps_of};
use super::line::Sampled;
use crate::kernel::images::Images;
use crate::simd::{self, Isa, Kernel};
use core::ops::Range;
use core::slice::from_raw_parts_mut;

/// How the elements around a point are weighted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interpolation {
    /// The nearest element; ties to even positions.
    Nearest,
    /// The two nearest along each axis, linearly.
    Linear,
    /// The four nearest along each axis, by cubic convolution with a = -3/4.
    Cubic,
}
/// The padding mode: what lies outside the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beyond {
    /// Zeros.
    Zeros,
    /// The nearest element of the border.
    Border,
    /// The image, reflected at its borders.
    Reflection,
}

/// How coordinates are interpreted.
#[derive(Clone, Copy, Debug)]
pub struct GridRule {
    /// The interpolation.
    pub interpolation: Interpolation,
    /// The padding mode.
    pub beyond: Beyond,
    /// Whether -1 and 1 are the centres of the outermost elements, rather than their outer borders.
    pub align_corners: bool,
    /// Spatial axes: 2 or 3.
    pub rank: usize,
}
impl GridRule {
    /// Taps along an axis.
    pub fn along(&self) -> usize {
        match self.interpolation {
            Interpolation::Nearest => 1,
            Interpolation::Linear => 2,
            Interpolation::Cubic => 4,
        }
    }
    /// Taps of a point.
    pub fn taps(&self) -> usize {
        self.along().pow(self.rank as u32)
    }
}

/// The index of a tap outside the image.
const NONE: i32 = -1;

/// The most points sampled together: their tables stay in L1, beside part of the image, while all
/// channels are sampled in turn.
pub fn run_of(rule: &GridRule) -> usize {
    if simd::MICROCONTROLLER {
        SHORT
    } else {
        (2048 / rule.taps()).max(SHORT)
    }
}
/// The fewest points sampled together, unless there are fewer.
pub const SHORT: usize = if simd::MICROCONTROLLER { 16 } else { 64 };

/// Runs of points of a result, all channels.
///
/// Invariant GRID1: the elements of a plane lie less than 2^31 elements from its first, at
/// nonnegative strides; planes of the result are contiguous; `grid` has `rank` values for each
/// position of the result, image by image.
pub struct GridSampler<'a, A> {
    /// The images. An image's channels are consecutive planes, or its pixels.
    pub x: Images<'a, A>,
    /// The result.
    pub y: Images<'a, A>,
    /// Channels that are planes.
    pub channels: usize,
    /// Coordinates from -1 to 1, the innermost axis first.
    pub grid: &'a [A],
    /// How they are interpreted.
    pub rule: GridRule,
    /// Strides of slices and rows of a plane, in elements.
    pub steps: [usize; 2],
    /// Points in a run, at most [`run_of`].
    pub run: usize,
    /// Runs of points, the last of each image shorter. Only this call writes their results
    /// (IMAGES1).
    pub runs: Range<usize>,
    /// Scratch for weights, as large as [`scratch`] says.
    pub weights: &'a mut [A],
    /// Scratch for indices, likewise.
    pub index: &'a mut [i32],
}

/// Elements of scratch for weights and for indices: for `points`, along each axis and for all taps.
/// Weights add a row of `width` for a pixel or the coordinates along an axis; indices add those of the pairs sampled together,
/// and the list of ragged points. None if that overflows.
pub fn scratch(rule: &GridRule, points: usize, width: usize) -> Option<(usize, usize)> {
    let along = rule.rank * rule.along();
    let taps = (rule.taps() + along).checked_mul(points)?;
    let together = (rule.taps().div_ceil(2) + 1).checked_mul(points)?;
    Some((taps.checked_add(width)?, taps.checked_add(together)?))
}

impl<A: Sampled> Kernel for GridSampler<'_, A> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        let GridSampler {
            x,
            y,
            channels,
            grid,
            rule,
            steps,
            run: most,
            runs,
            weights,
            index,
        } = self;
        let (each, inner) = (y.sizes.iter().product::<usize>(), x.inner);
        // most points go through the fast path, with the same indices for all channels
        let single = rule.taps() == 1;
        let regular = inner == 1 && channels > 1 && (single || x.sizes[2] > 1);
        let per_image = each.div_ceil(most).max(1);
        for run in runs {
            let (image, first) = (run / per_image, run % per_image * most);
            let points = most.min(each - first);
            let (taps, along) = (rule.taps() * points, rule.along() * points);
            let (weights, rest) = weights.split_at_mut(taps);
            let (axis_weights, rest) = rest.split_at_mut(rule.rank * along);
            let pixel = rest;
            let (index, rest) = index.split_at_mut(taps);
            let (axis_index, rest) = rest.split_at_mut(rule.rank * along);
            let (together, ragged) = rest.split_at_mut(rule.taps().div_ceil(2) * points);
            let grid = &grid[(image * each + first) * rule.rank..][..points * rule.rank];
            for k in 0..rule.rank {
                let axis = 3 - rule.rank + k;
                let line = &mut pixel[..points];
                line_of(grid, rule.rank, k, line);
                taps_of::<I, A>(
                    &rule,
                    x.sizes[axis],
                    [steps[0], steps[1], inner][axis],
                    line,
                    &mut axis_index[k * along..(k + 1) * along],
                    &mut axis_weights[k * along..(k + 1) * along],
                );
            }
            around(&rule, points, axis_index, axis_weights, index, weights);
            let ragged = &mut ragged[..points];
            let n = match regular {
                true => together_by(index, weights, points, together, ragged),
                false => 0,
            };
            let ragged = &ragged[..n];
            for channel in 0..channels {
                let plane = image * channels + channel;
                let source = x.row([plane, 0, 0]) as *const A;
                let out = y.row([plane, 0, 0]).wrapping_add(first * inner);
                // SAFETY: GRID1, IMAGES1: a run of this call.
                let out = unsafe { from_raw_parts_mut(out, points * inner) };
                if regular && single {
                    for (y, i) in out.iter_mut().zip(&*together) {
                        // SAFETY: GRID1: an element of the plane.
                        *y = unsafe { *source.offset(*i as isize) };
                    }
                    for p in ragged {
                        out[*p as usize] = A::ZERO;
                    }
                    continue;
                }
                // SAFETY: GRID1, IMAGES1: all indices are of elements of the plane.
                unsafe {
                    if regular && A::pairs::<I>(source, together, index, weights, points, out) {
                        for p in ragged {
                            let p = *p as usize;
                            let (index, weights) = (&index[p..], &weights[p..]);
                            let sum = &mut out[p..=p];
                            gather::<I, A>(source, index, weights, points, sum);
                        }
                    } else if inner > 1 {
                        pixels::<I, A>(source, index, weights, points, inner, pixel, out);
                    } else {
                        gather::<I, A>(source, index, weights, points, out);
                    }
                }
            }
        }
    }
}

/// Combines index and weight along each axis into those of each tap.
#[inline(always)]
fn around<A: Sampled>(
    rule: &GridRule,
    points: usize,
    axis_index: &[i32],
    axis_weights: &[A],
    index: &mut [i32],
    weights: &mut [A],
) {
    let each = rule.along();
    let values = index
        .chunks_exact_mut(points)
        .zip(weights.chunks_exact_mut(points));
    for (mut tap, (index, weights)) in values.enumerate() {
        for k in (0..rule.rank).rev() {
            let from = (k * each + tap % each) * points;
            tap /= each;
            let from = from..from + points;
            let parts = axis_index[from.clone()].iter().zip(&axis_weights[from]);
            let first = k == rule.rank - 1;
            for ((i, w), (j, v)) in index.iter_mut().zip(&mut *weights).zip(parts) {
                if first {
                    (*i, *w) = (*j, *v);
                } else {
                    *i = if (*i | *j) < 0 { NONE } else { *i + *j };
                    *w = *w * *v;
                }
            }
        }
    }
}

/// The indices for the fast path: the first element of each pair of neighbours along the width, or
/// the only element of each point. If one element of a pair is outside the image, which happens at
/// either end of a row, the pair is shifted inside, and its taps swap places; the tap outside keeps
/// no index. Points that fit neither case get the index of the plane's first element and are listed
/// in `ragged`; returns how many.
#[inline(always)]
fn together_by<A: Sampled>(
    index: &mut [i32],
    weights: &mut [A],
    points: usize,
    together: &mut [i32],
    ragged: &mut [i32],
) -> usize {
    ragged.fill(0);
    if index.len() == points {
        for ((i, at), other) in index.iter().zip(together).zip(&mut *ragged) {
            let none = *i < 0;
            *at = if none { 0 } else { *i };
            *other = none as i32;
        }
    } else {
        let taps = index
            .chunks_exact_mut(2 * points)
            .zip(weights.chunks_exact_mut(2 * points));
        for ((index, weights), together) in taps.zip(together.chunks_exact_mut(points)) {
            let (first, next) = index.split_at_mut(points);
            let (w, v) = weights.split_at_mut(points);
            let taps = first.iter_mut().zip(next).zip(w.iter_mut().zip(v));
            for ((((i, j), (w, v)), at), other) in taps.zip(together).zip(&mut *ragged) {
                let (front, behind) = (*i < 0, *j < 0);
                let one = front != behind;
                *other |= (!front & !behind & (*j != i.wrapping_add(1))) as i32;
                // shift inside from the end of a row, or from its start
                *at = if behind { *i - 1 } else { *i };
                *at = if front { *j } else { *at };
                *at = if front & behind { 0 } else { *at };
                (*i, *j) = if one { (*j, *i) } else { (*i, *j) };
                (*w, *v) = if one { (*v, *w) } else { (*w, *v) };
            }
        }
    }
    let mut n = 0;
    for p in 0..points {
        let other = ragged[p] as usize;
        ragged[n] = p as i32;
        n += other;
    }
    n
}

/// Weighted sums of the taps of each point, for pixels of one element.
///
/// # Safety
/// Indices other than `NONE` are of elements from `first` on.
#[inline(always)]
unsafe fn gather<I: Isa, A: Sampled>(
    first: *const A,
    index: &[i32],
    weights: &[A],
    points: usize,
    sums: &mut [A],
) {
    let taps = index.chunks(points).zip(weights.chunks(points));
    for (tap, (index, weights)) in taps.enumerate() {
        for ((y, i), w) in sums.iter_mut().zip(index).zip(weights) {
            let x = if *i != NONE {
                // SAFETY: the caller's promise.
                unsafe { *first.offset(*i as isize) }
            } else {
                A::ZERO
            };
            *y = if tap == 0 {
                *w * x
            } else {
                A::fma::<I>(*w, x, *y)
            };
        }
    }
}
/// The same for pixels of several elements.
///
/// # Safety
/// As for [`gather`]; indices are those of the first elements of pixels.
#[inline(always)]
unsafe fn pixels<I: Isa, A: Sampled>(
    first: *const A,
    index: &[i32],
    weights: &[A],
    points: usize,
    inner: usize,
    pixel: &mut [A],
    sums: &mut [A],
) {
    let pixel = &mut pixel[..inner];
    for (point, sums) in sums.chunks_exact_mut(inner).enumerate() {
        for (tap, index) in index.chunks(points).enumerate() {
            let w = weights[tap * points + point];
            if index[point] == NONE {
                pixel.fill(A::ZERO);
            } else {
                // SAFETY: the caller's promise.
                let x = unsafe {
                    core::slice::from_raw_parts(first.offset(index[point] as isize), inner)
                };
                pixel.copy_from_slice(x);
            }
            if tap == 0 {
                for (y, x) in sums.iter_mut().zip(&*pixel) {
                    *y = w * *x;
                }
            } else {
                for (y, x) in sums.iter_mut().zip(&*pixel) {
                    *y = A::fma::<I>(w, *x, *y);
                }
            }
        }
    }
}
