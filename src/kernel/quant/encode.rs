//! Quantisation: from floats to integers.

use super::levels::QuantStep;

/// 1.5 * 2^23: adding it to a float below 2^22 leaves the nearest integer, ties to even, in the low
/// bits.
const ROUND: f32 = 12_582_912.0;

/// The nearest integer, ties to even, of a number below 2^22.
pub(super) fn nearest(x: f32) -> i32 {
    (x + ROUND).to_bits() as i32 - ROUND.to_bits() as i32
}

/// The level nearest to `x / scale`, relative to the zero point; 0 for NaN.
#[inline(always)]
fn level(x: f32, step: QuantStep, [least, most]: [f32; 2]) -> f32 {
    let v = x / step.scale;
    let v = if v < least { least } else { v };
    let v = if v > most { most } else { v };
    (if v.is_nan() { 0.0 } else { v }) + ROUND
}
/// The range of the levels, relative to the zero point.
#[inline(always)]
fn ends(step: QuantStep, levels: [i32; 2]) -> [f32; 2] {
    [
        (levels[0] - step.zero) as f32,
        (levels[1] - step.zero) as f32,
    ]
}

#[inline(always)]
pub(super) fn encode_of(x: &[f32], step: QuantStep, levels: [i32; 2], d: &mut [u8]) {
    let ends = ends(step, levels);
    for (d, x) in d.iter_mut().zip(x) {
        *d = (level(*x, step, ends).to_bits() as i32 + step.zero) as u8;
    }
}
kernel! {
    /// Quantises values with one step: nearest level, ties to even, saturating; NaN becomes zero.
    pub fn encode<'a>(x: &'a [f32], step: QuantStep, levels: [i32; 2], d: &'a mut [u8]) -> () { |I|
        encode_of(x, step, levels, d)
    }
}

/// The squared error of a number, in units of the scale (its square in units of `x` might
/// overflow); 0 for NaN and infinities.
#[inline(always)]
fn error(x: f32, step: QuantStep, ends: [f32; 2]) -> f32 {
    let e = (level(x, step, ends) - ROUND) - x / step.scale;
    if x.abs() <= f32::MAX { e * e } else { 0.0 }
}
/// The squared error of the finite values, in units of the scale.
#[inline(always)]
pub(super) fn squared_error(x: &[f32], step: QuantStep, levels: [i32; 2]) -> f32 {
    const LANES: usize = 16;
    let ends = ends(step, levels);
    let mut sums = [0.0f32; LANES];
    let (whole, rest) = x.as_chunks::<LANES>();
    for x in whole {
        for l in 0..LANES {
            sums[l] += error(x[l], step, ends);
        }
    }
    for (l, x) in rest.iter().enumerate() {
        sums[l] += error(*x, step, ends);
    }
    sums.iter().sum()
}
