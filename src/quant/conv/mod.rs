//! Convolutions with quantised weights.
//!
//! An integer convolution packs bytes of neighbouring channels into words: four where the CPU has
//! VNNI, or has AVX2 and the weight is narrow, and two elsewhere ([`gemm::bytes`](crate::kernel::gemm)).
//! Its patches are then those of an image of words, from the source that float32 uses, except that a
//! pointwise one packs bytes from where they lie. The weight is packed into words too and cached. A
//! result of bytes is written from the sums, while registers' worth of them are in L1.
//!
//! While packing, the image is padded with its zero point, so no window sees padding and the zero
//! point contributes the same everywhere: its product with the sum of the weight's row, which the
//! epilogue subtracts. Groups of fewer than four channels would not fill words; they are
//! dequantised and convolved in float32.

mod integers;

use super::linear::Inputs;
use super::output::{Encoding, Output};
use super::qtensor::QTensor;
use super::quantize::{quantize, quantize_by};
use super::scheme::{Per, Quantization};
use super::weights::{check_floats, check_integers, floats, step};
use crate::dtype::DType;
use crate::error::Result;
use crate::kernel::quant::Levels;
use crate::nn::{self, Conv, ConvCall};
use crate::tensor::Tensor;
use integers::Integers;

const OP: &str = "quant.conv2d";

/// The convolution of images `[batch, channels, height, width]` with a quantised weight `[out,
/// channels / groups, height, width]`, with the options of [`nn::conv2d`]. The result is float32,
/// or the dtype of `x` if that is narrower.
///
/// With [`Inputs::Float`] the weight is dequantised first, at each call: floats would take four
/// times the memory of int8 weights to keep, and what Winograd's algorithm makes of them more.
/// Otherwise images are quantised, each by
/// itself, or all alike with [`Inputs::Static`]; padding is the zero point, and products are summed
/// exactly in int32. The result is `sum((q - zero) w) * (scale_x * scale_w)`, followed by bias,
/// activation and residual. NaN in `x` counts as 0. Groups of fewer than four channels don't fill
/// words of four bytes, so the sums are taken in float32 of what the integers stand for. A weight
/// that is used again stays packed beside its values.
///
/// Errors like [`nn::conv2d`], if `x`, bias or residual is not a float tensor, and if the weight
/// can't be multiplied by the inputs as integers (it must be int8 without zero points, per tensor
/// or axis 0).
///
/// ```
/// use flex::{Tensor, nn, quant};
/// let weight = Tensor::from_slice(&[1.0f32, 0.0, 0.0, -1.0], [1, 1, 2, 2])?;
/// let weight = quant::quantize(&weight, ())?;
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
    let y = product(x, weight, inputs, options.into(), None)?;
    match x.dtype().size() < 4 {
        true => y.astype(x.dtype()),
        false => Ok(y),
    }
}

/// [`conv2d`] with a quantised result: what `conv2d` returns for `x` in float32, quantised to int8
/// or uint8.
///
/// Errors like `conv2d` and [`linear_to`](super::linear_to).
///
/// ```
/// use flex::{Tensor, nn, quant::{self, Inputs, Levels, Output}};
/// let weight = Tensor::from_slice(&[1.0f32, 0.0, 0.0, -1.0], [1, 1, 2, 2])?;
/// let weight = quant::quantize(&weight, ())?;
/// let x = Tensor::from_slice(&[4.0f32, 2.0, 3.0, 1.0], [1, 2, 2])?;
/// let output = Output { levels: Levels::U8, step: Some((0.5, Some(100))) };
/// let y = quant::conv2d_to(&x, &weight, Inputs::Dynamic, nn::Conv::default(), output)?;
/// assert_eq!(y.values().to_vec::<u8>()?, [106]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn conv2d_to<'a>(
    x: &Tensor,
    weight: &QTensor,
    inputs: Inputs,
    options: impl Into<Conv<'a>>,
    output: Output,
) -> Result<QTensor> {
    let options = options.into();
    output.of(OP, |encoding| product(x, weight, inputs, options, encoding))
}

/// The convolution in float32, or in an encoding.
fn product(
    x: &Tensor,
    weight: &QTensor,
    inputs: Inputs,
    options: Conv,
    encoding: Option<Encoding>,
) -> Result<Tensor> {
    let operands = [
        ("x", x.shape(), x.dtype()),
        ("weight", weight.shape(), weight.values.dtype()),
    ];
    check_floats(OP, "x", x)?;
    let call = ConvCall::new(OP, 2, &operands, &options)?;
    let float = |name, t, to: &[usize]| floats(OP, name, t, to, &operands);
    let bias = options
        .bias
        .map(|b| float("bias", b, &[call.out_channels])?.contiguous())
        .transpose()?;
    let shape = call.shape();
    let residual = options.residual.map(|r| float("residual", r, &shape));
    let residual = residual.transpose()?;
    let options = Conv {
        bias: bias.as_ref(),
        residual: residual.as_ref(),
        ..options
    };
    if inputs == Inputs::Float {
        in_floats(&x.astype(DType::F32)?, weight, &options, encoding)
    } else {
        let taps = call
            .in_channels_per_group()
            .saturating_mul(call.geometry.kernel_len());
        check_integers(OP, weight, taps)?;
        let q = quantised(&call.with_batch(x)?, inputs)?;
        of_bytes(&call, &q, weight, &options, encoding)
    }
}

/// The convolution of a batch of bytes.
fn of_bytes(
    call: &ConvCall,
    q: &QTensor,
    weight: &QTensor,
    options: &Conv,
    encoding: Option<Encoding>,
) -> Result<Tensor> {
    let few = call.groups > 1 && call.in_channels_per_group() < 4;
    match few || q.is_empty() || call.out_channels == 0 {
        true => {
            let x = q.dequantize()?;
            let x = if call.batched { x } else { x.squeeze(0)? };
            in_floats(&x, weight, options, encoding)
        }
        false => Integers::new(call, q, weight, options)?.result(&call.shape(), encoding),
    }
}
fn in_floats(
    x: &Tensor,
    weight: &QTensor,
    options: &Conv,
    encoding: Option<Encoding>,
) -> Result<Tensor> {
    let y = nn::conv2d(x, &weight.dequantize()?, options.clone())?;
    match encoding {
        Some(encoding) => encoding.all(&y),
        None => Ok(y),
    }
}

/// The convolution of images that are quantised already, to int8 or uint8 with one step, with a
/// float32 bias and no residual: in float32, or quantised again.
#[cfg(feature = "onnx")]
pub(crate) fn conv2d_of_bytes(
    x: &QTensor,
    weight: &QTensor,
    options: &Conv,
    output: Option<Output>,
) -> Result<Tensor> {
    let operands = [
        ("x", x.shape(), DType::F32),
        ("weight", weight.shape(), weight.values.dtype()),
    ];
    let call = ConvCall::new(OP, 2, &operands, options)?;
    let taps = call
        .in_channels_per_group()
        .saturating_mul(call.geometry.kernel_len());
    check_integers(OP, weight, taps)?;
    let run = |encoding| of_bytes(&call, x, weight, options, encoding);
    match output {
        Some(output) => output.of(OP, run).map(|y| y.values),
        None => run(None),
    }
}

/// Quantises a batch of images to bytes, with a step for each or one for all.
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
