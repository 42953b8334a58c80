//! Windows scattered back to where they were taken from, adding up (col2im).

use crate::kernel::images::Pixel;
use crate::kernel::math::Real;
use crate::simd::{Isa, Kernel};

/// The windows of a plane.
#[derive(Clone, Copy, Debug)]
pub struct PlaneWindows {
    /// Height and width of the plane.
    pub sizes: [usize; 2],
    /// Height and width of a window.
    pub kernel: [usize; 2],
    /// From one window to the next.
    pub stride: [usize; 2],
    /// From one element of a window to the next.
    pub dilation: [usize; 2],
    /// Padding before the plane.
    pub padding: [usize; 2],
    /// The number of windows along height and width.
    pub output_size: [usize; 2],
}

/// One plane: `sums` of `columns`, which holds each window's element for each tap.
pub struct FoldColumns<'a, T, A> {
    /// `[kernel height, kernel width, windows down, windows across]`.
    pub columns: &'a [T],
    /// The geometry of the windows.
    pub windows: PlaneWindows,
    /// Accumulators for the plane.
    pub sums: &'a mut [A],
    /// The plane.
    pub plane: &'a mut [T],
}
impl<T: Pixel<A>, A: Real> Kernel for FoldColumns<'_, T, A> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        let FoldColumns {
            columns,
            windows: w,
            sums,
            plane,
        } = self;
        sums.fill(A::ZERO);
        let [down, across] = w.output_size;
        for (row, elements) in columns.chunks_exact(across.max(1)).enumerate() {
            let (tap, output) = (row / down, row % down);
            let (tap_y, tap_x) = (tap / w.kernel[1], tap % w.kernel[1]);
            let y = output * w.stride[0] + tap_y * w.dilation[0];
            let Some(y) = y.checked_sub(w.padding[0]).filter(|y| *y < w.sizes[0]) else {
                continue;
            };
            let line = &mut sums[y * w.sizes[1]..][..w.sizes[1]];
            // window `p` has column `start + p * stride` of the padded plane
            let (start, stride, before) = (tap_x * w.dilation[1], w.stride[1], w.padding[1]);
            let first = before.saturating_sub(start).div_ceil(stride).min(across);
            let end = (before + w.sizes[1]).saturating_sub(start).div_ceil(stride);
            let elements = &elements[first..end.clamp(first, across)];
            if elements.is_empty() {
                continue;
            }
            let line = &mut line[start + first * stride - before..];
            if stride == 1 {
                for (sum, x) in line.iter_mut().zip(elements) {
                    *sum = *sum + T::to(*x);
                }
            } else {
                for (sum, x) in line.iter_mut().step_by(stride).zip(elements) {
                    *sum = *sum + T::to(*x);
                }
            }
        }
        T::store::<I>(sums, plane);
    }
}
