//! Error functions: four ranges of |x|, with a quotient of polynomials in each, whose coefficients
//! are selected by range (after fdlibm).

use super::{abs, signed};
use crate::kernel::math::basic::{GELU_GATE, double};
use crate::simd::{Isa, fma64};

/// erf(1), to 24 bits.
const ERF_1: f64 = 0.845_062_911_510_467_5;

/// A polynomial by Horner's rule from the highest power down, with coefficients selected by range.
/// Written out, since a loop over a table would keep LLVM from vectorising the loop around it.
macro_rules! poly_by_range {
    ($I:ident $a:ident $s:ident; $first:expr $(, $next:expr)* $(,)?) => {{
        let p = pick($a, $first);
        $(let p = fma64::<$I>(p, $s, pick($a, $next));)*
        p
    }};
}
/// The coefficient for the range of a: below 0.84375, 1.25, 1 / 0.35, or 28.
#[inline(always)]
fn pick(a: f64, c: [f64; 4]) -> f64 {
    let far = if a < 1.0 / 0.35 { c[2] } else { c[3] };
    let beyond = if a < 1.25 { c[1] } else { far };
    if a < 0.84375 { c[0] } else { beyond }
}

/// a^2 as a sum of two: the square of the leading bits is exact.
#[inline(always)]
fn square(a: f64) -> (f64, f64) {
    let leading = f64::from_bits(a.to_bits() & !0xffff_ffff);
    (leading * leading, (a - leading) * (a + leading))
}
/// The quotient of a range; in the last two also `exp(-a^2 + ..) / a`, which is erfc(a).
struct RangeQuotient {
    quotient: f64,
    tail: f64,
}

/// Takes a, and its square as a sum of two.
#[inline(always)]
fn parts<I: Isa>(a: f64, square: (f64, f64)) -> RangeQuotient {
    let inverse = 1.0 / (a * a);
    let s = if a < 1.25 { a - 1.0 } else { inverse };
    let s = if a < 0.84375 { a * a } else { s };
    let p = poly_by_range!(I a s;
        [0.0, 0.0, -9.814_329_344_169_145, 0.0],
        [0.0, -0.002_166_375_594_868_791, -81.287_435_506_306_6, -483.519_191_608_651_4],
        [0.0, 0.035_478_304_325_618_236, -184.605_092_906_711_04, -1_025.095_131_611_077_2],
        [-2.376_301_665_665_016_3e-5, -0.110_894_694_282_396_68, -162.396_669_462_573_47, -637.566_443_368_389_6],
        [-0.005_770_270_296_489_442, 0.318_346_619_901_161_75, -62.375_332_450_326_006, -160.636_384_855_821_92],
        [-0.028_481_749_575_598_51, -0.372_207_876_035_701_3, -10.558_626_225_323_291, -17.757_954_917_754_752],
        [-0.325_042_107_247_001_5, 0.414_856_118_683_748_33, -0.693_858_572_707_181_8, -0.799_283_237_680_523],
        [0.128_379_167_095_512_56, -0.002_362_118_560_752_659_4, -0.009_864_944_034_847_148, -0.009_864_942_924_700_1],
    );
    let q = poly_by_range!(I a s;
        [0.0, 0.0, -0.060_424_415_214_858_1, 0.0],
        [0.0, 0.0, 6.570_249_770_319_282, -22.440_952_446_585_82],
        [0.0, 0.011_984_499_846_799_107, 108.635_005_541_779_44, 474.528_541_206_955_37],
        [-3.960_228_278_775_368e-6, 0.013_637_083_912_029_05, 429.008_140_027_567_83, 2_553.050_406_433_164_4],
        [0.000_132_494_738_004_321_64, 0.126_171_219_808_761_64, 645.387_271_733_267_9, 3_199.858_219_508_595_5],
        [0.005_081_306_281_875_766, 0.071_828_654_414_196_27, 434.565_877_475_229_23, 1_536.729_586_084_437],
        [0.065_022_249_988_767_3, 0.540_397_917_702_171, 137.657_754_143_519_04, 325.792_512_996_573_9],
        [0.397_917_223_959_155_35, 0.106_420_880_400_844_23, 19.651_271_667_439_257, 30.338_060_743_482_46],
        [1.0, 1.0, 1.0, 1.0],
    );
    let quotient = p / q;
    let main = -square.0 - 0.5625;
    let rest = quotient - square.1;
    let sum = main + rest;
    RangeQuotient {
        quotient,
        tail: super::exp::exp_pair::<I>(sum, (main - sum) + rest) / a,
    }
}
/// The magnitude of x, clamped to where results no longer change.
#[inline(always)]
fn clamped(x: f64) -> f64 {
    let a = abs(x);
    if a > 28.0 { 28.0 } else { a }
}
#[inline(always)]
pub fn erf<I: Isa>(x: f64) -> f64 {
    let a = clamped(x);
    let RangeQuotient { quotient, tail } = parts::<I>(a, square(a));
    let y = if a < 1.25 {
        ERF_1 + quotient
    } else {
        1.0 - tail
    };
    if a < 0.84375 {
        x + x * quotient
    } else {
        signed(y, x)
    }
}
#[inline(always)]
pub fn erfc<I: Isa>(x: f64) -> f64 {
    let a = clamped(x);
    erfc_of::<I>(x, a, square(a))
}
/// erfc(x), given its clamped magnitude and the square of that.
#[inline(always)]
fn erfc_of<I: Isa>(x: f64, a: f64, square: (f64, f64)) -> f64 {
    let RangeQuotient { quotient, tail } = parts::<I>(a, square);
    let positive = x > 0.0;
    let near = if x < 0.25 {
        1.0 - (x + x * quotient)
    } else {
        0.5 - ((x - 0.5) + x * quotient)
    };
    let middle = if positive {
        (1.0 - ERF_1) - quotient
    } else {
        1.0 + (ERF_1 + quotient)
    };
    let far = if positive { tail } else { 2.0 - tail };
    let y = if a < 1.25 { middle } else { far };
    if a < 0.84375 { near } else { y }
}
/// The exponential is always part of it.
#[inline(always)]
pub fn needs_slow_gelu(_: f64) -> bool {
    false
}
/// The normal distribution function, x clamped to where it no longer changes, and half the square
/// of that.
#[inline(always)]
fn normal<I: Isa>(x: f64) -> (f64, f64, (f64, f64)) {
    /// Below 28 sqrt(2).
    const LIMIT: f64 = 39.5;
    let a = if abs(x) > LIMIT { LIMIT } else { abs(x) };
    let (high, low) = square(a);
    let half = (0.5 * high, 0.5 * low);
    let z = a * core::f64::consts::FRAC_1_SQRT_2;
    (
        0.5 * erfc_of::<I>(signed(z, -x), z, half),
        signed(a, x),
        half,
    )
}
#[inline(always)]
pub fn gelu<I: Isa>(x: f64) -> f64 {
    let (distribution, bounded, _) = normal::<I>(x);
    // no infinity times zero
    distribution * if x < bounded { bounded } else { x }
}
#[inline(always)]
pub fn gelu_slope<I: Isa>(x: f64) -> f64 {
    const DENSITY: f64 = 0.5 * core::f64::consts::FRAC_2_SQRT_PI * core::f64::consts::FRAC_1_SQRT_2;
    let (distribution, bounded, half) = normal::<I>(x);
    let sum = -half.0 - half.1;
    let density = DENSITY * super::exp::exp_pair::<I>(sum, (-half.0 - sum) - half.1);
    distribution + bounded * density
}
#[inline(always)]
fn gate<I: Isa>(x: f64) -> f64 {
    let [linear, cubic] = GELU_GATE;
    x * fma64::<I>(x * x, cubic, linear)
}
#[inline(always)]
pub fn gelu_tanh<I: Isa>(x: f64) -> f64 {
    double::times_sigmoid::<I>(x, gate::<I>(x))
}
#[inline(always)]
pub fn gelu_tanh_fast<I: Isa>(x: f64) -> f64 {
    let v = gate::<I>(x);
    x * double::sigmoid_fast::<I>(if v > double::EXP_NORMAL {
        double::EXP_NORMAL
    } else {
        v
    })
}
/// Below, the sigmoid may not be a normal number.
#[inline(always)]
#[expect(clippy::neg_cmp_op_on_partial_ord, reason = "NaN needs it too")]
pub fn needs_slow_gelu_tanh(x: f64) -> bool {
    !(x >= -20.0)
}
