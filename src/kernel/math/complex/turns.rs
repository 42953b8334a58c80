//! cos and sin of `y log(2)` for y of any size: the bits of log(2) / (2 pi), which count turns, as far
//! as the exponent of y reaches, times its fraction, as integers (after Payne and Hanek).

/// The bits of log(2) / (2 pi) after the point.
const TURNS: [u64; 20] = [
    0x1c3dc98f7e969bbb,
    0x2d82160b957fbcf7,
    0x6384efb34752570d,
    0x875c804ebaa7e3f2,
    0x9dba19bf26d22f92,
    0x057d72dbf62fb884,
    0x40e536cc0835bad4,
    0x8c3fea6ba432f1cd,
    0x544d633b59f036cf,
    0x1243456f76468a7d,
    0x5a0900abd7a3e708,
    0xeffc572f1c7c17fb,
    0x7f82ec188aa323d9,
    0xdcc271169d408a0a,
    0xbab43090d71549ee,
    0xdd67cd178b418a3a,
    0x2c6958e894f98a46,
    0x3a97ff6afab0351e,
    0x73fb6c6dbf1e2d0e,
    0x68cce897f71def8c,
];

/// The 64 bits of the table from bit `at`, which may lie up to 64 before the point.
fn bits(at: i32) -> u64 {
    let word = |k: i32| usize::try_from(k).map_or(0, |k| TURNS.get(k).copied().unwrap_or(0));
    let (k, shift) = (at.div_euclid(64), at.rem_euclid(64) as u32);
    ((u128::from(word(k)) << 64 | u128::from(word(k + 1))) << shift >> 64) as u64
}

/// cos and sin of `y log(2)`, for finite |y| of at least 1.
pub fn cos_sin(y: f64) -> (f64, f64) {
    // |y| = fraction 2^exponent
    let fraction = u128::from(y.to_bits() & ((1 << 52) - 1) | 1 << 52);
    let exponent = (y.to_bits() >> 52 & 0x7ff) as i32 - 1075;
    // whole turns don't count: those of the table's bits before `exponent` are, and products wrap
    let part = |k: i32| fraction * u128::from(bits(exponent + 64 * k));
    let middle = part(1) + (part(2) >> 64);
    let turns = (part(0) << 64).wrapping_add(middle);
    // the nearest quarter, and what is left of it, in units of 2^-128 turns
    let quarter = turns.wrapping_add(1 << 125) >> 126;
    let rest = turns.wrapping_sub(quarter << 126) as i128;
    let angle = rest as f64 * (core::f64::consts::TAU * f64::from_bits((1023 - 128) << 52));
    let (c, s) = (libm::cos(angle), libm::sin(angle));
    let (c, s) = match quarter {
        0 => (c, s),
        1 => (-s, c),
        2 => (-c, -s),
        _ => (s, -c),
    };
    (c, libm::copysign(1.0, y) * s)
}
