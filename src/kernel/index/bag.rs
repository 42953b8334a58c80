//! Sums, means and maxima of the rows of a table that an index lists.

use crate::kernel::gemm::MatElement;
use crate::kernel::math::Real;
use crate::simd::{self, Isa, Kernel, L1, prefetch_run};
use core::array;

/// Columns that are added at once; the results of a table of so many stay in registers.
const WIDE: usize = if simd::MICROCONTROLLER { 4 } else { 64 };
const NARROW: usize = if simd::MICROCONTROLLER { 2 } else { 16 };
/// Columns whose results stay in L1 at a time.
const LONGEST: usize = if simd::MICROCONTROLLER { 64 } else { 1024 };
/// How far ahead rows are prefetched, in bytes and at most in rows: rows lie anywhere in memory,
/// where no CPU expects them.
const AHEAD: usize = 16 << 10;
const ROWS_AHEAD: usize = 64;

/// How the rows of a bag are reduced.
///
/// Example: [`EmbeddingBag`](crate::nn::EmbeddingBag).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BagMode {
    /// Their sum.
    Sum,
    /// Their mean; zeros for an empty bag.
    #[default]
    Mean,
    /// The maximum per column; zeros for an empty bag.
    Max,
}

/// The rows of a bag.
pub struct Bag<'a, T: MatElement> {
    pub table: &'a [T],
    pub mode: BagMode,
    /// Their numbers in the table, followed by those of later bags, which are prefetched; nobody
    /// else's memory (READ1).
    pub rows: &'a [i64],
    /// How many are this bag's.
    pub count: usize,
    /// The factor of each.
    pub factors: Option<&'a [T::Acc]>,
    /// A row that doesn't count.
    pub padding: Option<i64>,
    /// A number for each column.
    pub to: &'a mut [T],
}
/// Reduces the rows of a bag, in their order. Errors if a row is not in the table, with part of the
/// result written. Panics if a row has no factor.
pub fn bag<T: MatElement<Acc: Real>>(bag: Bag<T>) -> Result<(), OutOfTable> {
    simd::call(bag)
}
/// A row's number is negative or too large.
pub struct OutOfTable;

/// Results that begin on a cache line.
#[cfg_attr(feature = "std", repr(align(64)))]
struct CacheLines<A>([A; LONGEST]);

impl<T: MatElement<Acc: Real>> Kernel for Bag<'_, T> {
    type Out = Result<(), OutOfTable>;
    #[inline(always)]
    fn run<I: Isa>(mut self) -> Self::Out {
        match self.mode {
            BagMode::Max => self.reduce::<I, true>(),
            BagMode::Sum | BagMode::Mean => self.reduce::<I, false>(),
        }
    }
}
impl<T: MatElement<Acc: Real>> Bag<'_, T> {
    /// Maxima, or sums.
    #[inline(always)]
    fn reduce<I: Isa, const MAX: bool>(&mut self) -> Result<(), OutOfTable> {
        match self.to.len() {
            NARROW => self.columns::<I, MAX, NARROW>(),
            WIDE => self.columns::<I, MAX, WIDE>(),
            width => (0..width).step_by(LONGEST).try_for_each(|at| {
                let mut found = CacheLines([Self::start::<MAX>(); LONGEST]);
                self.long::<I, MAX>(at, &mut found.0[..LONGEST.min(width - at)])
            }),
        }
    }
    /// The maximum, or the sum, of nothing.
    #[inline(always)]
    fn start<const MAX: bool>() -> T::Acc {
        match MAX {
            true => T::Acc::NEG_INFINITY,
            false => T::Acc::ZERO,
        }
    }
    /// All of `N` columns, whose results stay in registers.
    #[inline(always)]
    fn columns<I: Isa, const MAX: bool, const N: usize>(&mut self) -> Result<(), OutOfTable> {
        let mut found = [Self::start::<MAX>(); N];
        let counted = self.each_row(|factor, row, later| {
            prefetch_run::<L1, _>(later, N);
            fold::<I, T, MAX, N>(&mut found, row.first_chunk()?, factor);
            Some(())
        })?;
        self.finish(0, &mut found, counted);
        Ok(())
    }
    /// The columns from `at` on that `found` has room for, in L1: each row is read once, and the lines
    /// of a later one are prefetched as it is, no faster than they arrive.
    #[inline(always)]
    fn long<I: Isa, const MAX: bool>(
        &mut self,
        at: usize,
        found: &mut [T::Acc],
    ) -> Result<(), OutOfTable> {
        let n = found.len();
        let counted = self.each_row(|factor, row, later| {
            let (row, later) = (row.get(at..at + n)?, later.wrapping_add(at));
            let (blocks, rest) = row.as_chunks::<NARROW>();
            let (sums, sums_of_rest) = found.as_chunks_mut::<NARROW>();
            for (c, (sums, row)) in sums.iter_mut().zip(blocks).enumerate() {
                prefetch_run::<L1, _>(later.wrapping_add(c * NARROW), NARROW);
                fold::<I, T, MAX, NARROW>(sums, row, factor);
            }
            prefetch_run::<L1, _>(later.wrapping_add(n - rest.len()), rest.len());
            for (sum, x) in sums_of_rest.iter_mut().zip(rest) {
                fold::<I, T, MAX, 1>(array::from_mut(sum), array::from_ref(x), factor);
            }
            Some(())
        })?;
        self.finish(at, found, counted);
        Ok(())
    }
    /// Calls `fold` for each row that counts, with its factor, its elements, and where a later one
    /// begins; `None` for a row that is too short. Returns how many count.
    #[inline(always)]
    fn each_row(
        &self,
        mut fold: impl FnMut(T::Acc, &[T], *const T) -> Option<()>,
    ) -> Result<usize, OutOfTable> {
        let width = self.to.len();
        let ahead = (AHEAD / size_of_val(&*self.to)).clamp(1, ROWS_AHEAD);
        let later = self.rows.get(ahead..).unwrap_or(&[]);
        let mut counted = 0;
        for (k, row) in self.rows[..self.count].iter().enumerate() {
            let first = usize::try_from(*row)
                .ok()
                .and_then(|r| r.checked_mul(width));
            let elements = first.and_then(|first| self.table.get(first..)?.get(..width));
            let elements = elements.ok_or(OutOfTable)?;
            if Some(*row) == self.padding {
                continue;
            }
            // its number may be wrong; the last rows prefetch themselves, which is nothing
            let next = later.get(k).copied().unwrap_or(*row) as usize;
            let next = self.table.as_ptr().wrapping_add(next.wrapping_mul(width));
            let factor = self.factors.map_or(T::Acc::ONE, |f| f[k]);
            fold(factor, elements, next).ok_or(OutOfTable)?;
            counted += 1;
        }
        Ok(counted)
    }
    /// Writes the results of the columns from `at` on, of so many rows.
    #[inline(always)]
    fn finish(&mut self, at: usize, found: &mut [T::Acc], counted: usize) {
        if counted == 0 {
            found.fill(T::Acc::ZERO);
        } else if self.mode == BagMode::Mean {
            let n = T::Acc::from_f64(counted as f64);
            found.iter_mut().for_each(|sum| *sum = *sum / n);
        }
        for (to, x) in self.to[at..].iter_mut().zip(found) {
            *to = T::narrow(*x);
        }
    }
}
/// Takes `N` elements of a row into maxima, or into sums.
#[inline(always)]
fn fold<I: Isa, T: MatElement<Acc: Real>, const MAX: bool, const N: usize>(
    found: &mut [T::Acc; N],
    row: &[T; N],
    factor: T::Acc,
) {
    for l in (0..N).step_by(NARROW) {
        // so short that it stays in registers
        let n = NARROW.min(N - l);
        let mut x = [T::Acc::ZERO; NARROW];
        T::widen_all::<I>(&row[l..l + n], &mut x[..n]);
        for (found, x) in found[l..l + n].iter_mut().zip(x) {
            *found = match MAX {
                true => found.maximum::<I>(x),
                false => *found + x * factor,
            };
        }
    }
}
