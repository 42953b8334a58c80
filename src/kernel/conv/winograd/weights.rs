//! The transform of a kernel.

use super::ALL_TILES;
use super::filtering::{TAPS, taps_of, weights_of};
use crate::kernel::conv::planes::LANES;
use crate::kernel::math::Real;
use crate::simd::{Isa, Kernel};
use core::ops::Range;

/// `G g G^T` of a channel, for as many outputs as lanes, in float64 and rounded once.
pub struct TransformWeights<'a, F, const ROWS: usize, const COLS: usize> {
    pub taps: &'a [[&'a [F; LANES]; TAPS]; TAPS],
    /// The rows and columns of products that are written, one after the other.
    pub needed: [Range<usize>; 2],
    /// Contract WEIGHTS1: the lanes of each product that is needed, `step` elements apart, are
    /// writable by this call alone.
    pub d: *mut F,
    pub step: usize,
}
impl<F: Real, const ROWS: usize, const COLS: usize> Kernel for TransformWeights<'_, F, ROWS, COLS> {
    type Out = ();
    #[inline(always)]
    #[expect(
        clippy::needless_range_loop,
        reason = "indices that are constants after unrolling keep lanes in registers"
    )]
    fn run<I: Isa>(self) {
        /// Lanes transformed together: all intermediate results stay in registers, which matters
        /// here, since loads of what was just stored wait for the stores before it, to memory.
        const TOGETHER: usize = if ALL_TILES { 8 } else { 4 };
        let (down, across) = (const { taps_of(ROWS) }, const { taps_of(COLS) });
        let [rows, cols] = self.needed;
        for first in (0..LANES).step_by(TOGETHER) {
            let mut columns = [[[0.0; TOGETHER]; TAPS]; ROWS];
            for x in 0..across {
                let mut g = [[0.0; TOGETHER]; TAPS];
                for y in 0..down {
                    let mut tap = [F::ZERO; TOGETHER];
                    tap.copy_from_slice(&self.taps[y][x][first..first + TOGETHER]);
                    for l in 0..TOGETHER {
                        g[y][l] = tap[l].to_f64();
                    }
                }
                let t = weights_of::<F, TOGETHER, ROWS>(&g);
                for i in 0..ROWS {
                    columns[i][x] = t[i];
                }
            }
            let mut d = self.d.wrapping_add(first);
            for i in 0..ROWS {
                let row = weights_of::<F, TOGETHER, COLS>(&columns[i]);
                for j in 0..COLS {
                    let mut product = [F::ZERO; TOGETHER];
                    for l in 0..TOGETHER {
                        product[l] = F::from_f64(row[j][l]);
                    }
                    if !ALL_TILES || rows.contains(&i) && cols.contains(&j) {
                        // SAFETY: WEIGHTS1.
                        unsafe { *(d as *mut [F; TOGETHER]) = product };
                        d = d.wrapping_add(self.step);
                    }
                }
            }
        }
    }
}
