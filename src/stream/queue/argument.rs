//! Operands of queued operations.

use super::super::traffic::bytes;
use super::Lazy;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::op::Op;
use crate::ops;
use crate::ops::elementwise::check;
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// An operand of an operation on a stream.
///
/// ```
/// use flex::{DType, Tensor, stream::{Argument, Op, Stream}};
/// let (stream, x) = (Stream::new(), Tensor::from([1.0f32, 2.0]));
/// let double = stream.apply(Op::Multiply, &[Argument::from(&x), 2.0.into()])?;
/// let double = Argument::from(&double);
/// assert_eq!((double.dtype(), double.shape()), (Some(DType::F32), &[2][..]));
/// assert_eq!(Argument::from(2.0).dtype(), None);
/// # Ok::<(), flex::Error>(())
/// ```
#[derive(Clone, Copy)]
pub enum Argument<'a> {
    /// A tensor.
    Tensor(&'a Tensor),
    /// A value of this stream, or of another one.
    Lazy(&'a Lazy),
    /// A number, which takes the others' dtype.
    Number(Scalar),
}
impl<'a> From<&'a Tensor> for Argument<'a> {
    fn from(x: &'a Tensor) -> Argument<'a> {
        Argument::Tensor(x)
    }
}
impl<'a> From<&'a Lazy> for Argument<'a> {
    fn from(x: &'a Lazy) -> Argument<'a> {
        Argument::Lazy(x)
    }
}
impl<S: Into<Scalar>> From<S> for Argument<'_> {
    fn from(x: S) -> Self {
        Argument::Number(x.into())
    }
}

impl<'a> Argument<'a> {
    /// Its dtype; numbers have none.
    #[inline]
    pub fn dtype(&self) -> Option<DType> {
        match self {
            Argument::Tensor(x) => Some(x.dtype()),
            Argument::Lazy(x) => Some(x.dtype()),
            Argument::Number(_) => None,
        }
    }
    /// Its shape.
    #[inline]
    pub fn shape(&self) -> &'a [usize] {
        match self {
            Argument::Tensor(x) => x.shape(),
            Argument::Lazy(x) => x.shape(),
            Argument::Number(_) => &[],
        }
    }
    /// The tensor, if there is one already.
    #[inline]
    pub(super) fn tensor(&self) -> Option<Result<&'a Tensor>> {
        match self {
            Argument::Tensor(x) => Some(Ok(x)),
            Argument::Lazy(x) => x.0.value.get().map(|x| x.as_ref().map_err(Error::clone)),
            Argument::Number(_) => None,
        }
    }
    /// Bytes of the elements that an operation would read if it ran by itself.
    #[inline]
    pub(super) fn bytes(&self) -> usize {
        match self {
            Argument::Number(_) => 0,
            Argument::Tensor(x) => bytes(x),
            Argument::Lazy(x) => match x.0.value.get() {
                Some(Ok(x)) => bytes(x),
                _ => x.0.layout.len().saturating_mul(x.dtype().size()),
            },
        }
    }
    /// An operand of an operation that runs at once; a value that waits is computed.
    pub(super) fn computed(&self) -> Result<ops::Arg<'a>> {
        Ok(match self {
            Argument::Tensor(x) => ops::Arg::Ref(x),
            Argument::Lazy(x) => ops::Arg::Ref(x.computed()?),
            Argument::Number(s) => ops::Arg::Scalar(*s),
        })
    }
}

/// Whether the operation is queued.
#[inline]
pub fn takes(op: Op, operands: &[Argument]) -> bool {
    let dtypes = || operands.iter().filter_map(Argument::dtype);
    let integers = !dtypes().any(|d| d.is_float() || d.is_complex());
    !(integers && check::looks_at_elements(op) || check::is_mixed_comparison(op, dtypes()))
        && is_stable(operands)
}
/// Whether nobody else writes to the operands, so that they are the same when the queue runs. False
/// for numbers alone, which are computed at once.
#[inline]
pub fn is_stable(operands: &[Argument]) -> bool {
    let stable = |x: &Argument| match x.tensor() {
        Some(Ok(x)) => !x.storage().may_change(),
        _ => true,
    };
    operands.iter().all(stable) && operands.iter().any(|x| !matches!(x, Argument::Number(_)))
}
/// The operand as a tensor; a value that waits is computed.
pub(super) fn value(x: &Argument) -> Result<Tensor> {
    match x.computed()? {
        ops::Arg::Ref(x) => Ok(x.clone()),
        ops::Arg::Own(x) => Ok(x),
        ops::Arg::Scalar(s) => Tensor::scalar(s, s.default_dtype()),
    }
}
