//! Eigenvalues and singular values without vectors: the ways of their own are as accurate as those with
//! vectors.

use crate::common::{Rng, Value, epsilon, random, values};
use crate::matrices::{fields, special};
use flex::linalg::{self, QrMode};
use flex::{DType, Tensor, ops};

#[test]
fn eigenvalues_of_small_matrices_of_a_batch() {
    let mut rng = Rng(8);
    for dtype in fields() {
        for n in 1..=16 {
            let mut all: Vec<Tensor> = (0..21).map(|_| random(&mut rng, &[n, n], dtype)).collect();
            if n == 11 {
                all.extend(special(&mut rng, dtype).into_iter().map(|(_, x)| x));
            }
            // what a lane cannot hold, among matrices that it can
            for by in [0.0, 1e30, 1e-35, f64::NAN] {
                all.push(ops::multiply(&all[0], by).unwrap());
            }
            if dtype.real() == DType::F64 {
                for by in [1e200, 1e-200, 1e-300] {
                    all.push(ops::multiply(&all[0], by).unwrap());
                }
            }
            all.push(random(&mut rng, &[n, n], dtype));
            let all: Vec<&Tensor> = all.iter().collect();
            let x = ops::stack(&all, 0).unwrap();
            let adjoint = ops::conj(x.matrix_transpose().unwrap()).unwrap();
            let x = ops::multiply(ops::add(&x, &adjoint).unwrap(), 0.5).unwrap();
            let w = linalg::eigvalsh(&x).unwrap();
            for k in 0..all.len() {
                let one = x.select(0, k as i64).unwrap();
                let expected: Vec<f64> = values(&linalg::eigh(&one).unwrap().0)
                    .into_iter()
                    .map(Value::float)
                    .collect();
                let w: Vec<f64> = values(&w.select(0, k as i64).unwrap())
                    .into_iter()
                    .map(Value::float)
                    .collect();
                if expected[0].is_nan() {
                    assert!(w.iter().all(|w| w.is_nan()), "{k} of {n}");
                    continue;
                }
                assert!(w.is_sorted(), "{k} of {n}");
                let size = w[0].abs().max(w[n - 1].abs());
                for (w, expected) in w.iter().zip(&expected) {
                    let most = 4.0 * n.max(2) as f64 * epsilon(dtype.real()) * size;
                    assert!(
                        (w - expected).abs() <= most,
                        "{k} of {n}, {dtype}: {w} {expected}"
                    );
                }
            }
            // its neighbours change no bit of a matrix
            let turned = linalg::eigvalsh(&x.flip(0).unwrap()).unwrap();
            let bits = |x: &Tensor| -> Vec<u64> {
                let values = values(x).into_iter().map(Value::float);
                values.map(f64::to_bits).collect()
            };
            assert_eq!(bits(&turned.flip(0).unwrap()), bits(&w), "{n}");
        }
    }
}

#[test]
fn singular_values_alone_are_those_beside_vectors() {
    let mut rng = Rng(9);
    for dtype in fields() {
        let mut all = special(&mut rng, dtype);
        for (m, n) in [(1, 1), (2, 2), (3, 3), (40, 40), (90, 90), (80, 33)] {
            all.push(("random", random(&mut rng, &[m, n], dtype)));
        }
        // bidiagonal ones, whose small values are accurate
        for power in [-1.0, -3.0, 3.0] {
            let numbers: Vec<f32> = (0..144)
                .map(|k| match (k / 12, k % 12) {
                    (i, j) if i == j => 10f64.powf(power * i as f64) as f32,
                    (i, j) if i + 1 == j => 10f64.powf(power * j as f64) as f32,
                    _ => 0.0,
                })
                .collect();
            let x = Tensor::from_slice(&numbers, [12, 12]).unwrap();
            all.push(("bidiagonal", x.astype(dtype).unwrap()));
        }
        for (name, x) in all {
            let only = values(&linalg::svdvals(&x).unwrap());
            let only: Vec<f64> = only.into_iter().map(Value::float).collect();
            let beside = values(&linalg::svd(&x, false).unwrap().1);
            assert!(only.iter().rev().is_sorted() && only.iter().all(|s| *s >= 0.0));
            for (x, y) in only.iter().zip(beside.into_iter().map(Value::float)) {
                let most =
                    epsilon(dtype.real()) * 16.0 * if name == "bidiagonal" { y } else { only[0] };
                assert!((x - y).abs() <= most, "{name} of {dtype}: {x} {y}");
            }
        }
    }
}

/// Tridiagonal matrices that divide and conquer has cases for, large enough to be divided twice; with
/// `upper`, their upper triangles.
fn divided(dtype: DType, upper: bool) -> Vec<(&'static str, Tensor)> {
    type Diagonals<'a> = (&'a str, &'a dyn Fn(usize) -> f64, &'a dyn Fn(usize) -> f64);
    let n = 101;
    let all: [Diagonals; 9] = [
        ("laplace", &|_| 2.0, &|_| -1.0),
        ("wilkinson", &|i| (i as f64 - 50.0).abs(), &|_| 1.0),
        ("glued", &|i| (i as f64 % 21.0 - 10.0).abs(), &|i| {
            if i % 21 == 20 { 1e-6 } else { 1.0 }
        }),
        ("split", &|i| (i % 3) as f64, &|i| f64::from(i % 25 != 24)),
        ("equal", &|_| 1.0, &|_| 1e-12),
        ("graded", &|i| 10f64.powf(-0.2 * i as f64), &|i| {
            10f64.powf(-0.2 * i as f64 - 0.5)
        }),
        ("growing", &|i| 10f64.powf(0.2 * i as f64 - 20.0), &|i| {
            10f64.powf(0.2 * i as f64 - 20.5)
        }),
        ("no diagonal", &|_| 0.0, &|_| 1.0),
        ("zero", &|_| 0.0, &|_| 0.0),
    ];
    let matrix = |(name, on, beside): Diagonals<'static>| {
        let at = |k: usize| match (k / n, k % n) {
            (i, j) if i == j => on(i) as f32,
            (i, j) if i + 1 == j => beside(i) as f32,
            (i, j) if i == j + 1 && !upper => beside(j) as f32,
            _ => 0.0,
        };
        let numbers: Vec<f32> = (0..n * n).map(at).collect();
        let x = Tensor::from_slice(&numbers, [n, n]).unwrap();
        (name, x.astype(dtype).unwrap())
    };
    all.into_iter().map(matrix).collect()
}

/// Asserts that `x` is almost zero beside `size`, in roundings of `n` terms.
fn negligible(x: flex::Result<Tensor>, size: f64, dtype: DType, what: &str) {
    let x = x.unwrap();
    let most = 4.0 * x.shape()[0] as f64 * epsilon(dtype.real()) * size;
    for x in values(&ops::abs(&x).unwrap()) {
        assert!(x.float() <= most, "{what} of {dtype}: {x:?} > {most:e}");
    }
}

#[test]
fn matrices_that_are_divided() {
    let mut rng = Rng(10);
    let adjoint = |x: &Tensor| ops::conj(x.matrix_transpose().unwrap()).unwrap();
    let largest = |x: &Tensor| {
        let sizes = values(&ops::abs(x).unwrap()).into_iter().map(Value::float);
        sizes.fold(0.0, f64::max)
    };
    for dtype in fields() {
        let n = 101;
        let unit = ops::eye(n, n, 0, dtype).unwrap();
        // as they are, and of full matrices with the same spectrum
        let (q, _) = linalg::qr(&random(&mut rng, &[n, n], dtype), QrMode::Reduced).unwrap();
        for (name, x) in divided(dtype, false) {
            let full = q.matmul(&x).unwrap().matmul(&adjoint(&q)).unwrap();
            for x in [x, full] {
                let (w, v) = linalg::eigh(&x).unwrap();
                let size = largest(&w);
                let product = x.matmul(&v).unwrap();
                negligible(ops::subtract(&product, &v * &w), size, dtype, name);
                let gram = adjoint(&v).matmul(&v).unwrap();
                negligible(ops::subtract(&gram, &unit), 1.0, dtype, name);
                let only = linalg::eigvalsh(&x).unwrap();
                negligible(ops::subtract(&only, &w), size, dtype, name);
            }
        }
        for (name, x) in divided(dtype, true) {
            let full = q.matmul(&x).unwrap();
            for x in [x, full] {
                let (u, s, vh) = linalg::svd(&x, false).unwrap();
                let size = largest(&s);
                let product = (&u * &s).matmul(&vh).unwrap();
                negligible(ops::subtract(&product, &x), size, dtype, name);
                for q in [&u, &adjoint(&vh)] {
                    let gram = adjoint(q).matmul(q).unwrap();
                    negligible(ops::subtract(&gram, &unit), 1.0, dtype, name);
                }
                let only = linalg::svdvals(&x).unwrap();
                negligible(ops::subtract(&only, &s), size, dtype, name);
            }
        }
    }
}
