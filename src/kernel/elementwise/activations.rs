//! Activations. NaN gives NaN, and nothing overflows before a result that does not.

use super::integer::Integral;
use super::operation::*;
use super::rows::*;
use crate::kernel::math::{Math, Real};
use crate::simd::Isa;
use core::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI};

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
/// A sixth of a number from 0 to 6. With fused multiply-adds it is a product with the inverse, and one
/// correction, which is rounded as the quotient (Markstein 1990) and takes a third of a division's
/// time.
#[inline(always)]
fn sixth<I: Isa, T: Real>(x: T) -> T {
    let (six, inverse) = (T::from_f64(6.0), T::from_f64(1.0 / 6.0));
    if const { !I::FMA } {
        return x / six;
    }
    let q = x * inverse;
    let rest = (-q).multiply_add::<I>(six, x);
    rest.multiply_add::<I>(inverse, q)
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
    Hardsigmoid(x) |I, T| { sixth::<I, T>(to_six::<I, T>(x + T::from_f64(3.0))) }
    Hardswish(x) |I, T| {
        let (three, six) = (T::from_f64(3.0), T::from_f64(6.0));
        let x = x.maximum::<I>(-three);
        x * sixth::<I, T>((x + three).minimum::<I>(six))
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
    SigmoidGradient(grad, y) |I, T| { grad * (y * (T::ONE - y)) }
    TanhGradient(grad, y) |I, T| {
        // a square would lose what y lacks to 1
        grad * ((T::ONE - y) * (y + T::ONE))
    }
    ReluGradient(grad, x) |I, T| {
        // NaN counts as positive, as in torch
        if x <= T::ZERO { T::ZERO } else { grad }
    }
}
/// The same with a fast path, for other operands than those for which the third expression holds.
macro_rules! bodies_with_fast_path {
    ($($Name:ident($x:ident, $y:ident) |$I:ident, $T:ident| $body:block or $fast:block unless $slow:block)*) => { $(
        impl<$T: Real> Binary<Float, $T> for $Name {
            const SCALARS: ScalarMasks = NEITHER;
            #[inline(always)]
            fn eval<$I: Isa>($x: $T, $y: $T) -> $T $body
            const HAS_FAST_PATH: bool = true;
            #[inline(always)]
            fn fast<$I: Isa>($x: $T, $y: $T) -> $T $fast
            #[inline(always)]
            fn needs_slow_path<$I: Isa>(_: $T, $y: $T) -> bool $slow
        }
    )* };
}
bodies_with_fast_path! {
    Glu(x, gate) |I, T|
        { x * gate.sigmoid::<I>() }
        or { x * gate.sigmoid_fast::<I>() }
        unless { gate.needs_slow_exp() }
    GeluGradient(grad, x) |I, T|
        { grad * x.gelu_slope::<I>() }
        or { grad * x.gelu_slope_fast::<I>() }
        unless { x.needs_slow_gelu() }
    GeluTanhGradient(grad, x) |I, T|
        { let c = CubicSlope::new::<I>(x); grad * c.slope(c.v.sigmoid::<I>(), (-c.v).sigmoid::<I>()) }
        or { let c = CubicSlope::new::<I>(x); grad * c.slope(c.v.sigmoid_fast::<I>(), (-c.v).sigmoid_fast::<I>()) }
        unless { CubicSlope::new::<I>(x).v.needs_slow_exp() }
    KlDivergence(x, target) |I, T|
        { divergence::<I, T>(x, target, target.log::<I>()) }
        or { divergence::<I, T>(x, target, above_zero(target).log_fast::<I>()) }
        unless { above_zero(target).needs_slow_log() }
    SiluGradient(grad, x) |I, T|
        { grad * silu_slope::<I, T>(x, x.sigmoid::<I>()) }
        or { grad * silu_slope::<I, T>(x, x.sigmoid_fast::<I>()) }
        unless { x.needs_slow_exp() }
}

/// The nearest number from `-bound` to `bound`.
#[inline(always)]
fn within<I: Isa, T: Real>(x: T, bound: f64) -> T {
    let bound = T::from_f64(bound);
    x.maximum::<I>(-bound).minimum::<I>(bound)
}
/// A logarithm's argument in place of 0, for which nothing is computed.
#[inline(always)]
fn above_zero<T: Real>(x: T) -> T {
    if x == T::ZERO { T::ONE } else { x }
}
/// `target log(target) - target x`. Where the target is 0, that is 0 for infinite `x`, too.
#[inline(always)]
fn divergence<I: Isa, T: Real>(x: T, target: T, log: T) -> T {
    let none = target == T::ZERO;
    let own = if none { T::ZERO } else { target * log };
    let finite = within::<I, T>(x, f64::from(f32::MAX));
    own - target * if none { finite } else { x }
}

/// `s (1 + x (1 - s))` for the sigmoid `s` of x.
#[inline(always)]
fn silu_slope<I: Isa, T: Real>(x: T, s: T) -> T {
    let x = within::<I, T>(x, 2000.0); // no infinity times zero
    s * (x * (T::ONE - s) + T::ONE)
}

/// For `gelu_tanh`, `x s(v)` with the sigmoid `s`: `v`, twice the argument of tanh, and `x dv/dx`.
struct CubicSlope<T> {
    v: T,
    rise: T,
}
impl<T: Real> CubicSlope<T> {
    #[inline(always)]
    fn new<I: Isa>(x: T) -> CubicSlope<T> {
        const LINEAR: f64 = 2.0 * FRAC_2_SQRT_PI * FRAC_1_SQRT_2;
        const CUBIC: f64 = LINEAR * 0.044715;
        let x = within::<I, T>(x, 100.0); // beyond, the sigmoid is 0 or 1
        let (square, linear) = (x * x, T::from_f64(LINEAR));
        CubicSlope {
            v: x * (square * T::from_f64(CUBIC) + linear),
            rise: (square * T::from_f64(3.0 * CUBIC) + linear) * x,
        }
    }
    /// `s (1 + (1 - s) x dv/dx)`, of `s = s(v)` and `rest = s(-v)`: `1 - s` would lose what s lacks to
    /// 1, which up to 80 multiplies. So the slope keeps its relative accuracy where s is small.
    #[inline(always)]
    fn slope(&self, s: T, rest: T) -> T {
        s * (rest * self.rise + T::ONE)
    }
}
