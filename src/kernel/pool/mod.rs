//! Pools: each place of the result is what a window of the image is joined to.
//!
//! A window is joined along the rows it has, elementwise and so vectorised, and then along the
//! width. Both steps take elements in the order of memory, so the bits are those of this order
//! whatever the layout.

mod along;
pub mod extreme;
pub mod fold;
mod pooling;
pub mod scatter;
mod windows;

pub use pooling::{Lowest, Max, Mean, Pooling};
pub use windows::{Steady, Windows};
