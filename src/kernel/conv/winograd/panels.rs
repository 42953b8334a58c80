//! The transform of weights.

use super::lanes::{IN, PRODUCTS, weights_of};
use crate::kernel::conv::planes::{ChannelLanes, LANES};
use crate::kernel::gemm::{KBlocks, Mat, MatElement, Packed, Panels, padded_width};
use crate::kernel::math::Real;
use crate::simd::{self, Isa, Kernel};
use core::ops::Range;

/// Positions of the kernel in a plane.
const TAPS: usize = 9;
/// Kernels whose taps are read at a time: whole blocks of a transpose.
const KERNELS: usize = 16;

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
    /// Numbers from the panels of one product and position to the next: apart by cache lines that
    /// are no power of two, since all products are written at the same time, and lines at such
    /// distances share a set of a cache and a bank of memory.
    fn each<F: Packed>(&self) -> usize {
        const APART: usize = 5 * 64;
        let panels = Panels::<F>::len(self.blocks, self.outputs);
        panels.saturating_add(APART / size_of::<F>())
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
    #[inline(always)]
    fn run<I: Isa>(self) {
        let to = &self.to;
        let padded = padded_width::<T::Acc>(to.outputs);
        let each = to.each::<T::Acc>();
        let kernels = self.channels.start * to.depth..self.channels.end * to.depth;
        let mut taps = [[T::Acc::default(); LANES]; KERNELS * TAPS];
        let mut apart = [[T::Acc::default(); LANES]; PRODUCTS];
        for first in kernels.clone().step_by(KERNELS) {
            for o in self.outputs.clone().step_by(LANES) {
                let some = first..kernels.end.min(first + KERNELS);
                let len = LANES.min(self.outputs.end - o);
                let outputs = ChannelLanes::new(self.weight, o..o + len, 1);
                let taps = &mut taps[..some.len() * TAPS];
                outputs.read::<I>(some.start * TAPS..some.end * TAPS, taps);
                if len < LANES {
                    // past the last output are zeros, as in panels
                    (taps.iter_mut()).for_each(|tap| tap[len..].fill(T::Acc::default()));
                }
                for (kernel, taps) in some.zip(taps.as_chunks::<TAPS>().0) {
                    let (c, z) = (kernel / to.depth, kernel % to.depth);
                    let lanes = LANES.min(padded - o);
                    let place = |l: usize| Panels::<T::Acc>::place(to.blocks, to.outputs, c, o + l);
                    let (at, last) = (place(0), place(lanes - 1));
                    let d = self.d.wrapping_add(z * each);
                    if lanes == LANES && last == at + LANES - 1 {
                        // SAFETY: TRANSFORM1: numbers of channel `c` and these outputs, and zeros
                        // past the last one.
                        unsafe { products(taps, d.add(at), to.depth * each) };
                        continue;
                    }
                    // SAFETY: all lanes of as many products.
                    unsafe { products(taps, apart.as_flattened_mut().as_mut_ptr(), LANES) };
                    for (product, row) in apart.iter().enumerate() {
                        for (l, x) in row[..lanes].iter().enumerate() {
                            // SAFETY: TRANSFORM1, as above.
                            unsafe { *d.add(product * to.depth * each + place(l)) = *x };
                        }
                    }
                }
            }
        }
    }
}

/// Writes the transform of a kernel, its products `step` numbers apart.
///
/// # Safety
/// [`LANES`] numbers of each product are writable.
#[inline(always)]
#[expect(
    clippy::needless_range_loop,
    reason = "indices that are constants after unrolling keep lanes in registers"
)]
unsafe fn products<F: Real>(taps: &[[F; LANES]; TAPS], d: *mut F, step: usize) {
    /// Lanes transformed together: all intermediate results stay in registers, which matters here,
    /// since loads of what was just stored wait for the stores before it, to memory.
    const TOGETHER: usize = 8;
    for first in (0..LANES).step_by(TOGETHER) {
        let mut g = [[0.0; TOGETHER]; TAPS];
        for q in 0..TAPS {
            for l in 0..TOGETHER {
                g[q][l] = taps[q][first + l].to_f64();
            }
        }
        let mut columns = [[[0.0; TOGETHER]; IN]; 3];
        for j in 0..3 {
            columns[j] = weights_of::<F, _>(&[g[j], g[3 + j], g[6 + j]]);
        }
        for i in 0..IN {
            let row = weights_of::<F, _>(&[columns[0][i], columns[1][i], columns[2][i]]);
            for j in 0..IN {
                let to = d.wrapping_add((i * IN + j) * step + first);
                // SAFETY: by the caller: some of the product's numbers.
                let to = unsafe { &mut *(to as *mut [F; TOGETHER]) };
                for l in 0..TOGETHER {
                    to[l] = F::from_f64(row[j][l]);
                }
            }
        }
    }
}
