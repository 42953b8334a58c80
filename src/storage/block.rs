//! Blocks: a header and the memory that it describes.

use super::atomic::{AtomicBool, AtomicUsize};
use alloc::alloc::{Layout, alloc_zeroed, dealloc};
use alloc::boxed::Box;
use core::any::Any;
use core::ptr::NonNull;

/// Alignment in bytes of owned memory: a cache line and a vector of AVX-512; 16 without the
/// standard library, where memory is dear and vectors are no wider.
pub const ALIGN: usize = if cfg!(feature = "std") { 64 } else { 16 };

/// What stands before the data of a block, or apart from it where the memory is mapped.
#[cfg_attr(feature = "std", repr(C, align(64)))]
#[cfg_attr(not(feature = "std"), repr(C, align(16)))]
pub(super) struct Header {
    /// Handles that point here (STORAGE2).
    pub count: AtomicUsize,
    /// The first byte of the data.
    pub data: NonNull<u8>,
    /// Bytes of data that the block has room for.
    pub capacity: usize,
    /// Where the memory came from, hence where it goes.
    pub origin: Origin,
    /// Whether a write brought the contents here from a block that was shared: see
    /// [`Bytes::is_contended`](super::Bytes).
    pub contended: AtomicBool,
    /// The packed-weight cache (PACKED1); null until the first lookup.
    #[cfg(feature = "std")]
    pub packed: core::sync::atomic::AtomicPtr<super::packed::PackedCache>,
    /// The next block of a list of free ones.
    #[cfg(feature = "std")]
    pub next: *mut Header,
}

/// Where a block's memory came from.
pub(super) enum Origin {
    /// One allocation with its header; under `flex_exact` one for each.
    Heap,
    /// A mapping of its own; the header lies apart, so that the data begins and ends with a page.
    #[cfg(all(feature = "std", target_os = "linux"))]
    Mapped,
    /// Memory of somebody else, and what keeps it alive (STORAGE5). The header is that of a block
    /// from the pool, whose data lies idle.
    Foreign(#[allow(dead_code, reason = "held to be dropped")] Box<dyn Any + Send + Sync>),
    /// The same, of memory that nobody writes to, not even its owner.
    #[cfg(feature = "std")]
    Immutable(#[allow(dead_code, reason = "held to be dropped")] Box<dyn Any + Send + Sync>),
}

impl Header {
    fn new(data: NonNull<u8>, capacity: usize, origin: Origin) -> Header {
        Header {
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
            size_of::<Header>()
        };
        Layout::from_size_align(header.checked_add(capacity)?, align_of::<Header>()).ok()
    }
    /// A zeroed block from the global allocator with a count of one; `None` where it has no memory.
    #[cfg(not(flex_exact))]
    pub fn heap(capacity: usize) -> Option<NonNull<Header>> {
        // SAFETY: the size is not zero, for the header has one.
        let header =
            NonNull::new(unsafe { alloc_zeroed(Header::layout(capacity)?) })?.cast::<Header>();
        // SAFETY: the allocation holds a header and, behind it and as aligned as it, `capacity`
        // bytes.
        unsafe { header.write(Header::new(header.add(1).cast(), capacity, Origin::Heap)) }
        Some(header)
    }
    /// For sanitizers and Miri: the data is an allocation of its own, of exactly its bytes, so that
    /// one too many is seen on either side; and it is not zeros, so that a result which relies on
    /// them is wrong.
    #[cfg(flex_exact)]
    pub fn heap(capacity: usize) -> Option<NonNull<Header>> {
        let data = match capacity {
            0 => NonNull::<Header>::dangling().cast(),
            // SAFETY: the size is not zero, by the arm before.
            _ => NonNull::new(unsafe { alloc_zeroed(Header::layout(capacity)?) })?,
        };
        // SAFETY: `capacity` bytes just allocated (STORAGE4).
        unsafe { data.write_bytes(0xa5, capacity) }
        Some(NonNull::from(Box::leak(Box::new(Header::new(
            data,
            capacity,
            Origin::Heap,
        )))))
    }
    /// A zeroed block in a mapping of its own; `None` where the system refuses. `capacity` is a
    /// multiple of the page size.
    #[cfg(all(feature = "std", target_os = "linux"))]
    pub fn mapped(capacity: usize) -> Option<NonNull<Header>> {
        let data = super::mapping::map(capacity)?;
        Some(NonNull::from(Box::leak(Box::new(Header::new(
            data,
            capacity,
            Origin::Mapped,
        )))))
    }
    /// Whether the memory is somebody else's.
    #[inline(always)]
    pub fn is_foreign(&self) -> bool {
        match self.origin {
            Origin::Foreign(_) => true,
            #[cfg(feature = "std")]
            Origin::Immutable(_) => true,
            _ => false,
        }
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
    /// Gives the memory of a block back to where it came from.
    ///
    /// # Safety
    /// Nobody uses the block any more (STORAGE2).
    pub unsafe fn free(header: NonNull<Header>) {
        // SAFETY: alive until here, ours alone by the caller's promise; each arm undoes the
        // constructor of its origin.
        unsafe {
            match header.as_ref().origin {
                #[cfg(all(feature = "std", target_os = "linux"))]
                Origin::Mapped => {
                    let header = Box::from_raw(header.as_ptr());
                    super::mapping::unmap(header.data, header.capacity);
                }
                // of foreign memory, the owner has gone before
                #[cfg(flex_exact)]
                _ => {
                    let header = Box::from_raw(header.as_ptr());
                    if header.capacity > 0 {
                        dealloc(
                            header.data.as_ptr(),
                            Header::layout(header.capacity).unwrap_unchecked(),
                        );
                    }
                }
                #[cfg(not(flex_exact))]
                _ => dealloc(
                    header.as_ptr().cast(),
                    Header::layout(header.as_ref().capacity).unwrap_unchecked(),
                ),
            }
        }
    }
}
