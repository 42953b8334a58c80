//! Scratch memory from the storage pool: reused from call to call, and an error if there is none.

use super::microkernel::Packed;
use crate::{
    error::{Error, Result},
    storage::Bytes,
};
use core::{
    marker::PhantomData,
    ops::{Deref, DerefMut},
};

/// The packed elements that `bytes` holds.
pub fn packed_slice<A: Packed>(bytes: &Bytes) -> &[A] {
    if bytes.is_empty() {
        return &[]; // the address may be unaligned
    }
    // SAFETY: STORAGE1 and STORAGE4; any bits are a value (LANE1), whose alignment divides that of
    // storage.
    unsafe { core::slice::from_raw_parts(bytes.as_ptr() as *const A, bytes.len() / size_of::<A>()) }
}

/// A slice of packed elements with unspecified values.
pub struct Scratch<A> {
    bytes: Bytes,
    _packed: PhantomData<A>,
}
impl<A: Packed> Scratch<A> {
    /// `len` elements.
    ///
    /// Errors if there is no memory for them: a saturated sum, `usize::MAX`, is always an error.
    pub fn new(len: usize) -> Result<Self> {
        if len == 0 {
            return Ok(Scratch {
                bytes: Bytes::from_static(&[]),
                _packed: PhantomData,
            });
        }
        let bytes = len.checked_mul(size_of::<A>());
        let bytes = bytes.ok_or(Error::Memory {
            bytes: len as u128 * size_of::<A>() as u128,
            limit: 0,
        })?;
        Ok(Scratch {
            bytes: Bytes::new(bytes)?,
            _packed: PhantomData,
        })
    }
    /// The bytes that hold them, to be kept: see [`packed_slice`].
    pub fn into_bytes(self) -> Bytes {
        self.bytes
    }
}
impl<A: Packed> Deref for Scratch<A> {
    type Target = [A];
    fn deref(&self) -> &[A] {
        packed_slice(&self.bytes)
    }
}
impl<A: Packed> DerefMut for Scratch<A> {
    fn deref_mut(&mut self) -> &mut [A] {
        let len = self.len();
        if len == 0 {
            return &mut [];
        }
        let ptr = self.bytes.as_ptr() as *mut A;
        // SAFETY: as for `packed_slice`; nobody else has a handle to these bytes (STORAGE3), and
        // `&mut self` is the only borrow.
        unsafe { core::slice::from_raw_parts_mut(ptr, len) }
    }
}
