//! Steps of a plan, and what running them on whole tensors and on blocks has in common.

use super::fold::Kind;
use super::graph::Sources;
use super::step::Operation;
use super::view::ViewKind;
use super::walk::{OP, Walk};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::exec::fold::End;
use crate::exec::view::ViewMut;
use crate::layout::{self, Shape};
use crate::tensor::Tensor;
use alloc::boxed::Box;
use alloc::sync::Arc;
use smallvec::SmallVec;

/// A part of a plan that runs by itself.
#[derive(Clone)]
pub(super) enum PlanStep {
    /// Stores each output of a walk in a slot.
    Store {
        walk: Box<Walk>,
        to: SmallVec<[usize; 2]>,
    },
    /// Reductions over the same axes.
    Reduce {
        folds: SmallVec<[StepFold; 1]>,
        /// A walk that computes the elements of all folds, if they read the same tensors.
        joint: Option<Box<Walk>>,
        reduced: SmallVec<[bool; 6]>,
        keepdims: bool,
        reads: SmallVec<[usize; 4]>,
        to: SmallVec<[usize; 2]>,
    },
    /// Calls a function of tensors. A walk may follow if it is a product.
    Call {
        operation: Operation,
        sources: Option<Arc<Sources>>,
        operands: SmallVec<[usize; 3]>,
        dtype: DType,
        to: usize,
        then: Option<Box<PostOpStep>>,
    },
    /// A view, which moves elements only if a reshape has to copy them.
    View { x: usize, kind: ViewKind, to: usize },
}

/// A walk that reads a product and follows it.
#[derive(Clone)]
pub(super) struct PostOpStep {
    pub walk: Walk,
    /// The slots of its outputs, and the slot of the product.
    pub to: SmallVec<[usize; 2]>,
    pub product: usize,
    /// The slots that product and walk read from earlier steps, and those that they write.
    reads: SmallVec<[usize; 6]>,
    writes: SmallVec<[usize; 2]>,
}

impl PostOpStep {
    /// A walk after a product of these operands.
    pub fn new(
        walk: Walk,
        to: SmallVec<[usize; 2]>,
        product: usize,
        operands: &[usize],
    ) -> PostOpStep {
        let all = operands.iter().chain(&walk.inputs).copied();
        let reads = all.filter(|slot| *slot != product).collect();
        let writes = core::iter::once(product).chain(to.iter().copied());
        PostOpStep {
            writes: writes.collect(),
            walk,
            to,
            product,
            reads,
        }
    }
}

/// A reduction of elements of some dtype.
#[derive(Clone)]
pub(super) struct StepFold {
    pub from: StepElements,
    /// Whether the squares of the elements are reduced.
    pub squared: bool,
    pub kind: Kind,
    pub dtype: DType,
}

impl StepFold {
    /// The end of a program that computes the elements, with results in `out`.
    pub fn end<'a>(&self, out: ViewMut<'a>) -> Result<End<'a>> {
        match self.squared {
            true => self.kind.end_of_squares(self.dtype, out),
            false => self.kind.end(self.dtype, out),
        }
    }
    /// The one slot whose elements all of these reduce, if they do.
    pub fn read_by_all(folds: &[StepFold]) -> Option<usize> {
        let slot = |x: &StepFold| match x.from {
            StepElements::Stored(slot) => Some(slot),
            StepElements::Computed(_) => None,
        };
        let first = slot(folds.first()?)?;
        folds
            .iter()
            .all(|x| slot(x) == Some(first))
            .then_some(first)
    }
}

/// Elements that are stored in a slot, or computed by a walk.
#[derive(Clone)]
pub(super) enum StepElements {
    Stored(usize),
    Computed(Box<Walk>),
}

impl StepElements {
    /// The slots that they are read from.
    pub fn reads(&self) -> &[usize] {
        match self {
            StepElements::Stored(slot) => core::slice::from_ref(slot),
            StepElements::Computed(walk) => &walk.inputs,
        }
    }
}

impl PlanStep {
    /// The slots it reads.
    pub fn reads(&self) -> &[usize] {
        match self {
            PlanStep::Store { walk, .. } => &walk.inputs,
            PlanStep::Reduce { reads, .. } => reads,
            PlanStep::Call {
                then: Some(then), ..
            } => &then.reads,
            PlanStep::Call { operands, .. } => operands,
            PlanStep::View { x, .. } => core::slice::from_ref(x),
        }
    }
    /// The slots it writes.
    pub fn writes(&self) -> &[usize] {
        match self {
            PlanStep::Store { to, .. } | PlanStep::Reduce { to, .. } => to,
            PlanStep::Call {
                then: Some(then), ..
            } => &then.writes,
            PlanStep::Call { to, .. } | PlanStep::View { to, .. } => core::slice::from_ref(to),
        }
    }
    /// The number of passes over elements if it runs block by block.
    pub fn kernels(&self) -> usize {
        match self {
            PlanStep::Reduce { folds, .. } => folds.len(),
            PlanStep::Store { .. } | PlanStep::Call { .. } => 1,
            PlanStep::View { .. } => 0,
        }
    }
    /// The walks that compute it, with one for each reduction.
    pub fn walks(&self) -> impl Iterator<Item = &Walk> {
        let (one, folds): (_, &[StepFold]) = match self {
            PlanStep::Store { walk, .. } => (Some(&**walk), &[]),
            PlanStep::Reduce { folds, .. } => (None, folds),
            PlanStep::Call { then, .. } => (then.as_ref().map(|then| &then.walk), &[]),
            PlanStep::View { .. } => (None, &[]),
        };
        let folds = folds.iter().filter_map(|x| match &x.from {
            StepElements::Computed(walk) => Some(&**walk),
            StepElements::Stored(_) => None,
        });
        one.into_iter().chain(folds)
    }
    /// All of its walks.
    pub fn walks_mut(&mut self) -> impl Iterator<Item = &mut Walk> {
        let (one, folds): (_, &mut [StepFold]) = match self {
            PlanStep::Store { walk, .. } => (Some(&mut **walk), &mut []),
            PlanStep::Reduce { folds, joint, .. } => (joint.as_deref_mut(), folds),
            PlanStep::Call { then, .. } => (then.as_mut().map(|then| &mut then.walk), &mut []),
            PlanStep::View { .. } => (None, &mut []),
        };
        let folds = folds.iter_mut().filter_map(|x| match &mut x.from {
            StepElements::Computed(walk) => Some(&mut **walk),
            StepElements::Stored(_) => None,
        });
        one.into_iter().chain(folds)
    }
}

/// The error for a value that is used before it is computed, which no plan does.
#[cold]
pub(super) fn missing() -> Error {
    Error::value(OP, "a value is used before it is computed")
}

/// Tensors by slot.
pub(super) type Slots = [Option<Tensor>];

pub(super) fn tensor(slots: &Slots, slot: usize) -> Result<&Tensor> {
    slots[slot].as_ref().ok_or_else(missing)
}

/// The inputs of a walk.
pub(super) fn inputs<'a>(walk: &Walk, slots: &'a Slots) -> Result<SmallVec<[&'a Tensor; 6]>> {
    walk.inputs
        .iter()
        .map(|slot| tensor(slots, *slot))
        .collect()
}
/// The shape that inputs of a walk broadcast to.
pub(super) fn shape_of<'a>(shapes: impl Iterator<Item = &'a [usize]>) -> Result<Shape> {
    layout::broadcast(OP, &shapes.collect::<SmallVec<[&[usize]; 6]>>())
}
