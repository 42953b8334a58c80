//! Methods of Tensor that are functions of the module: one table.

use super::tensor::PyTensor;
use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

/// What a class attribute has to be for a built-in function to get the instance: `t.sum(axis=0)` is `flex.sum(t, axis=0)`.
#[pyclass(frozen, module = "flex._flex", name = "_Method")]
struct Method(Py<PyAny>);

#[pymethods]
impl Method {
    fn __get__<'py>(&self, instance: &Bound<'py, PyAny>, _owner: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
        static BOUND: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        let (py, function) = (instance.py(), self.0.bind(instance.py()));
        if instance.is_none() {
            return Ok(function.clone());
        }
        BOUND.import(py, "types", "MethodType")?.call1((function, instance))
    }
}

/// Functions whose first parameter is a tensor.
#[rustfmt::skip]
const METHODS: &[&str] = &[
    // elementwise
    "abs", "ceil", "clip", "conj", "cos", "erf", "exp", "floor", "isfinite", "isinf", "isnan", "log", "reciprocal", "relu", "round", "rsqrt",
    "sigmoid", "sign", "sin", "sqrt", "square", "tan", "tanh", "trunc",
    // reductions
    "all", "any", "argmax", "argmin", "count_nonzero", "cumulative_prod", "cumulative_sum", "logsumexp", "max", "mean", "min", "prod", "std", "sum", "var",
    // shape
    "broadcast_to", "chunk", "expand_dims", "flip", "moveaxis", "permute_dims", "repeat", "roll", "split", "squeeze", "swapaxes", "tile",
    "transpose", "unfold", "unstack",
    // sorting and indexing
    "argsort", "argwhere", "masked_fill", "nonzero", "sort", "take", "take_along_axis", "topk",
    // products
    "matmul",
];

/// Comes after the functions' own registration.
pub(super) fn register(m: &Bound<PyModule>) -> PyResult<()> {
    let class = m.py().get_type::<PyTensor>();
    for name in METHODS {
        if class.hasattr(*name)? {
            return Err(PyAttributeError::new_err(format!("Tensor.{name} exists already")));
        }
        class.setattr(*name, Method(m.getattr(*name)?.unbind()).into_pyobject(m.py())?)?;
    }
    Ok(())
}
