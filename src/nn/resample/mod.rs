//! Images of other sizes, sampled at points, taken apart and put together.

mod fold;
mod grid;
mod interpolate;
mod pad;
mod shuffle;
mod tables;

pub use fold::{Unfold, fold, unfold};
pub use grid::{GridSample, GridSampleMode, PaddingMode, affine_grid, grid_sample};
pub use interpolate::{Interpolate, InterpolateMode, interpolate};
pub use pad::{PadMode, pad};
pub use shuffle::{channel_shuffle, pixel_shuffle, pixel_unshuffle};
