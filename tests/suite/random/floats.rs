//! Uniform and normal floats.

use super::statistics::{anderson, kolmogorov, moments, normal, pearson, serial};
use flex::kernel::random::Stream;
use flex::random::default_rng;
use flex::{DType, Tensor};

fn doubles(x: Tensor) -> Vec<f64> {
    x.astype(DType::F64).unwrap().to_vec().unwrap()
}

#[test]
fn uniform_floats_are_the_bits() {
    let n = 100;
    let stream = Stream::new(9);
    let single = default_rng(9).random(n, DType::F32).unwrap();
    for (i, x) in single.to_vec::<f32>().unwrap().into_iter().enumerate() {
        let k = stream.word(0, i, 0) >> 8;
        assert_eq!(x, k as f32 / (1 << 24) as f32);
    }
    for (dtype, kept) in [(DType::F64, 53), (DType::F16, 11), (DType::BF16, 8)] {
        if !dtype.is_available() {
            continue;
        }
        let x = doubles(default_rng(9).random(n, dtype).unwrap());
        for (i, x) in x.into_iter().enumerate() {
            let k = stream.long(0, i, 0) >> (64 - kept);
            assert_eq!(x, k as f64 / (1u64 << kept) as f64, "{dtype}");
        }
    }
}

#[test]
fn uniform_floats_are_uniform() {
    for (seed, dtype) in [(1, DType::F32), (2, DType::F64), (3, DType::F32)] {
        let x = doubles(default_rng(seed).random(400_000, dtype).unwrap());
        assert!(x.iter().all(|x| (0.0..1.0).contains(x)));
        assert!(kolmogorov(&x, |x| x) < 2.0);
        let (mean, variance) = moments(&x, 0.5, 1.0 / 12.0, 1.0 / 80.0);
        assert!(mean.abs() < 4.0 && variance.abs() < 4.0);
        let mut counts = vec![0; 1000];
        x.iter().for_each(|x| counts[(x * 1000.0) as usize] += 1);
        assert!(pearson(&counts, |_| 400.0) < 5.0);
        for lag in [1, 2, 8, 16, 32, 64, 1024] {
            assert!(serial(&x, lag, 0.5, 1.0 / 12.0).abs() < 4.5, "{lag}");
        }
        // each bit of the fraction is set in half of them
        let fraction = if dtype == DType::F32 { 24 } else { 53 };
        for bit in 1..=fraction {
            let scale = 2f64.powi(bit);
            let set = x.iter().filter(|x| (**x * scale) as u64 & 1 == 1).count();
            assert!((set as f64 - 2e5).abs() < 5.0 * 1e5f64.sqrt(), "{bit}");
        }
    }
}

#[test]
fn uniform_of_bounds() {
    let mut g = default_rng(5);
    let low = Tensor::from([[0.0f32], [-10.0], [3.0]]);
    let high = Tensor::from([1.0f32, 4.0, 3.0]).reshape((3, 1)).unwrap();
    let x = g.uniform(&low, &high, (3, 1000), DType::F32).unwrap();
    let x = x.to_vec::<f32>().unwrap();
    assert!(x[..1000].iter().all(|x| (0.0..1.0).contains(x)));
    assert!(x[1000..2000].iter().all(|x| (-10.0..4.0).contains(x)));
    assert!(x[1000..2000].iter().any(|x| *x < -9.0) && x[1000..2000].iter().any(|x| *x > 3.0));
    assert!(x[2000..].iter().all(|x| *x == 3.0));
    // products that round up to the upper bound are cut off
    let eps = f32::EPSILON;
    let x = g
        .uniform(1.0, 1.0 + 2.0 * eps as f64, 1000, DType::F32)
        .unwrap();
    let x = x.to_vec::<f32>().unwrap();
    assert!(x.iter().all(|x| *x == 1.0 || *x == 1.0 + eps));
    // the same numbers as by hand
    let u = default_rng(8).random(50, DType::F64).unwrap();
    let y = default_rng(8).uniform(-3, 5, 50, DType::F64).unwrap();
    for (u, y) in doubles(u).into_iter().zip(doubles(y)) {
        assert_eq!(y, u * 8.0 - 3.0);
    }
    if DType::F16.is_available() {
        let x = doubles(g.uniform(0.0, 10.0, 5000, DType::F16).unwrap());
        assert!(x.iter().all(|x| (0.0..10.0).contains(x)));
    }
}

/// Box and Muller's formula of two numbers from 0 to 1, with the standard library's functions.
fn polar(u: f64, turn: f64) -> (f64, f64) {
    let (sin, cos) = (turn * std::f64::consts::TAU).sin_cos();
    let radius = (-2.0 * u.ln()).sqrt();
    (radius * cos, radius * sin)
}

#[test]
fn normal_floats_are_box_and_mullers() {
    let stream = Stream::new(4);
    let x = doubles(default_rng(4).standard_normal(128, DType::F64).unwrap());
    let y = default_rng(4).standard_normal(256, DType::F32).unwrap();
    let y = y.to_vec::<f32>().unwrap();
    for group in 0..8 {
        for j in 0..8 {
            let u = (stream.long(0, 16 * group + j, 0) as f64 + 0.5) / 2f64.powi(64);
            let turn = (stream.long(0, 16 * group + j + 8, 0) >> 12) as f64 + 0.5;
            let (a, b) = polar(u, turn / 2f64.powi(52));
            let i = 16 * group + j;
            assert!((x[i] - a).abs() < 1e-14 && (x[i + 8] - b).abs() < 1e-14);
        }
        for j in 0..16 {
            let bits = stream.long(0, 16 * group + j, 0);
            let u = ((bits >> 32) as f64 + 0.5) / 2f64.powi(32);
            let (a, b) = polar(u, (bits as u32 as f64 + 0.5) / 2f64.powi(32));
            let i = 32 * group + j;
            assert!((y[i] as f64 - a).abs() < 1e-6 && (y[i + 16] as f64 - b).abs() < 1e-6);
        }
    }
}

#[test]
fn normal_floats_are_normal() {
    for (seed, dtype) in [(1, DType::F32), (2, DType::F64), (3, DType::F32)] {
        let x = doubles(default_rng(seed).standard_normal(400_000, dtype).unwrap());
        assert!(kolmogorov(&x, normal) < 2.0);
        assert!(anderson(&x, normal) < 6.0);
        let (mean, variance) = moments(&x, 0.0, 1.0, 3.0);
        assert!(mean.abs() < 4.0 && variance.abs() < 4.0);
        // no skew, and the kurtosis: variances of the third and fourth powers are 15 and 96
        let n = x.len() as f64;
        let power = |p| x.iter().map(|x| x.powi(p)).sum::<f64>() / n;
        assert!((power(3) / (15.0 / n).sqrt()).abs() < 4.0);
        assert!(((power(4) - 3.0) / (96.0 / n).sqrt()).abs() < 4.0);
        for lag in [1, 2, 8, 16, 32, 1024] {
            assert!(serial(&x, lag, 0.0, 1.0).abs() < 4.5, "{lag}");
        }
        // the tails beyond 3 and 4 standard deviations
        for (edge, p) in [(3.0, 2.699_796e-3), (4.0, 6.334_248e-5)] {
            let beyond = x.iter().filter(|x| x.abs() > edge).count() as f64;
            assert!((beyond - n * p).abs() < 4.0 * (n * p).sqrt(), "{beyond}");
        }
    }
}

#[test]
fn normal_of_parameters() {
    let (z, x) = (
        default_rng(6).standard_normal((4, 3), DType::F32).unwrap(),
        default_rng(6)
            .normal(
                Tensor::from([1.0f32, 2.0, 3.0]),
                Tensor::from([[0.0f32], [1.0], [2.0], [0.5]]),
                (4, 3),
                DType::F32,
            )
            .unwrap(),
    );
    let (z, x) = (z.to_vec::<f32>().unwrap(), x.to_vec::<f32>().unwrap());
    let (loc, scale) = ([1.0, 2.0, 3.0], [0.0, 1.0, 2.0, 0.5]);
    for i in 0..12 {
        assert_eq!(x[i], loc[i % 3] + scale[i / 3] * z[i]);
    }
    let same = default_rng(6).normal(0, 1, (4, 3), DType::F32).unwrap();
    assert_eq!(same.to_vec::<f32>().unwrap(), z);
}
