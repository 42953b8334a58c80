//! Steps of connectionist temporal classification, over all positions of a sequence.

use crate::kernel::math::Real;
use crate::simd::Isa;

/// Lines of positions are padded to a multiple of this, so that vectors are full.
pub const BLOCK: usize = 8;
/// Positions before the first, whose log-probability is minus infinity.
pub const MARGIN: usize = 2;

kernel! {
    /// One step: the log-probability of being at position `s`, `after[MARGIN + s]`, is `x[s]` plus
    /// that of having been there, one position before or, where `skips[s]` is 0 and not minus
    /// infinity, two. All lines are of equal length, but for the margin.
    pub fn step<'a>(before: &'a [f64], skips: &'a [f64], x: &'a [f64], after: &'a mut [f64]) -> () { |I|
        let lines = x.as_chunks::<BLOCK>().0.iter().zip(skips.as_chunks::<BLOCK>().0);
        for (k, ((x, skips), y)) in lines.zip(after[MARGIN..].as_chunks_mut::<BLOCK>().0).enumerate() {
            let line = &before[k * BLOCK..][..BLOCK + MARGIN];
            let shifted = |by: usize| -> [f64; BLOCK] { core::array::from_fn(|i| line[i + by]) };
            let (skip, step, stay) = (shifted(0), shifted(1), shifted(2));
            let mut next = [0.0; BLOCK];
            for i in 0..BLOCK {
                let skip = if skips[i] == 0.0 { skip[i] } else { f64::NEG_INFINITY };
                next[i] = x[i] + log_sum::<I>([stay[i], step[i], skip]);
            }
            *y = next;
        }
    }
}

/// `log(exp(a) + exp(b) + exp(c))`, NaN if one of them is. The largest needs no exponential, since
/// it is subtracted from all.
#[inline(always)]
fn log_sum<I: Isa>([a, b, c]: [f64; 3]) -> f64 {
    // each pair is only swapped, so no NaN is lost
    let (high, low) = if a > b { (a, b) } else { (b, a) };
    let (largest, middle) = if high > c { (high, c) } else { (c, high) };
    let shift = if largest == f64::NEG_INFINITY {
        0.0
    } else {
        largest
    };
    let (middle, low) = (middle - shift, low - shift);
    let others = Real::exp_negative::<I>(middle) + Real::exp_negative::<I>(low);
    let sum = largest + Real::log_fast::<I>(1.0 + others);
    // the fast functions are for numbers alone; one of the three is NaN if a difference is
    if middle.is_nan() || low.is_nan() {
        f64::NAN
    } else {
        sum
    }
}
