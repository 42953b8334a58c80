//! The conversions: rules for single elements.

use super::cast::Cast;
use super::rule::{BLOCK, ElementConversion, by_blocks};
use crate::dtype::Bool;
use crate::kernel::math::Number;
use crate::simd::Isa;
use core::marker::PhantomData;
use core::mem::MaybeUninit;

/// Integers that convert by wrapping.
pub trait Wrap<T>: Copy + 'static {
    /// The low bits, or the value if the target is wider.
    fn wrap(self) -> T;
}
macro_rules! wrap {
    ($($A:ident => $($B:ident)*;)*) => { $($(
        impl Wrap<$B> for $A {
            #[inline(always)]
            fn wrap(self) -> $B {
                self as $B
            }
        }
    )*)* };
}

wrap! {
    u8 => u16 u32 u64;
    i8 => u16 u32 u64;
    u16 => u8 u32 u64;
    i16 => u32 u64;
    u32 => u8 u16 u64;
    i32 => u64;
    u64 => u8 u16 u32;
}
macro_rules! from_bool {
    ($($T:ident)*) => { $(
        impl Wrap<$T> for Bool {
            #[inline(always)]
            fn wrap(self) -> $T {
                self.get() as $T
            }
        }
    )* };
}
from_bool! { u8 u16 u32 u64 }

macro_rules! rules {
    ($($(#[$doc:meta])* $name:ident<$($g:ident $(: $bound:path)?),*>: $From:ty => $To:ty { |$x:ident| $e:expr $(, all $G:ident $all:ident)? })*) => { $(
        $(#[$doc])*
        pub struct $name<$($g),*>(PhantomData<($($g,)*)>);
        impl<$($g: Copy + 'static $(+ $bound)?),*> ElementConversion for $name<$($g),*> {
            type From = $From;
            type To = $To;
            #[inline(always)]
            fn convert($x: $From) -> $To {
                $e
            }
            $(#[inline(always)]
            fn convert_all<I: Isa>(x: &[$From], y: &mut [MaybeUninit<$To>]) {
                $G::$all::<I>(x, y)
            })?
        }
    )* };
}
rules! {
    /// The nearest `f32`.
    Single<A: Cast>: A => f32 { |x| x.single() }
    /// The nearest `f64`.
    Double<A: Cast>: A => f64 { |x| x.double() }
    /// The `f32` to round to float16 or an 8-bit float.
    ForF16<A: Cast>: A => f32 { |x| x.for_f16() }
    /// From `f32`.
    FromSingle<T: Cast>: f32 => T { |x| T::from_single(x), all T from_singles }
    /// From `f64`.
    FromDouble<T: Cast>: f64 => T { |x| T::from_double(x), all T from_doubles }
    /// To bool.
    Truth<A: Number>: A => Bool { |x| Bool(x.nonzero() as u8) }
    /// Between integers, and from bool.
    Resize<A: Wrap<T>, T>: A => T { |x| x.wrap() }
}

#[cfg(any(feature = "half", feature = "float8"))]
rules! {
    /// 16-bit and 8-bit floats to `f32`.
    Widened<A: super::Widen>: A => f32 { |x| x.widen(), all A widen_all }
}
/// To the nearest bfloat16.
#[cfg(feature = "half")]
pub struct ToBf16<A>(PhantomData<A>);
#[cfg(feature = "half")]
impl<A: Cast> ElementConversion for ToBf16<A> {
    type From = A;
    type To = crate::dtype::bf16;
    #[inline(always)]
    fn convert(x: A) -> Self::To {
        super::Widen::narrow(x.for_bf16())
    }
    #[inline(always)]
    fn convert_all<I: Isa>(x: &[A], y: &mut [MaybeUninit<Self::To>]) {
        by_blocks::<Self>(x, y)
    }
    /// Through the nearest `f32`: it lies on the same side of all midpoints between neighbouring
    /// bfloat16 values as x, unless it is a midpoint itself.
    #[inline(always)]
    fn convert_block(x: &[A; BLOCK]) -> [MaybeUninit<Self::To>; BLOCK] {
        let (mut nearest, mut halfway) = ([0.0; BLOCK], 0);
        for k in 0..BLOCK {
            nearest[k] = x[k].single();
        }
        for x in nearest {
            halfway |= (x.to_bits() << 16 == 1 << 31) as u32;
        }
        let mut y = [const { MaybeUninit::uninit() }; BLOCK];
        if A::EXACT | (halfway == 0) {
            for k in 0..BLOCK {
                y[k].write(super::Widen::narrow(nearest[k]));
            }
        } else {
            for k in 0..BLOCK {
                y[k].write(Self::convert(x[k]));
            }
        }
        y
    }
}
/// Each part separately.
#[cfg(feature = "complex")]
pub struct EachPart<A, T>(PhantomData<(A, T)>);
#[cfg(feature = "complex")]
macro_rules! parts {
    ($($A:ident $T:ident)*) => { $(
        impl ElementConversion for EachPart<$A, $T> {
            type From = num_complex::Complex<$A>;
            type To = num_complex::Complex<$T>;
            #[inline(always)]
            fn convert(x: Self::From) -> Self::To {
                Self::To::new(x.re as $T, x.im as $T)
            }
        }
    )* };
}
#[cfg(feature = "complex")]
parts! { f32 f64 f64 f32 }

/// 16-bit and 8-bit floats of any format to bool: all bits but the sign.
pub struct MagnitudeTruth<U>(PhantomData<U>);
macro_rules! magnitude_truth {
    ($($U:ident)*) => { $(
        impl ElementConversion for MagnitudeTruth<$U> {
            type From = $U;
            type To = Bool;
            #[inline(always)]
            fn convert(x: $U) -> Bool {
                Bool((x & ($U::MAX >> 1) != 0) as u8)
            }
        }
    )* };
}
magnitude_truth! { u8 u16 }
