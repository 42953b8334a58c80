//! NumPy's format for one array: a header that is a Python dictionary, then the elements.
//!
//! Versions 1 to 3 are read, in C and in Fortran order (then the tensor is a transposed view), in both byte orders. bfloat16 has no
//! name in the format: NumPy writes its arrays as two bytes without a meaning (`V2`). Such elements are read as bfloat16, and
//! bfloat16 is written that way; in NumPy, `.view(ml_dtypes.bfloat16)` gives the meaning back.

use super::raw::with_bytes;
use super::source::{Content, Source};
use crate::dtype::DType;
use crate::error::Result;
use crate::tensor::Tensor;
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

const MAGIC: [u8; 6] = *b"\x93NUMPY";

/// The tensor of a file. With `mmap` it lies in a mapping of it, and the file must not be written to or cut short while the tensor
/// lives: otherwise behaviour is undefined, as [the module](super#mapped-files-must-not-change) explains. Without, it is read.
///
/// Errors with [`Error::File`](crate::Error::File) where the file can't be read, isn't what the format says, or has elements that
/// flex has no dtype for.
///
/// ```
/// use flex::{Tensor, io::npy};
/// let path = std::env::temp_dir().join("flex_doc_example.npy");
/// npy::save(&path, &Tensor::from_slice(&[1.5f32, 2.5], [2])?)?;
/// assert_eq!(npy::load(&path, true)?.to_vec::<f32>()?, [1.5, 2.5]);
/// # std::fs::remove_file(path).unwrap();
/// # Ok::<(), flex::Error>(())
/// ```
#[cfg(feature = "std")]
pub fn load(path: impl AsRef<std::path::Path>, mmap: bool) -> Result<Tensor> {
    tensor(super::file::open(path.as_ref(), mmap)?)
}

/// A copy of the tensor of a file's bytes. What follows the elements is left alone, as NumPy does.
///
/// ```
/// use flex::{DType, Tensor, io::npy};
/// let x = Tensor::from_slice(&[1u8, 2, 3, 4, 5, 6], [2, 3])?;
/// let y = npy::parse(&npy::write(&x)?)?;
/// assert_eq!((y.shape(), y.dtype(), y.to_vec::<u8>()?), (&[2, 3][..], DType::U8, vec![1, 2, 3, 4, 5, 6]));
/// # Ok::<(), flex::Error>(())
/// ```
pub fn parse(bytes: &[u8]) -> Result<Tensor> {
    tensor(Source { name: "npy".into(), content: Content::Slice(Cow::Borrowed(bytes)) })
}

/// Writes a tensor to a file, in C order. An existing one is replaced as a whole, so it may be mapped, even by this very tensor.
///
/// Errors with [`Error::File`](crate::Error::File) where the file can't be written; what was there before then stays.
#[cfg(feature = "std")]
pub fn save(path: impl AsRef<std::path::Path>, t: &Tensor) -> Result<()> {
    super::file::replace(path.as_ref(), |file| {
        file.put(&header(t))?;
        with_bytes(t, |bytes| file.put(bytes))?
    })
}

/// The bytes of such a file.
pub fn write(t: &Tensor) -> Result<Vec<u8>> {
    let mut out = header(t);
    with_bytes(t, |bytes| out.extend_from_slice(bytes))?;
    Ok(out)
}

/// All that stands before the elements; they begin with a cache line.
fn header(t: &Tensor) -> Vec<u8> {
    let sizes: String = t.shape().iter().map(|n| format!("{n}, ")).collect();
    let shape = if t.rank() == 1 { sizes.trim_end() } else { sizes.trim_end_matches(", ") };
    let mut text = format!("{{'descr': '{}', 'fortran_order': False, 'shape': ({shape}), }}", descr(t.dtype()));
    let wide = text.len() > 65_000;
    let before = MAGIC.len() + 2 + if wide { 4 } else { 2 };
    let padding = (before + text.len() + 1).next_multiple_of(64) - before - text.len() - 1;
    text.extend(core::iter::repeat_n(' ', padding));
    text.push('\n');
    let mut out = MAGIC.to_vec();
    out.extend_from_slice(if wide { &[2, 0] } else { &[1, 0] });
    out.extend_from_slice(&(text.len() as u32).to_le_bytes()[..if wide { 4 } else { 2 }]);
    out.extend_from_slice(text.as_bytes());
    out
}

/// NumPy's name for the little-endian form of a dtype.
fn descr(dtype: DType) -> String {
    use crate::dtype::Class::*;
    let size = dtype.size();
    let kind = match dtype.class() {
        Boolean => 'b',
        Sint => 'i',
        Uint => 'u',
        Half if dtype == DType::BF16 => 'V',
        Half | Float => 'f',
        Complex => 'c',
    };
    format!("{}{kind}{size}", if size == 1 { '|' } else { '<' })
}
/// The dtype of that name, and whether it is big-endian.
fn dtype(name: &str) -> Option<(DType, bool)> {
    let order = name.chars().next()?;
    let kind = name.strip_prefix(['<', '>', '=', '|']).unwrap_or(name);
    let dtype = DType::ALL.into_iter().find(|d| descr(*d)[1..] == *kind)?;
    Some((dtype, order == '>' || order == '=' && cfg!(target_endian = "big")))
}

fn tensor(mut source: Source) -> Result<Tensor> {
    let mut start = [0; 8];
    source.read(0, &mut start)?;
    if start[..6] != MAGIC {
        return Err(source.wrong("no npy file: it doesn't begin with \\x93NUMPY"));
    }
    let mut len = [0; 4];
    let width = match start[6] {
        1 => 2,
        2 | 3 => 4,
        version => return Err(source.wrong(format!("version {version} of the npy format; 1 to 3 are known"))),
    };
    source.read(8, &mut len[..width])?;
    let (before, len) = (8 + width as u64, u32::from_le_bytes(len));
    if len as u64 > source.len() - before {
        return Err(source.wrong(format!("cut short: a header of {len} bytes in a file of {}", source.len())));
    }
    let mut text = vec![0; len as usize];
    source.read(before, &mut text)?;
    let wrong = |what: &str| source.wrong(format!("bad npy header: {what}"));
    let text = core::str::from_utf8(&text).map_err(|_| wrong("it is no text"))?;
    let Dictionary { descr, fortran, mut shape } = Dictionary::read(text).map_err(|what| wrong(&what))?;
    let (dtype, big) = dtype(descr).ok_or_else(|| wrong(&format!("flex has no dtype {descr:?}")))?;
    let start = before + len as u64;
    if !fortran {
        return source.tensor(start, &shape, dtype, big);
    }
    shape.reverse();
    let axes: Vec<isize> = (0..shape.len() as isize).rev().collect();
    source.tensor(start, &shape, dtype, big)?.permute(&axes)
}

/// What the header's dictionary says.
struct Dictionary<'a> {
    descr: &'a str,
    fortran: bool,
    shape: Vec<usize>,
}

/// A Python literal, read from the front. Errors say what is wrong.
struct Literal<'a>(&'a str);
type Read<T> = core::result::Result<T, String>;

impl<'a> Dictionary<'a> {
    fn read(text: &'a str) -> Read<Dictionary<'a>> {
        let mut text = Literal(text);
        let (mut descr, mut fortran, mut shape) = (None, None, None);
        text.expect('{')?;
        while !text.eat('}') {
            let key = text.string()?;
            text.expect(':')?;
            match key {
                "descr" => descr = Some(text.string().map_err(|_| String::from("elements with fields are not supported"))?),
                "fortran_order" => fortran = Some(text.boolean()?),
                "shape" => shape = Some(text.tuple()?),
                _ => return Err(format!("unknown key {key:?}")),
            }
            if !text.eat(',') {
                text.expect('}')?;
                break;
            }
        }
        if !text.0.trim().is_empty() {
            return Err(format!("{:?} after its end", text.0.trim()));
        }
        let missing = |key: &str| format!("{key} is missing");
        Ok(Dictionary {
            descr: descr.ok_or_else(|| missing("descr"))?,
            fortran: fortran.ok_or_else(|| missing("fortran_order"))?,
            shape: shape.ok_or_else(|| missing("shape"))?,
        })
    }
}

impl<'a> Literal<'a> {
    fn eat(&mut self, c: char) -> bool {
        let rest = self.0.trim_start().strip_prefix(c);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }
    fn expect(&mut self, c: char) -> Read<()> {
        if self.eat(c) { Ok(()) } else { Err(format!("{c:?} is missing before {:?}", self.0.chars().take(20).collect::<String>())) }
    }
    fn string(&mut self) -> Read<&'a str> {
        let quote = if self.eat('"') { '"' } else { self.expect('\'').map(|()| '\'')? };
        let (text, rest) = self.0.split_once(quote).ok_or("a string without an end")?;
        self.0 = rest;
        Ok(text)
    }
    /// Letters and digits.
    fn word(&mut self) -> &'a str {
        let text = self.0.trim_start();
        let (word, rest) = text.split_at(text.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(text.len()));
        self.0 = rest;
        word
    }
    fn boolean(&mut self) -> Read<bool> {
        match self.word() {
            "True" => Ok(true),
            "False" => Ok(false),
            word => Err(format!("fortran_order is {word:?}")),
        }
    }
    fn tuple(&mut self) -> Read<Vec<usize>> {
        let mut sizes = Vec::new();
        self.expect('(')?;
        while !self.eat(')') {
            let word = self.word();
            // Python 2 wrote long integers so
            let size: u64 = word.strip_suffix('L').unwrap_or(word).parse().map_err(|e| format!("size {word:?} in the shape: {e}"))?;
            let size = usize::try_from(size).map_err(|_| format!("size {word} in the shape overflows"))?;
            sizes.push(size);
            if !self.eat(',') {
                self.expect(')')?;
                break;
            }
        }
        Ok(sizes)
    }
}
