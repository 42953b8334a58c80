//! Products of matrices up to 8 x 8, and up to 64 x 64, and dot products of short vectors: many at
//! once, of any strides.

use crate::common::{Rng, floats, layouts, random, values};
use flex::{DType, Tensor, ops};

const FLOATS: [DType; 2] = [DType::F32, DType::F64];

/// Whole numbers, whose sums are exact.
fn whole(rng: &mut Rng, shape: &[usize], dtype: DType) -> Tensor {
    let n = shape.iter().product();
    let numbers: Vec<f32> = (0..n).map(|_| rng.below(9) as f32 - 4.0).collect();
    let numbers = Tensor::from_slice(&numbers, shape).unwrap();
    numbers.astype(dtype).unwrap()
}

#[test]
fn tiny_products_of_every_layout_match_a_loop() {
    let mut rng = Rng(91);
    for dtype in FLOATS.into_iter().filter(|d| d.is_available()) {
        for (m, k, n) in [
            (1, 1, 1),
            (3, 3, 3),
            (3, 3, 1),
            (1, 8, 5),
            (8, 8, 8),
            (4, 1, 4),
            (9, 2, 8),
            (2, 0, 3),
            (0, 3, 2),
            // a panel or more, which microkernels read in place
            (16, 16, 16),
            (5, 9, 32),
            (33, 20, 48),
            (64, 64, 64),
            (65, 3, 64),
        ] {
            let batches: &[usize] = if m > 8 { &[1, 3] } else { &[0, 1, 5, 40] };
            for batch in batches.iter().copied() {
                let (a, b) = (
                    whole(&mut rng, &[batch, m, k], dtype),
                    whole(&mut rng, &[batch, k, n], dtype),
                );
                let (x, y) = (floats(&a), floats(&b));
                let want: Vec<f64> = (0..batch * m * n)
                    .map(|at| {
                        let (i, row, column) = (at / (m * n), at / n % m, at % n);
                        (0..k)
                            .map(|p| x[(i * m + row) * k + p] * y[(i * k + p) * n + column])
                            .sum()
                    })
                    .collect();
                for (left, a) in layouts(&a) {
                    for (right, b) in layouts(&b) {
                        let c = ops::matmul(&a, &b).unwrap();
                        assert_eq!(c.shape(), [batch, m, n]);
                        assert_eq!(floats(&c), want, "{dtype} {m} {k} {n} {left} {right}");
                    }
                }
            }
        }
    }
}

/// A product that is packed has more rows; those that it shares with a tiny one have the same bits.
#[test]
fn tiny_products_have_the_bits_of_packed_ones() {
    let mut rng = Rng(92);
    for dtype in FLOATS.into_iter().filter(|d| d.is_available()) {
        for (m, k, n) in [
            (1, 3, 4),
            (3, 3, 3),
            (5, 7, 8),
            (8, 8, 5),
            (16, 16, 16),
            (23, 40, 64),
            (64, 64, 24),
        ] {
            let (a, b) = (
                random(&mut rng, &[100, k], dtype),
                random(&mut rng, &[k, n], dtype),
            );
            let packed = ops::matmul(&a, &b).unwrap().narrow(0, 0, m).unwrap();
            let tiny = ops::matmul(&a.narrow(0, 0, m).unwrap(), &b).unwrap();
            let bits = |t: &Tensor| floats(t).iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&tiny), bits(&packed), "{dtype} {m} {k} {n}");
            // and so has each of a batch
            let left = a.narrow(0, 0, m).unwrap().broadcast_to([17, m, k]).unwrap();
            let right = b.broadcast_to([17, k, n]).unwrap();
            let all = ops::matmul(&left, &right).unwrap();
            for i in 0..17 {
                assert_eq!(bits(&all.select(0, i).unwrap()), bits(&packed));
            }
        }
    }
}

#[test]
fn dots_of_short_vectors_match_a_loop() {
    let mut rng = Rng(93);
    for dtype in DType::ALL
        .into_iter()
        .filter(|d| d.is_available() && !d.is_bool() && !d.is_complex() && !d.is_storage())
    {
        let few = if dtype.is_integer() && !dtype.is_signed() {
            0.0
        } else {
            -3.0
        };
        for k in [0, 1, 3, 17, 63, 64] {
            for batch in [0, 1, 33] {
                let mut numbers = |shape: &[usize]| {
                    let n = shape.iter().product();
                    let x: Vec<f32> = (0..n).map(|_| rng.below(4) as f32 + few).collect();
                    Tensor::from_slice(&x, shape)
                        .unwrap()
                        .astype(dtype)
                        .unwrap()
                };
                let (a, b) = (numbers(&[batch, k, 2]), numbers(&[k, 1]));
                let (x, y) = (values(&a), values(&b));
                let want: Vec<f64> = (0..batch * 2)
                    .map(|at| {
                        (0..k)
                            .map(|p| x[(at / 2 * k + p) * 2 + at % 2].float() * y[p].float())
                            .sum()
                    })
                    .collect();
                for (name, a) in layouts(&a) {
                    let c = ops::vecdot(&a, &b, -2).unwrap();
                    assert_eq!((c.dtype(), c.shape()), (dtype, &[batch, 2][..]));
                    // narrow integers wrap
                    let want: Vec<f64> = match dtype.is_integer() {
                        true => want
                            .iter()
                            .map(|x| crate::common::wrap(*x as i128, dtype) as f64)
                            .collect(),
                        false => want.clone(),
                    };
                    let got: Vec<f64> = values(&c).into_iter().map(|v| v.float()).collect();
                    assert_eq!(got, want, "{dtype} {k} {batch} {name}");
                }
            }
        }
    }
    let nan = Tensor::from_slice(&[1.0f32, f32::NAN, 2.0, 3.0], [2, 2]).unwrap();
    let c = ops::vecdot(&nan, &nan, -1)
        .unwrap()
        .to_vec::<f32>()
        .unwrap();
    assert!(c[0].is_nan() && c[1] == 13.0);
    let e = ops::vecdot(&nan, &Tensor::from_slice(&[1.0f32; 6], [3, 2]).unwrap(), -1);
    assert!(e.unwrap_err().to_string().starts_with("vecdot"));
}
