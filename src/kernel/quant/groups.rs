//! Groups of numbers that share a step, one after the other.

use super::encode::encode_of;
use super::levels::Step;
use super::range::{Calibration, Rule, extremes_of, largest_of};
use crate::error::Result;

kernel! {
    /// Groups of `len` numbers, one after the other: the step of each from its least and largest number, and its levels.
    pub fn groups<'a>(x: &'a [f32], len: usize, rule: &'a Rule, d: &'a mut [u8], steps: &'a mut [Step]) -> () { |I|
        for ((x, d), step) in x.chunks(len).zip(d.chunks_mut(len)).zip(steps) {
            let range = if rule.affine { extremes_of(x) } else { largest_of(x) };
            *step = rule.step(range);
            encode_of(x, *step, rule.levels, d);
        }
    }
}
kernel! {
    /// The same by a calibration.
    ///
    /// Errors where there is no memory for a percentile's.
    pub fn calibrated<'a>(x: &'a [f32], len: usize, rule: &'a Rule, how: Calibration, d: &'a mut [u8], steps: &'a mut [Step]) -> Result<()> { |I|
        for ((x, d), step) in x.chunks(len).zip(d.chunks_mut(len)).zip(steps) {
            *step = rule.calibrated(x, how)?;
            encode_of(x, *step, rule.levels, d);
        }
        Ok(())
    }
}
