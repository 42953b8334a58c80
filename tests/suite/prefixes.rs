//! Scans of floats, whose order shows: a prefix is what joining in order gives, sums of what is not
//! negative never decrease, and a part of a line has the bits of the line.

use crate::common::*;
use flex::ops;
use flex::{DType, Scalar, Tensor};

type ScanFn = fn(&Tensor, isize) -> flex::Result<Tensor>;
const SUM: ScanFn = |x, axis| ops::cumulative_sum(x, axis);
const PROD: ScanFn = |x, axis| ops::cumulative_prod(x, axis);

fn rounded() -> impl Iterator<Item = DType> {
    DType::ALL
        .into_iter()
        .filter(|d| d.is_available() && !d.is_storage() && (d.is_float() || d.is_complex()))
}
fn floats_only() -> impl Iterator<Item = DType> {
    rounded().filter(|d| d.is_float())
}
fn of(x: &[f64], dtype: DType) -> Tensor {
    let all: Vec<Scalar> = x.iter().map(|x| Scalar::Float(*x)).collect();
    tensor(&all, &[x.len()], dtype)
}
/// The same, NaN for NaN, with the signs of zeros.
fn same(a: &[Value], b: &[Value]) -> bool {
    let bits = |x: f64| if x.is_nan() { 0 } else { x.to_bits() | 1 << 53 };
    let both = |v: &Value| match *v {
        Value::Complex(re, im) => (bits(re), bits(im)),
        v => (bits(v.float()), 0),
    };
    a.iter().map(both).eq(b.iter().map(both))
}

#[test]
fn worked_examples() {
    let mut large = [1e30f32; 16];
    large[0] = 0.0;
    let x = Tensor::from_slice(&large, [16]).unwrap();
    assert_eq!(PROD(&x, 0).unwrap().to_vec::<f32>().unwrap(), [0.0; 16]);
    let wave: Vec<f32> = [-3e38, 3e38, 3e38, -3e38].repeat(4);
    let x = Tensor::from_slice(&wave, [16]).unwrap();
    let want: Vec<f32> = [-3e38, 0.0, 3e38, 0.0].repeat(4);
    assert_eq!(SUM(&x, 0).unwrap().to_vec::<f32>().unwrap(), want);
    // runs that overflow, after what prevents it
    let mut x = [0.0f32; 40];
    (x[3], x[16], x[17], x[18], x[39]) = (-3e38, 3e38, 3e38, -3e38, 1e38);
    let y = SUM(&Tensor::from_slice(&x, [40]).unwrap(), 0).unwrap();
    let y = y.to_vec::<f32>().unwrap();
    assert_eq!((y[15], y[16], y[17], y[18]), (-3e38, 0.0, 3e38, 0.0));
    assert_eq!((y[38], y[39]), (0.0, 1e38));
    // and runs whose product vanishes
    let mut x = [1.0f32; 40];
    (x[3], x[16], x[17], x[39]) = (1e30, 1e-30, 1e-20, 3.0);
    let y = PROD(&Tensor::from_slice(&x, [40]).unwrap(), 0).unwrap();
    let y = y.to_vec::<f32>().unwrap();
    assert!((y[17] / 1e-20 - 1.0).abs() < 1e-6 && (y[39] / 3e-20 - 1.0).abs() < 1e-6);
}

/// The largest exponent and the smallest of the accumulator of a dtype.
fn range(dtype: DType) -> (i32, i32) {
    match dtype.real() == DType::F64 {
        true => (1023, -1074),
        false => (127, -149),
    }
}

/// Powers of two, and whole multiples of a large one, are exact until they leave the range: there, in
/// order, sums and products become infinite or round, and so they do here.
#[test]
fn what_leaves_the_range_in_order_leaves_it() {
    let mut rng = Rng(21);
    for dtype in [DType::F32, DType::F64]
        .into_iter()
        .filter(|d| d.is_available())
    {
        let (most, _) = range(dtype);
        for n in [5, 16, 17, 100, 300, 5000, 20_000] {
            for seed in 0..8 {
                let whole = |rng: &mut Rng| (rng.unit() * 200.0).trunc() * 2f64.powi(most - 7);
                let power = |rng: &mut Rng, spread: f64| {
                    let sign = if rng.unit() < 0.0 { -1.0 } else { 1.0 };
                    sign * 2f64.powi((rng.unit() * spread) as i32)
                };
                let spread = f64::from(most) / [1.1, 4.0, 60.0, 2000.0][seed % 4];
                let mut terms: Vec<f64> = (0..n).map(|_| whole(&mut rng)).collect();
                let mut factors: Vec<f64> = (0..n).map(|_| power(&mut rng, spread)).collect();
                if seed > 4 {
                    // sums that stay within, until late
                    (0..n / 2).for_each(|i| terms[2 * i + 1] = -terms[2 * i]);
                    (0..n / 2).for_each(|i| factors[2 * i + 1] = 1.0 / factors[2 * i]);
                }
                for (scan, x, product) in [(SUM, terms, false), (PROD, factors, true)] {
                    let (mut acc, single) = (product as u8 as f64, dtype == DType::F32);
                    let want: Vec<Value> = (x.iter())
                        .map(|x| {
                            acc = match (product, single) {
                                (true, true) => f64::from(acc as f32 * *x as f32),
                                (false, true) => f64::from(acc as f32 + *x as f32),
                                (true, false) => acc * x,
                                (false, false) => acc + x,
                            };
                            Value::Float(acc)
                        })
                        .collect();
                    let got = values(&scan(&of(&x, dtype), 0).unwrap());
                    let at = got.iter().zip(&want).position(|(a, b)| !same(&[*a], &[*b]));
                    assert!(
                        at.is_none(),
                        "{dtype} {product} {n} {seed} at {at:?}: {:?} for {:?}",
                        got[at.unwrap()],
                        want[at.unwrap()]
                    );
                }
            }
        }
    }
}

/// Ordinary numbers, and some that overflow, vanish, or are not finite.
fn wild(rng: &mut Rng, shape: &[usize], dtype: DType, often: f64) -> Tensor {
    let special = special(dtype);
    let n: usize = shape.iter().product();
    let one = |rng: &mut Rng| match rng.unit() {
        u if u.abs() < often => special[rng.below(special.len())],
        u if dtype.is_complex() => Scalar::Complex(u, 1.0),
        u => Scalar::Float(1.0 + u / 8.0),
    };
    let all: Vec<Scalar> = (0..n).map(|_| one(rng)).collect();
    tensor(&all, shape, dtype)
}

#[test]
fn parts_of_a_line_have_its_bits() {
    let mut rng = Rng(22);
    for dtype in rounded() {
        for (shape, axis) in [
            (&[700][..], 0),
            (&[4, 300], 1),
            (&[300, 3], 0),
            (&[90, 40], 0),
            (&[2, 70, 20], 1),
        ] {
            for often in [0.0, 0.02, 0.3] {
                let x = wild(&mut rng, shape, dtype, often);
                for scan in [SUM, PROD] {
                    let whole = scan(&x, axis).unwrap();
                    for (name, x) in layouts(&x) {
                        let all = scan(&x, axis).unwrap();
                        assert!(
                            same(&values(&all), &values(&whole)),
                            "{dtype} {shape:?} {name}"
                        );
                        for k in [0, 1, 15, 16, 17, 33, 68] {
                            let part = scan(&x.narrow(axis, 0, k).unwrap(), axis).unwrap();
                            let want = whole.narrow(axis, 0, k).unwrap();
                            assert!(
                                same(&values(&part), &values(&want)),
                                "{dtype} {shape:?} {name} {often} {k}"
                            );
                        }
                    }
                }
            }
        }
        let n = if dtype == DType::F32 { 100_003 } else { 40_000 };
        for often in [0.0, 1e-5, 1e-3] {
            let x = wild(&mut rng, &[n], dtype, often);
            for scan in [SUM, PROD] {
                let whole = scan(&x, 0).unwrap();
                for k in [255, 8191, 8192, 8193, 20_000, n - 1] {
                    let part = values(&scan(&x.narrow(0, 0, k).unwrap(), 0).unwrap());
                    let want = values(&whole.narrow(0, 0, k).unwrap());
                    assert!(same(&part, &want), "{dtype} {n} {often} {k}");
                }
            }
        }
    }
}

#[test]
fn sums_of_what_is_not_negative_never_decrease() {
    let mut rng = Rng(23);
    let weights = [
        0.6f32, 0.0, 0.0, 0.8, 0.4, 0.0, 0.0, 0.0, 0.9, 0.0, 0.2, 0.3, 0.5, 0.4, 0.0, 0.0,
    ];
    let x = Tensor::from_slice(&weights, [16]).unwrap();
    let y = SUM(&x, 0).unwrap().to_vec::<f32>().unwrap();
    assert!(y.windows(2).all(|w| w[0] <= w[1]) && y[2] == y[1] && y[15] == y[13]);
    for dtype in floats_only() {
        for (shape, axis) in [
            (&[70_001][..], 0),
            (&[3, 999], 1),
            (&[999, 3], 0),
            (&[500, 20], 0),
        ] {
            for scale in [1.0, 1e-3, 1e4] {
                let n: usize = shape.iter().product();
                let term = |_| {
                    let x = rng.unit().max(0.0) * scale;
                    Scalar::Float(if rng.unit() < -0.98 { x * 1e3 } else { x })
                };
                let x = tensor(&(0..n).map(term).collect::<Vec<_>>(), shape, dtype);
                for (name, x) in layouts(&x) {
                    let y = SUM(&x, axis).unwrap();
                    let m = shape[axis as usize] - 1;
                    let (a, b) = (
                        floats(&y.narrow(axis, 0, m).unwrap()),
                        floats(&y.narrow(axis, 1, m).unwrap()),
                    );
                    let terms = floats(&x.narrow(axis, 1, m).unwrap());
                    for ((a, b), term) in a.iter().zip(&b).zip(terms) {
                        assert!(a <= b && (term != 0.0 || a == b), "{dtype} {name} {a} {b}");
                    }
                }
            }
        }
    }
}

#[test]
fn counts_are_exact_while_they_fit() {
    let mut rng = Rng(24);
    for (dtype, n) in [
        (DType::F32, 200_000),
        (DType::F16, 2048),
        (DType::BF16, 256),
    ] {
        if !dtype.is_available() {
            continue;
        }
        let flags: Vec<f64> = (0..n).map(|_| f64::from(rng.unit() > -0.9)).collect();
        let mut count = 0.0;
        let want = flags.iter().map(|x| {
            count += x;
            Value::Float(count)
        });
        let want: Vec<Value> = want.collect();
        assert!(
            same(&values(&SUM(&of(&flags, dtype), 0).unwrap()), &want),
            "{dtype}"
        );
    }
}

#[cfg(feature = "std")]
#[test]
fn bits_do_not_depend_on_threads() {
    let mut rng = Rng(25);
    for dtype in rounded() {
        for often in [0.0, 1e-5, 0.01] {
            let x = wild(&mut rng, &[2, 70_000], dtype, often);
            for initial in [false, true] {
                let run = || {
                    let how = || ops::Cumulative {
                        include_initial: initial,
                        ..1.into()
                    };
                    let sums = values(&ops::cumulative_sum(&x, how()).unwrap());
                    [sums, values(&ops::cumulative_prod(&x, how()).unwrap())]
                };
                let [sums, products] = flex::with_threads(1, run);
                for threads in [2, 5] {
                    let [s, p] = flex::with_threads(threads, run);
                    assert!(
                        same(&s, &sums) && same(&p, &products),
                        "{dtype} {often} {threads}"
                    );
                }
            }
        }
    }
}
