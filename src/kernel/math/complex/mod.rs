//! Complex functions. Arithmetic is branch-free; elementary functions are scalar float64 code,
//! shared by all instruction sets and both widths, with the special values of C99's annex G.

mod exponential;
mod inverse;
mod logarithm;
mod turns;

use super::{Math, Real};
use crate::simd::Isa;
use num_complex::Complex;

/// The type that elementary functions compute in.
type Z = Complex<f64>;

/// i z.
#[inline(always)]
fn mul_i(z: Z) -> Z {
    Z::new(-z.im, z.re)
}
/// -i z.
#[inline(always)]
fn mul_neg_i(z: Z) -> Z {
    Z::new(z.im, -z.re)
}

/// Functions of complex numbers only. Sums, differences and products are num-complex's operators.
pub trait ComplexMath: Math {
    /// Magnitude, without intermediate overflow.
    fn abs<I: Isa>(self) -> Self::Real;
    /// Quotient, without intermediate overflow.
    fn divide<I: Isa>(self, divisor: Self) -> Self;
}

/// num / den: the larger part of the divisor is factored out before anything is squared (Smith 1962).
#[inline(always)]
fn quotient(num: Z, den: Z) -> Z {
    let flat = super::double::abs(den.re) >= super::double::abs(den.im);
    let (large, small) = if flat {
        (den.re, den.im)
    } else {
        (den.im, den.re)
    };
    let ratio = small / large;
    let scale = large + small * ratio;
    let (a, b) = if flat {
        (num.re, num.im)
    } else {
        (num.im, num.re)
    };
    let (re, im) = (a + b * ratio, b - a * ratio);
    let zero = (large == 0.0) & (small == 0.0);
    let (re, im, scale) = if zero {
        (num.re, num.im, 0.0)
    } else {
        (re, if flat { im } else { -im }, scale)
    };
    Z::new(re / scale, im / scale)
}
/// num / den for the largest numbers too: divided by 16, neither sum overflows.
#[inline(always)]
fn divide(num: Z, den: Z) -> Z {
    use super::double::abs;
    let size = (abs(num.re) + abs(num.im)) + (abs(den.re) + abs(den.im));
    let unit = if size > 1e300 { 1.0 / 16.0 } else { 1.0 };
    quotient(num * unit, den * unit)
}
/// 1 / z.
#[inline(always)]
fn reciprocal(z: Z) -> Z {
    let flat = super::double::abs(z.im) <= super::double::abs(z.re);
    let (large, small) = if flat { (z.re, z.im) } else { (z.im, z.re) };
    let ratio = small / large;
    // the sum of large parts would overflow
    let half = if super::double::abs(large) > 1e300 {
        0.5
    } else {
        1.0
    };
    let scale = half * large + half * small * ratio;
    let (one, ratio) = (half / scale, half * ratio / scale);
    if flat {
        Z::new(one, -ratio)
    } else {
        Z::new(ratio, -one)
    }
}
/// 1 with the sign of an infinite part; 0 for any other part.
#[inline(always)]
fn end<I: Isa>(part: f64) -> f64 {
    if part.is_infinite() {
        Real::copysign::<I>(1.0, part)
    } else {
        0.0
    }
}
/// z / |z|; 0 for 0; the direction of the infinite part if there is one; NaN beside NaN.
#[inline(always)]
fn sign<I: Isa>(z: Z) -> Z {
    let infinite = z.re.is_infinite() | z.im.is_infinite();
    let missing = z.re.is_nan() | z.im.is_nan();
    // Two infinite parts have no direction: their magnitude below is more than 1.
    let ends = Z::new(end::<I>(z.re), end::<I>(z.im));
    let z = if infinite { ends } else { z };
    let m = Real::hypot::<I>(z.re, z.im);
    // Near the end of the range the magnitude itself overflows.
    let (z, m) = if m == f64::INFINITY {
        (z * 0.5, Real::hypot::<I>(z.re * 0.5, z.im * 0.5))
    } else {
        (z, m)
    };
    let r = Z::new(z.re / m, z.im / m);
    let r = if m == 0.0 { Z::new(0.0, 0.0) } else { r };
    let lost = missing | (infinite & (m > 1.0));
    if lost { Z::new(f64::NAN, f64::NAN) } else { r }
}

macro_rules! wide {
    ($T:ident; $($module:ident: $($name:ident)*;)*) => { $($(
        #[inline(always)]
        fn $name<I: Isa>(self) -> Self {
            let r = $module::$name(Z::new(self.re as f64, self.im as f64));
            Complex::new(r.re as $T, r.im as $T)
        }
    )*)* };
}
macro_rules! implement {
    ($T:ident) => {
        impl Math for Complex<$T> {
            wide! { $T;
                exponential: exp exp2 expm1 sinh cosh tanh sin cos tan;
                logarithm: sqrt log log1p log2 log10;
                inverse: asin acos atan asinh acosh atanh;
            }
            #[inline(always)]
            fn reciprocal<I: Isa>(self) -> Self {
                let r = reciprocal(Z::new(self.re as f64, self.im as f64));
                Complex::new(r.re as $T, r.im as $T)
            }
            #[inline(always)]
            fn sign<I: Isa>(self) -> Self {
                let r = sign::<I>(Z::new(self.re as f64, self.im as f64));
                Complex::new(r.re as $T, r.im as $T)
            }
            #[inline(always)]
            fn pow<I: Isa>(self, exponent: Self) -> Self {
                let r = logarithm::pow(
                    Z::new(self.re as f64, self.im as f64),
                    Z::new(exponent.re as f64, exponent.im as f64),
                );
                Complex::new(r.re as $T, r.im as $T)
            }
        }
        impl ComplexMath for Complex<$T> {
            #[inline(always)]
            fn abs<I: Isa>(self) -> $T {
                Real::hypot::<I>(self.re, self.im)
            }
            #[inline(always)]
            fn divide<I: Isa>(self, o: Self) -> Self {
                let (num, den) = (
                    Z::new(self.re as f64, self.im as f64),
                    Z::new(o.re as f64, o.im as f64),
                );
                // float64 has room for the others
                let r = match size_of::<$T>() {
                    8 => divide(num, den),
                    _ => quotient(num, den),
                };
                Complex::new(r.re as $T, r.im as $T)
            }
        }
    };
}
implement!(f32);
implement!(f64);
