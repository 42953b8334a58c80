//! Attention of sequences of unequal lengths, one after the other without padding.

use super::attention::{Align, Scores, band, float_dtype, over_threads};
use crate::dtype::Element;
use crate::error::{Error, Result};
use crate::fallible;
use crate::kernel::attention::{self, Attended, Head, Mask};
use crate::kernel::math::Real;
use crate::ops::linalg::{Matrices, Results};
use crate::par;
use crate::tensor::Tensor;

/// What [`varlen_attention`] may be asked for beyond its operands.
///
/// ```
/// use flex::nn::VarlenAttention;
/// let local = VarlenAttention { causal: true, window: (Some(127), None), ..Default::default() };
/// assert_eq!((local.scale, local.softcap), (None, None));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct VarlenAttention {
    /// Each token sees those of its sequence up to itself only.
    pub causal: bool,
    /// How many tokens of its sequence before it, and after it, a token sees; all of them by `None`.
    pub window: (Option<usize>, Option<usize>),
    /// Scores become `softcap * tanh(score / softcap)`: positive.
    pub softcap: Option<f64>,
    /// What scores are multiplied with; `1 / sqrt(depth)` where it is not given.
    pub scale: Option<f64>,
}

/// Attention of each of several sequences to itself, whose tokens lie one after the other: `q` is
/// `[tokens, heads, depth]`, `k` `[tokens, heads, depth]`, `v` `[tokens, heads, width]`, and the
/// tokens of sequence `i` are `offsets[i]..offsets[i + 1]`. The result is `[tokens, heads, width]`.
/// `k` and `v` may have fewer heads, each serving as many neighbouring ones of `q`. 16-bit floats
/// are computed in float32 and rounded once.
///
/// The same as [`scaled_dot_product_attention`](crate::nn::scaled_dot_product_attention) on each
/// sequence, in one call and without padding, as in FlashAttention (Dao et al., 2022), whose
/// `cu_seqlens` the offsets are.
///
/// Errors where shapes don't fit, offsets don't ascend from 0 to the number of tokens, dtypes are
/// no floats or have no common one, or `scale` or `softcap` is no number to compute with.
///
/// ```
/// use flex::{Tensor, nn};
/// let x = Tensor::from_slice(&[1.0f32, 0.0, 5.0], [3, 1, 1])?;
/// let v = Tensor::from_slice(&[1.0f32, 2.0, 7.0], [3, 1, 1])?;
/// let causal = nn::VarlenAttention { causal: true, ..Default::default() };
/// let y = nn::varlen_attention(&x, &x, &v, &[0, 2, 3], causal)?; // two sequences, of two tokens and of one
/// assert_eq!(y.to_vec::<f32>()?, [1.0, 1.5, 7.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn varlen_attention(
    q: &Tensor,
    k: &Tensor,
    v: &Tensor,
    offsets: &[usize],
    options: VarlenAttention,
) -> Result<Tensor> {
    const OP: &str = "varlen_attention";
    let wrong = |message: &'static str| {
        Error::shape_of(
            OP,
            message,
            &[
                ("q", q.shape(), q.dtype()),
                ("k", k.shape(), k.dtype()),
                ("v", v.shape(), v.dtype()),
            ],
        )
    };
    let (&[tokens, heads, depth], &[of_k, groups, depth_k], &[of_v, groups_v, width]) =
        (q.shape(), k.shape(), v.shape())
    else {
        return Err(wrong(
            "q, k and v must have the shape [tokens, heads, depth]",
        ));
    };
    if tokens != of_k || tokens != of_v {
        return Err(wrong("the first axes, the tokens, differ"));
    }
    if depth != depth_k {
        return Err(wrong("the last axes of q and k, the depth, differ"));
    }
    if groups != groups_v || (groups == 0 && heads > 0) || (groups > 0 && heads % groups != 0) {
        return Err(wrong(
            "the heads (second axis) of q are not a multiple of those of k and v",
        ));
    }
    let rising = offsets.windows(2).all(|pair| pair[0] <= pair[1]);
    if !rising || offsets.first() != Some(&0) || offsets.last() != Some(&tokens) {
        return Err(Error::shape(
            OP,
            message!("offsets must ascend from 0 to {tokens}, the number of tokens"),
        ));
    }
    let dtype = float_dtype(OP, [q, k, v])?;
    let band = band(
        options.causal,
        options.window,
        Align::UpperLeft,
        tokens,
        tokens,
    );
    let scores = Scores::new(OP, band, options.scale, options.softcap, depth)?;
    let (q, k, v) = (q.astype(dtype)?, k.astype(dtype)?, v.astype(dtype)?);
    let mut out = Tensor::empty([tokens, heads, width], dtype)?;
    dispatch!(floating dtype, |T| sequences::<T>(&q, &k, &v, offsets, scores, &mut out), else Err(Error::unsupported(OP, dtype)))?;
    Ok(out)
}

/// All sequences and heads, in blocks of queries over the threads.
fn sequences<T: Attended + Element>(
    q: &Tensor,
    k: &Tensor,
    v: &Tensor,
    offsets: &[usize],
    scores: Scores,
    out: &mut Tensor,
) -> Result<()> {
    let &[tokens, heads, width] = out.shape() else {
        return Ok(());
    };
    if out.is_empty() {
        return Ok(());
    }
    let group = heads / k.shape()[1];
    let most = attention::rows(heads, tokens, par::threads());
    // The first block of queries of each sequence.
    let mut blocks = fallible::with_capacity(offsets.len())?;
    let mut count = 0;
    for pair in offsets.windows(2) {
        blocks.push(count);
        count += (pair[1] - pair[0]).div_ceil(most);
    }
    let (depth, mean) = (q.shape()[2], tokens.div_ceil(count));
    let by_head = |t: &Tensor| t.transpose(0, 1);
    let (q, k, v) = (by_head(q)?, by_head(k)?, by_head(v)?);
    let (q, k, v) = (
        Matrices::<T>::new(&q),
        Matrices::<T>::new(&k),
        Matrices::<T>::new(&v),
    );
    let out = Results::<T>::interleaved(out)?;
    over_threads::<T>(
        count * heads,
        [mean.min(most), mean, depth, width],
        |task| {
            let (block, head) = (task / heads, task % heads);
            let i = blocks.partition_point(|first| *first <= block) - 1;
            let (tokens, first) = (offsets[i]..offsets[i + 1], (block - blocks[i]) * most);
            let queries = first..(first + most).min(tokens.len());
            let (k, v) = (
                k.get(head / group).block(tokens.clone(), 0..depth),
                v.get(head / group).block(tokens.clone(), 0..width),
            );
            let job = Head {
                q: q.get(head).block(tokens.clone(), 0..depth),
                k,
                v,
                mask: Mask::None,
                band: scores.band,
                scale: T::Acc::from_f64(scores.scale),
                softcap: scores.softcap.map(T::Acc::from_f64),
            };
            // SAFETY: `head` is one of the result's, which lives until the end of this function and
            // is used here only; tasks of a head have other rows.
            let whole = unsafe { out.get(head) };
            // SAFETY: the rows of these queries are this task's alone, as said above, and within
            // the result.
            let part = unsafe {
                whole.part(
                    tokens.start + queries.start..tokens.start + queries.end,
                    0..width,
                )
            };
            attention::block(&job, queries, part)
        },
    )
}
