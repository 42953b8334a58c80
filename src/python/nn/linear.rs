//! `flex.nn`'s linear layers.

use super::activation::activation_named;
use crate::nn::{Linear, linear_then};
use crate::ops::linalg::Follow;
use crate::python::cell::PyTensor;
use crate::python::convert::{OperandRef, compute};
use crate::python::dtype::DTypeArg;
use crate::python::linalg::work;
use crate::python::{trace, traced};
use crate::stream::Product;
use crate::{Result, Tensor};
use pyo3::prelude::*;
use smallvec::SmallVec;
use std::sync::Arc;

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
    x: OperandRef,
    weight: OperandRef,
    bias: Option<OperandRef>,
    activation: Option<&str>,
    residual: Option<OperandRef>,
    dtype: Option<DTypeArg>,
) -> PyResult<PyTensor> {
    let activation = activation_named("linear", activation)?;
    let dtype = dtype.map(|d| d.0);
    let with_bias = bias.is_some();
    let layer = move |x: &[Tensor], then: Option<&dyn Follow>| {
        let (bias, residual) = x[2..].split_at(with_bias as usize);
        let options = Linear {
            bias: bias.first(),
            activation,
            residual: residual.first(),
            dtype,
        };
        linear_then(&x[0], &x[1], options, then)
    };
    product(py, "linear", (x, weight), [bias, residual], layer)
}

/// A product of the first two operands, or a value of the function that is being traced; with those that there are
/// of the others.
pub(super) fn product(
    py: Python<'_>,
    name: &'static str,
    (x, weight): (OperandRef<'_>, OperandRef<'_>),
    others: [Option<OperandRef<'_>>; 2],
    f: impl Fn(&[Tensor], Option<&dyn Follow>) -> Result<Tensor> + Clone + Send + Sync + 'static,
) -> PyResult<PyTensor> {
    let mut operands: SmallVec<[OperandRef; 4]> = SmallVec::new();
    operands.extend([x, weight]);
    operands.extend(others.into_iter().flatten());
    if traced::is_active() {
        let all: SmallVec<[&OperandRef; 4]> = operands.iter().collect();
        let f: Product = Arc::new(f.clone());
        if let Some(y) = trace::product(name, &all, f) {
            return y;
        }
    }
    let mut tensors: SmallVec<[Tensor; 4]> = SmallVec::new();
    for x in operands {
        x.compute_queued(py)?;
        tensors.push(x.take().tensor()?);
    }
    let width = tensors[1].shape().first().copied().unwrap_or(1);
    compute(py, work(&tensors[0], width), || f(&tensors, None))
}

/// Adds them to `flex.nn`.
pub(super) fn register(nn: &Bound<PyModule>) -> PyResult<()> {
    nn.add_function(wrap_pyfunction!(linear, nn)?)
}
