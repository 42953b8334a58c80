//! Functions that are being traced: operations on tensors that aren't there yet add to a graph.
//!
//! An object stands for a value of the graph then. What operations record is here; whatever else
//! asks such an object for elements is refused by its cell.

use super::cell::PyTensor;
use super::convert::{Operand, OperandRef};
use super::number::Number;
use super::traced::{Mark, Traced, is_active};
use crate::kernel::elementwise::Row;
use crate::ops::Reduction;
use crate::ops::elementwise::fit_target;
use crate::stream::{self, Function, Graph, Kind, Parameter, Product, Value};
use crate::{DType, Result, Tensor};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use std::cell::RefCell;
use std::sync::Arc;

thread_local! {
    /// The functions that this thread is tracing, the innermost last.
    static TRACES: RefCell<Vec<Trace>> = const { RefCell::new(Vec::new()) };
}

/// A function that is being traced.
#[derive(Default)]
pub struct Trace {
    pub graph: Graph,
    /// Tensors from outside, which are inputs after the arguments.
    pub constants: Vec<Tensor>,
    constant_values: Vec<Value>,
    /// What computes its parameters of the float arguments of a call.
    pub numbers: Vec<Py<PyAny>>,
    parameters: Vec<Parameter>,
    /// What its float arguments have in common.
    floats: Option<Py<PyAny>>,
    /// What its objects share with it.
    mark: Arc<Mark>,
}

/// Ends a trace, whatever happens.
struct Ended;
impl Drop for Ended {
    fn drop(&mut self) {
        Mark::end();
        TRACES.with_borrow_mut(|traces| {
            if let Some(trace) = traces.pop() {
                trace.mark.set_over();
            }
        });
    }
}

impl Trace {
    /// Calls `f` while operations are recorded, and gives it a way to make arguments; then `done`
    /// with what was recorded.
    pub fn record<R>(
        f: impl FnOnce() -> PyResult<R>,
        done: impl FnOnce(&Trace, &R) -> PyResult<()>,
    ) -> PyResult<R> {
        Mark::begin();
        TRACES.with_borrow_mut(|traces| traces.push(Trace::default()));
        let _ended = Ended;
        let result = f()?;
        TRACES.with_borrow(|traces| match traces.last() {
            Some(trace) => done(trace, &result),
            None => Ok(()),
        })?;
        Ok(result)
    }
    fn object(&self, value: Value) -> PyResult<PyTensor> {
        let traced = Traced {
            value,
            mark: self.mark.clone(),
        };
        let (shape, dtype) = (self.graph.shape(value), self.graph.dtype(value));
        Ok(PyTensor::traced(
            crate::Layout::contiguous(shape)?,
            dtype,
            traced,
        ))
    }
    /// Whether the function looked at a shape, or its graph holds for these shapes only.
    pub fn is_by_shape(&self) -> bool {
        self.mark.is_by_shape()
    }
    /// The value that an object stands for, if it belongs to this trace.
    pub fn value_of(&self, t: &PyTensor) -> Option<Value> {
        t.traced_value(|x| Arc::ptr_eq(&x.mark, &self.mark).then_some(x.value))?
    }
    /// A tensor from outside.
    fn constant(&mut self, t: Tensor) -> Value {
        let same = |x: &Tensor| {
            x.as_ptr() == t.as_ptr() && x.layout() == t.layout() && x.dtype() == t.dtype()
        };
        if let Some(k) = self.constants.iter().position(same) {
            return self.constant_values[k];
        }
        let value = self.graph.input(t.shape(), t.dtype());
        self.constant_values.push(value);
        self.constants.push(t);
        value
    }
    /// Tensors of zeros like these values.
    pub fn zeros(&self, values: &[Value]) -> Result<Vec<Tensor>> {
        let zeros = |x: &Value| {
            let zero = Tensor::zeros(&[] as &[usize], self.graph.dtype(*x))?;
            zero.broadcast_to(self.graph.shape(*x))
        };
        values.iter().map(zeros).collect()
    }
    /// The object of what a function gives that runs as it is.
    pub fn add_call(
        &mut self,
        name: &'static str,
        operands: &[Value],
        shape: &[usize],
        dtype: DType,
        f: Function,
    ) -> PyResult<PyTensor> {
        self.mark.note_shape();
        let y = self.graph.call(name, operands, shape, dtype, f);
        self.object(y)
    }
    /// Its float arguments are those that share this set.
    pub fn set_floats(&mut self, seen: Py<PyAny>) {
        self.floats = Some(seen);
    }
    /// Whether a number is of its arguments.
    pub fn has(&self, x: &Number) -> bool {
        self.floats.as_ref().is_some_and(|seen| x.belongs_to(seen))
    }
    /// The parameter of a number that may be another one at the next call.
    fn number(&mut self, x: &Number) -> Parameter {
        if let Some(k) = self.numbers.iter().position(|y| x.is_computed_by(y)) {
            return self.parameters[k];
        }
        let parameter = self.graph.number(x.value());
        self.numbers.push(x.compute());
        self.parameters.push(parameter);
        parameter
    }
    /// An operand of an operation of the list.
    fn operand_of(&mut self, row: &'static Row, x: &OperandRef) -> stream::Operand {
        match x {
            OperandRef::Number(x) if !decides(row) && self.has(x) => self.number(x).into(),
            _ => self.operand(x),
        }
    }
    fn operand(&mut self, x: &OperandRef) -> stream::Operand {
        match x {
            OperandRef::Number(x) => stream::Operand::Number(x.value()),
            OperandRef::Object(t) => match self.value_of(t.get()) {
                Some(value) => value.into(),
                None => self.constant(t.get().get()).into(),
            },
            OperandRef::Operand(Operand::Tensor(t)) => self.constant(t.clone()).into(),
            OperandRef::Operand(Operand::Scalar(s)) => stream::Operand::Number(*s),
        }
    }
}

/// Whether another number would be another operation: the exponent of a power.
fn decides(row: &'static Row) -> bool {
    row.square.is_some()
}
/// What is recorded of these operands depends on the values of those numbers. Not while a trace is borrowed,
/// for it runs Python.
fn look<'a, 'py: 'a>(
    operands: impl IntoIterator<Item = &'a OperandRef<'py>>,
    which: impl Fn(&Number) -> bool,
) {
    for x in operands {
        if let OperandRef::Number(x) = x
            && which(x)
        {
            x.look();
        }
    }
}
/// Whether a number decides what a row records: as an exponent, or where it is of another trace.
fn is_fixed(row: &'static Row, x: &Number) -> bool {
    decides(row) || !TRACES.with_borrow(|traces| traces.last().is_some_and(|t| t.has(x)))
}

/// Calls `f` with the innermost trace of this thread if one of the objects belongs to it.
fn with_trace<'a, 'py: 'a, R>(
    mut objects: impl Iterator<Item = &'a OperandRef<'py>>,
    f: impl FnOnce(&mut Trace) -> PyResult<R>,
) -> Option<PyResult<R>> {
    if !is_active() {
        return None;
    }
    TRACES.with_borrow_mut(|traces| {
        let trace = traces.last_mut()?;
        let belongs = |x: &OperandRef| match x {
            OperandRef::Object(t) => trace.value_of(t.get()).is_some(),
            OperandRef::Number(_) | OperandRef::Operand(_) => false,
        };
        objects.any(belongs).then(|| f(trace))
    })
}

/// The object of the next argument.
pub fn argument(shape: &[usize], dtype: DType) -> PyResult<PyTensor> {
    TRACES.with_borrow_mut(|traces| match traces.last_mut() {
        Some(trace) => {
            let value = trace.graph.input(shape, dtype);
            trace.object(value)
        }
        None => Ok(PyTensor::new(Tensor::default())),
    })
}
/// Whether an object belongs to a function that this thread is tracing.
pub fn is_traced(t: &PyTensor) -> bool {
    is_active() && TRACES.with_borrow(|traces| traces.iter().any(|x| x.value_of(t).is_some()))
}
/// Records an elementwise operation; `None` where no operand is traced.
pub fn apply(row: &'static Row, operands: &[OperandRef]) -> Option<PyResult<PyTensor>> {
    look(operands, |x| is_fixed(row, x));
    with_trace(operands.iter(), |trace| {
        let given = operands.iter().map(|x| trace.operand_of(row, x));
        let given: Vec<stream::Operand> = given.collect();
        let y = trace.graph.apply_row(row, &given)?;
        trace.object(y)
    })
}
/// Records a conversion.
pub fn convert(x: &OperandRef, dtype: DType) -> Option<PyResult<PyTensor>> {
    unary(x, |trace, x| Ok(trace.graph.convert(x, dtype)?))
}
/// Records a reduction of the values that `before` makes of the operand.
pub fn reduce(
    kind: Kind,
    x: &OperandRef,
    over: &Reduction,
    before: impl FnOnce(DType) -> Result<Option<DType>>,
    after: Option<DType>,
) -> Option<PyResult<PyTensor>> {
    unary(x, |trace, x| {
        let dtype = before(trace.graph.dtype(x))?;
        let x = match dtype {
            Some(dtype) => trace.graph.convert(x, dtype)?,
            None => x,
        };
        let y = trace.graph.reduce(kind, x, over.clone())?;
        Ok(match after {
            Some(dtype) => trace.graph.convert(y, dtype)?,
            None => y,
        })
    })
}
/// Records a function that runs as it is, of operands one of which is traced. Its result's shape and
/// dtype are those that it has for zeros.
pub fn call(
    name: &'static str,
    operands: &[&OperandRef],
    f: Function,
) -> Option<PyResult<PyTensor>> {
    recorded(operands, |trace, values| {
        let y = f(&trace.zeros(values)?)?;
        trace.add_call(name, values, y.shape(), y.dtype(), f)
    })
}
/// Records a product of matrices.
pub fn matmul(a: &OperandRef, b: &OperandRef, dtype: Option<DType>) -> Option<PyResult<PyTensor>> {
    recorded(&[a, b], |trace, values| {
        let y = trace.graph.matmul(values[0], values[1], dtype)?;
        trace.mark.note_shape();
        trace.object(y)
    })
}
/// Records a product, after which elementwise operations are computed block by block.
pub fn product(
    name: &'static str,
    operands: &[&OperandRef],
    f: Product,
) -> Option<PyResult<PyTensor>> {
    recorded(operands, |trace, values| {
        let y = f(&trace.zeros(values)?, None)?;
        trace.mark.note_shape();
        let y = trace.graph.product(name, values, y.shape(), y.dtype(), f);
        trace.object(y)
    })
}
/// What `add` adds to the trace of operands one of which is traced.
fn recorded(
    operands: &[&OperandRef],
    add: impl FnOnce(&mut Trace, &[Value]) -> PyResult<PyTensor>,
) -> Option<PyResult<PyTensor>> {
    look(operands.iter().copied(), |_| true);
    with_trace(operands.iter().copied(), |trace| {
        let mut values = Vec::new();
        for x in operands {
            values.push(match trace.operand(x) {
                stream::Operand::Value(x) => x,
                stream::Operand::Number(s) => {
                    let t = Tensor::scalar(s, s.default_dtype())?;
                    trace.constant(t)
                }
                stream::Operand::Parameter(_) => unreachable!("numbers were looked at"),
            });
        }
        add(trace, &values)
    })
}
/// Calls `f` with the innermost trace of this thread, if there is one.
pub fn with_innermost<R>(f: impl FnOnce(&mut Trace) -> R) -> Option<R> {
    TRACES.with_borrow_mut(|traces| traces.last_mut().map(f))
}

fn unary(
    x: &OperandRef,
    f: impl FnOnce(&mut Trace, Value) -> PyResult<Value>,
) -> Option<PyResult<PyTensor>> {
    with_trace(std::iter::once(x), |trace| match trace.operand(x) {
        stream::Operand::Value(x) => {
            let y = f(trace, x)?;
            trace.object(y)
        }
        _ => unreachable!("a traced object is a value"),
    })
}

/// Errors where the object is traced: a number of Python's is asked for, which would decide for all
/// later calls.
pub fn refuse_number(t: &PyTensor, op: &str) -> PyResult<()> {
    if !is_active() || t.traced_value(|_| ()).is_none() {
        return Ok(());
    }
    Err(PyTypeError::new_err(format!(
        "{op}() of a tensor in a function traced by flex.fuse: its elements aren't there yet. Use flex.where to choose \
         by value, or keep this part out of the function"
    )))
}
/// Records an operation in place on an object that is traced, which stands for the result then.
#[inline(always)]
pub fn apply_in_place(
    row: &'static Row,
    t: &Bound<'_, PyTensor>,
    other: &OperandRef,
) -> Option<PyResult<()>> {
    is_traced(t.get()).then(|| record_in_place(row, t, other))
}
fn record_in_place(row: &'static Row, t: &Bound<'_, PyTensor>, other: &OperandRef) -> PyResult<()> {
    look([other], |x| is_fixed(row, x));
    let target = OperandRef::Object(t.clone());
    let y = with_trace([&target, other].into_iter(), |trace| {
        let given = [&target, other].map(|x| trace.operand_of(row, x));
        let mut y = trace.graph.apply_row(row, &given)?;
        if let Some(target) = trace.value_of(t.get()) {
            let of = |x: Value| (trace.graph.shape(x), trace.graph.dtype(x));
            let dtype = fit_target(row.op.name(), of(y), of(target))?;
            y = trace.graph.convert(y, dtype)?;
        }
        trace.object(y)
    });
    if let Some(y) = y {
        t.get().become_other(y?);
    }
    Ok(())
}
