//! Long work that is given up between two of its pieces, since the thread that asked for it has
//! something else to do: a binding's interpreter has a signal to handle, say.
//!
//! Giving up unwinds like a panic, so it is only for work whose targets nobody sees when it doesn't
//! return: new tensors, not tensors that are written in place.

use core::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::{Duration, Instant};

/// How often the thread looks whether to give up.
const EVERY: Duration = Duration::from_millis(100);
/// The longest piece of work in nanoseconds that this thread does without looking. By its cost: in
/// truth, it may be ten times as long.
const PIECE: usize = 5_000_000;

/// Whether to give up, and when to ask next.
#[derive(Clone, Copy)]
struct Watch {
    stop: fn() -> bool,
    next: Instant,
}

thread_local! {
    static WATCH: Cell<Option<Watch>> = const { Cell::new(None) };
}

/// Restores on drop, so also on unwinding.
struct Restore(Option<Watch>);
impl Drop for Restore {
    fn drop(&mut self) {
        WATCH.set(self.0)
    }
}

/// The payload that unwinds work which is given up.
struct GivenUp;

/// Calls `f`, whose operations give up once `stop` returns true, and returns `None` then. This
/// thread asks about ten times a second, between pieces of the work; other work that `stop` does is
/// not given up.
pub fn interruptible<R>(stop: fn() -> bool, f: impl FnOnce() -> R) -> Option<R> {
    let next = Instant::now() + EVERY;
    let _restore = Restore(WATCH.replace(Some(Watch { stop, next })));
    match catch_unwind(AssertUnwindSafe(f)) {
        Ok(r) => Some(r),
        Err(payload) if payload.is::<GivenUp>() => None,
        Err(payload) => resume_unwind(payload),
    }
}

/// Calls `f`, whose operations are not given up.
pub fn uninterrupted<R>(f: impl FnOnce() -> R) -> R {
    let _restore = Restore(WATCH.take());
    f()
}

/// Unwinds to [`interruptible`] if it is time to ask, and the answer is to give up.
#[inline]
pub(crate) fn checkpoint() {
    if let Some(watch) = WATCH.get() {
        ask(watch)
    }
}

#[cold]
fn ask(watch: Watch) {
    if Instant::now() < watch.next {
        return;
    }
    if uninterrupted(watch.stop) {
        resume_unwind(Box::new(GivenUp))
    }
    let next = Instant::now() + EVERY;
    WATCH.set(Some(Watch { next, ..watch }))
}

/// The pieces in which this thread does work of `ns` nanoseconds: one, unless it may give up.
#[inline]
pub(super) fn pieces(ns: usize) -> usize {
    match WATCH.get() {
        Some(_) => ns / PIECE + 1,
        None => 1,
    }
}
