//! Division with a remainder, and powers.

use super::integer::Integral;
use super::loops::unary;
use super::operation::*;
use super::rows::*;
use crate::kernel::math::{Division, Math, Number, Real};
use crate::simd::Isa;
use core::mem::MaybeUninit;

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
    #[inline(always)]
    fn by_number<I: Isa>(d: &mut [MaybeUninit<T>], a: &[T], b: T) -> bool {
        macro_rules! half_powers {
            ($($k:literal)*) => {
                match b.halves() {
                    $(Some($k) => unary::<I, HalfPower<$k>, Float, T>(d, a),)*
                    _ => return false,
                }
            };
        }
        half_powers!(-4 -3 -2 -1 0 1 2 3 4 5 6);
        true
    }
}
/// A power whose exponent is `K / 2`, for the loops of numbers.
struct HalfPower<const K: i32>;
impl<const K: i32> Operation for HalfPower<K> {
    type Out<T: Number> = T;
}
impl<const K: i32, T: Real> Unary<Float, T> for HalfPower<K> {
    #[inline(always)]
    fn eval<I: Isa>(x: T) -> T {
        x.pow::<I>(T::from_f64(0.5 * K as f64))
    }
    const HAS_FAST_PATH: bool = true;
    #[inline(always)]
    fn fast<I: Isa>(x: T) -> T {
        x.half_power::<I>(K)
    }
    #[inline(always)]
    fn needs_slow_path<I: Isa>(x: T) -> bool {
        x.needs_slow_half_power(K)
    }
}
impl<T: Math> Binary<Complex, T> for Pow {
    #[inline(always)]
    fn eval<I: Isa>(a: T, b: T) -> T {
        a.pow::<I>(b)
    }
}
