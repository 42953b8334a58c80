//! Tiles of what a program computes: each goes through it in L1 or L2 right before it is reduced, so
//! no copy of the operands is made.

use super::ends::{End, Strip};
use super::plan::{How, Plan};
use crate::exec::nest::{Dim, Dims, Nest};
use crate::exec::program::Program;
use crate::exec::tile::{Machine, State};

/// The loops of a tile in the order in which its elements are stored: runs, or rows, one after the
/// other.
pub(super) fn tile_of(plan: &Plan, program: &Program) -> Nest {
    let (mut row, mut column) = (
        Dim {
            n: plan.length.max(1),
            ..plan.run
        },
        Dim {
            n: plan.width.max(1),
            ..plan.side
        },
    );
    if plan.how.is_by_rows() {
        core::mem::swap(&mut row, &mut column);
    }
    // the program has no operand for what is reduced
    let shift = |d: &mut Dim| d.steps.rotate_left(1);
    shift(&mut row);
    shift(&mut column);
    for (k, size) in program.sizes[program.inputs..].iter().enumerate() {
        row.steps[program.inputs + k] = *size as isize;
        column.steps[program.inputs + k] = *size as isize * row.n as isize;
    }
    Nest::of_loops(
        &program.sizes,
        program.inputs,
        Dims::from_slice(&[row, column]),
    )
}

/// A program made ready for the tiles of a plan.
pub(super) struct Tiles<'a> {
    machine: Machine<'a>,
    program: &'a Program,
    /// The loops of a whole tile.
    row: Dim,
    column: Dim,
}

impl<'a> Tiles<'a> {
    /// For tiles of [`tile_of`].
    pub fn new(program: &'a Program, tile: &'a Nest) -> Tiles<'a> {
        Tiles {
            machine: Machine::new(program, tile, false),
            program,
            row: tile.dims[0],
            column: tile.dims[1],
        }
    }
    /// Bytes of an element of each output.
    fn sizes(&self) -> impl Iterator<Item = usize> {
        let sizes = &self.program.sizes[self.program.inputs..];
        sizes.iter().map(|size| *size as usize)
    }
    /// Bytes of a tile of an output.
    fn bytes(&self, size: usize) -> usize {
        (size * self.row.n * self.column.n).next_multiple_of(64)
    }
    /// Bytes of scratch memory: a tile of each output, and the machine's own.
    pub fn scratch(&self) -> usize {
        let outputs: usize = self.sizes().map(|size| self.bytes(size)).sum();
        outputs + self.machine.scratch().next_multiple_of(64)
    }

    /// Reduces a tile of `rows` along the plan's inner dimension by `cols` beside it, whose operands
    /// begin at `ptrs`, into the accumulators of `strip` at `acc`: by the kernels and in the order
    /// that serve a tile which is read.
    ///
    /// # Safety
    /// FOLD1 for the tile, and for the accumulators; `scratch` has room for what it is asked for.
    pub unsafe fn reduce(
        &self,
        how: How,
        ends: &[End],
        ptrs: &[*mut u8],
        [rows, cols]: [usize; 2],
        scratch: *mut u8,
        (strip, acc): (Strip, *mut u8),
    ) {
        let [x, y] = if how.is_by_rows() {
            [cols, rows]
        } else {
            [rows, cols]
        };
        // SAFETY: FOLD1; the scratch memory has room for a tile of each output and the machine's.
        unsafe { self.compute(ptrs, [x, y], scratch) };
        let mut tile = scratch as *const u8;
        for (size, (fold, acc)) in self.sizes().zip(strip.each(ends, acc)) {
            // SAFETY: the tile was computed above; accumulators are those of its columns.
            unsafe {
                match how {
                    How::Rows | How::PackedRows => fold.rows(tile, x, y, x, acc),
                    How::Runs | How::PackedRuns => fold.runs(tile, x, y, acc),
                    How::Flat => fold.runs(tile, x * y, 1, acc),
                }
            }
            tile = tile.wrapping_add(self.bytes(size));
        }
    }

    /// Computes a tile of `x` columns and `y` rows, which lie one after the other in each output.
    ///
    /// # Safety
    /// As [`reduce`](Tiles::reduce).
    unsafe fn compute(&self, ptrs: &[*mut u8], [x, y]: [usize; 2], scratch: *mut u8) {
        let inputs = self.program.inputs;
        let base = scratch.wrapping_add(self.sizes().map(|size| self.bytes(size)).sum());
        // SAFETY: the caller's: the scratch memory has room for the machine's.
        let mut state: State = unsafe { self.machine.state(base) };
        // a narrower tile row by row, for the machine's rows are as far apart as those of a whole one
        let (rows, height) = if x == self.row.n { (1, y) } else { (y, 1) };
        for r in 0..rows {
            state.ptrs[..inputs].copy_from_slice(&ptrs[1..][..inputs]);
            self.column.advance(&mut state.ptrs[..inputs], r);
            let mut output = scratch;
            for (to, size) in state.ptrs[inputs..].iter_mut().zip(self.sizes()) {
                *to = output.wrapping_add(r * x * size);
                output = output.wrapping_add(self.bytes(size));
            }
            // SAFETY: the caller's: NEST1 for these rows; outputs are apart from all else.
            unsafe { self.machine.block(&mut state, x, height) }
        }
    }
}
