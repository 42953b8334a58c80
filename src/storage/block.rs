//! Blocks of memory, each described by a header.

use super::atomic::{AtomicBool, AtomicUsize};
use alloc::alloc::{Layout, alloc_zeroed, dealloc};
use alloc::boxed::Box;
use core::any::Any;
use core::ptr::NonNull;

/// Alignment in bytes of owned memory: a cache line and a vector of AVX-512; 16 without the
/// standard library, where memory is scarce and vectors are no wider.
///
/// ```
/// let x = flex::Bytes::new(100)?;
/// assert!((x.as_ptr() as usize).is_multiple_of(flex::storage::ALIGN));
/// # Ok::<(), flex::Error>(())
/// ```
pub const ALIGN: usize = if cfg!(feature = "std") { 64 } else { 16 };

/// The header of a block: before its data, or apart from it if the memory is mapped.
#[cfg_attr(feature = "std", repr(C, align(64)))]
#[cfg_attr(not(feature = "std"), repr(C, align(16)))]
pub(super) struct BlockHeader {
    /// The number of handles to the block (STORAGE2).
    pub count: AtomicUsize,
    /// The first byte of the data.
    pub data: NonNull<u8>,
    /// The bytes of data that fit the block.
    pub capacity: usize,
    /// Where the memory came from, which decides how it is freed.
    pub origin: Origin,
    /// Whether the contents were copied here by a write to a shared block: see
    /// [`Bytes::is_contended`](super::Bytes).
    pub contended: AtomicBool,
    /// The packed-weight cache (PACKED1); null until the first lookup.
    #[cfg(feature = "std")]
    pub packed: core::sync::atomic::AtomicPtr<super::packed::PackedCache>,
    /// The next block of a free list.
    #[cfg(feature = "std")]
    pub next: *mut BlockHeader,
}

/// Where a block's memory came from.
pub(super) enum Origin {
    /// One allocation that includes the header; under `flex_exact` two.
    Heap,
    /// A mapping of its own; the header is elsewhere, so that the data begins and ends with a page.
    #[cfg(all(feature = "std", target_os = "linux"))]
    Mapped,
    /// Foreign memory, and what keeps it alive (STORAGE5). The header is that of a block from the
    /// pool whose data is unused.
    Foreign(#[allow(dead_code, reason = "held to be dropped")] Box<dyn Any + Send + Sync>),
    /// Memory handed over by the program, such as a vector's, and what frees it. Written to like the
    /// pool's.
    Adopted(Box<dyn Any + Send + Sync>),
    /// The same as foreign memory, but nobody writes to it, not even its owner.
    Immutable(#[allow(dead_code, reason = "held to be dropped")] Box<dyn Any + Send + Sync>),
}

impl BlockHeader {
    fn new(data: NonNull<u8>, capacity: usize, origin: Origin) -> BlockHeader {
        BlockHeader {
            count: AtomicUsize::new(1),
            data,
            capacity,
            origin,
            contended: AtomicBool::new(false),
            #[cfg(feature = "std")]
            packed: core::sync::atomic::AtomicPtr::new(core::ptr::null_mut()),
            #[cfg(feature = "std")]
            next: core::ptr::null_mut(),
        }
    }
    fn layout(capacity: usize) -> Option<Layout> {
        let header = if cfg!(flex_exact) {
            0
        } else {
            size_of::<BlockHeader>()
        };
        Layout::from_size_align(header.checked_add(capacity)?, align_of::<BlockHeader>()).ok()
    }
    /// A zeroed block from the global allocator with a count of one; `None` if it has no memory.
    #[cfg(not(flex_exact))]
    pub fn heap(capacity: usize) -> Option<NonNull<BlockHeader>> {
        // SAFETY: the size is not zero, for the header has one.
        let header = NonNull::new(unsafe { alloc_zeroed(BlockHeader::layout(capacity)?) })?
            .cast::<BlockHeader>();
        // SAFETY: the allocation holds a header and, behind it and as aligned as it, `capacity`
        // bytes.
        unsafe {
            header.write(BlockHeader::new(
                header.add(1).cast(),
                capacity,
                Origin::Heap,
            ))
        }
        Some(header)
    }
    /// For sanitizers and Miri: the data is a separate allocation of exactly its bytes, so that
    /// accesses out of bounds are seen on either side; it is not zeroed, so that code which relies
    /// on zeros fails.
    #[cfg(flex_exact)]
    pub fn heap(capacity: usize) -> Option<NonNull<BlockHeader>> {
        let data = match capacity {
            0 => NonNull::<BlockHeader>::dangling().cast(),
            // SAFETY: the size is not zero, by the arm before.
            _ => NonNull::new(unsafe { alloc_zeroed(BlockHeader::layout(capacity)?) })?,
        };
        // SAFETY: `capacity` bytes just allocated (STORAGE4).
        unsafe { data.write_bytes(0xa5, capacity) }
        Some(NonNull::from(Box::leak(Box::new(BlockHeader::new(
            data,
            capacity,
            Origin::Heap,
        )))))
    }
    /// A zeroed block in a mapping of its own; `None` if the system refuses. `capacity` is a
    /// multiple of the page size.
    #[cfg(all(feature = "std", target_os = "linux"))]
    pub fn mapped(capacity: usize) -> Option<NonNull<BlockHeader>> {
        let data = super::mapping::map(capacity)?;
        Some(NonNull::from(Box::leak(Box::new(BlockHeader::new(
            data,
            capacity,
            Origin::Mapped,
        )))))
    }
    /// Whether the memory is foreign.
    #[inline(always)]
    pub fn is_foreign(&self) -> bool {
        match self.origin {
            Origin::Foreign(_) => true,
            #[cfg(feature = "std")]
            Origin::Immutable(_) => true,
            _ => false,
        }
    }
    /// Whether the memory is another owner's, who frees it.
    #[inline(always)]
    pub fn has_owner(&self) -> bool {
        self.is_foreign() || matches!(self.origin, Origin::Adopted(_))
    }
    /// Drops the packed-weight cache.
    #[cfg(feature = "std")]
    #[inline]
    pub fn drop_packed(&self) {
        use core::sync::atomic::Ordering;
        if !self.packed.load(Ordering::Acquire).is_null() {
            let cache = self.packed.swap(core::ptr::null_mut(), Ordering::AcqRel);
            // SAFETY: a box that `Bytes::entries` leaked; the swap made it ours, and every reader's
            // handle is gone (PACKED1).
            drop(unsafe { Box::from_raw(cache) });
        }
    }
    /// Frees the memory of a block.
    ///
    /// # Safety
    /// Nobody uses the block any more (STORAGE2).
    pub unsafe fn free(header: NonNull<BlockHeader>) {
        // SAFETY: alive until here, ours alone by the caller's promise; each arm undoes the
        // constructor of its origin.
        unsafe {
            match header.as_ref().origin {
                #[cfg(all(feature = "std", target_os = "linux"))]
                Origin::Mapped => {
                    let header = Box::from_raw(header.as_ptr());
                    super::mapping::unmap(header.data, header.capacity);
                }
                // the owner of foreign memory has been dropped before
                #[cfg(flex_exact)]
                _ => {
                    let header = Box::from_raw(header.as_ptr());
                    if header.capacity > 0 {
                        dealloc(
                            header.data.as_ptr(),
                            BlockHeader::layout(header.capacity).unwrap_unchecked(),
                        );
                    }
                }
                #[cfg(not(flex_exact))]
                _ => dealloc(
                    header.as_ptr().cast(),
                    BlockHeader::layout(header.as_ref().capacity).unwrap_unchecked(),
                ),
            }
        }
    }
}
