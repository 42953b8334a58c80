//! Rows of B, added to a piece of C.

use super::{FewRows, LONG_ROW, SHORT_ROWS, lines_ahead};
use crate::kernel::gemm::element::MatElement;
use crate::kernel::gemm::matrix::Mat;
use crate::kernel::gemm::microkernel::Packed;
use crate::simd::{self, Isa, Kernel};

/// Rows of B added at a time.
const STEP: usize = 4;

/// Rows of B are contiguous.
pub struct ByRows<'a, T: MatElement>(pub FewRows<'a, T>);
impl<T: MatElement> Kernel for ByRows<'_, T> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        if const { SHORT_ROWS && T::Acc::IS_FLOAT } && self.0.b.cols() < LONG_ROW {
            return T::Acc::float_rows::<I, T>(self.0);
        }
        // the vectors of `ByColumns`
        let wide = const { I::AVX512 };
        match (wide, size_of::<T::Acc>()) {
            (true, 2) => self.0.pieces::<I, 32>(),
            (true, 4) => self.0.pieces::<I, 16>(),
            (true, 8) => self.0.pieces::<I, 8>(),
            (_, 2) => self.0.pieces::<I, 16>(),
            (_, 4) => self.0.pieces::<I, 8>(),
            (true, _) | (_, 8) => self.0.pieces::<I, 4>(),
            _ => self.0.pieces::<I, 2>(),
        }
    }
}
impl<T: MatElement> FewRows<'_, T> {
    /// `STEP` rows of B at a time; each vector of them serves as many rows of sums as registers
    /// hold factors for: four, or two with 16 registers.
    #[inline(always)]
    fn pieces<I: Isa, const L: usize>(self) {
        let (k, n) = (self.b.rows(), self.b.cols());
        let mut p = 0;
        while p < k {
            let whole = p + STEP <= k;
            let m = self.sums.len() / n;
            let mut i = 0;
            while i < m {
                let (a, sums) = (&self.a[i * k + p..], &mut self.sums[i * n..]);
                i += match (m - i, whole) {
                    (4.., true) if const { I::AVX512 } => {
                        axpy::<I, T, 4, STEP, L>(a, k, self.b, p, sums, i == 0)
                    }
                    (2.., true) => axpy::<I, T, 2, STEP, L>(a, k, self.b, p, sums, i == 0),
                    (_, true) => axpy::<I, T, 1, STEP, L>(a, k, self.b, p, sums, i == 0),
                    (_, false) => {
                        (p..k).for_each(|q| {
                            _ = axpy::<I, T, 1, 1, L>(&a[q - p..], k, self.b, q, sums, false)
                        });
                        1
                    }
                }
            }
            p += STEP;
        }
    }
}
/// `R` rows of sums `+= a[.., 0] b[p] + a[.., 1] b[p + 1] + ..`, over `Q` rows of B; rows of A are
/// `k` apart. Returns `R`. `ahead`: prefetches the next rows of B meanwhile.
#[inline(always)]
fn axpy<I: Isa, T: MatElement, const R: usize, const Q: usize, const L: usize>(
    a: &[T::Acc],
    k: usize,
    b: Mat<T>,
    p: usize,
    sums: &mut [T::Acc],
    ahead: bool,
) -> usize {
    let n = b.cols();
    let a: [[T::Acc; Q]; R] = core::array::from_fn(|r| a[r * k..r * k + Q].try_into().unwrap());
    assert!(p + Q <= b.rows() && R * n <= sums.len() && b.cs() == 1);
    // SAFETY: MAT1: `Q` rows of B from `p` on, each of `n` contiguous elements.
    let rows: [&[T]; Q] =
        core::array::from_fn(|q| unsafe { core::slice::from_raw_parts(b.at(p + q, 0), n) });
    let whole = n / L * L;
    let next = p + lines_ahead::<T>(n, Q);
    for j in (0..whole).step_by(L) {
        if ahead {
            (0..Q).for_each(|q| simd::prefetch::<{ simd::L2 }, _>(b.at(next + q, j)));
        }
        let b: [[T::Acc; L]; Q] = core::array::from_fn(|q| {
            let x: &[T; L] = rows[q][j..j + L].try_into().unwrap();
            let mut lanes = [T::Acc::default(); L];
            T::widen_all::<I>(x, &mut lanes);
            lanes
        });
        for r in 0..R {
            let s: &mut [T::Acc; L] = (&mut sums[r * n + j..r * n + j + L]).try_into().unwrap();
            let mut c = T::Acc::begin(*s);
            for q in 0..Q {
                c = T::Acc::axpy::<I, L>(a[r][q], b[q], c);
            }
            *s = T::Acc::end(c);
        }
    }
    for j in whole..n {
        for r in 0..R {
            for q in 0..Q {
                sums[r * n + j] =
                    T::Acc::mul_add::<I>(a[r][q], rows[q][j].widen(), sums[r * n + j]);
            }
        }
    }
    R
}
