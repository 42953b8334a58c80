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
    (exp_reduced::<I>(r), t.to_bits())
}
/// exp(r). The polynomial is small beside r, so that its rounding does not make the sum step back.
#[inline(always)]
fn exp_reduced<I: Isa>(r: f32) -> f32 {
    let p = poly!(fma32 I r; 1.987_569_1e-4, 1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_6e-1, 0.5);
    fma32::<I>(p, r * r, r) + 1.0
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
/// exp of x in [-130, 0], times 2^64: a normal number, whose product with what else belongs to a
/// result is rounded once when 2^-64 is taken off it.
#[inline(always)]
pub fn exp_raised<I: Isa>(x: f32) -> f32 {
    let (y, t) = parts::<I>(x);
    y * f32::from_bits((t << 23).wrapping_add((127 + 64) << 23))
}
/// 2^-64, which takes off what [`exp_raised`] put on.
pub const LOWER: f32 = 1.0 / (1u128 << 64) as f32;
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
    scale(exp_reduced::<I>(r * core::f32::consts::LN_2), t.to_bits())
}
/// tanh(a) of a >= 0 as a sum. Near zero it is a and a correction by a polynomial, so it is at most
/// a; beyond, 1 and a quotient that steps nowhere back, since the exponential doesn't.
#[inline(always)]
fn tanh_parts<I: Isa>(a: f32) -> (f32, f32) {
    let s = a * a;
    let p = poly!(fma32 I s; 1.643_760_1e-2, -5.267_182_7e-2, 1.332_072_5e-1, -3.333_294_7e-1);
    let near = a * s * p;
    let c = if a > 10.0 { 10.0 } else { a };
    let far = -2.0 / (exp_fast::<I>(c + c) + 1.0);
    // NaN is near
    if a >= 0.55 { (1.0, far) } else { (a, near) }
}
#[inline(always)]
pub fn tanh<I: Isa>(x: f32) -> f32 {
    let (base, rest) = tanh_parts::<I>(abs(x));
    signed(base + rest, x)
}
/// `x - tanh(x)`, without cancellation near zero.
#[inline(always)]
pub fn tanhshrink<I: Isa>(x: f32) -> f32 {
    let (base, rest) = tanh_parts::<I>(abs(x));
    signed((abs(x) - base) - rest, x)
}
/// expm1 of x <= 0: r in [-0.52, 0.18] rather than around zero keeps 2^k exp(r) - 1 from cancelling.
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
