//! Elementary functions, as bodies that elementwise loops inline and LLVM vectorises.
//!
//! Convention: the functions of [`Math`] (real and complex) and [`Real`] carry NumPy's names and
//! take the instruction set as their one parameter. Concrete floats have inherent methods of the
//! same names, so call them by path: `Math::exp::<I>(x)`, `Real::floor::<I>(x)`; in generic code,
//! where only the trait applies, `x.exp::<I>()` means the same.
//!
//! Every function is right for every argument, but those named `_near`, which are faster, and have
//! the same bits where a condition holds: elementwise loops use them and do the other arguments
//! again. The functions of real numbers are free of branches but for `sin`, `cos` and `tan`, and
//! those that call a scalar library function (`fmod` and what follows from it).
//!
//! Accuracy is held by `tests/suite/accuracy.rs`. float32: exp, log at most 1 ulp with FMA and 2
//! without; tanh, sin, cos, erf, atan2, pow 2.5 and 4; the rest 4. float64: 2.5, the rest 4. sqrt,
//! reciprocal and rounding are exact.
//!
//! float64 bodies are there without the feature `f64` too: many float32 functions compute in
//! float64, where one rounding at the end is all that is left of the error.

macro_rules! poly {
    ($fma:ident $I:ident $x:expr; $first:expr $(, $next:expr)* $(,)?) => {{
        let x = $x;
        let p = $first;
        $(let p = $fma::<$I>(p, x, $next);)*
        p
    }};
}

// All functions of a module have one form, whether or not they look at the instruction set.
#[allow(clippy::extra_unused_type_parameters)]
mod basic;
#[cfg(feature = "complex")]
mod complex;
mod double;
mod single;

use crate::simd::Isa;

#[cfg(feature = "complex")]
pub use complex::ComplexMath;

macro_rules! declare {
    ($($(#[$doc:meta])* $name:ident($($o:ident)?);)*) => { $($(#[$doc])* fn $name<I: Isa>(self $(, $o: Self)?) -> Self;)* };
}

/// Functions of real and complex numbers.
pub trait Math: Copy + 'static {
    declare! {
        /// Square root, correctly rounded for reals.
        sqrt();
        /// `x * x`.
        square();
        /// `1 / x`, correctly rounded for reals.
        reciprocal();
        /// -1, 0 or 1, NaN of NaN; `z / |z|` of complex numbers.
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

/// Functions of real numbers.
pub trait Real: Math + PartialOrd {
    declare! {
        /// The largest integer not above.
        floor();
        /// The smallest integer not below.
        ceil();
        /// The integer towards zero.
        trunc();
        /// The nearest integer, ties to even.
        round();
        /// Magnitude.
        abs();
        /// The larger; NaN where either is.
        maximum(other);
        /// The smaller; NaN where either is.
        minimum(other);
        /// The first's magnitude with the second's sign.
        copysign(other);
        /// The next value from the first towards the second.
        nextafter(other);
        /// The remainder of division that is truncated: the sign of the dividend, exact.
        fmod(divisor);
        /// The remainder of division that is floored: the sign of the divisor.
        remainder(divisor);
        /// The floor of the quotient.
        floor_divide(divisor);
        /// The angle of the point (second, first).
        atan2(x);
        /// Length of the hypotenuse; no overflow on the way.
        hypot(other);
        /// `log(exp(x) + exp(y))`; no overflow on the way.
        logaddexp(other);
        /// Error function.
        erf();
        /// `1 - erf(x)` without cancellation.
        erfc();
        /// `1 / sqrt(x)`.
        rsqrt();
        /// `1 / (1 + exp(-x))`.
        sigmoid();
        /// `x / 2 * (1 + erf(x / sqrt(2)))`.
        gelu();
        /// Its approximation by tanh.
        gelu_tanh();
        /// `x * sigmoid(x)`.
        silu();
        /// [`exp`](Math::exp) where the argument is not [`is_exp_far`](Real::is_exp_far).
        exp_near();
        /// [`exp`](Math::exp) of what is not positive; 0 where that is no normal number.
        exp_negative();
        /// [`sigmoid`](Real::sigmoid) where the argument is not [`is_exp_far`](Real::is_exp_far).
        sigmoid_near();
        /// [`silu`](Real::silu) where the argument is not [`is_exp_far`](Real::is_exp_far).
        silu_near();
        /// [`log`](Math::log) where the argument is not [`is_log_far`](Real::is_log_far).
        log_near();
        /// [`pow`](Math::pow) where the arguments are not [`is_pow_far`](Real::is_pow_far).
        pow_near(exponent);
        /// [`fmod`](Real::fmod) where the arguments are not [`is_fmod_far`](Real::is_fmod_far).
        fmod_near(divisor);
        /// [`remainder`](Real::remainder), likewise.
        remainder_near(divisor);
        /// [`floor_divide`](Real::floor_divide), likewise.
        floor_divide_near(divisor);
        /// Sine where the argument is not [`is_far`](Real::is_far).
        sin_near();
        /// Cosine where the argument is not [`is_far`](Real::is_far).
        cos_near();
        /// Tangent where the argument is not [`is_far`](Real::is_far).
        tan_near();
    }
    /// Whether it is finite and so large that a sine needs more digits of pi than the branch-free
    /// bodies have.
    fn is_far(self) -> bool;
    /// Whether its exponential or the inverse of that is no normal number.
    fn is_exp_far(self) -> bool;
    /// Whether it is not positive, finite and normal.
    fn is_log_far(self) -> bool;
    /// Whether its power is not that of a positive, finite and normal number, by a finite exponent.
    fn is_pow_far(self, exponent: Self) -> bool;
    /// Whether the quotient has more bits than its integer part may, or there is none.
    fn is_fmod_far<I: Isa>(self, divisor: Self) -> bool;
}

/// The functions of a module with free functions of those names, as methods.
macro_rules! delegate {
    ($module:ident: $($name:ident($($o:ident)?))*) => {
        $(#[inline(always)] fn $name<I: Isa>(self $(, $o: Self)?) -> Self { $module::$name::<I>(self $(, $o)?) })*
    };
}
macro_rules! implement {
    ($T:ident, $module:ident, $basic:ident, $far:literal) => {
        impl Math for $T {
            delegate! { $basic: sqrt() square() reciprocal() sign() }
            delegate! { $module: exp() exp2() expm1() log() log1p() log2() log10() sin() cos() tan() asin() acos() atan() }
            delegate! { $module: sinh() cosh() tanh() asinh() acosh() atanh() pow(o) }
        }
        impl Real for $T {
            delegate! { $basic: floor() ceil() trunc() round() abs() maximum(o) minimum(o) copysign(o) nextafter(o) }
            delegate! { $basic: fmod(o) remainder(o) floor_divide(o) fmod_near(o) remainder_near(o) floor_divide_near(o) }
            delegate! { $basic: rsqrt() silu() silu_near() gelu_tanh() }
            delegate! { $module: atan2(o) hypot(o) logaddexp(o) erf() erfc() gelu() sigmoid() sin_near() cos_near() tan_near() }
            delegate! { $module: exp_near() exp_negative() sigmoid_near() log_near() pow_near(o) }
            #[inline(always)]
            fn is_far(self) -> bool {
                $module::is_far(self)
            }
            #[inline(always)]
            fn is_exp_far(self) -> bool {
                !(..=$far).contains(&$basic::abs_of(self))
            }
            #[inline(always)]
            fn is_log_far(self) -> bool {
                self.to_bits().wrapping_sub($T::MIN_POSITIVE.to_bits()) >= $T::INFINITY.to_bits() - $T::MIN_POSITIVE.to_bits()
            }
            #[inline(always)]
            fn is_pow_far(self, exponent: Self) -> bool {
                self.is_log_far() | !$T::is_finite(exponent)
            }
            #[inline(always)]
            fn is_fmod_far<I: Isa>(self, divisor: Self) -> bool {
                $basic::is_fmod_far::<I>(self, divisor)
            }
        }
    };
}
use basic::{double as double_basic, single as single_basic};
implement!(f32, single, single_basic, 87.0);
implement!(f64, double, double_basic, 708.0);
