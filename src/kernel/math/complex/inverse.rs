//! Inverse functions, after Kahan: square roots and logarithms that keep the sign of zero on branch
//! cuts.

use super::logarithm::sqrt;
use super::{Z, mul_i, mul_neg_i};
use core::f64::consts::{FRAC_PI_2, LN_2};
use libm::{atan2, copysign, hypot};

/// Above this, z^2 dwarfs 1, and may overflow.
const LARGE: f64 = f64::MAX / 4.0;

fn is_large(z: Z) -> bool {
    z.re.abs() > LARGE || z.im.abs() > LARGE
}
/// log |2 z| of large z; infinite if either part is.
fn log_double(z: Z) -> f64 {
    if z.re.is_infinite() || z.im.is_infinite() {
        f64::INFINITY
    } else {
        libm::log(hypot(0.5 * z.re, 0.5 * z.im)) + 2.0 * LN_2
    }
}

pub fn acos(z: Z) -> Z {
    let (x, y) = (z.re, z.im);
    if is_large(z) {
        return Z::new(atan2(y.abs(), x), copysign(log_double(z), -y));
    }
    if x == 0.0 && y.is_nan() {
        return Z::new(FRAC_PI_2, y);
    }
    let (s, t) = (sqrt(Z::new(1.0 - x, -y)), sqrt(Z::new(1.0 + x, y)));
    Z::new(
        2.0 * atan2(s.re, t.re),
        libm::asinh(t.re * s.im - t.im * s.re),
    )
}
pub fn acosh(z: Z) -> Z {
    let (x, y) = (z.re, z.im);
    if is_large(z) {
        return Z::new(log_double(z), atan2(y, x));
    }
    if x == 0.0 && y.is_nan() {
        return Z::new(y, FRAC_PI_2);
    }
    let (s, t) = (sqrt(Z::new(x - 1.0, y)), sqrt(Z::new(x + 1.0, y)));
    Z::new(
        libm::asinh(s.re * t.re + s.im * t.im),
        2.0 * atan2(s.im, t.re),
    )
}
pub fn asinh(z: Z) -> Z {
    let (x, y) = (z.re, z.im);
    if is_large(z) {
        return Z::new(copysign(log_double(z), x), atan2(y, x.abs()));
    }
    if x.is_nan() && y == 0.0 {
        return z;
    }
    let (s, t) = (sqrt(Z::new(1.0 + y, -x)), sqrt(Z::new(1.0 - y, x)));
    Z::new(
        libm::asinh(s.re * t.im - t.re * s.im),
        atan2(y, s.re * t.re - s.im * t.im),
    )
}
pub fn atanh(z: Z) -> Z {
    if z.re.is_sign_negative() {
        let r = atanh(-z);
        return -r;
    }
    let (x, y) = (z.re, z.im);
    if x.is_infinite() || y.is_infinite() {
        return Z::new(
            0.0,
            if y.is_nan() {
                y
            } else {
                copysign(FRAC_PI_2, y)
            },
        );
    }
    if x == 0.0 && y.is_nan() {
        return z;
    }
    // From here on, squares overflow.
    const ROOT: f64 = 6.7e153;
    if (x > ROOT || y.abs() > ROOT) && !(x.is_nan() || y.is_nan()) {
        let h = hypot(0.5 * x, 0.5 * y);
        return Z::new(x / 4.0 / h / h, copysign(FRAC_PI_2, y));
    }
    if x == 1.0 && y.abs() < 1e-154 {
        let a = y.abs();
        if a == 0.0 {
            return Z::new(f64::INFINITY, y);
        }
        return Z::new(
            -libm::log(libm::sqrt(a) / libm::sqrt(hypot(a, 2.0))),
            copysign(0.5 * atan2(2.0, -a), y),
        );
    }
    let d = 1.0 - x;
    Z::new(
        0.25 * libm::log1p(4.0 * x / (d * d + y * y)),
        -0.5 * atan2(-2.0 * y, d * (1.0 + x) - y * y),
    )
}
pub fn asin(z: Z) -> Z {
    mul_neg_i(asinh(mul_i(z)))
}
pub fn atan(z: Z) -> Z {
    mul_neg_i(atanh(mul_i(z)))
}
