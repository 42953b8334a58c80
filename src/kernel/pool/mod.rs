//! Pooling: each output joins a window of the image.
//!
//! Windows are joined across their rows first, elementwise and therefore vectorised, then along the
//! width. Both steps take elements in memory order, so the result's bits don't depend on the
//! layout.

mod along;
pub mod extreme;
pub mod fold;
mod pooling;
pub mod scatter;
mod windows;

pub use pooling::{Lowest, MaxPooling, MeanPooling, Pooling};
pub use windows::{Steady, Windows};
