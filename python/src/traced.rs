//! The content of objects while a function is traced.

use flex::stream::Value;
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

/// The number of functions being traced, on all threads.
static ACTIVE: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Whether elements of a traced value were accessed since the last call was recorded.
    static REFUSED: Cell<bool> = const { Cell::new(false) };
}

/// Notes that elements of a traced value were accessed, so that the caller of the function may
/// record the call.
pub fn note_refusal() {
    REFUSED.set(true);
}
/// Whether that happened; resets the note.
pub fn was_refused() -> bool {
    REFUSED.take()
}

/// Whether anything is being traced.
#[inline(always)]
pub fn is_active() -> bool {
    ACTIVE.load(Relaxed) > 0
}

/// Shared by a trace and its objects; its address identifies the trace.
#[derive(Default)]
pub struct TraceMark {
    over: AtomicBool,
    by_shape: AtomicBool,
}

impl TraceMark {
    /// Notes that tracing of a function begins.
    pub fn begin() {
        ACTIVE.fetch_add(1, Relaxed);
    }
    /// Notes that tracing of a function ends.
    pub fn end() {
        ACTIVE.fetch_sub(1, Relaxed);
    }
    /// Notes that the function of this mark has returned.
    pub fn set_over(&self) {
        self.over.store(true, Relaxed);
    }
    /// Notes that the recording holds only for these shapes.
    pub fn note_shape(&self) {
        self.by_shape.store(true, Relaxed);
    }
    /// Whether the recording holds only for these shapes.
    pub fn is_by_shape(&self) -> bool {
        self.by_shape.load(Relaxed)
    }
}

/// A value of the graph of a trace.
pub struct Traced {
    /// The value.
    pub value: Value,
    /// The mark of its trace.
    pub mark: Arc<TraceMark>,
    /// Its memory, which views of it share.
    pub memory: Arc<Memory>,
}

/// Stands for the memory of values.
#[derive(Default)]
pub struct Memory {
    /// Of an argument, whether others see it.
    pub given: Option<bool>,
}

impl Traced {
    /// Whether somebody else sees its memory, so that a write makes a copy.
    pub fn is_shared(&self) -> bool {
        self.memory.given == Some(true) || Arc::strong_count(&self.memory) > 1
    }
    /// Whether the function has returned.
    pub fn is_over(&self) -> bool {
        self.mark.over.load(Relaxed)
    }
}
