//! The weights of a resampling along an axis.

use crate::error::Result;
use crate::fallible;
use alloc::vec::Vec;

/// A sparse matrix of weights, with a row for each place of an axis and as many taps in each row.
///
/// Invariant TABLE1: each of `index` is at most `size`, the size of the axis; `index` and `weight`
/// have `places * taps` elements. Index `size` stands for a zero.
#[derive(Clone, Debug)]
pub struct Table<A> {
    size: usize,
    places: usize,
    taps: usize,
    /// Tap by tap: element `tap * places + place`.
    index: Vec<u32>,
    weight: Vec<A>,
}

impl<A: Copy + PartialEq> Table<A> {
    /// From indices and weights, tap by tap.
    ///
    /// # Panics
    /// If TABLE1 would not hold.
    pub fn new(size: usize, places: usize, index: Vec<u32>, weight: Vec<A>) -> Table<A> {
        let taps = index.len() / places.max(1);
        assert!(index.len() == places * taps && weight.len() == index.len());
        assert!(index.iter().all(|i| *i as usize <= size));
        Table {
            size,
            places,
            taps,
            index,
            weight,
        }
    }
    /// The transposed matrix: each element becomes a place, made of all places that it was a tap
    /// of, in their order. Unused taps have the weight `zero`.
    pub fn transposed(&self, zero: A) -> Result<Table<A>> {
        let all = || {
            let of_place = |place| (0..self.taps).filter_map(move |tap| self.tap(place, tap));
            (0..self.places).flat_map(move |place| of_place(place).map(move |tap| (place, tap)))
        };
        let mut count = fallible::filled(0usize, self.size)?;
        all().for_each(|(_, (element, _))| count[element] += 1);
        let taps = count.iter().copied().max().unwrap_or(0);
        let len = taps.checked_mul(self.size);
        let len = len.ok_or_else(|| crate::Error::memory::<A>(usize::MAX))?;
        let mut index = fallible::filled(self.places as u32, len)?;
        let mut weight = fallible::filled(zero, len)?;
        count.fill(0);
        for (place, (element, w)) in all() {
            let at = count[element] * self.size + element;
            (index[at], weight[at]) = (place as u32, w);
            count[element] += 1;
        }
        Ok(Table::new(self.places, self.size, index, weight))
    }
    /// The number of places.
    pub fn places(&self) -> usize {
        self.places
    }
    /// The size of the axis.
    pub fn size(&self) -> usize {
        self.size
    }
    /// Taps per place.
    pub fn taps(&self) -> usize {
        self.taps
    }
    /// One tap of a place: its element and weight; none for an unused tap.
    #[inline(always)]
    pub fn tap(&self, place: usize, tap: usize) -> Option<(usize, A)> {
        let at = tap * self.places + place;
        let index = self.index[at] as usize;
        (index < self.size).then(|| (index, self.weight[at]))
    }
    /// Whether a place other than the first has the taps of the place before.
    #[inline(always)]
    pub fn repeats(&self, place: usize) -> bool {
        (0..self.taps).all(|tap| self.tap(place, tap) == self.tap(place - 1, tap))
    }
    /// The indices and weights of all places, tap by tap.
    #[cfg(x86_dispatch)]
    #[inline(always)]
    pub fn columns(&self) -> (&[u32], &[A]) {
        (&self.index, &self.weight)
    }
    /// The indices and weights of all places for one tap.
    #[inline(always)]
    pub fn column(&self, tap: usize) -> (&[u32], &[A]) {
        let range = tap * self.places..(tap + 1) * self.places;
        (&self.index[range.clone()], &self.weight[range])
    }
}
