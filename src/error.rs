//! What can go wrong: each variant carries the operation, the shapes, dtypes and axis, so that a
//! message says what to fix.

use crate::dtype::DType;
use alloc::{borrow::Cow, boxed::Box, string::String, vec::Vec};
use core::fmt;

/// What an error says, formatted. Without the feature `messages`, which small firmware leaves out,
/// nothing: no operation then links the code that formats, and the error has its kind, its
/// operation and its operands.
macro_rules! message {
    ($($x:tt)*) => {{
        #[cfg(feature = "messages")]
        let message = alloc::format!($($x)*);
        #[cfg(not(feature = "messages"))]
        let message = {
            let _ = || alloc::format!($($x)*); // never called: what it names counts as used
            ""
        };
        message
    }};
}

/// The result of every fallible function of the crate.
pub type Result<T> = core::result::Result<T, Error>;

/// The operands of a failed operation: name, shape, dtype.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operand {
    /// The parameter's name in the operation's signature, such as `a`.
    pub name: &'static str,
    /// Its shape.
    pub shape: Vec<usize>,
    /// Its dtype.
    pub dtype: DType,
}

/// Why an operation failed. Nothing was written when one is returned.
///
/// ```
/// use flex::{Error, Tensor};
/// let e = Tensor::from_slice(&[1.0f32, 2.0, 3.0], [2, 2]).unwrap_err();
/// assert!(matches!(e, Error::Shape { op: "from_slice", .. }));
/// assert_eq!(e.to_string(), "from_slice: 3 values do not fill shape [2, 2], which has 4");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// Shapes don't fit each other or the operation.
    Shape {
        /// The operation.
        op: &'static str,
        /// What is wrong, with the numbers.
        message: Box<str>,
        /// The operands, where they help.
        operands: Vec<Operand>,
    },
    /// A dtype has no meaning for the operation, or two have no common dtype.
    DType {
        /// The operation.
        op: &'static str,
        /// What is wrong, and a fix.
        message: Box<str>,
    },
    /// An axis outside `[-rank, rank)`, or one given twice.
    Axis {
        /// The operation.
        op: &'static str,
        /// The axis as given.
        axis: isize,
        /// The rank of the tensor.
        rank: usize,
        /// Whether it was given twice.
        repeated: bool,
    },
    /// An index outside `[-size, size)`.
    Index {
        /// The operation.
        op: &'static str,
        /// The index as given.
        index: i64,
        /// The axis it indexes.
        axis: usize,
        /// The size of that axis.
        size: usize,
    },
    /// The items between the brackets of `x[...]` don't fit its shape: too many, a mask of another
    /// shape, arrays that don't broadcast.
    Subscript {
        /// The operation.
        op: &'static str,
        /// What is wrong, with the shapes.
        message: Box<str>,
    },
    /// An argument's value is outside what the operation takes.
    Value {
        /// The operation.
        op: &'static str,
        /// What is wrong, and what is taken.
        message: Box<str>,
    },
    /// A number that the dtype it is to take doesn't hold.
    Range {
        /// The operation.
        op: &'static str,
        /// The number and the dtype.
        message: Box<str>,
    },
    /// An integer divided by zero.
    DivisionByZero {
        /// The operation.
        op: &'static str,
    },
    /// Memory that can't be had.
    Memory {
        /// Bytes asked for.
        bytes: u128,
        /// Bytes that the machine (or its control group) has; 0 where unknown.
        limit: u64,
    },
    /// The content of a file is not what its format says.
    File {
        /// The path, or a description of the source.
        path: Box<str>,
        /// What is wrong.
        message: Box<str>,
    },
    /// The operating system refused to open, read, write or replace a file.
    #[cfg(feature = "std")]
    Io {
        /// The path as it was given, or a description of the stream.
        path: Box<std::path::Path>,
        /// Which refusal it was.
        kind: std::io::ErrorKind,
        /// The operating system's number for it, `errno` where there is one.
        code: Option<i32>,
        /// Its text.
        message: Box<str>,
    },
}

impl Error {
    /// A shape error with a message.
    pub fn shape(op: &'static str, message: impl Into<Cow<'static, str>>) -> Error {
        Error::Shape {
            op,
            message: message.into().into(),
            operands: Vec::new(),
        }
    }
    /// The same, naming the operands after the message: `(a: [2, 3] float32, b: [4] int64)`.
    pub fn shape_of(
        op: &'static str,
        message: impl Into<Cow<'static, str>>,
        operands: &[(&'static str, &[usize], DType)],
    ) -> Error {
        let operands = operands
            .iter()
            .map(|(name, shape, dtype)| Operand {
                name,
                shape: shape.to_vec(),
                dtype: *dtype,
            })
            .collect();
        Error::Shape {
            op,
            message: message.into().into(),
            operands,
        }
    }
    /// A dtype error with a message.
    pub fn dtype(op: &'static str, message: impl Into<Cow<'static, str>>) -> Error {
        Error::DType {
            op,
            message: message.into().into(),
        }
    }
    /// The operation has no meaning for `dtype`.
    #[cold]
    pub fn unsupported(op: &'static str, dtype: DType) -> Error {
        if dtype.is_available() {
            let way_out = match dtype {
                d if d.is_bool() => ": convert it with astype, or use a logical function",
                d if d.is_storage() => {
                    ", which is kept but not computed with: convert it with astype"
                }
                _ => "",
            };
            Error::dtype(op, message!("not defined for {dtype}{way_out}"))
        } else {
            Error::dtype(
                op,
                message!(
                    "{dtype} is left out of this build (feature {:?})",
                    dtype.feature()
                ),
            )
        }
    }
    /// A subscript error with a message.
    pub fn subscript(op: &'static str, message: impl Into<Cow<'static, str>>) -> Error {
        Error::Subscript {
            op,
            message: message.into().into(),
        }
    }
    /// A value error with a message.
    pub fn value(op: &'static str, message: impl Into<Cow<'static, str>>) -> Error {
        Error::Value {
            op,
            message: message.into().into(),
        }
    }
    /// A file whose content is wrong.
    pub fn file(path: impl Into<String>, message: impl Into<Cow<'static, str>>) -> Error {
        Error::File {
            path: path.into().into(),
            message: message.into().into(),
        }
    }
    /// What the operating system said about a file.
    #[cfg(feature = "std")]
    pub fn io(path: &std::path::Path, e: &std::io::Error) -> Error {
        Error::Io {
            path: path.into(),
            kind: e.kind(),
            code: e.raw_os_error(),
            message: alloc::string::ToString::to_string(e).into(),
        }
    }
    /// Memory of `len` values of `T` that the allocator refused.
    #[cold]
    pub(crate) fn memory<T>(len: usize) -> Error {
        Error::Memory {
            bytes: len as u128 * size_of::<T>() as u128,
            limit: 0,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Shape {
                op,
                message,
                operands,
            } => {
                write!(f, "{op}: {message}")?;
                for (i, o) in operands.iter().enumerate() {
                    write!(
                        f,
                        "{}{}: {:?} {}",
                        if i == 0 { " (" } else { ", " },
                        o.name,
                        o.shape,
                        o.dtype
                    )?;
                }
                if operands.is_empty() {
                    Ok(())
                } else {
                    f.write_str(")")
                }
            }
            Error::DType { op, message }
            | Error::Subscript { op, message }
            | Error::Value { op, message }
            | Error::Range { op, message } => write!(f, "{op}: {message}"),
            Error::Axis {
                op,
                axis,
                repeated: true,
                ..
            } => write!(f, "{op}: axis {axis} is given twice"),
            Error::Axis {
                op, axis, rank: 0, ..
            } => write!(f, "{op}: axis {axis} of a 0-dimensional tensor"),
            Error::Axis { op, axis, rank, .. } => {
                write!(
                    f,
                    "{op}: axis {axis} is out of range for {rank} dimensions (valid: {} to {})",
                    -(*rank as isize),
                    rank - 1
                )
            }
            Error::Index {
                op,
                index,
                axis,
                size,
            } => write!(
                f,
                "{op}: index {index} is out of range for axis {axis} of size {size}"
            ),
            Error::DivisionByZero { op } => {
                write!(
                    f,
                    "{op}: integer division by zero: convert an operand to a float dtype, where \
                        it gives inf or nan"
                )
            }
            Error::Memory { bytes, limit: 0 } => write!(f, "cannot allocate {bytes} bytes"),
            Error::Memory { bytes, limit } => {
                write!(f, "cannot allocate {bytes} bytes: the machine has {limit}")
            }
            Error::File { path, message } => write!(f, "{path}: {message}"),
            #[cfg(feature = "std")]
            Error::Io { path, message, .. } => write!(f, "{}: {message}", path.display()),
        }
    }
}

impl core::error::Error for Error {}

/// What a message quotes of the caller's or a file's: the beginning, where it is long.
pub(crate) struct Excerpt<'a>(pub &'a dyn fmt::Debug);

impl fmt::Display for Excerpt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// Ends the formatting of the rest by an error.
        struct Beginning<'a, 'b> {
            f: &'a mut fmt::Formatter<'b>,
            room: usize,
        }
        impl fmt::Write for Beginning<'_, '_> {
            fn write_str(&mut self, s: &str) -> fmt::Result {
                let Some((end, _)) = s.char_indices().nth(self.room) else {
                    self.room -= s.chars().count();
                    return self.f.write_str(s);
                };
                self.f.write_str(&s[..end])?;
                self.f.write_str("...")?;
                Err(fmt::Error)
            }
        }
        let _ = fmt::write(
            &mut Beginning { f, room: 100 },
            format_args!("{:?}", self.0),
        );
        Ok(())
    }
}
