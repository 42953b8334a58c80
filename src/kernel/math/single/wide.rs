//! Functions that need more bits than float32 has on the way: logarithms and exponentials to base 2
//! in float64, by polynomials of 32 bits, as a result of 24 bits needs. No division: dividing eight
//! float64 costs more than the rest together.

use super::{double, signed};
use crate::kernel::math::{Math, Real};
use crate::simd::{Isa, fma64};
use core::f64::consts::{LN_2, LOG2_E, LOG10_2};

/// A polynomial of up to four terms in x, given the square. In pairs (Estrin): a single long chain
/// is up to a third slower.
macro_rules! cubic {
    ($I:ident $x:ident $z:ident; $c0:expr, $c1:expr, $c2:expr, $c3:expr) => {
        fma64::<$I>(fma64::<$I>($c3, $x, $c2), $z, fma64::<$I>($c1, $x, $c0))
    };
    ($I:ident $x:ident $z:ident; $c0:expr, $c1:expr, $c2:expr) => {
        fma64::<$I>($c2, $z, fma64::<$I>($c1, $x, $c0))
    };
}

/// log2(x) of a positive finite normal number, with as small a relative error near 1 as elsewhere;
/// garbage for other x.
#[inline(always)]
fn log2_core<I: Isa>(x: f64) -> f64 {
    let (e, f) = double::split_normal(x);
    let z = f * f;
    let low = cubic!(I f z; 1.442_695_040_939_365_7, -7.213_475_252_113_09e-1, 4.808_983_207_189_549_5e-1, -3.606_728_008_153_785e-1);
    let middle = cubic!(I f z; 2.885_406_447_681_717_6e-1, -2.405_041_635_184_22e-1, 2.060_962_081_179_178_7e-1, -1.790_470_791_836_058e-1);
    let high = cubic!(I f z; 1.590_022_568_881_538e-1, -1.569_821_870_157_89e-1, 1.548_535_003_154_587_5e-1, -8.634_142_366_527_997e-2);
    let p = poly!(fma64 I z * z; high, middle, low);
    fma64::<I>(f, p, e)
}
/// 2^t = s (1 + p), as (s, p), where s is a power of two; p is precise near 0. t is clamped beyond
/// the range of float32.
#[inline(always)]
fn exp2_parts<I: Isa>(t: f64) -> (f64, f64) {
    let (s, r) = exp2_reduce(t);
    let z = r * r;
    let low = cubic!(I r z; 6.931_471_805_815_596e-1, 2.402_265_092_002_618_4e-1, 5.550_410_727_577_18e-2, 9.618_057_041_833_288e-3);
    let high = cubic!(I r z; 1.333_366_953_845_174e-3, 1.546_132_854_254_053e-4, 1.525_268_942_839_585_6e-5);
    let p = fma64::<I>(z * z, high, low);
    (s, r * p)
}
/// 2^k and r with t = k + r.
#[inline(always)]
fn exp2_reduce(t: f64) -> (f64, f64) {
    let t = if t > 300.0 { 300.0 } else { t };
    let t = if t < -300.0 { -300.0 } else { t };
    let k = t + double::ROUND;
    (
        f64::from_bits(k.to_bits().wrapping_add(1023) << 52),
        t - (k - double::ROUND),
    )
}
/// A logarithm of x: y within its domain, which begins at `lowest`, or its values at the ends and
/// outside.
#[inline(always)]
fn ends(x: f32, lowest: f32, y: f64) -> f32 {
    let y = if x < f32::INFINITY { y as f32 } else { x };
    let low = if x == lowest {
        f32::NEG_INFINITY
    } else {
        f32::NAN
    };
    if x > lowest { y } else { low }
}

#[inline(always)]
pub fn log2<I: Isa>(x: f32) -> f32 {
    ends(x, 0.0, log2_core::<I>(x as f64))
}
#[inline(always)]
pub fn log10<I: Isa>(x: f32) -> f32 {
    ends(x, 0.0, log2_core::<I>(x as f64) * LOG10_2)
}
#[inline(always)]
pub fn asinh<I: Isa>(x: f32) -> f32 {
    let a = double::abs(x as f64);
    let y = log2_core::<I>(a + Math::sqrt::<I>(fma64::<I>(a, a, 1.0))) * LN_2;
    let y = if super::abs(x) < f32::INFINITY {
        y as f32
    } else {
        x
    };
    if super::abs(x) < 2e-4 {
        x
    } else {
        signed(y, x)
    }
}
#[inline(always)]
pub fn acosh<I: Isa>(x: f32) -> f32 {
    let a = x as f64;
    let y = log2_core::<I>(a + Math::sqrt::<I>(fma64::<I>(a, a, -1.0))) * LN_2;
    let y = if x < f32::INFINITY { y as f32 } else { x };
    if x < 1.0 { f32::NAN } else { y }
}
#[inline(always)]
pub fn atanh<I: Isa>(x: f32) -> f32 {
    let a = double::abs(x as f64);
    let y = (log2_core::<I>((1.0 + a) / (1.0 - a)) * (0.5 * LN_2)) as f32;
    let y = if a == 1.0 { f32::INFINITY } else { y };
    let y = if a <= 1.0 { signed(y, x) } else { f32::NAN };
    if a < 1e-4 { x } else { y }
}
#[inline(always)]
pub fn expm1<I: Isa>(x: f32) -> f32 {
    let (s, p) = exp2_parts::<I>(x as f64 * LOG2_E);
    signed(fma64::<I>(s, p, s - 1.0) as f32, x)
}
/// 2^k, its inverse, and the even and the odd part of 2^r, where k + r = x log2(e).
#[inline(always)]
fn hyperbolic<I: Isa>(x: f32) -> (f64, f64, f64, f64) {
    let (s, r) = exp2_reduce(x as f64 * LOG2_E);
    let z = r * r;
    let even = poly!(fma64 I z; 1.546_949_019_042_840_6e-4, 9.618_026_508_361_575e-3, 2.402_265_120_512_942_2e-1, 1.0);
    let odd = r
        * poly!(fma64 I z; 1.530_364_010_737_905e-5, 1.333_347_870_089_121_5e-3, 5.550_410_906_113_148e-2, 6.931_471_805_568_62e-1);
    (
        s,
        f64::from_bits((2046u64 << 52).wrapping_sub(s.to_bits())),
        even,
        odd,
    )
}
#[inline(always)]
pub fn sinh<I: Isa>(x: f32) -> f32 {
    let (s, inverse, even, odd) = hyperbolic::<I>(x);
    signed(
        (0.5 * fma64::<I>(s - inverse, even, (s + inverse) * odd)) as f32,
        x,
    )
}
#[inline(always)]
pub fn cosh<I: Isa>(x: f32) -> f32 {
    let (s, inverse, even, odd) = hyperbolic::<I>(x);
    (0.5 * fma64::<I>(s + inverse, even, (s - inverse) * odd)) as f32
}
#[inline(always)]
pub fn pow_fast<I: Isa>(x: f32, y: f32) -> f32 {
    let (s, p) = exp2_parts::<I>(y as f64 * log2_core::<I>(x as f64));
    fma64::<I>(s, p, s) as f32
}
/// exp(-x^2) by a polynomial in (|x| - 3) / (|x| + 3).
#[inline(always)]
pub fn erfc<I: Isa>(x: f32) -> f32 {
    let a = double::abs(x as f64);
    let den = a + 3.0;
    // The inverse in float32, refined by one Newton step in float64.
    let inverse = (1.0 / den as f32) as f64;
    let inverse = fma64::<I>(inverse, fma64::<I>(-den, inverse, 1.0), inverse);
    let q = (a - 3.0) * inverse;
    let z = q * q;
    let low = cubic!(I q z; 1.790_011_512_646_847_3e-1, -3.262_335_638_278_806_4e-1, 2.456_037_975_703_77e-1, -1.501_157_818_043_443_4e-1);
    let middle = cubic!(I q z; 7.166_586_407_790_793e-2, -2.439_423_165_448_565_2e-2, 4.268_876_688_538_043e-3, 7.157_314_926_985_183e-4);
    let high = cubic!(I q z; -5.945_703_446_010_606e-4, 2.887_927_887_964_985e-5, 5.591_561_547_420_128e-5);
    let p = poly!(fma64 I z * z; high, middle, low);
    let (s, e) = exp2_parts::<I>(-(a * a) * LOG2_E);
    let y = p * fma64::<I>(s, e, s);
    let y = if x.is_sign_negative() { 2.0 - y } else { y };
    if a < f64::INFINITY {
        y as f32
    } else if x.is_nan() {
        x
    } else {
        1.0 - signed(1.0, x)
    }
}
/// a to the power of k / 2, from -2 to 3, unless it is one operation; of roots a is not negative: in
/// float64, which holds squares exactly, and all others to 29 bits more than the result, whose
/// rounding is the only one that shows.
#[inline(always)]
pub fn half_power<I: Isa>(a: f32, k: i32) -> f32 {
    if k == 1 {
        return Math::sqrt::<I>(a);
    }
    let a = a as f64;
    let whole = match k.abs() / 2 {
        3 => a * a * a,
        2 => a * a,
        1 => a,
        _ => 1.0,
    };
    let r = if k & 1 == 1 {
        whole * Math::sqrt::<I>(a)
    } else {
        whole
    };
    (if k < 0 { 1.0 / r } else { r }) as f32
}
/// There is none.
#[inline(always)]
pub fn needs_slow_half_power(_: f32, _: i32) -> bool {
    false
}
/// `2^(y log2 |x|)`, with the cases that C99 lists; or [`half_power`].
#[inline(always)]
pub fn pow<I: Isa>(x: f32, y: f32) -> f32 {
    if let Some(k) = Real::halves(y) {
        return Real::half_power::<I>(x, k);
    }
    let a = super::abs(x);
    let r = pow_fast::<I>(a, y);
    let end = if (a == 0.0) == (y < 0.0) {
        f32::INFINITY
    } else {
        0.0
    };
    let r = if (a == 0.0) | (a == f32::INFINITY) {
        end
    } else {
        r
    };
    let integer = y == Real::round::<I>(y);
    let half = 0.5 * y;
    let odd = integer & (half != Real::round::<I>(half));
    let r = if odd { signed(r, x) } else { r };
    let r = if (x < 0.0) & (a < f32::INFINITY) & !integer {
        f32::NAN
    } else {
        r
    };
    let r = if (x == -1.0) & (super::abs(y) == f32::INFINITY) {
        1.0
    } else {
        r
    };
    let r = if x.is_nan() | y.is_nan() { f32::NAN } else { r };
    if (y == 0.0) | (x == 1.0) { 1.0 } else { r }
}
/// Squares of float32 are exact in float64 and don't overflow.
#[inline(always)]
pub fn hypot<I: Isa>(x: f32, y: f32) -> f32 {
    let (a, b) = (x as f64, y as f64);
    let r = Math::sqrt::<I>(a * a + b * b) as f32;
    if (super::abs(x) == f32::INFINITY) | (super::abs(y) == f32::INFINITY) {
        f32::INFINITY
    } else {
        r
    }
}
/// Computed in float64, since the sum may cancel.
#[inline(always)]
pub fn logaddexp<I: Isa>(x: f32, y: f32) -> f32 {
    double::logaddexp::<I>(x as f64, y as f64) as f32
}
