//! Products of a matrix and few vectors (gemv for a single one). Each element of B is used only a
//! few times, so memory is the limit, and B is read once, in long contiguous runs. If rows of B are
//! contiguous, four of them at a time are added to a piece of C in L1 (axpy); if columns are,
//! elements of C are dot products. Few long ones are summed in pieces.

use super::{
    Algorithm,
    element::MatElement,
    epilogue::{self, Epilogue, Finish},
    matrix::{Mat, MatMut},
    microkernel::Packed,
    packing::{self, Single},
    scratch::Scratch,
    source::{Source, Strided},
};
use crate::{
    error::Result,
    simd::{self, Isa, Kernel, Level},
};

/// The most rows that count as few.
const ROWS: usize = 16;
/// The most rows for which dot products are faster than packing columns into panels.
const DOT_ROWS: usize = 48;
/// The most columns of sums kept in L1.
const PIECE: usize = sums(Level::Base);
/// Sums kept in L1, which they half fill; CPUs without AVX-512 have 32 KiB of it.
const fn sums(level: Level) -> usize {
    match level {
        _ if !cfg!(feature = "std") => 512,
        Level::Avx512 => 8192,
        _ => 4096,
    }
}
/// Rows of B added at a time.
const STEP: usize = 4;

/// Bytes prefetched ahead if rows or columns are short: hardware prefetchers only follow runs
/// longer than a page.
const AHEAD: usize = 4096;

/// The number of lines of this many elements in [`AHEAD`] bytes, at least `least`.
fn lines_ahead<T>(elements: usize, least: usize) -> usize {
    (AHEAD / (elements * size_of::<T>()).max(1)).max(least)
}

/// Prefetches columns, which may lie past the end of B.
#[inline(always)]
fn fetch<T>(b: Mat<T>, cols: core::ops::Range<usize>) {
    for j in cols {
        (0..b.rows())
            .step_by(64 / size_of::<T>())
            .for_each(|p| simd::prefetch::<{ simd::L2 }, _>(b.at(p, j)));
    }
}

/// The fastest of these kernels for a product, if any beats the macrokernel.
pub fn algorithm<A: MatElement, B: MatElement>(a: &Mat<A>, b: &Mat<B>) -> Option<Algorithm> {
    let (m, n, k) = (a.rows(), b.cols(), a.cols());
    if k == 0 || simd::MICROCONTROLLER {
        None
    } else if b.rs() == 1 && (m * n == 1 && k >= 64 || m * n <= DOT_ROWS && k > LONG) {
        Some(Algorithm::Dots)
    } else if b.cs() == 1 && n >= 64 && m <= ROWS {
        Some(Algorithm::GemvRows)
    } else if b.rs() == 1 && k >= 16 && m <= DOT_ROWS && m * (12 + k / 64) <= k {
        // reducing the lanes of a sum takes as long as packing a dozen elements
        Some(Algorithm::GemvColumns)
    } else {
        None
    }
}

/// `c (+)= a b`, then the epilogue. `rows_of_b` chooses the kernel: rows of B are contiguous,
/// otherwise columns are.
pub fn product<A, B, C>(
    rows_of_b: bool,
    a: Mat<A>,
    b: Mat<B>,
    c: &mut MatMut<C>,
    accumulate: bool,
    epilogue: Epilogue<C>,
) -> Result<()>
where
    A: MatElement,
    B: MatElement<Acc = A::Acc>,
    C: MatElement<Acc = A::Acc>,
{
    let (m, n) = (c.rows(), c.cols());
    let (rows, k) = (RowsOfA::new(a)?, a.cols());
    let rows = rows.get();
    let piece = (sums(simd::level()) / m).clamp(1, PIECE).min(n);
    let mut sums = Scratch::<A::Acc>::new(m * piece)?;
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
        if rows_of_b {
            simd::call(ByRows { a: rows, b, sums })
        } else {
            simd::call(ByColumns { a: rows, b, sums })
        }
        // SAFETY: EPILOGUE1: `m` rows of `width` sums, and the elements of `c` from column `j` on,
        // which are writable by MAT2.
        unsafe {
            epilogue::finish(Finish {
                epilogue: epilogue.at(0, j),
                sums: sums.as_mut_ptr(),
                rows: m,
                cols: width,
                ld: width as isize,
                d: Some((c.at(0, j), c.rs())),
            })
        };
    }
    Ok(())
}

/// Elements of a piece of a long dot product: pieces are summed apart and joined by pairs, so that
/// threads share them and rounding errors do not add up.
const LONG: usize = 16 << 10;
/// The number of pieces of sums of `k` products.
pub fn pieces(k: usize) -> usize {
    k.div_ceil(LONG)
}
/// The products of piece `i` of the columns of `a` and the rows of `b`, to `sums`, row by row.
///
/// Errors if there is no memory for A's rows.
pub fn product_of_piece<A: MatElement, B: MatElement<Acc = A::Acc>>(
    i: usize,
    a: Mat<A>,
    b: Mat<B>,
    sums: &mut [A::Acc],
) -> Result<()> {
    let range = i * LONG..b.rows().min((i + 1) * LONG);
    let (a, b) = (
        RowsOfA::new(a.block(0..a.rows(), range.clone()))?,
        b.block(range, 0..b.cols()),
    );
    sums.fill(Default::default());
    let a = a.get();
    // not worth the code for integers
    match const { A::Acc::UNROLLED } {
        true => simd::call(Dots { a, b, sums }),
        false => simd::call(ByColumns { a, b, sums }),
    }
    Ok(())
}
/// Adds the sums of all pieces, `len` each, to those of the first, by pairs.
pub fn join_pieces<T: Packed>(sums: &mut [T], len: usize) {
    let mut n = sums.len() / len;
    while n > 1 {
        let half = n.div_ceil(2);
        let (a, b) = sums[..n * len].split_at_mut(half * len);
        for (a, b) in a.iter_mut().zip(b) {
            *a = T::add(*a, *b);
        }
        n = half;
    }
}

/// The rows of A as accumulators, one after the other.
enum RowsOfA<'a, T: MatElement> {
    /// They lie like that.
    InPlace(&'a [T::Acc]),
    Copied(Scratch<T::Acc>),
}
impl<'a, T: MatElement> RowsOfA<'a, T> {
    /// Errors if there is no memory to copy them.
    fn new(a: Mat<'a, T>) -> Result<Self> {
        let (m, k) = (a.rows(), a.cols());
        let in_place = Strided::rows(a).in_place();
        if let Some(x) = in_place.filter(|x| x.step == 1 && (m == 1 || x.line == k as isize)) {
            // SAFETY: SOURCE1: `m` rows of `k` elements that follow each other.
            let rows = unsafe { core::slice::from_raw_parts(x.at(0, 0), m * k) };
            return Ok(RowsOfA::InPlace(rows));
        }
        let mut rows = Scratch::<T::Acc>::new(m.saturating_mul(k))?;
        packing::rows(Single::<T>::ELEMENTS, a, &mut rows);
        Ok(RowsOfA::Copied(rows))
    }
    fn get(&self) -> &[T::Acc] {
        match self {
            RowsOfA::InPlace(rows) => rows,
            RowsOfA::Copied(rows) => rows,
        }
    }
}

/// `sums += a b`: `a` holds rows of `b.rows()` lanes, `sums` rows of `b.cols()`; rows of `b` are
/// contiguous.
struct ByRows<'a, T: MatElement> {
    a: &'a [T::Acc],
    b: Mat<'a, T>,
    sums: &'a mut [T::Acc],
}
impl<T: MatElement> Kernel for ByRows<'_, T> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        // the vectors of `ByColumns`
        let wide = const { I::AVX512 };
        match (wide, size_of::<T::Acc>()) {
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
impl<T: MatElement> ByRows<'_, T> {
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

/// The same for a B with contiguous columns.
struct ByColumns<'a, T: MatElement> {
    a: &'a [T::Acc],
    b: Mat<'a, T>,
    sums: &'a mut [T::Acc],
}
impl<T: MatElement> Kernel for ByColumns<'_, T> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        // As many sums as registers hold: 16 vectors of the 32 of AVX-512, otherwise 8 of 16.
        let wide = const { I::AVX512 };
        match (wide, size_of::<T::Acc>()) {
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
impl<T: MatElement> ByColumns<'_, T> {
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
struct Dots<'a, T: MatElement> {
    a: &'a [T::Acc],
    b: Mat<'a, T>,
    sums: &'a mut [T::Acc],
}
impl<T: MatElement> Kernel for Dots<'_, T> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        // four vectors, as in `ByColumns`
        let wide = const { I::AVX512 };
        match (wide, size_of::<T::Acc>()) {
            (true, 2) => self.each::<I, 128>(),
            (true, 4) | (_, 2) => self.each::<I, 64>(),
            (true, 8) | (_, 4) => self.each::<I, 32>(),
            (true, _) | (_, 8) => self.each::<I, 16>(),
            _ => self.each::<I, 8>(),
        }
    }
}
impl<T: MatElement> Dots<'_, T> {
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
