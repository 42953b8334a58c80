//! Error function: a polynomial near zero; beyond, one minus the fourth power of another, which
//! costs half of an exponential. And gelu, x times the normal distribution function, whose error
//! counts only in proportion to x: one polynomial suffices, as it does for the derivative.

use super::{abs, signed};
use crate::simd::{Isa, fma32};

#[inline(always)]
pub fn erf<I: Isa>(x: f32) -> f32 {
    /// From here on the result is 1 to 24 bits.
    const ONE: f32 = 3.92;
    let t = abs(x);
    let clamped = if t > ONE { ONE } else { t };
    // the fourth root of 1 - erf(t)
    let root = poly!(fma32 I clamped;
        -2.277_819_3e-5, 1.854_132e-4, 7.290_494e-4, -1.258_516_6e-2, 4.345_558e-2, -1.699_760_4e-2, -9.374_672e-2, -2.933_865e-1, 1.002_138_3);
    let square = root * root;
    let far = signed(1.0 - square * square, x);
    let p = poly!(fma32 I x * x; -5.631_422_4e-4, 4.917_551_3e-3, -2.671_131_1e-2, 1.128_018e-1, -3.761_232_5e-1, 1.283_791_2e-1);
    let near = fma32::<I>(p, x, x);
    // NaN is near, too
    if t > 1.0 { far } else { near }
}
#[inline(always)]
pub fn gelu<I: Isa>(x: f32) -> f32 {
    /// Beyond this, the distribution function is 0 or 1 to 24 bits.
    const LIMIT: f32 = 5.3;
    let s = x * x;
    // in a variable from -1 to 1, so that the terms don't cancel
    let p = poly!(fma32 I fma32::<I>(s, 2.0 / (LIMIT * LIMIT), -1.0);
        2.836_241_6e-4, -7.645_635e-4, 7.320_987e-4, -1.095_954_6e-3, 3.134_904_7e-3, -5.849_542_6e-3, 8.828_185_5e-3, -1.318_547_8e-2,
        1.892_583e-2, -2.529_83e-2, 3.207_952e-2, -3.958_893_2e-2, 4.926_416_3e-2, -6.651_851e-2, 1.333_925_6e-1);
    let far = if x > 0.0 { 1.0 } else { 0.0 };
    x * (if s < LIMIT * LIMIT {
        fma32::<I>(x, p, 0.5)
    } else {
        far
    })
}
/// The derivative of gelu, whose absolute error counts: where it is small, a sum with 1 has
/// cancelled.
#[inline(always)]
pub fn gelu_slope<I: Isa>(x: f32) -> f32 {
    /// Beyond this, it is 0 or 1 to 24 bits.
    const LIMIT: f32 = 6.0;
    let s = x * x;
    let p = poly!(fma32 I fma32::<I>(s, 2.0 / (LIMIT * LIMIT), -1.0);
        2.771_561_7e-3, -6.890_419_4e-3, 1.886_321_2e-3, 1.630_211_6e-3, 1.603_096_5e-2, -3.296_747_8e-2, 3.140_511_7e-2, -3.633_763e-2, 5.444_337_4e-2,
        -6.575_416e-2, 6.686_605e-2, -6.431_142e-2, 5.869_456_8e-2, -5.093_632e-2, 4.455_547e-2, -4.236_553_2e-2, 4.605_772e-2, -5.934_281e-2, 1.178_977_64e-1);
    let far = if x > 0.0 { 1.0 } else { 0.0 };
    // NaN is near, too
    if s >= LIMIT * LIMIT {
        far
    } else {
        fma32::<I>(x, p, 0.5)
    }
}
