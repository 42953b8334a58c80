//! Of pools.

mod largest;
mod mean;
mod norm;

pub use largest::*;
pub use mean::*;
pub use norm::*;
