//! Gradients of resampling.

use super::compute_all;
use crate::cell::PyTensor;
use crate::convert::{Ints, TensorArg, compute};
use crate::nn::resample::{Factors, interpolation, padding, sampling};
use flex::Scalar;
use flex::nn::grad;
use pyo3::prelude::*;

/// The gradient of x of `interpolate`: its weights, transposed.
///
/// grad: of the shape of the result. input_size: the shape of x, and of this function's result
/// (ShapeError). Otherwise, and for the errors, as for `flex.nn.interpolate`. The result has grad's
/// dtype, a float (DTypeError); 16-bit floats are computed in float32.
///
/// >>> grad = flex.asarray([[[1.0, 2.0, 3.0, 4.0]]])
/// >>> flex.nn.grad.interpolate(grad, (1, 1, 2), 4).tolist()
/// [[[3.0, 7.0]]]
/// >>> flex.nn.grad.interpolate(grad, (1, 1, 2), scale_factor=2, mode="linear").tolist()
/// [[[3.25, 6.75]]]
#[function(grad, input_size, size = None, scale_factor = None, mode: "_Interpolation" = "nearest", align_corners = None, recompute_scale_factor = None, antialias = false)]
#[allow(clippy::too_many_arguments, reason = "torch's")]
fn interpolate(
    py: Python<'_>,
    grad: TensorArg,
    input_size: Ints,
    size: Option<Ints>,
    scale_factor: Option<Factors>,
    mode: &str,
    align_corners: Option<bool>,
    recompute_scale_factor: Option<bool>,
    antialias: bool,
) -> PyResult<PyTensor> {
    let shape = input_size.shape("grad.interpolate", "input_size")?;
    let how = (mode, align_corners, recompute_scale_factor, antialias);
    let options = interpolation("grad.interpolate", size, scale_factor, how)?;
    compute(py, grad.0.len().saturating_mul(4), || {
        grad::interpolate(&grad.0, &shape, options)
    })
}

/// The gradient of x of `pad`: each element of grad is added to the element it was copied from;
/// constants contribute nothing.
///
/// grad: of the shape of the result. input_size: the shape of x, and of this function's result
/// (ShapeError). pad, mode: as for `flex.nn.pad`. The result has grad's dtype, a float
/// (DTypeError).
///
/// >>> grad = flex.asarray([[1.0, 2.0, 4.0, 8.0]])
/// >>> flex.nn.grad.pad(grad, (1, 2), (2, 0)).tolist()
/// [[4.0, 8.0]]
/// >>> flex.nn.grad.pad(grad, (1, 2), (2, 0), mode="replicate").tolist()
/// [[7.0, 8.0]]
#[function(grad, input_size, pad, mode: "_PadMode" = "constant")]
fn pad(
    py: Python<'_>,
    grad: TensorArg,
    input_size: Ints,
    pad: Ints,
    mode: &str,
) -> PyResult<PyTensor> {
    let shape = input_size.shape("grad.pad", "input_size")?;
    let mode = padding("grad.pad", mode, Scalar::Bool(false))?;
    compute(py, grad.0.len(), || {
        grad::pad(&grad.0, &shape, &pad.0, mode)
    })
}

/// The gradients of x and grid of `grid_sample`. The gradient of a point is passed on to the
/// elements around it, by their weights, and to its coordinates, by the derivatives of these
/// weights, which are 0 in mode "nearest" and where the border is repeated.
///
/// grad: of the shape of the result. x, grid, mode, padding_mode, align_corners and errors: as for
/// `flex.nn.grid_sample`. The results have the common dtype, a float (DTypeError); 16-bit floats
/// are computed in float32.
///
/// >>> x, grid = flex.asarray([[[[1.0, 5.0]]]]), flex.asarray([[[[0.25, 0.0]]]])
/// >>> dx, dgrid = flex.nn.grad.grid_sample(flex.ones((1, 1, 1, 1)), x, grid, padding_mode="border")
/// >>> dx.tolist(), dgrid.tolist()
/// ([[[[0.25, 0.75]]]], [[[[4.0, 0.0]]]])
#[function(grad, x, grid, mode: "Literal['bilinear', 'nearest', 'bicubic']" = "bilinear", padding_mode: "Literal['zeros', 'border', 'reflection']" = "zeros", align_corners = None)]
fn grid_sample(
    py: Python<'_>,
    grad: TensorArg,
    x: TensorArg,
    grid: TensorArg,
    mode: &str,
    padding_mode: &str,
    align_corners: Option<bool>,
) -> PyResult<(PyTensor, PyTensor)> {
    let options = sampling("grad.grid_sample", mode, padding_mode, align_corners)?;
    let [dx, dgrid] = compute_all(py, grad.0.len().saturating_mul(8), || {
        grad::grid_sample(&grad.0, &x.0, &grid.0, options)
    })?;
    Ok((dx, dgrid))
}
