//! Float arguments of traced functions: objects of `flex._tracing` that stand for numbers that may
//! differ from call to call.

use flex::Scalar;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyFloat, PyType};

static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// A number that may change from one run of a program to the next.
pub struct TracedNumber<'py> {
    object: Bound<'py, PyAny>,
    value: f64,
    compute: Bound<'py, PyAny>,
    seen: Bound<'py, PyAny>,
}

impl<'py> TracedNumber<'py> {
    /// `x` as a `TracedNumber`, if it is one.
    #[inline]
    pub fn of(x: &Bound<'py, PyAny>) -> PyResult<Option<TracedNumber<'py>>> {
        match CLASS.get(x.py()) {
            Some(class) if x.get_type().is(class) => Ok(Some(TracedNumber {
                object: x.clone(),
                value: x.getattr("value")?.extract()?,
                compute: x.getattr("compute")?,
                seen: x.getattr("_seen")?,
            })),
            _ => Ok(None),
        }
    }
    /// Its value. From now on, the recording depends on that value.
    pub fn specialize(&self) -> Scalar {
        // `look` adds to a set, which fails only without memory
        drop(self.object.call_method0("look"));
        self.value()
    }
    /// [`specialize`](TracedNumber::specialize), as a Python number.
    pub fn specialized(&self) -> Py<PyAny> {
        self.specialize();
        PyFloat::new(self.object.py(), self.value)
            .into_any()
            .unbind()
    }
    /// Its value in the call that is being traced.
    pub fn value(&self) -> Scalar {
        Scalar::Float(self.value)
    }
    /// The function that computes its value from the tuple of a call's float arguments; identified
    /// by address.
    pub fn compute(&self) -> Py<PyAny> {
        self.compute.clone().unbind()
    }
    /// Whether it belongs to the trace with this set of looked-at floats.
    pub fn belongs_to(&self, seen: &Py<PyAny>) -> bool {
        seen.is(&self.seen)
    }
    /// Identifies the function that computes it, while that lives.
    pub fn identity(&self) -> usize {
        self.compute.as_ptr().addr()
    }
}

/// The float arguments of the call that is being traced.
pub struct FloatArguments<'py>(Bound<'py, PyAny>);

impl<'py> FloatArguments<'py> {
    /// No arguments yet.
    pub fn new(py: Python<'py>) -> PyResult<FloatArguments<'py>> {
        let module = py.import("flex._tracing")?;
        CLASS.get_or_try_init(py, || {
            let class = module.getattr("Number")?.cast_into::<PyType>()?;
            Ok::<_, PyErr>(class.unbind())
        })?;
        Ok(FloatArguments(module.getattr("Numbers")?.call0()?))
    }
    /// The object for the next argument.
    pub fn add(&self, x: &Bound<'py, PyFloat>) -> PyResult<Bound<'py, PyAny>> {
        self.0.call_method1("add", (x,))
    }
    /// Marks all of them as looked at.
    pub fn specialize(&self) -> PyResult<()> {
        self.0.call_method0("look")?;
        Ok(())
    }
    /// The set of floats that were looked at.
    pub fn seen(&self) -> PyResult<Bound<'py, PyAny>> {
        self.0.getattr("seen")
    }
}
