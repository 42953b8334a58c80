//! The options of attention, and the band of keys that follows from them.

use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::kernel::attention::Band;
use crate::nn::check;
use crate::tensor::Tensor;

/// Where the diagonal of causal attention and of windows lies, named like the variants of
/// torch.nn.attention.bias. They differ unless there are as many queries as keys.
///
/// Example: [`Attention`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Query `i` is at key `i`, the first query at the first key: what torch's `is_causal` takes
    /// without saying so.
    UpperLeft,
    /// The last query is at the last key, query `i` at key `i + keys - queries`: for tokens
    /// appended to a cache.
    LowerRight,
}

/// The options of [`scaled_dot_product_attention`](crate::nn::scaled_dot_product_attention).
///
/// ```
/// use flex::nn::{Align, Attention};
/// // a token that is appended sees itself and the 1023 before it
/// let decode = Attention {
///     causal: true,
///     window: (Some(1023), None),
///     align: Some(Align::LowerRight),
///     ..Default::default()
/// };
/// # assert!(decode.mask.is_none());
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Attention<'a> {
    /// `[.., queries, keys]`, broadcast. Bool: true where a key takes part. Float: added to the
    /// scores. Read in place, whatever its strides.
    pub mask: Option<&'a Tensor>,
    /// Whether a query sees keys up to its own position only.
    pub causal: bool,
    /// How many keys before and after its position a query sees; `None` for all. Keys that no query
    /// of a tile sees are skipped.
    pub window: (Option<usize>, Option<usize>),
    /// The positions of queries among the keys, which `causal` and `window` go by. Needed by them if
    /// there are fewer queries than keys; otherwise [`Align::UpperLeft`] by default.
    pub align: Option<Align>,
    /// Scores become `softcap * tanh(score / softcap)` before the mask. Must be positive.
    pub softcap: Option<f64>,
    /// The factor of scores. Default: `1 / sqrt(depth)`.
    pub scale: Option<f64>,
    /// Whether keys and values have fewer heads (dimension -3) than queries, each shared by a group
    /// of consecutive query heads.
    pub grouped: bool,
}

/// The checked options that apply to scores.
#[derive(Clone, Copy)]
pub struct Scores {
    pub band: Band,
    pub scale: f64,
    pub softcap: Option<f64>,
}
impl Scores {
    /// For heads of this depth. Errors if a number is not finite, or the cap not positive.
    pub fn new(
        op: &'static str,
        band: Band,
        scale: Option<f64>,
        softcap: Option<f64>,
        depth: usize,
    ) -> Result<Scores> {
        let scale = scale.unwrap_or_else(|| 1.0 / libm::sqrt(depth.max(1) as f64));
        check::finite(op, "scale", scale)?;
        softcap.map_or(Ok(()), |cap| check::positive(op, "softcap", cap))?;
        Ok(Scores {
            band,
            scale,
            softcap,
        })
    }
}

/// The band of keys that queries see, for heads of this many queries and keys. Errors if it depends
/// on an alignment that was not chosen.
pub fn band(
    op: &'static str,
    causal: bool,
    (before, after): (Option<usize>, Option<usize>),
    align: Option<Align>,
    [queries, keys]: [usize; 2],
) -> Result<Band> {
    let banded = causal || before.is_some() || after.is_some();
    let shift = match align {
        None if banded && queries < keys => {
            let which = if causal { "is_causal" } else { "a window" };
            let message = message!(
                "{queries} queries and {keys} keys: {which} needs align, \"lower_right\" if the last query is at the last key (tokens appended to a cache), or \"upper_left\" if the first is at the first (torch's is_causal)"
            );
            return Err(Error::value(op, message));
        }
        Some(Align::LowerRight) => keys as isize - queries as isize,
        _ => 0,
    };
    Ok(Band::new(
        shift,
        before,
        if causal { Some(0) } else { after },
    ))
}

/// The dtype of the result, which operands are converted to. Errors if there is no common dtype, or
/// it is not a float dtype of this build.
pub fn float_dtype(op: &'static str, operands: [&Tensor; 3]) -> Result<DType> {
    let [q, k, v] = operands.map(Tensor::dtype);
    let dtype = q.promote(k, op)?.promote(v, op)?;
    if !dtype.is_float() || !dtype.is_available() || !dtype.wide().is_available() {
        return Err(Error::unsupported(op, dtype));
    }
    Ok(dtype)
}
