//! What an object of a function that is being traced stands for.

use crate::stream::Value;
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

/// How many functions are being traced, on all threads.
static ACTIVE: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Whether a traced value was asked for elements since the last call was recorded.
    static REFUSED: Cell<bool> = const { Cell::new(false) };
}

/// A traced value is asked for its elements: who called the function may record the call.
pub fn note_refusal() {
    REFUSED.set(true);
}
/// Whether that happened; not again for the next one who asks.
pub fn was_refused() -> bool {
    REFUSED.take()
}

/// Whether anything is being traced.
#[inline(always)]
pub fn is_active() -> bool {
    ACTIVE.load(Relaxed) > 0
}

/// What a trace and its objects share; its address identifies the trace.
#[derive(Default)]
pub struct Mark {
    over: AtomicBool,
    by_shape: AtomicBool,
}

impl Mark {
    /// A function begins to be traced.
    pub fn begin() {
        ACTIVE.fetch_add(1, Relaxed);
    }
    /// One ends.
    pub fn end() {
        ACTIVE.fetch_sub(1, Relaxed);
    }
    /// The function of this mark has returned.
    pub fn set_over(&self) {
        self.over.store(true, Relaxed);
    }
    /// What is recorded holds for these shapes alone.
    pub fn note_shape(&self) {
        self.by_shape.store(true, Relaxed);
    }
    /// Whether it does.
    pub fn is_by_shape(&self) -> bool {
        self.by_shape.load(Relaxed)
    }
}

/// A value of the graph.
pub struct Traced {
    /// Which one.
    pub value: Value,
    /// Of which trace.
    pub mark: Arc<Mark>,
}

impl Traced {
    /// Whether the function has returned.
    pub fn is_over(&self) -> bool {
        self.mark.over.load(Relaxed)
    }
}
