//! Logarithms: `log(x) = e log(2) + log(1 + f)`, 1 + f between sqrt(1/2) and sqrt(2), by a
//! polynomial in f / (2 + f).

use super::{abs, signed};
use crate::kernel::math::Math;
use crate::simd::{Isa, fma64};

pub const LN2_HI: f64 = 6.931_471_803_691_238e-1;
pub const LN2_LO: f64 = 1.908_214_929_270_587_7e-10;
const FRACTION: u64 = (1 << 52) - 1;
/// sqrt(1/2).
const LOWEST: u64 = 0x3fe6_a09e_667f_3bcd;

/// e and f of a positive finite x; garbage for other x.
#[inline(always)]
pub fn split(x: f64) -> (f64, f64) {
    let subnormal = x < f64::MIN_POSITIVE;
    let (e, f) = split_normal(if subnormal {
        x * 18_014_398_509_481_984.0
    } else {
        x
    });
    (if subnormal { e - 54.0 } else { e }, f)
}
/// The same for a normal number.
#[inline(always)]
pub fn split_normal(x: f64) -> (f64, f64) {
    // Offset so that the exponent changes at sqrt(1/2).
    let b = x.to_bits().wrapping_add(0x3ff0_0000_0000_0000 - LOWEST);
    let f = f64::from_bits((b & FRACTION).wrapping_add(LOWEST)) - 1.0;
    // An integer below 2^52 is converted by writing it into the fraction of 2^52.
    (
        f64::from_bits(0x4330_0000_0000_0000 | (b >> 52)) - (4_503_599_627_370_496.0 + 1023.0),
        f,
    )
}
/// log(1 + f) is `f - f^2 / 2 + s (f^2 / 2 + r)`. Returns f^2 / 2 and the last term.
#[inline(always)]
fn terms<I: Isa>(f: f64) -> (f64, f64) {
    let s = f / (2.0 + f);
    let z = s * s;
    // In two halves: a single chain would be bound by its latency.
    let w = z * z;
    let odd = poly!(fma64 I w; 1.479_819_860_511_658_6e-1, 1.818_357_216_161_805e-1, 2.857_142_874_366_239e-1, 6.666_666_666_666_735e-1);
    let even = poly!(fma64 I w; 1.531_383_769_920_937_3e-1, 2.222_219_843_214_978_4e-1, 3.999_999_999_940_942e-1);
    let r = fma64::<I>(w, even, z * odd);
    let half = 0.5 * f * f;
    (half, s * (half + r))
}
/// The values of logarithms at the ends of their domain and outside it.
#[inline(always)]
fn ends(x: f64, y: f64) -> f64 {
    let y = if x == f64::INFINITY { x } else { y };
    let y = if x == 0.0 { f64::NEG_INFINITY } else { y };
    if x >= 0.0 { y } else { f64::NAN }
}

#[inline(always)]
pub fn log<I: Isa>(x: f64) -> f64 {
    let (e, f) = split(x);
    ends(x, sum::<I>(e, f, 0.0))
}
#[inline(always)]
pub fn log_fast<I: Isa>(x: f64) -> f64 {
    let (e, f) = split_normal(x);
    sum::<I>(e, f, 0.0)
}
/// Scaled, so that it is normal, unless it is 0.
#[inline(always)]
pub fn log_unit<I: Isa>(x: f64) -> f64 {
    let (e, f) = split_normal(x * 18_014_398_509_481_984.0);
    sum::<I>(e - 54.0, f, 0.0)
}
/// `e log(2) + log(1 + f) + rest`.
#[inline(always)]
fn sum<I: Isa>(e: f64, f: f64, rest: f64) -> f64 {
    let (half, t) = terms::<I>(f);
    let low = fma64::<I>(e, LN2_LO, t) + rest;
    fma64::<I>(e, LN2_HI, f - (half - low))
}
#[inline(always)]
pub fn log1p<I: Isa>(x: f64) -> f64 {
    let u = 1.0 + x;
    // The rounding error of the sum, exactly.
    let v = u - x;
    let lost = (1.0 - v) + (x - (u - v));
    let (e, f) = split(u);
    let y = ends(u, sum::<I>(e, f, lost / u));
    if x == 0.0 { x } else { y }
}
/// log(1 + f) as a sum of two, the first with 32 trailing zero bits.
#[inline(always)]
fn log_pair<I: Isa>(f: f64) -> (f64, f64) {
    let (half, t) = terms::<I>(f);
    let high = f64::from_bits((f - half).to_bits() & !0xffff_ffff);
    (high, (f - high) - half + t)
}
#[inline(always)]
pub fn log2<I: Isa>(x: f64) -> f64 {
    const HI: f64 = 1.442_695_040_721_446_3;
    const LO: f64 = 1.675_171_316_488_651_2e-10;
    let (e, f) = split(x);
    let (high, low) = log_pair::<I>(f);
    let main = high * HI;
    let rest = (low + high) * LO + low * HI;
    let sum = e + main;
    ends(x, (rest + ((e - sum) + main)) + sum)
}
#[inline(always)]
pub fn log10<I: Isa>(x: f64) -> f64 {
    const HI: f64 = 4.342_944_818_781_689e-1;
    const LO: f64 = 2.508_294_671_164_527_5e-11;
    const LOG10_2_HI: f64 = 3.010_299_956_636_118e-1;
    const LOG10_2_LO: f64 = 3.694_239_077_158_931e-13;
    let (e, f) = split(x);
    let (high, low) = log_pair::<I>(f);
    let main = high * HI;
    let rest = e * LOG10_2_LO + (low + high) * LO + low * HI;
    let base = e * LOG10_2_HI;
    let sum = base + main;
    ends(x, (rest + ((base - sum) + main)) + sum)
}
/// From here on asinh(x) and acosh(x) are log(2 x), and squares may overflow.
const LARGE: f64 = 268_435_456.0;

#[inline(always)]
pub fn asinh<I: Isa>(x: f64) -> f64 {
    let a = abs(x);
    let large = a > LARGE;
    let near = a + a * a / (1.0 + Math::sqrt::<I>(fma64::<I>(a, a, 1.0)));
    let y = log1p::<I>(if large { a - 1.0 } else { near });
    signed(
        if large {
            y + core::f64::consts::LN_2
        } else {
            y
        },
        x,
    )
}
#[inline(always)]
pub fn acosh<I: Isa>(x: f64) -> f64 {
    let large = x > LARGE;
    let t = x - 1.0;
    let near = t + Math::sqrt::<I>(t * (t + 2.0));
    let y = log1p::<I>(if large { t } else { near });
    let y = if large {
        y + core::f64::consts::LN_2
    } else {
        y
    };
    if x < 1.0 { f64::NAN } else { y }
}
#[inline(always)]
pub fn atanh<I: Isa>(x: f64) -> f64 {
    let a = abs(x);
    let y = 0.5 * log1p::<I>(2.0 * a / (1.0 - a));
    let y = signed(if a < 1e-9 { a } else { y }, x);
    if a > 1.0 { f64::NAN } else { y }
}
#[inline(always)]
pub fn logaddexp<I: Isa>(x: f64, y: f64) -> f64 {
    let larger = if x > y { x } else { y };
    let r = larger + log1p::<I>(super::exp::<I>(-abs(x - y)));
    // Equal infinities have no difference.
    if x == y {
        x + core::f64::consts::LN_2
    } else {
        r
    }
}
