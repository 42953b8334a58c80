//! Short rows of floats. A sum within a vector takes as long as that of many vectors; so as many rows as a vector has lanes are reduced
//! together: each to a vector, and all of them to one, whose lanes are the rows, by zips.

use crate::simd::lanes::Lanes;

/// Vectors of a row at most: the additions of a longer one wait for each other.
const MOST: usize = 12;

/// A reduction of rows of numbers.
pub trait Along<F> {
    /// What is known of elements of a row.
    #[inline(always)]
    fn lift<V: Lanes<Number = F>>(&self, row: usize, x: V) -> V {
        let _ = row;
        x
    }
    /// What is known of both.
    fn join<V: Lanes<Number = F>>(a: V, b: V) -> V;
}

/// Sums.
pub struct Sums;
/// The largest elements; NaN where there is one.
pub struct Largest;
/// The smallest elements; NaN where there is one.
pub struct Smallest;
/// Sums of squared distances from a number for each row.
pub struct Squares<'a, F>(pub &'a [F]);

impl<F> Along<F> for Sums {
    #[inline(always)]
    fn join<V: Lanes<Number = F>>(a: V, b: V) -> V {
        a + b
    }
}
impl<F> Along<F> for Largest {
    #[inline(always)]
    fn join<V: Lanes<Number = F>>(a: V, b: V) -> V {
        a.maximum(b)
    }
}
impl<F> Along<F> for Smallest {
    #[inline(always)]
    fn join<V: Lanes<Number = F>>(a: V, b: V) -> V {
        a.minimum(b)
    }
}
impl<F: Copy> Along<F> for Squares<'_, F> {
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

/// [`rows`] if those of `n` elements are short: whether they are.
#[inline(always)]
pub fn short_rows<V: Lanes, A: Along<V::Number>>(
    along: &A,
    none: V::Number,
    x: &[V::Number],
    n: usize,
    out: &mut [V::Number],
) -> bool {
    let short = V::LEN > 1 && n <= MOST * V::LEN;
    if short {
        rows::<V, A>(along, none, x, n, out);
    }
    short
}

/// Of each of `out.len()` rows of `n` elements, one after the other in `x`; `none` is what is known of no elements. What a row gives does
/// not depend on its neighbours.
#[inline(always)]
fn rows<V: Lanes, A: Along<V::Number>>(
    along: &A,
    none: V::Number,
    x: &[V::Number],
    n: usize,
    out: &mut [V::Number],
) {
    let none = V::splat(none);
    let rest = n % V::LEN;
    let mut first = 0;
    while first < out.len() {
        let count = V::LEN.min(out.len() - first);
        let mut known = [none; 16];
        for (k, known) in known.iter_mut().take(count).enumerate() {
            let row = &x[(first + k) * n..][..n];
            let mut acc = none;
            let mut at = 0;
            while at + V::LEN <= n {
                // SAFETY: LANES1: so many elements of the row are left.
                let x = unsafe { V::load(row.as_ptr().add(at)) };
                acc = A::join(acc, along.lift(first + k, x));
                at += V::LEN;
            }
            if rest > 0 {
                // SAFETY: LANES1: the row's last elements.
                let x = unsafe { V::load_first(row.as_ptr().add(at), rest) };
                acc = A::join(acc, along.lift(first + k, x).first(rest, none));
            }
            *known = acc;
        }
        // each round puts the lanes of two vectors in turn, those of later rows behind those of earlier ones, and joins the halves
        let mut half = V::LEN / 2;
        while half > 0 {
            for k in 0..half {
                let (low, high) = known[k].zip(known[k + half]);
                known[k] = A::join(low, high);
            }
            half /= 2;
        }
        // SAFETY: LANES1: `count` elements from `first` on are left.
        unsafe { known[0].store_first(out[first..].as_mut_ptr(), count) };
        first += count;
    }
}
