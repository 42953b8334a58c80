//! Sums of squares that overflow or vanish though their root would not: how to tell, and by which
//! power of two to multiply the terms instead.

/// The exponent of the least normal number, of the last digit after 1, and of the largest, for float32
/// or float64.
const fn exponents<F>() -> (u64, u64, i64) {
    match size_of::<F>() {
        4 => (126, 23, 127),
        _ => (1022, 52, 1023),
    }
}
/// `2^exponent`.
const fn power(exponent: i64) -> f64 {
    f64::from_bits(((1023 + exponent) as u64) << 52)
}

/// The smallest sum of squares that lost no digits that count.
pub const fn least_sum<F>() -> f64 {
    let (least, digits, _) = exponents::<F>();
    power(digits as i64 - least as i64)
}
/// A sum of squares that is finite when multiplied by 8.
pub const fn most_sum<F>() -> f64 {
    power(exponents::<F>().2 - 3)
}
/// The root of the smallest, or somewhat more.
pub const fn least_root<F>() -> f64 {
    let (least, digits, _) = exponents::<F>();
    power(-((least - digits) as i64 / 2))
}
/// Whether a sum of squares is infinite or NaN, or so small that digits were lost.
#[inline(always)]
pub const fn is_lost<F>(sum: f64) -> bool {
    !((sum >= least_sum::<F>()) & (sum < f64::INFINITY))
}

/// The power of two that brings a magnitude into [1, 2), as far as `F` has one and its inverse; 1 for
/// 0 and what is not finite.
pub fn to_one<F>(magnitude: f64) -> f64 {
    if !(magnitude > 0.0 && magnitude < f64::INFINITY) {
        return 1.0;
    }
    let most = exponents::<F>().2 - 1;
    let exponent = (magnitude.to_bits() >> 52) as i64 - 1023;
    power(-exponent.clamp(-most, most))
}

/// The largest magnitude; NaN if there is one.
pub fn largest(x: impl Iterator<Item = f64>) -> f64 {
    let mut most = 0.0;
    for x in x {
        let x = if x < 0.0 { -x } else { x };
        if x > most || x.is_nan() {
            most = x;
        }
        if most.is_nan() {
            break;
        }
    }
    most
}

/// The sum, with what additions lose added to the next term (Kahan 1965); that of none is -0.
pub fn sum_of(x: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut lost) = (-0.0, 0.0);
    for x in x {
        let x = x - lost;
        let next = sum + x;
        let added = next - sum;
        lost = if added < f64::INFINITY && added > f64::NEG_INFINITY {
            added - x
        } else {
            0.0
        };
        sum = next;
    }
    sum
}
