//! Operations on tensors that aren't there yet: a function that is being traced records them, a
//! stream queues them. `None` where neither takes them, and they run at once.

use super::cell::PyTensor;
use super::convert::OperandRef;
use super::{queue, trace};
use crate::kernel::elementwise::Row;
use crate::ops::Reduction;
use crate::stream::Kind;
use crate::{DType, Result};
use pyo3::prelude::*;

/// An elementwise operation.
#[inline(always)]
pub fn apply(row: &'static Row, operands: &[OperandRef]) -> Option<PyResult<PyTensor>> {
    trace::apply(row, operands).or_else(|| queue::apply(row, operands))
}
/// A conversion.
pub fn convert(x: &OperandRef, dtype: DType) -> Option<PyResult<PyTensor>> {
    trace::convert(x, dtype).or_else(|| queue::convert(x, dtype))
}
/// A reduction of what `before` makes of the operand, converted to what `after` says.
pub fn reduce(
    kind: Kind,
    x: &OperandRef,
    over: &Reduction,
    before: impl Fn(DType) -> Result<Option<DType>>,
    after: Option<DType>,
) -> Option<PyResult<PyTensor>> {
    trace::reduce(kind, x, over, &before, after)
        .or_else(|| queue::reduce(kind, x, over, before, after))
}
/// A product of matrices, with the dtype of its sums where one is given.
#[inline(always)]
pub fn matmul(a: &OperandRef, b: &OperandRef, dtype: Option<DType>) -> Option<PyResult<PyTensor>> {
    trace::matmul(a, b, dtype).or_else(|| queue::matmul(a, b, dtype))
}
/// An operation in place on an object, which stands for the result then.
#[inline(always)]
pub fn apply_in_place(
    row: &'static Row,
    t: &Bound<'_, PyTensor>,
    other: &OperandRef,
) -> Option<PyResult<()>> {
    trace::apply_in_place(row, t, other).or_else(|| queue::apply_in_place(row, t, other))
}
