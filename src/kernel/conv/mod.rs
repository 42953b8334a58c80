//! Convolutions, as matrix products where that is fast.
//!
//! - [`Patches`]: patches of an image as a source of the matrix engine (implicit GEMM), so that
//!   they are never stored as a whole:
//!   `y[outputs, positions] = weight[outputs, taps] x patches[taps, positions]`, or, for the
//!   gradient of the weight, with taps as lines and [`Stacked`] matrices as the other operand.
//! - [`PatchRows`], what taps read for positions: [`ImageRows`], from images (also of words: bytes
//!   for integer products, pairs of bfloat16); [`SortedImage`], from images whose columns are
//!   sorted by phases of the stride; [`DeformedRows`], at displaced positions.
//! - `planes`: transposes planes of channels to pixels whose lanes are channels, and back.
//! - `depthwise`: depthwise convolutions, with channels as lanes.
//! - `direct`: few channels, by rows.
//! - `col2im`: transposed convolutions, by products that are then added up (col2im).
//! - `winograd`: kernels of 3x3, 3 and 5 with fewer multiplications.
//! - `channel_gradient`: the weight gradient of single channels.
//! - `columns`: the way back to an image of few channels (col2im).
//! - `deform`: deformed patches, and their gradients.
//! - `words`: images of bytes, for integer products.
//! - `lines`, `by_lanes`: shared parts of these sources and kernels.

#[macro_use]
mod by_lanes;
mod channel;
mod col2im;
mod columns;
mod deform;
mod depthwise;
mod direct;
mod geometry;
mod image_rows;
mod lines;
mod patches;
mod phases;
mod planes;
mod rows;
mod stacked;
mod winograd;
#[cfg(feature = "quant")]
mod words;

pub use channel::{channel_fits, channel_gradient};
pub use col2im::{Col2Im, col2im};
pub use columns::{AddRows, columns};
pub use deform::{DeformFloat, Deformed, DeformedGradient, DeformedRows};
pub use depthwise::{PlaneWalk, depthwise, depthwise_gradient, depthwise_scratch, pack_channels};
pub use direct::{Pixels, Tiling, direct, scratch};
pub use geometry::{Geometry, Image, Images, Three};
pub use image_rows::ImageRows;
pub use patches::{PatchRows, Patches};
pub use phases::{Phases, SortedImage};
pub use planes::{ChannelLanes, LANES};
pub use stacked::Stacked;
pub use winograd::{Block, Blocks, GroupWeights, PhaseKernels, WeightPanels};
#[cfg(feature = "quant")]
pub use words::{Frame, grouping, weight_words, words};
