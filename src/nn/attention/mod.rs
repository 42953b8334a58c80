//! Scaled dot-product attention.

mod heads;
mod options;
mod problem;

pub(super) use heads::over_threads;
pub use options::{Align, Attention};
pub(super) use options::{Scores, band, float_dtype};

pub(super) use problem::{AttentionProblem, split_heads};

use crate::error::{Error, Result};
use crate::kernel::attention;
use crate::layout::Shape;
use crate::tensor::Tensor;
use heads::AttentionOperands;

/// `softmax(query key^T * scale + mask) value` for `query` of `[.., queries, depth]`, `key` of `[..,
/// keys, depth]` and `value` of `[.., keys, width]`, whose leading dimensions broadcast; the result
/// is `[.., queries, width]`. The score matrix is never materialised, and a mask is read in place. A
/// query whose keys are all masked gives zeros. There is no dropout. 16-bit floats are computed in
/// float32 and rounded once, except that CPUs that multiply bfloat16 in pairs round the softmax's
/// weights to it, as FlashAttention does.
///
/// Errors if shapes don't fit, if dtypes are not floats or have no common one, if the mask is
/// neither bool nor float, if `scale` or `softcap` is not a usable number, and if `causal` or
/// `window` is given without `align` for fewer queries than keys.
///
/// ```
/// use flex::{Tensor, nn};
/// let q = Tensor::from_slice(&[1.0f32, 0.0], [1, 2])?;
/// let k = Tensor::from_slice(&[1.0f32, 0.0, 1.0, 0.0], [2, 2])?;
/// let v = Tensor::from_slice(&[2.0f32, 4.0], [2, 1])?;
/// let mean = nn::scaled_dot_product_attention(&q, &k, &v, nn::Attention::default())?;
/// assert_eq!(mean.to_vec::<f32>()?, [3.0]);
/// let causal = |align| nn::Attention { causal: true, align, ..Default::default() };
/// let of = |align| nn::scaled_dot_product_attention(&q, &k, &v, causal(align));
/// assert_eq!(of(Some(nn::Align::LowerRight))?.to_vec::<f32>()?, [3.0]); // an appended token
/// assert_eq!(of(Some(nn::Align::UpperLeft))?.to_vec::<f32>()?, [2.0]); // torch's is_causal
/// assert!(of(None).is_err()); // which of them?
/// # Ok::<(), flex::Error>(())
/// ```
#[doc(alias("sdpa", "flash_attn", "attention"))]
pub fn scaled_dot_product_attention<'a>(
    query: &Tensor,
    key: &Tensor,
    value: &Tensor,
    options: impl Into<Attention<'a>>,
) -> Result<Tensor> {
    scaled_dot_product_attention_of(query, key, value, options.into())
}

fn scaled_dot_product_attention_of(
    query: &Tensor,
    key: &Tensor,
    value: &Tensor,
    options: Attention,
) -> Result<Tensor> {
    const OP: &str = "scaled_dot_product_attention";
    let grouped = options.grouped;
    let p = AttentionProblem::new(OP, query, key, value, options)?;
    let [queries, keys, depth, width] = p.sizes();
    let lead = &p.lead;
    let shape = |x: usize, y: usize| lead.iter().copied().chain([x, y]).collect::<Shape>();
    let group = sharing(&[&p.k, &p.v], lead, queries);
    let mut out = Tensor::empty(shape(queries, width), p.dtype)?;
    let operands = AttentionOperands {
        q: &p.q.broadcast_to(shape(queries, depth))?,
        k: &p.k.broadcast_to(shape(keys, depth))?,
        v: &p.v.broadcast_to(shape(keys, width))?,
        mask: p.mask.as_ref(),
        group,
        scores: p.scores,
    };
    dispatch!(floating p.dtype, |T| heads::run::<T>(&operands, &mut out), else Err(Error::unsupported(OP, p.dtype)))?;
    if grouped {
        let [before @ .., groups, together] = &lead[..] else {
            return Ok(out);
        };
        let shape: Shape = before
            .iter()
            .copied()
            .chain([groups * together, queries, width])
            .collect();
        out = out.reshape(shape)?;
    }
    Ok(out)
}

/// How many consecutive heads are processed together: for few queries, and a single head of keys
/// and values. As many as together have at most 64 queries.
fn sharing(operands: &[&Tensor; 2], lead: &[usize], queries: usize) -> usize {
    /// The scores of this many queries stay in L2.
    const TOGETHER: usize = 64;
    let one = |t: &&Tensor| t.rank() < 3 || t.shape()[t.rank() - 3] == 1;
    match lead.last() {
        Some(heads)
            if queries > 0
                && attention::has_few_queries(queries, *heads)
                && operands.iter().all(one) =>
        {
            (1..=TOGETHER / queries)
                .rev()
                .find(|n| heads.is_multiple_of(*n))
                .unwrap_or(1)
        }
        _ => 1,
    }
}
