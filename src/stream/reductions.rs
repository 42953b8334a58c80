//! Plans the reductions of a graph: those that read the same tensors are one step.

use super::costs::{NEAR, TOGETHER};
use super::fold::Kind;
use super::graph::Operand;
use super::plan::Planner;
use super::plan_step::{PlanStep, StepElements, StepFold};
use super::step::Operation;
use super::walk::Walk;
use crate::error::Result;
use crate::exec::nest::MAX_OPERANDS;
use crate::layout::Shape;
use crate::op::Op;
use alloc::boxed::Box;
use smallvec::SmallVec;

impl Planner<'_> {
    /// The kind of a reduction, its operand, its axes, and whether it keeps them.
    pub(super) fn reduced(&self, k: usize) -> Option<(Kind, usize, &[bool], bool)> {
        let node = &self.graph.nodes[k];
        match &node.step.operation {
            Operation::Reduce {
                kind,
                reduced,
                keepdims,
            } => Some((*kind, node.operand().at(), reduced, *keepdims)),
            _ => None,
        }
    }
    /// The first of these reductions, and others over the same axes that read some of the same
    /// tensors.
    pub(super) fn alike(&self, reductions: &[usize]) -> SmallVec<[usize; 4]> {
        let mut all = SmallVec::from_slice(&reductions[..1]);
        let reads = |k: usize| {
            let (_, x, ..) = self.reduced(k)?;
            Some(self.walk(&[x]).ok()?.inputs)
        };
        let Some(first) = reads(reductions[0]) else {
            return all;
        };
        let about = |k: usize| {
            let (_, x, over, keepdims) = self.reduced(k)?;
            Some((&self.graph.nodes[x].shape, over, keepdims))
        };
        // those further on rarely share what they read, and a search through all would be quadratic
        for k in reductions[1..].iter().take(NEAR) {
            let shares = || reads(*k).is_some_and(|x| x.iter().any(|slot| first.contains(slot)));
            if all.len() < TOGETHER && about(*k) == about(all[0]) && shares() {
                all.push(*k);
            }
        }
        all
    }
    /// Adds the step that computes these reductions: a single one, or those of
    /// [`alike`](Planner::alike).
    pub(super) fn reduce(&mut self, all: &[usize]) -> Result<()> {
        let Some((_, first, reduced, keepdims)) = self.reduced(all[0]) else {
            return Ok(());
        };
        let reduced = SmallVec::from_slice(reduced);
        let shape = self.graph.nodes[first].shape.clone();
        let (mut folds, mut to) = (SmallVec::<[StepFold; 1]>::new(), SmallVec::new());
        let mut reads: SmallVec<[usize; 4]> = SmallVec::new();
        let mut targets: SmallVec<[usize; 4]> = SmallVec::new();
        for k in all {
            let Some((kind, x, ..)) = self.reduced(*k) else {
                continue;
            };
            let root = self.root(x, kind);
            let (from, dtype) = loop {
                let elements = if self.slots[x].is_none() {
                    root.unwrap_or(x)
                } else {
                    x
                };
                if let Some(slot) = self.slots[elements] {
                    break (StepElements::Stored(slot.at), slot.dtype);
                }
                match self.walk(&[elements]) {
                    // a reduction's loops have another operand, which stands for what is reduced
                    Ok(walk)
                        if walk.inputs.len() + 2 <= MAX_OPERANDS
                            && !self.is_outer(&walk, &shape, &reduced) =>
                    {
                        let dtype = walk.outputs[0];
                        break (StepElements::Computed(Box::new(walk)), dtype);
                    }
                    _ => self.store(&[elements], &shape)?,
                }
            };
            let squared = root.is_some() && self.slots[x].is_none();
            for slot in from.reads() {
                if !reads.contains(slot) {
                    reads.push(*slot);
                }
            }
            to.push(self.give_slot(*k, kind.dtype(dtype)?));
            targets.push(x);
            folds.push(StepFold {
                from,
                squared,
                kind,
                dtype,
            });
        }
        let several = (targets.len() > 1)
            .then(|| self.walk(&targets).ok())
            .flatten();
        let joint = several.filter(|walk| {
            // elements of different sizes are tiled differently
            let sizes = walk.outputs.iter().map(|dtype| dtype.size());
            walk.inputs.len() + 1 + targets.len() <= MAX_OPERANDS
                && sizes.clone().eq(sizes.map(|_| walk.outputs[0].size()))
        });
        let step = PlanStep::Reduce {
            folds,
            joint: joint.map(Box::new),
            reduced,
            keepdims,
            reads,
            to,
        };
        self.steps.push((step, shape));
        self.store_exactly(all)
    }
    /// What value `x` is the square of, if a reduction of this kind squares elements as it reads
    /// them.
    fn root(&self, x: usize, kind: Kind) -> Option<usize> {
        let node = &self.graph.nodes[x];
        match (&node.step.operation, &node.step.operands[..]) {
            (Operation::Apply { op: Op::Square, .. }, [Operand::Value(root)])
                if kind.takes_squares(node.dtype) =>
            {
                Some(root.at())
            }
            _ => None,
        }
    }
    /// Whether a walk reads operands that vary along different ones of the last kept axes, before
    /// the axes that are reduced, as distances of all pairs do. These loops can't be merged, so that
    /// a tile would have the elements of few results: they are better stored, block by block.
    fn is_outer(&self, walk: &Walk, shape: &Shape, reduced: &[bool]) -> bool {
        let leading = reduced.iter().take_while(|r| !**r).count();
        if reduced[leading..].contains(&false) {
            return false;
        }
        let mut kept = (0..leading).rev().filter(|k| shape[*k] != 1);
        let (Some(inner), Some(outer)) = (kept.next(), kept.next()) else {
            return false;
        };
        let varies = |x: &Shape, axis: usize| {
            let own = (axis + x.len()).checked_sub(shape.len());
            own.is_some_and(|k| x[k] != 1)
        };
        let nodes = self.graph.nodes.iter().zip(&self.slots);
        let read = nodes.filter(|(_, slot)| {
            let at = slot.map(|slot| slot.at);
            at.is_some_and(|at| walk.inputs.contains(&at))
        });
        let along = |x: &Shape| [inner, outer].map(|axis| varies(x, axis));
        let all: SmallVec<[[bool; 2]; 6]> = read.map(|(x, _)| along(&x.shape)).collect();
        all.contains(&[true, false]) && all.contains(&[false, true])
    }
    /// Adds steps that round results that are stored in a wider dtype, if functions read them.
    fn store_exactly(&mut self, reductions: &[usize]) -> Result<()> {
        for k in reductions {
            let node = &self.graph.nodes[*k];
            let is_wide = self.slots[*k].is_some_and(|slot| slot.dtype != node.dtype);
            if self.exact[*k] && is_wide {
                let walk = self.walk(&[*k])?;
                self.push_store(walk, &[*k], &node.shape);
            }
        }
        Ok(())
    }
}
