//! Calls that `flex.fuse` records as a whole, because an argument is traced and the function is not
//! an operation of the graph: sorts, most of `nn`, functions of several tensors. The call is kept
//! with its other arguments and repeated each time the program runs.

use super::cell::PyTensor;
use super::convert::Operand;
use super::deferred::trace::{self, Trace};
use super::deferred::traced;
use super::dtype::PyDType;
use super::number::TracedNumber;
use super::quant::PyQTensor;
use crate::convert::error::Raise;
use flex::par;
use flex::stream::Value;
use flex::{DType, Error, Result, Tensor};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyEllipsis, PyList, PySlice, PyString, PyTuple};
use std::cell::RefCell;
use std::sync::Arc;

/// Functions with results whose shape depends on elements.
const BY_ELEMENTS: [&str; 6] = [
    "argwhere",
    "nonzero",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
];

/// The deepest nesting of lists among the arguments.
const DEEPEST: usize = 64;

thread_local! {
    /// The exception raised by a call while a program ran.
    static RAISED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// An argument.
enum CallArgument {
    Traced(usize),
    Constant(Py<PyAny>),
    Tuple(Vec<CallArgument>),
    List(Vec<CallArgument>),
}

impl CallArgument {
    /// `None` for an object that may differ in the next call.
    fn of(
        x: &Bound<'_, PyAny>,
        trace: &mut Trace,
        values: &mut Vec<Value>,
        depth: usize,
    ) -> Option<CallArgument> {
        let depth = depth.checked_sub(1)?;
        let mut all = |items: &mut dyn Iterator<Item = Bound<'_, PyAny>>| {
            items
                .map(|x| CallArgument::of(&x, trace, values, depth))
                .collect::<Option<Vec<_>>>()
        };
        if let Ok(items) = x.cast_exact::<PyTuple>() {
            return all(&mut items.iter()).map(CallArgument::Tuple);
        }
        if let Ok(items) = x.cast_exact::<PyList>() {
            return all(&mut items.iter()).map(CallArgument::List);
        }
        let snapshot = |t: Tensor| {
            let object = Py::new(x.py(), PyTensor::new(t)).ok()?;
            Some(CallArgument::Constant(object.into_any()))
        };
        if let Ok(t) = x.cast_exact::<PyTensor>() {
            if let Some(k) = trace.number_of(t.get()).filter(|k| trace.is_fixed(*k)) {
                return snapshot(trace.look(k));
            }
            if let Some(value) = trace.value_of(t.get()) {
                values.push(value);
                return Some(CallArgument::Traced(values.len() - 1));
            }
            if t.get().traced_value(|_| ()).is_some() {
                return None; // of another trace
            }
            trace.unfollowed |= trace.expect_made(t.get()).is_err();
            // the object may be written to before the program runs
            return snapshot(t.get().tensor(x.py()).ok()?);
        }
        if let Ok(Some(number)) = TracedNumber::of(x) {
            return Some(CallArgument::Constant(number.specialized()));
        }
        let plain = x.is_none()
            || x.is_instance_of::<PyString>()
            || x.is_instance_of::<PySlice>()
            || x.is_instance_of::<PyEllipsis>()
            || x.is_instance_of::<PyDType>()
            || x.is_instance_of::<PyQTensor>();
        let plain = plain
            || match Operand::of(x) {
                Ok(Some(Operand::Scalar(_))) => true,
                Ok(Some(Operand::Tensor(t))) => {
                    let Some(k) = trace.array_at(&t) else {
                        return snapshot(t);
                    };
                    if trace.is_fixed(k) {
                        return snapshot(trace.look(k));
                    }
                    values.push(trace.captured_value(k));
                    return Some(CallArgument::Traced(values.len() - 1));
                }
                _ => false,
            };
        plain.then(|| CallArgument::Constant(x.clone().unbind()))
    }
    fn build<'py>(&self, py: Python<'py>, tensors: &[Tensor]) -> PyResult<Bound<'py, PyAny>> {
        let all = |items: &[CallArgument]| {
            items
                .iter()
                .map(|x| x.build(py, tensors))
                .collect::<PyResult<Vec<_>>>()
        };
        Ok(match self {
            CallArgument::Traced(k) => {
                Bound::new(py, PyTensor::new(tensors[*k].clone()))?.into_any()
            }
            CallArgument::Constant(x) => x.bind(py).clone(),
            CallArgument::Tuple(items) => PyTuple::new(py, all(items)?)?.into_any(),
            CallArgument::List(items) => PyList::new(py, all(items)?)?.into_any(),
        })
    }
}

/// A call without the elements of traced tensors.
struct WholeCall {
    function: Py<PyAny>,
    arguments: Vec<CallArgument>,
    keywords: Vec<(Py<PyString>, CallArgument)>,
}

impl WholeCall {
    /// Its result for these tensors; `None` if that is not a tensor.
    fn make(&self, py: Python<'_>, tensors: &[Tensor]) -> PyResult<Option<Tensor>> {
        let arguments = self.arguments.iter().map(|x| x.build(py, tensors));
        let arguments = PyTuple::new(py, arguments.collect::<PyResult<Vec<_>>>()?)?;
        let keywords = PyDict::new(py);
        for (name, x) in &self.keywords {
            keywords.set_item(name, x.build(py, tensors)?)?;
        }
        let result = self.function.bind(py).call(arguments, Some(&keywords))?;
        Ok(match result.cast_exact::<PyTensor>() {
            Ok(t) => Some(t.get().tensor(py)?),
            Err(_) => None,
        })
    }
    fn run(&self, name: &'static str, tensors: &[Tensor]) -> Result<Tensor> {
        // Python's frames must not be unwound
        let made = par::uninterrupted(|| Python::attach(|py| self.make(py, tensors)));
        match made {
            Ok(Some(y)) => Ok(y),
            Ok(None) => Err(Error::value(name, "the result is not a tensor")),
            Err(e) => {
                let message = format!("a call in a function traced by flex.fuse: {e}");
                RAISED.set(Some(e));
                Err(Error::value(name, message))
            }
        }
    }
}

/// Records a call of a function of the module, given its name there. `None` if no argument is
/// traced, or the call can't be repeated: its result must be one tensor whose shape doesn't depend on
/// elements.
pub fn record(
    function: &Bound<'_, PyAny>,
    name: &'static str,
    arguments: &[Bound<'_, PyAny>],
    keywords: &[(Bound<'_, PyString>, Bound<'_, PyAny>)],
) -> Option<PyResult<PyTensor>> {
    if BY_ELEMENTS.contains(&name) {
        return None;
    }
    let found = trace::with_innermost(|trace| {
        let mut values = Vec::new();
        trace.fixed = match name {
            "__getitem__" => Some(DType::is_bool),
            "repeat" => Some(|_| true),
            _ => None,
        };
        let arguments = arguments
            .iter()
            .map(|x| CallArgument::of(x, trace, &mut values, DEEPEST))
            .collect::<Option<Vec<_>>>()?;
        let keywords = keywords
            .iter()
            .map(|(name, x)| {
                Some((
                    name.clone().unbind(),
                    CallArgument::of(x, trace, &mut values, DEEPEST)?,
                ))
            })
            .collect::<Option<_>>()?;
        // the counts decide the shape
        let is_counted =
            values.len() == 1 && matches!(arguments.first(), Some(CallArgument::Traced(_)));
        if name == "repeat" && !is_counted {
            return None;
        }
        let mut zeros = trace.zeros(&values).ok()?;
        if name == "view" {
            // as a dtype of another size it takes elements that are adjacent
            let all = zeros.iter().map(Tensor::contiguous).collect::<Result<_>>();
            zeros = all.ok()?;
        }
        let call = WholeCall {
            function: function.clone().unbind(),
            arguments,
            keywords,
        };
        (!values.is_empty()).then_some((values, call, zeros))
    })?;
    if let Some(e) = trace::with_innermost(Trace::take_unfollowed)? {
        return Some(Err(e));
    }
    let (values, call, zeros) = found?;
    // the trace is not borrowed here, since the function may look at it
    let y = match call.make(function.py(), &zeros) {
        Ok(y) => y?,
        Err(e) => return Some(Err(e)),
    };
    let (shape, dtype) = (y.shape().to_vec(), y.dtype());
    let expected = (shape.clone(), dtype);
    let f = move |x: &[Tensor]| {
        let y = call.run(name, x)?;
        match (y.shape(), y.dtype()) == (&expected.0[..], expected.1) {
            true => Ok(y),
            false => {
                let message = format!(
                    "shape {:?} and {} for these elements, {:?} and {} when flex.fuse traced it",
                    y.shape(),
                    y.dtype(),
                    expected.0,
                    expected.1
                );
                Err(Error::value(name, message))
            }
        }
    };
    trace::with_innermost(|trace| trace.add_call(name, &values, &shape, dtype, Arc::new(f)))
}

/// Records a call of a method of Tensor; `None` as for [`record`].
pub fn method(
    t: &Bound<'_, PyTensor>,
    name: &'static str,
    arguments: &[Bound<'_, PyAny>],
) -> Option<PyResult<PyTensor>> {
    if !traced::is_active() {
        return None;
    }
    let mut all = vec![t.as_any().clone()];
    all.extend_from_slice(arguments);
    match t.get_type().getattr(name) {
        Ok(function) => record(&function, name, &all, &[]),
        Err(e) => Some(Err(e)),
    }
}
/// Records an assignment to elements of a traced object, which then holds the result.
pub fn assign(
    t: &Bound<'_, PyTensor>,
    key: &Bound<'_, PyAny>,
    value: &Bound<'_, PyAny>,
) -> Option<PyResult<()>> {
    if let Err(e) = t.get().refuse_write() {
        return Some(Err(e));
    }
    let alone = trace::is_alone(t.get())?;
    let py = t.py();
    let arguments = [
        t.as_any().clone(),
        key.clone(),
        value.clone(),
        PyBool::new(py, alone).to_owned().into_any(),
    ];
    let assigned = py
        .import("flex._tracing")
        .and_then(|m| m.getattr("assigned"));
    let y = match assigned {
        Ok(assigned) => record(&assigned, "__setitem__", &arguments, &[])?,
        Err(e) => Err(e),
    };
    Some(y.map(|y| t.get().become_other(y)))
}

/// The error of a program, or the exception that a call in it raised.
pub fn error(e: Error) -> PyErr {
    RAISED.take().unwrap_or_else(|| e.raise())
}
