//! Numbers to and from floats: one of them, and slices where a loop of single ones is not the
//! fastest.

use super::rule::{BLOCK, Rule, by_blocks};
use crate::dtype::Bool;
use crate::kernel::math::{Number, Real};
use crate::simd::Isa;
use core::marker::PhantomData;
use core::mem::MaybeUninit;

/// A number that converts to floats and from them; a complex one has its real part for it.
pub trait Cast: Number {
    /// The float that it is computed in where what is computed is no integer: float32 for narrower
    /// floats, its own for wider ones and for parts, float64 for integers and bool.
    type Wide: Real;
    /// The nearest value of that: the same, but for integers of 64 bits.
    fn wide(self) -> Self::Wide;
    /// The nearest `f32`.
    fn single(self) -> f32;
    /// The nearest `f64`.
    fn double(self) -> f64;
    /// An `f32` that rounds to bfloat16 as the number itself does: rounded to odd, so that what was
    /// cut off still shows.
    #[inline(always)]
    fn for_bf16(self) -> f32 {
        self.single()
    }
    /// An `f32` that rounds to float16 and to the 8-bit floats, which reach no further, as the
    /// number itself does.
    #[inline(always)]
    fn for_f16(self) -> f32 {
        self.single()
    }
    /// Whether every number is an `f32`.
    const EXACT: bool;
    /// From `f32`: rounded once; to integers truncated and saturated, NaN as 0.
    fn from_single(x: f32) -> Self;
    /// From `f64`, likewise.
    fn from_double(x: f64) -> Self;
    /// A slice of `f32`, into another of its length.
    #[inline(always)]
    fn from_singles<I: Isa>(x: &[f32], y: &mut [MaybeUninit<Self>]) {
        y.iter_mut()
            .zip(x)
            .for_each(|(y, x)| _ = y.write(Self::from_single(*x)));
    }
    /// A slice of `f64`, into another of its length.
    #[inline(always)]
    fn from_doubles<I: Isa>(x: &[f64], y: &mut [MaybeUninit<Self>]) {
        y.iter_mut()
            .zip(x)
            .for_each(|(y, x)| _ = y.write(Self::from_double(*x)));
    }
}

/// The bits of an `f64` that an `f32` has not.
const LOST: u64 = (1 << 29) - 1;

/// x cut off after 23 bits, the last of which is set where others were lost: what becomes an `f32`
/// exactly, if it is normal there.
#[inline(always)]
fn cut_to_odd(x: f64) -> f64 {
    let b = x.to_bits();
    // The sum carries into the last bit that stays unless all that are lost are zero.
    f64::from_bits((b | ((b & LOST) + LOST)) & !LOST)
}

/// An `f32` that rounds to bfloat16 as x does: x rounded to odd. Below the normal numbers, where
/// `f32` has fewer bits, x rounded to a multiple of the least bfloat16.
#[inline(always)]
pub fn round_to_odd(x: f64) -> f32 {
    /// 1.5 times what has the least bfloat16, 2^-133, for its last bit: an addition rounds to that.
    const UNIT: f64 = f64::from_bits(((1023 + 52 - 133) << 52) | (1 << 51));
    let b = x.to_bits();
    let (sign, magnitude) = (b & (1 << 63), f64::from_bits(b & !(1 << 63)));
    let tiny = ((magnitude + UNIT) - UNIT).to_bits() | sign;
    (if magnitude < f32::MIN_POSITIVE as f64 {
        f64::from_bits(tiny)
    } else {
        cut_to_odd(x)
    }) as f32
}

/// `f32` holds every 16-bit integer; of longer ones that it doesn't, what is below bit 8 (of 64
/// bits, 12) becomes one bit that still shows.
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
/// What `x as $T` is, before `$via` is cut to `$T`, as LLVM vectorises it: NaN zeroed, bounded.
/// `$T` is narrower than the float.
macro_rules! bounded {
    ($x:expr, $F:ident => $via:ident => $T:ident) => {{
        const LEAST: $F = <$T>::MIN as $F;
        const MOST: $F = <$T>::MAX as $F;
        let x = if $x.is_nan() { 0.0 } else { $x };
        let y = if x > LEAST { x } else { LEAST };
        // SAFETY: from LEAST to MOST, which are values of the type.
        unsafe { (if y > MOST { MOST } else { y }).to_int_unchecked::<$via>() }
    }};
}
/// What `x as $T` is, where the largest integer as a float is the power of two above it.
macro_rules! saturated {
    ($x:expr, $F:ident => $T:ident) => {{
        const LEAST: $F = <$T>::MIN as $F;
        let y = if $x > LEAST { $x } else { LEAST };
        let over = y >= <$T>::MAX as $F;
        // SAFETY: from LEAST, which NaN became too, to below the power of two.
        let y = unsafe { (if over { 0.0 } else { y }).to_int_unchecked::<$T>() };
        let y = if over { <$T>::MAX } else { y };
        if $x.is_nan() { 0 } else { y }
    }};
}
/// The methods of [`Cast`] that make integers of floats, by their width.
macro_rules! from_float {
    (narrow $T:ident) => {
        from_float!(@ blocks $T: from_single from_singles f32 i32);
        from_float!(@ blocks $T: from_double from_doubles f64 i32);
    };
    (medium $T:ident) => {
        #[inline(always)]
        fn from_single(x: f32) -> $T {
            saturated!(x, f32 => $T)
        }
        from_float!(@ blocks $T: from_double from_doubles f64 $T);
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
        // AVX2 has no conversion to 64 bits, but one to 32, which is nearly always enough.
        #[inline(always)]
        fn from_singles<I: Isa>(x: &[f32], y: &mut [MaybeUninit<$T>]) {
            if I::AVX2 & !I::AVX512 {
                by_blocks::<Short<$T>>(x, y)
            } else {
                y.iter_mut().zip(x).for_each(|(y, x)| _ = y.write($T::from_single(*x)));
            }
        }
    };
    (@ blocks $T:ident: $from:ident $froms:ident $F:ident $via:ident) => {
        #[inline(always)]
        fn $from(x: $F) -> $T {
            bounded!(x, $F => $via => $T) as $T
        }
        #[inline(always)]
        fn $froms<I: Isa>(x: &[$F], y: &mut [MaybeUninit<$T>]) {
            by_blocks::<Bounded<$F, $T>>(x, y)
        }
    };
}
/// The rules of blocks of those.
macro_rules! bounded_rule {
    ($($F:ident => $via:ident => $T:ident;)*) => { $(
        impl Rule for Bounded<$F, $T> {
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
                // From 65520 on they are infinite, or NaN.
                const MOST: i64 = 1 << 16;
                if $T::BITS > 16 { self.clamp((-MOST).max($T::MIN as i64) as $T, MOST as $T) as i32 as f32 } else { self as f32 }
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

/// `f32` to 64-bit integers: by way of `i32` where a block has none that is longer.
struct Short<T>(PhantomData<T>);
macro_rules! short {
    ($($T:ident $least:literal)*) => { $(
        impl Rule for Short<$T> {
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

impl Cast for Bool {
    type Wide = f64;
    #[inline(always)]
    fn wide(self) -> f64 {
        self.double()
    }
    #[inline(always)]
    fn single(self) -> f32 {
        self.get() as u8 as f32
    }
    #[inline(always)]
    fn double(self) -> f64 {
        self.get() as u8 as f64
    }
    const EXACT: bool = true;
    #[inline(always)]
    fn from_single(x: f32) -> Bool {
        Bool::from(x != 0.0)
    }
    #[inline(always)]
    fn from_double(x: f64) -> Bool {
        Bool::from(x != 0.0)
    }
}
macro_rules! floats {
    ($($T:ident exact $exact:literal, |$x:ident| for_bf16 $for_bf16:expr, for_f16 $for_f16:expr;)*) => { $(
        impl Cast for $T {
            type Wide = $T;
            #[inline(always)]
            fn wide(self) -> $T {
                self
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
                let $x = self;
                $for_bf16
            }
            #[inline(always)]
            fn for_f16(self) -> f32 {
                let $x = self;
                $for_f16
            }
            const EXACT: bool = $exact;
            #[inline(always)]
            fn from_single(x: f32) -> $T {
                x as $T
            }
            #[inline(always)]
            fn from_double(x: f64) -> $T {
                x as $T
            }
        }
    )* };
}
floats! {
    f32 exact true, |x| for_bf16 x, for_f16 x;
    // What is below the normal `f32` is zero as a float16, however it was rounded.
    f64 exact false, |x| for_bf16 round_to_odd(x), for_f16 cut_to_odd(x) as f32;
}
#[cfg(feature = "complex")]
impl<T: Cast + Number<Real = T> + core::ops::Neg<Output = T>> Cast for num_complex::Complex<T> {
    type Wide = T::Wide;
    #[inline(always)]
    fn wide(self) -> T::Wide {
        self.re.wide()
    }
    #[inline(always)]
    fn single(self) -> f32 {
        self.re.single()
    }
    #[inline(always)]
    fn double(self) -> f64 {
        self.re.double()
    }
    const EXACT: bool = false;
    #[inline(always)]
    fn from_single(x: f32) -> Self {
        let re = T::from_single(x);
        Self::new(re, re.im())
    }
    #[inline(always)]
    fn from_double(x: f64) -> Self {
        let re = T::from_double(x);
        Self::new(re, re.im())
    }
}
#[cfg(any(feature = "half", feature = "float8"))]
macro_rules! narrow_floats {
    ($(#[$cfg:meta] $T:ident)*) => { $(
        #[$cfg]
        impl Cast for crate::dtype::$T {
            type Wide = f32;
            #[inline(always)]
            fn wide(self) -> f32 {
                super::Widen::widen(self)
            }
            #[inline(always)]
            fn single(self) -> f32 {
                super::Widen::widen(self)
            }
            #[inline(always)]
            fn double(self) -> f64 {
                super::Widen::widen(self) as f64
            }
            const EXACT: bool = true;
            #[inline(always)]
            fn from_single(x: f32) -> Self {
                super::Widen::narrow(x)
            }
            #[inline(always)]
            fn from_double(x: f64) -> Self {
                super::Widen::narrow(round_to_odd(x))
            }
            #[inline(always)]
            fn from_singles<I: Isa>(x: &[f32], y: &mut [MaybeUninit<Self>]) {
                super::Widen::narrow_all::<I>(x, y)
            }
        }
    )* };
}
#[cfg(any(feature = "half", feature = "float8"))]
narrow_floats! {
    #[cfg(feature = "half")] f16
    #[cfg(feature = "half")] bf16
    #[cfg(feature = "float8")] F8E4M3
    #[cfg(feature = "float8")] F8E5M2
}
