//! How lines are walked: in blocks of neighbours, which are packed together, transposed or as
//! columns.

use super::{Line, LineOperand, Lines, Role};
use crate::error::{Error, Result};
use crate::exec::failure::try_ranges;
use crate::exec::nest::{LoopOperand, MAX_OPERANDS, Nest, seek};
use crate::exec::pack::{columns, is_column, pack, unpack};
use crate::exec::rect::Rect;
use crate::layout::sort_by_key;
use crate::par::{self, Cost};
use crate::simd::lanes::COLUMNS;
use crate::storage::Bytes;
use core::cell::Cell;
use core::marker::PhantomData;
use core::ops::Range;
use smallvec::SmallVec;

/// Target size of a block's packed lines in bytes, so that they stay in L2.
const BLOCK: usize = if cfg!(feature = "std") {
    128 << 10
} else {
    4 << 10
};
/// Packed lines may take up to this many bytes to make a block as wide as a cache line.
const WIDE: usize = 64 * BLOCK;
/// Lines of a block if nothing is packed.
const LINES: usize = 64;
const CACHE_LINE: usize = 64;
/// Bytes of the lines presented together if nothing is packed, so that a function that takes
/// several passes over them finds them in L1.
const TOGETHER: usize = BLOCK / 8;

/// Target size of a block of columns, which stays in L2. In L1 it would have columns for a cache line
/// or two of each row, which are pages apart: softmax of 256 channels took twice as long.
const MATRICES: usize = if cfg!(feature = "std") {
    256 << 10
} else {
    24 << 10
};
/// The most columns of a block: longer runs don't come from memory any faster.
const RUN: usize = 64 * COLUMNS;

/// How the lines are walked: blocks of neighbours along the nest's first loop.
pub(super) struct LinePlan {
    /// The loops over the grid. Operand 0 is a counter: its address is the line's index. Then the
    /// inputs, then the outputs.
    nest: Nest,
    /// Inputs, outputs, scratch.
    args: SmallVec<[LineOperand; 4]>,
    inputs: usize,
    outputs: usize,
    /// Whether adjacent lines are presented together, and whether all are, as columns.
    together: bool,
    columns: bool,
    /// Lines of a block, and blocks along the first loop.
    block: usize,
    blocks: usize,
    /// Where each packed operand begins in the scratch memory, and the size of that memory.
    offsets: SmallVec<[usize; 4]>,
    memory: usize,
}

impl LinePlan {
    /// Errors if the size of a block's memory overflows.
    pub fn new(lines: Lines<'_>) -> Result<LinePlan> {
        let Lines {
            grid,
            mut args,
            together,
            columns: longest,
            ..
        } = lines;
        sort_by_key(&mut args, |a| match a.role {
            Role::Input => 0,
            Role::Output { .. } => 1,
            Role::Scratch => 2,
        });
        let count = |f: fn(&LineOperand) -> bool| args.iter().filter(|a| f(a)).count();
        let (inputs, outputs) = (
            count(|a| a.role == Role::Input),
            count(|a| matches!(a.role, Role::Output { .. })),
        );
        let mut counter = LoopOperand::value(core::ptr::null(), 1, grid.len());
        let mut step = 1;
        for k in (0..grid.len()).rev() {
            counter.strides[k] = step;
            step *= grid[k] as isize;
        }
        let memories = |r: Range<usize>| args[r].iter().map(|a| a.memory.clone());
        let read: SmallVec<[LoopOperand; 4]> = core::iter::once(counter)
            .chain(memories(0..inputs))
            .collect();
        let written: SmallVec<[LoopOperand; 4]> = memories(inputs..inputs + outputs).collect();
        let mut nest = Nest::new(&grid, &read, &written);

        let packed = || args.iter().enumerate().filter(|(_, a)| a.is_packed());
        // Lines are columns along a loop that runs along memory in every operand.
        let side_by_side = |d: &usize| {
            let dim = &nest.dims[*d];
            let mut memories = args[..inputs + outputs].iter().zip(&dim.steps[1..]);
            dim.n >= COLUMNS && memories.all(|(a, step)| *step == a.memory.size as isize)
        };
        let strided = packed().any(|(_, a)| a.role != Role::Scratch);
        let side = (0..nest.dims.len())
            .find(side_by_side)
            .filter(|_| strided)
            .filter(|_| {
                args.iter()
                    .all(|a| a.len <= longest && is_column(a.memory.size))
            });
        let columns = side.is_some();
        // The loop along which lines are packed together comes first: the one along which they are
        // columns, or else the one for which packing them fetches the fewest bytes per element.
        let fetched = |d: usize| -> usize {
            let of = |k: usize| match nest.dims[d].steps[k + 1].unsigned_abs() {
                0 => 0,
                step => step.max(CACHE_LINE / nest.dims[d].n.max(1)).min(CACHE_LINE),
            };
            packed()
                .filter(|(_, a)| a.role != Role::Scratch)
                .map(|(k, _)| of(k))
                .sum()
        };
        let first = side
            .or((0..nest.dims.len()).min_by_key(|d| fetched(*d)))
            .unwrap_or(0);
        nest.dims.swap(0, first);

        let n = nest.dims[0].n;
        let sum = |bytes: usize, a: &LineOperand| bytes.saturating_add(a.bytes());
        let bytes = packed().map(|(_, a)| a).fold(0, sum).max(1);
        let narrowest = packed()
            .map(|(_, a)| a.memory.size)
            .min()
            .unwrap_or(CACHE_LINE);
        let block = if columns {
            (MATRICES / bytes).min(RUN)
        } else if !strided {
            match together {
                true => LINES.min(TOGETHER / args.iter().fold(0, sum).max(1)),
                false => LINES,
            }
        } else {
            (BLOCK / bytes).max((CACHE_LINE / narrowest).min(WIDE / bytes))
        };
        // No line is cut, so block boundaries may depend on the number of threads: each gets some.
        let block = block.min(n).min(nest.total.div_ceil(par::threads())).max(1);
        let block = if columns {
            block.next_multiple_of(COLUMNS)
        } else {
            block
        };
        let mut memory = 0usize;
        let mut offsets = SmallVec::new();
        for a in &args {
            offsets.push(memory);
            if columns || a.is_packed() {
                let one = a.role == Role::Scratch && !together && !columns;
                let rows = if one { 1 } else { block };
                let bytes = rows
                    .checked_mul(a.bytes())
                    .and_then(|n| n.checked_next_multiple_of(CACHE_LINE));
                let end = bytes.and_then(|n| memory.checked_add(n));
                memory = end.ok_or(Error::Memory {
                    bytes: rows as u128 * a.len as u128 * a.memory.size as u128,
                    limit: 0,
                })?;
            }
        }
        Ok(LinePlan {
            nest,
            args,
            inputs,
            outputs,
            together,
            columns,
            block,
            blocks: n.div_ceil(block),
            offsets,
            memory,
        })
    }

    /// Whether lines are columns.
    pub fn columns(&self) -> bool {
        self.columns
    }

    /// Iterations of all loops but the first.
    fn outer(&self) -> usize {
        self.nest.dims[1..].iter().map(|d| d.n).product()
    }

    pub fn run_in_order(&self, f: &dyn Fn(&mut Line<'_>)) -> Result<()> {
        self.blocks_in(0..self.blocks * self.outer(), f)
    }

    pub fn run(&self, cost: Cost, f: &(dyn Fn(&mut Line<'_>) + Sync)) -> Result<()> {
        let blocks = self.blocks * self.outer();
        try_ranges(blocks, 1, cost.times(self.block), |r| self.blocks_in(r, f))
    }

    fn blocks_in(&self, r: Range<usize>, f: &dyn Fn(&mut Line<'_>)) -> Result<()> {
        let mut scratch = Bytes::new(self.memory)?;
        let base = scratch
            .get_mut()
            .unwrap_or(core::ptr::NonNull::<u64>::dangling().as_ptr() as *mut u8);
        // Where each packed operand was packed from: a line that all lines of a block share is
        // packed again only if the next block has another one.
        let mut held = [core::ptr::null_mut(); MAX_OPERANDS];
        for b in r {
            // SAFETY: `base` is memory of `self.memory` bytes that only this piece uses.
            unsafe { self.block(b, base, &mut held, f) };
        }
        Ok(())
    }

    /// # Safety
    /// `base` is writable for `self.memory` bytes and aligned for every dtype (unless that is 0
    /// bytes), and nothing else uses it.
    unsafe fn block(
        &self,
        b: usize,
        base: *mut u8,
        held: &mut [*mut u8; MAX_OPERANDS],
        f: &dyn Fn(&mut Line<'_>),
    ) {
        let nest = &self.nest;
        let (outer, first) = (b / self.blocks, b % self.blocks * self.block);
        let lines = self.block.min(nest.dims[0].n - first);
        let mut at = nest.ptrs;
        nest.dims[0].advance(&mut at, first);
        seek(&nest.dims[1..], outer, &mut at);
        let mut line = Line {
            ptrs: [base; MAX_OPERANDS],
            args: &self.args,
            inputs: self.inputs,
            outputs: self.outputs,
            index: 0,
            index_step: nest.dims[0].steps[0] as usize,
            room: 1,
            count: 1,
            columns: self.columns,
            taken: Cell::new(0),
            _buffers: PhantomData,
        };
        let mut steps = [0isize; MAX_OPERANDS];
        // Operand `k` of a line is operand `k + 1` of the nest, which has none for scratch.
        let rect = |k: usize, rows: usize| Rect {
            ptr: at[k + 1],
            rows,
            cols: self.args[k].len,
            row_step: nest.dims[0].steps[k + 1],
            col_step: self.args[k].step,
        };
        for (k, a) in self.args.iter().enumerate() {
            let same = nest.dims[0].steps.get(k + 1).is_some_and(|s| *s == 0);
            // SAFETY: the operand's part of the scratch memory.
            let buffer = || unsafe { base.add(self.offsets[k]) };
            match a.role {
                Role::Scratch => line.ptrs[k] = buffer(),
                role if self.columns => {
                    line.ptrs[k] = buffer();
                    if role != (Role::Output { read: false }) {
                        // SAFETY: PACK1: as below; the loop runs along memory in every operand,
                        // and the buffer has room for whole matrices.
                        unsafe { columns(line.ptrs[k], rect(k, lines), a.memory.size, false) };
                    }
                }
                _ if !a.is_packed() => {
                    (line.ptrs[k], steps[k]) = (at[k + 1], nest.dims[0].steps[k + 1])
                }
                role => {
                    (line.ptrs[k], steps[k]) =
                        (buffer(), if same { 0 } else { a.bytes() as isize });
                    if role != (Role::Output { read: false }) && !(same && held[k] == at[k + 1]) {
                        // SAFETY: PACK1: the nest addresses elements of the tensor; the buffer has
                        // room for a block of its lines.
                        unsafe {
                            pack(
                                line.ptrs[k],
                                rect(k, if same { 1 } else { lines }),
                                a.memory.size,
                            )
                        };
                        held[k] = at[k + 1];
                    }
                }
            }
        }
        let buffers = line.ptrs;
        if self.columns {
            (line.room, line.count) = (lines.next_multiple_of(COLUMNS), lines);
            line.index = at[0] as usize;
            f(&mut line);
            for (k, a) in self.args.iter().enumerate() {
                if matches!(a.role, Role::Output { .. }) {
                    // SAFETY: PACK2: as below, and as above.
                    unsafe { columns(buffers[k], rect(k, lines), a.memory.size, true) };
                }
            }
            return;
        }
        let adjacent = |(a, step): (&LineOperand, &isize)| {
            a.role == Role::Scratch || *step == a.bytes() as isize
        };
        if self.together && self.args.iter().zip(&steps).all(adjacent) {
            (line.room, line.count) = (lines, lines);
        }
        for j in (0..lines).step_by(line.count) {
            line.index = at[0] as usize + j * nest.dims[0].steps[0] as usize;
            line.taken.set(0);
            f(&mut line);
            for (p, s) in line.ptrs.iter_mut().zip(&steps) {
                *p = p.wrapping_offset(*s);
            }
        }
        for (k, a) in self.args.iter().enumerate() {
            if matches!(a.role, Role::Output { .. }) && a.is_packed() {
                // SAFETY: PACK2: as above, and no output repeats an element (asserted when it was
                // added).
                unsafe { unpack(buffers[k], rect(k, lines), a.memory.size) };
            }
        }
    }
}

// SAFETY: the pointers are to tensors that `Lines` borrows; blocks on several threads write
// disjoint lines, since no output repeats an element.
unsafe impl Sync for LinePlan {}
