//! The safetensors format: a JSON header with name, dtype, shape and position of each tensor, then
//! their little-endian bytes.
//!
//! Headers are validated first: the header's length, each shape against its bytes, that the tensors
//! cover the data without gap or overlap, that no name is duplicated and the metadata is text.
//! complex128 has no name in the format and can't be saved.

mod header;

use super::source::{Content, FileSource};
use crate::dtype::DType;
use crate::error::{Error, Excerpt, Result};
use crate::fallible;
use crate::tensor::Tensor;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::{Deref, DerefMut};
use header::FileLayout;

/// The metadata of a file: strings by key.
///
/// ```
/// use flex::io::safetensors::{self, Metadata};
/// let metadata = Metadata::from([("license".to_string(), "MIT".to_string())]);
/// let file = safetensors::write::<&str>([], &metadata)?;
/// assert_eq!(safetensors::parse_metadata(&file)?["license"], "MIT");
/// # Ok::<(), flex::Error>(())
/// ```
pub type Metadata = BTreeMap<String, String>;

/// Tensors by name: a map of those whose dtype flex supports, and the [`others`](Tensors::others).
///
/// ```
/// use flex::io::safetensors;
/// let file = b"\x46\0\0\0\0\0\0\0{\"scale\":{\"dtype\":\"F8_E8M0\",\"shape\":[2],\"data_offsets\":[0,2]}}        \x38\x40";
/// let tensors = safetensors::parse(file)?;
/// let e = tensors.tensor("scale").unwrap_err();
/// assert!(e.to_string().contains("F8_E8M0"));
/// assert_eq!(tensors.others["scale"].bytes.to_vec::<u8>()?, [0x38, 0x40]);
/// # Ok::<(), flex::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Tensors {
    tensors: BTreeMap<String, Tensor>,
    /// Tensors of a dtype that flex doesn't have, such as F8_E8M0.
    pub others: BTreeMap<String, Opaque>,
}

/// A tensor of a dtype that flex doesn't have.
///
/// Example: [`Tensors`].
#[derive(Clone, Debug)]
pub struct Opaque {
    /// The format's name for the dtype, such as `F8_E8M0`.
    pub dtype: String,
    /// The shape in elements of that dtype.
    pub shape: Vec<usize>,
    /// Its bytes, as uint8 of one dimension.
    pub bytes: Tensor,
}

impl Tensors {
    /// The tensor of that name. Errors with [`Error::DType`] if flex doesn't have its dtype, with
    /// [`Error::Value`] if there is no such name.
    ///
    /// Example: [`Tensors`].
    pub fn tensor(&self, name: &str) -> Result<&Tensor> {
        const OP: &str = "safetensors";
        self.tensors
            .get(name)
            .ok_or_else(|| match self.others.get(name) {
                Some(other) => {
                    let (name, dtype) = (Excerpt(&name), &other.dtype);
                    Error::dtype(
                        OP,
                        message!(
                            "tensor {name} is {dtype}, for which flex has no dtype; \
                                `others` has its bytes"
                        ),
                    )
                }
                None => Error::value(OP, message!("there is no tensor {}", Excerpt(&name))),
            })
    }
}
impl Deref for Tensors {
    type Target = BTreeMap<String, Tensor>;
    fn deref(&self) -> &Self::Target {
        &self.tensors
    }
}
impl DerefMut for Tensors {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.tensors
    }
}
impl IntoIterator for Tensors {
    type Item = (String, Tensor);
    type IntoIter = alloc::collections::btree_map::IntoIter<String, Tensor>;
    fn into_iter(self) -> Self::IntoIter {
        self.tensors.into_iter()
    }
}

/// Reads the tensors of a file into memory.
///
/// Errors with [`Error::Io`] if the file can't be read, with [`Error::File`] if it violates the
/// format.
///
/// ```
/// use flex::{Tensor, io::safetensors};
/// let path = std::env::temp_dir().join("flex_doc_example.safetensors");
/// let x = Tensor::from_slice(&[1.5f32, 2.5], [2])?;
/// safetensors::save(&path, [("x", &x)], &Default::default())?;
/// assert_eq!(safetensors::load(&path)?["x"].to_vec::<f32>()?, [1.5, 2.5]);
/// # std::fs::remove_file(path).unwrap();
/// # Ok::<(), flex::Error>(())
/// ```
#[cfg(feature = "std")]
pub fn load(path: impl AsRef<std::path::Path>) -> Result<Tensors> {
    tensors(&mut super::file::open(path.as_ref())?)
}

/// Maps a file into memory; its tensors are views of the mapping, and cost no memory until they are
/// read. Errors like [`load`].
///
/// # Safety
/// While one of the tensors or a view of it lives, nobody writes to the file in place or truncates
/// it ([MAP1](super#mapped-files-must-not-change)).
///
/// ```
/// use flex::{Tensor, io::safetensors};
/// let path = std::env::temp_dir().join("flex_doc_example_mapped.safetensors");
/// safetensors::save(&path, [("x", &Tensor::from([1.5f32, 2.5]))], &Default::default())?;
/// // SAFETY: nobody else has the file.
/// let tensors = unsafe { safetensors::map(&path)? };
/// assert_eq!(tensors["x"].to_vec::<f32>()?, [1.5, 2.5]);
/// # std::fs::remove_file(path).unwrap();
/// # Ok::<(), flex::Error>(())
/// ```
#[cfg(feature = "std")]
pub unsafe fn map(path: impl AsRef<std::path::Path>) -> Result<Tensors> {
    // SAFETY: MAP1, by the caller's promise.
    tensors(&mut unsafe { super::file::map(path.as_ref()) }?)
}

/// Reads the metadata of a file, without its tensors.
///
/// Errors like [`load`].
///
/// ```
/// use flex::io::safetensors;
/// let path = std::env::temp_dir().join("flex_doc_example_metadata.safetensors");
/// let metadata = [("format".to_string(), "pt".to_string())].into();
/// safetensors::save::<&str>(&path, [], &metadata)?;
/// assert_eq!(safetensors::metadata(&path)?["format"], "pt");
/// # std::fs::remove_file(path).unwrap();
/// # Ok::<(), flex::Error>(())
/// ```
#[cfg(feature = "std")]
pub fn metadata(path: impl AsRef<std::path::Path>) -> Result<Metadata> {
    Ok(header::read(&mut super::file::open(path.as_ref())?)?.metadata)
}

/// Reads the metadata from the bytes of a file. Errors with [`Error::File`] if they violate the
/// format.
///
/// ```
/// use flex::{Tensor, io::safetensors};
/// let text = [("format".to_string(), "pt".to_string())].into();
/// let bytes = safetensors::write([("x", &Tensor::zeros(&[2], flex::DType::F32)?)], &text)?;
/// assert_eq!(safetensors::parse_metadata(&bytes)?, text);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn parse_metadata(bytes: &[u8]) -> Result<Metadata> {
    Ok(header::read(&mut memory(bytes))?.metadata)
}

/// Reads the tensors from the bytes of a file; the tensors are copies. Errors with [`Error::File`]
/// if they violate the format.
///
/// ```
/// use flex::{Tensor, io::safetensors};
/// let x = Tensor::from_slice(&[1i64, 2, 3], [3, 1])?;
/// let bytes = safetensors::write([("x", &x)], &Default::default())?;
/// assert_eq!(safetensors::parse(&bytes)?["x"].to_vec::<i64>()?, [1, 2, 3]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn parse(bytes: &[u8]) -> Result<Tensors> {
    tensors(&mut memory(bytes))
}
fn memory(bytes: &[u8]) -> FileSource<'_> {
    FileSource {
        name: "safetensors".into(),
        content: Content::Slice(bytes),
    }
}

/// Reads the tensors of a stream to its end. Errors like [`load`].
///
/// ```
/// use flex::{Tensor, io::safetensors};
/// let mut file = Vec::new();
/// safetensors::write_to(&mut file, [("x", &Tensor::from_slice(&[1u8, 2], [2])?)], &Default::default())?;
/// assert_eq!(safetensors::read_from(file.as_slice())?["x"].to_vec::<u8>()?, [1, 2]);
/// # Ok::<(), flex::Error>(())
/// ```
#[cfg(feature = "std")]
pub fn read_from(from: impl std::io::Read) -> Result<Tensors> {
    tensors(&mut stream(from))
}

/// Reads the metadata of a stream, and nothing beyond the header.
///
/// Errors like [`load`].
///
/// ```
/// use flex::io::safetensors;
/// let metadata = [("format".to_string(), "pt".to_string())].into();
/// let file = safetensors::write::<&str>([], &metadata)?;
/// assert_eq!(safetensors::read_metadata(file.as_slice())?, metadata);
/// # Ok::<(), flex::Error>(())
/// ```
#[cfg(feature = "std")]
pub fn read_metadata(from: impl std::io::Read) -> Result<Metadata> {
    Ok(header::read(&mut stream(from))?.metadata)
}
#[cfg(feature = "std")]
fn stream<'a>(from: impl std::io::Read + 'a) -> FileSource<'a> {
    FileSource {
        name: "safetensors".into(),
        content: Content::stream(from, None),
    }
}

/// The tensors of a file in static memory, such as flash, in place. Tensors misaligned for their
/// dtype are copied; align the bytes to 8 to keep all in place. Errors like [`parse`].
///
/// ```
/// static EMPTY: [u8; 10] = *b"\x02\0\0\0\0\0\0\0{}";
/// assert!(flex::io::safetensors::from_static(&EMPTY)?.is_empty());
/// # Ok::<(), flex::Error>(())
/// ```
pub fn from_static(bytes: &'static [u8]) -> Result<Tensors> {
    tensors(&mut FileSource {
        name: "safetensors".into(),
        content: Content::Static(bytes),
    })
}

/// Writes tensors to a file. An existing one is replaced as a whole, so it may be mapped, even by
/// these very tensors.
///
/// Errors with [`Error::DType`] for complex128, with [`Error::Value`] for a name given twice or
/// more than 1024 axes, with [`Error::Io`] if the file can't be written; the old file then stays.
///
/// ```
/// use flex::{Tensor, io::safetensors};
/// let path = std::env::temp_dir().join("flex_doc_example_save.safetensors");
/// let (weight, bias) = (Tensor::from([[1.0f32, 2.0]]), Tensor::from([0.5f32]));
/// safetensors::save(&path, [("weight", &weight), ("bias", &bias)], &Default::default())?;
/// assert_eq!(safetensors::load(&path)?.tensor("weight")?.shape(), [1, 2]);
/// # std::fs::remove_file(path).unwrap();
/// # Ok::<(), flex::Error>(())
/// ```
#[cfg(feature = "std")]
pub fn save<'a, S: AsRef<str>>(
    path: impl AsRef<std::path::Path>,
    tensors: impl IntoIterator<Item = (S, &'a Tensor)>,
    metadata: &Metadata,
) -> Result<()> {
    let plan = FileLayout::new(tensors, metadata)?;
    let mut file = super::replacement::Replacement::create(path.as_ref())?;
    plan.put(&mut |bytes| file.put(bytes))?;
    file.commit()
}

/// Writes the bytes of such a file to a stream. Errors like [`save`].
///
/// ```
/// use flex::{Tensor, io::safetensors};
/// let mut file = Vec::new();
/// safetensors::write_to(&mut file, [("x", &Tensor::from([1.5f32]))], &Default::default())?;
/// assert_eq!(safetensors::parse(&file)?["x"].to_vec::<f32>()?, [1.5]);
/// # Ok::<(), flex::Error>(())
/// ```
#[cfg(feature = "std")]
pub fn write_to<'a, S: AsRef<str>>(
    mut to: impl std::io::Write,
    tensors: impl IntoIterator<Item = (S, &'a Tensor)>,
    metadata: &Metadata,
) -> Result<()> {
    let put = &mut |bytes: &[u8]| {
        to.write_all(bytes)
            .map_err(|e| Error::io("safetensors".as_ref(), &e))
    };
    FileLayout::new(tensors, metadata)?.put(put)
}

/// Writes the bytes of such a file to memory.
///
/// Errors with [`Error::DType`] for complex128, with [`Error::Value`] for a name given twice or
/// more than 1024 axes.
///
/// ```
/// use flex::{Tensor, io::safetensors};
/// let x = Tensor::from([1u8, 2]);
/// let file = safetensors::write([("x", &x)], &Default::default())?;
/// assert!(file.ends_with(&[1, 2]));
/// assert!(safetensors::write([("x", &x), ("x", &x)], &Default::default()).is_err());
/// # Ok::<(), flex::Error>(())
/// ```
pub fn write<'a, S: AsRef<str>>(
    tensors: impl IntoIterator<Item = (S, &'a Tensor)>,
    metadata: &Metadata,
) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    FileLayout::new(tensors, metadata)?.put(&mut |bytes| fallible::append(&mut out, bytes))?;
    Ok(out)
}

fn tensors(source: &mut FileSource) -> Result<Tensors> {
    let header = header::read(source)?;
    let mut tensors = Tensors::default(); // `collect` would link a sort
    let mut end = header.data;
    for (name, e) in header.entries {
        let start = header.data + e.start;
        end = header.data + e.end;
        match e.dtype {
            Ok(dtype) => _ = tensors.insert(name, source.tensor(start, &e.shape, dtype, false)?),
            Err(dtype) => {
                let bytes =
                    source.tensor(start, &[(e.end - e.start) as usize], DType::U8, false)?;
                tensors.others.insert(
                    name,
                    Opaque {
                        dtype,
                        shape: e.shape,
                        bytes,
                    },
                );
            }
        }
    }
    source.expect_end(end)?;
    Ok(tensors)
}
