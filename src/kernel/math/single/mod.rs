//! float32 bodies: the common functions in float32, the others in float64, rounded at the end.

mod arc;
mod erf;
mod exp;
mod log;
mod trig;
mod wide;

pub use arc::{acos, asin, atan, atan2};
pub use erf::{
    erf, gelu, gelu_fast, gelu_slope, gelu_slope_fast, gelu_tanh, gelu_tanh_fast, needs_slow_gelu,
    needs_slow_gelu_tanh,
};
pub use exp::{exp, exp_fast, exp_negative, exp2, expm1_negative, tanh, tanhshrink};
pub use log::{log, log_fast, log_unit, log1p, log1p_unit};
pub use trig::{cos, cos_fast, needs_slow_trig, sin, sin_fast, tan, tan_fast};
pub use wide::{
    acosh, asinh, atanh, cosh, erfc, expm1, half_power, hypot, log2, log10, logaddexp,
    needs_slow_half_power, pow, pow_fast, sinh,
};

use super::double;

const SIGN: u32 = 1 << 31;

/// Added and subtracted again, rounds to an integer below 2^22, and leaves it in the low bits of
/// the sum.
const ROUND: f32 = 12_582_912.0;

#[inline(always)]
fn abs(x: f32) -> f32 {
    f32::from_bits(x.to_bits() & !SIGN)
}
/// `x` with the sign of `s`.
#[inline(always)]
fn signed(x: f32, s: f32) -> f32 {
    f32::from_bits((x.to_bits() & !SIGN) | (s.to_bits() & SIGN))
}
