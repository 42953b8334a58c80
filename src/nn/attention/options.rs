//! What attention is asked for, and which keys follow from it.

use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::kernel::attention::Band;
use crate::tensor::Tensor;

/// Where the diagonal of causal attention and of windows lies, as the variants of
/// torch.nn.attention.bias are called: only where there are as many queries as keys are they the
/// same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Align {
    /// Query `i` stands at key `i`: the first at the first.
    #[default]
    UpperLeft,
    /// The last query stands at the last key, query `i` at key `i + keys - queries`: what is asked
    /// for when tokens are appended to a cache.
    LowerRight,
}

/// What [`scaled_dot_product_attention`](crate::nn::scaled_dot_product_attention) may be asked for
/// beyond its operands.
///
/// ```
/// use flex::nn::{Align, Attention};
/// // a token that is appended sees itself and the 1023 before it
/// let decode = Attention {
///     causal: true,
///     window: (Some(1023), None),
///     align: Align::LowerRight,
///     ..Default::default()
/// };
/// # assert!(decode.mask.is_none());
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Attention<'a> {
    /// `[.., queries, keys]`, broadcast. Bool: where it is true, the key takes part. A float: added
    /// to the scores. It is read where it lies, whatever its strides.
    pub mask: Option<&'a Tensor>,
    /// A query sees the keys up to its own place only.
    pub causal: bool,
    /// How many keys before its place, and after it, a query sees; all of them by `None`. What no
    /// query of a tile sees is not computed.
    pub window: (Option<usize>, Option<usize>),
    /// The places of queries among the keys.
    pub align: Align,
    /// Scores become `softcap * tanh(score / softcap)`, before the mask: positive.
    pub softcap: Option<f64>,
    /// What scores are multiplied with; `1 / sqrt(depth)` where it is not given.
    pub scale: Option<f64>,
    /// Keys and values have fewer heads (dimension -3) than queries: each serves as many
    /// neighbouring ones.
    pub grouped: bool,
}

/// What is done with scores, checked.
#[derive(Clone, Copy)]
pub struct Scores {
    pub band: Band,
    pub scale: f64,
    pub softcap: Option<f64>,
}
impl Scores {
    /// Of heads of such a depth. Errors where a number is no finite one, or no cap.
    pub fn new(
        op: &'static str,
        band: Band,
        scale: Option<f64>,
        softcap: Option<f64>,
        depth: usize,
    ) -> Result<Scores> {
        let scale = scale.unwrap_or_else(|| 1.0 / libm::sqrt(depth.max(1) as f64));
        if !scale.is_finite() {
            let message = message!("scale is {scale}; it must be finite");
            return Err(Error::value(op, message));
        }
        if let Some(cap) = softcap
            && !(cap > 0.0 && cap.is_finite())
        {
            let message =
                message!("softcap is {cap}; it must be positive and finite, or not given");
            return Err(Error::value(op, message));
        }
        Ok(Scores {
            band,
            scale,
            softcap,
        })
    }
}

/// The keys that queries see, of heads with so many of both.
pub fn band(
    causal: bool,
    (before, after): (Option<usize>, Option<usize>),
    align: Align,
    queries: usize,
    keys: usize,
) -> Band {
    let shift = match align {
        Align::UpperLeft => 0,
        Align::LowerRight => keys as isize - queries as isize,
    };
    Band::new(shift, before, if causal { Some(0) } else { after })
}

/// The dtype of the result, which operands are converted to. Errors where there is none, or it is no
/// float that this build has.
pub fn float_dtype(op: &'static str, operands: [&Tensor; 3]) -> Result<DType> {
    let [q, k, v] = operands.map(Tensor::dtype);
    let dtype = q.promote(k, op)?.promote(v, op)?;
    if !dtype.is_float() || !dtype.is_available() || !dtype.wide().is_available() {
        return Err(Error::unsupported(op, dtype));
    }
    Ok(dtype)
}
