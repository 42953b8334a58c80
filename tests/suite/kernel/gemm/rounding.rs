//! Rounding errors of sums of floats.

use super::*;

#[test]
#[cfg(feature = "half")]
fn sums_of_halves_are_not_rounded() {
    use flex::dtype::{bf16, f16};
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

/// Odd sums, whose last pair is half empty; B in both layouts, and packed before the product.
#[test]
#[cfg(feature = "half")]
fn products_of_bfloat16_are_summed_in_float32() {
    use flex::dtype::bf16;
    let mut random = Rng(8);
    for (m, n, k) in [(17, 130, 701), (70, 90, 3001), (50, 64, 1), (49, 33, 96)] {
        let mut value = |_| bf16::from_f64(random.short() as f64 - 0.5);
        let a: Vec<bf16> = (0..m * k).map(&mut value).collect();
        let b: Vec<bf16> = (0..k * n).map(&mut value).collect();
        let (a, rows) = (Mat::from_slice(&a, m, k), Mat::from_slice(&b, k, n));
        for b in [rows, Mat::from_slice(&b, n, k).t()] {
            let (mut c, mut again) = (vec![0.0f32; m * n], vec![0.0f32; m * n]);
            let by = |packed, c: &mut [f32]| {
                let mut c = MatMut::from_slice(c, m, n);
                let algorithm = Algorithm::Blocked;
                algorithm.product(a, b, packed, &mut c, false, Epilogue::NONE)
            };
            by(None, &mut c).unwrap();
            let blocks = blocks::<bf16, bf16>(k);
            let mut panels = vec![f32::NAN; Panels::<f32>::len(blocks, n)];
            pack::<bf16, bf16>(b, &mut panels);
            by(Some(Panels::of(blocks, n, &panels)), &mut again).unwrap();
            assert_eq!(c, again);
            for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
                // SAFETY: rows and columns of the matrices.
                let terms = (0..k).map(|p| unsafe { a.get(i, p).to_f64() * b.get(p, j).to_f64() });
                let (sum, size) = terms.fold((0.0, 0.0), |(s, z), x| (s + x, z + x.abs()));
                let error = (c[i * n + j] as f64 - sum).abs();
                assert!(
                    error <= size * k as f64 * 2f64.powi(-24),
                    "{m}x{k}x{n} [{i}, {j}]: {error}"
                );
            }
        }
    }
}
