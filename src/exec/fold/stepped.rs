//! Reductions of several inputs at once by a caller's functions, with accumulators of any type.
//! They follow the plan of all reductions, so their bits follow from the layout alone too.

use super::plan::{FoldPlan, Group, Pointers, Strategy};
use super::{FoldSizes, no_elements};
use crate::error::{Error, Result};
use crate::exec::failure::try_ranges;
use crate::exec::nest::{Dim, MAX_OPERANDS};
use crate::exec::pack::pack;
use crate::exec::rect::Rect;
use crate::exec::view::View;
use crate::fallible;
use crate::layout::Layout;
use crate::par::{Cost, Out};
use crate::storage::Bytes;
use smallvec::SmallVec;

/// An input's elements of a tile: contiguous lines at a constant stride.
#[derive(Clone, Copy)]
pub struct StridedInput {
    /// The first element.
    pub ptr: *const u8,
    /// Bytes from one line to the next.
    pub stride: isize,
}

/// A caller's reduction, which steps from element to element. `join` is associative up to rounding.
pub trait SteppedFold: Sync {
    /// The state of a partial reduction.
    type Acc: Copy + Send + Sync;
    /// Arithmetic operations per element.
    const FLOPS: usize = 1;
    /// The identity of `join`.
    fn init(&self) -> Self::Acc;
    /// Reduces each of `acc.len()` lines of `n` elements.
    ///
    /// # Safety
    /// Contract (STEP1): `inputs` are those that the step was made for, each with so many lines of
    /// so many initialised elements of its type, aligned.
    unsafe fn runs(&self, inputs: &[StridedInput], n: usize, acc: &mut [Self::Acc]);
    /// Reduces each of `acc.len()` columns over `rows` lines.
    ///
    /// # Safety
    /// STEP1 for `rows` lines of `acc.len()` elements.
    unsafe fn rows(&self, inputs: &[StridedInput], rows: usize, acc: &mut [Self::Acc]);
    /// Joins `b[i]` into `a[i]`.
    fn join(&self, a: &mut [Self::Acc], b: &[Self::Acc]);
}

/// Reduces the inputs along the axes that `reduced` selects. There is an accumulator for each index
/// of the other axes, in row-major order. Inputs have the shape of `value`; tiles are those of a
/// tensor of that layout.
///
/// Errors if there is no memory for the accumulators or for scratch.
///
/// # Safety
/// The step was made for elements of these inputs (STEP1).
pub unsafe fn fold_stepped<S: SteppedFold>(
    step: &S,
    inputs: &[View],
    value: &Layout,
    reduced: impl Fn(usize) -> bool,
) -> Result<alloc::vec::Vec<S::Acc>> {
    let shape = value.shape();
    let same = |i: &View| i.layout().shape() == shape;
    assert!(FIRST + inputs.len() < MAX_OPERANDS && inputs.iter().all(same));
    let kept = (0..shape.len()).filter(|k| !reduced(*k));
    let count = (kept.map(|k| shape[k]))
        .try_fold(1, usize::checked_mul)
        .ok_or_else(|| Error::memory::<S::Acc>(usize::MAX))?;
    let mut all = fallible::filled(step.init(), count)?;
    if count == 0 || shape.contains(&0) {
        return Ok(all);
    }
    let size = size_of::<S::Acc>();
    let sizes = FoldSizes {
        element: inputs.iter().map(View::size).sum(),
        acc: size.max(1),
        out: size,
        flops: S::FLOPS,
    };
    let out = (all.as_mut_ptr() as *mut u8, size);
    let plan = plan(inputs, value, out, sizes, &reduced);
    let steps = SteppedPlan {
        step,
        inputs: inputs.iter().map(View::size).collect(),
        plan: &plan,
    };
    // SAFETY: FOLD1: the loops are those of views (VIEW1), and of accumulators that nobody else
    // knows; STEP1, by the caller.
    unsafe { steps.run()? };
    Ok(all)
}

/// The first input among a plan's operands. The one before it stands for what is reduced, which is
/// not in memory.
const FIRST: usize = 1;

/// Plans the reduction of inputs of the shape of `value` to contiguous accumulators of `size` bytes
/// at `out`, one for each index of the kept axes.
fn plan(
    inputs: &[View],
    value: &Layout,
    (out, size): (*mut u8, usize),
    sizes: FoldSizes,
    reduced: &dyn Fn(usize) -> bool,
) -> FoldPlan {
    let (last, shape) = (FIRST + inputs.len(), value.shape());
    let mut ptrs: Pointers = [core::ptr::null_mut(); MAX_OPERANDS];
    ptrs[0] = no_elements() as *mut u8;
    for (to, x) in ptrs[FIRST..].iter_mut().zip(inputs) {
        *to = x.as_ptr() as *mut u8;
    }
    ptrs[last] = out;
    let dim = |axis: usize, inner: usize| {
        let mut steps = [0; MAX_OPERANDS];
        steps[0] = value.strides()[axis] * sizes.element as isize;
        for (step, x) in steps[FIRST..].iter_mut().zip(inputs) {
            *step = x.layout().strides()[axis] * x.size() as isize;
        }
        steps[last] = (inner * size) as isize;
        Dim {
            n: shape[axis],
            steps,
        }
    };
    let loops = (0..shape.len()).filter(|axis| shape[*axis] != 1);
    let kept = loops.clone().filter(|axis| !reduced(*axis));
    let mut inner: usize = kept.clone().map(|axis| shape[axis]).product();
    let kept = kept.map(|axis| {
        inner /= shape[axis];
        dim(axis, inner)
    });
    let reduced = loops.filter(|axis| reduced(*axis)).map(|axis| dim(axis, 0));
    FoldPlan::new(ptrs, last + 1, sizes, false, kept, reduced)
}

/// A planned reduction. The one output of the plan is the accumulators.
struct SteppedPlan<'a, S> {
    step: &'a S,
    /// Bytes of an element of each input.
    inputs: SmallVec<[usize; 6]>,
    plan: &'a FoldPlan,
}

impl<S: SteppedFold> SteppedPlan<'_, S> {
    /// # Safety
    /// FOLD1, and STEP1 for the inputs.
    unsafe fn run(&self) -> Result<()> {
        let plan = self.plan;
        let width = plan.strip().columns;
        let per_part = plan.per_part.min(plan.tiles);
        let levels = per_part.max(1).ilog2() as usize + 2;
        let pieces = plan.groups * plan.parts;
        let whole = plan.parts == 1;
        let partials = if whole { 0 } else { pieces * width };
        let mut partials = fallible::filled(self.step.init(), partials)?;
        let strips = Out::new(&mut partials);
        let elements = plan.length * plan.width * per_part;
        let cost = Cost {
            bytes: elements * plan.sizes.element,
            flops: elements * plan.sizes.flops,
        };
        try_ranges(pieces, 1, cost, |r| {
            let mut stack = fallible::filled(self.step.init(), levels * width)?;
            let mut buffer = Bytes::new(self.packed())?;
            let buffer = buffer.get_mut().unwrap_or(core::ptr::null_mut());
            for k in r {
                let (group, part) = (k / plan.parts, k % plan.parts);
                // SAFETY: FOLD1 and STEP1; the buffer has room for a tile's packed inputs; `k`
                // writes its own outputs or its own strip of the partial results (OUT1).
                unsafe {
                    self.part(group, part, buffer, &mut stack);
                    match whole {
                        true => self.store(group, &stack),
                        false => {
                            let strip = strips.part(k * width..(k + 1) * width);
                            strip.copy_from_slice(&stack[..width]);
                        }
                    }
                }
            }
            Ok(())
        })?;
        for group in 0..if whole { 0 } else { plan.groups } {
            let strips = &mut partials[group * plan.parts * width..][..plan.parts * width];
            let mut n = plan.parts;
            while n > 1 {
                let half = n.div_ceil(2);
                let (a, b) = strips.split_at_mut(half * width);
                self.step
                    .join(&mut a[..(n / 2) * width], &b[..(n / 2) * width]);
                n = half;
            }
            // SAFETY: FOLD1: the outputs of this group.
            unsafe { self.store(group, strips) };
        }
        Ok(())
    }

    /// Reduces the tiles of one part into the first strip of `stack`, joining pairs of neighbours
    /// first.
    ///
    /// # Safety
    /// As `run`; `buffer` has room for a tile's packed inputs.
    unsafe fn part(&self, group: usize, part: usize, buffer: *mut u8, stack: &mut [S::Acc]) {
        let (plan, width) = (self.plan, self.plan.strip().columns);
        let tiles = part * plan.per_part..plan.tiles.min((part + 1) * plan.per_part);
        // the last group of a row may be narrower than a strip
        let group = plan.group(&plan.ptrs, group);
        let columns = group.columns;
        let join = |stack: &mut [S::Acc], level: usize| {
            let (below, top) = stack.split_at_mut(level * width);
            self.step.join(
                &mut below[(level - 1) * width..][..columns],
                &top[..columns],
            );
        };
        let mut level = 0;
        for (done, tile) in tiles.enumerate() {
            let acc = &mut stack[level * width..][..columns];
            // SAFETY: by the caller.
            unsafe { self.tile(&group, tile, buffer, acc) };
            level += 1;
            for _ in 0..(done + 1).trailing_zeros() {
                level -= 1;
                join(stack, level);
            }
        }
        for level in (1..level).rev() {
            join(stack, level);
        }
    }

    /// # Safety
    /// As `part`, for one tile.
    unsafe fn tile(&self, group: &Group, tile: usize, buffer: *mut u8, acc: &mut [S::Acc]) {
        let plan = self.plan;
        let (rows, cols, ptrs) = plan.tile(group, tile);
        let (outer, inner) = self.loops();
        let (lines, n) = if plan.strategy.is_by_rows() {
            (rows, cols)
        } else {
            (cols, rows)
        };
        let mut lanes = SmallVec::<[StridedInput; 6]>::new();
        let mut free = buffer;
        for (k, size) in self.inputs.iter().enumerate() {
            let (ptr, row_step) = (ptrs[FIRST + k] as *const u8, outer.steps[FIRST + k]);
            let (col_step, stride) = (inner.steps[FIRST + k], (n * size) as isize);
            let follows = lines == 1 || plan.strategy != Strategy::Flat || row_step == stride;
            if self.lies(k) && follows {
                lanes.push(StridedInput {
                    ptr,
                    stride: row_step,
                });
                continue;
            }
            let rect = Rect {
                ptr,
                rows: lines,
                cols: n,
                row_step,
                col_step,
            };
            // SAFETY: FOLD1 for the rectangle; the buffer has room for it behind those packed
            // before.
            unsafe { pack(free, rect, *size) };
            lanes.push(StridedInput { ptr: free, stride });
            free = free.wrapping_add(self.room(*size));
        }
        // SAFETY: STEP1 for the lines above; those of a flat tile are contiguous.
        unsafe {
            match plan.strategy {
                Strategy::Rows | Strategy::PackedRows => self.step.rows(&lanes, rows, acc),
                Strategy::Runs | Strategy::PackedRuns => self.step.runs(&lanes, rows, acc),
                Strategy::Flat => self.step.runs(&lanes, rows * cols, acc),
            }
        }
    }
    /// The loop over lines, and the loop along a line.
    fn loops(&self) -> (&Dim, &Dim) {
        let (run, side) = (&self.plan.run, &self.plan.side);
        if self.plan.strategy.is_by_rows() {
            (run, side)
        } else {
            (side, run)
        }
    }
    /// Whether an input's lines are read in place.
    fn lies(&self, k: usize) -> bool {
        self.loops().1.steps[FIRST + k] == self.inputs[k] as isize
    }
    /// Bytes of a tile of an input.
    fn room(&self, size: usize) -> usize {
        (self.plan.length * self.plan.width * size).next_multiple_of(64)
    }
    /// Bytes of a tile's packed inputs.
    fn packed(&self) -> usize {
        let flat = self.plan.strategy == Strategy::Flat;
        let packed = |(k, size): (usize, &usize)| (flat || !self.lies(k)).then(|| self.room(*size));
        self.inputs.iter().enumerate().filter_map(packed).sum()
    }

    /// # Safety
    /// As `run`; `acc` has the accumulators of the group's columns.
    unsafe fn store(&self, group: usize, acc: &[S::Acc]) {
        let Group { columns, ptrs } = self.plan.group(&self.plan.ptrs, group);
        let last = FIRST + self.inputs.len();
        let (to, step) = (ptrs[last], self.plan.side.steps[last]);
        for (j, acc) in acc[..columns].iter().enumerate() {
            // SAFETY: FOLD1: an accumulator of its own for each column.
            unsafe { *(to.offset(step * j as isize) as *mut S::Acc) = *acc }
        }
    }
}
