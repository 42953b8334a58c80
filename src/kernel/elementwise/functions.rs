//! Exponentials, logarithms, trigonometry, statistics and activations.

use super::integer::Int;
use super::operation::*;
use super::rows::*;
use crate::kernel::math::{Math, Real};
use crate::simd::Isa;

functions!(Float<T: Math>: Exp2 exp2, Expm1 expm1, Log1p log1p, Log2 log2, Log10 log10);
functions!(Float<T: Math>: Asin asin, Acos acos, Atan atan, Sinh sinh, Cosh cosh, Tanh tanh);
functions!(Float<T: Math>: Asinh asinh, Acosh acosh, Atanh atanh);
functions!(Complex<T: Math>: Exp exp, Exp2 exp2, Expm1 expm1);
functions!(Complex<T: Math>: Log log, Log1p log1p, Log2 log2, Log10 log10);
functions!(Complex<T: Math>: Sin sin, Cos cos, Tan tan, Asin asin, Acos acos, Atan atan);
functions!(Complex<T: Math>: Sinh sinh, Cosh cosh, Tanh tanh, Asinh asinh, Acosh acosh, Atanh atanh);
functions!(Float<T: Real>: Erf erf, Erfc erfc, Gelu gelu, GeluTanh gelu_tanh);

impl<T: Real> Unary<Float, T> for Exp {
    #[inline(always)]
    fn eval<I: Isa>(x: T) -> T {
        x.exp::<I>()
    }
    const HAS_FAST_PATH: bool = true;
    #[inline(always)]
    fn fast<I: Isa>(x: T) -> T {
        x.exp_fast::<I>()
    }
    #[inline(always)]
    fn needs_slow_path<I: Isa>(x: T) -> bool {
        x.needs_slow_exp()
    }
}
impl<T: Real> Unary<Float, T> for Log {
    #[inline(always)]
    fn eval<I: Isa>(x: T) -> T {
        x.log::<I>()
    }
    const HAS_FAST_PATH: bool = true;
    #[inline(always)]
    fn fast<I: Isa>(x: T) -> T {
        x.log_fast::<I>()
    }
    #[inline(always)]
    fn needs_slow_path<I: Isa>(x: T) -> bool {
        x.needs_slow_log()
    }
}
impl<T: Real> Binary<Float, T> for Logaddexp {
    #[inline(always)]
    fn eval<I: Isa>(a: T, b: T) -> T {
        a.logaddexp::<I>(b)
    }
}

impl<T: Real> Unary<Float, T> for Sin {
    #[inline(always)]
    fn eval<I: Isa>(x: T) -> T {
        x.sin::<I>()
    }
    const HAS_FAST_PATH: bool = true;
    #[inline(always)]
    fn fast<I: Isa>(x: T) -> T {
        x.sin_fast::<I>()
    }
    #[inline(always)]
    fn needs_slow_path<I: Isa>(x: T) -> bool {
        x.needs_slow_trig()
    }
}
impl<T: Real> Unary<Float, T> for Cos {
    #[inline(always)]
    fn eval<I: Isa>(x: T) -> T {
        x.cos::<I>()
    }
    const HAS_FAST_PATH: bool = true;
    #[inline(always)]
    fn fast<I: Isa>(x: T) -> T {
        x.cos_fast::<I>()
    }
    #[inline(always)]
    fn needs_slow_path<I: Isa>(x: T) -> bool {
        x.needs_slow_trig()
    }
}
impl<T: Real> Unary<Float, T> for Tan {
    #[inline(always)]
    fn eval<I: Isa>(x: T) -> T {
        x.tan::<I>()
    }
    const HAS_FAST_PATH: bool = true;
    #[inline(always)]
    fn fast<I: Isa>(x: T) -> T {
        x.tan_fast::<I>()
    }
    #[inline(always)]
    fn needs_slow_path<I: Isa>(x: T) -> bool {
        x.needs_slow_trig()
    }
}
impl<T: Real> Binary<Float, T> for Atan2 {
    #[inline(always)]
    fn eval<I: Isa>(y: T, x: T) -> T {
        y.atan2::<I>(x)
    }
}

impl<T: Real> Unary<Float, T> for Sigmoid {
    #[inline(always)]
    fn eval<I: Isa>(x: T) -> T {
        x.sigmoid::<I>()
    }
    const HAS_FAST_PATH: bool = true;
    #[inline(always)]
    fn fast<I: Isa>(x: T) -> T {
        x.sigmoid_fast::<I>()
    }
    #[inline(always)]
    fn needs_slow_path<I: Isa>(x: T) -> bool {
        x.needs_slow_exp()
    }
}
impl<T: Real> Unary<Float, T> for Silu {
    #[inline(always)]
    fn eval<I: Isa>(x: T) -> T {
        x.silu::<I>()
    }
    const HAS_FAST_PATH: bool = true;
    #[inline(always)]
    fn fast<I: Isa>(x: T) -> T {
        x.silu_fast::<I>()
    }
    #[inline(always)]
    fn needs_slow_path<I: Isa>(x: T) -> bool {
        x.needs_slow_exp()
    }
}
impl<T: Int> Unary<Integer, T> for Relu {
    #[inline(always)]
    fn eval<I: Isa>(x: T) -> T {
        x.max(T::default())
    }
}
impl<T: Real> Unary<Float, T> for Relu {
    #[inline(always)]
    fn eval<I: Isa>(x: T) -> T {
        x.maximum::<I>(T::ZERO)
    }
}
