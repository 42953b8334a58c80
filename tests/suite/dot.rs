//! Long dot products.

use crate::common::Rng;
use flex::{DType, Tensor, nn, ops};

/// Sums of so many products that they are summed in pieces.
#[test]
fn long_dot_products_match_and_keep_their_bits() {
    for n in [16384, 16385, 50001, 131072] {
        let mut rng = Rng(n as u64);
        let mut of =
            |rows: usize| -> Vec<f32> { (0..rows * n).map(|_| rng.short() - 0.4).collect() };
        let (x, y) = (of(2), of(3));
        let dot = |i: usize, j: usize| -> f64 {
            let pairs = x[i * n..][..n].iter().zip(&y[j * n..][..n]);
            pairs.map(|(x, y)| f64::from(*x) * f64::from(*y)).sum()
        };
        let (a, b) = (
            Tensor::from_slice(&x, [2, n]).unwrap(),
            Tensor::from_slice(&y, [3, n]).unwrap(),
        );
        let product = || {
            let all = ops::matmul(&a, &b.matrix_transpose().unwrap()).unwrap();
            let one = ops::vecdot(&a, &b.narrow(0, 1, 1).unwrap(), -1).unwrap();
            [all, one].map(|t| t.to_vec::<f32>().unwrap())
        };
        let [all, one] = product();
        let close = |got: f32, want: f64| (f64::from(got) - want).abs() < 1e-6 * n as f64;
        for i in 0..2 {
            assert!(
                close(one[i], dot(i, 1)),
                "{n}: {} for {}",
                one[i],
                dot(i, 1)
            );
            for j in 0..3 {
                assert!(close(all[3 * i + j], dot(i, j)), "{n} {i} {j}");
            }
        }
        #[cfg(feature = "std")]
        for threads in [1, 2, 7] {
            assert_eq!(
                flex::par::with_threads(threads, product),
                [all.clone(), one.clone()]
            );
        }
        let whole = |t: &Tensor| {
            let t = ops::multiply(t, 9.0).unwrap();
            t.astype(DType::I64).unwrap().select(0, 0).unwrap()
        };
        let (p, q) = (whole(&a), whole(&b));
        let [of_p, of_q] = [&p, &q].map(|t| t.to_vec::<i64>().unwrap());
        let want: i64 = of_p.iter().zip(&of_q).map(|(p, q)| p * q).sum();
        assert_eq!(ops::vecdot(&p, &q, 0).unwrap().item::<i64>().unwrap(), want);
    }
}

/// Products of a matrix and its transpose, which are symmetric, have the bits of those of two
/// matrices: with the transpose on either side, of parts of a larger matrix, on any number of
/// threads.
#[test]
fn symmetric_products_have_the_bits_of_any() {
    let dtypes = [DType::F32, DType::F64, DType::I32, DType::Complex64];
    for d in dtypes.into_iter().filter(|d| d.is_available()) {
        for (n, k) in [
            (255, 8),
            (256, 40),
            (257, 300),
            (391, 2),
            (700, 33),
            (256, 0),
        ] {
            let mut rng = Rng(n as u64);
            let x: Vec<f32> = (0..n * k).map(|_| 100.0 * rng.short() - 40.0).collect();
            let x = Tensor::from_slice(&x, [n, k]).unwrap().astype(d).unwrap();
            let across = x.matrix_transpose().unwrap().contiguous().unwrap();
            for x in [
                x.clone(),
                across.matrix_transpose().unwrap(),
                x.flip([0, 1]).unwrap(),
            ] {
                let other = x.copy().unwrap();
                let other = match x.is_contiguous() {
                    true => other,
                    false => {
                        let other = x.matrix_transpose().unwrap().copy().unwrap();
                        other.matrix_transpose().unwrap()
                    }
                };
                let of = |y: &Tensor| ops::matmul(&x, &y.matrix_transpose().unwrap()).unwrap();
                let want = of(&other);
                let equal = |y: Tensor| ops::array_equal(&y, &want, false).unwrap();
                assert!(equal(of(&x)), "{d} {n} {k}");
                #[cfg(feature = "std")]
                for threads in [1, 3] {
                    let got = flex::par::with_threads(threads, || of(&x));
                    assert!(equal(got), "{d} {n} {k}, {threads} threads");
                }
            }
        }
    }
}

/// Sums of any length, of rows and columns that lie apart, with NaN between them: no lane beyond the
/// end of a sum or of a row is read.
#[test]
fn products_of_few_rows_end_with_their_columns() {
    let nan_beside = |values: &[i64], rows: usize, dtype: DType| {
        let (k, mut rng) = (values.len() / rows, Rng(1));
        let apart = k + 1 + rng.below(4);
        let all: Vec<f32> = (0..rows * apart)
            .map(|i| match i % apart < k {
                true => values[i / apart * k + i % apart] as f32,
                false => f32::NAN,
            })
            .collect();
        let all = Tensor::from_slice(&all, [rows, apart]).unwrap();
        all.astype(dtype).unwrap().narrow(1, 0, k).unwrap()
    };
    let dtypes = [DType::F32, DType::F64].into_iter();
    for dtype in dtypes.filter(|d| d.is_available()) {
        let lengths = (1..=70).chain([127, 128, 129, 300]);
        for (k, (m, n)) in lengths.flat_map(|k| {
            let sizes = [
                (1, 1),
                (1, 9),
                (1, 17),
                (1, 40),
                (2, 16),
                (4, 23),
                (7, 5),
                (12, 33),
            ];
            sizes.into_iter().map(move |sizes| (k, sizes))
        }) {
            let mut rng = Rng((k * n + m) as u64);
            let mut of =
                |len: usize| -> Vec<i64> { (0..len).map(|_| rng.below(9) as i64 - 4).collect() };
            let (x, w, bias) = (of(m * k), of(n * k), of(n));
            let sum =
                |i: usize| -> i64 { (0..k).map(|p| x[i / n * k + p] * w[i % n * k + p]).sum() };
            let sums: Vec<i64> = (0..m * n).map(sum).collect();
            let more: Vec<i64> = (0..m * n).map(|i| sums[i] + bias[i % n]).collect();
            let (a, b) = (nan_beside(&x, m, dtype), nan_beside(&w, n, dtype));
            let bias: Vec<f32> = bias.iter().map(|x| *x as f32).collect();
            let bias = Tensor::from_slice(&bias, n).unwrap();
            let bias = bias.astype(dtype).unwrap();
            let check = |y: Tensor, want: &[i64], what: &str| {
                let y = y.astype(DType::F32).unwrap().to_vec::<f32>().unwrap();
                let want: Vec<f32> = want.iter().map(|x| *x as f32).collect();
                assert_eq!(y, want, "{what} {dtype}: {m} x {k} x {n}");
            };
            check(
                a.matmul(&b.matrix_transpose().unwrap()).unwrap(),
                &sums,
                "matrices",
            );
            check(nn::linear(&a, &b, &bias).unwrap(), &more, "linear");
            let by_rows: Vec<i64> = (0..k * n).map(|i| w[i % n * k + i / n]).collect();
            let by_rows = nan_beside(&by_rows, k, dtype);
            check(a.matmul(&by_rows).unwrap(), &sums, "rows");
            let row = a.select(0, 0).unwrap();
            check(b.matmul(&row).unwrap(), &sums[..n], "matrix and vector");
            check(
                row.matmul(&b.matrix_transpose().unwrap()).unwrap(),
                &sums[..n],
                "vector and matrix",
            );
            check(
                row.matmul(&b.select(0, 0).unwrap()).unwrap(),
                &sums[..1],
                "vectors",
            );
        }
    }
}
