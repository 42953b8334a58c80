//! The safetensors format: a JSON header with name, dtype, shape and place of each tensor, then their little-endian bytes.
//!
//! What is read is checked first: the header's length, each shape against its bytes, that the tensors cover the data without gap or
//! overlap, that no name is there twice and the metadata is text. complex128 has no name in the format and can't be saved.

use super::raw::with_bytes;
use super::source::{Content, Source, byte_len};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::tensor::Tensor;
use alloc::borrow::Cow;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::fmt;
use serde_core::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::{Map, Value};

/// Tensors by name.
pub type Tensors = BTreeMap<String, Tensor>;
/// Text that goes with a file.
pub type Metadata = BTreeMap<String, String>;

/// The longest header that the format allows.
const LONGEST_HEADER: u64 = 100_000_000;
/// The key of the metadata among the tensors' names.
const METADATA: &str = "__metadata__";

/// The tensors of a file. With `mmap` they lie in a mapping of it and cost no memory until they are read, and the file must not be
/// written to or cut short while one of them lives: otherwise behaviour is undefined, as
/// [the module](super#mapped-files-must-not-change) explains. Without, they are read.
///
/// Errors with [`Error::File`] where the file can't be read or isn't what the format says.
///
/// ```
/// use flex::{Tensor, io::safetensors};
/// let path = std::env::temp_dir().join("flex_doc_example.safetensors");
/// let x = Tensor::from_slice(&[1.5f32, 2.5], [2])?;
/// safetensors::save(&path, [("x", &x)], &Default::default())?;
/// let loaded = safetensors::load(&path, true)?;
/// assert_eq!(loaded["x"].to_vec::<f32>()?, [1.5, 2.5]);
/// # std::fs::remove_file(path).unwrap();
/// # Ok::<(), flex::Error>(())
/// ```
#[cfg(feature = "std")]
pub fn load(path: impl AsRef<std::path::Path>, mmap: bool) -> Result<Tensors> {
    tensors(super::file::open(path.as_ref(), mmap)?)
}

/// The metadata of a file, without its tensors.
#[cfg(feature = "std")]
pub fn metadata(path: impl AsRef<std::path::Path>) -> Result<Metadata> {
    Ok(header(&mut super::file::open(path.as_ref(), false)?)?.metadata)
}

/// The metadata of a file's bytes.
///
/// ```
/// use flex::{Tensor, io::safetensors};
/// let text = [("format".to_string(), "pt".to_string())].into();
/// let bytes = safetensors::write([("x", &Tensor::zeros(&[2], flex::DType::F32)?)], &text)?;
/// assert_eq!(safetensors::parse_metadata(&bytes)?, text);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn parse_metadata(bytes: &[u8]) -> Result<Metadata> {
    Ok(header(&mut memory(bytes))?.metadata)
}

/// Copies of the tensors of a file's bytes.
///
/// ```
/// use flex::{Tensor, io::safetensors};
/// let x = Tensor::from_slice(&[1i64, 2, 3], [3, 1])?;
/// let bytes = safetensors::write([("x", &x)], &Default::default())?;
/// assert_eq!(safetensors::parse(&bytes)?["x"].to_vec::<i64>()?, [1, 2, 3]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn parse(bytes: &[u8]) -> Result<Tensors> {
    tensors(memory(bytes))
}
fn memory(bytes: &[u8]) -> Source<'_> {
    Source { name: "safetensors".into(), content: Content::Slice(Cow::Borrowed(bytes)) }
}

/// The tensors of a file that is always in memory, such as one in flash: they stay where they are. Those that lie misaligned for
/// their dtype are copied; align the bytes to 8 to keep all in place.
///
/// ```
/// static EMPTY: [u8; 10] = *b"\x02\0\0\0\0\0\0\0{}";
/// assert!(flex::io::safetensors::from_static(&EMPTY)?.is_empty());
/// # Ok::<(), flex::Error>(())
/// ```
pub fn from_static(bytes: &'static [u8]) -> Result<Tensors> {
    tensors(Source { name: "safetensors".into(), content: Content::Static(bytes) })
}

/// Writes tensors to a file. An existing one is replaced as a whole, so it may be mapped, even by these very tensors.
///
/// Errors with [`Error::DType`] for complex128, with [`Error::Value`] for a name given twice, with [`Error::File`] where the file
/// can't be written; what was there before then stays.
#[cfg(feature = "std")]
pub fn save<'a, S: AsRef<str>>(
    path: impl AsRef<std::path::Path>,
    tensors: impl IntoIterator<Item = (S, &'a Tensor)>,
    metadata: &Metadata,
) -> Result<()> {
    let (header, tensors) = layout(tensors, metadata)?;
    super::file::replace(path.as_ref(), |file| {
        file.put(&header)?;
        tensors.into_iter().try_for_each(|t| with_bytes(t, |bytes| file.put(bytes))?)
    })
}

/// The bytes of such a file.
///
/// Errors with [`Error::DType`] for complex128, with [`Error::Value`] for a name given twice.
pub fn write<'a, S: AsRef<str>>(tensors: impl IntoIterator<Item = (S, &'a Tensor)>, metadata: &Metadata) -> Result<Vec<u8>> {
    let (mut out, tensors) = layout(tensors, metadata)?;
    tensors.into_iter().try_for_each(|t| with_bytes(t, |bytes| out.extend_from_slice(bytes)))?;
    Ok(out)
}

/// The header, and the tensors in the order of their data: largest elements first, so that each is aligned; then by name.
fn layout<'a, S: AsRef<str>>(
    tensors: impl IntoIterator<Item = (S, &'a Tensor)>,
    metadata: &Metadata,
) -> Result<(Vec<u8>, Vec<&'a Tensor>)> {
    let (mut sorted, mut names) = (BTreeMap::new(), BTreeSet::new());
    for (name, t) in tensors {
        let name = name.as_ref();
        if t.dtype().safetensors().is_empty() {
            return Err(Error::dtype("safetensors.save", format!("the format has no {}, the dtype of {name:?}", t.dtype())));
        }
        if name == METADATA || !names.insert(name.to_string()) {
            return Err(Error::value("safetensors.save", format!("{name:?} is given twice, or kept for the metadata")));
        }
        sorted.insert((Reverse(t.dtype().size()), name.to_string()), t);
    }

    let mut entries = Vec::new();
    if !metadata.is_empty() {
        let texts: Map<String, Value> = metadata.iter().map(|(k, v)| (k.clone(), v.as_str().into())).collect();
        entries.push(format!("{}:{}", quoted(METADATA), Value::Object(texts)));
    }
    let mut start = 0;
    for ((_, name), t) in &sorted {
        let end = start + t.len() * t.dtype().size();
        let shape = Value::from(t.shape().to_vec());
        let dtype = t.dtype().safetensors();
        entries.push(format!(r#"{}:{{"dtype":"{dtype}","shape":{shape},"data_offsets":[{start},{end}]}}"#, quoted(name)));
        start = end;
    }
    let mut json = format!("{{{}}}", entries.join(","));
    // spaces, so that the data begins with a cache line
    let padding = (8 + json.len()).next_multiple_of(64) - 8 - json.len();
    json.extend(core::iter::repeat_n(' ', padding));
    if json.len() as u64 > LONGEST_HEADER {
        return Err(Error::value("safetensors.save", format!("the header would have {} bytes, at most 100 MB are allowed", json.len())));
    }
    let mut out = (json.len() as u64).to_le_bytes().to_vec();
    out.extend_from_slice(json.as_bytes());
    Ok((out, sorted.into_values().collect()))
}
fn quoted(text: &str) -> Value {
    Value::from(text)
}

/// What the header of a file says.
struct Header {
    metadata: Metadata,
    entries: Vec<Entry>,
    /// Where the data begins.
    data: u64,
}
/// One tensor, at `start .. end` of the data.
struct Entry {
    name: String,
    dtype: DType,
    shape: Vec<usize>,
    start: u64,
    end: u64,
}

fn tensors(mut source: Source) -> Result<Tensors> {
    let header = header(&mut source)?;
    let mut tensors = Tensors::new(); // not collected: that would link a sort
    for e in header.entries {
        tensors.insert(e.name, source.tensor(header.data + e.start, &e.shape, e.dtype, false)?);
    }
    Ok(tensors)
}

/// Reads the header and checks it against the length of the source.
fn header(source: &mut Source) -> Result<Header> {
    let mut len = [0; 8];
    source.read(0, &mut len)?;
    let len = u64::from_le_bytes(len);
    if len > LONGEST_HEADER || len > source.len() - 8 {
        return Err(source.wrong(message!("no safetensors file, or cut short: a header of {len} bytes in a file of {}", source.len())));
    }
    let mut json = vec![0; len as usize];
    source.read(8, &mut json)?;
    let Members(members) = serde_json::from_slice(&json).map_err(|e| source.wrong(message!("the header is no JSON object: {e}")))?;

    let (mut metadata, mut entries) = (Metadata::new(), Vec::new());
    let mut names = BTreeSet::new();
    for (name, value) in members {
        if !names.insert(name.clone()) {
            return Err(source.wrong(message!("{name:?} is there twice")));
        }
        if name == METADATA {
            metadata = texts(value).map_err(|what| source.wrong(what))?;
        } else {
            entries.push(entry(&name, &value).map_err(|what| source.wrong(message!("tensor {name:?}: {what}")))?);
        }
    }
    entries.sort_unstable_by_key(|e| (e.start, e.end));
    let mut end = 0;
    for e in &entries {
        if e.start != end {
            return Err(source.wrong(message!("tensor {:?} begins at {}, the one before it ends at {end}", e.name, e.start)));
        }
        end = e.end;
    }
    let data = 8 + len;
    if end != source.len() - data {
        return Err(source.wrong(message!("the tensors take {end} bytes, the file has {} for them", source.len() - data)));
    }
    Ok(Header { metadata, entries, data })
}

/// The members of a JSON object, in their order, also those of equal names.
struct Members(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(from: D) -> core::result::Result<Members, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Members;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> core::result::Result<Members, M::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        from.deserialize_map(Reader)
    }
}

/// What is wrong with a part of the header.
type Wrong = Cow<'static, str>;

/// The metadata of the header; otherwise what is wrong with it.
fn texts(value: Value) -> core::result::Result<Metadata, Wrong> {
    let Value::Object(texts) = value else { return Err("the metadata is no JSON object".into()) };
    let mut metadata = Metadata::new();
    for (key, value) in texts {
        match value {
            Value::String(text) => _ = metadata.insert(key, text),
            other => return Err(message!("the metadata {key:?} is {other}, not text").into()),
        }
    }
    Ok(metadata)
}

/// One tensor of the header; otherwise what is wrong with it.
fn entry(name: &str, value: &Value) -> core::result::Result<Entry, Wrong> {
    let dtype = value.get("dtype").and_then(Value::as_str).ok_or("has no dtype")?;
    let dtype = DType::ALL
        .into_iter()
        .find(|d| !dtype.is_empty() && d.safetensors() == dtype)
        .ok_or_else(|| message!("flex has no dtype {dtype}"))?;
    let numbers = |key| value.get(key)?.as_array()?.iter().map(Value::as_u64).collect::<Option<Vec<u64>>>();
    let shape = numbers("shape").ok_or("its shape is no list of sizes")?;
    let shape: Vec<usize> =
        shape.into_iter().map(usize::try_from).collect::<core::result::Result<_, _>>().map_err(|_| "a size overflows")?;
    let Some([start, end]) = numbers("data_offsets").and_then(|o| <[u64; 2]>::try_from(o).ok()) else {
        return Err("its data_offsets are no pair of numbers".into());
    };
    let len = byte_len(&shape, dtype).ok_or_else(|| message!("a shape of {} axes of {dtype} overflows", shape.len()))?;
    if end.checked_sub(start) != Some(len) {
        return Err(message!("shape {shape:?} of {dtype} takes {len} bytes, its data_offsets are {start} to {end}").into());
    }
    Ok(Entry { name: name.into(), dtype, shape, start, end })
}
