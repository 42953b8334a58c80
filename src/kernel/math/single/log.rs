//! Logarithm: `log(x) = e log(2) + log(1 + f)`, 1 + f between sqrt(1/2) and sqrt(2), by a
//! polynomial in f.

use crate::simd::{Isa, fma32};

#[inline(always)]
pub fn log<I: Isa>(x: f32) -> f32 {
    let subnormal = x < f32::MIN_POSITIVE;
    let scaled = if subnormal { x * 8_388_608.0 } else { x };
    let r = log_scaled::<I>(scaled, if subnormal { 23.0 } else { 0.0 }, 0.0);
    let r = if x == f32::INFINITY { x } else { r };
    let r = if x == 0.0 { f32::NEG_INFINITY } else { r };
    if x >= 0.0 { r } else { f32::NAN }
}
#[inline(always)]
pub fn log_fast<I: Isa>(x: f32) -> f32 {
    log_scaled::<I>(x, 0.0, 0.0)
}
/// Scaled, so that it is normal, unless it is 0.
#[inline(always)]
pub fn log_unit<I: Isa>(x: f32) -> f32 {
    log_scaled::<I>(x * 8_388_608.0, 23.0, 0.0)
}
/// The logarithm of the rounded sum, and what the rounding took from it: within 2 ulp.
#[inline(always)]
pub fn log1p<I: Isa>(x: f32) -> f32 {
    let u = 1.0 + x;
    let v = u - x;
    let lost = (1.0 - v) + (x - (u - v));
    let y = log_scaled::<I>(u, 0.0, lost / u);
    let y = if u < f32::INFINITY { y } else { x };
    let low = if x == -1.0 {
        f32::NEG_INFINITY
    } else {
        f32::NAN
    };
    let y = if x > -1.0 { y } else { low };
    if super::abs(x) < 1e-8 { x } else { y }
}
/// log(1 + x) for x in [0, 1], by a polynomial relative to x: within 2.5 ulp, without a division.
#[inline(always)]
pub fn log1p_unit<I: Isa>(x: f32) -> f32 {
    let p = poly!(fma32 I x;
        -3.243_981e-3, 1.985_126_2e-2, -5.695_916e-2, 1.060_361_7e-1, -1.530_557e-1, 1.967_593_1e-1, -2.495_413_3e-1,
        3.332_996_4e-1, -4.999_990_2e-1, 1.0);
    p * x
}
/// log(x 2^-down) for a positive finite normal x, plus a small rest; for 0 that of 2^-127.
#[inline(always)]
fn log_scaled<I: Isa>(x: f32, down: f32, rest: f32) -> f32 {
    let b = x.to_bits() as i32;
    // The exponent changes at sqrt(1/2).
    let d = b.wrapping_sub(0x3f35_04f3);
    let e = (d >> 23) as f32 - down;
    let f = f32::from_bits(b.wrapping_sub(d & (-1 << 23)) as u32) - 1.0;
    let z = f * f;
    let p = poly!(fma32 I f;
        7.037_683_6e-2, -1.151_461e-1, 1.167_699_9e-1, -1.242_014_1e-1, 1.424_932_3e-1, -1.666_805_8e-1, 2.000_071_5e-1,
        -2.499_999_4e-1, 3.333_333e-1);
    // log(2) in two parts; the product with the first is exact.
    let y = fma32::<I>(f * z, p, e * -2.121_944_4e-4);
    let y = fma32::<I>(-0.5, z, y) + rest;
    fma32::<I>(e, 0.693_359_4, f + y)
}
