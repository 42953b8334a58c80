//! Gradients of softmax and log_softmax.

use super::{common_float, expect_shape};
use crate::error::{Error, Result};
use crate::exec::lines::Lines;
use crate::kernel::math::Real;
use crate::kernel::norm::gradient;
use crate::layout;
use crate::par::Cost;
use crate::tensor::Tensor;

/// The gradient of [`softmax`](crate::nn::softmax), from its result `y`: `y * (grad - sum(grad *
/// y))` along the axis.
///
/// Errors if `grad` and `y` differ in shape or have no common float dtype, or the axis is out of
/// range.
///
/// ```
/// use flex::{Tensor, nn};
/// let y = nn::softmax(&Tensor::from_slice(&[0.0f32, 0.0], [2])?, -1)?;
/// let grad = Tensor::from_slice(&[1.0f32, 0.0], [2])?;
/// assert_eq!(nn::grad::softmax(&grad, &y, -1)?.to_vec::<f32>()?, [0.25, -0.25]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn softmax(grad: &Tensor, y: &Tensor, axis: isize) -> Result<Tensor> {
    const OP: &str = "grad.softmax";
    struct Rule;
    impl RowGradient for Rule {
        fn rows<F: Real>(n: usize, g: &[F], y: &[F], d: &mut [F]) {
            gradient::softmax(n, g, y, d)
        }
    }
    lines::<Rule>(OP, grad, y, axis)
}

/// The gradient of [`log_softmax`](crate::nn::log_softmax), from its result `y`: `grad - exp(y) *
/// sum(grad)` along the axis. Errors as for [`softmax`].
///
/// ```
/// use flex::{Tensor, nn};
/// let y = nn::log_softmax(&Tensor::from_slice(&[0.0f32, 0.0], [2])?, -1)?;
/// let grad = Tensor::from_slice(&[1.0f32, 0.0], [2])?;
/// assert_eq!(nn::grad::log_softmax(&grad, &y, -1)?.to_vec::<f32>()?, [0.5, -0.5]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn log_softmax(grad: &Tensor, y: &Tensor, axis: isize) -> Result<Tensor> {
    const OP: &str = "grad.log_softmax";
    struct Rule;
    impl RowGradient for Rule {
        fn rows<F: Real>(n: usize, g: &[F], y: &[F], d: &mut [F]) {
            gradient::log_softmax(n, g, y, d)
        }
    }
    lines::<Rule>(OP, grad, y, axis)
}

/// The gradients of rows of `n` elements, from the result `y` and its gradient `g`.
trait RowGradient {
    fn rows<F: Real>(n: usize, g: &[F], y: &[F], d: &mut [F]);
}

fn lines<R: RowGradient>(
    op: &'static str,
    grad: &Tensor,
    y: &Tensor,
    axis: isize,
) -> Result<Tensor> {
    expect_shape(op, grad, y.shape(), ("y", y))?;
    let axis = layout::axis(op, axis, y.rank())?;
    let dtype = common_float(op, &[grad, y])?;
    let wide = dtype.wide();
    let (g, y) = (grad.astype(wide)?, y.astype(wide)?);
    let mut d = Tensor::empty(y.shape(), wide)?;
    let n = y.shape().get(axis).copied().unwrap_or(1).max(1);
    let cost = Cost {
        bytes: 3 * n * wide.size(),
        flops: 16 * n,
    };
    dispatch!(float wide, |F| {
        Lines::new(y.shape(), axis)
            .input(g.elements())
            .input(y.elements())
            .output(d.elements_mut()?)
            .together()
            .run(cost, |line| R::rows::<F>(n, line.input(0), line.input(1), line.output(0)))
    }, else Err(Error::unsupported(op, wide)))?;
    d.into_dtype(dtype)
}
