//! `flex.nn`: operations of neural networks, with the names and argument order of
//! torch.nn.functional, except for `axis`; one file per family.

mod activation;
mod attention;
mod cache;
mod conv;
mod deform;
mod distance;
mod dropout;
mod embedding;
mod grad;
mod linear;
mod loss;
mod norm;
mod pool;
mod recurrent;
mod resample;
mod rotary;
mod spatial;

pub(super) use activation::activation_named;
pub use cache::PyKvCache;
pub(super) use conv::options as convolution_options;
