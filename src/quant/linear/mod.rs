//! Linear layers with quantised weights.
//!
//! Products need no engine of their own. A weight that is decoded is a source of panels
//! (`kernel/quant/weights`): it unpacks part of some rows into L1 and packs them as a matrix is
//! packed, so blocks, threads and bits are those of any product. Up to four rows of `x` use `gemv`,
//! which decodes weights in registers at memory speed; int4 as words of eight values, with `x` put
//! into their order once (`simd/x86/nibbles`).
//!
//! Quantised inputs make products of bytes: the int32 sums occupy the float32 result until the
//! epilogue's first operation (`Dequantize`) subtracts the zero point times the sum of the weight's
//! row and scales them. Row sums are cached with the weight, as its panels are. So the quantised
//! input is the only intermediate that is written.
//!
//! A result that is to be quantised with a known step is handed over as blocks (`PostOp`) and
//! encoded while a cache has them; a step that depends on the result takes further passes.
//!
//! Rounding is to nearest even everywhere, by adding 1.5 * 2^23. Scales are rounded to their dtype
//! before values are divided by them, and the division is not replaced by a product with a
//! reciprocal. NaN and infinities never determine a scale.

mod decoded;
mod integers;

use super::output::{Encoder, Encoding, Output};
use super::qtensor::QTensor;
use super::weights::{check_floats, floats};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::exec::products::ProductSizes;
use crate::kernel::gemm::{
    self, Activation, Dequantize, Epilogue, EpilogueOp, Map, MatMut, PostOp,
};
use crate::layout::Shape;
use crate::ops::linalg::{Matrices, ResultMatrices};
use crate::tensor::Tensor;
use smallvec::SmallVec;

/// How [`linear`] treats its input.
///
/// ```
/// use flex::{Tensor, quant::{self, Inputs, QLinear}};
/// let weight = quant::quantize(&Tensor::from([[1.0f32, -127.0]]), ())?;
/// let x = Tensor::from([[127.5f32, 255.0]]);
/// let with = |inputs| {
///     let options = QLinear { inputs, ..Default::default() };
///     quant::linear(&x, &weight, options)?.item::<f32>()
/// };
/// assert_eq!(with(Inputs::Float)?, 127.5 - 127.0 * 255.0);
/// assert_eq!(with(Inputs::Dynamic)?, 128.0 - 127.0 * 255.0); // the first becomes 128 of 255
/// # Ok::<(), flex::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Inputs {
    /// As floats. Takes weights of any kind, which are dequantised while they are packed for the
    /// product or, for up to four rows, in registers.
    #[default]
    Float,
    /// Quantised to uint8, each row with a zero point of its own, by its minimum and maximum. Takes
    /// int8 weights without zero points, per tensor or per row.
    Dynamic,
    /// The same to int8, without zero points. Saves the row sums of the weight, which matters where
    /// these are not cached, as on a microcontroller.
    DynamicSymmetric,
    /// Quantised to uint8 with this scale and zero point.
    Static {
        /// Positive.
        scale: f32,
        /// The integer that stands for 0.
        zero: u8,
    },
}

/// The options of [`linear`].
///
/// Example: [`Inputs`].
#[derive(Clone, Copy, Debug, Default)]
pub struct QLinear<'a> {
    /// `[out]`, added to each row.
    pub bias: Option<&'a Tensor>,
    /// Applied after the bias.
    pub activation: Option<Activation>,
    /// Broadcast to the result's shape and added last.
    pub residual: Option<&'a Tensor>,
    /// How the input is treated.
    pub inputs: Inputs,
}

crate::layout::defaults! { QLinear<'_> }
impl<'a> From<Option<&'a Tensor>> for QLinear<'a> {
    /// The default options with this bias.
    fn from(bias: Option<&'a Tensor>) -> Self {
        QLinear {
            bias,
            ..Default::default()
        }
    }
}
impl<'a> From<&'a Tensor> for QLinear<'a> {
    /// The default options with this bias.
    fn from(bias: &'a Tensor) -> Self {
        Some(bias).into()
    }
}

const OP: &str = "quant.linear";

/// `activation(x weight^T + bias) + residual` with a quantised weight `[out, in]`. `x` is `[..,
/// in]`; the result is `[.., out]`, float32, or the dtype of `x` if that is narrower.
///
/// With [`Inputs::Dynamic`] each row of `x` is quantised as by [`quantize`](super::quantize) and
/// the products are summed exactly in int32. The result is `(sum((q - zero) w)) * scale_x *
/// scale_w`, rounded after each of these three steps (a conversion and two multiplications). NaN in
/// `x` counts as 0. A weight that is used again stays packed beside its values, as with
/// [`nn::linear`](crate::nn::linear).
///
/// Errors if sizes don't match, `x` is not a float tensor, the activation doesn't exist, or the
/// weight can't be multiplied by the inputs as integers.
///
/// ```
/// use flex::{Tensor, quant};
/// let weight = quant::quantize(&Tensor::from([[1.0f32, 0.5], [-1.0, 0.0]]), ())?;
/// let x = Tensor::from([[3.0f32, 2.0]]);
/// let y = quant::linear(&x, &weight, quant::QLinear { inputs: quant::Inputs::Dynamic, ..Default::default() })?;
/// assert!((y.at::<f32>((0, 0))? - 4.0).abs() < 0.02 && y.at::<f32>((0, 1))? == -3.0);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn linear<'a>(x: &Tensor, weight: &QTensor, options: impl Into<QLinear<'a>>) -> Result<Tensor> {
    let y = product(x, weight, options.into(), None)?;
    match x.dtype().size() < 4 {
        true => y.astype(x.dtype()),
        false => Ok(y),
    }
}

/// [`linear`] with a quantised result: what `linear` returns for `x` in float32, quantised to int8
/// or uint8.
///
/// Errors like `linear`, if the scale is not positive and finite, and if the integers or the zero
/// point are none of int8's or uint8's.
///
/// ```
/// use flex::{Tensor, quant::{self, Levels, Output}};
/// let weight = quant::quantize(&Tensor::from([[1.0f32, 0.5], [-1.0, 0.0]]), ())?;
/// let x = Tensor::from([[3.0f32, 2.0]]);
/// let output = Output { levels: Levels::I8, step: Some((0.5, None)) };
/// let y = quant::linear_to(&x, &weight, (), output)?;
/// assert_eq!(y.values().to_vec::<i8>()?, [8, -6]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn linear_to<'a>(
    x: &Tensor,
    weight: &QTensor,
    options: impl Into<QLinear<'a>>,
    output: Output,
) -> Result<QTensor> {
    linear_to_of(x, weight, options.into(), output)
}

/// The layer of an input that is quantised already: int8 or uint8 with one step. The options'
/// `inputs` count for nothing.
#[cfg(feature = "onnx")]
pub(crate) fn linear_of_bytes(
    x: &Tensor,
    scale: f32,
    zero: i32,
    weight: &QTensor,
    options: QLinear,
) -> Result<Tensor> {
    let layer = LinearOperands::new(x, weight, options, None)?;
    if layer.sizes.k == 0 {
        return layer.empty_sums();
    }
    layer.of_bytes(weight, scale, zero)
}

fn linear_to_of(x: &Tensor, weight: &QTensor, options: QLinear, output: Output) -> Result<QTensor> {
    output.of(OP, |encoding| product(x, weight, options, encoding))
}

/// The product in float32, or in an encoding.
fn product(
    x: &Tensor,
    weight: &QTensor,
    options: QLinear,
    encoding: Option<Encoding>,
) -> Result<Tensor> {
    check_floats(OP, "x", x)?;
    let layer = LinearOperands::new(x, weight, options, encoding)?;
    match options.inputs {
        _ if layer.sizes.k == 0 => layer.empty_sums(),
        Inputs::Float => layer.decoded(weight),
        Inputs::Dynamic => layer.by_rows::<u8>(weight),
        Inputs::DynamicSymmetric => layer.by_rows::<i8>(weight),
        Inputs::Static { scale, zero } => layer.by_step(weight, scale, zero),
    }
}

/// The operands as contiguous float32, or bytes as they are, and what follows the product.
struct LinearOperands {
    x: Tensor,
    bias: Option<Tensor>,
    activation: Option<Map<f32>>,
    residual: Option<Tensor>,
    /// Of the result; none for floats.
    encoding: Option<Encoding>,
    sizes: ProductSizes,
    shape: Shape,
}
impl LinearOperands {
    fn new(
        x: &Tensor,
        weight: &QTensor,
        options: QLinear,
        encoding: Option<Encoding>,
    ) -> Result<LinearOperands> {
        let operands = [
            ("x", x.shape(), x.dtype()),
            ("weight", weight.shape(), weight.values.dtype()),
        ];
        if weight.rank() != 2 || x.rank() == 0 || x.shape()[x.rank() - 1] != weight.shape()[1] {
            let message = "x must have the shape [.., in] and weight [out, in]";
            return Err(Error::shape_of(OP, message, &operands));
        }
        let (n, k) = (weight.shape()[0], weight.shape()[1]);
        let lead = &x.shape()[..x.rank() - 1];
        let m = lead.iter().product::<usize>();
        let shape: Shape = lead.iter().copied().chain([n]).collect();
        let float = |name, t, to: &[usize]| floats(OP, name, t, to, &operands);
        let bias = options
            .bias
            .map(|b| float("bias", b, &[n])?.contiguous())
            .transpose()?;
        let residual = options
            .residual
            .map(|r| float("residual", r, &shape)?.reshape((m, n)));
        let activation = match options.activation {
            None => None,
            Some(f) => Some(Map::new(f).ok_or_else(|| Error::unsupported(OP, DType::F32))?),
        };
        Ok(LinearOperands {
            x: match x.dtype().is_float() {
                true => x.astype(DType::F32)?,
                false => x.clone(),
            }
            .contiguous()?
            .reshape((m, k))?,
            bias,
            activation,
            residual: residual.transpose()?,
            encoding,
            sizes: ProductSizes { m, n, k },
            shape,
        })
    }
    /// Allocates the result for `f` to write as `[m, n]`, with the product's epilogue: `first`,
    /// then the layer's own operations. `f` hands over all elements, which are encoded if they are
    /// not the result themselves.
    fn result<'a>(
        &'a self,
        first: Option<Dequantize<'a>>,
        f: impl FnOnce(MatMut<f32>, Epilogue<f32>) -> Result<()>,
    ) -> Result<Tensor> {
        let ProductSizes { m, n, .. } = self.sizes;
        let mut y = Tensor::empty(&self.shape, DType::F32)?;
        let mut encoded = self
            .encoding
            .map(|e| Tensor::empty(&self.shape, e.levels.dtype()))
            .transpose()?;
        let encoder = self.encoding.zip(encoded.as_mut()).map(|(encoding, d)| {
            // SAFETY: `y` outlives the product.
            unsafe { Encoder::new(encoding, &mut y, [m, n], d) }
        });
        let encoder = encoder.transpose()?;
        let post_op = encoder.as_ref().map(|e| e as &dyn PostOp);
        let mut ops = SmallVec::<[EpilogueOp<f32>; 4]>::new();
        ops.extend(first.map(EpilogueOp::Dequantize));
        if let Some(b) = &self.bias {
            ops.push(EpilogueOp::Bias(b.as_slice()?));
        }
        ops.extend(self.activation.map(EpilogueOp::Map));
        ops.extend(
            self.residual
                .as_ref()
                .map(|r| EpilogueOp::Add(Matrices::new(r).get(0))),
        );
        let c = ResultMatrices::new(&mut y, m, n)?;
        let epilogue = Epilogue::new(&ops, m, n).with_post_op(post_op);
        // SAFETY: the only matrix of a fresh tensor.
        f(unsafe { c.get(0) }, epilogue)?;
        Ok(encoded.unwrap_or(y))
    }
    /// The result of empty sums.
    fn empty_sums(&self) -> Result<Tensor> {
        self.result(None, |mut c, epilogue| {
            for i in 0..c.rows() {
                let row = c.row(i);
                row.fill(0.0);
                let cols = row.len();
                gemm::finish_in_place(epilogue.at(i, 0), row, cols);
            }
            // SAFETY: POSTOP1: all elements, which are written.
            unsafe { epilogue.run_post_op(0..c.rows(), 0..c.cols()) };
            Ok(())
        })
    }
}
