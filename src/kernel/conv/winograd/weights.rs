//! The transform of weights.

use super::lanes::{IN, PRODUCTS, weights_of};
use crate::kernel::conv::planes::LANES;
use crate::kernel::gemm::{KBlocks, Mat, MatElement, Packed, Panels, padded_width};
use crate::kernel::math::Real;
use crate::simd::{self, Isa, Kernel};
use core::ops::Range;

/// Positions of the kernel in a plane.
const TAPS: usize = 9;

/// The layout of the transformed weights of a group: for each product and position along the depth,
/// panels of the matrix engine, `[channels, outputs]`.
#[derive(Clone, Copy)]
pub struct WeightPanels {
    channels: usize,
    outputs: usize,
    depth: usize,
    blocks: KBlocks,
}
impl WeightPanels {
    /// The layout for weights of `[outputs, channels, depth, 3, 3]`.
    pub fn new<F: Packed>([outputs, channels, depth]: [usize; 3]) -> Self {
        WeightPanels {
            channels,
            outputs,
            depth,
            blocks: F::BLOCKING.of_sum(channels),
        }
    }
    /// Numbers of the panels of one product and position.
    fn each<F: Packed>(&self) -> usize {
        Panels::<F>::len(self.blocks, self.outputs)
    }
    /// Numbers of all panels.
    pub fn numbers<F: Packed>(&self) -> usize {
        (PRODUCTS * self.depth).saturating_mul(self.each::<F>())
    }
    /// The panels of a product and a position.
    pub fn get<'a, F: Packed>(&self, all: &'a [F], product: usize, z: usize) -> Panels<'a, F> {
        let len = self.each::<F>();
        let panels = &all[(product * self.depth + z) * len..][..len];
        Panels::of(self.blocks, self.outputs, panels)
    }
    /// Transforms the weights of a range of channels and a range of outputs that begins at a
    /// multiple of [`LANES`]: `G g G^T`, computed in float64 and rounded once. `weight` is
    /// `[outputs, channels * taps]`.
    ///
    /// # Safety
    /// Contract TRANSFORM1: `d` has all [`numbers`](WeightPanels::numbers), and nobody else uses
    /// those of these channels and outputs meanwhile.
    pub unsafe fn transform<T: MatElement<Acc: Real>>(
        &self,
        weight: Mat<T>,
        channels: Range<usize>,
        outputs: Range<usize>,
        d: *mut T::Acc,
    ) {
        assert!(weight.rows() == self.outputs && outputs.start.is_multiple_of(LANES));
        assert!(weight.cols() == self.channels * self.depth * TAPS);
        assert!(channels.end <= self.channels && outputs.end <= self.outputs);
        simd::call(TransformWeights {
            to: *self,
            weight,
            channels,
            outputs,
            d,
        })
    }
}

struct TransformWeights<'a, T: MatElement> {
    to: WeightPanels,
    weight: Mat<'a, T>,
    channels: Range<usize>,
    outputs: Range<usize>,
    d: *mut T::Acc,
}
impl<T: MatElement<Acc: Real>> Kernel for TransformWeights<'_, T> {
    type Out = ();
    #[expect(
        clippy::needless_range_loop,
        reason = "indices that are constants after unrolling keep lanes in registers"
    )]
    #[inline(always)]
    fn run<I: Isa>(self) {
        let to = &self.to;
        let padded = padded_width::<T::Acc>(to.outputs);
        let each = to.each::<T::Acc>();
        for o in self.outputs.clone().step_by(LANES) {
            let len = LANES.min(self.outputs.end - o);
            for (c, z) in (self.channels.clone()).flat_map(|c| (0..to.depth).map(move |z| (c, z))) {
                let mut g = [[0.0; LANES]; TAPS];
                for l in 0..len {
                    for (q, g) in g.iter_mut().enumerate() {
                        // SAFETY: MAT1: output `o + l`, and a tap of channel `c`.
                        g[l] = unsafe { self.weight.get(o + l, (c * to.depth + z) * TAPS + q) }
                            .widen()
                            .to_f64();
                    }
                }
                // past the last output are zeros, as in panels
                let lanes = LANES.min(padded - o);
                let place = |l: usize| Panels::<T::Acc>::place(to.blocks, to.outputs, c, o + l);
                let at: [usize; LANES] = core::array::from_fn(|l| place(l.min(lanes - 1)));
                let side_by_side = lanes == LANES && at[LANES - 1] == at[0] + LANES - 1;
                let columns = [0, 1, 2].map(|j| weights_of(&[g[j], g[3 + j], g[6 + j]]));
                for i in 0..IN {
                    let row = weights_of(&[columns[0][i], columns[1][i], columns[2][i]]);
                    for (j, row) in row.iter().enumerate() {
                        let d = (self.d).wrapping_add(((i * IN + j) * to.depth + z) * each);
                        let row = row.map(T::Acc::from_f64);
                        // SAFETY: TRANSFORM1: numbers of channel `c` and these outputs, and zeros
                        // past the last one.
                        unsafe {
                            if side_by_side {
                                *(d.add(at[0]) as *mut [T::Acc; LANES]) = row;
                                continue;
                            }
                            for (at, x) in at[..lanes].iter().zip(row) {
                                *d.add(*at) = x;
                            }
                        }
                    }
                }
            }
        }
    }
}
