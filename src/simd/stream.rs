//! Non-temporal stores, for results too large to stay in a cache until they are read: an ordinary
//! store first reads the line from memory, a third of the traffic of an addition.

/// So many bytes exceed a few cores' share of any last-level cache. Results of this size are
/// streamed: from half of it on that pays for a single operation, but not for two where the second
/// reads the first's result.
pub const LARGE: usize = 24 << 20;

/// Whether to stream a result of `bytes`. Adding two tensors of 64 MiB takes 0.75 to 0.9 times as
/// long on Intel's Emerald Rapids, but twice as long on AMD's Zen 5, so it depends on the CPU's
/// vendor.
pub fn pays(bytes: usize) -> bool {
    #[cfg(all(feature = "std", target_arch = "x86_64"))]
    return bytes >= LARGE && super::is_intel();
    #[cfg(not(all(feature = "std", target_arch = "x86_64")))]
    return {
        let _ = bytes;
        false
    };
}

/// Copies with non-temporal stores. Other threads see the copy after [`finish`] on this one.
///
/// # Safety
/// `n` bytes at `s` are readable and at `d` writable, they don't overlap, and `d` is aligned to 64.
#[inline]
pub unsafe fn copy(s: *const u8, d: *mut u8, n: usize) {
    #[allow(unused_mut, reason = "not all targets have non-temporal stores")]
    let mut done = 0;
    #[cfg(all(feature = "std", target_arch = "x86_64", not(miri)))] // Miri knows no such stores
    while done + 64 <= n {
        use core::arch::x86_64::*;
        // SAFETY: inside both by the loop's condition; SSE2 is part of x86-64. Whole lines are
        // written, so they leave the core at once whatever the width of the stores.
        unsafe {
            let (s, d) = (s.add(done).cast::<__m128i>(), d.add(done).cast::<__m128i>());
            let line = [
                _mm_loadu_si128(s),
                _mm_loadu_si128(s.add(1)),
                _mm_loadu_si128(s.add(2)),
                _mm_loadu_si128(s.add(3)),
            ];
            (0..4).for_each(|k| _mm_stream_si128(d.add(k), line[k]));
        }
        done += 64;
    }
    // SAFETY: `done <= n`, so this is the rest of both, which don't overlap.
    unsafe { core::ptr::copy_nonoverlapping(s.add(done), d.add(done), n - done) }
}

/// Orders the copies before this thread's next stores; a release store alone doesn't.
pub fn finish() {
    #[cfg(all(feature = "std", target_arch = "x86_64", not(miri)))]
    // SAFETY: SSE is part of x86-64, and a fence touches no memory.
    unsafe {
        core::arch::x86_64::_mm_sfence()
    };
}
