//! Depthwise convolutions, [`LANES`] channels at a time: planes are transposed, so that lanes are
//! channels, with zeros around. A tap then lies at the same distance from all positions of a row,
//! and no size of an image leaves lanes empty. The sums are transposed back.
//!
//! A transposed convolution is the same walk in the other direction: the positions of each phase
//! read some of the taps.
//!
//! By rows (`direct`), planes of 28x28 take 1.5 times as long, of 7x7 up to 6.9 times on AVX2, and
//! 1.1 to 3 times on SSE2; transposed convolutions, phase by phase, 2.2 to 2.6 times.

mod gradient;
mod sums;
mod walk;

pub use gradient::depthwise_gradient;
pub use walk::PlaneWalk;

use super::planes::{ChannelLanes, LANES, LoadPlanes, store};
use crate::error::Result;
use crate::kernel::gemm::{Epilogue, Mat, MatElement, MatMut, Scratch};
use crate::simd;
use core::ops::Range;
use sums::BandSums;

/// Packs the weights of channels as lanes, `[block of channels][tap][lane]`, from a row for each
/// channel.
///
/// Errors if there is no memory for them.
pub fn pack_channels<T: MatElement>(weight: Mat<T>) -> Result<Scratch<T::Acc>> {
    let (channels, taps) = (weight.rows(), weight.cols());
    let blocks = channels.div_ceil(LANES);
    let mut d = Scratch::<T::Acc>::new(blocks.saturating_mul(taps).saturating_mul(LANES))?;
    for (block, d) in d.chunks_exact_mut((taps * LANES).max(1)).enumerate() {
        for (tap, d) in d.as_chunks_mut::<LANES>().0.iter_mut().enumerate() {
            for (l, d) in d.iter_mut().enumerate() {
                let channel = (block * LANES + l).min(channels - 1);
                // SAFETY: MAT1: a row and a column of the weight.
                *d = unsafe { weight.get(channel, tap) }.widen();
            }
        }
    }
    Ok(d)
}

/// Elements of scratch of a band.
pub fn depthwise_scratch(walk: &PlaneWalk) -> usize {
    let [plane, sums] = walk.scratch_len();
    plane + 2 * sums
}

/// Computes band `i` of the positions of a range of channels of the result, as many as `lanes` has,
/// with their weights packed by [`pack_channels`]: `c` has a row for each channel, of all
/// positions. Panics if `scratch` is not that of a band.
///
/// # Safety
/// Nobody else uses the positions of this band in those rows of `c` meanwhile.
pub unsafe fn depthwise<T: MatElement>(
    walk: &PlaneWalk,
    i: usize,
    channels: Range<usize>,
    lanes: ChannelLanes<T>,
    weights: &[T::Acc],
    c: &MatMut<T>,
    epilogue: Epilogue<T>,
    scratch: &mut [T::Acc],
) {
    let [plane, sums] = walk.scratch_len();
    let (plane, rest) = scratch.split_at_mut(plane);
    let (sums, planar) = rest.split_at_mut(sums);
    let (band, width) = (walk.band(i), walk.output_size[1]);
    let positions = band.start * width..band.end * width;
    simd::call(LoadPlanes {
        lanes,
        size: walk.source,
        rows: walk.rows_of(&band),
        cols: walk.cols(),
        d: &mut *plane,
    });
    let sums = &mut sums[..positions.len() * LANES];
    simd::call(BandSums {
        walk,
        band,
        plane,
        weights,
        d: &mut *sums,
    });
    // SAFETY: the positions of this band, by the caller's promise.
    unsafe { store(sums, planar, channels, positions, c, epilogue) };
}
