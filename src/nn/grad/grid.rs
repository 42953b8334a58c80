//! The gradient of grid sampling.

use super::{common_float, expect_shape};
use crate::dtype::{DType, Element};
use crate::error::{Error, Result};
use crate::exec::failure::try_chunks;
use crate::kernel::resample::Sampled;
use crate::kernel::resample::grid::{GridGradient, GridRule, Interpolation, LANES};
use crate::layout::Shape;
use crate::nn::GridSample;
use crate::nn::resample::grid::{rule, too_large};
use crate::nn::spatial::three;
use crate::ops;
use crate::par::{Cost, Out};
use crate::tensor::Tensor;

/// The gradients of `x` and `grid` of [`grid_sample`](crate::nn::grid_sample).
///
/// The gradient of a point is passed on to the elements around it, by their weights, and to its
/// coordinates, by the derivatives of these weights. Those are 0 in mode `Nearest` and where the
/// border is repeated, and change sign where the image is reflected. Shapes and `options` are those
/// of the forward function, whose result has the shape of `grad`; any strides. The results have the
/// common dtype; 16-bit floats are computed in float32 and rounded once.
///
/// Errors like that function, if `grad` doesn't have the shape of its result, and if there is no
/// common float dtype.
///
/// ```
/// use flex::{Tensor, nn};
/// let x = Tensor::from_slice(&[1.0f32, 5.0], [1, 1, 1, 2])?;
/// // three quarters of the way from the first to the second
/// let grid = Tensor::from_slice(&[0.25f32, 0.0], [1, 1, 1, 2])?;
/// let grad = Tensor::from_slice(&[1.0f32], [1, 1, 1, 1])?;
/// let border = nn::GridSample { padding_mode: nn::PaddingMode::Border, ..Default::default() };
/// let [dx, dgrid] = nn::grad::grid_sample(&grad, &x, &grid, border)?;
/// assert_eq!(dx.to_vec::<f32>()?, [0.25, 0.75]);
/// assert_eq!(dgrid.to_vec::<f32>()?, [4.0, 0.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn grid_sample(
    grad: &Tensor,
    x: &Tensor,
    grid: &Tensor,
    options: impl Into<GridSample>,
) -> Result<[Tensor; 2]> {
    grid_sample_of(grad, x, grid, options.into())
}

fn grid_sample_of(
    grad: &Tensor,
    x: &Tensor,
    grid: &Tensor,
    options: GridSample,
) -> Result<[Tensor; 2]> {
    const OP: &str = "grad.grid_sample";
    let dtype = common_float(OP, &[grad, x, grid])?;
    let rule = rule(OP, x, grid, &options)?;
    let (batch, channels, sizes) = (x.shape()[0], x.shape()[1], &x.shape()[2..]);
    let positions = &grid.shape()[1..=rule.rank];
    let result: Shape = [batch, channels].iter().chain(positions).copied().collect();
    expect_shape(OP, grad, &result, ("x", x))?;
    if sizes.contains(&0) {
        let message = message!("x has a spatial dimension of size 0");
        return Err(Error::shape_of(OP, message, &[("x", x.shape(), x.dtype())]));
    }
    let elements = sizes
        .iter()
        .try_fold(1usize, |n, size| n.checked_mul(*size));
    let Some(elements) = elements.filter(|n| *n <= i32::MAX as usize) else {
        return Err(too_large(OP, x));
    };
    if grad.is_empty() {
        return Ok([
            Tensor::zeros(x.shape(), dtype)?,
            Tensor::zeros(grid.shape(), dtype)?,
        ]);
    }
    let wide = dtype.wide();
    let groups = ChannelGroups::new(batch, channels);
    let grad = groups.of(grad, wide)?;
    // with a single tap per point, the image is not read
    let seen = match rule.interpolation {
        Interpolation::Nearest => Tensor::zeros([0], wide)?,
        _ => groups.of(x, wide)?,
    };
    let points = grid.astype(wide)?.contiguous()?;
    let each: usize = positions.iter().product();
    let mut dx = Tensor::zeros([batch, groups.count, elements, groups.lanes], wide)?;
    let mut dgrid = Tensor::zeros([batch, groups.count, each, rule.rank], wide)?;
    let operands = [&grad, &seen, &points];
    let sizes = three(sizes, rule.rank, 1);
    dispatch!(float wide, |F| add::<F>(&rule, sizes, &groups, operands, [&mut dx, &mut dgrid]),
        else Err(Error::unsupported(OP, dtype)))?;
    let dx = groups.planes(dx.into_dtype(dtype)?, x.shape())?;
    let dgrid = match groups.count {
        1 => dgrid,
        _ => ops::sum(&dgrid, 1)?,
    };
    Ok([dx, dgrid.reshape(grid.shape())?.into_dtype(dtype)?])
}

/// Channels regrouped to be lanes of pixels, or kept as planes if they are few.
struct ChannelGroups {
    batch: usize,
    /// The number of groups that an image's channels are split into.
    count: usize,
    /// Channels per group, and lanes of a pixel.
    per: usize,
    lanes: usize,
}
impl ChannelGroups {
    /// Groups let threads share an image, but each computes the taps of its points again.
    const TASKS: usize = 8;
    const FEWEST: usize = 16;

    fn new(batch: usize, channels: usize) -> ChannelGroups {
        let most = Self::TASKS / batch.max(1);
        let fits = |n: &usize| channels.is_multiple_of(*n) && channels / n >= Self::FEWEST;
        let count = (1..=most).rev().find(fits).unwrap_or(1);
        let per = channels / count;
        let lanes = match per < LANES {
            true => per,
            false => per.next_multiple_of(LANES),
        };
        ChannelGroups {
            batch,
            count,
            per,
            lanes,
        }
    }
    /// `[batch, channels, ..]` as `[batch, groups, elements, lanes]`, with unused lanes zero; a few
    /// channels as they are.
    fn of(&self, x: &Tensor, dtype: DType) -> Result<Tensor> {
        let elements: usize = x.shape()[2..].iter().product();
        let x = x.astype(dtype)?;
        if self.lanes < LANES {
            return x.contiguous();
        }
        let x = x.reshape((self.batch, self.count, self.per, elements))?;
        let x = x.transpose(2, 3)?;
        let more = self.lanes - self.per;
        if more == 0 {
            return x.contiguous();
        }
        ops::pad(&x, &[(0, 0), (0, 0), (0, 0), (0, more)], 0)
    }
    /// The inverse of `of`, contiguous.
    fn planes(&self, x: Tensor, shape: &[usize]) -> Result<Tensor> {
        if self.lanes < LANES {
            return x.reshape(shape);
        }
        let x = x.narrow(3, 0, self.per)?.transpose(2, 3)?;
        x.contiguous()?.reshape(shape)
    }
}

/// Adds to the gradients of elements and coordinates. A task is one group of one image.
fn add<F: Element + Sampled>(
    rule: &GridRule,
    sizes: [usize; 3],
    groups: &ChannelGroups,
    [grad, x, grid]: [&Tensor; 3],
    [dx, dgrid]: [&mut Tensor; 2],
) -> Result<()> {
    let elements: usize = sizes.iter().product();
    let (lanes, points) = (groups.lanes, dgrid.shape()[2]);
    let (grad, x) = (grad.as_slice::<F>()?, x.as_slice::<F>()?);
    let grid = grid.as_slice::<F>()?;
    let dx = Out::new(dx.as_mut_slice::<F>()?);
    let dgrid = Out::new(dgrid.as_mut_slice::<F>()?);
    let taps = rule.taps().saturating_mul(points);
    let cost = Cost {
        bytes: (2 * elements + points)
            .saturating_mul(lanes)
            .saturating_mul(size_of::<F>()),
        flops: taps.saturating_mul(FOUND + (rule.rank + 2) * lanes),
    };
    try_chunks(groups.batch * groups.count, cost, |task| {
        let of = |size: usize| task * size..(task + 1) * size;
        let image = task / groups.count;
        // SAFETY: OUT1: each task has its own group of an image, in both.
        let (dx, dgrid) = unsafe {
            (
                dx.part(of(elements * lanes)),
                dgrid.part(of(points * rule.rank)),
            )
        };
        let gradient = GridGradient {
            rule: *rule,
            sizes,
            channels: lanes,
            x: x.get(of(elements * lanes)).unwrap_or_default(),
            grid: &grid[image * points * rule.rank..][..points * rule.rank],
            grad: &grad[of(points * lanes)],
            dx,
            dgrid,
        };
        gradient.add()
    })
}

/// The cost of computing one tap of a point, in operations of a lane.
const FOUND: usize = 64;
