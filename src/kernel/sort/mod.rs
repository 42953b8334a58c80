//! Sorting of one line: values become integer keys ([`key`]), which one sort a width puts in order.
//!
//! - 8 and 16 bits: by bytes ([`radix`]); 32 and 64 bits: a vectorised quicksort ([`quick`]), core's where the target has none.
//! - Positions: a key and its position make one integer ([`Pair`]), so that positions are sorted as values are, stably.
//! - The first k: candidates below a bound that falls as better ones are found ([`first`]).

pub mod key;
#[cfg(all(feature = "std", feature = "simd", target_arch = "x86_64"))]
mod network;
mod quick;
mod radix;
#[cfg(all(feature = "std", feature = "simd", target_arch = "x86_64"))]
mod vector;

pub use key::{Key, Ordered, Pair, scratch_len};

macro_rules! sorted_by {
    ($($K:ty, $sort:expr;)*) => { $(
        impl Key for $K {
            const FLIP: $K = -1;
            #[inline]
            fn sort(x: &mut [$K], scratch: &mut [$K]) { $sort(x, scratch) }
        }
    )* };
}
sorted_by! {
    i8, radix::sort;
    i16, radix::sort;
    i32, quick::sort_i32;
    i64, quick::sort_i64;
    i128, |x: &mut [i128], _| x.sort_unstable();
}

/// 0, or what turns the order around.
#[inline(always)]
fn flip<K: Key>(descending: bool) -> K {
    if descending { K::FLIP } else { K::default() }
}

kernel! {
    fn keys<'a, T: Ordered>(x: &'a [T], descending: bool, out: &'a mut [T::Key]) -> () { |I|
        let flip = flip(descending);
        for (x, k) in x.iter().zip(out) {
            *k = x.key(flip);
        }
    }
}
kernel! {
    fn values<'a, T: Ordered>(keys: &'a [T::Key], descending: bool, out: &'a mut [T]) -> () { |I|
        let flip = flip(descending);
        for (k, x) in keys.iter().zip(out) {
            *x = T::value(*k, flip);
        }
    }
}
kernel! {
    /// Each value with its position, ready to be sorted.
    pub fn pairs<'a, T: Ordered, P: Pair<T::Key>>(x: &'a [T], descending: bool, out: &'a mut [P]) -> () { |I|
        let flip = flip(descending);
        for (i, (x, p)) in x.iter().zip(out).enumerate() {
            *p = P::new(x.canonical().key(flip), i);
        }
    }
}
kernel! {
    /// The positions of pairs.
    pub fn positions<'a, Q: Key, P: Pair<Q>>(pairs: &'a [P], out: &'a mut [i64]) -> () { |I|
        for (p, out) in pairs.iter().zip(out) {
            *out = p.position() as i64;
        }
    }
}

/// Sorts `x` into `out`. `keys` holds as many, `scratch` [`scratch_len`] keys. A NaN may come back with other bits.
pub fn sort<T: Ordered>(x: &[T], descending: bool, out: &mut [T], keys_of_x: &mut [T::Key], scratch: &mut [T::Key]) {
    let k = &mut keys_of_x[..x.len()];
    keys(x, descending, k);
    T::Key::sort(k, scratch);
    values(k, descending, out);
}

/// Values looked at together: most blocks of a long line have no candidate.
const BLOCK: usize = 256;

/// The length of `best` for [`first`] to choose `k` of `n`.
pub const fn first_len(n: usize, k: usize) -> usize {
    let room = k.saturating_mul(4);
    (if room < n { room } else { n }) + BLOCK
}

kernel! {
    /// Chooses the `k` pairs of `x` that come first, into the front of `best` in any order. Positions count from `base`.
    /// `best` holds [`first_len`]; `x` holds at least `k > 0` values.
    pub fn first<'a, T: Ordered, P: Pair<T::Key>>(x: &'a [T], base: usize, k: usize, descending: bool, best: &'a mut [P]) -> () { |I|
        let flip = flip(descending);
        // `k` of those seen come before or with the bound, so nothing later that is not less can be among the first.
        let (mut bound, mut bounded, mut n) = (T::Key::default(), false, 0);
        for (b, block) in x.chunks(BLOCK).enumerate() {
            if bounded {
                let mut any = false;
                for x in block {
                    any |= x.canonical().key(flip) < bound;
                }
                if !any {
                    continue;
                }
            }
            for (i, x) in block.iter().enumerate() {
                let key = x.canonical().key(flip);
                if !bounded || key < bound {
                    best[n] = P::new(key, base + b * BLOCK + i);
                    n += 1;
                }
            }
            if n + BLOCK > best.len() && n > k {
                best[..n].select_nth_unstable(k - 1);
                (bound, bounded, n) = (best[k - 1].key(), true, k);
            }
        }
        if n > k {
            best[..n].select_nth_unstable(k - 1);
        }
    }
}

/// For each value, how many of `sorted` come before it: those less, and with `right` those equal too.
pub fn search<T: Ordered>(sorted: &[T], values: &[T], right: bool, out: &mut [i64]) {
    let key = |x: T| x.canonical().key(T::Key::default());
    for (v, out) in values.iter().zip(out) {
        let v = key(*v);
        *out = sorted.partition_point(|s| if right { key(*s) <= v } else { key(*s) < v }) as i64;
    }
}

#[cfg(test)]
mod tests;
