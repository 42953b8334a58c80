//! Convolutions of operands of any shapes and dtypes: promotion, checks and errors.

use super::Conv;
use super::call::ConvCall;
use super::pixels;
use super::run::ConvOperands;
use crate::dtype::DType;
use crate::error::{Error, NamedOperand, Result};
use crate::layout;
use crate::ops::linalg::{BindPostOp, bias_in, product_dtype};
use crate::tensor::Tensor;
use alloc::borrow::Cow;

/// The sizes of the convolution `op` of this rank of `x` with `weight`, and the dtype of its result
/// with a bias and a residual, if given. Errors if they don't match.
pub(crate) fn result_of(
    (op, rank): (&'static str, usize),
    operands: &[NamedOperand; 2],
    (bias, residual): (Option<NamedOperand>, Option<NamedOperand>),
    options: &Conv,
) -> Result<(ConvCall, DType)> {
    let call = ConvCall::new(op, rank, operands, options)?;
    let mut dtype = operands[0].2.promote(operands[1].2, op)?;
    let bad = |of: NamedOperand, message| {
        let all = [operands[0], operands[1], of];
        Error::shape_of(op, message, &all)
    };
    if let Some(b) = bias {
        dtype = dtype.promote(b.2, op)?;
        if b.1 != [call.out_channels] {
            let message = message!("bias must have the shape [{}]", call.out_channels);
            return Err(bad(b, message));
        }
    }
    if let Some(r) = residual {
        dtype = dtype.promote(r.2, op)?;
        let shape = call.shape();
        if !layout::broadcast(op, &[&shape, r.1]).is_ok_and(|whole| whole == shape) {
            let message = message!("residual does not broadcast to {:?}", shape.as_slice());
            return Err(bad(r, message));
        }
    }
    if options.activation.is_some() && !dtype.is_float() {
        let message = message!("activations need a float dtype, not {dtype}");
        return Err(Error::dtype(op, message));
    }
    if !dtype.is_available() || dtype.is_bool() {
        return Err(Error::unsupported(op, dtype));
    }
    Ok((call, dtype))
}

/// The convolution of `x` with `weight`, followed by `then`.
pub fn convolve<'a>(
    op: &'static str,
    rank: usize,
    x: &'a Tensor,
    weight: &'a Tensor,
    options: &Conv<'a>,
    post_op: Option<&dyn BindPostOp>,
) -> Result<Tensor> {
    let of = |name, t: &'a Tensor| (name, t.shape(), t.dtype());
    let operands = [of("x", x), of("weight", weight)];
    let others = (
        options.bias.map(|t| of("bias", t)),
        options.residual.map(|t| of("residual", t)),
    );
    let (call, result) = result_of((op, rank), &operands, others, options)?;
    let shape = call.shape();
    let trivial = call.trailing();
    if trivial > 0 {
        // as if they weren't there: rows then have elements to be read in one go
        let last = [-1isize, -2];
        let last = &last[..trivial];
        let options = call.without(trivial, options);
        let residual = options
            .residual
            .map(|r| r.broadcast_to(&shape)?.squeeze(last));
        let residual = residual.transpose()?;
        let options = Conv {
            residual: residual.as_ref(),
            ..options
        };
        let (x, weight) = (x.squeeze(last)?, weight.squeeze(last)?);
        return convolve(op, rank - trivial, &x, &weight, &options, post_op)?.reshape(shape);
    }
    let dtype = product_dtype(result);
    let residual = options.residual.map(|r| r.broadcast_to(&shape));
    let residual = residual.transpose()?;
    let whole = if call.batched {
        x.clone()
    } else {
        x.expand_dims(0)?
    };
    let matrices = |t: Tensor| t.reshape((call.batch, call.out_channels, call.geometry.len()));
    let whole = whole.astype(dtype)?;
    let pixels = pixels::fits(&call, &whole);
    let operands = ConvOperands {
        call,
        x: if pixels { whole } else { call.aligned(whole)? },
        weight: weight.astype(dtype)?.reshape((
            call.out_channels,
            call.in_channels_per_group() * call.geometry.kernel_len(),
        ))?,
        bias: (options.bias)
            .map(|b| bias_in(b, dtype).map(Cow::into_owned))
            .transpose()?,
        residual: residual.map(|r| matrices(r.astype(dtype)?)).transpose()?,
    };
    if pixels {
        return operands.pixels(op, options);
    }
    let mut y = Tensor::empty(&shape, dtype)?;
    operands.write(op, options, &mut y, post_op.filter(|_| dtype == result))?;
    y.into_dtype(result)
}
