//! Sine, cosine, tangent: the argument minus the nearest multiple of pi (of pi / 2 for the
//! tangent), then a polynomial.

use super::{ROUND, SIGN, abs};
use crate::simd::{Isa, fma64};

/// The fast paths hold below this: multiples of pi / 2 have 20 bits there.
const LIMIT: f64 = 524_288.0;

/// pi / 2 in three parts; the first two have 33 bits, so that their products with 20-bit multiples
/// are exact.
const HALF_PI: [f64; 3] = [
    1.570_796_326_734_125_6,
    6.077_100_506_303_966e-11,
    2.022_266_248_795_950_6e-21,
];

#[inline(always)]
pub fn needs_slow_trig(x: f64) -> bool {
    (abs(x) >= LIMIT) & (abs(x) < f64::INFINITY)
}
/// `x - k pi / 2` as a sum of two.
#[inline(always)]
fn reduce(x: f64, k: f64) -> (f64, f64) {
    let a = x - k * HALF_PI[0];
    let b = k * HALF_PI[1];
    let r = a - b;
    // The rounding error of the second subtraction, exactly.
    let v = r - a;
    let lost = (a - (r - v)) - (b + v);
    let tail = lost - k * HALF_PI[2];
    let sum = r + tail;
    (sum, (r - sum) + tail)
}
/// sin(x - half pi): the sine of x - (k + half) pi, negated for odd k, whose last bit is that of
/// `t`.
#[inline(always)]
fn sin_shifted<I: Isa>(x: f64, half: f64) -> f64 {
    let t = fma64::<I>(x, core::f64::consts::FRAC_1_PI, -half) + ROUND;
    let k = (t - ROUND) + half;
    let (r, tail) = reduce(x, k + k);
    let z = r * r;
    let p = poly!(fma64 I z;
        -8.005_800_095_735_347e-18, 2.810_466_279_607_860_4e-15, -7.647_139_028_430_664e-13, 1.605_904_347_760_398e-10,
        -2.505_210_838_237_201_4e-8, 2.755_731_922_397_115e-6, -1.984_126_984_126_980_6e-4, 8.333_333_333_333_333e-3,
        -1.666_666_666_666_666_7e-1);
    // The tail enters by the cosine, for which a line in z is enough.
    let small = tail * fma64::<I>(z, -0.405, 1.0);
    // near the extremes, the roundings may add up to a unit in the last place
    let y = (r + fma64::<I>(p * z, r, small)).clamp(-1.0, 1.0);
    f64::from_bits(y.to_bits() ^ (t.to_bits() << 63))
}
#[inline(always)]
pub fn sin_fast<I: Isa>(x: f64) -> f64 {
    let y = sin_shifted::<I>(x, 0.0);
    if x == 0.0 { x } else { y }
}
#[inline(always)]
pub fn cos_fast<I: Isa>(x: f64) -> f64 {
    f64::from_bits(sin_shifted::<I>(x, 0.5).to_bits() ^ SIGN)
}
#[inline(always)]
pub fn tan_fast<I: Isa>(x: f64) -> f64 {
    let t = fma64::<I>(x, core::f64::consts::FRAC_2_PI, ROUND);
    let (r, tail) = reduce(x, t - ROUND);
    let z = r * r;
    let p = poly!(fma64 I z;
        1.591_777_175_934_191_6e-10, -2.505_112_687_608_533_7e-8, 2.755_731_607_868_067e-6, -1.984_126_983_671_249_4e-4,
        8.333_333_333_330_918e-3, -1.666_666_666_666_666_6e-1);
    let sin = r + fma64::<I>(p * z, r, tail);
    let q = poly!(fma64 I z;
        -1.138_240_875_415_325_5e-11, 2.087_614_315_990_944e-9, -2.755_731_725_679_604e-7, 2.480_158_729_873_686e-5,
        -1.388_888_888_888_737_8e-3, 4.166_666_666_666_665e-2);
    let half = 0.5 * z;
    let w = 1.0 - half;
    let cos = w + (((1.0 - w) - half) + fma64::<I>(z * z, q, -(r * tail)));
    let odd = t.to_bits() & 1 != 0;
    let y = (if odd { -cos } else { sin }) / (if odd { sin } else { cos });
    if x == 0.0 { x } else { y }
}

#[inline(always)]
pub fn sin<I: Isa>(x: f64) -> f64 {
    if needs_slow_trig(x) {
        libm::sin(x)
    } else {
        sin_fast::<I>(x)
    }
}
#[inline(always)]
pub fn cos<I: Isa>(x: f64) -> f64 {
    if needs_slow_trig(x) {
        libm::cos(x)
    } else {
        cos_fast::<I>(x)
    }
}
#[inline(always)]
pub fn tan<I: Isa>(x: f64) -> f64 {
    if needs_slow_trig(x) {
        libm::tan(x)
    } else {
        tan_fast::<I>(x)
    }
}
