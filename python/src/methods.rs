//! The methods of Tensor that are functions of the module: all functions that take a tensor first.

use super::cell::PyTensor;
use super::convert::OperandRef;
use super::elementwise::apply_ref;
use flex::kernel::elementwise::rows;
use pyo3::PyTraverseError;
use pyo3::gc::PyVisit;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyString, PyType};

/// The descriptor that passes the instance to a built-in function: `t.sum(axis=0)` is `flex.sum(t,
/// axis=0)`.
#[pyclass(frozen, module = "flex._flex", name = "_Method")]
struct MethodDescriptor(Py<PyAny>);

#[pymethods]
impl MethodDescriptor {
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.0)
    }
    fn __get__<'py>(
        &self,
        instance: &Bound<'py, PyAny>,
        _owner: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        static BOUND: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        let (py, function) = (instance.py(), self.0.bind(instance.py()));
        if instance.is_none() {
            return Ok(function.clone());
        }
        BOUND
            .import(py, "types", "MethodType")?
            .call1((function, instance))
    }
}

/// The names of a first parameter that takes a tensor.
const TENSOR: [&str; 2] = ["(x", "(x1"];

/// Functions with such a parameter that are not methods: `from_dlpack` takes any object, `real` and
/// `imag` are properties.
const NOT_METHODS: [&str; 3] = ["from_dlpack", "imag", "real"];

#[pymethods]
impl PyTensor {
    /// The real parts of complex numbers, as with `flex.real`; for real numbers, the tensor itself.
    #[getter]
    fn real(slf: Bound<'_, Self>) -> PyResult<PyTensor> {
        apply_ref(slf.py(), &rows::RealPart::ROW, [OperandRef::Object(slf)])
    }
    /// The imaginary parts of complex numbers, as with `flex.imag`.
    #[getter]
    fn imag(slf: Bound<'_, Self>) -> PyResult<PyTensor> {
        apply_ref(slf.py(), &rows::ImagPart::ROW, [OperandRef::Object(slf)])
    }
}

/// Called after the functions are registered.
pub(super) fn register(m: &Bound<PyModule>) -> PyResult<()> {
    let class = m.py().get_type::<PyTensor>();
    for name in m.index()? {
        let name = name.cast_into::<PyString>()?;
        let (function, known) = (m.getattr(&name)?, name.to_str()?);
        // astype and reshape are methods of the class itself
        if NOT_METHODS.contains(&known) || class.hasattr(&name)? {
            continue;
        }
        let Some(signature) = function.getattr_opt("__text_signature__")? else {
            continue;
        };
        let Ok(signature) = signature.extract::<String>() else {
            continue;
        };
        let first = signature.split([',', ')']).next().unwrap_or_default();
        if TENSOR.contains(&first) {
            class.setattr(
                &name,
                MethodDescriptor(function.unbind()).into_pyobject(m.py())?,
            )?;
        }
    }
    Ok(())
}
