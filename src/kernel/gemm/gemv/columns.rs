//! Dot products of rows of A and columns of B.

use super::{FewRows, fetch, lines_ahead};
use crate::kernel::gemm::element::MatElement;
use crate::kernel::gemm::matrix::Mat;
use crate::kernel::gemm::microkernel::Packed;
use crate::simd::{Isa, Kernel};

/// Columns of B are contiguous.
pub struct ByColumns<'a, T: MatElement>(pub FewRows<'a, T>);
impl<T: MatElement> Kernel for ByColumns<'_, T> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        if const { T::Acc::IS_FLOAT } {
            return T::Acc::float_columns::<I, T>(self.0);
        }
        // As many sums as registers hold: 16 vectors of the 32 of AVX-512, otherwise 8 of 16.
        let wide = const { I::AVX512 };
        match (wide, size_of::<T::Acc>()) {
            (true, 2) => self.0.groups::<I, 4, 32>(),
            (true, 4) => self.0.groups::<I, 4, 16>(),
            (true, 8) => self.0.groups::<I, 4, 8>(),
            (_, 2) => self.0.groups::<I, 2, 16>(),
            (_, 4) => self.0.groups::<I, 2, 8>(),
            (true, _) | (_, 8) => self.0.groups::<I, 2, 4>(),
            _ => self.0.groups::<I, 1, 2>(),
        }
    }
}
impl<T: MatElement> FewRows<'_, T> {
    /// Four columns at a time stay in L1 while all rows pass, `R` at a time.
    #[inline(always)]
    fn groups<I: Isa, const R: usize, const L: usize>(self) {
        let (k, n) = (self.b.rows(), self.b.cols());
        let m = self.a.len() / k;
        let ahead = lines_ahead::<T>(k, 4);
        let mut j = 0;
        while j < n {
            if ahead > 4 {
                fetch(self.b, j + ahead..j + ahead + 4);
            }
            let mut i = 0;
            while i < m {
                let (a, sums) = (&self.a[i * k..], &mut self.sums[i * n + j..]);
                i += if n - j < 4 {
                    dot::<I, T, 1, 1, L>(a, self.b, j, sums)
                } else if m - i >= R {
                    dot::<I, T, R, 4, L>(a, self.b, j, sums)
                } else {
                    dot::<I, T, 1, 4, L>(a, self.b, j, sums)
                };
            }
            j += if n - j >= 4 { 4 } else { 1 };
        }
    }
}
/// The same for few sums, each by itself, in as many lanes as four columns have: additions to one
/// vector wait for each other.
pub struct Dots<'a, T: MatElement>(pub FewRows<'a, T>);
impl<T: MatElement> Kernel for Dots<'_, T> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        // four vectors, as in `ByColumns`
        let wide = const { I::AVX512 };
        match (wide, size_of::<T::Acc>()) {
            (true, 2) => self.0.each::<I, 128>(),
            (true, 4) | (_, 2) => self.0.each::<I, 64>(),
            (true, 8) | (_, 4) => self.0.each::<I, 32>(),
            (true, _) | (_, 8) => self.0.each::<I, 16>(),
            _ => self.0.each::<I, 8>(),
        }
    }
}
impl<T: MatElement> FewRows<'_, T> {
    #[inline(always)]
    fn each<I: Isa, const L: usize>(self) {
        let (k, n) = (self.b.rows(), self.b.cols());
        for (a, sums) in self.a.chunks_exact(k).zip(self.sums.chunks_exact_mut(n)) {
            for j in 0..n {
                dot::<I, T, 1, 1, L>(a, self.b, j, &mut sums[j..]);
            }
        }
    }
}
/// `R` rows of A times `G` columns of B from `j` on, in `L` running sums each, added to `sums[row *
/// n + column]`. Returns `R`.
#[inline(always)]
fn dot<I: Isa, T: MatElement, const R: usize, const G: usize, const L: usize>(
    a: &[T::Acc],
    b: Mat<T>,
    j: usize,
    sums: &mut [T::Acc],
) -> usize {
    let (k, n) = (b.rows(), b.cols());
    assert!(j + G <= n && b.rs() == 1);
    // SAFETY: MAT1: `G` columns of B from `j` on, each of `k` contiguous elements.
    let cols: [&[T]; G] =
        core::array::from_fn(|g| unsafe { core::slice::from_raw_parts(b.at(0, j + g), k) });
    let rows: [&[T::Acc]; R] = core::array::from_fn(|r| &a[r * k..][..k]);
    let whole = k / L * L;
    let lanes = dot_lanes::<I, T, R, G, L>(rows, cols, whole);
    for r in 0..R {
        for g in 0..G {
            let mut sum = T::Acc::default();
            for p in whole..k {
                sum = T::Acc::mul_add::<I>(rows[r][p], cols[g][p].widen(), sum);
            }
            let mut c = lanes[r][g];
            let mut half = L / 2;
            while half > 0 {
                for l in 0..half {
                    c[l] = T::Acc::add(c[l], c[l + half]);
                }
                half /= 2;
            }
            let s = &mut sums[r * n + g];
            *s = T::Acc::add(*s, T::Acc::add(c[0], sum));
        }
    }
    R
}

/// The running sums of [`dot`] over the first `whole` elements, a multiple of `L`. Separate from
/// the code that indexes them by variables, which would keep them in memory.
#[inline(always)]
fn dot_lanes<I: Isa, T: MatElement, const R: usize, const G: usize, const L: usize>(
    rows: [&[T::Acc]; R],
    cols: [&[T]; G],
    whole: usize,
) -> [[[T::Acc; L]; G]; R] {
    let mut c = [[T::Acc::begin([T::Acc::default(); L]); G]; R];
    for p in (0..whole).step_by(L) {
        let mut b = [[T::Acc::default(); L]; G];
        for g in 0..G {
            let x: &[T; L] = cols[g][p..p + L].try_into().unwrap();
            T::widen_all::<I>(x, &mut b[g]);
        }
        for r in 0..R {
            let a: &[T::Acc; L] = rows[r][p..p + L].try_into().unwrap();
            for g in 0..G {
                c[r][g] = T::Acc::mul_add_lanes::<I, L>(*a, b[g], c[r][g]);
            }
        }
    }
    // Not by `map`, which LLVM may outline, without the target features.
    let mut sums = [[[T::Acc::default(); L]; G]; R];
    for r in 0..R {
        for g in 0..G {
            sums[r][g] = T::Acc::end(c[r][g]);
        }
    }
    // Forces a single store of the sums here: otherwise LLVM merges them with the copies that are
    // reduced afterwards, and keeps them in memory in the loop above.
    core::hint::black_box(sums)
}
