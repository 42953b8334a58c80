//! Rounding, signs, order and remainders: the same code for both widths.

/// `2 sqrt(2 / pi) (x + 0.044715 x^3)`, by its coefficients of x and x^3: what gelu's approximation by
/// tanh takes the sigmoid of, since `(1 + tanh(u)) / 2` is that of 2 u.
pub const GELU_GATE: [f64; 2] = {
    let scale = 2.0 * core::f64::consts::FRAC_2_SQRT_PI * core::f64::consts::FRAC_1_SQRT_2;
    [scale, 0.044715 * scale]
};

macro_rules! basic {
    ($module:ident, $T:ident, $U:ident, $sqrt:ident, $unit:expr, $exp:expr) => {
        pub mod $module {
            use crate::kernel::math::{Math, Real};
            use crate::simd::{Isa, fma64};

            const SIGN: $U = 1 << ($U::BITS - 1);
            /// 2 to the number of fraction bits: from here on every value is an integer.
            const UNIT: $T = $unit;
            /// Up to here, the exponential and its inverse are normal numbers.
            pub const EXP_NORMAL: $T = $exp;

            /// Whether rounding to an integer is one instruction. SSE2 has none, and a library call
            /// per element is 80 times slower.
            #[cfg(feature = "std")]
            #[inline(always)]
            fn has_rounding<I: Isa>() -> bool {
                I::AVX2
                    || cfg!(any(
                        target_arch = "aarch64",
                        target_arch = "wasm32",
                        target_feature = "sse4.1"
                    ))
            }
            #[inline(always)]
            pub fn sqrt<I: Isa>(x: $T) -> $T {
                #[cfg(feature = "std")]
                return x.sqrt();
                #[cfg(not(feature = "std"))]
                libm::$sqrt(x)
            }
            #[inline(always)]
            pub fn rsqrt<I: Isa>(x: $T) -> $T {
                1.0 / sqrt::<I>(x)
            }
            #[inline(always)]
            pub fn reciprocal<I: Isa>(x: $T) -> $T {
                1.0 / x
            }
            #[inline(always)]
            pub fn abs<I: Isa>(x: $T) -> $T {
                abs_of(x)
            }
            #[inline(always)]
            pub fn abs_of(x: $T) -> $T {
                $T::from_bits(x.to_bits() & !SIGN)
            }
            #[inline(always)]
            pub fn copysign<I: Isa>(x: $T, sign: $T) -> $T {
                $T::from_bits((x.to_bits() & !SIGN) | (sign.to_bits() & SIGN))
            }
            #[inline(always)]
            pub fn sign<I: Isa>(x: $T) -> $T {
                let one = if x > 0.0 { 1.0 } else { -1.0 };
                let r = if x == 0.0 { 0.0 } else { one };
                if x.is_nan() { x } else { r }
            }
            #[inline(always)]
            pub fn round<I: Isa>(x: $T) -> $T {
                #[cfg(feature = "std")]
                if has_rounding::<I>() {
                    return x.round_ties_even();
                }
                let a = abs::<I>(x);
                // The sum has no bits below the units, so the addition rounds.
                let r = (a + UNIT) - UNIT;
                copysign::<I>(if a < UNIT { r } else { a }, x)
            }
            #[inline(always)]
            pub fn floor<I: Isa>(x: $T) -> $T {
                #[cfg(feature = "std")]
                if has_rounding::<I>() {
                    return x.floor();
                }
                let r = round::<I>(x);
                copysign::<I>(if r > x { r - 1.0 } else { r }, x)
            }
            #[inline(always)]
            pub fn ceil<I: Isa>(x: $T) -> $T {
                #[cfg(feature = "std")]
                if has_rounding::<I>() {
                    return x.ceil();
                }
                let r = round::<I>(x);
                copysign::<I>(if r < x { r + 1.0 } else { r }, x)
            }
            #[inline(always)]
            pub fn trunc<I: Isa>(x: $T) -> $T {
                #[cfg(feature = "std")]
                if has_rounding::<I>() {
                    return x.trunc();
                }
                copysign::<I>(floor::<I>(abs::<I>(x)), x)
            }
            #[inline(always)]
            pub fn maximum<I: Isa>(x: $T, y: $T) -> $T {
                let larger = if x > y { x } else { y };
                if x.is_nan() { x } else { larger }
            }
            #[inline(always)]
            pub fn minimum<I: Isa>(x: $T, y: $T) -> $T {
                let smaller = if x < y { x } else { y };
                if x.is_nan() { x } else { smaller }
            }
            #[inline(always)]
            pub fn nextafter<I: Isa>(x: $T, y: $T) -> $T {
                let b = x.to_bits();
                // Magnitudes have the order of their bits: away from zero is one more.
                let away = (x < y) == (b & SIGN == 0);
                let step = $T::from_bits(if away {
                    b.wrapping_add(1)
                } else {
                    b.wrapping_sub(1)
                });
                let r = if x == 0.0 {
                    copysign::<I>($T::from_bits(1), y)
                } else {
                    step
                };
                let r = if x == y { y } else { r };
                if x.is_nan() || y.is_nan() { $T::NAN } else { r }
            }
            #[inline(always)]
            pub fn fmod<I: Isa>(x: $T, y: $T) -> $T {
                x % y
            }
            /// By a single float64 division, whose truncated quotient is at most one too large if
            /// it has no more bits than are exact. The product and the difference are exact (for
            /// float64 by a fused multiply-add).
            #[inline(always)]
            pub fn fmod_fast<I: Isa>(x: $T, y: $T) -> $T {
                if !by_quotient::<I>() {
                    return x % y;
                }
                let (a, b) = (x as f64, y as f64);
                let r = fma64::<I>(-Real::trunc::<I>(a / b), b, a);
                let beyond = (r != 0.0) & ((r < 0.0) != (a < 0.0));
                let r = if beyond {
                    r + Real::copysign::<I>(b, a)
                } else {
                    r
                };
                copysign::<I>(r as $T, x)
            }
            /// float64 needs a fused multiply-add.
            #[inline(always)]
            fn by_quotient<I: Isa>() -> bool {
                I::FMA || $T::MANTISSA_DIGITS == 24
            }
            #[inline(always)]
            pub fn needs_slow_division<I: Isa>(x: $T, y: $T) -> bool {
                // The product of quotient and divisor has 53 bits (float32), or is only rounded
                // after the difference.
                let limit = if $T::MANTISSA_DIGITS == 24 {
                    536_870_912.0
                } else {
                    4_503_599_627_370_496.0
                };
                let quotient = Real::abs::<I>(x as f64 / y as f64);
                by_quotient::<I>() && !((quotient < limit) & (abs_of(y) < $T::INFINITY))
            }
            #[inline(always)]
            fn remainder_of<I: Isa>(y: $T, r: $T) -> $T {
                let moved = if (y < 0.0) != (r < 0.0) { r + y } else { r };
                if r == 0.0 {
                    copysign::<I>(0.0, y)
                } else {
                    moved
                }
            }
            #[inline(always)]
            fn quotient_of<I: Isa>(x: $T, y: $T, r: $T) -> $T {
                // Nearly an integer: rounding removes the error of the division.
                let q = (x - r) / y;
                let q = if (r != 0.0) & ((y < 0.0) != (r < 0.0)) {
                    q - 1.0
                } else {
                    q
                };
                let exact = x / y;
                let q = if q == 0.0 {
                    copysign::<I>(0.0, exact)
                } else {
                    round::<I>(q)
                };
                // With an infinity or a divisor of 0 the standard's result is the quotient's: no
                // -1 for a positive number by -infinity.
                if (abs_of(exact) < $T::INFINITY) & (abs_of(y) < $T::INFINITY) {
                    q
                } else {
                    exact
                }
            }
            #[inline(always)]
            pub fn remainder<I: Isa>(x: $T, y: $T) -> $T {
                remainder_of::<I>(y, x % y)
            }
            #[inline(always)]
            pub fn remainder_fast<I: Isa>(x: $T, y: $T) -> $T {
                remainder_of::<I>(y, fmod_fast::<I>(x, y))
            }
            #[inline(always)]
            pub fn floor_divide<I: Isa>(x: $T, y: $T) -> $T {
                quotient_of::<I>(x, y, x % y)
            }
            #[inline(always)]
            pub fn floor_divide_fast<I: Isa>(x: $T, y: $T) -> $T {
                quotient_of::<I>(x, y, fmod_fast::<I>(x, y))
            }
            /// From x and exp(-x): what divides by a sum of one that grows steps nowhere back.
            #[inline(always)]
            pub fn sigmoid_fast<I: Isa>(x: $T) -> $T {
                1.0 / (1.0 + Real::exp_fast::<I>(-x))
            }
            /// The sigmoid is e^x, where that is hardly a normal number.
            #[inline(always)]
            pub fn sigmoid<I: Isa>(x: $T) -> $T {
                let low = x < -EXP_NORMAL;
                let e = Math::exp::<I>(if low { x } else { -x });
                if low { e } else { 1.0 / (1.0 + e) }
            }
            /// x sigmoid(v), which is normal longer than the sigmoid is.
            #[inline(always)]
            pub fn times_sigmoid<I: Isa>(x: $T, v: $T) -> $T {
                // no infinity times zero
                let x = if x < -2000.0 { -2000.0 } else { x };
                let low = v < -EXP_NORMAL;
                let e = Math::exp::<I>(if low { 0.5 * v } else { -v });
                if low {
                    x * e * e
                } else {
                    x * (1.0 / (1.0 + e))
                }
            }
            #[inline(always)]
            pub fn silu<I: Isa>(x: $T) -> $T {
                times_sigmoid::<I>(x, x)
            }
            #[inline(always)]
            pub fn silu_fast<I: Isa>(x: $T) -> $T {
                x * sigmoid_fast::<I>(x)
            }
        }
    };
}
basic!(single, f32, u32, sqrtf, 8_388_608.0, 87.0);
basic!(double, f64, u64, sqrt, 4_503_599_627_370_496.0, 708.0);
