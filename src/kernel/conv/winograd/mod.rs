//! Winograd's algorithm F(4x4, 3x3): four by four results of a 3x3 kernel from a tile of six by six
//! elements, by 36 products in place of 144 (Lavin and Gray, "Fast Algorithms for Convolutional
//! Neural Networks", 2016). Elements and weights are transformed by matrices B and G, multiplied, and
//! results transformed back by A: `Y = A^T [(G g G^T) * (B^T d B)] A`, where the products are added
//! up over the channels: 36 products of matrices, `[outputs, channels] x [channels, tiles]`.
//!
//! The points of interpolation are 0, +-sqrt(1/2), +-sqrt(2) and infinity, whose rounding errors are
//! a quarter of those of the usual 0, +-1, +-2.
//!
//! Tiles lie side by side in vectors. A tile with a result that is not finite is computed anew, as a product
//! of patches: NaN and infinity would reach all of its places, and overflow what has no business with
//! them.

mod blocks;
mod lanes;
mod tiles;
mod weights;

pub use blocks::{Blocks, TOGETHER};
pub use lanes::PRODUCTS;
pub use weights::transform;

use super::geometry::Image;
use super::patches::Patches;
use crate::error::Result;
use crate::kernel::gemm::{
    Epilogue, Mat, MatElement, MatMut, Panels, Scratch, Source, Strided, finish_into, macrokernel,
    panel_width,
};
use crate::kernel::math::Real;
use crate::simd;
use core::ops::Range;
use lanes::{L, OUT};
use tiles::{Elements, Results};

/// What the images of a block are multiplied with.
pub struct Weights<'a, T: MatElement> {
    /// `[outputs, channels * 9]`
    pub plain: Mat<'a, T>,
    /// The parts that [`transform`] makes of each [`TOGETHER`] outputs, one after the other.
    pub transformed: &'a [T::Acc],
}

/// Block `i`, for some of the channels of the result, from a multiple of [`TOGETHER`] on. `image(n)`, `c(n)` and
/// `epilogue(n)` are those of image `n`; `c` has a row for each channel, of all places.
///
/// Errors where there is no memory for scratch.
///
/// # Safety
/// Nobody else uses the places of this block in those channels meanwhile.
pub unsafe fn winograd<'a, 'b, T>(
    blocks: &Blocks,
    i: usize,
    outputs: Range<usize>,
    weights: &Weights<T>,
    image: impl Fn(usize) -> Image<'a, T>,
    c: impl Fn(usize) -> MatMut<'b, T>,
    epilogue: impl Fn(usize) -> Epilogue<'b, T>,
) -> Result<()>
where
    T: MatElement + 'a + 'b,
    T::Acc: Real + MatElement<Acc = T::Acc>,
{
    let [rows, cols] = blocks.block(i);
    let (wide, channels, made) = (blocks.wide(), blocks.channels, weights.plain.rows());
    assert!(weights.transformed.len() == PRODUCTS * made * channels && outputs.end <= made);
    assert!(outputs.start.is_multiple_of(TOGETHER));
    let lens = blocks.numbers();
    let len = lens.iter().fold(0, |a: usize, b| a.saturating_add(*b));
    let mut scratch = Scratch::<T::Acc>::new(len)?;
    let mut rest = &mut scratch[..];
    let [elements, products, lines, sums] =
        lens.map(|len| rest.split_off_mut(..len).unwrap_or_default());
    for (r, row) in rows.clone().enumerate() {
        simd::call(Elements {
            blocks,
            image: image(row / blocks.grid[0]),
            row: row % blocks.grid[0],
            cols: cols.clone(),
            lines,
            first: r * cols.len(),
            d: elements,
        });
    }
    // columns of no tile
    let held = rows.len() * cols.len();
    for d in elements[..PRODUCTS * channels * wide].chunks_exact_mut(wide) {
        d[held..].fill(T::Acc::default());
    }
    let mut o = outputs.start;
    while o < outputs.end {
        let part = o..outputs.end.min(o + TOGETHER);
        for p in 0..PRODUCTS {
            let size = part.len() * channels;
            let a = &weights.transformed[PRODUCTS * o * channels + p * size..][..size];
            let a = Strided::rows(Mat::from_slice(a, part.len(), channels));
            let elements = &elements[p * channels * wide..][..channels * wide];
            let b = Strided::columns(Mat::from_slice(elements, channels, wide));
            let d = &mut products[p * TOGETHER * wide..][..part.len() * wide];
            let mut d = MatMut::from_slice(d, part.len(), wide);
            // one panel is packed as it lies
            let panel = (panel_width::<T::Acc>(wide) == wide)
                .then(|| Panels::of(b.blocks(), wide, elements));
            macrokernel(a, b, panel, &mut d, false, Epilogue::NONE)?;
        }
        for (r, row) in rows.clone().enumerate() {
            let (n, y) = (row / blocks.grid[0], row % blocks.grid[0]);
            let finite = simd::call(Results {
                wide,
                first: r * cols.len(),
                tiles: cols.len(),
                outputs: part.len(),
                products,
                d: sums,
            });
            let (size, c, epilogue) = (blocks.geometry.places, c(n), epilogue(n));
            let left = cols.start * OUT;
            let len = size[2].min(cols.end * OUT) - left;
            let line = OUT * cols.len().next_multiple_of(L);
            for q in 0..OUT.min(size[1] - y * OUT) {
                let first = (y * OUT + q) * size[2] + left;
                let places = first..first + len;
                // SAFETY: places of this block, by the caller's promise.
                let mut d = unsafe { c.part(part.clone(), places.clone()) };
                let epilogue = epilogue.at(part.start, first);
                if finite {
                    finish_into(epilogue, &mut sums[q * line..], OUT * line, &mut d);
                } else {
                    let plain = &weights.plain;
                    let a = plain.block(part.clone(), 0..plain.cols());
                    let b = Patches::new(image(n), blocks.geometry).slice(places);
                    macrokernel(Strided::rows(a), b, None, &mut d, false, epilogue)?;
                }
            }
        }
        o = part.end;
    }
    Ok(())
}
