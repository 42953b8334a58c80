//! The handle to the memory that tensors share.

use super::atomic::{AtomicUsize, Ordering};
use super::block::{BlockHeader, Origin};
use super::pool;
use crate::error::Result;
use alloc::boxed::Box;
use core::any::Any;
use core::fmt;
use core::ptr::NonNull;

/// Memory that tensors share: owned (aligned, from the pool; or a vector's), static (weights in
/// flash) or foreign (a mapped file, a buffer of Python's). A clone increments a count. Owned memory
/// may be written while there is a single handle to it, other memory never.
///
/// ```
/// use flex::Bytes;
/// let mut a = Bytes::zeroed(16)?;
/// assert!(a.get_mut().is_some() && a.is_owned());
/// assert!(a.len() == 16 && !a.is_empty() && !a.as_ptr().is_null());
/// let b = a.clone();
/// assert!(a.get_mut().is_none() && a.same(&b));
/// # Ok::<(), flex::Error>(())
/// ```
pub struct Bytes {
    data: NonNull<u8>,
    len: usize,
    /// The block's header; `None` for static memory, which needs no count.
    header: Option<NonNull<BlockHeader>>,
}

// SAFETY: the count is atomic; memory is only read through a shared handle, and written through a
// unique one (STORAGE3). Owners of foreign memory are Send and Sync.
unsafe impl Send for Bytes {}
// SAFETY: a shared handle reads, counts and clones; all of that may happen on many threads at once
// (STORAGE3).
unsafe impl Sync for Bytes {}

// A panic leaves memory initialised, and its count right: what it interrupts may leave other values
// there, as after a panic in a loop over a slice.
impl core::panic::UnwindSafe for Bytes {}
impl core::panic::RefUnwindSafe for Bytes {}

impl Bytes {
    /// Owned memory of `len` bytes with unspecified contents, aligned to [`ALIGN`](super::ALIGN).
    ///
    /// Errors with [`Error::Memory`](crate::Error::Memory) if it is not available.
    ///
    /// ```
    /// let x = flex::Bytes::new(100)?;
    /// assert!(x.len() == 100 && x.is_owned() && !x.is_empty());
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn new(len: usize) -> Result<Bytes> {
        Bytes::owned(len).map(|(bytes, _)| bytes)
    }
    /// The same, filled with zeros; errors like [`new`](Bytes::new).
    ///
    /// ```
    /// let x = flex::Bytes::zeroed(4)?;
    /// // SAFETY: the memory is initialised, and `x` keeps it alive.
    /// assert_eq!(unsafe { core::slice::from_raw_parts(x.as_ptr(), x.len()) }, [0; 4]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn zeroed(len: usize) -> Result<Bytes> {
        let (bytes, zeroed) = Bytes::owned(len)?;
        if !zeroed {
            // SAFETY: `len` bytes of a block just made, which nobody else knows (STORAGE3,
            // STORAGE4).
            unsafe { bytes.data.write_bytes(0, len) }
        }
        Ok(bytes)
    }
    /// Owned memory, and whether it is zeroed already; errors like [`new`](Bytes::new).
    pub(crate) fn owned(len: usize) -> Result<(Bytes, bool)> {
        let (header, zeroed) = pool::get(len)?;
        // SAFETY: alive, for the handle made here holds its count (STORAGE2).
        let data = unsafe { header.as_ref().data };
        Ok((
            Bytes {
                data,
                len,
                header: Some(header),
            },
            zeroed,
        ))
    }
    /// Static memory, such as weights in flash. Nothing is allocated.
    ///
    /// ```
    /// static WEIGHTS: [u8; 4] = [1, 2, 3, 4];
    /// let x = flex::Bytes::from_static(&WEIGHTS);
    /// assert!(!x.is_owned() && core::ptr::eq(x.as_ptr(), WEIGHTS.as_ptr()));
    /// ```
    pub const fn from_static(bytes: &'static [u8]) -> Bytes {
        // SAFETY: a reference is not null, nor is the pointer made of it.
        let data = unsafe { NonNull::new_unchecked(bytes.as_ptr().cast_mut()) };
        Bytes {
            data,
            len: bytes.len(),
            header: None,
        }
    }
    /// Foreign memory, kept alive by `owner`, which is dropped with the last handle, on any thread.
    ///
    /// # Safety
    /// As long as `owner` lives, `len` initialised bytes from `ptr` on are valid for reads from any
    /// thread (STORAGE5), and nobody writes to them while they are read.
    ///
    /// ```
    /// use flex::Bytes;
    /// let owner = vec![1u8, 2, 3];
    /// let (ptr, len) = (owner.as_ptr(), owner.len());
    /// // SAFETY: the vector is not written to, and the handle keeps it alive.
    /// let mut x = unsafe { Bytes::foreign(ptr, len, Box::new(owner)) };
    /// assert!(x.len() == 3 && !x.is_owned() && x.get_mut().is_none());
    /// ```
    pub unsafe fn foreign(ptr: *const u8, len: usize, owner: Box<dyn Any + Send + Sync>) -> Bytes {
        Bytes::of_owner(ptr.cast_mut(), len, Origin::Foreign(owner))
    }
    /// Memory of `owner`, which is handed over: written to like owned memory, and freed by dropping
    /// `owner` with the last handle.
    ///
    /// # Safety
    /// Until `owner` is dropped, `len` initialised bytes from `ptr` on are valid for reads and writes
    /// from any thread, and nobody else uses them; any bytes may be written there.
    pub(crate) unsafe fn adopted(
        ptr: *mut u8,
        len: usize,
        owner: Box<dyn Any + Send + Sync>,
    ) -> Bytes {
        Bytes::of_owner(ptr, len, Origin::Adopted(owner))
    }
    /// Foreign memory like that of [`foreign`](Bytes::foreign), to which nobody writes as long as
    /// `owner` lives, not even `owner`. What is derived from its contents may then be kept: weights in
    /// it are packed once, not for each product.
    ///
    /// # Safety
    /// As long as `owner` lives, `len` initialised bytes from `ptr` on are valid for reads from any
    /// thread (STORAGE5), and nobody writes to them.
    ///
    /// ```
    /// use flex::Bytes;
    /// let owner = vec![1u8, 2, 3];
    /// let (ptr, len) = (owner.as_ptr(), owner.len());
    /// // SAFETY: the vector is never written to, and the handle keeps it alive.
    /// let x = unsafe { Bytes::constant(ptr, len, Box::new(owner)) };
    /// assert!(x.len() == 3 && !x.is_owned() && !x.is_unique());
    /// ```
    pub unsafe fn constant(ptr: *const u8, len: usize, owner: Box<dyn Any + Send + Sync>) -> Bytes {
        Bytes::of_owner(ptr.cast_mut(), len, Origin::Immutable(owner))
    }
    fn of_owner(ptr: *mut u8, len: usize, origin: Origin) -> Bytes {
        let data = NonNull::new(ptr).unwrap_or(NonNull::dangling());
        // a block of the pool for the header alone: allocating an aligned header would take as long
        // as all the rest
        let mut header = pool::header();
        // SAFETY: a block just made, which nobody else knows (STORAGE2).
        unsafe { header.as_mut().origin = origin }
        Bytes {
            data,
            len,
            header: Some(header),
        }
    }
    /// The owner of adopted memory, if it is an `O` and there is no other handle.
    pub(crate) fn into_owner<O: Any>(self) -> core::result::Result<O, Bytes> {
        let alone = self.header().is_some_and(|h| {
            h.count.load(Ordering::Acquire) == 1
                && matches!(&h.origin, Origin::Adopted(owner) if owner.is::<O>())
        });
        let Some(header) = self.header.filter(|_| alone) else {
            return Err(self);
        };
        core::mem::forget(self);
        // SAFETY: the only handle, which nobody will drop (STORAGE2); the pool handed out the block
        // for no bytes.
        let origin = unsafe {
            #[cfg(feature = "std")]
            header.as_ref().drop_packed();
            let origin = core::mem::replace(&mut (*header.as_ptr()).origin, Origin::Heap);
            pool::put(header, 0);
            origin
        };
        match origin {
            Origin::Adopted(owner) => match owner.downcast() {
                Ok(owner) => Ok(*owner),
                Err(_) => unreachable!("its type was checked"),
            },
            _ => unreachable!("its origin was checked"),
        }
    }
    /// The slot of the packed-weight cache; `None` for memory that must not have one (PACKED1).
    #[cfg(feature = "std")]
    pub(super) fn packed_cache(
        &self,
    ) -> Option<&core::sync::atomic::AtomicPtr<super::packed::PackedCache>> {
        self.header()
            .filter(|h| !matches!(h.origin, Origin::Foreign(_)))
            .map(|h| &h.packed)
    }
    /// Length in bytes.
    #[inline(always)]
    pub const fn len(&self) -> usize {
        self.len
    }
    /// Whether it has no bytes.
    #[inline(always)]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }
    /// The first byte, valid for reads of `len` bytes.
    #[inline(always)]
    pub const fn as_ptr(&self) -> *const u8 {
        self.data.as_ptr()
    }
    /// The first byte, valid for writes of `len` bytes while the borrow lasts; `None` if the memory
    /// is shared, static or foreign.
    ///
    /// ```
    /// let mut x = flex::Bytes::zeroed(2)?;
    /// // SAFETY: two bytes, valid for writes while `x` is borrowed.
    /// unsafe { x.get_mut().unwrap().write(7) };
    /// let other = x.clone();
    /// assert!(x.get_mut().is_none());
    /// # drop(other);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[inline]
    pub fn get_mut(&mut self) -> Option<*mut u8> {
        let header = self.owned_header()?;
        if header.count.load(Ordering::Acquire) != 1 {
            return None;
        }
        #[cfg(feature = "std")]
        header.drop_packed();
        Some(self.data.as_ptr())
    }
    /// Whether the memory is owned, neither static nor foreign.
    #[inline]
    pub fn is_owned(&self) -> bool {
        self.owned_header().is_some()
    }
    /// Whether it is owned memory without another handle, so that a write happens in place.
    ///
    /// ```
    /// let x = flex::Bytes::zeroed(2)?;
    /// assert!(x.is_unique());
    /// let other = x.clone();
    /// assert!(!x.is_unique() && !other.is_unique());
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[inline]
    pub fn is_unique(&self) -> bool {
        self.owned_header()
            .is_some_and(|h| h.count.load(Ordering::Acquire) == 1)
    }
    /// Whether there may be another handle to it; for static memory always true.
    #[cfg(feature = "std")]
    #[doc(hidden)]
    pub fn is_shared(&self) -> bool {
        self.header()
            .is_none_or(|h| h.count.load(Ordering::Relaxed) > 1)
    }
    /// Whether somebody else may write to it at any time, its owner (STORAGE5) or a borrower
    /// (BORROW1), so that computations with it must not be deferred.
    #[cfg(feature = "std")]
    pub(crate) fn may_change(&self) -> bool {
        let foreign = |h: &BlockHeader| matches!(h.origin, Origin::Foreign(_));
        self.header().is_some_and(foreign) || self.is_lent()
    }
    /// Whether a write found the contents shared and copied them here. If that happened once it is
    /// likely to happen again: in `x = t[k - 1]; t[k] = f(x)` the view of each iteration is alive
    /// when the iteration writes. So a small view of such memory becomes a copy (`Tensor::view`),
    /// and the next write finds the memory unshared: a loop of n writes copies the whole once, not
    /// n times.
    #[inline(always)]
    pub(crate) fn is_contended(&self) -> bool {
        self.header()
            .is_some_and(|h| h.contended.load(Ordering::Relaxed))
    }
    pub(crate) fn set_contended(&self) {
        if let Some(h) = self.header() {
            h.contended.store(true, Ordering::Relaxed)
        }
    }
    /// Whether both are handles to the same memory.
    ///
    /// ```
    /// let x = flex::Bytes::new(4)?;
    /// assert!(x.same(&x.clone()) && !x.same(&flex::Bytes::new(4)?));
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn same(&self, other: &Bytes) -> bool {
        self.data == other.data && self.len == other.len && self.header == other.header
    }
    #[inline(always)]
    fn header(&self) -> Option<&BlockHeader> {
        // SAFETY: this handle keeps it alive (STORAGE2).
        self.header.map(|h| unsafe { h.as_ref() })
    }
    #[inline(always)]
    fn owned_header(&self) -> Option<&BlockHeader> {
        self.header().filter(|h| !h.is_foreign())
    }
}

impl Clone for Bytes {
    #[inline]
    fn clone(&self) -> Bytes {
        if let Some(header) = self.header() {
            // relaxed: another thread gets the clone by some other synchronisation
            if header.count.fetch_add(1, Ordering::Relaxed) > isize::MAX as usize {
                overflow(&header.count);
            }
        }
        Bytes { ..*self }
    }
}

/// Only a leak makes so many handles; an overflow would free memory in use (STORAGE2).
#[cold]
fn overflow(count: &AtomicUsize) -> ! {
    count.fetch_sub(1, Ordering::Relaxed);
    panic!("too many handles to one block of memory")
}

impl Drop for Bytes {
    #[inline]
    fn drop(&mut self) {
        let Some(pointer) = self.header else { return };
        // SAFETY: this handle's share of the count keeps the header alive until it is given up
        // below (STORAGE2).
        let count = unsafe { &pointer.as_ref().count };
        // The only handle needs no decrement. Otherwise release order puts our use before the
        // block's end, and the last load, which reads the end of all decrements, puts that of the
        // others before it: a fence would, too, but ThreadSanitizer knows none.
        if count.load(Ordering::Acquire) != 1 {
            if count.fetch_sub(1, Ordering::Release) != 1 {
                return;
            }
            count.load(Ordering::Acquire);
        }
        // SAFETY: this was the last handle (STORAGE2); the pool handed out the block for this
        // length, or for none if the memory is foreign.
        unsafe {
            #[cfg(feature = "std")]
            pointer.as_ref().drop_packed();
            if pointer.as_ref().has_owner() {
                // dropping the owner may run arbitrary code: the block is given back first
                let owner = core::mem::replace(&mut (*pointer.as_ptr()).origin, Origin::Heap);
                pool::put(pointer, 0);
                drop(owner);
            } else {
                pool::put(pointer, self.len);
            }
        }
    }
}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.header() {
            None => "static",
            Some(header) if header.is_foreign() => "foreign",
            Some(_) => "owned",
        };
        write!(f, "Bytes({kind}, {} bytes)", self.len)
    }
}
