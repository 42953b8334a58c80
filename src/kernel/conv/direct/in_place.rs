//! The sums of a channel's places from rows of the image where they lie, in float32: reading them
//! into scratch takes almost as long as a small kernel's multiplications. Vectors that cross the
//! ends of rows are loaded with a mask, which instruction sets from AVX2 on have.

use super::tiling::{ROWS, Tile, Tiling};
use crate::kernel::conv::geometry::{Geometry, Image};
use crate::kernel::gemm::{MatElement, Packed};
use crate::kernel::math::Real;
use crate::simd::lanes::Lanes;
use crate::simd::{self, Isa, Kernel, Level};
use core::ops::Range;

/// The heights of kernels that there is code for.
const HEIGHTS: [usize; 3] = [3, 5, 7];
/// Rows of the image that a block of places reads, at most.
const SEEN: usize = ROWS + HEIGHTS[2] - 1;
/// Vectors of a block.
const VECTORS: usize = 2;

/// Whether there is code for a tile of an image.
pub fn is_in_place<T: MatElement>(tiling: &Tiling, tile: &Tile, image: &Image<T>) -> bool {
    let g = &tiling.geometry;
    let floats = T::SAME && T::Acc::as_floats(&mut []).is_some();
    let has_masks = simd::level() > Level::Base;
    let (height, stride) = tiling.adjacent_rows();
    floats
        && has_masks
        && tiling.planes == 1
        && HEIGHTS.contains(&height)
        && [stride, g.stride[2]] == [1, 1]
        && image.stride(2) == 1
        && tile.y.len() >= ROWS
}

/// Writes the sums of a tile's places, each added up like those of
/// [`TileSums`](super::sums::TileSums), with the same bits.
///
/// Contract PLACES1: the elements of the image's only channel are float32; `d` is writable for the
/// tile's places, by this call alone, its rows `ld` apart.
pub struct PlaceSums<'a, M> {
    pub geometry: &'a Geometry,
    pub image: Image<'a, M>,
    pub tile: &'a Tile,
    /// `[column][row]`
    pub taps: &'a [f32],
    /// As many zeros as the tile reads of a row, in whole vectors.
    pub zeros: &'a [f32],
    pub d: *mut f32,
    pub ld: usize,
}
impl<M> Kernel for PlaceSums<'_, M> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        if const { !I::AVX2 } {
            unreachable!("sums in place need masks");
        }
        match self.geometry.kernel[1] {
            3 => self.blocks::<<f32 as Real>::Vector<I>, 3>(),
            5 => self.blocks::<<f32 as Real>::Vector<I>, 5>(),
            _ => self.blocks::<<f32 as Real>::Vector<I>, 7>(),
        }
    }
}
impl<M> PlaceSums<'_, M> {
    #[inline(always)]
    fn blocks<V: Lanes<Number = f32>, const K: usize>(&self) {
        let (g, Range { start, end }) = (self.geometry, self.tile.y.clone());
        assert!(g.kernel[1] == K && self.taps.len() == g.kernel[2] * K && end - start >= ROWS);
        let z = g.element(0, self.tile.z, 0);
        let width = self.image.sizes()[2] as isize;
        let first = g.element(2, self.tile.x.start, 0).max(0);
        let nothing = self.zeros.as_ptr().wrapping_offset(-first);
        for y in (start..end).step_by(ROWS) {
            // the last rows overlap those before
            let y = y.min(end - ROWS);
            let mut lines = [nothing; SEEN];
            for (i, line) in lines.iter_mut().enumerate().take(ROWS + K - 1) {
                if let Some(row) = self.image.seen(0, z, g.element(1, y, 0) + i as isize) {
                    *line = row.cast();
                }
            }
            let d = self.d.wrapping_add((y - start) * self.ld);
            let mut x = self.tile.x.start;
            while x < self.tile.x.end {
                let left = self.tile.x.end - x;
                let n = if left > V::LEN { VECTORS } else { 1 };
                let (from, to) = (g.element(2, x, 0), g.element(2, x, g.kernel[2] - 1));
                let inside = from >= 0 && to + (n * V::LEN) as isize <= width;
                // AVX-512 loads with a mask as fast as without
                let masked = !inside || V::LEN == 16;
                let d = d.wrapping_add(x - self.tile.x.start);
                // SAFETY: PLACES1: the columns from `x` on of these rows of places; lines have what
                // they read, inside the image (IMAGE1) or of zeros.
                unsafe {
                    match (n, masked) {
                        (1, true) => self.block::<V, 1, K, true>(&lines, x, d),
                        (1, false) => self.block::<V, 1, K, false>(&lines, x, d),
                        (_, true) => self.block::<V, VECTORS, K, true>(&lines, x, d),
                        (_, false) => self.block::<V, VECTORS, K, false>(&lines, x, d),
                    }
                }
                x += n * V::LEN;
            }
        }
    }
    /// The sums of [`ROWS`] rows of `N` vectors, from column `x` on.
    ///
    /// # Safety
    /// PLACES1 for those of these places that the tile has, with their first at `d`; each line is
    /// readable in the image's columns that the vectors read, and they read no others if not
    /// `MASKED`.
    #[inline(always)]
    #[expect(
        clippy::needless_range_loop,
        reason = "indices that are constants after unrolling keep the sums in registers"
    )]
    unsafe fn block<V: Lanes<Number = f32>, const N: usize, const K: usize, const MASKED: bool>(
        &self,
        lines: &[*const f32; SEEN],
        x: usize,
        d: *mut f32,
    ) {
        let width = self.image.sizes()[2] as isize;
        let mut c = [[V::splat(0.0); N]; ROWS];
        for (kx, taps) in self.taps.as_chunks::<K>().0.iter().enumerate() {
            let first = self.geometry.element(2, x, kx);
            let mut inside = [(0, V::LEN); N];
            for v in 0..N {
                let (at, most) = (first + (v * V::LEN) as isize, V::LEN as isize);
                let start = (-at).clamp(0, most);
                inside[v] = (start as usize, (width - at).clamp(start, most) as usize);
            }
            for i in 0..ROWS + K - 1 {
                let mut seen = [V::splat(0.0); N];
                for v in 0..N {
                    let at = lines[i].wrapping_offset(first + (v * V::LEN) as isize);
                    // SAFETY: LANES1, by the caller.
                    seen[v] = unsafe {
                        if MASKED {
                            V::load_between(at, inside[v].0..inside[v].1)
                        } else {
                            V::load(at)
                        }
                    };
                }
                for r in 0..ROWS {
                    if i >= r && i < r + K {
                        for v in 0..N {
                            c[r][v] = seen[v].multiply_add(V::splat(taps[i - r]), c[r][v]);
                        }
                    }
                }
            }
        }
        let left = self.tile.x.end - x;
        for r in 0..ROWS {
            for v in 0..N {
                let to = d.wrapping_add(r * self.ld + v * V::LEN);
                // SAFETY: LANES1, PLACES1.
                unsafe {
                    match left.saturating_sub(v * V::LEN) {
                        rest if rest >= V::LEN => c[r][v].store(to),
                        rest => c[r][v].store_first(to, rest),
                    }
                }
            }
        }
    }
}
