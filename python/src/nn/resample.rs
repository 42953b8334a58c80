//! Resampling, padding, folding and shuffling of `flex.nn`.

use super::spatial::per_axis;
use crate::cell::PyTensor;
use crate::convert::{Ints, NumberArg, TensorArg, compute, count, kind, sequence};
use flex::nn::{
    self, GridSample, GridSampleMode, Interpolate, InterpolateMode, PadMode, PaddingMode, Unfold,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use smallvec::SmallVec;

/// A choice by name, or an error that lists the names.
fn choice<T: Copy>(op: &str, name: &str, given: &str, all: &[(&str, T)]) -> PyResult<T> {
    if let Some((_, t)) = all.iter().find(|(n, _)| *n == given) {
        return Ok(*t);
    }
    let names: Vec<String> = all.iter().map(|(n, _)| format!("{n:?}")).collect();
    let names = names.join(", ");
    Err(PyValueError::new_err(format!(
        "{op}: {name} is {given:?}; it is one of {names}"
    )))
}

/// One factor for all axes, or one for each.
pub(super) struct Factors(SmallVec<[f64; 3]>);
impl<'py> FromPyObject<'_, 'py> for Factors {
    stub_type!("float | Sequence[float]");
    type Error = PyErr;
    fn extract(x: Borrowed<'_, 'py, PyAny>) -> PyResult<Factors> {
        if let Ok(one) = x.extract::<f64>() {
            return Ok(Factors(SmallVec::from_slice(&[one])));
        }
        match sequence::items(&x, |n| n.extract::<f64>())? {
            Some(all) => Ok(Factors(all.into())),
            None => Err(PyTypeError::new_err(format!(
                "expected a number or a tuple of numbers, got {}",
                kind(&x)
            ))),
        }
    }
}

/// The options of resampling: the mode, and whether corners are aligned, factors recomputed, and
/// filters widened.
pub(super) fn interpolation(
    op: &str,
    size: Option<Ints>,
    scale_factor: Option<Factors>,
    (mode, align_corners, recompute_scale_factor, antialias): (
        &str,
        Option<bool>,
        Option<bool>,
        bool,
    ),
) -> PyResult<Interpolate> {
    use InterpolateMode::*;
    let all = [
        Nearest,
        NearestExact,
        Linear,
        Bilinear,
        Bicubic,
        Trilinear,
        Area,
        Lanczos3,
    ];
    Ok(Interpolate {
        size: size.map(|n| per_axis(op, "size", &n)).transpose()?,
        scale_factor: scale_factor.map_or_else(SmallVec::new, |f| f.0),
        mode: choice(op, "mode", mode, &all.map(|m| (m.name(), m)))?,
        align_corners: align_corners.unwrap_or(false),
        recompute_scale_factor: recompute_scale_factor.unwrap_or(false),
        antialias,
    })
}

/// Resamples images, signals or volumes to other sizes.
///
/// x: `[batch, channels, ..]` with one to three spatial dimensions; any strides. size: their sizes,
/// one number or one for each; or scale_factor: the factors of their sizes. mode: "nearest",
/// "nearest-exact" (any dtype), "linear" (one spatial dimension), "bilinear", "bicubic", "lanczos3"
/// (two), "trilinear" (three) or "area", for floats; the two-dimensional ones also for uint8,
/// rounded to the nearest, ties to even. align_corners: whether the centres of the outermost
/// elements coincide, rather than their borders. recompute_scale_factor: whether scale_factor only
/// determines sizes. antialias: whether filters widen to cover all elements when downsampling, for
/// "bilinear", "bicubic" and "lanczos3". The result has the dtype of x; 16-bit floats are computed
/// in float32. "lanczos3" is that of torchvision and Pillow, all else torch's. ShapeError if the
/// dimensions don't fit the mode; ValueError for other options that don't fit; DTypeError for other
/// dtypes.
///
/// >>> x = flex.asarray([[[1.0, 3.0]]])
/// >>> flex.nn.interpolate(x, 4, mode="linear").tolist()
/// [[[1.0, 1.5, 2.5, 3.0]]]
/// >>> flex.nn.interpolate(x, scale_factor=2).tolist()
/// [[[1.0, 1.0, 3.0, 3.0]]]
#[function(x, size = None, scale_factor = None, mode: "_Interpolation" = "nearest", align_corners = None, recompute_scale_factor = None, antialias = false)]
#[allow(clippy::too_many_arguments, reason = "torch's")]
fn interpolate(
    py: Python<'_>,
    x: TensorArg,
    size: Option<Ints>,
    scale_factor: Option<Factors>,
    mode: &str,
    align_corners: Option<bool>,
    recompute_scale_factor: Option<bool>,
    antialias: bool,
) -> PyResult<PyTensor> {
    let how = (mode, align_corners, recompute_scale_factor, antialias);
    let options = interpolation("interpolate", size, scale_factor, how)?;
    compute(py, x.0.len().saturating_mul(4), || {
        nn::interpolate(&x.0, options)
    })
}

/// The options of grid sampling.
pub(super) fn sampling(
    op: &str,
    mode: &str,
    padding_mode: &str,
    align_corners: Option<bool>,
) -> PyResult<GridSample> {
    let modes = [
        ("bilinear", GridSampleMode::Bilinear),
        ("nearest", GridSampleMode::Nearest),
        ("bicubic", GridSampleMode::Bicubic),
    ];
    let paddings = [
        ("zeros", PaddingMode::Zeros),
        ("border", PaddingMode::Border),
        ("reflection", PaddingMode::Reflection),
    ];
    Ok(GridSample {
        mode: choice(op, "mode", mode, &modes)?,
        padding_mode: choice(op, "padding_mode", padding_mode, &paddings)?,
        align_corners: align_corners.unwrap_or(false),
    })
}

/// Images sampled at the points of a grid.
///
/// x: `[batch, channels, height, width]`, and grid: `[batch, rows, columns, 2]`, coordinates across
/// and down, from -1 to 1; the result is `[batch, channels, rows, columns]`. For volumes x also has
/// a depth, and grid is `[batch, slices, rows, columns, 3]`. mode: "bilinear" (volumes: trilinear),
/// "nearest" or "bicubic" (images). padding_mode: what lies outside: "zeros", "border" (its
/// elements) or "reflection". align_corners: whether -1 and 1 are the centres of the outermost
/// elements, rather than their borders. The result has the operands' common dtype, a float; 16-bit
/// floats are computed in float32. ShapeError if shapes don't fit; ValueError for modes that don't;
/// DTypeError for other dtypes.
///
/// >>> x = flex.asarray([[[[1.0, 3.0]]]])
/// >>> flex.nn.grid_sample(x, flex.asarray([[[[0.0, 0.0], [0.5, 0.0]]]])).tolist()
/// [[[[2.0, 3.0]]]]
#[function(x, grid, mode: "Literal['bilinear', 'nearest', 'bicubic']" = "bilinear", padding_mode: "Literal['zeros', 'border', 'reflection']" = "zeros", align_corners = None)]
fn grid_sample(
    py: Python<'_>,
    x: TensorArg,
    grid: TensorArg,
    mode: &str,
    padding_mode: &str,
    align_corners: Option<bool>,
) -> PyResult<PyTensor> {
    let options = sampling("grid_sample", mode, padding_mode, align_corners)?;
    let work = grid.0.len().saturating_mul(4);
    compute(py, work, || nn::grid_sample(&x.0, &grid.0, options))
}

/// The grids of affine maps, for `grid_sample`.
///
/// theta: `[batch, 2, 3]`, and size: `[batch, channels, height, width]`, of the result of sampling;
/// the grid is `[batch, height, width, 2]`. For volumes, theta is `[batch, 3, 4]`, size has a
/// depth, and there are three coordinates. align_corners: as for `grid_sample`. The result has the
/// dtype of theta, a float. ShapeError if shapes don't fit; DTypeError for other dtypes.
///
/// >>> theta = flex.asarray([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
/// >>> flex.nn.affine_grid(theta, (1, 1, 1, 2)).tolist()
/// [[[[-0.5, 0.0], [0.5, 0.0]]]]
#[function(theta, size, align_corners = None)]
fn affine_grid(
    py: Python<'_>,
    theta: TensorArg,
    size: Ints,
    align_corners: Option<bool>,
) -> PyResult<PyTensor> {
    let size = size.shape("affine_grid", "size")?;
    let work = size.iter().fold(1usize, |n, d| n.saturating_mul(*d));
    let align_corners = align_corners.unwrap_or(false);
    let options = nn::AffineGrid { align_corners };
    compute(py, work, || nn::affine_grid(&theta.0, &size, options))
}

/// Moves channels to positions: `[.., channels * r * r, height, width]` becomes
/// `[.., channels, height * r, width * r]`, with r = upscale_factor.
///
/// x: any dtype. ShapeError if there are fewer than three dimensions, or r * r does not divide the
/// channels.
///
/// >>> flex.nn.pixel_shuffle(flex.reshape(flex.arange(4), (4, 1, 1)), 2).tolist()
/// [[[0, 1], [2, 3]]]
#[function(x, upscale_factor)]
fn pixel_shuffle(py: Python<'_>, x: TensorArg, upscale_factor: isize) -> PyResult<PyTensor> {
    let r = count("pixel_shuffle", "upscale_factor", upscale_factor)?;
    compute(py, x.0.len(), || nn::pixel_shuffle(&x.0, r))
}

/// The inverse of `pixel_shuffle`: `[.., channels, height * r, width * r]` becomes `[.., channels *
/// r * r, height, width]`, with r = downscale_factor.
///
/// x: any dtype. ShapeError if there are fewer than three dimensions, or r does not divide height
/// and width.
///
/// >>> flex.nn.pixel_unshuffle(flex.asarray([[[0, 1], [2, 3]]]), 2).tolist()
/// [[[0]], [[1]], [[2]], [[3]]]
#[function(x, downscale_factor)]
fn pixel_unshuffle(py: Python<'_>, x: TensorArg, downscale_factor: isize) -> PyResult<PyTensor> {
    let r = count("pixel_unshuffle", "downscale_factor", downscale_factor)?;
    compute(py, x.0.len(), || nn::pixel_unshuffle(&x.0, r))
}

/// Interleaves groups of channels: channel `g * n + c` of groups of n becomes channel `c * groups +
/// g`.
///
/// x: `[batch, channels, ..]`, of any dtype. ShapeError if there are fewer than three dimensions,
/// or groups does not divide the channels.
///
/// >>> flex.nn.channel_shuffle(flex.asarray([[[1], [2], [3], [4]]]), 2).tolist()
/// [[[1], [3], [2], [4]]]
#[function(x, groups)]
fn channel_shuffle(py: Python<'_>, x: TensorArg, groups: isize) -> PyResult<PyTensor> {
    let groups = count("channel_shuffle", "groups", groups)?;
    compute(py, x.0.len(), || nn::channel_shuffle(&x.0, groups))
}

/// The options of windows.
fn windows(
    op: &str,
    dilation: Option<Ints>,
    padding: Option<Ints>,
    stride: Option<Ints>,
) -> PyResult<Unfold> {
    let mut options = Unfold::default();
    for (name, given, to) in [
        ("dilation", dilation, &mut options.dilation),
        ("padding", padding, &mut options.padding),
        ("stride", stride, &mut options.stride),
    ] {
        if let Some(n) = given {
            *to = per_axis(op, name, &n)?;
        }
    }
    Ok(options)
}

/// The windows of images as columns (im2col).
///
/// x: `[batch, channels, height, width]`, or without the batch; any dtype and strides. kernel_size,
/// dilation, padding, stride: one number, or one for height and one for width. The result is
/// `[batch, channels * elements of a window, windows]`. ShapeError if the dimensions don't fit or
/// there is no window; ValueError for options that are too small.
///
/// >>> flex.nn.unfold(flex.asarray([[[1.0, 2.0, 3.0]]]), (1, 2)).tolist()
/// [[1.0, 2.0], [2.0, 3.0]]
#[function(x, kernel_size, dilation = 1, padding = 0, stride = 1)]
fn unfold(
    py: Python<'_>,
    x: TensorArg,
    kernel_size: Ints,
    dilation: Option<Ints>,
    padding: Option<Ints>,
    stride: Option<Ints>,
) -> PyResult<PyTensor> {
    let kernel = per_axis("unfold", "kernel_size", &kernel_size)?;
    let options = windows("unfold", dilation, padding, stride)?;
    compute(py, x.0.len().saturating_mul(4), || {
        nn::unfold(&x.0, kernel, options)
    })
}

/// Columns summed to images (col2im): the transpose of `unfold`.
///
/// x: `[batch, channels * elements of a window, windows]`, or without the batch; floats.
/// output_size: height and width of the images. kernel_size, dilation, padding, stride: as for
/// `unfold`. The result is `[batch, channels, height, width]`; 16-bit floats are summed in float32.
/// ShapeError if the windows are not those of such images; ValueError for options that are too
/// small; DTypeError for other dtypes.
///
/// >>> flex.nn.fold(flex.asarray([[1.0, 2.0], [3.0, 4.0]]), (1, 3), (1, 2)).tolist()
/// [[[1.0, 5.0, 4.0]]]
#[function(x, output_size, kernel_size, dilation = 1, padding = 0, stride = 1)]
fn fold(
    py: Python<'_>,
    x: TensorArg,
    output_size: Ints,
    kernel_size: Ints,
    dilation: Option<Ints>,
    padding: Option<Ints>,
    stride: Option<Ints>,
) -> PyResult<PyTensor> {
    let size = per_axis("fold", "output_size", &output_size)?;
    let kernel = per_axis("fold", "kernel_size", &kernel_size)?;
    let options = windows("fold", dilation, padding, stride)?;
    compute(py, x.0.len(), || nn::fold(&x.0, size, kernel, options))
}

/// How padding is filled.
pub(super) fn padding(op: &str, mode: &str, value: flex::Scalar) -> PyResult<PadMode> {
    let all = [
        ("constant", PadMode::Constant(value)),
        ("reflect", PadMode::Reflect),
        ("replicate", PadMode::Replicate),
        ("circular", PadMode::Circular),
    ];
    choice(op, "mode", mode, &all)
}

/// Pads `x` along its last axes.
///
/// pad: a pair (before, after) for each padded axis, the last axis first; negative numbers crop.
/// mode: "constant", for any axes and dtype, with value (0); or "reflect", "replicate" or
/// "circular", for one to three spatial axes behind channels and possibly a batch. The result has
/// the dtype of x. ShapeError if pad doesn't fit the dimensions; ValueError for another mode, or a
/// value for a mode that takes none; DTypeError if the value is of a higher kind than the dtype.
///
/// >>> x = flex.asarray([[1, 2, 3]])
/// >>> flex.nn.pad(x, (1, 2), value=9).tolist()
/// [[9, 1, 2, 3, 9, 9]]
/// >>> flex.nn.pad(x, (2, 0), mode="reflect").tolist()
/// [[3, 2, 1, 2, 3]]
#[function(x, pad, mode: "_PadMode" = "constant", value = None)]
fn pad(
    py: Python<'_>,
    x: TensorArg,
    pad: Ints,
    mode: &str,
    value: Option<NumberArg>,
) -> PyResult<PyTensor> {
    let value_or_zero = value.as_ref().map_or(flex::Scalar::Bool(false), |v| v.0);
    let chosen = padding("pad", mode, value_or_zero)?;
    if value.is_some() && !matches!(chosen, PadMode::Constant(_)) {
        return Err(PyValueError::new_err(format!(
            "pad: mode {mode:?} takes no value"
        )));
    }
    compute(py, x.0.len(), || nn::pad(&x.0, &pad.0, chosen))
}
