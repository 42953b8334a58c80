//! Gradients of normalisations by channels. One pass finds mean and variance and the sums that are
//! the gradients of weight and bias (two do for short channels and 16-bit floats), and one writes
//! the gradient of `x`, which needs those sums: group by group, while it is in cache, or over the
//! whole if statistics are over the batch or there are few groups.

use super::{common_float, expect_shape};
use crate::error::{Error, Result};
use crate::exec::lines::Lines;
use crate::kernel::elementwise::rows;
use crate::kernel::gemm::MatElement;
use crate::kernel::math::{Number, Real};
use crate::kernel::norm::{gradient, is_lost_inverse};
use crate::kernel::range::to_one;
use crate::layout::{Axes, Shape};
use crate::nn::ChannelNorm;
use crate::nn::channel_norm::{channels, check_groups, check_spread, parameter};
use crate::nn::check;
use crate::ops::formula::Formula;
use crate::ops::{self, ewise, reduce::moments};
use crate::par::Cost;
use crate::tensor::Tensor;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};
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
pub fn batch_norm<'a>(
    grad: &Tensor,
    x: &Tensor,
    statistics: Option<(&Tensor, &Tensor)>,
    options: impl Into<ChannelNorm<'a>>,
) -> Result<[Tensor; 3]> {
    const OP: &str = "grad.batch_norm";
    let channels = channels(OP, x)?;
    if statistics.is_none() {
        check_spread(OP, x, x.len() / channels.max(1))?;
    }
    GroupedOperands::new(OP, grad, x, channels, true)?.gradients(statistics, options.into())
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
pub fn group_norm<'a>(
    grad: &Tensor,
    x: &Tensor,
    num_groups: usize,
    options: impl Into<ChannelNorm<'a>>,
) -> Result<[Tensor; 3]> {
    const OP: &str = "grad.group_norm";
    let channels = channels(OP, x)?;
    check_groups(OP, x, channels, num_groups)?;
    GroupedOperands::new(OP, grad, x, num_groups, false)?.gradients(None, options.into())
}

/// The gradients of `x`, weight and bias of [`instance_norm`](crate::nn::instance_norm). Otherwise
/// like [`batch_norm`].
///
/// ```
/// use flex::{Tensor, nn};
/// let (x, grad) = (Tensor::from([[[1.0f32, 3.0]]]), Tensor::from([[[1.0f32, 0.0]]]));
/// let [_, _, bias] = nn::grad::instance_norm(&grad, &x, None, ())?;
/// assert_eq!(bias.to_vec::<f32>()?, [1.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn instance_norm<'a>(
    grad: &Tensor,
    x: &Tensor,
    statistics: Option<(&Tensor, &Tensor)>,
    options: impl Into<ChannelNorm<'a>>,
) -> Result<[Tensor; 3]> {
    const OP: &str = "grad.instance_norm";
    let channels = channels(OP, x)?;
    if statistics.is_none() {
        check_spread(OP, x, x.shape()[2..].iter().product())?;
    }
    GroupedOperands::new(OP, grad, x, channels, statistics.is_some())?
        .gradients(statistics, options.into())
}

/// From so many elements of a channel on, its sums fill vectors.
const LONG: usize = 32;

/// So many groups keep the threads busy.
const ENOUGH: usize = 16;

/// What the gradients are made of.
struct ChannelSums {
    mean: Tensor,
    var: Tensor,
    /// The sums of `grad * (x - mean)` by channel, and by example unless statistics are over the
    /// batch.
    products: Tensor,
    /// Likewise, of `grad`.
    grads: Tensor,
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
        let weight = options.weight.map(|w| self.parameter("weight", w));
        let weight = weight.transpose()?;
        let weight = weight.as_ref();
        if statistics.is_none()
            && let Some(all) = self.of_groups(weight, options.eps)?
        {
            return Ok(all);
        }
        let given = match statistics {
            Some((mean, var)) => Some((
                self.parameter("running_mean", mean)?,
                self.parameter("running_var", var)?,
            )),
            None => None,
        };
        let dtype = self.x.dtype().wide();
        let eps = Tensor::scalar(options.eps, dtype)?;
        let (all, scale) = self.gradients_by_sums(given, weight, &eps)?;
        let lost = dispatch!(float dtype, |F| scale.contiguous()?.as_slice::<F>()?.iter().any(|x| is_lost_inverse(*x)),
            else return Err(Error::unsupported(self.op, dtype)));
        if lost && statistics.is_none() && !self.x.is_empty() {
            return self.rescaled(weight, options.eps, &scale);
        }
        Ok(all)
    }
    /// The gradients, where squares were lost on the way to `scale`: from multiples of those groups by
    /// powers of two.
    #[cold]
    #[inline(never)]
    fn rescaled(&self, weight: Option<&Tensor>, eps: f64, scale: &Tensor) -> Result<[Tensor; 3]> {
        let (dtype, wide) = (self.x.dtype(), self.x.dtype().wide());
        let sizes = ops::max(&ops::abs(&self.x)?, self.axes(2).keepdims())?.astype(wide)?;
        let (sizes, scale) = (sizes.contiguous()?, scale.contiguous()?);
        let [mut units, mut all_eps] = [
            Tensor::empty(sizes.shape(), wide)?,
            Tensor::empty(sizes.shape(), wide)?,
        ];
        dispatch!(float wide, |F| {
            let (units, all_eps) = (units.as_mut_slice::<F>()?, all_eps.as_mut_slice::<F>()?);
            let known = sizes.as_slice::<F>()?.iter().zip(scale.as_slice::<F>()?);
            for ((unit, own), (size, scale)) in units.iter_mut().zip(all_eps).zip(known) {
                let power = if is_lost_inverse(*scale) { to_one::<F>(Real::to_f64(*size)) } else { 1.0 };
                let scaled = <F as Real>::from_f64(eps * power * power);
                // next to an `eps` that gets out of range, elements don't count
                let power = if scaled.isfinite() { power } else { 1.0 };
                (*unit, *own) = (Real::from_f64(power), Real::from_f64(eps * power * power));
            }
        }, else return Err(Error::unsupported(self.op, wide)));
        let units = units.astype(dtype)?;
        let multiples = GroupedOperands {
            x: ops::multiply(&self.x, &units)?,
            grad: self.grad.clone(),
            ..*self
        };
        let ([d, of_weight, of_bias], _) = multiples.gradients_by_sums(None, weight, &all_eps)?;
        let d = ops::multiply(d.reshape(self.x.shape())?, units)?;
        Ok([d.reshape(self.whole.shape())?, of_weight, of_bias])
    }
    /// The gradients, from mean and variance, those of `x` unless given; and what deviations from the
    /// mean are multiplied by.
    fn gradients_by_sums(
        &self,
        given: Option<(Tensor, Tensor)>,
        weight: Option<&Tensor>,
        eps: &Tensor,
    ) -> Result<([Tensor; 3], Tensor)> {
        let is_given = given.is_some();
        let ChannelSums {
            mean,
            var,
            products,
            grads: of_bias,
        } = self.sums(given)?;
        let scale = ops::rsqrt(ops::add(var, eps)?)?;
        let of_weight = match self.x.is_empty() {
            true => products, // sums of nothing, whatever the variance of nothing
            false => ops::multiply(products, &scale)?,
        };
        let weighted = |t: &Tensor| match weight {
            Some(w) => ops::multiply(t, w),
            None => Ok(t.clone()),
        };
        let own = match is_given {
            true => None,
            false => {
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
        let all = [
            d.reshape(self.whole.shape())?,
            self.by_channel(of_weight)?,
            self.by_channel(of_bias)?,
        ];
        Ok((all, scale))
    }
    /// Sums of each channel of each example, added up over the batch.
    fn by_channel(&self, sums: Tensor) -> Result<Tensor> {
        let sums = ops::sum(&sums, 0)?.reshape(self.channels)?;
        sums.into_dtype(self.x.dtype())
    }
    /// All gradients from one pass, group by group while a group is in cache, if there are enough
    /// groups for the threads, and no squares are lost.
    fn of_groups(&self, weight: Option<&Tensor>, eps: f64) -> Result<Option<[Tensor; 3]>> {
        let dtype = self.x.dtype();
        let [batch, groups, channels] = [0, 1, 2].map(|axis| self.x.shape()[axis]);
        let n: usize = self.x.shape()[3..].iter().product();
        let enough = batch.saturating_mul(groups) >= ENOUGH && n >= LONG && channels > 0;
        if self.over_batch || !enough || dtype != dtype.wide() {
            return Ok(None);
        }
        let lines = [batch, groups, channels * n];
        let (g, x) = (self.grad.reshape(lines)?, self.x.reshape(lines)?);
        let mut d = Tensor::empty(lines, dtype)?;
        let mut sums = Tensor::empty([batch, groups, 4 * channels], dtype)?;
        let weight = weight.map(Tensor::contiguous).transpose()?;
        let lost = AtomicBool::new(false);
        let cost = Cost {
            bytes: (3 * channels * n).saturating_mul(dtype.size()),
            flops: (channels * n).saturating_mul(12),
        };
        dispatch!(float dtype, |F| {
            let weight = weight.as_ref().map(|w| w.as_slice::<F>()).transpose()?;
            Lines::new(&lines, 2)
                .input(g.elements())
                .input(x.elements())
                .output(d.elements_mut()?)
                .output(sums.elements_mut()?)
                .run(cost, |line| {
                    let first = line.index() % groups * channels;
                    let weight = weight.map_or(&[][..], |w| &w[first..first + channels]);
                    let (g, x): (&[F], &[F]) = (line.input(0), line.input(1));
                    if gradient::group(n, g, x, weight, eps, line.output(0), line.output(1)) {
                        lost.store(true, Relaxed);
                    }
                })?;
        }, else return Err(Error::unsupported(self.op, dtype)));
        if lost.into_inner() {
            return Ok(None);
        }
        let sums = sums.reshape([batch, groups * channels, 4])?;
        let of = |k: i64| self.by_channel(sums.select(2, k)?);
        Ok(Some([d.reshape(self.whole.shape())?, of(0)?, of(1)?]))
    }
    /// Mean and variance, those of `x` unless given, and the sums that need the mean.
    fn sums(&self, given: Option<(Tensor, Tensor)>) -> Result<ChannelSums> {
        let dtype = self.x.dtype();
        let n: usize = self.x.shape()[3..].iter().product();
        if n >= LONG && dtype == dtype.wide() && !self.x.is_empty() {
            return self.sums_of_rows(n, given);
        }
        let (mean, var) = match given {
            Some(given) => given,
            None => {
                let found = moments(self.op, &self.x, self.axes(2))?;
                (found.mean(dtype.wide())?, found.var(dtype.wide())?)
            }
        };
        let mut f = Formula::new(self.op, &[self.x.shape()], dtype)?;
        let (g, x) = (f.input(&self.grad)?, f.input(&self.x)?);
        let centre = f.input(&mean)?;
        let deviation = f.binary(&rows::Subtract::ROW, x, centre)?;
        let product = f.binary(&rows::Multiply::ROW, g, deviation)?;
        let [products, grads] = f.sums([product, g], self.axes(3).keepdims())?;
        Ok(ChannelSums {
            mean,
            var,
            products,
            grads,
        })
    }
    /// The same, all from one pass over the `n` elements of each channel of each example.
    fn sums_of_rows(&self, n: usize, given: Option<(Tensor, Tensor)>) -> Result<ChannelSums> {
        let dtype = self.x.dtype();
        let mut shape = Shape::from_slice(&self.x.shape()[..3]);
        shape.push(n);
        let (g, x) = (self.grad.reshape(&shape[..])?, self.x.reshape(&shape[..])?);
        shape[3] = 4;
        let mut sums = Tensor::empty(&shape, dtype)?;
        let cost = Cost {
            bytes: 2 * n * dtype.size(),
            flops: 6 * n,
        };
        dispatch!(float dtype, |F| {
            Lines::new(&shape, 3)
                .input(g.elements())
                .input(x.elements())
                .output(sums.elements_mut()?)
                .run(cost, |line| {
                    let (g, x): (&[F], &[F]) = (line.input(0), line.input(1));
                    gradient::channels(n, g, x, line.output(0))
                })?;
        }, else return Err(Error::unsupported(self.op, dtype)));
        let mut kept = Shape::from_elem(1, self.x.rank());
        kept[..3].copy_from_slice(&shape[..3]);
        let of = |k: i64| sums.select(3, k)?.reshape(&kept[..]);
        let [means, squares, grads, products] = [of(0)?, of(1)?, of(2)?, of(3)?];
        let (mean, var) = match given {
            Some(given) => given,
            None => {
                let sum = |t: &Tensor| ops::sum(t, self.axes(2).keepdims());
                let mean = ops::mean(&means, self.axes(2).keepdims())?;
                let apart = ops::subtract(&means, &mean)?;
                let between = ops::multiply(sum(&ops::multiply(&apart, &apart)?)?, n as f64)?;
                let elements = self.x.len() / mean.len();
                let var = ops::divide(ops::add(sum(&squares)?, between)?, elements as f64)?;
                (mean, var)
            }
        };
        let apart = ops::multiply(ops::subtract(&means, &mean)?, &grads)?;
        let products = ops::add(products, apart)?;
        let sum = |t: &Tensor| ops::sum(t, self.axes(3).keepdims());
        Ok(ChannelSums {
            mean,
            var,
            products: sum(&products)?,
            grads: sum(&grads)?,
        })
    }
    /// `grad * factor + (x - mean) * slope + rest`, or only the first term if mean and variance are
    /// given.
    fn of_x(&self, mean: &Tensor, factor: &Tensor, own: &Option<[Tensor; 2]>) -> Result<Tensor> {
        let dtype = self.x.dtype();
        let Some([slope, rest]) = own else {
            let mut f = Formula::new(self.op, &[self.x.shape()], dtype)?;
            let (g, factor) = (f.input(&self.grad)?, f.input(factor)?);
            let d = f.binary(&rows::Multiply::ROW, g, factor)?;
            return f.write(d, dtype);
        };
        let operands = (&self.grad, &self.x, factor, mean, slope, rest);
        dispatch!(floating dtype, |T| {
            type F = <T as MatElement>::Acc;
            ewise(operands, |g: T, x: T, factor: F, mean: F, slope: F, rest: F| {
                T::narrow(g.widen() * factor + ((x.widen() - mean) * slope + rest))
            })
        }, else Err(Error::unsupported(self.op, dtype)))
    }
}
