//! Gradients of pooling.

mod largest;
mod mean;
mod norm;
mod unpool;

pub use largest::*;
pub(super) use mean::adaptive_to;
pub use mean::*;
pub use norm::*;
pub use unpool::*;
