//! The content of objects while a function is traced.

use flex::par::this_thread;
use flex::stream::Value;
use flex::{DType, Layout, Tensor};
use smallvec::SmallVec;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The number of functions being traced, on all threads.
static ACTIVE: AtomicUsize = AtomicUsize::new(0);
/// The number of traces that have begun.
static BEGUN: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Whether elements of a traced value were accessed since the last call was recorded.
    static REFUSED: Cell<bool> = const { Cell::new(false) };
    /// Whether a function runs that can be recorded as a whole.
    static RECORDABLE: Cell<bool> = const { Cell::new(false) };
}

/// Sets whether a function runs that can be recorded as a whole, and returns what was set before.
pub fn set_recordable(now: bool) -> bool {
    RECORDABLE.replace(now)
}
/// The number of traces that have begun: an object that was made before another trace has a smaller
/// one than that.
#[inline(always)]
pub fn begun() -> usize {
    BEGUN.load(Relaxed)
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
pub struct TraceMark {
    over: AtomicBool,
    by_shape: AtomicBool,
    /// The thread that traces.
    thread: usize,
    /// Which tensors from outside were used in any way, and whose elements were read.
    used: Mutex<[BTreeSet<usize>; 2]>,
}

impl Default for TraceMark {
    fn default() -> TraceMark {
        TraceMark {
            over: AtomicBool::new(false),
            by_shape: AtomicBool::new(false),
            thread: this_thread(),
            used: Mutex::default(),
        }
    }
}

impl TraceMark {
    /// Notes that tracing of a function begins; returns what [`begun`] gives from now on.
    pub fn begin() -> usize {
        ACTIVE.fetch_add(1, Relaxed);
        BEGUN.fetch_add(1, Relaxed) + 1
    }
    fn used(&self) -> MutexGuard<'_, [BTreeSet<usize>; 2]> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// Notes that a tensor from outside is used.
    pub fn note_use(&self, index: usize) {
        self.used()[0].insert(index);
    }
    /// Notes that its elements are read, so that the recording holds for these only.
    pub fn note_look(&self, index: usize) {
        self.used()[1].insert(index);
    }
    /// Whether a tensor from outside was used, and whether its elements were read.
    pub fn uses(&self, index: usize) -> [bool; 2] {
        self.used().each_ref().map(|set| set.contains(&index))
    }
    /// Whether this thread is tracing the function.
    pub fn is_here(&self) -> bool {
        self.thread == this_thread() && !self.over.load(Relaxed)
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

/// A trace that takes a tensor as an input.
struct Capture {
    mark: Arc<TraceMark>,
    index: usize,
    /// Row-major, as for other traced values.
    layout: Layout,
}

/// A tensor that functions being traced use from outside. Their threads see a value without elements;
/// all others see the tensor.
pub struct CapturedTensor {
    pub tensor: Tensor,
    by: SmallVec<[Capture; 1]>,
}

impl CapturedTensor {
    /// A tensor that no trace uses yet.
    pub fn new(tensor: Tensor) -> CapturedTensor {
        CapturedTensor {
            tensor,
            by: SmallVec::new(),
        }
    }
    fn here(&self) -> Option<&Capture> {
        self.by.iter().find(|c| c.mark.is_here())
    }
    /// Whether this thread is tracing a function that uses it.
    pub fn is_here(&self) -> bool {
        self.here().is_some()
    }
    /// Adds a trace, for which it has this index.
    pub fn add(&mut self, mark: &Arc<TraceMark>, index: usize, layout: Layout) {
        let mark = mark.clone();
        self.by.push(Capture {
            mark,
            index,
            layout,
        });
    }
    /// Removes a trace. Returns whether none is left.
    pub fn remove(&mut self, mark: &Arc<TraceMark>) -> bool {
        self.by.retain(|c| !Arc::ptr_eq(&c.mark, mark));
        self.by.is_empty()
    }
    /// Its index in a trace that uses it.
    pub fn index_in(&self, mark: &Arc<TraceMark>) -> Option<usize> {
        let own = self.by.iter().find(|c| Arc::ptr_eq(&c.mark, mark));
        own.map(|c| c.index)
    }
    /// Its layout and dtype as this thread sees it.
    pub fn about(&self) -> (&Layout, DType) {
        match self.here() {
            Some(own) => {
                own.mark.note_use(own.index);
                own.mark.note_shape();
                (&own.layout, self.tensor.dtype())
            }
            None => (self.tensor.layout(), self.tensor.dtype()),
        }
    }
    /// Its dtype.
    pub fn dtype(&self) -> DType {
        if let Some(own) = self.here() {
            own.mark.note_use(own.index);
        }
        self.tensor.dtype()
    }
    /// The tensor. `None` if this thread traces a function that uses it, and the operation that asks
    /// can be recorded; otherwise that recording holds for these elements.
    pub fn elements(&mut self) -> Option<&mut Tensor> {
        if let Some(own) = self.here() {
            if RECORDABLE.get() {
                return None;
            }
            own.mark.note_look(own.index);
        }
        Some(&mut self.tensor)
    }
}
