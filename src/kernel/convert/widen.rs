//! Floats narrower than `f32`.

use crate::simd::Isa;
use core::mem::MaybeUninit;

/// A float of 16 or 8 bits: computed in `f32`, or converted through it, and rounded once.
pub trait Widen: Copy + 'static {
    /// Whether LLVM vectorises loops that convert single elements; if not, converting slices is
    /// faster.
    const IN_LOOPS: bool = true;
    /// The same value.
    fn widen(self) -> f32;
    /// The nearest value, ties to even; NaN stays NaN (quiet, sign and leading payload bits kept).
    fn narrow(x: f32) -> Self;
    /// Widens a slice into another of its length.
    #[inline(always)]
    fn widen_all<I: Isa>(x: &[Self], y: &mut [MaybeUninit<f32>]) {
        for (y, x) in y.iter_mut().zip(x) {
            y.write(x.widen());
        }
    }
    /// Narrows a slice into another of its length.
    #[inline(always)]
    fn narrow_all<I: Isa>(x: &[f32], y: &mut [MaybeUninit<Self>]) {
        for (y, x) in y.iter_mut().zip(x) {
            y.write(Self::narrow(*x));
        }
    }
}
