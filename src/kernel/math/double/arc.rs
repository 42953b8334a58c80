//! Inverse trigonometric functions, all as the angle of a point in the first quadrant.

use super::{abs, signed};
use crate::kernel::math::Math;
use crate::simd::{Isa, fma64};
use core::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

const PI_LO: f64 = 1.224_646_799_147_353_2e-16;

/// The angle of (x, y) with neither negative: the nearest of atan(0), atan(1/2), atan(1),
/// atan(3/2), atan(inf) plus a polynomial in the tangent of the remainder. `x + 3 / 2 y` and `y + 3
/// / 2 x` must be finite if x and y are of similar size.
#[inline(always)]
fn angle<I: Isa>(y: f64, x: f64) -> f64 {
    // The last range, which NaN falls into too.
    let (num, den, hi, lo) = (-x, y, FRAC_PI_2, 6.123_233_995_736_766e-17);
    let near = y < 2.4375 * x;
    let (num, den) = if near {
        (fma64::<I>(x, -1.5, y), fma64::<I>(y, 1.5, x))
    } else {
        (num, den)
    };
    let (hi, lo) = if near {
        (9.827_937_232_473_29e-1, 1.390_331_103_123_1e-17)
    } else {
        (hi, lo)
    };
    let near = y < 1.1875 * x;
    let (num, den) = if near { (y - x, y + x) } else { (num, den) };
    let (hi, lo) = if near {
        (FRAC_PI_4, 3.061_616_997_868_383e-17)
    } else {
        (hi, lo)
    };
    let near = y < 0.6875 * x;
    let (num, den) = if near {
        (2.0 * y - x, 2.0 * x + y)
    } else {
        (num, den)
    };
    let (hi, lo) = if near {
        (4.636_476_090_008_061e-1, 2.269_877_745_296_168_7e-17)
    } else {
        (hi, lo)
    };
    let near = y < 0.4375 * x;
    let (num, den) = if near { (y, x) } else { (num, den) };
    let (hi, lo) = if near { (0.0, 0.0) } else { (hi, lo) };
    let q = num / den;
    let z = q * q;
    let p = poly!(fma64 I z;
        1.628_582_011_536_578_2e-2, -3.653_157_274_421_692e-2, 4.976_877_994_615_932e-2, -5.833_570_133_790_573_5e-2,
        6.661_073_137_387_531e-2, -7.691_876_205_044_83e-2, 9.090_887_133_436_507e-2, -1.111_111_040_546_235_6e-1,
        1.428_571_427_250_346_6e-1, -1.999_999_999_987_648_2e-1, 3.333_333_333_333_293e-1);
    hi - ((q * (p * z) - lo) - q)
}
#[inline(always)]
pub fn atan<I: Isa>(x: f64) -> f64 {
    signed(angle::<I>(abs(x), 1.0), x)
}
#[inline(always)]
pub fn asin<I: Isa>(x: f64) -> f64 {
    signed(
        angle::<I>(abs(x), Math::sqrt::<I>((1.0 - x) * (1.0 + x))),
        x,
    )
}
#[inline(always)]
pub fn acos<I: Isa>(x: f64) -> f64 {
    let r = angle::<I>(Math::sqrt::<I>((1.0 - x) * (1.0 + x)), abs(x));
    if x < 0.0 { PI - (r - PI_LO) } else { r }
}
#[inline(always)]
pub fn atan2<I: Isa>(y: f64, x: f64) -> f64 {
    let (ay, ax) = (abs(y), abs(x));
    let larger = if ay > ax { ay } else { ax };
    // Scaled away from the ends of the range; the angle of two infinities is that of (1, 1), and
    // that of two zeros is zero.
    let scale = if larger > 1e300 { 1e-10 } else { 1.0 };
    let scale = if larger < 1e-280 { 1e200 } else { scale };
    let both = (ay == ax) & (ax == f64::INFINITY);
    let (sy, sx) = if both {
        (1.0, 1.0)
    } else {
        (ay * scale, ax * scale)
    };
    let sx = if larger == 0.0 { 1.0 } else { sx };
    let r = angle::<I>(sy, sx);
    let r = if x.is_sign_negative() {
        PI - (r - PI_LO)
    } else {
        r
    };
    let r = signed(r, y);
    if x.is_nan() | y.is_nan() { f64::NAN } else { r }
}
