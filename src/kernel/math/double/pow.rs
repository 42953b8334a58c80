//! Powers, by logarithms in twice the precision, or by products, quotients and roots where the
//! exponent has a few halves; and the hypotenuse.

use super::{abs, exp, log, signed};
use crate::kernel::math::{Math, Real};
use crate::simd::{Isa, fma64};

/// x as a sum of two with 26 bits each (Veltkamp).
#[inline(always)]
fn halves(x: f64) -> (f64, f64) {
    let c = 134_217_729.0 * x;
    let high = c - (c - x);
    (high, x - high)
}
/// a b as an exact sum of two.
#[inline(always)]
fn product<I: Isa>(a: f64, b: f64) -> (f64, f64) {
    if I::FMA {
        let p = a * b;
        return (p, fma64::<I>(a, b, -p));
    }
    product_portable(a, b)
}
/// a b as an exact sum of two, without fused multiply-add (Dekker).
#[inline(always)]
pub fn product_portable(a: f64, b: f64) -> (f64, f64) {
    let p = a * b;
    let ((ah, al), (bh, bl)) = (halves(a), halves(b));
    (p, ((ah * bh - p) + ah * bl + al * bh) + al * bl)
}
/// a + b as a sum of two, exact if |a| >= |b| or a is 0.
#[inline(always)]
pub fn sum(a: f64, b: f64) -> (f64, f64) {
    let s = a + b;
    (s, (a - s) + b)
}
/// The logarithm of a positive finite number as a sum of two, to about 65 bits: with s = f / (2 +
/// f), it is `e log(2) + 2 s + s^3 (2/3 + s^2 (2/5 + ..))`, where all but the sum in brackets is
/// carried in pairs.
#[inline(always)]
fn log_pair<I: Isa>(x: f64) -> (f64, f64) {
    let (e, f) = log::split(x);
    let (den, den_low) = sum(2.0, f);
    let s = f / den;
    let (back, back_low) = product::<I>(s, den);
    let s_low = (((f - back) - back_low) - s * den_low) / den;
    let (z, z_low) = product::<I>(s, s);
    let z_low = fma64::<I>(2.0 * s, s_low, z_low);
    let p = poly!(fma64 I z;
        0.117_257_712_218_111_45, 0.117_059_881_565_075, 0.133_348_139_712_92, 0.153_845_947_917_623_5, 0.181_818_183_369_925_7,
        0.222_222_222_216_488_2, 0.285_714_285_714_293_8, 0.4);
    let (v, v_low) = product::<I>(z, p);
    let (w, w_low) = sum(0.666_666_666_666_666_6, v);
    let w_low = w_low + fma64::<I>(z_low, p, v_low) + 3.700_743_415_417_188e-17;
    let (c, c_low) = product::<I>(s, z);
    let c_low = c_low + fma64::<I>(s, z_low, s_low * z);
    let (t, t_low) = product::<I>(c, w);
    let t_low = t_low + fma64::<I>(c, w_low, c_low * w);
    let (h, l) = sum(e * log::LN2_HI, 2.0 * s);
    let (h, l2) = sum(h, t);
    sum(
        h,
        ((l + 2.0 * s_low) + fma64::<I>(e, log::LN2_LO, t_low)) + l2,
    )
}
/// x to the power of y, from that of |x|: sets the sign, and handles the cases that C99 lists.
#[inline(always)]
fn with_sign<I: Isa>(x: f64, y: f64, magnitude: f64) -> f64 {
    let integer = y == Real::round::<I>(y);
    let half = 0.5 * y;
    let odd = integer & (half != Real::round::<I>(half));
    let r = if odd & x.is_sign_negative() {
        -magnitude
    } else {
        magnitude
    };
    let r = if (x < 0.0) & (x > f64::NEG_INFINITY) & !integer {
        f64::NAN
    } else {
        r
    };
    let r = if (x == -1.0) & (abs(y) == f64::INFINITY) {
        1.0
    } else {
        r
    };
    if (y == 0.0) | (x == 1.0) { 1.0 } else { r }
}
#[inline(always)]
pub fn pow<I: Isa>(x: f64, y: f64) -> f64 {
    match Real::halves(y) {
        Some(k) if needs_slow_half_power(x, k) => return scaled_half_power::<I>(x, k),
        Some(k) => return Real::half_power::<I>(x, k),
        None => (),
    }
    let a = abs(x);
    let (h, l) = log_pair::<I>(a);
    // At the ends of its range the logarithm is a single infinity.
    let end = if a == 0.0 { f64::NEG_INFINITY } else { a };
    let inside = (a > 0.0) & (a < f64::INFINITY);
    let (h, l) = if inside { (h, l) } else { (end, 0.0) };
    with_sign::<I>(x, y, power::<I>(h, l, y))
}
/// The sum h + l times y, as a sum of two.
#[inline(always)]
fn times<I: Isa>((h, l): (f64, f64), y: f64) -> (f64, f64) {
    let (p, p_low) = product::<I>(h, y);
    (p, p_low + l * y)
}
/// Whether x is in a range in which [`half_power`] loses nothing of what it carries along.
#[inline(always)]
fn is_moderate(x: f64) -> bool {
    const MOST: f64 = f64::from_bits((1023 + 300) << 52);
    const LEAST: f64 = f64::from_bits((1023 - 300) << 52);
    (abs(x) < MOST) & (abs(x) > LEAST)
}
/// a to the power of k / 2, from -2 to 3, unless it is one operation or [`needs_slow_half_power`]; of
/// roots a is not negative. What products and roots are rounded by is carried along, so the last
/// rounding is the only one that shows: the error is below 0.501 ulp. No fused multiply-add but in
/// exact products: the bits are the same on every instruction set.
#[inline(always)]
pub fn half_power<I: Isa>(a: f64, k: i32) -> f64 {
    let whole = match k.abs() / 2 {
        3 => times::<I>(product::<I>(a, a), a),
        2 => product::<I>(a, a),
        _ => (a, 0.0),
    };
    let (h, l) = if k & 1 == 1 {
        let root = Math::sqrt::<I>(a);
        let (back, back_low) = product::<I>(root, root);
        let root_low = ((a - back) - back_low) / (root + root);
        if k.abs() == 1 {
            (root, root_low)
        } else {
            let (h, l) = times::<I>(whole, root);
            (h, l + whole.0 * root_low)
        }
    } else {
        whole
    };
    // those of zeros, infinities and NaN are exact without what is carried
    if k < 0 {
        let q = 1.0 / h;
        let (back, back_low) = product::<I>(h, q);
        let r = q + q * (((1.0 - back) - back_low) - l * q);
        if is_moderate(a) { r } else { q }
    } else if k == 1 {
        h
    } else {
        let r = h + l;
        if is_moderate(a) { r } else { h }
    }
}
/// Whether [`half_power`] may lose part of what it carries along.
#[inline(always)]
pub fn needs_slow_half_power(x: f64, k: i32) -> bool {
    let carries = !matches!(k, -2 | 0 | 1 | 2 | 4);
    carries & !is_moderate(x) & (x != 0.0) & (abs(x) < f64::INFINITY)
}
/// The same of a finite number other than 0, of any magnitude and sign.
#[cold]
#[inline(never)]
fn scaled_half_power<I: Isa>(x: f64, k: i32) -> f64 {
    let (unit, exponent) = libm::frexp(x);
    let odd = exponent & 1;
    let unit = if odd == 1 { unit + unit } else { unit };
    libm::scalbn(Real::half_power::<I>(unit, k), (exponent - odd) / 2 * k)
}
#[inline(always)]
pub fn pow_fast<I: Isa>(x: f64, y: f64) -> f64 {
    let (h, l) = log_pair::<I>(x);
    power::<I>(h, l, y)
}
/// exp((h + l) y).
#[inline(always)]
fn power<I: Isa>(h: f64, l: f64, y: f64) -> f64 {
    // A larger exponent also gives 0, 1 or infinity, but its halves overflow.
    let bounded = if abs(y) > 1e290 { signed(1e290, y) } else { y };
    let (p, p_low) = product::<I>(bounded, h);
    let p_low = if abs(p) < 1000.0 {
        fma64::<I>(bounded, l, p_low)
    } else {
        0.0
    };
    exp::exp_pair::<I>(p, p_low)
}
#[inline(always)]
pub fn hypot<I: Isa>(x: f64, y: f64) -> f64 {
    const EXPONENT: u64 = 0x7ff0_0000_0000_0000;
    let (a, b) = (abs(x), abs(y));
    let larger = if a > b { a } else { b };
    // Divided by the power of two below the larger, the squares can't overflow, nor both underflow.
    let e = larger.to_bits() & EXPONENT;
    let e = if e == 0 { 1 << 52 } else { e };
    let e = if e > 2045 << 52 { 2045 << 52 } else { e };
    let down = f64::from_bits((2046 << 52) - e);
    let (u, v) = (a * down, b * down);
    let r = Math::sqrt::<I>(fma64::<I>(u, u, v * v)) * f64::from_bits(e);
    if (a == f64::INFINITY) | (b == f64::INFINITY) {
        f64::INFINITY
    } else {
        r
    }
}
