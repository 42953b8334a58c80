//! Sums of exponentials relative to the largest exponent, so that none overflows.

use super::moments::Sample;
use crate::kernel::math::{Math, Real};
use crate::simd::rolled;

/// The largest element, and the sum of `exp(x - shift)`, where `shift` is that element, or 0 if it
/// is not finite.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Exponentials {
    /// The largest element; NaN if there is one.
    pub max: f64,
    /// The sum.
    pub sum: f64,
}

// SAFETY: two floats, for which zero bytes are zeros.
unsafe impl bytemuck::Zeroable for Exponentials {}
// SAFETY: two floats without padding between them (`repr(C)`), for which any bits are valid.
unsafe impl bytemuck::Pod for Exponentials {}

impl Exponentials {
    /// The value for no elements.
    pub const NONE: Exponentials = Exponentials {
        max: f64::NEG_INFINITY,
        sum: 0.0,
    };
    /// The logarithm of the sum of exponentials (logsumexp).
    pub fn log(&self) -> f64 {
        shift(self.max) + libm::log(self.sum)
    }
}

#[inline(always)]
#[allow(clippy::eq_op)]
fn shift<W: Real>(max: W) -> W {
    let difference = max - max;
    // infinity and NaN give NaN here
    if difference == W::ZERO { max } else { W::ZERO }
}
/// The sum of exponentials whose exponents were at most 0, unless the largest was infinity: then it is
/// infinity, too, and the exponents of the others were not.
#[inline(always)]
fn settled<W: Real>(max: W, sum: W) -> W {
    if max == -W::NEG_INFINITY { max } else { sum }
}
#[inline(always)]
#[allow(clippy::eq_op)]
fn larger<W: Real>(a: W, b: W) -> W {
    if (b > a) | (b != b) { b } else { a }
}

kernel! {
    /// The maximum and sum of each of `acc.len()` consecutive runs of `n` elements.
    pub fn exponentials<'a, T: Sample>(x: &'a [T], n: usize, acc: &'a mut [Exponentials]) -> () { |I|
        for (j, acc) in acc.iter_mut().enumerate() {
            let x = &x[j * n..(j + 1) * n];
            let zero = <T::Wide as Real>::ZERO;
            let max = lanes!(64, x, <T::Wide as Real>::from_f64(f64::NEG_INFINITY), |v| v.wide(), |a, b| larger(a, b));
            let shift = shift(max);
            let sum = lanes!(64, x, zero, |v| (v.wide() - shift).exp_negative::<I>(), |a, b| a + b);
            *acc = Exponentials { max: max.to_f64(), sum: settled(max, sum).to_f64() };
        }
    }
}

kernel! {
    /// The same for each column of `rows` rows, `stride` apart.
    pub fn exponentials_of_columns<'a, T: Sample>(x: &'a [T], stride: usize, rows: usize, acc: &'a mut [Exponentials]) -> () { |I|
        /// Columns per strip: their maxima and sums stay in registers.
        const STRIP: usize = 32;
        /// Rows added in sequence: few, since each addition rounds.
        const ROWS: usize = 64;
        let (zero, least) = (<T::Wide as Real>::ZERO, <T::Wide as Real>::from_f64(f64::NEG_INFINITY));
        for (k, acc) in acc.chunks_mut(STRIP).enumerate() {
            let w = acc.len();
            let (mut max, mut sum) = ([least; STRIP], [zero; STRIP]);
            for r in 0..rows {
                for (m, x) in max.iter_mut().zip(&x[r * stride + k * STRIP..][..w]) {
                    rolled::<I, T>();
                    *m = larger(*m, x.wide());
                }
            }
            let shifts = max.map(shift);
            for first in (0..rows).step_by(ROWS) {
                let mut part = [zero; STRIP];
                for r in first..rows.min(first + ROWS) {
                    for ((s, shift), x) in part.iter_mut().zip(&shifts).zip(&x[r * stride + k * STRIP..][..w]) {
                        rolled::<I, T>();
                        *s = *s + (x.wide() - *shift).exp_negative::<I>();
                    }
                }
                for (sum, part) in sum.iter_mut().zip(part) {
                    *sum = *sum + part;
                }
            }
            for ((acc, max), sum) in acc.iter_mut().zip(max).zip(sum) {
                *acc = Exponentials { max: max.to_f64(), sum: settled(max, sum).to_f64() };
            }
        }
    }
}

kernel! {
    /// Joins `b[i]` into `a[i]`.
    pub fn join_exponentials<'a>(a: &'a mut [Exponentials], b: &'a [Exponentials]) -> () { |I|
        for (a, b) in a.iter_mut().zip(b) {
            // a sum of 0 means nothing but minus infinities, the neutral element
            if a.sum == 0.0 {
                *a = *b;
            } else if b.sum != 0.0 {
                let max = larger(a.max, b.max);
                let (x, y) = (Math::exp::<I>(shift(a.max) - shift(max)), Math::exp::<I>(shift(b.max) - shift(max)));
                *a = Exponentials { max, sum: a.sum * x + b.sum * y };
            }
        }
    }
}
