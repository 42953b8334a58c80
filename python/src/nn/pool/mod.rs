//! Pooling of `flex.nn`.

mod adaptive;

use super::spatial::per_axis;
use crate::cell::PyTensor;
use crate::convert::{Ints, TensorArg, compute, count, detached};
use flex::nn::{self, AvgPool, LpPool, MaxPool, MaxUnpool, PerAxis};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;

/// An optional option.
pub(super) fn maybe(op: &str, name: &str, n: Option<&Ints>) -> PyResult<Option<PerAxis>> {
    n.map(|n| per_axis(op, name, n)).transpose()
}

/// The result, with the positions of the maxima if asked for.
fn pooled<'py>(
    py: Python<'py>,
    elements: usize,
    return_indices: bool,
    alone: impl FnOnce() -> flex::Result<flex::Tensor> + Send,
    both: impl FnOnce() -> flex::Result<(flex::Tensor, flex::Tensor)> + Send,
) -> PyResult<Bound<'py, PyAny>> {
    if !return_indices {
        return compute(py, elements, alone)?.into_bound_py_any(py);
    }
    let (y, positions) = detached(py, elements, both)?;
    (PyTensor::new(y), PyTensor::new(positions)).into_bound_py_any(py)
}

macro_rules! max_pools {
    ($($(#[doc = $doc:literal])* $name:ident $with:ident;)*) => { $(
        $(#[doc = $doc])*
        #[function(x, kernel_size, stride = None, padding = 0, dilation = 1, ceil_mode = false, return_indices = false)]
        #[allow(clippy::too_many_arguments, reason = "torch's")]
        fn $name<'py>(
            py: Python<'py>,
            x: TensorArg,
            kernel_size: Ints,
            stride: Option<Ints>,
            padding: Option<Ints>,
            dilation: Option<Ints>,
            ceil_mode: bool,
            return_indices: bool,
        ) -> PyResult<Bound<'py, PyAny>> {
            let op = stringify!($name);
            let kernel_size = per_axis(op, "kernel_size", &kernel_size)?;
            let mut options = MaxPool {
                stride: maybe(op, "stride", stride.as_ref())?,
                ceil_mode,
                ..Default::default()
            };
            if let Some(n) = padding {
                options.padding = per_axis(op, "padding", &n)?;
            }
            if let Some(n) = dilation {
                options.dilation = per_axis(op, "dilation", &n)?;
            }
            let (k, o) = (kernel_size.clone(), options.clone());
            pooled(
                py,
                x.0.len(),
                return_indices,
                || nn::$name(&x.0, k, o),
                || nn::$with(&x.0, kernel_size, options),
            )
        }
    )* };
}
max_pools! {
    /// The maximum of each window of a signal.
    ///
    /// x: `[batch, channels, length]`, or without the batch; not bool or complex. kernel_size:
    /// elements of a window. stride: from one window to the next; by default kernel_size. padding:
    /// positions on both sides without elements, at most half a window. dilation: from one element
    /// of a window to the next. ceil_mode: whether the number of windows is rounded up, of which
    /// the last may reach beyond the padded image; each begins in the image or the padding before
    /// it. return_indices: whether to return `(result, indices)`, where indices are int64,
    /// row-major positions in the spatial axes: of the first of equal elements, or of the last NaN.
    /// The maximum is NaN if there is one. The result has the dtype of x and `(length + 2 * padding
    /// - dilation * (kernel_size - 1) - 1) // stride + 1` positions. ShapeError if the dimensions
    /// don't fit or there is no position; ValueError for options that are too small, or too much
    /// padding; DTypeError for bool and complex.
    ///
    /// >>> flex.nn.max_pool1d(flex.asarray([[1.0, 3.0, 2.0, 0.0]]), 2).tolist()
    /// [[3.0, 2.0]]
    max_pool1d max_pool1d_with_indices;
    /// The maximum of each window of an image.
    ///
    /// x: `[batch, channels, height, width]`, or without the batch; any strides. If channels are
    /// last in memory, they are so in the result. kernel_size, stride, padding, dilation: one
    /// number, or one for each axis. Otherwise as for `max_pool1d`.
    ///
    /// >>> x = flex.asarray([[[1.0, 2.0, 0.0], [4.0, 3.0, 9.0]]])
    /// >>> y, indices = flex.nn.max_pool2d(x, 2, stride=1, return_indices=True)
    /// >>> y.tolist(), indices.tolist()
    /// ([[[4.0, 9.0]]], [[[3, 5]]])
    max_pool2d max_pool2d_with_indices;
    /// The maximum of each window of a volume.
    ///
    /// x: `[batch, channels, depth, height, width]`, or without the batch. Otherwise as for
    /// `max_pool2d`.
    ///
    /// >>> flex.nn.max_pool3d(flex.ones((1, 2, 2, 4)), 2).tolist()
    /// [[[[1.0, 1.0]]]]
    max_pool3d max_pool3d_with_indices;
}

/// The options of average pooling.
pub(super) fn averages(
    op: &str,
    stride: Option<Ints>,
    padding: Option<Ints>,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: Option<isize>,
) -> PyResult<AvgPool> {
    let mut options = AvgPool {
        stride: maybe(op, "stride", stride.as_ref())?,
        ceil_mode,
        count_include_pad,
        divisor_override: divisor_override
            .map(|n| count(op, "divisor_override", n))
            .transpose()?,
        ..Default::default()
    };
    if let Some(n) = padding {
        options.padding = per_axis(op, "padding", &n)?;
    }
    Ok(options)
}

macro_rules! avg_pools {
    ($($(#[doc = $doc:literal])* $name:ident;)*) => { $(
        $(#[doc = $doc])*
        #[function(x, kernel_size, stride = None, padding = 0, ceil_mode = false, count_include_pad = true, divisor_override = None)]
        #[allow(clippy::too_many_arguments, reason = "torch's")]
        fn $name(
            py: Python<'_>,
            x: TensorArg,
            kernel_size: Ints,
            stride: Option<Ints>,
            padding: Option<Ints>,
            ceil_mode: bool,
            count_include_pad: bool,
            divisor_override: Option<isize>,
        ) -> PyResult<PyTensor> {
            let op = stringify!($name);
            let kernel_size = per_axis(op, "kernel_size", &kernel_size)?;
            let options = averages(op, stride, padding, ceil_mode, count_include_pad, divisor_override)?;
            compute(py, x.0.len(), || nn::$name(&x.0, kernel_size, options))
        }
    )* };
}
avg_pools! {
    /// The mean of each window of a signal.
    ///
    /// x: `[batch, channels, length]`, or without the batch; floats. kernel_size: elements of a
    /// window. stride: from one window to the next; by default kernel_size. padding: zeros on both
    /// sides, at most half a window. ceil_mode: whether the number of windows is rounded up, of
    /// which the last may reach beyond the padded image, where there are no elements to count; each
    /// begins in the image or the padding before it. count_include_pad: whether the zeros count as
    /// elements. divisor_override: the divisor of sums instead of the number of elements. The
    /// result has the dtype of x and `(length + 2 * padding - kernel_size) // stride + 1`
    /// positions; 16-bit floats are summed in float32. ShapeError if the dimensions don't fit or
    /// there is no position; ValueError for options that are too small, or too much padding;
    /// DTypeError if x is not a float.
    ///
    /// >>> flex.nn.avg_pool1d(flex.asarray([[1.0, 3.0, 2.0, 0.0]]), 2).tolist()
    /// [[2.0, 1.0]]
    avg_pool1d;
    /// The mean of each window of an image.
    ///
    /// x: `[batch, channels, height, width]`, or without the batch; any strides. If channels are
    /// last in memory, they are so in the result. kernel_size, stride, padding: one number, or one
    /// for each axis. Otherwise as for `avg_pool1d`.
    ///
    /// >>> flex.nn.avg_pool2d(flex.asarray([[[1.0, 2.0], [3.0, 6.0]]]), 2).tolist()
    /// [[[3.0]]]
    avg_pool2d;
    /// The mean of each window of a volume.
    ///
    /// x: `[batch, channels, depth, height, width]`, or without the batch. Otherwise as for
    /// `avg_pool2d`.
    ///
    /// >>> flex.nn.avg_pool3d(flex.ones((1, 2, 2, 4)), 2).tolist()
    /// [[[[1.0, 1.0]]]]
    avg_pool3d;
}

macro_rules! lp_pools {
    ($($(#[doc = $doc:literal])* $name:ident;)*) => { $(
        $(#[doc = $doc])*
        #[function(x, norm_type, kernel_size, stride = None, ceil_mode = false)]
        fn $name(
            py: Python<'_>,
            x: TensorArg,
            norm_type: f64,
            kernel_size: Ints,
            stride: Option<Ints>,
            ceil_mode: bool,
        ) -> PyResult<PyTensor> {
            let op = stringify!($name);
            let kernel_size = per_axis(op, "kernel_size", &kernel_size)?;
            let stride = maybe(op, "stride", stride.as_ref())?;
            let options = LpPool { stride, ceil_mode };
            compute(py, x.0.len(), || nn::$name(&x.0, norm_type, kernel_size, options))
        }
    )* };
}
lp_pools! {
    /// The norm of each window of a signal: `sum(x ** norm_type) ** (1 / norm_type)`.
    ///
    /// x: `[batch, channels, length]`, or without the batch; floats. norm_type: finite, but not 0.
    /// kernel_size, stride, ceil_mode: as for `avg_pool1d`. As in torch, the powers are those of x,
    /// not of its magnitude, and for a window that reaches beyond the signal each missing element
    /// counts as the mean of the others. The result has the dtype of x; 16-bit floats are computed
    /// in float32. Errors as for `avg_pool1d`; ValueError if norm_type is 0 or not finite.
    ///
    /// >>> flex.nn.lp_pool1d(flex.asarray([[3.0, 4.0, 6.0, 8.0]]), 2.0, 2).tolist()
    /// [[5.0, 10.0]]
    lp_pool1d;
    /// The norm of each window of an image: `sum(x ** norm_type) ** (1 / norm_type)`.
    ///
    /// x: `[batch, channels, height, width]`, or without the batch. Otherwise as for `lp_pool1d`.
    ///
    /// >>> flex.nn.lp_pool2d(flex.asarray([[[3.0, 0.0], [0.0, 4.0]]]), 2.0, 2).tolist()
    /// [[[5.0]]]
    lp_pool2d;
    /// The norm of each window of a volume: `sum(x ** norm_type) ** (1 / norm_type)`.
    ///
    /// x: `[batch, channels, depth, height, width]`, or without the batch. Otherwise as for
    /// `lp_pool1d`.
    ///
    /// >>> flex.nn.lp_pool3d(flex.ones((1, 1, 2, 2)), 1.0, (1, 2, 2)).tolist()
    /// [[[[4.0]]]]
    lp_pool3d;
}

macro_rules! unpools {
    ($($rank:literal $(#[doc = $doc:literal])* $name:ident;)*) => { $(
        $(#[doc = $doc])*
        #[function(x, indices, kernel_size, stride = None, padding = 0, output_size = None)]
        fn $name(
            py: Python<'_>,
            x: TensorArg,
            indices: TensorArg,
            kernel_size: Ints,
            stride: Option<Ints>,
            padding: Option<Ints>,
            output_size: Option<Ints>,
        ) -> PyResult<PyTensor> {
            let op = stringify!($name);
            let kernel_size = per_axis(op, "kernel_size", &kernel_size)?;
            let mut options = MaxUnpool {
                stride: maybe(op, "stride", stride.as_ref())?,
                ..Default::default()
            };
            if let Some(n) = padding {
                options.padding = per_axis(op, "padding", &n)?;
            }
            if let Some(mut n) = output_size {
                // accepts the whole shape of the result, as torch does
                if n.0.len() > $rank {
                    n.0.drain(..n.0.len() - $rank);
                }
                options.output_size = Some(per_axis(op, "output_size", &n)?);
            }
            compute(py, x.0.len(), || nn::$name(&x.0, &indices.0, kernel_size, options))
        }
    )* };
}
unpools! {
    1
    /// Elements put back where `max_pool1d` took them, with zeros elsewhere.
    ///
    /// x: `[batch, channels, length]`, or without the batch. indices: integers of the same shape,
    /// positions in the result, as `max_pool1d` returns them. kernel_size, stride, padding: the
    /// pool's. output_size: the result's length, within a stride of the default, `(length - 1) *
    /// stride - 2 * padding + kernel_size`; or its shape. If several elements have the same
    /// position, the last one is kept. ShapeError if shapes don't fit; ValueError if output_size
    /// doesn't, or a position is negative; IndexError if it is out of range.
    ///
    /// >>> y, indices = flex.nn.max_pool1d(flex.asarray([[1.0, 5.0, 2.0, 4.0]]), 2, return_indices=True)
    /// >>> flex.nn.max_unpool1d(y, indices, 2).tolist()
    /// [[0.0, 5.0, 0.0, 4.0]]
    max_unpool1d;
    2
    /// Elements put back where `max_pool2d` took them, with zeros elsewhere.
    ///
    /// x: `[batch, channels, height, width]`, or without the batch. indices: integers of the same
    /// shape, row-major positions in a plane of the result. Otherwise as for `max_unpool1d`.
    ///
    /// >>> flex.nn.max_unpool2d(flex.asarray([[[7.0]]]), flex.asarray([[[2]]]), 2).tolist()
    /// [[[0.0, 0.0], [7.0, 0.0]]]
    max_unpool2d;
    3
    /// Elements put back where `max_pool3d` took them, with zeros elsewhere.
    ///
    /// x: `[batch, channels, depth, height, width]`, or without the batch. Otherwise as for
    /// `max_unpool2d`.
    ///
    /// >>> flex.nn.max_unpool3d(flex.ones((1, 1, 1, 1)), flex.asarray([[[[1]]]]), (1, 1, 2)).tolist()
    /// [[[[0.0, 1.0]]]]
    max_unpool3d;
}
