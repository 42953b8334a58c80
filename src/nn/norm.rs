//! Normalisation over the last dimensions.

use super::check;
use super::rows::{add_and_normalize, normalize};
use crate::dtype::{DType, Element, Pod};
use crate::error::{Error, Result};
use crate::kernel::gemm::MatElement;
use crate::kernel::math::Real;
use crate::kernel::norm::{self, RowNorm};
use crate::layout::IntoShape;
use crate::tensor::Tensor;

/// The options of [`layer_norm`] and [`add_layer_norm`], and of the
/// [gradient](crate::nn::grad::layer_norm).
///
/// ```
/// use flex::{Tensor, nn};
/// let (x, bias) = (Tensor::from([[1.0f32, 3.0]]), Tensor::from([10.0f32, 20.0]));
/// let shifted = nn::LayerNorm { bias: Some(&bias), eps: 0.0, ..Default::default() };
/// assert_eq!(nn::layer_norm(&x, 2, shifted)?.to_vec::<f32>()?, [9.0, 21.0]);
/// # Ok::<(), flex::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct LayerNorm<'a> {
    /// A factor for each element, in the shape that is normalised. Default: none.
    pub weight: Option<&'a Tensor>,
    /// Added to each element, in the same shape. Default: none.
    pub bias: Option<&'a Tensor>,
    /// Added to the variance. Default: 1e-5.
    pub eps: f64,
}
impl Default for LayerNorm<'_> {
    fn default() -> Self {
        LayerNorm {
            weight: None,
            bias: None,
            eps: 1e-5,
        }
    }
}

/// `(x - mean) / sqrt(var + eps) * weight + bias`, with mean and variance over the last dimensions,
/// `normalized_shape`; weight and bias have that shape (Ba et al. 2016). The result has the shape
/// and dtype of `x`; 16-bit floats are computed in float32 and rounded once.
///
/// Errors if the last dimensions of `x`, or the shapes of weight or bias, differ from it, if `eps` is
/// negative or not finite, or if `x` is not a float tensor.
///
/// ```
/// use flex::{Tensor, nn};
/// let x = Tensor::from_slice(&[1.0f32, 3.0, -5.0, 5.0], [2, 2])?;
/// let exact = nn::LayerNorm { eps: 0.0, ..Default::default() };
/// assert_eq!(nn::layer_norm(&x, 2, exact)?.to_vec::<f32>()?, [-1.0, 1.0, -1.0, 1.0]);
/// # Ok::<(), flex::Error>(())
/// ```
#[doc(alias("layer_norm_slow"))]
pub fn layer_norm<'a>(
    x: &Tensor,
    normalized_shape: impl IntoShape,
    options: impl Into<LayerNorm<'a>>,
) -> Result<Tensor> {
    let shape = normalized_shape.into_shape();
    Ok(layer_norm_of(x, None, shape.as_ref(), options.into())?.0)
}

/// `x + residual`, and its [`layer_norm`], computed while the sum is in cache: returns the
/// normalised sum and the sum. `residual` has the shape and dtype of `x`.
///
/// Errors like `layer_norm`, and if `residual` has another shape or dtype.
///
/// ```
/// use flex::{Tensor, nn};
/// let (x, residual) = (Tensor::from([1.0f32, 1.0]), Tensor::from([0.0f32, 2.0]));
/// let exact = nn::LayerNorm { eps: 0.0, ..Default::default() };
/// let (y, sum) = nn::add_layer_norm(&x, &residual, 2, exact)?;
/// assert_eq!((y.to_vec::<f32>()?, sum.to_vec::<f32>()?), (vec![-1.0, 1.0], vec![1.0, 3.0]));
/// # Ok::<(), flex::Error>(())
/// ```
pub fn add_layer_norm<'a>(
    x: &Tensor,
    residual: &Tensor,
    normalized_shape: impl IntoShape,
    options: impl Into<LayerNorm<'a>>,
) -> Result<(Tensor, Tensor)> {
    let shape = normalized_shape.into_shape();
    let (y, sum) = layer_norm_of(x, Some(residual), shape.as_ref(), options.into())?;
    Ok((y, sum.unwrap_or_default()))
}

fn layer_norm_of(
    x: &Tensor,
    residual: Option<&Tensor>,
    normalized_shape: &[usize],
    options: LayerNorm,
) -> Result<(Tensor, Option<Tensor>)> {
    const OP: &str = "layer_norm";
    let LayerNorm { weight, bias, eps } = options;
    check::eps(OP, eps)?;
    let (rows, wide) = rows(OP, x, normalized_shape)?;
    let (weight, bias) = (
        parameter(OP, "weight", weight, x, normalized_shape, wide)?,
        parameter(OP, "bias", bias, x, normalized_shape, wide)?,
    );
    dispatch!(floating x.dtype(), |T| {
        let (weight, bias) = (slice(&weight)?, slice(&bias)?);
        normalized::<T, _>(OP, x, &rows, residual, &norm::LayerNorm { weight, bias, eps })
    }, else Err(Error::unsupported(OP, x.dtype())))
}

/// The options of [`rms_norm`] and [`add_rms_norm`], and of the
/// [gradient](crate::nn::grad::rms_norm).
///
/// ```
/// use flex::{Tensor, nn};
/// let (x, weight) = (Tensor::from([[2.0f32, -2.0]]), Tensor::from([1.0f32, 5.0]));
/// let scaled = nn::RmsNorm { weight: Some(&weight), eps: Some(0.0) };
/// assert_eq!(nn::rms_norm(&x, 2, scaled)?.to_vec::<f32>()?, [1.0, -5.0]);
/// # Ok::<(), flex::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct RmsNorm<'a> {
    /// A factor for each element, in the shape that is normalised. Default: none.
    pub weight: Option<&'a Tensor>,
    /// Added to the mean square. Default: the machine epsilon of the dtype.
    pub eps: Option<f64>,
}

/// `x / sqrt(mean(x * x) + eps) * weight`, with the mean over the last dimensions,
/// `normalized_shape`; the weight has that shape (Zhang and Sennrich 2019). The result has the
/// shape and dtype of `x`; 16-bit floats are computed in float32 and rounded once.
///
/// Errors if the last dimensions of `x`, or the shape of the weight, differ from it, if `eps` is
/// negative or not finite, or if `x` is not a float tensor.
///
/// ```
/// use flex::{Tensor, nn};
/// let x = Tensor::from_slice(&[3.0f32, 4.0, 0.0, 0.0], [4])?;
/// let exact = nn::RmsNorm { eps: Some(0.0), ..Default::default() };
/// assert_eq!(nn::rms_norm(&x, 4, exact)?.to_vec::<f32>()?, [1.2, 1.6, 0.0, 0.0]);
/// # Ok::<(), flex::Error>(())
/// ```
#[doc(alias("rms_norm_slow"))]
pub fn rms_norm<'a>(
    x: &Tensor,
    normalized_shape: impl IntoShape,
    options: impl Into<RmsNorm<'a>>,
) -> Result<Tensor> {
    let shape = normalized_shape.into_shape();
    Ok(rms_norm_of(x, None, shape.as_ref(), options.into())?.0)
}

/// `x + residual`, and its [`rms_norm`], like [`add_layer_norm`].
///
/// ```
/// use flex::{Tensor, nn};
/// let (x, residual) = (Tensor::from([1.0f32, 1.0]), Tensor::from([1.0f32, -3.0]));
/// let exact = nn::RmsNorm { eps: Some(0.0), ..Default::default() };
/// let (y, sum) = nn::add_rms_norm(&x, &residual, 2, exact)?;
/// assert_eq!((y.to_vec::<f32>()?, sum.to_vec::<f32>()?), (vec![1.0, -1.0], vec![2.0, -2.0]));
/// # Ok::<(), flex::Error>(())
/// ```
pub fn add_rms_norm<'a>(
    x: &Tensor,
    residual: &Tensor,
    normalized_shape: impl IntoShape,
    options: impl Into<RmsNorm<'a>>,
) -> Result<(Tensor, Tensor)> {
    let shape = normalized_shape.into_shape();
    let (y, sum) = rms_norm_of(x, Some(residual), shape.as_ref(), options.into())?;
    Ok((y, sum.unwrap_or_default()))
}

fn rms_norm_of(
    x: &Tensor,
    residual: Option<&Tensor>,
    normalized_shape: &[usize],
    options: RmsNorm,
) -> Result<(Tensor, Option<Tensor>)> {
    const OP: &str = "rms_norm";
    let RmsNorm { weight, eps } = options;
    let eps = eps.unwrap_or(epsilon(x.dtype()));
    check::eps(OP, eps)?;
    let (rows, wide) = rows(OP, x, normalized_shape)?;
    let weight = parameter(OP, "weight", weight, x, normalized_shape, wide)?;
    dispatch!(floating x.dtype(), |T| {
        let weight = slice(&weight)?;
        normalized::<T, _>(OP, x, &rows, residual, &norm::RmsNorm { weight, eps })
    }, else Err(Error::unsupported(OP, x.dtype())))
}

/// Normalises the rows of `x`, in its shape; with a residual, those of the sum, which is returned
/// too.
fn normalized<T, N>(
    op: &'static str,
    x: &Tensor,
    rows: &Tensor,
    residual: Option<&Tensor>,
    norm: &N,
) -> Result<(Tensor, Option<Tensor>)>
where
    T: Element + Pod + MatElement,
    T::Acc: Element + Pod + Real + MatElement<Acc = T::Acc>,
    N: RowNorm<T::Acc>,
{
    let Some(r) = residual else {
        let y = normalize::<T, N>(rows, 1, norm)?;
        return Ok((y.reshape(x.shape())?, None));
    };
    if (r.shape(), r.dtype()) != (x.shape(), x.dtype()) {
        let operands = [
            ("x", x.shape(), x.dtype()),
            ("residual", r.shape(), r.dtype()),
        ];
        let message = "residual must have the shape and dtype of x";
        return Err(Error::shape_of(op, message, &operands));
    }
    let (y, sum) = add_and_normalize::<T, N>(rows, &r.reshape(rows.shape())?, 1, norm)?;
    Ok((y.reshape(x.shape())?, Some(sum.reshape(x.shape())?)))
}

/// The machine epsilon: the distance from 1 to the next number.
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
        let message =
            message!("normalized_shape is {normalized_shape:?}; it must be the last sizes of x");
        return Err(Error::shape_of(op, message, &[("x", x.shape(), x.dtype())]));
    }
    let n: usize = normalized_shape.iter().product();
    let lead: usize = x.shape()[..x.rank() - normalized_shape.len()]
        .iter()
        .product();
    Ok((x.reshape((lead, n))?, x.dtype().wide()))
}

/// Weight or bias, contiguous, in the dtype that is computed in.
pub(super) fn parameter(
    op: &'static str,
    name: &'static str,
    t: Option<&Tensor>,
    x: &Tensor,
    shape: &[usize],
    wide: DType,
) -> Result<Option<Tensor>> {
    let Some(t) = t else { return Ok(None) };
    if t.shape() != shape {
        let message = message!("{name} must have normalized_shape {shape:?}");
        let operands = [("x", x.shape(), x.dtype()), (name, t.shape(), t.dtype())];
        return Err(Error::shape_of(op, message, &operands));
    }
    check::real(op, name, t)?;
    Ok(Some(t.astype(wide)?.contiguous()?))
}

fn slice<F: Element>(t: &Option<Tensor>) -> Result<Option<&[F]>> {
    t.as_ref().map(|t| t.as_slice::<F>()).transpose()
}
