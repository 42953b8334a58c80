//! The one way in which files are written: as a new file beside the old one, which takes its place
//! when it is complete.
//!
//! - Whoever reads the old file, or has it mapped, never sees a part of the new one; where writing
//!   fails, or the process is killed, the old one stays as it was.
//! - The new file has a name that nobody can guess, so that what a killed process left is in
//!   nobody's way. Until it is complete it is open to its owner alone; then it gets the old one's
//!   permissions, or those of any new file.
//! - It is on the disk before it takes the name.
//! - Links are followed, as `open` does, also those to a file that is yet to be made: they stay
//!   links. Devices and pipes are written to.

use crate::error::{Error, Result};
use crate::fallible;
use alloc::vec::Vec;
use std::collections::hash_map::RandomState;
use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::hash::{BuildHasher, Hasher};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Bytes that are gathered before they are written.
const BUFFER: usize = 64 << 10;
/// Links that lead on to links, at most: as many as Linux follows.
const LINKS: usize = 40;

/// A file that is being written, and goes with its handle unless it is committed.
pub(crate) struct Replacement {
    /// The name that errors give: the caller's.
    name: PathBuf,
    /// Where links lead to.
    target: PathBuf,
    /// The new file's name; none where the target is written itself.
    beside: Option<PathBuf>,
    permissions: Option<Permissions>,
    /// What the target is before.
    old: Option<Metadata>,
    file: Option<File>,
    /// At most `BUFFER` bytes, for which there is room.
    buffer: Vec<u8>,
}

impl Replacement {
    /// A new file for the place of `path`, empty as yet.
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
            // What a new file is open to follows from the umask, which can only be asked for by
            // changing it: an empty file tells.
            self.permissions = Some(file.metadata()?.permissions());
            #[cfg(unix)]
            file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
        }
        Ok(())
    }
    /// Writes what follows.
    pub fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.write_all(bytes).map_err(|e| Error::io(&self.name, &e))
    }
    /// Goes to a place in the file, and says where that is.
    #[cfg(feature = "python")]
    pub fn go(&mut self, to: io::SeekFrom) -> Result<u64> {
        let gone = self.flush().and_then(|()| {
            self.file
                .as_mut()
                .map_or(Ok(0), |file| io::Seek::seek(file, to))
        });
        gone.map_err(|e| Error::io(&self.name, &e))
    }
    /// Puts the file in its place.
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
        // The name, too, is on the disk, where folders can be asked for that. The file is in place:
        // whether or not, it is written.
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
        self.buffer.clear(); // what failed fails the whole
        written
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        self.file = None; // closed first, for systems that remove no open files
        if let Some(beside) = &self.beside {
            let _ = fs::remove_file(beside);
        }
    }
}

/// Where the last link of a chain points to, whether or not something is there; the path itself
/// where it is none.
fn follow(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_path_buf();
    for _ in 0..LINKS {
        match fs::read_link(&path) {
            Ok(to) => path = folder(&path).join(to),
            Err(_) => return Ok(path), // no link; what else is wrong, opening says
        }
    }
    fs::metadata(&path).map(|_| path) // the system's own error for links in a circle
}

fn folder(path: &Path) -> &Path {
    path.parent()
        .filter(|p| !p.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

/// A number that other processes can't guess, nor a forked child or this process meet again: of the
/// standard library's random keys.
fn unpredictable() -> u64 {
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    hasher.finish()
}

/// Gives a file the owner, as far as that is allowed, and the permissions of the one whose place it
/// takes.
fn take_over(file: &File, old: &Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
        let (new, mut mode) = (file.metadata()?, old.permissions().mode());
        let owned = (new.uid(), new.gid()) == (old.uid(), old.gid())
            || fchown(file, Some(old.uid()), Some(old.gid())).is_ok()
            || fchown(file, None, Some(old.gid())).is_ok();
        if !owned {
            mode &= !0o070; // what was the old group's is not for another
        }
        file.set_permissions(Permissions::from_mode(mode))
    }
    #[cfg(not(unix))]
    file.set_permissions(old.permissions())
}

/// Closes a file, where that can fail: the end of a `File` is silent.
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
