//! From floats to integers.

use super::levels::Step;

/// 1.5 * 2^23: added to a float below 2^22, it leaves the nearest integer, ties to even, in the last bits.
const ROUND: f32 = 12_582_912.0;

/// The nearest integer, ties to even, of a number below 2^22.
pub(super) fn nearest(x: f32) -> i32 {
    (x + ROUND).to_bits() as i32 - ROUND.to_bits() as i32
}

/// The nearest integer of `x / scale` that is one of the levels, less the zero; that of NaN is 0.
#[inline(always)]
fn level(x: f32, step: Step, [least, most]: [f32; 2]) -> f32 {
    let v = x / step.scale;
    let v = if v < least { least } else { v };
    let v = if v > most { most } else { v };
    (if v.is_nan() { 0.0 } else { v }) + ROUND
}
/// The ends of the levels, less the zero.
#[inline(always)]
fn ends(step: Step, levels: [i32; 2]) -> [f32; 2] {
    [
        (levels[0] - step.zero) as f32,
        (levels[1] - step.zero) as f32,
    ]
}

#[inline(always)]
pub(super) fn encode_of(x: &[f32], step: Step, levels: [i32; 2], d: &mut [u8]) {
    let ends = ends(step, levels);
    for (d, x) in d.iter_mut().zip(x) {
        *d = (level(*x, step, ends).to_bits() as i32 + step.zero) as u8;
    }
}
kernel! {
    /// Numbers of one step: the nearest level, ties to even, the ends beyond them; zero for NaN.
    pub fn encode<'a>(x: &'a [f32], step: Step, levels: [i32; 2], d: &'a mut [u8]) -> () { |I|
        encode_of(x, step, levels, d)
    }
}

/// The squared error of a number, in steps: what it is in numbers may be out of range. That of no finite one
/// is none.
#[inline(always)]
fn error(x: f32, step: Step, ends: [f32; 2]) -> f32 {
    let e = (level(x, step, ends) - ROUND) - x / step.scale;
    if x.abs() <= f32::MAX { e * e } else { 0.0 }
}
/// The squared error of the finite numbers, in steps.
#[inline(always)]
pub(super) fn squared_error(x: &[f32], step: Step, levels: [i32; 2]) -> f32 {
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
