//! Reductions of short rows of floats. Reducing within one vector takes as long as adding many
//! vectors, so as many rows as a vector has lanes are reduced together: each row to one vector,
//! then all of these by zips to a single vector with one row per lane.

use crate::simd::lanes::Lanes;

/// The most vectors of a row: beyond that, the latency of dependent additions dominates.
const MAX_VECTORS: usize = 12;

/// A reduction of rows of numbers.
pub trait RowReduction<F> {
    /// Maps elements of a row before they are joined.
    #[inline(always)]
    fn lift<V: Lanes<Number = F>>(&self, row: usize, x: V) -> V {
        let _ = row;
        x
    }
    /// Joins two vectors of accumulators.
    fn join<V: Lanes<Number = F>>(a: V, b: V) -> V;
}

/// Sums.
pub struct Sums;
/// Sums of squares.
pub struct SumsOfSquares;
/// The largest elements; NaN if there is one.
pub struct Largest;
/// Sums of distances from a number per row.
pub struct Deviations<'a, F>(pub &'a [F]);
/// Sums of squared distances from a number per row.
pub struct Squares<'a, F>(pub &'a [F]);

impl<F> RowReduction<F> for Sums {
    #[inline(always)]
    fn join<V: Lanes<Number = F>>(a: V, b: V) -> V {
        a + b
    }
}
impl<F> RowReduction<F> for SumsOfSquares {
    #[inline(always)]
    fn lift<V: Lanes<Number = F>>(&self, _row: usize, x: V) -> V {
        x * x
    }
    #[inline(always)]
    fn join<V: Lanes<Number = F>>(a: V, b: V) -> V {
        a + b
    }
}
impl<F> RowReduction<F> for Largest {
    #[inline(always)]
    fn join<V: Lanes<Number = F>>(a: V, b: V) -> V {
        a.maximum(b)
    }
}
impl<F: Copy> RowReduction<F> for Deviations<'_, F> {
    #[inline(always)]
    fn lift<V: Lanes<Number = F>>(&self, row: usize, x: V) -> V {
        x - V::splat(self.0[row])
    }
    #[inline(always)]
    fn join<V: Lanes<Number = F>>(a: V, b: V) -> V {
        a + b
    }
}
impl<F: Copy> RowReduction<F> for Squares<'_, F> {
    #[inline(always)]
    fn lift<V: Lanes<Number = F>>(&self, row: usize, x: V) -> V {
        let d = x - V::splat(self.0[row]);
        d * d
    }
    #[inline(always)]
    fn join<V: Lanes<Number = F>>(a: V, b: V) -> V {
        a + b
    }
}

/// Whether rows of `n` elements are short.
#[inline(always)]
pub fn is_short<V: Lanes>(n: usize) -> bool {
    V::LEN > 1 && n <= MAX_VECTORS * V::LEN
}

/// Runs [`rows`] if rows of `n` elements are short; returns whether it did.
#[inline(always)]
pub fn short_rows<V: Lanes, A: RowReduction<V::Number>>(
    along: &A,
    none: V::Number,
    x: &[V::Number],
    n: usize,
    out: &mut [V::Number],
) -> bool {
    let short = is_short::<V>(n);
    if short {
        rows::<V, A>(along, none, x, n, out);
    }
    short
}

/// Reduces `out.len()` consecutive rows of `n` elements; `none` is the neutral element. A row's
/// result doesn't depend on its neighbours.
#[inline(always)]
fn rows<V: Lanes, A: RowReduction<V::Number>>(
    along: &A,
    none: V::Number,
    x: &[V::Number],
    n: usize,
    out: &mut [V::Number],
) {
    let none = V::splat(none);
    let rest = n % V::LEN;
    assert!(out.len().saturating_mul(n) <= x.len());
    let mut first = 0;
    while first < out.len() {
        let count = V::LEN.min(out.len() - first);
        let mut known = [none; 16];
        for (k, known) in known.iter_mut().take(count).enumerate() {
            let row = x.as_ptr().wrapping_add((first + k) * n);
            let mut acc = none;
            let mut at = 0;
            while at + V::LEN <= n {
                // SAFETY: LANES1: the row, of `n` elements, has a whole vector left at `at`.
                let x = unsafe { V::load(row.add(at)) };
                acc = A::join(acc, along.lift(first + k, x));
                at += V::LEN;
            }
            if rest > 0 {
                // SAFETY: LANES1: the last `rest` elements of the row.
                let x = unsafe { V::load_first(row.add(at), rest) };
                acc = A::join(acc, along.lift(first + k, x).first(rest, none));
            }
            *known = acc;
        }
        let all = join_lanes::<V, A>(known);
        // SAFETY: LANES1: `out` has `count` elements from `first` on.
        unsafe { all.store_first(out[first..].as_mut_ptr(), count) };
        first += count;
    }
}

/// The joined lanes of the first `LEN` vectors, a lane for each.
#[inline(always)]
pub fn join_lanes<V: Lanes, A: RowReduction<V::Number>>(mut known: [V; 16]) -> V {
    // each round interleaves two vectors, later rows behind earlier ones, and joins the halves
    let mut half = V::LEN / 2;
    while half > 0 {
        for k in 0..half {
            let (low, high) = known[k].zip(known[k + half]);
            known[k] = A::join(low, high);
        }
        half /= 2;
    }
    known[0]
}

/// The lanes of a vector, joined by halves. `any` is any number.
#[inline(always)]
pub fn across<V: Lanes, A: RowReduction<V::Number>>(any: V::Number, mut lanes: V) -> V::Number {
    let mut width = V::LEN;
    while width > 1 {
        let (low, high) = lanes.zip(lanes);
        lanes = A::join(low, high);
        width /= 2;
    }
    let mut first = any;
    // SAFETY: LANES1, for one number.
    unsafe { lanes.store_first(&mut first, 1) };
    first
}
