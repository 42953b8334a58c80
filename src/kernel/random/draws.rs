//! Numbers of distributions that take an unknown number of bits: each element has a counter of its
//! own, whose retries it takes one after the other, so that it depends on nothing else.
//!
//! Methods that reject are bounded: after `MOST` rounds, of which each ends the loop with a
//! probability of more than a half, they return a typical number.

use super::Stream;
use super::transform::{open, pair};
use crate::kernel::math::Math;
use crate::simd::Portable;

/// The most rounds of a loop.
pub(super) const MOST: usize = 100;

/// The random bits of an element.
pub struct Draws {
    stream: Stream,
    block: u64,
    retry: u32,
    /// The second half of a block whose first half was taken.
    kept: Option<u64>,
}

pub(super) fn log(x: f64) -> f64 {
    Math::log::<Portable>(x)
}
pub(super) fn exp(x: f64) -> f64 {
    Math::exp::<Portable>(x)
}
pub(super) fn sqrt(x: f64) -> f64 {
    Math::sqrt::<Portable>(x)
}

impl Draws {
    /// The bits of the element that owns a block.
    pub fn new(stream: Stream, block: u64) -> Draws {
        Draws {
            stream,
            block,
            retry: 0,
            kept: None,
        }
    }
    fn block(&mut self) -> [u32; 4] {
        let block = self.stream.block(self.block, self.retry);
        self.retry = self.retry.wrapping_add(1);
        block
    }
    fn bits(&mut self) -> u64 {
        if let Some(x) = self.kept.take() {
            return x;
        }
        let [a, b, c, d] = self.block();
        self.kept = Some(c as u64 | ((d as u64) << 32));
        a as u64 | ((b as u64) << 32)
    }
    /// Uniform from 0 to 1, without both.
    pub fn uniform(&mut self) -> f64 {
        open(self.bits())
    }
    /// Exponential.
    pub fn exponential(&mut self) -> f64 {
        0.0 - log(self.uniform())
    }
    /// Normal; the second number of the pair is not used.
    pub fn normal(&mut self) -> f64 {
        let (radius, turn) = (self.bits(), self.bits());
        pair(open(radius), (turn >> 11) | 1).0
    }
    /// Gamma, for a shape from 1 on (Marsaglia and Tsang, "A simple method for generating gamma
    /// variables", 2000). A round takes one block.
    fn large_gamma(&mut self, shape: f64) -> f64 {
        let d = shape - 1.0 / 3.0;
        let c = 1.0 / sqrt(9.0 * d);
        for _ in 0..MOST {
            let [low, high, turn, height] = self.block();
            let radius = open(low as u64 | ((high as u64) << 32));
            let x = pair(radius, ((turn as u64) << 21) | (1 << 20)).0;
            let u = (height as f64 + 0.5) * (1.0 / 4_294_967_296.0);
            let root = 1.0 + c * x;
            let v = root * root * root;
            let square = x * x;
            if v > 0.0
                && (u < 1.0 - 0.0331 * square * square
                    || log(u) < 0.5 * square + d * (1.0 - v + log(v)))
            {
                return d * v;
            }
        }
        d
    }
    /// The logarithm of a gamma variable, which may be below the smallest float: that of shape + 1
    /// times a uniform number to the power of 1 / shape.
    pub fn log_gamma(&mut self, shape: f64) -> f64 {
        if shape >= 1.0 {
            return log(self.large_gamma(shape));
        }
        let large = log(self.large_gamma(shape + 1.0));
        large - self.exponential() / shape
    }
    /// Gamma, of a shape that is not negative.
    pub fn gamma(&mut self, shape: f64) -> f64 {
        match shape {
            0.0 => 0.0,
            s if s >= 1.0 => self.large_gamma(s),
            s => exp(self.log_gamma(s)),
        }
    }
    /// Beta: a gamma variable of shape `a`, over its sum with one of shape `b`.
    pub fn beta(&mut self, a: f64, b: f64) -> f64 {
        if a >= 1.0 && b >= 1.0 {
            let (x, y) = (self.large_gamma(a), self.large_gamma(b));
            return x / (x + y);
        }
        let (x, y) = (self.log_gamma(a), self.log_gamma(b));
        if x == f64::NEG_INFINITY && y == x {
            return (self.uniform() < a / (a + b)) as u8 as f64;
        }
        1.0 / (1.0 + exp(y - x))
    }
    /// Gamma variables of these shapes over their sum.
    pub fn dirichlet(&mut self, shapes: &[f64], y: &mut [f64]) {
        for (y, shape) in y.iter_mut().zip(shapes) {
            *y = self.log_gamma(*shape);
        }
        let largest = y.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if largest == f64::NEG_INFINITY {
            // all are below the smallest float: the sum is at one of them, nearly
            let mut rest = self.uniform() * shapes.iter().sum::<f64>();
            let first = shapes.iter().position(|a| {
                rest -= a;
                rest < 0.0
            });
            let first = first.unwrap_or(shapes.len() - 1);
            y.fill(0.0);
            y[first] = 1.0;
            return;
        }
        let mut sum = 0.0;
        for y in y.iter_mut() {
            *y = exp(*y - largest);
            sum += *y;
        }
        for y in y {
            *y /= sum;
        }
    }
    /// Poisson: from a mean of 10 on by the transformed rejection PTRS (Hormann, "The transformed
    /// rejection method for generating Poisson random variables", 1993), below by inversion.
    pub fn poisson(&mut self, mean: f64) -> f64 {
        if mean < 10.0 {
            let mut rest = self.uniform();
            let (mut p, mut k) = (exp(-mean), 0.0);
            while rest > p && k < 1000.0 {
                rest -= p;
                k += 1.0;
                p *= mean / k;
            }
            return k;
        }
        let log_mean = log(mean);
        let b = 0.931 + 2.53 * sqrt(mean);
        let a = -0.059 + 0.02483 * b;
        let inverse = 1.1239 + 1.1328 / (b - 3.4);
        let height = 0.9277 - 3.6224 / (b - 2.0);
        for _ in 0..MOST {
            let u = self.uniform() - 0.5;
            let v = self.uniform();
            let us = 0.5 - u.abs();
            let k = libm::floor((2.0 * a / us + b) * u + mean + 0.43);
            if us >= 0.07 && v <= height {
                return k;
            }
            if k < 0.0 || (us < 0.013 && v > us) {
                continue;
            }
            let left = log(v) + log(inverse) - log(a / (us * us) + b);
            if left <= -mean + k * log_mean - libm::lgamma(k + 1.0) {
                return k;
            }
        }
        libm::floor(mean)
    }
    /// Binomial, of `n` trials of probability `p`: where fewer than 10 are expected by inversion,
    /// else by the transformed rejection BTRS (Hormann, "The generation of binomial random
    /// variates", 1993).
    pub fn binomial(&mut self, n: f64, p: f64) -> f64 {
        if p > 0.5 {
            return n - self.binomial(n, 1.0 - p);
        }
        if n == 0.0 || p == 0.0 {
            return 0.0;
        }
        if n * p < 10.0 {
            let (ratio, mut rest) = (p / (1.0 - p), self.uniform());
            let (mut mass, mut k) = (exp(n * Math::log1p::<Portable>(-p)), 0.0);
            while rest > mass && k < n.min(1000.0) {
                rest -= mass;
                mass *= ratio * (n - k) / (k + 1.0);
                k += 1.0;
            }
            return k;
        }
        let ratio = p / (1.0 - p);
        let spread = sqrt(n * p * (1.0 - p));
        let b = 1.15 + 2.53 * spread;
        let a = -0.0873 + 0.0248 * b + 0.01 * p;
        let c = n * p + 0.5;
        let height = 0.92 - 4.2 / b;
        let alpha = (2.83 + 5.1 / b) * spread;
        let m = libm::floor((n + 1.0) * p);
        for _ in 0..MOST {
            let u = self.uniform() - 0.5;
            let v = self.uniform();
            let us = 0.5 - u.abs();
            let k = libm::floor((2.0 * a / us + b) * u + c);
            if us >= 0.07 && v <= height {
                return k;
            }
            if !(0.0..=n).contains(&k) {
                continue;
            }
            let left = log(v * alpha / (a / (us * us) + b));
            let right = (m + 0.5) * log((m + 1.0) / (ratio * (n - m + 1.0)))
                + (n + 1.0) * log((n - m + 1.0) / (n - k + 1.0))
                + (k + 0.5) * log(ratio * (n - k + 1.0) / (k + 1.0))
                + stirling(m)
                + stirling(n - m)
                - stirling(k)
                - stirling(n - k);
            if left <= right {
                return k;
            }
        }
        m
    }
    /// Geometric: the number of trials of probability `p` up to the first success.
    pub fn geometric(&mut self, p: f64) -> f64 {
        let x = self.exponential();
        match p {
            1.0 => 1.0,
            p => 1.0 + libm::floor(x / -Math::log1p::<Portable>(-p)),
        }
    }
}

/// What Stirling's formula for `log(k!)` leaves out.
fn stirling(k: f64) -> f64 {
    const SMALL: [f64; 10] = [
        0.081_061_466_795_327_26,
        0.041_340_695_955_409_29,
        0.027_677_925_684_998_34,
        0.020_790_672_103_765_093,
        0.016_644_691_189_821_193,
        0.013_876_128_823_070_748,
        0.011_896_709_945_891_77,
        0.010_411_265_261_972_096,
        0.009_255_462_182_712_733,
        0.008_330_563_433_362_87,
    ];
    if let Some(x) = SMALL.get(k as usize) {
        return *x;
    }
    let next = k + 1.0;
    let square = next * next;
    (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / 1260.0 / square) / square) / next
}
