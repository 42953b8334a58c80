//! Roots of unity, accurate to about half an ulp of float64 for every order, and computable at
//! compile time.
//!
//! The angle is reduced in integers to an eighth of a turn, kept as a sum of two floats, and put
//! through the Taylor series of sine and cosine, whose remainders are below 1e-17 there.

/// pi / 4, and its rounding error.
const EIGHTH: f64 = core::f64::consts::FRAC_PI_4;
const EIGHTH_REST: f64 = 3.061_616_997_868_383e-17;

/// `a * b` and the error of rounding it (Dekker, 1971: "A floating-point technique for extending
/// the available precision").
const fn product(a: f64, b: f64) -> (f64, f64) {
    let (ah, al) = halves(a);
    let (bh, bl) = halves(b);
    let p = a * b;
    (p, al * bl - (((p - ah * bh) - al * bh) - ah * bl))
}

/// Splits into the upper and lower 26 bits of the significand.
const fn halves(a: f64) -> (f64, f64) {
    let c = 134_217_729.0 * a;
    let high = c - (c - a);
    (high, a - high)
}

/// `exp(-2 pi i k / n)` as (real, imaginary), for `0 < n < 2^53`.
pub const fn root(k: u64, n: u64) -> (f64, f64) {
    let (octant, rest) = (8 * (k % n) / n, 8 * (k % n) % n);
    let part = if octant % 2 == 0 { rest } else { n - rest };
    let (numerator, n) = (part as f64, n as f64);
    let t = numerator / n;
    let (p, e) = product(t, n);
    let t_rest = ((numerator - p) - e) / n;
    let (x, e) = product(t, EIGHTH);
    let (s, c) = sine_and_cosine(x, e + (t_rest * EIGHTH + t * EIGHTH_REST));
    match octant {
        0 => (c, -s),
        1 => (s, -c),
        2 => (-s, -c),
        3 => (-c, -s),
        4 => (-c, s),
        5 => (-s, c),
        6 => (s, c),
        _ => (c, s),
    }
}

/// Sine and cosine of `x + y`, where `x` is in 0 to pi / 4 and `y` is its rounding error.
const fn sine_and_cosine(x: f64, y: f64) -> (f64, f64) {
    let z = x * x;
    // 1/3!, 1/5!, .. and 1/4!, 1/6!, .. with alternating signs
    let s = -1.0 / 6.0
        + z * (1.0 / 120.0
            + z * (-1.0 / 5_040.0
                + z * (1.0 / 362_880.0
                    + z * (-1.0 / 39_916_800.0
                        + z * (1.0 / 6_227_020_800.0
                            + z * (-1.0 / 1_307_674_368_000.0
                                + z * (1.0 / 355_687_428_096_000.0)))))));
    let c = 1.0 / 24.0
        + z * (-1.0 / 720.0
            + z * (1.0 / 40_320.0
                + z * (-1.0 / 3_628_800.0
                    + z * (1.0 / 479_001_600.0
                        + z * (-1.0 / 87_178_291_200.0
                            + z * (1.0 / 20_922_789_888_000.0
                                + z * (-1.0 / 6_402_373_705_728_000.0)))))));
    let sine = x + (x * z * s + y * (1.0 - 0.5 * z));
    let half = 0.5 * z;
    let near = 1.0 - half;
    let cosine = near + (((1.0 - near) - half) + (z * z * c - x * y));
    (sine, cosine)
}
