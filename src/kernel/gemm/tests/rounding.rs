//! What sums of floats lose.

use super::*;

#[test]
#[cfg(feature = "half")]
fn sums_of_halves_are_not_rounded() {
    use crate::dtype::{bf16, f16};
    let ones = |n: usize| vec![1.0f32; n];
    let mut c = [0.0f32; 70];
    let (a, b) = (
        ones(3001)
            .iter()
            .map(|x| bf16::from_f32(*x))
            .collect::<Vec<_>>(),
        vec![bf16::ONE; 3001 * 70],
    );
    product(
        Mat::from_slice(&a, 1, 3001),
        Mat::from_slice(&b, 3001, 70),
        MatMut::from_slice(&mut c, 1, 70),
        false,
        Epilogue::NONE,
    )
    .unwrap();
    assert_eq!(c, [3001.0; 70]);
    let (a, b, mut c) = (
        vec![f16::ONE; 9 * 3001],
        vec![f16::ONE; 3001 * 70],
        vec![0.0f32; 9 * 70],
    );
    product(
        Mat::from_slice(&a, 9, 3001),
        Mat::from_slice(&b, 3001, 70),
        MatMut::from_slice(&mut c, 9, 70),
        false,
        Epilogue::NONE,
    )
    .unwrap();
    assert!(c.iter().all(|x| *x == 3001.0));
}

#[test]
fn floats_are_as_accurate_as_they_can_be() {
    let mut random = Rng(7);
    for (m, n, k) in [(3, 130, 700), (70, 90, 1500), (1, 1, 5000), (200, 180, 170)] {
        let mut value = || random.short() - 0.5;
        let (a, b): (Vec<f32>, Vec<f32>) = (
            (0..m * k).map(|_| value()).collect(),
            (0..k * n).map(|_| value()).collect(),
        );
        let mut c = vec![0.0f32; m * n];
        product(
            Mat::from_slice(&a, m, k),
            Mat::from_slice(&b, k, n),
            MatMut::from_slice(&mut c, m, n),
            false,
            Epilogue::NONE,
        )
        .unwrap();
        for (i, x) in c.iter().enumerate() {
            let terms = (0..k).map(|p| a[i / n * k + p] as f64 * b[p * n + i % n] as f64);
            let (sum, size) = terms.fold((0.0, 0.0), |(s, z), t| (s + t, z + t.abs()));
            assert!(
                (*x as f64 - sum).abs() <= 3e-7 * size,
                "{m}x{k}x{n} [{i}]: {x} {sum}"
            );
        }
    }
}
