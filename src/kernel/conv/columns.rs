//! col2im, the way back from positions to an image: the contributions of each tap of each position
//! are a product, and are added to the element that the tap reads. In blocks of positions, so that
//! the product stays in a cache.

use super::geometry::{Geometry, Three};
use super::image_rows::ChannelTap;
use super::rows;
use crate::error::Result;
use crate::kernel::gemm::{self, Epilogue, Mat, MatElement, MatMut, Packed, Scratch, Strided};
use crate::simd::{self, Isa, Kernel};
use core::ops::Range;

/// Elements of a block.
const BLOCK: usize = if simd::CACHE_BLOCKING {
    1 << 16
} else {
    1 << 9
};

/// The product of `taps`, `[taps, outputs]`, and `result`, `[outputs, positions]`, in blocks of a
/// multiple of `unit` positions, which are passed to `each` in turn, as `[taps][positions]`. Blocks
/// depend on the sizes alone.
///
/// Errors if there is no memory for a block.
pub fn columns<T: MatElement<Acc = T> + Packed>(
    taps: Mat<T>,
    result: Mat<T>,
    unit: usize,
    mut each: impl FnMut(Range<usize>, &[T]),
) -> Result<()> {
    let (positions, k) = (result.cols(), result.rows());
    let step = (BLOCK / taps.rows().max(1) / unit.max(1)).max(1);
    let step = step.saturating_mul(unit).min(positions);
    let mut block = Scratch::<T>::new(taps.rows().saturating_mul(step))?;
    for start in (0..positions).step_by(step.max(1)) {
        let cols = start..positions.min(start + step);
        let d = &mut block[..taps.rows() * cols.len()];
        let mut c = MatMut::from_slice(d, taps.rows(), cols.len());
        let right = Strided::columns(result.block(0..k, cols.clone()));
        let left = Strided::rows(taps);
        gemm::macrokernel(&left, &right, None, &mut c, false, Epilogue::NONE)?;
        each(cols, d);
    }
    Ok(())
}

/// Adds the contributions of taps, for rows of positions, to the elements that they read.
pub struct AddRows<'a, T> {
    pub geometry: &'a Geometry,
    /// The rows of positions.
    pub rows: Range<usize>,
    /// `[taps][rows][columns]`
    pub from: &'a [T],
    /// The sizes of a channel of `d`.
    pub sizes: Three,
    pub d: &'a mut [T],
}
impl<T: Packed> AddRows<'_, T> {
    /// Panics if sizes don't match.
    pub fn add(self) {
        simd::call(self)
    }
}
impl<T: Packed> Kernel for AddRows<'_, T> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        let (g, [_, height, width]) = (self.geometry, self.sizes);
        let area = self.sizes.iter().product::<usize>();
        let row_len = g.output_size[2];
        let mut tap = ChannelTap::new(0, g.kernel);
        let taps = self.from.chunks_exact((self.rows.len() * row_len).max(1));
        for from in taps {
            let plane = &mut self.d[tap.channel * area..][..area];
            let positions = rows::StridedColumns {
                first: g.element(2, 0, tap.at[2]),
                stride: g.stride[2],
                len: row_len,
            };
            let inside = positions.inside(width);
            for (row, from) in self.rows.clone().zip(from.chunks_exact(row_len)) {
                let z = g.element(0, row / g.output_size[1], tap.at[0]) as usize;
                let y = g.element(1, row % g.output_size[1], tap.at[1]) as usize;
                if z >= self.sizes[0] || y >= height || inside.is_empty() {
                    continue;
                }
                let d = &mut plane[(z * height + y) * width..][..width];
                let first = positions.first + (inside.start * positions.stride) as isize;
                let (from, d) = (&from[inside.clone()], &mut d[first as usize..]);
                match positions.stride {
                    1 => add(from, d.iter_mut()),
                    2 => add(from, d.iter_mut().step_by(2)),
                    stride => add(from, d.iter_mut().step_by(stride)),
                }
            }
            tap.next(g.kernel);
        }
    }
}

#[inline(always)]
fn add<'a, T: Packed>(from: &[T], d: impl Iterator<Item = &'a mut T>) {
    for (d, s) in d.zip(from) {
        *d = T::add(*d, *s);
    }
}
