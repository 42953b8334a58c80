//! float32 bodies: the common functions in float32, the others in float64, rounded at the end.

mod arc;
mod erf;
mod exp;
mod log;
mod trig;

pub use arc::atan2;
pub use erf::erf;
pub use exp::{exp, exp2, sigmoid, tanh};
pub use log::log;
pub use trig::{cos, cos_near, is_far, sin, sin_near, tan, tan_near};

use super::double;
use crate::exec::isa::Isa;
use crate::kernel::math::{Math, Real};

const SIGN: u32 = 1 << 31;

/// Added and taken away again, rounds to an integer below 2^22, and leaves it in the sum's low bits.
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

macro_rules! in_double {
    ($($name:ident)*) => { $(
        #[inline(always)]
        pub fn $name<I: Isa>(x: f32) -> f32 {
            double::$name::<I>(x as f64) as f32
        }
    )* };
}
in_double! { expm1 sinh cosh log1p log2 log10 asinh acosh atanh atan asin acos erfc }

#[inline(always)]
pub fn pow<I: Isa>(x: f32, y: f32) -> f32 {
    let (x, y) = (x as f64, y as f64);
    let magnitude = double::exp::<I>(y * double::log::<I>(Real::abs::<I>(x)));
    double::with_sign::<I>(x, y, magnitude) as f32
}
/// Squares of float32 are exact in float64 and don't overflow.
#[inline(always)]
pub fn hypot<I: Isa>(x: f32, y: f32) -> f32 {
    let (a, b) = (x as f64, y as f64);
    let r = Math::sqrt::<I>(a * a + b * b) as f32;
    if (abs(x) == f32::INFINITY) | (abs(y) == f32::INFINITY) { f32::INFINITY } else { r }
}
#[inline(always)]
pub fn logaddexp<I: Isa>(x: f32, y: f32) -> f32 {
    double::logaddexp::<I>(x as f64, y as f64) as f32
}
