//! Without the standard library there is no pool: each block is an allocation.

use super::block::BlockHeader;
use crate::error::{Error, Result};
use core::ptr::NonNull;

/// A block for `len` bytes, and whether it is zeroed.
pub(super) fn get(len: usize) -> Result<(NonNull<BlockHeader>, bool)> {
    BlockHeader::heap(len)
        .map(|block| (block, true))
        .ok_or(Error::Memory {
            bytes: len as u128,
            limit: 0,
        })
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
