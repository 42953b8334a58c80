//! The angle of a point, by a polynomial in the quotient of the smaller coordinate and the larger;
//! the inverse functions are such angles.

use super::{SIGN, abs, signed};
use crate::kernel::math::Math;
use crate::simd::{Isa, fma32};
use core::f32::consts::{FRAC_PI_2, PI};

#[inline(always)]
pub fn atan2<I: Isa>(y: f32, x: f32) -> f32 {
    let (ay, ax) = (abs(y), abs(x));
    let steep = ay > ax;
    let (larger, smaller) = if steep { (ay, ax) } else { (ax, ay) };
    let q = smaller / larger;
    let q = if larger == 0.0 { 0.0 } else { q };
    let q = if smaller == f32::INFINITY { 1.0 } else { q };
    let s = q * q;
    let p = poly!(fma32 I s;
        0.002_823_639, -0.015_956_903, 0.042_504_99, -0.074_890_09, 0.106_347_93, -0.142_027_36, 0.199_926_96, -0.333_331_02);
    let t = (p * s) * q;
    // The result is base +- (q + t), where base is a multiple of pi / 2 in two parts.
    let negative = x.is_sign_negative();
    let flat = if negative {
        (PI, -8.742_278e-8)
    } else {
        (0.0, 0.0)
    };
    let (high, low) = if steep {
        (FRAC_PI_2, -4.371_139e-8)
    } else {
        flat
    };
    let minus = if steep != negative { SIGN } else { 0 };
    let (q, t) = (
        f32::from_bits(q.to_bits() ^ minus),
        f32::from_bits(t.to_bits() ^ minus),
    );
    let sum = high + q;
    let lost = (high - sum) + q;
    let r = signed(sum + (t + (low + lost)), y);
    if x.is_nan() | y.is_nan() { f32::NAN } else { r }
}
#[inline(always)]
pub fn atan<I: Isa>(x: f32) -> f32 {
    atan2::<I>(x, 1.0)
}
/// The other leg of a right triangle with hypotenuse 1; NaN if x is longer than that.
#[inline(always)]
fn side<I: Isa>(x: f32) -> f32 {
    Math::sqrt::<I>((1.0 - x) * (1.0 + x))
}
#[inline(always)]
pub fn asin<I: Isa>(x: f32) -> f32 {
    atan2::<I>(x, side::<I>(x))
}
#[inline(always)]
pub fn acos<I: Isa>(x: f32) -> f32 {
    atan2::<I>(side::<I>(x), x)
}
