//! Gradients of activations that take more than a line of operations.

use super::{common_float, expect_shape};
use crate::error::Result;
use crate::kernel::elementwise::rows;
use crate::ops::formula::Formula;
use crate::ops::program::Var;
use crate::tensor::Tensor;
use core::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI};

/// A formula of a gradient and a tensor of the same shape, which errors call `name`.
fn formula(
    op: &'static str,
    grad: &Tensor,
    (name, x): (&'static str, &Tensor),
    formula: impl FnOnce(&mut Formula<'_>, Var, Var) -> Result<Var>,
) -> Result<Tensor> {
    expect_shape(op, grad, x.shape(), (name, x))?;
    let dtype = common_float(op, &[grad, x])?;
    let mut f = Formula::new(op, &[x.shape()], dtype)?;
    let (g, x) = (f.input(grad)?, f.input(x)?);
    let d = formula(&mut f, g, x)?;
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
    formula("grad.relu", grad, ("x", x), |f, g, x| {
        // NaN counts as positive, as in torch
        let none = f.binary(&rows::LessEqual::ROW, x, 0.0)?;
        f.ternary(&rows::Where::ROW, none, 0.0, g)
    })
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
    formula("grad.sigmoid", grad, ("y", y), |f, g, y| {
        let rest = f.binary(&rows::Subtract::ROW, 1.0, y)?;
        let slope = f.binary(&rows::Multiply::ROW, y, rest)?;
        f.binary(&rows::Multiply::ROW, g, slope)
    })
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
    formula("grad.tanh", grad, ("y", y), |f, g, y| {
        // a square would lose what y lacks to 1
        let (less, more) = (
            f.binary(&rows::Subtract::ROW, 1.0, y)?,
            f.binary(&rows::Add::ROW, y, 1.0)?,
        );
        let slope = f.binary(&rows::Multiply::ROW, less, more)?;
        f.binary(&rows::Multiply::ROW, g, slope)
    })
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
    formula("grad.silu", grad, ("x", x), |f, g, x| {
        let s = f.unary(&rows::Sigmoid::ROW, x)?;
        let rest = f.binary(&rows::Subtract::ROW, 1.0, s)?;
        // no infinity times zero
        let x = f.ternary(&rows::Clip::ROW, x, -2000.0, 2000.0)?;
        let more = f.binary(&rows::Multiply::ROW, x, rest)?;
        let factor = f.binary(&rows::Add::ROW, more, 1.0)?;
        let slope = f.binary(&rows::Multiply::ROW, s, factor)?;
        f.binary(&rows::Multiply::ROW, g, slope)
    })
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
    formula("grad.gelu", grad, ("x", x), |f, g, x| {
        f.binary(&rows::GeluGradient::ROW, g, x)
    })
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
    const LINEAR: f64 = 2.0 * FRAC_2_SQRT_PI * FRAC_1_SQRT_2;
    const CUBIC: f64 = LINEAR * 0.044715;
    formula("grad.gelu_tanh", grad, ("x", x), |f, g, x| {
        // With v = 2 u the slope is s (1 + (1 - s) x dv/dx), s = sigmoid(v), which keeps its relative
        // accuracy where s is small. Beyond the bounds s is 0 or 1.
        let x = f.ternary(&rows::Clip::ROW, x, -100.0, 100.0)?;
        let square = f.unary(&rows::Square::ROW, x)?;
        let cubic = f.binary(&rows::Multiply::ROW, square, CUBIC)?;
        let factor = f.binary(&rows::Add::ROW, cubic, LINEAR)?;
        let v = f.binary(&rows::Multiply::ROW, x, factor)?;
        let s = f.unary(&rows::Sigmoid::ROW, v)?;
        let cubic = f.binary(&rows::Multiply::ROW, square, 3.0 * CUBIC)?;
        let slope = f.binary(&rows::Add::ROW, cubic, LINEAR)?;
        let slope = f.binary(&rows::Multiply::ROW, slope, x)?;
        // 1 - s loses what s lacks to 1, which up to 80 multiplies
        let minus = f.unary(&rows::Negative::ROW, v)?;
        let rest = f.unary(&rows::Sigmoid::ROW, minus)?;
        let moved = f.binary(&rows::Multiply::ROW, rest, slope)?;
        let sum = f.binary(&rows::Add::ROW, moved, 1.0)?;
        let slope = f.binary(&rows::Multiply::ROW, s, sum)?;
        f.binary(&rows::Multiply::ROW, g, slope)
    })
}
