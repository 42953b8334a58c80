//! Elementary functions, as bodies that elementwise loops inline and LLVM vectorises.
//!
//! Convention: the functions of [`Math`] (real and complex) and [`Real`] carry NumPy's names and
//! take the instruction set as their one parameter. Concrete floats have inherent methods of the
//! same names, so call them by path: `Math::exp::<I>(x)`, `Real::floor::<I>(x)`; in generic code,
//! where only the trait applies, `x.exp::<I>()` means the same.
//!
//! Every function holds for every argument, except the fast paths, named `_fast`, which give the
//! same bits unless their condition, named `needs_slow_`, holds: elementwise loops run these, and
//! recompute the other elements. Functions of real numbers are free of branches, except `sin`,
//! `cos` and `tan`, `pow` for exponents of a few halves, and those that call a scalar library function
//! (`fmod` and what is derived from it).
//!
//! Accuracy is checked by `tests/suite/accuracy.rs`. float32: exp, log at most 1 ulp with FMA and 2
//! without; tanh, sin, cos, erf, atan2, pow 2.5 and 4; the rest 4. float64: 2.5 for all of these,
//! the rest 4. sqrt, reciprocal and rounding are correctly rounded.
//!
//! float64 bodies exist without the feature `f64` too: many float32 functions compute in float64,
//! where the rounding at the end is the only error left.

macro_rules! poly {
    ($fma:ident $I:ident $x:expr; $first:expr $(, $next:expr)* $(,)?) => {{
        let x = $x;
        let p = $first;
        $(let p = $fma::<$I>(p, x, $next);)*
        p
    }};
}

// All functions of a module have one signature, whether or not they use the instruction set.
#[allow(clippy::extra_unused_type_parameters)]
mod basic;
#[cfg(feature = "complex")]
mod complex;
mod double;
mod number;
mod single;
pub mod special;

use crate::simd::lanes::Lanes;
use crate::simd::{Isa, fma32, fma64};
use core::ops::{Add, Div, Mul, Neg, Sub};

#[cfg(feature = "complex")]
pub use complex::ComplexMath;
pub use number::Number;

macro_rules! declare {
    ($($(#[$doc:meta])* $name:ident($($o:ident)?);)*) => { $($(#[$doc])* fn $name<I: Isa>(self $(, $o: Self)?) -> Self;)* };
}

/// Functions of real and complex numbers.
pub trait Math: Number {
    declare! {
        /// Square root, correctly rounded for reals.
        sqrt();
        /// `1 / x`, correctly rounded for reals.
        reciprocal();
        /// -1, 0 or 1, NaN for NaN; `z / |z|` for complex numbers.
        sign();
        /// e to the power of x.
        exp();
        /// 2 to the power of x.
        exp2();
        /// `exp(x) - 1` without cancellation.
        expm1();
        /// Natural logarithm.
        log();
        /// `log(1 + x)` without cancellation.
        log1p();
        /// Logarithm to base 2.
        log2();
        /// Logarithm to base 10.
        log10();
        /// Sine.
        sin();
        /// Cosine.
        cos();
        /// Tangent.
        tan();
        /// Inverse sine.
        asin();
        /// Inverse cosine.
        acos();
        /// Inverse tangent.
        atan();
        /// Hyperbolic sine.
        sinh();
        /// Hyperbolic cosine.
        cosh();
        /// Hyperbolic tangent.
        tanh();
        /// Inverse hyperbolic sine.
        asinh();
        /// Inverse hyperbolic cosine.
        acosh();
        /// Inverse hyperbolic tangent.
        atanh();
        /// The first to the power of the second.
        pow(exponent);
    }
}

/// Division with a remainder, of integers and floats.
pub trait Division: Number {
    /// The floored quotient. For integers, here as below, 0 for a divisor of 0, which callers
    /// refuse.
    fn floor_divide<I: Isa>(self, divisor: Self) -> Self;
    /// The remainder of floored division, with the sign of the divisor.
    fn remainder<I: Isa>(self, divisor: Self) -> Self;
    /// The remainder of truncated division, with the sign of the dividend; exact.
    fn fmod<I: Isa>(self, divisor: Self) -> Self;
    /// The fast path of [`floor_divide`](Division::floor_divide).
    #[inline(always)]
    fn floor_divide_fast<I: Isa>(self, divisor: Self) -> Self {
        self.floor_divide::<I>(divisor)
    }
    /// The fast path of [`remainder`](Division::remainder).
    #[inline(always)]
    fn remainder_fast<I: Isa>(self, divisor: Self) -> Self {
        self.remainder::<I>(divisor)
    }
    /// The fast path of [`fmod`](Division::fmod).
    #[inline(always)]
    fn fmod_fast<I: Isa>(self, divisor: Self) -> Self {
        self.fmod::<I>(divisor)
    }
    /// Whether the quotient has more bits than the float that the fast paths divide in holds
    /// exactly, or is not a number.
    #[inline(always)]
    fn needs_slow_division<I: Isa>(self, _divisor: Self) -> bool {
        false
    }
}

/// A float to compute in: float32 and float64, with their arithmetic and functions.
pub trait Real:
    Math
    + Number<Real = Self>
    + Division
    + Default
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + Send
    + Sync
{
    /// The vector of an instruction set, for loops that LLVM does not vectorise.
    type Vector<I: Isa>: Lanes<Number = Self>;
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// Minus infinity.
    const NEG_INFINITY: Self;
    /// The nearest value.
    fn from_f64(x: f64) -> Self;
    /// The same value.
    fn to_f64(self) -> f64;
    /// Whether the sign bit is set.
    fn signbit(self) -> bool;
    /// `self * factor + other`, rounded once if that is one instruction.
    fn multiply_add<I: Isa>(self, factor: Self, other: Self) -> Self;
    declare! {
        /// The largest integer not above x.
        floor();
        /// The smallest integer not below x.
        ceil();
        /// x rounded towards zero.
        trunc();
        /// The nearest integer, ties to even.
        round();
        /// Magnitude.
        abs();
        /// The larger; NaN if either is.
        maximum(other);
        /// The smaller; NaN if either is.
        minimum(other);
        /// The first's magnitude with the second's sign.
        copysign(other);
        /// The next value from the first towards the second.
        nextafter(other);
        /// The angle of the point (second, first).
        atan2(x);
        /// Length of the hypotenuse, without intermediate overflow.
        hypot(other);
        /// `log(exp(x) + exp(y))`, without intermediate overflow.
        logaddexp(other);
        /// Error function.
        erf();
        /// `1 - erf(x)` without cancellation.
        erfc();
        /// `1 / sqrt(x)`.
        rsqrt();
        /// `x - tanh(x)` without cancellation.
        tanhshrink();
        /// `1 / (1 + exp(-x))`.
        sigmoid();
        /// `x / 2 * (1 + erf(x / sqrt(2)))`.
        gelu();
        /// The derivative of [`gelu`](Real::gelu): `(1 + erf(x / sqrt(2))) / 2 + x exp(-x^2 / 2) /
        /// sqrt(2 pi)`.
        gelu_slope();
        /// The approximation of [`gelu`](Real::gelu) by tanh.
        gelu_tanh();
        /// `x * sigmoid(x)`.
        silu();
        /// The fast path of [`exp`](Math::exp), unless [`needs_slow_exp`](Real::needs_slow_exp).
        exp_fast();
        /// [`exp`](Math::exp) of x <= 0; 0 if that is not a normal number.
        exp_negative();
        /// [`expm1`](Math::expm1) of x <= 0.
        expm1_negative();
        /// [`log1p`](Math::log1p) of x from 0 to 1.
        log1p_unit();
        /// [`log`](Math::log) of x from 0 to 1, but for 0 a number below -100.
        log_unit();
        /// The fast path of [`sigmoid`](Real::sigmoid), unless
        /// [`needs_slow_exp`](Real::needs_slow_exp).
        sigmoid_fast();
        /// The fast path of [`silu`](Real::silu), unless [`needs_slow_exp`](Real::needs_slow_exp).
        silu_fast();
        /// The fast path of [`gelu`](Real::gelu), unless
        /// [`needs_slow_gelu`](Real::needs_slow_gelu).
        gelu_fast();
        /// The fast path of [`gelu_slope`](Real::gelu_slope), unless
        /// [`needs_slow_gelu`](Real::needs_slow_gelu).
        gelu_slope_fast();
        /// The fast path of [`gelu_tanh`](Real::gelu_tanh), unless
        /// [`needs_slow_gelu_tanh`](Real::needs_slow_gelu_tanh).
        gelu_tanh_fast();
        /// The fast path of [`log`](Math::log), unless [`needs_slow_log`](Real::needs_slow_log).
        log_fast();
        /// The fast path of [`pow`](Math::pow), unless [`needs_slow_pow`](Real::needs_slow_pow).
        pow_fast(exponent);
        /// The fast path of [`sin`](Math::sin), unless [`needs_slow_trig`](Real::needs_slow_trig).
        sin_fast();
        /// The fast path of [`cos`](Math::cos), unless [`needs_slow_trig`](Real::needs_slow_trig).
        cos_fast();
        /// The fast path of [`tan`](Math::tan), unless [`needs_slow_trig`](Real::needs_slow_trig).
        tan_fast();
    }
    /// Whether it is finite, but so large that trigonometric functions need more digits of pi than
    /// the branch-free bodies have.
    fn needs_slow_trig(self) -> bool;
    /// Whether its exponential, or the inverse of that, is not a normal number.
    fn needs_slow_exp(self) -> bool;
    /// Whether the distribution function of the normal distribution is so small that it needs an
    /// exponential.
    fn needs_slow_gelu(self) -> bool;
    /// Whether the sigmoid in [`gelu_tanh`](Real::gelu_tanh) may not be a normal number.
    fn needs_slow_gelu_tanh(self) -> bool;
    /// Whether it is not positive, finite and normal.
    fn needs_slow_log(self) -> bool;
    /// Whether it is not positive, finite and normal, or the exponent is not finite, or one of those
    /// that [`half_power`](Real::half_power) is for.
    fn needs_slow_pow(self, exponent: Self) -> bool;
    /// Twice the number, if that is an integer from -4 to 6.
    fn halves(self) -> Option<i32>;
    /// The power `k / 2` for `k` from -4 to 6, with the bits of [`pow`](Math::pow), unless
    /// [`needs_slow_half_power`](Real::needs_slow_half_power). With at most .501 ulp; a quotient,
    /// root or square is correctly rounded.
    fn half_power<I: Isa>(self, k: i32) -> Self;
    /// Whether the parts of [`half_power`](Real::half_power) may leave the range.
    fn needs_slow_half_power(self, k: i32) -> bool;
}

/// Methods that call the free functions of the same names in a module.
macro_rules! delegate {
    ($module:ident: $($name:ident($($o:ident)?))*) => {
        $(#[inline(always)] fn $name<I: Isa>(self $(, $o: Self)?) -> Self { $module::$name::<I>(self $(, $o)?) })*
    };
}
macro_rules! implement {
    ($T:ident, $Vector:ident, $module:ident, $basic:ident, $fma:ident) => {
        impl Math for $T {
            delegate! { $basic: sqrt() reciprocal() sign() }
            delegate! { $module: exp() exp2() expm1() log() log1p() log2() log10() sin() cos() tan() asin() acos() atan() }
            delegate! { $module: sinh() cosh() tanh() asinh() acosh() atanh() pow(o) }
        }
        impl Division for $T {
            delegate! { $basic: fmod(o) remainder(o) floor_divide(o) fmod_fast(o) remainder_fast(o) floor_divide_fast(o) }
            #[inline(always)]
            fn needs_slow_division<I: Isa>(self, divisor: Self) -> bool {
                $basic::needs_slow_division::<I>(self, divisor)
            }
        }
        impl Real for $T {
            type Vector<I: Isa> = I::$Vector;
            const ZERO: $T = 0.0;
            const ONE: $T = 1.0;
            const NEG_INFINITY: $T = $T::NEG_INFINITY;
            #[inline(always)]
            fn from_f64(x: f64) -> $T {
                x as $T
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                self as f64
            }
            #[inline(always)]
            fn signbit(self) -> bool {
                self.is_sign_negative()
            }
            #[inline(always)]
            fn multiply_add<I: Isa>(self, factor: $T, other: $T) -> $T {
                $fma::<I>(self, factor, other)
            }
            delegate! { $basic: floor() ceil() trunc() round() abs() maximum(o) minimum(o) copysign(o) nextafter(o) }
            delegate! { $basic: rsqrt() sigmoid() sigmoid_fast() silu() silu_fast() }
            delegate! { $module: atan2(o) hypot(o) logaddexp(o) erf() erfc() gelu() gelu_slope() tanhshrink() sin_fast() cos_fast() tan_fast() }
            delegate! { $module: exp_fast() exp_negative() expm1_negative() log1p_unit() log_unit() log_fast() pow_fast(o) }
            delegate! { $module: gelu_fast() gelu_slope_fast() gelu_tanh() gelu_tanh_fast() }
            #[inline(always)]
            fn needs_slow_trig(self) -> bool {
                $module::needs_slow_trig(self)
            }
            #[inline(always)]
            fn needs_slow_exp(self) -> bool {
                !(..=$basic::EXP_NORMAL).contains(&$basic::abs_of(self))
            }
            #[inline(always)]
            fn needs_slow_gelu(self) -> bool {
                $module::needs_slow_gelu(self)
            }
            #[inline(always)]
            fn needs_slow_gelu_tanh(self) -> bool {
                $module::needs_slow_gelu_tanh(self)
            }
            #[inline(always)]
            fn needs_slow_log(self) -> bool {
                self.to_bits().wrapping_sub($T::MIN_POSITIVE.to_bits()) >= $T::INFINITY.to_bits() - $T::MIN_POSITIVE.to_bits()
            }
            #[inline(always)]
            fn needs_slow_pow(self, exponent: Self) -> bool {
                let twice = exponent + exponent;
                // adding and subtracting 1.5 times this rounds to an integer
                const INTEGER: $T = 1.5 / $T::EPSILON;
                let halves = (twice + INTEGER) - INTEGER == twice;
                self.needs_slow_log() | !$T::is_finite(exponent) | halves & (-4.0..=6.0).contains(&twice)
            }
            #[inline(always)]
            fn halves(self) -> Option<i32> {
                let twice = self + self;
                let k = twice as i32;
                ((-4..=6).contains(&k) && k as $T == twice).then_some(k)
            }
            #[inline(always)]
            fn half_power<I: Isa>(self, k: i32) -> Self {
                match k {
                    -2 => return 1.0 / self,
                    0 => return 1.0,
                    2 => return self,
                    4 => return self * self,
                    _ => (),
                }
                // the powers of -0 and of minus infinity are those of their magnitudes, unlike their roots
                let odd = k & 1 == 1;
                let r = $module::half_power::<I>(if odd { $T::abs(self) } else { self }, k);
                if odd & (self < 0.0) & (self > $T::NEG_INFINITY) {
                    $T::NAN
                } else {
                    r
                }
            }
            #[inline(always)]
            fn needs_slow_half_power(self, k: i32) -> bool {
                $module::needs_slow_half_power(self, k)
            }
        }
    };
}
use basic::{double as double_basic, single as single_basic};
implement!(f32, F32, single, single_basic, fma32);
implement!(f64, F64, double, double_basic, fma64);
