//! Normalisation over the last dimensions.

use super::rows::normalize;
use crate::dtype::{DType, Element};
use crate::error::{Error, Result};
use crate::kernel::norm;
use crate::layout::IntoShape;
use crate::tensor::Tensor;

/// `(x - mean) / sqrt(var + eps) * weight + bias`, mean and variance taken over the last
/// dimensions, `normalized_shape`; `weight` and `bias` have that shape.
///
/// Errors where the last dimensions of `x`, or the shapes of `weight` or `bias`, are others, or `x`
/// is no float.
///
/// ```
/// use flex::{Tensor, nn};
/// let x = Tensor::from_slice(&[1.0f32, 3.0, -5.0, 5.0], [2, 2])?;
/// assert_eq!(nn::layer_norm(&x, 2, None, None, 0.0)?.to_vec::<f32>()?, [-1.0, 1.0, -1.0, 1.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn layer_norm(
    x: &Tensor,
    normalized_shape: impl IntoShape,
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    eps: f64,
) -> Result<Tensor> {
    layer_norm_of(x, normalized_shape.into_shape().as_ref(), weight, bias, eps)
}

fn layer_norm_of(
    x: &Tensor,
    normalized_shape: &[usize],
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    eps: f64,
) -> Result<Tensor> {
    const OP: &str = "layer_norm";
    let (rows, wide) = rows(OP, x, normalized_shape)?;
    let (weight, bias) = (
        parameter(OP, "weight", weight, normalized_shape, wide)?,
        parameter(OP, "bias", bias, normalized_shape, wide)?,
    );
    let y = dispatch!(floating x.dtype(), |T| {
        let (weight, bias) = (slice(&weight)?, slice(&bias)?);
        normalize::<T, _>(&rows, 1, &norm::LayerNorm { weight, bias, eps })
    }, else Err(Error::unsupported(OP, x.dtype())))?;
    y.reshape(x.shape())
}

/// `x / sqrt(mean(x * x) + eps) * weight`, the mean taken over the last dimensions,
/// `normalized_shape`; `weight` has that shape. `eps` is the dtype's distance from 1 to the next
/// number where it is not given.
///
/// Errors where the last dimensions of `x`, or the shape of `weight`, are others, or `x` is no
/// float.
///
/// ```
/// use flex::{Tensor, nn};
/// let x = Tensor::from_slice(&[3.0f32, 4.0, 0.0, 0.0], [4])?;
/// assert_eq!(nn::rms_norm(&x, 4, None, Some(0.0))?.to_vec::<f32>()?, [1.2, 1.6, 0.0, 0.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn rms_norm(
    x: &Tensor,
    normalized_shape: impl IntoShape,
    weight: Option<&Tensor>,
    eps: Option<f64>,
) -> Result<Tensor> {
    rms_norm_of(x, normalized_shape.into_shape().as_ref(), weight, eps)
}

fn rms_norm_of(
    x: &Tensor,
    normalized_shape: &[usize],
    weight: Option<&Tensor>,
    eps: Option<f64>,
) -> Result<Tensor> {
    const OP: &str = "rms_norm";
    let (rows, wide) = rows(OP, x, normalized_shape)?;
    let weight = parameter(OP, "weight", weight, normalized_shape, wide)?;
    let eps = eps.unwrap_or(epsilon(x.dtype()));
    let y = dispatch!(floating x.dtype(), |T| {
        let weight = slice(&weight)?;
        normalize::<T, _>(&rows, 1, &norm::RmsNorm { weight, eps })
    }, else Err(Error::unsupported(OP, x.dtype())))?;
    y.reshape(x.shape())
}

/// The distance from 1 to the next number.
pub(super) fn epsilon(dtype: DType) -> f64 {
    match dtype {
        DType::F64 => f64::EPSILON,
        DType::F16 => 1.0 / 1024.0,
        DType::BF16 => 1.0 / 128.0,
        _ => f32::EPSILON as f64,
    }
}

/// `x` as rows to normalise, and the dtype that is computed in.
pub(super) fn rows(
    op: &'static str,
    x: &Tensor,
    normalized_shape: &[usize],
) -> Result<(Tensor, DType)> {
    if normalized_shape.is_empty() || !x.shape().ends_with(normalized_shape) {
        let message = message!("the last dimensions are not normalized_shape {normalized_shape:?}");
        return Err(Error::shape_of(op, message, &[("x", x.shape(), x.dtype())]));
    }
    let n: usize = normalized_shape.iter().product();
    let lead: usize = x.shape()[..x.rank() - normalized_shape.len()]
        .iter()
        .product();
    Ok((x.reshape((lead, n))?, x.dtype().wide()))
}

/// Weight or bias in the dtype that is computed in, contiguous.
pub(super) fn parameter(
    op: &'static str,
    name: &'static str,
    t: Option<&Tensor>,
    shape: &[usize],
    wide: DType,
) -> Result<Option<Tensor>> {
    let Some(t) = t else { return Ok(None) };
    if t.shape() != shape {
        return Err(Error::shape_of(
            op,
            message!("{name} is not of normalized_shape {shape:?}"),
            &[(name, t.shape(), t.dtype())],
        ));
    }
    Ok(Some(t.astype(wide)?.contiguous()?))
}

fn slice<F: Element>(t: &Option<Tensor>) -> Result<Option<&[F]>> {
    t.as_ref().map(|t| t.as_slice::<F>()).transpose()
}
