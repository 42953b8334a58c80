//! Reads the part of an image that a tile needs into scratch.

use super::tiling::{Tile, Tiling};
use crate::kernel::conv::geometry::Image;
use crate::kernel::conv::rows::{self, BLOCK};
use crate::kernel::gemm::MatElement;
use crate::simd::{Isa, Kernel};

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
        let depths = (0..image.channels()).flat_map(|c| (0..g.kernel[0]).map(move |z| (c, z)));
        for ((channel, kz), plane) in depths.zip(planes) {
            let z = g.element(0, tile.z, kz);
            for (row, line) in plane.chunks_exact_mut(t.line()).take(seen).enumerate() {
                let Some(from) = image.seen(channel, z, y + row as isize) else {
                    rows::clear(line);
                    continue;
                };
                let row = ImageRow {
                    from,
                    step: image.stride(2),
                    columns: image.sizes()[2],
                    first,
                };
                // SAFETY: IMAGE1: a row of the image.
                unsafe {
                    match g.stride[2] {
                        1 => row.neighbours::<I>(line, t.lead, len),
                        2 if row.step == 1 => {
                            let (even, odd) = line.split_at_mut(t.phase);
                            row.pairs::<I>((&mut even[t.lead..], &mut odd[t.lead..]), len)
                        }
                        stride => {
                            for (p, d) in line.chunks_exact_mut(t.phase).enumerate() {
                                for (j, d) in d[t.lead..][..len].iter_mut().enumerate() {
                                    *d = row.get(p + j * stride);
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// A row of an image: `columns` elements, `step` apart; reads start at column `first`. Columns
/// outside the row are zero.
///
/// The row must be one of an image (IMAGE1).
struct ImageRow<T> {
    from: *const T,
    step: isize,
    columns: usize,
    first: isize,
}
impl<T: MatElement> ImageRow<T> {
    /// Column `at` after the first.
    ///
    /// # Safety
    /// IMAGE1.
    #[inline(always)]
    unsafe fn get(&self, at: usize) -> T::Acc {
        let column = self.first + at as isize;
        if (column as usize) < self.columns {
            // SAFETY: IMAGE1: a column of the row.
            unsafe { *self.from.offset(column * self.step) }.widen()
        } else {
            T::Acc::default()
        }
    }
    /// `len` consecutive columns, from number `lead` of the line on, whose other numbers may be
    /// overwritten.
    ///
    /// # Safety
    /// IMAGE1.
    #[inline(always)]
    unsafe fn neighbours<I: Isa>(&self, line: &mut [T::Acc], lead: usize, len: usize) {
        let start = (-self.first).clamp(0, len as isize) as usize;
        let end = (self.columns as isize - self.first).clamp(start as isize, len as isize);
        let end = end as usize;
        // zeros by whole blocks, most of which are overwritten below
        let blocks = line.as_chunks_mut::<BLOCK>().0;
        for block in &mut blocks[lead / BLOCK..(lead + start).div_ceil(BLOCK)] {
            *block = [T::Acc::default(); BLOCK];
        }
        if end < len {
            for block in &mut blocks[(lead + end) / BLOCK..(lead + len).div_ceil(BLOCK)] {
                *block = [T::Acc::default(); BLOCK];
            }
        }
        if start == end {
            return;
        }
        let d = &mut line[lead..lead + len];
        if self.step == 1 {
            let from = self.from.wrapping_offset(self.first + start as isize);
            // SAFETY: IMAGE1: columns of the row, which are contiguous.
            let s = unsafe { core::slice::from_raw_parts(from, end - start) };
            rows::neighbours::<I, T>(s, &mut d[start..end]);
        } else {
            for (j, d) in d.iter_mut().enumerate().take(end).skip(start) {
                // SAFETY: IMAGE1.
                *d = unsafe { self.get(j) };
            }
        }
    }
    /// Consecutive columns, alternately to `even` and to `odd`: `len` each.
    ///
    /// # Safety
    /// IMAGE1.
    #[inline(always)]
    unsafe fn pairs<I: Isa>(&self, (even, odd): (&mut [T::Acc], &mut [T::Acc]), len: usize) {
        let (even, odd) = (&mut even[..len], &mut odd[..len]);
        let most = len as isize;
        // pairs with both columns in the row
        let start = ((1 - self.first) / 2).clamp(0, most) as usize;
        let end = (self.columns as isize - self.first).max(0) / 2;
        let end = end.clamp(start as isize, most) as usize;
        for j in (0..start).chain(end..len) {
            // SAFETY: IMAGE1.
            (even[j], odd[j]) = unsafe { (self.get(2 * j), self.get(2 * j + 1)) };
        }
        let mut j = start;
        while j + BLOCK <= end {
            let from = self.from.wrapping_offset(self.first + 2 * j as isize);
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
            (even[j], odd[j]) = unsafe { (self.get(2 * j), self.get(2 * j + 1)) };
        }
    }
}
