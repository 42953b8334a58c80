//! Losses of distributions over classes, which lie along axis 1, or the only axis.
//!
//! Logarithms of probabilities are never materialised: a term is the logsumexp of a line less the
//! score of its class.

use super::{Reduction, scalar};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::exec::lines::Lines;
use crate::fallible;
use crate::kernel::elementwise::rows;
use crate::kernel::math::Real;
use crate::kernel::norm;
use crate::layout::{Axes, Shape};
use crate::nn::check;
use crate::ops::formula::Formula;
use crate::ops::{self};
use crate::par::{self, Cost, Out};
use crate::tensor::Tensor;
use alloc::vec::Vec;

/// Terms that are summed in sequence, in one chunk.
const CHUNK: usize = 256;

/// The options of [`cross_entropy`].
///
/// Example: [`cross_entropy`].
#[derive(Clone, Copy, Debug)]
pub struct CrossEntropy<'a> {
    /// `[classes]`, a factor for the terms of each class; a mean is divided by the sum of the
    /// factors used.
    pub weight: Option<&'a Tensor>,
    /// Targets with this class are ignored.
    pub ignore_index: i64,
    /// The share of each target that is spread over all classes (Szegedy et al. 2016).
    pub label_smoothing: f64,
    /// How the terms are reduced.
    pub reduction: Reduction,
}
impl Default for CrossEntropy<'_> {
    fn default() -> Self {
        CrossEntropy {
            weight: None,
            ignore_index: -100,
            label_smoothing: 0.0,
            reduction: Reduction::Mean,
        }
    }
}
/// The options of [`nll_loss`].
///
/// ```
/// use flex::{Tensor, nn};
/// let x = Tensor::from([[-1.0f32, -2.0], [-3.0, -4.0]]);
/// let sum = nn::NllLoss { reduction: nn::Reduction::Sum, ignore_index: 0, ..Default::default() };
/// assert_eq!(nn::nll_loss(&x, &Tensor::from([0i64, 1]), sum)?.item::<f32>()?, 4.0);
/// # Ok::<(), flex::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct NllLoss<'a> {
    /// Like [`CrossEntropy::weight`].
    pub weight: Option<&'a Tensor>,
    /// Targets with this class are ignored.
    pub ignore_index: i64,
    /// How the terms are reduced.
    pub reduction: Reduction,
}
impl Default for NllLoss<'_> {
    fn default() -> Self {
        NllLoss {
            weight: None,
            ignore_index: -100,
            reduction: Reduction::Mean,
        }
    }
}

/// `-log(softmax(x))` at each target. `x` are scores, `[batch, classes, ..]` or `[classes]`;
/// `target` are class indices, integers of that shape without the axis of classes, or
/// probabilities, floats of the shape of `x`. There is one term per target.
///
/// Errors if shapes or dtypes don't fit, or if a class is out of range and not
/// [`ignore_index`](CrossEntropy::ignore_index), with the class and its position.
///
/// ```
/// use flex::{Tensor, nn};
/// let x = Tensor::from([[0.0f32, 0.0], [1000.0, 0.0]]);
/// let none = nn::CrossEntropy { reduction: nn::Reduction::None, ..Default::default() };
/// let y = nn::cross_entropy(&x, &Tensor::from([0i64, 1]), none)?;
/// assert_eq!(y.to_vec::<f32>()?, [0.6931472, 1000.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn cross_entropy(x: &Tensor, target: &Tensor, options: CrossEntropy) -> Result<Tensor> {
    const OP: &str = "cross_entropy";
    let CrossEntropy {
        weight,
        ignore_index,
        label_smoothing,
        reduction,
    } = options;
    check::share(OP, "label_smoothing", label_smoothing)?;
    let p = ClassScores::new(OP, x, target, weight)?;
    let sums = || ops::logsumexp(&p.x, Axes::from(p.axis as isize).keepdims());
    if target.dtype().is_float() {
        return p.of_probabilities(&sums()?, target, label_smoothing, reduction);
    }
    let spread = match label_smoothing {
        0.0 => None,
        share => Some((share, p.spread()?)),
    };
    let given = p.given(target)?;
    let (logs, scores) = match p.of_columns(&given)? {
        Some((logs, scores)) => (logs, Some(scores)),
        None => (sums()?, None),
    };
    let scores = scores.as_ref();
    p.reduce(&given, ignore_index, Some(&logs), scores, spread, reduction)
}

/// `-x` at each target, with log-probabilities `x`: [`cross_entropy`] for the result of
/// [`log_softmax`](crate::nn::log_softmax). Shapes and errors as there; targets are integers.
///
/// ```
/// use flex::{Tensor, nn};
/// let x = Tensor::from([[-1.0f32, -2.0], [-3.0, -4.0]]);
/// let y = nn::nll_loss(&x, &Tensor::from([0i64, -100]), Default::default())?;
/// assert_eq!(y.item::<f32>()?, 1.0);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn nll_loss(x: &Tensor, target: &Tensor, options: NllLoss) -> Result<Tensor> {
    let NllLoss {
        weight,
        ignore_index,
        reduction,
    } = options;
    let p = ClassScores::new("nll_loss", x, target, weight)?;
    p.reduce(&p.given(target)?, ignore_index, None, None, None, reduction)
}

/// Scores, their axis of classes, and the dtype of the result.
pub(in crate::nn) struct ClassScores {
    op: &'static str,
    /// In the dtype that is computed in.
    pub x: Tensor,
    pub axis: usize,
    pub classes: usize,
    /// The shape of the terms.
    pub shape: Shape,
    pub weight: Option<Tensor>,
    pub dtype: DType,
}

impl ClassScores {
    pub fn new(
        op: &'static str,
        x: &Tensor,
        target: &Tensor,
        weight: Option<&Tensor>,
    ) -> Result<ClassScores> {
        let dtype = x.dtype();
        if !dtype.is_float() || dtype.is_storage() || !dtype.is_available() {
            return Err(Error::unsupported(op, dtype));
        }
        let operands = [
            ("x", x.shape(), dtype),
            ("target", target.shape(), target.dtype()),
        ];
        let axis = usize::from(x.rank() > 1);
        let Some(classes) = x.shape().get(axis).copied() else {
            let message = "x must have the shape [batch, classes, ..] or [classes]";
            return Err(Error::shape_of(op, message, &operands));
        };
        let mut shape = Shape::from_slice(x.shape());
        shape.remove(axis);
        let wanted = if target.dtype().is_float() {
            x.shape()
        } else {
            &shape
        };
        if target.shape() != wanted {
            let message = message!("target must have the shape {wanted:?}");
            return Err(Error::shape_of(op, message, &operands));
        }
        if let Some(w) = weight {
            if w.dtype().is_complex() || w.dtype().is_storage() {
                let message = message!("weight is {}; it must be real", w.dtype());
                return Err(Error::dtype(op, message));
            }
            if w.shape() != [classes] {
                let message =
                    message!("weight must have the shape [{classes}], a number for each class");
                let operands = [operands[0], ("weight", w.shape(), w.dtype())];
                return Err(Error::shape_of(op, message, &operands));
            }
        }
        let wide = dtype.wide();
        Ok(ClassScores {
            op,
            x: x.astype(wide)?,
            axis,
            classes,
            shape,
            weight: weight.map(|w| w.astype(wide)).transpose()?,
            dtype,
        })
    }
    /// The targets: read once, since they may lie in borrowed memory (READ1).
    fn given(&self, target: &Tensor) -> Result<Tensor> {
        if !target.dtype().is_integer() {
            let message = message!("target must be integers, not {}", target.dtype());
            return Err(Error::dtype(self.op, message));
        }
        target.astype(DType::I64)?.copy()
    }
    /// The error for a target that is no class.
    fn no_class(&self, class: i64, at: usize) -> Error {
        let message = message!(
            "target has {class} at row-major position {at}, which is no class: there are {}",
            self.classes
        );
        Error::value(self.op, message)
    }
    /// The factor of each class, or none.
    fn factors(&self) -> Result<Vec<f64>> {
        self.weight.as_ref().map_or(Ok(Vec::new()), doubles)
    }
    /// The class and weight of a target, whose factor is 1 without `factors`: `Some(None)` if it is
    /// ignored, `None` if it is no class.
    #[inline(always)]
    pub fn weighed(
        &self,
        class: i64,
        ignored: i64,
        factors: &[f64],
    ) -> Option<Option<(usize, f64)>> {
        if class == ignored {
            return Some(None);
        }
        let class = usize::try_from(class).ok().filter(|c| *c < self.classes)?;
        Some(Some((class, factors.get(class).copied().unwrap_or(1.0))))
    }
    /// The targets, which are checked, the factor of each class, and the sum of the weights.
    pub fn targets(&self, target: &Tensor, ignored: i64) -> Result<(Tensor, Vec<f64>, f64)> {
        let (targets, factors) = (self.given(target)?, self.factors()?);
        let given = targets.as_slice::<i64>()?;
        let mut parts: Vec<(f64, Option<usize>)> =
            fallible::filled((0.0, None), given.len().div_ceil(CHUNK))?;
        let cost = Cost {
            bytes: 8 * CHUNK,
            flops: 16 * CHUNK,
        };
        par::each(&mut parts, cost, |k, (weights, bad)| {
            for (i, class) in given[k * CHUNK..].iter().take(CHUNK).enumerate() {
                match self.weighed(*class, ignored, &factors) {
                    Some(weighed) => *weights += weighed.map_or(0.0, |(_, weight)| weight),
                    None => *bad = bad.or(Some(k * CHUNK + i)),
                }
            }
        });
        if let Some(at) = parts.iter().find_map(|(_, bad)| *bad) {
            return Err(self.no_class(given[at], at));
        }
        let total = parts.iter().map(|(weights, _)| weights).sum();
        Ok((targets, factors, total))
    }
    /// The sum over classes of `weight * x`, and that of the weights.
    fn spread(&self) -> Result<(Tensor, f64)> {
        let over = self.axis as isize;
        let Some(w) = &self.weight else {
            return Ok((ops::sum(&self.x, over)?, self.classes as f64));
        };
        let along = self.along_classes(w)?;
        let mut f = Formula::new(self.op, &[self.x.shape()], self.x.dtype())?;
        let (x, factor) = (f.input(&self.x)?, f.input(&along)?);
        let product = f.binary(&rows::Multiply::ROW, x, factor)?;
        let products = f.write(product, self.x.dtype())?;
        Ok((ops::sum(&products, over)?, doubles(w)?.iter().sum()))
    }
    /// The logsumexp for each target, and the score of its class if it is one, where both are found
    /// in one pass over the scores.
    fn of_columns(&self, given: &Tensor) -> Result<Option<(Tensor, Tensor)>> {
        let given = given.as_slice::<i64>()?;
        let (n, dtype) = (self.classes, self.x.dtype());
        let mut shape = Shape::from_slice(self.x.shape());
        shape[self.axis] = 1;
        let (mut logs, mut scores) = (Tensor::empty(&shape, dtype)?, Tensor::empty(&shape, dtype)?);
        let cost = Cost {
            bytes: n * dtype.size(),
            flops: 24 * n,
        };
        let are_columns = dispatch!(float dtype, |F| {
            Lines::new(self.x.shape(), self.axis)
                .columns(norm::CHUNK)
                .input(self.x.elements())
                .output(logs.elements_mut()?)
                .output(scores.elements_mut()?)
                .scratch(n, dtype)
                .run_columns(cost, |line| {
                    let (x, scores) = (line.input::<F>(0), line.output::<F>(1));
                    norm::classes::logs_of_columns(n, x, line.scratch(0), line.output(0));
                    for (j, score) in scores.iter_mut().take(line.count()).enumerate() {
                        let class = given[line.index_of(j)] as usize;
                        if class < n {
                            *score = x[line.place(n, j, class)];
                        }
                    }
                })?
        }, else return Err(Error::unsupported(self.op, self.dtype)));
        Ok(are_columns.then_some((logs, scores)))
    }
    /// Computes the terms, `log - score` at each target, weights and reduces them. `logs` are 0 if
    /// absent; `scores`, those of the targets' classes, are gathered then. With smoothing, a term
    /// includes a share of that for uniform targets, `weight * (log - x)` summed over classes.
    fn reduce(
        &self,
        given: &Tensor,
        ignored: i64,
        logs: Option<&Tensor>,
        scores: Option<&Tensor>,
        smoothing: Option<(f64, (Tensor, f64))>,
        reduction: Reduction,
    ) -> Result<Tensor> {
        let (given, factors) = (given.as_slice::<i64>()?, self.factors()?);
        let (x, logs) = (
            self.x.contiguous()?,
            logs.map(Tensor::contiguous).transpose()?,
        );
        let smoothing = match smoothing {
            Some((share, (sums, total))) => Some((share, sums.contiguous()?, total)),
            None => None,
        };
        let inner: usize = self.shape.iter().skip(self.axis).product();
        let each = (reduction == Reduction::None).then_some(given.len());
        let mut y = Tensor::empty([each.unwrap_or(0)], x.dtype())?;
        // the sums of terms and weights of a chunk, and where a target is no class
        let mut parts: Vec<([f64; 2], Option<usize>)> =
            fallible::filled(([0.0; 2], None), given.len().div_ceil(CHUNK))?;
        let cost = Cost {
            bytes: 64 * CHUNK,
            flops: 16 * CHUNK,
        };
        dispatch!(float x.dtype(), |F| {
            let x = x.as_slice::<F>()?;
            let logs = logs.as_ref().map(|t| t.as_slice::<F>()).transpose()?;
            let scores = scores.map(|t| t.as_slice::<F>()).transpose()?;
            let smoothing = match &smoothing {
                Some((share, sums, total)) => Some((*share, sums.as_slice::<F>()?, *total)),
                None => None,
            };
            let out = Out::new(y.as_mut_slice::<F>()?);
            par::each(&mut parts, cost, |k, ([sum, weights], bad)| {
                let range = k * CHUNK..given.len().min((k + 1) * CHUNK);
                // SAFETY: OUT1: chunks are disjoint.
                let mut y = unsafe { out.part(if each.is_some() { range.clone() } else { 0..0 }) }.iter_mut();
                let (mut batch, mut place) = (range.start / inner, range.start % inner);
                for at in range {
                    let Some(weighed) = self.weighed(given[at], ignored, &factors) else {
                        *bad = Some(at);
                        return;
                    };
                    let mut term = 0.0;
                    if let Some((class, weight)) = weighed {
                        let score = Real::to_f64(match scores {
                            Some(scores) => scores[at],
                            None => x[(batch * self.classes + class) * inner + place],
                        });
                        let log = logs.map_or(0.0, |l| Real::to_f64(l[at]));
                        // terms of weight 0 may be infinite
                        term = if weight == 0.0 { 0.0 } else { weight * (log - score) };
                        if let Some((share, sums, total)) = smoothing {
                            // the spread share is weighted by all classes, not by the target's
                            let all = log * total - Real::to_f64(sums[at]);
                            term = (1.0 - share) * term + share / self.classes as f64 * all;
                        }
                        *weights += weight;
                    }
                    *sum += term;
                    if let Some(y) = y.next() {
                        *y = term as F;
                    }
                    place += 1;
                    if place == inner {
                        (batch, place) = (batch + 1, 0);
                    }
                }
            });
        }, else return Err(Error::unsupported(self.op, self.dtype)));
        if let Some(at) = parts.iter().find_map(|(_, bad)| *bad) {
            return Err(self.no_class(given[at], at));
        }
        let total = |k: usize| parts.iter().map(|(sums, _)| sums[k]).sum::<f64>();
        match reduction {
            Reduction::Sum => scalar(self.op, total(0), self.dtype),
            Reduction::Mean => scalar(self.op, total(0) / total(1), self.dtype),
            Reduction::None => y.reshape(&self.shape[..])?.into_dtype(self.dtype),
        }
    }
    /// A weight, shaped to broadcast to the scores.
    pub fn along_classes(&self, weight: &Tensor) -> Result<Tensor> {
        let mut shape = Shape::from_elem(1, self.x.rank());
        shape[self.axis] = self.classes;
        weight.reshape(&shape[..])
    }
    /// The loss for probabilities of classes.
    fn of_probabilities(
        &self,
        sums: &Tensor,
        target: &Tensor,
        smoothing: f64,
        reduction: Reduction,
    ) -> Result<Tensor> {
        let w = self
            .weight
            .as_ref()
            .map(|w| self.along_classes(w))
            .transpose()?;
        let mut f = Formula::new(self.op, &[self.x.shape()], self.x.dtype())?;
        let (x, mut t, log) = (f.input(&self.x)?, f.input(target)?, f.input(sums)?);
        if smoothing > 0.0 {
            let kept = f.binary(&rows::Multiply::ROW, t, 1.0 - smoothing)?;
            t = f.binary(&rows::Add::ROW, kept, smoothing / self.classes as f64)?;
        }
        let cost = f.binary(&rows::Subtract::ROW, log, x)?;
        let mut y = f.binary(&rows::Multiply::ROW, cost, t)?;
        if let Some(w) = &w {
            let w = f.input(w)?;
            y = f.binary(&rows::Multiply::ROW, y, w)?;
        }
        let terms: usize = self.shape.iter().product();
        match reduction {
            Reduction::Sum => scalar(self.op, f.sum(y)?, self.dtype),
            Reduction::Mean => scalar(self.op, f.sum(y)? / terms as f64, self.dtype),
            Reduction::None => {
                let all = f.write(y, self.x.dtype())?;
                ops::sum(&all, self.axis as isize)?.into_dtype(self.dtype)
            }
        }
    }
}

/// All elements of a float tensor.
pub(in crate::nn) fn doubles(x: &Tensor) -> Result<Vec<f64>> {
    let x = x.contiguous()?;
    let mut all = fallible::with_capacity(x.len())?;
    dispatch!(float x.dtype(), |F| all.extend(x.as_slice::<F>()?.iter().map(|x| Real::to_f64(*x))),
        else return Err(Error::unsupported("float64", x.dtype())));
    Ok(all)
}
