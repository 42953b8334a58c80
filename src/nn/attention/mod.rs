//! Scaled dot-product attention.

mod heads;
mod options;

pub(super) use heads::over_threads;
pub use options::{Align, Attention};
pub(super) use options::{Scores, band, float_dtype};

use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::kernel::attention;
use crate::layout::{self, Shape};
use crate::tensor::Tensor;
use heads::Operands;

/// `softmax(q k^T * scale + mask) v` for `q` of `[.., queries, depth]`, `k` of `[.., keys, depth]`,
/// `v` of `[.., keys, width]`, whose leading dimensions broadcast; the result is `[.., queries,
/// width]`. No matrix of all scores is made, and a mask is read where it lies. A query for which no
/// key takes part gives zeros. 16-bit floats are computed in float32 and rounded once; nothing is
/// dropped out.
///
/// Errors where shapes don't fit, dtypes are no floats or have no common one, the mask is neither
/// bool nor float, or `scale` or `softcap` is no number to compute with.
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
    let dtype = float_dtype(OP, [q, k, v])?;
    let Attention {
        causal,
        window,
        align,
        ..
    } = options;
    let band = band(causal, window, align, size(q, 2), size(k, 2));
    let scores = Scores::new(OP, band, options.scale, options.softcap, size(q, 1))?;
    let (mut q, mut k, mut v) = (q.astype(dtype)?, k.astype(dtype)?, v.astype(dtype)?);
    let mut mask = match options.mask {
        Some(m) if m.dtype().is_bool() || m.dtype() == dtype => Some(m.clone()),
        Some(m) if m.dtype().is_float() => Some(converted(m, dtype.wide())?),
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
    let (queries, keys, width) = (size(&q, 2), size(&k, 2), size(&v, 1));
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
    let group = sharing(&[&k, &v], &lead, queries);
    let whole = |t: &Tensor| t.broadcast_to(shape(size(t, 2), size(t, 1)));
    let (q, k, v) = (whole(&q)?, whole(&k)?, whole(&v)?);
    let mut out = Tensor::empty(shape(queries, width), dtype)?;
    let operands = Operands {
        q: &q,
        k: &k,
        v: &v,
        mask: mask.as_ref(),
        group,
        scores,
    };
    dispatch!(floating dtype, |T| heads::run::<T>(&operands, &mut out), else Err(Error::unsupported(OP, dtype)))?;
    if options.grouped {
        let shape: Shape = lead[..lead.len() - 2]
            .iter()
            .copied()
            .chain([lead[lead.len() - 2] * lead[lead.len() - 1], queries, width])
            .collect();
        out = out.reshape(shape)?;
    }
    Ok(out)
}

/// A mask in another dtype: of what is repeated, one.
fn converted(mask: &Tensor, dtype: DType) -> Result<Tensor> {
    let mut once = mask.clone();
    for axis in 0..mask.rank() {
        if mask.strides()[axis] == 0 && mask.shape()[axis] > 1 {
            once = once.narrow(axis as isize, 0, 1)?;
        }
    }
    once.astype(dtype)?.broadcast_to(mask.shape())
}

/// How many neighbouring heads pass their keys and values together: few queries, by which keys and
/// values have one head. As many as have sixty-four queries together at most.
fn sharing(operands: &[&Tensor; 2], lead: &[usize], queries: usize) -> usize {
    /// Their scores stay in L2.
    const TOGETHER: usize = 64;
    let one = |t: &&Tensor| t.rank() < 3 || t.shape()[t.rank() - 3] == 1;
    match lead.last() {
        Some(heads)
            if queries > 0 && attention::few(queries, *heads) && operands.iter().all(one) =>
        {
            (1..=TOGETHER / queries)
                .rev()
                .find(|n| heads.is_multiple_of(*n))
                .unwrap_or(1)
        }
        _ => 1,
    }
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
