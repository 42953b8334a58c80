//! Without the standard library there is no pool: each block is an allocation.

use super::block::BlockHeader;
use crate::error::{Error, Result};
use core::ptr::NonNull;

/// A block for `len` bytes, and whether it is zeroed.
pub(super) fn get(len: usize) -> Result<(NonNull<BlockHeader>, bool)> {
    BlockHeader::heap(len)
        .map(|block| (block, true))
        .ok_or(out_of_memory(len))
}

/// Errors if a block of `len` bytes can never be allocated.
pub(crate) fn expect_memory(len: usize) -> Result<()> {
    match isize::try_from(len) {
        Ok(_) => Ok(()),
        Err(_) => Err(out_of_memory(len)),
    }
}

fn out_of_memory(len: usize) -> Error {
    Error::Memory {
        bytes: len as u128,
        limit: 0,
    }
}

/// Errors if `len` bytes can never be allocated.
pub(crate) fn expect_room(len: usize) -> Result<()> {
    match len <= isize::MAX as usize {
        true => Ok(()),
        false => Err(Error::memory::<u8>(len)),
    }
}

/// A block without data, for the header of foreign memory.
pub(super) fn header() -> NonNull<BlockHeader> {
    BlockHeader::heap(0).unwrap_or_else(|| {
        alloc::alloc::handle_alloc_error(alloc::alloc::Layout::new::<BlockHeader>())
    })
}

/// Frees a block that `get(len)` returned.
///
/// # Safety
/// Nobody uses the block any more (STORAGE2).
pub(super) unsafe fn put(block: NonNull<BlockHeader>, _len: usize) {
    // SAFETY: nobody uses the block, by the caller's promise, which is what `free` asks for.
    unsafe { BlockHeader::free(block) }
}
