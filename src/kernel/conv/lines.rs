//! Ranges of the lines of a source, and the panels that they are packed into.

use crate::kernel::gemm::{Packed, panel_width};
use core::ops::Range;

/// A range of the lines of a source.
#[derive(Clone, Copy)]
pub struct LineRange {
    first: usize,
    len: usize,
}
impl LineRange {
    /// All lines.
    pub fn all(len: usize) -> Self {
        LineRange { first: 0, len }
    }
    /// The number of lines.
    pub fn count(&self) -> usize {
        self.len
    }
    /// A part of this range. Panics if out of bounds.
    pub fn slice(&self, lines: Range<usize>) -> Self {
        assert!(lines.start <= lines.end && lines.end <= self.len);
        LineRange {
            first: self.first + lines.start,
            len: lines.len(),
        }
    }
    /// The number of a line of this range among all lines.
    #[inline(always)]
    pub fn number(&self, line: usize) -> usize {
        self.first + line
    }
    /// The same for several lines.
    pub fn range(&self, lines: Range<usize>) -> Range<usize> {
        self.first + lines.start..self.first + lines.end
    }
}

/// The panels that `steps` steps of some lines are packed into: for each its lines, its width,
/// which may be larger, and its elements.
pub fn panels<F: Packed>(
    lines: Range<usize>,
    steps: usize,
    mut d: &mut [F],
) -> impl Iterator<Item = (Range<usize>, usize, &mut [F])> {
    let mut first = lines.start;
    core::iter::from_fn(move || {
        let left = lines.end.checked_sub(first).filter(|n| *n > 0)?;
        let width = panel_width::<F>(left);
        let (panel, rest) = core::mem::take(&mut d).split_at_mut(width * steps);
        d = rest;
        let own = first..lines.end.min(first + width);
        first = own.end;
        Some((own, width, panel))
    })
}
