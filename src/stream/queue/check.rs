//! Checks plans that come from a file: their operations are added to a graph, as they were when
//! they were new.

use super::super::view::ViewOp;
use super::LONGEST;
use super::plans::{Needed, PlanTree};
use super::relative::{NumberedSizes, Rel, RelativeShape, RelativeStep, Replay};
use super::words::KINDS;
use crate::dtype::{Class, DType};
use crate::layout::Layout;
use crate::scalar::Scalar;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

pub(super) type Wrong<T> = core::result::Result<T, String>;

/// A plan that was read.
pub(super) struct ReadPlan {
    steps: Vec<RelativeStep>,
    /// For each step: the dtype it is computed in, and the dtype and shape of its result.
    about: Vec<(DType, DType, RelativeShape)>,
    needed: Needed,
}

impl ReadPlan {
    /// Adds it to the tree.
    pub fn add_to(&self, tree: &mut PlanTree) {
        let mut place = tree.root();
        for (step, (computed, dtype, dims)) in self.steps.iter().zip(&self.about) {
            place = match tree.next(place, step) {
                Some(next) => next,
                None => tree.insert(place, step.clone(), *computed, (*dtype, dims.clone())),
            };
        }
        tree.keep(place, self.needed, None);
        tree.trim();
    }
}

/// Checks that a queue can have these operations: they refer to earlier values, sizes and numbers
/// come in order, and each has a result.
pub(super) fn check(steps: Vec<RelativeStep>, needed: Needed) -> Wrong<ReadPlan> {
    if steps.len() > LONGEST {
        return Err(format!("more than {LONGEST} operations"));
    }
    let mut kinds: Vec<Class> = Vec::new();
    let (mut sizes, mut seen) = (2, 0);
    let in_order = |dims: &RelativeShape, sizes: &mut u16| {
        dims.iter().all(|n| {
            *sizes = (*sizes).max(n.saturating_add(1).min(*sizes + 1));
            *n < *sizes
        })
    };
    for (k, step) in steps.iter().enumerate() {
        let before = |x: &u16| (*x as usize) < k;
        let ordered = match step {
            RelativeStep::Input { dims, .. } => in_order(dims, &mut sizes),
            RelativeStep::View { x, at, about } => {
                let next = *at <= seen;
                seen = seen.max(at.saturating_add(1));
                before(x) && next && in_order(&about.1, &mut sizes)
            }
            RelativeStep::Apply { op, operands, .. } => {
                let in_order = |x: &Rel| match x {
                    Rel::Value(x) => before(x),
                    Rel::Number(n, class) if *n as usize == kinds.len() => {
                        kinds.push(*class);
                        true
                    }
                    Rel::Number(n, class) => kinds.get(*n as usize) == Some(class),
                    Rel::Fixed => true,
                };
                operands.len() == op.arity() && operands.iter().all(in_order)
            }
            RelativeStep::Convert { x, .. } | RelativeStep::Reduce { x, .. } => before(x),
            RelativeStep::Product { a, b, .. } => before(a) && before(b),
            RelativeStep::Layer(of) => {
                of.operands.len() == of.layer.arity()
                    && of.operands.iter().all(before)
                    && in_order(&of.dims, &mut sizes)
            }
        };
        if !ordered {
            return Err(format!("operation {k} refers to what is not before it"));
        }
    }
    let one = |class: &Class| KINDS.iter().find(|kind| kind.1.class() == *class);
    let numbers: Vec<Scalar> = kinds.iter().filter_map(one).map(|kind| kind.1).collect();
    // the size of each number is that number, so different numbers are different sizes
    let mut own = NumberedSizes::default();
    own.dims(&(2..sizes as usize).collect::<Vec<usize>>());
    let mut replay = Replay::default();
    let mut views: Vec<ViewOp> = Vec::new();
    for (k, step) in steps.iter().enumerate() {
        if let RelativeStep::View { x, at, about } = step {
            let (form, dims) = &**about;
            let from = replay.graph.shape(replay.values[*x as usize]);
            let view = ViewOp::of_form(form, from, &own.shape(dims));
            let view = view.ok_or_else(|| format!("operation {k} is no view of its operand"))?;
            match views.get_mut(*at as usize) {
                Some(same) => *same = view,
                None => views.push(view),
            }
        }
        if let RelativeStep::Reduce { x, reduced, .. } = step {
            let rank = replay.graph.shape(replay.values[*x as usize]).len();
            if rank > 64 || rank < 64 && reduced >> rank != 0 {
                return Err(format!("operation {k} reduces axes that are not there"));
            }
        }
        let added = replay.add(&steps[..=k], &own, &numbers, &views);
        let fits = added.and_then(|()| {
            // no more elements than a tensor can have, even with the smallest possible sizes
            Layout::contiguous(replay.graph.shape(replay.values[k])).map(drop)
        });
        fits.map_err(|e| format!("operation {k}: {e}"))?;
    }
    let about = replay.values.iter().map(|x| {
        let (graph, x) = (&replay.graph, *x);
        (
            graph.computed_in(x),
            graph.dtype(x),
            own.dims(graph.shape(x)),
        )
    });
    let about = about.collect();
    let (last, bit) = (steps.len() / 64, steps.len() % 64);
    let beyond = needed.iter().enumerate().any(|(k, word)| match k {
        k if k < last => false,
        k if k == last => word >> bit != 0,
        _ => *word != 0,
    });
    if beyond || needed == Needed::default() {
        return Err("values are needed that are not there".into());
    }
    Ok(ReadPlan {
        steps,
        about,
        needed,
    })
}
