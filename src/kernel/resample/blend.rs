//! Weighted sums along all axes: rows are summed with the weights of depth and height, and that sum
//! is resampled along the width. No intermediate image is needed, and the lines stay in L1.

use super::line::{Sampled, resample_line};
use super::table::Table;
use crate::kernel::images::{Images, Pixel};
use crate::simd::copy_run;
use crate::simd::lanes::Lanes;
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
        for (k, output @ [plane, z, y_]) in y.row_positions(rows).enumerate() {
            // SAFETY: a row of this call.
            let out = unsafe { y.row_mut(output) };
            if k > 0 && y_ > 0 && height.repeats(y_) {
                // SAFETY: the row that this call wrote before, as wide.
                unsafe { copy_run(y.row([plane, z, y_ - 1]), out.as_mut_ptr(), out.len()) };
                continue;
            }
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
            if parts.is_empty() {
                padded[..n].fill(A::ZERO);
            }
            if T::SAME {
                for (k, parts) in parts.chunks(2).enumerate() {
                    // SAFETY: rows of the image, which nobody writes (IMAGES1).
                    let a = same::<T, A>(unsafe { x.row_ref(parts[0].0) });
                    if let [(_, v), (at, w)] = parts {
                        // SAFETY: as above.
                        let b = same::<T, A>(unsafe { x.row_ref(*at) });
                        add::<I, A, 2>(k == 0, [a, b], [*v, *w], padded);
                    } else {
                        add::<I, A, 1>(k == 0, [a], [parts[0].1], padded);
                    }
                }
            } else {
                for (k, (at, w)) in parts.iter().enumerate() {
                    // SAFETY: a row of the image, which nobody writes (IMAGES1).
                    T::load::<I>(unsafe { x.row_ref(*at) }, line);
                    add::<I, A, 1>(k == 0, [&*line], [*w], padded);
                }
            }
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
/// Adds rows, in order, to the sum, or starts it with them. The sum has [`BEHIND`] zeros behind it,
/// which stay. By vectors, since rows may be shorter than what LLVM makes of a loop.
#[inline(always)]
fn add<I: Isa, A: Sampled, const N: usize>(first: bool, x: [&[A]; N], w: [A; N], sum: &mut [A]) {
    let (n, len) = (x[0].len(), A::Vector::<I>::LEN);
    assert!(x.iter().all(|x| x.len() == n) && sum.len() >= n + len);
    // loops, since closures passed to `map` are not always inlined into the kernel
    let mut weights = [A::Vector::<I>::splat(w[0]); N];
    for k in 1..N {
        weights[k] = A::Vector::<I>::splat(w[k]);
    }
    for at in (0..n).step_by(len) {
        // SAFETY: LANES1: the sum has a vector from `at` on, and each row one or the rest.
        unsafe {
            let y = sum.as_mut_ptr().add(at);
            let row = next::<A::Vector<I>>(x[0].as_ptr().add(at), n - at);
            let mut total = match first {
                true => row * weights[0],
                false => row.multiply_add(weights[0], A::Vector::<I>::load(y)),
            };
            for k in 1..N {
                let row = next::<A::Vector<I>>(x[k].as_ptr().add(at), n - at);
                total = row.multiply_add(weights[k], total);
            }
            total.store(y);
        }
    }
}
/// The next elements of a row of which `left` are left, with zeros behind the last.
///
/// # Safety
/// LANES1, for so many numbers or a vector.
#[inline(always)]
unsafe fn next<V: Lanes>(x: *const V::Number, left: usize) -> V {
    // SAFETY: by the caller.
    unsafe {
        match left < V::LEN {
            true => V::load_first(x, left),
            false => V::load(x),
        }
    }
}
