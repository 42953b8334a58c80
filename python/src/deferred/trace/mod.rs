//! Traced functions: operations on tensors without elements are added to a graph.
//!
//! An object then holds a value of the graph. The operations that can be recorded are here; any
//! other access to the object's elements is refused by its cell.

mod captures;

pub use captures::{Captures, Outside};

use super::traced::{Memory, TraceMark, Traced, is_active};
use super::{Recorded, Recorder};
use crate::cell::PyTensor;
use crate::convert::error::Raise;
use crate::convert::{Operand, OperandRef};
use crate::default;
use crate::number::TracedNumber;
use captures::{Captured, is_same};
use flex::stream::{self, About, Function, Graph, Operation, Parameter, Step, Value};
use flex::{DType, Layout, Result, Tensor};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use smallvec::SmallVec;
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

thread_local! {
    /// The functions that this thread is tracing, innermost last.
    static TRACES: RefCell<Vec<Trace>> = const { RefCell::new(Vec::new()) };
}

/// A function that is being traced.
#[derive(Default)]
pub struct Trace {
    pub graph: Graph,
    /// The inputs that follow the arguments.
    pub outside: Vec<Outside>,
    /// The constants among them, by the address of their first element.
    constants: HashMap<usize, Vec<(Tensor, Value)>>,
    /// Tensors from outside that it can use.
    pub(super) captured: Vec<Captured>,
    /// How many traces have begun, with this one.
    pub(super) begun: usize,
    /// The functions that compute its parameters from a call's float arguments.
    pub numbers: Vec<Py<PyAny>>,
    parameters: HashMap<usize, Parameter>,
    /// The set that identifies its float arguments.
    floats: Option<Py<PyAny>>,
    /// The dtypes of tensors from outside whose elements decide the shape of the result of the call
    /// that is being recorded.
    pub fixed: Option<fn(DType) -> bool>,
    /// Whether it takes a tensor that later calls would not find.
    pub unfollowed: bool,
    /// Whether others see the memory of the next arguments.
    shared: std::vec::IntoIter<bool>,
    /// Whether the recording depends on that.
    pub by_memory: bool,
    /// Shared with its objects.
    pub(super) mark: Arc<TraceMark>,
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
        done: impl FnOnce(&mut Trace, &R) -> PyResult<()>,
    ) -> PyResult<()> {
        let begun = TraceMark::begin();
        let trace = Trace {
            begun,
            ..Trace::default()
        };
        TRACES.with_borrow_mut(|traces| traces.push(trace));
        let ended = Ended;
        let result = f()?;
        // `done` may run Python code, which may look for the innermost trace
        let trace = TRACES.with_borrow_mut(|traces| traces.last_mut().map(core::mem::take));
        let done = trace.map_or(Ok(()), |mut trace| {
            let done = done(&mut trace, &result);
            trace.mark.set_over();
            done
        });
        drop((result, ended));
        done
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
    fn held_value(&self, t: &PyTensor) -> Option<Value> {
        t.traced_value(|x| Arc::ptr_eq(&x.mark, &self.mark).then_some(x.value))?
    }
    /// Whether an object belongs to this trace: it holds a value, or is used from outside.
    fn has_object(&self, t: &PyTensor) -> bool {
        self.held_value(t).is_some() || t.index_in(&self.mark).is_some()
    }
    /// The value of an object, if it belongs to this trace.
    pub fn value_of(&mut self, t: &PyTensor) -> Option<Value> {
        match self.held_value(t) {
            Some(value) => Some(value),
            None => t.index_in(&self.mark).map(|k| self.captured_value(k)),
        }
    }
    /// Whether nobody else sees the memory of an object, so that a write makes no copy. From now
    /// on, the recording depends on that.
    fn is_alone(&mut self, t: &PyTensor) -> bool {
        let memory = |x: &Traced| (!x.is_shared(), x.memory.given.is_some());
        let (alone, is_given) = t.traced_value(memory).unwrap_or_default();
        self.by_memory |= is_given;
        alone
    }
    /// Adds a tensor that the function has made, or an array of NumPy.
    pub fn constant(&mut self, t: Tensor) -> Value {
        if let Some(k) = self.array_at(&t) {
            return self.captured_value(k);
        }
        let alike = self.constants.entry(t.as_ptr().addr()).or_default();
        if let Some((_, value)) = alike.iter().find(|(x, _)| is_same(x, &t)) {
            return *value;
        }
        let value = self.graph.input(t.shape(), t.dtype());
        alike.push((t.clone(), value));
        self.outside.push(Outside::Constant(t));
        value
    }
    /// An operand as a value; a number becomes a constant.
    fn value(&mut self, x: stream::Operand) -> PyResult<Value> {
        Ok(match x {
            stream::Operand::Value(x) => x,
            stream::Operand::Number(s) => {
                let t = Tensor::scalar(s, default::of(s)).raise()?;
                self.constant(t)
            }
            stream::Operand::Parameter(_) => unreachable!("numbers were looked at"),
        })
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
        let numbers = &mut self.numbers;
        let parameter = self.parameters.entry(x.identity()).or_insert_with(|| {
            numbers.push(x.compute());
            self.graph.number(x.value())
        });
        *parameter
    }
    /// An operand. `keeps_numbers`: numbers that may change from call to call are parameters.
    fn operand(&mut self, x: &OperandRef, keeps_numbers: bool) -> PyResult<stream::Operand> {
        Ok(match x {
            OperandRef::Number(x) if keeps_numbers && self.has(x) => self.number(x).into(),
            OperandRef::Number(x) => stream::Operand::Number(x.value()),
            OperandRef::Object(t) => match self.value_of(t.get()) {
                Some(value) => value.into(),
                None => {
                    let tensor = t.get().tensor(t.py())?;
                    self.expect_made(t.get())?;
                    self.constant(tensor).into()
                }
            },
            OperandRef::Operand(Operand::Tensor(t)) => self.constant(t.clone()).into(),
            OperandRef::Operand(Operand::Scalar(s)) => stream::Operand::Number(*s),
        })
    }
}

/// Marks numbers as looked at that decide what is recorded: all, or those of other traces. Runs
/// Python, so no trace may be borrowed.
fn specialize_on(operands: &[&OperandRef], keeps_numbers: bool) {
    let is_own = |x: &TracedNumber| TRACES.with_borrow(|all| all.last().is_some_and(|t| t.has(x)));
    for x in operands {
        if let OperandRef::Number(x) = x
            && !(keeps_numbers && is_own(x))
        {
            x.specialize();
        }
    }
}

/// Calls `f` with the innermost trace of this thread if one of the objects belongs to it.
fn with_trace<R>(objects: &[&OperandRef], f: impl FnOnce(&mut Trace) -> R) -> Option<R> {
    if !is_active() {
        return None;
    }
    TRACES.with_borrow_mut(|traces| {
        let trace = traces.last_mut()?;
        let belongs = |x: &&OperandRef| match x {
            OperandRef::Object(t) => trace.has_object(t.get()),
            OperandRef::Number(_) | OperandRef::Operand(_) => false,
        };
        objects.iter().any(belongs).then(|| f(trace))
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
    is_active() && TRACES.with_borrow(|traces| traces.iter().any(|x| x.has_object(t)))
}
/// Whether nobody else sees the memory of an object of the innermost trace of this thread; `None`
/// for other objects.
pub fn is_alone(t: &PyTensor) -> Option<bool> {
    if !is_active() {
        return None;
    }
    with_innermost(|trace| {
        trace.held_value(t)?;
        Some(trace.is_alone(t))
    })?
}
/// Records what `f` adds; `None` if no operand is traced, or it can't be recorded.
pub(super) fn record(
    operands: &[&OperandRef],
    keeps_numbers: bool,
    f: &dyn Fn(&mut dyn Recorder) -> Recorded<usize>,
) -> Option<PyResult<PyTensor>> {
    specialize_on(operands, keeps_numbers);
    let recorded: Option<Recorded<PyTensor>> = with_trace(operands, |trace| {
        let values = operands.iter().map(|x| trace.operand(x, keeps_numbers));
        let mut r = TraceRecorder {
            values: values.collect::<PyResult<_>>()?,
            trace,
            operands,
            memory: Arc::default(),
        };
        let y = f(&mut r)?;
        let y = r.value(y)?;
        Ok(r.trace.object_in(y, r.memory)?)
    });
    match recorded? {
        Ok(y) => Some(Ok(y)),
        Err(e) => e.map(Err),
    }
}
/// Records operations on operands in a trace.
struct TraceRecorder<'a, 'o, 'py> {
    trace: &'a mut Trace,
    operands: &'a [&'o OperandRef<'py>],
    values: SmallVec<[stream::Operand; 4]>,
    /// That of the result.
    memory: Arc<Memory>,
}
impl TraceRecorder<'_, '_, '_> {
    /// A value; a number becomes a constant.
    fn value(&mut self, x: usize) -> PyResult<Value> {
        self.trace.value(self.values[x])
    }
}
impl Recorder for TraceRecorder<'_, '_, '_> {
    fn about(&self, x: usize) -> About<'_> {
        self.trace.graph.about(&self.values[x])
    }
    fn waits(&self, _: usize) -> bool {
        true
    }
    fn add(&mut self, operation: Operation, operands: &[usize]) -> Recorded<usize> {
        let mut given: SmallVec<[stream::Operand; 3]> = SmallVec::new();
        for x in operands {
            given.push(match operation {
                Operation::Apply { .. } => self.values[*x],
                _ => self.value(*x)?.into(),
            });
        }
        if operation.is_by_shape() {
            self.trace.mark.note_shape();
        }
        if let (Operation::View { .. }, OperandRef::Object(t)) = (&operation, self.operands[0]) {
            let memory = t.get().traced_value(|x| x.memory.clone());
            self.memory = memory.unwrap_or_default();
        }
        let y = self.trace.graph.add(Step {
            operation,
            operands: given,
        });
        self.values.push(y.raise()?.into());
        Ok(self.values.len() - 1)
    }
    fn replaces(&mut self) -> Recorded<bool> {
        // of two tensors, the target keeps its layout if its memory is its own
        Ok(match (self.operands[0], self.values[1]) {
            (OperandRef::Object(t), stream::Operand::Value(_)) => self.trace.is_alone(t.get()),
            _ => false,
        })
    }
}
/// Records a function that runs unchanged, at least one of whose operands is traced. The shape and
/// dtype of the result are those for operands of zeros.
pub fn call(
    name: &'static str,
    operands: &[&OperandRef],
    f: Function,
) -> Option<PyResult<PyTensor>> {
    specialize_on(operands, false);
    with_trace(operands, |trace| {
        let mut values = Vec::new();
        for x in operands {
            let x = trace.operand(x, false)?;
            values.push(trace.value(x)?);
        }
        let y = f(&trace.zeros(&values).raise()?).raise()?;
        trace.add_call(name, &values, y.shape(), y.dtype(), f)
    })
}
/// Calls `f` with the innermost trace of this thread, if there is one.
pub fn with_innermost<R>(f: impl FnOnce(&mut Trace) -> R) -> Option<R> {
    TRACES.with_borrow_mut(|traces| traces.last_mut().map(f))
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
