//! Tensors in files beside the model: "external data". The location comes from an untrusted file, so
//! it must be the relative path of an ordinary file inside the model's folder, and the range that it
//! names must lie in that file.

use super::proto::Entry;
use crate::dtype::DType;
use crate::error::{Error, Excerpt, Result};
use crate::io::source::{Content, FileSource};
use crate::tensor::Tensor;
use std::path::{Component, Path, PathBuf};

/// The folder of a model.
pub struct Folder(PathBuf);

/// A range of a file.
pub struct Part {
    source: FileSource<'static>,
    start: u64,
    len: Option<u64>,
}

impl Folder {
    /// The folder that this model lies in.
    pub fn of(model: &Path) -> Folder {
        let folder = model.parent().filter(|p| !p.as_os_str().is_empty());
        Folder(folder.unwrap_or(Path::new(".")).into())
    }
    /// The range that these entries describe.
    pub fn part(&self, entries: &[Entry]) -> Result<Part> {
        let get = |key| entries.iter().find(|e| e.key == key).map(|e| e.value);
        let location = get("location").unwrap_or_default();
        let wrong = |message| Error::file(self.0.to_string_lossy(), message);
        let number = |key| match get(key) {
            None | Some("") => Ok(None),
            Some(text) => text.parse::<u64>().map(Some).map_err(|_| {
                wrong(message!(
                    "external data of {key} {}, which is no size",
                    Excerpt(&text)
                ))
            }),
        };
        let (start, len) = (number("offset")?.unwrap_or(0), number("length")?);
        let relative = Path::new(location);
        let inside = relative
            .components()
            .all(|c| matches!(c, Component::Normal(_) | Component::CurDir));
        if location.is_empty() || !inside || location.contains('\\') {
            return Err(wrong(message!(
                "external data in {}: it must be in the model's folder",
                Excerpt(&location)
            )));
        }
        // what links lead to counts
        let resolve = |path: &Path| path.canonicalize().map_err(|e| Error::io(path, &e));
        let path = resolve(&self.0.join(relative))?;
        if !path.starts_with(resolve(&self.0)?) {
            return Err(wrong(message!(
                "external data in {}, which leads out of the model's folder",
                Excerpt(&location)
            )));
        }
        let file = std::fs::File::open(&path).map_err(|e| Error::io(&path, &e))?;
        let about = file.metadata().map_err(|e| Error::io(&path, &e))?;
        if !about.is_file() {
            return Err(wrong(message!(
                "external data in {}, which is not a file",
                Excerpt(&location)
            )));
        }
        Ok(Part {
            source: FileSource {
                name: path,
                content: Content::File(file, about.len()),
            },
            start,
            len,
        })
    }
}

impl Part {
    /// The tensor that the range holds.
    pub fn tensor(&mut self, shape: &[usize], dtype: DType) -> Result<Tensor> {
        let taken = crate::io::source::byte_len(shape, dtype);
        if let (Some(len), Some(taken)) = (self.len, taken)
            && len != taken
        {
            let message = message!(
                "external data of {len} bytes where shape {} of {dtype} takes {taken}",
                Excerpt(&shape)
            );
            return Err(self.source.wrong(message));
        }
        self.source.tensor(self.start, shape, dtype, false)
    }
}
