//! What stands for the options of layers: `()` for the defaults everywhere, a bias where there is
//! one, the stride of a pool.

use super::spatial::PerAxis;
use super::*;
use crate::layout::defaults;
use crate::tensor::Tensor;

defaults! {
    AffineGrid, Attention<'_>, BinaryCrossEntropy<'_>, Cdist, ChannelNorm<'_>,
    CosineEmbeddingLoss, CosineSimilarity, CrossEntropy<'_>, CtcLoss, EmbeddingBag<'_>,
    GaussianNllLoss, GridSample, Gumbel, KlDiv, KvCacheOptions, LayerNorm<'_>, Length,
    LocalResponse, MarginRankingLoss, NllLoss<'_>, PairwiseDistance, PoissonNllLoss,
    Recurrent<'_>, Reduction, RmsNorm<'_>, Rotary<'_>, RotaryTables, TripletMarginLoss,
    VarlenAttention, WithLogits<'_>,
}

macro_rules! biased {
    ($($Options:ident)*) => {
        defaults! { $($Options<'_>),* }
        $(
            impl<'a> From<Option<&'a Tensor>> for $Options<'a> {
                /// The default options with this bias.
                fn from(bias: Option<&'a Tensor>) -> Self {
                    $Options { bias, ..Default::default() }
                }
            }
            impl<'a> From<&'a Tensor> for $Options<'a> {
                /// The default options with this bias.
                fn from(bias: &'a Tensor) -> Self {
                    Some(bias).into()
                }
            }
        )*
    };
}
biased! { Linear Conv ConvTranspose DeformConv }

macro_rules! pools {
    ($($Options:ident)*) => {
        defaults! { $($Options),* }
        $(
            impl From<Option<PerAxis>> for $Options {
                /// The default options with this stride.
                fn from(stride: Option<PerAxis>) -> Self {
                    $Options { stride, ..Default::default() }
                }
            }
            impl From<PerAxis> for $Options {
                /// The default options with this stride.
                fn from(stride: PerAxis) -> Self {
                    Some(stride).into()
                }
            }
            impl From<usize> for $Options {
                /// The default options with this stride.
                fn from(stride: usize) -> Self {
                    PerAxis::from(stride).into()
                }
            }
            impl<const N: usize> From<[usize; N]> for $Options {
                /// The default options with these strides.
                fn from(stride: [usize; N]) -> Self {
                    PerAxis::from(stride).into()
                }
            }
        )*
    };
}
pools! { MaxPool AvgPool LpPool MaxUnpool }
