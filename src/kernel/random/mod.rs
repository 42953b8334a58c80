//! Counter-based random numbers: number `i` of a seed is a function of these two alone, so any part
//! of a sequence can be made on its own, on any thread, with the same bits.
//!
//! SplitMix64 (Steele, Lea and Flood, 2014), whose state is a counter: it passes BigCrush and takes
//! two multiplications. Seeds are mixed once, so that the sequences of neighbouring seeds are
//! unrelated.

use crate::kernel::math::Real;

/// The odd number nearest to 2^64 over the golden ratio: the counter's increment.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The finaliser: every bit of the result depends on every bit of `z`.
#[inline(always)]
fn mixed(z: u64) -> u64 {
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A sequence of random numbers.
#[derive(Clone, Copy, Debug)]
pub struct Sequence(u64);
impl Sequence {
    /// The sequence of a seed.
    pub fn new(seed: u64) -> Sequence {
        Sequence(mixed(seed.wrapping_add(STEP)))
    }
    /// Number `i`: 64 random bits.
    #[inline(always)]
    pub fn bits(self, i: u64) -> u64 {
        mixed(self.0.wrapping_add(i.wrapping_mul(STEP)))
    }
}

kernel! {
    /// Numbers of a sequence from `first` on, strictly between 0 and 1: the 2^23 midpoints of equal
    /// intervals, all equally likely.
    pub fn uniform<'a, F: Real>(sequence: Sequence, first: u64, y: &'a mut [F]) -> () { |I|
        // 23 bits plus a half fit a float32, and give neither 0 nor 1
        const UNIT: f64 = 1.0 / (1u64 << 23) as f64;
        let unit = F::from_f64(UNIT);
        for (k, y) in y.iter_mut().enumerate() {
            let whole = (sequence.bits(first.wrapping_add(k as u64)) >> 41) as i32;
            *y = (F::from_f64(whole as f64) + F::from_f64(0.5)) * unit;
        }
    }
}
/// The rule of dropout: what becomes of elements kept and dropped.
#[derive(Clone, Copy, Debug)]
pub struct DropoutRule {
    /// How many of the 2^32 values of a random number drop the element.
    pub limit: u64,
    /// The factor of kept elements.
    pub factor: f64,
    /// Added to kept elements.
    pub kept: f64,
    /// What becomes of dropped elements, NaN and infinity too.
    pub dropped: f64,
}

kernel! {
    /// Keeps or drops each element by its number of the sequence, from `first` on.
    pub fn kept<'a, F: Real>(rule: DropoutRule, sequence: Sequence, first: u64, x: &'a [F], y: &'a mut [F]) -> () { |I|
        let DropoutRule { limit, factor, kept, dropped } = rule;
        let [factor, kept, dropped] = [factor, kept, dropped].map(F::from_f64);
        for (k, (x, y)) in x.iter().zip(y).enumerate() {
            let drop = sequence.bits(first.wrapping_add(k as u64)) >> 32 < limit;
            let whole = *x * factor + kept;
            *y = if drop { dropped } else { whole };
        }
    }
}
