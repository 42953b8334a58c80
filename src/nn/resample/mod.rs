//! Resampling: other sizes, sampling at points, padding, folding and shuffling.

mod fold;
pub(super) mod grid;
pub(super) mod interpolate;
pub(super) mod pad;
mod shuffle;
pub(super) mod tables;

pub use fold::{Unfold, fold, unfold};
pub use grid::{AffineGrid, GridSample, GridSampleMode, PaddingMode, affine_grid, grid_sample};
pub use interpolate::{Interpolate, InterpolateMode, interpolate};
pub use pad::{PadMode, pad};
pub use shuffle::{channel_shuffle, pixel_shuffle, pixel_unshuffle};
