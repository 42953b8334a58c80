//! Sine and cosine: the argument minus the nearest multiple of pi, then a polynomial.

use super::{ROUND, SIGN, abs};
use crate::simd::{Isa, fma32};

/// The fast paths hold below this.
const LIMIT: f32 = 32_768.0;

#[inline(always)]
pub fn needs_slow_trig(x: f32) -> bool {
    (abs(x) >= LIMIT) & (abs(x) < f32::INFINITY)
}
/// `x - k pi / 2` as a sum of two, for k below 2^16.
#[inline(always)]
fn reduce<I: Isa>(x: f32, k: f32) -> (f32, f32) {
    if I::FMA {
        // pi / 2 in three parts: two are subtracted without error, the third is kept for the small
        // term.
        let r = fma32::<I>(k, -core::f32::consts::FRAC_PI_2, x);
        (fma32::<I>(k, 4.371_139e-8, r), k * 1.715_125e-15)
    } else {
        let r = x as f64 - k as f64 * core::f64::consts::FRAC_PI_2;
        (r as f32, (r - (r as f32) as f64) as f32)
    }
}
/// sin(x - half pi): the sine of x - (k + half) pi, negated for odd k, whose last bit is that of
/// `t`.
#[inline(always)]
fn sin_shifted<I: Isa>(x: f32, half: f32) -> f32 {
    let t = fma32::<I>(x, core::f32::consts::FRAC_1_PI, -half) + ROUND;
    let k = (t - ROUND) + half;
    let (r, tail) = reduce::<I>(x, k + k);
    let z = r * r;
    let p = poly!(fma32 I z; 2.608_316e-6, -1.981_069e-4, 8.333_079e-3, -1.666_666e-1);
    let y = r + fma32::<I>(p * z, r, tail);
    // near the extremes, the roundings of separate products add up to a unit in the last place
    let y = if I::FMA { y } else { y.clamp(-1.0, 1.0) };
    f32::from_bits(y.to_bits() ^ (t.to_bits() << 31))
}
#[inline(always)]
pub fn sin_fast<I: Isa>(x: f32) -> f32 {
    let y = sin_shifted::<I>(x, 0.0);
    if x == 0.0 { x } else { y }
}
#[inline(always)]
pub fn cos_fast<I: Isa>(x: f32) -> f32 {
    f32::from_bits(sin_shifted::<I>(x, 0.5).to_bits() ^ SIGN)
}
#[inline(always)]
pub fn tan_fast<I: Isa>(x: f32) -> f32 {
    let t = fma32::<I>(x, core::f32::consts::FRAC_2_PI, ROUND);
    let (r, tail) = reduce::<I>(x, t - ROUND);
    let z = r * r;
    let p = poly!(fma32 I z;
        4.381_106e-3, 8.014_134e-5, 1.084_287_5e-2, 2.127_961_8e-2, 5.406_037_8e-2, 1.333_266e-1, 3.333_333_5e-1);
    let y = r + fma32::<I>(p * z, r, tail);
    let y = if t.to_bits() & 1 != 0 { -1.0 / y } else { y };
    if x == 0.0 { x } else { y }
}

#[inline(always)]
pub fn sin<I: Isa>(x: f32) -> f32 {
    if needs_slow_trig(x) {
        libm::sin(x as f64) as f32
    } else {
        sin_fast::<I>(x)
    }
}
#[inline(always)]
pub fn cos<I: Isa>(x: f32) -> f32 {
    if needs_slow_trig(x) {
        libm::cos(x as f64) as f32
    } else {
        cos_fast::<I>(x)
    }
}
#[inline(always)]
pub fn tan<I: Isa>(x: f32) -> f32 {
    if needs_slow_trig(x) {
        libm::tan(x as f64) as f32
    } else {
        tan_fast::<I>(x)
    }
}
