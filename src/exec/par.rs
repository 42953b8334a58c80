//! Threads: the only file that knows them, and the only one with thresholds. Work is split by its cost, never by a constant
//! of an operation.
//!
//! - [`chunks`]: `n` pieces whose bounds the caller fixed, so that a reduction's bits don't depend on the threads.
//! - [`ranges`]: `n` items in pieces of any size, for work whose bits don't depend on where it is cut.

use core::ops::Range;

/// What one item of work costs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    /// Bytes read and written.
    pub bytes: usize,
    /// Arithmetic operations, as one lane of a vector would do them.
    pub flops: usize,
}

/// Threads that an operation started on this thread may use.
pub fn threads() -> usize {
    1
}

/// Calls `f(0), .., f(n - 1)`, each once, in any order, on any thread. `cost` is that of one call.
pub fn chunks(n: usize, _cost: Cost, f: impl Fn(usize) + Sync) {
    for k in 0..n {
        f(k)
    }
}

/// Calls `f` with ranges that partition `0..n`; all but the last end on a multiple of `unit`. `cost` is that of one item.
pub fn ranges(n: usize, _unit: usize, _cost: Cost, f: impl Fn(Range<usize>) + Sync) {
    if n > 0 {
        f(0..n)
    }
}

/// A mutable slice that several pieces of work write disjoint parts of.
pub struct Out<'a, T> {
    ptr: *mut T,
    len: usize,
    _slice: core::marker::PhantomData<&'a mut [T]>,
}
// SAFETY: parts are handed out by `part`, whose caller promises that no two live ones overlap (O1).
unsafe impl<T: Send> Sync for Out<'_, T> {}
impl<'a, T> Out<'a, T> {
    /// The whole slice.
    pub fn new(s: &'a mut [T]) -> Self {
        Out { ptr: s.as_mut_ptr(), len: s.len(), _slice: core::marker::PhantomData }
    }
    /// One part.
    ///
    /// # Safety
    /// O1: no two live parts overlap.
    #[allow(clippy::mut_from_ref)]
    pub unsafe fn part(&self, r: Range<usize>) -> &mut [T] {
        assert!(r.start <= r.end && r.end <= self.len);
        // SAFETY: inside the slice by the line above; exclusive by O1.
        unsafe { core::slice::from_raw_parts_mut(self.ptr.add(r.start), r.end - r.start) }
    }
}
