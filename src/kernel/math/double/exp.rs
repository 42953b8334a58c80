//! Exponentials: `exp(x) = 2^k exp(r)` with `x = k log(2) + r` and |r| at most half of log(2),
//! exp(r) by a polynomial.

use super::{ROUND, abs, pow2, signed};
use crate::simd::{Isa, fma64};

/// log(2) in two parts; the first has trailing zeros, so that its product with k is exact.
const LN2_HI: f64 = 6.931_471_803_691_238e-1;
const LN2_LO: f64 = 1.908_214_929_270_587_7e-10;

/// k and r.
#[inline(always)]
fn reduce<I: Isa>(x: f64) -> (i64, f64) {
    let t = fma64::<I>(x, core::f64::consts::LOG2_E, ROUND);
    let k = t - ROUND;
    let r = fma64::<I>(k, -LN2_HI, x);
    (integer(t), fma64::<I>(k, -LN2_LO, r))
}
/// The integer in the low bits of a value to which `ROUND` was added.
#[inline(always)]
fn integer(t: f64) -> i64 {
    (t.to_bits() as i64).wrapping_sub(ROUND.to_bits() as i64)
}
/// exp(r) - 1.
#[inline(always)]
fn expm1_reduced<I: Isa>(r: f64) -> f64 {
    let p = poly!(fma64 I r;
        2.090_884_018_490_921_5e-9, 2.510_549_090_698_669_5e-8, 2.755_729_323_745_292e-7, 2.755_725_474_054_541_5e-6,
        2.480_158_730_168_980_4e-5, 1.984_126_987_534_214_2e-4, 1.388_888_888_889_644_3e-3, 8.333_333_333_325_986e-3,
        4.166_666_666_666_664e-2, 1.666_666_666_666_667e-1, 0.5);
    fma64::<I>(p, r * r, r)
}
/// y 2^n, rounded once, for n in [-2044, 2046].
#[inline(always)]
fn scale(y: f64, n: i64) -> f64 {
    // Half of n by a shift of a non-negative number: below AVX-512, vectors have no other one of 64
    // bits.
    let half = (n.wrapping_add(4096) as u64 >> 1) as i64 - 2048;
    y * pow2(half) * pow2(n.wrapping_sub(half))
}

#[inline(always)]
pub fn exp<I: Isa>(x: f64) -> f64 {
    // Products that underflow are slow, so zeros don't come from them.
    let zero = x < -746.0;
    let x = if x > 710.0 { 710.0 } else { x };
    let (k, r) = reduce::<I>(if zero { 0.0 } else { x });
    let y = scale(expm1_reduced::<I>(r) + 1.0, k);
    if zero { 0.0 } else { y }
}
/// exp of x in [-708, 709]: the exponent is added, not multiplied.
#[inline(always)]
pub fn exp_fast<I: Isa>(x: f64) -> f64 {
    let (k, r) = reduce::<I>(x);
    f64::from_bits(
        (expm1_reduced::<I>(r) + 1.0)
            .to_bits()
            .wrapping_add((k as u64) << 52),
    )
}
/// exp of x <= 0, or 0 if that is not a normal number: k is then -1023, and its power of two 0.
#[inline(always)]
pub fn exp_negative<I: Isa>(x: f64) -> f64 {
    let (k, r) = reduce::<I>(if x < -709.0 { -709.0 } else { x });
    (expm1_reduced::<I>(r) + 1.0) * pow2(k)
}
/// exp(x + tail), where the tail is below a unit in the last place of x.
#[inline(always)]
pub fn exp_pair<I: Isa>(x: f64, tail: f64) -> f64 {
    let x = if x > 710.0 { 710.0 } else { x };
    let x = if x < -746.0 { -746.0 } else { x };
    let (k, r) = reduce::<I>(x);
    scale(expm1_reduced::<I>(r + tail) + 1.0, k)
}
#[inline(always)]
pub fn exp2<I: Isa>(x: f64) -> f64 {
    let x = if x > 1025.0 { 1025.0 } else { x };
    let x = if x < -1080.0 { -1080.0 } else { x };
    let t = x + ROUND;
    let r = x - (t - ROUND);
    let y = expm1_reduced::<I>(r * core::f64::consts::LN_2) + 1.0;
    scale(y, integer(t))
}
/// expm1(x) / 2, which stays finite a little further than expm1(x).
#[inline(always)]
fn expm1_half<I: Isa>(x: f64) -> f64 {
    let x = if x > 710.8 { 710.8 } else { x };
    let x = if x < -40.0 { -40.0 } else { x };
    let (k, r) = reduce::<I>(x);
    // A quarter of 2^k is finite too.
    let s = pow2(k.wrapping_sub(2));
    2.0 * fma64::<I>(s, expm1_reduced::<I>(r), s - 0.25)
}
#[inline(always)]
pub fn expm1<I: Isa>(x: f64) -> f64 {
    let y = 2.0 * expm1_half::<I>(x);
    if abs(x) < 1e-17 { x } else { y }
}
#[inline(always)]
pub fn sinh<I: Isa>(x: f64) -> f64 {
    let a = abs(x);
    let h = expm1_half::<I>(a);
    // Infinity divided by infinity would be NaN.
    let rest = if h > 1e17 { 0.5 } else { h / (2.0 * h + 1.0) };
    // Selected before the sign is set: for a select between `x` and a value with its sign, LLVM 22
    // emits a masked `vpternlog` with its operands in the wrong places.
    signed(if a < 1e-9 { a } else { h + rest }, x)
}
#[inline(always)]
pub fn cosh<I: Isa>(x: f64) -> f64 {
    let a = abs(x);
    let a = if a > 710.8 { 710.8 } else { a };
    let (k, r) = reduce::<I>(a);
    let s = pow2(k.wrapping_sub(2));
    let half = 2.0 * fma64::<I>(s, expm1_reduced::<I>(r), s);
    half + 0.25 / half
}
/// tanh(a) of a >= 0 as a sum. Near zero it is a and a correction (after Cephes), so it is at most a;
/// beyond, 1 and a quotient that steps nowhere back, since the exponential doesn't.
#[inline(always)]
fn tanh_parts<I: Isa>(a: f64) -> (f64, f64) {
    let s = a * a;
    let p = poly!(fma64 I s; -9.643_991_794_250_522e-1, -9.928_772_310_019_185e1, -1.614_687_684_417_084_5e3);
    let q = poly!(fma64 I s; 1.0, 1.128_116_784_916_329_3e2, 2.235_488_390_601_004_5e3, 4.844_063_053_251_255e3);
    let c = if a > 20.0 { 20.0 } else { a };
    // NaN is near
    let far = a >= 0.55;
    let (num, den) = if far {
        (-2.0, exp_fast::<I>(c + c) + 1.0)
    } else {
        (a * s * p, q)
    };
    (if far { 1.0 } else { a }, num / den)
}
#[inline(always)]
pub fn tanh<I: Isa>(x: f64) -> f64 {
    let (base, rest) = tanh_parts::<I>(abs(x));
    signed(base + rest, x)
}
/// `x - tanh(x)`, without cancellation near zero.
#[inline(always)]
pub fn tanhshrink<I: Isa>(x: f64) -> f64 {
    let (base, rest) = tanh_parts::<I>(abs(x));
    signed((abs(x) - base) - rest, x)
}
