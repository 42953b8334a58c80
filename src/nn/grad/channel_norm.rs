//! Gradients of normalisations by channels. One pass finds mean and variance, one the sums that are
//! the gradients of weight and bias, and one writes the gradient of `x`, which needs those sums.

use super::{common_float, expect_shape};
use crate::error::Result;
use crate::kernel::elementwise::rows;
use crate::layout::{Axes, Shape};
use crate::nn::ChannelNorm;
use crate::nn::channel_norm::{channels, check_groups, check_spread, parameter};
use crate::nn::check;
use crate::ops::formula::Formula;
use crate::ops::{self, reduce::moments};
use crate::tensor::Tensor;
use smallvec::SmallVec;

/// The gradients of `x`, weight and bias of [`batch_norm`](crate::nn::batch_norm), the last two
/// even if there was no weight or bias. Given `statistics` count as constants; otherwise those of
/// `x` are differentiated too.
///
/// A bias in the options is ignored. The results have the common dtype of `grad` and `x`; 16-bit
/// floats are computed in float32 and rounded once. Errors like that function, if `grad` doesn't
/// have the shape of `x`, and if there is no common float dtype.
///
/// ```
/// use flex::{Tensor, nn};
/// let (x, grad) = (Tensor::from([[1.0f32], [3.0]]), Tensor::from([[1.0f32], [0.0]]));
/// let exact = nn::ChannelNorm { eps: 0.0, ..Default::default() };
/// let [x, weight, bias] = nn::grad::batch_norm(&grad, &x, None, exact)?;
/// assert_eq!(x.to_vec::<f32>()?, [0.0, 0.0]);
/// assert_eq!(weight.to_vec::<f32>()?, [-1.0]);
/// assert_eq!(bias.to_vec::<f32>()?, [1.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn batch_norm(
    grad: &Tensor,
    x: &Tensor,
    statistics: Option<(&Tensor, &Tensor)>,
    options: ChannelNorm,
) -> Result<[Tensor; 3]> {
    const OP: &str = "grad.batch_norm";
    let channels = channels(OP, x)?;
    if statistics.is_none() {
        check_spread(OP, x, x.len() / channels.max(1))?;
    }
    GroupedOperands::new(OP, grad, x, channels, true)?.gradients(statistics, options)
}

/// The gradients of `x`, weight and bias of [`group_norm`](crate::nn::group_norm). Otherwise like
/// [`batch_norm`]; also errors if `num_groups` doesn't divide the channels.
///
/// ```
/// use flex::{Tensor, nn};
/// let (x, grad) = (Tensor::from([[1.0f32, 3.0]]), Tensor::from([[1.0f32, 0.0]]));
/// let exact = nn::ChannelNorm { eps: 0.0, ..Default::default() };
/// let [x, weight, bias] = nn::grad::group_norm(&grad, &x, 1, exact)?;
/// assert_eq!(x.to_vec::<f32>()?, [0.0, 0.0]);
/// assert_eq!(weight.to_vec::<f32>()?, [-1.0, 0.0]);
/// assert_eq!(bias.to_vec::<f32>()?, [1.0, 0.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn group_norm(
    grad: &Tensor,
    x: &Tensor,
    num_groups: usize,
    options: ChannelNorm,
) -> Result<[Tensor; 3]> {
    const OP: &str = "grad.group_norm";
    let channels = channels(OP, x)?;
    check_groups(OP, x, channels, num_groups)?;
    GroupedOperands::new(OP, grad, x, num_groups, false)?.gradients(None, options)
}

/// The gradients of `x`, weight and bias of [`instance_norm`](crate::nn::instance_norm). Otherwise
/// like [`batch_norm`].
///
/// ```
/// use flex::{Tensor, nn};
/// let (x, grad) = (Tensor::from([[[1.0f32, 3.0]]]), Tensor::from([[[1.0f32, 0.0]]]));
/// let [_, _, bias] = nn::grad::instance_norm(&grad, &x, None, Default::default())?;
/// assert_eq!(bias.to_vec::<f32>()?, [1.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn instance_norm(
    grad: &Tensor,
    x: &Tensor,
    statistics: Option<(&Tensor, &Tensor)>,
    options: ChannelNorm,
) -> Result<[Tensor; 3]> {
    const OP: &str = "grad.instance_norm";
    let channels = channels(OP, x)?;
    if statistics.is_none() {
        check_spread(OP, x, x.shape()[2..].iter().product())?;
    }
    GroupedOperands::new(OP, grad, x, channels, statistics.is_some())?
        .gradients(statistics, options)
}

/// The operands, reshaped to `[batch, groups, channels of a group, ..]`, with at least one spatial
/// axis.
struct GroupedOperands<'a> {
    op: &'static str,
    /// `x` in its own shape, which parameters are checked against.
    whole: &'a Tensor,
    grad: Tensor,
    x: Tensor,
    channels: usize,
    /// Whether mean and variance are over the batch.
    over_batch: bool,
}

impl<'a> GroupedOperands<'a> {
    fn new(
        op: &'static str,
        grad: &Tensor,
        x: &'a Tensor,
        groups: usize,
        over_batch: bool,
    ) -> Result<GroupedOperands<'a>> {
        expect_shape(op, grad, x.shape(), ("x", x))?;
        let dtype = common_float(op, &[grad, x])?;
        let channels = x.shape()[1];
        let mut cut = Shape::from_slice(x.shape());
        cut[1] = channels / groups.max(1);
        cut.insert(1, groups);
        if cut.len() == 3 {
            cut.push(1);
        }
        Ok(GroupedOperands {
            op,
            whole: x,
            grad: grad.astype(dtype)?.reshape(&cut[..])?,
            x: x.astype(dtype)?.reshape(&cut[..])?,
            channels,
            over_batch,
        })
    }
    /// The axes from `from` on, and the batch axis if statistics are over the batch.
    fn axes(&self, from: usize) -> Axes {
        let batch = self.over_batch.then_some(0);
        let all = batch
            .into_iter()
            .chain(from as isize..self.x.rank() as isize);
        Axes::from(all.collect::<SmallVec<[isize; 6]>>())
    }
    /// A parameter per channel, shaped to broadcast to the parts.
    fn parameter(&self, name: &'static str, t: &Tensor) -> Result<Tensor> {
        let mut shape = Shape::from_elem(1, self.x.rank());
        shape[1..3].copy_from_slice(&self.x.shape()[1..3]);
        parameter(self.op, name, t, self.whole, self.x.dtype().wide())?.reshape(&shape[..])
    }
    fn gradients(
        &self,
        statistics: Option<(&Tensor, &Tensor)>,
        options: ChannelNorm,
    ) -> Result<[Tensor; 3]> {
        check::eps(self.op, options.eps)?;
        let dtype = self.x.dtype();
        let weight = options.weight.map(|w| self.parameter("weight", w));
        let weight = weight.transpose()?;
        let (mean, var) = match statistics {
            Some((mean, var)) => (
                self.parameter("running_mean", mean)?,
                self.parameter("running_var", var)?,
            ),
            None => moments(self.op, &self.x, self.axes(2), dtype.wide())?,
        };
        let scale = ops::rsqrt(ops::add(var, options.eps)?)?;
        let [of_weight, of_bias] = self.sums(&mean, &scale)?;
        let weighted = |t: &Tensor| match &weight {
            Some(w) => ops::multiply(t, w),
            None => Ok(t.clone()),
        };
        let own = match statistics {
            Some(_) => None,
            None => {
                // less the means of the gradient, and of its product with the normalised `x`
                let n = self.x.len() / mean.len().max(1);
                let part = |sums: &Tensor| -> Result<Tensor> {
                    let together = ops::sum(&weighted(sums)?, Axes::from(2).keepdims())?;
                    ops::divide(ops::multiply(together, &scale)?, -(n as f64))
                };
                let slope = ops::multiply(part(&of_weight)?, &scale)?;
                Some([slope, part(&of_bias)?])
            }
        };
        let d = self.of_x(&mean, &weighted(&scale)?, &own)?;
        let by_channel = |sums: Tensor| {
            ops::sum(&sums, 0)?
                .reshape(self.channels)?
                .into_dtype(dtype)
        };
        Ok([
            d.reshape(self.whole.shape())?,
            by_channel(of_weight)?,
            by_channel(of_bias)?,
        ])
    }
    /// The sums of `grad * (x - mean) * scale` and of `grad` by channel, and by example unless
    /// statistics are over the batch.
    fn sums(&self, mean: &Tensor, scale: &Tensor) -> Result<[Tensor; 2]> {
        let mut f = Formula::new(self.op, &[self.x.shape()], self.x.dtype())?;
        let (g, x) = (f.input(&self.grad)?, f.input(&self.x)?);
        let mean = f.input(mean)?;
        let deviation = f.binary(&rows::Subtract::ROW, x, mean)?;
        let product = f.binary(&rows::Multiply::ROW, g, deviation)?;
        let [products, grads] = f.sums([product, g], self.axes(3).keepdims())?;
        let normal = match self.x.is_empty() {
            true => products, // sums of nothing, whatever the variance of nothing
            false => ops::multiply(products, scale)?,
        };
        Ok([normal, grads])
    }
    /// `grad * factor + (x - mean) * slope + rest`, or only the first term if mean and variance are
    /// given.
    fn of_x(&self, mean: &Tensor, factor: &Tensor, own: &Option<[Tensor; 2]>) -> Result<Tensor> {
        let dtype = self.x.dtype();
        let mut f = Formula::new(self.op, &[self.x.shape()], dtype)?;
        let (g, factor) = (f.input(&self.grad)?, f.input(factor)?);
        let d = match own {
            None => f.binary(&rows::Multiply::ROW, g, factor)?,
            Some([slope, rest]) => {
                let (x, mean) = (f.input(&self.x)?, f.input(mean)?);
                let (slope, rest) = (f.input(slope)?, f.input(rest)?);
                let deviation = f.binary(&rows::Subtract::ROW, x, mean)?;
                let moved = f.ternary(&rows::MultiplyAdd::ROW, deviation, slope, rest)?;
                f.ternary(&rows::MultiplyAdd::ROW, g, factor, moved)?
            }
        };
        f.write(d, dtype)
    }
}
