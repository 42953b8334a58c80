//! Losses that are elementwise distances.

use super::{Reduction, terms};
use crate::error::Result;
use crate::kernel::elementwise::rows;
use crate::nn::check;
use crate::ops::formula::Formula;
use crate::ops::program::Var;
use crate::tensor::Tensor;

/// `(x - target)^2`, reduced. Operands broadcast and are promoted to their common dtype; integers
/// are computed in the default float.
///
/// Errors if shapes or dtypes don't fit, or an operand is complex.
///
/// ```
/// use flex::{Tensor, nn};
/// let (x, t) = (Tensor::from([1.0f32, 2.0]), Tensor::from([0.0f32, 4.0]));
/// assert_eq!(nn::mse_loss(&x, &t, nn::Reduction::Mean)?.item::<f32>()?, 2.5);
/// # Ok::<(), flex::Error>(())
/// ```
#[doc(alias("mse"))]
pub fn mse_loss(x: &Tensor, target: &Tensor, reduction: impl Into<Reduction>) -> Result<Tensor> {
    mse_loss_of(x, target, reduction.into())
}

fn mse_loss_of(x: &Tensor, target: &Tensor, reduction: Reduction) -> Result<Tensor> {
    terms(
        "mse_loss",
        &[("x", x), ("target", target)],
        reduction,
        |f, v| f.binary(&rows::SquaredDifference::ROW, v[0], v[1]),
    )
}

/// `|x - target|`, reduced. Dtypes and errors as for [`mse_loss`].
///
/// ```
/// use flex::{Tensor, nn};
/// let (x, t) = (Tensor::from([1.0f32, 2.0]), Tensor::from([0.0f32, 4.0]));
/// assert_eq!(nn::l1_loss(&x, &t, nn::Reduction::Mean)?.item::<f32>()?, 1.5);
/// # Ok::<(), flex::Error>(())
/// ```
#[doc(alias("mae"))]
pub fn l1_loss(x: &Tensor, target: &Tensor, reduction: impl Into<Reduction>) -> Result<Tensor> {
    let operands = [("x", x), ("target", target)];
    terms("l1_loss", &operands, reduction.into(), distance)
}

fn distance(f: &mut Formula<'_>, v: &[Var]) -> Result<Var> {
    let d = f.binary(&rows::Subtract::ROW, v[0], v[1])?;
    f.unary(&rows::Abs::ROW, d)
}
/// `d^2 / (2 beta)` where `d = |x - target|` is below `beta`, else `d - beta / 2`, reduced
/// (Girshick 2015); torch's default beta is 1. Dtypes and errors as for [`mse_loss`]; also errors
/// for a negative or NaN `beta`. A `beta` of 0 gives [`l1_loss`].
///
/// ```
/// use flex::{Tensor, nn};
/// let (x, t) = (Tensor::from([1.0f32, 3.0]), Tensor::from([0.0f32, 0.0]));
/// assert_eq!(nn::smooth_l1_loss(&x, &t, 2.0, nn::Reduction::None)?.to_vec::<f32>()?, [0.25, 2.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn smooth_l1_loss(
    x: &Tensor,
    target: &Tensor,
    beta: f64,
    reduction: impl Into<Reduction>,
) -> Result<Tensor> {
    smooth_l1_loss_of(x, target, beta, reduction.into())
}

fn smooth_l1_loss_of(
    x: &Tensor,
    target: &Tensor,
    beta: f64,
    reduction: Reduction,
) -> Result<Tensor> {
    const OP: &str = "smooth_l1_loss";
    check::number(OP, "beta", beta, beta >= 0.0, "0 or more")?;
    let operands = [("x", x), ("target", target)];
    terms(OP, &operands, reduction, |f, v| match beta {
        0.0 => distance(f, v),
        1.0 => f.ternary(&rows::Huber::ROW, v[0], v[1], beta),
        _ => f.ternary(&rows::SmoothL1::ROW, v[0], v[1], beta),
    })
}

/// `d^2 / 2` where `d = |x - target|` is below `delta`, else `delta (d - delta / 2)`, reduced
/// (Huber 1964); torch's default delta is 1. Dtypes and errors as for [`mse_loss`]; also errors if
/// `delta` is not positive and finite.
///
/// ```
/// use flex::{Tensor, nn};
/// let (x, t) = (Tensor::from([1.0f32, 3.0]), Tensor::from([0.0f32, 0.0]));
/// assert_eq!(nn::huber_loss(&x, &t, 2.0, nn::Reduction::None)?.to_vec::<f32>()?, [0.5, 4.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn huber_loss(
    x: &Tensor,
    target: &Tensor,
    delta: f64,
    reduction: impl Into<Reduction>,
) -> Result<Tensor> {
    huber_loss_of(x, target, delta, reduction.into())
}

fn huber_loss_of(x: &Tensor, target: &Tensor, delta: f64, reduction: Reduction) -> Result<Tensor> {
    const OP: &str = "huber_loss";
    check::positive(OP, "delta", delta)?;
    let operands = [("x", x), ("target", target)];
    terms(OP, &operands, reduction, |f, v| {
        f.ternary(&rows::Huber::ROW, v[0], v[1], delta)
    })
}
