//! The CPU that a thread runs on. Linux often wakes a thread on its waker's CPU, or moves one
//! there, although others are idle, and separates the two only milliseconds later. Until then a
//! worker runs instead of its caller, not beside it.

#[cfg(all(target_os = "linux", not(miri)))]
mod linux {
    use libc::{CPU_CLR, CPU_ISSET, cpu_set_t, sched_getaffinity, sched_getcpu, sched_setaffinity};

    /// The CPU that this thread was running on a moment ago.
    #[inline]
    pub fn cpu() -> usize {
        // SAFETY: takes no pointer and changes nothing.
        usize::try_from(unsafe { sched_getcpu() }).unwrap_or(usize::MAX)
    }
    /// Moves this thread away from `cpu` if it runs there and may use other CPUs; returns whether
    /// it ran there.
    #[inline]
    pub fn leave(cpu: usize) -> bool {
        let here = self::cpu() == cpu && cpu < 8 * size_of::<cpu_set_t>();
        if here {
            move_from(cpu)
        }
        here
    }
    #[cold]
    fn move_from(cpu: usize) {
        // SAFETY: a bit set, for which zeros are valid; the calls access nothing else. If the set
        // without `cpu` is empty, the system refuses it and nothing changes.
        unsafe {
            let mut all: cpu_set_t = core::mem::zeroed();
            if sched_getaffinity(0, size_of::<cpu_set_t>(), &mut all) != 0 || !CPU_ISSET(cpu, &all)
            {
                return;
            }
            let mut others = all;
            CPU_CLR(cpu, &mut others);
            if sched_setaffinity(0, size_of::<cpu_set_t>(), &others) == 0 {
                sched_setaffinity(0, size_of::<cpu_set_t>(), &all);
            }
        }
    }
}
#[cfg(all(target_os = "linux", not(miri)))]
pub use linux::{cpu, leave};

#[cfg(any(not(target_os = "linux"), miri))]
pub fn cpu() -> usize {
    0
}
#[cfg(any(not(target_os = "linux"), miri))]
pub fn leave(_cpu: usize) -> bool {
    false
}
