//! Activations. NaN gives NaN, and nothing overflows before a result that does not.

use super::integer::Integral;
use super::operation::*;
use super::rows::*;
use crate::kernel::math::{Math, Real};
use crate::simd::Isa;

functions!(Float<T: Real>: Tanhshrink tanhshrink);
functions!(Float<T: Real>:
    Gelu gelu or gelu_fast unless needs_slow_gelu,
    GeluTanh gelu_tanh or gelu_tanh_fast unless needs_slow_gelu_tanh,
    Sigmoid sigmoid or sigmoid_fast unless needs_slow_exp,
    Silu silu or silu_fast unless needs_slow_exp
);

/// `bodies!(Name(x, ..) { result } ..)`: bodies for floats `T`, of one, two or three operands.
macro_rules! bodies {
    ($($(#[$m:meta])* $Name:ident($($x:ident),*) |$I:ident, $T:ident| $body:block)*) => {
        $(bodies!(@ [$(#[$m])*] $Name $I $T $body $($x)*);)*
    };
    (@ $m:tt $Name:ident $I:ident $T:ident $body:block $x:ident) => {
        bodies!(# $m [] Unary $Name $I $T $body $x);
    };
    (@ $m:tt $Name:ident $I:ident $T:ident $body:block $x:ident $y:ident) => {
        bodies!(# $m [const SCALARS: ScalarMasks = SECOND;] Binary $Name $I $T $body $x $y);
    };
    (@ $m:tt $Name:ident $I:ident $T:ident $body:block $x:ident $y:ident $z:ident) => {
        bodies!(# $m [] Ternary $Name $I $T $body $x $y $z);
    };
    (# [$($m:tt)*] [$($constant:tt)*] $Arity:ident $Name:ident $I:ident $T:ident $body:block $($x:ident)*) => {
        $($m)*
        impl<$T: Real> $Arity<Float, $T> for $Name {
            $($constant)*
            #[inline(always)]
            fn eval<$I: Isa>($($x: $T),*) -> $T $body
        }
    };
}

impl<T: Integral> Unary<Integer, T> for Relu {
    #[inline(always)]
    fn eval<I: Isa>(x: T) -> T {
        x.max(T::default())
    }
}
impl<T: Integral> Ternary<Integer, T> for Threshold {
    #[inline(always)]
    fn eval<I: Isa>(x: T, threshold: T, value: T) -> T {
        if x > threshold { x } else { value }
    }
}

/// `min(max(x, 0), 6)`.
#[inline(always)]
fn to_six<I: Isa, T: Real>(x: T) -> T {
    x.maximum::<I>(T::ZERO).minimum::<I>(T::from_f64(6.0))
}
/// `log(1 + exp(x))`.
#[inline(always)]
fn log_of_one_and_exp<I: Isa, T: Real>(x: T) -> T {
    x.maximum::<I>(T::ZERO) + Math::exp::<I>(-x.abs::<I>()).log1p_unit::<I>()
}

bodies! {
    Relu(x) |I, T| { x.maximum::<I>(T::ZERO) }
    Relu6(x) |I, T| { to_six::<I, T>(x) }
    LeakyRelu(x, slope) |I, T| { if x < T::ZERO { slope * x } else { x } }
    Elu(x, alpha) |I, T| {
        let y = alpha * x.expm1_negative::<I>();
        if x < T::ZERO { y } else { x }
    }
    Selu(x) |I, T| {
        /// The fixed point of the paper's appendix, to the digits that other libraries use.
        const SCALE: f64 = 1.050_700_987_355_480_5;
        const ALPHA: f64 = 1.673_263_242_354_377_3;
        let y = T::from_f64(SCALE * ALPHA) * x.expm1_negative::<I>();
        if x < T::ZERO { y } else { T::from_f64(SCALE) * x }
    }
    /// Not `expm1_negative`: a negative alpha asks for exponentials of positive numbers.
    Celu(x, alpha) |I, T| {
        let y = alpha * Math::expm1::<I>(x / alpha);
        if x < T::ZERO { y } else { x }
    }
    Softplus(x, beta, threshold) |I, T| {
        let z = x * beta;
        let y = log_of_one_and_exp::<I, T>(z) / beta;
        if z > threshold { x } else { y }
    }
    LogSigmoid(x) |I, T| { -log_of_one_and_exp::<I, T>(-x) }
    /// `tanh(log(1 + e)) = n / (n + 2)` for `n = e (e + 2)`, without a logarithm. From x = 20 on it
    /// is 1. Below -2000 as at -2000, so that infinity is not multiplied by zero.
    Mish(x) |I, T| {
        let (limit, least) = (T::from_f64(20.0), T::from_f64(-2000.0));
        let x = if x < least { least } else { x };
        let e = Math::exp::<I>(if x > limit { limit } else { x });
        let two = T::from_f64(2.0);
        let n = e * (e + two);
        x * (n / (n + two))
    }
    Hardsigmoid(x) |I, T| { to_six::<I, T>(x + T::from_f64(3.0)) / T::from_f64(6.0) }
    Hardswish(x) |I, T| {
        let (three, six) = (T::from_f64(3.0), T::from_f64(6.0));
        let x = x.maximum::<I>(-three);
        x * ((x + three).minimum::<I>(six) / six)
    }
    Softsign(x) |I, T| {
        // no infinity divided by itself
        let a = x.abs::<I>().minimum::<I>(T::from_f64(1e30));
        a.copysign::<I>(x) / (T::ONE + a)
    }
    Hardshrink(x, lambd) |I, T| {
        let inside = (x >= -lambd) & (x <= lambd);
        if inside { T::ZERO } else { x }
    }
    Softshrink(x, lambd) |I, T| {
        let above = if x > lambd { x - lambd } else { T::ZERO };
        let y = if x < -lambd { x + lambd } else { above };
        if x.isnan() { x } else { y }
    }
    Threshold(x, threshold, value) |I, T| { if x <= threshold { value } else { x } }
    SmoothL1(x, y, beta) |I, T| {
        let half = T::from_f64(0.5);
        let d = (x - y).abs::<I>();
        let parabola = half * d * (d / beta);
        if d < beta { parabola } else { d - half * beta }
    }
    Huber(x, y, delta) |I, T| {
        let d = (x - y).abs::<I>();
        let near = d.minimum::<I>(delta);
        near * (d - T::from_f64(0.5) * near)
    }
    /// What both terms share, `log(1 + exp(-|x|))`, and the part of one that is linear in x: no
    /// difference, so that none cancels.
    LogisticCost(x, no, yes) |I, T| {
        let a = x.abs::<I>();
        let factor = if x > T::ZERO { no } else { yes };
        // no infinity times zero
        let linear = if factor == T::ZERO { T::ZERO } else { factor * a };
        let both = Math::exp::<I>(-a).log1p_unit::<I>();
        both.multiply_add::<I>(no + yes, linear)
    }
    SquaredDifference(x, y) |I, T| { let d = x - y; d * d }
    MultiplyAdd(x, y, z) |I, T| { x.multiply_add::<I>(y, z) }
}

/// [`bodies`] of two operands of which neither is a single value.
macro_rules! bodies_of_tensors {
    ($($Name:ident($x:ident, $y:ident) |$I:ident, $T:ident| $body:block)*) => { $(
        impl<$T: Real> Binary<Float, $T> for $Name {
            const SCALARS: ScalarMasks = NEITHER;
            #[inline(always)]
            fn eval<$I: Isa>($x: $T, $y: $T) -> $T $body
        }
    )* };
}
bodies_of_tensors! {
    BinaryCrossEntropy(x, target) |I, T| {
        let least = T::from_f64(-100.0);
        let at_least = |y: T| if y > least { y } else { least };
        // log(1 - x): of the rounded difference, and what the rounding took from that, times nearly
        // 1 / (1 - x)
        let rest = T::ONE - x;
        let lost = (T::ONE - rest) - x;
        let yes = at_least(x.log_unit::<I>());
        let no = at_least(lost.multiply_add::<I>(T::ONE + x, rest.log_unit::<I>()));
        let y = -(target * yes) - (T::ONE - target) * no;
        let unit = |x: T| (x >= T::ZERO) & (x <= T::ONE);
        let inside = unit(x) & unit(target);
        if inside { y } else { T::from_f64(f64::NAN) }
    }
}
impl<T: Real> Binary<Float, T> for GeluGradient {
    const SCALARS: ScalarMasks = NEITHER;
    #[inline(always)]
    fn eval<I: Isa>(grad: T, x: T) -> T {
        grad * x.gelu_slope::<I>()
    }
    const HAS_FAST_PATH: bool = true;
    #[inline(always)]
    fn fast<I: Isa>(grad: T, x: T) -> T {
        grad * x.gelu_slope_fast::<I>()
    }
    #[inline(always)]
    fn needs_slow_path<I: Isa>(_: T, x: T) -> bool {
        x.needs_slow_gelu()
    }
}
impl<T: Real> Binary<Float, T> for Glu {
    const SCALARS: ScalarMasks = NEITHER;
    #[inline(always)]
    fn eval<I: Isa>(x: T, gate: T) -> T {
        x * gate.sigmoid::<I>()
    }
    const HAS_FAST_PATH: bool = true;
    #[inline(always)]
    fn fast<I: Isa>(x: T, gate: T) -> T {
        x * gate.sigmoid_fast::<I>()
    }
    #[inline(always)]
    fn needs_slow_path<I: Isa>(_: T, gate: T) -> bool {
        gate.needs_slow_exp()
    }
}
