//! Gradients of deformed patches.

use super::{Corners, DeformFloat, Deformed, NOWHERE, RUN, mean};
use crate::simd::{self, Isa, Kernel};
use core::ops::Range;

/// Adds the contributions of some positions to the gradients of an image, its offsets and its mask.
pub struct DeformedGradient<'a, 'b, T> {
    /// Contiguous channels, `[channels, height, width]`, of one offset group.
    pub from: Deformed<'b, T>,
    pub positions: Range<usize>,
    /// The gradient of each tap, `[taps][positions]`.
    pub columns: &'a [T],
    /// The gradient of the channels.
    pub image: &'a mut [T],
    /// The gradient of the group's offsets: `[kernel_len, down and across, all positions]`.
    pub offset: &'a mut [T],
    /// That of its mask: `[kernel_len, all positions]`.
    pub mask: &'a mut [T],
}
impl<T: DeformFloat> DeformedGradient<'_, '_, T> {
    /// Panics if sizes don't match.
    pub fn add(self) {
        let (from, n) = (&self.from, self.positions.len());
        from.check();
        let taps = from.geometry.kernel_len() * from.geometry.len();
        assert!(from.image.is_contiguous() && self.columns.len() == from.taps() * n);
        assert!(self.offset.len() == 2 * taps && self.mask.len() == taps);
        simd::call(self)
    }
}
impl<T: DeformFloat> Kernel for DeformedGradient<'_, '_, T> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        let (from, all) = (&self.from, self.from.geometry.len());
        let (kernel_len, sizes) = (from.geometry.kernel_len(), from.image.sizes());
        let (group, area) = (from.first / from.per_group, sizes[1] * sizes[2]);
        let mut around = Corners::new();
        for start in self.positions.clone().step_by(RUN) {
            let run = start..self.positions.end.min(start + RUN);
            for kernel_index in 0..kernel_len {
                from.find::<I>(group, kernel_index, run.clone(), &mut around);
                let mut sums = [[T::ZERO; RUN]; 3];
                for channel in 0..from.image.channels() {
                    let row = (channel * kernel_len + kernel_index) * self.positions.len();
                    let grad = &self.columns[row + start - self.positions.start..][..run.len()];
                    let d = &mut self.image[channel * area..][..area];
                    for (j, grad) in grad.iter().enumerate() {
                        // SAFETY: AROUND1: found above.
                        let seen = unsafe { from.elements(channel, &around, j) };
                        let (below, right) = (around.below[j], around.right[j]);
                        let down =
                            right * (seen[3] - seen[1]) + (T::ONE - right) * (seen[2] - seen[0]);
                        let across =
                            below * (seen[3] - seen[2]) + (T::ONE - below) * (seen[1] - seen[0]);
                        let masked = *grad * around.mask[j];
                        sums[0][j] = T::mul_add::<I>(masked, down, sums[0][j]);
                        sums[1][j] = T::mul_add::<I>(masked, across, sums[1][j]);
                        let mean = mean::<I, T>(&around, j, seen);
                        sums[2][j] = T::mul_add::<I>(*grad, mean, sums[2][j]);
                        for k in 0..4 {
                            if around.at[k][j] != NOWHERE {
                                let d = &mut d[around.at[k][j] as usize];
                                *d = T::mul_add::<I>(masked, around.weights[k][j], *d);
                            }
                        }
                    }
                }
                for (j, position) in run.clone().enumerate() {
                    for (k, sums) in sums[..2].iter().enumerate() {
                        let d = &mut self.offset[(2 * kernel_index + k) * all + position];
                        *d = *d + sums[j];
                    }
                    let d = &mut self.mask[kernel_index * all + position];
                    *d = *d + sums[2][j];
                }
            }
        }
    }
}
