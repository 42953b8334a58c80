//! The gradient of attention. Scores are recomputed for a block of queries at a time, as in
//! FlashAttention (Dao et al. 2022): with `P = softmax(S)` and `dP = grad v^T`, the gradient of the
//! scores is `dS = P (dP - sum(P dP))`, and those of `q`, `k` and `v` are `dS k`, `dS^T q` and `P^T
//! grad`.
//!
//! A unit of work is all queries of the heads that share keys and values. It sums their gradients
//! in order, so that bits don't depend on threads. A block's matrices stay in L2; the score matrix
//! is never materialised.

mod heads;

use self::heads::GroupedHeads;
use super::common_float;
use crate::error::{Error, Result};
use crate::kernel::attention::Band;
use crate::kernel::math::Real;
use crate::kernel::norm::gradient;
use crate::layout::{Axes, Shape};
use crate::nn::Attention;
use crate::nn::attention::AttentionProblem;
use crate::ops::{self, matmul};
use crate::par::Out;
use crate::tensor::Tensor;
use smallvec::SmallVec;

/// The gradients of `query`, `key` and `value` of
/// [`scaled_dot_product_attention`](crate::nn::scaled_dot_product_attention), in their shapes.
/// Gradients of operands that were repeated, by broadcasting or grouped heads, are summed.
///
/// Takes that function's options. Scores are recomputed by blocks of queries, and the score matrix
/// is never materialised. 16-bit floats are computed in float32 and rounded once. A query whose
/// keys are all masked contributes nothing.
///
/// Errors like that function, and if `grad` doesn't have the shape of its result.
///
/// ```
/// use flex::{Tensor, nn};
/// let (q, k) = (Tensor::from([[0.0f32]]), Tensor::from([[1.0f32], [2.0]]));
/// let v = Tensor::from([[4.0f32], [8.0]]);
/// let grad = Tensor::from([[1.0f32]]);
/// let [q, k, v] = nn::grad::scaled_dot_product_attention(&grad, &q, &k, &v, ())?;
/// assert_eq!(q.to_vec::<f32>()?, [1.0]);
/// assert_eq!(k.to_vec::<f32>()?, [0.0, 0.0]);
/// assert_eq!(v.to_vec::<f32>()?, [0.5, 0.5]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn scaled_dot_product_attention<'a>(
    grad: &Tensor,
    query: &Tensor,
    key: &Tensor,
    value: &Tensor,
    options: impl Into<Attention<'a>>,
) -> Result<[Tensor; 3]> {
    scaled_dot_product_attention_of(grad, query, key, value, options.into())
}

fn scaled_dot_product_attention_of(
    grad: &Tensor,
    query: &Tensor,
    key: &Tensor,
    value: &Tensor,
    options: Attention,
) -> Result<[Tensor; 3]> {
    const OP: &str = "grad.scaled_dot_product_attention";
    let p = AttentionProblem::new(OP, query, key, value, options)?;
    let heads = GroupedHeads::new(OP, grad, &p, options.grouped)?;
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
            // SAFETY: OUT1: each unit of work has its own parts.
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
    Ok([
        back(dq, &p.q, query)?,
        back(dk, &p.k, key)?,
        back(dv, &p.v, value)?,
    ])
}

/// The gradient of the mask of [`scaled_dot_product_attention`], if that is a float added to
/// scores, in its shape: the gradient of the scores, summed where the mask was broadcast.
/// Materialises the score matrix.
///
/// Errors like that function, and if there is no mask or it is bool.
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
pub fn scaled_dot_product_attention_mask<'a>(
    grad: &Tensor,
    query: &Tensor,
    key: &Tensor,
    value: &Tensor,
    options: impl Into<Attention<'a>>,
) -> Result<Tensor> {
    scaled_dot_product_attention_mask_of(grad, query, key, value, options.into())
}

fn scaled_dot_product_attention_mask_of(
    grad: &Tensor,
    query: &Tensor,
    key: &Tensor,
    value: &Tensor,
    options: Attention,
) -> Result<Tensor> {
    const OP: &str = "grad.scaled_dot_product_attention_mask";
    let Some(mask) = options.mask.filter(|m| m.dtype().is_float()) else {
        let message = "attn_mask is missing or bool; only a float mask has a gradient";
        return Err(Error::value(OP, message));
    };
    let dtype = common_float(OP, &[mask])?;
    let p = AttentionProblem::new(OP, query, key, value, options)?;
    let heads = GroupedHeads::new(OP, grad, &p, options.grouped)?;
    let [queries, keys, ..] = heads.sizes;
    let wide = p.dtype.wide();
    let shape: Shape = heads
        .lead
        .iter()
        .copied()
        .chain([heads.group, queries, keys])
        .collect();
    let mut d = Tensor::empty(shape, wide)?;
    dispatch!(float wide, |F| {
        let d = Out::new(d.as_mut_slice::<F>()?);
        let n = heads.group * queries * keys;
        heads.each(|task, head| {
            // SAFETY: OUT1: each unit of work has its own part.
            let d = unsafe { d.part(task * n..(task + 1) * n) };
            if p.scores.band != Band::ALL {
                d.fill(F::ZERO); // blocks end where no query sees a key
            }
            head.blocks::<F>(|block| {
                let (width, n) = (block.seen.len(), block.queries.len());
                let operands = [&block.of_weights, &block.weights].map(|t| t.as_slice::<F>());
                let [of_weights, weights] = operands;
                let rows = of_weights?.chunks_exact(width).zip(weights?.chunks_exact(width));
                for (row, (of_weights, weights)) in rows.enumerate() {
                    let i = row / n * queries + block.queries.start + row % n;
                    let start = i * keys + block.seen.start;
                    gradient::softmax(width, of_weights, weights, &mut d[start..start + width]);
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

/// Adds `part` to the leading elements of `sums`.
fn add<F: Real>(sums: &mut [F], part: &[F]) {
    for (sum, x) in sums.iter_mut().zip(part) {
        *sum = *sum + *x;
    }
}

/// Sums `d` over the axes that `shape` was broadcast along, giving that shape.
fn summed_to(d: Tensor, shape: &[usize]) -> Result<Tensor> {
    let missing = d.rank() - shape.len();
    let repeated = |k: &usize| *k < missing || (shape[k - missing] == 1 && d.shape()[*k] != 1);
    let axes: SmallVec<[isize; 6]> = (0..d.rank()).filter(repeated).map(|k| k as isize).collect();
    if axes.is_empty() {
        return d.reshape(shape);
    }
    ops::sum(&d, Axes::from(axes).keepdims())?.reshape(shape)
}
