//! The gradient of attention, split into heads that share keys and values, and these into blocks of
//! queries.

use crate::dtype::{DType, Element};
use crate::error::Result;
use crate::exec::failure::try_chunks;
use crate::fallible;
use crate::kernel::elementwise::rows;
use crate::kernel::math::Real;
use crate::layout::Shape;
use crate::nn::attention::{AttentionProblem, split_heads};
use crate::nn::grad::{self, common_float, expect_shape};
use crate::nn::softmax;
use crate::ops::formula::Formula;
use crate::ops::{self, matmul};
use crate::par::Cost;
use crate::tensor::Tensor;
use alloc::vec::Vec;
use core::ops::Range;

/// All heads, in groups that share keys and values.
pub struct GroupedHeads<'a> {
    op: &'static str,
    pub problem: &'a AttentionProblem,
    /// Whether `problem` has a dimension for the heads of a group.
    grouped: bool,
    /// The dimensions before a group.
    pub lead: Shape,
    /// The number of heads that share keys and values.
    pub group: usize,
    /// Queries, keys, depth and width.
    pub sizes: [usize; 4],
    /// `[lead.., group, queries, width]`
    grad: Tensor,
    /// `[lead.., group, queries, depth]`
    q: Tensor,
    /// `[lead.., 1, keys, depth]`
    k: Tensor,
    /// `[lead.., 1, keys, width]`
    v: Tensor,
    /// `[lead.., group, queries, keys]`
    mask: Option<Tensor>,
}

impl<'a> GroupedHeads<'a> {
    pub fn new(
        op: &'static str,
        grad: &Tensor,
        problem: &'a AttentionProblem,
        grouped: bool,
    ) -> Result<GroupedHeads<'a>> {
        let mut lead = problem.lead.clone();
        let group = if grouped { lead.pop().unwrap_or(1) } else { 1 };
        let sizes = problem.sizes();
        let [queries, keys, depth, width] = sizes;
        let mut result = lead.clone();
        if let (true, Some(groups)) = (grouped, result.last_mut()) {
            *groups *= group;
        }
        result.extend([queries, width]);
        expect_shape(op, grad, &result, ("query", &problem.q))?;
        common_float(op, &[grad, &problem.q])?;
        let grad = match (grouped, lead.last()) {
            (true, Some(groups)) => split_heads(grad, *groups)?,
            _ => grad.expand_dims(-3)?,
        };
        let of = |t: &Tensor, sizes: [usize; 3]| {
            let t = if grouped {
                t.clone()
            } else {
                t.expand_dims(-3)?
            };
            t.broadcast_to(lead.iter().copied().chain(sizes).collect::<Shape>())
        };
        let mask = problem.mask.as_ref();
        Ok(GroupedHeads {
            op,
            q: of(&problem.q, [group, queries, depth])?,
            k: of(&problem.k, [1, keys, depth])?,
            v: of(&problem.v, [1, keys, width])?,
            mask: mask.map(|m| of(m, [group, queries, keys])).transpose()?,
            problem,
            grouped,
            lead,
            group,
            sizes,
            grad,
        })
    }
    /// An operand of the problem with a dimension for the heads of a group.
    pub fn expanded(&self, t: &Tensor) -> Result<Tensor> {
        if self.grouped {
            Ok(t.clone())
        } else {
            t.expand_dims(-3)
        }
    }
    /// Calls `f` for each group of heads, over the threads.
    pub fn each(&self, f: impl Fn(usize, HeadGroup) -> Result<()> + Sync) -> Result<()> {
        let tasks: usize = self.lead.iter().product();
        let [queries, keys, depth, width] = self.sizes;
        let scores = self.group.saturating_mul(queries).saturating_mul(keys);
        let cost = Cost {
            bytes: scores.saturating_mul(4 * self.problem.dtype.wide().size()),
            flops: scores.saturating_mul(2 * (3 * depth + 2 * width) + 64),
        };
        try_chunks(tasks, cost, |task| f(task, self.head(task)?))
    }
    /// The heads of a task.
    fn head(&self, task: usize) -> Result<HeadGroup<'_>> {
        let wide = self.problem.dtype.wide();
        let at = |t: &Tensor| -> Result<Tensor> {
            let (mut t, mut rest) = (t.clone(), task);
            for axis in (0..self.lead.len()).rev() {
                t = t.select(axis as isize, (rest % self.lead[axis]) as i64)?;
                rest /= self.lead[axis];
            }
            Ok(t)
        };
        Ok(HeadGroup {
            heads: self,
            grad: at(&self.grad)?,
            q: at(&self.q)?,
            k: at(&self.k)?.squeeze(0)?.astype(wide)?,
            v: at(&self.v)?.squeeze(0)?.astype(wide)?,
            mask: self.mask.as_ref().map(at).transpose()?,
        })
    }
}

/// The operands of heads that share keys and values.
pub struct HeadGroup<'a> {
    heads: &'a GroupedHeads<'a>,
    grad: Tensor,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Option<Tensor>,
}

/// A block of consecutive queries of all heads of a group, and the keys that they see, as matrices
/// whose rows are the queries, head by head.
pub struct QueryBlock<'a> {
    op: &'static str,
    pub queries: Range<usize>,
    pub seen: Range<usize>,
    pub grad: Tensor,
    /// The queries, times the scale.
    pub q: Tensor,
    pub k: Tensor,
    /// The attention weights of the keys.
    pub weights: Tensor,
    /// Their gradient.
    pub of_weights: Tensor,
    /// The tanh of the softcap.
    cap: Option<&'a Tensor>,
}

impl QueryBlock<'_> {
    /// The gradient of the scores before the softcap.
    pub fn before_cap(&self) -> Result<Tensor> {
        let slope = grad::softmax(&self.of_weights, &self.weights, -1)?;
        let Some(cap) = self.cap else {
            return Ok(slope);
        };
        let mut f = Formula::new(self.op, &[cap.shape()], cap.dtype())?;
        let (after, cap) = (f.input(&slope)?, f.input(cap)?);
        let square = f.unary(&rows::Square::ROW, cap)?;
        let factor = f.binary(&rows::Subtract::ROW, 1.0, square)?;
        let d = f.binary(&rows::Multiply::ROW, after, factor)?;
        f.write(d, slope.dtype())
    }
}

impl HeadGroup<'_> {
    /// Calls `f` for blocks of queries, in order. How they are cut follows from sizes and options
    /// alone.
    pub fn blocks<F: Real + Element>(
        &self,
        mut f: impl FnMut(&QueryBlock) -> Result<()>,
    ) -> Result<()> {
        /// Elements of a block's matrix of scores.
        const ROOM: usize = 1 << 17;
        /// The most rows: more would fill the caches, and reach further beyond a band.
        const MAX_ROWS: usize = 128;
        /// The fewest rows: with fewer, keys are read too often.
        const MIN_ROWS: usize = 16;
        let [all, keys, ..] = self.heads.sizes;
        let band = self.heads.problem.scores.band;
        let mut start = 0;
        while start < all {
            let seen = band.of(start, keys).len().max(1);
            let rows = (ROOM / seen).clamp(MIN_ROWS, MAX_ROWS) / self.heads.group.max(1);
            let queries = start..all.min(start + rows.max(1));
            start = queries.end;
            let seen = band.over(queries.clone(), keys);
            if !seen.is_empty() {
                self.block::<F>(queries, seen, &mut f)?;
            }
        }
        Ok(())
    }
    fn block<F: Real + Element>(
        &self,
        queries: Range<usize>,
        seen: Range<usize>,
        f: &mut impl FnMut(&QueryBlock) -> Result<()>,
    ) -> Result<()> {
        let GroupedHeads {
            op, group, problem, ..
        } = *self.heads;
        let (n, width, wide) = (queries.len(), seen.len(), problem.dtype.wide());
        let rows_of = |t: &Tensor| -> Result<Tensor> {
            let t = t.narrow(1, queries.start, n)?.astype(wide)?;
            t.reshape((group * n, t.shape()[2]))
        };
        let keys_of = |t: &Tensor| t.narrow(0, seen.start, width);
        let (k, v) = (keys_of(&self.k)?, keys_of(&self.v)?);
        let q = ops::multiply(rows_of(&self.q)?, problem.scores.scale)?;
        let grad = rows_of(&self.grad)?;
        let mut scores = matmul(&q, &k.transpose(0, 1)?)?;
        let mut cap = None;
        if let Some(limit) = problem.scores.softcap {
            let tanh = ops::tanh(ops::divide(scores, limit)?)?;
            scores = ops::multiply(&tanh, limit)?;
            cap = Some(tanh);
        }
        if let Some(mask) = &self.mask {
            let mask = mask
                .narrow(1, queries.start, n)?
                .narrow(2, seen.start, width)?;
            scores = scores.reshape((group, n, width))?;
            scores = match mask.dtype() {
                DType::Bool => ops::where_(&mask, scores, f64::NEG_INFINITY)?,
                _ => ops::add(scores, mask.astype(wide)?)?,
            };
            scores = scores.reshape((group * n, width))?;
        }
        let none = F::from_f64(f64::NEG_INFINITY);
        let tile = scores.as_mut_slice::<F>()?;
        for own in tile.chunks_exact_mut(n * width) {
            problem
                .scores
                .band
                .confine(own, width, queries.clone(), seen.clone(), none);
        }
        // a query that sees no key has weights of 0, where softmax gives NaN
        let blind: Vec<bool> = fallible::collect(
            tile.chunks_exact(width)
                .map(|row| Ok(row.iter().all(|x| *x == none))),
        )?;
        let mut weights = softmax(&scores, -1)?;
        drop(scores); // the product below writes to its block, which is in cache
        for (row, blind) in weights
            .as_mut_slice::<F>()?
            .chunks_exact_mut(width)
            .zip(blind)
        {
            if blind {
                row.fill(F::ZERO);
            }
        }
        let of_weights = matmul(&grad, &v.transpose(0, 1)?)?;
        f(&QueryBlock {
            op,
            queries,
            seen,
            grad,
            q,
            k,
            weights,
            of_weights,
            cap: cap.as_ref(),
        })
    }
}
