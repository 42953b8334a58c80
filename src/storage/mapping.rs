//! Private mappings for large blocks. Advice on pages of the global allocator would stay in force
//! when others use them; these pages are ours alone.

use core::ptr::{NonNull, null_mut};
use libc::{
    MADV_HUGEPAGE, MAP_ANONYMOUS, MAP_FAILED, MAP_NORESERVE, MAP_PRIVATE, PROT_READ, PROT_WRITE,
    madvise, mmap, munmap,
};

/// A huge page on x86-64 and on 64-bit ARM with 4 KiB pages.
const HUGE: usize = 2 << 20;

/// `len` zeroed bytes aligned to 2 MiB, in huge pages if they fill one.
pub(super) fn map(len: usize) -> Option<NonNull<u8>> {
    let whole = len.checked_add(HUGE)?;
    let (access, kind) = (
        PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
    );
    // SAFETY: a new mapping at an address of the system's choice touches no memory in use.
    let base = unsafe { mmap(null_mut(), whole, access, kind, -1, 0) };
    if base == MAP_FAILED {
        return None;
    }
    let base = base.cast::<u8>();
    let skip = base.align_offset(HUGE);
    // SAFETY: `skip < HUGE`, so `skip + len` lies in the mapping, and nobody uses what is unmapped
    // before and after. If unmapping or advising fails, that costs address space or speed, nothing
    // else.
    unsafe {
        let data = base.add(skip);
        if skip > 0 {
            munmap(base.cast(), skip);
        }
        munmap(data.add(len).cast(), HUGE - skip);
        if len >= HUGE {
            madvise(data.cast(), len, MADV_HUGEPAGE);
        }
        NonNull::new(data)
    }
}

/// Unmaps a mapping.
///
/// # Safety
/// `map(len)` returned it, and nobody uses it any more.
pub(super) unsafe fn unmap(data: NonNull<u8>, len: usize) {
    // SAFETY: a mapping of `len` bytes that nobody uses, by the caller's promise.
    unsafe { munmap(data.as_ptr().cast(), len) };
}
