//! The transform of the products of a row of tiles back to results.

use super::ALL_TILES;
use super::filtering::{OUT, results_in, results_of};
use crate::kernel::conv::planes::LANES;
use crate::kernel::gemm::Packed;
use crate::kernel::math::Real;
use crate::simd::{Isa, Kernel};
use core::ops::Range;

/// `A^T m A` of a row of tiles, for as many channels as lanes. Returns false if a result is not
/// finite.
pub struct TransformResults<'a, F, const ROWS: usize, const COLS: usize> {
    /// The rows and columns of products that there are, one after the other; others are zero.
    pub needed: [Range<usize>; 2],
    /// Contract RESULTS1: the lanes of each product are at `product * step + tile * line`, for as
    /// many tiles as cover `width`.
    pub products: *const F,
    pub step: usize,
    pub line: usize,
    /// Positions of a column, and of a row: the last tiles may be partial.
    pub height: usize,
    pub width: usize,
    /// `[row][column][lane]`, rows and columns as many positions of lanes apart.
    pub d: &'a mut [F],
    pub apart: [usize; 2],
}
impl<F: Real + Packed, const ROWS: usize, const COLS: usize> Kernel
    for TransformResults<'_, F, ROWS, COLS>
{
    type Out = bool;
    #[inline(always)]
    fn run<I: Isa>(self) -> bool {
        by_lanes!(self.by, I, F)
    }
}
impl<F: Real + Packed, const ROWS: usize, const COLS: usize> TransformResults<'_, F, ROWS, COLS> {
    /// `L` lanes at a time, which fit in registers.
    #[inline(always)]
    fn by<I: Isa, const L: usize>(self) -> bool {
        if !ALL_TILES || self.needed == [0..ROWS, 0..COLS] {
            self.tiles::<I, L, true>()
        } else {
            self.tiles::<I, L, false>()
        }
    }
    /// If `ALL`, no product is missing.
    #[inline(always)]
    #[expect(
        clippy::needless_range_loop,
        reason = "indices that are constants after unrolling keep lanes in registers"
    )]
    fn tiles<I: Isa, const L: usize, const ALL: bool>(self) -> bool {
        let (down, across) = const { (results_in(ROWS), results_in(COLS)) };
        let (height, width) = (self.height.min(down), self.width);
        let ([rows, cols], [row_step, col_step]) = (self.needed, self.apart);
        let (mut zeros, none) = ([F::ZERO; L], [F::ZERO; L]);
        let tiles = width.div_ceil(across);
        for (t, lane) in (0..tiles).flat_map(|t| (0..LANES).step_by(L).map(move |l| (t, l))) {
            let mut columns = [[[F::ZERO; L]; COLS]; OUT];
            for j in 0..COLS {
                let mut m = [[F::ZERO; L]; ROWS];
                for i in 0..ROWS {
                    let product = match ALL {
                        true => i * COLS + j,
                        false => {
                            i.saturating_sub(rows.start) * cols.len() + j.saturating_sub(cols.start)
                        }
                    };
                    let at = product * self.step + t * self.line + lane;
                    let from = self.products.wrapping_add(at) as *const [F; L];
                    // no branch: what it loads would go through memory
                    let there = ALL || rows.contains(&i) && cols.contains(&j);
                    let from = if there { from } else { &raw const none };
                    // SAFETY: RESULTS1: lanes of a tile; or zeros.
                    m[i] = unsafe { *from };
                }
                let y = results_of::<I, F, L, ROWS>(&m);
                for i in 0..down {
                    columns[i][j] = y[i];
                }
            }
            let count = across.min(width - across * t);
            for i in 0..height {
                let y = results_of::<I, F, L, COLS>(&columns[i]);
                let first = i * row_step + across * t * col_step;
                let mut store = |q: usize| {
                    let at = (first + q * col_step) * LANES + lane;
                    self.d[at..at + L].copy_from_slice(&y[q]);
                };
                if ALL_TILES && count == across {
                    (0..across).for_each(&mut store);
                } else {
                    (0..count).for_each(&mut store);
                }
                // zero only if all results are finite
                for l in 0..L {
                    let sum = (y[0][l] + y[1][l]) + (y[2][l] + y[3][l]);
                    zeros[l] = F::mul_add::<I>(sum, F::ZERO, zeros[l]);
                }
            }
        }
        zeros.iter().all(|x| *x == F::ZERO)
    }
}
