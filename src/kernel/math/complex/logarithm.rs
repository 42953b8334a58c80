//! log, sqrt and pow.

use super::{Z, divide, exponential};
use crate::kernel::math::double::{product_portable as product, sum};
use core::f64::consts::{LN_2, LOG2_E, LOG10_E};
use libm::{atan2, copysign, hypot};

/// a^2 + b^2 - 1, with the bits that cancellation near the unit circle would lose; a >= b >= 0.
fn squares_less_one(a: f64, b: f64) -> f64 {
    // (a - 1)(a + 1) + b^2, each factor and product as a sum of two.
    let (u, u_low) = sum(1.0f64.max(a), -1.0f64.min(a));
    let (u, u_low) = if a < 1.0 { (-u, -u_low) } else { (u, u_low) };
    let (v, v_low) = sum(1.0f64.max(a), 1.0f64.min(a));
    let (p, p_low) = product(u, v);
    let (q, q_low) = product(b, b);
    let (large, small) = if p.abs() > q { (p, q) } else { (q, p) };
    let (s, s_low) = sum(large, small);
    s + (s_low + (p_low + q_low + (u * v_low + u_low * v)))
}
/// log |z|, accurate near 1 as well.
fn log_abs(x: f64, y: f64) -> f64 {
    let (x, y) = (x.abs(), y.abs());
    let (a, b) = if x > y { (x, y) } else { (y, x) };
    let h = hypot(a, b);
    if h > 0.7 && h < 1.5 {
        return 0.5 * libm::log1p(squares_less_one(a, b));
    }
    // The ends of the range, where the magnitude overflows or has lost bits.
    if h > 1e307 && a < f64::INFINITY {
        return libm::log(hypot(0.25 * a, 0.25 * b)) + 2.0 * LN_2;
    }
    if h < 1e-300 && h > 0.0 {
        const UP: f64 = 18_014_398_509_481_984.0;
        return libm::log(hypot(a * UP, b * UP)) - 54.0 * LN_2;
    }
    libm::log(h)
}
pub fn log(z: Z) -> Z {
    Z::new(log_abs(z.re, z.im), atan2(z.im, z.re))
}
pub fn log1p(z: Z) -> Z {
    let (x, y) = (z.re, z.im);
    let im = atan2(y, 1.0 + x);
    if y == 0.0 && x > -1.0 {
        return Z::new(libm::log1p(x), y);
    }
    if x.abs() < 0.5 && y.abs() < 0.5 {
        // |1 + z|^2 - 1 = x (2 + x) + y^2
        let (u, u_low) = sum(2.0, x);
        let (p, p_low) = product(x, u);
        let (q, q_low) = product(y, y);
        let (large, small) = if p.abs() > q { (p, q) } else { (q, p) };
        let (s, s_low) = sum(large, small);
        return Z::new(
            0.5 * libm::log1p(s + (s_low + (p_low + q_low + x * u_low))),
            im,
        );
    }
    Z::new(log_abs(1.0 + x, y), im)
}
pub fn log2(z: Z) -> Z {
    let r = log(z);
    Z::new(r.re * LOG2_E, r.im * LOG2_E)
}
pub fn log10(z: Z) -> Z {
    let r = log(z);
    Z::new(r.re * LOG10_E, r.im * LOG10_E)
}
pub fn sqrt(z: Z) -> Z {
    let (x, y) = (z.re, z.im);
    if x == 0.0 && y == 0.0 {
        return Z::new(0.0, y);
    }
    if y.is_infinite() {
        return Z::new(f64::INFINITY, y);
    }
    if x == f64::INFINITY {
        return Z::new(x, if y.is_nan() { y } else { copysign(0.0, y) });
    }
    if x == f64::NEG_INFINITY {
        return if y.is_nan() {
            Z::new(y, f64::INFINITY)
        } else {
            Z::new(0.0, copysign(f64::INFINITY, y))
        };
    }
    // Scaled away from both ends of the range, by a power of four, so that the root is scaled
    // exactly.
    let larger = x.abs().max(y.abs());
    let (up, down) = if larger > 1e307 {
        (0.0625, 4.0)
    } else if larger < 1e-290 {
        (18_014_398_509_481_984.0, 1.0 / 134_217_728.0)
    } else {
        (1.0, 1.0)
    };
    let (x, y) = (x * up, y * up);
    let t = libm::sqrt((x.abs() + hypot(x, y)) * 0.5);
    let other = y.abs() / (2.0 * t);
    let (re, im) = if x >= 0.0 { (t, other) } else { (other, t) };
    Z::new(re * down, copysign(im * down, y))
}
/// a to the power of n >= 1, by multiplication.
fn whole_power(a: Z, mut n: u32) -> Z {
    let mut square = a;
    while n & 1 == 0 {
        square = square * square;
        n >>= 1;
    }
    let mut r = square;
    while n > 1 {
        square = square * square;
        n >>= 1;
        r = if n & 1 == 1 { r * square } else { r };
    }
    r
}
/// Integer powers of moderate size by multiplication, which is exact if the products are; otherwise
/// `exp(b log(a))`.
pub fn pow(a: Z, b: Z) -> Z {
    if b.re == 0.0 && b.im == 0.0 {
        return Z::new(1.0, 0.0);
    }
    if a.re == 0.0 && a.im == 0.0 {
        return if b.re > 0.0 {
            Z::new(0.0, 0.0)
        } else {
            Z::new(f64::NAN, f64::NAN)
        };
    }
    if b.im == 0.0 && b.re.abs() < 100.0 && b.re == libm::trunc(b.re) {
        let (n, one) = (b.re.abs() as u32, Z::new(1.0, 0.0));
        let r = whole_power(a, n);
        if b.re > 0.0 {
            return r;
        }
        // where the power leaves the range, its inverse may not, or not yet
        let larger = r.re.abs().max(r.im.abs());
        if r.is_finite() && larger > 1e-300 && larger < 1e300 {
            return divide(one, r);
        }
        let r = whole_power(divide(one, a), n);
        if r.is_finite() || !a.is_finite() {
            return r;
        }
    }
    exponential::exp(b * log(a))
}
