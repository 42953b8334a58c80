//! Copies of short runs.

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
