//! Gradients, function by function: the vector-Jacobian products of the functions of
//! [`nn`](crate::nn). Each has the name of its function and takes the gradient of the result first,
//! in the result's shape, then the function's operands, or its result if the formula needs that.
//! Nothing is recorded: training code calls them in reverse order.
//!
//! dtypes are promoted; 16-bit floats are computed in float32 and rounded once.

mod activation;
mod attention;
mod channel_norm;
mod conv;
mod deform;
mod grid;
mod linear;
mod loss;
mod norm;
mod pool;
mod resample;
mod softmax;

pub use activation::{gelu, gelu_tanh, relu, sigmoid, silu, tanh};
pub use attention::{scaled_dot_product_attention, scaled_dot_product_attention_mask};
pub use channel_norm::{batch_norm, group_norm, instance_norm};
pub use conv::{
    conv_transpose1d, conv_transpose1d_weight, conv_transpose2d, conv_transpose2d_weight,
    conv_transpose3d, conv_transpose3d_weight, conv1d, conv1d_input, conv1d_weight, conv2d,
    conv2d_input, conv2d_weight, conv3d, conv3d_input, conv3d_weight,
};
pub use deform::deform_conv2d;
pub use grid::grid_sample;
pub use linear::{embedding, linear};
pub use loss::cross_entropy;
pub use norm::{layer_norm, rms_norm};
pub use pool::*;
pub use resample::{interpolate, pad};
pub use softmax::{log_softmax, softmax};

use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::tensor::Tensor;

/// The common float dtype of tensors. Errors, on behalf of `op`, if there is none.
fn common_float(op: &'static str, x: &[&Tensor]) -> Result<DType> {
    let first = x[0].dtype();
    let dtype = x[1..]
        .iter()
        .try_fold(first, |d, x| d.promote(x.dtype(), op))?;
    if !dtype.is_float() || dtype.is_storage() || !dtype.wide().is_available() {
        return Err(Error::unsupported(op, dtype));
    }
    Ok(dtype)
}

/// Errors if a gradient doesn't have the shape of the result that it belongs to.
fn expect_shape(
    op: &'static str,
    grad: &Tensor,
    shape: &[usize],
    (name, x): (&'static str, &Tensor),
) -> Result<()> {
    if grad.shape() == shape {
        return Ok(());
    }
    let message = message!("grad must have the shape of the result, {shape:?}");
    let operands = [
        ("grad", grad.shape(), grad.dtype()),
        (name, x.shape(), x.dtype()),
    ];
    Err(Error::shape_of(op, message, &operands))
}
