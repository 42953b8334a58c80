//! Working memory, from the pool of all memory: reused from call to call, and an error where there is none.

use super::element::Lane;
use crate::{
    error::{Error, Result},
    storage::Bytes,
};
use core::{
    marker::PhantomData,
    ops::{Deref, DerefMut},
};

/// A slice of lanes with unspecified values.
pub struct Scratch<A> {
    bytes: Bytes,
    len: usize,
    _lanes: PhantomData<A>,
}
impl<A: Lane> Scratch<A> {
    /// `len` lanes.
    ///
    /// Errors where there is no such memory: `usize::MAX` lanes, a saturated sum, are never there.
    pub fn new(len: usize) -> Result<Self> {
        if len == 0 {
            return Ok(Scratch { bytes: Bytes::from_static(&[]), len, _lanes: PhantomData });
        }
        let bytes = len.checked_mul(size_of::<A>());
        let bytes = bytes.ok_or(Error::Memory { bytes: len as u128 * size_of::<A>() as u128, limit: 0 })?;
        Ok(Scratch { bytes: Bytes::new(bytes)?, len, _lanes: PhantomData })
    }
}
impl<A: Lane> Deref for Scratch<A> {
    type Target = [A];
    fn deref(&self) -> &[A] {
        if self.len == 0 {
            return &[];
        }
        // SAFETY: storage S1 and S4; any bytes are a lane's (numbers alone are lanes), whose alignment storage's is a multiple of.
        unsafe { core::slice::from_raw_parts(self.bytes.as_ptr() as *const A, self.len) }
    }
}
impl<A: Lane> DerefMut for Scratch<A> {
    fn deref_mut(&mut self) -> &mut [A] {
        if self.len == 0 {
            return &mut [];
        }
        let ptr = self.bytes.as_ptr() as *mut A;
        // SAFETY: as above; nobody else has a handle to these bytes (storage S3), and `&mut self` is the only borrow.
        unsafe { core::slice::from_raw_parts_mut(ptr, self.len) }
    }
}
