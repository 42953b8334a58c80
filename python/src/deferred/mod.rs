//! Operations on deferred tensors: recorded while a function is traced, or queued on a stream. The
//! functions return `None` if neither applies, and the operation runs at once.

pub mod stream;
pub mod trace;
pub mod traced;

use super::cell::PyTensor;
use super::convert::OperandRef;
use crate::convert::error::Raise;
use flex::bindings::resolve_shape;
use flex::kernel::elementwise::Row;
use flex::op::Op;
use flex::ops::ReductionAxes;
use flex::ops::elementwise::fit_target;
use flex::stream::{About, Kind, Operation, Product, ProductKind, ViewOp, copies};
use flex::{DType, Layout, Result};
use pyo3::prelude::*;
use smallvec::SmallVec;

/// Whether operations may be deferred: a function is being traced, or a stream entered.
#[inline(always)]
pub fn is_any() -> bool {
    traced::is_active() || stream::is_entered()
}

/// What was recorded; the error is `None` if the operation can't be deferred.
type Recorded<T> = core::result::Result<T, Option<PyErr>>;

/// A trace or a stream, with values by their index: the operands, followed by results.
trait Recorder {
    /// What is known of a value.
    fn about(&self, x: usize) -> About<'_>;
    /// Whether a value has no elements yet.
    fn waits(&self, x: usize) -> bool;
    /// Records an operation, and returns the index of its result.
    fn add(&mut self, operation: Operation, operands: &[usize]) -> Recorded<usize>;
    /// Whether the result of an elementwise operation in place, of the first operand with the
    /// second, replaces the first in memory that nobody else sees.
    fn replaces(&mut self) -> Recorded<bool>;
}

impl dyn Recorder + '_ {
    fn value(&self, x: usize) -> Recorded<(&[usize], DType)> {
        match self.about(x) {
            About::Value(shape, dtype) => Ok((shape, dtype)),
            About::Number(_) => Err(None),
        }
    }
    /// A conversion, unless the value has the dtype.
    fn converted(&mut self, x: usize, dtype: DType) -> Recorded<usize> {
        match self.value(x)?.1 == dtype {
            true => Ok(x),
            false => self.add(Operation::Convert { dtype }, &[x]),
        }
    }
}

/// Records what `f` adds to the trace or stream of the operands. `keeps_numbers`: other numbers may
/// replace those among the operands when the program runs again.
fn record(
    operands: &[&OperandRef],
    keeps_numbers: bool,
    f: &dyn Fn(&mut dyn Recorder) -> Recorded<usize>,
) -> Option<PyResult<PyTensor>> {
    if !is_any() {
        return None;
    }
    trace::record(operands, keeps_numbers, f).or_else(|| stream::record(operands, f))
}
/// The same for an operation whose result replaces an object.
fn record_in_place(
    t: &Bound<'_, PyTensor>,
    other: &OperandRef,
    keeps_numbers: bool,
    f: &dyn Fn(&mut dyn Recorder) -> Recorded<usize>,
) -> Option<PyResult<PyTensor>> {
    if let Err(e) = t.get().refuse_write() {
        return Some(Err(e));
    }
    let operands = [&OperandRef::Object(t.clone()), other];
    match trace::is_traced(t.get()) {
        true => trace::record(&operands, keeps_numbers, f),
        false => stream::record(&operands, f),
    }
}

/// An elementwise operation.
#[inline(always)]
pub fn apply(row: &'static Row, operands: &[OperandRef]) -> Option<PyResult<PyTensor>> {
    match is_any() {
        true => apply_to(row.op, operands),
        false => None,
    }
}
fn apply_to(op: Op, operands: &[OperandRef]) -> Option<PyResult<PyTensor>> {
    let operation = Operation::apply(op);
    let operands: SmallVec<[&OperandRef; 3]> = operands.iter().collect();
    record(&operands, operation.keeps_numbers(), &|r| {
        r.add(operation.clone(), &[0, 1, 2][..operands.len()])
    })
}
/// An in-place operation on an object, which then holds the result.
#[inline(always)]
pub fn apply_in_place(
    row: &'static Row,
    t: &Bound<'_, PyTensor>,
    other: &OperandRef,
) -> Option<PyResult<()>> {
    match is_any() {
        true => replace(row.op, t, other),
        false => None,
    }
}
fn replace(op: Op, t: &Bound<'_, PyTensor>, other: &OperandRef) -> Option<PyResult<()>> {
    let keeps_numbers = Operation::apply(op).keeps_numbers();
    let y = record_in_place(t, other, keeps_numbers, &|r| {
        let in_place = r.replaces()?;
        let y = r.add(Operation::Apply { op, in_place }, &[0, 1])?;
        let dtype = fit_target(op.name(), r.value(y)?, r.value(0)?).raise()?;
        r.converted(y, dtype)
    });
    y.map(|y| y.map(|y| t.get().become_other(y)))
}
/// A conversion.
pub fn convert(x: &OperandRef, dtype: DType) -> Option<PyResult<PyTensor>> {
    record(&[x], false, &|r| {
        let copies = r.value(0)?.1 == dtype && copies(dtype);
        let operation = match copies {
            true => Operation::apply(Op::Positive),
            false => Operation::Convert { dtype },
        };
        r.add(operation, &[0])
    })
}
/// A reduction of the operand converted by `before`, with the result converted by `after`.
pub fn reduce(
    kind: Kind,
    x: &OperandRef,
    over: &ReductionAxes,
    before: impl Fn(DType) -> Result<Option<DType>>,
    after: Option<DType>,
) -> Option<PyResult<PyTensor>> {
    record(&[x], false, &|r| {
        let (shape, dtype) = r.value(0)?;
        let operation = Operation::reduce(kind, shape, over.clone());
        let x = match before(dtype).raise()? {
            Some(dtype) => r.add(Operation::Convert { dtype }, &[0])?,
            None => 0,
        };
        let y = r.add(operation.raise()?, &[x])?;
        match after {
            Some(dtype) => r.converted(y, dtype),
            None => Ok(y),
        }
    })
}
/// A matrix product, optionally with a dtype for its sums.
#[inline(always)]
pub fn matmul(a: &OperandRef, b: &OperandRef, dtype: Option<DType>) -> Option<PyResult<PyTensor>> {
    match is_any() {
        true => product_of(&ProductKind::Matmul { dtype }.into(), &[a, b]),
        false => None,
    }
}
/// The product that replaces an object.
pub fn matmul_in_place(t: &Bound<'_, PyTensor>, b: &OperandRef) -> Option<PyResult<PyTensor>> {
    let operation = Operation::product(ProductKind::Matmul { dtype: None }.into());
    record_in_place(t, b, false, &|r| r.add(operation.clone(), &[0, 1]))
}
/// A matrix product, a linear layer or a convolution.
pub fn product(product: &Product, operands: &[OperandRef]) -> Option<PyResult<PyTensor>> {
    match is_any() {
        true => product_of(product, &operands.iter().collect::<SmallVec<[_; 4]>>()),
        false => None,
    }
}
fn product_of(product: &Product, operands: &[&OperandRef]) -> Option<PyResult<PyTensor>> {
    record(operands, false, &|r| {
        let operation = Operation::product(product.clone());
        r.add(operation, &[0, 1, 2, 3][..operands.len()])
    })
}
/// A view, given by a function from the layout and dtype of a tensor to another layout.
pub fn view(
    x: &OperandRef,
    f: &dyn Fn(&Layout, DType) -> Result<Layout>,
) -> Option<PyResult<PyTensor>> {
    view_by(x, &|x, dtype| Ok(ViewOp::of(x, &f(x, dtype)?)))
}
/// A reshape, in row-major order; one size may be -1.
pub fn reshape(x: &OperandRef, shape: &[isize]) -> Option<PyResult<PyTensor>> {
    view_by(x, &|from, _| {
        let to = resolve_shape("reshape", shape, from)?;
        Ok(Some(ViewOp::reshaped(from.shape(), to)))
    })
}
/// The view that `make` finds, if it does, such as not for an empty value.
fn view_by(
    x: &OperandRef,
    make: &dyn Fn(&Layout, DType) -> Result<Option<ViewOp>>,
) -> Option<PyResult<PyTensor>> {
    record(&[x], false, &|r| {
        if !r.waits(0) {
            return Err(None);
        }
        let (shape, dtype) = r.value(0)?;
        let view = make(&Layout::contiguous(shape).raise()?, dtype).raise()?;
        r.add(Operation::view(view.ok_or(None)?), &[0])
    })
}
