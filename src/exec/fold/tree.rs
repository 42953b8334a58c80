//! Reduces tiles and joins them in a tree: neighbours first, then pairs of neighbours, and so on.
//! Long reductions are cut into parts for all threads, even if few outputs are kept.

use super::computed::Tiles;
use super::erased::Erased;
use super::plan::{FoldPlan, Group, Pointers, Strategy};
use crate::error::Result;
use crate::exec::failure::try_ranges;
use crate::exec::pack::pack;
use crate::exec::rect::Rect;
use crate::par::{self, Cost};
use crate::storage::Bytes;
use core::ops::Range;

/// The most tiles that one call reduces: between calls, loads wait for a tenth of the time.
const TOGETHER: usize = 8;

/// A planned reduction.
pub(super) struct FoldTree<'a> {
    pub plan: &'a FoldPlan,
    /// What accumulates at each end of the reduction.
    pub folds: &'a [&'a dyn Erased],
    /// Computes the elements, unless they are those of the one input.
    pub computed: Option<Tiles<'a>>,
    /// The first output among the plan's operands.
    pub outputs: usize,
}

impl FoldTree<'_> {
    /// # Safety
    /// FOLD1; the plan was made for these ends and this program.
    pub unsafe fn run(&self) -> Result<()> {
        let plan = self.plan;
        let strip = plan.strip().size(self.folds);
        let scratch = self.scratch();
        let mut partials = Bytes::new(if plan.parts > 1 {
            plan.groups * plan.parts * strip
        } else {
            0
        })?;
        let partials = DisjointMemory(partials.get_mut().unwrap_or(core::ptr::null_mut()));
        let elements = plan.length * plan.width * plan.per_part.min(plan.tiles);
        let cost = Cost {
            bytes: elements * plan.sizes.element,
            flops: elements * plan.sizes.flops,
        };
        try_ranges(plan.groups * plan.parts, 1, cost, |r| {
            let mut memory = Bytes::new(scratch)?;
            let base = memory.get_mut().unwrap_or(core::ptr::null_mut());
            for k in r {
                let (group, part) = match plan.parts {
                    1 => (k, 0),
                    parts => (k / parts, k % parts),
                };
                let group = plan.group(&plan.ptrs, group);
                // SAFETY: FOLD1; the scratch memory has room; `k` writes its own outputs or its own
                // strip of the partial results.
                unsafe {
                    let stack = self.part(&group, part, base);
                    match plan.parts {
                        1 => self.store(&group, stack),
                        _ => core::ptr::copy_nonoverlapping(stack, partials.at(k * strip), strip),
                    }
                }
            }
            Ok(())
        })?;
        if plan.parts > 1 {
            let cost = Cost {
                bytes: plan.parts * strip,
                flops: plan.parts * plan.strip().columns,
            };
            par::ranges(plan.groups, 1, cost, |r| {
                for group in r {
                    // SAFETY: the strips of this group, all written above; FOLD1.
                    unsafe {
                        let at = |part: usize| partials.at((group * plan.parts + part) * strip);
                        let group = plan.group(&plan.ptrs, group);
                        let mut n = plan.parts;
                        while n > 1 {
                            let half = n.div_ceil(2);
                            for k in 0..n / 2 {
                                self.join(at(k), at(k + half), group.columns);
                            }
                            n = half;
                        }
                        self.store(&group, at(0));
                    }
                }
            });
        }
        Ok(())
    }

    /// Bytes of scratch memory of one piece of work: a tile's, and a strip per level of the tree and
    /// one more.
    pub fn scratch(&self) -> usize {
        let per_part = self.plan.per_part.min(self.plan.tiles);
        let depth = per_part.max(1).ilog2() as usize + 2;
        self.buffer() + depth * self.plan.strip().size(self.folds)
    }
    /// Bytes of it for a tile, or for the accumulators of several.
    fn buffer(&self) -> usize {
        let plan = self.plan;
        match (&self.computed, plan.strategy) {
            (Some(tiles), _) => tiles.scratch(),
            (None, Strategy::Runs | Strategy::Rows) if self.is_one_run() => {
                (TOGETHER * plan.sizes.acc).next_multiple_of(64)
            }
            (None, Strategy::Runs | Strategy::Rows) => 0,
            _ => (plan.length * plan.width * plan.sizes.element).next_multiple_of(64),
        }
    }
    /// Reduces operands that begin at `from`, on this thread. The plan has one part.
    ///
    /// # Safety
    /// FOLD1 for these operands; the plan was made for these folds and this program; `scratch` is
    /// valid for [`scratch`](FoldTree::scratch) bytes, aligned to a cache line, and unused.
    pub unsafe fn run_at(&self, from: &Pointers, scratch: *mut u8) {
        for group in 0..self.plan.groups {
            let group = self.plan.group(from, group);
            // SAFETY: by the caller; a group writes its own outputs.
            unsafe {
                let stack = self.part(&group, 0, scratch);
                self.store(&group, stack);
            }
        }
    }

    /// Joins the accumulators of `columns` columns in strip `b` into those in `a`.
    ///
    /// # Safety
    /// Both strips have so many columns written, and don't overlap.
    unsafe fn join(&self, a: *mut u8, b: *mut u8, columns: usize) {
        let strip = self.plan.strip();
        for ((fold, a), (_, b)) in strip.each(self.folds, a).zip(strip.each(self.folds, b)) {
            // SAFETY: by the caller.
            unsafe { fold.join(a, b, columns) }
        }
    }

    /// Reduces the tiles of one part into a strip of `scratch`, and returns that.
    ///
    /// # Safety
    /// As `run_at`, with any number of parts.
    unsafe fn part(&self, group: &Group, part: usize, scratch: *mut u8) -> *mut u8 {
        // The last group of a row may be narrower than a strip.
        let (plan, strip) = (self.plan, self.plan.strip());
        let (size, columns) = (strip.size(self.folds), group.columns);
        let stack = scratch.wrapping_add(self.buffer());
        let tiles = part * plan.per_part..plan.tiles.min((part + 1) * plan.per_part);
        let at = |level: usize| stack.wrapping_add(level * size);
        // SAFETY: the calls below require what the caller promises of the group, the part and the
        // scratch memory.
        unsafe {
            if tiles.is_empty() {
                let nothing = core::ptr::NonNull::<u128>::dangling().as_ptr() as *const u8;
                for (fold, acc) in strip.each(self.folds, stack) {
                    fold.runs(nothing, 0, columns, acc);
                }
            }
            let (mut level, mut done) = (0, 0);
            while done < tiles.len() {
                let t = tiles.start + done;
                let count = self.together(t..tiles.end);
                if count > 1 {
                    self.reduce_together(group, t, count, scratch);
                }
                for k in 0..count {
                    match count {
                        1 => self.reduce(group, t, scratch, at(level)),
                        _ => {
                            let acc = scratch.wrapping_add(k * plan.sizes.acc);
                            core::ptr::copy_nonoverlapping(acc, at(level), plan.sizes.acc);
                        }
                    }
                    level += 1;
                    done += 1;
                    for _ in 0..done.trailing_zeros() {
                        level -= 1;
                        self.join(at(level - 1), at(level), columns);
                    }
                }
            }
            for k in (1..level).rev() {
                self.join(at(k - 1), at(k), columns);
            }
        }
        stack
    }

    /// Whether a group is one run in memory, which nothing but one fold passes over.
    fn is_one_run(&self) -> bool {
        self.computed.is_none() && self.folds.len() == 1 && self.plan.is_contiguous()
    }

    /// How many of these tiles, from the first on, one call reduces: whole ones that lie one after the
    /// other in memory, as far as there is room for their accumulators.
    fn together(&self, tiles: Range<usize>) -> usize {
        let plan = self.plan;
        if !self.is_one_run() {
            return 1;
        }
        let whole = (plan.run.n / plan.length).min(tiles.end);
        whole.saturating_sub(tiles.start).clamp(1, TOGETHER)
    }

    /// # Safety
    /// As `part`, for so many tiles from this one on as [`together`](FoldTree::together) says: whole
    /// ones, side by side. Their accumulators go to `acc`, one after the other.
    unsafe fn reduce_together(&self, group: &Group, tile: usize, count: usize, acc: *mut u8) {
        let (rows, _, ptrs) = self.plan.tile(group, tile);
        // SAFETY: FOLD1 for `count` tiles of `rows` elements; `buffer` has room for the accumulators.
        unsafe { self.folds[0].runs(ptrs[0], rows, count, acc) }
    }

    /// # Safety
    /// As `part`, for one tile, whose accumulators go to `acc`.
    unsafe fn reduce(&self, group: &Group, tile: usize, buffer: *mut u8, acc: *mut u8) {
        let (plan, strip) = (self.plan, self.plan.strip());
        let (rows, cols, ptrs) = plan.tile(group, tile);
        if let Some(tiles) = &self.computed {
            // SAFETY: by the caller.
            return unsafe {
                let tile = [rows, cols];
                tiles.reduce(plan.strategy, self.folds, &ptrs, tile, buffer, (strip, acc))
            };
        }
        let (ptr, size) = (ptrs[0] as *const u8, plan.sizes.element);
        let (along, across) = (plan.run.steps[0], plan.side.steps[0]);
        let runs = Rect {
            ptr,
            rows: cols,
            cols: rows,
            row_step: across,
            col_step: along,
        };
        // SAFETY: FOLD1 for the rectangle of `rows` by `cols` elements from `ptr`; the buffer has
        // room for it.
        unsafe {
            match plan.strategy {
                Strategy::Runs | Strategy::Rows => {}
                Strategy::PackedRuns | Strategy::Flat => pack(buffer, runs, size),
                Strategy::PackedRows => {
                    let rect = Rect {
                        ptr,
                        rows,
                        cols,
                        row_step: along,
                        col_step: across,
                    };
                    pack(buffer, rect, size)
                }
            }
            for (fold, acc) in strip.each(self.folds, acc) {
                let at = |j: usize| acc.wrapping_add(j * fold.sizes().acc);
                match plan.strategy {
                    Strategy::Runs if across == (rows * size) as isize => {
                        fold.runs(ptr, rows, cols, acc)
                    }
                    Strategy::Runs => (0..cols)
                        .for_each(|j| fold.runs(ptr.offset(across * j as isize), rows, 1, at(j))),
                    Strategy::Rows => fold.rows(ptr, along as usize / size, rows, cols, acc),
                    Strategy::PackedRuns => fold.runs(buffer, rows, cols, acc),
                    Strategy::PackedRows => fold.rows(buffer, cols, rows, cols, acc),
                    Strategy::Flat => fold.runs(buffer, rows * cols, 1, acc),
                }
            }
        }
    }

    /// # Safety
    /// As `run_at`; `acc` is a strip of the group's accumulators.
    unsafe fn store(&self, group: &Group, acc: *mut u8) {
        let (plan, columns) = (self.plan, group.columns);
        let outputs = group.ptrs.iter().zip(&plan.side.steps).skip(self.outputs);
        for ((fold, acc), (to, step)) in plan.strip().each(self.folds, acc).zip(outputs) {
            // SAFETY: FOLD1: `to` takes a result at each step of `side` from the group's first on;
            // by the caller, `acc` has one for each column.
            unsafe { fold.finish(acc, columns, plan.n, *to, *step) }
        }
    }
}

/// Memory of which pieces of work use disjoint parts.
struct DisjointMemory(*mut u8);
// SAFETY: only an address; each piece writes to a part that is its own alone.
unsafe impl Sync for DisjointMemory {}
impl DisjointMemory {
    fn at(&self, bytes: usize) -> *mut u8 {
        self.0.wrapping_add(bytes)
    }
}
