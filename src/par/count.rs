//! The number of threads: one for the process, and optionally one for each thread.

use crate::environment::{Setting, setting};
use core::cell::Cell;
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The most threads, including the caller: the threads of a job are bits of a word.
pub(super) const MAX_THREADS: usize = 64;

/// The process's number; 0 until it is known.
static PROCESS: AtomicUsize = AtomicUsize::new(0);
thread_local! {
    /// This thread's number; 0 to use the process's.
    static LOCAL: Cell<usize> = const { Cell::new(0) };
}

/// Identifies this thread among all live ones: the address of its own number.
#[cfg(feature = "bindings")]
pub fn this_thread() -> usize {
    LOCAL.with(|own| core::ptr::from_ref(own).addr())
}

/// The number of threads that an operation started on this thread may use, including itself: the
/// one set by [`with_threads`] or else by [`set_num_threads`]. Initially the variable
/// `FLEX_NUM_THREADS` if it is a positive number ([`crate::ignored_settings`]), or else the number
/// of CPUs that the process may run on. At most 64.
///
/// ```
/// assert!((1..=64).contains(&flex::num_threads()));
/// ```
#[inline]
pub fn threads() -> usize {
    match LOCAL.get() {
        0 => match PROCESS.load(Relaxed) {
            0 => reset(),
            n => n,
        },
        n => n,
    }
}
/// The number requested by `FLEX_NUM_THREADS`.
pub fn requested() -> Setting<usize> {
    setting("FLEX_NUM_THREADS", "a number of threads, at least 1", |v| {
        v.parse().ok().filter(|n| *n > 0)
    })
}
#[cold]
fn reset() -> usize {
    let asked = requested().and_then(Result::ok);
    let n = asked
        .unwrap_or_else(|| std::thread::available_parallelism().map_or(1, |n| n.get()))
        .min(MAX_THREADS);
    PROCESS.store(n, Relaxed);
    n
}

/// Sets how many threads operations of this process may use; 0 restores the initial number. It
/// never changes a result's bits.
///
/// ```
/// flex::set_num_threads(1);
/// assert_eq!(flex::with_threads(3, flex::num_threads), 3);
/// # flex::set_num_threads(0);
/// ```
pub fn set_num_threads(n: usize) {
    if n == 0 {
        reset();
    } else {
        PROCESS.store(n.min(MAX_THREADS), Relaxed);
    }
}

/// Sets how many threads operations started on this thread may use; `None` restores the process's
/// number. Returns the previous setting, to be restored at the end of a block; in Rust,
/// [`with_threads`] does that.
///
/// ```
/// let before = flex::set_local_threads(Some(2));
/// assert_eq!(flex::num_threads(), 2);
/// flex::set_local_threads(before);
/// ```
pub fn set_local_threads(n: Option<usize>) -> Option<usize> {
    let before = LOCAL.replace(n.map_or(0, |n| n.clamp(1, MAX_THREADS)));
    (before != 0).then_some(before)
}

/// Calls `f`; operations that it starts on this thread use at most `n` threads.
///
/// ```
/// assert_eq!(flex::with_threads(1, flex::num_threads), 1);
/// ```
pub fn with_threads<R>(n: usize, f: impl FnOnce() -> R) -> R {
    /// Restores on drop, so also when `f` panics.
    struct Restore(Option<usize>);
    impl Drop for Restore {
        fn drop(&mut self) {
            set_local_threads(self.0);
        }
    }
    let _restore = Restore(set_local_threads(Some(n)));
    f()
}
