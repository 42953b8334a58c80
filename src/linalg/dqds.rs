//! Singular values of real bidiagonal matrices, without vectors: differential quotient-difference
//! iterations with shifts, which keep the relative accuracy of the smallest (Fernando, Parlett 1994;
//! LAPACK's lasq2). A step of them waits for one division; implicit QR steps wait for four, and for two
//! roots.

use super::field::{epsilon, sqrt};
use crate::dtype::Element;
use crate::error::Result;
use crate::kernel::gemm::{Packed, Scratch};
use crate::kernel::math::Real;

/// The pivots of a step: the smallest before the last, where the smallest of all is, and the last.
#[derive(Clone, Copy)]
struct Pivots<F> {
    before: F,
    at: usize,
    last: F,
}

/// Replaces the diagonal `d` of an upper bidiagonal matrix, whose numbers above it are `e`, by its
/// singular values, in no order. Its numbers are of magnitude 1; `tolerance` is what is negligible
/// beside 1. False, with `d` as it was, if the iteration does not converge or leaves the range of
/// numbers.
pub(super) fn iterate<F: Real + Element + Packed>(
    d: &mut [F],
    e: &[F],
    tolerance: F,
) -> Result<bool> {
    /// The most steps for a value.
    const STEPS: usize = 30;
    let n = d.len();
    // the squares use the whole range of numbers
    let power = if size_of::<F>() == 4 { 40 } else { 480 };
    let scale = F::from_f64(libm::ldexp(1.0, power));
    let square = |x: F| x * scale * (x * scale);
    let (mut q, mut beside) = (Scratch::<F>::new(n)?, Scratch::<F>::new(n)?);
    let (mut next_q, mut next_beside) = (Scratch::<F>::new(n)?, Scratch::<F>::new(n)?);
    let mut values = Scratch::<F>::new(n)?;
    for k in 0..n {
        q[k] = square(d[k]);
        beside[k] = if k + 1 < n { square(e[k]) } else { F::ZERO };
    }
    let e = &mut beside;
    let small = tolerance * tolerance;
    let (mut start, mut end, mut left) = (n, n, STEPS * n);
    // the sum of the shifts of the block `start..end`, and what additions to it lost
    let (mut sigma, mut low) = (F::ZERO, F::ZERO);
    let mut pivots: Option<Pivots<F>> = None;
    while end > 0 {
        if start == end {
            // the block before the last cut, whose number beside the diagonal is the sum at that time
            sigma = -e[end - 1];
            low = F::ZERO;
            start = (1..end).rev().find(|k| e[k - 1] <= F::ZERO).unwrap_or(0);
            pivots = None;
        }
        let last = end - 1;
        if last == start || e[last - 1] <= small * (sigma + q[last]) {
            values[last] = sigma + (low + q[last]);
            end = last;
            continue;
        }
        // all cuts at once: a zero that is not marked would be taken for a sum of shifts
        let mut cut = None;
        for k in (start + 1..last).rev() {
            let (x, y) = (q[k - 1], q[k]);
            if e[k - 1] <= small * (sigma + if x < y { x } else { y }) {
                e[k - 1] = -sigma;
                cut = cut.or(Some(k));
            }
        }
        if let Some(k) = cut {
            (start, pivots) = (k, None);
            continue;
        }
        if last == start + 1 {
            let (larger, smaller) = pair(q[start], e[start], q[last]);
            values[start] = sigma + (low + larger);
            values[last] = sigma + (low + smaller);
            end = start;
            continue;
        }
        if F::from_f64(1.5) * q[start] < q[last] {
            // the smallest values are found at the end
            q[start..end].reverse();
            e[start..last].reverse();
        }
        let mut tau = shift(&q[..end], &e[..last], start, pivots);
        for attempt in 0.. {
            if left == 0 {
                return Ok(false);
            }
            left -= 1;
            let (to_q, to_e) = (&mut next_q[start..end], &mut next_beside[start..last]);
            let found = step(&q[start..end], &e[start..last], to_q, to_e, tau);
            if found.before >= F::ZERO && found.last >= F::ZERO {
                let at = start + found.at;
                pivots = Some(Pivots { at, ..found });
                break;
            }
            // a negative last pivot says how far the shift is above a bound
            let bound = tau + found.last;
            tau = if found.before > F::ZERO && bound > F::ZERO && attempt < 4 {
                bound * (F::ONE - F::from_f64(4.0) * epsilon::<F>())
            } else if attempt < 4 {
                tau * F::from_f64(0.25)
            } else {
                F::ZERO
            };
        }
        q[start..end].copy_from_slice(&next_q[start..end]);
        e[start..last].copy_from_slice(&next_beside[start..last]);
        (sigma, low) = add(sigma, low, tau);
    }
    if !values.iter().all(|x| x.isfinite()) {
        return Ok(false);
    }
    for (to, x) in d.iter_mut().zip(values.iter()) {
        *to = sqrt(*x) / scale;
    }
    Ok(true)
}

/// A step from `q` and `e` with a shift. It ends at the first pivot before the last that is negative.
fn step<F: Real>(q: &[F], e: &[F], to_q: &mut [F], to_e: &mut [F], tau: F) -> Pivots<F> {
    let mut pivot = q[0] - tau;
    let (mut before, mut at) = (pivot, 0);
    let steps = e.iter().zip(&q[1..]).zip(to_e).zip(&mut to_q[..]);
    for (k, (((e, next), to_e), to_q)) in steps.enumerate() {
        if pivot < before {
            (before, at) = (pivot, k);
        }
        if pivot < F::ZERO {
            break;
        }
        let sum = pivot + *e;
        let ratio = *next / sum;
        *to_q = sum;
        *to_e = *e * ratio;
        pivot = pivot * ratio - tau;
    }
    if let Some(to) = to_q.last_mut() {
        *to = pivot;
    }
    if pivot <= before {
        at = q.len() - 1;
    }
    Pivots {
        before,
        at,
        last: pivot,
    }
}

/// A shift, probably below the smallest value: that of the last two rows, less what the row above them
/// changes it by, if the last step found the smallest value near them.
fn shift<F: Real>(q: &[F], e: &[F], start: usize, pivots: Option<Pivots<F>>) -> F {
    let Some(pivots) = pivots else {
        return F::ZERO;
    };
    let last = q.len() - 1;
    let least = |x: F, y: F| if x < y { x } else { y };
    let positive = |x: F| if x > F::ZERO { x } else { F::ZERO };
    // of [[x, ..], [.., q]], in units in which squares don't overflow
    let unit = q[last - 1] + e[last - 1] + q[last];
    let (x, q_last) = ((q[last - 1] + e[last - 1]) / unit, q[last] / unit);
    let square = q_last * (e[last - 1] / unit);
    let half = (x - q_last) * F::from_f64(0.5);
    let root = sqrt(half * half + square);
    let fraction = if half < F::ZERO {
        q_last + half - root
    } else {
        q_last - square / (half + root)
    };
    let smaller = fraction * unit;
    let cautious = F::from_f64(0.25) * least(positive(smaller), least(pivots.before, pivots.last));
    if pivots.at + 1 < last || start + 2 > last {
        return cautious;
    }
    let coupling = (q[last - 1] / unit) * (e[last - 2] / unit);
    let weight = square / ((x - fraction) * (x - fraction) + square);
    let gap = (q[last - 2] + e[last - 2]) / unit - fraction;
    let by = F::from_f64(1.5) * coupling * weight / gap;
    if gap * gap > coupling && by < fraction {
        (fraction - by) * unit
    } else {
        cautious
    }
}

/// The squared singular values of `[[d, s], [0, last]]`, of whose numbers these are the squares.
fn pair<F: Real>(d: F, s: F, last: F) -> (F, F) {
    // in units in which squares don't overflow
    let unit = d + s + last;
    if unit <= F::ZERO {
        return (F::ZERO, F::ZERO);
    }
    let half = F::from_f64(0.5);
    let difference = (d + s - last) / unit * half;
    let root = sqrt(difference * difference + last / unit * (s / unit));
    let larger = (half + root) * unit;
    (larger, last * (d / larger))
}

/// `sigma + low + tau`, as a sum and what it lost.
fn add<F: Real>(sigma: F, low: F, tau: F) -> (F, F) {
    let (large, small) = if tau < sigma {
        (sigma, low + tau)
    } else {
        (tau, low + sigma)
    };
    let sum = large + small;
    (sum, small - (sum - large))
}
