//! Vectors divided by their norm, and local response normalisation.

use super::check;
use super::distance::power;
use super::rows::normalize as normalize_rows;
use crate::dtype::Element;
use crate::error::{Error, Result};
use crate::exec::failure::try_chunks;
use crate::fallible;
use crate::kernel::gemm::MatElement;
use crate::kernel::math::Real;
use crate::kernel::norm;
use crate::kernel::norm::local::{self, Divisor};
use crate::layout;
use crate::par::{Cost, Out};
use crate::tensor::Tensor;
use alloc::vec::Vec;

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
/// Errors if `x` is not a float tensor, the axis is out of range, `p` is negative or NaN, or `eps`
/// is negative or not finite.
///
/// ```
/// use flex::{Tensor, nn};
/// let x = Tensor::from([[3.0f32, 4.0], [0.0, 0.0]]);
/// assert_eq!(nn::normalize(&x, ())?.to_vec::<f32>()?, [0.6, 0.8, 0.0, 0.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn normalize(x: &Tensor, options: impl Into<Length>) -> Result<Tensor> {
    normalize_of(x, options.into())
}

fn normalize_of(x: &Tensor, options: Length) -> Result<Tensor> {
    const OP: &str = "normalize";
    let Length { p, axis, eps } = options;
    let axis = layout::axis(OP, axis, x.rank())?;
    let power = power(OP, p)?;
    check::eps(OP, eps)?;
    dispatch!(floating x.dtype(), |T| {
        let by = norm::Normalize::new::<<T as MatElement>::Acc>(power, eps);
        normalize_rows::<T, _>(x, axis, &by)
    }, else Err(Error::unsupported(OP, x.dtype())))
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
pub fn local_response_norm(
    x: &Tensor,
    size: usize,
    options: impl Into<LocalResponse>,
) -> Result<Tensor> {
    local_response_norm_of(x, size, options.into())
}

fn local_response_norm_of(x: &Tensor, size: usize, options: LocalResponse) -> Result<Tensor> {
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
    let (dtype, wide) = (x.dtype(), x.dtype().wide());
    let x = x.astype(wide)?;
    // with the layout of `x`
    let mut y = Tensor::empty_result(x.shape(), core::iter::once(&x), wide)?;
    dispatch!(float wide, |F| {
        let by = Divisor { scale: (alpha / size as f64) as F, k: k as F, beta: beta as F };
        match y.is_contiguous() {
            true => by_neighbours(&x.contiguous()?, size, by, &mut y)?,
            false => {
                let mut rows = Tensor::empty(x.shape(), wide)?;
                by_neighbours(&x.contiguous()?, size, by, &mut rows)?;
                y.copy_from(&rows)?
            }
        }
    }, else return Err(Error::unsupported(OP, dtype)));
    y.into_dtype(dtype)
}

/// Divides elements by what follows from `size` neighbouring channels; both tensors are row-major.
/// A thread takes a block of positions through all channels, with the squares of those around.
fn by_neighbours<F: Real + Element>(
    x: &Tensor,
    size: usize,
    by: Divisor<F>,
    y: &mut Tensor,
) -> Result<()> {
    /// Positions of a block, at most: a few lines of squares fit in L1.
    const BLOCK: usize = 1024;
    if x.is_empty() {
        return Ok(());
    }
    let (batch, channels) = (x.shape()[0], x.shape()[1]);
    let positions = x.len() / (batch * channels);
    let (before, behind) = ((size / 2).min(channels), ((size - 1) / 2).min(channels));
    let window = before + behind + 1;
    let blocks = positions.div_ceil(BLOCK);
    let block = positions.div_ceil(blocks);
    let len = window.checked_mul(block);
    let len = len.ok_or_else(|| Error::memory::<F>(usize::MAX))?;
    let cost = Cost {
        bytes: 2 * channels * block * size_of::<F>(),
        flops: channels * block * window.saturating_add(32),
    };
    let x = x.as_slice::<F>()?;
    let out = Out::new(y.as_mut_slice::<F>()?);
    try_chunks(batch * blocks, cost, |task| {
        let image = task / blocks * channels * positions;
        let first = (task % blocks * block).min(positions);
        let range = first..positions.min(first + block);
        let row = |c: usize| image + c * positions + range.start..image + c * positions + range.end;
        let mut lines: Vec<F> = fallible::filled(F::ZERO, len)?;
        let lines = &mut lines[..window * range.len()];
        for next in 0..channels + behind {
            // the squares of the channel that comes into the window replace the oldest
            let line = &mut lines[next % window * range.len()..][..range.len()];
            match next < channels {
                true => local::squares(&x[row(next)], line),
                false => line.fill(F::ZERO),
            }
            if let Some(c) = next.checked_sub(behind) {
                // SAFETY: OUT1: a task's positions are its own.
                local::divide(&x[row(c)], lines, by, unsafe { out.part(row(c)) });
            }
        }
        Ok(())
    })
}
