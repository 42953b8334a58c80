//! Few rows (or one column): every element of B meets few others, so the memory is the limit, and B is read once, in long
//! contiguous runs. Rows of B contiguous: `sweep` adds four of them at a time to a piece of C in L1. Columns contiguous: `dots`.

use super::{
    element::{Lane, Product},
    mat::{Mat, MatMut},
    scratch::Scratch,
    stage::{self, Finish, Stages},
};
use crate::{
    error::Result,
    exec::isa::{self, Isa, Kernel},
};

/// Rows that count as few.
pub const ROWS: usize = 4;
/// Columns of the piece of C that a sweep keeps in L1.
const PIECE: usize = if cfg!(feature = "std") { 1024 } else { 128 };
/// Rows of B that a sweep takes at once.
const STEP: usize = 4;

/// Computes the product and returns true, or false where it is none for these kernels.
pub fn product<T: Product>(a: Mat<T>, b: Mat<T>, c: &mut MatMut<T>, accumulate: bool, stages: Stages<T>) -> Result<bool> {
    let (m, n) = (c.rows(), c.cols());
    if n == 1 && m > 1 && c.rs() == 1 {
        // SAFETY: M2 by the line above: `m` elements side by side are a row as well.
        let mut row = unsafe { MatMut::new(c.at(0, 0), 1, m, m as isize) };
        return product(b.t(), a.t(), &mut row, accumulate, stages.t());
    }
    let k = a.cols();
    let sweeps = b.cs() == 1 && n >= 64;
    let dots = b.rs() == 1 && k >= 16;
    if m > ROWS || k == 0 || !(sweeps || dots) {
        return Ok(false);
    }
    let mut rows = Scratch::<T::Lane>::new(m * k)?;
    for (i, row) in rows.chunks_exact_mut(k.max(1)).enumerate() {
        for (p, x) in row.iter_mut().enumerate() {
            // SAFETY: `i < m`, `p < k`.
            *x = unsafe { a.get(i, p) }.widen();
        }
    }
    let piece = PIECE.min(n);
    let mut sums = Scratch::<T::Lane>::new(m * piece)?;
    for j in (0..n).step_by(piece) {
        let cols = j..n.min(j + piece);
        let b = b.block(0..k, cols.clone());
        let width = cols.len();
        let sums = &mut sums[..m * width];
        for (i, sums) in sums.chunks_exact_mut(width).enumerate() {
            if accumulate {
                for (x, c) in sums.iter_mut().zip(&c.row(i)[cols.clone()]) {
                    *x = c.widen();
                }
            } else {
                sums.fill(Default::default());
            }
        }
        if sweeps {
            isa::call(Sweep { a: &rows, b, sums })
        } else {
            isa::call(Dots { a: &rows, b, sums })
        }
        let (lanes, ld, d) = (sums.as_mut_ptr(), width as isize, Some((c.at(0, j), c.rs())));
        // SAFETY: F1: rows of `sums`, and M2.
        unsafe { stage::finish(Finish { stages: stages.at(0, j), lanes, rows: m, cols: width, ld, d }) };
    }
    Ok(true)
}

/// `sums += a b`: `a` is rows of `b.rows()` lanes, `sums` of `b.cols()`, whose rows are contiguous.
struct Sweep<'a, T: Product> {
    a: &'a [T::Lane],
    b: Mat<'a, T>,
    sums: &'a mut [T::Lane],
}
impl<T: Product> Kernel for Sweep<'_, T> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        let (k, n) = (self.b.rows(), self.b.cols());
        let mut p = 0;
        while p < k {
            let whole = p + STEP <= k;
            for (a, sums) in self.a.chunks_exact(k).zip(self.sums.chunks_exact_mut(n)) {
                if whole {
                    axpy::<I, T, STEP>(&a[p..], self.b, p, sums);
                } else {
                    (p..k).for_each(|p| axpy::<I, T, 1>(&a[p..], self.b, p, sums));
                }
            }
            p += STEP;
        }
    }
}
/// `sums += a[0] b[p] + a[1] b[p + 1] + ..`, `Q` rows of B.
#[inline(always)]
fn axpy<I: Isa, T: Product, const Q: usize>(a: &[T::Lane], b: Mat<T>, p: usize, sums: &mut [T::Lane]) {
    let a: &[T::Lane; Q] = a[..Q].try_into().unwrap();
    assert!(p + Q <= b.rows() && sums.len() == b.cols() && b.cs() == 1);
    // SAFETY: M1: `Q` rows of B from `p` on, each of `sums.len()` contiguous elements.
    let rows: [&[T]; Q] = core::array::from_fn(|q| unsafe { core::slice::from_raw_parts(b.at(p + q, 0), sums.len()) });
    for (j, sum) in sums.iter_mut().enumerate() {
        let mut s = *sum;
        for q in 0..Q {
            s = T::Lane::mul_add::<I>(a[q], rows[q][j].widen(), s);
        }
        *sum = s;
    }
}

/// The same for B whose columns are contiguous.
struct Dots<'a, T: Product> {
    a: &'a [T::Lane],
    b: Mat<'a, T>,
    sums: &'a mut [T::Lane],
}
impl<T: Product> Kernel for Dots<'_, T> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        let (k, n) = (self.b.rows(), self.b.cols());
        let m = self.a.len() / k;
        let mut j = 0;
        while j < n {
            let mut i = 0;
            while i < m {
                let (a, sums) = (&self.a[i * k..], &mut self.sums[i * n + j..]);
                i += match (m - i, n - j) {
                    (2.., 4..) => dot::<I, T, 2, 4, 16>(a, self.b, j, sums),
                    (_, 4..) => dot::<I, T, 1, 4, 16>(a, self.b, j, sums),
                    _ => dot::<I, T, 1, 1, 64>(a, self.b, j, sums),
                };
            }
            j += if n - j >= 4 { 4 } else { 1 };
        }
    }
}
/// `R` rows of A times `G` columns of B from `j` on, in `L` running sums each, added to `sums[row * n + column]`. Returns `R`.
#[inline(always)]
fn dot<I: Isa, T: Product, const R: usize, const G: usize, const L: usize>(
    a: &[T::Lane],
    b: Mat<T>,
    j: usize,
    sums: &mut [T::Lane],
) -> usize {
    let (k, n) = (b.rows(), b.cols());
    assert!(j + G <= n && b.rs() == 1);
    // SAFETY: M1: `G` columns of B from `j` on, each of `k` contiguous elements.
    let cols: [&[T]; G] = core::array::from_fn(|g| unsafe { core::slice::from_raw_parts(b.at(0, j + g), k) });
    let rows: [&[T::Lane]; R] = core::array::from_fn(|r| &a[r * k..][..k]);
    let mut c = [[[T::Lane::default(); L]; G]; R];
    let whole = k / L * L;
    for p in (0..whole).step_by(L) {
        for g in 0..G {
            let b: &[T; L] = cols[g][p..p + L].try_into().unwrap();
            for r in 0..R {
                let a: &[T::Lane; L] = rows[r][p..p + L].try_into().unwrap();
                for l in 0..L {
                    c[r][g][l] = T::Lane::mul_add::<I>(a[l], b[l].widen(), c[r][g][l]);
                }
            }
        }
    }
    for r in 0..R {
        for g in 0..G {
            let mut sum = T::Lane::default();
            for p in whole..k {
                sum = T::Lane::mul_add::<I>(rows[r][p], cols[g][p].widen(), sum);
            }
            let c = &mut c[r][g];
            let mut half = L / 2;
            while half > 0 {
                for l in 0..half {
                    c[l] = T::Lane::add(c[l], c[l + half]);
                }
                half /= 2;
            }
            let s = &mut sums[r * n + g];
            *s = T::Lane::add(*s, T::Lane::add(c[0], sum));
        }
    }
    R
}
