//! Distributes the heads over threads: as blocks of many queries, or parts of many keys.

use super::options::Scores;
use crate::dtype::{Bool, DType, Element};
use crate::error::Result;
use crate::exec::failure::try_chunks;
use crate::fallible;
use crate::kernel::attention::{self, AttentionElement, Head, Mask, PART, cost};
use crate::kernel::gemm::Scratch;
use crate::kernel::math::Real;
use crate::ops::linalg::{Matrices, ResultMatrices};
use crate::par::{self, Cost, Out};
use crate::tensor::Tensor;

/// Operands of equal rank, whose leading dimensions are those of the result.
pub struct AttentionOperands<'a> {
    pub q: &'a Tensor,
    pub k: &'a Tensor,
    pub v: &'a Tensor,
    /// Bool, of the operands' dtype, or of the dtype of scores.
    pub mask: Option<&'a Tensor>,
    /// The number of consecutive heads that share keys and values.
    pub group: usize,
    pub scores: Scores,
}

/// The matrices of a mask.
enum Masks<'a, T: AttentionElement> {
    None,
    Bool(Matrices<'a, Bool>),
    Bias(Matrices<'a, T>),
    Wide(Matrices<'a, T::Acc>),
}
impl<'a, T: AttentionElement<Acc: Element> + Element> Masks<'a, T> {
    fn new(mask: Option<&'a Tensor>) -> Self {
        match mask {
            None => Masks::None,
            Some(m) if m.dtype() == DType::Bool => Masks::Bool(Matrices::new(m)),
            Some(m) if m.dtype() == T::DTYPE => Masks::Bias(Matrices::new(m)),
            Some(m) => Masks::Wide(Matrices::new(m)),
        }
    }
    fn get(&self, i: usize) -> Mask<'a, T> {
        match self {
            Masks::None => Mask::None,
            Masks::Bool(m) => Mask::Bool(m.get(i)),
            Masks::Bias(m) => Mask::Bias(m.get(i)),
            Masks::Wide(m) => Mask::Wide(m.get(i)),
        }
    }
}

/// The matrices of all heads.
struct HeadMatrices<'a, T: AttentionElement> {
    q: Matrices<'a, T>,
    k: Matrices<'a, T>,
    v: Matrices<'a, T>,
    masks: Masks<'a, T>,
    scores: Scores,
}
impl<'a, T: AttentionElement<Acc: Element> + Element> HeadMatrices<'a, T> {
    fn get(&self, i: usize) -> Head<'a, T> {
        Head {
            q: self.q.get(i),
            k: self.k.get(i),
            v: self.v.get(i),
            mask: self.masks.get(i),
            band: self.scores.band,
            scale: T::Acc::from_f64(self.scores.scale),
            softcap: self.scores.softcap.map(T::Acc::from_f64),
        }
    }
}

/// Computes all heads into a fresh tensor.
pub fn run<T: AttentionElement<Acc: Element> + Element>(
    operands: &AttentionOperands,
    out: &mut Tensor,
) -> Result<()> {
    if out.is_empty() {
        return Ok(());
    }
    let AttentionOperands {
        q,
        k,
        v,
        mask,
        group,
        scores,
    } = *operands;
    let size = |t: &Tensor, from_end: usize| t.shape()[t.rank() - from_end];
    let sizes = [size(q, 2), size(k, 2), size(q, 1), size(v, 1)];
    let heads = HeadMatrices::<T> {
        q: Matrices::new(q),
        k: Matrices::new(k),
        v: Matrices::new(v),
        masks: Masks::new(mask),
        scores,
    };
    if attention::has_few_queries(sizes[0], group) {
        few_queries(&heads, group, sizes, out)
    } else {
        many(&heads, sizes, out)
    }
}

/// Many queries: a task is a block of queries.
fn many<T: AttentionElement<Acc: Element> + Element>(
    heads: &HeadMatrices<T>,
    [queries, keys, depth, width]: [usize; 4],
    out: &mut Tensor,
) -> Result<()> {
    let batch = out.len() / (queries * width);
    let out = ResultMatrices::<T>::new(out, queries, width)?;
    let most = attention::rows(batch, queries, par::threads());
    let blocks = queries.div_ceil(most);
    let sizes = [queries.min(most), keys, depth, width];
    over_threads::<T>(batch * blocks, sizes, |task| {
        let (i, start) = (task / blocks, task % blocks * most);
        let rows = start..queries.min(start + most);
        // SAFETY: `i` is below the batch size; the result outlives this loop and is used only here;
        // blocks of queries don't overlap.
        let whole = unsafe { out.get(i) };
        // SAFETY: the rows of a block of queries belong to this call, as said above, and lie within
        // the result.
        let part = unsafe { whole.part(rows.clone(), 0..width) };
        attention::block(&heads.get(i), rows, part)
    })
}

/// Few queries: a task is a part of the keys, for all queries of the heads that share them. The
/// number of parts follows from the shape and the mask's band alone, so that bits don't depend on
/// threads.
fn few_queries<T: AttentionElement<Acc: Element> + Element>(
    heads: &HeadMatrices<T>,
    group: usize,
    [queries, keys, depth, width]: [usize; 4],
    out: &mut Tensor,
) -> Result<()> {
    let rows = group * queries;
    let batch = out.len() / (rows * width);
    let out = ResultMatrices::<T>::new(out, rows, width)?;
    let seen = heads.scores.band.over(0..queries, keys);
    let first = seen.start / PART;
    let parts = seen.end.div_ceil(PART).saturating_sub(first).max(1);
    let of_part = |p: usize| {
        let start = (first + p) * PART;
        start.max(seen.start)..(start + PART).min(seen.end).max(seen.start)
    };
    let len = attention::state_len(rows, width);
    let tasks = batch.saturating_mul(parts);
    let mut states = Scratch::<T::Acc>::new(len.saturating_mul(tasks))?;
    let of_states = Out::new(&mut states);
    let sizes = [rows, keys.min(PART), depth, width];
    over_threads::<T>(tasks, sizes, |task| {
        let (i, p) = (task / parts, task % parts);
        let mut own = fallible::with_capacity(group)?;
        own.extend((i * group..(i + 1) * group).map(|i| heads.get(i)));
        // SAFETY: OUT1: each task has its own state.
        let state = unsafe { of_states.part(task * len..(task + 1) * len) };
        attention::part(&own, of_part(p), state)
    })?;
    let bytes = parts
        .saturating_mul(len)
        .saturating_mul(size_of::<T::Acc>());
    par::chunks(
        batch,
        Cost {
            bytes,
            flops: bytes,
        },
        |i| {
            // SAFETY: OUT1: the states of different indices are disjoint.
            let states = unsafe { of_states.part(i * parts * len..(i + 1) * parts * len) };
            // SAFETY: `i` is below the batch size, and each matrix of the result belongs to one
            // index.
            attention::join::<T>(states, unsafe { out.get(i) });
        },
    );
    Ok(())
}

/// Runs `piece` for `0..tasks` over the threads. A task has up to `queries` queries and about
/// `keys` keys, of `depth` and `width`.
pub fn over_threads<T>(
    tasks: usize,
    [queries, keys, depth, width]: [usize; 4],
    piece: impl Fn(usize) -> Result<()> + Sync,
) -> Result<()> {
    let elements = (queries + keys).saturating_mul(depth.saturating_add(width));
    let cost = Cost {
        bytes: elements.saturating_mul(size_of::<T>()),
        flops: cost::flops(queries, keys, depth, width),
    };
    try_chunks(tasks, cost, piece)
}
