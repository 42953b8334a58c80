//! Rows divided by their p-norm.

use super::softmax::largest;
use super::{OfColumns, RowNorm, normalize_columns};
use crate::kernel::math::{Math, Real};
use crate::simd::Isa;
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

/// `x / max(norm(x), eps)`.
pub struct Normalize {
    /// The order of the norm.
    pub power: Power,
    /// The lower bound of the divisor.
    pub eps: f64,
}
impl<F: Real> RowNorm<F> for Normalize {
    const FLOPS: usize = 8;
    fn columns(&self) -> Option<OfColumns<Self, F>> {
        self.has_columns().then_some(normalize_columns)
    }
    /// The sum of powers, or the largest magnitude.
    #[inline(always)]
    fn part<I: Isa>(&self, x: &[F], y: &mut [F]) -> [F; 2] {
        let zero = F::default();
        let sum = match self.power {
            Power::Zero => lanes!(
                x,
                zero,
                |v| if v == F::ZERO { F::ZERO } else { F::ONE },
                |a, b| a + b
            ),
            Power::One => lanes!(x, zero, |v| v.abs::<I>(), |a, b| a + b),
            Power::Two => lanes!(x, zero, |v| v * v, |a, b| a + b),
            Power::Infinity => {
                for (y, x) in y.iter_mut().zip(x) {
                    *y = x.abs::<I>();
                }
                // `largest` ignores NaN, a sum propagates it
                let nan = lanes!(x, zero, |v| if v.isnan() { v } else { zero }, |a, b| a + b);
                if nan.isnan() { nan } else { largest(y) }
            }
            Power::Whole(p) => {
                lanes!(x, zero, |v| whole_power(v.abs::<I>(), F::ONE, p), |a, b| a
                    + b)
            }
            Power::Other(p) => {
                let p = F::from_f64(p);
                for (y, x) in y.iter_mut().zip(x) {
                    *y = Math::pow::<I>(x.abs::<I>(), p);
                }
                lanes!(y, zero, |v| v, |a, b| a + b)
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
