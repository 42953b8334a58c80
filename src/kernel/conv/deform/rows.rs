//! What taps read for positions of deformed patches.

use super::{DeformFloat, Deformed};
use crate::kernel::conv::patches::PatchRows;
use crate::simd::{self, Isa, Kernel};
use core::ops::Range;

/// [`Deformed::write`] on the chosen instruction set.
struct Write<'a, 'b, T> {
    from: &'a Deformed<'b, T>,
    taps: Range<usize>,
    positions: Range<usize>,
    d: &'a mut [T],
    stride: usize,
}
impl<T: DeformFloat> Kernel for Write<'_, '_, T> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        (self.from).write::<I>(self.taps, self.positions, self.d, self.stride)
    }
}

/// Images at displaced positions.
#[derive(Clone, Copy)]
pub struct DeformedRows<'a, T> {
    images: &'a [Deformed<'a, T>],
    /// Taps and positions of each image.
    taps: usize,
    positions: usize,
}
impl<'a, T: DeformFloat> DeformedRows<'a, T> {
    /// All patches of images of `taps` taps and `positions` positions. Panics if an image has
    /// others, or lacks offsets.
    pub fn new(images: &'a [Deformed<'a, T>], taps: usize, positions: usize) -> Self {
        for image in images {
            image.check();
            assert!(image.taps() == taps && image.geometry.len() == positions);
        }
        DeformedRows {
            images,
            taps,
            positions,
        }
    }
}
impl<T: DeformFloat> PatchRows for DeformedRows<'_, T> {
    type Packed = T;
    fn taps(&self) -> usize {
        self.taps
    }
    fn positions(&self) -> usize {
        self.images.len() * self.positions
    }
    fn write(&self, taps: Range<usize>, positions: Range<usize>, width: usize, d: &mut [T]) {
        if positions.len() < width {
            d.fill(T::ZERO);
        }
        let mut step = positions.start;
        while step < positions.end {
            let (image, position) = (step / self.positions, step % self.positions);
            let len = (self.positions - position).min(positions.end - step);
            simd::call(Write {
                from: &self.images[image],
                taps: taps.clone(),
                positions: position..position + len,
                d: &mut d[step - positions.start..],
                stride: width,
            });
            step += len;
        }
    }
}
