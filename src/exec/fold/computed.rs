//! Tiles of what a program computes: blocks of elements go through it in L1, so no copy of the
//! operands is made.

use super::ends::{End, Strip};
use super::plan::{How, Plan};
use crate::exec::nest::{Dim, Dims, Nest};
use crate::exec::program::Program;
use crate::exec::tile::{Machine, State, TILE};

/// Columns of a block of rows: their accumulators stay in L1 beside it.
const COLUMNS: usize = 64;
/// Bytes of a block of all outputs.
const BLOCK: usize = if cfg!(feature = "std") {
    16 << 10
} else {
    8 * TILE
};

/// The loops of a block: of so many columns, which lie one after the other in the outputs, and rows.
pub(super) fn block_of(plan: &Plan, program: &Program) -> Nest {
    let outputs = &program.sizes[program.inputs..];
    let room = BLOCK / outputs.iter().map(|size| *size as usize).sum::<usize>();
    let (mut row, mut column, most) = match plan.how {
        How::Rows | How::PackedRows => (plan.side, plan.run, COLUMNS),
        _ => (plan.run, plan.side, room),
    };
    row.n = row.n.min(most).max(1);
    column.n = column.n.min(room / row.n).max(1);
    for (k, size) in outputs.iter().enumerate() {
        row.steps[program.inputs + k] = *size as isize;
        column.steps[program.inputs + k] = *size as isize * row.n as isize;
    }
    Nest::of_loops(
        &program.sizes,
        program.inputs,
        Dims::from_slice(&[row, column]),
    )
}

/// A program made ready for the blocks of a plan.
pub(super) struct Blocks<'a> {
    machine: Machine<'a>,
    program: &'a Program,
    /// The loops of a whole block.
    row: Dim,
    column: Dim,
}

impl<'a> Blocks<'a> {
    /// For blocks of [`block_of`].
    pub fn new(program: &'a Program, block: &'a Nest) -> Blocks<'a> {
        Blocks {
            machine: Machine::new(program, block, false),
            program,
            row: block.dims[0],
            column: block.dims[1],
        }
    }
    /// Bytes of an element of each output.
    fn sizes(&self) -> impl Iterator<Item = usize> {
        let sizes = &self.program.sizes[self.program.inputs..];
        sizes.iter().map(|size| *size as usize)
    }
    /// Bytes of a block of an output.
    fn bytes(&self, size: usize) -> usize {
        (size * self.row.n * self.column.n).next_multiple_of(64)
    }
    /// The accumulators of a block.
    fn part(&self) -> Strip {
        Strip {
            columns: self.row.n,
        }
    }
    /// Bytes of scratch memory: a block of each output, its accumulators, the machine's own.
    pub fn scratch(&self, ends: &[End]) -> usize {
        let outputs: usize = self.sizes().map(|size| self.bytes(size)).sum();
        outputs + self.part().size(ends) + self.machine.scratch().next_multiple_of(64)
    }

    /// Reduces a tile of `rows` along the plan's inner dimension by `cols` beside it, which begins
    /// at `ptrs`, into the accumulators of `strip` at `acc`.
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
        let by_rows = matches!(how, How::Rows | How::PackedRows);
        let [n0, n1] = if by_rows { [cols, rows] } else { [rows, cols] };
        let parts = scratch.wrapping_add(self.sizes().map(|size| self.bytes(size)).sum());
        let base = parts.wrapping_add(self.part().size(ends));
        // SAFETY: the caller's: the scratch memory has room for the machine's.
        let mut state = unsafe { self.machine.state(base) };
        for j in (0..n1).step_by(self.column.n) {
            for i in (0..n0).step_by(self.row.n) {
                let (x, y) = (self.row.n.min(n0 - i), self.column.n.min(n1 - j));
                // SAFETY: FOLD1: the block lies in the tile; each output has room for one.
                unsafe { self.compute(&mut state, ptrs, [i, j], [x, y], scratch) };
                let mut block = scratch as *const u8;
                let accs = strip.each(ends, acc).zip(self.part().each(ends, parts));
                for (size, ((fold, acc), (_, part))) in self.sizes().zip(accs) {
                    let at = |k: usize| acc.wrapping_add(k * fold.sizes().acc);
                    // What is known of a block is joined with what is known of those before it.
                    // SAFETY: the block was computed above; accumulators are those of its columns,
                    // and `part` has room for as many.
                    unsafe {
                        match how {
                            How::Rows | How::PackedRows => {
                                let to = if j == 0 { at(i) } else { part };
                                fold.rows(block, self.row.n, y, x, to);
                                if j > 0 {
                                    fold.join(at(i), part, x);
                                }
                            }
                            // rows that fill the block lie one after the other
                            How::Runs | How::PackedRuns if i == 0 && x == self.row.n => {
                                fold.runs(block, x, y, at(j));
                            }
                            How::Runs | How::PackedRuns => {
                                for r in 0..y {
                                    let to = if i == 0 { at(j + r) } else { part };
                                    fold.runs(block.add(r * self.row.n * size), x, 1, to);
                                    if i > 0 {
                                        fold.join(at(j + r), part, 1);
                                    }
                                }
                            }
                            // several rows are whole ones
                            How::Flat => {
                                let first = i == 0 && j == 0;
                                fold.runs(block, x * y, 1, if first { acc } else { part });
                                if !first {
                                    fold.join(acc, part, 1);
                                }
                            }
                        }
                    }
                    block = block.wrapping_add(self.bytes(size));
                }
            }
        }
    }

    /// Computes a block of `x` columns and `y` rows of a tile, from column `i` and row `j` on.
    ///
    /// # Safety
    /// FOLD1 for the block; `outputs` has room for one of each output.
    unsafe fn compute(
        &self,
        state: &mut State,
        ptrs: &[*mut u8],
        [i, j]: [usize; 2],
        [x, y]: [usize; 2],
        outputs: *mut u8,
    ) {
        let inputs = self.program.inputs;
        // a narrower block row by row, for its rows begin as far apart as those of a whole one
        let (rows, height) = if x == self.row.n { (1, y) } else { (y, 1) };
        for r in 0..rows {
            state.ptrs[..inputs].copy_from_slice(&ptrs[..inputs]);
            self.row.advance(&mut state.ptrs[..inputs], i);
            let mut output = outputs;
            for (to, size) in state.ptrs[inputs..].iter_mut().zip(self.sizes()) {
                *to = output;
                output = output.wrapping_add(self.bytes(size));
            }
            self.column.advance(&mut state.ptrs[..inputs], j);
            self.column.advance(&mut state.ptrs, r);
            // SAFETY: the caller's: NEST1 for these rows; outputs are apart from all else.
            unsafe { self.machine.block(state, x, height) }
        }
    }
}
