//! Long dot products.

use crate::common::Rng;
use flex::{DType, Tensor, ops};

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
