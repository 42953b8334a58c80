//! Gradients of softmax and log_softmax.

use super::{common_float, expect_shape};
use crate::dtype::{Element, Pod};
use crate::error::{Error, Result};
use crate::exec::lines::{Line, Lines};
use crate::kernel::gemm::MatElement;
use crate::kernel::math::Real;
use crate::kernel::norm::{CHUNK, gradient, load, store};
use crate::layout::{self, Int};
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
pub fn softmax(grad: &Tensor, y: &Tensor, axis: impl Int) -> Result<Tensor> {
    softmax_of(grad, y, axis.wide())
}

fn softmax_of(grad: &Tensor, y: &Tensor, axis: isize) -> Result<Tensor> {
    const OP: &str = "grad.softmax";
    struct Softmax;
    impl Gradient for Softmax {
        fn rows<F: Real>(n: usize, g: &[F], y: &[F], d: &mut [F]) {
            gradient::softmax(n, g, y, d)
        }
        fn columns<F: Real>(n: usize, g: &[F], y: &[F], d: &mut [F]) {
            gradient::softmax_of_columns(n, g, y, d)
        }
    }
    lines::<Softmax>(OP, grad, y, axis)
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
pub fn log_softmax(grad: &Tensor, y: &Tensor, axis: impl Int) -> Result<Tensor> {
    log_softmax_of(grad, y, axis.wide())
}

fn log_softmax_of(grad: &Tensor, y: &Tensor, axis: isize) -> Result<Tensor> {
    const OP: &str = "grad.log_softmax";
    struct LogSoftmax;
    impl Gradient for LogSoftmax {
        fn rows<F: Real>(n: usize, g: &[F], y: &[F], d: &mut [F]) {
            gradient::log_softmax(n, g, y, d)
        }
        fn columns<F: Real>(n: usize, g: &[F], y: &[F], d: &mut [F]) {
            gradient::log_softmax_of_columns(n, g, y, d)
        }
    }
    lines::<LogSoftmax>(OP, grad, y, axis)
}

/// The gradients of lines of `n` elements, rows or columns, from the result `y` and its gradient
/// `g`.
trait Gradient {
    fn rows<F: Real>(n: usize, g: &[F], y: &[F], d: &mut [F]);
    fn columns<F: Real>(n: usize, g: &[F], y: &[F], d: &mut [F]);
}

fn lines<R: Gradient>(op: &'static str, grad: &Tensor, y: &Tensor, axis: isize) -> Result<Tensor> {
    expect_shape(op, grad, y.shape(), ("y", y))?;
    let axis = layout::axis(op, axis, y.rank())?;
    let dtype = common_float(op, &[grad, y])?;
    let (g, y) = (grad.astype(dtype)?, y.astype(dtype)?);
    dispatch!(floating dtype, |T| of_lines::<T, R>(&g, &y, axis), else Err(Error::unsupported(op, dtype)))
}

fn of_lines<T, R: Gradient>(g: &Tensor, y: &Tensor, axis: usize) -> Result<Tensor>
where
    T: Element + Pod + MatElement,
    T::Acc: Element + Pod + Real + MatElement<Acc = T::Acc>,
{
    let mut d = Tensor::empty(y.shape(), T::DTYPE)?;
    let n = y.shape().get(axis).copied().unwrap_or(1).max(1);
    let cost = Cost {
        bytes: 3 * n * size_of::<T>(),
        flops: 16 * n,
    };
    let gradient = |line: &Line<'_>, g: &[T::Acc], y: &[T::Acc], d: &mut [T::Acc]| {
        if line.columns() {
            R::columns(n, g, y, d)
        } else {
            R::rows(n, g, y, d)
        }
    };
    let lines = Lines::new(y.shape(), axis)
        .together()
        .columns(CHUNK)
        .input(g.elements())
        .input(y.elements())
        .output(d.elements_mut()?);
    if T::SAME {
        lines.run(cost, |line| {
            gradient(line, line.input(0), line.input(1), line.output(0))
        })?;
    } else {
        let lines = (0..3).fold(lines, |lines, _| lines.scratch(n, T::Acc::DTYPE));
        lines.run(cost, |line| {
            let (g, y, d) = (line.scratch(0), line.scratch(1), line.scratch(2));
            load::<T>(line.input(0), g);
            load::<T>(line.input(1), y);
            gradient(line, g, y, d);
            store::<T>(d, line.output(0));
        })?;
    }
    Ok(d)
}
