//! Runs a compiled graph.

use super::block::BlockedSegment;
use super::costs::FROM_MEMORY;
use super::plan::Program;
use super::plan_step::{PlanStep, Slots, StepElements, StepFold, inputs, shape_of, tensor};
use super::post_op::WalkPostOp;
use super::segment::Segment;
use super::step::axes;
use super::store::{store, stored};
use super::traffic::{Traffic, bytes};
use super::view;
use super::walk::{Dependencies, OP, ValueSource, Walk, layout_of};
use crate::error::{Error, Result};
use crate::exec::fold::{End, fold_computed, fold_to, fold_to_all, has_bits_of_stored};
use crate::exec::nest::LoopOperand;
use crate::exec::view::View;
use crate::layout::{Layout, Shape};
use crate::ops;
use crate::tensor::Tensor;
use alloc::vec::Vec;
use smallvec::SmallVec;

impl Program {
    /// Computes the outputs from these inputs. Inputs must have the dtypes of the graph's inputs,
    /// and shapes of the same pattern: sizes that are equal, 1 or 0 in the graph must be so here.
    ///
    /// Errors if the number, dtypes or ranks of inputs differ, and those of functions that run as
    /// they are.
    ///
    /// Example: [`Graph`](super::Graph).
    pub fn run(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>> {
        self.run_owned(inputs.to_vec())
    }
    /// [`run`](Program::run), with its errors, for tensors that are no longer needed: storage that
    /// nobody else shares may become a result's.
    ///
    /// ```
    /// use flex::{DType, Tensor, stream::{Graph, Op, Rounding}};
    /// let mut g = Graph::new();
    /// let x = g.input(&[2], DType::F32);
    /// let y = g.apply(Op::Square, &[x.into()])?;
    /// let x = Tensor::from([3.0f32, 4.0]);
    /// let memory = x.as_ptr();
    /// let y = g.compile(&[y], Rounding::Once)?.run_owned(vec![x])?;
    /// assert_eq!((y[0].as_ptr(), y[0].to_vec::<f32>()?), (memory, vec![9.0, 16.0]));
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn run_owned(&self, inputs: Vec<Tensor>) -> Result<Vec<Tensor>> {
        self.run_counted(inputs, &mut Traffic::default())
    }
    /// [`run_owned`](Program::run_owned), with its errors, adding the bytes it moves to `traffic`.
    ///
    /// Example: [`Program`].
    pub fn run_counted(&self, inputs: Vec<Tensor>, traffic: &mut Traffic) -> Result<Vec<Tensor>> {
        self.run_with(inputs, &self.views, traffic)
    }
    /// The same with other views, each of the form that it has in the graph.
    pub(super) fn run_with(
        &self,
        inputs: Vec<Tensor>,
        views: &[view::ViewOp],
        traffic: &mut Traffic,
    ) -> Result<Vec<Tensor>> {
        let alike = inputs.len() == self.inputs.len()
            && (inputs.iter().zip(&self.inputs))
                .all(|(x, (shape, dtype))| x.dtype() == *dtype && x.rank() == shape.len());
        if !alike {
            return Err(Error::value(
                OP,
                message!(
                    "{} inputs, whose number, dtypes and ranks are not those of the program's {}",
                    inputs.len(),
                    self.inputs.len()
                ),
            ));
        }
        let mut slots: Vec<Option<Tensor>> = inputs.into_iter().map(Some).collect();
        slots.resize(self.slots, None);
        for segment in &self.segments {
            if segment.leading == 0 || !BlockedSegment::run(segment, &mut slots, traffic)? {
                for k in 0..segment.steps.len() {
                    step(segment, k, &mut slots, views, traffic)?;
                }
            }
            for slot in segment.inner.iter().chain(&segment.dead) {
                slots[*slot] = None;
            }
        }
        let outputs = self.outputs.iter();
        outputs
            .map(|(slot, dtype)| tensor(&slots, *slot)?.clone().into_dtype(*dtype))
            .collect()
    }
}

impl Dependencies {
    /// The layout of each output of a walk over elements of this shape, as if operations ran one by
    /// one.
    pub fn layouts(&self, shape: &Shape, inputs: &[&Tensor]) -> Result<SmallVec<[Layout; 2]>> {
        let row_major = Layout::contiguous(shape)?;
        if inputs
            .iter()
            .all(|x| x.is_contiguous() || x.shape() != &shape[..])
        {
            return Ok(SmallVec::from_elem(row_major, self.outputs.len()));
        }
        let mut all: Vec<Layout> = Vec::new();
        for (operands, in_place) in &self.values {
            let of = operands.iter().map(|x| match x {
                ValueSource::Input(k) => inputs[*k].layout(),
                ValueSource::Value(k) => &all[*k],
            });
            let layout = layout_of(shape, &of.collect::<SmallVec<[_; 3]>>(), *in_place)?;
            all.push(layout);
        }
        let outputs = self.outputs.iter().map(|x| match x {
            ValueSource::Input(k) => inputs[*k].layout().clone(),
            ValueSource::Value(k) => all[*k].clone(),
        });
        Ok(outputs.collect())
    }
}

/// Runs step `k` of a segment on whole tensors.
fn step(
    segment: &Segment,
    k: usize,
    slots: &mut Slots,
    views: &[view::ViewOp],
    traffic: &mut Traffic,
) -> Result<()> {
    let this = &segment.steps[k];
    if let PlanStep::View { x, kind, to } = this {
        slots[*to] = Some(view::apply(tensor(slots, *x)?, kind, views, traffic)?);
        return Ok(());
    }
    let total = |slots: &Slots, of: &[usize]| of.iter().flat_map(|k| &slots[*k]).map(bytes).sum();
    let (mut moved, mut reused) = (Traffic::default(), 0);
    (moved.kernels, moved.read) = (1, total(slots, this.reads()));
    match this {
        PlanStep::View { .. } => {}
        PlanStep::Store { walk, to } => reused = stored(segment, k, walk, to, slots)?,
        PlanStep::Reduce {
            folds,
            joint,
            reduced,
            keepdims,
            to,
            ..
        } => {
            let walk = joint.as_deref();
            let one = walk.map(|walk| reduce_jointly(walk, folds, reduced, *keepdims, slots));
            let results = match one.transpose()?.flatten() {
                Some(results) => results,
                None => {
                    let reads = folds.iter().map(|x| total(slots, x.from.reads()));
                    (moved.kernels, moved.read) = (folds.len(), reads.sum());
                    let all = folds.iter().map(|x| reduce(x, reduced, *keepdims, slots));
                    all.collect::<Result<_>>()?
                }
            };
            for (y, slot) in results.into_iter().zip(to) {
                slots[*slot] = Some(y);
            }
        }
        PlanStep::Call {
            operation,
            sources,
            operands,
            dtype,
            to,
            then,
        } => {
            let mut x: SmallVec<[Tensor; 3]> = operands
                .iter()
                .map(|slot| tensor(slots, *slot).cloned())
                .collect::<Result<_>>()?;
            if let Some(sources) = sources {
                sources.convert(&mut x)?;
            }
            let Some(then) = then else {
                let y = operation.call(&x, None)?;
                if y.dtype() != *dtype {
                    // programs that read it were compiled for the other
                    let message = message!("a result of {}, not {dtype}", y.dtype());
                    return Err(Error::value(operation.name(), message));
                }
                slots[*to] = Some(y);
                return Ok(());
            };
            let post_op = WalkPostOp::new(then, segment, slots);
            let y = operation.call(&x, Some(&post_op))?;
            let (results, product) = post_op.finish(y);
            slots[*to] = product;
            match results {
                Some(results) => {
                    for (y, slot) in results.into_iter().zip(&then.to) {
                        slots[*slot] = Some(y);
                    }
                }
                None => {
                    moved.kernels = 2;
                    moved.read += total(slots, &[*to]);
                    let product: usize = total(slots, &[*to]);
                    reused = stored(segment, k, &then.walk, &then.to, slots)?;
                    // a product whose memory went to a result was written, too
                    moved.written += product - total(slots, &[*to]);
                    moved.allocated += product - total(slots, &[*to]);
                }
            }
        }
    }
    let written: usize = total(slots, this.writes());
    moved.written += written;
    moved.allocated += written - reused;
    *traffic += moved;
    Ok(())
}

fn reduce(x: &StepFold, reduced: &[bool], keepdims: bool, slots: &Slots) -> Result<Tensor> {
    let (kind, dtype) = (x.kind, x.dtype);
    let is_reduced = |k: usize| reduced[k];
    let result = |shape: &[usize]| axes(kind, shape, reduced, keepdims)?.result(kind.dtype(dtype)?);
    let fold = x;
    let of_stored = |x: &Tensor| {
        let mut out = result(x.shape())?;
        fold_to(x.elements(), is_reduced, fold.end(out.elements_mut()?)?)?;
        Ok(out)
    };
    let walk = match &x.from {
        StepElements::Stored(slot) => {
            let x = tensor(slots, *slot)?;
            return match fold.squared && !squares_lie_alike(x)? {
                true => of_stored(&ops::positive(x)?),
                false => of_stored(x),
            };
        }
        StepElements::Computed(walk) => walk,
    };
    let x = inputs(walk, slots)?;
    let shape = shape_of(x.iter().map(|x| x.shape()))?;
    let mut value = walk.order.layouts(&shape, &x)?.remove(0);
    if fold.squared {
        value = layout_of(&shape, &[&value], false)?;
    }
    let wholes: SmallVec<[Tensor; 6]> = x
        .iter()
        .map(|x| x.broadcast_to(&shape))
        .collect::<Result<_>>()?;
    let views: SmallVec<[View; 6]> = wholes.iter().map(Tensor::elements).collect();
    let mut out = result(&shape)?;
    let mut ends = [fold.end(out.elements_mut()?)?];
    if out_is_empty(&shape, reduced)
        || has_bits_of_stored(&walk.code, &views, &value, is_reduced, &mut ends)
    {
        fold_computed(&walk.code, &views, &value, is_reduced, &mut ends)?;
        return Ok(out);
    }
    // broadcast inputs lead to other tiles than stored elements
    let mut stored = [Tensor::empty_of(value, dtype)?];
    let operands: SmallVec<[LoopOperand; 6]> = x.iter().map(|x| x.operand(shape.len())).collect();
    // SAFETY: NEST1, as for a stored walk; the tensor is fresh.
    unsafe { store(walk, &shape, &operands, &mut stored)? };
    of_stored(&stored[0])
}

/// The same reductions as one walk, if elements come from memory and the bits are the same;
/// otherwise none.
fn reduce_jointly(
    walk: &Walk,
    folds: &[StepFold],
    reduced: &[bool],
    keepdims: bool,
    slots: &Slots,
) -> Result<Option<SmallVec<[Tensor; 2]>>> {
    let is_reduced = |k: usize| reduced[k];
    let x = inputs(walk, slots)?;
    if x.iter().map(|x| bytes(x)).sum::<usize>() < FROM_MEMORY {
        return Ok(None);
    }
    let shape = shape_of(x.iter().map(|x| x.shape()))?;
    if out_is_empty(&shape, reduced) {
        return Ok(None);
    }
    let result =
        |x: &StepFold| axes(x.kind, &shape, reduced, keepdims)?.result(x.kind.dtype(x.dtype)?);
    let mut out: SmallVec<[Tensor; 2]> = folds.iter().map(result).collect::<Result<_>>()?;
    let ends = folds.iter().zip(&mut out);
    if let Some(slot) = StepFold::read_by_all(folds) {
        let x = tensor(slots, slot)?;
        let ends = ends.map(|(x, y)| x.end(y.elements_mut()?));
        let mut ends: SmallVec<[End; 2]> = ends.collect::<Result<_>>()?;
        let done = squares_lie_alike(x)? && fold_to_all(x.elements(), is_reduced, &mut ends)?;
        drop(ends);
        return Ok(done.then_some(out));
    }
    let values = walk.order.layouts(&shape, &x)?;
    let alike = |v: &Layout| v.shape() == &shape[..] && v.strides() == values[0].strides();
    if !values.iter().all(alike) {
        return Ok(None);
    }
    let wholes: SmallVec<[Tensor; 6]> = x
        .iter()
        .map(|x| x.broadcast_to(&shape))
        .collect::<Result<_>>()?;
    let views: SmallVec<[View; 6]> = wholes.iter().map(Tensor::elements).collect();
    // the walk squares elements itself
    let ends = ends.map(|(x, y)| x.kind.end(x.dtype, y.elements_mut()?));
    let mut ends: SmallVec<[End; 2]> = ends.collect::<Result<_>>()?;
    if !has_bits_of_stored(&walk.code, &views, &values[0], is_reduced, &mut ends) {
        return Ok(None);
    }
    fold_computed(&walk.code, &views, &values[0], is_reduced, &mut ends)?;
    drop(ends);
    Ok(Some(out))
}

/// Whether squares of the elements, which have the layout of a result, would lie as these do.
fn squares_lie_alike(x: &Tensor) -> Result<bool> {
    Ok(layout_of(x.shape(), &[x.layout()], false)?.strides() == x.strides())
}

/// Whether the result is empty; there is no plan for that.
fn out_is_empty(shape: &[usize], reduced: &[bool]) -> bool {
    shape.iter().zip(reduced).any(|(n, r)| *n == 0 && !r)
}
