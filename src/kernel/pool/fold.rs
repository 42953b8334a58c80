//! Rows of pools.

use super::along::{join_lines, join_windows};
use super::pooling::Pooling;
use super::windows::Windows;
use crate::kernel::images::{Images, Pixel};
use crate::simd::{Isa, Kernel};
use core::ops::Range;

/// Elements of scratch for rows of these images and windows: a row of the image with its padding,
/// and, where elements are converted, one as it is and one of the result. None where those are more
/// than addresses.
pub fn scratch<T: Pixel<A>, A>(
    x: &Images<T>,
    y: &Images<T>,
    windows: &[Windows; 3],
) -> Option<usize> {
    let padded = windows[2].padded(x.sizes[2], y.sizes[2])?;
    let converted = if T::SAME { 0 } else { x.width() + y.width() };
    padded.checked_mul(x.inner)?.checked_add(converted)
}

/// Rows of a pool, of planes that image and result have in common.
pub struct Pool<'a, T, A, P> {
    /// The images.
    pub x: Images<'a, T>,
    /// The result.
    pub y: Images<'a, T>,
    /// The windows for depth, height, width.
    pub windows: &'a [Windows; 3],
    /// What becomes of a window.
    pub pooling: &'a P,
    /// The rows of the result, which are this call's alone (IMAGES1).
    pub rows: Range<usize>,
    /// As many elements as [`scratch`] says.
    pub scratch: &'a mut [A],
}

impl<T: Pixel<A>, A: Copy, P: Pooling<A>> Kernel for Pool<'_, T, A, P> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        let Pool {
            x,
            y,
            windows: [depth, height, width],
            pooling,
            rows,
            scratch,
        } = self;
        let (n, inner, before) = (x.width(), x.inner, width.padding() * x.inner);
        let converted = if T::SAME { 0 } else { n + y.width() };
        let (padded, rest) = scratch.split_at_mut(scratch.len() - converted);
        let (line, result) = rest.split_at_mut(if T::SAME { 0 } else { n });
        padded.fill(P::NEUTRAL);
        for [plane, z, y_] in y.places(rows) {
            let (slices, lines) = (depth.taps(z, x.sizes[0]), height.taps(y_, x.sizes[1]));
            let column = &mut padded[before..before + n];
            let mut begun = false;
            for slice in 0..slices.count {
                let z = slices.first + slice * slices.step;
                if T::SAME {
                    let first = x.row([plane, z, lines.first]) as *const A;
                    let step = x.row_step() * lines.step as isize;
                    // SAFETY: rows of the image (IMAGES1), of `A` (PIXEL1).
                    unsafe { join_lines::<I, A, P>(first, step, lines.count, column, begun) };
                    begun |= lines.count > 0;
                } else {
                    for k in 0..lines.count {
                        // SAFETY: a row of the image, which is read alone (IMAGES1).
                        let from = unsafe { x.row_ref([plane, z, lines.first + k * lines.step]) };
                        T::load::<I>(from, line);
                        // SAFETY: one line of as many elements.
                        unsafe { join_lines::<I, A, P>(line.as_ptr(), 0, 1, column, begun) };
                        begun = true;
                    }
                }
            }
            if !begun {
                column.fill(P::NEUTRAL);
            }
            // SAFETY: a row of this call's.
            let out = unsafe { y.row_mut([plane, z, y_]) };
            if T::SAME {
                // SAFETY: PIXEL1: a row of `A`.
                let out = unsafe { &mut *(core::ptr::from_mut(out) as *mut [A]) };
                join_windows::<I, A, P>(padded, width, inner, out);
                pooling.finish::<I>(z, y_, inner, out);
            } else {
                join_windows::<I, A, P>(padded, width, inner, result);
                pooling.finish::<I>(z, y_, inner, result);
                T::store::<I>(result, out);
            }
        }
    }
}
