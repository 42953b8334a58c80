//! Attention over sequences of different lengths, concatenated without padding.

use super::attention::{Scores, band, float_dtype, over_threads};
use crate::dtype::Element;
use crate::error::{Error, Excerpt, Result};
use crate::fallible;
use crate::kernel::attention::{self, AttentionElement, Head, Mask};
use crate::kernel::math::Real;
use crate::ops::linalg::{Matrices, ResultMatrices};
use crate::par;
use crate::tensor::Tensor;

/// The options of [`varlen_attention`].
///
/// ```
/// use flex::nn::VarlenAttention;
/// let local = VarlenAttention { causal: true, window: (Some(127), None), ..Default::default() };
/// assert_eq!((local.scale, local.softcap), (None, None));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct VarlenAttention {
    /// Whether each token sees only those of its sequence up to itself.
    pub causal: bool,
    /// How many tokens of its sequence before it and after it a token sees; `None` for all.
    pub window: (Option<usize>, Option<usize>),
    /// Scores become `softcap * tanh(score / softcap)`. Must be positive.
    pub softcap: Option<f64>,
    /// The factor of scores. Default: `1 / sqrt(depth)`.
    pub scale: Option<f64>,
}

/// Self-attention within each of several concatenated sequences. `query` is `[tokens, heads,
/// depth]`, `key` is `[tokens, heads, depth]`, `value` is `[tokens, heads, width]`, and the tokens
/// of sequence `i` are `offsets[i]..offsets[i + 1]`. The result is `[tokens, heads, width]`. `key`
/// and `value` may have fewer heads, each shared by a group of consecutive heads of `query`.
///
/// Equivalent to [`scaled_dot_product_attention`](crate::nn::scaled_dot_product_attention) on each
/// sequence, in one call and without padding, as in FlashAttention (Dao et al., 2022), where the
/// offsets are called `cu_seqlens`.
///
/// Errors if shapes don't fit, if offsets don't ascend from 0 to the number of tokens, if dtypes
/// are not floats or have no common one, and if `scale` or `softcap` is not a usable number.
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
    query: &Tensor,
    key: &Tensor,
    value: &Tensor,
    offsets: &[usize],
    options: impl Into<VarlenAttention>,
) -> Result<Tensor> {
    varlen_attention_of(query, key, value, offsets, options.into())
}

fn varlen_attention_of(
    query: &Tensor,
    key: &Tensor,
    value: &Tensor,
    offsets: &[usize],
    options: VarlenAttention,
) -> Result<Tensor> {
    const OP: &str = "varlen_attention";
    let wrong = |message: &'static str| {
        Error::shape_of(
            OP,
            message,
            &[
                ("query", query.shape(), query.dtype()),
                ("key", key.shape(), key.dtype()),
                ("value", value.shape(), value.dtype()),
            ],
        )
    };
    let (&[tokens, heads, depth], &[of_k, groups, depth_k], &[of_v, groups_v, width]) =
        (query.shape(), key.shape(), value.shape())
    else {
        return Err(wrong(
            "query, key and value must have the shape [tokens, heads, depth]",
        ));
    };
    if tokens != of_k || tokens != of_v {
        return Err(wrong("the first axes, the tokens, differ"));
    }
    if depth != depth_k {
        return Err(wrong("the last axes of query and key, the depth, differ"));
    }
    if groups != groups_v || (groups == 0 && heads > 0) || (groups > 0 && heads % groups != 0) {
        return Err(wrong(
            "the heads (second axis) of query are not a multiple of those of key and value",
        ));
    }
    let rising = offsets.windows(2).all(|pair| pair[0] <= pair[1]);
    if !rising || offsets.first() != Some(&0) || offsets.last() != Some(&tokens) {
        let message = message!(
            "offsets are {}; they must ascend from 0 to {tokens}, the number of tokens",
            Excerpt(&offsets)
        );
        return Err(Error::shape(OP, message));
    }
    let dtype = float_dtype(OP, [query, key, value])?;
    let band = band(OP, options.causal, options.window, None, [tokens; 2])?;
    let scores = Scores::new(OP, band, options.scale, options.softcap, depth)?;
    let [q, k, v] = [query, key, value].map(|t| t.astype(dtype));
    let (q, k, v) = (q?, k?, v?);
    let mut out = Tensor::empty([tokens, heads, width], dtype)?;
    dispatch!(floating dtype, |T| sequences::<T>(&q, &k, &v, offsets, scores, &mut out), else Err(Error::unsupported(OP, dtype)))?;
    Ok(out)
}

/// Runs all sequences and heads, in blocks of queries over the threads.
fn sequences<T: AttentionElement + Element>(
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
    // The index of each sequence's first block of queries.
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
    let out = ResultMatrices::<T>::interleaved(out)?;
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
            // SAFETY: `head` is below the number of heads; the result outlives this loop and is
            // used only here; tasks of a head have different rows.
            let whole = unsafe { out.get(head) };
            // SAFETY: the rows of these queries belong to this task, as said above, and lie within
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
