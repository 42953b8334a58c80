//! Sine and cosine: the argument less the nearest multiple of pi, then a polynomial.

use super::{ROUND, SIGN, abs, double};
use crate::exec::isa::{Isa, fma32};

/// The branch-free bodies hold below.
const FAR: f32 = 32_768.0;

#[inline(always)]
pub fn is_far(x: f32) -> bool {
    (abs(x) >= FAR) & (abs(x) < f32::INFINITY)
}
/// sin(x - (k + half) pi) up to a sign, which goes into the last bit of `t`.
#[inline(always)]
fn sin_shifted<I: Isa>(x: f32, half: f32) -> f32 {
    let t = fma32::<I>(x, core::f32::consts::FRAC_1_PI, -half) + ROUND;
    let k = (t - ROUND) + half;
    let (r, tail) = if I::FMA {
        // pi in three parts, two of them subtracted without error, the third kept for the small term.
        let r = fma32::<I>(k, -core::f32::consts::PI, x);
        (fma32::<I>(k, 8.742_278e-8, r), k * 3.430_25e-15)
    } else {
        let r = x as f64 - k as f64 * core::f64::consts::PI;
        (r as f32, (r - (r as f32) as f64) as f32)
    };
    let z = r * r;
    let p = poly!(fma32 I z; 2.608_316e-6, -1.981_069e-4, 8.333_079e-3, -1.666_666e-1);
    let y = r + fma32::<I>(p * z, r, tail);
    f32::from_bits(y.to_bits() ^ (t.to_bits() << 31))
}
#[inline(always)]
pub fn sin_near<I: Isa>(x: f32) -> f32 {
    let y = sin_shifted::<I>(x, 0.0);
    if x == 0.0 { x } else { y }
}
#[inline(always)]
pub fn cos_near<I: Isa>(x: f32) -> f32 {
    f32::from_bits(sin_shifted::<I>(x, 0.5).to_bits() ^ SIGN)
}
#[inline(always)]
pub fn tan_near<I: Isa>(x: f32) -> f32 {
    double::tan_near::<I>(x as f64) as f32
}

#[inline(always)]
pub fn sin<I: Isa>(x: f32) -> f32 {
    if is_far(x) { libm::sin(x as f64) as f32 } else { sin_near::<I>(x) }
}
#[inline(always)]
pub fn cos<I: Isa>(x: f32) -> f32 {
    if is_far(x) { libm::cos(x as f64) as f32 } else { cos_near::<I>(x) }
}
#[inline(always)]
pub fn tan<I: Isa>(x: f32) -> f32 {
    if is_far(x) { libm::tan(x as f64) as f32 } else { tan_near::<I>(x) }
}
