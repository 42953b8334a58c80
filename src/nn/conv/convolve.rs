//! Convolutions of operands of any shapes and dtypes: what they have in common, and errors.

use super::Conv;
use super::call::Call;
use super::pixels;
use super::run::Operands;
use crate::error::{Error, Result};
use crate::ops::linalg::Follow;
use crate::tensor::Tensor;

/// The convolution of `x` with `weight`, and what follows it.
pub(crate) fn convolve(
    op: &'static str,
    rank: usize,
    x: &Tensor,
    weight: &Tensor,
    options: &Conv,
    then: Option<&dyn Follow>,
) -> Result<Tensor> {
    let operands = [
        ("x", x.shape(), x.dtype()),
        ("weight", weight.shape(), weight.dtype()),
    ];
    let call = Call::new(op, rank, &operands, options)?;
    let shape = call.shape();
    let mut dtype = x.dtype().promote(weight.dtype(), op)?;
    let bad = |name, t: &Tensor, message| {
        let all = [operands[0], operands[1], (name, t.shape(), t.dtype())];
        Error::shape_of(op, message, &all)
    };
    if let Some(b) = options.bias {
        dtype = dtype.promote(b.dtype(), op)?;
        if b.shape() != [call.outputs] {
            let message = message!("bias must have the shape [{}]", call.outputs);
            return Err(bad("bias", b, message));
        }
    }
    let mut residual = None;
    if let Some(r) = options.residual {
        dtype = dtype.promote(r.dtype(), op)?;
        residual = Some(r.broadcast_to(&shape).map_err(|_| {
            let message = message!("residual does not broadcast to {:?}", shape.as_slice());
            bad("residual", r, message)
        })?);
    }
    if options.activation.is_some() && !dtype.is_float() {
        let message = message!("activations need a float dtype, not {dtype}");
        return Err(Error::dtype(op, message));
    }
    let whole = if call.batched {
        x.clone()
    } else {
        x.expand_dims(0)?
    };
    let matrices = |t: Tensor| t.reshape((call.batch, call.outputs, call.geometry.len()));
    let whole = whole.astype(dtype)?;
    let pixels = pixels::fits(&call, &whole);
    let operands = Operands {
        call,
        x: if pixels { whole } else { call.aligned(whole)? },
        weight: weight
            .astype(dtype)?
            .reshape((call.outputs, call.seen() * call.geometry.positions()))?,
        bias: (options.bias)
            .map(|b| b.astype(dtype)?.contiguous())
            .transpose()?,
        residual: residual.map(|r| matrices(r.astype(dtype)?)).transpose()?,
    };
    if pixels {
        return operands.pixels(op, options);
    }
    let mut y = Tensor::empty(&shape, dtype)?;
    operands.write(op, options, &mut y, then)?;
    Ok(y)
}
