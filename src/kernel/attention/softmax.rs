//! Steps of the online softmax, for a tile whose lines are keys and columns queries, or for the
//! scores of a single query.

use super::head::AttentionElement;
use crate::kernel::math::Real;
use crate::simd::Isa;

/// What a query's scores are reduced by: 0 while every key so far was masked, so that weights are 0
/// rather than NaN.
#[inline(always)]
fn base<F: Real>(maximum: F) -> F {
    if maximum == F::NEG_INFINITY {
        F::default()
    } else {
        maximum
    }
}

kernel! {
    /// Turns `scores` (lines of `maxima.len()` queries) into weights relative to the new maxima,
    /// updates `sums`, and sets `factors` to what earlier weights have to be multiplied by.
    pub fn accumulate<'a, F: Real>(scores: &'a mut [F], maxima: &'a mut [F], sums: &'a mut [F], factors: &'a mut [F]) -> () { |I|
        match maxima.len() {
            n if n.is_multiple_of(16) => (0..n).step_by(16).for_each(|at| columns::<I, F, 16>(scores, at, maxima, sums, factors)),
            n if n.is_multiple_of(4) => (0..n).step_by(4).for_each(|at| columns::<I, F, 4>(scores, at, maxima, sums, factors)),
            n => (0..n).for_each(|at| columns::<I, F, 1>(scores, at, maxima, sums, factors)),
        }
    }
}

/// `N` scores of a line.
#[inline(always)]
fn part<F: Real, const N: usize>(line: &[F], at: usize) -> [F; N] {
    line[at..at + N].try_into().unwrap()
}
/// Elementwise maximum; takes `b` if they don't compare (NaN).
#[inline(always)]
fn greater<F: Real, const N: usize>(a: &[F; N], b: &[F; N]) -> [F; N] {
    let mut top = *b;
    for l in 0..N {
        top[l] = if a[l] > b[l] { a[l] } else { b[l] };
    }
    top
}

/// [`accumulate`] for `N` queries from `at` on, whose maxima and sums stay in registers.
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
    // Four lines at a time, to shorten the loop-carried dependency of the maximum.
    let mut lines = scores.chunks_exact(4 * n);
    for lines in &mut lines {
        let low = greater(&part(lines, at), &part(lines, n + at));
        let high = greater(&part(lines, 2 * n + at), &part(lines, 3 * n + at));
        top = greater(&greater(&low, &high), &top);
    }
    for line in lines.remainder().chunks_exact(n) {
        top = greater(&part(line, at), &top);
    }
    let mut less = top;
    for l in 0..N {
        less[l] = base(top[l]);
    }
    let mut sum = [F::default(); N];
    for line in scores.chunks_exact_mut(n) {
        let line: &mut [F; N] = (&mut line[at..at + N]).try_into().unwrap();
        for l in 0..N {
            let w = Real::exp_negative::<I>(line[l] - less[l]);
            line[l] = w;
            sum[l] = sum[l] + w;
        }
    }
    for l in 0..N {
        let factor = Real::exp_negative::<I>(old[l] - less[l]);
        (maxima[at + l], factors[at + l]) = (top[l], factor);
        sums[at + l] = sums[at + l] * factor + sum[l];
    }
}

kernel! {
    /// Turns the scores of one query into weights. Returns their maximum and sum.
    pub fn line<'a, F: Real>(scores: &'a mut [F]) -> [F; 2] { |I|
        let top = lanes!(scores, F::NEG_INFINITY, |v| v, |a, b| if b > a { b } else { a });
        let less = base(top);
        for x in scores.iter_mut() {
            *x = Real::exp_negative::<I>(*x - less);
        }
        [top, lanes!(scores, F::default(), |v| v, |a, b| a + b)]
    }
}

kernel! {
    /// The factor that rescales weights from one maximum to a larger one.
    pub fn factor<'a, F: Real>(maximum: F, larger: F) -> F { |I|
        Real::exp_negative::<I>(maximum - base(larger))
    }
}
kernel! {
    /// Multiplies by a factor.
    pub fn scale<'a, F: Real>(line: &'a mut [F], factor: F) -> () { |I|
        for x in line {
            *x = *x * factor;
        }
    }
}
kernel! {
    /// Adds a number to each line of `width` scores.
    pub fn shift<'a, F: Real>(scores: &'a mut [F], width: usize, by: &'a [F]) -> () { |I|
        for (line, by) in scores.chunks_exact_mut(width).zip(by) {
            for x in line {
                *x = *x + *by;
            }
        }
    }
}
kernel! {
    /// `to += from`.
    pub fn add<'a, F: Real>(to: &'a mut [F], from: &'a [F]) -> () { |I|
        for (x, y) in to.iter_mut().zip(from) {
            *x = *x + *y;
        }
    }
}
kernel! {
    /// `to += from * factor`.
    pub fn add_scaled<'a, F: Real>(to: &'a mut [F], from: &'a [F], factor: F) -> () { |I|
        for (x, y) in to.iter_mut().zip(from) {
            *x = *x + *y * factor;
        }
    }
}
kernel! {
    /// Sets the scores without a flag to minus infinity.
    pub fn select<'a, F: Real>(scores: &'a mut [F], flags: &'a [u32]) -> () { |I|
        blend!(scores, flags, |x, flag| if flag != 0 { x } else { F::NEG_INFINITY })
    }
}
kernel! {
    /// Writes a row of the result, rounded once: the weighted sum divided by the sum of weights, or
    /// zeros if every key was masked.
    pub fn finish<'a, T: AttentionElement>(mixed: &'a [T::Acc], sum: T::Acc, to: &'a mut [T]) -> () { |I|
        if sum == T::Acc::default() {
            to.fill(T::default());
        } else {
            let factor = T::Acc::ONE / sum;
            for (x, from) in to.iter_mut().zip(mixed) {
                *x = T::narrow(*from * factor);
            }
        }
    }
}
