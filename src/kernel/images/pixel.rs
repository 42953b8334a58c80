//! Conversion of image elements to the type that arithmetic is done in.

use crate::simd::Isa;
#[cfg(feature = "half")]
use crate::{
    dtype::{bf16, f16},
    kernel::convert::Cast,
    kernel::gemm::MatElement,
};

/// An element whose arithmetic is done in `A`: its own type where results are exact in it, as with
/// extremes, or a float.
///
/// # Safety
/// PIXEL1: if `SAME`, `A` is `Self`, and rows may be read and written as rows of `A`.
pub unsafe trait Pixel<A>: Copy + Send + Sync + 'static {
    /// Whether `A` is `Self`.
    const SAME: bool;
    /// One element.
    fn to(self) -> A;
    /// Converts a slice to another of the same length.
    fn load<I: Isa>(x: &[Self], y: &mut [A]);
    /// Converts back, rounding once.
    fn store<I: Isa>(x: &[A], y: &mut [Self]);
}
// SAFETY: PIXEL1: the same type.
unsafe impl<T: Copy + Send + Sync + 'static> Pixel<T> for T {
    const SAME: bool = true;
    #[inline(always)]
    fn to(self) -> T {
        self
    }
    #[inline(always)]
    fn load<I: Isa>(x: &[T], y: &mut [T]) {
        y.copy_from_slice(x)
    }
    #[inline(always)]
    fn store<I: Isa>(x: &[T], y: &mut [T]) {
        y.copy_from_slice(x)
    }
}
/// Rounds to the nearest integer, ties to even, saturating; NaN becomes 0.
// SAFETY: PIXEL1: `SAME` is false.
unsafe impl Pixel<f32> for u8 {
    const SAME: bool = false;
    #[inline(always)]
    fn to(self) -> f32 {
        self as f32
    }
    #[inline(always)]
    fn load<I: Isa>(x: &[u8], y: &mut [f32]) {
        for (y, x) in y.iter_mut().zip(x) {
            *y = *x as f32;
        }
    }
    #[inline(always)]
    fn store<I: Isa>(x: &[f32], y: &mut [u8]) {
        /// 1.5 * 2^23, whose last bit is worth 1: adding it rounds to an integer.
        const UNIT: f32 = 12_582_912.0;
        for (y, x) in y.iter_mut().zip(x) {
            let x = if *x > 0.0 { *x } else { 0.0 };
            let x = if x < 255.0 { x } else { 255.0 };
            *y = ((x + UNIT).to_bits() & 0xff) as u8;
        }
    }
}
#[cfg(feature = "half")]
macro_rules! halves {
    ($($T:ty)*) => { $(
        // SAFETY: PIXEL1: `SAME` is false.
        unsafe impl Pixel<f32> for $T {
            const SAME: bool = false;
            #[inline(always)]
            fn to(self) -> f32 {
                MatElement::widen(self)
            }
            #[inline(always)]
            fn load<I: Isa>(x: &[$T], y: &mut [f32]) {
                <$T as MatElement>::widen_all::<I>(x, y)
            }
            #[inline(always)]
            fn store<I: Isa>(x: &[f32], y: &mut [$T]) {
                // SAFETY: the same memory; only initialised values are written to it.
                let y = unsafe { &mut *(core::ptr::from_mut(y) as *mut [core::mem::MaybeUninit<$T>]) };
                <$T as Cast>::from_singles::<I>(x, y)
            }
        }
    )* };
}
#[cfg(feature = "half")]
halves! { f16 bf16 }
