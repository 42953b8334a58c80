//! A quicksort whose partition compresses vectors in registers, down to lengths that sorting
//! networks take. On other targets, core's sort.

#[cfg(x86_dispatch)]
use super::network::{longest, sort_short};
#[cfg(x86_dispatch)]
use crate::simd::x86::vector::{I32x8, I32x16, I64x4, I64x8, Vector};

/// Keys to sort: all of them lie in `home`, where they must end up, or all in `other`, which is as
/// long.
///
/// A partition writes the smaller keys to the front of `home` and the others to the front of
/// `other`, over keys that it has read. So no key is copied back, and the space that is freed
/// becomes the other half of both new parts.
#[derive(Default)]
pub struct Part<'a, K> {
    home: &'a mut [K],
    other: &'a mut [K],
    away: bool,
}

impl<'a, K: super::Key> Part<'a, K> {
    /// All keys of `x`; `scratch` holds at least as many.
    pub fn new(x: &'a mut [K], scratch: &'a mut [K]) -> Part<'a, K> {
        let other = &mut scratch[..x.len()];
        Part {
            home: x,
            other,
            away: false,
        }
    }
    /// The number of keys.
    pub fn len(&self) -> usize {
        self.home.len()
    }
    /// Whether there are no keys.
    pub fn is_empty(&self) -> bool {
        self.home.is_empty()
    }
    /// Moves the keys home, and returns them.
    pub fn come_home(self) -> &'a mut [K] {
        self.into_slices().0
    }
    /// Moves the keys home, and returns them with room for as many.
    pub fn into_slices(self) -> (&'a mut [K], &'a mut [K]) {
        if self.away {
            self.home.copy_from_slice(self.other);
        }
        (self.home, self.other)
    }
    /// Sorts the keys, and returns them.
    pub fn sort(self) -> &'a mut [K] {
        K::sort(Part {
            home: &mut *self.home,
            other: self.other,
            away: self.away,
        });
        self.home
    }
    /// Splits a part after a partition: the smaller keys, and the others.
    fn cut(self, less: usize) -> (Part<'a, K>, Part<'a, K>) {
        let rest = self.len() - less;
        let (home, rest_home) = self.home.split_at_mut(less);
        let (rest_other, other) = self.other.split_at_mut(rest);
        (
            Part {
                home,
                other,
                away: false,
            },
            Part {
                home: rest_home,
                other: rest_other,
                away: true,
            },
        )
    }
    /// Splits a part in two, the first with the smaller keys: a partition for targets without a
    /// vectorised one. Either may be empty.
    fn split_portable(self) -> (Part<'a, K>, Part<'a, K>) {
        const SAMPLE: usize = 31;
        let n = self.len();
        let mut sample = [K::default(); SAMPLE];
        for (i, s) in sample.iter_mut().enumerate().take(n) {
            let data = if self.away { &self.other } else { &self.home };
            *s = data[n / SAMPLE * i];
        }
        sample.sort_unstable();
        let (pivot, mut low, mut high) = (sample[SAMPLE / 2], 0, 0);
        for i in 0..n {
            let key = if self.away {
                self.other[i]
            } else {
                self.home[i]
            };
            // both are written, at most `i` keys each: no data-dependent branch
            (self.home[low], self.other[high]) = (key, key);
            low += (key < pivot) as usize;
            high += (key >= pivot) as usize;
        }
        self.cut(low)
    }
}

macro_rules! sorts {
    ($($K:ty: $sort:ident, $split:ident, $select:ident, $avx512:ident, $avx2:ident;)*) => { $(
        kernel! {
            /// Sorts.
            pub fn $sort<'a>(part: Part<'a, $K>) -> () { |I|
                #[cfg(x86_dispatch)]
                {
                    if I::AVX512 {
                        // SAFETY: the kernel runs at this level, so the CPU has the vectors'
                        // instruction set (VECTOR1).
                        return unsafe { sort::<$avx512>(part) };
                    }
                    if I::AVX2 {
                        // SAFETY: the kernel runs at this level, so the CPU has the vectors'
                        // instruction set (VECTOR1).
                        return unsafe { sort::<$avx2>(part) };
                    }
                }
                part.come_home().sort_unstable()
            }
        }
        kernel! {
            /// Splits a part in two, the first with the smaller keys.
            pub fn $split<'a>(part: Part<'a, $K>) -> (Part<'a, $K>, Part<'a, $K>) { |I|
                if part.is_empty() {
                    return (part, Part::default());
                }
                #[cfg(x86_dispatch)]
                {
                    if I::AVX512 {
                        // SAFETY: the kernel runs at this level, so the CPU has the vectors'
                        // instruction set (VECTOR1).
                        let (low, high, _) = unsafe { divide::<$avx512>(part) };
                        return (low, high);
                    }
                    if I::AVX2 {
                        // SAFETY: the kernel runs at this level, so the CPU has the vectors'
                        // instruction set (VECTOR1).
                        let (low, high, _) = unsafe { divide::<$avx2>(part) };
                        return (low, high);
                    }
                }
                part.split_portable()
            }
        }
        kernel! {
            /// Moves the `k` smallest keys to the front, the largest of them last. What follows is
            /// unspecified.
            pub fn $select<'a>(part: Part<'a, $K>, k: usize) -> () { |I|
                #[cfg(x86_dispatch)]
                {
                    if I::AVX512 {
                        // SAFETY: the kernel runs at this level, so the CPU has the vectors'
                        // instruction set (VECTOR1).
                        return unsafe { select::<$avx512>(part, k) };
                    }
                    if I::AVX2 {
                        // SAFETY: the kernel runs at this level, so the CPU has the vectors'
                        // instruction set (VECTOR1).
                        return unsafe { select::<$avx2>(part, k) };
                    }
                }
                part.come_home().select_nth_unstable(k - 1);
            }
        }
    )* };
}
sorts! {
    i32: sort_i32, split_i32, select_i32, I32x16, I32x8;
    i64: sort_i64, split_i64, select_i64, I64x8, I64x4;
}

/// # Safety
/// VECTOR1.
#[cfg(x86_dispatch)]
#[inline(always)]
unsafe fn sort<V: Vector<Key: super::Key>>(mut part: Part<'_, V::Key>) {
    if part.len() <= longest::<V>() {
        // SAFETY: VECTOR1, by the caller's promise; at most `longest` keys, by the line above.
        return unsafe { finish::<V>(part) };
    }
    // The longer part waits and the shorter one continues, so at most one part per bit of the
    // length waits.
    let mut waiting: [(Part<V::Key>, u32); usize::BITS as usize] =
        core::array::from_fn(|_| Default::default());
    let mut top = 0;
    // If unlucky pivots use up the depth, core's sort, which has no bad case, takes over.
    let mut depth = 2 * part.len().max(1).ilog2() + 4;
    loop {
        if part.len() <= longest::<V>() {
            // SAFETY: VECTOR1, by the caller's promise; at most `longest` keys, by the line above.
            unsafe { finish::<V>(part) };
        } else if depth == 0 {
            part.come_home().sort_unstable();
        } else {
            depth -= 1;
            // SAFETY: VECTOR1, by the caller's promise.
            let (low, high, equal) = unsafe { divide::<V>(part) };
            if equal {
                part = high;
                continue;
            }
            let (short, long) = if low.len() < high.len() {
                (low, high)
            } else {
                (high, low)
            };
            waiting[top] = (long, depth);
            top += 1;
            part = short;
            continue;
        }
        if top == 0 {
            return;
        }
        top -= 1;
        (part, depth) = core::mem::take(&mut waiting[top]);
    }
}

/// # Safety
/// VECTOR1.
#[cfg(x86_dispatch)]
#[inline(always)]
unsafe fn select<V: Vector<Key: super::Key>>(mut part: Part<'_, V::Key>, mut k: usize) {
    let mut depth = 2 * part.len().max(1).ilog2() + 4;
    while part.len() > longest::<V>() {
        if depth == 0 {
            part.come_home().select_nth_unstable(k - 1);
            return;
        }
        depth -= 1;
        // SAFETY: VECTOR1, by the caller's promise.
        let (low, high, equal) = unsafe { divide::<V>(part) };
        part = if k > low.len() {
            k -= low.len();
            high
        } else if equal {
            return;
        } else {
            low
        };
    }
    // SAFETY: VECTOR1, by the caller's promise; at most `longest` keys, since the loop has ended.
    unsafe { finish::<V>(part) }
}

/// Sorts a part of at most [`longest`] keys.
///
/// # Safety
/// VECTOR1; at most [`longest`] keys.
#[cfg(x86_dispatch)]
#[inline(always)]
unsafe fn finish<V: Vector<Key: super::Key>>(part: Part<'_, V::Key>) {
    let (n, home) = (part.len(), part.home.as_mut_ptr());
    let data = if part.away { part.other.as_ptr() } else { home };
    // SAFETY: VECTOR1 and at most `longest` keys, by the caller's promise; both slices have `n`
    // keys.
    unsafe { sort_short::<V>(data, home, n) }
}

/// Partitions into two parts, the first with the smaller keys. Also returns whether those are all
/// equal (and at home).
///
/// # Safety
/// VECTOR1.
#[cfg(x86_dispatch)]
#[inline(always)]
unsafe fn divide<'a, V: Vector<Key: super::Key>>(
    mut part: Part<'a, V::Key>,
) -> (Part<'a, V::Key>, Part<'a, V::Key>, bool) {
    // SAFETY: VECTOR1, by the caller's promise.
    unsafe {
        let pivot = pivot::<V>(if part.away { part.other } else { part.home });
        let less = partition::<V, false>(&mut part, pivot);
        if less > 0 {
            let (low, high) = part.cut(less);
            return (low, high, false);
        }
        // The pivot is the smallest key, and all keys went to `other`: those equal to it are moved
        // back.
        part.away = true;
        let equal = partition::<V, true>(&mut part, pivot);
        let (low, high) = part.cut(equal);
        (low, high, true)
    }
}

/// A bit for each lane that is less than the pivot (or equal to it).
#[cfg(x86_dispatch)]
#[inline(always)]
fn front<V: Vector<Key: super::Key>, const OR_EQUAL: bool>(v: V, pivots: V) -> u32 {
    if OR_EQUAL {
        ((1 << V::LANES) - 1) & !pivots.less(v)
    } else {
        v.less(pivots)
    }
}

/// Moves keys less than the pivot (or equal to it) home and the others to `other`, and returns how
/// many went home.
///
/// # Safety
/// VECTOR1.
#[cfg(x86_dispatch)]
#[inline(always)]
unsafe fn partition<V: Vector<Key: super::Key>, const OR_EQUAL: bool>(
    part: &mut Part<'_, V::Key>,
    pivot: V::Key,
) -> usize {
    const UNROLL: usize = 4;
    let (n, home, other) = (part.len(), part.home.as_mut_ptr(), part.other.as_mut_ptr());
    let x = if part.away { other } else { home };
    // SAFETY: VECTOR1, by the caller's promise.
    let pivots = unsafe { V::splat(pivot) };
    let all = (1u32 << V::LANES) - 1;
    let (mut low, mut high, mut i) = (0, 0, 0);
    while i + UNROLL * V::LANES <= n {
        // Loaded before anything is stored: neither side overwrites more than what has been loaded.
        // SAFETY: VECTOR1, by the caller's promise; the four vectors end within the `n` keys, by
        // the loop's condition.
        let v: [V; UNROLL] = unsafe {
            [
                V::load(x.add(i)),
                V::load(x.add(i + V::LANES)),
                V::load(x.add(i + 2 * V::LANES)),
                V::load(x.add(i + 3 * V::LANES)),
            ]
        };
        for v in v {
            let front = front::<V, OR_EQUAL>(v, pivots);
            // SAFETY: `low + high` keys come before this vector, so a whole vector stored at either
            // ends no later than this one does, within `n`.
            unsafe {
                v.compress(front).store(home.add(low));
                v.compress(all & !front).store(other.add(high));
            }
            let count = front.count_ones() as usize;
            low += count;
            high += V::LANES - count;
        }
        i += UNROLL * V::LANES;
    }
    while i < n {
        let len = V::LANES.min(n - i);
        // SAFETY: VECTOR1, by the caller's promise; `i + len <= n`.
        let v = unsafe { V::load_first(x.add(i), len) };
        let valid = ((1u64 << len) - 1) as u32;
        let front = front::<V, OR_EQUAL>(v, pivots) & valid;
        let count = front.count_ones() as usize;
        // SAFETY: `low` and `high` are at most `i`, so both end within `i + len <= n`.
        unsafe {
            v.compress(front).store_first(home.add(low), count);
            v.compress(valid & !front)
                .store_first(other.add(high), len - count);
        }
        low += count;
        high += len - count;
        i += len;
    }
    low
}

/// The median of a sample: of one vector for short parts, of eight for long ones.
///
/// # Safety
/// VECTOR1.
#[cfg(x86_dispatch)]
#[inline(always)]
unsafe fn pivot<V: Vector<Key: super::Key>>(x: &[V::Key]) -> V::Key {
    const LONG: usize = 1 << 14;
    let mut sample = [V::MAX; 8 * 16];
    let sample = &mut sample[..if x.len() > LONG {
        8 * V::LANES
    } else {
        V::LANES
    }];
    let mut random = x.len() as u64 ^ 0x9e37_79b9_7f4a_7c15;
    for s in &mut *sample {
        random = random
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        *s = x[(((random >> 32) as u128 * x.len() as u128) >> 32) as usize];
    }
    let p = sample.as_mut_ptr();
    // SAFETY: VECTOR1, by the caller's promise; the sample is one vector or eight, which every
    // longest network takes.
    unsafe { sort_short::<V>(p, p, sample.len()) };
    sample[sample.len() / 2]
}
