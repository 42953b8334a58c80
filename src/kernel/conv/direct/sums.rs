//! The sums of a tile, from what was read into scratch.
//!
//! Kernels of three, five and seven adjacent rows have code of their own; without it they take 1.2
//! to 1.5 times as long on AVX2, 1.1 to 1.3 times on SSE2.

use super::tiling::{LONG, ROWS, Tiling, VECTORS};
use crate::kernel::gemm::Packed;
use crate::simd::{Isa, Kernel};

/// The sums of a tile's positions, `d[row][column]`, from scratch and the kernel's
/// `taps[plane][column][row]`. Each is added up in the order of its taps, whatever block it is in.
pub struct TileSums<'a, F> {
    pub tiling: &'a Tiling,
    pub image: &'a [F],
    pub taps: &'a [F],
    pub rows: usize,
    pub cols: usize,
    pub d: &'a mut [F],
}
impl<F: Packed> Kernel for TileSums<'_, F> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        by_lanes!(self.blocks, I, F)
    }
}
impl<F: Packed> TileSums<'_, F> {
    #[allow(
        unreachable_patterns,
        reason = "microcontrollers have blocks of one row alone"
    )]
    #[inline(always)]
    fn blocks<I: Isa, const L: usize>(mut self) {
        let t = self.tiling;
        assert!(Some(self.image.len()) == t.image() && self.d.len() >= t.sums());
        assert!(self.rows <= t.rows && self.cols <= t.cols);
        assert!(self.taps.len() == t.taps());
        // specialised kernels for integers are seldom worth the code
        let adjacent = if const { F::UNROLLED } {
            t.adjacent_rows()
        } else {
            (0, 0)
        };
        let narrow = self.cols <= L;
        let mut y = 0;
        while y < self.rows {
            let high = match self.rows {
                rows if narrow && rows >= LONG => LONG,
                rows if rows >= ROWS => ROWS,
                _ => 1,
            };
            // The last rows overlap those before.
            y = y.min(self.rows - high);
            let vectors = match high {
                LONG if narrow => 1,
                ROWS => VECTORS,
                _ => LONG,
            };
            // From the right: a block may write past the last column, into the next row, whose own
            // block comes later.
            let mut end = self.cols.next_multiple_of(L);
            while end > 0 {
                let one = vectors == 1 || !end.is_multiple_of(vectors * L);
                let x = end - if one { L } else { vectors * L };
                // SAFETY: PLANE1: rows and columns of the tile; the image and the sums have whole
                // blocks of these by the assertions and `Tiling`'s sizes.
                unsafe {
                    match (high, one) {
                        (ROWS, false) => self.unrolled::<I, L, ROWS, VECTORS>(adjacent, y, x),
                        (ROWS, true) => self.unrolled::<I, L, ROWS, 1>(adjacent, y, x),
                        (1, false) => self.block::<I, L, 1, LONG>(y, x),
                        (1, true) => self.block::<I, L, 1, 1>(y, x),
                        _ => self.unrolled::<I, L, LONG, 1>(adjacent, y, x),
                    }
                }
                end = x;
            }
            y += high;
        }
    }
    /// A block, by the fastest code for the kernel's height and the vertical stride.
    ///
    /// # Safety
    /// PLANE1.
    #[inline(always)]
    unsafe fn unrolled<I: Isa, const L: usize, const R: usize, const V: usize>(
        &mut self,
        adjacent: (usize, usize),
        y: usize,
        x: usize,
    ) {
        // SAFETY: PLANE1, by the caller's promise.
        unsafe {
            match adjacent {
                (3, 1) => self.rows::<I, L, R, V, 3, 1>(y, x),
                (3, 2) => self.rows::<I, L, R, V, 3, 2>(y, x),
                (5, 1) => self.rows::<I, L, R, V, 5, 1>(y, x),
                (7, 1) => self.rows::<I, L, R, V, 7, 1>(y, x),
                _ => self.block::<I, L, R, V>(y, x),
            }
        }
    }
    /// A block for a kernel of `K` adjacent rows and a vertical stride of `S`: a column of taps
    /// stays in registers, and each row of the image is read once for all positions that need it.
    ///
    /// # Safety
    /// PLANE1.
    #[inline(always)]
    #[expect(
        clippy::needless_range_loop,
        reason = "indices that are constants after unrolling keep the sums in registers"
    )]
    unsafe fn rows<
        I: Isa,
        const L: usize,
        const R: usize,
        const V: usize,
        const K: usize,
        const S: usize,
    >(
        &mut self,
        y: usize,
        x: usize,
    ) {
        let t = self.tiling;
        let line = t.line();
        let mut from = self.image.as_ptr().wrapping_add(y * S * line + x);
        let mut taps = self.taps.as_chunks::<K>().0.iter();
        let mut c = [[F::begin([F::default(); L]); V]; R];
        for _ in 0..t.planes {
            for kx in 0..t.geometry.kernel[2] {
                let Some(taps) = taps.next() else { break };
                let at = from.wrapping_add(t.column(kx));
                for row in 0..(R - 1) * S + K {
                    let mut seen = [[F::default(); L]; V];
                    for v in 0..V {
                        let at = at.wrapping_add(row * line + v * L);
                        // SAFETY: PLANE1: a row that the tile reads, whose `t.phase` elements are
                        // the block's columns and those that taps read beyond them.
                        seen[v] = unsafe { *(at as *const [F; L]) };
                    }
                    for r in 0..R {
                        if row >= r * S && row < r * S + K {
                            for v in 0..V {
                                c[r][v] = F::axpy::<I, L>(taps[row - r * S], seen[v], c[r][v]);
                            }
                        }
                    }
                }
            }
            from = from.wrapping_add(t.seen * line);
        }
        self.store::<L, R, V>(y, x, c);
    }
    /// `R` rows of `V` vectors, from position `(y, x)` on.
    ///
    /// # Safety
    /// Contract PLANE1: `image`, `taps` and `d` are as long as the tiling says, the rows are some
    /// of the tile's, and the columns lie within its columns, rounded up to whole vectors.
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
        let line = t.line();
        let mut from = (self.image.as_ptr()).wrapping_add(y * stride[1] * line + x);
        let mut taps = self.taps.iter();
        let mut c = [[F::begin([F::default(); L]); V]; R];
        for _ in 0..t.planes {
            for kx in 0..kernel[2] {
                let mut from = from.wrapping_add(t.column(kx));
                for tap in taps.by_ref().take(kernel[1]) {
                    for r in 0..R {
                        for v in 0..V {
                            let at = from.wrapping_add(r * stride[1] * line + v * L);
                            // SAFETY: PLANE1, as for `rows`.
                            let seen = unsafe { *(at as *const [F; L]) };
                            c[r][v] = F::axpy::<I, L>(*tap, seen, c[r][v]);
                        }
                    }
                    from = from.wrapping_add(dilation[1] * line);
                }
            }
            from = from.wrapping_add(t.seen * line);
        }
        self.store::<L, R, V>(y, x, c);
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
}
