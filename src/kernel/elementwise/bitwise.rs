//! Operations on bits, of integers and, as logic, of bool.

use super::integer::Integral;
use super::operation::*;
use super::rows::*;
use crate::kernel::math::Number;
use crate::simd::Isa;
use core::num::Wrapping;
use core::ops::{BitAnd, BitOr, BitXor, Not};

impl<F, T: Number + BitAnd<Output = T>> Binary<F, T> for BitwiseAnd {
    #[inline(always)]
    fn eval<I: Isa>(a: T, b: T) -> T {
        a & b
    }
}
impl<F, T: Number + BitOr<Output = T>> Binary<F, T> for BitwiseOr {
    #[inline(always)]
    fn eval<I: Isa>(a: T, b: T) -> T {
        a | b
    }
}
impl<F, T: Number + BitXor<Output = T>> Binary<F, T> for BitwiseXor {
    #[inline(always)]
    fn eval<I: Isa>(a: T, b: T) -> T {
        a ^ b
    }
}
impl<F, T: Number + Not<Output = T>> Unary<F, T> for BitwiseInvert {
    #[inline(always)]
    fn eval<I: Isa>(x: T) -> T {
        !x
    }
}
impl<T: Integral> Binary<SignAgnostic, Wrapping<T>> for BitwiseLeftShift
where
    Wrapping<T>: Number,
{
    #[inline(always)]
    fn eval<I: Isa>(a: Wrapping<T>, b: Wrapping<T>) -> Wrapping<T> {
        Wrapping(a.0.shift_left(b.0))
    }
}
impl<T: Integral> Binary<Integer, T> for BitwiseRightShift {
    const SCALARS: ScalarMasks = SECOND;
    #[inline(always)]
    fn eval<I: Isa>(a: T, b: T) -> T {
        a.shift_right(b)
    }
}
