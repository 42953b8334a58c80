//! Elements around points of a grid.

mod along;
mod gradient;

pub use along::cubic;
pub use gradient::{GridGradient, LANES};

use self::along::{line_of, near};
use super::line::Sampled;
use crate::kernel::images::{Images, Pixel};
use crate::simd::{self, Isa, Kernel};
use core::ops::Range;
use core::slice::from_raw_parts_mut;

/// How elements around a point are weighted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interpolation {
    /// The nearest alone; ties to even positions.
    Nearest,
    /// The two along each axis, linearly.
    Linear,
    /// The four along each axis, by cubic convolution with a = -3/4.
    Cubic,
}
/// What lies beyond the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beyond {
    /// Zeros.
    Zeros,
    /// The nearest element of the border.
    Border,
    /// The image, reflected at its borders.
    Reflection,
}

/// How coordinates are read.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// The weights.
    pub interpolation: Interpolation,
    /// What lies beyond.
    pub beyond: Beyond,
    /// Whether -1 and 1 are the centres of the outermost elements, rather than their outer borders.
    pub align_corners: bool,
    /// Spatial axes: 2 or 3.
    pub rank: usize,
}
impl Rule {
    /// Elements around a point along an axis.
    pub fn along(&self) -> usize {
        match self.interpolation {
            Interpolation::Nearest => 1,
            Interpolation::Linear => 2,
            Interpolation::Cubic => 4,
        }
    }
    /// Elements around a point.
    pub fn taps(&self) -> usize {
        self.along().pow(self.rank as u32)
    }
}

/// No element.
const NONE: i32 = -1;

/// Points that are sampled together at most, whose tables stay in L1 beside a part of the image while one
/// channel follows the other.
pub fn run_of(rule: &Rule) -> usize {
    if simd::MICROCONTROLLER {
        SHORT
    } else {
        (2048 / rule.taps()).max(SHORT)
    }
}
/// The same at least, where there are so many.
pub const SHORT: usize = if simd::MICROCONTROLLER { 16 } else { 64 };

/// Runs of points of a result, all channels.
///
/// Invariant GRID1: the elements of a plane lie before 2^31 from its first, in steps that are not
/// negative; those of a plane of the result one after the other; `grid` has `rank` numbers for each place of
/// the result, images after images.
pub struct Grid<'a, T, A> {
    /// The images: all channels of an image are planes in a row, or pixels.
    pub x: Images<'a, T>,
    /// The result.
    pub y: Images<'a, T>,
    /// Channels that are planes.
    pub channels: usize,
    /// Coordinates from -1 to 1, the last axis first.
    pub grid: &'a [A],
    /// How they are read.
    pub rule: Rule,
    /// From a slice of a plane to the next, and a row to the next, in elements.
    pub steps: [usize; 2],
    /// Points of a run, [`run_of`] at most.
    pub run: usize,
    /// Runs of points, and what is left of each image, which are this call's alone in the result (IMAGES1).
    pub runs: Range<usize>,
    /// As many elements as [`scratch`] says, of weights.
    pub weights: &'a mut [A],
    /// The same of indices.
    pub index: &'a mut [i32],
}

/// Elements of scratch for weights and for indices: those of `points`, along each axis and of all taps; weights
/// have two rows of `width` more, the results, indices those that points are done together by, and the
/// points that these don't serve. None where those are more than addresses.
pub fn scratch(rule: &Rule, points: usize, width: usize) -> Option<(usize, usize)> {
    let along = rule.rank * rule.along();
    let taps = (rule.taps() + along).checked_mul(points)?;
    let together = (rule.taps().div_ceil(2) + 1).checked_mul(points)?;
    Some((
        taps.checked_add(width.checked_mul(2)?)?,
        taps.checked_add(together)?,
    ))
}

impl<T: Pixel<A>, A: Sampled> Kernel for Grid<'_, T, A> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        let Grid {
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
        // most points are done together, all channels by the same indices
        let single = rule.taps() == 1;
        let regular = inner == 1 && channels > 1 && (single || T::SAME && x.sizes[2] > 1);
        let per_image = each.div_ceil(most).max(1);
        for run in runs {
            let (image, first) = (run / per_image, run % per_image * most);
            let points = most.min(each - first);
            let (taps, along) = (rule.taps() * points, rule.along() * points);
            let (weights, rest) = weights.split_at_mut(taps);
            let (axis_weights, rest) = rest.split_at_mut(rule.rank * along);
            let (result, pixel) = rest.split_at_mut(points * inner);
            let (index, rest) = index.split_at_mut(taps);
            let (axis_index, rest) = rest.split_at_mut(rule.rank * along);
            let (together, ragged) = rest.split_at_mut(rule.taps().div_ceil(2) * points);
            let grid = &grid[(image * each + first) * rule.rank..][..points * rule.rank];
            for k in 0..rule.rank {
                let axis = 3 - rule.rank + k;
                let line = &mut pixel[..points];
                line_of(grid, rule.rank, k, line);
                near::<I, A>(
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
                let source = x.row([plane, 0, 0]) as *const T;
                let out = y.row([plane, 0, 0]).wrapping_add(first * inner);
                // SAFETY: GRID1, IMAGES1: a run of this call's.
                let out = unsafe { from_raw_parts_mut(out, points * inner) };
                if regular && single {
                    for (y, i) in out.iter_mut().zip(&*together) {
                        // SAFETY: GRID1: an element of the plane.
                        *y = unsafe { *source.offset(*i as isize) };
                    }
                    for p in ragged {
                        T::store::<I>(&[A::ZERO], &mut out[*p as usize..][..1]);
                    }
                    continue;
                }
                let sums = match T::SAME {
                    // SAFETY: PIXEL1: a slice of that type.
                    true => unsafe { from_raw_parts_mut(out.as_mut_ptr().cast(), out.len()) },
                    false => &mut *result,
                };
                // SAFETY: GRID1, IMAGES1: indices are those of elements of the plane; PIXEL1.
                unsafe {
                    if regular
                        && A::pairs::<I>(source.cast(), together, index, weights, points, sums)
                    {
                        for p in ragged {
                            let p = *p as usize;
                            let (index, weights) = (&index[p..], &weights[p..]);
                            let sum = &mut sums[p..=p];
                            gather::<I, T, A>(source, index, weights, points, sum);
                        }
                    } else if inner > 1 {
                        pixels::<I, T, A>(source, index, weights, points, inner, pixel, sums);
                    } else {
                        gather::<I, T, A>(source, index, weights, points, sums);
                    }
                }
                if !T::SAME {
                    T::store::<I>(result, out);
                }
            }
        }
    }
}

/// Index and weight of each tap of each point, from those along each axis.
#[inline(always)]
fn around<A: Sampled>(
    rule: &Rule,
    points: usize,
    axis_index: &[i32],
    axis_weights: &[A],
    index: &mut [i32],
    weights: &mut [A],
) {
    let each = rule.along();
    let numbers = index
        .chunks_exact_mut(points)
        .zip(weights.chunks_exact_mut(points));
    for (mut tap, (index, weights)) in numbers.enumerate() {
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

/// The indices that points are done together by: those of first elements of pairs along the width,
/// which lie one behind the other, or of the one element of each point. Of a pair with one element in the
/// image, which is the first or the last of a row, the other is taken from beside it, and has no index;
/// so their taps may change places. Points that have other elements get those of the plane's first, and
/// are listed in `ragged`; how many, is the result.
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
                // from the last of a row, or the first
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

/// Sums of the weighted elements of each point, one element a point.
///
/// # Safety
/// Indices that are not `NONE` are those of elements from `first` on.
#[inline(always)]
unsafe fn gather<I: Isa, T: Pixel<A>, A: Sampled>(
    first: *const T,
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
                T::to(unsafe { *first.offset(*i as isize) })
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
/// As [`gather`], for the first element of pixels.
#[inline(always)]
unsafe fn pixels<I: Isa, T: Pixel<A>, A: Sampled>(
    first: *const T,
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
                T::load::<I>(x, pixel);
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
