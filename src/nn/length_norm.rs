//! Vectors divided by their norm, and local response normalisation.

use super::check;
use super::distance::power;
use super::rows::normalize as normalize_rows;
use crate::error::{Error, Result};
use crate::kernel::elementwise::rows;
use crate::kernel::norm;
use crate::layout;
use crate::ops::formula::Formula;
use crate::ops::{self};
use crate::tensor::Tensor;

/// The options of [`normalize`].
///
/// ```
/// use flex::{Tensor, nn};
/// let x = Tensor::from([[1.0f32, 4.0], [-2.0, 2.0]]);
/// let largest = nn::Length { p: f64::INFINITY, axis: 0, ..Default::default() };
/// assert_eq!(nn::normalize(&x, largest)?.to_vec::<f32>()?, [0.5, 1.0, -1.0, 0.5]);
/// # Ok::<(), flex::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Length {
    /// The order of the norm: 2 for the Euclidean norm, infinity for the maximum norm.
    pub p: f64,
    /// The axis along which vectors lie.
    pub axis: isize,
    /// The lower bound of the divisor.
    pub eps: f64,
}
impl Default for Length {
    fn default() -> Length {
        Length {
            p: 2.0,
            axis: 1,
            eps: 1e-12,
        }
    }
}

/// `x / max(norm, eps)`, with the norm `sum(|x|^p)^(1/p)` of each vector along an axis.
///
/// Errors if `x` is not a float tensor, the axis is out of range, `p` is negative or NaN, or `eps` is
/// negative or not finite.
///
/// ```
/// use flex::{Tensor, nn};
/// let x = Tensor::from([[3.0f32, 4.0], [0.0, 0.0]]);
/// assert_eq!(nn::normalize(&x, Default::default())?.to_vec::<f32>()?, [0.6, 0.8, 0.0, 0.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn normalize(x: &Tensor, options: Length) -> Result<Tensor> {
    const OP: &str = "normalize";
    let Length { p, axis, eps } = options;
    let axis = layout::axis(OP, axis, x.rank())?;
    let power = power(OP, p)?;
    check::eps(OP, eps)?;
    let by = norm::Normalize { power, eps };
    dispatch!(floating x.dtype(), |T| normalize_rows::<T, _>(x, axis, &by), else Err(Error::unsupported(OP, x.dtype())))
}

/// The parameters of [`local_response_norm`].
///
/// Example: [`local_response_norm`].
#[derive(Clone, Copy, Debug)]
pub struct LocalResponse {
    /// The factor of the mean square.
    pub alpha: f64,
    /// The exponent.
    pub beta: f64,
    /// Added before the power.
    pub k: f64,
}
impl Default for LocalResponse {
    fn default() -> LocalResponse {
        LocalResponse {
            alpha: 1e-4,
            beta: 0.75,
            k: 1.0,
        }
    }
}

/// `x / (k + alpha * mean(squares of size neighbouring channels))^beta`, with zeros beyond the
/// first and last channel (Krizhevsky et al. 2012, as torch computes it). `x` is `[batch, channels,
/// ..]`.
///
/// Errors if `x` is not a float tensor or has fewer than two axes, `size` is 0, or an option is not
/// finite.
///
/// ```
/// use flex::{Tensor, nn};
/// let x = Tensor::from([[1.0f32, 3.0]]);
/// let of = nn::LocalResponse { alpha: 1.0, beta: 1.0, k: 0.0 };
/// assert_eq!(nn::local_response_norm(&x, 2, of)?.to_vec::<f32>()?, [2.0, 0.6]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn local_response_norm(x: &Tensor, size: usize, options: LocalResponse) -> Result<Tensor> {
    const OP: &str = "local_response_norm";
    let LocalResponse { alpha, beta, k } = options;
    let operands = [("x", x.shape(), x.dtype())];
    if !x.dtype().is_float() {
        return Err(Error::unsupported(OP, x.dtype()));
    }
    if x.rank() < 2 {
        let message = "x must have the shape [batch, channels, ..]";
        return Err(Error::shape_of(OP, message, &operands));
    }
    if size == 0 {
        return Err(Error::value(OP, "size is 0; it must be at least 1"));
    }
    for (name, value) in [("alpha", alpha), ("beta", beta), ("k", k)] {
        check::finite(OP, name, value)?;
    }
    let mut f = Formula::new(OP, &[x.shape()], x.dtype())?;
    let v = f.input(x)?;
    let square = f.binary(&rows::Multiply::ROW, v, v)?;
    let squares = f.write(square, x.dtype().wide())?;
    let mut widths = alloc::vec![(0, 0); x.rank()];
    widths[1] = (size / 2, (size - 1) / 2);
    let windows = ops::pad(&squares, &widths, 0.0)?.unfold(1, size, 1)?;
    let sums = ops::sum(&windows, -1)?;
    let mut f = Formula::new(OP, &[x.shape()], x.dtype())?;
    let (v, sum) = (f.input(x)?, f.input(&sums)?);
    let scaled = f.binary(&rows::Multiply::ROW, sum, alpha / size as f64)?;
    let size = f.binary(&rows::Add::ROW, scaled, k)?;
    let divisor = f.binary(&rows::Pow::ROW, size, beta)?;
    let y = f.binary(&rows::Divide::ROW, v, divisor)?;
    f.write(y, x.dtype())
}
