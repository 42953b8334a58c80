//! The checked operands of attention, with broadcast dimensions.

use super::options::{Attention, Scores, band, float_dtype};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::layout::{self, Shape};
use crate::tensor::Tensor;

/// The operands of attention.
pub(in crate::nn) struct AttentionProblem {
    /// In `dtype`. Grouped heads have a dimension for the groups and one inside them, along which
    /// keys and values repeat.
    pub q: Tensor,
    pub k: Tensor,
    pub v: Tensor,
    /// `[lead.., queries, keys]`.
    pub mask: Option<Tensor>,
    /// The leading dimensions, to which those of all operands broadcast.
    pub lead: Shape,
    pub scores: Scores,
    pub dtype: DType,
}

impl AttentionProblem {
    /// Errors if shapes don't fit, dtypes are not floats or have no common one, or an option is
    /// invalid.
    pub fn new(
        op: &'static str,
        q: &Tensor,
        k: &Tensor,
        v: &Tensor,
        options: Attention,
    ) -> Result<AttentionProblem> {
        let operands = [
            ("query", q.shape(), q.dtype()),
            ("key", k.shape(), k.dtype()),
            ("value", v.shape(), v.dtype()),
        ];
        let wrong = |message: &'static str| Error::shape_of(op, message, &operands);
        let least = if options.grouped { 3 } else { 2 };
        if q.rank().min(k.rank()).min(v.rank()) < least {
            return Err(wrong(if options.grouped {
                "grouped heads need three dimensions or more"
            } else {
                "two dimensions or more are needed"
            }));
        }
        let size = |t: &Tensor, from_end: usize| t.shape()[t.rank() - from_end];
        if size(q, 1) != size(k, 1) {
            return Err(wrong("the last axes of query and key, the depth, differ"));
        }
        if size(k, 2) != size(v, 2) {
            return Err(wrong(
                "the second-last axes of key and value, the keys, differ",
            ));
        }
        let dtype = float_dtype(op, [q, k, v])?;
        let Attention {
            causal,
            window,
            align,
            ..
        } = options;
        let band = band(op, causal, window, align, [size(q, 2), size(k, 2)])?;
        let scores = Scores::new(op, band, options.scale, options.softcap, size(q, 1))?;
        let (mut q, mut k, mut v) = (q.astype(dtype)?, k.astype(dtype)?, v.astype(dtype)?);
        let mut mask = match options.mask {
            Some(m) if m.dtype().is_bool() || m.dtype() == dtype => Some(m.clone()),
            Some(m) if m.dtype().is_float() => Some(converted(m, dtype.wide())?),
            Some(m) => {
                return Err(Error::dtype(
                    op,
                    message!(
                        "attn_mask is {}; it must be bool (true takes part) or float (added to scores)",
                        m.dtype()
                    ),
                ));
            }
            None => None,
        };
        if options.grouped {
            // Grouped heads: a dimension for the groups, and one inside them along which keys and
            // values repeat.
            let (of_q, of_k) = (size(&q, 3), size(&k, 3));
            if of_k == 0 || of_q % of_k != 0 || size(&v, 3) != of_k {
                return Err(wrong(
                    "the heads (third-last axis) of query are not a multiple of those of key and value",
                ));
            }
            q = split_heads(&q, of_k)?;
            (k, v) = (k.expand_dims(-3)?, v.expand_dims(-3)?);
            mask = match mask {
                // other numbers of heads do not broadcast, below
                Some(m) if m.rank() >= 3 && size(&m, 3) != 1 && size(&m, 3) % of_k == 0 => {
                    Some(split_heads(&m, of_k)?)
                }
                Some(m) if m.rank() >= 3 => Some(m.expand_dims(-3)?),
                m => m,
            };
        }
        let (queries, keys) = (size(&q, 2), size(&k, 2));
        let leads = [&q, &k, &v].map(|t| &t.shape()[..t.rank() - 2]);
        let lead = layout::broadcast(op, &leads)
            .map_err(|_| wrong("the dimensions before the last two do not broadcast"))?;
        let shape = |x: usize, y: usize| lead.iter().copied().chain([x, y]).collect::<Shape>();
        let mask = match (mask, options.mask) {
            (Some(m), Some(given)) => {
                let whole = m.broadcast_to(shape(queries, keys));
                Some(whole.map_err(|_| {
                    let [q, k, _] = operands;
                    let mask = ("attn_mask", given.shape(), given.dtype());
                    let message = "attn_mask does not broadcast to [.., queries, keys]";
                    Error::shape_of(op, message, &[q, k, mask])
                })?)
            }
            _ => None,
        };
        Ok(AttentionProblem {
            q,
            k,
            v,
            mask,
            lead,
            scores,
            dtype,
        })
    }
    /// The number of queries and keys, the depth of both, and the width of values.
    pub fn sizes(&self) -> [usize; 4] {
        let size = |t: &Tensor, from_end: usize| t.shape()[t.rank() - from_end];
        [
            size(&self.q, 2),
            size(&self.k, 2),
            size(&self.q, 1),
            size(&self.v, 1),
        ]
    }
}

/// Converts a mask to another dtype, repeated parts only once.
fn converted(mask: &Tensor, dtype: DType) -> Result<Tensor> {
    let mut once = mask.clone();
    for axis in 0..mask.rank() {
        if mask.strides()[axis] == 0 && mask.shape()[axis] > 1 {
            once = once.narrow(axis as isize, 0, 1)?;
        }
    }
    once.astype(dtype)?.broadcast_to(mask.shape())
}

/// `[.., heads, x, y]` as `[.., groups, heads / groups, x, y]`; the groups divide the heads.
pub(in crate::nn) fn split_heads(t: &Tensor, groups: usize) -> Result<Tensor> {
    let (lead, rest) = t.shape().split_at(t.rank() - 3);
    let shape: Shape = lead
        .iter()
        .copied()
        .chain([groups, rest[0] / groups, rest[1], rest[2]])
        .collect();
    t.reshape(shape)
}
