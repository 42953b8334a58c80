//! exp and the hyperbolic functions; the trigonometric functions are these of i z.

use super::{Z, mul_i, mul_neg_i, turns};
use crate::kernel::math::double::product_portable as product;
use libm::copysign;

/// log(2) minus its nearest float64.
const LN_2_LOW: f64 = 2.319_046_813_846_299_6e-17;

/// `half e^x (c, s)`, also if e^x alone overflows; x is not NaN, and c and s are not 0.
fn polar(mut x: f64, half: f64, c: f64, s: f64) -> Z {
    const E_709: f64 = 8.218_407_461_554_972e307;
    let mut z = Z::new(c, s);
    let mut half = half;
    // from the least number up, three factors lead out of the range
    for _ in 0..3 {
        if x > 709.0 && x < f64::INFINITY {
            z *= half * E_709;
            half = 1.0;
            x -= 709.0;
        }
    }
    z * (half * libm::exp(x))
}

pub fn exp(z: Z) -> Z {
    let (x, y) = (z.re, z.im);
    if y == 0.0 {
        return Z::new(libm::exp(x), y);
    }
    match (x, y.is_finite()) {
        (f64::NEG_INFINITY, false) => Z::new(0.0, copysign(0.0, y)),
        (f64::INFINITY, false) => Z::new(x, f64::NAN),
        (_, true) if !x.is_nan() => polar(x, 1.0, libm::cos(y), libm::sin(y)),
        _ => Z::new(f64::NAN, f64::NAN),
    }
}
pub fn exp2(z: Z) -> Z {
    if z.im == 0.0 {
        return Z::new(libm::exp2(z.re), z.im);
    }
    if z.re.is_nan() || !z.im.is_finite() {
        return exp(z * core::f64::consts::LN_2);
    }
    // The sine of a tiny phase is the phase, multiplied last, where it is no longer subnormal.
    let late = if z.im.abs() < 1e-9 {
        core::f64::consts::LN_2
    } else {
        1.0
    };
    let (c, s) = if z.im.abs() < 1e-9 {
        (1.0, z.im)
    } else if z.im.abs() < 1e6 {
        // The phase as a sum of two: a single float's error would show in the sine.
        let (phase, low) = product(z.im, core::f64::consts::LN_2);
        let low = low + z.im * LN_2_LOW;
        let (c, s) = (libm::cos(phase), libm::sin(phase));
        (c - low * s, s + low * c)
    } else {
        turns::cos_sin(z.im)
    };
    // In steps, since the power alone may overflow, or be subnormal.
    let mut x = z.re.clamp(-4000.0, 4000.0);
    let mut z = Z::new(c, s);
    while x.abs() > 1000.0 {
        let step = copysign(1000.0, x);
        z *= libm::exp2(step);
        x -= step;
    }
    let z = z * libm::exp2(x);
    Z::new(z.re, z.im * late)
}
pub fn expm1(z: Z) -> Z {
    let (x, y) = (z.re, z.im);
    if y == 0.0 {
        return Z::new(libm::expm1(x) + 0.0, y); // +0 for both zeros, as the standard has it
    }
    if !y.is_finite() || x.is_nan() || x > 40.0 {
        let e = exp(z);
        return Z::new(e.re - 1.0, e.im);
    }
    let half = libm::sin(0.5 * y);
    Z::new(
        libm::expm1(x) * libm::cos(y) - 2.0 * half * half,
        libm::exp(x) * libm::sin(y),
    )
}
pub fn sinh(z: Z) -> Z {
    let (x, y) = (z.re, z.im);
    if y == 0.0 {
        return Z::new(libm::sinh(x), y);
    }
    if !y.is_finite() {
        return match x {
            0.0 => Z::new(x, f64::NAN),
            _ if x.is_infinite() => Z::new(f64::INFINITY, f64::NAN),
            _ => Z::new(f64::NAN, f64::NAN),
        };
    }
    if x.abs() < 22.0 {
        return Z::new(libm::sinh(x) * libm::cos(y), libm::cosh(x) * libm::sin(y));
    }
    if x.is_nan() {
        return Z::new(x, x);
    }
    let e = polar(x.abs(), 0.5, libm::cos(y), libm::sin(y));
    Z::new(copysign(1.0, x) * e.re, e.im)
}
pub fn cosh(z: Z) -> Z {
    let (x, y) = (z.re, z.im);
    if y == 0.0 {
        return Z::new(
            libm::cosh(x),
            if x.is_nan() { y } else { copysign(1.0, x) * y },
        );
    }
    if !y.is_finite() {
        return match x {
            0.0 => Z::new(f64::NAN, 0.0),
            _ if x.is_infinite() => Z::new(f64::INFINITY, f64::NAN),
            _ => Z::new(f64::NAN, f64::NAN),
        };
    }
    if x.abs() < 22.0 {
        return Z::new(libm::cosh(x) * libm::cos(y), libm::sinh(x) * libm::sin(y));
    }
    if x.is_nan() {
        return Z::new(x, x);
    }
    let e = polar(x.abs(), 0.5, libm::cos(y), libm::sin(y));
    Z::new(e.re, copysign(1.0, x) * e.im)
}
/// Kahan's formula: no cancellation, no overflow.
pub fn tanh(z: Z) -> Z {
    let (x, y) = (z.re, z.im);
    if x.is_nan() {
        return Z::new(x, if y == 0.0 { y } else { f64::NAN });
    }
    if x.is_infinite() {
        // The array API's sign of the zero; C's is that of sin(2y).
        return Z::new(copysign(1.0, x), copysign(0.0, y));
    }
    if !y.is_finite() {
        return Z::new(if x == 0.0 { x } else { f64::NAN }, f64::NAN);
    }
    if x.abs() >= 22.0 {
        let e = libm::exp(-x.abs());
        return Z::new(copysign(1.0, x), 4.0 * libm::sin(y) * libm::cos(y) * e * e);
    }
    let t = libm::tan(y);
    let beta = 1.0 + t * t;
    let s = libm::sinh(x);
    let rho = libm::sqrt(1.0 + s * s);
    let den = 1.0 + beta * s * s;
    Z::new(beta * rho * s / den, t / den)
}
pub fn sin(z: Z) -> Z {
    mul_neg_i(sinh(mul_i(z)))
}
pub fn cos(z: Z) -> Z {
    cosh(mul_i(z))
}
pub fn tan(z: Z) -> Z {
    mul_neg_i(tanh(mul_i(z)))
}
