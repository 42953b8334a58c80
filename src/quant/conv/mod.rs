//! Convolutions whose weights are quantised.

mod integers;

use super::linear::Inputs;
use super::qtensor::QTensor;
use super::quantize::{quantize, quantize_by};
use super::scheme::{Per, Quantization};
use super::weights::{check_floats, check_integers, floats, step};
use crate::dtype::DType;
use crate::error::Result;
use crate::kernel::quant::Levels;
use crate::nn::{self, Call, Conv};
use crate::tensor::Tensor;
use integers::Integers;

const OP: &str = "quant.conv2d";

/// The convolution of an image, `[batch, channels, height, width]`, by a quantised weight `[out, channels /
/// groups, height, width]`, as [`nn::conv2d`] with its options. The result is float32, or the dtype of `x` where that is
/// narrower.
///
/// With [`Inputs::Float`] the weight is decoded before. Else each image is quantised, by itself or all by
/// [`Inputs::Static`], padding is what stands for 0, and products are summed exactly in int32: the result is
/// `sum((q - zero) w) * (scale_x * scale_w)`, to which bias, activation and residual are applied. NaN in `x` counts as
/// 0 there. Groups of fewer than four channels fill no words of four bytes: their sums are those of what the
/// integers stand for, in float32. A weight that is used again stays packed beside its values.
///
/// Errors as those of [`nn::conv2d`], where `x`, bias or residual is of no floats, or the weight is none that the inputs can
/// be multiplied by as integers (int8 without zero points, per tensor or axis 0).
///
/// ```
/// use flex::{Tensor, nn, quant};
/// let weight = Tensor::from_slice(&[1.0f32, 0.0, 0.0, -1.0], [1, 1, 2, 2])?;
/// let weight = quant::quantize(&weight, Default::default())?;
/// let x = Tensor::from_slice(&[4.0f32, 2.0, 3.0, 1.0], [1, 2, 2])?;
/// let y = quant::conv2d(&x, &weight, quant::Inputs::Dynamic, nn::Conv::default())?;
/// assert!((y.item::<f32>()? - 3.0).abs() < 0.03);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn conv2d<'a>(
    x: &Tensor,
    weight: &QTensor,
    inputs: Inputs,
    options: impl Into<Conv<'a>>,
) -> Result<Tensor> {
    let options = options.into();
    let operands = [
        ("x", x.shape(), x.dtype()),
        ("weight", weight.shape(), weight.values.dtype()),
    ];
    check_floats(OP, "x", x)?;
    let call = Call::new(OP, 2, &operands, &options)?;
    let float = |name, t, to: &[usize]| floats(OP, name, t, to, &operands);
    let bias = options
        .bias
        .map(|b| float("bias", b, &[call.outputs])?.contiguous())
        .transpose()?;
    let shape = call.shape();
    let residual = options.residual.map(|r| float("residual", r, &shape));
    let residual = residual.transpose()?;
    let options = Conv {
        bias: bias.as_ref(),
        residual: residual.as_ref(),
        ..options
    };
    let in_floats = |x: Tensor| nn::conv2d(&x, &weight.dequantize()?, options.clone());
    let y = if inputs == Inputs::Float {
        in_floats(x.astype(DType::F32)?)?
    } else {
        let taps = call.seen().saturating_mul(call.geometry.positions());
        check_integers(OP, weight, taps)?;
        let q = quantised(&call.with_batch(x)?, inputs)?;
        let few = call.groups > 1 && call.seen() < 4;
        match few || q.is_empty() || call.outputs == 0 {
            true => {
                let x = q.dequantize()?;
                in_floats(if call.batched { x } else { x.squeeze(0)? })?
            }
            false => Integers::new(&call, &q, weight, &options)?.result(&shape)?,
        }
    };
    match x.dtype().size() < 4 {
        true => y.astype(x.dtype()),
        false => Ok(y),
    }
}

/// A batch of images in bytes: a step for each, or one for all.
fn quantised(x: &Tensor, inputs: Inputs) -> Result<QTensor> {
    let each = |levels, affine| {
        let how = Quantization {
            levels,
            affine,
            per: Per::Channel(0),
            ..Default::default()
        };
        quantize(x, how)
    };
    match inputs {
        Inputs::DynamicSymmetric => each(Levels::I8, false),
        Inputs::Static { scale, zero } => {
            let step = step(OP, scale, zero)?;
            let number = |t: Tensor| t.reshape(());
            let scale = number(Tensor::from([step.scale]))?;
            let zero = number(Tensor::from([step.zero as u8]))?;
            quantize_by(x, Levels::U8, &scale, Some(&zero))
        }
        _ => each(Levels::U8, true),
    }
}
