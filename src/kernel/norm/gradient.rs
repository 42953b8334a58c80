//! Gradients of row normalisations with respect to their operands. A row stays in L1 for all passes
//! over it.

use super::scaled::scaled_eps;
use super::{CHUNK, inverse_deviation, is_lost_inverse};
use crate::error::Error;
use crate::fallible;
use crate::kernel::columns::{COLUMNS, Order, accumulators, at, put, vectors};
use crate::kernel::math::{Math, Real};
use crate::kernel::range::{largest, to_one};
use crate::kernel::reduce::short::{Sums, across};
use crate::simd::lanes::Lanes;
use crate::simd::{L2, prefetch_run};

/// Elements of short rows whose exponentials are computed together.
const TOGETHER: usize = 1024;

kernel! {
    /// Softmax of rows of `n` elements, from its results `y`: `y * (g - sum(g * y))`.
    pub fn softmax<'a, F: Real>(n: usize, g: &'a [F], y: &'a [F], d: &'a mut [F]) -> () { |I|
        let operands = g.chunks_exact(n).zip(y.chunks_exact(n));
        for (d, (g, y)) in d.chunks_exact_mut(n).zip(operands) {
            let sum = lanes!(g, y, F::default(), |g, y| g * y, |a, b| a + b);
            for ((d, g), y) in d.iter_mut().zip(g).zip(y) {
                *d = *y * (*g - sum);
            }
        }
    }
}
kernel! {
    /// log_softmax of rows of `n` elements, from its results `y`: `g - exp(y) * sum(g)`.
    pub fn log_softmax<'a, F: Real>(n: usize, g: &'a [F], y: &'a [F], d: &'a mut [F]) -> () { |I|
        let group = (TOGETHER / n).max(1) * n;
        let operands = g.chunks(group).zip(y.chunks(group));
        for (d, (g, y)) in d.chunks_mut(group).zip(operands) {
            // across row boundaries, to fill vectors
            for (d, y) in d.iter_mut().zip(y) {
                *d = Math::exp::<I>(*y);
            }
            for (d, g) in d.chunks_exact_mut(n).zip(g.chunks_exact(n)) {
                let sum = lanes!(g, F::default(), |v| v, |a, b| a + b);
                for (d, g) in d.iter_mut().zip(g) {
                    *d = *g - *d * sum;
                }
            }
        }
    }
}

kernel! {
    /// [`softmax`] of the columns of matrices of `n` rows.
    pub fn softmax_of_columns<'a, F: Real>(n: usize, g: &'a [F], y: &'a [F], d: &'a mut [F]) -> () { |I|
        let (mut acc, zero) = (accumulators::<F::Vector<I>>(), F::Vector::<I>::splat(F::default()));
        let operands = g.chunks_exact(COLUMNS * n).zip(y.chunks_exact(COLUMNS * n));
        for (d, (g, y)) in d.chunks_exact_mut(COLUMNS * n).zip(operands) {
            for c in vectors::<F::Vector<I>>() {
                let sum = columns!(&mut acc, Order::LANES, n, zero, |r| at::<F::Vector<I>>(g, r, c) * at(y, r, c), |a, b| a + b);
                for r in 0..n {
                    put(d, r, c, at::<F::Vector<I>>(y, r, c) * (at::<F::Vector<I>>(g, r, c) - sum));
                }
            }
        }
    }
}
kernel! {
    /// [`log_softmax`] of the columns of matrices of `n` rows.
    pub fn log_softmax_of_columns<'a, F: Real>(n: usize, g: &'a [F], y: &'a [F], d: &'a mut [F]) -> () { |I|
        for (d, y) in d.iter_mut().zip(y) {
            *d = Math::exp::<I>(*y);
        }
        let (mut acc, zero) = (accumulators::<F::Vector<I>>(), F::Vector::<I>::splat(F::default()));
        for (d, g) in d.chunks_exact_mut(COLUMNS * n).zip(g.chunks_exact(COLUMNS * n)) {
            for c in vectors::<F::Vector<I>>() {
                let sum = columns!(&mut acc, Order::LANES, n, zero, |r| at::<F::Vector<I>>(g, r, c), |a, b| a + b);
                for r in 0..n {
                    put(d, r, c, at::<F::Vector<I>>(g, r, c) - at::<F::Vector<I>>(d, r, c) * sum);
                }
            }
        }
    }
}

kernel! {
    /// What the gradients of a normalisation by channels need of rows of `n` elements, four numbers
    /// a row: the mean of `x`, the sum of its squared deviations from that, and the sums of `g` and
    /// of `g` times the deviations. A chunk stays in L1 for all sums; chunks are joined as in Chan,
    /// Golub and LeVeque (1983).
    pub fn channels<'a, F: Real>(n: usize, g: &'a [F], x: &'a [F], sums: &'a mut [F]) -> () { |I|
        let operands = g.chunks_exact(n).zip(x.chunks_exact(n));
        for (sums, (g, x)) in sums.chunks_exact_mut(4).zip(operands) {
            let (mut known, mut row) = (0, [F::default(); 4]);
            for (g, x) in g.chunks(CHUNK).zip(x.chunks(CHUNK)) {
                let len = F::from_f64(x.len() as f64);
                let [sum, whole] = two_sums::<F, F::Vector<I>, _>(g, x, Both);
                // the next chunk's operands, since the other pass, in L1, would leave memory idle
                prefetch_run::<L2, _>(x.as_ptr().wrapping_add(x.len()), x.len());
                prefetch_run::<L2, _>(g.as_ptr().wrapping_add(g.len()), g.len());
                let mean = whole / len;
                let [product, squares] = two_sums::<F, F::Vector<I>, _>(g, x, Deviations(mean));
                let before = F::from_f64(known as f64);
                known += x.len();
                // how far the chunk's mean is from that of all before it, and from the new one
                let apart = mean - row[0];
                let rest = apart * before / F::from_f64(known as f64);
                let step = apart - rest;
                row = [
                    row[0] + step,
                    row[1] + squares + apart * rest * len,
                    row[2] + sum,
                    row[3] - step * row[2] + product + rest * sum,
                ];
            }
            sums.copy_from_slice(&row);
        }
    }
}

kernel! {
    /// A normalisation by groups, of one group of channels of `n` elements each, while it is in
    /// cache: writes `d`, and to the first two of each channel's four numbers in `sums` the
    /// gradients of its weight and bias. `weight` is empty or has a factor for each channel. Returns
    /// whether squares were lost.
    ///
    /// With `u = g * weight` and `v = (x - mean) * scale` the gradient is `(u - mean(u) - v *
    /// mean(u * v)) * scale`, that of the weight `g * v`.
    pub fn group<'a, F: Real>(n: usize, g: &'a [F], x: &'a [F], weight: &'a [F], eps: f64, d: &'a mut [F], sums: &'a mut [F]) -> bool { |I|
        channels(n, g, x, sums);
        let sums = sums.as_chunks_mut::<4>().0;
        let number = |n: usize| F::from_f64(n as f64);
        let (mut mean, mut squares) = (F::ZERO, F::ZERO);
        for (k, [own, around, ..]) in sums.iter().enumerate() {
            // joined as chunks are
            let apart = *own - mean;
            let step = apart / number(k + 1);
            mean = mean + step;
            squares = squares + *around + apart * (apart - step) * number(n);
        }
        let elements = number(x.len());
        let scale = inverse_deviation::<I, F>(squares, elements, eps);
        let weight_of = |k: usize| weight.get(k).copied().unwrap_or(F::ONE);
        let (mut sum, mut product) = (F::ZERO, F::ZERO);
        for (k, sums) in sums.iter_mut().enumerate() {
            let [own, _, of_bias, products] = *sums;
            let of_weight = (products + (own - mean) * of_bias) * scale;
            sum = sum + weight_of(k) * of_bias;
            product = product + weight_of(k) * of_weight;
            (sums[0], sums[1]) = (of_weight, of_bias);
        }
        let (rest, slope) = (sum * scale / elements, product * scale * scale / elements);
        let operands = g.chunks_exact(n).zip(x.chunks_exact(n));
        for (k, (d, (g, x))) in d.chunks_exact_mut(n).zip(operands).enumerate() {
            let factor = weight_of(k) * scale;
            for ((d, g), x) in d.iter_mut().zip(g).zip(x) {
                *d = *g * factor - ((*x - mean) * slope + rest);
            }
        }
        is_lost_inverse(scale) | !mean.isfinite()
    }
}

/// Two sums over the elements of two rows.
pub(super) trait TwoSums<F>: Copy {
    /// The terms.
    fn terms<V: Lanes<Number = F>>(self, g: V, x: V) -> [V; 2];
}
/// Of the elements themselves.
#[derive(Clone, Copy)]
struct Both;
impl<F> TwoSums<F> for Both {
    #[inline(always)]
    fn terms<V: Lanes<Number = F>>(self, g: V, x: V) -> [V; 2] {
        [g, x]
    }
}
/// Of `g (x - mean)` and `(x - mean)^2`.
#[derive(Clone, Copy)]
struct Deviations<F>(F);
impl<F: Copy> TwoSums<F> for Deviations<F> {
    #[inline(always)]
    fn terms<V: Lanes<Number = F>>(self, g: V, x: V) -> [V; 2] {
        let d = x - V::splat(self.0);
        [g * d, d * d]
    }
}
/// Of `x - mean` and its square.
#[derive(Clone, Copy)]
pub(super) struct Apart<F>(pub F);
impl<F: Copy> TwoSums<F> for Apart<F> {
    #[inline(always)]
    fn terms<V: Lanes<Number = F>>(self, _: V, x: V) -> [V; 2] {
        let d = x - V::splat(self.0);
        [d, d * d]
    }
}
/// The sums over rows of equal length, in explicit vectors: several accumulators of `lanes!` are
/// five times the code.
#[inline(always)]
pub(super) fn two_sums<F: Real, V: Lanes<Number = F>, S: TwoSums<F>>(
    g: &[F],
    x: &[F],
    of: S,
) -> [F; 2] {
    /// Vectors of accumulators of each sum: additions to one wait for each other.
    const APART: usize = 4;
    let (n, zero) = (x.len(), V::splat(F::ZERO));
    let g = &g[..n];
    let (mut first, mut second) = ([zero; APART], [zero; APART]);
    let mut at = 0;
    while at + APART * V::LEN <= n {
        for (i, (s, t)) in first.iter_mut().zip(&mut second).enumerate() {
            let at = at + i * V::LEN;
            // SAFETY: LANES1: a vector of both rows, by the condition of the loop.
            let (g, x) = unsafe { (V::load(g.as_ptr().add(at)), V::load(x.as_ptr().add(at))) };
            let [a, b] = of.terms(g, x);
            (*s, *t) = (*s + a, *t + b);
        }
        at += APART * V::LEN;
    }
    while at < n {
        let rest = (n - at).min(V::LEN);
        // SAFETY: LANES1: the next elements of both rows, at most a vector.
        let (g, x) = unsafe {
            let (g, x) = (g.as_ptr().add(at), x.as_ptr().add(at));
            (V::load_first(g, rest), V::load_first(x, rest))
        };
        let [a, b] = of.terms(g, x);
        first[0] = first[0] + a.first(rest, zero);
        second[0] = second[0] + b.first(rest, zero);
        at += rest;
    }
    let ([a, b, c, d], [p, q, r, s]) = (first, second);
    [
        across::<V, Sums>(F::ZERO, (a + b) + (c + d)),
        across::<V, Sums>(F::ZERO, (p + q) + (r + s)),
    ]
}
/// `d = g * weight`, or `d = g` if `weight` is empty.
#[inline(always)]
fn weigh<F: Real>(g: &[F], weight: &[F], d: &mut [F]) {
    if weight.is_empty() {
        d.copy_from_slice(g);
    } else {
        for ((d, g), w) in d.iter_mut().zip(g).zip(weight) {
            *d = *g * *w;
        }
    }
}

/// [`layer_norm_rows`] of all rows.
pub fn layer_norm<F: Real>(rows: Rows<'_, F>, weight: &[F], eps: f64, sums: &mut [F]) {
    each_row(rows, eps, |n, g, x, eps, known, d| {
        layer_norm_rows(n, g, x, weight, eps, known, d, sums)
    })
}
/// [`rms_norm_rows`] of all rows.
pub fn rms_norm<F: Real>(rows: Rows<'_, F>, weight: &[F], eps: f64, sums: &mut [F]) {
    each_row(rows, eps, |n, g, x, eps, known, d| {
        rms_norm_rows(n, g, x, weight, eps, known, d, sums)
    })
}

/// Rows of `n` elements, their gradients, and where those of the operand go.
pub struct Rows<'a, F> {
    pub n: usize,
    pub g: &'a [F],
    pub x: &'a [F],
    pub d: &'a mut [F],
}

/// Calls `f` for all rows, of which it does those before one whose squares were lost, and returns how
/// many. That row is multiplied by a power of two, as is its gradient then.
fn each_row<F: Real>(
    rows: Rows<'_, F>,
    eps: f64,
    mut f: impl FnMut(usize, &[F], &[F], f64, bool, &mut [F]) -> usize,
) {
    let Rows { n, g, x, d } = rows;
    let mut at = 0;
    while at < x.len() {
        at += n * f(n, &g[at..], &x[at..], eps, false, &mut d[at..]);
        if at < x.len() {
            let row = at..at + n;
            scaled(&g[row.clone()], &x[row.clone()], &mut d[row], eps, &mut f);
            at += n;
        }
    }
}
/// The gradient of a row from its multiple by a power of two, if there is memory for that and `eps`
/// has such a multiple.
#[cold]
#[inline(never)]
fn scaled<F: Real>(
    g: &[F],
    x: &[F],
    d: &mut [F],
    eps: f64,
    f: &mut dyn FnMut(usize, &[F], &[F], f64, bool, &mut [F]) -> usize,
) {
    let unit = to_one::<F>(largest(x.iter().map(|x| x.to_f64())));
    let factor = F::from_f64(unit);
    let multiple = fallible::collect(x.iter().map(|x| Ok::<_, Error>(*x * factor)));
    match (multiple, scaled_eps::<F>(eps, unit, 2)) {
        (Ok(x), Some(eps)) => {
            f(x.len(), g, &x, eps, true, d);
            for d in d {
                *d = *d * factor;
            }
        }
        _ => {
            f(x.len(), g, x, eps, true, d);
        }
    }
}

kernel! {
    /// layer_norm of rows of `n` elements; adds the gradients of weight and bias to those of `sums`.
    /// Stops at a row whose squares were lost unless that is `known`; returns how many rows are done.
    ///
    /// With `u = g * weight` and `v = (x - mean) * scale` the gradient is `(u - mean(u) - v *
    /// mean(u * v)) * scale`, that of the weight `g * v`.
    fn layer_norm_rows<'a, F: Real>(n: usize, g: &'a [F], x: &'a [F], weight: &'a [F], eps: f64, known: bool, d: &'a mut [F], sums: &'a mut [F]) -> usize { |I|
        let (weights, biases) = sums.split_at_mut(n);
        let operands = g.chunks_exact(n).zip(x.chunks_exact(n));
        let n = F::from_f64(n as f64);
        let mut done = 0;
        for (d, (g, x)) in d.chunks_exact_mut(weights.len()).zip(operands) {
            let mean = lanes!(x, F::default(), |v| v, |a, b| a + b) / n;
            let squares = lanes!(x, F::default(), |v| { let d = v - mean; d * d }, |a, b| a + b);
            let scale = inverse_deviation::<I, F>(squares, n, eps);
            if !known && (is_lost_inverse(scale) | !mean.isfinite()) {
                break;
            }
            done += 1;
            weigh(g, weight, d);
            let sum = lanes!(d, F::default(), |v| v, |a, b| a + b);
            let product = lanes!(d, x, F::default(), |u, x| u * (x - mean), |a, b| a + b);
            let (shift, slope) = (sum / n, product * scale * scale / n);
            for (d, x) in d.iter_mut().zip(x) {
                *d = (*d - shift - (*x - mean) * slope) * scale;
            }
            let sums = weights.iter_mut().zip(biases.iter_mut());
            for ((weight, bias), (g, x)) in sums.zip(g.iter().zip(x)) {
                *weight = *weight + *g * ((*x - mean) * scale);
                *bias = *bias + *g;
            }
        }
        done
    }
}
kernel! {
    /// rms_norm of rows of `n` elements; adds the gradient of the weight to `sums`. Stops as
    /// [`layer_norm_rows`] does.
    ///
    /// With `u = g * weight` and `v = x * scale` the gradient is `(u - v * mean(u * v)) * scale`,
    /// that of the weight `g * v`.
    fn rms_norm_rows<'a, F: Real>(n: usize, g: &'a [F], x: &'a [F], weight: &'a [F], eps: f64, known: bool, d: &'a mut [F], sums: &'a mut [F]) -> usize { |I|
        let operands = g.chunks_exact(n).zip(x.chunks_exact(n));
        let n = F::from_f64(n as f64);
        let mut done = 0;
        for (d, (g, x)) in d.chunks_exact_mut(sums.len()).zip(operands) {
            let squares = lanes!(x, F::default(), |v| v * v, |a, b| a + b);
            let scale = inverse_deviation::<I, F>(squares, n, eps);
            if !known && is_lost_inverse(scale) {
                break;
            }
            done += 1;
            weigh(g, weight, d);
            let slope = lanes!(d, x, F::default(), |u, x| u * x, |a, b| a + b) * scale * scale / n;
            for (d, x) in d.iter_mut().zip(x) {
                *d = (*d - *x * slope) * scale;
            }
            for (sum, (g, x)) in sums.iter_mut().zip(g.iter().zip(x)) {
                *sum = *sum + *g * (*x * scale);
            }
        }
        done
    }
}
