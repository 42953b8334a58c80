//! Rows of a pool.

use super::along::{LineSlices, join_windows, reach, taps_as_lines};
use super::pooling::Pooling;
use super::windows::Windows;
use crate::kernel::images::{Images, Pixel};
use crate::simd::{Isa, Kernel, MICROCONTROLLER};
use core::ops::Range;

/// Elements of lines joined ahead of their windows. Loads that straddle recent stores can't be
/// forwarded, and would stall until the stores have reached the cache.
const AHEAD: usize = if MICROCONTROLLER { 0 } else { 512 };
/// The most lines joined ahead.
const MAX_ROWS: usize = 8;

/// The length of a padded row of the image, and how many such rows are kept at a time. None if that
/// overflows.
fn lines<T>(x: &Images<T>, y: &Images<T>, windows: &[Windows; 3]) -> Option<(usize, usize)> {
    let padded = windows[2].padded(x.sizes[2], y.sizes[2])?;
    // one more, since pairs are loaded whole
    let len = padded.checked_mul(x.inner)?.checked_add(1)?;
    Some((len, (AHEAD / len).min(MAX_ROWS).min(y.sizes[1]).max(1)))
}

/// Elements of scratch: padded rows of the image, and one row of the result if elements are
/// converted. None if that overflows.
pub fn scratch<T: Pixel<A>, A>(
    x: &Images<T>,
    y: &Images<T>,
    windows: &[Windows; 3],
) -> Option<usize> {
    let (len, count) = lines(x, y, windows)?;
    let converted = if T::SAME { 0 } else { y.width() };
    len.checked_mul(count)?.checked_add(converted)
}

/// Rows of a pool over planes that image and result have in common.
pub struct Pool<'a, T, A, P> {
    /// The images.
    pub x: Images<'a, T>,
    /// The result.
    pub y: Images<'a, T>,
    /// The windows for depth, height, width.
    pub windows: &'a [Windows; 3],
    /// How windows are joined and finished.
    pub pooling: &'a P,
    /// The rows of the result; only this call writes them (IMAGES1).
    pub rows: Range<usize>,
    /// At least [`scratch`] elements.
    pub scratch: &'a mut [A],
}

impl<T: Pixel<A>, A: Pixel<A>, P: Pooling<A>> Kernel for Pool<'_, T, A, P> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        let Pool {
            x,
            y,
            windows: windows @ [depth, height, width],
            pooling,
            rows,
            scratch,
        } = self;
        let (n, inner, before) = (x.width(), x.inner, width.padding() * x.inner);
        let Some((len, most)) = lines(&x, &y, windows) else {
            return;
        };
        let (padded, result) = scratch.split_at_mut(len * most);
        padded.fill(P::NEUTRAL);
        let ([slice_step, row_step], [_, row_out]) = (x.steps(), y.steps());
        let taps = taps_as_lines(len, width, inner, y.width());
        // a row that is padded by nothing, and joined with no other, is read where it lies
        let in_place = T::SAME && most == 1 && taps.is_none() && before == 0;
        let in_place = in_place && reach(width, y.sizes[2], inner) <= n;
        let mut next = rows.start;
        while next < rows.end {
            // rows of one slice
            let Some([plane, z, first]) = y.row_positions(next..rows.end).next() else {
                return;
            };
            let count = (y.sizes[1] - first).min(rows.end - next);
            next += count;
            let slices = depth.taps(z, x.sizes[0]);
            let image = x.row([plane, slices.first, 0]) as *const T;
            let mut out = y.row([plane, z, first]);
            // the lines are a ring buffer: windows follow as many rows behind as there are lines
            let mut turn = 0;
            for step in 0..count + most - 1 {
                let mut alone = None;
                if step < count {
                    let lines = height.taps(first + step, x.sizes[1]);
                    let column = &mut padded[turn * len + before..][..n];
                    if slices.count == 0 || lines.count == 0 {
                        column.fill(P::NEUTRAL);
                    } else if in_place && slices.count * lines.count == 1 {
                        alone = Some(image.wrapping_offset(lines.first as isize * row_step));
                    } else {
                        let rows = LineSlices {
                            first: image.wrapping_offset(lines.first as isize * row_step),
                            counts: [slices.count, lines.count],
                            steps: [
                                slice_step.wrapping_mul(slices.step as isize),
                                row_step.wrapping_mul(lines.step as isize),
                            ],
                        };
                        // SAFETY: rows of the image (IMAGES1).
                        unsafe { rows.join::<I, A, P, A>(column, None) };
                    }
                }
                turn = if turn + 1 < most { turn + 1 } else { 0 };
                let Some(behind) = (step + 1).checked_sub(most) else {
                    continue;
                };
                let line = match alone {
                    // SAFETY: PIXEL1: both types are the same, or there is no such row; a row of the
                    // image (IMAGES1).
                    Some(row) => unsafe { core::slice::from_raw_parts(row as *const A, n) },
                    None => &padded[turn * len..][..len],
                };
                // SAFETY: a row of this call (IMAGES1).
                let row = unsafe { core::slice::from_raw_parts_mut(out, y.width()) };
                out = out.wrapping_offset(row_out);
                let of_row = pooling.of_row(z, first + behind);
                if let Some(taps) = taps {
                    let taps = LineSlices {
                        first: line.as_ptr(),
                        ..taps
                    };
                    // SAFETY: the lines of `taps_as_lines` end within `len` elements, which `line`
                    // has.
                    unsafe { taps.join::<I, A, P, T>(row, Some((pooling, of_row))) };
                    continue;
                }
                let joined = match T::SAME {
                    // SAFETY: PIXEL1: both types are the same.
                    true => unsafe { &mut *(core::ptr::from_mut(row) as *mut [A]) },
                    false => &mut *result,
                };
                join_windows::<I, A, P>(line, width, inner, joined);
                pooling.finish::<I>(of_row, joined);
                if !T::SAME {
                    T::store::<I>(result, row);
                }
            }
        }
    }
}
