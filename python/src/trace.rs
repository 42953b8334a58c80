//! Traced functions: operations on tensors without elements are added to a graph.
//!
//! An object then holds a value of the graph. The operations that can be recorded are here; any
//! other access to the object's elements is refused by its cell.

use super::cell::PyTensor;
use super::convert::{Operand, OperandRef};
use super::number::TracedNumber;
use super::traced::{Memory, TraceMark, Traced, is_active};
use crate::convert::error::Raise;
use flex::kernel::elementwise::Row;
use flex::op::Op;
use flex::ops::Reduction;
use flex::ops::elementwise::fit_target;
use flex::stream::{self, Function, Graph, Kind, Layer, Parameter, Value, ViewOp};
use flex::{DType, Layout, Result, Tensor};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use smallvec::SmallVec;
use std::cell::RefCell;
use std::sync::Arc;

thread_local! {
    /// The functions that this thread is tracing, innermost last.
    static TRACES: RefCell<Vec<Trace>> = const { RefCell::new(Vec::new()) };
}

/// A function that is being traced.
#[derive(Default)]
pub struct Trace {
    pub graph: Graph,
    /// Tensors from outside the function, which follow the arguments as inputs.
    pub constants: Vec<Tensor>,
    constant_values: Vec<Value>,
    /// The functions that compute its parameters from a call's float arguments.
    pub numbers: Vec<Py<PyAny>>,
    parameters: Vec<Parameter>,
    /// The set that identifies its float arguments.
    floats: Option<Py<PyAny>>,
    /// Whether others see the memory of the next arguments.
    shared: std::vec::IntoIter<bool>,
    /// Whether the recording depends on that.
    pub by_memory: bool,
    /// Shared with its objects.
    mark: Arc<TraceMark>,
}

/// Ends a trace on drop.
struct Ended;
impl Drop for Ended {
    fn drop(&mut self) {
        TraceMark::end();
        TRACES.with_borrow_mut(|traces| {
            if let Some(trace) = traces.pop() {
                trace.mark.set_over();
            }
        });
    }
}

impl Trace {
    /// Calls `f`, which makes arguments with [`argument`], while operations are recorded; then
    /// calls `done` with the recording.
    pub fn record<R>(
        f: impl FnOnce() -> PyResult<R>,
        done: impl FnOnce(&Trace, &R) -> PyResult<()>,
    ) -> PyResult<R> {
        TraceMark::begin();
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
        self.object_in(value, Arc::default())
    }
    /// An object for a value in this memory.
    fn object_in(&self, value: Value, memory: Arc<Memory>) -> PyResult<PyTensor> {
        let traced = Traced {
            value,
            mark: self.mark.clone(),
            memory,
        };
        let (shape, dtype) = (self.graph.shape(value), self.graph.dtype(value));
        Ok(PyTensor::traced(
            Layout::contiguous(shape).raise()?,
            dtype,
            traced,
        ))
    }
    /// Whether the function looked at a shape, or its graph holds only for these shapes.
    pub fn is_by_shape(&self) -> bool {
        self.mark.is_by_shape()
    }
    /// The value that an object holds, if it belongs to this trace.
    pub fn value_of(&self, t: &PyTensor) -> Option<Value> {
        t.traced_value(|x| Arc::ptr_eq(&x.mark, &self.mark).then_some(x.value))?
    }
    /// Whether nobody else sees the memory of an object, so that a write makes no copy. From now
    /// on, the recording depends on that.
    fn is_alone(&mut self, t: &PyTensor) -> bool {
        let memory = |x: &Traced| (!x.is_shared(), x.memory.given.is_some());
        let (alone, is_given) = t.traced_value(memory).unwrap_or_default();
        self.by_memory |= is_given;
        alone
    }
    /// Adds a tensor from outside the function.
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
    /// Tensors of zeros with these values' shapes and dtypes.
    pub fn zeros(&self, values: &[Value]) -> Result<Vec<Tensor>> {
        let zeros = |x: &Value| {
            let zero = Tensor::zeros(&[] as &[usize], self.graph.dtype(*x))?;
            zero.broadcast_to(self.graph.shape(*x))
        };
        values.iter().map(zeros).collect()
    }
    /// Adds a call of a function that runs unchanged, and returns an object for its result.
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
    /// Sets the set that identifies its float arguments, and whether others see the memory of each
    /// tensor argument.
    pub fn set_arguments(&mut self, seen: Py<PyAny>, shared: Vec<bool>) {
        self.floats = Some(seen);
        self.shared = shared.into_iter();
    }
    /// Whether a number is one of its arguments.
    pub fn has(&self, x: &TracedNumber) -> bool {
        self.floats.as_ref().is_some_and(|seen| x.belongs_to(seen))
    }
    /// The parameter for a number that may change from call to call.
    fn number(&mut self, x: &TracedNumber) -> Parameter {
        if let Some(k) = self.numbers.iter().position(|y| x.is_computed_by(y)) {
            return self.parameters[k];
        }
        let parameter = self.graph.number(x.value());
        self.numbers.push(x.compute());
        self.parameters.push(parameter);
        parameter
    }
    /// An operand of an elementwise operation.
    fn operand_of(&mut self, row: &'static Row, x: &OperandRef) -> PyResult<stream::Operand> {
        match x {
            OperandRef::Number(x) if !decides(row) && self.has(x) => Ok(self.number(x).into()),
            _ => self.operand(x),
        }
    }
    fn operand(&mut self, x: &OperandRef) -> PyResult<stream::Operand> {
        Ok(match x {
            OperandRef::Number(x) => stream::Operand::Number(x.value()),
            OperandRef::Object(t) => match self.value_of(t.get()) {
                Some(value) => value.into(),
                None => self.constant(t.get().tensor(t.py())?).into(),
            },
            OperandRef::Operand(Operand::Tensor(t)) => self.constant(t.clone()).into(),
            OperandRef::Operand(Operand::Scalar(s)) => stream::Operand::Number(*s),
        })
    }
}

/// Whether the operation depends on a number's value, as a power does on its exponent.
fn decides(row: &'static Row) -> bool {
    row.square.is_some()
}
/// Marks the numbers that decide what is recorded for these operands as looked at. Runs Python, so
/// no trace may be borrowed.
fn look<'a, 'py: 'a>(
    operands: impl IntoIterator<Item = &'a OperandRef<'py>>,
    which: impl Fn(&TracedNumber) -> bool,
) {
    for x in operands {
        if let OperandRef::Number(x) = x
            && which(x)
        {
            x.look();
        }
    }
}
/// Whether a number's value decides what a row records: as an exponent, or if it belongs to another
/// trace.
fn is_fixed(row: &'static Row, x: &TracedNumber) -> bool {
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

/// The object for the next argument.
pub fn argument(shape: &[usize], dtype: DType) -> PyResult<PyTensor> {
    TRACES.with_borrow_mut(|traces| match traces.last_mut() {
        Some(trace) => {
            let value = trace.graph.input(shape, dtype);
            let given = trace.shared.next();
            trace.object_in(value, Arc::new(Memory { given }))
        }
        None => Ok(PyTensor::new(Tensor::default())),
    })
}
/// Whether an object belongs to a function that this thread is tracing.
pub fn is_traced(t: &PyTensor) -> bool {
    is_active() && TRACES.with_borrow(|traces| traces.iter().any(|x| x.value_of(t).is_some()))
}
/// Whether nobody else sees the memory of an object of the innermost trace of this thread; `None`
/// for other objects.
pub fn is_alone(t: &PyTensor) -> Option<bool> {
    if !is_active() {
        return None;
    }
    with_innermost(|trace| {
        trace.value_of(t)?;
        Some(trace.is_alone(t))
    })?
}
/// Records an elementwise operation; `None` if no operand is traced.
pub fn apply(row: &'static Row, operands: &[OperandRef]) -> Option<PyResult<PyTensor>> {
    look(operands, |x| is_fixed(row, x));
    with_trace(operands.iter(), |trace| {
        let given = operands.iter().map(|x| trace.operand_of(row, x));
        let given: Vec<stream::Operand> = given.collect::<PyResult<_>>()?;
        let y = trace.graph.apply_row(row, &given, false).raise()?;
        trace.object(y)
    })
}
/// Records a conversion.
pub fn convert(x: &OperandRef, dtype: DType) -> Option<PyResult<PyTensor>> {
    unary(x, |trace, x| {
        if trace.graph.dtype(x) == dtype && stream::copies(dtype) {
            return trace
                .graph
                .apply(Op::Positive, &[stream::Operand::Value(x)])
                .raise();
        }
        trace.graph.convert(x, dtype).raise()
    })
}
/// Records a reduction of the operand converted by `before`.
pub fn reduce(
    kind: Kind,
    x: &OperandRef,
    over: &Reduction,
    before: impl FnOnce(DType) -> Result<Option<DType>>,
    after: Option<DType>,
) -> Option<PyResult<PyTensor>> {
    unary(x, |trace, x| {
        let dtype = before(trace.graph.dtype(x)).raise()?;
        let x = match dtype {
            Some(dtype) => trace.graph.convert(x, dtype).raise()?,
            None => x,
        };
        let y = trace.graph.reduce(kind, x, over.clone()).raise()?;
        Ok(match after {
            Some(dtype) => trace.graph.convert(y, dtype).raise()?,
            None => y,
        })
    })
}
/// Records a function that runs unchanged, at least one of whose operands is traced. The shape and
/// dtype of the result are those for operands of zeros.
pub fn call(
    name: &'static str,
    operands: &[&OperandRef],
    f: Function,
) -> Option<PyResult<PyTensor>> {
    recorded(operands, |trace, values| {
        let y = f(&trace.zeros(values).raise()?).raise()?;
        trace.add_call(name, values, y.shape(), y.dtype(), f)
    })
}
/// Records a view of a traced value; `None` also if `make` finds none, such as for an empty value.
pub fn view(
    from: &OperandRef,
    make: &dyn Fn(&Layout, DType) -> Result<Option<ViewOp>>,
) -> Option<PyResult<PyTensor>> {
    with_trace(std::iter::once(from), |trace| {
        match trace.operand(from)? {
            stream::Operand::Value(x) => {
                let graph = &mut trace.graph;
                let y = match make(&Layout::contiguous(graph.shape(x)).raise()?, graph.dtype(x))
                    .raise()?
                {
                    Some(view) => graph.view(x, &view),
                    None => return Ok(None),
                };
                trace.mark.note_shape();
                let memory = match from {
                    OperandRef::Object(t) => t.get().traced_value(|x| x.memory.clone()),
                    _ => None,
                };
                Ok(Some(trace.object_in(y, memory.unwrap_or_default())?))
            }
            _ => unreachable!("a traced object is a value"),
        }
    })
    .and_then(PyResult::transpose)
}
/// Records a matrix product.
pub fn matmul(a: &OperandRef, b: &OperandRef, dtype: Option<DType>) -> Option<PyResult<PyTensor>> {
    recorded(&[a, b], |trace, values| {
        let y = trace.graph.matmul(values[0], values[1], dtype).raise()?;
        trace.mark.note_shape();
        trace.object(y)
    })
}
/// Records a layer; the elementwise operations that follow it run block by block of its result.
pub fn layer(layer: &Layer, operands: &[OperandRef]) -> Option<PyResult<PyTensor>> {
    let all: SmallVec<[&OperandRef; 4]> = operands.iter().collect();
    recorded(&all, |trace, values| {
        let y = trace.graph.layer(layer, values).raise()?;
        trace.mark.note_shape();
        trace.object(y)
    })
}
/// Records an operation that `add` adds to the trace of its operands, at least one of which is
/// traced.
fn recorded(
    operands: &[&OperandRef],
    add: impl FnOnce(&mut Trace, &[Value]) -> PyResult<PyTensor>,
) -> Option<PyResult<PyTensor>> {
    look(operands.iter().copied(), |_| true);
    with_trace(operands.iter().copied(), |trace| {
        let mut values = Vec::new();
        for x in operands {
            values.push(match trace.operand(x)? {
                stream::Operand::Value(x) => x,
                stream::Operand::Number(s) => {
                    let t = Tensor::scalar(s, s.default_dtype()).raise()?;
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
    with_trace(std::iter::once(x), |trace| match trace.operand(x)? {
        stream::Operand::Value(x) => {
            let y = f(trace, x)?;
            trace.object(y)
        }
        _ => unreachable!("a traced object is a value"),
    })
}

/// Errors if the object is traced: as a Python number its value would be fixed for all later calls.
pub fn refuse_number(t: &PyTensor, op: &str) -> PyResult<()> {
    if !is_active() || t.traced_value(|_| ()).is_none() {
        return Ok(());
    }
    Err(PyTypeError::new_err(format!(
        "{op}() of a tensor in a function traced by flex.fuse: its elements aren't there yet. Use flex.where to choose \
         by value, or keep this part out of the function"
    )))
}
/// Records an in-place operation on a traced object, which then holds the result.
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
        let given = [
            trace.operand_of(row, &target)?,
            trace.operand_of(row, other)?,
        ];
        // of two tensors, the target keeps its layout if its memory is its own
        let two = matches!(given[1], stream::Operand::Value(_));
        let alone = two && trace.is_alone(t.get());
        let mut y = trace.graph.apply_row(row, &given, alone).raise()?;
        if let Some(target) = trace.value_of(t.get()) {
            let of = |x: Value| (trace.graph.shape(x), trace.graph.dtype(x));
            let dtype = fit_target(row.op.name(), of(y), of(target)).raise()?;
            y = trace.graph.convert(y, dtype).raise()?;
        }
        trace.object(y)
    });
    if let Some(y) = y {
        t.get().become_other(y?);
    }
    Ok(())
}
