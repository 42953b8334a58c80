//! Copies of short runs, and of memory that others write to.

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

/// Copies elements, `step` bytes apart from `from` on, to private memory, and returns the copy.
///
/// Invariant READ1: an address or a length that others' memory decides is decided by a copy that
/// this function made. Others may write to that memory at any moment (STORAGE5), so no reference to
/// it tells what a second read would find, nor keeps the compiler from making one. Here each element
/// is read once, by instructions that the compiler can't see into, repeat or leave out; what is
/// checked in the copy is what is used.
///
/// # Safety
/// As many elements as `to` has room for are readable at `from`, aligned to their size or to 8
/// bytes. Any bits are a valid `U`.
#[inline(never)] // its instructions are SSE's, and no caller's upper halves of registers slow them
pub unsafe fn copy_once<U: Copy>(
    from: *const U,
    step: isize,
    to: &mut [MaybeUninit<U>],
) -> &mut [U] {
    #[allow(unused_mut, reason = "not all targets copy whole lines")]
    let mut done = 0;
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2", not(miri)))]
    if step == size_of::<U>() as isize && const { 64 % size_of::<U>() == 0 } {
        let line = const { 64 / size_of::<U>() };
        let lines = to.len() / line;
        if lines > 0 {
            // SAFETY: `lines` times 64 bytes are readable at `from`, by the caller's promise, and
            // writable at `to`. SSE2 is part of the target.
            unsafe {
                core::arch::asm!(
                    "2:",
                    "movups {a}, [{from}]",
                    "movups {b}, [{from} + 16]",
                    "movups {c}, [{from} + 32]",
                    "movups {d}, [{from} + 48]",
                    "movups [{to}], {a}",
                    "movups [{to} + 16], {b}",
                    "movups [{to} + 32], {c}",
                    "movups [{to} + 48], {d}",
                    "add {from}, 64",
                    "add {to}, 64",
                    "dec {lines}",
                    "jnz 2b",
                    from = inout(reg) from => _,
                    to = inout(reg) to.as_mut_ptr() => _,
                    lines = inout(reg) lines => _,
                    a = out(xmm_reg) _,
                    b = out(xmm_reg) _,
                    c = out(xmm_reg) _,
                    d = out(xmm_reg) _,
                    options(nostack),
                )
            }
            done = lines * line;
        }
    }
    for (i, to) in to.iter_mut().enumerate().skip(done) {
        // SAFETY: the element exists, by the caller's promise. A volatile read happens once.
        to.write(unsafe { from.byte_offset(i as isize * step).read_volatile() });
    }
    // SAFETY: each element has been written.
    unsafe { &mut *(core::ptr::from_mut(to) as *mut [U]) }
}
