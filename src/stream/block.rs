//! Runs the steps of a segment block by block: what a step leaves to the next is still in a cache,
//! and what is not needed after the segment is never stored as a whole.

use super::costs::{BLOCK, WORTH_BLOCKS};
use super::segment::Segment;
use super::step::{Elements, Fold, Step, axes, reduce_block, shape_of, tensor};
use super::traffic::{Traffic, bytes};
use super::walk::OP;
use crate::dtype::DType;
use crate::error::Result;
use crate::exec::failure::Failure;
use crate::exec::fold::{has_bits_of_stored, is_separable};
use crate::exec::nest::Operand;
use crate::exec::view::View;
use crate::exec::{self};
use crate::layout::{Layout, Shape};
use crate::par::{self, Cost};
use crate::storage::Bytes;
use crate::tensor::Tensor;
use alloc::vec::Vec;
use smallvec::SmallVec;

/// A tensor of the segment.
struct Part {
    slot: usize,
    /// First element of a tensor; null if each thread has a block of its own.
    ptr: *mut u8,
    shape: Shape,
    strides: SmallVec<[isize; 6]>,
    dtype: DType,
}
// SAFETY: only an address; blocks on several threads write disjoint elements.
unsafe impl Sync for Part {}

/// How a segment is cut into blocks.
pub(super) struct Blocks<'a> {
    segment: &'a Segment,
    parts: Vec<Part>,
    /// The leading axes of all elements; the last of them is cut into blocks of `indices` indices.
    leading: Shape,
    indices: usize,
    rank: usize,
}

impl<'a> Blocks<'a> {
    /// Runs the segment, and puts results that are needed later into their slots. False, and
    /// nothing done, if it is better run step by step.
    pub fn run(
        segment: &'a Segment,
        slots: &mut [Option<Tensor>],
        traffic: &mut Traffic,
    ) -> Result<bool> {
        let Some(mut blocks) = Blocks::new(segment, slots)? else {
            return Ok(false);
        };
        let mut stored: Vec<(usize, Tensor)> = Vec::new();
        for part in blocks.parts.iter_mut().filter(|p| p.ptr.is_null()) {
            if !segment.inner.contains(&part.slot) {
                let mut y = Tensor::empty(&part.shape, part.dtype)?;
                part.ptr = y.as_mut_ptr()?;
                stored.push((part.slot, y));
            }
        }
        blocks.run_all()?;
        let written = stored.iter().map(|(_, y)| bytes(y)).sum();
        *traffic += Traffic {
            kernels: segment.steps.iter().map(Step::kernels).sum(),
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

    fn new(segment: &'a Segment, slots: &[Option<Tensor>]) -> Result<Option<Blocks<'a>>> {
        let mut parts: Vec<Part> = Vec::new();
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
                parts.push(Part {
                    slot: *slot,
                    ptr: x.as_ptr() as *mut u8,
                    shape: Shape::from_slice(x.shape()),
                    strides: SmallVec::from_slice(x.strides()),
                    dtype: x.dtype(),
                });
            }
            let shape = shape_of(of_reads(step, &parts).map(|p| &p.shape[..]))?;
            rank = shape.len();
            leading = Shape::from_slice(&shape[..segment.leading]);
            // unless elements are row-major, blocks would be scattered
            let whole = |p: &&Part| p.shape == shape && p.dtype.size() > 0;
            let row_major = Layout::contiguous(&shape)?;
            let is_row_major = |p: &Part| {
                p.strides[..] == *row_major.strides() || p.shape.iter().product::<usize>() < 2
            };
            if shape.contains(&0) || !of_reads(step, &parts).filter(whole).all(is_row_major) {
                return Ok(None);
            }
            let written: SmallVec<[(usize, Shape, DType); 2]> = match step {
                Step::Store { walk, to } => {
                    let outputs = to.iter().zip(&walk.outputs);
                    outputs
                        .map(|(slot, dtype)| (*slot, shape.clone(), *dtype))
                        .collect()
                }
                Step::Reduce {
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
                        let result = axes(x.kind, &shape, reduced, *keepdims)?.result_shape();
                        all.push((*slot, result, x.kind.dtype(x.dtype)?));
                    }
                    all
                }
                Step::Call { .. } | Step::View { .. } => return Ok(None),
            };
            for (slot, shape, dtype) in written {
                let strides = SmallVec::from_slice(Layout::contiguous(&shape)?.strides());
                parts.push(Part {
                    slot,
                    ptr: core::ptr::null_mut(),
                    shape,
                    strides,
                    dtype,
                });
            }
        }
        // axes are cut until one index of the last is at most half a block
        let mut axes = 1;
        let inner = |p: &Part, axes: usize| {
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
        Ok(Some(Blocks {
            segment,
            parts,
            leading,
            indices,
            rank,
        }))
    }

    fn run_all(&self) -> Result<()> {
        let along = self.leading[self.leading.len() - 1];
        let outer: usize = self.leading[..self.leading.len() - 1].iter().product();
        let across = along.div_ceil(self.indices);
        // blocks of equal sizes, since a single index at the end would cost as much as several
        let each = along.div_ceil(across);
        let bytes = |p: &Part| self.chunk(p, each) * p.dtype.size();
        let is_inner = |p: &&Part| p.ptr.is_null();
        let scratch = |p: &Part| bytes(p).next_multiple_of(64);
        let room: usize = self.parts.iter().filter(is_inner).map(scratch).sum();
        let cost = Cost {
            bytes: self.parts.iter().map(bytes).sum(),
            flops: self.segment.steps.iter().map(|s| self.flops(s, each)).sum(),
        };
        let failure = Failure::default();
        par::ranges(outer * across, 1, cost, |r| {
            let mut memory = match Bytes::new(room) {
                Ok(memory) => memory,
                Err(e) => return failure.note(Err(e)),
            };
            let base = memory.get_mut().unwrap_or(core::ptr::null_mut());
            for k in r {
                let start = k % across * each;
                let range = start..along.min(start + each);
                // SAFETY: SEGMENT1: parts are whole tensors, or have room in the scratch memory;
                // each block writes its own elements.
                failure.note(unsafe { self.block(k / across, range, base, each) });
            }
        });
        failure.result()
    }
    fn flops(&self, step: &Step, indices: usize) -> usize {
        let reads = step.reads();
        let of = self.parts.iter().filter(|p| reads.contains(&p.slot));
        let elements = of.map(|p| self.chunk(p, indices)).max().unwrap_or(1);
        let computed: usize = step.walks().map(|w| w.code.flops()).sum();
        elements * (1 + computed)
    }
    /// How many of the leading axes the part has.
    fn own(&self, p: &Part) -> usize {
        (p.shape.len() + self.leading.len()).saturating_sub(self.rank)
    }
    /// Elements of a part in a block of so many indices.
    fn chunk(&self, p: &Part, indices: usize) -> usize {
        let own = self.own(p);
        let rest = p.shape[own..].iter().product::<usize>();
        if own > 0 && p.shape[own - 1] != 1 {
            rest * indices
        } else {
            rest
        }
    }
    /// A part's elements in a block: the address of the first, and their layout.
    fn place(
        &self,
        p: &Part,
        outer: usize,
        range: &core::ops::Range<usize>,
    ) -> Result<(*mut u8, Layout)> {
        let skipped = self.leading.len() - self.own(p);
        let (mut shape, mut at, mut index) = (p.shape.clone(), 0isize, outer);
        for axis in (0..self.leading.len()).rev() {
            let last = axis + 1 == self.leading.len();
            let (first, count) = match last {
                true => (range.start, range.len()),
                false => (index % self.leading[axis], 1),
            };
            if !last {
                index /= self.leading[axis];
            }
            if axis >= skipped && p.shape[axis - skipped] != 1 {
                at += first as isize * p.strides[axis - skipped];
                shape[axis - skipped] = count;
            }
        }
        let layout = Layout::new(&shape, &p.strides, 0)?;
        Ok((p.ptr.wrapping_offset(at * p.dtype.size() as isize), layout))
    }

    /// Runs the steps on one block.
    ///
    /// # Safety
    /// Contract SEGMENT1: parts that are read are initialised tensors of their shape and dtype. So
    /// are parts that are written, in elements that no other block uses meanwhile, or they have
    /// room for a block in `scratch`.
    unsafe fn block(
        &self,
        outer: usize,
        range: core::ops::Range<usize>,
        scratch: *mut u8,
        most: usize,
    ) -> Result<()> {
        let mut at = scratch;
        let mut places: Vec<(*mut u8, Layout)> = Vec::with_capacity(self.parts.len());
        for p in &self.parts {
            let (ptr, layout) = self.place(p, outer, &range)?;
            places.push(if p.ptr.is_null() {
                let here = at;
                at = at.wrapping_add((self.chunk(p, most) * p.dtype.size()).next_multiple_of(64));
                (here, Layout::contiguous(layout.shape())?)
            } else {
                (ptr, layout)
            });
        }
        let find = |slot: usize| self.parts.iter().position(|p| p.slot == slot).unwrap_or(0);
        for step in &self.segment.steps {
            let reads: SmallVec<[usize; 6]> = step.reads().iter().map(|s| find(*s)).collect();
            let shape = shape_of(reads.iter().map(|k| places[*k].1.shape()))?;
            let rank = shape.len();
            let operand = |k: &usize| {
                let (ptr, layout) = &places[*k];
                let size = self.parts[*k].dtype.size();
                Operand::new(*ptr, size, layout.shape(), layout.strides(), rank)
            };
            match step {
                Step::Store { walk, to } => {
                    let inputs: SmallVec<[Operand; 6]> = reads.iter().map(operand).collect();
                    let to: SmallVec<[Operand; 2]> =
                        to.iter().map(|s| operand(&find(*s))).collect();
                    // SAFETY: NEST1, by the caller: elements of the block, which nobody else
                    // writes.
                    unsafe { exec::run(&walk.code, &shape, &inputs, &to) };
                }
                Step::Reduce {
                    folds, reduced, to, ..
                } => {
                    let value = Layout::contiguous(&shape)?;
                    for (x, slot) in folds.iter().zip(to) {
                        let reads = x.from.reads().iter().map(|slot| find(*slot));
                        let reads: SmallVec<[usize; 6]> = reads.collect();
                        let wholes: SmallVec<[Layout; 6]> = reads
                            .iter()
                            .map(|k| places[*k].1.broadcast_to(OP, &shape))
                            .collect::<Result<_>>()?;
                        let size = |k: &usize| self.parts[*k].dtype.size();
                        let views: SmallVec<[(*const u8, usize, &Layout); 6]> = reads
                            .iter()
                            .zip(&wholes)
                            .map(|(k, l)| (places[*k].0 as *const u8, size(k), l))
                            .collect();
                        let (ptr, layout) = &places[find(*slot)];
                        let out = Layout::contiguous(layout.shape())?;
                        // SAFETY: by the caller; a block of the result is contiguous, since all
                        // axes behind the cut ones are whole.
                        unsafe { reduce_block(x, &views, &value, reduced, (*ptr, &out))? };
                    }
                }
                Step::Call { .. } | Step::View { .. } => {}
            }
        }
        Ok(())
    }
}

/// The parts that a step reads.
fn of_reads<'p>(step: &'p Step, parts: &'p [Part]) -> impl Iterator<Item = &'p Part> + Clone {
    parts.iter().filter(move |p| step.reads().contains(&p.slot))
}

/// Whether a reduction over elements of this shape has the same bits block by block.
fn separable(
    x: &Fold,
    reduced: &[bool],
    keepdims: bool,
    parts: &[Part],
    shape: &Shape,
) -> Result<bool> {
    let (kind, dtype) = (x.kind, x.dtype);
    let value = Layout::contiguous(shape)?;
    let mut out = axes(kind, shape, reduced, keepdims)?.result(kind.dtype(dtype)?)?;
    let mut ends = [kind.end(dtype, out.elements_mut()?)?];
    let Elements::Computed(walk) = &x.from else {
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
