//! Errors in units in the last place.

/// The distance of `got` from `want + rest` in units in the last place of a float with `digits`
/// bits and the exponents of the type from `least` on; infinities count as the next power of two.
/// NaN only matches NaN, and a zero only one of its sign.
fn ulps(got: f64, want: f64, rest: f64, digits: i32, least: i32, largest: f64) -> f64 {
    if got.is_nan() || want.is_nan() {
        return if got.is_nan() && want.is_nan() {
            0.0
        } else {
            f64::INFINITY
        };
    }
    if got == want && rest == 0.0 {
        return if got == 0.0 && got.is_sign_negative() != want.is_sign_negative() {
            f64::INFINITY
        } else {
            0.0
        };
    }
    let (_, e) = libm::frexp(want.abs().min(largest));
    let unit = (e - digits).max(least);
    // Scaled by halves: at the ends of the range the unit, or its inverse, is no float64.
    let scaled = |x: f64| libm::ldexp(libm::ldexp(x, -unit / 2), -unit - -unit / 2);
    let bounded = |x: f64| {
        if x.is_infinite() {
            libm::ldexp(scaled(largest), 0) * x.signum() + x.signum()
        } else {
            scaled(x)
        }
    };
    ((bounded(got) - bounded(want)) - scaled(rest)).abs()
}
/// In units of float32.
pub fn ulps32(got: f32, want: f64) -> f64 {
    // Rounded to float32, half a unit beyond the largest is infinite.
    let want = if want.abs() >= 340_282_356_779_733_661_637_539_395_458_142_568_448.0 {
        want.signum() * f64::INFINITY
    } else {
        want
    };
    let want = if want.is_nan() || want != 0.0 || got == 0.0 {
        want
    } else {
        0.0
    };
    ulps(got as f64, want, 0.0, 24, -149, f32::MAX as f64)
}
/// In units of float64.
pub fn ulps64(got: f64, want: f64, rest: f64) -> f64 {
    ulps(got, want, rest, 53, -1074, f64::MAX)
}
