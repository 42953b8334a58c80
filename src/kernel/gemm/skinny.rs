//! Few rows (or one column): every element of B meets few others, so the memory is the limit, and B
//! is read once, in long contiguous runs. Rows of B contiguous: `sweep` adds four of them at a time
//! to a piece of C in L1. Columns contiguous: `dots`.

use super::{
    Engine,
    element::{Lane, Product},
    mat::{Mat, MatMut},
    scratch::Scratch,
    stage::{self, Finish, Stages},
};
use crate::{
    error::Result,
    simd::{self, Isa, Kernel, Level},
};

/// Rows that count as few.
const ROWS: usize = 16;
/// Rows up to which dot products are faster than packing columns into panels.
const DOT_ROWS: usize = 48;
/// Columns of sums that a sweep keeps in L1 at most.
const PIECE: usize = sums(Level::Base);
/// Sums that it keeps there: half of it, and CPUs without AVX-512 have 32 KiB.
const fn sums(level: Level) -> usize {
    match level {
        _ if !cfg!(feature = "std") => 512,
        Level::Avx512 => 8192,
        _ => 4096,
    }
}
/// Rows of B that a sweep takes at once.
const STEP: usize = 4;

/// Which of these kernels is the fastest for a product, where one is.
pub fn engine<A: Product, B: Product>(a: &Mat<A>, b: &Mat<B>) -> Option<Engine> {
    let (m, n, k) = (a.rows(), b.cols(), a.cols());
    if k == 0 || simd::MICROCONTROLLER {
        None
    } else if b.cs() == 1 && n >= 64 && m <= ROWS {
        Some(Engine::Sweeps)
    } else if b.rs() == 1 && k >= 16 && m <= DOT_ROWS && m * (12 + k / 64) <= k {
        // adding up the lanes of a sum takes as long as packing a dozen elements
        Some(Engine::Dots)
    } else {
        None
    }
}

/// `c (+)= a b`, then the stages. `SWEEPS` says by which kernel; the rows of B, or the columns, are
/// contiguous.
pub fn product<A, B, C, const SWEEPS: bool>(
    a: Mat<A>,
    b: Mat<B>,
    c: &mut MatMut<C>,
    accumulate: bool,
    stages: Stages<C>,
) -> Result<()>
where
    A: Product,
    B: Product<Lane = A::Lane>,
    C: Product<Lane = A::Lane>,
{
    let (m, n, k) = (c.rows(), c.cols(), a.cols());
    let mut rows = Scratch::<A::Lane>::new(m.saturating_mul(k))?;
    for (i, row) in rows.chunks_exact_mut(k.max(1)).enumerate() {
        for (p, x) in row.iter_mut().enumerate() {
            // SAFETY: `i < m` and `p < k`, for there are `m` rows of `k` (MAT1).
            *x = unsafe { a.get(i, p) }.widen();
        }
    }
    let piece = (sums(simd::level()) / m).clamp(1, PIECE).min(n);
    let mut sums = Scratch::<A::Lane>::new(m * piece)?;
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
        if SWEEPS {
            simd::call(Sweep { a: &rows, b, sums })
        } else {
            simd::call(Dots { a: &rows, b, sums })
        }
        let (lanes, ld, d) = (
            sums.as_mut_ptr(),
            width as isize,
            Some((c.at(0, j), c.rs())),
        );
        // SAFETY: EPILOGUE1: `m` rows of `width` sums, and those of `c` from column `j` on, which
        // MAT2 lets us write.
        unsafe {
            stage::finish(Finish {
                stages: stages.at(0, j),
                lanes,
                rows: m,
                cols: width,
                ld,
                d,
            })
        };
    }
    Ok(())
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
        // vectors as `Dots` has them
        let wide = const { I::AVX512 };
        match (wide, size_of::<T::Lane>()) {
            (true, 2) => self.pieces::<I, 32>(),
            (true, 4) => self.pieces::<I, 16>(),
            (true, 8) => self.pieces::<I, 8>(),
            (_, 2) => self.pieces::<I, 16>(),
            (_, 4) => self.pieces::<I, 8>(),
            (true, _) | (_, 8) => self.pieces::<I, 4>(),
            _ => self.pieces::<I, 2>(),
        }
    }
}
impl<T: Product> Sweep<'_, T> {
    /// `STEP` rows of B at a time, each vector of them for as many rows of sums as registers hold
    /// factors of: four, and two of 16 registers.
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
/// `R` rows of sums `+= a[.., 0] b[p] + a[.., 1] b[p + 1] + ..`, `Q` rows of B; rows of A are `k`
/// apart. Returns `R`. `ahead`: fetches the next rows of B meanwhile.
#[inline(always)]
fn axpy<I: Isa, T: Product, const R: usize, const Q: usize, const L: usize>(
    a: &[T::Lane],
    k: usize,
    b: Mat<T>,
    p: usize,
    sums: &mut [T::Lane],
    ahead: bool,
) -> usize {
    let n = b.cols();
    let a: [[T::Lane; Q]; R] = core::array::from_fn(|r| a[r * k..r * k + Q].try_into().unwrap());
    assert!(p + Q <= b.rows() && R * n <= sums.len() && b.cs() == 1);
    // SAFETY: MAT1: `Q` rows of B from `p` on, each of `n` contiguous elements.
    let rows: [&[T]; Q] =
        core::array::from_fn(|q| unsafe { core::slice::from_raw_parts(b.at(p + q, 0), n) });
    let whole = n / L * L;
    for j in (0..whole).step_by(L) {
        if ahead {
            (0..Q).for_each(|q| simd::prefetch::<{ simd::L2 }, _>(b.at(p + Q + q, j)));
        }
        let b: [[T::Lane; L]; Q] = core::array::from_fn(|q| {
            let x: &[T; L] = rows[q][j..j + L].try_into().unwrap();
            let mut lanes = [T::Lane::default(); L];
            T::widen_all::<I>(x, &mut lanes);
            lanes
        });
        for r in 0..R {
            let s: &mut [T::Lane; L] = (&mut sums[r * n + j..r * n + j + L]).try_into().unwrap();
            let mut c = T::Lane::begin(*s);
            for q in 0..Q {
                c = T::Lane::axpy::<I, L>(a[r][q], b[q], c);
            }
            *s = T::Lane::end(c);
        }
    }
    for j in whole..n {
        for r in 0..R {
            for q in 0..Q {
                sums[r * n + j] =
                    T::Lane::mul_add::<I>(a[r][q], rows[q][j].widen(), sums[r * n + j]);
            }
        }
    }
    R
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
        // As many sums as registers hold: 16 vectors of the 32 of AVX-512, 8 of 16.
        let wide = const { I::AVX512 };
        match (wide, size_of::<T::Lane>()) {
            (true, 2) => self.groups::<I, 4, 32>(),
            (true, 4) => self.groups::<I, 4, 16>(),
            (true, 8) => self.groups::<I, 4, 8>(),
            (_, 2) => self.groups::<I, 2, 16>(),
            (_, 4) => self.groups::<I, 2, 8>(),
            (true, _) | (_, 8) => self.groups::<I, 2, 4>(),
            _ => self.groups::<I, 1, 2>(),
        }
    }
}
impl<T: Product> Dots<'_, T> {
    /// Four columns at a time: they stay in L1 while the rows pass, `R` at a time.
    #[inline(always)]
    fn groups<I: Isa, const R: usize, const L: usize>(self) {
        let (k, n) = (self.b.rows(), self.b.cols());
        let m = self.a.len() / k;
        let mut j = 0;
        while j < n {
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
/// `R` rows of A times `G` columns of B from `j` on, in `L` running sums each, added to `sums[row *
/// n + column]`. Returns `R`.
#[inline(always)]
fn dot<I: Isa, T: Product, const R: usize, const G: usize, const L: usize>(
    a: &[T::Lane],
    b: Mat<T>,
    j: usize,
    sums: &mut [T::Lane],
) -> usize {
    let (k, n) = (b.rows(), b.cols());
    assert!(j + G <= n && b.rs() == 1);
    // SAFETY: MAT1: `G` columns of B from `j` on, each of `k` contiguous elements.
    let cols: [&[T]; G] =
        core::array::from_fn(|g| unsafe { core::slice::from_raw_parts(b.at(0, j + g), k) });
    let rows: [&[T::Lane]; R] = core::array::from_fn(|r| &a[r * k..][..k]);
    let whole = k / L * L;
    let lanes = dot_lanes::<I, T, R, G, L>(rows, cols, whole);
    for r in 0..R {
        for g in 0..G {
            let mut sum = T::Lane::default();
            for p in whole..k {
                sum = T::Lane::mul_add::<I>(rows[r][p], cols[g][p].widen(), sum);
            }
            let mut c = lanes[r][g];
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

/// The running sums of [`dot`] over the first `whole` elements, a multiple of `L`. Apart from what
/// indexes them by variables, which would keep them in memory.
#[inline(always)]
fn dot_lanes<I: Isa, T: Product, const R: usize, const G: usize, const L: usize>(
    rows: [&[T::Lane]; R],
    cols: [&[T]; G],
    whole: usize,
) -> [[[T::Lane; L]; G]; R] {
    let mut c = [[T::Lane::begin([T::Lane::default(); L]); G]; R];
    for p in (0..whole).step_by(L) {
        let mut b = [[T::Lane::default(); L]; G];
        for g in 0..G {
            let x: &[T; L] = cols[g][p..p + L].try_into().unwrap();
            T::widen_all::<I>(x, &mut b[g]);
        }
        for r in 0..R {
            let a: &[T::Lane; L] = rows[r][p..p + L].try_into().unwrap();
            for g in 0..G {
                c[r][g] = T::Lane::mul_add_lanes::<I, L>(*a, b[g], c[r][g]);
            }
        }
    }
    // Not by `map`, which LLVM may outline: without the set's features.
    let mut sums = [[[T::Lane::default(); L]; G]; R];
    for r in 0..R {
        for g in 0..G {
            sums[r][g] = T::Lane::end(c[r][g]);
        }
    }
    // Stored here once: otherwise LLVM unites them with the copies that are summed up, and the loop
    // above runs in memory.
    core::hint::black_box(sums)
}
