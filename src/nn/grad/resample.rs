//! Gradients of resampling. A weighted sum of elements along each axis has a gradient that is a
//! weighted sum of outputs with the same weights: the tables are transposed.

use super::common_float;
use super::pool::adaptive_to;
use crate::dtype::{DType, Element, Pod};
use crate::error::{Error, Result};
use crate::fallible;
use crate::kernel::images::Pixel;
use crate::kernel::resample::{Sampled, Table};
use crate::layout::{IntoShape, Shape};
use crate::nn::images::Planes;
use crate::nn::pool::{AvgPool, average};
use crate::nn::resample::interpolate::{axes, weighted};
use crate::nn::resample::pad::CheckedPadding;
use crate::nn::resample::tables::ResampledAxis;
use crate::nn::spatial::three;
use crate::nn::{Interpolate, InterpolateMode, PadMode};
use crate::tensor::Tensor;
use alloc::vec::Vec;
use smallvec::SmallVec;

/// The gradient, of shape `input_size`, of the operand of [`interpolate`](crate::nn::interpolate).
///
/// Options are those of that function. 16-bit floats are computed in float32 and rounded once.
///
/// Errors like that function, and if `grad` doesn't have the shape of its result or is not a float
/// tensor.
///
/// ```
/// use flex::{Tensor, nn};
/// let grad = Tensor::from_slice(&[1.0f32, 2.0, 3.0, 4.0], [1, 1, 4])?;
/// let to_four = |mode| nn::Interpolate { size: Some(4.into()), mode, ..Default::default() };
/// let dx = nn::grad::interpolate(&grad, [1, 1, 2], to_four(nn::InterpolateMode::Nearest))?;
/// assert_eq!(dx.to_vec::<f32>()?, [3.0, 7.0]);
/// let dx = nn::grad::interpolate(&grad, [1, 1, 2], to_four(nn::InterpolateMode::Linear))?;
/// assert_eq!(dx.to_vec::<f32>()?, [3.25, 6.75]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn interpolate(
    grad: &Tensor,
    input_size: impl IntoShape,
    options: impl Into<Interpolate>,
) -> Result<Tensor> {
    interpolated(grad, input_size.into_shape().as_ref(), &options.into())
}

fn interpolated(grad: &Tensor, input_size: &[usize], options: &Interpolate) -> Result<Tensor> {
    const OP: &str = "grad.interpolate";
    let dtype = common_float(OP, &[grad])?;
    let rank = options.rank(OP, ("x", input_size, dtype))?;
    if input_size[2..].contains(&0) {
        let message = message!("input_size is {input_size:?}: a spatial dimension has the size 0");
        let operands = [("grad", grad.shape(), grad.dtype())];
        return Err(Error::shape_of(OP, message, &operands));
    }
    let axes = axes(OP, options, three(&input_size[2..], rank, 1), rank)?;
    let output_size = axes.map(|a| a.output_size);
    of_result(OP, grad, &input_size[..2], &output_size[3 - rank..])?;
    if options.mode == InterpolateMode::Area {
        return adaptive_to(OP, rank, grad, input_size);
    }
    let exact = match options.mode {
        InterpolateMode::Nearest => Some(false),
        InterpolateMode::NearestExact => Some(true),
        _ => None,
    };
    if let Some(exact) = exact
        && let Some(copies) = copies(&axes, exact)?
    {
        let sums = AvgPool {
            divisor_override: Some(1),
            ..Default::default()
        };
        return average(OP, rank, grad, &copies[3 - rank..].into(), &sums);
    }
    let planes = Planes::new(OP, grad, rank)?;
    let of = |axis: ResampledAxis| match exact {
        Some(exact) => Ok(AxisWeights::Moved(axis.size, axis.nearest(exact)?)),
        None => Ok::<_, Error>(AxisWeights::Of(options, axis)),
    };
    let [depth, height, width] = axes;
    let weights = [of(depth)?, of(height)?, of(width)?];
    by_tables(OP, &planes, dtype, weights)
}

/// How many copies in a row each element has along each axis, if it is the same for all of them.
fn copies(axes: &[ResampledAxis; 3], exact: bool) -> Result<Option<[usize; 3]>> {
    let mut copies = [1; 3];
    for (axis, copies) in axes.iter().zip(&mut copies) {
        let n = axis.output_size / axis.size;
        if n == 0 || n * axis.size != axis.output_size {
            return Ok(None);
        }
        let elements = axis.nearest(exact)?;
        let mut elements = elements.iter().enumerate();
        if !elements.all(|(output, element)| output / n == *element as usize) {
            return Ok(None);
        }
        *copies = n;
    }
    Ok(Some(copies))
}

/// The gradient, of shape `input_size`, of the operand of [`pad`](crate::nn::pad): each element of
/// `grad` is added to the element it was copied from; constants contribute nothing.
///
/// Errors like that function, and if `grad` doesn't have the shape of its result or is not a float
/// tensor.
///
/// ```
/// use flex::{Tensor, nn};
/// let grad = Tensor::from_slice(&[1.0f32, 2.0, 4.0, 8.0], [1, 4])?;
/// let dx = nn::grad::pad(&grad, [1, 2], &[2, 0], nn::PadMode::Constant(0.into()))?;
/// assert_eq!(dx.to_vec::<f32>()?, [4.0, 8.0]);
/// let dx = nn::grad::pad(&grad, [1, 2], &[2, 0], nn::PadMode::Replicate)?;
/// assert_eq!(dx.to_vec::<f32>()?, [7.0, 8.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn pad(
    grad: &Tensor,
    input_size: impl IntoShape,
    pad: &[isize],
    mode: impl Into<PadMode>,
) -> Result<Tensor> {
    const OP: &str = "grad.pad";
    let (input_size, mode) = (input_size.into_shape(), mode.into());
    let input_size = input_size.as_ref();
    let dtype = common_float(OP, &[grad])?;
    let operand = ("x", input_size, dtype);
    let to = CheckedPadding::new(OP, operand, pad)?;
    of_result(OP, grad, &[], &to.output_size)?;
    if let PadMode::Constant(_) = mode {
        // the reverse of constant padding is cropping
        let back: SmallVec<[isize; 6]> = pad.iter().map(|n| n.saturating_neg()).collect();
        return crate::nn::pad(grad, &back, PadMode::Constant(0.into()));
    }
    to.check(operand, &mode)?;
    let maps = to.maps(input_size, &mode)?;
    if grad.is_empty() {
        return Tensor::zeros(input_size, dtype);
    }
    let sizes = three(&input_size[input_size.len() - to.axes..], to.axes, 1);
    let planes = Planes::new(OP, grad, to.axes)?;
    let mut maps = maps.into_iter();
    let weights = sizes.map(|size| AxisWeights::Moved(size, maps.next().unwrap_or_default()));
    by_tables(OP, &planes, dtype, weights)
}

/// The weights along an axis.
enum AxisWeights<'a> {
    /// Single elements of an axis of this size.
    Moved(usize, Vec<u32>),
    /// Weighted sums.
    Of(&'a Interpolate, ResampledAxis),
}

impl AxisWeights<'_> {
    /// The size of the axis.
    fn size(&self) -> usize {
        match self {
            AxisWeights::Moved(size, _) => *size,
            AxisWeights::Of(_, axis) => axis.size,
        }
    }
    fn transposed<A: Sampled>(self) -> Result<Table<A>> {
        let table = match self {
            AxisWeights::Of(options, axis) => options.table(&axis)?,
            AxisWeights::Moved(size, elements) => {
                let (n, ones) = (elements.len(), fallible::filled(A::ONE, elements.len())?);
                Table::new(size, n, elements, ones)
            }
        };
        table.transposed(A::ZERO)
    }
}

/// Weighted sums by the tables of depth, height and width.
fn by_tables(
    op: &'static str,
    planes: &Planes,
    dtype: DType,
    weights: [AxisWeights; 3],
) -> Result<Tensor> {
    fn run<T: Element + Pod + Pixel<A>, A: Sampled>(
        planes: &Planes,
        weights: [AxisWeights; 3],
    ) -> Result<Tensor> {
        // allocated before the tables, which are shorter: if something is too large, it is this
        let result = planes.empty(weights.each_ref().map(AxisWeights::size), T::DTYPE)?;
        let [depth, height, width] = weights;
        let tables = [
            depth.transposed()?,
            height.transposed()?,
            width.transposed()?,
        ];
        weighted::<T, A>(planes, &tables, result)
    }
    dispatch!(half dtype, |T| run::<T, f32>(planes, weights), else
        dispatch!(float dtype, |T| run::<T, T>(planes, weights), else
            Err(Error::unsupported(op, dtype))))
}

/// Errors unless `grad` has the shape of the result.
fn of_result(op: &'static str, grad: &Tensor, lead: &[usize], output_size: &[usize]) -> Result<()> {
    if grad.shape().iter().eq(lead.iter().chain(output_size)) {
        return Ok(());
    }
    let shape: Shape = lead.iter().chain(output_size).copied().collect();
    let message = message!(
        "grad must have the shape of the result, {:?}",
        shape.as_slice()
    );
    let operands = [("grad", grad.shape(), grad.dtype())];
    Err(Error::shape_of(op, message, &operands))
}
