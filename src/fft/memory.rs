//! Scratch memory of transforms.

use crate::error::{Error, Result};
use crate::storage::Bytes;
use bytemuck::Pod;
use core::marker::PhantomData;

/// Scratch from the memory pool, with unspecified values.
pub(super) struct Work<T> {
    bytes: Bytes,
    _numbers: PhantomData<T>,
}

impl<T: Pod> Work<T> {
    /// Scratch for `len` scalars.
    ///
    /// Errors if there is no memory for it.
    pub fn new(len: usize) -> Result<Work<T>> {
        let bytes = len.checked_mul(size_of::<T>());
        let bytes = bytes.ok_or_else(|| Error::memory::<T>(len))?;
        Ok(Work {
            bytes: Bytes::new(bytes)?,
            _numbers: PhantomData,
        })
    }
    /// The pointer to the first scalar.
    pub fn as_mut_ptr(&mut self) -> *mut T {
        // writable, since nobody else has a handle (STORAGE3)
        self.bytes.as_ptr().cast_mut().cast()
    }
    /// The scratch as a slice.
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        let len = self.bytes.len() / size_of::<T>();
        if len == 0 {
            return &mut [];
        }
        // SAFETY: STORAGE1, STORAGE4; any bits are a float; nobody else has a handle (STORAGE3).
        unsafe { core::slice::from_raw_parts_mut(self.as_mut_ptr(), len) }
    }
}

/// The start of the input and output of many lines, shared by units of work on separate lines.
/// Pointers, since both may be the same memory.
pub(super) struct LinePointers<T> {
    pub x: *const T,
    pub y: *mut T,
}
// SAFETY: users of the pointers make sure that nobody else writes there.
unsafe impl<T: Send + Sync> Sync for LinePointers<T> {}
