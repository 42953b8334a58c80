//! The transformed weights of a group, as panels.

use super::kernels::{PhaseKernels, Window};
use super::weights::TransformWeights;
use super::{ALL_TILES, PRODUCTS, TAPS_READ};
use crate::kernel::conv::planes::{ChannelLanes, LANES, ReadPlanes};
use crate::kernel::gemm::{KBlocks, Mat, MatElement, Packed, Panels, padded_width};
use crate::kernel::math::Real;
use crate::simd;
use core::ops::Range;

/// The layout of the transformed weights of a group: for each product and position along the depth,
/// panels of the matrix engine, `[channels, outputs]`.
#[derive(Clone, Copy)]
pub struct WeightPanels {
    channels: usize,
    outputs: usize,
    kernels: PhaseKernels,
    blocks: KBlocks,
}
impl WeightPanels {
    /// The layout for weights of `outputs` and `channels`.
    pub fn new<F: Packed>(kernels: PhaseKernels, [channels, outputs]: [usize; 2]) -> Self {
        WeightPanels {
            channels,
            outputs,
            kernels,
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
    /// Elements of all panels.
    pub fn packed_len<F: Packed>(&self) -> usize {
        let products = self.kernels.products().saturating_mul(self.kernels.depth);
        products.saturating_mul(self.each::<F>())
    }
    /// The panels of a product and a position.
    pub fn get<'a, F: Packed>(&self, all: &'a [F], product: usize, z: usize) -> Panels<'a, F> {
        let len = self.each::<F>();
        let panels = &all[(product * self.kernels.depth + z) * len..][..len];
        Panels::of(self.blocks, self.outputs, panels)
    }
    /// Transforms the weights of a range of channels and a range of outputs that begins at a
    /// multiple of [`LANES`]: `G g G^T`, computed in float64 and rounded once. `weight` is
    /// `[outputs, channels * taps]`. Positions along the depth for which a phase has no tap are
    /// left as they are.
    ///
    /// # Safety
    /// Contract TRANSFORM1: `d` has all [`packed_len`](WeightPanels::packed_len), and nobody else
    /// uses those of these channels and outputs meanwhile.
    pub unsafe fn transform<T: MatElement<Acc: Real>>(
        &self,
        weight: Mat<T>,
        channels: Range<usize>,
        outputs: Range<usize>,
        d: *mut T::Acc,
    ) {
        let taps = self.kernels.weight.iter().product::<usize>();
        assert!(weight.rows() == self.outputs && outputs.start.is_multiple_of(LANES));
        assert!(weight.cols() == self.channels * taps && taps <= TAPS_READ);
        assert!(channels.end <= self.channels && outputs.end <= self.outputs);
        let windows = self.kernels.windows();
        let mut read = [[T::Acc::default(); LANES]; TAPS_READ];
        let mut apart = [[T::Acc::default(); LANES]; PRODUCTS];
        for some in chunks(channels, TAPS_READ / taps) {
            for outputs in chunks(outputs.clone(), LANES) {
                let read = &mut read[..some.len() * taps];
                simd::call(ReadPlanes {
                    lanes: ChannelLanes::new(weight, outputs.clone(), 1),
                    pixels: some.start * taps..some.end * taps,
                    d: &mut *read,
                });
                if outputs.len() < LANES {
                    // past the last output are zeros, as in panels
                    (read.iter_mut()).for_each(|tap| tap[outputs.len()..].fill(T::Acc::default()));
                }
                for (c, taps) in some.clone().zip(read.chunks_exact(taps)) {
                    // SAFETY: TRANSFORM1.
                    unsafe {
                        self.transform_kernels(taps, &windows, (c, outputs.start), &mut apart, d)
                    };
                }
            }
        }
    }
    /// Transforms the kernels of channel `c` and the outputs from `o` on, of which `taps` are
    /// those of the weight; `apart` is scratch.
    ///
    /// # Safety
    /// TRANSFORM1.
    unsafe fn transform_kernels<F: Real + Packed>(
        &self,
        taps: &[[F; LANES]],
        windows: &[Window],
        (c, o): (usize, usize),
        apart: &mut [[F; LANES]; PRODUCTS],
        d: *mut F,
    ) {
        let (kernels, each) = (&self.kernels, self.each::<F>());
        let lanes = LANES.min(padded_width::<F>(self.outputs) - o);
        let position = |l: usize| Panels::<F>::offset(self.blocks, self.outputs, c, o + l);
        let adjacent = lanes == LANES && position(LANES - 1) == position(0) + LANES - 1;
        let (none, step) = ([F::ZERO; LANES], kernels.depth * each);
        for window in windows {
            let needed = window.needed.clone();
            let products = needed[0].len() * needed[1].len();
            let taps = window
                .taps
                .map(|row| row.map(|tap| tap.map_or(&none, |tap| &taps[tap])));
            let d = d.wrapping_add((window.first * kernels.depth + window.z) * each);
            // WEIGHTS1 by TRANSFORM1, for elements of channel `c` and these outputs, and zeros past
            // the last one; or an array of as many products
            let (to, step_to) = match adjacent {
                true => (d.wrapping_add(position(0)), step),
                false => (apart.as_flattened_mut().as_mut_ptr(), LANES),
            };
            by_tile!(
                kernels.tile,
                TransformWeights {
                    taps: &taps,
                    needed,
                    d: to,
                    step: step_to,
                }
            );
            if adjacent {
                continue;
            }
            for (product, row) in apart[..products].iter().enumerate() {
                for (l, x) in row[..lanes].iter().enumerate() {
                    // SAFETY: TRANSFORM1, as above.
                    unsafe { *d.add(product * step + position(l)) = *x };
                }
            }
        }
    }
}

/// Parts of a range of at most this length.
fn chunks(range: Range<usize>, len: usize) -> impl Iterator<Item = Range<usize>> {
    (range.clone())
        .step_by(len.max(1))
        .map(move |start| start..range.end.min(start + len))
}
