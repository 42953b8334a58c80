//! Keys and their positions in 64 bits, so that positions are sorted as values are, stably.

use super::{Ordered, flip};

/// How a line's keys and positions share 64 bits: a position takes the bits that it needs, a key
/// the rest. Keys are relative to the smallest of the line. If a key needs more bits, its last ones
/// are lost, and [`settle`] orders the pairs that are equal without them.
#[derive(Clone, Copy)]
pub struct KeyPacking {
    least: i64,
    lost: u32,
    bits: u32,
}

impl KeyPacking {
    /// For a line of `n` keys from `least` to `most`.
    pub fn new(least: i64, most: i64, n: usize) -> KeyPacking {
        let bits = usize::BITS - n.saturating_sub(1).leading_zeros();
        let needed = u64::BITS - (most.wrapping_sub(least) as u64).leading_zeros();
        KeyPacking {
            least,
            lost: (needed + bits).saturating_sub(u64::BITS),
            bits,
        }
    }
    /// For any `n` keys of a width, if they fit; otherwise the smallest and the largest have to be
    /// found first.
    pub fn of_width(width: u32, n: usize) -> Option<KeyPacking> {
        let half = 1i64.checked_shl(width - 1).filter(|_| width < i64::BITS)?;
        Some(KeyPacking::new(-half, half - 1, n)).filter(|p| p.lost == 0)
    }
    #[inline(always)]
    fn pack(self, key: i64, position: usize) -> i64 {
        let key = key.wrapping_sub(self.least) as u64 >> self.lost;
        (key << self.bits | position as u64) as i64 ^ i64::MIN
    }
    /// The position in a pair.
    #[inline(always)]
    pub fn position(self, pair: i64) -> usize {
        (pair as u64 & ((1 << self.bits) - 1)) as usize
    }
}

#[inline(always)]
fn key<T: Ordered>(x: T, flip: T::Key) -> i64 {
    x.canonical().key(flip).into()
}

kernel! {
    /// The smallest and the largest key.
    pub fn extent<'a, T: Ordered>(x: &'a [T], descending: bool) -> (i64, i64) { |I|
        let flip = flip(descending);
        let (mut least, mut most) = (i64::MAX, i64::MIN);
        for x in x {
            let k = key(*x, flip);
            least = least.min(k);
            most = most.max(k);
        }
        (least, most)
    }
}
kernel! {
    /// Pairs each value with its position, counted from `first`, for sorting.
    pub fn pairs<'a, T: Ordered>(x: &'a [T], first: usize, packing: KeyPacking, descending: bool, out: &'a mut [i64]) -> () { |I|
        let flip = flip(descending);
        for (i, (x, p)) in x.iter().zip(out).enumerate() {
            *p = packing.pack(key(*x, flip), first + i);
        }
    }
}
/// Orders sorted pairs that differ only in their positions by the values in `x`. Others may write to
/// these meanwhile: whatever they do, the pairs, in memory of the caller's, keep their positions
/// (READ1).
pub fn settle<T: Ordered>(x: &[T], packing: KeyPacking, descending: bool, pairs: &mut [i64]) {
    if packing.lost > 0 {
        settle_lost(x, packing, packing.lost, flip(descending), pairs);
    }
}

/// The same if the last `lost` bits of the keys are not in the pairs. In a run of equal pairs,
/// these bits take the place of the common ones; if they don't all fit beside a position, another
/// round handles the rest.
fn settle_lost<T: Ordered>(
    x: &[T],
    packing: KeyPacking,
    lost: u32,
    flip: T::Key,
    pairs: &mut [i64],
) {
    let rest = (lost + packing.bits).saturating_sub(u64::BITS);
    for run in pairs
        .chunk_by_mut(|a, b| (a ^ b) as u64 >> packing.bits == 0)
        .filter(|run| run.len() > 1)
    {
        for p in &mut *run {
            let position = packing.position(*p);
            let next = (key(x[position], flip).wrapping_sub(packing.least) as u64
                & (u64::MAX >> (u64::BITS - lost)))
                >> rest;
            *p = (next << packing.bits | position as u64) as i64 ^ i64::MIN;
        }
        run.sort_unstable();
        if rest > 0 {
            settle_lost(x, packing, rest, flip, run);
        }
    }
}
kernel! {
    /// Converts pairs to positions, in place.
    pub fn positions<'a>(pairs: &'a mut [i64], packing: KeyPacking) -> () { |I|
        for p in pairs {
            *p = packing.position(*p) as i64;
        }
    }
}
