//! Integers to and from floats.

use super::cast::{Cast, round_to_odd};
use super::rule::{BLOCK, ElementConversion, by_blocks};
#[cfg(x86_dispatch)]
use crate::simd;
use crate::simd::Isa;
use core::marker::PhantomData;
use core::mem::MaybeUninit;

/// `f32` holds every 16-bit integer; of longer ones that it doesn't hold, the bits below bit 8 (bit
/// 12 for 64-bit integers) become one sticky bit.
macro_rules! odd {
    (exact $x:expr) => {
        $x as f32
    };
    (single $x:expr) => {{
        let x = $x;
        let sticky = if x & 0xff != 0 { 0x100 } else { 0 };
        (if x.abs_diff(0) < 1 << 24 {
            x
        } else {
            (x & !0xff) | sticky
        }) as f32
    }};
    (double $x:expr) => {{
        let x = $x;
        let sticky = if x & 0xfff != 0 { 0x1000 } else { 0 };
        let small = x.abs_diff(0) < 1 << 53;
        round_to_odd((if small { x } else { (x & !0xfff) | sticky }) as f64)
    }};
}
/// The value of `x as $T` as `$via`, before it is narrowed to `$T`, in a form that LLVM vectorises:
/// NaN zeroed, then clamped. `$T` is narrower than the float.
macro_rules! bounded {
    ($x:expr, $F:ident => $via:ident => $T:ident) => {{
        const MIN: $F = <$T>::MIN as $F;
        const MAX: $F = <$T>::MAX as $F;
        let x = if $x.is_nan() { 0.0 } else { $x };
        let y = if x > MIN { x } else { MIN };
        // SAFETY: from MIN to MAX, which are values of the type.
        unsafe { (if y > MAX { MAX } else { y }).to_int_unchecked::<$via>() }
    }};
}
/// The value of `x as $T`, where the largest integer as a float is the power of two above it.
macro_rules! saturated {
    ($x:expr, $F:ident => $T:ident) => {{
        const MIN: $F = <$T>::MIN as $F;
        let y = if $x > MIN { $x } else { MIN };
        let over = y >= <$T>::MAX as $F;
        // SAFETY: from MIN, which NaN became too, to below the power of two.
        let y = unsafe { (if over { 0.0 } else { y }).to_int_unchecked::<$T>() };
        let y = if over { <$T>::MAX } else { y };
        if $x.is_nan() { 0 } else { y }
    }};
}
/// The methods of [`Cast`] from floats to integers, by their width.
macro_rules! from_float {
    (narrow $T:ident) => {
        from_float!(@ blocks $T: from_single from_singles f32 i32 packed);
        from_float!(@ blocks $T: from_double from_doubles f64 i32 packed);
    };
    (medium $T:ident) => {
        #[inline(always)]
        fn from_single(x: f32) -> $T {
            saturated!(x, f32 => $T)
        }
        from_float!(@ blocks $T: from_double from_doubles f64 $T whole);
    };
    (wide $T:ident) => {
        #[inline(always)]
        fn from_single(x: f32) -> $T {
            saturated!(x, f32 => $T)
        }
        #[inline(always)]
        fn from_double(x: f64) -> $T {
            saturated!(x, f64 => $T)
        }
        // AVX2 has no conversion to 64 bits, but one to 32 bits, which is nearly always enough.
        #[inline(always)]
        fn from_singles<I: Isa>(x: &[f32], y: &mut [MaybeUninit<$T>]) {
            if I::AVX2 & !I::AVX512 {
                by_blocks::<Short<$T>>(x, y)
            } else {
                for (y, x) in y.iter_mut().zip(x) {
                    y.write($T::from_single(*x));
                }
            }
        }
    };
    // AVX2's instructions for packing, where LLVM cuts off what conversions have saturated
    (@ packed $T:ident $F:ident $x:ident $y:ident) => {
        #[cfg(x86_dispatch)]
        let ($x, $y) = if I::AVX2 & !I::AVX512 {
            // SAFETY: ISA1; the slices have one length.
            let done = unsafe { simd::x86::narrow::narrow::<$F, $T>($x, $y.as_mut_ptr().cast()) };
            (&$x[done..], &mut $y[done..])
        } else {
            ($x, $y)
        };
    };
    (@ whole $T:ident $F:ident $x:ident $y:ident) => {};
    (@ blocks $T:ident: $from:ident $froms:ident $F:ident $via:ident $how:ident) => {
        #[inline(always)]
        fn $from(x: $F) -> $T {
            bounded!(x, $F => $via => $T) as $T
        }
        #[inline(always)]
        fn $froms<I: Isa>(x: &[$F], y: &mut [MaybeUninit<$T>]) {
            from_float!(@ $how $T $F x y);
            by_blocks::<Bounded<$F, $T>>(x, y)
        }
    };
}
/// The block rules of these.
macro_rules! bounded_rule {
    ($($F:ident => $via:ident => $T:ident;)*) => { $(
        impl ElementConversion for Bounded<$F, $T> {
            type From = $F;
            type To = $T;
            #[inline(always)]
            fn convert(x: $F) -> $T {
                bounded!(x, $F => $via => $T) as $T
            }
            #[inline(always)]
            fn convert_block(x: &[$F; BLOCK]) -> [MaybeUninit<$T>; BLOCK] {
                let (mut wide, mut y) = ([0; BLOCK], [const { MaybeUninit::uninit() }; BLOCK]);
                for k in 0..BLOCK {
                    wide[k] = bounded!(x[k], $F => $via => $T);
                }
                for k in 0..BLOCK {
                    y[k].write(wide[k] as $T);
                }
                y
            }
        }
    )* };
}
bounded_rule! {
    f32 => i32 => i8; f32 => i32 => u8; f32 => i32 => i16; f32 => i32 => u16;
    f64 => i32 => i8; f64 => i32 => u8; f64 => i32 => i16; f64 => i32 => u16;
    f64 => i32 => i32; f64 => u32 => u32;
}
/// Floats to narrower integers.
struct Bounded<F, T>(PhantomData<(F, T)>);

macro_rules! integers {
    ($($T:ident $width:ident $odd:ident)*) => { $(
        impl Cast for $T {
            type Wide = f64;
            #[inline(always)]
            fn wide(self) -> f64 {
                self as f64
            }
            #[inline(always)]
            fn single(self) -> f32 {
                self as f32
            }
            #[inline(always)]
            fn double(self) -> f64 {
                self as f64
            }
            #[inline(always)]
            fn for_bf16(self) -> f32 {
                odd!($odd self)
            }
            #[inline(always)]
            fn for_f16(self) -> f32 {
                // From 65520 on, integers become infinite, or NaN.
                const BOUND: i64 = 1 << 16;
                if $T::BITS > 16 { self.clamp((-BOUND).max($T::MIN as i64) as $T, BOUND as $T) as i32 as f32 } else { self as f32 }
            }
            const EXACT: bool = $T::BITS <= 16;
            from_float!($width $T);
        }
    )* };
}
integers! {
    i8 narrow exact u8 narrow exact i16 narrow exact u16 narrow exact
    i32 medium single u32 medium single i64 wide double u64 wide double
}

/// `f32` to 64-bit integers: through `i32` if all of a block fit.
struct Short<T>(PhantomData<T>);
macro_rules! short {
    ($($T:ident $least:literal)*) => { $(
        impl ElementConversion for Short<$T> {
            type From = f32;
            type To = $T;
            #[inline(always)]
            fn convert(x: f32) -> $T {
                $T::from_single(x)
            }
            #[inline(always)]
            fn convert_block(x: &[f32; BLOCK]) -> [MaybeUninit<$T>; BLOCK] {
                let (mut y, mut long) = ([const { MaybeUninit::uninit() }; BLOCK], 0);
                for k in 0..BLOCK {
                    let fits = (x[k] > $least) & (x[k] < 2147483648.0);
                    long |= !fits as u32;
                    // SAFETY: inside the range of `i32`, or zero.
                    y[k].write(unsafe { (if fits { x[k] } else { 0.0 }).to_int_unchecked::<i32>() } as $T);
                }
                if long != 0 {
                    for k in 0..BLOCK {
                        y[k].write($T::from_single(x[k]));
                    }
                }
                y
            }
        }
    )* };
}
short! { i64 -2147483648.0 u64 -1.0 }
