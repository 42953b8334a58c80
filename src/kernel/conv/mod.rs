//! Convolutions, as matrix products where that is fast.
//!
//! - [`Patches`]: patches of an image as a source of the matrix engine (implicit GEMM), so that
//!   they are never stored as a whole:
//!   `y[outputs, positions] = weight[outputs, taps] x patches[taps, positions]`.
//!   A tap is a channel and a position in the kernel; a position is one of the result's.
//! - [`PhasePatches`], [`PhaseTaps`]: the same and its transpose, for images whose columns are
//!   sorted by phases of the stride.
//! - `planes`: transposes planes of channels to pixels whose lanes are channels, and back.
//! - `depthwise`: depthwise convolutions, with channels as lanes.
//! - `direct`: few channels, by rows.
//! - `col2im`: transposed convolutions, by products that are then added up (col2im).
//! - `winograd`: kernels of 3x3, 3 and 5 with fewer multiplications.
//! - [`TapLines`], [`Stacked`]: the patches and the gradient as operands of the weight gradient's
//!   product; `channel_gradient` is the weight gradient of single channels.
//! - `columns`: the way back to an image of few channels (col2im).
//! - `deform`: deformed patches as sources, and their gradients.
//! - `words`: images of bytes, for integer products; [`WordPatches`]: the patches of such images,
//!   and of images of bfloat16 in pairs.
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
mod gradient;
mod lines;
mod patches;
mod phases;
mod planes;
mod rows;
mod winograd;
#[cfg(any(feature = "quant", x86_bf16))]
mod word_patches;
#[cfg(feature = "quant")]
mod words;

pub use channel::{channel_fits, channel_gradient};
pub use col2im::{Col2Im, col2im};
pub use columns::{AddRows, columns};
pub use deform::{DeformFloat, Deformed, DeformedGradient, DeformedPatches, DeformedTaps};
pub use depthwise::{PlaneWalk, depthwise, depthwise_gradient, depthwise_scratch, pack_channels};
pub use direct::{Pixels, Tiling, direct, scratch};
pub use geometry::{Geometry, Image, Three};
pub use gradient::{Stacked, TapLines};
pub use patches::Patches;
pub use phases::{PhasePatches, PhaseTaps, Phases};
pub use planes::{ChannelLanes, LANES};
pub use winograd::{Block, Blocks, GroupWeights, PhaseKernels, WeightPanels};
#[cfg(any(feature = "quant", x86_bf16))]
pub use word_patches::WordPatches;
#[cfg(feature = "quant")]
pub use words::{Frame, grouping, weight_words, words};
