//! Sums, means and maxima of the rows of a table that an index lists.

use crate::kernel::gemm::MatElement;
use crate::kernel::math::Real;
use crate::simd::{self, Isa, Kernel, prefetch_run};

/// Columns whose results stay in registers, and those of narrower tables.
const WIDE: usize = if simd::MICROCONTROLLER { 4 } else { 64 };
const NARROW: usize = if simd::MICROCONTROLLER { 1 } else { 16 };
/// The number of rows between the one that is read and the one that is prefetched: rows lie
/// anywhere in memory, where no CPU expects them.
const AHEAD: usize = 16;

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
    /// Their numbers in the table.
    pub rows: &'a [i64],
    /// The factor of each.
    pub factors: Option<&'a [T::Acc]>,
    /// A row that doesn't count.
    pub padding: Option<i64>,
    /// A number for each column.
    pub to: &'a mut [T],
}
/// Reduces the rows of a bag, in their order. Panics if a row is not in the table, or has no factor.
pub fn bag<T: MatElement<Acc: Real>>(bag: Bag<T>) {
    simd::call(bag)
}
impl<T: MatElement<Acc: Real>> Kernel for Bag<'_, T> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(mut self) {
        let (width, mut at) = (self.to.len(), 0);
        while at + WIDE <= width {
            self.columns::<I, WIDE>(at);
            at += WIDE;
        }
        while at + NARROW <= width {
            self.columns::<I, NARROW>(at);
            at += NARROW;
        }
        while at < width {
            self.columns::<I, 1>(at);
            at += 1;
        }
    }
}
impl<T: MatElement<Acc: Real>> Bag<'_, T> {
    /// `N` columns from `at` on.
    #[inline(always)]
    fn columns<I: Isa, const N: usize>(&mut self, at: usize) {
        let width = self.to.len();
        let (mut sums, mut count) = ([T::Acc::ZERO; N], 0);
        for (k, row) in self.rows.iter().enumerate() {
            if let Some(next) = self.rows.get(k + AHEAD) {
                let next = *next as usize * width + at;
                prefetch_run::<{ simd::L1 }, _>(self.table.as_ptr().wrapping_add(next), N);
            }
            if Some(*row) == self.padding {
                continue;
            }
            let mut x = [T::Acc::ZERO; N];
            T::widen_all::<I>(&self.table[*row as usize * width + at..][..N], &mut x);
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
    }
}
