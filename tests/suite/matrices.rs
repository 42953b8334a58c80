//! Factorisations: residuals in LAPACK's ratios, on matrices of all kinds, and the texts of errors.

use crate::common::{Rng, Value, epsilon, layouts, random, values};
use flex::linalg::{self, Lu, MatrixNorm, QrMode};
use flex::{DType, Tensor, ops};

/// A matrix of complex numbers, in float64.
#[derive(Clone)]
struct Matrix {
    rows: usize,
    cols: usize,
    numbers: Vec<(f64, f64)>,
}

impl Matrix {
    fn of(x: &Tensor) -> Matrix {
        let number = |v: &Value| match v {
            Value::Complex(re, im) => (*re, *im),
            v => (v.float(), 0.0),
        };
        Matrix {
            rows: x.shape()[0],
            cols: x.shape()[1],
            numbers: values(x).iter().map(number).collect(),
        }
    }
    fn new(rows: usize, cols: usize, f: impl Fn(usize, usize) -> (f64, f64)) -> Matrix {
        let numbers = (0..rows * cols).map(|k| f(k / cols, k % cols)).collect();
        Matrix {
            rows,
            cols,
            numbers,
        }
    }
    fn identity(n: usize) -> Matrix {
        Matrix::new(n, n, |i, j| (f64::from(i == j), 0.0))
    }
    fn at(&self, i: usize, j: usize) -> (f64, f64) {
        self.numbers[i * self.cols + j]
    }
    fn adjoint(&self) -> Matrix {
        Matrix::new(self.cols, self.rows, |i, j| {
            (self.at(j, i).0, -self.at(j, i).1)
        })
    }
    fn times(&self, other: &Matrix) -> Matrix {
        Matrix::new(self.rows, other.cols, |i, j| {
            (0..self.cols).fold((0.0, 0.0), |sum, k| {
                let ((a, b), (c, d)) = (self.at(i, k), other.at(k, j));
                (sum.0 + a * c - b * d, sum.1 + a * d + b * c)
            })
        })
    }
    fn minus(&self, other: &Matrix) -> Matrix {
        Matrix::new(self.rows, self.cols, |i, j| {
            let ((a, b), (c, d)) = (self.at(i, j), other.at(i, j));
            (a - c, b - d)
        })
    }
    /// The columns times real numbers.
    fn scaled(&self, by: &[f64]) -> Matrix {
        Matrix::new(self.rows, self.cols, |i, j| {
            (self.at(i, j).0 * by[j], self.at(i, j).1 * by[j])
        })
    }
    /// The 1-norm.
    fn norm(&self) -> f64 {
        let column = |j| {
            (0..self.rows)
                .map(|i| self.at(i, j).0.hypot(self.at(i, j).1))
                .sum()
        };
        (0..self.cols).map(column).fold(0.0, f64::max)
    }
}

/// The dtypes of matrices.
pub fn fields() -> Vec<DType> {
    let all = [DType::F32, DType::F64, DType::Complex64, DType::Complex128];
    all.into_iter().filter(|d| d.is_available()).collect()
}

/// Asserts that `residual` is at most `ratio` times `n` roundings of `size`.
fn small(residual: &Matrix, n: usize, size: f64, dtype: DType, ratio: f64, what: &str) {
    let most = ratio * n.max(1) as f64 * size * epsilon(dtype.real());
    let residual = residual.norm();
    assert!(
        residual <= most,
        "{what} of {dtype}: {residual:e} > {most:e}"
    );
}
fn orthonormal(q: &Matrix, dtype: DType, what: &str) {
    let off = q.adjoint().times(q).minus(&Matrix::identity(q.cols));
    small(&off, q.rows, 1.0, dtype, 30.0, what);
}

const SIZES: [usize; 9] = [0, 1, 2, 3, 7, 16, 49, 97, 130];

#[test]
fn solutions_and_inverses_have_small_residuals() {
    let mut rng = Rng(1);
    for dtype in fields() {
        for n in SIZES {
            let a = random(&mut rng, &[n, n], dtype);
            let lu = Lu::new(&a).unwrap();
            for width in [1, 3, 50] {
                let b = random(&mut rng, &[n, width], dtype);
                for x in [lu.solve(&b).unwrap(), linalg::solve(&a, &b).unwrap()] {
                    let (a, b, x) = (Matrix::of(&a), Matrix::of(&b), Matrix::of(&x));
                    let size = a.norm() * x.norm();
                    small(&b.minus(&a.times(&x)), 1, size, dtype, 30.0, "solve");
                }
            }
            let x = Matrix::of(&linalg::inv(&a).unwrap());
            let a = Matrix::of(&a);
            let off = Matrix::identity(n).minus(&a.times(&x));
            small(&off, n, a.norm() * x.norm(), dtype, 30.0, "inv");
        }
    }
}

#[test]
fn any_layout_and_batch_has_the_same_bits() {
    let mut rng = Rng(2);
    for dtype in fields() {
        let x = random(&mut rng, &[3, 9, 9], dtype);
        let square = x
            .matmul(&ops::conj(x.matrix_transpose().unwrap()).unwrap())
            .unwrap();
        type Function = fn(&Tensor) -> flex::Result<Tensor>;
        let functions: [(&str, Function); 7] = [
            ("inv", linalg::inv),
            ("det", linalg::det),
            ("cholesky", |x| linalg::cholesky(x, false)),
            ("qr", |x| Ok(linalg::qr(x, QrMode::Reduced)?.0)),
            ("eigh", |x| Ok(linalg::eigh(x)?.1)),
            ("svd", |x| Ok(linalg::svd(x, true)?.0)),
            ("pinv", |x| linalg::pinv(x, None)),
        ];
        for (name, f) in functions {
            let expected = f(&square).unwrap();
            for (layout, x) in layouts(&square) {
                assert_eq!(
                    values(&f(&x).unwrap()),
                    values(&expected),
                    "{name}, {layout}"
                );
            }
            for k in 0..3 {
                let one = f(&square.select(0, k).unwrap()).unwrap();
                assert_eq!(
                    values(&one),
                    values(&expected.select(0, k).unwrap()),
                    "{name}"
                );
            }
        }
    }
}

#[test]
fn cholesky_factors() {
    let mut rng = Rng(3);
    for dtype in fields() {
        for n in SIZES {
            let x = random(&mut rng, &[n, n + 3], dtype);
            let a = x
                .matmul(&ops::conj(x.matrix_transpose().unwrap()).unwrap())
                .unwrap();
            let whole = Matrix::of(&a);
            let l = Matrix::of(&linalg::cholesky(&a, false).unwrap());
            small(
                &whole.minus(&l.times(&l.adjoint())),
                n,
                whole.norm(),
                dtype,
                30.0,
                "cholesky",
            );
            let u = Matrix::of(&linalg::cholesky(&a, true).unwrap());
            small(
                &whole.minus(&u.adjoint().times(&u)),
                n,
                whole.norm(),
                dtype,
                30.0,
                "upper",
            );
            for i in 0..n {
                assert!(l.at(i, i).0 > 0.0 && l.at(i, i).1 == 0.0);
                for j in 0..i {
                    assert_eq!((l.at(j, i), u.at(i, j)), ((0.0, 0.0), (0.0, 0.0)));
                }
            }
        }
    }
}

/// Matrices that algorithms fail for.
pub fn special(rng: &mut Rng, dtype: DType) -> Vec<(&'static str, Tensor)> {
    let n = 11;
    let real = |f: &dyn Fn(usize, usize) -> f64| {
        let numbers: Vec<f32> = (0..n * n).map(|k| f(k / n, k % n) as f32).collect();
        Tensor::from_slice(&numbers, [n, n])
            .unwrap()
            .astype(dtype)
            .unwrap()
    };
    let x = random(rng, &[n, n], dtype);
    let thin = random(rng, &[n, 2], dtype);
    let steps = real(&|i, j| 10f64.powi(-((i + j) as i32)));
    vec![
        ("zero", real(&|_, _| 0.0)),
        ("identity", real(&|i, j| f64::from(i == j))),
        ("ones", real(&|_, _| 1.0)),
        (
            "rank 2",
            thin.matmul(&thin.matrix_transpose().unwrap()).unwrap(),
        ),
        ("graded", ops::multiply(&x, &steps).unwrap()),
        ("huge", ops::multiply(&x, 1e30).unwrap()),
        ("tiny", ops::multiply(&x, 1e-35).unwrap()),
        ("upper", ops::triu(&x, 0).unwrap()),
        ("lower", ops::tril(&x, 0).unwrap()),
        ("jordan", real(&|i, j| f64::from(i == j || i + 1 == j))),
        ("cycle", real(&|i, j| f64::from(j == (i + 1) % n))),
        (
            "repeated",
            real(&|i, j| if i == j { 1.0 + (i / 6) as f64 } else { 0.0 }),
        ),
        ("hilbert", real(&|i, j| 1.0 / (i + j + 1) as f64)),
        (
            "wilkinson",
            real(&|i, j| match i.abs_diff(j) {
                0 => i.abs_diff(n / 2) as f64,
                d => f64::from(d == 1),
            }),
        ),
    ]
}

#[test]
fn qr_of_all_kinds_of_matrices() {
    let mut rng = Rng(4);
    for dtype in fields() {
        let mut all = special(&mut rng, dtype);
        for (m, n) in [
            (0, 0),
            (0, 2),
            (2, 0),
            (1, 1),
            (3, 8),
            (8, 3),
            (60, 60),
            (120, 100),
            (50, 130),
        ] {
            all.push(("random", random(&mut rng, &[m, n], dtype)));
        }
        for (name, x) in all {
            let (none, alone) = linalg::qr(&x, QrMode::R).unwrap();
            let (_, r) = linalg::qr(&x, QrMode::Reduced).unwrap();
            assert_eq!(none.shape(), [x.shape()[0], 0]);
            assert_eq!(values(&alone), values(&r), "{name}");
            for mode in [QrMode::Reduced, QrMode::Complete] {
                let (q, r) = linalg::qr(&x, mode).unwrap();
                let (a, q, r) = (Matrix::of(&x), Matrix::of(&q), Matrix::of(&r));
                small(&a.minus(&q.times(&r)), a.rows, a.norm(), dtype, 30.0, name);
                orthonormal(&q, dtype, name);
                for i in 0..r.rows {
                    assert!(i >= r.cols || r.at(i, i).1 == 0.0, "a real diagonal");
                    assert!((0..i.min(r.cols)).all(|j| r.at(i, j) == (0.0, 0.0)));
                }
            }
        }
    }
}

#[test]
fn eigenvalues_of_hermitian_matrices() {
    let mut rng = Rng(5);
    for dtype in fields() {
        let mut all = special(&mut rng, dtype);
        for n in SIZES {
            all.push(("random", random(&mut rng, &[n, n], dtype)));
        }
        for (name, x) in all {
            let adjoint = ops::conj(x.matrix_transpose().unwrap()).unwrap();
            let x = ops::multiply(ops::add(&x, &adjoint).unwrap(), 0.5).unwrap();
            let (w, v) = linalg::eigh(&x).unwrap();
            let only = linalg::eigvalsh(&x).unwrap();
            let (a, v) = (Matrix::of(&x), Matrix::of(&v));
            let w: Vec<f64> = values(&w).into_iter().map(Value::float).collect();
            assert!(w.is_sorted(), "{name}");
            small(
                &a.times(&v).minus(&v.scaled(&w)),
                a.rows,
                a.norm(),
                dtype,
                60.0,
                name,
            );
            orthonormal(&v, dtype, name);
            for (a, b) in values(&only).into_iter().zip(&w) {
                let most = 30.0
                    * v.rows as f64
                    * epsilon(dtype.real())
                    * a.float().abs().max(w[w.len() - 1].abs()).max(w[0].abs());
                assert!((a.float() - b).abs() <= most, "{name}");
            }
        }
    }
}

#[test]
fn singular_values_of_all_kinds_of_matrices() {
    let mut rng = Rng(6);
    for dtype in fields() {
        let mut all = special(&mut rng, dtype);
        for (m, n) in [
            (0, 0),
            (0, 2),
            (2, 0),
            (1, 1),
            (3, 8),
            (8, 3),
            (60, 60),
            (150, 150),
            (120, 40),
            (40, 120),
        ] {
            all.push(("random", random(&mut rng, &[m, n], dtype)));
        }
        for (name, x) in all {
            for full in [false, true] {
                let (u, s, vh) = linalg::svd(&x, full).unwrap();
                let (a, u, vh) = (Matrix::of(&x), Matrix::of(&u), Matrix::of(&vh));
                let s: Vec<f64> = values(&s).into_iter().map(Value::float).collect();
                assert!(
                    s.iter().rev().is_sorted() && s.iter().all(|s| *s >= 0.0),
                    "{name}"
                );
                orthonormal(&u, dtype, name);
                orthonormal(&vh.adjoint(), dtype, name);
                let k = s.len();
                let left = Matrix::new(u.rows, k, |i, j| u.at(i, j)).scaled(&s);
                let right = Matrix::new(k, vh.cols, |i, j| vh.at(i, j));
                let n = a.rows.max(a.cols);
                small(
                    &a.minus(&left.times(&right)),
                    n,
                    a.norm(),
                    dtype,
                    35.0,
                    name,
                );
            }
        }
    }
}

#[cfg(feature = "complex")]
#[test]
fn eigenvalues_of_general_matrices() {
    let mut rng = Rng(7);
    for dtype in fields() {
        let mut all = special(&mut rng, dtype);
        for n in SIZES {
            all.push(("random", random(&mut rng, &[n, n], dtype)));
        }
        for (name, x) in all {
            let (w, v) = linalg::eig(&x).unwrap();
            let (a, v) = (Matrix::of(&x), Matrix::of(&v));
            let w: Vec<(f64, f64)> = values(&w)
                .iter()
                .map(|w| match w {
                    Value::Complex(re, im) => (*re, *im),
                    other => panic!("{other:?} is not complex"),
                })
                .collect();
            let product = Matrix::new(v.rows, v.cols, |i, j| {
                let ((a, b), (c, d)) = (v.at(i, j), w[j]);
                (a * c - b * d, a * d + b * c)
            });
            small(
                &a.times(&v).minus(&product),
                a.rows,
                a.norm(),
                dtype,
                60.0,
                name,
            );
            if !dtype.is_complex() {
                let pairs: Vec<_> = w.iter().filter(|w| w.1 != 0.0).collect();
                for pair in pairs.chunks(2) {
                    assert!(
                        pair[0].1 > 0.0 && *pair[1] == (pair[0].0, -pair[0].1),
                        "{name}"
                    );
                }
            }
        }
    }
}

#[test]
fn numbers_that_are_not_finite_end_every_iteration() {
    for n in [1, 2, 9, 60] {
        for bad in [f32::NAN, f32::INFINITY] {
            let mut numbers = vec![1.0f32; n * n];
            numbers[(n - 1) * n] = bad;
            let x = Tensor::from_slice(&numbers, [n, n]).unwrap();
            let nan = |x: &Tensor| values(x).into_iter().all(|v| v.float().is_nan());
            let (w, v) = linalg::eigh(&x).unwrap();
            assert!(nan(&w) && nan(&v));
            let (u, s, vh) = linalg::svd(&x, true).unwrap();
            assert!(nan(&u) && nan(&s) && nan(&vh));
            #[cfg(feature = "complex")]
            assert!(
                values(&linalg::eigvals(&x).unwrap())
                    .iter()
                    .all(|v| match v {
                        Value::Complex(re, im) => re.is_nan() && im.is_nan(),
                        _ => false,
                    })
            );
            let _ = linalg::qr(&x, QrMode::Reduced).unwrap();
            let _ = (
                linalg::inv(&x),
                linalg::cholesky(&x, false),
                linalg::det(&x).unwrap(),
            );
        }
    }
}

#[test]
fn errors_name_the_matrix() {
    let text = |e: flex::Result<Tensor>| e.unwrap_err().to_string();
    let zeros = Tensor::zeros([2, 1, 2, 2], DType::F32).unwrap();
    let eye = ops::eye(2, 2, 0, DType::F32).unwrap();
    assert_eq!(
        text(linalg::inv(&zeros)),
        "inv: matrix [0, 0] of the batch is singular: pivot 0 is zero"
    );
    let row = Tensor::from([[1.0f32, 2.0], [2.0, 4.0]]);
    let mixed = ops::stack(&[&eye, &row], 0).unwrap();
    assert_eq!(
        text(linalg::solve(&mixed, &eye)),
        "solve: matrix [1] of the batch is singular: pivot 1 is zero"
    );
    assert_eq!(
        text(linalg::cholesky(&ops::negative(&eye).unwrap(), true)),
        "cholesky: the matrix is not positive definite: its leading minor of order 1 is not positive"
    );
    assert_eq!(
        text(linalg::det(&Tensor::zeros([2, 3], DType::F32).unwrap())),
        "det: the matrices are not square (x: [2, 3] float32)"
    );
    assert_eq!(
        text(linalg::svdvals(&Tensor::zeros(3, DType::F32).unwrap())),
        "svdvals: a matrix has two dimensions (x: [3] float32)"
    );
    let e = linalg::matrix_power(&row, -1).unwrap_err();
    assert_eq!(
        e.to_string(),
        "matrix_power: the matrix is singular: pivot 1 is zero"
    );
    let singular = flex::Error::Singular {
        op: "matrix_power",
        matrix: vec![],
        pivot: 1,
    };
    assert_eq!(e, singular);
    let e = flex::Error::NoConvergence {
        op: "svd",
        matrix: vec![3],
    };
    let text = "svd: the iteration for matrix [3] of the batch did not converge";
    assert_eq!(e.to_string(), text);
}

#[test]
fn norms_of_known_matrices() {
    let x = Tensor::from([[3.0f32, -4.0], [0.0, 12.0]]);
    for (norm, value) in [
        (MatrixNorm::Frobenius, 13.0),
        (MatrixNorm::One, 16.0),
        (MatrixNorm::MinOne, 3.0),
        (MatrixNorm::Infinity, 12.0),
        (MatrixNorm::MinInfinity, 7.0),
    ] {
        assert_eq!(
            linalg::matrix_norm(&x, norm, false)
                .unwrap()
                .item::<f32>()
                .unwrap(),
            value
        );
    }
    let d = Tensor::from([[0.0f32, -4.0], [3.0, 0.0]]);
    for (norm, value) in [
        (MatrixNorm::Two, 4.0),
        (MatrixNorm::MinTwo, 3.0),
        (MatrixNorm::Nuclear, 7.0),
    ] {
        let y = linalg::matrix_norm(&d, norm, true).unwrap();
        assert_eq!(
            (y.shape(), y.to_vec::<f32>().unwrap()),
            (&[1, 1][..], vec![value])
        );
    }
    let large = Tensor::from([3e30f32, 4e30]);
    assert_eq!(
        linalg::vector_norm(&large, 2.0, ())
            .unwrap()
            .item::<f32>()
            .unwrap(),
        5e30
    );
}

#[test]
fn determinants_ranks_and_traces_of_known_matrices() {
    let x = Tensor::from([[2.0f32, 1.0], [4.0, 8.0]]);
    let (sign, log) = linalg::slogdet(&x).unwrap();
    assert_eq!(sign.item::<f32>().unwrap(), 1.0);
    assert!((log.item::<f32>().unwrap() - 12f32.ln()).abs() < 1e-6);
    let (sign, log) = Lu::new(&ops::multiply(&x, 0.0).unwrap())
        .unwrap()
        .slogdet()
        .unwrap();
    assert_eq!(
        (sign.item::<f32>().unwrap(), log.item::<f32>().unwrap()),
        (0.0, f32::NEG_INFINITY)
    );
    assert_eq!(
        linalg::matrix_rank(&x, None)
            .unwrap()
            .to_vec::<i64>()
            .unwrap(),
        [2]
    );
    assert_eq!(
        linalg::matrix_rank(&x, Some(0.9))
            .unwrap()
            .to_vec::<i64>()
            .unwrap(),
        [1]
    );
    assert_eq!(
        linalg::trace(&x, 0, None).unwrap().item::<f32>().unwrap(),
        10.0
    );
    assert_eq!(
        linalg::trace(&x, -1, None).unwrap().item::<f32>().unwrap(),
        4.0
    );
    let turned = linalg::diagonal(&x.flip(1).unwrap(), 0).unwrap();
    assert_eq!(turned.to_vec::<f32>().unwrap(), [1.0, 4.0]);
    assert!(turned.shares_storage(&x));
}
