//! `flex.nn`'s linear layers.

use super::activation::activation_named;
use crate::nn::{self, Linear};
use crate::python::cell::PyTensor;
use crate::python::convert::{Arg, compute};
use crate::python::dtype::DTypeArg;
use crate::python::linalg::work;
use pyo3::prelude::*;

/// `activation(x @ weight.T + bias) + residual`, fused into the product.
///
/// x: `[.., in]`. weight: `[out, in]`. bias: `[out]`. activation: the name of one
/// without parameters, such as "relu", "gelu", "gelu_tanh", "silu" or "hardswish" (ValueError). residual: broadcasts to
/// the result, which is `[.., out]`, of the common dtype. dtype: the dtype of the sums and of the result instead, as if all operands were converted
/// to it first; int8 and uint8 in int32 need no such copies. ShapeError if sizes don't fit;
/// DTypeError for bool, if there is no common dtype or `dtype` can't hold its values, or for an
/// activation of integers.
///
/// >>> flex.nn.linear(flex.asarray([1.0, 2.0]), flex.asarray([[1.0, 0.0], [1.0, 1.0]]), flex.asarray([0.5, 0.0])).tolist()
/// [1.5, 3.0]
#[pyfunction]
#[pyo3(signature = (x, weight, bias = None, *, activation = None, residual = None, dtype = None))]
fn linear(
    py: Python<'_>,
    x: Arg,
    weight: Arg,
    bias: Option<Arg>,
    activation: Option<&str>,
    residual: Option<Arg>,
    dtype: Option<DTypeArg>,
) -> PyResult<PyTensor> {
    let activation = activation_named("linear", activation)?;
    let width = weight.0.shape().first().copied().unwrap_or(1);
    compute(py, work(&x.0, width), || {
        let options = Linear {
            bias: bias.as_ref().map(|b| &b.0),
            activation,
            residual: residual.as_ref().map(|r| &r.0),
            dtype: dtype.map(|d| d.0),
        };
        nn::linear(&x.0, &weight.0, options)
    })
}

/// Adds them to `flex.nn`.
pub(super) fn register(nn: &Bound<PyModule>) -> PyResult<()> {
    nn.add_function(wrap_pyfunction!(linear, nn)?)
}
