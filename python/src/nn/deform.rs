//! Deformable convolution of `flex.nn`.

use super::conv::options as of_conv;
use crate::cell::PyTensor;
use crate::convert::{Ints, TensorArg, compute};
use flex::nn::{self, Conv, DeformConv};
use pyo3::prelude::*;

/// The options that place the kernel.
pub(super) fn options(
    op: &str,
    stride: Option<Ints>,
    padding: Option<Bound<PyAny>>,
    dilation: Option<Ints>,
) -> PyResult<DeformConv<'static>> {
    let Conv {
        stride,
        padding,
        dilation,
        ..
    } = of_conv(op, stride, padding, dilation, 1)?;
    Ok(DeformConv {
        stride,
        padding,
        dilation,
        ..Default::default()
    })
}

/// The convolution of an image with learned offsets for each tap of each position (Dai et al.,
/// 2017; with a mask, Zhu et al., 2019), like torchvision's. Between elements, the image is
/// interpolated bilinearly; outside it is zero.
///
/// x: `[batch, channels, height, width]`, or without the batch. offset: `[batch, offset groups *
/// 2 * kernel height * kernel width, out height, out width]`, for each tap the offset down and the
/// one across. weight: `[out, channels / groups, height, width]`. bias: `[out]`. stride, padding,
/// dilation: as for `conv2d`. mask:
/// `[batch, offset groups * kernel height * kernel width, out height, out width]`, a factor for
/// each tap. Both numbers of groups follow from the shapes; the channels of a group are adjacent.
/// The result has the operands' common dtype, a float, and the sizes of `conv2d`. ShapeError if
/// shapes don't fit; ValueError for options that are too small; DTypeError if there is no common
/// float dtype.
///
/// >>> x, w = flex.asarray([[[1.0, 2.0], [3.0, 4.0]]]), flex.full((1, 1, 1, 1), 10.0)
/// >>> offset = flex.asarray([[[0.5, 0.5], [0.5, 0.5]], [[0.0, 0.0], [0.0, 0.0]]])
/// >>> flex.nn.deform_conv2d(x, offset, w).tolist()
/// [[[20.0, 30.0], [15.0, 20.0]]]
#[function(x, offset, weight, bias = None, stride = 1, padding: "_Padding" = 0, dilation = 1, mask = None)]
#[allow(clippy::too_many_arguments, reason = "torchvision's")]
fn deform_conv2d(
    py: Python<'_>,
    x: TensorArg,
    offset: TensorArg,
    weight: TensorArg,
    bias: Option<TensorArg>,
    stride: Option<Ints>,
    padding: Option<Bound<PyAny>>,
    dilation: Option<Ints>,
    mask: Option<TensorArg>,
) -> PyResult<PyTensor> {
    let options = DeformConv {
        bias: bias.as_ref().map(|b| &b.0),
        mask: mask.as_ref().map(|m| &m.0),
        ..options("deform_conv2d", stride, padding, dilation)?
    };
    let outputs = weight.0.shape().first().copied().unwrap_or(1);
    compute(py, x.0.len().saturating_mul(outputs), || {
        nn::deform_conv2d(&x.0, &offset.0, &weight.0, options)
    })
}
