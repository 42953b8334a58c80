//! Softmax and its logarithm.

use super::{GROUP, OfColumns, RowNorm, each_part, normalize_columns};
use crate::kernel::columns::Order;
use crate::kernel::math::{Math, Real};
use crate::kernel::reduce::short::{Largest, Sums, is_short, short_rows};
use crate::simd::lanes::Lanes;
use crate::simd::{self, Isa};

/// Elements per block of exponentials.
const LANES: usize = if simd::MICROCONTROLLER { 4 } else { 64 };

/// The largest element, ignoring NaN.
#[inline(always)]
fn largest<I: Isa, F: Real>(x: &[F]) -> F {
    lanes!(x, F::NEG_INFINITY, |v| v, |a, b| if b > a { b } else { a })
}

/// What is subtracted from the exponents: the largest of a chunk, or 0 if that is minus infinity.
#[inline(always)]
pub(super) fn shift<F: Real>(max: F) -> F {
    if max == F::NEG_INFINITY {
        F::default()
    } else {
        max
    }
}
/// The row's largest element, and the sum of its exponentials; each part's first number becomes the
/// factor that rescales the exponentials of its chunk to the row's maximum. For a row of minus
/// infinities, or with NaN or infinity, those are NaN.
#[inline(always)]
fn factors<I: Isa, F: Real>(parts: &mut [[F; 2]]) -> (F, F) {
    if let [[max, sum]] = *parts {
        parts[0][0] = F::ONE;
        return (max, sum);
    }
    let mut max = F::NEG_INFINITY;
    for part in &*parts {
        max = if part[0] > max { part[0] } else { max };
    }
    // in float64, except on microcontrollers: it would link soft-float code for the sake of rows
    // that don't fit their memory
    let (mut sum, mut single) = (0.0, F::default());
    for part in parts {
        part[0] = Math::exp::<I>(part[0] - max);
        if simd::MICROCONTROLLER {
            single = single + part[0] * part[1];
        } else {
            sum += part[0].to_f64() * part[1].to_f64();
        }
    }
    (
        max,
        if simd::MICROCONTROLLER {
            single
        } else {
            F::from_f64(sum)
        },
    )
}

/// `exp(x - max) / sum(exp(x - max))`. NaN for a row of minus infinities, or with NaN or infinity.
pub struct Softmax;
impl<F: Real> RowNorm<F> for Softmax {
    const FLOPS: usize = 18;
    fn columns(&self) -> Option<OfColumns<Self, F>> {
        Some(normalize_columns)
    }
    /// Leaves the exponentials in `y`, relative to the chunk's largest element.
    #[inline(always)]
    fn part<I: Isa>(&self, x: &[F], y: &mut [F]) -> [F; 2] {
        let max = largest::<I, F>(x);
        let shift = shift(max);
        let ((blocks, rest), (results, tail)) = (x.as_chunks(), y.as_chunks_mut());
        for (x, y) in blocks.iter().zip(results) {
            exponentials::<I, F>(x, shift, y);
        }
        if !rest.is_empty() {
            let (mut x, mut y) = ([shift; LANES], [F::default(); LANES]);
            x[..rest.len()].copy_from_slice(rest);
            exponentials::<I, F>(&x, shift, &mut y);
            tail.copy_from_slice(&y[..tail.len()]);
        }
        [max, sum::<I, F>(y)]
    }
    #[inline(always)]
    fn parts<I: Isa>(&self, n: usize, x: &[F], y: &mut [F], parts: &mut [[F; 2]]) {
        parts_of_rows::<I, F>(n, x, y, parts)
    }
    #[inline(always)]
    fn join<I: Isa>(&self, parts: &mut [[F; 2]], _: usize) {
        let (_, sum) = factors::<I, F>(parts);
        for part in parts {
            part[0] = part[0] / sum;
        }
    }
    #[inline(always)]
    fn write<I: Isa>(&self, part: [F; 2], _: usize, _: &[F], y: &mut [F]) {
        for y in y {
            *y = *y * part[0];
        }
    }
}
/// Whether rows of `n` elements are computed together.
#[inline(always)]
fn is_grouped(n: usize) -> bool {
    !simd::MICROCONTROLLER && n < 4 * LANES
}
/// The order in which the exponentials of a row of `n` elements are added.
#[inline(always)]
pub(super) fn order_of_sums<I: Isa, F: Real>(n: usize) -> Order {
    if is_grouped(n) && is_short::<F::Vector<I>>(n) {
        Order::short(F::Vector::<I>::LEN)
    } else {
        Order::LANES
    }
}
/// [`Softmax::part`] for several rows. Exponentials of short rows are computed across row
/// boundaries, to fill vectors.
#[inline(always)]
fn parts_of_rows<I: Isa, F: Real>(n: usize, x: &[F], y: &mut [F], parts: &mut [[F; 2]]) {
    if !is_grouped(n) {
        return each_part::<I, F, _>(&Softmax, n, x, y, parts);
    }
    let mut found = [F::default(); GROUP];
    let found = &mut found[..parts.len()];
    if !short_rows::<F::Vector<I>, _>(&Largest, F::NEG_INFINITY, x, n, found) {
        for (max, x) in found.iter_mut().zip(x.chunks_exact(n)) {
            *max = largest::<I, F>(x);
        }
    }
    let rows = x.chunks_exact(n).zip(y.chunks_exact_mut(n));
    for ((part, max), (x, y)) in parts.iter_mut().zip(&*found).zip(rows) {
        part[0] = *max;
        let shift = shift(*max);
        for (y, x) in y.iter_mut().zip(x) {
            *y = *x - shift;
        }
    }
    all_exponentials::<I, F>(y);
    sums::<I, F>(n, y, found);
    for (part, sum) in parts.iter_mut().zip(found) {
        part[1] = *sum;
    }
}
/// The exponentials of all elements of `y`, none of them positive.
#[inline(always)]
pub(super) fn all_exponentials<I: Isa, F: Real>(y: &mut [F]) {
    let (blocks, rest) = y.as_chunks_mut();
    for y in blocks {
        exponentials_in_place::<I, F>(y);
    }
    let mut last = [F::default(); LANES];
    last[..rest.len()].copy_from_slice(rest);
    exponentials_in_place::<I, F>(&mut last);
    rest.copy_from_slice(&last[..rest.len()]);
}
/// Sums of rows.
#[inline(always)]
fn sums<I: Isa, F: Real>(n: usize, x: &[F], sums: &mut [F]) {
    if !short_rows::<F::Vector<I>, _>(&Sums, F::default(), x, n, sums) {
        for (s, x) in sums.iter_mut().zip(x.chunks_exact(n)) {
            *s = sum::<I, F>(x);
        }
    }
}
#[inline(always)]
fn sum<I: Isa, F: Real>(x: &[F]) -> F {
    lanes!(x, F::default(), |v| v, |a, b| a + b)
}
#[inline(always)]
fn exponentials_in_place<I: Isa, F: Real>(y: &mut [F; LANES]) {
    for y in y {
        *y = Real::exp_negative::<I>(*y);
    }
}
/// `y = exp(x - shift)`; no element exceeds the shift.
#[inline(always)]
fn exponentials<I: Isa, F: Real>(x: &[F; LANES], shift: F, y: &mut [F; LANES]) {
    for l in 0..LANES {
        y[l] = Real::exp_negative::<I>(x[l] - shift);
    }
}

/// `x - max - log(sum(exp(x - max)))`.
pub struct LogSoftmax;
impl<F: Real> RowNorm<F> for LogSoftmax {
    const FLOPS: usize = 18;
    fn columns(&self) -> Option<OfColumns<Self, F>> {
        Some(normalize_columns)
    }
    #[inline(always)]
    fn part<I: Isa>(&self, x: &[F], y: &mut [F]) -> [F; 2] {
        Softmax.part::<I>(x, y)
    }
    #[inline(always)]
    fn parts<I: Isa>(&self, n: usize, x: &[F], y: &mut [F], parts: &mut [[F; 2]]) {
        parts_of_rows::<I, F>(n, x, y, parts)
    }
    #[inline(always)]
    fn join<I: Isa>(&self, parts: &mut [[F; 2]], _: usize) {
        let (max, sum) = factors::<I, F>(parts);
        parts.fill([max, Math::log::<I>(sum)]);
    }
    #[inline(always)]
    fn join_rows<I: Isa>(&self, parts: &mut [[F; 2]], _: usize) {
        let mut logs = [F::ONE; GROUP];
        for (log, [_, sum]) in logs.iter_mut().zip(&*parts) {
            *log = *sum;
        }
        for log in &mut logs {
            *log = Math::log::<I>(*log);
        }
        for ([_, sum], log) in parts.iter_mut().zip(logs) {
            *sum = log;
        }
    }
    #[inline(always)]
    fn write<I: Isa>(&self, [max, log]: [F; 2], _: usize, x: &[F], y: &mut [F]) {
        for (y, x) in y.iter_mut().zip(x) {
            *y = *x - max - log;
        }
    }
}
