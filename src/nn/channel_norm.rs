//! Normalisation by channels, axis 1: over the batch, over groups of channels, or over each channel
//! of each example. One pass finds mean and variance, a second one writes `(x - mean) * scale +
//! bias`, a fused formula of broadcast operands, so any strides do.

use super::check;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::kernel::elementwise::rows;
use crate::kernel::range::{least_root, least_sum, to_one};
use crate::kernel::reduce::Moments;
use crate::layout::{Axes, Shape};
use crate::ops;
use crate::ops::formula::Formula;
use crate::ops::reduce::{Statistics, moments};
use crate::tensor::Tensor;
use smallvec::SmallVec;

/// The options of normalisation by channels.
///
/// Example: [`batch_norm`].
#[derive(Clone, Copy, Debug)]
pub struct ChannelNorm<'a> {
    /// `[channels]`, a factor per channel.
    pub weight: Option<&'a Tensor>,
    /// `[channels]`, added per channel.
    pub bias: Option<&'a Tensor>,
    /// Added to the variance.
    pub eps: f64,
}
impl Default for ChannelNorm<'_> {
    fn default() -> Self {
        ChannelNorm {
            weight: None,
            bias: None,
            eps: 1e-5,
        }
    }
}

/// `(x - mean) / sqrt(var + eps) * weight + bias` by channels (Ioffe and Szegedy 2015). `x` is
/// `[batch, channels, ..]` with any strides. `statistics` are the mean and variance of each channel
/// found in training (torch's `running_mean` and `running_var`); without them, those of `x` itself
/// are used, with the variance divided by the number of elements. The result has the shape and
/// dtype of `x`.
///
/// Running statistics are not updated: compute them with [`batch_norm_stats`].
///
/// Errors if `x` is not a float tensor or has fewer than two axes, a parameter doesn't have the shape
/// `[channels]`, `eps` is negative or not finite, or a channel whose own statistics are used has a
/// single value: that would become 0, whatever it is.
///
/// ```
/// use flex::{Tensor, nn};
/// let x = Tensor::from([[1.0f32, 10.0], [3.0, 10.0]]);
/// let exact = nn::ChannelNorm { eps: 0.0, ..Default::default() };
/// let (mean, var) = (Tensor::from([0.0f32, 8.0]), Tensor::from([1.0f32, 4.0]));
/// let y = nn::batch_norm(&x, Some((&mean, &var)), exact)?;
/// assert_eq!(y.to_vec::<f32>()?, [1.0, 1.0, 3.0, 1.0]);
/// assert_eq!(nn::batch_norm(&x, None, ())?.shape(), [2, 2]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn batch_norm<'a>(
    x: &Tensor,
    statistics: Option<(&Tensor, &Tensor)>,
    options: impl Into<ChannelNorm<'a>>,
) -> Result<Tensor> {
    batch_norm_of(x, statistics, options.into())
}

fn batch_norm_of(
    x: &Tensor,
    statistics: Option<(&Tensor, &Tensor)>,
    options: ChannelNorm,
) -> Result<Tensor> {
    const OP: &str = "batch_norm";
    let channels = channels(OP, x)?;
    match statistics {
        Some(given) => by_statistics(OP, x, given, options),
        None => {
            check_spread(OP, x, x.len() / channels.max(1))?;
            let p = Parameters::new(OP, x, options)?;
            p.apply_own(OP, x, &moments(OP, x, all_but_channels(x))?)
        }
    }
}

/// The mean and variance of each channel of `x`, `[batch, channels, ..]`: what [`batch_norm`]
/// takes, and what running statistics are updated by: `running + momentum * (new - running)`. The
/// variance is the sum of squared deviations divided by the number of elements less `correction`;
/// torch's running variance uses 1; it is NaN if that is not positive. Both are `[channels]`,
/// float32 for 16-bit floats, else of the dtype of `x`.
///
/// Errors if `x` is not a float tensor or has fewer than two axes, or `correction` is not finite.
///
/// ```
/// use flex::{Tensor, nn};
/// let x = Tensor::from([[1.0f32, 10.0], [3.0, 10.0]]);
/// let (mean, var) = nn::batch_norm_stats(&x, 0.0)?;
/// assert_eq!((mean.to_vec::<f32>()?, var.to_vec::<f32>()?), (vec![2.0, 10.0], vec![1.0, 0.0]));
/// # Ok::<(), flex::Error>(())
/// ```
pub fn batch_norm_stats(x: &Tensor, correction: f64) -> Result<(Tensor, Tensor)> {
    const OP: &str = "batch_norm_stats";
    let channels = channels(OP, x)?;
    check::finite(OP, "correction", correction)?;
    let found = moments(OP, x, all_but_channels(x))?;
    let (mean, var) = (found.mean(x.dtype().wide())?, found.var(x.dtype().wide())?);
    let n = (x.len() / channels.max(1)) as f64;
    let freedom = n - correction;
    let var = ops::multiply(var, if freedom > 0.0 { n / freedom } else { f64::NAN })?;
    Ok((mean.reshape(channels)?, var.reshape(channels)?))
}

/// [`batch_norm`] of each example by itself, over `num_groups` groups of adjacent channels (Wu and He
/// 2018). `x` is `[batch, channels, ..]`.
///
/// Errors like `batch_norm`, and if `num_groups` doesn't divide the channels; a group of a single
/// value becomes the bias.
///
/// ```
/// use flex::{Tensor, nn};
/// let x = Tensor::from([[1.0f32, 3.0, -5.0, 5.0]]);
/// let exact = nn::ChannelNorm { eps: 0.0, ..Default::default() };
/// assert_eq!(nn::group_norm(&x, 2, exact)?.to_vec::<f32>()?, [-1.0, 1.0, -1.0, 1.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn group_norm<'a>(
    x: &Tensor,
    num_groups: usize,
    options: impl Into<ChannelNorm<'a>>,
) -> Result<Tensor> {
    const OP: &str = "group_norm";
    let channels = channels(OP, x)?;
    check_groups(OP, x, channels, num_groups)?;
    by_groups(OP, x, num_groups, options.into())
}

/// [`batch_norm`] of each channel of each example by itself (Ulyanov et al. 2016), or with given
/// statistics. `x` is `[batch, channels, ..]`. Errors like `batch_norm`.
///
/// ```
/// use flex::{Tensor, nn};
/// let x = Tensor::from([[[1.0f32, 3.0], [-5.0, 5.0]]]);
/// let exact = nn::ChannelNorm { eps: 0.0, ..Default::default() };
/// assert_eq!(nn::instance_norm(&x, None, exact)?.to_vec::<f32>()?, [-1.0, 1.0, -1.0, 1.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn instance_norm<'a>(
    x: &Tensor,
    statistics: Option<(&Tensor, &Tensor)>,
    options: impl Into<ChannelNorm<'a>>,
) -> Result<Tensor> {
    instance_norm_of(x, statistics, options.into())
}

fn instance_norm_of(
    x: &Tensor,
    statistics: Option<(&Tensor, &Tensor)>,
    options: ChannelNorm,
) -> Result<Tensor> {
    const OP: &str = "instance_norm";
    let channels = channels(OP, x)?;
    match statistics {
        Some(given) => by_statistics(OP, x, given, options),
        None => {
            check_spread(OP, x, x.shape()[2..].iter().product())?;
            by_groups(OP, x, channels, options)
        }
    }
}

/// Errors if a channel's own statistics are those of a single value.
pub(super) fn check_spread(op: &'static str, x: &Tensor, values: usize) -> Result<()> {
    if values != 1 {
        return Ok(());
    }
    let message = "a channel's mean and variance are those of a single value, which would become 0: \
                   give more values, or running_mean and running_var";
    Err(Error::shape_of(op, message, &[("x", x.shape(), x.dtype())]))
}
/// Errors unless `num_groups` divides the channels.
pub(super) fn check_groups(
    op: &'static str,
    x: &Tensor,
    channels: usize,
    num_groups: usize,
) -> Result<()> {
    if num_groups > 0 && channels.is_multiple_of(num_groups) {
        return Ok(());
    }
    let message = message!("num_groups is {num_groups}, which does not divide {channels} channels");
    Err(Error::shape_of(op, message, &[("x", x.shape(), x.dtype())]))
}

/// The number of channels.
pub(super) fn channels(op: &'static str, x: &Tensor) -> Result<usize> {
    if !x.dtype().is_float() || x.dtype().is_storage() || !x.dtype().is_available() {
        return Err(Error::unsupported(op, x.dtype()));
    }
    x.shape().get(1).copied().ok_or_else(|| {
        let operands = [("x", x.shape(), x.dtype())];
        Error::shape_of(op, "x must have the shape [batch, channels, ..]", &operands)
    })
}

fn all_but_channels(x: &Tensor) -> Axes {
    let kept = (0..x.rank() as isize).filter(|k| *k != 1);
    Axes::from(kept.collect::<SmallVec<[isize; 6]>>())
}

/// Normalises by the given mean and variance of each channel.
fn by_statistics(
    op: &'static str,
    x: &Tensor,
    (mean, var): (&Tensor, &Tensor),
    options: ChannelNorm,
) -> Result<Tensor> {
    let p = Parameters::new(op, x, options)?;
    let mean = parameter(op, "running_mean", mean, x, x.dtype().wide())?;
    let var = parameter(op, "running_var", var, x, x.dtype().wide())?;
    p.apply(op, x, &mean, &var, None)
}

/// Normalises each example by itself, over groups of its channels.
fn by_groups(op: &'static str, x: &Tensor, groups: usize, options: ChannelNorm) -> Result<Tensor> {
    let p = Parameters::new(op, x, options)?;
    let mut cut = Shape::from_slice(x.shape());
    cut[1] = x.shape()[1] / groups.max(1);
    cut.insert(1, groups);
    let parts = x.reshape(&cut[..])?;
    let over = Axes::from((2..cut.len() as isize).collect::<SmallVec<[isize; 6]>>());
    let found = moments(op, &parts, over)?;
    let split = |t: Option<Tensor>| t.map(|t| t.reshape(channel_shape(&cut, 3))).transpose();
    let p = Parameters {
        weight: split(p.weight)?,
        bias: split(p.bias)?,
        ..p
    };
    p.apply_own(op, &parts, &found)?.reshape(x.shape())
}

/// The sizes of axes 1 to `end - 1`, with 1 for all others.
fn channel_shape(shape: &[usize], end: usize) -> Shape {
    let of = |k: usize| if (1..end).contains(&k) { shape[k] } else { 1 };
    (0..shape.len()).map(of).collect()
}

/// A parameter per channel, shaped to broadcast to `x`, in the dtype that is computed in.
pub(super) fn parameter(
    op: &'static str,
    name: &'static str,
    t: &Tensor,
    x: &Tensor,
    dtype: DType,
) -> Result<Tensor> {
    let channels = x.shape()[1];
    if t.shape() != [channels] {
        return Err(Error::shape_of(
            op,
            message!("{name} must have the shape [{channels}], one number a channel"),
            &[("x", x.shape(), x.dtype()), (name, t.shape(), t.dtype())],
        ));
    }
    check::real(op, name, t)?;
    t.astype(dtype)?.reshape(channel_shape(x.shape(), 2))
}

/// What elements with these moments are multiplied by before they are normalised in `F`: 1 unless
/// squares, or differences, leave its range.
fn factor<F>(m: &Moments, eps: f64) -> f64 {
    let (deviation, size) = (m.deviation(m.n), m.mean.max(-m.mean));
    let large = 512.0 / least_root::<F>();
    let small = deviation < least_root::<F>() && deviation > 0.0 && eps < least_sum::<F>();
    if !(small || deviation > large || size > large * large) {
        return 1.0;
    }
    let factor = to_one::<F>(deviation.max(size));
    // next to an `eps` that gets out of range, squares don't count
    if eps * factor * factor < large * large {
        factor
    } else {
        1.0
    }
}

/// Weight and bias, shaped to broadcast to the operand.
struct Parameters {
    weight: Option<Tensor>,
    bias: Option<Tensor>,
    eps: f64,
    dtype: DType,
}
impl Parameters {
    fn new(op: &'static str, x: &Tensor, options: ChannelNorm) -> Result<Parameters> {
        check::eps(op, options.eps)?;
        let of = |name, t: Option<&Tensor>| {
            t.map(|t| parameter(op, name, t, x, x.dtype().wide()))
                .transpose()
        };
        Ok(Parameters {
            weight: of("weight", options.weight)?,
            bias: of("bias", options.bias)?,
            eps: options.eps,
            dtype: x.dtype(),
        })
    }
    /// [`apply`](Parameters::apply) with the statistics of `x` itself. If squares leave the range of
    /// the dtype, it is computed from multiples of the elements.
    fn apply_own(&self, op: &'static str, x: &Tensor, found: &Statistics) -> Result<Tensor> {
        let dtype = x.dtype().wide();
        let factor = match dtype {
            DType::F64 => factor::<f64>,
            _ => factor::<f32>,
        };
        let factor = |m: &Moments| factor(m, self.eps);
        if found.all.iter().all(|m| factor(m) == 1.0) {
            return self.apply(op, x, &found.mean(dtype)?, &found.var(dtype)?, None);
        }
        let mean = found.tensor(dtype, &|m| m.mean * factor(m))?;
        let var = found.tensor(dtype, &|m| m.scaled_variance(m.n, factor(m)))?;
        let factors = found.tensor(dtype, &factor)?;
        let eps = found.tensor(dtype, &|m| self.eps * factor(m) * factor(m))?;
        self.apply(op, x, &mean, &var, Some((&factors, &eps)))
    }
    /// `(x - mean) / sqrt(var + eps) * weight + bias`; mean and variance broadcast to `x`. `x *
    /// scale + shift` would save an operation, but loses small deviations from a large mean. With
    /// factors, all are those of `x * factor`, and `eps` is given, too.
    fn apply(
        &self,
        op: &'static str,
        x: &Tensor,
        mean: &Tensor,
        var: &Tensor,
        scaled: Option<(&Tensor, &Tensor)>,
    ) -> Result<Tensor> {
        let mut scale = ops::rsqrt(match scaled {
            None => ops::add(var, self.eps)?,
            Some((_, eps)) => ops::add(var, eps)?,
        })?;
        if let Some(w) = &self.weight {
            scale = ops::multiply(scale, w)?;
        }
        let mut f = Formula::new(op, &[x.shape()], self.dtype)?;
        let (mut v, mean, scale) = (f.input(x)?, f.input(mean)?, f.input(&scale)?);
        if let Some((factor, _)) = scaled {
            let factor = f.input(factor)?;
            v = f.binary(&rows::Multiply::ROW, v, factor)?;
        }
        let centred = f.binary(&rows::Subtract::ROW, v, mean)?;
        let y = match &self.bias {
            Some(b) => {
                let b = f.input(b)?;
                f.ternary(&rows::MultiplyAdd::ROW, centred, scale, b)?
            }
            None => f.binary(&rows::Multiply::ROW, centred, scale)?,
        };
        f.write(y, self.dtype)
    }
}
