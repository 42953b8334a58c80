//! Cuts what is to be stored into programs of limited length.

use super::costs::LONGEST;
use super::plan::Planner;
use super::plan_step::PlanStep;
use super::walk::Walk;
use crate::error::Result;
use crate::exec::nest::MAX_OPERANDS;
use crate::layout::Shape;
use alloc::boxed::Box;
use alloc::vec::Vec;

/// A program for the first operations of a value that is too long for one.
struct Part {
    /// How many operations it takes over, and the values that the others read.
    count: usize,
    live: Vec<usize>,
    walk: Walk,
}

impl Planner<'_> {
    /// Adds steps that store these values, all of one shape, in the order of the graph.
    pub(super) fn store(&mut self, targets: &[usize], shape: &Shape) -> Result<()> {
        let mut targets = targets;
        while let Some(first) = targets.first() {
            // as many at once as fit a program
            let mut n = targets.len().min(MAX_OPERANDS - 2);
            let mut walk = self.walk(&targets[..n]);
            while walk.is_err() && n > 1 {
                n /= 2;
                walk = self.walk(&targets[..n]);
            }
            match walk {
                Ok(walk) => self.push_store(walk, &targets[..n], shape),
                Err(_) => self.cut(*first, shape)?,
            }
            let left = targets.iter().position(|k| self.slots[*k].is_none());
            targets = &targets[left.unwrap_or(targets.len())..];
        }
        Ok(())
    }
    pub(super) fn push_store(&mut self, walk: Walk, values: &[usize], shape: &Shape) {
        let given = values.iter().zip(walk.outputs.clone());
        let to = given.map(|(k, dtype)| self.give_slot(*k, dtype)).collect();
        let walk = Box::new(walk);
        self.steps
            .push((PlanStep::Store { walk, to }, shape.clone()));
    }
    pub(super) fn walk(&self, targets: &[usize]) -> Result<Walk> {
        self.emitter().walk(targets, LONGEST)
    }
    /// Stores parts of what a value is computed from, until the rest fits a program.
    fn cut(&mut self, target: usize, shape: &Shape) -> Result<()> {
        let all = self.emitter().needed(&[target]);
        // the place of the last operation that reads each value
        let mut last_read = alloc::vec![0; all.len()];
        for (at, k) in all.iter().enumerate() {
            for x in self.graph.nodes[*k].values() {
                if let Ok(place) = all.binary_search(&x.at()) {
                    last_read[place] = at;
                }
            }
        }
        let mut from = 0;
        while all.len() - from > LONGEST || self.walk(&[target]).is_err() {
            let Some(part) = self.first_part(&all[from..], &last_read[from..], from) else {
                return self.walk(&[target]).map(drop);
            };
            self.push_store(part.walk, &part.live, shape);
            from += part.count;
        }
        Ok(())
    }
    /// Of the prefixes of these operations that fit a program, the one after which the fewest
    /// values are live. `last_read` counts from `from` operations before.
    fn first_part(&self, all: &[usize], last_read: &[usize], from: usize) -> Option<Part> {
        let mut best: Option<Part> = None;
        for count in (1..all.len()).take(LONGEST) {
            let is_live = |place: &usize| last_read[*place] >= from + count;
            let live: Vec<usize> = (0..count).filter(is_live).map(|place| all[place]).collect();
            let better = best.as_ref().is_none_or(|best| {
                // a prefix that is longer by eight operations is worth one more live value
                live.len() * 8 + best.count <= best.live.len() * 8 + count
            });
            if better && let Ok(walk) = self.walk(&live) {
                best = Some(Part { count, live, walk });
            }
        }
        best
    }
}
