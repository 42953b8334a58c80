//! Each thread's part of the pool: lists of small blocks, and a share of the statistics. Small
//! tensors take no lock and no atomic read-modify-write.
//!
//! - **LOCAL1.** Only the thread that holds a `Local` touches its lists: `held` is taken with
//!   acquire and released with release order, by one thread at a time. In the child of a fork those
//!   of vanished threads stay held for ever.
//! - **LOCAL2.** A `Local` is never freed, so the chain from `FIRST` can be walked without a lock.
//!   New threads reuse it.
//! - **LOCAL3.** The counts are written by the holder and read by all; each is one term of a sum
//!   and may wrap by itself, for a block may be freed on another thread than the one that allocated
//!   it.

use super::class;
use super::shared::{FreeList, GLOBAL};
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
    lists: [Cell<FreeList>; SMALL],
    /// The `EPOCH` of the pool that the lists were last emptied for.
    epoch: Cell<usize>,
    /// Bytes in the lists.
    pub cached: AtomicUsize,
    /// Bytes allocated minus bytes freed.
    pub in_use: AtomicUsize,
    /// Blocks reused from a list, this thread's or the shared ones.
    pub hits: AtomicUsize,
}
// SAFETY: LOCAL1 for the cells; the rest is atomic or never changes.
unsafe impl Sync for Local {}

static FIRST: AtomicPtr<Local> = AtomicPtr::new(null_mut());

/// The statistics of threads whose thread-locals are destroyed already; its lists stay empty.
pub(super) static ORPHAN: Local = Local::new();

impl Local {
    const fn new() -> Local {
        Local {
            held: AtomicBool::new(true),
            chain: null(),
            lists: [const { Cell::new(FreeList::EMPTY) }; SMALL],
            epoch: Cell::new(0),
            cached: AtomicUsize::new(0),
            in_use: AtomicUsize::new(0),
            hits: AtomicUsize::new(0),
        }
    }
    /// Takes one that no thread holds, or makes one.
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
            // release: whoever finds it in the chain sees it initialised
            match FIRST.compare_exchange_weak(first, new, Release, Relaxed) {
                Ok(_) => return new,
                Err(now) => first = now,
            }
        }
    }
    /// The list of a class, to be read and replaced.
    #[inline(always)]
    pub fn list(&self, class: usize) -> &Cell<FreeList> {
        &self.lists[class]
    }
    /// All lists, taken out.
    pub fn take_lists(&self) -> impl Iterator<Item = FreeList> {
        self.cached.store(0, Relaxed);
        self.lists.iter().map(|l| l.replace(FreeList::EMPTY))
    }
    /// Whether the lists were last emptied before `epoch`; marks them as emptied for it.
    #[inline(always)]
    pub fn outdated(&self, epoch: usize) -> bool {
        self.epoch.replace(epoch) != epoch
    }
}

/// The `Local`s of all threads, past ones included, except [`ORPHAN`].
pub(super) fn all() -> impl Iterator<Item = &'static Local> {
    // SAFETY: null, or one that is never freed (LOCAL2); acquire pairs with the release of its
    // entry into the chain, and those further on entered before it.
    let at = |p: *const Local| unsafe { p.as_ref() };
    std::iter::successors(at(FIRST.load(Acquire)), move |l| at(l.chain))
}

/// Moves the blocks of a thread's lists to the shared ones.
fn flush(local: &Local) {
    for (class, list) in local.take_lists().enumerate() {
        if list.count > 0 {
            GLOBAL.keep(list, class);
        }
    }
}

/// A thread's hold on its `Local`, released when the thread ends.
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

/// Calls `f` with this thread's part; with `None` once the thread's thread-locals are destroyed.
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
