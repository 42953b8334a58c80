//! Numbers to and from floats: single ones, and slices where a loop over single ones is not the
//! fastest.

use crate::dtype::Bool;
use crate::kernel::math::{Number, Real};
use crate::simd::Isa;
use core::mem::MaybeUninit;

/// A number that converts to and from floats; a complex number converts by its real part.
pub trait Cast: Number {
    /// The float type to compute in for results that are not integers: float32 for narrower floats,
    /// its own type for wider floats and for parts, float64 for integers and bool.
    type Wide: Real;
    /// The nearest value of that type: exact, except for 64-bit integers.
    fn wide(self) -> Self::Wide;
    /// The nearest `f32`.
    fn single(self) -> f32;
    /// The nearest `f64`.
    fn double(self) -> f64;
    /// An `f32` that rounds to bfloat16 as the number itself does: rounded to odd, so that the bits
    /// cut off still count.
    #[inline(always)]
    fn for_bf16(self) -> f32 {
        self.single()
    }
    /// An `f32` that rounds to float16, and to the 8-bit floats, whose range is no larger, as the
    /// number itself does.
    #[inline(always)]
    fn for_f16(self) -> f32 {
        self.single()
    }
    /// Whether every value is exact in `f32`.
    const EXACT: bool;
    /// From `f32`: rounded once; truncated and saturated to integers, NaN as 0.
    fn from_single(x: f32) -> Self;
    /// From `f64`, likewise.
    fn from_double(x: f64) -> Self;
    /// From both parts; a real number has only the first.
    #[inline(always)]
    fn from_parts(re: f64, _im: f64) -> Self {
        Self::from_double(re)
    }
    /// Converts a slice of `f32` into another of the same length.
    #[inline(always)]
    fn from_singles<I: Isa>(x: &[f32], y: &mut [MaybeUninit<Self>]) {
        for (y, x) in y.iter_mut().zip(x) {
            y.write(Self::from_single(*x));
        }
    }
    /// Converts a slice of `f64` into another of the same length.
    #[inline(always)]
    fn from_doubles<I: Isa>(x: &[f64], y: &mut [MaybeUninit<Self>]) {
        for (y, x) in y.iter_mut().zip(x) {
            y.write(Self::from_double(*x));
        }
    }
}

/// The bits of an `f64` that an `f32` lacks.
const LOST: u64 = (1 << 29) - 1;

/// x cut off after 23 fraction bits, the last of which is set if others were lost: exact as an
/// `f32`, if it is normal there.
#[inline(always)]
fn cut_to_odd(x: f64) -> f64 {
    let b = x.to_bits();
    // The sum carries into the last bit that stays unless all lost bits are zero.
    f64::from_bits((b | ((b & LOST) + LOST)) & !LOST)
}

/// An `f32` that rounds to bfloat16 as x does: x rounded to odd. Below the normal numbers, where
/// `f32` has fewer bits, x rounded to a multiple of the smallest bfloat16.
#[inline(always)]
pub fn round_to_odd(x: f64) -> f32 {
    /// 1.5 times a power of two, whose last bit is the smallest bfloat16, 2^-133: adding it rounds
    /// to that.
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
    // Numbers below the normal `f32` are zero in float16, however they are rounded.
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
    #[inline(always)]
    fn from_parts(re: f64, im: f64) -> Self {
        Self::new(T::from_double(re), T::from_double(im))
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
