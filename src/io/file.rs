//! Opens files to be read or mapped, and replaces them as a whole.

use super::source::{Content, Source};
use crate::error::{Error, Result};
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Opens a file to load from; maps it if asked to and possible.
pub(super) fn open(path: &Path, mmap: bool) -> Result<Source<'static>> {
    let content = || -> io::Result<Content<'static>> {
        let file = File::open(path)?;
        let about = file.metadata()?;
        if !about.is_file() {
            // a pipe or a device has no length and is read once; reading a folder is an error
            return Ok(Content::stream(file, None));
        }
        if mmap && about.len() > 0 {
            // SAFETY: nobody writes to the file while it is mapped: nothing here can see to that,
            // so it is asked of whoever loads it mapped (the module's documentation).
            let map = unsafe { memmap2::Mmap::map(&file) };
            if let Ok(map) = map {
                return Ok(Content::Mapped(Arc::new(map)));
            }
        }
        Ok(Content::File(file, about.len()))
    };
    let content = content().map_err(|e| Error::io(path, &e))?;
    Ok(Source {
        name: path.as_os_str().to_owned().into(),
        content,
    })
}
