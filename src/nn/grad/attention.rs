//! Of attention. Scores are computed again, a block of queries at a time, as FlashAttention does
//! (Dao et al. 2022): with `P = softmax(S)` and `dP = grad v^T` the scores have the gradient
//! `dS = P (dP - sum(P dP))`, and `q`, `k`, `v` have `dS k`, `dS^T q` and `P^T grad`.
//!
//! A piece of work is all queries of the heads that share keys and values, whose gradients it adds up in
//! order; so bits don't depend on threads. A block's matrices stay in L2; no matrix of all scores
//! exists.

use super::{common_float, expect_shape};
use crate::dtype::{DType, Element};
use crate::error::{Error, Result};
use crate::exec::failure::Failure;
use crate::fallible;
use crate::kernel::elementwise::rows;
use crate::kernel::math::Real;
use crate::layout::{Axes, Shape};
use crate::nn::attention::{Problem, split_heads};
use crate::nn::{Attention, softmax};
use crate::ops::formula::Formula;
use crate::ops::{self, matmul};
use crate::par::{self, Cost, Out};
use crate::tensor::Tensor;
use alloc::vec::Vec;
use core::ops::Range;
use smallvec::SmallVec;

/// The gradients of `q`, `k` and `v` of
/// [`scaled_dot_product_attention`](crate::nn::scaled_dot_product_attention), in their shapes; those of
/// what was repeated by broadcasting or by grouped heads are added up.
///
/// Options are those of that function. Scores are computed anew, by blocks of queries, and no matrix of all
/// of them is made. 16-bit floats are computed in float32 and rounded once. A query for which no key takes
/// part passes nothing on.
///
/// Errors as for that function, and where `grad` has not the shape of its result.
///
/// ```
/// use flex::{Tensor, nn};
/// let (q, k) = (Tensor::from([[0.0f32]]), Tensor::from([[1.0f32], [2.0]]));
/// let v = Tensor::from([[4.0f32], [8.0]]);
/// let grad = Tensor::from([[1.0f32]]);
/// let [q, k, v] = nn::grad::scaled_dot_product_attention(&grad, &q, &k, &v, Default::default())?;
/// assert_eq!(q.to_vec::<f32>()?, [1.0]);
/// assert_eq!(k.to_vec::<f32>()?, [0.0, 0.0]);
/// assert_eq!(v.to_vec::<f32>()?, [0.5, 0.5]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn scaled_dot_product_attention(
    grad: &Tensor,
    q: &Tensor,
    k: &Tensor,
    v: &Tensor,
    options: Attention,
) -> Result<[Tensor; 3]> {
    const OP: &str = "grad.scaled_dot_product_attention";
    let p = Problem::new(OP, q, k, v, options)?;
    let heads = Heads::new(OP, grad, &p, options.grouped)?;
    let [queries, keys, depth, width] = heads.sizes;
    let wide = p.dtype.wide();
    let shape = |sizes: &[usize]| heads.lead.iter().chain(sizes).copied().collect::<Shape>();
    let mut dq = Tensor::zeros(shape(&[heads.group, queries, depth]), wide)?;
    let mut dk = Tensor::zeros(shape(&[1, keys, depth]), wide)?;
    let mut dv = Tensor::zeros(shape(&[1, keys, width]), wide)?;
    dispatch!(float wide, |F| {
        let dq = Out::new(dq.as_mut_slice::<F>()?);
        let (dk, dv) = (Out::new(dk.as_mut_slice::<F>()?), Out::new(dv.as_mut_slice::<F>()?));
        heads.each(|task, head| {
            let of = |rows: usize, columns: usize| {
                let n = rows * columns;
                task * n..(task + 1) * n
            };
            // SAFETY: OUT1: each piece of work has parts of its own.
            let (dq, dk, dv) = unsafe {
                (
                    dq.part(of(heads.group * queries, depth)),
                    dk.part(of(keys, depth)),
                    dv.part(of(keys, width)),
                )
            };
            head.blocks::<F>(|block| {
                let (seen, n) = (block.seen.start, block.queries.len());
                let slope = block.before_cap()?;
                let part = matmul(&block.weights.transpose(0, 1)?, &block.grad)?;
                add(&mut dv[seen * width..], part.as_slice::<F>()?);
                let part = matmul(&slope.transpose(0, 1)?, &block.q)?;
                add(&mut dk[seen * depth..], part.as_slice::<F>()?);
                let part = ops::multiply(matmul(&slope, &block.k)?, heads.problem.scores.scale)?;
                let part = part.as_slice::<F>()?;
                for g in 0..heads.group {
                    let start = (g * queries + block.queries.start) * depth;
                    let own = &part[g * n * depth..(g + 1) * n * depth];
                    dq[start..start + n * depth].copy_from_slice(own);
                }
                Ok(())
            })
        })
    }, else return Err(Error::unsupported(OP, p.dtype)))?;
    let back = |d: Tensor, operand: &Tensor, given: &Tensor| {
        summed_to(d, heads.expanded(operand)?.shape())?
            .into_dtype(p.dtype)?
            .reshape(given.shape())
    };
    Ok([back(dq, &p.q, q)?, back(dk, &p.k, k)?, back(dv, &p.v, v)?])
}

/// The gradient of the mask of [`scaled_dot_product_attention`], a float that is added to scores, in its
/// shape: that of the scores, added up where the mask was repeated. It takes a matrix of all scores.
///
/// Errors as for that function, and where there is no mask or it is bool.
///
/// ```
/// use flex::{Tensor, nn};
/// let (q, k) = (Tensor::from([[0.0f32]]), Tensor::from([[1.0f32], [2.0]]));
/// let (v, bias) = (Tensor::from([[4.0f32], [8.0]]), Tensor::from([[0.0f32, 0.0]]));
/// let options = nn::Attention { mask: Some(&bias), ..Default::default() };
/// let grad = Tensor::from([[1.0f32]]);
/// let d = nn::grad::scaled_dot_product_attention_mask(&grad, &q, &k, &v, options)?;
/// assert_eq!(d.to_vec::<f32>()?, [-1.0, 1.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn scaled_dot_product_attention_mask(
    grad: &Tensor,
    q: &Tensor,
    k: &Tensor,
    v: &Tensor,
    options: Attention,
) -> Result<Tensor> {
    const OP: &str = "grad.scaled_dot_product_attention_mask";
    let Some(mask) = options.mask.filter(|m| m.dtype().is_float()) else {
        return Err(Error::value(OP, "there is no mask of floats"));
    };
    let dtype = common_float(OP, &[mask])?;
    let p = Problem::new(OP, q, k, v, options)?;
    let heads = Heads::new(OP, grad, &p, options.grouped)?;
    let [queries, keys, ..] = heads.sizes;
    let wide = p.dtype.wide();
    let shape: Shape = heads
        .lead
        .iter()
        .copied()
        .chain([heads.group, queries, keys])
        .collect();
    let mut d = Tensor::zeros(shape, wide)?;
    dispatch!(float wide, |F| {
        let d = Out::new(d.as_mut_slice::<F>()?);
        let n = heads.group * queries * keys;
        heads.each(|task, head| {
            // SAFETY: OUT1: each piece of work has a part of its own.
            let d = unsafe { d.part(task * n..(task + 1) * n) };
            head.blocks::<F>(|block| {
                let (width, n) = (block.seen.len(), block.queries.len());
                let slope = block.slope.as_slice::<F>()?;
                for (row, from) in slope.chunks_exact(width).enumerate() {
                    let i = row / n * queries + block.queries.start + row % n;
                    let start = i * keys + block.seen.start;
                    d[start..start + width].copy_from_slice(from);
                }
                Ok(())
            })
        })
    }, else return Err(Error::unsupported(OP, p.dtype)))?;
    let mut together = heads.lead.clone();
    match together.last_mut() {
        Some(groups) if options.grouped => *groups *= heads.group,
        _ => {}
    }
    together.extend([queries, keys]);
    summed_to(d.reshape(&together[..])?, mask.shape())?.into_dtype(dtype)
}

/// Heads that share keys and values, and those that share them.
struct Heads<'a> {
    op: &'static str,
    problem: &'a Problem,
    /// Whether `problem` has a dimension for heads that share keys and values.
    grouped: bool,
    /// The dimensions before these heads.
    lead: Shape,
    /// How many heads share keys and values.
    group: usize,
    /// Queries, keys, depth, width.
    sizes: [usize; 4],
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

impl<'a> Heads<'a> {
    fn new(
        op: &'static str,
        grad: &Tensor,
        problem: &'a Problem,
        grouped: bool,
    ) -> Result<Heads<'a>> {
        let mut lead = problem.lead.clone();
        let group = if grouped { lead.pop().unwrap_or(1) } else { 1 };
        let sizes = problem.sizes();
        let [queries, keys, depth, width] = sizes;
        let mut result = lead.clone();
        if let (true, Some(groups)) = (grouped, result.last_mut()) {
            *groups *= group;
        }
        result.extend([queries, width]);
        expect_shape(op, grad, &result, ("q", &problem.q))?;
        common_float(op, &[grad, &problem.q])?;
        let grad = match (grouped, lead.last()) {
            (true, Some(groups)) => split_heads(op, grad, *groups)?,
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
        Ok(Heads {
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
    /// An operand of the problem, with a dimension for heads that share keys and values.
    fn expanded(&self, t: &Tensor) -> Result<Tensor> {
        if self.grouped {
            Ok(t.clone())
        } else {
            t.expand_dims(-3)
        }
    }
    /// Calls `f` for all heads that share keys and values, over the threads.
    fn each(&self, f: impl Fn(usize, Head) -> Result<()> + Sync) -> Result<()> {
        let tasks: usize = self.lead.iter().product();
        let [queries, keys, depth, width] = self.sizes;
        let scores = self.group.saturating_mul(queries).saturating_mul(keys);
        let cost = Cost {
            bytes: scores.saturating_mul(4 * self.problem.dtype.wide().size()),
            flops: scores.saturating_mul(2 * (3 * depth + 2 * width) + 64),
        };
        let failure = Failure::default();
        par::chunks(tasks, cost, |task| {
            failure.note(self.head(task).and_then(|head| f(task, head)));
        });
        failure.result()
    }
    /// The heads of a number.
    fn head(&self, task: usize) -> Result<Head<'_>> {
        let wide = self.problem.dtype.wide();
        let at = |t: &Tensor| -> Result<Tensor> {
            let (mut t, mut rest) = (t.clone(), task);
            for axis in (0..self.lead.len()).rev() {
                t = t.select(axis as isize, (rest % self.lead[axis]) as i64)?;
                rest /= self.lead[axis];
            }
            Ok(t)
        };
        Ok(Head {
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
struct Head<'a> {
    heads: &'a Heads<'a>,
    grad: Tensor,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Option<Tensor>,
}

/// Neighbouring queries of all heads that share keys and values, and the keys that they see; as
/// matrices whose rows are the queries, head by head.
struct Block<'a> {
    op: &'static str,
    queries: Range<usize>,
    seen: Range<usize>,
    grad: Tensor,
    /// Times the scale.
    q: Tensor,
    k: Tensor,
    /// The weights of the keys.
    weights: Tensor,
    /// The gradient of what the weights are of.
    slope: Tensor,
    /// The hyperbolic tangent that scores are capped by.
    cap: Option<&'a Tensor>,
}

impl Block<'_> {
    /// The gradient of scores before they are capped.
    fn before_cap(&self) -> Result<Tensor> {
        let Some(cap) = self.cap else {
            return Ok(self.slope.clone());
        };
        let mut f = Formula::new(self.op, &[cap.shape()], cap.dtype())?;
        let (slope, cap) = (f.input(&self.slope)?, f.input(cap)?);
        let square = f.unary(&rows::Square::ROW, cap)?;
        let factor = f.binary(&rows::Subtract::ROW, 1.0, square)?;
        let d = f.binary(&rows::Multiply::ROW, slope, factor)?;
        f.write(d, self.slope.dtype())
    }
}

impl Head<'_> {
    /// Calls `f` for blocks of queries, in order; how they are cut follows from sizes and options.
    fn blocks<F: Real + Element>(&self, mut f: impl FnMut(&Block) -> Result<()>) -> Result<()> {
        /// Elements of a matrix of scores.
        const ROOM: usize = 1 << 17;
        /// Rows of one, at most: more fill caches, and reach further beyond a band.
        const MOST: usize = 128;
        /// At least: fewer than this, and keys are read for too little.
        const LEAST: usize = 16;
        let [all, keys, ..] = self.heads.sizes;
        let band = self.heads.problem.scores.band;
        let mut start = 0;
        while start < all {
            let seen = band.of(start, keys).len().max(1);
            let rows = (ROOM / seen).clamp(LEAST, MOST) / self.heads.group.max(1);
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
        f: &mut impl FnMut(&Block) -> Result<()>,
    ) -> Result<()> {
        let Heads {
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
            let cut = scores.reshape((group, n, width))?;
            let masked = match mask.dtype() {
                DType::Bool => ops::where_(&mask, &cut, f64::NEG_INFINITY)?,
                _ => ops::add(cut, mask.astype(wide)?)?,
            };
            scores = masked.reshape((group * n, width))?;
        }
        let none = F::from_f64(f64::NEG_INFINITY);
        let tile = scores.as_mut_slice::<F>()?;
        for own in tile.chunks_exact_mut(n * width) {
            problem
                .scores
                .band
                .confine(own, width, queries.clone(), seen.clone(), none);
        }
        // a query that sees nothing has no weights, where softmax gives NaN
        let blind: Vec<bool> = fallible::collect(
            tile.chunks_exact(width)
                .map(|row| Ok(row.iter().all(|x| *x == none))),
        )?;
        let mut weights = softmax(&scores, -1)?;
        for (row, blind) in weights
            .as_mut_slice::<F>()?
            .chunks_exact_mut(width)
            .zip(blind)
        {
            if blind {
                row.fill(F::ZERO);
            }
        }
        let slope = super::softmax(&matmul(&grad, &v.transpose(0, 1)?)?, &weights, -1)?;
        f(&Block {
            op,
            queries,
            seen,
            grad,
            q,
            k,
            weights,
            slope,
            cap: cap.as_ref(),
        })
    }
}

/// Adds the elements of `part` to those at the front of `sums`.
fn add<F: Real>(sums: &mut [F], part: &[F]) {
    for (sum, x) in sums.iter_mut().zip(part) {
        *sum = *sum + *x;
    }
}

/// The sum over the axes that `shape` was repeated along to have that of `d`, in that shape.
fn summed_to(d: Tensor, shape: &[usize]) -> Result<Tensor> {
    let missing = d.rank() - shape.len();
    let repeated = |k: &usize| *k < missing || (shape[k - missing] == 1 && d.shape()[*k] != 1);
    let axes: SmallVec<[isize; 6]> = (0..d.rank()).filter(repeated).map(|k| k as isize).collect();
    if axes.is_empty() {
        return d.reshape(shape);
    }
    ops::sum(&d, Axes::from(axes).keepdims())?.reshape(shape)
}
