//! Strided convolutions whose kernels read each element several times: images are sorted by phases
//! of the stride before the product.

use super::call::ConvCall;
use super::plan::Sorted;
use super::run::{ConvOperands, Epilogues};
use crate::dtype::Element;
use crate::error::Result;
use crate::exec::products::products_of_sources;
use crate::kernel::conv::{PhasePatches, Phases};
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
        let (seen, groups) = (call.seen(), call.groups);
        let (phases, together) = (&sorted.phases, sorted.images);
        let numbers = phases.numbers();
        let mut sorted = Scratch::<T::Acc>::new(sorted.numbers())?;
        let weight = Matrices::<T>::new(&self.weight).get(0);
        for first in (0..call.batch).step_by(together) {
            let images = together.min(call.batch - first);
            sort::<T>(call, &self.x, first..first + images, phases, &mut sorted);
            let sorted = &sorted;
            let operands = |i: usize| {
                let (n, group) = (i / groups, i % groups);
                let rows = group * call.made()..(group + 1) * call.made();
                let a = weight.block(rows, 0..weight.cols());
                let numbers = &sorted[n * numbers..(n + 1) * numbers];
                let patches = PhasePatches::new(phases, group * seen..(group + 1) * seen, numbers);
                // SAFETY: each matrix of a fresh tensor is one group of one image.
                let c = unsafe { y.get(first * groups + i) };
                (
                    Strided::rows(a),
                    patches,
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
pub(super) fn sort<T: Element + MatElement>(
    call: &ConvCall,
    x: &Tensor,
    images: Range<usize>,
    phases: &Phases,
    d: &mut [T::Acc],
) {
    let numbers = phases.numbers();
    let each = numbers / call.channels.max(1);
    let cost = Cost {
        bytes: 2 * each * size_of::<T::Acc>(),
        flops: 0,
    };
    let out = Out::new(d);
    par::chunks(images.len() * call.channels, cost, |task| {
        let (n, channel) = (task / call.channels, task % call.channels);
        let place = phases.channels(channel..channel + 1);
        let place = n * numbers + place.start..n * numbers + place.end;
        // SAFETY: OUT1: each task has its own channel of an image.
        let d = unsafe { out.part(place) };
        phases.sort(call.whole_of::<T>(x, images.start + n), channel, d);
    });
}
