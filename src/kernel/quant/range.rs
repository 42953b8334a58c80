//! Calibration: from the numbers of a group to its step.

use super::encode::{nearest, squared_error};
use super::levels::QuantStep;
use crate::error::Result;
use crate::fallible;

/// How the range that the integers cover is found; values outside it saturate. NaN and infinities
/// are ignored: NaN becomes zero, infinities the ends of the range.
///
/// ```
/// use flex::{Tensor, quant::{self, Calibration, Quantization}};
/// let x = Tensor::from([1.0f32, 1.0, 1.0, 1.0, 100.0]); // with an outlier
/// let with = |calibration| {
///     let q = quant::quantize(&x, Quantization { calibration, ..Default::default() })?;
///     q.dequantize()?.at::<f32>(-1)
/// };
/// assert_eq!(with(Calibration::MinMax)?, 100.0);
/// assert_eq!(with(Calibration::Percentile(75.0))?, 1.0);
/// # Ok::<(), flex::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Calibration {
    /// From the minimum to the maximum.
    #[default]
    MinMax,
    /// The range that covers this percentage of the values, between 50 and 100: of their
    /// magnitudes without zero points, else cut equally at both ends. Linear interpolation between
    /// values.
    Percentile(f32),
    /// The one of 33 ranges, from half the whole range to all of it, with the least squared error.
    Mse,
}

/// How groups are quantised.
#[derive(Clone, Copy)]
pub struct QuantizationRule {
    /// The integers.
    pub levels: [i32; 2],
    /// Whether there are zero points.
    pub affine: bool,
    /// Rounds a scale to a finite number of the dtype it is stored in.
    pub round: fn(f32) -> f32,
}
impl QuantizationRule {
    /// The step whose integers cover a range that includes 0. The scale is 1 if the range is empty
    /// or too small for a scale, so that all of it becomes 0.
    #[inline]
    pub fn step(&self, [low, high]: [f32; 2]) -> QuantStep {
        let [least, most] = self.levels.map(|x| x as f32);
        let scale = if !self.affine {
            high.max(-low) / most
        } else if (high - low).is_finite() {
            (high - low) / (most - least)
        } else {
            high / (most - least) - low / (most - least)
        };
        let scale = match (self.round)(scale) {
            scale if scale > 0.0 => scale,
            _ => 1.0,
        };
        let zero = match self.affine {
            true => nearest((least - low / scale).clamp(least, most)),
            false => 0,
        };
        QuantStep { scale, zero }
    }
    /// The step of a group, by a calibration.
    #[inline(always)]
    pub(super) fn calibrated(&self, x: &[f32], how: Calibration) -> Result<QuantStep> {
        let range = extremes_of(x);
        match how {
            Calibration::MinMax => Ok(self.step(range)),
            Calibration::Percentile(p) => Ok(self.step(percentiles(x, p, self.affine)?)),
            Calibration::Mse => {
                const PARTS: usize = 64;
                let whole = self.step(range);
                let mut best = (f32::INFINITY, whole);
                for part in (PARTS / 2..=PARTS).rev() {
                    let step = self.step(range.map(|x| x * (part as f32 / PARTS as f32)));
                    let smaller = step.scale / whole.scale;
                    let error = squared_error(x, step, self.levels) * (smaller * smaller);
                    if error < best.0 {
                        best = (error, step);
                    }
                }
                Ok(best.1)
            }
        }
    }
}

/// The minimum and maximum of the finite values and 0.
#[inline(always)]
pub(super) fn extremes_of(x: &[f32]) -> [f32; 2] {
    let least = lanes!(@ [32 16 8 4 2 1] [v = x] 0.0f32, if v.abs() <= f32::MAX { v } else { 0.0 }, |a, b| if b < a { b } else { a });
    let most = lanes!(@ [32 16 8 4 2 1] [v = x] 0.0f32, if v.abs() <= f32::MAX { v } else { 0.0 }, |a, b| if b > a { b } else { a });
    [least, most]
}
/// 0 and the largest magnitude of the finite values.
#[inline(always)]
pub(super) fn largest_of(x: &[f32]) -> [f32; 2] {
    // the bits of magnitudes order as integers
    let most = lanes!(
        @ [32 16 8 4 2 1] [v = x] 0i32,
        match (v.to_bits() & 0x7fff_ffff) as i32 {
            bits if bits < 0x7f80_0000 => bits,
            _ => 0,
        },
        |a, b| if b > a { b } else { a }
    );
    [0.0, f32::from_bits(most as u32)]
}
kernel! {
    /// The minimum and maximum of the finite values and 0.
    pub fn extremes<'a>(x: &'a [f32]) -> [f32; 2] { |I| extremes_of(x) }
}

/// The range that covers `percent` of the finite values, and 0.
fn percentiles(x: &[f32], percent: f32, affine: bool) -> Result<[f32; 2]> {
    let mut finite = fallible::with_capacity(x.len())?;
    finite.extend(
        x.iter()
            .filter(|x| x.is_finite())
            .map(|x| if affine { *x } else { x.abs() }),
    );
    if finite.is_empty() {
        return Ok([0.0; 2]);
    }
    let last = finite.len() - 1;
    let mut at = |fraction: f64| {
        let position = fraction * last as f64;
        let below = (position as usize).min(last);
        let (_, low, above) = finite.select_nth_unstable_by(below, f32::total_cmp);
        let low = *low;
        let high = above.iter().copied().min_by(f32::total_cmp).unwrap_or(low);
        (low as f64 + (high as f64 - low as f64) * (position - below as f64)) as f32
    };
    let share = percent as f64 / 100.0;
    Ok(match affine {
        false => [0.0, at(share)],
        true => {
            let out = (1.0 - share) / 2.0;
            [at(out).min(0.0), at(1.0 - out).max(0.0)]
        }
    })
}
