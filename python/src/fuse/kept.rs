//! Objects that a program knows by their identity.

use pyo3::PyTraverseError;
use pyo3::gc::PyVisit;
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyModule, PyType, PyWeakrefMethods, PyWeakrefReference};

/// An object that is known by its address, which another one may get when it is gone. Held weakly, as
/// it may hold the instance whose method a program is.
pub enum Kept {
    Weak(Py<PyWeakrefReference>),
    /// Of a class without weak references, or one that holds nothing else.
    Strong(Py<PyAny>),
}

impl Kept {
    /// An object to be known.
    pub fn new(x: &Bound<'_, PyAny>) -> Kept {
        let holds_nothing = x.is_instance_of::<PyCFunction>()
            || x.is_instance_of::<PyModule>()
            || x.is_instance_of::<PyType>();
        match PyWeakrefReference::new(x) {
            Ok(weak) if !holds_nothing => Kept::Weak(weak.unbind()),
            _ => Kept::Strong(x.clone().unbind()),
        }
    }
    /// Whether it is still there.
    pub fn is_alive(&self, py: Python<'_>) -> bool {
        match self {
            Kept::Weak(x) => x.bind(py).upgrade().is_some(),
            Kept::Strong(_) => true,
        }
    }
    /// Whether it is this object.
    pub fn is(&self, x: &Bound<'_, PyAny>) -> bool {
        match self {
            Kept::Weak(own) => own.bind(x.py()).upgrade().is_some_and(|own| own.is(x)),
            Kept::Strong(own) => own.is(x),
        }
    }
    /// Visits the object that it holds.
    pub fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        match self {
            Kept::Weak(x) => visit.call(x),
            Kept::Strong(x) => visit.call(x),
        }
    }
}
