//! Quantisation: from floats to integers.

use super::levels::QuantStep;
use crate::kernel::gemm::{Requantize, Rows};
use crate::simd::{self, Isa, Kernel};

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

/// The same if negative numbers count as zero, where asked for.
#[inline(always)]
fn ends_of(relu: bool, step: QuantStep, levels: [i32; 2]) -> [f32; 2] {
    let [least, most] = ends(step, levels);
    [if relu { least.max(0.0) } else { least }, most]
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

/// Bytes with one step.
#[derive(Clone, Copy)]
pub struct Addend<'a> {
    pub q: &'a [u8],
    pub step: QuantStep,
    pub signed: bool,
}
kernel! {
    /// What two addends stand for in sum, or the larger of that and zero, as [`encode`] quantises it.
    pub fn encode_sum<'a>(x: [Addend<'a>; 2], relu: bool, step: QuantStep, levels: [i32; 2], d: &'a mut [u8]) -> () { |I| {
        let ends = ends_of(relu, step, levels);
        // with the sign bit flipped, signed bytes are unsigned ones, 128 too large
        let flips = x.map(|x| if x.signed { 0x80 } else { 0u8 });
        let zeros = [0, 1].map(|i| (x[i].step.zero + flips[i] as i32) as f32);
        for ((d, a), b) in d.iter_mut().zip(x[0].q).zip(x[1].q) {
            let a = ((a ^ flips[0]) as f32 - zeros[0]) * x[0].step.scale;
            let b = ((b ^ flips[1]) as f32 - zeros[1]) * x[1].step.scale;
            *d = (level(a + b, step, ends).to_bits() as i32 + step.zero) as u8;
        }
    } }
}

/// Sums of integer products as quantised elements: bytes with one step, in the low bits of each sum.
/// The offset of a row is subtracted from its sums, which are multiplied by its scale, and its bias is
/// added; then the steps are those of [`encode`].
pub struct Requantized<'a> {
    /// Of each row; the bias may be empty.
    pub offsets: &'a [i32],
    pub scales: &'a [f32],
    pub bias: &'a [f32],
    pub step: QuantStep,
    pub levels: [i32; 2],
    /// Whether negative numbers count as zero.
    pub relu: bool,
}
impl Requantize for Requantized<'_> {
    unsafe fn rows(&self, i: usize, rows: &Rows<u32>) {
        simd::call(RequantizeRows(self, i, rows))
    }
}
#[inline(always)]
fn requantized<const L: usize>(
    mut sums: [u32; L],
    offset: i32,
    scale: f32,
    bias: f32,
    step: QuantStep,
    ends: [f32; 2],
) -> [u32; L] {
    for sum in &mut sums {
        let exact = (*sum as i32).wrapping_sub(offset) as f32 * scale;
        let level = level(exact + bias, step, ends);
        *sum = level.to_bits().wrapping_add(step.zero as u32);
    }
    sums
}
/// EPILOGUE1 holds for the rows.
struct RequantizeRows<'a>(&'a Requantized<'a>, usize, &'a Rows<u32>);
impl Kernel for RequantizeRows<'_> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        /// Rows are as short as a tile is wide.
        const LANES: usize = 8;
        let RequantizeRows(how, first, rows) = self;
        let ends = ends_of(how.relu, how.step, how.levels);
        for k in 0..rows.count {
            let i = first + k;
            let (offset, scale) = (how.offsets[i], how.scales[i]);
            let bias = how.bias.get(i).copied();
            // SAFETY: EPILOGUE1, the caller's promise: one row at a time.
            let row = unsafe { rows.row(k) };
            // adding -0.0 changes no number
            let bias = bias.unwrap_or(-0.0);
            let (whole, rest) = row.as_chunks_mut::<LANES>();
            for c in simd::one_by_one(whole.len()) {
                let sums = &mut whole[c];
                *sums = requantized(*sums, offset, scale, bias, how.step, ends);
            }
            for sum in rest {
                [*sum] = requantized([*sum], offset, scale, bias, how.step, ends);
            }
        }
    }
}
