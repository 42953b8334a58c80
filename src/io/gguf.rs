//! The tensors and metadata of GGUF files, versions 2 and 3, as llama.cpp writes them
//! (<https://github.com/ggml-org/ggml/blob/master/docs/gguf.md>).
//!
//! Blocks of Q4_0, Q8_0 and Q6_K become [`QTensor`]s without loss: int4 and int8 in blocks of 32
//! with float16 scales, and int8 in blocks of 16 with float32 scales. Q4_K, whose blocks have
//! minima, is decoded to float32. Plain values become tensors of their dtype, and other block
//! formats stay bytes.
//!
//! ```
//! let mut file = b"GGUF".to_vec();
//! file.extend([3, 0, 0, 0]); // version; then no tensors and no metadata
//! file.extend([0; 16]);
//! assert!(flex::io::gguf::parse(&file)?.entries.is_empty());
//! # Ok::<(), flex::Error>(())
//! ```

use super::source::{Content, FileSource};
use crate::dtype::DType;
use crate::error::{Error, Excerpt, Result};
use crate::fallible;
use crate::kernel::quant::blocks::{self, Q4_0, Q4_K, Q6_K, Q8_0};
use crate::layout::Shape;
use crate::par::{self, Cost, Out};
use crate::quant::{Levels, QTensor};
use crate::tensor::Tensor;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

/// A value of the metadata.
///
/// Example: [`parse`].
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// An unsigned integer of any width.
    Unsigned(u64),
    /// A signed integer of any width.
    Signed(i64),
    /// A float of 32 or 64 bits.
    Float(f64),
    /// A boolean.
    Bool(bool),
    /// A string.
    Text(String),
    /// An array of values of one kind.
    List(Vec<Value>),
}

/// A tensor of a file.
///
/// ```
/// use flex::{Tensor, io::gguf::Entry};
/// /// The number of elements of an entry.
/// fn len(entry: &Entry) -> usize {
///     match entry {
///         Entry::Tensor(x) => x.len(),
///         Entry::Quantized(q) => q.len(),
///         Entry::Other { shape, .. } => shape.iter().product(),
///     }
/// }
/// assert_eq!(len(&Entry::Tensor(Tensor::from([1.0f32, 2.0]))), 2);
/// ```
#[derive(Clone, Debug)]
pub enum Entry {
    /// Plain values, or Q4_K decoded to float32.
    Tensor(Tensor),
    /// Q4_0, Q8_0 or Q6_K.
    Quantized(QTensor),
    /// A block format that flex has no kernels for.
    Other {
        /// The number of the format in GGUF.
        kind: u32,
        /// The shape in values, not bytes.
        shape: Vec<usize>,
        /// Its blocks, as one-dimensional uint8. Of a format whose block size is unknown, the bytes
        /// up to the next tensor or the end of the file, with any padding.
        bytes: Tensor,
    },
}

/// The contents of a file.
///
/// Example: [`parse`].
#[derive(Clone, Debug, Default)]
pub struct Gguf {
    /// Describes the model.
    pub metadata: BTreeMap<String, Value>,
    /// The tensors by name.
    pub entries: BTreeMap<String, Entry>,
}

/// Reads a file into memory.
///
/// Errors with [`Error::Io`] if it can't be read, and with [`Error::File`] if it violates the
/// format.
///
/// ```
/// use flex::io::gguf;
/// let path = std::env::temp_dir().join("flex_doc_example.gguf");
/// let no_tensors = [b"GGUF\x03\0\0\0".as_slice(), &[0; 16]].concat();
/// # std::fs::write(&path, &no_tensors).unwrap();
/// assert!(gguf::load(&path)?.entries.is_empty());
/// # std::fs::remove_file(path).unwrap();
/// # Ok::<(), flex::Error>(())
/// ```
#[cfg(feature = "std")]
pub fn load(path: impl AsRef<std::path::Path>) -> Result<Gguf> {
    read(super::file::open(path.as_ref())?)
}
/// Maps a file into memory: tensors of plain values are views of it, blocks are unpacked. Errors
/// like [`load`].
///
/// # Safety
/// While one of the tensors or a view of it is alive, nobody writes to the file in place or
/// truncates it ([MAP1](super#mapped-files-must-not-change)).
///
/// ```
/// use flex::io::gguf;
/// let path = std::env::temp_dir().join("flex_doc_example_mapped.gguf");
/// let no_tensors = [b"GGUF\x03\0\0\0".as_slice(), &[0; 16]].concat();
/// # std::fs::write(&path, &no_tensors).unwrap();
/// // SAFETY: nobody else has the file.
/// let model = unsafe { gguf::map(&path)? };
/// assert!(model.metadata.is_empty());
/// # std::fs::remove_file(path).unwrap();
/// # Ok::<(), flex::Error>(())
/// ```
#[cfg(feature = "std")]
pub unsafe fn map(path: impl AsRef<std::path::Path>) -> Result<Gguf> {
    // SAFETY: MAP1, by the caller's promise.
    read(unsafe { super::file::map(path.as_ref()) }?)
}
/// Reads the bytes of a file; the tensors are copies. Errors if it violates the format.
///
/// ```
/// use flex::io::gguf::{self, Entry, Value};
/// // version 3, no tensors, one entry of metadata: "heads", an unsigned integer of 32 bits
/// let mut file = b"GGUF\x03\0\0\0".to_vec();
/// file.extend([0u64, 1, 5].map(u64::to_le_bytes).as_flattened());
/// file.extend(b"heads");
/// file.extend([4u32, 12].map(u32::to_le_bytes).as_flattened());
/// let model = gguf::parse(&file)?;
/// assert_eq!(model.metadata["heads"], Value::Unsigned(12));
/// assert!(model.entries.is_empty());
/// # Ok::<(), flex::Error>(())
/// ```
pub fn parse(bytes: &[u8]) -> Result<Gguf> {
    read(FileSource {
        name: "gguf".into(),
        content: Content::Slice(bytes),
    })
}

/// A tensor's entry in the header.
struct TensorInfo {
    name: String,
    shape: Vec<usize>,
    kind: u32,
    offset: u64,
}

/// Reads the header in pieces.
struct Reader<'a> {
    source: FileSource<'a>,
    len: u64,
    /// The piece's offset in the file, and how much of it has been consumed.
    start: u64,
    piece: Vec<u8>,
    read: usize,
}
/// Bytes in a piece.
const PIECE: usize = 1 << 16;
/// The deepest nesting of arrays.
const DEEP: usize = 4;

impl Reader<'_> {
    fn at(&self) -> u64 {
        self.start + self.read as u64
    }
    /// The next `n` bytes; errors if there are fewer.
    fn bytes(&mut self, n: u64) -> Result<&[u8]> {
        if n > self.len.saturating_sub(self.at()) {
            let at = self.at();
            return Err(self
                .source
                .wrong(message!("truncated: {n} bytes expected at offset {at}")));
        }
        let n = usize::try_from(n).map_err(|_| Error::memory::<u8>(usize::MAX))?;
        if self.piece.len() - self.read < n {
            let start = self.at();
            let size = (self.len - start).min(n.max(PIECE) as u64) as usize;
            self.piece.clear();
            fallible::reserve(&mut self.piece, size)?;
            self.piece.resize(size, 0);
            self.source.read(start, &mut self.piece)?;
            (self.start, self.read) = (start, 0);
        }
        self.read += n;
        Ok(&self.piece[self.read - n..self.read])
    }
    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        bytes.copy_from_slice(self.bytes(N as u64)?);
        Ok(bytes)
    }
    fn u32(&mut self) -> Result<u32> {
        Ok(u32::from_le_bytes(self.array()?))
    }
    fn u64(&mut self) -> Result<u64> {
        Ok(u64::from_le_bytes(self.array()?))
    }
    /// A count of items of at least `least` bytes each, checked against the file's length.
    fn count(&mut self, least: u64) -> Result<usize> {
        let n = self.u64()?;
        if n > self.len / least {
            return Err(self
                .source
                .wrong(message!("{n} entries don't fit in the file")));
        }
        Ok(n as usize)
    }
    fn text(&mut self) -> Result<String> {
        let n = self.u64()?;
        let bytes = fallible::copy(self.bytes(n)?)?;
        String::from_utf8(bytes).map_err(|_| self.source.wrong("a text is not UTF-8"))
    }
    fn value(&mut self, kind: u32, deep: usize) -> Result<Value> {
        Ok(match kind {
            0 => Value::Unsigned(self.array::<1>()?[0] as u64),
            1 => Value::Signed(self.array::<1>()?[0] as i8 as i64),
            2 => Value::Unsigned(u16::from_le_bytes(self.array()?) as u64),
            3 => Value::Signed(i16::from_le_bytes(self.array()?) as i64),
            4 => Value::Unsigned(self.u32()? as u64),
            5 => Value::Signed(self.u32()? as i32 as i64),
            6 => Value::Float(f32::from_bits(self.u32()?) as f64),
            7 => Value::Bool(self.array::<1>()?[0] != 0),
            8 => Value::Text(self.text()?),
            9 if deep < DEEP => {
                let kind = self.u32()?;
                let n = self.count(if matches!(kind, 8 | 9) { 8 } else { 1 })?;
                let mut list = Vec::new();
                for _ in 0..n {
                    fallible::push(&mut list, self.value(kind, deep + 1)?)?;
                }
                Value::List(list)
            }
            10 => Value::Unsigned(self.u64()?),
            11 => Value::Signed(self.u64()? as i64),
            12 => Value::Float(f64::from_bits(self.u64()?)),
            _ => {
                return Err(self.source.wrong(message!("unknown metadata type {kind}")));
            }
        })
    }
    fn info(&mut self) -> Result<TensorInfo> {
        let name = self.text()?;
        let rank = self.u32()?;
        if rank > 8 {
            return Err(self
                .source
                .wrong(message!("tensor {} has {rank} axes", Excerpt(&name))));
        }
        let mut shape = Vec::new();
        for _ in 0..rank {
            let size = usize::try_from(self.u64()?);
            let size = size.map_err(|_| {
                self.source
                    .wrong(message!("tensor {} is too large", Excerpt(&name)))
            })?;
            shape.insert(0, size); // the file stores the innermost axis first
        }
        let (kind, offset) = (self.u32()?, self.u64()?);
        Ok(TensorInfo {
            name,
            shape,
            kind,
            offset,
        })
    }
}

fn read(source: FileSource) -> Result<Gguf> {
    let Some(len) = source.len() else {
        return Err(
            source.wrong("a GGUF file is read from a file or from memory, not from a stream")
        );
    };
    let mut header = Reader {
        source,
        len,
        start: 0,
        piece: Vec::new(),
        read: 0,
    };
    if header.array()? != *b"GGUF" {
        return Err(header
            .source
            .wrong("no GGUF file: its first bytes are others"));
    }
    let version = header.u32()?;
    if !(2..=3).contains(&version) {
        return Err(header.source.wrong(message!(
            "GGUF version {version} is not supported; 2 and 3 are"
        )));
    }
    let (tensors, pairs) = (header.count(24)?, header.count(13)?);
    let mut file = Gguf::default();
    for _ in 0..pairs {
        let (name, kind) = (header.text()?, header.u32()?);
        let value = header.value(kind, 0)?;
        file.metadata.insert(name, value);
    }
    let mut infos = fallible::with_capacity(tensors)?;
    for _ in 0..tensors {
        infos.push(header.info()?);
    }
    let align = match file.metadata.get("general.alignment") {
        None => 32,
        Some(Value::Unsigned(n @ 1..=0x10000)) => *n,
        Some(_) => return Err(header.source.wrong("general.alignment is no size")),
    };
    let data = header.at().next_multiple_of(align);
    let mut starts = fallible::collect(infos.iter().map(|i| Ok::<_, Error>(i.offset)))?;
    let room = len.saturating_sub(data);
    starts.push(room);
    starts.sort_unstable();
    // tensors must not overlap: otherwise a small file could claim a large amount of memory
    let mut left = room;
    for info in infos {
        let after = starts.partition_point(|start| *start <= info.offset);
        let next = starts.get(after).copied().unwrap_or(info.offset);
        let taken = match block_of(info.kind) {
            BlockFormat::Unknown => Some(next - info.offset),
            BlockFormat::Number(dtype) => super::source::byte_len(&info.shape, dtype),
            BlockFormat::Decoded([bytes, numbers]) | BlockFormat::Opaque([bytes, numbers]) => {
                super::source::byte_len(&info.shape, DType::U8)
                    .and_then(|n| (n / numbers as u64).checked_mul(bytes as u64))
            }
        };
        // a tensor that reaches beyond the file is an error when it is read
        let within = |n: &u64| info.offset.checked_add(*n).is_some_and(|end| end <= room);
        if let Some(taken) = taken.filter(within) {
            left = left.checked_sub(taken).ok_or_else(|| {
                let message = message!("tensor {} overlaps another", Excerpt(&info.name));
                header.source.wrong(message)
            })?;
        }
        let entry = entry(&mut header.source, data, &info, next - info.offset)?;
        if file.entries.insert(info.name, entry).is_some() {
            return Err(header.source.wrong("two tensors have one name"));
        }
    }
    Ok(file)
}

/// How a tensor is stored.
enum BlockFormat {
    Number(DType),
    /// Blocks of this many bytes and values, which flex decodes.
    Decoded([usize; 2]),
    /// The same, which stay bytes.
    Opaque([usize; 2]),
    Unknown,
}
/// The formats whose blocks stay bytes: the number, and a block's bytes and values. ggml's Q8_1,
/// which no file has, is left out: its two definitions differ.
const OPAQUE: [(u32, [usize; 2]); 21] = [
    (3, [20, 32]),   // Q4_1
    (6, [22, 32]),   // Q5_0
    (7, [24, 32]),   // Q5_1
    (10, [84, 256]), // Q2_K
    (11, [110, 256]),
    (13, [176, 256]),
    (15, [292, 256]), // Q8_K
    (16, [66, 256]),  // IQ2_XXS
    (17, [74, 256]),
    (18, [98, 256]),
    (19, [50, 256]),
    (20, [18, 32]),
    (21, [110, 256]),
    (22, [82, 256]),
    (23, [136, 256]),
    (29, [56, 256]), // IQ1_M
    (34, [54, 256]), // TQ1_0
    (35, [66, 256]),
    (39, [17, 32]), // microscaling floats of 4 bits
    (40, [36, 64]),
    (41, [18, 128]), // Q1_0
];
fn block_of(kind: u32) -> BlockFormat {
    BlockFormat::Number(match kind {
        0 => DType::F32,
        1 => DType::F16,
        24 => DType::I8,
        25 => DType::I16,
        26 => DType::I32,
        27 => DType::I64,
        28 => DType::F64,
        30 => DType::BF16,
        2 => return BlockFormat::Decoded(Q4_0),
        8 => return BlockFormat::Decoded(Q8_0),
        12 => return BlockFormat::Decoded(Q4_K),
        14 => return BlockFormat::Decoded(Q6_K),
        _ => {
            let sizes = OPAQUE.iter().find(|format| format.0 == kind);
            return sizes.map_or(BlockFormat::Unknown, |(_, sizes)| {
                BlockFormat::Opaque(*sizes)
            });
        }
    })
}

/// Reads a tensor, which has `room` bytes if the size of its blocks is unknown.
fn entry(source: &mut FileSource, data: u64, info: &TensorInfo, room: u64) -> Result<Entry> {
    let start = data.checked_add(info.offset);
    let start = start.ok_or_else(|| {
        source.wrong(message!(
            "tensor {} begins beyond the file",
            Excerpt(&info.name)
        ))
    })?;
    let format = block_of(info.kind);
    let [bytes, numbers] = match format {
        BlockFormat::Number(dtype) => {
            let numbers = source.tensor(start, &info.shape, dtype, false)?;
            return Ok(Entry::Tensor(numbers));
        }
        BlockFormat::Decoded(sizes) | BlockFormat::Opaque(sizes) => sizes,
        BlockFormat::Unknown => {
            let room = usize::try_from(room).unwrap_or(usize::MAX);
            return other(source, start, info, room);
        }
    };
    // unpacked or decoded, the values must be addressable, even if there are none
    if super::source::byte_len(&info.shape, DType::F32).is_none() {
        let message = message!("tensor {} is too large", Excerpt(&info.name));
        return Err(source.wrong(message));
    }
    let elements = info.shape.iter().try_fold(1usize, |n, d| n.checked_mul(*d));
    let fits = info.shape.last().is_some_and(|n| n.is_multiple_of(numbers));
    let Some(count) = elements.filter(|_| fits).map(|n| n / numbers) else {
        let message = message!(
            "tensor {} of shape {:?} has no whole blocks of {numbers}",
            Excerpt(&info.name),
            info.shape
        );
        return Err(source.wrong(message));
    };
    if let BlockFormat::Opaque(_) = format {
        return other(source, start, info, count * bytes);
    }
    let raw = source.tensor(start, &[count, bytes], DType::U8, false)?;
    unpacked(raw.contiguous()?.as_bytes(), info, count)
}

/// The bytes of a tensor that is not decoded.
fn other(source: &mut FileSource, start: u64, info: &TensorInfo, len: usize) -> Result<Entry> {
    Ok(Entry::Other {
        kind: info.kind,
        shape: info.shape.clone(),
        bytes: source.tensor(start, &[len], DType::U8, false)?,
    })
}

/// Unpacks blocks into a tensor.
fn unpacked(raw: &[u8], info: &TensorInfo, count: usize) -> Result<Entry> {
    // values that share a scale, their levels, and the dtype of scales
    let (share, levels, scale) = match info.kind {
        2 => (32, Levels::I4, DType::F16),
        8 => (32, Levels::I8, DType::F16),
        14 => (16, Levels::I8, DType::F32),
        _ => {
            let mut y = Tensor::empty(&info.shape[..], DType::F32)?;
            let cost = Cost {
                bytes: 1168,
                flops: 1024,
            };
            par::split(y.as_mut_slice::<f32>()?, 256, 1, cost, |r, d| {
                blocks::q4_k(&raw[r.start * Q4_K[0]..r.end * Q4_K[0]], d)
            });
            return Ok(Entry::Tensor(y));
        }
    };
    let last = info.shape.len() - 1;
    let (mut values, mut scales) = (
        Shape::from_slice(&info.shape),
        Shape::from_slice(&info.shape),
    );
    scales[last] /= share;
    values[last] /= levels.per_byte();
    let mut values = Tensor::empty(&values, levels.stored())?;
    let mut scales = Tensor::empty(&scales, scale)?;
    let to = values.as_mut_bytes()?;
    let per_block = to.len() / count.max(1);
    let cost = Cost {
        bytes: 2 * per_block,
        flops: 4 * per_block,
    };
    if info.kind == 14 {
        let steps = Out::new(scales.as_mut_slice::<f32>()?);
        par::split(to, per_block, 1, cost, |r, d| {
            // SAFETY: OUT1: ranges of blocks are disjoint, and so are those of their scales.
            let steps = unsafe { steps.part(16 * r.start..16 * r.end) };
            blocks::q6_k(&raw[r.start * Q6_K[0]..r.end * Q6_K[0]], d, steps)
        });
    } else {
        let steps = Out::new(scales.as_mut_slice()?);
        par::split(to, per_block, 1, cost, |r, d| {
            // SAFETY: OUT1: as above.
            let steps = unsafe { steps.part(r.clone()) };
            match levels {
                Levels::I4 => blocks::q4_0(&raw[r.start * Q4_0[0]..r.end * Q4_0[0]], d, steps),
                _ => blocks::q8_0(&raw[r.start * Q8_0[0]..r.end * Q8_0[0]], d, steps),
            }
        });
    }
    let shape = Shape::from_slice(&info.shape);
    Ok(Entry::Quantized(QTensor::from_parts(
        values, scales, None, levels, shape,
    )?))
}
