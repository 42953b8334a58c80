//! Gradients of convolutions.

use super::{ThreeGradients, compute_all};
use crate::convert::{Ints, TensorArg};
use crate::nn::conv::{options, transposed_options};
use flex::nn::{Conv, ConvTranspose, grad};
use pyo3::prelude::*;

/// A multiplication per element of the weight and position, three times.
fn work(image: &TensorArg, weight: &TensorArg, axis: usize) -> usize {
    let other = weight.0.shape().get(axis).copied().unwrap_or(1);
    image.0.len().saturating_mul(other)
}

macro_rules! convolutions {
    ($($(#[doc = $doc:literal])* $name:ident;)*) => { $(
        $(#[doc = $doc])*
        #[function(grad, x, weight, *, stride = 1, padding: "_Padding" = 0, dilation = 1, groups = 1, precise = false)]
        #[allow(clippy::too_many_arguments, reason = "those of a convolution")]
        fn $name(
            py: Python<'_>,
            grad: TensorArg,
            x: TensorArg,
            weight: TensorArg,
            stride: Option<Ints>,
            padding: Option<Bound<PyAny>>,
            dilation: Option<Ints>,
            groups: isize,
            precise: bool,
        ) -> PyResult<ThreeGradients> {
            let op = concat!("grad.", stringify!($name));
            let options = Conv { precise, ..options(op, stride, padding, dilation, groups)? };
            let [x, weight, bias] = compute_all(py, work(&x, &weight, 0), || {
                grad::$name(&grad.0, &x.0, &weight.0, options)
            })?;
            Ok((x, weight, bias))
        }
    )* };
}
convolutions! {
    /// The gradients of x, weight and bias of `conv1d` without activation and residual: the
    /// transposed convolution of grad, the sums over all positions of grad times the element of x
    /// that the weight's element saw, and the sum of grad over all axes but the channels.
    ///
    /// grad: of the shape of the convolution's result. x: `[batch, channels, length]`, or without
    /// the batch. weight: `[out, channels / groups, kernel]` (ShapeError). stride, padding,
    /// dilation, groups, precise: those of the convolution. The results have the common dtype, a
    /// float (DTypeError). A weight that is not finite may turn the gradients of elements within a
    /// kernel of the border into NaN, where it is multiplied by zeros beyond grad.
    ///
    /// >>> grad, x, w = flex.asarray([[1.0, 10.0]]), flex.asarray([[1.0, 2.0, 3.0]]), flex.asarray([[[4.0, 5.0]]])
    /// >>> [d.tolist() for d in flex.nn.grad.conv1d(grad, x, w)]
    /// [[[4.0, 45.0, 50.0]], [[[21.0, 32.0]]], [11.0]]
    conv1d;
    /// The gradients of x, weight and bias of `conv2d` without activation and residual: the
    /// transposed convolution of grad, the sums over all positions of grad times the element of x
    /// that the weight's element saw, and the sum of grad over all axes but the channels.
    ///
    /// grad: of the shape of the convolution's result. x: `[batch, channels, height, width]`, or
    /// without the batch. weight: `[out, channels / groups, height, width]` (ShapeError). Otherwise
    /// as for `grad.conv1d`.
    ///
    /// >>> grad, x, w = flex.ones((1, 2, 2)), flex.ones((1, 3, 3)), flex.ones((1, 1, 2, 2))
    /// >>> x, w, bias = flex.nn.grad.conv2d(grad, x, w)
    /// >>> x.tolist(), w.tolist(), bias.tolist()
    /// ([[[1.0, 2.0, 1.0], [2.0, 4.0, 2.0], [1.0, 2.0, 1.0]]], [[[[4.0, 4.0], [4.0, 4.0]]]], [4.0])
    conv2d;
    /// The gradients of x, weight and bias of `conv3d` without activation and residual: the
    /// transposed convolution of grad, the sums over all positions of grad times the element of x
    /// that the weight's element saw, and the sum of grad over all axes but the channels.
    ///
    /// grad: of the shape of the convolution's result. x: `[batch, channels, depth, height,
    /// width]`, or without the batch. weight: `[out, channels / groups, depth, height, width]`
    /// (ShapeError). Otherwise as for `grad.conv1d`.
    ///
    /// >>> grad, x, w = flex.ones((1, 1, 1, 1)), flex.ones((1, 1, 1, 2)), flex.ones((1, 1, 1, 1, 2))
    /// >>> [d.tolist() for d in flex.nn.grad.conv3d(grad, x, w)]
    /// [[[[[1.0, 1.0]]]], [[[[[1.0, 1.0]]]]], [1.0]]
    conv3d;
}

macro_rules! transposed {
    ($($(#[doc = $doc:literal])* $name:ident;)*) => { $(
        $(#[doc = $doc])*
        #[function(grad, x, weight, *, stride = 1, padding = 0, output_padding = 0, groups = 1, dilation = 1)]
        #[allow(clippy::too_many_arguments, reason = "those of a convolution")]
        fn $name(
            py: Python<'_>,
            grad: TensorArg,
            x: TensorArg,
            weight: TensorArg,
            stride: Option<Ints>,
            padding: Option<Ints>,
            output_padding: Option<Ints>,
            groups: isize,
            dilation: Option<Ints>,
        ) -> PyResult<ThreeGradients> {
            let op = concat!("grad.", stringify!($name));
            let options: ConvTranspose =
                transposed_options(op, stride, padding, output_padding, groups, dilation)?;
            let [x, weight, bias] = compute_all(py, work(&x, &weight, 1), || {
                grad::$name(&grad.0, &x.0, &weight.0, options)
            })?;
            Ok((x, weight, bias))
        }
    )* };
}
transposed! {
    /// The gradients of x, weight and bias of `conv_transpose1d`: the convolution of grad, the sums
    /// over all elements of x of their product with the element of grad that they contributed to,
    /// and the sum of grad over all axes but the channels.
    ///
    /// grad: of the shape of the transposed convolution's result. x: `[batch, channels, length]`,
    /// or without the batch. weight: `[channels, out / groups, kernel]` (ShapeError). stride,
    /// padding, output_padding, groups, dilation: those of the transposed convolution. The results
    /// have the common dtype, a float (DTypeError). Places that padding crops count as zeros, which
    /// give NaN where the weight or x is not finite.
    ///
    /// >>> grad, x, w = flex.asarray([[1.0, 10.0, 100.0]]), flex.asarray([[1.0, 2.0]]), flex.asarray([[[3.0, 4.0]]])
    /// >>> [d.tolist() for d in flex.nn.grad.conv_transpose1d(grad, x, w)]
    /// [[[43.0, 430.0]], [[[21.0, 210.0]]], [111.0]]
    conv_transpose1d;
    /// The gradients of x, weight and bias of `conv_transpose2d`: the convolution of grad, the sums
    /// over all elements of x of their product with the element of grad that they contributed to,
    /// and the sum of grad over all axes but the channels.
    ///
    /// grad: of the shape of the transposed convolution's result. x: `[batch, channels, height,
    /// width]`, or without the batch. weight: `[channels, out / groups, height, width]`
    /// (ShapeError). Otherwise as for `grad.conv_transpose1d`.
    ///
    /// >>> grad, x, w = flex.ones((1, 2, 2)), flex.full((1, 1, 1), 2.0), flex.asarray([[[[1.0, 2.0], [3.0, 4.0]]]])
    /// >>> [d.tolist() for d in flex.nn.grad.conv_transpose2d(grad, x, w)]
    /// [[[[10.0]]], [[[[2.0, 2.0], [2.0, 2.0]]]], [4.0]]
    conv_transpose2d;
    /// The gradients of x, weight and bias of `conv_transpose3d`: the convolution of grad, the sums
    /// over all elements of x of their product with the element of grad that they contributed to,
    /// and the sum of grad over all axes but the channels.
    ///
    /// grad: of the shape of the transposed convolution's result. x: `[batch, channels, depth,
    /// height, width]`, or without the batch. weight: `[channels, out / groups, depth, height,
    /// width]` (ShapeError). Otherwise as for `grad.conv_transpose1d`.
    ///
    /// >>> grad, x, w = flex.ones((1, 1, 1, 2)), flex.ones((1, 1, 1, 1)), flex.ones((1, 1, 1, 1, 2))
    /// >>> [d.tolist() for d in flex.nn.grad.conv_transpose3d(grad, x, w)]
    /// [[[[[2.0]]]], [[[[[1.0, 1.0]]]]], [2.0]]
    conv_transpose3d;
}
