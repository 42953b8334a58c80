//! Products of a matrix and few vectors (gemv for a single one). Each element of B is used only a
//! few times, so memory is the limit, and B is read once, in long contiguous runs. If rows of B are
//! contiguous, four of them at a time are added to a piece of C in L1 (axpy), or short ones to sums
//! in registers; if columns are, elements of C are dot products, several of floats side by side.
//! Few long ones are summed in pieces. Sums are written where C lies if its elements have their
//! bits.

mod columns;
mod floats;
mod rows;

use super::{
    Algorithm,
    element::MatElement,
    epilogue::{self, Epilogue, Finish},
    matrix::{Mat, MatMut},
    microkernel::Packed,
    packing::{self, Single},
    scratch::Scratch,
    source::{Source, Strided},
    tiny,
};
use crate::{
    error::Result,
    simd::{self, Level},
};
use columns::{ByColumns, Dots};
use rows::ByRows;

/// The most rows that count as few.
const ROWS: usize = 16;
/// The fewest columns whose sums are kept in L1, not in registers.
const LONG_ROW: usize = 64;
/// Whether there is code for fewer: modules that are downloaded leave it out.
const SHORT_ROWS: bool = !cfg!(target_family = "wasm");
/// The most rows that are multiplied by dot products.
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
    } else if b.cs() == 1 && (n >= LONG_ROW && m <= ROWS || has_short_rows::<A>([m, n, k])) {
        Some(Algorithm::GemvRows)
    } else if b.rs() == 1 && has_dots::<A>([m, n, k]) {
        Some(Algorithm::GemvColumns)
    } else {
        None
    }
}

/// Whether sums of short rows in registers are faster than packing these into panels: of few rows
/// that neither tiny products nor microkernels read in place.
fn has_short_rows<A: MatElement>([m, n, k]: [usize; 3]) -> bool {
    let lanes = A::Acc::shape(simd::level()).0;
    n < LONG_ROW
        && const { SHORT_ROWS && A::Acc::IS_FLOAT }
        && !n.is_multiple_of(lanes)
        && m <= if n < lanes { ROWS } else { 4 }
        && m.max(n).max(k) > tiny::LARGEST
}

/// Whether `m` rows are so few that dot products of `k` elements are faster than packing columns
/// into panels.
fn has_dots<A: MatElement>([m, n, k]: [usize; 3]) -> bool {
    match const { A::Acc::IS_FLOAT } {
        true => m == 1 && k >= 4 && n > tiny::LARGEST || m <= ROWS && 12 * m <= k,
        // reducing the lanes of a sum takes as long as packing a dozen elements
        false => k >= 16 && m <= DOT_ROWS && m * (12 + k / 64) <= k,
    }
}

/// `sums += a b`: `a` holds rows of `b.rows()` lanes, `sums` rows of `b.cols()`.
pub struct FewRows<'a, T: MatElement> {
    a: &'a [T::Acc],
    b: Mat<'a, T>,
    sums: &'a mut [T::Acc],
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
    // elements that have the bits of their sums are these
    let in_place = C::SAME && (m == 1 || piece == n && c.rs() == n as isize);
    let mut scratch = Scratch::<A::Acc>::new(if in_place { 0 } else { m * piece })?;
    for j in (0..n).step_by(piece) {
        let cols = j..n.min(j + piece);
        let b = b.block(0..k, cols.clone());
        let width = cols.len();
        let sums = if in_place {
            // SAFETY: MAT2: the elements of `m` rows of `width`, one after the other, which are
            // writable, and have the bits of their sums (ELEMENT1).
            unsafe { core::slice::from_raw_parts_mut(c.at(0, j).cast::<A::Acc>(), m * width) }
        } else {
            &mut scratch[..m * width]
        };
        if !accumulate {
            sums.fill(Default::default());
        } else if !in_place {
            for (i, sums) in sums.chunks_exact_mut(width).enumerate() {
                for (x, c) in sums.iter_mut().zip(&c.row(i)[cols.clone()]) {
                    *x = c.widen();
                }
            }
        }
        let first = sums.as_mut_ptr();
        let job = FewRows { a: rows, b, sums };
        match rows_of_b {
            true => simd::call(ByRows(job)),
            false => simd::call(ByColumns(job)),
        }
        if in_place && epilogue.is_empty() {
            continue;
        }
        // SAFETY: EPILOGUE1: `m` rows of `width` sums, and the elements of `c` from column `j` on
        // unless they are these, which are writable by MAT2.
        unsafe {
            epilogue::finish(Finish {
                epilogue: epilogue.at(0, j),
                sums: first,
                rows: m,
                cols: width,
                ld: width as isize,
                d: (!in_place).then(|| (c.at(0, j), c.rs())),
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
    let job = FewRows {
        a: a.get(),
        b,
        sums,
    };
    // not worth the code for integers
    match const { A::Acc::UNROLLED } {
        true => simd::call(Dots(job)),
        false => simd::call(ByColumns(job)),
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
