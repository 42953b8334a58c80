//! Where tensors are read from. Whether one is borrowed or copied is decided here.

use super::raw::{fill, part};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::layout::Layout;
use crate::storage::Bytes;
use crate::tensor::Tensor;
use alloc::borrow::Cow;
use alloc::string::String;

/// Axes of a tensor in a file, at most: more are a mistake, or meant to keep us busy.
const MOST_AXES: usize = 1024;

/// Bytes of a file, with the name that errors give.
pub(super) struct Source<'a> {
    pub name: String,
    pub content: Content<'a>,
}
pub(super) enum Content<'a> {
    /// Memory to copy from.
    Slice(Cow<'a, [u8]>),
    /// Memory that is always there: tensors stay in it.
    Static(&'static [u8]),
    /// A mapped file: tensors stay in it.
    #[cfg(feature = "std")]
    Mapped(std::sync::Arc<memmap2::Mmap>),
    /// A file to read from, and its length.
    #[cfg(feature = "std")]
    File(std::fs::File, u64),
}

impl Source<'_> {
    /// An error about the content.
    pub fn wrong(&self, message: impl Into<Cow<'static, str>>) -> Error {
        Error::file(self.name.as_str(), message)
    }
    fn memory(&self) -> Option<&[u8]> {
        match &self.content {
            Content::Slice(bytes) => Some(bytes),
            Content::Static(bytes) => Some(bytes),
            #[cfg(feature = "std")]
            Content::Mapped(map) => Some(map),
            #[cfg(feature = "std")]
            Content::File(..) => None,
        }
    }
    pub fn len(&self) -> u64 {
        match &self.content {
            #[cfg(feature = "std")]
            Content::File(_, len) => *len,
            _ => self.memory().unwrap_or_default().len() as u64,
        }
    }
    /// Fills `out` with what stands at `start`.
    pub fn read(&mut self, start: u64, out: &mut [u8]) -> Result<()> {
        if start.checked_add(out.len() as u64).is_none_or(|end| end > self.len()) {
            return Err(self.wrong(message!("cut short: {} bytes, {} are expected", self.len(), start as u128 + out.len() as u128)));
        }
        #[cfg(feature = "std")]
        if let Content::File(file, _) = &mut self.content {
            use std::io::{Read, Seek, SeekFrom};
            let read = file.seek(SeekFrom::Start(start)).and_then(|_| file.read_exact(out));
            return read.map_err(|e| super::file::refused(&self.name, &e));
        }
        let start = start as usize; // no longer than the memory
        out.copy_from_slice(&self.memory().unwrap_or_default()[start..start + out.len()]);
        Ok(())
    }
    /// The tensor that stands at `start`, row-major; `big` says in which byte order. Errors where it doesn't end within the source.
    pub fn tensor(&mut self, start: u64, shape: &[usize], dtype: DType, big: bool) -> Result<Tensor> {
        let Some(len) = byte_len(shape, dtype) else {
            return Err(self.wrong(message!("a shape of {} axes of {dtype} overflows", shape.len())));
        };
        if start.checked_add(len).is_none_or(|end| end > self.len()) {
            let there = self.len().saturating_sub(start);
            return Err(self.wrong(message!("cut short: shape {shape:?} of {dtype} takes {len} bytes, {there} are there")));
        }
        let in_order = big == cfg!(target_endian = "big") || part(dtype) == 1;
        if in_order
            && len > 0
            && let Some(bytes) = self.borrow(start as usize, len as usize)
            && (bytes.as_ptr() as usize).is_multiple_of(dtype.align())
        {
            return Tensor::from_parts(bytes, Layout::contiguous(shape)?, dtype);
        }
        fill(shape, dtype, big, |out| self.read(start, out))
    }
    /// A range inside of the source, as memory that tensors may keep.
    fn borrow(&self, start: usize, len: usize) -> Option<Bytes> {
        match &self.content {
            Content::Static(bytes) => Some(Bytes::from_static(&bytes[start..start + len])),
            #[cfg(feature = "std")]
            Content::Mapped(map) => {
                let bytes = &map[start..start + len];
                // SAFETY: the mapping lives as long as its owner (S5), which the handle keeps; that nobody writes to the file
                // meanwhile is asked of whoever loads it mapped (the module's documentation).
                Some(unsafe { Bytes::foreign(bytes.as_ptr(), len, alloc::boxed::Box::new(map.clone())) }.lasting())
            }
            _ => None,
        }
    }
}

/// Bytes of a tensor; `None` where that or a stride overflows, or the axes are too many.
pub(super) fn byte_len(shape: &[usize], dtype: DType) -> Option<u64> {
    if shape.len() > MOST_AXES {
        return None;
    }
    let len = Layout::contiguous(shape).ok()?.len();
    len.checked_mul(dtype.size()).filter(|n| isize::try_from(*n).is_ok()).map(|n| n as u64)
}
