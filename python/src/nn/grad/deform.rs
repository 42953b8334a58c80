//! The gradients of a deformable convolution.

use super::compute_all;
use crate::cell::PyTensor;
use crate::convert::{Ints, TensorArg};
use crate::nn::deform::options;
use flex::nn::{DeformConv, grad as gradients};
use pyo3::prelude::*;

/// The gradients of x, offset, weight, bias and mask of `deform_conv2d`. The gradient of a tap is
/// passed on to the four elements around its position, by their interpolation weights, and to its
/// offset, times the slope of the interpolated value down and across.
///
/// grad: of the shape of the convolution's result. x, offset, weight, mask, stride, padding,
/// dilation: those of the convolution (ShapeError). Without a mask, its gradient is that of a mask
/// of ones. The results have the common dtype, a float (DTypeError).
///
/// >>> x, w, grad = flex.asarray([[[1.0, 5.0]]]), flex.full((1, 1, 1, 1), 10.0), flex.asarray([[[1.0, 0.0]]])
/// >>> offset = flex.asarray([[[0.0, 0.0]], [[0.25, 0.0]]])
/// >>> x, offset, w, bias, mask = flex.nn.grad.deform_conv2d(grad, x, offset, w)
/// >>> x.tolist(), offset[1].tolist(), mask.tolist()
/// ([[[7.5, 2.5]]], [[40.0, 0.0]], [[[20.0, 0.0]]])
#[function(grad, x, offset, weight, mask = None, *, stride = 1, padding: "_Padding" = 0, dilation = 1)]
#[allow(clippy::too_many_arguments, reason = "those of the convolution")]
fn deform_conv2d(
    py: Python<'_>,
    grad: TensorArg,
    x: TensorArg,
    offset: TensorArg,
    weight: TensorArg,
    mask: Option<TensorArg>,
    stride: Option<Ints>,
    padding: Option<Bound<PyAny>>,
    dilation: Option<Ints>,
) -> PyResult<(PyTensor, PyTensor, PyTensor, PyTensor, PyTensor)> {
    let options = DeformConv {
        mask: mask.as_ref().map(|m| &m.0),
        ..options("grad.deform_conv2d", stride, padding, dilation)?
    };
    let outputs = weight.0.shape().first().copied().unwrap_or(1);
    let [x, offset, weight, bias, mask] =
        compute_all(py, x.0.len().saturating_mul(outputs), || {
            gradients::deform_conv2d(&grad.0, &x.0, &offset.0, &weight.0, options)
        })?;
    Ok((x, offset, weight, bias, mask))
}
