//! Operations of neural networks, with the names of torch.nn.functional (but `axis` for `dim`, as
//! everywhere in the crate). 16-bit floats are computed in float32 and rounded once.

mod activation;
mod attention;
mod cache;
mod channel_norm;
mod check;
mod conv;
mod distance;
mod dropout;
mod embedding;
#[cfg(feature = "grad")]
pub mod grad;
mod images;
mod length_norm;
mod linear;
mod loss;
mod norm;
mod options;
mod pool;
mod recurrent;
mod resample;
mod rotary;
mod rows;
mod softmax;
mod spatial;
mod varlen;

pub use crate::kernel::gemm::Activation;
pub use crate::ops::activations::*;
pub use crate::ops::{gelu, gelu_tanh, relu, sigmoid, silu};
pub use activation::{
    Gumbel, celu, elu, glu, gumbel_softmax, hardshrink, hardtanh, leaky_relu, prelu, rrelu,
    softmin, softplus, softshrink, threshold,
};
pub use attention::{Align, Attention, scaled_dot_product_attention};
pub use cache::{KvCache, KvCacheOptions};
pub use channel_norm::{ChannelNorm, batch_norm, batch_norm_stats, group_norm, instance_norm};
#[cfg(feature = "quant")]
pub(crate) use conv::ConvCall;
#[cfg(feature = "stream")]
pub(crate) use conv::conv_result;
#[doc(hidden)]
pub use conv::convolve;
pub use conv::{
    Conv, ConvAlgorithm, ConvPlan, ConvTranspose, DeformConv, Padding, conv_plan, conv_transpose1d,
    conv_transpose2d, conv_transpose3d, conv1d, conv2d, conv3d, deform_conv2d,
};
pub use distance::{
    Cdist, CosineSimilarity, PairwiseDistance, cdist, cosine_similarity, pairwise_distance, pdist,
};
pub use dropout::{alpha_dropout, dropout, feature_alpha_dropout, feature_dropout};
pub use embedding::{BagMode, EmbeddingBag, embedding, embedding_bag, one_hot};
pub use length_norm::{Length, LocalResponse, local_response_norm, normalize};
#[doc(hidden)]
pub use linear::linear_with_post_op;
#[cfg(feature = "stream")]
pub(crate) use linear::result_of as linear_result;
pub use linear::{Linear, linear, linear_into};
pub use loss::*;
pub use norm::{LayerNorm, RmsNorm, add_layer_norm, add_rms_norm, layer_norm, rms_norm};
pub use pool::*;
pub use recurrent::{
    Recurrent, gru, gru_cell, lstm, lstm_cell, rnn_relu, rnn_relu_cell, rnn_tanh, rnn_tanh_cell,
};
pub use resample::*;
pub use rotary::{Rotary, RotaryTables, rotary_embedding, rotary_tables};
pub use softmax::{log_softmax, softmax, softmax_into};
pub use spatial::PerAxis;
pub use varlen::{VarlenAttention, varlen_attention};
