//! Patches of images as an operand of the matrix engine (implicit GEMM): a matrix of taps and
//! positions that is never stored as a whole. A tap is a channel and a position in the kernel; a
//! position is one of the result's. What taps read for positions is copied from where images lie
//! ([`ImageRows`](super::ImageRows)), from images sorted by phases of the stride
//! ([`SortedImage`](super::SortedImage)), or computed ([`DeformedRows`](super::DeformedRows)).

use super::lines::{LineRange, panels};
use crate::kernel::gemm::{BlockA, Packed, Source};
use core::ops::Range;

/// What taps read for positions of some images, one after the other.
pub trait PatchRows: Sync {
    /// The packed type.
    type Packed: Packed;
    /// The cost of packing an element, if it differs from that of a matrix.
    const COST: Option<usize> = None;
    /// The number of taps.
    fn taps(&self) -> usize;
    /// The number of positions of all images.
    fn positions(&self) -> usize;
    /// Writes `d[tap][position]`, rows `width` apart, with zeros between the positions and `width`.
    fn write(
        &self,
        taps: Range<usize>,
        positions: Range<usize>,
        width: usize,
        d: &mut [Self::Packed],
    );
}

/// Patches as an operand of a product: as the right one a line per position and a step per tap, as
/// the left one the other way round.
#[derive(Clone, Copy)]
pub struct Patches<R> {
    rows: R,
    lines: LineRange,
    lines_are_taps: bool,
}
impl<R: PatchRows> Patches<R> {
    /// The right operand: a line per position, a step per tap.
    pub fn right(rows: R) -> Self {
        Patches {
            lines: LineRange::all(rows.positions()),
            rows,
            lines_are_taps: false,
        }
    }
    /// The left operand: a line per tap, a step per position.
    pub fn left(rows: R) -> Self {
        Patches {
            lines: LineRange::all(rows.taps()),
            rows,
            lines_are_taps: true,
        }
    }
}

// SAFETY: SOURCE1: nothing is read in place, and blocks lie in `d`.
unsafe impl<R: PatchRows> Source for Patches<R> {
    type Packed = R::Packed;
    fn pack_cost(&self) -> Option<usize> {
        R::COST
    }
    fn lines(&self) -> usize {
        self.lines.count()
    }
    fn steps(&self) -> usize {
        match self.lines_are_taps {
            true => self.rows.positions(),
            false => self.rows.taps(),
        }
    }
    fn slice(self, lines: Range<usize>) -> Self {
        Patches {
            lines: self.lines.slice(lines),
            ..self
        }
    }
    fn pack_panels(&self, steps: Range<usize>, lines: Range<usize>, d: &mut [R::Packed]) {
        for (lines, width, panel) in panels(lines, steps.len(), d) {
            let lines = self.lines.range(lines);
            if !self.lines_are_taps {
                self.rows.write(steps.clone(), lines, width, panel);
                continue;
            }
            // seldom: taps are lines of the left operand
            for (step, d) in steps.clone().zip(panel.chunks_exact_mut(width)) {
                let (d, rest) = d.split_at_mut(lines.len());
                self.rows.write(lines.clone(), step..step + 1, 1, d);
                rest.fill(R::Packed::default());
            }
        }
    }
    fn pack_block(
        &self,
        steps: Range<usize>,
        lines: Range<usize>,
        d: &mut [R::Packed],
    ) -> BlockA<R::Packed> {
        let (depth, lines) = (steps.len(), self.lines.range(lines));
        if self.lines_are_taps {
            self.rows.write(lines, steps, depth, d);
        } else {
            // seldom: positions are lines of the right operand
            for (line, d) in lines.zip(d.chunks_exact_mut(depth.max(1))) {
                self.rows.write(steps.clone(), line..line + 1, 1, d);
            }
        }
        BlockA {
            at: d.as_ptr(),
            strides: Some((depth as isize, 1)),
        }
    }
}
