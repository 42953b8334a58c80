//! Exponentials, logarithms, trigonometry, error functions.

use super::operation::*;
use super::rows::*;
use crate::kernel::math::{Math, Real};
use crate::simd::Isa;

functions!(Complex<T: Math>: Exp exp, Log log, Sin sin, Cos cos, Tan tan);
functions!(Complex<T: Math>: Exp2 exp2, Expm1 expm1, Log1p log1p, Log2 log2, Log10 log10);
functions!(Complex<T: Math>: Asin asin, Acos acos, Atan atan, Sinh sinh, Cosh cosh, Tanh tanh);
functions!(Complex<T: Math>: Asinh asinh, Acosh acosh, Atanh atanh);

functions!(Float<T: Math>: Exp2 exp2, Expm1 expm1, Log1p log1p, Log2 log2, Log10 log10);
functions!(Float<T: Math>: Asin asin, Acos acos, Atan atan, Sinh sinh, Cosh cosh, Tanh tanh);
functions!(Float<T: Math>: Asinh asinh, Acosh acosh, Atanh atanh);
functions!(Float<T: Real>: Erf erf, Erfc erfc);
functions!(Float<T: Real>:
    Exp exp or exp_fast unless needs_slow_exp,
    Log log or log_fast unless needs_slow_log,
    Sin sin or sin_fast unless needs_slow_trig,
    Cos cos or cos_fast unless needs_slow_trig,
    Tan tan or tan_fast unless needs_slow_trig
);

impl<T: Real> Binary<Float, T> for Logaddexp {
    const SCALARS: ScalarMasks = NEITHER;
    #[inline(always)]
    fn eval<I: Isa>(a: T, b: T) -> T {
        a.logaddexp::<I>(b)
    }
}
impl<T: Real> Binary<Float, T> for Atan2 {
    const SCALARS: ScalarMasks = NEITHER;
    #[inline(always)]
    fn eval<I: Isa>(y: T, x: T) -> T {
        y.atan2::<I>(x)
    }
}
