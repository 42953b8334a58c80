//! Integer bodies that are more than one expression. All wrap; none panics.

#[cfg(feature = "half")]
use crate::kernel::convert::Widen;

/// Integers of any width and sign.
pub trait Int: Copy {
    /// Rounded down; 0 for a divisor of 0, which callers refuse before.
    fn floor_divide(self, divisor: Self) -> Self;
    /// The sign of the divisor.
    fn remainder(self, divisor: Self) -> Self;
    /// The sign of the dividend.
    fn fmod(self, divisor: Self) -> Self;
    /// By squaring; negative exponents, which callers refuse before, count as 0.
    fn power(self, exponent: Self) -> Self;
    /// 0 from the width on (negative counts too).
    fn shift_left(self, by: Self) -> Self;
    /// 0 or -1 from the width on.
    fn shift_right(self, by: Self) -> Self;
}
macro_rules! int {
    ($($T:ident $U:ident),*) => { $(
        impl Int for $T {
            #[inline(always)]
            fn floor_divide(self, d: $T) -> $T {
                if d == 0 { return 0 }
                let q = self.wrapping_div(d);
                #[allow(unused_comparisons)]
                let below = (self.wrapping_rem(d) != 0) & ((self < 0) != (d < 0));
                q.wrapping_sub(below as $T)
            }
            #[inline(always)]
            fn remainder(self, d: $T) -> $T {
                if d == 0 { return 0 }
                let r = self.wrapping_rem(d);
                #[allow(unused_comparisons)]
                let apart = (r != 0) & ((r < 0) != (d < 0));
                if apart { r.wrapping_add(d) } else { r }
            }
            #[inline(always)]
            fn fmod(self, d: $T) -> $T { if d == 0 { 0 } else { self.wrapping_rem(d) } }
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
int!(i8 u8, i16 u16, i32 u32, i64 u64, u8 u8, u16 u16, u32 u32, u64 u64);

/// The next 16-bit float from `a` towards `b`.
#[cfg(feature = "half")]
#[inline(always)]
pub fn next_half<T: Widen + HalfBits>(a: T, b: T) -> T {
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
pub trait HalfBits {
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
