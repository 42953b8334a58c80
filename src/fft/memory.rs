//! Working memory of transforms.

use crate::error::{Error, Result};
use crate::storage::Bytes;
use bytemuck::Pod;
use core::marker::PhantomData;

/// Numbers with unspecified values, from the pool of all memory.
pub(super) struct Work<T> {
    bytes: Bytes,
    _numbers: PhantomData<T>,
}

impl<T: Pod> Work<T> {
    /// `len` of them.
    ///
    /// Errors where there is no such memory.
    pub fn new(len: usize) -> Result<Work<T>> {
        let bytes = len.checked_mul(size_of::<T>());
        let bytes = bytes.ok_or_else(|| Error::memory::<T>(len))?;
        Ok(Work {
            bytes: Bytes::new(bytes)?,
            _numbers: PhantomData,
        })
    }
    /// The first one.
    pub fn as_mut_ptr(&mut self) -> *mut T {
        // nobody else has a handle, so that it may be written (STORAGE3)
        self.bytes.as_ptr().cast_mut().cast()
    }
    /// All of them.
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        let len = self.bytes.len() / size_of::<T>();
        if len == 0 {
            return &mut [];
        }
        // SAFETY: STORAGE1, STORAGE4, and any bits are a number; nobody else has a handle
        // (STORAGE3).
        unsafe { core::slice::from_raw_parts_mut(self.as_mut_ptr(), len) }
    }
}

/// Where lines are read and written, for pieces of work that each have lines of their own. Pointers,
/// since both may be the same memory.
pub(super) struct Ends<T> {
    pub x: *const T,
    pub y: *mut T,
}
// SAFETY: whoever uses the pointers sees to it that nobody else writes there.
unsafe impl<T: Send + Sync> Sync for Ends<T> {}
