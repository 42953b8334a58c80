//! The operands of the product that is the gradient of a convolution's weight. Its sums run over
//! the positions of many images, so they are long however small the images are.
//!
//! `d weight[taps, channels] = patches[taps, positions of all images] x d result[those, channels]`.
//! With taps as lines, patches are runs of an image's rows.

use super::geometry::{Geometry, Image, Three};
use super::lines::{LineRange, pack_by_blocks, panels};
use super::patches::ChannelTap;
use super::rows::{self, StridedColumns};
use crate::kernel::gemm::{BlockA, Mat, MatElement, Source, Strided};
use crate::simd::{self, Isa, Kernel};
use core::ops::Range;

/// Patches of images as the left operand of a product: a line per tap, a step per position of each
/// image in turn.
#[derive(Clone, Copy)]
pub struct TapLines<'a, T> {
    images: &'a [Image<'a, T>],
    geometry: Geometry,
    /// The taps.
    lines: LineRange,
}

impl<'a, T: MatElement> TapLines<'a, T> {
    /// All patches of images with `channels` channels each.
    pub fn new(images: &'a [Image<'a, T>], channels: usize, geometry: Geometry) -> Self {
        assert!(images.iter().all(|image| image.channels() == channels));
        TapLines {
            images,
            geometry,
            lines: LineRange::all(channels * geometry.kernel_len()),
        }
    }
    /// The image and the position of a step.
    fn position(&self, step: usize) -> (usize, Three) {
        let n = self.geometry.output_size;
        let (image, position) = (step / self.geometry.len(), step % self.geometry.len());
        (
            image,
            [
                position / (n[1] * n[2]),
                position / n[2] % n[1],
                position % n[2],
            ],
        )
    }
    /// Writes what a tap reads in the steps from `first` on.
    #[inline(always)]
    fn line<I: Isa>(&self, tap: ChannelTap, first: usize, mut d: &mut [T::Acc]) {
        let g = &self.geometry;
        if d.is_empty() {
            return;
        }
        let (mut i, mut position) = self.position(first);
        loop {
            let image = &self.images[i];
            let at = |axis| g.element(axis, position[axis], tap.at[axis]);
            let len = (g.output_size[2] - position[2]).min(d.len());
            let (run, rest) = d.split_at_mut(len);
            match image.row_inside(tap.channel, at(0), at(1)) {
                // SAFETY: IMAGE1: a row of the image.
                Some(from) => unsafe {
                    let (first, stride) = (at(2), g.stride[2]);
                    let positions = StridedColumns { first, stride, len };
                    rows::load::<I, T>(from, image.stride(2), image.sizes()[2], positions, run)
                },
                None => rows::clear(run),
            }
            d = rest;
            if d.is_empty() {
                return;
            }
            position[2] = 0;
            position[1] += 1;
            if position[1] == g.output_size[1] {
                position[1] = 0;
                position[0] += 1;
            }
            if position[0] == g.output_size[0] {
                position[0] = 0;
                i += 1;
            }
        }
    }
}

/// Packs a range of steps, one line after the other.
struct PackTaps<'a, 'b, T: MatElement> {
    taps: &'a TapLines<'b, T>,
    steps: Range<usize>,
    lines: Range<usize>,
    d: &'a mut [T::Acc],
}
impl<T: MatElement> Kernel for PackTaps<'_, '_, T> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        let (taps, kernel) = (self.taps, self.taps.geometry.kernel);
        let mut tap = ChannelTap::new(taps.lines.number(self.lines.start), kernel);
        let lines = self.d.chunks_exact_mut(self.steps.len().max(1));
        for d in lines.take(self.lines.len()) {
            taps.line::<I>(tap, self.steps.start, d);
            tap.next(kernel);
        }
    }
}

// SAFETY: SOURCE1: nothing is read in place, and blocks lie in `d`.
unsafe impl<T: MatElement> Source for TapLines<'_, T> {
    type Packed = T::Acc;
    fn lines(&self) -> usize {
        self.lines.count()
    }
    fn steps(&self) -> usize {
        self.images.len() * self.geometry.len()
    }
    fn slice(self, lines: Range<usize>) -> Self {
        TapLines {
            lines: self.lines.slice(lines),
            ..self
        }
    }
    fn pack_panels(&self, steps: Range<usize>, lines: Range<usize>, d: &mut [T::Acc]) {
        pack_by_blocks(self, steps, lines, d)
    }
    fn pack_block(
        &self,
        steps: Range<usize>,
        lines: Range<usize>,
        d: &mut [T::Acc],
    ) -> BlockA<T::Acc> {
        let strides = Some((steps.len() as isize, 1));
        simd::call(PackTaps {
            taps: self,
            steps,
            lines,
            d: &mut *d,
        });
        BlockA {
            at: d.as_ptr(),
            strides,
        }
    }
}

/// Matrices of one shape stacked on each other, as the right operand of a product: a line per
/// column, a step per row of each matrix in turn.
#[derive(Clone, Copy)]
pub struct Stacked<'a, T> {
    matrices: &'a [Mat<'a, T>],
    /// Rows of each matrix.
    rows: usize,
    /// The columns.
    lines: LineRange,
}

impl<'a, T: MatElement> Stacked<'a, T> {
    /// Matrices of `rows x cols`.
    pub fn new(matrices: &'a [Mat<'a, T>], rows: usize, cols: usize) -> Self {
        assert!(
            matrices
                .iter()
                .all(|m| m.rows() == rows && m.cols() == cols)
        );
        Stacked {
            matrices,
            rows,
            lines: LineRange::all(cols),
        }
    }
    /// The parts of a range of steps: a matrix, and rows of it.
    fn parts(&self, steps: Range<usize>) -> impl Iterator<Item = (Mat<'a, T>, Range<usize>)> {
        let (rows, matrices) = (self.rows, self.matrices);
        let first = steps.start / rows.max(1);
        (first..steps.end.div_ceil(rows.max(1))).map(move |i| {
            let of = |step: usize| step.saturating_sub(i * rows).min(rows);
            (matrices[i], of(steps.start)..of(steps.end))
        })
    }
}

// SAFETY: SOURCE1: nothing is read in place, and blocks lie in `d`.
unsafe impl<T: MatElement> Source for Stacked<'_, T> {
    type Packed = T::Acc;
    fn lines(&self) -> usize {
        self.lines.count()
    }
    fn steps(&self) -> usize {
        self.matrices.len() * self.rows
    }
    fn slice(self, lines: Range<usize>) -> Self {
        Stacked {
            lines: self.lines.slice(lines),
            ..self
        }
    }
    fn pack_panels(&self, steps: Range<usize>, lines: Range<usize>, d: &mut [T::Acc]) {
        for (lines, width, mut panel) in panels(lines, steps.len(), d) {
            for (matrix, rows) in self.parts(steps.clone()) {
                let (part, rest) = panel.split_at_mut(width * rows.len());
                panel = rest;
                let cols = self.lines.range(lines.clone());
                let part_of = Strided::columns(matrix.block(rows.clone(), cols));
                part_of.pack_panels(0..rows.len(), 0..part_of.lines(), part);
            }
        }
    }
    fn pack_block(
        &self,
        steps: Range<usize>,
        lines: Range<usize>,
        d: &mut [T::Acc],
    ) -> BlockA<T::Acc> {
        let depth = steps.len();
        for (line, d) in lines.zip(d.chunks_exact_mut(depth.max(1))) {
            let column = self.lines.number(line);
            let rows = self.parts(steps.clone());
            let all = rows.flat_map(|(matrix, rows)| rows.map(move |row| (matrix, row)));
            for ((matrix, row), d) in all.zip(d) {
                // SAFETY: MAT1: a row and a column of the matrix, by `parts` and `slice`.
                *d = unsafe { matrix.get(row, column) }.widen();
            }
        }
        BlockA {
            at: d.as_ptr(),
            strides: Some((depth as isize, 1)),
        }
    }
}
