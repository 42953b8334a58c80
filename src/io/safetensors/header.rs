//! Writes and reads the header of a safetensors file. It is validated before anything is allocated
//! from it.

use super::Metadata;
use crate::dtype::DType;
use crate::error::{Error, Excerpt, Result};
use crate::fallible::{self, append_text as append, push};
use crate::io::json::{Json, ParseError, Read, Text};
use crate::io::raw::{Put, put_elements};
use crate::io::source::{FileSource, MAX_AXES, byte_len};
use crate::tensor::Tensor;
use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::fmt::Write;

/// The longest header that the format allows.
const LONGEST_HEADER: u64 = 100_000_000;
/// The key of the metadata, among the names of tensors.
const METADATA: &str = "__metadata__";

/// A file to be written.
pub(super) struct FileLayout<'a> {
    header: String,
    /// In the order of their data.
    tensors: Vec<&'a Tensor>,
}

impl<'a> FileLayout<'a> {
    /// Sorts by element size, largest first, so that each tensor is aligned; then by name.
    pub fn new<S: AsRef<str>>(
        tensors: impl IntoIterator<Item = (S, &'a Tensor)>,
        metadata: &Metadata,
    ) -> Result<FileLayout<'a>> {
        const OP: &str = "safetensors.save";
        let mut named = Vec::new();
        for (name, t) in tensors {
            let quoted = &name.as_ref();
            if t.dtype().safetensors().is_empty() {
                return Err(Error::dtype(
                    OP,
                    message!(
                        "the format has no {}, the dtype of {}",
                        t.dtype(),
                        Excerpt(quoted)
                    ),
                ));
            }
            if t.rank() > MAX_AXES {
                let message = message!(
                    "the {} axes of {} exceed the limit of {MAX_AXES}",
                    t.rank(),
                    Excerpt(quoted)
                );
                return Err(Error::value(OP, message));
            }
            push(&mut named, (name, t))?;
        }
        let mut names = Vec::new();
        named
            .iter()
            .try_for_each(|(name, _)| push(&mut names, name.as_ref()))?;
        names.sort_unstable();
        if let Some(name) = names
            .windows(2)
            .find(|two| two[0] == two[1])
            .map(|two| two[0])
            .or(names.iter().copied().find(|n| *n == METADATA))
        {
            return Err(Error::value(
                OP,
                message!(
                    "{} is a duplicate, or reserved for the metadata",
                    Excerpt(&name)
                ),
            ));
        }
        drop(names);
        named.sort_unstable_by(|(a, x), (b, y)| {
            (Reverse(x.dtype().size()), a.as_ref()).cmp(&(Reverse(y.dtype().size()), b.as_ref()))
        });

        let mut text = Text::default();
        append(&mut text.0, "{")?;
        if !metadata.is_empty() {
            text.quoted(METADATA)?;
            for (k, (key, value)) in metadata.iter().enumerate() {
                append(&mut text.0, if k == 0 { ":{" } else { "," })?;
                text.quoted(key)?;
                append(&mut text.0, ":")?;
                text.quoted(value)?;
            }
            append(&mut text.0, "}")?;
        }
        let (mut start, mut order) = (0, Vec::new());
        for (name, t) in &named {
            if text.0.len() > 1 {
                append(&mut text.0, ",")?;
            }
            text.quoted(name.as_ref())?;
            let end = start + t.len() * t.dtype().size();
            let written = entry(&mut text, t, start, end);
            text.written(written)?;
            push(&mut order, *t)?;
            start = end;
        }
        append(&mut text.0, "}")?;
        // padded with spaces, so that the data is aligned to a cache line
        while !(8 + text.0.len()).is_multiple_of(64) {
            append(&mut text.0, " ")?;
        }
        if text.0.len() as u64 > LONGEST_HEADER {
            return Err(Error::value(
                OP,
                message!(
                    "header of {} bytes exceeds the limit of 100 MB",
                    text.0.len()
                ),
            ));
        }
        Ok(FileLayout {
            header: text.0,
            tensors: order,
        })
    }
    pub fn put(&self, put: Put) -> Result<()> {
        put(&(self.header.len() as u64).to_le_bytes())?;
        put(self.header.as_bytes())?;
        self.tensors.iter().try_for_each(|t| put_elements(t, put))
    }
}

/// The header's entry for a tensor.
fn entry(text: &mut Text, t: &Tensor, start: usize, end: usize) -> core::fmt::Result {
    write!(
        text,
        r#":{{"dtype":"{}","shape":["#,
        t.dtype().safetensors()
    )?;
    for (k, n) in t.shape().iter().enumerate() {
        write!(text, "{}{n}", if k == 0 { "" } else { "," })?;
    }
    write!(text, r#"],"data_offsets":[{start},{end}]}}"#)
}

/// The header of a file.
pub(super) struct Header {
    pub metadata: Metadata,
    /// In the order of their data.
    pub entries: Vec<(String, TensorEntry)>,
    /// The position of the data.
    pub data: u64,
}
/// A tensor, at `start .. end` of the data.
pub(super) struct TensorEntry {
    /// A dtype of flex, or the file's name of an unknown one.
    pub dtype: core::result::Result<DType, String>,
    pub shape: Vec<usize>,
    pub start: u64,
    pub end: u64,
}

/// Reads the header and checks it against the length of the source, if known.
pub(super) fn read(source: &mut FileSource) -> Result<Header> {
    let mut len = [0; 8];
    source.read(0, &mut len)?;
    let len = u64::from_le_bytes(len);
    let there = source.len();
    if len > LONGEST_HEADER || there.is_some_and(|there| len > there - 8) {
        let there = there.unwrap_or_default();
        return Err(source.wrong(message!(
            "not a safetensors file, or truncated: header of {len} bytes in a file of {there}"
        )));
    }
    let text = read_text(source, len as usize)?;
    let mut json = Json::new(&text);
    let (mut metadata, mut entries) = (None, BTreeMap::new());
    let read = json.object(&mut |json, name| {
        if name == METADATA {
            // null is no metadata, as in the format's own reader
            let found = match json.peek() {
                b'n' => json.value().map(|_| Metadata::new())?,
                _ => texts(json)?,
            };
            return match metadata.replace(found) {
                None => Ok(()),
                Some(_) => Err(message!("duplicate key {METADATA:?}").into()),
            };
        }
        let e = TensorEntry::read(json).map_err(|why| match why {
            ParseError::Malformed(what) => message!("tensor {}: {what}", Excerpt(&name)).into(),
            other => other,
        })?;
        match entries.insert(owned(name)?, e) {
            None => Ok(()),
            Some(_) => Err("duplicate tensor".into()),
        }
    });
    read.and_then(|()| json.end()).map_err(|why| match why {
        ParseError::Malformed(what) => {
            source.wrong(message!("malformed header at byte {}: {what}", json.at()))
        }
        ParseError::Other(e) => e,
    })?;

    let mut sorted = Vec::new();
    entries.into_iter().try_for_each(|e| push(&mut sorted, e))?;
    sorted.sort_unstable_by_key(|(_, e)| (e.start, e.end));
    let mut end = 0;
    for (name, e) in &sorted {
        if e.start != end {
            let name = Excerpt(name);
            return Err(source.wrong(message!(
                "tensor {name} begins at {}, but the one before it ends at {end}",
                e.start
            )));
        }
        end = e.end;
    }
    let data = 8 + len;
    match there {
        Some(there) if end != there - data => Err(source.wrong(message!(
            "the tensors take {end} bytes, the file has {} for them",
            there - data
        ))),
        _ => Ok(Header {
            metadata: metadata.unwrap_or_default(),
            entries: sorted,
            data,
        }),
    }
}

/// Reads the text of a header. Memory grows with the bytes read, since a stream may be shorter than
/// it claims.
fn read_text(source: &mut FileSource, len: usize) -> Result<String> {
    const PIECE: usize = 1 << 20;
    let mut text = fallible::filled(0, len.min(PIECE))?;
    source.read(8, &mut text)?;
    while text.len() < len {
        let (read, more) = (text.len(), (len - text.len()).min(text.len()));
        fallible::reserve(&mut text, more)?;
        text.resize(read + more, 0);
        source.read(8 + read as u64, &mut text[read..])?;
    }
    String::from_utf8(text)
        .map_err(|_| source.wrong("the header is not a JSON object: it is not text"))
}

fn owned(text: Cow<str>) -> Result<String> {
    match text {
        Cow::Owned(text) => Ok(text),
        Cow::Borrowed(text) => {
            let mut out = String::new();
            append(&mut out, text)?;
            Ok(out)
        }
    }
}

/// The metadata of the header.
fn texts(json: &mut Json) -> Read<Metadata> {
    let mut metadata = Metadata::new();
    if json.peek() != b'{' {
        return Err("the metadata is not a JSON object".into());
    }
    json.object(&mut |json, key| {
        if json.peek() != b'"' {
            let value = json.value()?;
            return Err(message!(
                "the metadata {} is {}, not text",
                Excerpt(&key),
                value.get(..20).unwrap_or(value)
            )
            .into());
        }
        match metadata.insert(owned(key)?, owned(json.string()?)?) {
            None => Ok(()),
            Some(_) => Err("duplicate key in the metadata".into()),
        }
    })?;
    Ok(metadata)
}

impl TensorEntry {
    /// Parses the entry of a tensor.
    fn read(json: &mut Json) -> Read<TensorEntry> {
        let (mut dtype, mut shape, mut offsets) = (None, None, None);
        if json.peek() != b'{' {
            return Err("it has no dtype, shape and data_offsets".into());
        }
        json.object(&mut |json, key| {
            let twice = match &*key {
                "dtype" => dtype
                    .replace(
                        json.string()
                            .map_err(|e| with_message(e, "its dtype is not text"))?,
                    )
                    .is_some(),
                "shape" => shape
                    .replace(
                        numbers(json, MAX_AXES)
                            .map_err(|e| with_message(e, "its shape is not a list of sizes"))?,
                    )
                    .is_some(),
                "data_offsets" => offsets
                    .replace(numbers(json, 2).map_err(|e| {
                        with_message(e, "its data_offsets are not a pair of numbers")
                    })?)
                    .is_some(),
                _ => {
                    json.value()?;
                    false
                }
            };
            if twice {
                Err(message!("duplicate key {key:?}").into())
            } else {
                Ok(())
            }
        })?;
        let dtype = dtype.ok_or("it has no dtype")?;
        let sizes = shape.ok_or("its shape is not a list of sizes")?;
        let Some(Ok([start, end])) = offsets.map(<[u64; 2]>::try_from) else {
            return Err("its data_offsets are not a pair of numbers".into());
        };
        let mut shape = Vec::new();
        for size in sizes {
            push(
                &mut shape,
                usize::try_from(size).map_err(|_| "a size overflows")?,
            )?;
        }
        let known = DType::ALL
            .into_iter()
            .find(|d| !dtype.is_empty() && d.safetensors() == dtype);
        let Some(known) = known else {
            let name = !dtype.is_empty()
                && dtype.len() <= 32
                && dtype
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || b == b'_');
            if !name {
                return Err(message!("{} is not a dtype", Excerpt(&dtype)).into());
            }
            // the size of its elements is unknown
            return match end
                .checked_sub(start)
                .is_some_and(|len| isize::try_from(len).is_ok())
            {
                true => Ok(TensorEntry {
                    dtype: Err(owned(dtype)?),
                    shape,
                    start,
                    end,
                }),
                false => Err(message!("its data_offsets are {start} to {end}").into()),
            };
        };
        let len = byte_len(&shape, known)
            .ok_or_else(|| message!("a shape of {} axes of {known} overflows", shape.len()))?;
        if end.checked_sub(start) != Some(len) {
            let shape = Excerpt(&shape);
            return Err(message!(
                "shape {shape} of {known} takes {len} bytes, its data_offsets are {start} to {end}"
            )
            .into());
        }
        Ok(TensorEntry {
            dtype: Ok(known),
            shape,
            start,
            end,
        })
    }
}

/// An error about malformed content.
fn with_message(why: ParseError, what: &'static str) -> ParseError {
    match why {
        ParseError::Malformed(_) => what.into(),
        other => other,
    }
}
/// Reads a list of at most `most` numbers.
fn numbers(json: &mut Json, most: usize) -> Read<Vec<u64>> {
    let mut out = Vec::new();
    json.array(&mut |json| {
        let number = json.unsigned()?;
        if out.len() == most {
            return Err("too many".into());
        }
        Ok(push(&mut out, number)?)
    })?;
    Ok(out)
}
