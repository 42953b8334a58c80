//! Distances and similarities of rows, in explicit vectors: what LLVM makes of these loops is many
//! times as large.

mod many;

use super::columns::{COLUMNS, Order, accumulators, at, put, vectors};
use super::norm::{Power, whole_power};
use crate::kernel::math::{Math, Real};
use crate::kernel::range::{largest, least_root, least_sum, sum_of, to_one};
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

/// The measures of row `a` and each of the consecutive rows `b`, of equal length; for whole orders
/// from 3 on, their powers, whose roots the caller takes of all at once. Where powers were lost, it is
/// the measure itself, negated; true if there is such.
pub fn of<F: Real>(by: Distance, a: &[F], b: &[F], y: &mut [F]) -> bool {
    let lost = measures(by, a, b, y);
    match by {
        Distance::Of { power, eps } => settle(power, eps, a, b, y),
        Distance::Cosine { eps } => {
            if lost {
                for (k, y) in y.iter_mut().enumerate() {
                    *y = scaled_cosine(eps, a, &b[k * a.len()..][..a.len()]);
                }
            }
            false
        }
    }
}
/// Computes distances again whose powers were lost.
fn settle<F: Real>(power: Power, eps: f64, a: &[F], b: &[F], y: &mut [F]) -> bool {
    let (order, sign) = match power {
        Power::Two => (2.0, F::ONE),
        Power::Whole(p) => (f64::from(p), -F::ONE),
        Power::Other(p) if p > 1.0 => (p, F::ONE),
        _ => return false,
    };
    let least = match power {
        Power::Two => least_root::<F>(),
        Power::Whole(_) => least_sum::<F>(),
        _ => libm::pow(least_sum::<F>(), 1.0 / order),
    };
    let (least, mut negated) = (F::from_f64(least), false);
    let is_lost = |y: F| !((y >= least) & (y < -F::NEG_INFINITY));
    if !y.iter().fold(false, |any, y| any | is_lost(*y)) {
        return false;
    }
    for (k, y) in y.iter_mut().enumerate() {
        if is_lost(*y) {
            let length = length_by_largest(order, eps, a, &b[k * a.len()..][..a.len()]);
            // nothing is no measure's negative
            *y = if length == F::ZERO {
                length
            } else {
                sign * length
            };
            negated |= *y < F::ZERO;
        }
    }
    negated
}
/// The norm of order `p` of `a - b + eps`, whatever its magnitude: of what is left of the elements when
/// they are divided by the largest.
#[cold]
#[inline(never)]
pub fn length_by_largest<F: Real>(p: f64, eps: f64, a: &[F], b: &[F]) -> F {
    let apart = || {
        let pairs = a.iter().zip(b);
        pairs.map(|(a, b)| a.to_f64() - b.to_f64() + eps)
    };
    let most = largest(apart());
    if !(most > 0.0 && most < f64::INFINITY) {
        return F::from_f64(most);
    }
    let power = |d: f64| match p {
        2.0 => d * d,
        _ => libm::pow(libm::fabs(d), p),
    };
    let sum = sum_of(apart().map(|d| power(d / most)));
    F::from_f64(most * libm::pow(sum, 1.0 / p))
}
/// The cosine of two rows, computed from multiples by powers of two.
#[cold]
#[inline(never)]
fn scaled_cosine<F: Real>(eps: f64, a: &[F], b: &[F]) -> F {
    let factor = |x: &[F]| F::from_f64(to_one::<F>(largest(x.iter().map(|x| x.to_f64()))));
    scaled(eps, a, b, factor(a), factor(b))
}
kernel! {
    /// The cosine of two rows, each multiplied by a number first.
    fn scaled<'a, F: Real>(eps: f64, a: &'a [F], b: &'a [F], s: F, t: F) -> F { |I|
        let dot = sum::<I, F, _>(&ScaledProducts(s, t), a, b);
        let of_a = sum::<I, F, _>(&ScaledProducts(s, s), a, a);
        let of_b = sum::<I, F, _>(&ScaledProducts(t, t), b, b);
        let eps = F::from_f64(eps);
        ratio::<I, F>(dot, of_a, of_b, eps * s, eps * t)
    }
}
kernel! {
    /// The measures of row `a` and each of the consecutive rows `b`; whether squares were lost on the
    /// way to cosines.
    fn measures<'a, F: Real>(by: Distance, a: &'a [F], b: &'a [F], y: &'a mut [F]) -> bool { |I|
        let mut lost = false;
        for (k, y) in y.iter_mut().enumerate() {
            let b = &b[k * a.len()..][..a.len()];
            *y = match by {
                Distance::Cosine { eps } => {
                    let dot = sum::<I, F, _>(&Products, a, b);
                    let of_a = sum::<I, F, _>(&Products, a, a);
                    let of_b = sum::<I, F, _>(&Products, b, b);
                    let eps = F::from_f64(eps);
                    lost |= is_lost_cosine(dot, of_a, of_b, eps);
                    ratio::<I, F>(dot, of_a, of_b, eps, eps)
                }
                Distance::Of { power, eps } => length::<I, F>(power, F::from_f64(eps), a, b),
            };
        }
        lost
    }
}
kernel! {
    /// The cosines of the columns of matrices of `n` rows; whether squares were lost on the way.
    pub fn cosines_of_columns<'a, F: Real>(n: usize, eps: f64, a: &'a [F], b: &'a [F], y: &'a mut [F]) -> bool { |I|
        let (mut acc, zero) = (accumulators::<F::Vector<I>>(), F::Vector::<I>::splat(F::ZERO));
        let mut lost = false;
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
                let eps = F::from_f64(eps);
                lost |= is_lost_cosine(sums[0][j], sums[1][j], sums[2][j], eps);
                *y = ratio::<I, F>(sums[0][j], sums[1][j], sums[2][j], eps, eps);
            }
        }
        lost
    }
}
/// Whether one of these sums overflowed, or squares vanished that a norm of at least `eps` is made of.
#[inline(always)]
fn is_lost_cosine<F: Real>(dot: F, of_a: F, of_b: F, eps: F) -> bool {
    let (least, root) = (
        F::from_f64(least_sum::<F>()),
        F::from_f64(least_root::<F>()),
    );
    let vanished = (eps < root) & !((of_a >= least) & (of_b >= least));
    vanished | !(dot.isfinite() & of_a.isfinite() & of_b.isfinite())
}
/// The cosine from the product of two rows and their squares.
#[inline(always)]
fn ratio<I: Isa, F: Real>(dot: F, of_a: F, of_b: F, eps_a: F, eps_b: F) -> F {
    let (a, b) = (Math::sqrt::<I>(of_a), Math::sqrt::<I>(of_b));
    dot / (a.maximum::<I>(eps_a) * b.maximum::<I>(eps_b))
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
/// The sum of products of elements that are multiplied first, each by its number.
struct ScaledProducts<F>(F, F);
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
    ScaledProducts<F>: |self, a, b| (a * V::splat(self.0)) * (b * V::splat(self.1)), |s, t| s + t;
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
