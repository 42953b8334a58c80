//! The weights of a resampling along an axis.

use crate::error::Result;
use crate::fallible;
use crate::storage::expect_room;
use alloc::vec::Vec;

/// A sparse matrix of weights, with a row for each output of an axis and as many taps in each row.
///
/// Invariant TABLE1: each of `index` is at most `size`, the size of the axis; `index` and `weight`
/// have `outputs * taps` elements. Index `size` stands for a zero.
#[derive(Clone, Debug)]
pub struct Table<A> {
    size: usize,
    outputs: usize,
    taps: usize,
    /// Tap by tap: element `tap * outputs + output`.
    index: Vec<u32>,
    weight: Vec<A>,
}

impl<A: Copy + PartialEq> Table<A> {
    /// From indices and weights, tap by tap.
    ///
    /// # Panics
    /// If TABLE1 would not hold.
    pub fn new(size: usize, outputs: usize, index: Vec<u32>, weight: Vec<A>) -> Table<A> {
        let taps = index.len() / outputs.max(1);
        assert!(index.len() == outputs * taps && weight.len() == index.len());
        assert!(index.iter().all(|i| *i as usize <= size));
        Table {
            size,
            outputs,
            taps,
            index,
            weight,
        }
    }
    /// The bytes of a table with so many taps for each output.
    pub fn bytes(taps: usize, outputs: usize) -> usize {
        taps.saturating_mul(outputs)
            .saturating_mul(size_of::<u32>() + size_of::<A>())
    }
    /// The transposed matrix: each element becomes an output, made of all outputs that it was a tap
    /// of, in their order. Unused taps have the weight `zero`.
    pub fn transposed(&self, zero: A) -> Result<Table<A>> {
        let all = || {
            let of_output = |output| (0..self.taps).filter_map(move |tap| self.tap(output, tap));
            (0..self.outputs)
                .flat_map(move |output| of_output(output).map(move |tap| (output, tap)))
        };
        let counts = self.size.saturating_mul(size_of::<usize>());
        expect_room(counts)?;
        let mut count = fallible::filled(0usize, self.size)?;
        all().for_each(|(_, (element, _))| count[element] += 1);
        let taps = count.iter().copied().max().unwrap_or(0);
        expect_room(counts.saturating_add(Table::<A>::bytes(taps, self.size)))?;
        let len = taps.checked_mul(self.size);
        let len = len.ok_or_else(|| crate::Error::memory::<A>(usize::MAX))?;
        let mut index = fallible::filled(self.outputs as u32, len)?;
        let mut weight = fallible::filled(zero, len)?;
        count.fill(0);
        for (output, (element, w)) in all() {
            let at = count[element] * self.size + element;
            (index[at], weight[at]) = (output as u32, w);
            count[element] += 1;
        }
        Ok(Table::new(self.outputs, self.size, index, weight))
    }
    /// The number of outputs.
    pub fn outputs(&self) -> usize {
        self.outputs
    }
    /// The size of the axis.
    pub fn size(&self) -> usize {
        self.size
    }
    /// Taps per output.
    pub fn taps(&self) -> usize {
        self.taps
    }
    /// One tap of an output: its element and weight; none for an unused tap.
    #[inline(always)]
    pub fn tap(&self, output: usize, tap: usize) -> Option<(usize, A)> {
        let at = tap * self.outputs + output;
        let index = self.index[at] as usize;
        (index < self.size).then(|| (index, self.weight[at]))
    }
    /// Whether an output other than the first has the taps of the output before.
    #[inline(always)]
    pub fn repeats(&self, output: usize) -> bool {
        (0..self.taps).all(|tap| self.tap(output, tap) == self.tap(output - 1, tap))
    }
    /// The indices and weights of all outputs, tap by tap.
    #[cfg(x86_dispatch)]
    #[inline(always)]
    pub fn columns(&self) -> (&[u32], &[A]) {
        (&self.index, &self.weight)
    }
    /// The indices and weights of all outputs for one tap.
    #[inline(always)]
    pub fn column(&self, tap: usize) -> (&[u32], &[A]) {
        let range = tap * self.outputs..(tap + 1) * self.outputs;
        (&self.index[range.clone()], &self.weight[range])
    }
}
