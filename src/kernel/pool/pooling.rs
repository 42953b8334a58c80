//! How the elements of a window are joined.

use crate::kernel::math::{Number, Real};
use crate::simd::Isa;

/// A number with a smallest value.
pub trait Lowest: Number + PartialOrd + Send + Sync {
    /// The smallest value.
    const LOWEST: Self;
}
macro_rules! lowest {
    ($($T:ty, $lowest:expr;)*) => { $(impl Lowest for $T { const LOWEST: $T = $lowest; })* };
}
lowest! {
    f32, f32::NEG_INFINITY; f64, f64::NEG_INFINITY;
    i32, i32::MIN; i64, i64::MIN;
}

/// How the elements of a window are joined and finished.
pub trait Pooling<A>: Send + Sync {
    /// The neutral element of `join`.
    const NEUTRAL: A;
    /// Joins two elements.
    fn join<I: Isa>(a: A, b: A) -> A;
    /// The part of `finish` that the results of slice `z`, row `y` of the plane have in common.
    fn of_row(&self, z: usize, y: usize) -> A;
    /// Turns joined windows of a row into results.
    fn finish<I: Isa>(&self, of_row: A, row: &mut [A]);
    /// The same for part of a row, from element `at` on.
    fn finish_part<I: Isa, const N: usize>(&self, of_row: A, at: usize, part: [A; N]) -> [A; N];
}

/// The maximum; NaN if there is one.
pub struct MaxPooling;
impl<A: Lowest> Pooling<A> for MaxPooling {
    const NEUTRAL: A = A::LOWEST;
    #[inline(always)]
    fn join<I: Isa>(a: A, b: A) -> A {
        // a plain comparison is one instruction
        let largest = if b > a { b } else { a };
        if b.isnan() { b } else { largest }
    }
    #[inline(always)]
    fn of_row(&self, _: usize, _: usize) -> A {
        A::LOWEST
    }
    #[inline(always)]
    fn finish<I: Isa>(&self, _: A, _: &mut [A]) {}
    #[inline(always)]
    fn finish_part<I: Isa, const N: usize>(&self, _: A, _: usize, part: [A; N]) -> [A; N] {
        part
    }
}

/// The sum divided by the product of three counts: of its slice, its row and its position in the row.
pub struct MeanPooling<'a, A>(pub [&'a [A]; 3]);
impl<A: Real> Pooling<A> for MeanPooling<'_, A> {
    const NEUTRAL: A = A::ZERO;
    #[inline(always)]
    fn join<I: Isa>(a: A, b: A) -> A {
        a + b
    }
    #[inline(always)]
    fn of_row(&self, z: usize, y: usize) -> A {
        let [depth, height, _] = self.0;
        depth[z] * height[y]
    }
    #[inline(always)]
    fn finish<I: Isa>(&self, n: A, row: &mut [A]) {
        for (v, w) in row.iter_mut().zip(self.0[2]) {
            *v = *v / (n * *w);
        }
    }
    #[inline(always)]
    fn finish_part<I: Isa, const N: usize>(&self, n: A, at: usize, part: [A; N]) -> [A; N] {
        let (mut means, width) = (part, &self.0[2][at..at + N]);
        for l in 0..N {
            means[l] = part[l] / (n * width[l]);
        }
        means
    }
}
