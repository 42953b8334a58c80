//! The transform of a row of tiles, for a group of channels.

use super::filtering::{elements_of, results_in};
use crate::kernel::conv::planes::LANES;
use crate::kernel::gemm::Packed;
use crate::kernel::math::Real;
use crate::simd::{Isa, Kernel};

/// `B^T d B` of a row of adjacent tiles, for as many channels as lanes.
pub struct TransformElements<'a, F, const ROWS: usize, const COLS: usize> {
    /// The window of the tiles, `[row][column][lane]`.
    pub window: &'a [F],
    /// Scratch for another.
    pub down: &'a mut [F],
    pub tiles: usize,
    /// Contract ELEMENTS1: the lanes of each element are at `element * step + tile * line`, for all
    /// tiles of the window, writable by this call alone.
    pub d: *mut F,
    pub step: usize,
    pub line: usize,
}
impl<F: Real + Packed, const ROWS: usize, const COLS: usize> Kernel
    for TransformElements<'_, F, ROWS, COLS>
{
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        by_lanes!(self.by, I, F)
    }
}
impl<F: Real + Packed, const ROWS: usize, const COLS: usize> TransformElements<'_, F, ROWS, COLS> {
    /// `L` lanes at a time, which fit in registers.
    #[inline(always)]
    fn by<I: Isa, const L: usize>(self) {
        let out = const { results_in(COLS) };
        let columns = out * self.tiles + COLS - out;
        let from = &self.window[..ROWS * columns * LANES];
        let at = |row: usize, column: usize, lane: usize| (row * columns + column) * LANES + lane;
        let mut down = from;
        if ROWS > 1 {
            let to = &mut self.down[..ROWS * columns * LANES];
            for (x, lane) in (0..columns).flat_map(|x| (0..LANES).step_by(L).map(move |l| (x, l))) {
                let mut d = [[F::ZERO; L]; ROWS];
                for (i, d) in d.iter_mut().enumerate() {
                    d.copy_from_slice(&from[at(i, x, lane)..][..L]);
                }
                for (i, t) in elements_of::<I, F, L, ROWS>(&d).iter().enumerate() {
                    to[at(i, x, lane)..][..L].copy_from_slice(t);
                }
            }
            down = to;
        }
        for (t, i) in (0..self.tiles).flat_map(|t| (0..ROWS).map(move |i| (t, i))) {
            for lane in (0..LANES).step_by(L) {
                let mut d = [[F::ZERO; L]; COLS];
                for (j, d) in d.iter_mut().enumerate() {
                    d.copy_from_slice(&down[at(i, out * t + j, lane)..][..L]);
                }
                for (j, x) in elements_of::<I, F, L, COLS>(&d).iter().enumerate() {
                    let at = (i * COLS + j) * self.step + t * self.line + lane;
                    // SAFETY: ELEMENTS1: lanes of a tile.
                    unsafe { *(self.d.wrapping_add(at) as *mut [F; L]) = *x };
                }
            }
        }
    }
}
