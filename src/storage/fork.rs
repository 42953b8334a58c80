//! Forks. A child process has only the thread that forked, so a lock that another thread held would
//! stay locked for ever, and a tensor that another thread was writing would stay half written.
//!
//! - **POOL2.** The thread that forks takes the locks of the storage and the gate of long writes,
//!   and releases them in parent and child. So in the child nobody holds them, and what they guard
//!   is consistent. Lock order: the gate, [`CACHES`], [`POOL`].

use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};

/// A spin lock that forks take: a lock that belongs to a thread could not be released in the child.
/// It is held for a few stores at a time.
pub(super) struct Lock(AtomicBool);

/// Guards the packed-weight caches and the list of loans.
pub(super) static CACHES: Lock = Lock(AtomicBool::new(false));
/// Guards the pool's lists.
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

/// The number of long writes in progress; in the upper half, that of forks waiting for them to end.
static GATE: AtomicUsize = AtomicUsize::new(0);
const FORK: usize = 1 << (usize::BITS / 2);

/// A long write, to a tensor that a child would inherit. A fork waits for it to end.
#[must_use]
#[cfg_attr(
    not(feature = "bindings"),
    allow(dead_code, reason = "Rust's borrow checker does this job")
)]
pub struct LongWrite(());

#[cfg_attr(not(feature = "bindings"), allow(dead_code, reason = "as above"))]
impl LongWrite {
    /// Begins a write, after any fork that waits. The write must not wait for the thread that
    /// forks.
    pub fn begin() -> LongWrite {
        register_atfork();
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

/// Registers the handlers that keep POOL2, once.
pub(super) fn register_atfork() {
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
            GATE.store(0, Release); // the child has no other threads that fork
        }
        static REGISTERED: AtomicBool = AtomicBool::new(false);
        if !REGISTERED.load(Relaxed) && !REGISTERED.swap(true, Relaxed) {
            // SAFETY: the functions only touch statics. If registering fails for lack of memory, a
            // fork during an allocation is not safe, as it would be without.
            unsafe { libc::pthread_atfork(Some(before), Some(parent), Some(child)) };
        }
    }
}
