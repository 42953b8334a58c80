//! Consecutive groups of numbers that share a step.

use super::encode::encode_of;
use super::levels::Step;
use super::range::{Calibration, Rule, extremes_of, largest_of};
use crate::error::Result;

kernel! {
    /// Quantises consecutive groups of `len` numbers, each with the step that covers its minimum
    /// and maximum.
    pub fn groups<'a>(x: &'a [f32], len: usize, rule: &'a Rule, d: &'a mut [u8], steps: &'a mut [Step]) -> () { |I|
        for ((x, d), step) in x.chunks(len).zip(d.chunks_mut(len)).zip(steps) {
            let range = if rule.affine { extremes_of(x) } else { largest_of(x) };
            *step = rule.step(range);
            encode_of(x, *step, rule.levels, d);
        }
    }
}
kernel! {
    /// The same with a calibration.
    ///
    /// Errors if there is no memory to copy the numbers for a percentile.
    pub fn calibrated<'a>(x: &'a [f32], len: usize, rule: &'a Rule, how: Calibration, d: &'a mut [u8], steps: &'a mut [Step]) -> Result<()> { |I|
        for ((x, d), step) in x.chunks(len).zip(d.chunks_mut(len)).zip(steps) {
            *step = rule.calibrated(x, how)?;
            encode_of(x, *step, rule.levels, d);
        }
        Ok(())
    }
}
