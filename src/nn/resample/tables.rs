//! The tables of resampling: the elements that each place of an axis is made of, and their weights.

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
    pub places: usize,
    /// The distance between places in elements, if not `size / places`.
    pub step: Option<f64>,
}

impl ResampledAxis {
    /// The distance between places in elements.
    fn step(&self, align_corners: bool) -> f64 {
        if align_corners {
            let spans = self.places.saturating_sub(1);
            return if spans == 0 {
                0.0
            } else {
                (self.size - 1) as f64 / spans as f64
            };
        }
        self.step.unwrap_or(self.size as f64 / self.places as f64)
    }

    /// The element nearest to each place. In float32 like torch, whatever the dtype of the images.
    pub fn nearest(&self, exact: bool) -> Result<Vec<u32>> {
        let step = match self.step {
            Some(step) => step as f32,
            None => self.size as f32 / self.places as f32,
        };
        let element = |place: usize| {
            let at = if exact {
                ((place as f64 + 0.5) * step as f64) as f32 as usize
            } else if self.size == self.places {
                place
            } else if Some(self.places) == self.size.checked_mul(2) {
                place / 2
            } else {
                (place as f32 * step) as usize
            };
            Ok(at.min(self.size - 1) as u32)
        };
        fallible::collect((0..self.places).map(element))
    }

    /// The table of each place's weights.
    pub fn table<A: Real>(
        &self,
        mode: InterpolateMode,
        align_corners: bool,
        antialias: bool,
    ) -> Result<Table<A>> {
        let (size, places, step) = (self.size, self.places, self.step(align_corners));
        let windowed = antialias || mode == InterpolateMode::Lanczos3;
        // when downsampling, the filter covers all elements of a place
        let wide = if antialias { step.max(1.0) } else { 1.0 };
        let reach = mode.reach() * wide;
        let taps = if windowed {
            // at most floor(2 * reach) + 1 elements, and one for rounding
            (2.0 * reach) as usize + 2
        } else {
            2 * reach as usize
        }
        .min(if windowed { size } else { usize::MAX });
        let len = taps
            .checked_mul(places)
            .ok_or_else(|| crate::Error::memory::<A>(usize::MAX))?;
        let mut index = fallible::filled(size as u32, len)?;
        let mut weight = fallible::filled(A::ZERO, len)?;
        let mut weights = fallible::filled(0.0, taps)?;
        for place in 0..places {
            let mut first = 0;
            let mut count = taps;
            if windowed {
                let centre = step * (place as f64 + 0.5);
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
                    self.tap(mode, align_corners, step, place, k)
                };
                index[k * places + place] = at as u32;
                weight[k * places + place] = A::from_f64(w);
            }
        }
        Ok(Table::new(size, places, index, weight))
    }

    /// One of the two or four elements around a place, and its weight.
    fn tap(
        &self,
        mode: InterpolateMode,
        align_corners: bool,
        step: f64,
        place: usize,
        k: usize,
    ) -> (usize, f64) {
        let last = self.size - 1;
        let at = if align_corners {
            step * place as f64
        } else {
            step * (place as f64 + 0.5) - 0.5
        };
        if mode == InterpolateMode::Bicubic {
            let below = floor(at);
            let part = at - below as f64;
            let distance = [part + 1.0, part, 1.0 - part, 2.0 - part][k];
            let element = (below + k as i64 - 1).clamp(0, last as i64);
            return (element as usize, cubic(distance, -0.75, k == 0 || k == 3));
        }
        // as many places as elements are the elements themselves, whatever the scale, as in torch
        let at = if self.size == self.places {
            place as f64
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
