//! The terms of losses of classes, a chunk of targets at a time.

use super::classes::{ClassScores, doubles};
use super::{Reduction, scalar};
use crate::error::{Error, Result};
use crate::fallible;
use crate::kernel::elementwise::rows;
use crate::kernel::math::Real;
use crate::kernel::norm::classes::{self, CHUNK};
use crate::ops;
use crate::ops::formula::Formula;
use crate::ops::program::Var;
use crate::par::{self, Cost, Out};
use crate::tensor::Tensor;
use alloc::vec::Vec;

/// How the share of a target that is spread over all classes is made up.
pub struct Smoothing {
    /// The share.
    pub share: f64,
    /// The sum over classes of `weight * x`, for each target.
    pub sums: Tensor,
    /// The sum of the weights.
    pub total: f64,
}

/// What is known of a target's term before it is computed; all in the dtype that is computed in.
#[derive(Default)]
pub struct TermParts<'a> {
    /// The logsumexp of each line of scores; 0 if absent.
    pub logs: Option<&'a Tensor>,
    /// The scores of the targets' classes; they are gathered if absent.
    pub scores: Option<&'a Tensor>,
    /// A term includes a share of that for uniform targets, `weight * (log - x)` summed over
    /// classes.
    pub smoothing: Option<Smoothing>,
}

/// `x * weight`, 0 for a weight of 0 even if `x` is infinite: its class doesn't count.
pub(super) fn weighed(f: &mut Formula, x: Var, weight: Var) -> Result<Var> {
    let product = f.binary(&rows::Multiply::ROW, x, weight)?;
    let none = f.binary(&rows::Equal::ROW, weight, 0.0)?;
    f.ternary(&rows::Where::ROW, none, 0.0, product)
}

impl ClassScores {
    /// What spreading a share of each target over all classes takes.
    pub(super) fn smoothing(&self, share: f64) -> Result<Smoothing> {
        let over = self.axis as isize;
        let (sums, total) = match &self.weight {
            None => (ops::sum(&self.x, over)?, self.classes as f64),
            Some(w) => {
                let along = self.along_classes(w)?;
                let mut f = Formula::new(self.op, &[self.x.shape()], self.x.dtype())?;
                let (x, factor) = (f.input(&self.x)?, f.input(&along)?);
                let product = weighed(&mut f, x, factor)?;
                let products = f.write(product, self.x.dtype())?;
                (ops::sum(&products, over)?, doubles(w)?.iter().sum())
            }
        };
        Ok(Smoothing { share, sums, total })
    }
    /// The error for a target out of range.
    fn no_class(&self, class: i64, at: usize) -> Error {
        let message = message!(
            "class {class} out of range for {} classes (target, row-major position {at})",
            self.classes
        );
        Error::value(self.op, message)
    }
    /// The targets, which are checked, the factor of each class, and the sum of the weights.
    pub fn targets(&self, target: &Tensor, ignored: i64) -> Result<(Tensor, Vec<f64>, f64)> {
        let (targets, factors) = (self.given(target)?, self.factors()?);
        let given = targets.as_slice::<i64>()?;
        let mut parts: Vec<(f64, Option<usize>)> =
            fallible::filled((0.0, None), given.len().div_ceil(CHUNK))?;
        let cost = Cost {
            bytes: 8 * CHUNK,
            flops: 8 * CHUNK,
        };
        par::each(&mut parts, cost, |k, (sum, bad)| {
            let given = &given[k * CHUNK..given.len().min((k + 1) * CHUNK)];
            let mut weights = [0.0; CHUNK];
            let weights = &mut weights[..given.len()];
            *bad = classes::weights_of(given, self.classes, ignored, &factors, weights)
                .map(|at| k * CHUNK + at);
            *sum = classes::sum(weights);
        });
        if let Some(at) = parts.iter().find_map(|(_, bad)| *bad) {
            return Err(self.no_class(given[at], at));
        }
        let total = parts.iter().map(|(sum, _)| sum).sum();
        Ok((targets, factors, total))
    }
    /// Computes the terms, `log - score` at each target, weights and reduces them.
    pub(super) fn reduce(
        &self,
        given: &Tensor,
        ignored: i64,
        of: TermParts,
        reduction: Reduction,
    ) -> Result<Tensor> {
        let (given, factors) = (given.as_slice::<i64>()?, self.factors()?);
        let x = self.x.contiguous()?;
        let logs = of.logs.map(Tensor::contiguous).transpose()?;
        let smoothing = match of.smoothing {
            Some(s) => Some((s.share, s.sums.contiguous()?, s.total)),
            None => None,
        };
        let inner: usize = self.shape.iter().skip(self.axis).product();
        let each = (reduction == Reduction::None).then_some(given.len());
        let mut y = Tensor::empty([each.unwrap_or(0)], x.dtype())?;
        // the sums of terms and weights of a chunk, and where a target is out of range
        let mut parts: Vec<([f64; 2], Option<usize>)> =
            fallible::filled(([0.0; 2], None), given.len().div_ceil(CHUNK))?;
        let cost = Cost {
            bytes: 64 * CHUNK,
            flops: 16 * CHUNK,
        };
        dispatch!(float x.dtype(), |F| {
            let x = x.as_slice::<F>()?;
            let logs = logs.as_ref().map(|t| t.as_slice::<F>()).transpose()?;
            let scores = of.scores.map(|t| t.as_slice::<F>()).transpose()?;
            let smoothing = match &smoothing {
                Some((share, sums, total)) => Some((*share, sums.as_slice::<F>()?, *total)),
                None => None,
            };
            let out = Out::new(y.as_mut_slice::<F>()?);
            par::each(&mut parts, cost, |k, (sums, bad)| {
                let range = k * CHUNK..given.len().min((k + 1) * CHUNK);
                let (given, n) = (&given[range.clone()], range.len());
                let (mut weights, mut terms) = ([0.0; CHUNK], [0.0; CHUNK]);
                let (weights, terms) = (&mut weights[..n], &mut terms[..n]);
                *bad = classes::weights_of(given, self.classes, ignored, &factors, weights)
                    .map(|at| range.start + at);
                if bad.is_some() {
                    return;
                }
                let mut gathered = [0.0 as F; CHUNK];
                let scores = match scores {
                    Some(scores) => &scores[range.clone()],
                    None => {
                        let matrices = classes::ClassRows { x, classes: self.classes, inner };
                        matrices.gather(range.start, given, &mut gathered[..n]);
                        &gathered[..n]
                    }
                };
                let logs = logs.map(|logs| &logs[range.clone()]);
                classes::terms(weights, logs, scores, terms);
                if let Some((share, sums, total)) = smoothing {
                    for (j, term) in terms.iter_mut().enumerate().filter(|(j, _)| given[*j] != ignored) {
                        // the smoothing share is weighted by all classes, not by the target's
                        let log = logs.map_or(0.0, |logs| Real::to_f64(logs[j]));
                        let all = log * total - Real::to_f64(sums[range.start + j]);
                        *term = (1.0 - share) * *term + share / self.classes as f64 * all;
                    }
                }
                *sums = [classes::sum(terms), classes::sum(weights)];
                if each.is_some() {
                    // SAFETY: OUT1: chunks are disjoint.
                    let y = unsafe { out.part(range) };
                    y.iter_mut().zip(terms).for_each(|(y, term)| *y = *term as F);
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
}
