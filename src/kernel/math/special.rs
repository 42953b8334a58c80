//! Special functions of one float64, for which no polynomial serves all arguments: plain code that
//! chooses by the argument. Coefficients were computed with 60 digits.

use core::f64::consts::{FRAC_2_SQRT_PI, PI};

/// The polynomial with these coefficients, the constant one first.
fn polynomial(x: f64, coefficients: &[f64]) -> f64 {
    coefficients.iter().rev().fold(0.0, |y, c| y * x + c)
}

/// The logarithm of the magnitude of the gamma function.
pub fn lgamma(x: f64) -> f64 {
    libm::lgamma(x)
}

/// The derivatives of digamma at its positive root, divided by factorials.
const DIGAMMA_AT_ROOT: [f64; 26] = [
    0.9676722454476212,
    -0.4427631689835921,
    0.258499760955651,
    -0.16394270544240652,
    0.10782405069126237,
    -0.07219956125645471,
    0.04880428816414311,
    -0.03316112647484736,
    0.022597648232218104,
    -0.01542476590494896,
    0.010538791616612175,
    -0.007204534386356869,
    0.004926781395729853,
    -0.003369801655439328,
    0.002305126326734928,
    -0.0015769367714301972,
    0.0010788252019162967,
    -0.0007380709389960052,
    0.000504953265834602,
    -0.0003454680251063077,
    0.00023635601564027053,
    -0.00016170622091974803,
    0.0001106337276874741,
    -7.569179582195066e-05,
    5.178575795222081e-05,
    -3.5430070947659604e-05,
];
/// That root, and what it exceeds the float64 by.
const ROOT: (f64, f64) = (1.461_632_144_968_362_2, 9.549_995_429_965_697e-17);
/// The coefficients of the asymptotic series, `B / 2k`, in powers of `1 / x^2`.
const DIGAMMA_FAR: [f64; 7] = [
    1.0 / 12.0,
    -1.0 / 120.0,
    1.0 / 252.0,
    -1.0 / 240.0,
    1.0 / 132.0,
    -691.0 / 32_760.0,
    1.0 / 12.0,
];

/// The derivative of [`lgamma`].
pub fn digamma(x: f64) -> f64 {
    if x == 0.0 {
        return -1.0 / x;
    }
    if x < 0.0 {
        let rest = x - libm::rint(x);
        return match rest == 0.0 {
            true => f64::NAN,
            false => digamma(1.0 - x) - PI / libm::tan(PI * rest),
        };
    }
    let d = (x - ROOT.0) - ROOT.1;
    if libm::fabs(d) < 0.35 {
        return d * polynomial(d, &DIGAMMA_AT_ROOT);
    }
    let (mut y, mut sum) = (x, 0.0);
    while y < 10.0 {
        sum += 1.0 / y;
        y += 1.0;
    }
    let inverse = 1.0 / y;
    let square = inverse * inverse;
    libm::log(y) - (0.5 * inverse + square * polynomial(square, &DIGAMMA_FAR)) - sum
}

/// The inverse of the error function to seven digits, for `w = -log(1 - x^2)` below 5 and above, by
/// `w - 5/2` and `sqrt(w) - 3` (Giles 2010).
const ERFINV_NEAR: [f64; 9] = [
    1.501_409_41,
    0.246_640_727,
    -0.004_177_681_640,
    -0.001_253_725_03,
    0.000_218_580_87,
    -4.391_506_54e-6,
    -3.523_387_7e-6,
    3.432_739_39e-7,
    2.810_226_36e-8,
];
const ERFINV_FAR: [f64; 9] = [
    2.832_976_82,
    1.001_674_06,
    0.009_438_870_47,
    -0.007_622_461_3,
    0.005_739_507_73,
    -0.003_676_843_74,
    0.001_349_343_22,
    0.000_100_950_558,
    -0.000_200_214_257,
];

/// The inverse of the error function.
pub fn erfinv(x: f64) -> f64 {
    let size = libm::fabs(x);
    if size == 1.0 || size == 0.0 {
        return x / (1.0 - size);
    }
    let rest = 1.0 - size;
    let w = -libm::log(rest * (1.0 + size));
    let start = match w {
        w if w < 5.0 => size * polynomial(w - 2.5, &ERFINV_NEAR),
        w if w < 16.0 => size * polynomial(libm::sqrt(w) - 3.0, &ERFINV_FAR),
        // erfc(y) is about exp(-y^2) / (y sqrt(pi))
        _ => {
            let square = -libm::log(rest) - LN_SQRT_PI;
            let once = libm::sqrt(square - libm::log(libm::sqrt(square)));
            halley(libm::sqrt(square - libm::log(once)), size, rest)
        }
    };
    libm::copysign(halley(start, size, rest), x)
}

/// `log(pi) / 2`.
const LN_SQRT_PI: f64 = 0.572_364_942_924_700_1;

/// A step of Halley's method towards `erf(y) = size`, with the difference that does not cancel.
fn halley(y: f64, size: f64, rest: f64) -> f64 {
    let miss = match size < 0.5 {
        true => size - libm::erf(y),
        false => libm::erfc(y) - rest,
    };
    let ratio = miss / (FRAC_2_SQRT_PI * libm::exp(-y * y));
    y + ratio / (1.0 - y * ratio)
}

/// The power series of I0 in `x^2 / 4`, for |x| up to 8.
const I0_SERIES: [f64; 26] = [
    1.0,
    1.0,
    0.25,
    0.027777777777777776,
    0.001736111111111111,
    6.944444444444444e-05,
    1.9290123456790124e-06,
    3.936759889140842e-08,
    6.151187326782565e-10,
    7.594058428126624e-12,
    7.594058428126623e-14,
    6.276081345559193e-16,
    4.358389823304995e-18,
    2.5789288895295828e-20,
    1.3157800456783586e-22,
    5.8479113141260385e-25,
    2.2843403570804838e-27,
    7.904291893012054e-30,
    2.4395962632753253e-32,
    6.757884385804225e-35,
    1.6894710964510564e-37,
    3.8310002187098785e-40,
    7.915289708078262e-43,
    1.4962740468957016e-45,
    2.5976979980828152e-48,
    4.156316796932504e-51,
];
/// That of `I1 / (x / 2)`.
const I1_SERIES: [f64; 26] = [
    1.0,
    0.5,
    0.08333333333333333,
    0.006944444444444444,
    0.00034722222222222224,
    1.1574074074074073e-05,
    2.755731922398589e-07,
    4.920949861426052e-09,
    6.834652585313961e-11,
    7.594058428126623e-13,
    6.903689480115112e-15,
    5.230067787965994e-17,
    3.352607556388458e-19,
    1.842092063949702e-21,
    8.771866971189057e-24,
    3.654944571328774e-26,
    1.3437296218120491e-28,
    4.391273273895586e-31,
    1.2839980333028028e-33,
    3.3789421929021126e-36,
    8.045100459290744e-39,
    1.7413637357772174e-41,
    3.4414303078601135e-44,
    6.234475195398757e-47,
    1.0390791992331261e-49,
    1.5985833834355786e-52,
];
/// `sqrt(x) exp(-x) I0(x)` in powers of `8 / x`, for x from 8.
const I0_FAR: [f64; 21] = [
    0.39894228040143265,
    0.006233473131316845,
    0.0004382910729886693,
    5.706953624193869e-05,
    1.0911361925997968e-05,
    2.9954073167756666e-06,
    -2.0761131744741695e-06,
    2.692090971660618e-05,
    -0.00017542495495906731,
    0.0008697738350189672,
    -0.0032864015829725595,
    0.009569598859475467,
    -0.021569703319424788,
    0.03761054257802186,
    -0.05042780494350167,
    0.051351441295637665,
    -0.03889446336018177,
    0.02117824290872069,
    -0.007822911623576222,
    0.0017535872402323388,
    -0.000180000285662123,
];
/// `sqrt(x) exp(-x) I1(x)`, likewise.
const I1_FAR: [f64; 21] = [
    0.39894228040143276,
    -0.018700419393866023,
    -0.0007304851253729175,
    -7.989723393054468e-05,
    -1.4031191210208183e-05,
    -3.631095418182544e-06,
    2.180825514709792e-06,
    -2.9259705002228866e-05,
    0.0001899137004109791,
    -0.00093859205890687,
    0.003534784633819894,
    -0.010259355217376987,
    0.023050717196650677,
    -0.04006900719598391,
    0.0535652181683476,
    -0.05439280296031644,
    0.04108839518462735,
    -0.022316857723123234,
    0.00822419269832574,
    -0.0018395148741823378,
    0.00018843757571172153,
];

/// The modified Bessel function of order 0 or 1 of a magnitude, times `exp(-x)` if it is scaled.
fn bessel(x: f64, order: usize, scaled: bool) -> f64 {
    if x < 8.0 {
        let half = 0.5 * x;
        let square = half * half;
        let y = match order {
            0 => polynomial(square, &I0_SERIES),
            _ => half * polynomial(square, &I1_SERIES),
        };
        return if scaled { y * libm::exp(-x) } else { y };
    }
    let tail = polynomial(8.0 / x, if order == 0 { &I0_FAR } else { &I1_FAR }) / libm::sqrt(x);
    if scaled {
        return tail;
    }
    // in two steps, so that only the result overflows
    let root = libm::exp(0.5 * x);
    if root.is_infinite() {
        root
    } else {
        tail * root * root
    }
}
/// The modified Bessel function of the first kind of order 0.
pub fn i0(x: f64) -> f64 {
    bessel(libm::fabs(x), 0, false)
}
/// [`i0`] times `exp(-|x|)`.
pub fn i0e(x: f64) -> f64 {
    bessel(libm::fabs(x), 0, true)
}
/// The modified Bessel function of the first kind of order 1.
pub fn i1(x: f64) -> f64 {
    libm::copysign(bessel(libm::fabs(x), 1, false), x)
}
/// [`i1`] times `exp(-|x|)`.
pub fn i1e(x: f64) -> f64 {
    libm::copysign(bessel(libm::fabs(x), 1, true), x)
}
