//! Opens files to be read or mapped, and replaces them as a whole.

use super::source::{Content, FileSource};
use crate::error::{Error, Result};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

/// Opens a file to read.
pub(crate) fn open(path: &Path) -> Result<FileSource<'static>> {
    let content = || -> io::Result<Content<'static>> {
        let file = File::open(path)?;
        let about = file.metadata()?;
        if about.is_dir() {
            let _ = (&file).read(&mut [0])?; // the system's own error
        }
        // a pipe or a device has no length and is read once
        Ok(match about.is_file() {
            true => Content::File(file, about.len()),
            false => Content::stream(file, None),
        })
    };
    let content = content().map_err(|e| Error::io(path, &e))?;
    Ok(FileSource {
        name: path.as_os_str().to_owned().into(),
        content,
    })
}

/// Opens a file and maps it if that is possible; otherwise it is read.
///
/// # Safety
/// MAP1.
pub(crate) unsafe fn map(path: &Path) -> Result<FileSource<'static>> {
    let mut source = open(path)?;
    if let Content::File(file, 1..) = &source.content {
        // SAFETY: MAP1, by the caller's promise, is the requirement of a mapping.
        if let Ok(map) = unsafe { memmap2::Mmap::map(file) } {
            source.content = Content::Mapped(Arc::new(map));
        }
    }
    Ok(source)
}
