//! Error function: a polynomial near zero, one minus the exponential of another beyond. And gelu, x times the normal distribution's
//! function, whose error counts in proportion to x alone: one polynomial serves, in a third of the time.

use super::{abs, exp::exp_near, signed};
use crate::exec::isa::{Isa, fma32};

#[inline(always)]
pub fn erf<I: Isa>(x: f32) -> f32 {
    let t = abs(x);
    let s = x * x;
    let r = fma32::<I>(-1.728_534_7e-5, t, 3.831_971_3e-4);
    let u = fma32::<I>(-3.883_964_4e-3, t, 2.425_462_2e-2);
    let r = fma32::<I>(r, s, u);
    let r = poly!(fma32 I t; r, -1.067_778_8e-1, -6.348_467e-1, -1.287_175_1e-1);
    let r = fma32::<I>(r, t, -t);
    let far = signed(1.0 - exp_near::<I>(r), x);
    let far = if t > 4.0 { signed(1.0, x) } else { far };
    let p = poly!(fma32 I s; -5.967_617e-4, 4.991_194_3e-3, -2.676_813_4e-2, 1.128_199_3e-1, -3.761_253_4e-1, 1.283_791_7e-1);
    let near = fma32::<I>(p, x, x);
    let y = if t > 0.927_734_4 { far } else { near };
    if x.is_nan() { x } else { y }
}
#[inline(always)]
pub fn gelu<I: Isa>(x: f32) -> f32 {
    /// Beyond, the distribution's function is 0 or 1 to 24 bits.
    const FAR: f32 = 5.3;
    let s = x * x;
    // in a variable that runs from -1 to 1, where the terms do not cancel
    let p = poly!(fma32 I fma32::<I>(s, 2.0 / (FAR * FAR), -1.0);
        2.836_241_6e-4, -7.645_635e-4, 7.320_987e-4, -1.095_954_6e-3, 3.134_904_7e-3, -5.849_542_6e-3, 8.828_185_5e-3, -1.318_547_8e-2,
        1.892_583e-2, -2.529_83e-2, 3.207_952e-2, -3.958_893_2e-2, 4.926_416_3e-2, -6.651_851e-2, 1.333_925_6e-1);
    let far = if x > 0.0 { 1.0 } else { 0.0 };
    x * (if s < FAR * FAR { fma32::<I>(x, p, 0.5) } else { far })
}
