//! The pool: freed blocks are cached by size class and reused, since touching fresh pages costs
//! more than most arithmetic.
//!
//! Small blocks go through lists of each thread ([`local`](super::local)); large ones, and the
//! overflow of those lists, go through shared lists under a lock ([`shared`](super::shared)).
//! Requests beyond the machine's memory are refused before the system is asked.

use super::block::BlockHeader;
use super::class;
use super::fork;
use super::limit::limit;
use super::local::{self, Local, ORPHAN, SMALL};
use super::shared::{FreeList, GLOBAL, bump, cap, free, set_cap};
use crate::error::{Error, Result};
use core::ptr::NonNull;
use core::sync::atomic::{AtomicUsize, Ordering::*};

/// Statistics of the pool, in bytes and blocks. The figures of threads that are running may be a
/// moment old.
///
/// ```
/// let before = flex::memory_stats().in_use;
/// let x = flex::Tensor::zeros(1000, flex::DType::F32)?;
/// let stats = flex::memory_stats();
/// assert!(stats.in_use >= before.min(4000) && stats.peak >= 4000);
/// # Ok::<(), flex::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryStats {
    /// The bytes of all live tensors, exactly. Foreign and static memory is not counted.
    pub in_use: usize,
    /// The maximum of `in_use`, to within the size of the threads' lists of small blocks.
    pub peak: usize,
    /// The bytes of freed blocks cached for reuse.
    pub cached: usize,
    /// Blocks that were reused.
    pub hits: usize,
    /// Blocks that were allocated from the system.
    pub misses: usize,
    /// The limit of `cached`: see [`set_memory_cap`].
    pub cap: usize,
    /// The memory of the machine or of the process's control group, in bytes; `u64::MAX` if
    /// unknown.
    pub limit: u64,
}

static MISSES: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);
/// Incremented to empty all lists; each thread empties its own when it next uses them.
static EPOCH: AtomicUsize = AtomicUsize::new(0);
/// For sanitizers and Miri, since rounding and reuse hide errors: blocks have exactly the bytes
/// requested, and are never reused.
const EXACT: bool = cfg!(flex_exact);

/// The most blocks that a thread's list of a class holds.
#[inline(always)]
fn list_limit(class: usize) -> usize {
    ((1 << 20) / class::capacity(class)).clamp(4, 64)
}
/// The most bytes that all lists of one thread hold.
#[inline(always)]
fn local_limit() -> usize {
    (cap() / 64).min(32 << 20)
}

/// A block for `len` bytes with a count of one, and whether it is zeroed.
#[inline]
pub(super) fn get(len: usize) -> Result<(NonNull<BlockHeader>, bool)> {
    let Some(class) = class::of(len) else {
        return Err(out_of_memory(len));
    };
    local::with(|local| {
        let kept = match local {
            _ if EXACT => None,
            Some(local) if class < SMALL => take_small(local, class),
            _ => GLOBAL.take(class, 1).pop(),
        };
        let (block, fresh) = match kept {
            Some(block) => {
                // SAFETY: in no list any more (POOL1). Only its holder reads a block's count:
                // relaxed.
                let header = unsafe { block.as_ref() };
                header.count.store(1, Relaxed);
                header.contended.store(false, Relaxed);
                (block, false)
            }
            None => (fresh(class, len)?, true),
        };
        count(local, len, !fresh as usize);
        if fresh || class >= SMALL {
            PEAK.fetch_max(in_use(), Relaxed);
        }
        Ok((block, fresh && !EXACT))
    })
}

/// A block without data, for the header of foreign memory.
pub(super) fn header() -> NonNull<BlockHeader> {
    let refused = || alloc::alloc::handle_alloc_error(alloc::alloc::Layout::new::<BlockHeader>());
    get(0).map_or_else(
        |_| allocate(0, 0).unwrap_or_else(refused),
        |(block, _)| block,
    )
}

#[inline(always)]
fn take_small(local: &Local, class: usize) -> Option<NonNull<BlockHeader>> {
    let mut list = local.list(class).get();
    if list.count == 0 {
        list = refill(local, class);
    }
    let block = list.pop()?;
    local.list(class).set(list);
    bump(&local.cached, class::capacity(class).wrapping_neg());
    Some(block)
}
#[cold]
fn refill(local: &Local, class: usize) -> FreeList {
    let list = GLOBAL.take(class, list_limit(class) / 2);
    bump(&local.cached, list.count * class::capacity(class));
    list
}

/// Frees a block that `get(len)` returned.
///
/// # Safety
/// Nobody uses the block any more (STORAGE2).
#[inline]
pub(super) unsafe fn put(block: NonNull<BlockHeader>, len: usize) {
    let class = class::of(len).unwrap_or_default();
    local::with(|local| {
        count(local, len.wrapping_neg(), 0);
        if EXACT {
            // SAFETY: used by nobody, by the caller's promise.
            return unsafe { BlockHeader::free(block) };
        }
        let mut single = FreeList::EMPTY;
        if let Some(local) = local.filter(|_| class < SMALL)
            && make_room(local, class)
        {
            let mut list = local.list(class).get();
            // SAFETY: used by nobody, by the caller's promise; the list is ours (LOCAL1).
            unsafe { list.push(block) }
            local.list(class).set(list);
            bump(&local.cached, class::capacity(class));
        } else {
            // SAFETY: used by nobody, by the caller's promise; the list is this function's own.
            unsafe { single.push(block) }
            GLOBAL.keep(single, class);
        }
    })
}
/// Whether a thread's list may take one more block; a full one moves half of its blocks to the
/// shared lists first.
#[inline(always)]
fn make_room(local: &Local, class: usize) -> bool {
    if local.outdated(EPOCH.load(Relaxed)) {
        local.take_lists().for_each(free);
    }
    if local.list(class).get().count >= list_limit(class) {
        spill(local, class);
    }
    local.cached.load(Relaxed) + class::capacity(class) <= local_limit()
}
#[cold]
fn spill(local: &Local, class: usize) {
    let (mut list, mut half) = (local.list(class).get(), FreeList::EMPTY);
    for _ in 0..list.count / 2 {
        // SAFETY: popped in this line, so in no list but the one that it is pushed to (POOL1).
        list.pop()
            .into_iter()
            .for_each(|block| unsafe { half.push(block) });
    }
    local.list(class).set(list);
    bump(
        &local.cached,
        (half.count * class::capacity(class)).wrapping_neg(),
    );
    GLOBAL.keep(half, class);
}

/// Counts bytes allocated, or freed if `len` is negated, and blocks reused.
#[inline(always)]
fn count(local: Option<&Local>, len: usize, hits: usize) {
    match local {
        Some(local) => {
            bump(&local.in_use, len);
            bump(&local.hits, hits);
        }
        None => {
            ORPHAN.in_use.fetch_add(len, Relaxed);
            ORPHAN.hits.fetch_add(hits, Relaxed);
        }
    }
}
fn sum(of: impl Fn(&Local) -> &AtomicUsize) -> usize {
    local::all()
        .chain([&ORPHAN])
        .fold(0, |n, l| n.wrapping_add(of(l).load(Relaxed)))
}
fn in_use() -> usize {
    // a block freed by a thread whose count was read early can make the sum negative for a moment
    (sum(|l| &l.in_use) as isize).max(0) as usize
}

#[cold]
fn fresh(class: usize, len: usize) -> Result<NonNull<BlockHeader>> {
    fork::register_atfork();
    let (limit, in_use, cached) = (limit(), in_use() as u64, GLOBAL.cached.load(Relaxed) as u64);
    if (len as u64).saturating_add(in_use) > limit {
        return Err(out_of_memory(len));
    }
    if (len as u64).saturating_add(in_use).saturating_add(cached) > limit {
        GLOBAL.trim(0);
    }
    let block = allocate(class, len).or_else(|| {
        GLOBAL.trim(0);
        allocate(class, len)
    });
    MISSES.fetch_add(1, Relaxed);
    block.ok_or_else(|| out_of_memory(len))
}
fn allocate(class: usize, len: usize) -> Option<NonNull<BlockHeader>> {
    if EXACT {
        return BlockHeader::heap(len);
    }
    #[cfg(target_os = "linux")]
    if class >= SMALL && !cfg!(miri) {
        return BlockHeader::mapped(class::capacity(class));
    }
    BlockHeader::heap(class::capacity(class))
}
/// Errors if a block of `len` bytes can never be allocated, since the process may not use that
/// much.
pub(crate) fn expect_memory(len: usize) -> Result<()> {
    match class::of(len) {
        Some(_) if len as u64 <= limit() => Ok(()),
        _ => Err(out_of_memory(len)),
    }
}
/// Errors if `len` bytes beside those of all tensors are more than the process may use. For lists,
/// which the allocator would hand out one by one, and whose pages are first used when it is too
/// late.
pub(crate) fn expect_room(len: usize) -> Result<()> {
    expect_memory(len.saturating_add(in_use())).map_err(|_| out_of_memory(len))
}
#[cold]
fn out_of_memory(len: usize) -> Error {
    Error::Memory {
        bytes: len as u128,
        limit: if limit() == u64::MAX { 0 } else { limit() },
    }
}

/// Statistics of the pool.
///
/// ```standalone_crate
/// let before = flex::memory_stats().in_use;
/// let t = flex::Bytes::new(1000)?;
/// assert_eq!(flex::memory_stats().in_use, before + 1000);
/// drop(t);
/// assert_eq!(flex::memory_stats().in_use, before);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn memory_stats() -> MemoryStats {
    let in_use = in_use();
    MemoryStats {
        in_use,
        peak: PEAK.fetch_max(in_use, Relaxed).max(in_use),
        cached: GLOBAL.cached.load(Relaxed) + sum(|l| &l.cached),
        hits: sum(|l| &l.hits),
        misses: MISSES.load(Relaxed),
        cap: cap(),
        limit: limit(),
    }
}

/// Returns the memory of freed tensors to the system. Small blocks cached by other threads follow
/// when those threads next free a tensor.
///
/// ```standalone_crate
/// drop(flex::Bytes::new(10_000_000)?);
/// assert!(flex::memory_stats().cached >= 10_000_000);
/// flex::empty_cache();
/// assert_eq!(flex::memory_stats().cached, 0);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn empty_cache() {
    let epoch = EPOCH.fetch_add(1, Relaxed) + 1;
    local::with(|local| {
        if let Some(local) = local {
            local.outdated(epoch);
            local.take_lists().for_each(free);
        }
    });
    GLOBAL.trim(0);
}

/// Sets how many bytes of freed tensors are cached for reuse; by default a quarter of the memory. 0
/// disables caching.
///
/// ```standalone_crate
/// flex::set_memory_cap(64 << 20);
/// drop(flex::Bytes::new(100 << 20)?);
/// assert!(flex::memory_stats().cached <= 64 << 20);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn set_memory_cap(bytes: usize) {
    set_cap(bytes)
}
