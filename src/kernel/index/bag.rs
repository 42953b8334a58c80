//! Sums, means and maxima of the rows of a table that an index lists.

use crate::kernel::gemm::MatElement;
use crate::kernel::math::Real;
use crate::simd::{self, Isa, Kernel, L2, prefetch_run};

/// Columns whose results stay in registers, and those of narrower tables.
const WIDE: usize = if simd::MICROCONTROLLER { 4 } else { 64 };
const NARROW: usize = if simd::MICROCONTROLLER { 1 } else { 16 };
/// How far ahead rows are prefetched, in bytes and at most in rows: rows lie anywhere in memory,
/// where no CPU expects them. Into the second level, since fewer fetches into the first may be under
/// way.
const AHEAD: usize = 32 << 10;
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

impl<T: MatElement<Acc: Real>> Kernel for Bag<'_, T> {
    type Out = Result<(), OutOfTable>;
    #[inline(always)]
    fn run<I: Isa>(mut self) -> Self::Out {
        let (width, mut at) = (self.to.len(), 0);
        while at + WIDE <= width {
            self.columns::<I, WIDE>(at)?;
            at += WIDE;
        }
        while at + NARROW <= width {
            self.columns::<I, NARROW>(at)?;
            at += NARROW;
        }
        while at < width {
            self.columns::<I, 1>(at)?;
            at += 1;
        }
        Ok(())
    }
}
impl<T: MatElement<Acc: Real>> Bag<'_, T> {
    /// Prefetches a whole row, whose number may be wrong. One function for all numbers of columns.
    #[inline(never)]
    fn prefetch(&self, row: i64) {
        let (width, table) = (self.to.len(), self.table.as_ptr());
        let first = table.wrapping_add((row as usize).wrapping_mul(width));
        prefetch_run::<L2, _>(first, width);
    }
    /// `N` columns from `at` on.
    #[inline(always)]
    fn columns<I: Isa, const N: usize>(&mut self, at: usize) -> Result<(), OutOfTable> {
        let (width, rows) = (self.to.len(), &self.rows[..self.count]);
        // whole rows, before the first columns are read
        let later = match at {
            0 => (AHEAD / (width * size_of::<T>())).clamp(1, ROWS_AHEAD),
            _ => self.rows.len(),
        };
        let later = self.rows.get(later..).unwrap_or(&[]);
        let (mut sums, mut count) = ([T::Acc::ZERO; N], 0);
        for (k, row) in rows.iter().enumerate() {
            if let Some(next) = later.get(k) {
                self.prefetch(*next);
            }
            let first = usize::try_from(*row)
                .ok()
                .and_then(|row| row.checked_mul(width));
            let elements = first.and_then(|first| self.table.get(first..)?.get(at..at + N));
            let elements = elements.ok_or(OutOfTable)?;
            if Some(*row) == self.padding {
                continue;
            }
            let mut x = [T::Acc::ZERO; N];
            T::widen_all::<I>(elements, &mut x);
            match (self.mode, self.factors) {
                (BagMode::Max, _) if count == 0 => sums = x,
                (BagMode::Max, _) => {
                    (0..N).for_each(|l| sums[l] = sums[l].maximum::<I>(x[l]));
                }
                (_, Some(factors)) => {
                    let factor = factors[k];
                    (0..N).for_each(|l| sums[l] = sums[l] + x[l] * factor);
                }
                _ => (0..N).for_each(|l| sums[l] = sums[l] + x[l]),
            }
            count += 1;
        }
        if self.mode == BagMode::Mean && count > 1 {
            let n = T::Acc::from_f64(count as f64);
            (0..N).for_each(|l| sums[l] = sums[l] / n);
        }
        for (to, sum) in self.to[at..at + N].iter_mut().zip(sums) {
            *to = T::narrow(sum);
        }
        Ok(())
    }
}
