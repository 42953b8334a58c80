//! The tables of resampling: the elements that each output of an axis is made of, and their
//! weights.

use super::InterpolateMode;
use crate::error::Result;
use crate::fallible;
use crate::kernel::math::Real;
use crate::kernel::resample::Table;
use crate::kernel::resample::grid::cubic;
use alloc::vec::Vec;

/// The resampling of an axis.
#[derive(Clone, Copy, Debug)]
pub(in crate::nn) struct ResampledAxis {
    pub size: usize,
    pub output_size: usize,
    /// The distance between outputs in elements, if not `size / outputs`.
    pub step: Option<f64>,
}

impl ResampledAxis {
    /// The distance between outputs in elements.
    fn step(&self, align_corners: bool) -> f64 {
        if align_corners {
            let spans = self.output_size.saturating_sub(1);
            return if spans == 0 {
                0.0
            } else {
                (self.size - 1) as f64 / spans as f64
            };
        }
        self.step
            .unwrap_or(self.size as f64 / self.output_size as f64)
    }

    /// The element nearest to each output: `floor(output * step)`, or that of its centre if
    /// `exact`. In float32 like torch, whatever the dtype of the images.
    pub fn nearest(&self, exact: bool) -> Result<Vec<u32>> {
        let step = match self.step {
            Some(step) => step as f32,
            None => self.size as f32 / self.output_size as f32,
        };
        let element = |output: usize| {
            // exact for the usual steps, beyond 2^24 outputs too
            let at = if step == 1.0 {
                output
            } else if step == 0.5 {
                output / 2
            } else if exact {
                ((output as f64 + 0.5) * step as f64) as f32 as usize
            } else {
                (output as f32 * step) as usize
            };
            Ok(at.min(self.size - 1) as u32)
        };
        fallible::collect((0..self.output_size).map(element))
    }

    /// The taps of each output, and how many times as wide as without antialiasing the filter is.
    pub fn taps(
        &self,
        mode: InterpolateMode,
        align_corners: bool,
        antialias: bool,
    ) -> (usize, f64) {
        // when downsampling, the filter covers all elements of an output
        let wide = if antialias {
            self.step(align_corners).max(1.0)
        } else {
            1.0
        };
        let reach = mode.reach() * wide;
        let taps = if antialias || mode == InterpolateMode::Lanczos3 {
            // at most floor(2 * reach) + 1 elements, and one for rounding
            ((2.0 * reach) as usize).saturating_add(2).min(self.size)
        } else {
            2 * reach as usize
        };
        (taps, wide)
    }
    /// The table of each output's weights.
    pub fn table<A: Real>(
        &self,
        mode: InterpolateMode,
        align_corners: bool,
        antialias: bool,
    ) -> Result<Table<A>> {
        let (size, output_size, step) = (self.size, self.output_size, self.step(align_corners));
        let windowed = antialias || mode == InterpolateMode::Lanczos3;
        let (taps, wide) = self.taps(mode, align_corners, antialias);
        let reach = mode.reach() * wide;
        let len = taps
            .checked_mul(output_size)
            .ok_or_else(|| crate::Error::memory::<A>(usize::MAX))?;
        let mut index = fallible::filled(size as u32, len)?;
        let mut weight = fallible::filled(A::ZERO, len)?;
        let mut weights = fallible::filled(0.0, taps)?;
        for output in 0..output_size {
            let mut first = 0;
            let mut count = taps;
            if windowed {
                let centre = step * (output as f64 + 0.5);
                first = (centre - reach + 0.5).max(0.0) as usize;
                let end = ((centre + reach + 0.5).max(0.0) as usize).min(size);
                count = end.saturating_sub(first).min(taps);
                let mut sum = 0.0;
                for (k, w) in weights[..count].iter_mut().enumerate() {
                    *w = mode.filter(((first + k) as f64 - centre + 0.5) / wide);
                    sum += *w;
                }
                for w in &mut weights[..count] {
                    *w = if sum == 0.0 { *w } else { *w / sum };
                }
            }
            for k in 0..count {
                let (at, w) = if windowed {
                    (first + k, weights[k])
                } else {
                    self.tap(mode, align_corners, step, output, k)
                };
                index[k * output_size + output] = at as u32;
                weight[k * output_size + output] = A::from_f64(w);
            }
        }
        Ok(Table::new(size, output_size, index, weight))
    }

    /// One of the two or four elements around an output, and its weight.
    fn tap(
        &self,
        mode: InterpolateMode,
        align_corners: bool,
        step: f64,
        output: usize,
        k: usize,
    ) -> (usize, f64) {
        let last = self.size - 1;
        let at = if align_corners {
            step * output as f64
        } else {
            step * (output as f64 + 0.5) - 0.5
        };
        if mode == InterpolateMode::Bicubic {
            let below = floor(at);
            let part = at - below as f64;
            let distance = [part + 1.0, part, 1.0 - part, 2.0 - part][k];
            let element = (below + k as i64 - 1).clamp(0, last as i64);
            return (element as usize, cubic(distance, -0.75, k == 0 || k == 3));
        }
        // as many outputs as elements are the elements themselves, whatever the scale, as in torch
        let at = if self.size == self.output_size {
            output as f64
        } else {
            at.max(0.0)
        };
        let below = (at as usize).min(last);
        let part = (at - below as f64).clamp(0.0, 1.0);
        if k == 0 {
            (below, 1.0 - part)
        } else {
            ((below + 1).min(last), part)
        }
    }
}

/// The largest integer not above `x`; `core` has no floor.
fn floor(x: f64) -> i64 {
    let whole = x as i64;
    whole - ((whole as f64) > x) as i64
}
