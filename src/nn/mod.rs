//! Operations of models, with torch.nn.functional's names (but `axis`, as everywhere in the crate).
//! 16-bit floats are computed in float32 and rounded once.

mod attention;
mod cache;
mod conv;
mod embedding;
pub mod grad;
mod images;
mod linear;
mod methods;
mod norm;
mod pool;
mod resample;
mod rotary;
mod rows;
mod softmax;
mod spatial;
mod varlen;

pub use crate::kernel::gemm::Activation;
pub use crate::ops::{gelu, gelu_tanh, relu, sigmoid, silu};
pub use attention::{Align, Attention, scaled_dot_product_attention};
pub use cache::{KvCache, KvCacheOptions};
pub use conv::{
    Conv, ConvAlgorithm, ConvPlan, ConvTranspose, Padding, conv_plan, conv_transpose1d,
    conv_transpose2d, conv_transpose3d, conv1d, conv2d, conv3d,
};
pub use embedding::embedding;
pub use linear::{Linear, linear, linear_into};
pub use norm::{layer_norm, rms_norm};
pub use pool::*;
pub use resample::*;
pub use rotary::{Rotary, RotaryTables, rotary_embedding, rotary_tables};
pub use softmax::{log_softmax, softmax, softmax_into};
pub use spatial::PerAxis;
pub use varlen::{VarlenAttention, varlen_attention};
