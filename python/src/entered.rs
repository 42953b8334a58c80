//! Counts the streams that are entered.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The number on all threads.
static ENTERED: AtomicUsize = AtomicUsize::new(0);

/// Whether any stream is entered.
#[inline(always)]
pub fn is_any() -> bool {
    ENTERED.load(Relaxed) > 0
}
/// Notes that a thread enters a stream.
pub fn begin() {
    ENTERED.fetch_add(1, Relaxed);
}
/// Notes that a thread leaves a stream.
pub fn end() {
    ENTERED.fetch_sub(1, Relaxed);
}
