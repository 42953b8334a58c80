//! Linear layers of `flex.nn`.

use super::activation::activation_named;
use crate::cell::PyTensor;
use crate::convert::{OperandRef, compute};
use crate::deferred;
use crate::dtype::DTypeArg;
use crate::products::work;
use flex::Tensor;
use flex::stream::{Product, ProductKind};
use pyo3::prelude::*;
use smallvec::SmallVec;

/// `activation(x @ weight.T + bias) + residual`, fused into the product.
///
/// x: `[.., in]`. weight: `[out, in]`. bias: `[out]`. activation: the name of one without
/// parameters, such as "relu", "gelu", "gelu_tanh", "silu" or "hardswish" (ValueError). residual:
/// broadcasts to the result, which is `[.., out]`, of the common dtype. dtype: the dtype of the
/// sums and of the result instead, as if all operands were converted to it first; int8 and uint8
/// need no such copies for int32. bfloat16 is multiplied as by `matmul`, where subnormal numbers may
/// count as zero. ShapeError if sizes don't match; DTypeError for bool, if there is no common dtype
/// or `dtype` can't hold its values, or for an activation of integers.
///
/// >>> flex.nn.linear(flex.asarray([1.0, 2.0]), flex.asarray([[1.0, 0.0], [1.0, 1.0]]), flex.asarray([0.5, 0.0])).tolist()
/// [1.5, 3.0]
#[function(x, weight, bias = None, *, activation: "_Activation | None" = None, residual = None, dtype = None)]
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
    let kind = ProductKind::Linear { activation, dtype };
    product(py, kind, (x, weight), [bias, residual])
}

/// A layer of the first two operands with the optional others, or the value that stands for it in
/// a trace or a stream.
pub(super) fn product(
    py: Python<'_>,
    kind: ProductKind,
    (x, weight): (OperandRef<'_>, OperandRef<'_>),
    others: [Option<OperandRef<'_>>; 2],
) -> PyResult<PyTensor> {
    let product = Product {
        kind,
        bias: others[0].is_some(),
        residual: others[1].is_some(),
    };
    let mut operands: SmallVec<[OperandRef; 4]> = SmallVec::new();
    operands.extend([x, weight]);
    operands.extend(others.into_iter().flatten());
    if let Some(y) = deferred::product(&product, &operands) {
        return y;
    }
    let mut tensors: SmallVec<[Tensor; 4]> = SmallVec::new();
    for x in operands {
        tensors.push(x.tensor()?);
    }
    let width = tensors[1].shape().first().copied().unwrap_or(1);
    compute(py, work(&tensors[0], width), || product.run(&tensors, None))
}
