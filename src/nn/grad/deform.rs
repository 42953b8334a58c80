//! The gradient of deformable convolution.

use super::conv::bias;
use super::{common_float, expect_shape};
use crate::error::Result;
use crate::nn::conv::{Deform, DeformConv};
use crate::tensor::Tensor;

/// The gradients of `x`, offset, weight, bias and mask of
/// [`deform_conv2d`](crate::nn::deform_conv2d).
///
/// The gradient of a tap is `grad` times the weight. It is passed on to the four elements around
/// the tap's position, by their interpolation weights, and to the offset, times the slope of the
/// interpolated value down and across. Shapes and `options` are those of the convolution, whose
/// result has the shape of `grad`; any strides. A bias in `options` is ignored; without a mask, its
/// gradient is that of a mask of ones.
///
/// Errors like the convolution, and if `grad` doesn't have the shape of its result.
///
/// ```
/// use flex::{Tensor, nn};
/// let x = Tensor::from_slice(&[1.0f32, 5.0], [1, 1, 1, 2])?;
/// let weight = Tensor::from_slice(&[10.0f32], [1, 1, 1, 1])?;
/// // the first position sees a quarter across, the second what is there
/// let offset = Tensor::from_slice(&[0.0f32, 0.0, 0.25, 0.0], [1, 2, 1, 2])?;
/// let grad = Tensor::from_slice(&[1.0f32, 0.0], [1, 1, 1, 2])?;
/// let [x, offset, ..] = nn::grad::deform_conv2d(&grad, &x, &offset, &weight, ())?;
/// assert_eq!(x.to_vec::<f32>()?, [7.5, 2.5]);
/// assert_eq!(offset.to_vec::<f32>()?[2..], [40.0, 0.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn deform_conv2d<'a>(
    grad: &Tensor,
    x: &Tensor,
    offset: &Tensor,
    weight: &Tensor,
    options: impl Into<DeformConv<'a>>,
) -> Result<[Tensor; 5]> {
    const OP: &str = "grad.deform_conv2d";
    let options = options.into();
    let dtype = match options.mask {
        Some(mask) => common_float(OP, &[grad, x, offset, weight, mask])?,
        None => common_float(OP, &[grad, x, offset, weight])?,
    };
    let deform = Deform::new(OP, [x, offset, weight], &options, Some(dtype))?;
    expect_shape(OP, grad, &deform.result(), ("x", x))?;
    let grad = grad.astype(dtype)?;
    let [x, offset, weight, mask] = deform.gradients(&grad)?;
    Ok([x, offset, weight, bias(2, &grad)?, mask])
}
