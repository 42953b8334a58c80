//! Tensors of a file: raw bytes or lists of numbers, in the model or in files beside it.

use super::proto;
use super::types::{Stored, stored};
use crate::dtype::{DType, Element};
use crate::error::{Error, Excerpt, Result};
use crate::fallible;
use crate::io::source::{Content, FileSource, MAX_AXES, byte_len};
use crate::layout::Shape;
use crate::tensor::Tensor;
use alloc::vec::Vec;

const OP: &str = "onnx.load";

/// Where a model's tensors lie.
pub struct Weights<'a> {
    /// The model file, in memory, where large weights may be left out: their bytes are the source's.
    pub file: &'a [u8],
    pub source: FileSource<'a>,
    /// The folder of files with external data; `None` if there is none to read.
    #[cfg(feature = "std")]
    pub folder: Option<super::external::Folder>,
}

/// What a tensor's data are read from.
enum Data<'a> {
    Raw(&'a [u8]),
    Numbers,
    External,
}

impl Weights<'_> {
    /// The tensor that a message describes. Aligned data of a mapped file is borrowed.
    pub fn tensor(&mut self, t: &proto::Tensor) -> Result<Tensor> {
        self.read(t).map_err(|e| match e {
            Error::File { path, message } => Error::File {
                path,
                message: message!("tensor {}: {message}", Excerpt(&t.name)).into(),
            },
            Error::DType { op, message } => {
                Error::dtype(op, message!("tensor {}: {message}", Excerpt(&t.name)))
            }
            e => e,
        })
    }
    fn read(&mut self, t: &proto::Tensor) -> Result<Tensor> {
        let shape = self.shape(t)?;
        let stored = stored(OP, t.data_type)?;
        let data = match (t.data_location, t.raw_data) {
            (1, _) => Data::External,
            (_, Some(raw)) => Data::Raw(raw),
            _ => Data::Numbers,
        };
        match (stored, data) {
            (Stored::Plain(dtype), Data::Raw(raw)) => {
                let Some(len) = byte_len(&shape, dtype) else {
                    let message = message!("a shape of {} axes of {dtype} overflows", shape.len());
                    return Err(self.source.wrong(message));
                };
                if raw.len() as u64 != len {
                    let message = message!(
                        "{} bytes of data where shape {} of {dtype} takes {len}",
                        raw.len(),
                        Excerpt(&shape)
                    );
                    return Err(self.source.wrong(message));
                }
                self.source.tensor(self.place(raw), &shape, dtype, false)
            }
            (Stored::Plain(dtype), Data::Numbers) => self.numbers(t, &shape, dtype),
            (Stored::Nibbles(dtype), Data::Raw(raw)) => {
                let bytes = self
                    .source
                    .tensor(self.place(raw), &[raw.len()], DType::U8, false)?;
                self.nibbles(bytes.as_slice()?, &shape, dtype)
            }
            (Stored::Nibbles(dtype), Data::Numbers) => {
                let bytes = t.int32_data.0.iter().map(|n| Ok(*n as u8));
                let bytes: Vec<u8> = fallible::collect::<_, Error>(bytes)?;
                self.nibbles(&bytes, &shape, dtype)
            }
            #[cfg(feature = "std")]
            (stored, Data::External) => {
                let Some(folder) = &self.folder else {
                    let message = "has its data in another file: load the model by its path";
                    return Err(self.source.wrong(message));
                };
                let mut part = folder.part(&t.external_data)?;
                match stored {
                    Stored::Plain(dtype) => part.tensor(&shape, dtype),
                    Stored::Nibbles(dtype) => {
                        let len = self.count(&shape)?.div_ceil(2);
                        let bytes = part.tensor(&[len], DType::U8)?;
                        self.nibbles(bytes.as_slice()?, &shape, dtype)
                    }
                }
            }
            #[cfg(not(feature = "std"))]
            (_, Data::External) => Err(self
                .source
                .wrong("has its data in another file, which needs the feature std")),
        }
    }
    /// Where these bytes lie in the file.
    fn place(&self, raw: &[u8]) -> u64 {
        (raw.as_ptr() as usize - self.file.as_ptr() as usize) as u64
    }
    fn shape(&self, t: &proto::Tensor) -> Result<Shape> {
        let dims = &t.dims.0;
        if dims.len() > MAX_AXES {
            return Err(self
                .source
                .wrong(message!("a tensor of {} axes", dims.len())));
        }
        dims.iter()
            .map(|n| {
                usize::try_from(*n)
                    .map_err(|_| self.source.wrong(message!("a size of {n} in its shape")))
            })
            .collect()
    }
    fn count(&self, shape: &[usize]) -> Result<usize> {
        let len = byte_len(shape, DType::U8).and_then(|n| usize::try_from(n).ok());
        len.ok_or_else(|| self.source.wrong("its shape overflows"))
    }
    /// Errors unless there is a number for each element.
    fn expect(&self, there: usize, shape: &[usize]) -> Result<()> {
        if there != self.count(shape)? {
            let message = message!("{there} numbers for shape {}", Excerpt(&shape));
            return Err(self.source.wrong(message));
        }
        Ok(())
    }
    /// A tensor of listed numbers: 16- and 8-bit floats are listed by their bits, as integers.
    fn numbers(&self, t: &proto::Tensor, shape: &[usize], dtype: DType) -> Result<Tensor> {
        let bits = |dtype: DType| -> Result<Tensor> {
            self.expect(t.int32_data.0.len(), shape)?;
            Tensor::from_slice(&t.int32_data.0, shape)?.astype(dtype)
        };
        match dtype {
            DType::F32 => self.list(&t.float_data.0, shape),
            DType::F64 => self.list(&t.double_data.0, shape),
            DType::I64 => self.list(&t.int64_data.0, shape),
            DType::U64 => self.list(&t.uint64_data.0, shape),
            DType::U32 => self.list(&t.uint64_data.0, shape)?.astype(DType::U32),
            DType::Complex64 | DType::Complex128 => {
                let pairs: Shape = shape.iter().copied().chain([2]).collect();
                let parts = match dtype {
                    DType::Complex64 => self.list(&t.float_data.0, &pairs)?,
                    _ => self.list(&t.double_data.0, &pairs)?,
                };
                super::complex::joined(&parts)
            }
            d if d.is_storage() => bits(DType::U8)?.bitcast(d),
            DType::F16 | DType::BF16 => bits(DType::U16)?.bitcast(dtype),
            _ => bits(dtype),
        }
    }
    fn list<T: Element>(&self, numbers: &[T], shape: &[usize]) -> Result<Tensor> {
        self.expect(numbers.len(), shape)?;
        Tensor::from_slice(numbers, shape)
    }
    fn nibbles(&self, bytes: &[u8], shape: &[usize], dtype: DType) -> Result<Tensor> {
        let len = self.count(shape)?;
        if bytes.len() != len.div_ceil(2) {
            let message = message!("{} bytes for {len} four-bit integers", bytes.len());
            return Err(self.source.wrong(message));
        }
        let mut values: Vec<u8> = fallible::with_capacity(len)?;
        for i in 0..len {
            let nibble = bytes[i / 2] >> (4 * (i % 2)) & 15;
            values.push(match dtype {
                DType::I8 if nibble > 7 => nibble | 0xf0,
                _ => nibble,
            });
        }
        Tensor::from_slice(&values, shape)?.bitcast(dtype)
    }
}

/// A source for bytes that are copied.
pub fn memory(file: &[u8]) -> Content<'_> {
    Content::Slice(file)
}
