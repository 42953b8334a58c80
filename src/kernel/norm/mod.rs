//! Row normalisations, in chunks: statistics of each chunk, joined for the row, then each chunk is
//! written. A chunk stays in L1 for all passes over it, and the chunks of a long row may run on
//! several threads with the same arithmetic. Rows are in the accumulator type; [`load`] and
//! [`store`] convert from and to the elements.
//!
//! There are 64 accumulators, 16 in WebAssembly without SIMD and 4 on microcontrollers. Short rows
//! are taken in groups, as by reductions: each step runs over the whole group before the next.

use crate::kernel::gemm::MatElement;
use crate::kernel::math::{Math, Real};
use crate::kernel::reduce::short::{Deviations, Squares, Sums, short_rows};
use crate::simd::lanes::Lanes;
use crate::simd::{self, Isa, Kernel, prefetch_run};
use smallvec::SmallVec;

/// Makes kernels of the methods of a norm.
macro_rules! kernels {
    ($($(#[$m:meta])* $name:ident $Name:ident[$RowNorm:ident]($($a:ident: $t:ty),*) -> $out:ty { |$I:ident, $norm:ident| $($body:tt)* })*) => { $(
        $(#[$m])*
        pub fn $name<'a, F: Real, N: $RowNorm<F>>($norm: &'a N, $($a: $t),*) -> $out {
            simd::call($Name { $norm, $($a),* })
        }
        struct $Name<'a, F, N> { $norm: &'a N, $($a: $t),* }
        impl<F: Real, N: $RowNorm<F>> Kernel for $Name<'_, F, N> {
            type Out = $out;
            #[inline(always)]
            fn run<$I: Isa>(self) -> $out {
                let $Name { $norm, $($a),* } = self;
                $($body)*
            }
        }
    )* };
}
mod affine;
pub mod classes;
mod columns;
pub mod gradient;
pub mod local;
mod lp;
mod scaled;
mod softmax;

pub use columns::normalize_columns;
pub use lp::{Normalize, Power, farthest, whole_power};
pub use scaled::scaled_row;
pub use softmax::{LogSoftmax, Softmax};

use affine::Affine;
use gradient::{Apart, two_sums};
pub use scaled::is_lost_inverse;
use scaled::scaled_eps;

kernel! {
    /// Widens elements to the accumulator type.
    pub fn load<'a, T: MatElement>(x: &'a [T], y: &'a mut [T::Acc]) -> () { |I|
        for (y, x) in y.iter_mut().zip(x) {
            *y = x.widen();
        }
    }
}
kernel! {
    /// Narrows back, rounding once.
    pub fn store<'a, T: MatElement>(x: &'a [T::Acc], y: &'a mut [T]) -> () { |I|
        for (y, x) in y.iter_mut().zip(x) {
            *y = T::narrow(*x);
        }
    }
}

kernel! {
    /// Elementwise sums.
    pub fn add<'a, F: Real>(a: &'a [F], b: &'a [F], y: &'a mut [F]) -> () { |I|
        for ((y, a), b) in y.iter_mut().zip(a).zip(b) {
            *y = *a + *b;
        }
    }
}

/// Elements of a chunk. Two chunks, input and output, fit in L1 beside weight and bias.
pub const CHUNK: usize = 4096;

/// The most rows that go through a step together.
const GROUP: usize = if simd::MICROCONTROLLER { 4 } else { 64 };

/// Normalises the columns of matrices of so many rows; returns whether the statistics of any were
/// [lost](RowNorm::is_lost).
pub type OfColumns<N, F> = fn(&N, usize, &[F], &mut [F]) -> bool;

/// A normalisation of rows.
pub trait RowNorm<F: Real>: Sync + Sized {
    /// Arithmetic operations per element, as vectors do them.
    const FLOPS: usize;
    /// What normalises columns of at most [`CHUNK`] elements, if it can.
    fn columns(&self) -> Option<OfColumns<Self, F>> {
        None
    }
    /// Whether squares may have overflowed or vanished on the way to these joined statistics: then
    /// the row is normalised again, [scaled](RowNorm::scaled).
    #[inline(always)]
    fn is_lost(&self, part: [F; 2]) -> bool {
        let _ = part;
        false
    }
    /// What normalises rows that were multiplied by `factor` as this normalises the rows.
    fn scaled(&self, factor: f64) -> Option<Self> {
        let _ = factor;
        None
    }
    /// The statistics of a chunk. `y`, of the same length, is left to `write`; it is empty for norms
    /// that leave nothing there and are [scaled](RowNorm::scaled).
    fn part<I: Isa>(&self, x: &[F], y: &mut [F]) -> [F; 2];
    /// The statistics of rows of `n` elements, each a single chunk.
    #[inline(always)]
    fn parts<I: Isa>(&self, n: usize, x: &[F], y: &mut [F], parts: &mut [[F; 2]]) {
        each_part::<I, F, Self>(self, n, x, y, parts)
    }
    /// Joins the statistics of a row's chunks (`n` elements in all) in place, into what `write`
    /// takes for each chunk.
    fn join<I: Isa>(&self, parts: &mut [[F; 2]], n: usize);
    /// [`RowNorm::join`] for rows of a single chunk each.
    #[inline(always)]
    fn join_rows<I: Isa>(&self, parts: &mut [[F; 2]], n: usize) {
        for part in parts {
            self.join::<I>(core::slice::from_mut(part), n);
        }
    }
    /// [`RowNorm::write`] of rows of `n` elements, each a single chunk.
    #[inline(always)]
    fn write_rows<I: Isa>(&self, parts: &[[F; 2]], n: usize, x: &[F], y: &mut [F]) {
        each_row::<I, F, Self>(self, parts, n, x, y)
    }
    /// Writes the results of the chunk that begins at element `at` of the row; `y` is as `part`
    /// left it.
    fn write<I: Isa>(&self, part: [F; 2], at: usize, x: &[F], y: &mut [F]);
}

#[inline(always)]
fn each_part<I: Isa, F: Real, N: RowNorm<F>>(
    norm: &N,
    n: usize,
    x: &[F],
    y: &mut [F],
    parts: &mut [[F; 2]],
) {
    for (k, part) in parts.iter_mut().enumerate() {
        let row = k * n..(k + 1) * n;
        let y = y.get_mut(row.clone()).unwrap_or_default();
        *part = norm.part::<I>(&x[row], y);
    }
}

/// Writes rows one by one, and prefetches the row as far ahead as all of them reach, since the passes
/// in L1 would leave memory idle: layer_norm of 4096 rows of 768 takes 14 to 28 % less.
#[inline(always)]
fn each_row<I: Isa, F: Real, N: RowNorm<F>>(
    norm: &N,
    parts: &[[F; 2]],
    n: usize,
    x: &[F],
    y: &mut [F],
) {
    let ahead = x.len();
    let rows = x.chunks_exact(n).zip(y.chunks_exact_mut(n));
    for (part, (x, y)) in parts.iter().zip(rows) {
        prefetch_run::<{ simd::L1 }, _>(x.as_ptr().wrapping_add(ahead), n);
        norm.write::<I>(*part, 0, x, y);
    }
}

kernels! {
    /// Consecutive rows of `n` elements, at most a chunk each. A step runs over several rows before
    /// the next step begins, so that the latencies of their sums, exponentials and divisions
    /// overlap. Returns whether statistics were lost.
    group Group[RowNorm](n: usize, x: &'a [F], y: &'a mut [F]) -> bool { |I, norm|
        let len = (CHUNK / 2 / n).clamp(1, GROUP) * n;
        let mut lost = false;
        let mut parts = [[F::default(); 2]; GROUP];
        for (x, y) in x.chunks(len).zip(y.chunks_mut(len)) {
            let parts = &mut parts[..x.len() / n];
            norm.parts::<I>(n, x, y, parts);
            norm.join_rows::<I>(parts, n);
            norm.write_rows::<I>(parts, n, x, y);
            for part in &*parts {
                lost |= norm.is_lost(*part);
            }
        }
        lost
    }
    /// The statistics of a chunk, those of a row of its own.
    part Part[RowNorm](x: &'a [F], y: &'a mut [F]) -> [F; 2] { |I, norm|
        let mut part = [[F::default(); 2]];
        norm.parts::<I>(x.len(), x, y, &mut part);
        part[0]
    }
    /// Joins the statistics of the chunks of a row of `n` elements.
    join Join[RowNorm](parts: &'a mut [[F; 2]], n: usize) -> () { |I, norm| norm.join::<I>(parts, n) }
    /// Writes the results of a chunk.
    write Write[RowNorm](part: [F; 2], at: usize, x: &'a [F], y: &'a mut [F]) -> () { |I, norm| norm.write::<I>(part, at, x, y) }
}

/// Normalises consecutive rows of `n` elements.
pub fn rows<F: Real, N: RowNorm<F>>(norm: &N, n: usize, x: &[F], y: &mut [F]) {
    let fits = (1..=CHUNK).contains(&n);
    if fits && !group(norm, n, x, y) {
        return;
    }
    for (x, y) in x.chunks_exact(n.max(1)).zip(y.chunks_exact_mut(n.max(1))) {
        let chunks = x.chunks(CHUNK).zip(y.chunks_mut(CHUNK));
        let mut parts: SmallVec<[[F; 2]; 16]> = chunks.map(|(x, y)| part(norm, x, y)).collect();
        join(norm, &mut parts, n);
        if norm.is_lost(parts[0]) {
            scaled_row(norm, x, y, &mut parts);
        } else if !fits {
            for (k, (x, y)) in x.chunks(CHUNK).zip(y.chunks_mut(CHUNK)).enumerate() {
                write(norm, parts[k], k * CHUNK, x, y);
            }
        }
    }
}

/// `1 / sqrt(squares / n + eps)`.
#[inline(always)]
fn inverse_deviation<I: Isa, F: Real>(squares: F, n: F, eps: f64) -> F {
    F::ONE / Math::sqrt::<I>(squares / n + F::from_f64(eps))
}

/// Mean and sum of squared deviations of `n` elements, from a rounded mean and the sums of deviations
/// from it and of their squares, as [`Moments`](crate::kernel::reduce::Moments) are corrected.
#[inline(always)]
fn corrected<F: Real>(n: F, mean: F, deviations: F, squares: F) -> [F; 2] {
    let step = deviations / n;
    let rest = squares - step * deviations;
    // rounding may leave this slightly negative; NaN is kept
    [mean + step, if rest < F::ZERO { F::ZERO } else { rest }]
}

/// `(x - mean) / sqrt(var + eps) * weight + bias`, with the population variance of the row (divided
/// by its length).
pub struct LayerNorm<'a, F> {
    /// As long as the row.
    pub weight: Option<&'a [F]>,
    /// As long as the row.
    pub bias: Option<&'a [F]>,
    /// Added to the variance.
    pub eps: f64,
}
impl<'a, F: Real> RowNorm<F> for LayerNorm<'a, F> {
    const FLOPS: usize = 6;
    #[inline(always)]
    fn is_lost(&self, [mean, scale]: [F; 2]) -> bool {
        is_lost_inverse(scale) | !mean.isfinite()
    }
    fn scaled(&self, factor: f64) -> Option<Self> {
        let eps = scaled_eps::<F>(self.eps, factor, 2)?;
        Some(LayerNorm { eps, ..*self })
    }
    /// The mean, and the sum of squared deviations.
    #[inline(always)]
    fn part<I: Isa>(&self, x: &[F], _: &mut [F]) -> [F; 2] {
        let n = F::from_f64(x.len() as f64);
        let mean = lanes!(x, F::default(), |v| v, |a, b| a + b) / n;
        let [deviations, squares] = two_sums::<F, F::Vector<I>, _>(x, x, Apart(mean));
        corrected(n, mean, deviations, squares)
    }
    #[inline(always)]
    fn parts<I: Isa>(&self, n: usize, x: &[F], y: &mut [F], parts: &mut [[F; 2]]) {
        let mut found = [[F::default(); GROUP]; 3];
        let [means, deviations, squares] = found.each_mut().map(|found| &mut found[..parts.len()]);
        if !short_rows::<F::Vector<I>, _>(&Sums, F::default(), x, n, means) {
            return each_part::<I, F, _>(self, n, x, y, parts);
        }
        let count = F::from_f64(n as f64);
        for mean in &mut *means {
            *mean = *mean / count;
        }
        short_rows::<F::Vector<I>, _>(&Deviations(means), F::default(), x, n, deviations);
        short_rows::<F::Vector<I>, _>(&Squares(means), F::default(), x, n, squares);
        for (k, part) in parts.iter_mut().enumerate() {
            *part = corrected(count, means[k], deviations[k], squares[k]);
        }
    }
    #[inline(always)]
    fn join<I: Isa>(&self, parts: &mut [[F; 2]], n: usize) {
        let [mut mean, mut squares] = parts[0];
        if parts.len() > 1 {
            let len = |k: usize| CHUNK.min(n - k * CHUNK) as f64;
            let total: f64 = parts
                .iter()
                .enumerate()
                .map(|(k, part)| len(k) * part[0].to_f64())
                .sum();
            let middle = total / n as f64;
            let around = |(k, part): (usize, &[F; 2])| {
                let d = part[0].to_f64() - middle;
                part[1].to_f64() + len(k) * d * d
            };
            (mean, squares) = (
                F::from_f64(middle),
                F::from_f64(parts.iter().enumerate().map(around).sum()),
            );
        }
        let n = F::from_f64(n as f64);
        parts.fill([mean, inverse_deviation::<I, F>(squares, n, self.eps)]);
    }
    // a loop that vectors take: roots and quotients of one row after the other were a third of short ones
    #[inline(always)]
    fn join_rows<I: Isa>(&self, parts: &mut [[F; 2]], n: usize) {
        let n = F::from_f64(n as f64);
        for part in parts {
            let [mean, squares] = *part;
            *part = [mean, inverse_deviation::<I, F>(squares, n, self.eps)];
        }
    }
    #[inline(always)]
    fn write_rows<I: Isa>(&self, parts: &[[F; 2]], n: usize, x: &[F], y: &mut [F]) {
        affine::rows::<I, F, _>(self, parts, n, x, y)
    }
    #[inline(always)]
    fn write<I: Isa>(&self, part: [F; 2], at: usize, x: &[F], y: &mut [F]) {
        affine::row::<F::Vector<I>, _>(self, part, at, x, y)
    }
}

impl<F: Real> Affine<F> for LayerNorm<'_, F> {
    fn parameters(&self) -> [Option<&[F]>; 2] {
        [self.weight, self.bias]
    }
    #[inline(always)]
    fn value<V: Lanes<Number = F>>([mean, scale]: [V; 2], x: V) -> V {
        (x - mean) * scale
    }
}

/// `x / sqrt(mean(x * x) + eps) * weight`.
pub struct RmsNorm<'a, F> {
    /// As long as the row.
    pub weight: Option<&'a [F]>,
    /// Added to the mean square.
    pub eps: f64,
}
impl<'a, F: Real> RowNorm<F> for RmsNorm<'a, F> {
    const FLOPS: usize = 4;
    #[inline(always)]
    fn is_lost(&self, [scale, _]: [F; 2]) -> bool {
        is_lost_inverse(scale)
    }
    fn scaled(&self, factor: f64) -> Option<Self> {
        let eps = scaled_eps::<F>(self.eps, factor, 2)?;
        Some(RmsNorm { eps, ..*self })
    }
    #[inline(always)]
    fn part<I: Isa>(&self, x: &[F], _: &mut [F]) -> [F; 2] {
        [
            lanes!(x, F::default(), |v| v * v, |a, b| a + b),
            F::default(),
        ]
    }
    #[inline(always)]
    fn parts<I: Isa>(&self, n: usize, x: &[F], y: &mut [F], parts: &mut [[F; 2]]) {
        let (mut found, none) = ([F::default(); GROUP], [F::default(); GROUP]);
        let found = &mut found[..parts.len()];
        if !short_rows::<F::Vector<I>, _>(&Squares(&none), F::default(), x, n, found) {
            return each_part::<I, F, _>(self, n, x, y, parts);
        }
        for (part, squares) in parts.iter_mut().zip(found) {
            part[0] = *squares;
        }
    }
    #[inline(always)]
    fn join<I: Isa>(&self, parts: &mut [[F; 2]], n: usize) {
        let sum = match *parts {
            [[sum, _]] => sum,
            _ => F::from_f64(parts.iter().map(|part| part[0].to_f64()).sum()),
        };
        let scale = inverse_deviation::<I, F>(sum, F::from_f64(n as f64), self.eps);
        parts.fill([scale, scale]);
    }
    // likewise
    #[inline(always)]
    fn join_rows<I: Isa>(&self, parts: &mut [[F; 2]], n: usize) {
        let n = F::from_f64(n as f64);
        for part in parts {
            let scale = inverse_deviation::<I, F>(part[0], n, self.eps);
            *part = [scale, scale];
        }
    }
    #[inline(always)]
    fn write_rows<I: Isa>(&self, parts: &[[F; 2]], n: usize, x: &[F], y: &mut [F]) {
        affine::rows::<I, F, _>(self, parts, n, x, y)
    }
    #[inline(always)]
    fn write<I: Isa>(&self, part: [F; 2], at: usize, x: &[F], y: &mut [F]) {
        affine::row::<F::Vector<I>, _>(self, part, at, x, y)
    }
}
impl<F: Real> Affine<F> for RmsNorm<'_, F> {
    fn parameters(&self) -> [Option<&[F]>; 2] {
        [self.weight, None]
    }
    #[inline(always)]
    fn value<V: Lanes<Number = F>>([scale, _]: [V; 2], x: V) -> V {
        x * scale
    }
}
