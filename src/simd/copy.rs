//! Copies of short runs, and of every second element.

use super::MICROCONTROLLER;
use core::mem::MaybeUninit;

/// Copies `n` elements. A row of an image is a few cache lines, for which the call of `memcpy` and
/// its choices cost as much as the copy.
///
/// # Safety
/// Both are valid for `n` elements and don't overlap.
#[inline(always)]
pub unsafe fn copy_run<U: Copy>(from: *const U, to: *mut U, n: usize) {
    const LONGEST: usize = 2048;
    let bytes = n * size_of::<U>();
    // SAFETY: the caller's promise; for `parts`, there are enough bytes.
    unsafe {
        match bytes {
            _ if MICROCONTROLLER => core::ptr::copy_nonoverlapping(from, to, n),
            64..=LONGEST => parts::<64>(from as *const u8, to as *mut u8, bytes),
            16..64 => parts::<16>(from as *const u8, to as *mut u8, bytes),
            _ => core::ptr::copy_nonoverlapping(from, to, n),
        }
    }
}
/// Copies `n` bytes, `N` at a time.
///
/// # Safety
/// As for [`copy_run`]; `n` is at least `N`.
#[inline(always)]
unsafe fn parts<const N: usize>(from: *const u8, to: *mut u8, n: usize) {
    type Part<const N: usize> = [MaybeUninit<u8>; N];
    let mut at = 0;
    loop {
        // SAFETY: `at + N` is at most `n`.
        unsafe {
            let part = (from.add(at) as *const Part<N>).read_unaligned();
            (to.add(at) as *mut Part<N>).write_unaligned(part);
        }
        if at + N == n {
            return;
        }
        // the last part may overlap the one before
        at = (at + N).min(n - N);
    }
}

/// The even and the odd elements of `s`. Those of up to 32 bits are halves of integers twice as
/// wide, which LLVM narrows by vectors.
#[inline(always)]
pub fn deinterleave<U: Copy, const N: usize>(s: &[[U; N]; 2]) -> [[U; N]; 2] {
    let mut d = *s;
    macro_rules! halves {
        ($Half:ty, $Both:ty) => {
            for l in 0..N {
                // SAFETY: two elements of this size, read and written as plain bytes.
                unsafe {
                    let both = (s.as_ptr() as *const $Both).add(l).read_unaligned();
                    let [even, odd] = d.each_mut().map(|d| d.as_mut_ptr() as *mut $Half);
                    even.add(l).write_unaligned(both as $Half);
                    odd.add(l).write_unaligned((both >> <$Half>::BITS) as $Half);
                }
            }
        };
    }
    match size_of::<U>() {
        1 if cfg!(target_endian = "little") => halves!(u8, u16),
        2 if cfg!(target_endian = "little") => halves!(u16, u32),
        4 if cfg!(target_endian = "little") => halves!(u32, u64),
        _ => {
            let s = s.as_flattened();
            for l in 0..N {
                (d[0][l], d[1][l]) = (s[2 * l], s[2 * l + 1]);
            }
        }
    }
    d
}

/// Copies `n` elements, every second one from `from` on.
///
/// # Safety
/// `from` is valid for `2 * n - 1` elements, `to` for `n`, and they don't overlap.
#[inline(always)]
pub unsafe fn copy_every_second<U: Copy>(from: *const U, to: *mut U, n: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        match n {
            17.. if size_of::<U>() <= 4 => evens::<U, 16>(from, to, n),
            9..17 if size_of::<U>() <= 4 => evens::<U, 8>(from, to, n),
            _ => {
                for i in 0..n {
                    *to.add(i) = *from.add(2 * i);
                }
            }
        }
    }
}
/// [`copy_every_second`], `N` elements at a time.
///
/// # Safety
/// Likewise; `n` is above `N`.
#[inline(always)]
unsafe fn evens<U: Copy, const N: usize>(from: *const U, to: *mut U, n: usize) {
    let mut at = 0;
    // SAFETY: `2 * N` elements from `2 * at` on, the last of which is not beyond the `n`th even one;
    // the last part may overlap the one before, and is read from one element earlier, since there
    // may be none after the last.
    unsafe {
        while at + N < n {
            let both = (from.add(2 * at) as *const [[U; N]; 2]).read_unaligned();
            (to.add(at) as *mut [U; N]).write_unaligned(deinterleave(&both)[0]);
            at += N;
        }
        let both = (from.add(2 * (n - N) - 1) as *const [[U; N]; 2]).read_unaligned();
        (to.add(n - N) as *mut [U; N]).write_unaligned(deinterleave(&both)[1]);
    }
}
