//! Rows divided by their p-norm.

use super::scaled::scaled_eps;
use super::{OfColumns, RowNorm, normalize_columns};
use crate::kernel::math::{Math, Real};
use crate::kernel::range::least_sum;
use crate::simd::{Isa, MICROCONTROLLER};
use core::ops::Mul;

/// The order of the norm: the p-th root of the sum of p-th powers of magnitudes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Power {
    /// The number of nonzero elements.
    Zero,
    /// The sum of magnitudes.
    One,
    /// The Euclidean norm.
    Two,
    /// The largest magnitude.
    Infinity,
    /// A whole order from 3 to 7, whose powers are products.
    Whole(u8),
    /// Any other order.
    Other(f64),
}
impl From<f64> for Power {
    fn from(p: f64) -> Power {
        match p {
            0.0 => Power::Zero,
            1.0 => Power::One,
            2.0 => Power::Two,
            f64::INFINITY => Power::Infinity,
            3.0 | 4.0 | 5.0 | 6.0 | 7.0 => Power::Whole(p as u8),
            p => Power::Other(p),
        }
    }
}

/// `x` to the power of `p`, from 0 to 7: for a `p` that is the same for all elements, a few
/// multiplications and selections without branches.
#[inline(always)]
pub fn whole_power<T: Copy + Mul<Output = T>>(x: T, one: T, p: u8) -> T {
    let square = x * x;
    let by_one = if p & 1 == 0 { one } else { x };
    let by_two = if p & 2 == 0 { one } else { square };
    let by_four = if p & 4 == 0 { one } else { square * square };
    by_one * by_two * by_four
}

kernel! {
    /// 0 if the magnitudes of all numbers lie between the bounds, 1 if there are zeros besides, 2 if there
    /// is any other number.
    pub fn farthest<'a, F: Real>(x: &'a [F], least: F, most: F) -> F { |I|
        let two = F::ONE + F::ONE;
        lanes!(x, F::ZERO, |v| {
            let size = v.abs::<I>();
            let far = if (size >= least) & (size <= most) { F::ZERO } else { two };
            if v == F::ZERO { F::ONE } else { far }
        }, |a, b| if b > a { b } else { a })
    }
}

/// `x / max(norm(x), eps)`.
pub struct Normalize {
    pub(super) power: Power,
    eps: f64,
    /// The least norm none of whose powers lost digits that count.
    least: f64,
}
impl Normalize {
    /// With the order of the norm, and the lower bound of the divisor, for numbers of type `F`.
    pub fn new<F>(power: Power, eps: f64) -> Normalize {
        let order = match power {
            Power::Zero | Power::One | Power::Infinity => None,
            Power::Two => Some(2.0),
            Power::Whole(p) => Some(f64::from(p)),
            Power::Other(p) => Some(p).filter(|p| *p > 1.0),
        };
        let least = order.map_or(0.0, |p| libm::pow(least_sum::<F>(), 1.0 / p));
        Normalize { power, eps, least }
    }
}
impl<F: Real> RowNorm<F> for Normalize {
    const FLOPS: usize = 8;
    fn columns(&self) -> Option<OfColumns<Self, F>> {
        self.has_columns().then_some(normalize_columns)
    }
    #[inline(always)]
    fn is_lost(&self, [length, _]: [F; 2]) -> bool {
        !(length >= F::from_f64(self.least) && length < -F::NEG_INFINITY)
    }
    fn scaled(&self, factor: f64) -> Option<Self> {
        let eps = scaled_eps::<F>(self.eps, factor, 1)?;
        Some(Normalize { eps, ..*self })
    }
    /// The sum of powers, or the largest magnitude.
    #[inline(always)]
    fn part<I: Isa>(&self, x: &[F], _: &mut [F]) -> [F; 2] {
        let zero = F::default();
        let sum = match self.power {
            Power::One => lanes!(x, zero, |v| v.abs::<I>(), |a, b| a + b),
            Power::Two => lanes!(x, zero, |v| v * v, |a, b| a + b),
            Power::Infinity => {
                // the largest of comparisons ignores NaN, a sum propagates it
                let nan = lanes!(x, zero, |v| if v.isnan() { v } else { zero }, |a, b| a + b);
                let largest = lanes!(x, zero, |v| v.abs::<I>(), |a, b| if b > a { b } else { a });
                if nan.isnan() { nan } else { largest }
            }
            power => {
                const BLOCK: usize = if MICROCONTROLLER { 16 } else { 256 };
                let mut sum = zero;
                for x in x.chunks(BLOCK) {
                    let mut powers = [zero; BLOCK];
                    let each = powers.iter_mut().zip(x);
                    if power == Power::Zero {
                        for (y, x) in each {
                            *y = if *x == F::ZERO { F::ZERO } else { F::ONE };
                        }
                    } else if let Power::Whole(p) = power {
                        for (y, x) in each {
                            *y = whole_power(x.abs::<I>(), F::ONE, p);
                        }
                    } else if let Power::Other(p) = power {
                        let p = F::from_f64(p);
                        for (y, x) in each {
                            *y = Math::pow::<I>(x.abs::<I>(), p);
                        }
                    }
                    sum = sum + lanes!(&powers[..x.len()], zero, |v| v, |a, b| a + b);
                }
                sum
            }
        };
        [sum, zero]
    }
    #[inline(always)]
    fn join<I: Isa>(&self, parts: &mut [[F; 2]], _: usize) {
        let mut all = parts[0][0];
        for [part, _] in &parts[1..] {
            all = match self.power {
                Power::Infinity => all.maximum::<I>(*part),
                _ => all + *part,
            };
        }
        let order = match self.power {
            Power::Whole(p) => Some(p as f64),
            Power::Other(p) => Some(p),
            _ => None,
        };
        let length = match order {
            Some(p) => Math::pow::<I>(all, F::from_f64(1.0 / p)),
            None if self.power == Power::Two => Math::sqrt::<I>(all),
            None => all,
        };
        let length = length.maximum::<I>(F::from_f64(self.eps));
        parts.fill([length, length]);
    }
    #[inline(always)]
    fn write<I: Isa>(&self, [length, _]: [F; 2], _: usize, x: &[F], y: &mut [F]) {
        for (y, x) in y.iter_mut().zip(x) {
            *y = *x / length;
        }
    }
}
