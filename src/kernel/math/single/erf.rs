//! Error function: a polynomial near zero; beyond, one minus the fourth power of another, which
//! costs half of an exponential. And gelu, x times the normal distribution function, which is such a
//! power too, and its derivative, by one polynomial. In the tail below -4, they are multiples of the
//! density.

use super::{
    abs,
    exp::{LOWER, exp_fast, exp_raised},
    signed,
};
use crate::kernel::math::basic::GELU_GATE;
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
/// Where the tail begins.
const TAIL: f32 = -4.0;
#[inline(always)]
pub fn needs_slow_gelu(x: f32) -> bool {
    x < TAIL
}
/// Below this, results in the tail are zero.
const ZERO: f32 = -15.0;
/// For x in the tail: x, or another number of the tail where results are zero, since products that
/// underflow are slow; `exp(-x^2 / 2)` as [`exp_raised`] gives it; and the multiple of it that is
/// -gelu(x).
#[inline(always)]
fn tail<I: Isa>(x: f32) -> (f32, f32, f32) {
    let x = if x < ZERO { TAIL } else { x };
    let square = x * x;
    // what the rounding took from the square
    let lost = if I::FMA {
        fma32::<I>(x, x, -square)
    } else {
        // by that of the leading bits, which is exact
        let leading = f32::from_bits(x.to_bits() & !0xfff);
        (leading * leading - square) + (x - leading) * (x + leading)
    };
    let e = exp_raised::<I>(-0.5 * square);
    let e = fma32::<I>(-0.5 * lost, e, e);
    let p = poly!(fma32 I -1.0 / x;
        2.126_658_6, -3.357_745_4, 1.892_816_1, -8.501_974e-2, -3.927_637_5e-1, -2.466_978_7e-4, 3.989_464_4e-1);
    (x, e, p)
}
#[inline(always)]
pub fn gelu<I: Isa>(x: f32) -> f32 {
    let (_, e, p) = tail::<I>(x);
    if needs_slow_gelu(x) {
        if x < ZERO { -0.0 } else { -LOWER * (e * p) }
    } else {
        gelu_fast::<I>(x)
    }
}
#[inline(always)]
pub fn gelu_fast<I: Isa>(x: f32) -> f32 {
    /// Beyond this, the distribution function is 1 to 24 bits.
    const LIMIT: f32 = 5.6;
    let t = abs(x);
    let t = if t > LIMIT { LIMIT } else { t };
    // the fourth root of what the distribution function of t lacks to 1, from where its error at 0 and
    // that in proportion to what is left near -4 both are small
    let root = poly!(fma32 I 1.8125 - t;
        6.960_733_8e-9, 8.454_076e-8, -7.262_277e-8, -4.384_102e-6, -8.347_518e-6, 1.244_951_3e-4, 4.789_065_3e-4, -2.071_283_3e-3, -1.273_728_3e-2,
        1.865_793_8e-2, 2.387_043e-1, 4.323_901e-1);
    let square = root * root;
    let rest = square * square;
    x * (if x < 0.0 { rest } else { 1.0 - rest })
}
/// The derivative of gelu, whose absolute error counts outside the tail: where it is small, a sum
/// with 1 has cancelled.
#[inline(always)]
pub fn gelu_slope<I: Isa>(x: f32) -> f32 {
    /// 1 / sqrt(2 pi)
    const DENSITY: f32 = 0.398_942_3;
    let (bounded, e, p) = tail::<I>(x);
    let y = e * (DENSITY * bounded - p / bounded);
    if needs_slow_gelu(x) {
        if x < ZERO { 0.0 } else { LOWER * y }
    } else {
        gelu_slope_fast::<I>(x)
    }
}
#[inline(always)]
pub fn gelu_slope_fast<I: Isa>(x: f32) -> f32 {
    /// Beyond this, it is 1 to 24 bits.
    const LIMIT: f32 = 6.0;
    let s = x * x;
    let p = poly!(fma32 I fma32::<I>(s, 2.0 / (LIMIT * LIMIT), -1.0);
        2.771_561_7e-3, -6.890_419_4e-3, 1.886_321_2e-3, 1.630_211_6e-3, 1.603_096_5e-2, -3.296_747_8e-2, 3.140_511_7e-2, -3.633_763e-2, 5.444_337_4e-2,
        -6.575_416e-2, 6.686_605e-2, -6.431_142e-2, 5.869_456_8e-2, -5.093_632e-2, 4.455_547e-2, -4.236_553_2e-2, 4.605_772e-2, -5.934_281e-2, 1.178_977_64e-1);
    // NaN is near
    if x >= LIMIT {
        1.0
    } else {
        fma32::<I>(x, p, 0.5)
    }
}
/// Within this, exponentials of the gate of gelu's approximation by tanh are normal numbers.
const GATE_NORMAL: f32 = 9.9;
/// [`GELU_GATE`] of x, and what its rounding lost, which counts as an exponent.
#[inline(always)]
fn gate<I: Isa>(x: f32) -> (f32, f32) {
    let [linear, cubic] = GELU_GATE;
    if !I::FMA {
        let exact = x as f64 * (linear + x as f64 * x as f64 * cubic);
        return (exact as f32, (exact - exact as f32 as f64) as f32);
    }
    let square = x * x;
    let product = cubic as f32 * square;
    let factor = fma32::<I>(square, cubic as f32, linear as f32);
    let gate = x * factor;
    // what each rounding took from x (linear + cubic x^2)
    let of_square = fma32::<I>(x, x, -square);
    let of_product = fma32::<I>(cubic as f32, square, -product);
    let (larger, smaller) = match product > linear as f32 {
        true => (product, linear as f32),
        false => (linear as f32, product),
    };
    let of_sum = (larger - factor) + smaller;
    let of_constants = fma32::<I>(
        square,
        (cubic - cubic as f32 as f64) as f32,
        (linear - linear as f32 as f64) as f32,
    );
    let of_factor = of_sum + of_product + fma32::<I>(cubic as f32, of_square, of_constants);
    (gate, fma32::<I>(x, of_factor, fma32::<I>(x, factor, -gate)))
}
/// Where the sigmoid of the gate is not a normal number, it is the exponential.
#[inline(always)]
pub fn gelu_tanh<I: Isa>(x: f32) -> f32 {
    /// Results are zero below this, before the exponent is out of range.
    const ZERO: f32 = -11.0;
    let bounded = if x < ZERO { ZERO } else { x };
    let (gate, lost) = gate::<I>(bounded);
    let e = exp_raised::<I>(gate);
    let y = bounded * fma32::<I>(e, lost, e);
    if x < -GATE_NORMAL {
        if x < ZERO { -0.0 } else { LOWER * y }
    } else {
        gelu_tanh_fast::<I>(x)
    }
}
/// x divided by one plus the exponential of minus the gate.
#[inline(always)]
pub fn gelu_tanh_fast<I: Isa>(x: f32) -> f32 {
    // beyond, the sum is 1
    let (gate, lost) = gate::<I>(if x > GATE_NORMAL { GATE_NORMAL } else { x });
    let e = exp_fast::<I>(-gate);
    x / (1.0 + fma32::<I>(e, -lost, e))
}
#[inline(always)]
pub fn needs_slow_gelu_tanh(x: f32) -> bool {
    x < -GATE_NORMAL
}
