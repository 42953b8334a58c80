//! ONNX's element types and descriptions of values.

use super::proto;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::fallible;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

/// How the elements of a tensor lie in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    /// As flex keeps them.
    Plain(DType),
    /// Two four-bit integers a byte, the first in the low half; read into bytes.
    Nibbles(DType),
}

/// `TensorProto.DataType`: the number, ONNX's name, and how it is read; `None` for what flex has no
/// dtype for.
#[rustfmt::skip]
const TYPES: &[(i32, &str, Option<Stored>)] = &[
    (1, "float", Some(Stored::Plain(DType::F32))),
    (2, "uint8", Some(Stored::Plain(DType::U8))),
    (3, "int8", Some(Stored::Plain(DType::I8))),
    (4, "uint16", Some(Stored::Plain(DType::U16))),
    (5, "int16", Some(Stored::Plain(DType::I16))),
    (6, "int32", Some(Stored::Plain(DType::I32))),
    (7, "int64", Some(Stored::Plain(DType::I64))),
    (8, "string", None),
    (9, "bool", Some(Stored::Plain(DType::Bool))),
    (10, "float16", Some(Stored::Plain(DType::F16))),
    (11, "double", Some(Stored::Plain(DType::F64))),
    (12, "uint32", Some(Stored::Plain(DType::U32))),
    (13, "uint64", Some(Stored::Plain(DType::U64))),
    (14, "complex64", Some(Stored::Plain(DType::Complex64))),
    (15, "complex128", Some(Stored::Plain(DType::Complex128))),
    (16, "bfloat16", Some(Stored::Plain(DType::BF16))),
    (17, "float8e4m3fn", Some(Stored::Plain(DType::F8E4M3))),
    (18, "float8e4m3fnuz", None),
    (19, "float8e5m2", Some(Stored::Plain(DType::F8E5M2))),
    (20, "float8e5m2fnuz", None),
    (21, "uint4", Some(Stored::Nibbles(DType::U8))),
    (22, "int4", Some(Stored::Nibbles(DType::I8))),
    (23, "float4e2m1", None),
    (24, "float8e8m0", None),
    (25, "uint2", None),
    (26, "int2", None),
];

/// ONNX's name of an element type.
pub fn name(number: i32) -> &'static str {
    TYPES
        .iter()
        .find(|t| t.0 == number)
        .map_or("an unknown type", |t| t.1)
}
/// How elements of this type are read. Errors for those that flex lacks.
pub fn stored(op: &'static str, number: i32) -> Result<Stored> {
    let known = TYPES.iter().find(|t| t.0 == number);
    known.and_then(|t| t.2).ok_or_else(|| {
        let name = name(number);
        Error::dtype(
            op,
            message!("element type {number} ({name}) is not supported"),
        )
    })
}
/// The dtype of values of this type. Errors for those that flex lacks, four-bit integers too.
pub fn dtype(op: &'static str, number: i32) -> Result<DType> {
    match stored(op, number)? {
        Stored::Plain(dtype) => Ok(dtype),
        Stored::Nibbles(_) => {
            let name = name(number);
            Err(Error::dtype(
                op,
                message!("values of type {name} are not supported"),
            ))
        }
    }
}

/// The size of an axis.
///
/// Example: [`Value`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Size {
    /// The same for every call.
    Fixed(usize),
    /// The same wherever the name occurs in a call.
    Symbol(Box<str>),
    /// Any.
    Any,
}
impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Size::Fixed(n) => write!(f, "{n}"),
            Size::Symbol(name) => f.write_str(name),
            Size::Any => f.write_str("?"),
        }
    }
}

/// An input or output of a model.
///
/// ```
/// use flex::{DType, onnx::{Size, Value}};
/// let x = Value { name: "x".into(), dtype: Some(DType::F32), shape: Some(vec![Size::Fixed(3)]) };
/// assert_eq!(x.to_string(), "x: float32 [3]");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// Its name in the graph.
    pub name: Box<str>,
    /// Its dtype, if the model states it.
    pub dtype: Option<DType>,
    /// The sizes of its axes, if the model states them.
    pub shape: Option<Vec<Size>>,
}
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.name)?;
        match self.dtype {
            Some(dtype) => write!(f, " {dtype}")?,
            None => f.write_str(" any dtype")?,
        }
        let Some(shape) = &self.shape else {
            return Ok(());
        };
        f.write_str(" [")?;
        for (i, size) in shape.iter().enumerate() {
            write!(f, "{}{size}", if i == 0 { "" } else { ", " })?;
        }
        f.write_str("]")
    }
}

impl Value {
    /// That of a weight. Errors for element types that flex lacks.
    pub(super) fn of_weight(t: &proto::Tensor) -> Result<Value> {
        let size = |n: &i64| Size::Fixed(usize::try_from(*n).unwrap_or(usize::MAX));
        Ok(Value {
            name: t.name.into(),
            dtype: Some(dtype("onnx.load", t.data_type)?),
            shape: Some(t.dims.0.iter().map(size).collect()),
        })
    }
    /// Errors for values that are no tensors, and for element types that flex lacks.
    pub(super) fn new(info: &proto::ValueInfo) -> Result<Value> {
        const OP: &str = "onnx.load";
        let mut value = Value {
            name: info.name.into(),
            dtype: None,
            shape: None,
        };
        let Some(kind) = &info.kind else {
            return Ok(value);
        };
        let Some(tensor) = &kind.tensor else {
            let kind = match kind {
                proto::Type {
                    sequence: Some(_), ..
                } => "a sequence",
                proto::Type {
                    optional: Some(_), ..
                } => "an optional",
                proto::Type { map: Some(_), .. } => "a map",
                proto::Type {
                    sparse: Some(_), ..
                } => "a sparse tensor",
                _ => return Ok(value),
            };
            let message = message!("{:?} is {kind}: only tensors are supported", info.name);
            return Err(Error::value(OP, message));
        };
        value.dtype = match tensor.elem_type {
            0 => None,
            number => Some(dtype(OP, number)?),
        };
        if let Some(shape) = &tensor.shape {
            let sizes = shape.dim.iter().map(|dim| {
                Ok(match (dim.value, dim.symbol) {
                    (Some(n), _) => usize::try_from(n).map_or(Size::Any, Size::Fixed),
                    (_, Some(name)) if !name.is_empty() => Size::Symbol(name.into()),
                    _ => Size::Any,
                })
            });
            value.shape = Some(fallible::collect::<_, Error>(sizes)?);
        }
        Ok(value)
    }
}
