//! Floats of random bits.

use super::{GROUP, Group};
use crate::kernel::convert::Cast;
use crate::kernel::math::{Math, Real};
use crate::simd::Portable;
use core::f64::consts::PI;

/// 2^52: an integer below it is converted by writing it into the fraction of this number.
const WHOLE: u64 = 0x4330_0000_0000_0000;
const TWO_32: f64 = 4_294_967_296.0;
const TWO_52: f64 = 4_503_599_627_370_496.0;

kernel! {
    /// Multiples of 2^-kept from 0 up to 1, which is left out: the highest bits of each word, of
    /// which a float32 holds 24.
    pub fn singles<'a>(words: &'a [u32], kept: u32, y: &'a mut [f32]) -> () { |I|
        let (shift, unit) = (32 - kept, 1.0 / (1u64 << kept) as f32);
        for (y, word) in y.iter_mut().zip(words) {
            *y = (*word >> shift) as i32 as f32 * unit;
        }
    }
}
kernel! {
    /// Floats rounded to a dtype.
    pub fn narrow<'a, T: Cast>(x: &'a [f64], y: &'a mut [T]) -> () { |I|
        for (y, x) in y.iter_mut().zip(x) {
            *y = T::from_double(*x);
        }
    }
}

/// The distributions that take the same number of bits for each element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transform {
    /// Uniform from 0 to 1, which is left out: multiples of 2^-kept.
    Uniform {
        /// How many bits are kept, up to 53.
        kept: u32,
    },
    /// Normal, of 64 bits for two elements, up to 6.7 standard deviations: of float32 and narrower.
    ShortNormal,
    /// Normal, of 128 bits for two elements, up to 9.4 standard deviations.
    Normal,
    /// Exponential.
    Exponential,
    /// Gumbel.
    Gumbel,
    /// Logistic.
    Logistic,
    /// Laplace.
    Laplace,
}
impl Transform {
    /// How many elements a group makes.
    pub const fn per_group(self) -> usize {
        match self {
            Transform::ShortNormal => 2 * GROUP,
            _ => GROUP,
        }
    }
    /// Operations per element, roughly, those of the bits included.
    pub const fn flops(self) -> usize {
        match self {
            Transform::Uniform { .. } => 16,
            Transform::ShortNormal | Transform::Normal => 48,
            _ => 64,
        }
    }
}

/// The elements of each group.
pub fn doubles(transform: Transform, groups: &[Group], y: &mut [f64]) {
    match transform {
        Transform::Uniform { kept } => uniform(groups, kept, y),
        Transform::ShortNormal => short_normal(groups, y),
        Transform::Normal => normal(groups, y),
        Transform::Exponential => exponential(groups, y),
        Transform::Gumbel => {
            exponential(groups, y);
            transformed(Unary::MinusLog, y);
        }
        Transform::Logistic => logistic(groups, y),
        Transform::Laplace => laplace(groups, y),
    }
}

kernel! {
    fn uniform<'a>(groups: &'a [Group], kept: u32, y: &'a mut [f64]) -> () { |I|
        let (shift, unit) = (64 - kept, 1.0 / (1u64 << kept) as f64);
        for (y, x) in y.iter_mut().zip(groups.as_flattened()) {
            *y = (*x >> shift) as f64 * unit;
        }
    }
}

/// `(k + 1/2) / 2^64`, rounded, but never 1.
#[inline(always)]
pub fn open(k: u64) -> f64 {
    const BELOW_ONE: f64 = 1.0 - f64::EPSILON / 2.0;
    let high = f64::from_bits(WHOLE | (k >> 32)) - TWO_52;
    let low = f64::from_bits(WHOLE | (k & 0xffff_ffff)) - TWO_52;
    let u = (high * TWO_32 + (low + 0.5)) * (1.0 / TWO_32 / TWO_32);
    if u < BELOW_ONE { u } else { BELOW_ONE }
}

/// Two normal numbers (Box and Muller, 1958): the radius of a number from 0 to 1, at an angle of
/// `turn / 2^53` of a circle, which is reduced to an eighth on either side of an axis.
#[inline(always)]
pub fn pair(u: f64, turn: u64) -> (f64, f64) {
    const EIGHTH: u64 = 1 << 50;
    const UNIT: f64 = PI / TWO_52;
    let radius = Math::sqrt::<Portable>(-2.0 * Real::log_fast::<Portable>(u));
    let a = turn + EIGHTH;
    let quarter = a >> 51;
    let x = (f64::from_bits(WHOLE | (a & ((1 << 51) - 1))) - (TWO_52 + EIGHTH as f64)) * UNIT;
    // the polynomials of fdlibm, for up to pi / 4
    let z = x * x;
    let s = 2.755_731_370_707_006_8e-6
        + z * (-2.505_076_025_340_686_3e-8 + z * 1.589_690_995_211_55e-10);
    let s = 8.333_333_333_322_49e-3 + z * (-1.984_126_982_985_795e-4 + z * s);
    let s = -1.666_666_666_666_663_2e-1 + z * s;
    let c = -2.755_731_435_139_066_3e-7
        + z * (2.087_572_321_298_175e-9 + z * -1.135_964_755_778_819_5e-11);
    let c = -1.388_888_888_887_411e-3 + z * (2.480_158_728_947_673e-5 + z * c);
    let c = 4.166_666_666_666_66e-2 + z * c;
    let sin = x + x * (z * s);
    let cos = 1.0 - (0.5 * z - z * z * c);
    let odd = quarter & 1 != 0;
    let (first, second) = (if odd { sin } else { cos }, if odd { cos } else { sin });
    let (first_sign, second_sign) = (((quarter + 1) & 2) << 62, (quarter & 2) << 62);
    (
        radius * f64::from_bits(first.to_bits() ^ first_sign),
        radius * f64::from_bits(second.to_bits() ^ second_sign),
    )
}

kernel! {
    fn short_normal<'a>(groups: &'a [Group], y: &'a mut [f64]) -> () { |I|
        for (y, x) in y.as_chunks_mut::<{ 2 * GROUP }>().0.iter_mut().zip(groups) {
            let (first, second) = y.split_at_mut(GROUP);
            for j in 0..GROUP {
                let high = f64::from_bits(WHOLE | (x[j] >> 32)) - TWO_52;
                let turn = ((x[j] & 0xffff_ffff) << 21) | (1 << 20);
                (first[j], second[j]) = pair((high + 0.5) * (1.0 / TWO_32), turn);
            }
        }
    }
}
kernel! {
    fn normal<'a>(groups: &'a [Group], y: &'a mut [f64]) -> () { |I|
        const HALF: usize = GROUP / 2;
        const BATCH: usize = 8;
        // side by side, since a loop over half a group is unrolled rather than vectorised
        let (mut radii, mut turns) = ([0; HALF * BATCH], [0; HALF * BATCH]);
        let (mut first, mut second) = ([0.0; HALF * BATCH], [0.0; HALF * BATCH]);
        for (y, groups) in y.chunks_mut(GROUP * BATCH).zip(groups.chunks(BATCH)) {
            for (k, x) in groups.iter().enumerate() {
                radii[HALF * k..][..HALF].copy_from_slice(&x[..HALF]);
                turns[HALF * k..][..HALF].copy_from_slice(&x[HALF..]);
            }
            for j in 0..HALF * BATCH {
                (first[j], second[j]) = pair(open(radii[j]), (turns[j] >> 11) | 1);
            }
            for (k, y) in y.as_chunks_mut::<GROUP>().0.iter_mut().enumerate() {
                y[..HALF].copy_from_slice(&first[HALF * k..][..HALF]);
                y[HALF..].copy_from_slice(&second[HALF * k..][..HALF]);
            }
        }
    }
}
kernel! {
    fn exponential<'a>(groups: &'a [Group], y: &'a mut [f64]) -> () { |I|
        for (y, x) in y.iter_mut().zip(groups.as_flattened()) {
            *y = 0.0 - Real::log_fast::<Portable>(open(*x));
        }
    }
}
kernel! {
    fn logistic<'a>(groups: &'a [Group], y: &'a mut [f64]) -> () { |I|
        for (y, x) in y.iter_mut().zip(groups.as_flattened()) {
            // the complement is 1 - u, without cancellation
            *y = Real::log_fast::<Portable>(open(*x)) - Real::log_fast::<Portable>(open(!*x));
        }
    }
}
kernel! {
    fn laplace<'a>(groups: &'a [Group], y: &'a mut [f64]) -> () { |I|
        for (y, x) in y.iter_mut().zip(groups.as_flattened()) {
            // the lowest bit is the sign; as a part of the number it is far below its rounding
            let size = 0.0 - Real::log_fast::<Portable>(open(*x));
            *y = f64::from_bits(size.to_bits() ^ (*x << 63));
        }
    }
}

/// Functions of floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    /// `-log(x)` of a positive normal number.
    MinusLog,
    /// `exp(x)`.
    Exp,
}
kernel! {
    /// Applies a function to floats.
    pub fn transformed<'a>(f: Unary, y: &'a mut [f64]) -> () { |I|
        match f {
            Unary::MinusLog => for y in y {
                *y = 0.0 - Real::log_fast::<Portable>(*y);
            },
            Unary::Exp => for y in y {
                *y = Math::exp::<Portable>(*y);
            },
        }
    }
}
