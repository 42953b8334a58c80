//! Float arguments of functions that are being traced: objects of `flex._tracing`, which stand for numbers
//! that may be others at the next call.

use crate::Scalar;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyFloat, PyType};

static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// A number that may be another one when a program runs.
pub struct Number<'py> {
    object: Bound<'py, PyAny>,
    value: f64,
    compute: Bound<'py, PyAny>,
    seen: Bound<'py, PyAny>,
}

impl<'py> Number<'py> {
    /// `x`, if it is one.
    #[inline]
    pub fn of(x: &Bound<'py, PyAny>) -> PyResult<Option<Number<'py>>> {
        match CLASS.get(x.py()) {
            Some(class) if x.get_type().is(class) => Ok(Some(Number {
                object: x.clone(),
                value: x.getattr("value")?.extract()?,
                compute: x.getattr("compute")?,
                seen: x.getattr("_seen")?,
            })),
            _ => Ok(None),
        }
    }
    /// Its value, on which what is recorded depends from now on.
    pub fn look(&self) -> Scalar {
        // it notes that in a set, which fails for want of memory alone
        drop(self.object.call_method0("look"));
        self.value()
    }
    /// The same as an object of Python's.
    pub fn looked_at(&self) -> Py<PyAny> {
        self.look();
        PyFloat::new(self.object.py(), self.value)
            .into_any()
            .unbind()
    }
    /// Its value in the call that is traced.
    pub fn value(&self) -> Scalar {
        Scalar::Float(self.value)
    }
    /// What computes its value of the tuple of float arguments of a call; known by its address.
    pub fn compute(&self) -> Py<PyAny> {
        self.compute.clone().unbind()
    }
    /// Whether it belongs to the trace whose floats that were looked at are this set.
    pub fn belongs_to(&self, seen: &Py<PyAny>) -> bool {
        seen.is(&self.seen)
    }
    /// Whether that does.
    pub fn is_computed_by(&self, compute: &Py<PyAny>) -> bool {
        compute.is(&self.compute)
    }
}

/// The float arguments of a call that is being traced.
pub struct Arguments<'py>(Bound<'py, PyAny>);

impl<'py> Arguments<'py> {
    /// None yet.
    pub fn new(py: Python<'py>) -> PyResult<Arguments<'py>> {
        let module = py.import("flex._tracing")?;
        CLASS.get_or_try_init(py, || {
            let class = module.getattr("Number")?.cast_into::<PyType>()?;
            Ok::<_, PyErr>(class.unbind())
        })?;
        Ok(Arguments(module.getattr("Numbers")?.call0()?))
    }
    /// The object for the next one.
    pub fn add(&self, x: &Bound<'py, PyFloat>) -> PyResult<Bound<'py, PyAny>> {
        self.0.call_method1("add", (x,))
    }
    /// Looks at all of them.
    pub fn look(&self) -> PyResult<()> {
        self.0.call_method0("look")?;
        Ok(())
    }
    /// The set of those that were looked at.
    pub fn seen(&self) -> PyResult<Bound<'py, PyAny>> {
        self.0.getattr("seen")
    }
}
