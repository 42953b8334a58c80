//! How many streams are entered.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// On all threads.
static ENTERED: AtomicUsize = AtomicUsize::new(0);

/// Whether there is one.
#[inline(always)]
pub fn is_any() -> bool {
    ENTERED.load(Relaxed) > 0
}
/// A thread enters one.
pub fn begin() {
    ENTERED.fetch_add(1, Relaxed);
}
/// A thread leaves one.
pub fn end() {
    ENTERED.fetch_sub(1, Relaxed);
}
