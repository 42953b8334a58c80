//! The sources that tensors are read from. The source decides whether a tensor is borrowed or
//! copied.

use super::raw::{fill, part};
use crate::dtype::DType;
use crate::error::{Error, Excerpt, Result};
use crate::layout::Layout;
use crate::storage::Bytes;
use crate::tensor::Tensor;
use alloc::borrow::Cow;

/// The most axes of a tensor in a file: more are a mistake or an attack.
pub(crate) const MAX_AXES: usize = 1024;

/// The bytes that are read from a file at once.
#[cfg(feature = "std")]
const PIECE: usize = 64 << 20;

#[cfg(feature = "std")]
type Name = std::path::PathBuf;
#[cfg(not(feature = "std"))]
type Name = alloc::string::String;

/// The bytes of a file, with the name for errors.
pub(crate) struct FileSource<'a> {
    pub name: Name,
    pub content: Content<'a>,
}
pub(crate) enum Content<'a> {
    /// Memory to copy from.
    Slice(&'a [u8]),
    /// Static memory: tensors stay in it.
    Static(&'static [u8]),
    /// A mapped file: tensors stay in it.
    #[cfg(feature = "std")]
    Mapped(std::sync::Arc<memmap2::Mmap>),
    /// A file to read, and its length.
    #[cfg(feature = "std")]
    File(std::fs::File, u64),
    /// A stream, read once.
    #[cfg(feature = "std")]
    Stream(ByteStream<'a>),
}
/// A stream of bytes.
#[cfg(feature = "std")]
pub(crate) struct ByteStream<'a> {
    from: alloc::boxed::Box<dyn std::io::Read + 'a>,
    /// The number of bytes read.
    at: u64,
    len: Option<u64>,
}

#[cfg(feature = "std")]
impl<'a> Content<'a> {
    /// A stream, and its length if known.
    pub fn stream(from: impl std::io::Read + 'a, len: Option<u64>) -> Content<'a> {
        Content::Stream(ByteStream {
            from: alloc::boxed::Box::new(from),
            at: 0,
            len,
        })
    }
}

impl FileSource<'_> {
    /// An error about the content.
    pub fn wrong(&self, message: impl Into<Cow<'static, str>>) -> Error {
        #[cfg(feature = "std")]
        let name = self.name.to_string_lossy();
        #[cfg(not(feature = "std"))]
        let name = self.name.as_str();
        Error::file(name, message)
    }
    fn memory(&self) -> Option<&[u8]> {
        match &self.content {
            Content::Slice(bytes) => Some(bytes),
            Content::Static(bytes) => Some(bytes),
            #[cfg(feature = "std")]
            Content::Mapped(map) => Some(map),
            #[cfg(feature = "std")]
            Content::File(..) | Content::Stream(_) => None,
        }
    }
    /// The length, which most streams don't know.
    pub fn len(&self) -> Option<u64> {
        match &self.content {
            #[cfg(feature = "std")]
            Content::File(_, len) => Some(*len),
            #[cfg(feature = "std")]
            Content::Stream(stream) => stream.len,
            _ => self.memory().map(|bytes| bytes.len() as u64),
        }
    }
    /// Errors if `len` bytes from `start` on exceed the source; streams without a length can't
    /// tell.
    fn expect(&self, start: u64, len: u64) -> Result<()> {
        match self.len() {
            Some(there) if start.checked_add(len).is_none_or(|end| end > there) => {
                Err(self.wrong(message!(
                    "truncated: {there} bytes, expected {}",
                    start as u128 + len as u128
                )))
            }
            _ => Ok(()),
        }
    }
    /// Fills `out` with the bytes at `start`; for a stream, with its next bytes.
    pub fn read(&mut self, start: u64, out: &mut [u8]) -> Result<()> {
        self.expect(start, out.len() as u64)?;
        #[cfg(feature = "std")]
        let read = match &mut self.content {
            Content::File(file, _) => {
                use std::io::{Read, Seek, SeekFrom};
                file.seek(SeekFrom::Start(start)).and_then(|_| {
                    out.chunks_mut(PIECE).try_for_each(|piece| {
                        crate::par::checkpoint();
                        file.read_exact(piece)
                    })
                })
            }
            Content::Stream(stream) => {
                debug_assert_eq!(start, stream.at);
                stream.at += out.len() as u64;
                stream.from.read_exact(out)
            }
            _ => {
                self.copy(start, out);
                Ok(())
            }
        };
        #[cfg(feature = "std")]
        return read.map_err(|e| match e.kind() {
            std::io::ErrorKind::UnexpectedEof => self.wrong(message!(
                "truncated: expected {} bytes at offset {start}",
                out.len()
            )),
            _ => Error::io(&self.name, &e),
        });
        #[cfg(not(feature = "std"))]
        {
            self.copy(start, out);
            Ok(())
        }
    }
    /// The bytes, if they are in memory.
    fn copy(&self, start: u64, out: &mut [u8]) {
        let start = start as usize; // bounded by the memory
        out.copy_from_slice(&self.memory().unwrap_or_default()[start..start + out.len()]);
    }
    /// Errors if anything follows the first `end` bytes.
    pub fn expect_end(&mut self, end: u64) -> Result<()> {
        if let Some(len) = self.len()
            && len != end
        {
            return Err(self.wrong(message!("{len} bytes of data, but the tensors take {end}")));
        }
        #[cfg(feature = "std")]
        if let Content::Stream(stream) = &mut self.content {
            // decompressors check the whole stream when they reach its end
            match std::io::Read::read(&mut stream.from, &mut [0]) {
                Ok(0) => {}
                Ok(_) => {
                    return Err(self.wrong(message!("data beyond the {end} bytes of its tensors")));
                }
                Err(e) => return Err(Error::io(&self.name, &e)),
            }
        }
        Ok(())
    }
    /// The row-major tensor at `start`, big-endian if `big`. Errors if it exceeds the source.
    pub fn tensor(
        &mut self,
        start: u64,
        shape: &[usize],
        dtype: DType,
        big: bool,
    ) -> Result<Tensor> {
        let Some(len) = byte_len(shape, dtype) else {
            return Err(self.wrong(message!(
                "a shape of {} axes of {dtype} overflows",
                shape.len()
            )));
        };
        if self.expect(start, len).is_err() {
            let there = self.len().unwrap_or_default().saturating_sub(start);
            let message = message!(
                "truncated: shape {} of {dtype} takes {len} bytes, the file has {there}",
                Excerpt(&shape)
            );
            return Err(self.wrong(message));
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
    /// A range of the source as memory that tensors may borrow.
    fn borrow(&self, start: usize, len: usize) -> Option<Bytes> {
        match &self.content {
            Content::Static(bytes) => Some(Bytes::from_static(&bytes[start..start + len])),
            #[cfg(feature = "std")]
            Content::Mapped(map) => {
                let bytes = &map[start..start + len];
                // SAFETY: the mapping lives as long as its owner (STORAGE5), which the handle
                // keeps; nobody writes to the file meanwhile (MAP1).
                Some(unsafe {
                    Bytes::constant(bytes.as_ptr(), len, alloc::boxed::Box::new(map.clone()))
                })
            }
            _ => None,
        }
    }
}

/// The bytes of a tensor; `None` if that or a stride overflows, or there are too many axes.
pub(crate) fn byte_len(shape: &[usize], dtype: DType) -> Option<u64> {
    if shape.len() > MAX_AXES {
        return None;
    }
    let len = Layout::contiguous(shape).ok()?.len();
    len.checked_mul(dtype.size())
        .filter(|n| isize::try_from(*n).is_ok())
        .map(|n| n as u64)
}
