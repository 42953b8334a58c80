//! Files: opened to be read or mapped, and replaced as a whole.

use super::source::{Content, Source};
use crate::error::{Error, Result};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The operating system's refusal.
pub(super) fn refused(name: &str, e: &io::Error) -> Error {
    Error::File { path: name.into(), message: e.to_string().into(), system: true }
}

/// A file to load from: mapped where asked for and possible.
pub(super) fn open(path: &Path, mmap: bool) -> Result<Source<'static>> {
    let name = path.display().to_string();
    let content = || -> io::Result<Content<'static>> {
        let mut file = File::open(path)?;
        let about = file.metadata()?;
        if !about.is_file() {
            // a pipe has no length and can't be read twice
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes)?;
            return Ok(Content::Slice(bytes.into()));
        }
        if mmap && about.len() > 0 {
            // SAFETY: nobody writes to the file while it is mapped: nothing here can see to that, so it is asked of whoever loads it
            // mapped (the module's documentation).
            let map = unsafe { memmap2::Mmap::map(&file) };
            if let Ok(map) = map {
                return Ok(Content::Mapped(Arc::new(map)));
            }
        }
        Ok(Content::File(file, about.len()))
    };
    let content = content().map_err(|e| refused(&name, &e))?;
    Ok(Source { name, content })
}

/// A file that is being written.
pub(super) struct Sink {
    name: String,
    file: BufWriter<File>,
}
impl Sink {
    pub fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes).map_err(|e| refused(&self.name, &e))
    }
}

/// Writes a file beside `path`, then renames it: a reader, or a mapping, of the old one never sees a half of the new one, and where
/// writing fails the old one stays.
pub(super) fn replace(path: &Path, write: impl FnOnce(&mut Sink) -> Result<()>) -> Result<()> {
    let name = path.display().to_string();
    let refuse = |e: io::Error| refused(&name, &e);
    // through links, to what they point to
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let special = fs::metadata(&target).is_ok_and(|about| !about.is_file());
    let beside = if special { target.clone() } else { sibling(&target) };
    let mut options = OpenOptions::new();
    let file = options.write(true).create_new(!special).open(&beside).map_err(refuse)?;
    let mut sink = Sink { name: name.clone(), file: BufWriter::with_capacity(1 << 20, file) };
    let written = write(&mut sink).and_then(|()| sink.file.flush().map_err(refuse));
    drop(sink.file.into_parts().0);
    if special {
        return written;
    }
    let done = written.and_then(|()| {
        if let Ok(old) = fs::metadata(&target) {
            fs::set_permissions(&beside, old.permissions()).map_err(refuse)?;
        }
        fs::rename(&beside, &target).map_err(refuse)
    });
    if done.is_err() {
        let _ = fs::remove_file(&beside);
    }
    done
}
/// A name in the same folder that nobody else uses.
fn sibling(path: &Path) -> PathBuf {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}.{}.part", std::process::id(), COUNT.fetch_add(1, Relaxed)))
}
