//! Elements of images in the type that is computed in.

use crate::simd::Isa;
#[cfg(feature = "half")]
use crate::{
    dtype::{bf16, f16},
    kernel::convert::Cast,
    kernel::gemm::MatElement,
};

/// An element that is computed in `A`: its own type for what is exact in it, as extremes are, or a
/// float.
///
/// # Safety
/// PIXEL1: where `SAME`, `A` is the type itself, and rows are read and written as rows of `A`.
pub unsafe trait Pixel<A>: Copy + Send + Sync + 'static {
    /// Whether `A` is its own type.
    const SAME: bool;
    /// One element.
    fn to(self) -> A;
    /// A slice into another of its length.
    fn load<I: Isa>(x: &[Self], y: &mut [A]);
    /// And back; rounded once.
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
/// To the nearest integer, ties to even, within the type's limits; NaN becomes 0.
// SAFETY: PIXEL1: not the same.
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
        /// What has 1 for its last bit: an addition rounds to integers.
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
        // SAFETY: PIXEL1: not the same.
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
                // SAFETY: the same elements; what is written is initialised.
                let y = unsafe { &mut *(core::ptr::from_mut(y) as *mut [core::mem::MaybeUninit<$T>]) };
                <$T as Cast>::from_singles::<I>(x, y)
            }
        }
    )* };
}
#[cfg(feature = "half")]
halves! { f16 bf16 }
