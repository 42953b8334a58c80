//! The sums of the weight gradient of a convolution: over the places of all images.

use super::call::ConvCall;
use crate::dtype::Element;
use crate::error::Result;
use crate::exec::failure::Failure;
use crate::exec::products::products_of_sources;
use crate::fallible;
use crate::kernel::conv::{Stacked, channel_gradient};
use crate::kernel::gemm::{Epilogue, Mat, MatElement, Packed, Source, cost};
use crate::ops;
use crate::ops::linalg::{Matrices, ResultMatrices};
use crate::par::{self, Cost};
use crate::tensor::Tensor;
use alloc::vec::Vec;
use core::ops::Range;

/// The fewest places that a part sums up: enough that adding the parts up costs little in
/// comparison.
const PART: usize = 1 << 13;
/// The most parts.
const PARTS: usize = 32;

/// The operands of the sums: the images are split, by their sizes alone, into parts whose sums are
/// added at the end.
pub(super) struct WeightSums {
    call: ConvCall,
    /// `[batch, outputs, places]`
    result: Tensor,
}
impl WeightSums {
    /// For a gradient of the result, `[batch, outputs, places]`.
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
        let places = self.call.geometry.len().max(1);
        let images = PART.div_ceil(places).max(batch.div_ceil(PARTS)).min(batch);
        (images, batch.div_ceil(images))
    }
    /// The images of part `i`.
    pub fn part(&self, i: usize) -> Range<usize> {
        let (images, _) = self.parts();
        (i * images).min(self.call.batch)..((i + 1) * images).min(self.call.batch)
    }
    /// Computes single channels of `images` by rows, `[outputs, positions]`: for groups of one
    /// channel.
    pub fn channels<F>(&self, images: &Tensor) -> Result<Tensor>
    where
        F: Element + MatElement<Acc = F> + Packed,
    {
        let (call, g) = (&self.call, self.call.geometry);
        let (each, parts) = self.parts();
        let (positions, size) = (g.positions(), g.len());
        let mut sums = Tensor::empty((parts, call.outputs, positions), F::DTYPE)?;
        let result = self.result.contiguous()?;
        let result = result.as_slice::<F>()?;
        let count = each.saturating_mul(size);
        let cost = Cost {
            bytes: count.saturating_mul(2 * size_of::<F>()),
            flops: count.saturating_mul(positions).saturating_add(cost::CALL),
        };
        let failure = Failure::default();
        let d = sums.as_mut_slice::<F>()?;
        par::split(d, positions, 1, cost, |rows, d| {
            for (row, d) in rows.zip(d.chunks_exact_mut(positions)) {
                let (part, o) = (row / call.outputs, row % call.outputs);
                let planes = self.part(part).map(|n| {
                    let plane = (n * call.outputs + o) * size;
                    let image = call.image_of::<F>(images, n, o / call.made());
                    (image, &result[plane..plane + size])
                });
                failure.note(channel_gradient(planes, &g, d));
            }
        });
        failure.result()?;
        ops::sum(&sums, 0)
    }
    /// Computes products with the source that `taps` returns for some images and a group: a line
    /// per tap, a step per place. `[outputs, taps]`
    pub fn products<F, A>(&self, taps: impl Fn(Range<usize>, usize) -> A + Sync) -> Result<Tensor>
    where
        F: Element + MatElement<Acc = F> + Packed,
        A: Source<Packed = F>,
    {
        let (call, places) = (&self.call, self.call.geometry.len());
        let (_, parts) = self.parts();
        let lines = call.seen() * call.geometry.positions();
        let mut sums = Tensor::empty((parts, call.groups, lines, call.made()), F::DTYPE)?;
        let count = call.batch.saturating_mul(call.groups);
        let mut results: Vec<Mat<F>> = fallible::with_capacity(count)?;
        let of_batch = Matrices::<F>::new(&self.result);
        results.extend((0..count).map(|i| {
            let (group, n) = (i / call.batch, i % call.batch);
            let rows = group * call.made()..(group + 1) * call.made();
            of_batch.get(n).block(rows, 0..places).t()
        }));
        let d = ResultMatrices::<F>::new(&mut sums, lines, call.made())?;
        // SAFETY: the matrices of a fresh tensor don't overlap.
        unsafe {
            products_of_sources(parts * call.groups, |i| {
                let (part, group) = (self.part(i / call.groups), i % call.groups);
                let of = group * call.batch + part.start..group * call.batch + part.end;
                let right = Stacked::new(&results[of], places, call.made());
                (taps(part, group), right, d.get(i), Epilogue::NONE)
            })?
        };
        let sums = ops::sum(&sums, 0)?.transpose(1, 2)?.contiguous()?;
        sums.reshape((call.outputs, lines))
    }
}
