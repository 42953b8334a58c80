//! Walks that store their elements in whole tensors.

use super::plan_step::{Slots, inputs, shape_of, tensor};
use super::segment::Segment;
use super::traffic::bytes;
use super::walk::Walk;
use crate::dtype::DType;
use crate::error::Result;
use crate::exec::{self, nest::LoopOperand};
use crate::layout::Layout;
use crate::tensor::Tensor;
use alloc::sync::Arc;
use smallvec::SmallVec;

/// Runs a walk of step `k`, and puts its outputs into their slots. Returns the bytes of operands
/// whose memory was reused.
pub(super) fn stored(
    segment: &Segment,
    k: usize,
    walk: &Walk,
    to: &[usize],
    slots: &mut Slots,
) -> Result<usize> {
    let (mut stored, reused);
    if let Some((mut flat, whole)) = flat(walk, slots)? {
        let n = whole.len();
        let layout = whole.layout_at_zero();
        let layouts = core::iter::repeat_n(layout, walk.outputs.len());
        (stored, reused) = results(segment, k, walk, layouts, slots)?;
        for y in &mut stored {
            flat.push((y.as_mut_ptr()?, false));
        }
        // SAFETY: NEST1: as below; the operands have `n` contiguous elements, or are one value.
        unsafe { exec::run_flat(&walk.code, n, &flat) };
    } else {
        let (shape, layouts, operands) = {
            let x = inputs(walk, slots)?;
            let shape = shape_of(x.iter().map(|x| x.shape()))?;
            let layouts = walk.order.layouts(&shape, &x)?;
            let operand = |x: &&Tensor| x.operand(shape.len());
            let operands: SmallVec<[LoopOperand; 6]> = x.iter().map(operand).collect();
            (shape, layouts, operands)
        };
        let layouts = layouts.into_iter().map(Arc::new);
        (stored, reused) = results(segment, k, walk, layouts, slots)?;
        // SAFETY: NEST1: operands broadcast to the shape, lie within their storages (TENSOR1), are
        // initialised (STORAGE1) and only read; results are unshared (STORAGE3), and one that was
        // an operand overwrites it element by element. Instructions were chosen for these dtypes.
        unsafe { store(walk, &shape, &operands, &mut stored)? };
    }
    for (tensor, slot) in stored.into_iter().zip(to) {
        slots[*slot] = Some(tensor);
    }
    Ok(reused)
}

/// If the inputs of a walk are row-major tensors of one shape and single values: their first
/// elements, and whether they are single values, and one that has the shape.
#[allow(clippy::type_complexity, reason = "one caller takes it apart")]
fn flat<'a>(
    walk: &Walk,
    slots: &'a Slots,
) -> Result<Option<(SmallVec<[(*mut u8, bool); 8]>, &'a Tensor)>> {
    let mut whole: Option<&Tensor> = None;
    let mut operands = SmallVec::new();
    for slot in &walk.inputs {
        let x = tensor(slots, *slot)?;
        let single = x.len() == 1;
        let fits = |whole: &&Tensor| x.shape() == whole.shape();
        let alike = x.is_contiguous() && whole.as_ref().is_none_or(fits);
        if !(single || alike) {
            return Ok(None);
        }
        if !single {
            whole = Some(x);
        }
        operands.push((x.as_ptr() as *mut u8, single));
    }
    let rank = |whole: &&Tensor| {
        let mut all = walk.inputs.iter().filter_map(|slot| slots[*slot].as_ref());
        all.all(|x| x.rank() <= whole.rank())
    };
    Ok(whole.filter(rank).map(|whole| (operands, whole)))
}

/// The tensors for the outputs of a walk, of these layouts, and the bytes of operands whose memory
/// they reuse.
fn results(
    segment: &Segment,
    k: usize,
    walk: &Walk,
    layouts: impl Iterator<Item = Arc<Layout>>,
    slots: &mut Slots,
) -> Result<(SmallVec<[Tensor; 2]>, usize)> {
    let (mut stored, mut reused_bytes) = (SmallVec::new(), 0);
    for (layout, dtype) in layouts.zip(&walk.outputs) {
        let reused = dead(segment, k, walk, &layout, *dtype, slots);
        stored.push(match reused {
            Some(slot) => {
                let x = slots[slot].take().unwrap_or_default();
                reused_bytes += bytes(&x);
                x.retyped(*dtype)
            }
            None => Tensor::empty_of(layout, *dtype)?,
        });
    }
    Ok((stored, reused_bytes))
}

/// An input whose storage can hold an output: a dead value that nobody else shares.
fn dead(
    segment: &Segment,
    k: usize,
    walk: &Walk,
    layout: &Layout,
    dtype: DType,
    slots: &mut Slots,
) -> Option<usize> {
    let later = |slot: &usize| {
        let mut steps = segment.steps[k + 1..].iter();
        steps.any(|s| s.reads().contains(slot))
    };
    let dies = |slot: &usize| segment.inner.contains(slot) || segment.dead.contains(slot);
    // most operands are shared
    walk.inputs.iter().copied().find(|slot| {
        slots[*slot].as_mut().is_some_and(|x| {
            !x.storage().is_shared()
                && x.dtype().size() == dtype.size()
                && x.layout().shape() == layout.shape()
                && x.layout().strides() == layout.strides()
                && dies(slot)
                && !later(slot)
                && x.get_mut_ptr().is_some()
        })
    })
}

/// Runs a walk into these tensors.
///
/// # Safety
/// NEST1 for the inputs; outputs have the shape, and are unshared except with an input that became
/// one.
pub(super) unsafe fn store(
    walk: &Walk,
    shape: &[usize],
    inputs: &[LoopOperand],
    outputs: &mut [Tensor],
) -> Result<()> {
    let mut to: SmallVec<[LoopOperand; 2]> = SmallVec::new();
    for y in outputs {
        y.as_mut_ptr()?;
        to.push(y.operand(shape.len()));
    }
    // SAFETY: by the caller.
    unsafe { exec::run(&walk.code, shape, inputs, &to) };
    Ok(())
}
