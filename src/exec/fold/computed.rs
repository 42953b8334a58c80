//! Reductions of what a program computes: each tile is computed in L1 or L2 right before it is
//! reduced, so no whole operand is stored or copied.

use super::ends::ColumnAccumulators;
use super::erased::Erased;
use super::plan::{FoldPlan, Strategy};
use crate::exec::nest::{Dim, Dims, Nest};
use crate::exec::program::TileProgram;
use crate::exec::tile::{CachePolicy, Machine, TileState};

/// The loops of a tile in the order in which its elements are stored: as consecutive runs, or rows.
pub(super) fn tile_of(plan: &FoldPlan, program: &TileProgram) -> Nest {
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
    if plan.strategy.is_by_rows() {
        core::mem::swap(&mut row, &mut column);
    }
    // the program has no operand for the elements that are reduced
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

/// A program prepared for the tiles of a plan.
pub(super) struct Tiles<'a> {
    machine: Machine<'a>,
    program: &'a TileProgram,
    /// The loops of a whole tile.
    row: Dim,
    column: Dim,
}

impl<'a> Tiles<'a> {
    /// Prepares the program for tiles that [`tile_of`] made, of operands that come from memory if
    /// `prefetched`.
    pub fn new(program: &'a TileProgram, tile: &'a Nest, prefetched: bool) -> Tiles<'a> {
        let policy = CachePolicy {
            prefetched,
            reduced: true,
            ..CachePolicy::default()
        };
        Tiles {
            machine: Machine::new(program, tile, policy),
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
    /// Bytes of a tile of an output with elements of `size` bytes.
    fn bytes(&self, size: usize) -> usize {
        (size * self.row.n * self.column.n).next_multiple_of(64)
    }
    /// Bytes of scratch memory: a tile of each output, and the machine's buffers.
    pub fn scratch(&self) -> usize {
        let outputs: usize = self.sizes().map(|size| self.bytes(size)).sum();
        outputs + self.machine.scratch().next_multiple_of(64)
    }

    /// Computes a tile of `rows` along the plan's inner dimension by `cols` beside it, with
    /// operands at `ptrs`, and reduces it into the accumulators of `strip` at `acc`, by the kernels
    /// and in the order that a tile in memory would take.
    ///
    /// # Safety
    /// FOLD1 for the tile and the accumulators; `scratch` has as many bytes as
    /// [`scratch`](Tiles::scratch) says.
    pub unsafe fn reduce(
        &self,
        strategy: Strategy,
        folds: &[&dyn Erased],
        ptrs: &[*mut u8],
        [rows, cols]: [usize; 2],
        scratch: *mut u8,
        (strip, acc): (ColumnAccumulators, *mut u8),
    ) {
        let [x, y] = if strategy.is_by_rows() {
            [cols, rows]
        } else {
            [rows, cols]
        };
        // SAFETY: FOLD1; the scratch memory has room for a tile of each output and the machine's
        // buffers.
        unsafe { self.compute(ptrs, [x, y], scratch) };
        let mut tile = scratch as *const u8;
        for (size, (fold, acc)) in self.sizes().zip(strip.each(folds, acc)) {
            // SAFETY: the tile was computed above; accumulators are those of its columns.
            unsafe {
                match strategy {
                    Strategy::Rows | Strategy::PackedRows => fold.rows(tile, x, y, x, acc),
                    Strategy::Runs | Strategy::PackedRuns => fold.runs(tile, x, y, acc),
                    Strategy::Flat => fold.runs(tile, x * y, 1, acc),
                }
            }
            tile = tile.wrapping_add(self.bytes(size));
        }
    }

    /// Computes a tile of `y` rows of `x` columns, stored contiguously in each output.
    ///
    /// # Safety
    /// As [`reduce`](Tiles::reduce).
    unsafe fn compute(&self, ptrs: &[*mut u8], [x, y]: [usize; 2], scratch: *mut u8) {
        let inputs = self.program.inputs;
        let base = scratch.wrapping_add(self.sizes().map(|size| self.bytes(size)).sum());
        // SAFETY: by the caller, the scratch memory has room for the machine's buffers.
        let mut state: TileState = unsafe { self.machine.state(base) };
        // narrower tiles run row by row, since the machine's rows are as far apart as those of a
        // whole one
        let (rows, height) = if x == self.row.n { (1, y) } else { (y, 1) };
        for r in 0..rows {
            state.ptrs[..inputs].copy_from_slice(&ptrs[1..][..inputs]);
            self.column.advance(&mut state.ptrs[..inputs], r);
            let mut output = scratch;
            for (to, size) in state.ptrs[inputs..].iter_mut().zip(self.sizes()) {
                *to = output.wrapping_add(r * x * size);
                output = output.wrapping_add(self.bytes(size));
            }
            // SAFETY: NEST1 for these rows, by the caller; outputs overlap nothing else.
            unsafe { self.machine.block(&mut state, x, height) }
        }
    }
}
