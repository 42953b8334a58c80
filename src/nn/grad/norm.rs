//! Gradients of normalisations over the last dimensions.

use super::{common_float, expect_shape};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::exec::lines::Lines;
use crate::kernel::elementwise::rows;
use crate::kernel::norm::gradient;
use crate::layout::{IntoShape, Shape};
use crate::nn::check;
use crate::nn::{LayerNorm, RmsNorm};
use crate::ops::formula::Formula;
use crate::par::Cost;
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
pub fn layer_norm(
    grad: &Tensor,
    x: &Tensor,
    normalized_shape: impl IntoShape,
    options: LayerNorm,
) -> Result<[Tensor; 3]> {
    const OP: &str = "grad.layer_norm";
    let LayerNorm { weight, eps, .. } = options;
    check::eps(OP, eps)?;
    let rows = Rows::new(OP, grad, x, normalized_shape.into_shape().as_ref(), weight)?;
    let (mut d, mut mean, mut scale) = (rows.whole()?, rows.column()?, rows.column()?);
    dispatch!(float rows.wide, |F| {
        let lines = rows.lines().output(d.elements_mut()?);
        let lines = lines.output(mean.elements_mut()?).output(scale.elements_mut()?);
        lines.run(rows.cost(12), |line| {
            let (g, x, weight) = (line.input::<F>(0), line.input(1), line.input(2));
            let stats = gradient::layer_norm(g, x, weight, eps, line.output(0));
            (line.output(1)[0], line.output(2)[0]) = (stats[0], stats[1]);
        })
    }, else Err(Error::unsupported(OP, rows.wide)))?;
    let mut f = rows.formula(OP)?;
    let (g, v) = (f.input(&rows.grad)?, f.input(&rows.x)?);
    let (mean, scale) = (f.input(&mean)?, f.input(&scale)?);
    let deviation = f.binary(&rows::Subtract::ROW, v, mean)?;
    let normal = f.binary(&rows::Multiply::ROW, deviation, scale)?;
    let product = f.binary(&rows::Multiply::ROW, g, normal)?;
    let [weight, bias] = f.sums([product, g], 0)?;
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
pub fn rms_norm(
    grad: &Tensor,
    x: &Tensor,
    normalized_shape: impl IntoShape,
    options: RmsNorm,
) -> Result<[Tensor; 2]> {
    const OP: &str = "grad.rms_norm";
    let RmsNorm { weight, eps } = options;
    let rows = Rows::new(OP, grad, x, normalized_shape.into_shape().as_ref(), weight)?;
    let eps = eps.unwrap_or(crate::nn::norm::epsilon(x.dtype()));
    check::eps(OP, eps)?;
    let (mut d, mut scale) = (rows.whole()?, rows.column()?);
    dispatch!(float rows.wide, |F| {
        let lines = rows.lines().output(d.elements_mut()?).output(scale.elements_mut()?);
        lines.run(rows.cost(8), |line| {
            let (g, x, weight) = (line.input::<F>(0), line.input(1), line.input(2));
            line.output(1)[0] = gradient::rms_norm(g, x, weight, eps, line.output(0));
        })
    }, else Err(Error::unsupported(OP, rows.wide)))?;
    let mut f = rows.formula(OP)?;
    let (g, v, scale) = (f.input(&rows.grad)?, f.input(&rows.x)?, f.input(&scale)?);
    let normal = f.binary(&rows::Multiply::ROW, v, scale)?;
    let product = f.binary(&rows::Multiply::ROW, g, normal)?;
    let [weight] = f.sums([product], 0)?;
    Ok([
        rows.shaped(d, x.shape())?,
        rows.shaped(weight, &rows.normalized)?,
    ])
}

/// The operands as rows, in the dtype that is computed in.
struct Rows {
    grad: Tensor,
    x: Tensor,
    /// Empty if absent.
    weight: Tensor,
    normalized: Shape,
    dtype: DType,
    wide: DType,
}

impl Rows {
    fn new(
        op: &'static str,
        grad: &Tensor,
        x: &Tensor,
        normalized_shape: &[usize],
        weight: Option<&Tensor>,
    ) -> Result<Rows> {
        expect_shape(op, grad, x.shape(), ("x", x))?;
        let dtype = match weight {
            Some(w) => common_float(op, &[grad, x, w])?,
            None => common_float(op, &[grad, x])?,
        };
        let (rows, wide) = crate::nn::norm::rows(op, x, normalized_shape)?;
        let wide = if dtype == DType::F64 { dtype } else { wide };
        let weight = crate::nn::norm::parameter(op, "weight", weight, x, normalized_shape, wide)?;
        Ok(Rows {
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
    /// An uninitialised gradient of `x`.
    fn whole(&self) -> Result<Tensor> {
        Tensor::empty(self.x.shape(), self.wide)
    }
    /// An uninitialised number per row.
    fn column(&self) -> Result<Tensor> {
        Tensor::empty([self.x.shape()[0], 1], self.wide)
    }
    fn formula<'a>(&self, op: &'static str) -> Result<Formula<'a>> {
        Formula::new(op, &[self.x.shape()], self.wide)
    }
    fn lines(&self) -> Lines<'_> {
        Lines::new(self.x.shape(), 1)
            .input(self.grad.elements())
            .input(self.x.elements())
            .input(self.weight.elements())
    }
    /// The cost of a row, with `flops` operations per element.
    fn cost(&self, flops: usize) -> Cost {
        let n = self.x.shape()[1];
        Cost {
            bytes: 3 * n * self.wide.size(),
            flops: n.saturating_mul(flops),
        }
    }
    fn shaped(&self, t: Tensor, shape: &[usize]) -> Result<Tensor> {
        t.into_dtype(self.dtype)?.reshape(shape)
    }
}
