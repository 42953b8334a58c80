//! The transform of the products of a row of tiles back to results.

use super::lanes::{IN, OUT, results_of};
use crate::kernel::conv::planes::LANES;
use crate::kernel::gemm::Packed;
use crate::kernel::math::Real;
use crate::simd::{Isa, Kernel};

/// `A^T m A` of a row of tiles, for as many channels as lanes: `d[row][column][lane]`. Returns
/// false if a result is not finite.
pub struct TransformResults<'a, F> {
    /// Contract RESULTS1: the lanes of each product are at `product * step + tile * line`, for as
    /// many tiles as cover `width`.
    pub products: *const F,
    pub step: usize,
    pub line: usize,
    /// Places of a column, and of a row: the last tiles may be partial.
    pub height: usize,
    pub width: usize,
    pub d: &'a mut [F],
}
impl<F: Real + Packed> Kernel for TransformResults<'_, F> {
    type Out = bool;
    #[inline(always)]
    fn run<I: Isa>(self) -> bool {
        by_lanes!(self.by, I, F)
    }
}
impl<F: Real + Packed> TransformResults<'_, F> {
    /// `L` lanes at a time, which fit in registers.
    #[inline(always)]
    fn by<I: Isa, const L: usize>(self) -> bool {
        let (height, width) = (self.height.min(OUT), self.width);
        let d = &mut self.d[..height * width * LANES];
        let mut zeros = [F::ZERO; L];
        let tiles = width.div_ceil(OUT);
        for (t, lane) in (0..tiles).flat_map(|t| (0..LANES).step_by(L).map(move |l| (t, l))) {
            let mut down = [[[F::ZERO; L]; IN]; OUT];
            for j in 0..IN {
                let mut m = [[F::ZERO; L]; IN];
                for (i, m) in m.iter_mut().enumerate() {
                    let at = (i * IN + j) * self.step + t * self.line + lane;
                    // SAFETY: RESULTS1: lanes of a tile.
                    *m = unsafe { *(self.products.wrapping_add(at) as *const [F; L]) };
                }
                let y = results_of::<I, F, L>(&m);
                for (down, y) in down.iter_mut().zip(y) {
                    down[j] = y;
                }
            }
            for (i, down) in down[..height].iter().enumerate() {
                let y = results_of::<I, F, L>(down);
                for (q, y) in y.iter().enumerate().take(width - OUT * t) {
                    let at = (i * width + OUT * t + q) * LANES + lane;
                    d[at..at + L].copy_from_slice(y);
                    // zero only if all results are finite
                    for (n, y) in zeros.iter_mut().zip(y) {
                        *n = F::mul_add::<I>(*y, F::ZERO, *n);
                    }
                }
            }
        }
        zeros.iter().all(|x| *x == F::ZERO)
    }
}
