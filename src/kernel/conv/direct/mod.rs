//! Few channels of an image, each with its own kernels: too few multiplications for a product. Rows
//! are read into L1 once, with zeros around them and, if the stride is not one, with columns sorted
//! so that those that one tap reads are contiguous; the sums of a block of positions stay in
//! registers. Single channels of float32 are read where they lie.
//!
//! As products of patches, single channels take 7 to 29 times as long on AVX2, groups of four
//! channels 2.6 to 4.8 times, results of one or three channels 11 and 5 times; on SSE2 17 to 26,
//! 2.8 to 4.9, and 14 times.

mod in_place;
mod load;
mod pixels;
mod sums;
mod tiling;

pub use pixels::Pixels;
pub use tiling::Tiling;

use super::geometry::Image;
use crate::error::Result;
use crate::kernel::gemm::{
    Epilogue, Mat, MatElement, MatMut, Packed, Scratch, TileEnd, finish_into, moved,
};
use crate::simd;
use in_place::{InPlaceSums, is_in_place};
use load::LoadTile;
use sums::TileSums;

/// Scratch for a tile.
pub fn scratch<T: MatElement>(tiling: &Tiling) -> Result<Scratch<T::Acc>> {
    Scratch::new(tiling.scratch_len().unwrap_or(usize::MAX))
}

/// Computes tile `i` of the positions of an image, for all outputs made from it: `c` has a row for
/// each output, of all positions, and `weight` one of the kernel's positions in each channel.
/// Panics if `scratch` is not that of a tile.
///
/// # Safety
/// Nobody else uses the positions of this tile in `c` meanwhile.
pub unsafe fn direct<T: MatElement>(
    tiling: &Tiling,
    i: usize,
    image: Image<T>,
    weight: Mat<T>,
    c: &MatMut<T>,
    epilogue: Epilogue<T>,
    scratch: &mut [T::Acc],
) {
    let tile = tiling.tile(i);
    let g = &tiling.geometry;
    let (elements, rest) = scratch.split_at_mut(tiling.image().unwrap_or(usize::MAX));
    let (sums, taps) = rest.split_at_mut(tiling.sums());
    let taps = &mut taps[..tiling.taps()];
    assert!(image.channels() * g.kernel[0] == tiling.planes && weight.cols() == taps.len());
    let in_place = is_in_place(tiling, &tile, &image);
    if in_place {
        elements[..tiling.line()].fill(T::Acc::default());
    } else {
        simd::call(LoadTile {
            tiling,
            tile: &tile,
            image: image.moved(),
            d: moved::<T>(elements),
        });
    }
    let cols = tile.x.len();
    let [_, high, wide] = g.kernel;
    // rows of full width are contiguous, in the sums as in the result
    let n = g.output_size;
    let at = |y: usize| (tile.z * n[1] + y) * n[2] + tile.x.start;
    let step = if cols == n[2] { tile.y.len() } else { 1 };
    for o in 0..weight.rows() {
        // sums in place end in registers
        let (end, epilogue) = match epilogue.at(o, 0).split_tile_end() {
            (end, rest) if in_place && end.columns.is_null() => (end, rest),
            _ => (TileEnd::NONE, epilogue.at(o, 0)),
        };
        let mut rest = &mut *taps;
        for plane in 0..tiling.planes {
            for (kx, ky) in (0..wide).flat_map(|x| (0..high).map(move |y| (x, y))) {
                let Some(to) = rest.split_off_first_mut() else {
                    break;
                };
                // SAFETY: MAT1: row `o`, and a column by the assertion above.
                *to = unsafe { weight.get(o, (plane * high + ky) * wide + kx) }.widen();
            }
        }
        let floats = (T::Acc::as_floats(taps), T::Acc::as_floats(elements));
        if let (true, (Some(taps), Some(elements))) = (in_place, floats) {
            // elements with the bits of their sums (ELEMENT1)
            let written = T::SAME && epilogue.is_empty();
            let (d, ld) = if written {
                let first = at(tile.y.start);
                // SAFETY: positions of this tile, by the caller's promise.
                let mut row = unsafe { c.part(o..o + 1, first..first + cols) };
                (row.as_mut_ptr().cast(), n[2])
            } else {
                (sums.as_mut_ptr().cast(), cols)
            };
            simd::call(InPlaceSums {
                geometry: g,
                image: image.moved(),
                tile: &tile,
                taps,
                zeros: elements,
                end: end.cast(),
                d,
                ld,
            });
            if written {
                continue;
            }
        } else {
            simd::call(TileSums {
                tiling,
                image: elements,
                taps,
                rows: tile.y.len(),
                cols,
                d: sums,
            });
        }
        for y in (0..tile.y.len()).step_by(step.max(1)) {
            let first = at(tile.y.start + y);
            // SAFETY: the positions of this tile, by the caller's promise.
            let mut d = unsafe { c.part(o..o + 1, first..first + step * cols) };
            finish_into(
                epilogue.at(0, first),
                &mut sums[y * cols..],
                step * cols,
                &mut d,
            );
        }
    }
    for y in (0..tile.y.len()).step_by(step.max(1)) {
        let first = at(tile.y.start + y);
        // SAFETY: POSTOP1: positions of this tile alone, in all channels, which are written.
        unsafe { epilogue.run_post_op(0..weight.rows(), first..first + step * cols) };
    }
}
