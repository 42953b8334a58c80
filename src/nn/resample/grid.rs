//! Sampling of images at the points of a grid.

use super::super::images::{Planes, rows};
use crate::dtype::{Element, Pod};
use crate::error::{Error, Result};
use crate::fallible;
use crate::kernel::resample::grid::{
    Beyond, GridRule, GridSampler, Interpolation, SHORT, run_of, scratch,
};
use crate::kernel::resample::{Sampled, affine_line};
use crate::layout::Shape;
use crate::ops;
use crate::par::{self, Cost};
use crate::simd;
use crate::tensor::Tensor;
use alloc::vec::Vec;

/// How the elements around a point are weighted.
///
/// Example: [`GridSample`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GridSampleMode {
    /// The two nearest along each axis, linearly (for three axes: trilinear).
    #[default]
    Bilinear,
    /// The nearest element; ties to even positions.
    Nearest,
    /// The four nearest along each of two axes, by cubic convolution with a = -3/4.
    Bicubic,
}
/// What lies outside an image.
///
/// Example: [`GridSample`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PaddingMode {
    /// Zeros.
    #[default]
    Zeros,
    /// The nearest element of the border.
    Border,
    /// The image, reflected at its borders.
    Reflection,
}

/// The options of [`grid_sample`].
///
/// ```
/// use flex::{Tensor, nn::{self, GridSample, GridSampleMode, PaddingMode}};
/// let x = Tensor::from([1.0f32, 3.0]).reshape((1, 1, 1, 2))?;
/// let points = Tensor::from([-0.25f32, 0.0, 5.0, 0.0]); // inside, and far to the right
/// let grid = points.reshape((1, 1, 2, 2))?;
/// let options = GridSample {
///     mode: GridSampleMode::Nearest,
///     padding_mode: PaddingMode::Border,
///     ..Default::default()
/// };
/// assert_eq!(nn::grid_sample(&x, &grid, options)?.to_vec::<f32>()?, [1.0, 3.0]);
/// # Ok::<(), flex::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct GridSample {
    /// How the elements around a point are weighted.
    pub mode: GridSampleMode,
    /// What lies outside the image.
    pub padding_mode: PaddingMode,
    /// Whether -1 and 1 are the centres of the outermost elements, rather than their outer borders.
    pub align_corners: bool,
}

/// Images sampled at points. `x` is `[batch, channels, height, width]` and `grid` is `[batch, rows,
/// columns, 2]`, coordinates across and down from -1 to 1; the result is `[batch, channels, rows,
/// columns]`. For volumes, `[batch, channels, depth, height, width]` and `[batch, slices, rows,
/// columns, 3]`. Any strides.
///
/// For floats; the result has the common dtype, and 16-bit floats are computed in float32 and
/// rounded once. A coordinate that is NaN gives NaN, or what lies outside, depending on the mode.
///
/// Jaderberg et al., Spatial Transformer Networks, 2015.
///
/// Errors if shapes don't fit, if the image has no elements, for bicubic sampling of volumes, and
/// for other dtypes.
///
/// ```
/// use flex::{Tensor, nn};
/// let x = Tensor::from_slice(&[1.0f32, 3.0], [1, 1, 1, 2])?;
/// let grid = Tensor::from_slice(&[0.0f32, 0.0], [1, 1, 1, 2])?;
/// let y = nn::grid_sample(&x, &grid, nn::GridSample::default())?;
/// assert_eq!(y.to_vec::<f32>()?, [2.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn grid_sample(x: &Tensor, grid: &Tensor, options: impl Into<GridSample>) -> Result<Tensor> {
    grid_sample_of(x, grid, options.into())
}

fn grid_sample_of(x: &Tensor, grid: &Tensor, options: GridSample) -> Result<Tensor> {
    const OP: &str = "grid_sample";
    let rule = rule(OP, x, grid, &options)?;
    let dtype = x.dtype().promote(grid.dtype(), OP)?;
    if !dtype.is_float() || dtype.is_storage() {
        return Err(Error::unsupported(OP, dtype));
    }
    let wide = dtype.wide();
    let (x, grid) = (x.astype(wide)?, grid.astype(wide)?.contiguous()?);
    dispatch!(float wide, |T| sample::<T>(OP, &x, &grid, rule), else Err(Error::unsupported(OP, dtype)))?.into_dtype(dtype)
}

/// How the points of `grid` are interpreted for images `x`. Errors if shapes or options don't fit.
pub(in crate::nn) fn rule(
    op: &'static str,
    x: &Tensor,
    grid: &Tensor,
    options: &GridSample,
) -> Result<GridRule> {
    let operands = [
        ("x", x.shape(), x.dtype()),
        ("grid", grid.shape(), grid.dtype()),
    ];
    let bad = |message| Err(Error::shape_of(op, message, &operands));
    let rank = x.rank().wrapping_sub(2);
    if ![2, 3].contains(&rank) || grid.rank() != x.rank() {
        return bad(message!("x and grid both have 4 dimensions, or 5"));
    }
    if grid.shape()[rank + 1] != rank {
        return bad(message!(
            "the last dimension of grid must be {rank}, one coordinate per axis"
        ));
    }
    if grid.shape()[0] != x.shape()[0] {
        return bad(message!("x and grid are of one batch"));
    }
    if options.mode == GridSampleMode::Bicubic && rank == 3 {
        return Err(Error::value(
            op,
            message!("mode \"bicubic\" is for images, [batch, channels, height, width]"),
        ));
    }
    Ok(GridRule {
        interpolation: match options.mode {
            GridSampleMode::Bilinear => Interpolation::Linear,
            GridSampleMode::Nearest => Interpolation::Nearest,
            GridSampleMode::Bicubic => Interpolation::Cubic,
        },
        beyond: match options.padding_mode {
            PaddingMode::Zeros => Beyond::Zeros,
            PaddingMode::Border => Beyond::Border,
            PaddingMode::Reflection => Beyond::Reflection,
        },
        align_corners: options.align_corners,
        rank,
    })
}

/// The error for planes of `x` too large for the kernels' indices.
pub(in crate::nn) fn too_large(op: &'static str, x: &Tensor) -> Error {
    let message = message!("a plane of x has 2^31 elements or more");
    Error::shape_of(op, message, &[("x", x.shape(), x.dtype())])
}

fn sample<T: Element + Pod + Sampled>(
    op: &'static str,
    x: &Tensor,
    grid: &Tensor,
    rule: GridRule,
) -> Result<Tensor> {
    let rank = rule.rank;
    let mut planes = Planes::new(op, x, rank)?;
    if planes.reach().is_none() {
        planes = Planes::new(op, &x.copy()?, rank)?;
    }
    let Some(steps) = planes.reach() else {
        return Err(too_large(op, x));
    };
    let mut output_size = [1; 3];
    output_size[3 - rank..].copy_from_slice(&grid.shape()[1..=rank]);
    let mut result = planes.empty(output_size, T::DTYPE)?;
    let (x, y) = (planes.images::<T>()?, planes.images_mut::<T>(&mut result)?);
    let grid = grid.as_slice::<T>()?;
    let (images, channels) = planes.images_and_planes();
    let each: usize = output_size.iter().product();
    // enough runs for all threads
    let shared = images.saturating_mul(each).div_ceil(2 * par::threads());
    let run = run_of(&rule).min(shared.max(SHORT));
    let points = run.min(each);
    let width = points.saturating_mul(y.inner);
    let taps = rule.taps().saturating_mul(width).saturating_mul(channels);
    let cost = Cost {
        bytes: taps.saturating_mul(size_of::<T>()),
        flops: taps.saturating_mul(4),
    };
    let lengths = scratch(&rule, points, width);
    let len = lengths.map(|l| l.0);
    rows(images * each.div_ceil(run), len, cost, |runs, weights| {
        let mut index: Vec<i32> = fallible::filled(0, lengths.map_or(0, |l| l.1))?;
        simd::call(GridSampler {
            x,
            y,
            channels,
            grid,
            rule,
            steps,
            run,
            runs,
            weights,
            index: &mut index,
        });
        Ok(())
    })?;
    planes.result(result)
}

/// The options of [`affine_grid`].
///
/// ```
/// use flex::{Tensor, nn};
/// let identity = Tensor::from([[[1.0f32, 0.0, 0.0], [0.0, 1.0, 0.0]]]);
/// let corners = nn::AffineGrid { align_corners: true };
/// let grid = nn::affine_grid(&identity, &[1, 1, 1, 2], corners)?;
/// assert_eq!(grid.to_vec::<f32>()?, [-1.0, 0.0, 1.0, 0.0]);
/// # Ok::<(), flex::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct AffineGrid {
    /// Whether -1 and 1 are the centres of the outermost elements, rather than their outer borders;
    /// as for [`GridSample`]. Default: false.
    pub align_corners: bool,
}

/// The grid of an affine map for [`grid_sample`]: `theta` is `[batch, 2, 3]` and `size` is `[batch,
/// channels, height, width]`, the result is `[batch, height, width, 2]`; or `[batch, 3, 4]`,
/// `[batch, channels, depth, height, width]` and `[batch, depth, height, width, 3]`. For floats;
/// 16-bit ones are computed in float32 and rounded once.
///
/// Errors if shapes don't fit, if a size is 0, and for other dtypes.
///
/// ```
/// use flex::{Tensor, nn};
/// let theta = Tensor::from_slice(&[1.0f32, 0.0, 0.0, 0.0, 1.0, 0.0], [1, 2, 3])?;
/// let grid = nn::affine_grid(&theta, &[1, 1, 1, 2], ())?;
/// assert_eq!(grid.to_vec::<f32>()?, [-0.5, 0.0, 0.5, 0.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn affine_grid(
    theta: &Tensor,
    size: &[usize],
    options: impl Into<AffineGrid>,
) -> Result<Tensor> {
    affine_grid_of(theta, size, options.into())
}

fn affine_grid_of(theta: &Tensor, size: &[usize], options: AffineGrid) -> Result<Tensor> {
    const OP: &str = "affine_grid";
    let AffineGrid { align_corners } = options;
    let rank = size.len().wrapping_sub(2);
    let fits = [2, 3].contains(&rank) && *theta.shape() == [size[0], rank, rank + 1];
    if !fits || size[2..].contains(&0) {
        let message = message!(
            "size is {size:?}: it is [batch, channels, height, width] for theta of [batch, 2, 3], or has a depth and 3 x 4"
        );
        return Err(Error::shape_of(
            OP,
            message,
            &[("theta", theta.shape(), theta.dtype())],
        ));
    }
    let dtype = theta.dtype();
    if !dtype.is_float() || dtype.is_storage() {
        return Err(Error::unsupported(OP, dtype));
    }
    let wide = dtype.wide();
    let sizes = &size[2..];
    let shape: Shape = (size[..1].iter().chain(sizes).chain([&rank]).copied()).collect();
    let mut grid = Tensor::empty(&shape, wide)?;
    if grid.is_empty() {
        return grid.into_dtype(dtype);
    }
    // the coordinates along each axis
    let mut lines: Vec<Tensor> = fallible::with_capacity(rank)?;
    for n in sizes {
        let edge = if align_corners {
            1.0
        } else {
            (n - 1) as f64 / *n as f64
        };
        lines.push(if *n == 1 {
            Tensor::zeros([1], wide)?
        } else {
            let points = ops::Linspace {
                dtype: Some(wide),
                ..(*n).into()
            };
            ops::linspace(-edge, edge, points)?
        });
    }
    let theta = theta.astype(wide)?.contiguous()?;
    let (width, height) = (sizes[rank - 1], sizes[rank - 2]);
    let rows: usize = sizes[..rank - 1].iter().product();
    let cost = Cost {
        bytes: width.saturating_mul(rank * wide.size()),
        flops: width.saturating_mul(2 * rank),
    };
    dispatch!(float wide, |F| {
        let theta = theta.as_slice::<F>()?;
        let line = |k: usize| lines[k].as_slice::<F>();
        let (x, y, z) = (line(rank - 1)?, line(rank - 2)?, line(0)?);
        par::split(grid.as_mut_slice::<F>()?, width * rank, 1, cost, |range, grid| {
            for (at, grid) in range.zip(grid.chunks_mut(width * rank)) {
                let (image, row) = (at / rows, at % rows);
                let theta = &theta[image * rank * (rank + 1)..];
                // coordinate `k` is `slope * x + start`
                let mut maps = [[0.0; 2]; 3];
                for (k, map) in maps[..rank].iter_mut().enumerate() {
                    let t = &theta[k * (rank + 1)..][..rank + 1];
                    let deep = if rank == 3 { t[2] * z[row / height] } else { 0.0 };
                    *map = [t[0], t[1] * y[row % height] + deep + t[rank]];
                }
                affine_line(rank, &maps, x, grid);
            }
        });
    }, else return Err(Error::unsupported(OP, dtype)));
    grid.into_dtype(dtype)
}
