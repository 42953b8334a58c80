//! Of pools.

mod largest;
mod mean;
mod norm;

pub use largest::*;
pub(super) use mean::adaptive_to;
pub use mean::*;
pub use norm::*;
