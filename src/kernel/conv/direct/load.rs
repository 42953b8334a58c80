//! Reads the part of an image that a tile needs into scratch.

use super::tiling::{Tile, Tiling};
use crate::kernel::conv::geometry::Image;
use crate::kernel::conv::rows::{self, BLOCK};
use crate::kernel::gemm::{MatElement, Packed};
use crate::simd::{Isa, Kernel};
use core::ops::Range;

/// Reads it as `d[plane][row][phase of the columns][column]`.
pub struct LoadTile<'a, 'b, T: MatElement> {
    pub tiling: &'a Tiling,
    pub tile: &'a Tile,
    pub image: Image<'b, T>,
    pub d: &'a mut [T::Acc],
}
impl<T: MatElement> Kernel for LoadTile<'_, '_, T> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        let (t, tile, image) = (self.tiling, self.tile, self.image);
        let g = &t.geometry;
        let y = g.element(1, tile.y.start, 0);
        let first = g.element(2, tile.x.start, 0);
        let len = tile.x.len() + t.beyond;
        let seen = (tile.y.len() - 1) * g.stride[1] + (g.kernel[1] - 1) * g.dilation[1] + 1;
        let planes = self.d.chunks_exact_mut(t.seen * t.line());
        let columns = TileColumns::new(image.stride(2), image.sizes()[2], first, len, t.lead);
        let depths = (0..image.channels()).flat_map(|c| (0..g.kernel[0]).map(move |z| (c, z)));
        for ((channel, kz), plane) in depths.zip(planes) {
            let z = g.element(0, tile.z, kz);
            for (row, line) in plane.chunks_exact_mut(t.line()).take(seen).enumerate() {
                let Some(from) = image.row_inside(channel, z, y + row as isize) else {
                    rows::clear(line);
                    continue;
                };
                // SAFETY: IMAGE1: a row of the image.
                unsafe {
                    match g.stride[2] {
                        1 => columns.neighbours::<I, T>(from, line),
                        2 if columns.step == 1 => {
                            let (even, odd) = line.split_at_mut(t.phase);
                            columns.pairs::<I, T>(from, even, odd)
                        }
                        stride => {
                            for (p, d) in line.chunks_exact_mut(t.phase).enumerate() {
                                for (j, d) in d[t.lead..][..len].iter_mut().enumerate() {
                                    *d = columns.get(from, p + j * stride);
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Writes zeros to a few blocks: from a loop over one or two LLVM would make a call of `memset`.
#[inline(always)]
fn clear_blocks<F: Packed>(blocks: &mut [[F; BLOCK]]) {
    let zeros = [F::default(); BLOCK];
    match blocks {
        [] => {}
        [a] => *a = zeros,
        [a, b] => (*a, *b) = (zeros, zeros),
        more => more.fill(zeros),
    }
}

/// Columns that a tile reads of each row of an image, which has `columns` elements, `step` apart:
/// `len` of them from column `first` on, or twice as many if they are sorted by pairs. Those
/// outside the image are zero. They go to a line from number `lead` on; its other elements may be
/// overwritten.
struct TileColumns {
    step: isize,
    columns: usize,
    first: isize,
    len: usize,
    lead: usize,
    /// Those of neighbours that lie in the image, and the blocks of the line to the left and to the
    /// right of them.
    inside: Range<usize>,
    outside: [Range<usize>; 2],
}
impl TileColumns {
    fn new(step: isize, columns: usize, first: isize, len: usize, lead: usize) -> Self {
        let start = (-first).clamp(0, len as isize) as usize;
        let end = (columns as isize - first).clamp(start as isize, len as isize) as usize;
        let right = if end < len {
            (lead + end) / BLOCK..(lead + len).div_ceil(BLOCK)
        } else {
            0..0
        };
        TileColumns {
            step,
            columns,
            first,
            len,
            lead,
            inside: start..end,
            outside: [lead / BLOCK..(lead + start).div_ceil(BLOCK), right],
        }
    }
    /// Column `at` after the first, of the row at `from`.
    ///
    /// # Safety
    /// The row is one of an image (IMAGE1).
    #[inline(always)]
    unsafe fn get<T: MatElement>(&self, from: *const T, at: usize) -> T::Acc {
        let column = self.first + at as isize;
        if (column as usize) < self.columns {
            // SAFETY: IMAGE1: a column of the row.
            unsafe { *from.offset(column * self.step) }.widen()
        } else {
            T::Acc::default()
        }
    }
    /// Consecutive columns of the row at `from`.
    ///
    /// # Safety
    /// As for `get`.
    #[inline(always)]
    unsafe fn neighbours<I: Isa, T: MatElement>(&self, from: *const T, line: &mut [T::Acc]) {
        // zeros by whole blocks, most of which are overwritten below
        let blocks = line.as_chunks_mut::<BLOCK>().0;
        for outside in &self.outside {
            clear_blocks(&mut blocks[outside.clone()]);
        }
        let Range { start, end } = self.inside;
        if start == end {
            return;
        }
        let d = &mut line[self.lead + start..self.lead + end];
        if self.step == 1 {
            let from = from.wrapping_offset(self.first + start as isize);
            // SAFETY: IMAGE1: columns of the row, which are contiguous.
            let s = unsafe { core::slice::from_raw_parts(from, end - start) };
            rows::neighbours::<I, T>(s, d);
        } else {
            for (j, d) in d.iter_mut().enumerate() {
                // SAFETY: IMAGE1.
                *d = unsafe { self.get(from, start + j) };
            }
        }
    }
    /// Consecutive columns of the row at `from`, alternately to `even` and to `odd`.
    ///
    /// # Safety
    /// As for `get`.
    #[inline(always)]
    unsafe fn pairs<I: Isa, T: MatElement>(
        &self,
        from: *const T,
        even: &mut [T::Acc],
        odd: &mut [T::Acc],
    ) {
        let (len, most) = (self.len, self.len as isize);
        let even = &mut even[self.lead..][..len];
        let odd = &mut odd[self.lead..][..len];
        // pairs with both columns in the row
        let start = ((1 - self.first) / 2).clamp(0, most) as usize;
        let end = (self.columns as isize - self.first).max(0) / 2;
        let end = end.clamp(start as isize, most) as usize;
        for j in (0..start).chain(end..len) {
            // SAFETY: IMAGE1.
            (even[j], odd[j]) = unsafe { (self.get(from, 2 * j), self.get(from, 2 * j + 1)) };
        }
        let mut j = start;
        while j + BLOCK <= end {
            let from = from.wrapping_offset(self.first + 2 * j as isize);
            // SAFETY: IMAGE1: columns of the row, which are contiguous.
            let s = unsafe { core::slice::from_raw_parts(from, 2 * BLOCK) };
            let [a, b] = rows::pairs::<I, T, BLOCK>(s);
            even[j..j + BLOCK].copy_from_slice(&a);
            odd[j..j + BLOCK].copy_from_slice(&b);
            // the last block overlaps
            j = if j + BLOCK < end {
                (j + BLOCK).min(end - BLOCK)
            } else {
                end
            };
        }
        for j in j..end {
            // SAFETY: IMAGE1.
            (even[j], odd[j]) = unsafe { (self.get(from, 2 * j), self.get(from, 2 * j + 1)) };
        }
    }
}
