//! NumPy's format for a single array: a header, which is a Python dictionary, and the elements.
//!
//! Versions 1 to 3 are read, in C and in Fortran order (then the tensor is a transposed view), in
//! both byte orders. bfloat16 has no name in the format: NumPy writes it as void elements of two
//! bytes (`V2`). Those are read as bfloat16, and bfloat16 is written that way; in NumPy,
//! `.view(ml_dtypes.bfloat16)` restores the dtype. A void byte may be any of a dozen dtypes: float8
//! is neither read nor written.

use super::json::{ParseError, Read, Text};
use super::raw::{Put, put_elements};
use super::source::{Content, FileSource, MAX_AXES};
use crate::dtype::DType;
use crate::error::{Error, Excerpt, Result};
use crate::fallible::{append, filled, push};
use crate::tensor::Tensor;
use alloc::vec::Vec;
use core::fmt::Write;

const MAGIC: [u8; 6] = *b"\x93NUMPY";
/// The longest header accepted, in bytes: the limit of the format's first version, and several
/// times what `MAX_AXES` axes need.
const LONGEST_HEADER: usize = 65_535;

/// Reads the tensor of a file into memory.
///
/// Errors with [`Error::Io`] if the file can't be read, with [`Error::File`] if it violates the
/// format, has a header of more than 64 KiB, or elements of a dtype that flex doesn't have.
///
/// ```
/// use flex::{Tensor, io::npy};
/// let path = std::env::temp_dir().join("flex_doc_example.npy");
/// npy::save(&path, &Tensor::from_slice(&[1.5f32, 2.5], [2])?)?;
/// assert_eq!(npy::load(&path)?.to_vec::<f32>()?, [1.5, 2.5]);
/// # std::fs::remove_file(path).unwrap();
/// # Ok::<(), flex::Error>(())
/// ```
#[cfg(feature = "std")]
pub fn load(path: impl AsRef<std::path::Path>) -> Result<Tensor> {
    tensor(&mut super::file::open(path.as_ref())?).map(|(t, _)| t)
}

/// Maps a file into memory; its tensor is a view of the mapping. Errors like [`load`].
///
/// # Safety
/// While the tensor or a view of it lives, nobody writes to the file in place or truncates it
/// ([MAP1](super#mapped-files-must-not-change)).
///
/// ```
/// use flex::{Tensor, io::npy};
/// let path = std::env::temp_dir().join("flex_doc_example_mapped.npy");
/// npy::save(&path, &Tensor::from([1.5f32, 2.5]))?;
/// // SAFETY: nobody else has the file.
/// let x = unsafe { npy::map(&path)? };
/// assert_eq!(x.to_vec::<f32>()?, [1.5, 2.5]);
/// # std::fs::remove_file(path).unwrap();
/// # Ok::<(), flex::Error>(())
/// ```
#[cfg(feature = "std")]
pub unsafe fn map(path: impl AsRef<std::path::Path>) -> Result<Tensor> {
    // SAFETY: MAP1, by the caller's promise.
    tensor(&mut unsafe { super::file::map(path.as_ref()) }?).map(|(t, _)| t)
}

/// Reads the tensor from the bytes of a file. Trailing bytes are ignored, as by NumPy. Errors with
/// [`Error::File`] if they violate the format.
///
/// ```
/// use flex::{DType, Tensor, io::npy};
/// let x = Tensor::from_slice(&[1u8, 2, 3, 4, 5, 6], [2, 3])?;
/// let y = npy::parse(&npy::write(&x)?)?;
/// assert_eq!((y.shape(), y.dtype(), y.to_vec::<u8>()?), (&[2, 3][..], DType::U8, vec![1, 2, 3, 4, 5, 6]));
/// # Ok::<(), flex::Error>(())
/// ```
pub fn parse(bytes: &[u8]) -> Result<Tensor> {
    tensor(&mut FileSource {
        name: "npy".into(),
        content: Content::Slice(bytes),
    })
    .map(|(t, _)| t)
}

/// Reads the next tensor from a stream, and nothing beyond it.
///
/// Errors like [`load`].
///
/// ```
/// use flex::{Tensor, io::npy};
/// let mut file = Vec::new();
/// npy::write_to(&mut file, &Tensor::from_slice(&[1u8, 2], [2])?)?;
/// npy::write_to(&mut file, &Tensor::from_slice(&[3u8], [1])?)?;
/// let mut file = file.as_slice();
/// assert_eq!(npy::read_from(&mut file)?.to_vec::<u8>()?, [1, 2]);
/// assert_eq!(npy::read_from(&mut file)?.to_vec::<u8>()?, [3]);
/// # Ok::<(), flex::Error>(())
/// ```
#[cfg(feature = "std")]
pub fn read_from(from: impl std::io::Read) -> Result<Tensor> {
    tensor(&mut FileSource {
        name: "npy".into(),
        content: Content::stream(from, None),
    })
    .map(|(t, _)| t)
}

/// Reads the tensor of a stream of exactly `len` bytes, such as a member of an archive.
#[cfg(feature = "bindings")]
#[doc(hidden)]
pub fn read_member(name: &str, from: impl std::io::Read, len: u64) -> Result<Tensor> {
    let mut source = FileSource {
        name: name.into(),
        content: Content::stream(from, Some(len)),
    };
    let (t, end) = tensor(&mut source)?;
    source.expect_end(end)?;
    Ok(t)
}

/// Writes a tensor to a file, in C order. An existing one is replaced as a whole, so it may be
/// mapped, even by this very tensor.
///
/// Errors with [`Error::Io`] if the file can't be written; the old file then stays.
/// [`Error::DType`] for float8, [`Error::Value`] for more than 1024 axes.
///
/// ```
/// use flex::{Tensor, io::npy};
/// let path = std::env::temp_dir().join("flex_doc_example_save.npy");
/// npy::save(&path, &Tensor::from([[1i32, 2], [3, 4]]))?;
/// assert_eq!(npy::load(&path)?.shape(), [2, 2]);
/// # std::fs::remove_file(path).unwrap();
/// # Ok::<(), flex::Error>(())
/// ```
#[cfg(feature = "std")]
pub fn save(path: impl AsRef<std::path::Path>, t: &Tensor) -> Result<()> {
    let mut file = super::replacement::Replacement::create(path.as_ref())?;
    put(t, &mut |bytes| file.put(bytes))?;
    file.commit()
}

/// Writes the bytes of such a file to a stream. Errors like [`save`].
///
/// ```
/// use flex::{Tensor, io::npy};
/// let mut file = Vec::new();
/// npy::write_to(&mut file, &Tensor::from([1.5f32]))?;
/// assert_eq!(npy::parse(&file)?.to_vec::<f32>()?, [1.5]);
/// # Ok::<(), flex::Error>(())
/// ```
#[cfg(feature = "std")]
pub fn write_to(mut to: impl std::io::Write, t: &Tensor) -> Result<()> {
    put(t, &mut |bytes| {
        to.write_all(bytes)
            .map_err(|e| Error::io("npy".as_ref(), &e))
    })
}

/// Writes the bytes of such a file to memory.
///
/// Errors with [`Error::DType`] for float8 and with [`Error::Value`] for more than 1024 axes.
///
/// ```
/// use flex::{Tensor, io::npy};
/// let file = npy::write(&Tensor::from([1u8, 2]))?;
/// assert!(file.starts_with(b"\x93NUMPY") && file.ends_with(&[1, 2]));
/// # Ok::<(), flex::Error>(())
/// ```
pub fn write(t: &Tensor) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    put(t, &mut |bytes| append(&mut out, bytes))?;
    Ok(out)
}

/// Writes the header and the elements, which are aligned to 64 bytes.
fn put(t: &Tensor, put: Put) -> Result<()> {
    if t.rank() > MAX_AXES {
        return Err(Error::value(
            "npy.save",
            message!("{} axes exceed the limit of {MAX_AXES}", t.rank()),
        ));
    }
    let Some(letter) = letter(t.dtype()) else {
        let way_out = "save it as safetensors, or its bytes as uint8";
        return Err(Error::dtype(
            "npy.save",
            message!("the format has no {}: {way_out}", t.dtype()),
        ));
    };
    let mut text = Text::default();
    let written = header(t, letter, &mut text);
    text.written(written)?;
    put(&MAGIC)?;
    put(&[1, 0])?;
    put(&(text.0.len() as u16).to_le_bytes())?; // the number of axes was checked
    put(text.0.as_bytes())?;
    put_elements(t, put)
}
fn header(t: &Tensor, letter: char, text: &mut Text) -> core::fmt::Result {
    let (order, size) = (
        if t.dtype().size() == 1 { '|' } else { '<' },
        t.dtype().size(),
    );
    write!(
        text,
        "{{'descr': '{order}{letter}{size}', 'fortran_order': False, 'shape': ("
    )?;
    for (k, n) in t.shape().iter().enumerate() {
        write!(text, "{}{n}", if k == 0 { "" } else { ", " })?;
    }
    text.write_str(if t.rank() == 1 { ",), }" } else { "), }" })?;
    let before = MAGIC.len() + 4;
    for _ in 0..(before + text.0.len() + 1).next_multiple_of(64) - before - text.0.len() - 1 {
        text.write_str(" ")?;
    }
    text.write_str("\n")
}

/// NumPy's letter for the kind of a dtype, which precedes its size; `None` if the format has none.
fn letter(dtype: DType) -> Option<char> {
    use crate::dtype::Class::*;
    Some(match dtype.class() {
        Boolean => 'b',
        Signed => 'i',
        Unsigned => 'u',
        Float8 => return None,
        Half if dtype == DType::BF16 => 'V',
        Half | Float => 'f',
        Complex => 'c',
    })
}
/// The dtype of a `descr`, and whether it is big-endian.
fn dtype(name: &str) -> Option<(DType, bool)> {
    let order = name.chars().next()?;
    let name = name.strip_prefix(['<', '>', '=', '|']).unwrap_or(name);
    let size = |digits: &str| {
        if digits.starts_with(['0', '+']) {
            None
        } else {
            digits.parse::<usize>().ok()
        }
    };
    let is = |d: &DType| {
        letter(*d)
            .and_then(|letter| name.strip_prefix(letter))
            .is_some_and(|n| size(n) == Some(d.size()))
    };
    let dtype = DType::ALL.into_iter().find(is)?;
    Some((
        dtype,
        order == '>' || order == '=' && cfg!(target_endian = "big"),
    ))
}

/// The tensor, and the position of its end.
fn tensor(source: &mut FileSource) -> Result<(Tensor, u64)> {
    let mut start = [0; 8];
    source.read(0, &mut start)?;
    if start[..6] != MAGIC {
        return Err(source.wrong("not an npy file: it doesn't begin with \\x93NUMPY"));
    }
    let mut len = [0; 4];
    let width = match start[6] {
        1 => 2,
        2 | 3 => 4,
        version => {
            return Err(source.wrong(message!(
                "npy format version {version} is not supported; versions 1 to 3 are"
            )));
        }
    };
    source.read(8, &mut len[..width])?;
    let (before, len) = (8 + width as u64, u32::from_le_bytes(len) as usize);
    if len > LONGEST_HEADER {
        return Err(source.wrong(message!(
            "header of {len} bytes exceeds the limit of {LONGEST_HEADER}"
        )));
    }
    let mut text = [0; 128]; // the length of most headers
    let mut long;
    let text = if len <= text.len() {
        &mut text[..len]
    } else {
        long = filled(0, len)?;
        &mut long
    };
    source.read(before, text)?;
    let refused = |why: ParseError| match why {
        ParseError::Malformed(what) => source.wrong(message!("malformed npy header: {what}")),
        ParseError::Other(e) => e,
    };
    let text = core::str::from_utf8(text).map_err(|_| refused("it is not text".into()))?;
    let Dictionary {
        descr,
        fortran,
        mut shape,
    } = Dictionary::read(text).map_err(refused)?;
    let (dtype, big) = dtype(descr)
        .ok_or_else(|| refused(message!("flex has no dtype {}", Excerpt(&descr)).into()))?;
    let start = before + len as u64;
    if fortran {
        shape.reverse();
    }
    let t = source.tensor(start, &shape, dtype, big)?;
    let end = start + (t.len() * dtype.size()) as u64;
    if !fortran {
        return Ok((t, end));
    }
    let axes: smallvec::SmallVec<[isize; 6]> = (0..shape.len() as isize).rev().collect();
    Ok((t.permute(&axes)?, end))
}

/// The entries of the header's dictionary.
struct Dictionary<'a> {
    descr: &'a str,
    fortran: bool,
    shape: Vec<usize>,
}

/// A parser of Python literals. Errors are the message.
struct Literal<'a>(&'a str);

impl<'a> Dictionary<'a> {
    fn read(text: &'a str) -> Read<Dictionary<'a>> {
        let mut text = Literal(text);
        let (mut descr, mut fortran, mut shape) = (None, None, None);
        text.expect('{')?;
        while !text.accept('}') {
            let key = text.string()?;
            text.expect(':')?;
            match key {
                "descr" => {
                    descr = Some(
                        text.string()
                            .map_err(|_| "elements with fields are not supported")?,
                    )
                }
                "fortran_order" => fortran = Some(text.boolean()?),
                "shape" => shape = Some(text.tuple()?),
                _ => return Err(message!("unknown key {}", Excerpt(&key)).into()),
            }
            if !text.accept(',') {
                text.expect('}')?;
                break;
            }
        }
        if !text.0.trim().is_empty() {
            return Err(message!("{} after the header's end", Excerpt(&text.0.trim())).into());
        }
        let missing = |key: &str| message!("{key} is missing");
        Ok(Dictionary {
            descr: descr.ok_or_else(|| missing("descr"))?,
            fortran: fortran.ok_or_else(|| missing("fortran_order"))?,
            shape: shape.ok_or_else(|| missing("shape"))?,
        })
    }
}

impl<'a> Literal<'a> {
    fn accept(&mut self, c: char) -> bool {
        let rest = self.0.trim_start().strip_prefix(c);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }
    fn expect(&mut self, c: char) -> Read<()> {
        if self.accept(c) {
            Ok(())
        } else {
            Err(message!("{c:?} is missing before {}", Excerpt(&self.0)).into())
        }
    }
    fn string(&mut self) -> Read<&'a str> {
        let quote = if self.accept('"') {
            '"'
        } else {
            self.expect('\'').map(|()| '\'')?
        };
        let (text, rest) = self.0.split_once(quote).ok_or("unterminated string")?;
        self.0 = rest;
        Ok(text)
    }
    /// Letters and digits.
    fn word(&mut self) -> &'a str {
        let text = self.0.trim_start();
        let (word, rest) = text.split_at(
            text.find(|c: char| !c.is_ascii_alphanumeric())
                .unwrap_or(text.len()),
        );
        self.0 = rest;
        word
    }
    fn boolean(&mut self) -> Read<bool> {
        match self.word() {
            "True" => Ok(true),
            "False" => Ok(false),
            word => Err(message!("fortran_order is {}", Excerpt(&word)).into()),
        }
    }
    fn tuple(&mut self) -> Read<Vec<usize>> {
        let mut sizes = Vec::new();
        self.expect('(')?;
        while !self.accept(')') {
            let word = self.word();
            // the suffix of Python 2's long integers
            let number = word.strip_suffix('L').unwrap_or(word);
            let size: u64 = number
                .parse()
                .map_err(|e| message!("size {} in the shape: {e}", Excerpt(&word)))?;
            let size = usize::try_from(size)
                .map_err(|_| message!("size {} in the shape overflows", Excerpt(&word)))?;
            if number.len() > 1 && number.starts_with('0') {
                return Err(message!("size {} in the shape begins with 0", Excerpt(&word)).into());
            }
            push(&mut sizes, size)?;
            if !self.accept(',') {
                self.expect(')')?;
                if sizes.len() == 1 {
                    return Err("the shape is a number, not a tuple, for want of a comma".into());
                }
                break;
            }
        }
        Ok(sizes)
    }
}
