//! Strided convolutions whose kernels read each element several times: images are sorted by phases
//! of the stride before the product.

use super::call::ConvCall;
use super::plan::Sorted;
use super::run::{ConvOperands, Epilogues};
use crate::dtype::Element;
use crate::error::Result;
use crate::exec::products::products_of_sources;
use crate::kernel::conv::{Patches, Phases, SortedImage};
use crate::kernel::gemm::{MatElement, Scratch, Strided};
use crate::ops::linalg::{Matrices, ResultMatrices};
use crate::par::{self, Cost, Out};
use crate::tensor::Tensor;
use core::ops::Range;

impl ConvOperands {
    /// Computes products of sorted images, as many at a time as scratch has room for.
    pub(super) fn sorted<T: Element + MatElement>(
        &self,
        sorted: &Sorted,
        epilogues: &Epilogues<T>,
        y: &ResultMatrices<T>,
    ) -> Result<()> {
        let call = &self.call;
        let (in_channels, groups) = (call.in_channels_per_group(), call.groups);
        let (phases, together) = (&sorted.phases, sorted.images);
        let elements = phases.scratch_len();
        let mut sorted = Scratch::<T::Acc>::new(sorted.scratch_len())?;
        let weight = Matrices::<T>::new(&self.weight).get(0);
        for first in (0..call.batch).step_by(together) {
            let images = together.min(call.batch - first);
            sort::<T>(call, &self.x, first..first + images, phases, &mut sorted);
            let sorted = &sorted;
            let operands = |i: usize| {
                let (n, group) = (i / groups, i % groups);
                let rows = group * call.out_channels_per_group()
                    ..(group + 1) * call.out_channels_per_group();
                let a = weight.block(rows, 0..weight.cols());
                let elements = &sorted[n * elements..(n + 1) * elements];
                let patches = SortedImage::new(
                    phases,
                    group * in_channels..(group + 1) * in_channels,
                    elements,
                );
                // SAFETY: each matrix of a fresh tensor is one group of one image.
                let c = unsafe { y.get(first * groups + i) };
                (
                    Strided::rows(a),
                    Patches::right(patches),
                    c,
                    epilogues.get(first + n, group),
                )
            };
            // SAFETY: matrices of `y` don't overlap.
            unsafe { products_of_sources(images * groups, operands)? };
        }
        Ok(())
    }
}

/// Sorts some images of `x` into `d`, which has room for them.
fn sort<T: Element + MatElement>(
    call: &ConvCall,
    x: &Tensor,
    images: Range<usize>,
    phases: &Phases,
    d: &mut [T::Acc],
) {
    let elements = phases.scratch_len();
    let each = elements / call.in_channels.max(1);
    let cost = Cost {
        bytes: 2 * each * size_of::<T::Acc>(),
        flops: 0,
    };
    let out = Out::new(d);
    par::chunks(images.len() * call.in_channels, cost, |task| {
        let (n, channel) = (task / call.in_channels, task % call.in_channels);
        let position = phases.channels(channel..channel + 1);
        let position = n * elements + position.start..n * elements + position.end;
        // SAFETY: OUT1: each task has its own channel of an image.
        let d = unsafe { out.part(position) };
        phases.sort(call.whole_of::<T>(x, images.start + n), channel, d);
    });
}
