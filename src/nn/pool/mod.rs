//! Pooling: the maximum, the mean or a norm of each window of an image.

pub(super) mod adaptive;
mod average;
pub(super) mod launch;
pub(super) mod lp;
mod max;
pub(super) mod positions;
mod unpool;
pub(super) mod window;

pub use adaptive::*;
#[cfg(feature = "grad")]
pub(in crate::nn) use average::average;
pub use average::{AvgPool, avg_pool1d, avg_pool2d, avg_pool3d};
pub use lp::{LpPool, lp_pool1d, lp_pool2d, lp_pool3d};
pub use max::*;
pub use unpool::{MaxUnpool, max_unpool1d, max_unpool2d, max_unpool3d};
