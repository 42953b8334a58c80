//! Arithmetic, by the operators of the element type: integers are
//! [`Wrapping`](core::num::Wrapping).

use super::integer::Integral;
#[cfg(feature = "half")]
use super::integer::{HalfBits, next_half};
use super::operation::*;
use super::rows::*;
use crate::dtype::Bool;
#[cfg(feature = "complex")]
use crate::kernel::math::ComplexMath;
use crate::kernel::math::{Math, Number, Real};
use crate::simd::Isa;
use core::ops;

impl<F, T: Number + ops::Add<Output = T>> Binary<F, T> for Add {
    #[inline(always)]
    fn eval<I: Isa>(a: T, b: T) -> T {
        a + b
    }
}
impl<F, T: Number + ops::Sub<Output = T>> Binary<F, T> for Subtract {
    #[inline(always)]
    fn eval<I: Isa>(a: T, b: T) -> T {
        a - b
    }
}
impl<F, T: Number + ops::Mul<Output = T>> Binary<F, T> for Multiply {
    #[inline(always)]
    fn eval<I: Isa>(a: T, b: T) -> T {
        a * b
    }
}
impl<F, T: Number + ops::Mul<Output = T>> Unary<F, T> for Square {
    #[inline(always)]
    fn eval<I: Isa>(x: T) -> T {
        x * x
    }
}
impl<F, T: Number + ops::Neg<Output = T>> Unary<F, T> for Negative {
    #[inline(always)]
    fn eval<I: Isa>(x: T) -> T {
        -x
    }
}
impl<F, T: Number> Unary<F, T> for Positive {
    #[inline(always)]
    fn eval<I: Isa>(x: T) -> T {
        x
    }
}

impl<T: Real> Binary<Float, T> for Divide {
    #[inline(always)]
    fn eval<I: Isa>(a: T, b: T) -> T {
        a / b
    }
}
#[cfg(feature = "complex")]
impl<T: ComplexMath> Binary<Complex, T> for Divide {
    #[inline(always)]
    fn eval<I: Isa>(a: T, b: T) -> T {
        a.divide::<I>(b)
    }
}
functions!(Float<T: Math>: Reciprocal reciprocal, Sqrt sqrt);
functions!(Complex<T: Math>: Reciprocal reciprocal, Sqrt sqrt);
functions!(Float<T: Real>: Rsqrt rsqrt);

impl Binary<Boolean, Bool> for Maximum {
    #[inline(always)]
    fn eval<I: Isa>(a: Bool, b: Bool) -> Bool {
        a | b
    }
}
impl<T: Integral> Binary<Integer, T> for Maximum {
    #[inline(always)]
    fn eval<I: Isa>(a: T, b: T) -> T {
        if a > b { a } else { b }
    }
}
impl<T: Real> Binary<Float, T> for Maximum {
    #[inline(always)]
    fn eval<I: Isa>(a: T, b: T) -> T {
        a.maximum::<I>(b)
    }
}
impl Binary<Boolean, Bool> for Minimum {
    #[inline(always)]
    fn eval<I: Isa>(a: Bool, b: Bool) -> Bool {
        a & b
    }
}
impl<T: Integral> Binary<Integer, T> for Minimum {
    #[inline(always)]
    fn eval<I: Isa>(a: T, b: T) -> T {
        if a < b { a } else { b }
    }
}
impl<T: Real> Binary<Float, T> for Minimum {
    #[inline(always)]
    fn eval<I: Isa>(a: T, b: T) -> T {
        a.minimum::<I>(b)
    }
}
impl<F, T> Ternary<F, T> for Clip
where
    T: Number,
    Maximum: Binary<F, T, Out<T> = T>,
    Minimum: Binary<F, T, Out<T> = T>,
{
    #[inline(always)]
    fn eval<I: Isa>(x: T, min: T, max: T) -> T {
        Minimum::eval::<I>(Maximum::eval::<I>(x, min), max)
    }
}

impl<T: Integral> Unary<Integer, T> for Abs {
    #[inline(always)]
    fn eval<I: Isa>(x: T) -> T::Real {
        x.abs()
    }
}
impl<T: Real> Unary<Float, T> for Abs {
    #[inline(always)]
    fn eval<I: Isa>(x: T) -> T::Real {
        x.abs::<I>().re()
    }
}
#[cfg(feature = "complex")]
impl<T: ComplexMath> Unary<Complex, T> for Abs {
    #[inline(always)]
    fn eval<I: Isa>(x: T) -> T::Real {
        x.abs::<I>()
    }
}
impl<T: Integral> Unary<Integer, T> for Sign {
    #[inline(always)]
    fn eval<I: Isa>(x: T) -> T {
        x.sign()
    }
}
functions!(Float<T: Math>: Sign sign);
functions!(Complex<T: Math>: Sign sign);
impl<T: Integral> Unary<Integer, T> for Signbit {
    #[inline(always)]
    fn eval<I: Isa>(x: T) -> Bool {
        Bool::from(x < T::default())
    }
}
impl<T: Real> Unary<Float, T> for Signbit {
    #[inline(always)]
    fn eval<I: Isa>(x: T) -> Bool {
        Bool::from(x.signbit())
    }
}
impl<T: Real> Binary<Float, T> for Copysign {
    #[inline(always)]
    fn eval<I: Isa>(a: T, b: T) -> T {
        a.copysign::<I>(b)
    }
}
impl<T: Real> Binary<Float, T> for Hypot {
    const SCALARS: ScalarMasks = NEITHER;
    #[inline(always)]
    fn eval<I: Isa>(a: T, b: T) -> T {
        a.hypot::<I>(b)
    }
}
impl<T: Real> Binary<Float, T> for Nextafter {
    const SCALARS: ScalarMasks = NEITHER;
    #[inline(always)]
    fn eval<I: Isa>(a: T, b: T) -> T {
        a.nextafter::<I>(b)
    }
}
#[cfg(feature = "half")]
impl<T: HalfBits> Binary<Half, T> for Nextafter {
    #[inline(always)]
    fn eval<I: Isa>(a: T, b: T) -> T {
        next_half(a, b)
    }
}

// integers are their own floor
functions!(Float<T: Real>: Floor floor, Ceil ceil, Trunc trunc, Round round);
macro_rules! identity {
    ($($Name:ident)*) => { $(
        impl<T: Number> Unary<SignAgnostic, T> for $Name {
            #[inline(always)]
            fn eval<I: Isa>(x: T) -> T {
                x
            }
        }
    )* };
}
identity! { Floor Ceil Trunc Round }
