//! The factorisation of lengths.

use crate::kernel::fft::stage::RADICES;

/// The factors of a length, one for each pass.
#[derive(Clone, Copy)]
pub(super) struct Radices {
    list: [u8; Radices::MAX_FACTORS],
    len: usize,
}

impl Radices {
    /// The most passes of a length below 2^40.
    const MAX_FACTORS: usize = 28;

    /// The factors.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.list[..self.len].iter().map(|r| *r as usize)
    }
    /// The number of factors.
    pub const fn len(&self) -> usize {
        self.len
    }
    /// Factor `k`.
    pub const fn get(&self, k: usize) -> usize {
        self.list[k] as usize
    }
    const fn push(&mut self, radix: usize) {
        self.list[self.len] = radix as u8;
        self.len += 1;
    }
}

/// The radices whose product is `n`, for `n` below 2^40; `None` if it has other prime factors.
pub(super) const fn radices(mut n: usize) -> Option<Radices> {
    let mut found = Radices {
        list: [0; Radices::MAX_FACTORS],
        len: 0,
    };
    let mut twos = n.trailing_zeros() as usize;
    n >>= twos;
    // radix 8, but two passes of radix 4 rather than 8 and 2
    while twos > 4 || twos == 3 {
        found.push(8);
        twos -= 3;
    }
    while twos > 1 {
        found.push(4);
        twos -= 2;
    }
    if twos == 1 {
        found.push(2);
    }
    let mut k = 0;
    while k < RADICES.len() {
        let p = RADICES[k];
        while p % 2 == 1 && n.is_multiple_of(p) {
            n /= p;
            found.push(p);
        }
        k += 1;
    }
    if n == 1 { Some(found) } else { None }
}

/// The measured cost of a pass per vector; 1 is an addition with its memory access.
fn cost_of(radix: usize) -> usize {
    match radix {
        2 => 6,
        3 => 8,
        4 => 8,
        5 => 11,
        7 => 15,
        8 => 11,
        11 => 26,
        _ => 5 * radix / 2,
    }
}
/// The cost of loading and storing a vector at either end of the passes.
const COST_OF_ENDS: usize = 10;
/// The fixed cost of a kernel call for a block of columns.
const COST_OF_BLOCK: usize = 100;

/// The number of columns for the cheapest factorisation as a matrix, for a length without large
/// factors; 1 for a single column.
pub(super) fn columns(n: usize, lanes: usize) -> usize {
    let along = |rows: usize| -> usize {
        let passes: usize = radices(rows).map_or(0, |found| found.iter().map(cost_of).sum());
        // long columns don't fit L1
        let far = if rows * lanes > 1 << 14 { 2 } else { 1 };
        rows * passes * far
    };
    let cost = |a: usize| -> usize {
        let b = n / a;
        let (blocks_a, blocks_b) = (a.div_ceil(lanes), b.div_ceil(lanes));
        if a == 1 {
            return along(n) + n * COST_OF_ENDS + COST_OF_BLOCK;
        }
        blocks_a * (along(b) + b * COST_OF_ENDS + COST_OF_BLOCK)
            + blocks_b * (along(a) + a * COST_OF_ENDS + COST_OF_BLOCK)
            + blocks_a * blocks_b * lanes * COST_OF_ENDS
    };
    let (mut best, mut least) = (1, cost(1));
    for a in (2..=n.isqrt()).filter(|a| n.is_multiple_of(*a)) {
        for a in [a, n / a] {
            let cost = cost(a);
            if cost < least {
                (best, least) = (a, cost);
            }
        }
    }
    best
}

/// Whether a matrix of this many columns computes `n` with mostly full vectors, if it has large
/// factors. A pass of a large prime radix takes as many operations per value as the radix, so that
/// Bluestein's convolution is faster than idle lanes.
pub(super) fn fills(n: usize, columns: usize, lanes: usize) -> bool {
    let filled = |rows: usize, columns: usize| {
        let large = radices(rows).is_some_and(|found| found.iter().any(|r| r > 13));
        !large || 4 * columns >= 3 * columns.next_multiple_of(lanes)
    };
    filled(n / columns, columns) && filled(columns, n / columns)
}

/// The smallest length from `least` on with a fast transform: a power of two, or one times a small
/// odd number.
///
/// ```
/// assert_eq!(flex::fft::next_fast_len(1000), 1024);
/// assert_eq!(flex::fft::next_fast_len(1025), 1120);
/// ```
pub fn next_fast_len(least: usize) -> usize {
    if least > usize::MAX >> 3 {
        return least; // longer than any memory
    }
    let mut best = least.max(1).next_power_of_two();
    for odd in [3, 5, 7, 9, 15, 21, 25, 27, 35, 45] {
        let twos = least.div_ceil(odd).next_power_of_two();
        if twos >= 8 && odd * twos < best {
            best = odd * twos;
        }
    }
    best
}
