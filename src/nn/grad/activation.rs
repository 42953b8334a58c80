//! Gradients of activations, one elementwise operation each.

use super::{common_float, expect_shape};
use crate::error::Result;
use crate::kernel::elementwise::{Row, rows};
use crate::ops::formula::Formula;
use crate::tensor::Tensor;

/// An operation on a gradient and a tensor of the same shape, which errors call `name`.
fn apply(
    op: &'static str,
    row: &Row,
    grad: &Tensor,
    (name, x): (&'static str, &Tensor),
) -> Result<Tensor> {
    expect_shape(op, grad, x.shape(), (name, x))?;
    let dtype = common_float(op, &[grad, x])?;
    let mut f = Formula::new(op, &[x.shape()], dtype)?;
    let (g, x) = (f.input(grad)?, f.input(x)?);
    let d = f.binary(row, g, x)?;
    f.write(d, dtype)
}

/// The gradient of [`relu`](crate::nn::relu): `grad` where `x` is above 0, and 0 elsewhere. The
/// result of `relu` may be passed for `x`.
///
/// Errors if `grad` and `x` differ in shape or have no common float dtype; likewise for all
/// functions here.
///
/// ```
/// use flex::{Tensor, nn};
/// let (grad, x) = (Tensor::from([2.0f32, 3.0]), Tensor::from([-1.0f32, 1.0]));
/// assert_eq!(nn::grad::relu(&grad, &x)?.to_vec::<f32>()?, [0.0, 3.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn relu(grad: &Tensor, x: &Tensor) -> Result<Tensor> {
    apply("grad.relu", &rows::ReluGradient::ROW, grad, ("x", x))
}

/// The gradient of [`sigmoid`](crate::nn::sigmoid), from its result `y`: `grad * y * (1 - y)`.
/// Errors like [`relu`].
///
/// ```
/// use flex::{Tensor, nn};
/// let y = nn::sigmoid(&Tensor::from([0.0f32]))?;
/// assert_eq!(nn::grad::sigmoid(&Tensor::from([2.0f32]), &y)?.to_vec::<f32>()?, [0.5]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn sigmoid(grad: &Tensor, y: &Tensor) -> Result<Tensor> {
    apply("grad.sigmoid", &rows::SigmoidGradient::ROW, grad, ("y", y))
}

/// The gradient of [`tanh`](crate::ops::tanh), from its result `y`: `grad * (1 - y) * (1 + y)`. Errors
/// like [`relu`].
///
/// ```
/// use flex::{Tensor, nn};
/// let grad = nn::grad::tanh(&Tensor::from([2.0f32]), &Tensor::from([0.5f32]))?;
/// assert_eq!(grad.to_vec::<f32>()?, [1.5]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn tanh(grad: &Tensor, y: &Tensor) -> Result<Tensor> {
    apply("grad.tanh", &rows::TanhGradient::ROW, grad, ("y", y))
}

/// The gradient of [`silu`](crate::nn::silu): `grad * s * (1 + x * (1 - s))` with `s = sigmoid(x)`.
/// Errors like [`relu`].
///
/// ```
/// use flex::{Tensor, nn};
/// let grad = nn::grad::silu(&Tensor::from([2.0f32]), &Tensor::from([0.0f32]))?;
/// assert_eq!(grad.to_vec::<f32>()?, [1.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn silu(grad: &Tensor, x: &Tensor) -> Result<Tensor> {
    apply("grad.silu", &rows::SiluGradient::ROW, grad, ("x", x))
}

/// The gradient of [`gelu`](crate::nn::gelu): `grad * (P(x) + x * p(x))`, with the distribution
/// function and density of the normal distribution. Errors like [`relu`].
///
/// ```
/// use flex::{Tensor, nn};
/// let grad = nn::grad::gelu(&Tensor::from([2.0f32]), &Tensor::from([0.0f32]))?;
/// assert_eq!(grad.to_vec::<f32>()?, [1.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn gelu(grad: &Tensor, x: &Tensor) -> Result<Tensor> {
    apply("grad.gelu", &rows::GeluGradient::ROW, grad, ("x", x))
}

/// The gradient of [`gelu_tanh`](crate::nn::gelu_tanh), `x / 2 * (1 + tanh(u))` with `u = sqrt(2 /
/// pi) * (x + 0.044715 * x^3)`. Errors like [`relu`].
///
/// ```
/// use flex::{Tensor, nn};
/// let grad = nn::grad::gelu_tanh(&Tensor::from([2.0f32]), &Tensor::from([0.0f32]))?;
/// assert_eq!(grad.to_vec::<f32>()?, [1.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn gelu_tanh(grad: &Tensor, x: &Tensor) -> Result<Tensor> {
    apply(
        "grad.gelu_tanh",
        &rows::GeluTanhGradient::ROW,
        grad,
        ("x", x),
    )
}
