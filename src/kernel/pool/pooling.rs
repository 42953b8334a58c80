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
    /// The results of a row, slice `z` and row `y` of the plane, from its windows; `inner` elements
    /// for each place.
    fn finish<I: Isa>(&self, z: usize, y: usize, inner: usize, row: &mut [A]);
}

/// The largest; NaN where there is one.
pub struct Max;
impl<A: Lowest> Pooling<A> for Max {
    const NEUTRAL: A = A::LOWEST;
    #[inline(always)]
    fn join<I: Isa>(a: A, b: A) -> A {
        if (b > a) | b.isnan() { b } else { a }
    }
    #[inline(always)]
    fn finish<I: Isa>(&self, _: usize, _: usize, _: usize, _: &mut [A]) {}
}

/// The sum, divided by the product of a number for each axis, of its place there.
pub struct Mean<'a, A>(pub [&'a [A]; 3]);
impl<A: Real> Pooling<A> for Mean<'_, A> {
    const NEUTRAL: A = A::ZERO;
    #[inline(always)]
    fn join<I: Isa>(a: A, b: A) -> A {
        a + b
    }
    #[inline(always)]
    fn finish<I: Isa>(&self, z: usize, y: usize, inner: usize, row: &mut [A]) {
        let [depth, height, width] = self.0;
        let n = depth[z] * height[y];
        if inner == 1 {
            for (v, w) in row.iter_mut().zip(width) {
                *v = *v / (n * *w);
            }
        } else {
            for (pixel, w) in row.chunks_exact_mut(inner).zip(width) {
                let n = n * *w;
                for v in pixel {
                    *v = *v / n;
                }
            }
        }
    }
}
