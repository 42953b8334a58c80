//! Rows between constants.

use crate::simd::{Isa, Kernel, copy_run};
use smallvec::SmallVec;

/// An axis of a padded tensor.
#[derive(Clone, Copy, Debug)]
pub struct PaddedAxis {
    /// The size of the operand.
    pub inside: usize,
    /// The constants before its elements.
    pub before: usize,
    /// The size of the result, which has room for both.
    pub size: usize,
}

/// Rows of a padded tensor: a row of the operand between copies of a value, or, outside of the
/// operand, such copies alone.
pub struct PadRows<'a, U> {
    /// The operand's elements, contiguous.
    pub x: &'a [U],
    /// Whole rows of the result.
    pub y: &'a mut [U],
    /// The number of the first of them.
    pub first: usize,
    /// The axes of the rows, outermost first.
    pub outer: &'a [PaddedAxis],
    /// The axis along a row.
    pub row: PaddedAxis,
    /// What surrounds the operand.
    pub value: U,
}

impl<U: Copy + Send + Sync + 'static> Kernel for PadRows<'_, U> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        let PadRows {
            x,
            y,
            first,
            outer,
            row:
                PaddedAxis {
                    inside,
                    before,
                    size,
                },
            value,
        } = self;
        let mut at: SmallVec<[usize; 6]> = SmallVec::from_elem(0, outer.len());
        let mut rest = first;
        for (at, axis) in at.iter_mut().zip(outer).rev() {
            (*at, rest) = (rest % axis.size, rest / axis.size);
        }
        for y in y.chunks_exact_mut(size) {
            let row = row_at(&at, outer);
            for (at, axis) in at.iter_mut().zip(outer).rev() {
                *at += 1;
                if *at < axis.size {
                    break;
                }
                *at = 0;
            }
            let Some(row) = row else {
                y.fill(value);
                continue;
            };
            let x = &x[row * inside..][..inside];
            let (front, y) = y.split_at_mut(before);
            let (y, behind) = y.split_at_mut(inside);
            front.fill(value);
            // SAFETY: equally long slices.
            unsafe { copy_run(x.as_ptr(), y.as_mut_ptr(), inside) };
            behind.fill(value);
        }
    }
}

/// The row of the operand at these positions in the result; `None` outside of the operand.
#[inline(always)]
fn row_at(at: &[usize], outer: &[PaddedAxis]) -> Option<usize> {
    let mut row = 0;
    for (at, axis) in at.iter().zip(outer) {
        let at = at.wrapping_sub(axis.before);
        if at >= axis.inside {
            return None;
        }
        row = row * axis.inside + at;
    }
    Some(row)
}
