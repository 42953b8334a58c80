//! Margin losses.

use super::{Reduction, terms};
use crate::error::{Error, Result};
use crate::kernel::elementwise::rows;
use crate::nn::check;
use crate::nn::cosine_similarity;
use crate::nn::distance::{PairwiseDistance, pairwise_distance};
use crate::ops;
use crate::tensor::Tensor;

/// The options of [`margin_ranking_loss`].
///
/// ```
/// use flex::{Tensor, nn};
/// let (a, b, target) = (Tensor::from([2.0f32]), Tensor::from([1.0f32]), Tensor::from([1.0f32]));
/// let wide = nn::MarginRankingLoss { margin: 1.5, ..Default::default() };
/// assert_eq!(nn::margin_ranking_loss(&a, &b, &target, wide)?.item::<f32>()?, 0.5);
/// # Ok::<(), flex::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct MarginRankingLoss {
    /// How far one should exceed the other.
    pub margin: f64,
    /// How the terms are reduced.
    pub reduction: Reduction,
}

/// `max(0, margin - target (x1 - x2))`: `target` is 1 where `x1` should be larger, and -1 where
/// `x2` should. Operands broadcast.
///
/// Errors if shapes or dtypes don't fit, or the margin is not finite.
///
/// ```
/// use flex::{Tensor, nn};
/// let (a, b) = (Tensor::from([1.0f32, 1.0]), Tensor::from([3.0f32, 3.0]));
/// let y = nn::margin_ranking_loss(&a, &b, &Tensor::from([1.0f32, -1.0]), ())?;
/// assert_eq!(y.item::<f32>()?, 1.0);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn margin_ranking_loss(
    x1: &Tensor,
    x2: &Tensor,
    target: &Tensor,
    options: impl Into<MarginRankingLoss>,
) -> Result<Tensor> {
    margin_ranking_loss_of(x1, x2, target, options.into())
}

fn margin_ranking_loss_of(
    x1: &Tensor,
    x2: &Tensor,
    target: &Tensor,
    options: MarginRankingLoss,
) -> Result<Tensor> {
    const OP: &str = "margin_ranking_loss";
    let MarginRankingLoss { margin, reduction } = options;
    check::finite(OP, "margin", margin)?;
    let operands = [("x1", x1), ("x2", x2), ("target", target)];
    terms(OP, &operands, reduction, |f, v| {
        let d = f.binary(&rows::Subtract::ROW, v[0], v[1])?;
        let gain = f.binary(&rows::Multiply::ROW, v[2], d)?;
        let y = f.binary(&rows::Subtract::ROW, margin, gain)?;
        f.binary(&rows::Maximum::ROW, y, 0.0)
    })
}

/// The options of [`cosine_embedding_loss`].
///
/// ```
/// use flex::{Tensor, nn};
/// let (a, target) = (Tensor::from([1.0f32, 0.0]), Tensor::scalar(-1, flex::DType::F32)?);
/// let half = nn::CosineEmbeddingLoss { margin: 0.5, ..Default::default() };
/// assert_eq!(nn::cosine_embedding_loss(&a, &a, &target, half)?.item::<f32>()?, 0.5);
/// # Ok::<(), flex::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct CosineEmbeddingLoss {
    /// The cosine that dissimilar pairs may have, from -1 to 1.
    pub margin: f64,
    /// How the terms are reduced.
    pub reduction: Reduction,
}

/// `1 - cos` for pairs with `target` 1, `max(0, cos - margin)` for those with -1, where `cos` is
/// the cosine of the angle between rows of `x1` and `x2`: `[batch, width]`, with `target`
/// `[batch]`; or all without the batch.
///
/// Errors if shapes or dtypes don't fit, the margin is not from -1 to 1, or a target is neither 1
/// nor -1, with its value and position.
///
/// ```
/// use flex::{Tensor, nn};
/// let (a, b) = (Tensor::from([[1.0f32, 0.0], [1.0, 0.0]]), Tensor::from([[0.0f32, 1.0], [2.0, 0.0]]));
/// let y = nn::cosine_embedding_loss(&a, &b, &Tensor::from([1.0f32, -1.0]), ())?;
/// assert_eq!(y.item::<f32>()?, 1.0);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn cosine_embedding_loss(
    x1: &Tensor,
    x2: &Tensor,
    target: &Tensor,
    options: impl Into<CosineEmbeddingLoss>,
) -> Result<Tensor> {
    cosine_embedding_loss_of(x1, x2, target, options.into())
}

fn cosine_embedding_loss_of(
    x1: &Tensor,
    x2: &Tensor,
    target: &Tensor,
    options: CosineEmbeddingLoss,
) -> Result<Tensor> {
    const OP: &str = "cosine_embedding_loss";
    let CosineEmbeddingLoss { margin, reduction } = options;
    let fits = (-1.0..=1.0).contains(&margin);
    check::number(OP, "margin", margin, fits, "from -1 to 1")?;
    if x1.shape() != x2.shape()
        || x1.rank() != target.rank() + 1
        || x1.shape()[..target.rank()] != *target.shape()
    {
        let operands = [
            ("x1", x1.shape(), x1.dtype()),
            ("x2", x2.shape(), x2.dtype()),
            ("target", target.shape(), target.dtype()),
        ];
        let message = "x1 and x2 must have the shape [batch, width], target [batch]";
        return Err(Error::shape_of(OP, message, &operands));
    }
    let wrong = ops::not_equal(ops::abs(target)?, 1)?;
    check::elements(OP, "target", target, &wrong, "1 or -1")?;
    let cos = cosine_similarity(x1, x2, ()).map_err(|e| e.named(OP))?;
    let operands = [("x1", &cos), ("target", target)];
    terms(OP, &operands, reduction, |f, v| {
        let alike = f.binary(&rows::Subtract::ROW, 1.0, v[0])?;
        let other = f.binary(&rows::Subtract::ROW, v[0], margin)?;
        let other = f.binary(&rows::Maximum::ROW, other, 0.0)?;
        let same = f.binary(&rows::Greater::ROW, v[1], 0.0)?;
        f.ternary(&rows::Where::ROW, same, alike, other)
    })
}

/// The options of [`triplet_margin_loss`].
///
/// Example: [`triplet_margin_loss`].
#[derive(Clone, Copy, Debug)]
pub struct TripletMarginLoss {
    /// How much farther than the positive the negative should be, 0 or more.
    pub margin: f64,
    /// The order of the norm, above 0.
    pub p: f64,
    /// Added to differences.
    pub eps: f64,
    /// Whether the negative's distance is measured from the nearer of anchor and positive (Balntas
    /// et al. 2016).
    pub swap: bool,
    /// How the terms are reduced.
    pub reduction: Reduction,
}
impl Default for TripletMarginLoss {
    fn default() -> Self {
        TripletMarginLoss {
            margin: 1.0,
            p: 2.0,
            eps: 1e-6,
            swap: false,
            reduction: Reduction::Mean,
        }
    }
}

/// `max(0, margin + |anchor - positive| - |anchor - negative|)`, with distances between rows along
/// the last axis (Schroff et al. 2015).
///
/// Errors if shapes or dtypes don't fit, `margin` or `eps` is negative or not finite, or `p` is not
/// above 0.
///
/// ```
/// use flex::{Tensor, nn};
/// let (a, p, n) = (Tensor::from([[0.0f32]]), Tensor::from([[3.0f32]]), Tensor::from([[1.0f32]]));
/// let y = nn::triplet_margin_loss(&a, &p, &n, nn::TripletMarginLoss { eps: 0.0, ..Default::default() })?;
/// assert_eq!(y.item::<f32>()?, 3.0);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn triplet_margin_loss(
    anchor: &Tensor,
    positive: &Tensor,
    negative: &Tensor,
    options: impl Into<TripletMarginLoss>,
) -> Result<Tensor> {
    triplet_margin_loss_of(anchor, positive, negative, options.into())
}

fn triplet_margin_loss_of(
    anchor: &Tensor,
    positive: &Tensor,
    negative: &Tensor,
    options: TripletMarginLoss,
) -> Result<Tensor> {
    const OP: &str = "triplet_margin_loss";
    let TripletMarginLoss {
        margin,
        p,
        eps,
        swap,
        reduction,
    } = options;
    check::not_negative(OP, "margin", margin)?;
    check::number(OP, "p", p, p > 0.0, "above 0")?;
    check::eps(OP, eps)?;
    let operands = [
        ("anchor", anchor),
        ("positive", positive),
        ("negative", negative),
    ];
    check::broadcast(OP, &operands)?;
    let distance = |a: &Tensor, b: &Tensor| {
        let of = PairwiseDistance {
            p,
            eps,
            keepdims: false,
        };
        pairwise_distance(a, b, of).map_err(|e| e.named(OP))
    };
    let (near, mut far) = (distance(anchor, positive)?, distance(anchor, negative)?);
    if swap {
        far = ops::minimum(far, distance(positive, negative)?)?;
    }
    let operands = [("positive", &near), ("negative", &far)];
    terms(OP, &operands, reduction, |f, v| {
        let d = f.binary(&rows::Subtract::ROW, v[0], v[1])?;
        let y = f.binary(&rows::Add::ROW, d, margin)?;
        f.binary(&rows::Maximum::ROW, y, 0.0)
    })
}
