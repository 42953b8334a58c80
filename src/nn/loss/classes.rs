//! Scores of classes, which lie along axis 1, or the only axis, and their targets.

use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::exec::lines::Lines;
use crate::fallible;
use crate::kernel::math::Real;
use crate::kernel::norm;
use crate::layout::Shape;
use crate::par::Cost;
use crate::tensor::Tensor;
use alloc::vec::Vec;

/// Scores, their axis of classes, and the dtype of the result.
pub(in crate::nn) struct ClassScores {
    pub op: &'static str,
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
    /// The targets, copied, since they may lie in borrowed memory (READ1).
    pub(super) fn given(&self, target: &Tensor) -> Result<Tensor> {
        if !target.dtype().is_integer() {
            let message = message!("target must be integers, not {}", target.dtype());
            return Err(Error::dtype(self.op, message));
        }
        target.copy_once()?.into_dtype(DType::I64)
    }
    /// The factor of each class, or none.
    pub(super) fn factors(&self) -> Result<Vec<f64>> {
        self.weight.as_ref().map_or(Ok(Vec::new()), doubles)
    }
    /// The class and weight of a checked target, whose factor is 1 without `factors`; none if it is
    /// ignored.
    #[inline(always)]
    pub fn weighed(&self, class: i64, ignored: i64, factors: &[f64]) -> Option<(usize, f64)> {
        if class == ignored {
            return None;
        }
        let class = usize::try_from(class).ok().filter(|c| *c < self.classes)?;
        Some((class, factors.get(class).copied().unwrap_or(1.0)))
    }
    /// The logsumexp for each target, and the score of its class if it is one, where both are found
    /// in one pass over the scores.
    pub(super) fn of_columns(&self, given: &Tensor) -> Result<Option<(Tensor, Tensor)>> {
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
                            *score = x[line.position(n, j, class)];
                        }
                    }
                })?
        }, else return Err(Error::unsupported(self.op, self.dtype)));
        Ok(are_columns.then_some((logs, scores)))
    }
    /// A weight, shaped to broadcast to the scores.
    pub fn along_classes(&self, weight: &Tensor) -> Result<Tensor> {
        let mut shape = Shape::from_elem(1, self.x.rank());
        shape[self.axis] = self.classes;
        weight.reshape(&shape[..])
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
