//! What a fork must not find half done: a child has the thread that forked and no other, so a lock
//! that another thread held is held for ever, and a tensor that another thread was writing to stays
//! as it was at that moment.
//!
//! - **POOL2.** The locks of the storage and the gate of long writes are taken by the thread that
//!   forks, and given back on both sides of the fork. So in the child nobody holds them, and what
//!   they guard is whole. Order: the gate, [`CACHES`], [`POOL`]; who holds one waits for none before
//!   it.

use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};

/// A lock that forks take: of our own, since one that belongs to a thread could not be given back
/// in the child. Held for some stores at a time.
pub(super) struct Lock(AtomicBool);

/// Of the packed-weight caches, and of the list of loans.
pub(super) static CACHES: Lock = Lock(AtomicBool::new(false));
/// Of the pool's lists.
pub(super) static POOL: Lock = Lock(AtomicBool::new(false));

impl Lock {
    fn acquire(&self) {
        let mut tries = 0;
        while self.0.swap(true, Acquire) {
            tries += 1;
            if tries < 100 {
                core::hint::spin_loop()
            } else {
                std::thread::yield_now()
            }
        }
    }
    fn release(&self) {
        self.0.store(false, Release)
    }
    /// Calls `f`, which does not panic, with the lock held.
    pub fn with<R>(&self, f: impl FnOnce() -> R) -> R {
        self.acquire();
        let r = f();
        self.release();
        r
    }
}

/// Long writes under way, and in the upper half forks that wait for their end.
static GATE: AtomicUsize = AtomicUsize::new(0);
const FORK: usize = 1 << (usize::BITS / 2);

/// A write that takes long, to a tensor that a child would inherit. A fork waits for its end.
#[must_use]
#[cfg_attr(
    not(feature = "python"),
    allow(
        dead_code,
        reason = "Rust's borrows say who may see a tensor that is written to"
    )
)]
pub(crate) struct LongWrite(());

#[cfg_attr(not(feature = "python"), allow(dead_code, reason = "as above"))]
impl LongWrite {
    /// Begins, after a fork that waits. What is written must not wait for the thread that forks.
    pub fn begin() -> LongWrite {
        survive();
        loop {
            let now = GATE.load(Relaxed);
            if now < FORK
                && GATE
                    .compare_exchange_weak(now, now + 1, Acquire, Relaxed)
                    .is_ok()
            {
                return LongWrite(());
            }
            if now >= FORK {
                std::thread::yield_now()
            }
        }
    }
}

impl Drop for LongWrite {
    fn drop(&mut self) {
        GATE.fetch_sub(1, Release);
    }
}

/// Sees to POOL2, once.
pub(super) fn survive() {
    #[cfg(all(unix, not(miri)))]
    {
        extern "C" fn before() {
            GATE.fetch_add(FORK, Relaxed);
            while GATE.load(Acquire) & (FORK - 1) > 0 {
                std::thread::sleep(core::time::Duration::from_micros(50));
            }
            CACHES.acquire();
            POOL.acquire();
        }
        extern "C" fn parent() {
            POOL.release();
            CACHES.release();
            GATE.fetch_sub(FORK, Release);
        }
        extern "C" fn child() {
            POOL.release();
            CACHES.release();
            GATE.store(0, Release); // other threads that fork are not here
        }
        static REGISTERED: AtomicBool = AtomicBool::new(false);
        if !REGISTERED.load(Relaxed) && !REGISTERED.swap(true, Relaxed) {
            // SAFETY: the functions only touch statics. Refused for lack of memory, a fork amid an
            // allocation is not safe: no worse than without.
            unsafe { libc::pthread_atfork(Some(before), Some(parent), Some(child)) };
        }
    }
}
