//! The free blocks that all threads share: large ones, and the overflow of the threads' own lists
//! ([`local`](super::local)). Their bytes are bounded by a cap; beyond it, memory is returned to
//! the system.
//!
//! - **POOL1.** A free block is in exactly one list, or held by the one thread that moves it. The
//!   lists of `Global` are touched only under its lock; no memory is allocated or freed under it.
//!
//! A fork takes that lock ([`fork`](super::fork), POOL2).

use super::block::BlockHeader;
use super::class::{self, CLASSES};
use super::fork::{self, POOL};
use super::limit::limit;
use core::cell::UnsafeCell;
use core::ptr::{NonNull, null_mut};
use core::sync::atomic::{AtomicUsize, Ordering::*};

/// A list of free blocks of one class.
#[derive(Clone, Copy)]
pub(super) struct FreeList {
    pub head: *mut BlockHeader,
    pub count: usize,
}

impl FreeList {
    pub const EMPTY: FreeList = FreeList {
        head: null_mut(),
        count: 0,
    };

    /// # Safety
    /// Nobody uses the block (STORAGE2), and the list is the caller's alone.
    #[inline(always)]
    pub unsafe fn push(&mut self, mut block: NonNull<BlockHeader>) {
        // SAFETY: nobody uses the block, by the caller's promise, so its header may be written to.
        unsafe { block.as_mut().next = self.head }
        *self = FreeList {
            head: block.as_ptr(),
            count: self.count + 1,
        };
    }
    #[inline(always)]
    pub fn pop(&mut self) -> Option<NonNull<BlockHeader>> {
        let block = NonNull::new(self.head)?;
        // SAFETY: the block is alive and in this list alone, since it was pushed.
        let head = unsafe { block.as_ref().next };
        let count = self.count - 1;
        *self = FreeList { head, count };
        Some(block)
    }
}

/// The lists that all threads share, by class.
pub(super) struct Global {
    lists: UnsafeCell<[FreeList; CLASSES]>,
    /// Bytes in the lists; written under the lock.
    pub cached: AtomicUsize,
}

// SAFETY: the lists are touched under the lock alone (POOL1); the rest is atomic.
unsafe impl Sync for Global {}

pub(super) static GLOBAL: Global = Global {
    lists: UnsafeCell::new([FreeList::EMPTY; CLASSES]),
    cached: AtomicUsize::new(0),
};

/// The most bytes to cache; `UNSET` until first used.
static CAP: AtomicUsize = AtomicUsize::new(UNSET);

const UNSET: usize = usize::MAX;

impl Global {
    fn with<R>(&self, f: impl FnOnce(&mut [FreeList; CLASSES]) -> R) -> R {
        // SAFETY: POOL1; `f` is this module's and does not panic.
        POOL.with(|| f(unsafe { &mut *self.lists.get() }))
    }
    /// Up to `count` blocks of a class.
    #[inline]
    pub fn take(&self, class: usize, count: usize) -> FreeList {
        self.with(|lists| {
            let mut taken = FreeList::EMPTY;
            for _ in 0..count {
                let Some(block) = lists[class].pop() else {
                    break;
                };
                // SAFETY: popped a line above, so in no list but the one that it is pushed to
                // (POOL1).
                unsafe { taken.push(block) }
            }
            bump(
                &self.cached,
                (taken.count * class::capacity(class)).wrapping_neg(),
            );
            taken
        })
    }
    /// Takes in the blocks of a list, all of one class. What exceeds the cap is freed, largest
    /// first: blocks used last are likeliest to be used next.
    #[inline]
    pub fn keep(&self, mut blocks: FreeList, class: usize) {
        let cap = cap();
        let mut surplus = FreeList::EMPTY;
        self.with(|lists| {
            while let Some(block) = blocks.pop() {
                // SAFETY: popped a line above, so in no list but the one that it is pushed to
                // (POOL1), under the lock.
                unsafe { lists[class].push(block) }
                bump(&self.cached, class::capacity(class));
            }
            surplus = self.shrink(lists, cap);
        });
        free(surplus);
    }
    /// Removes the blocks to free so that no more than `cap` bytes remain. Under the lock.
    fn shrink(&self, lists: &mut [FreeList; CLASSES], cap: usize) -> FreeList {
        let mut surplus = FreeList::EMPTY;
        let mut class = CLASSES;
        while class > 0 && self.cached.load(Relaxed) > cap {
            let Some(block) = lists[class - 1].pop() else {
                class -= 1;
                continue;
            };
            // SAFETY: popped a few lines above, so in no list but the one that it is pushed to
            // (POOL1).
            unsafe { surplus.push(block) }
            bump(&self.cached, class::capacity(class - 1).wrapping_neg());
        }
        surplus
    }
    /// Frees all but `cap` bytes.
    pub fn trim(&self, cap: usize) {
        free(self.with(|lists| self.shrink(lists, cap)));
    }
}

pub(super) fn free(mut blocks: FreeList) {
    while let Some(block) = blocks.pop() {
        // SAFETY: in this list alone, used by nobody (POOL1, STORAGE2).
        unsafe { BlockHeader::free(block) }
    }
}

#[inline(always)]
pub(super) fn cap() -> usize {
    match CAP.load(Relaxed) {
        UNSET => default_cap(),
        cap => cap,
    }
}

#[cold]
fn default_cap() -> usize {
    fork::register_atfork();
    let cap = if limit() == u64::MAX {
        1 << 30
    } else {
        usize::try_from(limit() / 4)
            .unwrap_or(usize::MAX)
            .min(UNSET - 1)
    };
    // another thread may have set it meanwhile
    CAP.compare_exchange(UNSET, cap, Relaxed, Relaxed)
        .map_or_else(|now| now, |_| cap)
}

/// Sets the cap, and frees what exceeds it.
pub(super) fn set_cap(bytes: usize) {
    CAP.store(bytes.min(UNSET - 1), Relaxed);
    if bytes < GLOBAL.cached.load(Relaxed) {
        GLOBAL.trim(bytes);
    }
}

/// Adds to a count of the caller's own (LOCAL3).
#[inline(always)]
pub(super) fn bump(count: &AtomicUsize, by: usize) {
    count.store(count.load(Relaxed).wrapping_add(by), Relaxed)
}
