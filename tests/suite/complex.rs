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
    for (name, z, want) in rows(include_str!("../data/complex_special.txt")) {
        let got = function(name)(z);
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
