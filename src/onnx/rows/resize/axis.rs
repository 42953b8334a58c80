//! An axis of a resampled tensor: each element is a sum of weighted elements, at places that a
//! coordinate's transformation gives.

use super::{Axis, Coordinate, Mode, Resize, Round};
use crate::dtype::DType;
use crate::error::Result;
use crate::fallible;
use crate::layout::Shape;
use crate::ops;
use crate::tensor::Tensor;
use alloc::vec::Vec;

impl Resize {
    /// The place in the axis of an element of the result, and whether it is beyond its ends.
    fn place(&self, at: usize, axis: &Axis) -> (f64, bool) {
        let (x, from, scale) = (at as f64, axis.from as f64, axis.scale);
        let width = scale * from;
        let centre = (x + 0.5) / scale - 0.5;
        match self.coordinate {
            Coordinate::HalfPixel => (centre, false),
            Coordinate::PytorchHalfPixel if width == 1.0 => (-0.5, false),
            Coordinate::PytorchHalfPixel => (centre, false),
            Coordinate::HalfPixelSymmetric => {
                let adjustment = axis.to as f64 / width;
                (from / 2.0 * (1.0 - adjustment) + centre, false)
            }
            Coordinate::AlignCorners if width == 1.0 => (0.0, false),
            Coordinate::AlignCorners => (x * (from - 1.0) / (width - 1.0), false),
            // in float32, as runtimes compute it: a place at an element is not just below it
            Coordinate::Asymmetric => (f64::from(at as f32 / scale as f32), false),
            Coordinate::TfHalfPixel => ((x + 0.5) / scale, false),
            Coordinate::CropAndResize => {
                let (start, end) = axis.region;
                let along = match width == 1.0 {
                    true => (end - start) * (from - 1.0) / 2.0,
                    false => x * (end - start) * (from - 1.0) / (width - 1.0),
                };
                let place = along + start * (from - 1.0);
                (place, place < 0.0 || place > from - 1.0)
            }
        }
    }
    /// The weights of a filter whose taps begin at an offset from the element on the left; `ratio` is
    /// from 0, excluded, to 1.
    fn weights(&self, ratio: f64, scale: f64) -> (i64, Vec<f64>) {
        let scale = if self.antialias { scale.min(1.0) } else { 1.0 };
        let reach = if self.mode == Mode::Cubic { 2.0 } else { 1.0 };
        let first = libm::floor(-reach / scale) as i64 + 1;
        let count = 2 - 2 * first;
        let filter = |i: i64| {
            let d = libm::fabs((i as f64 - ratio) * scale);
            let a = self.cubic;
            match self.mode {
                Mode::Cubic if d <= 1.0 => ((a + 2.0) * d - (a + 3.0)) * d * d + 1.0,
                Mode::Cubic if d < 2.0 => ((a * d - 5.0 * a) * d + 8.0 * a) * d - 4.0 * a,
                Mode::Cubic => 0.0,
                _ => (1.0 - d).max(0.0),
            }
        };
        (first, (first..first + count).map(filter).collect())
    }
    /// The tensor with axis `k` resampled.
    pub(super) fn along(&self, x: &Tensor, k: usize, axis: &Axis) -> Result<Tensor> {
        let last = axis.from as i64 - 1;
        let spread: Shape = (0..x.rank())
            .map(|i| if i == k { axis.to } else { 1 })
            .collect();
        let mut outside: Vec<bool> = fallible::with_capacity(axis.to)?;
        let mut nearest: Vec<i64> = fallible::with_capacity(axis.to)?;
        let mut taps: Vec<(Vec<i64>, Vec<f64>)> = Vec::new();
        for at in 0..axis.to {
            let (place, beyond) = self.place(at, axis);
            outside.push(beyond);
            if self.mode == Mode::Nearest {
                let rounded = match self.round {
                    Round::ByScale if axis.scale < 1.0 => libm::ceil(place),
                    Round::ByScale => libm::floor(place),
                    Round::PreferFloor => libm::ceil(place - 0.5),
                    Round::PreferCeil => libm::floor(place + 0.5),
                    Round::Floor => libm::floor(place),
                    Round::Ceil => libm::ceil(place),
                };
                nearest.push((rounded as i64).clamp(0, last));
                continue;
            }
            let left = libm::ceil(place) as i64 - 1;
            let (first, mut weights) = self.weights(place - left as f64, axis.scale);
            let inside = |t: usize| (0..=last).contains(&(left + first + t as i64));
            if self.exclude_outside {
                for (t, weight) in weights.iter_mut().enumerate() {
                    if !inside(t) {
                        *weight = 0.0;
                    }
                }
            }
            if self.exclude_outside || self.antialias {
                let sum: f64 = weights.iter().sum();
                weights.iter_mut().for_each(|w| *w /= sum);
            }
            for (t, weight) in weights.into_iter().enumerate() {
                if t == taps.len() {
                    taps.push((
                        fallible::with_capacity(axis.to)?,
                        fallible::with_capacity(axis.to)?,
                    ));
                }
                taps[t].0.push((left + first + t as i64).clamp(0, last));
                taps[t].1.push(weight);
            }
        }
        let mut y = if self.mode == Mode::Nearest {
            ops::take(x, &Tensor::from_vec(nearest, axis.to)?, k)?
        } else {
            let mut sum: Option<Tensor> = None;
            for (at, weights) in taps {
                if weights.iter().all(|w| *w == 0.0) {
                    continue;
                }
                let weights = Tensor::from_vec(weights, axis.to)?
                    .astype(x.dtype())?
                    .reshape(&spread)?;
                let part =
                    ops::multiply(ops::take(x, &Tensor::from_vec(at, axis.to)?, k)?, &weights)?;
                sum = Some(match sum {
                    Some(sum) => ops::add(sum, part)?,
                    None => part,
                });
            }
            match sum {
                Some(sum) => sum,
                None => ops::take(x, &Tensor::zeros(axis.to, DType::I64)?, k)?,
            }
        };
        if outside.iter().any(|o| *o) {
            let outside = Tensor::from_slice(&outside, &spread[..])?;
            y = ops::where_(&outside, self.beyond, y)?;
        }
        Ok(y)
    }
}
