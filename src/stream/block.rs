//! Runs the steps of a segment block by block: what a step leaves to the next is still in a cache,
//! and what is not needed after the segment is never stored as a whole.

use super::costs::{BLOCK, WORTH_BLOCKS};
use super::plan_step::{PlanStep, StepElements, StepFold, shape_of, tensor};
use super::segment::Segment;
use super::step::axes;
use super::traffic::{Traffic, bytes};
use super::walk::OP;
use crate::dtype::DType;
use crate::error::Result;
use crate::exec::failure::try_ranges;
use crate::exec::fold::{self, has_bits_of_stored, is_separable, no_elements};
use crate::exec::nest::LoopOperand;
use crate::exec::planned::{self, PlannedProgram};
use crate::exec::view::{View, ViewMut};
use crate::layout::{Layout, Shape};
use crate::par::Cost;
use crate::storage::Bytes;
use crate::tensor::Tensor;
use alloc::vec::Vec;
use smallvec::SmallVec;

/// A tensor of the segment.
struct SegmentTensor {
    slot: usize,
    /// First element of a tensor; null if each thread has a block of its own.
    ptr: *mut u8,
    shape: Shape,
    /// The shape that later segments see: without the reduced axes if they are not kept.
    shown: Shape,
    strides: SmallVec<[isize; 6]>,
    dtype: DType,
}
// SAFETY: only an address; blocks on several threads write disjoint elements.
unsafe impl Sync for SegmentTensor {}

/// How a segment is cut into blocks.
pub(super) struct BlockedSegment<'a> {
    segment: &'a Segment,
    parts: Vec<SegmentTensor>,
    /// The leading axes of all elements; the last of them is cut into blocks of `indices` indices.
    leading: Shape,
    indices: usize,
    rank: usize,
}

impl<'a> BlockedSegment<'a> {
    /// Runs the segment, and puts results that are needed later into their slots. Returns false,
    /// with nothing done, if it is better run step by step.
    pub fn run(
        segment: &'a Segment,
        slots: &mut [Option<Tensor>],
        traffic: &mut Traffic,
    ) -> Result<bool> {
        let Some(mut blocks) = BlockedSegment::new(segment, slots)? else {
            return Ok(false);
        };
        let mut stored: Vec<(usize, Tensor)> = Vec::new();
        for part in blocks.parts.iter_mut().filter(|p| p.ptr.is_null()) {
            if !segment.inner.contains(&part.slot) {
                let mut y = Tensor::empty(&part.shown, part.dtype)?;
                part.ptr = y.as_mut_ptr()?;
                stored.push((part.slot, y));
            }
        }
        if !blocks.run_all()? {
            return Ok(false);
        }
        let written = stored.iter().map(|(_, y)| bytes(y)).sum();
        *traffic += Traffic {
            kernels: segment.steps.iter().map(PlanStep::kernels).sum(),
            allocated: written,
            read: (blocks.parts.iter())
                .filter_map(|p| slots[p.slot].as_ref())
                .map(bytes)
                .sum(),
            written,
        };
        for (slot, y) in stored {
            slots[slot] = Some(y);
        }
        Ok(true)
    }

    fn new(segment: &'a Segment, slots: &[Option<Tensor>]) -> Result<Option<BlockedSegment<'a>>> {
        let mut parts: Vec<SegmentTensor> = Vec::new();
        let (mut leading, mut rank, mut bytes) = (Shape::new(), 0, 0);
        for step in &segment.steps {
            for slot in step.reads() {
                if parts.iter().any(|p| p.slot == *slot) {
                    continue;
                }
                let x = tensor(slots, *slot)?;
                if x.strides().iter().any(|s| *s < 0) {
                    return Ok(None);
                }
                parts.push(SegmentTensor {
                    slot: *slot,
                    ptr: x.as_ptr() as *mut u8,
                    shape: Shape::from_slice(x.shape()),
                    shown: Shape::from_slice(x.shape()),
                    strides: SmallVec::from_slice(x.strides()),
                    dtype: x.dtype(),
                });
            }
            let shape = shape_of(of_reads(step, &parts).map(|p| &p.shape[..]))?;
            rank = shape.len();
            leading = Shape::from_slice(&shape[..segment.leading]);
            // unless elements are row-major, blocks would be scattered
            let whole = |p: &&SegmentTensor| p.shape == shape && p.dtype.size() > 0;
            let row_major = Layout::contiguous(&shape)?;
            let is_row_major = |p: &SegmentTensor| {
                p.strides[..] == *row_major.strides() || p.shape.iter().product::<usize>() < 2
            };
            if shape.contains(&0) || !of_reads(step, &parts).filter(whole).all(is_row_major) {
                return Ok(None);
            }
            let written: SmallVec<[(usize, [Shape; 2], DType); 2]> = match step {
                PlanStep::Store { walk, to } => {
                    let outputs = to.iter().zip(&walk.outputs);
                    outputs
                        .map(|(slot, dtype)| (*slot, [shape.clone(), shape.clone()], *dtype))
                        .collect()
                }
                PlanStep::Reduce {
                    folds,
                    reduced,
                    keepdims,
                    to,
                    ..
                } => {
                    let mut all = SmallVec::new();
                    for (x, slot) in folds.iter().zip(to) {
                        if !separable(x, reduced, *keepdims, &parts, &shape)? {
                            return Ok(None);
                        }
                        let result = |keepdims| -> Result<Shape> {
                            Ok(axes(x.kind, &shape, reduced, keepdims)?.result_shape())
                        };
                        let shapes = [result(true)?, result(*keepdims)?];
                        all.push((*slot, shapes, x.kind.dtype(x.dtype)?));
                    }
                    all
                }
                PlanStep::Call { .. } | PlanStep::View { .. } => return Ok(None),
            };
            for (slot, [shape, shown], dtype) in written {
                let strides = SmallVec::from_slice(Layout::contiguous(&shape)?.strides());
                parts.push(SegmentTensor {
                    slot,
                    ptr: core::ptr::null_mut(),
                    shape,
                    shown,
                    strides,
                    dtype,
                });
            }
        }
        // axes are cut until one index of the last is at most half a block
        let mut axes = 1;
        let inner = |p: &SegmentTensor, axes: usize| {
            let own = (p.shape.len() + axes)
                .saturating_sub(rank)
                .min(p.shape.len());
            p.shape[own..].iter().product::<usize>() * p.dtype.size()
        };
        let row = |axes: usize| parts.iter().map(|p| inner(p, axes)).sum::<usize>();
        for p in &parts {
            bytes += p.shape.iter().product::<usize>() * p.dtype.size();
        }
        while axes < leading.len() && row(axes) > BLOCK / 2 {
            axes += 1;
        }
        if bytes < WORTH_BLOCKS || row(axes) > 2 * BLOCK {
            return Ok(None);
        }
        leading.truncate(axes);
        let indices = (BLOCK / row(axes).max(1)).clamp(1, leading[axes - 1]);
        Ok(Some(BlockedSegment {
            segment,
            parts,
            leading,
            indices,
            rank,
        }))
    }

    fn run_all(&self) -> Result<bool> {
        let along = self.leading[self.leading.len() - 1];
        let outer: usize = self.leading[..self.leading.len() - 1].iter().product();
        let across = along.div_ceil(self.indices);
        // blocks of equal sizes, since a single index at the end would cost as much as several
        let each = along.div_ceil(across);
        let bytes = |p: &SegmentTensor| self.chunk(p, each) * p.dtype.size();
        let is_inner = |p: &&SegmentTensor| p.ptr.is_null();
        let scratch = |p: &SegmentTensor| bytes(p).next_multiple_of(64);
        let room: usize = self.parts.iter().filter(is_inner).map(scratch).sum();
        let cost = Cost {
            bytes: self.parts.iter().map(bytes).sum(),
            flops: self.segment.steps.iter().map(|s| self.flops(s, each)).sum(),
        };
        // each step is planned for a block, and once more for the smaller one at the end
        let layouts = [each, along - (across - 1) * each].map(|n| self.layouts(n));
        let [whole, last] = layouts;
        let (whole, last) = (whole?, last?);
        let (Some(whole), Some(last)) = (self.stages(&whole)?, self.stages(&last)?) else {
            return Ok(false);
        };
        let [whole, last] =
            [&whole, &last].map(|s| s.iter().map(BlockStep::ready).collect::<Vec<_>>());
        let most = whole.iter().chain(&last).map(|s| s.loops.scratch()).max();
        try_ranges(outer * across, 1, cost, |r| {
            let mut memory = Bytes::new(room + most.unwrap_or(0))?;
            let base = memory.get_mut().unwrap_or(core::ptr::null_mut());
            for k in r {
                let start = k % across * each;
                let stages = if start + each > along { &last } else { &whole };
                let mut inner = base;
                let mut ptrs: SmallVec<[*mut u8; 12]> = SmallVec::new();
                for p in &self.parts {
                    ptrs.push(if p.ptr.is_null() {
                        let here = inner;
                        inner = inner.wrapping_add(scratch(p));
                        here
                    } else {
                        self.first(p, k / across, start)
                    });
                }
                for stage in stages {
                    let operands = stage.operands.iter().map(|k| ptrs[*k]);
                    // SAFETY: SEGMENT1: parts are whole tensors, or have room in the scratch
                    // memory; each block writes its own elements.
                    unsafe { stage.loops.run(operands, inner) }
                }
            }
            Ok(())
        })?;
        Ok(true)
    }
    fn flops(&self, step: &PlanStep, indices: usize) -> usize {
        let reads = step.reads();
        let of = self.parts.iter().filter(|p| reads.contains(&p.slot));
        let elements = of.map(|p| self.chunk(p, indices)).max().unwrap_or(1);
        let computed: usize = step.walks().map(|w| w.code.flops()).sum();
        elements * (1 + computed)
    }
    /// How many of the leading axes the part has.
    fn own(&self, p: &SegmentTensor) -> usize {
        (p.shape.len() + self.leading.len()).saturating_sub(self.rank)
    }
    /// Elements of a part in a block of so many indices.
    fn chunk(&self, p: &SegmentTensor, indices: usize) -> usize {
        let own = self.own(p);
        let rest = p.shape[own..].iter().product::<usize>();
        if own > 0 && p.shape[own - 1] != 1 {
            rest * indices
        } else {
            rest
        }
    }
    /// The first element of a part in the block from index `start` on.
    fn first(&self, p: &SegmentTensor, outer: usize, start: usize) -> *mut u8 {
        let skipped = self.leading.len() - self.own(p);
        let (mut at, mut index) = (0isize, outer);
        for axis in (0..self.leading.len()).rev() {
            let first = if axis + 1 == self.leading.len() {
                start
            } else {
                let first = index % self.leading[axis];
                index /= self.leading[axis];
                first
            };
            if axis >= skipped && p.shape[axis - skipped] != 1 {
                at += first as isize * p.strides[axis - skipped];
            }
        }
        p.ptr.wrapping_offset(at * p.dtype.size() as isize)
    }
    /// The layout of each part in a block of so many indices.
    fn layouts(&self, indices: usize) -> Result<Vec<Layout>> {
        let layout = |p: &SegmentTensor| {
            let (mut shape, own) = (p.shape.clone(), self.own(p));
            for axis in 0..own {
                if shape[axis] != 1 {
                    shape[axis] = if axis + 1 == own { indices } else { 1 };
                }
            }
            match p.ptr.is_null() {
                true => Layout::contiguous(&shape),
                false => Layout::new(&shape, &p.strides, 0),
            }
        };
        self.parts.iter().map(layout).collect()
    }
    /// The steps, planned for blocks whose parts have these layouts. None if one can't be.
    fn stages<'l>(&self, layouts: &'l [Layout]) -> Result<Option<Vec<BlockStep<Loops<'l>>>>>
    where
        'a: 'l,
    {
        let find = |slot: &usize| self.parts.iter().position(|p| p.slot == *slot).unwrap_or(0);
        let size = |k: usize| self.parts[k].dtype.size();
        let mut stages = Vec::new();
        for step in &self.segment.steps {
            let reads: SmallVec<[usize; 6]> = step.reads().iter().map(find).collect();
            let shape = shape_of(reads.iter().map(|k| layouts[*k].shape()))?;
            match step {
                PlanStep::Store { walk, to } => {
                    let to: SmallVec<[usize; 2]> = to.iter().map(find).collect();
                    let operand = |k: &usize| {
                        let (layout, rank) = (&layouts[*k], shape.len());
                        let ptr = core::ptr::null_mut();
                        LoopOperand::new(ptr, size(*k), layout.shape(), layout.strides(), rank)
                    };
                    let inputs: SmallVec<[LoopOperand; 6]> = reads.iter().map(operand).collect();
                    let outputs: SmallVec<[LoopOperand; 2]> = to.iter().map(operand).collect();
                    let planned = PlannedProgram::new(&walk.code, &shape, &inputs, &outputs);
                    stages.push(BlockStep {
                        operands: reads.into_iter().chain(to).collect(),
                        loops: Loops::Store(planned),
                    });
                }
                PlanStep::Reduce {
                    folds, reduced, to, ..
                } => {
                    for (x, slot) in folds.iter().zip(to) {
                        let mut operands: SmallVec<[usize; 8]> =
                            x.from.reads().iter().map(find).collect();
                        let inputs = operands.iter().map(|k| (size(*k), &layouts[*k]));
                        let to = find(slot);
                        let Some(fold) = planned_fold(x, inputs, &shape, reduced, &layouts[to])?
                        else {
                            return Ok(None);
                        };
                        operands.push(to);
                        let loops = Loops::Reduce(fold);
                        stages.push(BlockStep { operands, loops });
                    }
                }
                PlanStep::Call { .. } | PlanStep::View { .. } => return Ok(None),
            }
        }
        Ok(Some(stages))
    }
}

/// A step, planned or ready for blocks: the parts that are its operands, and its loops.
struct BlockStep<L> {
    operands: SmallVec<[usize; 8]>,
    loops: L,
}
#[expect(clippy::large_enum_variant, reason = "one of each step, in a list")]
enum Loops<'a> {
    Store(PlannedProgram<'a>),
    Reduce(fold::PlannedFold<'a>),
}
#[expect(clippy::large_enum_variant, reason = "one of each step, in a list")]
enum ReadyLoops<'a> {
    Store(planned::ReadyProgram<'a>),
    Reduce(fold::ReadyFold<'a>),
}

impl BlockStep<Loops<'_>> {
    fn ready(&self) -> BlockStep<ReadyLoops<'_>> {
        BlockStep {
            operands: self.operands.clone(),
            loops: match &self.loops {
                Loops::Store(planned) => ReadyLoops::Store(planned.ready()),
                Loops::Reduce(planned) => ReadyLoops::Reduce(planned.ready()),
            },
        }
    }
}
impl ReadyLoops<'_> {
    fn scratch(&self) -> usize {
        match self {
            ReadyLoops::Store(ready) => ready.scratch(),
            ReadyLoops::Reduce(ready) => ready.scratch(),
        }
    }
    /// Runs on operands that begin at these addresses.
    ///
    /// # Safety
    /// Contract SEGMENT1: operands that are read are initialised in the layouts that were planned
    /// for. So are those that are written, or they have room, in elements that no other block uses
    /// meanwhile. `scratch` has room for [`scratch`](ReadyLoops::scratch).
    unsafe fn run(&self, operands: impl Iterator<Item = *mut u8>, scratch: *mut u8) {
        // SAFETY: NEST1, or VIEW1 and VIEW2, by the caller. A block of a result is contiguous, since
        // all axes behind the cut ones are whole.
        unsafe {
            match self {
                ReadyLoops::Store(ready) => ready.run(operands, scratch),
                ReadyLoops::Reduce(ready) => ready.run(operands, scratch),
            }
        }
    }
}

/// A reduction of elements of this shape, planned for inputs and a result of these layouts. None if
/// it can't be.
fn planned_fold<'l>(
    x: &'l StepFold,
    inputs: impl Iterator<Item = (usize, &'l Layout)>,
    shape: &[usize],
    reduced: &[bool],
    to: &'l Layout,
) -> Result<Option<fold::PlannedFold<'l>>> {
    let value = Layout::contiguous(shape)?;
    let wholes: SmallVec<[(usize, Layout); 6]> = inputs
        .map(|(size, layout)| Ok((size, layout.broadcast_to(OP, shape)?)))
        .collect::<Result<_>>()?;
    let size = x.kind.dtype(x.dtype)?.size();
    let views = wholes.iter().map(|(size, layout)| {
        // SAFETY: nothing is read: only the layout and the size of the view are used.
        unsafe { View::new(no_elements(), *size, layout) }
    });
    let views: SmallVec<[View; 6]> = views.collect();
    // SAFETY: as above: nothing is written.
    let out = unsafe { ViewMut::new(no_elements() as *mut u8, size, to) };
    let end = x.end(out)?;
    let program = match &x.from {
        StepElements::Stored(_) => None,
        StepElements::Computed(walk) => Some(&walk.code),
    };
    match to.is_contiguous() {
        true => Ok(fold::PlannedFold::new(
            program,
            &views,
            &value,
            |k| reduced[k],
            end,
        )),
        false => Ok(None),
    }
}

/// The parts that a step reads.
fn of_reads<'p>(
    step: &'p PlanStep,
    parts: &'p [SegmentTensor],
) -> impl Iterator<Item = &'p SegmentTensor> + Clone {
    parts.iter().filter(move |p| step.reads().contains(&p.slot))
}

/// Whether a reduction over elements of this shape has the same bits block by block.
fn separable(
    x: &StepFold,
    reduced: &[bool],
    keepdims: bool,
    parts: &[SegmentTensor],
    shape: &Shape,
) -> Result<bool> {
    let (kind, dtype) = (x.kind, x.dtype);
    let value = Layout::contiguous(shape)?;
    let mut out = axes(kind, shape, reduced, keepdims)?.result(kind.dtype(dtype)?)?;
    let mut ends = [x.end(out.elements_mut()?)?];
    let StepElements::Computed(walk) = &x.from else {
        return Ok(is_separable(&value, |k| reduced[k], &mut ends[0]));
    };
    let mut wholes: SmallVec<[(*const u8, usize, Layout); 6]> = SmallVec::new();
    for slot in &walk.inputs {
        let Some(p) = parts.iter().find(|p| p.slot == *slot) else {
            return Ok(false);
        };
        let layout = Layout::new(&p.shape, &p.strides, 0)?;
        wholes.push((p.ptr, p.dtype.size(), layout.broadcast_to(OP, shape)?));
    }
    // SAFETY: nothing is read: only the layouts and sizes of the views are used.
    let views: SmallVec<[View; 6]> = wholes
        .iter()
        .map(|(p, size, l)| unsafe { View::new(*p, *size, l) })
        .collect();
    Ok(is_separable(&value, |k| reduced[k], &mut ends[0])
        && has_bits_of_stored(&walk.code, &views, &value, |k| reduced[k], &mut ends))
}
