//! Whether the process may use AMX. The standard library has no stable test for the CPU's features,
//! nor one for the operating system's permission.

use core::arch::x86_64::{__cpuid, __cpuid_count, _xgetbv};

/// Requests the tile registers for all threads of the process, if the CPU has AMX with products of
/// bfloat16 and of bytes. From then on the system rejects alternate signal stacks (`sigaltstack`)
/// too small for them (`AT_MINSIGSTKSZ`).
#[cfg(target_os = "linux")]
pub fn permitted() -> bool {
    const ARCH_REQ_XCOMP_PERM: libc::c_long = 0x1023;
    const XFEATURE_XTILEDATA: libc::c_long = 18;
    // SAFETY: a system call without pointers. It fails on kernels that don't know it, and if a
    // thread has an alternate signal stack too small for the registers.
    cpu_has_it()
        && unsafe {
            libc::syscall(
                libc::SYS_arch_prctl,
                ARCH_REQ_XCOMP_PERM,
                XFEATURE_XTILEDATA,
            ) == 0
        }
}
/// Not implemented on other systems.
#[cfg(not(target_os = "linux"))]
pub fn permitted() -> bool {
    let _ = cpu_has_it;
    false
}

fn cpu_has_it() -> bool {
    // leaf 7 of CPUID, EDX: products of bfloat16, tiles, products of bytes
    const AMX: u32 = 1 << 22 | 1 << 24 | 1 << 25;
    // XCR0: XTILECFG, XTILEDATA
    const STATE: u64 = 3 << 17;
    if !std::arch::is_x86_feature_detected!("xsave") || __cpuid(0).eax < 7 {
        return false;
    }
    // leaf 1, ECX: the operating system uses XSAVE
    let saved = __cpuid(1).ecx & 1 << 27 != 0;
    // SAFETY: XGETBV is there by the two checks above.
    let state = || unsafe { xcr0() };
    saved && __cpuid_count(7, 0).edx & AMX == AMX && state() & STATE == STATE
}
/// # Safety
/// The CPU has XSAVE, and the operating system uses it.
#[target_feature(enable = "xsave")]
unsafe fn xcr0() -> u64 {
    // SAFETY: the caller's promise.
    unsafe { _xgetbv(0) }
}
