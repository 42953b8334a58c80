//! Deformed patches as operands of the matrix engine.

use super::{DeformFloat, Deformed};
use crate::kernel::conv::lines::{LineRange, pack_by_blocks, panels};
use crate::kernel::gemm::{BlockA, Source};
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

/// Deformed patches of an image as the right operand of a product: a line per position, a step per
/// tap.
#[derive(Clone, Copy)]
pub struct DeformedPatches<'a, T> {
    from: Deformed<'a, T>,
    /// The positions.
    lines: LineRange,
}
impl<'a, T: DeformFloat> DeformedPatches<'a, T> {
    /// All patches. Panics unless there are offsets for all taps and positions.
    pub fn new(from: Deformed<'a, T>) -> Self {
        from.check();
        let lines = LineRange::all(from.geometry.len());
        DeformedPatches { from, lines }
    }
}
// SAFETY: SOURCE1: nothing is read in place, and blocks lie in `d`.
unsafe impl<T: DeformFloat> Source for DeformedPatches<'_, T> {
    type Packed = T;
    fn lines(&self) -> usize {
        self.lines.count()
    }
    fn steps(&self) -> usize {
        self.from.taps()
    }
    fn slice(self, lines: Range<usize>) -> Self {
        DeformedPatches {
            lines: self.lines.slice(lines),
            ..self
        }
    }
    fn pack_panels(&self, steps: Range<usize>, lines: Range<usize>, d: &mut [T]) {
        for (lines, width, panel) in panels(lines, steps.len(), d) {
            if lines.len() < width {
                panel.fill(T::ZERO);
            }
            simd::call(Write {
                from: &self.from,
                taps: steps.clone(),
                positions: self.lines.range(lines),
                d: panel,
                stride: width,
            });
        }
    }
    fn pack_block(&self, steps: Range<usize>, lines: Range<usize>, d: &mut [T]) -> BlockA<T> {
        let depth = steps.len();
        for (line, d) in lines.zip(d.chunks_exact_mut(depth.max(1))) {
            let position = self.lines.number(line);
            simd::call(Write {
                from: &self.from,
                taps: steps.clone(),
                positions: position..position + 1,
                d,
                stride: 1,
            });
        }
        BlockA {
            at: d.as_ptr(),
            strides: Some((depth as isize, 1)),
        }
    }
}

/// Deformed patches of images as the left operand of a product: a line per tap, a step per position
/// of each image in turn.
#[derive(Clone, Copy)]
pub struct DeformedTaps<'a, T> {
    images: &'a [Deformed<'a, T>],
    /// Positions of each image.
    positions: usize,
    /// The taps.
    lines: LineRange,
}
impl<'a, T: DeformFloat> DeformedTaps<'a, T> {
    /// All patches of images of `taps` taps and `positions` positions. Panics if an image has
    /// others, or lacks offsets.
    pub fn new(images: &'a [Deformed<'a, T>], taps: usize, positions: usize) -> Self {
        for image in images {
            image.check();
            assert!(image.taps() == taps && image.geometry.len() == positions);
        }
        DeformedTaps {
            images,
            positions,
            lines: LineRange::all(taps),
        }
    }
}
// SAFETY: SOURCE1: nothing is read in place, and blocks lie in `d`.
unsafe impl<T: DeformFloat> Source for DeformedTaps<'_, T> {
    type Packed = T;
    fn lines(&self) -> usize {
        self.lines.count()
    }
    fn steps(&self) -> usize {
        self.images.len() * self.positions
    }
    fn slice(self, lines: Range<usize>) -> Self {
        DeformedTaps {
            lines: self.lines.slice(lines),
            ..self
        }
    }
    fn pack_panels(&self, steps: Range<usize>, lines: Range<usize>, d: &mut [T]) {
        pack_by_blocks(self, steps, lines, d)
    }
    fn pack_block(&self, steps: Range<usize>, lines: Range<usize>, d: &mut [T]) -> BlockA<T> {
        let (depth, positions) = (steps.len(), self.positions);
        let mut step = steps.start;
        while step < steps.end {
            let (image, position) = (step / positions, step % positions);
            let len = (positions - position).min(steps.end - step);
            simd::call(Write {
                from: &self.images[image],
                taps: self.lines.range(lines.clone()),
                positions: position..position + len,
                d: &mut d[step - steps.start..],
                stride: depth,
            });
            step += len;
        }
        BlockA {
            at: d.as_ptr(),
            strides: Some((depth as isize, 1)),
        }
    }
}
