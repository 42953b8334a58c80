//! Integer bodies of more than one expression. All wrap; none panics.
//!
//! No CPU divides vectors of integers. The quotient of floats, rounded to an integer, is exact if
//! its error is less than the distance between quotients of such integers: always for up to 32 bits
//! (3 to 10 times as fast as the integer instruction), and below 2^51 for 64 bits (4 times), where
//! it is the fast path.

use crate::kernel::math::{Division, Number, Real};
use crate::simd::Isa;

#[cfg(feature = "half")]
use crate::kernel::convert::Widen;

/// Integers of any width and sign.
pub trait Integral: Number<Real = Self> + Division + Ord + Default {
    /// [`floor_divide`](Division::floor_divide) by the integer instruction; 0 for a divisor of 0.
    fn floor_quotient(self, divisor: Self) -> Self;
    /// [`remainder`](Division::remainder), likewise.
    fn floor_remainder(self, divisor: Self) -> Self;
    /// [`fmod`](Division::fmod), likewise.
    fn trunc_remainder(self, divisor: Self) -> Self;
    /// Magnitude; the smallest integer wraps to itself.
    fn abs(self) -> Self;
    /// -1, 0 or 1.
    fn sign(self) -> Self;
    /// By squaring; negative exponents, which callers refuse, count as 0.
    fn power(self, exponent: Self) -> Self;
    /// 0 for shifts by the width or more (negative ones too).
    fn shift_left(self, by: Self) -> Self;
    /// 0 or -1 for shifts by the width or more.
    fn shift_right(self, by: Self) -> Self;
}
macro_rules! int {
    ($($T:ident $U:ident)*) => { $(
        #[allow(unused_comparisons, reason = "one text for both signs")]
        impl Integral for $T {
            #[inline(always)]
            fn floor_quotient(self, d: $T) -> $T {
                if d == 0 {
                    return 0;
                }
                let below = (self.wrapping_rem(d) != 0) & ((self < 0) != (d < 0));
                self.wrapping_div(d).wrapping_sub(below as $T)
            }
            #[inline(always)]
            fn floor_remainder(self, d: $T) -> $T {
                if d == 0 {
                    return 0;
                }
                let r = self.wrapping_rem(d);
                if (r != 0) & ((r < 0) != (d < 0)) { r.wrapping_add(d) } else { r }
            }
            #[inline(always)]
            fn trunc_remainder(self, d: $T) -> $T {
                if d == 0 { 0 } else { self.wrapping_rem(d) }
            }
            #[inline(always)]
            fn abs(self) -> $T {
                if self < 0 { self.wrapping_neg() } else { self }
            }
            #[inline(always)]
            fn sign(self) -> $T {
                (self > 0) as $T - (self < 0) as $T
            }
            #[inline(always)]
            fn power(self, exponent: $T) -> $T {
                let mut e = if exponent < 0 { 0 } else { exponent as $U };
                let (mut base, mut y) = (self, 1 as $T);
                while e != 0 {
                    if e & 1 == 1 {
                        y = y.wrapping_mul(base)
                    }
                    base = base.wrapping_mul(base);
                    e >>= 1;
                }
                y
            }
            #[inline(always)]
            fn shift_left(self, by: $T) -> $T {
                if (by as $U) < $T::BITS as $U { self.wrapping_shl(by as u32) } else { 0 }
            }
            #[inline(always)]
            fn shift_right(self, by: $T) -> $T {
                // one less than the width leaves only the sign; unsigned numbers lose that bit too
                let beyond = (by as $U) >= $T::BITS as $U;
                let x = self >> (if beyond { $T::BITS - 1 } else { by as u32 });
                if beyond & ($T::MIN == 0) { 0 } else { x }
            }
        }
    )* };
}
int! { i8 u8 i16 u16 i32 u32 i64 u64 u8 u8 u16 u16 u32 u32 u64 u64 }

/// Whether floats divide faster: on targets with vectors of floats.
const FLOATS: bool = cfg!(any(
    target_arch = "x86_64",
    target_arch = "aarch64",
    target_arch = "wasm32"
));

/// The quotient rounded down, and its remainder.
#[inline(always)]
fn floored<I: Isa, F: Real>(a: F, b: F) -> (F, F) {
    let q = (a / b).floor::<I>();
    (q, a - q * b)
}
/// The remainder of the quotient rounded towards zero.
#[inline(always)]
fn truncated<I: Isa, F: Real>(a: F, b: F) -> F {
    a - (a / b).trunc::<I>() * b
}

/// Added to a float32, leaves its integer part, below 2^22, in the low bits.
const UNIT32: f32 = 12_582_912.0;
/// Added to a float64, leaves its integer part, below 2^51, in the low bits.
const UNIT64: f64 = 6_755_399_441_055_744.0;

macro_rules! divide_in_float {
    ($($T:ident $F:ident $unit:ident)*) => { $(
        impl Division for $T {
            #[inline(always)]
            fn floor_divide<I: Isa>(self, d: $T) -> $T {
                if !FLOATS {
                    return self.floor_quotient(d);
                }
                let (q, _) = floored::<I, $F>(self as $F, d as $F);
                if d == 0 { 0 } else { (q + $unit).to_bits() as $T }
            }
            #[inline(always)]
            fn remainder<I: Isa>(self, d: $T) -> $T {
                if !FLOATS {
                    return self.floor_remainder(d);
                }
                let (_, r) = floored::<I, $F>(self as $F, d as $F);
                if d == 0 { 0 } else { (r + $unit).to_bits() as $T }
            }
            #[inline(always)]
            fn fmod<I: Isa>(self, d: $T) -> $T {
                if !FLOATS {
                    return self.trunc_remainder(d);
                }
                let r = truncated::<I, $F>(self as $F, d as $F);
                if d == 0 { 0 } else { (r + $unit).to_bits() as $T }
            }
        }
    )* };
}
divide_in_float! {
    i8 f32 UNIT32 u8 f32 UNIT32 i16 f32 UNIT32 u16 f32 UNIT32 i32 f64 UNIT64 u32 f64 UNIT64
}

/// A 64-bit integer of magnitude below 2^51 as a float, by its low bits: few CPUs convert vectors
/// of them.
#[inline(always)]
fn to_float(bits: u64) -> f64 {
    f64::from_bits(bits.wrapping_add(UNIT64.to_bits())) - UNIT64
}
/// The inverse of [`to_float`].
#[inline(always)]
fn from_float(x: f64) -> u64 {
    (x + UNIT64).to_bits().wrapping_sub(UNIT64.to_bits())
}
/// With `$excess` added, the magnitudes below 2^51 are those with no bit set from `$bits` on.
macro_rules! divide_small_in_float {
    ($($T:ident $excess:literal $bits:literal)*) => { $(
        impl Division for $T {
            #[inline(always)]
            fn floor_divide<I: Isa>(self, d: $T) -> $T {
                self.floor_quotient(d)
            }
            #[inline(always)]
            fn remainder<I: Isa>(self, d: $T) -> $T {
                self.floor_remainder(d)
            }
            #[inline(always)]
            fn fmod<I: Isa>(self, d: $T) -> $T {
                self.trunc_remainder(d)
            }
            #[inline(always)]
            fn floor_divide_fast<I: Isa>(self, d: $T) -> $T {
                if !FLOATS {
                    return self.floor_quotient(d);
                }
                let (q, _) = floored::<I, f64>(to_float(self as u64), to_float(d as u64));
                if d == 0 { 0 } else { from_float(q) as $T }
            }
            #[inline(always)]
            fn remainder_fast<I: Isa>(self, d: $T) -> $T {
                if !FLOATS {
                    return self.floor_remainder(d);
                }
                let (_, r) = floored::<I, f64>(to_float(self as u64), to_float(d as u64));
                if d == 0 { 0 } else { from_float(r) as $T }
            }
            #[inline(always)]
            fn fmod_fast<I: Isa>(self, d: $T) -> $T {
                if !FLOATS {
                    return self.trunc_remainder(d);
                }
                let r = truncated::<I, f64>(to_float(self as u64), to_float(d as u64));
                if d == 0 { 0 } else { from_float(r) as $T }
            }
            #[inline(always)]
            fn needs_slow_division<I: Isa>(self, d: $T) -> bool {
                let high = |x: $T| (x as u64).wrapping_add($excess);
                FLOATS && (high(self) | high(d)) >> $bits != 0
            }
        }
    )* };
}
divide_small_in_float! { i64 0x8_0000_0000_0000 52 u64 0 51 }

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
