//! The element types of products, a row each; unsigned integers are multiplied as signed ones,
//! except bytes whose sums are wider. Several share a packed type: 16-bit floats are widened to
//! `f32` while they are packed, and 8-bit integers are packed into groups; groups that the caller
//! made are elements themselves.

#[cfg(x86_bf16)]
use super::microkernel::Bf16Pair;
#[cfg(x86_dispatch)]
use super::microkernel::Quad;
use super::microkernel::{Packed, Pair};
#[cfg(feature = "complex")]
use crate::dtype::Complex64;
#[cfg(all(feature = "complex", feature = "f64"))]
use crate::dtype::Complex128;
use crate::simd::Isa;
#[cfg(feature = "half")]
use crate::{
    dtype::{bf16, f16},
    kernel::convert::Widen,
};

/// An element of matrix products.
///
/// # Safety
/// ELEMENT1: any bits are a value; if `SAME`, the type has the size, alignment and values of its
/// accumulator; if there is a `BYTE`, it is one byte; if `IS_BF16`, it has the bits of bfloat16;
/// `Moved` and its accumulator have the sizes and alignments of the type and of its accumulator,
/// and the bits that one widens to are those of the other.
/// Operands are read, and results written, as these types.
pub unsafe trait MatElement: Copy + Default + Send + Sync + 'static {
    /// The type that it is packed to and accumulated in.
    type Acc: Packed;
    /// Whether it has the bits of its accumulator, so that operands may be read, and results
    /// written, as accumulators.
    const SAME: bool;
    /// The type that it is packed as: floats with the bits of their accumulators are moved as
    /// integers, so that types of one width share the code.
    type Moved: MatElement;
    /// Converts to an accumulator.
    fn widen(self) -> Self::Acc;
    /// For 8-bit integers, which are packed in groups: whether it is signed.
    const BYTE: Option<bool>;
    /// Whether it is bfloat16, which some CPUs multiply in pairs.
    const IS_BF16: bool = false;
    /// Converts all of `s` to accumulators.
    fn widen_all<I: Isa>(s: &[Self], d: &mut [Self::Acc]);
    /// Converts an accumulator back: rounds floats, wraps integers.
    fn narrow(x: Self::Acc) -> Self;
}

/// `element: accumulator, same bits, conversion of slices, to an accumulator, from one; signedness
/// of a byte, whether it is bfloat16, what it is moved as if not itself, (parameters of the type)`.
macro_rules! products {
    ($($(#[$cfg:meta])* $T:ty: $A:ty, $same:literal, $slices:ident |$x:ident| $widen:expr, $narrow:expr $(, signed $signed:literal)? $(, bf16 $is_bf16:literal)? $(, moved $M:ty)? $(, ($($parameter:tt)*))?;)*) => { $(
        $(#[$cfg])*
        // SAFETY: ELEMENT1: plain elements; `SAME` types differ from their accumulators in sign
        // alone.
        unsafe impl $(<$($parameter)*>)? MatElement for $T {
            type Acc = $A;
            type Moved = products!(@moved $T $(, $M)?);
            const SAME: bool = $same;
            const BYTE: Option<bool> = [$(Some($signed),)? None][0];
            $(const IS_BF16: bool = $is_bf16;)?
            #[inline(always)]
            fn widen(self) -> $A { let $x = self; $widen }
            #[inline(always)]
            fn narrow($x: $A) -> $T { $narrow }
            #[inline(always)]
            fn widen_all<I: Isa>(s: &[$T], d: &mut [$A]) { $slices::<I, $T>(s, d) }
        }
    )* };
    (@moved $T:ty) => { $T };
    (@moved $T:ty, $M:ty) => { $M };
}
products! {
    f32: f32, true, each |x| x, x, moved u32;
    #[cfg(feature = "f64")] f64: f64, true, each |x| x, x, moved u64;
    #[cfg(feature = "half")] f16: f32, false, halves |x| Widen::widen(x), Widen::narrow(x);
    #[cfg(feature = "half")] bf16: f32, false, each |x| Widen::widen(x), Widen::narrow(x), bf16 true;
    i8: u32, false, each |x| x as u32, x as i8, signed true;
    u8: u32, false, each |x| x as u32, x as u8, signed false;
    i32: u32, true, each |x| x as u32, x as i32, moved u32;
    u32: u32, true, each |x| x, x;
    i64: u64, true, each |x| x as u64, x as i64, moved u64;
    u64: u64, true, each |x| x, x;
    Pair: Pair, true, each |x| x, x, moved u32;
    #[cfg(x86_bf16)] Bf16Pair: Bf16Pair, true, each |x| x, x;
    #[cfg(x86_dispatch)] Quad<SIGNED, VNNI>: Quad<SIGNED, VNNI>, true, each |x| x, x, moved u32, (const SIGNED: bool, const VNNI: bool);
    #[cfg(feature = "complex")] Complex64: Complex64, true, each |x| x, x;
    #[cfg(all(feature = "complex", feature = "f64"))] Complex128: Complex128, true, each |x| x, x;
}

/// Accumulators of `T` as those of what it is moved as.
pub fn moved<T: MatElement>(d: &mut [T::Acc]) -> &mut [<T::Moved as MatElement>::Acc] {
    const { assert!(size_of::<T::Moved>() == size_of::<T>()) };
    const { assert!(size_of::<<T::Moved as MatElement>::Acc>() == size_of::<T::Acc>()) };
    // SAFETY: ELEMENT1: the same size and alignment, and any bits are a value.
    unsafe { core::slice::from_raw_parts_mut(d.as_mut_ptr().cast(), d.len()) }
}

/// Converts elements to accumulators.
#[inline(always)]
#[expect(
    clippy::extra_unused_type_parameters,
    reason = "the signature of all forms"
)]
pub fn each<I: Isa, T: MatElement>(s: &[T], d: &mut [T::Acc]) {
    for (s, d) in s.iter().zip(d) {
        *d = s.widen();
    }
}
/// The same for `f16`, a vector at a time where there is an instruction for it.
#[cfg(feature = "half")]
#[inline(always)]
pub fn halves<I: Isa, T: MatElement<Acc = f32>>(s: &[T], d: &mut [f32]) {
    #[cfg(x86_dispatch)]
    {
        assert!(size_of::<T>() == 2);
        let n = s.len().min(d.len());
        // SAFETY: HALF1: as many elements in both slices, of float16 (the only 16-bit type that
        // uses this form), and ISA1.
        let done =
            unsafe { crate::simd::x86::half::widen::<I>(s.as_ptr().cast(), d.as_mut_ptr(), n) };
        each::<I, T>(&s[done..], &mut d[done..])
    }
    #[cfg(not(x86_dispatch))]
    each::<I, T>(s, d)
}
