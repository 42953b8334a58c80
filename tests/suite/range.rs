//! Norms, spreads and means of numbers whose squares or sums leave the range of their dtype, although
//! the result does not.

use crate::common::*;
use flex::nn::{self, ChannelNorm, CosineSimilarity, LayerNorm, Length, PairwiseDistance, RmsNorm};
use flex::ops;
use flex::{DType, Scalar, Tensor};

fn f(x: &[f32]) -> Tensor {
    Tensor::from_slice(x, [1, x.len()]).unwrap()
}
fn near(got: &Tensor, want: &[f64]) {
    let got = floats(got);
    assert_eq!(got.len(), want.len());
    for (x, y) in got.iter().zip(want) {
        assert!((x - y).abs() <= 1e-6 * y.abs(), "{x:e} for {y:e}");
    }
}
const EXACT: LayerNorm = LayerNorm {
    weight: None,
    bias: None,
    eps: 0.0,
};

#[test]
fn worked_examples() {
    let root = 5f64.sqrt();
    let four = [-3.0, -1.0, 1.0, 3.0].map(|x| x / root);
    for unit in [1e20f32, 8e37, 1e-23, 1e-30] {
        let x = f(&[1.0, 2.0, 3.0, 4.0].map(|x| x * unit));
        // of small ones with the default eps, next to which they are nothing
        near(&nn::layer_norm(&x, 4, EXACT).unwrap(), &four);
        let exact = ChannelNorm {
            eps: 0.0,
            ..Default::default()
        };
        near(&nn::group_norm(&x, 1, exact).unwrap(), &four);
        let image = x.reshape([1, 1, 4]).unwrap();
        near(&nn::instance_norm(&image, None, exact).unwrap(), &four);
        near(
            &nn::batch_norm(&x.reshape([4, 1]).unwrap(), None, exact).unwrap(),
            &four,
        );
        let rms = RmsNorm {
            weight: None,
            eps: Some(0.0),
        };
        near(
            &nn::rms_norm(&x, 4, rms).unwrap(),
            &[1.0, 2.0, 3.0, 4.0].map(|x| x / 7.5f64.sqrt()),
        );
        let length = |p| Length {
            p,
            axis: 1,
            eps: 0.0,
        };
        for (p, sum) in [(1.0, 10.0), (2.0, 30.0), (3.0, 100.0), (2.5, 54.25)] {
            let norm = (1..5).map(|x| f64::from(x).powf(p)).sum::<f64>();
            assert!((norm - sum).abs() < 0.5);
            let want = [1.0, 2.0, 3.0, 4.0].map(|x| x / norm.powf(1.0 / p));
            near(&nn::normalize(&x, length(p)).unwrap(), &want);
        }
        let other = f(&[4e-10, 3e-10, 2e-10, 1e-10]);
        let cosine = CosineSimilarity { axis: 1, eps: 0.0 };
        near(
            &nn::cosine_similarity(&x, &other, cosine).unwrap(),
            &[20.0 / 30.0],
        );
        let unit = f64::from(unit);
        near(&ops::std(&x, (), 0.0).unwrap(), &[1.25f64.sqrt() * unit]);
        near(
            &ops::std(&x.reshape([4, 1]).unwrap(), 0, 1.0).unwrap(),
            &[(5f64 / 3.0).sqrt() * unit],
        );
        let zero = f(&[0.0; 4]);
        let exact = PairwiseDistance {
            eps: 0.0,
            ..Default::default()
        };
        let distance = 30f64.sqrt() * unit;
        let distance = if distance > f64::from(f32::MAX) {
            f64::INFINITY
        } else {
            distance
        };
        let got = floats(&nn::pairwise_distance(&x, &zero, exact).unwrap())[0];
        assert!(got == distance || (got / distance - 1.0).abs() < 1e-6);
        let got = floats(&nn::cdist(&x, &zero, ()).unwrap())[0];
        assert!(got == distance || (got / distance - 1.0).abs() < 1e-6);
    }
    let item = |t: flex::Result<Tensor>| t.unwrap().item::<f32>().unwrap();
    assert_eq!(item(ops::std(&f(&[1e30, -1e30]), (), 0.0)), 1e30);
    assert_eq!(item(ops::var(&f(&[1e30, -1e30]), (), 0.0)), f32::INFINITY);
    assert_eq!(item(ops::var(&f(&[3e38, 3e38, 3e38]), (), 1.0)), 0.0);
    assert_eq!(item(ops::mean(&f(&[3e38, 3e38]), ())), 3e38);
    assert_eq!(item(ops::mean(&f(&[f32::MAX; 3]), ())), f32::MAX);
    assert_eq!(
        item(ops::mean(&f(&[3e38, 3e38, -3e38, -3e38, 5.0]), ())),
        1.0
    );
    assert_eq!(
        item(ops::mean(&f(&[3e38, 3e38, f32::INFINITY]), ())),
        f32::INFINITY
    );
    assert!(item(ops::mean(&f(&[f32::NEG_INFINITY, 3e38, f32::INFINITY]), ())).is_nan());
    if DType::F64.is_available() {
        let x = Tensor::from([1e200f64, -1e200, 1e200, -1e200]);
        assert_eq!(ops::std(&x, (), 0.0).unwrap().item::<f64>().unwrap(), 1e200);
        let x = Tensor::from([1e-200f64, -1e-200]);
        assert_eq!(
            ops::std(&x, (), 0.0).unwrap().item::<f64>().unwrap(),
            1e-200
        );
        let x = Tensor::from([1.7e308f64, 1.7e308]);
        assert_eq!(ops::mean(&x, ()).unwrap().item::<f64>().unwrap(), 1.7e308);
        assert_eq!(ops::var(&x, (), 0.0).unwrap().item::<f64>().unwrap(), 0.0);
    }
}

#[test]
fn too_few_elements_have_no_variance() {
    for dtype in [DType::F32, DType::F64, DType::BF16, DType::I32] {
        if !dtype.is_available() {
            continue;
        }
        let all: Vec<Scalar> = (0..6).map(|x| Scalar::Int(x * x)).collect();
        let x = tensor(
            &all.iter()
                .map(|x| {
                    if dtype.is_integer() {
                        *x
                    } else {
                        let Scalar::Int(x) = x else { unreachable!() };
                        Scalar::Float(*x as f64)
                    }
                })
                .collect::<Vec<_>>(),
            &[2, 3],
            dtype,
        );
        for (axis, n) in [(0, 2.0), (1, 3.0)] {
            for correction in [n, n + 0.5, 100.0] {
                for y in [
                    ops::var(&x, axis, correction),
                    ops::std(&x, axis, correction),
                ] {
                    assert!(
                        floats(&y.unwrap()).iter().all(|x| x.is_nan()),
                        "{dtype} {correction}"
                    );
                }
            }
            assert!(
                floats(&ops::var(&x, axis, n - 0.5).unwrap())
                    .iter()
                    .all(|x| x.is_finite())
            );
        }
    }
    let x = Tensor::from([[1.0f32, 10.0], [3.0, 10.0]]);
    for correction in [2.0, 3.0] {
        let (_, var) = nn::batch_norm_stats(&x, correction).unwrap();
        assert!(floats(&var).iter().all(|x| x.is_nan()));
    }
}

/// `x` times a power of two.
fn times(x: &Tensor, exponent: i32) -> Tensor {
    let half = 2f64.powi(exponent / 2);
    let rest = 2f64.powi(exponent - exponent / 2);
    ops::multiply(ops::multiply(x, half).unwrap(), rest).unwrap()
}
fn dtypes() -> impl Iterator<Item = (DType, i32)> {
    [(DType::F32, 100), (DType::BF16, 100), (DType::F64, 900)]
        .into_iter()
        .filter(|(d, _)| d.is_available())
}

/// Whatever the unit, norms without eps are the same: rows to the bit, where the same sums are taken.
#[test]
fn norms_do_not_depend_on_the_unit() {
    let mut rng = Rng(31);
    for (dtype, exponent) in dtypes() {
        for shape in [[3, 5], [2, 64], [70, 7], [4, 300], [20, 5000], [1, 40_000]] {
            let base = random(&mut rng, &shape, dtype);
            let residual = random(&mut rng, &shape, dtype);
            let n = shape[1];
            let (w, b) = (random(&mut rng, &[n], dtype), random(&mut rng, &[n], dtype));
            for (name, x) in layouts(&base) {
                if n > 5000 && name != "contiguous" && name != "stepped" {
                    continue;
                }
                let weighted = LayerNorm {
                    weight: Some(&w),
                    bias: Some(&b),
                    eps: 0.0,
                };
                let rms = RmsNorm {
                    weight: Some(&w),
                    eps: Some(0.0),
                };
                let all = |x: &Tensor, residual: &Tensor| {
                    let mut all = vec![
                        nn::layer_norm(x, n, EXACT).unwrap(),
                        nn::layer_norm(x, n, weighted).unwrap(),
                        nn::add_layer_norm(x, residual, n, weighted).unwrap().0,
                        nn::rms_norm(x, n, rms).unwrap(),
                        nn::add_rms_norm(x, residual, n, rms).unwrap().0,
                    ];
                    for axis in [0, 1] {
                        for p in [1.0, 2.0, f64::INFINITY] {
                            let length = Length { p, axis, eps: 0.0 };
                            all.push(nn::normalize(x, length).unwrap());
                        }
                    }
                    all.iter().map(values).collect::<Vec<_>>()
                };
                // sums in another order, and roots other than square roots
                let others = |x: &Tensor, residual: &Tensor| {
                    let mut all = Vec::new();
                    for axis in [0, 1] {
                        let (cosine, p) = (CosineSimilarity { axis, eps: 0.0 }, 3.0);
                        let length = Length { p, axis, eps: 0.0 };
                        all.extend(floats(&nn::cosine_similarity(x, residual, cosine).unwrap()));
                        all.extend(floats(&nn::normalize(x, length).unwrap()));
                    }
                    all
                };
                let (want, wanted) = (all(&x, &residual), others(&x, &residual));
                for exponent in [exponent, -exponent] {
                    let (x, residual) = (times(&x, exponent), times(&residual, exponent));
                    let got = all(&x, &residual);
                    for (a, b) in others(&x, &residual).iter().zip(&wanted) {
                        let apart = (a - b).abs();
                        assert!(
                            apart <= 8.0 * epsilon(dtype),
                            "{dtype} {shape:?} {name} {a} {b}"
                        );
                    }
                    for (k, (got, want)) in got.iter().zip(&want).enumerate() {
                        assert!(got == want, "{k}: {dtype} {shape:?} {name} {exponent}");
                    }
                }
            }
        }
    }
}

#[test]
fn spreads_and_channel_norms_scale_with_the_unit() {
    let mut rng = Rng(32);
    for (dtype, exponent) in dtypes() {
        for shape in [[6, 4, 5], [3, 8, 700], [1, 2, 9000], [300, 20, 1]] {
            let base = random(&mut rng, &shape, dtype);
            let tolerance = 16.0 * epsilon(dtype);
            for (name, x) in layouts(&base) {
                let exact = ChannelNorm {
                    eps: 0.0,
                    ..Default::default()
                };
                let norms = |x: &Tensor| {
                    let mut all = vec![
                        floats(&nn::batch_norm(x, None, exact).unwrap()),
                        floats(&nn::group_norm(x, 2, exact).unwrap()),
                    ];
                    if shape[2] > 1 {
                        all.push(floats(&nn::instance_norm(x, None, exact).unwrap()));
                    }
                    all
                };
                let want = norms(&x);
                for exponent in [exponent, -exponent] {
                    let large = times(&x, exponent);
                    for (k, (got, want)) in norms(&large).iter().zip(&want).enumerate() {
                        for (a, b) in got.iter().zip(want) {
                            assert!(
                                (a - b).abs() <= tolerance * b.abs().max(1.0),
                                "{k}: {dtype} {shape:?} {name} {exponent} {a} {b}"
                            );
                        }
                    }
                    for axis in 0..3 {
                        let unit = 2f64.powi(exponent);
                        let want = floats(&ops::std(&x, axis, 0.0).unwrap());
                        let got = floats(&ops::std(&large, axis, 0.0).unwrap());
                        for (a, b) in got.iter().zip(&want) {
                            assert!(
                                (a / unit - b).abs() <= tolerance * b,
                                "{dtype} {shape:?} {name} {exponent} {axis} {a} {b}"
                            );
                        }
                        // squares that stay in range
                        let some = times(&x, exponent / 4);
                        let unit = 2f64.powi(exponent / 4).powi(2);
                        let want = floats(&ops::var(&x, axis, 0.0).unwrap());
                        let got = floats(&ops::var(&some, axis, 0.0).unwrap());
                        for (a, b) in got.iter().zip(&want) {
                            assert!(
                                (a / unit - b).abs() <= tolerance * b,
                                "{dtype} {shape:?} {name} {exponent} {axis}"
                            );
                        }
                    }
                }
            }
        }
    }
}

#[test]
#[cfg(feature = "stream")]
fn means_near_the_largest_number_are_finite() {
    let mut rng = Rng(33);
    for (dtype, most) in [
        (DType::F32, f64::from(f32::MAX)),
        (DType::BF16, 3.3e38),
        (DType::F64, f64::MAX),
    ] {
        if !dtype.is_available() {
            continue;
        }
        for shape in [
            &[5, 7][..],
            &[3, 4000],
            &[2000, 3],
            &[2, 90_000],
            &[40, 30, 20],
        ] {
            let n: usize = shape.iter().product();
            let all: Vec<Scalar> = (0..n)
                .map(|_| Scalar::Float(most * rng.uniform(0.5, 1.0)))
                .collect();
            let base = tensor(&all, shape, dtype);
            for (name, x) in layouts(&base) {
                for axis in 0..shape.len() as isize {
                    // of halves of halves, which don't overflow
                    let small = times(&x, -40).astype(dtype).unwrap();
                    let want = floats(&ops::mean(&small, axis).unwrap());
                    let got = floats(&ops::mean(&x, axis).unwrap());
                    let unit = 2f64.powi(40);
                    for (a, b) in got.iter().zip(&want) {
                        assert!(
                            (a / unit - b).abs() <= 4.0 * epsilon(dtype) * b,
                            "{dtype} {shape:?} {name} {axis} {a:e}"
                        );
                    }
                    let stream = flex::stream::Stream::new();
                    let y = stream
                        .reduce(flex::stream::Kind::Mean, &(&x).into(), axis)
                        .unwrap();
                    assert_eq!(
                        floats(&y.get().unwrap()),
                        got,
                        "queued {dtype} {shape:?} {name}"
                    );
                }
            }
        }
    }
}

/// Rows with a mean far from 0: mean and variance are found as those of groups are.
#[test]
fn layer_norm_is_as_accurate_as_group_norm() {
    let mut rng = Rng(34);
    for n in [5, 64, 768, 4000, 9000] {
        let rows = 6;
        let all: Vec<f32> = (0..rows * n)
            .map(|_| (1e6 + rng.uniform(-2.0, 2.0)) as f32)
            .collect();
        let x = Tensor::from_slice(&all, [rows, n]).unwrap();
        let mut want = Vec::new();
        for row in all.chunks(n) {
            let mean = row.iter().map(|x| f64::from(*x)).sum::<f64>() / n as f64;
            let squares = row
                .iter()
                .map(|x| (f64::from(*x) - mean).powi(2))
                .sum::<f64>();
            let scale = 1.0 / (squares / n as f64 + 1e-5).sqrt();
            want.extend(row.iter().map(|x| (f64::from(*x) - mean) * scale));
        }
        let error = |y: Tensor| {
            let apart = floats(&y)
                .into_iter()
                .zip(&want)
                .map(|(a, b)| (a - b).abs());
            apart.fold(0.0, f64::max)
        };
        let layer = error(nn::layer_norm(&x, n, LayerNorm::default()).unwrap());
        let group = error(nn::group_norm(&x, 1, ChannelNorm::default()).unwrap());
        // half a digit of the mean, of the spread
        assert!(
            layer <= 0.04 && group <= 0.04 && layer <= 1.5 * group,
            "{n}: {layer} {group}"
        );
    }
}

/// Where adding a constant is exact, softmax is the same.
#[test]
fn softmax_does_not_depend_on_a_constant() {
    let mut rng = Rng(35);
    let dtypes = [DType::F32, DType::F64, DType::F16, DType::BF16];
    for dtype in dtypes.into_iter().filter(|d| d.is_available()) {
        for shape in [[3, 5], [70, 7], [4, 300], [2, 9000]] {
            let n: usize = shape.iter().product();
            let eighth = |_| Scalar::Float((rng.uniform(-10.0, 10.0) * 8.0).round() / 8.0);
            let base = tensor(&(0..n).map(eighth).collect::<Vec<_>>(), &shape, dtype);
            for (name, x) in layouts(&base) {
                for axis in [0, 1] {
                    let other = ops::add(&x, 16.0).unwrap();
                    let same = |f: &dyn Fn(&Tensor) -> flex::Result<Tensor>| {
                        assert_eq!(
                            values(&f(&x).unwrap()),
                            values(&f(&other).unwrap()),
                            "{dtype} {shape:?} {name}"
                        );
                    };
                    same(&|x| nn::softmax(x, axis));
                    same(&|x| nn::log_softmax(x, axis));
                }
            }
        }
    }
}
