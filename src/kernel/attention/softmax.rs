//! A step of the online softmax, on a tile of scores whose rows are keys and whose columns are
//! queries.

use crate::kernel::math::Real;
use crate::simd::Isa;

/// What a query subtracts from its scores: zero while it has seen no key, so that its weights are
/// zeros and not NaN.
#[inline(always)]
fn base<F: Real>(maximum: F) -> F {
    if maximum == F::NEG_INFINITY {
        F::default()
    } else {
        maximum
    }
}

kernel! {
    /// `scores` (rows of as many queries as `maxima` has) become weights under the new maxima,
    /// `sums` follows, and `factors` are what earlier weights have to be multiplied with.
    pub fn accumulate<'a, F: Real>(scores: &'a mut [F], maxima: &'a mut [F], sums: &'a mut [F], factors: &'a mut [F]) -> () { |I|
        match maxima.len() {
            n if n.is_multiple_of(16) => (0..n).step_by(16).for_each(|at| columns::<I, F, 16>(scores, at, maxima, sums, factors)),
            n if n.is_multiple_of(4) => (0..n).step_by(4).for_each(|at| columns::<I, F, 4>(scores, at, maxima, sums, factors)),
            n => (0..n).for_each(|at| columns::<I, F, 1>(scores, at, maxima, sums, factors)),
        }
    }
}

/// Some of a row.
#[inline(always)]
fn part<F: Real, const N: usize>(row: &[F], at: usize) -> [F; N] {
    row[at..at + N].try_into().unwrap()
}
/// The greater of each two, or those of `b` where they don't compare.
#[inline(always)]
fn greater<F: Real, const N: usize>(a: &[F; N], b: &[F; N]) -> [F; N] {
    let mut top = *b;
    for l in 0..N {
        top[l] = if a[l] > b[l] { a[l] } else { b[l] };
    }
    top
}
/// `exp(x)` of what is not positive, zero where it were no normal number: beside a weight of one
/// that is nothing.
#[inline(always)]
fn weight<I: Isa, F: Real>(x: F) -> F {
    let extreme = x.needs_slow_exp();
    let weight = Real::exp_fast::<I>(if extreme { F::default() } else { x });
    let nothing = if F::default() > x { F::default() } else { x }; // NaN stays
    if extreme { nothing } else { weight }
}

/// [`accumulate`] of the queries from `at` on, whose maxima and sums stay in registers.
#[inline(always)]
fn columns<I: Isa, F: Real, const N: usize>(
    scores: &mut [F],
    at: usize,
    maxima: &mut [F],
    sums: &mut [F],
    factors: &mut [F],
) {
    let n = maxima.len();
    let old = part(maxima, at);
    let mut top: [F; N] = old;
    // Four rows at a time: a maximum waits for the one before.
    let mut rows = scores.chunks_exact(4 * n);
    for rows in &mut rows {
        let low = greater(&part(rows, at), &part(rows, n + at));
        let high = greater(&part(rows, 2 * n + at), &part(rows, 3 * n + at));
        top = greater(&greater(&low, &high), &top);
    }
    for row in rows.remainder().chunks_exact(n) {
        top = greater(&part(row, at), &top);
    }
    let mut less = top;
    for l in 0..N {
        less[l] = base(top[l]);
    }
    let mut sum = [F::default(); N];
    for row in scores.chunks_exact_mut(n) {
        let row: &mut [F; N] = (&mut row[at..at + N]).try_into().unwrap();
        for l in 0..N {
            let w = weight::<I, F>(row[l] - less[l]);
            row[l] = w;
            sum[l] = sum[l] + w;
        }
    }
    for l in 0..N {
        let factor = weight::<I, F>(old[l] - less[l]);
        (maxima[at + l], factors[at + l]) = (top[l], factor);
        sums[at + l] = sums[at + l] * factor + sum[l];
    }
}

kernel! {
    /// Times a factor.
    pub fn scale<'a, F: Real>(row: &'a mut [F], factor: F) -> () { |I|
        for x in row {
            *x = *x * factor;
        }
    }
}
kernel! {
    /// `to = from * factor`.
    pub fn scaled<'a, F: Real>(from: &'a [F], factor: F, to: &'a mut [F]) -> () { |I|
        for (x, from) in to.iter_mut().zip(from) {
            *x = *from * factor;
        }
    }
}
