//! Operations on deferred tensors: recorded while a function is traced, or queued on a stream. The
//! functions return `None` if neither applies, and the operation runs at once.

use super::cell::PyTensor;
use super::convert::OperandRef;
use super::{queue, trace};
use flex::bindings::resolve_shape;
use flex::kernel::elementwise::Row;
use flex::ops::Reduction;
use flex::stream::{Kind, Layer, ViewOp};
use flex::{DType, Layout, Result};
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
/// A reduction of the operand converted by `before`, with the result converted by `after`.
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
/// A matrix product, optionally with a dtype for its sums.
#[inline(always)]
pub fn matmul(a: &OperandRef, b: &OperandRef, dtype: Option<DType>) -> Option<PyResult<PyTensor>> {
    trace::matmul(a, b, dtype).or_else(|| queue::matmul(a, b, dtype))
}
/// The product that replaces an object.
pub fn matmul_in_place(t: &Bound<'_, PyTensor>, b: &OperandRef) -> Option<PyResult<PyTensor>> {
    let a = OperandRef::Object(t.clone());
    match trace::is_traced(t.get()) {
        true => trace::matmul(&a, b, None),
        false => queue::matmul(&a, b, None),
    }
}
/// A linear layer or a convolution.
pub fn layer(layer: &Layer, operands: &[OperandRef]) -> Option<PyResult<PyTensor>> {
    trace::layer(layer, operands).or_else(|| queue::layer(layer, operands))
}
/// A view, given by a function from the layout and dtype of a tensor to another layout.
pub fn view(
    x: &OperandRef,
    f: &dyn Fn(&Layout, DType) -> Result<Layout>,
) -> Option<PyResult<PyTensor>> {
    let make = |x: &Layout, dtype: DType| Ok(ViewOp::of(x, &f(x, dtype)?));
    trace::view(x, &make).or_else(|| queue::view(x, &make))
}
/// A reshape, in row-major order; one size may be -1.
pub fn reshape(x: &OperandRef, shape: &[isize]) -> Option<PyResult<PyTensor>> {
    let make = |from: &Layout, _| {
        let to = resolve_shape("reshape", shape, from)?;
        Ok(Some(ViewOp::reshaped(from.shape(), to)))
    };
    trace::view(x, &make).or_else(|| queue::view(x, &make))
}
/// Called before a write in place to an object that is not deferred.
pub fn before_write(py: Python<'_>, t: &PyTensor) -> PyResult<()> {
    queue::before_write(py, t)
}
/// An in-place operation on an object, which then holds the result.
#[inline(always)]
pub fn apply_in_place(
    row: &'static Row,
    t: &Bound<'_, PyTensor>,
    other: &OperandRef,
) -> Option<PyResult<()>> {
    trace::apply_in_place(row, t, other).or_else(|| queue::apply_in_place(row, t, other))
}
