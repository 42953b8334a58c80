//! The gradient of a convolution's result as the right operand of the product that is the gradient of
//! its weight. Its sums run over the positions of many images, so they are long however small the
//! images are.
//!
//! `d weight[taps, channels] = patches[taps, positions of all images] x d result[those, channels]`.
//! With taps as lines, patches are runs of an image's rows.

use super::lines::{LineRange, panels};
use crate::kernel::gemm::{BlockA, Mat, MatElement, Source, Strided};
use core::ops::Range;

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
