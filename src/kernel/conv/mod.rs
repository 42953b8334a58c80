//! Convolutions, as products where that is fast.
//!
//! - [`Patches`]: patches of an image are a source of the matrix engine (implicit GEMM), so they
//!   never exist as a whole:
//!   `y[channels of the result, places] = weight[channels of the result, taps] x patches[taps, places]`.
//!   A tap is a channel with a position in the kernel, a place a position of the kernel on the image.
//! - [`PhasePatches`]: the same of an image whose columns are sorted by the stride.
//! - `planes`: planes of channels to pixels whose lanes are channels, and back.
//! - `depthwise`: channels by kernels of their own, as lanes.
//! - `direct`: few channels, by rows.
//! - `spread`: transposed convolutions, by products whose numbers are added up.
//! - `winograd`: 3x3 kernels by a quarter of the multiplications.
//! - [`Taps`], [`Stacked`]: the same patches and a gradient, for the gradient of the weight;
//!   `channel_gradient` is that of single channels.
//! - `columns`: the way back to an image of few channels.
//! - `deform`: patches by offsets, as sources, and what they give back.
//! - `words`: images of bytes, for products of integers.
//! - `lines`, `by_lanes`: what these sources, and these kernels, have in common.

#[macro_use]
mod by_lanes;
mod channel;
mod columns;
mod deform;
mod depthwise;
mod direct;
mod geometry;
mod gradient;
mod lines;
mod patches;
mod phases;
mod planes;
mod rows;
mod spread;
mod winograd;
#[cfg(feature = "i8")]
mod words;

pub use channel::{channel_fits, channel_gradient};
pub use columns::{AddRows, columns};
pub use deform::{Deformed, DeformedGradient, DeformedPatches, DeformedTaps, Float};
pub use depthwise::{Walk, depthwise, depthwise_gradient, depthwise_scratch, pack_channels};
pub use direct::{Pixels, Tiling, direct, scratch};
pub use geometry::{Geometry, Image, Three};
pub use gradient::{Stacked, Taps};
pub use patches::Patches;
pub use phases::{PhasePatches, Phases};
pub use planes::{LANES, Lanes};
pub use spread::{Spread, spread};
pub use winograd::{Block, Blocks, PRODUCTS, WeightPanels, Weights};
#[cfg(feature = "i8")]
pub use words::{Frame, WordPatches, grouping, weight_words, words};
