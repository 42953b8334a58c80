//! One channel of an image by kernels of its own: too few multiplications for a product. Rows are
//! read once into L1, zeros around them and, where the stride is not one, columns that one tap sees
//! side by side; the sums of a block of places stay in registers.

use super::geometry::{Geometry, Image};
use super::rows::{self, Columns};
use crate::error::Result;
use crate::kernel::gemm::{Epilogue, Mat, MatElement, MatMut, Packed, Scratch, finish_into};
use crate::simd::{self, Isa, Kernel};
use core::ops::Range;

/// Bytes of scratch that a tile may take where it can be smaller: half of most first-level caches.
const MOST: usize = if simd::CACHE_BLOCKING {
    24 << 10
} else {
    2 << 10
};
/// Bytes of scratch from which on other algorithms are better: what a second-level cache holds.
const TOO_MUCH: usize = if simd::CACHE_BLOCKING {
    256 << 10
} else {
    8 << 10
};
/// Places of a row at most.
const WIDE: usize = 512;
/// Rows of a block of places, whose sums are in registers at once, and its vectors.
const ROWS: usize = if simd::MICROCONTROLLER { 1 } else { 4 };
const VECTORS: usize = if simd::MICROCONTROLLER { 1 } else { 2 };
/// Vectors of a block of one row: as many sums as of several, since each waits for the one before.
const LONG: usize = ROWS * VECTORS;
/// Bytes of the longest vector.
const VECTOR: usize = 64;

/// Places that are computed at once: some rows, of all columns or of some.
#[derive(Clone, Debug)]
struct Tile {
    z: usize,
    y: Range<usize>,
    x: Range<usize>,
}

/// How places are cut into tiles; it follows from the geometry and the type alone.
#[derive(Clone, Copy, Debug)]
pub struct Tiling {
    geometry: Geometry,
    rows: usize,
    cols: usize,
    /// Numbers of a phase of a row: what taps see of each `stride`th column.
    phase: usize,
    /// Rows of the image that a tile sees, of one depth of the kernel.
    seen: usize,
}
impl Tiling {
    /// The tiles of these places, for sums of `bytes` bytes; none where those are too large for
    /// caches.
    pub fn new(geometry: Geometry, bytes: usize) -> Option<Tiling> {
        let (g, n) = (geometry, geometry.places);
        let of = |rows: usize| {
            let cols = n[2].min(WIDE);
            let block = (VECTORS * VECTOR / bytes).max(1);
            let beyond = (g.kernel[2] - 1).checked_mul(g.dilation[2])? / g.stride[2] + 1;
            let span = (g.kernel[1] - 1).checked_mul(g.dilation[1])?;
            let tiling = Tiling {
                geometry,
                rows,
                cols,
                phase: cols
                    .next_multiple_of(block)
                    .checked_add(beyond)?
                    .checked_next_multiple_of(block)?,
                seen: span.checked_add((rows.max(1) - 1).checked_mul(g.stride[1])? + 1)?,
            };
            Some(tiling).filter(|t| t.numbers().is_some())
        };
        let takes = |t: &Tiling| t.numbers().unwrap_or(usize::MAX).saturating_mul(bytes);
        let mut best = of(n[1].min(ROWS)).filter(|t| takes(t) <= TOO_MUCH)?;
        let mut rows = best.rows;
        while rows < n[1] {
            rows = (rows + ROWS).min(n[1]);
            match of(rows).filter(|t| takes(t) <= MOST) {
                Some(t) => best = t,
                None => break,
            }
        }
        Some(best)
    }
    /// Numbers of the image that a tile has in scratch.
    fn image(&self) -> Option<usize> {
        let g = &self.geometry;
        (g.kernel[0].checked_mul(self.seen)?)
            .checked_mul(g.stride[2])?
            .checked_mul(self.phase)
    }
    /// Numbers of sums: whole blocks in the last row.
    fn sums(&self) -> usize {
        self.rows * self.cols + VECTORS * VECTOR
    }
    /// Numbers of scratch.
    fn numbers(&self) -> Option<usize> {
        self.image()?
            .checked_add(self.sums())?
            .checked_add(self.geometry.positions())
    }
    /// Where the columns that a tap sees begin in a row.
    #[inline(always)]
    fn column(&self, tap: usize) -> usize {
        let (at, stride) = (tap * self.geometry.dilation[2], self.geometry.stride[2]);
        match stride {
            1 => at,
            2 => at % 2 * self.phase + at / 2,
            _ => at % stride * self.phase + at / stride,
        }
    }
    /// The rows of the kernel and of the places, of kernels whose rows lie side by side.
    fn near(&self) -> (usize, usize) {
        let g = &self.geometry;
        if g.kernel[0] == 1 && g.dilation[1] == 1 && !simd::MICROCONTROLLER {
            (g.kernel[1], g.stride[1])
        } else {
            (0, 0)
        }
    }
    /// Bytes of scratch of a tile, by the size of its sums.
    pub fn scratch(&self, bytes: usize) -> usize {
        self.numbers().unwrap_or(usize::MAX).saturating_mul(bytes)
    }
    /// How many tiles.
    pub fn count(&self) -> usize {
        let n = self.geometry.places;
        n[0] * n[1].div_ceil(self.rows.max(1)) * n[2].div_ceil(self.cols.max(1))
    }
    fn tile(&self, i: usize) -> Tile {
        let n = self.geometry.places;
        let (down, across) = (n[1].div_ceil(self.rows), n[2].div_ceil(self.cols));
        let (y, x) = (i / across % down * self.rows, i % across * self.cols);
        Tile {
            z: i / across / down,
            y: y..n[1].min(y + self.rows),
            x: x..n[2].min(x + self.cols),
        }
    }
}

/// Tile `i` of the places of one channel, for all results that are made of it: `c` has a row for each,
/// of all places, and `weight` one of the kernel's positions.
///
/// Errors where there is no memory for scratch.
///
/// # Safety
/// Nobody else uses the places of this tile in `c` meanwhile.
pub unsafe fn depthwise<T: MatElement>(
    tiling: &Tiling,
    i: usize,
    image: Image<T>,
    weight: Mat<T>,
    c: &MatMut<T>,
    epilogue: Epilogue<T>,
) -> Result<()> {
    let tile = tiling.tile(i);
    let g = &tiling.geometry;
    let mut scratch = Scratch::<T::Acc>::new(tiling.numbers().unwrap_or(usize::MAX))?;
    let (numbers, rest) = scratch.split_at_mut(tiling.image().unwrap_or(0));
    let (taps, sums) = rest.split_at_mut(g.positions());
    simd::call(Load {
        tiling,
        tile: &tile,
        image,
        d: numbers,
    });
    let cols = tile.x.len();
    for o in 0..weight.rows() {
        for (k, to) in taps.iter_mut().enumerate() {
            // SAFETY: MAT1: row `o` and column `k` of the weight.
            *to = unsafe { weight.get(o, k) }.widen();
        }
        simd::call(Sums {
            tiling,
            image: numbers,
            taps,
            rows: tile.y.len(),
            cols,
            d: sums,
        });
        // rows of all columns follow each other, in the sums as in the result
        let n = g.places;
        let at = |y: usize| (tile.z * n[1] + y) * n[2] + tile.x.start;
        let step = if cols == n[2] { tile.y.len() } else { 1 };
        for y in (0..tile.y.len()).step_by(step.max(1)) {
            let first = at(tile.y.start + y);
            // SAFETY: the places of this tile, by the caller's promise.
            let mut d = unsafe { c.part(o..o + 1, first..first + step * cols) };
            finish_into(
                epilogue.at(o, first),
                &mut sums[y * cols..],
                step * cols,
                &mut d,
            );
        }
    }
    Ok(())
}

/// Reads what a tile sees: `d[depth of the kernel][row][phase of the columns][column]`.
struct Load<'a, 'b, T: MatElement> {
    tiling: &'a Tiling,
    tile: &'a Tile,
    image: Image<'b, T>,
    d: &'a mut [T::Acc],
}
impl<T: MatElement> Kernel for Load<'_, '_, T> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        let (t, tile, image) = (self.tiling, self.tile, self.image);
        let g = &t.geometry;
        let first = |axis: usize, place: usize| g.element(axis, place, 0);
        for (i, lines) in self.d.chunks_exact_mut(g.stride[2] * t.phase).enumerate() {
            let (kz, y) = (i / t.seen, i % t.seen);
            let z = g.element(0, tile.z, kz);
            let Some(from) = image.seen(0, z, first(1, tile.y.start) + y as isize) else {
                rows::clear(lines);
                continue;
            };
            for (p, d) in lines.chunks_exact_mut(t.phase).enumerate() {
                let places = Columns {
                    first: first(2, tile.x.start) + p as isize,
                    stride: g.stride[2],
                    len: t.phase,
                };
                // SAFETY: IMAGE1: a row of the image.
                unsafe {
                    rows::load::<I, T>(from, image.stride(2), image.sizes()[2], places, d);
                }
            }
        }
    }
}

/// The sums of a tile's places, `d[row][column]`, by what [`Load`] read.
struct Sums<'a, F> {
    tiling: &'a Tiling,
    image: &'a [F],
    taps: &'a [F],
    rows: usize,
    cols: usize,
    d: &'a mut [F],
}
impl<F: Packed> Kernel for Sums<'_, F> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        if simd::MICROCONTROLLER {
            return self.blocks::<I, 1>();
        }
        // as many lanes as a vector of the set has
        macro_rules! lanes {
            ($($size:literal: $x:literal $y:literal $z:literal;)*) => {
                match size_of::<F>() {
                    $($size => if const { I::AVX512 } {
                        self.blocks::<I, $x>()
                    } else if const { I::AVX2 } {
                        self.blocks::<I, $y>()
                    } else {
                        self.blocks::<I, $z>()
                    },)*
                    _ => self.blocks::<I, 1>(),
                }
            };
        }
        lanes! { 2: 32 16 8; 4: 16 8 4; 8: 8 4 2; 16: 4 2 1; }
    }
}
impl<F: Packed> Sums<'_, F> {
    #[inline(always)]
    fn blocks<I: Isa, const L: usize>(mut self) {
        let t = self.tiling;
        assert!(Some(self.image.len()) == t.image() && self.d.len() >= t.sums());
        assert!(self.rows <= t.rows && self.cols <= t.cols);
        assert!(self.taps.len() == t.geometry.positions());
        let mut y = 0;
        while y < self.rows {
            let step = if self.rows - y >= ROWS { ROWS } else { 1 };
            let vectors = if step == ROWS { VECTORS } else { LONG };
            // From the right: what a block writes beyond the last column belongs to the next row,
            // whose own block comes later.
            let mut end = self.cols.next_multiple_of(L);
            while end > 0 {
                let one = !end.is_multiple_of(vectors * L);
                let x = end - if one { L } else { vectors * L };
                // SAFETY: PLANE1: rows and columns of the tile, whole blocks of which the image and the
                // sums have by the assertions and `Tiling`'s sizes.
                unsafe {
                    match (step == ROWS, one) {
                        (true, false) => match self.tiling.near() {
                            (3, 1) => self.near::<I, L, 3, 1>(y, x),
                            (3, 2) => self.near::<I, L, 3, 2>(y, x),
                            (5, 1) => self.near::<I, L, 5, 1>(y, x),
                            (7, 1) => self.near::<I, L, 7, 1>(y, x),
                            _ => self.block::<I, L, ROWS, VECTORS>(y, x),
                        },
                        (true, true) => self.block::<I, L, ROWS, 1>(y, x),
                        (false, false) => self.block::<I, L, 1, LONG>(y, x),
                        (false, true) => self.block::<I, L, 1, 1>(y, x),
                    }
                }
                end = x;
            }
            y += step;
        }
    }
    /// A whole block of a kernel of one depth and `K` neighbouring rows, the places' rows `S` apart:
    /// a column of taps is kept in registers, and each row of the image read once for all places
    /// that see it.
    ///
    /// # Safety
    /// PLANE1.
    #[inline(always)]
    #[expect(
        clippy::needless_range_loop,
        reason = "indices that are constants after unrolling keep the sums in registers"
    )]
    unsafe fn near<I: Isa, const L: usize, const K: usize, const S: usize>(
        &mut self,
        y: usize,
        x: usize,
    ) {
        let t = self.tiling;
        let line = t.geometry.stride[2] * t.phase;
        let from = self.image.as_ptr().wrapping_add(y * S * line + x);
        let width = t.geometry.kernel[2];
        let mut c = [[F::begin([F::default(); L]); VECTORS]; ROWS];
        for kx in 0..width {
            let at = from.wrapping_add(t.column(kx));
            let mut taps = [F::default(); K];
            for ky in 0..K {
                taps[ky] = self.taps[ky * width + kx];
            }
            for row in 0..(ROWS - 1) * S + K {
                let mut seen = [[F::default(); L]; VECTORS];
                for v in 0..VECTORS {
                    // SAFETY: PLANE1: a row that the tile sees, `t.phase` numbers of which are the
                    // block's columns and those that taps see beyond.
                    seen[v] = unsafe { *(at.wrapping_add(row * line + v * L) as *const [F; L]) };
                }
                for r in 0..ROWS {
                    if row >= r * S && row < r * S + K {
                        for v in 0..VECTORS {
                            c[r][v] = F::axpy::<I, L>(taps[row - r * S], seen[v], c[r][v]);
                        }
                    }
                }
            }
        }
        self.store::<L, ROWS, VECTORS>(y, x, c);
    }
    /// Writes a block of sums.
    #[inline(always)]
    fn store<const L: usize, const R: usize, const V: usize>(
        &mut self,
        y: usize,
        x: usize,
        c: [[F::Sums<L>; V]; R],
    ) {
        for (r, c) in c.into_iter().enumerate() {
            for (v, c) in c.into_iter().enumerate() {
                let at = (y + r) * self.cols + x + v * L;
                self.d[at..at + L].copy_from_slice(&F::end(c));
            }
        }
    }
    /// `R` rows of `V` vectors, from place `(y, x)` on.
    ///
    /// # Safety
    /// Contract PLANE1: `image`, `taps` and `d` are as long as the tiling says, the rows are some of
    /// the tile's, and the columns lie within its columns, rounded up to whole blocks.
    #[inline(always)]
    #[expect(
        clippy::needless_range_loop,
        reason = "indices that are constants after unrolling keep the sums in registers"
    )]
    unsafe fn block<I: Isa, const L: usize, const R: usize, const V: usize>(
        &mut self,
        y: usize,
        x: usize,
    ) {
        let t = self.tiling;
        let [kernel, stride, dilation] =
            [t.geometry.kernel, t.geometry.stride, t.geometry.dilation];
        let line = stride[2] * t.phase;
        let mut c = [[F::begin([F::default(); L]); V]; R];
        let mut taps = self.taps.iter();
        for (kz, ky) in (0..kernel[0]).flat_map(|z| (0..kernel[1]).map(move |y| (z, y))) {
            let row = kz * t.seen + y * stride[1] + ky * dilation[1];
            let from = self.image.as_ptr().wrapping_add(row * line + x);
            for (kx, tap) in taps.by_ref().take(kernel[2]).enumerate() {
                let from = from.wrapping_add(t.column(kx));
                for r in 0..R {
                    for v in 0..V {
                        let at = from.wrapping_add(r * stride[1] * line + v * L);
                        // SAFETY: PLANE1, as for `near`.
                        c[r][v] = unsafe { F::axpy::<I, L>(*tap, *(at as *const [F; L]), c[r][v]) };
                    }
                }
            }
        }
        self.store::<L, R, V>(y, x, c);
    }
}
