//! Tiles, and the tree that joins them: neighbours first, then pairs of neighbours, and so on; of a
//! long reduction, parts of it on all threads, also where little is kept.

use super::erased::Erased;
use super::plan::{How, Plan};
use crate::error::Result;
use crate::exec::failure::Failure;
use crate::exec::pack::pack;
use crate::exec::rect::Rect;
use crate::par::{self, Cost};
use crate::storage::Bytes;

impl Plan {
    /// # Safety
    /// FOLD1, and `f` has the types that the plan was made for.
    pub(super) unsafe fn run(&self, f: &dyn Erased) -> Result<()> {
        let strip = self.strip();
        let packed = match self.how {
            How::Runs | How::Rows => 0,
            _ => (self.length * self.width * self.sizes.element).next_multiple_of(64),
        };
        let per_part = self.per_part.min(self.tiles);
        let depth = per_part.max(1).ilog2() as usize + 2;
        let scratch = packed + depth * strip;
        let mut partials = Bytes::new(if self.parts > 1 {
            self.groups * self.parts * strip
        } else {
            0
        })?;
        let partials = Memory(partials.get_mut().unwrap_or(core::ptr::null_mut()));
        let failure = Failure::default();
        let elements = self.length * self.width * per_part;
        let cost = Cost {
            bytes: elements * self.sizes.element,
            flops: elements * self.sizes.flops,
        };
        par::ranges(self.groups * self.parts, 1, cost, |r| {
            let mut memory = match Bytes::new(scratch) {
                Ok(memory) => memory,
                Err(e) => return failure.note(Err(e)),
            };
            let base = memory.get_mut().unwrap_or(core::ptr::null_mut());
            for k in r {
                let (group, part) = (k / self.parts, k % self.parts);
                // SAFETY: FOLD1; the scratch memory has room for a packed tile and the strips; `k`
                // writes its own outputs or its own strip of the partial results.
                unsafe {
                    let stack = base.add(packed);
                    self.part(f, group, part, base, stack);
                    match self.parts {
                        1 => self.store(f, group, stack),
                        _ => core::ptr::copy_nonoverlapping(stack, partials.at(k * strip), strip),
                    }
                }
            }
        });
        failure.result()?;
        if self.parts > 1 {
            let cost = Cost {
                bytes: self.parts * strip,
                flops: self.parts * self.accumulators(),
            };
            par::ranges(self.groups, 1, cost, |r| {
                for group in r {
                    // SAFETY: the strips of this group, all written above; FOLD1.
                    unsafe {
                        let columns = self.group(group).0;
                        let at = |part: usize| partials.at((group * self.parts + part) * strip);
                        let mut n = self.parts;
                        while n > 1 {
                            let half = n.div_ceil(2);
                            for k in 0..n / 2 {
                                f.join(at(k), at(k + half), columns);
                            }
                            n = half;
                        }
                        self.store(f, group, at(0));
                    }
                }
            });
        }
        Ok(())
    }

    /// Reduces the tiles of one part into the first strip of `stack`.
    ///
    /// # Safety
    /// As `run`; `buffer` has room for a packed tile, `stack` for a strip each level of the tree
    /// and one.
    unsafe fn part(
        &self,
        f: &dyn Erased,
        group: usize,
        part: usize,
        buffer: *mut u8,
        stack: *mut u8,
    ) {
        // The last group of a row may be narrower than a strip.
        let (strip, columns) = (self.strip(), self.group(group).0);
        let tiles = part * self.per_part..self.tiles.min((part + 1) * self.per_part);
        let at = |level: usize| stack.wrapping_add(level * strip);
        // SAFETY: what the caller promises of the group, the part, the buffer and the stack is what
        // each call below asks for.
        unsafe {
            if tiles.is_empty() {
                let nothing = core::ptr::NonNull::<u128>::dangling().as_ptr() as *const u8;
                (0..columns).for_each(|j| f.run(nothing, 0, stack.add(j * self.sizes.acc)));
            }
            let mut level = 0;
            for (done, t) in tiles.enumerate() {
                self.reduce(f, group, t, buffer, at(level));
                level += 1;
                for _ in 0..(done + 1).trailing_zeros() {
                    level -= 1;
                    f.join(at(level - 1), at(level), columns);
                }
            }
            for k in (1..level).rev() {
                f.join(at(k - 1), at(k), columns);
            }
        }
    }

    /// # Safety
    /// As `part`, for one tile, whose accumulators go to `acc`.
    unsafe fn reduce(
        &self,
        f: &dyn Erased,
        group: usize,
        tile: usize,
        buffer: *mut u8,
        acc: *mut u8,
    ) {
        let (rows, cols, ptr) = self.tile(group, tile);
        let (size, along, across) = (self.sizes.element, self.run.steps[0], self.side.steps[0]);
        let runs = Rect {
            ptr,
            rows: cols,
            cols: rows,
            row_step: across,
            col_step: along,
        };
        let at = |j: usize| acc.wrapping_add(j * self.sizes.acc);
        // SAFETY: FOLD1 for the rectangle of `rows` by `cols` elements from `ptr`; the buffer has
        // room for it.
        unsafe {
            match self.how {
                How::Runs => {
                    (0..cols).for_each(|j| f.run(ptr.offset(across * j as isize), rows, at(j)))
                }
                How::Rows => f.rows(ptr, along as usize / size, rows, cols, acc),
                How::PackedRuns => {
                    pack(buffer, runs, size);
                    (0..cols).for_each(|j| f.run(buffer.add(j * rows * size), rows, at(j)))
                }
                How::PackedRows => {
                    let rect = Rect {
                        ptr,
                        rows,
                        cols,
                        row_step: along,
                        col_step: across,
                    };
                    pack(buffer, rect, size);
                    f.rows(buffer, cols, rows, cols, acc)
                }
                How::Flat => {
                    pack(buffer, runs, size);
                    f.run(buffer, rows * cols, acc)
                }
            }
        }
    }

    /// # Safety
    /// As `run`; `acc` is a strip of the group's accumulators.
    unsafe fn store(&self, f: &dyn Erased, group: usize, acc: *const u8) {
        let (columns, [_, to]) = self.group(group);
        // SAFETY: FOLD1: `to` takes a result each step of `side` from the group's place on; `acc`
        // has one for each column, by the caller.
        unsafe { f.finish(acc, columns, self.n, to, self.side.steps[1]) }
    }
}

/// Memory that pieces of work use disjoint parts of.
struct Memory(*mut u8);
// SAFETY: no more than an address; who writes through it does so to a part that is its own alone.
unsafe impl Sync for Memory {}
impl Memory {
    fn at(&self, bytes: usize) -> *mut u8 {
        self.0.wrapping_add(bytes)
    }
}
