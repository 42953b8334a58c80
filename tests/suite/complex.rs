//! Complex functions against a high-precision table in the ordinary range, and against C99's
//! special values.
#![cfg(all(feature = "complex", feature = "f64"))]

use flex::kernel::math::{ComplexMath, Math};
use flex::simd::{Isa, Kernel, call};
use num_complex::Complex;

type Z = Complex<f64>;

fn function(name: &str) -> fn(Z) -> Z {
    macro_rules! table {
        ($($name:ident)*) => { match name { "square" => |z| z * z, $(stringify!($name) => {
            struct One(Z);
            impl Kernel for One {
                type Out = Z;
                #[inline(always)]
                fn run<I: Isa>(self) -> Z {
                    Math::$name::<I>(self.0)
                }
            }
            |z| call(One(z))
        })* _ => panic!("{name}") } };
    }
    table! { exp expm1 exp2 log log1p log2 log10 sqrt sin cos tan sinh cosh tanh asin acos atan asinh acosh atanh reciprocal sign }
}
fn two(a: Z, b: Z, which: u8) -> Z {
    struct Two(Z, Z, u8);
    impl Kernel for Two {
        type Out = Z;
        #[inline(always)]
        fn run<I: Isa>(self) -> Z {
            match self.2 {
                0 => ComplexMath::divide::<I>(self.0, self.1),
                1 => Math::pow::<I>(self.0, self.1),
                2 => self.0 * self.1,
                _ => Z::new(ComplexMath::abs::<I>(self.0), 0.0),
            }
        }
    }
    call(Two(a, b, which))
}
fn rows(table: &str) -> impl Iterator<Item = (&str, Z, Z)> {
    table.lines().map(|line| {
        let (name, numbers) = line.split_once(' ').unwrap();
        let v: Vec<f64> = numbers
            .split(' ')
            .map(|b| f64::from_bits(u64::from_str_radix(b, 16).unwrap()))
            .collect();
        (name, Z::new(v[0], v[1]), Z::new(v[2], v[3]))
    })
}

#[test]
fn values_are_within_a_few_units_of_their_magnitude() {
    let table =
        std::env::var("FLEX_COMPLEX_REFERENCE").map(|path| std::fs::read_to_string(path).unwrap());
    let table = table.unwrap_or_else(|_| include_str!("../data/complex_reference.txt").to_owned());
    let mut worst = std::collections::BTreeMap::<&str, (f64, String)>::new();
    for (name, z, want) in rows(&table) {
        let got = function(name)(z);
        let error = (got - want).norm() / (want.norm() * f64::EPSILON);
        let entry = worst.entry(name).or_default();
        if error > entry.0 {
            *entry = (error, format!("{name}({z:?}) = {got:?}, not {want:?}"));
        }
    }
    assert_eq!(worst.len(), 23);
    for (name, (error, case)) in &worst {
        println!("{name:10} {error:.2} {case}");
    }
    for (error, case) in worst.values() {
        assert!(*error <= 4.0, "{error:.2} units: {case}");
    }
}

#[test]
fn special_values_are_those_of_annex_g() {
    let mut failures = Vec::new();
    for (name, z, mut want) in rows(include_str!("../data/complex_special.txt")) {
        let got = function(name)(z);
        // The array API standard has the argument's sign in tanh and tan, annex G that of sin(2y);
        // expm1 of both zeros is +0, and a sign NaN beside NaN.
        match name {
            "expm1" if z == Z::new(0.0, 0.0) => want.re = 0.0,
            "sign" if z.is_nan() => want = Z::new(f64::NAN, f64::NAN),
            "tanh" if z.re.is_infinite() && z.im.is_finite() => want.im = z.im * 0.0,
            "tan" if z.im.is_infinite() && z.re.is_finite() => want.re = z.re * 0.0,
            _ => {}
        }
        let same = |a: f64, b: f64| {
            let close = (a - b).abs() <= 4.0 * f64::EPSILON * b.abs();
            a.is_nan() && b.is_nan()
                || a == b && (a != 0.0 || a.is_sign_negative() == b.is_sign_negative())
                || (b != 0.0 && b.is_finite() && close)
        };
        // The one sign that annex G leaves unspecified and NumPy chooses otherwise: that of an
        // infinite sine whose other part is NaN.
        let open =
            name == "sin" && want.re.is_nan() && want.im.is_infinite() && got.im.is_infinite();
        if !(same(got.re, want.re) && (open || same(got.im, want.im))) {
            failures.push(format!("{name}({z:?}) = {got:?}, not {want:?}"));
        }
    }
    assert!(
        failures.is_empty(),
        "{}:\n{}",
        failures.len(),
        failures.join("\n")
    );
}

#[test]
fn arithmetic_does_not_overflow_on_the_way() {
    let z = |re, im| Z::new(re, im);
    assert_eq!(two(z(1e300, 1e300), z(1e300, 1e300), 0), z(1.0, 0.0));
    assert_eq!(two(z(6.0, 8.0), z(3e-308, 4e-308), 0).im, 0.0);
    assert_eq!(two(z(1.0, 2.0), z(f64::INFINITY, 0.0), 0), z(0.0, 0.0));
    assert_eq!(
        two(z(1.0, -1.0), z(0.0, 0.0), 0),
        z(f64::INFINITY, f64::NEG_INFINITY)
    );
    assert_eq!(two(z(-5.0, 10.0), z(1.0, 2.0), 0), z(3.0, 4.0));
    assert_eq!(two(z(1.0, 2.0), z(3.0, 4.0), 2), z(-5.0, 10.0));
    assert_eq!(two(z(3e300, 4e300), z(0.0, 0.0), 3).re, 5e300);
    assert_eq!(
        two(z(f64::INFINITY, f64::NAN), z(0.0, 0.0), 3).re,
        f64::INFINITY
    );
}

#[test]
fn powers_match_the_definition() {
    let z = |re, im| Z::new(re, im);
    assert_eq!(two(z(2.0, 1.0), z(3.0, 0.0), 1), z(2.0, 11.0));
    assert_eq!(two(z(0.0, 2.0), z(-2.0, 0.0), 1), z(-0.25, 0.0));
    assert_eq!(two(z(0.0, 0.0), z(2.0, 0.0), 1), z(0.0, 0.0));
    assert_eq!(two(z(f64::NAN, 0.0), z(0.0, 0.0), 1), z(1.0, 0.0));
    // i to the power of i is e^(-pi / 2).
    let r = two(z(0.0, 1.0), z(0.0, 1.0), 1);
    assert!((r - z((-core::f64::consts::FRAC_PI_2).exp(), 0.0)).norm() < 1e-16);
    assert!(two(z(0.0, 0.0), z(-1.0, 0.0), 1).re.is_nan());
}

#[test]
fn both_widths_agree() {
    let a = Complex::new(0.75f32, -1.25);
    let z = Z::new(0.75, -1.25);
    struct Narrow(Complex<f32>);
    impl Kernel for Narrow {
        type Out = [Complex<f32>; 4];
        fn run<I: Isa>(self) -> Self::Out {
            [
                Math::exp::<I>(self.0),
                Math::acosh::<I>(self.0),
                Math::reciprocal::<I>(self.0),
                Math::sign::<I>(self.0),
            ]
        }
    }
    for (got, name) in call(Narrow(a))
        .iter()
        .zip(["exp", "acosh", "reciprocal", "sign"])
    {
        let want = function(name)(z);
        assert_eq!(*got, Complex::new(want.re as f32, want.im as f32), "{name}");
    }
}

/// By mpmath: components as far apart as floats reach, each within 1e-13 of its size.
#[test]
#[expect(
    clippy::excessive_precision,
    reason = "figures to one digit more than a float has"
)]
fn a_huge_or_tiny_part_does_not_spoil_the_other() {
    let z = |re, im| Z::new(re, im);
    let inf = f64::INFINITY;
    #[rustfmt::skip]
    let cases = [
        ("exp2", z(0.0, 1e18), z(-0.31958521353074646, -0.94755753983201843)),
        ("exp2", z(0.0, 1e300), z(0.85941436363622085, -0.51127971950366813)),
        ("exp2", z(0.0, -f64::MAX), z(0.90401435981384077, 0.42750209034620126)),
        ("exp2", z(1.5, f32::MAX as f64), z(2.1767334031531493, -1.8060541773704656)),
        ("exp2", z(3.0, 1e7), z(7.9999080055582918, 0.038365382890754435)),
        ("exp2", z(1023.5, 1e-5), z(1.2711610061231096e308, 8.8110166744608782e302)),
        ("exp2", z(1500.0, 5e-324), z(inf, 1.2011676131899055e128)),
        ("sin", z(5e-324, 1450.0), z(1.3175084853168172e306, inf)),
        ("sin", z(5e-324, 1500.0), z(inf, inf)),
        ("sin", z(5e-324, 700.0), z(2.5054860757777226e-20, 5.0711602736750225e303)),
        ("cos", z(1e-300, 1390.0), z(inf, -2.3350697075845068e303)),
        ("sinh", z(1450.0, 5e-324), z(inf, 1.3175084853168172e306)),
        ("sinh", z(-710.0, 1e-10), z(-1.1169973830808555e308, 1.1169973830808556e298)),
        ("cosh", z(1450.0, 5e-324), z(inf, 1.3175084853168172e306)),
        ("exp", z(1450.0, 5e-324), z(inf, 2.6350169706336343e306)),
        ("expm1", z(1390.0, 1e-300), z(inf, 4.6701394151690136e303)),
    ];
    let close = |got: f64, want: f64| got == want || (got - want).abs() <= 1e-13 * want.abs();
    for (name, x, want) in cases {
        let got = function(name)(x);
        assert!(
            close(got.re, want.re) && close(got.im, want.im),
            "{name}({x}) = {got}, not {want}"
        );
    }
    #[rustfmt::skip]
    let powers = [
        (z(1e200, 0.0), -2.0, z(0.0, 0.0)),
        (z(1e40, 1e40), -8.0, z(6.25e-322, 0.0)),
        (z(0.0, 1e200), -3.0, z(0.0, 0.0)),
        (z(1e-200, 0.0), -2.0, z(inf, 0.0)),
        (z(1e60, 2e60), -5.0, z(1.3120000000000003e-302, 1.2160000000000003e-302)),
        (z(2.0, 1.0), 3.0, z(2.0, 11.0)),
        (z(1e200, 0.0), 2.0, z(inf, 0.0)),
    ];
    for (x, n, want) in powers {
        let got = two(x, z(n, 0.0), 1);
        let off = (got.re - want.re).abs().max((got.im - want.im).abs());
        assert!(
            got == want || off <= 5e-324 || off <= 1e-13 * want.norm(),
            "{x} to {n} = {got}, not {want}"
        );
    }
}
