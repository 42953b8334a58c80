//! The sums of a channel's positions from rows of the image where they lie, in float32: reading
//! them into scratch takes almost as long as a small kernel's multiplications. Vectors that cross
//! the ends of rows are loaded with a mask, which instruction sets from AVX2 on have.
//!
//! Read into scratch first, single channels take 1.4 to 1.9 times as long on AVX2, also with a
//! stride of 2.

use super::tiling::{ROWS, Tile, Tiling};
use crate::kernel::conv::geometry::{Geometry, Image};
use crate::kernel::gemm::{MatElement, Packed, TileEnd};
use crate::kernel::math::Real;
use crate::simd::lanes::Lanes;
use crate::simd::{self, Isa, Kernel, Level};
use core::ops::Range;

/// The kernels that there is code for: their height, and the stride of rows and columns.
const KERNELS: [(usize, usize); 5] = [(3, 1), (5, 1), (7, 1), (3, 2), (5, 2)];
/// Rows of the image that a block of positions reads, at most.
const ROWS_READ: usize = (ROWS - 1) * 2 + 7;
/// Vectors of a block.
const VECTORS: usize = 2;

/// Whether there is code for a tile of an image.
pub fn is_in_place<T: MatElement>(tiling: &Tiling, tile: &Tile, image: &Image<T>) -> bool {
    let g = &tiling.geometry;
    let floats = T::SAME && T::Acc::as_floats(&mut []).is_some();
    floats
        && simd::level() != Level::Base
        && KERNELS.contains(&tiling.adjacent_rows())
        && tiling.planes == 1
        && g.stride[1] == g.stride[2]
        && image.stride(2) == 1
        && tile.y.len() >= ROWS
}

/// Writes the sums of a tile's positions, each added up like those of
/// [`TileSums`](super::sums::TileSums), with the same bits.
///
/// Contract INPLACE1: the elements of the image's only channel are float32; `d` is writable for the
/// tile's positions, by this call alone, its rows `ld` apart; `end` has a number for one row or none,
/// and none for columns.
pub struct InPlaceSums<'a, M> {
    pub geometry: &'a Geometry,
    pub image: Image<'a, M>,
    pub tile: &'a Tile,
    /// `[column][row]`
    pub taps: &'a [f32],
    /// As many elements as the tile reads of a row, in whole vectors; zeros, as far as its
    /// positions need them.
    pub zeros: &'a [f32],
    pub end: TileEnd<f32>,
    pub d: *mut f32,
    pub ld: usize,
}
impl<M> Kernel for InPlaceSums<'_, M> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        if const { !I::AVX2 } {
            unreachable!("sums in place need masks");
        }
        match (self.geometry.kernel[1], self.geometry.stride[1]) {
            (3, 2) => self.blocks::<<f32 as Real>::Vector<I>, 3, 2>(),
            (5, 2) => self.blocks::<<f32 as Real>::Vector<I>, 5, 2>(),
            (3, _) => self.blocks::<<f32 as Real>::Vector<I>, 3, 1>(),
            (5, _) => self.blocks::<<f32 as Real>::Vector<I>, 5, 1>(),
            _ => self.blocks::<<f32 as Real>::Vector<I>, 7, 1>(),
        }
    }
}
impl<M> InPlaceSums<'_, M> {
    #[inline(always)]
    fn blocks<V: Lanes<Number = f32>, const K: usize, const S: usize>(&self) {
        let (g, Range { start, end }) = (self.geometry, self.tile.y.clone());
        assert!(g.kernel[1] == K && g.stride[1..] == [S, S] && end - start >= ROWS);
        assert!(self.taps.len() == g.kernel[2] * K);
        let z = g.element(0, self.tile.z, 0);
        let width = self.image.sizes()[2] as isize;
        let first = g.element(2, self.tile.x.start, 0).max(0);
        let nothing = self.zeros.as_ptr().wrapping_offset(-first);
        for y in (start..end).step_by(ROWS) {
            // the last rows overlap those before
            let y = y.min(end - ROWS);
            let mut lines = [nothing; ROWS_READ];
            for (i, line) in lines.iter_mut().enumerate().take((ROWS - 1) * S + K) {
                if let Some(row) = self.image.row_inside(0, z, g.element(1, y, 0) + i as isize) {
                    *line = row.cast();
                }
            }
            let d = self.d.wrapping_add((y - start) * self.ld);
            let mut x = self.tile.x.start;
            while x < self.tile.x.end {
                let left = self.tile.x.end - x;
                let (from, to) = (g.element(2, x, 0), g.element(2, x, g.kernel[2] - 1));
                let inside = |n: usize| from >= 0 && width > to + ((n * V::LEN - 1) * S) as isize;
                // AVX-512 loads with a mask as fast as without, and has registers for the masks of
                // two vectors and more
                let most = match V::LEN == 16 || S == 1 || inside(VECTORS) {
                    true => VECTORS,
                    false => 1,
                };
                let n = if left > V::LEN { most } else { 1 };
                let masked = !inside(n) || V::LEN == 16;
                let d = d.wrapping_add(x - self.tile.x.start);
                // SAFETY: INPLACE1: the columns from `x` on of these rows of positions; lines have
                // what they read, inside the image (IMAGE1) or of zeros.
                unsafe {
                    match (n, masked) {
                        (1, true) => self.block::<V, 1, K, S, true>(&lines, x, d),
                        (1, false) => self.block::<V, 1, K, S, false>(&lines, x, d),
                        (_, true) => self.block::<V, VECTORS, K, S, true>(&lines, x, d),
                        (_, false) => self.block::<V, VECTORS, K, S, false>(&lines, x, d),
                    }
                }
                x += n * V::LEN;
            }
        }
    }
    /// The sums of [`ROWS`] rows of `N` vectors, from column `x` on.
    ///
    /// # Safety
    /// INPLACE1 for those of these positions that the tile has, with their first at `d`; each line
    /// is readable in the image's columns that the vectors read, and they read no others if not
    /// `MASKED`.
    #[inline(always)]
    #[expect(
        clippy::needless_range_loop,
        reason = "indices that are constants after unrolling keep the sums in registers"
    )]
    unsafe fn block<
        V: Lanes<Number = f32>,
        const N: usize,
        const K: usize,
        const S: usize,
        const MASKED: bool,
    >(
        &self,
        lines: &[*const f32; ROWS_READ],
        x: usize,
        d: *mut f32,
    ) {
        let width = self.image.sizes()[2] as isize;
        let mut c = [[V::splat(0.0); N]; ROWS];
        for (kx, taps) in self.taps.as_chunks::<K>().0.iter().enumerate() {
            let first = self.geometry.element(2, x, kx);
            for i in 0..(ROWS - 1) * S + K {
                let mut seen = [V::splat(0.0); N];
                for v in 0..N {
                    let column = first + (v * S * V::LEN) as isize;
                    // SAFETY: LANES1, by the caller.
                    seen[v] = unsafe {
                        match (S, MASKED) {
                            (1, _) => read::<V, MASKED>(lines[i], column, width),
                            (_, false) => V::load_evens(lines[i].wrapping_offset(column)),
                            (_, true) => {
                                let far = column + V::LEN as isize;
                                let near = read::<V, true>(lines[i], column, width);
                                near.evens(read::<V, true>(lines[i], far, width))
                            }
                        }
                    };
                }
                for r in 0..ROWS {
                    if i >= r * S && i < r * S + K {
                        for v in 0..N {
                            c[r][v] = seen[v].multiply_add(V::splat(taps[i - r * S]), c[r][v]);
                        }
                    }
                }
            }
        }
        // adding -0 changes nothing
        // SAFETY: INPLACE1.
        let bias = V::splat(unsafe { self.end.rows.as_ref() }.map_or(-0.0, |x| *x));
        let left = self.tile.x.end - x;
        for r in 0..ROWS {
            for v in 0..N {
                let to = d.wrapping_add(r * self.ld + v * V::LEN);
                let mut sums = c[r][v] + bias;
                if self.end.relu {
                    sums = V::splat(0.0).maximum(sums);
                }
                if S != 1 {
                    sums = sums.in_order();
                }
                // SAFETY: LANES1, INPLACE1.
                unsafe {
                    match left.saturating_sub(v * V::LEN) {
                        rest if rest >= V::LEN => sums.store(to),
                        rest => sums.store_first(to, rest),
                    }
                }
            }
        }
    }
}

/// The columns of a row of `width` elements from `column` on, with zeros outside if `MASKED`.
///
/// # Safety
/// LANES1, for the columns inside.
#[inline(always)]
unsafe fn read<V: Lanes<Number = f32>, const MASKED: bool>(
    line: *const f32,
    column: isize,
    width: isize,
) -> V {
    let at = line.wrapping_offset(column);
    // SAFETY: by the caller.
    unsafe {
        if !MASKED {
            return V::load(at);
        }
        let most = V::LEN as isize;
        let start = (-column).clamp(0, most);
        let end = (width - column).clamp(start, most);
        V::load_between(at, start as usize..end as usize)
    }
}
