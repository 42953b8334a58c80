//! Distances and similarities of rows, in explicit vectors: what LLVM makes of these loops is many
//! times as large.

mod many;

use super::columns::{COLUMNS, Order, accumulators, at, put, vectors};
use super::norm::{Power, whole_power};
use crate::kernel::math::{Math, Real};
use crate::kernel::reduce::short::{RowReduction, across};
use crate::simd::Isa;
use crate::simd::lanes::Lanes;

pub use many::of_many;

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
    /// The measures of row `a` and each of the consecutive rows `b`, of equal length; for whole orders
    /// from 3 on, their powers, whose roots the caller takes of all at once.
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
    let dot = sum::<I, F, _>(&Products, a, b);
    let of_a = sum::<I, F, _>(&Products, a, a);
    let of_b = sum::<I, F, _>(&Products, b, b);
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
        Power::One => sum::<I, F, _>(&Magnitudes(eps), a, b),
        Power::Two => Math::sqrt::<I>(sum::<I, F, _>(&Squares(eps), a, b)),
        Power::Infinity => sum::<I, F, _>(&Largest(eps), a, b),
        Power::Whole(p) => sum::<I, F, _>(&Powers::new(eps, p), a, b),
        _ => length_by_power::<I, F>(power, eps, a, b),
    }
}
/// By a function of each magnitude, part by part.
#[inline(always)]
fn length_by_power<I: Isa, F: Real>(power: Power, eps: F, a: &[F], b: &[F]) -> F {
    const PART: usize = 64;
    let mut total = F::Vector::<I>::splat(F::ZERO);
    for (a, b) in a.chunks(PART).zip(b.chunks(PART)) {
        let mut powers = [F::ZERO; PART];
        for (x, (a, b)) in powers.iter_mut().zip(a.iter().zip(b)) {
            *x = (*a - *b + eps).abs::<I>();
        }
        for x in &mut powers[..a.len()] {
            *x = match power {
                Power::Other(p) => Math::pow::<I>(*x, F::from_f64(p)),
                _ if *x == F::ZERO => F::ZERO,
                _ => F::ONE,
            };
        }
        let [part] = joined::<I, F, Products, 1>(&Products, &powers, [&[F::ONE; PART]]);
        total = total + part;
    }
    let sum = across::<F::Vector<I>, Products>(F::ZERO, total);
    match power {
        Power::Other(p) => Math::pow::<I>(sum, F::from_f64(1.0 / p)),
        _ => sum,
    }
}

/// How terms of a sum are made of the elements of two rows, and joined.
trait Terms<F>: RowReduction<F> {
    /// Terms.
    fn of<V: Lanes<Number = F>>(&self, a: V, b: V) -> V;
}
/// The sum of products.
struct Products;
/// The sum of the squares of differences, to which a number is added first.
struct Squares<F>(F);
/// The sum of their magnitudes.
struct Magnitudes<F>(F);
/// The sum of their magnitudes to a power of 3 to 7.
struct Powers<F> {
    eps: F,
    one: F,
    order: u8,
}
impl<F: Real> Powers<F> {
    fn new(eps: F, order: u8) -> Self {
        Powers {
            eps,
            one: F::ONE,
            order,
        }
    }
}
/// The largest magnitude; NaN if there is one.
struct Largest<F>(F);

/// `terms!(Type |self, a, b| term, |s, t| joined; ..)`
macro_rules! terms {
    ($($Type:ty: |$self:ident, $a:ident, $b:ident| $of:expr, |$s:ident, $t:ident| $join:expr;)*) => { $(
        impl<F: Copy> RowReduction<F> for $Type {
            #[inline(always)]
            fn join<V: Lanes<Number = F>>($s: V, $t: V) -> V {
                $join
            }
        }
        impl<F: Copy> Terms<F> for $Type {
            #[inline(always)]
            fn of<V: Lanes<Number = F>>(&$self, $a: V, $b: V) -> V {
                $of
            }
        }
    )* };
}
terms! {
    Products: |self, a, b| a * b, |s, t| s + t;
    Squares<F>: |self, a, b| { let d = a - b + V::splat(self.0); d * d }, |s, t| s + t;
    Magnitudes<F>: |self, a, b| { let d = a - b + V::splat(self.0); d.maximum(-d) }, |s, t| s + t;
    Powers<F>: |self, a, b| { let d = a - b + V::splat(self.eps); whole_power(d.maximum(-d), V::splat(self.one), self.order) }, |s, t| s + t;
    Largest<F>: |self, a, b| { let d = a - b + V::splat(self.0); d.maximum(-d) }, |s, t| s.maximum(t);
}

/// The terms of two rows, all joined.
#[inline(always)]
fn sum<I: Isa, F: Real, T: Terms<F>>(terms: &T, a: &[F], b: &[F]) -> F {
    let [lanes] = joined::<I, F, T, 1>(terms, a, [b]);
    across::<F::Vector<I>, T>(F::ZERO, lanes)
}
/// The lanes to which the terms of `a` and of each of `rows`, of equal length, are joined.
#[inline(always)]
fn joined<I: Isa, F: Real, T: Terms<F>, const R: usize>(
    terms: &T,
    a: &[F],
    rows: [&[F]; R],
) -> [F::Vector<I>; R] {
    /// Vectors that are joined in sequence: few, since each addition rounds.
    const IN_TURN: usize = 64;
    let (n, len) = (a.len(), F::Vector::<I>::LEN);
    let none = F::Vector::<I>::splat(F::ZERO);
    let mut totals = [none; R];
    let mut at = 0;
    while at < n {
        let end = n.min(at + IN_TURN * len);
        let mut parts = [none; R];
        while at + len <= end {
            let x = vector::<F, F::Vector<I>>(a, at);
            for (part, row) in parts.iter_mut().zip(rows) {
                *part = T::join(*part, terms.of(x, vector(row, at)));
            }
            at += len;
        }
        if at < end {
            let x = rest::<F, F::Vector<I>>(a, at);
            for (part, row) in parts.iter_mut().zip(rows) {
                let terms = terms.of(x, rest(row, at));
                *part = T::join(*part, terms.first(end - at, none));
            }
            at = end;
        }
        for (total, part) in totals.iter_mut().zip(parts) {
            *total = T::join(*total, part);
        }
    }
    totals
}
/// A vector of a row's elements. Panics if there are fewer from `at` on.
#[inline(always)]
fn vector<F, V: Lanes<Number = F>>(row: &[F], at: usize) -> V {
    // SAFETY: LANES1, for a slice of `LEN` numbers.
    unsafe { V::load(row[at..at + V::LEN].as_ptr()) }
}
/// A row's elements from `at` on, fewer than a vector has.
#[inline(always)]
fn rest<F, V: Lanes<Number = F>>(row: &[F], at: usize) -> V {
    let rest = &row[at..];
    // SAFETY: LANES1, for as many numbers as there are.
    unsafe { V::load_first(rest.as_ptr(), rest.len()) }
}
