//! Convolutions, as products where that is fast.
//!
//! - [`Patches`]: patches of an image are a source of the matrix engine (implicit GEMM), so they
//!   never exist as a whole:
//!   `y[channels of the result, places] = weight[channels of the result, taps] x patches[taps, places]`.
//!   A tap is a channel with a position in the kernel, a place a position of the kernel on the image.
//! - `direct`: few channels by kernels of their own, by rows.
//! - `spread`: transposed convolutions, by products whose numbers are added up.
//! - `winograd`: 3x3 kernels by a quarter of the multiplications.

mod direct;
mod geometry;
mod patches;
mod rows;
mod spread;
mod winograd;

pub use direct::{Pixels, Tiling, direct, scratch};
pub use geometry::{Geometry, Image, Three};
pub use patches::Patches;
pub use spread::{Spread, spread};
pub use winograd::{Blocks, PRODUCTS, TOGETHER, Weights, transform, winograd};
