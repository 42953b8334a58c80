//! Distances of two rows, and accumulation of rows.

use super::columns::{COLUMNS, Order, accumulators, at, put, vectors};
use super::norm::{Power, whole_power};
use crate::kernel::math::{Math, Real};
use crate::simd::Isa;
use crate::simd::lanes::Lanes;

/// A measure of two rows.
#[derive(Clone, Copy, Debug)]
pub enum Distance {
    /// The norm of `a - b + eps`.
    Of {
        /// The order of the norm.
        power: Power,
        /// Added to differences.
        eps: f64,
    },
    /// Cosine similarity, with norms clamped from below.
    Cosine {
        /// The lower bound of the norms.
        eps: f64,
    },
}

kernel! {
    /// The measures of row `a` and each of the consecutive rows `b`, of equal length.
    pub fn of<'a, F: Real>(by: Distance, a: &'a [F], b: &'a [F], y: &'a mut [F]) -> () { |I|
        for (k, y) in y.iter_mut().enumerate() {
            let b = &b[k * a.len()..][..a.len()];
            *y = match by {
                Distance::Cosine { eps } => cosine::<I, F>(a, b, F::from_f64(eps)),
                Distance::Of { power, eps } => length::<I, F>(power, F::from_f64(eps), a, b),
            };
        }
    }
}
kernel! {
    /// The cosines of the columns of matrices of `n` rows.
    pub fn cosines_of_columns<'a, F: Real>(n: usize, eps: f64, a: &'a [F], b: &'a [F], y: &'a mut [F]) -> () { |I|
        let (mut acc, zero) = (accumulators::<F::Vector<I>>(), F::Vector::<I>::splat(F::ZERO));
        let operands = a.chunks_exact(COLUMNS * n).zip(b.chunks_exact(COLUMNS * n));
        for (y, (a, b)) in y.chunks_exact_mut(COLUMNS).zip(operands) {
            let mut sums = [[F::ZERO; COLUMNS]; 3];
            for (sums, (a, b)) in sums.iter_mut().zip([(a, b), (a, a), (b, b)]) {
                for c in vectors::<F::Vector<I>>() {
                    let sum = columns!(&mut acc, Order::LANES, n, zero, |r| at::<F::Vector<I>>(a, r, c) * at(b, r, c), |s, t| s + t);
                    put(sums, 0, c, sum);
                }
            }
            for (j, y) in y.iter_mut().enumerate() {
                *y = ratio::<I, F>(sums[0][j], sums[1][j], sums[2][j], F::from_f64(eps));
            }
        }
    }
}
#[inline(always)]
fn cosine<I: Isa, F: Real>(a: &[F], b: &[F], eps: F) -> F {
    let dot = lanes!(a, b, F::ZERO, |x, y| x * y, |s, t| s + t);
    let of_a = lanes!(a, F::ZERO, |x| x * x, |s, t| s + t);
    let of_b = lanes!(b, F::ZERO, |x| x * x, |s, t| s + t);
    ratio::<I, F>(dot, of_a, of_b, eps)
}
/// The cosine from the product of two rows and their squares.
#[inline(always)]
fn ratio<I: Isa, F: Real>(dot: F, of_a: F, of_b: F, eps: F) -> F {
    let (a, b) = (Math::sqrt::<I>(of_a), Math::sqrt::<I>(of_b));
    dot / (a.maximum::<I>(eps) * b.maximum::<I>(eps))
}
#[inline(always)]
fn length<I: Isa, F: Real>(power: Power, eps: F, a: &[F], b: &[F]) -> F {
    match power {
        Power::Zero => lanes!(
            a,
            b,
            F::ZERO,
            |x, y| if x - y + eps == F::ZERO {
                F::ZERO
            } else {
                F::ONE
            },
            |s, t| s + t
        ),
        Power::One => lanes!(a, b, F::ZERO, |x, y| (x - y + eps).abs::<I>(), |s, t| s + t),
        Power::Two => {
            let sum = lanes!(
                a,
                b,
                F::ZERO,
                |x, y| {
                    let d = x - y + eps;
                    d * d
                },
                |s, t| s + t
            );
            Math::sqrt::<I>(sum)
        }
        Power::Infinity => lanes!(a, b, F::ZERO, |x, y| (x - y + eps).abs::<I>(), |s, t| s
            .maximum::<I>(t)),
        Power::Whole(p) => {
            let sum = lanes!(
                a,
                b,
                F::ZERO,
                |x, y| whole_power((x - y + eps).abs::<I>(), p),
                |s, t| s + t
            );
            Math::pow::<I>(sum, F::from_f64(1.0 / p as f64))
        }
        Power::Other(p) => {
            let q = F::from_f64(p);
            let sum = lanes!(
                a,
                b,
                F::ZERO,
                |x, y| Math::pow::<I>((x - y + eps).abs::<I>(), q),
                |s, t| s + t
            );
            Math::pow::<I>(sum, F::from_f64(1.0 / p))
        }
    }
}
