//! Errors: each variant carries the operation, the shapes, dtypes and axis, so that the message
//! says what to fix.

use crate::dtype::DType;
use alloc::{borrow::Cow, boxed::Box, string::String, vec::Vec};
use core::fmt;

/// The formatted message of an error. Empty without the feature `messages`, which small firmware
/// leaves out: then no operation links the formatting code, and an error has its kind, its
/// operation and its operands.
macro_rules! message {
    ($($x:tt)*) => {{
        #[cfg(feature = "messages")]
        let message = alloc::format!($($x)*);
        #[cfg(not(feature = "messages"))]
        let message = {
            let _ = || alloc::format!($($x)*); // never called; marks the arguments as used
            ""
        };
        message
    }};
}

/// The result of every fallible function of the crate.
///
/// ```
/// use flex::{Result, Tensor};
/// fn centred(x: &Tensor) -> Result<Tensor> {
///     Ok(x - x.mean_keepdims(-1)?)
/// }
/// assert_eq!(centred(&Tensor::from([1.0f32, 3.0]))?.to_vec::<f32>()?, [-1.0, 1.0]);
/// # Ok::<(), flex::Error>(())
/// ```
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

/// An [`Operand`] that an error may show, borrowed.
pub(crate) type NamedOperand<'a> = (&'static str, &'a [usize], DType);

/// Why an operation failed. When one is returned, nothing has been written.
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
    /// Shapes that are incompatible with each other or with the operation.
    Shape {
        /// The operation.
        op: &'static str,
        /// What is wrong.
        message: Box<str>,
        /// The operands, where they help.
        operands: Vec<Operand>,
    },
    /// A dtype that the operation doesn't support, or two without a common dtype.
    DType {
        /// The operation.
        op: &'static str,
        /// What is wrong, and how to fix it.
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
    /// A subscript `x[...]` that doesn't fit the shape: too many items, a mask of another shape,
    /// arrays that don't broadcast.
    Subscript {
        /// The operation.
        op: &'static str,
        /// What is wrong, with the shapes.
        message: Box<str>,
    },
    /// An argument whose value the operation doesn't accept.
    Value {
        /// The operation.
        op: &'static str,
        /// What is wrong, and what is accepted.
        message: Box<str>,
    },
    /// A number that is out of range for the dtype it is converted to.
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
    /// A matrix that has no inverse.
    Singular {
        /// The operation.
        op: &'static str,
        /// The matrix of the batch: its index in the leading dimensions.
        matrix: Vec<usize>,
        /// The pivot of its LU factorisation that is zero.
        pivot: usize,
    },
    /// A matrix that is not positive definite.
    NotPositiveDefinite {
        /// The operation.
        op: &'static str,
        /// The matrix of the batch: its index in the leading dimensions.
        matrix: Vec<usize>,
        /// The order of its first leading minor that is not positive.
        minor: usize,
    },
    /// An iteration that did not converge within its limit.
    NoConvergence {
        /// The operation.
        op: &'static str,
        /// The matrix of the batch: its index in the leading dimensions.
        matrix: Vec<usize>,
    },
    /// Memory that is not available.
    Memory {
        /// The bytes requested.
        bytes: u128,
        /// The bytes that the machine or its control group has; 0 if unknown.
        limit: u64,
    },
    /// An error of a node of a model.
    #[cfg(feature = "onnx")]
    Node {
        /// The node's operator.
        operator: &'static str,
        /// Its name, or that of its first result.
        node: Box<str>,
        /// What went wrong in it.
        error: Box<Error>,
    },
    /// A file whose content violates its format.
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
        /// The kind of error.
        kind: std::io::ErrorKind,
        /// The operating system's error code, if there is one.
        code: Option<i32>,
        /// Its message.
        message: Box<str>,
    },
}

impl Error {
    /// A shape error with a message.
    ///
    /// ```
    /// let e = flex::Error::shape("crop", "the crop is empty");
    /// assert_eq!(e.to_string(), "crop: the crop is empty");
    /// ```
    pub fn shape(op: &'static str, message: impl Into<Cow<'static, str>>) -> Error {
        Error::Shape {
            op,
            message: message.into().into(),
            operands: Vec::new(),
        }
    }
    /// [`Error::shape`] with the operands after the message: `(a: [2, 3] float32, b: [4] int64)`.
    ///
    /// ```
    /// use flex::{Error, Tensor};
    /// let x = Tensor::from([1.0f32, 2.0]);
    /// let e = Error::shape_of("crop", "x is too short", &[("x", x.shape(), x.dtype())]);
    /// assert_eq!(e.to_string(), "crop: x is too short (x: [2] float32)");
    /// ```
    pub fn shape_of(
        op: &'static str,
        message: impl Into<Cow<'static, str>>,
        operands: &[NamedOperand],
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
    ///
    /// ```
    /// let e = flex::Error::dtype("crop", "x must be uint8");
    /// assert!(matches!(e, flex::Error::DType { op: "crop", .. }));
    /// ```
    pub fn dtype(op: &'static str, message: impl Into<Cow<'static, str>>) -> Error {
        Error::DType {
            op,
            message: message.into().into(),
        }
    }
    /// The operation doesn't support `dtype`.
    ///
    /// ```
    /// let e = flex::Error::unsupported("crop", flex::DType::Complex64);
    /// assert_eq!(e.to_string(), "crop: not defined for complex64");
    /// ```
    #[cold]
    pub fn unsupported(op: &'static str, dtype: DType) -> Error {
        if dtype.is_available() {
            let way_out = match dtype {
                d if d.is_bool() => ": convert it with astype, or use a logical function",
                d if d.is_storage() => {
                    ", a storage dtype without arithmetic: convert it with astype"
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
    ///
    /// ```
    /// let e = flex::Error::subscript("crop", "two ellipses");
    /// assert!(matches!(e, flex::Error::Subscript { .. }));
    /// ```
    pub fn subscript(op: &'static str, message: impl Into<Cow<'static, str>>) -> Error {
        Error::Subscript {
            op,
            message: message.into().into(),
        }
    }
    /// A value error with a message.
    ///
    /// ```
    /// let e = flex::Error::value("crop", "margin is -1; it must not be negative");
    /// assert_eq!(e.to_string(), "crop: margin is -1; it must not be negative");
    /// ```
    pub fn value(op: &'static str, message: impl Into<Cow<'static, str>>) -> Error {
        Error::Value {
            op,
            message: message.into().into(),
        }
    }
    /// An error about the content of a file.
    ///
    /// ```
    /// let e = flex::Error::file("a.bin", "the header is cut off");
    /// assert_eq!(e.to_string(), "a.bin: the header is cut off");
    /// ```
    pub fn file(path: impl Into<String>, message: impl Into<Cow<'static, str>>) -> Error {
        Error::File {
            path: path.into().into(),
            message: message.into().into(),
        }
    }
    /// An error of the operating system about a file.
    ///
    /// ```
    /// use flex::Error;
    /// let path = std::path::Path::new("no/such/file");
    /// let e = std::fs::File::open(path).map_err(|e| Error::io(path, &e)).unwrap_err();
    /// assert!(matches!(e, Error::Io { kind: std::io::ErrorKind::NotFound, .. }));
    /// ```
    #[cfg(feature = "std")]
    pub fn io(path: &std::path::Path, e: &std::io::Error) -> Error {
        Error::Io {
            path: path.into(),
            kind: e.kind(),
            code: e.raw_os_error(),
            message: alloc::string::ToString::to_string(e).into(),
        }
    }
    /// The same error, of another operation: one that the caller called, and whose parameters have
    /// the same names.
    #[doc(hidden)]
    pub fn named(mut self, name: &'static str) -> Error {
        match &mut self {
            Error::Shape { op, .. }
            | Error::DType { op, .. }
            | Error::Axis { op, .. }
            | Error::Index { op, .. }
            | Error::Subscript { op, .. }
            | Error::Value { op, .. }
            | Error::Range { op, .. }
            | Error::Singular { op, .. }
            | Error::NotPositiveDefinite { op, .. }
            | Error::NoConvergence { op, .. }
            | Error::DivisionByZero { op } => *op = name,
            _ => {}
        }
        self
    }
    /// Memory of `len` values of `T` that the allocator refused.
    #[cold]
    #[doc(hidden)]
    pub fn memory<T>(len: usize) -> Error {
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
            } => write!(f, "{op}: axis {axis} is repeated"),
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
            Error::Singular { op, matrix, pivot } => {
                let matrix = Which(matrix);
                write!(f, "{op}: {matrix} is singular: pivot {pivot} is zero")
            }
            Error::NotPositiveDefinite { op, matrix, minor } => {
                let matrix = Which(matrix);
                write!(
                    f,
                    "{op}: {matrix} is not positive definite: its leading minor of order {minor} \
                        is not positive"
                )
            }
            Error::NoConvergence { op, matrix } => {
                write!(
                    f,
                    "{op}: the iteration for {} did not converge",
                    Which(matrix)
                )
            }
            Error::Memory { bytes, limit: 0 } => write!(f, "cannot allocate {bytes} bytes"),
            Error::Memory { bytes, limit } => {
                write!(f, "cannot allocate {bytes} bytes: the machine has {limit}")
            }
            #[cfg(feature = "onnx")]
            Error::Node {
                operator,
                node,
                error,
            } => write!(f, "onnx: node {node:?} ({operator}): {error}"),
            Error::File { path, message } => write!(f, "{path}: {message}"),
            #[cfg(feature = "std")]
            Error::Io { path, message, .. } => write!(f, "{}: {message}", path.display()),
        }
    }
}

impl core::error::Error for Error {}

/// A matrix of a batch, by its index.
struct Which<'a>(&'a [usize]);

impl fmt::Display for Which<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [] => f.write_str("the matrix"),
            index => write!(f, "matrix {index:?} of the batch"),
        }
    }
}

/// Text from the caller or a file, quoted in a message: shortened if it is long.
pub(crate) struct Excerpt<'a>(pub &'a dyn fmt::Debug);

impl fmt::Display for Excerpt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// Stops the formatting of the rest by an error.
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
