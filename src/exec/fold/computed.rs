//! Folds of what a program computes: blocks of elements go through it in L1, so no copy of the
//! operand is made.

use super::erased::Erased;
use super::{Accumulator, Sizes};
use crate::error::Result;
use crate::exec::nest::Nest;
use crate::exec::program::Program;
use crate::exec::tile::{Runner, TILE};
use core::mem::MaybeUninit;

/// Columns of a block of rows.
const COLUMNS: usize = 64;
/// Room for the accumulators of a block, and for the elements of one.
const PART: usize = 24 * COLUMNS;
const BLOCK: usize = 8 * TILE;

/// The elements of a block.
#[repr(align(64))]
struct Buffer([MaybeUninit<u8>; BLOCK]);

/// The accumulators of a block.
#[repr(align(64))]
struct Part([u8; PART]);

/// A fold of what a program computes of its one input.
pub(super) struct Computed<'a> {
    runner: Runner<'a>,
    fold: &'a dyn Erased,
    /// Of the fold but for the elements, which are the program's.
    sizes: Sizes,
    /// Bytes of an element that the fold takes.
    computed: usize,
    /// Elements of a block, columns of one.
    block: usize,
    columns: usize,
}

impl Computed<'_> {
    /// Calls `f` with the fold of what the program computes.
    pub fn with<R>(
        program: &Program,
        fold: &dyn Erased,
        f: impl FnOnce(&dyn Erased) -> Result<R>,
    ) -> Result<R> {
        let Sizes {
            element,
            flops,
            acc,
            ..
        } = fold.sizes();
        let [from, to] = program.sizes[..] else {
            panic!("a program of one input and one output")
        };
        assert!(program.inputs == 1 && to as usize == element && acc <= size_of::<Accumulator>());
        let block = TILE.min(BLOCK / element);
        let nest;
        let runner = match Runner::of_one(program) {
            Some(runner) => runner,
            None => {
                nest = Nest::of_runs(&program.sizes, 1, block);
                Runner::new(program, &nest)
            }
        };
        let block = runner.longest().unwrap_or(block);
        f(&Computed {
            sizes: Sizes {
                element: from as usize,
                flops: flops + program.flops(),
                ..fold.sizes()
            },
            computed: element,
            block,
            columns: COLUMNS.min(PART / acc).min(block),
            runner,
            fold,
        })
    }
}

impl Erased for Computed<'_> {
    fn sizes(&self) -> Sizes {
        self.sizes
    }
    unsafe fn run(&self, x: *const u8, n: usize, acc: *mut u8) {
        let mut buffer = Buffer([const { MaybeUninit::uninit() }; BLOCK]);
        let mut part = Accumulator([0; 64]);
        let (buffer, part) = (buffer.0.as_mut_ptr() as *mut u8, part.0.as_mut_ptr());
        // SAFETY: the trait's contract; the buffer has room for a block, `part` for an accumulator.
        unsafe {
            if n == 0 {
                self.fold.run(x, 0, acc)
            }
            for first in (0..n).step_by(self.block) {
                let len = self.block.min(n - first);
                self.runner
                    .run(x.add(first * self.sizes.element), buffer, len);
                if first == 0 {
                    self.fold.run(buffer, len, acc)
                } else {
                    self.fold.run(buffer, len, part);
                    self.fold.join(acc, part, 1)
                }
            }
        }
    }
    unsafe fn rows(&self, x: *const u8, stride: usize, rows: usize, cols: usize, acc: *mut u8) {
        let mut buffer = Buffer([const { MaybeUninit::uninit() }; BLOCK]);
        let mut part = Part([0; PART]);
        let (buffer, part) = (buffer.0.as_mut_ptr() as *mut u8, part.0.as_mut_ptr());
        for left in (0..cols).step_by(self.columns) {
            let width = self.columns.min(cols - left);
            let most = self.block / width;
            for first in (0..rows).step_by(most) {
                let count = most.min(rows - first);
                // SAFETY: the trait's contract; the buffer has room for a block, `part` for as many
                // accumulators as it has columns.
                unsafe {
                    let acc = acc.add(left * self.sizes.acc);
                    for r in 0..count {
                        let row = x.add(((first + r) * stride + left) * self.sizes.element);
                        let to = buffer.add(r * width * self.computed);
                        self.runner.run(row, to, width)
                    }
                    if first == 0 {
                        self.fold.rows(buffer, width, count, width, acc)
                    } else {
                        self.fold.rows(buffer, width, count, width, part);
                        self.fold.join(acc, part, width)
                    }
                }
            }
        }
    }
    unsafe fn join(&self, a: *mut u8, b: *const u8, n: usize) {
        // SAFETY: the trait's contract.
        unsafe { self.fold.join(a, b, n) }
    }
    unsafe fn finish(&self, acc: *const u8, count: usize, n: usize, out: *mut u8, step: isize) {
        // SAFETY: the trait's contract.
        unsafe { self.fold.finish(acc, count, n, out, step) }
    }
}
