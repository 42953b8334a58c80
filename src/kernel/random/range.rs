//! Integers of a range, without bias (Lemire, "Fast random integer generation in an interval",
//! 2019): the high half of the product of random bits and the number of integers, drawn again where
//! the low half is among those that some integers have one more of than others.

use super::{GROUP, Group, Stream, WORDS, as_words, bits, words};

/// How often an integer is drawn again, at most: each time with a probability below one half, so
/// the last resort, which is biased, has one below 2^-100.
const RETRIES: u32 = 100;
/// The largest range drawn from 32 bits, if it is not a power of two: more would often be drawn
/// again.
const SHORT: u64 = 1 << 24;

/// The integers from 0 up to a number of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// How many there are; 0 means 2^64.
    count: u64,
    /// Low halves below it are rejected.
    limit: u64,
    /// Whether 32 bits are drawn for each, rather than 64.
    short: bool,
}
impl Range {
    /// `count` integers; 0 means 2^64.
    pub fn new(count: u64) -> Range {
        let short = (count.is_power_of_two() && count <= 1 << 32) || (1..=SHORT).contains(&count);
        match short {
            true => Range {
                count,
                limit: (1u64 << 32) % count,
                short,
            },
            false => Range::of_longs(count),
        }
    }
    /// The same for as many 64-bit numbers, whatever their count.
    pub fn of_longs(count: u64) -> Range {
        Range {
            count,
            limit: count.wrapping_neg().checked_rem(count).unwrap_or(0),
            short: false,
        }
    }
    /// Whether each takes 32 bits, rather than 64.
    pub fn is_short(self) -> bool {
        self.short
    }
    /// How many integers a group makes.
    pub fn per_group(self) -> usize {
        if self.short { WORDS } else { GROUP }
    }
    /// The integer of 64 bits, and whether it is rejected.
    #[inline(always)]
    fn of_long(self, x: u64) -> (u64, bool) {
        if self.count == 0 {
            return (x, false);
        }
        let product = x as u128 * self.count as u128;
        ((product >> 64) as u64, (product as u64) < self.limit)
    }
    /// The integer of 32 bits, and whether it is rejected.
    #[inline(always)]
    fn of_word(self, x: u32) -> (u32, bool) {
        let product = x as u64 * self.count;
        ((product >> 32) as u32, (product & 0xffff_ffff) < self.limit)
    }
    /// The integer of `x`, number `i` of those that begin with block `first`, or of those drawn in
    /// its place.
    #[inline]
    pub fn long(self, stream: Stream, first: u64, i: usize, x: u64) -> u64 {
        let (mut found, mut rejected) = self.of_long(x);
        let mut retry = 1;
        while rejected && retry < RETRIES {
            (found, rejected) = self.of_long(stream.long(first, i, retry));
            retry += 1;
        }
        found
    }
    #[inline]
    fn word(self, stream: Stream, first: u64, i: usize, x: u32) -> u32 {
        let (mut found, mut rejected) = self.of_word(x);
        let mut retry = 1;
        while rejected && retry < RETRIES {
            (found, rejected) = self.of_word(stream.word(first, i, retry));
            retry += 1;
        }
        found
    }
    /// The integers of a short range that the groups from block `first` on make.
    pub fn words(self, stream: Stream, first: u64, groups: &mut [Group]) -> &mut [u32] {
        bits(stream, first, groups);
        let whole = self.count == 1 << 32;
        if !whole && scaled(self.count as u32, self.limit as u32, words(groups)) {
            bits(stream, first, groups);
            for (i, y) in words(groups).iter_mut().enumerate() {
                *y = self.word(stream, first, i, *y);
            }
        } else if whole {
            return words(groups);
        }
        as_words(groups)
    }
    /// The integers of a range that the groups from block `first` on make, of 64 bits each.
    pub fn longs(self, stream: Stream, first: u64, groups: &mut [Group]) -> &mut [u64] {
        bits(stream, first, groups);
        let y = groups.as_flattened_mut();
        if self.count != 0 {
            for (i, y) in y.iter_mut().enumerate() {
                *y = self.long(stream, first, i, *y);
            }
        }
        y
    }
}

/// An integer below `count`, by `x`, 64-bit number `i` of those that begin with block `first`: for
/// a count of one's own, whose limit is seldom needed. 0 means 2^64.
#[inline]
pub fn lemire(count: u64, stream: Stream, first: u64, i: usize, x: u64) -> u64 {
    let product = x as u128 * count as u128;
    match count {
        0 => x,
        // the limit is less than the count
        n if product as u64 >= n => (product >> 64) as u64,
        _ => Range::of_longs(count).long(stream, first, i, x),
    }
}

kernel! {
    /// The integers of words below `count`; whether any is rejected.
    fn scaled<'a>(count: u32, limit: u32, y: &'a mut [u32]) -> bool { |I|
        let mut rejected = 0u32;
        for y in y {
            let product = *y as u64 * count as u64;
            rejected |= ((product as u32) < limit) as u32;
            *y = (product >> 32) as u32;
        }
        rejected != 0
    }
}

/// An unsigned integer as the low bits of a wider one.
pub trait Truncated: bytemuck::Pod {
    /// The low bits.
    fn of(x: u64) -> Self;
}
macro_rules! truncated {
    ($($T:ident)*) => { $(impl Truncated for $T {
        #[inline(always)]
        fn of(x: u64) -> $T { x as $T }
    })* };
}
truncated! { u8 u16 u32 u64 }

kernel! {
    /// Words plus the lowest integer.
    pub fn offset<'a, T: Truncated>(x: &'a [u32], low: u64, y: &'a mut [T]) -> () { |I|
        for (y, x) in y.iter_mut().zip(x) {
            *y = T::of((*x as u64).wrapping_add(low));
        }
    }
}
