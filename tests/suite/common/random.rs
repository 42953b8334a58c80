//! Random numbers for tests, the same in every run, and others for each value of the environment
//! variable `FLEX_SEED`, a number that shifts all seeds. Benchmarks include this file, too.
#![allow(dead_code, reason = "each program uses its part")]

use std::sync::LazyLock;

/// What is added to all seeds: a multiple of `FLEX_SEED`, by a constant that takes them far from
/// those of other tests.
static SHIFT: LazyLock<u64> = LazyLock::new(|| match std::env::var("FLEX_SEED") {
    Ok(given) => {
        let number: u64 = given.parse().expect("FLEX_SEED must be a number");
        number.wrapping_mul(0xd134_2543_de82_ef95)
    }
    Err(_) => 0,
});

/// A generator of pseudo-random numbers (splitmix64). Any seed will do, even 0, and adjacent seeds
/// give unrelated sequences.
pub struct Rng(pub u64);

impl Rng {
    /// 64 random bits.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let state = self.0.wrapping_add(*SHIFT);
        let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
    /// A number from `a` to `b`, both included.
    pub fn between(&mut self, a: usize, b: usize) -> usize {
        a + self.below(b - a + 1)
    }
    /// A number in [0, 1) with at most 24 significant bits, so that sums and differences of few of
    /// them are exact.
    pub fn short(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1 << 24) as f32
    }
    /// A number in [-1, 1).
    pub fn unit(&mut self) -> f64 {
        self.uniform(-1.0, 1.0)
    }
    /// A number in [`low`, `high`).
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}
