//! Lists whose length depends on the caller's data: a lack of memory for one is an error, not an
//! abort.

use crate::error::{Error, Result};
use alloc::string::String;
use alloc::vec::Vec;

/// Reserves capacity for `more` items.
#[inline]
pub(crate) fn reserve<T>(list: &mut Vec<T>, more: usize) -> Result<()> {
    list.try_reserve(more)
        .map_err(|_| Error::memory::<T>(list.len().saturating_add(more)))
}

/// An empty list with capacity for `len` items.
pub(crate) fn with_capacity<T>(len: usize) -> Result<Vec<T>> {
    let mut list = Vec::new();
    list.try_reserve_exact(len)
        .map_err(|_| Error::memory::<T>(len))?;
    Ok(list)
}

/// Errors if there is no memory for `len` items, which the allocator next hands out again.
pub(crate) fn room<T>(len: usize) -> Result<()> {
    // or the compiler may leave out an allocation that nothing uses
    with_capacity::<T>(len).map(|list| drop(core::hint::black_box(list)))
}

/// A list of `len` copies of a value.
pub(crate) fn filled<T: Clone>(value: T, len: usize) -> Result<Vec<T>> {
    let mut list = with_capacity(len)?;
    list.resize(len, value);
    Ok(list)
}

/// Appends an item.
#[inline]
pub fn push<T>(list: &mut Vec<T>, item: T) -> Result<()> {
    if list.len() == list.capacity() {
        reserve(list, 1)?;
    }
    list.push(item);
    Ok(())
}

/// Collects all items, or returns the first error.
pub fn collect<T, E: From<Error>>(
    items: impl Iterator<Item = core::result::Result<T, E>>,
) -> core::result::Result<Vec<T>, E> {
    let mut list = with_capacity(items.size_hint().0)?;
    for item in items {
        push(&mut list, item?)?;
    }
    Ok(list)
}

/// A copy of a slice.
pub(crate) fn copy<T: Copy>(items: &[T]) -> Result<Vec<T>> {
    let mut list = with_capacity(items.len())?;
    list.extend_from_slice(items);
    Ok(list)
}

pub(crate) fn append<T: Copy>(list: &mut Vec<T>, items: &[T]) -> Result<()> {
    reserve(list, items.len())?;
    list.extend_from_slice(items);
    Ok(())
}

pub(crate) fn append_text(text: &mut String, more: &str) -> Result<()> {
    text.try_reserve(more.len())
        .map_err(|_| Error::memory::<u8>(text.len() + more.len()))?;
    text.push_str(more);
    Ok(())
}
