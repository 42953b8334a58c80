//! What each thread has of the pool: lists of small blocks, and its part of the counts. No lock and
//! no read-modify-write on the way of a small tensor.
//!
//! - **LOCAL1.** The lists of a `Local` are touched by the thread that holds it alone: `held` is
//!   taken with acquire and given up with release order, by one thread at a time. In the child of a
//!   fork those of vanished threads stay held for ever.
//! - **LOCAL2.** A `Local` is never freed, so the chain from `FIRST` can be walked without a lock.
//!   The next thread takes it over.
//! - **LOCAL3.** The counts are written by the holder and read by all; each is a part of a sum and
//!   may wrap by itself, for a block may be freed on another thread than took it.

use super::class;
use super::shared::{GLOBAL, List};
use core::cell::Cell;
use core::ptr::{null, null_mut};
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering::*};

/// Classes below this one are small: up to 768 KiB.
pub(super) const SMALL: usize = 26;
const _: () = assert!(class::capacity(SMALL) == 1 << 20);

/// A thread's part of the pool.
#[repr(align(128))]
pub(super) struct Local {
    held: AtomicBool,
    chain: *const Local,
    lists: [Cell<List>; SMALL],
    /// The `EPOCH` of the pool that the lists were last emptied for.
    epoch: Cell<usize>,
    /// Bytes in the lists.
    pub cached: AtomicUsize,
    /// Bytes taken less bytes given back.
    pub in_use: AtomicUsize,
    /// Blocks taken from a list, here or of the whole process.
    pub hits: AtomicUsize,
}
// SAFETY: LOCAL1 for the cells; the rest is atomic or never changes.
unsafe impl Sync for Local {}

static FIRST: AtomicPtr<Local> = AtomicPtr::new(null_mut());

/// What a thread that is past its thread-locals' end counts into; its lists stay empty.
pub(super) static ORPHAN: Local = Local::new();

impl Local {
    const fn new() -> Local {
        Local {
            held: AtomicBool::new(true),
            chain: null(),
            lists: [const { Cell::new(List::EMPTY) }; SMALL],
            epoch: Cell::new(0),
            cached: AtomicUsize::new(0),
            in_use: AtomicUsize::new(0),
            hits: AtomicUsize::new(0),
        }
    }
    /// One that no thread holds, or a new one.
    #[cold]
    fn claim() -> &'static Local {
        if let Some(free) = all().find(|l| {
            !l.held.load(Relaxed)
                && l.held
                    .compare_exchange(false, true, Acquire, Relaxed)
                    .is_ok()
        }) {
            return free;
        }
        let new = Box::leak(Box::new(Local::new()));
        let mut first = FIRST.load(Relaxed);
        loop {
            new.chain = first;
            // release: who finds it in the chain sees it whole
            match FIRST.compare_exchange_weak(first, new, Release, Relaxed) {
                Ok(_) => return new,
                Err(now) => first = now,
            }
        }
    }
    /// The list of a class, to be changed and put back.
    #[inline(always)]
    pub fn list(&self, class: usize) -> &Cell<List> {
        &self.lists[class]
    }
    /// All lists, taken out.
    pub fn take_lists(&self) -> impl Iterator<Item = List> {
        self.cached.store(0, Relaxed);
        self.lists.iter().map(|l| l.replace(List::EMPTY))
    }
    /// Whether the lists were filled before `epoch`; from now on they count as emptied for it.
    #[inline(always)]
    pub fn outdated(&self, epoch: usize) -> bool {
        self.epoch.replace(epoch) != epoch
    }
}

/// Those of all threads there were, except [`ORPHAN`].
pub(super) fn all() -> impl Iterator<Item = &'static Local> {
    // SAFETY: null, or one that is never freed (LOCAL2); acquire pairs with the release of its
    // entry into the chain, and those further on entered before it.
    let at = |p: *const Local| unsafe { p.as_ref() };
    std::iter::successors(at(FIRST.load(Acquire)), move |l| at(l.chain))
}

/// Empties a thread's lists into those of all.
fn flush(local: &Local) {
    for (class, list) in local.take_lists().enumerate() {
        if list.count > 0 {
            GLOBAL.keep(list, class);
        }
    }
}

/// A thread's hold on its `Local`, given up when the thread ends.
struct Hold(Cell<Option<&'static Local>>);
impl Drop for Hold {
    fn drop(&mut self) {
        if let Some(local) = self.0.get() {
            flush(local);
            local.held.store(false, Release);
        }
    }
}
thread_local! { static HOLD: Hold = const { Hold(Cell::new(None)) } }

/// Calls `f` with this thread's part; with none when the thread is past its thread-locals' end.
#[inline(always)]
pub(super) fn with<R>(f: impl FnOnce(Option<&Local>) -> R) -> R {
    let local = HOLD.try_with(|hold| {
        hold.0.get().unwrap_or_else(|| {
            let local = Local::claim();
            hold.0.set(Some(local));
            local
        })
    });
    f(local.ok())
}
