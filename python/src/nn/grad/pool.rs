//! Gradients of pooling.

use crate::cell::PyTensor;
use crate::convert::{Ints, TensorArg, compute};
use crate::nn::pool::{averages, maybe};
use crate::nn::spatial::per_axis;
use flex::nn::{LpPool, grad};
use pyo3::prelude::*;

/// The number of elements of a shape.
fn elements(shape: &[usize]) -> usize {
    shape.iter().fold(1, |n, size| n.saturating_mul(*size))
}

macro_rules! largest {
    ($($(#[doc = $doc:literal])* $name:ident;)*) => { $(
        $(#[doc = $doc])*
        #[function(grad, indices, input_size)]
        fn $name(py: Python<'_>, grad: TensorArg, indices: TensorArg, input_size: Ints) -> PyResult<PyTensor> {
            let shape = input_size.shape(concat!("grad.", stringify!($name)), "input_size")?;
            compute(py, elements(&shape), || grad::$name(&grad.0, &indices.0, &shape))
        }
    )* };
}
largest! {
    /// The gradient of x of `max_pool1d`: each element of grad is added to the position of its
    /// maximum.
    ///
    /// grad: `[batch, channels, length]`, or without the batch. indices: integers of the same
    /// shape, as `max_pool1d` returns them with `return_indices`; ValueError if one is negative or
    /// out of range. input_size: the shape of x, and of the result (ShapeError). The options of the
    /// pool don't matter. The result has grad's dtype, a float (DTypeError); 16-bit floats are
    /// summed in float32.
    ///
    /// >>> x = flex.asarray([[1.0, 5.0, 2.0]])
    /// >>> y, indices = flex.nn.max_pool1d(x, 2, stride=1, return_indices=True)
    /// >>> flex.nn.grad.max_pool1d(flex.asarray([[1.0, 2.0]]), indices, x.shape).tolist()
    /// [[0.0, 3.0, 0.0]]
    max_pool1d;
    /// The gradient of x of `max_pool2d`: each element of grad is added to the position of its
    /// maximum.
    ///
    /// grad: `[batch, channels, height, width]`, or without the batch. Otherwise as for
    /// `max_pool1d`.
    ///
    /// >>> x = flex.asarray([[[1.0, 5.0], [2.0, 4.0]]])
    /// >>> y, indices = flex.nn.max_pool2d(x, 2, return_indices=True)
    /// >>> flex.nn.grad.max_pool2d(flex.asarray([[[3.0]]]), indices, x.shape).tolist()
    /// [[[0.0, 3.0], [0.0, 0.0]]]
    max_pool2d;
    /// The gradient of x of `max_pool3d`: each element of grad is added to the position of its
    /// maximum.
    ///
    /// grad: `[batch, channels, depth, height, width]`, or without the batch. Otherwise as for
    /// `max_pool1d`.
    ///
    /// >>> indices = flex.asarray([[[[1]]]])
    /// >>> flex.nn.grad.max_pool3d(flex.asarray([[[[3.0]]]]), indices, (1, 1, 1, 2)).tolist()
    /// [[[[0.0, 3.0]]]]
    max_pool3d;
    /// The gradient of x of `adaptive_max_pool1d`. As for `max_pool1d`.
    ///
    /// >>> x = flex.asarray([[1.0, 5.0, 2.0]])
    /// >>> y, indices = flex.nn.adaptive_max_pool1d(x, 2, return_indices=True)
    /// >>> flex.nn.grad.adaptive_max_pool1d(flex.asarray([[1.0, 2.0]]), indices, x.shape).tolist()
    /// [[0.0, 3.0, 0.0]]
    adaptive_max_pool1d;
    /// The gradient of x of `adaptive_max_pool2d`. As for `max_pool2d`.
    ///
    /// >>> indices = flex.asarray([[[1]]])
    /// >>> flex.nn.grad.adaptive_max_pool2d(flex.asarray([[[3.0]]]), indices, (1, 1, 2)).tolist()
    /// [[[0.0, 3.0]]]
    adaptive_max_pool2d;
    /// The gradient of x of `adaptive_max_pool3d`. As for `max_pool3d`.
    ///
    /// >>> indices = flex.asarray([[[[1]]]])
    /// >>> flex.nn.grad.adaptive_max_pool3d(flex.asarray([[[[3.0]]]]), indices, (1, 1, 1, 2)).tolist()
    /// [[[[0.0, 3.0]]]]
    adaptive_max_pool3d;
}

macro_rules! unpools {
    ($($(#[doc = $doc:literal])* $name:ident;)*) => { $(
        $(#[doc = $doc])*
        #[function(grad, indices)]
        fn $name(py: Python<'_>, grad: TensorArg, indices: TensorArg) -> PyResult<PyTensor> {
            compute(py, indices.0.len(), || grad::$name(&grad.0, &indices.0))
        }
    )* };
}
unpools! {
    /// The gradient of x of `max_unpool1d`: the element of grad at each element's position.
    ///
    /// grad: `[batch, channels, length]`, or without the batch, like the function's result.
    /// indices: integers with the shape of x, and of the result (ShapeError); ValueError if one is
    /// negative or out of range of grad. Other options don't matter. If several elements were put
    /// at one position, each gets the gradient there, as in torch. The result has grad's dtype, a
    /// float (DTypeError).
    ///
    /// >>> grad = flex.asarray([[1.0, 2.0, 3.0, 4.0]])
    /// >>> flex.nn.grad.max_unpool1d(grad, flex.asarray([[1, 3]])).tolist()
    /// [[2.0, 4.0]]
    max_unpool1d;
    /// The gradient of x of `max_unpool2d`: the element of grad at each element's position.
    ///
    /// grad: `[batch, channels, height, width]`, or without the batch. Otherwise as for
    /// `max_unpool1d`.
    ///
    /// >>> grad = flex.asarray([[[1.0, 2.0], [3.0, 4.0]]])
    /// >>> flex.nn.grad.max_unpool2d(grad, flex.asarray([[[2]]])).tolist()
    /// [[[3.0]]]
    max_unpool2d;
    /// The gradient of x of `max_unpool3d`: the element of grad at each element's position.
    ///
    /// grad: `[batch, channels, depth, height, width]`, or without the batch. Otherwise as for
    /// `max_unpool1d`.
    ///
    /// >>> grad = flex.asarray([[[[1.0, 2.0]]]])
    /// >>> flex.nn.grad.max_unpool3d(grad, flex.asarray([[[[1]]]])).tolist()
    /// [[[[2.0]]]]
    max_unpool3d;
}

macro_rules! means {
    ($($(#[doc = $doc:literal])* $name:ident;)*) => { $(
        $(#[doc = $doc])*
        #[function(grad, input_size, kernel_size, stride = None, padding = 0, ceil_mode = false, count_include_pad = true, divisor_override = None)]
        #[allow(clippy::too_many_arguments, reason = "torch's")]
        fn $name(
            py: Python<'_>,
            grad: TensorArg,
            input_size: Ints,
            kernel_size: Ints,
            stride: Option<Ints>,
            padding: Option<Ints>,
            ceil_mode: bool,
            count_include_pad: bool,
            divisor_override: Option<isize>,
        ) -> PyResult<PyTensor> {
            let op = concat!("grad.", stringify!($name));
            let shape = input_size.shape(op, "input_size")?;
            let kernel_size = per_axis(op, "kernel_size", &kernel_size)?;
            let options = averages(op, stride, padding, ceil_mode, count_include_pad, divisor_override)?;
            compute(py, elements(&shape), || grad::$name(&grad.0, &shape, kernel_size, options))
        }
    )* };
}
means! {
    /// The gradient of x of `avg_pool1d`: each element of grad, divided like its window's sum, is
    /// added to all elements of the window.
    ///
    /// grad: of the shape of the pool's result. input_size: the shape of x, and of the result
    /// (ShapeError). Otherwise, and for the errors, as for `flex.nn.avg_pool1d`. The result has
    /// grad's dtype; 16-bit floats are summed in float32.
    ///
    /// >>> flex.nn.grad.avg_pool1d(flex.asarray([[2.0, 4.0]]), (1, 3), 2, stride=1).tolist()
    /// [[1.0, 3.0, 2.0]]
    avg_pool1d;
    /// The gradient of x of `avg_pool2d`. As for `avg_pool1d`.
    ///
    /// >>> flex.nn.grad.avg_pool2d(flex.asarray([[[8.0]]]), (1, 2, 2), 2).tolist()
    /// [[[2.0, 2.0], [2.0, 2.0]]]
    avg_pool2d;
    /// The gradient of x of `avg_pool3d`. As for `avg_pool1d`.
    ///
    /// >>> flex.nn.grad.avg_pool3d(flex.asarray([[[[8.0]]]]), (1, 1, 1, 2), (1, 1, 2)).tolist()
    /// [[[[4.0, 4.0]]]]
    avg_pool3d;
}

macro_rules! adaptive_means {
    ($($(#[doc = $doc:literal])* $name:ident;)*) => { $(
        $(#[doc = $doc])*
        #[function(grad, input_size)]
        fn $name(py: Python<'_>, grad: TensorArg, input_size: Ints) -> PyResult<PyTensor> {
            let shape = input_size.shape(concat!("grad.", stringify!($name)), "input_size")?;
            compute(py, elements(&shape), || grad::$name(&grad.0, &shape))
        }
    )* };
}
adaptive_means! {
    /// The gradient of x of `adaptive_avg_pool1d`: each element of grad, divided by the size of its
    /// window, is added to all elements of the window.
    ///
    /// grad: of the shape of the pool's result, `[batch, channels, length]`, or without the batch.
    /// input_size: the shape of x, and of the result (ShapeError). The result has grad's dtype, a
    /// float (DTypeError); 16-bit floats are summed in float32.
    ///
    /// >>> flex.nn.grad.adaptive_avg_pool1d(flex.asarray([[2.0, 4.0]]), (1, 3)).tolist()
    /// [[1.0, 3.0, 2.0]]
    adaptive_avg_pool1d;
    /// The gradient of x of `adaptive_avg_pool2d`. As for `adaptive_avg_pool1d`.
    ///
    /// >>> flex.nn.grad.adaptive_avg_pool2d(flex.asarray([[[8.0]]]), (1, 2, 2)).tolist()
    /// [[[2.0, 2.0], [2.0, 2.0]]]
    adaptive_avg_pool2d;
    /// The gradient of x of `adaptive_avg_pool3d`. As for `adaptive_avg_pool1d`.
    ///
    /// >>> flex.nn.grad.adaptive_avg_pool3d(flex.asarray([[[[8.0]]]]), (1, 1, 1, 2)).tolist()
    /// [[[[4.0, 4.0]]]]
    adaptive_avg_pool3d;
}

macro_rules! norms {
    ($($(#[doc = $doc:literal])* $name:ident;)*) => { $(
        $(#[doc = $doc])*
        #[function(grad, x, norm_type, kernel_size, stride = None, ceil_mode = false)]
        fn $name(
            py: Python<'_>,
            grad: TensorArg,
            x: TensorArg,
            norm_type: f64,
            kernel_size: Ints,
            stride: Option<Ints>,
            ceil_mode: bool,
        ) -> PyResult<PyTensor> {
            let op = concat!("grad.", stringify!($name));
            let kernel_size = per_axis(op, "kernel_size", &kernel_size)?;
            let stride = maybe(op, "stride", stride.as_ref())?;
            let options = LpPool { stride, ceil_mode };
            compute(py, x.0.len(), || grad::$name(&grad.0, &x.0, norm_type, kernel_size, options))
        }
    )* };
}
norms! {
    /// The gradient of x of `lp_pool1d`: `x ** (norm_type - 1)` times the sum, over the windows
    /// that contain it, of `grad * y ** (1 - norm_type)`, with the pool's result `y`; 0 for windows whose
    /// norm is 0, unless norm_type is 1.
    ///
    /// grad: of the shape of y (ShapeError). Otherwise, and for the errors, as for
    /// `flex.nn.lp_pool1d`. The result has the shape of x and the common dtype.
    ///
    /// >>> flex.nn.grad.lp_pool1d(flex.asarray([[5.0]]), flex.asarray([[3.0, 4.0]]), 2.0, 2).tolist()
    /// [[3.0, 4.0]]
    lp_pool1d;
    /// The gradient of x of `lp_pool2d`. As for `lp_pool1d`.
    ///
    /// >>> x = flex.asarray([[[3.0, 0.0], [0.0, 4.0]]])
    /// >>> flex.nn.grad.lp_pool2d(flex.asarray([[[5.0]]]), x, 2.0, 2).tolist()
    /// [[[3.0, 0.0], [0.0, 4.0]]]
    lp_pool2d;
    /// The gradient of x of `lp_pool3d`. As for `lp_pool1d`.
    ///
    /// >>> x = flex.ones((1, 1, 1, 2))
    /// >>> flex.nn.grad.lp_pool3d(flex.asarray([[[[3.0]]]]), x, 1.0, (1, 1, 2)).tolist()
    /// [[[[3.0, 3.0]]]]
    lp_pool3d;
}
