//! Division with a remainder, and powers.

use super::integer::Integral;
use super::operation::*;
use super::rows::*;
use crate::kernel::math::{Division, Math, Real};
use crate::simd::Isa;

impl<F, T: Division> Binary<F, T> for FloorDivide {
    const SCALARS: ScalarMasks = SECOND;
    #[inline(always)]
    fn eval<I: Isa>(a: T, b: T) -> T {
        a.floor_divide::<I>(b)
    }
    const HAS_FAST_PATH: bool = true;
    #[inline(always)]
    fn fast<I: Isa>(a: T, b: T) -> T {
        a.floor_divide_fast::<I>(b)
    }
    #[inline(always)]
    fn needs_slow_path<I: Isa>(a: T, b: T) -> bool {
        a.needs_slow_division::<I>(b)
    }
}
impl<F, T: Division> Binary<F, T> for Remainder {
    const SCALARS: ScalarMasks = SECOND;
    #[inline(always)]
    fn eval<I: Isa>(a: T, b: T) -> T {
        a.remainder::<I>(b)
    }
    const HAS_FAST_PATH: bool = true;
    #[inline(always)]
    fn fast<I: Isa>(a: T, b: T) -> T {
        a.remainder_fast::<I>(b)
    }
    #[inline(always)]
    fn needs_slow_path<I: Isa>(a: T, b: T) -> bool {
        a.needs_slow_division::<I>(b)
    }
}
impl<F, T: Division> Binary<F, T> for Fmod {
    const SCALARS: ScalarMasks = NEITHER;
    #[inline(always)]
    fn eval<I: Isa>(a: T, b: T) -> T {
        a.fmod::<I>(b)
    }
    const HAS_FAST_PATH: bool = true;
    #[inline(always)]
    fn fast<I: Isa>(a: T, b: T) -> T {
        a.fmod_fast::<I>(b)
    }
    #[inline(always)]
    fn needs_slow_path<I: Isa>(a: T, b: T) -> bool {
        a.needs_slow_division::<I>(b)
    }
}

impl<T: Integral> Binary<Integer, T> for Pow {
    const SCALARS: ScalarMasks = SECOND;
    #[inline(always)]
    fn eval<I: Isa>(a: T, b: T) -> T {
        a.power(b)
    }
}
impl<T: Real> Binary<Float, T> for Pow {
    const SCALARS: ScalarMasks = SECOND;
    #[inline(always)]
    fn eval<I: Isa>(a: T, b: T) -> T {
        a.pow::<I>(b)
    }
    const HAS_FAST_PATH: bool = true;
    #[inline(always)]
    fn fast<I: Isa>(a: T, b: T) -> T {
        a.pow_fast::<I>(b)
    }
    #[inline(always)]
    fn needs_slow_path<I: Isa>(a: T, b: T) -> bool {
        a.needs_slow_pow(b)
    }
}
impl<T: Math> Binary<Complex, T> for Pow {
    #[inline(always)]
    fn eval<I: Isa>(a: T, b: T) -> T {
        a.pow::<I>(b)
    }
}
