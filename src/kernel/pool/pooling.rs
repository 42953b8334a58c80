//! How the elements of a window are joined.

use crate::kernel::math::{Number, Real};
use crate::simd::Isa;

/// A number with a smallest value.
pub trait Lowest: Number + PartialOrd + Send + Sync {
    /// What no value is below.
    const LOWEST: Self;
}
macro_rules! lowest {
    ($($T:ty, $lowest:expr;)*) => { $(impl Lowest for $T { const LOWEST: $T = $lowest; })* };
}
lowest! {
    f32, f32::NEG_INFINITY; f64, f64::NEG_INFINITY;
    i8, i8::MIN; i16, i16::MIN; i32, i32::MIN; i64, i64::MIN;
    u8, 0; u16, 0; u32, 0; u64, 0;
}

/// What becomes of the elements of a window.
pub trait Pooling<A>: Send + Sync {
    /// What joins to any element unchanged.
    const NEUTRAL: A;
    /// Two elements joined.
    fn join<I: Isa>(a: A, b: A) -> A;
    /// What the results of slice `z` and row `y` of the plane have in common.
    fn of_row(&self, z: usize, y: usize) -> A;
    /// The results of such a row from its windows.
    fn finish<I: Isa>(&self, of_row: A, row: &mut [A]);
    /// The same for a part of a row, from an element on.
    fn finish_part<I: Isa, const N: usize>(&self, of_row: A, at: usize, part: [A; N]) -> [A; N];
}

/// The largest; NaN where there is one.
pub struct Max;
impl<A: Lowest> Pooling<A> for Max {
    const NEUTRAL: A = A::LOWEST;
    #[inline(always)]
    fn join<I: Isa>(a: A, b: A) -> A {
        // the first choice is one instruction
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

/// The sum, divided by a product: of a number for its slice, one for its row and one for its element of the
/// row.
pub struct Mean<'a, A>(pub [&'a [A]; 3]);
impl<A: Real> Pooling<A> for Mean<'_, A> {
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
