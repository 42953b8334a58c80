//! Gradients of normalisations over the last dimensions.

use super::{common_float, expect_shape};
use crate::dtype::{DType, Element};
use crate::error::{Error, Result};
use crate::kernel::math::Real;
use crate::kernel::norm::gradient::{self, Rows};
use crate::layout::{IntoShape, Shape};
use crate::nn::check;
use crate::nn::{LayerNorm, RmsNorm};
use crate::ops;
use crate::par::{self, Cost, Out};
use crate::tensor::Tensor;

/// The gradients of `x`, weight and bias of [`layer_norm`](crate::nn::layer_norm), the last two
/// even if there was no weight or bias. Without a weight, it counts as ones; the gradients don't
/// depend on the bias.
///
/// Errors if the last dimensions of `x`, or the shapes of `grad` or `weight`, don't fit, if `eps` is
/// negative or not finite, and if there is no common float dtype.
///
/// ```
/// use flex::{Tensor, nn};
/// let x = Tensor::from_slice(&[1.0f32, 3.0], [1, 2])?;
/// let grad = Tensor::from_slice(&[1.0f32, 0.0], [1, 2])?;
/// let exact = nn::LayerNorm { eps: 0.0, ..Default::default() };
/// let [x, weight, bias] = nn::grad::layer_norm(&grad, &x, 2, exact)?;
/// assert_eq!(x.to_vec::<f32>()?, [0.0, 0.0]);
/// assert_eq!(weight.to_vec::<f32>()?, [-1.0, 0.0]);
/// assert_eq!(bias.to_vec::<f32>()?, [1.0, 0.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn layer_norm<'a>(
    grad: &Tensor,
    x: &Tensor,
    normalized_shape: impl IntoShape,
    options: impl Into<LayerNorm<'a>>,
) -> Result<[Tensor; 3]> {
    layer_norm_of(
        grad,
        x,
        normalized_shape.into_shape().as_ref(),
        options.into(),
    )
}

/// Compiled once: kernels in a generic function would be compiled with each of its callers.
fn layer_norm_of(
    grad: &Tensor,
    x: &Tensor,
    normalized_shape: &[usize],
    LayerNorm { weight, eps, .. }: LayerNorm,
) -> Result<[Tensor; 3]> {
    const OP: &str = "grad.layer_norm";
    check::eps(OP, eps)?;
    let rows = NormOperands::new(OP, grad, x, normalized_shape, weight)?;
    let (d, sums) = dispatch!(float rows.wide, |F| {
        rows.run::<F, 2>(|rows, weight, sums| gradient::layer_norm(rows, weight, eps, sums))
    }, else Err(Error::unsupported(OP, rows.wide)))?;
    let [weight, bias] = [sums.select(0, 0)?, sums.select(0, 1)?];
    Ok([
        rows.shaped(d, x.shape())?,
        rows.shaped(weight, &rows.normalized)?,
        rows.shaped(bias, &rows.normalized)?,
    ])
}

/// The gradients of `x` and weight of [`rms_norm`](crate::nn::rms_norm), the latter even if there
/// was no weight. Errors like it and [`layer_norm`].
///
/// ```
/// use flex::{Tensor, nn};
/// let x = Tensor::from_slice(&[2.0f32, -2.0], [1, 2])?;
/// let grad = Tensor::from_slice(&[1.0f32, 0.0], [1, 2])?;
/// let exact = nn::RmsNorm { eps: Some(0.0), ..Default::default() };
/// let [x, weight] = nn::grad::rms_norm(&grad, &x, 2, exact)?;
/// assert_eq!(x.to_vec::<f32>()?, [0.25, 0.25]);
/// assert_eq!(weight.to_vec::<f32>()?, [1.0, 0.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn rms_norm<'a>(
    grad: &Tensor,
    x: &Tensor,
    normalized_shape: impl IntoShape,
    options: impl Into<RmsNorm<'a>>,
) -> Result<[Tensor; 2]> {
    rms_norm_of(
        grad,
        x,
        normalized_shape.into_shape().as_ref(),
        options.into(),
    )
}

/// As [`layer_norm_of`].
fn rms_norm_of(
    grad: &Tensor,
    x: &Tensor,
    normalized_shape: &[usize],
    RmsNorm { weight, eps }: RmsNorm,
) -> Result<[Tensor; 2]> {
    const OP: &str = "grad.rms_norm";
    let rows = NormOperands::new(OP, grad, x, normalized_shape, weight)?;
    let eps = eps.unwrap_or(crate::nn::norm::epsilon(x.dtype()));
    check::eps(OP, eps)?;
    let (d, weight) = dispatch!(float rows.wide, |F| {
        rows.run::<F, 1>(|rows, weight, sums| gradient::rms_norm(rows, weight, eps, sums))
    }, else Err(Error::unsupported(OP, rows.wide)))?;
    Ok([
        rows.shaped(d, x.shape())?,
        rows.shaped(weight, &rows.normalized)?,
    ])
}

/// The operands as rows, in the dtype that is computed in.
struct NormOperands {
    grad: Tensor,
    x: Tensor,
    /// Empty if absent.
    weight: Tensor,
    normalized: Shape,
    dtype: DType,
    wide: DType,
}

impl NormOperands {
    fn new(
        op: &'static str,
        grad: &Tensor,
        x: &Tensor,
        normalized_shape: &[usize],
        weight: Option<&Tensor>,
    ) -> Result<NormOperands> {
        expect_shape(op, grad, x.shape(), ("x", x))?;
        let dtype = match weight {
            Some(w) => common_float(op, &[grad, x, w])?,
            None => common_float(op, &[grad, x])?,
        };
        let (rows, wide) = crate::nn::norm::rows(op, x, normalized_shape)?;
        let wide = if dtype == DType::F64 { dtype } else { wide };
        let weight = crate::nn::norm::parameter(op, "weight", weight, x, normalized_shape, wide)?;
        Ok(NormOperands {
            grad: grad.reshape(rows.shape())?.astype(wide)?,
            x: rows.astype(wide)?,
            weight: match weight {
                Some(w) => w.reshape(rows.shape()[1])?,
                None => Tensor::empty([0], wide)?,
            },
            normalized: Shape::from_slice(normalized_shape),
            dtype,
            wide,
        })
    }
    /// The gradient of `x`, and `SUMS` sums over rows, `[SUMS, n]`, from a function of consecutive
    /// rows that adds to the latter. Rows are read once: the sums of a few rows
    /// each, as many as follows from the shape, are added up afterwards.
    fn run<F: Real + Element, const SUMS: usize>(
        &self,
        f: impl Fn(Rows<'_, F>, &[F], &mut [F]) + Sync,
    ) -> Result<(Tensor, Tensor)> {
        let (rows, n) = (self.x.shape()[0], self.x.shape()[1]);
        let each = (rows / 32).clamp(4, 64);
        let parts = rows.div_ceil(each);
        let mut d = Tensor::empty([rows, n], self.wide)?;
        let mut sums = Tensor::zeros([parts, SUMS, n], self.wide)?;
        let (g, x) = (self.grad.contiguous()?, self.x.contiguous()?);
        let weight = self.weight.contiguous()?;
        let (g, x, weight) = (g.as_slice::<F>()?, x.as_slice::<F>()?, weight.as_slice()?);
        let (of_x, of_rows) = (
            Out::new(d.as_mut_slice::<F>()?),
            Out::new(sums.as_mut_slice::<F>()?),
        );
        let cost = Cost {
            bytes: 3 * each * n * size_of::<F>(),
            flops: (each * n).saturating_mul(16),
        };
        if n > 0 {
            par::chunks(parts, cost, |k| {
                let range = k * each * n..rows.min((k + 1) * each) * n;
                // SAFETY: OUT1: parts have rows and sums of their own.
                let (d, sums) = unsafe {
                    let sums = of_rows.part(k * SUMS * n..(k + 1) * SUMS * n);
                    (of_x.part(range.clone()), sums)
                };
                let (g, x) = (&g[range.clone()], &x[range]);
                f(Rows { n, g, x, d }, weight, sums);
            });
        }
        Ok((d, ops::sum(&sums, 0)?))
    }
    fn shaped(&self, t: Tensor, shape: &[usize]) -> Result<Tensor> {
        t.into_dtype(self.dtype)?.reshape(shape)
    }
}
