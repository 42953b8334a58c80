//! Lists whose length follows from the caller's data: memory for them may be refused, and then that
//! is an error, not the end of the process.

use crate::error::{Error, Result};
use alloc::string::String;
use alloc::vec::Vec;

/// Room for `more` items behind those that are there.
#[inline]
pub(crate) fn reserve<T>(list: &mut Vec<T>, more: usize) -> Result<()> {
    list.try_reserve(more)
        .map_err(|_| Error::memory::<T>(list.len().saturating_add(more)))
}

/// A list with room for `len` items, and no more.
pub(crate) fn with_capacity<T>(len: usize) -> Result<Vec<T>> {
    let mut list = Vec::new();
    list.try_reserve_exact(len)
        .map_err(|_| Error::memory::<T>(len))?;
    Ok(list)
}

/// `len` times the same value.
pub(crate) fn filled<T: Clone>(value: T, len: usize) -> Result<Vec<T>> {
    let mut list = with_capacity(len)?;
    list.resize(len, value);
    Ok(list)
}

#[inline]
pub(crate) fn push<T>(list: &mut Vec<T>, item: T) -> Result<()> {
    if list.len() == list.capacity() {
        reserve(list, 1)?;
    }
    list.push(item);
    Ok(())
}

/// All items, or the first error.
pub(crate) fn collect<T, E: From<Error>>(
    items: impl Iterator<Item = core::result::Result<T, E>>,
) -> core::result::Result<Vec<T>, E> {
    let mut list = with_capacity(items.size_hint().0)?;
    for item in items {
        push(&mut list, item?)?;
    }
    Ok(list)
}

/// A copy of the items.
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
