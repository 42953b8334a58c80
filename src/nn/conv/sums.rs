//! The sums of the weight gradient of a convolution: over the positions of all images.

use super::call::ConvCall;
use crate::dtype::Element;
use crate::error::Result;
use crate::exec::failure::try_split;
use crate::exec::products::products_of_sources;
use crate::fallible;
use crate::kernel::conv::{PatchRows, Patches, Stacked, channel_gradient};
use crate::kernel::gemm::{Epilogue, Mat, MatElement, Packed, cost};
use crate::ops;
use crate::ops::linalg::{Matrices, ResultMatrices};
use crate::par::Cost;
use crate::tensor::Tensor;
use alloc::vec::Vec;
use core::ops::Range;

/// The fewest positions that a part sums up: enough that adding the parts up costs little in
/// comparison.
const PART: usize = 1 << 13;
/// The most parts.
const PARTS: usize = 32;

/// The operands of the sums: the images are split, by their sizes alone, into parts whose sums are
/// added at the end.
pub(super) struct WeightSums {
    call: ConvCall,
    /// `[batch, outputs, positions]`
    result: Tensor,
}
impl WeightSums {
    /// For a gradient of the result, `[batch, outputs, positions]`.
    pub fn new(call: ConvCall, result: Tensor) -> WeightSums {
        WeightSums { call, result }
    }
    /// The gradient of the result.
    pub fn result(&self) -> &Tensor {
        &self.result
    }
    /// The sizes.
    pub fn call(&self) -> &ConvCall {
        &self.call
    }
    /// Images of a part, and the number of parts.
    pub fn parts(&self) -> (usize, usize) {
        let batch = self.call.batch.max(1);
        let positions = self.call.geometry.len().max(1);
        let images = PART
            .div_ceil(positions)
            .max(batch.div_ceil(PARTS))
            .min(batch);
        (images, batch.div_ceil(images))
    }
    /// The images of part `i`.
    pub fn part(&self, i: usize) -> Range<usize> {
        let (images, _) = self.parts();
        (i * images).min(self.call.batch)..((i + 1) * images).min(self.call.batch)
    }
    /// Computes single channels of `images` by rows, `[outputs, kernel_len]`: for groups of one
    /// channel.
    pub fn channels<F>(&self, images: &Tensor) -> Result<Tensor>
    where
        F: Element + MatElement<Acc = F> + Packed,
    {
        let (call, g) = (&self.call, self.call.geometry);
        let (each, parts) = self.parts();
        let (kernel_len, size) = (g.kernel_len(), g.len());
        let mut sums = Tensor::empty((parts, call.out_channels, kernel_len), F::DTYPE)?;
        let result = self.result.contiguous()?;
        let result = result.as_slice::<F>()?;
        let count = each.saturating_mul(size);
        let cost = Cost {
            bytes: count.saturating_mul(2 * size_of::<F>()),
            flops: count.saturating_mul(kernel_len).saturating_add(cost::CALL),
        };
        let d = sums.as_mut_slice::<F>()?;
        try_split(d, kernel_len, 1, cost, |rows, d| {
            rows.zip(d.chunks_exact_mut(kernel_len))
                .try_for_each(|(row, d)| {
                    let (part, o) = (row / call.out_channels, row % call.out_channels);
                    let planes = self.part(part).map(|n| {
                        let plane = (n * call.out_channels + o) * size;
                        let image =
                            call.image_of::<F>(images, n, o / call.out_channels_per_group());
                        (image, &result[plane..plane + size])
                    });
                    channel_gradient(planes, &g, d)
                })
        })?;
        ops::sum(&sums, 0)
    }
    /// Computes products with the patches whose rows are those of some images and a group. `[outputs,
    /// taps]`
    pub fn products<F, R>(&self, rows: impl Fn(Range<usize>, usize) -> R + Sync) -> Result<Tensor>
    where
        F: Element + MatElement<Acc = F> + Packed,
        R: PatchRows<Packed = F>,
    {
        let (call, positions) = (&self.call, self.call.geometry.len());
        let (_, parts) = self.parts();
        let lines = call.in_channels_per_group() * call.geometry.kernel_len();
        let mut sums = Tensor::empty(
            (parts, call.groups, lines, call.out_channels_per_group()),
            F::DTYPE,
        )?;
        let count = call.batch.saturating_mul(call.groups);
        let mut results: Vec<Mat<F>> = fallible::with_capacity(count)?;
        let of_batch = Matrices::<F>::new(&self.result);
        results.extend((0..count).map(|i| {
            let (group, n) = (i / call.batch, i % call.batch);
            let rows =
                group * call.out_channels_per_group()..(group + 1) * call.out_channels_per_group();
            of_batch.get(n).block(rows, 0..positions).t()
        }));
        let d = ResultMatrices::<F>::new(&mut sums, lines, call.out_channels_per_group())?;
        // SAFETY: the matrices of a fresh tensor don't overlap.
        unsafe {
            products_of_sources(parts * call.groups, |i| {
                let (part, group) = (self.part(i / call.groups), i % call.groups);
                let of = group * call.batch + part.start..group * call.batch + part.end;
                let right = Stacked::new(&results[of], positions, call.out_channels_per_group());
                let left = Patches::left(rows(part, group));
                (left, right, d.get(i), Epilogue::NONE)
            })?
        };
        let sums = ops::sum(&sums, 0)?.transpose(1, 2)?.contiguous()?;
        sums.reshape((call.out_channels, lines))
    }
}
