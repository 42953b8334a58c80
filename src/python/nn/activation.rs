//! `flex.nn`'s activations.

use crate::kernel::elementwise::rows;
use crate::nn::Activation;
use crate::python::cell::PyTensor;
use crate::python::convert::Operand;
use crate::python::elementwise;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// `x / 2 * (1 + erf(x / sqrt(2)))`, or its approximation by tanh.
///
/// x: a tensor of floats; integers are computed in float32. approximate: "none" or "tanh"
/// (ValueError). The result has the shape and dtype of x. DTypeError for complex numbers.
///
/// >>> flex.nn.gelu(flex.asarray([0.0, flex.inf]), approximate="tanh").tolist()
/// [0.0, inf]
#[pyfunction]
#[pyo3(signature = (x, *, approximate = "none"))]
fn gelu(py: Python<'_>, x: Operand, approximate: &str) -> PyResult<PyTensor> {
    let row = match approximate {
        "none" => &rows::Gelu::ROW,
        "tanh" => &rows::GeluTanh::ROW,
        other => {
            return Err(PyValueError::new_err(format!(
                "gelu: approximate is {other:?}; it is \"none\" or \"tanh\""
            )));
        }
    };
    elementwise::apply(py, row, &[x])
}

/// The activation that a layer is told by name.
pub(super) fn activation_named(op: &str, name: Option<&str>) -> PyResult<Option<Activation>> {
    let named = |name| {
        Activation::from_name(name).ok_or_else(|| {
            PyValueError::new_err(format!(
                "{op}: activation is {name:?}; it is \"relu\", \"gelu\", \"gelu_tanh\", \
                    \"silu\", \"sigmoid\", \"tanh\" or None"
            ))
        })
    };
    name.map(named).transpose()
}

/// Adds them to `flex.nn`.
pub(super) fn register(nn: &Bound<PyModule>) -> PyResult<()> {
    nn.add_function(wrap_pyfunction!(gelu, nn)?)
}
