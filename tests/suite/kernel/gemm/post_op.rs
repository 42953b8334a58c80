//! Each element of a product is handed over once, when it is final.

use crate::common::Rng;
use core::ops::Range;
use flex::kernel::gemm::*;

/// Replaces each element by `2 x + 1`.
struct Doubled {
    c: *mut f32,
    cols: usize,
}
// SAFETY: an address; these products run on the calling thread.
unsafe impl Sync for Doubled {}
impl PostOp for Doubled {
    unsafe fn block(&self, i: usize, rows: Range<usize>, cols: Range<usize>) {
        assert_eq!(i, 3);
        for (r, q) in rows.flat_map(|r| cols.clone().map(move |q| (r, q))) {
            let at = self.c.wrapping_add(r * self.cols + q);
            // SAFETY: POSTOP1: an element that the product no longer uses.
            unsafe { *at = 2.0 * *at + 1.0 };
        }
    }
}

#[test]
fn each_element_is_handed_over_once_at_the_end() {
    let sizes = [
        (1, 70, 3),
        (5, 300, 40),
        (200, 130, 20),
        (7, 1, 64),
        (400, 700, 10),
        (13, 100, 2100),
        (250, 33, 1025),
        (0, 3, 4),
        (100, 1000, 0),
    ];
    for ((m, n, k), transposed) in sizes.into_iter().flat_map(|s| [(s, false), (s, true)]) {
        let mut random = Rng(7);
        let mut values =
            |len: usize| -> Vec<f32> { (0..len).map(|_| random.below(5) as f32 - 2.0).collect() };
        let (a, b, biases) = (values(m * k), values(k * n), values(n));
        let (a, ops) = (Mat::from_slice(&a, m, k), [EpilogueOp::Bias(&biases)]);
        let b = match transposed {
            true => Mat::from_slice(&b, n, k).t(),
            false => Mat::from_slice(&b, k, n),
        };
        let mut c = vec![0.0; m * n];
        let after = Doubled {
            c: c.as_mut_ptr(),
            cols: n,
        };
        let epilogue = Epilogue::new(&ops, m, n).with_post_op(Some(&after)).of(3);
        let to = MatMut::from_slice(&mut c, m, n);
        product::<f32, f32, f32>(a, b, to, false, epilogue).unwrap();
        for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
            // SAFETY: indices of the matrices.
            let term = |p: usize| unsafe { a.get(i, p) * b.get(p, j) };
            let sum: f32 = (0..k).map(term).sum();
            assert_eq!(
                c[i * n + j],
                2.0 * (sum + biases[j]) + 1.0,
                "{m} {n} {k} {i} {j}"
            );
        }
    }
}
