//! Exponentials: `exp(x) = 2^k exp(r)` with `x = k log(2) + r` and |r| at most half of log(2),
//! exp(r) by a polynomial.

use super::{ROUND, abs, signed};
use crate::simd::{Isa, fma32};

/// log(2) in two parts; the first has trailing zeros, so that its product with k is exact.
const LN2_HI: f32 = 0.693_145_75;
const LN2_LO: f32 = 1.428_606_8e-6;

/// exp(r), and k in the low bits.
#[inline(always)]
fn parts<I: Isa>(x: f32) -> (f32, u32) {
    let t = fma32::<I>(x, core::f32::consts::LOG2_E, ROUND);
    let k = t - ROUND;
    let r = fma32::<I>(k, -LN2_HI, x);
    let r = fma32::<I>(k, -LN2_LO, r);
    let p = poly!(fma32 I r; 1.987_569_1e-4, 1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_6e-1, 0.5);
    (fma32::<I>(p, r * r, r) + 1.0, t.to_bits())
}
/// y 2^n, rounded once, with n in the low bits of `t`, in [-252, 254].
#[inline(always)]
fn scale(y: f32, t: u32) -> f32 {
    let n = (t as i32).wrapping_sub(ROUND.to_bits() as i32);
    let half = n >> 1;
    y * pow2(half) * pow2(n.wrapping_sub(half))
}
#[inline(always)]
fn pow2(n: i32) -> f32 {
    f32::from_bits((n.wrapping_add(127) as u32) << 23)
}

#[inline(always)]
pub fn exp<I: Isa>(x: f32) -> f32 {
    // Products that underflow are slow, so zeros don't come from them.
    let zero = x < -104.0;
    let x = if x > 89.0 { 89.0 } else { x };
    let (y, t) = parts::<I>(if zero { 0.0 } else { x });
    let y = scale(y, t);
    if zero { 0.0 } else { y }
}
/// exp of x in [-87, 88]: the exponent is added, not multiplied.
#[inline(always)]
pub fn exp_fast<I: Isa>(x: f32) -> f32 {
    let (y, t) = parts::<I>(x);
    f32::from_bits(y.to_bits().wrapping_add(t << 23))
}
/// exp of x <= 0, or 0 if that is not a normal number: k is then -127, and its power of two 0.
#[inline(always)]
pub fn exp_negative<I: Isa>(x: f32) -> f32 {
    let (y, t) = parts::<I>(if x < -88.0 { -88.0 } else { x });
    // multiplied, since adding an exponent to a NaN may make a number of it
    y * f32::from_bits((t << 23).wrapping_add(127 << 23))
}
#[inline(always)]
pub fn exp2<I: Isa>(x: f32) -> f32 {
    let x = if x > 129.0 { 129.0 } else { x };
    let x = if x < -151.0 { -151.0 } else { x };
    let t = x + ROUND;
    let r = x - (t - ROUND);
    let p = poly!(fma32 I r; 1.545_316_3e-4, 1.339_086_3e-3, 9.618_083e-3, 5.550_357e-2, 2.402_265e-1, 6.931_472e-1);
    scale(fma32::<I>(p, r, 1.0), t.to_bits())
}
/// expm1(2 |x|) / (expm1(2 |x|) + 2): no cancellation near zero, and one formula for all arguments.
#[inline(always)]
pub fn tanh<I: Isa>(x: f32) -> f32 {
    let a = abs(x);
    let a = if a > 10.0 { 10.0 } else { a };
    // r in [-0.18, 0.52] rather than around zero: 2^k exp(r) - 1 never cancels.
    let t = fma32::<I>(a, 2.0 * core::f32::consts::LOG2_E, -0.25) + ROUND;
    let k = t - ROUND;
    let r = fma32::<I>(k, -LN2_HI, a + a);
    let r = fma32::<I>(k, -LN2_LO, r);
    let p = poly!(fma32 I r; 2.310_616e-4, 1.377_52e-3, 8.333_255e-3, 4.166_717_4e-2, 1.666_666_4e-1, 0.5);
    let p = fma32::<I>(p, r * r, r);
    let s = f32::from_bits(t.to_bits().wrapping_add(127) << 23);
    let e = fma32::<I>(s, p, s - 1.0);
    signed(e / (e + 2.0), x)
}
/// expm1 of x <= 0: as in `tanh`, r in [-0.52, 0.18] keeps 2^k exp(r) - 1 from cancelling.
#[inline(always)]
pub fn expm1_negative<I: Isa>(x: f32) -> f32 {
    let x = if x < -30.0 { -30.0 } else { x };
    let t = fma32::<I>(x, core::f32::consts::LOG2_E, 0.25) + ROUND;
    let k = t - ROUND;
    let r = fma32::<I>(k, -LN2_HI, x);
    let r = fma32::<I>(k, -LN2_LO, r);
    let p = poly!(fma32 I r; 1.716_141_4e-4, 1.380_427e-3, 8.333_58e-3, 4.166_707e-2, 1.666_666_9e-1, 0.5);
    let p = fma32::<I>(p, r * r, r);
    let s = f32::from_bits(t.to_bits().wrapping_add(127) << 23);
    fma32::<I>(s, p, s - 1.0)
}
#[inline(always)]
pub fn sigmoid<I: Isa>(x: f32) -> f32 {
    sigmoid_of(x, exp::<I>(-abs(x)))
}
#[inline(always)]
pub fn sigmoid_fast<I: Isa>(x: f32) -> f32 {
    sigmoid_of(x, exp_fast::<I>(-abs(x)))
}
/// From the exponential of -|x|.
#[inline(always)]
fn sigmoid_of(x: f32, e: f32) -> f32 {
    (if x < 0.0 { e } else { 1.0 }) / (1.0 + e)
}
