//! Weighted sums along all axes: rows are summed with the weights of depth and height, and that sum
//! is resampled along the width. No intermediate image is needed, and the lines stay in L1.

use super::line::{Sampled, resample_line};
use super::table::Table;
use crate::kernel::images::{Images, Pixel};
use crate::simd::{Isa, Kernel};
use core::ops::Range;
use smallvec::SmallVec;

/// Elements behind a line: a pixel of zeros, and padding that whole vectors read.
const BEHIND: usize = 32;

/// Elements of scratch: a line with its padding and, if elements are converted, an input line and
/// one of the result. None if that overflows.
pub fn scratch<T: Pixel<A>, A>(x: &Images<T>, y: &Images<T>) -> Option<usize> {
    let line = x.width().checked_add(x.inner.max(BEHIND))?;
    let converted = if T::SAME {
        0
    } else {
        x.width().checked_add(y.width())?
    };
    line.checked_add(converted)
}

/// Rows of a resampling over planes that image and result have in common.
pub struct Blend<'a, T, A> {
    /// The images.
    pub x: Images<'a, T>,
    /// The result.
    pub y: Images<'a, T>,
    /// Weights for depth, height, width.
    pub tables: &'a [Table<A>; 3],
    /// The rows of the result; only this call writes them (IMAGES1).
    pub rows: Range<usize>,
    /// At least [`scratch`] elements.
    pub scratch: &'a mut [A],
}

impl<T: Pixel<A>, A: Sampled> Kernel for Blend<'_, T, A> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        let Blend {
            x,
            y,
            tables: [depth, height, width],
            rows,
            scratch,
        } = self;
        let (n, inner) = (x.width(), x.inner);
        let (padded, rest) = scratch.split_at_mut(n + inner.max(BEHIND));
        let (line, result) = rest.split_at_mut(if T::SAME { 0 } else { n });
        padded.fill(A::ZERO);
        let mut parts: SmallVec<[([usize; 3], A); 8]> = SmallVec::new();
        for place @ [plane, z, y_] in y.places(rows) {
            parts.clear();
            for slice in 0..depth.taps() {
                let Some((z, w)) = depth.tap(z, slice) else {
                    continue;
                };
                for line in 0..height.taps() {
                    if let Some((y, v)) = height.tap(y_, line) {
                        parts.push(([plane, z, y], w * v));
                    }
                }
            }
            let column = &mut padded[..n];
            if parts.is_empty() {
                column.fill(A::ZERO);
            }
            if T::SAME {
                for (k, parts) in parts.chunks(2).enumerate() {
                    // SAFETY: rows of the image, which nobody writes (IMAGES1).
                    let a = same::<T, A>(unsafe { x.row_ref(parts[0].0) });
                    if let [(_, v), (at, w)] = parts {
                        // SAFETY: as above.
                        let b = same::<T, A>(unsafe { x.row_ref(*at) });
                        add_two::<I, A>(k == 0, [a, b], [*v, *w], column);
                    } else {
                        add::<I, A>(k == 0, a, parts[0].1, column);
                    }
                }
            } else {
                for (k, (at, w)) in parts.iter().enumerate() {
                    // SAFETY: a row of the image, which nobody writes (IMAGES1).
                    T::load::<I>(unsafe { x.row_ref(*at) }, line);
                    add::<I, A>(k == 0, line, *w, column);
                }
            }
            // SAFETY: a row of this call.
            let out = unsafe { y.row_mut(place) };
            if T::SAME {
                // SAFETY: PIXEL1: both types are the same.
                let out = unsafe { &mut *(core::ptr::from_mut(out) as *mut [A]) };
                resample_line::<I, A>(padded, width, inner, out);
            } else {
                resample_line::<I, A>(padded, width, inner, result);
                T::store::<I>(result, out);
            }
        }
    }
}

/// A row whose elements are of type `A` already.
#[inline(always)]
fn same<T: Pixel<A>, A>(x: &[T]) -> &[A] {
    assert!(T::SAME);
    // SAFETY: PIXEL1: both types are the same.
    unsafe { &*(core::ptr::from_ref(x) as *const [A]) }
}
/// Adds a row to the sum, or starts it.
#[inline(always)]
fn add<I: Isa, A: Sampled>(first: bool, x: &[A], w: A, sum: &mut [A]) {
    if first {
        for (y, x) in sum.iter_mut().zip(x) {
            *y = w * *x;
        }
    } else {
        for (y, x) in sum.iter_mut().zip(x) {
            *y = A::fma::<I>(w, *x, *y);
        }
    }
}
/// Adds two rows to the sum, or starts it with them.
#[inline(always)]
fn add_two<I: Isa, A: Sampled>(first: bool, x: [&[A]; 2], w: [A; 2], sum: &mut [A]) {
    let rows = sum.iter_mut().zip(x[0]).zip(x[1]);
    if first {
        for ((y, a), b) in rows {
            *y = A::fma::<I>(w[1], *b, w[0] * *a);
        }
    } else {
        for ((y, a), b) in rows {
            *y = A::fma::<I>(w[1], *b, A::fma::<I>(w[0], *a, *y));
        }
    }
}
