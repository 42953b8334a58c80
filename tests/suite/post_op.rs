//! Blocks of a product are handed over once, after they are written.

use core::ops::Range;
use flex::Result;
use flex::Tensor;
use flex::dtype::DType;
use flex::kernel::gemm::PostOp;
use flex::nn::{self, Conv};
use flex::ops::linalg::matmul_with_post_op;
use flex::ops::linalg::{BindPostOp, bind_post_op};
use std::sync::{Mutex, OnceLock};
use std::vec::Vec;

/// The bits of each element at each time that it was passed.
#[derive(Default)]
struct Seen {
    result: OnceLock<(usize, [usize; 3])>,
    elements: Mutex<Vec<Vec<u32>>>,
}
impl BindPostOp for Seen {
    fn bind(&self, result: &mut Tensor, matrices: [usize; 3]) -> Result<Option<&dyn PostOp>> {
        assert!(result.is_contiguous());
        assert_eq!(result.len(), matrices.iter().product::<usize>());
        *self.elements.lock().unwrap() = std::vec![Vec::new(); result.len()];
        let first = result.as_mut_ptr()? as usize;
        assert!(self.result.set((first, matrices)).is_ok());
        Ok(Some(self))
    }
}
impl PostOp for Seen {
    unsafe fn block(&self, i: usize, rows: Range<usize>, cols: Range<usize>) {
        let (first, [batch, m, n]) = *self.result.get().unwrap();
        assert!(i < batch && rows.end <= m && cols.end <= n);
        let mut elements = self.elements.lock().unwrap();
        for row in rows {
            for col in cols.clone() {
                let at = (i * m + row) * n + col;
                // SAFETY: POSTOP1: an element of the result, which has been written; float32 has
                // 32 bits.
                elements[at].push(unsafe { *(first as *const u32).wrapping_add(at) });
            }
        }
    }
}
/// Asserts that either all of a product was passed, each element once with its final value, or
/// nothing. Returns whether it was.
fn is_taken(product: impl Fn(&dyn BindPostOp) -> Result<Tensor>) -> bool {
    let seen = Seen::default();
    let y = product(&seen).unwrap();
    let elements = seen.elements.into_inner().unwrap();
    let once = |(y, x): (&f32, &Vec<u32>)| x[..] == [y.to_bits()];
    let y = y.contiguous().unwrap();
    let whole = y.as_slice::<f32>().unwrap();
    let taken = elements.len() == whole.len() && whole.iter().zip(&elements).all(once);
    assert!(taken || elements.iter().all(Vec::is_empty));
    taken
}
fn some(shape: &[usize]) -> Tensor {
    let n = shape.iter().product::<usize>();
    let values = (0..n).map(|k| (k * 7 % 31) as f32 - 15.0).collect();
    Tensor::from_vec(values, shape.to_vec()).unwrap()
}

#[test]
fn each_element_is_handed_over_once() {
    let products: [(&[usize], &[usize]); 8] = [
        (&[70, 30], &[30, 90]),
        (&[131, 17], &[17, 301]),
        (&[3, 64, 33], &[3, 33, 65]),
        (&[2, 1, 40, 20], &[3, 20, 50]),
        (&[5, 40, 20], &[20, 48]),
        (&[300, 600], &[600, 520]),
        (&[9, 200], &[200, 1000]),
        (&[1000, 40], &[40, 7]),
    ];
    for threads in [1, 2, 7] {
        for (a, b) in products {
            let (x, y) = (some(a), some(b));
            let taken = || is_taken(|post_op| matmul_with_post_op(&x, &y, None, Some(post_op)));
            assert!(flex::with_threads(threads, taken), "{a:?} {b:?}, {threads}");
        }
        let (x, weight, bias) = (some(&[4, 50, 64]), some(&[96, 64]), some(&[96]));
        let linear = |post_op: &dyn BindPostOp| {
            let options = nn::Linear::from(Some(&bias));
            nn::linear_with_post_op(&x, &weight, options, Some(post_op))
        };
        assert!(flex::with_threads(threads, || is_taken(linear)));
        for (channels, kernel) in [(3, 3), (16, 1), (32, 3), (8, 5)] {
            let x = some(&[2, channels, 30, 34]);
            let weight = some(&[24, channels, kernel, kernel]);
            let options = Conv::from(None);
            let conv = |post_op: &dyn BindPostOp| {
                nn::convolve("conv2d", 2, &x, &weight, &options, Some(post_op))
            };
            let taken = flex::with_threads(threads, || is_taken(conv));
            assert!(taken, "{channels} {kernel}, {threads}");
        }
    }
}
/// Products that may pass no blocks, and one without a receiver.
#[test]
fn nothing_or_all() {
    for (a, b) in [([1, 500], [500, 600]), ([4, 9], [9, 3]), ([2, 0], [0, 5])] {
        let (x, y) = (some(&a), some(&b));
        is_taken(|post_op| matmul_with_post_op(&x, &y, None, Some(post_op)));
    }
    let mut y = Tensor::zeros([2, 2], DType::F32).unwrap();
    assert!(bind_post_op(None, &mut y, [1, 2, 2]).unwrap().is_none());
}
