//! Max pooling with positions.

use super::pooling::Lowest;
use super::windows::Windows;
use crate::kernel::images::{Images, Pixel};
use crate::simd::{Isa, Kernel};
use core::ops::Range;

/// The most taps of a window: each has a u32 number while windows are joined.
pub const MAX_TAPS: usize = u32::MAX as usize;

/// Elements of scratch: a padded row of the image, and the maximum of each window. None if that
/// overflows.
pub fn scratch<T: Pixel<A>, A>(
    x: &Images<T>,
    y: &Images<T>,
    windows: &[Windows; 3],
) -> Option<usize> {
    let padded = windows[2].padded(x.sizes[2], y.sizes[2])?;
    padded.checked_mul(x.inner)?.checked_add(y.width())
}

/// Rows of a max pool with each maximum's row-major position in its plane: the first of equal
/// elements, the last NaN, as in torch.
pub struct Extremes<'a, T, A> {
    /// The images.
    pub x: Images<'a, T>,
    /// The maxima.
    pub y: Images<'a, T>,
    /// Their positions.
    pub positions: Images<'a, i64>,
    /// The windows for depth, height, width.
    pub windows: &'a [Windows; 3],
    /// The rows of the results; only this call writes them (IMAGES1).
    pub rows: Range<usize>,
    /// At least [`scratch`] elements.
    pub scratch: &'a mut [A],
    /// The tap number of the maximum, for each element of a result row.
    pub taken: &'a mut [u32],
    /// The [`offset`]s of the first taps, as many as are worth a table.
    pub offsets: &'a [i64],
}

/// The most taps of a table of offsets.
pub const OFFSETS: usize = 1 << 10;

/// The distance in an image of these sizes from a window's first element to that of a tap.
pub fn offset(windows: &[Windows; 3], [_, high, wide]: [usize; 3], tap: usize) -> i64 {
    let [depth, height, width] = windows;
    let (line, column) = (tap / width.most(), tap % width.most());
    let (slice, line) = (line / height.most(), line % height.most());
    // taps that no window has in the image may overflow
    let slice = slice.wrapping_mul(depth.step()).wrapping_mul(high);
    let row = line.wrapping_mul(height.step()).wrapping_add(slice);
    let column = column.wrapping_mul(width.step());
    row.wrapping_mul(wide).wrapping_add(column) as i64
}

/// Takes a larger element, or NaN, and records its tap.
macro_rules! take {
    ($largest:ident, $tap:ident, $x:expr, $number:ident) => {{
        let x = $x;
        let larger = (x > *$largest) | x.isnan();
        *$largest = if larger { x } else { *$largest };
        *$tap = if larger { $number } else { *$tap };
    }};
}

impl<T: Pixel<A>, A: Lowest> Kernel for Extremes<'_, T, A> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        let Extremes {
            x,
            y,
            positions,
            windows,
            rows,
            scratch,
            taken,
            offsets,
        } = self;
        let [depth, height, width] = windows;
        let [_, high, wide] = x.sizes;
        let (n, inner, before) = (x.width(), x.inner, width.padding() * x.inner);
        let (padded, largest) = scratch.split_at_mut(scratch.len() - y.width());
        padded.fill(A::LOWEST);
        let most = [height.most(), width.most()];
        for at @ [plane, z, y_] in y.row_positions(rows) {
            let slices = depth.taps(z, x.sizes[0]);
            let lines = height.taps(y_, high);
            largest.fill(A::LOWEST);
            // the first element, in case all are the lowest value
            for (o, taken) in taken.chunks_exact_mut(inner).enumerate() {
                let column = width.taps(o, wide);
                let first = (slices.skipped * most[0] + lines.skipped) * most[1] + column.skipped;
                taken.fill(first as u32);
            }
            for slice in 0..slices.count {
                for line in 0..lines.count {
                    let from = [
                        plane,
                        slices.first + slice * slices.step,
                        lines.first + line * lines.step,
                    ];
                    // SAFETY: a row of the image, which nobody writes (IMAGES1).
                    T::load::<I>(unsafe { x.row_ref(from) }, &mut padded[before..before + n]);
                    let number = (slices.skipped + slice) * most[0] + lines.skipped + line;
                    let number = (number * most[1]) as u32;
                    take_row(padded, width, inner, number, largest, taken);
                }
            }
            // SAFETY: rows of this call.
            let (out, positions) = unsafe { (y.row_mut(at), positions.row_mut(at)) };
            T::store::<I>(largest, out);
            let corner = (depth.start(z) * high as isize + height.start(y_)) * wide as isize;
            let last = (x.sizes[0] * high * wide - 1) as i64;
            let per_pixel = positions
                .chunks_exact_mut(inner)
                .zip(taken.chunks_exact(inner));
            for (o, (positions, taken)) in per_pixel.enumerate() {
                let corner = corner + width.start(o);
                for (position, tap) in positions.iter_mut().zip(taken) {
                    // divisions would take longer than all else
                    let to = match offsets.get(*tap as usize) {
                        Some(to) => *to,
                        None => offset(windows, x.sizes, *tap as usize),
                    };
                    // a window without any element of the image has no position of its own
                    *position = (corner as i64 + to).clamp(0, last);
                }
            }
        }
    }
}

/// Joins one row of the image into all windows; its first tap has this number.
#[inline(always)]
fn take_row<A: Lowest>(
    line: &[A],
    windows: &Windows,
    inner: usize,
    number: u32,
    largest: &mut [A],
    taken: &mut [u32],
) {
    let pixels = largest
        .chunks_exact_mut(inner)
        .zip(taken.chunks_exact_mut(inner));
    match windows {
        Windows::Listed(all, step) => {
            for (range, (largest, taken)) in all.iter().zip(pixels) {
                for (k, x) in line[range.start * inner..range.end * inner]
                    .chunks_exact(inner)
                    .step_by(*step)
                    .enumerate()
                {
                    let number = number + k as u32;
                    for ((largest, tap), x) in largest.iter_mut().zip(&mut *taken).zip(x) {
                        take!(largest, tap, *x, number);
                    }
                }
            }
        }
        Windows::Steady(s) if inner > 1 => {
            for (o, (largest, taken)) in pixels.enumerate() {
                for k in 0..s.kernel {
                    let number = number + k as u32;
                    let x = &line[(o * s.stride + k * s.dilation) * inner..][..inner];
                    for ((largest, tap), x) in largest.iter_mut().zip(&mut *taken).zip(x) {
                        take!(largest, tap, *x, number);
                    }
                }
            }
        }
        Windows::Steady(s) => {
            for k in 0..s.kernel {
                let (line, number) = (&line[k * s.dilation..], number + k as u32);
                match s.stride {
                    1 => take_strided(line, 1, number, largest, taken),
                    2 => take_strided(line, 2, number, largest, taken),
                    stride => take_strided(line, stride, number, largest, taken),
                }
            }
        }
    }
}

/// One tap of windows of single elements; the stride is a constant where the call is inlined.
#[inline(always)]
fn take_strided<A: Lowest>(
    line: &[A],
    stride: usize,
    number: u32,
    largest: &mut [A],
    taken: &mut [u32],
) {
    assert!(largest.is_empty() || line.len() > (largest.len() - 1) * stride);
    for (o, (largest, tap)) in largest.iter_mut().zip(taken).enumerate() {
        // SAFETY: in bounds by the assertion above.
        let x = unsafe { *line.get_unchecked(o * stride) };
        take!(largest, tap, x, number);
    }
}
