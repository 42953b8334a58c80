//! Activations with parameters; the others are rows of the table of operations.

use super::check;
use crate::error::{Error, Result};
use crate::kernel::elementwise::rows;
use crate::kernel::random::{Stream, Transform};
use crate::layout::{self, Axes, Int, Shape};
use crate::ops::{self, Arg, apply, draw};
use crate::tensor::Tensor;

/// `x`, or `slope * x` for negative `x` (Maas et al. 2013). Operands broadcast and are promoted to
/// their common dtype; torch's default slope is 0.01. Errors if shapes or dtypes don't fit.
///
/// ```
/// let x = flex::Tensor::from([1.0f32, -2.0]);
/// assert_eq!(flex::nn::leaky_relu(&x, 0.5)?.to_vec::<f32>()?, [1.0, -1.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn leaky_relu<'a, 'b>(x: impl Into<Arg<'a>>, slope: impl Into<Arg<'b>>) -> Result<Tensor> {
    apply(&rows::LeakyRelu::ROW, [x.into(), slope.into()])
}

/// [`leaky_relu`] with a slope per channel (He et al. 2015): `weight` has one element, or as many
/// as axis 1 of `x`. Errors if it has another size, or there is no common dtype.
///
/// ```
/// use flex::{Tensor, nn};
/// let (x, weight) = (Tensor::from([[-1.0f32, -1.0]]), Tensor::from([0.5f32, 0.25]));
/// assert_eq!(nn::prelu(&x, &weight)?.to_vec::<f32>()?, [-0.5, -0.25]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn prelu(x: &Tensor, weight: &Tensor) -> Result<Tensor> {
    const OP: &str = "prelu";
    let channels = x.shape().get(1).copied().unwrap_or(1);
    if weight.rank() > 1 || weight.len() != 1 && weight.len() != channels {
        let message =
            message!("weight must have one element, or one for each of {channels} channels");
        let operands = [
            ("x", x.shape(), x.dtype()),
            ("weight", weight.shape(), weight.dtype()),
        ];
        return Err(Error::shape_of(OP, message, &operands));
    }
    let mut shape = Shape::from_elem(1, x.rank());
    if weight.len() != 1 {
        shape[1] = channels;
    }
    leaky_relu(x, weight.reshape(shape)?)
}

/// [`leaky_relu`] with the mean of the slopes that training draws from `lower` to `upper` (Xu et
/// al. 2015); torch's defaults are 1/8 and 1/3. Errors if `lower` is above `upper`, or one is not
/// finite.
///
/// ```
/// let x = flex::Tensor::from([1.0f32, -2.0]);
/// assert_eq!(flex::nn::rrelu(&x, 0.25, 0.75)?.to_vec::<f32>()?, [1.0, -1.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn rrelu<'a>(x: impl Into<Arg<'a>>, lower: f64, upper: f64) -> Result<Tensor> {
    const OP: &str = "rrelu";
    check::finite(OP, "lower", lower)?;
    check::finite(OP, "upper", upper)?;
    in_order(OP, "lower", lower, "upper", upper)?;
    leaky_relu(x, (lower + upper) / 2.0)
}

/// `x`, or `alpha * (exp(x) - 1)` for negative `x` (Clevert et al. 2016); torch's default alpha
/// is 1. Dtypes and errors as for [`leaky_relu`].
///
/// ```
/// let x = flex::Tensor::from([1.0f32, f32::NEG_INFINITY]);
/// assert_eq!(flex::nn::elu(&x, 2.0)?.to_vec::<f32>()?, [1.0, -2.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn elu<'a, 'b>(x: impl Into<Arg<'a>>, alpha: impl Into<Arg<'b>>) -> Result<Tensor> {
    apply(&rows::Elu::ROW, [x.into(), alpha.into()])
}

/// `x`, or `alpha * (exp(x / alpha) - 1)` for negative `x` (Barron 2017); torch's default alpha
/// is 1. Dtypes and errors as for [`leaky_relu`]; also errors if an alpha is 0.
///
/// ```
/// let x = flex::Tensor::from([1.0f32, f32::NEG_INFINITY]);
/// assert_eq!(flex::nn::celu(&x, 2.0)?.to_vec::<f32>()?, [1.0, -2.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn celu<'a, 'b>(x: impl Into<Arg<'a>>, alpha: impl Into<Arg<'b>>) -> Result<Tensor> {
    let (x, alpha) = (x.into(), alpha.into());
    let zero = |alpha: &Tensor| ops::equal(alpha, 0);
    check::operand("celu", &x, "alpha", &alpha, zero, "other than 0")?;
    apply(&rows::Celu::ROW, [x, alpha])
}

/// `log(1 + exp(beta * x)) / beta`, or `x` itself where `beta * x` is above `threshold`; torch's
/// defaults are 1 and 20. Dtypes and errors as for [`leaky_relu`].
///
/// ```
/// let x = flex::Tensor::from([30.0f32, f32::NEG_INFINITY]);
/// assert_eq!(flex::nn::softplus(&x, 1.0, 20.0)?.to_vec::<f32>()?, [30.0, 0.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn softplus<'a, 'b, 'c>(
    x: impl Into<Arg<'a>>,
    beta: impl Into<Arg<'b>>,
    threshold: impl Into<Arg<'c>>,
) -> Result<Tensor> {
    apply(
        &rows::Softplus::ROW,
        [x.into(), beta.into(), threshold.into()],
    )
}

/// `x`, or 0 where it is from `-lambd` to `lambd`; torch's default is 0.5. Dtypes and errors as for
/// [`leaky_relu`].
///
/// ```
/// let x = flex::Tensor::from([1.0f32, -0.25]);
/// assert_eq!(flex::nn::hardshrink(&x, 0.5)?.to_vec::<f32>()?, [1.0, 0.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn hardshrink<'a, 'b>(x: impl Into<Arg<'a>>, lambd: impl Into<Arg<'b>>) -> Result<Tensor> {
    apply(&rows::Hardshrink::ROW, [x.into(), lambd.into()])
}

/// `x` moved towards 0 by `lambd`, or 0 where it would pass 0; torch's default is 0.5. Dtypes and
/// errors as for [`leaky_relu`]; also errors if a `lambd` is negative or NaN.
///
/// ```
/// let x = flex::Tensor::from([1.0f32, -0.25, -2.0]);
/// assert_eq!(flex::nn::softshrink(&x, 0.5)?.to_vec::<f32>()?, [0.5, 0.0, -1.5]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn softshrink<'a, 'b>(x: impl Into<Arg<'a>>, lambd: impl Into<Arg<'b>>) -> Result<Tensor> {
    let (x, lambd) = (x.into(), lambd.into());
    let backwards = |lambd: &Tensor| ops::logical_not(ops::greater_equal(lambd, 0)?);
    check::operand("softshrink", &x, "lambd", &lambd, backwards, "0 or more")?;
    apply(&rows::Softshrink::ROW, [x, lambd])
}

/// `x` where it is above `threshold`, else `value`. Integers stay integers if both numbers are
/// integers; otherwise like [`leaky_relu`].
///
/// ```
/// let x = flex::Tensor::from([1.0f32, 0.5]);
/// assert_eq!(flex::nn::threshold(&x, 0.5, -1.0)?.to_vec::<f32>()?, [1.0, -1.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn threshold<'a, 'b, 'c>(
    x: impl Into<Arg<'a>>,
    threshold: impl Into<Arg<'b>>,
    value: impl Into<Arg<'c>>,
) -> Result<Tensor> {
    apply(
        &rows::Threshold::ROW,
        [x.into(), threshold.into(), value.into()],
    )
}

/// Clamps `x` to `min_val` to `max_val`; torch's defaults are -1 and 1. Errors if `min_val` is above
/// `max_val`, or one is NaN, or `x` is complex.
///
/// ```
/// let x = flex::Tensor::from([1.5f32, 0.5, -3.0]);
/// assert_eq!(flex::nn::hardtanh(&x, -1.0, 1.0)?.to_vec::<f32>()?, [1.0, 0.5, -1.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn hardtanh<'a>(x: impl Into<Arg<'a>>, min_val: f64, max_val: f64) -> Result<Tensor> {
    const OP: &str = "hardtanh";
    in_order(OP, "min_val", min_val, "max_val", max_val)?;
    ops::clip(x, min_val, max_val).map_err(|e| e.named(OP))
}

fn in_order(op: &'static str, low: &str, a: f64, high: &str, b: f64) -> Result<()> {
    if a <= b {
        return Ok(());
    }
    Err(Error::value(
        op,
        message!("{low} is {a:?} and {high} is {b:?}; {low} must not be above {high}"),
    ))
}

/// The first half of `x` along an axis times the sigmoid of the second half (Dauphin et al. 2017).
///
/// Errors if the axis is out of range or has an odd size, or `x` is complex.
///
/// ```
/// let x = flex::Tensor::from([1.0f32, 2.0, f32::INFINITY, 0.0]);
/// assert_eq!(flex::nn::glu(&x, -1)?.to_vec::<f32>()?, [1.0, 1.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn glu(x: &Tensor, axis: impl Int) -> Result<Tensor> {
    glu_of(x, axis.wide())
}

fn glu_of(x: &Tensor, axis: isize) -> Result<Tensor> {
    const OP: &str = "glu";
    let k = layout::axis(OP, axis, x.rank())?;
    let n = x.shape()[k];
    if !n.is_multiple_of(2) {
        let message = message!("axis {axis} has the odd size {n}; it is cut in halves");
        return Err(Error::shape_of(OP, message, &[("x", x.shape(), x.dtype())]));
    }
    let (value, gate) = (
        x.narrow(k as isize, 0, n / 2)?,
        x.narrow(k as isize, n / 2, n / 2)?,
    );
    apply(&rows::Glu::ROW, [Arg::Ref(&value), Arg::Ref(&gate)])
}

/// [`softmax`](super::softmax) of `-x`, with its errors.
///
/// ```
/// let x = flex::Tensor::from([0.0f32, 1000.0]);
/// assert_eq!(flex::nn::softmin(&x, -1)?.to_vec::<f32>()?, [1.0, 0.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn softmin(x: &Tensor, axis: impl Int) -> Result<Tensor> {
    let axis = axis.wide();
    layout::axis("softmin", axis, x.rank())?;
    super::softmax(&ops::negative(x.astype(x.dtype().inexact())?)?, axis)
}

/// The options of [`gumbel_softmax`].
///
/// Example: [`gumbel_softmax`].
#[derive(Clone, Copy, Debug)]
pub struct Gumbel {
    /// The temperature, positive and finite.
    pub tau: f64,
    /// Whether the result is one-hot: 1 at the largest element of each line, 0 elsewhere.
    pub hard: bool,
    /// The axis whose lines are distributions.
    pub axis: isize,
    /// The seed of the noise.
    pub seed: u64,
}
impl Default for Gumbel {
    fn default() -> Gumbel {
        Gumbel {
            tau: 1.0,
            hard: false,
            axis: -1,
            seed: 0,
        }
    }
}

/// Relaxed samples of categorical distributions: `softmax((logits + noise) / tau)`, with
/// Gumbel-distributed noise (Jang et al. 2017; Maddison et al. 2017). An element's noise depends on
/// the seed and its row-major position alone.
///
/// Errors if `logits` is not a float tensor, the axis is out of range, or `tau` is not positive and
/// finite.
///
/// ```
/// use flex::{Tensor, nn};
/// let logits = Tensor::from([[0.0f32, 1000.0], [1000.0, 0.0]]);
/// let y = nn::gumbel_softmax(&logits, nn::Gumbel { hard: true, seed: 7, ..Default::default() })?;
/// assert_eq!(y.to_vec::<f32>()?, [0.0, 1.0, 1.0, 0.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn gumbel_softmax(logits: &Tensor, options: impl Into<Gumbel>) -> Result<Tensor> {
    gumbel_softmax_of(logits, options.into())
}

fn gumbel_softmax_of(logits: &Tensor, options: Gumbel) -> Result<Tensor> {
    const OP: &str = "gumbel_softmax";
    let Gumbel {
        tau,
        hard,
        axis,
        seed,
    } = options;
    let axis = layout::axis(OP, axis, logits.rank())?;
    let dtype = logits.dtype();
    if !dtype.is_float() || !dtype.is_available() || dtype.is_storage() {
        return Err(Error::unsupported(OP, dtype));
    }
    check::positive(OP, "tau", tau)?;
    let mut noise = Tensor::empty(logits.shape(), dtype.wide())?;
    draw::floats(OP, Transform::Gumbel, Stream::new(seed).into(), &mut noise)?;
    let scaled = ops::divide(ops::add(logits.astype(dtype.wide())?, noise)?, tau)?;
    if !hard {
        return super::softmax(&scaled, axis as isize)?.into_dtype(dtype);
    }
    let largest = ops::argmax(&scaled, Axes::from(axis as isize).keepdims())?;
    let one = ops::ones(largest.shape(), dtype)?;
    ops::scatter(
        &Tensor::zeros(logits.shape(), dtype)?,
        &largest,
        &one,
        axis as isize,
        ops::ScatterMode::Set,
    )
}
