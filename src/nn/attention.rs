//! Scaled dot-product attention.

use crate::dtype::{DType, Element};
use crate::error::{Error, Result};
use crate::exec::failure::Failure;
use crate::kernel::attention::{self, Head, Mask};
use crate::kernel::gemm::{MatElement, Packed};
use crate::kernel::math::Real;
use crate::layout::{self, Shape};
use crate::ops::linalg::{Matrices, Results};
use crate::par::{self, Cost};
use crate::tensor::Tensor;

/// What [`scaled_dot_product_attention`] may be asked for beyond its operands.
#[derive(Clone, Copy, Debug, Default)]
pub struct Attention<'a> {
    /// `[.., queries, keys]`, broadcast. Bool: where it is true, the key takes part. A float: added
    /// to the scores.
    pub mask: Option<&'a Tensor>,
    /// Query `i` sees keys `0..=i` only.
    pub causal: bool,
    /// What scores are multiplied with; `1 / sqrt(depth)` where it is not given.
    pub scale: Option<f64>,
    /// Keys and values have fewer heads (dimension -3) than queries: each serves as many
    /// neighbouring ones.
    pub grouped: bool,
}

/// `softmax(q k^T * scale + mask) v` for `q` of `[.., queries, depth]`, `k` of `[.., keys, depth]`,
/// `v` of `[.., keys, width]`, whose leading dimensions broadcast; the result is `[.., queries,
/// width]`. No matrix of all scores is made. A query for which no key takes part gives zeros.
/// 16-bit floats are computed in float32.
///
/// Errors where shapes don't fit, dtypes are no floats or have no common one, or the mask is
/// neither bool nor float.
///
/// ```
/// use flex::{Tensor, nn};
/// let q = Tensor::from_slice(&[1.0f32, 0.0], [1, 2])?;
/// let k = Tensor::from_slice(&[1.0f32, 0.0, 1.0, 0.0], [2, 2])?;
/// let v = Tensor::from_slice(&[2.0f32, 4.0], [2, 1])?;
/// let mean = nn::scaled_dot_product_attention(&q, &k, &v, nn::Attention::default())?;
/// assert_eq!(mean.to_vec::<f32>()?, [3.0]);
/// let first = nn::scaled_dot_product_attention(&q, &k, &v, nn::Attention { causal: true, ..Default::default() })?;
/// assert_eq!(first.to_vec::<f32>()?, [2.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn scaled_dot_product_attention(
    q: &Tensor,
    k: &Tensor,
    v: &Tensor,
    options: Attention,
) -> Result<Tensor> {
    const OP: &str = "scaled_dot_product_attention";
    let operands = [
        ("q", q.shape(), q.dtype()),
        ("k", k.shape(), k.dtype()),
        ("v", v.shape(), v.dtype()),
    ];
    let wrong = |message: &'static str| Error::shape_of(OP, message, &operands);
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
        return Err(wrong("the last axes of q and k, the depth, differ"));
    }
    if size(k, 2) != size(v, 2) {
        return Err(wrong("the second-last axes of k and v, the keys, differ"));
    }
    let dtype = q.dtype().promote(k.dtype(), OP)?.promote(v.dtype(), OP)?;
    let wide = dtype.wide();
    if !dtype.is_float() || !wide.is_available() {
        return Err(Error::unsupported(OP, dtype));
    }
    let heads = |t: &Tensor| -> Result<Tensor> { t.astype(wide) };
    let (mut q, mut k, mut v) = (heads(q)?, heads(k)?, heads(v)?);
    let mut mask = match options.mask {
        Some(m) if m.dtype().is_bool() => Some(m.clone()),
        Some(m) if m.dtype().is_float() => Some(m.astype(wide)?),
        Some(m) => {
            return Err(Error::dtype(
                OP,
                message!(
                    "the mask is {}; it must be bool (true takes part) or float (added to scores)",
                    m.dtype()
                ),
            ));
        }
        None => None,
    };
    if options.grouped {
        // Heads in groups: a dimension for the groups, and one inside them that keys and values
        // repeat along.
        let (of_q, of_k) = (size(&q, 3), size(&k, 3));
        if of_k == 0 || of_q % of_k != 0 || size(&v, 3) != of_k {
            return Err(wrong(
                "the heads (third-last axis) of q are not a multiple of those of k and v",
            ));
        }
        q = split_heads(&q, of_k)?;
        (k, v) = (k.expand_dims(-3)?, v.expand_dims(-3)?);
        mask = match mask {
            Some(m) if m.rank() >= 3 && size(&m, 3) != 1 => Some(split_heads(&m, of_k)?),
            Some(m) if m.rank() >= 3 => Some(m.expand_dims(-3)?),
            m => m,
        };
    }
    let (queries, keys, depth, width) = (size(&q, 2), size(&k, 2), size(&q, 1), size(&v, 1));
    let leads = [&q, &k, &v].map(|t| &t.shape()[..t.rank() - 2]);
    let lead = layout::broadcast(OP, &leads)
        .map_err(|_| wrong("the dimensions before the last two do not broadcast"))?;
    let shape = |x: usize, y: usize| lead.iter().copied().chain([x, y]).collect::<Shape>();
    let mask = match mask {
        Some(m) => Some(m.broadcast_to(shape(queries, keys)).map_err(|_| {
            let message = message!(
                "the mask does not broadcast to {:?}",
                shape(queries, keys).as_slice()
            );
            Error::shape_of(
                OP,
                message,
                &[operands[0], operands[1], ("mask", m.shape(), m.dtype())],
            )
        })?),
        None => None,
    };
    let (q, k, v) = (
        q.broadcast_to(shape(queries, depth))?,
        k.broadcast_to(shape(keys, depth))?,
        v.broadcast_to(shape(keys, width))?,
    );
    let mut out = Tensor::empty(shape(queries, width), wide)?;
    let scale = options
        .scale
        .unwrap_or(1.0 / libm::sqrt(depth.max(1) as f64));
    dispatch!(float wide, |F| heads_of::<F>(&q, &k, &v, mask.as_ref(), options.causal, scale, &mut out), else Err(Error::unsupported(OP, wide)))?;
    if options.grouped {
        let shape: Shape = lead[..lead.len() - 2]
            .iter()
            .copied()
            .chain([lead[lead.len() - 2] * lead[lead.len() - 1], queries, width])
            .collect();
        out = out.reshape(shape)?;
    }
    out.astype(dtype)
}

/// `[.., heads, x, y]` as `[.., groups, heads / groups, x, y]`.
fn split_heads(t: &Tensor, groups: usize) -> Result<Tensor> {
    let (lead, rest) = t.shape().split_at(t.rank() - 3);
    if rest[0] % groups != 0 {
        return Err(Error::shape(
            "scaled_dot_product_attention",
            message!(
                "{} heads of the mask are not a multiple of {groups}",
                rest[0]
            ),
        ));
    }
    let shape: Shape = lead
        .iter()
        .copied()
        .chain([groups, rest[0] / groups, rest[1], rest[2]])
        .collect();
    t.reshape(shape)
}

/// All heads, in blocks of queries over the threads.
fn heads_of<F: Element + Real + Packed + MatElement<Acc = F>>(
    q: &Tensor,
    k: &Tensor,
    v: &Tensor,
    mask: Option<&Tensor>,
    causal: bool,
    scale: f64,
    out: &mut Tensor,
) -> Result<()> {
    if out.is_empty() {
        return Ok(());
    }
    let (queries, depth, width) = (
        q.shape()[q.rank() - 2],
        q.shape()[q.rank() - 1],
        v.shape()[v.rank() - 1],
    );
    let keys = k.shape()[k.rank() - 2];
    let batch = out.len() / (queries * width);
    let out = Results::<F>::new(out, queries, width)?;
    let (q, k, v) = (
        Matrices::<F>::new(q),
        Matrices::<F>::new(k),
        Matrices::<F>::new(v),
    );
    let (flags, bias) = match mask {
        Some(m) if m.dtype() == DType::Bool => (Some(Matrices::<crate::dtype::Bool>::new(m)), None),
        Some(m) => (None, Some(Matrices::<F>::new(m))),
        None => (None, None),
    };
    let most = attention::rows(batch, queries, par::threads());
    let blocks = queries.div_ceil(most);
    over_blocks(
        batch * blocks,
        [queries.min(most), keys, depth, width],
        |task| {
            let (i, start) = (task / blocks, task % blocks * most);
            let rows = start..queries.min(start + most);
            let mask = match (&flags, &bias) {
                (Some(m), _) => Mask::Bool(m.get(i)),
                (_, Some(m)) => Mask::Bias(m.get(i)),
                _ => Mask::None,
            };
            let head = Head {
                q: q.get(i),
                k: k.get(i),
                v: v.get(i),
                mask,
                causal,
                scale: F::from_f64(scale),
            };
            // SAFETY: `i` is below the batch, the result lives until the end of this function and
            // is used here only; blocks of queries don't overlap.
            let whole = unsafe { out.get(i) };
            // SAFETY: the rows of a block of queries are this call's alone, as said above, and
            // within the result.
            let part = unsafe { whole.part(rows.clone(), 0..width) };
            attention::block(&head, rows, part)
        },
    )
}

/// Runs `block` for `0..tasks` over the threads; one has up to `rows` queries, about `keys` keys,
/// of `depth` and `width`.
pub(super) fn over_blocks(
    tasks: usize,
    [rows, keys, depth, width]: [usize; 4],
    block: impl Fn(usize) -> Result<()> + Sync,
) -> Result<()> {
    /// What beginning with a block costs, in operations: all there is to do for a sequence of some
    /// tokens.
    const BEGIN: usize = 80_000;
    let (bytes, flops) = (
        (rows + keys).saturating_mul(depth + width),
        (rows * keys)
            .saturating_mul(depth + width + 16)
            .saturating_add(BEGIN),
    );
    let cost = Cost {
        bytes: bytes.saturating_mul(size_of::<f32>()),
        flops,
    };
    let failure = Failure::default();
    par::chunks(tasks, cost, |task| failure.note(block(task)));
    failure.result()
}
