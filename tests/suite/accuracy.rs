//! The documented accuracy of every elementary function, on the instruction set that `FLEX_ISA` or
//! the CPU chooses: float32 against float64 (libm), float64 against tables of higher precision
//! (scripts/accuracy_reference.py), both also at the ends of their range.

use crate::common::ulp::{ulps32, ulps64};
use crate::common::{Rng, fewer};
use flex::kernel::math::{Division, Math, Real};
use flex::simd::{Isa, Kernel, call};

/// Whether the chosen set fuses multiply and add: the documented figures depend on it.
fn has_fma() -> bool {
    struct Fma;
    impl Kernel for Fma {
        type Out = bool;
        #[inline(always)]
        fn run<I: Isa>(self) -> bool {
            I::FMA
        }
    }
    call(Fma)
}

/// A loop over a function of one and of two arguments, on the chosen instruction set.
macro_rules! unary {
    ($T:ty, $trait:ident::$name:ident) => {{
        struct Map<'a>(&'a [$T], &'a mut [$T]);
        impl Kernel for Map<'_> {
            type Out = ();
            #[inline(always)]
            fn run<I: Isa>(self) {
                self.1
                    .iter_mut()
                    .zip(self.0)
                    .for_each(|(y, x)| *y = $trait::$name::<I>(*x));
            }
        }
        (|x: &[$T], y: &mut [$T]| call(Map(x, y))) as fn(&[$T], &mut [$T])
    }};
}
macro_rules! binary {
    ($T:ty, $trait:ident::$name:ident) => {{
        struct Map<'a>(&'a [$T], &'a [$T], &'a mut [$T]);
        impl Kernel for Map<'_> {
            type Out = ();
            #[inline(always)]
            fn run<I: Isa>(self) {
                self.2
                    .iter_mut()
                    .zip(self.0)
                    .zip(self.1)
                    .for_each(|((z, x), y)| *z = $trait::$name::<I>(*x, *y));
            }
        }
        (|x: &[$T], y: &[$T], z: &mut [$T]| call(Map(x, y, z))) as fn(&[$T], &[$T], &mut [$T])
    }};
}

const SPECIAL: [f64; 32] = [
    0.0,
    -0.0,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    1.0,
    -1.0,
    0.5,
    -0.5,
    2.0,
    -2.0,
    3.0,
    -3.0,
    1e-3,
    -1e-3,
    0.1,
    100.0,
    -100.0,
    1e5,
    -1e5,
    1e20,
    -1e20,
    1e38,
    -1e38,
    1e-38,
    -1e-38,
    1e-40,
    -1e-40,
    1.5,
    -1.5,
    3.5,
    -2.5,
];

#[derive(Default)]
struct Worst(f64, String);
impl Worst {
    fn add(&mut self, ulps: f64, case: impl FnOnce() -> String) {
        if ulps > self.0 {
            *self = Worst(ulps, case());
        }
    }
}
fn report(failures: Vec<String>) {
    assert!(
        failures.is_empty(),
        "beyond the documented accuracy:\n{}",
        failures.join("\n")
    );
}
fn hold(failures: &mut Vec<String>, name: &str, worst: Worst, limit: f64) {
    println!("{name:14} {:.3} of {limit} ulp, {}", worst.0, worst.1);
    if worst.0 > limit {
        failures.push(format!(
            "{name}: {:.3} ulp, {limit} allowed, {}",
            worst.0, worst.1
        ));
    }
}

/// libm's, which gives values for arguments below 1 too.
fn acosh(x: f64) -> f64 {
    if x < 1.0 { f64::NAN } else { libm::acosh(x) }
}

/// Every 1021st bit pattern, a million arguments in ordinary ranges, and the special ones; fewer
/// ([`fewer`]) where that is asked for.
fn arguments32() -> Vec<f32> {
    let mut random = Rng(1);
    let patterns = (0..=u32::MAX).step_by(1021 * fewer()).map(f32::from_bits);
    let ordinary = (0..1_000_000 / fewer())
        .map(|k| random.uniform(-1.0, 1.0) as f32 * [1.0, 4.0, 20.0, 110.0][k % 4]);
    patterns
        .chain(ordinary)
        .chain(SPECIAL.map(|x| x as f32))
        .collect()
}

#[test]
fn unary_float32_is_within_its_bound() {
    let x = arguments32();
    let mut y = vec![0f32; x.len()];
    let mut failures = Vec::new();
    let by_fma = |with: f64, without: f64| if has_fma() { with } else { without };
    macro_rules! check {
        ($($trait:ident::$name:ident $limit:expr, $reference:expr;)*) => { $(
            unary!(f32, $trait::$name)(&x, &mut y);
            let mut worst = Worst::default();
            let reference: fn(f64) -> f64 = $reference;
            for (x, y) in x.iter().zip(&y) {
                worst.add(ulps32(*y, reference(*x as f64)), || format!("{}({x:e}) = {y:e}", stringify!($name)));
            }
            hold(&mut failures, stringify!($name), worst, $limit);
        )* };
    }
    check! {
        Math::sqrt 0.5, libm::sqrt; Math::reciprocal 0.5, |x| 1.0 / x;
        Math::exp by_fma(1.0, 2.0), libm::exp; Math::log by_fma(1.0, 2.0), libm::log;
        Math::tanh by_fma(2.5, 4.0), libm::tanh; Math::sin by_fma(2.5, 4.0), libm::sin; Math::cos by_fma(2.5, 4.0), libm::cos;
        Real::erf by_fma(2.5, 4.0), libm::erf; Math::exp2 4.0, libm::exp2; Math::expm1 4.0, libm::expm1; Math::log1p 4.0, libm::log1p;
        Math::log2 4.0, libm::log2; Math::log10 4.0, libm::log10; Math::tan 4.0, libm::tan; Math::asin 4.0, libm::asin; Math::acos 4.0, libm::acos;
        Math::atan 4.0, libm::atan; Math::sinh 4.0, libm::sinh; Math::cosh 4.0, libm::cosh; Math::asinh 4.0, libm::asinh;
        Math::acosh 4.0, acosh; Math::atanh 4.0, libm::atanh; Real::erfc 4.0, libm::erfc; Real::rsqrt 4.0, |x| 1.0 / libm::sqrt(x);
        Real::sigmoid 4.0, |x| 1.0 / (1.0 + libm::exp(-x));
        Real::floor 0.0, libm::floor; Real::ceil 0.0, libm::ceil; Real::trunc 0.0, libm::trunc; Real::round 0.0, libm::rint; Real::abs 0.0, libm::fabs;
    }
    report(failures);
}

#[test]
fn sines_and_cosines_are_at_most_one() {
    // the extremes lie at multiples of half pi
    let near =
        |k: i32| (-64..=64).map(move |i| k as f64 * core::f64::consts::FRAC_PI_2 + i as f64 * 1e-6);
    let x64: Vec<f64> = (-2000..2000).flat_map(near).collect();
    let x32: Vec<f32> = x64.iter().map(|x| *x as f32).collect();
    let (mut y32, mut y64) = (vec![0.0; x32.len()], vec![0.0; x64.len()]);
    for f in [unary!(f32, Math::sin), unary!(f32, Math::cos)] {
        f(&x32, &mut y32);
        assert!(y32.iter().all(|y| y.abs() <= 1.0));
    }
    for f in [unary!(f64, Math::sin), unary!(f64, Math::cos)] {
        f(&x64, &mut y64);
        assert!(y64.iter().all(|y| y.abs() <= 1.0));
    }
}
#[test]
fn fast_paths_match_the_functions_where_they_apply() {
    let same = |a: f32, b: f32| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
    macro_rules! check {
        ($($fast:ident $slow:ident $trait:ident::$whole:ident;)*) => { $(
            let x: Vec<f32> = arguments32().into_iter().filter(|x| !x.$slow()).collect();
            let (mut fast, mut whole) = (vec![0f32; x.len()], vec![0f32; x.len()]);
            unary!(f32, Real::$fast)(&x, &mut fast);
            unary!(f32, $trait::$whole)(&x, &mut whole);
            assert!(fast.iter().zip(&whole).all(|(a, b)| same(*a, *b)), stringify!($whole));
            let x: Vec<f64> = x.into_iter().map(|x| x as f64 * 1.000_000_012_345).filter(|x| !x.$slow()).collect();
            let (mut fast, mut whole) = (vec![0f64; x.len()], vec![0f64; x.len()]);
            unary!(f64, Real::$fast)(&x, &mut fast);
            unary!(f64, $trait::$whole)(&x, &mut whole);
            assert!(fast.iter().zip(&whole).all(|(a, b)| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()), stringify!($whole));
        )* };
    }
    check! {
        sin_fast needs_slow_trig Math::sin; cos_fast needs_slow_trig Math::cos; tan_fast needs_slow_trig Math::tan; exp_fast needs_slow_exp Math::exp;
        sigmoid_fast needs_slow_exp Real::sigmoid; silu_fast needs_slow_exp Real::silu; log_fast needs_slow_log Math::log;
    }
    assert!(
        1e30f32.needs_slow_trig()
            && 1e30f64.needs_slow_trig()
            && !f32::NAN.needs_slow_trig()
            && !f64::INFINITY.needs_slow_trig()
    );
    assert!(
        f32::NAN.needs_slow_exp()
            && f32::NAN.needs_slow_log()
            && 0f64.needs_slow_log()
            && 1f64.needs_slow_pow(f64::INFINITY)
    );
}

/// Pairs of special values, of any magnitudes, and of ordinary ones.
fn pairs() -> (Vec<f64>, Vec<f64>) {
    let mut random = Rng(2);
    let special = SPECIAL
        .iter()
        .flat_map(|x| SPECIAL.iter().map(move |y| (*x, *y)));
    let any: Vec<_> = (0..500_000)
        .map(|_| random.next())
        .map(|b| {
            (
                f32::from_bits(b as u32) as f64,
                f32::from_bits((b >> 32) as u32) as f64,
            )
        })
        .collect();
    let ordinary: Vec<_> = (0..500_000)
        .map(|_| {
            (
                random.uniform(-5.0, 30.0) as f32 as f64,
                random.uniform(-20.0, 20.0) as f32 as f64,
            )
        })
        .collect();
    special
        .chain(any)
        .chain(ordinary)
        .map(|(x, y)| (x as f32 as f64, y as f32 as f64))
        .unzip()
}
/// NumPy's remainder, in exact steps.
fn remainder(x: f64, y: f64) -> f64 {
    let r = libm::fmod(x, y);
    if r == 0.0 {
        libm::copysign(0.0, y)
    } else if (r < 0.0) != (y < 0.0) {
        r + y
    } else {
        r
    }
}
fn logaddexp(x: f64, y: f64) -> f64 {
    if x.is_nan() || y.is_nan() {
        return f64::NAN;
    }
    x.max(y)
        + if x == y {
            core::f64::consts::LN_2
        } else {
            libm::log1p(libm::exp(-(x - y).abs()))
        }
}

#[test]
fn binary_float32_is_within_its_bound() {
    let (x, y) = pairs();
    let (x, y): (Vec<f32>, Vec<f32>) = x
        .iter()
        .zip(&y)
        .map(|(x, y)| (*x as f32, *y as f32))
        .unzip();
    let mut z = vec![0f32; x.len()];
    let mut failures = Vec::new();
    let by_fma = |with: f64, without: f64| if has_fma() { with } else { without };
    macro_rules! check {
        ($($trait:ident::$name:ident $limit:expr, $reference:expr;)*) => { $(
            binary!(f32, $trait::$name)(&x, &y, &mut z);
            let mut worst = Worst::default();
            let reference: fn(f64, f64) -> f64 = $reference;
            for ((x, y), z) in x.iter().zip(&y).zip(&z) {
                worst.add(ulps32(*z, reference(*x as f64, *y as f64)), || format!("{}({x:e}, {y:e}) = {z:e}", stringify!($name)));
            }
            hold(&mut failures, stringify!($name), worst, $limit);
        )* };
    }
    check! {
        Real::atan2 by_fma(2.5, 4.0), libm::atan2; Math::pow by_fma(2.5, 4.0), libm::pow; Real::hypot 4.0, libm::hypot; Real::logaddexp 4.0, logaddexp;
        Division::fmod 0.0, libm::fmod; Division::remainder 0.5, remainder; Real::copysign 0.0, libm::copysign;
        Real::nextafter 0.0, |x, y| libm::nextafterf(x as f32, y as f32) as f64;
        Real::maximum 0.0, |x, y| if x.is_nan() || y.is_nan() { f64::NAN } else if x > y { x } else { y };
        Real::minimum 0.0, |x, y| if x.is_nan() || y.is_nan() { f64::NAN } else if x < y { x } else { y };
    }
    report(failures);
}

#[test]
fn floor_division_and_remainder_are_consistent() {
    // numpy.divmod's values, but the array API standard's quotients where an operand is infinite.
    let cases = [
        (7.0, 2.0, 3.0, 1.0),
        (-7.0, 2.0, -4.0, 1.0),
        (7.0, -2.0, -4.0, -1.0),
        (-7.0, -2.0, 3.0, -1.0),
        (1.0, f64::INFINITY, 0.0, 1.0),
        (-1.0, f64::INFINITY, -0.0, f64::INFINITY),
        (1.0, f64::NEG_INFINITY, -0.0, f64::NEG_INFINITY),
        (f64::INFINITY, 1.0, f64::INFINITY, f64::NAN),
        (f64::INFINITY, -2.0, f64::NEG_INFINITY, f64::NAN),
        (f64::INFINITY, f64::INFINITY, f64::NAN, f64::NAN),
        (1.0, 0.0, f64::INFINITY, f64::NAN),
        (0.0, -3.0, -0.0, -0.0),
        (-1.0, 0.0, f64::NEG_INFINITY, f64::NAN),
        (0.0, 0.0, f64::NAN, f64::NAN),
        (1e20, 3.0, 3.333333333333333e19, 1.0),
    ];
    for (x, y, quotient, rest) in cases {
        let (mut q, mut r) = ([0.0], [0.0]);
        binary!(f64, Division::floor_divide)(&[x], &[y], &mut q);
        binary!(f64, Division::remainder)(&[x], &[y], &mut r);
        assert_eq!(
            ulps64(q[0], quotient, 0.0),
            0.0,
            "floor_divide({x}, {y}) = {}, not {quotient}",
            q[0]
        );
        assert_eq!(
            ulps64(r[0], rest, 0.0),
            0.0,
            "remainder({x}, {y}) = {}, not {rest}",
            r[0]
        );
    }
}

#[test]
fn activations_are_within_their_bound() {
    let x: Vec<f32> = arguments32()
        .into_iter()
        .filter(|x| x.abs() < 1e4)
        .collect();
    let mut y = vec![0f32; x.len()];
    macro_rules! check {
        ($($name:ident $reference:expr;)*) => { $(
            unary!(f32, Real::$name)(&x, &mut y);
            let reference: fn(f64) -> f64 = $reference;
            for (x, y) in x.iter().zip(&y) {
                // The sum with 1 cancels for negative arguments: what counts is the error relative
                // to the argument.
                let error = (*y as f64 - reference(*x as f64)).abs();
                assert!(error <= 2.5e-7 * x.abs() as f64 + 1e-45, "{}({x:e}) = {y:e}, off by {error:e}", stringify!($name));
            }
        )* };
    }
    check! {
        gelu |x| 0.5 * x * libm::erfc(-x * core::f64::consts::FRAC_1_SQRT_2);
        gelu_tanh |x| x / (1.0 + libm::exp(-2.0 * (2.0 / core::f64::consts::PI).sqrt() * (x + 0.044715 * x * x * x)));
        silu |x| x / (1.0 + libm::exp(-x));
    }
}

/// Slopes at large and infinite arguments are defined too; that at NaN is NaN.
#[test]
fn slopes_of_gelu_are_within_their_bound() {
    let mut x: Vec<f32> = arguments32().into_iter().filter(|x| !x.is_nan()).collect();
    x.extend((0..200_000).map(|k| (k - 100_000) as f32 * 8e-5));
    let mut y = vec![0f32; x.len()];
    unary!(f32, Real::gelu_slope)(&x, &mut y);
    for (x, y) in x.iter().zip(&y) {
        let at = *x as f64;
        let density = libm::exp(-0.5 * at * at) / (2.0 * core::f64::consts::PI).sqrt();
        let moved = if density == 0.0 { 0.0 } else { at * density };
        let want = 0.5 * libm::erfc(-at * core::f64::consts::FRAC_1_SQRT_2) + moved;
        let error = (*y as f64 - want).abs();
        assert!(error <= 3e-7, "gelu_slope({x:e}) = {y:e}, off by {error:e}");
    }
    unary!(f32, Real::gelu_slope)(&[f32::NAN], &mut y[..1]);
    assert!(y[0].is_nan());
}

/// Functions of float64 by name.
fn unary64(name: &str) -> Option<fn(&[f64], &mut [f64])> {
    macro_rules! table { ($($trait:ident: $($name:ident)*;)*) => { match name { $($(stringify!($name) => unary!(f64, $trait::$name),)*)* _ => return None } } }
    Some(table! {
        Math: sqrt reciprocal exp exp2 expm1 log log1p log2 log10 sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh;
        Real: rsqrt erf erfc sigmoid;
    })
}
fn binary64(name: &str) -> fn(&[f64], &[f64], &mut [f64]) {
    match name {
        "pow" => binary!(f64, Math::pow),
        "atan2" => binary!(f64, Real::atan2),
        "hypot" => binary!(f64, Real::hypot),
        "logaddexp" => binary!(f64, Real::logaddexp),
        _ => panic!("{name} has no loop here"),
    }
}
fn limit64(name: &str) -> f64 {
    match name {
        "sqrt" | "reciprocal" => 0.5,
        "exp" | "log" | "tanh" | "sin" | "cos" | "erf" | "atan2" | "pow" => 2.5,
        _ => 4.0,
    }
}

#[test]
fn float64_matches_the_table() {
    // A larger table, made by the same script, is for finding the figures.
    let table = std::env::var("FLEX_REFERENCE").map(|path| std::fs::read_to_string(path).unwrap());
    let table = table.unwrap_or_else(|_| include_str!("../data/f64_reference.txt").to_owned());
    let mut worst = std::collections::BTreeMap::<&str, Worst>::new();
    for line in table.lines() {
        let (name, numbers) = line.split_once(' ').unwrap();
        let v: Vec<f64> = numbers
            .split(' ')
            .map(|b| f64::from_bits(u64::from_str_radix(b, 16).unwrap()))
            .collect();
        let (mut got, n) = ([0.0], v.len());
        match unary64(name) {
            Some(f) => f(&v[..1], &mut got),
            None => binary64(name)(&v[..1], &v[1..2], &mut got),
        }
        let case = || format!("{name}({:?}) = {:e}", &v[..n - 2], got[0]);
        worst
            .entry(name)
            .or_default()
            .add(ulps64(got[0], v[n - 2], v[n - 1]), case);
    }
    assert_eq!(worst.len(), 29);
    let mut failures = Vec::new();
    worst
        .into_iter()
        .for_each(|(name, worst)| hold(&mut failures, name, worst, limit64(name)));
    report(failures);
}

#[test]
fn float64_special_values() {
    let ends = [
        5e-324,
        -5e-324,
        1e-310,
        f64::MIN_POSITIVE,
        f64::MAX,
        f64::MIN,
        1e300,
        -1e300,
        709.0,
        710.0,
        -745.0,
        -746.0,
        20.0,
        -38.0,
        4503599627370497.5,
    ];
    let x: Vec<f64> = SPECIAL.into_iter().chain(ends).collect();
    let mut y = vec![0f64; x.len()];
    let mut failures = Vec::new();
    macro_rules! check {
        ($($trait:ident::$name:ident $limit:expr, $reference:expr;)*) => { $(
            unary!(f64, $trait::$name)(&x, &mut y);
            let mut worst = Worst::default();
            let reference: fn(f64) -> f64 = $reference;
            for (x, y) in x.iter().zip(&y) {
                // The reference itself may be one unit off.
                worst.add(ulps64(*y, reference(*x), 0.0), || format!("{}({x:e}) = {y:e}, not {:e}", stringify!($name), reference(*x)));
            }
            hold(&mut failures, stringify!($name), worst, $limit);
        )* };
    }
    check! {
        Math::sqrt 0.0, libm::sqrt; Math::reciprocal 0.0, |x| 1.0 / x; Math::exp 3.0, libm::exp; Math::log 3.0, libm::log; Math::tanh 3.0, libm::tanh;
        Math::sin 3.0, libm::sin; Math::cos 3.0, libm::cos; Real::erf 3.0, libm::erf; Math::exp2 4.0, libm::exp2; Math::expm1 4.0, libm::expm1;
        Math::log1p 4.0, libm::log1p; Math::log2 4.0, libm::log2; Math::log10 4.0, libm::log10; Math::tan 4.0, libm::tan; Math::asin 4.0, libm::asin;
        Math::acos 4.0, libm::acos; Math::atan 4.0, libm::atan; Math::sinh 4.0, libm::sinh; Math::cosh 4.0, libm::cosh; Math::asinh 4.0, libm::asinh;
        Math::acosh 4.0, acosh; Math::atanh 4.0, libm::atanh; Real::erfc 4.0, libm::erfc; Real::sigmoid 4.0, |x| 1.0 / (1.0 + libm::exp(-x));
        Real::floor 0.0, libm::floor; Real::ceil 0.0, libm::ceil; Real::trunc 0.0, libm::trunc; Real::round 0.0, libm::rint; Real::abs 0.0, libm::fabs;
        Math::sign 0.0, |x| if x.is_nan() { x } else if x == 0.0 { 0.0 } else { x.signum() };
    }
    let pairs: Vec<_> = x
        .iter()
        .flat_map(|a| x.iter().map(move |b| (*a, *b)))
        .collect();
    let (a, b): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
    let mut z = vec![0f64; a.len()];
    macro_rules! check2 {
        ($($trait:ident::$name:ident $limit:expr, $reference:expr;)*) => { $(
            binary!(f64, $trait::$name)(&a, &b, &mut z);
            let mut worst = Worst::default();
            let reference: fn(f64, f64) -> f64 = $reference;
            for ((a, b), z) in a.iter().zip(&b).zip(&z) {
                let want = reference(*a, *b);
                worst.add(ulps64(*z, want, 0.0), || format!("{}({a:e}, {b:e}) = {z:e}, not {want:e}", stringify!($name)));
            }
            hold(&mut failures, stringify!($name), worst, $limit);
        )* };
    }
    check2! {
        Real::atan2 3.0, libm::atan2; Math::pow 3.0, libm::pow; Real::hypot 4.0, libm::hypot; Real::logaddexp 4.0, logaddexp; Division::fmod 0.0, libm::fmod;
        Division::remainder 0.0, remainder; Real::nextafter 0.0, libm::nextafter; Real::copysign 0.0, libm::copysign;
    }
    report(failures);
}
