//! How all files are written: as a new file next to the old one, which replaces it when it is
//! complete.
//!
//! - Readers and mappings of the old file never see a part of the new one; if writing fails, or the
//!   process is killed, the old one is unchanged.
//! - The new file has an unpredictable name, so that a file left by a killed process gets in
//!   nobody's way. Until it is complete only its owner can open it; then it gets the old file's
//!   permissions, or those of any new file.
//! - It is synced to disk before it is renamed.
//! - Symbolic links are followed, as by `open`, even to files that do not exist yet, and stay
//!   links. Devices and pipes are written directly.

use crate::error::{Error, Result};
use crate::fallible;
use alloc::vec::Vec;
use std::collections::hash_map::RandomState;
use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::hash::{BuildHasher, Hasher};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The size of the write buffer.
const BUFFER: usize = 64 << 10;
/// The longest chain of links followed: Linux's limit.
const LINKS: usize = 40;

/// A file being written; it is removed on drop unless it was committed.
pub struct Replacement {
    /// The caller's path, for errors.
    name: PathBuf,
    /// The path after following links.
    target: PathBuf,
    /// The temporary file's path; `None` if the target is written directly.
    beside: Option<PathBuf>,
    permissions: Option<Permissions>,
    /// The target's metadata before.
    old: Option<Metadata>,
    file: Option<File>,
    /// At most `BUFFER` bytes, which are allocated in advance.
    buffer: Vec<u8>,
}

impl Replacement {
    /// Creates an empty temporary file to replace `path`.
    pub fn create(path: &Path) -> Result<Replacement> {
        let buffer = fallible::with_capacity(BUFFER)?;
        let open = || -> io::Result<Replacement> {
            let target = follow(path)?;
            let old = match fs::metadata(&target) {
                Ok(old) => Some(old),
                Err(e) if e.kind() == io::ErrorKind::NotFound => None,
                Err(e) => return Err(e),
            };
            let mut new = Replacement {
                name: path.into(),
                target,
                beside: None,
                permissions: None,
                old,
                file: None,
                buffer,
            };
            if new.old.as_ref().is_some_and(|old| !old.is_file()) {
                new.file = Some(OpenOptions::new().write(true).open(&new.target)?);
            } else {
                new.create_beside()?;
            }
            Ok(new)
        };
        open().map_err(|e| Error::io(path, &e))
    }
    fn create_beside(&mut self) -> io::Result<()> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        if self.old.is_some() {
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        }
        let file = loop {
            let beside = self
                .target
                .with_file_name(format!(".flex-{:016x}.part", unpredictable()));
            match options.open(&beside) {
                Ok(file) => {
                    self.beside = Some(beside);
                    break self.file.insert(file);
                }
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(e) => return Err(e),
            }
        };
        if self.old.is_none() {
            // The permissions of a new file follow from the umask, which can only be read by
            // changing it: an empty file shows them.
            self.permissions = Some(file.metadata()?.permissions());
            #[cfg(unix)]
            file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
        }
        Ok(())
    }
    /// Appends bytes.
    pub fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.write_all(bytes).map_err(|e| Error::io(&self.name, &e))
    }
    /// Seeks, and returns the position.
    #[cfg(feature = "bindings")]
    pub fn go(&mut self, to: io::SeekFrom) -> Result<u64> {
        let gone = self.flush().and_then(|()| {
            self.file
                .as_mut()
                .map_or(Ok(0), |file| io::Seek::seek(file, to))
        });
        gone.map_err(|e| Error::io(&self.name, &e))
    }
    /// Syncs the file and moves it to its path.
    pub fn commit(mut self) -> Result<()> {
        self.finish().map_err(|e| Error::io(&self.name, &e))
    }
    fn finish(&mut self) -> io::Result<()> {
        self.flush()?;
        let Some(file) = self.file.take() else {
            return Ok(());
        };
        let Some(beside) = &self.beside else {
            return close(file);
        };
        match (&self.old, self.permissions.take()) {
            (Some(old), _) => take_over(&file, old)?,
            (None, Some(permissions)) => file.set_permissions(permissions)?,
            (None, None) => {}
        }
        file.sync_all()?;
        close(file)?;
        fs::rename(beside, &self.target)?;
        self.beside = None;
        // Syncs the folder too, where that is possible. An error is ignored: the file is in place.
        #[cfg(unix)]
        if let Ok(folder) = File::open(folder(&self.target)) {
            let _ = folder.sync_all();
        }
        Ok(())
    }
}

impl Write for Replacement {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.buffer.len() + bytes.len() > BUFFER {
            self.flush()?;
        }
        match &mut self.file {
            Some(file) if bytes.len() >= BUFFER => file.write(bytes),
            _ => {
                self.buffer.extend_from_slice(bytes);
                Ok(bytes.len())
            }
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        let written = self
            .file
            .as_mut()
            .map_or(Ok(()), |file| file.write_all(&self.buffer));
        self.buffer.clear(); // a failed write fails the whole
        written
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        self.file = None; // closed first, for systems that can't remove open files
        if let Some(beside) = &self.beside {
            let _ = fs::remove_file(beside);
        }
    }
}

/// The target of a chain of links, whether or not it exists; the path itself if it is not a link.
fn follow(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_path_buf();
    for _ in 0..LINKS {
        match fs::read_link(&path) {
            Ok(to) => path = folder(&path).join(to),
            Err(_) => return Ok(path), // not a link; opening reports any other error
        }
    }
    fs::metadata(&path).map(|_| path) // the system's own error for a cycle of links
}

fn folder(path: &Path) -> &Path {
    path.parent()
        .filter(|p| !p.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

/// A number that other processes can't predict, and that neither a forked child nor this process
/// repeats: from the standard library's random keys.
fn unpredictable() -> u64 {
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    hasher.finish()
}

/// Gives a file the owner, as far as that is permitted, and the permissions of the one it replaces.
fn take_over(file: &File, old: &Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
        let (new, mut mode) = (file.metadata()?, old.permissions().mode());
        let owned = (new.uid(), new.gid()) == (old.uid(), old.gid())
            || fchown(file, Some(old.uid()), Some(old.gid())).is_ok()
            || fchown(file, None, Some(old.gid())).is_ok();
        if !owned {
            mode &= !0o070; // without the old group, its permissions are dropped
        }
        file.set_permissions(Permissions::from_mode(mode))
    }
    #[cfg(not(unix))]
    file.set_permissions(old.permissions())
}

/// Closes a file and reports errors, which dropping a `File` ignores.
fn close(file: File) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::fd::IntoRawFd;
        // SAFETY: the descriptor is the file's, which is given up here.
        if unsafe { libc::close(file.into_raw_fd()) } != 0 {
            return Err(io::Error::last_os_error()).or_else(|e| {
                if e.kind() == io::ErrorKind::Interrupted {
                    Ok(())
                } else {
                    Err(e)
                }
            });
        }
    }
    #[cfg(not(unix))]
    drop(file);
    Ok(())
}
