//! A quicksort whose partition compresses vectors in a register and whose ends are bitonic networks. Elsewhere: core's.

#[cfg(all(feature = "std", feature = "simd", target_arch = "x86_64"))]
use super::{
    network::{longest, sort_short},
    vector::{I32x8, I32x16, I64x4, I64x8, Vector},
};
#[cfg(all(feature = "std", feature = "simd", target_arch = "x86_64"))]
use crate::exec::isa::Level;

macro_rules! sorts {
    ($($(#[$doc:meta])* $name:ident $K:ty, $avx512:ident, $avx2:ident;)*) => { $(
        kernel! {
            $(#[$doc])*
            pub fn $name<'a>(x: &'a mut [$K], scratch: &'a mut [$K]) -> () { |I|
                let _ = &scratch;
                #[cfg(all(feature = "std", feature = "simd", target_arch = "x86_64"))]
                {
                    if I::LEVEL == Level::Avx512 {
                        // SAFETY: V1 by the line above.
                        return unsafe { sort::<$avx512>(x, scratch) };
                    }
                    if I::LEVEL == Level::Avx2 {
                        // SAFETY: V1 by the line above.
                        return unsafe { sort::<$avx2>(x, scratch) };
                    }
                }
                x.sort_unstable()
            }
        }
    )* };
}
sorts! {
    /// Sorts; `scratch` holds [`scratch_len`](super::key::scratch_len) keys.
    sort_i32 i32, I32x16, I32x8;
    /// Sorts; `scratch` holds [`scratch_len`](super::key::scratch_len) keys.
    sort_i64 i64, I64x8, I64x4;
}

/// # Safety
/// V1.
#[cfg(all(feature = "std", feature = "simd", target_arch = "x86_64"))]
#[inline(always)]
unsafe fn sort<V: Vector>(x: &mut [V::Key], scratch: &mut [V::Key]) {
    assert!(scratch.len() >= x.len() + V::LANES);
    // The longer part waits and the shorter goes on, so no more than one part for each bit of the length waits.
    let mut waiting = [(0, 0, 0); usize::BITS as usize];
    let mut top = 0;
    // Unlucky pivots run out of depth, and core's sort has no bad case.
    let (mut start, mut end, mut depth) = (0, x.len(), 2 * x.len().max(1).ilog2() + 4);
    loop {
        let part = &mut x[start..end];
        if part.len() <= longest::<V>() {
            // SAFETY: V1.
            unsafe { sort_short::<V>(part) };
        } else if depth == 0 {
            part.sort_unstable();
        } else {
            depth -= 1;
            // SAFETY: V1; the scratch is long enough by the assertion.
            let pivot = unsafe { pivot::<V>(part) };
            // SAFETY: as above.
            let less = unsafe { partition::<V, false>(part, pivot, scratch) };
            if less == 0 {
                // The pivot is the smallest: all that equal it are in place.
                // SAFETY: as above.
                start += unsafe { partition::<V, true>(part, pivot, scratch) };
                continue;
            }
            let middle = start + less;
            let (short, long) = if less <= end - middle { ((start, middle), (middle, end)) } else { ((middle, end), (start, middle)) };
            waiting[top] = (long.0, long.1, depth);
            top += 1;
            (start, end) = short;
            continue;
        }
        if top == 0 {
            return;
        }
        top -= 1;
        (start, end, depth) = waiting[top];
    }
}

/// Moves what is less than the pivot (or equal to it) to the front, both parts keeping their order, and says how many.
///
/// # Safety
/// V1; `scratch` holds a vector more than `x`.
#[cfg(all(feature = "std", feature = "simd", target_arch = "x86_64"))]
#[inline(always)]
#[allow(unsafe_op_in_unsafe_fn)]
unsafe fn partition<V: Vector, const OR_EQUAL: bool>(x: &mut [V::Key], pivot: V::Key, scratch: &mut [V::Key]) -> usize {
    const UNROLL: usize = 4;
    let (n, x, scratch) = (x.len(), x.as_mut_ptr(), scratch.as_mut_ptr());
    let pivots = V::splat(pivot);
    let all = (1u32 << V::LANES) - 1;
    let (mut low, mut high, mut i) = (0, 0, 0);
    while i + UNROLL * V::LANES <= n {
        // Loaded before anything is stored: what goes to the front overwrites at most what is loaded.
        let v: [V; UNROLL] =
            [V::load(x.add(i)), V::load(x.add(i + V::LANES)), V::load(x.add(i + 2 * V::LANES)), V::load(x.add(i + 3 * V::LANES))];
        for v in v {
            let front = if OR_EQUAL { all & !pivots.less(v) } else { v.less(pivots) };
            v.compress(front).store(x.add(low));
            v.compress(all & !front).store(scratch.add(high));
            let count = front.count_ones() as usize;
            low += count;
            high += V::LANES - count;
        }
        i += UNROLL * V::LANES;
    }
    while i < n {
        let key = *x.add(i);
        let front = if OR_EQUAL { key <= pivot } else { key < pivot };
        *x.add(low) = key;
        *scratch.add(high) = key;
        low += front as usize;
        high += !front as usize;
        i += 1;
    }
    core::ptr::copy_nonoverlapping(scratch, x.add(low), high);
    low
}

/// The median of a sample: of one vector for short parts, of eight for long ones.
///
/// # Safety
/// V1.
#[cfg(all(feature = "std", feature = "simd", target_arch = "x86_64"))]
#[inline(always)]
unsafe fn pivot<V: Vector>(x: &[V::Key]) -> V::Key {
    const LONG: usize = 1 << 14;
    let mut sample = [V::MAX; 8 * 16];
    let sample = &mut sample[..if x.len() > LONG { 8 * V::LANES } else { V::LANES }];
    let mut random = x.len() as u64 ^ 0x9e37_79b9_7f4a_7c15;
    for s in &mut *sample {
        random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        *s = x[(((random >> 32) as u128 * x.len() as u128) >> 32) as usize];
    }
    // SAFETY: V1; no more than eight vectors.
    unsafe { sort_short::<V>(sample) };
    sample[sample.len() / 2]
}
