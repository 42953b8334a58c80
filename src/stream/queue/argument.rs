//! Operands of queued operations.

use super::super::traffic::bytes;
use super::Lazy;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::kernel::elementwise::exact::mirrored;
use crate::op::Op;
use crate::ops;
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
    pub(super) fn is_number(&self) -> bool {
        matches!(self, Argument::Number(_))
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

/// Whether nobody else writes to the operands, which are neither borrowed nor lent, so that they are
/// the same when the queue runs. False
/// for numbers alone, which are computed at once.
pub(super) fn is_stable(operands: &[Argument]) -> bool {
    let stable = |x: &Argument| match x.tensor() {
        Some(Ok(x)) => !x.storage().may_change(),
        _ => true,
    };
    operands.iter().all(stable) && !operands.iter().all(Argument::is_number)
}
/// The comparison of an integer or bool with a number of another kind, or out of its range, as one
/// with a number of its dtype; `None` for all other operations.
pub(super) fn exact_comparison<'a>(
    op: Op,
    operands: &[Argument<'a>],
) -> Option<(Op, [Argument<'a>; 2])> {
    let (x, n, on_left) = match operands {
        [Argument::Number(n), x] => (x, *n, true),
        [x, Argument::Number(n)] => (x, *n, false),
        _ => return None,
    };
    let (exact, dtype) = (op.row().exact?, x.dtype()?);
    let found = exact(op, dtype, n, on_left)?;
    let op = if on_left { mirrored(op) } else { op };
    let (op, n) = found.comparison(op, dtype);
    Some((op, [*x, Argument::Number(n)]))
}
