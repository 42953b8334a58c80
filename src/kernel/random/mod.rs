//! Random numbers by position: number i of a seed is a function of both alone, so any part of a
//! sequence is made on its own, on any thread, with the same bits.
//!
//! SplitMix64 (Steele, Lea and Flood 2014), whose state is its counter: passes BigCrush, and takes
//! two multiplications. Seeds are mixed once themselves, so that neighbours are unrelated.

use crate::kernel::math::Real;

/// The odd number nearest to 2^64 over the golden ratio: what the counter grows by.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// Every bit of the result depends on every bit of `z`.
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
    /// Numbers of a sequence from `first` on, above 0 and below 1, all that are as far apart
    /// equally likely.
    pub fn uniform<'a, F: Real>(sequence: Sequence, first: u64, y: &'a mut [F]) -> () { |I|
        // 23 bits and a half are a float32, and neither 0 nor 1
        const UNIT: f64 = 1.0 / (1u64 << 23) as f64;
        let unit = F::from_f64(UNIT);
        for (k, y) in y.iter_mut().enumerate() {
            let whole = (sequence.bits(first.wrapping_add(k as u64)) >> 41) as i32;
            *y = (F::from_f64(whole as f64) + F::from_f64(0.5)) * unit;
        }
    }
}
/// What numbers make of elements.
#[derive(Clone, Copy, Debug)]
pub struct Kept {
    /// How many of 2^32 numbers drop an element.
    pub limit: u64,
    /// What elements that are kept are multiplied by; others are by 0.
    pub factor: f64,
    /// Added to elements that are kept.
    pub kept: f64,
    /// Added to the others.
    pub dropped: f64,
}

kernel! {
    /// Elements kept or dropped, each by a number of a sequence from `first` on.
    pub fn kept<'a, F: Real>(rule: Kept, sequence: Sequence, first: u64, x: &'a [F], y: &'a mut [F]) -> () { |I|
        let Kept { limit, factor, kept, dropped } = rule;
        let [factor, kept, dropped] = [factor, kept, dropped].map(F::from_f64);
        for (k, (x, y)) in x.iter().zip(y).enumerate() {
            let drop = sequence.bits(first.wrapping_add(k as u64)) >> 32 < limit;
            let factor = if drop { F::ZERO } else { factor };
            *y = *x * factor + if drop { dropped } else { kept };
        }
    }
}
