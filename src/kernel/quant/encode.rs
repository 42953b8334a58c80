//! Quantisation: from floats to integers.

use super::levels::QuantStep;
use crate::kernel::gemm::{Requantize, Rows};
use crate::simd::{self, Isa, Kernel, fma32};

/// 1.5 * 2^23: adding it to a float below 2^22 leaves the nearest integer, ties to even, in the low
/// bits.
const ROUND: f32 = 12_582_912.0;

/// The nearest integer, ties to even, of a number below 2^22.
pub(super) fn nearest(x: f32) -> i32 {
    (x + ROUND).to_bits() as i32 - ROUND.to_bits() as i32
}

/// How numbers become levels: the nearest one to `x / scale`, ties to even, saturating; that of zero
/// for NaN.
///
/// Where there are fused multiply-adds, `x / scale` is `q + (x - q scale) / scale` with `q = x
/// (1 / scale)`, which takes a third of a division's time. The levels are those of the rounded
/// quotient: only numbers next to `(n + 1/2) scale` could differ, of which none does for any
/// significand of the scale and `n` up to 255 (all were tried).
#[derive(Clone, Copy)]
struct Rule {
    step: QuantStep,
    /// The range of the levels, relative to the zero point.
    ends: [f32; 2],
    inverse: f32,
}
impl Rule {
    /// Negative numbers count as zero if `relu`.
    #[inline(always)]
    fn new(step: QuantStep, levels: [i32; 2], relu: bool) -> Rule {
        let (least, most) = (levels[0] - step.zero, levels[1] - step.zero);
        let (least, most) = (least as f32, most as f32);
        Rule {
            step,
            ends: [if relu { least.max(0.0) } else { least }, most],
            inverse: 1.0 / step.scale,
        }
    }
    /// Whether no step of [`by_inverse`](Rule::by_inverse) leaves the normal numbers where it counts.
    #[inline(always)]
    fn has_inverse<I: Isa>(&self) -> bool {
        I::FMA && (1e-27..1e27).contains(&self.step.scale)
    }
    /// The level of a number, in the low bits.
    #[inline(always)]
    fn level<I: Isa, const BY_INVERSE: bool>(&self, x: f32) -> u32 {
        let v = if BY_INVERSE {
            self.by_inverse::<I>(x)
        } else {
            self.by_quotient(x)
        };
        (v + ROUND).to_bits().wrapping_add(self.step.zero as u32)
    }
    /// `x / scale`, within the range of the levels.
    #[inline(always)]
    fn by_quotient(&self, x: f32) -> f32 {
        let [least, most] = self.ends;
        let v = x / self.step.scale;
        let v = if v < least { least } else { v };
        let v = if v > most { most } else { v };
        if v.is_nan() { 0.0 } else { v }
    }
    /// A number with the same level.
    #[inline(always)]
    fn by_inverse<I: Isa>(&self, x: f32) -> f32 {
        let (least, most) = (
            self.ends[0] * self.step.scale,
            self.ends[1] * self.step.scale,
        );
        let x = if x < least { least } else { x };
        let x = if x > most { most } else { x };
        let x = if x.is_nan() { 0.0 } else { x };
        let q = x * self.inverse;
        fma32::<I>(fma32::<I>(-q, self.step.scale, x), self.inverse, q)
    }
}

/// Calls a function that is generic over how [`Rule::level`] divides.
macro_rules! by_rule {
    ($I:ident, $rule:ident, $f:ident($($x:expr),*)) => {
        if $rule.has_inverse::<$I>() {
            $f::<$I, true>($($x),*)
        } else {
            $f::<$I, false>($($x),*)
        }
    };
}

#[inline(always)]
pub(super) fn encode_of<I: Isa>(x: &[f32], step: QuantStep, levels: [i32; 2], d: &mut [u8]) {
    let rule = Rule::new(step, levels, false);
    by_rule!(I, rule, encode_by(&rule, x, d))
}
#[inline(always)]
fn encode_by<I: Isa, const BY_INVERSE: bool>(rule: &Rule, x: &[f32], d: &mut [u8]) {
    for (d, x) in d.iter_mut().zip(x) {
        *d = rule.level::<I, BY_INVERSE>(*x) as u8;
    }
}
kernel! {
    /// Quantises values with one step: nearest level, ties to even, saturating; NaN becomes zero.
    pub fn encode<'a>(x: &'a [f32], step: QuantStep, levels: [i32; 2], d: &'a mut [u8]) -> () { |I|
        encode_of::<I>(x, step, levels, d)
    }
}

/// The squared error of a number, in units of the scale (its square in units of `x` might
/// overflow); 0 for NaN and infinities.
#[inline(always)]
fn error(x: f32, rule: &Rule) -> f32 {
    let e = ((rule.by_quotient(x) + ROUND) - ROUND) - x / rule.step.scale;
    if x.abs() <= f32::MAX { e * e } else { 0.0 }
}
/// The squared error of the finite values, in units of the scale.
#[inline(always)]
pub(super) fn squared_error(x: &[f32], step: QuantStep, levels: [i32; 2]) -> f32 {
    const LANES: usize = 16;
    let rule = Rule::new(step, levels, false);
    let mut sums = [0.0f32; LANES];
    let (whole, rest) = x.as_chunks::<LANES>();
    for x in whole {
        for l in 0..LANES {
            sums[l] += error(x[l], &rule);
        }
    }
    for (l, x) in rest.iter().enumerate() {
        sums[l] += error(*x, &rule);
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
        let rule = Rule::new(step, levels, relu);
        by_rule!(I, rule, encode_sum_by(&rule, x, d))
    } }
}
#[inline(always)]
fn encode_sum_by<I: Isa, const BY_INVERSE: bool>(rule: &Rule, x: [Addend; 2], d: &mut [u8]) {
    // with the sign bit flipped, signed bytes are unsigned ones, 128 too large
    let flips = x.map(|x| if x.signed { 0x80 } else { 0u8 });
    let zeros = [0, 1].map(|i| (x[i].step.zero + flips[i] as i32) as f32);
    for ((d, a), b) in d.iter_mut().zip(x[0].q).zip(x[1].q) {
        let a = ((a ^ flips[0]) as f32 - zeros[0]) * x[0].step.scale;
        let b = ((b ^ flips[1]) as f32 - zeros[1]) * x[1].step.scale;
        *d = rule.level::<I, BY_INVERSE>(a + b) as u8;
    }
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
/// What becomes of the sums of a row.
struct RowRule {
    offset: i32,
    scale: f32,
    bias: f32,
    rule: Rule,
}
impl RowRule {
    #[inline(always)]
    fn requantized<I: Isa, const BY_INVERSE: bool, const L: usize>(
        &self,
        mut sums: [u32; L],
    ) -> [u32; L] {
        for sum in &mut sums {
            let exact = (*sum as i32).wrapping_sub(self.offset) as f32 * self.scale;
            *sum = self.rule.level::<I, BY_INVERSE>(exact + self.bias);
        }
        sums
    }
}
#[inline(always)]
fn requantize_by<I: Isa, const BY_INVERSE: bool>(row_rule: &RowRule, row: &mut [u32]) {
    let rest = requantize_whole::<I, BY_INVERSE, 16>(row_rule, row);
    let rest = requantize_whole::<I, BY_INVERSE, 8>(row_rule, rest);
    requantize_whole::<I, BY_INVERSE, 1>(row_rule, rest);
}
/// `L` sums at a time, since rows are as short as a tile is wide; returns the rest.
#[inline(always)]
fn requantize_whole<'a, I: Isa, const BY_INVERSE: bool, const L: usize>(
    row_rule: &RowRule,
    row: &'a mut [u32],
) -> &'a mut [u32] {
    let (whole, rest) = row.as_chunks_mut::<L>();
    for c in simd::one_by_one(whole.len()) {
        whole[c] = row_rule.requantized::<I, BY_INVERSE, L>(whole[c]);
    }
    rest
}
/// EPILOGUE1 holds for the rows.
struct RequantizeRows<'a>(&'a Requantized<'a>, usize, &'a Rows<u32>);
impl Kernel for RequantizeRows<'_> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        let RequantizeRows(how, first, rows) = self;
        let rule = Rule::new(how.step, how.levels, how.relu);
        for k in 0..rows.count {
            let i = first + k;
            // SAFETY: EPILOGUE1, the caller's promise: one row at a time.
            let row = unsafe { rows.row(k) };
            let row_rule = RowRule {
                offset: how.offsets[i],
                scale: how.scales[i],
                // adding -0.0 changes no number
                bias: how.bias.get(i).copied().unwrap_or(-0.0),
                rule,
            };
            by_rule!(I, rule, requantize_by(&row_rule, row))
        }
    }
}
