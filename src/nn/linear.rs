//! Linear layers.

use crate::dtype::{DType, Element};
#[cfg(feature = "half")]
use crate::dtype::{bf16, f16};
use crate::error::{Error, NamedOperand, Result};
use crate::exec::products::ProductSizes;
use crate::kernel::gemm::{Activation, Epilogue, EpilogueOp, Map, MatElement};
use crate::layout::{self, Shape};
use crate::ops::linalg::{
    BindPostOp, Matrices, ResultMatrices, bias_in, bind_post_op, bytes_in_i32, dispatch_product,
    is_dense, product_dtype, product_of_weight, sums_in, widens,
};
use crate::tensor::Tensor;
use alloc::borrow::Cow;
use smallvec::SmallVec;

/// The options of [`linear`]. `into` makes them from a bias, or none.
///
/// Example: [`linear`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Linear<'a> {
    /// `[out]`, added to each row.
    pub bias: Option<&'a Tensor>,
    /// Applied after the bias.
    pub activation: Option<Activation>,
    /// Broadcast to the result's shape and added last.
    pub residual: Option<&'a Tensor>,
    /// The dtype of sums and result, as if the operands were converted to it first. No such copies
    /// are made of int8 and uint8 for int32, and of dense float16 (and bfloat16, unless the CPU
    /// multiplies pairs of it) for float32. Default: the common dtype.
    pub dtype: Option<DType>,
}
/// `activation(x weight^T + bias) + residual`: `x` is `[.., in]`, `weight` `[out, in]`, the result
/// `[.., out]`. Bias, activation and residual are the product's epilogue: they are applied while it
/// is in cache, and 16-bit floats are rounded once, at the end. Dtypes are promoted.
///
/// A float32, float64, int8 or uint8 weight that is used again is kept packed, in the order in
/// which products read it, until it is written to or dropped: see
/// [`set_weight_packing`](crate::set_weight_packing).
///
/// Errors if sizes don't match, if dtypes have no common one or are bool, if [`Linear::dtype`]
/// can't hold the common dtype's values, and for an activation with a dtype that is not a float.
///
/// ```
/// use flex::{Tensor, nn};
/// let x = Tensor::from_slice(&[1.0f32, 2.0], [1, 2])?;
/// let weight = Tensor::from_slice(&[1.0f32, 0.0, 0.0, 1.0, 1.0, 1.0], [3, 2])?;
/// let bias = Tensor::from_slice(&[0.5f32, 0.0, 0.0], [3])?;
/// assert_eq!(nn::linear(&x, &weight, &bias)?.to_vec::<f32>()?, [1.5, 2.0, 3.0]);
/// let residual = nn::Linear { residual: Some(&bias), ..Default::default() };
/// assert_eq!(nn::linear(&x, &weight, residual)?.to_vec::<f32>()?, [1.5, 2.0, 3.0]);
/// let bytes = Tensor::from_slice(&[100i8, 100], [1, 2])?;
/// let exact = nn::Linear { dtype: Some(flex::DType::I32), ..Default::default() };
/// assert_eq!(nn::linear(&bytes, &bytes, exact)?.to_vec::<i32>()?, [20_000]);
/// # Ok::<(), flex::Error>(())
/// ```
#[doc(alias("addmm"))]
pub fn linear<'a>(x: &Tensor, weight: &Tensor, options: impl Into<Linear<'a>>) -> Result<Tensor> {
    linear_with_post_op(x, weight, options.into(), None)
}

/// [`linear`] with what follows it.
#[doc(hidden)]
pub fn linear_with_post_op(
    x: &Tensor,
    weight: &Tensor,
    options: Linear,
    post_op: Option<&dyn BindPostOp>,
) -> Result<Tensor> {
    let layer = LinearLayer::new(x, weight, options)?;
    let mut y = Tensor::empty(&layer.shape, layer.sums)?;
    layer.write(&mut y, post_op.filter(|_| layer.sums == layer.dtype))?;
    y.into_dtype(layer.dtype)
}

/// [`linear`] into a tensor of the result's shape and dtype, reusing its storage unless that is
/// shared. Also errors if shape or dtype differ.
///
/// ```
/// use flex::{DType, Tensor, nn};
/// let x = Tensor::from_slice(&[1.0f32, 2.0], [1, 2])?;
/// let weight = Tensor::from_slice(&[1.0f32, 0.0, 0.0, 1.0, 1.0, 1.0], [3, 2])?;
/// let mut y = Tensor::zeros(&[1, 3], DType::F32)?;
/// nn::linear_into(&x, &weight, None, &mut y)?;
/// assert_eq!(y.to_vec::<f32>()?, [1.0, 2.0, 3.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn linear_into<'a>(
    x: &Tensor,
    weight: &Tensor,
    options: impl Into<Linear<'a>>,
    out: &mut Tensor,
) -> Result<()> {
    let layer = LinearLayer::new(x, weight, options.into())?;
    out.make_result(OP, &layer.shape, layer.dtype)?;
    if layer.sums == layer.dtype {
        return layer.write(out, None);
    }
    let mut y = Tensor::empty(&layer.shape, layer.sums)?;
    layer.write(&mut y, None)?;
    out.copy_from(&y.into_dtype(layer.dtype)?)
}

const OP: &str = "linear";

/// The operands as matrices, of the result's dtype or one that the product widens, and the result's
/// shape and dtype.
struct LinearLayer<'a> {
    x: Cow<'a, Tensor>,
    /// `[in, out]`.
    weight: Tensor,
    bias: Option<Cow<'a, Tensor>>,
    activation: Option<Activation>,
    residual: Option<Tensor>,
    sizes: ProductSizes,
    shape: Shape,
    /// The dtype of the sums: [`product_dtype`] of the result's.
    sums: DType,
    dtype: DType,
}
/// Shape and dtype of the result of `x` and `weight` with a bias and a residual, if there are any. Errors where
/// they don't fit.
pub(crate) fn result_of(
    operands: &[NamedOperand; 2],
    (bias, residual): (Option<NamedOperand>, Option<NamedOperand>),
    activation: Option<Activation>,
    sums: Option<DType>,
) -> Result<(Shape, DType)> {
    let [(_, x, _), (_, weight, _)] = *operands;
    let ([.., last], [n, k]) = (x, weight) else {
        return Err(Error::shape_of(
            OP,
            "x must have the shape [.., in] and weight [out, in]",
            operands,
        ));
    };
    if last != k {
        let message = message!("last axis of x is {last} but that of weight is {k}");
        return Err(Error::shape_of(OP, message, operands));
    }
    let mut dtype = operands[0].2.promote(operands[1].2, OP)?;
    if let Some(b) = bias {
        dtype = dtype.promote(b.2, OP)?;
        if b.1 != [*n] {
            let message = message!("bias must have the shape [{n}]");
            return Err(Error::shape_of(OP, message, &[operands[0], operands[1], b]));
        }
    }
    let mut shape = Shape::from_slice(&x[..x.len() - 1]);
    shape.push(*n);
    if let Some(r) = residual {
        dtype = dtype.promote(r.2, OP)?;
    }
    if let Some(sums) = sums {
        sums_in(OP, dtype, sums)?;
        dtype = sums;
    }
    if !dtype.is_available() || dtype.is_bool() {
        return Err(Error::unsupported(OP, dtype));
    }
    if activation.is_some() && !dtype.is_float() {
        return Err(Error::dtype(
            OP,
            message!("activations need a float dtype, not {dtype}"),
        ));
    }
    if let Some(r) = residual
        && !layout::broadcast(OP, &[&shape, r.1]).is_ok_and(|whole| whole == shape)
    {
        let message = message!("residual does not broadcast to {:?}", shape.as_slice());
        return Err(Error::shape_of(OP, message, &[operands[0], operands[1], r]));
    }
    Ok((shape, dtype))
}

impl<'a> LinearLayer<'a> {
    fn new(x: &'a Tensor, weight: &'a Tensor, options: Linear<'a>) -> Result<Self> {
        let Linear {
            bias,
            activation,
            residual,
            dtype: sums,
        } = options;
        let of = |name, t: &'a Tensor| (name, t.shape(), t.dtype());
        let operands = [of("x", x), of("weight", weight)];
        let others = (
            bias.map(|t| of("bias", t)),
            residual.map(|t| of("residual", t)),
        );
        let (shape, result) = result_of(&operands, others, activation, sums)?;
        let dtype = product_dtype(result);
        let (n, k) = (weight.shape()[0], weight.shape()[1]);
        let m = x.shape()[..x.rank() - 1].iter().product::<usize>();
        let whole = |r: &Tensor| r.broadcast_to(&shape)?.astype(dtype)?.reshape((m, n));
        let residual = residual.map(whole).transpose()?;
        let as_they_are = widens(x.dtype(), weight.dtype(), dtype)
            && (!dtype.is_float() || is_dense(x) && is_dense(weight));
        // each object that is made here takes as long as the smallest products
        let converted = |t: &'a Tensor| match as_they_are || t.dtype() == dtype {
            true => Ok(Cow::Borrowed(t)),
            false => t.astype(dtype).map(Cow::Owned),
        };
        let mut x = converted(x)?;
        if x.rank() != 2 {
            x = Cow::Owned(x.reshape((m, k))?);
        }
        let weight = converted(weight)?.transpose(0, 1)?;
        let bias = bias.map(|b| bias_in(b, dtype));
        let bias = bias.transpose()?;
        Ok(LinearLayer {
            x,
            weight,
            bias,
            activation,
            residual,
            sizes: ProductSizes { m, n, k },
            shape,
            sums: dtype,
            dtype: result,
        })
    }
    /// Computes into `y`, which is contiguous and has the result's shape and the dtype of the sums.
    fn write(&self, y: &mut Tensor, post_op: Option<&dyn BindPostOp>) -> Result<()> {
        let unsupported = || Err(Error::unsupported(OP, self.dtype));
        #[cfg(feature = "half")]
        match (self.x.dtype(), self.sums) {
            (DType::F16, DType::F32) => return self.floats::<f16, f32>(y, post_op),
            (DType::BF16, DType::F32) => return self.floats::<bf16, f32>(y, post_op),
            _ => {}
        }
        match self.activation {
            Some(_) => {
                dispatch!(floating self.sums, |T| self.floats::<T, T>(y, post_op), else unsupported())
            }
            None => {
                bytes_in_i32!(self.x.dtype(), self.weight.dtype(), self.sums, |A, B| self.run::<A, B, i32>(None, y, post_op), else
                dispatch_product!(self.sums, |T| self.run::<T, T, T>(None, y, post_op), else unsupported()))
            }
        }
    }
    fn floats<A, C>(&self, y: &mut Tensor, post_op: Option<&dyn BindPostOp>) -> Result<()>
    where
        A: Element + MatElement,
        C: Element + MatElement<Acc = A::Acc>,
        C::Acc: Element,
    {
        let map = self.activation.map(|f| {
            let map = Map::new(f);
            map.ok_or_else(|| Error::unsupported(OP, self.dtype))
        });
        self.run::<A, A, C>(map.transpose()?, y, post_op)
    }
    fn run<A, B, C>(
        &self,
        activation: Option<Map<C::Acc>>,
        y: &mut Tensor,
        post_op: Option<&dyn BindPostOp>,
    ) -> Result<()>
    where
        A: Element + MatElement,
        B: Element + MatElement<Acc = A::Acc>,
        C: Element + MatElement<Acc = A::Acc>,
    {
        let ProductSizes { m, n, .. } = self.sizes;
        let mut ops = SmallVec::<[EpilogueOp<C>; 3]>::new();
        if let Some(b) = &self.bias {
            ops.push(EpilogueOp::Bias(b.as_slice()?));
        }
        ops.extend(activation.map(EpilogueOp::Map));
        ops.extend(
            self.residual
                .as_ref()
                .map(|r| EpilogueOp::Add(Matrices::new(r).get(0))),
        );
        let post_op = bind_post_op(post_op, y, [1, m, n])?;
        let (a, b, c) = (
            Matrices::<A>::new(&self.x),
            Matrices::<B>::new(&self.weight),
            ResultMatrices::<C>::new(y, m, n)?,
        );
        let epilogue = Epilogue::new(&ops, m, n).with_post_op(post_op);
        // SAFETY: the shapes are those of `linear`; `c.get(0)` is the fresh result.
        unsafe {
            product_of_weight(
                self.sizes,
                &self.weight,
                &|i| (a.get(i), b.get(i), c.get(i)),
                epilogue,
            )
        }
    }
}
