//! Linear algebra beyond the standard: residuals of systems, and batches of small matrices beside
//! single ones. The comparison with SciPy is in tests/python.

use crate::common::Rng;
use flex::linalg::{self, Lu, MatrixNorm, Triangular, Turn};
use flex::{DType, Tensor, ops};

fn random(rng: &mut Rng, shape: &[usize]) -> Tensor {
    let count = shape.iter().product();
    let x: Vec<f64> = (0..count).map(|_| rng.uniform(-1.0, 1.0)).collect();
    Tensor::from_slice(&x, shape).unwrap()
}
fn largest(x: &Tensor) -> f64 {
    ops::max(&ops::abs(x).unwrap(), ())
        .unwrap()
        .item::<f64>()
        .unwrap()
}
fn assert_near(x: &Tensor, y: &Tensor, within: f64) {
    assert_eq!(x.shape(), y.shape());
    if !x.is_empty() {
        let distance = largest(&ops::subtract(x, y).unwrap());
        assert!(distance <= within * (1.0 + largest(y)), "{distance}");
    }
}

#[test]
fn triangles_and_factors_solve_their_systems() {
    let mut rng = Rng(31);
    for n in [1usize, 2, 7, 60, 130, 200] {
        let shift = ops::multiply(ops::eye(n, n, 0, DType::F64).unwrap(), 2.0 * n as f64).unwrap();
        let a = ops::add(random(&mut rng, &[n, n]), &shift).unwrap();
        let b = random(&mut rng, &[n, 3]);
        for lower in [false, true] {
            let t = if lower {
                ops::tril(&a, 0)
            } else {
                ops::triu(&a, 0)
            }
            .unwrap();
            for turn in [Turn::None, Turn::Transpose, Turn::Adjoint] {
                let how = Triangular {
                    lower,
                    turn,
                    ..Default::default()
                };
                let x = linalg::solve_triangular(&a, &b, how).unwrap();
                let t = match turn {
                    Turn::None => t.clone(),
                    _ => ops::matrix_transpose(&t).unwrap(),
                };
                assert_near(&ops::matmul(&t, &x).unwrap(), &b, 1e-13);
            }
        }
        let (p, l, u) = linalg::lu(&a).unwrap();
        let product = ops::matmul(&p, &ops::matmul(&l, &u).unwrap()).unwrap();
        assert_near(&product, &a, 1e-13);
        let (factors, pivots) = linalg::lu_factor(&a).unwrap();
        let lu = Lu::from_factors(&factors, &pivots).unwrap();
        let x = lu.solve(&b).unwrap();
        assert_near(&ops::matmul(&a, &x).unwrap(), &b, 1e-12);
        let fit = linalg::lstsq(&a, &b, None).unwrap();
        assert_near(&fit.x, &x, 1e-10);
        assert_eq!(fit.rank.item::<i64>().unwrap(), n as i64);
    }
}

/// Numbers whose inverse overflows are divided by.
#[test]
fn triangles_with_subnormal_diagonals() {
    let least = f64::MIN_POSITIVE / 16.0;
    let mut t = vec![0.0; 9];
    (t[0], t[4], t[8], t[3], t[2]) = (least, 2.0, least, 1.0, 1.0);
    let t = Tensor::from_slice(&t, [3, 3]).unwrap();
    let b = Tensor::from_slice(&[0.0, least, 2.0, 5.0, 0.0, 2.0 * least], [3, 2]).unwrap();
    for (lower, x) in [
        (true, [0.0, 1.0, 1.0, 2.0, 0.0, 2.0]),
        (false, [0.0, 1.0 - 2.0 / least, 1.0, 2.5, 0.0, 2.0]),
    ] {
        let how = Triangular {
            lower,
            ..Default::default()
        };
        let got = linalg::solve_triangular(&t, &b, how).unwrap();
        assert_eq!(got.to_vec::<f64>().unwrap(), x, "lower: {lower}");
    }
    // in one panel of several
    let n = 130;
    let mut t = vec![0.0; n * n];
    (0..n).for_each(|i| t[i * n + i] = if i == 110 { least } else { 2.0 });
    (t[110 * n + 3], t[120 * n + 110], t[129 * n]) = (1.0, least, 1.0);
    let x: Vec<f64> = (0..2 * n)
        .map(|k| if k / 2 == 3 { 0.0 } else { k as f64 })
        .collect();
    let (t, x) = (
        Tensor::from_slice(&t, [n, n]),
        Tensor::from_slice(&x, [n, 2]),
    );
    let (t, x) = (t.unwrap(), x.unwrap());
    for lower in [true, false] {
        let t = if lower {
            t.clone()
        } else {
            ops::matrix_transpose(&t).unwrap()
        };
        let b = ops::matmul(&t, &x).unwrap();
        let how = Triangular {
            lower,
            ..Default::default()
        };
        let got = linalg::solve_triangular(&t, &b, how).unwrap();
        if lower {
            assert_eq!(got, x);
        } else {
            assert_near(&got, &x, 1e-14);
        }
    }
}

#[test]
fn small_matrices_of_a_batch_are_those_alone() {
    let mut rng = Rng(32);
    for n in 1..=9usize {
        for count in [15usize, 16, 37] {
            let a = random(&mut rng, &[count, n, n]);
            let b = random(&mut rng, &[count, n, 2]);
            let adjoint = ops::matrix_transpose(&a).unwrap();
            let one = ops::eye(n, n, 0, DType::F64).unwrap();
            let h = ops::add(ops::matmul(&a, &adjoint).unwrap(), &one).unwrap();
            let inverse = linalg::inv(&h).unwrap();
            let x = linalg::solve(&h, &b).unwrap();
            let det = linalg::det(&a).unwrap();
            let factor = linalg::cholesky(&h, false).unwrap();
            for k in 0..count as i64 {
                let part = |t: &Tensor| t.select(0, k).unwrap();
                assert_near(&part(&inverse), &linalg::inv(&part(&h)).unwrap(), 1e-12);
                assert_near(
                    &part(&x),
                    &linalg::solve(&part(&h), &part(&b)).unwrap(),
                    1e-12,
                );
                assert_near(&part(&det), &linalg::det(&part(&a)).unwrap(), 1e-13);
                assert_near(
                    &part(&factor),
                    &linalg::cholesky(&part(&h), false).unwrap(),
                    1e-13,
                );
            }
        }
    }
}

#[test]
fn exponentials_follow_their_series() {
    let mut rng = Rng(33);
    for n in [1usize, 3, 8] {
        let x = random(&mut rng, &[n, n]);
        let mut term = ops::eye(n, n, 0, DType::F64).unwrap();
        let mut sum = term.clone();
        for k in 1..60 {
            term = ops::divide(ops::matmul(&term, &x).unwrap(), f64::from(k)).unwrap();
            sum = ops::add(&sum, &term).unwrap();
        }
        assert_near(&linalg::expm(&x).unwrap(), &sum, 1e-13);
    }
}

#[test]
fn positive_definite_systems_and_products_of_several() {
    let mut rng = Rng(34);
    let a = random(&mut rng, &[6, 6]);
    let one = ops::eye(6, 6, 0, DType::F64).unwrap();
    let gram = ops::matmul(&a, &ops::matrix_transpose(&a).unwrap()).unwrap();
    let h = ops::add(&gram, &one).unwrap();
    let b = random(&mut rng, &[6, 2]);
    for upper in [false, true] {
        let factor = linalg::cholesky(&h, upper).unwrap();
        let x = linalg::cholesky_solve(&b, &factor, upper).unwrap();
        assert_near(&ops::matmul(&h, &x).unwrap(), &b, 1e-13);
    }
    // the norm of the matrix times that of its inverse
    let inverse = linalg::inv(&h).unwrap();
    for norm in [MatrixNorm::One, MatrixNorm::Two, MatrixNorm::Frobenius] {
        let product = ops::multiply(
            linalg::matrix_norm(&h, norm, false).unwrap(),
            linalg::matrix_norm(&inverse, norm, false).unwrap(),
        );
        assert_near(&linalg::cond(&h, norm).unwrap(), &product.unwrap(), 1e-12);
    }
    let several = [[3, 9], [9, 2], [2, 8], [8, 4]].map(|s| random(&mut rng, &s));
    let mut product = several[0].clone();
    for x in &several[1..] {
        product = ops::matmul(&product, x).unwrap();
    }
    let found = linalg::multi_dot(&several.each_ref()).unwrap();
    assert_near(&found, &product, 1e-14);
}
