//! Softmax and log_softmax.

use super::rows::{normalize, normalize_into};
use crate::error::{Error, Result};
use crate::kernel::norm;
use crate::layout::{self, Int};
use crate::ops::methods::method;
use crate::tensor::Tensor;

method!(
    /// `exp(x) / sum(exp(x))` along an axis, without overflow. A line of minus infinities gives
    /// NaN. Integers are converted to the default float.
    ///
    /// Errors if the axis is out of range or the dtype is complex.
    ///
    /// ```
    /// use flex::{Tensor, nn};
    /// let x = Tensor::from([[0.0f32, 0.0], [1000.0, 1000.0]]);
    /// assert_eq!(x.softmax(-1)?.to_vec::<f32>()?, [0.5; 4]);
    /// assert_eq!(nn::softmax(&x, 0)?.to_vec::<f32>()?, [0.0, 0.0, 1.0, 1.0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[doc(alias("softmax_last_dim"))]
    pub fn softmax(x: &Tensor, axis: impl Int) -> Result<Tensor> {
        softmax_of(x, axis.wide())
    }
);

fn softmax_of(x: &Tensor, axis: isize) -> Result<Tensor> {
    const OP: &str = "softmax";
    let (x, axis) = floats(OP, x, axis)?;
    dispatch!(floating x.dtype(), |T| normalize::<T, _>(&x, axis, &norm::Softmax), else Err(Error::unsupported(OP, x.dtype())))
}

/// [`softmax`] into a tensor of the result's shape and dtype, reusing its storage unless that is
/// shared. Also errors if shape or dtype differ.
///
/// ```
/// use flex::{DType, Tensor, nn};
/// let x = Tensor::from_slice(&[1.0f32, 1.0], [2])?;
/// let mut y = Tensor::zeros(&[2], DType::F32)?;
/// nn::softmax_into(&x, 0, &mut y)?;
/// assert_eq!(y.to_vec::<f32>()?, [0.5, 0.5]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn softmax_into(x: &Tensor, axis: impl Int, out: &mut Tensor) -> Result<()> {
    softmax_into_of(x, axis.wide(), out)
}

fn softmax_into_of(x: &Tensor, axis: isize, out: &mut Tensor) -> Result<()> {
    const OP: &str = "softmax";
    let (x, axis) = floats(OP, x, axis)?;
    if !x.dtype().is_float() || !x.dtype().is_available() {
        return Err(Error::unsupported(OP, x.dtype()));
    }
    out.make_result(OP, x.shape(), x.dtype())?;
    dispatch!(floating x.dtype(), |T| normalize_into::<T, _>(&x, axis, &norm::Softmax, out), else Err(Error::unsupported(OP, x.dtype())))
}

method!(
    /// `x - log(sum(exp(x)))` along an axis, without overflow or cancellation: the logarithm of
    /// [`softmax`]. Integers are converted to the default float.
    ///
    /// Errors if the axis is out of range or the dtype is complex.
    ///
    /// ```
    /// use flex::{Tensor, nn};
    /// let x = Tensor::from([0.0f32, -1000.0]);
    /// assert_eq!(x.log_softmax(-1)?.to_vec::<f32>()?, [0.0, -1000.0]);
    /// assert_eq!(nn::log_softmax(&x, 0)?.to_vec::<f32>()?, [0.0, -1000.0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn log_softmax(x: &Tensor, axis: impl Int) -> Result<Tensor> {
        log_softmax_of(x, axis.wide())
    }
);

fn log_softmax_of(x: &Tensor, axis: isize) -> Result<Tensor> {
    const OP: &str = "log_softmax";
    let (x, axis) = floats(OP, x, axis)?;
    dispatch!(floating x.dtype(), |T| normalize::<T, _>(&x, axis, &norm::LogSoftmax), else Err(Error::unsupported(OP, x.dtype())))
}

/// The operand as floats, and the axis counted from the front.
fn floats(op: &'static str, x: &Tensor, axis: isize) -> Result<(Tensor, usize)> {
    let axis = layout::axis(op, axis, x.rank())?;
    Ok((x.astype(x.dtype().inexact())?, axis))
}
