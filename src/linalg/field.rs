//! The numbers that matrices are factored in: float32, float64 and the complex numbers of both.

use crate::dtype::Element;
use crate::kernel::gemm::{MatElement, Packed};
use crate::kernel::math::{Number, Real};
use core::ops::{Add, Mul, Neg, Sub};
#[cfg(feature = "complex")]
use num_complex::Complex;

/// A real or complex number.
pub(super) trait Field:
    Element
    + Packed
    + MatElement<Acc = Self>
    + Number<Real: Real + Element + Packed>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Neg<Output = Self>
{
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// Whether there is an imaginary part.
    const COMPLEX: bool;
    /// The number of these parts; a real number ignores the second.
    fn new(re: Self::Real, im: Self::Real) -> Self;
    /// The quotient, without intermediate overflow.
    fn divide(self, by: Self) -> Self;
    /// `|re| + |im|`, by which pivots are chosen.
    fn magnitude(self) -> Self::Real;
    /// All parts of all numbers: a rotation by real numbers takes them alike.
    fn parts(x: &mut [Self]) -> &mut [Self::Real];
    /// The same, to read.
    fn as_parts(x: &[Self]) -> &[Self::Real];
    /// A real number.
    fn real(re: Self::Real) -> Self {
        Self::new(re, Self::Real::ZERO)
    }
    /// The product with a real number.
    #[cfg(feature = "complex")]
    fn scale(self, by: Self::Real) -> Self {
        Self::new(self.re() * by, self.im() * by)
    }
    /// The absolute value.
    fn abs(self) -> Self::Real {
        if Self::COMPLEX {
            hypot(self.re(), self.im())
        } else {
            abs(self.re())
        }
    }
}

macro_rules! real {
    ($T:ty) => {
        impl Field for $T {
            const ZERO: $T = 0.0;
            const ONE: $T = 1.0;
            const COMPLEX: bool = false;
            fn new(re: $T, _: $T) -> $T {
                re
            }
            fn divide(self, by: $T) -> $T {
                self / by
            }
            fn magnitude(self) -> $T {
                abs(self)
            }
            fn parts(x: &mut [$T]) -> &mut [$T] {
                x
            }
            fn as_parts(x: &[$T]) -> &[$T] {
                x
            }
        }
    };
}
#[cfg(feature = "complex")]
macro_rules! complex {
    ($T:ty) => {
        impl Field for Complex<$T> {
            const ZERO: Self = Complex { re: 0.0, im: 0.0 };
            const ONE: Self = Complex { re: 1.0, im: 0.0 };
            const COMPLEX: bool = true;
            fn new(re: $T, im: $T) -> Self {
                Complex { re, im }
            }
            fn divide(self, by: Self) -> Self {
                // the larger part is factored out before anything is squared (Smith 1962)
                let (re, im) = (abs(by.re), abs(by.im));
                if im == 0.0 {
                    return Complex {
                        re: self.re / by.re,
                        im: self.im / by.re,
                    };
                }
                if re >= im {
                    let ratio = by.im / by.re;
                    let size = by.re + by.im * ratio;
                    Complex {
                        re: (self.re + self.im * ratio) / size,
                        im: (self.im - self.re * ratio) / size,
                    }
                } else {
                    let ratio = by.re / by.im;
                    let size = by.re * ratio + by.im;
                    Complex {
                        re: (self.re * ratio + self.im) / size,
                        im: (self.im * ratio - self.re) / size,
                    }
                }
            }
            fn magnitude(self) -> $T {
                abs(self.re) + abs(self.im)
            }
            fn parts(x: &mut [Self]) -> &mut [$T] {
                bytemuck::cast_slice_mut(x)
            }
            fn as_parts(x: &[Self]) -> &[$T] {
                bytemuck::cast_slice(x)
            }
        }
    };
}
real!(f32);
#[cfg(feature = "f64")]
real!(f64);
#[cfg(feature = "complex")]
complex!(f32);
#[cfg(all(feature = "complex", feature = "f64"))]
complex!(f64);

/// The absolute value.
pub(super) fn abs<R: Real>(x: R) -> R {
    if x < R::ZERO { -x } else { x }
}
/// The square root, correctly rounded.
pub(super) fn sqrt<R: Real>(x: R) -> R {
    R::from_f64(libm::sqrt(x.to_f64()))
}
/// The length of the hypotenuse, without intermediate overflow.
pub(super) fn hypot<R: Real>(x: R, y: R) -> R {
    let square = x * x + y * y;
    let least = tiny::<R>() / epsilon::<R>();
    if square > least && square < R::ONE / least {
        return sqrt(square);
    }
    R::from_f64(libm::hypot(x.to_f64(), y.to_f64()))
}
/// The distance from 1 to the next number.
pub(super) fn epsilon<R: Real>() -> R {
    R::from_f64(if size_of::<R>() == 4 {
        f32::EPSILON.into()
    } else {
        f64::EPSILON
    })
}
/// The smallest normal number.
pub(super) fn tiny<R: Real>() -> R {
    R::from_f64(if size_of::<R>() == 4 {
        f32::MIN_POSITIVE.into()
    } else {
        f64::MIN_POSITIVE
    })
}

/// `expression` with `T` the field of `dtype`; else an error that `op` is not defined for it.
macro_rules! field {
    ($op:expr, $dtype:expr, |$T:ident| $e:expr) => {
        dispatch!(float $dtype, |$T| $e, else dispatch!(complex $dtype, |$T| $e, else {
            return Err(crate::error::Error::unsupported($op, $dtype));
        }))
    };
}
pub(super) use field;
