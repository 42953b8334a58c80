//! Properties of the numbers of every dtype: parts, a truth value, special values.

use crate::dtype::Bool;
use core::num::Wrapping;

/// A number: a bool, an integer, a float or a complex number.
pub trait Number: Copy + 'static {
    /// The type of its real part: its own, except for complex numbers.
    type Real: Copy;
    /// Real part.
    fn re(self) -> Self::Real;
    /// Imaginary part.
    fn im(self) -> Self::Real;
    /// Complex conjugate.
    fn conj(self) -> Self;
    /// Whether it equals another, without a branch.
    fn equal(self, other: Self) -> bool;
    /// Whether it is not zero, which is true of NaN.
    fn nonzero(self) -> bool;
    /// Whether it is NaN, or has a part that is.
    fn isnan(self) -> bool;
    /// Whether it is infinite, or has a part that is.
    fn isinf(self) -> bool;
    /// Whether it is neither, in all parts.
    fn isfinite(self) -> bool;
}

/// [`Number`] of a real type.
macro_rules! real {
    ($T:ty, |$x:ident| zero $zero:expr, nan $nan:expr, infinite $infinite:expr, finite $finite:expr) => {
        impl Number for $T {
            type Real = $T;
            #[inline(always)]
            fn re(self) -> $T {
                self
            }
            #[inline(always)]
            fn im(self) -> $T {
                $zero
            }
            #[inline(always)]
            fn conj(self) -> $T {
                self
            }
            #[inline(always)]
            fn equal(self, other: $T) -> bool {
                self == other
            }
            #[inline(always)]
            fn nonzero(self) -> bool {
                self != $zero
            }
            #[inline(always)]
            fn isnan(self) -> bool {
                let $x = self;
                $nan
            }
            #[inline(always)]
            fn isinf(self) -> bool {
                let $x = self;
                $infinite
            }
            #[inline(always)]
            fn isfinite(self) -> bool {
                let $x = self;
                $finite
            }
        }
    };
}
macro_rules! exact {
    ($($T:ident)*) => { $(
        real!($T, |_x| zero 0, nan false, infinite false, finite true);
        real!(Wrapping<$T>, |_x| zero Wrapping(0), nan false, infinite false, finite true);
    )* };
}
macro_rules! floating {
    ($($T:ty, $zero:expr;)*) => {
        $(real!($T, |x| zero $zero, nan x.is_nan(), infinite x.is_infinite(), finite x.is_finite());)*
    };
}
real!(Bool, |_x| zero Bool::FALSE, nan false, infinite false, finite true);
exact! { i8 i16 i32 i64 u8 u16 u32 u64 }
floating! { f32, 0.0; f64, 0.0; }
#[cfg(feature = "float8")]
real!(crate::dtype::F8E4M3, |x| zero Self::default(), nan x.is_nan(), infinite x.to_f32().is_infinite(), finite x.to_f32().is_finite());
#[cfg(feature = "float8")]
real!(crate::dtype::F8E5M2, |x| zero Self::default(), nan x.is_nan(), infinite x.to_f32().is_infinite(), finite x.to_f32().is_finite());
#[cfg(feature = "half")]
floating! { crate::dtype::f16, crate::dtype::f16::ZERO; crate::dtype::bf16, crate::dtype::bf16::ZERO; }

#[cfg(feature = "complex")]
impl<T: Number<Real = T> + core::ops::Neg<Output = T>> Number for num_complex::Complex<T> {
    type Real = T;
    #[inline(always)]
    fn re(self) -> T {
        self.re
    }
    #[inline(always)]
    fn im(self) -> T {
        self.im
    }
    #[inline(always)]
    fn conj(self) -> Self {
        Self::new(self.re, -self.im)
    }
    #[inline(always)]
    fn equal(self, other: Self) -> bool {
        self.re.equal(other.re) & self.im.equal(other.im)
    }
    #[inline(always)]
    fn nonzero(self) -> bool {
        self.re.nonzero() | self.im.nonzero()
    }
    #[inline(always)]
    fn isnan(self) -> bool {
        self.re.isnan() | self.im.isnan()
    }
    #[inline(always)]
    fn isinf(self) -> bool {
        self.re.isinf() | self.im.isinf()
    }
    #[inline(always)]
    fn isfinite(self) -> bool {
        self.re.isfinite() & self.im.isfinite()
    }
}
