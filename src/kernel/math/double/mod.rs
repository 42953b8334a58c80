//! float64 bodies.

mod arc;
mod erf;
mod exp;
mod log;
mod pow;
mod trig;

pub use arc::{acos, asin, atan, atan2};
pub use erf::{
    erf, erfc, gelu, gelu as gelu_fast, gelu_slope, gelu_slope as gelu_slope_fast, gelu_tanh,
    gelu_tanh_fast, needs_slow_gelu, needs_slow_gelu_tanh,
};
pub use exp::{
    cosh, exp, exp_fast, exp_negative, exp2, expm1, expm1 as expm1_negative, sinh, tanh, tanhshrink,
};
pub use log::{
    acosh, asinh, atanh, log, log_fast, log_unit, log1p, log1p as log1p_unit, log2, log10,
    logaddexp, split_normal,
};
pub use pow::{half_power, hypot, needs_slow_half_power, pow, pow_fast};
#[cfg(feature = "complex")]
pub use pow::{product_portable, sum};
pub use trig::{cos, cos_fast, needs_slow_trig, sin, sin_fast, tan, tan_fast};

const SIGN: u64 = 1 << 63;

/// Added and subtracted again, rounds to an integer below 2^51, and leaves it in the low bits of
/// the sum.
pub const ROUND: f64 = 6_755_399_441_055_744.0;

#[inline(always)]
pub fn abs(x: f64) -> f64 {
    f64::from_bits(x.to_bits() & !SIGN)
}
/// `x` with the sign of `s`.
#[inline(always)]
fn signed(x: f64, s: f64) -> f64 {
    f64::from_bits((x.to_bits() & !SIGN) | (s.to_bits() & SIGN))
}
/// 2^n for n in [-1022, 1023].
#[inline(always)]
fn pow2(n: i64) -> f64 {
    f64::from_bits((n.wrapping_add(1023) as u64) << 52)
}
