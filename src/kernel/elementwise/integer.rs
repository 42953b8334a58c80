//! Integer bodies that are more than one expression. All wrap; none panics.
//!
//! No CPU divides vectors of integers. The quotient of floats is exact once rounded to an integer
//! where its error is less than what quotients of such integers are apart: always up to 32 bits (3
//! to 10 times as fast as the instruction for one), below 2^51 for 64 (4 times). The slow path
//! divides one by one.

use crate::kernel::math::{Number, Real};
use crate::simd::Isa;

#[cfg(feature = "half")]
use crate::kernel::convert::Widen;

/// Integers of any width and sign.
pub trait Int: Number<Real = Self> + Ord + Default {
    /// Rounded down; 0 for a divisor of 0, which callers refuse before.
    fn floor_divide<I: Isa>(self, divisor: Self) -> Self;
    /// The sign of the divisor.
    fn remainder<I: Isa>(self, divisor: Self) -> Self;
    /// The sign of the dividend.
    fn fmod<I: Isa>(self, divisor: Self) -> Self;
    /// [`floor_divide`](Int::floor_divide) where the operands are not
    /// [`needs_slow_division`](Int::needs_slow_division).
    fn floor_divide_fast<I: Isa>(self, divisor: Self) -> Self;
    /// [`remainder`](Int::remainder), likewise.
    fn remainder_fast<I: Isa>(self, divisor: Self) -> Self;
    /// [`fmod`](Int::fmod), likewise.
    fn fmod_fast<I: Isa>(self, divisor: Self) -> Self;
    /// Whether floats don't divide these exactly.
    fn needs_slow_division(self, divisor: Self) -> bool;
    /// Magnitude; the smallest integer gives itself.
    fn abs(self) -> Self;
    /// -1, 0 or 1.
    fn sign(self) -> Self;
    /// By squaring; negative exponents, which callers refuse before, count as 0.
    fn power(self, exponent: Self) -> Self;
    /// 0 from the width on (negative counts too).
    fn shift_left(self, by: Self) -> Self;
    /// 0 or -1 from the width on.
    fn shift_right(self, by: Self) -> Self;
}
/// Whether floats divide faster: where vectors of them do.
const FLOATS: bool = cfg!(any(
    target_arch = "x86_64",
    target_arch = "aarch64",
    target_arch = "wasm32"
));

/// Added to a float64, leaves its integer part, below 2^51, in the low bits.
const UNIT: f64 = 6_755_399_441_055_744.0;

/// Integers whose division is left to floats `F`, always; the quotient is rounded by `round`.
macro_rules! by_float {
    ($x:ident, $d:ident, ($F:ident $unit:expr), $T:ident, $round:ident, |$q:ident, $r:ident| $which:ident) => {
        if FLOATS {
            let (a, b) = ($x as $F, $d as $F);
            let $q = Real::$round::<I>(a / b);
            let $r = a - $q * b;
            // Added to a number whose last bit counts 1, an integer is in its low bits.
            let y = ($which + $unit).to_bits() as $T;
            return if $d == 0 { 0 } else { y };
        }
    };
    ($x:ident, $d:ident, (near), $T:ident, $round:ident, |$q:ident, $r:ident| $which:ident) => {};
}
/// The same for 64 bits, where the operands are near: by the low bits both ways, since few CPUs
/// convert vectors of such integers.
macro_rules! near_by_float {
    ($x:ident, $d:ident, (near), $T:ident, $name:ident, $round:ident, |$q:ident, $r:ident| $which:ident) => {
        if FLOATS {
            let float = |x: $T| f64::from_bits((x as u64).wrapping_add(UNIT.to_bits())) - UNIT;
            let (a, b) = (float($x), float($d));
            let $q = Real::$round::<I>(a / b);
            let $r = a - $q * b;
            let y = ($which + UNIT).to_bits().wrapping_sub(UNIT.to_bits()) as $T;
            if $d == 0 { 0 } else { y }
        } else {
            $x.$name::<I>($d)
        }
    };
    ($x:ident, $d:ident, $F:tt, $T:ident, $name:ident, $round:ident, |$q:ident, $r:ident| $which:ident) => {
        $x.$name::<I>($d)
    };
}
/// Whether one of two numbers has a magnitude of 2^51 or more.
macro_rules! far {
    ($x:ident, $d:ident, (near), $T:ident) => {{
        const HALF: u64 = if $T::MIN == 0 { 0 } else { 1 << 51 };
        FLOATS
            && (($x as u64).wrapping_add(HALF) | ($d as u64).wrapping_add(HALF))
                >> (if HALF == 0 { 51 } else { 52 })
                != 0
    }};
    ($x:ident, $d:ident, $F:tt, $T:ident) => {{
        let _ = $d;
        false
    }};
}
macro_rules! int {
    ($($T:ident $U:ident $F:tt),*) => { $(
        impl Int for $T {
            #[inline(always)]
            fn floor_divide<I: Isa>(self, d: $T) -> $T {
                by_float!(self, d, $F, $T, floor, |q, _r| q);
                if d == 0 { return 0 }
                let q = self.wrapping_div(d);
                #[allow(unused_comparisons)]
                let below = (self.wrapping_rem(d) != 0) & ((self < 0) != (d < 0));
                q.wrapping_sub(below as $T)
            }
            #[inline(always)]
            fn remainder<I: Isa>(self, d: $T) -> $T {
                by_float!(self, d, $F, $T, floor, |q, r| r);
                if d == 0 { return 0 }
                let r = self.wrapping_rem(d);
                #[allow(unused_comparisons)]
                let apart = (r != 0) & ((r < 0) != (d < 0));
                if apart { r.wrapping_add(d) } else { r }
            }
            #[inline(always)]
            fn fmod<I: Isa>(self, d: $T) -> $T {
                by_float!(self, d, $F, $T, trunc, |q, r| r);
                if d == 0 { 0 } else { self.wrapping_rem(d) }
            }
            #[inline(always)]
            fn floor_divide_fast<I: Isa>(self, d: $T) -> $T { near_by_float!(self, d, $F, $T, floor_divide, floor, |q, _r| q) }
            #[inline(always)]
            fn remainder_fast<I: Isa>(self, d: $T) -> $T { near_by_float!(self, d, $F, $T, remainder, floor, |q, r| r) }
            #[inline(always)]
            fn fmod_fast<I: Isa>(self, d: $T) -> $T { near_by_float!(self, d, $F, $T, fmod, trunc, |q, r| r) }
            #[inline(always)]
            fn needs_slow_division(self, d: $T) -> bool { far!(self, d, $F, $T) }
            #[inline(always)]
            #[allow(unused_comparisons)]
            fn abs(self) -> $T { if self < 0 { self.wrapping_neg() } else { self } }
            #[inline(always)]
            #[allow(unused_comparisons)]
            fn sign(self) -> $T { (self > 0) as $T - (self < 0) as $T }
            #[inline(always)]
            fn power(self, exponent: $T) -> $T {
                #[allow(unused_comparisons)]
                let mut e = if exponent < 0 { 0 } else { exponent as $U };
                let (mut base, mut y) = (self, 1 as $T);
                while e != 0 {
                    if e & 1 == 1 { y = y.wrapping_mul(base) }
                    base = base.wrapping_mul(base);
                    e >>= 1;
                }
                y
            }
            #[inline(always)]
            fn shift_left(self, by: $T) -> $T { if (by as $U) < $T::BITS as $U { self.wrapping_shl(by as u32) } else { 0 } }
            #[inline(always)]
            fn shift_right(self, by: $T) -> $T {
                // one less than the width leaves the sign alone; unsigned numbers lose that bit too
                let far = (by as $U) >= $T::BITS as $U;
                let x = self >> (if far { $T::BITS - 1 } else { by as u32 });
                if far & ($T::MIN == 0) { 0 } else { x }
            }
        }
    )* };
}
int!(i8 u8 (f32 12_582_912.0), i16 u16 (f32 12_582_912.0), i32 u32 (f64 UNIT), i64 u64 (near),
    u8 u8 (f32 12_582_912.0), u16 u16 (f32 12_582_912.0), u32 u32 (f64 UNIT), u64 u64 (near));

/// The next 16-bit float from `a` towards `b`.
#[cfg(feature = "half")]
#[inline(always)]
pub fn next_half<T: HalfBits>(a: T, b: T) -> T {
    let (x, y) = (a.widen(), b.widen());
    if x.is_nan() || y.is_nan() {
        return T::narrow(f32::NAN);
    }
    if x == y {
        return b;
    }
    let sign = if y < 0.0 { 0x8000 } else { 0 };
    let bits = a.bits();
    let away = (y > x) == (x > 0.0);
    T::of(if x == 0.0 {
        sign | 1
    } else if away {
        bits + 1
    } else {
        bits - 1
    })
}
/// The bits of a 16-bit float.
#[cfg(feature = "half")]
pub trait HalfBits: Widen + Number {
    /// Its bits.
    fn bits(self) -> u16;
    /// From bits.
    fn of(bits: u16) -> Self;
}
#[cfg(feature = "half")]
macro_rules! half_bits {
    ($($T:ident),*) => { $(
        impl HalfBits for crate::dtype::$T {
            #[inline(always)]
            fn bits(self) -> u16 { self.to_bits() }
            #[inline(always)]
            fn of(bits: u16) -> Self { Self::from_bits(bits) }
        }
    )* };
}
#[cfg(feature = "half")]
half_bits!(f16, bf16);
