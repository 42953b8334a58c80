//! Consecutive groups of values that share a step.

use super::encode::encode_of;
use super::levels::QuantStep;
use super::range::{Calibration, QuantizationRule, extremes_of, largest_of};
use crate::error::Result;

kernel! {
    /// Quantises consecutive groups of `len` values, each with the step that covers its minimum
    /// and maximum.
    pub fn groups<'a>(x: &'a [f32], len: usize, rule: &'a QuantizationRule, d: &'a mut [u8], steps: &'a mut [QuantStep]) -> () { |I|
        for ((x, d), step) in x.chunks(len).zip(d.chunks_mut(len)).zip(steps) {
            let range = if rule.affine { extremes_of(x) } else { largest_of(x) };
            *step = rule.step(range);
            encode_of::<I>(x, *step, rule.levels, d);
        }
    }
}
kernel! {
    /// The same with a calibration.
    ///
    /// Errors if there is no memory to copy the values for a percentile.
    pub fn calibrated<'a>(x: &'a [f32], len: usize, rule: &'a QuantizationRule, how: Calibration, d: &'a mut [u8], steps: &'a mut [QuantStep]) -> Result<()> { |I|
        for ((x, d), step) in x.chunks(len).zip(d.chunks_mut(len)).zip(steps) {
            *step = rule.calibrated(x, how)?;
            encode_of::<I>(x, *step, rule.levels, d);
        }
        Ok(())
    }
}
