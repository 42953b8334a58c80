//! Sorting of a line: values become integer keys ([`key`]), which are sorted by one algorithm per
//! width.
//!
//! - 8 and 16 bits: radix sort by bytes ([`radix`]); 32 and 64 bits: a vectorised quicksort
//!   ([`quick`]), or core's sort on targets without one.
//! - Positions: a key and its position make one integer ([`pack`]), so that positions are sorted as
//!   values are, stably.
//! - The first k: candidates below a bound that falls as better ones are found ([`first`]).
//!
//! NaN comes last in both directions. Lines too few for the threads are partitioned, and threads
//! sort the parts; a sort's result is unique, so its bits don't depend on that. Zeros of both signs
//! are put back in order afterwards.

pub mod key;
#[cfg(x86_dispatch)]
mod network;
pub mod pack;
mod quick;
mod radix;

pub use key::{Key, KeyedPosition, Ordered};
pub use quick::Part;

macro_rules! sorted_by {
    ($($K:ty: $sort:path $(, $split:path, $select:path)?;)*) => { $(
        impl Key for $K {
            const FLIP: $K = -1;
            #[inline]
            fn sort(part: Part<$K>) { $sort(part) }
            $(
                #[inline]
                fn split(part: Part<$K>) -> (Part<$K>, Part<$K>) { $split(part) }
                #[inline]
                fn select(part: Part<$K>, k: usize) { $select(part, k) }
            )?
        }
    )* };
}
sorted_by! {
    i8: radix::sort;
    i16: radix::sort;
    i32: quick::sort_i32, quick::split_i32, quick::select_i32;
    i64: quick::sort_i64, quick::split_i64, quick::select_i64;
    i128: sort_by_comparison;
}

fn sort_by_comparison<K: Key>(part: Part<K>) {
    part.come_home().sort_unstable()
}

/// 0, or the mask that reverses the order.
#[inline(always)]
pub fn flip<K: Key>(descending: bool) -> K {
    if descending { K::FLIP } else { K::default() }
}

kernel! {
    /// The keys of `x`.
    pub fn keys<'a, T: Ordered>(x: &'a [T], descending: bool, out: &'a mut [T::Key]) -> () { |I|
        let flip = flip(descending);
        for (x, k) in x.iter().zip(out) {
            *k = x.key(flip);
        }
    }
}
kernel! {
    /// Converts keys back to their values, in place.
    pub fn values<'a, T: Ordered>(keys: &'a mut [T::Key], descending: bool) -> () { |I|
        let flip = flip(descending);
        for k in keys {
            let value = T::value(*k, flip);
            *k = bytemuck::cast(value);
        }
    }
}
/// The memory of values as that of their keys.
pub fn as_keys<T: Ordered>(x: &mut [T]) -> &mut [T::Key] {
    bytemuck::cast_slice_mut(x)
}

/// Sorts `x` into `out`, stably. `scratch` holds as many keys. NaNs may come back with other bits.
pub fn sort<T: Ordered>(x: &[T], descending: bool, out: &mut [T], scratch: &mut [T::Key]) {
    let k = as_keys(out);
    keys(x, descending, k);
    T::Key::sort(Part::new(k, scratch));
    values::<T>(k, descending);
    settle_zeros(x, descending, out);
}

/// Zeros of both signs are equal, but sort by their keys: puts those of the sorted `out` in the order
/// in which they occur in `x`.
pub fn settle_zeros<T: Ordered>(x: &[T], descending: bool, out: &mut [T]) {
    if !T::TWO_ZEROS {
        return;
    }
    // in both orders the two keys of zeros are adjacent: -1 and 0
    let flip = flip(descending);
    let before = |key: i64| out.partition_point(|v| v.key(flip).into() < key);
    let (start, middle, end) = (before(-1), before(0), before(1));
    if start < middle && middle < end {
        let zero = T::Key::default();
        let is_zero = |v: &&T| v.canonical().key(zero) == zero;
        for (to, v) in out[start..end].iter_mut().zip(x.iter().filter(is_zero)) {
            *to = *v;
        }
    }
}

/// Copies `x` to `out` such that the values at the positions `kth`, which ascend, are where the sorted
/// line has them. `scratch` holds as many keys. NaNs may come back with other bits.
pub fn partition_line<T: Ordered>(x: &[T], kth: &[usize], out: &mut [T], scratch: &mut [T::Key]) {
    let k = as_keys(out);
    keys(x, false, k);
    partition(Part::new(k, scratch), 0, kth);
    values::<T>(k, false);
}

/// Moves the keys of a part, whose first has the position `first`, so that those at the positions
/// `kth`, which ascend, are where the sorted line has them, with none larger before and none smaller
/// behind.
fn partition<K: Key>(mut part: Part<K>, mut first: usize, mut kth: &[usize]) {
    // A short part is sorted; so is one that is not split, or too often by unlucky pivots.
    const SHORT: usize = 64;
    let mut depth = 2 * part.len().max(1).ilog2() + 4;
    while !kth.is_empty() && part.len() > SHORT && depth > 0 {
        depth -= 1;
        let (low, high) = K::split(part);
        if low.is_empty() || high.is_empty() {
            low.sort();
            high.sort();
            return;
        }
        let middle = first + low.len();
        let (below, above) = kth.split_at(kth.partition_point(|k| *k < middle));
        match above.is_empty() {
            true => {
                high.come_home();
                (part, kth) = (low, below);
            }
            false => {
                partition(low, first, below);
                (part, kth, first) = (high, above, middle);
            }
        }
    }
    match kth.is_empty() {
        true => part.come_home(),
        false => part.sort(),
    };
}

/// Values checked together: most blocks of a long line have no candidate.
const BLOCK: usize = 256;

/// The length of `best` for [`first`] to choose `k` of `n`.
pub const fn first_len(n: usize, k: usize) -> usize {
    let room = k.saturating_mul(4);
    (if room < n { room } else { n }) + BLOCK
}

kernel! {
    /// Chooses the first `k` pairs of `x` in sorted order, into the front of `best` in any order.
    /// `best` and `scratch` hold [`first_len`] pairs; `x` holds at least `k > 0` values.
    pub fn first<'a, T: Ordered, P: KeyedPosition<T::Key>>(x: &'a [T], k: usize, descending: bool, best: &'a mut [P], scratch: &'a mut [P]) -> () { |I|
        let flip = flip(descending);
        // `k` of the values seen are at most the bound, so that a later one must be less to be
        // among the first.
        let (mut bound, mut bounded, mut n) = (T::Key::default(), false, 0);
        let mut less = [0u8; BLOCK];
        for (b, block) in x.chunks(BLOCK).enumerate() {
            if bounded {
                let mut any = 0;
                for (x, less) in block.iter().zip(&mut less) {
                    *less = (x.canonical().key(flip) < bound) as u8;
                    any |= *less;
                }
                if any == 0 {
                    continue;
                }
            } else {
                less.fill(1);
            }
            less[block.len()..].fill(0);
            for (w, word) in less.as_chunks::<8>().0.iter().enumerate() {
                let mut word = u64::from_le_bytes(*word);
                while word != 0 {
                    let i = 8 * w + word.trailing_zeros() as usize / 8;
                    best[n] = P::new(block[i].canonical().key(flip), b * BLOCK + i);
                    n += 1;
                    word &= word - 1;
                }
            }
            if n + BLOCK > best.len() && n > k {
                P::select(Part::new(&mut best[..n], scratch), k);
                (bound, bounded, n) = (best[k - 1].key(), true, k);
            }
        }
        if n > k {
            P::select(Part::new(&mut best[..n], scratch), k);
        }
    }
}

/// For each value, the number of elements of `sorted` that come before it: those less than it, and
/// with `right` those equal to it as well.
pub fn search<T: Ordered>(sorted: &[T], values: &[T], right: bool, out: &mut [i64]) {
    /// Searches that take turns: while a step of one waits for memory, the others go on.
    const TURNS: usize = 8;
    let ((values, few), (out, rest)) = match size_of::<T>() {
        4.. => (values.as_chunks::<TURNS>(), out.as_chunks_mut::<TURNS>()),
        // of narrow types, which are rarely searched for, one by one: less code
        _ => ((&[][..], values), (&mut [][..], out)),
    };
    for (values, out) in values.iter().zip(out) {
        *out = search_together(sorted, *values, right);
    }
    for (value, out) in few.iter().zip(rest) {
        [*out] = search_together(sorted, [*value], right);
    }
}
/// [`search`] for some values together, without branches that depend on them.
fn search_together<T: Ordered, const N: usize>(
    sorted: &[T],
    values: [T; N],
    right: bool,
) -> [i64; N] {
    let key = |x: T| x.canonical().key(T::Key::default());
    let values = values.map(key);
    // a position lies from `first` to `first + left`
    let (mut first, mut left) = ([0; N], sorted.len());
    while left > 0 {
        let half = left.div_ceil(2);
        for (first, v) in first.iter_mut().zip(values) {
            let s = key(sorted[*first + half - 1]);
            let before = (s < v) | (right & (s == v));
            *first += if before { half } else { 0 };
        }
        left -= half;
    }
    first.map(|first| first as i64)
}
