//! Distances from one row to many, a vector of rows at a time: joining the lanes of one vector takes
//! as long as the terms of a row of a few vectors.

use super::{Distance, Largest, Magnitudes, Powers, Squares, Terms, joined, of, settle};
use crate::kernel::math::{Math, Real};
use crate::kernel::norm::Power;
use crate::kernel::reduce::short::join_lanes;
use crate::simd::Isa;
use crate::simd::lanes::Lanes;

/// Rows whose sums are in registers at once.
const TOGETHER: usize = 4;

/// The measures of row `a` and each of the consecutive rows `b`, of equal length, as
/// [`of`](super::of) computes them.
pub fn of_many<F: Real>(by: Distance, a: &[F], b: &[F], y: &mut [F]) -> bool {
    let Distance::Of { power, eps } = by else {
        return of(by, a, b, y);
    };
    let number = F::from_f64(eps);
    match power {
        Power::One => rows::<F, Magnitudes<F>>(Magnitudes(number), a, b, y),
        Power::Infinity => rows::<F, Largest<F>>(Largest(number), a, b, y),
        Power::Two => {
            rows::<F, Squares<F>>(Squares(number), a, b, y);
            roots(y);
        }
        Power::Whole(p) => rows::<F, Powers<F>>(Powers::new(number, p), a, b, y),
        _ => return of(by, a, b, y),
    }
    settle(power, eps, a, b, y)
}

kernel! {
    /// Square roots, in place.
    fn roots<'a, F: Real>(y: &'a mut [F]) -> () { |I|
        for y in y.iter_mut() {
            *y = Math::sqrt::<I>(*y);
        }
    }
}

kernel! {
    /// The joined terms of `a` and each of the consecutive rows `b`.
    fn rows<'a, F: Real, T: Terms<F>>(terms: T, a: &'a [F], b: &'a [F], y: &'a mut [F]) -> () { |I|
        let group = <F::Vector<I> as Lanes>::LEN;
        for (k, y) in y.chunks_mut(group).enumerate() {
            let b = &b[k * group * a.len()..][..y.len() * a.len()];
            let lanes = lanes::<I, F, T>(&terms, a, b, y.len());
            // SAFETY: LANES1, for as many numbers as there are.
            unsafe { lanes.store_first(y.as_mut_ptr(), y.len()) };
        }
    }
}

/// A lane for each of `count` rows.
#[inline(always)]
fn lanes<I: Isa, F: Real, T: Terms<F>>(terms: &T, a: &[F], b: &[F], count: usize) -> F::Vector<I> {
    let n = a.len();
    let mut known = [F::Vector::<I>::splat(F::ZERO); 16];
    for first in (0..count).step_by(TOGETHER) {
        // beyond the last row, the last one again
        let row = |i: usize| &b[(first + i).min(count - 1) * n..][..n];
        let sums = joined::<I, F, T, TOGETHER>(terms, a, core::array::from_fn(row));
        known[first..first + TOGETHER].copy_from_slice(&sums);
    }
    join_lanes::<F::Vector<I>, T>(known)
}
